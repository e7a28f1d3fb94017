"""The answers of the index's verbs, as frozen types.

Every verb in `tools` returns one of these. `to_wire` gives the JSON form that programs read: names
in camelCase, and fields that do not apply left out. The output schemas of the MCP tools are derived
from these types, and `tools/render.py` turns them into text. Those of search_code are in
`search_answers`.
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec import UNSET, UnsetType

from holdfast.answers import Part
from holdfast.index.search_debug import SearchDebug

Status = Literal[
    "ok",
    "not_ready",
    "not_indexed",
    "requires_reindex",
    "not_found",
    "unsupported",
    "ambiguous",
    "blocked",
    "error",
]
"""A refusal is an answer too; its status says why there is no result."""

Section = Literal["Ready", "Indexing", "Requires Reindex", "Failed"]


class Call(Part, frozen=True):
    """A tool call that an agent can make as it is."""

    tool: str
    args: dict[str, Any]


def manage_call(action: str, root: str) -> Call:
    return Call("manage_index", {"action": action, "path": root})


def read_call(path: str, first_line: int, last_line: int) -> Call:
    """The call that shows lines of a file."""
    lines = {"offset": first_line, "limit": last_line - first_line + 1}
    return Call("read", {"path": path, **lines})


class Span(Part, frozen=True):
    """Lines of a file, counted from 1, the last one included."""

    start_line: int
    end_line: int


# The state of an index.


class IndexingProgress(Part, frozen=True):
    """How far a running build is."""

    progress_pct: float
    last_updated: str
    phase: str


class IndexingFailure(Part, frozen=True):
    """Why the last build failed."""

    error_message: str
    last_attempted_percentage: float | None
    last_updated: str


class ProofCheck(Part, frozen=True):
    """A check of the completion proof that could not finish."""

    ok: bool
    reason: str
    message: str


class StaleLocal(Part, frozen=True):
    """The registry says that a root is indexed, and the completion proof does not confirm it."""

    completion_proof: str
    recommended_action: Call


class StaleIndexing(Part, frozen=True):
    """A build whose writer is gone."""

    since_ms: int | None
    recommended_action: Call


class Compatibility(Part, frozen=True):
    """The settings in force, those that made the index, and why they do not fit."""

    runtime_fingerprint: dict[str, Any]
    indexed_fingerprint: dict[str, Any] | None = None
    fingerprint_source: str | None = None
    reindex_reason: str | None = None
    status_at_check: str | None = None


class NoiseMitigation(Part, frozen=True):
    """How to search without the tests or documents that fill the first results."""

    reason: str
    top_k: int
    ratios: dict[str, float]
    recommended_scope: str
    next_step: Call


class Hints(Part, frozen=True, kw_only=True, tag_field="version", tag=1):
    """Calls that help, and diagnostics. On the wire `version` is their version, 1."""

    create: Call | None = None
    status: Call | None = None
    reindex: Call | None = None
    override_reindex: Call | None = None
    sync: Call | None = None
    clear: Call | None = None
    restart: Call | None = None
    next_steps: tuple[Call, ...] = ()
    retry_after_ms: int | None = None
    indexing: IndexingProgress | None = None
    indexing_failure: IndexingFailure | None = None
    stale_local: StaleLocal | None = None
    stale_indexing: StaleIndexing | None = None
    noise_mitigation: NoiseMitigation | None = None
    debug_proof_check: ProofCheck | None = None
    debug_indexing: dict[str, str] | None = None
    debug_search: SearchDebug | None = None

    def or_none(self) -> Hints | None:
        """These hints, or None when there are none."""
        return None if self == Hints() else self


# file_outline and call_graph


class SymbolRef(Part, frozen=True):
    """Names a symbol: its file, with its id or its name."""

    file: str
    symbol_id: str | None = None
    symbol_label: str | None = None


class CallGraphHint(Part, frozen=True):
    """Whether call_graph can follow a symbol, and what to pass to it."""

    supported: bool
    symbol_ref: SymbolRef | None = None
    reason: str | None = None


class OutlineSymbol(Part, frozen=True):
    """A symbol of a file."""

    symbol_id: str
    symbol_label: str
    name: str
    kind: str
    span: Span
    exported: bool
    call_graph_hint: CallGraphHint
    signature: str | None = None
    doc: str | None = None
    parent_id: str | None = None


class Outline(Part, frozen=True):
    """Symbols in the order of their file."""

    symbols: tuple[OutlineSymbol, ...]


class OutlineAnswer(Part, frozen=True, kw_only=True):
    """The answer of file_outline. `outline` is null when there is none to show."""

    status: Status
    reason: str | None = None
    path: str
    codebase_root: str | None = None
    file: str
    outline: Outline | None
    has_more: bool
    warnings: tuple[str, ...] = ()
    message: str | None = None
    hints: Hints | None = None
    indexing: IndexingProgress | None = None


class CallNode(Part, frozen=True):
    """A symbol of a call graph, or the top level of a file."""

    symbol_id: str
    symbol_label: str
    kind: str
    file: str
    language: str
    span: Span


class CallSite(Part, frozen=True):
    """Where a call is written; `text` is the line."""

    file: str
    start_line: int
    text: str | None = None


class CallEdge(Part, frozen=True):
    """One call, with how certain it is."""

    src_symbol_id: str
    dst_symbol_id: str
    kind: str
    site: CallSite
    confidence: float
    reason: str


class CallNote(Part, frozen=True):
    """A call whose target is outside the tree or unknown."""

    type: str
    why: str
    file: str
    start_line: int
    symbol_id: str
    call: str
    detail: str
    candidates: tuple[str, ...]


class FreshnessStats(Part, frozen=True):
    """How many files differ from the index."""

    added: int
    modified: int
    removed: int
    unread: int
    unreadable: int | None = None


class FreshnessDecision(Part, frozen=True):
    """How it was decided whether the index matches the files."""

    mode: str
    checked_at: str | None = None
    threshold_ms: int | None = None
    last_sync_at: str | None = None
    stats: FreshnessStats | None = None


class CallGraphAnswer(Part, frozen=True, kw_only=True):
    """The answer of call_graph."""

    status: Status
    supported: bool
    reason: str | None = None
    path: str
    codebase_root: str | None = None
    codebase_path: str | None = None
    symbol_ref: SymbolRef
    direction: str
    depth: int
    limit: int
    nodes: tuple[CallNode, ...]
    edges: tuple[CallEdge, ...]
    notes: tuple[CallNote, ...]
    symbol_ids: tuple[str, ...] = ()
    """The symbols that the answer is about."""
    warnings: tuple[str, ...] = ()
    notes_truncated: bool | None = None
    total_note_count: int | None = None
    returned_note_count: int | None = None
    message: str | None = None
    hints: Hints | None = None
    freshness_decision: FreshnessDecision | None = None
    compatibility: Compatibility | None = None
    indexing: IndexingProgress | None = None


# list_codebases and manage_index


class Codebase(Part, frozen=True):
    """A tracked root and its state."""

    path: str
    section: Section
    detail: str | None


class CodebasesAnswer(Part, frozen=True, kw_only=True):
    """The answer of list_codebases."""

    status: Status
    text: str
    codebases: tuple[Codebase, ...]
    total: int


class Warning(Part, frozen=True):
    """A warning with a stable code."""

    code: str
    message: str


class Preflight(Part, frozen=True):
    """Whether a rebuild is needed, as far as could be determined before it."""

    outcome: str
    confidence: str
    probe_failed: bool


class SyncStats(Part, frozen=True):
    """How many files a sync took in."""

    added: int
    removed: int
    modified: int
    renamed: int
    unreadable: int


class ManageAnswer(Part, frozen=True, kw_only=True):
    """The answer of manage_index, version 1. `human_text` is the answer as text."""

    tool: str
    version: int
    action: str
    path: str
    status: Status
    reason: str | None = None
    message: str
    human_text: str
    warnings: tuple[Warning, ...] = ()
    hints: Hints | None = None
    preflight: Preflight | None = None
    sync_stats: SyncStats | None = None
    indexing: IndexingProgress | None = None
    compatibility: Compatibility | None = None


# read_file


class ReadAnswer(Part, frozen=True, kw_only=True):
    """The answer of read_file. `is_error` marks an answer without the requested text."""

    status: Status
    reason: str | None = None
    path: str
    mode: str
    codebase_root: str | None = None
    content: str | None = None
    outline_status: str | None = None
    outline: Outline | UnsetType | None = UNSET
    has_more: bool | None = None
    message: str | None = None
    hints: Hints | None = None
    indexing: IndexingProgress | None = None
    is_error: bool = False
