"""Lines of a file as they are printed: with numbers, without comments, or those about words."""

from __future__ import annotations

import bisect
import re
from collections.abc import Collection, Sequence

from holdfast.text import for_looking, is_only_brackets

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


_IDENTIFIER = re.compile(r"[\w]+[_.:]\w|[a-z\d][A-Z]|\W")


def lines_about(
    lines: Sequence[str], first: int, code: Collection[int], words: str, *, has_head: bool
) -> frozenset[int]:
    """The numbers of lines with one of the words, with what they are in and what they govern.

    The lines begin at number `first`. A plain word is also found in other forms and as a part of
    names; one that is written like a name, only as it is. `has_head` shows the first line of code.
    """
    from holdfast.index.search.about_lines import about_lines
    from holdfast.index.search.terms import WORD, terms, terms_of

    asked = words.split()
    names = [word.lower() for word in asked if _IDENTIFIER.search(word)]
    plain = frozenset(terms(" ".join(word for word in asked if not _IDENTIFIER.search(word))))

    def matches(line: str) -> bool:
        has_name = any(name in line.lower() for name in names)
        return has_name or any(not plain.isdisjoint(terms_of(w)) for w in WORD.findall(line))

    comments = frozenset(i for i in range(len(lines)) if i + first not in code)
    matched = [i for i, line in enumerate(lines) if matches(line)]
    # Comments repeat what the code says, unless they alone have the words.
    wanted = frozenset(i for i in matched if i not in comments) or frozenset(matched)
    if not wanted:
        return frozenset()
    scores = [float(i in wanted) for i in range(len(lines))]
    head = next((i for i in range(len(lines)) if i not in comments), None) if has_head else None
    kept = about_lines(lines, scores, first=head, comments=comments)
    return frozenset(i + first for i in kept)


def next_offset(text: str) -> int | None:
    """The line to go on with, if a read was cut at its limit."""
    cut = _NOTICE.search(text)
    found = re.search(r"Use offset=([0-9]+) to continue", cut[0]) if cut is not None else None
    return int(found[1]) if found is not None else None


def shown_lines(text: str) -> list[str]:
    """The lines of a read, without the notice below them."""
    cut = _NOTICE.search(text)
    return (text if cut is None else text[: cut.start()]).split("\n")


ABOUT_WIDTH = 150
"""How long a line is in a read of the lines about some words; messages are longer."""


def printed(
    text: str,
    first: int,
    wanted: frozenset[int] | None,
    numbers: bool,
    width: int = 1 << 30,
) -> str:
    """The lines of a text that begins at line `first`; `wanted` are those to show, None for all.

    Numbered lines are exact, an empty one is its number alone. If only some are wanted they are for
    looking, not for copying: with a space for each level, without those that only close one, and
    cut at `width` characters.
    """
    cut = _NOTICE.search(text)
    lines = [
        (number, line)
        for number, line in enumerate(shown_lines(text), first)
        if wanted is None or number in wanted
    ]
    if numbers and wanted is not None:
        texts = for_looking(line for _, line in lines)
        lines = [
            (number, line if len(line) <= width else f"{line[: width - 1]}…")
            for (number, _), line in zip(lines, texts, strict=True)
            if not is_only_brackets(line)
        ]
    shown = [
        line if not numbers else f"{number} {line}" if line else f"{number}"
        for number, line in lines
    ]
    return "\n".join(shown) + ("" if cut is None else cut[0])
