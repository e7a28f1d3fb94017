"""Which process is writing a root, and whether it is still alive.

A time stamp cannot tell a slow writer from a dead one. So a writer holds an advisory lock on a file
while it works, and the kernel releases the lock when the process ends, however it ends. Acquiring
the lock proves that there is no other writer.

Readers never take the lock, because holding it even briefly could turn a writer away. They read
from the file which process wrote it, and check whether that process (same pid, same start time) is
running.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec


class Writer(msgspec.Struct, frozen=True):
    """The process that has announced that it is writing a root."""

    pid: int
    started: str
    run_id: str
    action: str

    @property
    def alive(self) -> bool:
        return self.started != "" and process_start(self.pid) == self.started


class Lease:
    """The right to write one root, until released or until this process ends.

    Its holder knows that there is no other writer. It is announced only when writing begins; until
    then the file may still name an earlier run that died.
    """

    def __init__(self, descriptor: int, root: str, run_id: str, action: str) -> None:
        self.descriptor, self.root, self.run_id, self.action = descriptor, root, run_id, action
        self._held = True
        self._announced = False

    def announce(self) -> None:
        """Let readers know which process is writing."""
        facts = self._facts(process_start(os.getpid()))
        os.ftruncate(self.descriptor, 0)
        os.pwrite(self.descriptor, json.dumps(facts).encode(), 0)
        self._announced = True

    def release(self, *, run_ended: bool = True) -> None:
        """Release the lease; if the run's record could not be updated, mark its process as dead."""
        if self._held:
            self._held = False
            if self._announced:
                # In place, and shorter than before: this works on a full disk.
                over = b"" if run_ended else json.dumps(self._facts("")).encode()
                with suppress(OSError):
                    os.pwrite(self.descriptor, over, 0)
                    os.ftruncate(self.descriptor, len(over))
            os.close(self.descriptor)

    def _facts(self, started: str) -> dict[str, object]:
        """What readers find; a process whose start is "" is not running."""
        return {
            "pid": os.getpid(),
            "started": started,
            "runId": self.run_id,
            "action": self.action,
            "root": self.root,
        }


class Leases:
    """The leases of every root, as files in one directory."""

    def __init__(self, directory: Path, sleep: Callable[[float], None] = time.sleep) -> None:
        self._directory, self._sleep = directory, sleep

    def acquire(self, root: str, run_id: str, action: str, wait_s: float = 0.0) -> Lease | None:
        """Acquire the root's lease; None when another writer still holds it after the wait."""
        self._directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(self._path(root), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if wait_s <= 0:
                    os.close(descriptor)
                    return None
                self._sleep(min(0.02, wait_s))
                wait_s -= 0.02
        return Lease(descriptor, root, run_id, action)

    def live_writer(self, root: str) -> Writer | None:
        """The process that is writing this root now, if any. Takes no lock and writes nothing."""
        writer = self.last_writer(root)
        return writer if writer is not None and writer.alive else None

    def last_writer(self, root: str) -> Writer | None:
        """The process that announced the lease and did not release it, dead or alive."""
        try:
            facts = json.loads(self._path(root).read_bytes())
            writer = Writer(
                int(facts["pid"]), str(facts["started"]), str(facts["runId"]), str(facts["action"])
            )
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return writer

    def _path(self, root: str) -> Path:
        return self._directory / f"{root_key(root)}.lease"


def root_key(root: str) -> str:
    """A file name for a canonical root; long enough that two roots never share one."""
    return hashlib.sha256(root.encode("utf-8", "surrogateescape")).hexdigest()[:40]


def process_start(pid: int) -> str:
    """The start time of a process, to tell it from a later one with the same pid; "" if gone."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
        state, start = (parts := stat[stat.rindex(b")") + 2 :].split())[0], parts[19]
        return "" if state in (b"Z", b"X") else start.decode()
    except FileNotFoundError:
        if Path("/proc/self/stat").exists():
            return ""
    except (OSError, ValueError, IndexError):
        return ""
    try:  # There is no /proc on this system, so only the pid is compared.
        os.kill(pid, 0)
    except ProcessLookupError:
        return ""
    except PermissionError:
        pass
    return "running"
