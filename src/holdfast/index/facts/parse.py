"""A parse that ends.

On most inputs a parse takes time in proportion to their size. Where a grammar and a text disagree
all the way, error recovery is quadratic in every grammar we know, inside single steps of the parser
that nothing can interrupt: a megabyte of `&|` would keep C# busy for days, and `<a` takes all the
memory there is. A query over the tree is quadratic too, where nodes without names stand in a row:
it looks ahead for one that has a name. Only a process can be stopped in there. So no text of any
length is parsed where it matters before it was parsed where it does not (`trial_parse.py`); a
worker that only parses is such a process itself.

A short text needs none of this: the worst we found takes a third of a second for a kilobyte.
"""

from __future__ import annotations

import math
import threading
import time
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING

from holdfast.index.facts import trial_parse as trial

if TYPE_CHECKING:
    import tree_sitter

READ_BYTES = 8_192
READS_PER_BLOCK = 128
SLOWEST_SECONDS = 1.0
SLOWEST_SECONDS_PER_BYTE = 10e-6
SHORT_BYTES = 1_024
UNTRIED = 10
"""How many times as long a text may take that was not tried: not all of the time is its own."""

_one_at_a_time = threading.Lock()


class TooHardError(Exception):
    """Raised inside the walk when a parse costs far more than its size explains."""


def parse(grammar: tuple[str, str], source: bytes, query: str = "") -> tree_sitter.Tree:
    """The tree of `source`, or TooHardError. A grammar is named by a module and its function.

    `query` is what will be asked about the tree. The limit is processor
    time, a hundred times the usual so that no load trips it. It is only kept where nothing but the
    parse takes time: here a collection of garbage may come in between.
    """
    parser = parser_of(grammar)
    if len(source) <= SHORT_BYTES:
        return limited(parser, source)
    if trial.is_disposable():
        with expended(len(source)):
            return limited(parser, source)
    seconds = _seconds(len(source))
    passed = trial.passes(grammar, source, seconds, query)
    if passed is False:
        raise TooHardError
    # Untried, it has what limit there is without a process: better that risk than no facts.
    return limited(parser, source, math.inf if passed else seconds * UNTRIED)


def expended(size_bytes: int) -> AbstractContextManager[None]:
    """Die if this takes far more than the size of a text explains, where we may."""
    if not trial.is_disposable():
        return nullcontext()
    return trial.cpu_and_memory_limits(_seconds(size_bytes), size_bytes)


def _seconds(size_bytes: int) -> float:
    return SLOWEST_SECONDS + size_bytes * SLOWEST_SECONDS_PER_BYTE


@lru_cache(maxsize=64)
def parser_of(grammar: tuple[str, str]) -> tree_sitter.Parser:
    """The one parser of a grammar in this process."""
    from tree_sitter import Language, Parser

    module, function = grammar
    return Parser(Language(getattr(import_module(module), function)()))


@lru_cache(maxsize=64)
def _query(grammar: tuple[str, str], text: str) -> tree_sitter.Query:
    from tree_sitter import Query

    language = parser_of(grammar).language
    assert language is not None, "a parser is made with its language"
    return Query(language, text)


def captures(
    grammar: tuple[str, str], query: str, tree: tree_sitter.Tree
) -> list[tree_sitter.Node]:
    """The nodes of a tree that a query captures as `n`, in no strict order."""
    from tree_sitter import QueryCursor

    return QueryCursor(_query(grammar, query)).captures(tree.root_node).get("n", [])


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
