"""Which functions a call passes as arguments: `map(total, carts)`, `Timer(callback=self.tick)`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from holdfast.index.facts.model import Call, Import

if TYPE_CHECKING:
    from holdfast.index.facts.walk import SymbolDraft

_KINDS = frozenset({"function", "method", "class"})
_BETWEEN_NAMES = re.compile(r"[^\w$]+")
_NAMED = re.compile(r"(?:([A-Za-z_]\w*)\s*[=:]\s*)?((?:[A-Za-z_$][\w$]*\.)*[A-Za-z_$][\w$]*)\Z")


def nameable(symbols: Iterable[SymbolDraft], imports: Iterable[Import]) -> set[str]:
    """The names by which a file can pass a function or a class."""
    known = {symbol.name for symbol in symbols if symbol.kind in _KINDS}
    known.update(item.alias for item in imports if item.alias)
    return known


def names_passed(arguments: str, known: set[str]) -> tuple[str, ...]:
    """The arguments that are one of the known names, each as `keyword=name` or `place=name`."""
    if known.isdisjoint(_BETWEEN_NAMES.split(arguments)):
        return ()
    return tuple(
        f"{key or place}={name}"
        for place, (key, name) in enumerate(map(_argument, _split(arguments)))
        if name and name.rpartition(".")[2] in known
    )


def with_passed(call: Call, passed: tuple[str, ...]) -> Call:
    return Call(
        call.caller, call.name, call.receiver, call.kind, call.line, call.start, call.arity, passed
    )


def _argument(text: str) -> tuple[str, str]:
    """The keyword and the name in an argument that is a name; empty when it is not."""
    found = _NAMED.match(text)
    return (found.group(1) or "", found.group(2)) if found else ("", "")


def _split(text: str) -> list[str]:
    """The arguments of a call, split at the commas that no bracket or quote encloses."""
    parts, depth, start, quote = [], 0, 0, ""
    for at, char in enumerate(text):
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'`":
            quote = char
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        elif char == "," and not depth:
            parts.append(text[start:at].strip())
            start = at + 1
    parts.append(text[start:].strip())
    return parts
