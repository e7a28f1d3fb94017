"""The lexer as a regular expression, and the reference for the compiled lexer.

It works on bytes. Bytes from 0x80 up are part of words, so it accepts UTF-8, Latin-1 and a mixture
of both, and never fails. It takes linear time: strings and comments that are never closed run to
the end of their line or of the text, and no byte is read twice.
"""

from __future__ import annotations

import re
from array import array
from dataclasses import dataclass
from enum import IntEnum
from functools import cache

from holdfast.sequence.tokens.families import (
    FAMILIES,
    KEYWORDS,
    OPERATORS_2,
    OPERATORS_3,
    Family,
)

LEXER_VERSION = 1
"""1: identifiers, numbers, strings, comments and operators by family."""


@dataclass(frozen=True, slots=True)
class LexerOptions:
    """Which tokens a lexer returns in addition to those of the language."""

    comments: bool = False
    whitespace: bool = False
    """Return runs of blanks and newlines, each as one token."""


CODE_ONLY = LexerOptions()
"""Neither comments nor blanks."""


class TokenKind(IntEnum):
    """The kind of a token, as far as its own text tells."""

    OPERATOR = 0
    WORD = 1
    KEYWORD = 2
    NUMBER = 3
    STRING = 4


_WORD = rb"[A-Za-z0-9_$\x80-\xff]"
_NUMBER = rb"[0-9](?:[eEpP][+-](?=[0-9])|" + _WORD + rb"|\.(?=[0-9]))*+"
_IDENTIFIER = rb"[A-Za-z_$\x80-\xff]" + _WORD + rb"*+"
_BLANK = rb"[ \t\n\r\f\v]++"


def string_forms(family: Family) -> list[bytes]:
    forms = []
    for quote in (bytes([byte]) for byte in family.line_quotes):
        if family.triple:
            body = rb"(?:[^" + quote + rb"\\]++|\\.?|" + quote + rb"(?!" + quote * 2 + rb"))*+"
            forms.append(quote * 3 + body + rb"(?:" + quote * 3 + rb")?+")
        if family.escapes:
            forms.append(quote + rb"(?:[^" + quote + rb"\\\n]++|\\.?)*+" + quote + rb"?+")
        else:
            forms.append(quote + rb"[^" + quote + rb"\n]*+" + quote + rb"?+")
    for quote in (bytes([byte]) for byte in family.block_quotes):
        if family.block_escapes:
            forms.append(quote + rb"(?:[^" + quote + rb"\\]++|\\.?)*+" + quote + rb"?+")
        else:
            forms.append(quote + rb"[^" + quote + rb"]*+" + quote + rb"?+")
    for quote in (bytes([byte]) for byte in family.char_quotes):
        plain = rb"[^" + quote + rb"\\\n\x80-\xff]|[\x80-\xff]{1,4}+|"
        forms.append(quote + rb"(?:" + plain + rb"\\[^\n][^" + quote + rb"\n]{0,10}+)" + quote)
    return forms


def comment_forms(family: Family) -> list[bytes]:
    forms: list[tuple[bytes, bytes]] = [
        (opener, re.escape(opener) + rb"[^\n]*+") for opener in family.line_comments
    ]
    for opener, closer in family.block_comments:
        head, rest = re.escape(closer[:1]), re.escape(closer[1:])
        body = rb"(?:[^" + head + rb"]++|" + head + rb"(?!" + rest + rb"))*+"
        forms.append((opener, re.escape(opener) + body + rb"(?:" + re.escape(closer) + rb")?+"))
    # The longest opener first: a block comment may begin like a line comment.
    return [form for _, form in sorted(forms, key=lambda pair: -len(pair[0]))]


@cache
def _pattern(family: Family, options: LexerOptions) -> re.Pattern[bytes]:
    skipped: list[bytes] = []
    alternatives: list[bytes] = []
    (alternatives if options.whitespace else skipped).append(_BLANK)
    (alternatives if options.comments else skipped).extend(comment_forms(family))
    alternatives += string_forms(family)
    alternatives += [_NUMBER, _IDENTIFIER]
    alternatives += [re.escape(operator) for operator in (*OPERATORS_3, *OPERATORS_2)]
    alternatives.append(rb".")
    prefix = rb"(?:" + rb"|".join(skipped) + rb")*+" if skipped else b""
    # The end matches too; otherwise the search would start again inside skipped text.
    return re.compile(prefix + rb"(?:(" + rb"|".join(alternatives) + rb")|\Z)", re.DOTALL)


@dataclass(slots=True)
class Lexed:
    """The tokens of one text: their bytes, and where each starts."""

    texts: list[bytes]
    starts: array[int]


def lex(data: bytes, family: int, options: LexerOptions = CODE_ONLY) -> Lexed:
    """Split a text into tokens. Never fails, for any bytes."""
    texts: list[bytes] = []
    starts = array("i")
    for match in _pattern(FAMILIES[family], options).finditer(data):
        if match[1] is not None:
            texts.append(match[1])
            starts.append(match.start(1))
    return Lexed(texts, starts)


def kind_of(text: bytes) -> TokenKind:
    """The kind of a token."""
    first = text[0]
    if 48 <= first <= 57:
        return TokenKind.NUMBER
    if first >= 0x80 or first in b"_$" or chr(first).isalpha():
        return TokenKind.KEYWORD if text in KEYWORDS else TokenKind.WORD
    if first in b"\"'`" and len(text) > 1:
        return TokenKind.STRING
    return TokenKind.OPERATOR


PLACEHOLDERS: dict[TokenKind, bytes] = {
    TokenKind.WORD: b"\0name",
    TokenKind.NUMBER: b"\0number",
    TokenKind.STRING: b"\0string",
}
"""The replacement of a renamed token. No token looks like these: a NUL is a separate token."""


def normalised(text: bytes) -> bytes:
    """The token with names and literals replaced by placeholders."""
    return PLACEHOLDERS.get(kind_of(text), text)
