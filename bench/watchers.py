"""Many connections that wait for one commit, read with one system call each.

With an event loop and a task per watcher the client took as long as the server, and that was what
got measured. Here one thread waits on all sockets, reads what is there and counts whole frames;
what they say is checked after the clock has stopped.
"""

from __future__ import annotations

import base64
import json
import os
import select
import socket
import time
from typing import Any
from urllib.parse import urlsplit

from bench.peer import framed

NEVER_S = 30


class Line:
    """One connection, used while nothing else happens in its thread."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self.socket = socket.create_connection((parts.hostname, parts.port), NEVER_S)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        token = f"Authorization: Bearer {parts.username}\r\n" if parts.username else ""
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(
            f"GET {parts.path} HTTP/1.1\r\nHost: {parts.hostname}:{parts.port}\r\n"
            f"{token}Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: {key}\r\n"
            "Sec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += self.socket.recv(4096)
        assert b" 101 " in head.split(b"\r\n")[0], head
        self._held = b""
        self.last = b""

    def read(self) -> int:
        """Take what has arrived: 1 if the frame that was waited for is complete, else 0."""
        data = self._held + self.socket.recv(1 << 16)
        assert data, "the server hung up"
        size, start = data[1], 2
        assert size < 127, "frames here are short"
        if size == 126:
            size, start = int.from_bytes(data[2:4]), 4
        if len(data) < 4 or len(data) < start + size:
            self._held = data
            return 0
        assert len(data) == start + size, "one frame at a time"
        self._held, self.last = b"", data[start:]
        return 1

    def say(self, message: dict[str, Any]) -> Any:
        self.socket.sendall(framed(json.dumps(message)))
        while not self.read():
            pass
        return json.loads(self.last)


class Watchers:
    """A writer, and those who wait for what it writes."""

    def __init__(self, writer: Line, watchers: list[Line]) -> None:
        self._writer, self._watchers = writer, watchers
        self._poll = select.epoll()
        self._lines = {line.socket.fileno(): line for line in (writer, *watchers)}
        for number in self._lines:
            self._poll.register(number, select.EPOLLIN)

    def seconds_to_last(self, commit: str, is_it: Any) -> float:
        """From sending a commit until everyone has its frame and the writer its answer."""
        frame, lines = framed(commit), self._lines
        owed = len(lines)
        start = time.perf_counter()
        self._writer.socket.sendall(frame)
        while owed:
            ready = self._poll.poll(NEVER_S)
            assert ready, "somebody never heard of it"
            for number, _ in ready:
                owed -= lines[number].read()
        took = time.perf_counter() - start
        assert all(is_it(json.loads(watcher.last)) for watcher in self._watchers)
        return took

    def close(self) -> None:
        self._poll.close()
        for line in self._lines.values():
            line.socket.close()
