"""Keeps file contents by digest, so that a later read can be compared with an earlier one.

    <root>/objects/sha256-<64 hex digits>.txt     raw bytes, mode 0600
    <root>/tmp/                                   files being written, mode 0700

The name of an object is the sha256 of its bytes, and loading checks it: a damaged or forged object
is deleted and counts as missing. Writing is atomic, so any number of processes may
share one store without locks. Layout version 1.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass

from holdfast import system
from holdfast.home import Home

LAYOUT_VERSION = 1
OBJECT_BYTES_MAX = 16 * 1024 * 1024
AGE_MAX_S = 24 * 3600.0
SIZE_BYTES_MAX = 512 * 1024 * 1024
TOUCH_AFTER_S = 3600.0
"""An object in use is touched at most this often, so that live objects are not collected."""

_DIGEST = re.compile(r"[a-f0-9]{64}\Z")
_NAME = re.compile(r"sha256-([a-f0-9]{64})\.txt\Z")


def digest_of(data: bytes) -> str:
    """The name of these bytes: their sha256 in lower-case hexadecimal."""
    return hashlib.sha256(data).hexdigest()


@dataclass(frozen=True, slots=True)
class Stats:
    """How many objects there are and how much they take."""

    count: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Collected:
    """How many objects a collection scanned and deleted."""

    scanned: int
    deleted: int
    freed_bytes: int


class Objects:
    """Contents by digest below one directory. Every method may be called by many processes."""

    def __init__(
        self, root: str | os.PathLike[str], new_id: Callable[[], str] = system.new_long_id
    ) -> None:
        self._new_id = new_id
        home = Home(root)
        self.root = home.path
        self._objects, self._tmp = str(home.objects), str(home.temporary)

    def path_of(self, digest: str) -> str:
        """Where the object is stored. Raises ValueError for anything that is not a digest."""
        if _DIGEST.match(digest) is None:
            raise ValueError(f"not a digest: {digest!r}")
        return f"{self._objects}/sha256-{digest}.txt"

    def keep(self, data: bytes, digest: str, now: float | None = None) -> bool:
        """Make sure the bytes are stored; False when they are not.

        `digest` must be the digest of `data`. A disk error is not raised: without the object a
        later read is answered in full.
        """
        if len(data) > OBJECT_BYTES_MAX:
            return False
        path = self.path_of(digest)
        try:
            status = os.stat(path)
        except FileNotFoundError:
            pass
        except OSError:
            return False
        else:
            if now is not None and now - status.st_mtime > TOUCH_AFTER_S:
                with contextlib.suppress(OSError):
                    os.utime(path, (now, now))
            return True
        try:
            self._write(path, data, digest)
        except OSError:
            return False
        return True

    def _write(self, path: str, data: bytes, digest: str) -> None:
        self._make_directories()
        temporary = f"{self._tmp}/sha256-{digest}-{os.getpid()}-{self._new_id()}.tmp"
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with open(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.rename(temporary, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise

    def _make_directories(self) -> None:
        for directory in (self._objects, self._tmp):
            if os.path.isdir(directory):
                continue
            missing = []
            parent = directory
            while not os.path.isdir(parent):
                missing.append(parent)
                parent = os.path.dirname(parent)
            for path in reversed(missing):
                with contextlib.suppress(FileExistsError):
                    os.mkdir(path, 0o700)

    def load(self, digest: str) -> bytes | None:
        """The bytes with this digest, or None if they are missing or damaged."""
        if _DIGEST.match(digest) is None:
            return None
        path = self.path_of(digest)
        try:
            with open(path, "rb") as file:
                data = file.read(OBJECT_BYTES_MAX + 1)
        except OSError:
            return None
        if digest_of(data) != digest:
            with contextlib.suppress(OSError):
                os.unlink(path)
            return None
        return data

    def stats(self) -> Stats:
        """Count and size; raises OSError when the store cannot be listed."""
        count = size = 0
        try:
            entries = os.scandir(self._objects)
        except FileNotFoundError:
            return Stats(0, 0)
        with entries:
            for entry in entries:
                if _NAME.match(entry.name) and entry.is_file(follow_symlinks=False):
                    count += 1
                    with contextlib.suppress(OSError):
                        size += entry.stat(follow_symlinks=False).st_size
        return Stats(count, size)

    def collect(
        self,
        now: float,
        live: Collection[str] = (),
        age_max_s: float = AGE_MAX_S,
        size_bytes_max: int = SIZE_BYTES_MAX,
    ) -> Collected:
        """Remove objects unused for `age_max_s`, then the longest unused until the rest fits.

        Objects in `live` are kept at any age: reads of a session may still be answered from them.
        """
        if not (0 <= age_max_s < float("inf")):
            raise ValueError(f'Invalid age "{age_max_s}".')
        objects: list[tuple[float, int, str, str]] = []
        try:
            with os.scandir(self._objects) as entries:
                for entry in entries:
                    name = _NAME.match(entry.name)
                    if name is None or not entry.is_file(follow_symlinks=False):
                        continue
                    with contextlib.suppress(OSError):
                        stat = entry.stat(follow_symlinks=False)
                        objects.append((stat.st_mtime, stat.st_size, name[1], entry.path))
        except OSError:
            return Collected(0, 0, 0)
        total = sum(size for _, size, _, _ in objects)
        deleted = freed = 0
        for used_at, size, digest, path in sorted(objects):
            if digest in live or (used_at > now - age_max_s and total <= size_bytes_max):
                continue
            with contextlib.suppress(OSError):
                os.unlink(path)
                deleted, freed, total = deleted + 1, freed + size, total - size
        self._sweep_temporary(now)
        return Collected(len(objects), deleted, freed)

    def _sweep_temporary(self, now: float) -> None:
        """Remove temporary files of writers that died; a write takes far less than an hour."""
        with contextlib.suppress(OSError), os.scandir(self._tmp) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):
                    if entry.stat(follow_symlinks=False).st_mtime < now - 3600:
                        os.unlink(entry.path)
