"""Reads a file once, with the built-in read's errors."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable

from holdfast.reading.errors import Unreadable

SIZE_BYTES_MAX = 256 * 1024 * 1024
"""The limit: splitting and comparing a text takes several times its size in memory."""

_WORDS = {
    errno.ENOENT: "no such file or directory",
    errno.EACCES: "permission denied",
    errno.EPERM: "operation not permitted",
    errno.ENOTDIR: "not a directory",
    errno.ELOOP: "too many symbolic links encountered",
    errno.ENAMETOOLONG: "name too long",
    errno.EISDIR: "illegal operation on a directory",
    errno.EIO: "i/o error",
    errno.EMFILE: "too many open files",
    errno.ENFILE: "file table overflow",
}


def open_file(path: str) -> int:
    """A descriptor of any file. Opening does not block, even for a pipe or a device."""
    return os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)


def read_once(path: str, opened: Callable[[str], int] = open_file) -> tuple[bytes, str]:
    """The bytes of a regular file, and the name it has when links are followed.

    Pipes and devices are refused, not read. `opened` decides what may be opened.
    """
    try:
        descriptor = opened(path)
    except (OSError, ValueError) as error:
        raise _unreadable(error, "access", path) from error
    try:
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):
            raise Unreadable("EISDIR", _WORDS[errno.EISDIR], "read", None)
        if not stat.S_ISREG(status.st_mode):
            raise Unreadable("EINVAL", "not a regular file", "read", path)
        if status.st_size > SIZE_BYTES_MAX:
            raise Unreadable("EFBIG", "file is larger than 256 MiB", "read", path)
        data = os.read(descriptor, status.st_size + 1)
        if len(data) != status.st_size:
            data = _read_rest(descriptor, data)
        return data, _name(descriptor, path)
    except OSError as error:
        raise _unreadable(error, "read", None) from error
    finally:
        os.close(descriptor)


def _read_rest(descriptor: int, data: bytes) -> bytes:
    """Read to the end, when the file changed size or one read was not enough."""
    pieces, size = [data], len(data)
    while size <= SIZE_BYTES_MAX:
        piece = os.read(descriptor, 1 << 20)
        if not piece:
            return b"".join(pieces)
        pieces.append(piece)
        size += len(piece)
    raise Unreadable("EFBIG", "file is larger than 256 MiB", "read", None)


def _name(descriptor: int, path: str) -> str:
    try:
        # If the file was replaced in the meantime, /proc adds a suffix to its name.
        return os.readlink(f"/proc/self/fd/{descriptor}").removesuffix(" (deleted)")
    except OSError:
        return os.path.realpath(path)


def _unreadable(error: OSError | ValueError, call: str, path: str | None) -> Unreadable:
    number = getattr(error, "errno", None)
    if number is None:
        return Unreadable("EINVAL", "not a path", call, path)
    code = errno.errorcode.get(number, "EUNKNOWN")
    return Unreadable(code, _WORDS.get(number, os.strerror(number).lower()), call, path)
