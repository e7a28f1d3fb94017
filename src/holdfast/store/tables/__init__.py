"""Typed access to the eight tables: the store's only SQL except for the schemas.

Both engines accept the same statements; `sqlite.py` and `postgres.py` have what differs (the
schema, the connection, the lock). Parameters are written `$1`, `$2`, ….
"""

from __future__ import annotations

from holdfast.store.tables.blobs import BlobTable
from holdfast.store.tables.branches import BranchTable
from holdfast.store.tables.commits import CommitTable
from holdfast.store.tables.database import SCHEMA_VERSION, TABLES, Database, Row
from holdfast.store.tables.heads import HeadTable
from holdfast.store.tables.rows import (
    SQUASHED,
    CommitRow,
    NewCommit,
    RevisionRow,
    checked_revision,
    is_linked,
)
from holdfast.store.tables.snapshots import SnapshotTable

__all__ = [
    "SCHEMA_VERSION",
    "SQUASHED",
    "TABLES",
    "CommitRow",
    "Database",
    "NewCommit",
    "RevisionRow",
    "Row",
    "Tables",
    "checked_revision",
    "is_linked",
]


class Tables(CommitTable, HeadTable, SnapshotTable, BranchTable, BlobTable):
    """Typed access to the rows of one space."""

    def structure_problems(self) -> list[str]:
        """What the database itself finds wrong with its files."""
        return self._db.structure_problems()

    # tables that are unused in this version

    def reserved_rows(self) -> int:
        """Rows of the two tables reserved for signed writes; nothing writes them yet."""
        rows = self._db.rows(
            'SELECT (SELECT count(*) FROM invocation) + (SELECT count(*) FROM "authorization")'
        )
        return int(rows[0][0])

    # derived state

    def clear_derived(self, damaged: bool = False) -> None:
        """Delete every head and snapshot, to rebuild them in the same transaction."""
        if damaged:
            self._db.replace_tables(("head", "snapshot"))
            return
        self._db.run("DELETE FROM head")
        self._db.run("DELETE FROM snapshot")
