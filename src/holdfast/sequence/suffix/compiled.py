"""The kernels with the order from numpy and loops compiled by numba for the rest."""
# mypy: disable-error-code="no-untyped-call,untyped-decorator,no-any-return"

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from holdfast.sequence.suffix import pure
from holdfast.sequence.suffix.vector import suffix_array as suffix_array

Ints = npt.NDArray[np.int32]

# The loops of `pure`, compiled.
_compiled: Any = numba.njit(cache=True, nogil=True)
_fill_common_prefixes = _compiled(pure.fill_common_prefixes)
_fill_left_changes = _compiled(pure.fill_left_changes)


def _fixed(array: Any) -> Any:
    """A read-only view, so that mapped and new arrays have one type and compile once."""
    view = array.view()
    view.setflags(write=False)
    return view


@numba.njit(cache=True, nogil=True)
def _inverse(suffixes: Any) -> Any:
    ranks = np.empty(suffixes.shape[0], np.int32)
    for rank in range(suffixes.shape[0]):
        ranks[suffixes[rank]] = rank
    return ranks


def inverse(suffixes: Ints) -> Ints:
    """The rank of each position."""
    return _inverse(_fixed(suffixes))


def common_prefixes(tokens: Ints, suffixes: Ints, ranks: Ints) -> Ints:
    """How many tokens each suffix shares with the one before it in order, up to a separator."""
    shared = np.zeros(len(tokens), np.int32)
    _fill_common_prefixes(_fixed(tokens), _fixed(suffixes), _fixed(ranks), shared)
    return shared


def left_changes(tokens: Ints, suffixes: Ints) -> npt.NDArray[np.uint8]:
    """A bit per rank: whether its left neighbour differs from that of the rank before."""
    bits = np.zeros((len(suffixes) + 7) // 8, np.uint8)
    _fill_left_changes(_fixed(tokens), _fixed(suffixes), bits)
    return bits


@numba.njit(cache=True, nogil=True)
def _maximal_repeats(shared: Any, changes: Any, minimum: int) -> Any:
    count = shared.shape[0]
    capacity = 1024
    repeats = np.empty((capacity, 3), np.int32)
    used = 0
    stack_capacity = 1024
    lengths = np.empty(stack_capacity, np.int32)
    firsts = np.empty(stack_capacity, np.int32)
    depth = 0
    latest = -1
    for rank in range(count + 1):
        if rank > 0:
            length = shared[rank] if rank < count else 0
            first = rank - 1
            while depth and lengths[depth - 1] > length:
                depth -= 1
                first = firsts[depth]
                if latest > first:
                    if used == capacity:
                        grown = np.empty((capacity * 2, 3), np.int32)
                        grown[:used] = repeats[:used]
                        repeats = grown
                        capacity *= 2
                    repeats[used, 0] = lengths[depth]
                    repeats[used, 1] = first
                    repeats[used, 2] = rank
                    used += 1
            if length >= minimum and (depth == 0 or lengths[depth - 1] < length):
                if depth == stack_capacity:
                    grown_lengths = np.empty(stack_capacity * 2, np.int32)
                    grown_firsts = np.empty(stack_capacity * 2, np.int32)
                    grown_lengths[:depth] = lengths[:depth]
                    grown_firsts[:depth] = firsts[:depth]
                    lengths, firsts = grown_lengths, grown_firsts
                    stack_capacity *= 2
                lengths[depth] = length
                firsts[depth] = first
                depth += 1
        if rank < count and changes[rank >> 3] >> (rank & 7) & 1:
            latest = rank
    return repeats[:used]


def repeats_table(shared: Ints, changes: npt.NDArray[np.uint8], minimum: int) -> Ints:
    """Every maximal repeat as a row (length, first rank, last rank + 1)."""
    return _maximal_repeats(_fixed(shared), _fixed(changes), max(1, minimum))


def maximal_repeats(
    shared: Ints, changes: npt.NDArray[np.uint8], minimum: int
) -> Iterator[tuple[int, int, int]]:
    """Every maximal repeat, in the form of `pure.maximal_repeats`."""
    yield from map(tuple, repeats_table(shared, changes, minimum).tolist())
