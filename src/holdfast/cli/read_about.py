"""`holdfast read --about WORDS`: the lines of a place with one of the words.

All lines of the place are looked at, however long: they are taken from the file's bytes, not from
an answer that is cut at the limits of one read. So a word is denied only if no line has it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.cli.line_display import code_lines
from holdfast.cli.user_files import FILE_BYTES_MAX
from holdfast.errors import UsageError
from holdfast.text import counted, for_looking, is_only_brackets

if TYPE_CHECKING:
    from holdfast.reading.paths import Request
    from holdfast.reading.reader import Reader

WIDTH = 150
"""How long a shown line is; messages are longer."""
STRUCTURE_WIDTH = 1000
"""A longer line is data: its brackets open nothing, and the rest of it is looked at for words only.

Finding blocks and strings can take quadratic time in the length of a line."""
_NO_BRACKETS = str.maketrans(dict.fromkeys("()[]{}", "_"))
_IDENTIFIER = re.compile(r"[\w]+[_.:]\w|[a-z\d][A-Z]|\W")


@dataclass(frozen=True, slots=True)
class About:
    """The lines about some words as they are printed, and how many of the place."""

    text: str
    shown: int = 0
    left_out: int = 0
    cut: int = 0
    """How many of the shown lines are too long to be shown whole."""


def read_about(request: Request, reader: Reader, words: str, *, has_head: bool) -> About:
    """The lines of a place that are about some words; raises the errors of a read."""
    from holdfast.reading import images

    target, data = reader.data(request)
    if images.sniff(data[: images.SNIFFED_BYTES]) is not None:
        raise UsageError(f"{target.typed} is a picture", "it has no lines with words")
    if len(data) > FILE_BYTES_MAX:
        size = f"{FILE_BYTES_MAX >> 20} MiB"
        raise UsageError(f"{target.typed} is larger than {size}", "no line of it was looked at")
    answer = about(target.path, data, words, target.offset, target.limit, has_head=has_head)
    if not answer.shown and b"\0" in data:
        raise UsageError(
            f"{target.typed} has NUL bytes: it is binary or UTF-16",
            "words are found in UTF-8 only; a copy: iconv -f UTF-16 -t UTF-8",
        )
    if not answer.shown and not _is_utf8(data):
        raise UsageError(
            f"{target.typed} is not UTF-8",
            "words are found in UTF-8 only; a copy: iconv -f LATIN1 -t UTF-8",
        )
    return answer


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def about(
    path: str,
    data: bytes,
    words: str,
    offset: float | None = None,
    limit: float | None = None,
    *,
    has_head: bool = False,
) -> About:
    """The lines of a text with one of the words, with what they are in and what they govern.

    `has_head` shows the first line of code, too.
    """
    first, lines = _lines(data, offset, limit)
    indices, matches = _lines_about(lines, first, code_lines(path, data), words, has_head=has_head)
    if not matches:
        return About(f"[no line has one of the words: {words}]", left_out=len(lines))
    # Lines that only close a block are left out: the indentation says the same.
    texts = for_looking(lines[i] for i in indices)
    rows = [
        (i + first, text)
        for i, text in zip(indices, texts, strict=True)
        if i in matches or not is_only_brackets(text)
    ]
    return About(
        "\n".join(
            f"{number} {text if len(text) <= WIDTH else f'{text[: WIDTH - 1]}…'}"
            for number, text in rows
        ),
        len(rows),
        len(lines) - len(rows),
        sum(len(text) > WIDTH for _, text in rows),
    )


def rest_of(answers: Sequence[About]) -> str:
    """What the answers do not show, as a line below them; empty if they show everything."""
    left_out, cut = sum(one.left_out for one in answers), sum(one.cut for one in answers)
    notes = [f"{counted(left_out, 'line')} left out"] if left_out else []
    notes += [f"{counted(cut, 'line')} cut at {WIDTH} characters"] if cut else []
    return f"[{', '.join(notes)}; all without --about]" if notes else ""


def _lines(data: bytes, offset: float | None, limit: float | None) -> tuple[int, list[str]]:
    """The number of the first line and the lines; after the last newline there is none."""
    from holdfast.reading import baseline

    text = baseline.decode(data)
    total = baseline.count_lines(text)
    selected, start, limited = baseline.selection(text, total, offset, limit)
    if limited is not None and int(start + limited) <= int(start):
        return int(start) + 1, []
    lines = selected.split("\n")
    if int(start) + len(lines) == total and not lines[-1]:
        lines.pop()
    return int(start) + 1, lines


def _lines_about(
    lines: Sequence[str], first: int, code: frozenset[int], words: str, *, has_head: bool
) -> tuple[list[int], frozenset[int]]:
    """The positions of lines to show, and of those among them that have the words."""
    from holdfast.index.search.about_lines import about_lines

    matched = _matched(lines, words)
    comments = frozenset(i for i in range(len(lines)) if i + first not in code)
    # Comments repeat what the code says, unless they alone have the words.
    matches = frozenset(i for i in matched if i not in comments) or frozenset(matched)
    if not matches:
        return [], matches
    scores = [float(i in matches) for i in range(len(lines))]
    head = next((i for i in range(len(lines)) if i not in comments), None) if has_head else None
    indices = about_lines(
        [_structure(line) for line in lines], scores, first=head, comments=comments
    )
    return sorted({*indices, *matches}), matches


def _structure(line: str) -> str:
    if len(line) <= STRUCTURE_WIDTH:
        return line
    return line[:STRUCTURE_WIDTH].translate(_NO_BRACKETS)


def _matched(lines: Sequence[str], words: str) -> list[int]:
    """The positions of lines with one of the words.

    A plain word is found in other forms and as a part of names; one that is written like a name, or
    that has no terms, only as it is. If no line has one so, a part of a word is enough.
    """
    from holdfast.index.search.terms import WORD, WORD_CHARACTERS_MAX, terms, terms_of

    query_words = list(dict.fromkeys(words.split()))
    as_is = [word for word in query_words if _IDENTIFIER.search(word) or not terms(word)]
    plain = frozenset(term for word in query_words if word not in as_is for term in terms(word))

    def has_term(line: str) -> bool:
        # Longer words have no terms and would only fill the cache.
        words = (word for word in WORD.findall(line) if len(word) <= WORD_CHARACTERS_MAX)
        return any(not plain.isdisjoint(terms_of(word)) for word in words)

    has_as_is = _has_one_of(as_is)
    matched = [i for i, line in enumerate(lines) if has_as_is(line) or (plain and has_term(line))]
    has_part = _has_one_of(query_words)
    return matched or [i for i, line in enumerate(lines) if has_part(line)]


def _has_one_of(words: Sequence[str]) -> Callable[[str], bool]:
    lowered = [word.lower() for word in words]

    def has_one(line: str) -> bool:
        text = line.lower()
        return any(word in text for word in lowered)

    return has_one
