"""A symbol named without its file: the one place it is defined, or places to choose from."""

from __future__ import annotations

import shlex
from typing import Any

from holdfast.cli.envelopes import as_typed, spoken
from holdfast.cli.failures import Refused
from holdfast.index.code_index import CodeIndex
from holdfast.index.tools.search import search_code

LISTED = 10
"""How many places a choice shows."""


def named_symbol(index: CodeIndex, tree: str, name: str) -> Any:
    """The file and id of the only symbol of this name in a tree."""
    query = "sym:" + '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'
    answer: Any = search_code(index, tree, query, scope="mixed", limit=LISTED + 1)
    if answer["status"] != "ok":
        raise Refused(answer["status"], spoken(answer.get("message", answer["status"]), tree))
    found = [result for result in answer["results"] if result.get("symbolId")]
    # `sym:total` finds `Cart.total` too: a whole name is meant before a part of one.
    whole = [result for result in found if result["symbolLabel"] == name]
    match whole or found:
        case []:
            hint = f"`holdfast search {shlex.quote(name)}` finds what is like it"
            raise Refused("NoSuchSymbol", f"no symbol here is called {name}", hint)
        case [only]:
            return {"file": only["file"], "symbolId": only["symbolId"]}
        case several:
            raise Refused("SeveralSymbols", f"several are called {name}", _choice(several, tree))


def _choice(several: list[Any], tree: str) -> str:
    lines = [
        shlex.join(["holdfast", "calls", as_typed(each["file"], tree), each["symbolLabel"]])
        for each in several[:LISTED]
    ]
    more = ["…"] if len(several) > LISTED else []
    return "name its file\n" + "\n".join(f"  {line}" for line in [*lines, *more])
