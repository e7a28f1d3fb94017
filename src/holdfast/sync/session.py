"""One space as one client uses it: what it committed, what it watches, and how both survive.

    DETACHED ──connected──> OPENING ──ok──> RESTORING ──all answered──> LIVE
        ^                                                                 |
        └──────────────────────── connection lost ────────────────────────┘

Restoring sends every commit without a verdict again, in order, and takes in what was missed. What
was missed may already contain those commits, so their verdicts are awaited first: then each change
is shown once. Commits made meanwhile wait, and go last.

A server that forgot the session is told the watches again. So is a server that may or may not have
understood the last change to them: adding what it already has would be answered with nothing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from holdfast.errors import SyncError
from holdfast.ids import GENESIS, MAIN, BranchName, EntityId, LocalSeq, Seq, SpaceId
from holdfast.sync.asking import Asking
from holdfast.sync.client_errors import (
    CommitRefused,
    RequestRefused,
    SessionChanged,
    SessionClosed,
)
from holdfast.sync.errors import ProtocolError, SessionRevoked
from holdfast.sync.interests import Interest, Interests
from holdfast.sync.messages import (
    Ack,
    Remove,
    Request,
    Response,
    SessionDescriptor,
    SessionOpen,
    Sync,
    Transact,
    WatchAdd,
    WatchSet,
    WatchSpec,
)
from holdfast.sync.outbox import Outbox
from holdfast.sync.outcome import Outcome
from holdfast.sync.reads import Read, downgraded
from holdfast.sync.replica import SOUND, Kind, Manner, Replica
from holdfast.sync.view import WatchView

if TYPE_CHECKING:
    from holdfast.sync.client import Client

PLAIN = Manner(layered=False, covered=False)
"""For a server that knows neither layered reads nor coverage."""


class Stage(Enum):
    """Where a session is; see the picture above."""

    DETACHED = "detached"
    OPENING = "opening"
    RESTORING = "restoring"
    LIVE = "live"
    CLOSING = "closing"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class Landed:
    """A commit that is durable at `seq`, as the server told it."""

    seq: Seq
    branch: BranchName
    local_seq: LocalSeq


@dataclass(slots=True)
class Outstanding:
    """A commit without a verdict, and the connection it was last sent on (0: none yet)."""

    commit: Mapping[str, Any]
    outcome: Outcome[Landed]
    connection: int = 0
    sends: int = 0


@dataclass(frozen=True, slots=True)
class _Mutation:
    """A change to the watch set, waiting for its turn."""

    kind: Literal["add", "set"]
    watches: Sequence[WatchSpec]
    outcome: Outcome[Sync]


class _Opened(msgspec.Struct, rename="camel"):
    session_id: str
    server_seq: int = 0
    session_token: str | None = None
    resumed: bool = False
    sync: Sync | None = None


class _Watched(msgspec.Struct, rename="camel"):
    sync: Sync
    server_seq: int = 0


class _Accepted(msgspec.Struct, rename="camel"):
    seq: int
    branch: str = ""


@dataclass(slots=True)
class _Restore:
    """What a restoring session still waits for."""

    replays: set[LocalSeq] = field(default_factory=set)
    verdicts: dict[LocalSeq, Response] = field(default_factory=dict)
    frames: list[Sync] = field(default_factory=list)
    watches: bool = False
    caught_up: bool = False


class SpaceSession(Asking):
    """A session of one space. It outlives connections; `stage` says how it is doing."""

    def __init__(
        self,
        client: Client,
        space: SpaceId,
        session_id: str | None,
        outbox: Outbox,
        lazy: bool,
    ) -> None:
        remembered = outbox.session()
        self.client = client
        self.space = space
        self.outbox = outbox
        self.session_id = session_id if remembered is None else remembered.session_id
        self.token = None if remembered is None else remembered.token
        self.view = WatchView()
        self.replica = Replica(SOUND, outbox.next_local_seq(), self._applied)
        self.watches: dict[str, WatchSpec] = {}
        self.outstanding: dict[LocalSeq, Outstanding] = {}
        self.opening: Outcome[None] = Outcome()
        self.error: Exception | None = None
        self.stage = Stage.DETACHED
        self.sent: list[LocalSeq] = []
        """Every localSeq as it was sent, for whoever wants to count."""
        self._lazy = lazy
        # After a restart the server may go on serving watches that nobody here remembers.
        self._unsure_of_watches = remembered is not None
        self._mutations: deque[_Mutation] = deque()
        self._mutating: _Mutation | None = None
        self._waiting: list[Callable[[], None]] = []
        self._restore = _Restore()
        self._interests = Interests()
        self._asks: list[tuple[Interest, Outcome[None]]] = []
        self._acked = GENESIS
        for commit in outbox.commits():
            self.replica.restore(commit)
            self.outstanding[LocalSeq(commit["localSeq"])] = Outstanding(commit, Outcome())

    # committing

    def commit(
        self,
        operations: Sequence[Mapping[str, Any]],
        looks: Sequence[Read] = (),
        branch: str = MAIN,
        source: object = None,
        extra: Mapping[str, Any] | None = None,
    ) -> Outcome[Landed]:
        """Show a commit now, send it when possible; the outcome is the server's verdict."""
        if self.error is not None:
            return Outcome.failed(self.error)
        return self._submit(self.replica.commit(operations, looks, branch, source, extra))

    def transact(self, commit: Mapping[str, Any], source: object = None) -> Outcome[Landed]:
        """Like `commit`, with reads and localSeq as given; the same one again is the same."""
        known = self.outstanding.get(LocalSeq(commit["localSeq"]))
        if known is not None:
            return known.outcome
        if self.error is not None:
            return Outcome.failed(self.error)
        self.replica.restore(commit, source)
        return self._submit(commit)

    def _submit(self, commit: Mapping[str, Any]) -> Outcome[Landed]:
        self.outbox.add(commit)
        entry = Outstanding(commit, Outcome())
        self.outstanding[LocalSeq(commit["localSeq"])] = entry
        self._need()
        if self.stage is Stage.LIVE:
            self._send(entry)
        return entry.outcome

    def _send(self, entry: Outstanding) -> None:
        local_seq = LocalSeq(entry.commit["localSeq"])
        entry.connection = self.client.connections
        entry.sends += 1
        self.sent.append(local_seq)
        commit = entry.commit if self.client.sound else downgraded(entry.commit)

        def build(request: str) -> Request:
            assert self.session_id is not None
            return Transact(
                request_id=request,
                space=self.space,
                session_id=self.session_id,
                commit=dict(commit),
            )

        self.client.ask(build, lambda response: self._verdict(local_seq, response), _ignore)

    def _verdict(self, local_seq: LocalSeq, response: Response) -> None:
        if self.stage is Stage.RESTORING and not self._restore.caught_up:
            self._restore.verdicts[local_seq] = response
            self._catch_up_when_ready()
        else:
            self._settle(local_seq, response)

    def _settle(self, local_seq: LocalSeq, response: Response) -> None:
        entry = self.outstanding.get(local_seq)
        if entry is not None:
            if isinstance(response.error, UnsetType):
                accepted = self._accepted(response)
                if accepted is None:
                    return
                self.replica.accept(local_seq, accepted.seq)
                self._land(local_seq, accepted)
            else:
                self._refuse(local_seq, _commit_refused(response))
        self._leave_when_done()

    def _accepted(self, response: Response) -> _Accepted | None:
        try:
            return msgspec.convert(response.ok, _Accepted)
        except msgspec.ValidationError as error:
            self.fail(ProtocolError(f"the server accepted a commit without saying where: {error}"))
            return None

    def _land(self, local_seq: LocalSeq, accepted: _Accepted) -> None:
        entry = self.outstanding.pop(local_seq, None)
        if entry is not None:
            self.outbox.remove(local_seq)
            landed = Landed(Seq(accepted.seq), BranchName(accepted.branch), local_seq)
            entry.outcome.resolve(landed)

    def _refuse(self, local_seq: LocalSeq, error: Exception, keep: bool = False) -> None:
        """Take commits back: everything is reverted before anyone who waits is told."""
        told = []
        for refusal in self.replica.reject(local_seq, error):
            entry = self.outstanding.pop(refusal.local_seq, None)
            if entry is not None:
                if not keep:
                    self.outbox.remove(refusal.local_seq)
                told.append((entry, refusal.error))
        for entry, reason in told:
            entry.outcome.reject(reason)

    # watching

    def watch_add(self, watches: Sequence[WatchSpec]) -> Outcome[Sync]:
        """Watch more. An id that is known must mean the same as before."""
        return self._mutate("add", watches)

    def watch_set(self, watches: Sequence[WatchSpec]) -> Outcome[Sync]:
        """Watch this and nothing else."""
        return self._mutate("set", watches)

    def _mutate(self, kind: Literal["add", "set"], watches: Sequence[WatchSpec]) -> Outcome[Sync]:
        if self.error is not None:
            return Outcome.failed(self.error)
        mutation = _Mutation(kind, watches, Outcome())
        self._mutations.append(mutation)
        self._need()
        self._mutate_next()
        return mutation.outcome

    def _mutate_next(self) -> None:
        """One at a time, so that two of them cannot build competing views."""
        if self.stage is not Stage.LIVE or self._mutating is not None or not self._mutations:
            return
        mutation = self._mutating = self._mutations.popleft()
        kind = WatchAdd if mutation.kind == "add" else WatchSet

        def answered(response: Response) -> None:
            self._mutating = None
            if isinstance(response.error, UnsetType):
                try:
                    sync = msgspec.convert(response.ok, _Watched).sync
                except msgspec.ValidationError as error:
                    self.fail(ProtocolError(f"a watch was answered without a sync: {error}"))
                    return
                if mutation.kind == "set":
                    self.watches = {}
                    sync = self._replacing(sync)
                self.watches.update({watch.id: watch for watch in mutation.watches})
                self.replica.pull(sync)
                mutation.outcome.resolve(sync)
            else:
                mutation.outcome.reject(_request_refused(response))
            self._mutate_next()

        def lost(error: SyncError) -> None:
            self._mutating = None
            # It may be installed, and its documents on their way to nobody.
            self._unsure_of_watches = True
            mutation.outcome.reject(error)

        self._ask(
            lambda request: kind(
                request_id=request,
                space=self.space,
                session_id=self._id(),
                watches=list(mutation.watches),
            ),
            answered,
            lost,
        )

    def _replacing(self, sync: Sync) -> Sync:
        """The answer to `watch.set` has everything that is watched: what it lacks is gone."""
        named = {(upsert.branch, upsert.id) for upsert in sync.upserts}
        named |= {(remove.branch, remove.id) for remove in sync.removes}
        stale = [
            Remove(branch=entity.branch, id=entity.id)
            for entity in self.view.entities
            if (entity.branch, entity.id) not in named
        ]
        if not stale:
            return sync
        return msgspec.structs.replace(sync, removes=[*sync.removes, *stale])

    def sync(
        self, id: str, path: Sequence[str] = (), schema: Any = False, branch: str = MAIN
    ) -> Outcome[None]:
        """Keep a document, and what it leads to, up to date from now on.

        What one turn asks for is asked of the server together; what is covered already is not.
        """
        if self.error is not None:
            return Outcome.failed(self.error)
        outcome: Outcome[None] = Outcome()
        interest = Interest(BranchName(branch), EntityId(id), tuple(path), schema)
        self._interests.want(interest)
        self._asks.append((interest, outcome))
        self.client.wait_turn()
        return outcome

    def synced(self) -> Outcome[None]:
        """Known once everything asked for so far is answered, watches and commits alike."""
        all_known: Outcome[None] = Outcome()
        waiting: list[Outcome[Any]] = [entry.outcome for entry in self.outstanding.values()]
        waiting += [outcome for _, outcome in self._asks]
        waiting += [mutation.outcome for mutation in self._mutations]
        if self._mutating is not None:
            waiting.append(self._mutating.outcome)
        left = len(waiting)
        if not left:
            all_known.resolve(None)

        def one_less(_: Outcome[Any]) -> None:
            nonlocal left
            left -= 1
            if not left:
                all_known.resolve(None)

        for outcome in waiting:
            outcome.then(one_less)
        return all_known

    def _tell_interests(self) -> None:
        interests = self._interests.take()
        asks, self._asks = self._asks, []
        running = [m.outcome for m in (*self._mutations, self._mutating) if m is not None]
        if interests:
            added = self.watch_add([interest.to_watch() for interest in interests])
            added.then(lambda outcome: self._interests.forget(interests) if outcome.error else None)
            running.append(added)
        for _, ask in asks:
            # A covered ask may be covered by an earlier one that is still on its way.
            if running:
                running[-1].then(lambda outcome, ask=ask: _pass_on(outcome, ask))  # type: ignore[misc]
            else:
                ask.resolve(None)

    # asking

    def _take_local_seq(self) -> LocalSeq:
        local_seq = self.replica.take_local_seq()
        self.outbox.used(local_seq)
        return local_seq

    def _request(self, build: Callable[[str], Request]) -> Outcome[Any]:
        """Ask once the session is live; the outcome is the `ok` of the answer."""
        if self.error is not None:
            return Outcome.failed(self.error)
        outcome: Outcome[Any] = Outcome()

        def answered(response: Response) -> None:
            if isinstance(response.error, UnsetType):
                outcome.resolve(response.ok)
            else:
                outcome.reject(_request_refused(response))

        def ask() -> None:
            if self.error is not None:
                outcome.reject(self.error)
            else:
                self._ask(build, answered, outcome.reject)

        self._need()
        if self.stage is Stage.LIVE:
            ask()
        else:
            self._waiting.append(ask)
        return outcome

    def _ask(
        self,
        build: Callable[[str], Request],
        answered: Callable[[Response], None],
        lost: Callable[[SyncError], None],
    ) -> None:
        self.client.ask(build, answered, lost)

    def _id(self) -> str:
        assert self.session_id is not None, "the session is open"
        return self.session_id

    # what the connection says

    def is_(self, space: str, session_id: str) -> bool:
        return self.space == space and self.session_id == session_id and not self.over

    def connected(self) -> None:
        """A server is there. Open, unless nobody needs that yet."""
        if self.stage is Stage.DETACHED and not self._lazy:
            self._open()

    def _need(self) -> None:
        self._lazy = False
        if self.stage is Stage.DETACHED and self.client.ready:
            self._open()

    def _open(self) -> None:
        self.stage = Stage.OPENING
        self.replica.manner = SOUND if self.client.sound else PLAIN
        self._acked = self.replica.integrated
        descriptor = SessionDescriptor(
            session_id=UNSET if self.session_id is None else self.session_id,
            seen_seq=self.replica.integrated,
            session_token=UNSET if self.token is None else self.token,
        )
        invocation, authorization = self.client.sign(self.space, descriptor)

        def lost(error: SyncError) -> None:
            failed, self.opening = self.opening, Outcome()
            failed.reject(error)

        self._ask(
            lambda request: SessionOpen(
                request_id=request,
                space=self.space,
                session=descriptor,
                invocation=invocation,
                authorization=authorization,
            ),
            self._opened,
            lost,
        )

    def _opened(self, response: Response) -> None:
        if self.stage is not Stage.OPENING:
            self._leave_when_done()
            return
        if not isinstance(response.error, UnsetType):
            refused = _request_refused(response)
            if refused.name == "SessionRevokedError":
                self.fail(SessionRevoked(f"session revoked: {refused}"), keep=False)
            else:
                self.fail(refused)
            return
        try:
            opened = msgspec.convert(response.ok, _Opened)
        except msgspec.ValidationError as error:
            self.fail(ProtocolError(f"the server opened a session without saying which: {error}"))
            return
        before, self.session_id = self.session_id, opened.session_id
        self.token = opened.session_token
        self.outbox.opened(opened.session_id, opened.session_token)
        if before is not None and before != opened.session_id:
            self._changed(SessionChanged(before, opened.session_id))
        self._begin_restore(opened)

    def _changed(self, error: SessionChanged) -> None:
        """The commits belong to a session that is gone; in another they could land twice."""
        for local_seq in list(self.outstanding):
            self._refuse(local_seq, error)
        self.replica.orphan()

    def _begin_restore(self, opened: _Opened) -> None:
        self.stage = Stage.RESTORING
        restore = self._restore = _Restore()
        if opened.sync is not None:
            restore.frames.append(opened.sync)
        restore.replays = set(self.outstanding)
        for local_seq in sorted(restore.replays):
            self._send(self.outstanding[local_seq])
        if not opened.resumed and (self.watches or self.view.entities):
            # Until the server has said that it has them, also after the next lost connection.
            self._unsure_of_watches = True
        if self._unsure_of_watches:
            restore.watches = True
            self._reinstall_watches()
        self._catch_up_when_ready()

    def _reinstall_watches(self) -> None:
        watches = list(self.watches.values())

        def answered(response: Response) -> None:
            if not isinstance(response.error, UnsetType):
                # Going on would look like watching, and nothing would come.
                self.fail(_request_refused(response))
                return
            try:
                sync = msgspec.convert(response.ok, _Watched).sync
            except msgspec.ValidationError as error:
                self.fail(ProtocolError(f"a watch was answered without a sync: {error}"))
                return
            self._unsure_of_watches = False
            self._restore.watches = False
            self.replica.integrate(self._replacing(sync))
            self._live_when_ready()

        self._ask(
            lambda request: WatchSet(
                request_id=request, space=self.space, session_id=self._id(), watches=watches
            ),
            answered,
            _ignore,
        )

    def _catch_up_when_ready(self) -> None:
        restore = self._restore
        if restore.caught_up or len(restore.verdicts) < len(restore.replays):
            return
        self._catch_up()
        self._live_when_ready()

    def _catch_up(self) -> None:
        """Verdicts and what was missed, together, so that no change is shown twice."""
        restore = self._restore
        restore.caught_up = True
        accepted: dict[LocalSeq, _Accepted] = {}
        for local_seq, response in sorted(restore.verdicts.items()):
            if isinstance(response.error, UnsetType) and local_seq in self.outstanding:
                found = self._accepted(response)
                if found is None:
                    return
                accepted[local_seq] = found
                self.replica.accept(local_seq, found.seq)
        frames, restore.frames = restore.frames, []
        for frame in frames:
            self.replica.integrate(frame)
        for local_seq, response in sorted(restore.verdicts.items()):
            if local_seq in accepted:
                self._land(local_seq, accepted[local_seq])
            elif local_seq in self.outstanding:
                self._refuse(local_seq, _commit_refused(response))

    def _live_when_ready(self) -> None:
        if self.stage is not Stage.RESTORING:
            return
        if not self._restore.caught_up or self._restore.watches:
            return
        self.stage = Stage.LIVE
        for local_seq in sorted(self.outstanding):
            entry = self.outstanding.get(local_seq)
            if entry is not None and entry.connection != self.client.connections:
                self._send(entry)
        waiting, self._waiting = self._waiting, []
        for ask in waiting:
            ask()
        self._mutate_next()
        self.client.wait_turn()
        self.opening.resolve(None)

    def connection_lost(self) -> None:
        """The connection is gone; every request on it was told so before this."""
        if self.stage is Stage.RESTORING and not self._restore.caught_up:
            # What was answered was answered. What was missed is sent again, by a server that goes
            # by what we have seen; another one believes that we have it now.
            if self.client.sound:
                self._restore.frames.clear()
            self._catch_up()
        if self.stage is Stage.CLOSING:
            self.fail(SessionClosed())
        elif self.stage is not Stage.CLOSED:
            self.stage = Stage.DETACHED

    def effect(self, sync: Sync) -> None:
        """Something watched has changed."""
        if self.stage is Stage.LIVE or (self.stage is Stage.RESTORING and self._restore.caught_up):
            self.replica.integrate(sync)
        elif self.stage is Stage.RESTORING:
            self._restore.frames.append(sync)

    def revoked(self, reason: str) -> None:
        """Another connection has the session. Nothing is sent again."""
        self.fail(SessionRevoked(f"session revoked: {self.session_id} ({reason})"), keep=False)

    def turn(self) -> None:
        """Whatever was going on is over: say now what was saved up."""
        if self._asks or self._interests.waiting:
            self._tell_interests()
        seen = self.replica.integrated
        if self.stage is Stage.LIVE and seen > self._acked:
            self._acked = seen
            self._ask(
                lambda request: Ack(
                    request_id=request,
                    space=self.space,
                    session_id=self._id(),
                    seen_seq=seen,
                ),
                _ignore,
                _ignore,
            )

    def _applied(self, sync: Sync, kind: Kind) -> None:
        self.view.apply(sync)
        self.client.wait_turn()

    # the end

    @property
    def over(self) -> bool:
        return self.stage is Stage.CLOSED

    def close(self) -> None:
        """Send nothing more. Commits on their way may still be answered, the rest is given up.

        With an outbox, what is given up here is sent by the next client that opens it.
        """
        if self.error is not None:
            return
        self.error = SessionClosed()
        on_its_way = self.client.connections if self.client.ready else -1
        for local_seq in sorted(self.outstanding):
            entry = self.outstanding.get(local_seq)
            if entry is not None and entry.connection != on_its_way:
                self._refuse(local_seq, self.error, keep=True)
        if self.stage is Stage.RESTORING and not self._restore.caught_up:
            self._catch_up()
        self.stage = Stage.CLOSING
        self._give_up(self.error)
        self._leave_when_done()

    def fail(self, error: Exception, keep: bool = True) -> None:
        """End now. With `keep` the outbox still has what was not answered."""
        if self.stage is Stage.CLOSED:
            return
        self.error = self.error or error
        self.stage = Stage.CLOSED
        for local_seq in sorted(self.outstanding):
            if local_seq in self.outstanding:
                self._refuse(local_seq, self.error, keep)
        self._give_up(self.error)
        self.client.session_closed()

    def _give_up(self, error: Exception) -> None:
        mutations = [*([self._mutating] if self._mutating else []), *self._mutations]
        self._mutating = None
        self._mutations.clear()
        asks, self._asks = self._asks, []
        waiting, self._waiting = self._waiting, []
        for mutation in mutations:
            mutation.outcome.reject(error)
        for _, outcome in asks:
            outcome.reject(error)
        for ask in waiting:
            ask()
        self.opening.reject(error)
        self.view.close()

    def _leave_when_done(self) -> None:
        if self.stage is Stage.CLOSING and not self.outstanding:
            self.stage = Stage.CLOSED
            self.client.session_closed()


def _ignore(_: object) -> None:
    pass


def _pass_on(outcome: Outcome[Any], ask: Outcome[None]) -> None:
    if outcome.error is None:
        ask.resolve(None)
    else:
        ask.reject(outcome.error)


def _request_refused(response: Response) -> RequestRefused:
    return RequestRefused.from_wire(_error(response))


def _commit_refused(response: Response) -> CommitRefused:
    return CommitRefused.from_wire(_error(response))


def _error(response: Response) -> Any:
    return None if isinstance(response.error, UnsetType) else msgspec.to_builtins(response.error)
