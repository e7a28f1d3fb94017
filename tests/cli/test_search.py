"""`holdfast search` as people type it."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from holdfast.cli.main import main
from holdfast.cli.terminal import terminal
from holdfast.index.tools.render import Surface


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return opened(tmp_path, monkeypatch)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the shop of all tests that change nothing in it is."""
    directory = tmp_path_factory.mktemp("shared")
    with pytest.MonkeyPatch.context() as patch:
        opened(directory, patch)
    return directory


@pytest.fixture
def same_shop(shared: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOLDFAST_HOME", str(shared / "home"))
    root = shared.resolve() / "shop"
    monkeypatch.chdir(root)
    return root


def opened(directory: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An indexed tree, as the working directory."""
    monkeypatch.setenv("HOLDFAST_HOME", str(directory / "home"))
    root = directory.resolve() / "shop"
    (root / "src").mkdir(parents=True)
    for n, word in enumerate(["apples", "bread", "cheese", "dates", "eggs", "flour"]):
        steps = "".join(f"    weigh({word!r}, {i}, {i * n})\n" for i in range(n * 4))
        (root / "src" / f"{word}.py").write_text(
            f"def price_of_{word}(basket):\n{steps}    return basket.{word} * {n}.5\n"
        )
    monkeypatch.chdir(root)
    assert main(["index", "create"]) == 0
    return root


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    capsys.readouterr()
    code = main(["search", *words])
    return code, capsys.readouterr().out


def run_json(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    return json.loads(run(capsys, *words, "--json")[1])


@pytest.mark.shows("ANSWER-CLI")
@pytest.mark.usefixtures("same_shop")
def test_lines_are_shown_with_their_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    code, out = run(capsys, r're:"return basket\.(eggs|apples)"')
    assert code == 0
    assert out.splitlines() == [
        "src/apples.py:2: return basket.apples * 0.5  (price_of_apples)",
        "src/eggs.py:18: return basket.eggs * 4.5  (price_of_eggs)",
        "[2 matching lines in 2 files]",
    ]
    out = run(capsys, "sym:price_of_eggs")[1]
    assert out.splitlines()[:2] == [
        "src/eggs.py:1-18  price_of_eggs",
        "1 def price_of_eggs(basket):",
    ]
    out = run(capsys, "price of", "--limit", "6")[1]
    more = r"^\[shortened; read on: holdfast read --no-comments src/\w+\.py:1-\d+\]$"
    assert re.search(more, out, re.MULTILINE)


@pytest.mark.shows("ANSWER-LIST")
def test_a_pattern_lists_every_matching_line_once_with_its_symbol(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = "".join(f"    needle({n})\n" for n in range(30))
    (shop / "src" / "many.py").write_text(f"def first():\n{lines}\n\ndef second():\n{lines}")
    out = run(capsys, r"re:needle\(")[1].splitlines()
    assert out[0] == "src/many.py:2: needle(0)  (first)"
    assert out[30] == ":35: needle(0)  (second)"
    assert [line for line in out if line.startswith((":", "src"))] == out[:60]
    assert "[60 matching lines in 1 file]" in out


@pytest.mark.shows("ANSWER-LIST")
def test_comments_beside_code_are_listed_by_number(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """They repeat what the code says, and cost as much."""
    text = "# the needle\ndef first():\n    # a needle\n    return needle(\n        7)\n"
    (shop / "src" / "one.py").write_text(text)
    out = run(capsys, "re:needle")[1].splitlines()
    assert out[:2] == ["src/one.py:4: return needle(  (first)", ":1,3: [comments]"]
    assert out[-1] == "[3 matching lines in 1 file]"
    assert run(capsys, "re:(the|a) needle")[1].splitlines()[:2] == [
        "src/one.py:1: # the needle  (first)",
        ":3: # a needle",
    ]


@pytest.mark.shows("ANSWER-LIST")
def test_a_page_of_a_list_counts_lines_and_not_symbols(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It said 6 matching lines, and then results 1-2 of 3."""
    pairs = "".join(f"def f{n}():\n    needle(1)\n    needle(2)\n" for n in range(3))
    (shop / "src" / "three.py").write_text(pairs)
    out = run(capsys, "re:needle", "--limit", "2")[1]
    assert re.search(
        r"^\[4 of 6 matching lines in 1 file; more: --cursor \S+\]$", out, re.MULTILINE
    )
    assert "results" not in out


@pytest.mark.shows("ANSWER-LIST")
@pytest.mark.usefixtures("same_shop")
def test_a_search_by_file_is_a_list_of_files(capsys: pytest.CaptureFixture[str]) -> None:
    out = run(capsys, "price of eggs", "--by", "file")[1].splitlines()
    assert out[0] == "src/eggs.py  price_of_eggs"
    assert all(re.fullmatch(r"src/\w+\.py  price_of_\w+", line) for line in out)


@pytest.mark.shows("ANSWER-FOLDED")
def test_results_of_one_file_are_together_and_each_names_it(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "".join(f"def weigh_{n}(scale):\n    return scale * {n}\n\n\n" for n in range(3))
    (shop / "src" / "scales.py").write_text(text)
    out = run(capsys, "weigh scale", "path:scales.py")[1]
    assert len(re.findall(r"^src/scales.py:\d+-\d+  weigh_\d$", out, re.MULTILINE)) == 3
    listed = run(capsys, "re:return", "path:scales.py")[1]
    assert listed.count("src/scales.py") == 1, "a list of lines names a file once"


@pytest.mark.shows("ANSWER-CLI")
@pytest.mark.parametrize("more", [[], ["--raw"]])
def test_only_a_line_break_ends_a_line(
    shop: Path, capsys: pytest.CaptureFixture[str], more: list[str]
) -> None:
    """With --raw a form feed or a separator counted as a line, and the numbers were off."""
    text = "def figs():\r\n    a = '\x0c'\r\n    b = '\u2028 \x85'\r\n    return a\r\n"
    (shop / "src" / "figs.py").write_bytes(text.encode())
    out = run(capsys, "sym:figs", *more)[1]
    assert "4     return a" in out.split("\n")
    assert "3     b = '\\u2028 \\x85'" in out.split("\n")


@pytest.mark.shows("ANSWER-CLI")
@pytest.mark.usefixtures("same_shop")
@pytest.mark.parametrize(
    "words",
    [
        ["price of", "lang:python", "--limit", "2"],
        ["price of", "-path:nowhere/", "--limit", "2"],
        ["--limit", "2", "--debug", "--", "--price", "of"],
        ["--limit", "2", "--", "-x", "re:price"],
    ],
)
@pytest.mark.parametrize("on_a_terminal", [False, True])
def test_the_command_that_is_printed_goes_on(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    on_a_terminal: bool,
) -> None:
    """Words after `--` became options of the next page."""
    if on_a_terminal:
        monkeypatch.setattr("holdfast.cli.terminal.terminal", _wide_terminal)
    seen: list[str] = []
    first = words
    debug = "--debug" in words
    while True:
        assert ("--debug" in words) is debug
        code, out = run(capsys, *words)
        assert code == 0
        seen += re.findall(r"^src/(\w+)\.py:", out, re.MULTILINE)
        after = re.search(r"more: (holdfast search )?(.*)\]", out)
        if after is None:
            break
        assert (after[1] is not None) is on_a_terminal
        words = shlex.split(after[2]) if on_a_terminal else [*shlex.split(after[2]), *first]
    assert sorted(seen) == ["apples", "bread", "cheese", "dates", "eggs", "flour"]


def _wide_terminal(*, several_trees: bool) -> Surface:
    return replace(terminal(several_trees=several_trees), is_terminal=True, columns=500)


@pytest.mark.shows("ANSWER-WHOLE-FIRST")
@pytest.mark.usefixtures("same_shop")
@pytest.mark.parametrize("limit", [1, 2, 3, 5, 6])
def test_few_results_show_the_first_one_whole(
    capsys: pytest.CaptureFixture[str], limit: int
) -> None:
    out = run(capsys, "price of flour", "--limit", str(limit))[1]
    assert out.splitlines()[0] == "src/flour.py:1-22  price_of_flour"
    shown = [int(n) for n in re.findall(r"^(\d+) ", out.split("\nsrc/")[0], re.MULTILINE)]
    assert (shown == list(range(1, 23))) is (limit <= 5)
    later = out.split("\nsrc/")[1:]
    assert all(len(re.findall(r"^\d+ ", each, re.MULTILINE)) <= 8 for each in later) or limit > 5


@pytest.mark.shows("ANSWER-WHOLE-FIRST")
@pytest.mark.usefixtures("same_shop")
def test_a_question_without_a_limit_gets_the_first_result_whole_and_places_at_the_end(
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = run(capsys, "price of flour")[1]
    first, *later = out.split("\nsrc/")
    assert [int(n) for n in re.findall(r"^(\d+) ", first, re.MULTILINE)] == list(range(1, 23))
    # They score less than half of the first: their places are enough, in a line for the directory.
    (places,) = later
    assert re.fullmatch(r"( \w+\.py:1-\d+ price_of_\w+,?){4,5}\n.*", places, re.DOTALL)


@pytest.mark.shows("ANSWER-WHOLE-FIRST")
def test_a_long_result_is_never_shown_whole(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = "".join(f"    weigh_the_figs({n}, {n * 7})\n" for n in range(300))
    (shop / "src" / "figs.py").write_text(f"def price_of_figs(basket):\n{lines}")
    out = run(capsys, "price of figs", "--limit", "1")[1]
    assert out.startswith("src/figs.py:1-")
    assert len(out) < 4_500
    assert "[shortened; read on: holdfast read --no-comments src/figs.py:" in out


@pytest.mark.shows("ANSWER-CLI")
@pytest.mark.usefixtures("same_shop")
def test_a_pattern_and_paths_are_typed_as_for_grep(capsys: pytest.CaptureFixture[str]) -> None:
    """`re:^    return` matched every line, and a path was only a word to rank by."""
    found = (
        "src/eggs.py:18: return basket.eggs * 4.5  (price_of_eggs)\n[1 matching line in 1 file]\n"
    )
    assert run(capsys, "re:^    return basket", "src/eggs.py")[1] == found
    assert run(capsys, "re:return basket.eggs", "src")[1] == found
    assert run(capsys, "re:return basket.eggs", "--path", "src", "words beside it")[1] == found
    assert run(capsys, "must:return basket.eggs", "src/eggs.py")[1].startswith("src/eggs.py:")
    assert "src/apples.py" in run(capsys, "price", "src/eggs.py", "--limit", "6")[1], (
        "not beside plain words"
    )


@pytest.mark.shows("ANSWER-CLI")
def test_a_directory_that_is_not_there_is_named(
    same_shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out = run(capsys, "price", "--path", "scr")
    assert code == 1
    assert f"[{same_shop}/scr does not exist]" in out
    assert f"[wider: holdfast search price --path {same_shop}]" in out


@pytest.mark.shows("ANSWER-CLI", "ANSWER-SIMILAR")
def test_nothing_like_a_text_says_how_to_look_further(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (shop / "other.txt").write_text("zzz qqq jjj\n")
    code, out = run(capsys, "--snippet", "other.txt")
    assert (code, out.splitlines()[0]) == (0, "Nothing found.")
    assert "[wider: holdfast search --scope mixed --snippet other.txt]" in out


@pytest.mark.shows("ANSWER-CLI", "ANSWER-PAGES-FROZEN")
def test_a_page_that_is_no_more_says_what_to_type(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cursor = run_json(capsys, "price", "--limit", "2")["continuation"]["cursor"]
    (shop / "src" / "eggs.py").write_text("def nothing():\n    pass\n")
    code, out = run(capsys, "price", "--limit", "2", "--cursor", cursor)
    assert code == 1
    assert "[from the start: holdfast search price --limit 2]" in out


@pytest.mark.shows("ANSWER-CLI", "ANSWER-SIMILAR")
@pytest.mark.parametrize("place", ["src/eggs.py:1-18", "eggs.py", "eggs.py:2", "./eggs.py:1-18"])
def test_code_like_lines_named_from_here_or_from_the_root(
    same_shop: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    if "/" not in place or place.startswith("."):
        monkeypatch.chdir(same_shop / "src")
    answer = run_json(capsys, "--similar", place, "--path", str(same_shop))
    assert answer["status"] == "ok"
    assert answer["results"]
    assert all(result["file"] != "src/eggs.py" for result in answer["results"])


@pytest.mark.shows("ANSWER-CLI", "ANSWER-SIMILAR")
def test_code_like_a_text_from_elsewhere(
    same_shop: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "pasted.txt"
    other.write_text((same_shop / "src" / "dates.py").read_text())
    code, out = run(capsys, "--snippet", str(other), "--limit", "1")
    assert code == 0
    assert out.startswith("src/dates.py:1-14")


@pytest.mark.shows("ANSWER-CLI")
@pytest.mark.usefixtures("same_shop")
def test_an_operator_that_begins_with_a_dash_is_no_option(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, out = run(capsys, "sym:price_of_*", "-path:src/eggs.py", "--limit", "50")
    assert code == 0
    assert "src/flour.py" in out
    assert "src/eggs.py" not in out
    with pytest.raises(SystemExit):
        main(["search", "price", "-paths"])


@pytest.mark.shows("ANSWER-CLI")
@pytest.mark.usefixtures("same_shop")
def test_debug_is_a_table_that_fits(capsys: pytest.CaptureFixture[str]) -> None:
    _, out = run(capsys, "price of eggs", "--debug", "--limit", "3")
    table = out[out.index("signal") :].splitlines()
    assert table[0].split() == ["signal", "#1", "#2", "#3"]
    assert table[1].startswith("score")
    assert any(line.startswith("lexical") for line in table)
    assert max(len(line) for line in table[: table.index("")]) <= 100


@pytest.mark.shows("ANSWER-CLI", "ANSWER-ROOTS")
def test_several_trees_at_once(
    shop: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path.resolve() / "market"
    other.mkdir()
    (other / "stall.py").write_text("def price_of_figs(stall):\n    return stall.figs\n")
    assert main(["index", "create", str(other)]) == 0
    nowhere = tmp_path / "nowhere"
    nowhere.mkdir()
    words = ["price_of_figs", "--path", str(shop), "--path", str(other), "--path", str(nowhere)]
    code, out = run(capsys, *words)
    assert code == 0
    assert out.startswith("market/stall.py:1-2  price_of_figs")
    assert f"run `holdfast index create {nowhere.resolve()}`" in out


@pytest.mark.shows("ANSWER-CLI")
@pytest.mark.usefixtures("same_shop")
@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["lang:pyhton", "eggs"], 0, "did you mean lang:python?"),
        (["must:unicorn"], 0, "no chunk contains 'unicorn'"),
        (["re:class \\w+"], 0, 're:"class \\w+"'),
        ([], 2, ""),
        (["x", "--cursor", "nonsense"], 2, ""),
        (["x", "--budget", "3"], 2, ""),
        (["--similar", "nowhere.py:1-2"], 2, ""),
        (["--snippet", "nowhere.txt"], 2, ""),
    ],
)
def test_what_is_wrong_is_said(
    capsys: pytest.CaptureFixture[str], words: list[str], code: int, says: str
) -> None:
    got, out = run(capsys, *words)
    assert got == code
    assert says in out


@pytest.mark.shows("ANSWER-CLI")
def test_text_from_a_file_cannot_command_the_terminal(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (shop / "src" / "evil.py").write_text("def evil():\n    return '\x1b[2Jgone'\n")
    _, out = run(capsys, "re:gone")
    assert "gone" in out
    assert "\x1b" not in out


def test_help_explains_the_operators(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["search", "--help"])
    out = capsys.readouterr().out
    for name in ("lang:", "path:", "-path:", "must:", "exclude:", "re:", "sym:"):
        assert name in out


@pytest.mark.shows("ANSWER-CLI")
def test_a_file_is_named_as_one_would_type_it_here(
    same_shop: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """From a folder of the tree a result named a file that is not there."""
    monkeypatch.chdir(same_shop / "src")
    _, out = run(capsys, "price basket")
    name = out.partition(":")[0]
    assert (same_shop / "src" / name).is_file(), out


@pytest.mark.shows("ANSWER-CLI")
def test_an_edit_takes_a_symbol_with_its_file_as_other_commands_do(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`edit rename src/eggs.py:price_of_eggs` said that no symbol has this name."""
    capsys.readouterr()
    assert main(["edit", "rename", "src/eggs.py:price_of_eggs", "egg_price"]) == 0
    out = capsys.readouterr().out
    assert "def egg_price(basket):" in out
    assert "--file src/eggs.py" in out
    assert "def price_of_eggs" in (shop / "src" / "eggs.py").read_text(), "only a preview"


@pytest.mark.shows("ANSWER-TESTS-FOLDED")
def test_a_list_of_lines_counts_those_in_tests_and_says_how_to_list_them(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Half of the lines of a search by pattern were in tests."""
    (shop / "tests").mkdir(exist_ok=True)
    uses = "def test_oats():\n    assert weigh_oats(1) == 2\n    assert weigh_oats(2) == 4\n"
    (shop / "src" / "oats.py").write_text("def weigh_oats(bag):\n    return bag * 2\n")
    (shop / "tests" / "test_oats.py").write_text(uses)
    out = run(capsys, "re:weigh_oats")[1]
    assert out.split("\n")[0] == "src/oats.py:1: def weigh_oats(bag):  (weigh_oats)"
    assert "test_oats" not in out
    assert (
        "[3 matching lines in 2 files; 2 of them in tests, listed with path:* in the query]" in out
    )
    everything = run(capsys, "re:weigh_oats", "path:*")[1]
    assert "tests/test_oats.py:2: assert weigh_oats(1) == 2" in everything
    assert "[3 matching lines in 2 files]" in everything
    only = run(capsys, "re:weigh_oats", "tests")[1]
    assert "tests/test_oats.py:2: assert weigh_oats(1) == 2" in only
    assert "of them in tests" not in only


@pytest.mark.shows("ANSWER-WHOLE-FIRST")
def test_after_a_short_first_result_the_next_are_shown_with_their_code(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A setter was shown whole, and of the function that does the work one line."""
    (shop / "src" / "session.py").write_text(
        "class Session:\n    def set_lease_time(self, lease_time):\n"
        "        self.lease_time = lease_time\n        self.touch()\n        return self\n"
    )
    (shop / "src" / "database.py").write_text(
        "class Database:\n    def lease_time(self):\n        found = self.find('LEASE_TIME')\n"
        "        if found is None:\n            return INITIAL\n        return found\n"
    )
    out = run(capsys, "set the lease time")[1]
    assert "self.touch()" in out
    assert "return INITIAL" in out
