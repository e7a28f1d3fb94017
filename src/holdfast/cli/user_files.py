"""Files and trees that the user names: how they are read, and which need an explicit yes."""

from __future__ import annotations

import argparse
import os
import stat
import sys
from collections.abc import Callable

from holdfast import system
from holdfast.app import App
from holdfast.cli.console import CONSOLE, NotHere, absolute, here
from holdfast.errors import UsageError

FILE_BYTES_MAX = 64 * 1024 * 1024
"""A longer file is not a snippet."""

OF_THE_SHELL = ("/dev/fd/", "/dev/stdin", "/proc/self/fd/")
"""Where a shell puts the output of `<(command)`."""


def read_user_file(name: str) -> bytes:
    """The bytes of a file, or of `<(command)`. Never waits for a pipe or device in a tree."""
    if CONSOLE.get() is not None and name.startswith(OF_THE_SHELL):
        raise NotHere
    try:
        descriptor = os.open(absolute(name), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise UsageError(f"{name} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise UsageError(f"{name!r} is not a path") from error
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISDIR(mode):
        os.close(descriptor)
        raise UsageError(f"{name} cannot be read: Is a directory")
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(mode):
            if not name.startswith(OF_THE_SHELL):
                raise UsageError(f"{name} is not a regular file", "pass its text on stdin with -")
            os.set_blocking(descriptor, True)
        try:
            data = file.read(FILE_BYTES_MAX + 1)
        except OSError as error:
            raise UsageError(f"{name} cannot be read: {error.strerror}") from error
    if len(data) > FILE_BYTES_MAX:
        raise UsageError(f"{name} is larger than {FILE_BYTES_MAX >> 20} MiB")
    return data


def add_yes(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--yes", action="store_true", help="walk the tree even if it is / or a home directory"
    )


def refuse_whole_homes(app: App, path: str, args: argparse.Namespace) -> None:
    """Refuse to walk `/`, a home directory or one above it, unless the user said yes."""
    if not args.yes and app.is_too_wide(absolute(path)):
        raise UsageError(
            f"{os.path.realpath(absolute(path))} is a whole home directory or above one",
            "name a directory in it, or add --yes to walk all of it",
        )


def mention_link(typed: str, expand: Callable[[str], str] = system.expand_user) -> None:
    """Print a note when a path below the working directory leads out of it through a link."""
    top = os.path.realpath(here())
    path = os.path.normpath(os.path.join(top, expand(typed)))
    path = path if os.path.lexists(path) else path.rpartition(":")[0]  # a range of lines
    real = os.path.realpath(path)
    if _within(top, path) and not _within(top, real):
        print(f"note: {typed} leads to {real}, outside {top}", file=sys.stderr)


def _within(folder: str, path: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")
