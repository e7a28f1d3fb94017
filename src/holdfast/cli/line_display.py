"""Lines of a file as they are printed: with numbers, or without comments."""

from __future__ import annotations

import bisect
import re
from typing import NamedTuple

from holdfast.reading.result import Answer
from holdfast.text import for_looking, only_closes


class ShownText(NamedTuple):
    """What a read shows: lines of the file, and the notice below them if they are not all."""

    lines: list[str]
    notice: str = ""


def split_notice(answer: Answer, limit: int | None) -> ShownText:
    """The text of a read without a session; `limit` is how many lines were asked for at most.

    Told apart by counting: a line of the file may look like a notice.
    """
    rows = answer.text.split("\n")
    count = len(rows) if limit is None else limit
    if answer.truncation is not None:
        count = answer.truncation.lines_printed
    if count >= len(rows):
        return ShownText(rows)
    return ShownText(rows[:count], "\n".join(rows[count:]))


_OPENING, _CLOSING = (b"(", b"[", b"{"), (b")", b"]", b"}")
_STATEMENT_ENDS = (b":", b";", b"...", *_CLOSING)


def code_lines(path: str, source: bytes) -> frozenset[int]:
    """The numbers of lines with code: not those with only comments or a standalone string."""
    # Imported here, so that a plain read stays fast.
    from holdfast.sequence.tokens.families import family_of
    from holdfast.sequence.tokens.lexer import TokenKind, kind_of, lex

    starts = [0, *(line_end.end() for line_end in re.finditer(rb"\n", source))]
    lexed = lex(source, family_of(path))
    code: set[int] = set()
    tokens: dict[int, list[tuple[bytes, int, int]]] = {}
    depth, previous = 0, b":"
    for text, start in zip(lexed.texts, lexed.starts, strict=True):
        first = bisect.bisect_right(starts, start)
        last = bisect.bisect_right(starts, start + len(text) - 1)
        for line in range(first, last + 1):
            tokens.setdefault(line, []).append((text, first, last))
        # A string in brackets or after an operator is a part of an expression.
        if depth or (kind_of(previous) is TokenKind.OPERATOR and previous not in _STATEMENT_ENDS):
            code.update(range(first, last + 1))
        depth = max(0, depth + (text in _OPENING) - (text in _CLOSING))
        previous = text
    for line, ((text, first, last), *others) in tokens.items():
        # A multi-line string is data if something else is on its first or last line.
        is_alone = not others and len(tokens[first]) == len(tokens[last]) == 1
        if not is_alone or kind_of(text) is not TokenKind.STRING:
            code.add(line)
    return frozenset(code)


def printed(
    shown: ShownText,
    first: int,
    only: frozenset[int] | None,
    numbers: bool,
) -> str:
    """Lines that begin at line `first`, and their notice; `only` are those to show, None for all.

    Numbered lines are exact, an empty one is its number alone. If only some are wanted they are for
    looking, not for copying: with a space for each level, without those that only close one.
    """
    lines = [
        (number, line)
        for number, line in enumerate(shown.lines, first)
        if only is None or number in only
    ]
    if numbers and only is not None:
        texts = for_looking(line for _, line in lines)
        lines = [
            (number, line)
            for (number, _), line in zip(lines, texts, strict=True)
            if not only_closes(line)
        ]
    rows = [
        line if not numbers else f"{number} {line}" if line else f"{number}"
        for number, line in lines
    ]
    return "\n".join(rows if not shown.notice else [*rows, shown.notice])
