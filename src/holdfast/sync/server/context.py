"""What the requests of all connections share, and what a request needs of its own connection.

`ServerContext` has the spaces, the sessions and the notifier; `Server` adds the connections.
Handlers of requests (`handshake.py`, `commands.py`, `pending_writes.py`) know this module and not
the connection that calls them.
"""

from __future__ import annotations

from typing import Any, Protocol

from holdfast.errors import HoldfastError
from holdfast.ids import SessionId, SpaceId
from holdfast.store import roots
from holdfast.sync.server.access import Access, AccessMode
from holdfast.sync.server.limits import Usage
from holdfast.sync.server.notify import Notifier
from holdfast.sync.server.session_registry import Owner, ServerSession, SessionRegistry
from holdfast.sync.server.settings import ServerSettings
from holdfast.sync.server.space import Space
from holdfast.sync.wire.errors import SlowConsumer, TooManySpaces


class Peer(Owner, Protocol):
    """A connection, as the handlers of its requests see it."""

    server: ServerContext
    ready: bool
    challenge: str | None
    until_ms: int | None
    principal: str

    @property
    def unread(self) -> int: ...
    @property
    def busy(self) -> bool: ...
    def drop(self, slow: SlowConsumer) -> None: ...

    sessions: dict[tuple[SpaceId, SessionId], ServerSession]

    def session(self, space: str, id: str) -> ServerSession: ...
    def ok(self, request_id: str, payload: Any) -> None: ...
    def refuse(self, request_id: str, error: HoldfastError) -> None: ...
    def close(self, code: int, reason: str) -> None: ...
    def resume(self) -> None: ...


class ServerContext:
    """The spaces and sessions of a server."""

    def __init__(self, settings: ServerSettings) -> None:
        self.settings = settings
        self.clock_ms, self.limits = settings.clock_ms, settings.limits
        self.challenges = settings.challenges
        self.registry = SessionRegistry(
            settings.session_ttl_ms,
            settings.new_id,
            settings.new_token,
            settings.session_store,
            settings.limits.graph,
        )
        self.spaces: dict[SpaceId, Space] = {}
        self.access: dict[SpaceId, Access] = {}
        self.connections: dict[Peer, None] = {}
        self.usages: dict[str, Usage] = {}
        """The usage of each principal's connections."""
        self.notifier = Notifier(settings, self.registry, self.spaces)

    def space(self, name: SpaceId, create: bool = True) -> Space:
        """An open space; opened on first use. A failed open is not remembered.

        With `create` false, a space that does not exist is an `UnknownSpace`.
        """
        space = self.spaces.get(name)
        if space is None:
            roots.guard(name)
            settings = self.settings
            self._make_room()
            existing = settings.open_existing or settings.open_space
            space = Space(name, (settings.open_space if create else existing)(name))
            self.spaces[name] = space
            access = self.access[name] = Access(space, settings.access)
            if settings.access is not AccessMode.OFF:
                space.on_commit = lambda branch, ids: self._committed(access, branch, ids)
        space.used_ms = self.clock_ms()
        return space

    def slowest(self, principal: str) -> Peer:
        """The connection of a principal with the most unread output."""
        own = (peer for peer in self.connections if peer.principal == principal)
        return max((peer for peer in own if peer.closing is None), key=lambda peer: peer.unread)

    def _make_room(self) -> None:
        """If no more spaces may be open, close the one that was unused for longest."""
        most = self.limits.spaces_open_max
        if len(self.spaces) < most:
            return
        idle = self._idle_spaces()
        if not idle:
            raise TooManySpaces(most, "this server")
        self._close_space(min(idle, key=lambda space: space.used_ms))

    def close_idle_spaces(self, now_ms: int) -> None:
        """Close the spaces that no session used for a while."""
        patience = self.limits.space_idle_ms
        if patience is None:
            return
        for space in self._idle_spaces():
            if now_ms - space.used_ms >= patience:
                self._close_space(space)

    def _idle_spaces(self) -> list[Space]:
        if self.limits.space_idle_ms is None:
            return []
        used = self.registry.spaces()
        for name in used & self.spaces.keys():
            self.spaces[name].used_ms = self.clock_ms()
        return [s for s in self.spaces.values() if s.name not in used and not s.pins]

    def _close_space(self, space: Space) -> None:
        del self.spaces[space.name], self.access[space.name]
        self.settings.close(space.store)

    def _committed(self, access: Access, branch: str, ids: list[Any]) -> None:
        if access.concerns(branch, ids):
            access.reload()
            self._expel(access)

    def _expel(self, access: Access) -> None:
        """End the sessions whose principal may no longer read."""
        for connection in list(self.connections):
            for session in list(connection.sessions.values()):
                if session.space == access.space.name and not access.may_read(session.principal):
                    connection.lose(session, "access-revoked")
                    self.registry.end(session)
