"""Error messages of commands: a sentence and a hint, or the same as JSON.

Every error becomes a `Failure` here, so the message, the error name for programs and the exit code
are decided in one place.
"""

from __future__ import annotations

import errno
import json
import sys
from dataclasses import dataclass
from typing import NoReturn

from holdfast.cli.parsing import Parser
from holdfast.errors import HOME_HINT, HoldfastError, UsageError
from holdfast.home import Home

FULL_HINT = "make room on that disk, or set HOLDFAST_HOME to a directory on another one"

OK, REFUSED, USAGE, TRANSPORT = 0, 1, 2, 3


class CommandRefused(HoldfastError):
    """Raised by a command that refuses; `error` is the error name for programs."""

    def __init__(self, error: str, message: str, hint: str = "", code: int = REFUSED) -> None:
        super().__init__(message)
        self.error, self.hint, self.code = error, hint, code


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a command failed: an error name for programs, a message, a hint and the exit code."""

    error: str
    message: str
    hint: str
    code: int

    def show(self, *, as_json: bool) -> int:
        """Print it, with `as_json` as JSON on standard output; returns the exit code."""
        if as_json:
            facts = {"status": "error", "error": self.error, "message": self.message}
            print(json.dumps(facts | ({"hint": self.hint} if self.hint else {})))
            return self.code
        print(f"holdfast: {self.message}", file=sys.stderr)
        if self.hint:
            print(f"hint: {self.hint}", file=sys.stderr)
        return self.code


def failure_of(
    error: HoldfastError | OSError | UnicodeEncodeError, home: Home | None = None
) -> Failure:
    """The message, hint and exit code for an error; `home` for a hint about its files."""
    if isinstance(error, HoldfastError):
        word = getattr(error, "error", "") or type(error).__name__
        return Failure(word, str(error), error.hint, _code(error))
    if isinstance(error, UnicodeEncodeError):
        # File names may contain any bytes, but only text can be stored.
        hint = "rename it: only UTF-8 names are supported"
        return Failure("NotText", f"{error.object!r} is not UTF-8", hint, REFUSED)
    where = f": {error.filename}" if error.filename else ""
    in_home = home is not None and isinstance(error.filename, str) and home.is_near(error.filename)
    hint = HOME_HINT if in_home else ""
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        hint = FULL_HINT
    return Failure(type(error).__name__, f"{error.strerror or error}{where}", hint, REFUSED)


def _code(error: HoldfastError) -> int:
    if isinstance(error, CommandRefused):
        return error.code
    if getattr(error, "name", "") == "ConnectionError":
        return TRANSPORT
    return USAGE if isinstance(error, UsageError) else REFUSED


class JsonParser(Parser):
    """A parser that raises usage errors instead of printing them."""

    def error(self, message: str) -> NoReturn:
        usage = " ".join(self.format_usage().split())
        raise UsageError(self.with_choices(message), usage)
