"""Find the longest prefix of a query that the graph contains, and the smallest vertex around it.

The search climbs from the first token to its parents, narrowest first, and enters each parent right
after the part that is already matched. If the parent continues to match, its result is offered to
`SearchState`. If the parent ends before the query does, its own parents are queued.

There are two kinds of checkpoint. Each branch has a local one, its last match (`Checkpointed`). The
search has one global checkpoint, the best result of all branches. `SearchState` owns it and `offer`
is its only writer; branches hold a reference to it and skip roots that cannot improve on it.

With overlap unions in the graph (I10) every longer match lies above the root that matched, so the
queue can be cleared on a match. In other graphs that would lose answers: the queue is kept and the
best checkpoint decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from heapq import heappop, heappush

from holdfast.sequence.compare import (
    BestCheckpoint,
    BestResult,
    CompareState,
    MatchResult,
    ParentState,
    Verdict,
    follow,
)
from holdfast.sequence.cursor import Candidate, Checkpointed, Matched, TokenPath
from holdfast.sequence.errors import EmptyQuery, SingleToken
from holdfast.sequence.graph import Atom, Graph, Location, Vertex
from holdfast.sequence.response import EndReason, GraphMatch, Kind


class Clear(StrEnum):
    """When a search empties its queue."""

    CLOSED = "closed"
    """On a match, if the graph is union-closed."""
    ALWAYS = "always"
    """On a match, in any graph; may miss a longer match."""
    NEVER = "never"


class SearchQueue:
    """A priority queue of branches, narrowest root first; iterating yields each root's result."""

    def __init__(
        self,
        graph: Graph,
        start: Checkpointed,
        first: Vertex,
        best: BestCheckpoint,
        *,
        ancestors: bool,
        clear: bool,
    ) -> None:
        self.graph, self.ancestors, self.clear = graph, ancestors, clear
        self._heap: list[tuple[int, int, int, ParentState | CompareState]] = []
        self._pushed = 0
        self._seen: set[tuple[Location, int, int]] = set()
        width = graph.width(first)
        for at in graph.parents(first):
            self._push(ParentState(at, (), width, start, best))

    def __iter__(self) -> Iterator[MatchResult]:
        while self._heap:
            _, _, _, node = heappop(self._heap)
            parent = node if isinstance(node, ParentState) else node.parent
            if not parent.can_improve(self.graph, ancestors=self.ancestors):
                continue
            state = parent.advance(self.graph) if node is parent else node
            if state is None:
                self._climb(parent, parent.query)
                continue
            assert isinstance(state, CompareState), "a parent state was advanced"
            verdict = state.compare(self.graph)
            if isinstance(verdict, list):
                for finer in verdict:
                    self._push(finer)
            elif verdict is Verdict.MATCH:
                if self.clear:
                    self._heap.clear()
                result = follow(state.mark_match(self.graph), self.graph)
                if result.candidate is not None:
                    query = Checkpointed(result.candidate, result.state.query.checkpoint)
                    self._climb(parent, query)
                yield result

    def _climb(self, parent: ParentState, query: Checkpointed) -> None:
        """Queue every parent of a root that is matched to its end."""
        if self.ancestors:
            for at in self.graph.parents(parent.at.vertex):
                self._push(parent.raised(self.graph, at, query))

    def _push(self, node: ParentState | CompareState) -> None:
        if isinstance(node, ParentState):
            # Many upward paths can lead to the same location; one of them is enough.
            key = (node.at, node.entry_pos, node.query.checkpoint.position)
            if key in self._seen:
                return
            self._seen.add(key)
            width = self.graph.width(node.at.vertex)
        else:
            width = self.graph.width(node.root)
        # Among roots of the same width, the one with the longest match goes first, so that a kept
        # queue gives the same path as a cleared one.
        heappush(self._heap, (width, -node.query.checkpoint.position, self._pushed, node))
        self._pushed += 1


class SearchState:
    """A running search: its branches, its query, and the best result so far."""

    def __init__(
        self,
        graph: Graph,
        query: Candidate,
        *,
        ancestors: bool = True,
        clear: Clear = Clear.CLOSED,
    ) -> None:
        first = query.place.leaf(graph)
        matched = query.mark_match(graph)
        following = matched.advance(graph)
        if following is None:
            raise SingleToken(first, tuple(query.place.path))
        self.graph = graph
        self.query = query
        self.first = first
        self.start = matched
        self._best = BestResult()
        self.matches = SearchQueue(
            graph,
            Checkpointed(following, matched),
            first,
            self._best,
            ancestors=ancestors,
            clear=clear is Clear.ALWAYS or (clear is Clear.CLOSED and graph.closed),
        )

    @property
    def best_checkpoint(self) -> MatchResult | None:
        """The best result so far. Every branch reads it; only `offer` writes it."""
        return self._best.result

    def offer(self, result: MatchResult) -> bool:
        """Keep the result if it is better than the best so far; returns whether it was."""
        if not result.better_than(self._best.result):
            return False
        self._best.result = result
        return True

    def results(self) -> Iterator[MatchResult]:
        """Run the search, yielding each root's result after it was offered."""
        for result in self.matches:
            self.offer(result)
            yield result

    def run(self) -> GraphMatch:
        """Run the search to its end and return its answer."""
        for _ in self.results():
            pass
        return self.response()

    def response(self) -> GraphMatch:
        best, graph = self.best_checkpoint, self.graph
        if best is None:
            return GraphMatch(
                graph=graph,
                kind=Kind.NOT_FOUND,
                root=self.first,
                start=0,
                end=graph.width(self.first),
                first=self.first,
                checkpoint=self.start,
                cursor=self.start,
                reason=EndReason.NO_MATCH,
                path=None,
            )
        path, start = best.path(graph), best.start(graph)
        checkpoint = best.state.query.checkpoint
        return GraphMatch(
            graph=graph,
            kind=best.kind(graph),
            root=best.root,
            start=start,
            end=start + path.end_pos,
            first=self.first,
            checkpoint=checkpoint,
            cursor=best.candidate if best.candidate is not None else checkpoint,
            reason=best.reason,
            path=path,
        )


def beginning(query: Sequence[Vertex]) -> Candidate:
    """The cursor AT the first token of a query."""
    if not query:
        raise EmptyQuery
    return Candidate(TokenPath(tuple(query), 0), 0)


def resumed(graph: Graph, cursor: Matched | Candidate) -> Candidate:
    """The cursor AT the token after an earlier answer; raises SingleToken if none is left."""
    if isinstance(cursor, Candidate):
        return cursor
    candidate = cursor.advance(graph)
    if candidate is None:
        raise SingleToken(cursor.place.leaf(graph), tuple(cursor.place.path))
    return candidate


Query = Sequence[Vertex] | Matched | Candidate


def _cursor(graph: Graph, query: Query) -> Candidate:
    if isinstance(query, Matched | Candidate):
        return resumed(graph, query)
    return beginning(query)


def find_ancestor(graph: Graph, query: Query, *, clear: Clear = Clear.CLOSED) -> GraphMatch:
    """The longest match of a prefix of the query, anywhere in the graph.

    If the query is the cursor of an earlier answer, the search continues after that answer.
    """
    return SearchState(graph, _cursor(graph, query), clear=clear).run()


def find_parent(graph: Graph, query: Query, *, clear: Clear = Clear.CLOSED) -> GraphMatch:
    """The longest match within the direct parents of the first token."""
    return SearchState(graph, _cursor(graph, query), ancestors=False, clear=clear).run()


def find_sequence(
    graph: Graph, values: Iterable[Atom], *, clear: Clear = Clear.CLOSED
) -> GraphMatch:
    """Like `find_ancestor`, for symbols; raises UnknownAtom for one that the graph lacks."""
    return find_ancestor(graph, graph.sequence(values), clear=clear)
