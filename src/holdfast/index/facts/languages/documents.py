"""Shared by document readers: symbols that cover whole lines, found without a grammar."""

from __future__ import annotations

from holdfast.index.facts.model import MODULE, Kind
from holdfast.index.facts.walk import SIGNATURE_MAX, SYMBOLS_MAX, RawFacts, SymbolDraft


def add(
    facts: RawFacts,
    starts: list[int],
    name: str,
    kind: Kind,
    lines: tuple[int, int],
    *,
    qualified: str = "",
    parent: int = MODULE,
    signature: str = "",
) -> int:
    """Add a symbol that covers whole lines; returns its index, MODULE when there are too many."""
    if len(facts.symbols) >= SYMBOLS_MAX or not name:
        facts.truncated = facts.truncated or bool(name)
        return MODULE
    first, last = lines
    facts.symbols.append(
        SymbolDraft(
            name=name,
            qualified=qualified or name,
            kind=kind,
            parent=parent,
            start=starts[first - 1],
            end=starts[last],
            first_line=first,
            last_line=last,
            lead=first,
            signature=signature[:SIGNATURE_MAX],
            doc="",
            exported=True,
            defined=True,
        )
    )
    return len(facts.symbols) - 1
