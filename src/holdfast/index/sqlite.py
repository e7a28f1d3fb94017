"""Generations on SQLite: one file for each root, and the only SQL of the embedded backend.

The next generation is prepared inside one write transaction. SQLite lets readers see the last
committed state meanwhile, and undoes an open transaction by itself after a crash, so the old
generation serves until the new one, marker and all, is committed; there is no moment in between.

Postings and vectors are kept in segments (`holdfast.index.segments`), a blob each, and read once
for all generations that share them.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw

from holdfast.files.snapshot import Entry, Snapshot, Stat
from holdfast.index import changes
from holdfast.index.changes import Change
from holdfast.index.errors import HOME_HINT, BackendUnavailable, DamagedBackend
from holdfast.index.frozen import frozen, is_frozen
from holdfast.index.generation import ChunkId, Identity, PreparedFile, StoredChunk, Totals
from holdfast.index.leases import root_key
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

if TYPE_CHECKING:
    from holdfast.index.search.corpus import Corpus
    from holdfast.index.search.segment import Segment

SCHEMA_VERSION = 2
"""The tables' version, in `user_version`.

- 1: meta, file, facts, vector, chunk, posting.
- 2: meta, file, facts, chunk, segment: our own postings and vectors. `changes` in meta may say
  what the last generations changed; without it, or from an earlier one, all is read.
"""

_TABLES = """
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
_TRIGRAM = """
CREATE TABLE IF NOT EXISTS trigram (
  file_id INTEGER PRIMARY KEY, signatures BLOB NOT NULL, names BLOB NOT NULL
)
"""
"""Apart from the others: what it holds says its own version, and an index can do without."""
_DROPS = ("vocabulary", "posting", "chunk", "vector", "facts", "file", "segment")

ORDINAL_BITS = 20
"""A chunk's row is its file's number and, in this many bits, which chunk of the file it is."""

BUSY_MS = 5_000
PAGE_BYTES = 16_384
CACHE_KIB = 2_048
OPEN_MAX = 4
"""How many roots' postings stay open."""


class SqliteBackend:
    """The embedded backend: nothing to start."""

    provider = "sqlite"
    probe_timeout_s = 2.0

    def __init__(self, directory: Path, dimension: int) -> None:
        self._directory, self._dimension = directory, dimension
        self._lock = threading.Lock()
        self._open: OrderedDict[str, tuple[Identity, Opened]] = OrderedDict()
        self._idle: dict[str, list[tuple[int, apsw.Connection]]] = {}

    def _path(self, root: str) -> Path:
        return self._directory / f"{root_key(root)}.sqlite"

    # Reading.

    def read_marker(self, root: str) -> object | None:
        with self._reading(root) as connection:
            if connection is None:
                return None
            marker: object = _meta(connection, "marker")
            return marker

    def roots(self) -> list[str]:
        found = []
        for path in sorted(self._directory.glob("*.sqlite")):
            try:
                connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
                try:
                    root = _meta(connection, "root")
                finally:
                    connection.close()
            except apsw.Error:
                continue  # A file we cannot read speaks for no root.
            if isinstance(root, str):
                found.append(root)
        return found

    @contextmanager
    def reader(self, root: str) -> Iterator[SqliteReader]:
        with self._reading(root) as connection:
            if connection is None:
                raise BackendUnavailable(f"nothing is stored for {root}")
            with _translated():
                # One read transaction: every query of a reader sees one generation.
                connection.execute("BEGIN")
                try:
                    yield SqliteReader(connection, self._corpus, root)
                finally:
                    connection.execute("ROLLBACK")

    @contextmanager
    def _reading(self, root: str) -> Iterator[apsw.Connection | None]:
        """A connection that cannot write; None when the root has no file of our version."""
        path = self._path(root)
        try:
            inode = path.stat().st_ino
        except FileNotFoundError:
            yield None
            return
        if is_frozen(path):
            with _translated(), frozen(path) as connection:
                version = connection.pragma("user_version")
                yield connection if version == SCHEMA_VERSION else None
            return
        # A connection is used by one caller at a time, of any thread, and lent again when it comes
        # back: opening one takes longer than most questions.
        with self._lock:
            idle = self._idle.setdefault(root, [])
            while idle and idle[-1][0] != inode:
                idle.pop()[1].close()
            lent = idle.pop()[1] if idle else None
        with _translated():
            connection = lent if lent is not None else self._connect(path)
            version = connection.pragma("user_version")
        if version != SCHEMA_VERSION:
            connection.close()
            yield None
            return
        try:
            yield connection
        except BaseException:
            connection.close()
            raise
        with self._lock:
            self._idle.setdefault(root, []).append((inode, connection))

    def _connect(self, path: Path) -> apsw.Connection:
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        connection.set_busy_timeout(BUSY_MS)
        connection.execute("PRAGMA mmap_size=1073741824")
        return connection

    def _corpus(self, root: str, connection: apsw.Connection, identity: Identity) -> Corpus:
        with self._lock:
            known = self._open.get(root)
            if known is not None and known[0] == identity:
                self._open.move_to_end(root)
                return known[1].corpus
        digests = dict(_rows(connection, "SELECT id, digest FROM segment"))
        files = "SELECT id, path, language, segment, slot FROM file WHERE segment IS NOT NULL"

        def load(number: int) -> Segment:
            return _segment(connection, number, self._dimension)

        notes = changes.decode(_meta(connection, "changes"))
        change = changes.leading(notes, known[0], identity) if known is not None else None
        if known is not None and change is not None:
            places = ", ".join("?" * len(change.added))
            added = _rows(connection, f"{files} AND id IN ({places})", tuple(change.added))
            made = followed(known[1], change, added, load, digests)
        else:
            before = known[1].segments if known is not None else {}
            made = opened(digests, _rows(connection, files), before, load)
        with self._lock:
            self._open[root] = (identity, made)
            while len(self._open) > OPEN_MAX:
                self._open.popitem(last=False)
        return made.corpus

    # Writing.

    def check(self, root: str) -> None:
        try:
            self._directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise BackendUnavailable(
                f"cannot write to {self._directory}: {error}", HOME_HINT
            ) from error
        if not os.access(self._directory, os.W_OK):
            raise BackendUnavailable(f"cannot write to {self._directory}", HOME_HINT)

    @contextmanager
    def writer(self, root: str) -> Iterator[SqliteWriter]:
        self.check(root)
        with _translated():
            connection = self._open_for_writing(root)
            try:
                connection.execute("BEGIN IMMEDIATE")
                writer = SqliteWriter(connection, root, self._dimension)
                try:
                    yield writer
                finally:
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
                if writer.published:
                    # Only housekeeping: when a reader is in the way the log stays longer.
                    connection.set_busy_timeout(0)
                    _rows(connection, "PRAGMA wal_checkpoint(TRUNCATE)")
            finally:
                connection.close()

    def _open_for_writing(self, root: str) -> apsw.Connection:
        path = self._path(root)
        if not path.exists():
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
        try:
            return _prepared(path)
        except (apsw.NotADBError, apsw.CorruptError):
            # Derived data: the files it was made from are still there.
            self._unlink(root)
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
            return _prepared(path)

    def drop(self, root: str) -> None:
        try:
            self._unlink(root)
        except OSError as error:
            raise BackendUnavailable(f"cannot remove the index of {root}: {error}") from error
        with self._lock:
            self._open.pop(root, None)

    def _unlink(self, root: str) -> None:
        path = self._path(root)
        for name in (path, path.with_name(path.name + "-wal"), path.with_name(path.name + "-shm")):
            name.unlink(missing_ok=True)

    def close(self) -> None:
        with self._lock:
            for idle in self._idle.values():
                for _, connection in idle:
                    connection.close()
            self._idle.clear()


def _prepared(path: Path) -> apsw.Connection:
    connection = apsw.Connection(str(path))
    try:
        connection.set_busy_timeout(BUSY_MS)
        # Only a new file takes it. A generation is a few large values, and each page costs a call.
        connection.execute(f"PRAGMA page_size={PAGE_BYTES}")
        _rows(connection, "PRAGMA journal_mode=WAL")
        # Not FULL: an index lost to a power cut is the previous one, or is built again.
        connection.execute("PRAGMA synchronous=NORMAL")
        # Small, so that pages are written while files are still being prepared, not at the end.
        connection.execute(f"PRAGMA cache_size=-{CACHE_KIB}")
        connection.execute("PRAGMA temp_store=MEMORY")
        if connection.pragma("user_version") != SCHEMA_VERSION:
            connection.execute("BEGIN IMMEDIATE")
            if connection.pragma("user_version") != SCHEMA_VERSION:
                _drop_tables(connection)
                connection.execute("DROP TABLE IF EXISTS meta")
                connection.execute(_TABLES)
                connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}")
            connection.execute("COMMIT")
        connection.execute(_TRIGRAM)
    except BaseException:
        connection.close()
        raise
    return connection


def _drop_tables(connection: apsw.Connection) -> None:
    for table in _DROPS:
        connection.execute(f"DROP TABLE IF EXISTS {table}")


def _rows(connection: apsw.Connection, sql: str, parameters: Sequence[Any] = ()) -> list[Any]:
    return connection.execute(sql, parameters).fetchall()


def _meta(connection: apsw.Connection, key: str) -> Any:
    row = _row(connection, "SELECT value FROM meta WHERE key = ?", (key,))
    return None if row is None else row[0]


def _row(connection: apsw.Connection, sql: str, parameters: Sequence[Any] = ()) -> Any:
    found = _rows(connection, sql, parameters)
    return found[0] if found else None


def _segment(connection: apsw.Connection, number: int, dimension: int) -> Segment:
    row = _row(connection, "SELECT postings, vectors, digest FROM segment WHERE id = ?", (number,))
    if row is None:
        raise DamagedBackend("a segment of the index is missing")
    found = segment_format.unpack(row[0], row[1], dimension)
    check_digest(*row)
    return found


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except (apsw.CorruptError, apsw.NotADBError) as error:
        raise DamagedBackend(f"an index file is damaged: {error}") from error
    except apsw.FullError as error:
        raise BackendUnavailable("the disk is full", hint="make room, then try again") from error
    except apsw.Error as error:
        raise BackendUnavailable(f"SQLite: {error}") from error


class SqliteReader:
    """One generation, in a read transaction."""

    def __init__(self, connection: apsw.Connection, corpus: Any, root: str) -> None:
        self._connection, self._open, self._root = connection, corpus, root
        self.identity: Identity = (
            int(_meta(connection, "generation") or 0),
            str(_meta(connection, "run") or ""),
        )

    def snapshot(self) -> Snapshot:
        return _snapshot(self._connection)

    def totals(self) -> Totals:
        return _totals(self._connection)

    def corpus(self) -> Corpus:
        found: Corpus = self._open(self._root, self._connection, self.identity)
        return found

    def chunks(self, ids: Iterable[ChunkId]) -> dict[ChunkId, StoredChunk]:
        found: dict[ChunkId, StoredChunk] = {}
        keys = [number << ORDINAL_BITS | ordinal for number, ordinal in ids]
        low = (1 << ORDINAL_BITS) - 1
        for at in range(0, len(keys), KEYS_AT_ONCE):
            some = keys[at : at + KEYS_AT_ONCE]
            # Always as many places, so that the statement is prepared once.
            some += some[-1:] * (KEYS_AT_ONCE - len(some))
            for row in _rows(self._connection, _CHUNKS, some):
                identity = row[0] >> ORDINAL_BITS, row[0] & low
                found[identity] = StoredChunk(identity, *row[1:])
        return found

    def texts(self, ids: Sequence[ChunkId]) -> list[tuple[ChunkId, str]]:
        rows = sorted(number << ORDINAL_BITS | ordinal for number, ordinal in ids)
        found: list[tuple[int, str]] = []
        at = 0
        while at < len(rows):
            # Chunks of a file mostly come in runs, and a run is asked for at once.
            end = at + 1
            while end < len(rows) and rows[end] == rows[end - 1] + 1:
                end += 1
            query = "SELECT id, text FROM chunk WHERE id BETWEEN ? AND ? ORDER BY id"
            found += _rows(self._connection, query, (rows[at], rows[end - 1]))
            at = end
        low = (1 << ORDINAL_BITS) - 1
        return [((row >> ORDINAL_BITS, row & low), text) for row, text in found]

    def chunks_of(self, path: str) -> list[StoredChunk]:
        row = _row(self._connection, "SELECT id, chunk_count FROM file WHERE path = ?", (path,))
        if row is None:
            return []
        found = self.chunks((row[0], ordinal) for ordinal in range(row[1]))
        return [found[identity] for identity in sorted(found)]

    def kept_files(self) -> list[KeptFile]:
        there = _row(self._connection, "SELECT 1 FROM sqlite_schema WHERE name = 'trigram'")
        kept = "signatures, names FROM file LEFT JOIN trigram ON file_id = id"
        found = _rows(
            self._connection,
            "SELECT id, path, language, problem, chunk_count, "
            f"{kept if there else 'NULL, NULL FROM file'} ORDER BY path",
        )
        return [KeptFile(*row) for row in found]

    def entry(self, path: str) -> Entry | None:
        row = _row(
            self._connection,
            "SELECT size_bytes, mtime_ns, ctime_ns, digest FROM file WHERE path = ?",
            (path,),
        )
        return None if row is None else Entry(Stat(*row[:3]), row[3])

    def facts(self, paths: Iterable[str]) -> dict[str, bytes]:
        found = {}
        for path in paths:
            row = _row(
                self._connection,
                "SELECT facts FROM file JOIN facts ON file_id = id WHERE path = ?",
                (path,),
            )
            if row is not None:
                found[path] = row[0]
        return found

    def all_facts(self) -> Iterable[tuple[str, bytes]]:
        return _rows(
            self._connection,
            "SELECT path, facts FROM file JOIN facts ON file_id = id ORDER BY path",
        )

    def problems(self) -> Mapping[str, str]:
        return dict(
            _rows(
                self._connection,
                "SELECT path, problem FROM file WHERE problem IS NOT NULL ORDER BY path",
            )
        )


_CHUNK = (
    "SELECT chunk.id, path, language, start_line, end_line, text, symbol_id, label, kind "
    f"FROM chunk JOIN file ON file.id = chunk.id >> {ORDINAL_BITS}"
)

KEYS_AT_ONCE = 32
_CHUNKS = f"{_CHUNK} WHERE chunk.id IN ({', '.join('?' * KEYS_AT_ONCE)})"


def _snapshot(connection: apsw.Connection) -> Snapshot:
    entries = {
        path: Entry(Stat(size, mtime, ctime), digest)
        for path, digest, size, mtime, ctime in connection.execute(
            "SELECT path, digest, size_bytes, mtime_ns, ctime_ns FROM file"
        )
    }
    return Snapshot(entries, int(_meta(connection, "taken_ns") or 0))


def _totals(connection: apsw.Connection) -> Totals:
    files, chunks = _row(connection, "SELECT count(*), coalesce(sum(chunk_count), 0) FROM file")
    return Totals(files, chunks)


class SqliteWriter:
    """The next generation, in a write transaction."""

    def __init__(self, connection: apsw.Connection, root: str, dimension: int) -> None:
        self._connection, self._root, self._dimension = connection, root, dimension
        self.generation = int(_meta(connection, "generation") or 0) + 1
        self.published = False
        self._before: Identity = (self.generation - 1, str(_meta(connection, "run") or ""))
        self._noted = changes.decode(_meta(connection, "changes"))
        self._put_anew: set[str] | None = None
        """What was put since everything was dropped: nothing else can be in the way."""
        self._load_counters()

    def _load_counters(self) -> None:
        self._removed: set[int] = set()
        self._added: set[int] = set()
        self._followable = True
        (file,) = _row(self._connection, "SELECT coalesce(max(id), 0) FROM file")
        (segment,) = _row(self._connection, "SELECT coalesce(max(id), 0) FROM segment")
        self._next_file, self._next_segment = int(file) + 1, int(segment) + 1
        self._gathering = Gathering(self._dimension)

    def snapshot(self) -> Snapshot:
        return _snapshot(self._connection)

    def totals(self) -> Totals:
        return _totals(self._connection)

    def start_over(self) -> None:
        _drop_tables(self._connection)
        tables = _TABLES.split(";\n", 1)[1]  # All but meta, which says what generation we are.
        self._connection.execute(tables)
        self._connection.execute("DELETE FROM trigram")
        self._put_anew = set()
        self._load_counters()
        self._followable = False

    def put(self, file: PreparedFile) -> None:
        if self._put_anew is None or file.path in self._put_anew:
            self.remove(file.path)
        else:
            self._put_anew.add(file.path)
        run, stat = self._connection.execute, file.entry.stat
        number = self._next_file
        self._next_file += 1
        self._added.add(number)
        slot = self._gathering.add(file) if file.chunks else None
        run(
            "INSERT INTO file VALUES (?,?,?,?,?,?,?,?,?,?,?)",
            (number, file.path, file.entry.digest, stat.size_bytes, stat.mtime_ns, stat.ctime_ns,
             file.language, file.problem, len(file.chunks),
             None if slot is None else self._next_segment, slot),
        )  # fmt: skip
        run("INSERT INTO facts VALUES (?,?)", (number, file.facts))
        run("INSERT INTO trigram VALUES (?,?,?)", (number, file.signatures, file.names))
        if not file.chunks:
            return
        self._connection.executemany(
            "INSERT INTO chunk VALUES (?,?,?,?,?,?,?)",
            [
                (identity, c.start_line, c.end_line, c.symbol_id, c.label, c.kind, c.text)
                for identity, c in enumerate(file.chunks, number << ORDINAL_BITS)
            ],
        )
        if self._gathering.rows >= ROWS_MAX:
            self._put_segment()

    def _put_segment(self) -> None:
        if self._gathering.rows:
            self._insert_segment(self._gathering.take())

    def _insert_segment(self, segment: Segment) -> int:
        number = self._next_segment
        self._next_segment += 1
        postings, vectors = segment_format.pack(segment), segment_format.pack_vectors(segment)
        self._connection.execute(
            "INSERT INTO segment VALUES (?,?,?,?,?)",
            (number, digest(postings, vectors), segment.rows, postings, vectors),
        )
        return number

    def _merge_segments(self) -> None:
        """Leave no segment that is mostly dead, and few small ones."""
        standings = [
            Standing(*row)
            for row in _rows(
                self._connection,
                "SELECT id, rows, (SELECT coalesce(sum(chunk_count), 0) FROM file "
                "WHERE file.segment = segment.id) FROM segment",
            )
        ]
        many = self._connection.executemany
        for group in to_merge(standings):
            parts, moves = [], []
            slots = 0
            for old in group:
                segment = _segment(self._connection, old, self._dimension)
                renamed: list[int | None] = [None] * (int(segment.slots.max(initial=0)) + 1)
                for number, slot in _rows(
                    self._connection, "SELECT id, slot FROM file WHERE segment = ?", (old,)
                ):
                    renamed[slot] = slots
                    moves.append((slots, number))
                    slots += 1
                parts.append((segment, renamed))
            if moves:
                self._followable = False
                new = self._insert_segment(merge(parts, self._dimension))
                many(
                    "UPDATE file SET segment = ?, slot = ? WHERE id = ?",
                    [(new, slot, number) for slot, number in moves],
                )
            many("DELETE FROM segment WHERE id = ?", [(old,) for old in group])

    def remove(self, path: str) -> None:
        row = _row(self._connection, "SELECT id, chunk_count FROM file WHERE path = ?", (path,))
        if row is None:
            return
        number, count = row
        if number in self._added:
            self._added.remove(number)
        else:
            self._removed.add(number)
        first = number << ORDINAL_BITS
        run = self._connection.execute
        run("DELETE FROM chunk WHERE id >= ? AND id < ?", (first, first + count))
        run("DELETE FROM facts WHERE file_id=?", (number,))
        run("DELETE FROM trigram WHERE file_id=?", (number,))
        run("DELETE FROM file WHERE id=?", (number,))

    def restat(self, path: str, entry: Entry) -> None:
        stat = entry.stat
        self._connection.execute(
            "UPDATE file SET size_bytes=?, mtime_ns=?, ctime_ns=? WHERE path=? AND digest=?",
            (stat.size_bytes, stat.mtime_ns, stat.ctime_ns, path, entry.digest),
        )

    def _notes(self, identity: Identity) -> str | None:
        """What a reader of an earlier generation has to take note of; None is all there is."""
        if not self._followable:
            return None
        change = Change(self._before, identity, frozenset(self._removed), frozenset(self._added))
        return changes.encode(changes.noted(self._noted, change))

    def publish(self, marker: str, taken_ns: int) -> Identity:
        self._put_segment()
        self._merge_segments()
        identity = (self.generation, os.urandom(8).hex())
        values = {
            "root": self._root,
            "generation": self.generation,
            "taken_ns": taken_ns,
            "run": identity[1],
            "marker": marker,
            "changes": self._notes(identity),
        }
        self._connection.executemany(
            "INSERT OR REPLACE INTO meta VALUES (?,?)", list(values.items())
        )
        self._connection.execute("COMMIT")
        self.published = True
        return identity
