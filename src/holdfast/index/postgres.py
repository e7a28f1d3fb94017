"""Generations on PostgreSQL with pgvector: one schema for a namespace, rows by root.

The next generation is written in one transaction; other sessions go on seeing the last committed
one, and a session that dies is rolled back by the server. A namespace (by default the host's name)
keeps machines apart that share a server, because `/home/me/repo` is a different tree on each.

Scores are the embedded backend's: BM25 over our own postings with the same weights, and the inner
product of unit vectors.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from holdfast.files.snapshot import Entry, Snapshot, Stat
from holdfast.index.errors import BackendUnavailable, DamagedBackend
from holdfast.index.generation import Identity, PreparedFile, Ranked, StoredChunk, Totals
from holdfast.index.search import trigrams
from holdfast.index.search.lexical import K1, B, TermStats, weighted_counts
from holdfast.index.search.trigrams import KeptFile

if TYPE_CHECKING:
    import numpy as np
    import psycopg
    from numpy.typing import NDArray

SCHEMA_VERSION = 1
"""The tables' version, in the schema's comment.

- 1: root, file, chunk, posting.
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
  words bigint NOT NULL,
  facts bytea NOT NULL,
  UNIQUE (root_id, path)
);
CREATE TABLE chunk (
  id bigint PRIMARY KEY,
  root_id bigint NOT NULL,
  file_id bigint NOT NULL REFERENCES file (id) ON DELETE CASCADE,
  start_line bigint NOT NULL,
  end_line bigint NOT NULL,
  words bigint NOT NULL,
  symbol_id text,
  label text,
  kind text NOT NULL,
  text text NOT NULL,
  embedding vector NOT NULL
);
CREATE SEQUENCE chunk_id AS bigint;
CREATE INDEX chunk_root ON chunk (root_id);
CREATE INDEX chunk_file ON chunk (file_id);
CREATE TABLE posting (
  root_id bigint NOT NULL,
  word text COLLATE "C" NOT NULL,
  chunk_id bigint NOT NULL REFERENCES chunk (id) ON DELETE CASCADE,
  frequency real NOT NULL,
  PRIMARY KEY (root_id, word, chunk_id)
);
CREATE INDEX posting_chunk ON posting (chunk_id)
"""

_TRIGRAM = """
CREATE TABLE IF NOT EXISTS trigram (
  file_id bigint PRIMARY KEY REFERENCES file (id) ON DELETE CASCADE,
  signatures bytea NOT NULL,
  names bytea NOT NULL
)
"""
"""Apart from the others: what it holds says its own version, and an index can do without."""

CONNECT_S = 5
IDLE_MAX = 4

_LEXICAL = f"""
WITH asked AS (SELECT unnest($2::text[]) AS word),
corpus AS (
  SELECT sum(chunk_count)::float8 AS n,
         (sum(words) / nullif(sum(chunk_count), 0))::float8 AS average
  FROM file WHERE root_id = $1
),
found AS (
  SELECT posting.word, chunk_id, frequency, count(*) OVER (PARTITION BY posting.word) AS n
  FROM posting JOIN asked ON asked.word = posting.word WHERE root_id = $1
)
SELECT found.chunk_id, sum(
  CASE WHEN corpus.n > found.n
       THEN greatest(ln((corpus.n - found.n + 0.5) / (found.n + 0.5)), 1e-6) ELSE 1e-6 END
  * frequency * {K1 + 1} / (frequency + {K1} * ({1 - B} + {B} * chunk.words / corpus.average))
) AS score
FROM found JOIN chunk ON chunk.id = found.chunk_id CROSS JOIN corpus
GROUP BY found.chunk_id ORDER BY score DESC, found.chunk_id LIMIT $3
"""


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
        self._ready = False

    # Connections.

    def _connect(self) -> psycopg.Connection[Any]:
        try:
            import psycopg
        except ImportError:
            raise BackendUnavailable(
                "PostgreSQL needs the psycopg package", hint="pip install 'holdfast[postgres]'"
            ) from None
        try:
            connection = psycopg.Connection.connect(
                self._url,
                autocommit=True,
                cursor_factory=psycopg.RawCursor,
                application_name="holdfast index",
                connect_timeout=CONNECT_S,
            )
            connection.execute(f"SET search_path TO {self._schema}, public")
        except psycopg.Error as error:
            reason = (str(error).strip().splitlines() or ["no answer"])[-1]
            raise BackendUnavailable(
                f"cannot reach PostgreSQL: {reason}", hint="check HOLDFAST_DATABASE_URL"
            ) from error
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
            if row is not None and row[0] != f"holdfast index {SCHEMA_VERSION}":
                raise DamagedBackend(f"the index is stored as {row[0]!r}")
            self._ready = row is not None
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
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector WITH SCHEMA public")
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
                yield PostgresReader(connection, root)
            finally:
                if not connection.closed:
                    connection.execute("ROLLBACK")

    # Writing.

    def check(self, root: str) -> None:
        with self._session() as connection:
            self._prepare(connection)

    @contextmanager
    def writer(self, root: str) -> Iterator[PostgresWriter]:
        with self._session() as connection:
            self._prepare(connection)
            if not _has_trigrams(connection):
                connection.execute(_TRIGRAM)
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

    def close(self) -> None:
        with self._lock:
            for connection in self._idle:
                connection.close()
            self._idle.clear()


class PostgresReader:
    """One generation, in a read-only transaction."""

    def __init__(self, connection: psycopg.Connection[Any], root: str) -> None:
        self._connection = connection
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

    def rank_lexical(self, words: Sequence[str], limit: int) -> Ranked:
        found = self._connection.execute(_LEXICAL, (self._root, list(words), limit))
        return [(row[0], float(row[1])) for row in found]

    def rank_dense(self, vector: NDArray[np.float32], limit: int) -> Ranked:
        found = self._connection.execute(
            "SELECT id, -(embedding <#> $2::vector) AS score FROM chunk WHERE root_id = $1 "
            "ORDER BY embedding <#> $2::vector, id LIMIT $3",
            (self._root, _vector(vector), limit),
        )
        return [(row[0], float(row[1])) for row in found]

    def term_stats(self, words: Sequence[str]) -> TermStats:
        totals = self._connection.execute(
            "SELECT coalesce(sum(chunk_count), 0)::bigint, coalesce(sum(words), 0)::bigint "
            "FROM file WHERE root_id = $1",
            (self._root,),
        ).fetchone()
        assert totals is not None
        found = self._connection.execute(
            "SELECT word, count(*) FROM posting WHERE root_id = $1 AND word = ANY($2) "
            "GROUP BY word",
            (self._root, list(words)),
        )
        chunks, length = totals
        containing = dict.fromkeys(words, 0) | dict(found.fetchall())
        return TermStats(chunks, length / chunks if chunks else 0.0, containing)

    def paths(self, ids: Iterable[int]) -> dict[int, str]:
        found = self._connection.execute(
            "SELECT chunk.id, path FROM chunk JOIN file ON file.id = file_id "
            "WHERE chunk.root_id = $1 AND chunk.id = ANY($2)",
            (self._root, list(ids)),
        )
        return dict(found.fetchall())

    def chunks(self, ids: Iterable[int]) -> dict[int, StoredChunk]:
        found = self._connection.execute(
            f"{_CHUNK} WHERE chunk.root_id = $1 AND chunk.id = ANY($2)", (self._root, list(ids))
        )
        return {row[0]: StoredChunk(*row) for row in found}

    def texts(self, ids: Sequence[int]) -> list[tuple[int, str]]:
        return self._connection.execute(
            "SELECT id, text FROM chunk WHERE root_id = $1 AND id = ANY($2) ORDER BY id",
            (self._root, list(ids)),
        ).fetchall()

    def chunks_of(self, path: str) -> list[StoredChunk]:
        found = self._connection.execute(
            f"{_CHUNK} WHERE chunk.root_id = $1 AND path = $2 ORDER BY chunk.id",
            (self._root, path),
        )
        return [StoredChunk(*row) for row in found]

    def kept_files(self) -> list[KeptFile]:
        kept = "signatures, names FROM file LEFT JOIN trigram ON trigram.file_id = file.id"
        found = self._connection.execute(
            "SELECT path, language, problem, "
            "ARRAY(SELECT chunk.id FROM chunk WHERE chunk.file_id = file.id ORDER BY 1), "
            f"{kept if _has_trigrams(self._connection) else 'NULL, NULL FROM file'} "
            "WHERE root_id = $1 ORDER BY path",
            (self._root,),
        )
        return [
            KeptFile(*row[:4], *(None if kept is None else bytes(kept) for kept in row[4:]))
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
    "SELECT chunk.id, path, language, start_line, end_line, text, symbol_id, label, kind "
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


def _has_trigrams(connection: psycopg.Connection[Any]) -> bool:
    row = connection.execute("SELECT to_regclass('trigram') IS NOT NULL").fetchone()
    return row is not None and bool(row[0])


def _vector(row: NDArray[np.float32]) -> str:
    return "[" + ",".join(map(repr, row.tolist())) + "]"


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
            "SELECT id, generation FROM root WHERE path = $1", (root,)
        ).fetchone()
        assert row is not None
        self._root, self.generation = row[0], row[1] + 1

    def snapshot(self) -> Snapshot:
        return _snapshot(self._connection, self._root)

    def totals(self) -> Totals:
        return _totals(self._connection, self._root)

    def start_over(self) -> None:
        self._connection.execute("DELETE FROM file WHERE root_id = $1", (self._root,))

    def put(self, file: PreparedFile) -> None:
        import numpy as np

        self.remove(file.path)
        run, stat = self._connection.execute, file.entry.stat
        headers = [chunk.header.split() for chunk in file.chunks]
        bodies = [chunk.body.split() for chunk in file.chunks]
        lengths = [len(h) + len(b) for h, b in zip(headers, bodies, strict=True)]
        row = run(
            "INSERT INTO file (root_id, path, digest, size_bytes, mtime_ns, ctime_ns, language, "
            "problem, chunk_count, words, facts) VALUES ($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11) "
            "RETURNING id",
            (self._root, file.path, file.entry.digest, stat.size_bytes, stat.mtime_ns,
             stat.ctime_ns, file.language, file.problem, len(file.chunks), sum(lengths),
             file.facts),
        ).fetchone()  # fmt: skip
        assert row is not None
        number = row[0]
        run("INSERT INTO trigram VALUES ($1,$2,$3)", (number, *trigrams.of_file(file)))
        if not file.chunks:
            return
        ids = [
            found[0]
            for found in run(
                "SELECT nextval('chunk_id') FROM generate_series(1, $1)", (len(file.chunks),)
            )
        ]
        rows = np.frombuffer(file.vectors, dtype=np.float32).reshape(-1, self._dimension)
        self._copy(
            "chunk (id, root_id, file_id, start_line, end_line, words, symbol_id, label, kind, "
            "text, embedding)",
            [
                (identity, self._root, number, c.start_line, c.end_line, length, c.symbol_id,
                 c.label, c.kind, _clean(c.text), _vector(vector))
                for identity, c, length, vector in zip(
                    ids, file.chunks, lengths, rows, strict=True)
            ],
        )  # fmt: skip
        self._copy(
            "posting (root_id, word, chunk_id, frequency)",
            [
                (self._root, word, identity, frequency)
                for identity, header, body in zip(ids, headers, bodies, strict=True)
                for word, frequency in weighted_counts(header, body).items()
            ],
        )

    def _copy(self, into: str, rows: list[tuple[Any, ...]]) -> None:
        if not rows:
            return
        with self._connection.cursor() as cursor, cursor.copy(f"COPY {into} FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)

    def remove(self, path: str) -> None:
        self._connection.execute(
            "DELETE FROM file WHERE root_id = $1 AND path = $2", (self._root, path)
        )

    def restat(self, path: str, entry: Entry) -> None:
        stat = entry.stat
        self._connection.execute(
            "UPDATE file SET size_bytes=$3, mtime_ns=$4, ctime_ns=$5 "
            "WHERE root_id=$1 AND path=$2 AND digest=$6",
            (self._root, path, stat.size_bytes, stat.mtime_ns, stat.ctime_ns, entry.digest),
        )

    def publish(self, marker: str, taken_ns: int) -> Identity:
        identity = (self.generation, os.urandom(8).hex())
        self._connection.execute(
            "UPDATE root SET marker=$2, generation=$3, taken_ns=$4, run=$5 WHERE id=$1",
            (self._root, marker, self.generation, taken_ns, identity[1]),
        )
        self._connection.execute("COMMIT")
        return identity
