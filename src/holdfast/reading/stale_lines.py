"""Which lines that the model was shown differ on disk now.

The model works on what it saw. When another agent, a formatter or the user changed those lines
since, it is told once, in one line. Pure: the lines seen and the file are values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from holdfast.reading.scope import Lines

RUNS_MAX = 4
"""More runs than this are named by the first and the last line."""


def changed(live: Mapping[int, str], rows: Sequence[str]) -> tuple[Lines, ...]:
    """The runs of held lines, by the numbers they were shown under, that the file no longer has.

    Lines that only moved are included: their numbers are no longer right.
    """
    differs = [
        number for number in sorted(live) if number > len(rows) or rows[number - 1] != live[number]
    ]
    return tuple(runs(differs))


def runs(numbers: Iterable[int]) -> list[Lines]:
    """Numbers in order, as runs."""
    runs: list[Lines] = []
    for number in numbers:
        if runs and runs[-1].last == number - 1:
            runs[-1] = Lines(runs[-1].first, number)
        else:
            runs.append(Lines(number, number))
    return runs


def notice(path: str, live: Mapping[int, str], rows: Sequence[str] | None) -> str | None:
    """One line that says what changed; None when every held line is still there."""
    if rows is None:
        return f"[holdfast: {path} was removed since you read it]"
    if not live:
        return None
    text = list(rows)
    lines = changed(live, text)
    if not lines:
        return None
    tail = _moved_tail(live, text, lines[-1])
    if tail is not None:
        first, shift = tail
        whole = lines[-1]
        lines = lines[:-1]
        if whole.first < first:
            lines = (*lines, Lines(whole.first, first - 1))
        after = f"lines {first}-{whole.last} moved by {shift:+d}"
        if not lines:
            return f"[holdfast: {path} changed on disk since you read it: {after}]"
        return f"[holdfast: {path} changed on disk since you read it: {_named(lines)}; {after}]"
    return f"[holdfast: {path} changed on disk since you read it: {_named(lines)}]"


def _moved_tail(live: Mapping[int, str], rows: Sequence[str], run: Lines) -> tuple[int, int] | None:
    """Where the end of the last run only moved: its first such line, and by how much."""
    shift = len(rows) - max(live)
    if not shift or run.last != max(live):
        return None
    at = run.last
    while at >= run.first and 0 < at + shift <= len(rows) and rows[at + shift - 1] == live[at]:
        at -= 1
    return (at + 1, shift) if at < run.last else None


def _named(ranges: Sequence[Lines]) -> str:
    shown = ranges if len(ranges) <= RUNS_MAX else (Lines(ranges[0].first, ranges[-1].last),)
    names = [f"{r.first}-{r.last}" if r.last > r.first else f"{r.first}" for r in shown]
    single = len(shown) == 1 and shown[0].first == shown[0].last
    return f"{'line' if single else 'lines'} {', '.join(names)}"
