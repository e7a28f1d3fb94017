"""The store of shared rows: the interface, and the SQLite store that `holdfast serve` uses.

A store keeps bytes under keys. Requests are for many keys at once, because each may cross a
network. A store is never trusted: the reader of a row checks it (`rows.py`).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol

import apsw

from holdfast.index.errors import BackendUnavailable, NewerFormat

SHARED_VERSION = 1
"""The version of the tables and of the requests to `holdfast serve`.

1: work(key, data), generation(repository, prefix, settings, name, data), repository(key, …). The
   day of the last use is stored separately and is optional.
"""

KEEP_SHARE = 0.8
"""A full store is trimmed to this share of its limit, so that it is not full again at once."""

ROW_BYTES = 64
"""The size of a row besides its data."""

ASK_MAX = 2_000
"""The maximum number of keys in one request."""


class SharedUnavailable(BackendUnavailable):
    """Raised when the shared index cannot be used now; the caller continues without it."""


class SharedReadOnly(SharedUnavailable):
    """Raised when rows cannot be added, but those that are there can be used."""


class SharedStore(Protocol):
    """Rows by key. Every method raises SharedUnavailable when the store cannot be used, and `put`
    SharedReadOnly when it can be read only.
    """

    name: str
    """Its address for messages, without a password."""

    def get(self, keys: Sequence[bytes]) -> Mapping[bytes, bytes]: ...
    def put(self, rows: Iterable[tuple[bytes, bytes]], *, replace: bool = False) -> None: ...
    def has(self, keys: Sequence[bytes]) -> frozenset[bytes]: ...
    def ping(self) -> None: ...
    def close(self) -> None: ...


_TABLES = """
CREATE TABLE work (key BLOB PRIMARY KEY, data BLOB NOT NULL);
"""
_USED = "CREATE TABLE IF NOT EXISTS used (key BLOB PRIMARY KEY, day INTEGER NOT NULL) WITHOUT ROWID"
_TODAY = "CAST(julianday('now') AS INTEGER)"


class SqliteShared:
    """Shared rows in one file; for the server of a team without PostgreSQL."""

    def __init__(self, path: Path, bytes_max: int | None = None) -> None:
        self._path, self.name = path, os.fspath(path)
        self._bytes_max, self._bytes_since_check = bytes_max, 0
        self._lock = threading.Lock()
        self._connection: apsw.Connection | None = None

    def _open(self) -> apsw.Connection:
        if self._connection is not None:
            return self._connection
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not self._path.exists():
            os.close(os.open(self._path, os.O_CREAT | os.O_RDWR, 0o600))
        connection = apsw.Connection(str(self._path))
        connection.set_busy_timeout(5_000)
        connection.execute("PRAGMA journal_mode=WAL").fetchall()
        version = connection.pragma("user_version")
        if isinstance(version, int) and version > SHARED_VERSION:
            connection.close()
            raise NewerFormat(version, SHARED_VERSION)
        if version == 0:
            with connection:
                connection.execute(_TABLES)
                connection.execute(f"PRAGMA user_version={SHARED_VERSION}")
        if self._bytes_max is not None:
            connection.execute(_USED)
        self._connection = connection
        return connection

    def _note_use(self, connection: apsw.Connection, keys: Iterable[bytes]) -> None:
        """Record the day on which rows were used, once a day each."""
        if self._bytes_max is not None:
            put = (
                f"INSERT INTO used VALUES (?, {_TODAY}) ON CONFLICT (key) "  # noqa: S608
                "DO UPDATE SET day = excluded.day WHERE day < excluded.day"
            )
            with connection:
                connection.executemany(put, [(key,) for key in keys])

    def _keep_limit(self, connection: apsw.Connection, bytes_added: int) -> None:
        """Remove the least recently used rows if the limit is exceeded."""
        self._bytes_since_check += bytes_added
        if self._bytes_max is None or self._bytes_since_check * 100 < self._bytes_max:
            return
        self._bytes_since_check = 0
        size = f"length(data) + {ROW_BYTES}"
        with connection:
            total = connection.execute(f"SELECT coalesce(sum({size}), 0) FROM work").fetchone()  # noqa: S608
            if total is None or int(total[0]) <= self._bytes_max:
                return
            connection.execute(
                f"DELETE FROM work WHERE key IN (SELECT key FROM (SELECT work.key, sum({size}) "  # noqa: S608
                "OVER (ORDER BY coalesce(day, 0) DESC, work.key) AS kept FROM work "
                "LEFT JOIN used ON used.key = work.key) WHERE kept > ?)",
                (int(self._bytes_max * KEEP_SHARE),),
            )
            connection.execute("DELETE FROM used WHERE key NOT IN (SELECT key FROM work)")

    def get(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        rows: dict[bytes, bytes] = {}
        with self._lock, _translated():
            connection = self._open()
            # Of damaged pages a value may seem to be text, which apsw would decode.
            ask = "SELECT CAST(data AS BLOB) FROM work WHERE key = ?"
            for key in keys:
                row = connection.execute(ask, (key,)).fetchone()
                if row is not None and isinstance(row[0], bytes):
                    rows[key] = row[0]
            self._note_use(connection, rows)
        return rows

    def has(self, keys: Sequence[bytes]) -> frozenset[bytes]:
        with self._lock, _translated():
            ask = self._open().execute
            sql = "SELECT 1 FROM work WHERE key = ?"
            return frozenset(key for key in keys if ask(sql, (key,)).fetchone() is not None)

    def put(self, rows: Iterable[tuple[bytes, bytes]], *, replace: bool = False) -> None:
        put = "INSERT OR IGNORE INTO work VALUES (?,?)"
        if replace:
            put = "INSERT OR REPLACE INTO work VALUES (?,?)"
        with self._lock, _translated():
            connection, pairs = self._open(), list(rows)
            with connection:
                connection.executemany(put, pairs)
            self._note_use(connection, (key for key, _ in pairs))
            self._keep_limit(connection, sum(len(data) + ROW_BYTES for _, data in pairs))

    def ping(self) -> None:
        with self._lock, _translated():
            self._open()

    def close(self) -> None:
        with self._lock, suppress(apsw.Error):
            if self._connection is not None:
                self._connection.close()
                self._connection = None


class _translated:
    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if isinstance(error, apsw.Error | OSError):
            raise SharedUnavailable(f"the shared index cannot be used: {error}") from error
