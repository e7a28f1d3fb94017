"""The sorted terms of a segment, searched in their stored bytes.

A lookup is a binary search among the first terms of blocks; only one block is then searched. A list
that is asked often keeps these first terms as objects, for one fast search.
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
_END = b"\xff"
"""Comes after every byte of a term."""


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
        return self._place(term.encode("utf-8", "surrogatepass"))

    def _place(self, wanted: bytes) -> tuple[int, bool]:
        block, is_first = self._blocks_before(wanted)
        if is_first or not block:
            return block * BLOCK_TERMS, is_first
        some = self._block(block - 1)
        at = bisect_left(some, wanted)
        return (block - 1) * BLOCK_TERMS + at, at < len(some) and some[at] == wanted

    def number(self, term: str) -> int:
        """How many terms come before this one; -1 if the term is not there."""
        wanted = term.encode("utf-8", "surrogatepass")
        block, is_first = self._blocks_before(wanted)
        if is_first:
            return block * BLOCK_TERMS
        if not block or b"\n" in wanted:
            return -1
        some = self._lines(block - 1)
        at = some.find(b"\n%b\n" % wanted)
        return -1 if at < 0 else (block - 1) * BLOCK_TERMS + some.count(b"\n", 0, at)

    def with_prefix(self, prefix: str) -> tuple[int, bool, int]:
        """How many terms come before those with a prefix, whether it is a term itself, and how many
        terms come before the first one after them."""
        wanted = prefix.encode("utf-8", "surrogatepass")
        block, _ = self._blocks_before(wanted)
        if b"\n" in wanted or (block < len(self._starts) - 1 and self._begins(block, wanted)):
            return *self._place(wanted), self._place(wanted + _END)[0]
        if not block:
            return 0, False, 0
        # All terms with the prefix are in one block, one after the other.
        some, line = self._lines(block - 1), b"\n%b" % wanted
        at = some.find(line)
        if at < 0:
            return 0, False, 0
        first = (block - 1) * BLOCK_TERMS + some.count(b"\n", 0, at)
        return first, some[at + len(line)] == _NEW_LINE, first + some.count(line, at)

    def _blocks_before(self, wanted: bytes) -> tuple[int, bool]:
        """How many blocks begin with an earlier term, and whether the next begins with this one."""
        self._asked += 1
        if self._asked <= ASKED_BEFORE_BLOCKS:
            block = self._bisected(wanted)
            there = block < len(self._starts) - 1 and self._block(block, 1)[0] == wanted
            return block, there
        firsts = self._firsts
        block = bisect_left(firsts, wanted)
        return block, block < len(firsts) and firsts[block] == wanted

    def _begins(self, block: int, prefix: bytes) -> bool:
        """Whether the first term of a block begins with a prefix."""
        start = self._starts[block]
        return bytes(self._letters[start : start + len(prefix)]) == prefix

    def _lines(self, block: int) -> bytes:
        """The terms of a block, each between two ends of lines."""
        some = self._letters[self._starts[block] : self._starts[block + 1] - 1]
        return b"".join((b"\n", some, b"\n"))

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
