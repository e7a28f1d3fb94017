"""What the first question of a process needs of all terms of a segment, stored beside it.

Where each block of terms begins and where each name is defined and called follow from the segment,
but finding them reads all of its terms: a quarter of the time of a first answer. So a writer stores
them in a file of their own. A file that is missing, damaged, of another version or of another
segment is not used; the tables are then computed from the segment.

The form, version 1, all numbers little endian:

    magic, version, check of the rest of the head and of the starts, check of the names,
    terms, starts, names, definitions, digest of the segment,
    starts of blocks of terms,
    of each name: hash, place in the order of hashes, calls, definitions,
    row of each definition
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

from holdfast.index.search.fields import Field
from holdfast.index.search.term_list import Starts

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from holdfast.index.search.posting_segment import PostingSegment

VERSION = 1
"""- 1: the first."""

ROWS_MIN = 1_000
"""The tables of a smaller segment are computed in less time than a file takes to open."""

_MAGIC = b"HFTT"
_FIRST = struct.Struct("<4sIII")
_REST = struct.Struct("<IIII32s")


class Names(NamedTuple):
    """The unstemmed names of a segment in the order of its terms, and where they are defined."""

    hashes: NDArray[np.uint64]
    order: NDArray[np.uint32]
    """Sorts the hashes."""
    calls: NDArray[np.int32]
    """How many rows call each name."""
    definitions: NDArray[np.int32]
    """How many rows define each name."""
    defined_in: NDArray[np.uint32]
    """The rows that define the first name, then those of the second, and so on."""


def names_of(segment: PostingSegment) -> Names:
    """The names of a segment, counted over all its rows."""
    import numpy as np

    hashes, bounds = segment.exact_terms
    rows, packed = segment.run(int(bounds[0]), int(bounds[-1]))
    fields = packed >> 5
    defines = fields == Field.NAME
    return Names(
        hashes,
        np.argsort(hashes).astype(np.uint32),
        per_term(fields == Field.CALL, bounds),
        per_term(defines, bounds),
        rows[defines].astype(np.uint32),
    )


def per_term(chosen: NDArray[np.bool_], bounds: NDArray[np.int64]) -> NDArray[np.int32]:
    """How many entries of each term are chosen."""
    import numpy as np

    sums = np.zeros(len(chosen) + 1, dtype=np.int32)
    np.cumsum(chosen, out=sums[1:])
    at = bounds - bounds[0]
    found: NDArray[np.int32] = sums[at[1:]] - sums[at[:-1]]
    return found


def encode(segment: PostingSegment, digest: str) -> bytes:
    """The tables of the segment with this digest, as a file."""
    starts, names = segment.block_starts, names_of(segment)
    places = starts.places.astype("<u4").tobytes()
    columns = b"".join(
        (
            names.hashes.astype("<u8").tobytes(),
            names.order.astype("<u4").tobytes(),
            names.calls.astype("<i4").tobytes(),
            names.definitions.astype("<i4").tobytes(),
            names.defined_in.astype("<u4").tobytes(),
        )
    )
    rest = _REST.pack(
        starts.terms, len(starts.places), len(names.hashes), len(names.defined_in), digest.encode()
    )
    return (
        _FIRST.pack(_MAGIC, VERSION, crc32(places, crc32(rest)), crc32(columns))
        + rest + places + columns
    )  # fmt: skip


class StoredTables:
    """The tables in a file. Each part is checked when it is asked for, and None if it is not so."""

    def __init__(self, data: bytes, digest: str) -> None:
        self._data, self._digest = data, digest

    def _head(self) -> tuple[int, int, int, int] | None:
        """The counts of terms, starts, names and definitions."""
        if len(self._data) < _FIRST.size + _REST.size:
            return None
        magic, version, check, _ = _FIRST.unpack_from(self._data)
        *counts, digest = _REST.unpack_from(self._data, _FIRST.size)
        terms, starts, names, definitions = counts
        end = _FIRST.size + _REST.size + 4 * starts
        if (magic, version) != (_MAGIC, VERSION) or digest.rstrip(b"\0") != self._digest.encode():
            return None
        if len(self._data) != end + 20 * names + 4 * definitions:
            return None
        with memoryview(self._data) as data:
            found = crc32(data[_FIRST.size : end])
        return (terms, starts, names, definitions) if found == check else None

    def starts(self) -> Starts | None:
        import numpy as np

        head = self._head()
        if head is None:
            return None
        places = np.frombuffer(self._data, "<u4", head[1], _FIRST.size + _REST.size)
        return Starts(head[0], places.copy())

    def names(self) -> Names | None:
        import numpy as np

        head = self._head()
        if head is None:
            return None
        _, starts, names, definitions = head
        at = _FIRST.size + _REST.size + 4 * starts
        with memoryview(self._data) as data:
            if crc32(data[at:]) != _FIRST.unpack_from(self._data)[3]:
                return None
        after = at + names * 8
        found = Names(
            np.frombuffer(self._data, "<u8", names, at),
            np.frombuffer(self._data, "<u4", names, after),
            np.frombuffer(self._data, "<i4", names, after + names * 4),
            np.frombuffer(self._data, "<i4", names, after + names * 8),
            np.frombuffer(self._data, "<u4", definitions, after + names * 12),
        )
        return found if int(found.definitions.sum()) == definitions else None
