"""Walking calls: who calls a symbol, whom it calls, up to three steps away."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Literal

import msgspec

from holdfast.index.calls.resolve import Edge, Open, Resolution
from holdfast.index.facts.model import FileFacts, Span, file_id

Direction = Literal["callers", "callees", "both"]
DEPTH_MAX = 3


class Node(msgspec.Struct, frozen=True, array_like=True):
    """A symbol, or a file whose top level calls something."""

    id: str
    label: str
    path: str
    language: str
    span: Span


class Neighbourhood(msgspec.Struct, frozen=True, array_like=True):
    """What is around a symbol. `more` counts the edges that the limit left out."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    open: tuple[Open, ...]
    more: int = 0


class CallGraph:
    """The resolved calls of a program, by their two ends."""

    def __init__(self, files: Iterable[FileFacts], resolutions: Iterable[Resolution]) -> None:
        self.nodes: dict[str, Node] = {}
        self.outbound: dict[str, list[Edge]] = defaultdict(list)
        self.inbound: dict[str, list[Edge]] = defaultdict(list)
        self.open: dict[str, list[Open]] = defaultdict(list)
        for facts in files:
            whole = Span(1, max(1, facts.lines), 0, facts.size)
            own = file_id(facts.path)
            self.nodes[own] = Node(own, facts.label(-1), facts.path, facts.language, whole)
            for index, symbol in enumerate(facts.symbols):
                self.nodes[symbol.id] = Node(
                    symbol.id, facts.label(index), facts.path, facts.language, symbol.span
                )
        for resolution in resolutions:
            for edge in resolution.edges:
                self.outbound[edge.caller].append(edge)
                self.inbound[edge.callee].append(edge)
            for item in resolution.open:
                self.open[item.caller].append(item)

    def around(
        self, symbol: str, direction: Direction = "both", depth: int = 1, limit: int = 20
    ) -> Neighbourhood:
        """The calls within `depth` steps (1 to 3) of a symbol, nearest first, at most `limit`."""
        assert 1 <= depth <= DEPTH_MAX, "a walk is one to three steps"
        edges: list[Edge] = []
        seen_edges: set[Edge] = set()
        reached = {symbol}
        more = 0
        for tables in self._tables(direction):
            frontier, visited = [symbol], {symbol}
            for _ in range(depth):
                following: list[str] = []
                for at in frontier:
                    for edge in sorted(tables.get(at, ()), key=_edge_order):
                        other = edge.callee if tables is self.outbound else edge.caller
                        if other not in visited:
                            visited.add(other)
                            following.append(other)
                        if edge in seen_edges:
                            continue
                        seen_edges.add(edge)
                        if len(edges) >= limit:
                            more += 1
                            continue
                        edges.append(edge)
                        reached.add(other)
                frontier = following
        nodes = [self.nodes[id_] for id_ in reached if id_ in self.nodes]
        nodes.sort(key=lambda n: (n.path, n.span.first_line, n.span.last_line, n.label, n.id))
        left = [o for id_ in sorted(reached) for o in self.open.get(id_, ())]
        left.sort(key=lambda o: (o.path, o.line, o.text))
        return Neighbourhood(tuple(nodes), tuple(edges), tuple(left), more)

    def _tables(self, direction: Direction) -> list[dict[str, list[Edge]]]:
        if direction == "callers":
            return [self.inbound]
        return [self.outbound] if direction == "callees" else [self.inbound, self.outbound]


def _edge_order(edge: Edge) -> tuple[str, int, str, str]:
    return edge.path, edge.line, edge.caller, edge.callee
