"""Postings and vectors of some files, in arrays that are used as they are stored.

A segment never changes. The postings of one file are a segment; those of a whole tree are many
such, merged; a sync adds a small one. Which of its files still count is said outside, so dropping
a file touches nothing here. That is what makes a sync of one file cheap and lets the same arrays
serve every generation, every backend and the files that changed a moment ago.

Terms are sorted, and the entries of a term lie together, in the order of rows: all terms with one
prefix are one run of entries. An entry is a row, a field and how often the term stands there.

Vectors are kept at one byte per dimension. A row's numbers are whole multiples of its own scale.
"""

from __future__ import annotations

import struct
import zlib
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

from holdfast.index.errors import DamagedBackend
from holdfast.index.search.fields import FIELDS, Field, Fields
from holdfast.index.search.terms import WORD, compact, split

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SEGMENT_VERSION = 1
"""The layout of a stored segment.

- 1: rows (slot, ordinal, lines, kind, lengths, digest), sorted terms, entries of row and of field
  with count; vectors apart, as int8 with one float32 scale for each row.
"""

COUNT_MAX = 31
LENGTH_MAX = 65_535
LEVELS = 127
"""A vector's largest number is stored as this."""

EXACT = "="
"""Names of symbols, files and callees also count as themselves, after this mark: `=parser` is not
`=parsing`, though both have the same stem."""
_EXACT_FIELDS = frozenset({Field.NAME, Field.STEM, Field.CALL})

_MAGIC = b"HFSG"
_HEAD = struct.Struct("<4sHHIIII")
_END = "\U0010ffff"

KINDS = (
    "module", "class", "interface", "trait", "struct", "union", "enum", "object", "namespace",
    "type", "function", "method", "constructor", "property", "constant", "variable", "macro",
    "section", "cell", "key",
)  # fmt: skip
"""Kinds of owners, by their stored number."""
_KIND_NUMBERS = {kind: number for number, kind in enumerate(KINDS)}


@dataclass(frozen=True, eq=False)
class Segment:
    """Rows are chunks; `slots[i]` numbers the file of row i within the segment."""

    slots: NDArray[np.uint32]
    ordinals: NDArray[np.uint32]
    lines: NDArray[np.uint32]
    kinds: NDArray[np.uint8]
    lengths: NDArray[np.uint16]
    digests: NDArray[np.uint32]
    """A sum over the words of the body: equal for copies, whatever their layout."""
    joined_terms: bytes
    starts: NDArray[np.uint32]
    entry_rows: NDArray[np.uint32]
    entry_counts: NDArray[np.uint8]
    vectors: NDArray[np.int8]
    scales: NDArray[np.float32]

    @property
    def rows(self) -> int:
        return len(self.slots)

    @cached_property
    def terms(self) -> list[str]:
        text = self.joined_terms.decode("utf-8", "surrogatepass")
        return text.split("\n") if text else []

    def entries(self, term: str) -> tuple[int, int]:
        """Where the entries of a term are; an empty run when it is not here."""
        at = bisect_left(self.terms, term)
        if at == len(self.terms) or self.terms[at] != term:
            return 0, 0
        return int(self.starts[at]), int(self.starts[at + 1])

    def entries_of_prefix(self, prefix: str) -> tuple[int, int]:
        """Where the entries of all terms are that begin so."""
        first = bisect_left(self.terms, prefix)
        last = bisect_left(self.terms, prefix + _END, first)
        return int(self.starts[first]), int(self.starts[last])

    @property
    def exact_terms(self) -> tuple[list[str], NDArray[np.int64], int, int]:
        """Names as they are: the terms, where the entries of each start, and the whole run."""
        import numpy as np

        first = bisect_left(self.terms, EXACT)
        last = bisect_left(self.terms, EXACT + _END, first)
        starts = self.starts[first : last + 1].astype(np.int64)
        return self.terms[first:last], starts, int(starts[0]), int(starts[-1])

    @cached_property
    def signs(self) -> NDArray[np.uint64]:
        """One bit for each number of each vector: whether it is above zero."""
        import numpy as np

        return in_words(np.packbits(self.vectors > 0, axis=1))


def in_words(packed: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Rows of bytes as rows of eight bytes each, filled up with zeros."""
    import numpy as np

    width = -(-packed.shape[1] // 8) * 8
    filled = np.zeros((len(packed), width), dtype=np.uint8)
    filled[:, : packed.shape[1]] = packed
    return filled.view(np.uint64)


def number_of_kind(kind: str) -> int:
    return _KIND_NUMBERS.get(kind, 0)


class _Interner(dict[str, tuple[int, ...]]):
    """Words as met in text -> the numbers of their terms."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []
        self._numbers: dict[str, int] = {}

    def __missing__(self, word: str) -> tuple[int, ...]:
        numbers = []
        for term in split(word) if word[0] != EXACT else (EXACT + compact(word[1:]),):
            number = self._numbers.get(term)
            if number is None:
                number = self._numbers[term] = len(self.names)
                self.names.append(term)
            numbers.append(number)
        found = self[word] = tuple(numbers)
        return found


_WORDS_MAX = 400_000
_interner = _Interner()


def of_chunks(
    fields: Sequence[Fields], lines: Sequence[tuple[int, int]], kinds: Sequence[str]
) -> Segment:
    """The segment of one file, without vectors."""
    import numpy as np

    global _interner
    if len(_interner) > _WORDS_MAX:
        _interner = _Interner()
    interner = _interner
    words_of, number_of = WORD.findall, interner.__getitem__
    numbers: list[int] = []
    places: list[int] = []
    sizes: list[int] = []
    extras: list[int] = []
    digests: list[int] = []
    for row, one in enumerate(fields):
        for field, text in enumerate(one.texts()):
            before = len(numbers)
            extra = 0
            if text:
                words = words_of(text)
                if field == Field.BODY:
                    digests.append(zlib.crc32(" ".join(words).encode("utf-8", "surrogatepass")))
                if field != Field.CALL:
                    numbers.extend(chain.from_iterable(map(number_of, words)))
                if field in _EXACT_FIELDS:
                    extra = len(words)
                    numbers.extend(number_of(EXACT + word)[0] for word in words)
            places.append(row * FIELDS + field)
            sizes.append(len(numbers) - before)
            extras.append(extra)
        if len(digests) == row:
            digests.append(0)
    own = np.array(sizes, dtype=np.int64) - np.array(extras, dtype=np.int64)
    lengths = np.minimum(own, LENGTH_MAX).astype(np.uint16)
    keys = np.array(numbers, dtype=np.int64) << 32 | np.repeat(
        np.array(places, dtype=np.int64), np.array(sizes, dtype=np.int64)
    )
    entries, counts = np.unique(keys, return_counts=True)
    used, first = np.unique(entries >> 32, return_index=True)
    names = [interner.names[number] for number in used.tolist()]
    by_name = sorted(range(len(names)), key=names.__getitem__)
    runs = np.append(first, len(entries)).astype(np.int64)
    order, starts = _runs_in_order(runs, np.array(by_name, dtype=np.int64))
    place = (entries & 0xFFFFFFFF)[order]
    count = np.minimum(counts[order], COUNT_MAX)
    n = len(fields)
    return Segment(
        np.zeros(n, np.uint32),
        np.arange(n, dtype=np.uint32),
        np.array(lines, dtype=np.uint32).reshape(n, 2),
        np.array([number_of_kind(kind) for kind in kinds], dtype=np.uint8),
        lengths.reshape(n, FIELDS),
        np.array(digests, dtype=np.uint32),
        "\n".join([names[i] for i in by_name]).encode("utf-8", "surrogatepass"),
        starts,
        (place // FIELDS).astype(np.uint32),
        ((place % FIELDS) << 5 | count).astype(np.uint8),
        np.empty((n, 0), dtype=np.int8),
        np.zeros(n, dtype=np.float32),
    )


def _runs_in_order(
    runs: NDArray[np.int64], by_name: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    """The entries' numbers when runs are taken in another order, and where each run starts then."""
    import numpy as np

    sizes = np.diff(runs)[by_name]
    starts = np.zeros(len(by_name) + 1, dtype=np.int64)
    np.cumsum(sizes, out=starts[1:])
    shift = np.repeat(runs[:-1][by_name] - starts[:-1], sizes)
    return shift + np.arange(len(shift)), starts.astype(np.uint32)


def quantised(rows: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Vectors at one byte per dimension, and the scale of each."""
    import numpy as np

    scales = np.abs(rows).max(axis=1, initial=0.0) / LEVELS
    divisors = np.where(scales > 0, scales, 1.0)
    return (
        np.rint(rows / divisors[:, None]).astype(np.int8),
        np.asarray(scales, dtype=np.float32),
    )


def with_vectors(segment: Segment, vectors: bytes, dimension: int) -> Segment:
    """The segment with one float32 row for each of its chunks, kept at one byte per dimension."""
    import numpy as np

    rows = np.frombuffer(vectors, dtype=np.float32).reshape(-1, dimension)
    if len(rows) != segment.rows:
        raise DamagedBackend(f"{len(rows)} vectors for {segment.rows} chunks")
    small, scales = quantised(rows)
    return _replaced(segment, small, scales)


def _replaced(segment: Segment, vectors: NDArray[np.int8], scales: NDArray[np.float32]) -> Segment:
    return Segment(
        segment.slots, segment.ordinals, segment.lines, segment.kinds, segment.lengths,
        segment.digests, segment.joined_terms, segment.starts, segment.entry_rows,
        segment.entry_counts, vectors, scales,
    )  # fmt: skip


def merge(parts: Iterable[tuple[Segment, Sequence[int | None]]], dimension: int) -> Segment:
    """One segment of several. Each comes with the new slot of each of its slots; None drops it."""
    import numpy as np

    given = [(segment, slots) for segment, slots in parts if segment.rows]
    met: set[str] = set()
    for one, _ in given:
        met.update(one.terms)
    names = sorted(met)
    number_of = {name: number for number, name in enumerate(names)}
    columns: list[list[Any]] = [[] for _ in range(8)]
    term_parts, row_parts, count_parts = [], [], []
    rows = 0
    for segment, slots in given:
        renamed = np.array([-1 if s is None else s for s in slots], dtype=np.int64)[segment.slots]
        kept = renamed >= 0
        moved = np.cumsum(kept) - 1 + rows
        of_rows: tuple[NDArray[Any], ...] = (
            renamed, segment.ordinals, segment.lines, segment.kinds, segment.lengths,
            segment.digests, _as_wide(segment.vectors, dimension), segment.scales,
        )  # fmt: skip
        for column, values in zip(columns, of_rows, strict=True):
            column.append(values[kept])
        numbers = np.fromiter(
            map(number_of.__getitem__, segment.terms), np.int64, len(segment.terms)
        )
        sizes = segment.starts[1:].astype(np.int64) - segment.starts[:-1]
        of_entries = np.repeat(numbers, sizes)
        alive = kept[segment.entry_rows]
        term_parts.append(of_entries[alive])
        row_parts.append(moved[segment.entry_rows[alive]])
        count_parts.append(segment.entry_counts[alive])
        rows += int(kept.sum())
    if not given:
        return empty(dimension)
    entry_terms = np.concatenate(term_parts)
    order = np.argsort(entry_terms, kind="stable")
    per_term = np.bincount(entry_terms, minlength=len(names))
    used = per_term > 0
    starts = np.zeros(int(used.sum()) + 1, dtype=np.int64)
    np.cumsum(per_term[used], out=starts[1:])
    if not used.all():
        names = [name for name, any_ in zip(names, used.tolist(), strict=True) if any_]
    return Segment(
        np.concatenate(columns[0]).astype(np.uint32),
        np.concatenate(columns[1]),
        np.concatenate(columns[2]),
        np.concatenate(columns[3]),
        np.concatenate(columns[4]),
        np.concatenate(columns[5]),
        "\n".join(names).encode("utf-8", "surrogatepass"),
        starts.astype(np.uint32),
        np.concatenate(row_parts)[order].astype(np.uint32),
        np.concatenate(count_parts)[order],
        np.concatenate(columns[6]),
        np.concatenate(columns[7]),
    )


def _as_wide(vectors: NDArray[np.int8], dimension: int) -> NDArray[np.int8]:
    import numpy as np

    if vectors.shape[1] == dimension:
        return vectors
    return np.zeros((len(vectors), dimension), dtype=np.int8)


def empty(dimension: int) -> Segment:
    import numpy as np

    return Segment(
        np.empty(0, np.uint32), np.empty(0, np.uint32), np.empty((0, 2), np.uint32),
        np.empty(0, np.uint8), np.empty((0, FIELDS), np.uint16), np.empty(0, np.uint32), b"",
        np.zeros(1, np.uint32),
        np.empty(0, np.uint32), np.empty(0, np.uint8), np.empty((0, dimension), np.int8),
        np.empty(0, np.float32),
    )  # fmt: skip


def pack(segment: Segment) -> bytes:
    """A segment without its vectors, as bytes."""
    head = _HEAD.pack(
        _MAGIC, SEGMENT_VERSION, FIELDS, segment.rows, len(segment.starts),
        len(segment.entry_rows), len(segment.joined_terms),
    )  # fmt: skip
    wide = segment.rows > LENGTH_MAX
    rows = segment.entry_rows if wide else segment.entry_rows.astype("<u2")
    return b"".join(
        (
            head, segment.slots.tobytes(), segment.ordinals.tobytes(), segment.lines.tobytes(),
            segment.digests.tobytes(), segment.starts.tobytes(), rows.tobytes(),
            segment.lengths.tobytes(), segment.kinds.tobytes(), segment.entry_counts.tobytes(),
            segment.joined_terms,
        )
    )  # fmt: skip


def pack_vectors(segment: Segment) -> bytes:
    """The scales, then the rows."""
    return segment.scales.tobytes() + segment.vectors.tobytes()


def unpack(data: bytes, vectors: bytes | None = None, dimension: int = 0) -> Segment:
    """The inverse of `pack` and `pack_vectors`; raises DamagedBackend for anything else."""
    import numpy as np

    try:
        magic, version, fields, rows, starts, entries, letters = _HEAD.unpack_from(data)
    except struct.error as error:
        raise DamagedBackend("a segment of the index is cut short") from error
    if (magic, version, fields) != (_MAGIC, SEGMENT_VERSION, FIELDS):
        raise DamagedBackend(f"a segment of the index has format {magic!r} {version}")
    row_type = "<u4" if rows > LENGTH_MAX else "<u2"
    layout = [
        ("<u4", rows), ("<u4", rows), ("<u4", rows * 2), ("<u4", rows), ("<u4", starts),
        (row_type, entries), ("<u2", rows * FIELDS), ("<u1", rows), ("<u1", entries),
    ]  # fmt: skip
    if len(data) != _HEAD.size + letters + sum(n * np.dtype(t).itemsize for t, n in layout):
        raise DamagedBackend("a segment of the index is cut short")
    at = _HEAD.size
    arrays = []
    for kind, count in layout:
        arrays.append(np.frombuffer(data, dtype=kind, count=count, offset=at))
        at += arrays[-1].nbytes
    slots, ordinals, lines, digests, offsets, entry_rows, lengths, kinds, counts = arrays
    if vectors is None:
        small, scales = np.empty((rows, 0), np.int8), np.zeros(rows, np.float32)
    else:
        if len(vectors) != rows * (4 + dimension):
            raise DamagedBackend("the vectors of the index do not belong to its chunks")
        scales = np.frombuffer(vectors, dtype="<f4", count=rows)
        small = np.frombuffer(vectors, dtype=np.int8, offset=rows * 4).reshape(rows, dimension)
    return Segment(
        slots, ordinals, lines.reshape(rows, 2), kinds, lengths.reshape(rows, FIELDS), digests,
        data[at:], offsets, entry_rows, counts, small, scales,
    )  # fmt: skip
