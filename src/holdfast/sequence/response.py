"""The answer of a search: how much of the query exists, in which vertex, and where in it.

Whether the whole query was found (`query_exhausted`) and whether the match is a whole vertex
(`kind`) are independent; all four combinations occur.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from holdfast.sequence.cursor import Candidate, Matched
from holdfast.sequence.graph import Graph, Location, Vertex


class Kind(StrEnum):
    """How a match lies in its root."""

    COMPLETE = "complete"
    PREFIX = "prefix"
    POSTFIX = "postfix"
    RANGE = "range"
    NOT_FOUND = "not_found"

    @classmethod
    def of(cls, *, at_start: bool, at_end: bool) -> Kind:
        """The kind of a match, from whether it reaches the two borders of its root."""
        if at_start:
            return cls.COMPLETE if at_end else cls.PREFIX
        return cls.POSTFIX if at_end else cls.RANGE


class EndReason(StrEnum):
    """Why a match is not longer."""

    QUERY_EXHAUSTED = "QueryExhausted"
    MISMATCH = "Mismatch"
    CHILD_EXHAUSTED = "ChildExhausted"
    NO_MATCH = "NoMatch"


@dataclass(frozen=True, slots=True)
class MatchPath:
    """The path from the start leaf up to the root and down to the end leaf.

    Positions count atoms of the query from the start of the match.
    """

    root: Vertex
    pattern: int
    root_entry: int
    start_path: tuple[Location, ...]
    """From the start leaf up to just below the root; without leading steps at a left border."""
    root_exit: int
    end_path: tuple[Location, ...]
    """From just below the root down to the end leaf; without trailing steps at a right border."""
    entry_pos: int
    """Where the entry child of the root ends."""
    exit_pos: int
    """Where the exit child of the root begins."""
    end_pos: int
    """Where the match ends."""
    target: Vertex
    """The end leaf."""
    leaf_pos: int
    """Where the end leaf begins: `exit_pos`, unless the end path leaves a left border."""

    @property
    def entry(self) -> Location:
        return Location(self.root, self.pattern, self.root_entry)

    @property
    def exit(self) -> Location:
        return Location(self.root, self.pattern, self.root_exit)


@dataclass(frozen=True)
class GraphMatch:
    """The result of a search. `position` counts matched atoms from the start of the query."""

    graph: Graph
    kind: Kind
    root: Vertex
    start: int
    """Where the match starts in the root, in atoms."""
    end: int
    first: Vertex
    """The token the match starts with."""
    checkpoint: Matched
    """The query cursor PAST the last token that agreed."""
    cursor: Matched | Candidate
    """Where a continued search starts."""
    reason: EndReason
    path: MatchPath | None
    """None if the root is the first token itself."""

    @property
    def position(self) -> int:
        return self.checkpoint.position

    @property
    def query_exhausted(self) -> bool:
        return self.reason is EndReason.QUERY_EXHAUSTED

    @property
    def complete(self) -> bool:
        """Whether the match is a whole vertex."""
        return self.kind in (Kind.COMPLETE, Kind.NOT_FOUND)

    @property
    def query_end(self) -> int:
        """The index of the last query token that took part in the match."""
        return self.checkpoint.place.index
