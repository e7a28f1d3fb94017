"""One branch of a search: the root it tries, a cursor in that root, and a cursor in the query.

States are immutable values and every step returns a new one, so a branch that fails cannot affect
another branch. All branches hold a reference to one `BestCheckpoint`. They read it to decide
whether going on can still improve the answer; `SearchState.offer` is the only writer.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Protocol

from holdfast.sequence.cursor import Candidate, Checkpointed, Cursor, Matched, TokenPath
from holdfast.sequence.graph import Graph, Location, Vertex
from holdfast.sequence.response import EndReason, Kind, MatchPath


class Verdict(Enum):
    """The outcome of comparing two leaves."""

    MATCH = "match"
    MISMATCH = "mismatch"


class BestCheckpoint(Protocol):
    """The best result of all branches so far, as a branch sees it: it can be read, not written."""

    @property
    def result(self) -> MatchResult | None: ...


@dataclass(slots=True)
class BestResult:
    """The one writable `BestCheckpoint` of a search, owned by its `SearchState`."""

    result: MatchResult | None = None


@dataclass(frozen=True, slots=True)
class ParentState:
    """A parent that contains everything matched so far and has not been entered yet.

    `at` is the location of the matched part in it. `start_path` leads from the start leaf up to
    the child at that location.
    """

    at: Location
    start_path: tuple[Location, ...]
    entry_pos: int
    query: Checkpointed
    best: BestCheckpoint = field(default_factory=BestResult, compare=False, repr=False)

    def start(self, graph: Graph) -> int:
        """The offset of the match in the root, in atoms."""
        return graph.offset(self.at) + sum(map(graph.offset, self.start_path))

    def can_improve(self, graph: Graph, *, ancestors: bool) -> bool:
        """Whether this root, or with `ancestors` a vertex above it, can beat the best checkpoint.

        It cannot when the best result already covers the whole query, or when the root ends before
        the match would be longer than the best one and nothing contains the root.
        """
        best = self.best.result
        if best is None:
            return True
        if best.exhausted:
            return False
        if ancestors and graph.parents(self.at.vertex):
            return True
        rest = graph.width(self.at.vertex) - self.start(graph) - self.entry_pos
        # A match of the same length that ends the query would also be better.
        return self.query.checkpoint.position + rest >= best.position

    def advance(self, graph: Graph) -> CompareState | None:
        """Move to the child after the matched part; None when that part is the last child."""
        tokens = graph.patterns(self.at.vertex)[self.at.pattern]
        if self.at.nth + 1 == len(tokens):
            return None
        place = TokenPath(tokens, self.at.nth + 1)
        return CompareState(self, Candidate(place, self.entry_pos), self.query)

    def raised(self, graph: Graph, to: Location, query: Checkpointed) -> ParentState:
        """The same match in a parent of this root, where everything after `at` is matched too."""
        tokens = graph.patterns(self.at.vertex)[self.at.pattern]
        rest = sum(graph.width(child) for child in tokens[self.at.nth + 1 :])
        # A step along the left border is left out: the match starts where the parent's child does.
        at_border = not self.start_path and self.at.nth == 0
        path = self.start_path if at_border else (*self.start_path, self.at)
        return ParentState(to, path, self.entry_pos + rest, query, self.best)


@dataclass(frozen=True, slots=True)
class CompareState:
    """Two leaves to compare: one in the root, one in the query."""

    parent: ParentState
    index: Cursor
    query: Checkpointed

    @property
    def root(self) -> Vertex:
        return self.parent.at.vertex

    @property
    def best(self) -> BestCheckpoint:
        """The search's best checkpoint, by reference."""
        return self.parent.best

    def advance_index(self, graph: Graph) -> CompareState | None:
        """Move to the next leaf of the root; positions and states do not change."""
        place = self.index.place.next(graph)
        return None if place is None else replace(self, index=replace(self.index, place=place))

    def compare(self, graph: Graph) -> Verdict | list[CompareState]:
        """Compare the two leaves: a verdict, or the finer comparisons that lead to one.

        All finer comparisons start at the same atom, so they all lead to the same verdict.
        """
        assert isinstance(self.index, Candidate), "a matched leaf is compared only once"
        assert isinstance(self.query.current, Candidate), "a matched leaf is compared only once"
        mine, theirs = self.index.place.leaf(graph), self.query.current.place.leaf(graph)
        if mine == theirs:
            return Verdict.MATCH
        if graph.is_atom(mine) and graph.is_atom(theirs):
            return Verdict.MISMATCH
        finer: list[CompareState] = []
        if graph.width(mine) >= graph.width(theirs):
            finer += [replace(self, index=part) for part in self.index.descend(graph)]
        if graph.width(theirs) >= graph.width(mine):
            finer += [replace(self, query=part) for part in self.query.descend(graph)]
        return finer

    def mark_match(self, graph: Graph) -> CompareState:
        """Move both cursors PAST their leaves, which agree."""
        assert isinstance(self.index, Candidate), "only a candidate can match"
        return CompareState(self.parent, self.index.mark_match(graph), self.query.mark_match(graph))


@dataclass(frozen=True, slots=True)
class MatchResult:
    """How much of the query one root matches, and why not more."""

    state: CompareState
    reason: EndReason
    candidate: Candidate | None = None
    """The next query token, if the root ended before the query did."""

    @property
    def root(self) -> Vertex:
        return self.state.root

    @property
    def position(self) -> int:
        return self.state.query.checkpoint.position

    @property
    def exhausted(self) -> bool:
        return self.reason is EndReason.QUERY_EXHAUSTED

    def better_than(self, other: MatchResult | None) -> bool:
        """Whether this replaces `other`: it is longer, or as long and ends the query."""
        if other is None or self.position != other.position:
            return other is None or self.position > other.position
        return self.exhausted and not other.exhausted

    def path(self, graph: Graph) -> MatchPath:
        at, index = self.state.parent.at, self.state.index
        assert isinstance(index, Matched), "a result ends PAST a match"
        exit_at = at._replace(nth=index.place.index)
        exit_pos = graph.offset(exit_at) - self.start(graph)
        return MatchPath(
            root=at.vertex,
            pattern=at.pattern,
            root_entry=at.nth,
            start_path=self.state.parent.start_path,
            root_exit=exit_at.nth,
            end_path=index.place.path,
            entry_pos=self.state.parent.entry_pos,
            exit_pos=exit_pos,
            end_pos=index.position,
            target=index.place.leaf(graph),
            leaf_pos=exit_pos + sum(map(graph.offset, index.place.path)),
        )

    def start(self, graph: Graph) -> int:
        """The offset of the match in the root, in atoms."""
        return self.state.parent.start(graph)

    def kind(self, graph: Graph) -> Kind:
        parent, place = self.state.parent, self.state.index.place
        return Kind.of(
            at_start=parent.at.nth == 0 and not parent.start_path,
            at_end=place.index + 1 == len(place.tokens) and not place.path,
        )


def follow(state: CompareState, graph: Graph) -> MatchResult:
    """Match a root from its first matched leaf until the query or root ends, or they differ."""
    while True:
        query = state.query.advance(graph)
        if query is None:
            return MatchResult(state, EndReason.QUERY_EXHAUSTED)
        assert isinstance(query.current, Candidate), "advancing from a match gives a candidate"
        index = state.index.advance(graph) if isinstance(state.index, Matched) else None
        if index is None:
            return MatchResult(state, EndReason.CHILD_EXHAUSTED, query.current)
        agreed = _decide(CompareState(state.parent, index, query), graph)
        if agreed is None:
            return MatchResult(state, EndReason.MISMATCH)
        state = agreed


def _decide(state: CompareState, graph: Graph) -> CompareState | None:
    """The matched state, or None on a mismatch; searches breadth first for the first verdict."""
    waiting = deque([state])
    while waiting:
        state = waiting.popleft()
        verdict = state.compare(graph)
        if verdict is Verdict.MATCH:
            return state.mark_match(graph)
        if verdict is Verdict.MISMATCH:
            return None
        assert isinstance(verdict, list), "otherwise a list of finer comparisons"
        waiting.extend(verdict)
    return None
