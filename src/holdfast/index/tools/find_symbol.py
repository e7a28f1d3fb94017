"""Find the symbols with a name in a tree, or similar names if there are none."""

from __future__ import annotations

from dataclasses import dataclass

from holdfast.index.code_index import CodeIndex
from holdfast.index.search.roles import role_of
from holdfast.index.search_answers import SearchAnswer, SearchResult
from holdfast.index.tools.search import search_code

LISTED = 10
"""How many symbols are listed."""
SIMILAR = 5


@dataclass(frozen=True, slots=True)
class NamedSymbols:
    """The symbols that a name can refer to, tests last."""

    symbols: tuple[SearchResult, ...]
    complete: bool
    """Whether all symbols of the tree were checked."""
    similar: tuple[str, ...] = ()
    """Similar names, if no symbol has this one."""
    refused: SearchAnswer | None = None
    """Why the tree cannot be searched."""


def symbols_called(index: CodeIndex, tree: str, name: str) -> NamedSymbols:
    """The symbols with this name in a tree. An exact name wins over the end of a qualified one."""
    quoted = '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'
    answer = search_code(index, tree, f"sym:{quoted}", scope="mixed", limit=LISTED + 1)
    if answer.status != "ok":
        return NamedSymbols((), False, refused=answer)
    found = [result for result in answer.results if result.symbol_label]
    if any(warning.startswith("QUERY_OPERATOR:") for warning in answer.warnings):
        found = []  # The name is not valid, and the results are only similar to it.
    counts = answer.counts
    complete = counts is not None and counts.complete and counts.last == counts.total
    # `sym:total` finds `Cart.total` too.
    whole = [result for result in found if result.symbol_label == name]
    rest = [result for result in found if result not in whole]
    named = (whole or found) if complete else [*whole, *rest]
    named.sort(key=lambda result: role_of(result.file) == "test")
    similar = () if named else _similar(index, tree, name)
    return NamedSymbols(tuple(named), complete, similar)


def _similar(index: CodeIndex, tree: str, name: str) -> tuple[str, ...]:
    """Names of symbols that a search for the name finds."""
    answer = search_code(index, tree, name, scope="mixed", limit=LISTED)
    labels = [place.symbol_label for one in answer.results for place in one.places]
    return tuple(dict.fromkeys(label for label in labels if label))[:SIMILAR]
