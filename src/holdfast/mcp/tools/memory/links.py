"""Links from documents to code: judged when they are read, given a digest when they are written."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from holdfast.errors import UsageError
from holdfast.files.boundary import OutsideWorkspace
from holdfast.mcp.tool import ToolCall, call_text

LINK = (
    'A value may link to code anywhere in it: {"code": {"path": "src/a.py", "symbol": "f"}}; the '
    "digest of the code is added, and whoever reads it is told when the code has changed."
)


def links_of(value: Any) -> list[Any]:
    from holdfast.links import links_in

    return list(links_in(value))


def _root(call: ToolCall, root: str | None) -> str | None:
    return root or call.caller.cwd


def _read(call: ToolCall) -> Callable[[str], bytes | None]:
    """Reads a file in the workspace of the caller: links may name any root."""
    from holdfast.links import SOURCE_BYTES_MAX

    return lambda path: call.workspace.read(path, SOURCE_BYTES_MAX + 1)


def judged(call: ToolCall, at: tuple[str, ...], link: Any) -> dict[str, Any]:
    from holdfast.links import judge, reader_below

    root = _root(call, link.root)
    wire: dict[str, Any] = {"at": "/" + "/".join(at), **link.to_wire()["code"]}
    if root is None:
        return {**wire, "state": "unverified", "why": "the link names no root"}
    try:
        judged = judge(link, reader_below(root, _read(call)))
    except OutsideWorkspace as error:
        return {**wire, "state": "unverified", "why": str(error)}
    wire.update(state=judged.state, why=judged.why)
    if judged.lines is not None:
        wire["lines"] = list(judged.lines)
    return wire


def link_line(link: dict[str, Any]) -> str:
    what = f"{link['path']} {link.get('symbol') or ''}".strip()
    shown = ""
    if "lines" in link:
        first, last = link["lines"]
        path = os.path.join(link["root"], link["path"]) if "root" in link else link["path"]
        args = {"path": path, "offset": first, "limit": last - first + 1}
        shown = f"; as it is now: {call_text('read', args)}"
    return f"[link {link['state']}: {what}, {link['why']}{shown}]"


def digested(call: ToolCall, value: Any) -> Any:
    """The value with the digest of the code that each link speaks of, where it has none."""
    from holdfast.links import LINK_FORMAT, link_to, links_in, reader_below

    if isinstance(value, list):
        return [digested(call, one) for one in value]
    if not isinstance(value, dict):
        return value
    found = next(iter(links_in(value)), None)
    if found is None or found[0]:
        return {name: digested(call, member) for name, member in value.items()}
    link = found[1]
    root = _root(call, link.root)
    if link.sha256 is not None or root is None or link.format > LINK_FORMAT:
        return value
    path = os.path.relpath(link.path, root) if os.path.isabs(link.path) else link.path
    source = reader_below(root, _read(call))(path, None)
    if source is None:
        raise UsageError(f"there is no {link.path} below {root} to link to", "name root and path")
    try:
        return link_to(path, source, link.symbol, root).to_wire()
    except KeyError:
        raise UsageError(f"{link.path} has no one symbol {link.symbol}") from None
