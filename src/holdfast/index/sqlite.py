"""Generations on SQLite: one file for each root, and the only SQL of the embedded backend.

The next generation is prepared inside one write transaction. SQLite lets readers see the last
committed state meanwhile, and undoes an open transaction by itself after a crash, so the old
generation serves until the new one, marker and all, is committed; there is no moment in between.

Postings are an FTS5 table without content. Vectors are kept file by file and read into one matrix
for each generation.
"""

from __future__ import annotations

import os
import threading
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw

from holdfast.files.snapshot import Entry, Snapshot, Stat
from holdfast.index.errors import BackendUnavailable, DamagedBackend
from holdfast.index.generation import Identity, PreparedFile, Ranked, StoredChunk, Totals
from holdfast.index.leases import root_key
from holdfast.index.search import trigrams
from holdfast.index.search.lexical import HEADER_WEIGHT, TermStats
from holdfast.index.search.trigrams import KeptFile

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SCHEMA_VERSION = 1
"""The tables' version, in `user_version`.

- 1: meta, file, facts, vector, chunk, posting.
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
  first_chunk INTEGER NOT NULL,
  chunk_count INTEGER NOT NULL,
  words INTEGER NOT NULL
);
CREATE TABLE facts (file_id INTEGER PRIMARY KEY, facts BLOB NOT NULL);
CREATE TABLE vector (file_id INTEGER PRIMARY KEY, rows BLOB NOT NULL);
CREATE TABLE chunk (
  id INTEGER PRIMARY KEY,
  file_id INTEGER NOT NULL,
  start_line INTEGER NOT NULL,
  end_line INTEGER NOT NULL,
  symbol_id TEXT,
  label TEXT,
  kind TEXT NOT NULL,
  text TEXT NOT NULL
);
CREATE VIRTUAL TABLE posting USING fts5(
  header, body, content='', contentless_delete=1,
  tokenize="unicode61 remove_diacritics 0 tokenchars '_'"
);
CREATE VIRTUAL TABLE vocabulary USING fts5vocab(posting, row);
"""
_TRIGRAM = """
CREATE TABLE IF NOT EXISTS trigram (
  file_id INTEGER PRIMARY KEY, signatures BLOB NOT NULL, names BLOB NOT NULL
)
"""
"""Apart from the others: what it holds says its own version, and an index can do without."""
_DROPS = ("vocabulary", "posting", "chunk", "vector", "facts", "file")

BUSY_MS = 5_000
MATRICES_MAX = 4


_Span = tuple[int, int, str, str]
"""Where a file's vectors are: first chunk, how many, and whose they are (path, digest)."""


@dataclass(slots=True)
class _Matrix:
    """Every vector of one generation: row i belongs to chunk ids[i], if it is alive.

    The next generation mostly holds the same files, so the matrix is carried forward: rows of
    files that went are dead, rows of new files are appended.
    """

    identity: Identity
    spans: dict[_Span, int]
    """Each file's place -> its first row."""
    ids: NDArray[np.int64]
    rows: NDArray[np.float32]
    dead: NDArray[np.bool_]
    firsts: list[int]
    """The first chunk of each file that has chunks, in order."""
    paths: list[str]


class SqliteBackend:
    """The embedded backend: nothing to start."""

    provider = "sqlite"
    probe_timeout_s = 2.0

    def __init__(self, directory: Path, dimension: int) -> None:
        self._directory, self._dimension = directory, dimension
        self._lock = threading.Lock()
        self._matrices: OrderedDict[str, _Matrix] = OrderedDict()
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
                    yield SqliteReader(connection, self._matrix, root)
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

    def _matrix(self, root: str, connection: apsw.Connection, identity: Identity) -> _Matrix:
        with self._lock:
            known = self._matrices.get(root)
            if known is not None and known.identity == identity:
                self._matrices.move_to_end(root)
                return known
        matrix = self._load(root, connection, identity, known)
        with self._lock:
            self._matrices[root] = matrix
            while len(self._matrices) > MATRICES_MAX:
                self._matrices.popitem(last=False)
        return matrix

    def _load(
        self, root: str, connection: apsw.Connection, identity: Identity, known: _Matrix | None
    ) -> _Matrix:
        import numpy as np

        found: list[tuple[int, int, int, str, str]] = _rows(
            connection,
            "SELECT id, first_chunk, chunk_count, path, digest FROM file WHERE chunk_count > 0 "
            "ORDER BY first_chunk",
        )
        spans = {(first, n, path, digest): number for number, first, n, path, digest in found}
        total = sum(span[1] for span in spans)
        kept = {} if known is None else {s: at for s, at in known.spans.items() if s in spans}
        if known is None or sum(span[1] for span in kept) < 0.75 * len(known.ids):
            known, kept = None, {}
        new = [span for span in spans if span not in kept]
        blobs = []
        for span in new:
            row = _row(connection, "SELECT rows FROM vector WHERE file_id = ?", (spans[span],))
            if row is None or len(row[0]) != span[1] * self._dimension * 4:
                raise DamagedBackend(f"the vectors of {root} do not belong to its chunks")
            blobs.append(row[0])
        rows = np.frombuffer(b"".join(blobs), dtype=np.float32).reshape(-1, self._dimension)
        parts = [np.arange(first, first + n, dtype=np.int64) for first, n, *_ in new]
        ids = np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)
        dead = np.zeros(len(ids), dtype=np.bool_)
        at = 0
        if known is not None:
            at = len(known.ids)
            gone = known.dead.copy()
            for span, start in known.spans.items():
                if span not in kept:
                    gone[start : start + span[1]] = True
            if new:
                rows = np.concatenate([known.rows, rows])
                ids = np.concatenate([known.ids, ids])
                dead = np.concatenate([gone, dead])
            else:
                rows, ids, dead = known.rows, known.ids, gone
        for span in new:
            kept[span] = at
            at += span[1]
        assert len(ids) - int(dead.sum()) == total, "every chunk has one living row"
        return _Matrix(
            identity, kept, ids, rows, dead, [row[1] for row in found], [row[3] for row in found]
        )

    # Writing.

    def check(self, root: str) -> None:
        try:
            self._directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise BackendUnavailable(f"cannot write to {self._directory}: {error}") from error
        if not os.access(self._directory, os.W_OK):
            raise BackendUnavailable(f"cannot write to {self._directory}")

    @contextmanager
    def writer(self, root: str) -> Iterator[SqliteWriter]:
        self.check(root)
        with _translated():
            connection = self._open_for_writing(root)
            try:
                connection.execute("BEGIN IMMEDIATE")
                writer = SqliteWriter(connection, root)
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
            self._matrices.pop(root, None)

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
        _rows(connection, "PRAGMA journal_mode=WAL")
        # Not FULL: an index lost to a power cut is the previous one, or is built again.
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute("PRAGMA cache_size=-65536")
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

    def __init__(self, connection: apsw.Connection, matrix: Any, root: str) -> None:
        self._connection, self._load, self._root = connection, matrix, root
        self.identity: Identity = (
            int(_meta(connection, "generation") or 0),
            str(_meta(connection, "run") or ""),
        )

    def snapshot(self) -> Snapshot:
        return _snapshot(self._connection)

    def totals(self) -> Totals:
        return _totals(self._connection)

    def rank_lexical(self, words: Sequence[str], limit: int) -> Ranked:
        if not words:
            return []
        match = " OR ".join(f'"{word}"' for word in words)
        return _rows(
            self._connection,
            "SELECT rowid, -bm25(posting, ?, 1.0) AS score FROM posting WHERE posting MATCH ? "
            "ORDER BY score DESC, rowid LIMIT ?",
            (HEADER_WEIGHT, match, limit),
        )

    def rank_dense(self, vector: NDArray[np.float32], limit: int) -> Ranked:
        import numpy as np

        matrix = self._matrix()
        scores = matrix.rows @ vector
        limit = min(limit, len(scores) - int(matrix.dead.sum()))
        scores[matrix.dead] = -np.inf
        if limit < len(scores):
            best = np.argpartition(-scores, limit)[:limit]
        else:
            best = np.arange(len(scores))
        ids = matrix.ids[best]
        order = np.lexsort((ids, -scores[best]))
        return [(int(ids[i]), float(scores[best[i]])) for i in order]

    def _matrix(self) -> _Matrix:
        matrix: _Matrix = self._load(self._root, self._connection, self.identity)
        return matrix

    def paths(self, ids: Iterable[int]) -> dict[int, str]:
        matrix = self._matrix()
        return {i: matrix.paths[bisect_right(matrix.firsts, i) - 1] for i in ids}

    def term_stats(self, words: Sequence[str]) -> TermStats:
        chunks, total = _row(self._connection, "SELECT sum(chunk_count), sum(words) FROM file")
        chunks, total = chunks or 0, total or 0
        containing = {}
        for word in words:
            row = _row(self._connection, "SELECT doc FROM vocabulary WHERE term = ?", (word,))
            containing[word] = 0 if row is None else int(row[0])
        return TermStats(chunks, total / chunks if chunks else 0.0, containing)

    def chunks(self, ids: Iterable[int]) -> dict[int, StoredChunk]:
        found = {}
        for identity in ids:
            row = _row(self._connection, f"{_CHUNK} WHERE chunk.id = ?", (identity,))
            if row is not None:
                found[identity] = StoredChunk(*row)
        return found

    def texts(self, ids: Sequence[int]) -> list[tuple[int, str]]:
        """Texts by id, in the order of the ids."""
        if not ids:
            return []
        first, last, wanted = min(ids), max(ids), set(ids)
        if last - first < 2 * len(wanted):
            run = "SELECT id, text FROM chunk WHERE id BETWEEN ? AND ? ORDER BY id"
            return [row for row in _rows(self._connection, run, (first, last)) if row[0] in wanted]
        one = "SELECT id, text FROM chunk WHERE id = ?"
        found = (_row(self._connection, one, (identity,)) for identity in sorted(wanted))
        return [row for row in found if row is not None]

    def chunks_of(self, path: str) -> list[StoredChunk]:
        row = _row(
            self._connection, "SELECT first_chunk, chunk_count FROM file WHERE path = ?", (path,)
        )
        if row is None:
            return []
        found = self.chunks(range(row[0], row[0] + row[1]))
        return [found[identity] for identity in sorted(found)]

    def kept_files(self) -> list[KeptFile]:
        there = _row(self._connection, "SELECT 1 FROM sqlite_schema WHERE name = 'trigram'")
        kept = "signatures, names FROM file LEFT JOIN trigram ON file_id = id"
        found = _rows(
            self._connection,
            "SELECT path, language, problem, first_chunk, chunk_count, "
            f"{kept if there else 'NULL, NULL FROM file'} ORDER BY path",
        )
        return [
            KeptFile(path, language, problem, range(first, first + n), signatures, names)
            for path, language, problem, first, n, signatures, names in found
        ]

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
    "FROM chunk JOIN file ON file.id = file_id"
)


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

    def __init__(self, connection: apsw.Connection, root: str) -> None:
        self._connection, self._root = connection, root
        self.generation = int(_meta(connection, "generation") or 0) + 1
        self.published = False
        self._load_counters()

    def _load_counters(self) -> None:
        chunk, file = _row(
            self._connection,
            "SELECT coalesce(max(first_chunk + chunk_count), 1), coalesce(max(id), 0) FROM file",
        )
        self._next_chunk, self._next_file = int(chunk), int(file) + 1

    def snapshot(self) -> Snapshot:
        return _snapshot(self._connection)

    def totals(self) -> Totals:
        return _totals(self._connection)

    def start_over(self) -> None:
        _drop_tables(self._connection)
        tables = _TABLES.split(";\n", 1)[1]  # All but meta, which says what generation we are.
        self._connection.execute(tables)
        self._connection.execute("DELETE FROM trigram")
        self._load_counters()

    def put(self, file: PreparedFile) -> None:
        self.remove(file.path)
        run, stat = self._connection.execute, file.entry.stat
        number, first = self._next_file, self._next_chunk
        self._next_file += 1
        self._next_chunk += len(file.chunks)
        length = sum(
            c.header.count(" ") + c.body.count(" ") + bool(c.header) + bool(c.body)
            for c in file.chunks  # Words are apart by single spaces.
        )
        run(
            "INSERT INTO file VALUES (?,?,?,?,?,?,?,?,?,?,?)",
            (number, file.path, file.entry.digest, stat.size_bytes, stat.mtime_ns, stat.ctime_ns,
             file.language, file.problem, first, len(file.chunks), length),
        )  # fmt: skip
        run("INSERT INTO facts VALUES (?,?)", (number, file.facts))
        run("INSERT INTO trigram VALUES (?,?,?)", (number, *trigrams.of_file(file)))
        many = self._connection.executemany
        if not file.chunks:
            return
        run("INSERT INTO vector VALUES (?,?)", (number, file.vectors))
        many(
            "INSERT INTO chunk VALUES (?,?,?,?,?,?,?,?)",
            [
                (identity, number, c.start_line, c.end_line, c.symbol_id, c.label, c.kind, c.text)
                for identity, c in enumerate(file.chunks, first)
            ],
        )
        many(
            "INSERT INTO posting(rowid, header, body) VALUES (?,?,?)",
            [(identity, c.header, c.body) for identity, c in enumerate(file.chunks, first)],
        )

    def remove(self, path: str) -> None:
        run = self._connection.execute
        row = _row(
            self._connection,
            "SELECT id, first_chunk, chunk_count FROM file WHERE path = ?",
            (path,),
        )
        if row is None:
            return
        number, first, count = row
        many = self._connection.executemany
        ids = [(identity,) for identity in range(first, first + count)]
        many("DELETE FROM posting WHERE rowid=?", ids)
        many("DELETE FROM chunk WHERE id=?", ids)
        for table in ("vector", "facts", "trigram"):
            run(f"DELETE FROM {table} WHERE file_id=?", (number,))
        run("DELETE FROM file WHERE id=?", (number,))

    def restat(self, path: str, entry: Entry) -> None:
        stat = entry.stat
        self._connection.execute(
            "UPDATE file SET size_bytes=?, mtime_ns=?, ctime_ns=? WHERE path=? AND digest=?",
            (stat.size_bytes, stat.mtime_ns, stat.ctime_ns, path, entry.digest),
        )

    def publish(self, marker: str, taken_ns: int) -> Identity:
        identity = (self.generation, os.urandom(8).hex())
        values = {
            "root": self._root,
            "generation": self.generation,
            "taken_ns": taken_ns,
            "run": identity[1],
            "marker": marker,
        }
        self._connection.executemany(
            "INSERT OR REPLACE INTO meta VALUES (?,?)", list(values.items())
        )
        self._connection.execute("COMMIT")
        self.published = True
        return identity
