"""Cut a file into chunks along its symbols.

Every byte belongs to exactly one chunk. First each line gets an owner: the innermost symbol that is
large enough for its own chunk. Then runs of lines with the same owner become chunks. A run that is
too long is cut at the start of a statement, at the lowest nesting depth possible; the syntax tree
confirms that a statement starts there.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING

from holdfast.index.facts.model import MODULE, Chunk, Span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tree_sitter import Node

    from holdfast.index.facts.walk import SymbolDraft

CHUNK_BYTES_MAX = 2_400
WHOLE_CLASS_BYTES = 900
"""A class up to this size is one chunk together with its methods."""
LINE_BYTES_MAX = 8_000
"""A longer line, as in a minified bundle, is split."""
_CONTAINERS = frozenset(
    {"class", "interface", "trait", "struct", "enum", "object", "namespace", "section"}
)
SMALL = frozenset({"constant", "variable", "key"})
SMALL_BYTES = 600
OPENER_BYTES = 200
TRIES = 8

_CLOSING = b"})]"
_BLOCK = re.compile(
    r"(?:^|_)(?:block|body|statements|program|module|file|unit|chunk|statement|list|declarations|"
    r"object|array|dictionary|map|hash|constructor|clause|case|arm|switch|group|content|source_file)$"
)


def partition(
    source: bytes, line_starts: Sequence[int], symbols: Sequence[SymbolDraft], root: Node | None
) -> tuple[Chunk, ...]:
    """The chunks of a file, in order. `line_starts` ends with the size of the file."""
    lines = len(line_starts) - 1
    if not source:
        return ()
    chunks: list[Chunk] = []
    for first, last, owner in _runs(source, line_starts, _segments(lines, symbols)):
        pieces = _cut(source, line_starts, first, last, root)
        for part, (a, b, start, end) in enumerate(pieces):
            broken = start != line_starts[a - 1] or end != line_starts[b]
            chunks.append(Chunk(owner, Span(a, b, start, end), part, len(pieces), broken))
    return tuple(chunks)


def _segments(lines: int, symbols: Sequence[SymbolDraft]) -> list[tuple[int, int, int]]:
    """Runs of lines (first, last, owner), by the innermost symbol that gets its own chunk."""
    whole = [False] * len(symbols)
    found: list[tuple[int, int, int]] = []
    open_ = [(MODULE, lines)]
    at = 1
    for index, symbol in enumerate(symbols):
        kind, parent, size = symbol.kind, symbol.parent, symbol.end - symbol.start
        limit = WHOLE_CLASS_BYTES if kind in _CONTAINERS else CHUNK_BYTES_MAX
        whole[index] = size <= limit and kind != "section"
        if (
            parent != MODULE
            and parent < index
            and whole[parent]
            and _within(symbol, symbols[parent])
        ):
            whole[index] = True
            continue
        if kind in SMALL and size <= SMALL_BYTES:
            continue
        first, last = symbol.lead, symbol.last_line
        while len(open_) > 1 and open_[-1][1] < symbol.first_line:
            at = _close(found, at, open_)
        owner, until = open_[-1]
        if owner != MODULE and first <= symbols[owner].first_line:
            first = symbol.first_line  # the comment above belongs to the class on the same line
        first, last = max(first, at), min(last, until)
        if first > last:
            continue
        if owner != MODULE and at < first <= symbols[owner].first_line:
            first = at  # of a symbol on the same line only the comment above would be left
        if at < first:
            found.append((at, first - 1, owner))
            at = first
        open_.append((index, last))
    while open_:
        at = _close(found, at, open_)
    return found


def _within(symbol: SymbolDraft, owner: SymbolDraft) -> bool:
    """Whether a symbol is inside its owner. A method in Go, or of an `impl`, is not."""
    return owner.start <= symbol.start and symbol.end <= owner.end


def _close(blocks: list[tuple[int, int, int]], at: int, open_: list[tuple[int, int]]) -> int:
    owner, last = open_.pop()
    if at <= last:
        blocks.append((at, last, owner))
        return last + 1
    return at


def _runs(
    source: bytes, starts: Sequence[int], segments: Sequence[tuple[int, int, int]]
) -> list[tuple[int, int, int]]:
    """Segments, with blank lines and lone closing brackets joined to the run before them.

    A line that only opens a block joins the run after it.
    """
    runs: list[tuple[int, int, int]] = []
    for first, last, owner in segments:
        if runs:
            begin, end = starts[first - 1], starts[last]
            before = runs[-1]
            if before[2] == owner or (
                end - begin < 200 and not source[begin:end].strip(b" \t\r\n})];,")
            ):
                runs[-1] = (before[0], last, before[2])
                continue
            if before[2] == MODULE and _opens(source[starts[before[0] - 1] : starts[before[1]]]):
                runs[-1] = (before[0], last, owner)
                continue
            blank = first
            while blank <= last and not source[starts[blank - 1] : starts[blank]].strip():
                blank += 1
            if blank > first:
                runs[-1] = (before[0], blank - 1, before[2])
                if blank > last:
                    continue
                first = blank
        runs.append((first, last, owner))
    if len(runs) > 1 and not source[: starts[runs[0][1]]].strip():
        # Blank lines at the top of the file join the run after them.
        runs[:2] = [(1, runs[1][1], runs[1][2])]
    return runs


def _opens(text: bytes) -> bool:
    """Whether a text only opens a block, such as `impl Cart {`."""
    return len(text) < OPENER_BYTES and text.rstrip().endswith(b"{")


def _cut(
    source: bytes, starts: Sequence[int], first: int, last: int, root: Node | None
) -> list[tuple[int, int, int, int]]:
    """Cut the lines `first` to `last` into pieces of at most CHUNK_BYTES_MAX, if possible."""
    pieces: list[tuple[int, int, int, int]] = []
    line = first
    while line <= last:
        begin = starts[line - 1]
        if starts[line] - begin > LINE_BYTES_MAX:
            pieces.extend(_broken(source, line, begin, starts[line]))
            line += 1
            continue
        end = max(line, bisect_right(starts, begin + CHUNK_BYTES_MAX, line, last + 1) - 1)
        if end < last and starts[end + 1] - starts[end] <= LINE_BYTES_MAX:
            end = _boundary(source, starts, line, end, root) - 1
        pieces.append((line, end, begin, starts[end]))
        line = end + 1
    return pieces


def _boundary(
    source: bytes, starts: Sequence[int], first: int, last: int, root: Node | None
) -> int:
    """The line at which the next piece should start, within `first` + 1 to `last` + 1."""
    earliest = first + 1 + (last - first) // 3
    candidates = []
    at = starts[earliest - 1]
    blank = not source[starts[earliest - 2] : at].strip()
    for line in range(earliest, last + 2):
        until = starts[line]
        text = source[at:until]
        at = until
        body = text.lstrip(b" \t")
        if not body or body.isspace():
            blank = True
            continue
        if body[0] not in _CLOSING:
            candidates.append((len(text) - len(body), not blank, -line))
        blank = False
    candidates.sort()
    for indent, _, negative in candidates[:TRIES]:
        if root is None or _starts_statement(root, starts[-negative - 1] + indent):
            return -negative
    return -candidates[0][2] if candidates else last + 1


def _starts_statement(root: Node, at: int) -> bool:
    node = root.named_descendant_for_byte_range(at, at + 1)
    for _ in range(12):
        if node is None or node.start_byte != at:
            return False
        parent = node.parent
        if parent is None:
            return True
        if parent.start_byte != at:
            return bool(_BLOCK.search(parent.type)) and not parent.type.startswith("string")
        node = parent
    return False


def _broken(source: bytes, line: int, start: int, end: int) -> list[tuple[int, int, int, int]]:
    pieces = []
    while start < end:
        stop = min(end, start + LINE_BYTES_MAX)
        for _ in range(3):  # not inside a character
            if stop < end and source[stop] & 0xC0 == 0x80:
                stop -= 1
        pieces.append((line, line, start, stop))
        start = stop
    return pieces
