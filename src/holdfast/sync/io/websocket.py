"""The server as an ASGI application: it receives and sends frames, and runs the timer.

`uvicorn` runs it beside the other pages of one web server. Where the server can hand over a socket
after the handshake (`handover.py`), a peer is a `PeerSocket`; under another ASGI server its
messages come one by one. Decisions are made in `server/`. This module has the loop, the timer, the
thread that writes to the disk, and the check of who may connect at all.

Browsers send the page's origin with a WebSocket and do not ask first, so a page from anywhere could
talk to a server on the user's own machine. A connection with an origin is refused unless it is our
own page or listed. A foreign name that resolves to this machine (DNS rebinding) shows in the Host
header, which must be one of our names.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import re
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from functools import partial
from typing import Any

from holdfast.credentials import LOOPBACK
from holdfast.errors import StoreError
from holdfast.store.model import Guard
from holdfast.store.store import Store
from holdfast.sync.io.peer_socket import FlushQueue, PeerSocket
from holdfast.sync.server.connection import Connection
from holdfast.sync.server.server import Server
from holdfast.sync.server.session_store import SessionStore
from holdfast.sync.server.settings import Action, OnCommitted, OnDone, act_now
from holdfast.sync.wire.close_codes import BROKEN, RESTARTING

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

SUBPROTOCOL = "holdfast.v1"
"""Offered by peers that carry their token in a second subprotocol; chosen if it is offered."""

PRINCIPAL, UNTIL_MS = "holdfast.principal", "holdfast.until_ms"
"""In the scope: the principal of the connection, and when its credential expires."""

DRAINING = "the server is restarting; go on at another one, or come back"
DRAIN_STEP_S = 0.01
"""How often to check whether a connection has been answered completely."""

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
        # Cleared first: a call that is added meanwhile is either taken below or wakes us again.
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
        """Commit in the store's own thread; waiting commits share one write to the disk."""
        store.submit(session, commit, partial(self.put, on_committed), guard)

    def act(
        self,
        store: Store,
        action: Action,
        on_done: OnDone,
    ) -> None:
        """Run an action in its own thread: it waits for the disk, and is rare."""

        def work() -> None:
            act_now(store, action, lambda result: self.put(on_done, result))

        threading.Thread(target=work, name="holdfast-act", daemon=True).start()


def close_aside(store: Store) -> None:
    """Close a store without delaying the loop: SQLite may have a log to write back first."""
    threading.Thread(target=store.close, name="holdfast-close").start()


class OriginPolicy:
    """Who may connect, by the Host and Origin headers."""

    def __init__(self, hosts: Iterable[str] = LOOPBACK, origins: Iterable[str] = ()) -> None:
        self._hosts = {host.lower() for host in hosts}
        self._origins = {origin.rstrip("/").lower() for origin in origins}

    def refusal(self, headers: Mapping[str, str]) -> str | None:
        """Why a peer may not connect; None if it may."""
        host = headers.get("host", "").lower()
        name = host_name(host)
        if name is None or ("*" not in self._hosts and name not in self._hosts):
            return f"unknown host {host!r}; holdfast serve --allow-host adds a name"
        origin = headers.get("origin")
        if origin is None:
            return None
        origin = origin.lower()
        if origin in self._origins or origin in (f"http://{host}", f"https://{host}"):
            return None  # listed, or our own page
        return f"origin {origin!r} is not allowed; holdfast serve --allow-origin adds one"


_HOST = re.compile(r"(?:([a-z0-9._-]+)|\[([0-9a-f:.]+)\])(?::[0-9]{1,5})?", re.ASCII)


def host_name(host: str) -> str | None:
    """The name in a Host header in lower case, without brackets and port; None if it is not one.

    Strict, because others read it too: nothing before an `@`, no spaces, no second value.
    """
    match = _HOST.fullmatch(host)
    return None if match is None else match[1] or match[2]


async def deny(scope: Scope, receive: Receive, send: Send, status: int, reason: str) -> None:
    """Refuse a handshake, with an HTTP answer where the web server can send one."""
    log.info("refused a connection: %s", reason)
    await receive()  # websocket.connect
    if "websocket.http.response" not in scope.get("extensions", {}):
        await send({"type": "websocket.close", "code": 1008, "reason": reason})
        return
    body = json.dumps({"error": reason}).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
    ]
    start = "websocket.http.response.start"
    await send({"type": start, "status": status, "headers": headers})
    await send({"type": "websocket.http.response.body", "body": body})


def headers_of(scope: Scope) -> dict[str, str]:
    """The headers of a request by their names in lower case; values of one name are joined."""
    headers: dict[str, str] = {}
    for name, value in scope["headers"]:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        separator = "; " if key == "cookie" else ", "
        headers[key] = f"{headers[key]}{separator}{text}" if key in headers else text
    return headers


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
        self._draining = False
        server.notifier.on_stale = self._arm_soon

    # life

    async def start(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._queue.open(self._loop)
        self._spawn(self._housekeeping())

    async def drain(self, wait_s: float) -> None:
        """Close every connection once all that it sent is answered, or after `wait_s`.

        Its sessions are stored first, so that another server continues them where they are.
        """
        self._draining = True
        loop, server = asyncio.get_running_loop(), self.server
        deadline = loop.time() + wait_s
        while peers := [peer for peer in server.connections if peer.closing is None]:
            late = loop.time() >= deadline
            ready = [peer for peer in peers if late or not peer.busy]
            for peer in ready:
                for session in peer.sessions.values():
                    server.registry.keep(session)
            await self._save_sessions()
            for peer in ready:
                if late or not peer.busy:
                    peer.close(RESTARTING, DRAINING)
            await asyncio.sleep(DRAIN_STEP_S)

    async def stop(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for connection in list(self.server.connections):
            connection.disconnected()
        if self._store is not None:
            self._store.save()

    def on_commit(self, announced: str) -> None:
        """A space has a new commit; "" if any space may have one. Callable from any thread."""
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
        """Check who owns the sessions, because announcements of takeovers may have been missed."""
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
        changes = self._store.take()
        try:
            await asyncio.to_thread(self._store.write, changes)
        except Exception:
            # Without them, clients receive again what they have after a restart.
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
        refusal = self._policy.refusal(headers_of(scope))
        if refusal is not None:
            await deny(scope, receive, send, 403, refusal)
            return
        if self._draining:
            await deny(scope, receive, send, 503, DRAINING)
            return
        principal = scope.get(PRINCIPAL) or _address(scope)
        crowded = self.server.crowded(principal)
        if crowded is not None:
            await deny(scope, receive, send, 429, crowded)
            return
        await receive()  # websocket.connect
        subprotocol = SUBPROTOCOL if SUBPROTOCOL in scope.get("subprotocols", ()) else None
        await send({"type": "websocket.accept", "subprotocol": subprotocol})
        connect = partial(self.server.connect, principal=principal, until_ms=scope.get(UNTIL_MS))
        # Looked up, not imported: only uvicorn brings it.
        handover = scope.get("extensions", {}).get("holdfast.handover")
        if handover is not None and await self._on_own_socket(handover, connect):
            return
        wake = asyncio.Event()
        connection = connect(wake.set)
        sending = asyncio.get_running_loop().create_task(_send_all(connection, wake, send))
        try:
            await self._receive_all(connection, receive)
        finally:
            connection.disconnected()
            sending.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await sending

    async def _on_own_socket(
        self, handover: Any, connect: Callable[[Callable[[], None]], Connection]
    ) -> bool:
        """Serve the peer on its own socket until it is gone; False if it is not handed over."""
        socket = PeerSocket(handover.protocol, connect, handover.release, self._flushes)
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
                # Other peers go on after a bug; this one is closed, as its message has no answer.
                log.exception("a message could not be handled")
                connection.close(BROKEN, "internal error")


def _address(scope: Scope) -> str:
    """Used as the principal of a connection without a credential: the address of the peer."""
    client = scope.get("client")
    return f"at {client[0]}" if client else "at an unknown address"


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
