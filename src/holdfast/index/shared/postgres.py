"""Shared rows on PostgreSQL: one schema for the team, partitioned by key.

The server needs no extension. A read-only role can use rows but adds none. Tables of a newer
version are not touched; every wait has a deadline (`holdfast.postgresql`).

With a limit, the least recently used rows are removed until four fifths of it are left. Every
reader with write access records the day on which a row was used, once a day.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from holdfast.index.errors import NewerFormat
from holdfast.index.shared.store import (
    KEEP_SHARE,
    ROW_BYTES,
    SHARED_VERSION,
    SharedReadOnly,
    SharedUnavailable,
)
from holdfast.postgresql import (
    INDEX_SETTING,
    NotReached,
    address,
    connect,
    maintenance,
    silent_sentence,
    statement_ms,
)

if TYPE_CHECKING:
    import psycopg

SCHEMA = "holdfast_shared"
CONNECT_S = 3
PARTITIONS = 8
IDLE_MAX = 4

_COMMENT = "holdfast shared index "


def tables(schema: str) -> list[str]:
    """The statements that create the tables; `key` is the sharding key of a distributed server."""
    sql = [
        f"CREATE SCHEMA {schema}",
        f"CREATE TABLE {schema}.work (key bytea PRIMARY KEY, data bytea NOT NULL)"
        " PARTITION BY HASH (key)",
        _used_column(schema),
    ]
    for number in range(PARTITIONS):
        sql.append(
            f"CREATE TABLE {schema}.work_{number} PARTITION OF {schema}.work"
            f" FOR VALUES WITH (MODULUS {PARTITIONS}, REMAINDER {number})"
        )
        # Vectors do not compress, and rows are read whole.
        sql.append(f"ALTER TABLE {schema}.work_{number} ALTER COLUMN data SET STORAGE EXTERNAL")
    return [*sql, f"COMMENT ON SCHEMA {schema} IS '{_COMMENT}{SHARED_VERSION}'"]


def _used_column(schema: str) -> str:
    """The statement that adds the day of the last use. The tables also work without this column."""
    return (
        f"ALTER TABLE {schema}.work"
        " ADD COLUMN IF NOT EXISTS used date NOT NULL DEFAULT CURRENT_DATE"
    )


class PostgresShared:
    """Shared rows on a team's server, limited to `bytes_max` if given."""

    def __init__(self, url: str, schema: str = SCHEMA, bytes_max: int | None = None) -> None:
        assert schema.isidentifier(), "a schema is named by us"
        self._url, self._schema, self._bytes_max = url, schema, bytes_max
        self._bytes_since_check = 0
        """Bytes added since the limit was last checked."""
        self._dated = True
        """Whether this role may record the day on which a row was used."""
        self.name = f"postgresql://{address(url)}"
        self._lock = threading.Lock()
        self._idle: list[psycopg.Connection[Any]] = []
        self._ready = False

    @contextmanager
    def _session(self) -> Iterator[psycopg.Connection[Any]]:
        connection = self._lent() or self._connected()
        import psycopg

        try:
            if not self._ready:
                self._prepare(connection)
            yield connection
        except psycopg.Error as error:
            connection.close()
            self._ready = False
            raise self._unavailable(error, statement_ms(connection)) from error
        except BaseException:
            connection.close()
            raise
        with self._lock:
            if len(self._idle) < IDLE_MAX:
                self._idle.append(connection)
            else:
                connection.close()

    def _connected(self) -> psycopg.Connection[Any]:
        try:
            return connect(self._url, "holdfast shared index", CONNECT_S, INDEX_SETTING)
        except NotReached as error:
            raise SharedUnavailable(str(error), error.hint) from None

    def _lent(self) -> psycopg.Connection[Any] | None:
        """An idle connection that still answers; a server restart leaves only dead ones."""
        if not self._idle:
            return None  # perhaps there is no driver either
        import psycopg

        while True:
            with self._lock:
                if not self._idle:
                    return None
                connection = self._idle.pop()
            limit_ms = statement_ms(connection)
            try:
                connection.execute("SELECT 1")
                return connection
            except psycopg.Error as error:
                connection.close()
                if "timed out" in str(error):  # The others would wait as long.
                    raise self._unavailable(error, limit_ms) from error

    def _unavailable(self, error: psycopg.Error, limit_ms: int) -> SharedUnavailable:
        if "timed out" in str(error):
            return SharedUnavailable(*silent_sentence(self._url, limit_ms, INDEX_SETTING))
        return SharedUnavailable(f"PostgreSQL: {str(error).strip()}")

    def _prepare(self, connection: psycopg.Connection[Any]) -> None:
        if self._version(connection) == SHARED_VERSION:
            self._date_rows(connection)
            self._ready = True
            return
        with connection.transaction():
            connection.execute(
                "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", (self._schema,)
            )
            if self._version(connection) is None:
                for statement in tables(self._schema):
                    connection.execute(statement)
        self._ready = True

    def _date_rows(self, connection: psycopg.Connection[Any]) -> None:
        """Add the column for the day of the last use to tables without it."""
        import psycopg

        rows = connection.execute(
            "SELECT 1 FROM pg_attribute WHERE attrelid = to_regclass($1) AND attname = 'used'",
            (f"{self._schema}.work",),
        ).fetchone()
        if rows is None:
            try:
                connection.execute(_used_column(self._schema))
            except (
                psycopg.errors.InsufficientPrivilege,
                psycopg.errors.ReadOnlySqlTransaction,
            ):
                self._dated = False

    def _note_use(self, connection: psycopg.Connection[Any], keys: Sequence[bytes]) -> None:
        import psycopg

        if not self._dated or not keys:
            return
        try:
            connection.execute(
                f"UPDATE {self._schema}.work SET used = CURRENT_DATE"  # noqa: S608
                " WHERE key = ANY($1) AND used < CURRENT_DATE",
                (sorted(keys),),
            )
        except (psycopg.errors.InsufficientPrivilege, psycopg.errors.ReadOnlySqlTransaction):
            self._dated = False

    def _keep_limit(self, connection: psycopg.Connection[Any], bytes_added: int) -> None:
        """Remove the least recently used rows if the limit is exceeded.

        Checked after every hundredth of the limit: counting reads the length of every row.
        """
        self._bytes_since_check += bytes_added
        if self._bytes_max is None or self._bytes_since_check * 100 < self._bytes_max:
            return
        self._bytes_since_check = 0
        table = f"{self._schema}.work"
        with maintenance(connection), connection.transaction():
            lock = "SELECT pg_try_advisory_xact_lock(hashtextextended($1, 1))"
            locked = connection.execute(lock, (self._schema,)).fetchone()
            size = f"SELECT coalesce(sum(octet_length(data) + {ROW_BYTES}), 0) FROM {table}"  # noqa: S608
            row = connection.execute(size).fetchone()
            assert row is not None
            assert locked is not None
            if not locked[0] or int(row[0]) <= self._bytes_max:
                return
            connection.execute(
                f"DELETE FROM {table} USING (SELECT key AS old, sum(octet_length(data) + "  # noqa: S608
                f"{ROW_BYTES}) OVER (ORDER BY used DESC, key) AS kept FROM {table}) AS ordered "
                "WHERE key = old AND kept > $1",
                (int(self._bytes_max * KEEP_SHARE),),
            )

    def _version(self, connection: psycopg.Connection[Any]) -> int | None:
        """The version of the tables; None if there are none. Raises NewerFormat for a newer one."""
        row = connection.execute(
            "SELECT obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE nspname = $1",
            (self._schema,),
        ).fetchone()
        if row is None:
            return None
        text = str(row[0] or "").removeprefix(_COMMENT)
        number = int(text) if text.isascii() and text.isdigit() else 0
        if number > SHARED_VERSION:
            raise NewerFormat(number, SHARED_VERSION)
        if number == 0:
            raise SharedUnavailable(
                f"the schema {self._schema} is not a shared index of ours",
                "use another database, or remove the schema",
            )
        return number

    def get(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        if not keys:
            return {}
        statement = f"SELECT key, data FROM {self._schema}.work WHERE key = ANY($1)"  # noqa: S608
        with self._session() as connection:
            rows = dict(connection.execute(statement, (list(keys),), binary=True).fetchall())
            self._note_use(connection, list(rows))
            return rows

    def has(self, keys: Sequence[bytes]) -> frozenset[bytes]:
        if not keys:
            return frozenset()
        statement = f"SELECT key FROM {self._schema}.work WHERE key = ANY($1)"  # noqa: S608
        with self._session() as connection:
            return frozenset(
                row[0] for row in connection.execute(statement, (list(keys),), binary=True)
            )

    def put(self, rows: Iterable[tuple[bytes, bytes]], *, replace: bool = False) -> None:
        # In key order, so that two writers of the same rows cannot deadlock.
        ordered = sorted(rows)
        if not ordered:
            return
        then = "UPDATE SET data = EXCLUDED.data" if replace else "NOTHING"
        put = (
            f"INSERT INTO {self._schema}.work (key, data)"  # noqa: S608
            " SELECT * FROM unnest($1::bytea[], $2::bytea[])"
            f" ON CONFLICT (key) DO {then}"
        )
        import psycopg

        with self._session() as connection:
            columns = ([key for key, _ in ordered], [data for _, data in ordered])
            try:
                connection.execute(put, columns)
            except (
                psycopg.errors.InsufficientPrivilege,
                psycopg.errors.ReadOnlySqlTransaction,
            ) as error:
                raise SharedReadOnly(
                    f"PostgreSQL: {str(error).strip()}", "use a role that may write"
                ) from error
            self._keep_limit(connection, sum(len(data) + ROW_BYTES for _, data in ordered))

    def ping(self) -> None:
        with self._session() as connection:
            connection.execute("SELECT 1")

    def close(self) -> None:
        with self._lock:
            for connection in self._idle:
                connection.close()
            self._idle.clear()
