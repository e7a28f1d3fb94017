"""The invariants of a graph as named checks; each lists the violations.

    I1 width      a pattern's children are together as wide as their vertex
    I2 arity      a pattern has two children or more; a vertex wider than one atom has a pattern
    I3 two-way    children and parents list each other at the same locations
    I4 atoms      one vertex per atom
    I5 one string all patterns of a vertex spell the same string
    I6 unique     no two vertices spell the same string
    I7 borders    inside a vertex, no offset is a border of two patterns
    I8 reach      a vertex inside another is reachable from it at every offset where it occurs
    I9 repeats    a maximal repeat of the documents is a vertex
    I10 overlap   where two vertices overlap in a third, their union is a vertex

I1 to I5 and I7 hold in every graph. I6, I8 and I9 make search complete. I10 makes clearing the
queue sound. I8 to I10 compare all strings, so they are for small graphs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from holdfast.sequence.canonical import Alphabet, repeats
from holdfast.sequence.graph import Graph, Location, Vertex


def _patterns(graph: Graph) -> Iterator[tuple[Vertex, int, tuple[Vertex, ...]]]:
    for vertex in graph.vertices():
        for number, pattern in enumerate(graph.patterns(vertex)):
            yield vertex, number, pattern


def width(graph: Graph) -> Iterator[str]:
    for vertex, number, pattern in _patterns(graph):
        if sum(map(graph.width, pattern)) != graph.width(vertex):
            yield f"pattern {number} of {graph.name(vertex)} is not as wide as it"


def arity(graph: Graph) -> Iterator[str]:
    for vertex, number, pattern in _patterns(graph):
        if len(pattern) < 2:
            yield f"pattern {number} of {graph.name(vertex)} has {len(pattern)} children"
    for vertex in graph.vertices():
        if graph.width(vertex) > 1 and not graph.patterns(vertex):
            yield f"{graph.name(vertex)} has no pattern"


def two_way(graph: Graph) -> Iterator[str]:
    down = Counter(
        (child, Location(vertex, number, nth))
        for vertex, number, pattern in _patterns(graph)
        for nth, child in enumerate(pattern)
    )
    up = Counter((child, at) for child in graph.vertices() for at in graph.parents(child))
    for child, at in (down - up) + (up - down):
        yield f"{graph.name(child)} and {graph.name(at.vertex)} disagree about pattern {at.pattern}"


def atoms(graph: Graph) -> Iterator[str]:
    seen = Counter(graph.value(v) for v in graph.vertices() if graph.is_atom(v))
    for value, count in seen.items():
        if count > 1:
            yield f"the atom {value!r} has {count} vertices"


def one_string(graph: Graph) -> Iterator[str]:
    for vertex, number, pattern in _patterns(graph):
        spelled = tuple(atom for child in pattern for atom in graph.spelled(child))
        if spelled != graph.spelled(vertex):
            yield f"pattern {number} of {graph.name(vertex)} spells something else"


def unique(graph: Graph) -> Iterator[str]:
    for string, count in Counter(graph.spelled(v) for v in graph.vertices()).items():
        if count > 1:
            yield f"{count} vertices spell {string!r}"


def borders(graph: Graph) -> Iterator[str]:
    for vertex in graph.vertices():
        seen: Counter[int] = Counter()
        for pattern in graph.patterns(vertex):
            at = 0
            for child in pattern[:-1]:
                at += graph.width(child)
                seen[at] += 1
        for offset, count in seen.items():
            if count > 1:
                yield f"{count} patterns of {graph.name(vertex)} have a border at {offset}"


def _encoded(graph: Graph) -> dict[Vertex, str]:
    alphabet = Alphabet(graph.atoms())
    return {vertex: alphabet.encode(graph.spelled(vertex)) for vertex in graph.vertices()}


def _occurrences(text: str, part: str) -> set[int]:
    found, at = set(), text.find(part)
    while at >= 0:
        found.add(at)
        at = text.find(part, at + 1)
    return found


def _reached(graph: Graph, root: Vertex) -> dict[Vertex, set[int]]:
    """Every vertex below `root` with the offsets at which a downward path reaches it."""
    reached: dict[Vertex, set[int]] = {root: {0}}
    for vertex in sorted(graph.vertices(), key=graph.width, reverse=True):
        for pattern in graph.patterns(vertex) if vertex in reached else ():
            at = 0
            for child in pattern:
                reached.setdefault(child, set()).update(at + o for o in reached[vertex])
                at += graph.width(child)
    return reached


def reach(graph: Graph) -> Iterator[str]:
    strings = _encoded(graph)
    for vertex, text in strings.items():
        reached = _reached(graph, vertex)
        for part, string in strings.items():
            if len(string) < len(text):
                for at in sorted(_occurrences(text, string) - reached.get(part, set())):
                    yield f"{graph.name(part)} in {graph.name(vertex)} at {at} is not reachable"


def repeated(graph: Graph) -> Iterator[str]:
    strings = _encoded(graph)
    roots = [strings[root] for root in graph.roots()]
    for string in sorted(repeats(roots) - set(strings.values())):
        yield f"a repeat of {len(string)} atoms is not a vertex"


def overlap(graph: Graph) -> Iterator[str]:
    strings = {v: s for v, s in _encoded(graph).items() if len(s) > 1}
    known = set(strings.values())
    for vertex, text in strings.items():
        spans = sorted((at, at + len(s)) for s in known for at in _occurrences(text, s))
        for number, (first, last) in enumerate(spans):
            for start, end in spans[number + 1 :]:
                if start >= last:
                    break
                if start > first and end > last and text[first:end] not in known:
                    yield f"two vertices overlap in {graph.name(vertex)} over [{first}, {end})"


CHECKS: dict[str, Callable[[Graph], Iterator[str]]] = {
    "I1 width": width,
    "I2 arity": arity,
    "I3 two-way": two_way,
    "I4 atoms": atoms,
    "I5 one string": one_string,
    "I6 unique": unique,
    "I7 borders": borders,
    "I8 reach": reach,
    "I9 repeats": repeated,
    "I10 overlap": overlap,
}

ALWAYS = ["I1 width", "I2 arity", "I3 two-way", "I4 atoms", "I5 one string", "I7 borders"]


def broken(graph: Graph, names: Iterable[str] = tuple(CHECKS)) -> list[str]:
    """The violations of the named invariants, each with its name; empty if all hold."""
    return [f"{name}: {detail}" for name in names for detail in CHECKS[name](graph)]


def is_closed(graph: Graph) -> bool:
    """Whether clearing the queue on a match loses nothing: I6, I8, I9 and I10 hold."""
    return not broken(graph, ["I6 unique", "I8 reach", "I9 repeats", "I10 overlap"])
