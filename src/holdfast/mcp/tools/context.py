"""context: which lines of which files the conversation holds, and what a compaction took."""

from __future__ import annotations

from holdfast.mcp.tool import Result, Tool, ToolCall, boolean, inputs
from holdfast.mcp.tools.common import continued, schema_of
from holdfast.reading.report import ContextReport


def run(call: ToolCall) -> Result:
    from holdfast.mcp.binding import Bound
    from holdfast.reading.context import ContextMap

    caller = call.caller
    reader = call.reader()
    with call.context.sessions.of(caller, call.meta, "context", call.arguments) as session:
        if isinstance(session, Bound):
            context = reader.context(session.log)
        else:
            context = ContextMap(doubt=session.why)
    facts = {"status": "ok", "bound": isinstance(session, Bound), **context.to_wire()}
    lost = next((file for file in context.lost if file.state != "gone"), None)
    if lost is not None:
        facts["continue"] = continued("read", path=lost.path)
    return Result(context.to_text(caller.cwd or ""), facts)


CONTEXT = Tool(
    name="context",
    title="What you hold of which files",
    description=(
        "The context map: which files and lines your context provably holds, what they cost, and "
        "which of them changed on disk since. After a compaction it is the recovery list: what "
        "was taken away, with the calls that bring it back."
    ),
    input=inputs(),
    output=schema_of(ContextReport, bound=boolean("whether this conversation is known")),
    run=run,
)
