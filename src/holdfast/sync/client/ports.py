"""The interfaces of a client for its sessions, and of a session for its parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from holdfast.errors import SyncError
from holdfast.ids import SpaceId
from holdfast.store.author import Author
from holdfast.sync.client.outcome import Outcome
from holdfast.sync.client.replica import Replica
from holdfast.sync.wire.messages import Request, Response, SessionDescriptor, Sync, WatchSpec


class ClientPort(Protocol):
    """The client's connection, as its sessions use it."""

    connections: int
    """How many connections there have been; the number identifies the current one."""

    agreed: frozenset[str]
    """The capabilities that this client and the server of the current connection both have."""

    author: Author | None
    """Who writes; stated in every commit."""

    ask_again: bool
    """Whether a read whose answer was lost is sent again on the next connection."""

    @property
    def ready(self) -> bool: ...
    @property
    def sound(self) -> bool: ...
    @property
    def unified(self) -> bool: ...
    def ask(
        self,
        build: Callable[[str], Request],
        answered: Callable[[Response], None],
        lost: Callable[[SyncError], None],
    ) -> None: ...
    def sign(self, space: str, descriptor: SessionDescriptor) -> tuple[Any, Any]: ...
    def signed(self, space: str, session: str, commit: Mapping[str, Any]) -> Mapping[str, Any]: ...
    def restored(self) -> None: ...
    def wait_turn(self) -> None: ...
    def wait_to_resend(self, in_ms: int) -> None: ...
    def session_closed(self) -> None: ...


class SessionPort(Protocol):
    """A session, as its commits and its watches use it."""

    client: ClientPort
    space: SpaceId
    session_id: str | None
    replica: Replica

    @property
    def live(self) -> bool: ...
    def id(self) -> str: ...
    def watch_add(self, watches: Sequence[WatchSpec]) -> Outcome[Sync]: ...
    def reinstalled(self, sync: Sync) -> None: ...
    def fail(self, error: Exception, keep: bool = True) -> None: ...
