"""Parsing with limits on time and memory.

Usually parsing takes time in proportion to the size of the input. When a text does not fit the
grammar at all, error recovery is quadratic in every grammar we know, inside single steps of the
parser that cannot be interrupted: a megabyte of `&|` would keep the C# parser busy for days, and
`<a` uses up all memory. A query over the tree is quadratic too for long rows of anonymous nodes.
The only way to stop it is to kill the process. So outside workers a text is first parsed in a
separate process (`trial_parse.py`) that may be killed; a worker is such a process itself.

Short texts are exempt: the worst case found takes a third of a second for a kilobyte. A process
that several agents depend on does not parse at all (`extractor.py`).
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING

from holdfast import system
from holdfast.index.facts import trial_parse as trial

if TYPE_CHECKING:
    import tree_sitter

READ_BYTES = 8_192
READS_PER_BLOCK = 128
SLOWEST_SECONDS = 1.0
SLOWEST_SECONDS_PER_BYTE = 10e-6
SHORT_BYTES = 1_024
UNTRIED = 10
"""Factor on the time limit where no trial is possible: other work counts as well there."""

_one_at_a_time = threading.Lock()
_block = memoryview(bytearray(READ_BYTES))
_starts_of_block: dict[int, memoryview] = {}
"""Parts of the block by their length. tree-sitter 0.26 never releases what a read returns, so every
read returns one of these; new texts would stay in memory for as long as the process."""
_limits = threading.local()


class TooHardError(Exception):
    """Raised when a parse takes far more time or memory than the size of its text explains."""


def parse(grammar: tuple[str, str], source: bytes, query: str = "") -> tree_sitter.Tree:
    """The tree of `source`, or TooHardError. A grammar is named by a module and its function.

    `query` is the query that will be run on the tree. The time limit is processor time, a hundred
    times the usual, so that a busy machine does not exceed it. It applies in the trial process;
    here garbage collection and other threads would count as well.
    """
    parser = parser_of(grammar)
    if len(source) <= SHORT_BYTES:
        return limited(parser, source)
    if trial.is_disposable():
        with size_limits(len(source)):
            return limited(parser, source)
    seconds = _seconds(len(source))
    passed = trial.passes(grammar, source, seconds, query)
    if passed is False:
        raise TooHardError
    # Without a trial only the weaker limit applies: a small risk, but the file gets its facts.
    return limited(parser, source, math.inf if passed else seconds * UNTRIED)


def size_limits(size_bytes: int) -> AbstractContextManager[None]:
    """Limits for work on a text of this size, if this process is disposable."""
    if not trial.is_disposable():
        return nullcontext()
    return trial.cpu_and_memory_limits(_seconds(size_bytes), size_bytes)


def full_seconds(size_bytes: int) -> float:
    """The processor time limit for parsing this many bytes."""
    return SLOWEST_SECONDS + size_bytes * SLOWEST_SECONDS_PER_BYTE


def _seconds(size_bytes: int) -> float:
    return full_seconds(size_bytes) * float(getattr(_limits, "share", 1.0))


@contextmanager
def lowered_limits(share: float) -> Iterator[None]:
    """Give parses of this thread only this share of their time limit."""
    before = getattr(_limits, "share", 1.0)
    _limits.share = share
    try:
        yield
    finally:
        _limits.share = before


@lru_cache(maxsize=64)
def parser_of(grammar: tuple[str, str]) -> tree_sitter.Parser:
    """The parser of a grammar; one per process."""
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
    return captures_by_name(grammar, query, tree).get("n", [])


def captures_by_name(
    grammar: tuple[str, str], query: str, tree: tree_sitter.Tree
) -> dict[str, list[tree_sitter.Node]]:
    """The same for all names of a query."""
    from tree_sitter import QueryCursor

    return QueryCursor(_query(grammar, query)).captures(tree.root_node)


def decodable(source: bytes) -> bytes:
    """The source with each byte that is not UTF-8 replaced by `?`, so that offsets stay.

    Scanners of some grammars use the decoder's result for such bytes as a table index: forty of
    these bytes crashed the Lua grammar.
    """
    if source.isascii():
        return source
    try:
        source.decode()
    except UnicodeDecodeError:
        return source.decode("utf-8", "surrogateescape").encode("utf-8", "replace")
    return source


def _read_block(source: bytes, offset: int) -> memoryview:
    """The next block of a text, in the shared memory that the parser reads."""
    text = source[offset : offset + READ_BYTES]
    size = len(text)
    _block[:size] = text
    part = _starts_of_block.get(size)
    if part is None:
        part = _starts_of_block[size] = _block[:size]
    return part


def limited(
    parser: tree_sitter.Parser,
    source: bytes,
    seconds: float = math.inf,
    thread_s: Callable[[], float] = system.thread_s,
) -> tree_sitter.Tree:
    """The tree, or TooHardError if the parser backtracked too often or took too long.

    The parser reads its input in blocks, and reads a block again when it backtracks, so the number
    of reads limits that work independently of the machine. Past the limit the reads return nothing,
    the parser stops at this end of file, and the tree is discarded.
    """
    source = decodable(source)
    reads, most = 0, 256 + READS_PER_BLOCK * (len(source) // READ_BYTES + 1)
    until = thread_s() + seconds

    def read(offset: int, _point: object) -> bytes | memoryview:
        nonlocal reads
        reads += 1
        if reads > most or thread_s() > until:
            reads = most + 1
            return b""
        return _read_block(source, offset)

    # The callback may switch threads, and the parser is shared.
    with _one_at_a_time:
        parser.reset()
        tree = parser.parse(read)
    if reads > most:
        raise TooHardError
    return tree
