"""The part of many documents that can contain repeated blocks, as a separate stream.

A block of at least `minimum` tokens that occurs twice consists of windows of `minimum` tokens that
all occur twice. Most windows of a tree occur once. So the windows are hashed, the hashes sorted,
and only tokens in windows whose hash occurs twice are kept, in runs with a separator after each.
Suffixes are then sorted for that part alone, usually a small one.

Every repeated block is in one run, and so are its neighbours if they repeat with it, so the blocks
of the part are the blocks of the whole. Two different windows with the same hash only make the part
larger: hashes are used to rule windows out, never to prove that they are equal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from holdfast.sequence.suffix import SEPARATOR
from holdfast.sequence.suffix.stream import Document, TokenStream
from holdfast.sequence.tokens.cut import CutTexts, cut_all
from holdfast.sequence.tokens.families import family_of
from holdfast.sequence.tokens.lexer import LexerOptions

Longs = npt.NDArray[np.int64]
Keys = npt.NDArray[np.uint64]

_MIX = 0xA0761D6478BD642F
_ALL_BITS = (1 << 64) - 1
_BLOCK = 1 << 16
_TABLE_BITS = 18
_MARKED_BITS = 22
"""Repeated hashes are marked by this many of their bits."""


class RepeatingPart(NamedTuple):
    """The tokens that can be part of a repeated block."""

    stream: TokenStream
    """Only documents with such tokens, with a separator after each run of them."""
    tokens: int
    """How many tokens all documents have."""


def repeating_part(
    documents: Sequence[Document],
    options: LexerOptions,
    minimum: int,
    *,
    renamed: bool = False,
    progress: Callable[[int], None] = lambda _done: None,
) -> RepeatingPart:
    """The tokens in windows of `minimum` tokens that seem to occur more than once.

    With `renamed`, all names are treated as equal, and so are all literals. `progress` gets
    the number of documents that are done, now and then.
    """
    texts = [(document.data, family_of(document.facts.path)) for document in documents]
    parts: list[CutTexts] = []
    done = 0
    for part in cut_all(texts, options, renamed=renamed):
        parts.append(part)
        done += len(part.firsts) - 1
        progress(done)
    if not parts:
        return RepeatingPart(_stream([], [], [], [], [0], [], [0]), 0)
    before = np.cumsum([0, *(len(part.starts) for part in parts)])
    firsts = np.concatenate(
        [np.zeros(1, np.int64), *(p.firsts[1:] + b for p, b in zip(parts, before, strict=False))]
    )
    keys = np.concatenate([part.keys for part in parts])
    # A window with a separator never repeats, because each separator has its own key.
    keys[firsts[1:] - 1] = np.arange(len(documents), dtype=np.uint64) * np.uint64(_MIX)
    begins, ends = _runs(keys, firsts, minimum)
    del keys
    starts = np.concatenate([part.starts for part in parts])
    sizes = np.concatenate([part.sizes for part in parts])
    total = len(starts) - len(documents)
    return RepeatingPart(_part(documents, firsts, starts, sizes, begins, ends), total)


def _runs(keys: Keys, firsts: Longs, minimum: int) -> tuple[Longs, Longs]:
    """The runs of tokens that are in windows with a repeated hash: their begins and ends."""
    none = np.zeros(0, np.int64)
    if len(keys) <= minimum:
        return none, none
    hashes = _windows(keys, minimum)
    ordered = np.sort(hashes)
    repeated = ordered[1:][ordered[1:] == ordered[:-1]]
    del ordered
    marked = np.zeros(1 << _MARKED_BITS, np.bool_)
    marked[_slots(repeated, _MARKED_BITS)] = True
    windows = np.flatnonzero(marked[_slots(hashes, _MARKED_BITS)])
    # Drop windows that reach into the next document.
    ends = firsts[np.searchsorted(firsts, windows, side="right")] - 1
    windows = windows[windows + minimum <= ends]
    if not len(windows):
        return none, none
    apart = np.flatnonzero(windows[1:] > windows[:-1] + minimum)
    begins = windows[np.concatenate([[0], apart + 1])]
    return begins, windows[np.concatenate([apart, [len(windows) - 1]])] + minimum


def _windows(keys: Keys, minimum: int) -> Keys:
    """A hash of the `minimum` keys from each position on."""
    hashes = np.empty(len(keys) - minimum + 1, np.uint64)
    # In blocks: their arrays stay in the processor's cache, and none is as long as all keys.
    for low in range(0, len(hashes), _BLOCK):
        high = min(low + _BLOCK, len(hashes))
        block, width = keys[low : high + minimum - 1], 1
        while width < minimum:
            # Double the width, or add what is missing; then the two halves overlap. Each width has
            # its own factor, so that no two places of a window weigh the same.
            step = min(width, minimum - width)
            longer = block[:-step] * np.uint64(_MIX * (2 * width + 1) & _ALL_BITS)
            longer += block[step:]
            block, width = longer, width + step
        # The marks use the highest bits, and the last sum must reach them.
        np.multiply(block, np.uint64(_MIX), out=hashes[low:high])
    return hashes


def _part(
    documents: Sequence[Document],
    firsts: Longs,
    starts: npt.NDArray[np.int32],
    sizes: npt.NDArray[np.int32],
    begins: Longs,
    ends: Longs,
) -> TokenStream:
    """The stream of these runs of tokens."""
    if not len(begins):
        return _stream([], [], [], [], [0], [], [0])
    numbers = np.searchsorted(firsts, begins, side="right") - 1
    lengths = ends - begins + 1
    places = np.cumsum(lengths) - lengths
    chosen = np.arange(int(lengths.sum())) + np.repeat(begins - places, lengths)
    separators = places + lengths - 1
    chosen[separators] = ends - 1
    used, first_runs = np.unique(numbers, return_index=True)
    texts = [documents[number].data for number in used.tolist()]
    bases = np.cumsum([0, *map(len, texts)])
    source = b"".join(texts)
    which = np.repeat(np.searchsorted(used, numbers), lengths)
    at = starts[chosen] + bases[which]
    tokens, words = _interned(source, at, sizes[chosen], separators)
    newlines = np.flatnonzero(np.frombuffer(source, np.uint8) == 10)
    line_firsts = np.searchsorted(newlines, bases).astype(np.int64)
    line_starts = newlines + 1 - np.repeat(bases[:-1], np.diff(line_firsts))
    return _stream(
        [documents[number].facts for number in used.tolist()],
        words,
        tokens,
        starts[chosen].astype(np.int32),
        np.append(places[first_runs], len(tokens)),
        line_starts.astype(np.int32),
        line_firsts,
    )


def _interned(
    source: bytes, at: Longs, sizes: npt.NDArray[np.int32], separators: Longs
) -> tuple[npt.NDArray[np.int32], list[bytes]]:
    """The numbers of tokens and their texts; these are exact, unlike the keys."""
    padded = np.frombuffer(source + b"\0" * 8, np.uint8)
    numbers: Any = np.ndarray((len(padded) - 7,), "<u8", padded.data, strides=(1,))
    short = sizes <= 8
    short[separators] = False
    # Up to eight bytes become a number. Only the token NUL contains a zero byte, and only it is 0.
    keep = np.array([(1 << 8 * size) - 1 for size in range(9)], np.uint64)
    heads = numbers[at[short]] & keep[sizes[short]]
    ordered = np.sort(heads)
    distinct = ordered[np.append(ordered[1:] != ordered[:-1], True)] if len(heads) else heads
    words = [text or b"\0" for text in distinct.astype("<u8").view("S8").tolist()]
    tokens = np.zeros(len(at), np.int32)
    tokens[short] = _numbers(distinct, heads) + 1
    short[separators] = True
    long = np.flatnonzero(~short)
    ids: dict[bytes, int] = {}
    spans = zip(at[long].tolist(), sizes[long].tolist(), strict=True)
    base = len(words) + 1
    tokens[long] = np.fromiter(
        (ids.setdefault(source[a : a + size], len(ids) + base) for a, size in spans),
        np.int32,
        len(long),
    )
    tokens[separators] = SEPARATOR
    return tokens, [*words, *ids]


def _numbers(distinct: Keys, values: Keys) -> Longs:
    """Where each value is in the sorted array of all distinct values."""
    # A table answers for nearly all; of two values that share a slot, one is found by search.
    table = np.zeros(1 << _TABLE_BITS, np.int64)
    table[_slots(distinct * np.uint64(_MIX), _TABLE_BITS)] = np.arange(len(distinct))
    numbers: Longs = table[_slots(values * np.uint64(_MIX), _TABLE_BITS)]
    wrong = np.flatnonzero(distinct[numbers] != values)
    numbers[wrong] = np.searchsorted(distinct, values[wrong])
    return numbers


def _slots(hashes: Keys, bits: int) -> Longs:
    """The highest bits of hashes, as signed numbers: numpy converts unsigned indexes one by one."""
    return (hashes >> np.uint64(64 - bits)).view(np.int64)


def _stream(documents: Any, words: list[bytes], *arrays: Any) -> TokenStream:
    tokens, starts, firsts, line_starts, line_firsts = arrays
    return TokenStream(
        documents,
        words,
        np.asarray(tokens, np.int32),
        np.asarray(starts, np.int32),
        np.asarray(firsts, np.int64),
        np.asarray(line_starts, np.int32),
        np.asarray(line_firsts, np.int64),
    )
