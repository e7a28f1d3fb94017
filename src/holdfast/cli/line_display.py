"""Lines of a file as they are printed: with numbers, and without comments."""

from __future__ import annotations

import bisect
import re

from holdfast.text import common_margin

_MORE = re.compile(r"\n\n\[[0-9]+ more lines in file\. Use offset=[0-9]+ to continue\.\]\Z")
_NOTICE = re.compile(rf"\n\n\[Showing lines [^\n]*\]\Z|{_MORE.pattern}")
"""What stands below lines that are not all."""


def without_rest(text: str) -> str:
    """A text without the notice that the file has more lines, for reads of a range."""
    return _MORE.sub("", text)


_OPENING, _CLOSING = (b"(", b"[", b"{"), (b")", b"]", b"}")
_STATEMENT_ENDS = (b":", b";", b"...", *_CLOSING)


def code_lines(path: str, source: bytes) -> frozenset[int]:
    """The numbers of lines with code: not those with only comments or a standalone string."""
    # Imported here, so that a plain read stays fast.
    from holdfast.sequence.tokens.families import family_of
    from holdfast.sequence.tokens.lexer import TokenKind, kind_of, lex

    starts = [0, *(found.end() for found in re.finditer(rb"\n", source))]
    lexed = lex(source, family_of(path))
    code: set[int] = set()
    texts: dict[int, list[tuple[bytes, int]]] = {}
    depth, previous = 0, b":"
    for text, start in zip(lexed.texts, lexed.starts, strict=True):
        first = bisect.bisect_right(starts, start)
        last = bisect.bisect_right(starts, start + len(text) - 1)
        for line in range(first, last + 1):
            texts.setdefault(line, []).append((text, last - first))
        # A string in brackets or after an operator is a part of an expression.
        if depth or (kind_of(previous) is TokenKind.OPERATOR and previous not in _STATEMENT_ENDS):
            code.update(range(first, last + 1))
        depth = max(0, depth + (text in _OPENING) - (text in _CLOSING))
        previous = text
    for line, found in texts.items():
        alone = len(found) == 1 and kind_of(found[0][0]) is TokenKind.STRING
        # A multi-line string is data if something else is on its first or last line.
        if not alone or (found[0][1] and not _stands_alone(found[0][0], line, texts)):
            code.add(line)
    return frozenset(code)


def _stands_alone(text: bytes, line: int, texts: dict[int, list[tuple[bytes, int]]]) -> bool:
    """Whether the first and the last line of a multi-line string have nothing else."""
    first = last = line
    while texts.get(first - 1, [(b"", 0)])[-1][0] is text:
        first -= 1
    while texts.get(last + 1, [(b"", 0)])[0][0] is text:
        last += 1
    return len(texts[first]) == 1 and len(texts[last]) == 1


def printed(text: str, first: int, wanted: frozenset[int] | None, numbers: bool) -> str:
    """The lines of a text that begins at line `first`; `wanted` are those to show, None for all.

    Numbered lines are exact, an empty one is its number alone. Without comments they also lose
    their common indentation and trailing white space: they are for looking, not for copying.
    """
    cut = _NOTICE.search(text)
    body = text if cut is None else text[: cut.start()]
    lines = [
        (number, line)
        for number, line in enumerate(body.split("\n"), first)
        if wanted is None or number in wanted
    ]
    if numbers and wanted is not None:
        margin = common_margin(line for _, line in lines)
        lines = [(number, line[margin:].rstrip()) for number, line in lines]
    shown = [
        line if not numbers else f"{number} {line}" if line else f"{number}"
        for number, line in lines
    ]
    return "\n".join(shown) + ("" if cut is None else cut[0])
