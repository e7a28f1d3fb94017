"""Whether the branch rows of a space agree with its commits (INV-22): rows in, sentences out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from holdfast.ids import MAIN, BranchName, Seq
from holdfast.store.model import ACTIVE, DELETED, Branch
from holdfast.store.tables import CommitRow

_START = Seq(0)


@dataclass(slots=True)
class BranchHistory:
    """The facts about a branch that its commits record."""

    oldest: Seq | None = None
    newest: Seq = _START
    created: Seq | None = None
    """The seq of its creation if that was recorded, together with its parent and fork point."""

    parent: Any = None
    fork_seq: Any = None
    deleted: Seq | None = None


def note(
    row: CommitRow,
    lifecycle: Any,
    branches: Mapping[BranchName, Branch],
    histories: Mapping[BranchName, BranchHistory],
) -> str:
    """Add what a commit records to a branch's history; returns a sentence if it is impossible."""
    history = histories.get(row.branch)
    if history is None:
        return f"the branch of the commit at seq {row.seq} does not exist"
    if lifecycle is None:
        history.oldest, history.newest = history.oldest or row.seq, row.seq
    elif lifecycle.get("name") != row.branch:
        return f"the lifecycle commit at seq {row.seq} is about another branch"
    elif lifecycle.get("op") == "delete":
        history.deleted = row.seq
    else:
        history.created, history.parent = row.seq, lifecycle.get("parentBranch")
        history.fork_seq = lifecycle.get("forkSeq")
        if history.fork_seq is None and history.parent in branches:
            # The newest change of its parent at that time.
            parent = branches[history.parent]
            start = _START if history.parent == MAIN else parent.created_seq
            history.fork_seq = max(histories[history.parent].newest, start)
    return ""


def problems(branch: Branch, above: Branch | None, history: BranchHistory) -> Iterator[str]:
    """The problems of a branch's row; `above` is its parent's row."""
    name, start = branch.name, _START
    if branch.parent is None:
        if name != MAIN:
            yield f"branch {name!r} has no parent"
        elif branch.status != ACTIVE:
            yield "the default branch is not active"
        elif branch.fork_seq is not None or branch.created_seq:
            yield "the default branch must not have a fork point"
    else:
        start = branch.created_seq
        yield from _fork_problems(branch, above, history)
    newest = max(history.newest, start)
    if branch.head_seq != newest:
        yield (
            f"the head of branch {name!r} is {branch.head_seq}, "
            f"but its newest change is at {newest}"
        )
    ended = branch.status == DELETED
    if branch.status not in (ACTIVE, DELETED) or ended != (branch.deleted_at is not None):
        yield f"branch {name!r} is neither active nor deleted"
    if history.deleted is not None and (not ended or history.newest > history.deleted):
        yield f"branch {name!r} was written after it was deleted"


def _fork_problems(branch: Branch, above: Branch | None, history: BranchHistory) -> Iterator[str]:
    name, recorded = branch.name, history.created is not None
    if above is None:
        yield f"the parent of {name!r} does not exist"
    elif branch.fork_seq is None or branch.fork_seq > above.head_seq:
        yield f"{name!r} is forked after its parent's head"
    elif branch.created_seq < branch.fork_seq:
        yield f"{name!r} was created before its fork point"
    elif recorded and (branch.parent, branch.fork_seq) != (history.parent, history.fork_seq):
        yield f"the fork point of {name!r} is not the one in its commit"
    if branch.created_seq != (history.created if recorded else branch.fork_seq):
        yield f"{name!r} was not created at seq {branch.created_seq}"
    if history.oldest is not None and history.oldest <= branch.created_seq:
        yield f"{name!r} was written to before it was created"


def descends(name: BranchName, branches: Mapping[BranchName, Branch]) -> bool:
    """Whether a branch descends from the default branch."""
    at: BranchName | None = name
    for _ in range(len(branches) + 1):
        if at is None or at not in branches:
            return False
        if at == MAIN:
            return branches[at].parent is None
        if branches[at].fork_seq is None:
            return False
        at = branches[at].parent
    return False
