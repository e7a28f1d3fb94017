"""The lexer and the interning of its tokens as one compiled loop over many texts.

This module imports numba, which takes about a second, so it is used for large trees only; the
machine code is cached on disk. The loop does what the regular expression in `lexer` does; a test
compares the two.
"""
# mypy: disable-error-code="no-untyped-call,untyped-decorator,no-any-return"

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from holdfast.sequence.tokens.families import FAMILIES, OPERATORS_2, OPERATORS_3
from holdfast.sequence.tokens.lexer import LexerOptions

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]

# What a byte can begin, as bits.
_BLANK, _DIGIT, _WORD, _QUOTE, _COMMENT = 1, 2, 4, 8, 16
_NO_QUOTE, _LINE, _BLOCK, _CHAR = 0, 1, 2, 3
_SLOT = 12  # bytes per comment row: is block, opener length, four bytes, closer length, four bytes


def _classes() -> Bytes:
    table = np.zeros((len(FAMILIES), 256), np.uint8)
    table[:, [9, 10, 11, 12, 13, 32]] = _BLANK
    table[:, 48:58] = _DIGIT
    for byte in b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_$":
        table[:, byte] = _WORD
    table[:, 128:] = _WORD
    for number, family in enumerate(FAMILIES):
        for byte in family.line_quotes + family.block_quotes + family.char_quotes:
            table[number, byte] |= _QUOTE
        for opener in (*family.line_comments, *(pair[0] for pair in family.block_comments)):
            table[number, opener[0]] |= _COMMENT
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


_CLASSES, (_QUOTES, _FLAGS, _COMMENTS) = _classes(), _tables()
_PAIRS, _TRIPLES = _operators()


@numba.njit(cache=True, nogil=True)
def _comment_end(data: Any, at: int, end: int, rows: Any) -> int:
    """Where the comment that starts at `at` ends; -1 if none starts there."""
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
    """Where the string that starts at `at` ends; `at + 1` if the quote does not open one."""
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
    """Where the token that starts at `at` ends; it is not a blank or a comment."""
    byte = data[at]
    kind = classes[byte]
    p = at + 1
    if kind & 4:
        while p < end and classes[data[p]] & 6:
            p += 1
        return p
    if kind & 2:
        while p < end:
            byte = data[p]
            if (
                (byte == 101 or byte == 69 or byte == 112 or byte == 80)
                and p + 2 < end
                and (data[p + 1] == 43 or data[p + 1] == 45)
                and classes[data[p + 2]] & 2
            ):
                p += 2
            elif classes[byte] & 6 or (byte == 46 and p + 1 < end and classes[data[p + 1]] & 2):
                p += 1
            else:
                break
        return p
    if kind & 8:
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
def _cut(
    data: Any,
    bounds: Any,
    families: Any,
    keep_comments: bool,
    keep_blanks: bool,
    all_classes: Any,
    all_quotes: Any,
    all_flags: Any,
    all_comments: Any,
    pairs: Any,
    triples: Any,
    starts: Any,
    sizes: Any,
    firsts: Any,
) -> int:
    """Where every token begins in its text and how long it is; a separator has size 0."""
    count = 0
    for document in range(families.shape[0]):
        firsts[document] = count
        base, end = bounds[document], bounds[document + 1]
        family = families[document]
        classes, quotes = all_classes[family], all_quotes[family]
        flags, comments = all_flags[family], all_comments[family]
        at = base
        while at < end:
            kind = classes[data[at]]
            if kind & 4:
                # Most tokens are words; scan them here to save a call.
                stop = at + 1
                while stop < end and classes[data[stop]] & 6:
                    stop += 1
            elif kind & 1:
                stop = at + 1
                if not keep_blanks:
                    at = stop
                    continue
                while stop < end and classes[data[stop]] & 1:
                    stop += 1
            elif kind == 0 and at + 1 < end and classes[data[at + 1]] & 7:
                stop = at + 1  # an operator of one character
            else:
                stop = -1
                if kind & 16:
                    stop = _comment_end(data, at, end, comments)
                if stop >= 0:
                    if not keep_comments:
                        at = stop
                        continue
                else:
                    stop = _token_end(data, at, end, classes, quotes, flags, pairs, triples)
            starts[count] = at - base
            sizes[count] = stop - at
            count += 1
            at = stop
        starts[count] = end - base
        sizes[count] = 0
        count += 1
    firsts[families.shape[0]] = count
    return count


@numba.njit(cache=True, nogil=True)
def _intern(
    data: Any,
    bounds: Any,
    starts: Any,
    sizes: Any,
    document: int,
    first: int,
    tokens: Any,
    table: Any,
    single: Any,
    word_at: Any,
    word_size: Any,
    words: int,
) -> Any:
    """Give ids to the tokens from `first` on, which is in `document`.

    Stops when the table is half full, and returns where. A slot holds a key and the number of a
    word. For words of up to seven bytes the key is the word itself with its length, so equal keys
    mean equal words; for longer ones it is a hash, and the words are compared.
    """
    mask = table.shape[0] - 1
    base = bounds[document]
    for token in range(first, sizes.shape[0]):
        size = sizes[token]
        if size == 0:
            tokens[token] = 0
            document += 1
            base = bounds[document]
            continue
        at = base + starts[token]
        if size == 1 and single[data[at]]:
            tokens[token] = single[data[at]]  # most operators need no lookup
            continue
        key = np.uint64(size)
        if size < 8:
            for k in range(at, at + size):
                key = key << np.uint64(8) | np.uint64(data[k])
        else:
            for k in range(at, at + size):
                key = (key ^ np.uint64(data[k])) * np.uint64(0x100000001B3)
            key |= np.uint64(1) << np.uint64(63)
        slot = np.int64((key * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(24)) & mask
        number = np.int64(table[slot, 1])
        while number:
            if table[slot, 0] == key:
                if size < 8:
                    break
                if word_size[number - 1] == size:
                    other = word_at[number - 1]
                    k = 0
                    while k < size and data[other + k] == data[at + k]:
                        k += 1
                    if k == size:
                        break
            slot = (slot + 1) & mask
            number = np.int64(table[slot, 1])
        if number == 0:
            if words * 2 > mask:
                return document, token, words
            word_at[words] = at
            word_size[words] = size
            words += 1
            number = np.int64(words)
            table[slot, 0] = key
            table[slot, 1] = np.uint64(number)
            if size == 1:
                single[data[at]] = number
        tokens[token] = number
    return document, sizes.shape[0], words


@numba.njit(cache=True, nogil=True)
def _rehash(old: Any, table: Any) -> None:
    mask = table.shape[0] - 1
    for k in range(old.shape[0]):
        if old[k, 1]:
            key = old[k, 0]
            slot = np.int64((key * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(24)) & mask
            while table[slot, 1]:
                slot = (slot + 1) & mask
            table[slot, 0] = key
            table[slot, 1] = old[k, 1]


_ALONE = 4_000_000
"""Fewer bytes than this are lexed by one thread."""


@dataclass(slots=True)
class LexedTexts:
    """The tokens of many texts: ids into `words` from 1, a separator after each text."""

    tokens: Ints
    starts: Ints
    """Where each token begins in its text."""
    firsts: Longs
    """Where each text begins in the stream; one more for the end."""
    words: list[bytes]


def lex_all(source: bytes, bounds: Longs, families: Bytes, options: LexerOptions) -> LexedTexts:
    """Lex and intern every text of `source`, with one thread for each core.

    Each thread numbers the words of its own texts. The numbers are then merged, in the order in
    which a single thread would have seen the words.
    """
    data = np.frombuffer(source, np.uint8)
    workers = min(os.cpu_count() or 1, 8) if len(data) >= _ALONE else 1
    edges = np.searchsorted(bounds, np.linspace(0, len(data), workers + 1)).tolist()
    edges[0], edges[-1] = 0, len(families)

    def lex(low: int, high: int) -> LexedTexts:
        return _lex(source, data, bounds[low : high + 1], families[low:high], options)

    if workers == 1:
        return lex(0, len(families))
    with ThreadPoolExecutor(workers) as pool:
        parts = list(pool.map(lex, edges[:-1], edges[1:]))
    ids: dict[bytes, int] = {}
    streams, firsts, before = [], [], 0
    for part in parts:
        remap = [0, *(ids.setdefault(word, len(ids) + 1) for word in part.words)]
        streams.append(np.array(remap, np.int32)[part.tokens])
        firsts.append(part.firsts[:-1] + before)
        before += len(part.tokens)
    return LexedTexts(
        np.concatenate(streams),
        np.concatenate([part.starts for part in parts]),
        np.concatenate([*firsts, np.array([before])]),
        list(ids),
    )


def _lex(
    source: bytes, data: Bytes, bounds: Longs, families: Bytes, options: LexerOptions
) -> LexedTexts:
    # Reserved, but mostly never touched: few texts have a token per byte.
    most = int(bounds[-1] - bounds[0]) + len(families)
    starts, sizes = np.empty(most, np.int32), np.empty(most, np.int32)
    firsts = np.zeros(len(families) + 1, np.int64)
    count = _cut(
        data,
        bounds,
        families,
        options.comments,
        options.whitespace,
        _CLASSES,
        _QUOTES,
        _FLAGS,
        _COMMENTS,
        _PAIRS,
        _TRIPLES,
        starts,
        sizes,
        firsts,
    )
    sizes = sizes[:count]
    tokens = np.empty(count, np.int32)
    slots = 1 << 16
    table, single = np.zeros((slots, 2), np.uint64), np.zeros(256, np.int32)
    word_at, word_size = np.empty(slots, np.int64), np.empty(slots, np.int32)
    document = done = words = 0
    while done < count:
        document, done, words = _intern(
            data,
            bounds,
            starts,
            sizes,
            document,
            done,
            tokens,
            table,
            single,
            word_at,
            word_size,
            words,
        )
        if done < count:
            old = table
            slots *= 4
            table = np.zeros((slots, 2), np.uint64)
            _rehash(old, table)
            word_at = np.concatenate([word_at[:words], np.empty(slots - words, np.int64)])
            word_size = np.concatenate([word_size[:words], np.empty(slots - words, np.int32)])
    spans = zip(word_at[:words].tolist(), word_size[:words].tolist(), strict=True)
    texts = [source[at : at + size] for at, size in spans]
    return LexedTexts(tokens, starts[:count].copy(), firsts, texts)
