"""The corpus a query is ranked over: posting segments, and which of their files are current.

A corpus is a view of one generation, perhaps with changed files in place of their stored versions.
Both are built the same way, so a file ranks the same before and after it is synced.

Every number that a score depends on is a sum of integers or belongs to one row, so it does not
depend on how rows are distributed over segments, and two backends agree to the last bit.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import msgspec

from holdfast.index.search.fields import FIELDS, Field, column_sums
from holdfast.index.search.file_table import File, Files, FileTable, SlotFiles, in_one_table
from holdfast.index.search.name_table import NameTable
from holdfast.index.search.posting_segment import PostingSegment, in_words
from holdfast.index.search.row_columns import JOINED_ROWS_MAX, Column, Ties
from holdfast.index.search.sign_filter import count_differences, fewest_differences, lost_weight
from holdfast.index.search.vector_columns import columns, products, products_of_bytes

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    FieldWorths = Callable[[NDArray[np.int64], NDArray[np.uint8]], NDArray[np.float32]]

T = TypeVar("T")
_serials = count()

FILE_SLOPE = 0.6
"""BM25's b for files: how much a long file discounts each occurrence of a word."""
EXACT_ROWS_MAX = 50_000
"""Up to this many chunks every vector is compared; above, those whose signs agree best."""
SIGNS_FIRST = 12_000
"""Rows that are taken by how many signs agree."""
BY_SIGNS = 4_000
"""Rows of those whose vectors are compared: the signs that matter most to the query agree best."""
ASKED_BEFORE_TABLE = 2
"""After this many queries, field weights are precomputed for all rows."""
PLACES_MAX = 4_096
"""For how many terms the places of their entries are cached."""
FUNCTIONS_MAX = 8
"""For how many functions of a path the results are cached."""

QUERY_LEVELS = 511
"""A query's vector is rounded to integers up to this: 127 * 511 * 256 is below 2**24, so sums of
products are exact in 32-bit floats, in any order."""


class Part(msgspec.Struct, frozen=True):
    """A segment, and the file of each of its slots; None for a file that is not current."""

    segment: PostingSegment
    files: Sequence[File | None]


class _Range(NamedTuple):
    """Entries of one segment; those before `own` are the term's itself, not of longer terms."""

    segment: PostingSegment
    first: int
    low: int
    own: int
    high: int


class Corpus:
    """The rows of all parts, concatenated."""

    def __init__(self, parts: Iterable[Part]) -> None:
        import numpy as np

        parts = [part for part in parts if part.segment.rows]
        slot_files = in_one_table([part.files for part in parts])
        self.parts = [Part(p.segment, f) for p, f in zip(parts, slot_files, strict=True)]
        of_rows = []
        places = [np.empty(0, dtype=np.int64)]
        size = 0
        for part, files in zip(self.parts, slot_files, strict=True):
            there = files.places >= 0
            numbers = np.full(len(there), -1, dtype=np.int64)
            count = int(there.sum())
            numbers[there] = np.arange(size, size + count)
            size += count
            places.append(files.places[there])
            of_rows.append(numbers[part.segment.slots])
        table = slot_files[0].table if slot_files else FileTable(None, ())
        self.files = Files(table, np.concatenate(places))
        self.file_of: NDArray[np.int64] = _joined(of_rows, np.int64)
        self._by_path = table.order(self.files.places)
        self._lengths = np.zeros(FIELDS, dtype=np.int64)
        for part, file_of in zip(self.parts, of_rows, strict=True):
            lengths = part.segment.lengths
            self._lengths += column_sums(lengths) - column_sums(lengths[file_of < 0])
        self.names = NameTable()
        self._finish()

    def _finish(self) -> None:
        """Compute what follows from the parts, the files and the rows."""
        import numpy as np

        self.firsts: list[int] = []
        at = 0
        for part in self.parts:
            self.firsts.append(at)
            at += part.segment.rows
        self.rows = at
        self.ordinals = Column([p.segment.ordinals for p in self.parts], self.firsts, np.int64)
        lengths = [part.segment.lengths for part in self.parts]
        none = np.empty((0, FIELDS), dtype=np.uint16)
        self.lengths = Column(lengths or [none], self.firsts, np.uint16)
        """The number of terms in each field of each row."""
        self.alive: NDArray[np.bool_] = self.file_of >= 0
        self.chunks = int(self.alive.sum())
        ranks = np.empty(len(self.files) + 1, dtype=np.int64)
        ranks[self._by_path] = np.arange(len(self.files))
        ranks[-1] = len(self.files)
        self.ties = Ties(ranks, self.file_of, self.ordinals)
        self._places: dict[tuple[str, bool], Sequence[_Range]] = {}
        self._norms: dict[object, NDArray[np.float32]] = {}
        self._by_function: dict[Callable[[str], int], NDArray[np.int8]] = {}
        self._asked = 0
        self._derived: dict[Callable[[Corpus], Any], Any] = {}
        self._lock = threading.Lock()
        self.serial = next(_serials)
        """Tells this corpus from all others of the process, in keys of caches."""

    @cached_property
    def lines(self) -> Column:
        import numpy as np

        lines = [part.segment.lines for part in self.parts]
        return Column(lines or [np.empty((0, 2), dtype=np.uint32)], self.firsts, np.int64)

    @cached_property
    def kinds(self) -> NDArray[np.uint8]:
        import numpy as np

        return _joined([part.segment.kinds for part in self.parts], np.uint8)

    @cached_property
    def filled(self) -> int:
        """The number of files with a chunk; `files` may also list empty ones."""
        import numpy as np

        return int(np.count_nonzero(np.bincount(self.file_of[self.alive])))

    @cached_property
    def file_norms(self) -> Floats:
        """The length normalisation of each file: a word's frequency is divided by it."""
        import numpy as np

        totals = np.zeros(len(self.files))
        for first, part in zip(self.firsts, self.parts, strict=True):
            files = self.file_of[first : first + part.segment.rows]
            there = np.flatnonzero(files >= 0)
            body = part.segment.lengths[there, Field.BODY]
            totals += np.bincount(files[there], weights=body, minlength=len(totals))
        average = float(totals.sum()) / max(1, self.filled) or 1.0
        return 1.0 - FILE_SLOPE + FILE_SLOPE * (totals / average)

    @cached_property
    def average_lengths(self) -> Floats:
        import numpy as np

        return np.asarray(self._lengths / max(1, self.chunks), dtype=np.float64)

    def changed(self, fresh: Iterable[Part], replaced: Iterable[str]) -> Corpus:
        """The corpus with the files of other parts in place of some of its own.

        Costs time in proportion to the change, and a few passes over the rows.
        """
        import numpy as np

        table, before = self.files.table, self.files.places
        gone = np.isin(before, table.places_of(frozenset(replaced)))
        after = Corpus([part for part in fresh if part.segment.rows])
        # The new numbers of the files: remaining ones are renumbered, fresh ones come last.
        renamed = np.append(np.where(gone, -1, np.cumsum(~gone) - 1), -1)
        file_of = renamed[self.file_of]
        parts, kept = self._parts_left(gone, file_of)
        left = len(self.files) - int(gone.sum())
        own = after.file_of
        made = object.__new__(Corpus)
        made.parts = [*parts, *after.parts]
        made.files = table.followed_by(before[~gone], after.files)
        made.file_of = np.concatenate(
            [*(file_of[rows] for rows in kept), np.where(own >= 0, own + left, -1)]
        )
        went = self.lengths[np.flatnonzero((self.file_of >= 0) & (file_of < 0))]
        went = went.sum(axis=0, dtype=np.int64)
        made._lengths = self._lengths - went + after._lengths
        by_path = renamed[self._by_path]
        by_path = by_path[by_path >= 0]
        more = np.arange(left, len(made.files))
        made._by_path = made.files.table.inserted(made.files.places, by_path, more)
        made.names = self.names
        made._finish()
        return made

    def _parts_left(
        self, gone: NDArray[np.bool_], file_of: NDArray[np.int64]
    ) -> tuple[list[Part], list[slice]]:
        """The parts without the removed files, and their rows."""
        import numpy as np

        kept = []
        parts = []
        for first, part in zip(self.firsts, self.parts, strict=True):
            rows = slice(first, first + part.segment.rows)
            if not (file_of[rows] >= 0).any():
                continue
            kept.append(rows)
            before = self.file_of[rows]
            dead = np.unique(part.segment.slots[(before >= 0) & gone[before]])
            if len(dead):
                assert isinstance(part.files, SlotFiles)
                part = Part(part.segment, part.files.without(dead))
            parts.append(part)
        return parts, kept

    def by_path(self, function: Callable[[str], int], files: NDArray[np.int64]) -> NDArray[np.int8]:
        """The results of a function of a path for some files, numbers from 0 to 127. Cached."""
        import numpy as np

        with self._lock:
            known = self._by_function.get(function)
            if known is None:
                if len(self._by_function) >= FUNCTIONS_MAX:
                    self._by_function.pop(next(iter(self._by_function)))
                known = self._by_function[function] = np.full(len(self.files), -1, dtype=np.int8)
        found = known.take(files)
        if len(found) and found.min() < 0:
            for file in set(files[found < 0].tolist()):
                known[file] = function(self.files.path(file))
            found = known.take(files)
        return found

    # The lexical lane.

    def field_worths(self, weights: Sequence[float], slopes: Sequence[float]) -> FieldWorths:
        """A function for the weight of one occurrence in fields of rows; long fields weigh less.

        The first queries compute it for the rows they need. Later ones look it up in a table of
        all rows, which is quicker; that of a large corpus would take too much memory.
        """
        import numpy as np

        key = (tuple(weights), tuple(slopes))
        with self._lock:
            known = self._norms.get(key)
            self._asked += 1
        average = np.where(self.average_lengths > 0, self.average_lengths, 1.0)
        slope = np.asarray(slopes, dtype=np.float64)
        weight = np.asarray(weights, dtype=np.float64)

        def worths(lengths: NDArray[Any], field: Any) -> NDArray[np.float32]:
            norm = 1.0 - slope[field] + slope[field] * (lengths / average[field])
            worth: NDArray[np.float32] = (weight[field] / np.maximum(norm, 1e-3)).astype(np.float32)
            return worth

        cells, pieces = self.lengths.cells, self.lengths.pieces
        large = self.rows > JOINED_ROWS_MAX
        if large or (known is None and self._asked <= ASKED_BEFORE_TABLE):
            return lambda rows, fields: worths(cells(rows, fields), fields)
        if known is None:
            known = np.concatenate([worths(piece, slice(None)).reshape(-1) for piece in pieces])
            with self._lock:
                if len(self._norms) > 4:
                    self._norms.clear()
                self._norms[key] = known
        table = known

        def looked_up(rows: NDArray[np.int64], fields: NDArray[np.uint8]) -> NDArray[np.float32]:
            at = rows * FIELDS
            at += fields
            return table.take(at)

        return looked_up

    def entries(self, term: str) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
        """The entries of a term in current files: rows, and fields packed with counts."""
        rows, packed, _ = self.with_longer(term, prefix=False)
        return rows, packed

    def _ranges(self, term: str, prefix: bool) -> Sequence[_Range]:
        """Where the segments have a term, or all terms with this prefix. Cached."""
        known = self._places.get((term, prefix))
        if known is None:
            found = []
            for part, first in zip(self.parts, self.firsts, strict=True):
                segment = part.segment
                if prefix:
                    low, own, high = segment.entries_of_prefix(term)
                else:
                    low, high = segment.entries(term)
                    own = high
                if low < high:
                    found.append(_Range(segment, first, low, own, high))
            known = tuple(found)
            if len(self._places) >= PLACES_MAX:
                self._places.clear()
            self._places[term, prefix] = known
        return known

    def is_common(self, prefix: str, entries_max: int) -> bool:
        """Whether the terms with this prefix have more entries in current files."""
        ranges = self._ranges(prefix, True)
        if sum([one.high - one.low for one in ranges]) <= entries_max:
            return False
        return self.chunks == self.rows or len(self.with_longer(prefix)[0]) > entries_max

    def with_longer(
        self, term: str, *, prefix: bool = True
    ) -> tuple[NDArray[np.int64], NDArray[np.uint8], int]:
        """The entries of a term, then those of all longer terms that begin with it.

        The number tells how many are the term's own; these are ordered by row.
        """
        import numpy as np

        ranges = self._ranges(term, prefix)
        if not ranges:  # most joined words
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.uint8), 0
        # The term's own entries come first, then those of longer terms.
        own: list[tuple[NDArray[np.uint32], NDArray[np.uint8], int]] = []
        longer: list[tuple[NDArray[np.uint32], NDArray[np.uint8], int]] = []
        total_own = 0
        for segment, first, low, end, high in ranges:
            rows, fields = segment.run(low, high)
            size = end - low
            total_own += size
            if low < end:
                own.append((rows[:size], fields[:size], first))
            if end < high:
                longer.append((rows[size:], fields[size:], first))
        pieces = [*own, *longer]
        at = np.concatenate([rows for rows, _, _ in pieces], dtype=np.int64)
        packed = np.concatenate([fields for _, fields, _ in pieces])
        begin = 0
        for rows, _, first in pieces:
            stop = begin + len(rows)
            if first:
                at[begin:stop] += first
            begin = stop
        if self.chunks < self.rows:
            living = self.alive.take(at)
            total_own = int(np.count_nonzero(living[:total_own]))
            at, packed = at[living], packed[living]
        return at, packed, total_own

    def derived(self, compute: Callable[[Corpus], T]) -> T:
        """The result of a function of this corpus, computed once."""
        if compute not in self._derived:
            self._derived[compute] = compute(self)
        found: T = self._derived[compute]
        return found

    # The dense lane.

    @cached_property
    def dimension(self) -> int:
        """The length of the vectors; 0 without vectors."""
        return max((part.segment.dimension for part in self.parts), default=0)

    @property
    def exhaustive(self) -> bool:
        """Whether `nearness` compares every row, not only those preselected by signs.

        Only current rows are counted: the number of others depends on past syncs.
        """
        return self.chunks <= EXACT_ROWS_MAX

    def nearness(self, vector: NDArray[np.float32]) -> NDArray[np.float32]:
        """The inner product of every row with a query's vector, at stored precision.

        In a large corpus, rows that were not preselected by their signs have 0.
        """
        import numpy as np

        near = np.zeros(self.rows, dtype=np.float32)
        if not self.exhaustive:
            rows, found = self.preselected(vector)
            near[rows] = found
            return near
        asked, scale = _levels(vector)
        for first, part in zip(self.firsts, self.parts, strict=True):
            segment = part.segment
            if segment.dimension == len(asked):
                out = near[first : first + segment.rows]
                blocks = columns.of(segment)
                if blocks is not None:
                    out[:] = products(blocks, asked)[: segment.rows]
                else:
                    products_of_bytes(segment.vectors, asked, out)
                out *= segment.scales
        near *= scale
        return near

    def preselected(
        self, vector: NDArray[np.float32]
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """The current rows of a large corpus that are compared, in ascending order, and their
        nearness."""
        rows = self._by_signs(vector)
        return rows, self.nearness_of(vector, rows)

    def nearness_of(
        self, vector: NDArray[np.float32], rows: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        """The same for some rows, whatever their signs."""
        import numpy as np

        if not _ascending(rows):
            order = np.argsort(rows, kind="stable")
            near = np.empty(len(rows), dtype=np.float32)
            near[order] = self.nearness_of(vector, rows[order])
            return near
        asked, scale = _levels(vector)
        near = np.zeros(len(rows), dtype=np.float32)
        for segment, first, own in self._in_parts(rows):
            if segment.dimension == len(asked):
                at = rows[own] - first
                products_of_bytes(segment.vector_rows(at), asked, near[own])
                near[own] *= segment.scales.take(at)
        near *= scale
        return near

    def _in_parts(self, rows: NDArray[np.int64]) -> Iterator[tuple[PostingSegment, int, slice]]:
        """The segments that have some of these ascending rows: their first row, and which rows."""
        bounds = rows.searchsorted([*self.firsts, self.rows]).tolist()
        for part, first, low, high in zip(
            self.parts, self.firsts, bounds[:-1], bounds[1:], strict=True
        ):
            if low < high:
                yield part.segment, first, slice(low, high)

    def _by_signs(self, vector: NDArray[np.float32]) -> NDArray[np.int64]:
        """The current rows whose signs agree best with the vector's."""
        import numpy as np

        asked = in_words(np.packbits(vector > 0)[None, :])[0]
        most = len(vector) + 1
        apart = np.full(self.rows, most, dtype=np.int16)
        for first, part in zip(self.firsts, self.parts, strict=True):
            signs = part.segment.signs
            if signs.shape[1] == len(asked):
                count_differences(signs, asked, apart[first : first + part.segment.rows])
        if self.chunks < self.rows:
            apart[~self.alive] = most
        rows = fewest_differences(apart, most, SIGNS_FIRST)
        if len(rows) <= BY_SIGNS:
            return rows
        signs = np.empty((len(rows), len(asked)), dtype=np.uint64)
        for segment, first, own in self._in_parts(rows):
            signs[own] = segment.signs.take(rows[own] - first, axis=0)
        lost = lost_weight(signs, asked, _levels(vector)[0])
        last = np.partition(lost, BY_SIGNS - 1)[BY_SIGNS - 1]
        return rows.take(np.flatnonzero(lost <= last))


def _ascending(rows: NDArray[np.int64]) -> bool:
    return bool((rows[1:] >= rows[:-1]).all())


def _levels(vector: NDArray[np.float32]) -> tuple[NDArray[np.float32], np.float32]:
    """A query's vector as integers, and the scale that turns them back."""
    import numpy as np

    peak = float(np.abs(vector).max(initial=0.0))
    if peak == 0.0:
        return np.zeros(len(vector), np.float32), np.float32(0.0)
    return np.rint(vector * (QUERY_LEVELS / peak)).astype(np.float32), np.float32(
        peak / QUERY_LEVELS
    )


def _joined(arrays: Sequence[NDArray[Any]], kind: type[Any]) -> NDArray[Any]:
    import numpy as np

    if not arrays:
        return np.empty(0, dtype=kind)
    return np.concatenate(arrays).astype(kind, copy=False)
