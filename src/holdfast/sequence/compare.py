"""One branch of a search: a root being tried, a cursor in it, and a cursor in the query.

Every state here is a value and every step makes a new one. A branch that fails is dropped, and
nothing that another branch can see has changed.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from enum import Enum

from holdfast.sequence.cursor import Candidate, Checkpointed, Cursor, Matched, TokenPath
from holdfast.sequence.graph import Graph, Location, Vertex
from holdfast.sequence.response import EndReason, Kind, MatchPath


class Verdict(Enum):
    """What one comparison of two leaves says."""

    MATCH = "match"
    MISMATCH = "mismatch"


@dataclass(frozen=True, slots=True)
class ParentState:
    """A parent that contains everything matched so far, about to be entered.

    `at` is where the matched part sits in it; `start_path` leads from the start leaf to just below.
    """

    at: Location
    start_path: tuple[Location, ...]
    entry_pos: int
    query: Checkpointed

    def advance(self, graph: Graph) -> CompareState | None:
        """Stand on the child after the matched part, or None when it is the last child."""
        tokens = graph.patterns(self.at.vertex)[self.at.pattern]
        if self.at.nth + 1 == len(tokens):
            return None
        place = TokenPath(tokens, self.at.nth + 1)
        return CompareState(self, Candidate(place, self.entry_pos), self.query)

    def raised(self, graph: Graph, to: Location) -> ParentState:
        """The same match seen from a parent of this root: everything after `at` now counts too."""
        tokens = graph.patterns(self.at.vertex)[self.at.pattern]
        rest = sum(graph.width(child) for child in tokens[self.at.nth + 1 :])
        # A step at the left border says nothing: the match starts where the parent's child starts.
        at_border = not self.start_path and self.at.nth == 0
        path = self.start_path if at_border else (*self.start_path, self.at)
        return ParentState(to, path, self.entry_pos + rest, self.query)


@dataclass(frozen=True, slots=True)
class CompareState:
    """Two leaves to compare: one in the root, one in the query."""

    parent: ParentState
    index: Cursor
    query: Checkpointed

    @property
    def root(self) -> Vertex:
        return self.parent.at.vertex

    def advance_index(self, graph: Graph) -> CompareState | None:
        """The next leaf of the root; positions and states stay as they are."""
        place = self.index.place.next(graph)
        return None if place is None else replace(self, index=replace(self.index, place=place))

    def compare(self, graph: Graph) -> Verdict | list[CompareState]:
        """A verdict, or the finer comparisons that will give one.

        All the finer ones start at the same atom, so any of their verdicts is the verdict.
        """
        assert isinstance(self.index, Candidate), "matched leaves are not compared again"
        assert isinstance(self.query.current, Candidate), "matched leaves are not compared again"
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
        """Both leaves agree: both cursors go PAST them, each by its own leaf's width."""
        assert isinstance(self.index, Candidate), "only a candidate can turn out to match"
        return CompareState(self.parent, self.index.mark_match(graph), self.query.mark_match(graph))


@dataclass(frozen=True, slots=True)
class MatchResult:
    """How far one root goes along with the query, and why no further."""

    state: CompareState
    reason: EndReason
    candidate: Candidate | None = None
    """The next query token, when the root ended before the query did."""

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
        """Whether this replaces `other`: longer, or as long and the end of the query."""
        if other is None or self.position != other.position:
            return other is None or self.position > other.position
        return self.exhausted and not other.exhausted

    def path(self, graph: Graph) -> MatchPath:
        at, index = self.state.parent.at, self.state.index
        assert isinstance(index, Matched), "a result stands past a match"
        entry_offset = graph.offset(at) + sum(map(graph.offset, self.state.parent.start_path))
        exit_at = at._replace(nth=index.place.index)
        exit_pos = graph.offset(exit_at) - entry_offset
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
        """Where the match starts in the root, in atoms."""
        parent = self.state.parent
        return graph.offset(parent.at) + sum(map(graph.offset, parent.start_path))

    def kind(self, graph: Graph) -> Kind:
        parent, place = self.state.parent, self.state.index.place
        return Kind.of(
            at_start=parent.at.nth == 0 and not parent.start_path,
            at_end=place.index + 1 == len(place.tokens) and not place.path,
        )


def follow(state: CompareState, graph: Graph) -> MatchResult:
    """Go along a root from its first match until the query, the root or the agreement ends."""
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
    """The matched state, or None; breadth first until the first verdict."""
    waiting = deque([state])
    while waiting:
        state = waiting.popleft()
        verdict = state.compare(graph)
        if verdict is Verdict.MATCH:
            return state.mark_match(graph)
        if verdict is Verdict.MISMATCH:
            return None
        assert isinstance(verdict, list), "what is no verdict is a list of finer comparisons"
        waiting.extend(verdict)
    return None
