"""call_graph: what a symbol calls, and what calls it."""

from __future__ import annotations

import os

from holdfast.index.answers import CallGraphAnswer, SymbolRef
from holdfast.index.tools.render import calls_text
from holdfast.mcp.tool import (
    Result,
    Tool,
    ToolCall,
    call_text,
    choice,
    failure,
    inputs,
    integer,
    string,
)
from holdfast.mcp.tools.common import (
    AGENT,
    below,
    continued,
    file_inside,
    refused,
    schema_of,
    tree_of,
)
from holdfast.mcp.tools.outline import similar_file


def run(call: ToolCall) -> Result:
    from holdfast.index.tools.calls import EDGES_TRUNCATED, call_graph

    a = call.arguments
    given = a["symbolRef"]
    file, id, label = given.get("file", ""), given.get("symbolId"), given.get("symbolLabel")
    if not (id or label):
        named = failure("the symbol is not named", "pass symbolId or symbolLabel beside file")
        return named.ended("its symbols", "file_outline", file=file, path=a.get("path"))
    if "path" not in a and file:
        file = file_inside(call, file)
    path = call.tree(a["path"]) if "path" in a else os.path.dirname(file) or "/"
    call.workspace.admit(os.path.join(path, file))
    reference = SymbolRef(file, id, label)
    found = call_graph(
        call.context.index,
        path,
        reference,
        direction=a["direction"],
        depth=a["depth"],
        limit=a["limit"],
    )
    more = {**a, "path": path, "symbolRef": reference.to_wire(), "limit": a["limit"] * 2}
    text = calls_text(found, AGENT, more=call_text("call_graph", more))
    if found.nodes and found.status != "ok":
        one = {"file": file, "symbolId": found.nodes[0].symbol_id}
        result = Result(text, found.to_wire())
        return result.ended("by id", "call_graph", symbolRef=one, path=a.get("path"))
    if found.status != "ok":
        return _refused(call, found, os.path.join(path, file))
    facts = found.to_wire()
    if EDGES_TRUNCATED in found.warnings:
        facts["continue"] = continued("call_graph", **more)
    return Result("\n".join([*below(call, tree_of(call, path)), text]), facts)


def _refused(call: ToolCall, found: CallGraphAnswer, file: str) -> Result:
    result = refused(found)
    if "continue" in result.facts:
        return result
    if os.path.isfile(file):
        return result.ended("its symbols", "file_outline", file=file)
    return similar_file(call, result, file)


CALL_GRAPH = Tool(
    name="call_graph",
    title="Callers and callees",
    description=(
        "What a symbol of an indexed tree calls and what calls it, up to three calls away, each "
        "with its place and how sure it is. Callers found are leads to verify: a call through a "
        "value of unknown type is not seen."
    ),
    input=inputs(
        "symbolRef",
        symbolRef={
            "type": "object",
            "description": "the symbol, as search_code and file_outline give it in callGraphHint",
            "properties": {
                "file": string("the file it is in"),
                "symbolId": string("its id"),
                "symbolLabel": string("or its name or qualified name"),
            },
            "required": ["file"],
            "additionalProperties": False,
        },
        path=string("its tree, if not the tracked tree the file is in"),
        direction=choice(
            ("callers", "callees", "both"), "its callers, what it calls, or both", default="both"
        ),
        depth=integer("how many calls away", minimum=1, maximum=3, default=1),
        limit=integer("maximum number of calls", minimum=1, default=20),
    ),
    output=schema_of(CallGraphAnswer),
    run=run,
)
