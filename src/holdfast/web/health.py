"""`/healthz`: whether the server can do its work now.

It answers without a credential, so it returns only yes (200) or no (503). A caller with the token
also gets the reasons. The checks run in threads with a deadline, and their result is cached for a
moment, so that frequent requests are cheap and a hanging database blocks nothing.

Which way it may err: it may still answer 200 for `FRESH_S` after something broke.
"""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from holdfast import postgresql, system
from holdfast.store import roots
from holdfast.sync.io.websocket import PRINCIPAL, Receive, Scope, Send
from holdfast.web.site import OWNER, Asgi, answer, answer_json

if TYPE_CHECKING:
    from holdfast.app import App
    from holdfast.sync.io.endpoint import SyncService

DEADLINE_S = 3.0
FRESH_S = 1.0
CONNECT_S = 2
PROBE_BYTES = 4096

Probe = Callable[[], None]
"""Raises if something is wrong; its message says what."""


class HealthCheck:
    """Runs every probe at most once at a time; one that does not return in time is a problem."""

    def __init__(
        self,
        probes: Mapping[str, Probe],
        monotonic: Callable[[], float] = system.monotonic,
        deadline_s: float = DEADLINE_S,
    ) -> None:
        self._probes, self._monotonic, self._deadline_s = probes, monotonic, deadline_s
        self._running: dict[str, asyncio.Future[None]] = {}
        self._problems: asyncio.Task[list[str]] | None = None
        self._known_at = 0.0

    async def problems(self) -> list[str]:
        """What is wrong now, one sentence each."""
        task = self._problems
        if task is None or (task.done() and self._monotonic() - self._known_at >= FRESH_S):
            task = self._problems = asyncio.get_running_loop().create_task(self._check())
        return await asyncio.shield(task)

    async def _check(self) -> list[str]:
        results = await asyncio.gather(*(self._ask(name) for name in self._probes))
        self._known_at = self._monotonic()
        return [problem for problem in results if problem is not None]

    async def _ask(self, name: str) -> str | None:
        running = self._running.get(name)
        if running is None or running.done():
            running = self._running[name] = _in_thread(self._probes[name])
        try:
            async with asyncio.timeout(self._deadline_s):
                await asyncio.shield(running)
        except TimeoutError:
            return f"{name}: no answer within {self._deadline_s:g} s"
        except Exception as error:
            return f"{name}: {error}"
        return None


def _in_thread(probe: Probe) -> asyncio.Future[None]:
    """Run a probe in a separate thread, because it may never return."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[None] = loop.create_future()
    # Retrieve the exception: the caller may have stopped waiting.
    future.add_done_callback(lambda done: done.cancelled() or done.exception())

    def finish(error: Exception | None) -> None:
        if not future.done():
            future.set_result(None) if error is None else future.set_exception(error)

    def work() -> None:
        error: Exception | None = None
        try:
            probe()
        except Exception as failure:
            error = failure
        if not loop.is_closed():
            loop.call_soon_threadsafe(finish, error)

    threading.Thread(target=work, name="holdfast-health", daemon=True).start()
    return future


def probes_of(app: App, service: SyncService) -> dict[str, Probe]:
    """The probes of this server: its database, its files, and whether it can write."""
    store = service.options.store
    probes: dict[str, Probe] = {"home": lambda: write_probe(str(app.home))}
    if service.options.on_postgres:
        probes["database"] = lambda: database_probe(store)
    root = roots.resolve_root(store)
    if root is not None:
        probes["store"] = lambda: write_probe(str(root))
    return probes


def write_probe(folder: str) -> None:
    """Raise if a small file cannot be written to this folder, or its nearest parent that exists."""
    while not os.path.lexists(folder) and os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder)
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(PROBE_BYTES))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise OSError(f"cannot write to {folder}: {error.strerror or error}") from None


def database_probe(url: str) -> None:
    with postgresql.connect(url, "holdfast health", CONNECT_S) as connection:
        connection.execute("SELECT 1").fetchone()


def health_page(app: App, service: SyncService) -> Asgi:
    """`/healthz`."""
    check = HealthCheck(probes_of(app, service), app.clock.monotonic)

    async def page(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] != "/healthz" or scope["method"] not in ("GET", "HEAD"):
            await answer_json(send, 404, {"error": "there is no such page"})
            return
        problems = await check.problems()
        body: dict[str, object] = {"ok": not problems}
        if scope.get(PRINCIPAL) == OWNER:
            body |= {"problems": problems, **service.figures()}
        kind = [(b"content-type", b"application/json")]
        status = 503 if problems else 200
        head = scope["method"] == "HEAD"
        await answer(send, status, json.dumps(body).encode(), kind, head=head)

    return page
