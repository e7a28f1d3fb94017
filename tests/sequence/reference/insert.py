"""Make the matched part of a query a vertex.

`insert` keeps the graph canonical: it closes the graph under overlap, so that the search finds the
longest match, adds the matched string as a label, and decomposes the affected vertices again.
`insert_locally` only changes the vertices that the match cuts.

Only the matched part becomes a vertex; the rest of the query is left to the caller.
"""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.errors import SequenceError
from holdfast.sequence.canonical import DEFAULT_LIMIT, Alphabet, GraphLimits, Labels, grow
from holdfast.sequence.errors import EmptyQuery, SingleToken
from holdfast.sequence.graph import Graph, Pattern, Vertex
from holdfast.sequence.response import GraphMatch
from holdfast.sequence.search import Clear, find_ancestor
from tests.sequence.reference.split import cut_pattern
from tests.sequence.reference.trace import TraceCache, trace_of


class InvalidEndBound(SequenceError):
    """Raised when the match to insert is empty."""

    def __str__(self) -> str:
        return "an insertion needs a match of at least one atom"


class MissingCacheEntry(SequenceError):
    """Raised when the trace passed to an insertion does not contain its root."""

    def __init__(self, root: int) -> None:
        self.root = root

    def __str__(self) -> str:
        return f"the trace has no entry for the root {self.root}"


def insert(graph: Graph, query: Sequence[Vertex], *, max_vertices: int = DEFAULT_LIMIT) -> Vertex:
    """The vertex of the longest prefix of the query that occurs, created if necessary.

    The graph is closed under overlap first and stays closed. Raises SingleToken for one token.
    """
    _check(query)
    alphabet = Alphabet(graph.atoms())
    strings = {vertex: alphabet.encode(graph.spelled(vertex)) for vertex in graph.vertices()}
    labels = {string for string in strings.values() if len(string) > 1}
    limits = GraphLimits(max_vertices)
    closed = _closure(labels, limits)
    grow(graph, closed, alphabet)
    answer = find_ancestor(graph, query)
    if answer.complete:
        return answer.root
    matched = graph.spelled(answer.root)[answer.start : answer.end]
    grow(graph, _closure(set(closed) | {alphabet.encode(matched)}, limits), alphabet)
    vertex = graph.find(matched)
    assert vertex is not None, "a label is a vertex once the graph has grown"
    return vertex


def _closure(labels: set[str], limits: GraphLimits) -> dict[str, list[list[str]]]:
    """Unions to a fixpoint, only then gaps, and again until neither adds anything.

    Alternating between them earlier would add labels that only an unfinished closure needs.
    """
    while True:
        found = Labels(labels, limits)
        found.close_under_overlap()
        patterns = found.fill_gaps()
        if set(patterns) == labels:
            return patterns
        labels = set(patterns)


def _check(query: Sequence[Vertex]) -> None:
    if not query:
        raise EmptyQuery
    if len(query) == 1:
        raise SingleToken(query[0])


def insert_locally(graph: Graph, query: Sequence[Vertex], *, clear: Clear = Clear.CLOSED) -> Vertex:
    """Like `insert`, but changes only the root of the match and the vertices that it cuts."""
    _check(query)
    return insert_interval(graph, find_ancestor(graph, query, clear=clear))


def insert_interval(graph: Graph, answer: GraphMatch) -> Vertex:
    """Make the match of an earlier answer a vertex."""
    if answer.complete:
        return answer.root
    return insert_matched(graph, answer.root, trace_of(answer), answer.start, answer.end)


def insert_matched(graph: Graph, root: Vertex, cache: TraceCache, start: int, end: int) -> Vertex:
    """Make [start, end) of `root` a vertex; `cache` is the trace that proves the match."""
    if end <= start:
        raise InvalidEndBound
    if root not in cache:
        raise MissingCacheEntry(root)
    if (start, end) == (0, graph.width(root)):
        return root
    target: Vertex | None = None
    rewritten: list[Pattern] = []
    extra: list[Pattern] = []
    for pattern in list(graph.patterns(root)):
        target, changed, added = _carve(graph, pattern, start, end)
        rewritten.append(changed)
        extra += added
    assert target is not None, "only composites are cut"
    _set_patterns(graph, root, rewritten, extra)
    return target


def _carve(
    graph: Graph, pattern: Pattern, start: int, end: int
) -> tuple[Vertex, Pattern, list[Pattern]]:
    """The vertex of [start, end) of a pattern, the changed pattern, and new ones for its root."""
    i, a = cut_pattern(graph, pattern, start) if start else (0, None)
    total = sum(graph.width(child) for child in pattern)
    j, b = (len(pattern), None) if end == total else cut_pattern(graph, pattern, end)
    left_rest, left = _halves(graph, pattern[i], a) if a is not None else (None, None)
    right, right_rest = _halves(graph, pattern[j], b) if b is not None else (None, None)
    inner = pattern[i + (a is not None) : j]
    perfect = a is None and b is None
    if len(inner) > 1 and not perfect:
        inner = (graph.pattern(inner),)
    parts = [part for part in (left, *inner, right) if part is not None]
    if a is not None and i == j:
        # Both edges fall in one child: the interval lies inside it.
        assert b is not None, "both edges are in the same child"
        child = pattern[i]
        target = _inside(graph, child, a, b)
        return target, pattern, []
    target = graph.pattern(parts)
    if perfect:
        return target, (*pattern[:i], target, *pattern[j:]), []
    run_end = j + (b is not None)
    wrapped = tuple(part for part in (left_rest, target, right_rest) if part is not None)
    outer = [pattern[i]] if a is not None else []
    kept = (*outer, *inner, *([pattern[j]] if b is not None else []))
    if i == 0 and run_end == len(pattern):
        return target, kept, [wrapped]
    wrapper = graph.pattern(kept)
    _gain(graph, wrapper, wrapped)
    return target, (*pattern[:i], wrapper, *pattern[run_end:]), []


def _inside(graph: Graph, child: Vertex, start: int, end: int) -> Vertex:
    cache = TraceCache(child)
    return insert_matched(graph, child, cache, start, end)


def _halves(graph: Graph, vertex: Vertex, offset: int) -> tuple[Vertex, Vertex]:
    """Split a vertex into two vertices, which become a decomposition of it."""
    left: Vertex | None = None
    right: Vertex | None = None
    rewritten: list[Pattern] = []
    perfect = False
    for pattern in list(graph.patterns(vertex)):
        number, inner = cut_pattern(graph, pattern, offset)
        before, after = pattern[:number], pattern[number + (inner is not None) :]
        if inner is None:
            left, right = graph.pattern(before), graph.pattern(after)
            rewritten.append((left, right))
            perfect = True
            continue
        low, high = _halves(graph, pattern[number], inner)
        head = (graph.pattern(before),) if before else ()
        tail = (graph.pattern(after),) if after else ()
        left, right = graph.pattern((*head, low)), graph.pattern((high, *tail))
        rewritten.append((*head, pattern[number], *tail))
    assert left is not None, "only composites are cut"
    assert right is not None, "only composites are cut"
    _set_patterns(graph, vertex, rewritten, [] if perfect else [(left, right)])
    return left, right


def _set_patterns(
    graph: Graph, vertex: Vertex, patterns: list[Pattern], extra: list[Pattern]
) -> None:
    """Rewrite a vertex; of patterns that share a border the earlier one is kept (I7)."""
    kept: list[Pattern] = []
    taken: set[int] = set()
    for pattern in [*patterns, *extra]:
        borders, at = set(), 0
        for child in pattern[:-1]:
            at += graph.width(child)
            borders.add(at)
        if len(pattern) > 1 and not borders & taken:
            kept.append(pattern)
            taken |= borders
    if sorted(kept) != sorted(graph.patterns(vertex)):
        graph.rewrite(vertex, kept)


def _gain(graph: Graph, vertex: Vertex, pattern: Pattern) -> None:
    if pattern not in graph.patterns(vertex):
        _set_patterns(graph, vertex, list(graph.patterns(vertex)), [pattern])
