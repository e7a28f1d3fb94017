"""Decide a batch of commits in memory, then write it.

Commits that wait together share one transaction and one write to the disk. Each is decided in turn
against the tables and the commits accepted before it in the same batch; a refused one leaves no
trace. Only then are the rows of all accepted commits written, so there is never a half-written
commit to undo.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

from holdfast.errors import StoreError
from holdfast.ids import MAIN, BranchName, EntityId, LocalSeq, Seq, SessionId
from holdfast.store import admit, checks, patch, snapshots
from holdfast.store.admit import Overlap, StoredWrite
from holdfast.store.batch_view import DEFAULT_BRANCH, BatchView, DocumentKey
from holdfast.store.conflict import Conflict, conflict_of, too_old, unresolved
from holdfast.store.errors import (
    DATABASE_FAILURES,
    ConflictError,
    InactiveBranch,
    ReplayMismatch,
    TextRemoved,
)
from holdfast.store.headcache import HeadCache, HeadDocument
from holdfast.store.model import (
    ACTIVE,
    Applied,
    Branch,
    Commit,
    CommitKey,
    ConfirmedRead,
    Guard,
    PendingRead,
    new_tuple,
)
from holdfast.store.recent import RecentWrites
from holdfast.store.settings import StoreSettings
from holdfast.store.snapshot_pruning import thin
from holdfast.store.snapshots import Chain
from holdfast.store.tables import CommitRow, Tables

_NO_COMMITS: Mapping[CommitKey, CommitRow] = {}

_NO_LAYERS: Mapping[LocalSeq, Seq] = {}
"""The layers of a commit without pending reads."""


class CommitRequest(NamedTuple):
    """A commit to be decided: parsed, and encoded as it will be stored."""

    key: CommitKey
    commit: Commit
    original: str
    encoded: Sequence[str | None]
    guard: Guard | None = None
    merged: str | None = None
    """The branch and seq that it merges, for the column `merged`."""
    patches: bool = True
    """Whether it may have patches; without any there is nothing to apply."""


class _Patched(NamedTuple):
    """The patches of a commit by index, the documents after them, and the snapshots to take.

    A document is None if the commit set or deleted it last.
    """

    patches: dict[int, Any]
    documents: dict[EntityId, HeadDocument | None]
    snapshots: dict[EntityId, str]


class Batch(BatchView):
    """Commits accepted so far, not yet written.

    `tip` is the newest commit and its hash, if they are known. With `expect_new` keys are not
    looked up before a commit is accepted: if one has landed before, writing raises `KeyTaken`.
    """

    def __init__(
        self,
        tables: Tables,
        cache: HeadCache,
        settings: StoreSettings,
        encode: Callable[[Any], str],
        decode: Callable[[str], Any],
        same_commit: Callable[[str, str], bool],
        clock: Callable[[], str],
        requests: Iterable[CommitRequest] = (),
        tip: tuple[Seq, bytes] | None = None,
        recent: RecentWrites | None = None,
        expect_new: bool = False,
    ) -> None:
        super().__init__(tables, cache, decode, tip, recent)
        self._settings = settings
        self._encode = encode
        self._same_commit = same_commit
        self._clock = clock
        self._now = ""
        self._stored_commits: Mapping[CommitKey, CommitRow] | None = _NO_COMMITS
        self._expect_new = expect_new
        if not expect_new:
            self._stored_commits = tables.commits_by_keys(request.key for request in requests)
        self._snapshots: dict[tuple[BranchName, EntityId, Seq], str] = {}
        self._heads_below: dict[DocumentKey, Seq] = {}

    def __len__(self) -> int:
        return len(self._commits)

    # deciding

    def decide(self, request: CommitRequest) -> Applied:
        """Accept a commit, or raise the reason for refusing it."""
        name = request.commit.branch
        # The default branch always exists and cannot be deleted.
        branch = DEFAULT_BRANCH if name == MAIN else self._branch(name)
        if branch.status != ACTIVE:
            raise InactiveBranch(branch.name)
        if not self._expect_new or request.key in self._commits:
            row = self._stored_commit(request.key)
            if row is not None:
                return self._replayed(request, row)
        try:
            return self._decide_new(branch, request)
        except DATABASE_FAILURES:
            raise
        except StoreError:
            row = self._tables.commit_by_key(request.key) if self._expect_new else None
            if row is None:
                raise
            return self._replayed(request, row)

    def _decide_new(self, branch: Branch, request: CommitRequest) -> Applied:
        commit = request.commit
        if request.guard is not None:
            self._check_guard(request.guard)
        resolved = _NO_LAYERS
        if commit.confirmed or commit.pending:
            resolved = self._check_reads(request.key.session, commit)
        newest = self._known_newest
        seq: Seq = (self._newest if newest is None else newest) + 1  # type: ignore[assignment]
        patched = self._apply(branch, seq, request) if request.patches else None
        self._accept(branch.name, seq, request, resolved, patched)
        return new_tuple(Applied, (seq, commit, False))

    def _check_guard(self, guard: Guard) -> None:
        """Refuse a commit that the guard does not permit, if its document was written since."""
        newest = self._newest_write(MAIN, guard.id)
        if newest is not None and newest.seq > guard.seq:
            guard.hold(self._head_document(DEFAULT_BRANCH, guard.id).document)

    def _stored_commit(self, key: CommitKey) -> CommitRow | None:
        here = self._commits.get(key)
        if here is not None:
            return CommitRow(*here)
        if self._stored_commits is not None:
            return self._stored_commits.get(key)
        return self._tables.commit_by_key(key)

    def _replayed(self, request: CommitRequest, row: CommitRow) -> Applied:
        """The same commit again gets the same answer, whatever happened since."""
        if row.squashed:
            if checks.text_digest(request.original) != row.digest:
                raise TextRemoved(*request.key, row.seq)
        elif row.original != request.original and not self._same_commit(
            row.original, request.original
        ):
            raise ReplayMismatch(request.key.session, request.commit.local_seq)
        return Applied(row.seq, request.commit, replayed=True)

    def _check_reads(self, session: SessionId, commit: Commit) -> dict[LocalSeq, Seq]:
        """The seq of every layer the commit read through; raises if a read no longer holds."""
        conflicts: list[Conflict] = []
        for read in commit.confirmed:
            conflict = self._check_confirmed(read, commit.branch)
            if conflict is not None:
                conflicts.append(conflict)
        resolved: dict[LocalSeq, Seq] = {}
        for pending in commit.pending:
            conflict = self._check_pending(session, pending, commit.branch, resolved)
            if conflict is not None:
                conflicts.append(conflict)
        if conflicts:
            raise ConflictError(tuple(conflicts))
        return resolved

    def _check_confirmed(self, read: ConfirmedRead, branch: BranchName) -> Conflict | None:
        on = branch if read.branch is None else read.branch
        if read.branch is not None:
            self._branch(on)
        newest = self._newest_write(on, read.id)
        if newest is None or not admit.is_overtaken(read, newest):
            admit.check_not_future("confirmed", read.id, "seq", read.seq, self._newest)
            return None
        if newest.op != "patch":
            # Whatever was written before it, this write broke every read.
            return self._conflict(read, on, read.seq, Overlap(newest, None))
        writes = self._writes_since(on, read.id, read.seq)
        if writes is None:
            return too_old(read, on, read.seq, newest.seq)
        had = self._memory(on, read.id, read.seq)
        overlap = admit.first_overlap(read.path, read.shape, writes, self._settings.reach, had)
        return self._conflict(read, on, read.seq, overlap)

    def _check_pending(
        self,
        session: SessionId,
        read: PendingRead,
        branch: BranchName,
        resolved: dict[LocalSeq, Seq],
    ) -> Conflict | None:
        for layer in read.layers:
            if layer not in resolved:
                landed = self._seq_of(CommitKey(session, layer))
                if landed is not None:
                    resolved[layer] = landed
        layers = admit.resolve_layers(read, resolved)
        if not isinstance(layers, admit.Layers):
            return unresolved(read, branch, layers)
        basis, own = layers
        admit.check_not_future("pending", read.id, "basisSeq", basis, self._newest)
        writes = self._writes_since(branch, read.id, basis)
        if writes is None:
            newest = self._newest_write(branch, read.id)
            return too_old(read, branch, basis, self._newest if newest is None else newest.seq)
        had = self._memory(branch, read.id, basis, own)
        overlap = admit.pending_overlap(read, own, writes, self._settings.reach, had)
        return self._conflict(read, branch, basis, overlap)

    def _conflict(
        self,
        read: ConfirmedRead | PendingRead,
        branch: BranchName,
        basis: Seq,
        overlap: Overlap | None,
    ) -> Conflict | None:
        if overlap is None:
            return None
        return conflict_of(read, branch, basis, overlap, self._key_at(overlap.write.seq))

    # applying

    def _apply(self, branch: Branch, seq: Seq, request: CommitRequest) -> _Patched:
        """The commit's patches and the documents after them.

        Patches are always applied, to prove that they can be. They are decoded from the text that
        will be stored, because the caller may change its own message. A `set` or `delete` does not
        depend on the previous document, so its document is not kept.
        """
        operations = request.commit.operations
        patches: dict[int, Any] = {}
        documents: dict[EntityId, HeadDocument | None] = {}
        replaced: dict[EntityId, int] = {}
        for index, (op, id, _) in enumerate(operations):
            if op != "patch":
                documents[id], replaced[id] = None, index
                continue
            before = documents.get(id)
            if before is None:
                earlier = replaced.get(id)
                before = (
                    self._head_document(branch, id)
                    if earlier is None
                    else self._written((seq, earlier), request.encoded[earlier])
                )
            text = request.encoded[index]
            assert text is not None, "a patch has text"
            patches[index] = self._decode(text)
            document = patch.apply_to_document(before.document, patches[index])
            documents[id] = HeadDocument((seq, index), document, before.chain.grown(len(text)))
        snapshot_texts: dict[EntityId, str] = {}
        for id, after in documents.items():
            if after is not None:
                documents[id] = self._snapshotted(id, after, snapshot_texts)
        return _Patched(patches, documents, snapshot_texts)

    def _snapshotted(
        self, id: EntityId, after: HeadDocument, snapshot_texts: dict[EntityId, str]
    ) -> HeadDocument:
        """The document after a commit; its text goes into `snapshot_texts` if a snapshot is due.

        With rich values a patched document may not be encodable although each value is, because
        tags nest it deeper. So it is encoded here, where the commit can still be refused.
        """
        due = snapshots.due(after.chain, self._settings)
        if not due and not self._settings.rich_values:
            return after
        text = self._encode(after.document)
        if not due:
            return after
        snapshot_texts[id] = text
        return HeadDocument(after.at, after.document, Chain(base_bytes=len(text)))

    def _accept(
        self,
        name: BranchName,
        seq: Seq,
        request: CommitRequest,
        resolved: Mapping[LocalSeq, Seq],
        patched: _Patched | None,
    ) -> None:
        """Record an accepted commit. Nothing here may fail."""
        key, commit, original, encoded, _, merged, _ = request
        session, local_seq = key
        self._known_newest = seq
        now = self._now = self._now or self._clock()
        resolution = _resolution(seq, resolved) if resolved else f'{{"seq":{seq}}}'
        digest = checks.text_digest(original)
        link = self._link = checks.chain(
            self._link, seq, name, session, local_seq, digest, resolution, now
        )
        self._commits[key] = (
            seq,
            name,
            session,
            local_seq,
            original,
            resolution,
            now,
            merged,
            link,
        )
        for index, (op, id, _) in enumerate(commit.operations):
            text = encoded[index]
            crc = checks.revision_crc(name, id, seq, index, op, text)
            place, revision = (name, id), (name, id, seq, index, op, text, crc)
            earlier = self._revisions.get(place)
            if earlier is None:
                self._revisions[place] = [revision]
            else:
                earlier.append(revision)
                self._documents.pop(place, None)
        if patched is None:
            return
        for index, operations in patched.patches.items():
            self._patches[seq, index] = operations
        for id, document in patched.documents.items():
            if document is not None:
                self._documents[name, id] = document
        for id, copy in patched.snapshots.items():
            self._snapshots[name, id, seq] = copy

    # writing

    def look_below(self) -> None:
        """Before writing, record the heads of documents whose recent writes are cached."""
        for key in self._recent.known_keys(self._revisions):
            head = self._tables.head_kind(*key)
            if head is not None:
                self._heads_below[key] = head[0]

    def write(self) -> None:
        """Write everything accepted, inside the caller's transaction."""
        tables = self._tables
        tables.add_commits(self._commits.values())
        tables.put_revisions(chain.from_iterable(self._revisions.values()))
        newest_rows = [rows[-1] for rows in self._revisions.values()]
        tables.put_heads([(*row[:4], row[6]) for row in newest_rows])
        newest = {row[1]: row[0] for row in self._commits.values()}
        tables.advance_branches(newest.items())
        if self._snapshots:
            tables.put_snapshots((*key, text) for key, text in self._snapshots.items())
            for (branch, id), added in Counter(key[:2] for key in self._snapshots).items():
                thin(tables, self._settings.snapshot_retention, branch, id, added)

    def remember(self) -> None:
        """Update the caches once the transaction is durable."""
        for key in self._recent.known_keys(self._revisions):
            rows = reversed(self._revisions[key])
            writes = [StoredWrite(row[2], row[4], row[5]) for row in rows]
            self._recent.landed(key, writes, self._heads_below.get(key))
        if len(self._cache):
            for key in self._revisions:
                self._cache.forget(key)
        for key, document in self._documents.items():
            self._cache.put(key, document)


def _resolution(seq: Seq, resolved: Mapping[LocalSeq, Seq]) -> str:
    layers = ",".join(f'{{"localSeq":{n},"seq":{s}}}' for n, s in sorted(resolved.items()))
    return f'{{"seq":{seq},"resolvedPendingReads":[{layers}]}}'
