"""Where the tokens of many texts begin and end, and a key for each, with numpy.

The regular expression in `lexer` visits every token in Python. Here it only splits a text at its
strings and comments, in one call; words, numbers and operators between them are found by comparing
whole arrays. The tokens are those of `lexer.lex`; a test compares the two.

A key depends on nothing but the bytes of its token. Equal tokens have equal keys; different tokens
may have equal keys too, so keys can rule out a match and never prove one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from holdfast.sequence.tokens.families import FAMILIES, KEYWORDS, OPERATORS_2, OPERATORS_3, Family
from holdfast.sequence.tokens.lexer import LexerOptions, comment_forms, lex, string_forms

Bytes = npt.NDArray[np.uint8]
Flags = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Keys = npt.NDArray[np.uint64]

CHUNK_BYTES = 1 << 19
"""How much text is cut at once: little enough for its arrays to stay in the processor's cache."""

_QUOTES = b"\"'`"
_TOKEN, _SKIPPED = b'"', b" "
_AROUND = b"\n" * 8
"""Blanks around the code, so that eight bytes can be read before and after every place."""

# What a byte can be, as bits.
_OPERATOR, _WORD, _DIGIT, _POINT, _SIGN, _EXPONENT, _LEADS, _FOLLOWS = (1 << n for n in range(8))


def _kinds() -> bytes:
    """The bits of each byte, to translate a text with."""
    table = [_OPERATOR] * 128 + [_WORD] * 128
    for chars, bits in (
        (b"\t\n\v\f\r ", 0),
        (b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_$", _WORD),
        (b"0123456789", _WORD | _DIGIT),
        (b"eEpP", _WORD | _EXPONENT),
        (b"+-", _OPERATOR | _SIGN),
        (b".", _OPERATOR | _POINT),
    ):
        for byte in chars:
            table[byte] = bits
    for pair in OPERATORS_2:
        table[pair[0]] |= _LEADS
        table[pair[1]] |= _FOLLOWS
    return bytes(table)


_KINDS = _kinds()
_PAIRS = np.zeros(65536, np.bool_)
_PAIRS[[pair[0] << 8 | pair[1] for pair in OPERATORS_2]] = True
_TRIPLES = np.array(sorted(o[0] << 16 | o[1] << 8 | o[2] for o in OPERATORS_3), np.int64)
assert all(triple[:2] in OPERATORS_2 for triple in OPERATORS_3), "a triple begins with a pair"

_FIRST_BYTES = np.array([(1 << 8 * size) - 1 for size in range(9)], np.uint64)
"""Masks that keep the first `index` bytes of a little-endian number."""
_MIX_HEAD, _MIX_TAIL, _MIX_SIZE = np.array(
    [0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93, 0xA0761D6478BD642F], np.uint64
)
_NAME, _NUMBER, _TEXT = np.array([1, 2, 3], np.uint64)
"""The keys of renamed tokens."""


@dataclass(frozen=True, slots=True)
class CutTexts:
    """The tokens of some texts, with a separator of size 0 after each text."""

    starts: Ints
    """Where each token begins in its text; for a separator, the size of the text."""
    sizes: Ints
    keys: Keys
    """A key for each token; that of a separator has no meaning."""
    firsts: Longs
    """Where each text begins in the arrays; one more for the end."""


def cut_all(
    texts: Iterable[tuple[bytes, int]], options: LexerOptions, *, renamed: bool = False
) -> Iterator[CutTexts]:
    """Cut texts, each with the number of its family, some at a time."""
    chunk: list[tuple[bytes, int]] = []
    size = 0
    for text, family in texts:
        chunk.append((text, family))
        size += len(text)
        if size >= CHUNK_BYTES:
            yield cut(chunk, options, renamed=renamed)
            chunk, size = [], 0
    if chunk:
        yield cut(chunk, options, renamed=renamed)


def cut(
    texts: Sequence[tuple[bytes, int]], options: LexerOptions, *, renamed: bool = False
) -> CutTexts:
    """Cut texts, each with the number of its family, into tokens.

    With `renamed`, all names have one key, and so have all numbers, and all strings.
    """
    assert not options.whitespace, "blanks are not tokens here"
    pieces: list[bytes] = []
    marks: list[bytes] = []
    last: list[int] = []
    for text, family in texts:
        more, more_marks = _pieces(text, FAMILIES[family], options)
        pieces += more
        pieces.append(b"")  # the separator
        marks += more_marks
        marks.append(_TOKEN)
        last.append(len(marks) - 1)
    literals = pieces[1::2]
    pieces[1::2] = marks
    joined = b"".join([_AROUND, *pieces, _AROUND])
    code_sizes = np.fromiter(map(len, pieces[0::2]), np.int64, len(marks))
    sizes = np.fromiter(map(len, literals), np.int64, len(marks))
    stand = np.cumsum(code_sizes + 1) + (len(_AROUND) - 1)  # where the marks are in the code

    starts, ends = _tokens(joined)
    lengths = ends - starts
    heads = _heads(joined, starts, lengths)
    long = np.flatnonzero(lengths > 8)
    tails = _tails(joined, ends[long])
    keys = heads * _MIX_HEAD
    keys[long] += tails * _MIX_TAIL + lengths[long].astype(np.uint64) * _MIX_SIZE
    if renamed:
        _rename(keys, heads, tails, lengths, np.frombuffer(joined, np.uint8)[starts])
    shown = np.flatnonzero(np.frombuffer(b"".join(marks), np.uint8) == _TOKEN[0])
    number = np.searchsorted(starts, stand[shown])
    keys[number] = _literal_keys([literals[k] for k in shown.tolist()], renamed)
    lengths[number] = sizes[shown]

    # A mark takes one byte in the code, and its literal some in the text.
    shift = np.cumsum(sizes - 1) - (sizes - 1) - len(_AROUND)
    upto = np.searchsorted(starts, stand, side="right")
    place = starts + np.repeat(shift, np.diff(upto, prepend=0))
    firsts = np.zeros(len(texts) + 1, np.int64)
    firsts[1:] = upto[last]
    begins = np.cumsum([0, *(len(text) for text, _ in texts)])[:-1]
    place -= np.repeat(begins, np.diff(firsts))
    return CutTexts(place.astype(np.int32), lengths.astype(np.int32), keys, firsts)


# Strings and comments


@cache
def _splitter(family: Family) -> re.Pattern[bytes] | None:
    """Splits a text at its strings and comments; None if the family has neither."""
    forms = comment_forms(family) + string_forms(family)
    if not forms:
        return None
    # The last form never matches. It is there because `re` searches for the first byte with a
    # bitmap only if there are at least three ranges, and that is faster.
    return re.compile(rb"(" + rb"|".join([*forms, rb"\x01(?!)"]) + rb")", re.DOTALL)


@cache
def _openers(family: Family) -> tuple[bytes, ...]:
    return (*family.line_comments, *(opener for opener, _ in family.block_comments))


@cache
def _misleading(family: Family) -> tuple[bytes, ...]:
    """The operators that a comment could seem to begin in, such as `<-` in `<--`."""
    openers = _openers(family)
    heads = [opener[:1] for opener in openers]
    return tuple(
        operator
        for operator in (*OPERATORS_3, *OPERATORS_2)
        if not operator.startswith(openers) and any(head in operator[1:] for head in heads)
    )


def _pieces(text: bytes, family: Family, options: LexerOptions) -> tuple[list[bytes], list[bytes]]:
    """Code and literals in turn, code first and last; and a mark for each literal.

    A literal is a string or a comment. The mark is `_TOKEN` if it is a token, else `_SKIPPED`.
    """
    splitter = _splitter(family)
    if splitter is None:
        return [text], []
    if any(operator in text for operator in _misleading(family)):
        return _pieces_by_lexer(text, family, options)
    pieces: list[bytes] = splitter.split(text)
    if options.comments:
        return pieces, [_TOKEN] * (len(pieces) // 2)
    return pieces, [_TOKEN if piece[0] in _QUOTES else _SKIPPED for piece in pieces[1::2]]


def _pieces_by_lexer(
    text: bytes, family: Family, options: LexerOptions
) -> tuple[list[bytes], list[bytes]]:
    """The same from the tokens of the lexer, each in a separate piece."""
    pieces: list[bytes] = [b""]
    marks: list[bytes] = []
    at = 0
    lexed = lex(text, FAMILIES.index(family), options)
    for start, token in zip(lexed.starts, lexed.texts, strict=True):
        literal = token[0] in _QUOTES or token.startswith(_openers(family))
        # Even an empty gap keeps two operators apart.
        pieces += [text[at:start], b"", token, b""] if literal else [text[at:start], token]
        marks += [_SKIPPED, _TOKEN] if literal else [_SKIPPED]
        at = start + len(token)
    return [*pieces, text[at:], b""], [*marks, _SKIPPED]


# Words, numbers and operators


def _tokens(code: bytes) -> tuple[Longs, Longs]:
    """Where the tokens of the code begin and end; a mark is a token of one byte."""
    raw, kinds = np.frombuffer(code, np.uint8), np.frombuffer(code.translate(_KINDS), np.uint8)
    word = kinds & _WORD != 0
    joints = _joints(kinds, word)
    word[joints] = True
    operator = kinds & _OPERATOR != 0
    operator[joints] = False
    longer, widths = _long_operators(raw, kinds)
    # For flags, `>` means "and not".
    begins = operator.copy()
    begins[1:] |= word[1:] > word[:-1]
    begins[longer + 1] = False
    begins[longer[widths == 3] + 2] = False
    lasts = operator
    lasts[:-1] |= word[:-1] > word[1:]
    lasts[longer] = False
    lasts[longer[widths == 3] + 1] = False
    return np.flatnonzero(begins), np.flatnonzero(lasts) + 1


def _joints(kinds: Bytes, word: Flags) -> Longs:
    """The points and signs inside of numbers, such as those of `1.5e-3`."""
    # A point after a word and a sign after an exponent; a digit follows.
    byte, before = kinds[1:-1], kinds[:-2]
    signs = (byte & _SIGN).astype(np.bool_) & (before & _EXPONENT).astype(np.bool_)
    near = (byte & _POINT).astype(np.bool_) & word[:-2] | signs
    near &= (kinds[2:] & _DIGIT).astype(np.bool_)
    joints: Longs = np.flatnonzero(near) + 1
    if len(joints):
        # The text before it is a number if its word began with a digit.
        begins = np.flatnonzero(word[1:] > word[:-1]) + 1
        begins = begins[np.searchsorted(begins, joints) - 1]
        joints = joints[(kinds[begins] & _DIGIT).astype(np.bool_)]
    return joints


def _long_operators(raw: Bytes, kinds: Bytes) -> tuple[Longs, Longs]:
    """The operators of two and three bytes, and their sizes."""
    follows = (kinds[1:] & _FOLLOWS).astype(np.bool_)
    leads = np.flatnonzero((kinds[:-1] & _LEADS).astype(np.bool_) & follows)
    pairs = raw[leads].astype(np.int64) << 8 | raw[leads + 1]
    taken = _PAIRS[pairs]
    leads, pairs = leads[taken], pairs[taken]
    triples = pairs << 8 | raw[leads + 2]
    at = np.minimum(np.searchsorted(_TRIPLES, triples), len(_TRIPLES) - 1)
    widths = 2 + (_TRIPLES[at] == triples)
    if (leads[1:] < (leads + widths)[:-1]).any():
        # Left to right: drop operators that begin before the previous one ends.
        end, indices = 0, []
        for number, (start, width) in enumerate(zip(leads.tolist(), widths.tolist(), strict=True)):
            if start >= end:
                end = start + width
                indices.append(number)
        return leads[indices], widths[indices]
    return leads, widths


# Keys


def _eights(code: bytes) -> Any:
    """Eight bytes from each place on as a number."""
    return np.ndarray((len(code) - 7,), "<u8", code, strides=(1,))


def _heads(code: bytes, starts: Longs, lengths: Longs) -> Keys:
    """The first eight bytes of each token as a number, with zeros after a shorter token."""
    heads: Keys = _eights(code)[starts]
    heads &= _FIRST_BYTES.take(lengths, mode="clip")
    return heads


def _tails(code: bytes, ends: Longs) -> Keys:
    """The last eight bytes of tokens of at least eight as a number."""
    tails: Keys = _eights(code)[ends - 8]
    return tails


def _literal_keys(literals: Sequence[bytes], renamed: bool) -> Keys:
    """The keys of strings and comments."""
    keys = np.fromiter(map(hash, literals), np.int64, len(literals)).view(np.uint64)
    sizes = np.fromiter(map(len, literals), np.int64, len(literals))
    # In another family an equal text may be an operator, which must have the same key.
    short = np.flatnonzero((sizes > 0) & (sizes <= 3))
    heads = (int.from_bytes(literals[number], "little") for number in short.tolist())
    keys[short] = np.fromiter(heads, np.uint64, len(short)) * _MIX_HEAD
    if renamed:
        quoted = np.fromiter((text[:1] in _QUOTED for text in literals), np.bool_, len(literals))
        keys[quoted & (sizes > 1)] = _TEXT
    return keys


_QUOTED = frozenset(_QUOTES[at : at + 1] for at in range(len(_QUOTES)))


def _rename(keys: Keys, heads: Keys, tails: Keys, lengths: Longs, first: Bytes) -> None:
    """Give names one key and numbers another, as `lexer.normalised` does.

    `tails` are those of the tokens of more than eight bytes.
    """
    kinds = np.frombuffer(first.tobytes().translate(_KINDS), np.uint8)
    number = (kinds & _DIGIT).astype(np.bool_)
    name = (kinds & _WORD).astype(np.bool_) & ~number
    every_tail = np.zeros(len(keys), np.uint64)
    every_tail[lengths > 8] = tails
    for is_long in (False, True):
        words = sorted(word for word in KEYWORDS if (len(word) > 8) is is_long)
        table: Any = np.array(sorted(_head_tail_and_size(word) for word in words), np.uint64)
        assert len(set(table[:, 0].tolist())) == len(words), "no two keywords begin alike"
        chosen = np.flatnonzero(name & ((lengths > 8) == is_long))
        at = np.minimum(np.searchsorted(table[:, 0], heads[chosen]), len(words) - 1)
        same = table[at, 0] == heads[chosen]
        same &= (table[at, 1] == every_tail[chosen]) & (table[at, 2] == lengths[chosen])
        name[chosen[same]] = False
    keys[number], keys[name] = _NUMBER, _NAME


def _head_tail_and_size(word: bytes) -> tuple[int, int, int]:
    """The head, tail and size of a word of up to 16 bytes, which together identify it."""
    assert len(word) <= 16
    tail = int.from_bytes(word[-8:], "little") if len(word) > 8 else 0
    return int.from_bytes(word[:8], "little"), tail, len(word)
