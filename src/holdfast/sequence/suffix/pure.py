"""The kernels in plain Python: used for small streams, and the reference for the faster ones."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from itertools import pairwise

from holdfast.sequence.suffix import SEPARATOR


def suffix_array(tokens: Sequence[int]) -> array[int]:
    """Positions of all suffixes in order, by prefix doubling.

    Suffixes are compared up to a separator; the one that reaches it earlier in the stream is less.
    """
    count = len(tokens)
    tokens = [at - count if token == SEPARATOR else token for at, token in enumerate(tokens)]
    order = sorted(range(count), key=tokens.__getitem__)
    rank = [0] * count
    for before, after in pairwise(order):
        rank[after] = rank[before] + (tokens[after] != tokens[before])
    width = 1
    while order and rank[order[-1]] < count - 1:
        keys = [
            rank[at] * (count + 1) + (rank[at + width] + 1 if at + width < count else 0)
            for at in range(count)
        ]
        order.sort(key=keys.__getitem__)
        fresh = [0] * count
        for before, after in pairwise(order):
            fresh[after] = fresh[before] + (keys[after] != keys[before])
        rank = fresh
        width *= 2
    return array("i", order)


def inverse(suffixes: Sequence[int]) -> array[int]:
    """The rank of each position."""
    ranks = array("i", bytes(4 * len(suffixes)))
    for rank, position in enumerate(suffixes):
        ranks[position] = rank
    return ranks


def common_prefixes(
    tokens: Sequence[int], suffixes: Sequence[int], ranks: Sequence[int]
) -> array[int]:
    """How many tokens each suffix shares with the one before it in order, up to a separator."""
    shared = array("i", bytes(4 * len(tokens)))
    fill_common_prefixes(tokens, suffixes, ranks, shared)
    return shared


def fill_common_prefixes(
    tokens: Sequence[int], suffixes: Sequence[int], ranks: Sequence[int], shared: array[int]
) -> None:
    """The loop of `common_prefixes`, which numba also compiles."""
    count = len(tokens)
    length = 0
    for position in range(count):
        rank = ranks[position]
        if rank == 0:
            length = 0
            continue
        other = suffixes[rank - 1]
        stop = count - max(position, other)
        while (
            length < stop
            and tokens[position + length] == tokens[other + length]
            and tokens[position + length] != SEPARATOR
        ):
            length += 1
        shared[rank] = length
        if length:
            length -= 1


def left_changes(tokens: Sequence[int], suffixes: Sequence[int]) -> bytearray:
    """A bit per rank: whether its left neighbour differs from that of the rank before.

    The start of a document counts as unique, so its rank is always marked.
    """
    bits = bytearray((len(suffixes) + 7) // 8)
    fill_left_changes(tokens, suffixes, bits)
    return bits


def fill_left_changes(tokens: Sequence[int], suffixes: Sequence[int], bits: bytearray) -> None:
    """The loop of `left_changes`, which numba also compiles."""
    before = SEPARATOR
    for rank in range(len(suffixes)):
        position = suffixes[rank]
        neighbour = tokens[position - 1] if position else SEPARATOR
        if neighbour == SEPARATOR or neighbour != before:
            bits[rank >> 3] |= 1 << (rank & 7)
        before = neighbour


def maximal_repeats(
    shared: Sequence[int], changes: Sequence[int], minimum: int
) -> Iterator[tuple[int, int, int]]:
    """Every maximal repeat of at least `minimum` tokens as (length, first rank, last rank + 1).

    It occurs twice or more, and neither all left nor all right neighbours are the same token.
    The order is (last rank, descending length).
    """
    count = len(shared)
    last_change = array("i", bytes(4 * (count + 1)))
    latest = -1
    for rank in range(count):
        if changes[rank >> 3] >> (rank & 7) & 1:
            latest = rank
        last_change[rank] = latest
    open_lengths: list[int] = []
    open_firsts: list[int] = []
    for rank in range(1, count + 1):
        length = shared[rank] if rank < count else 0
        first = rank - 1
        while open_lengths and open_lengths[-1] > length:
            depth, first = open_lengths.pop(), open_firsts.pop()
            # A change strictly inside the interval: at least two different left neighbours.
            if last_change[rank - 1] > first:
                yield depth, first, rank
        if length >= minimum and (not open_lengths or open_lengths[-1] < length):
            open_lengths.append(length)
            open_firsts.append(first)
