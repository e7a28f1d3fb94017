"""From segments to a core graph: a slice of a corpus made explicit.

The graph of a code base is virtual, but a window of it can be made real: the tokens of the window
as a document, every run in it that repeats in the window or anywhere else as a vertex. On that
graph the paths and traces of the search are literal.
"""

from __future__ import annotations

from collections.abc import Iterable

from holdfast.sequence.canonical import DEFAULT_LIMIT, canonical_graph
from holdfast.sequence.corpus import CorpusMatch, Occurrence
from holdfast.sequence.graph import Atom, Graph
from holdfast.sequence.response import Response
from holdfast.sequence.search import find_sequence

WINDOW = 200
"""How many tokens around a match are made explicit."""


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
    """The longest runs of a slice that stand elsewhere in its segment too, none inside another."""
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
        if end - offset > 1 and end > reach and end - offset < piece.length:
            runs.append((offset, end))
            reach = end
    return runs


def window(answer: CorpusMatch, tokens: int = WINDOW) -> Occurrence | None:
    """The root of an answer, cut to `tokens` on both sides of the match."""
    root = answer.root
    if root is None:
        return None
    first = max(0, answer.start - tokens)
    last = min(root.length, answer.end + tokens)
    return Occurrence(root.segment, root.position + first, last - first)


def explain(answer: CorpusMatch, *, tokens: int = WINDOW, unions: bool = False) -> Response | None:
    """The same match on a core graph of its surroundings, with its path and its trace."""
    piece = window(answer, tokens)
    if piece is None or answer.position < 2:
        return None
    return find_sequence(materialise([piece], unions=unions), answer.matched)
