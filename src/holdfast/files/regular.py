"""Reading small files of a tree that may be hostile: never a pipe, a device or more than asked."""

from __future__ import annotations

import errno
import os
import stat

NOT_REGULAR = (errno.ELOOP, errno.EMLINK, errno.ENXIO)
"""What opening a link or a socket fails with."""


FILE_BYTES_MAX = 16 * 1024 * 1024
"""The largest source file that is shown or compared as a whole."""


def open_regular(path: str | os.PathLike[str]) -> int:
    """A descriptor of a regular file, links followed; OSError for anything else. Never waits."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "not a regular file", os.fspath(path))
    return descriptor


def read_regular(
    path: str | os.PathLike[str], limit_bytes: int, *, follow_links: bool = False
) -> bytes | None:
    """The first bytes of a regular file; None if it is something else. Never waits for it."""
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
    if not follow_links:
        flags |= os.O_NOFOLLOW
    try:
        descriptor = os.open(path, flags)
    except OSError as error:
        if error.errno in NOT_REGULAR:
            return None
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)  # `fdopen` would refuse a directory.
        return None
    with os.fdopen(descriptor, "rb") as file:
        return file.read(limit_bytes)
