"""May this commit land? Every read it stands on must still hold.

A read holds while nobody wrote where it looked. "Where" is a path, and two paths overlap when one
is at or below the other. Two rules say how far a write reaches:

    PARENTS  an add, remove or move also touches the container, so readers of its siblings conflict
    LEAF     it touches the container only when that may be an array, whose other slots shift;
             a reader of a sibling member goes on

Both may refuse a commit that was in fact fine; neither admits one that was not. A `set` or
`delete` replaces the document, so it touches every path.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

from holdfast.ids import BranchName, EntityId, LocalSeq, Seq, SessionId
from holdfast.store import pointer
from holdfast.store.model import CommitKey, ConfirmedRead, PendingRead
from holdfast.store.pointer import Path


class Reach(Enum):
    """How far a write reaches beyond the path it names."""

    PARENTS = "parents"
    LEAF = "leaf"


class Write(NamedTuple):
    """A revision, as far as admission cares: where it stands and what it touched."""

    seq: Seq
    op: str
    patches: list[Mapping[str, Any]] | None


@dataclass(frozen=True, slots=True)
class Conflict:
    """A read that no longer holds: which, where, and what broke it.

    `seq` is None when the commit it was read through never landed.
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

    def __str__(self) -> str:
        if self.seq is None:
            return f"pending dependency not resolved: {self.layers[-1]}"
        if self.layers:
            via = ", ".join(str(layer) for layer in self.layers)
            return (
                f"stale pending read: {self.id} via localSeq {via} conflicted with seq {self.seq}"
            )
        return (
            f"stale confirmed read: {self.id} at seq {self.read_seq} conflicted with seq {self.seq}"
        )

    def explanation(self) -> str:
        """One sentence for a person: which path was read, what wrote it, who."""
        where = f"{pointer.encode(self.path) or 'all'} of {self.id}"
        if self.seq is None:
            return f"{where} was read through a commit that did not land"
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
            written = None if self.written is None else list(self.written)
            wire["actual"] = {
                "seq": self.seq,
                "sessionId": self.session,
                "localSeq": self.local_seq,
                "path": written,
            }
        return wire


def touched(operation: Mapping[str, Any], reach: Reach) -> list[Path]:
    """Every path whose readers must notice this patch operation."""
    path = pointer.parse(operation["path"])
    kind = operation["op"]
    if kind not in ("add", "remove", "move"):
        return [path]
    ends = [path] if kind != "move" else [pointer.parse(operation["from"]), path]
    containers = [
        pointer.parent(end)
        for end in ends
        if reach is Reach.PARENTS or not end or pointer.looks_like_slot(end[-1])
    ]
    return ends + containers


_KEEPS_MEMBERS = ("replace", "append", "add-unique", "increment")
"""Kinds that leave a container's members as they are, if what they write to was there."""


def reshapes(operation: Mapping[str, Any], path: Path, had: Callable[[Path], bool]) -> Path | None:
    """The path by which this operation changes which members `path` has, if it does.

    `had(p)` says whether `p` existed when the reader looked: writing to a member that was there
    does not change the shape of its container, but writing below one that was not makes it.
    """
    kind = operation["op"]
    ends = [pointer.parse(operation["path"])]
    if kind == "move":
        ends.append(pointer.parse(operation["from"]))
    for end in ends:
        if pointer.is_prefix(end, path):
            return end
        if pointer.is_prefix(path, end):
            member = end[: len(path) + 1]
            writes_member = len(end) == len(member) and kind not in _KEEPS_MEMBERS
            if writes_member or not had(member):
                return end
        # A slot above the reader may have shifted it.
        shifts = kind in ("add", "remove", "move") and pointer.looks_like_slot(end[-1])
        if shifts and pointer.is_prefix(pointer.parent(end), path):
            return end
    return None


def replaces(write: Write, path: Path) -> bool:
    """Whether a write may have put something else, or nothing, where `path` is."""
    return write.patches is None or any(
        pointer.is_prefix(place, path)
        for operation in write.patches
        for place in touched(operation, Reach.LEAF)
    )


@dataclass(frozen=True, slots=True)
class Overlap:
    """The write that broke a read, and the path it wrote (None: all of the document)."""

    write: Write
    path: Path | None


def first_overlap(
    path: Path,
    shape: bool,
    writes: Iterable[Write],
    reach: Reach,
    had: Callable[[Path], bool],
) -> Overlap | None:
    """What broke a read of `path`, given the writes since it, newest first.

    The newest `set` or `delete` is reported before any patch, because it broke every read.
    """
    by_patch: Overlap | None = None
    for write in writes:
        if write.op != "patch":
            return Overlap(write, None)
        if by_patch is None:
            hit = _patch_hit(path, shape, write, reach, had)
            if hit is not None:
                by_patch = Overlap(write, hit)
    return by_patch


def _patch_hit(
    path: Path, shape: bool, write: Write, reach: Reach, had: Callable[[Path], bool]
) -> Path | None:
    if not write.patches:
        # It changed no member, but it may have brought the document into being.
        return pointer.ROOT
    for operation in write.patches:
        if shape and reach is Reach.LEAF:
            hit = reshapes(operation, path, had)
            if hit is not None:
                return hit
        else:
            for place in touched(operation, reach):
                if pointer.overlap(place, path):
                    return place
    return None


def conflict_of(
    read: ConfirmedRead | PendingRead,
    branch: BranchName,
    basis: Seq,
    found: Overlap,
    whose: CommitKey,
) -> Conflict:
    """The conflict to report for a read that stood on `basis`."""
    return Conflict(
        id=read.id,
        branch=branch,
        path=read.path,
        read_seq=basis,
        layers=read.layers if isinstance(read, PendingRead) else (),
        seq=found.write.seq,
        session=whose.session,
        local_seq=whose.local_seq,
        written=found.path,
    )


def unresolved(read: PendingRead, branch: BranchName, layer: LocalSeq) -> Conflict:
    """The conflict to report when a layer never landed."""
    return Conflict(read.id, branch, read.path, read.basis, (layer,), None)
