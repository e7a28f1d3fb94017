"""references: where a symbol is mentioned, implemented and declared."""

from __future__ import annotations

from holdfast.index.references.answers import ReferencesAnswer
from holdfast.index.tools.render_references import references_text
from holdfast.mcp.tool import Result, Tool, ToolCall, call_text, choice, inputs, integer
from holdfast.mcp.tools.common import AGENT, below, continued, schema_of, tree_of
from holdfast.mcp.tools.symbol_call import SYMBOL, named_place, not_answered


def run(call: ToolCall) -> Result:
    from holdfast.index.tools.references import references

    a = call.arguments
    path, file = named_place(call)
    answer = references(
        call.context.index, path, a["symbol"], file=file, relation=a["find"], limit=a["limit"]
    )
    if answer.status != "ok":
        return not_answered(call, answer)
    more = {**a, "path": path, "limit": answer.total}
    facts = answer.to_wire()
    if answer.warnings:
        facts["continue"] = continued("references", **more)
    text = references_text(answer, AGENT, more=call_text("references", more))
    return Result("\n".join([*below(call, tree_of(call, path)), text]), facts)


REFERENCES = Tool(
    name="references",
    title="References",
    description=(
        "Every mention of a symbol by kind (import, base, type, call, value, write), with a count "
        "of those that could not be decided; or what implements or overrides it."
    ),
    input=inputs(
        "symbol",
        **SYMBOL,
        find=choice(("references", "implementations", "declaration"), default="references"),
        limit=integer(minimum=1, default=60),
    ),
    output=schema_of(ReferencesAnswer),
    run=run,
)
