"""file_outline: the symbols of one file, or one of them exactly."""

from __future__ import annotations

import os

from msgspec.structs import replace

from holdfast.index.answers import Outline, OutlineAnswer
from holdfast.index.tools.render import outline_text
from holdfast.mcp.tool import Result, Tool, ToolCall, call_text, choice, inputs, integer, string
from holdfast.mcp.tools.common import (
    AGENT,
    continued,
    file_inside,
    listed_inside,
    refused,
    schema_of,
    usable,
)


def run(call: ToolCall) -> Result:
    from holdfast.index.tools.outline import file_outline

    a = call.arguments
    # Without a tree the file itself says where it is; with one it may be named from there.
    file = a["file"] if "path" in a else file_inside(call, a["file"])
    path = call.tree(a["path"]) if "path" in a else os.path.dirname(file)
    call.workspace.admit(os.path.join(path, file))
    exact = "symbolIdExact" in a or "symbolLabelExact" in a
    found = file_outline(
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
    whole = os.path.join(path, file)
    if found.outline is None:
        return _refused(call, found, whole, exact)
    symbols = tuple(usable(call, s, found.path) for s in found.outline.symbols[a["skip"] :])
    found = replace(found, outline=Outline(symbols))
    more = {**a, "file": whole, "skip": a["skip"] + a["limitSymbols"]}
    text = outline_text(found, AGENT, more=f"continue: {call_text('file_outline', more)}")
    result = Result(text, found.to_wire())
    if found.has_more:
        result.facts["continue"] = continued("file_outline", **more)
    if found.status != "ambiguous":
        return result
    one = {"file": file, "path": a.get("path"), "symbolIdExact": symbols[0].symbol_id}
    return result.ended("several symbols have that name; by id", "file_outline", **one)


def _refused(call: ToolCall, found: OutlineAnswer, file: str, exact: bool) -> Result:
    result = refused(found, outline_text(found, AGENT))
    if "continue" in result.facts or found.status != "not_found":
        return result
    if os.path.isfile(file) and exact:
        return result.ended("its symbols", "file_outline", file=file)
    return similar_file(call, result, file)


def similar_file(call: ToolCall, result: Result, file: str) -> Result:
    """A file that does not exist: the outline of one with a similar name, or a search for it."""
    from holdfast.reading.errors import Unreadable
    from holdfast.reading.suggest import suggestion

    kind = "EISDIR" if os.path.isdir(file) else "ENOENT"
    found = suggestion(Unreadable(kind, "", "", file), file, listed_inside(call))
    if found is not None:
        return result.ended(found.why, "file_outline", file=found.path)
    stem = os.path.splitext(os.path.basename(file))[0] or "*"
    return result.ended("find it by name", "search_code", query=stem, path=result.facts["path"])


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
        limitSymbols=integer("maximum number of symbols", minimum=1, default=500),
        skip=integer("skip this many at the start", minimum=0, default=0),
        resolveMode=choice(("outline", "exact"), "all symbols, or exactly one"),
        symbolIdExact=string("the symbol with this id"),
        symbolLabelExact=string("the symbol of this name or qualified name"),
    ),
    output=schema_of(OutlineAnswer),
    run=run,
)
