"""Whether anything in a tree can have changed since a walk, as the kernel tells (inotify).

Every directory of the tree is watched before a walk begins. As long as the kernel has reported
nothing since, no file was written, created, removed, renamed or given other times through a name in
these directories. The report is read when it is asked for, so there is no delay and no thread.

The reports also name what changed. If only files did, in directories that stay where they are, a
walk that looks at these names again is as good as a walk of the whole tree (`advance`). A lost
report, or one about a directory, means "walk again". It may err in one direction only. What the
kernel does not report is looked at by other means or limits how long the result is used: files with
several names may be written through a name outside (they are not accepted), another tree may be
put in place of this one (its identity is compared), another file system may be mounted (compared
too), and memory that is mapped may be written later (so the caller walks again after a while).
"""

from __future__ import annotations

import errno
import os
import struct
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
REPORTED_MAX = 2_000
"""After more reports than this the tree is walked again."""

Reported = frozenset[tuple[str, str]]
"""What changed: directories, and names in them."""


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
        self._file = -1
        self._open()
        if self._file < 0:
            raise CannotWatch(os.strerror(self._errno()))
        self._watched: set[str] = set()
        self._keys: dict[int, str] = {}
        """The watched directories, by the kernel's number of the watch."""
        self._turn, self._whole = 0, False
        self._reported: set[tuple[str, str]] = set()
        """What changed since the turn began, if `_whole`."""
        self._moved = False
        """Whether a watch may belong to a directory that is elsewhere now."""
        self._place: tuple[object, ...] | None = None
        self._lock = threading.Lock()

    def _open(self) -> None:
        self._file = self._libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)

    def begin(self) -> int:
        """Forget what was reported and start a turn; call it before the walk."""
        with self._lock:
            self._drain()
            if self._moved and self._file >= 0:
                self._close()
                self._open()
                self._moved = False
            self._turn += 1
            self._reported.clear()
            self._whole = True
            self._place = _place(self._root)
            return self._turn

    def covers(self, directories: Collection[str]) -> bool:
        """Whether all these directories were watched already; watches them from now on.

        If not, the walk that found them is not covered, but the next one is. Directories that are
        gone need no care: their end was reported.
        """
        return self.add(directories) == []

    def add(self, directories: Collection[str]) -> list[str] | None:
        """Watch these directories; returns those that were not watched, None if one cannot be."""
        with self._lock:
            if self._file < 0 or len(directories) > DIRECTORIES_MAX:
                return None
            new = [key for key in directories if key not in self._watched]
            for key in new:
                path = os.fsencode(f"{self._root}/{key}" if key else self._root)
                number = self._libc.inotify_add_watch(self._file, path, _MASK)
                if number < 0:
                    if self._errno() not in (errno.ENOENT, errno.ENOTDIR):
                        self._close()
                    return None
                self._watched.add(key)
                self._keys[number] = key
            return new

    def is_quiet(self, turn: int) -> bool:
        """Whether nothing was reported since this turn began, and it is the last one."""
        with self._lock:
            return self._knows_all(turn) and not self._reported

    def advance(self, turn: int) -> tuple[int, Reported] | None:
        """Start a turn after this one, if anything was reported: what that is.

        None if it is not the last turn, or if the names do not tell all that changed.
        """
        with self._lock:
            if not self._knows_all(turn):
                return None
            if not self._reported:
                return turn, frozenset()
            reported = frozenset(self._reported)
            self._reported.clear()
            self._turn += 1
            return self._turn, reported

    def _knows_all(self, turn: int) -> bool:
        """Whether `_reported` has all that changed since a turn began."""
        if self._file < 0 or turn != self._turn:
            return False
        self._drain()
        return self._whole and self._place is not None and self._place == _place(self._root)

    def _drain(self) -> None:
        """Read all reports. After a directory moved, all are watched anew: another may be there."""
        while self._file >= 0:
            try:
                data = os.read(self._file, _READ_BYTES)
            except BlockingIOError:
                return
            except OSError:
                self._close()
                return
            self._take(data)

    def _take(self, data: bytes) -> None:
        at = 0
        while at + _HEAD_BYTES <= len(data):
            number, mask, _, length = _HEAD.unpack_from(data, at)
            at += _HEAD_BYTES + length
            if mask & _LOST or (mask & _ISDIR and mask & _AWAY):
                self._whole, self._moved = False, True
                continue
            key = self._keys.get(number)
            name = data[at - length : at].rstrip(b"\0")
            if key is None or not name or mask & _ISDIR or len(self._reported) >= REPORTED_MAX:
                self._whole = False
            elif self._whole:
                self._reported.add((key, os.fsdecode(name)))
        if self._moved:
            self._watched.clear()

    def close(self) -> None:
        with self._lock:
            self._close()

    def _close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
        self._file, self._whole = -1, False
        self._watched.clear()
        self._keys.clear()


_ISDIR, _OVERFLOW, _IGNORED, _UNMOUNT = 0x40000000, 0x4000, 0x8000, 0x2000
_LOST = _OVERFLOW | _IGNORED | _UNMOUNT | _DELETE_SELF | _MOVE_SELF
"""Reports were lost, or a watch has ended or belongs to a directory that is elsewhere now."""
_AWAY = _MOVED_FROM | _MOVED_TO | _DELETE
_HEAD = struct.Struct("=iIII")
_HEAD_BYTES = _HEAD.size


def _place(root: str) -> tuple[object, ...] | None:
    """Which directory the root is, and what is mounted below it; None if that is not known."""
    mounts = mounted_below(root)
    if mounts is None or mounts:
        return None
    try:
        status = os.lstat(root)
    except OSError:
        return None
    return status.st_dev, status.st_ino
