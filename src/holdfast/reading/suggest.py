"""What to read instead, after a read was refused: a name that is like it, lines that are there.

Only a suggestion: it says what may have been meant, never what is in it. `names` lists a directory;
it may be empty, and is where it cannot be listed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches

from holdfast.errors import ReadingError
from holdfast.reading.errors import BadRange, BeyondEnd, Unreadable

SHOWN_BEFORE_END = 99
ALIKE = 0.76
"""How like a file's name must be, its suffix counted; a.py is not like b.py."""

_RANGE = re.compile(r":[0-9]+(-[0-9]+)?\Z")
"""Lines that were asked for of a file that is not there."""

Names = Callable[[str], list[str]]


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A read that is worth trying, and why."""

    why: str
    path: str
    offset: int | None = None


def suggestion(error: ReadingError, path: str, names: Names) -> Suggestion | None:
    """What to read instead of `path` (resolved, without its range), if anything is like it."""
    match error:
        case BeyondEnd(total=total):
            return Suggestion("its last lines", path, max(1, total - SHOWN_BEFORE_END))
        case BadRange():
            return Suggestion("all of it", path)
        case Unreadable(code="ENOENT"):
            near = _near(path, names)
            return None if near is None else Suggestion("did you mean", near)
        case Unreadable(code="EISDIR"):
            inside = sorted(name for name in names(path) if not name.startswith("."))
            files = [name for name in inside if not name.endswith(os.sep)]
            if not files:
                return None
            return Suggestion("a file in it", os.path.join(path, files[0]))
        case _:
            return None


def _near(path: str, names: Names) -> str | None:
    """The path with each part that is not there replaced by the one most like it."""
    missing: list[str] = []
    folder = os.path.normpath(_RANGE.sub("", path))
    while not names(folder):
        folder, part = os.path.split(folder)
        if not part:
            return None
        missing.insert(0, part)
    if not missing:
        return None
    for place, part in enumerate(missing):
        last = place == len(missing) - 1
        there = [name.rstrip(os.sep) for name in names(folder) if last or name.endswith(os.sep)]
        if part not in there:
            by_case = {name.casefold(): name for name in sorted(there)}
            like = get_close_matches(part.casefold(), by_case, 1, ALIKE if last else 0.6)
            if not like:
                return None
            part = by_case[like[0]]
        folder = os.path.join(folder, part)
    return folder


def listed(folder: str) -> list[str]:
    """The names in a directory, directories with a slash; none where it cannot be listed."""
    try:
        with os.scandir(folder) as entries:
            return [entry.name + (os.sep if entry.is_dir() else "") for entry in entries]
    except (OSError, ValueError):
        return []
