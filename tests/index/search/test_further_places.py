"""One result for each file: which places lead, and which are named below them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.index.generations.model import StoredChunk
from holdfast.index.search.further_places import FILES_MIN, FURTHER_MAX, one_for_each_file
from holdfast.index.search.results import Finding, Group, Items, fold

OTHERS = [f"other{n}.py" for n in range(FILES_MIN)]
LONG = "def settle(account):\n" + "".join(f"    step_{n}(account)\n" for n in range(40))


def group(
    path: str, line: int, root: str = "/tree", text: str = "", name: str | None = None
) -> Group:
    text = text or f"def f{line}(): {path}\n"
    label = name or f"f{line}"
    chunk = StoredChunk((1, line), path, "python", line, line, text, f"s{line}", label, "")
    return Group([Finding(root, chunk, 1.0)])


def named(groups: list[Group]) -> list[tuple[str, int, list[int]]]:
    return [(g.best.chunk.path, g.span[0], [other.span[0] for other in g.further]) for g in groups]


@pytest.mark.shows("ANSWER-FURTHER")
def test_further_places_of_a_file_are_named_with_its_best_one() -> None:
    ranked = [group("a.py", 5), group("b.py", 1), group("a.py", 90), group("a.py", 2)]
    ranked += [group(path, 1) for path in OTHERS]
    assert named(one_for_each_file(ranked))[:3] == [
        ("a.py", 5, [90, 2]),
        ("b.py", 1, []),
        ("other0.py", 1, []),
    ]


@pytest.mark.shows("ANSWER-FURTHER")
def test_overloads_of_one_name_take_one_further_place() -> None:
    """`also 292 group, 262 group, 250 group` named one thing three times."""
    lines = {7: "pay", 2: "group", 3: "group", 4: "group", 5: "command", 6: "option"}
    ranked = [group("a.py", line, name=name) for line, name in lines.items()]
    ranked += [group("a.py", 8, name="group"), group("a.py", 9, name="argument")]
    ranked += [group(path, 1) for path in OTHERS]
    kept = one_for_each_file(ranked)
    assert named(kept)[:2] == [("a.py", 7, [2, 3, 4, 5, 6, 8]), ("a.py", 9, [])]
    item = Items(None, lambda root, path: (None, "fresh")).item(kept[0])
    assert [(p.span.start_line, p.symbol_label) for p in item.further] == [
        (2, "group"),
        (5, "command"),
        (6, "option"),
    ]
    assert item.further_count == 6


@pytest.mark.shows("ANSWER-FURTHER")
def test_where_few_files_match_every_place_is_a_result() -> None:
    ranked = [group("a.py", line) for line in range(1, 30)]
    ranked += [group(path, 1) for path in OTHERS[: FILES_MIN - 2]]
    assert named(one_for_each_file(ranked)) == named(ranked)


@pytest.mark.shows("ANSWER-FURTHER")
def test_the_same_path_in_two_trees_is_two_files() -> None:
    ranked = [group("a.py", 1), group("a.py", 1, "/other"), *(group(p, 1) for p in OTHERS)]
    assert named(one_for_each_file(ranked)) == named(ranked)


@pytest.mark.shows("ANSWER-FURTHER")
@given(st.lists(st.integers(0, 3), max_size=30))
def test_no_place_is_dropped_and_a_naive_walk_agrees(files: list[int]) -> None:
    """The naive walk says of each place whether it leads: the first, fifth, ninth … of its file."""
    ranked = [group(f"f{file}.py", line) for line, file in enumerate(files)]
    ranked += [group(path, 1) for path in OTHERS]
    kept = one_for_each_file(ranked)
    leads = [
        place.best.chunk
        for at, place in enumerate(ranked)
        if sum(p.best.chunk.path == place.best.chunk.path for p in ranked[:at]) % (FURTHER_MAX + 1)
        == 0
    ]
    assert [g.best.chunk for g in kept] == leads
    assert sum(1 + len(g.further) for g in kept) == len(ranked)
    assert all(o.best.chunk.path == g.best.chunk.path for g in kept for o in g.further)


@pytest.mark.shows("ANSWER-FOLD")
@pytest.mark.parametrize(
    ("paths", "query", "leader"),
    [
        (["api/v1beta1/a.go", "api/v1/a.go"], "settle an account", "api/v1/a.go"),
        (["api/v1beta1/a.go", "api/v1/a.go"], "settle in v1beta1", "api/v1beta1/a.go"),
        (["pay/old/a.py", "pay/a.py", "pay/b.py"], "settle an account", "pay/a.py"),
        (["pay/old/a.py", "pay/a.py"], "the old way to settle", "pay/old/a.py"),
        (["pay/b.py", "pay/a.py"], "settle an account", "pay/b.py"),
    ],
)
def test_of_near_copies_the_current_one_is_shown(paths: list[str], query: str, leader: str) -> None:
    """The first copy was shown whatever it was, and a current file was only named below an old."""
    ranked = [group(path, 1, text=LONG) for path in paths]
    (kept,) = fold(ranked, 40, query)
    assert kept.best.chunk.path == leader
    assert [g.best.chunk.path for g in kept.alike] == [p for p in paths if p != leader]
