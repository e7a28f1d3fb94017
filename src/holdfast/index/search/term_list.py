"""The sorted terms of a segment, searched in their stored bytes.

A lookup is a binary search among the first terms of blocks; only one block is then split into
terms. A list that is asked often keeps these first terms as objects, for one fast search.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BLOCK_TERMS = 32
ASKED_BEFORE_BLOCKS = 200
"""After this many lookups, the first terms of blocks are kept."""
_NEW_LINE = 10


class Starts(NamedTuple):
    """Where every BLOCK_TERMS-th term begins, and where one more term would begin."""

    terms: int
    """The number of all terms."""
    places: NDArray[np.uint32]


class TermList:
    """Terms in the order of their UTF-8 bytes, which is that of the characters, one to a line."""

    def __init__(self, joined: bytes | memoryview, stored: Starts | None = None) -> None:
        self._letters = memoryview(joined)
        self._asked = 0
        self._stored = stored

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
    def block_starts(self) -> Starts:
        """Where the blocks begin, from what is stored or from all terms."""
        import numpy as np

        if self._stored is not None:
            return self._stored
        starts = self.starts
        firsts = starts[:-1:BLOCK_TERMS]
        return Starts(len(starts) - 1, np.append(firsts, starts[-1]))

    @cached_property
    def _starts(self) -> memoryview:
        """The starts of blocks, fast to index."""
        return self.block_starts.places.data

    @cached_property
    def _firsts(self) -> list[bytes]:
        """The first term of each block."""
        return [self._block(at, 1)[0] for at in range(len(self._starts) - 1)]

    def _block(self, block: int, most: int = -1) -> list[bytes]:
        """The terms of a block; with `most` only so many, and then the rest as one."""
        some = self._letters[self._starts[block] : self._starts[block + 1] - 1]
        return bytes(some).split(b"\n", most)

    def place(self, term: str) -> tuple[int, bool]:
        """How many terms come before this one, and whether it is one of them itself."""
        wanted = term.encode("utf-8", "surrogatepass")
        self._asked += 1
        if self._asked <= ASKED_BEFORE_BLOCKS:
            block = self._bisected(wanted)
        else:
            firsts = self._firsts
            block = bisect_left(firsts, wanted)
            if block < len(firsts) and firsts[block] == wanted:
                return block * BLOCK_TERMS, True
        # A term that is the first of its block is found at the end of the block before.
        if not block:
            return 0, self.block_starts.terms > 0 and self._block(0, 1)[0] == wanted
        some = self._block(block - 1)
        at = bisect_left(some, wanted)
        if at < len(some):
            return (block - 1) * BLOCK_TERMS + at, some[at] == wanted
        low = (block - 1) * BLOCK_TERMS + at
        there = block < len(self._starts) - 1 and self._block(block, 1)[0] == wanted
        return low, there

    def _bisected(self, wanted: bytes) -> int:
        """How many blocks begin with an earlier term."""
        letters, starts, size = self._letters, self._starts, len(wanted) + 1
        low, high = 0, len(starts) - 1
        while low < high:
            middle = (low + high) // 2
            begin = starts[middle]
            # One more byte than asked for is enough to tell which comes first.
            first = bytes(letters[begin : begin + size]).split(b"\n", 1)[0]
            if first < wanted:
                low = middle + 1
            else:
                high = middle
        return low
