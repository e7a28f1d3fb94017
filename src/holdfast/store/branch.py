"""Creating and deleting branches. A branch is one row: its fork point and its newest change.

Forking copies nothing. A branch sees its own revisions and, below them, its parent's up to the fork
point, so a fork costs one row however much it inherits.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from holdfast.ids import MAIN, BranchName, Seq
from holdfast.store.errors import BranchError
from holdfast.store.model import DELETED, Branch, name_problem
from holdfast.store.replay import required_branch
from holdfast.store.tables import Tables

DEPTH_MAX = 32
"""How deep forks may nest: reading an inherited document walks up all of them."""


@dataclass(frozen=True, slots=True)
class Plan:
    """One change to one branch row, or none because it is already done."""

    branch: Branch
    change: Literal["create", "delete"] | None


def plan_create(
    tables: Tables, name: BranchName, parent: BranchName, fork_seq: Seq | None, recorded: bool
) -> Plan:
    """Plan a branch, or raise `BranchError` if it cannot be created."""
    problem = "" if name == MAIN else name_problem(name)
    if problem:
        raise BranchError(f"this is not a branch name: it {problem}")
    existing = tables.branch(name)
    if existing is not None:
        if not recorded:
            return Plan(existing, None)
        raise BranchError(
            f"the branch name {name!r} is taken"
            + (" by a deleted branch" if existing.status == DELETED else ""),
            hint="a branch name can be used only once; choose another",
        )
    above = required_branch(tables, parent)
    if depth(tables, above) + 1 > DEPTH_MAX:
        raise BranchError(
            f"{_branch_label(parent)} is already {DEPTH_MAX} forks deep",
            hint="merge some of them, then fork from there",
        )
    at = above.head_seq if fork_seq is None else fork_seq
    least = above.first_seq
    if not least <= at <= above.head_seq:
        raise BranchError(
            f"forkSeq {at} is not on {_branch_label(parent)}",
            hint=f"it can be forked at seq {least} to {above.head_seq}",
        )
    return Plan(Branch(name, parent, at, at, at), "create")


def _branch_label(name: BranchName) -> str:
    return "the default branch" if name == MAIN else repr(name)


def plan_delete(
    tables: Tables, name: BranchName, recorded: bool, merged_up_to: Seq | None = None
) -> Plan:
    """Plan a deletion, or raise `BranchError` if the branch cannot be deleted."""
    branch = required_branch(tables, name)
    if merged_up_to is not None and branch.head_seq > merged_up_to:
        raise BranchError(
            f"{_branch_label(name)} was written at seq {branch.head_seq}, after it was merged",
            hint="merge it again",
        )
    if name == MAIN:
        if recorded:
            raise BranchError("the default branch cannot be deleted")
        return Plan(branch, None)
    return Plan(branch, None if branch.status == DELETED else "delete")


def carry_out(tables: Tables, plan: Plan, seq: Seq | None, now: str) -> Branch:
    """Write the planned change. `seq` is that of the lifecycle commit, if it has one."""
    if plan.change == "create":
        branch = replace(plan.branch, created_at=now)
        if seq is not None:
            branch = replace(branch, created_seq=seq, head_seq=seq)
        tables.put_branch(branch)
    elif plan.change == "delete":
        tables.put_branch(replace(plan.branch, status=DELETED, deleted_at=now))
    return required_branch(tables, plan.branch.name)


def depth(tables: Tables, branch: Branch) -> int:
    """How many forks lie between a branch and the default branch."""
    return len(ancestry(tables, branch)) - 1


def ancestry(tables: Tables, branch: Branch) -> list[Branch]:
    """The branch, its parent, its parent's parent, … down to the default branch."""
    line = [branch]
    while line[-1].parent is not None:
        line.append(required_branch(tables, line[-1].parent))
    return line
