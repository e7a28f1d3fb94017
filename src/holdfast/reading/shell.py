"""Shell commands that print one file, or a run of its lines, and nothing else.

    cat F    head -n 40 F    tail -n +10 F    sed -n '10,20p' F    nl -ba F | sed -n '10,20p'
    awk 'NR>=10 && NR<=20' F    bat -r 10:20 F    less -F F    cd DIR && cat F | head -40
    holdfast read F    holdfast read -n F:10-20

Strict: every word must be recognised. A variable, a glob, a redirection, `..`, several files, a
second command or an unlisted option makes the whole command unrecognised.
May fail to recognise a read; never takes another command for one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from holdfast.reading.scope import Lines

COMMAND_MAX = 2_000
_COUNT_MAX = 10**9

_WORD = re.compile(
    r"""(?: [A-Za-z0-9_./,:@%+=-]+           # plain characters
          | '[^'\n]*'                        # single quotes: all literal
          | "[^"$`\\!\n]*"                   # double quotes without anything that expands
        )+""",
    re.VERBOSE,
)
_PIECE = re.compile(r"'([^'\n]*)'|\"([^\"\n]*)\"|([^'\"]+)")
_SED = re.compile(r"([0-9]+)(?:,([0-9]+|\$|\+[0-9]+))?p(?:;([0-9]+)q)?\Z")
_AWK_BOTH = re.compile(r"NR>=?([0-9]+)&&NR<=?([0-9]+)(?:\{print(?:\$0)?;?\})?\Z")
_AWK_ONE = re.compile(r"NR(==|>=|<=|>|<)([0-9]+)(?:\{print(?:\$0)?;?\})?\Z")
_BAT_RANGE = re.compile(r"([0-9]*):([0-9]*)\Z")
_QUIET = (["2>/dev/null"], ["2>&1"])


class Numbering(NamedTuple):
    """How `nl -ba` and `cat -n` put numbers before lines."""

    width: int = 6
    separator: str = "\t"
    trims: bool = False
    """White space at the end of a row is cut, so a blank line is a number alone."""

    def row(self, number: int, line: str) -> str:
        row = f"{number:>{self.width}}{self.separator}{line}"
        return row.rstrip() if self.trims else row

    def parse(self, row: str) -> tuple[int, str] | None:
        """The number and the line of a row, or None when it has no number."""
        if self.trims and row.isdecimal() and len(row) <= 9:
            return int(row), ""
        head, found, line = row.partition(self.separator)
        digits = head.strip(" ")
        if not found or not digits.isdecimal() or len(digits) > 9 or head != head.rstrip(" "):
            return None
        return int(digits), line


class Step(NamedTuple):
    """One selection from a run of lines; negative numbers count from its end."""

    skip: int = 0
    take: int | None = None
    tail: bool = False
    """Take the last `take` lines instead of the first."""

    def of(self, run: Lines) -> Lines:
        count = run.last - run.first + 1
        if self.tail:
            return Lines(max(run.first, run.last - (self.take or 0) + 1), run.last)
        first = run.first + self.skip
        if self.take is None:
            return Lines(first, run.last)
        take = self.take if self.take >= 0 else max(0, count + self.take)
        return Lines(first, min(run.last, first + take - 1))


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
        first, room = 1, _COUNT_MAX
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
        if not rows or (self.searched and rows[0].startswith("/")):
            return None
        if self.ours and any(row[:1] == "[" and row[-1:] == "]" for row in (rows[0], rows[-1])):
            return None  # it may be a notice
        if self.numbering is None:
            first = self.place(len(rows))
            return None if first is None else (first, tuple(rows))
        found = [self.numbering.parse(row) for row in rows]
        if found[0] is None:
            return None
        first = found[0][0]
        lines = []
        for number, one in enumerate(found, start=first):
            if one is None or one[0] != number:
                return None
            lines.append(one[1])
        place = self.place(len(rows))
        return (first, tuple(lines)) if place in (None, first) and first > 0 else None

    def output(self, lines: Sequence[str]) -> list[str]:
        """The rows that the command prints of a file with these lines."""
        run = self.lines(len(lines)) if lines else None
        if run is None:
            return []
        chosen = lines[run.first - 1 : run.last]
        if self.numbering is None:
            return list(chosen)
        return [self.numbering.row(run.first + at, line) for at, line in enumerate(chosen)]


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
    found = _first(stages[0])
    if found is None:
        return None
    name, steps, numbering = found
    if not name or name.startswith("-") or not os.path.isabs(cwd):
        return None
    named = os.path.join(folder, name)
    if ".." in named.split("/"):
        return None  # only the file system knows the parent of a directory that is a link
    for stage in stages[1:]:
        then = _filter(stage, files=0)
        if then is None:
            return None
        steps += then[1]
        if then[2] is not None:
            if numbering is not None or steps:
                return None  # numbers of rows, not of lines of the file
            numbering = then[2]
    searched = bool(folder) and not folder.startswith(("/", "./"))
    path = os.path.normpath(os.path.join(cwd, named))
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
            found = _WORD.match(text, at)
            if found is None:
                return None
            at = found.end()
            if at < len(text) and text[at] not in " \t|&":
                return None
            word = "".join(
                single or double or plain for single, double, plain in _PIECE.findall(found[0])
            )
            # A quoted operator is a word, but never a file or option that we recognise.
            if word in ("&&", "|", "2>&1", "2>/dev/null") or found[0].startswith("="):
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


_Filtered = tuple[list[str], list[Step], Numbering | None]


def _first(stage: list[str]) -> tuple[str, list[Step], Numbering | None] | None:
    found = _filter(stage, files=1)
    return None if found is None else (found[0][0], found[1], found[2])


def _filter(stage: list[str], *, files: int) -> _Filtered | None:
    """The files, selections and numbering of one command of a pipe, if it has `files` files."""
    name = stage[0].removeprefix("/usr").removeprefix("/bin/")
    parse_words = _COMMANDS.get(name)
    found = None if parse_words is None else parse_words(stage[1:])
    return found if found is not None and len(found[0]) == files else None


def _cat(words: list[str]) -> _Filtered | None:
    files, numbering = [], None
    for word in words:
        if word in ("-n", "--number"):
            numbering = Numbering()
        elif word.startswith("-"):
            return None
        else:
            files.append(word)
    return files, [], numbering


def _less(words: list[str]) -> _Filtered | None:
    files = [word for word in words if not word.startswith("-")]
    options = [word for word in words if word.startswith("-")]
    if any(word not in ("-F", "-X", "-FX", "-XF", "-R", "-FRX", "-FXR") for word in options):
        return None
    return files, [], None


def _bat(words: list[str]) -> _Filtered | None:
    files, steps, rest = list[str](), list[Step](), list(words)
    while rest:
        word = rest.pop(0)
        if word in ("-p", "-pp", "--plain", "--paging=never", "--color=never", "--style=plain"):
            continue
        if word in ("-r", "--line-range") and rest:
            word = f"--line-range={rest.pop(0)}"
        if word.startswith("--line-range="):
            found = _BAT_RANGE.match(word.removeprefix("--line-range="))
            if found is None or steps:
                return None
            step = _between(int(found[1] or 1), int(found[2]) if found[2] else None)
            if step is None:
                return None
            steps.append(step)
        elif word.startswith("-"):
            return None
        else:
            files.append(word)
    return files, steps, None


def _nl(words: list[str]) -> _Filtered | None:
    files, rest, body, width, separator = list[str](), list(words), "", 6, "\t"
    while rest:
        word = rest.pop(0)
        if word in ("-b", "-w", "-s") and rest:
            word += rest.pop(0)
        if word.startswith("-b"):
            body = word[2:]
        elif word.startswith("-w") and word[2:].isdecimal() and 0 < int(word[2:]) < 20:
            width = int(word[2:])
        elif word.startswith("-s") and word[2:].strip(" 0123456789"):
            separator = word[2:]
        elif word.startswith("-"):
            return None
        else:
            files.append(word)
    # By default empty lines get no number.
    return (files, [], Numbering(width, separator)) if body == "a" else None


def _head(words: list[str]) -> _Filtered | None:
    found = _counted(words)
    if found is None:
        return None
    files, text = found
    if not re.fullmatch(r"-?[0-9]{1,9}", text):
        return None
    return files, [Step(take=int(text))], None


def _tail(words: list[str]) -> _Filtered | None:
    found = _counted(words)
    if found is None:
        return None
    files, text = found
    if not re.fullmatch(r"[-+]?[0-9]{1,9}", text):
        return None
    if text.startswith("+"):
        return files, [Step(skip=max(0, int(text) - 1))], None
    return files, [Step(take=int(text.removeprefix("-")), tail=True)], None


def _counted(words: list[str]) -> tuple[list[str], str] | None:
    """The files and the count of head or tail, by default ten lines."""
    files, rest, count = list[str](), list(words), "10"
    while rest:
        word = rest.pop(0)
        if word in ("-n", "--lines") and rest:
            count = rest.pop(0)
        elif word.startswith("--lines="):
            count = word.removeprefix("--lines=")
        elif re.fullmatch(r"-n[-+]?[0-9]+", word):
            count = word[2:]
        elif re.fullmatch(r"-[0-9]+", word):
            count = word[1:]
        elif word.startswith(("-", "+")):
            return None
        else:
            files.append(word)
    return files, count


def _sed(words: list[str]) -> _Filtered | None:
    rest = list(words)
    silent, script, files = False, None, list[str]()
    while rest:
        word = rest.pop(0)
        if word in ("-n", "--quiet", "--silent"):
            silent = True
        elif word in ("-e", "-ne") and rest and script is None:
            silent, script = silent or word == "-ne", rest.pop(0)
        elif word.startswith("-"):
            return None
        elif script is None:
            script = word
        else:
            files.append(word)
    if script is None or not silent:
        return None
    found = _SED.match(script.replace(" ", ""))
    if found is None:
        return None
    first, end = int(found[1]), found[2]
    if end == "$":
        last = None
    elif end is not None and end.startswith("+"):
        last = first + int(end[1:])
    else:
        last = first if end is None else max(first, int(end))
    if found[3] is not None:
        last = int(found[3]) if last is None else min(last, int(found[3]))
    step = _between(first, last)
    return None if step is None else (files, [step], None)


def _awk(words: list[str]) -> _Filtered | None:
    if not words:
        return None
    script = words[0].replace(" ", "")
    both, one = _AWK_BOTH.match(script), _AWK_ONE.match(script)
    if both is not None:
        first = int(both[1]) + (">=" not in script.split("&&")[0])
        last: int | None = int(both[2]) - ("<=" not in script.split("&&")[1])
    elif one is not None:
        number = int(one[2])
        first, last = {
            "==": (number, number),
            ">=": (max(1, number), None),
            ">": (number + 1, None),
            "<=": (1, number),
            "<": (1, number - 1),
        }[one[1]]
    else:
        return None
    step = _between(first, last)
    files = words[1:]
    # A word with `=` is an assignment to awk, not a file.
    if step is None or any("=" in word or word.startswith("-") for word in files):
        return None
    return files, [step], None


def _between(first: int, last: int | None) -> Step | None:
    if not 1 <= first <= _COUNT_MAX or (last is not None and not first <= last <= _COUNT_MAX):
        return None
    return Step(skip=first - 1, take=None if last is None else last - first + 1)


OURS = "holdfast"
_OUR_RANGE = re.compile(r"(.+):([0-9]{1,9})-([0-9]{1,9})\Z")


def _holdfast(words: list[str]) -> _Filtered | None:
    """`holdfast read` of one file or of one run of its lines."""
    if words[:1] != ["read"]:
        return None
    options = [word for word in words[1:] if word.startswith("-")]
    names = [word for word in words[1:] if not word.startswith("-")]
    if len(names) != 1 or any(word not in ("-n", "--numbers") for word in options):
        return None
    name, steps = names[0], list[Step]()
    found = _OUR_RANGE.match(name)
    if found is not None:
        step = _between(int(found[2]), int(found[3]))
        if step is None:
            return None
        name, steps = found[1], [step]
    if ":" in name or "," in name or name.startswith(("@", "~")) or not name.isascii():
        return None  # a symbol, several places, or a name that is looked up
    return [name], steps, Numbering(0, " ", trims=True) if options else None


_COMMANDS: dict[str, Callable[[list[str]], _Filtered | None]] = {
    "cat": _cat,
    "head": _head,
    "tail": _tail,
    "sed": _sed,
    "nl": _nl,
    "awk": _awk,
    "bat": _bat,
    "less": _less,
    OURS: _holdfast,
}
