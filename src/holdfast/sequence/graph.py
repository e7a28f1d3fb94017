"""The core graph: atoms, vertices with several decompositions, and their parents.

A vertex stands for one string of atoms. A pattern is one way to cut that string into smaller
vertices, and a vertex may have several (`abc: [ab c] [a bc]`), so overlapping repeats are all kept.
Ids are dense integers in order of creation and every tie is broken by them, so the same calls make
the same graph and the same answers, whatever the hash seed.

A vertex is also identified by the digest of its string. `pattern` uses it to return an existing
vertex with the same string, so that no string has two vertices (I6), unless `strict` is set.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import NamedTuple, NewType

from holdfast.sequence.errors import BadPattern, UnknownAtom

Vertex = NewType("Vertex", int)
"""A vertex id: dense, in order of creation."""

Atom = Hashable
"""A symbol of the input alphabet; its digest is that of its bytes or its `repr`."""

Pattern = tuple[Vertex, ...]

_MODULUS = (1 << 61) - 1
_BASE = 0x1D0B_5C2A_77E9_4F31 % _MODULUS


class Location(NamedTuple):
    """One occurrence edge: child number `nth` of pattern `pattern` of `vertex`."""

    vertex: Vertex
    pattern: int
    nth: int


def atom_digest(value: Atom) -> int:
    """A 61-bit digest of an atom that does not depend on the graph it is in."""
    raw = value if isinstance(value, bytes) else repr(value).encode("utf-8", "surrogatepass")
    number = int.from_bytes(hashlib.blake2b(raw, digest_size=8).digest(), "little")
    return number % (_MODULUS - 1) + 1


def string_digest(atoms: Iterable[Atom]) -> int:
    """The digest of a string of atoms: equal strings have equal digests in every graph."""
    total = 0
    for atom in atoms:
        total = (total * _BASE + atom_digest(atom)) % _MODULUS
    return total


class Graph:
    """Vertices and their patterns. I1 to I5 and I7 always hold, and I6 unless `strict` is used."""

    def __init__(self, *, closed: bool = False) -> None:
        self.closed = closed
        """Whether overlap unions are vertices (I10), so that a search can clear its queue."""
        self._atoms: dict[Atom, Vertex] = {}
        self._values: dict[Vertex, Atom] = {}
        self._widths: list[int] = []
        self._digests: list[int] = []
        self._patterns: list[list[Pattern]] = []
        self._parents: list[list[Location]] = []
        self._sorted: list[bool] = []
        self._by_string: dict[tuple[int, int], list[Vertex]] = {}
        self._names: dict[Vertex, str] = {}

    def __len__(self) -> int:
        return len(self._widths)

    def __contains__(self, vertex: object) -> bool:
        return isinstance(vertex, int) and 0 <= vertex < len(self._widths)

    def vertices(self) -> Iterator[Vertex]:
        """Every vertex, in order of creation."""
        return (Vertex(number) for number in range(len(self._widths)))

    def width(self, vertex: Vertex) -> int:
        """How many atoms the vertex spans; it never changes."""
        return self._widths[vertex]

    def digest(self, vertex: Vertex) -> int:
        """The vertex's identity in every graph: the digest of its string."""
        return self._digests[vertex]

    def patterns(self, vertex: Vertex) -> Sequence[Pattern]:
        """The vertex's decompositions; an atom has none."""
        return self._patterns[vertex]

    def parents(self, vertex: Vertex) -> Sequence[Location]:
        """Where the vertex occurs, by (width of the parent, child index, parent, pattern)."""
        if not self._sorted[vertex]:
            self._parents[vertex].sort(
                key=lambda at: (self._widths[at.vertex], at.nth, at.vertex, at.pattern)
            )
            self._sorted[vertex] = True
        return self._parents[vertex]

    def is_atom(self, vertex: Vertex) -> bool:
        return not self._patterns[vertex]

    def value(self, vertex: Vertex) -> Atom:
        """The symbol of an atom."""
        return self._values[vertex]

    def atoms(self) -> dict[Atom, Vertex]:
        """Every atom by its symbol (a copy)."""
        return dict(self._atoms)

    def roots(self) -> list[Vertex]:
        """The vertices without parents, except atoms: the documents."""
        return [v for v in self.vertices() if not self._parents[v] and not self.is_atom(v)]

    def spelled(self, vertex: Vertex) -> tuple[Atom, ...]:
        """The string of a vertex, read from its first pattern without recursion."""
        out: list[Atom] = []
        stack = [vertex]
        while stack:
            top = stack.pop()
            if self._patterns[top]:
                stack.extend(reversed(self._patterns[top][0]))
            else:
                out.append(self._values[top])
        return tuple(out)

    def name(self, vertex: Vertex) -> str:
        """The name passed to `pattern`, or the atoms side by side."""
        name = self._names.get(vertex)
        if name is not None:
            return name
        parts = [part if isinstance(part, str) else repr(part) for part in self.spelled(vertex)]
        separator = "" if all(len(part) == 1 for part in parts) else " "
        return separator.join(parts)

    def offset(self, location: Location) -> int:
        """How many atoms of the parent come before the child at `location`."""
        pattern = self._patterns[location.vertex][location.pattern]
        return sum(self._widths[child] for child in pattern[: location.nth])

    def child(self, location: Location) -> Vertex:
        return self._patterns[location.vertex][location.pattern][location.nth]

    def find(self, atoms: Sequence[Atom]) -> Vertex | None:
        """The vertex that spells exactly this string, if there is one."""
        spelling = tuple(atoms)
        for vertex in self._by_string.get((len(spelling), string_digest(spelling)), ()):
            if self.spelled(vertex) == spelling:
                return vertex
        return None

    def sequence(self, values: Iterable[Atom]) -> list[Vertex]:
        """The vertices of these atoms; raises UnknownAtom for one that the graph lacks."""
        out = []
        for value in values:
            vertex = self._atoms.get(value)
            if vertex is None:
                raise UnknownAtom(value)
            out.append(vertex)
        return out

    # Building

    def atom(self, value: Atom) -> Vertex:
        """The vertex of this symbol, created on first use (I4)."""
        vertex = self._atoms.get(value)
        if vertex is None:
            vertex = self._new(1, atom_digest(value))
            self._atoms[value] = vertex
            self._values[vertex] = value
            self._by_string.setdefault((1, self._digests[vertex]), []).append(vertex)
        return vertex

    def pattern(
        self, children: Sequence[Vertex], *, name: str | None = None, strict: bool = False
    ) -> Vertex:
        """The vertex of this run of children.

        A run of one child is that child. If a vertex with the same string exists, it is returned,
        and gets the decomposition unless that would break I7. `strict` always creates a vertex.
        """
        pattern = self._checked(children)
        if len(pattern) == 1:
            return pattern[0]
        if not strict:
            vertex = self._spelling(pattern)
            if vertex is not None:
                if not self.is_atom(vertex) and not self._borders(pattern) & self._all_borders(
                    vertex
                ):
                    self._link(vertex, pattern)
                return vertex
        return self._make([pattern], name)

    def patterns_of_one(
        self, patterns: Sequence[Sequence[Vertex]], *, name: str | None = None
    ) -> Vertex:
        """One new vertex with several decompositions, all of the same string."""
        checked = [self._checked(children) for children in patterns]
        if not checked:
            raise BadPattern("I2 arity", "a vertex needs at least one pattern")
        for pattern in checked:
            if len(pattern) == 1:
                return pattern[0]
        vertex = self._make([checked[0]], name)
        for pattern in checked[1:]:
            self.add_pattern(vertex, pattern)
        return vertex

    def add_pattern(self, vertex: Vertex, children: Sequence[Vertex]) -> int:
        """Add a decomposition to a vertex; returns its number."""
        pattern = self._checked(children)
        self._fits(vertex, pattern)
        if self._borders(pattern) & self._all_borders(vertex):
            raise BadPattern(
                "I7 borders",
                f"another pattern of {self.name(vertex)} already has a border of the new one",
            )
        return self._link(vertex, pattern)

    def rewrite(self, vertex: Vertex, patterns: Sequence[Sequence[Vertex]]) -> None:
        """Replace all decompositions of a vertex; its string does not change (I5)."""
        checked = [self._checked(children) for children in patterns]
        if not checked:
            raise BadPattern("I2 arity", f"{self.name(vertex)} would have no pattern")
        taken: set[int] = set()
        for pattern in checked:
            self._fits(vertex, pattern)
            borders = self._borders(pattern)
            if borders & taken:
                raise BadPattern(
                    "I7 borders", f"two patterns of {self.name(vertex)} would have the same border"
                )
            taken |= borders
        for child in {child for pattern in self._patterns[vertex] for child in pattern}:
            self._parents[child] = [at for at in self._parents[child] if at.vertex != vertex]
        self._patterns[vertex] = []
        for pattern in checked:
            self._link(vertex, pattern)

    def replace(self, location: Location, count: int, children: Sequence[Vertex]) -> None:
        """Replace `count` children, from `location` on, by others."""
        patterns = [list(pattern) for pattern in self._patterns[location.vertex]]
        patterns[location.pattern][location.nth : location.nth + count] = children
        self.rewrite(location.vertex, patterns)

    # Inside

    def _new(self, width: int, digest: int) -> Vertex:
        vertex = Vertex(len(self._widths))
        self._widths.append(width)
        self._digests.append(digest)
        self._patterns.append([])
        self._parents.append([])
        self._sorted.append(True)
        return vertex

    def _make(self, patterns: list[Pattern], name: str | None) -> Vertex:
        width, digest = self._measure(patterns[0])
        vertex = self._new(width, digest)
        self._by_string.setdefault((width, digest), []).append(vertex)
        if name is not None:
            self._names[vertex] = name
        for pattern in patterns:
            self._link(vertex, pattern)
        return vertex

    def _link(self, vertex: Vertex, pattern: Pattern) -> int:
        number = len(self._patterns[vertex])
        self._patterns[vertex].append(pattern)
        for index, child in enumerate(pattern):
            self._parents[child].append(Location(vertex, number, index))
            self._sorted[child] = False
        return number

    def _checked(self, children: Sequence[Vertex]) -> Pattern:
        if not children:
            raise BadPattern("I2 arity", "a pattern needs at least one child")
        for child in children:
            if child not in self:
                raise BadPattern("I3 two-way", f"vertex {child} does not exist")
        return tuple(children)

    def _fits(self, vertex: Vertex, pattern: Pattern) -> None:
        if len(pattern) < 2:
            raise BadPattern("I2 arity", "a decomposition needs at least two children")
        width, digest = self._measure(pattern)
        if width != self._widths[vertex]:
            raise BadPattern(
                "I1 width", f"{self.name(vertex)} is {self._widths[vertex]} wide, not {width}"
            )
        spelled = tuple(atom for child in pattern for atom in self.spelled(child))
        if digest != self._digests[vertex] or spelled != self.spelled(vertex):
            raise BadPattern("I5 one string", f"the pattern does not spell {self.name(vertex)}")

    def _measure(self, pattern: Pattern) -> tuple[int, int]:
        width, digest = 0, 0
        for child in pattern:
            width += self._widths[child]
            digest = (
                digest * pow(_BASE, self._widths[child], _MODULUS) + self._digests[child]
            ) % _MODULUS
        return width, digest

    def _spelling(self, pattern: Pattern) -> Vertex | None:
        vertices = self._by_string.get(self._measure(pattern))
        if not vertices:
            return None
        spelled = tuple(atom for child in pattern for atom in self.spelled(child))
        return next((vertex for vertex in vertices if self.spelled(vertex) == spelled), None)

    def _borders(self, pattern: Pattern) -> set[int]:
        borders, at = set(), 0
        for child in pattern[:-1]:
            at += self._widths[child]
            borders.add(at)
        return borders

    def _all_borders(self, vertex: Vertex) -> set[int]:
        return set().union(*(self._borders(pattern) for pattern in self._patterns[vertex]))
