"""Replaces files of a tree: each new text is written beside its file, then takes its name.

No link is followed below the root: a folder may have become one since the file was read. Each step
is announced to `step` before it is made, so that a test can end the process there.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress

from holdfast.errors import UsageError
from holdfast.files import disk

Step = Callable[[str, str], None]
"""Called with the name of a step and the file it is about, before the step is made."""

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_NO_SYNC = (errno.EINVAL, errno.ENOTSUP)
"""What `fsync` of a folder fails with on file systems that do not have it."""


def silent(name: str, path: str) -> None:
    """A step that is not observed."""


class TreeWriter:
    """Writes files below a root; the new texts get names that end with `part` first."""

    def __init__(self, root: str, part: str, step: Step = silent) -> None:
        self.root, self.part, self._step = root, part, step

    def read(self, path: str) -> bytes:
        """The text of a file; raises OSError, for links on the way too."""
        return disk.read_file(self.root, path)[0]

    def stage(self, path: str, text: bytes) -> None:
        """Write a new text beside a file, with its mode, and wait until it is on the disk."""
        with self._folder(path) as (folder, name):
            existing = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if not stat.S_ISREG(existing.st_mode):
                raise UsageError(f"{path} is not a regular file; nothing was written")
            mode = stat.S_IMODE(existing.st_mode)
            part = f"{name}{self.part}"
            with suppress(FileNotFoundError):  # left by a process that was killed
                self._step("discard", path)
                os.unlink(part, dir_fd=folder)
            self._step("stage", path)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            with open(os.open(part, flags, mode, dir_fd=folder), "wb") as file:
                file.write(text)
                file.flush()
                os.fchmod(file.fileno(), mode)
                self._step("sync staged", path)
                os.fsync(file.fileno())

    def replace(self, path: str) -> None:
        """Give a staged text the name of its file."""
        with self._folder(path) as (folder, name):
            self._step("replace", path)
            os.replace(f"{name}{self.part}", name, src_dir_fd=folder, dst_dir_fd=folder)

    def discard(self, paths: Iterable[str]) -> None:
        """Remove staged texts, as far as possible."""
        for path in paths:
            with suppress(OSError), self._folder(path) as (folder, name):
                self._step("discard", path)
                os.unlink(f"{name}{self.part}", dir_fd=folder)

    def sync(self, paths: Iterable[str]) -> None:
        """Wait until the new names are on the disk."""
        for folder in sorted({os.path.dirname(path) for path in paths}):
            with self._folder(f"{folder}/x" if folder else "x") as (descriptor, _):
                self._step("sync folder", folder)
                sync_folder(descriptor)

    @contextmanager
    def _folder(self, path: str) -> Iterator[tuple[int, str]]:
        """The folder of a file, opened without following links below the root, and its name."""
        *folders, name = path.split("/")
        descriptor = os.open(self.root, _FOLDER)
        try:
            for part in folders:
                inner = os.open(part, _FOLDER | os.O_NOFOLLOW, dir_fd=descriptor)
                os.close(descriptor)
                descriptor = inner
            yield descriptor, name
        finally:
            os.close(descriptor)


def sync_folder(descriptor: int) -> None:
    """Wait until the names in an open folder are on the disk, where the file system can do that."""
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _NO_SYNC:
            raise
