"""The reads of a commit: what it depends on.

A transaction notes every place it read. The commit sends far fewer: reading a document
covers everything below, so only the topmost places are kept, per document and per dependency.

A place seen through the client's own unanswered commits is a pending read. It is tempting to name
just the newest of those commits. That is unsound twice: a lower one may be refused while the newest
lands, and another client's write may land below all of them. So a pending read names every layer
and the seq of the confirmed state under them. The short form is kept for peers that know no other.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from holdfast.ids import BranchName, EntityId, LocalSeq, Seq
from holdfast.store.pointer import Path, is_prefix


@dataclass(frozen=True, slots=True)
class Read:
    """A read of `path` of a document. A shape read depends on which members exist only.

    `seq` is set when the caller knows better than the replica which state it read.
    """

    id: EntityId
    path: Path
    shape: bool = False
    seq: Seq | None = None
    branch: BranchName | None = None


@dataclass(frozen=True, slots=True)
class Basis:
    """The state that a read saw: the confirmed seq, and the layers above it, oldest first."""

    seq: Seq
    layers: tuple[LocalSeq, ...] = ()


@dataclass(frozen=True, slots=True)
class _Group:
    id: EntityId
    branch: BranchName | None
    basis: Basis


def is_inline(id: str) -> bool:
    """Whether an id carries its own document; those never leave the client."""
    return id.startswith("data:")


def compact(places: Collection[tuple[Path, bool]]) -> list[tuple[Path, bool]]:
    """The fewest `(path, shape)` that cover the same reads, by path.

    A whole read covers everything at and below it; a shape read covers only itself.
    """
    whole: list[Path] = []
    for path in sorted({path for path, shape in places if not shape}):
        # Sorted, so a path comes right after its ancestors and everything between is below them.
        if not whole or not is_prefix(whole[-1], path):
            whole.append(path)
    covers = set(whole)
    compacted = [(path, False) for path in whole]
    compacted += [
        (path, True)
        for path in {path for path, shape in places if shape}
        if not any(path[:depth] in covers for depth in range(len(path) + 1))
    ]
    return sorted(compacted)


def to_wire(
    looks: Iterable[tuple[Read, Basis]], layered: bool, shapes: bool
) -> dict[str, list[dict[str, Any]]]:
    """The `reads` of a commit, sorted by document, dependency and path."""
    groups: dict[_Group, list[tuple[Path, bool]]] = {}
    for read, basis in looks:
        group = _Group(read.id, read.branch, basis)
        groups.setdefault(group, []).append((read.path, read.shape))
    confirmed: list[tuple[tuple[Any, ...], dict[str, Any]]] = []
    pending: list[tuple[tuple[Any, ...], dict[str, Any]]] = []
    for group, places in groups.items():
        for path, shape in compact(places):
            entry: dict[str, Any] = {"id": group.id, "path": list(path)}
            order: tuple[Any, ...]
            if group.basis.layers:
                if layered:
                    entry["localSeq"] = list(group.basis.layers)
                    entry["basisSeq"] = group.basis.seq
                else:
                    entry["localSeq"] = group.basis.layers[-1]
                order = (group.id, group.basis.layers[-1], group.basis.layers, path, shape)
                pending.append((order, entry))
            else:
                entry["seq"] = group.basis.seq
                if group.branch is not None:
                    entry["branch"] = group.branch
                order = (group.id, group.branch or "", group.basis.seq, path, shape)
                confirmed.append((order, entry))
            # A peer without shape reads gets a read of everything below, which is stricter.
            if shape and shapes:
                entry["nonRecursive"] = True
    return {
        "confirmed": [entry for _, entry in sorted(confirmed, key=lambda pair: pair[0])],
        "pending": [entry for _, entry in sorted(pending, key=lambda pair: pair[0])],
    }


def downgraded(commit: Mapping[str, Any]) -> Mapping[str, Any]:
    """A commit for a peer that supports only one layer per read, and no basis."""
    pending = commit.get("reads", {}).get("pending", ())
    if not any(isinstance(read.get("localSeq"), list) or "basisSeq" in read for read in pending):
        return commit
    short = []
    for read in pending:
        layers = read["localSeq"]
        fields = {name: value for name, value in read.items() if name != "basisSeq"}
        short.append({**fields, "localSeq": layers[-1] if isinstance(layers, list) else layers})
    return {**commit, "reads": {**commit["reads"], "pending": short}}
