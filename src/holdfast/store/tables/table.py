"""The base class of the tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from holdfast.store.tables.database import Database, Row


class Table:
    """A table on one connection."""

    def __init__(self, database: Database) -> None:
        self._db = database
        self._mask = database.mask

    def _masked(self, rows: Iterable[Sequence[Any]]) -> Iterator[Any]:
        """Rows with a checksum as their last column: to be stored, or read from there."""
        mask = self._mask
        return ((*row[:-1], row[-1] ^ mask) for row in rows) if mask else iter(rows)

    def _paged(
        self, sql: str, start: tuple[Any, ...], width: int, page: int = 2_000
    ) -> Iterator[Row]:
        """Every row after the key `start`, in pages; the key is the first `width` columns."""
        at = start
        while True:
            rows = self._db.rows(sql, (*at, page))
            yield from rows
            if len(rows) < page:
                return
            at = tuple(rows[-1][:width])
