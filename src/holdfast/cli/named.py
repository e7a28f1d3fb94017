"""A symbol named without its file: the one place it is defined, or places to choose from."""

from __future__ import annotations

import shlex
from typing import Any

from holdfast.cli.envelopes import as_typed, spoken
from holdfast.cli.failures import CommandRefused
from holdfast.index.code_index import CodeIndex
from holdfast.index.tools.search import search_code

LISTED = 10
"""How many places a choice shows."""


def named_symbol(index: CodeIndex, tree: str, name: str) -> Any:
    """The file and id of the only symbol of this name in a tree."""
    query = "sym:" + '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'
    answer: Any = search_code(index, tree, query, scope="mixed", limit=LISTED + 1)
    if answer["status"] != "ok":
        raise CommandRefused(
            answer["status"], spoken(answer.get("message", answer["status"]), tree)
        )
    places = [result for result in answer["results"] if result.get("symbolLabel")]
    if any(said.startswith("QUERY_OPERATOR:") for said in answer.get("warnings", ())):
        places = []  # It names no symbol, and what was found is only near to it.
    # The only one is one only if all were seen.
    counts = answer["counts"]
    all_seen = counts["complete"] and counts["to"] == counts["total"]
    # `sym:total` finds `Cart.total` too: a whole name is meant before a part of one.
    whole = [place for place in places if place["symbolLabel"] == name]
    rest = [place for place in places if place not in whole]
    match (whole or places) if all_seen else [*whole, *rest]:
        case []:
            hint = f"`holdfast search {shlex.quote(name)}` finds what is like it"
            where = "here" if all_seen else "in what could be looked at"
            raise CommandRefused("NoSuchSymbol", f"no symbol {where} is called {name}", hint)
        case [only] if all_seen:
            key = "symbolId" if only.get("symbolId") else "symbolLabel"
            return {"file": only["file"], key: only[key]}
        case several:
            said = f"several {'are' if all_seen else 'may be'} called {name}"
            raise CommandRefused("SeveralSymbols", said, _choice(several, tree, all_seen))


def _choice(several: list[Any], tree: str, all_seen: bool) -> str:
    named = dict.fromkeys((as_typed(each["file"], tree), each["symbolLabel"]) for each in several)
    lines = [shlex.join(["holdfast", "calls", *words]) for words in list(named)[:LISTED]]
    more = [] if all_seen and len(named) <= LISTED else ["…"]
    return "name its file\n" + "\n".join(f"  {line}" for line in [*lines, *more])
