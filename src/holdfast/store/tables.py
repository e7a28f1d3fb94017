"""Typed access to the eight tables: the store's only SQL besides the schemas.

Both engines accept the same statements; `sqlite.py` and `postgres.py` have what differs (the
schema, the connection, the lock). Parameters are written `$1`, `$2`, ….
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple, Protocol

from holdfast.ids import BranchName, EntityId, LocalSeq, Seq, SessionId
from holdfast.store import checks
from holdfast.store.errors import DamagedStore
from holdfast.store.model import Branch, CommitKey

Row = tuple[Any, ...]

TABLES = (
    "authorization",
    "blob_store",
    "branch",
    "commit",
    "head",
    "invocation",
    "revision",
    "snapshot",
)

SCHEMA_VERSION = 6
"""The layout of the tables at rest. Tables since version 3 are brought up to date when opened.

3  seq revisions; documents and patches inline; no semantic hashes
4  on SQLite the index of commit keys has localSeq first
5  a blob says when it was last put
6  checksums in every row, a hash chain over commits, what a commit merged, and the oldest seq that
   a branch can be read at; on SQLite a checksum in every page
"""


class Database(Protocol):
    """One connection. `rows` answers; `run` and `run_many` write."""

    distant: bool
    """Whether a question costs a trip to another process, so that few should be asked."""

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]: ...
    def run(self, sql: str, parameters: Sequence[Any] = ()) -> None: ...
    def run_many(self, sql: str, parameters: Iterable[Sequence[Any]]) -> None: ...
    def begin(self) -> None:
        """Start a write transaction and be the only one writing to this space until it ends."""

    def commit(self) -> None:
        """Make it durable: when this returns, the transaction survives a crash."""

    def rollback(self) -> None: ...
    def version(self) -> int | None:
        """In a transaction, a number that is the same only if nothing was written since.

        None if asking for it costs as much as any other question.
        """

    def begin_reading(self) -> None:
        """Start a transaction whose reads all see one state; end it with `rollback`."""

    def together(self) -> AbstractContextManager[object]:
        """Writes inside may be sent without waiting for each; failures show at the end."""

    def maintenance(self) -> AbstractContextManager[object]:
        """Statements inside may take long. Not to be entered in a transaction."""

    def replace_tables(self, tables: Sequence[str]) -> None:
        """Empty tables that are too damaged to be emptied row by row."""

    def structure_problems(self) -> list[str]:
        """What the database finds wrong with its own files; empty if it finds nothing."""

    def tables(self) -> list[str]: ...
    def compact(self) -> None: ...
    def close(self) -> None: ...


class RevisionRow(NamedTuple):
    """A stored revision, its data still encoded."""

    seq: Seq
    op_index: int
    op: Any
    data: str | None


class CommitRow(NamedTuple):
    """A stored commit, its JSON still encoded."""

    seq: Seq
    branch: BranchName
    session: SessionId
    local_seq: LocalSeq
    original: str
    resolution: str
    created_at: str = ""
    merged: str | None = None
    """Which branch it merged up to which seq, as `[name, seq]`."""
    chain: bytes = b""
    invocation_ref: str | None = None
    authorization_ref: str | None = None

    @property
    def key(self) -> CommitKey:
        return CommitKey(self.session, self.local_seq)

    @property
    def squashed(self) -> bool:
        """Whether its text was removed by retention; its digest stands in its place."""
        return self.original.startswith(SQUASHED)

    @property
    def digest(self) -> bytes:
        """The digest of its text as it was committed."""
        if self.squashed:
            return bytes.fromhex(self.original[len(SQUASHED) : len(SQUASHED) + 64])
        return checks.text_digest(self.original)

    def linked(self, previous: bytes) -> bytes:
        """Its hash in the chain, computed from its columns and the hash before it."""
        return checks.chain(
            previous,
            self.seq,
            self.branch,
            self.session,
            self.local_seq,
            self.digest,
            self.resolution,
            self.created_at,
        )


SQUASHED = '{"squashed":"'
"""How the text of a commit begins that retention removed; its SHA-256 follows, as hex."""

NewCommit = tuple[Seq, BranchName, SessionId, LocalSeq, str, str, str, str | None, bytes]
"""A commit to be stored: the columns with which a `CommitRow` begins."""

_BRANCH = (
    "name, parent_branch, fork_seq, created_seq, head_seq, status, created_at, deleted_at, "
    "oldest_seq"
)
_COMMIT = (
    "seq, branch, session_id, local_seq, original, resolution, created_at, merged, chain, "
    "invocation_ref, authorization_ref"
)
_HEAD_OF = (
    "FROM head h LEFT JOIN revision r "
    "ON r.branch = h.branch AND r.id = h.id AND r.seq = h.seq AND r.op_index = h.op_index "
)
_COMMIT_BY_KEY = f'SELECT {_COMMIT} FROM "commit" WHERE session_id = $1 AND local_seq = $2'
_COMMIT_AT = f'SELECT {_COMMIT} FROM "commit" WHERE seq = $1'
_HEAD_REVISION = (
    f"SELECT r.seq, r.op_index, r.op, r.data, h.crc {_HEAD_OF}WHERE h.branch = $1 AND h.id = $2"
)
_HEAD_KIND = f"SELECT h.seq, r.op, h.crc, r.crc {_HEAD_OF}WHERE h.branch = $1 AND h.id = $2"
_NEWEST = Seq(2**62)


class Tables:
    """Typed access to the rows of one space."""

    def __init__(self, database: Database) -> None:
        self._db = database

    # commits

    def newest_seq(self) -> Seq:
        return Seq(self._db.rows('SELECT coalesce(max(seq), 0) FROM "commit"')[0][0])

    def newest_link(self) -> tuple[Seq, bytes]:
        """The seq of the newest commit, and its hash in the chain."""
        found = self._db.rows('SELECT seq, chain FROM "commit" ORDER BY seq DESC LIMIT 1')
        return (Seq(found[0][0]), found[0][1]) if found else (Seq(0), checks.GENESIS_CHAIN)

    def link_at(self, seq: int) -> bytes | None:
        """The hash of the commit at a seq; before the first one, what it covers."""
        if seq <= 0:
            return checks.GENESIS_CHAIN
        found = self._db.rows('SELECT chain FROM "commit" WHERE seq = $1', (seq,))
        return bytes(found[0][0]) if found else None

    def _checked(self, row: CommitRow) -> CommitRow:
        """A commit whose columns match its hash, or `DamagedStore`."""
        previous = self.link_at(row.seq - 1)
        if previous is None or not is_linked(row, previous):
            raise damaged_commit(row.seq)
        return row

    def _checked_run(self, rows: list[CommitRow]) -> list[CommitRow]:
        """The same for commits that follow each other, oldest first."""
        previous = self.link_at(rows[0].seq - 1) if rows else None
        seq = rows[0].seq if rows else 0
        for row in rows:
            if previous is None or row.seq != seq or not is_linked(row, previous):
                raise damaged_commit(seq)
            previous, seq = row.chain, Seq(seq + 1)
        return rows

    def commit_by_key(self, key: CommitKey) -> CommitRow | None:
        found = self._db.rows(
            _COMMIT_BY_KEY,
            (key.session, key.local_seq),
        )
        return self._checked(CommitRow(*found[0])) if found else None

    def commits_by_keys(self, keys: Iterable[CommitKey]) -> dict[CommitKey, CommitRow] | None:
        """The stored commits among these keys; None if single lookups are as fast."""
        wanted = list(keys)
        if len(wanted) < (2 if self._db.distant else 8):
            return None
        found = self._db.rows(
            _commits_by_key(len(wanted), self._db.distant), list(chain.from_iterable(wanted))
        )
        rows = (self._checked(CommitRow(*columns)) for columns in found)
        return {row.key: row for row in rows}

    def commit_at(self, seq: Seq) -> CommitRow | None:
        found = self._db.rows(_COMMIT_AT, (seq,))
        return self._checked(CommitRow(*found[0])) if found else None

    def key_at(self, seq: Seq) -> CommitKey | None:
        """The key of the commit at a seq."""
        found = self._db.rows('SELECT session_id, local_seq FROM "commit" WHERE seq = $1', (seq,))
        return CommitKey(*found[0]) if found else None

    def seq_of(self, key: CommitKey) -> Seq | None:
        found = self._db.rows(
            'SELECT seq FROM "commit" WHERE session_id = $1 AND local_seq = $2',
            (key.session, key.local_seq),
        )
        return Seq(found[0][0]) if found else None

    def next_local_seq(self, session: SessionId) -> LocalSeq:
        """One more than the session's newest. On SQLite this scans newer keys of other sessions."""
        found = self._db.rows(
            'SELECT local_seq FROM "commit" WHERE session_id = $1 ORDER BY local_seq DESC LIMIT 1',
            (session,),
        )
        return LocalSeq(found[0][0] + 1 if found else 1)

    def commits(self, after: Seq, limit: int) -> list[CommitRow]:
        """Commits with a seq above `after`, oldest first."""
        return self._checked_run(self.commits_unchecked(after, limit))

    def commits_unchecked(self, after: Seq, limit: int) -> list[CommitRow]:
        """The same, whatever state they are in."""
        sql = f'SELECT {_COMMIT} FROM "commit" WHERE seq > $1 ORDER BY seq LIMIT $2'
        return [CommitRow(*row) for row in self._db.rows(sql, (after, limit))]

    def commits_before(self, seq: Seq, limit: int) -> list[CommitRow]:
        """Commits with a seq below `seq`, newest first."""
        sql = f'SELECT {_COMMIT} FROM "commit" WHERE seq < $1 ORDER BY seq DESC LIMIT $2'
        rows = [CommitRow(*row) for row in self._db.rows(sql, (seq, limit))]
        return self._checked_run(rows[::-1])[::-1]

    def merges(self) -> list[tuple[Seq, BranchName, str]]:
        """Seq, branch and `[source, seq]` of every merge, oldest first."""
        sql = 'SELECT seq, branch, merged FROM "commit" WHERE merged IS NOT NULL ORDER BY seq'
        return [(Seq(row[0]), BranchName(row[1]), row[2]) for row in self._db.rows(sql)]

    def first_commit_since(self, at: str) -> Seq | None:
        """The oldest commit at or after a time, found by halving: times do not go back."""
        low, high = 1, self.newest_seq() + 1
        while low < high:
            middle = (low + high) // 2
            found = self._db.rows('SELECT created_at FROM "commit" WHERE seq = $1', (middle,))
            if found and found[0][0] >= at:
                high = middle
            else:
                low = middle + 1
        return Seq(low) if low <= self.newest_seq() else None

    def add_commits(self, rows: Iterable[NewCommit]) -> None:
        self._db.run_many(
            'INSERT INTO "commit" (seq, branch, session_id, local_seq, original, resolution, '
            "created_at, merged, chain) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
            rows,
        )

    def put_texts(self, rows: Iterable[tuple[Seq, str]]) -> None:
        """Replace the texts of commits by what retention leaves of them."""
        self._db.run_many('UPDATE "commit" SET original = $2 WHERE seq = $1', rows)

    # revisions

    def add_revisions(self, rows: Iterable[Sequence[Any]]) -> None:
        """Rows of (branch, id, seq, op_index, op, data)."""
        self.put_revisions((*row, checks.revision_crc(*row)) for row in rows)

    def put_revisions(self, rows: Iterable[Sequence[Any]]) -> None:
        """Rows of (branch, id, seq, op_index, op, data, crc)."""
        self._db.run_many(
            "INSERT INTO revision (branch, id, seq, op_index, op, data, commit_seq, crc) "
            "VALUES ($1, $2, $3, $4, $5, $6, $3, $7)",
            rows,
        )

    def drop_revisions(self, rows: Iterable[Sequence[Any]]) -> None:
        """Rows of (branch, id, seq, op_index)."""
        self._db.run_many(
            "DELETE FROM revision WHERE branch = $1 AND id = $2 AND seq = $3 AND op_index = $4",
            rows,
        )

    def revision_sum(self, branch: str, id: str, seq: int, op_index: int) -> int:
        """The checksum of a revision; 0 if it is missing."""
        found = self._db.rows(
            "SELECT crc FROM revision WHERE branch = $1 AND id = $2 AND seq = $3 AND op_index = $4",
            (branch, id, seq, op_index),
        )
        return int(found[0][0]) if found else 0

    def newest_revision(self, branch: BranchName, id: EntityId, seq: Seq) -> RevisionRow | None:
        """The newest revision of a document on this branch at or before `seq`."""
        found = self._db.rows(
            "SELECT seq, op_index, op, data, crc FROM revision "
            "WHERE branch = $1 AND id = $2 AND seq <= $3 "
            "ORDER BY seq DESC, op_index DESC LIMIT 1",
            (branch, id, seq),
        )
        return checked_revision(branch, id, found[0]) if found else None

    def head_revision(self, branch: BranchName, id: EntityId) -> RevisionRow | None:
        """The newest revision of a document on this branch.

        A head that is missing, damaged or points to nothing is not believed: it is derived, and the
        revisions know better.
        """
        try:
            found = self._db.rows(_HEAD_REVISION, (branch, id))
        except DamagedStore:
            found = []
        if found:
            seq, op_index, op, data, crc = found[0]
            if checks.revision_crc(branch, id, seq, op_index, op, data) == crc:
                return RevisionRow(seq, op_index, op, data)
        return self.newest_revision(branch, id, _NEWEST)

    def revisions_back(
        self, branch: BranchName, id: EntityId, at: tuple[int, int], after: Seq, page: int = 64
    ) -> Iterator[RevisionRow]:
        """Revisions at or before `at` and with a seq above `after`, newest first."""
        seq, op_index = at
        while True:
            found = self._db.rows(
                "SELECT seq, op_index, op, data, crc FROM revision "
                "WHERE branch = $1 AND id = $2 "
                "AND seq > $3 AND seq <= $4 AND (seq, op_index) <= ($4, $5) "
                "ORDER BY seq DESC, op_index DESC LIMIT $6",
                (branch, id, after, seq, op_index, page),
            )
            for row in found:
                yield checked_revision(branch, id, row)
            if len(found) < page:
                return
            seq, op_index = found[-1][0], found[-1][1] - 1

    def writes_since(
        self, branch: BranchName, id: EntityId, after: Seq, limit: int = 2**31
    ) -> list[RevisionRow]:
        """The newest `limit` revisions above `after`, newest first."""
        few = self._db.rows(
            "SELECT seq, op_index, op, data, crc FROM revision "
            "WHERE branch = $1 AND id = $2 AND seq > $3 ORDER BY seq, op_index LIMIT $4",
            (branch, id, after, min(limit, 32)),
        )
        if len(few) == 32 < limit:
            # Usually there are one or two, and scanning forwards is faster.
            few = self._db.rows(
                "SELECT seq, op_index, op, data, crc FROM revision "
                "WHERE branch = $1 AND id = $2 AND seq > $3 "
                "ORDER BY seq DESC, op_index DESC LIMIT $4",
                (branch, id, after, limit),
            )[::-1]
        return [checked_revision(branch, id, row) for row in reversed(few)]

    def commits_exceed(self, branch: BranchName, id: EntityId, after: Seq, most: int) -> bool:
        """Whether more than so many commits above `after` wrote a document; reads no data."""
        found = self._db.rows(
            "SELECT count(*) FROM (SELECT DISTINCT seq FROM revision "
            "WHERE branch = $1 AND id = $2 AND seq > $3 LIMIT $4) AS commits",
            (branch, id, after, most + 1),
        )
        return int(found[0][0]) > most

    def writes_between(
        self, branch: BranchName, id: EntityId, after: Seq, before: Seq
    ) -> list[RevisionRow]:
        """The revisions with a seq above `after` and below `before`, newest first."""
        found = self._db.rows(
            "SELECT seq, op_index, op, data, crc FROM revision "
            "WHERE branch = $1 AND id = $2 AND seq > $3 AND seq < $4 "
            "ORDER BY seq DESC, op_index DESC",
            (branch, id, after, before),
        )
        return [checked_revision(branch, id, row) for row in found]

    def seqs_of(self, branch: BranchName, id: EntityId, before: Seq, limit: int) -> list[Seq]:
        """The seqs at which a document was written on this branch, newest first."""
        sql = (
            "SELECT DISTINCT seq FROM revision WHERE branch = $1 AND id = $2 AND seq < $3 "
            "ORDER BY seq DESC LIMIT $4"
        )
        return [Seq(row[0]) for row in self._db.rows(sql, (branch, id, before, limit))]

    def revisions_of(self, branch: BranchName, id: EntityId) -> list[RevisionRow]:
        """Every revision of a document on this branch, oldest first."""
        sql = (
            "SELECT seq, op_index, op, data, crc FROM revision "
            "WHERE branch = $1 AND id = $2 ORDER BY seq, op_index"
        )
        return [checked_revision(branch, id, row) for row in self._db.rows(sql, (branch, id))]

    def all_revisions(self, page: int = 2_000) -> Iterator[Row]:
        """(branch, id, seq, op_index, op, data, crc) of every revision, in that order.

        Whatever state they are in.
        """
        at: tuple[Any, ...] = ("", "", -(2**62), 0)
        while True:
            found = self._db.rows(
                "SELECT branch, id, seq, op_index, op, data, crc FROM revision "
                "WHERE (branch, id, seq, op_index) > ($1, $2, $3, $4) "
                "ORDER BY branch, id, seq, op_index LIMIT $5",
                (*at, page),
            )
            yield from found
            if len(found) < page:
                return
            at = tuple(found[-1][:4])

    def revisions_of_commit(
        self, seq: Seq, ids: Iterable[EntityId], branch: BranchName
    ) -> list[tuple[Any, ...]]:
        """(branch, id, seq, op_index, op, data) of the named documents at one seq, in op order."""
        found: list[Row] = []
        for id in dict.fromkeys(ids):
            found += self._db.rows(
                "SELECT branch, id, seq, op_index, op, data FROM revision "
                "WHERE branch = $1 AND id = $2 AND seq = $3",
                (branch, id, seq),
            )
        return sorted(found, key=lambda row: int(row[3]))

    def orphans(self) -> list[Row]:
        """Revisions without a commit, or whose commit is on another branch or seq."""
        return self._db.rows(
            "SELECT r.branch, r.id, r.seq, r.op_index FROM revision r "
            'LEFT JOIN "commit" c ON c.seq = r.commit_seq '
            "WHERE c.seq IS NULL OR c.branch <> r.branch OR r.seq <> r.commit_seq"
        )

    # heads

    def head(self, branch: BranchName, id: EntityId) -> tuple[Seq, int] | None:
        found = self._db.rows(
            "SELECT seq, op_index FROM head WHERE branch = $1 AND id = $2", (branch, id)
        )
        return (Seq(found[0][0]), found[0][1]) if found else None

    def head_kind(self, branch: BranchName, id: EntityId) -> tuple[Seq, str] | None:
        """The seq and the kind (set, patch, delete) of a document's head on this branch."""
        try:
            found = self._db.rows(_HEAD_KIND, (branch, id))
        except DamagedStore:
            found = []
        if found:
            seq, op, of_head, of_revision = found[0]
            if of_head == of_revision:
                return Seq(seq), op
        row = self.newest_revision(branch, id, _NEWEST)
        return None if row is None else (row.seq, row.op)

    def head_and_key(self, branch: BranchName, id: EntityId, key: CommitKey) -> Row | None:
        """(seq, op, session, localSeq) of a document's head, and whether `key` has landed."""
        found = self._db.rows(
            "SELECT h.seq, r.op, c.session_id, c.local_seq, EXISTS "
            '(SELECT 1 FROM "commit" WHERE session_id = $3 AND local_seq = $4) '
            "FROM head h JOIN revision r "
            "ON r.branch = h.branch AND r.id = h.id AND r.seq = h.seq AND r.op_index = h.op_index "
            'JOIN "commit" c ON c.seq = h.seq WHERE h.branch = $1 AND h.id = $2',
            (branch, id, key.session, key.local_seq),
        )
        return found[0] if found else None

    def heads_between(
        self, branch: BranchName, first: EntityId, last: EntityId, limit: int
    ) -> list[tuple[EntityId, RevisionRow]]:
        """The head revisions of documents with an id from `first` up to `last`, by id."""
        found = self._db.rows(
            f"SELECT h.id, h.seq, h.op_index, r.op, r.data, h.crc, r.crc {_HEAD_OF}"
            "WHERE h.branch = $1 AND h.id >= $2 AND h.id <= $3 ORDER BY h.id LIMIT $4",
            (branch, first, last, limit),
        )
        return [(EntityId(row[0]), self._believed(branch, row)) for row in found]

    def heads_after(
        self, branch: BranchName, after: EntityId, prefix: str, limit: int
    ) -> list[tuple[EntityId, RevisionRow]]:
        """The head revisions of documents with an id above `after` and from `prefix` on, by id."""
        found = self._db.rows(
            f"SELECT h.id, h.seq, h.op_index, r.op, r.data, h.crc, r.crc {_HEAD_OF}"
            "WHERE h.branch = $1 AND h.id > $2 AND h.id >= $3 ORDER BY h.id LIMIT $4",
            (branch, after, prefix, limit),
        )
        return [(EntityId(row[0]), self._believed(branch, row)) for row in found]

    def _believed(self, branch: BranchName, row: Row) -> RevisionRow:
        """The revision of a head that was read with it; of a damaged head, the newest one."""
        id, seq, op_index, op, data, of_head, crc = row
        if of_head != crc:
            newest = self.newest_revision(branch, id, _NEWEST)
            if newest is None:
                raise DamagedStore(f"the head of {id} has no revision")
            return newest
        return checked_revision(branch, id, (seq, op_index, op, data, crc))

    def put_heads(self, rows: Iterable[Sequence[Any]]) -> None:
        """Rows of (branch, id, seq, op_index, crc); each becomes the head."""
        self._db.run_many(
            "INSERT INTO head (branch, id, seq, op_index, crc) VALUES ($1, $2, $3, $4, $5) "
            "ON CONFLICT (branch, id) "
            "DO UPDATE SET seq = excluded.seq, op_index = excluded.op_index, crc = excluded.crc",
            rows,
        )

    def heads(self, branch: BranchName) -> list[tuple[EntityId, Seq, int]]:
        sql = "SELECT id, seq, op_index FROM head WHERE branch = $1 ORDER BY id"
        return [(EntityId(i), Seq(s), o) for i, s, o in self._db.rows(sql, (branch,))]

    def all_heads(self) -> Iterator[Row]:
        """(branch, id, seq, op_index, crc) of every head, in that order."""
        return self._paged(
            "SELECT branch, id, seq, op_index, crc FROM head WHERE (branch, id) > ($1, $2) "
            "ORDER BY branch, id LIMIT $3",
            ("", ""),
            2,
        )

    def _paged(
        self, sql: str, start: tuple[Any, ...], width: int, page: int = 2_000
    ) -> Iterator[Row]:
        """Every row of a question that begins after a key; the key is the first columns."""
        at = start
        while True:
            found = self._db.rows(sql, (*at, page))
            yield from found
            if len(found) < page:
                return
            at = tuple(found[-1][:width])

    def heads_exceed(self, branch: BranchName, limit: int) -> bool:
        """Whether a branch has more than so many heads."""
        found = self._db.rows(
            "SELECT count(*) FROM (SELECT 1 FROM head WHERE branch = $1 LIMIT $2) AS heads",
            (branch, limit + 1),
        )
        return int(found[0][0]) > limit

    def heads_up_to(self, branch: BranchName, limit: int) -> list[tuple[EntityId, Seq]] | None:
        """Id and seq of every head of a branch; None if there are more than `limit`."""
        sql = (
            "SELECT h.id, h.seq, h.crc, r.crc FROM (SELECT * FROM head WHERE branch = $1 LIMIT $2) "
            "AS h LEFT JOIN revision r ON r.branch = h.branch AND r.id = h.id AND r.seq = h.seq "
            "AND r.op_index = h.op_index"
        )
        found = self._db.rows(sql, (branch, min(limit + 1, 2**31)))
        if len(found) > limit:
            return None
        # A damaged head may stand for any change.
        return [
            (EntityId(id), Seq(seq) if one == other else _NEWEST) for id, seq, one, other in found
        ]

    def ids_changed(self, branch: BranchName, after: Seq) -> list[EntityId]:
        """Documents whose newest revision on this branch is above `after`."""
        sql = "SELECT id FROM head WHERE branch = $1 AND seq > $2 ORDER BY id"
        return [EntityId(row[0]) for row in self._db.rows(sql, (branch, after))]

    # snapshots

    def newest_snapshot(self, branch: BranchName, id: EntityId, seq: Seq) -> tuple[Seq, str] | None:
        """The newest sound snapshot at or before `seq`; a damaged one is passed over."""
        while True:
            try:
                found = self._db.rows(
                    "SELECT seq, value, crc FROM snapshot WHERE branch = $1 AND id = $2 "
                    "AND seq <= $3 ORDER BY seq DESC LIMIT 1",
                    (branch, id, seq),
                )
            except DamagedStore:
                return None
            if not found:
                return None
            at, value, crc = found[0]
            if checks.snapshot_crc(branch, id, at, value) == crc:
                return Seq(at), value
            seq = Seq(at - 1)

    def snapshot_seqs(self, branch: BranchName, id: EntityId) -> list[Seq]:
        sql = "SELECT seq FROM snapshot WHERE branch = $1 AND id = $2 ORDER BY seq"
        return [Seq(row[0]) for row in self._db.rows(sql, (branch, id))]

    def all_snapshots(self) -> Iterator[Row]:
        """(branch, id, seq, value, crc) of every snapshot, in that order."""
        return self._paged(
            "SELECT branch, id, seq, value, crc FROM snapshot "
            "WHERE (branch, id, seq) > ($1, $2, $3) ORDER BY branch, id, seq LIMIT $4",
            ("", "", -(2**62)),
            3,
            200,
        )

    def newest_snapshots(
        self, branch: BranchName, id: EntityId, limit: int
    ) -> list[tuple[Seq, int]]:
        """Seq and length of the newest snapshots, newest first."""
        sql = (
            "SELECT seq, length(value) FROM snapshot WHERE branch = $1 AND id = $2 "
            "ORDER BY seq DESC LIMIT $3"
        )
        return [(Seq(row[0]), row[1]) for row in self._db.rows(sql, (branch, id, limit))]

    def put_snapshots(self, rows: Iterable[Sequence[Any]]) -> None:
        """Rows of (branch, id, seq, value)."""
        self._db.run_many(
            "INSERT INTO snapshot (branch, id, seq, value, crc) VALUES ($1, $2, $3, $4, $5) "
            "ON CONFLICT (branch, id, seq) "
            "DO UPDATE SET value = excluded.value, crc = excluded.crc",
            ((*row, checks.snapshot_crc(*row)) for row in rows),
        )

    def drop_snapshots(self, rows: Iterable[Sequence[Any]]) -> None:
        """Rows of (branch, id, seq)."""
        self._db.run_many("DELETE FROM snapshot WHERE branch = $1 AND id = $2 AND seq = $3", rows)

    def snapshot_count(self) -> int:
        return int(self._db.rows("SELECT count(*) FROM snapshot")[0][0])

    def weigh_patches(
        self, branch: BranchName, id: EntityId, after: Seq, upto: Seq
    ) -> tuple[int, int]:
        """The number of patches in (after, upto], and their total length."""
        found = self._db.rows(
            "SELECT count(*), coalesce(sum(length(data)), 0) FROM revision WHERE branch = $1 "
            "AND id = $2 AND seq > $3 AND seq <= $4 AND op = 'patch'",
            (branch, id, after, upto),
        )
        return int(found[0][0]), int(found[0][1])

    def ids_written(self, branch: BranchName) -> list[EntityId]:
        """Every document that has a revision on this branch."""
        sql = "SELECT DISTINCT id FROM revision WHERE branch = $1 ORDER BY id"
        return [EntityId(row[0]) for row in self._db.rows(sql, (branch,))]

    def clear_derived(self, damaged: bool = False) -> None:
        """Delete every head and snapshot, to rebuild them in the same transaction."""
        if damaged:
            self._db.replace_tables(("head", "snapshot"))
            return
        self._db.run("DELETE FROM head")
        self._db.run("DELETE FROM snapshot")

    # branches

    def branch(self, name: BranchName) -> Branch | None:
        found = self._db.rows(
            f"SELECT {_BRANCH}, crc, head_crc FROM branch WHERE name = $1", (name,)
        )
        return checked_branch(found[0]) if found else None

    def branches(self) -> list[Branch]:
        found = self._db.rows(f"SELECT {_BRANCH}, crc, head_crc FROM branch ORDER BY name")
        return [checked_branch(row) for row in found]

    def branches_unchecked(self) -> list[tuple[Branch, bool]]:
        """Every branch, and whether its row is sound."""
        found = self._db.rows(f"SELECT {_BRANCH}, crc, head_crc FROM branch ORDER BY name")
        return [(Branch(*row[:9]), row[9:] == _branch_sums(Branch(*row[:9]))) for row in found]

    def put_branch(self, branch: Branch) -> None:
        """Write a branch row, replacing one with the same name."""
        self._db.run(
            f"INSERT INTO branch ({_BRANCH}, crc, head_crc) "
            "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) "
            "ON CONFLICT (name) DO UPDATE SET head_seq = excluded.head_seq, "
            "created_at = excluded.created_at, status = excluded.status, "
            "deleted_at = excluded.deleted_at, oldest_seq = excluded.oldest_seq, "
            "crc = excluded.crc, head_crc = excluded.head_crc",
            (
                branch.name,
                branch.parent,
                branch.fork_seq,
                branch.created_seq,
                branch.head_seq,
                branch.status,
                branch.created_at,
                branch.deleted_at,
                branch.oldest_seq,
                *_branch_sums(branch),
            ),
        )

    def advance_branches(self, rows: Iterable[Sequence[Any]]) -> None:
        """Rows of (name, seq): the branch's newest change is now at `seq`."""
        crc = checks.branch_head_crc
        self._db.run_many(
            "UPDATE branch SET head_seq = $2, head_crc = $3 WHERE name = $1 AND head_seq < $2",
            ((name, seq, crc(name, seq)) for name, seq in rows),
        )

    # blobs

    def add_blob(self, hash: str, data: bytes, content_type: str, at: str) -> None:
        # Putting a blob again renews it: that caller may be about to name it too.
        sql = "SELECT content_type, put_at FROM blob_store WHERE hash = $1"
        for first_type, put_at in self._db.rows(sql, (hash,)):
            if put_at < at:
                self._date_blob(hash, first_type, len(data), at)
            return
        size = len(data)
        self._db.run(
            "INSERT INTO blob_store (hash, data, content_type, size, put_at, crc) "
            "VALUES ($1, $2, $3, $4, $5, $6)",
            (hash, data, content_type, size, at, checks.blob_crc(hash, content_type, size, at)),
        )

    def _date_blob(self, hash: str, content_type: str, size: int, at: str) -> None:
        self._db.run(
            "UPDATE blob_store SET put_at = $2, crc = $3 WHERE hash = $1",
            (hash, at, checks.blob_crc(hash, content_type, size, at)),
        )

    def blob(self, hash: str) -> tuple[bytes, str, int, bool] | None:
        """Bytes, content type and size, and whether what describes them is sound."""
        found = self._db.rows(
            "SELECT data, content_type, size, put_at, crc FROM blob_store WHERE hash = $1", (hash,)
        )
        if not found:
            return None
        data, content_type, size, put_at, crc = found[0]
        sound = checks.blob_crc(hash, content_type, size, put_at) == crc
        return bytes(data), content_type, size, sound

    def blob_hashes(self) -> list[str]:
        return [row[0] for row in self._db.rows("SELECT hash FROM blob_store ORDER BY hash")]

    def blobs_put_until(self, at: str) -> list[str]:
        found = self._db.rows(
            "SELECT hash FROM blob_store WHERE put_at <> '' AND put_at <= $1 ORDER BY hash", (at,)
        )
        return [row[0] for row in found]

    def date_blobs(self, at: str) -> None:
        """Give blobs of unknown age this time. Only older versions wrote such blobs."""
        sql = "SELECT hash, content_type, size FROM blob_store WHERE put_at = ''"
        for hash, content_type, size in self._db.rows(sql):
            self._date_blob(hash, content_type, size, at)

    def drop_blobs(self, hashes: Iterable[str]) -> None:
        self._db.run_many("DELETE FROM blob_store WHERE hash = $1", [(h,) for h in hashes])

    # structure

    def structure_problems(self) -> list[str]:
        """What the database itself finds wrong with its files."""
        return self._db.structure_problems()

    # tables that are unused in this version

    def reserved_rows(self) -> int:
        """Rows of the two tables reserved for signed writes; nothing writes them yet."""
        found = self._db.rows(
            'SELECT (SELECT count(*) FROM invocation) + (SELECT count(*) FROM "authorization")'
        )
        return int(found[0][0])


def is_linked(row: CommitRow, previous: bytes) -> bool:
    """Whether a commit's columns match its hash, given the hash before it."""
    try:
        return row.linked(previous) == row.chain
    except (ValueError, AttributeError, TypeError):  # a column of another type
        return False


def damaged_commit(seq: int) -> DamagedStore:
    return DamagedStore(f"the commit at seq {seq} is damaged: it does not match its hash")


def checked_revision(branch: str, id: str, row: Row) -> RevisionRow:
    """A revision read as (seq, op_index, op, data, crc), or `DamagedStore`."""
    seq, op_index, op, data, crc = row
    if checks.revision_crc(branch, id, seq, op_index, op, data) != crc:
        raise DamagedStore(
            f"the revision of {id} at seq {seq} is damaged: it does not match its checksum"
        )
    return RevisionRow(seq, op_index, op, data)


def _branch_sums(branch: Branch) -> tuple[int, int]:
    own = checks.branch_crc(
        branch.name,
        branch.parent,
        branch.fork_seq,
        branch.created_seq,
        branch.status,
        branch.created_at,
        branch.deleted_at,
        branch.oldest_seq,
    )
    return own, checks.branch_head_crc(branch.name, branch.head_seq)


def checked_branch(row: Row) -> Branch:
    """A branch read with its two checksums, or `DamagedStore`."""
    branch = Branch(*row[:9])
    if tuple(row[9:]) != _branch_sums(branch):
        raise DamagedStore(
            f"the row of branch {branch.name!r} is damaged: it does not match its checksum"
        )
    return branch


@lru_cache(maxsize=64)
def _commits_by_key(count: int, distant: bool) -> str:
    """The query for this many keys."""
    number = "::bigint" if distant else ""
    places = ", ".join(f"(${2 * n + 1}, ${2 * n + 2}{number})" for n in range(count))
    # A join rather than IN, which would collect and sort the keys first.
    return (
        f'SELECT {_COMMIT} FROM (VALUES {places}) AS wanted JOIN "commit" '
        "ON session_id = wanted.column1 AND local_seq = wanted.column2"
    )
