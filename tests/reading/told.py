"""What the messages of a request tell about a file, worked out from their words alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from holdfast.replay.texts import Change
from tests.reading import window


class Untrue(AssertionError):
    """A short answer that the request does not bear out."""


@dataclass(frozen=True)
class Message:
    """One message of the request that tells something about a file."""

    file: int
    kind: str
    """shown, edited or short."""
    first: int = 0
    rows: tuple[str, ...] = ()
    whole: bool = False
    hunks: tuple[Change, ...] = ()
    text: str = ""
    call: str = ""
    ours: bool = False
    """Whether it is an answer of our own read."""
    within_lines: bool = False
    """Whether an edit replaces a text wherever it begins, and not whole lines."""


def known(request: list[Message], file: int) -> dict[int, str]:
    """For each line number the newest text that these messages give it."""
    lines: dict[int, str] = {}
    ages: dict[int, int] = {}
    """Which message gave a line."""
    for at, message in enumerate(request):
        if message.file != file:
            continue
        fresh: Iterable[int] = ()
        if message.text.startswith(OUR_DIFF):
            lines = dict(enumerate(patched(request[:at], file, message.text) or (), 1))
            fresh = lines
        elif message.kind == "shown":
            lines = {} if message.whole else lines
            lines.update(enumerate(message.rows, message.first))
            fresh = range(message.first, message.first + len(message.rows))
        elif message.kind == "edited":
            for hunk in message.hunks:
                if not hunk.first:
                    within = message.within_lines
                    hunk = _within(lines, hunk, ages) if within else _placed(lines, hunk)
                if not hunk.first:
                    lines = {}
                    continue
                lines, ages = _moved(lines, hunk), _moved(ages, hunk)
                lines.update(enumerate(hunk.new, hunk.first))
                ages |= dict.fromkeys(range(hunk.first, hunk.first + len(hunk.new)), at)
        else:
            # What it refers to may be gone: its own words stay, and say how to get the rest.
            rows = rows_told(lines, message.text)
            count = len(rows)
            lines = {
                n: row
                for n, row in lines.items()
                if not message.whole and not message.first <= n < message.first + count
            }
            told = {n: row for n, row in enumerate(rows, message.first) if row is not None}
            lines |= told
            fresh = told
        ages |= dict.fromkeys(fresh, at)
    return lines


T = TypeVar("T")


def _moved(lines: dict[int, T], hunk: Change) -> dict[int, T]:
    """What is known of the lines that a change leaves, under their new numbers."""
    delta, end = len(hunk.new) - len(hunk.old), hunk.first + len(hunk.old)
    return {
        n if n < hunk.first else n + delta: row
        for n, row in lines.items()
        if n < hunk.first or n >= end
    }


OUR_DIFF = tuple(f"[readcache: {digit}" for digit in "0123456789")
"""How a diff of our own read begins. It is against a whole text that our read gave before."""


def patched(request: Sequence[Message], file: int, text: str) -> list[str] | None:
    """The lines that a diff of our own read gives, by a text that these messages have."""
    wholes: list[str] = []
    found = None
    for message in (*request, Message(file, "short", whole=True, text=text, ours=True)):
        if message.file != file or not message.ours or not message.whole:
            continue
        if message.kind == "shown":
            wholes.append("\n".join(message.rows) + "\n")
        elif message.text.startswith(OUR_DIFF):
            patch = message.text.partition("\n")[2]
            made = (window.apply_patch(base, patch) for base in reversed(wholes))
            found = next((one for one in made if one is not None), None)
            wholes += [] if found is None else [found]
    return None if found is None else found.removesuffix("\n").split("\n")


def _placed(lines: dict[int, str], hunk: Change) -> Change:
    """The change at the one place where the model saw its old lines; a patch has no numbers."""
    found = [n for n in lines if all(lines.get(n + at) == row for at, row in enumerate(hunk.old))]
    return Change(found[0] if len(found) == 1 else 0, hunk.old, hunk.new)


def _within(lines: dict[int, str], hunk: Change, ages: dict[int, int]) -> Change:
    """The change at the place where the old text begins in a line that the model saw.

    The agent only replaces a text that occurs once. So of several places those that were told
    before the newest one are out of date.
    """
    old, last = hunk.old, len(hunk.old) - 1
    places: list[Change] = []
    for number, row in lines.items():
        rows = [lines.get(number + at) for at in range(len(old))]
        end = rows[-1]
        if end is None or None in rows:
            continue
        for at in range(len(row) + 1):
            head, rest = row[:at], row[at:]
            if last:
                tail = end.removeprefix(old[-1])
                is_here = rest == old[0] and rows[1:-1] == old[1:-1] and end.startswith(old[-1])
            else:
                tail = rest.removeprefix(old[0])
                is_here = rest.startswith(old[0])
            if is_here:
                new = (head + "\n".join(hunk.new) + tail).split("\n")
                places.append(Change(number, [one for one in rows if one is not None], new))
    newest = max((ages.get(one.first, -1) for one in places), default=-1)
    places = [one for one in places if ages.get(one.first, -1) == newest]
    return places[0] if len(places) == 1 else Change(0, hunk.old, hunk.new)


def rebuilt(lines: dict[int, str], text: str) -> list[str]:
    """The lines that a short answer stands for, by its words and what is known; none is missing."""
    rows = rows_told(lines, text, strict=True)
    if any(row is None for row in rows):
        raise Untrue(f"a line is not in the request: {text[:80]!r}")
    return [row for row in rows if row is not None]


def rows_told(lines: dict[int, str], text: str, *, strict: bool = False) -> list[str | None]:
    """The same, with None where a line is referred to that is not known."""
    head, *rest = text.split("\n")
    if focused := re.match(r"\[holdfast: (\d+) lines, (\d+) of them shown and the rest fold", head):
        rows = _pieced({}, rest)
        shown = sum(row is not None for row in rows)
        if len(rows) != int(focused[1]) or shown != int(focused[2]):
            raise Untrue(f"a focused answer of {len(rows)} lines, {shown} shown: {head!r}")
        return rows
    if head.startswith("[readcache: "):
        return _told_by_read(lines, head)
    where = re.match(r"\[holdfast: lines? (\d+)(?:-(\d+))?", head)
    if where is None:
        raise Untrue(f"not a short answer: {head!r}")
    first, last = int(where[1]), int(where[2] or where[1])
    if " unchanged" in head:
        return [lines.get(n) for n in range(first, last + 1)]
    if "with this diff" in head:
        return _patched(lines, rest, (first, last), strict)
    return _pieced(lines, rest)


def _told_by_read(lines: dict[int, str], head: str) -> list[str | None]:
    """What an answer of our own read stands for, without the empty line behind a last newline."""
    if found := re.match(r"\[readcache: unchanged in lines (\d+)-(\d+)", head):
        return [lines.get(n) for n in range(int(found[1]), int(found[2]) + 1)]
    if found := re.match(r"\[readcache: unchanged, (\d+) lines\]", head):
        return [lines.get(n) for n in range(1, int(found[1]))]
    raise Untrue(f"not an answer of our read: {head!r}")


def _pieced(lines: dict[int, str], rest: list[str]) -> list[str | None]:
    out: list[str | None] = []
    while rest:
        row = rest.pop(0)
        if found := re.fullmatch(r"\[(\d+)(?:-(\d+))?:\]", row):
            count = int(found[2] or found[1]) - int(found[1]) + 1
            out += rest[:count]
            del rest[:count]
            continue
        if found := re.fullmatch(r"\[(\d+)(?:-(\d+))? folded: .*\]", row):
            out += [None] * (int(found[2] or found[1]) - int(found[1]) + 1)
            continue
        found = re.fullmatch(
            r"\[(\d+)(?:-(\d+))? as you have them(?:, there numbered (\d+)-\d+)?\]", row
        )
        if found is None:
            raise Untrue(f"not a part of a short answer: {row!r}")
        start = int(found[3] or found[1])
        count = int(found[2] or found[1]) - int(found[1]) + 1
        out += [lines.get(start + at) for at in range(count)]
    return out


def _patched(
    lines: dict[int, str], rows: list[str], asked: tuple[int, int], strict: bool
) -> list[str | None]:
    out: list[str | None] = []
    number, old, shift = asked[0], 0, 0
    for row in rows:
        if hunk := re.fullmatch(r"@@ -(\d+),(\d+) \+(\d+),(\d+) @@", row):
            old, start = int(hunk[1]) + (hunk[2] == "0"), int(hunk[3]) + (hunk[4] == "0")
            out += [lines.get(n + old - start) for n in range(number, start)]
            number = start
            continue
        if row[0] in "- ":
            if strict and lines.get(old) != row[1:]:
                raise Untrue(f"the diff has {row!r}, the request {lines.get(old)!r}")
            old += 1
        if row[0] in "+ ":
            out.append(row[1:])
            number += 1
        shift = old - number
    return [*out, *(lines.get(n + shift) for n in range(number, asked[1] + 1))]
