"""file_outline: the symbols of one file, or one of them exactly."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from holdfast.errors import UsageError
from holdfast.index.answers import Outline, OutlineAnswer, OutlineSymbol
from holdfast.index.tools.render import outline_text, span_text
from holdfast.mcp.tool import Result, Tool, ToolCall, call_text, choice, inputs, integer, string
from holdfast.mcp.tools.common import (
    AGENT,
    below,
    continued,
    file_inside,
    from_here,
    listed_inside,
    refused,
    schema_of,
    tree_of,
    usable,
)
from holdfast.mcp.tools.near_notes import near_notes

TOKENS_MAX = 1_450
"""A longer outline is shortened: for a file of 2,000 lines it would cost more than it saves."""


def run(call: ToolCall) -> Result:
    from holdfast.index.tools.calls import symbol_ref
    from holdfast.index.tools.outline import file_outline

    a = _current_arguments(call.arguments)
    symbol = a.get("symbol")
    if "file" not in a:
        return _of_name(call, a)
    # Without `path` the file determines the tree; with it, the file may be relative to the tree.
    file = a["file"] if "path" in a else file_inside(call, a["file"])
    path = call.tree(a["path"]) if "path" in a else os.path.dirname(file)
    call.workspace.admit(os.path.join(path, file))
    exact = symbol_ref(file, symbol) if symbol else None
    answer = file_outline(
        call.context.index,
        path,
        file,
        start_line=a.get("start_line"),
        end_line=a.get("end_line"),
        limit_symbols=a["skip"] + a["limit"],
        resolve_mode="outline" if exact is None else "exact",
        symbol_id=None if exact is None else exact.symbol_id,
        symbol_label=None if exact is None else exact.symbol_label,
    )
    whole = os.path.join(path, file)
    if answer.outline is None:
        refusal = _refused(call, answer, whole, exact is not None)
        return refusal if os.path.exists(whole) else dataclasses.replace(refusal, failed=True)
    symbols = tuple(usable(call, s, answer.path) for s in answer.outline.symbols[a["skip"] :])
    answer = replace(answer, outline=Outline(symbols))
    more = {**a, "file": whole, "skip": a["skip"] + a["limit"]}
    text = outline_text(
        answer,
        AGENT,
        more=f"continue: {call_text('file_outline', more)}",
        tokens_max=None if "start_line" in a or "end_line" in a else TOKENS_MAX,
        deeper=_deeper(symbols, whole),
    )
    lines = None
    if "start_line" in a or "end_line" in a or exact is not None:
        lines = [(one.span.start_line, one.span.end_line) for one in symbols]
    about = near_notes(call, {whole: lines})
    result = Result(f"{about}\n{text}" if about else text, answer.to_wire())
    if answer.has_more:
        result.facts["continue"] = continued("file_outline", **more)
    if answer.status != "ambiguous":
        return result
    one = {"file": file, "path": a.get("path"), "symbol": symbols[0].symbol_id}
    return result.ended("several symbols have that name; by id", "file_outline", **one)


def _deeper(symbols: Sequence[OutlineSymbol], file: str) -> str:
    """A hint how to get the whole outline of a part, with the longest symbol as the example."""
    longest = max(symbols, key=lambda one: one.span.end_line - one.span.start_line, default=None)
    if longest is None:
        return ""
    span = {"start_line": longest.span.start_line, "end_line": longest.span.end_line}
    return f"a part of it whole: {call_text('file_outline', {'file': file, **span})}"


def _current_arguments(a: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a call, with older names replaced by current ones."""
    symbol = a.get("symbol") or a.pop("symbol_id_exact", None) or a.pop("symbol_label_exact", None)
    if a.pop("resolve_mode", None) == "exact" and not symbol:
        raise UsageError("the symbol is not named", "pass symbol: its name or its id")
    limit = a.pop("limit_symbols", a["limit"])
    return {**a, "limit": limit, **({"symbol": symbol} if symbol else {})}


def _of_name(call: ToolCall, a: dict[str, Any]) -> Result:
    """The places of all symbols of a name, for a call without a file."""
    from holdfast.index.tools.find_symbol import symbols_called

    if "symbol" not in a:
        raise UsageError("file_outline: file is missing", "pass file, or the name of a symbol")
    name, tree = a["symbol"], call.tree(a.get("path", "."))
    symbols = symbols_called(call.context.index, tree, name)
    if symbols.refused is not None:
        return refused(symbols.refused)
    facts: dict[str, Any] = {"status": "ok", "path": tree}
    if not symbols.symbols:
        similar = f"; similar names: {', '.join(symbols.similar)}" if symbols.similar else ""
        facts |= {"status": "not_found", "message": f"no symbol is named {name}{similar}"}
        result = Result(facts["message"], facts)
        return result.ended("find it by words", "search_code", query=name, path=a.get("path"))
    lines = [f"{one.file}:{span_text(one.span)}  {one.symbol_label}" for one in symbols.symbols]
    return Result("\n".join([*below(call, tree_of(call, tree)), *lines]), facts)


def _refused(call: ToolCall, outline: OutlineAnswer, file: str, exact: bool) -> Result:
    result = refused(outline, outline_text(outline, AGENT))
    if "continue" in result.facts or outline.status != "not_found":
        return result
    if os.path.isfile(file) and exact:
        return result.ended("its symbols", "file_outline", file=file)
    return similar_file(call, result, file)


def similar_file(call: ToolCall, result: Result, file: str) -> Result:
    """The result for a missing file: suggests a file with a similar name, or a search for it."""
    from holdfast.reading.errors import Unreadable
    from holdfast.reading.suggest import suggestion

    kind = "EISDIR" if os.path.isdir(file) else "ENOENT"
    similar = suggestion(Unreadable(kind, "", "", file), file, listed_inside(call))
    if similar is not None:
        return result.ended(similar.why, "file_outline", file=similar.path)
    stem = os.path.splitext(os.path.basename(file))[0] or "*"
    tree = from_here(call, result.facts["path"])
    return result.ended("find it by name", "search_code", query=stem, path=tree)


FILE_OUTLINE = Tool(
    name="file_outline",
    title="Symbols of a file",
    description=(
        "The symbols of a file of an indexed tree, with their lines and signatures, as the file "
        "is now; or one symbol exactly. Cheaper than reading the file to find your way in it."
    ),
    input=inputs(
        file=string(
            "the file, absolute or from the working directory; from path if that is given",
            minLength=1,
        ),
        symbol=string(
            "only this symbol, by name or id; without a file, where symbols of that name are"
        ),
        path=string("its tree, if not the tracked tree the file is in"),
        start_line=integer("only symbols from this line on", minimum=1),
        end_line=integer("only symbols up to this line", minimum=1),
        limit=integer("maximum number of symbols", minimum=1, default=500),
        skip=integer("skip this many at the start", minimum=0, default=0),
    ),
    unlisted={
        "limit_symbols": integer(minimum=1),
        "resolve_mode": choice(("outline", "exact")),
        "symbol_id_exact": string(),
        "symbol_label_exact": string(),
    },
    output=schema_of(OutlineAnswer),
    run=run,
)
