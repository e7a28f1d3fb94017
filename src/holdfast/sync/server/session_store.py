"""Sessions that survive the server: watches, who may resume them, and what their clients have.

Kept beside the spaces, not in them: a session is not part of a space's history. Tokens and watches
are written before the client hears of them; what was sent since may lag behind by a moment. That is
safe in one direction only, so it is used in that one: a client may be sent again what it has.

The row decides who owns a session. A token is replaced only if the row still has the one that was
read, and a row of another token is never overwritten.

FORMAT 1: one row per session; the state is JSON.
FORMAT 2: `presentedDigest` is the token of the last open, `proven` whether its answer arrived;
          `known` is null when the client has too many documents: only the owner is kept then.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

import msgspec

from holdfast.ids import BranchName, EntityId, Seq, SessionId, SpaceId
from holdfast.store import codec
from holdfast.store.errors import StoreUnreachable
from holdfast.store.graph import GraphLimits
from holdfast.sync.server.read_cache import Known
from holdfast.sync.server.session_registry import ServerSession, public_name
from holdfast.sync.server.watch_set import WatchSet
from holdfast.sync.wire.messages import WatchSpec

if TYPE_CHECKING:
    import psycopg

FORMAT: Final = 2
TAKEOVERS: Final = "holdfast_takeovers"
"""Where servers that share a database say that a session is theirs now: `node:name`."""

KNOWN_MAX: Final = 5_000
"""A session whose client has more documents than this is sent all of them after a restart."""

KEPT_MS: Final = 24 * 60 * 60 * 1000
"""How long a session is kept that had an owner when the server ended."""

_COLUMNS = "space, id, until_ms, state"

_SECRET = ("", "secret")
"""No space has an empty name, so no session is kept there."""

_FOR_EVER: Final = 2**53

_TOKEN, _TOKEN_LENGTH = '"tokenDigest":', 80
"""Where a state names the token it was written under, and how long that is with its digest."""

Row = tuple[str, str, int, str]
Taken = tuple[list[Row], list[tuple[str, str]]]
"""Rows to renew, and the keys of rows to drop."""


class Rows(Protocol):
    """Where the rows are: a file, or a table that several servers share."""

    def claim(self, row: Row, replaces: str | None, now_ms: int) -> bool:
        """Write a row if the stored one has the token digest `replaces`, is over, or is missing."""

    def renew(self, rows: Iterable[Row]) -> None:
        """Write rows, but not over a row of another token: that one is newer, and not ours."""

    def get(self, space: str, id: str) -> Row | None: ...
    def drop(self, keys: Iterable[tuple[str, str]]) -> None: ...
    def sweep(self, now_ms: int) -> None: ...
    def announce(self, name: str) -> None:
        """Tell whoever shares these rows that a session is now ours."""

    def secret(self, proposed: str) -> str:
        """What all who share these rows know and nobody else; the first proposal stays."""

    def close(self) -> None: ...


class SessionStore:
    """Remembers sessions; `save` writes what has changed since the last time."""

    def __init__(self, rows: Rows, graph_limits: GraphLimits, clock_ms: Callable[[], int]) -> None:
        self._rows, self._graph_limits, self._clock_ms = rows, graph_limits, clock_ms
        self._changed: dict[tuple[SpaceId, SessionId], tuple[ServerSession, int | None]] = {}
        self._ended: set[tuple[SpaceId, SessionId]] = set()
        self._kept_since: set[tuple[str, str]] = set()
        """Those kept at once since the last `take`: what was taken of them is out of date."""
        self._writing = threading.Lock()
        rows.sweep(clock_ms())

    def keep(self, session: ServerSession, until_ms: int | None, urgent: bool = False) -> None:
        self._ended.discard(session.key)
        if urgent:
            self._changed.pop(session.key, None)
            self._kept_since.add(session.key)
            with self._writing:
                self._rows.renew([self._row(session, until_ms)])
        else:
            self._changed[session.key] = (session, until_ms)

    def claim(self, session: ServerSession, replaces: str | None) -> bool:
        key, now = session.key, self._clock_ms()
        with self._writing:
            if key in self._ended:
                self._ended.discard(key)
                self._rows.drop([key])
            claimed = self._rows.claim(self._row(session, None), replaces, now)
        self._changed.pop(key, None)
        self._kept_since.add(key)
        return claimed

    def forget(self, space: SpaceId, id: SessionId) -> None:
        self._changed.pop((space, id), None)
        self._ended.add((space, id))

    def let_go(self, space: SpaceId, id: SessionId) -> None:
        self._changed.pop((space, id), None)

    def recall(self, space: SpaceId, id: SessionId, now_ms: int) -> ServerSession | None:
        if (space, id) in self._ended:
            return None
        row = self._rows.get(space, id)
        if row is None or row[2] <= now_ms:
            return None
        return restored(space, id, row[3], self._graph_limits)

    def taken_over(self, space: SpaceId, id: SessionId) -> None:
        self._rows.announce(public_name(space, id))

    @property
    def pending(self) -> bool:
        """Whether there is something to save."""
        return bool(self._changed or self._ended)

    def take(self) -> Taken:
        """What is to be written, as it is now."""
        rows = [self._row(session, until_ms) for session, until_ms in self._changed.values()]
        dropped = [(str(space), str(id)) for space, id in self._ended]
        self._changed.clear()
        self._ended.clear()
        self._kept_since.clear()
        return rows, dropped

    def _row(self, session: ServerSession, until_ms: int | None) -> Row:
        until = self._clock_ms() + KEPT_MS if until_ms is None else until_ms
        session.kept_until_ms = until
        return (session.space, session.id, until, recorded(session))

    def write(self, taken: Taken) -> None:
        """Write what was taken; may be called from another thread."""
        with self._writing:
            rows, ended = taken
            rows = [row for row in rows if row[:2] not in self._kept_since]
            ended = [key for key in ended if key not in self._kept_since]
            if rows:
                self._rows.renew(rows)
            if ended:
                self._rows.drop(ended)

    def save(self) -> None:
        """Write everything that has changed, now."""
        self.write(self.take())

    def close(self) -> None:
        with self._writing:
            self._rows.close()


def recorded(session: ServerSession) -> str:
    """A session as text."""
    watched = session.watch_set
    blank = session.blank or len(watched.known) > KNOWN_MAX
    texts = watched.texts
    for id, watch in () if blank else watched.watches.items():
        if id not in texts:
            # A schema may hold anything; the rest of the state is plain and needs no second look.
            wire = {"id": id, "kind": watch.kind, "query": watch.query}
            texts[id] = codec.encode(wire, True)
    state: dict[str, Any] = {
        "format": FORMAT,
        "principal": session.principal,
        "tokenDigest": session.token_digest,
        "presentedDigest": session.presented_digest,
        "proven": session.proven,
        "seenSeq": session.seen_seq,
        "syncedSeq": session.synced_seq,
        "watches": [],
        "known": None,
        "removed": [],
    }
    if not blank:
        state["watches"] = [msgspec.Raw(text.encode()) for text in texts.values()]
        state["known"] = [
            (branch, id, known.seq, known.deleted, known.proven)
            for (branch, id), known in watched.known.items()
        ]
        state["removed"] = [(branch, id, seq) for (branch, id), seq in watched.removed.items()]
    return _JSON.encode(state).decode()


_JSON = msgspec.json.Encoder()


def restored(space: SpaceId, id: SessionId, text: str, limits: GraphLimits) -> ServerSession | None:
    """The session that a text records; None if it is of an unknown format."""
    state: Any = codec.decode(text, True)
    if not isinstance(state, dict) or state.get("format") not in (1, FORMAT):
        return None
    watched = WatchSet(space, limits)
    for watch in state["watches"]:
        watched.watches[watch["id"]] = WatchSpec(
            id=watch["id"], kind=watch["kind"], query=watch["query"]
        )
    for branch, document, seq, deleted, proven in state["known"] or ():
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
        proven=state.get("proven", True),
        presented_digest=state.get("presentedDigest"),
        recalled=True,
        blank=state["known"] is None,
    )


def _token_member(digest: str | None) -> str | None:
    """How a state names its token; None matches no state."""
    return None if digest is None else f'{_TOKEN}"{digest}"'


class SessionFile:
    """Rows in an SQLite file of their own, beside the spaces."""

    def __init__(self, path: Path) -> None:
        from holdfast.store.sqlite import SqliteFile

        self._file = SqliteFile(path)
        self._file.rows(
            "CREATE TABLE IF NOT EXISTS session (space TEXT NOT NULL, id TEXT NOT NULL, "
            "until_ms INTEGER NOT NULL, state TEXT NOT NULL, PRIMARY KEY (space, id)) WITHOUT ROWID"
        )

    def claim(self, row: Row, replaces: str | None, now_ms: int) -> bool:
        sql = (
            f"INSERT INTO session ({_COLUMNS}) VALUES ($1, $2, $3, $4) ON CONFLICT (space, id) "
            "DO UPDATE SET until_ms = excluded.until_ms, state = excluded.state "
            "WHERE session.until_ms <= $5 OR instr(session.state, $6) > 0 RETURNING 1"
        )
        return bool(self._file.rows(sql, (*row, now_ms, _token_member(replaces))))

    def renew(self, rows: Iterable[Row]) -> None:
        self._file.many(
            f"INSERT INTO session ({_COLUMNS}) VALUES ($1, $2, $3, $4) ON CONFLICT (space, id) "
            "DO UPDATE SET until_ms = excluded.until_ms, state = excluded.state WHERE "
            "instr(session.state, substr(excluded.state, "
            f"instr(excluded.state, '{_TOKEN}'), {_TOKEN_LENGTH})) > 0",
            list(rows),
        )

    def get(self, space: str, id: str) -> Row | None:
        sql = f"SELECT {_COLUMNS} FROM session WHERE space = $1 AND id = $2"
        found: Any = self._file.rows(sql, (space, id))
        return found[0] if found else None

    def drop(self, keys: Iterable[tuple[str, str]]) -> None:
        self._file.many("DELETE FROM session WHERE space = $1 AND id = $2", list(keys))

    def sweep(self, now_ms: int) -> None:
        self._file.many("DELETE FROM session WHERE until_ms <= $1", [(now_ms,)])

    def announce(self, name: str) -> None:
        pass  # one server per file

    def secret(self, proposed: str) -> str:
        self._file.many(
            f"INSERT OR IGNORE INTO session ({_COLUMNS}) VALUES ($1, $2, $3, $4)",
            [(*_SECRET, _FOR_EVER, proposed)],
        )
        found = self.get(*_SECRET)
        assert found is not None
        return found[3]

    def close(self) -> None:
        self._file.close()


class SessionTable:
    """Rows in PostgreSQL, so that a client may resume at another server."""

    def __init__(self, url: str, node: str) -> None:
        self._lock = threading.Lock()
        self._url, self._node = url, node
        self._connection = self._connect()
        # Two servers may start at once; making the table twice is an error there.
        lock = "hashtextextended('holdfast/sessions', 0)"
        self._ask(f"SELECT pg_advisory_lock({lock})")
        self._ask(
            "CREATE TABLE IF NOT EXISTS public.holdfast_session ("
            'space text COLLATE "C" NOT NULL, id text COLLATE "C" NOT NULL, '
            "until_ms bigint NOT NULL, state text NOT NULL, PRIMARY KEY (space, id))"
        )
        self._ask(f"SELECT pg_advisory_unlock({lock})")

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
                raise StoreUnreachable(f"PostgreSQL stopped answering: {error}") from error

    def _ask(self, sql: str, parameters: tuple[Any, ...] | None = None) -> list[Any]:
        with self._cursor() as cursor:
            cursor.execute(sql, parameters)
            return cursor.fetchall() if cursor.description is not None else []

    def _many(self, sql: str, rows: list[Any]) -> None:
        with self._cursor() as cursor:
            cursor.executemany(sql, rows)

    def claim(self, row: Row, replaces: str | None, now_ms: int) -> bool:
        sql = (
            f"INSERT INTO public.holdfast_session AS kept ({_COLUMNS}) VALUES ($1, $2, $3, $4) "
            "ON CONFLICT (space, id) DO UPDATE SET until_ms = excluded.until_ms, "
            "state = excluded.state "
            "WHERE kept.until_ms <= $5 OR position($6::text IN kept.state) > 0 RETURNING 1"
        )
        return bool(self._ask(sql, (*row, now_ms, _token_member(replaces))))

    def renew(self, rows: Iterable[Row]) -> None:
        self._many(
            f"INSERT INTO public.holdfast_session AS kept ({_COLUMNS}) VALUES ($1, $2, $3, $4) "
            "ON CONFLICT (space, id) DO UPDATE SET until_ms = excluded.until_ms, "
            "state = excluded.state WHERE position(substr(excluded.state, "
            f"position('{_TOKEN}' IN excluded.state), {_TOKEN_LENGTH}) IN kept.state) > 0",
            list(rows),
        )

    def get(self, space: str, id: str) -> Row | None:
        sql = f"SELECT {_COLUMNS} FROM public.holdfast_session WHERE space = $1 AND id = $2"
        found = self._ask(sql, (space, id))
        return tuple(found[0]) if found else None

    def drop(self, keys: Iterable[tuple[str, str]]) -> None:
        self._many("DELETE FROM public.holdfast_session WHERE space = $1 AND id = $2", list(keys))

    def secret(self, proposed: str) -> str:
        self._ask(
            f"INSERT INTO public.holdfast_session ({_COLUMNS}) VALUES ($1, $2, $3, $4) "
            "ON CONFLICT (space, id) DO NOTHING",
            (*_SECRET, _FOR_EVER, proposed),
        )
        found = self.get(*_SECRET)
        assert found is not None
        return found[3]

    def announce(self, name: str) -> None:
        self._ask("SELECT pg_notify($1, $2)", (TAKEOVERS, f"{self._node}:{name}"))

    def sweep(self, now_ms: int) -> None:
        self._many("DELETE FROM public.holdfast_session WHERE until_ms <= $1", [(now_ms,)])

    def close(self) -> None:
        self._connection.close()
