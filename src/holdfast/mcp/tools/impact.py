"""impact: what a change touches."""

from __future__ import annotations

from holdfast.index.references.answers import ImpactAnswer
from holdfast.index.tools.render_references import impact_text
from holdfast.mcp.tool import Result, Tool, ToolCall, call_text, inputs, integer, string
from holdfast.mcp.tools.common import AGENT, below, continued, refused, schema_of, tree_of


def run(call: ToolCall) -> Result:
    from holdfast.index.tools.impact import impact

    a = call.arguments
    path = call.tree(a.get("path", "."))
    answer = impact(call.context.index, path, a["since"], limit=a["limit"])
    if answer.status != "ok":
        return refused(answer)
    more = {**a, "path": path, "limit": max(1, answer.total)}
    facts = answer.to_wire()
    if answer.total > len(answer.symbols):
        facts["continue"] = continued("impact", **more)
    text = impact_text(answer, AGENT, more=call_text("impact", more))
    return Result("\n".join([*below(call, tree_of(call, path)), text]), facts)


IMPACT = Tool(
    name="impact",
    title="Impact of a change",
    description=(
        "What the changes since a git revision touch: the symbols that changed, what calls or "
        "mentions them, what a removed one leaves behind, and the tests that reach them."
    ),
    input=inputs(
        path=string("the tree, if not that of the working directory"),
        since=string("the revision", default="HEAD"),
        limit=integer("maximum number of symbols", minimum=1, default=20),
    ),
    output=schema_of(ImpactAnswer),
    run=run,
)
