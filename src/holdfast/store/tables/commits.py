"""Commits: by seq, by key, and as a chain."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from itertools import chain

from holdfast.ids import BranchName, LocalSeq, Seq, SessionId
from holdfast.store import checks
from holdfast.store.model import CommitKey
from holdfast.store.tables.rows import CommitRow, NewCommit, damaged_commit, is_linked
from holdfast.store.tables.table import Table

_COMMIT = (
    "seq, branch, session_id, local_seq, original, resolution, created_at, merged, chain, "
    "invocation_ref, authorization_ref"
)
_COMMIT_BY_KEY = f'SELECT {_COMMIT} FROM "commit" WHERE session_id = $1 AND local_seq = $2'
_COMMIT_AT = f'SELECT {_COMMIT} FROM "commit" WHERE seq = $1'


class CommitTable(Table):
    """Typed access to the commits of one space."""

    def newest_seq(self) -> Seq:
        return Seq(self._db.rows('SELECT coalesce(max(seq), 0) FROM "commit"')[0][0])

    def newest_link(self) -> tuple[Seq, bytes]:
        """The seq of the newest commit, and its hash in the chain."""
        rows = self._db.rows('SELECT seq, chain FROM "commit" ORDER BY seq DESC LIMIT 1')
        return (Seq(rows[0][0]), rows[0][1]) if rows else (Seq(0), checks.GENESIS_CHAIN)

    def link_at(self, seq: int) -> bytes | None:
        """The hash of the commit at a seq; for seq 0, what the first commit's hash covers."""
        if seq <= 0:
            return checks.GENESIS_CHAIN
        rows = self._db.rows('SELECT chain FROM "commit" WHERE seq = $1', (seq,))
        return bytes(rows[0][0]) if rows else None

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
        rows = self._db.rows(
            _COMMIT_BY_KEY,
            (key.session, key.local_seq),
        )
        return self._checked(CommitRow(*rows[0])) if rows else None

    def commits_by_keys(self, keys: Iterable[CommitKey]) -> dict[CommitKey, CommitRow] | None:
        """The stored commits among these keys; None if single lookups are as fast."""
        pairs = list(keys)
        if len(pairs) < (2 if self._db.distant else 8):
            return None
        commit_rows = self._db.rows(
            _commits_by_key(len(pairs), self._db.distant), list(chain.from_iterable(pairs))
        )
        rows = (self._checked(CommitRow(*columns)) for columns in commit_rows)
        return {row.key: row for row in rows}

    def commit_at(self, seq: Seq) -> CommitRow | None:
        rows = self._db.rows(_COMMIT_AT, (seq,))
        return self._checked(CommitRow(*rows[0])) if rows else None

    def key_at(self, seq: Seq) -> CommitKey | None:
        """The key of the commit at a seq."""
        rows = self._db.rows('SELECT session_id, local_seq FROM "commit" WHERE seq = $1', (seq,))
        return CommitKey(*rows[0]) if rows else None

    def seq_of(self, key: CommitKey) -> Seq | None:
        rows = self._db.rows(
            'SELECT seq FROM "commit" WHERE session_id = $1 AND local_seq = $2',
            (key.session, key.local_seq),
        )
        return Seq(rows[0][0]) if rows else None

    def next_local_seq(self, session: SessionId) -> LocalSeq:
        """One more than the session's newest. On SQLite this scans newer keys of other sessions."""
        rows = self._db.rows(
            'SELECT local_seq FROM "commit" WHERE session_id = $1 ORDER BY local_seq DESC LIMIT 1',
            (session,),
        )
        return LocalSeq(rows[0][0] + 1 if rows else 1)

    def commits(self, after: Seq, limit: int) -> list[CommitRow]:
        """Commits with a seq above `after`, oldest first."""
        return self._checked_run(self.commits_unchecked(after, limit))

    def commits_unchecked(self, after: Seq, limit: int) -> list[CommitRow]:
        """The same, without checking their hashes."""
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
        """The oldest commit at or after a time, by binary search: times do not go back."""
        low, high = 1, self.newest_seq() + 1
        while low < high:
            middle = (low + high) // 2
            rows = self._db.rows('SELECT created_at FROM "commit" WHERE seq = $1', (middle,))
            if rows and rows[0][0] >= at:
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
