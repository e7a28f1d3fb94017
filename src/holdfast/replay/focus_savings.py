"""What focused first reads would save in a conversation that was not focused.

A conversation is processed step by step. Each whole first read of a long file is folded by the real
rules, with the outline of that text and the conversation up to then. The next calls show what was
used: lines that were edited (and five around), distinctive lines that were quoted, names of units
that were mentioned, ranges that were read again. A used part that was folded is a miss, and costs

    optimistic     its text and a call
    middle         the same, or the whole file when more than three parts or 40 % of it are missed
    pessimistic    the whole file

Uses that leave no trace in the log are not measured: that is why focus is off by default.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from holdfast.file_focus import Outliner, units_of
from holdfast.reading import focus as rules
from holdfast.reading.focus import Focus, Presets, Signals, Unit
from holdfast.reading.history.reads import Change, Shown, changes, is_read, shown
from holdfast.reading.history.signals import Conversation
from holdfast.reading.history.steps import Called, Compacted, Context, Returned, Said, Step, strings

AHEAD = 30
"""How many calls after the read a use still counts."""
EDIT_AROUND = 5
QUOTE_MIN = 24
"""Only a line that is unique in its file and at least this long can count as quoted."""
CALL_BYTES = 400
"""The bytes that one more call costs: the call, and the numbers and notices of its result."""
PARTS_MAX, SHARE_MAX = 3, 0.4

VIEWS = ("optimistic", "middle", "pessimistic")


@dataclass
class Fold:
    """One read that was folded, and what was used of it later."""

    context: str
    path: str
    size: int
    shown_bytes: int
    misses: list[int] = field(default_factory=list)
    """The bytes of each folded part that was used."""
    edits: int = 0
    edits_open: int = 0
    reread: bool = False
    units: int = 0
    used: int = 0

    @property
    def saved(self) -> int:
        return self.size - self.shown_bytes

    def net(self, view: str) -> float:
        if self.reread:
            return self.saved - self.size
        if not self.misses:
            return self.saved
        parts = self.saved - sum(self.misses) - CALL_BYTES * len(self.misses)
        whole = self.saved - self.size - CALL_BYTES
        if view == "optimistic":
            return parts
        if view == "pessimistic":
            return whole
        return whole if self.reopened_whole else parts

    @property
    def reopened_whole(self) -> bool:
        return len(self.misses) > PARTS_MAX or sum(self.misses) > SHARE_MAX * self.size

    @property
    def extra(self) -> int:
        return 1 if self.reopened_whole else len(self.misses)


@dataclass
class Tally:
    """What was read in some contexts, and what was folded."""

    read: int = 0
    firsts: int = 0
    folds: list[Fold] = field(default_factory=list)


def play(context: Context, presets: Presets, outline: Outliner, tally: Tally) -> None:
    """Fold the whole first reads of one conversation, and tally what was used later."""
    conversation = Conversation()
    paths: set[str] = set()
    for at, step in enumerate(context.steps):
        if isinstance(step, Compacted):
            paths.clear()
        if isinstance(step, Returned) and is_read(step):
            tally.read += len(step.text.encode("utf-8", "surrogatepass"))
            read = shown(step)
            if read is not None:
                if read.whole and read.path not in paths and not read.shell:
                    _first(context, at, read, conversation.signals, presets, outline, tally)
                paths.add(read.path)
        if isinstance(step, Returned):
            paths.update(change.path for change in changes(step))
        conversation.take(step)


def _first(
    context: Context,
    at: int,
    read: Shown,
    signals: Callable[[str, Sequence[str]], Signals],
    presets: Presets,
    outline: Outliner,
    tally: Tally,
) -> None:
    rows = list(read.rows)
    if rows and rows[-1] == "":
        rows.pop()
    if not presets.applies(len(rows), subagent=context.subagent) or rules.stays_whole(read.path):
        return
    tally.firsts += 1
    facts = outline(read.path, "\n".join(rows).encode("utf-8", "surrogatepass"))
    units = [] if facts is None else units_of(facts, rows)
    focus = rules.focus(rows, units, signals(read.path, rows))
    if focus is None:
        return
    over = max(0, read.size_bytes - sum(len(row.encode()) + 1 for row in rows)) / len(rows)
    fold = Fold(context.name, read.path, read.size_bytes, round(_cost(rows, focus, over)))
    uses = used_lines(context.steps[at + 1 :], read.path, rows, units)
    for part in focus.folds:
        if any(part.first <= n <= part.last for n in uses.lines):
            fold.misses.append(
                round(sum(len(r.encode()) + 1 + over for r in rows[part.first - 1 : part.last]))
            )
    opened = {n for p in focus.parts if p.title is None for n in range(p.first, p.last + 1)}
    fold.reread = uses.reread
    fold.units = len(units)
    fold.used = sum(any(u.first <= n <= u.last for n in uses.lines) for u in units)
    fold.edits = len(uses.edited)
    fold.edits_open = len(uses.edited & opened)
    tally.folds.append(fold)


def _cost(rows: Sequence[str], focus: Focus, over: float) -> float:
    text = rules.to_text(rows, focus, "same call again prints all")
    return len(text.encode("utf-8", "surrogatepass")) + over * (text.count("\n") + 1)


@dataclass
class Uses:
    """The lines of a file that were used after it was read."""

    lines: set[int] = field(default_factory=set)
    edited: set[int] = field(default_factory=set)
    reread: bool = False


def used_lines(
    steps: Sequence[Step], path: str, rows: Sequence[str], units: Sequence[Unit]
) -> Uses:
    """The lines of a file, numbered as at the read, that the next calls used."""
    text = "\n".join(rows)
    uses = Uses()
    places = unique_rows(rows)
    names: dict[str, list[Unit]] = {}
    for unit in units:
        names.setdefault(unit.name, []).append(unit)
    calls = 0
    for step in steps:
        if isinstance(step, Called):
            calls += 1
        if isinstance(step, Compacted):
            break
        for part in _texts_of(step):
            uses.lines |= mentioned_lines(part, places, names)
        if isinstance(step, Returned):
            again = shown(step)
            if again is not None and again.path == path and again.whole:
                uses.reread = True
                break
            if again is not None and again.path == path and calls <= AHEAD:
                uses.lines.update(range(again.first, again.first + len(again.rows)))
            for change in changes(step):
                if change.path == path:
                    place = _place(text, change)
                    uses.edited |= place
                    for n in place:
                        uses.lines.update(range(max(1, n - EDIT_AROUND), n + EDIT_AROUND + 1))
    return uses


def unique_rows(rows: Sequence[str]) -> dict[str, int]:
    """The number of each row that is long enough to be a quotation and occurs once, by its text."""
    numbers: dict[str, int] = {}
    repeated = set()
    for number, row in enumerate(rows, start=1):
        text = row.strip()
        if text in numbers:
            repeated.add(text)
        elif len(text) >= QUOTE_MIN:
            numbers[text] = number
    return {text: number for text, number in numbers.items() if text not in repeated}


def mentioned_lines(
    text: str, places: Mapping[str, int], names: Mapping[str, Sequence[Unit]]
) -> set[int]:
    """The lines that a text quotes, and the first lines of the units that it names."""
    lines = {places[row.strip()] for row in text.split("\n") if row.strip() in places}
    for word in set(rules.WORD.findall(text)) & names.keys():
        for unit in names[word]:
            lines.update(range(unit.start, min(unit.last, unit.start + 2) + 1))
    return lines


def _texts_of(step: Step) -> Iterator[str]:
    if isinstance(step, Said) and step.role == "assistant":
        yield step.text
    elif isinstance(step, Called):
        yield from strings(step.arguments)


def _place(text: str, change: Change) -> set[int]:
    at = text.find(change.old) if change.old else -1
    if at < 0:
        return set()
    first = text.count("\n", 0, at) + 1
    return set(range(first, first + (change.old or "").count("\n") + 1))


def row_of(title: str, tally: Tally) -> dict[str, Any]:
    """The figures of a tally, as shares of all that was read."""
    read, folds = tally.read or 1, tally.folds
    size = sum(one.size for one in folds) or 1
    edits = sum(one.edits for one in folds) or 1
    return {
        "preset": title,
        "folds": len(folds),
        "of": tally.firsts,
        "shown": sum(one.shown_bytes for one in folds) / size,
        "editsOpen": sum(one.edits_open for one in folds) / edits,
        **{v: sum(one.net(v) for one in folds) / read for v in VIEWS},
        "used": sum(one.used for one in folds) / (sum(one.units for one in folds) or 1),
        "reread": sum(one.reread for one in folds),
        "gross": sum(one.saved for one in folds) / read,
        "extra": sum(one.extra for one in folds) / (len(folds) or 1),
        "whole": sum(one.reopened_whole for one in folds) / (len(folds) or 1),
    }
