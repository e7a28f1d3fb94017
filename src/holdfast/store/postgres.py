"""The store on PostgreSQL: the schema, the connection and the write lock.

Each space is a schema with the same eight tables, so that each can be moved or dropped by itself.
Several processes may write to one space: a write transaction starts by locking the row of the
default branch, which makes admission serial and keeps seqs gap-free.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from holdfast.errors import StoreError
from holdfast.postgresql import (
    NotReached,
    connect,
    maintenance,
    silent_sentence,
    slow_sentence,
    statement_ms,
)
from holdfast.store.errors import (
    DamagedStore,
    StoreBusy,
    StoreClosed,
    StoreFailed,
    StoreSilent,
    StoreUnreachable,
    UnknownSpace,
)
from holdfast.store.tables import SCHEMA_VERSION, TABLES, Row
from holdfast.store.upgrade import OLDEST, seal_branches, upgrade

if TYPE_CHECKING:
    import psycopg

_NOW = "to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"')"

# "C" collation: ids and names sort by code point, as they do in SQLite and on the wire.
_SCHEMA = f"""
CREATE TABLE invocation (
  ref text COLLATE "C" NOT NULL PRIMARY KEY,
  iss text NOT NULL,
  aud text,
  cmd text NOT NULL,
  sub text NOT NULL,
  invocation text NOT NULL,
  created_at text NOT NULL DEFAULT {_NOW}
);
CREATE TABLE "authorization" (
  ref text COLLATE "C" NOT NULL PRIMARY KEY,
  "authorization" text NOT NULL,
  created_at text NOT NULL DEFAULT {_NOW}
);
CREATE TABLE "commit" (
  seq bigint NOT NULL PRIMARY KEY,
  branch text COLLATE "C" NOT NULL DEFAULT '',
  session_id text COLLATE "C" NOT NULL,
  local_seq bigint NOT NULL,
  chain bytea NOT NULL,
  invocation_ref text REFERENCES invocation (ref),
  authorization_ref text REFERENCES "authorization" (ref),
  original text NOT NULL,
  resolution text NOT NULL,
  created_at text NOT NULL DEFAULT {_NOW},
  merged text,
  UNIQUE (session_id, local_seq)
);
CREATE INDEX commit_merged ON "commit" (seq) WHERE merged IS NOT NULL;
CREATE TABLE revision (
  branch text COLLATE "C" NOT NULL DEFAULT '',
  id text COLLATE "C" NOT NULL,
  seq bigint NOT NULL,
  op_index integer NOT NULL,
  op text NOT NULL,
  data text,
  commit_seq bigint NOT NULL REFERENCES "commit" (seq),
  crc bigint NOT NULL,
  PRIMARY KEY (branch, id, seq, op_index)
);
CREATE TABLE head (
  branch text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  seq bigint NOT NULL,
  op_index integer NOT NULL,
  crc bigint NOT NULL,
  PRIMARY KEY (branch, id)
);
CREATE TABLE snapshot (
  branch text COLLATE "C" NOT NULL DEFAULT '',
  id text COLLATE "C" NOT NULL,
  seq bigint NOT NULL,
  value text NOT NULL,
  crc bigint NOT NULL,
  PRIMARY KEY (branch, id, seq)
);
CREATE TABLE branch (
  name text COLLATE "C" NOT NULL PRIMARY KEY,
  parent_branch text COLLATE "C" REFERENCES branch (name),
  fork_seq bigint,
  created_seq bigint NOT NULL DEFAULT 0,
  head_seq bigint NOT NULL DEFAULT 0,
  status text NOT NULL DEFAULT 'active',
  created_at text NOT NULL DEFAULT {_NOW},
  deleted_at text,
  oldest_seq bigint NOT NULL DEFAULT 0,
  crc bigint NOT NULL DEFAULT 0,
  head_crc bigint NOT NULL DEFAULT 0
);
CREATE TABLE blob_store (
  hash text COLLATE "C" NOT NULL PRIMARY KEY,
  data bytea NOT NULL,
  content_type text NOT NULL,
  size bigint NOT NULL,
  put_at text COLLATE "C" NOT NULL DEFAULT '',
  crc bigint NOT NULL
);
INSERT INTO branch (name) VALUES ('')
"""

CHANNEL = "holdfast_commits"
"""The NOTIFY channel of all commits; the payload is the schema of the space."""


def schema_name(space: str) -> str:
    """The schema of a space. Hashed, because PostgreSQL cuts names at 63 bytes."""
    return "holdfast_" + hashlib.sha256(space.encode()).hexdigest()[:40]


def reached(url: str, name: str) -> psycopg.Connection[Any]:
    """Connect, or raise `StoreUnreachable`."""
    try:
        return connect(url, name)
    except NotReached as error:
        raise StoreUnreachable(str(error), hint=error.hint) from None


class PostgresDatabase:
    """One connection to one space's schema. Usable from several threads, one at a time."""

    distant = True

    def __init__(self, url: str, space: str, create: bool = True) -> None:
        self._url, self._space = url, space
        self._schema = schema_name(space)
        self._lock = threading.Lock()
        self._in_transaction = self._closed = False
        self._connection = self._connect()
        try:
            self._prepare_schema(create)
        except BaseException:
            self.close()
            raise
        self.run(f"SET search_path TO {self._schema}")

    def _connect(self) -> psycopg.Connection[Row]:
        return reached(self._url, "holdfast")

    def _prepare_schema(self, create: bool) -> None:
        version = self._version()
        if version == SCHEMA_VERSION:
            return
        if version is None and not create:
            raise UnknownSpace(self._space, self.spaces())
        self.run("BEGIN")
        self._in_transaction = True
        try:
            # Two processes may create a space at once; the second waits and finds it there.
            self.rows(
                "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))",
                (f"holdfast/{self._space}",),
            )
            version = self._version()
            if version is None:
                self.run(f"CREATE SCHEMA {self._schema}")
                self.run(f"SET LOCAL search_path TO {self._schema}")
                self._create()
            elif OLDEST <= version < SCHEMA_VERSION:
                self.run(f"SET LOCAL search_path TO {self._schema}")
                # A large space takes longer than a statement of a commit may.
                self.run("SET LOCAL statement_timeout = '10min'")
                upgrade(self, self._create, version, self.rows(f"SELECT {_NOW}")[0][0])
            elif version != SCHEMA_VERSION:
                raise DamagedStore(f"the space {self._space} has tables of version {version}")
            if version != SCHEMA_VERSION:
                quoted = f"holdfast {SCHEMA_VERSION} {self._space}".replace("'", "''")
                self.run(f"COMMENT ON SCHEMA {self._schema} IS '{quoted}'")
            self.commit()
        except BaseException:
            self.rollback()
            raise

    def _create(self) -> None:
        for statement in _SCHEMA.split(";\n"):
            self.run(statement)
        seal_branches(self)

    def _version(self) -> int | None:
        """The version of the space's tables; None if there are none."""
        found = self.rows(
            "SELECT obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE nspname = $1",
            (self._schema,),
        )
        if not found:
            return None
        words = (found[0][0] or "").split(" ")
        return int(words[1]) if len(words) > 1 and words[1].isdigit() else 0

    def spaces(self) -> list[str]:
        """Every space of this database, by name."""
        found = self.rows(
            "SELECT obj_description(oid, 'pg_namespace') FROM pg_namespace "
            "WHERE nspname LIKE 'holdfast\\_%'"
        )
        # Other programs' schemas may match the pattern; their comments differ.
        words = [(text or "").split(" ", 2) for (text,) in found]
        return sorted(w[2] for w in words if len(w) == 3 and w[0] == "holdfast" and w[1].isdigit())

    def tables(self) -> list[str]:
        found = self.rows(
            'SELECT tablename FROM pg_tables WHERE schemaname = $1 ORDER BY tablename COLLATE "C"',
            (self._schema,),
        )
        return [row[0] for row in found]

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
        if self._in_transaction:
            return self._query(sql, parameters)
        try:
            return self._query(sql, parameters)
        except StoreSilent:
            raise  # trying again would only wait again
        except StoreUnreachable:
            # The server may have restarted. Outside a transaction there are only reads, so trying
            # again is safe.
            return self._query(sql, parameters)

    def _query(self, sql: str, parameters: Sequence[Any]) -> list[Row]:
        with self._translated(), self._lock:
            return self._connection.execute(sql, parameters or None).fetchall()

    def run(self, sql: str, parameters: Sequence[Any] = ()) -> None:
        with self._translated(), self._lock:
            self._connection.execute(sql, parameters or None)

    def run_many(self, sql: str, parameters: Iterable[Sequence[Any]]) -> None:
        rows = list(parameters)  # before the lock: making them may read from this database
        with self._translated(), self._lock, self._connection.cursor() as cursor:
            cursor.executemany(sql, rows)

    @contextmanager
    def together(self) -> Iterator[None]:
        with self._translated(), self._connection.pipeline():
            yield

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Reconnect if needed, and raise the server's errors as ours."""
        import psycopg

        self._reconnect_if_broken()
        try:
            yield
        except psycopg.Error as error:
            raise self._store_error(error) from error

    def _store_error(self, error: psycopg.Error) -> StoreError:
        import psycopg

        limit_ms = statement_ms(self._connection)
        if self._connection.closed:
            if "timed out" in str(error):
                return StoreSilent(*silent_sentence(self._url, limit_ms))
            return StoreUnreachable(f"PostgreSQL stopped answering: {_line(error)}")
        if isinstance(error, psycopg.errors.LockNotAvailable):
            return StoreBusy(limit_ms * 2 // 3)
        if isinstance(error, psycopg.errors.QueryCanceled):
            sentence, hint = slow_sentence(self._url, limit_ms)
            return StoreFailed(sentence, hint=hint)
        if isinstance(error, psycopg.errors.DiskFull):
            return StoreFailed(
                f"the disk is full: {_line(error)}", hint="free some space, then try again"
            )
        return StoreFailed(f"the database failed: {_line(error)}")

    def version(self) -> None:
        return None

    def begin(self) -> None:
        try:
            self._begin_and_lock()
        except StoreSilent:
            raise
        except StoreUnreachable:
            # Nothing has been written yet, so trying again is safe.
            self._begin_and_lock()

    def _begin_and_lock(self) -> None:
        self._reconnect_if_broken()
        self._in_transaction = True
        try:
            with self.together():
                # Not the server's default: later reads must see what the lock waited for.
                self.run("BEGIN ISOLATION LEVEL READ COMMITTED")
                self.run("SELECT name FROM branch WHERE name = '' FOR UPDATE")
        except BaseException:
            # The caller has no transaction to roll back, so it is done here.
            self.rollback()
            raise

    def begin_reading(self) -> None:
        self.rows("SELECT 1")
        self.run("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        self._in_transaction = True

    def commit(self) -> None:
        # Notified inside the transaction, so listeners hear of it exactly when it is durable, even
        # if this process ends at that moment. They look up what is new themselves.
        with self.together():
            self.run("SELECT pg_notify($1, $2)", (CHANNEL, self._schema))
            self.run("COMMIT")
        self._in_transaction = False

    def rollback(self) -> None:
        from psycopg.pq import TransactionStatus

        self._in_transaction = False
        if self._connection.info.transaction_status not in (
            TransactionStatus.IDLE,
            TransactionStatus.UNKNOWN,
        ):
            self.run("ROLLBACK")
        self._in_transaction = False

    def _reconnect_if_broken(self) -> None:
        """Reconnect after a restart of the server.

        Not inside a transaction: the rest of it must not run without its beginning.
        """
        if self._closed:
            raise StoreClosed
        if self._connection.closed and not self._in_transaction:
            self._connection = self._connect()
            self._connection.execute(f"SET search_path TO {self._schema}")

    def replace_tables(self, tables: Sequence[str]) -> None:
        for table in tables:
            self.run(f'TRUNCATE "{table}"')

    def structure_problems(self) -> list[str]:
        """The server checks its own files, where page checksums are enabled."""
        return []

    def compact(self) -> None:
        """Let the server reclaim the space of dead rows."""
        for table in TABLES:
            self.run(f'VACUUM "{table}"')

    @contextmanager
    def maintenance(self) -> Iterator[None]:
        with self._translated():
            self._reconnect_if_broken()
            with maintenance(self._connection):
                yield

    def close(self) -> None:
        self._closed = True
        self._connection.close()


def _line(error: Exception) -> str:
    """The first line of an error: its message without the statement."""
    text = str(error).strip()
    return text.splitlines()[0] if text else type(error).__name__
