"""The store on SQLite: the schema, the connection and its durability.

We go through `apsw`, because it brings a current SQLite: versions before 3.51.3 can corrupt a
write-ahead log in a rare race, and the one beside Python is often older. Without `apsw` the
standard library's module serves, with a warning.

`synchronous=FULL`: a commit is on disk when it is acknowledged. WAL lets readers go on while a
commit is written.
"""

from __future__ import annotations

import os
import re
import threading
import warnings
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from pathlib import Path
from typing import Any

from holdfast.errors import StoreError
from holdfast.store.errors import DamagedStore, StoreBusy, StoreClosed, StoreFailed
from holdfast.store.tables import SCHEMA_VERSION, Row

# Tables without rowids and pages of 4 KiB: one b-tree and few bytes per write. The indexes that
# would repeat a primary key are left out.
_SCHEMA = """
CREATE TABLE "commit" (
  seq INTEGER NOT NULL PRIMARY KEY,
  branch TEXT NOT NULL DEFAULT '',
  session_id TEXT NOT NULL,
  local_seq INTEGER NOT NULL,
  invocation_ref TEXT REFERENCES invocation (ref),
  authorization_ref TEXT REFERENCES "authorization" (ref),
  original JSON NOT NULL,
  resolution JSON NOT NULL,
  created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
  UNIQUE (session_id, local_seq)
);
CREATE TABLE revision (
  branch TEXT NOT NULL DEFAULT '',
  id TEXT NOT NULL,
  seq INTEGER NOT NULL,
  op_index INTEGER NOT NULL,
  op TEXT NOT NULL,
  data JSON,
  commit_seq INTEGER NOT NULL REFERENCES "commit" (seq),
  PRIMARY KEY (branch, id, seq, op_index)
) WITHOUT ROWID;
CREATE TABLE head (
  branch TEXT NOT NULL,
  id TEXT NOT NULL,
  seq INTEGER NOT NULL,
  op_index INTEGER NOT NULL,
  PRIMARY KEY (branch, id)
) WITHOUT ROWID;
CREATE TABLE snapshot (
  branch TEXT NOT NULL DEFAULT '',
  id TEXT NOT NULL,
  seq INTEGER NOT NULL,
  value JSON NOT NULL,
  PRIMARY KEY (branch, id, seq)
) WITHOUT ROWID;
CREATE TABLE branch (
  name TEXT NOT NULL PRIMARY KEY,
  parent_branch TEXT REFERENCES branch (name),
  fork_seq INTEGER,
  created_seq INTEGER NOT NULL DEFAULT 0,
  head_seq INTEGER NOT NULL DEFAULT 0,
  status TEXT NOT NULL DEFAULT 'active',
  created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
  deleted_at TEXT
) WITHOUT ROWID;
CREATE TABLE invocation (
  ref TEXT NOT NULL PRIMARY KEY,
  iss TEXT NOT NULL,
  aud TEXT,
  cmd TEXT NOT NULL,
  sub TEXT NOT NULL,
  invocation JSON NOT NULL,
  created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
) WITHOUT ROWID;
CREATE TABLE "authorization" (
  ref TEXT NOT NULL PRIMARY KEY,
  "authorization" JSON NOT NULL,
  created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
) WITHOUT ROWID;
CREATE TABLE blob_store (
  hash TEXT NOT NULL PRIMARY KEY,
  data BLOB NOT NULL,
  content_type TEXT NOT NULL,
  size INTEGER NOT NULL
);
INSERT INTO branch (name, created_at) VALUES ('', strftime('%Y-%m-%dT%H:%M:%fZ', 'now'));
"""

_PRAGMAS = (
    "PRAGMA journal_mode=WAL",
    "PRAGMA synchronous=FULL",
    "PRAGMA cache_size=-64000",
    "PRAGMA temp_store=MEMORY",
    "PRAGMA mmap_size=268435456",
    "PRAGMA foreign_keys=ON",
    # 16 MB between checkpoints: a page that many commits touch goes to the file once.
    "PRAGMA wal_autocheckpoint=4000",
)

BUSY_MS = 5_000
MEMORY = ":memory:"


class SqliteDatabase:
    """One connection to one space's file."""

    distant = False

    def __init__(self, path: Path | None) -> None:
        self.path = path
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            if not path.exists():
                # Made before SQLite does, so that no other user can ever read it.
                os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
        self._driver = _connect(MEMORY if path is None else str(path))
        # Straight to the driver: every statement of every commit passes here.
        self.rows: Callable[..., list[Row]] = self._driver.rows
        self.run_many = self._driver.many
        for pragma in _PRAGMAS:
            self.rows(pragma)
        self._prepare_schema()

    def _prepare_schema(self) -> None:
        version = self.rows("PRAGMA user_version")[0][0]
        if version == SCHEMA_VERSION:
            return
        self.begin()
        try:
            # Another process may have made the tables since we looked.
            version = self.rows("PRAGMA user_version")[0][0]
            if version not in (0, SCHEMA_VERSION) or (version == 0 and self.tables()):
                raise DamagedStore(
                    f"{self.path} is not a store of version {SCHEMA_VERSION}",
                    hint="older files are not read in place: export there, then import here",
                )
            if version == 0:
                for statement in _SCHEMA.split(";\n"):
                    if statement.strip():
                        self.rows(statement)
                self.rows(f"PRAGMA user_version={SCHEMA_VERSION}")
            self.commit()
        except BaseException:
            self.rollback()
            raise

    def tables(self) -> list[str]:
        found = self.rows("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
        return [row[0] for row in found]

    def run(self, sql: str, parameters: Sequence[Any] = ()) -> None:
        self._driver.rows(sql, parameters)

    def begin(self) -> None:
        self._driver.rows("BEGIN IMMEDIATE", ())

    def together(self) -> AbstractContextManager[object]:
        return nullcontext()

    def begin_reading(self) -> None:
        self._driver.rows("BEGIN", ())

    def commit(self) -> None:
        self._driver.rows("COMMIT", ())

    def rollback(self) -> None:
        if self._driver.in_transaction():
            self._driver.rows("ROLLBACK", ())

    def close(self) -> None:
        self._driver.close()

    def compact(self) -> None:
        """Give free pages back to the file system and empty the write-ahead log."""
        self.rows("VACUUM")
        self.rows("PRAGMA wal_checkpoint(TRUNCATE)")


class SqliteFile:
    """A small file for what belongs beside spaces and not into them. One thread at a time.

    It is not synchronised on every write: what is kept there may be lost with the machine.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not path.exists():
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
        self._driver = _connect(str(path))
        self._lock = threading.Lock()
        self.rows("PRAGMA journal_mode=WAL")
        self.rows("PRAGMA synchronous=NORMAL")

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
        with self._lock:
            return self._driver.rows(sql, parameters)

    def many(self, sql: str, parameters: Iterable[Sequence[Any]]) -> None:
        """Run a statement for each row, all of them or none."""
        with self._lock:
            self._driver.rows("BEGIN IMMEDIATE", ())
            try:
                self._driver.many(sql, parameters)
                self._driver.rows("COMMIT", ())
            except BaseException:
                if self._driver.in_transaction():
                    self._driver.rows("ROLLBACK", ())
                raise

    def close(self) -> None:
        self._driver.close()


class _Apsw:
    """SQLite through apsw."""

    def __init__(self, name: str) -> None:
        import apsw

        self._errors = apsw
        try:
            self._connection = apsw.Connection(name)
        except apsw.Error as error:
            raise self._named(error) from error
        self._connection.set_busy_timeout(BUSY_MS)

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
        try:
            return self._connection.execute(_numbered(sql), parameters).fetchall()
        except self._errors.Error as error:
            raise self._named(error) from error

    def many(self, sql: str, parameters: Iterable[Sequence[Any]]) -> None:
        rows = list(parameters)
        try:
            if not sql.startswith("INSERT"):
                self._connection.executemany(_numbered(sql), rows)
                return
            for start in range(0, len(rows), _TOGETHER):
                chunk = rows[start : start + _TOGETHER]
                statement = _rows_together(sql, len(chunk))
                self._connection.execute(statement, [value for row in chunk for value in row])
        except self._errors.Error as error:
            raise self._named(error) from error

    def _named(self, error: Exception) -> StoreError:
        if isinstance(error, self._errors.BusyError):
            return StoreBusy(BUSY_MS)
        if isinstance(error, self._errors.ConnectionClosedError):
            return StoreClosed()
        if isinstance(error, self._errors.CorruptError | self._errors.NotADBError):
            return DamagedStore(f"the database file is damaged: {error}")
        if isinstance(error, self._errors.FullError):
            return _full(error)
        return StoreFailed(f"the database failed: {error}")

    def in_transaction(self) -> bool:
        return self._connection.in_transaction

    def close(self) -> None:
        self._connection.close()


class _Stdlib:
    """SQLite through the standard library, where apsw has no wheel."""

    def __init__(self, name: str) -> None:
        import sqlite3

        warnings.warn(
            f"apsw is not installed; using the standard library's SQLite {sqlite3.sqlite_version}. "
            "Versions before 3.51.3 have a rare corruption race. Install apsw.",
            RuntimeWarning,
            stacklevel=4,
        )
        self._errors = sqlite3
        self._connection = sqlite3.connect(
            name, isolation_level=None, check_same_thread=False, timeout=BUSY_MS / 1000
        )

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
        try:
            return self._connection.execute(_numbered(sql), tuple(parameters)).fetchall()
        except self._errors.Error as error:
            raise self._named(error) from error

    def many(self, sql: str, parameters: Iterable[Sequence[Any]]) -> None:
        try:
            self._connection.executemany(_numbered(sql), [tuple(p) for p in parameters])
        except self._errors.Error as error:
            raise self._named(error) from error

    def _named(self, error: Exception) -> StoreError:
        text = str(error)
        if "locked" in text:
            return StoreBusy(BUSY_MS)
        if "closed database" in text:
            return StoreClosed()
        if "malformed" in text or "not a database" in text:
            return DamagedStore(f"the database file is damaged: {error}")
        if "full" in text:
            return _full(error)
        return StoreFailed(f"the database failed: {error}")

    def in_transaction(self) -> bool:
        return self._connection.in_transaction

    def close(self) -> None:
        self._connection.close()


def _full(error: Exception) -> StoreFailed:
    return StoreFailed(f"there is no room for this: {error}", hint="free some, then try again")


_TOGETHER = 64
"""Rows that one statement inserts at most: fewer statements, and fewer moments in which the other
threads of this process are let in."""


@lru_cache(maxsize=512)
def _rows_together(sql: str, count: int) -> str:
    """An INSERT of one row, as an INSERT of several."""
    before, values, after = re.split(r"VALUES (\([^)]*\))", sql, maxsplit=1)
    width = max(int(number) for number in re.findall(r"\$(\d+)", values))

    def row(place: int) -> str:
        return re.sub(r"\$(\d+)", lambda m: f"?{place * width + int(m[1])}", values)

    return f"{before}VALUES {', '.join(row(n) for n in range(count))}{after}"


@lru_cache(maxsize=256)
def _numbered(sql: str) -> str:
    """A statement with its parameters as SQLite numbers them: `?1` for `$1`."""
    return sql.replace("$", "?")


def _connect(name: str) -> _Apsw | _Stdlib:
    try:
        return _Apsw(name)
    except ImportError:
        return _Stdlib(name)
