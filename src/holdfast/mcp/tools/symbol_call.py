"""What tools about one symbol share: how it is named, and how a call that found none ends."""

from __future__ import annotations

import os

from holdfast.index.references.answers import ExploreAnswer, ReferencesAnswer
from holdfast.mcp.tool import Result, ToolCall, string
from holdfast.mcp.tools.common import file_inside, refused

SYMBOL = {
    "symbol": string("its name, qualified name or id"),
    "file": string("the file it is in"),
    "path": string("the tree"),
}
"""The arguments that name a symbol."""


def named_place(call: ToolCall) -> tuple[str, str]:
    """The tree and the file that were named, both admitted to the workspace."""
    a = call.arguments
    file = a.get("file", "")
    if file and "path" not in a:
        file = file_inside(call, file)
    path = call.tree(a["path"] if "path" in a else os.path.dirname(file) or ".")
    if file:
        call.workspace.admit(os.path.join(path, file))
    return path, file


def not_answered(call: ToolCall, found: ReferencesAnswer | ExploreAnswer) -> Result:
    """The refusal, with the call that may help."""
    result = refused(found)
    if "continue" in result.facts:
        return result
    symbol = call.arguments["symbol"]
    return result.ended("find it by words", "search_code", query=symbol, path=found.path)
