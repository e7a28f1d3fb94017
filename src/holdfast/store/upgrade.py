"""Bring the tables of an older version up to date.

The old tables are renamed, new ones are created beside them, and every row is copied with what it
lacks: its checksum, a commit's place in the chain, what it merged. All in one transaction, so that
an interrupted upgrade leaves the old version.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from holdfast.ids import MAIN
from holdfast.store import checks
from holdfast.store.model import Branch
from holdfast.store.tables import TABLES, CommitRow, Database, NewCommit, Row, Tables

OLDEST = 3
"""The oldest version whose tables are brought up to date."""

_PAGE = 1_000
_OLD = "old_"


def upgrade(db: Database, create: Callable[[], None], version: int, now: str) -> None:
    """Copy tables of `version` into new ones, in the caller's transaction."""
    for table in TABLES:
        db.run(f'ALTER TABLE "{table}" RENAME TO "{_OLD}{table}"')
    create()
    tables = Tables(db)
    for name in ("invocation", "authorization"):
        db.run(f'INSERT INTO "{name}" SELECT * FROM "{_OLD}{name}"')  # noqa: S608
    _copy_commits(db, tables)
    _copy_revisions(db, tables)
    _copy_heads(db, tables)
    for page in _pages(db, "snapshot", "branch, id, seq, value", 3):
        tables.put_snapshots(page)
    _copy_branches(db, tables)
    put_at = "put_at" if version >= 5 else "''"
    for page in _pages(db, "blob_store", f"hash, data, content_type, {put_at}", 1):
        for hash, data, content_type, at in page:
            # Before version 5 it was not recorded when a blob was put. Now is a safe upper bound.
            tables.add_blob(hash, bytes(data), content_type, at if version >= 5 else now)
    for table in ("head", "snapshot", "revision", "commit", "branch", "blob_store"):
        db.run(f'DROP TABLE "{_OLD}{table}"')
    for table in ("invocation", "authorization"):
        db.run(f'DROP TABLE "{_OLD}{table}"')


def seal_branches(db: Database) -> None:
    """Write the checksums of branches that the schema inserted."""
    tables = Tables(db)
    for branch, _ in tables.branches_unchecked():
        tables.put_branch(branch)


def _pages(db: Database, table: str, columns: str, width: int) -> Iterator[list[Row]]:
    """The rows of an old table in pages, by the first `width` columns."""
    key = ", ".join(columns.split(", ")[:width])
    at: tuple[Any, ...] = ()
    while True:
        beyond = ", ".join(f"${n + 1}" for n in range(width))
        where = f"WHERE ({key}) > ({beyond}) " if at else ""
        rows = db.rows(
            f'SELECT {columns} FROM "{_OLD}{table}" {where}ORDER BY {key} '  # noqa: S608
            f"LIMIT {_PAGE}",
            at,
        )
        if rows:
            yield rows
        if len(rows) < _PAGE:
            return
        at = tuple(rows[-1][:width])


def _copy_commits(db: Database, tables: Tables) -> None:
    columns = "seq, branch, session_id, local_seq, original, resolution, created_at"
    link = checks.GENESIS_CHAIN
    for page in _pages(db, "commit", columns, 1):
        rows: list[NewCommit] = []
        for row in linked(page, link):
            rows.append(row)
            link = row[8]
        tables.add_commits(rows)


def linked(rows: Iterable[Row], link: bytes) -> Iterator[NewCommit]:
    """Commits without a hash, given as their first seven columns, as they are to be stored."""
    for columns in rows:
        row = CommitRow(*columns[:7])
        link = row.linked(link)
        yield (*row[:7], merged_in(row.original), link)


def merged_in(original: str) -> str | None:
    """What a commit's text says it merged, for the column `merged`."""
    if '"merge":' not in original:
        return None
    try:
        merge = msgspec.json.decode(original).get("merge")
        source, seq = merge["sourceBranch"], merge["sourceSeq"]
    except (msgspec.MsgspecError, AttributeError, KeyError, TypeError):
        return None
    if not isinstance(source, str) or type(seq) is not int:
        return None
    return merged_text(source, seq)


def merged_text(source: str, seq: int) -> str:
    """The column `merged` of a commit that merged a branch up to a seq."""
    return msgspec.json.encode([source, seq]).decode()


def _copy_revisions(db: Database, tables: Tables) -> None:
    for page in _pages(db, "revision", "branch, id, seq, op_index, op, data", 4):
        tables.add_revisions(page)


def _copy_heads(db: Database, tables: Tables) -> None:
    """Heads with the checksums of their revisions, which are there already."""
    for page in _pages(db, "head", "branch, id, seq, op_index", 2):
        tables.put_heads((*row, tables.revision_sum(*row)) for row in page)


def _copy_branches(db: Database, tables: Tables) -> None:
    columns = "name, parent_branch, fork_seq, created_seq, head_seq, status, created_at, deleted_at"
    waiting = [Branch(*row) for page in _pages(db, "branch", columns, 1) for row in page]
    there = set[str | None]({None})
    while waiting:
        ready = [branch for branch in waiting if branch.parent in there or branch.name == MAIN]
        for branch in ready or waiting:
            tables.put_branch(branch)
            there.add(branch.name)
        waiting = [branch for branch in waiting if branch.name not in there]
