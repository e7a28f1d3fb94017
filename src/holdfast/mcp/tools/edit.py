"""edit_symbol: rename, replace or insert symbols, first as a preview."""

from __future__ import annotations

from holdfast.index.references.answers import SymbolEditAnswer
from holdfast.index.tools.render_edits import edit_text
from holdfast.mcp.tool import Result, Tool, ToolCall, array, call_text, choice, inputs, string
from holdfast.mcp.tools.common import AGENT, below, continued, refused, schema_of, tree_of
from holdfast.mcp.tools.symbol_call import SYMBOL, named_place


def run(call: ToolCall) -> Result:
    from holdfast.files.journaled_edits import edits_of
    from holdfast.index.tools.symbol_edits import edit_symbol
    from holdfast.index.tools.text_edits import Edit

    a = call.arguments
    path, file = named_place(call)
    edit = Edit(
        a["action"],
        a["symbol"],
        a["text"],
        file,
        frozenset(a.get("confirm", ())),
        frozenset(a.get("leave", ())),
        a.get("token", ""),
    )
    answer = edit_symbol(call.context.index, path, edit, edits_of(call.context.app.home))
    if answer.status not in ("ok", "blocked"):
        return refused(answer)
    again = {**a, "path": path, "token": answer.token}
    text = edit_text(answer, AGENT, apply=call_text("edit_symbol", again), settle=_SETTLE)
    facts = answer.to_wire()
    if not answer.applied and not answer.doubts:
        facts["continue"] = continued("edit_symbol", **again)
    return Result("\n".join([*below(call, tree_of(call, path)), text]), facts)


_SETTLE = 'call again with confirm=["file:line"] or leave=["file:line"]; "*" means all'

EDIT_SYMBOL = Tool(
    name="edit_symbol",
    title="Edit a symbol",
    description=(
        "Rename a symbol everywhere, replace its lines, or insert lines before or after it. The "
        "first call is a preview: a diff over all places, those in doubt, and a token. The same "
        "call with the token applies it if every file is still as in the preview and nothing is "
        "in doubt; otherwise nothing is written."
    ),
    input=inputs(
        "action",
        "symbol",
        "text",
        action=choice(("rename", "replace", "insert_before", "insert_after")),
        **SYMBOL,
        text=string("the new name, or the lines"),
        confirm=array(string(), "places in doubt to change, as file:line; * for all"),
        leave=array(string(), "places in doubt to leave as they are; * for all"),
        token=string("of the preview, to apply it"),
    ),
    output=schema_of(SymbolEditAnswer),
    read_only=False,
    destructive=True,
    idempotent=False,
    run=run,
)
