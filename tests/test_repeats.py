"""Clones that people want: code first, each with its first line, and the share of all groups."""

import random
from pathlib import Path

import pytest

from holdfast.app import App
from holdfast.repeats.find import is_code
from holdfast.sequence import clones
from holdfast.sequence.clones_answer import as_text
from holdfast.sequence.clones_request import ClonesRequest
from holdfast.sequence.occurrence import Occurrence
from holdfast.sequence.report import ClonesReport
from holdfast.sequence.suffix.segment import build
from holdfast.sequence.suffix.stream import stream_of
from holdfast.sequence.tokens.lexer import LexerOptions

BODY = "".join(f"    step_{n} = first_{n}(value, {n})\n" for n in range(12))


def quiet(what: str, done: int, total: int) -> None:
    pass


def clones_of(root: Path, every_file: bool = False) -> ClonesReport:
    request = ClonesRequest(limit=1, every_file=every_file)
    return App(root.parent / "home").find_clones(root, request, quiet)


@pytest.mark.shows("SEQ-CLONES-CODE")
def test_data_is_left_out_and_the_first_line_is_shown(tmp_path: Path) -> None:
    """The first groups of a large tree were numbers in test data."""
    root = tmp_path / "tree"
    (root / "tests").mkdir(parents=True)
    numbers = ", ".join(map(str, range(300)))
    for name in ("one", "two"):
        (root / f"{name}.py").write_text(f"def {name}(value):\n{BODY}")
        (root / f"{name}.json").write_text(f"[{numbers}]")
        (root / "tests" / f"{name}.py").write_text(f"{name} = [{numbers}]\n")
        (root / f"{name}.md").write_text("word " * 100)
    answer = clones_of(root)
    assert [place.path for place in answer.groups[0].places] == ["one.py", "two.py"]
    assert answer.summary.groups == 1
    assert answer.groups[0].first_line.startswith(("def one(value):", "step_0"))
    assert "  | " in as_text(answer)
    assert "1 group covers" in as_text(answer)
    assert clones_of(root, every_file=True).summary.groups > 1


@pytest.mark.shows("SEQ-CLONES-SHARE")
def test_the_share_is_of_all_groups_not_of_the_listed_ones(tmp_path: Path) -> None:
    """The dashboard showed the share of the listed groups as that of the tree."""
    root = tmp_path / "tree"
    root.mkdir()
    for name in ("one", "two"):
        other = BODY.replace("step", "move").replace("first", "last")
        (root / f"{name}_a.py").write_text(f"def {name}(value):\n{BODY}")
        (root / f"{name}_b.py").write_text(f"def {name}(value):\n{other}")
    answer = clones_of(root)
    summary = answer.summary
    assert (summary.groups, summary.listed) == (2, 1)
    assert summary.repeated_tokens == 2 * summary.covered_tokens
    assert "2 groups cover" in as_text(answer)
    assert "the 1 listed cover" in as_text(answer)


@pytest.mark.shows("SEQ-CLONES-CODE")
@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("src/a.py", True), ("tests/test_a.py", True), ("web/page.html", True), ("a.css", True),
        ("Rakefile", True), ("docs/sample.py", True), ("a.json", False), ("ci.yml", False),
        ("README.md", False), ("data/x.csv", False), ("icon.svg", False), ("poetry.lock", False),
        ("app.min.js", False), ("api_pb2.py", False),
    ],
)  # fmt: skip
def test_what_counts_as_code(path: str, code: bool) -> None:
    assert is_code(path) == code


@pytest.mark.shows("SEC-NO-DELAY")
def test_pieces_are_sorted_as_one_list_and_freed_completely(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One sort of very many groups held up every agent of a host."""
    choose = random.Random(7)
    segment = build(stream_of([], LexerOptions()))
    groups = [
        clones.CloneGroup(
            choose.randrange(2, 9),
            tuple(Occurrence(segment, at, 2) for at in range(n, n + choose.randrange(2, 6))),
        )
        for n in range(500)
    ]
    whole = clones.in_order(list(groups))
    monkeypatch.setattr(clones, "PIECE", 7)
    assert clones.in_order(list(groups)) == whole
    clones.release(groups)
    assert groups == []


def test_a_block_that_begins_with_a_bracket_is_shown_by_a_line_that_says_more(
    tmp_path: Path,
) -> None:
    """`| )` told nothing about the block."""
    root = tmp_path / "tree"
    root.mkdir()
    for name in ("one", "two"):
        (root / f"{name}.py").write_text(f"def {name}(\n    {name}\n):\n{BODY}")
    assert clones_of(root).groups[0].first_line == "step_0 = first_0(value, 0)"
