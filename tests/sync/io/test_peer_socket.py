"""A peer on its own socket, with a transport that keeps what is written."""

import asyncio
import inspect
import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.client import ClientProtocol
from websockets.frames import Opcode
from websockets.protocol import State
from websockets.server import ServerProtocol
from websockets.sync.client import connect
from websockets.uri import parse_uri

from holdfast.store.store import open_store
from holdfast.sync.io.handover import PARTS, Handover
from holdfast.sync.io.peer_socket import PING_AFTER_S, FlushQueue, PeerSocket
from holdfast.sync.server.connection import Connection
from holdfast.sync.server.limits import Limits
from holdfast.sync.server.server import Server
from holdfast.sync.server.settings import ServerSettings
from holdfast.sync.wire.close_codes import RESTARTING
from tests.scale import examples
from tests.sync.live import BEARER, LiveServer
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

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None:
        """The other direction stays open for a while; nothing more is written."""
        self.closed = True

    def close(self) -> None:
        self.closed = True

    def abort(self) -> None:
        self.closed = self.aborted = True

    def take(self) -> bytes:
        written, self.written = self.written, b""
        return written


def control(opcode: int, data: bytes = b"") -> bytes:
    """A control frame of the server."""
    return bytes((0x80 | opcode, len(data))) + data


def close(code: int, reason: str = "") -> bytes:
    return control(Opcode.CLOSE, code.to_bytes(2) + reason.encode())


def masked(opcode: int, data: bytes, fin: bool = True) -> bytes:
    assert len(data) < 1 << 16
    length = bytes([0x80 | len(data)]) if len(data) < 126 else b"\xfe" + len(data).to_bytes(2)
    return bytes([(0x80 if fin else 0) | opcode]) + length + bytes(4) + data


def on_a_socket(
    act: Callable[[PeerSocket, Transport, Server], Any], limits: Limits | None = None
) -> None:
    """Run `act` with a peer of a server in memory."""
    store = open_store("memory:", "did:key:line")

    async def run() -> None:
        server = Server(
            ServerSettings(
                open_space=lambda space: store,
                clock_ms=lambda: 0,
                new_id=lambda: "id",
                new_token=lambda: "token",
                limits=limits or Limits(),
            )
        )
        protocol = ServerProtocol(state=State.OPEN, max_size=(limits or Limits()).message_bytes_max)
        peer = PeerSocket(protocol, server.connect, lambda _: None, FlushQueue())
        transport = Transport()
        peer.connection_made(transport)
        await act(peer, transport, server)
        peer.connection_lost(None)
        assert not server.connections

    asyncio.run(run())
    store.close()


async def turn() -> None:
    """Let the loop come round."""
    for _ in range(3):
        await asyncio.sleep(0)


@pytest.mark.shows("SYNC-FRAMES")
def test_answers_of_one_turn_leave_in_one_piece() -> None:
    async def act(peer: PeerSocket, transport: Transport, server: Server) -> None:
        wrong = masked(Opcode.TEXT, b"{}")
        peer.data_received(masked(Opcode.TEXT, HELLO.encode()) + wrong + wrong)
        assert transport.take() == b"", "gathered until the loop comes round"
        await turn()
        assert transport.take().count(b'"type"') == 3

    on_a_socket(act)


@pytest.mark.shows("SYNC-FRAMES")
def test_a_message_in_pieces_is_one_message_and_a_ping_may_come_between() -> None:
    async def act(peer: PeerSocket, transport: Transport, server: Server) -> None:
        half = len(HELLO) // 2
        peer.data_received(masked(Opcode.TEXT, HELLO[:half].encode(), fin=False))
        peer.data_received(masked(Opcode.PING, b"there?"))
        assert transport.take() == control(Opcode.PONG, b"there?")
        peer.data_received(masked(Opcode.CONT, HELLO[half:].encode()))
        await turn()
        assert b"hello.ok" in transport.take()

    on_a_socket(act)


@pytest.mark.shows("SYNC-FRAMES")
def test_a_violation_is_told_after_what_was_answered_before_it() -> None:
    async def act(peer: PeerSocket, transport: Transport, server: Server) -> None:
        peer.data_received(masked(Opcode.TEXT, HELLO.encode()) + b"\x81\x05unmasked")
        written = transport.take()
        assert b"hello.ok" in written
        assert close(1002, "incorrect masking") in written
        assert transport.closed

    on_a_socket(act)


@pytest.mark.shows("SYNC-LIMIT-SLOW", "SYNC-FRAMES")
def test_a_peer_that_does_not_read_is_dropped_and_its_answers_are_not_hoarded() -> None:
    async def act(peer: PeerSocket, transport: Transport, server: Server) -> None:
        peer.data_received(masked(Opcode.TEXT, HELLO.encode()))
        await turn()
        transport.take()
        peer.pause_writing()
        for _ in range(40):
            peer.data_received(masked(Opcode.TEXT, b"{}"))
        await turn()
        assert transport.take() == b"", "nothing is given to a socket that is full"
        (connection,) = server.connections
        assert isinstance(connection, Connection)
        assert connection.closing is not None
        assert "SlowConsumerError" in connection.closing[1]
        assert connection.take() == []
        peer.resume_writing()
        assert b"SlowConsumerError" in transport.take()

    on_a_socket(act, Limits(outbox_bytes_max=2_000))


@pytest.mark.shows("SYNC-FRAMES")
def test_what_waited_for_a_reader_is_sent_in_order_once_it_reads() -> None:
    async def act(peer: PeerSocket, transport: Transport, server: Server) -> None:
        peer.pause_writing()
        peer.data_received(masked(Opcode.TEXT, HELLO.encode()) + masked(Opcode.TEXT, b"{}"))
        await turn()
        assert transport.take() == b""
        peer.resume_writing()
        written = transport.take()
        assert 0 < written.index(b"hello.ok") < written.index(b"InvalidMessageError")

    on_a_socket(act)


@pytest.mark.shows("SYNC-FRAMES")
def test_a_silent_peer_is_asked_and_then_let_go() -> None:
    async def act(peer: PeerSocket, transport: Transport, server: Server) -> None:
        peer.check_alive()
        assert transport.take() == b"", "it was heard a moment ago"
        peer._heard_at -= PING_AFTER_S
        peer.check_alive()
        peer.check_alive()
        assert transport.take() == control(Opcode.PING, b"hold"), "asked once"
        peer.data_received(masked(Opcode.PONG, b"hold"))
        peer.check_alive()
        assert not transport.closed
        peer._heard_at -= 2 * PING_AFTER_S
        peer.check_alive()
        assert close(1011, "keepalive ping timeout") in transport.take()
        assert transport.closed

    on_a_socket(act)


@pytest.mark.shows("SYNC-FRAMES")
def test_a_close_is_answered_and_one_of_ours_waits_for_its_answer() -> None:
    async def theirs(peer: PeerSocket, transport: Transport, server: Server) -> None:
        peer.data_received(masked(Opcode.CLOSE, (1000).to_bytes(2)))
        assert transport.take() == close(1000)
        assert transport.closed

    async def ours(peer: PeerSocket, transport: Transport, server: Server) -> None:
        peer.data_received(masked(Opcode.BINARY, b"\0"))
        await turn()
        assert transport.take() == close(1003, "memory/v2 frames are text")
        assert not transport.closed, "so that the peer can read why"
        peer.data_received(masked(Opcode.TEXT, HELLO.encode()))
        await turn()
        assert transport.take() == b"", "nothing is answered after a close"
        peer.data_received(masked(Opcode.CLOSE, (1003).to_bytes(2)))
        assert transport.closed

    async def stopping(peer: PeerSocket, transport: Transport, server: Server) -> None:
        peer.shutdown()
        assert transport.take() == close(RESTARTING)
        assert transport.closed

    on_a_socket(theirs)
    on_a_socket(ours)
    on_a_socket(stopping)


def answers_to(pieces: list[bytes], limits: Limits | None = None) -> ClientProtocol:
    """What a client reads after it sent these bytes."""
    client = ClientProtocol(parse_uri("ws://localhost/"), state=State.OPEN, max_size=None)

    async def act(peer: PeerSocket, transport: Transport, server: Server) -> None:
        for piece in pieces:
            peer.data_received(piece)
        await turn()
        client.receive_data(transport.take())

    on_a_socket(act, limits)
    return client


@pytest.mark.shows("SYNC-FRAMES")
@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"\x81\x05hello" + bytes(9), 1002),
        (b"\xc1\x80" + bytes(4), 1002),
        (masked(Opcode.CONT, b"x"), 1002),
        (masked(Opcode.TEXT, b"x", fin=False) + masked(Opcode.TEXT, b"y"), 1002),
        (b"\x09\x80" + bytes(4), 1002),
        (b"\x83\x80" + bytes(4), 1002),
        (masked(Opcode.TEXT, b"x" * 301), 1009),
        (masked(Opcode.TEXT, b"x" * 60_000)[:8], 1009),
        (masked(Opcode.TEXT, b"x" * 200, fin=False) + masked(0, b"y" * 200), 1009),
        (masked(Opcode.TEXT, "é".encode()[:1]), 1007),
        (masked(Opcode.TEXT, "é".encode()[:1], fin=False) + masked(0, b"x"), 1007),
        (masked(Opcode.CLOSE, (1005).to_bytes(2)), 1002),
    ],
)
def test_a_peer_that_breaks_the_rules_is_told_which(data: bytes, code: int) -> None:
    hello, more = masked(Opcode.TEXT, HELLO.encode()), masked(Opcode.TEXT, b"{}")
    client = answers_to([hello + data, more], Limits(message_bytes_max=300))
    answer, closing = client.events_received()
    assert b"hello.ok" in bytes(answer.data), "it was complete before"  # type: ignore[union-attr]
    assert closing.opcode is Opcode.CLOSE  # type: ignore[union-attr]
    assert client.close_rcvd is not None
    assert client.close_rcvd.code == code


@pytest.mark.shows("SYNC-FRAMES", "SYNC-FUZZ")
@given(
    texts=st.lists(st.text(max_size=200), max_size=4),
    damage=st.lists(st.tuples(st.integers(0, 900), st.integers(0, 255)), max_size=2),
    cuts=st.lists(st.integers(0, 900), max_size=8),
)
@settings(max_examples=examples(60), deadline=None)
def test_bytes_are_read_the_same_however_they_are_cut(
    texts: list[str], damage: list[tuple[int, int]], cuts: list[int]
) -> None:
    sent = bytearray(masked(Opcode.TEXT, HELLO.encode()))
    for text in texts:
        sent += masked(Opcode.TEXT, text.encode())
    for place, byte in damage:
        sent[place % len(sent)] = byte
    data = bytes(sent)
    places = sorted({min(cut, len(data)) for cut in cuts} | {0, len(data)})
    pieces = [data[start:end] for start, end in pairwise(places)]
    whole, cut = answers_to([data]), answers_to(pieces)
    assert cut.events_received() == whole.events_received()
    assert cut.close_rcvd == whole.close_rcvd


@pytest.mark.shows("SYNC-FRAMES")
@given(reason=st.text(max_size=200))
@settings(max_examples=examples(60), deadline=None)
def test_a_close_says_as_much_of_its_reason_as_fits(reason: str) -> None:
    client = ClientProtocol(parse_uri("ws://localhost/"), state=State.OPEN)

    async def act(peer: PeerSocket, transport: Transport, server: Server) -> None:
        (connection,) = server.connections
        assert isinstance(connection, Connection)
        connection.close(1008, reason)
        await turn()
        client.receive_data(transport.take())

    on_a_socket(act)
    assert client.close_rcvd is not None
    assert client.close_rcvd.code == 1008
    assert reason.startswith(client.close_rcvd.reason)
    assert len(client.close_rcvd.reason.encode()) > min(len(reason.encode()), 119) - 1


@pytest.mark.shows("SYNC-FRAMES")
def test_uvicorn_still_has_the_parts_that_a_handover_uses(tmp_path: Any) -> None:
    """They are private. Without them the server works, but every message takes the long way."""
    names = {name for part in Handover.__mro__ for name in vars(part)}
    source = Path(inspect.getfile(WebSocketsSansIOProtocol)).read_text()
    assert {"handle_connect", "stop_keepalive"} <= names
    for part in PARTS:
        assert part in names or f"self.{part}" in source, part
    server = LiveServer(str(tmp_path))
    try:
        with connect(
            server.url.replace("http", "ws") + "/sync", compression=None, additional_headers=BEARER
        ) as socket:
            socket.send(HELLO)
            assert json.loads(socket.recv(20))["type"] == "hello.ok"
            assert len(server.service.endpoint.sockets) == 1
    finally:
        server.stop()


@pytest.mark.shows("SYNC-FRAMES", "SYNC-SERVE")
@pytest.mark.parametrize("handover", [True, False])
def test_a_server_that_cannot_give_its_socket_away_serves_all_the_same(
    tmp_path: Any, handover: bool
) -> None:
    server = LiveServer(str(tmp_path), handover=handover)
    try:
        with connect(
            server.url.replace("http", "ws") + "/sync", compression=None, additional_headers=BEARER
        ) as socket:
            socket.send(iter([HELLO[:20], HELLO[20:]]))
            assert json.loads(socket.recv(20))["type"] == "hello.ok"
            assert socket.ping().wait(20)
    finally:
        server.stop()
