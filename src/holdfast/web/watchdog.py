"""Answers 503 while the event loop is blocked.

The loop accepts connections, so while it is blocked nothing is answered, not even `/healthz`. A
thread watches the loop's heartbeats. When they stop, it accepts connections from the same listening
sockets and answers each with 503, until the loop beats again. The thread counts its own turns
instead of time, so a machine that was asleep does not look like a blocked loop.
"""

from __future__ import annotations

import asyncio
import contextlib
import select
import socket
import threading

BEAT_S = 0.25
BLOCKED_AFTER = 20
"""Turns without a heartbeat after which the loop counts as blocked: 5 seconds."""

READ_S = 0.5
"""How long a peer may take to send its request before it is answered anyway."""

REQUEST_BYTES_MAX = 16_384

ANSWER = (
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\n"
    b"content-length: 12\r\nretry-after: 5\r\nconnection: close\r\ncache-control: no-store\r\n\r\n"
    b'{"ok":false}'
)


class Watchdog:
    """Watches one event loop; `start` and `stop` are called in it."""

    def __init__(self, beat_s: float = BEAT_S, blocked_after: int = BLOCKED_AFTER) -> None:
        self.listeners: list[socket.socket] = []
        """Duplicates of the server's sockets, set before the start; `stop` closes them."""
        self._beat_s, self._blocked_after = beat_s, blocked_after
        self._beats = 0
        self._timer: asyncio.TimerHandle | None = None
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="holdfast-watchdog", daemon=True)

    def start(self) -> None:
        self._beat()
        self._thread.start()

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join(self._beat_s + READ_S)
        for listener in self.listeners:
            listener.close()

    def _beat(self) -> None:
        self._beats += 1
        self._timer = asyncio.get_running_loop().call_later(self._beat_s, self._beat)

    def _watch(self) -> None:
        last, missed = 0, 0
        while not self._ended.wait(0 if missed >= self._blocked_after else self._beat_s):
            beats = self._beats
            missed = missed + 1 if beats == last else 0
            last = beats
            if missed >= self._blocked_after:
                self._answer_waiting()

    def _answer_waiting(self) -> None:
        """Answer connections that wait to be accepted; wait a moment if there are none."""
        with contextlib.suppress(OSError, ValueError):
            ready, _, _ = select.select(self.listeners, [], [], self._beat_s)
            for listener in ready:
                peer, _ = listener.accept()  # BlockingIOError if the loop was faster
                with peer, contextlib.suppress(OSError):
                    _refuse(peer)


def _refuse(peer: socket.socket) -> None:
    peer.settimeout(READ_S)
    request = b""
    with contextlib.suppress(TimeoutError):
        while b"\r\n\r\n" not in request and len(request) < REQUEST_BYTES_MAX:
            data = peer.recv(4096)
            if not data:
                break
            request += data
    peer.sendall(ANSWER)
