"""An outline within a budget: the same symbols, with fewer words for each.

The signatures of a long file take many tokens. So an outline that exceeds its budget is written
again with less detail, until it fits:

    whole       every symbol on a line, with its signature; for a program, its kind only where the
                signature does not show it
    short       long signatures are cut
    folded      the members of a symbol follow it by name and first line
    top level   only symbols that are in no other, with the number of their members

The first three never leave out a symbol; only the last may exceed the budget.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from holdfast.index.answers import OutlineSymbol
from holdfast.patterns import lazy_pattern
from holdfast.text import counted, line_range

SIGNATURE_MAX = 48


def outline_lines(
    symbols: Sequence[OutlineSymbol], tokens_max: int | None = None, *, aligned: bool = False
) -> tuple[list[str], bool]:
    """The lines of an outline, and whether detail was left out to fit the budget.

    `aligned` puts line numbers in a column, which only a person needs.
    """
    lines = [whole_line(symbol, aligned=aligned) for symbol in symbols]
    if tokens_max is None or _tokens(lines) <= tokens_max:
        return lines, False
    levels: tuple[Callable[[Sequence[OutlineSymbol]], list[str]], ...] = (_short, _folded, _top)
    for level in levels:
        lines = level(symbols)
        if _tokens(lines) <= tokens_max:
            break
    return lines, True


def whole_line(symbol: OutlineSymbol, *, aligned: bool) -> str:
    if not aligned:
        return f"{_lines(symbol)} {' ' * _depth(symbol)}{_without_kind(symbol)}"
    indent = "  " * _depth(symbol)
    return f"{_lines(symbol):>11}  {indent}{symbol.kind} {_signature(symbol)}"


_OVERRIDE = lazy_pattern(r"\A@Override\s+")
_KEYWORDS = ("def ", "func ", "function ", "fun ", "fn ")
_CALLABLE = ("method", "function", "constructor")


def _without_kind(symbol: OutlineSymbol) -> str:
    text = _signature(symbol)
    if symbol.kind in _CALLABLE and "(" in text:
        before, name, rest = _OVERRIDE.sub("", text).partition(symbol.name)
        word = next((word for word in _KEYWORDS if f" {before}".endswith(f" {word}")), "")
        return before.removesuffix(word) + name + rest
    has_kind = re.search(rf"\b{re.escape(symbol.kind)}\b", text.partition(symbol.name)[0])
    return text if has_kind else f"{symbol.kind} {text}"


def _short(symbols: Sequence[OutlineSymbol]) -> list[str]:
    return [f"{_lines(symbol)} {' ' * _depth(symbol)}{_cut(symbol)}" for symbol in symbols]


def _folded(symbols: Sequence[OutlineSymbol]) -> list[str]:
    lines: list[str] = []
    members: list[str] = []
    for symbol in symbols:
        if _depth(symbol) and lines:
            members.append(f"{symbol.name} {symbol.span.start_line}")
            continue
        lines += _joined(members)
        members = []
        lines.append(f"{_lines(symbol)} {_cut(symbol)}")
    return lines + _joined(members)


def _top(symbols: Sequence[OutlineSymbol]) -> list[str]:
    lines: list[str] = []
    members = 0
    for symbol in symbols:
        if _depth(symbol) and lines:
            members += 1
            continue
        lines = _with_count(lines, members)
        members = 0
        lines.append(f"{_lines(symbol)} {symbol.kind} {symbol.name}")
    return _with_count(lines, members)


def _with_count(lines: list[str], members: int) -> list[str]:
    return [*lines[:-1], f"{lines[-1]} ({counted(members, 'member')})"] if members else lines


def _joined(members: list[str]) -> list[str]:
    return [f"  {', '.join(members)}"] if members else []


def _cut(symbol: OutlineSymbol) -> str:
    text = _without_kind(symbol)
    return text if len(text) <= SIGNATURE_MAX else f"{text[: SIGNATURE_MAX - 1]}…"


_AFTER_OPENING, _BEFORE_CLOSING = lazy_pattern(r"\(\s+"), lazy_pattern(r",?\s+\)")


def _signature(symbol: OutlineSymbol) -> str:
    """The signature; the line breaks inside parentheses, which are blanks in it, are left out."""
    text = (symbol.signature or symbol.name).removeprefix(f"{symbol.kind} ")
    return _BEFORE_CLOSING.sub(")", _AFTER_OPENING.sub("(", text))


def _depth(symbol: OutlineSymbol) -> int:
    return symbol.symbol_label.count(".")


def _lines(symbol: OutlineSymbol) -> str:
    return line_range(symbol.span.start_line, symbol.span.end_line)


def _tokens(lines: Sequence[str]) -> float:
    return sum(len(line.encode("utf-8", "replace")) + 1 for line in lines) / 4
