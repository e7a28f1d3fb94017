"""The tables of a root's file, opening it to write, and queries that readers and writers share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw

from holdfast.files.snapshot import Entry, Snapshot, Stat
from holdfast.index.errors import BackendUnavailable, DamagedBackend
from holdfast.index.generations.model import Totals
from holdfast.index.generations.segments import check_digest
from holdfast.index.search import posting_segment as segment_format

if TYPE_CHECKING:
    from holdfast.index.search.posting_segment import PostingSegment

SCHEMA_VERSION = 2
"""The tables' version, in `user_version`.

- 1: meta, file, facts, vector, chunk, posting.
- 2: meta, file, facts, chunk, segment: postings and vectors in our own format. `changes` in meta is
  the change log of the last generations; it is optional.
"""

TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE file (
  id INTEGER PRIMARY KEY,
  path TEXT NOT NULL UNIQUE,
  digest TEXT NOT NULL,
  size_bytes INTEGER NOT NULL,
  mtime_ns INTEGER NOT NULL,
  ctime_ns INTEGER NOT NULL,
  language TEXT NOT NULL,
  problem TEXT,
  chunk_count INTEGER NOT NULL,
  segment INTEGER,
  slot INTEGER
);
CREATE INDEX file_segment ON file (segment);
CREATE TABLE facts (file_id INTEGER PRIMARY KEY, facts BLOB NOT NULL);
CREATE TABLE chunk (
  id INTEGER PRIMARY KEY,
  start_line INTEGER NOT NULL,
  end_line INTEGER NOT NULL,
  symbol_id TEXT,
  label TEXT,
  kind TEXT NOT NULL,
  text TEXT NOT NULL
);
CREATE TABLE segment (
  id INTEGER PRIMARY KEY,
  digest TEXT NOT NULL,
  rows INTEGER NOT NULL,
  postings BLOB NOT NULL,
  vectors BLOB NOT NULL
);
"""
TRIGRAM = """
CREATE TABLE IF NOT EXISTS trigram (
  file_id INTEGER PRIMARY KEY, signatures BLOB NOT NULL, names BLOB NOT NULL
)
"""
"""Separate from the others: its contents have their own version, and an index works without."""
_DROPS = ("vocabulary", "posting", "chunk", "vector", "facts", "file", "segment")

ORDINAL_BITS = 20
"""The id of a chunk is its file's number and, in the lowest bits, its position in the file."""

BUSY_MS = 5_000
PAGE_BYTES = 16_384
CACHE_KIB = 2_048


DAMAGED = (apsw.CorruptError, apsw.NotADBError)


def prepared(path: Path) -> apsw.Connection:
    """A connection in a write transaction, with the tables created."""
    connection = apsw.Connection(str(path))
    try:
        connection.set_busy_timeout(BUSY_MS)
        # Takes effect on a new file. Values are large, and each page costs a system call.
        connection.execute(f"PRAGMA page_size={PAGE_BYTES}")
        rows(connection, "PRAGMA journal_mode=WAL")
        # Not FULL: after a power cut the previous generation is served, or the index is rebuilt.
        connection.execute("PRAGMA synchronous=NORMAL")
        # The log is checkpointed after publishing, not during it.
        rows(connection, "PRAGMA wal_autocheckpoint=0")
        # Small, so that pages are written while files are still being prepared, not at the end.
        connection.execute(f"PRAGMA cache_size=-{CACHE_KIB}")
        connection.execute("PRAGMA temp_store=MEMORY")
        if not check_version(connection):
            connection.execute("BEGIN IMMEDIATE")
            if not check_version(connection):
                drop_tables(connection)
                connection.execute("DROP TABLE IF EXISTS meta")
                connection.execute(TABLES)
                connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}")
            connection.execute("COMMIT")
        connection.execute(TRIGRAM)
        connection.execute("BEGIN IMMEDIATE")
    except BaseException:
        connection.close()
        raise
    return connection


def check_version(connection: apsw.Connection) -> bool:
    """Whether a file has this version's tables; raises BackendUnavailable for a newer version."""
    version = connection.pragma("user_version")
    if isinstance(version, int) and version > SCHEMA_VERSION:
        raise BackendUnavailable(
            f"the index file has format {version}, and this version reads up to {SCHEMA_VERSION}",
            hint="update holdfast: a newer version wrote this file",
        )
    return bool(version == SCHEMA_VERSION)


def drop_tables(connection: apsw.Connection) -> None:
    for table in _DROPS:
        connection.execute(f"DROP TABLE IF EXISTS {table}")


def rows(connection: apsw.Connection, sql: str, parameters: Sequence[Any] = ()) -> list[Any]:
    return connection.execute(sql, parameters).fetchall()


def meta(connection: apsw.Connection, key: str) -> Any:
    found = row(connection, "SELECT value FROM meta WHERE key = ?", (key,))
    return None if found is None else found[0]


def row(connection: apsw.Connection, sql: str, parameters: Sequence[Any] = ()) -> Any:
    found = rows(connection, sql, parameters)
    return found[0] if found else None


def segment(connection: apsw.Connection, number: int, dimension: int) -> PostingSegment:
    """A stored segment; raises DamagedBackend if it is missing or damaged."""
    query = "SELECT postings, vectors, digest FROM segment WHERE id = ?"
    found = row(connection, query, (number,))
    if found is None:
        raise DamagedBackend("a segment of the index is missing")
    unpacked = segment_format.unpack(found[0], found[1], dimension)
    check_digest(*found)
    return unpacked


@contextmanager
def translated() -> Iterator[None]:
    try:
        yield
    except DAMAGED as error:
        raise DamagedBackend(f"an index file is damaged: {error}") from error
    except apsw.FullError as error:
        raise BackendUnavailable("the disk is full", hint="make room, then try again") from error
    except apsw.Error as error:
        raise BackendUnavailable(f"SQLite: {error}") from error


def snapshot(connection: apsw.Connection) -> Snapshot:
    entries = {
        path: Entry(Stat(size, mtime, ctime), digest)
        for path, digest, size, mtime, ctime in connection.execute(
            "SELECT path, digest, size_bytes, mtime_ns, ctime_ns FROM file"
        )
    }
    return Snapshot(entries, int(meta(connection, "taken_ns") or 0))


def totals(connection: apsw.Connection) -> Totals:
    files, chunks = row(connection, "SELECT count(*), coalesce(sum(chunk_count), 0) FROM file")
    return Totals(files, chunks)
