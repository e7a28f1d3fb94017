"""A cache of prepared files and vectors, by content, shared by all roots.

Trees share most of their files: branches, clones, worktrees, the same tree a minute later. A
prepared file depends only on its path and bytes, and a remote vector only on its text, so both are
cached under hashes. Each entry has a checksum; one that is missing or damaged is computed again.
The file is written without waiting for the disk, so a power cut may damage it; then it is replaced.
A file that a newer version wrote is neither used nor changed.

The size is bounded by a setting. After a build, indexes and cache together are also bounded by 2.5
times the size of the source. The least recently used entries are removed.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from zlib import crc32

import apsw

from holdfast.index.embedding.provider import usable_bytes

CONTENT_VERSION = 5
"""The tables' version; the file of an older version is replaced.

- 1: prepared(key, data), vector(key, row), kept in the order of their keys.
- 2: the same, but prepared in order of insertion, with separate keys: large values are written
  once and not moved by later inserts.
- 3: a value begins with the CRC-32 of its key and the rest.
- 4: entries have the run in which they were last used, and their size; files are compressed, with
  vectors at one byte per dimension.
- 5: files without what can be derived from their facts and bytes; free pages are released; the
  size of the source of each index.
"""
_CHECK = struct.Struct("<I")

BYTES_MAX = 256 * 1024**2
"""The maximum size of the cache, unless a setting says otherwise."""
ROOM = 0.8
"""A full cache is trimmed to this share of its bound."""
TIMES_SOURCE = 2.5
"""After a build, indexes and cache together take at most this many times the size of their source;
the cache may always have FLOOR_BYTES.
"""
FLOOR_BYTES = 8 * 1024**2
REMOVED_AT_ONCE = 256
PAGE_BYTES = 4_096
_TABLES = """
CREATE TABLE prepared (
  key BLOB PRIMARY KEY, used INTEGER NOT NULL, size INTEGER NOT NULL, data BLOB NOT NULL
);
CREATE TABLE vector (
  key BLOB PRIMARY KEY, used INTEGER NOT NULL, size INTEGER NOT NULL, data BLOB NOT NULL
);
CREATE TABLE source (name TEXT PRIMARY KEY, size INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX prepared_used ON prepared (used, size);
CREATE INDEX vector_used ON vector (used, size);
"""

_DAMAGED = (apsw.CorruptError, apsw.NotADBError, apsw.SQLError, apsw.FormatError)


def _sealed(key: bytes, value: bytes) -> bytes:
    return _CHECK.pack(crc32(value, crc32(key))) + value


def _opened(key: bytes, stored: object) -> memoryview | None:
    """The value in a stored entry, without copying it; None if it is damaged."""
    if not isinstance(stored, bytes) or len(stored) < _CHECK.size:
        return None
    value = memoryview(stored)[_CHECK.size :]
    return value if _CHECK.unpack_from(stored)[0] == crc32(value, crc32(key)) else None


class ContentCache:
    """Prepared files and vectors by hash, on SQLite. Never raises; on errors nothing is cached."""

    def __init__(self, path: Path, bytes_max: int = BYTES_MAX, indexes: Path | None = None) -> None:
        """Keep at most `bytes_max`, apart from what one run adds before it is trimmed.

        After a build, the size of `indexes` and TIMES_SOURCE limit it as well.
        """
        self._path, self._bytes_max, self._indexes = path, bytes_max, indexes
        self._added = False
        """Whether this run added an entry."""
        self._turn = 0
        """The number of this run, recorded in the entries it uses; 0 before it is known."""
        self._used: dict[str, set[bytes]] = {"prepared": set(), "vector": set()}
        """The keys that were found in this run."""
        self._connection: apsw.Connection | None = None
        self._damaged = False
        """Whether the file has to be replaced before anything is added."""

    def _open(self, create: bool) -> apsw.Connection | None:
        if self._connection is None:
            if not create and not self._path.exists():
                return None
            try:
                self._connection = self._connected()
                if self._connection is None and create and self._damaged:
                    self._remove()
                    self._connection = self._connected()
            except (OSError, apsw.Error):
                return None
        return self._connection

    def _connected(self) -> apsw.Connection | None:
        """A connection to a file of this version; None if it is damaged or from a newer version."""
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not self._path.exists():
            os.close(os.open(self._path, os.O_CREAT | os.O_RDWR, 0o600))
        connection = apsw.Connection(str(self._path))
        try:
            connection.set_busy_timeout(1000)
            version = connection.pragma("user_version")
            if isinstance(version, int) and version > CONTENT_VERSION:
                connection.close()
                return None
            connection.execute(f"PRAGMA page_size={PAGE_BYTES}")  # for a new file
            connection.execute("PRAGMA auto_vacuum=INCREMENTAL")
            connection.execute("PRAGMA journal_mode=WAL").fetchall()
            connection.execute("PRAGMA synchronous=OFF")
            if version != CONTENT_VERSION:
                with connection:
                    for table in ("prepared", "vector", "source"):
                        connection.execute(f"DROP TABLE IF EXISTS {table}")
                    connection.execute(_TABLES)
                    connection.execute(f"PRAGMA user_version={CONTENT_VERSION}")
                if version:
                    connection.execute("VACUUM")
        except _DAMAGED:
            connection.close()
            self._damaged = True
            return None
        except BaseException:
            connection.close()
            raise
        return connection

    def _remove(self) -> None:
        self.close()
        for end in ("", "-wal", "-shm"):
            self._path.with_name(self._path.name + end).unlink(missing_ok=True)
        self._damaged = False

    def has_prepared(self) -> bool:
        """Whether the cache has any prepared file; if not, lookups can be skipped."""
        return self._row("SELECT 1 FROM prepared LIMIT 1", ()) is not None

    def prepared(self, key: bytes) -> memoryview | None:
        return self._get("prepared", key)

    def vectors(self, keys: Sequence[bytes], dimension: int) -> list[bytes | None]:
        """The vectors under these keys; None for one that is missing or damaged."""
        rows = [self._get("vector", key) for key in keys]
        width = dimension * 4
        return [
            bytes(row) if row and len(row) == width and usable_bytes(row) else None for row in rows
        ]

    def _get(self, table: str, key: bytes) -> memoryview | None:
        row = self._row(f"SELECT data FROM {table} WHERE key = ?", (key,))
        if row is None:
            return None
        self._used[table].add(key)
        return _opened(key, row[0])

    def _row(self, sql: str, parameters: tuple[bytes, ...]) -> tuple[object, ...] | None:
        connection = self._open(create=False)
        if connection is None:
            return None
        try:
            row: tuple[object, ...] | None = connection.execute(sql, parameters).fetchone()
        except _DAMAGED:
            self._damaged = True
            return None
        except (apsw.Error, UnicodeDecodeError):  # The type of one value may be damaged.
            return None
        return row

    def keep_prepared(self, items: Iterable[tuple[bytes, bytes]]) -> None:
        self._keep("prepared", items)

    def keep_vectors(self, items: Iterable[tuple[bytes, bytes]]) -> None:
        self._keep("vector", items)

    def _keep(self, table: str, items: Iterable[tuple[bytes, bytes]]) -> None:
        rows = [(key, _sealed(key, value)) for key, value in items]
        if not rows or not self._bytes_max:
            return
        try:
            if self._damaged:
                self._remove()
            connection = self._open(create=True)
            if connection is None:
                return
            with connection:
                turn = self._this_turn(connection)
                connection.executemany(
                    f"INSERT OR REPLACE INTO {table} VALUES (?,?,?,?)",
                    [(key, turn, len(value), value) for key, value in rows],
                )
            self._added = True
            self._trim(connection, self._bytes_max)
        except _DAMAGED:
            self._damaged = True
        except (OSError, apsw.Error):
            return

    def _this_turn(self, connection: apsw.Connection) -> int:
        if not self._turn:
            last = [connection.execute(f"SELECT max(used) FROM {table}").fetchone()
                    for table in self._used]  # fmt: skip
            self._turn = 1 + max((int(row[0]) for row in last if row and row[0]), default=0)
        return self._turn

    def _mark_used(self, connection: apsw.Connection) -> None:
        """Record the entries that this run found, so that they are removed last."""
        if not any(self._used.values()):
            return
        with connection:
            turn = self._this_turn(connection)
            for table, keys in self._used.items():
                connection.executemany(
                    f"UPDATE {table} SET used = ? WHERE key = ? AND used < ?",
                    [(turn, key, turn) for key in keys],
                )
                keys.clear()

    def finish_run(self, index: str, source_bytes: Iterable[int]) -> None:
        """End a build: `index` names its index file, `source_bytes` are the sizes of its sources.

        Trims the cache to what the indexes leave of TIMES_SOURCE.
        """
        connection, self._turn = self._connection, 0
        if connection is None or not self._added:
            return
        self._added = False
        try:
            with connection:
                connection.execute(
                    "INSERT OR REPLACE INTO source VALUES (?,?)", (index, sum(source_bytes))
                )
            if self._indexes is not None:
                left = self._left(connection, self._indexes)
                self._trim(connection, min(self._bytes_max, max(FLOOR_BYTES, left)), room=1.0)
        except _DAMAGED:
            self._damaged = True
        except (OSError, apsw.Error):
            return
        finally:
            self._turn = 0

    def _left(self, connection: apsw.Connection, indexes: Path) -> int:
        """The bytes that the indexes leave of TIMES_SOURCE times their source."""
        rows: Any = connection.execute("SELECT name, size FROM source").fetchall()
        sources: dict[str, int] = dict(rows)
        left = 0.0
        for name, size in _sizes(indexes).items():
            # An index of an older version, whose source size is unknown, leaves nothing.
            if name in sources:
                left += TIMES_SOURCE * int(sources.pop(name)) - size
        for gone in sources:
            connection.execute("DELETE FROM source WHERE name = ?", (gone,))
        return int(left)

    def _trim(self, connection: apsw.Connection, bound: int, room: float = ROOM) -> None:
        """Remove the least recently used entries if the file is too large."""
        page = int(connection.pragma("page_size"))
        pages = int(connection.pragma("page_count")) - int(connection.pragma("freelist_count"))
        size = pages * page
        if size <= bound:
            return
        self._mark_used(connection)
        excess = size - int(room * bound)
        with connection:
            while excess > 0:
                oldest = [
                    (used, table, row, entry)
                    for table in self._used
                    for row, used, entry in connection.execute(
                        f"SELECT rowid, used, size FROM {table} ORDER BY used LIMIT ?",
                        (REMOVED_AT_ONCE,),
                    )
                ]
                for _, table, row, entry in sorted(oldest)[:REMOVED_AT_ONCE]:
                    if excess > 0:
                        connection.execute(f"DELETE FROM {table} WHERE rowid = ?", (row,))
                        excess -= entry
                if not oldest:
                    break
        connection.execute("PRAGMA incremental_vacuum").fetchall()

    def close(self) -> None:
        if self._connection is not None:
            with suppress(apsw.Error):
                self._mark_used(self._connection)
            self._connection.close()
            self._connection = None
        self._turn = 0


def _sizes(indexes: Path) -> dict[str, int]:
    """The size of each index: its files and directories start with its name."""
    sizes: dict[str, int] = {}
    tables: dict[str, int] = {}
    for at, _, names in os.walk(indexes):
        for name in names:
            size = os.stat(os.path.join(at, name)).st_size
            if at == str(indexes):
                # The contents of the log are, or will be, in the file itself.
                index = name.partition(".")[0]
                tables[index] = max(tables.get(index, 0), size)
            else:
                index = os.path.relpath(at, indexes).partition(".")[0]
                sizes[index] = sizes.get(index, 0) + size
    return {index: sizes.get(index, 0) + size for index, size in tables.items()}
