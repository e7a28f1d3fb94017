"""The shortest edit between two lists of lines, deterministically.

Greedy Myers, forwards. Several shortest edits usually exist; which one is found decides the text of
a diff. We choose as the reference does, so that patches agree byte for byte:

- diagonals (old position minus new) are visited upwards in steps of two;
- a step comes from below by deleting or from above by inserting; it is an insertion only when the
  deletion is impossible or its predecessor has got less far; ties go to the deletion;
- a diagonal that reaches the end of the old (new) lines closes all diagonals above (below) it.

`edit` is a plain loop while the edit is short, and then works a whole round at a time with numpy;
both follow the same rules, and a test compares them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.reading.budget import Budget

if TYPE_CHECKING:
    from holdfast.reading.wide_myers import WideSearch

DEAD = -2
"""Marks a diagonal that cannot be reached; -1 is before the first line."""

PLAIN_EDITS = 120
"""Above this many edits numpy is faster than a plain loop, even with the time to import it."""


@dataclass(frozen=True, slots=True)
class Step:
    """`count` lines in a row that are kept, deleted or inserted."""

    kind: str
    """` `, `-` or `+`."""
    count: int


def edit(
    old: Sequence[int],
    new: Sequence[int],
    edits_max: int | None = None,
    expired: Callable[[], bool] = lambda: False,
    at_least: Callable[[], int] | None = None,
) -> list[Step] | None:
    """The steps from `old` to `new`; None when more than `edits_max` are needed or time is up.

    `at_least` gives a lower bound on the edits; it is called only when the edit is not short.
    """
    prefix = _common_prefix(old, new)
    search = Search(old, new, prefix)
    if search.done:
        return _merge([(" ", prefix)] if prefix else [])
    longest = len(old) + len(new) if edits_max is None else min(edits_max, len(old) + len(new))
    for edits in range(1, longest + 1):
        if edits > PLAIN_EDITS:
            if at_least is not None and at_least() > longest:
                return None
            wide = expired.uncounted(_wide) if isinstance(expired, Budget) else _wide()
            return wide(search, old, new).run(edits, longest, expired)
        if search.round(edits):
            return search.steps(edits)
        if not edits & 15 and expired():
            return None
    return None


def _wide() -> type[WideSearch]:
    from holdfast.reading.wide_myers import WideSearch

    return WideSearch


def _common_prefix(old: Sequence[int], new: Sequence[int]) -> int:
    """How many leading lines agree; compares big slices first."""
    length = min(len(old), len(new))
    at, width = 0, 1024
    while at < length:
        if old[at : at + width] == new[at : at + width]:
            at = min(at + width, length)
        elif width == 1:
            return at
        else:
            width //= 4
    return at


def _merge(pieces: list[tuple[str, int]]) -> list[Step]:
    """Pieces in order, neighbours of one kind joined."""
    merged: list[Step] = []
    for kind, count in pieces:
        if merged and merged[-1].kind == kind:
            merged[-1] = Step(kind, merged[-1].count + count)
        else:
            merged.append(Step(kind, count))
    return merged


class Search:
    """One search, a round per edit length. Keeps every round's positions to walk back along."""

    def __init__(self, old: Sequence[int], new: Sequence[int], prefix: int) -> None:
        self.old, self.new = old, new
        self.prefix = prefix
        self.reach: dict[int, int] = {0: prefix - 1}
        self.low, self.high = -(len(old) + len(new)), len(old) + len(new)
        self.done = prefix == len(old) == len(new)
        self.final, self.last = 0, prefix - 1
        self.history: list[dict[int, tuple[int, bool]]] = [{}]

    def round(self, edits: int) -> bool:
        """Extend every diagonal by one edit; True when both ends are reached."""
        old, new, reach = self.old, self.new, self.reach
        size_old, size_new = len(old), len(new)
        came: dict[int, tuple[int, bool]] = {}
        self.history.append(came)
        diagonal = max(self.low, -edits)
        if (diagonal ^ edits) & 1:
            diagonal += 1
        while diagonal <= min(self.high, edits):
            below, above = reach.pop(diagonal - 1, DEAD), reach.get(diagonal + 1, DEAD)
            can_insert = above != DEAD and 0 <= above - diagonal < size_new
            can_delete = below != DEAD and below + 1 < size_old
            if not (can_insert or can_delete):
                reach.pop(diagonal, None)
                diagonal += 2
                continue
            inserted = not can_delete or (can_insert and below < above)
            at = above if inserted else below + 1
            came[diagonal] = (at, inserted)
            at_new = at - diagonal
            while at + 1 < size_old and at_new + 1 < size_new and old[at + 1] == new[at_new + 1]:
                at += 1
                at_new += 1
            if at + 1 >= size_old and at_new + 1 >= size_new:
                self.final, self.last = diagonal, at
                return True
            reach[diagonal] = at
            if at + 1 >= size_old:
                self.high = min(self.high, diagonal - 1)
            if at_new + 1 >= size_new:
                self.low = max(self.low, diagonal + 1)
            diagonal += 2
        return False

    def steps(self, edits: int) -> list[Step]:
        """Walk back from the end to the common prefix."""
        return walk_back(self.final, self.last, edits, self.prefix, self.came)

    def came(self, edits: int, diagonal: int) -> tuple[int, bool]:
        """Where this round entered the diagonal, and whether by inserting."""
        return self.history[edits][diagonal]


def walk_back(
    diagonal: int, at: int, edits: int, prefix: int, came: Callable[[int, int], tuple[int, bool]]
) -> list[Step]:
    """The steps of the path that ends at `at` on `diagonal`; `came` says how a round got there."""
    pieces: list[tuple[str, int]] = []
    while edits:
        entered, inserted = came(edits, diagonal)
        if at > entered:
            pieces.append((" ", at - entered))
        pieces.append(("+" if inserted else "-", 1))
        at = entered if inserted else entered - 1
        diagonal += 1 if inserted else -1
        edits -= 1
    if prefix:
        pieces.append((" ", prefix))
    assert at == prefix - 1, "the walk back ends where the search began"
    pieces.reverse()
    return _merge(pieces)
