"""Branches: forking, comparing, merging and deleting them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from holdfast.ids import MAIN, BranchName, Seq
from holdfast.store.errors import MergeClash, ReplayMismatch
from holdfast.store.model import Applied, Branch, Commit, CommitKey, Guard, Operation, name_problem
from holdfast.store.verbs.commits import CommitVerbs

if TYPE_CHECKING:
    from holdfast.store.author import Author
    from holdfast.store.branch_merge import DocumentDiff, Proposal


class BranchVerbs(CommitVerbs):
    """Branches of a space. A merge is written as a commit."""

    def branches(self) -> list[Branch]:
        """Every branch, deleted ones too, by name."""
        with self._reader:
            return self.engine.tables.branches()

    def branch(self, name: str) -> Branch | None:
        with self._reader:
            is_name = not name or not name_problem(name)
            return self.engine.tables.branch(BranchName(name)) if is_name else None

    def create_branch(
        self,
        name: str,
        parent: str = MAIN,
        fork_seq: int | None = None,
        by: CommitKey | None = None,
        guard: Guard | None = None,
        author: Author | None = None,
    ) -> Branch:
        """Fork a branch. With `by` the fork is itself a commit."""
        at = None if fork_seq is None else Seq(fork_seq)
        forked, parent_name = BranchName(name), BranchName(parent)
        return self._exclusively(
            lambda: self.engine.create_branch(forked, parent_name, at, by, guard, author)
        )

    def delete_branch(
        self,
        name: str,
        by: CommitKey | None = None,
        guard: Guard | None = None,
        author: Author | None = None,
        merged_up_to: int | None = None,
    ) -> Branch:
        """Delete a branch: it refuses writes. With `by` the deletion is itself a commit.

        With `merged_up_to` it is deleted only if it was not written after that seq.
        """
        upto = None if merged_up_to is None else Seq(merged_up_to)
        return self._exclusively(
            lambda: self.engine.delete_branch(BranchName(name), by, guard, author, upto)
        )

    def merges(self) -> dict[str, Seq]:
        """Up to which seq each branch was merged into another, by name."""
        with self._reader:
            decode = self.engine.decode
            merges = (decode(merged) for _, _, merged in self.engine.tables.merges())
            return {name: Seq(seq) for name, seq in merges}

    def diff(
        self,
        branch: str,
        against: str | None = None,
        seq: int | None = None,
        against_seq: int | None = None,
    ) -> list[DocumentDiff]:
        """How a branch differs from its fork point, or from another branch or seq."""
        from holdfast.store import branch_merge

        with self._reader:
            tables, decode = self.engine.tables, self.engine.decode
            after = self._point(branch, seq)
            if against is None and against_seq is None:
                before = branch_merge.fork_point(tables, after.branch)
            else:
                before = self._point(branch if against is None else against, against_seq)
            return branch_merge.differences(tables, decode, before, after)

    def propose_merge(
        self, source: str, target: str = MAIN, resolutions: Mapping[str, Any] | None = None
    ) -> Proposal:
        """The result a merge would have; nothing is written."""
        from holdfast.store import branch_merge

        with self._reader:
            return branch_merge.propose(
                self.engine.tables,
                self.engine.decode,
                BranchName(source),
                BranchName(target),
                resolutions,
            )

    def merge(
        self,
        by: CommitKey,
        source: str,
        target: str = MAIN,
        resolutions: Mapping[str, Any] | None = None,
        author: Author | None = None,
    ) -> Applied | None:
        """Merge a branch into another, as one commit; None if there is nothing to merge.

        Raises `MergeClash` if both sides changed the same place and `resolutions` does not say what
        to do, and `ConflictError` if either branch was written meanwhile: then try again. The same
        merge again, by the same key, returns the first answer.
        """
        replayed = self.replayed_merge(by, source, target)
        if replayed is not None:
            return replayed
        proposal = self.propose_merge(source, target, resolutions)
        if proposal.clashes:
            raise MergeClash(source, target, proposal.clashes)
        if not proposal.operations:
            return None
        stated = {"author": author.to_wire()} if author else {}
        return self.transact(by.session, proposal.to_commit(by.local_seq) | stated)

    def replayed_merge(self, by: CommitKey, source: str, target: str = MAIN) -> Applied | None:
        """The answer of a merge that has landed under this key; None if none has."""
        with self._reader:
            stored = self.engine.tables.commit_by_key(by)
        if stored is None:
            return None
        merged_from = None if stored.merged is None else self.engine.decode(stored.merged)[0]
        if merged_from != source or stored.branch != target:
            raise ReplayMismatch(by.session, by.local_seq)
        message = self.engine.decode(stored.original)
        if stored.squashed:
            wrote = [Operation(one["op"], one["id"]) for one in message["operations"]]
            commit = Commit(by.local_seq, tuple(wrote), branch=stored.branch)
            return Applied(stored.seq, commit, replayed=True)
        return Applied(stored.seq, Commit.parse(message), replayed=True)
