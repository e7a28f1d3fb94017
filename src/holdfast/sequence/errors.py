"""The errors of sequence search.

SequenceError
├── EmptyQuery           a query without tokens
├── SingleToken          a query of one token: the caller already has the vertex
├── UnknownAtom          a query contains an atom that the graph does not have
├── BadPattern           a decomposition that would break the named invariant
├── GraphTooLarge        a graph that would exceed a limit
├── SegmentDamaged       a segment file that fails its checks
└── SegmentTooNew        a segment file of a later format
"""

from __future__ import annotations

from typing import Literal

from holdfast.errors import SequenceError


class EmptyQuery(SequenceError):
    """Raised when a query has no tokens."""

    hint = "give at least two tokens"

    def __str__(self) -> str:
        return "the query is empty"


class SingleToken(SequenceError):
    """Raised when a query has only one token left, which is itself the answer."""

    hint = "give at least two tokens; one token needs no search"

    def __init__(self, vertex: int, path: tuple[tuple[int, int, int], ...] = ()) -> None:
        self.vertex, self.path = vertex, path

    def __str__(self) -> str:
        return f"the query is the single vertex {self.vertex}, which is already known"


class UnknownAtom(SequenceError):
    """Raised when a query contains an atom that the graph does not have."""

    def __init__(self, value: object) -> None:
        self.value = value

    def __str__(self) -> str:
        return f"the graph has no atom {self.value!r}"


class BadPattern(SequenceError):
    """Raised when a decomposition would break an invariant."""

    def __init__(self, invariant: str, detail: str) -> None:
        self.invariant, self.detail = invariant, detail

    def __str__(self) -> str:
        return f"{self.detail} ({self.invariant})"


class GraphTooLarge(SequenceError):
    """Raised when a graph would have too many vertices or take too many steps to build."""

    hint = "use shorter texts, or leave overlap unions out"

    def __init__(self, unit: Literal["vertices", "steps"], limit: int) -> None:
        self.unit, self.limit = unit, limit

    def __str__(self) -> str:
        if self.unit == "vertices":
            return f"the graph would have more than {self.limit} vertices"
        return f"the graph would take more than {self.limit} steps to build"


class SegmentDamaged(SequenceError):
    """Raised when a segment file fails its checks; it is derived data and can be rebuilt."""

    hint = "delete the file; it is rebuilt from the source tree"

    def __init__(self, path: str, detail: str) -> None:
        self.path, self.detail = path, detail

    def __str__(self) -> str:
        return f"{self.path} is damaged: {self.detail}"


class SegmentTooNew(SequenceError):
    """Raised when a segment was written by a newer version."""

    hint = "upgrade holdfast, or delete the file; it is rebuilt from the source tree"

    def __init__(self, path: str, version: int) -> None:
        self.path, self.version = path, version

    def __str__(self) -> str:
        return f"{self.path} has format {self.version}, which is newer than this holdfast"
