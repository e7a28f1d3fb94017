"""The client core on a WebSocket: the loop, the timers and the socket. No decisions are made here.

Everything that touches the core happens under one lock, so that programs with threads may use it
from any of them; the socket and the timers stay in the loop.

With several addresses, the servers share one PostgreSQL, and any of them continues a session. The
first address is chosen at random, to spread clients over the servers. When a connection ends or
fails, the next address is used.
"""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from socket import gaierror
from typing import Any, TypeVar
from urllib.parse import urlsplit

from holdfast.errors import UsageError
from holdfast.sync.client.actions import Action, Dial, HangUp, Send, Wake
from holdfast.sync.client.client import Client
from holdfast.sync.client.outcome import Outcome
from holdfast.sync.wire import messages
from holdfast.sync.wire.errors import InvalidMessage, Unreachable

_log = logging.getLogger(__name__)

OPEN_TIMEOUT_S = 10.0
DIAL_S = 1.5
"""The connect timeout with several addresses; doubled in every further round."""

PING_S, PING_OF_SEVERAL_S = 20.0, 10.0
"""How long a server may be silent before it is pinged, and then how long it may take to answer."""

FRAME_BYTES_MAX = 256 * 1024 * 1024

UNAUTHORIZED, TOO_MANY = 401, 429
HOW_TO_AUTHORIZE = (
    "pass token=…, or set HOLDFAST_TOKEN to the content of HOLDFAST_HOME/token of the server"
)

Result = TypeVar("Result")


class Link:
    """One client on one event loop. `start` and `stop` are called in the loop."""

    def __init__(
        self,
        urls: Sequence[str],
        client: Client,
        authorization: Callable[[str], str | None] = lambda _: None,
    ) -> None:
        """`authorization` is called for each connection, because its result may expire."""
        assert urls, "there is at least one address"
        self.urls, self.client, self._authorization = tuple(urls), client, authorization
        self._at = int(client.chance() * len(urls)) % len(urls)
        self._misses = 0
        """How many connections in a row could not be opened."""
        self._refused: set[str] = set()
        """The addresses whose servers have refused us in that time."""
        self.lock = threading.RLock()
        self._loop = asyncio.get_running_loop()
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._talking: asyncio.Task[None] | None = None
        self._frames: deque[str] = deque()
        self._wake = asyncio.Event()
        self._pump_set = False
        self._last = ""
        """The beginning of the last frame from the server."""
        self.reason = ""
        """Why the last connection ended or failed."""
        self.missed = asyncio.Event()
        """Set once a connection has ended, or when no address could be reached."""
        client.on_actions = self._want_pump

    @property
    def url(self) -> str:
        """The address of the current connection, or of the next one."""
        return self.urls[self._at]

    def start(self) -> None:
        with self.lock:
            self.client.start()

    def now_s(self) -> float:
        """The time of the loop, which never goes back."""
        return self._loop.time()

    async def settled(self, outcome: Outcome[Result]) -> Result:
        """Wait for an outcome; raises its error. Cancelling the wait changes nothing."""
        waiting: asyncio.Future[None] = self._loop.create_future()

        def resolve(_: Outcome[Result]) -> None:
            self._loop.call_soon_threadsafe(_resolve, waiting)

        with self.lock:
            if not outcome.settled:
                outcome.then(resolve)
        if not outcome.settled:
            await waiting
        return outcome.result()

    async def stop(self, timeout_s: float) -> None:
        """Close the client; wait a while for answers, then hang up."""
        with self.lock:
            closed = self.client.close()
        try:
            async with asyncio.timeout(timeout_s):
                await self.settled(closed)
        except TimeoutError:
            with self.lock:
                self.client.transport_down("closed")
        self._hang_up()
        if self._talking is not None:
            await asyncio.gather(self._talking, return_exceptions=True)

    # from the core

    def _want_pump(self) -> None:
        if not self._pump_set:
            self._pump_set = True
            self._loop.call_soon_threadsafe(self._pump)

    def _pump(self) -> None:
        with self.lock:
            self._pump_set = False
            while actions := self.client.take():
                for action in actions:
                    self._do(action)

    def _do(self, action: Action) -> None:
        match action:
            case Send(message):
                frame = self.client.frame(message)
                if frame is not None:
                    self._frames.append(frame)
                    self._wake.set()
            case Wake(name, delay_ms):
                if name in self._timers:
                    self._timers[name].cancel()
                self._timers[name] = self._loop.call_later(delay_ms / 1000, self._ring, name)
            case Dial():
                self._talking = self._loop.create_task(self._talk())
            case HangUp():
                self._hang_up()

    def _ring(self, name: str) -> None:
        with self.lock:
            self._timers.pop(name, None)
            self.client.timer(name)
        self._pump()

    def _hang_up(self) -> None:
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
        if self._talking is not None and self._talking is not asyncio.current_task(self._loop):
            self._talking.cancel()

    # the socket

    async def _talk(self) -> None:
        """One connection, from dialling to its end."""
        from websockets.asyncio.client import connect
        from websockets.exceptions import InvalidStatus, WebSocketException

        reason, code = "", None
        self._misses += 1
        ping_s = PING_S if len(self.urls) == 1 else PING_OF_SEVERAL_S
        try:
            credential = self._authorization(self.url)
            async with connect(
                self.url,
                additional_headers={"Authorization": credential} if credential else None,
                open_timeout=self._dial_s(),
                max_size=FRAME_BYTES_MAX,
                compression=None,
                ping_interval=ping_s,
                ping_timeout=ping_s,
            ) as socket:
                self._misses = 0
                self._refused.clear()
                with self.lock:
                    self._frames.clear()
                    self.client.transport_up()
                self._pump()
                writing = self._loop.create_task(self._write(socket))
                try:
                    await self._read(socket)
                finally:
                    reason, code = _closed(socket)
                    writing.cancel()
                    await asyncio.gather(writing, return_exceptions=True)
        except InvalidStatus as error:
            status = error.response.status_code
            reason = f"the server answered with HTTP {status}{_explained(error.response.body)}"
            if self.client.connections == 0 and 400 <= status < 500 and status != TOO_MANY:
                # This server never accepted us; one that did may only be restarting.
                self._refused.add(self.url)
            if len(self._refused) == len(self.urls):
                hint = HOW_TO_AUTHORIZE if status == UNAUTHORIZED else None
                with self.lock:
                    self.client.rejected(Unreachable(self.url, reason, hint))
        except (OSError, TimeoutError, WebSocketException) as error:
            reason = _why(error, self.url)
        except UsageError as error:
            reason = str(error)  # the token of the home can no longer be used
        except InvalidMessage as error:
            reason = f"the server sent an invalid message: {error.hint}"
            _log.warning("%s", reason)
            with self.lock:
                self.client.unreadable(error, self._last)
        self.reason = reason
        if self._misses == 0 or self._misses >= len(self.urls):
            self.missed.set()
        self._at = (self._at + 1) % len(self.urls)
        with self.lock:
            self.client.transport_down(reason, code)
        self._pump()

    def _dial_s(self) -> float:
        """How long opening the next connection may take."""
        if len(self.urls) == 1:
            return OPEN_TIMEOUT_S
        rounds = (self._misses - 1) // len(self.urls)
        return float(min(DIAL_S * 2 ** min(rounds, 8), OPEN_TIMEOUT_S))

    async def _read(self, socket: Any) -> None:
        async for frame in socket:
            if not isinstance(frame, str):
                self._last = ""
                raise InvalidMessage("received a non-text frame")
            self._last = frame[:40]
            answer = messages.parse_answer(frame, self.client.unified)
            with self.lock:
                self.client.receive(answer)
            self._pump()

    async def _write(self, socket: Any) -> None:
        from websockets.exceptions import ConnectionClosed

        while True:
            await self._wake.wait()
            self._wake.clear()
            while self._frames:
                try:
                    await socket.send(self._frames.popleft())
                except ConnectionClosed:
                    return  # the reading side notices too


def _resolve(waiting: asyncio.Future[None]) -> None:
    if not waiting.done():
        waiting.set_result(None)


def _closed(socket: Any) -> tuple[str, int | None]:
    """Why the server closed the connection, and its close code; None if it sent none."""
    received = socket.protocol.close_rcvd
    return ("", None) if received is None else (received.reason or "", received.code)


def _explained(body: bytes | bytearray | None) -> str:
    """The server's explanation of a refusal, shortened."""
    try:
        error = json.loads(body or b"")["error"]
    except (ValueError, KeyError, TypeError):
        return ""
    return f": {error.partition(';')[0][:200]}" if isinstance(error, str) else ""


def _why(error: Exception, url: str) -> str:
    """Why there is no connection. An error for several addresses has one line for each."""
    refused = isinstance(error, ConnectionRefusedError) or "Connect call failed" in str(error)
    if refused:
        place = urlsplit(url)
        port = place.port or (443 if place.scheme == "wss" else 80)
        return f"nothing is listening at {place.hostname}:{port}"
    if isinstance(error, gaierror):
        return f"unknown host {urlsplit(url).hostname}"
    return str(error) or type(error).__name__
