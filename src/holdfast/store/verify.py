"""Verify a space: check every invariant that can be checked at rest.

docs/store.md lists the invariants by number. Verifying reads everything and changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from holdfast.ids import MAIN, BranchName, EntityId, LocalSeq, Seq, SessionId
from holdfast.store import admit, derive, hashing, replay
from holdfast.store.admit import Reach, RevisionWrite
from holdfast.store.model import ACTIVE, DELETED, Branch, Commit, CommitKey, lifecycle_of
from holdfast.store.pointer import Path
from holdfast.store.tables import CommitRow, Tables
from holdfast.store.transfer import revisions_of
from holdfast.store.values import same

_PAGE = 500
_START = Seq(0)


@dataclass(frozen=True, slots=True)
class InvariantFinding:
    """A violated invariant, and where."""

    invariant: str
    sentence: str

    def __str__(self) -> str:
        return f"{self.invariant}: {self.sentence}"


@dataclass(slots=True)
class VerifyReport:
    """What was checked, and what was found."""

    commits: int = 0
    revisions: int = 0
    documents: int = 0
    branches: int = 0
    snapshots: int = 0
    blobs: int = 0
    legacy_reads: int = 0
    reordered: int = 0
    """Commits that landed after a later one of their session, because they were sent again."""

    findings: list[InvariantFinding] = field(default_factory=list)

    @property
    def sound(self) -> bool:
        return not self.findings

    def to_wire(self) -> dict[str, Any]:
        counts = ("commits", "revisions", "documents", "branches", "snapshots", "blobs")
        return {
            "sound": self.sound,
            **{name: getattr(self, name) for name in counts},
            "legacyReads": self.legacy_reads,
            "reordered": self.reordered,
            "findings": [{"invariant": f.invariant, "sentence": f.sentence} for f in self.findings],
        }


@dataclass(slots=True)
class _BranchHistory:
    """What the commits record about a branch."""

    oldest: Seq | None = None
    newest: Seq = _START
    created: Seq | None = None
    """The seq of its creation if that was recorded, as are then its parent and fork point."""

    parent: Any = None
    fork_seq: Any = None
    deleted: Seq | None = None


class Verifier:
    """Verifies one space."""

    def __init__(
        self,
        tables: Tables,
        encode: Callable[[Any], str],
        decode: Callable[[str], Any],
        progress: Callable[[int, int], None] = lambda done, total: None,
    ) -> None:
        self._tables, self._encode, self._decode = tables, encode, decode
        self._progress = progress
        self.report = VerifyReport()
        self._operations = 0
        self._lost = False

    def run(self) -> VerifyReport:
        """Check everything; every finding is in the report."""
        self._branches_hold()
        if self._lost:
            # Every other check follows branches to their parents, which is not possible here.
            return self.report
        self._commits_hold()
        self._documents_hold()
        self._blobs_hold()
        if self._tables.reserved_rows():
            self._found("INV-24", "the tables reserved for signed writes are not empty")
        return self.report

    def _found(self, invariant: str, sentence: str) -> None:
        self.report.findings.append(InvariantFinding(invariant, sentence))

    # branches

    def _branches_hold(self) -> None:
        branches = {branch.name: branch for branch in self._tables.branches()}
        self.report.branches = len(branches)
        if MAIN not in branches:
            self._found("INV-22", "the default branch is missing")
        for name in branches:
            if not _descends(name, branches):
                self._lost = True
                self._found("INV-22", f"branch {name!r} does not descend from the default branch")
        lines = self._lines(branches)
        for branch in branches.values():
            self._branch_holds(branch, branches, lines[branch.name])

    def _branch_holds(
        self, branch: Branch, branches: dict[BranchName, Branch], line: _BranchHistory
    ) -> None:
        name = branch.name
        start = Seq(0)
        if branch.parent is None:
            if name != MAIN:
                self._found("INV-22", f"branch {name!r} has no parent")
            elif branch.status != ACTIVE:
                self._found("INV-22", "the default branch is not active")
            elif branch.fork_seq is not None or branch.created_seq:
                self._found("INV-22", "the default branch must not have a fork point")
        else:
            start = branch.created_seq
            self._fork_holds(branch, branches.get(branch.parent), line)
        if branch.head_seq != max(line.newest, start):
            self._found(
                "INV-22",
                f"the head of branch {name!r} is {branch.head_seq}, "
                f"but its newest change is at {max(line.newest, start)}",
            )
        ended = branch.status == DELETED
        if branch.status not in (ACTIVE, DELETED) or ended != (branch.deleted_at is not None):
            self._found("INV-22", f"branch {name!r} is neither active nor deleted")
        if line.deleted is not None and (not ended or line.newest > line.deleted):
            self._found("INV-22", f"branch {name!r} was written after it was deleted")

    def _fork_holds(self, branch: Branch, above: Branch | None, line: _BranchHistory) -> None:
        name, recorded = branch.name, line.created is not None
        if above is None:
            self._found("INV-22", f"the parent of {name!r} does not exist")
        elif branch.fork_seq is None or branch.fork_seq > above.head_seq:
            self._found("INV-22", f"{name!r} is forked after its parent's head")
        elif branch.created_seq < branch.fork_seq:
            self._found("INV-22", f"{name!r} was created before its fork point")
        elif recorded and (branch.parent, branch.fork_seq) != (line.parent, line.fork_seq):
            self._found("INV-22", f"the fork point of {name!r} is not the one in its commit")
        if branch.created_seq != (line.created if recorded else branch.fork_seq):
            self._found("INV-22", f"{name!r} was not created at seq {branch.created_seq}")
        if line.oldest is not None and line.oldest <= branch.created_seq:
            self._found("INV-22", f"{name!r} was written to before it was created")

    def _lines(self, branches: dict[BranchName, Branch]) -> dict[BranchName, _BranchHistory]:
        lines = {name: _BranchHistory() for name in branches}
        for row in self._commits():
            line, act = lines.get(row.branch), self._lifecycle(row)
            if line is None:
                self._found("INV-22", f"the branch of the commit at seq {row.seq} does not exist")
            elif act is None:
                line.oldest, line.newest = line.oldest or row.seq, row.seq
            elif act.get("name") != row.branch:
                self._found(
                    "INV-22", f"the lifecycle commit at seq {row.seq} is about another branch"
                )
            elif act.get("op") == "delete":
                line.deleted = row.seq
            else:
                line.created, line.parent = row.seq, act.get("parentBranch")
                line.fork_seq = act.get("forkSeq")
                if line.fork_seq is None and line.parent in branches:
                    # The newest change of its parent at that time.
                    start = _START if line.parent == MAIN else branches[line.parent].created_seq
                    line.fork_seq = max(lines[line.parent].newest, start)
        return lines

    def _lifecycle(self, row: CommitRow) -> Mapping[str, Any] | None:
        """The branch change of a commit. An unreadable commit is reported later."""
        try:
            marked = '"branchLifecycle":' in row.original
            return lifecycle_of(self._decode(row.original)) if marked else None
        except Exception:
            return None

    # commits

    def _commits(self) -> Iterator[CommitRow]:
        after = Seq(-(2**62))  # to find commits with a negative seq too
        while page := self._tables.commits(after, _PAGE):
            yield from page
            after = page[-1].seq

    def _commits_hold(self) -> None:
        expected = Seq(0)
        last_of: dict[SessionId, LocalSeq] = {}
        total = self._tables.newest_seq()
        for row in self._commits():
            self.report.commits += 1
            expected = Seq(expected + 1)
            if row.seq != expected:
                self._found("INV-22", f"seq {expected} is missing: the next commit is {row.seq}")
                expected = row.seq
            # Not a finding: a refused localSeq may be used again later.
            self.report.reordered += last_of.get(row.session, 0) > row.local_seq
            last_of[row.session] = max(last_of.get(row.session, LocalSeq(0)), row.local_seq)
            self._row_holds(row)
            self._progress(row.seq, total)

    def _row_holds(self, row: CommitRow) -> None:
        if row.invocation_ref is not None or row.authorization_ref is not None:
            self._found("INV-24", f"the commit at seq {row.seq} names a signature")
        try:
            message = self._decode(row.original)
            resolution = self._decode(row.resolution)
            expected = revisions_of(row, self._decode, self._encode)
        except Exception as error:  # any error means that it is not a valid commit
            self._found("INV-8", f"the commit at seq {row.seq} cannot be read: {error}")
            return
        if not isinstance(resolution, dict) or resolution.get("seq") != row.seq:
            self._found("INV-11", f"the resolution at seq {row.seq} has another seq")
            resolution = {}
        self._operations += len(expected)
        stored = self._tables.revisions_of_commit(row.seq, [r[1] for r in expected], row.branch)
        if [tuple(r) for r in stored] != expected:
            self._found(
                "INV-8", f"the revisions at seq {row.seq} differ from the commit's operations"
            )
        if message.get("localSeq") != row.local_seq:
            self._found("INV-11", f"the commit at seq {row.seq} was sent under another localSeq")
        if lifecycle_of(message) is None:
            commit = Commit.parse(message)
            if commit.branch != row.branch:
                self._found("INV-8", f"the commit at seq {row.seq} was sent to another branch")
            self._reads_hold(row, commit, resolution)

    def _reads_hold(self, row: CommitRow, commit: Commit, resolution: dict[str, Any]) -> None:
        """INV-1: the commit's reads still held when it landed."""
        for read in commit.confirmed:
            on = commit.branch if read.branch is None else read.branch
            self._read_holds(row, on, read.id, read.path, read.shape, read.seq, frozenset())
        resolved = resolution.get("resolvedPendingReads", ())
        landed: dict[Any, Any] = {
            entry.get("localSeq"): entry.get("seq") for entry in resolved if isinstance(entry, dict)
        }
        for pending in commit.pending:
            for layer in pending.layers:
                at = self._tables.seq_of(CommitKey(row.session, layer))
                if at is None or landed.get(layer) != at or at >= row.seq:
                    self._found("INV-11", f"seq {row.seq} resolves layer {layer} wrongly")
            if pending.basis is None:
                self.report.legacy_reads += 1
                continue
            own = frozenset(int(landed.get(layer) or 0) for layer in pending.layers)
            self._read_holds(
                row, commit.branch, pending.id, pending.path, pending.shape, pending.basis, own
            )

    def _read_holds(
        self,
        row: CommitRow,
        branch: BranchName,
        id: EntityId,
        path: Path,
        shape: bool,
        basis: Seq,
        own: frozenset[int],
    ) -> None:
        if basis >= row.seq:
            self._found("INV-1", f"the commit at seq {row.seq} read {id} as of {basis}, after it")

        def had(place: Path) -> bool:
            on = replay.required_branch(self._tables, branch)
            state = replay.state_at(self._tables, self._decode, on, id, basis)
            layers = (write for write in since() if write.seq in own)
            return state is not None and admit.certainly_had(place, state.document, layers)

        def since() -> Iterator[RevisionWrite]:
            for seq, op, data in self._tables.writes_since(branch, id, basis):
                if seq < row.seq:
                    yield RevisionWrite(Seq(seq), op, self._decode(data) if op == "patch" else None)

        writes = (write for write in since() if write.seq not in own)
        found = admit.first_overlap(path, shape, writes, Reach.LEAF, had)
        if found is not None:
            self._found(
                "INV-1",
                f"the commit at seq {row.seq} read {id} as of {basis}, "
                f"but seq {found.write.seq} had written there",
            )

    # documents

    def _documents_hold(self) -> None:
        for branch in self._tables.branches():
            heads = {id: (seq, index) for id, seq, index in self._tables.heads(branch.name)}
            for id in self._tables.ids_written(branch.name):
                self.report.documents += 1
                self._document_holds(branch, id, heads.pop(id, None))
            for id in heads:
                self._found("INV-21", f"{id} has a head on {branch.name!r} but no revision")
        if self.report.revisions != self._operations:
            self._found(
                "INV-8",
                f"there are {self.report.revisions} revisions, "
                f"but the commits have {self._operations} operations",
            )
        strays = self._tables.snapshot_count() - self.report.snapshots
        if strays:
            self._found("INV-9", f"there are {strays} snapshots of documents without revisions")
        for row in self._tables.orphans():
            self._found("INV-20", f"a revision of {row[1]} at seq {row[2]} has no commit")

    def _document_holds(self, branch: Branch, id: EntityId, head: tuple[Seq, int] | None) -> None:
        rows = self._tables.revisions_of(branch.name, id)
        self.report.revisions += len(rows)
        newest = (rows[-1].seq, rows[-1].op_index)
        if head != newest:
            self._found("INV-21", f"the head of {id} on {branch.name!r} is {head}, not {newest}")
        kept = dict(self._tables.snapshots_of(branch.name, id))
        self.report.snapshots += len(kept)
        try:
            document = None
            at_seq: dict[Seq, Any] = {}
            for row, document in derive.walk(self._tables, self._decode, branch, id, rows):
                at_seq[row.seq] = document
            for seq, text in kept.items():
                if seq not in at_seq:
                    self._found("INV-9", f"{id} has a snapshot at seq {seq}, but no write there")
                elif not same(self._decode(text), at_seq[seq]):
                    self._found(
                        "INV-9", f"the snapshot of {id} at seq {seq} differs from its history"
                    )
            now = replay.newest_state(self._tables, self._decode, branch, id)
            if not same(None if now is None else now.document, document):
                self._found("INV-23", f"reading {id} differs from its history")
        except Exception as error:  # any error means that the history is not valid
            self._found("INV-9", f"the history of {id} on {branch.name!r} cannot be read: {error}")

    def _blobs_hold(self) -> None:
        for hash in self._tables.blob_hashes():
            self.report.blobs += 1
            found = self._tables.blob(hash)
            if found is None or hashing.blob_hash(found[0]) != hash or found[2] != len(found[0]):
                self._found("INV-25", f"the bytes of blob {hash} do not match its hash")


def _descends(name: BranchName, branches: dict[BranchName, Branch]) -> bool:
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
