"""A temporary copy of a read-only space, kept while its reader runs.

SQLite cannot read a write-ahead log in a directory it may not write to, and ignoring the log is
unsound: another process may be writing. So both files are copied, and the copy is used only if
neither changed meanwhile, nor so recently that its modification time may not show it.

A reader locks its copy. An unlocked copy was left behind by a reader that was killed; the next
reader removes it.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from holdfast.errors import HOME_HINT
from holdfast.file_times import touched
from holdfast.store.errors import StoreFailed

PREFIX = "holdfast-copy-"
_LOCK = "lock"


@dataclass(frozen=True, slots=True)
class Copy:
    """The path of a copy, and the file descriptor of its lock."""

    path: Path
    lock: int

    def discard(self) -> None:
        shutil.rmtree(self.path.parent, ignore_errors=True)
        os.close(self.lock)


def copy_of(path: Path) -> Copy:
    """Copy a database that this user may not write into a new directory."""
    sources = [path, path.with_name(path.name + "-wal")]
    copy: Copy | None = None
    try:
        copy = _place(path.name)
        before = [touched(source) for source in sources]
        for source in sources:
            with suppress(FileNotFoundError):
                shutil.copyfile(source, copy.path.with_name(source.name))
        after = [touched(source) for source in sources]
        if before != after or not all(times is None or times.is_settled() for times in after):
            raise StoreFailed(f"another process is writing to {path}", hint="try again in a moment")
    except BaseException as error:
        if copy is not None:
            copy.discard()
        if isinstance(error, OSError):
            reason = (error.strerror or str(error)).lower()
            raise StoreFailed(f"cannot copy {path}: {reason}", hint=HOME_HINT) from error
        raise
    return copy


def _place(name: str) -> Copy:
    """A new, locked directory for a copy."""
    _sweep(Path(tempfile.gettempdir()))
    while True:
        directory = Path(tempfile.mkdtemp(prefix=PREFIX))
        try:
            lock = os.open(directory / _LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        except FileNotFoundError:
            continue
        fcntl.flock(lock, fcntl.LOCK_EX)
        if os.fstat(lock).st_nlink:
            return Copy(directory / name, lock)
        os.close(lock)  # Another process removed it before we locked it.


def _sweep(directory: Path) -> None:
    """Remove this user's copies that are not locked."""
    for copy in directory.glob(f"{PREFIX}*"):
        with suppress(OSError):
            if copy.lstat().st_uid != os.geteuid():
                continue
            lock = os.open(copy / _LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(copy, ignore_errors=True)
            finally:
                os.close(lock)
