"""manage_index clear: delete the index of a root and stop tracking it."""

from __future__ import annotations

from holdfast.index.answers import ManageAnswer, manage_call
from holdfast.index.building import lifecycle
from holdfast.index.code_index import CodeIndex
from holdfast.index.generations.gate import Building
from holdfast.index.generations.record import Indexing
from holdfast.index.tools.manage.request import (
    ManageRequest,
    being_written,
    busy,
    current_record,
)
from holdfast.index.tools.manage.sync import WAIT_S


def clear(index: CodeIndex, request: ManageRequest) -> ManageAnswer:
    root = request.path
    record = index.registry.find(root)
    if record is None:
        return _nothing_to_clear(index, request)
    record = lifecycle.recover(index, record) or record
    if isinstance(record.state, Indexing):
        return busy(request, Building(record, record.state))
    lease = index.leases.acquire(root, index.new_id(), "clear", WAIT_S)
    if lease is None:
        return being_written(index, request)
    try:
        now = current_record(index, root)
        if now is not None and isinstance(now.state, Indexing):
            return busy(request, Building(now, now.state))
        lease.announce()
        watcher = index.watchers.pop(root, None)
        if watcher is not None:
            watcher.stop(wait=False)  # it may wait for our lease
        # The backend first: if it fails, the root stays tracked and can be cleared again.
        index.backend.drop(root)
        index.registry.change(root, lambda now: None)
        index.freshness.forget(root)
    finally:
        lease.release()
    if watcher is not None:
        watcher.stop()
    left = len(index.registry.records())
    remain = "1 codebase remains" if left == 1 else f"{left} codebases remain"
    return request.answer("ok", f"Cleared the index of '{root}'. {remain} tracked.")


def _nothing_to_clear(index: CodeIndex, request: ManageRequest) -> ManageAnswer:
    """Only a whole root can be cleared; clearing a directory in it must not clear the rest."""
    root, above = index.root_of(request.path)
    if above is not None:
        return request.not_indexed(
            f"'{root}' has no index of its own: it is part of '{above.root}', and nothing was "
            f"cleared. To forget all of that, call manage_index with action='clear' and "
            f"path='{above.root}'.",
            clear=manage_call("clear", above.root),
        )
    return request.not_indexed(
        f"'{root}' is not indexed; there is nothing to clear.",
        create=manage_call("create", root),
    )
