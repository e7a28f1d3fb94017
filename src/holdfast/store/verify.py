"""Verify a space: check every invariant that can be checked at rest.

docs/store.md lists the invariants by number. Verifying reads everything once, in the order in which
it is stored, and changes nothing. Whatever it meets becomes a finding, never an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any

from holdfast.ids import MAIN, BranchName, EntityId, LocalSeq, Seq, SessionId
from holdfast.store import admit, checks, hashing, identity, patch, replay, verify_branches
from holdfast.store.admit import Reach, StoredWrite
from holdfast.store.errors import DATABASE_FAILURES
from holdfast.store.model import Branch, Commit, CommitKey, lifecycle_of
from holdfast.store.pointer import Path
from holdfast.store.tables import CommitRow, Row, Tables, is_linked
from holdfast.store.transfer import revisions_of
from holdfast.store.upgrade import merged_in
from holdfast.store.values import same
from holdfast.store.verify_branches import BranchHistory, descends
from holdfast.store.verify_report import InvariantFinding, VerifyReport

_PAGE = 500


class Verifier:
    """Verifies one space."""

    def __init__(
        self,
        tables: Tables,
        encode: Callable[[Any], str],
        decode: Callable[[str], Any],
        progress: Callable[[int, int], None] = lambda done, total: None,
        structure: bool = True,
    ) -> None:
        self._tables, self._encode, self._decode = tables, encode, decode
        self._progress, self._structure = progress, structure
        self.report = VerifyReport()
        self._branches: dict[BranchName, Branch] = {}
        self._history: dict[BranchName, BranchHistory] = {}
        # The operations of commits and the revisions must agree in number and in the sum of their
        # hashes.
        self._expected = self._found_sum = self._operations = self._squashed_revisions = 0

    def run(self) -> VerifyReport:
        """Check everything; every finding is in the report."""
        if self._structure:
            self._part("the file", self._structure_holds)
        self._part("the branches", self._load_branches)
        lost = any(not descends(name, self._branches) for name in self._branches)
        self._part("the commits", self._chain_holds if lost else self._commits_hold)
        if lost:
            # Every other check follows branches to their parents, which is not possible here.
            return self.report
        self._part("the branches", self._branches_hold)
        self._part("the documents", self._documents_hold)
        self._part("the blobs", self._blobs_hold)
        self._part("the signed writes", self._reserved_hold)
        return self.report

    def _part(self, what: str, check: Callable[[], None]) -> None:
        """Run one check. An error in it means that what it reads is damaged."""
        try:
            check()
        except DATABASE_FAILURES:
            raise
        except Exception as error:
            self._add("INV-39", f"{what} cannot be read: {str(error) or type(error).__name__}")

    def _add(self, invariant: str, sentence: str) -> None:
        self.report.findings.append(InvariantFinding(invariant, sentence))

    def _structure_holds(self) -> None:
        for problem in self._tables.structure_problems():
            self._add("INV-39", f"the database file is damaged: {problem}")

    # branches

    def _load_branches(self) -> None:
        for branch, sound in self._tables.branches_unchecked():
            self._branches[branch.name] = branch
            if not sound:
                self._add(
                    "INV-39", f"the row of branch {branch.name!r} does not match its checksum"
                )
        self._history = {name: BranchHistory() for name in self._branches}
        self.report.branches = len(self._branches)
        self.report.oldest_seq = max((b.oldest_seq for b in self._branches.values()), default=0)
        if MAIN not in self._branches:
            self._add("INV-22", "the default branch is missing")
        for name in self._branches:
            if not descends(name, self._branches):
                self._add("INV-22", f"branch {name!r} does not descend from the default branch")

    def _branches_hold(self) -> None:
        for branch in self._branches.values():
            above = None if branch.parent is None else self._branches.get(branch.parent)
            for problem in verify_branches.problems(branch, above, self._history[branch.name]):
                self._add("INV-22", problem)

    def _note_in_branch(self, row: CommitRow, lifecycle: Any) -> None:
        problem = verify_branches.note(row, lifecycle, self._branches, self._history)
        if problem:
            self._add("INV-22", problem)

    # commits

    def _commits(self) -> Iterator[CommitRow]:
        after = Seq(-(2**62))  # to find commits with a negative seq too
        while page := self._tables.commits_unchecked(after, _PAGE):
            yield from page
            after = page[-1].seq

    def _chain_holds(self) -> None:
        """Check only the chain, because the branches of commits cannot be followed."""
        link, expected = checks.GENESIS_CHAIN, Seq(0)
        for row in self._commits():
            link, expected = self._link_holds(row, link, Seq(expected + 1))
        self._whole_chain(link)

    def _link_holds(self, row: CommitRow, link: bytes, expected: Seq) -> tuple[bytes, Seq]:
        self.report.commits += 1
        if row.seq != expected:
            self._add("INV-22", f"seq {expected} is missing: the next commit is {row.seq}")
        elif not is_linked(row, link):
            self._add("INV-40", f"the commit at seq {row.seq} does not match its hash")
        return row.chain, row.seq

    def _whole_chain(self, link: bytes) -> None:
        if not any(finding.invariant == "INV-40" for finding in self.report.findings):
            self.report.chain = link.hex()

    def _commits_hold(self) -> None:
        expected, link = Seq(0), checks.GENESIS_CHAIN
        last_of: dict[SessionId, LocalSeq] = {}
        total = self._tables.newest_seq()
        for row in self._commits():
            link, expected = self._link_holds(row, link, Seq(expected + 1))
            # Not a finding: a refused localSeq may be used again later.
            self.report.reordered += last_of.get(row.session, 0) > row.local_seq
            last_of[row.session] = max(last_of.get(row.session, LocalSeq(0)), row.local_seq)
            try:
                self._row_holds(row)
            except DATABASE_FAILURES:
                raise
            except Exception as error:
                self._add("INV-8", f"the commit at seq {row.seq} cannot be read: {error}")
                self._note_in_branch(row, None)
            if row.seq % _PAGE == 0:
                self._progress(row.seq, total)
        self._whole_chain(link)

    def _row_holds(self, row: CommitRow) -> None:
        if row.invocation_ref is not None or row.authorization_ref is not None:
            self._add("INV-24", f"the commit at seq {row.seq} names a signature")
        if row.resolution == f'{{"seq":{row.seq}}}':  # almost all of them
            resolution: Any = {}
        else:
            resolution = self._decode(row.resolution)
            if not isinstance(resolution, dict) or resolution.get("seq") != row.seq:
                self._add("INV-11", f"the resolution at seq {row.seq} has another seq")
                resolution = {}
        if row.squashed:
            if row.seq > self.report.oldest_seq:
                self._add("INV-8", f"the text of the commit at seq {row.seq} is missing")
            self._note_in_branch(row, None)
            return
        message = self._decode(row.original)
        act = lifecycle_of(message)
        if message.get("localSeq") != row.local_seq:
            self._add("INV-11", f"the commit at seq {row.seq} was sent under another localSeq")
        if row.merged != (merged_in(row.original) if '"merge":' in row.original else None):
            self._add("INV-39", f"what the commit at seq {row.seq} merged is not what it says")
        if act is None:
            commit = Commit.parse(message)
            self._operations_expected(row, commit)
            if commit.branch != row.branch:
                self._add("INV-8", f"the commit at seq {row.seq} was sent to another branch")
            if commit.confirmed or commit.pending:
                self._reads_hold(row, commit, resolution)
            if "signature" in message:
                self._signature_holds(row, message)
        self._note_in_branch(row, act)

    def _operations_expected(self, row: CommitRow, commit: Commit) -> None:
        for index, (op, id, data) in enumerate(commit.operations):
            text = None if op == "delete" else self._encode(data)
            self._expected += hash((row.branch, id, row.seq, index, op, text))
            self._operations += 1

    def _signature_holds(self, row: CommitRow, message: dict[str, Any]) -> None:
        self.report.signed += 1
        problem = identity.commit_signature_problem(row.session, message)
        if problem:
            self._add("INV-41", f"the signature of the commit at seq {row.seq} {problem}")

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
                    self._add("INV-11", f"seq {row.seq} resolves layer {layer} wrongly")
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
            self._add("INV-1", f"the commit at seq {row.seq} read {id} as of {basis}, after it")
        if basis < self.report.oldest_seq:
            return  # what was written since was removed
        since = [
            StoredWrite(write.seq, write.op, write.data)
            for write in self._tables.writes_between(branch, id, basis, row.seq)
        ]
        if not since:
            return

        def had(place: Path) -> bool:
            on = replay.required_branch(self._tables, branch)
            state = replay.state_at(self._tables, self._decode, on, id, basis)
            layers = [write for write in since if write.seq in own]
            return state is not None and admit.certainly_had(place, state.document, layers)

        writes = [write for write in since if write.seq not in own]
        overlap = admit.first_overlap(path, shape, writes, Reach.LEAF, had)
        if overlap is not None:
            self._add(
                "INV-1",
                f"the commit at seq {row.seq} read {id} as of {basis}, "
                f"but seq {overlap.write.seq} had written there",
            )

    # documents

    def _documents_hold(self) -> None:
        heads = _Aligned(self._tables.all_heads())
        snapshots = _Aligned(self._tables.all_snapshots())
        for key, group in groupby(self._tables.all_revisions(), key=itemgetter(0, 1)):
            self.report.documents += 1
            rows = list(group)
            for stray in heads.before(key):
                self._stray_head(stray)
            for stray in snapshots.before(key):
                self._stray_snapshot(stray)
            self._document_holds(key, rows, heads.at(key), snapshots.at(key))
        for stray in heads.rest():
            self._stray_head(stray)
        for stray in snapshots.rest():
            self._stray_snapshot(stray)
        count = self.report.revisions - self._squashed_revisions
        if count != self._operations:
            self._add(
                "INV-8",
                f"there are {count} revisions, but the commits have {self._operations} operations",
            )
        if count != self._operations or self._found_sum != self._expected:
            self._name_differences()
        for row in self._tables.orphans():
            self._add("INV-20", f"a revision of {row[1]} at seq {row[2]} has no commit")

    def _stray_head(self, row: Row) -> None:
        self._add("INV-21", f"{row[1]} has a head on {row[0]!r} but no revision")

    def _stray_snapshot(self, row: Row) -> None:
        self.report.snapshots += 1
        self._add("INV-9", f"there is a snapshot of {row[1]}, which has no revisions")

    def _name_differences(self) -> None:
        """The commits whose revisions are not their operations, looked up one by one."""
        for row in self._commits():
            try:
                if row.squashed:
                    continue
                expected = revisions_of(row, self._decode, self._encode)
                ids = [revision[1] for revision in expected]
                stored = self._tables.revisions_of_commit(row.seq, ids, row.branch)
                differ = [tuple(revision) for revision in stored] != expected
            except DATABASE_FAILURES:
                raise
            except Exception:
                differ = True
            if differ:
                self._add(
                    "INV-8", f"the revisions at seq {row.seq} differ from the commit's operations"
                )

    def _document_holds(
        self, key: tuple[str, str], rows: list[Row], heads: list[Row], snapshots: list[Row]
    ) -> None:
        name, id = BranchName(key[0]), EntityId(key[1])
        self.report.revisions += len(rows)
        self.report.snapshots += len(snapshots)
        for row in rows:
            branch, _, seq, index, op, data, crc = row
            if checks.revision_crc(*row[:6]) != crc:
                self._add("INV-39", f"the revision of {id} at seq {seq} is damaged")
            if seq <= self.report.oldest_seq:
                self._squashed_revisions += 1
                if op == "patch":
                    self._add("INV-8", f"{id} is a patch at seq {seq}, of which nothing is kept")
            else:
                self._found_sum += hash((branch, id, seq, index, op, data))
        newest = (rows[-1][2], rows[-1][3])
        head = (heads[0][2], heads[0][3]) if heads else None
        if head != newest:
            self._add("INV-21", f"the head of {id} on {name!r} is {head}, not {newest}")
        elif heads[0][4] != rows[-1][6]:
            self._add("INV-39", f"the head of {id} on {name!r} does not match its checksum")
        for _, _, seq, value, crc in snapshots:
            if checks.snapshot_crc(name, id, seq, value) != crc:
                self._add("INV-39", f"the snapshot of {id} at seq {seq} is damaged")
        if snapshots or any(row[4] == "patch" for row in rows):
            try:
                self._history_holds(name, id, rows, {row[2]: row[3] for row in snapshots})
            except DATABASE_FAILURES:
                raise
            except Exception as error:  # any error means that the history is not valid
                self._add("INV-9", f"the history of {id} on {name!r} cannot be read: {error}")

    def _history_holds(
        self, name: BranchName, id: EntityId, rows: list[Row], snapshots: dict[Seq, str]
    ) -> None:
        branch = self._branches[name]
        document: Any = None
        if rows[0][4] == "patch":
            below = replay.inherited(self._tables, self._decode, branch, id, rows[0][2])
            document = None if below is None else below.document
        at_seq: dict[Seq, Any] = {}
        for _, _, seq, _, op, data, _ in rows:
            if op == "patch":
                document = patch.apply_to_document(document, self._decode(data))
            else:
                document = None if data is None else self._decode(data)
            if seq in snapshots:
                at_seq[seq] = document
        for seq, text in snapshots.items():
            if seq not in at_seq:
                self._add("INV-9", f"{id} has a snapshot at seq {seq}, but no write there")
            elif not same(self._decode(text), at_seq[seq]):
                self._add("INV-9", f"the snapshot of {id} at seq {seq} differs from its history")
        if snapshots:
            now = replay.newest_state(self._tables, self._decode, branch, id)
            if not same(None if now is None else now.document, document):
                self._add("INV-23", f"reading {id} differs from its history")

    def _blobs_hold(self) -> None:
        for hash in self._tables.blob_hashes():
            self.report.blobs += 1
            blob = self._tables.blob(hash)
            if blob is None or hashing.blob_hash(blob[0]) != hash or blob[2] != len(blob[0]):
                self._add("INV-25", f"the bytes of blob {hash} do not match its hash")
            elif not blob[3]:
                self._add("INV-39", f"the row of blob {hash} does not match its checksum")

    def _reserved_hold(self) -> None:
        if self._tables.reserved_rows():
            self._add("INV-24", "the tables reserved for signed writes are not empty")


class _Aligned:
    """Rows in the order of their key, taken in step with another table of the same order."""

    def __init__(self, rows: Iterator[Row]) -> None:
        self._rows = rows
        self._next = next(rows, None)

    def _take(self, matches: Callable[[tuple[str, str]], bool]) -> Iterator[Row]:
        while self._next is not None and matches((self._next[0], self._next[1])):
            row, self._next = self._next, next(self._rows, None)
            yield row

    def before(self, key: tuple[str, str]) -> Iterator[Row]:
        return self._take(lambda at: at < key)

    def at(self, key: tuple[str, str]) -> list[Row]:
        return list(self._take(lambda at: at == key))

    def rest(self) -> Iterator[Row]:
        return self._take(lambda at: True)
