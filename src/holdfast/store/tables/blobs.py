"""Blobs: bytes by their hash."""

from __future__ import annotations

from collections.abc import Iterable

from holdfast.store import checks
from holdfast.store.tables.table import Table


class BlobTable(Table):
    """Typed access to the blobs of one space."""

    def add_blob(self, hash: str, data: bytes, content_type: str, at: str) -> None:
        # Putting a blob again updates its time: this caller may be about to name it too.
        sql = "SELECT content_type, put_at FROM blob_store WHERE hash = $1"
        for first_type, put_at in self._db.rows(sql, (hash,)):
            if put_at < at:
                self._date_blob(hash, first_type, len(data), at)
            return
        size = len(data)
        self._db.run(
            "INSERT INTO blob_store (hash, data, content_type, size, put_at, crc) "
            "VALUES ($1, $2, $3, $4, $5, $6)",
            (hash, data, content_type, size, at, self._blob_sum(hash, content_type, size, at)),
        )

    def _blob_sum(self, hash: str, content_type: str, size: int, at: str) -> int:
        return checks.blob_crc(hash, content_type, size, at) ^ self._mask

    def _date_blob(self, hash: str, content_type: str, size: int, at: str) -> None:
        self._db.run(
            "UPDATE blob_store SET put_at = $2, crc = $3 WHERE hash = $1",
            (hash, at, self._blob_sum(hash, content_type, size, at)),
        )

    def blob(self, hash: str) -> tuple[bytes, str, int, bool] | None:
        """Bytes, content type and size, and whether the row that describes them is sound."""
        rows = self._db.rows(
            "SELECT data, content_type, size, put_at, crc FROM blob_store WHERE hash = $1", (hash,)
        )
        if not rows:
            return None
        data, content_type, size, put_at, crc = rows[0]
        sound = self._blob_sum(hash, content_type, size, put_at) == crc
        return bytes(data), content_type, size, sound

    def blob_hashes(self) -> list[str]:
        return [row[0] for row in self._db.rows("SELECT hash FROM blob_store ORDER BY hash")]

    def blobs_put_until(self, at: str) -> list[str]:
        rows = self._db.rows(
            "SELECT hash FROM blob_store WHERE put_at <> '' AND put_at <= $1 ORDER BY hash", (at,)
        )
        return [row[0] for row in rows]

    def date_blobs(self, at: str) -> None:
        """Give blobs of unknown age this time. Only older versions wrote such blobs."""
        sql = "SELECT hash, content_type, size FROM blob_store WHERE put_at = ''"
        for hash, content_type, size in self._db.rows(sql):
            self._date_blob(hash, content_type, size, at)

    def drop_blobs(self, hashes: Iterable[str]) -> None:
        self._db.run_many("DELETE FROM blob_store WHERE hash = $1", [(h,) for h in hashes])
