"""Standard output and error: encodings, closed pipes and terminal escape sequences.

File names and contents may contain escape sequences that a terminal would execute. On a terminal
only our own colours and progress lines are written unchanged; other control characters are shown as
escapes. Pipes and files get the exact text.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Mapping
from io import TextIOWrapper

TYPE_CHECKING = False  # `typing` defines it too, but is slow to import
if TYPE_CHECKING:
    from typing import TextIO

_CONTROL = (
    r"\x1b(?!\[(?:0|1|2|31|32|33)m|\[K)"  # all sequences except our colours and 'clear to the end'
    r"|\r(?!\n)"
    r"|[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x9f]"
    r"|[\u202a-\u202e\u2066-\u2069]"  # these reverse the direction of text
)

_COLOUR = r"\x1b\[(?:0|1|2|31|32|33)m"
"""Compiled on first use: most output goes to a pipe."""


def wants_colours(environment: Mapping[str, str]) -> bool:
    """Whether to send colours to a terminal: not with NO_COLOR, nor to a dumb terminal."""
    return not environment.get("NO_COLOR") and environment.get("TERM") != "dumb"


def harmless(text: str) -> str:
    """The text with control characters escaped."""
    return re.sub(_CONTROL, _escaped, text)


def _escaped(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode()


class Screen(TextIOWrapper):
    """A terminal; control characters are escaped before they are written."""

    rewrites = False
    """Whether text may start with a carriage return, as progress lines do."""

    colours = True

    def write(self, text: str) -> int:
        length = len(text)
        text = text if self.colours else re.sub(_COLOUR, "", text)
        if self.rewrites and text.startswith("\r"):
            super().write("\r" + harmless(text[1:].removesuffix("\r")))
            super().write("\r" if text.endswith("\r") and len(text) > 1 else "")
        else:
            super().write(harmless(text))
        return length


def prepared(
    stream: TextIO | None, environment: Mapping[str, str], *, rewrites: bool = False
) -> TextIO:
    """A stream that accepts every text.

    A pipe gets UTF-8, so that its reader gets the exact text. On a terminal, or with an encoding
    from PYTHONIOENCODING, characters that cannot be encoded are escaped.
    """
    # The shell's `>&-` closes the stream; the output is discarded.
    if stream is None:
        return open(os.devnull, "w")
    if not isinstance(stream, TextIOWrapper) or isinstance(stream, Screen):
        return stream
    is_utf8 = stream.encoding.lower().replace("-", "") == "utf8"
    if stream.isatty():
        errors = "surrogateescape" if is_utf8 else "backslashreplace"
        screen = Screen(stream.buffer, stream.encoding, errors, line_buffering=True)
        screen.rewrites = rewrites
        screen.colours = wants_colours(environment)
        return screen
    if not is_utf8 and environment.get("PYTHONIOENCODING"):
        stream.reconfigure(errors="backslashreplace")
    elif not is_utf8:
        stream.reconfigure(encoding="utf-8")
    return stream


def refuses(stream: TextIO) -> bool:
    """Whether what was printed cannot be written; then the rest is discarded."""
    try:
        stream.flush()
    except OSError:
        discard(stream)
        return True
    return False


def is_discarded(stream: TextIO) -> bool:
    """Whether output is discarded: the stream was closed, or is /dev/null."""
    try:
        status = os.fstat(stream.fileno())
        return stat.S_ISCHR(status.st_mode) and status.st_rdev == os.stat(os.devnull).st_rdev
    except (OSError, ValueError):
        return False  # not a file, for example a buffer that keeps the text


def discard(stream: TextIO) -> None:
    """Redirect a stream to /dev/null, because its reader has closed it."""
    void = os.open(os.devnull, os.O_WRONLY)
    os.dup2(void, stream.fileno())
    os.close(void)


def delivered(code: int) -> int:
    """Flush the output and return the exit code.

    A closed pipe (`| head`) is not an error; a full disk is.
    """
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BrokenPipeError:
            discard(stream)
        except OSError as error:
            discard(stream)
            code = undelivered(error, code)
    return code


def undelivered(error: OSError, code: int = 0) -> int:
    """Report that the output could not be written; returns the exit code."""
    if isinstance(error, BrokenPipeError):
        return code
    print(f"holdfast: cannot write the output: {error.strerror}", file=sys.stderr)
    return code or 1
