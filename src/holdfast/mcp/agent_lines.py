"""Lines between an agent and the background host: splitting them, and sending them in order."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from queue import SimpleQueue


class LineBuffer:
    """Splits incoming bytes into lines. Each byte is copied once, however long a line is."""

    def __init__(self) -> None:
        self._pending: list[bytes] = []

    def feed(self, data: bytes) -> list[bytes]:
        """The lines that this piece completes, without their newlines."""
        first, *more = data.split(b"\n")
        self._pending.append(first)
        if not more:
            return []
        whole, self._pending = b"".join(self._pending), [more.pop()]
        return [whole, *more]

    def rest(self) -> bytes:
        """The bytes after the last newline."""
        return b"".join(self._pending)


class LineSender:
    """Sends lines one after the other, in a thread of its own.

    A frozen host takes no more lines once its socket is full. The hooks of an agent must be read,
    and given up, in the meantime.
    """

    def __init__(self) -> None:
        self._lines: SimpleQueue[tuple[socket.socket, bytes] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._send, daemon=True)
        self.turn = threading.Lock()
        """Held while a line is sent; other code that sends to a host takes it, too."""

    def start(self) -> None:
        self._thread.start()

    def put(self, host: socket.socket, line: bytes) -> None:
        self._lines.put((host, line))

    def finish(self) -> None:
        """Wait until everything is sent, or its host is lost."""
        self._lines.put(None)
        self._thread.join()

    def _send(self) -> None:
        while (message := self._lines.get()) is not None:
            host, line = message
            # Without the connection's lock: the host may wait for us to read before it reads on. A
            # lost host is seen by the reader thread too, which answers what is unanswered.
            with self.turn, suppress(OSError):
                host.sendall(line)
