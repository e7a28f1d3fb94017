"""What to read instead, after a read was refused: a similar name, or lines that exist.

`names` lists a directory; the list is empty if the directory cannot be listed.
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
SIMILARITY_MIN = 0.76
"""How similar a file name must be, suffix included; a.py is not similar to b.py."""

MISSING_MAX = 8
"""With more missing parts than this nothing is suggested: each part takes time to look for."""

FOLDERS_MAX = 50
"""How many names of a directory are tried as the missing first part of a path."""

_RANGE = re.compile(r":[0-9]+(-[0-9]+)?\Z")
"""A range suffix on the path of a missing file."""

Names = Callable[[str], list[str]]


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A read to try instead, and why."""

    why: str
    path: str
    offset: int | None = None


def suggestion(error: ReadingError, path: str, names: Names) -> Suggestion | None:
    """What to read instead of `path` (resolved, without its range), if anything is similar."""
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
    """The path with each missing part replaced by the most similar one."""
    missing: list[str] = []
    folder = os.path.normpath(_RANGE.sub("", path))
    while not names(folder):
        folder, part = os.path.split(folder)
        if not part or len(missing) == MISSING_MAX:
            return None
        missing.insert(0, part)
    if not missing:
        return None
    below = _one_deeper(folder, missing, names)
    if below is not None:
        return below
    for place, part in enumerate(missing):
        last = place == len(missing) - 1
        there = [name.rstrip(os.sep) for name in names(folder) if last or name.endswith(os.sep)]
        if part not in there:
            by_case = {name.casefold(): name for name in sorted(there)}
            like = get_close_matches(part.casefold(), by_case, 1, SIMILARITY_MIN if last else 0.6)
            if not like:
                return None
            part = by_case[like[0]]
        folder = os.path.join(folder, part)
    return folder


def _one_deeper(folder: str, missing: list[str], names: Names) -> str | None:
    """The missing path in a directory of `folder`, such as `src`, if exactly one has it."""
    inside = names(folder)[:FOLDERS_MAX]
    folders = [name for name in inside if name.endswith(os.sep) and not name.startswith(".")]
    tails = [os.path.join(folder, name.rstrip(os.sep), *missing[:-1]) for name in folders]
    paths = [os.path.join(tail, missing[-1]) for tail in tails if missing[-1] in names(tail)]
    return paths[0] if len(paths) == 1 else None


def listed(folder: str) -> list[str]:
    """The names in a directory, directories with a slash; empty if it cannot be listed."""
    try:
        with os.scandir(folder) as entries:
            return [entry.name + (os.sep if entry.is_dir() else "") for entry in entries]
    except (OSError, ValueError):
        return []
