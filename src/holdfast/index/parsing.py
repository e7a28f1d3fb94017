"""A parse that ends.

On most inputs a parse takes time in proportion to their size. Where a grammar and a text disagree
all the way, error recovery is quadratic in every grammar we know, inside single steps of the parser
that nothing can interrupt: a megabyte of `&|` would keep C# busy for days, and `<a` takes all the
memory there is. Only a process can be stopped in there. So no text of any length is parsed where it
matters before it was parsed where it does not (`trial.py`); a worker that only parses is such a
process itself.

A short text needs none of this: the worst we found takes a third of a second for a kilobyte.
"""

from __future__ import annotations

import math
import threading
import time
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING

from holdfast.index import trial

if TYPE_CHECKING:
    import tree_sitter

READ_BYTES = 8_192
READS_PER_BLOCK = 128
SLOWEST_SECONDS = 1.0
SLOWEST_SECONDS_PER_BYTE = 10e-6
SHORT_BYTES = 1_024

_one_at_a_time = threading.Lock()


class TooHardError(Exception):
    """Raised inside the walk when a parse costs far more than its size explains."""


def parse(grammar: tuple[str, str], source: bytes) -> tree_sitter.Tree:
    """The tree of `source`, or TooHardError. A grammar is named by a module and its function.

    The limit is processor time, a hundred times the usual so that no load trips it. It is only kept
    where nothing but the parse takes time: here a collection of garbage may come in between.
    """
    parser = parser_of(grammar)
    seconds = SLOWEST_SECONDS + len(source) * SLOWEST_SECONDS_PER_BYTE
    if len(source) <= SHORT_BYTES:
        return limited(parser, source)
    if trial.expendable():
        with trial.deadly(seconds, len(source)):
            return limited(parser, source)
    if trial.POSSIBLE:
        if not trial.passes(grammar, source, seconds):
            raise TooHardError
        return limited(parser, source)
    return limited(parser, source, seconds)


@lru_cache(maxsize=64)
def parser_of(grammar: tuple[str, str]) -> tree_sitter.Parser:
    """The one parser of a grammar in this process."""
    from tree_sitter import Language, Parser

    module, function = grammar
    return Parser(Language(getattr(import_module(module), function)()))


def limited(
    parser: tree_sitter.Parser, source: bytes, seconds: float = math.inf
) -> tree_sitter.Tree:
    """The tree, or TooHardError if the parser went back too often or took too long.

    It asks for its input block by block and again whenever it goes back, so the blocks bound that
    work, equally on every machine: past the budget they run dry, the parser meets the end of the
    file, and the tree is discarded.
    """
    reads, most = 0, 256 + READS_PER_BLOCK * (len(source) // READ_BYTES + 1)
    until = time.thread_time() + seconds

    def read(offset: int, _point: object) -> bytes:
        nonlocal reads
        reads += 1
        if reads > most or time.thread_time() > until:
            reads = most + 1
            return b""
        return source[offset : offset + READ_BYTES]

    # Reading our callback, the interpreter may turn to another thread, and there is one parser.
    with _one_at_a_time:
        parser.reset()
        tree = parser.parse(read)
    if reads > most:
        raise TooHardError
    return tree
