"""Vectors as floats, number by number, beside the bytes that are stored.

To compare a question with every row of a segment, bytes are turned into floats a block at a time,
which takes longer than the comparing. A segment that is asked again and again is therefore kept as
floats too, the first numbers of a block's rows together, then the second ones, and so on: a matrix
library adds such columns up at the speed of memory. It takes four times the room of the bytes, so
there is a bound for all segments of a process; those asked last stay.

Products are whole numbers below 2**24 and exact in 32-bit floats: both ways say the same.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from holdfast.index.search.posting_segment import PostingSegment

BLOCK_ROWS = 1_024
"""How many rows lie side by side: too few numbers for a matrix library to share among threads."""
ROWS_MIN = 2 * BLOCK_ROWS
ASKED_BEFORE = 2
"""After so many questions a segment is worth its room."""
BYTES_MAX = 64_000_000


@dataclass(slots=True)
class _Use:
    """How often a segment was asked, when last, and its floats if they are kept."""

    asked: int = 0
    last: int = 0
    blocks: NDArray[np.float32] | None = None


class Columns:
    """The segments that are kept as floats."""

    def __init__(self, bytes_max: int = BYTES_MAX) -> None:
        self._bytes_max = bytes_max
        self._lock = threading.Lock()
        self._turn = 0
        # A segment that nobody has open any more takes its floats with it.
        self._uses: WeakKeyDictionary[PostingSegment, _Use] = WeakKeyDictionary()

    @property
    def bytes_kept(self) -> int:
        with self._lock:
            return sum(map(_size, self._kept()))

    def of(self, segment: PostingSegment) -> NDArray[np.float32] | None:
        """Blocks of columns ([block, number, row], zeros beyond the last row) of a segment.

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
    return blocks * BLOCK_ROWS * int(segment.vectors.shape[1]) * 4


def _blocks(vectors: NDArray[np.int8]) -> NDArray[np.float32]:
    import numpy as np

    rows, numbers = vectors.shape
    blocks = np.zeros((-(-rows // BLOCK_ROWS), numbers, BLOCK_ROWS), dtype=np.float32)
    for at, block in enumerate(blocks):
        some = vectors[at * BLOCK_ROWS : (at + 1) * BLOCK_ROWS]
        # As bytes first: to turn them over as floats moves four times as much.
        block[:, : len(some)] = np.ascontiguousarray(some.T)
    return blocks


def products(blocks: NDArray[np.float32], asked: NDArray[np.float32]) -> NDArray[np.float32]:
    """The inner product of each row with whole numbers, and zeros beyond the last row."""
    import numpy as np

    found: NDArray[np.float32] = np.matmul(asked, blocks).reshape(-1)
    return found


columns = Columns()
"""Those of this process."""
