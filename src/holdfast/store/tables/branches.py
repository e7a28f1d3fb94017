"""Branches, each with checksums of its row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from holdfast.ids import BranchName
from holdfast.store import checks
from holdfast.store.errors import DamagedStore
from holdfast.store.model import Branch
from holdfast.store.tables.database import Row
from holdfast.store.tables.table import Table

_BRANCH = (
    "name, parent_branch, fork_seq, created_seq, head_seq, status, created_at, deleted_at, "
    "oldest_seq"
)


class BranchTable(Table):
    """Typed access to the branches of one space."""

    def branch(self, name: BranchName) -> Branch | None:
        rows = self._db.rows(
            f"SELECT {_BRANCH}, crc, head_crc FROM branch WHERE name = $1", (name,)
        )
        return self._checked_branch(rows[0]) if rows else None

    def branches(self) -> list[Branch]:
        rows = self._db.rows(f"SELECT {_BRANCH}, crc, head_crc FROM branch ORDER BY name")
        return [self._checked_branch(row) for row in rows]

    def branches_unchecked(self) -> list[tuple[Branch, bool]]:
        """Every branch, and whether its row is sound."""
        rows = self._db.rows(f"SELECT {_BRANCH}, crc, head_crc FROM branch ORDER BY name")
        return [(Branch(*row[:9]), row[9:] == self._branch_sums(Branch(*row[:9]))) for row in rows]

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
                *self._branch_sums(branch),
            ),
        )

    def advance_branches(self, rows: Iterable[Sequence[Any]]) -> None:
        """Rows of (name, seq): the branch's newest change is now at `seq`."""
        crc, mask = checks.branch_head_crc, self._mask
        self._db.run_many(
            "UPDATE branch SET head_seq = $2, head_crc = $3 WHERE name = $1 AND head_seq < $2",
            ((name, seq, crc(name, seq) ^ mask) for name, seq in rows),
        )

    def _branch_sums(self, branch: Branch) -> tuple[int, int]:
        """The two checksums of a branch, as they are stored."""
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
        newest = checks.branch_head_crc(branch.name, branch.head_seq)
        return own ^ self._mask, newest ^ self._mask

    def _checked_branch(self, row: Row) -> Branch:
        """A branch read with its two checksums, or `DamagedStore`."""
        branch = Branch(*row[:9])
        if tuple(row[9:]) != self._branch_sums(branch):
            raise DamagedStore(
                f"the row of branch {branch.name!r} is damaged: it does not match its checksum"
            )
        return branch
