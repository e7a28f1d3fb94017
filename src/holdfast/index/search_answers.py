"""The answer of search_code: results, pages and what to do next."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import field

from holdfast.answers import Part
from holdfast.index.answers import (
    Call,
    CallGraphHint,
    Compatibility,
    FreshnessDecision,
    Hints,
    IndexingProgress,
    Span,
    Status,
)


class Match(Part, frozen=True):
    """Where a pattern or a text matches, counted from 1."""

    line: int
    start_column: int
    end_column: int


class AlikeResult(Part, frozen=True):
    """The place of a result that is nearly the same as another."""

    file: str
    span: Span
    symbol_label: str | None
    codebase_path: str | None = None


class FurtherPlace(Part, frozen=True):
    """Another place of a result's file that matches or belongs to it; with its text if shown."""

    span: Span
    symbol_id: str | None
    symbol_label: str | None
    preview: str | None = None
    preview_spans: tuple[Span, ...] | None = None


class ValueLine(Part, frozen=True):
    """A line that gives a value to a setting which the shown code names."""

    file: str
    line: int
    text: str


class ChunkScore(Part, frozen=True):
    """One chunk of a result, with its score."""

    span: Span
    score: float


class ResultDebug(Part, frozen=True):
    """What the rank of a result is made of."""

    signals: dict[str, float]
    lane: str
    chunks: tuple[ChunkScore, ...]
    folded: int


class SearchResult(Part, frozen=True, kw_only=True):
    """A symbol or a chunk that was found. `in_context`: the reader has its text already."""

    kind: Literal["group", "chunk"]
    group_id: str | None = None
    file: str
    span: Span
    language: str | None
    symbol_id: str | None
    symbol_label: str | None
    score: float
    indexed_at: str | None
    staleness_bucket: str
    codebase_path: str | None = None
    symbol_kind: str | None = None
    collapsed_chunk_count: int | None = None
    call_graph_hint: CallGraphHint | None = None
    in_context: bool | None = field(default=None, name="in_context")
    preview: str | None = None
    content: str | None = None
    preview_spans: tuple[Span, ...] | None = None
    matched_lines: tuple[int, ...] | None = None
    next: Call | None = None
    match_count: int | None = None
    matches: tuple[Match, ...] = ()
    alike_count: int | None = None
    alike: tuple[AlikeResult, ...] = ()
    further_count: int | None = None
    further: tuple[FurtherPlace, ...] = ()
    debug: ResultDebug | None = None

    @property
    def places(self) -> tuple[SearchResult | FurtherPlace, ...]:
        """Itself, and the further places of its file that are named."""
        return (self, *self.further)


class SearchCounts(Part, frozen=True, kw_only=True):
    """Which results these are, of how many."""

    first: int = field(name="from")
    last: int = field(name="to")
    total: int
    complete: bool
    tokens: int
    matched_lines: int | None = None
    matched_files: int | None = None


class Continuation(Part, frozen=True):
    """The next page."""

    cursor: str
    remaining: int
    call: Call


class NextAction(Part, frozen=True):
    """A call that is worth making now, and why."""

    tool: str
    args: dict[str, Any]
    reason: str


class RootAnswer(Part, frozen=True, kw_only=True):
    """What one of several searched roots contributed, or why it did not answer."""

    path: str
    status: Status
    findings: int | None = None
    reason: str | None = None
    message: str | None = None
    hints: Hints | None = None
    freshness_decision: FreshnessDecision | None = None


class SearchAnswer(Part, frozen=True, kw_only=True):
    """The answer of search_code."""

    status: Status
    reason: str | None = None
    path: str
    paths: tuple[str, ...] = ()
    codebase_path: str | None = None
    query: str
    scope: str
    group_by: str
    result_mode: str
    limit: int
    freshness_decision: FreshnessDecision | None
    warnings: tuple[str, ...] = ()
    message: str | None = None
    hints: Hints | None = None
    compatibility: Compatibility | None = None
    indexing: IndexingProgress | None = None
    roots: tuple[RootAnswer, ...] = ()
    counts: SearchCounts | None = None
    continuation: Continuation | None = None
    recommended_next_action: NextAction | None = None
    results: tuple[SearchResult, ...]
    values: tuple[ValueLine, ...] = ()
