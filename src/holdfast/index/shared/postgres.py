"""Shared rows on PostgreSQL: one schema for the team, partitioned by key.

The server needs no extension. A role that may only read takes rows and gives none. Tables of a
newer version are not touched; every wait has a deadline (`holdfast.postgresql`).
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from holdfast.index.errors import NewerFormat
from holdfast.index.shared.store import SHARED_VERSION, SharedUnavailable
from holdfast.postgresql import NotReached, address, connect, silent_sentence, statement_ms

if TYPE_CHECKING:
    import psycopg

SCHEMA = "holdfast_shared"
CONNECT_S = 3
PARTITIONS = 8
IDLE_MAX = 4

_COMMENT = "holdfast shared index "


def tables(schema: str) -> list[str]:
    """The statements that make the tables; `key` is the sharding key of a distributed server."""
    made = [
        f"CREATE SCHEMA {schema}",
        f"CREATE TABLE {schema}.work (key bytea PRIMARY KEY, data bytea NOT NULL)"
        " PARTITION BY HASH (key)",
    ]
    for number in range(PARTITIONS):
        made.append(
            f"CREATE TABLE {schema}.work_{number} PARTITION OF {schema}.work"
            f" FOR VALUES WITH (MODULUS {PARTITIONS}, REMAINDER {number})"
        )
        # Vectors do not compress, and rows are read whole.
        made.append(f"ALTER TABLE {schema}.work_{number} ALTER COLUMN data SET STORAGE EXTERNAL")
    return [*made, f"COMMENT ON SCHEMA {schema} IS '{_COMMENT}{SHARED_VERSION}'"]


class PostgresShared:
    """Shared rows on a server of the team's."""

    def __init__(self, url: str, schema: str = SCHEMA) -> None:
        assert schema.isidentifier(), "a schema is named by us"
        self._url, self._schema = url, schema
        self.name = f"postgresql://{address(url)}"
        self._lock = threading.Lock()
        self._idle: list[psycopg.Connection[Any]] = []
        self._ready = False

    @contextmanager
    def _session(self) -> Iterator[psycopg.Connection[Any]]:
        with self._lock:
            connection = self._idle.pop() if self._idle else None
        if connection is None:
            try:
                connection = connect(self._url, "holdfast shared index", CONNECT_S)
            except NotReached as error:
                raise SharedUnavailable(str(error), "check HOLDFAST_INDEX_URL") from None
        import psycopg

        try:
            if not self._ready:
                self._prepare(connection)
            yield connection
        except psycopg.Error as error:
            connection.close()
            self._ready = False
            if "timed out" in str(error):
                said, _ = silent_sentence(self._url, statement_ms(connection))
                raise SharedUnavailable(said, "check HOLDFAST_INDEX_URL") from None
            raise SharedUnavailable(f"PostgreSQL: {str(error).strip()}") from error
        except BaseException:
            connection.close()
            raise
        with self._lock:
            if len(self._idle) < IDLE_MAX:
                self._idle.append(connection)
            else:
                connection.close()

    def _prepare(self, connection: psycopg.Connection[Any]) -> None:
        if self._version(connection) == SHARED_VERSION:
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
        asked = f"SELECT key, data FROM {self._schema}.work WHERE key = ANY($1)"  # noqa: S608
        with self._session() as connection:
            return dict(connection.execute(asked, (list(keys),), binary=True).fetchall())

    def has(self, keys: Sequence[bytes]) -> frozenset[bytes]:
        if not keys:
            return frozenset()
        asked = f"SELECT key FROM {self._schema}.work WHERE key = ANY($1)"  # noqa: S608
        with self._session() as connection:
            return frozenset(
                row[0] for row in connection.execute(asked, (list(keys),), binary=True)
            )

    def put(self, rows: Iterable[tuple[bytes, bytes]], *, replace: bool = False) -> None:
        # In the order of keys: two writers of the same rows do not wait for each other in a circle.
        ordered = sorted(rows)
        if not ordered:
            return
        then = "UPDATE SET data = EXCLUDED.data" if replace else "NOTHING"
        put = (
            f"INSERT INTO {self._schema}.work SELECT * FROM unnest($1::bytea[], $2::bytea[])"  # noqa: S608
            f" ON CONFLICT (key) DO {then}"
        )
        with self._session() as connection:
            connection.execute(put, ([key for key, _ in ordered], [data for _, data in ordered]))

    def ping(self) -> None:
        with self._session() as connection:
            connection.execute("SELECT 1")

    def close(self) -> None:
        with self._lock:
            for connection in self._idle:
                connection.close()
            self._idle.clear()
