"""The lexer and the interning of its tokens as one compiled loop over many texts.

Importing this imports numba, which takes about a second, so it pays from some megabytes on; the
machine code is kept on disk between runs. The loop is a transcription of the regular expression in
`lexer`, and a test holds the two against each other.
"""
# mypy: disable-error-code="no-untyped-call,untyped-decorator,no-any-return"

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from holdfast.sequence.tokens.families import FAMILIES, OPERATORS_2, OPERATORS_3
from holdfast.sequence.tokens.lexer import Reading

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]

_BLANK, _DIGIT, _WORD, _OTHER = 0, 1, 2, 3
_NO_QUOTE, _LINE, _BLOCK, _CHAR = 0, 1, 2, 3
_SLOT = 12  # bytes per comment row: is block, opener length, four bytes, closer length, four bytes


def _classes() -> Bytes:
    table = np.full(256, _OTHER, np.uint8)
    table[[9, 10, 11, 12, 13, 32]] = _BLANK
    table[48:58] = _DIGIT
    for byte in b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_$":
        table[byte] = _WORD
    table[128:] = _WORD
    return table


def _tables() -> tuple[Bytes, Bytes, Bytes]:
    quotes = np.zeros((len(FAMILIES), 256), np.uint8)
    flags = np.zeros((len(FAMILIES), 3), np.uint8)
    comments = np.zeros((len(FAMILIES), 4, _SLOT), np.uint8)
    for number, family in enumerate(FAMILIES):
        for kind, chars in (
            (_LINE, family.line_quotes),
            (_BLOCK, family.block_quotes),
            (_CHAR, family.char_quotes),
        ):
            for byte in chars:
                quotes[number, byte] = kind
        flags[number] = (family.triple, family.escapes, family.block_escapes)
        rows = [(opener, b"") for opener in family.line_comments] + list(family.block_comments)
        rows.sort(key=lambda row: -len(row[0]))
        for slot, (opener, closer) in enumerate(rows):
            row = comments[number, slot]
            row[0], row[1], row[6] = bool(closer), len(opener), len(closer)
            row[2 : 2 + len(opener)] = list(opener)
            row[7 : 7 + len(closer)] = list(closer)
    return quotes, flags, comments


def _operators() -> tuple[npt.NDArray[np.bool_], Ints]:
    pairs = np.zeros(65536, np.bool_)
    for operator in OPERATORS_2:
        pairs[operator[0] << 8 | operator[1]] = True
    triples = [o[0] << 16 | o[1] << 8 | o[2] for o in OPERATORS_3]
    return pairs, np.array(triples, np.int32)


def _crc_table() -> npt.NDArray[np.uint32]:
    table = np.zeros(256, np.uint32)
    for byte in range(256):
        value = byte
        for _ in range(8):
            value = value >> 1 ^ (0xEDB88320 if value & 1 else 0)
        table[byte] = value
    return table


_CLASSES, (_QUOTES, _FLAGS, _COMMENTS) = _classes(), _tables()
_PAIRS, _TRIPLES = _operators()
_CRC = _crc_table()


@numba.njit(cache=True, nogil=True)
def _comment_end(data: Any, at: int, end: int, rows: Any) -> int:
    """Where the comment that starts at `at` ends, or -1 when none starts there."""
    for slot in range(rows.shape[0]):
        length = int(rows[slot, 1])
        if length == 0:
            break
        if at + length > end:
            continue
        same = True
        for k in range(length):
            if data[at + k] != rows[slot, 2 + k]:
                same = False
                break
        if not same:
            continue
        p = at + length
        if rows[slot, 0] == 0:
            while p < end and data[p] != 10:
                p += 1
            return p
        closing = int(rows[slot, 6])
        while p < end:
            if data[p] == rows[slot, 7] and p + closing <= end:
                same = True
                for k in range(1, closing):
                    if data[p + k] != rows[slot, 7 + k]:
                        same = False
                        break
                if same:
                    return p + closing
            p += 1
        return end
    return -1


@numba.njit(cache=True, nogil=True)
def _string_end(data: Any, at: int, end: int, kind: int, flags: Any) -> int:
    """Where the string that starts at `at` ends; `at + 1` when its quote opens no string."""
    quote = data[at]
    if kind == 3:
        p = at + 1
        if p >= end or data[p] == quote or data[p] == 10:
            return at + 1
        if data[p] == 92:
            p += 1
            if p >= end or data[p] == 10:
                return at + 1
            p += 1
            k = 0
            while k < 10 and p < end and data[p] != quote and data[p] != 10:
                p += 1
                k += 1
        elif data[p] >= 128:
            k = 0
            while k < 4 and p < end and data[p] >= 128:
                p += 1
                k += 1
        else:
            p += 1
        if p < end and data[p] == quote:
            return p + 1
        return at + 1
    if kind == 1 and flags[0] and at + 2 < end and data[at + 1] == quote and data[at + 2] == quote:
        p = at + 3
        while p < end:
            if data[p] == 92:
                p += 2
            elif data[p] == quote and p + 2 < end and data[p + 1] == quote and data[p + 2] == quote:
                return p + 3
            else:
                p += 1
        return min(p, end)
    escapes = flags[1] if kind == 1 else flags[2]
    p = at + 1
    while p < end:
        byte = data[p]
        if byte == quote:
            return p + 1
        if byte == 92 and escapes:
            p += 2
        elif byte == 10 and kind == 1:
            return p
        else:
            p += 1
    return min(p, end)


@numba.njit(cache=True, nogil=True)
def _token_end(
    data: Any, at: int, end: int, classes: Any, quotes: Any, flags: Any, pairs: Any, triples: Any
) -> int:
    """Where the token that starts at `at` ends; neither blank nor comment starts there."""
    byte = data[at]
    kind = classes[byte]
    p = at + 1
    if kind == 2:
        while p < end and (classes[data[p]] == 2 or classes[data[p]] == 1):
            p += 1
        return p
    if kind == 1:
        while p < end:
            byte = data[p]
            if (
                (byte == 101 or byte == 69 or byte == 112 or byte == 80)
                and p + 2 < end
                and (data[p + 1] == 43 or data[p + 1] == 45)
                and classes[data[p + 2]] == 1
            ):
                p += 2
            elif (
                classes[byte] == 1
                or classes[byte] == 2
                or (byte == 46 and p + 1 < end and classes[data[p + 1]] == 1)
            ):
                p += 1
            else:
                break
        return p
    if quotes[byte]:
        p = _string_end(data, at, end, quotes[byte], flags)
        if p > at + 1 or quotes[byte] != 3:
            return p
    if p < end:
        pair = int(byte) << 8 | int(data[p])
        if p + 1 < end:
            triple = pair << 8 | int(data[p + 1])
            for k in range(triples.shape[0]):
                if triples[k] == triple:
                    return at + 3
        if pairs[pair]:
            return at + 2
    return at + 1


@numba.njit(cache=True, nogil=True)
def _lex_all(
    data: Any,
    bounds: Any,
    families: Any,
    keep_comments: bool,
    keep_blanks: bool,
    classes: Any,
    all_quotes: Any,
    all_flags: Any,
    all_comments: Any,
    pairs: Any,
    triples: Any,
    crc_table: Any,
) -> Any:
    capacity = data.shape[0] // 3 + 1024
    tokens = np.empty(capacity, np.int32)
    starts = np.empty(capacity, np.int32)
    firsts = np.zeros(families.shape[0] + 1, np.int64)
    slots = 1 << 12
    table = np.zeros(slots, np.int32)
    word_capacity = slots
    word_at = np.empty(word_capacity, np.int64)
    word_size = np.empty(word_capacity, np.int32)
    word_hash = np.empty(word_capacity, np.uint32)
    words = 0
    count = 0
    for document in range(families.shape[0]):
        firsts[document] = count
        base, end = bounds[document], bounds[document + 1]
        family = families[document]
        quotes, flags, comments = all_quotes[family], all_flags[family], all_comments[family]
        at = base
        while at < end:
            if classes[data[at]] == 0:
                stop = at + 1
                while stop < end and classes[data[stop]] == 0:
                    stop += 1
                if not keep_blanks:
                    at = stop
                    continue
            else:
                stop = -1
                if comments[0, 1] and classes[data[at]] == 3:
                    stop = _comment_end(data, at, end, comments)
                if stop >= 0:
                    if not keep_comments:
                        at = stop
                        continue
                else:
                    stop = _token_end(data, at, end, classes, quotes, flags, pairs, triples)
            value = np.uint32(0xFFFFFFFF)
            for k in range(at, stop):
                value = crc_table[(value ^ data[k]) & np.uint32(255)] ^ (value >> np.uint32(8))
            value ^= np.uint32(0xFFFFFFFF)
            slot = int(value) & (slots - 1)
            size = stop - at
            number = 0
            while True:
                number = table[slot]
                if number == 0:
                    break
                if word_hash[number - 1] == value and word_size[number - 1] == size:
                    other = word_at[number - 1]
                    same = True
                    for k in range(size):
                        if data[other + k] != data[at + k]:
                            same = False
                            break
                    if same:
                        break
                slot = (slot + 1) & (slots - 1)
            if number == 0:
                if words + 1 > word_capacity:
                    grown_at = np.empty(word_capacity * 2, np.int64)
                    grown_size = np.empty(word_capacity * 2, np.int32)
                    grown_hash = np.empty(word_capacity * 2, np.uint32)
                    grown_at[:words] = word_at[:words]
                    grown_size[:words] = word_size[:words]
                    grown_hash[:words] = word_hash[:words]
                    word_at, word_size, word_hash = grown_at, grown_size, grown_hash
                    word_capacity *= 2
                word_at[words] = at
                word_size[words] = size
                word_hash[words] = value
                words += 1
                number = words
                table[slot] = number
                if words * 2 > slots:
                    slots *= 2
                    table = np.zeros(slots, np.int32)
                    for k in range(words):
                        slot = int(word_hash[k]) & (slots - 1)
                        while table[slot]:
                            slot = (slot + 1) & (slots - 1)
                        table[slot] = k + 1
            if count + 2 > capacity:
                grown_tokens = np.empty(capacity * 2, np.int32)
                grown_starts = np.empty(capacity * 2, np.int32)
                grown_tokens[:count] = tokens[:count]
                grown_starts[:count] = starts[:count]
                tokens, starts = grown_tokens, grown_starts
                capacity *= 2
            tokens[count] = number
            starts[count] = at - base
            count += 1
            at = stop
        if count + 2 > capacity:
            grown_tokens = np.empty(capacity * 2, np.int32)
            grown_starts = np.empty(capacity * 2, np.int32)
            grown_tokens[:count] = tokens[:count]
            grown_starts[:count] = starts[:count]
            tokens, starts = grown_tokens, grown_starts
            capacity *= 2
        tokens[count] = 0
        starts[count] = end - base
        count += 1
    firsts[families.shape[0]] = count
    return tokens[:count], starts[:count], firsts, word_at[:words], word_size[:words]


def lex_all(
    data: Bytes, bounds: Longs, families: Bytes, reading: Reading
) -> tuple[Ints, Ints, Longs, Longs, Ints]:
    """Lex and intern every text of `data`.

    Gives the token stream with a separator after each text, where each token starts in its text,
    where each text starts in the stream, and for each word its first place and its size in `data`.
    """
    return _lex_all(
        data,
        bounds,
        families,
        reading.comments,
        reading.whitespace,
        _CLASSES,
        _QUOTES,
        _FLAGS,
        _COMMENTS,
        _PAIRS,
        _TRIPLES,
        _CRC,
    )
