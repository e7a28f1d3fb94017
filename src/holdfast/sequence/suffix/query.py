"""Query one segment: the longest prefix that occurs, how often, and what surrounds it.

This is plain Python over mapped arrays: a few dozen steps of binary search, each reading a short
run of tokens. Deleted documents are marked in suffix order, so counting is still a subtraction.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from holdfast.sequence.suffix import SEPARATOR
from holdfast.sequence.suffix.segment import TokenSegment

_FEW = 64
"""Up to this many occurrences are compared one by one, more of them by rank."""


@dataclass(slots=True)
class LiveSegment:
    """A segment with some of its documents deleted."""

    segment: TokenSegment
    deleted: set[int] = field(default_factory=set)
    _marks: bytearray | None = None

    def delete(self, number: int) -> None:
        """Mark a document as deleted; nothing is rewritten."""
        if number in self.deleted:
            return
        self.deleted.add(number)
        if self._marks is None:
            self._marks = bytearray((len(self.segment.tokens) + 7) // 8)
        first, last = self.segment.firsts[number], self.segment.firsts[number + 1]
        for rank in self.segment.ranks[first:last]:
            self._marks[rank >> 3] |= 1 << (rank & 7)

    def living(self) -> list[int]:
        """The numbers of the documents that are not deleted."""
        return [n for n in range(len(self.segment.documents)) if n not in self.deleted]

    @property
    def tokens(self) -> int:
        """How many tokens the documents have that are not deleted."""
        firsts = self.segment.firsts
        gone = sum(int(firsts[n + 1]) - int(firsts[n]) - 1 for n in self.deleted)
        return len(self.segment) - gone

    def count(self, low: int, high: int) -> int:
        """How many suffixes with a rank in [low, high) are not deleted."""
        if self._marks is None:
            return high - low
        return high - low - _ones(self._marks, low, high)

    def first(self, low: int, high: int) -> int:
        """The position of the first suffix with a rank in [low, high) that is not deleted."""
        if self._marks is None:
            return int(self.segment.suffixes[low])
        step = 64
        while True:
            assert low < high, "one of them is not deleted"
            upto = min(high, low + step)
            number = int.from_bytes(self._marks[low >> 3 : (upto + 7) >> 3], "little") >> (low & 7)
            alive = ~number & (1 << (upto - low)) - 1
            if alive:
                return int(self.segment.suffixes[low + (alive & -alive).bit_length() - 1])
            low, step = upto, 2 * step

    def positions(self, low: int, high: int) -> Iterator[int]:
        """The positions of the suffixes in [low, high) that are not deleted, in rank order."""
        suffixes = self.segment.suffixes
        if self._marks is None:
            yield from suffixes[low:high]
            return
        for rank in range(low, high):
            if not self._marks[rank >> 3] >> (rank & 7) & 1:
                yield suffixes[rank]


def _ones(bits: Any, low: int, high: int) -> int:
    """How many bits are set in [low, high)."""
    if low >= high:
        return 0
    first, last = low >> 3, (high + 7) >> 3
    number = int.from_bytes(bits[first:last], "little")
    number >>= low & 7
    return (number & (1 << (high - low)) - 1).bit_count()


@dataclass(frozen=True, slots=True)
class SuffixRange:
    """Where the longest prefix of a query occurs in one segment: ranks [low, high)."""

    length: int
    low: int
    high: int
    count: int


NOTHING = SuffixRange(0, 0, 0, 0)


def longest(live: LiveSegment, query: Sequence[int]) -> SuffixRange:
    """The longest prefix of `query` in a document that is not deleted. Unknown tokens are 0."""
    numbers = list(query)
    if SEPARATOR in numbers:
        del numbers[numbers.index(SEPARATOR) :]
    if not numbers:
        return NOTHING
    length = _longest_length(live.segment, numbers)
    run = interval(live, numbers, length)
    if run.count or length == 0:
        return run
    # All occurrences are deleted. Shorter prefixes occur at least as often, so bisect.
    good, bad = NOTHING, length
    while bad - good.length > 1:
        middle = (good.length + bad) // 2
        run = interval(live, numbers, middle)
        if run.count:
            good = run
        else:
            bad = middle
    return good


_STAGE = 12
"""How many tokens are compared first; few runs of code share more by chance."""


def _longest_length(segment: TokenSegment, numbers: list[int]) -> int:
    """How many leading tokens occur in some suffix, deleted or not."""
    tokens, suffixes = segment.tokens, segment.suffixes
    low, high = segment.buckets[numbers[0]], segment.buckets[numbers[0] + 1]
    sizes = [len(numbers)] if len(numbers) <= 2 * _STAGE else [_STAGE, len(numbers)]
    length = 1 if high > low else 0
    for size in sizes:
        start = numbers[:size]

        def key(position: int, size: int = size) -> list[int]:
            run: list[int] = tokens[position : position + size].tolist()
            return run

        at = bisect_left(suffixes, start, low, high, key=key)
        for rank in (at - 1, at):
            if low <= rank < high:
                length = max(length, _agreement(key(suffixes[rank]), start))
        if length < size or size == len(numbers):
            break
        above = [*start[:-1], start[-1] + 1]
        low, high = at, bisect_left(suffixes, above, at, high, key=key)
    return length


def _agreement(one: Any, two: list[int]) -> int:
    for number, (a, b) in enumerate(zip(one, two, strict=False)):
        if a != b:
            return number
    return min(len(one), len(two))


def interval(live: LiveSegment, numbers: list[int], length: int) -> SuffixRange:
    """The ranks of the suffixes that begin with the first `length` tokens."""
    segment = live.segment
    low, high = segment.buckets[numbers[0]], segment.buckets[numbers[0] + 1]
    tokens, suffixes = segment.tokens, segment.suffixes
    for size in (length,) if length <= 2 * _STAGE else (_STAGE, length):
        if size < 2:
            break
        prefix = numbers[:size]
        above = [*prefix[:-1], prefix[-1] + 1]

        def key(position: int, size: int = size) -> list[int]:
            run: list[int] = tokens[position : position + size].tolist()
            return run

        low = bisect_left(suffixes, prefix, low, high, key=key)
        high = bisect_left(suffixes, above, low, high, key=key)
    return SuffixRange(length, low, high, live.count(low, high))


@dataclass(frozen=True, slots=True)
class Surroundings:
    """How far all occurrences agree beyond the match, to the left and to the right."""

    left: int
    right: int
    position: int
    """Where one of the occurrences begins."""


def surroundings(live: LiveSegment, run: SuffixRange) -> Surroundings:
    """The tokens that every occurrence of the run has on both sides, up to its document's ends."""
    segment = live.segment
    if live.deleted and run.count < run.high - run.low:
        return _compared(segment, list(live.positions(run.low, run.high)), run.length)
    suffixes = segment.suffixes
    first, last = suffixes[run.low], suffixes[run.high - 1]
    # In sorted order the first and the last share the least.
    right = (
        _common(segment, first, last, run.length)
        if run.high - run.low > 1
        else (_end(segment, first) - first - run.length)
    )
    if run.high - run.low <= _FEW:
        left = _common_left(segment, suffixes[run.low : run.high].tolist())
    else:
        left = _stepped_left(segment, run.low, run.high)
    return Surroundings(left, right, first)


def _compared(segment: TokenSegment, positions: list[int], length: int) -> Surroundings:
    """The same by comparing every position, for runs with deleted occurrences."""
    first, last = positions[0], positions[-1]
    right = (
        _common(segment, first, last, length)
        if len(positions) > 1
        else _end(segment, first) - first - length
    )
    return Surroundings(_common_left(segment, positions), right, first)


def _end(segment: TokenSegment, position: int) -> int:
    return int(segment.firsts[segment.document_at(position) + 1]) - 1


def _start(segment: TokenSegment, position: int) -> int:
    return int(segment.firsts[segment.document_at(position)])


def _common(segment: TokenSegment, one: int, two: int, skip: int) -> int:
    """How many tokens agree from `skip` tokens after the two positions on."""
    limit = min(_end(segment, one) - one, _end(segment, two) - two) - skip
    tokens = segment.tokens
    one, two, done, step = one + skip, two + skip, 0, 16
    while done < limit:
        step = min(step, limit - done)
        a = tokens[one + done : one + done + step].tolist()
        b = tokens[two + done : two + done + step].tolist()
        if a != b:
            return done + _agreement(a, b)
        done += step
        step *= 2
    return limit


def _common_left(segment: TokenSegment, positions: list[int]) -> int:
    """How many tokens before all positions agree.

    All positions are compared step by step, so the cost depends on what they share and not on how
    much text precedes them.
    """
    limit = min(position - _start(segment, position) for position in positions)
    tokens, done, step = segment.tokens, 0, 1
    while done < limit:
        step = min(step, limit - done)
        runs = (tokens[p - done - step : p - done].tolist() for p in positions)
        first_run = next(runs)
        least = step
        for run in runs:
            if run != first_run:
                least = min(least, _agreement(run[::-1], first_run[::-1]))
                if not least:
                    break
        if least < step:
            return done + least
        done += step
        step *= 2
    return limit


def _stepped_left(segment: TokenSegment, low: int, high: int) -> int:
    """The same for many occurrences: while all have one left neighbour, move to its ranks."""
    count, steps = high - low, 0
    while True:
        position = segment.suffixes[low]
        if position == 0 or segment.tokens[position - 1] == SEPARATOR:
            return steps
        if _any(segment.changes, low + 1, low + count):
            return steps
        low = segment.ranks[position - 1]
        steps += 1


def _any(bits: Any, low: int, high: int) -> bool:
    """Whether a bit is set in [low, high)."""
    if high - low > 512 and _any(bits, low, low + 256):
        return True
    return _ones(bits, low, high) > 0
