"""The symbols of a file, in the order of the file, whole or by line window or by exact name."""

from __future__ import annotations

import msgspec

from holdfast.index.facts.model import FileFacts, Symbol


class Outline(msgspec.Struct, frozen=True, array_like=True):
    """Symbols sorted by start, end, label and id. `more` says that the limit cut it short."""

    symbols: tuple[Symbol, ...]
    more: bool = False


def outline(
    facts: FileFacts, first_line: int = 1, last_line: int | None = None, limit: int = 500
) -> Outline:
    """The symbols that overlap a window of lines."""
    last = facts.lines if last_line is None else last_line
    symbols = () if facts.guessed else facts.symbols
    found = [s for s in symbols if s.span.first_line <= last and s.span.last_line >= first_line]
    found.sort(key=_order)
    return Outline(tuple(found[:limit]), len(found) > limit)


def exact(facts: FileFacts, *, id: str = "", label: str = "") -> tuple[Symbol, ...]:
    """The symbols with this id, or called this: by qualified name, with or without the module."""
    assert id or label, "an exact lookup names what it looks for"
    found = [
        symbol
        for index, symbol in enumerate(facts.symbols)
        if (not id or symbol.id == id)
        and (not label or label in (symbol.qualified, facts.label(index), symbol.name))
    ]
    if label and any(s.qualified == label for s in found):
        found = [s for s in found if s.qualified == label]
    return tuple(sorted(found, key=_order))


def _order(symbol: Symbol) -> tuple[int, int, str, str]:
    return symbol.span.first_line, symbol.span.last_line, symbol.qualified, symbol.id
