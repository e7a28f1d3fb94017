"""The rows of stored sessions, in a SQLite file or in a PostgreSQL table that servers share.

The row decides who owns a session. A token is replaced only if the row still has the one that was
read (`claim`), a row with another token is never overwritten (`renew`), and a server whose session
has another token in its row has lost it (`has_other_token`).
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from holdfast.postgresql import silent_sentence, statement_ms
from holdfast.store.errors import StoreSilent, StoreUnreachable

if TYPE_CHECKING:
    import psycopg

TAKEOVERS: Final = "holdfast_takeovers"
"""The channel on which servers announce that they took over a session: `node:name`."""

Row = tuple[str, str, int, str]
"""Space, id, until when it is kept, and the state as JSON."""

_SECRET = ("", "secret")
"""The key of the row with the secret. No space has an empty name, so no session has this key."""

_NEVER_EXPIRES: Final = 2**53

PARTITIONS: Final = 8
"""How many partitions the table on PostgreSQL has; they are by space."""

_TOKEN, _TOKEN_LENGTH = '"tokenDigest":', 80
"""The member of a state with the token's digest, and the length of both."""


class SessionRows(ABC):
    """The SQL that both databases share."""

    _table: str
    _find: str
    """The SQL function that finds a text in another; it returns 0 if there is none."""

    @abstractmethod
    def _ask(self, sql: str, parameters: tuple[Any, ...] = ()) -> list[Any]: ...

    @abstractmethod
    def _many(self, sql: str, rows: list[Any]) -> None: ...

    @abstractmethod
    def version(self) -> int | None:
        """A number that changes whenever rows are written; None if it is unknown."""

    @abstractmethod
    def announce(self, name: str) -> None:
        """Tell the servers that share these rows that a session is now this server's."""

    @abstractmethod
    def close(self) -> None: ...

    @property
    def _insert(self) -> str:
        columns = "(space, id, until_ms, state) VALUES ($1, $2, $3, $4)"
        return f"INSERT INTO {self._table} AS kept {columns} ON CONFLICT (space, id) DO"

    @property
    def _upsert(self) -> str:
        return f"{self._insert} UPDATE SET until_ms = excluded.until_ms, state = excluded.state"

    def claim(self, row: Row, replaces: str | None, now_ms: int) -> bool:
        """Write a row if the stored one has the token digest `replaces`, is expired or missing."""
        sql = (
            f"{self._upsert} WHERE kept.until_ms <= $5 OR {self._find}(kept.state, $6) > 0 "
            "RETURNING 1"
        )
        token = None if replaces is None else f'{_TOKEN}"{replaces}"'
        return bool(self._ask(sql, (*row, now_ms, token)))

    def renew(self, rows: Iterable[Row]) -> None:
        """Write rows, but never over a row with another token: another server wrote that one."""
        find = self._find
        token = f"substr(excluded.state, {find}(excluded.state, '{_TOKEN}'), {_TOKEN_LENGTH})"
        self._many(f"{self._upsert} WHERE {find}(kept.state, {token}) > 0", list(rows))

    def get(self, space: str, id: str) -> Row | None:
        sql = f"SELECT space, id, until_ms, state FROM {self._table} WHERE space = $1 AND id = $2"
        rows = self._ask(sql, (space, id))
        return tuple(rows[0]) if rows else None

    def has_other_token(self, space: str, id: str, digest: str) -> bool:
        """Whether there is a row of this session that has another token."""
        sql = (
            f"SELECT 1 FROM {self._table} "
            f"WHERE space = $1 AND id = $2 AND {self._find}(state, $3) = 0"
        )
        return bool(self._look(sql, (space, id, f'{_TOKEN}"{digest}"')))

    def _look(self, sql: str, parameters: tuple[Any, ...] = ()) -> list[Any]:
        """Like `_ask`, for statements that only read."""
        return self._ask(sql, parameters)

    def drop(self, keys: Iterable[tuple[str, str]]) -> None:
        self._many(f"DELETE FROM {self._table} WHERE space = $1 AND id = $2", list(keys))

    def sweep(self, now_ms: int) -> None:
        """Drop the rows that have expired."""
        self._many(f"DELETE FROM {self._table} WHERE until_ms <= $1", [(now_ms,)])

    def secret(self, proposed: str) -> str:
        """A secret that the servers of these rows share; the first proposal wins."""
        self._many(f"{self._insert} NOTHING", [(*_SECRET, _NEVER_EXPIRES, proposed)])
        row = self.get(*_SECRET)
        assert row is not None
        return row[3]


class SessionFile(SessionRows):
    """Rows in a separate SQLite file, beside the spaces."""

    _table, _find = "session", "instr"

    def __init__(self, path: Path) -> None:
        from holdfast.store.sqlite import SqliteFile

        self._file = SqliteFile(path)
        self._file.rows(
            "CREATE TABLE IF NOT EXISTS session (space TEXT NOT NULL, id TEXT NOT NULL, "
            "until_ms INTEGER NOT NULL, state TEXT NOT NULL, PRIMARY KEY (space, id)) WITHOUT ROWID"
        )
        # A separate connection: it sees what others wrote, and never waits for a save.
        self._reader = SqliteFile(path)

    def version(self) -> int | None:
        return int(self._reader.rows("PRAGMA data_version")[0][0])

    def _look(self, sql: str, parameters: tuple[Any, ...] = ()) -> list[Any]:
        return self._reader.rows(sql, parameters)

    def _ask(self, sql: str, parameters: tuple[Any, ...] = ()) -> list[Any]:
        return self._file.rows(sql, parameters)

    def _many(self, sql: str, rows: list[Any]) -> None:
        self._file.many(sql, rows)

    def announce(self, name: str) -> None:
        pass  # another server on this file notices before the next command (`version`)

    def close(self) -> None:
        self._reader.close()
        self._file.close()


class SessionTable(SessionRows):
    """Rows in PostgreSQL, so that a client may resume at another server."""

    _table, _find = "public.holdfast_session", "strpos"

    def __init__(self, url: str, node: str) -> None:
        self._lock = threading.Lock()
        self._url, self._node = url, node
        self._connection = self._connect()
        self._make_table()

    def _make_table(self) -> None:
        """Create the table, partitioned by space, and move the rows of an unpartitioned one into
        it.

        Running servers are not affected: the name, the columns and the key stay the same.
        """
        kind = "SELECT relkind::text FROM pg_class WHERE oid = to_regclass($1)"
        if self._ask(kind, (self._table,)) == [("p",)]:
            return
        with self._lock, self._connection.transaction():
            run = self._connection.execute
            # Two servers may start at once; creating the table twice is an error there.
            run("SELECT pg_advisory_xact_lock(hashtextextended('holdfast/sessions', 0))")
            row = run(kind, (self._table,)).fetchone()
            if row == ("p",):
                return
            if row is not None:
                run(f"ALTER TABLE {self._table} RENAME TO holdfast_session_before")
                before = "holdfast_session_before_pkey"
                run(f"ALTER INDEX public.holdfast_session_pkey RENAME TO {before}")
            run(
                f"CREATE TABLE {self._table} ("
                'space text COLLATE "C" NOT NULL, id text COLLATE "C" NOT NULL, '
                "until_ms bigint NOT NULL, state text NOT NULL, PRIMARY KEY (space, id)) "
                "PARTITION BY HASH (space)"
            )
            for number in range(PARTITIONS):
                run(
                    f"CREATE TABLE {self._table}_{number} PARTITION OF {self._table} "
                    f"FOR VALUES WITH (MODULUS {PARTITIONS}, REMAINDER {number})"
                )
            if row is not None:
                run(
                    f"INSERT INTO {self._table} (space, id, until_ms, state) "
                    "SELECT space, id, until_ms, state FROM public.holdfast_session_before"
                )
                run("DROP TABLE public.holdfast_session_before")

    def version(self) -> int | None:
        return None

    def _connect(self) -> psycopg.Connection[Any]:
        from holdfast.store.postgres import reached

        return reached(self._url, "holdfast-sessions")

    @contextmanager
    def _cursor(self) -> Iterator[psycopg.Cursor[Any]]:
        import psycopg

        with self._lock:
            if self._connection.broken:
                self._connection = self._connect()
            try:
                with self._connection.cursor() as cursor:
                    yield cursor
            except psycopg.OperationalError as error:
                if "timed out" in str(error):
                    raise StoreSilent(
                        *silent_sentence(self._url, statement_ms(self._connection))
                    ) from error
                raise StoreUnreachable(f"PostgreSQL stopped answering: {error}") from error

    def _ask(self, sql: str, parameters: tuple[Any, ...] = ()) -> list[Any]:
        with self._cursor() as cursor:
            cursor.execute(sql, parameters)
            return cursor.fetchall() if cursor.description is not None else []

    def _many(self, sql: str, rows: list[Any]) -> None:
        with self._cursor() as cursor:
            cursor.executemany(sql, rows)

    def announce(self, name: str) -> None:
        self._ask("SELECT pg_notify($1, $2)", (TAKEOVERS, f"{self._node}:{name}"))

    def close(self) -> None:
        self._connection.close()
