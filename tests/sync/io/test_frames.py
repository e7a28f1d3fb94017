"""Our reading of WebSocket frames, judged by the `websockets` library's own."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from websockets.client import ClientProtocol
from websockets.exceptions import ConnectionClosed
from websockets.frames import Opcode
from websockets.protocol import State
from websockets.server import ServerProtocol
from websockets.uri import parse_uri

from holdfast.sync.io import frames
from holdfast.sync.io.frames import Binary, Closed, Event, FrameReader, Ping, Pong, Violation
from tests.scale import examples

BYTES_MAX = 300


def masked(opcode: int, data: bytes, fin: bool = True) -> bytes:
    """A client's frame, which may break the rules; the library would refuse to write it."""
    size = len(data)
    length = bytes([0x80 | min(size, 127)])
    if size > 125:
        length = b"\xfe" + size.to_bytes(2) if size < 1 << 16 else b"\xff" + size.to_bytes(8)
    mask = b"mask"
    hidden = bytes(byte ^ mask[place % 4] for place, byte in enumerate(data))
    return bytes([(0x80 if fin else 0) | opcode]) + length + mask + hidden


def fed(data: bytes, cuts: list[int], reader: FrameReader | None = None) -> list[Event]:
    """What is read when these bytes arrive in pieces."""
    reader = reader or FrameReader(BYTES_MAX)
    places = sorted({min(cut, len(data)) for cut in cuts} | {0, len(data)})
    events: list[Event] = []
    for start, end in pairwise(places):
        events += reader.feed(data[start:end])
    return events


def library(data: bytes) -> tuple[list[tuple[int, bytes, bool]], bool]:
    """The frames that the library finds, and whether it gave up or waits for more of one."""
    twin = ServerProtocol(state=State.OPEN, max_size=BYTES_MAX)
    twin.receive_data(data)
    found: list[Any] = twin.events_received()
    seen = [(int(frame.opcode), bytes(frame.data), frame.fin) for frame in found]
    return seen, twin.parser_exc is not None or sum_of_frames(data, len(seen)) < len(data)


def sum_of_frames(data: bytes, count: int) -> int:
    """Where the first so many frames end."""
    end = 0
    for _ in range(count):
        end += frame_length(data, end)
    return end


def frame_length(data: bytes, at: int) -> int:
    """How many bytes a whole masked frame takes."""
    size = data[at + 1] & 0x7F
    extended = {126: 2, 127: 8}.get(size, 0)
    if extended:
        size = int.from_bytes(data[at + 2 : at + 2 + extended])
    return 2 + extended + 4 + size


def expected(seen: list[tuple[int, bytes, bool]]) -> list[Event]:
    """Frames put together to messages, as RFC 6455 section 5.4 tells it."""
    events: list[Event] = []
    kind, parts = 0, b""
    for opcode, data, fin in seen:
        if opcode == frames.PING:
            events.append(Ping(data))
        elif opcode == frames.PONG:
            events.append(Pong(data))
        elif opcode == frames.CLOSE:
            said = data[2:].decode()
            events.append(Closed(int.from_bytes(data[:2]) if data else frames.NO_CODE, said))
            return events
        else:
            kind, parts = (kind, parts + data) if opcode == 0 else (opcode, data)
            if fin and kind == frames.BINARY:
                events.append(Binary())
            elif fin:
                try:
                    events.append(parts.decode())
                except UnicodeDecodeError:
                    # The library leaves that to whoever reads the message.
                    return [*events, Violation(1007, "a text message is not UTF-8")]
    return events


payloads = st.one_of(
    st.text(max_size=40).map(str.encode),
    st.binary(max_size=20),
    st.integers(100, 340).map(lambda size: b"x" * size),
)
closes = st.tuples(st.integers(0, 5000), st.binary(max_size=8)).map(
    lambda pair: pair[0].to_bytes(2) + pair[1]
)
whole = st.builds(
    masked,
    st.sampled_from([0, 1, 1, 1, 2, 8, 9, 10]),
    st.one_of(payloads, closes),
    st.sampled_from([True, True, True, False]),
)


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """Frames, some with a byte changed in the head."""
    data = bytearray(b"".join(draw(st.lists(whole, max_size=6))))
    for _ in range(draw(st.integers(0, 2))):
        if data:
            data[draw(st.integers(0, len(data) - 1))] = draw(st.integers(0, 255))
    return bytes(data)


@pytest.mark.shows("SYNC-FRAMES", "SYNC-FUZZ")
@given(data=damaged(), cuts=st.lists(st.integers(0, 900), max_size=8))
@settings(max_examples=examples(500), deadline=None)
def test_any_bytes_are_read_as_the_library_reads_them(data: bytes, cuts: list[int]) -> None:
    ours, (seen, unread) = fed(data, cuts), library(data)
    theirs = expected(seen)
    if theirs and isinstance(theirs[-1], Closed | Violation):
        assert ours == theirs
        return
    # Of a frame that breaks two rules we may name the other one, and sooner: by its head. And the
    # library does not let a peer close in the middle of a message, as RFC 6455 section 5.4 does.
    refused = bool(ours) and isinstance(ours[-1], Violation | Closed)
    if stingy(data, seen):
        assert ours[: len(theirs)] == theirs
        return
    assert ours[: len(ours) - refused] == theirs
    assert not refused or unread


def stingy(data: bytes, seen: list[tuple[int, bytes, bool]]) -> bool:
    """Whether the library refuses a ping within a message for the size of both together."""
    refused = data[sum_of_frames(data, len(seen)) :]
    if len(refused) < 2 or refused[0] & 0x0F < frames.CLOSE:
        return False
    within = 0
    for opcode, part, fin in seen:
        if opcode < frames.CLOSE:
            within = 0 if fin else within + len(part)
    return within + (refused[1] & 0x7F) > BYTES_MAX


@pytest.mark.shows("SYNC-FRAMES")
@given(frame=whole, damage=st.integers(0, 255))
@settings(max_examples=examples(300), deadline=None)
def test_what_the_library_refuses_we_refuse(frame: bytes, damage: int) -> None:
    data = bytes([damage]) + frame[1:]
    twin = ServerProtocol(state=State.OPEN, max_size=BYTES_MAX)
    twin.receive_data(data)
    if twin.parser_exc is not None and twin.close_rcvd is None:
        (*_, last) = fed(data, [])
        assert isinstance(last, Violation)


@pytest.mark.shows("SYNC-FRAMES")
@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"\x81\x05hello" + bytes(9), 1002),
        (b"\xc1\x80" + bytes(4), 1002),
        (masked(frames.CONTINUATION, b"x"), 1002),
        (masked(frames.TEXT, b"x", fin=False) + masked(frames.TEXT, b"y"), 1002),
        (b"\x09\x80" + bytes(4), 1002),
        (b"\x83\x80" + bytes(4), 1002),
        (masked(frames.TEXT, b"x" * (BYTES_MAX + 1)), 1009),
        (masked(frames.TEXT, b"x" * 200, fin=False) + masked(0, b"y" * 200), 1009),
        (masked(frames.TEXT, "é".encode()[:1]), 1007),
        (masked(frames.CLOSE, (1005).to_bytes(2)), 1002),
    ],
)
def test_whoever_breaks_the_rules_is_told_which(data: bytes, code: int) -> None:
    reader = FrameReader(BYTES_MAX)
    (*_, last) = reader.feed(data)
    assert isinstance(last, Violation)
    assert last.code == code
    assert reader.feed(masked(frames.TEXT, b"more")) == [], "nothing after it is looked at"


@pytest.mark.shows("SYNC-FRAMES")
def test_a_text_that_is_too_long_is_refused_by_its_head() -> None:
    head = masked(frames.TEXT, b"x" * 70_000)[:10]
    (only,) = FrameReader(BYTES_MAX).feed(head)
    assert only == Violation(1009, f"more than {BYTES_MAX} bytes")


@pytest.mark.shows("SYNC-FRAMES")
@given(sent=st.lists(st.one_of(st.text(max_size=60), st.just("y" * 70_000)), max_size=4))
@settings(max_examples=examples(100), deadline=None)
def test_what_we_send_is_read_by_the_library(sent: list[str]) -> None:
    peer = ClientProtocol(parse_uri("ws://localhost/"), state=State.OPEN, max_size=None)
    peer.receive_data(frames.texts(sent) + frames.control(frames.PING, b"hold"))
    *found, ping = peer.events_received()
    assert [bytes(frame.data).decode() for frame in found] == sent  # type: ignore[union-attr]
    assert ping.opcode is Opcode.PING  # type: ignore[union-attr]


@pytest.mark.shows("SYNC-FRAMES")
@given(reason=st.text(max_size=200))
@settings(max_examples=examples(100), deadline=None)
def test_a_close_says_as_much_of_its_reason_as_fits(reason: str) -> None:
    peer = ClientProtocol(parse_uri("ws://localhost/"), state=State.OPEN)
    peer.receive_data(frames.close(1008, reason))
    assert peer.parser_exc is None or isinstance(peer.parser_exc, ConnectionClosed)
    assert peer.close_rcvd is not None
    assert peer.close_rcvd.code == 1008
    assert reason.startswith(peer.close_rcvd.reason)
    assert len(peer.close_rcvd.reason.encode()) > min(len(reason.encode()), 119) - 1
