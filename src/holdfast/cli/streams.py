"""Where we speak to: streams of any encoding, pipes that nobody reads, terminals that obey.

A terminal obeys what it is sent. Names and contents of files come from anywhere, so on a terminal
only our own colours and our own progress are sent as they are; every other command to it is shown
as an escape. A pipe or a file gets the very text.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from io import TextIOWrapper
from typing import TextIO

_OBEYED = re.compile(
    r"\x1b(?!\[(?:0|1|2|31|32|33)m|\[K)"  # all commands but our colours and 'clear to the end'
    r"|\r(?!\n)"
    r"|[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x9f]"
    r"|[\u202a-\u202e\u2066-\u2069]"  # these turn the order of letters around
)

_COLOUR = re.compile(r"\x1b\[(?:0|1|2|31|32|33)m")


def wants_colours(environment: Mapping[str, str]) -> bool:
    """Whether a terminal is sent colours: not with NO_COLOR, nor if it knows none."""
    return not environment.get("NO_COLOR") and environment.get("TERM") != "dumb"


def harmless(text: str) -> str:
    """The text as a terminal may have it."""
    return _OBEYED.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode()


class Screen(TextIOWrapper):
    """A terminal that is sent only what is harmless."""

    rewrites = False
    """Whether a line may go back to its start, as progress does."""

    colours = True

    def write(self, text: str) -> int:
        written = len(text)
        text = text if self.colours else _COLOUR.sub("", text)
        if self.rewrites and text.startswith("\r"):
            super().write("\r" + harmless(text[1:].removesuffix("\r")))
            super().write("\r" if text.endswith("\r") and len(text) > 1 else "")
        else:
            super().write(harmless(text))
        return written


def prepared(
    stream: TextIO | None, environment: Mapping[str, str], *, rewrites: bool = False
) -> TextIO:
    """A stream that takes all text.

    A pipe gets UTF-8, for whoever reads it wants the very text; a terminal, or whoever chose an
    encoding, gets what cannot be said in it as an escape.
    """
    # A shell's `>&-` leaves no stream at all; nobody reads, and that is no error of ours.
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


def leave_unread(stream: TextIO) -> None:
    """Nobody reads this any more: what is still to be said goes nowhere, and without complaint."""
    void = os.open(os.devnull, os.O_WRONLY)
    os.dup2(void, stream.fileno())
    os.close(void)


def delivered(code: int) -> int:
    """The exit code of a command, once all that it said has left.

    Whoever reads may have gone (`| head`), which is no error of ours; a disk may be full, which is.
    """
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BrokenPipeError:
            leave_unread(stream)
        except OSError as error:
            leave_unread(stream)
            code = undelivered(error, code)
    return code


def undelivered(error: OSError, code: int = 0) -> int:
    """Say that an answer was lost; the exit code of that."""
    if isinstance(error, BrokenPipeError):
        return code
    print(f"holdfast: the answer could not be written: {error.strerror}", file=sys.stderr)
    return code or 1
