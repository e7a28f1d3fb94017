"""The kernels with divsufsort for the order and numpy for the rest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pydivsufsort

from holdfast.sequence.suffix import SEPARATOR

Ints = npt.NDArray[np.int32]

PIECE = 1 << 16
"""How many numbers of an array are converted at once."""


def suffix_array(tokens: Ints) -> Ints:
    """Positions of all suffixes in order."""
    if len(tokens) < 2:
        return np.arange(len(tokens), dtype=np.int32)
    return np.asarray(pydivsufsort.divsufsort(np.ascontiguousarray(tokens, np.int32)), np.int32)


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
    shared = np.zeros(len(tokens), np.int32)
    if len(tokens) > 1:
        shared[1:] = pydivsufsort.kasai(np.ascontiguousarray(tokens), suffixes)[:-1]
    return np.minimum(shared, to_separator(tokens)[suffixes])


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
