"""What tools about one symbol share: its arguments, and the result if it was not found."""

from __future__ import annotations

import os

from holdfast.files.boundary import OutsideWorkspace
from holdfast.index.references.answers import ExploreAnswer, ReferencesAnswer
from holdfast.index.tools.symbol_place import file_and_symbol
from holdfast.mcp.tool import Result, ToolCall, string
from holdfast.mcp.tools.common import file_inside, from_here, refused

SYMBOL = {
    "symbol": string("its name, qualified name or id; or file:name"),
    "file": string("the file it is in"),
    "path": string("the tree"),
}
"""The arguments that name a symbol."""


def split_symbol(call: ToolCall) -> None:
    """Split an argument that names file and symbol, such as `src/cart.py:Cart.total`."""
    a = call.arguments
    if a.get("file") or ":" not in a.get("symbol", ""):
        return

    def is_file(name: str) -> bool:
        try:
            whole = os.path.join(call.tree(a["path"]), name) if "path" in a else name
            return os.path.isfile(file_inside(call, whole))
        except OutsideWorkspace:
            return False

    file, symbol = file_and_symbol(a["symbol"], is_file)
    if file:
        a.update(file=file, symbol=symbol)


def named_place(call: ToolCall) -> tuple[str, str]:
    """The tree and the file that were named, both admitted to the workspace."""
    split_symbol(call)
    a = call.arguments
    file = a.get("file", "")
    if file and "path" not in a:
        file = file_inside(call, file)
    path = call.tree(a["path"] if "path" in a else os.path.dirname(file) or ".")
    if file:
        call.workspace.admit(os.path.join(path, file))
    return path, file


def not_answered(call: ToolCall, answer: ReferencesAnswer | ExploreAnswer) -> Result:
    """The refusal, with the call that may help."""
    result = refused(answer)
    if "continue" in result.facts:
        return result
    symbol = call.arguments["symbol"]
    tree = from_here(call, answer.path)
    return result.ended("find it by words", "search_code", query=symbol, path=tree)
