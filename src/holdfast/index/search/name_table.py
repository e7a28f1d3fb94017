"""Numbers for the names that code defines and calls, shared by all segments of a tree.

How often a name is called depends on every file, so it is counted again for each generation. The
entries of a segment do not change: they are counted once, by numbers that stay valid while segments
are added and removed. Names are identified by hash, so no strings are kept. Among a million names
the chance of a collision is one in forty million, and it would only affect ranking.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import msgspec

from holdfast.index.search.fields import Field
from holdfast.index.search.term_tables import Names, names_of, per_term

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from holdfast.index.search.posting_segment import PostingSegment

    Small = NDArray[np.int32]


class Named(msgspec.Struct, frozen=True):
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

    def of_all(self, segments: Sequence[PostingSegment]) -> list[Named]:
        """The same for several segments. The first ones of a tree are numbered together."""
        with self._lock:
            if self._hashes is None:
                found = [_names(segment) for segment in segments]
                for segment, names, numbers in zip(
                    segments, found, self._numbered_together(found), strict=True
                ):
                    self._tables[segment] = _named(names, numbers)
        return [self.of(segment) for segment in segments]

    def _sorted_out(self, segment: PostingSegment) -> Named:
        found = _names(segment)
        return _named(found, self._numbered(found.hashes, found.order))

    def _numbered_together(self, several: Sequence[Names]) -> list[Small]:
        """The numbers of the names of several segments, by hash; none has a number yet."""
        import numpy as np

        if not several:
            return []
        hashes = np.concatenate([names.hashes[names.order] for names in several])
        # Stable, because that merges sorted runs.
        order = np.argsort(hashes, kind="stable")
        ordered = hashes[order]
        first = np.ones(len(ordered), dtype=np.bool_)
        np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
        self._hashes = ordered[first]
        self._order = np.arange(len(self._hashes), dtype=np.int32)
        of_each = np.empty(len(hashes), np.int32)
        of_each[order] = np.cumsum(first, dtype=np.int32) - np.int32(1)
        found = []
        at = 0
        for names in several:
            numbers = np.empty(len(names.hashes), np.int32)
            numbers[names.order] = of_each[at : at + len(numbers)]
            at += len(numbers)
            found.append(numbers)
        return found

    def _numbered(self, hashes: NDArray[np.uint64], order: NDArray[np.uint32]) -> Small:
        """The numbers of names, each of which occurs once; new ones get the next numbers.

        They are looked up in the order of their hashes, so that each is near the one before.
        """
        import numpy as np

        if self._hashes is None or self._order is None:
            self._hashes, self._order = np.empty(0, np.uint64), np.empty(0, np.int32)
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


def _names(segment: PostingSegment) -> Names:
    """The names of a segment, from its stored tables if there are any."""
    stored = segment.stored_tables
    found = None if stored is None else stored.names()
    return names_of(segment) if found is None else found


def _named(names: Names, numbers: Small) -> Named:
    """Copies what it needs: the bytes of a file are not kept."""
    import numpy as np

    return Named(
        numbers,
        names.calls.astype(np.int32),
        np.repeat(numbers, names.definitions),
        names.defined_in.astype(np.int32),
    )


def calls_of_living(segment: PostingSegment, living: NDArray[np.bool_]) -> Small:
    """How many of the rows that are current call each name of a segment."""
    _, bounds = segment.exact_terms
    rows, packed = segment.run(int(bounds[0]), int(bounds[-1]))
    return per_term((packed >> 5 == Field.CALL) & living[rows], bounds)
