"""Compare and merge branches.

A merge is an ordinary commit on the target and is checked like one: it depends on reads of both
branches, and if either changed meanwhile it is refused and can be tried again. Its `merge` member
records what was merged up to which seq; the next merge of the two branches starts from there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from holdfast.ids import BranchName, EntityId, Seq
from holdfast.store import delta, replay
from holdfast.store.branch import ancestry
from holdfast.store.delta import MISSING, ValueChange
from holdfast.store.errors import BranchError, TransactionError
from holdfast.store.merge import Clash, DocumentMerger
from holdfast.store.model import ACTIVE, Branch, Commit, Document, State
from holdfast.store.replay import Decode, required_branch
from holdfast.store.tables import Tables

_PAGE = 500
_HEADS_ENOUGH = 200
"""Below this many heads it is not worth looking at commits instead."""


@dataclass(frozen=True, slots=True)
class Point:
    """A branch as of a seq."""

    branch: Branch
    seq: Seq

    def state(self, tables: Tables, decode: Decode, id: EntityId) -> State | None:
        return replay.state_at(tables, decode, self.branch, id, self.seq)


@dataclass(frozen=True, slots=True)
class DocumentDiff:
    """How one document differs between two points."""

    id: EntityId
    kind: str
    changes: list[ValueChange]

    def to_wire(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "kind": self.kind,
            "changes": [change.to_wire() for change in self.changes],
        }


@dataclass(frozen=True, slots=True)
class Proposal:
    """The result of a merge before it is committed: operations and reads, or conflicts."""

    source: Point
    target: Point
    base: Point
    operations: list[dict[str, Any]]
    reads: list[dict[str, Any]]
    clashes: list[Clash]

    def to_commit(self, local_seq: int) -> dict[str, Any]:
        """The commit that performs the merge."""
        return {
            "localSeq": local_seq,
            "branch": self.target.branch.name,
            "reads": {"confirmed": self.reads, "pending": []},
            "operations": self.operations,
            "merge": {
                "sourceBranch": self.source.branch.name,
                "sourceSeq": self.source.seq,
                "baseBranch": self.base.branch.name,
                "baseSeq": self.base.seq,
            },
        }


def now(tables: Tables, name: BranchName) -> Point:
    """A branch at its newest change."""
    branch = required_branch(tables, name)
    return Point(branch, branch.head_seq)


def fork_point(tables: Tables, branch: Branch) -> Point:
    """The fork point of a branch; for the default branch, seq 0."""
    if branch.parent is None:
        return Point(branch, Seq(0))
    assert branch.fork_seq is not None
    return Point(required_branch(tables, branch.parent), branch.fork_seq)


def common_ancestor(tables: Tables, one: Branch, other: Branch) -> Point:
    """The newest point that both branches have in common."""
    ours = _reaches(tables, one)
    for name, seq in _reaches(tables, other).items():
        if name in ours:
            return Point(required_branch(tables, name), min(seq, ours[name]))
    raise AssertionError("every branch descends from the default branch")


def _reaches(tables: Tables, branch: Branch, at: Seq | None = None) -> dict[BranchName, Seq]:
    """The newest seq of each ancestor that a branch can see, now or at a seq, nearest first."""
    reach: dict[BranchName, Seq] = {}
    limit = branch.head_seq if at is None else at
    for line in ancestry(tables, branch):
        reach[line.name] = limit
        if line.fork_seq is not None:
            limit = min(limit, line.fork_seq)
    return reach


def candidates(tables: Tables, decode: Decode, side: Point, base: Point) -> set[EntityId]:
    """Every document that may differ between a point and one below it."""
    ids: set[EntityId] = set()
    for name, upto in _reaches(tables, side.branch, side.seq).items():
        if name == base.branch.name:
            ids |= changed(tables, decode, name, base.seq, upto)
            break
        ids |= changed(tables, decode, name, Seq(0), upto)
    return ids


def changed(
    tables: Tables, decode: Decode, name: BranchName, after: Seq, upto: Seq
) -> set[EntityId]:
    """Every document that was written on a branch in (after, upto], and perhaps later ones.

    Found in the heads of the branch or in the commits of that time, whichever are fewer: a young
    branch has few heads, and a long history few commits since it was forked.
    """
    if upto <= after:
        return set()
    heads = tables.heads_up_to(name, max(upto - after, _HEADS_ENOUGH))
    if heads is not None:
        return {id for id, seq in heads if seq > after}
    ids: set[EntityId] = set()
    at = after
    while at < upto:
        for row in tables.commits(at, min(_PAGE, upto - at)):
            at = row.seq
            if row.branch == name:
                operations = decode(row.original).get("operations", ())
                ids.update(EntityId(operation["id"]) for operation in operations)
    return ids


def differences(tables: Tables, decode: Decode, before: Point, after: Point) -> list[DocumentDiff]:
    """Every document that differs between two points, by id."""
    shared = common_ancestor(tables, before.branch, after.branch)
    low = Point(shared.branch, min(shared.seq, before.seq, after.seq))
    ids = candidates(tables, decode, before, low) | candidates(tables, decode, after, low)
    diffs = []
    for id in sorted(ids):
        old = _document(before.state(tables, decode, id))
        new = _document(after.state(tables, decode, id))
        if old is None and new is None:
            continue
        changed = delta.changes(MISSING if old is None else old, MISSING if new is None else new)
        if changed:
            kind = "added" if old is None else "removed" if new is None else "modified"
            diffs.append(DocumentDiff(id, kind, changed))
    return diffs


def propose(
    tables: Tables,
    decode: Decode,
    source: BranchName,
    target: BranchName,
    resolutions: Mapping[str, Any] | None = None,
) -> Proposal:
    """The result of merging `source` into `target`.

    `resolutions` resolves conflicts: a document id maps to a side for the whole document, or to a
    mapping from pointers (or `*`) to a side or a `{"value": …}`.
    """
    if source == target:
        raise BranchError(f"cannot merge {source!r} into itself")
    ours, theirs = now(tables, source), now(tables, target)
    if theirs.branch.status != ACTIVE:
        raise BranchError(f"branch is not active: {target}", hint="merge into an active branch")
    base = merge_base(tables, ours, theirs)
    if not isinstance(resolutions, Mapping | None):
        raise BranchError("resolutions must be a mapping from document ids")
    resolved = {id: _by_pointer(id, choice) for id, choice in (resolutions or {}).items()}
    operations: list[dict[str, Any]] = []
    reads: list[dict[str, Any]] = []
    clashes: list[Clash] = []
    for id in sorted(_merge_candidates(tables, decode, ours, theirs, base)):
        new, old = ours.state(tables, decode, id), theirs.state(tables, decode, id)
        below = base.state(tables, decode, id)
        merger = DocumentMerger(id, resolved.get(id, {}))
        mine, there = _document(new), _document(old)
        merged = merger.merge(_or_missing(_document(below)), _or_missing(mine), _or_missing(there))
        clashes += merger.clashes
        operation = _operation(id, there, None if merged is MISSING else merged)
        if operation is None and merger.used:
            # Resolved in favour of the target. Recorded, because otherwise the next merge would
            # report the conflict again.
            operation = _untouched(id, there)
        if operation is not None:
            operations.append(operation)
            reads.append(_read(id, target, old, theirs))
            reads.append(_read(id, source, new, ours))
    return Proposal(ours, theirs, base, operations, reads, clashes)


def check_claim(tables: Tables, decode: Decode, commit: Commit, merge: Any) -> None:
    """Refuse a `merge` member that is not true of its commit.

    The next merge of the two branches starts where this one says it ended. So it must name what the
    two branches have in common, and write every document that such a merge changes; which value it
    writes is up to its author, who may have resolved conflicts.
    """
    names = {"sourceBranch", "sourceSeq", "baseBranch", "baseSeq"}
    if not isinstance(merge, Mapping) or merge.keys() != names:
        raise TransactionError(
            "commit.merge must be {sourceBranch, sourceSeq, baseBranch, baseSeq}",
            hint="leave it out, or send the commit that a merge proposes",
        )
    source, seq = merge["sourceBranch"], merge["sourceSeq"]
    if not isinstance(source, str) or type(seq) is not int or source == commit.branch:
        raise TransactionError("commit.merge.sourceBranch must be another branch, at a seq")
    ours = Point(required_branch(tables, BranchName(source)), Seq(seq))
    if not ours.branch.first_seq <= seq <= ours.branch.head_seq:
        raise TransactionError(f"commit.merge.sourceSeq {seq} is not on the branch {source}")
    theirs = now(tables, commit.branch)
    base = merge_base(tables, ours, theirs)
    if (merge["baseBranch"], merge["baseSeq"]) != (base.branch.name, base.seq):
        raise TransactionError(
            f"commit.merge names another base than {base.branch.name!r} at seq {base.seq}",
            hint="the branches were merged meanwhile, or this is not a merge; propose it again",
        )
    ids_written = {operation.id for operation in commit.operations}
    for id in sorted(_merge_candidates(tables, decode, ours, theirs, base) - ids_written):
        mine, there = (_document(p.state(tables, decode, id)) for p in (ours, theirs))
        below = _document(base.state(tables, decode, id))
        merger = DocumentMerger(id)
        merged = merger.merge(_or_missing(below), _or_missing(mine), _or_missing(there))
        missing_write = _operation(id, there, None if merged is MISSING else merged)
        if missing_write is not None or merger.clashes:
            raise TransactionError(
                f"commit.merge says that {source} is merged up to seq {seq}, "
                f"but the commit does not write {id}",
                hint="send the whole commit that a merge proposes",
            )


def _merge_candidates(
    tables: Tables, decode: Decode, ours: Point, theirs: Point, base: Point
) -> set[EntityId]:
    """Every document that a merge may change: those the source may have changed since the base."""
    own = _reaches(tables, ours.branch, ours.seq).get(base.branch.name, Seq(-1)) >= base.seq
    below = base if own else common_ancestor(tables, ours.branch, theirs.branch)
    return candidates(tables, decode, ours, below)


def merge_base(tables: Tables, ours: Point, theirs: Point) -> Point:
    """The newest point that both sides contain, through forks or merges.

    After a merge of A at seq x into B, B contains A at x, and so does every branch that B is merged
    into. An older base would do for most documents, but it would restore a change that was merged
    and then reverted.
    """
    contents = _Contents(tables)
    for seq, branch, merged in tables.merges():
        contents.add(branch, seq, *msgspec.json.decode(merged))
    mine, yours = (
        contents.at(ours.branch.name, ours.seq),
        contents.at(theirs.branch.name, theirs.seq),
    )
    both = {name: min(seq, yours[name]) for name, seq in mine.items() if name in yours}

    def within(name: BranchName, seq: Seq) -> bool:
        """Whether another common point contains this one."""
        return any(
            contents.at(other, at).get(name, -1) >= seq
            for other, at in both.items()
            if other != name
        )

    newest = max((seq, name) for name, seq in both.items() if not within(name, seq))
    return Point(required_branch(tables, newest[1]), newest[0])


class _Contents:
    """Up to which seq each branch contains the others. Merges are added oldest first."""

    def __init__(self, tables: Tables) -> None:
        self._branches = {branch.name: branch for branch in tables.branches()}
        self._steps: dict[BranchName, list[tuple[Seq, dict[BranchName, Seq]]]] = {}

    def add(self, name: BranchName, seq: Seq, source: Any, source_seq: Any) -> None:
        # This comes from a client, so it may be anything.
        has_source = isinstance(source, str) and source in self._branches and source != name
        if not has_source or type(source_seq) is not int or not 0 <= source_seq < seq:
            return
        contained = self.at(name, seq)
        for other, at in self.at(BranchName(source), Seq(source_seq)).items():
            if other != name:
                contained[other] = max(at, contained.get(other, at))
        self._steps.setdefault(name, []).append((seq, contained))

    def at(self, name: BranchName, seq: Seq) -> dict[BranchName, Seq]:
        """Up to which seq of each branch this point contains everything."""
        contained: dict[BranchName, Seq] = {}
        for at, step in reversed(self._steps.get(name, ())):
            if at <= seq:
                contained = dict(step)
                break
        else:
            branch = self._branches[name]
            if branch.parent is not None and branch.fork_seq is not None:
                contained = self.at(branch.parent, min(seq, branch.fork_seq))
        contained[name] = seq
        return contained


def _by_pointer(id: str, choice: Any) -> Mapping[str, Any]:
    if isinstance(choice, str):
        return {"*": choice}
    if isinstance(choice, Mapping):
        return choice
    raise BranchError(
        f"the resolution of {id} must be a side or a mapping from pointers",
        hint='use "source", "target", or {"/value/x": {"value": …}}',
    )


def _document(state: State | None) -> Document | None:
    return None if state is None else state.document


def _or_missing(document: Document | None) -> Any:
    return MISSING if document is None else document


def _operation(id: EntityId, old: Document | None, new: Any) -> dict[str, Any] | None:
    if new is None:
        return None if old is None else {"op": "delete", "id": id}
    if old is None:
        return {"op": "set", "id": id, "value": new}
    patches = delta.patches(old, new)
    return {"op": "patch", "id": id, "patches": patches} if patches else None


def _untouched(id: EntityId, document: Document | None) -> dict[str, Any]:
    """An operation that does not change a document."""
    if document is None:
        return {"op": "delete", "id": id}
    return {"op": "patch", "id": id, "patches": []}


def _read(id: EntityId, branch: BranchName, state: State | None, at: Point) -> dict[str, Any]:
    # The scan for newer writes is branch-local, so a state that was inherited counts as read at
    # the branch's own newest seq: nothing on the branch itself has touched it up to there.
    own = state is not None and state.branch == branch
    seq = state.seq if own and state is not None else at.seq
    return {"id": id, "branch": branch, "path": [], "seq": seq}
