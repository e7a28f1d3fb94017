"""Changes to the watches of a session, sent one at a time.

Two changes at once could build competing views, so each waits for the answer to the one before. A
change whose answer was lost may or may not have been made; then all watches are sent again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import msgspec
from msgspec import UnsetType

from holdfast.errors import SyncError
from holdfast.sync.client.errors import RequestRefused
from holdfast.sync.client.interests import Interest, Interests
from holdfast.sync.client.outcome import Outcome
from holdfast.sync.client.ports import SessionPort
from holdfast.sync.client.watch_view import WatchView
from holdfast.sync.wire.errors import ProtocolError
from holdfast.sync.wire.messages import Remove, Response, Sync, WatchAdd, WatchSet, WatchSpec


@dataclass(frozen=True, slots=True)
class Mutation:
    """A change to the watch set, waiting for its turn."""

    kind: Literal["add", "set"]
    watches: Sequence[WatchSpec]
    outcome: Outcome[Sync]


class _Watched(msgspec.Struct, rename="camel"):
    sync: Sync
    server_seq: int = 0


class WatchRequests:
    """The watches of one session."""

    def __init__(self, session: SessionPort, view: WatchView, unsure: bool) -> None:
        self._session, self._view = session, view
        self.watches: dict[str, WatchSpec] = {}
        self.unsure = unsure
        """Whether the server's watches may differ from this client's."""
        self._mutations: deque[Mutation] = deque()
        self._mutating: Mutation | None = None
        self._interests = Interests()
        self._asks: list[tuple[Interest, Outcome[None]]] = []

    # changes

    def change(self, kind: Literal["add", "set"], watches: Sequence[WatchSpec]) -> Outcome[Sync]:
        """Add watches, or replace them all, once it is their turn."""
        mutation = Mutation(kind, watches, Outcome())
        self._mutations.append(mutation)
        return mutation.outcome

    def next(self) -> None:
        """Send the next change, if there is one and none is being answered."""
        if not self._session.live or self._mutating is not None or not self._mutations:
            return
        mutation = self._mutating = self._mutations.popleft()
        kind = WatchAdd if mutation.kind == "add" else WatchSet

        def answered(response: Response) -> None:
            self._mutating = None
            if isinstance(response.error, UnsetType):
                sync = self._synced(response)
                if sync is None:
                    return
                if mutation.kind == "set":
                    self.watches = {}
                    sync = self._replacing(sync)
                self.watches.update({watch.id: watch for watch in mutation.watches})
                self._session.replica.pull(sync)
                mutation.outcome.resolve(sync)
            else:
                mutation.outcome.reject(request_refused(response))
            self.next()

        def lost(error: SyncError) -> None:
            self._mutating = None
            # The server may have made the change, but the documents it sent are lost.
            self.unsure = True
            if self._session.client.ask_again:
                self._mutations.appendleft(mutation)
            else:
                mutation.outcome.reject(error)

        self._session.client.ask(
            lambda request: kind(
                request_id=request,
                space=self._session.space,
                session_id=self._session.id(),
                watches=list(mutation.watches),
            ),
            answered,
            lost,
        )

    def reinstall(self) -> None:
        """Send all watches to the server; its answer is the complete state of what they reach."""
        watches = list(self.watches.values())

        def answered(response: Response) -> None:
            if not isinstance(response.error, UnsetType):
                # Otherwise the client would seem to watch, but receive nothing.
                self._session.fail(request_refused(response))
                return
            sync = self._synced(response)
            if sync is not None:
                self.unsure = False
                self._session.reinstalled(self._replacing(sync))

        self._session.client.ask(
            lambda request: WatchSet(
                request_id=request,
                space=self._session.space,
                session_id=self._session.id(),
                watches=watches,
            ),
            answered,
            lambda _: None,
        )

    def _synced(self, response: Response) -> Sync | None:
        try:
            return msgspec.convert(response.ok, _Watched).sync
        except msgspec.ValidationError as error:
            self._session.fail(ProtocolError(f"a watch was answered without a sync: {error}"))
            return None

    def _replacing(self, sync: Sync) -> Sync:
        """The sync with removes for all documents that the answer to `watch.set` no longer has."""
        keys = {(upsert.branch, upsert.id) for upsert in sync.upserts}
        keys |= {(remove.branch, remove.id) for remove in sync.removes}
        stale = [
            Remove(branch=entity.branch, id=entity.id)
            for entity in self._view.entities
            if (entity.branch, entity.id) not in keys
        ]
        if not stale:
            return sync
        return msgspec.structs.replace(sync, removes=[*sync.removes, *stale])

    # interests

    def want(self, interest: Interest) -> Outcome[None]:
        """Add an interest; it is sent with the others of this turn."""
        outcome: Outcome[None] = Outcome()
        self._interests.want(interest)
        self._asks.append((interest, outcome))
        return outcome

    def send_interests(self) -> None:
        """Send the interests of this turn as one change."""
        if not self._asks and not self._interests.waiting:
            return
        interests = self._interests.take()
        asks, self._asks = self._asks, []
        running = [m.outcome for m in (*self._mutations, self._mutating) if m is not None]
        if interests:
            added = self._session.watch_add([interest.to_watch() for interest in interests])
            added.then(lambda outcome: self._interests.forget(interests) if outcome.error else None)
            running.append(added)
        for _, ask in asks:
            # A covered request may be covered by an earlier one that is not answered yet.
            if running:
                running[-1].then(lambda outcome, ask=ask: _pass_on(outcome, ask))  # type: ignore[misc]
            else:
                ask.resolve(None)

    def waiting(self) -> list[Outcome[Any]]:
        """The outcomes about watches that are not settled yet."""
        waiting: list[Outcome[Any]] = [outcome for _, outcome in self._asks]
        waiting += [mutation.outcome for mutation in self._mutations]
        if self._mutating is not None:
            waiting.append(self._mutating.outcome)
        return waiting

    def give_up(self, error: Exception) -> None:
        """Fail everything that is not settled yet."""
        mutations = [*([self._mutating] if self._mutating else []), *self._mutations]
        self._mutating = None
        self._mutations.clear()
        asks, self._asks = self._asks, []
        for mutation in mutations:
            mutation.outcome.reject(error)
        for _, outcome in asks:
            outcome.reject(error)


def _pass_on(outcome: Outcome[Any], ask: Outcome[None]) -> None:
    if outcome.error is None:
        ask.resolve(None)
    else:
        ask.reject(outcome.error)


def request_refused(response: Response) -> RequestRefused:
    """The refusal of a request, as an error to raise."""
    error = response.error
    wire = None if isinstance(error, UnsetType) else msgspec.to_builtins(error)
    return RequestRefused.from_wire(wire)
