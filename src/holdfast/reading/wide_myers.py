"""The search of `myers` for long edits: a whole round at a time with numpy.

Within one round the diagonals do not depend on each other, so a round is a handful of array
operations. Only runs of equal lines are followed one by one, and most diagonals have none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from holdfast.reading.myers import DEAD, Search, Step, walk_back

_PAST_OLD, _PAST_NEW = -11, -12
_FEW = 6
"""Up to this many diagonals are followed in Python, in large slices."""


class WideSearch:
    """Continues a `Search` where it stopped, with the same positions and the same choices."""

    def __init__(self, search: Search, old: Sequence[int], new: Sequence[int]) -> None:
        self.search = search
        self.old, self.new = list(old), list(new)
        # One sentinel past each end, equal to nothing, so that a run stops there by itself.
        self.old_ids = np.array([*old, _PAST_OLD], dtype=np.int32)
        self.new_ids = np.array([*new, _PAST_NEW], dtype=np.int32)
        self.rounds: dict[int, tuple[int, Any, Any]] = {}

    def run(self, edits: int, edits_max: int, expired: Callable[[], bool]) -> list[Step] | None:
        """Rounds `edits` to `edits_max`; None when no round reaches both ends or time is up."""
        size_old, size_new = len(self.old), len(self.new)
        low, high = self.search.low, self.search.high
        zero = edits_max + 2
        reach = np.full(2 * zero + 1, DEAD, dtype=np.int32)
        for diagonal, at in self.search.reach.items():
            reach[zero + diagonal] = at
        every = np.arange(-zero, zero + 1, dtype=np.int32)
        for count in range(edits, edits_max + 1):
            first, last = max(low, -count), min(high, count)
            first += (first ^ count) & 1
            last -= (last ^ count) & 1
            if first > last:
                return None
            here = slice(zero + first, zero + last + 1, 2)
            below = reach[zero + first - 1 : zero + last : 2]
            above = reach[zero + first + 1 : zero + last + 2 : 2]
            diagonals = every[here]
            above_new = above - diagonals
            can_delete = (below != DEAD) & (below < size_old - 1)
            can_insert = (above != DEAD) & (above_new >= 0) & (above_new < size_new)
            inserted = ~can_delete | (can_insert & (below < above))
            entered = np.where(inserted, above, below + 1)
            alive = can_delete | can_insert
            at = self._follow(entered, diagonals, alive)
            at_old_end = alive & (at >= size_old - 1)
            at_new_end = alive & (at - diagonals >= size_new - 1)
            self.rounds[count] = (first, entered, inserted)
            finished = np.flatnonzero(at_old_end & at_new_end)
            if finished.size:
                j = int(finished[0])
                return walk_back(first + 2 * j, int(at[j]), count, self.search.prefix, self._came)
            ends = np.flatnonzero(at_old_end)
            visited = at.size
            if ends.size:
                # The first diagonal at the old end closes the rest of this round, too.
                visited = int(ends[0]) + 1
                high = min(high, first + 2 * int(ends[0]) - 1)
            closed = np.flatnonzero(at_new_end[:visited])
            if closed.size:
                low = max(low, first + 2 * int(closed[-1]) + 1)
            reach[zero + first - 1 : zero + first + 2 * visited - 2 : 2] = DEAD
            reach[zero + first : zero + first + 2 * visited - 1 : 2] = np.where(alive, at, DEAD)[
                :visited
            ]
            if not count & 15 and expired():
                return None
        return None

    def _follow(self, entered: Any, diagonals: Any, alive: Any) -> Any:
        """Positions after the equal lines that follow each entered one."""
        at = entered.copy()
        x = np.where(alive, entered + 1, len(self.old))
        y = np.where(alive, entered + 1 - diagonals, 0)
        moving = np.flatnonzero(self.old_ids[x] == self.new_ids[y])
        while moving.size > _FEW:
            at[moving] += 1
            xs = at[moving] + 1
            moving = moving[self.old_ids[xs] == self.new_ids[xs - diagonals[moving]]]
        for j in moving:
            at[j] = self._run(int(at[j]), int(diagonals[j]))
        return at

    def _run(self, at: int, diagonal: int) -> int:
        """The last position of the run of equal lines after `at`; big slices first."""
        old, new = self.old, self.new
        x, y, width = at + 1, at + 1 - diagonal, 8
        while True:
            piece = old[x : x + width]
            if piece and piece == new[y : y + width] and len(piece) == width:
                x, y = x + width, y + width
                width = min(width * 4, 4096)
            else:
                break
        while x < len(old) and y < len(new):
            width = max(1, width // 4)
            while width > 1 and (x + width > len(old) or old[x : x + width] != new[y : y + width]):
                width //= 4
                width = max(width, 1)
            if width == 1 and old[x] != new[y]:
                break
            x, y = x + width, y + width
            width *= 4
        return x - 1

    def _came(self, edits: int, diagonal: int) -> tuple[int, bool]:
        if edits not in self.rounds:
            return self.search.came(edits, diagonal)
        first, entered, inserted = self.rounds[edits]
        j = (diagonal - first) // 2
        return int(entered[j]), bool(inserted[j])
