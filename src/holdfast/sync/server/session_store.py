"""Stored sessions: watches, who may resume them, and what their clients have.

They outlive the server, and are kept beside the spaces: a session is not part of a space's history.
Tokens and watches are written before the client is answered; what was sent since may be stored a
moment later. A client that has more than is stored here starts with a fresh session of the same
name: it receives again what it has, and never misses a change.

FORMAT 1: one row per session; the state is JSON.
FORMAT 2: `presentedDigest` is the token of the last open, `proven` whether its answer arrived;
          `known` is null when the client has too many documents: only the owner is kept then.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Final

import msgspec

from holdfast.ids import BranchName, EntityId, Seq, SessionId, SpaceId
from holdfast.store import codec
from holdfast.store.graph import GraphLimits
from holdfast.sync.server.read_cache import KnownDocument
from holdfast.sync.server.session_registry import ServerSession, public_name
from holdfast.sync.server.session_rows import Row, SessionRows
from holdfast.sync.server.watch_set import WatchSet
from holdfast.sync.wire.messages import WatchSpec

FORMAT: Final = 2

KNOWN_MAX: Final = 5_000
"""A session whose client has more documents than this is sent all of them after a restart."""

KEPT_MS: Final = 24 * 60 * 60 * 1000
"""How long a session is kept that had an owner when the server ended."""

Taken = tuple[list[Row], list[tuple[str, str]]]
"""Rows to renew, and the keys of rows to drop."""


class SessionStore:
    """Stores sessions; `save` writes what has changed since the last time."""

    def __init__(
        self, rows: SessionRows, graph_limits: GraphLimits, clock_ms: Callable[[], int]
    ) -> None:
        self._rows, self._graph_limits, self._clock_ms = rows, graph_limits, clock_ms
        self._changed: dict[tuple[SpaceId, SessionId], tuple[ServerSession, int | None]] = {}
        self._ended: set[tuple[SpaceId, SessionId]] = set()
        self._kept_since: set[tuple[str, str]] = set()
        """Sessions written at once since the last `take`: the rows taken then are out of date."""
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

    def owns(self, session: ServerSession) -> bool:
        version = self._rows.version()
        if version is None or version != session.verified:
            if self._rows.has_other_token(session.space, session.id, session.token_digest):
                return False
            session.verified = version
        return True

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
        """The rows to write, as of now."""
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

    def write(self, changes: Taken) -> None:
        """Write what was taken; may be called from another thread."""
        with self._writing:
            rows, ended = changes
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
            # A schema may contain any value; the rest of the state is plain and needs no check.
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
            (branch, id, one.seq, one.deleted, one.proven)
            for (branch, id), one in watched.known.items()
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
        watched.known[key] = KnownDocument(Seq(seq), deleted, Seq(proven))
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
