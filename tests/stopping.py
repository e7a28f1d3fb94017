"""A process that takes a lock and stops itself, as if somebody had stopped it at that moment."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_CODE = """
import fcntl, json, os, signal, sys
held = open(sys.argv[1], "a+")
fcntl.flock(held, fcntl.LOCK_EX)
held.truncate(0)
json.dump({"pid": os.getpid(), "version": "x", "started": 0}, held)
held.flush()
print("locked", flush=True)
os.kill(os.getpid(), signal.SIGSTOP)
"""


@contextmanager
def stopped_holder(lock: Path) -> Iterator[int]:
    """The process id of a stopped process that holds this lock."""
    lock.parent.mkdir(parents=True, exist_ok=True)
    with subprocess.Popen(
        [sys.executable, "-c", _CODE, str(lock)], stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"locked\n"
        os.waitpid(holder.pid, os.WUNTRACED)
        try:
            yield holder.pid
        finally:
            holder.send_signal(signal.SIGKILL)
