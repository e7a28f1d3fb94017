"""manage_index for roots that use a generation of the team: create takes one, sync follows it."""

from __future__ import annotations

from msgspec.structs import replace

from holdfast.files.identity import Unidentified
from holdfast.index.answers import Hints, ManageAnswer, SyncStats, Warning, manage_call
from holdfast.index.code_index import CodeIndex
from holdfast.index.generations.gate import Open
from holdfast.index.generations.marker import COMPLETED
from holdfast.index.generations.record import VERIFIED, Indexed, Options, Record
from holdfast.index.shared.take import NotTaken, Taken, take
from holdfast.index.shared.work import SharedIndex
from holdfast.index.tools.manage.request import SHARED_AWAY, ManageRequest
from holdfast.text import counted


def take_for(
    index: CodeIndex, request: ManageRequest, record: Record | None, options: Options
) -> ManageAnswer | NotTaken:
    """The answer of a create that needs no build, or why it does. Requires the root's lease."""
    root = request.path
    if options != Options():
        return NotTaken("this index has extensions or patterns of its own")
    assert index.team is not None
    if index.origin(root) is not None:
        return NotTaken("this repository has no checkout")
    identity = index.identify(root)
    if isinstance(identity, Unidentified):
        return NotTaken(identity.sentence())
    taken = take(index, index.team, root, identity)
    if not isinstance(taken, Taken):
        return taken
    _record(index, root, taken, options)
    answer = request.answer(
        "ok",
        f"{taken.sentence()}\nNothing was built for '{root}'.",
        hints=Hints(status=manage_call("status", root)),
    )
    return replace(answer, message=taken.sentence())


def follow_team(index: CodeIndex, request: ManageRequest, gate: Open) -> ManageAnswer | None:
    """The answer of a sync that only compares the tree again; None if it has to build."""
    root = gate.record.root
    assert index.team is not None
    identity = index.identify(root)
    if index.shared is None or isinstance(identity, Unidentified):
        return None
    before = index.team.pointer(root)
    taken = take(index, index.team, root, identity)
    if not isinstance(taken, Taken):
        if taken.failure is None or before is None or before.head != identity.head:
            leave_alone(index.shared, root, taken)
            return None
        # The same commit, and the team is unreachable: files that differ are ranked from memory.
        text = f"'{root}' keeps the team's generation: {taken.why}."
        return request.answer("ok", text, warnings=[Warning(SHARED_AWAY, text)])
    _record(index, root, taken, gate.record.options)
    index.freshness.forget(root)
    files = counted(len(taken.manifest.files), "file")
    answer = request.answer("ok", f"Synced '{root}': {files}. {taken.sentence()}")
    return replace(answer, sync_stats=SyncStats(0, 0, taken.pointer.differing, 0, 0))


def leave_alone(shared: SharedIndex, root: str, not_taken: NotTaken) -> None:
    """Let the build that follows not wait a second time for a server that has just failed."""
    if not_taken.failure is not None:
        shared.failures[root] = not_taken.failure


def _record(index: CodeIndex, root: str, taken: Taken, options: Options) -> None:
    state = Indexed(len(taken.manifest.files), taken.manifest.chunks, COMPLETED)
    record = Record(root, state, index.timestamp(), index.runtime(), VERIFIED, options)
    index.registry.change(root, lambda now: record)
    index.freshness.forget(root)
