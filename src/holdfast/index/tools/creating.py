"""manage_index create and reindex: decide whether a build may begin, and begin it.

The decision is made twice: before the lease, to answer at once, and again under it, because what
it stood on may have changed.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from holdfast.index.building import lifecycle
from holdfast.index.building.preflight import IgnoreOnly, Unknown, preflight
from holdfast.index.code_index import CodeIndex
from holdfast.index.generations.gate import (
    Building,
    Failed,
    Incompatible,
    NotTracked,
    Open,
    Unproven,
    fingerprint_gate,
)
from holdfast.index.generations.leases import Lease
from holdfast.index.generations.record import Indexing, Options, Record
from holdfast.index.tools import answers
from holdfast.index.tools.answers import Wire, manage_call
from holdfast.index.tools.manage_request import (
    ManageAnswer,
    Request,
    answered,
    busy,
    must_reindex,
    settled,
    someone_writes,
)


def create(
    index: CodeIndex, request: Request, *, whole: bool, finished: Callable[[], None]
) -> ManageAnswer:
    root = request.path
    if not os.path.isdir(root):
        what = "is not a directory" if os.path.lexists(root) else "does not exist"
        return answered(request, root, "error", f"'{root}' {what}; nothing was started.")
    record = index.registry.find(root)
    if record is not None:
        record = lifecycle.recover(index, record)
    decided = _decide_create(index, request, record, whole)
    if not isinstance(decided, _Go):
        return decided
    run_id = index.new_id()
    lease = index.leases.acquire(root, run_id, request.action)
    if lease is None:
        return someone_writes(index, request)
    handed_over = False
    try:
        # What we decided on may have changed before we got the lease; decide on what is there now.
        now = settled(index, root)
        if now != record:
            decided = _decide_create(index, request, now, whole)
            if not isinstance(decided, _Go):
                return decided
            record = now
        index.backend.check(root)
        options = _options(request, record)
        lease.announce()
        if not lifecycle.begin(index, root, run_id, options, record):
            return someone_writes(index, request)
        handed_over = True
    finally:
        if not handed_over:
            lease.release()
    index.start(lambda: _run(index, request, options, lease, finished))
    return _started(request, root, decided)


@dataclass(frozen=True, slots=True)
class _Go:
    """A build may begin; with what to say about why."""

    notes: tuple[str, ...] = ()
    parts: dict[str, Any] = field(default_factory=dict)
    warnings: tuple[Wire, ...] = ()
    preflight: Wire | None = None


def _decide_create(
    index: CodeIndex, request: Request, record: Record | None, whole: bool
) -> _Go | ManageAnswer:
    if record is not None and isinstance(record.state, Indexing):
        return busy(index, request, Building(record, record.state))
    if whole:
        return _decide_reindex(index, request, record)
    match index.gate(record):
        case NotTracked():
            return _Go()
        case Failed(_, failure):
            return _Go((f"The previous run failed: {failure.error}.",))
        case Building() as building:
            return busy(index, request, building)
        case Incompatible() as refused:
            return must_reindex(index, request, refused)
        case Unproven(tracked, reason):
            return _Go(
                (answers.CREATE_NOTE,), {"staleLocal": answers.stale_local(reason, tracked.root)}
            )
        case Open(tracked, marker) as opened:
            if marker is None:
                return _Go((answers.CREATE_NOTE,), {"debugProofCheck": answers.probe_hint(opened)})
            return answered(
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
    index: CodeIndex, request: Request, record: Record | None
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
        answer = answered(
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


def _options(request: Request, record: Record | None) -> Options:
    """What was asked for now, else what was asked for when the index was first made."""
    before = record.options if record is not None else Options()
    return Options(
        request.custom_extensions or before.custom_extensions,
        request.ignore_patterns or before.ignore_patterns,
    )


def _started(request: Request, root: str, go: _Go) -> ManageAnswer:
    started = f"Started background indexing of '{root}'."
    answer = answered(
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


def _run(
    index: CodeIndex,
    request: Request,
    options: Options,
    lease: Lease,
    finished: Callable[[], None],
) -> None:
    lifecycle.run_whole(index, options, lease, request.report)
    finished()
