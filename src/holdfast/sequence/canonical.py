"""The canonical graph of a small corpus: which strings are vertices, and how each is cut.

    L0  the documents, and every maximal repeat of two or more atoms
    L1  L0 closed under overlap: where two labels overlap in a document, their union is a label
    L2  L1 with the gap strings that decomposing it needs

A maximal repeat occurs at least twice, and neither all its left nor all its right neighbours are
the same; the two ends of a document count as neighbours that occur nowhere else. Decomposing a
label takes the longest other label at every offset, drops those inside another, and lays the rest
into as few lines of disjoint intervals as possible; each line is one pattern.

L1 grows with the square of a corpus, so this is for small ones; `unions=False` leaves it out, and
the graph then is linear and says that it is not closed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from holdfast.sequence.errors import GraphTooLarge
from holdfast.sequence.graph import Atom, Graph, Vertex
from holdfast.sequence.suffix import SEPARATOR, pure

DEFAULT_LIMIT = 200_000

# Atoms are written as single characters from here on, so that strings of them slice and hash fast.
_FIRST_CODE = 0x20


class Alphabet:
    """Atoms as characters: a string of atoms becomes a `str` of as many characters."""

    def __init__(self, atoms: Iterable[Atom]) -> None:
        # Ordered by what the atoms are, not by where they were seen first, so that the order of
        # the documents cannot be told from the graph.
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
    return chr(code if code < 0xD800 else code + 0x800)  # surrogates are no characters


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


def closed_under_overlap(labels: set[str], limit: int) -> set[str]:
    """The labels and the union of every overlap of two labels inside a third, to a fixpoint."""
    labels = set(labels)
    hosts = [label for label in labels if not any(label in o for o in labels if o != label)]
    known: dict[str, dict[int, set[int]]] = {host: {} for host in hosts}
    fresh = set(labels)
    while fresh:
        added: list[tuple[str, int, int]] = []
        for label in fresh:
            for host in hosts:
                at = host.find(label)
                while at >= 0:
                    added.append((host, at, at + len(label)))
                    at = host.find(label, at + 1)
        fresh = set()
        for host, first, last in added:
            ends = known[host].setdefault(first, set())
            if last in ends:
                continue
            ends.add(last)
            starts = known[host]
            # Overlaps that begin later and end later, and those that begin and end earlier.
            for other in range(first + 1, last):
                for end in starts.get(other, ()):
                    if end > last:
                        fresh.add(host[first:end])
            for other in range(first):
                for end in starts.get(other, ()):
                    if first < end < last:
                        fresh.add(host[other:last])
        fresh -= labels
        labels |= fresh
        if len(labels) > limit:
            raise GraphTooLarge(limit)
    return labels


def decompose(label: str, labels: set[str], lengths: Sequence[int]) -> tuple[list[list[str]], bool]:
    """The patterns of a label as lists of strings, and whether gaps are vertices of their own.

    `lengths` are the distinct lengths of labels, longest first.
    """
    intervals: list[tuple[int, int]] = []
    reach = 0
    for first in range(len(label)):
        for length in lengths:
            last = first + length
            if last > len(label) or length == len(label) or last <= reach:
                continue
            if label[first:last] in labels:
                # Later starts reach further, or they lie inside one that is kept already.
                intervals.append((first, last))
                reach = last
                break
    lines: list[list[tuple[int, int]]] = []
    for interval in intervals:
        for line in lines:
            if line[-1][1] <= interval[0]:
                line.append(interval)
                break
        else:
            lines.append([interval])
    if not lines:
        return [list(label)], False
    several = len(lines) > 1
    patterns = []
    taken: set[int] = set()
    for line in lines:
        pattern: list[str] = []
        borders: set[int] = set()
        at = 0
        for first, last in [*line, (len(label), len(label))]:
            gap = label[at:first]
            if at in taken and gap:
                # An earlier line has a border here already, which only happens without unions. The
                # interval and the gap after it then are one vertex, so that no border comes twice.
                borders.discard(at)
                pattern[-1] += gap
            elif len(gap) > 1 and (several or gap in labels):
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
    return patterns, several


def _lengths(labels: Iterable[str]) -> list[int]:
    return sorted({len(label) for label in labels if len(label) > 1}, reverse=True)


def with_gaps(labels: set[str], limit: int) -> tuple[set[str], dict[str, list[list[str]]]]:
    """The labels with the gap strings their decompositions need, and the decompositions."""
    labels = set(labels)
    while True:
        lengths = _lengths(labels)
        patterns = {label: decompose(label, labels, lengths)[0] for label in labels}
        needed = {
            part
            for decomposition in patterns.values()
            for pattern in decomposition
            for part in pattern
            if len(part) > 1
        }
        if needed <= labels:
            return labels, patterns
        labels |= needed
        if len(labels) > limit:
            raise GraphTooLarge(limit)


def canonical_patterns(
    documents: Sequence[str],
    *,
    unions: bool = True,
    limit: int = DEFAULT_LIMIT,
    extra: Iterable[str] = (),
) -> dict[str, list[list[str]]]:
    """Every label of the canonical graph with its patterns, over encoded documents."""
    labels = repeats(documents) | {document for document in documents if len(document) > 1}
    labels |= {label for label in extra if len(label) > 1}
    if len(labels) > limit:
        raise GraphTooLarge(limit)
    if unions:
        labels = closed_under_overlap(labels, limit)
    return with_gaps(labels, limit)[1]


def canonical_graph(
    documents: Iterable[Sequence[Atom]],
    *,
    unions: bool = True,
    max_vertices: int = DEFAULT_LIMIT,
    extra: Iterable[Sequence[Atom]] = (),
) -> Graph:
    """The canonical graph of a corpus. The same for any order of the documents.

    `extra` are strings inside the documents that are known to repeat elsewhere.
    """
    documents = [tuple(document) for document in documents]
    alphabet = Alphabet(atom for document in documents for atom in document)
    patterns = canonical_patterns(
        [alphabet.encode(document) for document in documents],
        unions=unions,
        limit=max_vertices,
        extra=[alphabet.encode(label) for label in extra],
    )
    graph = Graph(closed=unions)
    for atom in alphabet.atoms:
        graph.atom(atom)
    grow(graph, patterns, alphabet)
    return graph


def grow(graph: Graph, patterns: dict[str, list[list[str]]], alphabet: Alphabet) -> None:
    """Make the graph have exactly these patterns for these labels; others are left alone."""
    made: dict[str, Vertex] = {}

    def vertex(label: str) -> Vertex:
        if label not in made:
            assert len(label) == 1, "labels are grown by ascending width, so parts come first"
            made[label] = graph.atom(alphabet.decode(label)[0])
        return made[label]

    for label in sorted(patterns, key=lambda label: (len(label), label)):
        wanted = sorted([vertex(part) for part in pattern] for pattern in patterns[label])
        known = graph.find(alphabet.decode(label))
        if known is None:
            known = graph.patterns_of_one(wanted)
        elif sorted(map(list, graph.patterns(known))) != wanted:
            graph.rewrite(known, wanted)
        made[label] = known
