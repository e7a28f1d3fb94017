"""`/mcp` of `holdfast serve`: the same tools over streamable HTTP, served by the SDK.

The site checks Host, Origin and the token before a request gets here. Over HTTP the working
directory and the conversation of a call are unknown. So paths must be absolute, and a read returns
the plain text unless a hook's binding and the id of the call prove the conversation.

The SDK keeps a session in the memory of one server. A request of a session that is unknown here (it
was opened at another server, or before a restart) is answered without it: no tool needs one. Only
cancelling a call and declared roots do not work then.
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
from holdfast.repository_names import path_of
from holdfast.sync.io.websocket import PRINCIPAL, Receive, Scope, Send
from holdfast.web.call_gate import RETRY_AFTER_S, CallGate
from holdfast.web.site import OWNER, SitePart, answer_json, body_of, headers_of

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from holdfast.app import App

READERS_MAX = 64
"""How many principals with a pass one server accepts."""

BODY_BYTES_MAX = 32 * 1024 * 1024
SESSION = "mcp-session-id"
NOT_FOUND = 404

log = logging.getLogger("holdfast.mcp")


def mcp_part(app: App, counted: Callable[[str, str, float], None], gate: CallGate) -> SitePart:
    """The part of a site that serves the tools."""
    endpoint = Endpoint(app, counted, gate)
    return SitePart("/mcp", endpoint, passes=True, life=endpoint.life, drain=endpoint.drain)


def started_in() -> str | None:
    """The working directory of this process; starting a server there makes it readable."""
    try:
        return os.getcwd()
    except OSError:
        return None


Managers = tuple["StreamableHTTPSessionManager", "StreamableHTTPSessionManager"]
"""The session manager that keeps sessions, and the stateless one."""


class Endpoint:
    """The SDK's session manager, imported in a thread so that other parts start without it."""

    def __init__(
        self,
        app: App,
        counted: Callable[[str, str, float], None],
        gate: CallGate,
        principal: str | None = None,
    ) -> None:
        self._app, self._counted, self._principal = app, counted, principal
        self._gate = gate
        self._readers: dict[str, Endpoint] = {}
        """The endpoints for clients with a pass, by principal."""
        self._lives = AsyncExitStack()
        self._manager: asyncio.Future[Managers] | None = None
        self._leaving = asyncio.Event()
        """Set when the server is about to stop: event streams are then closed."""

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

    async def _run(self, managers: asyncio.Future[Managers], ending: asyncio.Event) -> None:
        context = HostContext(self._app)
        try:
            keeping, stateless = await asyncio.to_thread(self._managers, context)
            async with keeping.run(), stateless.run():
                managers.set_result((keeping, stateless))
                await ending.wait()
        except Exception as error:
            log.exception("the MCP tools could not be started")
            if not managers.done():
                managers.set_exception(error)
        finally:
            context.close()

    async def drain(self, wait_s: float) -> None:
        """End the idle event streams; calls continue until they are done."""
        self._leaving.set()
        for reader in self._readers.values():
            await reader.drain(wait_s)

    def _managers(self, context: HostContext) -> Managers:
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
        from sse_starlette.sse import AppStatus

        from holdfast.mcp.sdk_server import ToolServer

        # On SIGTERM it would end every stream at once, including those that answer calls.
        # `drain` ends the idle ones.
        AppStatus.disable_automatic_graceful_drain()  # type: ignore[no-untyped-call]
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
        keeping, stateless = (
            StreamableHTTPSessionManager(
                server,
                security_settings=None,
                max_request_body_size=BODY_BYTES_MAX,
                stateless=stateless,
            )
            for stateless in (False, True)
        )
        return keeping, stateless

    def _repository(self, name: str) -> str | None:
        """The directory of a repository, or of something in it: `NAME` or `NAME/src/a.py`."""
        return path_of(self._app.readable_repositories(self._principal), name)

    async def _reader(self, principal: str) -> Endpoint | None:
        """The endpoint of a principal with a pass; None if there are too many."""
        endpoint = self._readers.get(principal)
        if endpoint is None and len(self._readers) < READERS_MAX:
            endpoint = self._readers[principal] = Endpoint(
                self._app, self._counted, self._gate, principal
            )
            await self._lives.enter_async_context(endpoint.life())
        return endpoint

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
            keeping, stateless = await asyncio.shield(self._manager)
        except Exception:
            await answer_json(send, 503, {"error": "the tools could not be started; see the log"})
            return
        if scope["method"] == "GET":
            await self._stream(keeping, scope, receive, send)
            return
        with self._gate.enter() as admitted:
            if not admitted:
                later = [(b"retry-after", str(RETRY_AFTER_S).encode())]
                await answer_json(send, 503, self._gate.refusal(), later)
            elif scope["method"] != "POST" or SESSION not in headers_of(scope):
                await keeping.handle_request(scope, receive, send)
            else:
                await _anywhere(keeping, stateless, scope, receive, send)

    async def _stream(
        self,
        manager: StreamableHTTPSessionManager,
        scope: Scope,
        receive: Receive,
        send: Send,
    ) -> None:
        """Serve the stream of server messages; it ends when the server is about to stop."""
        open = False

        async def sending(message: Scope) -> None:
            nonlocal open
            if message["type"] == "http.response.start" and message["status"] == NOT_FOUND:
                # A session that is unknown here has no stream; its client works without one.
                message = {**message, "status": 405}
            open = message["type"] == "http.response.start" or message.get("more_body", False)
            await send(message)

        loop = asyncio.get_running_loop()
        streaming = loop.create_task(manager.handle_request(scope, receive, sending))
        leaving = loop.create_task(self._leaving.wait())
        try:
            await asyncio.wait({streaming, leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            leaving.cancel()
            streaming.cancel()
            await asyncio.gather(streaming, leaving, return_exceptions=True)
        if open:
            await send({"type": "http.response.body", "body": b""})


async def _anywhere(
    keeping: StreamableHTTPSessionManager,
    stateless: StreamableHTTPSessionManager,
    scope: Scope,
    receive: Receive,
    send: Send,
) -> None:
    """Answer a request of a session, even if the session belongs to another server."""
    body = await body_of(receive, BODY_BYTES_MAX)
    if body is None:
        await answer_json(send, 413, {"error": f"a request has at most {BODY_BYTES_MAX} bytes"})
        return
    unknown = False

    async def sending(message: Scope) -> None:
        nonlocal unknown
        unknown |= message["type"] == "http.response.start" and message["status"] == NOT_FOUND
        if not unknown:
            await send(message)

    await keeping.handle_request(scope, _again(body, receive), sending)
    if unknown:
        await stateless.handle_request(scope, _again(body, receive), send)


def _again(body: bytes, receive: Receive) -> Receive:
    """A `receive` that first returns the body that was already read, then later events."""
    events: list[Scope] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receiving() -> Scope:
        return events.pop() if events else await receive()

    return receiving
