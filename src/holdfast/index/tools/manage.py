"""manage_index: create, reindex, sync, status, clear.

The only tool that changes an index. `status` is a read like the others. Whatever goes wrong is an
answer: this tool raises only for a path that can be none.
"""

from __future__ import annotations

import errno
import logging
import os
from collections.abc import Callable, Sequence
from dataclasses import replace

from holdfast.errors import HoldfastError
from holdfast.files.paths import canonical_root
from holdfast.files.watcher import Watcher
from holdfast.index.building import lifecycle
from holdfast.index.building.plan import EmptyTree
from holdfast.index.building.progress import Report
from holdfast.index.code_index import CodeIndex
from holdfast.index.errors import HOME_HINT
from holdfast.index.generations.gate import (
    Building,
    Failed,
    Gate,
    Incompatible,
    NotTracked,
    Open,
    Unproven,
)
from holdfast.index.generations.record import Indexing
from holdfast.index.tools import answers
from holdfast.index.tools.answers import manage_call
from holdfast.index.tools.creating import create
from holdfast.index.tools.manage_request import (
    Action,
    ManageAnswer,
    Request,
    answered,
    busy,
    must_reindex,
    settled,
    someone_writes,
    unseen_warnings,
)
from holdfast.index.tools.status import status

_log = logging.getLogger("holdfast.index")

ACTIONS: tuple[Action, ...] = ("create", "reindex", "sync", "status", "clear")

SYNC_WAIT_S = 10.0


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
    request = Request(
        action,
        canonical_root(path),
        force,
        tuple(custom_extensions),
        tuple(ignore_patterns),
        allow_unnecessary_reindex,
        report,
    )

    def finished() -> None:
        if index.watches:
            watch(index, request.path)

    try:
        match action:
            case "create":
                return create(index, request, whole=force, finished=finished)
            case "reindex":
                return create(index, request, whole=True, finished=finished)
            case "sync":
                return _of_its_root(index, request, _sync)
            case "status":
                return _of_its_root(index, request, status)
            case "clear":
                return _clear(index, request)
    except HoldfastError as error:
        hint = f" ({error.hint})" if error.hint else ""
        return answered(request, request.path, "error", f"{_doing(action)}: {error}{hint}")
    except OSError as error:
        # What we keep could not be written: a full disk, a home that became read-only.
        where = f": {error.filename}" if error.filename else ""
        forbidden = isinstance(error, PermissionError) or error.errno == errno.EROFS
        hint = f" ({HOME_HINT})" if forbidden else ""
        said = f"{_doing(action)}: {error.strerror or error}{where}{hint}"
        return answered(request, request.path, "error", said)


def _of_its_root(
    index: CodeIndex, request: Request, act: Callable[[CodeIndex, Request], ManageAnswer]
) -> ManageAnswer:
    """Act on the root that governs a path: the nearest tracked one, as in every other tool."""
    requested, record = index.root_of(request.path)
    if record is None or record.root == requested or not os.path.isdir(requested):
        return act(index, request)
    answer = act(index, replace(request, path=record.root))
    answer["path"] = requested
    answer["humanText"] = f"'{requested}' is part of '{record.root}'.\n{answer['humanText']}"
    return answer


def _doing(action: Action) -> str:
    return {
        "create": "Error starting indexing",
        "reindex": "Error starting indexing",
        "sync": "Error syncing",
        "status": "Error reading the status",
        "clear": "Error clearing the index",
    }[action]


def watch(index: CodeIndex, root: str) -> None:
    """Keep a root in sync from now on; started by a lifecycle action, ended by clear or close."""
    known = index.watchers.get(root)
    if known is not None and known.running:
        return
    watcher = Watcher(root, lambda keys: _sync_quietly(index, root))
    index.watchers[root] = watcher
    watcher.start()


def _sync_quietly(index: CodeIndex, root: str) -> None:
    try:
        record = index.registry.find(root)
        if record is not None and record.searchable:
            answer = manage_index(index, "sync", root)
            if answer["status"] == "error":
                _log.warning("%s", answer["message"])
    except Exception:
        # Nobody waits for this, and the next change must find the watcher at its post.
        _log.warning("could not sync %s", root, exc_info=True)


def _sync(index: CodeIndex, request: Request) -> ManageAnswer:
    root = request.path
    record = index.registry.find(root)
    if record is not None:
        record = lifecycle.recover(index, record)
    refusal = _refuse_sync(index, request, index.gate(record))
    if not isinstance(refusal, Open):
        return refusal
    if not os.path.isdir(root):
        return answered(
            request,
            root,
            "error",
            f"'{root}' no longer exists. It stays tracked, with its index; to forget it, call "
            f"manage_index with action='clear' and path='{root}'.",
            clear=manage_call("clear", root),
        )
    lease = index.leases.acquire(root, index.new_id(), "sync", SYNC_WAIT_S)
    if lease is None:
        return someone_writes(index, request)
    try:
        # We may have waited for another run; what it left is what we go on from.
        refusal = _refuse_sync(index, request, index.gate(settled(index, root)))
        if not isinstance(refusal, Open):
            return refusal
        lease.announce()
        try:
            built, after = lifecycle.run_sync(index, refusal.record, lease, request.report)
        except EmptyTree as error:
            return answered(
                request, root, "error", f"Error syncing: {error} ({error.hint})",
                clear=manage_call("clear", root),
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
    text += "".join(f"\n{said}" for said in after.unseen.sentences())
    answer = answered(
        request, root, "ok", text,
        warnings=unseen_warnings(after), debugProofCheck=answers.probe_hint(refusal),
    )  # fmt: skip
    answer["syncStats"] = {
        "added": len(changes.added),
        "removed": len(changes.removed),
        "modified": len(changes.modified),
        "renamed": len(changes.renamed),
        "unreadable": len(built.unreadable),
    }
    return answer


def _refuse_sync(index: CodeIndex, request: Request, gate: Gate) -> Open | ManageAnswer:
    root = request.path
    match gate:
        case Open() as opened:
            return opened
        case NotTracked():
            return answered(
                request,
                root,
                "not_indexed",
                f"'{root}' is not indexed; a sync needs an index. Call manage_index with "
                f"action='create' and path='{root}' first.",
                reason="not_indexed",
                create=manage_call("create", root),
            )
        case Failed() as failed:
            return answered(
                request,
                root,
                "not_indexed",
                answers.failed_message(failed, root),
                reason="not_indexed",
                create=manage_call("create", root),
                indexingFailure=answers.failure_facts(failed),
            )
        case Building() as building:
            return busy(index, request, building)
        case Incompatible() as refused:
            return must_reindex(index, request, refused)
        case Unproven(_, reason) as unproven:
            return answered(
                request,
                root,
                "not_indexed",
                answers.stale_message(unproven, root),
                reason="not_indexed",
                create=manage_call("create", root),
                staleLocal=answers.stale_local(reason, root),
            )


def _clear(index: CodeIndex, request: Request) -> ManageAnswer:
    root = request.path
    record = index.registry.find(root)
    if record is None:
        return _nothing_to_clear(index, request)
    record = lifecycle.recover(index, record) or record
    if isinstance(record.state, Indexing):
        return busy(index, request, Building(record, record.state))
    lease = index.leases.acquire(root, index.new_id(), "clear", SYNC_WAIT_S)
    if lease is None:
        return someone_writes(index, request)
    try:
        now = settled(index, root)
        if now is not None and isinstance(now.state, Indexing):
            return busy(index, request, Building(now, now.state))
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
    return answered(
        request, root, "ok", f"Cleared the index of '{root}'. {left} codebases remain tracked."
    )


def _nothing_to_clear(index: CodeIndex, request: Request) -> ManageAnswer:
    """A part of a root is not forgotten by itself, and never takes the rest with it."""
    root, above = index.root_of(request.path)
    if above is not None:
        return answered(
            request,
            root,
            "not_indexed",
            f"'{root}' has no index of its own: it is part of '{above.root}', and nothing was "
            f"cleared. To forget all of that, call manage_index with action='clear' and "
            f"path='{above.root}'.",
            reason="not_indexed",
            clear=manage_call("clear", above.root),
        )
    return answered(
        request,
        root,
        "not_indexed",
        f"'{root}' is not indexed; there is nothing to clear.",
        reason="not_indexed",
        create=manage_call("create", root),
    )
