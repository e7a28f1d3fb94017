"""manage_index status: what state a root is in, and what to do about it. A read."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import assert_never

from holdfast.index.building import lifecycle
from holdfast.index.code_index import RETRY_AFTER_MS, CodeIndex
from holdfast.index.generations.gate import (
    Building,
    Failed,
    Incompatible,
    NotTracked,
    Open,
    Unproven,
)
from holdfast.index.generations.record import Indexed, SyncCompleted, partial
from holdfast.index.tools import answers
from holdfast.index.tools.answers import Wire, manage_call
from holdfast.index.tools.manage_request import (
    ManageAnswer,
    Request,
    answered,
    must_reindex,
    unseen_warnings,
)

LAST_RUN_FAILED = "LAST_RUN_FAILED"
WHOLE = "fully indexed and ready for search"


def status(index: CodeIndex, request: Request) -> ManageAnswer:
    root = request.path
    record = index.registry.find(root)
    if not os.path.isdir(root):
        what = "is not a directory" if os.path.lexists(root) else "does not exist"
        kept = " It stays tracked." if record is not None else ""
        return answered(request, root, "error", f"'{root}' {what}.{kept}")
    runtime = index.runtime()
    gate = index.gate(record)
    lines = answers.compatibility_lines(runtime, record)
    match gate:
        case NotTracked():
            answer = answered(
                request,
                root,
                "not_indexed",
                f"{answers.plain_message(root)}\n{lines}",
                reason="not_indexed",
                create=manage_call("create", root),
            )
        case Building() as building:
            answer = _status_building(index, request, building)
        case Incompatible(tracked, detail) as refused:
            if tracked.last_error is not None:
                failed_why = f"{detail} The last rebuild failed: {tracked.last_error}."
                refused = replace(refused, detail=failed_why)
            return must_reindex(index, request, refused)
        case Failed(tracked, failure) as failed:
            at = f" at {failure.last_pct:.1f}%" if failure.last_pct is not None else ""
            answer = answered(
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
            answer = answered(
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


def _status_building(index: CodeIndex, request: Request, building: Building) -> ManageAnswer:
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
    answer = answered(
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


def _status_open(request: Request, opened: Open, lines: str) -> ManageAnswer:
    record, state = opened.record, opened.record.state
    assert isinstance(state, Indexed | SyncCompleted)
    totals = f"{state.files} files, {state.chunks} chunks"
    ready, completeness = WHOLE, state.index_status
    if partial(record):
        ready = "only partly indexed; that part is ready for search"
        completeness += " (partial: the limit of chunks was reached)"
    if isinstance(state, SyncCompleted):
        text = (
            f"'{record.root}': sync completed, {ready}.\n"
            f"+{state.added} -{state.removed} ~{state.modified}; {totals}, {completeness}\n"
            f"Last synced: {record.last_updated}"
        )
    else:
        text = (
            f"'{record.root}' is {ready}.\n{totals}, {completeness}\n"
            f"Last updated: {record.last_updated}"
        )
    warnings = unseen_warnings(record)
    if record.last_error is not None:
        said = f"The last run failed ({record.last_error}); the index before it is served."
        text += f"\n{said}"
        warnings.append({"code": LAST_RUN_FAILED, "message": said})
    text += "".join(f"\n{said}" for said in record.unseen.sentences())
    if opened.probe_failure is not None:
        text += f"\n{answers.PROBE_NOTE}"
        warnings.append({"code": "COMPLETION_PROOF_PROBE_FAILED", "message": answers.PROBE_NOTE})
    return answered(
        request,
        record.root,
        "ok",
        f"{text}\n{lines}",
        warnings=warnings,
        debugProofCheck=answers.probe_hint(opened),
    )
