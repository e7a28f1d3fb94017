"""One space's tables: commits written in batches, documents read at any seq.

The engine is not thread-safe. `Store` makes sure that one batch is written at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

from holdfast.errors import StoreError
from holdfast.ids import MAIN, BranchName, EntityId, LocalSeq, Seq, SessionId
from holdfast.store import admit, branch_lifecycle, codec, replay
from holdfast.store import branch as branching
from holdfast.store.batch import Batch, CommitRequest
from holdfast.store.branch_lifecycle import LifecycleCommit
from holdfast.store.conflict import Conflict, conflict_of
from holdfast.store.errors import (
    DATABASE_FAILURES,
    CommitTooLarge,
    ConflictError,
    DamagedStore,
    InvalidBlob,
    InvalidExport,
    KeyTaken,
    TransactionError,
)
from holdfast.store.headcache import HeadCache
from holdfast.store.model import (
    Applied,
    Branch,
    Commit,
    CommitKey,
    Document,
    Guard,
    State,
    name_problem,
    new_tuple,
)
from holdfast.store.recent import RecentWrites
from holdfast.store.settings import StoreSettings
from holdfast.store.tables import Database, RevisionRow, Tables
from holdfast.store.upgrade import merged_text

if TYPE_CHECKING:
    from holdfast.store.author import Author
    from holdfast.store.garbage import Garbage
    from holdfast.store.retention import Squashed

Made = TypeVar("Made")

_YOUNG = 32
"""A read that is fewer commits old than this is quick to check, so the writer does it."""


class Engine:
    """The operations of one space, over one connection for writing and one for reading."""

    def __init__(
        self,
        writing: Database,
        reading: Database,
        settings: StoreSettings,
        clock: Callable[[], str],
    ) -> None:
        self.writing, self.reading = writing, reading
        self.settings = settings
        self._clock = clock
        self._writes, self._reads = Tables(writing), Tables(reading)
        self._cache = HeadCache()
        self._tip: tuple[Seq, bytes] | None = None
        self._tip_version: int | None = None
        self._expect_new = not writing.distant
        self._recent = RecentWrites()
        self._texts: dict[tuple[BranchName, EntityId], tuple[tuple[Seq, int], str]] = {}

    @property
    def tables(self) -> Tables:
        """The rows, for reading."""
        return self._reads

    # values at the edge

    def encode(self, value: Any) -> str:
        return codec.encode(value, self.settings.rich_values)

    def decode(self, text: str) -> Any:
        return codec.decode(text, self.settings.rich_values)

    def _same_commit(self, one: str, other: str) -> bool:
        return codec.canonical(self.decode(one)) == codec.canonical(self.decode(other))

    # writing

    def parse(self, session: SessionId, message: Mapping[str, Any]) -> Commit:
        """The typed form of a session's commit; needs no lock."""
        _check_session(session)
        return Commit.parse(message)

    def refused_at_sight(self, session: SessionId, commit: Commit) -> ConflictError | None:
        """The refusal of a commit whose reads were all overtaken by whole documents.

        An overtaken read stays overtaken, so the refusal found here, without a transaction, would
        be the same later. None means undecided: the commit is checked in full.
        """
        if not commit.confirmed or commit.pending or commit.branch != MAIN or self.reading.distant:
            return None
        conflicts: list[Conflict] = []
        key = CommitKey(session, commit.local_seq)
        for read in commit.confirmed:
            conflict = (
                None if read.branch is not None else self._reads.head_and_key(MAIN, read.id, key)
            )
            if conflict is None:
                return None
            seq, op, by, local_seq, landed = conflict
            if landed or seq <= read.seq or op == "patch":
                return None
            overlap = admit.Overlap(admit.RevisionWrite(seq, op, None), None)
            whose = CommitKey(by, local_seq)
            conflicts.append(conflict_of(read, MAIN, read.seq, overlap, whose))
        return ConflictError(tuple(conflicts))

    def look_up_writes(self, commit: Commit) -> None:
        """Read what the commit's reads will be checked against, before the writer needs it."""
        newest = Seq(0) if self._tip is None else self._tip[0]
        for read in commit.confirmed:
            if 0 <= newest - read.seq < _YOUNG:
                continue
            on = commit.branch if read.branch is None else read.branch
            head = self._reads.head_kind(on, read.id)
            if head is not None and head[0] > read.seq and head[1] == "patch":
                key, reach = (on, read.id), self.settings.reach
                self._recent.load(self._reads, key, read.seq, head[0], reach)

    def prepare(
        self,
        session: SessionId,
        message: Mapping[str, Any],
        commit: Commit,
        guard: Guard | None = None,
    ) -> CommitRequest:
        """A parsed commit, encoded as it will be stored; needs no lock."""
        operations = commit.operations
        original, texts = codec.encode_with_parts(
            message, [data for _, _, data in operations], self.settings.rich_values
        )
        if len(original) > self.settings.commit_bytes_max:
            raise CommitTooLarge(len(original), self.settings.commit_bytes_max)
        encoded: list[str | None] = texts  # type: ignore[assignment]
        patches = False
        for index, (op, _, _) in enumerate(operations):
            if op == "delete":
                encoded[index] = None
            elif op == "patch":
                patches = True
        merged = None
        merge = message.get("merge")
        if merge is not None:
            merged = merged_text(merge["sourceBranch"], merge["sourceSeq"])
        key = new_tuple(CommitKey, (session, commit.local_seq))
        return new_tuple(CommitRequest, (key, commit, original, encoded, guard, merged, patches))

    def transact(self, requests: Sequence[CommitRequest]) -> list[Applied | StoreError]:
        """Decide and write a batch. No answer is returned before the whole batch is durable."""
        if not self._expect_new:
            answers = self._transact(requests, expect_new=False)
            self._expect_new = not self.writing.distant and not any(map(_is_replayed, answers))
            return answers
        try:
            return self._transact(requests, expect_new=True)
        except KeyTaken:
            # A client that reconnects sends several commits again.
            self._expect_new = False
            return self._transact(requests, expect_new=False)

    def _transact(
        self, requests: Sequence[CommitRequest], expect_new: bool
    ) -> list[Applied | StoreError]:
        answers: list[Applied | StoreError] = []
        try:
            # Inside the try, so that an interrupt just after it is rolled back too.
            self.writing.begin()
            version = self.writing.version()
            current = version is not None and version == self._tip_version
            batch = Batch(
                self._writes,
                self._cache,
                self.settings,
                self.encode,
                self.decode,
                self._same_commit,
                self._clock,
                requests,
                self._tip if current else None,
                self._recent,
                expect_new,
            )
            for request in requests:
                try:
                    answers.append(batch.decide(request))
                except DATABASE_FAILURES:
                    # A failure of the database, not of one commit: the transaction may be gone, and
                    # later writes would be outside of any.
                    raise
                except StoreError as refusal:
                    answers.append(refusal)
            if batch:
                batch.look_below()
                with self.writing.together():
                    batch.write()
                    self.writing.commit()
                version = self.writing.version()
            else:
                self.writing.rollback()
        except BaseException:
            self.writing.rollback()
            raise
        batch.remember()
        tip = batch.tip
        if tip is not None:
            self._tip, self._tip_version = tip, version
        return answers

    # reading

    def state(
        self, id: EntityId, branch: BranchName = MAIN, seq: Seq | None = None
    ) -> State | None:
        """The document's newest revision at `seq` (default: now), and its content."""
        tables = self._reads
        if name_problem(id):
            replay.required_branch(tables, branch)
            return None
        if seq is None:
            return self._current(id, branch)
        on = replay.required_branch(tables, branch)
        replay.check_range(on, seq)
        return replay.state_at(tables, self.decode, on, id, seq)

    def document(self, id: EntityId, branch: BranchName) -> Document | None:
        """The document now, without the revision that `state` names."""
        if branch or name_problem(id):
            state = self.state(id, branch)
            return None if state is None else state.document
        row = self._reads.head_revision(branch, id)
        if row is None or row.data is None:
            return None
        if row.op == "patch":
            return self._patched(branch, id, (row.seq, row.op_index))
        document: Document = self.decode(row.data)
        return document

    def _current(self, id: EntityId, name: BranchName) -> State | None:
        tables = self._reads
        row = None if name and name_problem(name) else tables.head_revision(name, id)
        if row is None:
            on = replay.required_branch(tables, name)
            return replay.inherited(tables, self.decode, on, id, on.head_seq)
        return self.state_of(name, id, row)

    def state_of(self, name: BranchName, id: EntityId, row: RevisionRow) -> State:
        """The state that a head revision left."""
        document: Document | None = None
        if row.op == "set":
            assert row.data is not None
            document = self.decode(row.data)
        elif row.op == "patch":
            document = self._patched(name, id, (row.seq, row.op_index))
        return State(id, name, row.seq, row.op_index, row.op, document)

    def _patched(self, name: BranchName, id: EntityId, at: tuple[Seq, int]) -> Document:
        """A patched head: rebuilt once, then kept as text, so that each read gets its own copy."""
        cached = self._texts.get((name, id))
        if cached is None or cached[0] != at:
            on = replay.required_branch(self._reads, name)
            document = replay.rebuild(self._reads, self.decode, on, id, at).document
            if len(self._texts) >= 512:
                self._texts.clear()
            text = self.encode(document)
            if len(text) <= 64 * 1024:
                self._texts[name, id] = (at, text)
            return document
        decoded: Document = self.decode(cached[1])
        return decoded

    # branches

    def create_branch(
        self,
        name: BranchName,
        parent: BranchName = MAIN,
        fork_seq: Seq | None = None,
        by: CommitKey | None = None,
        guard: Guard | None = None,
        author: Author | None = None,
    ) -> Branch:
        """Fork `parent` at `fork_seq` (default: its newest change).

        With `by` the creation is a commit with its own seq and row; it is idempotent, and each name
        can be used only once. Without, as in the protocol's first version, nothing is recorded, and
        a branch that exists, even a deleted one, is returned as it is.
        """
        change = {"op": "create", "name": name, "parentBranch": parent, "forkSeq": fork_seq}

        def plan(tables: Tables) -> branching.Plan:
            return branching.plan_create(tables, name, parent, fork_seq, by is not None)

        return self._land_lifecycle(plan, LifecycleCommit(change, by, guard, author))

    def delete_branch(
        self,
        name: BranchName,
        by: CommitKey | None = None,
        guard: Guard | None = None,
        author: Author | None = None,
        merged_up_to: Seq | None = None,
    ) -> Branch:
        """Refuse further writes; the branch stays readable and may be forked.

        With `merged_up_to` a branch that was written after that seq is not deleted.
        """
        change = {"op": "delete", "name": name}

        def plan(tables: Tables) -> branching.Plan:
            return branching.plan_delete(tables, name, by is not None, merged_up_to)

        return self._land_lifecycle(plan, LifecycleCommit(change, by, guard, author))

    def _land_lifecycle(
        self, plan: Callable[[Tables], branching.Plan], commit: LifecycleCommit
    ) -> Branch:
        if commit.by is not None:
            _check_session(commit.by.session)

        def land() -> Branch:
            encode, decode, same = self.encode, self.decode, self._same_commit
            now = self._clock()
            return branch_lifecycle.land(self._writes, commit, plan, encode, decode, same, now)

        return self._in_transaction(land)

    # blobs

    def put_blob(self, data: bytes, content_type: str, expected: str | None = None) -> str:
        """Store bytes under their hash; the first content type is kept."""
        if name_problem(content_type):
            raise InvalidBlob(f"the content type of a blob {name_problem(content_type)}")
        from holdfast.store import hashing

        hash = hashing.blob_hash(data)
        if expected is not None and expected != hash:
            raise InvalidBlob(f"blob hash mismatch: expected {expected}, the bytes hash to {hash}")
        now = self._clock()
        self._in_transaction(lambda: self._writes.add_blob(hash, data, content_type, now))
        return hash

    # maintenance

    def import_lines(self, lines: Iterable[str]) -> int:
        """Fill an empty space from an export, all or nothing."""

        from holdfast.store import hashing, transfer
        from holdfast.store.verify import Verifier

        now = self._clock()

        def fill() -> int:
            commits = transfer.read_in(
                self._writes, lines, self.settings, self.encode, self.decode, hashing.blob_hash, now
            )
            # The digest detects accidental changes; it does not prove that the history is valid.
            report = Verifier(self._writes, self.encode, self.decode, structure=False).run()
            if report.findings:
                raise InvalidExport(f"the export is not sound: {report.findings[0]}")
            return commits

        return self._in_transaction(fill)

    def collect_garbage(self, blobs: bool, grace_seconds: float) -> Garbage:
        """Rebuild heads and snapshots, drop unnamed blobs if requested, and compact the file.

        A blob is put before the commit that names it, so blobs put within the grace period stay.
        """

        from holdfast.store.garbage import collect

        now, grace = self._clock(), grace_seconds if blobs else None

        def run(damaged: bool = False) -> Garbage:
            tables, encode, decode = self._writes, self.encode, self.decode
            return collect(tables, self.settings, encode, decode, now, grace, damaged=damaged)

        try:
            done = self._in_transaction(run)
        except DamagedStore:
            # Heads and snapshots may be what is damaged. If it is anything else, this fails too.
            done = self._in_transaction(lambda: run(damaged=True))
        self.writing.compact()
        return done

    def squash(self, before: int | str) -> Squashed:
        """Remove history before a seq or a time; see `retention.py`."""
        from holdfast.store import derive, retention

        def remove() -> Squashed:
            tables, encode, decode = self._writes, self.encode, self.decode
            base = retention.seq_before(tables, before)
            done = retention.squash(tables, encode, decode, base)
            derive.rebuild(tables, self.settings, encode, decode)
            return done

        done = self._in_transaction(remove)
        self._recent.forget()
        self.writing.compact()
        return done

    def _in_transaction(self, act: Callable[[], Made]) -> Made:
        try:
            self.writing.begin()
            done = act()
            self.writing.commit()
        except BaseException:
            self.writing.rollback()
            raise
        return done

    def next_local_seq(self, session: SessionId) -> LocalSeq:
        _check_session(session)
        return self._reads.next_local_seq(session)

    def close(self) -> None:
        self.reading.close()
        if self.writing is not self.reading:
            self.writing.close()


@lru_cache(maxsize=1024)
def _session_problem(session: SessionId) -> str:
    """Why a session id is invalid; cached, because the same few sessions commit repeatedly."""
    return name_problem(session)


def _check_session(session: SessionId) -> None:
    # Only strings are cached: another value may not be hashable.
    problem = _session_problem(session) if type(session) is str else name_problem(session)
    if problem:
        raise TransactionError(f"invalid session id: it {problem}")


def _is_replayed(answer: Applied | StoreError) -> bool:
    return isinstance(answer, Applied) and answer.replayed
