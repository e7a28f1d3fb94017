"""`holdfast read --about`: what it shows, and that it never denies a word it did not look for."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.cli.main import main
from holdfast.cli.read_about import about
from tests.scale import size

Capture = pytest.CaptureFixture[str]
NONE = "[no line has one of the words: retry]"
TOO_LARGE = (64 << 20) + 1
LONG = size(100_000, 6_000)
DEEP = size(700, 300)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(capsys: Capture, *words: str) -> list[str]:
    capsys.readouterr()
    assert main(["read", *words]) == 0
    return capsys.readouterr().out.split("\n")


@pytest.mark.shows("READ-ABOUT")
def test_the_lines_after_a_very_long_one_are_looked_at(folder: Path, capsys: Capture) -> None:
    (folder / "a.py").write_text("a = 1\n" + f"b = '{'x' * 600_000}'\n" + "retry = 2\n")
    assert run(capsys, "a.py", "--about", "retry") == [
        "a.py", "3 retry = 2", "[2 lines left out; all without --about]", "",
    ]  # fmt: skip


@pytest.mark.shows("READ-ABOUT")
def test_a_very_long_line_is_cut_and_the_answer_says_so(folder: Path, capsys: Capture) -> None:
    (folder / "a.py").write_text(f"a = 1\nretry = '{'x' * 600_000}'\n")
    out = run(capsys, "a.py", "--about", "retry")
    assert out == [
        "a.py",
        f"2 retry = '{'x' * 140}…",
        "[1 line left out, 1 line cut at 150 characters; all without --about]",
        "",
    ]
    (folder / "a.py").write_text(f"retry = '{'x' * 600_000}'\n")
    assert run(capsys, "a.py", "--about", "retry")[2:] == [
        "[1 line cut at 150 characters; all without --about]", "",
    ]  # fmt: skip


@pytest.mark.long
@pytest.mark.shows("READ-ABOUT")
def test_a_long_range_is_looked_at_to_its_end(folder: Path, capsys: Capture) -> None:
    lines = [f"value_{n} = {n}\n" for n in range(1, 6_001)]
    (folder / "big.py").write_text("".join([*lines, "retry = 1\n", "retry = 2\n"]))
    found = ["6001 retry = 1", "[6,000 lines left out; all without --about]", ""]
    assert run(capsys, "big.py:1-6001", "--about", "retry") == ["big.py:1-6001", *found]
    limited = ("--offset", "1", "--limit", "6001")
    assert run(capsys, "big.py", *limited, "--about", "retry") == ["big.py", *found]
    assert run(capsys, "big.py", "--offset", "2", "--about", "retry") == [
        "big.py",
        "6001 retry = 1",
        "6002 retry = 2",
        "[5,999 lines left out; all without --about]",
        "",
    ]
    assert run(capsys, "big.py:1-6000", "--about", "retry") == [
        "big.py:1-6000", NONE, "[6,000 lines left out; all without --about]", "",
    ]  # fmt: skip


@pytest.mark.shows("READ-ABOUT")
def test_a_long_symbol_is_looked_at_to_its_end(folder: Path, capsys: Capture) -> None:
    body = "".join(f"    value_{n} = {n}\n" for n in range(6_000))
    (folder / "huge.py").write_text(
        f"def huge():\n{body}    retry = 1\n\n\ndef retry():\n    pass\n"
    )
    assert run(capsys, "huge.py:huge", "--about", "retry") == [
        "huge.py:1-6002  huge",
        "1 def huge():",
        "6002  retry = 1",
        "[6,000 lines left out; all without --about]",
        "",
    ]


@pytest.mark.shows("READ-ABOUT")
@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("n = 1234567", "1234567"),
        (f"{'long' * 20} = 1", "long" * 20),
        (f"{'long' * 20}Xretry = 1", "retry"),
        ("n = 1234567", "34567"),
        ("_ = 1", "_"),
        ("    end", "end"),
        ("  })", "})"),
        ("{" * 3_000 + "retry", "retry"),
    ],
)
def test_a_word_that_a_line_has_is_found(
    line: str, word: str, folder: Path, capsys: Capture
) -> None:
    (folder / "a.py").write_text(f"a = 1\n{line}\nb = 1\n")
    out = run(capsys, "a.py", "--about", word)
    assert [shown for shown in out if shown.startswith("2 ")], out
    assert not [shown for shown in out if "no line has" in shown]


@pytest.mark.shows("READ-ABOUT")
def test_the_text_of_a_file_is_never_taken_for_a_notice(folder: Path, capsys: Capture) -> None:
    """The end of the file was followed for ever."""
    notice = "[5 more lines in file. Use offset=1 to continue.]"
    (folder / "a.txt").write_text(f"hello retry\n\n{notice}")
    counted = "[2 lines left out; all without --about]"
    assert run(capsys, "a.txt", "--about", "retry") == ["a.txt", "1 hello retry", counted, ""]
    assert run(capsys, "a.txt:1-3", "--about", "continue")[1:] == [f"3 {notice}", counted, ""]


@pytest.mark.shows("READ-ABOUT")
def test_only_lines_of_the_file_are_counted(folder: Path, capsys: Capture) -> None:
    (folder / "a.txt").write_text("")
    assert run(capsys, "a.txt", "--about", "retry") == ["a.txt", NONE, ""]
    for text in ("one\n", "one"):
        (folder / "a.txt").write_text(text)
        assert run(capsys, "a.txt", "--about", "retry") == [
            "a.txt", NONE, "[1 line left out; all without --about]", "",
        ]  # fmt: skip
    (folder / "a.txt").write_text("one\n\n")
    assert "[2 lines left out" in run(capsys, "a.txt", "--about", "retry")[2]


@pytest.mark.shows("READ-ABOUT")
def test_what_is_not_looked_at_is_refused(folder: Path, capsys: Capture) -> None:
    with (folder / "large.txt").open("wb") as file:
        file.truncate(TOO_LARGE)
    (folder / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(40))
    (folder / "one.txt").write_text("one\n")
    (folder / "wide.txt").write_text("retry\n", "utf-16")
    (folder / "wide-plain.txt").write_text("retry\n", "utf-16-le")
    (folder / "latin.txt").write_bytes(b"caf\xe9 re\xfctry\n")
    cases = [
        (["latin.txt"], "latin.txt is not UTF-8"),
        (["wide.txt"], "wide.txt has NUL bytes: it is binary or UTF-16"),
        (["wide-plain.txt"], "has NUL bytes"),
        (["large.txt"], "larger than 64 MiB"),
        (["a.png"], "a.png is a picture"),
        (["one.txt", "--offset", "9"], "Offset 9 is beyond end of file"),
        (["nowhere.txt"], "there is no file nowhere.txt"),
    ]
    for words, why in cases:
        assert main(["read", *words, "--about", "retry"]) != 0
        shown = capsys.readouterr()
        assert why in shown.err, words
        assert "no line has" not in shown.out, words


@pytest.mark.shows("READ-ABOUT")
@pytest.mark.parametrize(
    "text",
    [
        '"' + '\\"' * (3 * LONG) + "\nretry\n",
        "x." + "_LOG" * (2 * LONG) + " retry\n",
        'x = """\n' + "\n".join(["retry"] * (LONG // 2)) + '\n"""\n',
        "\n".join([" " * n + "retry" for n in range(DEEP)] + [""] * (2 * LONG)),
        "\n".join([" " * n + "x" for n in range(DEEP)] + ["(", *["retry"] * LONG]),
        "\n".join([" " * n + "x" for n in range(DEEP)] + ["# x"] * (2 * LONG) + ["retry"]),
    ],
    ids=["quotes", "log", "string", "blank", "brackets", "comments"],
)
def test_no_text_costs_more_than_its_length(text: str) -> None:
    """Where time grows faster than the text, some of these do not end in minutes."""
    assert about("a.py", text.encode(), "retry").shown


words = st.sampled_from(
    ["retry", "retries", "34", "1234567", "end", "})", "_", "x" * 70, "is_late"]
)
texts = st.lists(
    st.sampled_from(["", "\n", "\n", " ", "  ", "(", "})", "# ", "end", '"""', "if a:", "é\r"])
    | words
)


@given(texts, words, st.integers(1, 9) | st.none(), st.integers(1, 9) | st.none())
def test_a_word_is_denied_only_if_no_line_has_it(
    parts: list[str], word: str, offset: int | None, limit: int | None
) -> None:
    text = "".join(parts)
    lines = text.split("\n")
    offset = None if offset is None else min(offset, len(lines))
    first = offset or 1
    asked = lines[first - 1 :][: limit or len(lines)]
    if first - 1 + len(asked) == len(lines) and asked[-1] == "":
        asked.pop()
    found = about("a.py", text.encode(), word, offset, limit)
    assert found.shown + found.left_out == len(asked)
    if any(word in line for line in asked):
        assert found.shown
    for line in found.text.split("\n") if found.shown else ():
        number, _, rest = line.partition(" ")
        exact = " ".join(lines[int(number) - 1].split())
        assert exact.startswith(" ".join(rest.split()).removesuffix("…"))
        assert first <= int(number) < first + len(asked)
