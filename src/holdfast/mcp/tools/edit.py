"""edit_symbol: rename, replace or insert symbols, first as a preview."""

from __future__ import annotations

import os

from holdfast.index.references.answers import SymbolEditAnswer
from holdfast.index.tools.render_edits import edit_text
from holdfast.mcp.tool import Result, Tool, ToolCall, array, call_text, choice, inputs, string
from holdfast.mcp.tools.common import AGENT, below, continued, file_inside, refused, schema_of
from holdfast.mcp.tools.common import tree_of as tree


def run(call: ToolCall) -> Result:
    from holdfast.files.replacing import replace_files
    from holdfast.index.tools.symbol_edits import Edit, edit_symbol

    a = call.arguments
    file = a.get("file", "")
    if file and "path" not in a:
        file = file_inside(call, file)
    path = call.tree(a["path"] if "path" in a else os.path.dirname(file) or ".")
    if file:
        call.workspace.admit(os.path.join(path, file))
    edit = Edit(
        a["action"],
        a["symbol"],
        a["text"],
        file,
        frozenset(a.get("confirm", ())),
        frozenset(a.get("leave", ())),
        a.get("token", ""),
    )
    found = edit_symbol(call.context.index, path, edit, replace_files)
    if found.status not in ("ok", "blocked"):
        return refused(found)
    again = {**a, "path": path, "token": found.token}
    text = edit_text(found, AGENT, apply=call_text("edit_symbol", again))
    facts = found.to_wire()
    if not found.applied and not found.doubts:
        facts["continue"] = continued("edit_symbol", **again)
    return Result("\n".join([*below(call, tree(call, path)), text]), facts)


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
        symbol=string("its name, qualified name or id"),
        text=string("the new name, or the lines"),
        file=string("the file it is in"),
        path=string("the tree"),
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
