"""Notes of changes, judged by doing the changes one by one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.index.generations import change_log
from holdfast.index.generations.change_log import Change
from holdfast.index.generations.model import Identity


def identity(number: int) -> Identity:
    return (number, f"run-{number}")


@st.composite
def histories(draw: st.DrawFn) -> tuple[list[dict[int, int]], list[Change]]:
    """Trees as generations left them, by number of file the generation it came in, and notes."""
    trees: list[dict[int, int]] = [dict.fromkeys(range(draw(st.integers(0, 4))), 0)]
    notes: list[Change] = []
    for number in range(1, draw(st.integers(2, 14))):
        before = trees[-1]
        removed = draw(st.sets(st.sampled_from(sorted(before)))) if before else set()
        left = {n: since for n, since in before.items() if n not in removed}
        first = max(left, default=-1) + 1  # As a writer numbers them: those at the end come again.
        added = set(range(first, first + draw(st.integers(0, 2))))
        trees.append(left | dict.fromkeys(added, number))
        change = Change(
            identity(number - 1), identity(number), frozenset(removed), frozenset(added)
        )
        if draw(st.integers(0, 5)):
            notes = change_log.noted(change_log.decode(change_log.encode(notes)), change)
        elif draw(st.booleans()):
            notes = []  # Everything was put together anew.
        # Otherwise a writer that takes no notes left those of another generation.
    return trees, notes


@pytest.mark.shows("SEARCH-CORPUS-FOLLOWS")
@given(histories())
def test_notes_lead_to_the_same_tree_or_nowhere(
    history: tuple[list[dict[int, int]], list[Change]],
) -> None:
    trees, notes = history
    last = len(trees) - 1
    for at, tree in enumerate(trees[:-1]):
        change = change_log.leading(notes, identity(at), identity(last))
        if change is not None:
            left = {n: since for n, since in tree.items() if n not in change.removed}
            assert not set(left) & change.added
            came = {n: trees[last][n] for n in change.added}
            assert left | came == trees[last]
    if notes and notes[-1].after == identity(last):
        assert change_log.leading(notes, notes[0].before, identity(last)) is not None


@pytest.mark.shows("SEARCH-CORPUS-FOLLOWS")
def test_notes_are_few_and_short() -> None:
    notes: list[Change] = []
    for n in range(1, 30):
        small = Change(identity(n - 1), identity(n), frozenset(), frozenset({n}))
        notes = change_log.noted(notes, small)
    assert len(notes) == change_log.NOTES_MAX
    many = frozenset(range(change_log.FILES_MAX - 2))
    notes = change_log.noted(notes, Change(identity(29), identity(30), frozenset(), many))
    assert [note.after[0] for note in notes] == [28, 29, 30]
    more = frozenset(range(change_log.FILES_MAX + 1))
    assert change_log.noted(notes, Change(identity(30), identity(31), frozenset(), more)) == []
