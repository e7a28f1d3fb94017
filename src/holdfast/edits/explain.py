"""Answer a failed edit with the text that is really there. Values in, a value out.

    the old text occurs      what is shown
    several times            each place, with the lines that tell them apart
    once                     nothing to show: the file changed since, so the edit may be repeated
    never, blanks differ     the lines, and which blanks differ
    never                    the nearest lines, and the first token that differs on both sides

The shown lines are the file's, with their numbers, at most `LINES_MAX` of them and `LINE_MAX`
characters of each. A place that shares too little with the old text is not shown at all, because a
wrong place costs more than none.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from holdfast.edits.blanks import blank_differences, unusual_characters
from holdfast.sequence.nearest import Nearest, nearest

LINES_MAX = 60
LINE_MAX = 400
WHOLE_MAX = 24
"""Up to this many lines a place is shown whole; of a longer one the lines that differ."""

AROUND = 2
"""How many lines are shown before and after a place, and around a line that differs."""

PLACES_MAX = 8
"""How many places of an ambiguous text are shown."""

APART_MAX = 12
"""How many lines before or after a place are compared to tell it from the others."""

LOOK_AHEAD = 6
"""How many lines of the old text may be missing in the file before one that matches."""

SHARE_MIN = 0.34
"""The share of the old text's tokens that the nearest place must have, or a line of it that the
file has exactly once."""


@dataclass(frozen=True, slots=True)
class EditHelp:
    """The help for the model: a sentence, numbered lines of the file, and what differs."""

    says: str
    lines: tuple[tuple[int, str], ...] = ()
    notes: tuple[str, ...] = ()

    def to_text(self) -> str:
        out = [f"[holdfast: {self.says}]"]
        width = len(str(self.lines[-1][0])) if self.lines else 1
        before = None
        for number, line in self.lines:
            if before is not None and number != before + 1:
                out.append("…")
            out.append(f"{number:>{width}}\t{line}")
            before = number
        return "\n".join([*out, *self.notes])


def explain(text: str, old: str, name: str) -> EditHelp:
    """What to tell a model whose edit of the file `name` failed, given the file's text now."""
    lines = text.split("\n")
    starts = _occurrences(text, old)
    if len(starts) > 1:
        return _apart(text, lines, old, starts, name)
    if len(starts) == 1:
        first = text.count("\n", 0, starts[0]) + 1
        last = first + old.rstrip("\n").count("\n")
        return EditHelp(
            f"the old text now occurs once in {name}, {_span(first, last)}; the edit can be sent "
            "again as it is"
        )
    places = nearest(text.encode("utf-8", "replace"), old.encode("utf-8", "replace"), 2)
    if not places or not (places[0].anchored or places[0].agree >= SHARE_MIN * places[0].tokens):
        return EditHelp(
            f"the old text is not in {name} ({_plural(len(lines), 'line')}), and no lines of it "
            "are similar; read it again"
        )
    place = places[0]
    where = _span(place.first, place.last)
    if place.same_tokens:
        there = lines[place.first - 1 : place.last]
        blanks = blank_differences(old.strip("\n"), there, place.first)
        says = f"the old text is {where} of {name}, but for blanks"
        notes = tuple(f"differs: {one}" for one in blanks)
        return EditHelp(says, _shown(lines, old, place, [one.line for one in blanks]), notes)
    says = f"the old text is not in {name}; nearest is {where}"
    numbers = _shown(lines, old, place, [place.theirs_line])
    if len(places) > 1:
        other = places[1]
        also = _shown(lines, old, other, [other.theirs_line])
        if len(numbers) + len(also) <= LINES_MAX:
            says += f", almost as near {_span(other.first, other.last)}"
            numbers = tuple(sorted({*numbers, *also}))
    return EditHelp(says, numbers, (_difference(place),))


def _occurrences(text: str, old: str) -> list[int]:
    starts = []
    at = text.find(old) if old else -1
    while at >= 0:
        starts.append(at)
        at = text.find(old, at + len(old))
    return starts


def _difference(nearest: Nearest) -> str:
    mine, theirs = _quoted(nearest.ours), _quoted(nearest.theirs)
    note = f"first difference: line {nearest.theirs_line} has {theirs}, the old text has {mine}"
    if nearest.ours_line > 1:
        note += f" in its line {nearest.ours_line}"
    unusual = [
        f"{who} has {names}"
        for who, token in (("the file", nearest.theirs), ("the old text", nearest.ours))
        if token is not None and (names := unusual_characters(token.decode("utf-8", "replace")))
    ]
    return "; ".join([note, *unusual])


def _quoted(token: bytes | None) -> str:
    if token is None:
        return "nothing more"
    text = token.decode("utf-8", "replace")
    return f"`{text}`" if len(text) <= LINE_MAX // 4 else f"`{text[: LINE_MAX // 4]}…`"


def _shown(
    lines: Sequence[str], old: str, nearest: Nearest, matter: Sequence[int]
) -> tuple[tuple[int, str], ...]:
    """The lines of a place with those around it; of a long one those that matter or differ."""
    first, last = max(1, nearest.first - AROUND), min(len(lines), nearest.last + AROUND)
    numbers: Sequence[int] = range(first, last + 1)
    if len(numbers) > WHOLE_MAX:
        differ = _different(lines, old, range(nearest.first, nearest.last + 1))
        near = {*range(first, first + AROUND + 1), *range(last - AROUND, last + 1)}
        for middle in (*matter, *differ):
            near |= set(range(middle - AROUND, middle + AROUND + 1))
        numbers = sorted(near & set(numbers))
        if len(numbers) > LINES_MAX:
            # Show the first difference: it is what the edit must get right first.
            at = bisect_left(numbers, matter[0] if matter else first)
            begin = max(0, min(at - LINES_MAX // 3, len(numbers) - LINES_MAX))
            numbers = numbers[begin : begin + LINES_MAX]
    return tuple((number, _clipped(_at(lines, number))) for number in numbers)


def _different(lines: Sequence[str], old: str, numbers: range) -> list[int]:
    """The lines of a place that are not in the old text, in order; both are read once."""
    mine = [line.removesuffix("\r") for line in old.split("\n")]
    different, at = [], 0
    for number in numbers:
        ahead = mine[at : at + LOOK_AHEAD]
        if (line := _at(lines, number)) in ahead:
            at += ahead.index(line) + 1
        else:
            different.append(number)
    return different


def _at(lines: Sequence[str], number: int) -> str:
    return lines[number - 1].removesuffix("\r")


def _clipped(line: str) -> str:
    return line if len(line) <= LINE_MAX else f"{line[:LINE_MAX]}… ({len(line)} characters)"


def _apart(text: str, lines: Sequence[str], old: str, starts: list[int], name: str) -> EditHelp:
    """Show each place with the fewest lines before it, or after it, that no other place has."""
    height = old.rstrip("\n").count("\n")
    firsts, number, before = [], 1, 0
    for start in starts:
        number += text.count("\n", before, start)
        before = start
        firsts.append(number)
    above, below = (
        _reach(lines, [(n, -1) for n in firsts]),
        _reach(lines, [(n + height, 1) for n in firsts]),
    )
    up = above is not None and (below is None or above <= below)
    reach = (above if up else below) or 0
    count = f"the old text occurs {len(starts)} times in {name}"
    if above is None and below is None:
        places = ", ".join(str(first) for first in firsts[:PLACES_MAX])
        more = f" and {len(firsts) - PLACES_MAX} more" if len(firsts) > PLACES_MAX else ""
        return EditHelp(
            f"{count}, at lines {places}{more}; {APART_MAX} lines around them are the same too"
        )
    side = "before" if up else "after"
    says = f"{count}; with {_plural(reach, 'line')} {side} it, it is unique"
    each = max(2, LINES_MAX // min(len(firsts), PLACES_MAX) - reach)
    shown: dict[int, None] = {}
    for first in firsts[:PLACES_MAX]:
        last = first + height
        if up:
            shown |= dict.fromkeys(range(first - reach, min(last, first + each - 1) + 1))
        else:
            shown |= dict.fromkeys(range(max(first, last - each + 1), last + reach + 1))
    numbers = [number for number in sorted(shown) if 1 <= number <= len(lines)][:LINES_MAX]
    rest = firsts[PLACES_MAX:]
    more = f" and {len(rest) - 20} more" if len(rest) > 20 else ""
    also = f"also at lines {', '.join(map(str, rest[:20]))}{more}"
    shown_lines = tuple((n, _clipped(_at(lines, n))) for n in numbers)
    return EditHelp(says, shown_lines, (also,) if rest else ())


def _reach(lines: Sequence[str], places: Sequence[tuple[int, int]]) -> int | None:
    """How many lines on one side of each place make all of them different; None if too many."""
    contexts = [""] * len(places)
    for reach in range(1, APART_MAX + 1):
        for at, (number, step) in enumerate(places):
            there = number + step * reach
            line = _at(lines, there) if 1 <= there <= len(lines) else f"\0{there}"
            contexts[at] += f"\n{line}"
        if len(set(contexts)) == len(contexts):
            return reach
    return None


def _span(first: int, last: int) -> str:
    return f"line {first}" if first == last else f"lines {first}-{last}"


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
