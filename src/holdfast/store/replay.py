"""Document states at any seq, from heads, snapshots and revisions.

Every read works the same way: find the newest revision at or before the seq; if it is a patch,
start from the nearest base below it and apply the patches since. A base is a `set`, a `delete`, a
snapshot, or, on a branch that has only patched the document so far, the state it inherited when it
was forked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from holdfast.ids import BranchName, EntityId, Seq
from holdfast.store import patch
from holdfast.store.errors import OutOfRange, UnknownBranch
from holdfast.store.model import Branch, Document, State, name_problem
from holdfast.store.snapshots import Chain
from holdfast.store.tables import RevisionRow, Tables

Decode = Callable[[str], Any]


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """A document rebuilt from patches, and the chain of patches applied."""

    document: Document
    chain: Chain


def state_at(
    tables: Tables, decode: Decode, branch: Branch, id: EntityId, seq: Seq
) -> State | None:
    """The state of a document on a branch as of `seq`; None if it did not exist."""
    row = tables.newest_revision(branch.name, id, seq)
    if row is None:
        return inherited(tables, decode, branch, id, seq)
    return state_of(tables, decode, branch, id, row)


def newest_state(tables: Tables, decode: Decode, branch: Branch, id: EntityId) -> State | None:
    """The current state of a document on a branch."""
    row = tables.head_revision(branch.name, id)
    if row is None:
        return inherited(tables, decode, branch, id, branch.head_seq)
    return state_of(tables, decode, branch, id, row)


def inherited(
    tables: Tables, decode: Decode, branch: Branch, id: EntityId, seq: Seq
) -> State | None:
    """The state of a document that a branch inherits from its parent."""
    if branch.parent is None:
        return None
    assert branch.fork_seq is not None, "a branch with a parent was forked somewhere"
    above = required_branch(tables, branch.parent)
    return state_at(tables, decode, above, id, min(seq, branch.fork_seq))


def state_of(
    tables: Tables, decode: Decode, branch: Branch, id: EntityId, row: RevisionRow
) -> State:
    """The state that a revision of this branch left."""
    document: Document | None
    if row.op == "set":
        assert row.data is not None
        document = decode(row.data)
    elif row.op == "delete":
        document = None
    else:
        document = rebuild(tables, decode, branch, id, (row.seq, row.op_index)).document
    return State(id, branch.name, row.seq, row.op_index, row.op, document)


def rebuild(
    tables: Tables, decode: Decode, branch: Branch, id: EntityId, at: tuple[Seq, int]
) -> Rebuilt:
    """The document after the patch revision at `at`."""
    snapshot = tables.newest_snapshot(branch.name, id, at[0])
    floor = Seq(0) if snapshot is None else snapshot[0]
    pending: list[str] = []
    base: Document | None = None
    base_bytes = 0
    for row in tables.revisions_back(branch.name, id, at, floor):
        if row.op == "patch":
            assert row.data is not None
            pending.append(row.data)
            continue
        base, base_bytes = ({}, 0) if row.data is None else (decode(row.data), len(row.data))
        break
    if base is None:
        if snapshot is not None:
            base, base_bytes = decode(snapshot[1]), len(snapshot[1])
        else:
            below = inherited(tables, decode, branch, id, at[0])
            base = {} if below is None or below.document is None else below.document
    patches = [decode(text) for text in reversed(pending)]
    chain = Chain(len(pending), sum(map(len, pending)), base_bytes)
    return Rebuilt(patch.fold(base, patches), chain)


def required_branch(tables: Tables, name: BranchName) -> Branch:
    """The branch with this name, active or deleted."""
    branch = None if name and name_problem(name) else tables.branch(name)
    if branch is None:
        raise UnknownBranch(name)
    return branch


def check_range(branch: Branch, seq: Seq) -> None:
    """Raise `OutOfRange` if the branch cannot be read at this seq."""
    if not branch.first_seq <= seq <= branch.head_seq:
        gone = seq < branch.oldest_seq
        raise OutOfRange(branch.name, seq, branch.first_seq, branch.head_seq, gone)
