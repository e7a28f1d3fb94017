"""Generations on PostgreSQL: one schema for a namespace, rows by root.

The tables are partitioned by root, which is in every key. The next generation is written in one
transaction; other sessions still see the last committed one, and the server rolls back a session
that dies. A namespace (by default the host's name) separates machines that share a server, because
`/home/me/repo` is a different tree on each.

Postings and vectors are stored in the same segments as in the embedded backend and ranked by the
same code, so both backends give the same answers. The server needs no extension.

This module manages connections and the schema; `tables` has the tables, `reader` and `writer` work
on one generation.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from holdfast.index.errors import BackendUnavailable, NewerFormat
from holdfast.index.generations import change_log
from holdfast.index.generations.model import Identity
from holdfast.index.generations.postgres import tables
from holdfast.index.generations.postgres.reader import PostgresReader
from holdfast.index.generations.postgres.writer import PostgresWriter
from holdfast.index.generations.segments import OpenCorpus, followed, opened
from holdfast.postgresql import (
    INDEX_SETTING,
    NotReached,
    connect,
    maintenance,
    silent_sentence,
    slow_sentence,
    statement_ms,
)

if TYPE_CHECKING:
    import psycopg

    from holdfast.index.search.corpus import Corpus
    from holdfast.index.search.posting_segment import PostingSegment

CONNECT_S = 5
IDLE_MAX = 4

OPEN_MAX = 4
"""The postings of this many roots stay open."""


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
        self._open: OrderedDict[str, tuple[Identity, OpenCorpus]] = OrderedDict()
        self._ready = False

    # Connections.

    def _connect(self) -> psycopg.Connection[Any]:
        try:
            connection = connect(self._url, "holdfast index", CONNECT_S, INDEX_SETTING)
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
        """A connection for one task; a connection that failed is not reused."""
        import psycopg

        connection = self._lent() or self._connect()
        try:
            yield connection
        except psycopg.Error as error:
            connection.close()
            if isinstance(error, psycopg.errors.UndefinedTable):
                self._ready = False  # The schema was dropped: check again next time.
            raise self._unavailable(error, statement_ms(connection)) from error
        except BaseException:
            connection.close()
            raise
        with self._lock:
            if len(self._idle) < IDLE_MAX and not connection.closed:
                self._idle.append(connection)
            else:
                connection.close()

    def _unavailable(self, error: psycopg.Error, limit_ms: int) -> BackendUnavailable:
        import psycopg

        if isinstance(error, psycopg.errors.QueryCanceled):
            return BackendUnavailable(*slow_sentence(self._url, limit_ms, INDEX_SETTING))
        if "timed out" in str(error):
            return BackendUnavailable(*silent_sentence(self._url, limit_ms, INDEX_SETTING))
        return BackendUnavailable(f"PostgreSQL: {str(error).strip()}")

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
        """Whether the tables exist in this version."""
        if not self._ready:
            row = connection.execute(
                "SELECT obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE nspname = $1",
                (self._schema,),
            ).fetchone()
            comment = "" if row is None or row[0] is None else str(row[0])
            number = comment.removeprefix("holdfast index ")
            if number.isascii() and number.isdigit() and int(number) > tables.SCHEMA_VERSION:
                raise NewerFormat(int(number), tables.SCHEMA_VERSION)
            self._ready = number == str(tables.SCHEMA_VERSION)
        return self._ready

    def _prepare(self, connection: psycopg.Connection[Any]) -> None:
        if self._prepared(connection):
            return
        with connection.transaction():
            # Two processes may get here at once; the second one waits and finds the schema.
            connection.execute(
                "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", (self._schema,)
            )
            if self._prepared(connection):
                return
            # Derived data: the tables of an older version are dropped, and the indexes are rebuilt.
            connection.execute(f"DROP SCHEMA IF EXISTS {self._schema} CASCADE")
            connection.execute(f"CREATE SCHEMA {self._schema}")
            for statement in tables.statements():
                connection.execute(statement)
            connection.execute(
                f"COMMENT ON SCHEMA {self._schema} IS 'holdfast index {tables.SCHEMA_VERSION}'"
            )
        self._ready = True

    # Reading.

    def read_marker(self, root: str) -> object | None:
        with self._session() as connection:
            if not self._prepared(connection):
                return None
            row = tables.root_row(connection, root)
            return None if row is None else row[1].marker

    def stamp(self, root: str) -> object:
        with self._session() as connection:
            if not self._prepared(connection):
                return None
            statement = "SELECT generation, run FROM root WHERE path = $1"
            return connection.execute(statement, (root,)).fetchone()

    def spot_check(self, root: str) -> None:
        with self.reader(root) as reader:
            reader.spot_check()

    def verify(self, root: str) -> None:
        with self.reader(root) as reader:
            reader.verify(self._dimension)

    def check_format(self, root: str) -> None:
        with self._session() as connection:
            self._prepared(connection)

    def roots(self) -> list[str]:
        with self._session() as connection:
            if not self._prepared(connection):
                return []
            rows = connection.execute(
                "SELECT path FROM root WHERE marker IS NOT NULL ORDER BY path"
            )
            return [row[0] for row in rows]

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

        def load(segment: int) -> PostingSegment:
            return tables.segment(connection, number, segment, self._dimension)

        standing = dict(digests.fetchall())
        notes = tables.notes(connection, number) if known is not None else []
        change = change_log.leading(notes, known[0], identity) if known is not None else None
        if known is not None and change is not None:
            added = tables.placed_files(connection, number, list(change.added))
            corpus = followed(known[1], change, added, load, standing)
        else:
            before = known[1].segments if known is not None else {}
            every = tables.placed_files(connection, number)
            corpus = opened(standing, every, before, load)
        with self._lock:
            self._open[root] = (identity, corpus)
            while len(self._open) > OPEN_MAX:
                self._open.popitem(last=False)
        return corpus.corpus

    # Writing.

    def check(self, root: str) -> None:
        with self._session() as connection, maintenance(connection):
            self._prepare(connection)

    @contextmanager
    def writer(self, root: str) -> Iterator[PostgresWriter]:
        with self._session() as connection, maintenance(connection):
            self._prepare(connection)
            for table in tables.LATER:
                if not tables.has(connection, table):
                    with connection.transaction():
                        for statement in tables.later_statements(table):
                            connection.execute(statement)
            connection.execute("BEGIN")
            try:
                writer = PostgresWriter(connection, root, self._dimension)
                yield writer
            finally:
                if not connection.closed:
                    connection.execute("ROLLBACK")

    def drop(self, root: str) -> None:
        with self._session() as connection, maintenance(connection):
            if self._prepared(connection):
                connection.execute("DELETE FROM root WHERE path = $1", (root,))
        with self._lock:
            self._open.pop(root, None)

    def close(self) -> None:
        with self._lock:
            for connection in self._idle:
                connection.close()
            self._idle.clear()
