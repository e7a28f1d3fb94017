"""WebSocket frames (RFC 6455), the server's side: bytes in, messages out, and back. No socket.

A general web server hands every message from one task to another before we see it, and that takes
longer than deciding what to answer. Frames are simple, so we read them ourselves. No extensions:
none is offered, and a frame that claims one is a violation.

Whatever breaks the rules ends the connection; what was complete before it is still delivered.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

try:
    from websockets.speedups import apply_mask
except ImportError:  # no compiled part on this machine
    from websockets.utils import apply_mask

CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10

NO_CODE = 1005
"""What a close without a code counts as; never sent."""


@dataclass(frozen=True, slots=True)
class Binary:
    """A whole message that is no text. What it holds is not kept."""


@dataclass(frozen=True, slots=True)
class Ping:
    """The peer asks whether we are there; the answer repeats its data."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Pong:
    """The peer is there."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Closed:
    """The peer will send nothing more."""

    code: int
    reason: str


@dataclass(frozen=True, slots=True)
class Violation:
    """The peer broke the rules; close with this code. Nothing after it is looked at."""

    code: int
    reason: str


Event: TypeAlias = str | Binary | Ping | Pong | Closed | Violation
"""What arrived. A text message is its text."""


class FrameReader:
    """The frames of one peer, as messages. `bytes_max` bounds a message, not a frame."""

    def __init__(self, bytes_max: int) -> None:
        self.bytes_max = bytes_max
        self._held = bytearray()
        self._need = 2
        self._opcode: int | None = None
        self._parts: list[bytes] = []
        self._size = 0
        self._over = False

    def feed(self, data: bytes) -> list[Event]:
        """What is complete now that these bytes arrived."""
        if self._over:
            return []
        if self._held:
            self._held += data
            if len(self._held) < self._need:
                return []  # a long message in small pieces is looked at once
            data = bytes(self._held)
            self._held.clear()
        events: list[Event] = []
        at = 0
        while not self._over:
            taken = self._frame(data, at, events)
            if not taken:
                self._held += data[at:]
                break
            at += taken
        return events

    def _frame(self, data: bytes, at: int, events: list[Event]) -> int:
        """Take one frame; how long it was, or 0 if it is not all there."""
        have = len(data) - at
        if have < 6:
            self._need = 6
            return 0
        first, second = data[at], data[at + 1]
        opcode, size, head = first & 0x0F, second & 0x7F, 2
        if size > 125:
            head = 4 if size == 126 else 10
            if have < head:
                self._need = head
                return 0
            size = int.from_bytes(data[at + 2 : at + head])
        # Nearly every frame is a whole text, and nothing is wrong with it.
        whole = first == 0x80 | TEXT and second >= 0x80 and self._opcode is None
        wrong = None
        if not whole or size > self.bytes_max:
            wrong = self._problem(first, second, opcode, size)
        if wrong is not None:
            self._over = True
            events.append(wrong)
            return 1
        start = head + 4
        if have < start + size:
            self._need = start + size
            return 0
        begin = at + start
        payload = apply_mask(data[begin : begin + size], data[begin - 4 : begin])
        event = self._message(opcode, payload, bool(first & 0x80))
        if event is not None:
            events.append(event)
            self._over = type(event) is Violation or type(event) is Closed
        return start + size

    def _problem(self, first: int, second: int, opcode: int, size: int) -> Violation | None:
        """What is wrong with a frame, by its head alone."""
        if first & 0x70:
            return Violation(1002, "reserved bits are set")
        if not second & 0x80:
            return Violation(1002, "a client's frame is masked")
        if opcode >= CLOSE:
            if opcode > PONG:
                return Violation(1002, f"unknown kind of frame: {opcode}")
            if not first & 0x80 or size > 125:
                return Violation(1002, "a control frame is whole and short")
            return None
        if opcode > BINARY:
            return Violation(1002, f"unknown kind of frame: {opcode}")
        if (opcode == CONTINUATION) != (self._opcode is not None):
            return Violation(1002, "a message was continued that had not begun, or begun twice")
        if self._size + size > self.bytes_max:
            return Violation(1009, f"more than {self.bytes_max} bytes")
        return None

    def _message(self, opcode: int, payload: bytes, last: bool) -> Event | None:
        if opcode >= CLOSE:
            if opcode == PING:
                return Ping(payload)
            return Pong(payload) if opcode == PONG else _closed(payload)
        if opcode == CONTINUATION or not last:
            if self._opcode is None:
                self._opcode = opcode
            self._parts.append(payload)
            self._size += len(payload)
            if not last:
                return None
            opcode, payload = self._opcode, b"".join(self._parts)
            self._opcode, self._parts, self._size = None, [], 0
        if opcode == BINARY:
            return Binary()
        try:
            return payload.decode()
        except UnicodeDecodeError:
            return Violation(1007, "a text message is not UTF-8")


def _closed(payload: bytes) -> Closed | Violation:
    if not payload:
        return Closed(NO_CODE, "")
    code = int.from_bytes(payload[:2])
    if len(payload) < 2 or not _is_code(code):
        return Violation(1002, "this is no close code")
    try:
        return Closed(code, payload[2:].decode())
    except UnicodeDecodeError:
        return Violation(1007, "a close reason is not UTF-8")


def _is_code(code: int) -> bool:
    return 3000 <= code < 5000 or (1000 <= code <= 1014 and code not in (1004, 1005, 1006))


_SHORT = [bytes((0x80 | TEXT, size)) for size in range(126)]


def texts(messages: list[str]) -> bytes:
    """Text messages as they are sent, one frame each."""
    parts: list[bytes] = []
    for message in messages:
        payload = message.encode()
        size = len(payload)
        if size < 126:
            parts.append(_SHORT[size])
        elif size < 1 << 16:
            parts.append(b"\x81\x7e" + size.to_bytes(2))
        else:
            parts.append(b"\x81\x7f" + size.to_bytes(8))
        parts.append(payload)
    return b"".join(parts)


def control(opcode: int, data: bytes = b"") -> bytes:
    """A ping, a pong or a close as it is sent."""
    assert len(data) < 126, "a control frame is short"
    return bytes((0x80 | opcode, len(data))) + data


def close(code: int, reason: str = "") -> bytes:
    """A close as it is sent; a reason that is too long is cut between characters."""
    if code == NO_CODE:
        return control(CLOSE)
    said = reason.encode()[:123].decode(errors="ignore").encode()
    return control(CLOSE, code.to_bytes(2) + said)
