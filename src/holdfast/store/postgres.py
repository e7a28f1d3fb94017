"""The store on PostgreSQL: the connection, the write lock and bringing a space up to date.

The tables of all spaces are together, partitioned by space, and each space is a schema of views of
them (`tables/partitions.py`). Several processes may write to one space: a write transaction starts
by locking the row of the default branch, which makes admission serial and keeps seqs gap-free.

A newer version may upgrade a space while servers of this version have it open. So every write
transaction compares the version after it has the lock: a write by an older server is refused with
`StoreUpgraded`, and its clients continue on a newer one.
"""

from __future__ import annotations

import functools
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
from holdfast.store import checks
from holdfast.store.errors import (
    DamagedStore,
    StoreBusy,
    StoreClosed,
    StoreFailed,
    StoreSilent,
    StoreUnreachable,
    StoreUpgraded,
    UnknownSpace,
)
from holdfast.store.tables import TABLES, Row, partitions
from holdfast.store.tables.partitions import NOW, STORE, TOGETHER, VERSION
from holdfast.store.upgrade import OLDEST, seal_branches, upgrade

if TYPE_CHECKING:
    import psycopg

CHANNEL = "holdfast_commits"
"""The NOTIFY channel of all commits; the payload is the schema of the space."""


_VERSION = "SELECT obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE nspname = $1"


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
        self._schema, self.mask = schema_name(space), partitions.mask(space)
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
        if version == VERSION:
            return
        if version is None and not create:
            raise UnknownSpace(self._space, self.spaces())
        if version is not None and version > VERSION:
            raise StoreUpgraded(self._space, version, VERSION)
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
            elif OLDEST <= version < VERSION:
                self.run(f"SET LOCAL search_path TO {self._schema}")
                # A large space takes longer than a statement of a commit may. Servers that have it
                # open wait meanwhile, no longer than their own deadline for a statement.
                self.run("SET LOCAL statement_timeout = '10min'")
                if version >= TOGETHER - 1:
                    if version < TOGETHER:
                        self._move()
                    for statement in partitions.mask_statements(self.mask):
                        self.run(statement)
                else:
                    upgrade(self, self._create, version, self.rows(f"SELECT {NOW}")[0][0])
            elif version != VERSION:
                raise DamagedStore(f"the space {self._space} has tables of version {version}")
            if version != VERSION:
                quoted = f"holdfast {VERSION} {self._space}".replace("'", "''")
                self.run(f"COMMENT ON SCHEMA {self._schema} IS '{quoted}'")
            self.commit()
        except BaseException:
            self.rollback()
            raise

    def _create(self) -> None:
        self._make_views()
        self.run("INSERT INTO branch (name) VALUES ('')")
        seal_branches(self)

    def _move(self) -> None:
        """Move the rows of a space's own tables into the tables of all spaces."""
        for table in TABLES:
            self.run(f'ALTER TABLE "{table}" RENAME TO "old_{table}"')
        self._make_views()
        for statement in partitions.move_statements("old_"):
            self.run(statement)

    def _make_views(self) -> None:
        if not self.rows("SELECT to_regnamespace($1)", (STORE,))[0][0]:
            self.rows("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", (STORE,))
            if not self.rows("SELECT to_regnamespace($1)", (STORE,))[0][0]:
                for statement in partitions.table_statements():
                    self.run(statement)
        name = (self._space,)
        self.run(f"INSERT INTO {STORE}.space (name) VALUES ($1) ON CONFLICT DO NOTHING", name)
        find = f"SELECT number FROM {STORE}.space WHERE name = $1"
        number = int(self.rows(find, name)[0][0])
        for statement in (
            *partitions.empty_statements(number),
            *partitions.view_statements(number),
        ):
            self.run(statement)

    def _version(self) -> int | None:
        """The version of the space's tables; None if there are none."""
        return _version_in(self.rows(_VERSION, (self._schema,)))

    def _refuse_if_newer(self, rows: list[Row]) -> None:
        """Raise `StoreUpgraded` if another server has brought the space up to a later version."""
        version = _version_in(rows)
        if version is not None and version > VERSION:
            raise StoreUpgraded(self._space, version, VERSION)

    def spaces(self) -> list[str]:
        """Every space of this database, by name."""
        rows = self.rows(
            "SELECT obj_description(oid, 'pg_namespace') FROM pg_namespace "
            "WHERE nspname LIKE 'holdfast\\_%'"
        )
        # Other programs' schemas may match the pattern; their comments differ.
        words = [(text or "").split(" ", 2) for (text,) in rows]
        return sorted(w[2] for w in words if len(w) == 3 and w[0] == "holdfast" and w[1].isdigit())

    def tables(self) -> list[str]:
        rows = self.rows(
            'SELECT viewname FROM pg_views WHERE schemaname = $1 ORDER BY viewname COLLATE "C"',
            (self._schema,),
        )
        return [row[0] for row in rows]

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
            self._connection.execute(_with_space(sql), parameters or None)

    def run_many(self, sql: str, parameters: Iterable[Sequence[Any]]) -> None:
        rows = list(parameters)  # before the lock: making them may read from this database
        with self._translated(), self._lock, self._connection.cursor() as cursor:
            cursor.executemany(_with_space(sql), rows)

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
                with self._lock:
                    version = self._connection.execute(_VERSION, (self._schema,))
            self._refuse_if_newer(version.fetchall())
        except BaseException:
            # The caller has no transaction to roll back, so it is done here.
            self.rollback()
            raise

    def begin_reading(self) -> None:
        self.rows("SELECT 1")
        self.run("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        self._in_transaction = True

    def commit(self) -> None:
        # Inside the transaction, so listeners are notified exactly when it is durable, even if this
        # process ends at that moment. They look up what is new themselves.
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
            self.run(f'DELETE FROM "{table}"')

    def structure_problems(self) -> list[str]:
        """Rows in no space or in another: this space may have lost, or has lost, some of them.

        The server checks its own files, where page checksums are enabled.
        """
        strays = [
            f"{table} has rows of space {number}, which does not exist"
            for table in TABLES
            for (number,) in self.rows(partitions.stray_statement(table))
        ]
        return strays + [f"blob {hash} is in space {name!r}" for hash, name in self._lost_blobs()]

    def _lost_blobs(self, page: int = 2_000) -> Iterator[tuple[str, str]]:
        """Blobs of this space that are in another one, with its name.

        Only a blob can be lost unnoticed otherwise: the commits say which other rows there are.
        """
        (number,) = self.rows("SELECT space FROM branch LIMIT 1")[0]
        statement, at = partitions.foreign_blobs_statement(number), (0, "")
        while True:
            rows = self.rows(statement, (*at, page))
            for _, hash, content_type, size, put_at, crc, name in rows:
                own = checks.blob_crc(hash, content_type, size, put_at) ^ crc
                # A sound blob of the other space is not ours, whatever its sum is here.
                if own == self.mask != partitions.mask(name):
                    yield hash, name
            if len(rows) < page:
                return
            at = tuple(rows[-1][:2])

    def compact(self) -> None:
        """Let the server reclaim the space of dead rows."""
        for table in TABLES:
            self.run(f'VACUUM {STORE}."{table}"')

    @contextmanager
    def maintenance(self) -> Iterator[None]:
        with self._translated():
            self._reconnect_if_broken()
            with maintenance(self._connection):
                yield

    def close(self) -> None:
        self._closed = True
        self._connection.close()


@functools.lru_cache(maxsize=512)
def _with_space(sql: str) -> str:
    """A statement of `tables/` for the views here: every key begins with the space."""
    return sql.replace("ON CONFLICT (", "ON CONFLICT (space, ")


def _version_in(rows: list[Row]) -> int | None:
    """The version in the comment of a space's schema; None if there is no schema."""
    if not rows:
        return None
    words = (rows[0][0] or "").split(" ")
    return int(words[1]) if len(words) > 1 and words[1].isdigit() else 0


def _line(error: Exception) -> str:
    """The first line of an error: its message without the statement."""
    text = str(error).strip()
    return text.splitlines()[0] if text else type(error).__name__
