"""Which symbols differ between two versions of a file. Pure.

A symbol is compared by its own text, without the text of nested symbols: a changed method does not
make its class changed. Moving a symbol to other lines does not change it.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from holdfast.index.facts.model import FileFacts, Symbol

Change = Literal["added", "changed", "removed"]
Key = tuple[str, str, int]


class ChangedSymbol(NamedTuple):
    """A symbol of the new version, or of the old one if it was removed."""

    symbol: Symbol
    change: Change


def changed_symbols(
    old: FileFacts, old_source: bytes, new: FileFacts, new_source: bytes
) -> list[ChangedSymbol]:
    """The symbols that were added, changed or removed, in the order of the new file."""
    before, after = _texts(old, old_source), _texts(new, new_source)
    known = {_key(symbol): symbol for symbol in old.symbols}
    changes = []
    for symbol in new.symbols:
        key = _key(symbol)
        if key not in before:
            changes.append(ChangedSymbol(symbol, "added"))
        elif before[key] != after[key]:
            changes.append(ChangedSymbol(symbol, "changed"))
    gone = [key for key in before if key not in after]
    return [*changes, *(ChangedSymbol(known[key], "removed") for key in gone)]


def _key(symbol: Symbol) -> Key:
    return symbol.qualified, symbol.kind, symbol.ordinal


def _texts(facts: FileFacts, source: bytes) -> dict[Key, bytes]:
    """The text of each symbol, without nested symbols."""
    inner: dict[int, list[tuple[int, int]]] = {}
    for symbol in facts.symbols:
        if symbol.parent >= 0:
            inner.setdefault(symbol.parent, []).append((symbol.span.start, symbol.span.end))
    texts: dict[Key, bytes] = {}
    for index, symbol in enumerate(facts.symbols):
        pieces, at = [], symbol.span.start
        for start, end in sorted(inner.get(index, ())):
            if start >= at:
                pieces.append(source[at:start])
            at = max(at, end)
        pieces.append(source[at : symbol.span.end])
        texts[_key(symbol)] = b"\0".join(piece.strip() for piece in pieces)
    return texts
