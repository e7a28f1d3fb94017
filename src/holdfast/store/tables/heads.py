"""Heads: the newest revision of each document on each branch. They are derived."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from holdfast.ids import BranchName, EntityId, Seq
from holdfast.store import checks
from holdfast.store.errors import DamagedStore
from holdfast.store.model import CommitKey
from holdfast.store.tables.database import Row
from holdfast.store.tables.revisions import RevisionTable
from holdfast.store.tables.rows import RevisionRow, checked_revision, revision_row

_HEAD_OF = "FROM head h LEFT JOIN revision r USING (branch, id, seq, op_index) "
_HEAD_REVISION = (
    f"SELECT r.seq, r.op_index, r.op, r.data, h.crc {_HEAD_OF}WHERE h.branch = $1 AND h.id = $2"
)
_HEAD_KIND = f"SELECT h.seq, r.op, h.crc, r.crc {_HEAD_OF}WHERE h.branch = $1 AND h.id = $2"
_NEWEST = Seq(2**62)


class HeadTable(RevisionTable):
    """Typed access to heads; one that is damaged is answered from the revisions."""

    def head(self, branch: BranchName, id: EntityId) -> tuple[Seq, int] | None:
        rows = self._db.rows(
            "SELECT seq, op_index FROM head WHERE branch = $1 AND id = $2", (branch, id)
        )
        return (Seq(rows[0][0]), rows[0][1]) if rows else None

    def head_revision(self, branch: BranchName, id: EntityId) -> RevisionRow | None:
        """The newest revision of a document on this branch.

        A head that is missing, damaged or points to nothing is ignored: heads are derived, so the
        revisions are read instead.
        """
        try:
            rows = self._db.rows(_HEAD_REVISION, (branch, id))
        except DamagedStore:
            rows = []
        if rows:
            seq, op_index, op, data, crc = rows[0]
            if checks.revision_crc(branch, id, seq, op_index, op, data) ^ self._mask == crc:
                return revision_row(RevisionRow, (seq, op_index, op, data))
        return self.newest_revision(branch, id, _NEWEST)

    def head_kind(self, branch: BranchName, id: EntityId) -> tuple[Seq, str] | None:
        """The seq and the kind (set, patch, delete) of a document's head on this branch."""
        try:
            rows = self._db.rows(_HEAD_KIND, (branch, id))
        except DamagedStore:
            rows = []
        if rows:
            seq, op, of_head, of_revision = rows[0]
            if of_head == of_revision:
                return Seq(seq), op
        row = self.newest_revision(branch, id, _NEWEST)
        return None if row is None else (row.seq, row.op)

    def head_and_key(self, branch: BranchName, id: EntityId, key: CommitKey) -> Row | None:
        """(seq, op, session, localSeq) of a document's head, and whether `key` has landed."""
        rows = self._db.rows(
            "SELECT h.seq, r.op, c.session_id, c.local_seq, EXISTS "
            '(SELECT 1 FROM "commit" WHERE session_id = $3 AND local_seq = $4) '
            "FROM head h JOIN revision r "
            "ON r.branch = h.branch AND r.id = h.id AND r.seq = h.seq AND r.op_index = h.op_index "
            'JOIN "commit" c ON c.seq = h.seq WHERE h.branch = $1 AND h.id = $2',
            (branch, id, key.session, key.local_seq),
        )
        return rows[0] if rows else None

    def heads_between(
        self, branch: BranchName, first: EntityId, last: EntityId, limit: int
    ) -> list[tuple[EntityId, RevisionRow]]:
        """The head revisions of documents with an id from `first` up to `last`, by id."""
        rows = self._db.rows(
            f"SELECT h.id, h.seq, h.op_index, r.op, r.data, h.crc, r.crc {_HEAD_OF}"
            "WHERE h.branch = $1 AND h.id >= $2 AND h.id <= $3 ORDER BY h.id LIMIT $4",
            (branch, first, last, limit),
        )
        return [(EntityId(row[0]), self._believed(branch, row)) for row in rows]

    def heads_after(
        self, branch: BranchName, after: EntityId, prefix: str, limit: int
    ) -> list[tuple[EntityId, RevisionRow]]:
        """The head revisions of documents with an id above `after` and from `prefix` on, by id."""
        rows = self._db.rows(
            f"SELECT h.id, h.seq, h.op_index, r.op, r.data, h.crc, r.crc {_HEAD_OF}"
            "WHERE h.branch = $1 AND h.id > $2 AND h.id >= $3 ORDER BY h.id LIMIT $4",
            (branch, after, prefix, limit),
        )
        return [(EntityId(row[0]), self._believed(branch, row)) for row in rows]

    def _believed(self, branch: BranchName, row: Row) -> RevisionRow:
        """The revision of a head that was read with it; of a damaged head, the newest one."""
        id, seq, op_index, op, data, of_head, crc = row
        if of_head != crc:
            newest = self.newest_revision(branch, id, _NEWEST)
            if newest is None:
                raise DamagedStore(f"the head of {id} has no revision")
            return newest
        return checked_revision(branch, id, (seq, op_index, op, data, crc), self._mask)

    def put_heads(self, rows: Iterable[Sequence[Any]]) -> None:
        """Rows of (branch, id, seq, op_index, crc); each becomes the head."""
        self._db.run_many(
            "INSERT INTO head (branch, id, seq, op_index, crc) VALUES ($1, $2, $3, $4, $5) "
            "ON CONFLICT (branch, id) "
            "DO UPDATE SET seq = excluded.seq, op_index = excluded.op_index, crc = excluded.crc",
            self._masked(rows),
        )

    def all_heads(self) -> Iterator[Row]:
        """(branch, id, seq, op_index, crc) of every head, in that order."""
        rows = self._paged(
            "SELECT branch, id, seq, op_index, crc FROM head WHERE (branch, id) > ($1, $2) "
            "ORDER BY branch, id LIMIT $3",
            ("", ""),
            2,
        )
        return self._masked(rows)

    def heads_exceed(self, branch: BranchName, limit: int) -> bool:
        """Whether a branch has more than `limit` heads."""
        rows = self._db.rows(
            "SELECT count(*) FROM (SELECT 1 FROM head WHERE branch = $1 LIMIT $2) AS heads",
            (branch, limit + 1),
        )
        return int(rows[0][0]) > limit

    def heads_up_to(self, branch: BranchName, limit: int) -> list[tuple[EntityId, Seq]] | None:
        """Id and seq of every head of a branch; None if there are more than `limit`."""
        sql = (
            "SELECT h.id, h.seq, h.crc, r.crc FROM (SELECT * FROM head WHERE branch = $1 LIMIT $2) "
            "AS h LEFT JOIN revision r ON r.branch = h.branch AND r.id = h.id AND r.seq = h.seq "
            "AND r.op_index = h.op_index"
        )
        rows = self._db.rows(sql, (branch, min(limit + 1, 2**31)))
        if len(rows) > limit:
            return None
        # The seq of a damaged head is unknown, so its document counts as newly written.
        return [
            (EntityId(id), Seq(seq) if one == other else _NEWEST) for id, seq, one, other in rows
        ]
