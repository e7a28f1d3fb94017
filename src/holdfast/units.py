"""The units of a file: what a focused read folds, from the outline of the index.

Where reading and index meet. A file is outlined from its stored facts, or parsed in a disposable
process.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from holdfast.reading.focus import Unit

if TYPE_CHECKING:
    from holdfast.index.facts.model import FileFacts, Symbol

_CONTAINERS = frozenset(
    {"class", "interface", "trait", "struct", "union", "enum", "object", "namespace"}
)
_COMMENTS = ("//", "#", "/*", "*", "*/", "--", ";", '"""', "'''", "@", "%", "<!--")


def units_of(facts: FileFacts, rows: Sequence[str]) -> list[Unit]:
    """Top-level symbols, and the members of classes in their place, each with its comment."""
    if facts.guessed:
        return []
    members: dict[int, list[Symbol]] = {}
    for symbol in facts.symbols:
        members.setdefault(symbol.parent, []).append(symbol)
    units: list[Unit] = []

    def add(symbol: Symbol, index: int) -> None:
        inner = members.get(index, [])
        if symbol.kind in _CONTAINERS and any(one.span.last_line > one.span.first_line for one in inner):
            for one in inner:
                add(one, numbers[one.id])
            return
        first, last = symbol.span.first_line, symbol.span.last_line
        units.append(
            Unit(_with_comment(rows, first), last, symbol.name, symbol.signature or symbol.name, first)
        )

    numbers = {symbol.id: index for index, symbol in enumerate(facts.symbols)}
    for symbol in members.get(-1, []):
        add(symbol, numbers[symbol.id])
    return units


def _with_comment(rows: Sequence[str], first: int) -> int:
    """The first line of the comment or decorators above a symbol."""
    while first > 1 and rows[first - 2].lstrip().startswith(_COMMENTS):
        first -= 1
    return first
