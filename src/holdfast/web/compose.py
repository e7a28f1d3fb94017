"""Composes `holdfast serve` from its parts."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from copy import copy
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from holdfast.extras import install_command
from holdfast.sync.io.websocket import OriginPolicy, Receive, Scope, Send
from holdfast.web.blobs import blobs
from holdfast.web.call_gate import CALLS_MAX, CallGate
from holdfast.web.connection_limits import PromptRequests
from holdfast.web.health import health_page
from holdfast.web.metrics import Counters, metrics_page
from holdfast.web.shared_index import shared_index_page
from holdfast.web.site import Asgi, Site, SitePart, answer_json

if TYPE_CHECKING:
    from holdfast.app import App
    from holdfast.sync.io.endpoint import SyncService

__all__ = ["PromptRequests", "keeping_repositories", "site"]

log = logging.getLogger("holdfast.web")

REPOSITORIES_EVERY_S = 30.0
"""How often repositories without a checkout are brought up to date."""
REPOSITORY_STOP_S = 2.0
"""How long a stopping server waits for work on a repository."""
LOOK_EVERY_S = 0.5
"""How often to check for commits of other processes to the same SQLite files."""


def site(
    app: App,
    service: SyncService,
    policy: OriginPolicy,
    token: str,
    *,
    extra: Sequence[SitePart] = (),
    calls_max: int = CALLS_MAX,
) -> Site:
    """Everything that `holdfast serve` serves."""
    counters, gate, options = Counters(), CallGate(calls_max), service.options
    page: Asgi = import_module("holdfast.dashboard").asgi(app, service)
    parts = [
        SitePart(
            "/sync",
            _socket(service),
            # With signed opens, the protocol itself authenticates every peer.
            open=options.open_sync or options.require_signature,
            cookie=True,
            socket=True,
            life=lambda: _running(service),
            drain=service.drain,
        ),
        SitePart("/blobs", blobs(service)),
        SitePart("/healthz", health_page(app, service), open=True),
        SitePart("/index", shared_index_page(app), life=lambda: keeping_repositories(app)),
        SitePart("/metrics", metrics_page(service, counters, gate)),
        SitePart("/", page, cookie=True, life=getattr(page, "life", None)),
        *extra,
    ]
    if find_spec("mcp") is not None:
        from holdfast.mcp.http import mcp_part

        # Memory over MCP is in the store that /sync serves; `memory:` cannot be shared.
        usual = options.store == str(app.store_url) or options.store.lower().startswith("memory:")
        agents = app if usual else _with_store(app, options.store)
        parts.append(mcp_part(agents, counters.called, gate))
    else:
        parts.append(SitePart("/mcp", _no_tools))
    return Site(parts, policy, token, app.clock.now_ms, options.audience)


async def _no_tools(scope: Scope, receive: Receive, send: Send) -> None:
    error = "the tools need the package mcp, which is not installed"
    await answer_json(send, 501, {"error": f"{error}; run: {install_command('agents')}"})


def _with_store(app: App, url: str) -> App:
    """The same app with its documents elsewhere."""
    other = copy(app)
    other.database_url = url
    other.environment = {**app.environment, "HOLDFAST_DATABASE_URL": url}
    return other


@asynccontextmanager
async def keeping_repositories(app: App) -> AsyncIterator[None]:
    """Keep the repositories without a checkout in sync, in a thread, until the server stops."""
    stopping = asyncio.Event()

    async def keep() -> None:
        while not stopping.is_set():
            try:
                for failure in await asyncio.to_thread(app.sync_repositories):
                    log.warning("a repository is not up to date: %s", failure)
            except Exception:
                log.exception("repositories could not be brought up to date")
            with suppress(TimeoutError):
                await asyncio.wait_for(stopping.wait(), REPOSITORIES_EVERY_S)

    keeping = asyncio.get_running_loop().create_task(keep())
    try:
        yield
    finally:
        stopping.set()
        # Work on a repository may take minutes; if it is killed, the last generation stays.
        await asyncio.wait({keeping}, timeout=REPOSITORY_STOP_S)


@asynccontextmanager
async def _running(service: SyncService) -> AsyncIterator[None]:
    await service.start()
    looking = None
    if not service.options.on_postgres:
        looking = asyncio.get_running_loop().create_task(_look_around(service))
    try:
        yield
    finally:
        if looking is not None:
            looking.cancel()
        await service.stop()


async def _look_around(service: SyncService) -> None:
    """Check for commits of other processes: SQLite sends no notifications."""
    while True:
        await asyncio.sleep(LOOK_EVERY_S)
        if service.server.connections:
            service.endpoint.on_commit("")


def _socket(service: SyncService) -> Asgi:
    """The endpoint of the sync protocol; plain HTTP requests get an explanation."""

    async def socket(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await service.serve(scope, receive, send)
            return
        error = {"error": "this is a WebSocket endpoint", "hint": "connect to ws://…/sync"}
        await answer_json(send, 426, error, [(b"upgrade", b"websocket")])

    return socket
