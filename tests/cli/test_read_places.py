"""`holdfast read` of symbols, of several places, with numbers and without comments."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.cli.line_display import code_lines
from holdfast.cli.main import main
from holdfast.cli.places import NamedLines, Place, places_of

CART = '''"""A cart."""

import os


class Cart:
    """Lines and prices."""

    def total(self):
        """Sum up.

        All of it.
        """
        # Prices are in cents.
        text = """
        not a comment
        """
        return sum(self.lines)  # at last


def total(cart):
    return cart.total()
'''

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def cart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cart.py").write_text(CART)
    return tmp_path / "cart.py"


def run(capsys: Capture, *words: str) -> tuple[int, str, str]:
    capsys.readouterr()
    code = main(["read", *words])
    shown = capsys.readouterr()
    return code, shown.out, shown.err


@pytest.mark.shows("READ-PLACES")
@pytest.mark.usefixtures("cart")
def test_a_symbol_is_read_by_its_name(capsys: Capture) -> None:
    assert run(capsys, "cart.py:Cart.total")[1].startswith(
        "cart.py:9-18  Cart.total\n9     def total(self):\n"
    )
    code, out, _ = run(capsys, "cart.py:total")
    assert (code, out) == (
        0,
        "cart.py:21-22  total\n21 def total(cart):\n22     return cart.total()\n",
    )


def test_a_prototype_is_not_read_beside_its_definition(cart: Path, capsys: Capture) -> None:
    code = (
        "namespace shop {\nclass Cart {\n  int total();\n  int later();\n};\n"
        "int Cart::total() {\n  return 1;\n}\n}\n"
    )
    cart.with_name("cart.cpp").write_text(code)
    assert run(capsys, "cart.cpp:total")[1].split("\n")[0] == "cart.cpp:6-8  Cart.total"
    assert run(capsys, "cart.cpp:later")[1].startswith("cart.cpp:4  Cart.later\n")


def test_an_overload_is_read_beside_the_definition_of_another(cart: Path, capsys: Capture) -> None:
    """Every declaration of a name that the file defines was left out."""
    cart.with_name("area.cpp").write_text(
        "int area(double side);\nint area(int a, int b);\n"
        "int area(int a,\n         int b) {\n  return a * b;\n}\n"
    )
    out = run(capsys, "area.cpp:area")[1]
    assert out.startswith("area.cpp:1  area\n1 int area(double side);\n")
    assert "\n:3-6  area\n" in out
    assert "\n2 " not in out
    cart.with_name("over.ts").write_text(
        "export function parse(a: string): string;\nexport function parse(a: number): number;\n"
        "export function parse(a: any): any {\n  return a;\n}\n"
    )
    out = run(capsys, "over.ts:parse")[1]
    assert "parse(a: string)" in out
    assert "parse(a: number)" in out


@pytest.mark.shows("READ-PLACES")
@pytest.mark.usefixtures("cart")
def test_several_places_are_read_at_once_under_their_names(capsys: Capture) -> None:
    _, out, _ = run(capsys, "cart.py:3,total,1-1", "cart.py:6-6")
    assert out.split("\n") == [
        "cart.py:3",
        "3 import os",
        ":21-22  total",
        "21 def total(cart):",
        "22     return cart.total()",
        ":1",
        '1 """A cart."""',
        ":6",
        "6 class Cart:",
        "",
    ]


@pytest.mark.shows("READ-PLACES")
@pytest.mark.usefixtures("cart")
def test_a_range_ends_where_it_was_asked_to(capsys: Capture) -> None:
    """Each one ended with a line that said how many more lines there are."""
    assert run(capsys, "cart.py:3-3")[1] == "3 import os\n"
    assert run(capsys, "cart.py:3")[1] == "3 import os\n"


@pytest.mark.shows("READ-PLACES")
@pytest.mark.usefixtures("cart")
def test_a_mistyped_symbol_is_refused_with_the_nearest(capsys: Capture) -> None:
    code, out, error = run(capsys, "cart.py:totl")
    assert (code, out) == (1, "")
    assert "cart.py has no symbol totl" in error
    assert "did you mean total" in error


@pytest.mark.shows("READ-PLACES")
@pytest.mark.usefixtures("cart")
def test_a_mistyped_symbol_does_not_withhold_the_others(capsys: Capture) -> None:
    code, out, error = run(capsys, "cart.py:3,totl,nowhere")
    assert (code, out) == (1, "3 import os\n")
    assert "cart.py has no symbol totl and no symbol nowhere" in error
    assert "did you mean" in error
    code, out, error = run(capsys, "cart.py:totl", "cart.py:nowhere,3")
    assert (code, out) == (1, "3 import os\n")
    assert "cart.py has no symbol totl; cart.py has no symbol nowhere" in error


@pytest.mark.shows("READ-NUMBERS")
@pytest.mark.usefixtures("cart")
def test_lines_are_numbered_and_comments_left_out(capsys: Capture) -> None:
    for words in (["-n", "cart.py:21-22"], ["cart.py", "--offset", "21", "--limit", "2"]):
        numbered = run(capsys, *words)[1].split("\n\n[")[0].rstrip("\n")
        assert numbered == "21 def total(cart):\n22     return cart.total()", words
    text = "def total(cart):\n    return cart.total()\n"
    assert run(capsys, "--plain", "cart.py:21-22")[1] == text
    assert run(capsys, "--plain", "cart.py:total")[1] == text
    assert run(capsys, "cart.py")[1].startswith('"""A cart."""\n')
    _, out, _ = run(capsys, "-n", "--no-comments", "cart.py")
    shown = [int(line.split()[0]) for line in out.splitlines()]
    assert shown == [3, 6, 9, 15, 16, 17, 18, 21, 22]


@pytest.mark.shows("READ-NUMBERS")
@pytest.mark.usefixtures("cart")
def test_a_session_keeps_plain_text(capsys: Capture) -> None:
    code, _, error = run(capsys, "-n", "cart.py", "--session", "demo")
    assert code == 2
    assert run(capsys, "cart.py:3-3", "--session", "other")[1].startswith("import os\n")
    assert "without a session" in error
    assert "unchanged" not in run(capsys, "cart.py:total", "--session", "demo")[1]
    assert "unchanged" in run(capsys, "cart.py:total", "--session", "demo")[1]


@pytest.mark.shows("READ-PLACES")
def test_what_a_word_names() -> None:
    symbols = [NamedLines("A.b", 2, 3), NamedLines("C.b", 5, 6), NamedLines("b", 8, 9)]

    def places(typed: str, *files: str) -> list[Place]:
        found, refused = places_of(typed, files.__contains__, lambda path: symbols)
        assert refused is None
        return found

    assert places("a.py", "a.py") == [Place("a.py")]
    assert places("a.py:3", "a.py:3", "a.py") == [Place("a.py:3")]
    assert places("nowhere.py:b") == [Place("nowhere.py:b")]
    assert places("a.py:b", "a.py") == [Place("a.py", 8, 9, "b")]
    assert places("a.py:C.b,1-2", "a.py") == [Place("a.py", 5, 6, "C.b"), Place("a.py", 1, 2)]


@pytest.mark.shows("READ-NUMBERS")
@pytest.mark.parametrize(
    ("name", "text", "kept"),
    [
        ("a.js", "// one\nlet a = 1 // two\n/* three\nfour */\nlet b\n", [2, 5]),
        ("a.py", "x = 1\n\n'alone'\nf('''\n# kept\n''')\n", [1, 4, 5, 6]),
        ("a.py", "raise E(\n    'no price for '\n    'this'\n)\n\"doc\"\n", [1, 2, 3, 4]),
        ("a.py", "x = {\n  'a':\n  'b',\n}\ny = \\\n  'c'\n", [1, 2, 3, 4, 5, 6]),
        ("a.py", "def f(a: [int]) -> int:\n    'doc'\n    return 1\n", [1, 3]),
        ("a.go", "var words = []string{\n\t`one`,\n\t`two`}\nf(\n`x`)", [1, 2, 3, 4, 5]),
        ("a.txt", "# words\n", [1]),
    ],
)
def test_which_lines_are_code(name: str, text: str, kept: list[int]) -> None:
    assert sorted(code_lines(name, text.encode())) == kept


ORDERS = """\
class Orders:
    def close(self, order):
        # An order that is overdue is closed.
        for line in order.lines:
            if line.is_late(
                self.now,
            ):
                line.refuse()
                continue
            line.send()
            self.sent += 1
        self.log.write("closed")
        self.log.flush()
        self.count += 1
        return order

    def open(self, order):
        return order
"""


@pytest.mark.shows("READ-ABOUT")
def test_only_the_lines_about_some_words_are_read(cart: Path, capsys: Capture) -> None:
    cart.with_name("orders.py").write_text(ORDERS)
    code, out, _ = run(capsys, "orders.py:close", "--about", "refuses")
    assert (code, out.split("\n")) == (
        0,
        [
            "orders.py:2-15  Orders.close",
            "2 def close(self, order):",
            "4  for line in order.lines:",
            "5   if line.is_late(",
            "8    line.refuse()",
            "[10 lines left out; all without --about]",
            "",
        ],
    )
    assert "# An" not in run(capsys, "orders.py", "--about", "late")[1], "the code has the word"
    assert "3   # An order" in run(capsys, "orders.py", "--about", "overdue")[1]


@pytest.mark.shows("READ-ABOUT")
def test_a_word_that_is_written_like_a_name_is_found_only_as_it_is(
    cart: Path, capsys: Capture
) -> None:
    cart.with_name("orders.py").write_text(ORDERS)
    assert "is_late" not in run(capsys, "orders.py", "--about", "late_lines")[1]
    assert "5    if line.is_late(" in run(capsys, "orders.py", "--about", "is_late")[1]
    code, out, _ = run(capsys, "orders.py:close", "--about", "nothing_here")
    assert (code, "[no line has one of the words: nothing_here]" in out) == (0, True)


@pytest.mark.shows("READ-ABOUT")
def test_a_file_longer_than_one_read_is_looked_at_to_its_end(cart: Path, capsys: Capture) -> None:
    long = cart.with_name("long.py")
    long.write_text("".join(f"value_{n} = {n}\n" for n in range(5_000)) + "last = 1\n")
    _, out, _ = run(capsys, "long.py", "--about", "last")
    assert "5001 last = 1" in out
    assert "offset=" not in out


@pytest.mark.usefixtures("cart")
def test_lines_about_words_are_not_for_sessions_or_programs(capsys: Capture) -> None:
    for words in (["--session", "demo"], ["--json"], ["--plain"]):
        assert run(capsys, "cart.py", "--about", "total", *words)[0] == 2
    assert run(capsys, "cart.py", "--about", " ")[0] == 2
