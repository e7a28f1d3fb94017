"""Parse a segment into runs that occurred earlier in it, and what is new between them."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass

from holdfast.sequence.suffix.segment import TokenSegment


@dataclass(frozen=True, slots=True)
class Reference:
    """A run of tokens that already occurred earlier."""

    position: int
    length: int
    source: int


def references(segment: TokenSegment, *, minimum: int) -> list[Reference]:
    """A greedy parse of the stream into runs that occurred earlier; the tokens between are new.

    Each reference is the longest earlier run that begins at its position.
    """
    shared = list(segment.shared_prefixes())
    lengths, sources = longest_previous(segment.suffixes, segment.ranks, shared)
    found, at = [], 0
    while at < len(lengths):
        if lengths[at] >= max(1, minimum):
            found.append(Reference(at, lengths[at], sources[at]))
            at += lengths[at]
        else:
            at += 1
    return found


def longest_previous(
    suffixes: Sequence[int], ranks: Sequence[int], shared: Sequence[int]
) -> tuple[array[int], array[int]]:
    """For each position the longest run from it that also occurs earlier, and where.

    Suffixes are removed from the last position to the first, so the remaining neighbours in rank
    order always begin earlier.
    """
    count = len(suffixes)
    lengths = array("i", bytes(4 * count))
    sources = array("i", bytes(4 * count))
    above = array("i", range(-1, count))
    below = array("i", range(1, count + 2))
    common = array("i", shared)
    common.append(0)
    for position in range(count - 1, -1, -1):
        rank = ranks[position]
        before, after = above[rank], below[rank]
        upper = common[rank] if before >= 0 else 0
        lower = common[after] if after < count else 0
        if upper >= lower:
            lengths[position] = upper
            sources[position] = suffixes[before] if before >= 0 and upper else -1
        else:
            lengths[position] = lower
            sources[position] = suffixes[after]
        if before >= 0:
            below[before] = after
        if after < count:
            above[after] = before
            common[after] = min(upper, lower)
    return lengths, sources
