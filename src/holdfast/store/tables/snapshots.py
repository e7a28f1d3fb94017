"""Snapshots: copies of documents between their patches. They are derived."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from holdfast.ids import BranchName, EntityId, Seq
from holdfast.store import checks
from holdfast.store.errors import DamagedStore
from holdfast.store.tables.database import Row
from holdfast.store.tables.table import Table


class SnapshotTable(Table):
    """Typed access to the snapshots of one space."""

    def newest_snapshot(self, branch: BranchName, id: EntityId, seq: Seq) -> tuple[Seq, str] | None:
        """The newest sound snapshot at or before `seq`; a damaged one is passed over."""
        while True:
            try:
                rows = self._db.rows(
                    "SELECT seq, value, crc FROM snapshot WHERE branch = $1 AND id = $2 "
                    "AND seq <= $3 ORDER BY seq DESC LIMIT 1",
                    (branch, id, seq),
                )
            except DamagedStore:
                return None
            if not rows:
                return None
            at, value, crc = rows[0]
            if checks.snapshot_crc(branch, id, at, value) ^ self._mask == crc:
                return Seq(at), value
            seq = Seq(at - 1)

    def snapshot_seqs(self, branch: BranchName, id: EntityId) -> list[Seq]:
        sql = "SELECT seq FROM snapshot WHERE branch = $1 AND id = $2 ORDER BY seq"
        return [Seq(row[0]) for row in self._db.rows(sql, (branch, id))]

    def all_snapshots(self) -> Iterator[Row]:
        """(branch, id, seq, value, crc) of every snapshot, in that order."""
        rows = self._paged(
            "SELECT branch, id, seq, value, crc FROM snapshot "
            "WHERE (branch, id, seq) > ($1, $2, $3) ORDER BY branch, id, seq LIMIT $4",
            ("", "", -(2**62)),
            3,
            200,
        )
        return self._masked(rows)

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
            self._masked((*row, checks.snapshot_crc(*row)) for row in rows),
        )

    def drop_snapshots(self, rows: Iterable[Sequence[Any]]) -> None:
        """Rows of (branch, id, seq)."""
        self._db.run_many("DELETE FROM snapshot WHERE branch = $1 AND id = $2 AND seq = $3", rows)

    def snapshot_count(self) -> int:
        return int(self._db.rows("SELECT count(*) FROM snapshot")[0][0])
