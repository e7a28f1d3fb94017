"""Search segments as one corpus, with the rules of the core graph, for a whole code base.

The canonical graph of a code base would have about a billion vertices, so it is never built. Its
vertices are the maximal repeats and the documents, and the sorted suffixes answer every question
about them. `find` returns the longest prefix of the query that occurs, all its occurrences, and the
smallest maximal repeat or document that contains it: the vertex at which a search of the core graph
arrives, apart from the gap and union vertices that only help to decompose others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from holdfast.sequence.errors import EmptyQuery
from holdfast.sequence.occurrence import Occurrence
from holdfast.sequence.response import EndReason, Kind
from holdfast.sequence.suffix import query as segments
from holdfast.sequence.suffix.query import LiveSegment, SuffixRange


@dataclass(frozen=True)
class CorpusMatch:
    """How much of a query exists in a corpus, where, and in which vertex."""

    query: tuple[bytes, ...]
    position: int
    """How many tokens of the query agree."""
    count: int
    """How often the matched part occurs."""
    kind: Kind
    reason: EndReason
    start: int
    """Where the match starts in its root, in tokens."""
    end: int
    root_width: int
    root_position: int
    """Where one occurrence of the root begins in the stream of the first of `runs`."""
    runs: tuple[tuple[LiveSegment, SuffixRange], ...]

    @property
    def query_exhausted(self) -> bool:
        return self.reason is EndReason.QUERY_EXHAUSTED

    @property
    def matched(self) -> tuple[bytes, ...]:
        return self.query[: self.position]

    @cached_property
    def root(self) -> Occurrence | None:
        """One occurrence of the smallest maximal repeat or document around the match."""
        if not self.runs:
            return None
        return Occurrence(self.runs[0][0].segment, self.root_position, self.root_width)

    def occurrences(self) -> Iterator[Occurrence]:
        """Every place of the match, lazily because there may be very many."""
        for live, run in self.runs:
            for position in live.positions(run.low, run.high):
                yield Occurrence(live.segment, position, self.position)

    @property
    def expected(self) -> bytes | None:
        """The first query token that does not agree."""
        return self.query[self.position] if self.position < len(self.query) else None


WINDOW = 64
"""How many tokens of the query `parts` searches for at first."""


class TokenCorpus:
    """The documents of several segments that are not deleted, searched together."""

    def __init__(self, lives: Sequence[LiveSegment]) -> None:
        self.lives = list(lives)

    @property
    def tokens(self) -> int:
        return sum(live.tokens for live in self.lives)

    def find(self, query: Sequence[bytes]) -> CorpusMatch:
        """The longest prefix of the query that occurs, where, and which vertex contains it."""
        if not query:
            raise EmptyQuery
        texts = tuple(query)
        ranges: list[tuple[LiveSegment, SuffixRange]] = []
        length = 0
        for live in self.lives:
            token = live.segment.token
            run = segments.longest(live, [token(text) for text in texts])
            if run.count and run.length >= length:
                if run.length > length:
                    ranges, length = [], run.length
                ranges.append((live, run))
        if not ranges:
            return CorpusMatch(texts, 0, 0, Kind.NOT_FOUND, EndReason.NO_MATCH, 0, 0, 0, 0, ())
        count = sum(run.count for _, run in ranges)
        runs = tuple(ranges)
        if length == 1 and len(texts) > 1:
            # Only the first token matches: as in a core graph, it is its own root.
            position = next(iter(ranges[0][0].positions(ranges[0][1].low, ranges[0][1].high)))
            return CorpusMatch(
                texts, 1, count, Kind.NOT_FOUND, EndReason.NO_MATCH, 0, 1, 1, position, runs
            )
        left, right, position = self._surroundings(ranges, length)
        kind = Kind.of(at_start=left == 0, at_end=right == 0)
        if length == len(texts):
            reason = EndReason.QUERY_EXHAUSTED
        elif right == 0:
            reason = EndReason.CHILD_EXHAUSTED
        else:
            reason = EndReason.MISMATCH
        width = left + length + right
        return CorpusMatch(
            texts, length, count, kind, reason, left, left + length, width, position - left, runs
        )

    def _surroundings(
        self, ranges: list[tuple[LiveSegment, SuffixRange]], length: int
    ) -> tuple[int, int, int]:
        """How far all occurrences in all segments agree beyond the match, left and right."""
        around = [(live.segment, segments.surroundings(live, run)) for live, run in ranges]
        segment, first = around[0]
        left, right = first.left, first.right
        for other, there in around[1:]:
            # Token ids differ between segments, so compare the texts.
            left, right = min(left, there.left), min(right, there.right)
            for step in range(right):
                at = length + step
                if segment.text_at(first.position + at) != other.text_at(there.position + at):
                    right = step
                    break
            for step in range(left):
                at = -1 - step
                if segment.text_at(first.position + at) != other.text_at(there.position + at):
                    left = step
                    break
        return left, right, first.position

    def count(self, query: Sequence[bytes]) -> int:
        """How often the whole query occurs."""
        answer = self.find(query)
        return answer.count if answer.query_exhausted else 0

    def parts(self, query: Sequence[bytes]) -> Iterator[CorpusMatch]:
        """Split the whole query into longest matches, each starting where the last one ended.

        A token that occurs nowhere is a part with position 0.
        """
        at = 0
        while at < len(query):
            # Most parts are much shorter than the rest of the query, so start with a short window.
            width = WINDOW
            part = self.find(query[at : at + width])
            while part.position == width and at + width < len(query):
                width *= 2
                part = self.find(query[at : at + width])
            yield part
            at += max(1, part.position)
