"""One peer on its own socket: bytes in, frames to the connection, its answers back to bytes.

The `websockets` library reads and checks the frames; this module has the transport, the keepalive
and the backpressure. Output is collected until the next pass of the loop and sent in one write.
While the peer does not read, nothing more is given to the transport; the connection's outbox grows
to its limit, and then the peer is dropped.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any, cast

from websockets.exceptions import PayloadTooBig
from websockets.frames import Frame, Opcode
from websockets.protocol import SEND_EOF, State
from websockets.server import ServerProtocol

from holdfast.sync.server.connection import Connection
from holdfast.sync.wire.close_codes import BROKEN, INVALID_TEXT, RESTARTING

PING_AFTER_S = 20.0
"""How long a peer may be silent before it is pinged, and then how long it may take to answer."""

CLOSE_WAIT_S = 10.0
"""How long a peer may take to answer a close."""

LINGER_S = 5.0
"""How long to receive the rest of a frame that is too long, so that the peer can read why."""

REASON_BYTES_MAX = 123
"""A control frame has 125 bytes, two of them for the code."""

TEXT, BINARY, CONT = Opcode.TEXT, Opcode.BINARY, Opcode.CONT

log = logging.getLogger("holdfast.sync")


class FlushQueue:
    """The sockets with something to send; all are flushed on the next pass of the loop."""

    def __init__(self) -> None:
        self._sockets: list[PeerSocket] = []

    def add(self, socket: PeerSocket) -> None:
        if not self._sockets:
            asyncio.get_running_loop().call_soon(self._flush)
        self._sockets.append(socket)

    def _flush(self) -> None:
        sockets, self._sockets = self._sockets, []
        for socket in sockets:
            try:
                socket.flush()
            except Exception:
                # A bug must not take the other peers down.
                log.exception("an answer could not be sent")
                socket.abort()


class PeerSocket(asyncio.Protocol):
    """A WebSocket after its handshake. `protocol` is the library's state of it."""

    def __init__(
        self,
        protocol: ServerProtocol,
        connect: Callable[[Callable[[], None]], Connection],
        on_end: Callable[[PeerSocket], None],
        flushes: FlushQueue,
    ) -> None:
        self._protocol = protocol
        self._connection = connect(self._want_flush)
        self._flushes = flushes
        self._on_end = on_end
        self._loop = asyncio.get_running_loop()
        self.ended: asyncio.Future[None] = self._loop.create_future()
        self._transport: asyncio.Transport | None = None
        self._fragments: list[bytes] = []
        self._fragmented = TEXT
        self._heard_at = self._loop.time()
        self._pinged = False
        self._flush_set = self._paused = self._closing = self._lingering = False
        self._unsent = 0
        self._close_timer: asyncio.TimerHandle | None = None

    # from the transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        if self._lingering:
            return
        self._heard_at, self._pinged = self._loop.time(), False
        self._protocol.receive_data(data)
        texts: list[str] = []
        frame: Any  # the handshake is over, so every event is a frame
        for frame in self._protocol.events_received():
            opcode = frame.opcode
            if opcode is TEXT and frame.fin:
                payload = frame.data
            elif opcode is TEXT or opcode is BINARY or opcode is CONT:
                if not self._is_last(frame):
                    continue
                opcode, payload = self._fragmented, b"".join(self._fragments)
                self._fragments.clear()
            else:
                continue  # the library answers pings and closes
            if opcode is BINARY:
                self._receive(texts)
                texts = []
                self._connection.receive_binary()
                continue
            try:
                texts.append(payload.decode())
            except UnicodeDecodeError:
                self._protocol.fail(INVALID_TEXT, "a text message is not UTF-8")
                break
        self._receive(texts)
        self._write_protocol()

    def _is_last(self, frame: Frame) -> bool:
        """Keep a fragment of a message; whether the message is complete."""
        if frame.opcode is not CONT:
            self._fragmented = frame.opcode
        self._fragments.append(cast("bytes", frame.data))
        return frame.fin

    def _receive(self, texts: list[str]) -> None:
        if self._closing or not texts:
            return
        try:
            self._connection.receive(*texts)
        except Exception:
            # Other peers go on after a bug; this one is closed, as its message has no answer.
            log.exception("a message could not be handled")
            self._connection.close(BROKEN, "internal error")

    def eof_received(self) -> bool:
        return False  # a peer that sends nothing more is gone

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
        """The transport was not handed over."""
        self._closing = True
        self._connection.disconnected()

    # to the transport

    def _want_flush(self) -> None:
        if not self._flush_set and not self._paused:
            self._flush_set = True
            self._flushes.add(self)

    def flush(self) -> None:
        """Send what is waiting, unless the peer must read first."""
        self._flush_set = False
        if self._closing or self._paused:
            return
        messages = self._connection.take()
        if messages:
            # Not `send_text`: answers also precede a close that the library already queued.
            extensions = self._protocol.extensions
            frames = [Frame(TEXT, message.encode()) for message in messages]
            self._write(
                b"".join([frame.serialize(mask=False, extensions=extensions) for frame in frames])
            )
            self._unsent += sum(map(len, messages))
            if not self._paused:  # else it counts as unread until the peer reads again
                self._connection.sent(self._unsent)
                self._unsent = 0
        if self._connection.closing is not None:
            self._send_close(*self._connection.closing)

    def _write(self, data: bytes) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(data)

    def _write_protocol(self) -> None:
        """Send what the library answers by itself: pongs, and the end of the connection."""
        output = self._protocol.data_to_send()
        if not output:
            return
        over = output[-1] == SEND_EOF
        if over:
            if self._protocol.parser_exc is not None:
                log.info("a peer broke the WebSocket protocol: %s", self._protocol.parser_exc)
            self.flush()
            self._closing = True
        self._write(b"".join(output))
        if over and self._transport is not None:
            too_big = isinstance(self._protocol.parser_exc, PayloadTooBig)
            if too_big and self._transport.can_write_eof():
                self._linger(self._transport)
            else:
                self._transport.close()

    def _linger(self, transport: asyncio.Transport) -> None:
        """Let the peer read why it is closed; it may read only after it has sent its whole frame.

        Closing while its bytes arrive would reset the connection, and the reason would be lost.
        """
        transport.write_eof()
        self._lingering = True
        self._close_timer = self._loop.call_later(LINGER_S, self.abort)

    # the end

    def _send_close(self, code: int, reason: str) -> None:
        """Close, and wait a while for the peer's answer, so that it can read why."""
        if self._protocol.state is State.OPEN:
            self._closing = True
            short = reason.encode()[:REASON_BYTES_MAX].decode(errors="ignore")
            self._protocol.send_close(code, short)
            self._write(b"".join(self._protocol.data_to_send()))
            self._close_timer = self._loop.call_later(CLOSE_WAIT_S, self.abort)

    def _fail(self, code: int, reason: str = "") -> None:
        """Close now, without waiting for an answer."""
        self._protocol.fail(code, reason)
        self._write_protocol()
        if self._transport is not None:
            self._transport.close()

    def abort(self) -> None:
        """End the connection without a close frame."""
        if self._transport is not None:
            self._transport.abort()

    def shutdown(self) -> None:
        """The web server is stopping."""
        self._fail(RESTARTING)

    def check_alive(self) -> None:
        """Called periodically: ping a silent peer, and close one that did not answer."""
        silent = self._loop.time() - self._heard_at
        if self._closing or silent < PING_AFTER_S:
            return
        if silent >= 2 * PING_AFTER_S:
            self._fail(BROKEN, "keepalive ping timeout")
        elif not self._pinged:
            self._pinged = True
            self._protocol.send_ping(b"hold")
            self._write_protocol()
