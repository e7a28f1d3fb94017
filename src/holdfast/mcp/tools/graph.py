"""call_graph: what a symbol calls, and what calls it."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from holdfast.index.answers import CallGraphAnswer
from holdfast.index.tools.render_calls import calls_text
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
    from_here,
    refused,
    schema_of,
    tree_of,
)
from holdfast.mcp.tools.outline import similar_file
from holdfast.mcp.tools.symbol_call import split_symbol


def run(call: ToolCall) -> Result:
    from holdfast.index.tools.calls import call_graph, symbol_ref
    from holdfast.index.tools.named_calls import calls_of_name

    split_symbol(call)
    a = call.arguments
    file, symbol = _file_and_symbol(a)
    if not symbol:
        missing = failure("the symbol is not named", "pass symbol: its name, qualified name or id")
        return missing.ended("its symbols", "file_outline", file=file) if file else missing
    options = {name: a[name] for name in ("direction", "depth", "limit")}
    if not file:
        path = call.tree(a.get("path", "."))
        answer = calls_of_name(call.context.index, path, symbol, **options)
        return _answer(call, answer, path, {**a, "symbol": symbol})
    if "path" not in a:
        file = file_inside(call, file)
    path = call.tree(a["path"]) if "path" in a else os.path.dirname(file) or "/"
    call.workspace.admit(os.path.join(path, file))
    answer = call_graph(call.context.index, path, symbol_ref(file, symbol), **options)
    if answer.status == "not_found" and not os.path.isfile(os.path.join(path, file)):
        return _refused(call, answer, os.path.join(path, file))
    return _answer(call, answer, path, {**a, "file": file, "symbol": symbol})


def _file_and_symbol(a: dict[str, Any]) -> tuple[str, str]:
    """The file and the symbol of a call, in the current or the older argument form."""
    old = a.pop("symbol_ref", {})
    file = a.get("file") or old.get("file", "")
    return file, a.get("symbol") or old.get("symbolId") or old.get("symbolLabel") or ""


def _answer(call: ToolCall, graph: CallGraphAnswer, path: str, a: dict[str, Any]) -> Result:
    from holdfast.index.tools.calls import EDGES_TRUNCATED

    more = {**a, "path": path, "limit": a["limit"] * 2}
    text = calls_text(graph, AGENT, more=call_text("call_graph", more))
    if graph.nodes and graph.status != "ok":
        one = {"symbol": graph.nodes[0].symbol_id, "file": graph.nodes[0].file, "path": path}
        return Result(text, graph.to_wire()).ended("by id", "call_graph", **one)
    if graph.status != "ok":
        return _refused(call, graph, os.path.join(path, a.get("file", "")))
    facts = graph.to_wire()
    if EDGES_TRUNCATED in graph.warnings:
        facts["continue"] = continued("call_graph", **more)
    return Result("\n".join([*below(call, tree_of(call, path)), text]), facts)


def _refused(call: ToolCall, graph: CallGraphAnswer, file: str) -> Result:
    result = refused(graph)
    if "continue" in result.facts:
        return result
    if os.path.isfile(file):
        return result.ended("its symbols", "file_outline", file=file)
    if not graph.symbol_ref.file:
        name = graph.symbol_ref.symbol_label or ""
        tree = from_here(call, graph.path)
        return result.ended("find it by words", "search_code", query=name, path=tree)
    return similar_file(call, replace(result, failed=not os.path.exists(file)), file)


CALL_GRAPH = Tool(
    name="call_graph",
    title="Callers and callees",
    description=(
        "What a symbol of an indexed tree calls and what calls it, up to three calls away, each "
        "with its place and how sure it is. A call through a value of unknown type is not seen."
    ),
    input=inputs(
        symbol=string("its name, qualified name or id"),
        file=string("the file it is in; without it, every symbol of that name is answered"),
        path=string("the tree, if not the one of the file or of the working directory"),
        direction=choice(("callers", "callees", "both"), default="both"),
        depth=integer("how many calls away", minimum=1, maximum=3, default=1),
        limit=integer("maximum number of calls", minimum=1, default=20),
    ),
    unlisted={
        "symbol_ref": {
            "type": "object",
            "properties": {"file": string(), "symbolId": string(), "symbolLabel": string()},
            "required": ["file"],
            "additionalProperties": False,
        }
    },
    output=schema_of(CallGraphAnswer),
    run=run,
)
