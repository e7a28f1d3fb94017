"""The lines of a text that a question is about, with the structure that they are in.

A long function is read for a few lines. Those that have the asked words say little alone: what
decides is the condition above them, and what a condition governs. So a line is kept with the heads
of the blocks that it is in, and a kept condition with the beginning of its block. Lines that only
close a block and have no score are left out: the indentation of the next line says the same.

Blocks are taken from indentation and brackets, not from a parser: a wrong guess shows a line too
many or too few, and every line keeps its number.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Collection, Sequence

from holdfast.patterns import lazy_pattern
from holdfast.text import is_only_brackets, only_closes

BODY_LINES = 2
"""How many lines of a block are kept with its head, if the head matches."""
FAR = 12
"""A statement so far below is not looked for."""
LINES_MAX = 26
"""How many lines are shown before the remaining room is left empty."""
FEW_LINES = 10
"""A text with at most so many lines of code is shown whole."""
LINE_MAX = 200
"""Longer lines count as if they had this many characters: they are cut."""
_STRING = lazy_pattern(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'')
_BRACKET = lazy_pattern(r"[()\[\]{}]")
_BRANCH = lazy_pattern(
    r"[}\s]*(?:else|elif|elsif|elseif|except|catch|finally|case|default|when|rescue|ensure|in)\b"
)
_DIRECTIVE = lazy_pattern(
    r"\s*#(?:\[|\s*(?:if|ifdef|ifndef|else|elif|endif|define|include|pragma)\b)"
)
"""A preprocessor line or an attribute: its indentation says nothing about blocks."""
_LOGS = lazy_pattern(
    r"\s*(?:\w+[.:]+)*(?:k?log|logger|logging|console|debug|trace|tracing|LOG\w*|\w+_LOG\w*)[.:(!]",
    re.IGNORECASE,
)
"""A line that only reports says little about what is decided."""
_LEAVES = lazy_pattern(r"\s*(?:return|raise|throw|panic|abort|exit)\b")
_FLOW = lazy_pattern(
    r"[}\s]*(?:if|unless|else|elif|elsif|for|while|until|switch|match|case|default|try|except|catch"
    r"|return|raise|throw|break|continue|yield|with|when)\b"
)


class Blocks:
    """The blocks and statements of some lines."""

    def __init__(
        self, lines: Sequence[str], comments: Collection[int] = (), language: str = ""
    ) -> None:
        self.lines, self.comments, self.language = lines, comments, language
        self.indents = [
            len(shown) - len(shown.lstrip()) for shown in (line.expandtabs(4) for line in lines)
        ]
        self.starts = _statement_starts(lines, comments)
        self.code = [i for i in range(len(lines)) if self._is_code(i)]
        self._is_code_at = frozenset(self.code)
        self.heads, self.openings = self._nested()

    def is_code(self, i: int) -> bool:
        return i in self._is_code_at

    def _is_code(self, i: int) -> bool:
        line = self.lines[i]
        is_shape = is_only_brackets(line) or only_closes(line, self.language)
        return i not in self.comments and not is_shape and not _DIRECTIVE.match(line)

    def _nested(self) -> tuple[list[int | None], list[int | None]]:
        """For each line the statement that it is inside of, and the one that it is a branch of."""
        heads: list[int | None] = [None] * len(self.lines)
        openings: list[int | None] = [None] * len(self.lines)
        inside: list[int] = []
        for i, start in enumerate(self.starts):
            if start != i:
                heads[i] = heads[start]
                continue
            beside = None
            if self.is_code(i):
                while inside and self.indents[inside[-1]] >= self.indents[i]:
                    beside = inside.pop()
            # The indents of those inside each other only grow.
            outer = bisect.bisect_left(inside, self.indents[i], key=self.indents.__getitem__)
            heads[i] = inside[outer - 1] if outer else None
            if beside is not None and self.indents[beside] == self.indents[i]:
                is_branch = _BRANCH.match(self.lines[i]) is not None
                again = _BRANCH.match(self.lines[beside]) is not None
                openings[i] = (openings[beside] if again else beside) if is_branch else None
            if self.is_code(i):
                inside.append(i)
        return heads, openings

    def around(self, i: int, known: set[int] | None = None) -> set[int]:
        """The heads of the blocks that line `i` is in, and the first line of its statement.

        Those that are `known` and what they are in are left out; the others become known.
        """
        known = set() if known is None else known
        found = {self.starts[i]}
        at: int | None = self.starts[i]
        while at is not None and at not in known:
            known.add(at)
            found.add(at)
            opening = self.openings[at]
            found |= set() if opening is None else {opening}
            at = self.heads[at]
        return found - {i}

    def governed(self, i: int) -> list[int]:
        """The first lines that a condition decides about, or the rest of a statement; and a
        statement below that leaves."""
        if self.starts[i] != i:
            return []
        is_condition = _FLOW.match(self.lines[i]) or "=>" in self.lines[i]
        found: list[int] = []
        after = range(bisect.bisect_right(self.code, i), len(self.code))
        for at in map(self.code.__getitem__, after):
            if self.starts[at] != i and self.indents[at] <= self.indents[i]:
                if self.indents[at] == self.indents[i] and _LEAVES.match(self.lines[at]):
                    found.append(at)
                break
            is_wanted = self.starts[at] == i or (is_condition and not _LOGS.match(self.lines[at]))
            if len(found) < BODY_LINES and is_wanted:
                found.append(at)
            elif at - i > FAR:
                break
        return found


def about_lines(
    lines: Sequence[str],
    scores: Sequence[float],
    *,
    first: int | None = None,
    comments: Collection[int] = (),
    characters_max: int | None = None,
    language: str = "",
) -> list[int]:
    """The positions of lines with a score, with what they are in and what they govern, in order.

    `first` is shown too. Without `characters_max` every line with a score is kept. With it the best
    are, and the remaining room has the lines nearest to them, those that decide first.
    """
    blocks = Blocks(lines, comments, language)
    sizes = [min(len(line.strip()), LINE_MAX) + 4 for line in lines]
    if first is not None and len(blocks.code) <= FEW_LINES and any(scores):
        return sorted({*blocks.code, *(i for i, score in enumerate(scores) if score > 0)})
    chosen = set[int]() if first is None else {first}
    room = None if characters_max is None else characters_max - sum(sizes[i] for i in chosen)
    # An argument on its own line says less than the call that it belongs to.
    worth = [score / (1 + (blocks.starts[i] != i)) for i, score in enumerate(scores)]
    matched = sorted((i for i in range(len(lines)) if worth[i] > 0), key=lambda i: -worth[i])
    arguments: dict[int, int] = {}
    # Without a limit every unit is kept, so no block is climbed twice.
    known = set[int]() if room is None else None
    for place, i in enumerate(matched):
        if blocks.is_code(i):
            unit = {i} | blocks.around(i, known)
            if i != first:
                unit |= set(blocks.governed(i))
        else:
            unit = {i} | (blocks.around(i, known) if room is None else set())
        unit -= chosen
        start = blocks.starts[i]
        if room is not None and start != i and arguments.get(start, 0) == BODY_LINES:
            continue
        arguments[start] = arguments.get(start, 0) + (start != i)
        cost = sum(sizes[at] for at in unit)
        if room is not None and cost > room:
            unit = unit & {i}
            cost = sum(sizes[at] for at in unit)
            if cost > room and place:
                continue
        chosen |= unit
        room = None if room is None else room - cost
    if room is not None:
        chosen |= _filled(blocks, chosen, sizes, room)
    return sorted(chosen)


def _filled(blocks: Blocks, chosen: set[int], sizes: Sequence[int], room: int) -> set[int]:
    """Lines near the chosen ones that still fit; nearer ones first, conditions before others."""
    kept = sorted(chosen) or [0]

    def distance(i: int) -> tuple[int, int]:
        near = min(i - at if at < i else 2 * (at - i) for at in kept)
        return (near + (0 if _FLOW.match(blocks.lines[i]) else 3), i)

    added = set[int]()
    starts = (i for i, start in enumerate(blocks.starts) if i == start)
    code = (i for i in starts if i not in chosen and blocks.is_code(i))
    others = (i for i in code if not _LOGS.match(blocks.lines[i]))
    for i in sorted(others, key=distance):
        if sizes[i] > room or len(chosen) + len(added) >= LINES_MAX:
            break
        added.add(i)
        room -= sizes[i]
    return added


def _statement_starts(lines: Sequence[str], comments: Collection[int]) -> list[int]:
    """For each line the first line of its statement: one that is in brackets continues another."""
    starts: list[int] = []
    open_brackets: list[str] = []
    start = 0
    for i, line in enumerate(lines):
        if not open_brackets or open_brackets[-1] == "{":
            start = i
        starts.append(start)
        if i in comments:
            continue
        for sign in _BRACKET.findall(_STRING.sub("", line)):
            if sign in "([{":
                open_brackets.append(sign)
            elif open_brackets:
                open_brackets.pop()
    return starts
