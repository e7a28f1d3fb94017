"""manage_index: create, reindex, sync, status, clear.

The only tool that changes an index. `status` is a read like the others. Whatever goes wrong is an
answer: this tool does not raise.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NotRequired, TypedDict, assert_never

from holdfast.errors import HoldfastError
from holdfast.files.paths import canonical_root
from holdfast.files.watcher import Watcher
from holdfast.index import answers, lifecycle
from holdfast.index.answers import Wire, hints, manage_call
from holdfast.index.build import EmptyTree
from holdfast.index.code_index import RETRY_AFTER_MS, CodeIndex
from holdfast.index.gate import (
    Building,
    Failed,
    Gate,
    Incompatible,
    NotTracked,
    Open,
    Unproven,
    fingerprint_gate,
)
from holdfast.index.leases import Lease
from holdfast.index.marker import LIMIT_REACHED
from holdfast.index.preflight import IgnoreOnly, Unknown, preflight
from holdfast.index.progress import Report
from holdfast.index.record import Indexed, Indexing, Options, Record, SyncCompleted

Action = Literal["create", "reindex", "sync", "status", "clear"]
ACTIONS: tuple[Action, ...] = ("create", "reindex", "sync", "status", "clear")

SYNC_WAIT_S = 10.0


class ManageAnswer(TypedDict):
    """The envelope of manage_index, version 1."""

    tool: str
    version: int
    action: str
    path: str
    status: str
    reason: NotRequired[str]
    message: str
    humanText: str
    warnings: NotRequired[list[Wire]]
    hints: NotRequired[Wire]
    preflight: NotRequired[Wire]
    syncStats: NotRequired[Wire]
    indexing: NotRequired[Wire]
    compatibility: NotRequired[Wire]


@dataclass(frozen=True, slots=True)
class _Request:
    action: Action
    path: str
    force: bool = False
    custom_extensions: tuple[str, ...] = ()
    ignore_patterns: tuple[str, ...] = ()
    allow_unnecessary_reindex: bool = False
    report: Report = field(default=lambda progress: None)


def manage_index(
    index: CodeIndex,
    action: Action,
    path: str,
    *,
    force: bool = False,
    custom_extensions: Sequence[str] = (),
    ignore_patterns: Sequence[str] = (),
    allow_unnecessary_reindex: bool = False,
    report: Report = lambda progress: None,
) -> ManageAnswer:
    """Do one lifecycle action, or tell the state of a root."""
    request = _Request(
        action,
        canonical_root(path),
        force,
        tuple(custom_extensions),
        tuple(ignore_patterns),
        allow_unnecessary_reindex,
        report,
    )
    try:
        match action:
            case "create":
                return _create(index, request, whole=force)
            case "reindex":
                return _create(index, request, whole=True)
            case "sync":
                return _sync(index, request)
            case "status":
                return _status(index, request)
            case "clear":
                return _clear(index, request)
    except HoldfastError as error:
        hint = f" ({error.hint})" if error.hint else ""
        return _answer(request, request.path, "error", f"{_doing(action)}: {error}{hint}")


def _doing(action: Action) -> str:
    return {
        "create": "Error starting indexing",
        "reindex": "Error starting indexing",
        "sync": "Error syncing",
        "status": "Error reading the status",
        "clear": "Error clearing the index",
    }[action]


def _answer(
    request: _Request,
    path: str,
    status: answers.Status,
    text: str,
    /,
    *,
    reason: str | None = None,
    warnings: list[Wire] | None = None,
    **parts: object,
) -> ManageAnswer:
    """An envelope; `parts` become hints."""
    answer: ManageAnswer = {
        "tool": "manage_index",
        "version": 1,
        "action": request.action,
        "path": path,
        "status": status,
        "message": text.split("\n", 1)[0],
        "humanText": text,
    }
    if reason is not None:
        answer["reason"] = reason
    if warnings:
        answer["warnings"] = warnings
    made = hints(**parts)
    if made:
        answer["hints"] = made
    return answer


def _busy(index: CodeIndex, request: _Request, building: Building) -> ManageAnswer:
    root = building.record.root
    answer = _answer(
        request,
        root,
        "not_ready",
        answers.blocked_message(building, request.action, RETRY_AFTER_MS),
        reason="indexing",
        status=manage_call("status", root),
        retryAfterMs=RETRY_AFTER_MS,
        indexing=answers.indexing_facts(building),
    )
    answer["indexing"] = answers.indexing_facts(building)
    return answer


def _must_reindex(index: CodeIndex, request: _Request, refused: Incompatible) -> ManageAnswer:
    root = refused.record.root
    lines = answers.compatibility_lines(index.runtime(), refused.record, refused.reindex_reason)
    answer = _answer(
        request,
        root,
        "requires_reindex",
        f"{answers.reindex_message(refused)}\n{lines}",
        reason="requires_reindex",
        reindex=manage_call("reindex", root),
        status=manage_call("status", root),
    )
    answer["message"] = answers.reindex_message(refused)
    answer["compatibility"] = answers.compatibility(index.runtime(), refused.record, refused)
    return answer


def _someone_writes(index: CodeIndex, request: _Request) -> ManageAnswer:
    """Another process holds the lease; the record may not say so yet."""
    record = index.registry.find(request.path)
    if record is not None and isinstance(record.state, Indexing):
        return _busy(index, request, Building(record, record.state))
    writer = index.leases.live_writer(request.path)
    doing = f" ({writer.action}, process {writer.pid})" if writer else ""
    return _answer(
        request,
        request.path,
        "not_ready",
        f"'{request.path}' is being written by another run{doing}; action='{request.action}' is "
        f"blocked (reason=indexing, retryAfterMs={RETRY_AFTER_MS}).",
        reason="indexing",
        status=manage_call("status", request.path),
        retryAfterMs=RETRY_AFTER_MS,
    )


# create and reindex


def _create(index: CodeIndex, request: _Request, *, whole: bool) -> ManageAnswer:
    root = request.path
    if not os.path.isdir(root):
        what = "is not a directory" if os.path.lexists(root) else "does not exist"
        return _answer(request, root, "error", f"'{root}' {what}; nothing was started.")
    record = index.registry.find(root)
    if record is not None:
        record = lifecycle.recover(index, record)
    decided = _decide_create(index, request, record, whole)
    if not isinstance(decided, _Go):
        return decided
    run_id = index.new_id()
    lease = index.leases.acquire(root, run_id, request.action)
    if lease is None:
        return _someone_writes(index, request)
    handed_over = False
    try:
        # What we decided on may have changed before we got the lease; decide on what is there now.
        now = _settled(index, root)
        if now != record:
            decided = _decide_create(index, request, now, whole)
            if not isinstance(decided, _Go):
                return decided
            record = now
        index.backend.check(root)
        options = _options(request, record)
        lease.announce()
        if not lifecycle.begin(index, root, run_id, options, record):
            return _someone_writes(index, request)
        handed_over = True
    finally:
        if not handed_over:
            lease.release()
    index.start(lambda: _run(index, request, options, lease))
    return _started(request, root, decided)


def _settled(index: CodeIndex, root: str) -> Record | None:
    """The record as it is now that we hold the lease; a run it still speaks of is dead."""
    record = index.registry.find(root)
    if record is not None and isinstance(record.state, Indexing):
        return lifecycle.settle_interrupted(index, record)
    return record


@dataclass(frozen=True, slots=True)
class _Go:
    """A build may begin; with what to say about why."""

    notes: tuple[str, ...] = ()
    parts: dict[str, Any] = field(default_factory=dict)
    warnings: tuple[Wire, ...] = ()
    preflight: Wire | None = None


def _decide_create(
    index: CodeIndex, request: _Request, record: Record | None, whole: bool
) -> _Go | ManageAnswer:
    if record is not None and isinstance(record.state, Indexing):
        return _busy(index, request, Building(record, record.state))
    if whole:
        return _decide_reindex(index, request, record)
    match index.gate(record):
        case NotTracked():
            return _Go()
        case Failed(_, failure):
            return _Go((f"The previous run failed: {failure.error}.",))
        case Building() as building:
            return _busy(index, request, building)
        case Incompatible() as refused:
            return _must_reindex(index, request, refused)
        case Unproven(tracked, reason):
            return _Go(
                (answers.CREATE_NOTE,), {"staleLocal": answers.stale_local(reason, tracked.root)}
            )
        case Open(tracked, marker) as opened:
            if marker is None:
                return _Go((answers.CREATE_NOTE,), {"debugProofCheck": answers.probe_hint(opened)})
            return _answer(
                request,
                tracked.root,
                "blocked",
                f"'{tracked.root}' is already indexed. To pick up changes, call manage_index with "
                f"action='sync'; to rebuild it, call action='reindex' or create with force=true.",
                sync=manage_call("sync", tracked.root),
                reindex=manage_call("reindex", tracked.root),
                status=manage_call("status", tracked.root),
            )


def _decide_reindex(
    index: CodeIndex, request: _Request, record: Record | None
) -> _Go | ManageAnswer:
    """A forced build is never *already indexed*; it is only kept from being plainly needless."""
    searchable = record is not None and record.searchable
    if not searchable or record is None or fingerprint_gate(record, index.runtime()):
        return _Go()
    if request.action != "reindex" or request.allow_unnecessary_reindex:
        return _Go()
    checked = preflight(record.root)
    if isinstance(checked, IgnoreOnly):
        override = manage_call("reindex", record.root)
        override["args"]["allowUnnecessaryReindex"] = True
        answer = _answer(
            request,
            record.root,
            "blocked",
            f"Only ignore rules changed in '{record.root}' ({', '.join(checked.files)}); a sync "
            f"applies them without a rebuild. To rebuild anyway, pass allowUnnecessaryReindex.",
            reason="unnecessary_reindex_ignore_only",
            warnings=[
                {
                    "code": "REINDEX_UNNECESSARY_IGNORE_ONLY",
                    "message": "Only ignore rules changed; a rebuild is not needed.",
                }
            ],
            sync=manage_call("sync", record.root),
            overrideReindex=override,
        )
        answer["preflight"] = {
            "outcome": "reindex_unnecessary_ignore_only",
            "confidence": "high",
            "probeFailed": False,
        }
        return answer
    if isinstance(checked, Unknown):
        return _Go(
            warnings=(
                {
                    "code": "REINDEX_PREFLIGHT_UNKNOWN",
                    "message": f"Whether a rebuild is needed could not be told: {checked.why}",
                },
            ),
            preflight={"outcome": "unknown", "confidence": "low", "probeFailed": True},
        )
    return _Go()


def _options(request: _Request, record: Record | None) -> Options:
    """What was asked for now, else what was asked for when the index was first made."""
    before = record.options if record is not None else Options()
    return Options(
        request.custom_extensions or before.custom_extensions,
        request.ignore_patterns or before.ignore_patterns,
    )


def _started(request: _Request, root: str, go: _Go) -> ManageAnswer:
    started = f"Started background indexing of '{root}'."
    answer = _answer(
        request,
        root,
        "ok",
        "\n".join((*go.notes, started)),
        warnings=list(go.warnings),
        status=manage_call("status", root),
        **go.parts,
    )
    answer["message"] = " ".join((*go.notes, started))
    if go.preflight is not None:
        answer["preflight"] = go.preflight
    return answer


def _run(index: CodeIndex, request: _Request, options: Options, lease: Lease) -> None:
    lifecycle.run_whole(index, options, lease, request.report)
    if index.watches:
        watch(index, request.path)


def watch(index: CodeIndex, root: str) -> None:
    """Keep a root in sync from now on; started by a lifecycle action, ended by clear or close."""
    if root in index.watchers:
        return
    watcher = Watcher(root, lambda keys: _sync_quietly(index, root))
    index.watchers[root] = watcher
    watcher.start()


def _sync_quietly(index: CodeIndex, root: str) -> None:
    record = index.registry.find(root)
    if record is not None and record.searchable:
        manage_index(index, "sync", root)


# sync


def _sync(index: CodeIndex, request: _Request) -> ManageAnswer:
    root = request.path
    record = index.registry.find(root)
    if record is not None:
        record = lifecycle.recover(index, record)
    refusal = _refuse_sync(index, request, index.gate(record))
    if not isinstance(refusal, Open):
        return refusal
    if not os.path.isdir(root):
        return _answer(
            request,
            root,
            "error",
            f"'{root}' no longer exists. It stays tracked, with its index; to forget it, call "
            f"manage_index with action='clear' and path='{root}'.",
            clear=manage_call("clear", root),
        )
    lease = index.leases.acquire(root, index.new_id(), "sync", SYNC_WAIT_S)
    if lease is None:
        return _someone_writes(index, request)
    try:
        # We may have waited for another run; what it left is what we go on from.
        refusal = _refuse_sync(index, request, index.gate(_settled(index, root)))
        if not isinstance(refusal, Open):
            return refusal
        lease.announce()
        try:
            built, _ = lifecycle.run_sync(index, refusal.record, lease, request.report)
        except EmptyTree as error:
            return _answer(
                request, root, "error", f"Error syncing: {error} ({error.hint})",
                clear=manage_call("clear", root), reindex=manage_call("reindex", root),
            )  # fmt: skip
    finally:
        lease.release()
    if index.watches:
        watch(index, root)
    changes = built.changes
    counts = f"+{len(changes.added)} -{len(changes.removed)} ~{len(changes.modified)}"
    totals = f"{built.totals.files} files, {built.totals.chunks} chunks"
    text = (
        f"Synced '{root}': {counts} files; now {totals}."
        if changes
        else f"No changes detected in '{root}'; {built.totals.files} files."
    )
    if built.unreadable:
        text += (
            f"\n{len(built.unreadable)} parts could not be read; what was known of them is kept."
        )
    answer = _answer(request, root, "ok", text, debugProofCheck=answers.probe_hint(refusal))
    answer["syncStats"] = {
        "added": len(changes.added),
        "removed": len(changes.removed),
        "modified": len(changes.modified),
        "renamed": len(changes.renamed),
        "unreadable": len(built.unreadable),
    }
    return answer


def _refuse_sync(index: CodeIndex, request: _Request, gate: Gate) -> Open | ManageAnswer:
    root = request.path
    match gate:
        case Open() as opened:
            return opened
        case NotTracked():
            return _answer(
                request,
                root,
                "not_indexed",
                f"'{root}' is not indexed; a sync needs an index. Call manage_index with "
                f"action='create' and path='{root}' first.",
                reason="not_indexed",
                create=manage_call("create", root),
            )
        case Failed() as failed:
            return _answer(
                request,
                root,
                "not_indexed",
                answers.failed_message(failed, root),
                reason="not_indexed",
                create=manage_call("create", root),
                indexingFailure=answers.failure_facts(failed),
            )
        case Building() as building:
            return _busy(index, request, building)
        case Incompatible() as refused:
            return _must_reindex(index, request, refused)
        case Unproven(_, reason) as unproven:
            return _answer(
                request,
                root,
                "not_indexed",
                answers.stale_message(unproven, root),
                reason="not_indexed",
                create=manage_call("create", root),
                staleLocal=answers.stale_local(reason, root),
            )


# status


def _status(index: CodeIndex, request: _Request) -> ManageAnswer:
    root = request.path
    record = index.registry.find(root)
    if not os.path.isdir(root):
        what = "is not a directory" if os.path.lexists(root) else "does not exist"
        kept = " It stays tracked." if record is not None else ""
        return _answer(request, root, "error", f"'{root}' {what}.{kept}")
    runtime = index.runtime()
    gate = index.gate(record)
    lines = answers.compatibility_lines(runtime, record)
    match gate:
        case NotTracked():
            answer = _answer(
                request,
                root,
                "not_indexed",
                f"{answers.plain_message(root)}\n{lines}",
                reason="not_indexed",
                create=manage_call("create", root),
            )
        case Building() as building:
            answer = _status_building(index, request, building)
        case Incompatible() as refused:
            return _must_reindex(index, request, refused)
        case Failed(tracked, failure) as failed:
            at = f" at {failure.last_pct:.1f}%" if failure.last_pct is not None else ""
            answer = _answer(
                request,
                root,
                "error",
                f"'{root}': indexing failed{at}: {failure.error}\nLast updated: "
                f"{tracked.last_updated}\nTo retry, call manage_index with action='create' and "
                f"path='{root}'.",
                create=manage_call("create", root),
                status=manage_call("status", root),
                indexingFailure=answers.failure_facts(failed),
            )
        case Unproven(_, reason) as unproven:
            answer = _answer(
                request,
                root,
                "not_indexed",
                f"{answers.stale_message(unproven, root)}\nWarning: the local snapshot claims this "
                f"codebase is ready, but nothing proves it.\n{lines}",
                reason="not_indexed",
                create=manage_call("create", root),
                staleLocal=answers.stale_local(reason, root),
            )
        case Open() as opened:
            answer = _status_open(request, opened, lines)
        case _:
            assert_never(gate)
    answer["compatibility"] = answers.compatibility(runtime, record)
    return answer


def _status_building(index: CodeIndex, request: _Request, building: Building) -> ManageAnswer:
    root, progress = building.record.root, building.progress
    pct = progress.progress_pct
    doing = (
        "(Preparing and scanning files...)"
        if pct < 10
        else "(Processing files and generating embeddings...)"
    )
    text = (
        f"'{root}' is currently indexing: {pct:.1f}% {doing}\n"
        f"Last updated: {building.record.last_updated}"
    )
    stale: Wire | None = None
    gone = lifecycle.abandoned(index, building.record)
    if gone is not None:
        since_ms = None if gone.since_s == float("inf") else int(gone.since_s * 1000)
        stale = {"sinceMs": since_ms, "recommendedAction": manage_call("create", root)}
        text += (
            "\nThis run looks abandoned: its writer is gone. Call manage_index with "
            f"action='create' (or 'reindex') and path='{root}' to recover it."
        )
    answer = _answer(
        request,
        root,
        "not_ready",
        text,
        reason="indexing",
        status=manage_call("status", root),
        retryAfterMs=RETRY_AFTER_MS,
        indexing=answers.indexing_facts(building),
        staleIndexing=stale,
    )
    answer["indexing"] = answers.indexing_facts(building)
    return answer


def _status_open(request: _Request, opened: Open, lines: str) -> ManageAnswer:
    record, state = opened.record, opened.record.state
    assert isinstance(state, Indexed | SyncCompleted)
    totals = f"{state.files} files, {state.chunks} chunks"
    partial = " (partial: the limit of chunks was reached)"
    completeness = f"{state.index_status}{partial if state.index_status == LIMIT_REACHED else ''}"
    if isinstance(state, SyncCompleted):
        text = (
            f"'{record.root}': sync completed, fully indexed and ready for search.\n"
            f"+{state.added} -{state.removed} ~{state.modified}; {totals}, {completeness}\n"
            f"Last synced: {record.last_updated}"
        )
    else:
        text = (
            f"'{record.root}' is fully indexed and ready for search.\n{totals}, {completeness}\n"
            f"Last updated: {record.last_updated}"
        )
    if record.last_error is not None:
        text += f"\nThe last run failed ({record.last_error}); the index before it is served."
    warnings: list[Wire] = []
    if opened.probe_failure is not None:
        text += f"\n{answers.PROBE_NOTE}"
        warnings.append({"code": "COMPLETION_PROOF_PROBE_FAILED", "message": answers.PROBE_NOTE})
    return _answer(
        request,
        record.root,
        "ok",
        f"{text}\n{lines}",
        warnings=warnings,
        debugProofCheck=answers.probe_hint(opened),
    )


# clear


def _clear(index: CodeIndex, request: _Request) -> ManageAnswer:
    root = request.path
    record = index.registry.find(root)
    if record is None:
        return _answer(
            request,
            root,
            "not_indexed",
            f"'{root}' is not indexed; there is nothing to clear.",
            reason="not_indexed",
            create=manage_call("create", root),
        )
    record = lifecycle.recover(index, record) or record
    if isinstance(record.state, Indexing):
        return _busy(index, request, Building(record, record.state))
    lease = index.leases.acquire(root, index.new_id(), "clear", SYNC_WAIT_S)
    if lease is None:
        return _someone_writes(index, request)
    try:
        now = _settled(index, root)
        if now is not None and isinstance(now.state, Indexing):
            return _busy(index, request, Building(now, now.state))
        lease.announce()
        watcher = index.watchers.pop(root, None)
        if watcher is not None:
            watcher.stop()
        # The backend first: if it fails, the root stays tracked and can be cleared again.
        index.backend.drop(root)
        index.registry.change(root, lambda now: None)
        index.freshness.forget(root)
    finally:
        lease.release()
    left = len(index.registry.records())
    return _answer(
        request, root, "ok", f"Cleared the index of '{root}'. {left} codebases remain tracked."
    )
