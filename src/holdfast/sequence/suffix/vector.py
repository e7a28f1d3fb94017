"""The kernels in numpy: suffixes by prefix doubling, shared prefixes by few comparisons.

`suffix_array` sorts suffixes by their first tokens, several packed into one number. Then it doubles
that width, each time only for suffixes that still share a place. `common_prefixes` compares only
where the left neighbours of two suffixes differ: where they agree, the suffixes share one token
less than the two that begin one position before. What is left to compare adds up to O(n log n).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from holdfast.sequence.suffix import SEPARATOR

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]

PIECE = 1 << 16
"""How many numbers of an array are converted at once."""

PACKED_STEPS = 16
"""How many packed numbers are compared for all pairs at once; longer prefixes go one by one."""


def suffix_array(tokens: Ints) -> Ints:
    """Positions of all suffixes in order."""
    count = len(tokens)
    if count < 2:
        return np.arange(count, dtype=np.int32)
    keys, width, _ = _packed(_numbers_of(tokens))
    order = np.argsort(keys[:count])
    ranks = np.zeros(count + 1, np.int64)  # The first place of the group, from 1; 0 is the end.
    slots, positions, keys = np.arange(count), order, keys[order]
    while True:
        starts = np.ones(len(slots) + 1, np.bool_)
        np.not_equal(keys[1:], keys[:-1], out=starts[1:-1])
        ranks[positions] = np.maximum.accumulate(np.where(starts[:-1], slots, 0)) + 1
        slots = slots[~(starts[:-1] & starts[1:])]  # Groups of more than one suffix.
        if not len(slots):
            return order.astype(np.int32)
        positions = order[slots]
        keys = (ranks[positions] << 32) | ranks[np.minimum(positions + width, count)]
        by_key = np.argsort(keys, kind="stable")  # Groups are in order already.
        keys, positions = keys[by_key], positions[by_key]
        order[slots] = positions
        width *= 2


def _numbers_of(tokens: Ints) -> Longs:
    """The tokens in an order in which no two separators are equal; a 0 follows the last one."""
    count = len(tokens)
    separators = np.flatnonzero(tokens == SEPARATOR)
    numbers = np.zeros(count + 1, np.int64)
    np.add(tokens, len(separators), out=numbers[:count], dtype=np.int64)
    numbers[separators] = np.arange(1, len(separators) + 1)
    return numbers


def _packed(numbers: Longs) -> tuple[Longs, int, int]:
    """The first tokens of each suffix as one number, how many they are, and the bits of each."""
    bits = int(numbers.max()).bit_length()
    width = min(4, len(numbers) - 1, 63 // bits)
    keys = numbers.copy()
    for step in range(1, width):
        keys <<= bits
        keys[:-step] |= numbers[step:]
    return keys, width, bits


def inverse(suffixes: Ints) -> Ints:
    """The rank of each position."""
    ranks = np.empty(len(suffixes), np.int32)
    ranks[suffixes] = np.arange(len(suffixes), dtype=np.int32)
    return ranks


def common_prefixes(tokens: Ints, suffixes: Ints, ranks: Ints) -> Ints:
    """How many tokens each suffix shares with the one before it in order, up to a separator."""
    count = len(tokens)
    if count < 2:
        return np.zeros(count, np.int32)
    numbers = _numbers_of(tokens)
    partners = np.empty(count, np.int64)
    partners[suffixes[1:]] = suffixes[:-1]
    least = int(suffixes[0])
    partners[least] = least
    # numbers[-1] is the 0 after the last token, which stands here for the one before the first.
    compared = np.flatnonzero(numbers[partners - 1] != np.roll(numbers, 1)[:-1])
    ends = np.zeros(count, np.int64)
    ends[compared] = compared + _agreeing(numbers, partners[compared], compared)
    # The least suffix has no partner. No run of shared tokens reaches beyond it.
    ends[least] = least
    return (np.maximum.accumulate(ends) - np.arange(count)).astype(np.int32)[suffixes]


def _agreeing(numbers: Longs, left: Longs, right: Longs) -> Longs:
    """How many tokens agree from each position on the left and its partner on the right."""
    keys, width, bits = _packed(numbers)
    lengths = np.zeros(len(left), np.int64)
    pending = np.arange(len(left))
    for at in range(0, width * PACKED_STEPS, width):
        different = keys[left[pending] + at] ^ keys[right[pending] + at]
        agreeing = np.full(len(pending), at)
        for packed in range(1, width):
            agreeing += different < (1 << (packed * bits))
        lengths[pending] = agreeing
        pending = pending[different == 0]
    text = numbers.astype(np.int32).tobytes()
    for pair in pending.tolist():
        lengths[pair] = _agreeing_from(text, int(left[pair]), int(right[pair]))
    return lengths


def _agreeing_from(text: bytes, left: int, right: int) -> int:
    """The same for one pair: by steps that double, and after a difference halve again."""
    most = len(text) // 4 - max(left, right)
    length, step = 0, PACKED_STEPS
    while step and length < most:
        end = min(length + step, most)
        same = text[4 * (left + length) : 4 * (left + end)]
        if same == text[4 * (right + length) : 4 * (right + end)]:
            length, step = end, step * 2
        else:
            most, step = end - 1, (end - length) // 2
    return length


def left_changes(tokens: Ints, suffixes: Ints) -> npt.NDArray[np.uint8]:
    """A bit per rank: whether its left neighbour differs from that of the rank before."""
    neighbours = np.where(suffixes > 0, tokens[suffixes - 1], SEPARATOR)
    marks = np.ones(len(suffixes), np.bool_)
    marks[1:] = neighbours[1:] != neighbours[:-1]
    marks |= neighbours == SEPARATOR
    return np.packbits(marks, bitorder="little")


def maximal_repeats(
    shared: Ints, changes: npt.NDArray[np.uint8], minimum: int
) -> Iterator[tuple[int, int, int]]:
    """Every maximal repeat as in `pure.maximal_repeats`, visiting only runs of long prefixes."""
    count = len(shared)
    marks = np.unpackbits(changes, count=count, bitorder="little").astype(np.bool_)
    ranks = np.arange(count, dtype=np.int32)
    latest: Any = np.maximum.accumulate(np.where(marks, ranks, np.int32(-1)))
    last_change = memoryview(latest)  # Quick to index, and not a list of a million numbers.
    candidates = np.flatnonzero(shared >= minimum)
    open_lengths: list[int] = []
    open_firsts: list[int] = []
    previous = -2
    for rank, length in zip(_numbers(candidates), _numbers(shared[candidates]), strict=True):
        if rank != previous + 1:
            yield from _close(open_lengths, open_firsts, previous + 1, last_change)
        first = rank - 1
        while open_lengths and open_lengths[-1] > length:
            depth, first = open_lengths.pop(), open_firsts.pop()
            if last_change[rank - 1] > first:
                yield depth, first, rank
        if not open_lengths or open_lengths[-1] < length:
            open_lengths.append(length)
            open_firsts.append(first)
        previous = rank
    yield from _close(open_lengths, open_firsts, previous + 1, last_change)


def _numbers(array: npt.NDArray[Any]) -> Iterator[int]:
    """The numbers of an array, in pieces: one long `tolist` would hold the interpreter's lock."""
    for at in range(0, len(array), PIECE):
        yield from array[at : at + PIECE].tolist()


def _close(
    lengths: list[int], firsts: list[int], end: int, last_change: Sequence[int]
) -> Iterator[tuple[int, int, int]]:
    while lengths:
        depth, first = lengths.pop(), firsts.pop()
        if last_change[end - 1] > first:
            yield depth, first, end
