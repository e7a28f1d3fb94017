"""Find the longest prefix of a query that the graph contains, and the smallest vertex around it.

The search climbs: from the first token to its parents, by ascending width, entering each one right
after the part that is already matched. Where a parent goes on agreeing, its result is offered to
`SearchState`, and where it ends before the query does, its own parents are next.

There are two kinds of checkpoint and they are never mixed. A branch has its own, the last match to
fall back to (`Checkpointed`). The search has one, the best result of all branches: `SearchState`
owns `best_checkpoint`, `offer` is its only writer, and it writes only what is better.

Clearing the queue when a match is found is right where overlap unions are vertices (I10), because
then every longer match lies above the root just found. Elsewhere it would lose answers, so there
the queue is kept and `best_checkpoint` decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from heapq import heappop, heappush

from holdfast.sequence.compare import CompareState, MatchResult, ParentState, Verdict, follow
from holdfast.sequence.cursor import Candidate, Checkpointed, Matched, TokenPath
from holdfast.sequence.errors import EmptyQuery, SingleToken
from holdfast.sequence.graph import Atom, Graph, Location, Vertex
from holdfast.sequence.response import EndReason, Kind, Response


class Clear(StrEnum):
    """When a search drops what is left in its queue."""

    CLOSED = "closed"
    """On a match, if the graph says it is union-closed."""
    ALWAYS = "always"
    """On a match, whatever the graph; may stop at a shorter match than there is."""
    NEVER = "never"


class SearchQueue:
    """The queue of branches, smallest root first; iterating yields each root's result."""

    def __init__(
        self, graph: Graph, start: Checkpointed, first: Vertex, *, ancestors: bool, clear: bool
    ) -> None:
        self.graph, self.ancestors, self.clear = graph, ancestors, clear
        self._heap: list[tuple[int, int, int, ParentState | CompareState]] = []
        self._pushed = 0
        self._seen: set[tuple[Location, int, int]] = set()
        width = graph.width(first)
        for at in graph.parents(first):
            self._push(ParentState(at, (), width, start))

    def __iter__(self) -> Iterator[MatchResult]:
        while self._heap:
            _, _, _, node = heappop(self._heap)
            state = node.advance(self.graph) if isinstance(node, ParentState) else node
            if state is None:
                if self.ancestors:
                    self._climb(node, node.query)  # type: ignore[arg-type]
                continue
            verdict = state.compare(self.graph)
            if isinstance(verdict, list):
                for finer in verdict:
                    self._push(finer)
            elif verdict is Verdict.MATCH:
                if self.clear:
                    self._heap.clear()
                result = follow(state.mark_match(self.graph), self.graph)
                if result.candidate is not None and self.ancestors:
                    query = Checkpointed(result.candidate, result.state.query.checkpoint)
                    self._climb(result.state.parent, query)
                yield result

    def _climb(self, parent: ParentState, query: Checkpointed) -> None:
        """Queue every parent of a root that has been used up."""
        for at in self.graph.parents(parent.at.vertex):
            raised = parent.raised(self.graph, at)
            self._push(ParentState(at, raised.start_path, raised.entry_pos, query))

    def _push(self, node: ParentState | CompareState) -> None:
        if isinstance(node, ParentState):
            # The same place can be reached by many upward ways; one of them is enough.
            key = (node.at, node.entry_pos, node.query.checkpoint.position)
            if key in self._seen:
                return
            self._seen.add(key)
            width = self.graph.width(node.at.vertex)
        else:
            width = self.graph.width(node.root)
        # Of roots that are equally wide, first the one that has come furthest along the query: then
        # a kept queue gives the same path as a cleared one.
        heappush(self._heap, (width, -node.query.checkpoint.position, self._pushed, node))
        self._pushed += 1


class SearchState:
    """A search under way: its branches, its query, and the best result of all."""

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
        self.matches = SearchQueue(
            graph,
            Checkpointed(following, matched),
            first,
            ancestors=ancestors,
            clear=clear is Clear.ALWAYS or (clear is Clear.CLOSED and graph.closed),
        )
        self._best: MatchResult | None = None

    @property
    def best_checkpoint(self) -> MatchResult | None:
        """The best result so far. Read it anywhere; only `offer` writes it."""
        return self._best

    def offer(self, result: MatchResult) -> bool:
        """Keep the result if it is better than the best so far; says whether it was."""
        if not result.better_than(self._best):
            return False
        self._best = result
        return True

    def results(self) -> Iterator[MatchResult]:
        """Run the search, yielding each root's result after it was offered."""
        for result in self.matches:
            self.offer(result)
            yield result
            if self._best is not None and self._best.exhausted:
                return

    def run(self) -> Response:
        """Run the search to its end and answer."""
        for _ in self.results():
            pass
        return self.response()

    def response(self) -> Response:
        best, graph = self.best_checkpoint, self.graph
        if best is None:
            return Response(
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
        return Response(
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
    """The cursor AT the token after an earlier answer; SingleToken when there is none left."""
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


def find_ancestor(graph: Graph, query: Query, *, clear: Clear = Clear.CLOSED) -> Response:
    """The longest match of a prefix of the query, anywhere in the graph.

    A cursor from an earlier answer as the query continues that search after it.
    """
    return SearchState(graph, _cursor(graph, query), clear=clear).run()


def find_parent(graph: Graph, query: Query, *, clear: Clear = Clear.CLOSED) -> Response:
    """The longest match within the direct parents of the first token."""
    return SearchState(graph, _cursor(graph, query), ancestors=False, clear=clear).run()


def find_sequence(graph: Graph, values: Iterable[Atom], *, clear: Clear = Clear.CLOSED) -> Response:
    """Like `find_ancestor`, for symbols; UnknownAtom when one was never seen."""
    return find_ancestor(graph, graph.sequence(values), clear=clear)


def find_all(graph: Graph, query: Sequence[Vertex]) -> Iterator[Response | Vertex]:
    """Cut the whole query into matches, each continued from the last one's cursor.

    A single token that is left over at the end is yielded as the vertex it is.
    """
    cursor: Query = query
    while True:
        try:
            answer = find_ancestor(graph, cursor)
        except SingleToken as single:
            if isinstance(cursor, Matched) and cursor.advance(graph) is None:
                return
            yield Vertex(single.vertex)
            return
        yield answer
        if answer.query_exhausted:
            return
        cursor = answer.cursor
