"""`/mcp` of `holdfast serve`: the same tools over streamable HTTP, by the SDK.

The site checks Host, Origin and the token before a request gets here. Over HTTP the working
directory and the conversation of a call are unknown. So paths must be absolute, and a read returns
the plain text unless a hook's binding and the id of the call prove the conversation.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from holdfast.mcp import structured, toolsets
from holdfast.mcp.caller import Caller
from holdfast.mcp.host_context import HostContext
from holdfast.sync.io.websocket import PRINCIPAL, Receive, Scope, Send
from holdfast.web.site import OWNER, SitePart, answer_json

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from holdfast.app import App

READERS_MAX = 64
"""So many principals with a pass are served by one server."""

BODY_BYTES_MAX = 32 * 1024 * 1024

log = logging.getLogger("holdfast.mcp")


def mcp_part(app: App, counted: Callable[[str, str, float], None]) -> SitePart:
    """The part of a site that serves the tools."""
    endpoint = Endpoint(app, counted)
    return SitePart("/mcp", endpoint, passes=True, life=endpoint.life)


def started_in() -> str | None:
    """The working directory of this process: starting a server there allows it."""
    try:
        return os.getcwd()
    except OSError:
        return None


class Endpoint:
    """The SDK's session manager, imported in a thread so that other parts start without it."""

    def __init__(
        self,
        app: App,
        counted: Callable[[str, str, float], None],
        principal: str | None = None,
    ) -> None:
        self._app, self._counted, self._principal = app, counted, principal
        self._readers: dict[str, Endpoint] = {}
        """The endpoints of those who ask with a pass, by principal."""
        self._lives = AsyncExitStack()
        self._manager: asyncio.Future[StreamableHTTPSessionManager] | None = None

    @asynccontextmanager
    async def life(self) -> AsyncIterator[None]:
        self._manager = asyncio.get_running_loop().create_future()
        ending = asyncio.Event()
        running = asyncio.get_running_loop().create_task(self._run(self._manager, ending))
        try:
            yield
        finally:
            await self._lives.aclose()
            ending.set()
            await asyncio.gather(running, return_exceptions=True)

    async def _run(
        self, made: asyncio.Future[StreamableHTTPSessionManager], ending: asyncio.Event
    ) -> None:
        context = HostContext(self._app)
        try:
            manager = await asyncio.to_thread(self._made, context)
            async with manager.run():
                made.set_result(manager)
                await ending.wait()
        except Exception as error:
            log.exception("the MCP tools could not be started")
            if not made.done():
                made.set_exception(error)
        finally:
            context.close()

    def _made(self, context: HostContext) -> StreamableHTTPSessionManager:
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        from holdfast.mcp.sdk_server import ToolServer

        caller = Caller(
            transport="HTTP",
            name=self._app.writer_id("http"),
            environment={
                "HOME": self._app.user_home,
                **{
                    name: self._app.environment[name]
                    for name in (structured.SETTING, toolsets.SETTING)
                    if name in self._app.environment
                },
            },
            served_from=None if self._principal is not None else started_in(),
            repositories=self._repository,
            principal=self._principal,
        )
        server = ToolServer(context, caller, counted=self._counted).server()
        # The site has checked Host and Origin already.
        return StreamableHTTPSessionManager(
            server, security_settings=None, max_request_body_size=BODY_BYTES_MAX
        )

    def _repository(self, name: str) -> str | None:
        """The directory of a repository, or of something in it: `NAME` or `NAME/src/a.py`."""
        for tree in self._app.readable_repositories(self._principal):
            if name == tree.name or name.startswith(f"{tree.name}/"):
                return tree.root + name.removeprefix(tree.name)
        return None

    async def _reader(self, principal: str) -> Endpoint | None:
        """The endpoint of a principal with a pass; None if there are too many."""
        found = self._readers.get(principal)
        if found is None and len(self._readers) < READERS_MAX:
            found = self._readers[principal] = Endpoint(self._app, self._counted, principal)
            await self._lives.enter_async_context(found.life())
        return found

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] != "/mcp":
            await answer_json(send, 404, {"error": "there is no such page"})
            return
        principal = scope.get(PRINCIPAL)
        if self._principal is None and principal not in (None, OWNER):
            reader = await self._reader(str(principal))
            if reader is None:
                await answer_json(send, 429, {"error": "too many principals ask at once"})
                return
            await reader(scope, receive, send)
            return
        assert self._manager is not None, "the lifespan of a part starts before its first request"
        try:
            manager = await asyncio.shield(self._manager)
        except Exception:
            await answer_json(send, 503, {"error": "the tools could not be started; see the log"})
            return
        await manager.handle_request(scope, receive, send)
