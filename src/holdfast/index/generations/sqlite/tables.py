"""The tables of a root's file, opening it to write, and queries that readers and writers share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw

from holdfast.files.snapshot import Entry, Snapshot, Stat
from holdfast.index.errors import BackendUnavailable, DamagedBackend, NewerFormat
from holdfast.index.generations.checksums import (
    blob_check,
    crc32,
    encode,
    mapping_check,
    row_check,
)
from holdfast.index.generations.link_files import LinkRow
from holdfast.index.generations.model import Totals
from holdfast.index.generations.packing import unpacked
from holdfast.index.generations.segment_files import StoredSegment
from holdfast.index.generations.segments import FileRow

SCHEMA_VERSION = 7
"""The tables' version, in `user_version`.

- 1: meta, file, facts, vector, chunk, posting.
- 2: meta, file, facts, chunk, segment: postings and vectors in our own format. `changes` in meta is
  the change log of the last generations; it is optional.
- 3: every row has a checksum (`checksums.py`), and meta has the numbers of files and chunks.
- 4: segments are in files of their own (`segment_files.py`); the tables have the checks of their
  blocks.
- 5: facts are compressed.
- 6: texts are apart from their chunks, those of neighbours compressed together.
- 7: chunks are in the rows of their texts (`chunks.py`); names are compressed.
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
  slot INTEGER,
  stat_check INTEGER NOT NULL,
  place_check INTEGER NOT NULL
);
CREATE TABLE facts (
  file_id INTEGER PRIMARY KEY, facts BLOB NOT NULL, facts_check INTEGER NOT NULL
);
CREATE TABLE chunk (id INTEGER PRIMARY KEY, data BLOB NOT NULL, chunk_check INTEGER NOT NULL);
CREATE TABLE segment (
  id INTEGER PRIMARY KEY,
  digest TEXT NOT NULL,
  rows INTEGER NOT NULL,
  size_bytes INTEGER NOT NULL,
  checks BLOB NOT NULL,
  segment_check INTEGER NOT NULL
);
"""
TRIGRAM = """
CREATE TABLE IF NOT EXISTS trigram (
  file_id INTEGER PRIMARY KEY, signatures BLOB NOT NULL, names BLOB NOT NULL,
  trigram_check INTEGER NOT NULL
)
"""
"""Separate from the others: its contents have their own version, and an index works without it."""
LINK = """
CREATE TABLE IF NOT EXISTS link (
  id INTEGER PRIMARY KEY, digest TEXT NOT NULL, files INTEGER NOT NULL,
  size_bytes INTEGER NOT NULL, data_check INTEGER NOT NULL, run TEXT NOT NULL,
  link_check INTEGER NOT NULL
)
"""
"""The segments of links (`generations/link_files.py`); separate for the same reason."""
LISTINGS = """
CREATE TABLE IF NOT EXISTS listings (data BLOB NOT NULL, listings_check INTEGER NOT NULL)
"""
"""The listings of directories (`files/listing_store.py`); separate for the same reason."""
FILE_LIST = """
CREATE TABLE IF NOT EXISTS file_list (
  key TEXT PRIMARY KEY, data BLOB NOT NULL, list_check INTEGER NOT NULL
)
"""
"""All files in one value (`file_lists.py`); separate for the same reason."""
_DROPS = (
    "vocabulary", "posting", "chunk", "text", "vector", "facts", "file", "segment", "trigram",
    "link", "listings", "file_list",
)  # fmt: skip

STAT = "id, path, digest, size_bytes, mtime_ns, ctime_ns"
"""The values that `stat_check` covers."""
PLACE = "id, path, language, problem, chunk_count, segment, slot"
"""The values that `place_check` covers."""
PLACED = "file.id, path, language, problem, chunk_count, segment, slot, place_check"

BUSY_MS = 5_000
PAGE_BYTES = 16_384
CACHE_KIB = 2_048


DAMAGED = (
    apsw.CorruptError, apsw.NotADBError, apsw.SQLError, apsw.ConstraintError, apsw.MismatchError,
    apsw.FormatError, apsw.TooBigError, UnicodeDecodeError,
)  # fmt: skip
"""Errors that mean a damaged file. Our statements are valid, so a missing table is damage."""


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
        connection.execute(LINK)
        connection.execute(LISTINGS)
        connection.execute(FILE_LIST)
        connection.execute("BEGIN IMMEDIATE")
    except BaseException:
        connection.close()
        raise
    return connection


def check_version(connection: apsw.Connection) -> bool:
    """Whether a file has this version's tables; raises NewerFormat for those of a newer one."""
    version = connection.pragma("user_version")
    if isinstance(version, int) and version > SCHEMA_VERSION:
        raise NewerFormat(version, SCHEMA_VERSION)
    return bool(version == SCHEMA_VERSION)


def drop_tables(connection: apsw.Connection) -> None:
    for table in _DROPS:
        connection.execute(f"DROP TABLE IF EXISTS {table}")


def rows(connection: apsw.Connection, sql: str, parameters: Sequence[Any] = ()) -> list[Any]:
    return connection.execute(sql, parameters).fetchall()


def meta(connection: apsw.Connection) -> dict[str, Any]:
    """The description of the generation; empty before the first one is published."""
    # The whole table, not one key: a damaged key would look like a value that was never set.
    values = dict(rows(connection, "SELECT key, value FROM meta"))
    if values and values.pop("check", None) != mapping_check(values):
        raise DamagedBackend("the description of the index is damaged: its checksum differs")
    return values


def put_meta(connection: apsw.Connection, values: Mapping[str, Any]) -> None:
    connection.executemany(
        "INSERT OR REPLACE INTO meta VALUES (?,?)",
        [*values.items(), ("check", mapping_check(values))],
    )


def row(connection: apsw.Connection, sql: str, parameters: Sequence[Any] = ()) -> Any:
    selection = rows(connection, sql, parameters)
    return selection[0] if selection else None


SEGMENT = "id, digest, rows, size_bytes, checks"
"""The values that `segment_check` covers."""


def unpacked_facts(path: object, stored: object, check: object) -> bytes | None:
    """The facts of a file, unpacked; None if they are damaged."""
    if not isinstance(path, str) or not isinstance(stored, bytes):
        return None
    if check != blob_check(path, stored):
        return None
    return unpacked(stored)


def put_segment(connection: apsw.Connection, number: int, stored: StoredSegment) -> None:
    values = (number, stored.digest, stored.rows, stored.size_bytes, stored.checks)
    connection.execute("INSERT INTO segment VALUES (?,?,?,?,?,?)", (*values, row_check(values)))


def stored_segments(
    connection: apsw.Connection, number: int | None = None
) -> dict[int, StoredSegment]:
    """The segments of the generation, or one of them; raises DamagedBackend for a damaged row."""
    query = f"SELECT {SEGMENT}, segment_check FROM segment"
    selection = (
        rows(connection, query)
        if number is None
        else rows(connection, f"{query} WHERE id = ?", (number,))
    )
    if number is not None and not selection:
        raise DamagedBackend("a segment of the index is missing")
    segments = {}
    for *values, check in selection:
        if check != row_check(tuple(values)):
            raise DamagedBackend("a segment of the index is damaged: its checksum differs")
        segments[values[0]] = StoredSegment(*values[1:])
    return segments


def put_links(connection: apsw.Connection, stored: Sequence[LinkRow]) -> None:
    """Replace the rows of all segments of links."""
    connection.execute("DELETE FROM link")
    rows_of = [
        (number, one.digest, one.files, one.size_bytes, one.check, one.run)
        for number, one in enumerate(stored)
    ]
    connection.executemany(
        "INSERT INTO link VALUES (?,?,?,?,?,?,?)",
        [(*values, row_check(values)) for values in rows_of],
    )


def stored_links(connection: apsw.Connection) -> tuple[list[LinkRow], bool]:
    """The segments of links, oldest first, and whether all rows are intact."""
    if row(connection, "SELECT 1 FROM sqlite_schema WHERE name = 'link'") is None:
        return [], True
    selection = rows(
        connection,
        "SELECT id, digest, files, size_bytes, data_check, run, link_check FROM link ORDER BY id",
    )
    good = [values for *values, check in selection if check == row_check(tuple(values))]
    return [LinkRow(*values[1:]) for values in good], len(good) == len(selection)


def put_listings(connection: apsw.Connection, data: bytes | None) -> None:
    """Store the listings of directories, in place of those before."""
    connection.execute("DELETE FROM listings")
    if data is not None:
        connection.execute("INSERT INTO listings VALUES (?,?)", (data, row_check((data,))))


def stored_listings(connection: apsw.Connection) -> tuple[bytes | None, bool]:
    """The listings of directories, if there are any, and whether they are not damaged."""
    if row(connection, "SELECT 1 FROM sqlite_schema WHERE name = 'listings'") is None:
        return None, True
    listing = row(connection, "SELECT data, listings_check FROM listings")
    if listing is None:
        return None, True
    data, check = listing
    return (data, True) if check == row_check((data,)) else (None, False)


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
    known = meta(connection)
    entries = {}
    for file_row in connection.execute(f"SELECT {STAT}, stat_check FROM file"):
        _, path, digest, size, mtime, ctime, check = file_row
        if check != crc32(encode(file_row[:-1])):
            raise damaged_file(path)
        entries[path] = Entry(Stat(size, mtime, ctime), digest)
    if len(entries) != known.get("files", 0):
        raise DamagedBackend(f"the index has {len(entries)} of {known.get('files', 0)} files")
    return Snapshot(entries, int(known.get("taken_ns") or 0))


def placed_files(connection: apsw.Connection, number: int | None = None) -> list[FileRow]:
    """The files that have chunks: number, path, language, segment and slot of each."""
    query = f"SELECT {PLACE}, place_check FROM file NOT INDEXED"
    parameters: tuple[int, ...] = ()
    if number is not None:
        query, parameters = f"{query} WHERE id = ?", (number,)
    files = []
    seen = 0
    for values in connection.execute(query, parameters):
        seen += 1
        file, path, language, _, _, segment, slot, check = values
        if check != crc32(encode(values[:-1])):
            raise damaged_file(path)
        if segment is not None:
            files.append((file, path, language, segment, slot))
    if seen != (meta(connection).get("files", 0) if number is None else 1):
        raise DamagedBackend("a file of the index is missing")
    return files


def damaged_file(path: object) -> DamagedBackend:
    return DamagedBackend(f"what the index has of {path!r} is damaged: its checksum differs")


def totals(connection: apsw.Connection) -> Totals:
    files, chunks = row(connection, "SELECT count(*), coalesce(sum(chunk_count), 0) FROM file")
    return Totals(files, chunks)
