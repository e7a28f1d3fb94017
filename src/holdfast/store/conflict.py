"""What a refused commit reports: the read that no longer holds, and the write that broke it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from holdfast.ids import BranchName, EntityId, LocalSeq, Seq, SessionId
from holdfast.store import pointer
from holdfast.store.admit import WRITES_MAX, Overlap
from holdfast.store.model import CommitKey, ConfirmedRead, PendingRead
from holdfast.store.pointer import Path


@dataclass(frozen=True, slots=True)
class Conflict:
    """A read that no longer holds: its document and path, and the write that broke it.

    `seq` is None when the commit it was read through did not land.
    """

    id: EntityId
    branch: BranchName
    path: Path
    read_seq: Seq | None
    layers: tuple[LocalSeq, ...]
    seq: Seq | None
    session: SessionId | None = None
    local_seq: LocalSeq | None = None
    written: Path | None = None
    too_old: bool = False
    """Whether the read was not checked, because too many commits wrote its document since."""

    def __str__(self) -> str:
        if self.seq is None:
            return f"pending dependency not resolved: {self.layers[-1]}"
        if self.too_old:
            return f"read too old: {self.id} at seq {self.read_seq} was not checked"
        if self.layers:
            via = ", ".join(str(layer) for layer in self.layers)
            return (
                f"stale pending read: {self.id} via localSeq {via} conflicted with seq {self.seq}"
            )
        return (
            f"stale confirmed read: {self.id} at seq {self.read_seq} conflicted with seq {self.seq}"
        )

    def explanation(self) -> str:
        """One sentence: which path was read, and which commit wrote it."""
        where = f"{pointer.encode(self.path) or 'all'} of {self.id}"
        if self.seq is None:
            return f"{where} was read through a commit that did not land"
        if self.too_old:
            return f"more than {WRITES_MAX} commits wrote {self.id} since, the newest at {self.seq}"
        wrote = "all of it" if self.written is None else pointer.encode(self.written) or "its root"
        return (
            f"{where} was read, and session {self.session} wrote {wrote} "
            f"in its commit {self.local_seq} at seq {self.seq}"
        )

    def to_wire(self) -> dict[str, Any]:
        """The `conflicts` entry of an error response."""
        wire: dict[str, Any] = {
            "id": self.id,
            "branch": self.branch,
            "path": list(self.path),
            "expected": {"seq": self.read_seq, "localSeq": list(self.layers)},
        }
        if self.seq is not None:
            if self.too_old:
                wire["reason"] = "readTooOld"
            written = None if self.written is None else list(self.written)
            wire["actual"] = {
                "seq": self.seq,
                "sessionId": self.session,
                "localSeq": self.local_seq,
                "path": written,
            }
        return wire


def conflict_of(
    read: ConfirmedRead | PendingRead,
    branch: BranchName,
    basis: Seq,
    overlap: Overlap,
    whose: CommitKey,
) -> Conflict:
    """The conflict to report for a read at `basis`."""
    return Conflict(
        id=read.id,
        branch=branch,
        path=read.path,
        read_seq=basis,
        layers=read.layers if isinstance(read, PendingRead) else (),
        seq=overlap.write.seq,
        session=whose.session,
        local_seq=whose.local_seq,
        written=overlap.path,
    )


def too_old(
    read: ConfirmedRead | PendingRead, branch: BranchName, basis: Seq, newest: Seq
) -> Conflict:
    """The conflict to report for a read that is too old to be checked."""
    layers = read.layers if isinstance(read, PendingRead) else ()
    return Conflict(read.id, branch, read.path, basis, layers, newest, too_old=True)


def unresolved(read: PendingRead, branch: BranchName, layer: LocalSeq) -> Conflict:
    """The conflict to report when a layer did not land."""
    return Conflict(read.id, branch, read.path, read.basis, (layer,), None)
