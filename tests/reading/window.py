"""The twin of the trust engine: the context window itself.

It keeps the text of every result a model was shown, knows which of them are visible now, and works
out from those texts alone what the model can know of a file. It has never heard of digests, seqs or
guards. Every claim of ours must be true of these texts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

MARKER_WHOLE = re.compile(r"\[readcache: unchanged, (\d+) lines\]\Z")
MARKER_LINES = re.compile(r"\[readcache: unchanged in lines (\d+)-(\d+) of (\d+)\]\Z")
MARKER_INSIDE = re.compile(
    r"\[readcache: unchanged in lines (\d+)-(\d+); changes exist outside this range\]\Z"
)
DIFF_HEAD = re.compile(r"\[readcache: (\d+) lines changed of (\d+)\]\n")
DIFF_LINES_HEAD = re.compile(r"\[readcache: (\d+) lines changed in lines (\d+)-(\d+) of (\d+)\]\n")
HUNK = re.compile(r"@@ -(\d+),(\d+) \+(\d+),(\d+) @@\Z")
CUT = re.compile(
    r"\n\n\[Showing lines (\d+)-(\d+) of (\d+)(?: \(50\.0KB limit\))?\."
    r" Use offset=\d+ to continue\.\]\Z"
)
MORE = re.compile(r"\n\n\[(\d+) more lines in file\. Use offset=(\d+) to continue\.\]\Z")


@dataclass(frozen=True)
class Shown:
    """Lines of a version of a file stood in the context, from `first` on."""

    path: str
    version: str
    first: int
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Patched:
    """A patch from one whole text to another stood in the context."""

    path: str
    base: str
    version: str


@dataclass(frozen=True)
class Same:
    """A marker: lines of `version` are as they were in `base`."""

    path: str
    base: str
    version: str
    first: int
    last: int


@dataclass(frozen=True)
class Named:
    """Lines of `version` are as they were told last, under the same numbers."""

    path: str
    version: str
    first: int
    last: int


@dataclass(frozen=True)
class Parts:
    """Several of these at once."""

    path: str
    facts: tuple[Shown | Named, ...]


Fact = Shown | Patched | Same | Named | Parts


@dataclass
class Knowledge:
    """What the visible texts tell about one file.

    `known` are line numbers by version; `whole` the versions that one answer about the whole file
    stood for, newest last; `newest` is for each line number the text that was told of it last.
    `crossed` is True after an answer that does not follow from the one before: two calls of one
    turn start from the same text, and a file may change between them. Then a later diff may start
    from either, until the file is shown whole.
    """

    known: dict[str, set[int]] = field(default_factory=dict)
    whole: list[str] = field(default_factory=list)
    newest: dict[int, str] = field(default_factory=dict)
    crossed: bool = False

    def learn(self, fact: Fact) -> None:
        if isinstance(fact, Parts):
            for part in fact.facts:
                self.learn(part)
            return
        lines = fact.version.split("\n")
        about_all = True
        if isinstance(fact, Shown):
            numbers = range(fact.first, fact.first + len(fact.lines))
            assert tuple(lines[fact.first - 1 :][: len(fact.lines)]) == fact.lines
            self.known.setdefault(fact.version, set()).update(numbers)
            about_all = len(fact.lines) == len(lines)
            told = {number: lines[number - 1] for number in numbers}
        elif isinstance(fact, Patched):
            if len(self.known.get(fact.base, ())) < len(fact.base.split("\n")):
                return
            self.known.setdefault(fact.version, set()).update(range(1, len(lines) + 1))
            told = dict(enumerate(lines, 1))
        elif isinstance(fact, Named):
            told = {n: lines[n - 1] for n in range(fact.first, fact.last + 1)}
            if not told.items() <= self.newest.items():
                return
            self.known.setdefault(fact.version, set()).update(told)
            about_all = len(told) == len(lines)
        else:
            needed = set(range(fact.first, fact.last + 1))
            of = slice(fact.first - 1, fact.last)
            # Any text with these lines will do: the marker does not say which one is meant.
            if not any(
                needed <= numbers and version.split("\n")[of] == lines[of]
                for version, numbers in self.known.items()
            ):
                return
            self.known.setdefault(fact.version, set()).update(needed)
            about_all = len(needed) == len(lines)
            told = {number: lines[number - 1] for number in needed}
        self.newest = told if about_all else self.newest | told
        if about_all:
            if isinstance(fact, Patched | Same):
                self.crossed |= bool(self.whole) and fact.base != self.whole[-1]
            else:
                self.crossed = False
            if fact.version in self.whole:
                self.whole.remove(fact.version)
            self.whole.append(fact.version)


def knowledge(visible: Sequence[Fact], path: str) -> Knowledge:
    """What a model can know of `path` from these facts, oldest first."""
    out = Knowledge()
    for fact in visible:
        if fact.path == path:
            out.learn(fact)
    return out


class Untrue(AssertionError):
    """A claim that the visible texts do not bear out."""


def judge(
    visible: Sequence[Fact],
    path: str,
    text: str,
    current: str,
    first: int,
    mode: str | None,
    *,
    newest: bool = True,
) -> Fact | None:
    """Check the answer `text` about a file whose text is `current`; returns what it teaches.

    `first` is the first line asked for. With `newest` a diff must fit the newest whole text in the
    window; without, where results may have arrived out of order, any of them. Raises Untrue for a
    claim that is not so.
    """
    known = knowledge(visible, path)
    total = len(current.split("\n"))
    if mode == "unchanged":
        found = MARKER_WHOLE.match(text)
        if found is None or int(found[1]) != total:
            raise Untrue(f"marker {text!r} for a file of {total} lines")
        if len(known.known.get(current, ())) != total:
            raise Untrue(f"unchanged, but the window does not hold {path} as it is now")
        return Same(path, current, current, 1, total)
    if mode == "unchanged_range":
        return _judge_lines(known, path, text, current, total)
    if mode == "diff":
        return _judge_diff(known, path, text, current, newest=newest)
    if text.startswith("[holdfast: "):
        return _judge_unseen(known, path, text, current)
    return _judge_plain(path, text, current, first, total)


def _judge_lines(known: Knowledge, path: str, text: str, current: str, total: int) -> Fact:
    exact, inside = MARKER_LINES.match(text), MARKER_INSIDE.match(text)
    found = exact or inside
    if found is None:
        raise Untrue(f"not a marker: {text!r}")
    first, last = int(found[1]), int(found[2])
    if exact and int(exact[3]) != total:
        raise Untrue(f"marker {text!r} for a file of {total} lines")
    wanted = set(range(first, last + 1))
    newer = current.split("\n")[first - 1 : last]
    if len(newer) != last - first + 1:
        raise Untrue(f"marker {text!r} names lines the file does not have")
    for version, numbers in reversed(list(known.known.items())):
        if wanted <= numbers and version.split("\n")[first - 1 : last] == newer:
            if exact and version != current:
                continue
            return Same(path, version, current, first, last)
    raise Untrue(f"{text!r}, but the window does not hold these lines of {path}")


def _judge_diff(
    known: Knowledge, path: str, text: str, current: str, *, newest: bool
) -> Fact | None:
    total = len(current.split("\n"))
    run = DIFF_LINES_HEAD.match(text)
    if run is not None:
        first, last = int(run[2]), int(run[3])
        wanted = set(range(first, last + 1))
        for version, numbers in reversed(list(known.known.items())):
            if wanted <= numbers:
                # Lines, not text: the empty line after a final newline is one of them.
                changed = apply_patch(version + "\n", text[run.end() :])
                if changed is not None and (
                    changed.split("\n")[first - 1 : last] == current.split("\n")[first - 1 : last]
                ):
                    return Shown(path, current, first, tuple(current.split("\n")[first - 1 : last]))
        raise Untrue("a diff of lines that does not give the lines as they are")
    head = DIFF_HEAD.match(text)
    if head is None or int(head[2]) != total:
        raise Untrue(f"diff head {text[:60]!r} for a file of {total} lines")
    patch = text[head.end() :]
    candidates = known.whole[-1:] if newest and not known.crossed else known.whole[::-1]
    base = next((text for text in candidates if apply_patch(text, patch) == current), None)
    if base is None:
        raise Untrue(f"the diff does not turn the held text of {path} into the current one")
    added = sum(line.startswith("+") for line in body(patch))
    removed = sum(line.startswith("-") for line in body(patch))
    if int(head[1]) != max(added, removed):
        raise Untrue(f"{head[0]!r} over a patch of {added} added and {removed} removed lines")
    return Patched(path, base, current)


UNSEEN_HEAD = re.compile(
    r"\[holdfast: lines? (\d+)(?:-(\d+))?, only what you do not have"
    r"(?:; the file ends at line \d+ now)?; bypass_cache=true prints all\]\Z"
)
PRINTED = re.compile(r"\[(\d+)(?:-(\d+))?:\]\Z")
NAMED = re.compile(r"\[(\d+)(?:-(\d+))? as you have them\]\Z")


def _judge_unseen(known: Knowledge, path: str, text: str, current: str) -> Fact:
    """Every line is printed as it is, or named as one that stands in the window."""
    more = MORE.search(text)
    head, *rows = (text if more is None else text[: more.start()]).split("\n")
    found = UNSEEN_HEAD.match(head)
    if found is None:
        raise Untrue(f"not the head of an answer in part: {head!r}")
    lines, at = current.split("\n"), int(found[1])
    shown: list[Shown | Named] = []
    while rows:
        row = rows.pop(0)
        printed, named = PRINTED.match(row), NAMED.match(row)
        about = printed or named
        if about is None or int(about[1]) != at:
            raise Untrue(f"{row!r} where line {at} should be accounted for")
        end = int(about[2] or about[1])
        wanted = lines[at - 1 : end]
        if printed is not None:
            if rows[: len(wanted)] != wanted:
                raise Untrue(f"lines {at}-{end} are printed as they are not")
            del rows[: len(wanted)]
            shown.append(Shown(path, current, at, tuple(wanted)))
        elif named is not None:
            if [known.newest.get(number) for number in range(at, end + 1)] != wanted:
                raise Untrue(f"{row!r}, but the window does not hold these lines of {path}")
            shown.append(Named(path, current, at, end))
        at = end + 1
    if at - 1 != int(found[2] or found[1]):
        raise Untrue(f"{head!r}, but it accounts for lines up to {at - 1}")
    return Parts(path, tuple(shown))


def _judge_plain(path: str, text: str, current: str, first: int, total: int) -> Fact | None:
    if text.startswith("[Line ") and "exceeds 50.0KB limit" in text:
        return None
    lines = current.split("\n")
    cut, more = CUT.search(text), MORE.search(text)
    shown = text
    if cut is not None and lines[first - 1 :] != text.split("\n"):
        shown = text[: cut.start()]
        if int(cut[1]) != first or int(cut[3]) != total:
            raise Untrue(f"notice {cut[0]!r} for lines from {first} of {total}")
    elif more is not None and lines[first - 1 :] != text.split("\n"):
        shown = text[: more.start()]
    printed = shown.split("\n")
    if lines[first - 1 : first - 1 + len(printed)] != printed:
        raise Untrue(f"plain text that is not what {path} holds from line {first}")
    return Shown(path, current, first, tuple(printed))


def body(patch: str) -> list[str]:
    """The lines of a patch's hunks, without headers."""
    out = []
    left_old = left_new = 0
    for line in patch.split("\n"):
        found = HUNK.match(line)
        if found and not (left_old or left_new):
            left_old, left_new = int(found[2]), int(found[4])
            continue
        if left_old or left_new:
            out.append(line)
            left_old -= line.startswith((" ", "-"))
            left_new -= line.startswith((" ", "+"))
    return out


def apply_patch(base: str, patch: str) -> str | None:
    """The text that a patch makes of `base`; None when it does not fit.

    Written from the definition of a unified diff, not from our printer.
    """
    old = re.findall(r"[^\n]*\n|[^\n]+\Z", base)
    out: list[str] = []
    at = 0
    rows = patch.split("\n")[2:]
    number = 0
    while number < len(rows):
        found = HUNK.match(rows[number])
        if found is None:
            return None
        start, left_old, left_new = int(found[1]), int(found[2]), int(found[4])
        begin = start - 1 if left_old else start
        out.extend(old[at:begin])
        at = begin
        number += 1
        while left_old or left_new or (number < len(rows) and rows[number].startswith("\\")):
            if number >= len(rows):
                return None
            row = rows[number]
            number += 1
            if row.startswith("\\"):
                out_sign = rows[number - 2][:1]
                if out_sign in " +" and out:
                    out[-1] = out[-1].removesuffix("\n")
                continue
            sign, line = row[:1], row[1:] + "\n"
            if sign in " -":
                ends = number >= len(rows) or not rows[number].startswith("\\")
                if at >= len(old) or old[at] != (line if ends else row[1:]):
                    return None
                at += 1
                left_old -= 1
            if sign in " +":
                out.append(line)
                left_new -= 1
            if sign not in " +-" or not sign:
                return None
    out.extend(old[at:])
    return "".join(out)
