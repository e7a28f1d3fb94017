"""The lines of a trace as texts, its files as they change, and its edits as hunks.

A trace has numbers instead of text: which lines of which file were read, edited, searched. Each
line id becomes a text of the same length, each path number a file.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def ids_of(runs: list[int]) -> list[int]:
    """The line ids in runs of first and count."""
    out: list[int] = []
    for at in range(0, len(runs), 2):
        out.extend(range(runs[at], runs[at] + runs[at + 1]))
    return out


def _code(number: int) -> str:
    out = ""
    while number:
        number, digit = divmod(number, len(DIGITS))
        out = DIGITS[digit] + out
    return out


class Texts:
    """A text for each line id, as long as the line was, different for different ids."""

    def __init__(self, sizes: list[int]) -> None:
        self._sizes = sizes
        self._texts: dict[int, str] = {}
        self._counts: dict[int, int] = {}
        self._fillers = 0

    def of(self, line: int) -> str:
        if line not in self._texts:
            length = abs(self._sizes[line]) - 1
            count = self._counts[length] = self._counts.get(length, 0) + 1
            code = _code(count)
            self._texts[line] = (
                (code + "." * length)[:length] if len(code) <= length else "." * length
            )
        return self._texts[line]

    def filler(self) -> str:
        """A line that the model was never shown."""
        self._fillers += 1
        return f"\u00b7never shown {self._fillers}"


@dataclass
class World:
    """The files of a trace, by path number."""

    texts: Texts
    files: dict[int, list[str]] = field(default_factory=dict)

    def show(self, file: int, first: int, rows: list[str], total: int) -> None:
        """Change the file so that it has these rows at `first`."""
        lines = self.files.setdefault(file, [])
        last = max(total, first + len(rows) - 1)
        if total:
            del lines[total:]
        while len(lines) < last:
            lines.append(self.texts.filler())
        lines[first - 1 : first - 1 + len(rows)] = rows

    def find(self, file: int, rows: list[str]) -> int | None:
        """The line where these rows begin."""
        lines = self.files.get(file, [])
        for at in range(len(lines) - len(rows) + 1):
            if lines[at : at + len(rows)] == rows:
                return at + 1
        return None

    def data(self, file: int) -> bytes:
        return "\n".join(self.files.get(file, [])).encode()


@dataclass(frozen=True)
class Change:
    """Replaced lines; `first` is a line number from before any change of the same edit."""

    first: int
    old: list[str]
    new: list[str]


def changes_of(world: World, event: dict[str, Any]) -> tuple[list[str], list[Change]]:
    """The file before an edit, and its hunks, each made unique by the lines around it."""
    file = event["f"]
    lines = world.files.setdefault(file, [])
    placed: list[tuple[int, int, list[str]]] = []
    for first, old, new, _ in event["h"]:
        rows = [world.texts.of(i) for i in ids_of(new)]
        if len(old) == 3 and old[0] == 0 and old[1] == 0:
            if first:
                placed.append((first, old[2], rows))
            continue
        gone = [world.texts.of(i) for i in ids_of(old)]
        place = first or world.find(file, gone)
        if not place:
            continue
        world.show(file, place, gone, 0)
        placed.append((place, len(gone), rows))
    before = list(lines)
    out: list[Change] = []
    shift = 0
    for place, count, rows in sorted(placed, key=lambda one: one[0]):
        start = place - 1 + shift
        end = min(len(lines), start + count)
        gone = lines[start:end]
        shift += len(rows) - len(gone)
        head = _common(gone, rows)
        tail = _common(gone[head:][::-1], rows[head:][::-1])
        start, end = start + head, end - tail
        fresh = rows[head : len(rows) - tail]
        if lines[start:end] != fresh:
            out.append(_unique(lines, start, end, fresh))
            lines[start:end] = fresh
    return before, out


def _unique(lines: list[str], start: int, end: int, fresh: list[str]) -> Change:
    """The change, widened until its old lines occur only once."""
    low, high = start, end
    text = "\n" + "\n".join(lines) + "\n"
    while low > 0 or high < len(lines):
        block = "\n" + "\n".join(lines[low:high]) + "\n"
        if high > low and text.find(block) == text.rfind(block):
            break
        low, high = max(0, low - 1), min(len(lines), high + 1)
    return Change(low + 1, lines[low:high], lines[low:start] + fresh + lines[end:high])


def _common(one: list[str], other: list[str]) -> int:
    count = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        count += 1
    return count
