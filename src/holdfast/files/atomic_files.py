"""Writes several files of a tree: all of them, or none."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from contextlib import suppress

from holdfast.errors import UsageError
from holdfast.files import disk


def replace_files(root: str, before: Mapping[str, bytes], after: Mapping[str, bytes]) -> None:
    """Replace the texts of files that still have the text `before`; raises and writes nothing else.

    Each new text is written beside its file and then takes its name. When one of these steps fails,
    the files that were already replaced get their old text back.
    """
    parts: dict[str, str] = {}
    done: list[str] = []
    try:
        for path, text in after.items():
            parts[path] = _beside(os.path.join(root, path), text)
        for path, text in before.items():
            if _read(root, path) != text:
                raise UsageError(f"{path} changed; nothing was written", "ask for a new preview")
        for path, part in parts.items():
            os.replace(part, os.path.join(root, path))
            done.append(path)
    except BaseException:
        for path in done:
            os.replace(_beside(os.path.join(root, path), before[path]), os.path.join(root, path))
        raise
    finally:
        for part in parts.values():
            with suppress(OSError):
                os.unlink(part)


def _read(root: str, path: str) -> bytes | None:
    try:
        return disk.read_file(root, path)[0]
    except OSError:
        return None


def _beside(path: str, text: bytes) -> str:
    """A new file with this text and the mode of the other, in the same directory."""
    existing = os.lstat(path)
    if not stat.S_ISREG(existing.st_mode):
        raise UsageError(f"{path} is not a regular file; nothing was written")
    part = f"{path}.holdfast-{os.getpid()}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    descriptor = os.open(part, flags, stat.S_IMODE(existing.st_mode))
    try:
        with open(descriptor, "wb") as file:
            file.write(text)
            file.flush()
            os.fchmod(descriptor, stat.S_IMODE(existing.st_mode))
            os.fsync(descriptor)
    except BaseException:
        with suppress(OSError):
            os.unlink(part)
        raise
    return part
