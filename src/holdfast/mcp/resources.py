"""MCP resources: codebases and memory by URI, for clients that attach instead of calling tools.

holdfast://codebase/<absolute path>      its state, as manage_index(action="status") returns it
holdfast://space/<name>                  the documents of a space's default branch
holdfast://space/<name>/<id>             one document
"""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote, unquote

from holdfast.app import DEFAULT_SPACE
from holdfast.errors import UsageError
from holdfast.mcp.host_context import HostContext
from holdfast.mcp.tool import ToolCall

CODEBASE, SPACE = "holdfast://codebase/", "holdfast://space/"

TEMPLATES: tuple[dict[str, Any], ...] = (
    {
        "name": "codebase",
        "title": "A tracked tree",
        "uri_template": CODEBASE + "{+path}",
        "description": "the state of a tree's index; path is absolute",
        "mime_type": "application/json",
    },
    {
        "name": "space",
        "title": "A space of memory",
        "uri_template": SPACE + "{space}",
        "description": "every document of the space's default branch",
        "mime_type": "application/json",
    },
    {
        "name": "document",
        "title": "A document",
        "uri_template": SPACE + "{space}/{+id}",
        "description": "one document of a space",
        "mime_type": "application/json",
    },
)


def listed(context: HostContext) -> list[dict[str, Any]]:
    """Every tracked tree and every space."""
    from holdfast.index.tools.codebases import list_codebases

    resources = [
        {
            "uri": CODEBASE + quote(one.path.lstrip("/")),
            "name": one.path,
            "description": ": ".join(part for part in (one.section, one.detail) if part),
            "mime_type": "application/json",
        }
        for one in list_codebases(context.index).codebases
    ]
    return resources + [
        {
            "uri": SPACE + quote(name, safe=""),
            "name": name,
            "description": "a space of memory",
            "mime_type": "application/json",
        }
        for name in spaces(context)
    ]


def spaces(context: HostContext) -> list[str]:
    """The spaces of this home by name; with a database, only the default space is listed."""
    if context.app.database_url is not None:
        return [DEFAULT_SPACE]
    from holdfast.store import roots

    return sorted({*roots.spaces(context.app.store_url), DEFAULT_SPACE})


def read(call: ToolCall, uri: str) -> str:
    """The resource at a URI, as JSON."""
    context = call.context
    if uri.startswith(CODEBASE):
        from holdfast.index.tools.manage import manage_index

        path = "/" + unquote(uri.removeprefix(CODEBASE)).lstrip("/")
        if path not in context.index.registry.records():
            path = call.tree(path)
        return _json(manage_index(context.index, "status", path).to_wire())
    if uri.startswith(SPACE):
        name, _, id = uri.removeprefix(SPACE).partition("/")
        name, id = unquote(name), unquote(id)
        if name not in spaces(context):
            raise UsageError(f"there is no space {name}", "resources/list names the spaces")
        with context.space(name) as store:
            if not id:
                return _json([state.to_wire() for state in store.documents()])
            state = store.state(id)
            if state is None or state.document is None:
                raise UsageError(f"there is no {id} in {name}", "memory_query finds documents")
            return _json(state.to_wire())
    raise UsageError(f"there is no resource {uri}", "resources/list names the resources")


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)
