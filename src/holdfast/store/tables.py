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

SCHEMA_VERSION = 5
"""The layout of the tables at rest. Tables since version 3 are brought up to date when opened.

3  seq revisions; documents and patches inline; no semantic hashes
4  on SQLite the index of commit keys has localSeq first
5  a blob says when it was last put
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
    def begin_reading(self) -> None:
        """Start a transaction whose reads all see one state; end it with `rollback`."""

    def together(self) -> AbstractContextManager[object]:
        """Writes inside may be sent without waiting for each; failures show at the end."""

    def maintenance(self) -> AbstractContextManager[object]:
        """Statements inside may take long. Not to be entered in a transaction."""

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
    invocation_ref: str | None = None
    authorization_ref: str | None = None

    @property
    def key(self) -> CommitKey:
        return CommitKey(self.session, self.local_seq)


NewCommit = tuple[Seq, BranchName, SessionId, LocalSeq, str, str, str]
"""A commit to be stored: the columns with which a `CommitRow` begins."""

_BRANCH = "name, parent_branch, fork_seq, created_seq, head_seq, status, created_at, deleted_at"
_COMMIT = (
    "seq, branch, session_id, local_seq, original, resolution, created_at, "
    "invocation_ref, authorization_ref"
)


class Tables:
    """Typed access to the rows of one space."""

    def __init__(self, database: Database) -> None:
        self._db = database

    # commits

    def newest_seq(self) -> Seq:
        return Seq(self._db.rows('SELECT coalesce(max(seq), 0) FROM "commit"')[0][0])

    def commit_by_key(self, key: CommitKey) -> CommitRow | None:
        found = self._db.rows(
            f'SELECT {_COMMIT} FROM "commit" WHERE session_id = $1 AND local_seq = $2',
            (key.session, key.local_seq),
        )
        return CommitRow(*found[0]) if found else None

    def commits_by_keys(self, keys: Iterable[CommitKey]) -> dict[CommitKey, CommitRow] | None:
        """The stored commits among these keys; None if single lookups are as fast."""
        wanted = list(keys)
        if len(wanted) < (2 if self._db.distant else 8):
            return None
        found = self._db.rows(
            _commits_by_key(len(wanted), self._db.distant), list(chain.from_iterable(wanted))
        )
        return {row.key: row for row in (CommitRow(*columns) for columns in found)}

    def commit_at(self, seq: Seq) -> CommitRow | None:
        found = self._db.rows(f'SELECT {_COMMIT} FROM "commit" WHERE seq = $1', (seq,))
        return CommitRow(*found[0]) if found else None

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
        sql = f'SELECT {_COMMIT} FROM "commit" WHERE seq > $1 ORDER BY seq LIMIT $2'
        return [CommitRow(*row) for row in self._db.rows(sql, (after, limit))]

    def commits_before(self, seq: Seq, limit: int) -> list[CommitRow]:
        """Commits with a seq below `seq`, newest first."""
        sql = f'SELECT {_COMMIT} FROM "commit" WHERE seq < $1 ORDER BY seq DESC LIMIT $2'
        return [CommitRow(*row) for row in self._db.rows(sql, (seq, limit))]

    def merges(self) -> list[CommitRow]:
        """Commits with a `merge` member, oldest first."""
        sql = f'SELECT {_COMMIT} FROM "commit" WHERE original LIKE \'%"merge":%\' ORDER BY seq'
        return [CommitRow(*row) for row in self._db.rows(sql)]

    def add_commits(self, rows: Iterable[NewCommit]) -> None:
        self._db.run_many(
            'INSERT INTO "commit" (seq, branch, session_id, local_seq, original, resolution, '
            "created_at) VALUES ($1, $2, $3, $4, $5, $6, $7)",
            rows,
        )

    # revisions

    def add_revisions(self, rows: Iterable[Sequence[Any]]) -> None:
        """Rows of (branch, id, seq, op_index, op, data)."""
        self._db.run_many(
            "INSERT INTO revision (branch, id, seq, op_index, op, data, commit_seq) "
            "VALUES ($1, $2, $3, $4, $5, $6, $3)",
            rows,
        )

    def newest_revision(self, branch: BranchName, id: EntityId, seq: Seq) -> RevisionRow | None:
        """The newest revision of a document on this branch at or before `seq`."""
        found = self._db.rows(
            "SELECT seq, op_index, op, data FROM revision WHERE branch = $1 AND id = $2 "
            "AND seq <= $3 ORDER BY seq DESC, op_index DESC LIMIT 1",
            (branch, id, seq),
        )
        return RevisionRow(*found[0]) if found else None

    def head_revision(self, branch: BranchName, id: EntityId) -> RevisionRow | None:
        found = self._db.rows(
            "SELECT r.seq, r.op_index, r.op, r.data FROM head h JOIN revision r "
            "ON r.branch = h.branch AND r.id = h.id AND r.seq = h.seq AND r.op_index = h.op_index "
            "WHERE h.branch = $1 AND h.id = $2",
            (branch, id),
        )
        return RevisionRow(*found[0]) if found else None

    def revisions_back(
        self, branch: BranchName, id: EntityId, at: tuple[int, int], after: Seq, page: int = 64
    ) -> Iterator[RevisionRow]:
        """Revisions at or before `at` and with a seq above `after`, newest first."""
        seq, op_index = at
        while True:
            found = self._db.rows(
                "SELECT seq, op_index, op, data FROM revision WHERE branch = $1 AND id = $2 "
                "AND seq > $3 AND seq <= $4 AND (seq, op_index) <= ($4, $5) "
                "ORDER BY seq DESC, op_index DESC LIMIT $6",
                (branch, id, after, seq, op_index, page),
            )
            yield from (RevisionRow(*row) for row in found)
            if len(found) < page:
                return
            seq, op_index = found[-1][0], found[-1][1] - 1

    def writes_since(self, branch: BranchName, id: EntityId, after: Seq) -> Iterator[Row]:
        """(seq, op, data) of revisions above `after`, newest first."""
        few = self._db.rows(
            "SELECT seq, op, data FROM revision WHERE branch = $1 AND id = $2 AND seq > $3 "
            "ORDER BY seq, op_index LIMIT 32",
            (branch, id, after),
        )
        if len(few) < 32:
            # Usually there are one or two, and scanning forwards is faster.
            yield from reversed(few)
            return
        newest = self.newest_revision(branch, id, Seq(2**62))
        assert newest is not None
        at = (newest.seq, newest.op_index)
        for row in self.revisions_back(branch, id, at, after, page=256):
            yield row.seq, row.op, row.data

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
            "SELECT seq, op_index, op, data FROM revision WHERE branch = $1 AND id = $2 "
            "ORDER BY seq, op_index"
        )
        return [RevisionRow(*row) for row in self._db.rows(sql, (branch, id))]

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
        found = self._db.rows(
            "SELECT h.seq, r.op FROM head h JOIN revision r "
            "ON r.branch = h.branch AND r.id = h.id AND r.seq = h.seq AND r.op_index = h.op_index "
            "WHERE h.branch = $1 AND h.id = $2",
            (branch, id),
        )
        return (Seq(found[0][0]), found[0][1]) if found else None

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
            "SELECT h.id, r.seq, r.op_index, r.op, r.data FROM head h JOIN revision r "
            "ON r.branch = h.branch AND r.id = h.id AND r.seq = h.seq AND r.op_index = h.op_index "
            "WHERE h.branch = $1 AND h.id >= $2 AND h.id <= $3 ORDER BY h.id LIMIT $4",
            (branch, first, last, limit),
        )
        return [(EntityId(row[0]), RevisionRow(*row[1:])) for row in found]

    def put_heads(self, rows: Iterable[Sequence[Any]]) -> None:
        """Rows of (branch, id, seq, op_index); each becomes the head."""
        self._db.run_many(
            "INSERT INTO head (branch, id, seq, op_index) VALUES ($1, $2, $3, $4) "
            "ON CONFLICT (branch, id) "
            "DO UPDATE SET seq = excluded.seq, op_index = excluded.op_index",
            rows,
        )

    def heads(self, branch: BranchName) -> list[tuple[EntityId, Seq, int]]:
        sql = "SELECT id, seq, op_index FROM head WHERE branch = $1 ORDER BY id"
        return [(EntityId(i), Seq(s), o) for i, s, o in self._db.rows(sql, (branch,))]

    def ids_changed(self, branch: BranchName, after: Seq) -> list[EntityId]:
        """Documents whose newest revision on this branch is above `after`."""
        sql = "SELECT id FROM head WHERE branch = $1 AND seq > $2 ORDER BY id"
        return [EntityId(row[0]) for row in self._db.rows(sql, (branch, after))]

    # snapshots

    def newest_snapshot(self, branch: BranchName, id: EntityId, seq: Seq) -> tuple[Seq, str] | None:
        found = self._db.rows(
            "SELECT seq, value FROM snapshot WHERE branch = $1 AND id = $2 AND seq <= $3 "
            "ORDER BY seq DESC LIMIT 1",
            (branch, id, seq),
        )
        return (Seq(found[0][0]), found[0][1]) if found else None

    def snapshot_seqs(self, branch: BranchName, id: EntityId) -> list[Seq]:
        sql = "SELECT seq FROM snapshot WHERE branch = $1 AND id = $2 ORDER BY seq"
        return [Seq(row[0]) for row in self._db.rows(sql, (branch, id))]

    def snapshots_of(self, branch: BranchName, id: EntityId) -> list[tuple[Seq, str]]:
        sql = "SELECT seq, value FROM snapshot WHERE branch = $1 AND id = $2 ORDER BY seq"
        return [(Seq(row[0]), row[1]) for row in self._db.rows(sql, (branch, id))]

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
            "INSERT INTO snapshot (branch, id, seq, value) VALUES ($1, $2, $3, $4) "
            "ON CONFLICT (branch, id, seq) DO UPDATE SET value = excluded.value",
            rows,
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

    def clear_derived(self) -> None:
        """Delete every head and snapshot, to rebuild them in the same transaction."""
        self._db.run("DELETE FROM head")
        self._db.run("DELETE FROM snapshot")

    # branches

    def branch(self, name: BranchName) -> Branch | None:
        found = self._db.rows(f"SELECT {_BRANCH} FROM branch WHERE name = $1", (name,))
        return Branch(*found[0]) if found else None

    def branches(self) -> list[Branch]:
        return [
            Branch(*row) for row in self._db.rows(f"SELECT {_BRANCH} FROM branch ORDER BY name")
        ]

    def put_branch(self, branch: Branch) -> None:
        """Write a branch row, replacing one with the same name."""
        self._db.run(
            f"INSERT INTO branch ({_BRANCH}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) "
            "ON CONFLICT (name) DO UPDATE SET head_seq = excluded.head_seq, "
            "created_at = excluded.created_at, status = excluded.status",
            (
                branch.name,
                branch.parent,
                branch.fork_seq,
                branch.created_seq,
                branch.head_seq,
                branch.status,
                branch.created_at,
                branch.deleted_at,
            ),
        )

    def end_branch(self, name: BranchName, at: str) -> None:
        self._db.run(
            "UPDATE branch SET status = 'deleted', deleted_at = $2 WHERE name = $1", (name, at)
        )

    def advance_branches(self, rows: Iterable[Sequence[Any]]) -> None:
        """Rows of (name, seq): the branch's newest change is now at `seq`."""
        self._db.run_many("UPDATE branch SET head_seq = $2 WHERE name = $1 AND head_seq < $2", rows)

    # blobs

    def add_blob(self, hash: str, data: bytes, content_type: str, at: str) -> None:
        # Putting a blob again renews it: that caller may be about to name it too.
        self._db.run(
            "INSERT INTO blob_store (hash, data, content_type, size, put_at) "
            "VALUES ($1, $2, $3, $4, $5) ON CONFLICT (hash) DO UPDATE "
            "SET put_at = excluded.put_at WHERE blob_store.put_at < excluded.put_at",
            (hash, data, content_type, len(data), at),
        )

    def blob(self, hash: str) -> tuple[bytes, str, int] | None:
        found = self._db.rows(
            "SELECT data, content_type, size FROM blob_store WHERE hash = $1", (hash,)
        )
        return (bytes(found[0][0]), found[0][1], found[0][2]) if found else None

    def blob_hashes(self) -> list[str]:
        return [row[0] for row in self._db.rows("SELECT hash FROM blob_store ORDER BY hash")]

    def blobs_put_until(self, at: str) -> list[str]:
        found = self._db.rows(
            "SELECT hash FROM blob_store WHERE put_at <> '' AND put_at <= $1 ORDER BY hash", (at,)
        )
        return [row[0] for row in found]

    def date_blobs(self, at: str) -> None:
        """Give blobs of unknown age this time. Only older versions wrote such blobs."""
        self._db.run("UPDATE blob_store SET put_at = $1 WHERE put_at = ''", (at,))

    def drop_blobs(self, hashes: Iterable[str]) -> None:
        self._db.run_many("DELETE FROM blob_store WHERE hash = $1", [(h,) for h in hashes])

    # tables that are unused in this version

    def reserved_rows(self) -> int:
        """Rows of the two tables reserved for signed writes; nothing writes them yet."""
        found = self._db.rows(
            'SELECT (SELECT count(*) FROM invocation) + (SELECT count(*) FROM "authorization")'
        )
        return int(found[0][0])


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
