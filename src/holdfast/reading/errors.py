"""Errors of reading.

    ReadingError
    ├── Unreadable          the file system refused; the message is the built-in read's
    ├── BeyondEnd           the offset lies past the last line
    ├── BadRange            an invalid `path:range` or range argument
    ├── BadArgument         an argument of the wrong type
    ├── Aborted             the caller cancelled the read
    ├── BadSettings         an invalid settings file
    ├── NoSuchSession       a session file that is missing or not a session
    └── NotOurs             a write to a session that another program owns

The sentences of the first five are part of the read tool's contract: agents have learned them, so
they keep the reference's wording and capitals.
"""

from __future__ import annotations

from holdfast.errors import ReadingError
from holdfast.reading import javascript


class Unreadable(ReadingError):
    """Raised when the file system refuses; carries the code, the call and the path."""

    def __init__(self, code: str, words: str, call: str, path: str | None) -> None:
        self.code, self.words, self.call, self.path = code, words, call, path

    def __str__(self) -> str:
        where = "" if self.path is None else f" '{self.path}'"
        return f"{self.code}: {self.words}, {self.call}{where}"


class BeyondEnd(ReadingError):
    """Raised when a read begins past the end of the file."""

    def __init__(self, offset: float, total: int) -> None:
        self.offset, self.total = offset, total

    def __str__(self) -> str:
        offset = javascript.number(self.offset)
        return f"Offset {offset} is beyond end of file ({self.total} lines total)"


class BadRange(ReadingError):
    """Raised for an invalid range suffix or token."""


class BadArgument(ReadingError):
    """Raised for an argument of the wrong type."""


class Aborted(ReadingError):
    """Raised when the caller cancelled the read."""

    def __str__(self) -> str:
        return "Operation aborted"


class BadSettings(ReadingError):
    """Raised for an invalid settings file."""

    def __init__(self, source: str, why: str) -> None:
        self.source, self.why = source, why
        self.hint = "docs/reading.md lists the settings"

    def __str__(self) -> str:
        return f"{self.source}: {self.why}"


class NoSuchSession(ReadingError):
    """Raised when a session file is missing or not a session."""

    def __init__(self, path: str, why: str) -> None:
        self.path, self.why = path, why
        self.hint = (
            "name a session file of an agent, or a session of: holdfast read FILE --session NAME"
        )

    def __str__(self) -> str:
        return f"no session {self.path}: {self.why}"


class NotOurs(ReadingError):
    """Raised on a write to a session that another program owns."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.hint = "append through the program that owns the session"

    def __str__(self) -> str:
        return f"{self.path} is written by another program and is read-only for Holdfast"
