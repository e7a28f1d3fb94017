"""Whether a helper process is frozen: stopped (SIGSTOP), in a debugger or a frozen cgroup.

Such a process keeps its pipes, so its parent would wait without limit. It cannot be told from a
busy one by the clock alone: on a machine with much to do a process waits for long. So a process is
frozen when it is stopped, or used no processor time, at several looks in a row.
"""

from __future__ import annotations

import os
import select
from collections.abc import Callable
from dataclasses import dataclass

from holdfast.locks import process_state

LOOK_S = 1.0
"""How long the answer of a helper process is waited for before it is looked at."""
STOPPED_LOOKS = 5
"""So often in a row it is stopped when it is given up."""
IDLE_LOOKS = 60
"""So often in a row it used no processor time."""
UNKNOWN_LOOKS = 900
"""The same where the system does not tell what a process does."""


class Frozen(OSError):
    """Raised when a helper process is frozen, or has not answered in time."""


@dataclass(slots=True)
class Watch:
    """Looks at one process while its answer is waited for."""

    pid: int
    look_s: float = LOOK_S
    answer_s: float | None = None
    """How long it may take to answer, however busy it is."""
    state: Callable[[int], tuple[bool, int] | None] = process_state
    _before: tuple[bool, int] | None = None
    _looks: int = 0
    _waited_s: float = 0.0

    def heard(self) -> None:
        """It answered: from now on looks are counted anew."""
        self._looks, self._before, self._waited_s = 0, None, 0.0

    def is_frozen(self) -> bool:
        """Look once more; whether it is frozen."""
        now = self.state(self.pid)
        still = now is None or now[0] or now == self._before
        self._looks = self._looks + 1 if still else 0
        self._before = now
        if now is None:
            return self._looks >= UNKNOWN_LOOKS
        return self._looks >= (STOPPED_LOOKS if now[0] else IDLE_LOOKS)

    def read(self, pipe: int, size_bytes: int) -> bytes:
        """So many bytes; fewer if the other end is closed. Raises `Frozen`."""
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
        """Write everything to a pipe that does not block; raises `Frozen`."""
        for part in parts:
            left = memoryview(part)
            while left:
                try:
                    left = left[os.write(pipe, left) :]
                except BlockingIOError:
                    self._wait(pipe, select.POLLOUT)

    def _wait(self, pipe: int, event: int) -> None:
        # Not select(), which takes no descriptor above 1023.
        ready = select.poll()
        ready.register(pipe, event)
        while not ready.poll(self.look_s * 1000):
            self._waited_s += self.look_s
            late = self.answer_s is not None and self._waited_s >= self.answer_s
            if late or self.is_frozen():
                raise Frozen(f"process {self.pid} does not answer")
        self.heard()
