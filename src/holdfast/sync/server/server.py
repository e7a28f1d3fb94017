"""The server without sockets, clocks, databases or threads of its own.

An adapter feeds it: `connect` for a new peer, `Connection.receive` for each frame, `refresh` when
the time it asked for has come. It reads what is to be sent from `Connection.take`, in order, and
closes when `Connection.closing` says so. The space registry, the time, ids, tokens, the authority
and the way to the disk are passed in.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from holdfast.errors import StoreError
from holdfast.ids import SpaceId
from holdfast.store import roots
from holdfast.store.errors import StoreBusy, StoreUnreachable
from holdfast.store.model import Applied, Guard
from holdfast.store.store import Store
from holdfast.sync.server import notify as telling
from holdfast.sync.server.access import Access, AccessMode
from holdfast.sync.server.connection import Connection
from holdfast.sync.server.limits import Limits
from holdfast.sync.server.pending_writes import Act, Commit, Told
from holdfast.sync.server.proof import Challenges, OpenProof
from holdfast.sync.server.sessions import Forgetful, Keeper, Registry, ServerSession
from holdfast.sync.server.space import Space
from holdfast.sync.wire.close_codes import NORMAL
from holdfast.sync.wire.messages import CAPABILITIES, Flags, SessionOpen

Authorize = Callable[[SpaceId, SessionOpen, OpenProof], str | None]
"""Who is asking; raises if they may not."""

REFRESH_AFTER_MS = 5
"""How long changes are gathered before they are sent."""

DRAIN_WAIT_MS = 500
"""How long changes wait at most for messages that are on their way."""

RETRY_MS = 1_000
"""When to try again to read from a database that is away."""


def commit_now(
    store: Store, session: str, commit: Mapping[str, Any], tell: Told, guard: Guard | None = None
) -> None:
    """Land a commit before returning."""
    try:
        answer: Applied | StoreError = store.transact(session, commit, guard)
    except StoreError as refusal:
        answer = refusal
    tell(answer)


def act_now(
    store: Store,
    act: Callable[[Store], dict[str, Any]],
    tell: Callable[[dict[str, Any] | StoreError], None],
) -> None:
    """Do it before returning."""
    try:
        answer: dict[str, Any] | StoreError = act(store)
    except StoreError as refusal:
        answer = refusal
    tell(answer)


def anyone(space: SpaceId, request: SessionOpen, proof: OpenProof) -> str | None:
    """No authority: every peer is trusted and nobody has a name."""
    return None


class Server:
    """Spaces, sessions and connections."""

    def __init__(
        self,
        open_space: Callable[[SpaceId], Store],
        *,
        open_existing: Callable[[SpaceId], Store] | None = None,
        clock_ms: Callable[[], int],
        new_id: Callable[[], str],
        new_token: Callable[[], str],
        authorize: Authorize = anyone,
        commit: Commit = commit_now,
        act: Act = act_now,
        flags: Flags | None = None,
        capabilities: frozenset[str] = CAPABILITIES - {"identity"},
        session_ttl_ms: int = 30_000,
        refresh_after_ms: int = REFRESH_AFTER_MS,
        remove_after_ms: int = 1_000,
        drain_wait_ms: int = DRAIN_WAIT_MS,
        limits: Limits | None = None,
        keeper: Keeper | None = None,
        access: AccessMode = AccessMode.OFF,
        challenges: Challenges | None = None,
    ) -> None:
        self._open_space = open_space
        self._open_existing = open_existing or open_space
        self.clock_ms = clock_ms
        self.authorize, self.commit, self.act = authorize, commit, act
        self.flags = flags or Flags()
        self.capabilities = capabilities
        self.refresh_after_ms = refresh_after_ms
        self.remove_after_ms = remove_after_ms
        self.limits = limits or Limits()
        self.challenges = challenges
        self.access_mode = access
        self._drain_wait_ms = drain_wait_ms
        self.registry = Registry(
            session_ttl_ms, new_id, new_token, keeper or Forgetful(), self.limits.graph
        )
        self.spaces: dict[SpaceId, Space] = {}
        self.access: dict[SpaceId, Access] = {}
        self.connections: dict[Connection, None] = {}
        self.busy: set[Connection] = set()
        """Those that have messages still to be answered."""
        self._serial = 0
        self._due_ms: int | None = None
        self._last_refresh_ms = 0
        self._orphaned: dict[ServerSession, None] = {}
        self.on_stale: Callable[[], None] = lambda: None
        """Called when something must be sent in `refresh_after_ms`; the adapter arms a timer."""

    # connections

    def connect(self, on_output: Callable[[], None] = lambda: None) -> Connection:
        """A new peer. `on_output` is called when there is something for it to read."""
        self._serial += 1
        connection = Connection(self, self._serial, on_output)
        self.connections[connection] = None
        return connection

    def space(self, name: SpaceId, make: bool = True) -> Space:
        """An open space; opened on first use. A failed open is not remembered.

        Unless it may be made, one that is not there is an `UnknownSpace`.
        """
        space = self.spaces.get(name)
        if space is None:
            roots.guard(name)
            space = Space(name, (self._open_space if make else self._open_existing)(name))
            self.spaces[name] = space
            access = self.access[name] = Access(space, self.access_mode)
            if self.access_mode is not AccessMode.OFF:
                space.on_commit = lambda branch, ids: self._landed(access, branch, ids)
        return space

    def _landed(self, access: Access, branch: str, ids: list[Any]) -> None:
        if access.concerns(branch, ids):
            access.reload()
            self._expel(access)

    def _expel(self, access: Access) -> None:
        """Sessions whose principal may no longer read lose them."""
        for connection in list(self.connections):
            for session in list(connection.sessions.values()):
                if session.space == access.space.name and not access.may_read(session.principal):
                    connection.lose(session, "access-revoked")
                    self.registry.end(session)

    def lost_elsewhere(self, name: str) -> None:
        """Another server has taken over the session of this public name."""
        self.registry.lose(name)

    # sending what changed

    def touched(self) -> None:
        """Something may have to be sent; remember when."""
        if self._due_ms is not None:
            return
        for space in self.spaces.values():
            if space.stale:
                self._due_ms = self.clock_ms() + self.refresh_after_ms
                self.on_stale()
                return

    def refresh(self) -> int | None:
        """Send what is due. In how many milliseconds to ask again; None: when `on_stale` says."""
        now = self.clock_ms()
        if self._due_ms is not None:
            if now < self._due_ms:
                return self._due_ms - now
            patience = max(self._drain_wait_ms, 2 * self._last_refresh_ms)
            waits_until = self._due_ms + patience
            if now < waits_until and self.busy:
                # More commits are on their way; one sync for all of them is cheaper.
                return min(waits_until - now, REFRESH_AFTER_MS)
            try:
                self.flush()
            except (StoreUnreachable, StoreBusy):
                self._due_ms = now + RETRY_MS
                return RETRY_MS
        return self._tend_orphans(now)

    def flush(self) -> None:
        """Send everything that changed, now."""
        started = self.clock_ms()
        self._due_ms = None
        for space in list(self.spaces.values()):
            self.flush_space(space)
        self._last_refresh_ms = self.clock_ms() - started

    def flush_space(self, space: Space) -> None:
        """Send everything that changed in one space, now."""
        while space.stale:
            stale, space.stale = list(space.stale), {}
            views = space.views()
            owed = deque(sorted(stale, key=_place))
            try:
                while owed:
                    owner = owed[0].owner
                    # One that is closing would throw it away, and it would count as sent.
                    if owner is not None and owner.closing is None:
                        telling.send_changes(owner, space, owed[0], views)
                    owed.popleft()
            except (StoreUnreachable, StoreBusy):
                # Nothing is forgotten: they are owed it still.
                space.stale = {**dict.fromkeys(owed), **space.stale}
                raise

    def orphaned(self, session: ServerSession) -> None:
        """The session's client may have documents that no watch reaches."""
        if not session.watched.has_orphans():
            session.orphaned_at = None
            self._orphaned.pop(session, None)
        elif session.orphaned_at is None:
            session.orphaned_at = self.clock_ms()
            self._orphaned[session] = None

    def _tend_orphans(self, now: int) -> int | None:
        """Remove what has been out of reach for long enough; when to look again."""
        for session in list(self._orphaned):
            if session.owner is None or session.orphaned_at is None:
                session.orphaned_at = None
                del self._orphaned[session]
                continue
            left = session.orphaned_at + self.remove_after_ms - now
            if left > 0:
                return left
            session.orphaned_at = None
            del self._orphaned[session]
            telling.send_removes(session.owner, self.space(session.space), session)
        return None

    def sweep(self) -> None:
        """Forget sessions and challenges whose time is over."""
        now = self.clock_ms()
        self.registry.sweep(now)
        if self.challenges is not None:
            self.challenges.sweep(now)

    def close(self) -> None:
        """End every connection, then every space."""
        for connection in list(self.connections):
            connection.close(NORMAL, "the server is stopping")
            connection.disconnected()
        for space in self.spaces.values():
            space.store.close()
        self.spaces.clear()


def _place(session: ServerSession) -> tuple[int, int]:
    return (0 if session.owner is None else session.owner.serial, session.serial)
