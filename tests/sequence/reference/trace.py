"""The trace of a match: which vertices it cuts, and where.

A trace lists every vertex that an edge of the match passes through: `bottom_up` along the left
edge, from the start leaf to the root, and `top_down` along the right edge, from the root to the end
leaf. Positions count atoms of the query from the start of the match, not atoms of the root.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from holdfast.sequence.graph import Graph, Location, Vertex
from holdfast.sequence.response import GraphMatch, Kind


class TraceEdge(NamedTuple):
    """A step to or from a child: the child, its traced position, and its location."""

    child: Vertex
    position: int
    pattern: int
    nth: int


@dataclass(slots=True)
class VertexTrace:
    """How a match passes through one vertex, by position and direction."""

    bottom_up: dict[int, list[TraceEdge]] = field(default_factory=dict)
    top_down: dict[int, list[TraceEdge]] = field(default_factory=dict)


class TraceCache:
    """Every traced vertex. A new one holds the start vertex, with no positions."""

    def __init__(self, start: Vertex) -> None:
        self.entries: dict[Vertex, VertexTrace] = {start: VertexTrace()}

    def __contains__(self, vertex: object) -> bool:
        return vertex in self.entries

    def __len__(self) -> int:
        return len(self.entries)

    def __getitem__(self, vertex: Vertex) -> VertexTrace:
        return self.entries[vertex]

    def force(self, vertex: Vertex) -> VertexTrace:
        """The entry of a vertex, created if missing."""
        return self.entries.setdefault(vertex, VertexTrace())

    def add_bottom_up(self, vertex: Vertex, position: int, edge: TraceEdge | None = None) -> bool:
        """Record a step on the left edge; returns whether the position is new."""
        return _add(self.force(vertex).bottom_up, position, edge)

    def add_top_down(self, vertex: Vertex, position: int, edge: TraceEdge | None = None) -> bool:
        """Record a step on the right edge; returns whether the position is new."""
        return _add(self.force(vertex).top_down, position, edge)


def _add(positions: dict[int, list[TraceEdge]], position: int, edge: TraceEdge | None) -> bool:
    new = position not in positions
    edges = positions.setdefault(position, [])
    if edge is not None and edge not in edges:
        edges.append(edge)
    return new


def trace_start(
    cache: TraceCache,
    graph: Graph,
    root: Location,
    start_path: Iterable[Location],
    entry_pos: int,
) -> None:
    """Record the left edge: up the start path, leaf first, then into the root's entry child.

    `root` is the location of the entry child.
    """
    position = None
    for at in start_path:
        below = graph.child(at)
        if position is None:
            position = graph.width(below)
        edge = TraceEdge(below, position, at.pattern, at.nth)
        cache.add_bottom_up(at.vertex, position, edge)
        pattern = graph.patterns(at.vertex)[at.pattern]
        position += sum(graph.width(child) for child in pattern[at.nth + 1 :])
    edge = TraceEdge(graph.child(root), entry_pos, root.pattern, root.nth)
    cache.add_bottom_up(root.vertex, entry_pos, edge)


def trace_end(
    cache: TraceCache, graph: Graph, root: Location, end_path: Iterable[Location], exit_pos: int
) -> None:
    """Record the right edge: out of the root by its exit child, then down the end path.

    `root` is the location of the exit child.
    """
    child, position = graph.child(root), exit_pos
    cache.add_top_down(root.vertex, exit_pos, TraceEdge(child, exit_pos, root.pattern, root.nth))
    cache.add_top_down(child, exit_pos)
    for at in end_path:
        child, inner = graph.child(at), position + graph.offset(at)
        cache.add_top_down(at.vertex, position, TraceEdge(child, inner, at.pattern, at.nth))
        cache.add_top_down(child, inner)
        position = inner


def trace_of(match: GraphMatch) -> TraceCache:
    """The vertices that a match cuts, and where."""
    cache, graph, path = TraceCache(match.first), match.graph, match.path
    if path is None or match.complete:
        return cache
    if match.kind in (Kind.POSTFIX, Kind.RANGE):
        trace_start(cache, graph, path.entry, path.start_path, path.entry_pos)
    if match.kind in (Kind.PREFIX, Kind.RANGE):
        trace_end(cache, graph, path.exit, path.end_path, path.exit_pos)
    return cache
