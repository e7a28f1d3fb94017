"""A cache of vectors as columns of floats, beside the stored bytes.

To compare a query with every row of a segment, bytes are converted to floats a block at a time,
which takes longer than the comparison. A segment that is searched repeatedly is therefore also kept
as floats, column by column within a block, which a matrix library multiplies at memory speed. This
takes four times the memory of the bytes, so the size is bounded for the process, and the least
recently used segments are dropped.

Products are integers below 2**24 and exact in 32-bit floats, so both ways give the same result.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import msgspec

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from holdfast.index.search.posting_segment import PostingSegment

BLOCK_ROWS = 1_024
"""Rows of a block: few enough that a matrix library does not start threads."""
CONVERTED_ROWS = 384
"""Rows converted to floats at a time where they are not cached: few enough for the processor's
cache, and too few for a matrix library to start threads, which wait for each other on a busy
machine."""
ROWS_MIN = 2 * BLOCK_ROWS
ASKED_BEFORE = 2
"""A segment is cached after this many queries."""
BYTES_MAX = 64_000_000


class _Use(msgspec.Struct):
    """How often a segment was searched, when last, and its floats if cached."""

    asked: int = 0
    last: int = 0
    blocks: NDArray[np.float32] | None = None


class Columns:
    """The cache of segments as floats."""

    def __init__(self, bytes_max: int = BYTES_MAX) -> None:
        self._bytes_max = bytes_max
        self._lock = threading.Lock()
        self._turn = 0
        # Weak: the floats are dropped when the segment is closed.
        self._uses: WeakKeyDictionary[PostingSegment, _Use] = WeakKeyDictionary()

    def of(self, segment: PostingSegment) -> NDArray[np.float32] | None:
        """The columns of a segment ([block, dimension, row], zeros after the last row).

        None while it is small, new, or too large.
        """
        if segment.rows < ROWS_MIN or _size_bytes(segment) > self._bytes_max:
            return None
        with self._lock:
            use = self._uses.setdefault(segment, _Use())
            self._turn += 1
            use.asked, use.last = use.asked + 1, self._turn
            if use.blocks is not None or use.asked <= ASKED_BEFORE:
                return use.blocks
        made = _blocks(segment.vectors)
        with self._lock:
            use.blocks = made
            kept = sorted(self._kept(), key=lambda use: use.last)
            room = self._bytes_max - sum(map(_size, kept))
            for oldest in kept:
                if room >= 0:
                    break
                room += _size(oldest)
                oldest.blocks, oldest.asked = None, 0
        return made

    def _kept(self) -> list[_Use]:
        return [use for use in self._uses.values() if use.blocks is not None]


def _size(use: _Use) -> int:
    return 0 if use.blocks is None else use.blocks.nbytes


def _size_bytes(segment: PostingSegment) -> int:
    blocks = -(-segment.rows // BLOCK_ROWS)
    return blocks * BLOCK_ROWS * segment.dimension * 4


def _blocks(vectors: NDArray[np.int8]) -> NDArray[np.float32]:
    import numpy as np

    rows, numbers = vectors.shape
    blocks = np.zeros((-(-rows // BLOCK_ROWS), numbers, BLOCK_ROWS), dtype=np.float32)
    for at, block in enumerate(blocks):
        some = vectors[at * BLOCK_ROWS : (at + 1) * BLOCK_ROWS]
        # Transposed as bytes, which moves a quarter of the memory.
        block[:, : len(some)] = np.ascontiguousarray(some.T)
    return blocks


def products(blocks: NDArray[np.float32], query: NDArray[np.float32]) -> NDArray[np.float32]:
    """The inner product of each row with a vector of integers, and zeros after the last row."""
    import numpy as np

    found: NDArray[np.float32] = np.matmul(query, blocks).reshape(-1)
    return found


def products_of_bytes(
    vectors: NDArray[np.int8], query: NDArray[np.float32], out: NDArray[np.float32]
) -> None:
    """Write the inner product of each row with a vector of integers to `out`."""
    import numpy as np

    block = np.empty((min(CONVERTED_ROWS, len(vectors)), len(query)), dtype=np.float32)
    for at in range(0, len(vectors), CONVERTED_ROWS):
        rows = vectors[at : at + CONVERTED_ROWS]
        floats = block[: len(rows)]
        np.copyto(floats, rows)
        np.dot(floats, query, out=out[at : at + CONVERTED_ROWS])


columns = Columns()
"""The cache of this process."""
