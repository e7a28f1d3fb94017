"""explore: everything about a symbol in one answer."""

from __future__ import annotations

import os

from holdfast.index.references.answers import ExploreAnswer
from holdfast.index.tools.render_explore import explore_text, printed_lines
from holdfast.mcp.printed_answers import excerpts
from holdfast.mcp.tool import Result, Tool, ToolCall, inputs, integer
from holdfast.mcp.tools.common import AGENT, below, schema_of, tree_of
from holdfast.mcp.tools.near_notes import near_notes
from holdfast.mcp.tools.symbol_call import SYMBOL, named_place, not_answered


def run(call: ToolCall) -> Result:
    from holdfast.index.tools.explore import explore

    a = call.arguments
    path, file = named_place(call)
    answer = explore(call.context.index, path, a["symbol"], file=file)
    if answer.status != "ok":
        return not_answered(call, answer)
    text = explore_text(answer, AGENT, tokens_max=a["tokens"])
    tree = tree_of(call, path) or answer.path
    shown: dict[str, list[tuple[int, int]]] = {}
    for one in answer.found:
        span = one.symbol.span
        whole = os.path.join(tree, one.symbol.file)
        shown.setdefault(whole, []).append((span.start_line, span.end_line))
    about = near_notes(call, shown)
    lines = [*below(call, tree), *([about] if about else []), text]
    text = "\n".join(lines)
    printed = [
        (os.path.join(tree, file), number, row)
        for file, first, rows in printed_lines(answer, AGENT, tokens_max=a["tokens"])
        for number, row in enumerate(rows, first)
    ]
    call.note_shown("explore", excerpts(printed), text)
    return Result(text, answer.to_wire())


EXPLORE = Tool(
    name="explore",
    title="Explore a symbol",
    description=(
        "A symbol in one answer: its source, callers, callees, other mentions, what implements "
        "it, the tests that reach it."
    ),
    input=inputs(
        "symbol",
        **SYMBOL,
        tokens=integer("how long the answer may be", minimum=200, default=1_500),
    ),
    output=schema_of(ExploreAnswer),
    run=run,
)
