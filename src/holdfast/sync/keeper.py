"""Sessions that survive the server: watches, who may resume them, and what their clients have.

Kept beside the spaces, not in them: a session is not part of anybody's history. What is kept may
lag behind by a moment. That is safe in one direction only, so it is used in that one: a client may
be sent again what it has, and one whose token is not the one we kept starts afresh.

FORMAT 1: one row per session; the state is JSON.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, Protocol

from holdfast.ids import BranchName, EntityId, Seq, SessionId, SpaceId
from holdfast.store import codec
from holdfast.store.graph import Limits as GraphLimits
from holdfast.sync import messages
from holdfast.sync.messages import WatchSpec
from holdfast.sync.sessions import ServerSession
from holdfast.sync.watch import Known, Watched

FORMAT: Final = 1
KNOWN_MAX: Final = 5_000
"""A session whose client has more documents than this starts afresh after a restart."""

KEPT_MS: Final = 24 * 60 * 60 * 1000
"""How long a session is kept that had an owner when the server ended."""

_COLUMNS = "space, id, until_ms, state"

Row = tuple[str, str, int, str]


class Rows(Protocol):
    """Where the rows are: a file, or a table that several servers share."""

    def put(self, rows: Iterable[Row]) -> None: ...
    def get(self, space: str, id: str) -> Row | None: ...
    def drop(self, keys: Iterable[tuple[str, str]]) -> None: ...
    def sweep(self, now_ms: int) -> None: ...
    def close(self) -> None: ...


class SessionKeeper:
    """Remembers sessions; `save` writes what has changed since the last time."""

    def __init__(self, rows: Rows, graph_limits: GraphLimits, now_ms: int) -> None:
        self._rows, self._graph_limits = rows, graph_limits
        self._changed: dict[tuple[SpaceId, SessionId], tuple[ServerSession, int | None]] = {}
        self._ended: set[tuple[SpaceId, SessionId]] = set()
        self._writing = threading.Lock()
        rows.sweep(now_ms)

    def keep(self, session: ServerSession, until_ms: int | None) -> None:
        self._changed[session.key] = (session, until_ms)
        self._ended.discard(session.key)

    def forget(self, space: SpaceId, id: SessionId) -> None:
        self._changed.pop((space, id), None)
        self._ended.add((space, id))

    def recall(self, space: SpaceId, id: SessionId, now_ms: int) -> ServerSession | None:
        if (space, id) in self._ended or (space, id) in self._changed:
            return None  # it was here, in this process, and its time is over
        row = self._rows.get(space, id)
        if row is None or row[2] <= now_ms:
            return None
        return restored(space, id, row[3], self._graph_limits)

    @property
    def pending(self) -> bool:
        """Whether there is something to save."""
        return bool(self._changed or self._ended)

    def take(self, now_ms: int) -> tuple[list[Row], list[tuple[str, str]]]:
        """What is to be written, as it is now."""
        rows = []
        for (space, id), (session, until_ms) in self._changed.items():
            state = recorded(session)
            until = now_ms + KEPT_MS if until_ms is None else until_ms
            if state is None:
                self._ended.add((space, id))
            else:
                rows.append((str(space), str(id), until, state))
        ended = [(str(space), str(id)) for space, id in self._ended]
        self._changed.clear()
        self._ended.clear()
        return rows, ended

    def write(self, taken: tuple[list[Row], list[tuple[str, str]]]) -> None:
        """Write what was taken; may be called from another thread."""
        with self._writing:
            rows, ended = taken
            if rows:
                self._rows.put(rows)
            if ended:
                self._rows.drop(ended)

    def save(self, now_ms: int) -> None:
        """Write everything that has changed, now."""
        self.write(self.take(now_ms))

    def close(self) -> None:
        with self._writing:
            self._rows.close()


def recorded(session: ServerSession) -> str | None:
    """A session as text; None if it is not worth keeping."""
    watched = session.watched
    if len(watched.known) > KNOWN_MAX:
        return None
    state = {
        "format": FORMAT,
        "principal": session.principal,
        "tokenDigest": session.token_digest,
        "seenSeq": session.seen_seq,
        "syncedSeq": session.synced_seq,
        "watches": [messages.to_wire(watch) for watch in watched.watches.values()],
        "known": [
            [branch, id, known.seq, known.deleted, known.proven]
            for (branch, id), known in watched.known.items()
        ],
        "removed": [[branch, id, seq] for (branch, id), seq in watched.removed.items()],
    }
    return codec.encode(state, True)


def restored(space: SpaceId, id: SessionId, text: str, limits: GraphLimits) -> ServerSession | None:
    """The session that a text records; None if it is of another format."""
    state: Any = codec.decode(text, True)
    if not isinstance(state, dict) or state.get("format") != FORMAT:
        return None
    watched = Watched(space, limits)
    for watch in state["watches"]:
        watched.watches[watch["id"]] = WatchSpec(
            id=watch["id"], kind=watch["kind"], query=watch["query"]
        )
    for branch, document, seq, deleted, proven in state["known"]:
        key = (BranchName(branch), EntityId(document))
        watched.known[key] = Known(Seq(seq), deleted, Seq(proven))
    for branch, document, seq in state["removed"]:
        watched.removed[BranchName(branch), EntityId(document)] = Seq(seq)
    return ServerSession(
        space,
        id,
        state["principal"],
        state["tokenDigest"],
        watched,
        0,
        Seq(state["seenSeq"]),
        Seq(state["syncedSeq"]),
        recalled=True,
    )


class SessionFile:
    """Rows in an SQLite file of their own, beside the spaces."""

    def __init__(self, path: Path) -> None:
        from holdfast.store.sqlite import SqliteFile

        self._file = SqliteFile(path)
        self._file.rows(
            "CREATE TABLE IF NOT EXISTS session (space TEXT NOT NULL, id TEXT NOT NULL, "
            "until_ms INTEGER NOT NULL, state TEXT NOT NULL, PRIMARY KEY (space, id)) WITHOUT ROWID"
        )

    def put(self, rows: Iterable[Row]) -> None:
        self._file.many(
            f"INSERT OR REPLACE INTO session ({_COLUMNS}) VALUES ($1, $2, $3, $4)", list(rows)
        )

    def get(self, space: str, id: str) -> Row | None:
        sql = f"SELECT {_COLUMNS} FROM session WHERE space = $1 AND id = $2"
        found: Any = self._file.rows(sql, (space, id))
        return found[0] if found else None

    def drop(self, keys: Iterable[tuple[str, str]]) -> None:
        self._file.many("DELETE FROM session WHERE space = $1 AND id = $2", list(keys))

    def sweep(self, now_ms: int) -> None:
        self._file.many("DELETE FROM session WHERE until_ms <= $1", [(now_ms,)])

    def close(self) -> None:
        self._file.close()


class SessionTable:
    """Rows in PostgreSQL, so that a client may resume at another server."""

    def __init__(self, url: str) -> None:
        import psycopg

        self._lock = threading.Lock()
        self._url = url
        self._connection = psycopg.Connection.connect(
            url, autocommit=True, cursor_factory=psycopg.RawCursor, application_name="holdfast"
        )
        with self._lock:
            # Two servers may start at once; making the table twice is an error there.
            self._connection.execute(
                "SELECT pg_advisory_lock(hashtextextended('holdfast/sessions', 0))"
            )
            self._connection.execute(
                "CREATE TABLE IF NOT EXISTS public.holdfast_session ("
                'space text COLLATE "C" NOT NULL, id text COLLATE "C" NOT NULL, '
                "until_ms bigint NOT NULL, state text NOT NULL, PRIMARY KEY (space, id))"
            )
            self._connection.execute(
                "SELECT pg_advisory_unlock(hashtextextended('holdfast/sessions', 0))"
            )

    def _many(self, sql: str, rows: list[Any]) -> None:
        with self._lock, self._connection.cursor() as cursor:
            cursor.executemany(sql, rows)

    def put(self, rows: Iterable[Row]) -> None:
        self._many(
            f"INSERT INTO public.holdfast_session ({_COLUMNS}) VALUES ($1, $2, $3, $4) "
            "ON CONFLICT (space, id) DO UPDATE SET until_ms = excluded.until_ms, "
            "state = excluded.state",
            list(rows),
        )

    def get(self, space: str, id: str) -> Row | None:
        sql = f"SELECT {_COLUMNS} FROM public.holdfast_session WHERE space = $1 AND id = $2"
        with self._lock:
            found = self._connection.execute(sql, (space, id)).fetchone()
        return None if found is None else (found[0], found[1], found[2], found[3])

    def drop(self, keys: Iterable[tuple[str, str]]) -> None:
        self._many("DELETE FROM public.holdfast_session WHERE space = $1 AND id = $2", list(keys))

    def sweep(self, now_ms: int) -> None:
        self._many("DELETE FROM public.holdfast_session WHERE until_ms <= $1", [(now_ms,)])

    def close(self) -> None:
        self._connection.close()
