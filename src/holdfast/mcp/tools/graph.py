"""call_graph: what a symbol calls, and what calls it."""

from __future__ import annotations

import os
from typing import Any

from holdfast.mcp.tool import (
    Result,
    Tool,
    ToolCall,
    array,
    boolean,
    call_text,
    choice,
    failure,
    inputs,
    integer,
    string,
)
from holdfast.mcp.tools.common import (
    SPAN,
    answer_schema,
    below,
    continued,
    meant,
    refused,
    tree_of,
)
from holdfast.mcp.tools.outline import like_it


def run(call: ToolCall) -> Result:
    from holdfast.index.tools.calls import call_graph, leading_out

    a = call.arguments
    reference = dict(a["symbolRef"])
    file = reference.get("file", "")
    if "path" not in a and file:
        file = reference["file"] = meant(call, file)
    path = call.caller.path(a["path"]) if "path" in a else os.path.dirname(file) or "/"
    if not (reference.get("symbolId") or reference.get("symbolLabel")):
        named = failure("the symbol is not named", "pass symbolId or symbolLabel beside file")
        return named.ended("its symbols", "file_outline", file=file, path=a.get("path"))
    found: Any = call_graph(
        call.context.index,
        path,
        reference,  # type: ignore[arg-type]  # checked against the schema
        direction=a["direction"],
        depth=a["depth"],
        limit=a["limit"],
    )
    facts: dict[str, Any] = dict(found)
    if facts["status"] != "ok":
        if not facts["nodes"]:
            return _refused(facts, os.path.join(path, file))
        lines = [str(facts.get("message", facts["status"]))]
        lines += [
            f"  {node['symbolId']}  {node['symbolLabel']}  "
            f"{node['file']}:{node['span']['startLine']}"
            for node in facts["nodes"]
        ]
        one = {"file": file, "symbolId": facts["nodes"][0]["symbolId"]}
        result = Result("\n".join(lines), facts)
        return result.ended("by id", "call_graph", symbolRef=one, path=a.get("path"))
    names = {node["symbolId"]: node["symbolLabel"] for node in facts["nodes"]}
    said = below(call, tree_of(call, path))
    lines = [*said, *([_line(edge, names) for edge in facts["edges"]] or ["No calls found."])]
    if facts.get("totalNoteCount"):
        lines.append(f"[{leading_out(facts['totalNoteCount'])}]")
    if "CALL_GRAPH_EDGES_TRUNCATED" in facts.get("warnings", []):
        more = {**a, "path": path, "symbolRef": reference, "limit": a["limit"] * 2}
        facts["continue"] = continued("call_graph", **more)
        lines.append(
            f"[{len(facts['edges'])} calls shown; for more: {call_text('call_graph', more)}]"
        )
    return Result("\n".join(lines), facts)


def _refused(facts: dict[str, Any], file: str) -> Result:
    result = refused(facts)
    if "continue" in result.facts:
        return result
    if os.path.isfile(file):
        return result.ended("its symbols", "file_outline", file=file)
    return like_it(result, file, "file_outline", "file")


def _line(edge: dict[str, Any], names: dict[str, str]) -> str:
    site = edge["site"]
    return (
        f"{names[edge['srcSymbolId']]} -> {names[edge['dstSymbolId']]}  "
        f"{site['file']}:{site['startLine']}  {edge['confidence']:.2f} {edge['reason']}"
    )


_NODE = {
    "type": "object",
    "properties": {
        "symbolId": {"type": "string"},
        "symbolLabel": {"type": "string"},
        "kind": {"type": "string"},
        "file": {"type": "string"},
        "span": SPAN,
    },
    "required": ["symbolId", "symbolLabel", "file", "span"],
}
_EDGE = {
    "type": "object",
    "properties": {
        "srcSymbolId": {"type": "string"},
        "dstSymbolId": {"type": "string"},
        "kind": {"type": "string"},
        "site": {"type": "object"},
        "confidence": {"type": "number"},
        "reason": {"type": "string"},
    },
    "required": ["srcSymbolId", "dstSymbolId", "site", "confidence"],
}

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
            ("callers", "callees", "both"), "who calls it, what it calls", default="both"
        ),
        depth=integer("how many calls away", minimum=1, maximum=3, default=1),
        limit=integer("at most so many calls", minimum=1, default=20),
    ),
    output=answer_schema(
        supported=boolean("whether the symbol could be followed"),
        reason=string(),
        path=string(),
        symbolRef={"type": "object"},
        direction=string(),
        depth={"type": "integer"},
        limit={"type": "integer"},
        nodes=array(_NODE),
        edges=array(_EDGE),
        notes=array({"type": "object"}, "calls that lead nowhere that is known"),
        warnings=array({"type": "string"}),
        hints={"type": "object"},
        totalNoteCount={"type": "integer"},
    ),
    run=run,
)
