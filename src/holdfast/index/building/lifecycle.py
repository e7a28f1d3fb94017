"""The runs that change an index, each while holding the root's lease.

A run sets the state to *indexing* before it begins. It ends by publishing, or with the state that
can still be proven. Its run id is in the record, and only that run may change it.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime

from msgspec.structs import replace

from holdfast.errors import HoldfastError
from holdfast.index.building.build import Built, build
from holdfast.index.building.progress import Progress, Report
from holdfast.index.building.watched_root import WatchedRoot
from holdfast.index.code_index import STALE_INDEXING_S, CodeIndex
from holdfast.index.generations.leases import Lease
from holdfast.index.generations.marker import COMPLETED, Marker
from holdfast.index.generations.proof import Outcome, Proof
from holdfast.index.generations.record import (
    VERIFIED,
    Indexed,
    IndexFailed,
    Indexing,
    Options,
    Record,
    RequiresReindex,
    Settled,
    State,
    SyncCompleted,
    Unseen,
    policy_of,
    unseen,
)

_log = logging.getLogger("holdfast.index")

SAVE_PROGRESS_S = 2.0
INTERRUPTED = "indexing was interrupted before it finished"


@dataclass(frozen=True, slots=True)
class Abandoned:
    """An *indexing* record whose writer is gone. `since_s` is its age."""

    since_s: float


def abandoned(index: CodeIndex, record: Record) -> Abandoned | None:
    """Whether the run of an *indexing* record is dead. Reads only.

    That is so if there is no live writer, and either the record was not updated for two minutes or
    the lease of that run was left by a process that no longer exists.
    """
    assert isinstance(record.state, Indexing)
    if index.leases.live_writer(record.root) is not None:
        return None
    since_s = age_s(index, record)
    left = index.leases.last_writer(record.root)
    if left is not None and left.run_id == record.state.run_id:
        return Abandoned(since_s)
    return Abandoned(since_s) if since_s > STALE_INDEXING_S else None


def age_s(index: CodeIndex, record: Record) -> float:
    """Seconds since a record was written; infinite when its time cannot be read."""
    try:
        written = datetime.fromisoformat(record.last_updated)
        return max(0.0, (index.now() - written).total_seconds())
    except (ValueError, TypeError):
        return float("inf")


def recover(index: CodeIndex, record: Record) -> Record | None:
    """End the run of a dead writer with the state that can be proven; returns the new record.

    Only for lifecycle actions. Takes the lease, which proves that there is no writer. When the
    probe could not finish or another writer has the lease, nothing changes.
    """
    if not isinstance(record.state, Indexing) or abandoned(index, record) is None:
        return record
    lease = index.leases.acquire(record.root, index.new_id(), "recover")
    if lease is None:
        return record
    try:
        return end_interrupted(index, record)
    finally:
        lease.release()


def end_interrupted(index: CodeIndex, record: Record) -> Record | None:
    """End a run with the state that can be proven. Only for the holder of the root's lease.

    A live run holds the lease, so the current holder knows that the run is dead.
    """
    proof = index.prove(record.root)
    if proof.outcome is Outcome.PROBE_FAILED:
        return record
    interrupted = record.state
    assert isinstance(interrupted, Indexing)

    def settle(now: Record | None) -> Record | None:
        if now is None or now.state != interrupted:
            return now
        if proof.valid and proof.marker is not None:
            ours = proof.marker.run_id == interrupted.run_id
            promoted = _promoted(index, now, proof.marker)
            return replace(promoted, last_error=None if ours else INTERRUPTED)
        return replace(
            now,
            state=IndexFailed(INTERRUPTED, interrupted.progress_pct),
            last_updated=index.timestamp(),
        )

    return index.registry.change(record.root, settle)


def _promoted(index: CodeIndex, record: Record, marker: Marker) -> Record:
    """The record of a root whose marker proves a complete generation."""
    return replace(
        record,
        state=Indexed(marker.indexed_files, marker.total_chunks, marker.index_status),
        last_updated=index.timestamp(),
        fingerprint=marker.fingerprint,
        fingerprint_source=VERIFIED,
    )


def begin(
    index: CodeIndex, root: str, run_id: str, options: Options, expected: Record | None
) -> bool:
    """Set a root to *indexing*; False if its record has changed since the decision was made."""
    began = False

    def to_indexing(now: Record | None) -> Record | None:
        nonlocal began
        if now == expected:
            began = True
            previous = expected.state if expected is not None else None
            return Record(
                root,
                Indexing(run_id, previous=None if isinstance(previous, Indexing) else previous),
                index.timestamp(),
                expected.fingerprint if expected else None,
                expected.fingerprint_source if expected else VERIFIED,
                options,
            )
        return now

    index.registry.change(root, to_indexing)
    return began


def run_whole(index: CodeIndex, record_options: Options, lease: Lease, report: Report) -> None:
    """Rebuild the index and end the run, also on failure; releases the lease."""
    root, run_id = lease.root, lease.run_id
    ended = False
    try:
        saver = _ProgressSaver(index, root, run_id, report)
        try:
            built = build(
                root,
                run_id,
                policy_of(record_options),
                index.tools(),
                whole=True,
                report=saver,
            )
        except (Exception, KeyboardInterrupt) as error:
            # The run has to end in any case: the record must not stay *indexing*.
            if isinstance(error, Exception):
                _log.warning("the build of %s failed: %s", root, error)
            _end(index, root, run_id, _after_failure(index, lease, error, saver.last_pct))
            ended = True
            if not isinstance(error, HoldfastError | OSError):
                raise
            return
        state = Indexed(built.totals.files, built.totals.chunks, built.index_status)
        left = unseen(built.unreadable, built.skipped["unnameable"], built.unparsed)
        _end(index, root, run_id, lambda record: _published(index, record, state, left))
        ended = True
        _log.info("published %s: %d files, %d chunks", root, state.files, state.chunks)
        index.freshness.forget(root)
        index.published(root, built.snapshot)
    finally:
        lease.release(run_ended=ended)


def run_sync(
    index: CodeIndex, record: Record, lease: Lease, report: Report, reported: bool = False
) -> tuple[Built, Record]:
    """Update the index to match the tree; raises and changes nothing when it cannot.

    `reported` says that the kernel's reports are the reason for it.
    """
    began = index.freshness.moment()
    tree = index.freshness.tree(record.root) if index.watches else None
    watched = None if tree is None else WatchedRoot(record.root, tree, index.freshness, reported)
    uses_team = index.team is not None and index.team.pointer(record.root) is not None
    built = build(
        record.root,
        lease.run_id,
        policy_of(record.options),
        index.tools(),
        # A team's generation is not updated: the root gets a generation of its own.
        whole=uses_team,
        report=report,
        watched=watched,
        earlier_manifest=index.freshness.manifest(record.root),
    )
    assert isinstance(record.state, Indexed | SyncCompleted)
    state = SyncCompleted(
        built.totals.files,
        built.totals.chunks,
        len(built.changes.added),
        len(built.changes.removed),
        len(built.changes.modified),
        built.index_status if built.published else record.state.index_status,
    )

    def finish(now: Record | None) -> Record | None:
        # The root may have been cleared meanwhile; a sync must not add it again.
        if now is None or not now.searchable:
            return now
        touched = {*built.changes.modified, *built.changes.removed}
        left = unseen(
            built.unreadable, built.skipped["unnameable"], built.unparsed, now.unseen, touched
        )
        return _published(index, now, state, left)

    after = index.registry.change(record.root, finish)
    if built.published:
        _log.info("published %s: %d files, %d chunks", record.root, state.files, state.chunks)
    else:
        _log.debug("nothing changed in %s", record.root)
    if not built.unreadable:
        # Files beyond the limit are not in the index, so the next sync compares all.
        look = built.look if state.index_status == COMPLETED else None
        large = () if built.look is None else built.look.found.large
        index.freshness.synced(record.root, built.identity, built.snapshot, began, look, large)
    index.published(record.root, built.snapshot)
    return built, after or record


def _published(index: CodeIndex, record: Record, state: Settled, left: Unseen) -> Record:
    return replace(
        record,
        state=state,
        last_updated=index.timestamp(),
        fingerprint=index.runtime(),
        fingerprint_source=VERIFIED,
        last_error=None,
        unseen=left,
    )


def _after_failure(
    index: CodeIndex, lease: Lease, error: BaseException, last_pct: float
) -> Callable[[Record], Record]:
    """The record of a root whose run failed: the state that can be proven, else *failed*."""
    proof = index.prove(lease.root)
    interrupted = isinstance(error, KeyboardInterrupt)
    text = INTERRUPTED if interrupted else f"{error}" or type(error).__name__

    def settle(record: Record) -> Record:
        assert isinstance(record.state, Indexing)
        if proof.marker is not None and proof.valid:
            if proof.marker.run_id == lease.run_id:
                # The generation was published, and the failure came after that.
                return replace(_promoted(index, record, proof.marker), last_error=None)
            if not _agrees(record, proof.marker):
                return replace(_promoted(index, record, proof.marker), last_error=text)
        return replace(
            record,
            state=_still_true(record.state.previous, proof, text, last_pct),
            last_updated=index.timestamp(),
            last_error=text,
        )

    return settle


def _agrees(record: Record, marker: Marker) -> bool:
    """Whether the state before the run is the one that the marker proves."""
    assert isinstance(record.state, Indexing)
    before = record.state.previous
    return (
        isinstance(before, Indexed | SyncCompleted)
        and (before.files, before.chunks) == (marker.indexed_files, marker.total_chunks)
        and record.fingerprint == marker.fingerprint
    )


def _still_true(previous: Settled | None, proof: Proof, error: str, last_pct: float) -> State:
    """The state before the run if it still holds, else *failed*."""
    searchable = isinstance(previous, Indexed | SyncCompleted)
    match proof.outcome:
        case Outcome.VALID if searchable:
            is_kept = True
        case Outcome.FINGERPRINT_MISMATCH | Outcome.PROBE_FAILED:
            # Nothing indicates that the previous generation is gone.
            is_kept = searchable or isinstance(previous, RequiresReindex)
        case _:
            is_kept = False
    return previous if is_kept and previous is not None else IndexFailed(error, last_pct)


def _end(index: CodeIndex, root: str, run_id: str, settle: Callable[[Record], Record]) -> None:
    def end(now: Record | None) -> Record | None:
        ours = now is not None and isinstance(now.state, Indexing) and now.state.run_id == run_id
        return settle(now) if ours and now is not None else now

    index.registry.change(root, end)


class _ProgressSaver:
    """Passes reports on, and regularly saves the progress in the registry."""

    def __init__(self, index: CodeIndex, root: str, run_id: str, report: Report) -> None:
        self._index, self._root, self._run_id, self._report = index, root, run_id, report
        self._saved = index.now()
        self.last_pct = 0.0

    def __call__(self, progress: Progress) -> None:
        self.last_pct = progress.pct
        self._report(progress)
        now = self._index.now()
        if (now - self._saved).total_seconds() >= SAVE_PROGRESS_S:
            self._saved = now
            _end(self._index, self._root, self._run_id, self._advanced(progress))

    def _advanced(self, progress: Progress) -> Callable[[Record], Record]:
        def advance(record: Record) -> Record:
            assert isinstance(record.state, Indexing)
            state = replace(record.state, progress_pct=progress.pct, phase=progress.phase)
            return replace(record, state=state, last_updated=self._index.timestamp())

        return advance


def recover_all(index: CodeIndex) -> list[str]:
    """End every run whose writer is dead; for `repair`. Returns the roots that changed."""
    return [
        record.root
        for record in index.registry.records().values()
        if isinstance(record.state, Indexing) and recover(index, record) != record
    ]


def reconcile_nondestructive(index: CodeIndex, stored: Iterable[str] | None = None) -> list[str]:
    """Restore roots that the registry lost and the backend proves; for `repair` only.

    The proof is a valid marker. Never removes a root, never touches one that is indexing, and
    ignores what it cannot prove. `stored` are the roots that the backend has, if already known.
    Returns the restored roots.
    """
    if stored is None:
        try:
            stored = index.backend.roots()
        except Exception:
            return []
    repaired = []
    for root in stored:
        record = index.registry.find(root)
        if record is not None and (record.searchable or isinstance(record.state, Indexing)):
            continue
        proof = index.prove(root)
        if not proof.valid or proof.marker is None:
            continue
        marker = proof.marker

        def restore(now: Record | None, root: str = root, marker: Marker = marker) -> Record | None:
            if now is not None and (now.searchable or isinstance(now.state, Indexing)):
                return now
            return _promoted(index, now or Record(root, IndexFailed(""), ""), marker)

        index.registry.change(root, restore)
        repaired.append(root)
    return repaired


def prune(index: CodeIndex) -> list[str]:
    """Stop tracking roots that are proven dead: no directory, no marker, no writer.

    For manual maintenance: no tool, listing or repair calls it.
    """
    removed = []
    for record in index.registry.records().values():
        if isinstance(record.state, Indexing) or index.leases.live_writer(record.root):
            continue
        parent = os.path.dirname(record.root)
        if os.path.lexists(record.root) or not os.path.isdir(parent):
            continue  # It exists, or its parent is missing too (unmounted).
        proof = index.prove(record.root)
        if proof.outcome is Outcome.STALE_LOCAL:
            index.registry.change(record.root, lambda now: None)
            removed.append(record.root)
    return removed
