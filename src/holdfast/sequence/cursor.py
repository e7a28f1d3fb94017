"""The position of a comparison, in the query and in the graph alike.

    Candidate --mark_match()--> Matched --advance()--> Candidate
        |  \\--descend()--> Candidate (on a smaller leaf, same position)
        +--mark_mismatch()--> Mismatched

A `Candidate` is AT a token: its position counts the atoms before the token. A `Matched` is PAST a
token: its position counts the token too. PAST one token is AT the next, so `advance` adds nothing,
and `mark_match` is the only place where a position changes. Each state is a type, so a candidate
cannot be reported as a match. Cursors are immutable values.
"""

from __future__ import annotations

from dataclasses import dataclass

from holdfast.sequence.graph import Graph, Location, Pattern, Vertex


@dataclass(frozen=True, slots=True)
class TokenPath:
    """The path to a leaf below a run of tokens: the token, and the locations inside it."""

    tokens: Pattern
    index: int
    path: tuple[Location, ...] = ()

    def leaf(self, graph: Graph) -> Vertex:
        """The vertex at the end of the path."""
        return graph.child(self.path[-1]) if self.path else self.tokens[self.index]

    def next(self, graph: Graph) -> TokenPath | None:
        """The next leaf to the right, as high as possible; None at the end of the run."""
        path = self.path
        while path:
            at = path[-1]
            if at.nth + 1 < len(graph.patterns(at.vertex)[at.pattern]):
                return TokenPath(self.tokens, self.index, (*path[:-1], at._replace(nth=at.nth + 1)))
            path = path[:-1]
        if self.index + 1 < len(self.tokens):
            return TokenPath(self.tokens, self.index + 1)
        return None

    def previous(self, graph: Graph) -> TokenPath | None:
        """The next leaf to the left; None at the start of the run."""
        path = self.path
        while path:
            at = path[-1]
            if at.nth:
                return TokenPath(self.tokens, self.index, (*path[:-1], at._replace(nth=at.nth - 1)))
            path = path[:-1]
        return TokenPath(self.tokens, self.index - 1) if self.index else None

    def finished(self, graph: Graph) -> TokenPath:
        """The same right edge, as high as possible: a last child is replaced by its parent."""
        path = self.path
        while path and path[-1].nth + 1 == len(graph.patterns(path[-1].vertex)[path[-1].pattern]):
            path = path[:-1]
        return TokenPath(self.tokens, self.index, path)

    def first_children(self, graph: Graph) -> list[TokenPath]:
        """The path to each distinct first child of the leaf, widest first."""
        leaf = self.leaf(graph)
        locations: dict[Vertex, Location] = {}
        for number, pattern in enumerate(graph.patterns(leaf)):
            locations.setdefault(pattern[0], Location(leaf, number, 0))
        ordered = sorted(locations, key=lambda child: -graph.width(child))
        return [
            TokenPath(self.tokens, self.index, (*self.path, locations[child])) for child in ordered
        ]


@dataclass(frozen=True, slots=True)
class Matched:
    """PAST its token: `position` atoms agree, including those of the token."""

    place: TokenPath
    position: int

    def advance(self, graph: Graph) -> Candidate | None:
        """Move AT the next leaf, with the same position; None if there is none."""
        place = self.place.next(graph)
        return None if place is None else Candidate(place, self.position)


@dataclass(frozen=True, slots=True)
class Mismatched:
    """AT a token that does not agree; the position is unchanged."""

    place: TokenPath
    position: int


@dataclass(frozen=True, slots=True)
class Candidate:
    """AT its token, which is not compared yet: `position` atoms before it agree."""

    place: TokenPath
    position: int

    def descend(self, graph: Graph) -> list[Candidate]:
        """Move AT the first child of each decomposition; these start at the same atom."""
        return [Candidate(place, self.position) for place in self.place.first_children(graph)]

    def mark_match(self, graph: Graph) -> Matched:
        """Move PAST the token. No other code in this package changes a position."""
        width = graph.width(self.place.leaf(graph))
        return Matched(self.place.finished(graph), self.position + width)

    def mark_mismatch(self) -> Mismatched:
        return Mismatched(self.place, self.position)


Cursor = Matched | Candidate | Mismatched


@dataclass(frozen=True, slots=True)
class Checkpointed:
    """A cursor and the last match of its branch.

    The checkpoint is local: only `mark_match` of this branch changes it.
    """

    current: Cursor
    checkpoint: Matched

    def mark_match(self, graph: Graph) -> Checkpointed:
        assert isinstance(self.current, Candidate), "only a candidate can match"
        matched = self.current.mark_match(graph)
        return Checkpointed(matched, matched)

    def mark_mismatch(self) -> Checkpointed:
        assert isinstance(self.current, Candidate), "only a candidate can mismatch"
        return Checkpointed(self.current.mark_mismatch(), self.checkpoint)

    def advance(self, graph: Graph) -> Checkpointed | None:
        assert isinstance(self.current, Matched), "only a match can advance"
        candidate = self.current.advance(graph)
        return None if candidate is None else Checkpointed(candidate, self.checkpoint)

    def descend(self, graph: Graph) -> list[Checkpointed]:
        assert isinstance(self.current, Candidate), "only a candidate can descend"
        return [Checkpointed(part, self.checkpoint) for part in self.current.descend(graph)]
