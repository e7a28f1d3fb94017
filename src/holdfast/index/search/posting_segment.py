"""Postings and vectors of some files, in arrays that are used in their stored form.

A segment never changes. The postings of one file are a segment; those of a tree are many of them,
merged; a sync adds a small one. Which of its files are current is recorded elsewhere, so removing a
file does not touch the segment. That makes a sync of one file cheap and lets the same arrays serve
every generation, every backend and the files that changed a moment ago.

Terms are sorted, and the entries of a term are adjacent and ordered by row, so all terms with one
prefix are one run of entries. An entry is a row, a field and the term's count in it.

Vectors are stored at one byte per dimension, as multiples of a scale for each row.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import cached_property
from mmap import mmap
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.index.embedding.provider import NOT_FINITE, usable
from holdfast.index.errors import DamagedBackend
from holdfast.index.search.fields import FIELDS
from holdfast.index.search.term_list import Starts, TermList
from holdfast.index.search.vocabulary import EXACT as EXACT
from holdfast.index.search.vocabulary import word_hashes

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from holdfast.index.search.term_tables import StoredTables

SEGMENT_VERSION = 2
"""The layout of a stored segment.

- 1: rows (slot, ordinal, lines, kind, lengths, digest), sorted terms, entries of row and of field
  with count; vectors apart, as int8 with one float32 scale for each row.
- 2: the same with another digest, so copies are not recognised between versions 1 and 2.
"""
_READ = (1, 2)

COUNT_MAX = 31
LENGTH_MAX = 65_535
LEVELS = 127
"""The largest component of a vector is stored as this."""

_MAGIC, _MAGIC_OF_FILE = b"HFSG", b"HFSF"
_HEAD = struct.Struct("<4sHHIIII")
_LAYOUT = (
    ("<u4", 4), ("<u4", 4), ("<u4", 4), ("<u4", 4), ("<u4", 4), ("<u2", 2), ("<u2", 2), ("<u1", 1),
    ("<u1", 1),
)  # fmt: skip
_LAYOUT_WIDE = (*_LAYOUT[:5], ("<u4", 4), *_LAYOUT[6:])
"""Slots, ordinals, lines, digests, starts, rows of entries, lengths, kinds, counts of entries."""
_ARRAYS = (
    "slots", "ordinals", "lines", "digests", "starts", "entry_rows", "lengths", "kinds",
    "entry_counts",
)  # fmt: skip
_END = "\U0010ffff"
_NEW_LINE = 10
HASHED_AT_ONCE = 65_536
"""How many bytes of terms are hashed at a time."""

KINDS = (
    "module", "class", "interface", "trait", "struct", "union", "enum", "object", "namespace",
    "type", "function", "method", "constructor", "property", "constant", "variable", "macro",
    "section", "cell", "key", "test",
)  # fmt: skip
"""Kinds of owners, by their stored number; the last one is a test among code."""
TEST_KIND = "test"
_KIND_NUMBERS = {kind: number for number, kind in enumerate(KINDS)}


Buffer = bytes | memoryview | mmap
"""The bytes of a stored segment."""


class Section(NamedTuple):
    """Where an array is in a stored segment."""

    kind: str
    at: int
    items: int
    width: int

    def bounds(self, low: int = 0, high: int | None = None) -> tuple[int, int]:
        """The bytes of some items."""
        last = self.items if high is None else high
        return self.at + low * self.width, self.at + last * self.width


@dataclass(frozen=True, eq=False)
class PostingSegment:
    """Rows are chunks; `slots[i]` numbers the file of row i within the segment."""

    slots: NDArray[np.uint32]
    ordinals: NDArray[np.uint32]
    lines: NDArray[np.uint32]
    kinds: NDArray[np.uint8]
    lengths: NDArray[np.uint16]
    digests: NDArray[np.uint32]
    """A hash of the words of the body: equal for copies with other white space."""
    joined_terms: bytes | memoryview
    """The terms in order, one to a line."""
    starts: NDArray[np.uint32]
    entry_rows: NDArray[np.uint32]
    entry_counts: NDArray[np.uint8]
    vectors: NDArray[np.int8]
    scales: NDArray[np.float32]

    @property
    def rows(self) -> int:
        return len(self.slots)

    @property
    def dimension(self) -> int:
        """The length of the vectors; 0 without vectors."""
        return int(self.vectors.shape[1])

    @property
    def terms(self) -> list[str]:
        """All terms as strings. Lookups of a query do not need them."""
        text = str(self.joined_terms, "utf-8", "surrogatepass")
        return text.split("\n") if text else []

    @property
    def stored_tables(self) -> StoredTables | None:
        """What was computed of all terms before, if it is stored."""
        return None

    @cached_property
    def _term_list(self) -> TermList:
        stored = self.stored_tables
        return TermList(self.joined_terms, None if stored is None else stored.starts())

    @property
    def block_starts(self) -> Starts:
        return self._term_list.block_starts

    @cached_property
    def _entry_starts(self) -> memoryview:
        """`starts`, fast to index."""
        return self.starts.data

    def entries(self, term: str) -> tuple[int, int]:
        """The range of a term's entries; empty if the segment does not have it."""
        at = self._term_list.number(term)
        return (0, 0) if at < 0 else (self._entry_starts[at], self._entry_starts[at + 1])

    def entries_of_prefix(self, prefix: str) -> tuple[int, int, int]:
        """The range of the entries of all terms with this prefix, and the end of the term's own.

        The term itself is the first of them: (start, end of its own entries, end of all).
        """
        first, there, last = self._term_list.with_prefix(prefix)
        starts = self._entry_starts
        return starts[first], starts[first + there], starts[last]

    def check_size(self) -> None:
        """Raise DamagedBackend if the segment is in a file that became shorter."""

    def run(self, low: int, high: int) -> tuple[NDArray[np.uint32], NDArray[np.uint8]]:
        """A range of entries: their rows, and their fields packed with counts."""
        return self.entry_rows[low:high], self.entry_counts[low:high]

    @property
    def exact_terms(self) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """Unstemmed names: a hash of each, and the bounds of their entries."""
        import numpy as np

        first, _ = self._term_list.place(EXACT)
        last, _ = self._term_list.place(EXACT + _END)
        return self._hashes(first, last), self.starts[first : last + 1].astype(np.int64)

    def _hashes(self, first: int, last: int) -> NDArray[np.uint64]:
        """A hash of each term of a range, computed for a few thousand at a time."""
        import numpy as np

        starts = self._term_list.starts
        if first == last:
            return np.empty(0, np.uint64)
        letters = np.frombuffer(self.joined_terms, dtype=np.uint8)
        found = []
        while first < last:
            begin = int(starts[first])
            until = int(np.searchsorted(starts, begin + HASHED_AT_ONCE))
            until = min(max(until, first + 1), last)
            some = letters[begin : int(starts[until]) - 1]
            inside = starts[first:until].astype(np.int64) - begin
            found.append(word_hashes(np.where(some == _NEW_LINE, 0, some), inside))
            first = until
        return np.concatenate(found)

    def vector_rows(self, rows: NDArray[np.int64]) -> NDArray[np.int8]:
        """The vectors of some rows."""
        return self.vectors[rows]

    @cached_property
    def signs(self) -> NDArray[np.uint64]:
        """One bit for each component of each vector: whether it is positive."""
        import numpy as np

        return in_words(np.packbits(self.vectors > 0, axis=1))


def in_words(packed: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Rows of bytes as rows of 64-bit words, padded with zeros."""
    import numpy as np

    width = -(-packed.shape[1] // 8) * 8
    filled = np.zeros((len(packed), width), dtype=np.uint8)
    filled[:, : packed.shape[1]] = packed
    return filled.view(np.uint64)


def number_of_kind(kind: str) -> int:
    return _KIND_NUMBERS.get(kind, 0)


def quantised(rows: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Vectors at one byte per dimension, and the scale of each row."""
    import numpy as np

    scales = np.abs(rows).max(axis=1, initial=0.0) / LEVELS
    divisors = scales[:, None].copy()
    divisors[divisors == 0] = 1.0
    return np.rint(rows / divisors).astype(np.int8), np.asarray(scales, dtype=np.float32)


def with_vectors(segment: PostingSegment, vectors: bytes, dimension: int) -> PostingSegment:
    """The segment with vectors, given as one float32 row for each chunk."""
    import numpy as np

    rows = np.frombuffer(vectors, dtype=np.float32).reshape(-1, dimension)
    if len(rows) != segment.rows:
        raise DamagedBackend(f"{len(rows)} vectors for {segment.rows} chunks")
    if not usable(rows):
        raise DamagedBackend(NOT_FINITE)
    small, scales = quantised(rows)
    return replaced(segment, small, scales)


def replaced(
    segment: PostingSegment, vectors: NDArray[np.int8], scales: NDArray[np.float32]
) -> PostingSegment:
    return PostingSegment(
        segment.slots, segment.ordinals, segment.lines, segment.kinds, segment.lengths,
        segment.digests, segment.joined_terms, segment.starts, segment.entry_rows,
        segment.entry_counts, vectors, scales,
    )  # fmt: skip


def empty(dimension: int) -> PostingSegment:
    import numpy as np

    return PostingSegment(
        np.empty(0, np.uint32), np.empty(0, np.uint32), np.empty((0, 2), np.uint32),
        np.empty(0, np.uint8), np.empty((0, FIELDS), np.uint16), np.empty(0, np.uint32), b"",
        np.zeros(1, np.uint32),
        np.empty(0, np.uint32), np.empty(0, np.uint8), np.empty((0, dimension), np.int8),
        np.empty(0, np.float32),
    )  # fmt: skip


def pack(segment: PostingSegment) -> bytes:
    """A segment without its vectors, as bytes."""
    wide = segment.rows > LENGTH_MAX
    return joined(
        _MAGIC,
        segment.rows,
        (
            segment.slots, segment.ordinals, segment.lines, segment.digests, segment.starts,
            segment.entry_rows if wide else segment.entry_rows.astype("<u2"),
            segment.lengths, segment.kinds, segment.entry_counts,
        ),
        segment.joined_terms,
    )  # fmt: skip


def pack_file(
    lines: NDArray[np.uint32],
    kinds: NDArray[np.uint8],
    lengths: NDArray[np.uint16],
    digests: NDArray[np.uint32],
    joined_terms: bytes,
    starts: NDArray[np.uint32],
    entry_rows: NDArray[np.uint32],
    entry_counts: NDArray[np.uint8],
) -> bytes:
    """The same for the postings of one file, whose terms are not sorted."""
    import numpy as np

    rows = len(kinds)
    return joined(
        _MAGIC_OF_FILE,
        rows,
        (
            np.zeros(rows, np.uint32), np.arange(rows, dtype=np.uint32), lines, digests, starts,
            entry_rows if rows > LENGTH_MAX else entry_rows.astype("<u2"),
            lengths, kinds, entry_counts,
        ),
        joined_terms,
    )  # fmt: skip


def joined(
    magic: bytes, rows: int, arrays: tuple[NDArray[Any], ...], joined_terms: bytes | memoryview
) -> bytes:
    """A header, the arrays in their fixed order, and the terms."""
    head = _HEAD.pack(
        magic, SEGMENT_VERSION, FIELDS, rows, len(arrays[4]), len(arrays[5]), len(joined_terms)
    )
    return b"".join((head, *[values.tobytes() for values in arrays], joined_terms))


def pack_vectors(segment: PostingSegment) -> bytes:
    """The scales, then the rows."""
    return segment.scales.tobytes() + segment.vectors.tobytes()


def unpack(data: bytes, vectors: bytes | None = None, dimension: int = 0) -> PostingSegment:
    """The inverse of `pack` and `pack_vectors`; raises DamagedBackend for anything else."""
    return _unpacked(_MAGIC, data, vectors, dimension)


def unpack_file(data: bytes) -> PostingSegment:
    """The inverse of `pack_file`: a segment to be merged, because its terms are not sorted."""
    return _unpacked(_MAGIC_OF_FILE, data, None, 0)


def sections_of(data: Buffer, magic: bytes = _MAGIC) -> tuple[int, dict[str, Section], int]:
    """The rows of a stored segment, where its arrays are, and where it ends.

    Raises DamagedBackend if `data` does not begin with a header of this format.
    """
    try:
        kind, version, fields, rows, starts, entries, letters = _HEAD.unpack_from(data)
    except struct.error as error:
        raise DamagedBackend("a segment of the index is truncated") from error
    if (kind, fields) != (magic, FIELDS) or version not in _READ:
        raise DamagedBackend(f"a segment of the index has format {kind!r} {version}")
    counts_of = (rows, rows, rows * 2, rows, starts, entries, rows * FIELDS, rows, entries)
    layout = _LAYOUT_WIDE if rows > LENGTH_MAX else _LAYOUT
    at, found = _HEAD.size, {}
    for name, (kind_of, width), count in zip(_ARRAYS, layout, counts_of, strict=True):
        found[name] = Section(kind_of, at, count, width)
        at += width * count
    found["joined_terms"] = Section("<u1", at, letters, 1)
    return rows, found, at + letters


def _unpacked(magic: bytes, data: bytes, vectors: bytes | None, dimension: int) -> PostingSegment:
    import numpy as np

    rows, sections, end = sections_of(data, magic)
    if len(data) != end:
        raise DamagedBackend("a segment of the index is truncated")
    slots, ordinals, lines, digests, offsets, entry_rows, lengths, kinds, counts = (
        np.frombuffer(data, sections[name].kind, sections[name].items, sections[name].at)
        for name in _ARRAYS
    )
    if vectors is None:
        small, scales = np.empty((rows, 0), np.int8), np.zeros(rows, np.float32)
    else:
        if len(vectors) != rows * (4 + dimension):
            raise DamagedBackend("the vectors of the index do not belong to its chunks")
        scales = usable_scales(np.frombuffer(vectors, dtype="<f4", count=rows))
        small = np.frombuffer(vectors, dtype=np.int8, offset=rows * 4).reshape(rows, dimension)
    return PostingSegment(
        slots, ordinals, lines.reshape(rows, 2), kinds, lengths.reshape(rows, FIELDS), digests,
        data[sections["joined_terms"].at :], offsets, entry_rows, counts, small, scales,
    )  # fmt: skip


def usable_scales(scales: NDArray[np.float32]) -> NDArray[np.float32]:
    """Scales of vectors; raises DamagedBackend if one is not finite."""
    if not usable(scales):
        raise DamagedBackend(NOT_FINITE)
    return scales
