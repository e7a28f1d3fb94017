"""`/mcp` of `holdfast serve`: the same tools over streamable HTTP, by the SDK.

Who may come in at all is the site's business: Host, Origin and the token. Over HTTP nobody says
which directory or which conversation a call comes from, so paths are absolute, and a read is the
baseline unless a hook's binding and the call's own id prove the conversation.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from holdfast.mcp.caller import Caller
from holdfast.mcp.desk import Desk
from holdfast.sync.websocket import Receive, Scope, Send
from holdfast.web.site import Part, answer_json

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from holdfast.app import App

BODY_BYTES_MAX = 32 * 1024 * 1024


def mcp_part(app: App, counted: Callable[[str, str, float], None]) -> Part:
    """The part of a site that serves the tools."""
    running: list[StreamableHTTPSessionManager] = []

    @asynccontextmanager
    async def life() -> AsyncIterator[None]:
        # Only now: the SDK takes long to import, and a server is started before it is asked.
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        from holdfast.mcp.serving import Serving

        desk = Desk(app)
        caller = Caller(transport="HTTP", name=app.session("http"))
        server = Serving(desk, caller, counted=counted).server()
        manager = StreamableHTTPSessionManager(
            server,
            # The site has checked Host and Origin, with the names that the user allowed.
            security_settings=None,
            max_request_body_size=BODY_BYTES_MAX,
        )
        try:
            async with manager.run():
                running.append(manager)
                yield
        finally:
            running.clear()
            desk.close()

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        if not running:
            await answer_json(send, 503, {"error": "not started"})
        elif scope["path"] != "/mcp":
            await answer_json(send, 404, {"error": "there is no such page"})
        else:
            await running[0].handle_request(scope, receive, send)

    return Part("/mcp", serve, life=life)
