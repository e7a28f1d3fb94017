"""Create or delete a branch inside a transaction, recorded as a separate commit if it has a key.

The same lifecycle commit again gets the same answer, as any other commit does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from holdfast.ids import MAIN, BranchName, Seq
from holdfast.store import branch as branching
from holdfast.store import replay
from holdfast.store.errors import ReplayMismatch, TransactionError
from holdfast.store.model import Branch, CommitKey, Guard
from holdfast.store.tables import Tables
from holdfast.store.upgrade import linked
from holdfast.store.values import SAFE_INTEGER

if TYPE_CHECKING:
    from holdfast.store.author import Author


@dataclass(frozen=True, slots=True)
class LifecycleCommit:
    """A change to a branch, as it is recorded; not recorded if `by` is None."""

    change: Mapping[str, Any]
    by: CommitKey | None
    guard: Guard | None
    author: Author | None

    def __post_init__(self) -> None:
        if self.by is not None and not 1 <= self.by.local_seq <= SAFE_INTEGER:
            raise TransactionError("localSeq must be a whole number of at least 1")

    def message(self) -> dict[str, Any]:
        assert self.by is not None, "only a commit with a key is recorded"
        stated = {"author": self.author.to_wire()} if self.author else {}
        return {"localSeq": self.by.local_seq, "branchLifecycle": self.change, **stated}


def land(
    tables: Tables,
    commit: LifecycleCommit,
    plan: Callable[[Tables], branching.Plan],
    encode: Callable[[Any], str],
    decode: Callable[[str], Any],
    same_commit: Callable[[str, str], bool],
    now: str,
) -> Branch:
    """The branch after the change, which is written now or was before."""
    by = commit.by
    original = "" if by is None else encode(commit.message())
    landed = None if by is None else tables.commit_by_key(by)
    if landed is not None and by is not None:
        if not same_commit(landed.original, original):
            raise ReplayMismatch(by.session, by.local_seq)
        return replay.required_branch(tables, BranchName(commit.change["name"]))
    if commit.guard is not None:
        _check_guard(tables, decode, commit.guard)
    planned, seq = plan(tables), None
    if by is not None and planned.change is not None:
        newest, link = tables.newest_link()
        seq = Seq(newest + 1)
        row = (seq, planned.branch.name, *by, original, encode({"seq": seq}), now)
        tables.add_commits(linked([row], link))
    return branching.carry_out(tables, planned, seq, now)


def _check_guard(tables: Tables, decode: Callable[[str], Any], guard: Guard) -> None:
    """Refuse a write that the guard does not permit, as for a commit."""
    head = tables.head_kind(MAIN, guard.id)
    if head is not None and head[0] > guard.seq:
        on = replay.required_branch(tables, MAIN)
        state = replay.state_at(tables, decode, on, guard.id, Seq(head[0]))
        guard.hold(None if state is None else state.document)
