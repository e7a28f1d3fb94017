"""Find a symbol by its name alone: the only one of that name, or the ones to choose from."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from holdfast.cli.failures import CommandRefused
from holdfast.cli.terminal import as_typed, with_commands
from holdfast.index.answers import SearchResult, SymbolRef
from holdfast.index.code_index import CodeIndex
from holdfast.index.tools.search import search_code

LISTED = 10
"""How many symbols are listed to choose from."""


def find_symbol(index: CodeIndex, tree: str, name: str) -> SymbolRef:
    """The only symbol of this name in a tree; raises `CommandRefused` if not exactly one."""
    query = "sym:" + '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'
    answer = search_code(index, tree, query, scope="mixed", limit=LISTED + 1)
    if answer.status != "ok":
        raise CommandRefused(answer.status, with_commands(answer.message or answer.status, tree))
    found = [result for result in answer.results if result.symbol_label]
    if any(warning.startswith("QUERY_OPERATOR:") for warning in answer.warnings):
        found = []  # The name is not valid, and the results are only similar to it.
    # One result is the only one if all of them were seen.
    counts = answer.counts
    all_seen = counts is not None and counts.complete and counts.last == counts.total
    # `sym:total` finds `Cart.total` too: a whole name wins over the end of one.
    whole = [result for result in found if result.symbol_label == name]
    rest = [result for result in found if result not in whole]
    match (whole or found) if all_seen else [*whole, *rest]:
        case []:
            hint = f"`holdfast search {shlex.quote(name)}` finds similar names"
            where = "here" if all_seen else "in the part that could be searched"
            raise CommandRefused("NoSuchSymbol", f"no symbol {where} is named {name}", hint)
        case [only] if all_seen:
            label = None if only.symbol_id else only.symbol_label
            return SymbolRef(only.file, only.symbol_id, label)
        case several:
            message = f"several symbols {'are' if all_seen else 'may be'} named {name}"
            raise CommandRefused("SeveralSymbols", message, _choice(several, tree, all_seen))


def _choice(several: Sequence[SearchResult], tree: str, all_seen: bool) -> str:
    named = dict.fromkeys((as_typed(r.file, tree), r.symbol_label or "") for r in several)
    lines = [shlex.join(["holdfast", "calls", *words]) for words in list(named)[:LISTED]]
    more = [] if all_seen and len(named) <= LISTED else ["…"]
    return "name its file\n" + "\n".join(f"  {line}" for line in [*lines, *more])
