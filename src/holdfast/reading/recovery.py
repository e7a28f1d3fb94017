"""What a compaction took from the model, the most needed first, and how to get it back.

A list of every file that was ever read helps little. What the model worked on comes first: files it
edited, then lines that it requested by number, then what it read last. If only some lines of a file
were used, those are listed instead of the whole file. Pure: the events of the conversation before
the compaction are values.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from holdfast.reading.events import Anchored, Patched, Pieced, Printed, Replaced
from holdfast.reading.scope import Lines
from holdfast.reading.view import ViewEvent
from holdfast.text import line_range

AROUND = 10
"""Lines before and after an edit that are brought back with it."""
SMALL = 60
"""A file of at most this many lines is brought back whole."""
TOKENS_MAX = 400
BYTES_PER_TOKEN = 4


@dataclass(frozen=True, slots=True)
class Used:
    """One file that was held, and the lines of it that the model worked with."""

    path: str
    runs: tuple[Lines, ...]
    """Current line numbers, adjusted for the model's own edits; the whole file if empty."""
    edits: int
    last: int
    """When it was last seen, as a number that grows with the conversation."""
    lines: int
    """How many lines were held."""

    @property
    def rank(self) -> tuple[bool, bool, int]:
        return (self.edits > 0, bool(self.runs), self.last)


def was_seen(events: Iterable[tuple[ViewEvent, int]]) -> bool:
    """Whether lines of a file were shown or changed, even if it is now uncertain which."""
    kinds = Anchored | Printed | Patched | Replaced | Pieced
    return any(isinstance(event, kinds) for event, _ in events)


def used(path: str, events: Iterable[tuple[ViewEvent, int]], lines: int) -> Used:
    """What the model did with a file, from what it was shown and what it changed."""
    runs: list[Lines] = []
    edits = last = 0
    seen_whole = False
    for event, at in events:
        last = max(last, at)
        match event:
            case Printed(_, first, rows, whole):
                seen_whole = seen_whole or whole
                if not whole and rows:
                    runs.append(Lines(first, first + len(rows) - 1))
            case Anchored(_, scope, _):
                if isinstance(scope, Lines):
                    runs.append(scope)
                else:
                    seen_whole = True
            case Patched(_, hunks):
                edits += 1
                runs = _edited(runs, hunks)
            case Replaced():
                edits += 1
            case Pieced(_, pieces):
                runs += [Lines(p.first, p.first + p.lines - 1) for p in pieces if p.before is None]
            case _:
                pass
    is_small = seen_whole and 0 < lines <= SMALL
    return Used(path, () if is_small else merged(runs), edits, last, lines)


def _edited(
    runs: list[Lines], hunks: Sequence[tuple[int, Sequence[str], Sequence[str]]]
) -> list[Lines]:
    """The runs renumbered for an edit, with the lines of the edit added."""
    places: list[Lines] = []
    shift = 0
    for first, old, new in hunks:
        if not first:
            continue
        delta, end = len(new) - len(old), first + len(old)
        runs = [
            Lines(
                run.first + delta if run.first >= end else run.first,
                max(run.first, run.last + delta) if run.last >= end - 1 else run.last,
            )
            for run in runs
        ]
        start = first + shift
        places.append(Lines(max(1, start - AROUND), start + len(new) - 1 + AROUND))
        shift += delta
    return [*runs, *places]


def merged(runs: Iterable[Lines]) -> tuple[Lines, ...]:
    """Runs in order, with adjacent ones joined."""
    spans: list[Lines] = []
    for run in sorted(runs):
        if spans and run.first <= spans[-1].last + 1:
            spans[-1] = Lines(spans[-1].first, max(spans[-1].last, run.last))
        else:
            spans.append(run)
    return tuple(spans)


def ranked(files: Iterable[Used]) -> list[Used]:
    """The most needed first."""
    return sorted(files, key=lambda file: file.rank, reverse=True)


def to_text(
    files: Sequence[Used],
    changed: Callable[[str], bool],
    cwd: str,
    call: str,
    tokens_max: int = TOKENS_MAX,
) -> str | None:
    """What was held before a compaction, in at most `tokens_max` tokens; None for nothing."""
    if not files:
        return None
    head = (
        "[holdfast: before this compaction you had seen the following, most needed first. "
        f"Rely on it only where you can still see the text. {call}]"
    )
    bytes_left = tokens_max * BYTES_PER_TOKEN - len(head.encode()) - 40
    lines = []
    for file in ranked(files):
        line = f"- {shown(file.path, cwd)}: {_what(file)}"
        line += "; changed on disk since" if changed(file.path) else ""
        bytes_left -= len(line.encode("utf-8", "surrogatepass")) + 1
        if bytes_left < 0:
            break
        lines.append(line)
    more = len(files) - len(lines)
    if more:
        lines.append(f"- and {more} more file{'s' if more > 1 else ''}")
    return "\n".join([head, *lines])


def _what(file: Used) -> str:
    if not file.runs:
        what = f"all {file.lines} lines" if file.lines else "all lines"
    else:
        runs = file.runs[:6]
        what = "lines " + ", ".join(line_range(run.first, run.last) for run in runs)
        what += ", …" if len(file.runs) > len(runs) else ""
    return what + (", edited by you" if file.edits else "")


def shown(path: str, cwd: str) -> str:
    inside = cwd and path.startswith(cwd.rstrip("/") + "/")
    return os.path.relpath(path, cwd) if inside else path


@dataclass(frozen=True, slots=True)
class Piece:
    """Lines of a file that are brought back."""

    path: str
    first: int
    rows: tuple[str, ...]
    whole: bool


def pick(
    files: Sequence[Used], rows_of: Callable[[str], Sequence[str] | None], tokens_max: int
) -> tuple[list[Piece], list[Used]]:
    """The pieces that fit into `tokens_max`, the most needed first, and files that did not fit."""
    bytes_left = tokens_max * BYTES_PER_TOKEN
    pieces: list[Piece] = []
    rest: list[Used] = []
    for file in ranked(files):
        rows = rows_of(file.path)
        if rows is None:
            continue
        whole = not file.runs
        complete = True
        for run in file.runs or (Lines(1, max(1, len(rows))),):
            part = tuple(rows[run.first - 1 : run.last])
            cost = sum(len(row.encode("utf-8", "surrogatepass")) + 8 for row in part) + 60
            if cost > bytes_left:
                complete = False
                continue
            if part:
                bytes_left -= cost
                pieces.append(Piece(file.path, run.first, part, whole))
        if not complete:
            rest.append(file)
    return pieces, rest
