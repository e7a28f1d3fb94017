"""The server as an ASGI application: frames in, frames out, and the time at which to send.

It stands beside the other pages of one web server; `uvicorn` runs it.
Where the server can give a socket away after the handshake (`handover.py`), a peer is a
`PeerSocket`; under another ASGI server its messages come one by one.
Decisions are made in `server/`. Here are the loop, the timer, the thread that writes to the disk,
and who may connect at all.

Browsers send the page's origin with a WebSocket and do not ask first, so a page from anywhere could
talk to a server on the user's own machine. A connection with an origin is refused unless it is our
own page or listed. A foreign name that resolves to this machine (DNS rebinding) shows in the Host
header, which must be one of our names.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from holdfast.errors import StoreError
from holdfast.store.model import Guard
from holdfast.store.store import Store
from holdfast.sync.io.peer_socket import FlushQueue, PeerSocket
from holdfast.sync.server.connection import Connection
from holdfast.sync.server.server import Server
from holdfast.sync.server.session_store import SessionStore
from holdfast.sync.server.settings import Action, OnCommitted, OnDone, act_now
from holdfast.sync.wire.close_codes import BROKEN

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

LOOPBACK = ("localhost", "127.0.0.1", "::1")

SAVE_EVERY_S = 2.0
SWEEP_EVERY_S = 5.0

log = logging.getLogger("holdfast.sync")


class LoopQueue:
    """Calls from other threads, run in the loop, many per wake-up."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._calls: deque[tuple[Callable[[Any], None], Any]] = deque()
        self._armed = False

    def open(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop

    def put(self, call: Callable[[Any], None], argument: Any) -> None:
        """May be called from any thread; the loop runs the calls in this order."""
        self._calls.append((call, argument))
        if not self._armed:
            self._armed = True
            assert self._loop is not None, "the loop runs before the first call"
            with contextlib.suppress(RuntimeError):  # the loop has ended, and with it the peers
                self._loop.call_soon_threadsafe(self._deliver)

    def _deliver(self) -> None:
        # Cleared first: a call that is put meanwhile is either taken below or arms us again.
        self._armed = False
        while self._calls:
            call, argument = self._calls.popleft()
            try:
                call(argument)
            except Exception:
                log.exception("an answer could not be delivered")

    def commit(
        self,
        store: Store,
        session: str,
        commit: Mapping[str, Any],
        on_committed: OnCommitted,
        guard: Guard | None,
    ) -> None:
        """Commit in the store's own thread; waiting commits share one trip to the disk."""
        store.submit(session, commit, partial(self.put, on_committed), guard)

    def act(
        self,
        store: Store,
        action: Action,
        on_done: OnDone,
    ) -> None:
        """Act in a thread of its own, because it waits for the disk; it is rare."""

        def work() -> None:
            act_now(store, action, lambda result: self.put(on_done, result))

        threading.Thread(target=work, name="holdfast-act", daemon=True).start()


class OriginPolicy:
    """Which peers may connect, by the Host and Origin of their request."""

    def __init__(self, hosts: Iterable[str] = LOOPBACK, origins: Iterable[str] = ()) -> None:
        self._hosts = {host.lower() for host in hosts}
        self._origins = {origin.rstrip("/").lower() for origin in origins}

    def refusal(self, headers: Mapping[str, str]) -> str | None:
        """Why a request is refused; None if it is allowed."""
        host = headers.get("host", "")
        if "*" not in self._hosts and _hostname(f"//{host}") not in self._hosts:
            return f"unknown host {host!r}"
        origin = headers.get("origin")
        if origin is None:
            return None
        origin = origin.lower()
        if origin in self._origins:
            return None
        if origin.partition("://")[2] == host.lower() and origin.startswith(("http:", "https:")):
            return None  # our own page
        return f"origin {origin!r} is not allowed"


def _hostname(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").lower()
    except ValueError:
        return ""


class SyncEndpoint:
    """`/sync` as an ASGI application around one server."""

    def __init__(
        self,
        server: Server,
        queue: LoopQueue,
        policy: OriginPolicy,
        session_store: SessionStore | None = None,
        announced_as: Callable[[str], str] = str,
    ) -> None:
        self.server, self._queue, self._policy, self._store = server, queue, policy, session_store
        self._announced_as = announced_as
        self._timer: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.sockets: dict[PeerSocket, None] = {}
        """The peers that are served on their own socket."""
        self._flushes = FlushQueue()
        self._loop: asyncio.AbstractEventLoop | None = None
        server.notifier.on_stale = self._arm_soon

    # life

    async def start(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._queue.open(self._loop)
        self._spawn(self._housekeeping())

    async def stop(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for connection in list(self.server.connections):
            connection.disconnected()
        if self._store is not None:
            self._store.save()

    def on_commit(self, announced: str) -> None:
        """A space has a commit; "" if any may have one. May be called from any thread."""
        self._queue.put(self._look, announced)

    def on_takeover(self, name: str) -> None:
        """Another server took a session over. May be called from any thread."""
        self._queue.put(self.server.registry.lose, name)

    def _look(self, announced: str) -> None:
        for space in list(self.server.spaces.values()):
            if announced in ("", self._announced_as(space.name)):
                try:
                    space.advance()
                except StoreError as error:
                    log.warning("cannot read %s: %s", space.name, error)
        if not announced:
            self._check_sessions()
        self.server.notifier.schedule()

    def _check_sessions(self) -> None:
        """Announcements may have been missed, also of sessions that are another server's now."""
        try:
            self.server.registry.check(self.server.clock_ms())
        except StoreError as error:
            log.warning("cannot check who owns the sessions: %s", error)

    def _spawn(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _housekeeping(self) -> None:
        loop = asyncio.get_running_loop()
        swept = loop.time()
        while True:
            await asyncio.sleep(SAVE_EVERY_S)
            for socket in list(self.sockets):
                socket.check_alive()
            await self._save_sessions()
            if loop.time() - swept > SWEEP_EVERY_S:
                swept = loop.time()
                self.server.sweep()

    async def _save_sessions(self) -> None:
        if self._store is None or not self._store.pending:
            return
        taken = self._store.take()
        try:
            await asyncio.to_thread(self._store.write, taken)
        except Exception:
            # Without them clients are sent again after a restart what they have.
            log.exception("sessions could not be stored")

    # the timer

    def _arm_soon(self) -> None:
        self._arm(self.server.settings.refresh_after_ms)

    def _arm(self, in_ms: int) -> None:
        assert self._loop is not None
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_later(in_ms / 1000, self._refresh)

    def _refresh(self) -> None:
        self._timer = None
        try:
            again = self.server.refresh()
        except Exception:
            log.exception("changes could not be sent")
            again = 1_000
        if again is not None:
            self._arm(max(again, 1))

    # one connection

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert scope["type"] == "websocket", "this speaks WebSocket only"
        headers = {
            name.decode("latin-1").lower(): value.decode("latin-1")
            for name, value in scope["headers"]
        }
        refusal = self._policy.refusal(headers)
        await receive()  # websocket.connect
        if refusal is not None:
            log.info("refused a connection: %s", refusal)
            await send({"type": "websocket.close", "code": 1008, "reason": refusal})
            return
        await send({"type": "websocket.accept"})
        # Looked up, not imported: only uvicorn brings it.
        handover = scope.get("extensions", {}).get("holdfast.handover")
        if handover is not None and await self._on_own_socket(handover):
            return
        wake = asyncio.Event()
        connection = self.server.connect(wake.set)
        sending = asyncio.get_running_loop().create_task(_send_all(connection, wake, send))
        try:
            await self._receive_all(connection, receive)
        finally:
            connection.disconnected()
            sending.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await sending

    async def _on_own_socket(self, handover: Any) -> bool:
        """Serve the peer on its own socket until it is gone; False if it is not handed over."""
        socket = PeerSocket(handover.protocol, self.server.connect, handover.release, self._flushes)
        if not handover.give(socket):
            socket.decline()
            return False
        self.sockets[socket] = None
        try:
            await socket.ended
        finally:
            del self.sockets[socket]
            socket.abort()
        return True

    async def _receive_all(self, connection: Connection, receive: Receive) -> None:
        while True:
            event = await receive()
            if event["type"] == "websocket.disconnect":
                return
            text = event.get("text")
            if text is None:
                connection.receive_binary()
                continue
            try:
                connection.receive(text)
            except Exception:
                # A bug must not take the other peers down, nor answer for a message it lost.
                log.exception("a message could not be handled")
                connection.close(BROKEN, "internal error")


async def _send_all(connection: Connection, wake: asyncio.Event, send: Send) -> None:
    while True:
        await wake.wait()
        wake.clear()
        for frame in connection.take():
            # Waits while the peer does not read; meanwhile the outbox grows to its limit.
            await send({"type": "websocket.send", "text": frame})
            connection.sent(len(frame))
        if connection.closing is not None:
            code, reason = connection.closing
            await send({"type": "websocket.close", "code": code, "reason": reason})
            return
