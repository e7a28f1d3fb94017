"""Detect a frozen helper process: stopped (SIGSTOP), in a debugger or in a frozen cgroup.

Such a process keeps its pipes open, so its parent would wait without limit. The clock alone does
not tell it from a busy one: on a busy machine a process may wait for long. So a process counts as
frozen when it is stopped, or uses no processor time, at several checks in a row.
"""

from __future__ import annotations

import os
import select
from collections.abc import Callable

import msgspec

from holdfast.locks import process_state

LOOK_S = 1.0
"""Seconds to wait for an answer before the process is checked."""
STOPPED_LOOKS = 5
"""A process that is stopped at this many checks in a row is frozen."""
IDLE_LOOKS = 60
"""The same for a process that used no processor time."""
UNKNOWN_LOOKS = 900
"""The same where the system does not report the state of a process."""


class Frozen(OSError):
    """Raised when a helper process is frozen, or has not answered in time."""


class Watch(msgspec.Struct):
    """Checks one process while waiting for its answer."""

    pid: int
    look_s: float = LOOK_S
    answer_s: float | None = None
    """The maximum time for an answer, even if the process is busy."""
    state: Callable[[int], tuple[bool, int] | None] = process_state
    _before: tuple[bool, int] | None = None
    _looks: int = 0
    _waited_s: float = 0.0

    def restart(self) -> None:
        """The process answered: start counting again."""
        self._looks, self._before, self._waited_s = 0, None, 0.0

    def is_frozen(self) -> bool:
        """Check once more, and return whether the process is frozen."""
        now = self.state(self.pid)
        still = now is None or now[0] or now == self._before
        self._looks = self._looks + 1 if still else 0
        self._before = now
        if now is None:
            return self._looks >= UNKNOWN_LOOKS
        return self._looks >= (STOPPED_LOOKS if now[0] else IDLE_LOOKS)

    def read(self, pipe: int, size_bytes: int) -> bytes:
        """Read this many bytes; fewer if the other end is closed. Raises `Frozen`."""
        pieces, left = [], size_bytes
        while left:
            self._wait(pipe, select.POLLIN)
            piece = os.read(pipe, left)
            if not piece:
                break
            pieces.append(piece)
            left -= len(piece)
        return b"".join(pieces)

    def write(self, pipe: int, *parts: bytes) -> None:
        """Write everything to a non-blocking pipe; raises `Frozen`."""
        for part in parts:
            left = memoryview(part)
            while left:
                try:
                    left = left[os.write(pipe, left) :]
                except BlockingIOError:
                    self._wait(pipe, select.POLLOUT)

    def _wait(self, pipe: int, event: int) -> None:
        # Not select(), which does not accept descriptors above 1023.
        ready = select.poll()
        ready.register(pipe, event)
        while not ready.poll(self.look_s * 1000):
            self._waited_s += self.look_s
            late = self.answer_s is not None and self._waited_s >= self.answer_s
            if late or self.is_frozen():
                raise Frozen(f"process {self.pid} does not answer")
        self.restart()
