"""Where a comparison stands, on the query's side and on the graph's side alike.

    Candidate --mark_match()--> Matched --advance()--> Candidate
        |  \\--descend()--> Candidate (on a smaller leaf, same position)
        +--mark_mismatch()--> Mismatched

A `Candidate` stands AT a token: its position counts the atoms before it. A `Matched` stands PAST
it: its position counts the token too. So PAST one token is AT the next, `advance` has nothing to
add, and `mark_match` is the only place where a position ever moves. Each state is a type, so no
code can report a candidate as a match. Cursors are values; branches share nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from holdfast.sequence.graph import Graph, Location, Pattern, Vertex


@dataclass(frozen=True, slots=True)
class TokenPath:
    """A leaf below a run of tokens: which token, and the way down inside it."""

    tokens: Pattern
    index: int
    path: tuple[Location, ...] = ()

    def leaf(self, graph: Graph) -> Vertex:
        """The vertex the place is on."""
        return graph.child(self.path[-1]) if self.path else self.tokens[self.index]

    def next(self, graph: Graph) -> TokenPath | None:
        """The next leaf to the right at the highest level, or None at the end of the run."""
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
        """The next leaf to the left, or None at the start of the run."""
        path = self.path
        while path:
            at = path[-1]
            if at.nth:
                return TokenPath(self.tokens, self.index, (*path[:-1], at._replace(nth=at.nth - 1)))
            path = path[:-1]
        return TokenPath(self.tokens, self.index - 1) if self.index else None

    def finished(self, graph: Graph) -> TokenPath:
        """The same right edge, said at the highest level: last children stand for their parent."""
        path = self.path
        while path and path[-1].nth + 1 == len(graph.patterns(path[-1].vertex)[path[-1].pattern]):
            path = path[:-1]
        return TokenPath(self.tokens, self.index, path)

    def first_children(self, graph: Graph) -> list[TokenPath]:
        """The place on each distinct first child of the leaf, widest first."""
        leaf = self.leaf(graph)
        seen: dict[Vertex, Location] = {}
        for number, pattern in enumerate(graph.patterns(leaf)):
            seen.setdefault(pattern[0], Location(leaf, number, 0))
        ordered = sorted(seen, key=lambda child: -graph.width(child))
        return [TokenPath(self.tokens, self.index, (*self.path, seen[child])) for child in ordered]


@dataclass(frozen=True, slots=True)
class Matched:
    """PAST its token: `position` atoms agree, the token's own among them."""

    place: TokenPath
    position: int

    def advance(self, graph: Graph) -> Candidate | None:
        """AT the next leaf, with the same position; None when there is no next leaf."""
        place = self.place.next(graph)
        return None if place is None else Candidate(place, self.position)


@dataclass(frozen=True, slots=True)
class Mismatched:
    """AT a token that does not agree; nothing was added."""

    place: TokenPath
    position: int


@dataclass(frozen=True, slots=True)
class Candidate:
    """AT its token: `position` atoms agree before it, and the token has yet to be compared."""

    place: TokenPath
    position: int

    def descend(self, graph: Graph) -> list[Candidate]:
        """AT the first child of each decomposition: a smaller leaf that starts at the same atom."""
        return [Candidate(place, self.position) for place in self.place.first_children(graph)]

    def mark_match(self, graph: Graph) -> Matched:
        """PAST the token. The one place in this package where a position moves."""
        width = graph.width(self.place.leaf(graph))
        return Matched(self.place.finished(graph), self.position + width)

    def mark_mismatch(self) -> Mismatched:
        return Mismatched(self.place, self.position)


Cursor = Matched | Candidate | Mismatched


@dataclass(frozen=True, slots=True)
class Checkpointed:
    """A cursor with its branch's own last match to fall back to.

    The checkpoint is local: it is set by this branch's `mark_match` and by nothing else.
    """

    current: Cursor
    checkpoint: Matched

    def mark_match(self, graph: Graph) -> Checkpointed:
        assert isinstance(self.current, Candidate), "only a candidate can turn out to match"
        matched = self.current.mark_match(graph)
        return Checkpointed(matched, matched)

    def mark_mismatch(self) -> Checkpointed:
        assert isinstance(self.current, Candidate), "only a candidate can turn out to differ"
        return Checkpointed(self.current.mark_mismatch(), self.checkpoint)

    def advance(self, graph: Graph) -> Checkpointed | None:
        assert isinstance(self.current, Matched), "only a match can be advanced from"
        candidate = self.current.advance(graph)
        return None if candidate is None else Checkpointed(candidate, self.checkpoint)

    def descend(self, graph: Graph) -> list[Checkpointed]:
        assert isinstance(self.current, Candidate), "only a candidate can be taken apart"
        return [Checkpointed(part, self.checkpoint) for part in self.current.descend(graph)]
