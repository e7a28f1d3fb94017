"""Reading an index where nothing may be written.

SQLite reads through files beside the database that it must be able to make. Where it cannot, and
no writer has left any, it can be told that the file does not change. That is a promise, and some
other user may break it: so it is checked when the answer is there, and a broken one has no answer.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from holdfast.index.errors import BackendUnavailable
from holdfast.touched import Touched, touched


def is_frozen(path: Path) -> bool:
    """Whether nobody here may write beside a database, and no writer has left a log there."""
    if os.access(path.parent, os.W_OK):
        return False
    wal, shm = (touched(path.with_name(path.name + end)) for end in ("-wal", "-shm"))
    return shm is None and (wal is None or wal.size_bytes == 0)


@contextmanager
def frozen(path: Path) -> Iterator[apsw.Connection]:
    """A connection to a database that nobody changes; BackendUnavailable if somebody did.

    Whatever went wrong meanwhile: a read that a change tore says nothing about the file.
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
