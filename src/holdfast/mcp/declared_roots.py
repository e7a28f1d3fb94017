"""The roots that a client declares: requested when a call needs them, and kept until they change.

Only clients of protocol versions before 2026-07-28 with the roots capability are asked. Later
versions have no such request; there the working directory and the tracked trees are used instead.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import unquote, urlsplit
from weakref import WeakKeyDictionary

import anyio.from_thread
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata

ASK_S = 5.0
"""How long a client may take to answer."""

ROOTS_MAX = 100

log = logging.getLogger("holdfast.mcp")

Context = ServerRequestContext[Any, Any]


class DeclaredRoots:
    """The declared roots of each session of one server."""

    def __init__(self) -> None:
        self._roots: WeakKeyDictionary[object, tuple[str, ...]] = WeakKeyDictionary()

    def of(self, ctx: Context) -> Callable[[], Iterable[str]]:
        """A function for the thread of a call, which asks the client unless its roots are known."""

        def declared() -> tuple[str, ...]:
            capabilities = ctx.session.client_capabilities
            if capabilities is None or capabilities.roots is None:
                return ()
            roots = self._roots.get(_connection(ctx))
            return anyio.from_thread.run(self._ask, ctx) if roots is None else roots

        return declared

    async def changed(self, ctx: Context, params: object) -> None:
        self._roots.pop(_connection(ctx), None)

    async def _ask(self, ctx: Context) -> tuple[str, ...]:
        try:
            answer = await ctx.session.send_request(
                types.ListRootsRequest(),
                types.ListRootsResult,
                ASK_S,
                ServerMessageMetadata(related_request_id=ctx.request_id),
            )
        except (MCPError, ValueError) as error:
            log.info("the client did not say which roots it has: %s", error)
            roots: tuple[str, ...] = ()
        else:
            paths = (directory_of(str(root.uri)) for root in answer.roots[:ROOTS_MAX])
            roots = tuple(path for path in paths if path is not None)
        self._roots[_connection(ctx)] = roots
        return roots


def _connection(ctx: Context) -> object:
    """An object that is the same for all requests of a session."""
    return ctx.session._connection


def directory_of(uri: str) -> str | None:
    """The absolute path that a `file:` URI names; None for anything else."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    path = unquote(parts.path, errors="surrogateescape")
    local = parts.scheme == "file" and parts.netloc in ("", "localhost")
    return path if local and path.startswith("/") and "\0" not in path else None
