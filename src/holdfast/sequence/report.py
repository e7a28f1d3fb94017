"""The JSON form of the answers of `locate` and `clones`, from which schemas are derived."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from holdfast.answers import Part

LOCATE_VERSION = 2
"""1: matched, copies, difference, container, parts.
2: indentation, explanation."""

CLONES_VERSION = 2
"""1: summary and groups with their places.
2: repeated_tokens and folded in the summary; saved_tokens and first_line in each group."""

NotSearched = Annotated[str | None, Meta(description="which files the answer does not cover")]


class Span(Part, frozen=True):
    """Where a run of tokens begins and ends, counted from 1."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int


class PlacedToken(Part, frozen=True, kw_only=True):
    """A token and where it is; no token at the end of a text."""

    path: str | None = None
    token: str | None
    line: int
    column: int


class Difference(Part, frozen=True):
    """The first token that differs: that of the snippet, and those of the listed copies."""

    snippet: PlacedToken
    tree: tuple[PlacedToken, ...]


class IndentationReport(Part, frozen=True):
    """The first line of a copy whose indentation differs from the snippet's."""

    path: str
    line: int
    snippet_line: int


class ContainerReport(Span, frozen=True):
    """The smallest block around a match, and where the match is in it."""

    tokens: int
    start: int
    end: int


class MatchedRun(Part, frozen=True):
    """A run of the snippet, from its token number `token` on, and how often it occurs."""

    token: int
    tokens: int
    count: int


class VertexReport(Part, frozen=True):
    """A vertex of the core graph that contains the match."""

    label: str
    tokens: int
    cut_from: int | None
    count: int
    kind: str
    start: int
    end: int
    patterns: tuple[tuple[str, ...], ...]


class ExplanationReport(Part, frozen=True):
    """The smallest vertices that contain a match, narrowest first."""

    containers: tuple[VertexReport, ...]


class LocateReport(Part, frozen=True, kw_only=True):
    """How much of a snippet a tree contains."""

    root: str
    format: int
    tokens: int
    matched: Annotated[int, Meta(description="how many tokens match from the start")]
    exhausted: bool
    kind: str
    reason: str
    count: Annotated[int, Meta(description="in how many places")]
    found: int
    copies: tuple[Span, ...]
    difference: Difference | None
    indentation: tuple[IndentationReport, ...]
    container: ContainerReport | None
    parts: tuple[MatchedRun, ...]
    explanation: ExplanationReport | None = None
    not_searched: NotSearched = None


class ClonesSummary(Part, frozen=True):
    """What was searched, and how much of it the listed groups cover."""

    documents: int
    tokens: int
    groups: int
    listed: int
    covered_tokens: Annotated[int, Meta(description="how many tokens the listed groups cover")]
    repeated_tokens: Annotated[int, Meta(description="the same for all groups")] = 0
    folded: Annotated[int, Meta(description="groups left out because they overlap")] = 0


class GroupReport(Part, frozen=True):
    """A repeated block and all its places."""

    tokens: int
    count: int
    duplicated_tokens: int
    periodic: bool
    places: tuple[Span, ...]
    saved_tokens: Annotated[int, Meta(description="if the block is written once and called")] = 0
    first_line: str = ""


class ClonesReport(Part, frozen=True, kw_only=True):
    """The repeated blocks of a tree."""

    root: str
    format: int
    summary: ClonesSummary
    groups: tuple[GroupReport, ...]
    not_searched: NotSearched = None
