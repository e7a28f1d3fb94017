"""The sessions of a server: who owns one, how it is resumed, when it expires.

A session outlives its connections, the process and, on PostgreSQL, the server. It has one owner at
a time: a client that presents the current token takes it over, the token changes, and the
connection that had it is notified. Without an owner a session is kept for a while, then forgotten.

| exists? | presented | result |
|---|---|---|
| no | anything | a fresh session |
| yes, of another principal | anything | AuthorizationError |
| yes | no token, or an old one | SessionRevokedError |
| yes | the current token | the session, under a new token |
| yes, and the answer to its last open was lost | what that open presented | the session, again |

The same rules hold after a restart and at another server: the session store replaces a token only
if it is still the one this server read (`claim`), so two servers cannot both own a session. The
former owner is notified; and because a notification may be late or lost, the token is compared with
the stored one before commands are executed (`verify`). What the former owner sent earlier may still
land, as it would on one server.

An answer counts as lost when its connection ended before the client used the session; otherwise a
client whose connection broke at the wrong moment would be locked out of its own session. After a
restart the connection is unknown, so the token that was presented then is required. Peers of the
protocol's first version do not know this rule, and it does not apply to them.

Only a digest of the token is kept, so that stored data cannot be used to open a session.
"""

from __future__ import annotations

import hashlib
import hmac
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Protocol

from holdfast.ids import GENESIS, BranchName, EntityId, Seq, SessionId, SpaceId
from holdfast.store.graph import GraphLimits
from holdfast.sync.server.watch_set import WatchSet
from holdfast.sync.wire.errors import Forbidden, SessionRevoked
from holdfast.sync.wire.messages import Message, effect_head

RENEW_MS: Final = 12 * 60 * 60 * 1000
"""A session with an owner is written again when the store would keep it for less than this."""


class Owner(Protocol):
    """A connection, as its sessions and the notifier see it."""

    serial: int
    unified: bool
    capabilities: frozenset[str]
    closing: tuple[int, str] | None

    def send(self, message: Message) -> None: ...
    def send_frame(self, frame: str) -> None: ...
    def lose(self, session: ServerSession, reason: str) -> None:
        """The session no longer belongs to this connection."""

    def disconnected(self) -> None: ...


@dataclass(eq=False, slots=True)
class ServerSession:
    """One client's session of one space, without a socket, a clock or a database."""

    space: SpaceId
    id: SessionId
    principal: str | None
    token_digest: str
    watch_set: WatchSet
    serial: int
    seen_seq: Seq = GENESIS
    synced_seq: Seq = GENESIS
    stale: dict[BranchName, set[EntityId]] = field(default_factory=dict)
    owner: Owner | None = None
    detached_at: int | None = None
    proven: bool = False
    """Whether the client has used the session since its last open, so that it has the token."""
    presented_digest: str | None = None
    """The digest of the token of the last open; None if it had none."""
    recalled: bool = False
    """Whether it was read from the session store: another server may have an owner for it."""
    blank: bool = False
    """Whether it is unknown what its client has, so that the client must start from scratch. It
    stays set until the client uses the session, because the answer that says so may be lost."""
    verified: int | None = None
    """The version of the session store at which it was last found to be this server's."""
    kept_until_ms: int = 0
    """When the session store drops it unless it is written again."""
    orphaned_at: int | None = None
    """When its client first had documents that no watch reaches; None if it has none."""
    key: tuple[SpaceId, SessionId] = field(init=False)
    effect_head: str = field(init=False)
    """The beginning of every effect that is sent to it."""

    def __post_init__(self) -> None:
        self.key = (self.space, self.id)
        self.effect_head = effect_head(self.space, self.id)

    def acknowledged(self, seq: Seq) -> None:
        """The client has integrated everything up to `seq`."""
        self.seen_seq = Seq(max(self.seen_seq, seq))
        self.watch_set.integrated(self.seen_seq)


class SessionPersistence(Protocol):
    """Where sessions are stored beyond this process."""

    def keep(self, session: ServerSession, until_ms: int | None, urgent: bool = False) -> None:
        """Store the session until then; with None, for as long as it has an owner.

        `urgent` writes at once: the answer to the client depends on it after a crash.
        """

    def claim(self, session: ServerSession, replaces: str | None) -> bool:
        """Write the session under its new token, if the stored one is still `replaces`.

        With None there must be no stored session. False if another server was faster.
        """

    def owns(self, session: ServerSession) -> bool:
        """Whether no other server took the session over. Called before every group of commands."""

    def recall(self, space: SpaceId, id: SessionId, now_ms: int) -> ServerSession | None: ...
    def forget(self, space: SpaceId, id: SessionId) -> None: ...
    def let_go(self, space: SpaceId, id: SessionId) -> None:
        """Another process stores the session now: do not write it again."""

    def taken_over(self, space: SpaceId, id: SessionId) -> None:
        """Announce that this process now has a session that another one may still have."""


class NullSessionStore:
    """Stores nothing: sessions end with the process."""

    def keep(self, session: ServerSession, until_ms: int | None, urgent: bool = False) -> None:
        pass

    def claim(self, session: ServerSession, replaces: str | None) -> bool:
        return True

    def owns(self, session: ServerSession) -> bool:
        return True

    def recall(self, space: SpaceId, id: SessionId, now_ms: int) -> ServerSession | None:
        return None

    def forget(self, space: SpaceId, id: SessionId) -> None:
        pass

    def let_go(self, space: SpaceId, id: SessionId) -> None:
        pass

    def taken_over(self, space: SpaceId, id: SessionId) -> None:
        pass


@dataclass(frozen=True, slots=True)
class Opened:
    """A session that was opened: its new token, whether it was resumed, and its former owner."""

    session: ServerSession
    token: str
    resumed: bool
    former_owner: Owner | None


class SessionRegistry:
    """Every session that this server knows."""

    def __init__(
        self,
        ttl_ms: int,
        new_id: Callable[[], str],
        new_token: Callable[[], str],
        session_store: SessionPersistence,
        graph_limits: GraphLimits,
    ) -> None:
        self._ttl_ms = ttl_ms
        self._new_id, self._new_token = new_id, new_token
        self._store = session_store
        self._graph_limits = graph_limits
        self._sessions: dict[tuple[SpaceId, SessionId], ServerSession] = {}
        self._detached: dict[ServerSession, None] = {}
        self._opened = 0
        self._counts: Counter[str | None] = Counter()

    def count(self, principal: str | None) -> int:
        """How many sessions of a principal this server has, with or without a connection."""
        return self._counts[principal]

    def has(self, space: SpaceId, id: str | None) -> bool:
        """Whether this server has a session of that name, so that opening it adds none."""
        return id is not None and (space, SessionId(id)) in self._sessions

    def spaces(self, *principals: str | None) -> set[SpaceId]:
        """The spaces in which these principals have sessions; without any, all that have one."""
        sessions = self._sessions.values()
        return {s.space for s in sessions if not principals or s.principal in principals}

    def __len__(self) -> int:
        return len(self._sessions)

    def find(self, space: SpaceId, id: SessionId, now_ms: int) -> ServerSession | None:
        """A session that is alive, here or in the store."""
        session = self._sessions.get((space, id))
        if session is not None and self._expired(session, now_ms):
            self._drop(session)
            session = None
        return session or self._store.recall(space, id, now_ms)

    def _add(self, session: ServerSession) -> ServerSession:
        self._opened += 1
        session.serial = self._opened
        self._drop(session)
        self._sessions[session.key] = session
        self._counts[session.principal] += 1
        return session

    def open(
        self,
        space: SpaceId,
        id: str | None,
        token: str | None,
        principal: str | None,
        connection: Owner,
        now_ms: int,
        seen_seq: Seq | None = None,
    ) -> Opened:
        """Open or resume a session for a connection, or raise why it is refused.

        `seen_seq` is how far the client has integrated what it was sent.
        """
        session = None if id is None else self.find(space, SessionId(id), now_ms)
        forgiving = "coverage" in connection.capabilities
        if session is not None and not _admits(session, principal, token, forgiving):
            # Another server may have had it meanwhile and changed the token.
            stored = self._store.recall(space, session.id, now_ms)
            if stored is not None and stored.token_digest != session.token_digest:
                self._lose(session)
                session = stored
        fresh_token = self._new_token()
        if session is None:
            id = self._new_id() if id is None else id
            watched = WatchSet(space, self._graph_limits)
            fresh = ServerSession(space, SessionId(id), principal, digest(fresh_token), watched, 0)
            if not self._store.claim(fresh, None):
                raise _revoked(fresh)
            fresh.owner = connection
            return Opened(self._add(fresh), fresh_token, False, None)
        if session.principal != principal:
            raise Forbidden(
                f"session {session.id} is already bound to {session.principal}",
                hint="open a session of your own",
            )
        if not _admits(session, principal, token, forgiving):
            raise _revoked(session)
        if session.recalled and seen_seq is not None and seen_seq > session.synced_seq:
            # Its server ended before it stored what it had sent. The client may have documents that
            # are not known here and would never be updated or removed, so it starts from scratch.
            session.watch_set, session.blank = WatchSet(space, self._graph_limits), True
        self._claim(session, fresh_token, token)
        former = session.owner if session.owner is not connection else None
        resumed = not session.blank
        session.owner, session.detached_at = connection, None
        self._detached.pop(session, None)
        return Opened(session, fresh_token, resumed, former)

    def _claim(self, session: ServerSession, token: str, presented: str | None) -> None:
        """Give a session a new token, here and in the store, unless another server did."""
        replaces, session.token_digest = session.token_digest, digest(token)
        session.presented_digest = None if presented is None else digest(presented)
        session.proven = False
        if not self._store.claim(session, replaces):
            self._lose(session)
            raise _revoked(session)
        if session.recalled:
            session.recalled = False
            self._add(session)
            self._store.taken_over(*session.key)

    def detach(self, session: ServerSession, now_ms: int) -> None:
        """The session's connection is gone; the session waits for its client."""
        session.owner, session.detached_at = None, now_ms
        self._detached[session] = None
        self._store.keep(session, now_ms + self._ttl_ms)

    def keep(self, session: ServerSession, urgent: bool = False) -> None:
        """Store the session as it is now, in case this process ends."""
        self._store.keep(session, None, urgent)

    def end(self, session: ServerSession) -> None:
        """Delete a session permanently."""
        self._drop(session)
        self._store.forget(*session.key)

    def lose(self, name: str) -> None:
        """Another server has the session with this public name: drop it here, but keep its row."""
        for session in list(self._sessions.values()):
            if public_name(*session.key) == name:
                self._lose(session)
                return

    def verify(self, session: ServerSession) -> bool:
        """Whether the session is still this server's. If not, its connection loses it now."""
        if self._store.owns(session):
            return True
        self._lose(session)
        return False

    def check(self, now_ms: int) -> None:
        """Drop the sessions that another server took over without our being notified."""
        for session in list(self._sessions.values()):
            if session.owner is not None:
                stored = self._store.recall(*session.key, now_ms)
                if stored is not None and stored.token_digest != session.token_digest:
                    self._lose(session)

    def _lose(self, session: ServerSession) -> None:
        self._drop(session)
        self._store.let_go(*session.key)
        if session.owner is not None:
            session.owner.lose(session, "taken-over")

    def sweep(self, now_ms: int) -> int:
        """Delete sessions that waited too long; returns how many. Owned ones stay stored."""
        for session in self._sessions.values():
            if session.owner is not None and session.kept_until_ms - now_ms < RENEW_MS:
                self.keep(session)
        expired = []
        for session in self._detached:
            if not self._expired(session, now_ms):
                break  # they are in the order in which they were detached
            expired.append(session)
        for session in expired:
            self._drop(session)
        return len(expired)

    def _expired(self, session: ServerSession, now_ms: int) -> bool:
        return session.detached_at is not None and now_ms - session.detached_at >= self._ttl_ms

    def _drop(self, session: ServerSession) -> None:
        former = self._sessions.pop(session.key, None)
        if former is not None:
            self._counts[former.principal] -= 1
            if not self._counts[former.principal]:
                del self._counts[former.principal]
        self._detached.pop(session, None)


def _admits(
    session: ServerSession, principal: str | None, token: str | None, forgiving: bool
) -> bool:
    """Whether this principal may resume the session with what it presents."""
    if session.principal != principal:
        return False
    presented = None if token is None else digest(token)
    if presented is not None and hmac.compare_digest(session.token_digest, presented):
        return True
    # This may be the client that never received the token of its last open. Of a stored session
    # it is not known whether it has an owner, so there a missing token proves nothing.
    return (
        forgiving
        and session.owner is None
        and not session.proven
        and presented == session.presented_digest
        and not (session.recalled and presented is None)
    )


def _revoked(session: ServerSession) -> SessionRevoked:
    return SessionRevoked(
        f"session {session.id} resume token is no longer valid",
        hint="another connection took the session over; open a new one",
    )


def public_name(space: str, id: str) -> str:
    """The name of a session in announcements; it does not reveal the id."""
    return digest(f"{space}\0{id}")


def digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
