"""The kernels with numpy: prefix doubling, and everything else as whole-array steps."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec

import numpy as np
import numpy.typing as npt

from holdfast.sequence.suffix import SEPARATOR, pure

Ints = npt.NDArray[np.int32]


def _ranked(tokens: Ints, keep: list[Ints] | None = None) -> Ints:
    """Suffixes in order; `keep` collects the rank of every 1, 2, 4, … tokens on the way."""
    count = len(tokens)
    _, first = np.unique(tokens, return_inverse=True)
    rank = first.astype(np.int32)
    order = np.argsort(rank, kind="stable").astype(np.int32)
    width = 1
    while True:
        if keep is not None:
            keep.append(rank)
        if count == 0 or int(rank[order[-1]]) == count - 1:
            return order
        following = np.zeros(count, np.int64)
        following[: max(0, count - width)] = rank[width:].astype(np.int64) + 1
        keys = rank.astype(np.int64) * (count + 1) + following
        order = np.argsort(keys, kind="stable").astype(np.int32)
        ordered = keys[order]
        steps = np.zeros(count, np.int32)
        np.cumsum(ordered[1:] != ordered[:-1], out=steps[1:])
        rank = np.empty(count, np.int32)
        rank[order] = steps
        width *= 2


def doubled(tokens: Ints) -> Ints:
    """Positions of all suffixes in order, by prefix doubling with numpy alone."""
    return _ranked(np.asarray(tokens, np.int32))


def suffix_array(tokens: Ints) -> Ints:
    """Positions of all suffixes in order: from divsufsort where it is installed."""
    if len(tokens) > 1 and find_spec("pydivsufsort") is not None:
        import pydivsufsort

        return np.asarray(pydivsufsort.divsufsort(np.ascontiguousarray(tokens)), np.int32)
    return doubled(tokens)


def inverse(suffixes: Ints) -> Ints:
    """The rank of each position."""
    ranks = np.empty(len(suffixes), np.int32)
    ranks[suffixes] = np.arange(len(suffixes), dtype=np.int32)
    return ranks


def to_separator(tokens: Ints) -> Ints:
    """How many tokens lie between each position and the next separator."""
    ends = np.flatnonzero(tokens == SEPARATOR)
    positions = np.arange(len(tokens))
    following = np.searchsorted(ends, positions)
    stops = np.append(ends, len(tokens))[following]
    return (stops - positions).astype(np.int32)


def common_prefixes(tokens: Ints, suffixes: Ints, ranks: Ints) -> Ints:
    """How many tokens each suffix shares with the one before it in order, up to a separator."""
    if len(tokens) > 1 and find_spec("pydivsufsort") is not None:
        import pydivsufsort

        shared = np.zeros(len(tokens), np.int32)
        shared[1:] = pydivsufsort.kasai(np.ascontiguousarray(tokens), suffixes)[:-1]
        return np.minimum(shared, to_separator(tokens)[suffixes])
    return doubled_prefixes(tokens, suffixes)


def doubled_prefixes(tokens: Ints, suffixes: Ints) -> Ints:
    """`common_prefixes` with numpy alone.

    Two runs of 2^k tokens are equal when their ranks at that width are, so the ranks that
    sorting goes through are compared from wide to narrow.
    """
    count = len(tokens)
    shared = np.zeros(count, np.int32)
    if count < 2:
        return shared
    levels: list[Ints] = []
    _ranked(np.asarray(tokens, np.int32), levels)
    here, there = suffixes[1:].astype(np.int64), suffixes[:-1].astype(np.int64)
    length = np.zeros(count - 1, np.int64)
    for level in range(len(levels) - 1, -1, -1):
        width = 1 << level
        padded = np.append(levels[level], np.int32(-1))
        one, two = np.minimum(here + length, count), np.minimum(there + length, count)
        # A run that would pass the end is not a run of this width.
        whole = (one + width <= count) & (two + width <= count)
        length += width * (whole & (padded[one] == padded[two]))
    shared[1:] = np.minimum(length, to_separator(tokens)[here])
    return shared


def left_changes(tokens: Ints, suffixes: Ints) -> npt.NDArray[np.uint8]:
    """A bit per rank: whether its left neighbour differs from the rank before's."""
    neighbours = np.where(suffixes > 0, tokens[suffixes - 1], SEPARATOR)
    marks = np.ones(len(suffixes), np.bool_)
    marks[1:] = neighbours[1:] != neighbours[:-1]
    marks |= neighbours == SEPARATOR
    return np.packbits(marks, bitorder="little")


def maximal_repeats(
    shared: Ints, changes: npt.NDArray[np.uint8], minimum: int
) -> Iterator[tuple[int, int, int]]:
    """Every maximal repeat, as `pure.maximal_repeats` says, walking only runs of long prefixes."""
    count = len(shared)
    marks = np.unpackbits(changes, count=count, bitorder="little").astype(np.bool_)
    last_change = np.maximum.accumulate(np.where(marks, np.arange(count), -1)).tolist()
    candidates = np.flatnonzero(shared >= minimum)
    open_lengths: list[int] = []
    open_firsts: list[int] = []
    previous = -2
    for rank, length in zip(candidates.tolist(), shared[candidates].tolist(), strict=True):
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


def _close(
    lengths: list[int], firsts: list[int], end: int, last_change: list[int]
) -> Iterator[tuple[int, int, int]]:
    while lengths:
        depth, first = lengths.pop(), firsts.pop()
        if last_change[end - 1] > first:
            yield depth, first, end


def longest_previous(suffixes: Ints, ranks: Ints, shared: Ints) -> tuple[Ints, Ints]:
    """For each position the longest run from it that also begins earlier, and where.

    Each step needs the one before it, so this is the plain loop over plain lists.
    """
    lengths, sources = pure.longest_previous(suffixes.tolist(), ranks.tolist(), shared.tolist())
    return np.array(lengths, np.int32), np.array(sources, np.int32)
