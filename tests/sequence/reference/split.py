"""The cuts that an interval makes in a root and in everything below it.

In each pattern of a vertex, a cut is either on a border between two children (it is *perfect*) or
inside a child, which is then cut in turn.
"""

from __future__ import annotations

from dataclasses import dataclass

from holdfast.sequence.graph import Graph, Pattern, Vertex

Cut = tuple[int, int | None]
"""The child to the right of the cut, or the child it falls in and the offset inside."""


@dataclass(frozen=True, slots=True)
class Cuts:
    """Every cut of an interval, by vertex and offset and pattern."""

    splits: dict[Vertex, dict[int, dict[int, Cut]]]
    leaves: list[tuple[Vertex, int]]
    """Cuts that are on a border in every pattern: nothing below them is cut."""


def cut_pattern(graph: Graph, pattern: Pattern, offset: int) -> Cut:
    """The child at or in which a pattern is cut at `offset`."""
    at = 0
    for number, child in enumerate(pattern):
        if at == offset:
            return number, None
        width = graph.width(child)
        if at < offset < at + width:
            return number, offset - at
        at += width
    raise AssertionError("a cut lies inside the vertex it cuts")


def cuts(graph: Graph, root: Vertex, first: int, last: int) -> Cuts:
    """Every cut that the interval [first, last) of `root` makes, leaf first."""
    width = graph.width(root)
    assert 0 <= first < last <= width, "an interval lies inside its root"
    splits: dict[Vertex, dict[int, dict[int, Cut]]] = {}
    leaves: list[tuple[Vertex, int]] = []

    def cut(vertex: Vertex, offset: int) -> None:
        if offset in splits.get(vertex, {}):
            return
        places = {
            number: cut_pattern(graph, pattern, offset)
            for number, pattern in enumerate(graph.patterns(vertex))
        }
        splits.setdefault(vertex, {})[offset] = places
        for number, (child, inner) in places.items():
            if inner is not None:
                cut(graph.patterns(vertex)[number][child], inner)
        if all(inner is None for _, inner in places.values()):
            leaves.append((vertex, offset))

    outer = [offset for offset in (first, last) if 0 < offset < width]
    for offset in outer:
        cut(root, offset)
    if len(outer) == 2:
        # The run between two cut children becomes a vertex of its own, so its edges count too.
        for offset in _inner_borders(graph, root, first, last):
            splits[root].setdefault(
                offset,
                {
                    number: cut_pattern(graph, pattern, offset)
                    for number, pattern in enumerate(graph.patterns(root))
                },
            )
    return Cuts(splits, leaves)


def _inner_borders(graph: Graph, root: Vertex, first: int, last: int) -> set[int]:
    found = set()
    for pattern in graph.patterns(root):
        borders, at = [], 0
        for child in pattern:
            at += graph.width(child)
            borders.append(at)
        inside = [border for border in borders if first < border < last]
        if inside:
            found |= {inside[0], inside[-1]}
    return found
