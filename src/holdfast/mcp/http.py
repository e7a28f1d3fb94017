"""`/mcp` of `holdfast serve`: the same tools over streamable HTTP, by the SDK.

Who may come in at all is the site's business: Host, Origin and the token. Over HTTP nobody says
which directory or which conversation a call comes from, so paths are absolute, and a read is the
baseline unless a hook's binding and the call's own id prove the conversation.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from holdfast.mcp.caller import Caller
from holdfast.mcp.desk import Desk
from holdfast.sync.io.websocket import Receive, Scope, Send
from holdfast.web.site import Part, answer_json

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from holdfast.app import App

BODY_BYTES_MAX = 32 * 1024 * 1024

log = logging.getLogger("holdfast.mcp")


def mcp_part(app: App, counted: Callable[[str, str, float], None]) -> Part:
    """The part of a site that serves the tools."""
    endpoint = Endpoint(app, counted)
    return Part("/mcp", endpoint, life=endpoint.life)


class Endpoint:
    """The SDK's session manager, which is imported aside: the other parts need not wait for it."""

    def __init__(self, app: App, counted: Callable[[str, str, float], None]) -> None:
        self._app, self._counted = app, counted
        self._manager: asyncio.Future[StreamableHTTPSessionManager] | None = None

    @asynccontextmanager
    async def life(self) -> AsyncIterator[None]:
        self._manager = asyncio.get_running_loop().create_future()
        ending = asyncio.Event()
        running = asyncio.get_running_loop().create_task(self._run(self._manager, ending))
        try:
            yield
        finally:
            ending.set()
            await asyncio.gather(running, return_exceptions=True)

    async def _run(
        self, made: asyncio.Future[StreamableHTTPSessionManager], ending: asyncio.Event
    ) -> None:
        desk = Desk(self._app)
        try:
            manager = await asyncio.to_thread(self._made, desk)
            async with manager.run():
                made.set_result(manager)
                await ending.wait()
        except Exception as error:
            log.exception("the tools cannot be served")
            if not made.done():
                made.set_exception(error)
        finally:
            desk.close()

    def _made(self, desk: Desk) -> StreamableHTTPSessionManager:
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        from holdfast.mcp.serving import Serving

        caller = Caller(transport="HTTP", name=self._app.writer_id("http"))
        server = Serving(desk, caller, counted=self._counted).server()
        # The site has checked Host and Origin, with the names that the user allowed.
        return StreamableHTTPSessionManager(
            server, security_settings=None, max_request_body_size=BODY_BYTES_MAX
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] != "/mcp":
            await answer_json(send, 404, {"error": "there is no such page"})
            return
        assert self._manager is not None, "a site runs its parts before it serves them"
        try:
            manager = await asyncio.shield(self._manager)
        except Exception:
            await answer_json(send, 503, {"error": "the tools cannot be served; see the log"})
            return
        await manager.handle_request(scope, receive, send)
