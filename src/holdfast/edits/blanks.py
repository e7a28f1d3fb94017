"""Name the blanks in which two texts differ, when all their other characters agree."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

_BLANK = re.compile(r"[ \t\r\f\v]+")


@dataclass(frozen=True, slots=True)
class BlankDifference:
    """One kind of difference, with the first line where it occurs."""

    what: str
    line: int
    """The line of the file."""

    def __str__(self) -> str:
        return f"{self.what} (line {self.line})"


def blank_differences(old: str, there: Sequence[str], first: int) -> list[BlankDifference]:
    """How the lines `there` of a file, from line `first` on, differ from the old text in blanks.

    Each kind is named once. Lines in `there` keep a carriage return at their end.
    """
    differences: dict[str, BlankDifference] = {}

    def note(kind: str, what: str, line: int) -> None:
        differences.setdefault(kind, BlankDifference(what, line))

    ours = old.split("\n")
    if len(ours) > 1:
        ends = {line.endswith("\r") for line in ours[:-1]}, {line.endswith("\r") for line in there}
        if ends == ({False}, {True}):
            note("ends", r"the file's lines end in \r\n, those of the old text in \n", first)
        elif ends == ({True}, {False}):
            note("ends", r"the file's lines end in \n, those of the old text in \r\n", first)
        elif ends[0] != ends[1]:
            note("ends", "the file mixes \\n and \\r\\n line ends", first)
    mine = [line.removesuffix("\r") for line in ours]
    theirs = [line.removesuffix("\r") for line in there]
    filled = [number for number, line in enumerate(mine) if line.strip()]
    lines = [number for number, line in enumerate(theirs) if line.strip()]
    if [_dense(mine[n]) for n in filled] != [_dense(theirs[n]) for n in lines]:
        note("breaks", "the lines are broken at other places", first)
        return list(differences.values())
    if [n - filled[0] for n in filled] != [n - lines[0] for n in lines]:
        at = next(
            (b for (a, b) in zip(filled, lines, strict=True) if a - filled[0] != b - lines[0]), 0
        )
        note("empty", "blank lines are at other places", first + at)
    for a, b in zip(filled, lines, strict=True):
        one, two = mine[a], theirs[b]
        indents = _indent(one), _indent(two)
        if indents[0] != indents[1] and not (a == filled[0] and two.endswith(one)):
            note(
                "indent",
                f"the file indents with {_counted(indents[1])}, the old text with "
                f"{_counted(indents[0])}",
                first + b,
            )
        middles = one.strip(), two.strip()
        # The first and the last line of an old text may be parts of a line.
        partial = a in (filled[0], filled[-1]) and middles[0] in middles[1]
        if middles[0] != middles[1] and not partial:
            note("inside", "the spacing inside the line differs", first + b)
        tails = one[len(one.rstrip()) :], two[len(two.rstrip()) :]
        if tails[0] != tails[1] and (a != filled[-1] or tails[0]):
            who = "the file's line ends in blanks" if tails[1] else "the old text has blanks at the"
            note("tail", who if tails[1] else f"{who} end of a line", first + b)
    return list(differences.values())


def _dense(line: str) -> str:
    return _BLANK.sub("", line)


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


def _counted(blanks: str) -> str:
    """An indentation in words: `2 tabs`, `8 spaces`."""
    if not blanks:
        return "nothing"
    parts = []
    for name, character in (("tab", "\t"), ("space", " ")):
        count = blanks.count(character)
        if count:
            parts.append(f"{count} {name}{'' if count == 1 else 's'}")
    return " and ".join(parts)


def unusual_characters(text: str) -> str:
    """The characters of a token that look like others, by name; empty if it has none."""
    names = [
        f"U+{ord(c):04X} {unicodedata.name(c, 'unnamed').lower()}"
        for c in dict.fromkeys(text)
        if ord(c) > 126 and unicodedata.category(c)[0] in "PZCS"
    ]
    return ", ".join(names[:3])
