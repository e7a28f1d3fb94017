"""Where the journals of edits are kept: one file for each root, and the lock of its owner."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from holdfast.errors import HOME_HINT, UsageError
from holdfast.files.edit_journal import DamagedJournal, Journal, decode
from holdfast.files.tree_writer import Step, sync_folder
from holdfast.locks import take_lock

WAIT_S = 30.0
"""How long an edit waits for another one of the same root."""


class JournalStore:
    """The journals below one directory, readable by their owner only."""

    def __init__(self, directory: Path, step: Step, wait_s: float) -> None:
        self._directory, self._step, self._wait_s = directory, step, wait_s

    def has(self, root: str) -> bool:
        return self._path(root).exists()

    def load(self, root: str) -> Journal | None:
        """The journal of a root; raises `DamagedJournal`."""
        path = self._path(root)
        try:
            journal = decode(path.read_bytes(), str(path))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise DamagedJournal(str(path), f"cannot be read: {reason(error)}") from error
        if journal.root != root:
            raise DamagedJournal(str(path), f"belongs to another root, {journal.root}")
        return journal

    def keep(self, journal: Journal) -> None:
        """Write a journal and wait until it is on the disk; if that fails, there is none."""
        path = self._path(journal.root)
        part = path.with_suffix(".part")
        try:
            self._step("write journal", str(part))
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
            with open(os.open(part, flags, 0o600), "wb") as file:
                file.write(journal.encode())
                file.flush()
                self._step("sync journal", str(part))
                os.fsync(file.fileno())
            self._step("name journal", str(path))
            os.replace(part, path)
            self._sync()
        except OSError as error:
            for left in (part, path):
                with suppress(OSError):
                    left.unlink()
            raise _refused("kept", error, path) from error

    def remove(self, root: str) -> None:
        self._step("remove journal", root)
        self._path(root).unlink(missing_ok=True)

    def ownerless(self) -> Iterator[Journal | DamagedJournal]:
        """The journals whose process has ended; takes no lock for longer than a look."""
        for path in sorted(self._directory.glob("*.journal")):
            if _is_locked(path.with_suffix(".lock")):
                continue
            try:
                yield decode(path.read_bytes(), str(path))
            except DamagedJournal as error:
                yield error
            except FileNotFoundError:
                continue
            except OSError as error:
                yield DamagedJournal(str(path), f"cannot be read: {reason(error)}")

    @contextmanager
    def locked(self, root: str, *, needed: bool = True) -> Iterator[None]:
        """Hold the lock of a root; without it where it is not needed and cannot be had."""
        path = self._path(root).with_suffix(".lock")
        descriptor = -1
        try:
            for directory in (self._directory.parent, self._directory):
                directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        except OSError as error:
            if needed:
                raise _refused("locked", error, path) from error
        try:
            if descriptor >= 0:
                take_lock(descriptor, str(path), self._wait_s)
            yield
        finally:
            if descriptor >= 0:
                _unlock(descriptor)

    def _sync(self) -> None:
        self._step("sync journal", str(self._directory))
        descriptor = os.open(self._directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            sync_folder(descriptor)
        finally:
            os.close(descriptor)

    def _path(self, root: str) -> Path:
        key = hashlib.sha256(root.encode("utf-8", "surrogateescape")).hexdigest()[:40]
        return self._directory / f"{key}.journal"


def _unlock(descriptor: int) -> None:
    """Release a lock although a process that was forked meanwhile has the file open, too."""
    with suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_UN)
    os.close(descriptor)


def _is_locked(path: Path) -> bool:
    """Whether a process holds a lock. Edits wait longer for it than it is held here."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def _refused(what: str, error: OSError, path: Path) -> UsageError:
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    return UsageError(
        f"the journal of this edit cannot be {what}: {path}: {reason(error)}; nothing was written",
        "make room on that disk" if full else HOME_HINT,
    )


def reason(error: BaseException) -> str:
    """Why something failed, in a few words."""
    return (error.strerror if isinstance(error, OSError) else "") or str(error) or repr(error)
