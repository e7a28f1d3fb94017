"""The canonical graph of a small corpus: which strings are vertices, and how each is decomposed.

    L0  the documents, and every maximal repeat of two or more atoms
    L1  L0 closed under overlap: where two labels overlap in a document, their union is a label
    L2  L1 with the gap strings that the decompositions need

A maximal repeat occurs at least twice, and neither all its left neighbours nor all its right
neighbours are the same; both ends of a document count as unique neighbours. To decompose a label,
take the longest other label at every offset, drop those inside another, and lay the rest into as
few lines of disjoint intervals as possible. Each line is one pattern.

Every label lies in one of a few longest labels, the *hosts*, so the work is done on intervals of
the hosts instead of strings: the closure sweeps over the ends of intervals, and a decomposition
looks up the longest interval at each offset. Both are about quadratic in a host, also for periodic
text. But L1 can have a quadratic number of labels, so this is for small corpora: `GraphLimits`
bounds the vertices and the work, and `GraphTooLarge` names the limit that was exceeded.
`unions=False` leaves L1 out; the graph is then linear in the corpus, and not closed.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from holdfast.sequence.errors import GraphTooLarge
from holdfast.sequence.graph import Atom, Graph, Vertex
from holdfast.sequence.suffix import SEPARATOR, pure

DEFAULT_LIMIT = 200_000
STEPS_MAX = 10_000_000
"""Building a graph stops after this many steps, which take some tens of seconds."""

# Atoms are encoded as single characters from here on: strings of them slice and hash fast.
_FIRST_CODE = 0x20


@dataclass(slots=True)
class GraphLimits:
    """How large a graph may become and how much work it may take; counts the work."""

    vertices: int = DEFAULT_LIMIT
    steps_max: int = STEPS_MAX
    steps: int = 0

    def spend(self, steps: int) -> None:
        self.steps += steps
        if self.steps > self.steps_max:
            raise GraphTooLarge("steps", self.steps_max)

    def check(self, vertices: int) -> None:
        if vertices > self.vertices:
            raise GraphTooLarge("vertices", self.vertices)


class Alphabet:
    """Atoms as characters: a string of atoms becomes a `str` of as many characters."""

    def __init__(self, atoms: Iterable[Atom]) -> None:
        # Ordered by the atoms themselves, not by where they were seen first, so that the graph does
        # not depend on the order of the documents.
        ordered = sorted(set(atoms), key=lambda atom: (type(atom).__name__, repr(atom)))
        self.atoms = ordered
        self._code = {atom: _character(number) for number, atom in enumerate(ordered)}
        self._atom = {code: atom for atom, code in self._code.items()}

    def encode(self, atoms: Iterable[Atom]) -> str:
        return "".join([self._code[atom] for atom in atoms])

    def decode(self, label: str) -> tuple[Atom, ...]:
        return tuple(self._atom[character] for character in label)


def _character(number: int) -> str:
    code = _FIRST_CODE + number
    return chr(code if code < 0xD800 else code + 0x800)  # skips the surrogates


def repeats(documents: Sequence[str]) -> set[str]:
    """Every maximal repeat of two or more characters."""
    tokens: list[int] = []
    text = ""
    for document in documents:
        tokens.extend(ord(character) for character in document)
        tokens.append(SEPARATOR)
        text += document + "\0"
    suffixes = pure.suffix_array(tokens)
    shared = pure.common_prefixes(tokens, suffixes, pure.inverse(suffixes))
    changes = pure.left_changes(tokens, suffixes)
    return {
        text[suffixes[first] : suffixes[first] + length]
        for length, first, _ in pure.maximal_repeats(shared, changes, 2)
    }


class Labels:
    """A set of strings and every place where one occurs in a host.

    A host is a label that lies in no other label, so every label occurs in some host.
    """

    def __init__(self, labels: Iterable[str], limits: GraphLimits) -> None:
        self.limits = limits
        self.hosts: list[str] = []
        ordered = sorted(set(labels), key=lambda label: (-len(label), label))
        limits.check(len(ordered))
        for label in ordered:
            limits.spend(len(self.hosts) + 1)
            if not any(label in host for host in self.hosts):
                self.hosts.append(label)
        self.where: dict[str, tuple[int, int]] = {}
        """Each label with one of its places: the number of a host, and the offset in it."""
        self.ends: list[list[list[int]]] = [[[] for _ in host] for host in self.hosts]
        """For each host and offset, where the labels that begin there end, in order."""
        self.starts: list[list[list[int]]] = [[[] for _ in range(len(h) + 1)] for h in self.hosts]
        """For each host and offset, where the labels that end there begin, in order."""
        self.add(ordered)

    def __contains__(self, label: object) -> bool:
        return label in self.where

    def add(self, labels: Iterable[str]) -> set[int]:
        """Add labels that lie in the hosts; returns the numbers of the hosts they occur in."""
        touched = set()
        for label in sorted(labels, key=lambda label: (len(label), label)):
            for number, host in enumerate(self.hosts):
                self.limits.spend(1 + len(host) // 64)  # a scan in C is cheap, but not free
                at = host.find(label)
                while at >= 0:
                    self.limits.spend(1)
                    self.where.setdefault(label, (number, at))
                    insort(self.ends[number][at], at + len(label))
                    insort(self.starts[number][at + len(label)], at)
                    touched.add(number)
                    at = host.find(label, at + 1)
        self.limits.check(len(self.where))
        return touched

    def close_under_overlap(self) -> None:
        """Add the union of every overlap of two labels in a third, until nothing is new."""
        touched = set(range(len(self.hosts)))
        while touched:
            unions: set[str] = set()
            for number in touched:
                for first, last in self._unions(number):
                    unions.add(self.hosts[number][first:last])
                    self.limits.check(len(self.where) + len(unions))
            touched = self.add(unions)

    def _unions(self, number: int) -> Iterable[tuple[int, int]]:
        """The intervals of a host that chains of overlapping labels cover and that are not labels.

        From a fixed start the ends that chains reach are found in ascending order: an end is
        reached if a label ends there that begins before the end reached last.
        """
        ends, starts = self.ends[number], self.starts[number]
        for first, positions in enumerate(ends):
            if not positions:
                continue
            # `furthest`: the last end of the labels that begin in [first, scanned).
            reached, furthest, scanned = positions[0], positions[-1], first + 1
            end = reached + 1
            while True:
                while scanned < reached:
                    here = ends[scanned]
                    furthest = max(furthest, here[-1]) if here else furthest
                    scanned += 1
                if end > furthest:
                    break
                begins = starts[end]
                after = bisect_right(begins, first)
                if after and begins[after - 1] == first:
                    reached = end
                elif after < len(begins) and begins[after] < reached:
                    reached = end
                    yield first, end
                end += 1
            self.limits.spend(end - first)

    def fill_gaps(self) -> dict[str, list[list[str]]]:
        """Add the gap strings that decompositions need; returns every label's patterns."""
        while True:
            patterns = {label: self.decompose(label) for label in self.where}
            missing = {
                part
                for decomposition in patterns.values()
                for pattern in decomposition
                for part in pattern
                if len(part) > 1 and part not in self.where
            }
            if not missing:
                return patterns
            self.add(missing)

    def decompose(self, label: str) -> list[list[str]]:
        """The patterns of a label, as lists of strings."""
        lines = _lines(self._parts(label))
        self.limits.spend(len(label) * (1 + len(lines)))
        if not lines:
            return [list(label)]
        patterns = []
        taken: set[int] = set()
        for line in lines:
            pattern: list[str] = []
            borders: set[int] = set()
            at = 0
            for first, last in [*line, (len(label), len(label))]:
                gap = label[at:first]
                if at in taken and gap:
                    # An earlier line already has a border here, which only happens without unions.
                    # The interval and the gap after it become one vertex, so that no border comes
                    # twice.
                    borders.discard(at)
                    pattern[-1] += gap
                elif len(gap) > 1 and (len(lines) > 1 or gap in self.where):
                    pattern.append(gap)
                else:
                    pattern.extend(gap)
                    borders.update(range(at, first))
                borders |= {first, last}
                if last > first:
                    pattern.append(label[first:last])
                at = last
            patterns.append(pattern)
            taken |= borders - {0, len(label)}
        return patterns

    def _parts(self, label: str) -> list[tuple[int, int]]:
        """The longest other labels in a label, none inside another, as intervals of it."""
        number, base = self.where[label]
        ends, last = self.ends[number], base + len(label)
        parts: list[tuple[int, int]] = []
        reach = base
        for at in range(base, last):
            # At its first offset the label itself is left out.
            nth = bisect_right(ends[at], last - (at == base))
            if nth and ends[at][nth - 1] > reach:
                reach = ends[at][nth - 1]
                parts.append((at - base, reach - base))
        return parts


def _lines(intervals: Iterable[tuple[int, int]]) -> list[list[tuple[int, int]]]:
    """The intervals in as few lines of disjoint ones as possible, each in the first it fits in."""
    lines: list[list[tuple[int, int]]] = []
    for interval in intervals:
        for line in lines:
            if line[-1][1] <= interval[0]:
                line.append(interval)
                break
        else:
            lines.append([interval])
    return lines


def canonical_patterns(
    documents: Sequence[str],
    *,
    unions: bool = True,
    limits: GraphLimits | None = None,
    extra: Iterable[str] = (),
) -> dict[str, list[list[str]]]:
    """Every label of the canonical graph with its patterns, over encoded documents."""
    limits = limits or GraphLimits()
    limits.spend(sum(map(len, documents)))
    strings = (*repeats(documents), *documents, *extra)
    labels = Labels([string for string in strings if len(string) > 1], limits)
    if unions:
        labels.close_under_overlap()
    return labels.fill_gaps()


def canonical_graph(
    documents: Iterable[Sequence[Atom]],
    *,
    unions: bool = True,
    max_vertices: int = DEFAULT_LIMIT,
    extra: Iterable[Sequence[Atom]] = (),
) -> Graph:
    """The canonical graph of a corpus, the same for any order of the documents.

    `extra` are strings inside the documents that are known to repeat elsewhere. Raises
    GraphTooLarge past `max_vertices` or `STEPS_MAX`.
    """
    documents = [tuple(document) for document in documents]
    alphabet = Alphabet(atom for document in documents for atom in document)
    limits = GraphLimits(max_vertices)
    limits.check(len(alphabet.atoms))
    patterns = canonical_patterns(
        [alphabet.encode(document) for document in documents],
        unions=unions,
        limits=limits,
        extra=[alphabet.encode(label) for label in extra],
    )
    limits.check(len(alphabet.atoms) + len(patterns))
    graph = Graph(closed=unions)
    for atom in alphabet.atoms:
        graph.atom(atom)
    grow(graph, patterns, alphabet)
    return graph


def grow(graph: Graph, patterns: dict[str, list[list[str]]], alphabet: Alphabet) -> None:
    """Make the graph have exactly these patterns for these labels; others are left alone."""
    vertices: dict[str, Vertex] = {}

    def vertex(label: str) -> Vertex:
        if label not in vertices:
            assert len(label) == 1, "labels are grown by ascending width, so parts come first"
            vertices[label] = graph.atom(alphabet.decode(label)[0])
        return vertices[label]

    for label in sorted(patterns, key=lambda label: (len(label), label)):
        parts = sorted([vertex(part) for part in pattern] for pattern in patterns[label])
        whole = graph.find(alphabet.decode(label))
        if whole is None:
            whole = graph.patterns_of_one(parts)
        elif sorted(map(list, graph.patterns(whole))) != parts:
            graph.rewrite(whole, parts)
        vertices[label] = whole
