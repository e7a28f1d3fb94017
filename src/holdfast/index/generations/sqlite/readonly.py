"""Reading an index in a directory that is not writable.

To read a database in WAL mode, SQLite has to create files beside it. Where it cannot, and no writer
has left such files, the database can be opened as immutable. Another user may still change it, so
the file is compared before and after the read, and a read during a change is an error.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from holdfast.file_times import Touched, touched
from holdfast.index.errors import BackendUnavailable


def is_frozen(path: Path) -> bool:
    """Whether the directory is not writable and no writer has left a log in it."""
    if os.access(path.parent, os.W_OK):
        return False
    wal, shm = (touched(path.with_name(path.name + end)) for end in ("-wal", "-shm"))
    return shm is None and (wal is None or wal.size_bytes == 0)


@contextmanager
def frozen(path: Path) -> Iterator[apsw.Connection]:
    """An immutable connection; BackendUnavailable if the file changed during the read.

    That includes errors of the read itself, which say nothing about a file that changed.
    """
    before = touched(path)
    try:
        connection = apsw.Connection(
            f"{path.absolute().as_uri()}?immutable=1",
            flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI,
        )
        try:
            yield connection
        finally:
            connection.close()
    except Exception as error:
        _check(path, before, error)
        raise
    _check(path, before)


def _check(path: Path, before: Touched | None, error: Exception | None = None) -> None:
    after = touched(path)
    if after is None or after != before or not after.is_settled() or not is_frozen(path):
        raise BackendUnavailable(f"{path} was changed while it was read", "try again") from error
