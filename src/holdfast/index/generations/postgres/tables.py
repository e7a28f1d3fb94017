"""The tables of a namespace on PostgreSQL, and the queries that readers and writers share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.files.snapshot import Entry, Snapshot, Stat
from holdfast.index.errors import DamagedBackend
from holdfast.index.generations import change_log
from holdfast.index.generations.change_log import Change
from holdfast.index.generations.checksums import crc32, encode, row_check
from holdfast.index.generations.model import Totals
from holdfast.index.generations.segments import FileRow, check_digest
from holdfast.index.search import posting_segment as segment_format

if TYPE_CHECKING:
    import psycopg

    from holdfast.index.search.posting_segment import PostingSegment

SCHEMA_VERSION = 4
"""The tables' version, in the schema's comment. A writer recreates a schema of an older version.

- 1: root, file, chunk, posting.
- 2: root, file, chunk, segment: the embedded backend's postings and vectors.
- 3: every row has a checksum (`checksums.py`), and root has the numbers of files and chunks.
- 4: the root is in every key, and all tables but root are partitioned by it.
"""

PARTITIONS = 8
"""Partitions of each table, by root: a distributed server keeps a repository together."""

TABLES = """
CREATE TABLE root (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  path text COLLATE "C" NOT NULL UNIQUE,
  generation bigint NOT NULL DEFAULT 0,
  taken_ns bigint NOT NULL DEFAULT 0,
  run text NOT NULL DEFAULT '',
  marker text,
  files bigint NOT NULL DEFAULT 0,
  chunks bigint NOT NULL DEFAULT 0,
  root_check bigint
);
CREATE SEQUENCE file_id AS bigint;
CREATE SEQUENCE segment_id AS bigint;
CREATE TABLE file (
  id bigint NOT NULL DEFAULT nextval('file_id'),
  root_id bigint NOT NULL REFERENCES root (id) ON DELETE CASCADE,
  path text COLLATE "C" NOT NULL,
  digest text NOT NULL,
  size_bytes bigint NOT NULL,
  mtime_ns bigint NOT NULL,
  ctime_ns bigint NOT NULL,
  language text NOT NULL,
  problem text,
  chunk_count bigint NOT NULL,
  segment_id bigint,
  slot bigint,
  facts bytea NOT NULL,
  stat_check bigint NOT NULL,
  place_check bigint NOT NULL,
  facts_check bigint NOT NULL,
  PRIMARY KEY (root_id, id),
  UNIQUE (root_id, path)
) PARTITION BY HASH (root_id);
CREATE INDEX file_segment ON file (root_id, segment_id);
CREATE TABLE chunk (
  root_id bigint NOT NULL,
  file_id bigint NOT NULL,
  ordinal bigint NOT NULL,
  start_line bigint NOT NULL,
  end_line bigint NOT NULL,
  symbol_id text,
  label text,
  kind text NOT NULL,
  text text NOT NULL,
  chunk_check bigint NOT NULL,
  PRIMARY KEY (root_id, file_id, ordinal)
) PARTITION BY HASH (root_id);
CREATE TABLE segment (
  id bigint NOT NULL,
  root_id bigint NOT NULL REFERENCES root (id) ON DELETE CASCADE,
  digest text NOT NULL,
  rows bigint NOT NULL,
  postings bytea STORAGE EXTERNAL NOT NULL,
  vectors bytea STORAGE EXTERNAL NOT NULL,
  PRIMARY KEY (root_id, id)
) PARTITION BY HASH (root_id)
"""

TRIGRAM = """
CREATE TABLE IF NOT EXISTS trigram (
  root_id bigint NOT NULL,
  file_id bigint NOT NULL,
  signatures bytea NOT NULL,
  names bytea NOT NULL,
  trigram_check bigint NOT NULL,
  PRIMARY KEY (root_id, file_id)
) PARTITION BY HASH (root_id)
"""
"""Separate from the others: its contents have their own version, and an index works without it."""

CHANGE = """
CREATE TABLE IF NOT EXISTS change (
  root_id bigint PRIMARY KEY REFERENCES root (id) ON DELETE CASCADE,
  notes text NOT NULL,
  notes_check bigint NOT NULL
) PARTITION BY HASH (root_id)
"""
"""The change log of the last generations (`change_log.py`); an index works without it."""

LINK = """
CREATE TABLE IF NOT EXISTS link (
  root_id bigint NOT NULL REFERENCES root (id) ON DELETE CASCADE,
  place bigint NOT NULL,
  digest text NOT NULL,
  files bigint NOT NULL,
  size_bytes bigint NOT NULL,
  data_check bigint NOT NULL,
  run text NOT NULL,
  link_check bigint NOT NULL,
  data bytea STORAGE EXTERNAL NOT NULL,
  PRIMARY KEY (root_id, digest)
) PARTITION BY HASH (root_id)
"""
"""The segments of links (`generations/link_files.py`), whose contents have their own version; an
index works without them."""
LATER = {"trigram": TRIGRAM, "change": CHANGE, "link": LINK}
"""The tables that an index works without."""


def statements() -> list[str]:
    """The statements that create the tables of a namespace."""
    sql = TABLES.strip().split(";\n")
    for table in ("file", "chunk", "segment"):
        sql += _partitions(table)
    return sql


def later_statements(table: str) -> list[str]:
    """The statements that create one of the optional tables."""
    return [LATER[table], *_partitions(table)]


def _partitions(table: str) -> list[str]:
    sql = []
    for number in range(PARTITIONS):
        sql.append(
            f"CREATE TABLE IF NOT EXISTS {table}_{number} PARTITION OF {table} "
            f"FOR VALUES WITH (MODULUS {PARTITIONS}, REMAINDER {number})"
        )
        if table in ("chunk", "trigram"):
            # Between partitions with the same number, which have the same roots.
            sql.append(
                f"ALTER TABLE {table}_{number} ADD FOREIGN KEY (root_id, file_id) "
                f"REFERENCES file_{number} (root_id, id) ON DELETE CASCADE"
            )
    return sql


ROOT = "path, generation, taken_ns, run, marker, files, chunks"
"""The values that `root_check` covers, once a generation was published."""
STAT = "path, digest, size_bytes, mtime_ns, ctime_ns"
"""The values that `stat_check` covers; a row is identified by path, not by number."""
PLACE = "path, language, problem, chunk_count, segment_id, slot"
"""The values that `place_check` covers."""
CHUNK = "path, ordinal, start_line, end_line, symbol_id, label, kind, text"
"""The values that `chunk_check` covers; a chunk under another file fails."""


class RootRow(NamedTuple):
    """The description of a root's generation."""

    path: str
    generation: int
    taken_ns: int
    run: str
    marker: str | None
    files: int
    chunks: int


def root_row(connection: psycopg.Connection[Any], path: str) -> tuple[int, RootRow] | None:
    """The number and the description of a root; raises DamagedBackend if they are damaged."""
    row = connection.execute(
        f"SELECT id, root_check, {ROOT} FROM root WHERE path = $1", (path,)
    ).fetchone()
    if row is None:
        return None
    number, check, *values = row
    if check != row_check(tuple(values)) and (check is not None or values[4] is not None):
        raise DamagedBackend("the description of the index is damaged: its checksum differs")
    return number, RootRow(*values)


def damaged_file(path: object) -> DamagedBackend:
    return DamagedBackend(f"what the index has of {path!r} is damaged: its checksum differs")


def check_complete(files: int, expected: int) -> None:
    if files != expected:
        raise DamagedBackend(f"the index has {files} of {expected} rows that it should have")


def snapshot(connection: psycopg.Connection[Any], root: int, root_row: RootRow) -> Snapshot:
    rows = connection.execute(f"SELECT {STAT}, stat_check FROM file WHERE root_id = $1", (root,))
    entries = {}
    for row in rows:
        path, digest, size, mtime, ctime, check = row
        if check != crc32(encode(row[:-1])):
            raise damaged_file(path)
        entries[path] = Entry(Stat(size, mtime, ctime), digest)
    check_complete(len(entries), root_row.files)
    return Snapshot(entries, root_row.taken_ns)


def placed_files(
    connection: psycopg.Connection[Any], root: int, only: list[int] | None = None
) -> list[FileRow]:
    """The files that have chunks: number, path, language, segment and slot of each."""
    query = f"SELECT id, {PLACE}, place_check FROM file WHERE root_id = $1"
    if only is None:
        rows = connection.execute(query, (root,))
    else:
        rows = connection.execute(f"{query} AND id = ANY($2)", (root, only))
    files = []
    for row in rows:
        number, path, language, _, _, segment, slot, check = row
        if check != crc32(encode(row[1:-1])):
            raise damaged_file(path)
        if segment is not None:
            files.append((number, path, language, segment, slot))
    return files


def totals(connection: psycopg.Connection[Any], root: int) -> Totals:
    row = connection.execute(
        "SELECT count(*), coalesce(sum(chunk_count), 0)::bigint FROM file WHERE root_id = $1",
        (root,),
    ).fetchone()
    assert row is not None
    return Totals(*row)


def segment(
    connection: psycopg.Connection[Any], root: int, number: int, dimension: int
) -> PostingSegment:
    statement = "SELECT postings, vectors, digest, rows FROM segment WHERE root_id = $1 AND id = $2"
    row = connection.cursor(binary=True).execute(statement, (root, number)).fetchone()
    if row is None:
        raise DamagedBackend("a segment of the index is missing")
    postings, vectors = bytes(row[0]), bytes(row[1])
    opened_segment = segment_format.unpack(postings, vectors, dimension)
    check_digest(postings, vectors, row[2])
    if row[3] != opened_segment.rows:
        raise DamagedBackend("a segment of the index has another number of chunks")
    return opened_segment


def has(connection: psycopg.Connection[Any], table: str) -> bool:
    row = connection.execute("SELECT to_regclass($1) IS NOT NULL", (table,)).fetchone()
    return row is not None and bool(row[0])


def notes(connection: psycopg.Connection[Any], root: int) -> list[Change]:
    if not has(connection, "change"):
        return []
    row = connection.execute(
        "SELECT notes, notes_check FROM change WHERE root_id = $1", (root,)
    ).fetchone()
    # Without a log a reader reads the whole generation.
    return [] if row is None or row[1] != row_check(row[:1]) else change_log.decode(row[0])
