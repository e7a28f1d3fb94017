"""Languages without a grammar: symbols guessed from lines that look like definitions.

Files in such a language are searched too, and a chunk labelled *total* that starts at `def total`
ranks better than one that starts at an arbitrary line. Each language has one pattern for lines that
clearly define something; a definition ends at the next one that is not nested deeper. The facts are
marked as *guessed*, and are not used for outlines or call graphs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.files.policy import language_of
from holdfast.index.facts.languages.line_patterns import (
    CONTAINERS,
    HEADS,
    NAMES,
    NESTED,
    SUFFIXES,
    TABLE,
)
from holdfast.index.facts.model import MODULE
from holdfast.index.facts.walk import SIGNATURE_MAX, SYMBOLS_MAX, RawFacts, SymbolDraft

if TYPE_CHECKING:
    from holdfast.index.facts.model import Problem

NAME_MAX = 120
LEAD_LINES_MAX = 60
_COMMENTS = (b"#", b"--", b"//", b"/*", b"*", b";", b"%", b"(*", b"{-", b"@", b'"', b"'")
"""Prefixes of lines that belong to the definition below them, in any of these languages."""


def kind_of_file(path: str) -> str:
    """The language whose line patterns fit a file; "text" when there is none."""
    name = path.rpartition("/")[2].lower()
    suffix = name[name.rfind(".") :] if "." in name else ""
    found = SUFFIXES.get(suffix) or NAMES.get(name) or language_of(path)
    if found == "build" and name.startswith("makefile"):
        found = "make"
    return found if found in TABLE else "text"


def read(path: str, source: bytes, starts: list[int], problems: list[Problem]) -> RawFacts | None:
    """Symbols guessed from the lines of a file, in order; None if its language has no patterns."""
    language = kind_of_file(path)
    table = TABLE.get(language)
    if table is None:
        return None
    found = RawFacts()
    margins: list[int] = []
    heads, nested = language in HEADS, NESTED.get(language, ())
    line = 1
    for match in table.pattern.finditer(source):
        start = match.start()
        while line < len(starts) - 1 and starts[line] <= start:
            line += 1
        groups = match.groupdict()
        word = " ".join((groups.get("word") or b"").decode("utf-8", "replace").split())
        margin = len(groups["indent"].expandtabs(4))
        shape = (groups.get("shape") or b"").decode().lower() or word.lower()
        first = shape.partition(" ")[0]
        if heads and margin and first not in nested:
            continue
        name = _name(groups)
        if not name or len(found.symbols) >= SYMBOLS_MAX:
            found.truncated = found.truncated or bool(name)
            continue
        before = found.symbols[-1] if found.symbols else None
        if before and before.name == name and margins[-1] == margin and before.kind == "function":
            continue  # the next clause of one function
        if before and before.first_line == line:
            continue
        if language in ("asciidoc", "org"):
            margin = len(word)
        kind = table.kinds.get(shape) or table.kinds.get(first)
        if groups.get("tag") or groups.get("c"):
            kind = "section" if groups.get("tag") else "function"
        found.symbols.append(
            SymbolDraft(
                name=name,
                qualified=name,
                kind=kind or table.kinds.get("", "function"),
                parent=MODULE,
                start=start,
                end=len(source),
                first_line=line,
                last_line=len(starts) - 1,
                lead=_lead(source, starts, line),
                signature=_line(source, starts, line),
                doc="",
                exported=True,
                defined=True,
            )
        )
        margins.append(margin)
    _nest(found.symbols, margins, starts)
    return found


def _name(groups: dict[str, bytes]) -> str:
    """The name that a line defines: the first non-empty group of its match."""
    for key in ("held", "name", "text", "tag", "c"):
        found = groups.get(key)
        if found:
            more = groups.get("more")
            whole = found + b"." + more if more else found
            return whole.decode("utf-8", "replace").strip("\"'`[]() \t")[:NAME_MAX]
    return (groups.get("word") or b"").decode("utf-8", "replace")[:NAME_MAX]


def _line(source: bytes, starts: list[int], line: int) -> str:
    text = source[starts[line - 1] : min(starts[line], starts[line - 1] + SIGNATURE_MAX)]
    return text.decode("utf-8", "replace").strip()


def _lead(source: bytes, starts: list[int], line: int) -> int:
    """The first of the comment lines directly above a line, or the line itself."""
    lead = line
    while lead > 1 and line - lead < LEAD_LINES_MAX:
        text = source[starts[lead - 2] : starts[lead - 1]].strip()
        if not text.startswith(_COMMENTS):
            break
        lead -= 1
    return lead


def _nest(symbols: list[SymbolDraft], margins: list[int], starts: list[int]) -> None:
    """Extend every definition to the next one that is not deeper, and set its container."""
    open_: list[int] = []
    for index, symbol in enumerate(symbols):
        while open_ and margins[open_[-1]] >= margins[index]:
            _close(symbols[open_.pop()], symbol.lead - 1, starts)
        owner = open_[-1] if open_ else MODULE
        if owner != MODULE:
            symbol.parent = owner
            if symbols[owner].kind in CONTAINERS:
                symbol.qualified = f"{symbols[owner].qualified}.{symbol.name}"
                if symbol.kind == "function" and symbols[owner].kind != "namespace":
                    symbol.kind = "method"
        open_.append(index)


def _close(symbol: SymbolDraft, last_line: int, starts: list[int]) -> None:
    symbol.last_line = max(symbol.first_line, last_line)
    symbol.end = starts[symbol.last_line]
