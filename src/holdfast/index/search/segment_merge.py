"""Merge the postings of files, or stored segments without their removed files, into one segment.

An entry is one integer: its term, its row, and its field with its count. Sorting these integers
groups the entries by term and orders them by row, which completes the merge.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from holdfast.index.search import posting_segment as segments
from holdfast.index.search.posting_segment import PostingSegment

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_ROW_BITS, _COUNT_BITS = 32, 8
_TERM_SHIFT = _ROW_BITS + _COUNT_BITS
ENTRIES_AT_ONCE = 1 << 17


class _Numbers(dict[str, int]):
    """Terms, numbered in order of appearance."""

    def __missing__(self, term: str) -> int:
        number = self[term] = len(self)
        return number


class Merger:
    """Collects segments, whose terms may be in any order, and merges them."""

    def __init__(self, dimension: int) -> None:
        self._dimension = dimension
        self._numbers = _Numbers()
        self._columns: list[list[NDArray[Any]]] = [[] for _ in range(8)]
        self._entries: list[NDArray[np.uint64]] = []
        self.rows = 0

    def add(self, segment: PostingSegment, slots: Sequence[int | None]) -> None:
        """Add a segment, with the new number of each of its slots; None drops the file."""
        import numpy as np

        if not segment.rows:
            return
        terms = segment.terms
        numbers = np.fromiter(map(self._numbers.__getitem__, terms), np.uint64, len(terms))
        numbers <<= np.uint64(_TERM_SHIFT)
        entries = np.repeat(numbers, np.diff(segment.starts))
        rows, counts = segment.entry_rows, segment.entry_counts
        vectors = _as_wide(segment.vectors, self._dimension)
        if len(slots) == 1 and slots[0] is not None:
            renamed = np.full(segment.rows, slots[0], dtype=np.int64)
        else:
            renamed = np.array([-1 if s is None else s for s in slots], np.int64)[segment.slots]
        of_rows: tuple[NDArray[Any], ...] = (
            renamed, segment.ordinals, segment.lines, segment.kinds, segment.lengths,
            segment.digests, vectors, segment.scales,
        )  # fmt: skip
        kept = renamed >= 0
        if kept.all():
            entries |= (rows + np.uint64(self.rows)) << np.uint64(_COUNT_BITS)
            entries |= counts
        else:
            of_rows = tuple(values[kept] for values in of_rows)
            alive = kept[rows]
            moved = (np.cumsum(kept) - 1 + self.rows).astype(np.uint64)
            entries = entries[alive] | moved[rows[alive]] << np.uint64(_COUNT_BITS) | counts[alive]
        for column, values in zip(self._columns, of_rows, strict=True):
            column.append(values)
        self._entries.append(entries)
        self.rows += len(of_rows[0])

    def add_files(self, files: Sequence[PostingSegment], slot: int) -> None:
        """Add the segments of files at consecutive slots.

        The same as adding them one by one, but faster: the overhead of array operations is large
        compared with one file's terms, so files are joined first.
        """
        import numpy as np

        if not files:
            return
        counts = [file.rows for file in files]
        bounds = np.cumsum([0, *counts])
        terms = b"\n".join([file.joined_terms for file in files if file.joined_terms])
        names = terms.decode("utf-8", "surrogatepass").split("\n") if terms else []
        numbers = np.fromiter(map(self._numbers.__getitem__, names), np.uint64, len(names))
        numbers <<= np.uint64(_TERM_SHIFT)
        entries = np.repeat(numbers, np.concatenate([np.diff(file.starts) for file in files]))
        rows = np.concatenate([file.entry_rows for file in files]).astype(np.uint64)
        rows += np.repeat(
            (bounds[:-1] + self.rows).astype(np.uint64), [len(file.entry_rows) for file in files]
        )
        rows <<= np.uint64(_COUNT_BITS)
        entries |= rows
        entries |= np.concatenate([file.entry_counts for file in files])
        of_rows: tuple[Sequence[NDArray[Any]], ...] = (
            [np.repeat(np.arange(slot, slot + len(files)), counts)],
            [file.ordinals for file in files],
            [file.lines for file in files],
            [file.kinds for file in files],
            [file.lengths for file in files],
            [file.digests for file in files],
            [_as_wide(file.vectors, self._dimension) for file in files],
            [file.scales for file in files],
        )
        for column, values in zip(self._columns, of_rows, strict=True):
            column.extend(values)
        self._entries.append(entries)
        self.rows += int(bounds[-1])

    def take(self) -> PostingSegment:
        """The merged segment; what was collected is given up, which saves memory."""
        import numpy as np

        if not self._entries:
            return segments.empty(self._dimension)
        entries = np.concatenate(self._entries)
        self._entries.clear()
        names = sorted(self._numbers)
        places = np.empty(len(names), dtype=np.uint64)
        places[np.fromiter(map(self._numbers.__getitem__, names), np.int64, len(names))] = (
            np.arange(len(names), dtype=np.uint64)
        )
        self._numbers.clear()
        per_term = _renumber(entries, places)
        entries.sort()
        entry_rows, entry_counts = _split(entries)
        del entries
        if not per_term.all():
            names = [name for name, any_ in zip(names, per_term.tolist(), strict=True) if any_]
            per_term = per_term[per_term > 0]
        starts = np.zeros(len(names) + 1, dtype=np.uint32)
        np.cumsum(per_term, out=starts[1:])
        slots, ordinals, lines, kinds, lengths, digests, vectors, scales = (
            _joined(column) for column in self._columns
        )
        return PostingSegment(
            slots.astype(np.uint32),
            ordinals,
            lines,
            kinds,
            lengths,
            digests,
            "\n".join(names).encode("utf-8", "surrogatepass"),
            starts,
            entry_rows,
            entry_counts,
            vectors,
            scales,
        )


def _joined(parts: list[NDArray[Any]]) -> NDArray[Any]:
    """The parts as one array; the list is emptied."""
    import numpy as np

    joined = np.concatenate(parts)
    parts.clear()
    return joined


def _renumber(entries: NDArray[np.uint64], places: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Replace the numbers of terms by their places; returns how many entries each place has.

    A block at a time: whole arrays in between would be as large as the entries.
    """
    import numpy as np

    shifted = places << np.uint64(_TERM_SHIFT)
    per_term = np.zeros(len(places), dtype=np.int64)
    for at in range(0, len(entries), ENTRIES_AT_ONCE):
        some = entries[at : at + ENTRIES_AT_ONCE]
        terms = (some >> np.uint64(_TERM_SHIFT)).view(np.int64)
        some &= np.uint64((1 << _TERM_SHIFT) - 1)
        some |= shifted.take(terms)
        per_term += np.bincount(terms, minlength=len(places))
    in_order = np.empty_like(per_term)
    in_order[places] = per_term
    return in_order


def _split(entries: NDArray[np.uint64]) -> tuple[NDArray[np.uint32], NDArray[np.uint8]]:
    """The rows of entries, and their fields with counts."""
    import numpy as np

    rows, counts = np.empty(len(entries), np.uint32), np.empty(len(entries), np.uint8)
    for at in range(0, len(entries), ENTRIES_AT_ONCE):
        some = entries[at : at + ENTRIES_AT_ONCE]
        rows[at : at + ENTRIES_AT_ONCE] = some >> np.uint64(_COUNT_BITS)  # without the term
        counts[at : at + ENTRIES_AT_ONCE] = some
    return rows, counts


def merge(
    parts: Iterable[tuple[PostingSegment, Sequence[int | None]]], dimension: int
) -> PostingSegment:
    """Merge segments, each with the new number of each of its slots; None drops the file."""
    merger = Merger(dimension)
    for segment, slots in parts:
        merger.add(segment, slots)
    return merger.take()


def _as_wide(vectors: NDArray[np.int8], dimension: int) -> NDArray[np.int8]:
    import numpy as np

    if vectors.shape[1] == dimension:
        return vectors
    return np.zeros((len(vectors), dimension), dtype=np.int8)
