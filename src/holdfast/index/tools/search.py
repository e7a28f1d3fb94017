"""search_code: ranked code with its owners, or why there is none.

A read: it writes nothing, whatever it finds.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import datetime
from typing import Literal, NotRequired, TypedDict

from holdfast.errors import UsageError
from holdfast.index import answers
from holdfast.index.answers import Wire, hints, manage_call
from holdfast.index.code_index import CodeIndex, policy_of
from holdfast.index.errors import BackendUnavailable
from holdfast.index.freshness import Overlay, moved
from holdfast.index.gate import Gate, Open
from holdfast.index.generation import Reader, StoredChunk
from holdfast.index.refusals import refusal
from holdfast.index.search.candidates import Found, find
from holdfast.index.search.scopes import SCOPES, Scope, in_scope

LIMIT_DEFAULT, LIMIT_MAX = 10, 50
PREVIEW_CHARACTERS_MAX = 4000
PER_FILE_FIRST, PER_FILE_THEN = 2, 3


class SearchAnswer(TypedDict):
    """The envelope of search_code."""

    status: str
    reason: NotRequired[str]
    path: str
    codebasePath: NotRequired[str]
    query: str
    scope: str
    groupBy: str
    resultMode: str
    limit: int
    freshnessDecision: Wire | None
    warnings: NotRequired[list[str]]
    message: NotRequired[str]
    hints: NotRequired[Wire]
    compatibility: NotRequired[Wire]
    indexing: NotRequired[Wire]
    results: list[Wire]


def search_code(
    index: CodeIndex,
    path: str,
    query: str,
    *,
    scope: Scope = "runtime",
    result_mode: Literal["grouped", "raw"] = "grouped",
    group_by: Literal["symbol", "file"] = "symbol",
    limit: int = LIMIT_DEFAULT,
) -> SearchAnswer:
    """Search the tree that governs `path`, below `path`."""
    if not query.strip():
        raise UsageError("the query is empty", hint="ask for a name, a phrase or a behaviour")
    if scope not in SCOPES:
        raise UsageError(f"there is no scope {scope!r}", hint=f"one of: {', '.join(SCOPES)}")
    if limit < 1:
        raise UsageError(f"limit {limit} asks for nothing")
    limit = min(limit, LIMIT_MAX)
    requested, record = index.governing(path)
    base: SearchAnswer = {
        "status": "ok",
        "path": requested,
        "query": query,
        "scope": scope,
        "groupBy": group_by,
        "resultMode": result_mode,
        "limit": limit,
        "freshnessDecision": None,
        "results": [],
    }
    gate = index.gate(record)
    if not isinstance(gate, Open):
        return _refused(index, base, gate)
    root = gate.record.root
    below = requested[len(root) :].strip("/")

    def keep(path: str) -> bool:
        inside = not below or path == below or path.startswith(below + "/")
        return inside and in_scope(path, scope)

    def retrieve(reader: Reader, overlay: Overlay) -> Found:
        return find(query, reader, overlay, index.provider, limit * 3, keep)

    try:
        with index.backend.reader(root) as reader:
            found, overlay, recent = _fresh(index, gate, reader, retrieve)
    except BackendUnavailable:
        again = index.gate(index.registry.find(root))
        if isinstance(again, Open):
            raise  # The backend is away; that says nothing about the index.
        return _refused(index, base, again)
    # A run may have begun meanwhile; then its answer is the one that holds.
    now = index.registry.find(root)
    if now is None or not now.searchable:
        return _refused(index, base, index.gate(now))
    base["freshnessDecision"] = _decision(index, gate, overlay, recent)
    if found.failures:
        base["warnings"] = [f"SEARCH_PASS_FAILED:{failure}" for failure in found.failures]
    items = _Items(index, gate, overlay)
    if result_mode == "raw":
        base["results"] = [items.raw(chunk, score) for chunk, score in found.chunks[:limit]]
    else:
        base["results"] = items.grouped(found.chunks, group_by, limit)
    made = hints(
        debugProofCheck=answers.probe_hint(gate),
        sync=manage_call("sync", root) if overlay.beyond else None,
    )
    if made:
        base["hints"] = made
    return base


def _fresh(
    index: CodeIndex,
    gate: Open,
    reader: Reader,
    retrieve: Callable[[Reader, Overlay], Found],
) -> tuple[Found, Overlay, bool]:
    """What is found now; the last look serves if it is recent and none of the hits moved."""
    root = gate.record.root
    overlay = index.freshness.recent(root, reader.identity)
    if overlay is not None:
        found = retrieve(reader, overlay)
        hits = {chunk.path for chunk, _ in found.chunks[:LIMIT_MAX]}
        if not moved(root, hits, overlay):
            return found, overlay, True
    provider = index.provider if index.provider.local else None
    overlay = index.freshness.look(
        root, reader, policy_of(gate.record.options), index.extract, provider
    )
    return retrieve(reader, overlay), overlay, False


def _decision(index: CodeIndex, gate: Open, overlay: Overlay, recent: bool) -> Wire:
    decision: Wire = {
        "mode": "skipped_recent" if recent else overlay.mode,
        "checkedAt": index.timestamp(),
        "thresholdMs": overlay.threshold_ms,
        "lastSyncAt": gate.record.last_updated,
    }
    if overlay.changed or overlay.gone or overlay.beyond:
        decision["stats"] = {
            "added": overlay.added,
            "modified": overlay.modified,
            "removed": len(overlay.gone),
            "unread": overlay.beyond,
        }
    return decision


def _refused(index: CodeIndex, base: SearchAnswer, gate: Gate) -> SearchAnswer:
    refused = refusal(gate, base["path"], index.runtime(), "retry the search")
    base["status"], base["reason"] = refused.status, refused.reason
    base["message"], base["hints"] = refused.message, refused.hints
    base["freshnessDecision"] = {"mode": refused.freshness} if refused.freshness else None
    if refused.root is not None:
        base["codebasePath"] = refused.root
    if "indexing" in refused.extras:
        base["indexing"] = answers.part(refused.extras, "indexing")
    if "compatibility" in refused.extras:
        base["compatibility"] = answers.part(refused.extras, "compatibility")
    return base


class _Items:
    """Results as an agent gets them."""

    def __init__(self, index: CodeIndex, gate: Open, overlay: Overlay) -> None:
        self._overlay = overlay
        self._indexed_at = (
            gate.marker.completed_at if gate.marker is not None else gate.record.last_updated
        )
        try:
            age_s = (index.now() - datetime.fromisoformat(self._indexed_at)).total_seconds()
            self._bucket = "fresh" if age_s <= 1800 else "aging" if age_s <= 86400 else "stale"
        except (ValueError, TypeError):
            self._bucket = "unknown"

    def _freshness(self, path: str) -> Wire:
        if path in self._overlay.changed:
            return {"indexedAt": None, "stalenessBucket": "fresh"}
        return {"indexedAt": self._indexed_at, "stalenessBucket": self._bucket}

    def raw(self, chunk: StoredChunk, score: float) -> Wire:
        return {
            "kind": "chunk",
            "file": chunk.path,
            "span": {"startLine": chunk.start_line, "endLine": chunk.end_line},
            "language": chunk.language,
            "content": chunk.text,
            "score": round(score, 6),
            "symbolId": chunk.symbol_id,
            "symbolLabel": chunk.label,
            **self._freshness(chunk.path),
        }

    def grouped(
        self, chunks: list[tuple[StoredChunk, float]], group_by: str, limit: int
    ) -> list[Wire]:
        groups: dict[tuple[str, str], list[tuple[StoredChunk, float]]] = {}
        for chunk, score in chunks:
            owner = "" if group_by == "file" else chunk.symbol_id or f"#{chunk.start_line}"
            groups.setdefault((chunk.path, owner), []).append((chunk, score))
        picked: list[tuple[str, str]] = []
        per_file: dict[str, int] = {}
        for most in (PER_FILE_FIRST, PER_FILE_THEN, limit):
            for key in groups:
                if len(picked) >= limit:
                    break
                if key not in picked and per_file.get(key[0], 0) < most:
                    picked.append(key)
                    per_file[key[0]] = per_file.get(key[0], 0) + 1
        order = {key: i for i, key in enumerate(groups)}
        return [self._group(groups[key]) for key in sorted(picked, key=order.__getitem__)]

    def _group(self, members: list[tuple[StoredChunk, float]]) -> Wire:
        best, score = members[0]
        start = min(chunk.start_line for chunk, _ in members)
        end = max(chunk.end_line for chunk, _ in members)
        hint: Wire = {"supported": False, "reason": "missing_symbol"}
        if best.symbol_id is not None:
            hint = {
                "supported": True,
                "symbolRef": {
                    "file": best.path,
                    "symbolId": best.symbol_id,
                    "symbolLabel": best.label,
                },
            }
        return {
            "kind": "group",
            "groupId": best.symbol_id or _group_id(best.path, start, end),
            "file": best.path,
            "span": {"startLine": start, "endLine": end},
            "language": best.language,
            "symbolId": best.symbol_id,
            "symbolLabel": best.label,
            "symbolKind": best.kind,
            "score": round(score, 6),
            **self._freshness(best.path),
            "collapsedChunkCount": len(members),
            "callGraphHint": hint,
            "preview": best.text[:PREVIEW_CHARACTERS_MAX],
        }


def _group_id(path: str, start: int, end: int) -> str:
    text = f"{path}:{start}-{end}".encode("utf-8", "surrogatepass")
    return "grp_" + hashlib.sha256(text).hexdigest()[:16]
