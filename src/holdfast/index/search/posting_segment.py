"""Postings and vectors of some files, in arrays that are used as they are stored.

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
from bisect import bisect_left
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from holdfast.index.embedding.provider import NOT_FINITE, usable
from holdfast.index.errors import DamagedBackend
from holdfast.index.search.fields import FIELDS
from holdfast.index.search.vocabulary import EXACT as EXACT

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SEGMENT_VERSION = 2
"""The layout of a stored segment.

- 1: rows (slot, ordinal, lines, kind, lengths, digest), sorted terms, entries of row and of field
  with count; vectors apart, as int8 with one float32 scale for each row.
- 2: the same, with another sum as digest: copies are not known across the two.
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
_END = "\U0010ffff"

KINDS = (
    "module", "class", "interface", "trait", "struct", "union", "enum", "object", "namespace",
    "type", "function", "method", "constructor", "property", "constant", "variable", "macro",
    "section", "cell", "key", "test",
)  # fmt: skip
"""Kinds of owners, by their stored number; the last one is a test among code."""
TEST_KIND = "test"
_KIND_NUMBERS = {kind: number for number, kind in enumerate(KINDS)}


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
        """The range of a term's entries; empty if the segment does not have it."""
        at = bisect_left(self.terms, term)
        if at == len(self.terms) or self.terms[at] != term:
            return 0, 0
        return int(self.starts[at]), int(self.starts[at + 1])

    def entries_of_prefix(self, prefix: str) -> tuple[int, int, int]:
        """The range of the entries of all terms with this prefix, and the end of the term's own.

        The term itself is the first of them: (start, end of its own entries, end of all).
        """
        terms = self.terms
        first = bisect_left(terms, prefix)
        last = bisect_left(terms, prefix + _END, first)
        own = first + 1 if first < last and terms[first] == prefix else first
        return int(self.starts[first]), int(self.starts[own]), int(self.starts[last])

    @property
    def exact_terms(self) -> tuple[list[str], NDArray[np.int64], int, int]:
        """Unstemmed names: the terms, the start of each one's entries, and the whole range."""
        import numpy as np

        first = bisect_left(self.terms, EXACT)
        last = bisect_left(self.terms, EXACT + _END, first)
        starts = self.starts[first : last + 1].astype(np.int64)
        return self.terms[first:last], starts, int(starts[0]), int(starts[-1])

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


def joined(magic: bytes, rows: int, arrays: tuple[NDArray[Any], ...], joined_terms: bytes) -> bytes:
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


def _unpacked(magic: bytes, data: bytes, vectors: bytes | None, dimension: int) -> PostingSegment:
    import numpy as np

    try:
        kind, version, fields, rows, starts, entries, letters = _HEAD.unpack_from(data)
    except struct.error as error:
        raise DamagedBackend("a segment of the index is truncated") from error
    if (kind, fields) != (magic, FIELDS) or version not in _READ:
        raise DamagedBackend(f"a segment of the index has format {kind!r} {version}")
    wide = rows > LENGTH_MAX
    counts_of = (rows, rows, rows * 2, rows, starts, entries, rows * FIELDS, rows, entries)
    layout = _LAYOUT_WIDE if wide else _LAYOUT
    size = sum(width * count for (_, width), count in zip(layout, counts_of, strict=True))
    if len(data) != _HEAD.size + letters + size:
        raise DamagedBackend("a segment of the index is truncated")
    at = _HEAD.size
    arrays = []
    for (kind_of, width), count in zip(layout, counts_of, strict=True):
        arrays.append(np.frombuffer(data, kind_of, count, at))
        at += width * count
    slots, ordinals, lines, digests, offsets, entry_rows, lengths, kinds, counts = arrays
    if vectors is None:
        small, scales = np.empty((rows, 0), np.int8), np.zeros(rows, np.float32)
    else:
        if len(vectors) != rows * (4 + dimension):
            raise DamagedBackend("the vectors of the index do not belong to its chunks")
        scales = np.frombuffer(vectors, dtype="<f4", count=rows)
        if not usable(scales):
            raise DamagedBackend(NOT_FINITE)
        small = np.frombuffer(vectors, dtype=np.int8, offset=rows * 4).reshape(rows, dimension)
    return PostingSegment(
        slots, ordinals, lines.reshape(rows, 2), kinds, lengths.reshape(rows, FIELDS), digests,
        data[at:], offsets, entry_rows, counts, small, scales,
    )  # fmt: skip
