"""What a read can say no with.

    ReadingError
    ├── Unreadable          the file system said no; the text is the one the built-in read gives
    ├── BeyondEnd           the offset lies past the last line
    ├── BadRange            `path:range`, or a range argument, that names no lines
    ├── BadArgument         an argument of the wrong kind
    ├── Aborted             the caller called it off
    ├── BadSettings         a settings file that cannot be understood
    ├── NoSuchSession       a session file that is not there or not one
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
    """Raised for a range suffix or token that names no lines."""


class BadArgument(ReadingError):
    """Raised for an argument of the wrong kind."""


class Aborted(ReadingError):
    """Raised when the caller called the read off."""

    def __str__(self) -> str:
        return "Operation aborted"


class BadSettings(ReadingError):
    """Raised for a settings file that cannot be understood."""

    def __init__(self, source: str, why: str) -> None:
        self.source, self.why = source, why
        self.hint = "docs/reading.md lists the settings"

    def __str__(self) -> str:
        return f"{self.source}: {self.why}"


class NoSuchSession(ReadingError):
    """Raised when a session file is missing or cannot be one."""

    def __init__(self, path: str, why: str) -> None:
        self.path, self.why = path, why
        self.hint = "name a session file, or leave --session away to read plainly"

    def __str__(self) -> str:
        return f"no session in {self.path}: {self.why}"


class NotOurs(ReadingError):
    """Raised on a write to a session that another program owns."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.hint = "append through the program that owns the session"

    def __str__(self) -> str:
        return f"{self.path} is written by another program: we only read it"
