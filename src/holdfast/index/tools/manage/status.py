"""manage_index status: the state of a root, and what to do about it. Read-only."""

from __future__ import annotations

import os
from typing import assert_never

from msgspec.structs import replace
from msgspec.structs import replace as changed

from holdfast.index.answers import Hints, ManageAnswer, StaleIndexing, Warning, manage_call
from holdfast.index.building import lifecycle
from holdfast.index.code_index import RETRY_AFTER_MS, CodeIndex
from holdfast.index.generations.gate import (
    Building,
    Failed,
    Incompatible,
    NotTracked,
    Open,
    TooNew,
    Unproven,
)
from holdfast.index.generations.record import PARTIAL, Indexed, SyncCompleted, partial
from holdfast.index.tools.manage.request import (
    SHARED_AWAY,
    ManageRequest,
    must_reindex,
    shared_away,
    shared_lines,
    too_new,
    unseen_warnings,
)
from holdfast.index.tools.refusals import (
    compatibility,
    compatibility_lines,
    indexing_failure,
    indexing_progress,
    not_tracked_message,
    proof_check,
    stale_local,
    stale_message,
)
from holdfast.text import counted

LAST_RUN_FAILED = "LAST_RUN_FAILED"
READY = "fully indexed and ready for search"
NO_FILES = "It has no files of a known language."
PROBE_NOTE = (
    "Completion proof check is temporarily unavailable (probe_failed); keeping local status."
)


def status(index: CodeIndex, request: ManageRequest) -> ManageAnswer:
    root = request.path
    record = index.registry.find(root)
    if not os.path.isdir(root):
        what = "is not a directory" if os.path.lexists(root) else "does not exist"
        tracked_text = " It stays tracked." if record is not None else ""
        return request.answer("error", f"'{root}' {what}.{tracked_text}")
    runtime = index.runtime()
    gate = index.spot_checked_gate(record)
    lines = compatibility_lines(runtime, record)
    create = manage_call("create", root)
    match gate:
        case NotTracked():
            answer = request.not_indexed(f"{not_tracked_message(root)}\n{lines}", create=create)
        case Building() as building:
            answer = _building(index, request, building)
        case Incompatible(tracked, detail) as refused:
            if tracked.last_error is not None:
                failed_why = f"{detail} The last rebuild failed: {tracked.last_error}."
                refused = changed(refused, detail=failed_why)
            return must_reindex(index, request, refused)
        case Failed(tracked, failure) as failed:
            at = f" at {failure.last_pct:.1f}%" if failure.last_pct is not None else ""
            answer = request.answer(
                "error",
                f"'{root}': indexing failed{at}: {failure.error}\nLast updated: "
                f"{tracked.last_updated}\nTo retry, call manage_index with action='create' and "
                f"path='{root}'.",
                hints=Hints(
                    create=create,
                    status=manage_call("status", root),
                    indexing_failure=indexing_failure(failed),
                ),
            )
        case Unproven(_, reason) as unproven:
            answer = request.not_indexed(
                f"{stale_message(unproven, root)}\nWarning: the local snapshot claims this "
                f"codebase is ready, but nothing proves it.\n{lines}",
                create=create,
                stale_local=stale_local(reason, root),
            )
        case TooNew() as newer:
            answer = too_new(request, newer)
        case Open() as opened:
            answer = _open(index, request, opened, lines)
        case _:
            assert_never(gate)
    return replace(answer, compatibility=compatibility(runtime, record))


def _building(index: CodeIndex, request: ManageRequest, building: Building) -> ManageAnswer:
    root, pct = building.record.root, building.progress.progress_pct
    doing = (
        "(Preparing and scanning files...)"
        if pct < 10
        else "(Processing files and generating embeddings...)"
    )
    text = (
        f"'{root}' is currently indexing: {pct:.1f}% {doing}\n"
        f"Last updated: {building.record.last_updated}"
    )
    stale: StaleIndexing | None = None
    gone = lifecycle.abandoned(index, building.record)
    if gone is not None:
        since_ms = None if gone.since_s == float("inf") else int(gone.since_s * 1000)
        stale = StaleIndexing(since_ms, manage_call("create", root))
        text += (
            "\nThis run looks abandoned: its writer is gone. Call manage_index with "
            f"action='create' (or 'reindex') and path='{root}' to recover it."
        )
    progress = indexing_progress(building)
    answer = request.answer(
        "not_ready",
        text,
        reason="indexing",
        hints=Hints(
            status=manage_call("status", root),
            retry_after_ms=RETRY_AFTER_MS,
            indexing=progress,
            stale_indexing=stale,
        ),
    )
    return replace(answer, indexing=progress)


def _open(index: CodeIndex, request: ManageRequest, opened: Open, lines: str) -> ManageAnswer:
    record, state = opened.record, opened.record.state
    assert isinstance(state, Indexed | SyncCompleted)
    totals = f"{counted(state.files, 'file')}, {counted(state.chunks, 'chunk')}"
    ready, completeness = READY, state.index_status
    if partial(record):
        ready = "only partly indexed; that part is ready for search"
        completeness += f" ({PARTIAL})"
    if isinstance(state, SyncCompleted):
        text = [
            f"'{record.root}': sync completed, {ready}.",
            f"+{state.added} -{state.removed} ~{state.modified}; {totals}, {completeness}",
            f"Last synced: {record.last_updated}",
        ]
    else:
        text = [
            f"'{record.root}' is {ready}.",
            f"{totals}, {completeness}",
            f"Last updated: {record.last_updated}",
        ]
    if state.files == 0:
        text.insert(1, NO_FILES)
    warnings = [*unseen_warnings(record), *shared_away(index, record.root)]
    if record.last_error is not None:
        failed = f"The last run failed ({record.last_error}); the index before it is served."
        warnings.insert(0, Warning(LAST_RUN_FAILED, failed))
    if opened.probe_failure is not None:
        warnings.append(Warning("COMPLETION_PROOF_PROBE_FAILED", PROBE_NOTE))
    return request.answer(
        "ok",
        "\n".join(
            [
                *text,
                *shared_lines(index, record.root),
                *(warning.message for warning in warnings if warning.code != SHARED_AWAY),
                lines,
            ]
        ),
        path=record.root,
        warnings=warnings,
        hints=Hints(debug_proof_check=proof_check(opened)),
    )
