"""manage_index: create, reindex, sync, status, clear.

The only tool that changes an index; `status` is read-only. Every failure is an answer: it raises
only for a path that cannot exist.
"""

from __future__ import annotations

import errno
import logging
import os
from collections.abc import Callable, Sequence
from dataclasses import replace as changed

from msgspec.structs import replace

from holdfast.errors import HoldfastError
from holdfast.files.paths import canonical_root
from holdfast.files.watcher import Watcher
from holdfast.index.answers import ManageAnswer
from holdfast.index.building.progress import Report
from holdfast.index.code_index import CodeIndex
from holdfast.index.errors import HOME_HINT
from holdfast.index.tools.manage.clear import clear
from holdfast.index.tools.manage.create import create
from holdfast.index.tools.manage.request import Action, ManageRequest
from holdfast.index.tools.manage.status import status
from holdfast.index.tools.manage.sync import sync

_log = logging.getLogger("holdfast.index")

_FAILED = {
    "create": "Error starting indexing",
    "reindex": "Error starting indexing",
    "sync": "Error syncing",
    "status": "Error reading the status",
    "clear": "Error clearing the index",
}


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
    """Run one lifecycle action, or describe the state of a root."""
    request = ManageRequest(
        action,
        canonical_root(path),
        force,
        tuple(custom_extensions),
        tuple(ignore_patterns),
        allow_unnecessary_reindex,
        report,
    )
    return _answered(index, request, lambda: _watch(index, request))


def _answered(
    index: CodeIndex, request: ManageRequest, finished: Callable[[], None]
) -> ManageAnswer:
    """Act; `finished` is called when the root is as its tree is."""
    action = request.action
    try:
        match action:
            case "create" | "reindex":
                whole = request.force or action == "reindex"
                return create(index, request, whole=whole, finished=finished)
            case "sync":
                answer = _on_root(index, request, sync)
                if answer.sync_stats is not None:
                    finished()
                return answer
            case "status":
                return _on_root(index, request, status)
            case "clear":
                return clear(index, request)
    except HoldfastError as error:
        hint = f" ({error.hint})" if error.hint else ""
        return request.answer("error", f"{_FAILED[action]}: {error}{hint}")
    except OSError as error:
        # Our own files could not be written: a full disk, a home that became read-only.
        where = f": {error.filename}" if error.filename else ""
        forbidden = isinstance(error, PermissionError) or error.errno == errno.EROFS
        hint = f" ({HOME_HINT})" if forbidden else ""
        return request.answer("error", f"{_FAILED[action]}: {error.strerror or error}{where}{hint}")


def _on_root(
    index: CodeIndex,
    request: ManageRequest,
    act: Callable[[CodeIndex, ManageRequest], ManageAnswer],
) -> ManageAnswer:
    """Act on the root of a path: the nearest tracked one, as in every other tool."""
    requested, record = index.root_of(request.path)
    if record is None or record.root == requested or not os.path.isdir(requested):
        return act(index, request)
    answer = act(index, changed(request, path=record.root))
    text = f"'{requested}' is part of '{record.root}'.\n{answer.human_text}"
    return replace(answer, path=requested, human_text=text)


def _watch(index: CodeIndex, request: ManageRequest) -> None:
    """Keep a root in sync from now on, until it is cleared or the index is closed."""
    if not index.watches:
        return
    _, record = index.root_of(request.path)
    root = record.root if record is not None else request.path
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
            # Nothing is watched after it: the root may be cleared before this sync has ended.
            answer = _answered(index, ManageRequest("sync", root, reported=True), lambda: None)
            if answer.status == "error":
                _log.warning("%s", answer.message)
    except Exception:
        # No caller waits for this, and the watcher must survive until the next change.
        _log.warning("could not sync %s", root, exc_info=True)
