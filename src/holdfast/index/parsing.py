"""A parse that ends."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import tree_sitter

READ_BYTES = 8_192
READS_PER_BLOCK = 128
SLOWEST_SECONDS = 1.0
SLOWEST_SECONDS_PER_BYTE = 10e-6


class TooHardError(Exception):
    """Raised inside the walk when a parse costs far more than its size explains."""


def parse(parser: tree_sitter.Parser, source: bytes) -> tree_sitter.Tree:
    """The tree of `source`, or TooHardError.

    Error recovery is quadratic on some inputs, and the parser cannot be interrupted. But it asks
    for its input block by block and again whenever it goes back, so the blocks bound the work: past
    the budget they run dry, the parser meets the end of the file, and the tree is discarded. The
    clock is a second guard, at a hundred times the usual cost so that load does not trip it.
    """
    reads, most = 0, 256 + READS_PER_BLOCK * (len(source) // READ_BYTES + 1)
    until = time.thread_time() + SLOWEST_SECONDS + len(source) * SLOWEST_SECONDS_PER_BYTE

    def read(offset: int, _point: object) -> bytes:
        nonlocal reads
        reads += 1
        if reads > most or time.thread_time() > until:
            reads = most + 1
            return b""
        return source[offset : offset + READ_BYTES]

    parser.reset()
    tree = parser.parse(read)
    if reads > most:
        raise TooHardError
    return tree
