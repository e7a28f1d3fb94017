"""Generations on PostgreSQL: one schema for a namespace, rows by root.

The next generation is written in one transaction; other sessions go on seeing the last committed
one, and a session that dies is rolled back by the server. A namespace (by default the host's name)
keeps machines apart that share a server, because `/home/me/repo` is a different tree on each.

Postings and vectors are kept in the segments that the embedded backend keeps, and ranked by the
same code, so a question has the same answer here and there. The server needs no extension.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from holdfast.files.snapshot import Entry, Snapshot, Stat
from holdfast.index import changes
from holdfast.index.changes import Change
from holdfast.index.errors import BackendUnavailable, DamagedBackend
from holdfast.index.generation import ChunkId, Identity, PreparedFile, StoredChunk, Totals
from holdfast.index.search import segment as segment_format
from holdfast.index.search.merging import merge
from holdfast.index.search.trigrams import KeptFile
from holdfast.index.segments import (
    ROWS_MAX,
    Gathering,
    Opened,
    Standing,
    check_digest,
    digest,
    followed,
    opened,
    to_merge,
)
from holdfast.postgresql import NotReached, connect

if TYPE_CHECKING:
    import psycopg

    from holdfast.index.search.corpus import Corpus
    from holdfast.index.search.segment import Segment

SCHEMA_VERSION = 2
"""The tables' version, in the schema's comment. Another version's schema is made anew by a writer.

- 1: root, file, chunk, posting.
- 2: root, file, chunk, segment: the embedded backend's postings and vectors.
"""

_TABLES = """
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

_TRIGRAM = """
CREATE TABLE IF NOT EXISTS trigram (
  file_id bigint PRIMARY KEY REFERENCES file (id) ON DELETE CASCADE,
  signatures bytea NOT NULL,
  names bytea NOT NULL
)
"""
"""Apart from the others: what it holds says its own version, and an index can do without."""

_CHANGE = """
CREATE TABLE IF NOT EXISTS change (
  root_id bigint PRIMARY KEY REFERENCES root (id) ON DELETE CASCADE,
  notes text NOT NULL
)
"""
"""Notes of what the last generations changed (`changes.py`); an index can do without."""

CONNECT_S = 5
IDLE_MAX = 4

OPEN_MAX = 4
"""How many roots' postings stay open."""


class PostgresBackend:
    """Generations on a server that several processes may share."""

    provider = "postgresql"
    probe_timeout_s = 5.0

    def __init__(self, url: str, dimension: int, namespace: str = "") -> None:
        self._url, self._dimension = url, dimension
        digest = hashlib.sha256(namespace.encode("utf-8", "surrogateescape")).hexdigest()
        self._schema = f"holdfast_index_{digest[:32]}"
        self._lock = threading.Lock()
        self._idle: list[psycopg.Connection[Any]] = []
        self._open: OrderedDict[str, tuple[Identity, Opened]] = OrderedDict()
        self._ready = False

    # Connections.

    def _connect(self) -> psycopg.Connection[Any]:
        try:
            connection = connect(self._url, "holdfast index", CONNECT_S)
        except NotReached as error:
            raise BackendUnavailable(str(error), hint=error.hint) from None
        import psycopg

        try:
            connection.execute(f"SET search_path TO {self._schema}, public")
        except psycopg.Error as error:
            raise BackendUnavailable(f"PostgreSQL: {str(error).strip()}") from error
        return connection

    @contextmanager
    def _session(self) -> Iterator[psycopg.Connection[Any]]:
        """A connection for one piece of work; one that failed is not used again."""
        import psycopg

        connection = self._lent() or self._connect()
        try:
            yield connection
        except psycopg.Error as error:
            connection.close()
            if isinstance(error, psycopg.errors.UndefinedTable):
                self._ready = False  # Somebody dropped the schema; look again next time.
            raise BackendUnavailable(f"PostgreSQL: {str(error).strip()}") from error
        except BaseException:
            connection.close()
            raise
        with self._lock:
            if len(self._idle) < IDLE_MAX and not connection.closed:
                self._idle.append(connection)
            else:
                connection.close()

    def _lent(self) -> psycopg.Connection[Any] | None:
        """An idle connection that still answers; a server restart leaves only dead ones."""
        import psycopg

        while True:
            with self._lock:
                if not self._idle:
                    return None
                connection = self._idle.pop()
            try:
                connection.execute("SELECT 1")
                return connection
            except psycopg.Error:
                connection.close()

    def _prepared(self, connection: psycopg.Connection[Any]) -> bool:
        """Whether our tables are there, in our version."""
        if not self._ready:
            row = connection.execute(
                "SELECT obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE nspname = $1",
                (self._schema,),
            ).fetchone()
            self._ready = row is not None and row[0] == f"holdfast index {SCHEMA_VERSION}"
        return self._ready

    def _prepare(self, connection: psycopg.Connection[Any]) -> None:
        if self._prepared(connection):
            return
        with connection.transaction():
            # Two processes may come at once; the second waits and finds it made.
            connection.execute(
                "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", (self._schema,)
            )
            if self._prepared(connection):
                return
            # Derived data: another version's tables are dropped, and what they held is built again.
            connection.execute(f"DROP SCHEMA IF EXISTS {self._schema} CASCADE")
            connection.execute(f"CREATE SCHEMA {self._schema}")
            for statement in _TABLES.split(";\n"):
                connection.execute(statement)
            connection.execute(
                f"COMMENT ON SCHEMA {self._schema} IS 'holdfast index {SCHEMA_VERSION}'"
            )
        self._ready = True

    # Reading.

    def read_marker(self, root: str) -> object | None:
        with self._session() as connection:
            if not self._prepared(connection):
                return None
            row = connection.execute("SELECT marker FROM root WHERE path = $1", (root,)).fetchone()
            return None if row is None else row[0]

    def roots(self) -> list[str]:
        with self._session() as connection:
            if not self._prepared(connection):
                return []
            found = connection.execute(
                "SELECT path FROM root WHERE marker IS NOT NULL ORDER BY path"
            )
            return [row[0] for row in found]

    @contextmanager
    def reader(self, root: str) -> Iterator[PostgresReader]:
        with self._session() as connection:
            if not self._prepared(connection):
                raise BackendUnavailable(f"nothing is stored for {root}")
            # One snapshot: every query of a reader sees one generation.
            connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            try:
                yield PostgresReader(connection, root, self._corpus)
            finally:
                if not connection.closed:
                    connection.execute("ROLLBACK")

    def _corpus(
        self, root: str, number: int, connection: psycopg.Connection[Any], identity: Identity
    ) -> Corpus:
        with self._lock:
            known = self._open.get(root)
            if known is not None and known[0] == identity:
                self._open.move_to_end(root)
                return known[1].corpus
        digests = connection.execute("SELECT id, digest FROM segment WHERE root_id = $1", (number,))
        files = (
            "SELECT id, path, language, segment_id, slot FROM file "
            "WHERE root_id = $1 AND segment_id IS NOT NULL"
        )

        def load(segment: int) -> Segment:
            return _segment(connection, segment, self._dimension)

        standing = dict(digests.fetchall())
        notes = _notes(connection, number) if known is not None else []
        change = changes.leading(notes, known[0], identity) if known is not None else None
        if known is not None and change is not None:
            added = connection.execute(f"{files} AND id = ANY($2)", (number, list(change.added)))
            made = followed(known[1], change, added.fetchall(), load, standing)
        else:
            before = known[1].segments if known is not None else {}
            every = connection.execute(files, (number,)).fetchall()
            made = opened(standing, every, before, load)
        with self._lock:
            self._open[root] = (identity, made)
            while len(self._open) > OPEN_MAX:
                self._open.popitem(last=False)
        return made.corpus

    # Writing.

    def check(self, root: str) -> None:
        with self._session() as connection:
            self._prepare(connection)

    @contextmanager
    def writer(self, root: str) -> Iterator[PostgresWriter]:
        with self._session() as connection:
            self._prepare(connection)
            for table, made in (("trigram", _TRIGRAM), ("change", _CHANGE)):
                if not _has(connection, table):
                    connection.execute(made)
            connection.execute("BEGIN")
            try:
                writer = PostgresWriter(connection, root, self._dimension)
                yield writer
            finally:
                if not connection.closed:
                    connection.execute("ROLLBACK")

    def drop(self, root: str) -> None:
        with self._session() as connection:
            if self._prepared(connection):
                connection.execute("DELETE FROM root WHERE path = $1", (root,))
        with self._lock:
            self._open.pop(root, None)

    def close(self) -> None:
        with self._lock:
            for connection in self._idle:
                connection.close()
            self._idle.clear()


class PostgresReader:
    """One generation, in a read-only transaction."""

    def __init__(self, connection: psycopg.Connection[Any], root: str, corpus: Any) -> None:
        self._connection, self._path, self._open = connection, root, corpus
        row = connection.execute(
            "SELECT id, generation, run FROM root WHERE path = $1", (root,)
        ).fetchone()
        if row is None:
            raise BackendUnavailable(f"nothing is stored for {root}")
        self._root = row[0]
        self.identity: Identity = (row[1], row[2])

    def snapshot(self) -> Snapshot:
        return _snapshot(self._connection, self._root)

    def totals(self) -> Totals:
        return _totals(self._connection, self._root)

    def corpus(self) -> Corpus:
        found: Corpus = self._open(self._path, self._root, self._connection, self.identity)
        return found

    def chunks(self, ids: Iterable[ChunkId]) -> dict[ChunkId, StoredChunk]:
        asked = list(ids)
        found = self._connection.execute(
            f"{_CHUNK} JOIN unnest($2::bigint[], $3::bigint[]) AS asked (number, place) "
            "ON file_id = number AND ordinal = place WHERE root_id = $1",
            (self._root, [number for number, _ in asked], [place for _, place in asked]),
        )
        return {(row[0], row[1]): StoredChunk((row[0], row[1]), *row[2:]) for row in found}

    def texts(self, ids: Sequence[ChunkId]) -> list[tuple[ChunkId, str]]:
        numbers, ordinals = [n for n, _ in ids], [o for _, o in ids]
        found = self._connection.execute(
            "SELECT file_id, chunk.ordinal, text FROM chunk "
            "JOIN unnest($1::bigint[], $2::bigint[]) AS asked (number, ordinal) "
            "ON file_id = number AND chunk.ordinal = asked.ordinal ORDER BY 1, 2",
            (numbers, ordinals),
        )
        return [((number, ordinal), text) for number, ordinal, text in found]

    def chunks_of(self, path: str) -> list[StoredChunk]:
        found = self._connection.execute(
            f"{_CHUNK} WHERE root_id = $1 AND path = $2 ORDER BY ordinal",
            (self._root, path),
        )
        return [StoredChunk((row[0], row[1]), *row[2:]) for row in found]

    def kept_files(self) -> list[KeptFile]:
        kept = "signatures, names FROM file LEFT JOIN trigram ON trigram.file_id = file.id"
        found = self._connection.execute(
            "SELECT id, path, language, problem, chunk_count, "
            f"{kept if _has(self._connection, 'trigram') else 'NULL, NULL FROM file'} "
            "WHERE root_id = $1 ORDER BY path",
            (self._root,),
        )
        return [
            KeptFile(*row[:5], *(None if kept is None else bytes(kept) for kept in row[5:]))
            for row in found
        ]

    def entry(self, path: str) -> Entry | None:
        row = self._connection.execute(
            "SELECT size_bytes, mtime_ns, ctime_ns, digest FROM file "
            "WHERE root_id = $1 AND path = $2",
            (self._root, path),
        ).fetchone()
        return None if row is None else Entry(Stat(*row[:3]), row[3])

    def facts(self, paths: Iterable[str]) -> dict[str, bytes]:
        found = self._connection.execute(
            "SELECT path, facts FROM file WHERE root_id = $1 AND path = ANY($2)",
            (self._root, list(paths)),
        )
        return {row[0]: bytes(row[1]) for row in found}

    def all_facts(self) -> Iterable[tuple[str, bytes]]:
        found = self._connection.execute(
            "SELECT path, facts FROM file WHERE root_id = $1 ORDER BY path", (self._root,)
        )
        return [(row[0], bytes(row[1])) for row in found]

    def problems(self) -> Mapping[str, str]:
        found = self._connection.execute(
            "SELECT path, problem FROM file WHERE root_id = $1 AND problem IS NOT NULL "
            "ORDER BY path",
            (self._root,),
        )
        return dict(found.fetchall())


_CHUNK = (
    "SELECT file_id, ordinal, path, language, start_line, end_line, text, symbol_id, label, kind "
    "FROM chunk JOIN file ON file.id = file_id"
)


def _snapshot(connection: psycopg.Connection[Any], root: int) -> Snapshot:
    found = connection.execute(
        "SELECT path, digest, size_bytes, mtime_ns, ctime_ns FROM file WHERE root_id = $1", (root,)
    )
    entries = {
        path: Entry(Stat(size, mtime, ctime), digest) for path, digest, size, mtime, ctime in found
    }
    row = connection.execute("SELECT taken_ns FROM root WHERE id = $1", (root,)).fetchone()
    return Snapshot(entries, row[0] if row else 0)


def _totals(connection: psycopg.Connection[Any], root: int) -> Totals:
    row = connection.execute(
        "SELECT count(*), coalesce(sum(chunk_count), 0)::bigint FROM file WHERE root_id = $1",
        (root,),
    ).fetchone()
    assert row is not None
    return Totals(*row)


def _segment(connection: psycopg.Connection[Any], number: int, dimension: int) -> Segment:
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


def _has(connection: psycopg.Connection[Any], table: str) -> bool:
    row = connection.execute("SELECT to_regclass($1) IS NOT NULL", (table,)).fetchone()
    return row is not None and bool(row[0])


def _notes(connection: psycopg.Connection[Any], root: int) -> list[Change]:
    if not _has(connection, "change"):
        return []
    row = connection.execute("SELECT notes FROM change WHERE root_id = $1", (root,)).fetchone()
    return [] if row is None else changes.decode(row[0])


def _clean(text: str) -> str:
    """PostgreSQL has no room for NUL in text."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}") if "\0" in text else text


class PostgresWriter:
    """The next generation, in a transaction of its own."""

    def __init__(self, connection: psycopg.Connection[Any], root: str, dimension: int) -> None:
        self._connection, self._dimension = connection, dimension
        connection.execute("SELECT pg_advisory_xact_lock(hashtextextended($1, 1))", (root,))
        connection.execute("INSERT INTO root (path) VALUES ($1) ON CONFLICT DO NOTHING", (root,))
        row = connection.execute(
            "SELECT id, generation, run FROM root WHERE path = $1", (root,)
        ).fetchone()
        assert row is not None
        self._root, self.generation = row[0], row[1] + 1
        self.follows: Identity = (row[1], row[2])
        self._removed: set[int] = set()
        self._added: set[int] = set()
        self._followable = True
        self._gathering = Gathering(dimension)
        self._gathered_as: int | None = None

    def snapshot(self) -> Snapshot:
        return _snapshot(self._connection, self._root)

    def totals(self) -> Totals:
        return _totals(self._connection, self._root)

    def start_over(self) -> None:
        for table in ("file", "segment"):
            self._connection.execute(f"DELETE FROM {table} WHERE root_id = $1", (self._root,))
        self._gathering, self._gathered_as = Gathering(self._dimension), None
        self._followable = False

    def put(self, file: PreparedFile) -> None:
        self.remove(file.path)
        run, stat = self._connection.execute, file.entry.stat
        slot = self._gathering.add(file) if file.chunks else None
        if slot is not None and self._gathered_as is None:
            self._gathered_as = self._new_number()
        row = run(
            "INSERT INTO file (root_id, path, digest, size_bytes, mtime_ns, ctime_ns, language, "
            "problem, chunk_count, segment_id, slot, facts) "
            "VALUES ($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12) RETURNING id",
            (self._root, file.path, file.entry.digest, stat.size_bytes, stat.mtime_ns,
             stat.ctime_ns, file.language, file.problem, len(file.chunks),
             None if slot is None else self._gathered_as, slot, file.facts),
        ).fetchone()  # fmt: skip
        assert row is not None
        self._added.add(row[0])
        self._connection.execute(
            "INSERT INTO trigram VALUES ($1,$2,$3)", (row[0], file.signatures, file.names)
        )
        self._copy(
            "chunk (file_id, ordinal, start_line, end_line, symbol_id, label, kind, text)",
            [
                (row[0], ordinal, c.start_line, c.end_line, c.symbol_id,
                 None if c.label is None else _clean(c.label), c.kind, _clean(c.text))
                for ordinal, c in enumerate(file.chunks)
            ],
        )  # fmt: skip
        if self._gathering.rows >= ROWS_MAX:
            self._put_segment()

    def _new_number(self) -> int:
        row = self._connection.execute("SELECT nextval('segment_id')").fetchone()
        assert row is not None
        return int(row[0])

    def _put_segment(self) -> None:
        if self._gathered_as is not None:
            self._insert_segment(self._gathered_as, self._gathering.take())
            self._gathered_as = None

    def _insert_segment(self, number: int, segment: Segment) -> None:
        postings, vectors = segment_format.pack(segment), segment_format.pack_vectors(segment)
        self._connection.execute(
            "INSERT INTO segment VALUES ($1,$2,$3,$4,$5,$6)",
            (number, self._root, digest(postings, vectors), segment.rows, postings, vectors),
        )

    def _merge_segments(self) -> None:
        """Leave no segment that is mostly dead, and few small ones."""
        found = self._connection.execute(
            "SELECT id, rows, (SELECT coalesce(sum(chunk_count), 0)::bigint FROM file "
            "WHERE segment_id = segment.id) FROM segment WHERE root_id = $1",
            (self._root,),
        )
        for group in to_merge([Standing(*row) for row in found]):
            parts, moves = [], []
            slots = 0
            for old in group:
                segment = _segment(self._connection, old, self._dimension)
                renamed: list[int | None] = [None] * (int(segment.slots.max(initial=0)) + 1)
                for number, slot in self._connection.execute(
                    "SELECT id, slot FROM file WHERE segment_id = $1", (old,)
                ):
                    renamed[slot] = slots
                    moves.append((number, slots))
                    slots += 1
                parts.append((segment, renamed))
            if moves:
                self._followable = False
                new = self._new_number()
                self._insert_segment(new, merge(parts, self._dimension))
                self._connection.execute(
                    "UPDATE file SET segment_id = $1, slot = place "
                    "FROM unnest($2::bigint[], $3::bigint[]) AS moved (number, place) "
                    "WHERE id = number",
                    (new, [number for number, _ in moves], [slot for _, slot in moves]),
                )
            self._connection.execute("DELETE FROM segment WHERE id = ANY($1)", (group,))

    def _copy(self, into: str, rows: list[tuple[Any, ...]]) -> None:
        if not rows:
            return
        with self._connection.cursor() as cursor, cursor.copy(f"COPY {into} FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)

    def remove(self, path: str) -> None:
        gone = self._connection.execute(
            "DELETE FROM file WHERE root_id = $1 AND path = $2 RETURNING id", (self._root, path)
        ).fetchone()
        if gone is None:
            return
        if gone[0] in self._added:
            self._added.remove(gone[0])
        else:
            self._removed.add(gone[0])

    def restat(self, path: str, entry: Entry) -> None:
        stat = entry.stat
        self._connection.execute(
            "UPDATE file SET size_bytes=$3, mtime_ns=$4, ctime_ns=$5 "
            "WHERE root_id=$1 AND path=$2 AND digest=$6",
            (self._root, path, stat.size_bytes, stat.mtime_ns, stat.ctime_ns, entry.digest),
        )

    def publish(self, marker: str, taken_ns: int) -> Identity:
        self._put_segment()
        self._merge_segments()
        identity = (self.generation, os.urandom(8).hex())
        done = self._connection.execute(
            "UPDATE root SET marker=$2, generation=$3, taken_ns=$4, run=$5 WHERE id=$1",
            (self._root, marker, self.generation, taken_ns, identity[1]),
        )
        if done.rowcount != 1:
            raise BackendUnavailable("another host cleared the index while it was being written")
        self._note(identity)
        self._commit()
        return identity

    def _commit(self) -> None:
        import psycopg

        try:
            self._connection.execute("COMMIT")
        except psycopg.OperationalError as error:
            raise BackendUnavailable(
                "PostgreSQL went away at the last step, so the run may have been published",
                hint="try again",
            ) from error

    def _note(self, identity: Identity) -> None:
        """Say what a reader of an earlier generation has to take note of."""
        if not self._followable:
            self._connection.execute("DELETE FROM change WHERE root_id = $1", (self._root,))
            return
        change = Change(self.follows, identity, frozenset(self._removed), frozenset(self._added))
        notes = changes.noted(_notes(self._connection, self._root), change)
        self._connection.execute(
            "INSERT INTO change VALUES ($1, $2) "
            "ON CONFLICT (root_id) DO UPDATE SET notes = excluded.notes",
            (self._root, changes.encode(notes)),
        )
