"""Takes a lock that another process may hold forever.

A process that is stopped (SIGSTOP, a debugger, a frozen cgroup) keeps its locks, and a process that
waits for one without limit is frozen as well. So the wait is limited to the time that a holder may
reasonably work, and to much less if the system reports that the holder is stopped. The error names
the holder.

Imports little: the shim of an agent uses this.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from holdfast.errors import HoldfastError

try:
    import fcntl
except ImportError:  # on Windows there are no such locks
    fcntl = None  # type: ignore[assignment]

STOPPED_S = 5.0
"""How long to wait for a lock whose holder is stopped."""
LOOK_S = 0.02


class LockHeld(HoldfastError):
    """Raised when another process keeps a lock for too long."""

    def __init__(self, path: str, holder: int | None, stopped: bool) -> None:
        self.path, self.holder, self.stopped = path, holder, stopped
        named = "another process" if holder is None else f"process {holder}"
        super().__init__(f"{named} {'is stopped and ' if stopped else ''}holds the lock {path}")
        self.hint = (
            f"continue or end it, then try again: kill -CONT {holder}, or kill -KILL {holder}"
            if stopped
            else "wait until it has finished, then try again"
        )


def take_lock(
    descriptor: int, path: str, wait_s: float, *,
    stopped_s: float = STOPPED_S, sleep: Callable[[float], None] = time.sleep,
) -> None:  # fmt: skip
    """Lock an open file; raises `LockHeld` if another process keeps the lock for too long."""
    if fcntl is None:
        return
    waited_s = held_s = 0.0
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            pass
        holder = holder_of(descriptor) if waited_s else None
        held_s = held_s + LOOK_S if holder is not None and is_stopped(holder) else 0.0
        if held_s >= stopped_s or waited_s >= wait_s:
            raise LockHeld(path, holder, held_s > 0)
        sleep(LOOK_S)
        waited_s += LOOK_S


def holder_of(descriptor: int) -> int | None:
    """The process that has the lock of an open file; None if the system does not report it."""
    for kind, pid in _locks_of(os.fstat(descriptor)):
        if kind == b"FLOCK":
            return pid or None
    return None


def users_of(path: str) -> set[int]:
    """The other processes that lock a part of a file; empty where the system does not report them.

    A process that has a database of SQLite open in WAL mode locks a byte of its `-shm` file.
    """
    try:
        facts = os.stat(path)
    except OSError:
        return set()
    return {pid for _, pid in _locks_of(facts) if pid} - {os.getpid()}


def _locks_of(facts: os.stat_result) -> list[tuple[bytes, int]]:
    """The locks of a file: the kind, and the process that has it."""
    place = f"{os.major(facts.st_dev):02x}:{os.minor(facts.st_dev):02x}:{facts.st_ino}".encode()
    try:
        with open("/proc/locks", "rb") as file:
            rows = [line.split() for line in file.read().splitlines()]
    except OSError:
        return []
    return [
        (fields[1], int(fields[4]))
        for fields in rows
        if fields[5:6] == [place] and fields[4].isdigit()
    ]


def is_stopped(pid: int) -> bool:
    """Whether a process is stopped."""
    state = process_state(pid)
    return state is not None and state[0]


def process_state(pid: int) -> tuple[bool, int] | None:
    """Whether a process is stopped, and its processor time in ticks; None if unknown."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b") ")[2].split()
        return fields[0] in (b"T", b"t"), int(fields[11]) + int(fields[12])
    except (OSError, ValueError, IndexError):
        return None
