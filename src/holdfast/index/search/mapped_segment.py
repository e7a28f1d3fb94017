"""A segment in a file: only the parts that a question needs are read, and checked before use.

The file has the segment's postings, then its vectors, then the signs of the vectors, each at a
multiple of ALIGNED bytes. It is mapped into memory, so its pages are in the system's file cache and
shared by all processes. `Blocks` checks the bytes of a range when they are first used; a question
touches the entries of its terms, the columns of rows, all signs, and the vectors of a few thousand
rows.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from holdfast.index.errors import DamagedBackend
from holdfast.index.search import posting_segment as segments
from holdfast.index.search.fields import FIELDS
from holdfast.index.search.posting_segment import Buffer, PostingSegment, Section, usable_scales

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from holdfast.index.search.term_tables import StoredTables

ALIGNED = 64
_WORD_BITS = 64


class Blocks(Protocol):
    """The bytes of a file, and their checks."""

    @property
    def data(self) -> Buffer: ...

    def check_size(self) -> None:
        """Raise DamagedBackend if the file is shorter than it was."""

    def need(self, start: int, stop: int) -> None:
        """Check a range of bytes, unless it was before; raises DamagedBackend."""

    def need_each(self, starts: NDArray[np.int64], width: int) -> None:
        """The same for many ranges of one width."""


def file_of(segment: PostingSegment) -> bytes:
    """The contents of a segment's file."""
    parts = [segments.pack(segment), segments.pack_vectors(segment), segment.signs.tobytes()]
    return b"".join(part + bytes(-len(part) % ALIGNED) for part in parts)


def _aligned(at: int) -> int:
    return at + -at % ALIGNED


class MappedSegment(PostingSegment):
    """The same as a segment in memory; an attribute's bytes are checked before it is returned."""

    def __init__(
        self,
        blocks: Blocks,
        dimension: int,
        load: Callable[[], StoredTables | None] = lambda: None,
    ) -> None:
        blocks.need(0, min(len(blocks.data), ALIGNED))
        rows, sections, end = segments.sections_of(blocks.data)
        at = _aligned(end)
        words = -(-dimension // _WORD_BITS)
        sections["scales"] = Section("<f4", at, rows, 4)
        sections["vectors"] = Section("<i1", at + rows * 4, rows * dimension, 1)
        at = _aligned(at + rows * (4 + dimension))
        sections["signs"] = Section("<u8", at, rows * words, 8)
        if len(blocks.data) != _aligned(at + rows * words * 8):
            raise DamagedBackend("a segment of the index is truncated")
        self.__dict__.update(_blocks=blocks, _rows=rows, _sections=sections, _width=dimension)
        self.__dict__.update(_load=load)

    _blocks: Blocks
    _rows: int
    _sections: dict[str, Section]
    _width: int
    _load: Callable[[], StoredTables | None]

    def _array(self, name: str, low: int = 0, high: int | None = None) -> NDArray[Any]:
        """Some items of an array, or all of them, after their bytes were checked."""
        section = self._sections[name]
        self._blocks.need(*section.bounds(low, high))
        return self._unchecked(name, low, high)

    def _unchecked(self, name: str, low: int = 0, high: int | None = None) -> NDArray[Any]:
        import numpy as np

        section = self._sections[name]
        count = (section.items if high is None else high) - low
        at = section.at + low * section.width
        return np.frombuffer(self._blocks.data, section.kind, count, at)

    @property
    def rows(self) -> int:
        return self._rows

    @property
    def stored_tables(self) -> StoredTables | None:
        return self._load()

    @property
    def dimension(self) -> int:
        return self._width

    @cached_property
    def slots(self) -> NDArray[np.uint32]:
        return self._array("slots")

    @cached_property
    def ordinals(self) -> NDArray[np.uint32]:
        return self._array("ordinals")

    @cached_property
    def lines(self) -> NDArray[np.uint32]:
        return self._array("lines").reshape(-1, 2)

    @cached_property
    def kinds(self) -> NDArray[np.uint8]:
        return self._array("kinds")

    @cached_property
    def lengths(self) -> NDArray[np.uint16]:
        return self._array("lengths").reshape(-1, FIELDS)

    @cached_property
    def digests(self) -> NDArray[np.uint32]:
        return self._array("digests")

    @cached_property
    def joined_terms(self) -> memoryview:
        return self._array("joined_terms").data

    @cached_property
    def starts(self) -> NDArray[np.uint32]:
        return self._array("starts")

    @cached_property
    def entry_rows(self) -> NDArray[np.uint32]:
        return self._array("entry_rows")

    @cached_property
    def entry_counts(self) -> NDArray[np.uint8]:
        return self._array("entry_counts")

    @cached_property
    def vectors(self) -> NDArray[np.int8]:
        return self._array("vectors").reshape(self._rows, self._width)

    @cached_property
    def scales(self) -> NDArray[np.float32]:
        return usable_scales(self._array("scales"))

    @cached_property
    def signs(self) -> NDArray[np.uint64]:
        return self._array("signs").reshape(self._rows, -(-self._width // _WORD_BITS))

    def check_size(self) -> None:
        self._blocks.check_size()

    def run(self, low: int, high: int) -> tuple[NDArray[np.uint32], NDArray[np.uint8]]:
        rows, counts, rows_at, counts_at = self._entries
        self._blocks.need(rows_at + low * rows.itemsize, rows_at + high * rows.itemsize)
        self._blocks.need(counts_at + low, counts_at + high)
        return rows[low:high], counts[low:high]

    @cached_property
    def _entries(self) -> tuple[NDArray[np.uint32], NDArray[np.uint8], int, int]:
        """All entries and where they begin; their bytes are not checked."""
        names = ("entry_rows", "entry_counts")
        rows_at, counts_at = (self._sections[name].at for name in names)
        return self._unchecked(names[0]), self._unchecked(names[1]), rows_at, counts_at

    def vector_rows(self, rows: NDArray[np.int64]) -> NDArray[np.int8]:
        self._blocks.need_each(rows * self._width + self._sections["vectors"].at, self._width)
        all_rows = self._unchecked("vectors").reshape(self._rows, self._width)
        return all_rows.take(rows, axis=0)
