"""Read documents into a graph: every document is a vertex, and re-spells itself.

`Reader` takes documents one by one and can show the canonical graph of all it has read at any
time. The graph is a function of the set of documents, so their order leaves no trace in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from holdfast.sequence.canonical import DEFAULT_LIMIT, canonical_graph
from holdfast.sequence.errors import EmptyQuery
from holdfast.sequence.graph import Atom, Graph, Vertex


class Reader:
    """Documents read so far, and their canonical graph."""

    def __init__(self, *, unions: bool = True, max_vertices: int = DEFAULT_LIMIT) -> None:
        self.unions, self.max_vertices = unions, max_vertices
        self._documents: dict[tuple[Atom, ...], None] = {}
        self._graph: Graph | None = None

    def read(self, document: Iterable[Atom]) -> None:
        """Take one more document; an empty one says nothing and is refused."""
        atoms = tuple(document)
        if not atoms:
            raise EmptyQuery
        if atoms not in self._documents:
            self._documents[atoms] = None
            self._graph = None

    @property
    def graph(self) -> Graph:
        if self._graph is None:
            self._graph = canonical_graph(
                self._documents, unions=self.unions, max_vertices=self.max_vertices
            )
        return self._graph

    def vertex(self, document: Sequence[Atom]) -> Vertex:
        """The vertex of a document that was read."""
        vertex = self.graph.find(tuple(document))
        assert vertex is not None, "what was read is a vertex"
        return vertex


def read(documents: Iterable[Iterable[Atom]], *, unions: bool = True) -> Graph:
    """The graph of these documents."""
    reader = Reader(unions=unions)
    for document in documents:
        reader.read(document)
    return reader.graph
