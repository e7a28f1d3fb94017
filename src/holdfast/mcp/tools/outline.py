"""file_outline: the symbols of one file, or one of them exactly."""

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
    inputs,
    integer,
    maybe,
    string,
)
from holdfast.mcp.tools.common import SPAN, answer_schema, continued, meant, refused, usable


def run(call: ToolCall) -> Result:
    from holdfast.index.tools.outline import file_outline

    a = call.arguments
    # Without a tree the file itself says where it is; with one it may be named from there.
    file = a["file"] if "path" in a else meant(call, a["file"])
    path = call.caller.path(a["path"]) if "path" in a else os.path.dirname(file)
    exact = "symbolIdExact" in a or "symbolLabelExact" in a
    found: Any = file_outline(
        call.context.index,
        path,
        file,
        start_line=a.get("start_line"),
        end_line=a.get("end_line"),
        limit_symbols=a["skip"] + a["limitSymbols"],
        resolve_mode=a.get("resolveMode", "exact" if exact else "outline"),
        symbol_id=a.get("symbolIdExact"),
        symbol_label=a.get("symbolLabelExact"),
    )
    facts: dict[str, Any] = dict(found)
    if facts["outline"] is None:
        return _refused(facts, file, path, exact)
    symbols = [usable(call, one, facts["path"]) for one in facts["outline"]["symbols"][a["skip"] :]]
    facts["outline"] = {**facts["outline"], "symbols": symbols}
    lines = [_line(symbol) for symbol in symbols]
    if not symbols:
        lines.append("No symbols." if not a["skip"] else "No more symbols.")
    lines += [f"[{warning}]" for warning in facts.get("warnings", [])]
    if facts["hasMore"]:
        whole = os.path.join(path, file)
        more = {**a, "file": whole, "skip": a["skip"] + a["limitSymbols"]}
        facts["continue"] = continued("file_outline", **more)
        lines.append(f"[{len(symbols)} symbols shown; continue: {call_text('file_outline', more)}]")
    result = Result("\n".join(lines), facts)
    if facts["status"] != "ambiguous":
        return result
    one = {"file": file, "path": a.get("path"), "symbolIdExact": symbols[0]["symbolId"]}
    return result.ended("several are called that; by id", "file_outline", **one)


def _refused(facts: dict[str, Any], file: str, path: str, exact: bool) -> Result:
    result = refused(facts)
    if "continue" in result.facts or facts["status"] != "not_found":
        return result
    whole = os.path.join(path, file)
    if os.path.isfile(whole) and exact:
        return result.ended("its symbols", "file_outline", file=whole)
    return like_it(result, whole, "file_outline", "file")


def like_it(result: Result, file: str, tool: str, name: str, **args: Any) -> Result:
    """A file that is not there: the same call on one that is like it, or a search for it."""
    from holdfast.reading.errors import Unreadable
    from holdfast.reading.suggest import listed, suggestion

    kind = "EISDIR" if os.path.isdir(file) else "ENOENT"
    found = suggestion(Unreadable(kind, "", "", file), file, listed)
    if found is not None:
        return result.ended(found.why, tool, **{name: found.path}, **args)
    stem = os.path.splitext(os.path.basename(file))[0] or "*"
    return result.ended("find it by name", "search_code", query=stem, path=result.facts["path"])


def _line(symbol: dict[str, Any]) -> str:
    span = symbol["span"]
    depth = symbol["symbolLabel"].count(".")
    shown = (symbol.get("signature") or symbol["name"]).removeprefix(f"{symbol['kind']} ")
    lines = f"{span['startLine']}-{span['endLine']}"
    return f"{lines:>11}  {'  ' * depth}{symbol['kind']} {shown}"


_SYMBOL = {
    "type": "object",
    "properties": {
        "symbolId": {"type": "string"},
        "symbolLabel": {"type": "string"},
        "name": {"type": "string"},
        "kind": {"type": "string"},
        "span": SPAN,
    },
    "required": ["symbolId", "symbolLabel", "kind", "span"],
}

FILE_OUTLINE = Tool(
    name="file_outline",
    title="Symbols of a file",
    description=(
        "The symbols of a file of an indexed tree, with their lines and signatures, as the file "
        "is now; or one symbol exactly. Cheaper than reading the file to find your way in it."
    ),
    input=inputs(
        "file",
        file=string(
            "the file, absolute or from the working directory; from path if that is given",
            minLength=1,
        ),
        path=string("its tree, if not the tracked tree the file is in"),
        start_line=integer("only symbols from this line on", minimum=1),
        end_line=integer("only symbols up to this line", minimum=1),
        limitSymbols=integer("at most so many", minimum=1, default=500),
        skip=integer("leave out so many at the start", minimum=0, default=0),
        resolveMode=choice(("outline", "exact"), "all symbols, or exactly one"),
        symbolIdExact=string("the symbol with this id"),
        symbolLabelExact=string("the symbol of this name or qualified name"),
    ),
    output=answer_schema(
        path=string("the tree"),
        file=string("the file, from the tree"),
        reason=string(),
        codebaseRoot=string(),
        outline=maybe(
            {"type": "object", "properties": {"symbols": array(_SYMBOL)}, "required": ["symbols"]}
        ),
        hasMore=boolean("whether symbols were left out"),
        warnings=array({"type": "string"}),
        hints={"type": "object"},
        indexing={"type": "object"},
    ),
    run=run,
)
