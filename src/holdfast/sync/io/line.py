"""One peer on a socket that is ours alone: bytes to the connection, its answers back to bytes.

What is to be sent is gathered until the loop comes round and leaves in one piece. While the peer
does not read, nothing more is given to the socket; the connection's outbox grows to its limit, and
then the peer is dropped.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import cast

from holdfast.sync.io import frames
from holdfast.sync.io.frames import Binary, Closed, Event, FrameReader, Ping, Violation
from holdfast.sync.server.connection import Connection
from holdfast.sync.wire.close_codes import BROKEN, RESTARTING

PING_AFTER_S = 20.0
"""How long a peer may be silent before we ask whether it is there, and then to answer."""

CLOSE_WAIT_S = 10.0
"""How long a peer may take to agree to a close."""

log = logging.getLogger("holdfast.sync")


class Round:
    """The lines that have something to send: all of them send when the loop comes round."""

    def __init__(self) -> None:
        self._lines: list[Line] = []

    def add(self, line: Line) -> None:
        if not self._lines:
            asyncio.get_running_loop().call_soon(self._send)
        self._lines.append(line)

    def _send(self) -> None:
        lines, self._lines = self._lines, []
        for line in lines:
            try:
                line.flush()
            except Exception:
                # A bug must not take the other peers down.
                log.exception("an answer could not be sent")
                line.abort()


class Line(asyncio.Protocol):
    """A WebSocket after its handshake."""

    def __init__(
        self,
        connect: Callable[[Callable[[], None]], Connection],
        bytes_max: int,
        on_end: Callable[[Line], None],
        round: Round,
    ) -> None:
        self._connection = connect(self._want_flush)
        self._round = round
        self._reader = FrameReader(bytes_max)
        self._on_end = on_end
        self._loop = asyncio.get_running_loop()
        self.ended: asyncio.Future[None] = self._loop.create_future()
        self._transport: asyncio.Transport | None = None
        self._heard_at = self._loop.time()
        self._asked = False
        self._flush_set = self._paused = self._closing = False
        self._unsent = 0
        self._close_timer: asyncio.TimerHandle | None = None

    # from the socket

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._heard_at, self._asked = self._loop.time(), False
        texts: list[str] = []
        for event in self._reader.feed(data):
            if type(event) is str:
                texts.append(event)
            else:
                self._receive(texts)
                texts = []
                self._control(event)
        self._receive(texts)

    def _receive(self, texts: list[str]) -> None:
        if self._closing or not texts:
            return
        try:
            self._connection.receive(*texts)
        except Exception:
            # A bug must not take the other peers down, nor answer for a message it ate.
            log.exception("a message could not be handled")
            self._connection.close(BROKEN, "internal error")

    def _control(self, event: Event) -> None:
        if isinstance(event, Ping):
            self._write(frames.control(frames.PONG, event.data))
        elif isinstance(event, Binary):
            self._connection.receive_binary()
        elif isinstance(event, Violation):
            log.info("a peer broke the WebSocket protocol: %s", event.reason)
            self._hang_up(event.code, event.reason)
        elif isinstance(event, Closed):
            self._hang_up(event.code, "")

    def eof_received(self) -> bool:
        return False  # a peer that will send no more is gone

    def connection_lost(self, exc: Exception | None) -> None:
        if self._close_timer is not None:
            self._close_timer.cancel()
        self._closing = True
        self._connection.disconnected()
        self._on_end(self)
        if not self.ended.done():
            self.ended.set_result(None)

    def pause_writing(self) -> None:
        self._paused = True

    def resume_writing(self) -> None:
        self._paused = False
        self._connection.sent(self._unsent)
        self._unsent = 0
        self.flush()

    def decline(self) -> None:
        """The socket did not become ours."""
        self._closing = True
        self._connection.disconnected()

    # to the socket

    def _want_flush(self) -> None:
        if not self._flush_set and not self._paused:
            self._flush_set = True
            self._round.add(self)

    def flush(self) -> None:
        """Send what there is to send, unless the peer must read first."""
        self._flush_set = False
        if self._closing or self._paused:
            return
        messages = self._connection.take()
        if messages:
            self._write(frames.texts(messages))
            self._unsent += sum(map(len, messages))
            if not self._paused:  # else it counts as unread until the peer reads again
                self._connection.sent(self._unsent)
                self._unsent = 0
        if self._connection.closing is not None:
            self._say_close(*self._connection.closing)

    def _write(self, data: bytes) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(data)

    # the end

    def _say_close(self, code: int, reason: str) -> None:
        """Close, and wait a while for the peer to agree: so it sees why."""
        self._closing = True
        self._write(frames.close(code, reason))
        self._close_timer = self._loop.call_later(CLOSE_WAIT_S, self.abort)

    def _hang_up(self, code: int, reason: str) -> None:
        """Close now: the peer has agreed, or cannot be talked to."""
        if not self._closing:
            self.flush()
            self._write(frames.close(code, reason))
        self._closing = True
        if self._transport is not None:
            self._transport.close()

    def abort(self) -> None:
        """End the connection without a word."""
        if self._transport is not None:
            self._transport.abort()

    def shutdown(self) -> None:
        """The web server is stopping."""
        self._hang_up(RESTARTING, "")

    def look_after(self) -> None:
        """Called now and then: ask a silent peer whether it is there; end one that did not say."""
        silent = self._loop.time() - self._heard_at
        if self._closing or silent < PING_AFTER_S:
            return
        if silent >= 2 * PING_AFTER_S:
            self._hang_up(BROKEN, "keepalive ping timeout")
        elif not self._asked:
            self._asked = True
            self._write(frames.control(frames.PING, b"hold"))
