"""Reading an index where nothing may be written.

SQLite reads through files beside the database that it must be able to make. Where it cannot, and
no writer has left any, it can be told that the file does not change. That is a promise, and some
other user may break it: so it is checked when the answer is there, and a broken one has no answer.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from holdfast.index.errors import BackendUnavailable

SETTLED_NS = 50_000_000
"""Times of files move with the kernel's clock: what was touched just now may be touched again."""


def is_frozen(path: Path) -> bool:
    """Whether nobody here may write beside a database, and no writer has left a log there."""
    if os.access(path.parent, os.W_OK):
        return False
    wal, shm = (path.with_name(path.name + end) for end in ("-wal", "-shm"))
    return not shm.exists() and (not wal.exists() or wal.stat().st_size == 0)


@contextmanager
def frozen(path: Path) -> Iterator[apsw.Connection]:
    """A connection to a database that nobody changes; BackendUnavailable if somebody did."""
    before = _touched(path)
    connection = apsw.Connection(
        f"{path.absolute().as_uri()}?immutable=1",
        flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI,
    )
    try:
        yield connection
    finally:
        connection.close()
    after = _touched(path)
    if after != before or not is_frozen(path) or after[0] > time.time_ns() - SETTLED_NS:
        raise BackendUnavailable(f"{path} was changed while it was read", "try again")


def _touched(path: Path) -> tuple[int, int, int]:
    found = path.stat()
    return found.st_mtime_ns, found.st_size, found.st_ino
