"""Focused first reads: a long file with the parts that matter open, and the rest folded.

Agents never use most of what they read of a long file. When a whole first read is answered in
focus, the model gets every line that something points at, and for the rest titles with exact line
numbers. These are open:

    lines outside every unit, such as imports, and units of at most 8 lines
    units whose name the user or the model mentioned, or that is in the input of a tool
    units with a line that a search hit, a test or a diff named, or that was edited before

A unit is a symbol or a section with the comment above it. In a unit of more than 80 lines only its
first lines are open, and the lines around one that something points at. There is no budget to fill:
lines that nothing points at are rarely used, so they stay folded even if there is room.

Documents, data and plans are not folded: all of their text matters. A requested range is never
folded, and the second whole read of a file prints everything: only a first read is folded. Pure:
the lines, the units and the signals are values.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

SMALL = 8
"""Units of at most this many lines are always open."""
LONG = 80
"""In a unit with more lines than this, only the blocks that matter are open."""
HEAD = 30
"""Lines at the start of a long unit that are open when something points at it."""
AROUND = 12
"""Lines before and after one that something points at, inside a long unit."""
FOLD_MIN = 6
"""A fold has at least this many lines."""
WORTH = 0.75
"""A focused answer is given only if it has at most this share of the file's bytes."""
TITLE_MAX = 110
TASK_MAX = 2000
"""How many characters of a task are searched."""

MAIN_LINES, SUBAGENT_LINES = 800, 300
"""The defaults: longer files are folded, in the main conversation and in a subagent."""

WORD = re.compile(r"[^\W\d]\w{3,}")
"""A name long enough to point at a unit: four characters or more."""

WHOLE_SUFFIXES = (".md", ".mdx", ".rst", ".txt", ".adoc", ".org", ".tex", ".ipynb", ".csv", ".tsv")
_OBJECT = r"(?:the|this|that|these|those|my|our|your|all|each|every|it|them|changes|code|new|pr)\b"
_WHOLE_TASK = re.compile(
    rf"\b(?:review|audit|proof-?read|critique)\s+(?:{_OBJECT}|https?:|#\d)"
    r"|<command-name>/?[\w:-]*(?:review|audit)"
    r"|\b(?:full|entire|complete|whole) (?:contents?|text|files?)\b|\bverbatim\b",
    re.IGNORECASE,
)
"""The verb with its object: *a review loop* is something to work on."""


class Unit(NamedTuple):
    """A symbol or a section, with the comment above it."""

    first: int
    last: int
    name: str
    title: str
    """Its signature, for the place where it is folded."""
    start: int = 0
    """The line of the symbol itself, below its comment."""


@dataclass(frozen=True, slots=True)
class Signals:
    """What the conversation pointed at before the read."""

    words: frozenset[str] = frozenset()
    """Names in texts of the user and the model, and in inputs of tools."""
    lines: frozenset[int] = frozenset()
    """Lines that a search hit, a test or a diff named, or that were edited."""
    whole: bool = False
    """The task is one for which everything must be read, such as a review."""


@dataclass(frozen=True, slots=True)
class Presets:
    """From how many lines on a whole first read is answered in focus."""

    main_lines: int = MAIN_LINES
    subagent_lines: int = SUBAGENT_LINES

    def applies(self, lines: int, *, subagent: bool) -> bool:
        return lines > (self.subagent_lines if subagent else self.main_lines)


class Part(NamedTuple):
    """A run of lines: open, or folded under a title."""

    first: int
    last: int
    title: str | None = None
    """None when the lines are open."""


@dataclass(frozen=True, slots=True)
class Focus:
    """A file in parts, in order, that cover all of it."""

    parts: tuple[Part, ...]
    lines: int = field(default=0)

    @property
    def folds(self) -> tuple[Part, ...]:
        return tuple(part for part in self.parts if part.title is not None)

    @property
    def shown(self) -> int:
        return sum(part.last - part.first + 1 for part in self.parts if part.title is None)


def stays_whole(path: str) -> bool:
    """Whether files of this name are never folded: documents, data, plans."""
    return path.lower().endswith(WHOLE_SUFFIXES)


def wants_all(task: str) -> bool:
    """Whether a task asks for everything to be read: a review, or files in full."""
    return _WHOLE_TASK.search(task[:TASK_MAX]) is not None


def focus(rows: Sequence[str], units: Sequence[Unit], signals: Signals) -> Focus | None:
    """The parts of a file; None when it is better read whole."""
    if signals.whole or not units:
        return None
    total = len(rows)
    titles: list[str | None] = [None] * (total + 2)
    """For each line the title of its fold; None when it is open."""
    inside: list[int] = [0] * (total + 2)
    pointed_at = sorted(signals.lines)
    for number, unit in enumerate(_apart(units, total), start=1):
        low, high = bisect_left(pointed_at, unit.first), bisect_right(pointed_at, unit.last)
        pointed = pointed_at[low:high]
        named = unit.name in signals.words
        length = unit.last - unit.first + 1
        if length <= SMALL or (length <= LONG and (named or pointed)):
            continue
        title = _clipped(unit.title or unit.name)
        for n in range(unit.first, unit.last + 1):
            titles[n], inside[n] = title, number
        if length > LONG and (named or pointed):
            _open_inside(unit, pointed, titles)
    for n in range(2, total + 1):
        # A blank line after a fold belongs to the fold, unless something points at it.
        after = titles[n] is None and titles[n - 1] is not None and n not in signals.lines
        if after and not rows[n - 1].strip():
            titles[n], inside[n] = titles[n - 1], inside[n - 1]
    parts = _parts(titles, inside, total)
    result = Focus(tuple(parts), total)
    return result if result.folds and _cost(rows, result) <= WORTH * _size(rows) else None


def _apart(units: Sequence[Unit], total: int) -> list[Unit]:
    """Units in order that do not overlap and lie inside the file."""
    out: list[Unit] = []
    for unit in sorted(units):
        first = max(unit.first, out[-1].last + 1 if out else 1)
        if first <= unit.last <= total:
            out.append(unit._replace(first=first))
    return out


def _open_inside(unit: Unit, pointed: Sequence[int], titles: list[str | None]) -> None:
    """Open the start of a long unit, and the lines around each one that something points at."""
    start = max(unit.first, unit.start)
    for n in range(unit.first, min(unit.last, start + HEAD - 1) + 1):
        titles[n] = None
    for at in pointed:
        for n in range(max(unit.first, at - AROUND), min(unit.last, at + AROUND) + 1):
            titles[n] = None


def _parts(titles: Sequence[str | None], inside: Sequence[int], total: int) -> list[Part]:
    parts: list[Part] = []
    for n in range(1, total + 1):
        title = titles[n]
        if parts:
            last = parts[-1]
            same = inside[n] == inside[last.last] if title is not None else True
            if (last.title is None) == (title is None) and same:
                parts[-1] = last._replace(last=n)
                continue
        parts.append(Part(n, n, title))
    return _joined(parts)


def _joined(parts: Iterable[Part]) -> list[Part]:
    """The parts, with short folds opened and adjacent open parts joined."""
    out: list[Part] = []
    for part in parts:
        if part.title is not None and part.last - part.first + 1 < FOLD_MIN:
            part = part._replace(title=None)
        if out and out[-1].title is None and part.title is None:
            out[-1] = out[-1]._replace(last=part.last)
        else:
            out.append(part)
    return out


def _clipped(title: str) -> str:
    title = " ".join(title.split())
    return title if len(title) <= TITLE_MAX else f"{title[:TITLE_MAX]}…"


def _size(rows: Sequence[str]) -> int:
    return sum(len(row) + 1 for row in rows)


def _cost(rows: Sequence[str], focus: Focus) -> int:
    out = 150
    for part in focus.parts:
        if part.title is None:
            out += _size(rows[part.first - 1 : part.last]) + 10
        else:
            out += len(part.title) + 24
    return out


def to_text(rows: Sequence[str], focus: Focus, again: str) -> str:
    """The file in focus, for an agent that prints text as it is."""
    out = [
        f"[holdfast: {focus.lines} lines, {focus.shown} of them shown and the rest folded; read "
        f"folded lines by their numbers in brackets; {again}]"
    ]
    for part in focus.parts:
        named = f"{part.first}-{part.last}" if part.last > part.first else f"{part.last}"
        if part.title is None:
            out += [f"[{named}:]", *rows[part.first - 1 : part.last]]
        else:
            out.append(f"[{named} folded: {part.title}]")
    return "\n".join(out)
