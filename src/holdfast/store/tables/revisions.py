"""Revisions: what each commit wrote to each document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from holdfast.ids import BranchName, EntityId, Seq
from holdfast.store import checks
from holdfast.store.tables.database import Row
from holdfast.store.tables.rows import RevisionRow, checked_revision, checked_revisions
from holdfast.store.tables.table import Table


class RevisionTable(Table):
    """Typed access to the revisions of one space."""

    def add_revisions(self, rows: Iterable[Sequence[Any]]) -> None:
        """Rows of (branch, id, seq, op_index, op, data)."""
        self.put_revisions((*row, checks.revision_crc(*row)) for row in rows)

    def put_revisions(self, rows: Iterable[Sequence[Any]]) -> None:
        """Rows of (branch, id, seq, op_index, op, data, crc)."""
        self._db.run_many(
            "INSERT INTO revision (branch, id, seq, op_index, op, data, commit_seq, crc) "
            "VALUES ($1, $2, $3, $4, $5, $6, $3, $7)",
            self._masked(rows),
        )

    def drop_revisions(self, rows: Iterable[Sequence[Any]]) -> None:
        """Rows of (branch, id, seq, op_index)."""
        self._db.run_many(
            "DELETE FROM revision WHERE branch = $1 AND id = $2 AND seq = $3 AND op_index = $4",
            rows,
        )

    def revision_sum(self, branch: str, id: str, seq: int, op_index: int) -> int:
        """The checksum of a revision; 0 if it is missing."""
        rows = self._db.rows(
            "SELECT crc FROM revision WHERE branch = $1 AND id = $2 AND seq = $3 AND op_index = $4",
            (branch, id, seq, op_index),
        )
        return int(rows[0][0]) ^ self._mask if rows else 0

    def newest_revision(self, branch: BranchName, id: EntityId, seq: Seq) -> RevisionRow | None:
        """The newest revision of a document on this branch at or before `seq`."""
        rows = self._db.rows(
            "SELECT seq, op_index, op, data, crc FROM revision "
            "WHERE branch = $1 AND id = $2 AND seq <= $3 "
            "ORDER BY seq DESC, op_index DESC LIMIT 1",
            (branch, id, seq),
        )
        return checked_revision(branch, id, rows[0], self._mask) if rows else None

    def revisions_back(
        self, branch: BranchName, id: EntityId, at: tuple[int, int], after: Seq, page: int = 64
    ) -> Iterator[RevisionRow]:
        """Revisions at or before `at` and with a seq above `after`, newest first."""
        seq, op_index = at
        while True:
            rows = self._db.rows(
                "SELECT seq, op_index, op, data, crc FROM revision "
                "WHERE branch = $1 AND id = $2 "
                "AND seq > $3 AND seq <= $4 AND (seq, op_index) <= ($4, $5) "
                "ORDER BY seq DESC, op_index DESC LIMIT $6",
                (branch, id, after, seq, op_index, page),
            )
            yield from checked_revisions(branch, id, rows, self._mask)
            if len(rows) < page:
                return
            seq, op_index = rows[-1][0], rows[-1][1] - 1

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
        return list(checked_revisions(branch, id, reversed(few), self._mask))

    def commits_exceed(self, branch: BranchName, id: EntityId, after: Seq, most: int) -> bool:
        """Whether more than `most` commits above `after` wrote a document; reads no data."""
        rows = self._db.rows(
            "SELECT count(*) FROM (SELECT DISTINCT seq FROM revision "
            "WHERE branch = $1 AND id = $2 AND seq > $3 LIMIT $4) AS commits",
            (branch, id, after, most + 1),
        )
        return int(rows[0][0]) > most

    def writes_between(
        self, branch: BranchName, id: EntityId, after: Seq, before: Seq
    ) -> list[RevisionRow]:
        """The revisions with a seq above `after` and below `before`, newest first."""
        rows = self._db.rows(
            "SELECT seq, op_index, op, data, crc FROM revision "
            "WHERE branch = $1 AND id = $2 AND seq > $3 AND seq < $4 "
            "ORDER BY seq DESC, op_index DESC",
            (branch, id, after, before),
        )
        return list(checked_revisions(branch, id, rows, self._mask))

    def seqs_of(self, branch: BranchName, id: EntityId, before: Seq, limit: int) -> list[Seq]:
        """The seqs at which a document was written on this branch, newest first."""
        sql = (
            "SELECT DISTINCT seq FROM revision WHERE branch = $1 AND id = $2 AND seq < $3 "
            "ORDER BY seq DESC LIMIT $4"
        )
        return [Seq(row[0]) for row in self._db.rows(sql, (branch, id, before, limit))]

    def all_revisions(self, page: int = 2_000) -> Iterator[Row]:
        """(branch, id, seq, op_index, op, data, crc) of every revision, in that order.

        Their checksums are not checked.
        """
        at: tuple[Any, ...] = ("", "", -(2**62), 0)
        while True:
            rows = self._db.rows(
                "SELECT branch, id, seq, op_index, op, data, crc FROM revision "
                "WHERE (branch, id, seq, op_index) > ($1, $2, $3, $4) "
                "ORDER BY branch, id, seq, op_index LIMIT $5",
                (*at, page),
            )
            yield from self._masked(rows)
            if len(rows) < page:
                return
            at = tuple(rows[-1][:4])

    def revisions_of_commit(
        self, seq: Seq, ids: Iterable[EntityId], branch: BranchName
    ) -> list[tuple[Any, ...]]:
        """(branch, id, seq, op_index, op, data) of the named documents at one seq, in op order."""
        rows: list[Row] = []
        for id in dict.fromkeys(ids):
            rows += self._db.rows(
                "SELECT branch, id, seq, op_index, op, data FROM revision "
                "WHERE branch = $1 AND id = $2 AND seq = $3",
                (branch, id, seq),
            )
        return sorted(rows, key=lambda row: int(row[3]))

    def orphans(self) -> list[Row]:
        """Revisions without a commit, or whose commit is on another branch or seq."""
        return self._db.rows(
            "SELECT r.branch, r.id, r.seq, r.op_index FROM revision r "
            'LEFT JOIN "commit" c ON c.seq = r.commit_seq '
            "WHERE c.seq IS NULL OR c.branch <> r.branch OR r.seq <> r.commit_seq"
        )

    def weigh_patches(
        self, branch: BranchName, id: EntityId, after: Seq, upto: Seq
    ) -> tuple[int, int]:
        """The number of patches in (after, upto], and their total length."""
        rows = self._db.rows(
            "SELECT count(*), coalesce(sum(length(data)), 0) FROM revision WHERE branch = $1 "
            "AND id = $2 AND seq > $3 AND seq <= $4 AND op = 'patch'",
            (branch, id, after, upto),
        )
        return int(rows[0][0]), int(rows[0][1])
