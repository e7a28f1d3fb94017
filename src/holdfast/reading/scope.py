"""Which part of a file a read is about: all of it, or a run of lines.

Lines are counted as the built-in read counts them: text is cut at `\\n` and nowhere else, so a
final newline makes one more, empty, line; the empty file has one line. Numbers are 1-based and
inclusive.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from holdfast.reading import javascript


class Whole(NamedTuple):
    """The whole file, however long it is now."""


class Lines(NamedTuple):
    """A run of lines, both ends included."""

    first: int
    last: int


Scope = Whole | Lines

WHOLE = Whole()

_KEY = re.compile(r"r:([0-9]+):([0-9]+)\Z")
_DIGITS_MAX = 15  # beyond this a JavaScript number no longer counts lines exactly


def key(scope: Scope) -> str:
    """The scope as metadata spells it: `full` or `r:<first>:<last>`."""
    return f"r:{scope.first}:{scope.last}" if isinstance(scope, Lines) else "full"


def parse(text: object) -> Scope | None:
    """The scope that a key spells, or None."""
    if text == "full":
        return WHOLE
    if not isinstance(text, str):
        return None
    match = _KEY.match(text)
    if match is None or max(len(match[1]), len(match[2])) > _DIGITS_MAX:
        return None
    first, last = int(match[1]), int(match[2])
    return Lines(first, last) if 1 <= first <= last else None


def clamp(offset: float | None, limit: float | None, total: int) -> Lines | None:
    """The lines a request asks for in a file of `total` lines.

    None when offset or limit is not a positive integer, or when the request begins past the end.
    """
    for value in (offset, limit):
        if value is not None and not (javascript.is_integer(value) and value >= 1):
            return None
    first = 1 if offset is None else int(offset)
    if first > total:
        return None
    last = total if limit is None else min(first + int(limit) - 1, total)
    return Lines(first, last)


def of(lines: Lines, total: int) -> Scope:
    """The scope of these lines in a file of `total` lines: WHOLE if these are all its lines."""
    return WHOLE if lines == (1, total) else lines


def without(runs: Iterable[Lines], hole: Lines) -> list[Lines]:
    """The lines of the runs that are not in the hole."""
    rest = []
    for run in runs:
        if hole.last < run.first or run.last < hole.first:
            rest.append(run)
            continue
        if run.first < hole.first:
            rest.append(Lines(run.first, hole.first - 1))
        if hole.last < run.last:
            rest.append(Lines(hole.last + 1, run.last))
    return rest
