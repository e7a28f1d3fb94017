"""A peer on a socket of its own, with a transport that can be looked into."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from websockets.sync.client import connect

from holdfast.store.store import open_store
from holdfast.sync.io import frames
from holdfast.sync.io.line import PING_AFTER_S, Line, Round
from holdfast.sync.server.limits import Limits
from holdfast.sync.server.server import Server
from holdfast.sync.wire.close_codes import RESTARTING
from tests.sync.live import LiveServer
from tests.sync.peers import FLAGS

HELLO = json.dumps({"type": "hello", "protocol": "memory/v2", "flags": FLAGS})


class Transport(asyncio.Transport):
    """Keeps what was written."""

    def __init__(self) -> None:
        super().__init__()
        self.written = b""
        self.closed = self.aborted = False

    def write(self, data: Any) -> None:
        self.written += bytes(data)

    def is_closing(self) -> bool:
        return self.closed

    def close(self) -> None:
        self.closed = True

    def abort(self) -> None:
        self.closed = self.aborted = True

    def take(self) -> bytes:
        written, self.written = self.written, b""
        return written


def masked(opcode: int, data: bytes, fin: bool = True) -> bytes:
    assert len(data) < 1 << 16
    length = bytes([0x80 | len(data)]) if len(data) < 126 else b"\xfe" + len(data).to_bytes(2)
    return bytes([(0x80 if fin else 0) | opcode]) + length + bytes(4) + data


def on_a_line(act: Callable[[Line, Transport, Server], Any], limits: Limits | None = None) -> None:
    """Run `act` with a line to a server in memory."""
    store = open_store("memory:", "did:key:line")

    async def run() -> None:
        server = Server(
            lambda space: store,
            clock_ms=lambda: 0,
            new_id=lambda: "id",
            new_token=lambda: "token",
            limits=limits,
        )
        line = Line(
            server.connect, (limits or Limits()).message_bytes_max, lambda line: None, Round()
        )
        transport = Transport()
        line.connection_made(transport)
        await act(line, transport, server)
        line.connection_lost(None)
        assert not server.connections

    asyncio.run(run())
    store.close()


async def turn() -> None:
    """Let the loop come round."""
    for _ in range(3):
        await asyncio.sleep(0)


@pytest.mark.shows("SYNC-FRAMES")
def test_answers_of_one_turn_leave_in_one_piece() -> None:
    async def act(line: Line, transport: Transport, server: Server) -> None:
        wrong = masked(frames.TEXT, b"{}")
        line.data_received(masked(frames.TEXT, HELLO.encode()) + wrong + wrong)
        assert transport.take() == b"", "gathered until the loop comes round"
        await turn()
        assert transport.take().count(b'"type"') == 3

    on_a_line(act)


@pytest.mark.shows("SYNC-FRAMES")
def test_a_message_in_pieces_is_one_message_and_a_ping_may_come_between() -> None:
    async def act(line: Line, transport: Transport, server: Server) -> None:
        half = len(HELLO) // 2
        line.data_received(masked(frames.TEXT, HELLO[:half].encode(), fin=False))
        line.data_received(masked(frames.PING, b"there?"))
        assert transport.take() == frames.control(frames.PONG, b"there?")
        line.data_received(masked(frames.CONTINUATION, HELLO[half:].encode()))
        await turn()
        assert b"hello.ok" in transport.take()

    on_a_line(act)


@pytest.mark.shows("SYNC-FRAMES")
def test_a_violation_is_told_after_what_was_answered_before_it() -> None:
    async def act(line: Line, transport: Transport, server: Server) -> None:
        line.data_received(masked(frames.TEXT, HELLO.encode()) + b"\x81\x05unmasked")
        written = transport.take()
        assert b"hello.ok" in written
        assert frames.close(1002, "a client's frame is masked") in written
        assert transport.closed

    on_a_line(act)


@pytest.mark.shows("SYNC-LIMIT-SLOW", "SYNC-FRAMES")
def test_a_peer_that_does_not_read_is_dropped_and_its_answers_are_not_hoarded() -> None:
    async def act(line: Line, transport: Transport, server: Server) -> None:
        line.data_received(masked(frames.TEXT, HELLO.encode()))
        await turn()
        transport.take()
        line.pause_writing()
        for _ in range(40):
            line.data_received(masked(frames.TEXT, b"{}"))
        await turn()
        assert transport.take() == b"", "nothing is given to a socket that is full"
        (connection,) = server.connections
        assert connection.closing is not None
        assert "SlowConsumerError" in connection.closing[1]
        assert connection.take() == []
        line.resume_writing()
        assert b"SlowConsumerError" in transport.take()

    on_a_line(act, Limits(outbox_bytes_max=2_000))


@pytest.mark.shows("SYNC-FRAMES")
def test_what_waited_for_a_reader_is_sent_in_order_once_it_reads() -> None:
    async def act(line: Line, transport: Transport, server: Server) -> None:
        line.pause_writing()
        line.data_received(masked(frames.TEXT, HELLO.encode()) + masked(frames.TEXT, b"{}"))
        await turn()
        assert transport.take() == b""
        line.resume_writing()
        written = transport.take()
        assert 0 < written.index(b"hello.ok") < written.index(b"InvalidMessageError")

    on_a_line(act)


@pytest.mark.shows("SYNC-FRAMES")
def test_a_silent_peer_is_asked_and_then_let_go() -> None:
    async def act(line: Line, transport: Transport, server: Server) -> None:
        line.look_after()
        assert transport.take() == b"", "it was heard a moment ago"
        line._heard_at -= PING_AFTER_S
        line.look_after()
        line.look_after()
        assert transport.take() == frames.control(frames.PING, b"hold"), "asked once"
        line.data_received(masked(frames.PONG, b"hold"))
        line.look_after()
        assert not transport.closed
        line._heard_at -= 2 * PING_AFTER_S
        line.look_after()
        assert frames.close(1011, "keepalive ping timeout") in transport.take()
        assert transport.closed

    on_a_line(act)


@pytest.mark.shows("SYNC-FRAMES")
def test_a_close_is_answered_and_one_of_ours_waits_for_its_answer() -> None:
    async def theirs(line: Line, transport: Transport, server: Server) -> None:
        line.data_received(masked(frames.CLOSE, (1000).to_bytes(2)))
        assert transport.take() == frames.close(1000)
        assert transport.closed

    async def ours(line: Line, transport: Transport, server: Server) -> None:
        line.data_received(masked(frames.BINARY, b"\0"))
        await turn()
        assert transport.take() == frames.close(1003, "memory/v2 frames are text")
        assert not transport.closed, "so that the peer can read why"
        line.data_received(masked(frames.TEXT, HELLO.encode()))
        await turn()
        assert transport.take() == b"", "nothing is answered after a close"
        line.data_received(masked(frames.CLOSE, (1003).to_bytes(2)))
        assert transport.closed

    async def stopping(line: Line, transport: Transport, server: Server) -> None:
        line.shutdown()
        assert transport.take() == frames.close(RESTARTING)
        assert transport.closed

    on_a_line(theirs)
    on_a_line(ours)
    on_a_line(stopping)


@pytest.mark.shows("SYNC-FRAMES", "SYNC-SERVE")
@pytest.mark.parametrize("handover", [True, False])
def test_a_server_that_cannot_give_its_socket_away_serves_all_the_same(
    tmp_path: Any, handover: bool
) -> None:
    server = LiveServer(str(tmp_path), handover=handover)
    try:
        with connect(server.url.replace("http", "ws") + "/sync", compression=None) as socket:
            socket.send(iter([HELLO[:20], HELLO[20:]]))
            assert json.loads(socket.recv(20))["type"] == "hello.ok"
            assert socket.ping().wait(20)
    finally:
        server.stop()
