"""The lines of a hit that show why it matched.

A chunk may be sixty lines long and have the query's words in two of them. A preview is the line
that names the chunk's symbol and the best lines with these words, in file order; a mark shows where
lines were left out. A chunk only slightly longer than a preview is shown whole. If none of the
words occurs, as in a match by meaning alone, the preview is the beginning of the chunk.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain

import msgspec

from holdfast.index.search.about_lines import about_lines
from holdfast.index.search.comment_lines import comment_lines
from holdfast.index.search.query_analysis import AnalyzedQuery
from holdfast.index.search.regex import LineMatch, lines_of
from holdfast.index.search.terms import WORD, terms_of
from holdfast.patterns import lazy_pattern

LINES_DEFAULT = 10
FEW_MORE = 2
"""A text with at most this many extra lines is shown whole."""
GOVERNING_MAX = 2
"""How far above a matching line its condition may be to be shown with it."""
LINE_CHARACTERS_MAX = 200
ONE_LINE_MAX = 110
"""How long a line is that is shown alone."""
HEAD_LINES = 20
"""The name of a symbol is in one of its first lines, after comments and decorators."""
CHARACTERS_MAX = 4_000
GAP = "⋮"


class Asked(msgspec.Struct, frozen=True, dict=True):
    """What to look for in a text: terms with their weights, and lines already known to match."""

    worth: dict[str, float]
    known: tuple[LineMatch, ...] = ()

    @classmethod
    def by(cls, analyzed: AnalyzedQuery | None, matches: Iterable[LineMatch] = ()) -> Asked:
        worth: dict[str, float] = {}
        for word in analyzed.words if analyzed is not None else ():
            for other in word.others:
                worth.setdefault(other, 0.5)
            worth[word.term] = 1.0
        for join in analyzed.joins if analyzed is not None else ():
            worth.setdefault(join, 1.0)
        return cls(worth, tuple(matches))

    @cached_property
    def beginnings(self) -> tuple[str, ...]:
        """Prefixes of the words that count as these terms.

        `stem` removes endings and may then change the last letter of words of four or more.
        """
        found: list[str] = []
        for begins in sorted({term[:-1] if len(term) > 3 else term for term in self.worth}):
            # Words that begin with the last prefix are found with it.
            if not found or not begins.startswith(found[-1]):
                found.append(begins)
        return tuple(found)

    @cached_property
    def terms(self) -> frozenset[str]:
        return frozenset(self.worth)


class Preview(msgspec.Struct, frozen=True):
    """The shown lines of a text, with their numbers."""

    lines: tuple[tuple[int, str], ...]
    matched: tuple[int, ...]
    """Numbers of matching lines, shown or not."""
    whole: bool
    """Whether nothing but trailing blank lines was left out."""

    @property
    def spans(self) -> list[tuple[int, int]]:
        """Runs of shown lines."""
        found: list[tuple[int, int]] = []
        for number, _ in self.lines:
            if found and found[-1][1] == number - 1:
                found[-1] = (found[-1][0], number)
            else:
                found.append((number, number))
        return found

    @property
    def text(self) -> str:
        shown: list[str] = []
        before: int | None = None
        for number, line in self.lines:
            if before is not None and number != before + 1:
                shown.append(GAP)
            shown.append(line)
            before = number
        return "\n".join(shown)


def preview(
    text: str,
    first_line: int,
    asked: Asked,
    lines_max: int = LINES_DEFAULT,
    label: str | None = None,
    characters_max: int = CHARACTERS_MAX,
) -> Preview:
    """At most `lines_max` lines of a text that starts at `first_line`, slightly more if then whole.

    Blank lines are not counted where nothing else would be left out. The result has about
    `characters_max` characters, except that the best line is always shown.
    `label` is the name of the text's symbol, if it has one.
    """
    lines = lines_of(text)
    if "\r" in text:
        lines = [line.removesuffix("\r") for line in lines]
    scores = _scores(text, lines, first_line, asked)
    matched = tuple([number for number, score in enumerate(scores, first_line) if score > 0])
    while len(lines) > 1 and not lines[-1].strip() and scores[len(lines) - 1] == 0:
        lines.pop()
    chosen = _chosen(lines, scores, lines_max, label, characters_max)
    spans = {match.line - first_line: match for match in asked.known}
    shown, room, cut = [], CHARACTERS_MAX, False
    for i in chosen:
        match = spans.get(i)
        if match is None and scores[i] > 0 and len(lines[i]) > ONE_LINE_MAX:
            match = _first_asked(lines[i], asked)
        line = _cut(lines[i], match, LINE_CHARACTERS_MAX if lines_max > 1 else ONE_LINE_MAX)
        cut |= line != lines[i]
        if len(line) > room:
            cut = True
            break
        room -= len(line) + 1
        shown.append((first_line + i, line))
    return Preview(tuple(shown), matched, len(shown) == len(lines) and not cut)


def whole_code(text: str, first_line: int, asked: Asked, language: str) -> Preview:
    """All lines of a text except comments that say nothing new about the question."""
    lines = [line.removesuffix("\r") for line in lines_of(text.rstrip())]
    scores = _scores("\n".join(lines), lines, first_line, asked)
    silent = _silent_comments(lines, scores, first_line, asked, comment_lines(lines, language))
    kept = [i for i in range(len(lines)) if i not in silent]
    return _shown(lines, kept, first_line, asked, scores)


def part_of_code(
    text: str, first_line: int, asked: Asked, language: str, label: str | None, characters_max: int
) -> Preview:
    """About `characters_max` characters of a long text: what the question is about, and the
    conditions around it; without comments that say nothing new about it."""
    lines = [line.removesuffix("\r") for line in lines_of(text.rstrip())]
    scores = _scores("\n".join(lines), lines, first_line, asked)
    comments = comment_lines(lines, language)
    silent = _silent_comments(lines, scores, first_line, asked, comments)
    wanted = [0.0 if i in silent else score for i, score in enumerate(scores)]
    kept = about_lines(
        lines,
        wanted,
        first=_head(lines, label),
        comments=comments,
        characters_max=characters_max,
        language=language,
    )
    return _shown(lines, kept, first_line, asked, scores)


def _shown(
    lines: Sequence[str],
    kept: Sequence[int],
    first_line: int,
    asked: Asked,
    scores: Sequence[float],
) -> Preview:
    shown = tuple((first_line + i, _whole_or_cut(lines[i], asked)) for i in kept)
    whole = len(shown) == len(lines) and all(line == lines[n - first_line] for n, line in shown)
    return Preview(shown, tuple(first_line + i for i in kept if scores[i] > 0), whole)


def _silent_comments(
    lines: Sequence[str],
    scores: Sequence[float],
    first_line: int,
    asked: Asked,
    comments: frozenset[int],
) -> frozenset[int]:
    """The comments without an asked word that the code, or an earlier comment, does not have."""
    if not comments:
        return comments
    # A line without a score has none of the words.
    has = {i: asked.terms & terms_in(lines[i]) for i, score in enumerate(scores) if score > 0}
    met = frozenset().union(*(here for i, here in has.items() if i not in comments))
    known = {match.line - first_line for match in asked.known}
    silent = set[int]()
    for i in sorted(comments):
        new = has.get(i, frozenset()) - met
        met |= new
        if not new and i not in known:
            silent.add(i)
    return frozenset(silent)


def terms_in(text: str) -> set[str]:
    return set(chain.from_iterable(map(terms_of, set(_words(text)))))


def asked_in(text: str, asked: Asked) -> frozenset[str]:
    """Those of the asked terms that a text has."""
    held = _may_hold(text, asked.beginnings)
    if not held:
        return frozenset()
    lines = text.split("\n")
    words = _words(" ".join([lines[i] for i in held]))
    return asked.terms.intersection(chain.from_iterable(map(terms_of, set(words))))


def _words(text: str) -> list[str]:
    return _spaced(text).split() if text.isascii() else WORD.findall(text)


def _spaced(text: str) -> str:
    """An ASCII text with spaces for what is neither in a word nor ends a line: splitting it there
    is faster than a pattern."""
    return text.encode().translate(_SPACED).decode()


def _scores(text: str, lines: Sequence[str], first_line: int, asked: Asked) -> list[float]:
    """The score of each line. A term counts fully in its first line, then half."""
    scores = [0.0] * len(lines)
    for match in asked.known:
        if first_line <= match.line < first_line + len(lines):
            scores[match.line - first_line] = 2.0
    if not asked.worth:
        return scores
    met: set[str] = set()
    wanted, worth = asked.terms, asked.worth
    words_of: Callable[[str], list[str]] = WORD.findall
    if text.isascii():
        lines, words_of = _spaced(text).split("\n"), str.split
    for i in _may_hold(text, asked.beginnings):
        here = wanted.intersection(chain.from_iterable(map(terms_of, words_of(lines[i]))))
        for term in here:
            scores[i] += worth[term] * (0.5 if term in met else 1.0)
        met |= here
    return scores


_SPACED = bytes(c if chr(c).isalnum() or chr(c) in "_\n" else ord(" ") for c in range(128)) + bytes(
    128
)
"""Maps all other characters to spaces."""


def _may_hold(text: str, beginnings: Sequence[str]) -> list[int]:
    """The indices of lines that contain one of these prefixes, in order."""
    found: list[int] = []
    small = text.lower().replace("_", "")
    there = [begins for begins in beginnings if begins in small]
    if not there:
        return found
    for i, line in enumerate(small.split("\n")):
        for begins in there:
            if begins in line:
                found.append(i)
                break
    return found


def matching_lines(
    text: str, first_line: int, matches: Sequence[LineMatch]
) -> Iterator[tuple[int, str]]:
    """The lines that are known to match, with their numbers.

    A value that is on the line after the name is shown with it.
    """
    lines = lines_of(text)
    for match in matches:
        place = match.line - first_line
        if 0 <= place < len(lines):
            line = lines[place].removesuffix("\r")
            if _UNFINISHED.search(line) and place + 1 < len(lines):
                line = f"{line.rstrip()} {lines[place + 1].strip()}"
            yield match.line, _cut(line, match)


_UNFINISHED = lazy_pattern(r"(?:=>?|[\"']:|\breturn|= ?[\w.:<>]+\()\s*$")


def _chosen(
    lines: Sequence[str],
    scores: Sequence[float],
    lines_max: int,
    label: str | None,
    characters_max: int,
) -> list[int]:
    """Positions of the lines to show, in order."""
    everything = range(len(lines))

    def size(i: int) -> int:
        return min(len(lines[i].strip()), LINE_CHARACTERS_MAX)

    if len(lines) <= lines_max + FEW_MORE and sum(map(size, everything)) <= characters_max:
        return list(everything)
    worth = [i for i, score in enumerate(scores[: len(lines)]) if score > 0]
    worth.sort(key=lambda i: -scores[i])  # Stable: the earlier of equal lines comes first.
    chosen = set[int]() if worth and label is None else {_head(lines, label)}
    room = characters_max - sum(map(size, chosen))
    for i in worth:
        if len(chosen) >= lines_max:
            break
        if i not in chosen and (size(i) <= room or len(chosen) < 2):
            chosen.add(i)
            room -= size(i)
            above = _governing(lines, i) if len(chosen) < lines_max else None
            if above is not None and above not in chosen and size(above) <= room:
                chosen.add(above)
                room -= size(above)
    wide = chosen
    if len(chosen) < lines_max:
        wide = _widened(chosen, lines, list(map(size, everything)), lines_max, room)
    if len(lines) <= 2 * lines_max and all(i in wide or not size(i) for i in everything):
        # Only a few blank lines are missing.
        return list(everything)
    return sorted(wide)


def _governing(lines: Sequence[str], i: int) -> int | None:
    """The line just above that line `i` is indented under, such as a condition; None if far."""
    indent = len(lines[i]) - len(lines[i].lstrip())
    for above in range(i - 1, max(-1, i - 1 - GOVERNING_MAX), -1):
        text = lines[above].lstrip()
        if text and len(lines[above]) - len(text) < indent:
            return above if WORD.search(text) else None
    return None


def has_head(text: str, label: str | None) -> bool:
    """Whether a text begins with its symbol: not if it is from the middle of a long one."""
    name = "" if label is None else label.rpartition(".")[2]
    return not name or any(name in line for line in text.split("\n", HEAD_LINES)[:HEAD_LINES])


def _head(lines: Sequence[str], label: str | None) -> int:
    """The index of the line with the symbol's name, or of the first line with a word."""
    name = "" if label is None else label.rpartition(".")[2]
    first = next((i for i, line in enumerate(lines) if WORD.search(line)), 0)
    named = (
        i for i in range(first, min(first + HEAD_LINES, len(lines))) if name and name in lines[i]
    )
    return next(named, first)


def _widened(
    chosen: Collection[int],
    lines: Sequence[str],
    sizes: Sequence[int],
    lines_max: int,
    room: int,
) -> set[int]:
    """Fill the remaining room with lines between and after the chosen ones."""
    wide = set(chosen)
    # The nearest lines after a chosen one come first, of equally near ones the earlier.
    others = []
    before = None
    for i, size in enumerate(sizes):
        if i in wide:
            before = i
        elif size and before is not None:
            others.append((i - before, i))
    for _, i in sorted(others):
        if len(wide) >= lines_max:
            break
        if sizes[i] <= room:
            wide.add(i)
            room -= sizes[i]
    while len(wide) > 1 and max(wide) not in chosen and not lines[max(wide)].strip():
        wide.remove(max(wide))
    return wide


def _first_asked(line: str, asked: Asked) -> LineMatch | None:
    """The first query word in a line."""
    for word in WORD.finditer(line):
        if not asked.terms.isdisjoint(terms_of(word[0])):
            return LineMatch(0, *word.span())
    return None


def _whole_or_cut(line: str, asked: Asked) -> str:
    """A line, shortened around the first query word if it is too long."""
    return line if len(line) <= LINE_CHARACTERS_MAX else _cut(line, _first_asked(line, asked))


def _cut(line: str, match: LineMatch | None, most: int = LINE_CHARACTERS_MAX) -> str:
    """A line shortened to the maximum length, keeping the match visible."""
    if len(line) <= most:
        return line
    start = 0
    if match is not None and match.end > most - 2:
        start = max(0, match.start - most // 4)
    end = start + most - 2
    return ("…" if start else "") + line[start:end] + ("…" if end < len(line) else "")
