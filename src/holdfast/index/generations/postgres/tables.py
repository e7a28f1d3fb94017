"""The tables of a namespace on PostgreSQL, and the queries that readers and writers share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.files.snapshot import Entry, Snapshot, Stat
from holdfast.index.errors import DamagedBackend
from holdfast.index.generations import change_log
from holdfast.index.generations.change_log import Change
from holdfast.index.generations.model import Totals
from holdfast.index.generations.segments import check_digest
from holdfast.index.search import posting_segment as segment_format

if TYPE_CHECKING:
    import psycopg

    from holdfast.index.search.posting_segment import PostingSegment

SCHEMA_VERSION = 2
"""The tables' version, in the schema's comment. Another version's schema is made anew by a writer.

- 1: root, file, chunk, posting.
- 2: root, file, chunk, segment: the embedded backend's postings and vectors.
"""

TABLES = """
CREATE TABLE root (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  path text COLLATE "C" NOT NULL UNIQUE,
  generation bigint NOT NULL DEFAULT 0,
  taken_ns bigint NOT NULL DEFAULT 0,
  run text NOT NULL DEFAULT '',
  marker text
);
CREATE TABLE file (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
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
  UNIQUE (root_id, path)
);
CREATE INDEX file_segment ON file (segment_id);
CREATE TABLE chunk (
  file_id bigint NOT NULL REFERENCES file (id) ON DELETE CASCADE,
  ordinal bigint NOT NULL,
  start_line bigint NOT NULL,
  end_line bigint NOT NULL,
  symbol_id text,
  label text,
  kind text NOT NULL,
  text text NOT NULL,
  PRIMARY KEY (file_id, ordinal)
);
CREATE TABLE segment (
  id bigint PRIMARY KEY,
  root_id bigint NOT NULL REFERENCES root (id) ON DELETE CASCADE,
  digest text NOT NULL,
  rows bigint NOT NULL,
  postings bytea STORAGE EXTERNAL NOT NULL,
  vectors bytea STORAGE EXTERNAL NOT NULL
);
CREATE INDEX segment_root ON segment (root_id);
CREATE SEQUENCE segment_id AS bigint
"""

TRIGRAM = """
CREATE TABLE IF NOT EXISTS trigram (
  file_id bigint PRIMARY KEY REFERENCES file (id) ON DELETE CASCADE,
  signatures bytea NOT NULL,
  names bytea NOT NULL
)
"""
"""Separate from the others: its contents have their own version, and an index works without."""

CHANGE = """
CREATE TABLE IF NOT EXISTS change (
  root_id bigint PRIMARY KEY REFERENCES root (id) ON DELETE CASCADE,
  notes text NOT NULL
)
"""
"""What the last generations changed (`change_log.py`); an index works without it."""


def snapshot(connection: psycopg.Connection[Any], root: int) -> Snapshot:
    found = connection.execute(
        "SELECT path, digest, size_bytes, mtime_ns, ctime_ns FROM file WHERE root_id = $1", (root,)
    )
    entries = {
        path: Entry(Stat(size, mtime, ctime), digest) for path, digest, size, mtime, ctime in found
    }
    row = connection.execute("SELECT taken_ns FROM root WHERE id = $1", (root,)).fetchone()
    return Snapshot(entries, row[0] if row else 0)


def totals(connection: psycopg.Connection[Any], root: int) -> Totals:
    row = connection.execute(
        "SELECT count(*), coalesce(sum(chunk_count), 0)::bigint FROM file WHERE root_id = $1",
        (root,),
    ).fetchone()
    assert row is not None
    return Totals(*row)


def segment(connection: psycopg.Connection[Any], number: int, dimension: int) -> PostingSegment:
    row = (
        connection.cursor(binary=True)
        .execute("SELECT postings, vectors, digest FROM segment WHERE id = $1", (number,))
        .fetchone()
    )
    if row is None:
        raise DamagedBackend("a segment of the index is missing")
    postings, vectors = bytes(row[0]), bytes(row[1])
    found = segment_format.unpack(postings, vectors, dimension)
    check_digest(postings, vectors, row[2])
    return found


def has(connection: psycopg.Connection[Any], table: str) -> bool:
    row = connection.execute("SELECT to_regclass($1) IS NOT NULL", (table,)).fetchone()
    return row is not None and bool(row[0])


def notes(connection: psycopg.Connection[Any], root: int) -> list[Change]:
    if not has(connection, "change"):
        return []
    row = connection.execute("SELECT notes FROM change WHERE root_id = $1", (root,)).fetchone()
    return [] if row is None else change_log.decode(row[0])
