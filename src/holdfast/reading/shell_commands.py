"""The commands of a pipe that print or select lines: what each prints, by its words.

Every word must be recognised; any other option makes the command unrecognised.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from holdfast.reading.scope import Lines

COUNT_MAX = 10**9

_SED = re.compile(r"([0-9]+)(?:,([0-9]+|\$|\+[0-9]+))?p(?:;([0-9]+)q)?\Z")
_SED_OTHERS = re.compile(r"([0-9]+)(?:,([0-9]+))?!d\Z")
_SED_QUIT = re.compile(r"([0-9]+)q\Z")
_AWK = re.compile(r"([^{}]*?)\s*(?:\{\s*([^{}]*?)\s*;?\s*\})?\s*\Z")
_AWK_BOTH = re.compile(r"NR>=?([0-9]+)&&NR<=?([0-9]+)\Z")
_AWK_ONE = re.compile(r"NR(==|>=|<=|>|<)([0-9]+)\Z")
_AWK_PRINT = re.compile(r"print(?:\s+\$0)?\Z")
_AWK_NUMBERED = re.compile(
    r"""print\s+NR\s*(?:"([^"\\]+)"\s*|,\s*)\$0\Z
      | printf\s*\(?\s*"%([0-9]{0,2})d([^"\\%]+|\\t)%s\\n"\s*,\s*NR\s*,\s*\$0\s*\)?\Z""",
    re.VERBOSE,
)
_DIGITS = re.compile(r" *([0-9]{1,9})(?![0-9])")
_BAT_RANGE = re.compile(r"([0-9]*):([0-9]*)\Z")


class Numbering(NamedTuple):
    """How `nl -ba` and `cat -n` put numbers before lines."""

    width: int = 6
    separator: str = "\t"
    bare: bool = False
    """An empty line is a number alone, without the separator."""

    def row(self, number: int, line: str) -> str:
        number_alone = f"{number:>{self.width}}"
        return number_alone if self.bare and not line else f"{number_alone}{self.separator}{line}"

    def parse(self, row: str) -> tuple[int, str] | None:
        """The number and the line of a row, or None when it has no number."""
        if self.bare and row.isdecimal() and len(row) <= 9:
            return int(row), ""
        match = _DIGITS.match(row)
        if match is None or not row.startswith(self.separator, match.end()):
            return None
        return int(match[1]), row[match.end() + len(self.separator) :]


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


class Filtered(NamedTuple):
    """One command of a pipe: the files it names, the lines it selects, and their numbers."""

    files: list[str]
    steps: list[Step]
    numbering: Numbering | None = None


def filtered(stage: list[str], *, files: int) -> Filtered | None:
    """What one command of a pipe does, if it is recognised and names `files` files."""
    name = stage[0].removeprefix("/usr").removeprefix("/bin/")
    parse_words = _COMMANDS.get(name)
    command = None if parse_words is None else parse_words(stage[1:])
    return command if command is not None and len(command.files) == files else None


def _cat(words: list[str]) -> Filtered | None:
    files, numbering = [], None
    for word in words:
        if word in ("-n", "--number"):
            numbering = Numbering()
        elif word.startswith("-"):
            return None
        else:
            files.append(word)
    return Filtered(files, [], numbering)


def _less(words: list[str]) -> Filtered | None:
    files = [word for word in words if not word.startswith("-")]
    options = [word for word in words if word.startswith("-")]
    if any(word not in ("-F", "-X", "-FX", "-XF", "-R", "-FRX", "-FXR") for word in options):
        return None
    return Filtered(files, [])


def _bat(words: list[str]) -> Filtered | None:
    files, steps, rest = list[str](), list[Step](), list(words)
    while rest:
        word = rest.pop(0)
        if word in ("-p", "-pp", "--plain", "--paging=never", "--color=never", "--style=plain"):
            continue
        if word in ("-r", "--line-range") and rest:
            word = f"--line-range={rest.pop(0)}"
        if word.startswith("--line-range="):
            match = _BAT_RANGE.match(word.removeprefix("--line-range="))
            if match is None or steps:
                return None
            step = _between(int(match[1] or 1), int(match[2]) if match[2] else None)
            if step is None:
                return None
            steps.append(step)
        elif word.startswith("-"):
            return None
        else:
            files.append(word)
    return Filtered(files, steps)


def _nl(words: list[str]) -> Filtered | None:
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
    return Filtered(files, [], Numbering(width, separator)) if body == "a" else None


def _head(words: list[str]) -> Filtered | None:
    counted = _counted(words, r"-?[0-9]{1,9}")
    if counted is None:
        return None
    files, text = counted
    return Filtered(files, [Step(take=int(text))])


def _tail(words: list[str]) -> Filtered | None:
    counted = _counted(words, r"[-+]?[0-9]{1,9}")
    if counted is None:
        return None
    files, text = counted
    if text.startswith("+"):
        return Filtered(files, [Step(skip=max(0, int(text) - 1))])
    return Filtered(files, [Step(take=int(text.removeprefix("-")), tail=True)])


def _counted(words: list[str], form: str) -> tuple[list[str], str] | None:
    """The files and the count of head or tail, by default ten lines; None if not of this form."""
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
    return (files, count) if re.fullmatch(form, count) else None


def _sed(words: list[str]) -> Filtered | None:
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
    if script is None:
        return None
    if not silent:
        return _sed_loud(script.replace(" ", ""), files)
    match = _SED.match(script.replace(" ", ""))
    if match is None:
        return None
    first, end = int(match[1]), match[2]
    if end == "$":
        last = None
    elif end is not None and end.startswith("+"):
        last = first + int(end[1:])
    else:
        last = first if end is None else max(first, int(end))
    if match[3] is not None:
        last = int(match[3]) if last is None else min(last, int(match[3]))
    step = _between(first, last)
    return None if step is None else Filtered(files, [step])


def _sed_loud(script: str, files: list[str]) -> Filtered | None:
    """`10,20!d`, which deletes all other lines, and `20q`, which ends after a line."""
    if (match := _SED_OTHERS.match(script)) is not None:
        first = int(match[1])
        step = _between(first, max(first, int(match[2] or first)))
    else:
        match = _SED_QUIT.match(script)
        step = None if match is None else _between(1, int(match[1]))
    return None if step is None else Filtered(files, [step])


def _awk(words: list[str]) -> Filtered | None:
    match = _AWK.match(words[0]) if words else None
    if match is None or not (match[1] or match[2]):
        return None
    condition, action = match[1].replace(" ", ""), match[2]
    if not condition and action is not None:
        step: Step | None = Step()
    else:
        step = _awk_lines(condition)
    numbering = None
    if action is not None and not _AWK_PRINT.match(action):
        numbering = _awk_numbers(action)
        if numbering is None:
            return None
    elif not condition:
        return None
    files = words[1:]
    # A word with `=` is an assignment to awk, not a file.
    if step is None or any("=" in word or word.startswith("-") for word in files):
        return None
    return Filtered(files, [step], numbering)


def _awk_lines(condition: str) -> Step | None:
    both, one = _AWK_BOTH.match(condition), _AWK_ONE.match(condition)
    if both is not None:
        first = int(both[1]) + (">=" not in condition.split("&&")[0])
        return _between(first, int(both[2]) - ("<=" not in condition.split("&&")[1]))
    if one is None:
        return None
    number = int(one[2])
    first, last = {
        "==": (number, number),
        ">=": (max(1, number), None),
        ">": (number + 1, None),
        "<=": (1, number),
        "<": (1, number - 1),
    }[one[1]]
    return _between(first, last)


def _awk_numbers(action: str) -> Numbering | None:
    """How `print NR ": " $0` and the like put numbers before lines."""
    match = _AWK_NUMBERED.match(action)
    if match is None:
        return None
    separator = (match[1] or match[3] or " ").replace("\\t", "\t")
    # Digits after a number could not be told from it.
    return None if separator[0].isdecimal() else Numbering(int(match[2] or 0), separator)


def _grep(words: list[str]) -> Filtered | None:
    """A search with a pattern that every line matches, which prints all lines with numbers."""
    options = [word for word in words if word.startswith("-")]
    others = [word for word in words if not word.startswith("-")]
    accepted = ("-n", "--line-number", "--color=never", "--no-heading")
    if not {"-n", "--line-number"} & set(options) or any(word not in accepted for word in options):
        return None
    if not others or others[0] not in ("", "^"):
        return None
    return Filtered(others[1:], [], Numbering(0, ":"))


def _between(first: int, last: int | None) -> Step | None:
    if not 1 <= first <= COUNT_MAX or (last is not None and not first <= last <= COUNT_MAX):
        return None
    return Step(skip=first - 1, take=None if last is None else last - first + 1)


OURS = "holdfast"
_OUR_FORMS = {"-n": True, "--numbers": True, "--plain": False}
"""Options of `holdfast read` that the recognised commands may have: whether lines are numbered."""
_OUR_RANGE = re.compile(r"(.+):([0-9]{1,9})-([0-9]{1,9})\Z")


def _holdfast(words: list[str]) -> Filtered | None:
    """`holdfast read` of one file or of one run of its lines."""
    if words[:1] != ["read"]:
        return None
    options = [word for word in words[1:] if word.startswith("-")]
    names = [word for word in words[1:] if not word.startswith("-")]
    if len(names) != 1 or len(options) > 1 or any(word not in _OUR_FORMS for word in options):
        return None
    name, steps = names[0], list[Step]()
    match = _OUR_RANGE.match(name)
    if match is not None:
        step = _between(int(match[2]), int(match[3]))
        if step is None:
            return None
        name, steps = match[1], [step]
    if ":" in name or "," in name or name.startswith(("@", "~")) or not name.isascii():
        return None  # a symbol, several places, or a name that is looked up
    # Lines of a file are numbered unless they are asked for plain, a whole file the other way.
    numbered = _OUR_FORMS[options[0]] if options else match is not None
    return Filtered([name], steps, Numbering(0, " ", bare=True) if numbered else None)


_COMMANDS: dict[str, Callable[[list[str]], Filtered | None]] = {
    "cat": _cat,
    "head": _head,
    "tail": _tail,
    "sed": _sed,
    "nl": _nl,
    "awk": _awk,
    "grep": _grep,
    "rg": _grep,
    "bat": _bat,
    "less": _less,
    OURS: _holdfast,
}
