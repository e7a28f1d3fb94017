"""Explain a match in a code base on the core graph of the text around it.

The graph of a code base is virtual, but a window of it can be built: the tokens of the window as a
document, and every run in it that repeats, in the window or anywhere else in its segment, as a
vertex. On that graph the search of the core runs literally, and the vertices that contain the match
are drawn smallest first.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from heapq import heappop, heappush

from holdfast.sequence.canonical import DEFAULT_LIMIT, canonical_graph
from holdfast.sequence.corpus import CorpusMatch, TokenCorpus
from holdfast.sequence.draw import short_label
from holdfast.sequence.graph import Atom, Graph, Pattern, Vertex
from holdfast.sequence.occurrence import Occurrence
from holdfast.sequence.report import ExplanationReport, VertexReport
from holdfast.sequence.response import GraphMatch, Kind
from holdfast.sequence.search import find_sequence

WINDOW = 40
"""How many tokens on both sides of a match become part of the graph."""

MATCH_MAX = 400
"""Longer matches are not explained: their graph would be too large to read."""

CONTAINERS = 4
"""How many containing vertices are shown."""


@dataclass(frozen=True, slots=True)
class Container:
    """A vertex that contains the match, and how the match lies in it."""

    label: str
    tokens: int
    count: int
    """How often the vertex occurs in the tree."""
    kind: Kind
    start: int
    end: int
    patterns: tuple[tuple[str, ...], ...]
    """The children of each decomposition that the match touches; `…` stands for the others."""
    cut_from: int | None = None
    """The width of the repeat or document that this window is cut from; None if it is not cut."""

    def report(self) -> VertexReport:
        kind, size = self.kind.value, (self.tokens, self.cut_from, self.count)
        return VertexReport(self.label, *size, kind, self.start, self.end, self.patterns)


@dataclass(frozen=True, slots=True)
class MatchExplanation:
    """A match on the core graph of its surroundings."""

    response: GraphMatch
    containers: tuple[Container, ...]
    """The smallest repeats that contain the match, narrowest first, and last the whole window."""

    def report(self) -> ExplanationReport:
        return ExplanationReport(tuple([container.report() for container in self.containers]))

    def as_text(self) -> str:
        """A line for each containing vertex, with its patterns below it."""
        lines = ["smallest vertices that contain the match:"]
        for container in self.containers:
            size = f"{container.tokens}" + (
                f" of {container.cut_from}" if container.cut_from else ""
            )
            times = "once" if container.count == 1 else f"{container.count} times"
            lines.append(
                f"  {container.label}  ({size} tokens, {times}; "
                f"{container.kind.value} [{container.start}, {container.end}))"
            )
            lines += [f"    = {' | '.join(pattern)}" for pattern in container.patterns]
        return "\n".join(lines)


def explain(
    match: CorpusMatch, corpus: TokenCorpus, *, tokens: int = WINDOW
) -> MatchExplanation | None:
    """Repeat a match on a core graph of its surroundings; None for one token or very many.

    Gap and union vertices only help to decompose others, so they are left out.
    """
    piece = window(match, tokens)
    if piece is None or not 2 <= match.position <= MATCH_MAX:
        return None
    response = find_sequence(materialise([piece]), match.matched)
    graph, containers = response.graph, list[Container]()
    for vertex, start in containing(response):
        texts = [atom for atom in graph.spelled(vertex) if isinstance(atom, bytes)]
        there = corpus.find(texts)
        if len(containers) < CONTAINERS and (
            there.kind is Kind.COMPLETE or not graph.parents(vertex)
        ):
            containers.append(_container(graph, vertex, start, match, there.count))
    return MatchExplanation(response, tuple(containers))


def _container(
    graph: Graph, vertex: Vertex, start: int, match: CorpusMatch, count: int
) -> Container:
    end = start + match.position
    patterns = [_touched(graph, pattern, start, end) for pattern in graph.patterns(vertex)]
    return Container(
        short_label(graph, vertex),
        graph.width(vertex),
        count,
        Kind.of(at_start=start == 0, at_end=end == graph.width(vertex)),
        start,
        end,
        tuple(dict.fromkeys(patterns)),
        match.root_width
        if not graph.parents(vertex) and graph.width(vertex) < match.root_width
        else None,
    )


def _touched(graph: Graph, pattern: Pattern, start: int, end: int) -> tuple[str, ...]:
    """The children of a pattern that [start, end) touches; `…` stands for the others."""
    shown: list[str] = []
    at = 0
    for child in pattern:
        after = at + graph.width(child)
        if at <= start and end <= after and end - start < after - at:
            # A helper vertex around the whole match explains nothing; its children do.
            inner = _touched(graph, graph.patterns(child)[0], start - at, end - at)
            shown += inner if shown[-1:] != ["…"] or inner[0] != "…" else inner[1:]
        elif at < end and after > start:
            shown.append(short_label(graph, child))
        elif shown[-1:] != ["…"]:
            shown.append("…")
        at = after
    return tuple(shown)


def containing(response: GraphMatch) -> Iterable[tuple[Vertex, int]]:
    """The vertices that contain a match, narrowest first, each with the offset of the match.

    The search has found the smallest one; the others are reached through the parents.
    """
    graph = response.graph
    waiting = [(graph.width(response.root), response.root, response.start)]
    vertices = {response.root}
    while waiting:
        _, vertex, start = heappop(waiting)
        yield vertex, start
        for at in graph.parents(vertex):
            if at.vertex not in vertices:
                vertices.add(at.vertex)
                heappush(waiting, (graph.width(at.vertex), at.vertex, graph.offset(at) + start))


def materialise(
    slices: Iterable[Occurrence], *, unions: bool = False, max_vertices: int = DEFAULT_LIMIT
) -> Graph:
    """The graph of these slices; runs that repeat elsewhere in their segment are vertices too."""
    documents: list[list[Atom]] = []
    extra: list[list[Atom]] = []
    for piece in slices:
        texts: list[Atom] = list(piece.texts())
        documents.append(texts)
        extra += [texts[first:last] for first, last in repeated_runs(piece)]
    return canonical_graph(documents, unions=unions, max_vertices=max_vertices, extra=extra)


def repeated_runs(piece: Occurrence) -> list[tuple[int, int]]:
    """The longest runs of a slice that also occur elsewhere in its segment, none inside another."""
    segment = piece.segment
    shared, ranks, count = segment.arrays["shared"], segment.ranks, len(segment.tokens)
    exact = dict(zip(segment.arrays["long_ranks"], segment.arrays["long_shared"], strict=True))
    runs: list[tuple[int, int]] = []
    reach = 0
    for offset in range(piece.length):
        rank = ranks[piece.position + offset]
        longest = max(
            exact.get(rank, shared[rank]),
            exact.get(rank + 1, shared[rank + 1]) if rank + 1 < count else 0,
        )
        end = min(offset + longest, piece.length)
        if end - offset > 1 and end > reach:
            reach = end
            if end - offset < piece.length:
                runs.append((offset, end))
    return runs


def window(match: CorpusMatch, tokens: int = WINDOW) -> Occurrence | None:
    """The root of a match, cut to `tokens` on both sides of it."""
    root = match.root
    if root is None:
        return None
    first = max(0, match.start - tokens)
    last = min(root.length, match.end + tokens)
    return Occurrence(root.segment, root.position + first, last - first)
