"""Say how much of a snippet exists, where, and what differs first on both sides.

The rules are those of the core graph: the longest prefix of the snippet that occurs, the smallest
vertex around it, and why it is not longer. `corpus` applies them to a code base, and `view` shows
them for one answer on the core graph itself.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, pairwise
from typing import Any

from holdfast.sequence.corpus import CorpusMatch, TokenCorpus
from holdfast.sequence.errors import EmptyQuery
from holdfast.sequence.occurrence import Occurrence
from holdfast.sequence.report import (
    LOCATE_VERSION,
    ContainerReport,
    Difference,
    IndentationReport,
    LocateReport,
    MatchedRun,
    PlacedToken,
)
from holdfast.sequence.response import Kind
from holdfast.sequence.tokens.lexer import Lexed
from holdfast.sequence.view import MatchExplanation, explain
from holdfast.text import counted

TOKEN_SHOWN = 60
COPIES = 20
"""How many places are listed by default."""
_WHERE = {Kind.PREFIX: "at the beginning of", Kind.POSTFIX: "at the end of"}


@dataclass(frozen=True)
class Snippet:
    """The text to look for and its tokens."""

    source: bytes
    lexed: Lexed

    @cached_property
    def _lines(self) -> list[int]:
        """Where each line begins."""
        return [0, *(newline.end() for newline in re.finditer(rb"\n", self.source))]

    def place(self, token: int) -> tuple[int, int]:
        """The line and column of a token, or of the end of the text, counted from 1."""
        starts = self.lexed.starts
        offset = starts[token] if token < len(starts) else len(self.source)
        line = bisect_right(self._lines, offset)
        return line, offset - self._lines[line - 1] + 1

    def line_starts(self, tokens: int) -> list[tuple[int, int, int]]:
        """Number, line and column of each of the first `tokens` tokens that begins its line."""
        starts, rows = self.lexed.starts, []
        for begin, end in pairwise([*self._lines, len(self.source) + 1]):
            at = bisect_left(starts, begin, 0, tokens)
            if at < tokens and starts[at] < end and not self.source[begin : starts[at]].strip():
                rows.append((at, *self.place(at)))
        return rows


@dataclass(frozen=True, slots=True)
class IndentationDifference:
    """Where a copy is indented differently from the snippet, relative to their first lines."""

    copy: Occurrence
    snippet_line: int
    line: int
    """The line in the copy's file."""

    def report(self) -> IndentationReport:
        return IndentationReport(self.copy.path, self.line, self.snippet_line)


@dataclass(frozen=True, slots=True)
class LocateAnswer:
    """How much of a snippet a tree contains."""

    root: str
    """The root of the tree; paths are relative to it."""
    match: CorpusMatch
    snippet: Snippet
    copies: tuple[Occurrence, ...]
    parts: tuple[tuple[int, CorpusMatch], ...]
    """The whole snippet cut into longest matches: the first token of each, and its match."""
    indentation: tuple[IndentationDifference, ...] = ()
    """The listed copies whose indentation differs, each with its first differing line."""
    explanation: MatchExplanation | None = None
    not_searched: str | None = None

    @property
    def found(self) -> int:
        """How many tokens of the snippet are part of a match of at least two."""
        return sum(part.position for _, part in self.parts if part.position > 1)

    def to_wire(self) -> dict[str, Any]:
        return self.report().to_wire()

    def report(self) -> LocateReport:
        match, explanation = self.match, self.explanation
        return LocateReport(
            root=self.root,
            format=LOCATE_VERSION,
            tokens=len(match.query),
            matched=match.position,
            exhausted=match.query_exhausted,
            kind=match.kind.value,
            reason=match.reason.value,
            count=match.count,
            found=self.found,
            copies=tuple([place.span() for place in self.copies]),
            difference=self._difference(),
            indentation=tuple([difference.report() for difference in self.indentation]),
            container=self._container(),
            parts=tuple([MatchedRun(at, max(1, p.position), p.count) for at, p in self.parts]),
            explanation=None if explanation is None else explanation.report(),
            not_searched=self.not_searched,
        )

    def _difference(self) -> Difference | None:
        if self.match.query_exhausted:
            return None
        line, column = self.snippet.place(self.match.position)
        expected = PlacedToken(token=_text(self.match.expected), line=line, column=column)
        return Difference(expected, tuple([_following(place) for place in self.copies]))

    def _container(self) -> ContainerReport | None:
        match = self.match
        if match.root is None or match.position <= 1:
            return None
        first, last = match.root.first, match.root.last
        where = (first.path, first.line, first.column, last.line, last.column)
        return ContainerReport(*where, match.root_width, match.start, match.end)


def locate(
    corpus: TokenCorpus,
    source: bytes,
    lexed: Lexed,
    *,
    root: str = "",
    copies: int = COPIES,
    explained: bool = False,
    not_searched: str | None = None,
    check: Callable[[], None] = lambda: None,
) -> LocateAnswer:
    """Look up a snippet; raises EmptyQuery if it has no tokens.

    `check` is called between the parts of a long snippet; an exception from it ends the search.
    """
    if not lexed.texts:
        raise EmptyQuery
    check()
    snippet = Snippet(source, lexed)
    match = corpus.find(lexed.texts)
    parts: list[tuple[int, CorpusMatch]] = []
    at = 0
    for part in corpus.parts(lexed.texts) if not match.query_exhausted else [match]:
        check()
        parts.append((at, part))
        at += max(1, part.position)
    some = islice(match.occurrences(), min(copies, match.count))
    places = tuple(sorted(some, key=lambda place: (place.path, place.token)))
    check()
    return LocateAnswer(
        root,
        match,
        snippet,
        places,
        tuple(parts),
        tuple(_indentation_differences(snippet, places)),
        explain(match, corpus) if explained else None,
        not_searched,
    )


def _indentation_differences(
    snippet: Snippet, copies: Sequence[Occurrence]
) -> list[IndentationDifference]:
    """The copies that are indented differently, each with the first line where they are.

    Blanks are not tokens, so a match does not depend on them; but in Python the indentation is
    part of the program, and an edit that quotes it wrongly does not apply. Lines are compared
    relative to the first one, so a snippet that was moved as a whole is indented like its copy.
    """
    lines = snippet.line_starts(copies[0].length) if copies else []
    if len(lines) < 2:
        return []
    base = lines[0][2] if lines[0][0] == 0 else 1
    differences = []
    for copy in copies:
        first = copy.segment.indentation(copy.position)
        for number, line, column in lines[1:]:
            begins = copy.segment.line_begins(copy.position + number)
            if begins is not None and column - base != begins.column - first:
                differences.append(IndentationDifference(copy, line, begins.line))
                break
    return differences


def _text(token: bytes | None) -> str | None:
    return None if token is None else token.decode("utf-8", "replace")


def _following(place: Occurrence) -> PlacedToken:
    where = place.segment.place(place.position + place.length)
    token = _text(place.following)
    return PlacedToken(path=place.path, token=token, line=where.line, column=where.column)


def as_text(
    answer: LocateAnswer,
    more: str = " (--copies N lists more)",
    format_path: Callable[[str], str] = str,
) -> str:
    """The answer for people and agents, the same on every surface.

    `more` names the option that lists more places. `format_path` turns a path relative to the tree
    into the one to show.
    """
    match, tokens = answer.match, counted(len(answer.match.query), "token")
    if match.position == 0:
        lines = [f"0 of {tokens} found: {_quoted(match.expected)} occurs nowhere"]
    elif match.query_exhausted:
        found = f"all {tokens} found," if len(match.query) > 1 else "the token was found"
        lines = [f"{found} {_times(match.count)}"]
    else:
        lines = [f"{match.position:,} of {tokens} found from the start, {_times(match.count)}"]
    for place in answer.copies:
        first, last = place.first, place.last
        path = format_path(place.name)
        lines.append(f"  {path}:{first.line}:{first.column} to {last.line}:{last.column}")
    if match.count > len(answer.copies):
        lines.append(f"  … and {match.count - len(answer.copies)} more{more}")
    if answer.indentation:
        lines += _indentation_lines(answer, format_path)
    if match.position and not match.query_exhausted:
        line, column = answer.snippet.place(match.position)
        lines.append(f"then the snippet has {_quoted(match.expected)} (line {line}:{column})")
        for follower, places in _grouped(answer.copies):
            where = _listed([f"{format_path(p.name)}:{_line_after(p)}" for p in places])
            lines.append(f"  the tree has {_quoted(follower)} at {where}")
    if match.root is not None and match.position > 1 and match.root_width > match.position:
        root = match.root
        what = "document" if match.count == 1 else "repeated block"
        lines.append(
            f"{_WHERE.get(match.kind, 'inside')} a {what} of {match.root_width} tokens, "
            f"{format_path(root.name)}:{root.first.line}-{root.last.line}"
        )
    if answer.found > match.position:
        lines.append(
            f"of the whole snippet {answer.found} of {tokens} exist in runs of two or more:"
        )
        for at, part in answer.parts:
            if part.position > 1:
                line, _ = answer.snippet.place(at)
                lines.append(f"  line {line}: {part.position} tokens, {_times(part.count)}")
    if answer.explanation is not None:
        lines.append(answer.explanation.as_text())
    return "\n".join(lines)


def _indentation_lines(answer: LocateAnswer, format_path: Callable[[str], str]) -> list[str]:
    by_line: dict[int, list[str]] = {}
    for difference in answer.indentation:
        where = f"{format_path(difference.copy.name)}:{difference.line}"
        by_line.setdefault(difference.snippet_line, []).append(where)
    return [
        f"the indentation differs from line {line} of the snippet on, at {_listed(places)}"
        for line, places in sorted(by_line.items())
    ]


def _listed(places: list[str]) -> str:
    more = f" and {len(places) - 3} more" if len(places) > 3 else ""
    return ", ".join(places[:3]) + more


def _line_after(place: Occurrence) -> int:
    return place.segment.place(place.position + place.length).line


def _grouped(places: Sequence[Occurrence]) -> list[tuple[bytes | None, list[Occurrence]]]:
    groups: dict[bytes | None, list[Occurrence]] = {}
    for place in places:
        groups.setdefault(place.following, []).append(place)
    return list(groups.items())


def _quoted(token: bytes | None) -> str:
    """A token on one line; a long one is shortened to its beginning."""
    text = _text(token)
    if text is None:
        return "the end of the file"
    short = text.split("\n", 1)[0][:TOKEN_SHOWN]
    return f"`{text}`" if short == text else f"`{short}…`"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
