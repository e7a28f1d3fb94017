"""Why a root cannot be read: the messages and data that all tools share.

A refusal is an ordinary answer. It names the root, the reason and the call that helps. The text is
always the same, so that an agent can rely on it.
"""

from __future__ import annotations

from typing import Literal, TypeVar

import msgspec
from msgspec.structs import replace

from holdfast.index.answers import (
    Compatibility,
    Hints,
    IndexingFailure,
    IndexingProgress,
    ProofCheck,
    StaleLocal,
    manage_call,
)
from holdfast.index.generations.fingerprint import Fingerprint
from holdfast.index.generations.gate import (
    Building,
    Failed,
    Gate,
    Incompatible,
    NotTracked,
    Open,
    TooNew,
    Unproven,
)
from holdfast.index.generations.proof import Reason
from holdfast.index.generations.record import Record, status_name


class Refusal(msgspec.Struct, frozen=True):
    """The answer for a closed gate. `freshness` is the mode that a search reports, if any."""

    status: Literal["not_indexed", "not_ready", "requires_reindex"]
    reason: str
    message: str
    hints: Hints
    root: str | None = None
    freshness: str | None = None
    indexing: IndexingProgress | None = None
    compatibility: Compatibility | None = None


AnswerType = TypeVar("AnswerType", bound=msgspec.Struct)


def refused(
    answer: AnswerType, gate: Gate, runtime: Fingerprint, retry: str, requested: str
) -> AnswerType:
    """The answer with the status, reason and hints of a closed gate."""
    why = refusal(gate, requested, runtime, retry)
    return replace(
        answer,
        status=why.status,
        reason=why.reason,
        message=why.message,
        hints=why.hints,
        indexing=why.indexing,
    )


def refusal(gate: Gate, requested: str, runtime: Fingerprint, retry: str) -> Refusal:
    """Why a read of `requested` is refused; `retry` says what to do after a build."""
    match gate:
        case NotTracked():
            return Refusal(
                "not_indexed",
                "not_indexed",
                not_tracked_message(requested),
                Hints(create=manage_call("create", requested)),
            )
        case Failed(record) as failed:
            return Refusal(
                "not_indexed",
                "not_indexed",
                failed_message(failed, requested),
                Hints(
                    create=manage_call("create", record.root),
                    status=manage_call("status", record.root),
                    indexing_failure=indexing_failure(failed),
                ),
            )
        case Unproven(record, reason) as unproven:
            return Refusal(
                "not_indexed",
                "not_indexed",
                stale_message(unproven, requested),
                Hints(
                    create=manage_call("create", record.root),
                    stale_local=stale_local(reason, record.root),
                ),
            )
        case TooNew(record) as newer:
            return Refusal(
                "not_indexed",
                Reason.NEWER_FORMAT.value,
                newer_message(newer),
                Hints(status=manage_call("status", record.root)),
            )
        case Building(record) as building:
            return Refusal(
                "not_ready",
                "indexing",
                indexing_message(building, retry),
                Hints(
                    create=manage_call("create", record.root) if building.abandoned else None,
                    status=manage_call("status", record.root),
                    debug_indexing={"completionProof": "marker_doc"},
                ),
                record.root,
                "skipped_indexing",
                indexing=indexing_progress(building),
            )
        case Incompatible(record) as refused:
            return Refusal(
                "requires_reindex",
                "requires_reindex",
                reindex_message(refused),
                Hints(reindex=manage_call("reindex", record.root)),
                record.root,
                "skipped_requires_reindex",
                compatibility=compatibility(runtime, record, refused),
            )
        case Open():
            raise AssertionError("an open gate does not refuse")


# The state of a gate as data.


def stale_local(reason: Reason, root: str) -> StaleLocal:
    return StaleLocal(reason.value, manage_call("create", root))


def proof_check(opened: Open) -> ProofCheck | None:
    """The diagnostic of a proof check that could not finish; None when it did."""
    if opened.probe_failure is None:
        return None
    return ProofCheck(ok=False, reason="probe_failed", message=opened.probe_failure)


def indexing_progress(building: Building) -> IndexingProgress:
    progress = building.progress
    return IndexingProgress(
        round(progress.progress_pct, 1), building.record.last_updated, progress.phase
    )


def indexing_failure(failed: Failed) -> IndexingFailure:
    return IndexingFailure(
        failed.failure.error, failed.failure.last_pct, failed.record.last_updated
    )


def compatibility(
    runtime: Fingerprint, record: Record | None, refused: Incompatible | None = None
) -> Compatibility:
    """The current settings, those that made the index, and why they do not fit."""
    if record is None:
        return Compatibility(runtime.to_wire())
    indexed_with = refused.indexed_with if refused else record.fingerprint
    return Compatibility(
        runtime.to_wire(),
        indexed_with.to_wire() if indexed_with is not None else None,
        record.fingerprint_source,
        refused.reindex_reason if refused is not None else None,
        status_name(record.state),
    )


def compatibility_lines(
    runtime: Fingerprint, record: Record | None, refused: Incompatible | None = None
) -> str:
    """The same, as four lines of text."""
    made_with = record.fingerprint if record else None
    reason = "none"
    if refused is not None:
        made_with, reason = refused.indexed_with, refused.reindex_reason
    return (
        f"Runtime fingerprint: {runtime}\n"
        f"Indexed fingerprint: {made_with or 'unavailable'}\n"
        f"Fingerprint source: {record.fingerprint_source if record else 'unavailable'}\n"
        f"Reindex reason: {reason}"
    )


# The state of a gate in words.


def not_tracked_message(requested: str) -> str:
    return (
        f"'{requested}' is not indexed, and neither is any directory above it. "
        f"To index it, call manage_index with action='create' and path='{requested}'."
    )


def failed_message(failed: Failed, requested: str) -> str:
    return (
        f"'{requested}' is not indexed: the last run on '{failed.record.root}' failed: "
        f"{failed.failure.error}. To try again, call manage_index with action='create' and "
        f"path='{failed.record.root}'."
    )


def newer_message(newer: TooNew) -> str:
    return f"'{newer.record.root}' cannot be served: {newer.detail}. Nothing was changed."


def stale_message(unproven: Unproven, requested: str) -> str:
    root = unproven.record.root
    detail = f" (asked for '{requested}')" if requested != root else ""
    if unproven.reason is Reason.DAMAGED:
        return (
            f"'{root}' is not indexed{detail}: its index is damaged ({unproven.detail}), so the "
            f"completion proof is missing or invalid (reason: damaged). To rebuild it, call "
            f"manage_index with action='create' and path='{root}'."
        )
    return (
        f"'{root}' is not indexed{detail}: local index metadata is stale, and the completion proof "
        f"is missing or invalid (reason: {unproven.reason.value}). To repair it, call manage_index "
        f"with action='create' and path='{root}'."
    )


def indexing_message(building: Building, retry: str) -> str:
    root = building.record.root
    if building.abandoned:
        return (
            f"'{root}' was being indexed ({building.progress.progress_pct:.1f}%), and its writer "
            f"is gone: the run looks abandoned. Call manage_index with action='create' and "
            f"path='{root}' to recover it, then {retry}."
        )
    return (
        f"'{root}' is currently indexing "
        f"({building.progress.progress_pct:.1f}%, {building.progress.phase}). "
        f"Wait for it to finish, then {retry}."
    )


def reindex_message(refused: Incompatible) -> str:
    detail = f"{refused.detail}\n" if refused.detail else ""
    return (
        f"{detail}The index of '{refused.record.root}' is incompatible with the current settings "
        f"and must be rebuilt. Call manage_index with action='reindex' and "
        f"path='{refused.record.root}'."
    )
