"""Follows a growing file of JSON lines written by another program.

A line counts once its newline is written, or once it is a complete JSON object: copies of logs
often lack the last newline. Anything else after the last newline is an incomplete entry and is
returned separately. Lines are split at `\\n` only: strings may contain other separators unescaped.
"""

from __future__ import annotations

import errno
import json
import os
from dataclasses import dataclass, field
from typing import Any

from holdfast.files.regular import open_regular

_GUARD_BYTES = 256

LOG_BYTES_MAX = 1 << 30
"""A longer log is not read."""


@dataclass(frozen=True, slots=True)
class Grown:
    """What is new in the file since the last look."""

    lines: list[bytes]
    tail: bytes
    """Bytes after the last newline."""
    restarted: bool
    """The file was replaced; `lines` is all of it."""


@dataclass(slots=True)
class Follower:
    """Reads each complete line of a file once, and notices when the file is replaced."""

    path: str
    _offset: int = 0
    _identity: tuple[int, int] | None = None
    _stamp: tuple[int, int, int] | None = None
    _guard: bytes = b""
    _tail: bytes = field(default=b"")

    def look(self) -> Grown | None:
        """What was appended; None for nothing. Raises OSError when the file cannot be read."""
        status = os.stat(self.path)
        # The change time cannot be set back, so a rewrite that restores the rest still shows.
        stamp = (status.st_size, status.st_mtime_ns, status.st_ctime_ns)
        identity = (status.st_dev, status.st_ino)
        if stamp == self._stamp and identity == self._identity:
            return None
        restarted = self._identity is not None and (
            identity != self._identity
            or status.st_size < self._offset
            or (self._stamp is not None and status.st_size == self._stamp[0])
        )
        if restarted:
            self._offset, self._guard = 0, b""
        data = _read_from(self.path, self._offset - len(self._guard))
        if not data.startswith(self._guard):
            # The bytes before our offset changed, so this is another file.
            restarted, self._offset, self._guard = True, 0, b""
            data = _read_from(self.path, 0)
        data = data[len(self._guard) :]
        end = data.rfind(b"\n") + 1
        lines = data[:end].split(b"\n")[:-1] if end else []
        if data[end:].rstrip().endswith(b"}") and objects(data[end:]):
            lines.append(data[end:])
            end = len(data)
        self._offset += end
        self._tail = data[end:]
        self._guard = (self._guard + data[:end])[-_GUARD_BYTES:]
        self._identity = identity
        # The size from before reading: if the file grew in between, the next look reads again.
        self._stamp = stamp
        return Grown(lines, self._tail, restarted)


def _read_from(path: str, offset: int) -> bytes:
    """The bytes of a file from `offset` to its end."""
    descriptor = open_regular(path)
    try:
        size = os.fstat(descriptor).st_size - offset
        if size > LOG_BYTES_MAX:
            raise OSError(errno.EFBIG, "the session log is larger than 1 GiB", path)
        if size <= 0:
            return b""
        data = os.pread(descriptor, size, offset)
        while len(data) < size:
            piece = os.pread(descriptor, size - len(data), offset + len(data))
            if not piece:
                break
            data += piece
        return data
    finally:
        os.close(descriptor)


def append_lines(path: str, lines: list[bytes], *, durable: bool = True) -> None:
    """Append whole lines in one write, after a newline if the file lacks its last one.

    Pass `durable=False` for records that a power failure may lose: the call skips the fsync.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        size = os.fstat(descriptor).st_size
        data = b"".join(line + b"\n" for line in lines)
        if size and os.pread(descriptor, 1, size - 1) != b"\n":
            data = b"\n" + data
        while data:
            data = data[os.write(descriptor, data) :]
        if durable:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def objects(line: bytes) -> list[Any]:
    """Every JSON value in a line, as two writers may share one; empty if any part is invalid."""
    one = loads(line)
    if one is not None:
        return [one]
    text = line.decode("utf-8", errors="replace").strip()
    values: list[Any] = []
    at = 0
    while at < len(text):
        try:
            value, at = _decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            return []
        values.append(value)
        while at < len(text) and text[at] in " \t\r":
            at += 1
    return values


_decoder = json.JSONDecoder()


def loads(line: bytes) -> Any:
    """The JSON in this line as the program that wrote it would read it; None if it is not JSON.

    Escaped halves of surrogate pairs are legal there, and bytes that are not UTF-8 are replaced.
    """
    try:
        return json.loads(line.decode("utf-8", errors="replace"))
    except (ValueError, RecursionError):
        return None
