"""The comment and the attributes directly above a symbol."""

from __future__ import annotations

import re
from typing import Protocol

DOC_MAX = 2_000
LEAD_BYTES_MAX = 2_000
"""How many bytes before a symbol on its line are examined."""
LEAD_LINES_MAX = 200
"""How many lines above a symbol are examined."""
LINE_BYTES_MAX = 400
"""A longer line is not part of a comment."""
BLOCK_BYTES_MAX = 8_000
"""How far back the start of a block comment is searched for."""

_WORDS = re.compile(rb"[A-Za-z_(\s]+\Z")  # `export const`, `local`, `type (`
_MARKS = re.compile(r"^[ \t]*(?:/\*[*!]?|\*/|\*(?!/)|//[/!]?|#+|--+|;+)?[ \t]?", re.MULTILINE)


class CommentStyle(Protocol):
    """How a language marks comments and attributes."""

    @property
    def block_comments(self) -> bool: ...
    @property
    def leads(self) -> frozenset[int]: ...
    @property
    def comment_marks(self) -> tuple[bytes, ...]: ...
    @property
    def attribute_marks(self) -> tuple[bytes, ...]: ...


def comment_above(
    language: CommentStyle, source: bytes, starts: list[int], first_line: int, start: int
) -> tuple[int, str]:
    """The first line of the comment and attributes above a symbol, and the comment's text.

    `starts` has the offset of every line; the symbol begins at `start`, on `first_line`.
    """
    begin = starts[first_line - 1]
    before = source[begin : min(start, begin + LEAD_BYTES_MAX)].strip()
    if before and not _WORDS.match(before[:80]):
        return first_line, ""  # the comment belongs to the code that starts the line
    line, lead = first_line - 1, first_line
    comments, attributes = language.comment_marks, language.attribute_marks
    found: list[bytes] = []
    while line >= 1 and first_line - line < LEAD_LINES_MAX:
        begin = starts[line - 1]
        short = starts[line] - begin < LINE_BYTES_MAX
        raw = source[begin : starts[line]].strip() if short else b""
        if not raw or (raw[0] not in language.leads and raw[-2:] != b"*/"):
            break
        if language.block_comments and raw[-2:] == b"*/":
            opened = source.rfind(b"/*", max(0, starts[line] - BLOCK_BYTES_MAX), starts[line])
            if opened == -1:
                break
            while line > 1 and starts[line - 1] > opened:
                line -= 1
            if source[starts[line - 1] : opened].strip():
                break  # a comment after code belongs to that code
            found.append(source[opened : starts[lead - 1]])
            lead = line
            break
        if attributes and raw.startswith(attributes):
            lead = line
        elif raw.startswith(comments):
            found.append(raw)
            lead = line
        else:
            break
        line -= 1
    if not found:
        return lead, ""
    text = b"\n".join(reversed(found))[: 2 * DOC_MAX]
    return lead, without_marks(text.decode("utf-8", "replace"))


def without_marks(comment: str) -> str:
    """The text of a comment without comment marks."""
    text = _MARKS.sub("", comment.strip().removesuffix("*/"))
    return "\n".join(line.rstrip() for line in text.strip().split("\n"))[:DOC_MAX]
