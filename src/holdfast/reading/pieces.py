"""Splits the lines of a result into runs that are already held and runs that are not.

One linear pass: a run begins at a non-trivial line that is held under its own number, shifted like
the run before, or in exactly one place; it continues while the lines agree. A trivial line, such as
a lone brace, cannot begin a run, only continue one. All other lines are new.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

TRIVIAL = 2
"""Lines of at most this many characters, white space not counted, do not begin a run."""
NAMED_BYTES = 60
"""About what naming a run costs; shorter runs are printed, which also reads better."""


class Run(NamedTuple):
    """Lines from number `first` on, held from number `before` on; new if `before` is None."""

    first: int
    rows: tuple[str, ...]
    before: int | None


def align(
    live: Mapping[int, str], first: int, rows: Sequence[str], *, moved: bool = True
) -> tuple[Run, ...]:
    """The rows as runs; `first` is the number of the first row.

    Without `moved` a row counts as held only under its own number.
    """
    if all(live.get(number) == row for number, row in enumerate(rows, start=first)):
        return (Run(first, tuple(rows), first),)
    places = _matched(live, first, rows) if moved else _in_place(live, first, rows)
    return _joined(_runs(places, first, rows))


def _in_place(live: Mapping[int, str], first: int, rows: Sequence[str]) -> list[int | None]:
    """For each row its number if the row is held under it, or None."""
    return [
        number if live.get(number) == row else None for number, row in enumerate(rows, start=first)
    ]


def _matched(live: Mapping[int, str], first: int, rows: Sequence[str]) -> list[int | None]:
    """For each row the number under which it is held, or None."""
    only = _only_places(live)
    places: list[int | None] = [None] * len(rows)
    shift = 0
    at = 0
    while at < len(rows):
        place = None if _is_trivial(rows[at]) else _place(live, only, first + at, rows[at], shift)
        if place is None:
            at += 1
            continue
        shift = place - (first + at)
        back = at
        while (
            back > 0
            and places[back - 1] is None
            and live.get(first + back - 1 + shift) == rows[back - 1]
        ):
            back -= 1
        for row in range(back, at):
            places[row] = first + row + shift
        while at < len(rows) and live.get(first + at + shift) == rows[at]:
            places[at] = first + at + shift
            at += 1
    return places


def _place(
    live: Mapping[int, str], only: Mapping[str, int], number: int, row: str, shift: int
) -> int | None:
    if live.get(number + shift) == row:
        return number + shift
    if live.get(number) == row:
        return number
    line = only.get(row)
    return None if line is None or line < 0 else line


def _only_places(live: Mapping[int, str]) -> dict[str, int]:
    """Each text with its number, or with -1 when it is held in several places."""
    only: dict[str, int] = {}
    for number, row in live.items():
        only[row] = -1 if row in only else number
    return only


def _is_trivial(row: str) -> bool:
    return len(row) <= TRIVIAL or len("".join(row.split())) <= TRIVIAL


def _runs(places: Sequence[int | None], first: int, rows: Sequence[str]) -> list[Run]:
    runs: list[Run] = []
    start = 0
    for at in range(1, len(rows) + 1):
        goes_on = at < len(rows) and (
            (places[at] is None and places[at - 1] is None)
            or (
                places[at] is not None
                and places[at - 1] is not None
                and places[at] == (places[at - 1] or 0) + 1
            )
        )
        if not goes_on:
            runs.append(Run(first + start, tuple(rows[start:at]), places[start]))
            start = at
    return runs


def _joined(runs: list[Run]) -> tuple[Run, ...]:
    """The runs, with those too short to be named printed, and adjacent printed ones joined."""
    out: list[Run] = []
    for run in runs:
        if run.before is not None and sum(len(row) + 1 for row in run.rows) < NAMED_BYTES:
            run = run._replace(before=None)
        if out and out[-1].before is None and run.before is None:
            out[-1] = out[-1]._replace(rows=out[-1].rows + run.rows)
        else:
            out.append(run)
    return tuple(out)


class _Row(NamedTuple):
    """A row of a diff: its sign, its text, and the numbers it has on both sides."""

    sign: str
    text: str
    old: int
    new: int


class Diff(NamedTuple):
    """A unified diff from the held lines to the current ones."""

    rows: list[str]
    runs: tuple[Run, ...]
    """The runs it was made of. New lines that both sides have, which the diff therefore does not
    show, count as held here."""


def diff(live: Mapping[int, str], runs: Sequence[Run], context: int) -> Diff | None:
    """The diff; None unless the held lines are one text without gaps: held runs are in order, and
    every number between two of them is held."""
    rows = _diff_rows(live, runs)
    if rows is None:
        return None
    changed = [at for at, row in enumerate(rows) if row.sign != " "]
    out: list[str] = []
    shown: set[int] = set()
    at = 0
    while at < len(changed):
        end = at
        while end + 1 < len(changed) and changed[end + 1] - changed[end] <= 2 * context + 1:
            end += 1
        part = rows[max(0, changed[at] - context) : changed[end] + context + 1]
        old = sum(row.sign != "+" for row in part)
        new = sum(row.sign != "-" for row in part)
        # As in any unified diff, an empty side is numbered by the line before it.
        head = (part[0].old - (old == 0), old, part[0].new - (new == 0), new)
        out.append("@@ -{},{} +{},{} @@".format(*head))
        out += [row.sign + row.text for row in part]
        shown.update(row.new for row in part if row.sign != "-")
        at = end + 1
    if not out:
        return None
    left_out = {row.new: row.old for row in rows if row.sign == " " and row.new not in shown}
    return Diff(out, tuple(_without(runs, left_out)))


def _without(runs: Sequence[Run], left_out: Mapping[int, int]) -> Iterator[Run]:
    """The runs, where new lines that the diff leaves out become held ones with these numbers."""
    for run in runs:
        if run.before is not None:
            yield run
            continue
        places = [left_out.get(run.first + at) for at in range(len(run.rows))]
        yield from _runs(places, run.first, run.rows)


def _diff_rows(live: Mapping[int, str], runs: Sequence[Run]) -> list[_Row] | None:
    starts = [run.before for run in runs if run.before is not None]
    if not starts:
        return None
    out: list[_Row] = []
    old = _held_start(live, runs, starts[0])
    if old is None:
        return None
    for at, run in enumerate(runs):
        if run.before is None:
            then = next(
                (after.before for after in runs[at + 1 :] if after.before is not None), None
            )
            end = _held_end(live, old, len(run.rows)) if then is None else then
        else:
            end = run.before
        if end < old:
            return None
        if any(number not in live for number in range(old, end)):
            return None
        removed = [live[number] for number in range(old, end)]
        if run.before is None:
            out += _replaced(removed, run.rows, old, run.first)
            old = end
            continue
        out += _signed("-", removed, old, run.first)
        out += _signed(" ", run.rows, end, run.first)
        old = end + len(run.rows)
    return out


def _replaced(removed: Sequence[str], added: Sequence[str], old: int, new: int) -> list[_Row]:
    """The rows of one change; lines that both sides begin or end with are kept."""
    shorter = min(len(removed), len(added))
    head = next((n for n in range(shorter) if removed[n] != added[n]), shorter)
    rest = shorter - head
    tail = next((n for n in range(rest) if removed[-1 - n] != added[-1 - n]), rest)
    gone, come = removed[head : len(removed) - tail], added[head : len(added) - tail]
    ending = added[len(added) - tail :]
    return [
        *_signed(" ", added[:head], old, new),
        *_signed("-", gone, old + head, new + head),
        *_signed("+", come, old + head + len(gone), new + head),
        *_signed(" ", ending, old + head + len(gone), new + head + len(come)),
    ]


def _signed(sign: str, lines: Sequence[str], old: int, new: int) -> list[_Row]:
    """Rows of one sign, numbered on each side that has them."""
    counts_old, counts_new = sign != "+", sign != "-"
    return [
        _Row(sign, line, old + n * counts_old, new + n * counts_new) for n, line in enumerate(lines)
    ]


def _held_start(live: Mapping[int, str], runs: Sequence[Run], line: int) -> int | None:
    """The held line that the result begins with; None if the lines before `line` have gaps.

    If the result begins with the file's first line, held lines before it are gone, so the diff
    removes them. Lines held before a later range may still exist.
    """
    if runs[0].before is None:
        return min(line, runs[0].first)
    before = sorted(number for number in live if number < line) if runs[0].first == 1 else []
    if not before:
        return line
    return before[0] if before == list(range(before[0], line)) else None


def _held_end(live: Mapping[int, str], old: int, lines: int) -> int:
    """One past the last held line that `lines` new lines at the end can replace."""
    end = old
    while end in live and end < old + lines:
        end += 1
    # Only some tools count the empty line after a final newline.
    return end - 1 if end > old and end not in live and live[end - 1] == "" else end
