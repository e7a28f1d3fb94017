"""Focus a file: take its units from the outline of the index and fold it by the rules of reading.

This connects reading and index. A file is outlined from its stored facts if they were made from
exactly these bytes, and parsed in a disposable process otherwise.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from holdfast.reading import focus
from holdfast.reading.focus import Focus, Presets, Signals, Unit

if TYPE_CHECKING:
    from holdfast.index.code_index import CodeIndex
    from holdfast.index.facts.model import FileFacts, Symbol
    from holdfast.reading.native import Focuser

Outliner = Callable[[str, bytes], "FileFacts | None"]
"""From a path and the file's bytes to its facts."""

BYTES_MAX = 1 << 20
"""A longer file is not folded: it is usually generated, or data."""
_CONTAINERS = frozenset(
    {"class", "interface", "trait", "struct", "union", "enum", "object", "namespace"}
)
_COMMENTS = ("//", "#", "/*", "*", "--", ";", '"""', "'''", "@", "%", "<!--")


def focuser(
    presets: Presets,
    signals: Callable[[str, Sequence[str]], Signals],
    outline: Outliner,
    *,
    subagent: bool = False,
) -> Focuser:
    """The function that folds a whole first read of a long file."""

    def fold(path: str, rows: Sequence[str]) -> Focus | None:
        if not presets.applies(len(rows), subagent=subagent) or focus.stays_whole(path):
            return None
        signs = signals(path, rows)
        data = "\n".join(rows).encode("utf-8", "surrogatepass")
        if signs.whole or len(data) > BYTES_MAX:
            return None
        facts = outline(path, data)
        return None if facts is None else focus.focus(rows, units_of(facts, rows), signs)

    return fold


def outliner(index: Callable[[], CodeIndex] | None = None) -> Outliner:
    """A function that takes facts from the index if they match the bytes, and otherwise parses."""

    def outline(path: str, data: bytes) -> FileFacts | None:
        if index is not None:
            with suppress(Exception):  # whatever fails in the index, the file can be parsed
                stored = _stored(index(), path, data)
                if stored is not None:
                    return stored
        from holdfast.files.secrets import masked
        from holdfast.index.building.prepare import extract_facts

        return extract_facts(os.path.basename(path), masked(data))

    return outline


def _stored(index: CodeIndex, path: str, data: bytes) -> FileFacts | None:
    from holdfast.files import disk
    from holdfast.index.facts import model

    record = index.root_of(os.path.dirname(path))[1]
    if record is None:
        return None
    key = os.path.relpath(os.path.realpath(path), record.root)
    with index.backend.reader(record.root) as reader:
        entry = reader.entry(key)
        # The text that an agent printed may lack the file's last newline.
        if entry is None or entry.digest not in (disk.digest(data), disk.digest(data + b"\n")):
            return None
        stored = reader.facts([key]).get(key)
    return None if stored is None else model.decode(stored)


def units_of(facts: FileFacts, rows: Sequence[str]) -> list[Unit]:
    """Top-level symbols, with long classes replaced by their members, each with its comment."""
    if facts.guessed:
        return []
    members: dict[int, list[int]] = {}
    for index, symbol in enumerate(facts.symbols):
        members.setdefault(symbol.parent, []).append(index)
    units: list[Unit] = []
    open_symbols = list(reversed(members.get(-1, [])))
    while open_symbols:
        index = open_symbols.pop()
        symbol, inner = facts.symbols[index], members.get(index, [])
        if symbol.kind in _CONTAINERS and any(_is_long(facts.symbols[one]) for one in inner):
            open_symbols += reversed(inner)
            continue
        first, title = symbol.span.first_line, symbol.signature or symbol.name
        top = _with_comment(rows, first)
        units.append(Unit(top, symbol.span.last_line, symbol.name, title, first))
    return units


def _is_long(symbol: Symbol) -> bool:
    return symbol.span.last_line > symbol.span.first_line


def _with_comment(rows: Sequence[str], first: int) -> int:
    """The first line of the comment or decorators above a symbol."""
    while 1 < first <= len(rows) and rows[first - 2].lstrip().startswith(_COMMENTS):
        first -= 1
    return first
