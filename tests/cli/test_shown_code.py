"""Code as `search` and `read` show it: no line of it is missing or changed without a word."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.cli.main import main

Capture = pytest.CaptureFixture[str]

CUT = """\
def window(rows, start, end):
    return cut(
        rows,
        start,
        end,
    )
"""
HOSTS = "def default_hosts\n  []\nend\n"
SEPARATED = """\
class Table:
    def joined(self, cells):
        sep = ",    "
        wide  =  1
        head = '''
name:    value
'''.join(cells)
        return sep.join(cells)
"""
FACTOR = """\
class Sizes {
    // LIMIT_FACTOR is a power of two
    int room(int base) {
        int most = LIMIT_FACTOR;
        return base
            * LIMIT_FACTOR
            + 1;
    }

    void fill() {
        /* default */ int cap = LIMIT_FACTOR; /* bytes */
        /* LIMIT_FACTOR again */
    }
}
"""


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "home"))
    root = tmp_path.resolve() / "tree"
    root.mkdir()
    monkeypatch.chdir(root)
    return root


def run(capsys: Capture, *words: str) -> list[str]:
    capsys.readouterr()
    assert main(list(words)) == 0
    return capsys.readouterr().out.splitlines()


def search(capsys: Capture, *words: str) -> list[str]:
    run(capsys, "index", "create")
    return run(capsys, "search", *words)


@pytest.mark.shows("ANSWER-CODE")
def test_an_argument_named_end_is_shown_by_a_search(tree: Path, capsys: Capture) -> None:
    (tree / "s.py").write_text(CUT)
    assert search(capsys, "window rows") == [
        "s.py:1-6  window",
        *(f"{n} {line}" for n, line in enumerate(CUT.splitlines()[:5], 1)),
    ]


@pytest.mark.shows("ANSWER-CODE")
def test_an_empty_list_that_is_returned_is_shown_by_a_search(tree: Path, capsys: Capture) -> None:
    (tree / "hosts.rb").write_text(HOSTS)
    assert search(capsys, "default hosts") == [
        "hosts.rb:1-3  default_hosts", "1 def default_hosts", "2   []",
    ]  # fmt: skip


@pytest.mark.shows("ANSWER-CODE")
def test_a_line_that_a_pattern_matches_is_shown(tree: Path, capsys: Capture) -> None:
    """Also if it only closes something, and if there are more matches than an answer names."""
    (tree / "s.py").write_text(CUT)
    assert "6     )" in search(capsys, r"re:^\s+\)$", "--raw")
    (tree / "many.py").write_text("def many():\n" + "    f(\n        1\n    )\n" * 25)
    shown = run(capsys, "search", r"re:^\s+\)$", "path:many.py", "--raw")
    assert sum(line.endswith(" )") for line in shown) == 25


@pytest.mark.shows("READ-ABOUT")
def test_a_line_that_has_the_word_is_read(tree: Path, capsys: Capture) -> None:
    (tree / "s.py").write_text(CUT)
    assert "5   end," in run(capsys, "read", "s.py", "--about", "end")
    assert "5   end," in run(capsys, "read", "s.py:window", "--about", "end")
    assert "6  )" in run(capsys, "read", "s.py", "--about", ")")


@pytest.mark.shows("READ-NUMBERS")
def test_only_lines_that_close_something_are_left_out_of_a_read(
    tree: Path, capsys: Capture
) -> None:
    (tree / "s.py").write_text(CUT)
    shown = run(capsys, "read", "-n", "--no-comments", "s.py")
    assert [int(line.split()[0]) for line in shown] == [1, 2, 3, 4, 5]
    (tree / "hosts.rb").write_text(HOSTS)
    assert "2  []" in run(capsys, "read", "-n", "--no-comments", "hosts.rb")


NOTICES = {
    "more": "[7 more lines in file. Use offset=4 to continue.]",
    "cut": "[Showing lines 1-2 of 9. Use offset=3 to continue.]",
}


@pytest.mark.shows("READ-NUMBERS")
@pytest.mark.parametrize("kind", NOTICES)
def test_a_line_that_looks_like_a_notice_is_a_line(tree: Path, capsys: Capture, kind: str) -> None:
    """It had no number, and in a range it was left out."""
    line = NOTICES[kind]
    (tree / "log.txt").write_text(f"first\n\n{line}")
    assert run(capsys, "read", "-n", "log.txt") == ["1 first", "2", f"3 {line}"]
    for place in ("log.txt:2-3", "log.txt:2-9"):
        assert run(capsys, "read", place) == ["2", f"3 {line}"]
    assert run(capsys, "read", "log.txt", "--plain") == ["first", "", line]
    assert run(capsys, "read", "log.txt:1-3", "--plain") == ["first", "", line]
    (tree / "log.txt").write_text(f"first\n\n{line}\nlast")
    assert run(capsys, "read", "log.txt:1-3") == ["1 first", "2", f"3 {line}"]
    assert run(capsys, "read", "log.txt", "--limit", "3") == [
        *("1 first", "2", f"3 {line}", ""),
        "[1 more lines in file. Use offset=4 to continue.]",
    ]


@pytest.mark.shows("READ-NUMBERS")
def test_a_file_whose_name_ends_like_a_range_is_numbered_from_its_first_line(
    tree: Path, capsys: Capture
) -> None:
    (tree / "log:2-3").write_text("first\nsecond\nthird\nfourth")
    numbered = ["1 first", "2 second", "3 third", "4 fourth"]
    assert run(capsys, "read", "-n", "log:2-3") == numbered
    assert run(capsys, "read", "-n", "@log:2-3") == numbered, "as the reader resolves it"
    assert run(capsys, "read", "--plain", "@log:2-3") == [one[2:] for one in numbered]


@pytest.mark.shows("READ-NUMBERS")
def test_lines_that_are_only_comments_are_read_when_nothing_else_is_there(
    tree: Path, capsys: Capture
) -> None:
    """A range of comments was answered with an empty line."""
    (tree / "rules.py").write_text("# one\n# two\nx = 1\n# three\n")
    assert run(capsys, "read", "--no-comments", "rules.py:1-2") == ["1 # one", "2 # two"]
    assert run(capsys, "read", "--no-comments", "rules.py") == ["x = 1"]


@pytest.mark.shows("READ-NUMBERS")
def test_a_notice_in_place_of_a_long_line_has_no_number(tree: Path, capsys: Capture) -> None:
    (tree / "long.txt").write_text("x" * 60_000)
    (shown,) = run(capsys, "read", "-n", "long.txt")
    assert shown.startswith("[Line 1 is ")


@pytest.mark.shows("ANSWER-CODE")
def test_the_text_of_a_string_stays_as_it_is(tree: Path, capsys: Capture) -> None:
    (tree / "table.py").write_text(SEPARATED)
    found = search(capsys, "sym:joined")
    for shown in (
        [line for line in found if line[0].isdigit()],
        run(capsys, "read", "table.py:joined", "--about", "sep value"),
        run(capsys, "read", "-n", "--no-comments", "table.py:2-7"),
    ):
        assert any(line.endswith(' sep = ",    "') for line in shown)
        assert any(line.endswith(" name:    value") for line in shown), "in a string of lines"


@pytest.mark.shows("ANSWER-LIST")
def test_code_that_begins_like_a_comment_is_listed_as_code(tree: Path, capsys: Capture) -> None:
    (tree / "Sizes.java").write_text(FACTOR)
    listed = search(capsys, "re:LIMIT_FACTOR")
    assert [line.partition(":")[2].split("  (")[0] for line in listed if ":" in line] == [
        "4: int most = LIMIT_FACTOR;",
        "6: * LIMIT_FACTOR",
        "11: /* default */ int cap = LIMIT_FACTOR; /* bytes */",
        "2,12: [comments]",
    ]
