"""Matching statistics of one segment: for every token of a query, how far it goes on matching.

Looking up each token on its own costs as much as its match is long, so a query that is one long
copy would take quadratic time. But a match without its first token is still a match: an occurrence
at position p leads to p + 1, whose rank is known, and the suffixes that share the rest are around
that rank. So no token of the query is compared twice with the same suffix, and each token costs one
search in suffix order.

The run of suffixes around a rank is found with minima over blocks of the shared prefixes, over
blocks of these, and so on.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary

from holdfast.sequence.corpus import TokenCorpus
from holdfast.sequence.suffix import SEPARATOR
from holdfast.sequence.suffix.query import LiveSegment
from holdfast.sequence.suffix.segment import TokenSegment

_BLOCK = 64


class RangeMinima:
    """Finds the next number below a bound, on both sides of a place."""

    def __init__(self, values: Any) -> None:
        self._levels: list[Any] = [values]
        while len(self._levels[-1]) > _BLOCK:
            below = self._levels[-1]
            starts = range(0, len(below), _BLOCK)
            self._levels.append([min(below[start : start + _BLOCK]) for start in starts])

    def last_below(self, bound: int, place: int) -> int:
        """The last place up to `place` with a number below `bound`; -1 if there is none."""
        level = 0
        while place >= 0:
            values = self._levels[level]
            first = place // _BLOCK * _BLOCK
            while place >= first and values[place] >= bound:
                place -= 1
            if place >= first:
                while level:
                    level -= 1
                    values = self._levels[level]
                    place = min(len(values), (place + 1) * _BLOCK) - 1
                    while values[place] >= bound:
                        place -= 1
                return place
            level += 1
            if level == len(self._levels):
                return -1
            place = first // _BLOCK - 1
        return -1

    def first_below(self, bound: int, place: int) -> int:
        """The first place from `place` on with a number below `bound`; the length if none is."""
        count, level = len(self._levels[0]), 0
        while place < len(self._levels[level]):
            values = self._levels[level]
            last = min(len(values), (place // _BLOCK + 1) * _BLOCK)
            while place < last and values[place] >= bound:
                place += 1
            if place < last:
                while level:
                    level -= 1
                    values = self._levels[level]
                    place *= _BLOCK
                    while values[place] >= bound:
                        place += 1
                return place
            level += 1
            if level == len(self._levels):
                return count
            place = (last + _BLOCK - 1) // _BLOCK
        return count


_MINIMA: WeakKeyDictionary[TokenSegment, RangeMinima] = WeakKeyDictionary()


def minima_of(segment: TokenSegment) -> RangeMinima:
    """The range minima of a segment's shared prefixes, computed once."""
    if segment not in _MINIMA:
        exact = len(segment.arrays["long_ranks"]) > 0
        shared = segment.shared_prefixes() if exact else segment.arrays["shared"]
        _MINIMA[segment] = RangeMinima(shared)
    return _MINIMA[segment]


def matching_statistics(corpus: TokenCorpus, query: Sequence[bytes]) -> list[int]:
    """For every token of the query, how many tokens from it on occur somewhere."""
    longest = [0] * len(query)
    for live in corpus.lives:
        token = live.segment.token
        found = statistics(live, [token(text) for text in query])
        longest = [max(pair) for pair in zip(longest, found, strict=True)]
    return longest


def statistics(live: LiveSegment, wanted: Sequence[int]) -> list[int]:
    """How many tokens from each one on occur together in a document. Unknown tokens are 0.

    The cost per token is logarithmic in the segment, however long the matches are.
    """
    segment, count = live.segment, len(wanted)
    found = [0] * count
    low = high = length = 0
    for at in range(count):
        if length == 0:
            if wanted[at] == SEPARATOR:
                continue
            low, high = segment.buckets[wanted[at]], segment.buckets[wanted[at] + 1]
            if not live.count(low, high):
                continue
            length = 1
        low, high, length = _extended(live, wanted, at, low, high, length)
        found[at] = length
        if at + length == count:
            # Every suffix of a match is a match, so the rest is known.
            found[at:] = range(length, 0, -1)
            break
        length -= 1
        if length:
            rank = segment.ranks[live.first(low, high) + 1]
            lows = minima_of(segment)
            low = max(0, lows.last_below(length, rank))
            high = lows.first_below(length, rank + 1)
    return found


def _extended(
    live: LiveSegment, wanted: Sequence[int], at: int, low: int, high: int, length: int
) -> tuple[int, int, int]:
    """The longest match from `at`, with the ranks of its occurrences."""
    tokens, suffixes = live.segment.tokens, live.segment.suffixes
    while at + length < len(wanted):
        token = wanted[at + length]
        if token == SEPARATOR:
            break
        if high - low == 1:
            if tokens[suffixes[low] + length] != token:
                break
            length += 1
            continue

        def following(position: int, length: int = length) -> int:
            return int(tokens[position + length])

        first = bisect_left(suffixes, token, low, high, key=following)
        last = bisect_left(suffixes, token + 1, first, high, key=following)
        if first == last or not live.count(first, last):
            break
        low, high, length = first, last, length + 1
    return low, high, length
