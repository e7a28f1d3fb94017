"""The sorted terms of a segment, searched in their stored bytes.

A lookup is a binary search over the bytes. A list that is asked often also keeps one term of each
block as an object: the block is found among these with one fast search, and only that block is
split into terms.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BLOCK_TERMS = 32
ASKED_BEFORE_BLOCKS = 200
"""After this many lookups, the first terms of blocks are kept."""
_NEW_LINE = 10


class TermList:
    """Terms in the order of their UTF-8 bytes, which is that of the characters, one to a line."""

    def __init__(self, joined: bytes | memoryview) -> None:
        self._letters = memoryview(joined)
        self._asked = 0

    @cached_property
    def starts(self) -> NDArray[np.uint32]:
        """Where each term begins, and where one more would begin."""
        import numpy as np

        letters = np.frombuffer(self._letters, dtype=np.uint8)
        if not len(letters):
            return np.zeros(1, np.uint32)
        ends = np.flatnonzero(letters == _NEW_LINE)
        starts = np.empty(len(ends) + 2, np.uint32)
        starts[0], starts[1:-1], starts[-1] = 0, ends, len(letters)
        starts[1:] += 1
        return starts

    @cached_property
    def _starts(self) -> memoryview:
        """The same, fast to index."""
        return self.starts.data

    @cached_property
    def _firsts(self) -> list[bytes]:
        """The first term of each block."""
        return [self._term(at) for at in range(0, len(self._starts) - 1, BLOCK_TERMS)]

    def _term(self, at: int) -> bytes:
        return bytes(self._letters[self._starts[at] : self._starts[at + 1] - 1])

    def place(self, term: str) -> tuple[int, bool]:
        """How many terms come before this one, and whether it is one of them itself."""
        wanted = term.encode("utf-8", "surrogatepass")
        self._asked += 1
        high = len(self._starts) - 1
        if self._asked <= ASKED_BEFORE_BLOCKS:
            low = self._bisected(wanted, high)
            return low, low < high and self._term(low) == wanted
        firsts = self._firsts
        block = bisect_left(firsts, wanted)
        if block < len(firsts) and firsts[block] == wanted:
            return block * BLOCK_TERMS, True
        if not block:
            return 0, False
        low = (block - 1) * BLOCK_TERMS
        high = min(low + BLOCK_TERMS, high)
        some = bytes(self._letters[self._starts[low] : self._starts[high] - 1]).split(b"\n")
        at = bisect_left(some, wanted)
        return low + at, at < len(some) and some[at] == wanted

    def _bisected(self, wanted: bytes, high: int) -> int:
        letters, starts = self._letters, self._starts
        low = 0
        while low < high:
            middle = (low + high) // 2
            if bytes(letters[starts[middle] : starts[middle + 1] - 1]) < wanted:
                low = middle + 1
            else:
                high = middle
        return low
