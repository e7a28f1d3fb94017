"""A file cut into texts worth indexing, along its symbols.

Every byte belongs to exactly one chunk. First each line gets an owner: the innermost symbol that
deserves a text of its own. Then runs of lines with one owner become chunks. A run that is too
long is cut where a statement starts, as shallow as possible, which the tree confirms.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from holdfast.index.facts import MODULE, Chunk, Span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tree_sitter import Node

    from holdfast.index.walk import Draft

CHUNK_BYTES_MAX = 2_400
WHOLE_CLASS_BYTES = 900
"""A class no longer than this stays in one piece with its methods."""
LINE_BYTES_MAX = 8_000
"""A longer line, as in a minified bundle, is broken into pieces."""
SMALL = frozenset({"constant", "variable", "key"})
SMALL_BYTES = 600
TRIES = 8

_BLOCK = re.compile(
    r"(?:^|_)(?:block|body|statements|program|module|file|unit|chunk|statement|list|declarations|"
    r"object|array|dictionary|map|hash|constructor|clause|case|arm|switch|group|content|source_file)$"
)


def partition(
    source: bytes, line_starts: Sequence[int], symbols: Sequence[Draft], root: Node | None
) -> tuple[Chunk, ...]:
    """The chunks of a file, in order. `line_starts` ends with the size of the file."""
    lines = len(line_starts) - 1
    if not source:
        return ()
    owners = _owners(lines, symbols)
    chunks: list[Chunk] = []
    for first, last in _runs(source, line_starts, owners):
        owner = owners[first - 1]
        pieces = _cut(source, line_starts, first, last, root)
        for part, (a, b, start, end) in enumerate(pieces):
            broken = start != line_starts[a - 1] or end != line_starts[b]
            chunks.append(Chunk(owner, Span(a, b, start, end), part, len(pieces), broken))
    return tuple(chunks)


def _owners(lines: int, symbols: Sequence[Draft]) -> list[int]:
    """The owner of each line, the first line at 0."""
    owners = [MODULE] * lines
    whole = [False] * len(symbols)
    taken_to = 0
    for index, symbol in enumerate(symbols):
        size = symbol.end - symbol.start
        parent = symbol.parent
        container = symbol.kind in ("class", "interface", "trait", "struct", "enum", "object",
                                    "namespace", "section")  # fmt: skip
        limit = WHOLE_CLASS_BYTES if container else CHUNK_BYTES_MAX
        whole[index] = size <= limit and symbol.kind != "section"
        if parent != MODULE and whole[parent]:
            whole[index] = True
            continue
        if symbol.kind in SMALL and size <= SMALL_BYTES:
            continue
        first = symbol.first_line
        # A line that already holds the end of a neighbour stays with that neighbour.
        if first <= taken_to and (parent == MODULE or symbols[parent].first_line != first):
            first = taken_to + 1
        elif symbol.lead > taken_to:
            above = symbols[parent].first_line if parent != MODULE else 0
            first = max(symbol.lead, above + 1 if symbol.lead <= above < first else 1)
        if first > symbol.last_line:
            continue
        if parent != MODULE and owners[first - 1] not in (parent, MODULE):
            continue
        owners[first - 1 : symbol.last_line] = [index] * (symbol.last_line - first + 1)
        if not container:
            taken_to = max(taken_to, symbol.last_line)
    return owners


def _runs(
    source: bytes, line_starts: Sequence[int], owners: Sequence[int]
) -> list[tuple[int, int]]:
    """Runs of lines with one owner. Blank lines, and lone closing brackets, join the run before."""
    runs: list[tuple[int, int]] = []
    first = 1
    for line in range(2, len(owners) + 2):
        if line <= len(owners) and owners[line - 1] == owners[first - 1]:
            continue
        last = line - 1
        text = source[line_starts[first - 1] : line_starts[last]]
        if runs and len(text) < 200 and not text.strip(b" \t\r\n})];,"):
            runs[-1] = (runs[-1][0], last)
        else:
            runs.append((first, last))
        first = line
    if len(runs) > 1:
        a, b = runs[0]
        if not source[line_starts[a - 1] : line_starts[b]].strip():
            # Blank lines at the top have no run before them, and are no text of their own.
            runs[:2] = [(a, runs[1][1])]
    return runs


def _cut(
    source: bytes, starts: Sequence[int], first: int, last: int, root: Node | None
) -> list[tuple[int, int, int, int]]:
    """Cut the lines `first` to `last` into pieces of at most CHUNK_BYTES_MAX, where that can be."""
    pieces: list[tuple[int, int, int, int]] = []
    line = first
    while line <= last:
        begin = starts[line - 1]
        if starts[line] - begin > LINE_BYTES_MAX:
            pieces.extend(_broken(source, line, begin, starts[line]))
            line += 1
            continue
        end = line
        while (
            end < last
            and starts[end + 1] - begin <= CHUNK_BYTES_MAX
            and starts[end + 1] - starts[end] <= LINE_BYTES_MAX
        ):
            end += 1
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
    for line in range(earliest, last + 2):
        text = source[starts[line - 1] : starts[line]]
        body = text.lstrip(b" \t")
        if body.strip() and body[:1] not in b"})]":
            blank = not source[starts[line - 2] : starts[line - 1]].strip()
            candidates.append((len(text) - len(body), not blank, -line))
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
