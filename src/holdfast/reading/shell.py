"""Shell commands that print one file, or a run of its lines, and nothing else.

    cat F    head -n 40 F    tail -n +10 F    sed -n '10,20p' F    nl -ba F | sed -n '10,20p'
    awk 'NR>=10 && NR<=20' F    bat -r 10:20 F    less -F F    cd DIR && cat F | head -40
    awk '{print NR": "$0}' F    grep -n '' F    rg -n '' F    head -40 F | nl -ba    sed 40q F
    holdfast read F    holdfast read F:10-20    holdfast read --plain F:10-20

Strict: every word must be recognised. A variable, a glob, a redirection, `..`, several files, a
second command or an unlisted option makes the whole command unrecognised.
May fail to recognise a read; never takes another command for one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import NamedTuple

from holdfast.reading.scope import Lines
from holdfast.reading.shell_commands import COUNT_MAX, OURS, Numbering, Step, filtered

COMMAND_MAX = 2_000

_WORD = re.compile(
    r"""(?: [A-Za-z0-9_./,:@%+=-]+           # plain characters
          | '[^'\n]*'                        # single quotes: all literal
          | "[^"$`\\!\n]*"                   # double quotes without anything that expands
        )+""",
    re.VERBOSE,
)
_PIECE = re.compile(r"'([^'\n]*)'|\"([^\"\n]*)\"|([^'\"]+)")
_NOTES = re.compile(r"\[notes?: ")
"""The line about notes that our own command adds on standard error."""
_QUIET = (["2>/dev/null"], ["2>&1"])


class FileRead(NamedTuple):
    """One file, and the lines of it that the command prints."""

    path: str
    steps: tuple[Step, ...]
    numbering: Numbering | None = None
    searched: bool = False
    """After `cd NAME`: CDPATH may lead elsewhere; the shell then prints that above the output."""
    ours: bool = False
    """Printed by our own command, which notes in brackets what it left out."""

    def lines(self, total: int) -> Lines | None:
        """The lines printed of a file of `total` lines; None when there are none."""
        run = Lines(1, total)
        for step in self.steps:
            run = step.of(run)
            if run.last < run.first:
                return None
        return run

    @property
    def everything(self) -> bool:
        """Whether the whole file is printed, however long it is."""
        return all(step == Step() for step in self.steps)

    def place(self, count: int) -> int | None:
        """The number of the first of `count` lines printed, if the command alone determines it.

        None also when the command cannot have printed that many.
        """
        first, room = 1, COUNT_MAX
        for step in self.steps:
            if step.tail or (step.take is not None and step.take < 0):
                return None
            first, room = first + step.skip, room - step.skip
            room = room if step.take is None else min(room, step.take)
        return first if 0 < count <= room else None

    def printed(self, output: str) -> tuple[int, tuple[str, ...]] | None:
        """The first number and the lines in an output, when only the log is available."""
        rows = output.split("\n")
        if rows[-1] == "":
            rows.pop()
        if self.ours and rows and rows[-1] == "":
            rows.pop()  # it prints an extra line after the last newline
        if self.ours and self.numbering is not None and rows and _NOTES.match(rows[-1]):
            rows.pop()  # no numbered line begins so
        if not rows or (self.searched and rows[0].startswith("/")):
            return None
        if self.ours and any(row[:1] == "[" and row[-1:] == "]" for row in (rows[0], rows[-1])):
            return None  # it may be a notice
        return self.part(rows, 0, len(rows))

    def part(
        self, rows: Sequence[str], skipped: int, total: int
    ) -> tuple[int, tuple[str, ...]] | None:
        """The same for some rows of an output of `total` rows, after `skipped` others."""
        place = self.place(total)
        if self.numbering is None:
            return None if place is None else (place + skipped, tuple(rows))
        parsed = [self.numbering.parse(row) for row in rows]
        if not parsed or parsed[0] is None:
            return None
        first = parsed[0][0]
        lines = []
        for number, one in enumerate(parsed, start=first):
            if one is None or one[0] != number:
                return None
            lines.append(one[1])
        if first <= skipped or place not in (None, first - skipped):
            return None
        return first, tuple(lines)

    def output(self, lines: Sequence[str]) -> list[str]:
        """The rows that the command prints of a file with these lines."""
        run = self.lines(len(lines)) if lines else None
        if run is None:
            return []
        rows = lines[run.first - 1 : run.last]
        if self.numbering is None:
            return list(rows)
        return [self.numbering.row(run.first + at, line) for at, line in enumerate(rows)]


def parse(command: str, cwd: str) -> FileRead | None:
    """The file and lines that a command prints; None for every other command."""
    words, folder = _words(command), ""
    if words is None:
        return None
    if "&&" in words:
        at = words.index("&&")
        if at != 2 or words[0] != "cd" or words[1].startswith("-") or not words[1]:
            return None
        folder, words = words[1], words[3:]
    stages = _stages(words)
    if not stages:
        return None
    read = filtered(stages[0], files=1)
    if read is None:
        return None
    name, steps, numbering = read.files[0], read.steps, read.numbering
    if not name or name.startswith("-") or not os.path.isabs(cwd):
        return None
    place = os.path.join(folder, name)
    if ".." in place.split("/"):
        return None  # only the file system knows the parent of a directory that is a link
    for stage in stages[1:]:
        then = filtered(stage, files=0)
        if then is None:
            return None
        steps += then.steps
        if then.numbering is not None:
            if numbering is not None or any(step.skip or step.tail for step in steps):
                return None  # numbers of rows, not of lines of the file
            numbering = then.numbering
    searched = bool(folder) and not folder.startswith(("/", "./"))
    path = os.path.normpath(os.path.join(cwd, place))
    return FileRead(path, tuple(steps), numbering, searched, stages[0][0] == OURS)


def folder(command: str) -> str | None:
    """The argument of the `cd` that a command begins with, as written; None without one."""
    words = _words(command)
    return words[1] if words is not None and words[2:3] == ["&&"] and words[0] == "cd" else None


def unwrapped(argv: Sequence[object]) -> str | None:
    """The script in `bash -lc SCRIPT`, or a plain command line; None when it is neither."""
    if not argv or not all(isinstance(word, str) for word in argv):
        return None
    words = [str(word) for word in argv]
    name = os.path.basename(words[0])
    if name in ("bash", "sh", "zsh") and len(words) == 3 and words[1] in ("-c", "-lc"):
        return words[2]
    import shlex

    return shlex.join(words)


def _words(command: str) -> list[str] | None:
    """The words and operators of a command; None when any part is not literal."""
    if len(command) > COMMAND_MAX or "\0" in command:
        return None
    text, at, out = command.strip(" \t\n"), 0, list[str]()
    while at < len(text):
        if text[at] in " \t":
            at += 1
        elif text.startswith("&&", at):
            out.append("&&")
            at += 2
        elif text[at] == "|" and not text.startswith(("||", "|&"), at):
            out.append("|")
            at += 1
        elif (quiet := _quiet_at(text, at)) is not None:
            out.append(quiet)
            at += len(quiet)
        else:
            match = _WORD.match(text, at)
            if match is None:
                return None
            at = match.end()
            if at < len(text) and text[at] not in " \t|&":
                return None
            word = "".join(
                single or double or plain for single, double, plain in _PIECE.findall(match[0])
            )
            # A quoted operator is a word, but never a file or option that we recognise.
            if word in ("&&", "|", "2>&1", "2>/dev/null") or match[0].startswith("="):
                return None
            out.append(word)
    return out


def _quiet_at(text: str, at: int) -> str | None:
    for (word,) in _QUIET:
        end = at + len(word)
        if text.startswith(word, at) and (end == len(text) or text[end] in " \t|&"):
            return word
    return None


def _stages(words: list[str]) -> list[list[str]] | None:
    stages: list[list[str]] = [[]]
    for word in words:
        if word == "&&":
            return None
        if word == "|":
            stages.append([])
        else:
            stages[-1].append(word)
    stages = [stage[:-1] if stage[-1:] in _QUIET else stage for stage in stages]
    if any(not stage or word in ("2>&1", "2>/dev/null") for stage in stages for word in stage):
        return None
    return stages if all(stages) else None
