"""`Store`: an open space, and the methods other packages call.

A store may be used from several threads. Commits that arrive together share one write to the disk,
and reads do not wait for them.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from holdfast import system
from holdfast.errors import StoreError, UsageError
from holdfast.ids import MAIN, BranchName, EntityId, LocalSeq, Seq, SessionId
from holdfast.store import replay, roots
from holdfast.store.batch import CommitRequest
from holdfast.store.engine import Engine, Garbage
from holdfast.store.errors import (
    DamagedStore,
    InvalidBlob,
    MergeClash,
    QueryError,
    ReplayMismatch,
    UnknownSpace,
)
from holdfast.store.group import GroupCommit
from holdfast.store.model import (
    Applied,
    Branch,
    Commit,
    CommitKey,
    Document,
    Guard,
    Operation,
    State,
    name_problem,
    text_problem,
)
from holdfast.store.settings import StoreSettings
from holdfast.store.tables import Database

# Methods that few commands need import their modules themselves: start-up must stay fast.
if TYPE_CHECKING:
    from holdfast.store.author import Author
    from holdfast.store.graph import GraphLimits, QueryResult
    from holdfast.store.history import LogEntry
    from holdfast.store.merging import DocumentDiff, Point, Proposal
    from holdfast.store.retention import Squashed
    from holdfast.store.verify import VerifyReport

Made = TypeVar("Made")

BLOB_GRACE_SECONDS = 3_600.0
"""How long an unnamed blob is kept: the commit that names it may be on its way."""


class Store:
    """One space: documents on branches, written in transactions."""

    def __init__(
        self,
        writing: Database,
        reading: Database | None = None,
        settings: StoreSettings | None = None,
        clock: Callable[[], str] | None = None,
        space: str = "",
        open_reader: Callable[[], Database] | None = None,
    ) -> None:
        self.space = space
        self._open_reader = open_reader
        self.when_closed: Callable[[], object] | None = None
        """Called once the files are closed."""
        reading = writing if reading is None else reading
        self.engine = Engine(writing, reading, settings or StoreSettings(), clock or utc_now)
        self._group: GroupCommit[CommitRequest, Applied | StoreError] = GroupCommit(self._write)
        # One connection serves all readers in turn. A database in memory has only one connection,
        # shared with the writer; then reads wait for commits.
        self._reader = threading.RLock()
        self._shared = reading is writing

    def _write(self, requests: Any) -> list[Applied | StoreError]:
        if self._shared:
            with self._reader:
                return self.engine.transact(requests)
        return self.engine.transact(requests)

    # writing

    def transact(
        self, session: str, commit: Mapping[str, Any], guard: Guard | None = None
    ) -> Applied:
        """Commit (in wire form) and return when it is durable; raises if it is refused."""
        engine, by = self.engine, SessionId(session)
        parsed = engine.parse(by, commit)
        if commit.get("merge") is not None:
            self._check_merge(by, commit, parsed)
        # Checked before queueing unless another thread reads: writers do not wait for readers.
        if parsed.confirmed and self._reader.acquire(blocking=False):
            try:
                refusal = engine.refused_at_sight(by, parsed)
                if refusal is None:
                    engine.look_up_writes(parsed)
            finally:
                self._reader.release()
            if refusal is not None:
                raise refusal
        answer = self._group.do(engine.prepare(by, commit, parsed, guard))
        if isinstance(answer, StoreError):
            raise answer
        return answer

    def submit(
        self,
        session: str,
        commit: Mapping[str, Any],
        tell: Callable[[Applied | StoreError], None],
        guard: Guard | None = None,
    ) -> None:
        """Queue a commit; `tell` is called from another thread once its outcome is durable.

        A failure of the database itself is passed as a `StoreError` too.
        """
        by = SessionId(session)
        # Encoded before this returns: the caller may change its message afterwards.
        parsed = self.engine.parse(by, commit)
        if commit.get("merge") is not None:
            self._check_merge(by, commit, parsed)
        if parsed.confirmed and self._reader.acquire(blocking=False):
            try:
                self.engine.look_up_writes(parsed)
            finally:
                self._reader.release()
        request = self.engine.prepare(by, commit, parsed, guard)

        def tell_outcome(outcome: Applied | StoreError | BaseException) -> None:
            if isinstance(outcome, BaseException) and not isinstance(outcome, StoreError):
                outcome = StoreError(f"the database failed: {outcome}")
            tell(outcome)

        self._group.submit(request, tell_outcome)

    def _check_merge(self, by: SessionId, commit: Mapping[str, Any], parsed: Commit) -> None:
        """Refuse a commit that says it merges what it does not.

        Before the writer: a branch up to a seq does not change any more, and what the commit read
        is checked when it lands.
        """
        from holdfast.store import merging

        with self._reader:
            tables, decode = self.engine.tables, self.engine.decode
            if tables.seq_of(CommitKey(by, parsed.local_seq)) is None:
                merging.check_claim(tables, decode, parsed, commit["merge"])

    def next_local_seq(self, session: str) -> LocalSeq:
        """The first localSeq that a session has not used for an accepted commit."""
        with self._reader:
            return self.engine.next_local_seq(SessionId(session))

    # reading

    def read(self, id: str, branch: str = MAIN, seq: int | None = None) -> Document | None:
        """The document now, or as of `seq`; None if it does not exist there."""
        if seq is None:
            with self._reader:
                return self.engine.document(EntityId(id), BranchName(branch))
        state = self.state(id, branch, seq)
        return None if state is None else state.document

    def state(self, id: str, branch: str = MAIN, seq: int | None = None) -> State | None:
        """The newest revision of a document at that point, and the document it left."""
        at = None if seq is None else Seq(seq)
        with self._reader:
            return self.engine.state(EntityId(id), BranchName(branch), at)

    @contextmanager
    def reading(self) -> Iterator[Engine]:
        """The engine, for several reads in a row; other readers wait."""
        with self._reader:
            yield self.engine

    def documents(self, branch: str = MAIN, seq: int | None = None) -> list[State]:
        """Every document that exists on a branch, now or as of `seq`, by id."""
        return list(self.stream(branch, seq))

    def stream(
        self, branch: str = MAIN, seq: int | None = None, prefix: str = "", after: str = ""
    ) -> Iterator[State]:
        """The same one by one, all as of one moment, however slowly they are consumed.

        Only ids that start with `prefix` and follow `after`. Other readers do not wait.
        """
        from holdfast.store.listing import PAGE

        return self._stream(branch, seq, prefix, after, PAGE)

    def _stream(
        self, branch: str, seq: int | None, prefix: str, after: str, first: int
    ) -> Iterator[State]:
        from holdfast.store import listing

        with self._reader:
            point = self._point(branch, seq)

        def read_page(at: str, limit: int) -> tuple[list[State], str | None]:
            with self._reader:
                tables, decode = self.engine.tables, self.engine.decode
                return listing.page(tables, decode, point, prefix, at, limit)

        return listing.stream(read_page, after, first)

    def page(
        self,
        branch: str = MAIN,
        seq: int | None = None,
        prefix: str = "",
        after: str = "",
        limit: int = 100,
    ) -> tuple[list[State], bool]:
        """Up to `limit` documents after an id, by id, and whether there are more."""
        from itertools import islice

        found = list(islice(self._stream(branch, seq, prefix, after, limit + 1), limit + 1))
        return found[:limit], len(found) > limit

    def scan(self, first: str, last: str, limit: int = 1_000_000) -> list[State]:
        """The documents of the default branch with ids from `first` up to `last`, by id.

        Deleted ones are left out.
        """
        for bound in (first, last):
            problem = text_problem(bound)
            if problem:
                raise QueryError(f"a scan cannot start or end at {bound!r}: it {problem}")
        with self._reader:
            rows = self.engine.tables.heads_between(MAIN, EntityId(first), EntityId(last), limit)
            states = (self.engine.state_of(MAIN, id, row) for id, row in rows)
            return [state for state in states if state.document is not None]

    def query(self, query: Mapping[str, Any], limits: GraphLimits | None = None) -> QueryResult:
        """Every document that a graph query reaches, all as of one moment.

        Honours `branch` and `atSeq`; `serverSeq` is the newest seq even then.
        """
        from holdfast.store.graph import (
            DEFAULT_LIMITS,
            Loaded,
            QueryResult,
            point_of,
            query_graph,
        )

        branch, at = point_of(query)
        with self._at_one_moment():
            engine = self.engine
            on = replay.required_branch(engine.tables, branch)
            if at is not None:
                replay.check_range(on, at)

            def load(id: EntityId) -> Loaded | None:
                state = engine.state(id, branch, at)
                return None if state is None else Loaded(state.seq, state.document)

            entities = query_graph(load, query, space=self.space, limits=limits or DEFAULT_LIMITS)
            return QueryResult(engine.tables.newest_seq(), tuple(entities))

    @contextmanager
    def _at_one_moment(self) -> Iterator[None]:
        """All reads inside see one state of the space."""
        with self._reader:
            try:
                self.engine.reading.begin_reading()
                yield
            finally:
                self.engine.reading.rollback()

    def author_of(self, state: State) -> Author | None:
        """The author of a document as it is; of a merged one, who wrote it on the branch."""
        from holdfast.store.author import author_in

        tables, decode, seq = self.engine.tables, self.engine.decode, state.seq
        with self._reader:
            while (row := tables.commit_at(seq)) is not None:
                if row.merged is None:
                    return author_in(decode(row.original))
                source, upto = decode(row.merged)
                below = tables.seqs_of(BranchName(source), state.id, Seq(upto + 1), 1)
                if not below:
                    return author_in(decode(row.original))
                seq = below[0]
            return None

    def newest_seq(self) -> Seq:
        """The seq of the newest commit of the space."""
        with self._reader:
            return self.engine.tables.newest_seq()

    # branches

    def branches(self) -> list[Branch]:
        """Every branch, deleted ones too, by name."""
        with self._reader:
            return self.engine.tables.branches()

    def branch(self, name: str) -> Branch | None:
        with self._reader:
            known = not name or not name_problem(name)
            return self.engine.tables.branch(BranchName(name)) if known else None

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
            found = (decode(merged) for _, _, merged in self.engine.tables.merges())
            return {name: Seq(seq) for name, seq in found}

    def diff(
        self,
        branch: str,
        against: str | None = None,
        seq: int | None = None,
        against_seq: int | None = None,
    ) -> list[DocumentDiff]:
        """How a branch differs from its fork point, or from another branch or seq."""
        from holdfast.store import merging

        with self._reader:
            tables, decode = self.engine.tables, self.engine.decode
            after = self._point(branch, seq)
            if against is None and against_seq is None:
                before = merging.fork_point(tables, after.branch)
            else:
                before = self._point(branch if against is None else against, against_seq)
            return merging.differences(tables, decode, before, after)

    def _point(self, name: str, seq: int | None) -> Point:
        from holdfast.store.merging import Point, now

        point = now(self.engine.tables, BranchName(name))
        if seq is None:
            return point
        replay.check_range(point.branch, Seq(seq))
        return Point(point.branch, Seq(seq))

    def propose_merge(
        self, source: str, target: str = MAIN, resolutions: Mapping[str, Any] | None = None
    ) -> Proposal:
        """The result a merge would have; nothing is written."""
        from holdfast.store import merging

        with self._reader:
            return merging.propose(
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

    # history

    def log(
        self,
        id: str | None = None,
        branch: str | None = None,
        before: int | None = None,
        limit: int = 50,
    ) -> list[LogEntry]:
        """Commits, newest first: of the space, of a branch, or of one document on a branch."""
        from holdfast.store.history import log

        with self._reader:
            return log(self.engine.tables, self.engine.decode, id, branch, before, limit)

    def chain(self) -> tuple[Seq, str]:
        """The newest seq, and the hash that stands for the whole history up to it."""
        with self._reader:
            seq, link = self.engine.tables.newest_link()
            return seq, bytes(link).hex()

    def broken_link(self) -> int | None:
        """The seq of the first commit that does not match its hash in the chain; None if all do."""
        from holdfast.store.history import broken_link

        with self._reader, self.engine.reading.maintenance(), self._at_one_moment():
            return broken_link(self.engine.tables)

    # maintenance

    def export(self, space: str | None = None) -> Generator[str, None, None]:
        """Every line of an export, all as of one moment, however slowly they are consumed.

        It uses its own connection. A database in memory has only one, so there the lines are
        collected first, and other readers do not wait for the consumer.
        """
        from holdfast.store.tables import Tables
        from holdfast.store.transfer import lines

        name, settings = self.space if space is None else space, self.engine.settings
        if self._open_reader is None:
            with self._at_one_moment():
                collected = list(lines(self.engine.tables, name, settings))
            yield from collected
            return
        self.newest_seq()  # raises if the store is closed
        own = self._open_reader()
        try:
            with own.maintenance():
                own.begin_reading()
                try:
                    yield from lines(Tables(own), name, settings)
                finally:
                    own.rollback()
        finally:
            own.close()

    def import_lines(self, lines: Iterable[str]) -> int:
        """Fill this empty space from an export, all or nothing; returns the number of commits."""
        return self._exclusively(lambda: self.engine.import_lines(lines), long=True)

    def verify(
        self, progress: Callable[[int, int], None] = lambda done, total: None
    ) -> VerifyReport:
        """Check every invariant that can be checked at rest."""
        from holdfast.store.verify import Verifier

        with self._reader, self.engine.reading.maintenance(), self._at_one_moment():
            tables, engine = self.engine.tables, self.engine
            return Verifier(tables, engine.encode, engine.decode, progress).run()

    def collect_garbage(
        self, blobs: bool = False, grace_seconds: float = BLOB_GRACE_SECONDS
    ) -> Garbage:
        """Rebuild derived state, drop unnamed blobs if requested, and compact the database.

        A blob put within the grace period is kept: the commit that names it may be on its way.
        """
        return self._exclusively(
            lambda: self.engine.collect_garbage(blobs, grace_seconds), long=True
        )

    def squash(self, before: int | str) -> Squashed:
        """Remove the history before a seq or a time (in the stored format).

        Documents, branches and the hash chain stay; older seqs can no longer be read.
        """
        return self._exclusively(lambda: self.engine.squash(before), long=True)

    # blobs

    def put_blob(
        self,
        data: bytes,
        content_type: str = "application/octet-stream",
        expected: str | None = None,
    ) -> str:
        """Store bytes; returns their hash."""
        return self._exclusively(lambda: self.engine.put_blob(data, content_type, expected))

    def blob(self, hash: str) -> tuple[bytes, str]:
        """The bytes with this hash, and their content type; checked against the hash."""
        from holdfast.store.hashing import blob_hash

        with self._reader:
            found = None if name_problem(hash) else self.engine.tables.blob(hash)
        if found is None:
            raise InvalidBlob(f"there is no blob {hash}")
        data, content_type, size, sound = found
        if not sound or size != len(data) or blob_hash(data) != hash:
            raise DamagedStore(f"blob {hash} is damaged: its bytes do not match its hash")
        return data, content_type

    def _exclusively(self, act: Callable[[], Made], long: bool = False) -> Made:
        def alone() -> Made:
            # The writer's lock first, then the reader's: the order that `_write` takes them in.
            with self._reader if self._shared else nullcontext():
                if not long:
                    return act()
                with self.engine.writing.maintenance():
                    return act()

        return self._group.exclusively(alone)

    def close(self) -> None:
        self._group.close()
        with self._reader:
            self.engine.close()
        if self.when_closed is not None:
            self.when_closed()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def open_store(
    url: str | Path,
    space: str,
    settings: StoreSettings | None = None,
    clock: Callable[[], str] | None = None,
    create: bool = True,
    copies: bool = True,
) -> Store:
    """Open a space: a directory or file (SQLite), `memory:`, or `postgresql://…`.

    A missing space is created, unless `create` is false: then this raises `UnknownSpace`. To only
    read a space, open it with `create=False`: where this user may not write, that opens a temporary
    copy, and every write is refused. With `copies=False` opening it is refused instead.
    """
    text = str(url)
    roots.guard(space)
    if text.startswith(("postgresql://", "postgres://")):
        from holdfast.store.postgres import PostgresDatabase

        return _store_of(
            PostgresDatabase(text, space, create),
            lambda: PostgresDatabase(text, space, create=False),
            settings,
            clock,
            space,
        )
    path = roots.resolve(url, space)
    if path is None and not text.lower().startswith("memory:"):
        # Kept in memory, its data would be lost without warning.
        raise UsageError(
            f"unknown kind of store: {text.partition(':')[0]}:…",
            "use a directory, a file, memory: or postgresql://…, as in HOLDFAST_DATABASE_URL",
        )
    from holdfast.store.sqlite import SqliteDatabase, may_write

    def unknown() -> UnknownSpace:
        return UnknownSpace(space, [name for name in roots.spaces(url) if name != space])

    if path is None:
        if not create:
            raise unknown()
        return Store(SqliteDatabase(None), None, settings, clock, space)
    if not create and copies and roots.is_made(path) and not may_write(path):
        import weakref

        from holdfast.store.copies import copy_of

        copy = copy_of(path)
        try:
            store = _store_of(
                SqliteDatabase(copy.path, unknown, frozen=True),
                lambda: SqliteDatabase(copy.path, unknown, frozen=True),
                settings,
                clock,
                space,
            )
        except BaseException:
            copy.discard()
            raise
        store.when_closed = weakref.finalize(store, copy.discard)
        return store
    return _store_of(
        SqliteDatabase(path, None if create else unknown),
        # The first connection opened or created it; if it is missing now, it was deleted.
        lambda: SqliteDatabase(path, unknown),
        settings,
        clock,
        space,
    )


def _store_of(
    writing: Database,
    open_reader: Callable[[], Database],
    settings: StoreSettings | None,
    clock: Callable[[], str] | None,
    space: str,
) -> Store:
    """A store with its second connection open; if that fails, the first is closed."""
    try:
        reading = open_reader()
    except BaseException:
        writing.close()
        raise
    return Store(writing, reading, settings, clock, space, open_reader)


def utc_now(now_ms: Callable[[], int] = system.now_ms) -> str:
    """The time in the stored format: UTC, ISO 8601, milliseconds."""
    milliseconds = now_ms()
    return f"{_second(milliseconds // 1_000)}.{milliseconds % 1_000:03d}Z"


@lru_cache(maxsize=2)
def _second(epoch: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(epoch))
