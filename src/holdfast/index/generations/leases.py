"""Who is writing a root, and whether they are still alive.

A time stamp cannot tell a slow writer from a dead one. So a writer holds an advisory lock on a
file for as long as it works, and the kernel lets go of it the moment the process ends, however it
ends. Getting the lock proves that no writer is left.

Readers never take the lock, because even a moment's hold could make a writer believe it is not
alone. They read who wrote the file, and look whether that very process (same pid, same start) is
running.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Writer:
    """The process that says it is writing a root."""

    pid: int
    started: str
    run_id: str
    action: str

    @property
    def alive(self) -> bool:
        return self.started != "" and process_start(self.pid) == self.started


class Lease:
    """The right to write one root, until released or until this process ends.

    Whoever holds it knows that no other writer is left. It is announced only when writing really
    begins: until then the file may still say which run died here.
    """

    def __init__(self, descriptor: int, root: str, run_id: str, action: str) -> None:
        self.descriptor, self.root, self.run_id, self.action = descriptor, root, run_id, action
        self._held = True
        self._announced = False

    def announce(self) -> None:
        """Let readers know who writes."""
        facts = {
            "pid": os.getpid(),
            "started": process_start(os.getpid()),
            "runId": self.run_id,
            "action": self.action,
            "root": self.root,
        }
        os.ftruncate(self.descriptor, 0)
        os.pwrite(self.descriptor, json.dumps(facts).encode(), 0)
        self._announced = True

    def release(self) -> None:
        if self._held:
            self._held = False
            if self._announced:
                os.ftruncate(self.descriptor, 0)
            os.close(self.descriptor)


class Leases:
    """The leases of every root, as files in one directory."""

    def __init__(self, directory: Path, sleep: Callable[[float], None] = time.sleep) -> None:
        self._directory, self._sleep = directory, sleep

    def acquire(self, root: str, run_id: str, action: str, wait_s: float = 0.0) -> Lease | None:
        """Take the root's lease; None when another writer holds it for longer than we wait."""
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
        """The process writing this root now, if there is one. Takes no lock, writes nothing."""
        writer = self.last_writer(root)
        return writer if writer is not None and writer.alive else None

    def last_writer(self, root: str) -> Writer | None:
        """Who took the lease and did not give it back, dead or alive."""
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
    """When a process started, as text that tells it from a later one with its pid; "" if gone."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
        state, start = (parts := stat[stat.rindex(b")") + 2 :].split())[0], parts[19]
        return "" if state in (b"Z", b"X") else start.decode()
    except FileNotFoundError:
        if Path("/proc/self/stat").exists():
            return ""
    except (OSError, ValueError, IndexError):
        return ""
    try:  # No /proc on this system: the pid alone has to do.
        os.kill(pid, 0)
    except ProcessLookupError:
        return ""
    except PermissionError:
        pass
    return "running"
