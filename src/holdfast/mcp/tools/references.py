"""references: who mentions a symbol, who implements it, where it is declared."""

from __future__ import annotations

import os

from holdfast.index.references.answers import ReferencesAnswer
from holdfast.index.tools.render_references import references_text
from holdfast.mcp.tool import Result, Tool, ToolCall, call_text, choice, inputs, integer, string
from holdfast.mcp.tools.common import (
    AGENT,
    below,
    continued,
    file_inside,
    refused,
    schema_of,
    tree_of,
)


def run(call: ToolCall) -> Result:
    from holdfast.index.tools.references import references

    a = call.arguments
    file = a.get("file", "")
    if file and "path" not in a:
        file = file_inside(call, file)
    path = call.tree(a["path"] if "path" in a else os.path.dirname(file) or ".")
    if file:
        call.workspace.admit(os.path.join(path, file))
    found = references(
        call.context.index, path, a["symbol"], file=file, relation=a["find"], limit=a["limit"]
    )
    if found.status != "ok":
        result = refused(found)
        if "continue" in result.facts:
            return result
        return result.ended("find it by words", "search_code", query=a["symbol"], path=found.path)
    more = {**a, "path": path, "limit": found.total}
    facts = found.to_wire()
    if found.warnings:
        facts["continue"] = continued("references", **more)
    text = references_text(found, AGENT, more=call_text("references", more))
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
        symbol=string("its name, qualified name or id"),
        file=string("the file it is in"),
        path=string("the tree"),
        find=choice(("references", "implementations", "declaration"), default="references"),
        limit=integer(minimum=1, default=60),
    ),
    output=schema_of(ReferencesAnswer),
    run=run,
)
