"""The upper bound of a replay: the savings of a cache that knows every line the model was shown.

A replay of the trace alone, without a log, files or doubt: each line number of a file has the line
that was last shown or written there. A read is a repeat (one marker), a change of a text that is
held nearly whole (a diff), an overlap (the unseen lines) or new. Held lines are lost only by a
compaction or a blanked result.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import SequenceMatcher
from typing import Any

from holdfast.replay.texts import ids_of

MARKER_BYTES = 32

Held = dict[int, tuple[int, int]]
"""Line number to line id and the event that showed it."""


def saved(trace: Mapping[str, Any]) -> float:
    """The bytes that could have been saved in one context."""
    files: dict[int, Held] = {}
    blanked: set[int] = set()
    total = 0.0
    for number, event in enumerate(trace["ev"]):
        match event["k"]:
            case "c":
                files = {}
            case "m":
                blanked.update(event["ev"])
            case "w" if not event["err"]:
                rows = ids_of(event["l"])
                files[event["f"]] = {at + 1: (row, number) for at, row in enumerate(rows)}
                if event.get("de"):
                    del files[event["f"]]
            case "e" if not event["err"]:
                files[event["f"]] = _edited(files.get(event["f"], {}), event, number)
            case "r" | "R" if event["l"]:
                lines = files.get(event["f"], {}) if event["f"] >= 0 else {}
                live = {at: row for at, (row, by) in lines.items() if by not in blanked}
                total += _saving(live, event, trace["sizes"])
                if event["f"] >= 0:
                    _show(files.setdefault(event["f"], {}), event, number)
            case _:
                pass
    return total


def _show(lines: Held, event: Mapping[str, Any], number: int) -> None:
    rows = ids_of(event["l"])
    if event["a"] == 1 and event["n"] and len(rows) >= event["n"]:
        lines.clear()
    # Lines whose place is unknown get numbers far above all others.
    first = event["a"] or 10**7 + number * 10**4
    lines.update({first + at: (row, number) for at, row in enumerate(rows)})


def _edited(lines: Held, event: Mapping[str, Any], number: int) -> Held:
    shift = 0
    for first, old, new, _ in event["h"]:
        rows = ids_of(new)
        if len(old) == 3 and old[0] == 0 and old[1] == 0:
            lines = _replaced(lines, first, old[2], rows, number)
            continue
        gone = ids_of(old)
        place = first + shift if first else _place(lines, gone)
        shift += len(rows) - len(gone) if first else 0
        if not place:
            continue
        head = 0
        while head < min(len(gone), len(rows)) and gone[head] == rows[head]:
            head += 1
        tail = 0
        while tail < min(len(gone), len(rows)) - head and gone[-1 - tail] == rows[-1 - tail]:
            tail += 1
        fresh = rows[head : len(rows) - tail]
        lines = _replaced(lines, place + head, len(gone) - head - tail, fresh, number)
    for at, row in enumerate(ids_of(event.get("l") or [])):
        lines[event["a"] + at] = (row, number)
    return lines


def _replaced(lines: Held, first: int, count: int, rows: list[int], number: int) -> Held:
    delta = len(rows) - count
    out = {
        at if at < first else at + delta: row
        for at, row in lines.items()
        if not first <= at < first + count
    }
    out.update({first + at: (row, number) for at, row in enumerate(rows)})
    return out


def _place(lines: Held, rows: list[int]) -> int:
    for at in sorted(at for at, (row, _) in lines.items() if rows and row == rows[0]):
        if all(lines.get(at + n, (None,))[0] == row for n, row in enumerate(rows)):
            return at
    return 0


def _saving(live: Mapping[int, int], event: Mapping[str, Any], sizes: list[int]) -> float:
    rows, size = ids_of(event["l"]), float(event["rb"])
    if not live:
        return 0.0
    first = event["a"]
    if first and all(live.get(first + at) == row for at, row in enumerate(rows)):
        return max(0.0, size - MARKER_BYTES)
    matched = _matched([live[at] for at in sorted(live)], rows, sizes)
    over = max(0, size - sum(abs(sizes[row]) for row in rows)) / len(rows)
    costs = [abs(sizes[row]) + over for row in rows]
    unseen = sum(cost for cost, is_known in zip(costs, matched, strict=True) if not is_known)
    if all(matched):
        return max(0.0, size - MARKER_BYTES)
    if sum(costs) - unseen < 0.1 * sum(costs):
        return 0.0
    covered = sum(first + at in live for at in range(len(rows))) / len(rows) if first else 0.0
    if covered < 0.9:
        return max(0.0, size - MARKER_BYTES - unseen)
    hunks, rows_shown = 0, set[int]()
    for at, is_known in enumerate(matched):
        if not is_known:
            hunks += at == 0 or matched[at - 1]
            rows_shown.update(range(max(0, at - 3), min(len(rows), at + 4)))
    cost = 60 + hunks * 20 + sum(abs(sizes[rows[at]]) + 1 for at in rows_shown) + unseen
    return size - cost if cost < 0.9 * size else 0.0


def _matched(lines: list[int], rows: list[int], sizes: list[int]) -> list[bool]:
    """Which rows are held, in order; a trivial line counts only between two held rows."""
    ours = [row if sizes[row] > 0 else -1 - at for at, row in enumerate(lines)]
    theirs = [row if sizes[row] > 0 else -(10**9) - at for at, row in enumerate(rows)]
    matched = [False] * len(rows)
    if not set(ours) & set(theirs):
        return matched
    for _, at, count in SequenceMatcher(None, ours, theirs, autojunk=False).get_matching_blocks():
        matched[at : at + count] = [True] * count
    solid = [at for at, row in enumerate(rows) if sizes[row] > 0]
    before = [True, *(matched[at] for at in solid)]
    after = [*(matched[at] for at in solid), True]
    place = 0
    for at, row in enumerate(rows):
        if sizes[row] > 0:
            place += 1
        elif solid and before[place] and after[place]:
            matched[at] = True
    return matched
