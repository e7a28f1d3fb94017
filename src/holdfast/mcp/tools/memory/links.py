"""Links from documents to code: checked when read, and given a digest when written."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from holdfast.errors import UsageError
from holdfast.files.boundary import OutsideWorkspace
from holdfast.mcp.tool import ToolCall, call_text
from holdfast.mcp.tools.memory.answers import LinkAnswer

if TYPE_CHECKING:
    from holdfast.links import CodeLink

LINK = (
    'A value may link to code anywhere in it: {"code": {"path": "src/a.py", "symbol": "f"}}; the '
    "digest of the code is added, and a reader is told when the code has changed."
)


def _root(call: ToolCall, root: str | None) -> str | None:
    return root or call.caller.cwd


def _read(call: ToolCall) -> Callable[[str], bytes | None]:
    """Reads a file in the workspace of the caller: links may name any root."""
    from holdfast.links import SOURCE_BYTES_MAX

    return lambda path: call.workspace.read(path, SOURCE_BYTES_MAX + 1)


def links_of(call: ToolCall, document: Any) -> tuple[LinkAnswer, ...]:
    """Every link to code in a document, and whether the code has changed."""
    from holdfast.links import links_in

    return tuple(_judged(call, at, link) for at, link in links_in(document))


def _judged(call: ToolCall, at: tuple[str, ...], link: CodeLink) -> LinkAnswer:
    from holdfast.links import Judged, judge, reader_below

    root = _root(call, link.root)
    if root is None:
        found = Judged(link, "unverified", "the link does not name its root")
    else:
        try:
            found = judge(link, reader_below(root, _read(call)))
        except OutsideWorkspace as error:
            found = Judged(link, "unverified", str(error))
    return LinkAnswer(
        at="/" + "/".join(at),
        **link.to_wire()["code"],
        state=found.state,
        why=found.why,
        lines=found.lines,
    )


def link_line(link: LinkAnswer) -> str:
    what = f"{link.path} {link.symbol or ''}".strip()
    shown = ""
    if link.lines is not None:
        first, last = link.lines
        path = os.path.join(link.root, link.path) if link.root is not None else link.path
        args = {"path": path, "offset": first, "limit": last - first + 1}
        shown = f"; as it is now: {call_text('read', args)}"
    return f"[link {link.state}: {what}, {link.why}{shown}]"


def digested(call: ToolCall, value: Any) -> Any:
    """The value, with the digest of its code in each link that has none."""
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
        raise UsageError(f"{link.path} does not have exactly one symbol {link.symbol}") from None
