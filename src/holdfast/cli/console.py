"""Where a command runs: its working directory and the width of its terminal.

A command usually runs in the process that was started for it. The background host also runs
commands, each in a thread and for another process (`cli/hosting.py`); these must not use the
working directory and the streams of the host. So commands ask here for their directory, and the
host's `sys.stdout` and `sys.stderr` pass text on to the console of the thread that writes.
"""

from __future__ import annotations

import os
import sys
from contextvars import ContextVar

TYPE_CHECKING = False  # `typing` defines it too, but is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, TextIO

    from holdfast.notes.near_code import NotesByFile

    NotePrinted = Callable[[str, Iterable[tuple[str, int, str]]], None]


class NotHere(Exception):
    """Raised in the host for an operation that only the command's own process can do."""


class Console:
    """The directory, the streams and the terminal of the process that a command runs for."""

    def __init__(
        self,
        cwd: str,
        out: TextIO,
        err: TextIO,
        columns: int | None,
        has_gone: Callable[[], bool] = lambda: False,
        note_printed: NotePrinted = lambda text, lines: None,
        notes: Callable[[str], NotesByFile] | None = None,
    ) -> None:
        """`has_gone` returns whether the command's process has ended, by Ctrl-C for example.

        `notes` returns the notes of a space that the host keeps.
        """
        self.cwd, self.out, self.err, self.columns = cwd, out, err, columns
        self.has_gone, self.note_printed, self.notes = has_gone, note_printed, notes


CONSOLE: ContextVar[Console | None] = ContextVar("CONSOLE", default=None)
"""The console of the command that this thread runs; None in the command's own process."""


def here() -> str:
    """The working directory of the command."""
    console = CONSOLE.get()
    return os.getcwd() if console is None else console.cwd


def absolute(path: str) -> str:
    """A path of the command's arguments as an absolute path."""
    return os.path.normpath(os.path.join(here(), path))


def relative(path: str) -> str:
    """A path relative to the working directory; the absolute path if that is shorter."""
    name = os.path.relpath(path, here())
    return name if len(name) <= len(path) or not name.startswith("..") else path


def check_interrupted() -> None:
    """Raise KeyboardInterrupt in the host if the command's process has ended."""
    console = CONSOLE.get()
    if console is not None and console.has_gone():
        raise KeyboardInterrupt


def note_printed(text: str, lines: Iterable[tuple[str, int, str]]) -> None:
    """Tell the host which lines of files (path, number, text) this output shows unchanged.

    A command in its own process cannot do this: then its output proves nothing.
    """
    console = CONSOLE.get()
    # An agent may cut white space off both ends of an output.
    if console is not None and console.columns is None and text == text.strip():
        console.note_printed(text, lines)


def typed_in(root: str | os.PathLike[str]) -> Callable[[str], str]:
    """A function that names files of a tree relative to the working directory."""
    return lambda file: relative(os.path.join(root, file))


def columns() -> int | None:
    """The width of the terminal that standard output is; None if it is not one."""
    console = CONSOLE.get()
    if console is not None:
        return console.columns
    if not sys.stdout.isatty():
        return None
    import shutil

    return shutil.get_terminal_size((100, 24)).columns


def stdin() -> TextIO | None:
    """Standard input; None if it is closed."""
    if CONSOLE.get() is not None:
        raise NotHere
    return sys.stdin


class Routed:
    """A stream of the host; text that a command writes goes to the console of the command."""

    def __init__(self, name: str, own: TextIO) -> None:
        self._name, self._own = name, own

    def __getattr__(self, attribute: str) -> Any:
        console = CONSOLE.get()
        return getattr(self._own if console is None else getattr(console, self._name), attribute)
