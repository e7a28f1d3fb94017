"""Tell a damaged write-ahead log from one whose last write was interrupted.

SQLite reads a log up to the first frame that does not match its checksum, because after a crash the
last frames may be half written. That is right for a crash, and wrong for a bit that flipped at
rest: the commits behind it would be lost silently. Two signs tell the cases apart. A log that
ends in a crash has nothing sound behind the broken frame; and a half-written frame is not one bit
away from a sound one.

The checksum is a pair of sums, so the effect of one flipped bit can be computed without trying.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

HEADER = 32
FRAME_HEADER = 24
_MAGIC = 0x377F0682
_MASK = 0xFFFFFFFF

Sums = tuple[int, int]


def damage(path: Path, valid_frames: int) -> str:
    """What is wrong with a log of which SQLite accepts `valid_frames`; empty if nothing is."""
    try:
        with path.open("rb") as file:
            header = file.read(HEADER)
            if len(header) < HEADER:
                return ""
            page = int.from_bytes(header[8:12], "big")
            if not _is_header(header):
                whole = file.read(FRAME_HEADER + 512)
                flipped = any(_is_header(other) for other in _flips(header))
                return "its header does not match its checksum" if whole and flipped else ""
            width = FRAME_HEADER + page
            sums: Sums = struct.unpack(">II", header[24:32])
            if valid_frames:
                file.seek(HEADER + (valid_frames - 1) * width + 16)
                sums = struct.unpack(">II", file.read(8))
            file.seek(HEADER + valid_frames * width)
            return _first_damage(header, _frames(file, width), sums, valid_frames)
    except OSError:
        return ""


def _frames(file: object, width: int) -> Iterator[bytes]:
    while len(frame := file.read(width)) == width:  # type: ignore[attr-defined]
        yield frame


def _first_damage(header: bytes, frames: Iterator[bytes], sums: Sums, number: int) -> str:
    """The first frame that a flipped bit broke."""
    salts, order = header[16:24], "<" if header[3] == 0x82 else ">"
    broken = 0
    for at, frame in enumerate(frames, number + 1):
        stored: Sums = struct.unpack(">II", frame[16:24])
        computed = _sums(frame[:8] + frame[FRAME_HEADER:], sums, order)
        distance = _distance(frame[8:16], salts)
        if distance > 1:
            return ""  # left by an earlier use of the file
        if distance == 1 and computed == stored:
            return f"frame {at} has other salts"
        if distance == 0 and computed != stored:
            if _one_bit_away(frame, sums, order, computed, stored):
                return f"frame {at} does not match its checksum"
            broken = broken or at
        elif distance == 0 and broken and frame[4:8] != bytes(4):
            return f"frame {broken} does not match its checksum, and a later commit does"
        sums = stored
    return ""


def _is_header(header: bytes) -> bool:
    order = "<" if header[3] == 0x82 else ">"
    has_magic = int.from_bytes(header[:4], "big") & ~1 == _MAGIC
    return has_magic and _sums(header[:24], (0, 0), order) == struct.unpack(">II", header[24:32])


def _flips(header: bytes) -> Iterator[bytes]:
    for bit in range(len(header) * 8):
        other = bytearray(header)
        other[bit // 8] ^= 1 << bit % 8
        yield bytes(other)


def _sums(data: bytes, start: Sums, order: str) -> Sums:
    one, two = start
    words = struct.unpack(f"{order}{len(data) // 4}I", data)
    for first, second in zip(words[::2], words[1::2], strict=True):
        one = (one + first + two) & _MASK
        two = (two + second + one) & _MASK
    return one, two


def _distance(one: bytes, other: bytes) -> int:
    return (int.from_bytes(one, "big") ^ int.from_bytes(other, "big")).bit_count()


def _one_bit_away(frame: bytes, start: Sums, order: str, computed: Sums, stored: Sums) -> bool:
    """Whether one flipped bit explains why a frame does not match its checksum."""
    if _distance(struct.pack(">II", *computed), struct.pack(">II", *stored)) == 1:
        return True
    data = frame[:8] + frame[FRAME_HEADER:]
    words = struct.unpack(f"{order}{len(data) // 4}I", data)
    difference = ((stored[0] - computed[0]) & _MASK, (stored[1] - computed[1]) & _MASK)
    # The effect of a changed word on both sums, from the last word to the first.
    a, b, c, d = 1, 0, 0, 1
    for place in range(len(words) - 2, -1, -2):
        for word, effect in (
            (words[place], ((a + b) & _MASK, (c + d) & _MASK)),
            (words[place + 1], (b, d)),
        ):
            for bit in range(32):
                change = -(1 << bit) if word >> bit & 1 else 1 << bit
                if (effect[0] * change & _MASK, effect[1] * change & _MASK) == difference:
                    return True
        a, b, c, d = (a + b) & _MASK, (a + 2 * b) & _MASK, (c + d) & _MASK, (c + 2 * d) & _MASK
    return False
