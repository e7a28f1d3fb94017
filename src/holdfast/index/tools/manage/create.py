"""manage_index create and reindex: decide whether a build may start, and start it.

The decision is made twice: before the lease is taken, to answer at once, and again with the lease,
because the state may have changed in between.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from dataclasses import replace as changed

from msgspec.structs import replace

from holdfast.index.answers import Call, Hints, ManageAnswer, Preflight, Warning, manage_call
from holdfast.index.building import lifecycle
from holdfast.index.building.preflight import IgnoreOnly, Unknown, preflight
from holdfast.index.code_index import CodeIndex
from holdfast.index.generations.gate import (
    Building,
    Failed,
    Incompatible,
    NotTracked,
    Open,
    TooNew,
    Unproven,
    fingerprint_gate,
)
from holdfast.index.generations.proof import Reason
from holdfast.index.generations.record import Indexing, Options, Record
from holdfast.index.tools.manage.request import (
    ManageRequest,
    being_written,
    busy,
    current_record,
    must_reindex,
    too_new,
)
from holdfast.index.tools.manage.team import leave_alone, take_for
from holdfast.index.tools.refusals import proof_check, stale_local

CREATE_NOTE = (
    "Local snapshot claims indexed, but completion proof is missing/invalid; "
    "treating as not_indexed for create."
)

NO_HINTS = Hints()


def create(
    index: CodeIndex, request: ManageRequest, *, whole: bool, finished: Callable[[], None]
) -> ManageAnswer:
    """Start a build; `whole` rebuilds an indexed root. `finished` is called when it has ended."""
    root = request.path
    if not os.path.isdir(root):
        what = "is not a directory" if os.path.lexists(root) else "does not exist"
        return request.answer("error", f"'{root}' {what}; nothing was started.")
    record = index.registry.find(root)
    if record is not None:
        record = lifecycle.recover(index, record)
    decided = _decide_create(index, request, record, whole)
    if not isinstance(decided, _Go):
        return decided
    run_id = index.new_id()
    lease = index.leases.acquire(root, run_id, request.action)
    if lease is None:
        return being_written(index, request)
    handed_over = False
    try:
        now = current_record(index, root)
        if now != record:
            decided = _decide_create(index, request, now, whole)
            if not isinstance(decided, _Go):
                return decided
            record = now
        index.backend.check(root)
        options = _options(request, record)
        not_taken = None
        if index.team is not None and index.shared is not None and not whole:
            taken = take_for(index, request, record, options)
            if isinstance(taken, ManageAnswer):
                return taken
            not_taken = taken
        lease.announce()
        if not lifecycle.begin(index, root, run_id, options, record):
            return being_written(index, request)
        if not_taken is not None and index.shared is not None:
            leave_alone(index.shared, root, not_taken)
        handed_over = True
    finally:
        if not handed_over:
            lease.release()

    def run() -> None:
        lifecycle.run_whole(index, options, lease, request.report)
        finished()

    index.start(run)
    notes = () if not_taken is None else (not_taken.sentence(),)
    return _started(request, _with_notes(decided, notes))


def _with_notes(go: _Go, notes: tuple[str, ...]) -> _Go:
    return changed(go, notes=(*go.notes, *notes)) if notes else go


@dataclass(frozen=True, slots=True)
class _Go:
    """A build may start; with the notes, hints and warnings for the answer."""

    notes: tuple[str, ...] = ()
    hints: Hints = NO_HINTS
    warnings: tuple[Warning, ...] = ()
    preflight: Preflight | None = None


def _decide_create(
    index: CodeIndex, request: ManageRequest, record: Record | None, whole: bool
) -> _Go | ManageAnswer:
    if record is not None and isinstance(record.state, Indexing):
        return busy(request, Building(record, record.state))
    if whole:
        return _decide_reindex(index, request, record)
    match index.verified_gate(record):
        case NotTracked():
            return _Go()
        case Failed(_, failure):
            return _Go((f"The previous run failed: {failure.error}.",))
        case Building() as building:
            return busy(request, building)
        case Incompatible() as refused:
            return must_reindex(index, request, refused)
        case Unproven(tracked, reason, detail):
            notes: tuple[str, ...] = (CREATE_NOTE,)
            if reason is Reason.DAMAGED:
                notes = (f"The index is damaged and is rebuilt: {detail}.", CREATE_NOTE)
            return _Go(notes, Hints(stale_local=stale_local(reason, tracked.root)))
        case TooNew() as newer:
            return too_new(request, newer)
        case Open(_, None) as opened:
            return _Go((CREATE_NOTE,), Hints(debug_proof_check=proof_check(opened)))
        case Open(tracked):
            root = tracked.root
            return request.answer(
                "blocked",
                f"'{root}' is already indexed. To pick up changes, call manage_index with "
                f"action='sync'; to rebuild it, call action='reindex' or create with force=true.",
                path=root,
                hints=Hints(
                    sync=manage_call("sync", root),
                    reindex=manage_call("reindex", root),
                    status=manage_call("status", root),
                ),
            )


def _decide_reindex(
    index: CodeIndex, request: ManageRequest, record: Record | None
) -> _Go | ManageAnswer:
    """Decide on a rebuild; it is refused only if it is certainly not needed."""
    if record is None or not record.searchable or fingerprint_gate(record, index.runtime()):
        return _Go()
    if request.action != "reindex" or request.allow_unnecessary_reindex:
        return _Go()
    checked = preflight(record.root)
    if isinstance(checked, IgnoreOnly):
        override = manage_call("reindex", record.root).args | {"allowUnnecessaryReindex": True}
        answer = request.answer(
            "blocked",
            f"Only ignore rules changed in '{record.root}' ({', '.join(checked.files)}); a sync "
            f"applies them without a rebuild. To rebuild anyway, pass allowUnnecessaryReindex.",
            path=record.root,
            reason="unnecessary_reindex_ignore_only",
            warnings=[
                Warning(
                    "REINDEX_UNNECESSARY_IGNORE_ONLY",
                    "Only ignore rules changed; a rebuild is not needed.",
                )
            ],
            hints=Hints(
                sync=manage_call("sync", record.root),
                override_reindex=Call("manage_index", override),
            ),
        )
        return replace(
            answer, preflight=Preflight("reindex_unnecessary_ignore_only", "high", False)
        )
    if isinstance(checked, Unknown):
        unknown = f"Could not determine whether a rebuild is needed: {checked.why}"
        return _Go(
            warnings=(Warning("REINDEX_PREFLIGHT_UNKNOWN", unknown),),
            preflight=Preflight("unknown", "low", True),
        )
    return _Go()


def _options(request: ManageRequest, record: Record | None) -> Options:
    """The options of this request; where it has none, those of the existing index."""
    before = record.options if record is not None else Options()
    return Options(
        request.custom_extensions or before.custom_extensions,
        request.ignore_patterns or before.ignore_patterns,
    )


def _started(request: ManageRequest, go: _Go) -> ManageAnswer:
    lines = (*go.notes, f"Started background indexing of '{request.path}'.")
    answer = request.answer(
        "ok",
        "\n".join(lines),
        warnings=go.warnings,
        hints=replace(go.hints, status=manage_call("status", request.path)),
    )
    return replace(answer, message=" ".join(lines), preflight=go.preflight)
