"""The interface of a database, and the names and version of the store's tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

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

SCHEMA_VERSION = 6
"""The layout of the tables at rest. Tables since version 3 are brought up to date when opened.

3  seq revisions; documents and patches inline; no semantic hashes
4  on SQLite the index of commit keys has localSeq first
5  a blob says when it was last put
6  checksums in every row, a hash chain over commits, what a commit merged, and the oldest seq that
   a branch can be read at; on SQLite a checksum in every page
"""


class Database(Protocol):
    """One connection. `rows` answers; `run` and `run_many` write."""

    mask: int
    """What every checksum is stored with, by exclusive or. It differs between spaces whose rows are
    in one table, so that a row in another space than its own does not match its checksum."""

    distant: bool
    """Whether every query is a round trip to another process, so that there should be few."""

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]: ...
    def run(self, sql: str, parameters: Sequence[Any] = ()) -> None: ...
    def run_many(self, sql: str, parameters: Iterable[Sequence[Any]]) -> None: ...
    def begin(self) -> None:
        """Start a write transaction; other writers of this space wait until it ends."""

    def commit(self) -> None:
        """Make it durable: when this returns, the transaction survives a crash."""

    def rollback(self) -> None: ...
    def version(self) -> int | None:
        """In a transaction, a number that is the same only if nothing was written since.

        None if reading it costs as much as any other query.
        """

    def begin_reading(self) -> None:
        """Start a transaction whose reads all see one state; end it with `rollback`."""

    def together(self) -> AbstractContextManager[object]:
        """Writes inside may be sent without waiting for each; failures show at the end."""

    def maintenance(self) -> AbstractContextManager[object]:
        """Statements inside may take long. Not to be entered in a transaction."""

    def replace_tables(self, tables: Sequence[str]) -> None:
        """Empty tables that are too damaged to be emptied row by row."""

    def structure_problems(self) -> list[str]:
        """What the database finds wrong with its own files; empty if it finds nothing."""

    def tables(self) -> list[str]: ...
    def compact(self) -> None: ...
    def close(self) -> None: ...
