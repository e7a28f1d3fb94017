"""manage_index sync: index what changed since the last run."""

from __future__ import annotations

import os

from msgspec.structs import replace

from holdfast.index.answers import Hints, ManageAnswer, SyncStats, manage_call
from holdfast.index.building import lifecycle
from holdfast.index.building.build import Built
from holdfast.index.building.plan import EmptyTree
from holdfast.index.code_index import CodeIndex
from holdfast.index.errors import DamagedBackend
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
from holdfast.index.generations.record import Record
from holdfast.index.tools.manage.request import (
    ManageRequest,
    being_written,
    busy,
    current_record,
    must_reindex,
    shared_away,
    shared_lines,
    too_new,
    unseen_warnings,
)
from holdfast.index.tools.manage.team import follow_team
from holdfast.index.tools.refusals import (
    failed_message,
    indexing_failure,
    proof_check,
    stale_local,
    stale_message,
)
from holdfast.text import counted

WAIT_S = 10.0
"""How long a sync or a clear waits for another run to end."""


def sync(index: CodeIndex, request: ManageRequest) -> ManageAnswer:
    root = request.path
    record = index.registry.find(root)
    if record is not None:
        record = lifecycle.recover(index, record)
    gate = index.gate(record)
    if not isinstance(gate, Open):
        return _refused(index, request, gate)
    if not os.path.isdir(root):
        return request.answer(
            "error",
            f"'{root}' no longer exists. It stays tracked, with its index; to forget it, call "
            f"manage_index with action='clear' and path='{root}'.",
            hints=Hints(clear=manage_call("clear", root)),
        )
    lease = index.leases.acquire(root, index.new_id(), "sync", WAIT_S)
    if lease is None:
        return being_written(index, request)
    try:
        # We may have waited for another run; continue from its result.
        gate = index.gate(current_record(index, root))
        if not isinstance(gate, Open):
            return _refused(index, request, gate)
        lease.announce()
        if index.team is not None and index.team.pointer(root) is not None:
            followed = follow_team(index, request, gate)
            if followed is not None:
                return followed
        try:
            built, after = lifecycle.run_sync(
                index, gate.record, lease, request.report, request.reported
            )
        except EmptyTree as error:
            return request.answer(
                "error",
                f"Error syncing: {error} ({error.hint})",
                hints=Hints(clear=manage_call("clear", root)),
            )
        except DamagedBackend as error:
            return _refused(index, request, index.damaged(gate.record, error))
    finally:
        lease.release()
    return _synced(index, request, gate, built, after)


def _synced(
    index: CodeIndex, request: ManageRequest, gate: Open, built: Built, after: Record
) -> ManageAnswer:
    root, changes = request.path, built.changes
    stats = SyncStats(
        len(changes.added),
        len(changes.removed),
        len(changes.modified),
        len(changes.renamed),
        len(built.unreadable),
    )
    files = counted(built.totals.files, "file")
    text = (
        f"Synced '{root}': +{stats.added} -{stats.removed} ~{stats.modified} files; "
        f"now {files}, {counted(built.totals.chunks, 'chunk')}."
        if changes
        else f"No changes detected in '{root}'; {files}."
    )
    answer = request.answer(
        "ok",
        "\n".join(
            [text, *(shared_lines(index, root) if changes else ()), *after.unseen.sentences()]
        ),
        warnings=[*unseen_warnings(after), *shared_away(index, root)],
        hints=Hints(debug_proof_check=proof_check(gate)),
    )
    return replace(answer, sync_stats=stats)


def _refused(index: CodeIndex, request: ManageRequest, gate: Gate) -> ManageAnswer:
    root = request.path
    create = manage_call("create", root)
    match gate:
        case NotTracked():
            return request.not_indexed(
                f"'{root}' is not indexed; a sync needs an index. Call manage_index with "
                f"action='create' and path='{root}' first.",
                create=create,
            )
        case Failed() as failed:
            return request.not_indexed(
                failed_message(failed, root),
                create=create,
                indexing_failure=indexing_failure(failed),
            )
        case Building() as building:
            return busy(request, building)
        case Incompatible() as refused:
            return must_reindex(index, request, refused)
        case Unproven(_, reason) as unproven:
            return request.not_indexed(
                stale_message(unproven, root),
                create=create,
                stale_local=stale_local(reason, root),
            )
        case TooNew() as newer:
            return too_new(request, newer)
        case Open():
            raise AssertionError("an open gate does not refuse")
