"""Whether anything in a tree can have changed since a walk, as the kernel tells (inotify).

Every directory of the tree is watched before a walk begins. As long as the kernel has reported
nothing since, no file was written, created, removed, renamed or given other times through a name in
these directories. The report is read when it is asked for, so there is no delay and no thread.

It may err in one direction: any event at all, a lost one included, means "walk again". What the
kernel does not report is looked at by other means or limits how long the result is used: files with
several names may be written through a name outside (they are not accepted), another tree may be
put in place of this one (its identity is compared), another file system may be mounted (compared
too), and memory that is mapped may be written later (so the caller walks again after a while).
"""

from __future__ import annotations

import errno
import os
import sys
import threading
from collections.abc import Collection

from holdfast.files.mounts import is_trusted, mounted_below

DIRECTORIES_MAX = 50_000
"""A tree with more directories is not watched: each takes about a kilobyte of the kernel's."""

_MODIFY, _ATTRIB, _CLOSE_WRITE = 0x2, 0x4, 0x8
_MOVED_FROM, _MOVED_TO, _CREATE, _DELETE = 0x40, 0x80, 0x100, 0x200
_DELETE_SELF, _MOVE_SELF = 0x400, 0x800
_ONLYDIR, _DONT_FOLLOW = 0x1000000, 0x2000000
_MASK = (
    _MODIFY | _ATTRIB | _CLOSE_WRITE | _MOVED_FROM | _MOVED_TO | _CREATE | _DELETE
    | _DELETE_SELF | _MOVE_SELF | _ONLYDIR | _DONT_FOLLOW
)  # fmt: skip
_READ_BYTES = 1 << 16


class CannotWatch(Exception):
    """Raised when the system has no inotify, or allows no further watch."""


class TreeWatch:
    """The watches of one tree. Turns number the walks: a result holds for its own turn only."""

    def __init__(self, root: str) -> None:
        if not sys.platform.startswith("linux") or not is_trusted(root):
            raise CannotWatch("the file system's reports are not known to be complete")
        import ctypes

        self._root = root
        self._errno = ctypes.get_errno
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._file = self._libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self._file < 0:
            raise CannotWatch(os.strerror(self._errno()))
        self._watched: set[str] = set()
        self._turn, self._quiet = 0, False
        self._place: tuple[object, ...] | None = None
        self._lock = threading.Lock()

    def begin(self) -> int:
        """Forget what was reported and start a turn; call it before the walk."""
        with self._lock:
            self._drain()
            self._turn += 1
            self._quiet = True
            self._place = _place(self._root)
            return self._turn

    def covers(self, directories: Collection[str]) -> bool:
        """Whether all these directories were watched already; watches them from now on.

        If not, the walk that found them is not covered, but the next one is. Directories that are
        gone need no care: their end was reported.
        """
        with self._lock:
            if self._file < 0 or len(directories) > DIRECTORIES_MAX:
                return False
            new = [key for key in directories if key not in self._watched]
            for key in new:
                path = os.fsencode(f"{self._root}/{key}" if key else self._root)
                if self._libc.inotify_add_watch(self._file, path, _MASK) < 0:
                    if self._errno() not in (errno.ENOENT, errno.ENOTDIR):
                        self._close()
                    return False
                self._watched.add(key)
            return not new

    def is_quiet(self, turn: int) -> bool:
        """Whether nothing was reported since this turn began, and it is the last one."""
        with self._lock:
            if self._file < 0 or turn != self._turn:
                return False
            self._drain()
            return self._quiet and self._place is not None and self._place == _place(self._root)

    def _drain(self) -> None:
        """Read all reports. A directory that was reported is watched anew: another may be there."""
        while self._file >= 0:
            try:
                data = os.read(self._file, _READ_BYTES)
            except BlockingIOError:
                return
            except OSError:
                self._close()
                return
            self._quiet = False
            if _names_directories(data):
                self._watched.clear()

    def close(self) -> None:
        with self._lock:
            self._close()

    def _close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
        self._file, self._quiet = -1, False
        self._watched.clear()


_ISDIR, _OVERFLOW, _IGNORED, _UNMOUNT = 0x40000000, 0x4000, 0x8000, 0x2000
_HEAD_BYTES = 16


def _names_directories(data: bytes) -> bool:
    """Whether a report is about directories, or says that something is not watched any more."""
    at = 0
    while at + _HEAD_BYTES <= len(data):
        mask = int.from_bytes(data[at + 4 : at + 8], sys.byteorder)
        if mask & (_ISDIR | _OVERFLOW | _IGNORED | _UNMOUNT | _DELETE_SELF | _MOVE_SELF):
            return True
        at += _HEAD_BYTES + int.from_bytes(data[at + 12 : at + 16], sys.byteorder)
    return False


def _place(root: str) -> tuple[object, ...] | None:
    """Which directory the root is, and what is mounted below it; None if that is not known."""
    mounts = mounted_below(root)
    if mounts is None or mounts:
        return None
    try:
        seen = os.lstat(root)
    except OSError:
        return None
    return seen.st_dev, seen.st_ino
