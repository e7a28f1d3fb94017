"""Links from documents to code: checked when read, and given a digest when written."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from holdfast.mcp.tool import ToolCall, call_text
from holdfast.mcp.tools.memory.answers import LinkAnswer

if TYPE_CHECKING:
    from holdfast.links import CodeLink
    from holdfast.notes.code import LinkedCode

LINK = (
    'A value may link to code anywhere in it: {"code": {"path": "src/a.py", "symbol": "f"}}; '
    "readers are told when that code has changed."
)


def linked_code(call: ToolCall) -> LinkedCode:
    """The code that links may refer to, in the workspace of the caller."""
    from holdfast.notes.code import LinkedCode

    return LinkedCode(call.caller.cwd, lambda: call.workspace)


def links_of(call: ToolCall, document: Any) -> tuple[LinkAnswer, ...]:
    """Every link to code in a document, and whether the code has changed."""
    from holdfast.links import links_in

    code = linked_code(call)
    return tuple(_judged(code, at, link) for at, link in links_in(document))


def _judged(code: LinkedCode, at: tuple[str, ...], link: CodeLink) -> LinkAnswer:
    state = code.judge(link)
    return LinkAnswer(
        at="/" + "/".join(at),
        **link.to_wire()["code"],
        state=state.state,
        why=state.why,
        lines=state.lines,
    )


def link_line(link: LinkAnswer) -> str:
    what = f"{link.path} {link.symbol or ''}".strip()
    hint = ""
    if link.lines is not None:
        first, last = link.lines
        path = os.path.join(link.root, link.path) if link.root is not None else link.path
        args = {"path": path, "offset": first, "limit": last - first + 1}
        hint = f"; as it is now: {call_text('read', args)}"
    return f"[link {link.state}: {what}, {link.why}{hint}]"
