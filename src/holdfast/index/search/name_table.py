"""Numbers for the names that code defines and calls, shared by all segments of a tree.

How often a name is called depends on every file, so it is counted again for each generation. The
entries of a segment do not change: they are counted once, by numbers that stay valid while segments
are added and removed. Names are identified by hash, so no strings are kept. Among a million names
the chance of a collision is one in forty million, and it would only affect ranking.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from holdfast.index.search.fields import Field

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from holdfast.index.search.posting_segment import PostingSegment

    Numbers = NDArray[np.int64]
    Small = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Named:
    """The names of a segment: how often each is called, and where each is defined."""

    numbers: Small
    """The number of each name, in the order of the segment's terms."""
    calls: Small
    """How many rows call each of them."""
    defined: Small
    """The name of each definition, by its number."""
    defined_in: Small
    """The row of each definition."""


class NameTable:
    """Assigns a number to each name."""

    def __init__(self) -> None:
        self._hashes: NDArray[np.uint64] | None = None
        """The hashes of the known names in ascending order; `_order` has their numbers."""
        self._order: Small | None = None
        self._tables: WeakKeyDictionary[PostingSegment, Named] = WeakKeyDictionary()
        self._lock = threading.Lock()
        """Searches run concurrently, and two names must not get the same number."""

    def __len__(self) -> int:
        return 0 if self._hashes is None else len(self._hashes)

    def of(self, segment: PostingSegment) -> Named:
        """The names of a segment, counted over all its rows."""
        with self._lock:
            found = self._tables.get(segment)
            if found is None:
                found = self._tables[segment] = self._sorted_out(segment)
            return found

    def _sorted_out(self, segment: PostingSegment) -> Named:
        import numpy as np

        hashes, bounds = segment.exact_terms
        rows, packed = segment.run(int(bounds[0]), int(bounds[-1]))
        fields = packed >> 5
        numbers = self._numbered(hashes)
        defines = fields == Field.NAME
        of_entries = np.repeat(numbers, np.diff(bounds))
        return Named(
            numbers,
            _per_term(fields == Field.CALL, bounds),
            of_entries[defines],
            rows[defines].astype(np.int32),
        )

    def _numbered(self, hashes: NDArray[np.uint64]) -> Small:
        """The numbers of names, each of which occurs once; new ones get the next numbers."""
        import numpy as np

        if self._hashes is None or self._order is None:
            self._hashes, self._order = np.empty(0, np.uint64), np.empty(0, np.int32)
        # In ascending order, because then each lookup is near the one before.
        order = np.argsort(hashes)
        ordered = hashes[order]
        # Two names of a segment may have the same hash, however unlikely that is.
        first = np.ones(len(ordered), dtype=np.bool_)
        np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
        each = ordered[first]
        at = np.searchsorted(self._hashes, each)
        known = np.zeros(len(each), dtype=np.bool_)
        inside = at < len(self._hashes)
        known[inside] = self._hashes[at[inside]] == each[inside]
        total = len(self._hashes)
        of_each = np.empty(len(each), np.int32)
        of_each[known] = self._order[at[known]]
        of_each[~known] = np.arange(total, total + int((~known).sum()), dtype=np.int32)
        self._order = np.insert(self._order, at[~known], of_each[~known])
        self._hashes = np.insert(self._hashes, at[~known], each[~known])
        numbers = np.empty(len(hashes), np.int32)
        numbers[order] = of_each[np.cumsum(first) - 1]
        return numbers


def calls_of_living(segment: PostingSegment, living: NDArray[np.bool_]) -> Small:
    """How many of the rows that are current call each name of a segment."""
    _, bounds = segment.exact_terms
    rows, packed = segment.run(int(bounds[0]), int(bounds[-1]))
    return _per_term((packed >> 5 == Field.CALL) & living[rows], bounds)


def _per_term(chosen: NDArray[np.bool_], bounds: Numbers) -> Small:
    """How many entries of each term are chosen."""
    import numpy as np

    sums = np.zeros(len(chosen) + 1, dtype=np.int32)
    np.cumsum(chosen, out=sums[1:])
    at = bounds - bounds[0]
    found: Small = sums[at[1:]] - sums[at[:-1]]
    return found
