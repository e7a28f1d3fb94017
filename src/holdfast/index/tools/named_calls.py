"""call_graph by name alone: the calls of every symbol with that name.

If several symbols share the name, the answer covers all of them. Refusing it, with a list to choose
from, would cost the caller another call and tell it less.
"""

from __future__ import annotations

from msgspec.structs import replace

from holdfast.index.answers import CallGraphAnswer, SymbolRef
from holdfast.index.code_index import CodeIndex
from holdfast.index.search_answers import SearchResult
from holdfast.index.tools.calls import Direction, call_graphs
from holdfast.index.tools.find_symbol import NamedSymbols, symbols_called
from holdfast.index.tools.limits import CALLS_DEFAULT
from holdfast.index.tools.references import references
from holdfast.text import counted

ANSWERED = 5
"""How many symbols with one name are answered."""

SEVERAL = "CALL_GRAPH_SEVERAL"


def calls_of_name(
    index: CodeIndex,
    tree: str,
    name: str,
    *,
    direction: Direction = "both",
    depth: int = 1,
    limit: int = CALLS_DEFAULT,
) -> CallGraphAnswer:
    """The calls of the symbols that have this name."""
    symbols = symbols_called(index, tree, name)
    empty = CallGraphAnswer(
        status="not_found",
        supported=False,
        path=tree,
        symbol_ref=SymbolRef("", None, name),
        direction=direction,
        depth=depth,
        limit=limit,
        nodes=(),
        edges=(),
        notes=(),
    )
    if symbols.refused is not None:
        refused = symbols.refused
        return replace(
            empty,
            status=refused.status,
            path=refused.path,
            message=refused.message,
            reason=refused.reason,
            hints=refused.hints,
        )
    declared = () if symbols.symbols else _inherited(index, tree, name)
    if not symbols.symbols and not declared:
        where = "in the tree" if symbols.complete else "in the part that could be searched"
        similar = f"; similar names: {', '.join(symbols.similar)}" if symbols.similar else ""
        message = f"no symbol {where} is named {name}{similar}"
        return replace(empty, reason="missing_symbol", message=message)
    named = declared or tuple(_reference(one) for one in symbols.symbols)
    answers = call_graphs(
        index, tree, named[:ANSWERED], direction=direction, depth=depth, limit=limit
    )
    merged = _merged([one for one in answers if one.status == "ok"] or answers[:1])
    if declared or (len(symbols.symbols) == 1 and symbols.complete):
        return merged
    return replace(merged, warnings=(*merged.warnings, _several(name, symbols)))


def _inherited(index: CodeIndex, tree: str, name: str) -> tuple[SymbolRef, ...]:
    """`Cart.total`, if a base class of Cart defines it."""
    if "." not in name:
        return ()
    answer = references(index, tree, name, relation="declaration")
    return tuple(SymbolRef(one.file, one.symbol_id, None) for one in answer.definitions)


def _reference(one: SearchResult) -> SymbolRef:
    return SymbolRef(one.file, one.symbol_id, None if one.symbol_id else one.symbol_label)


def _merged(answers: list[CallGraphAnswer]) -> CallGraphAnswer:
    first = answers[0]
    return replace(
        first,
        symbol_ids=tuple(dict.fromkeys(each for one in answers for each in one.symbol_ids)),
        nodes=tuple(dict.fromkeys(node for one in answers for node in one.nodes)),
        edges=tuple(dict.fromkeys(edge for one in answers for edge in one.edges)),
        notes=tuple(dict.fromkeys(note for one in answers for note in one.notes)),
        warnings=tuple(dict.fromkeys(text for one in answers for text in one.warnings)),
        total_note_count=sum(one.total_note_count or 0 for one in answers) or None,
    )


def _several(name: str, named: NamedSymbols) -> str:
    symbols, least = named.symbols, "" if named.complete else "at least "
    shown = [f"{one.file}:{one.span.start_line} {one.symbol_label}" for one in symbols[:ANSWERED]]
    left = len(symbols) - len(shown)
    more = f" and {left} more, which name their file to be answered" if left else ""
    return (
        f"{SEVERAL}:{least}{counted(len(symbols), 'symbol')} named {name}: {', '.join(shown)}{more}"
    )
