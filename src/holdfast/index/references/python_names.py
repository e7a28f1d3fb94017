"""What a bare name of Python refers to, once it is known which scope binds it.

The scope comes with the mention (`facts.python_scopes`), so an outer symbol of the same name is
never taken for a parameter, a loop variable or a name of a class body.
"""

from __future__ import annotations

from typing import Protocol

from holdfast.index.calls.lookup import Found
from holdfast.index.calls.program import OWNERS, Program, Thing, View
from holdfast.index.facts.mentions import Mention
from holdfast.index.facts.model import MODULE, Import
from holdfast.index.facts.python_scopes import UNNAMED

DEFINED_OR_IMPORTED = "defined or imported"
"""The reason for the other meanings of a name that a file both defines and imports."""
OTHERS_MAX = 8


class Imported(Protocol):
    """What an import binds."""

    def __call__(self, view: View, item: Import) -> list[Found]: ...


def held(view: View, scope: int, mention: Mention, imported: Imported) -> list[Found]:
    """What a name means that a function or a class binds; empty for a variable."""
    at = _holder(view, scope, mention)
    if at == MODULE:
        return []
    prefix = view.symbol(at).qualified
    symbols = view.by_qualified.get(f"{prefix}.{mention.name}")
    if symbols:
        return [Found(Thing("symbol", view.path, symbols[-1]), 0.98, "same scope")]
    for item in reversed(view.aliases.get(mention.name, ())):
        if item.scope == at:
            return imported(view, item)
    return []


def _holder(view: View, scope: int, mention: Mention) -> int:
    """The symbol of the function or the class that binds the name; MODULE if it has none."""
    at = scope if mention.holder != UNNAMED else MODULE
    while at != MODULE and view.symbol(at).span.start > mention.holder:
        at = view.symbol(at).parent
    if at == MODULE or (view.symbol(at).kind in OWNERS) == mention.local:
        return MODULE
    return at


def with_others(program: Program, candidates: list[Found], imported: Imported) -> list[Found]:
    """The meanings of a name at the top of a file, and what the file imports under that name.

    In `try: from fast import Cart` with `class Cart` in its `except`, the name is both.
    """
    seen = dict.fromkeys(one.thing for one in candidates)
    queue = list(candidates)
    while queue and len(seen) < OTHERS_MAX:
        thing = queue.pop().thing
        if thing.kind != "symbol":
            continue
        view, symbol = program.files[thing.path], program.symbol(thing)
        if view.family != "python" or symbol.parent != MODULE:
            continue
        for item in view.aliases.get(symbol.name, ()):
            if item.scope != MODULE:
                continue
            for other in imported(view, item):
                if other.thing.kind == "symbol" and other.thing not in seen:
                    seen[other.thing] = None
                    queue.append(other)
    more = list(seen)[len({one.thing for one in candidates}) :]
    return [*candidates, *(Found(thing, 0.8, DEFINED_OR_IMPORTED) for thing in more)]
