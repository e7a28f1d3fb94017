"""One space as one client uses it: what it committed, what it watches, and how both survive.

    DETACHED ──connected──> OPENING ──ok──> RESTORING ──all answered──> LIVE
        ^                                                                 |
        └──────────────────────── connection lost ────────────────────────┘

Restoring (`resume.py`) sends every commit without a verdict again, in order, and takes in what
was missed. Commits made meanwhile wait, and go last.

The watches are sent again to a server that forgot the session, and to one that may have missed the
last change to them: adding what it already has would return nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from holdfast.errors import SyncError
from holdfast.ids import GENESIS, MAIN, BranchName, EntityId, LocalSeq, SpaceId
from holdfast.sync.client.commits import Commits, Landed, Outstanding, commit_refused
from holdfast.sync.client.errors import (
    CapabilityMissing,
    SessionChanged,
    SessionClosed,
)
from holdfast.sync.client.interests import Interest
from holdfast.sync.client.outbox import Outbox
from holdfast.sync.client.outcome import Outcome, all_known
from holdfast.sync.client.outgoing_values import sendable
from holdfast.sync.client.ports import ClientPort
from holdfast.sync.client.reads import Read
from holdfast.sync.client.replica import SOUND, Kind, Manner, Replica
from holdfast.sync.client.resume import Restoring
from holdfast.sync.client.session_requests import SessionRequests
from holdfast.sync.client.watch_requests import WatchRequests, request_refused
from holdfast.sync.client.watch_view import WatchView
from holdfast.sync.wire.errors import ProtocolError, SessionRevoked
from holdfast.sync.wire.messages import (
    Ack,
    Request,
    Response,
    SessionDescriptor,
    SessionOpen,
    Sync,
    WatchSpec,
)

PLAIN = Manner(layered=False, covered=False)
"""For a server that supports neither layered reads nor coverage."""


class Stage(Enum):
    """Where a session is; see the picture above."""

    DETACHED = "detached"
    OPENING = "opening"
    RESTORING = "restoring"
    LIVE = "live"
    CLOSING = "closing"
    CLOSED = "closed"


class _Opened(msgspec.Struct, rename="camel"):
    session_id: str
    server_seq: int = 0
    session_token: str | None = None
    resumed: bool = False
    sync: Sync | None = None


class SpaceSession(SessionRequests):
    """A session of one space. It outlives connections; `stage` is its state."""

    def __init__(
        self,
        client: ClientPort,
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
        self.commits = Commits(self, self.replica, outbox)
        self.opening: Outcome[None] = Outcome()
        self.error: Exception | None = None
        self.stage = Stage.DETACHED
        self._lazy = lazy
        # After a restart the server may still serve watches that this process does not know.
        self._watching = WatchRequests(self, self.view, unsure=remembered is not None)
        self._waiting: list[Callable[[], None]] = []
        self._restoring: Restoring | None = None
        self._acked = GENESIS

    @property
    def outstanding(self) -> dict[LocalSeq, Outstanding]:
        """The commits without a verdict."""
        return self.commits.outstanding

    @property
    def sent(self) -> list[LocalSeq]:
        """Every localSeq in the order it was sent."""
        return self.commits.sent

    @property
    def watches(self) -> dict[str, WatchSpec]:
        """The watches that the server has accepted, by id."""
        return self._watching.watches

    @property
    def live(self) -> bool:
        return self.stage is Stage.LIVE

    # committing

    def commit(
        self,
        operations: Sequence[Mapping[str, Any]],
        reads: Sequence[Read] = (),
        branch: str = MAIN,
        source: object = None,
        extra: Mapping[str, Any] | None = None,
    ) -> Outcome[Landed]:
        """Show a commit now, send it when possible; the outcome is the server's verdict.

        Raises what can never be sent: `InvalidValue`, or `CommitRefused` if it is too large.
        """
        if self.error is not None:
            return Outcome.failed(self.error)
        if self.client.author:
            extra = {"author": self.client.author.to_wire(), **(extra or {})}
        drafted = self.replica.draft(operations, reads, branch, extra)
        return self._submit(drafted, source)

    def transact(self, commit: Mapping[str, Any], source: object = None) -> Outcome[Landed]:
        """Like `commit`, with its own reads and localSeq; a repeated one gets the same outcome."""
        pending = self.outstanding.get(LocalSeq(commit["localSeq"]))
        if pending is not None:
            return pending.outcome
        if self.error is not None:
            return Outcome.failed(self.error)
        return self._submit(dict(commit), source)

    def _submit(self, commit: dict[str, Any], source: object) -> Outcome[Landed]:
        commit = sendable(commit, self.client.unified)
        self.replica.restore(commit, source)
        entry = self.commits.add(commit)
        self._need()
        if self.live:
            self.commits.send(entry, self._verdict)
        return entry.outcome

    def _verdict(self, local_seq: LocalSeq, response: Response) -> None:
        again_ms = self.commits.again_in_ms(local_seq, response)
        if again_ms is not None:
            self._send_again(local_seq, again_ms)
        elif (restoring := self._catching_up) is not None:
            restoring.verdict(local_seq, response)
            self._catch_up_when_ready()
        else:
            self._settle(local_seq, response)

    def _send_again(self, local_seq: LocalSeq, in_ms: int) -> None:
        if self.stage is Stage.CLOSING:
            # With an outbox the next client sends it; this one has no time to wait.
            self.commits.refuse(local_seq, SessionClosed(), keep=True)
            self._leave_when_done()
        elif in_ms:
            self.client.wait_to_resend(in_ms)

    def resend(self) -> None:
        """Send the commits again that the server had no time for."""
        if self.stage in (Stage.LIVE, Stage.RESTORING):
            for entry in self.commits.due():
                self.commits.send(entry, self._verdict)

    def _settle(self, local_seq: LocalSeq, response: Response) -> None:
        if local_seq in self.outstanding:
            if isinstance(response.error, UnsetType):
                accepted = self.commits.accepted(response)
                if accepted is None:
                    return
                self.replica.accept(local_seq, accepted.seq)
                self.commits.land(local_seq, accepted)
            else:
                self.commits.refuse(local_seq, commit_refused(response))
        self._leave_when_done()

    # watching

    def watch_add(self, watches: Sequence[WatchSpec]) -> Outcome[Sync]:
        """Watch more. A known id must have the same definition as before."""
        return self._mutate("add", watches)

    def watch_set(self, watches: Sequence[WatchSpec]) -> Outcome[Sync]:
        """Watch this and nothing else."""
        return self._mutate("set", watches)

    def _mutate(self, kind: Literal["add", "set"], watches: Sequence[WatchSpec]) -> Outcome[Sync]:
        if self.error is not None:
            return Outcome.failed(self.error)
        outcome = self._watching.change(kind, watches)
        self._need()
        self._watching.next()
        return outcome

    def sync(
        self, id: str, path: Sequence[str] = (), schema: Any = False, branch: str = MAIN
    ) -> Outcome[None]:
        """Keep a document, and what it leads to, up to date from now on.

        The requests of one turn are sent together; what is already covered is not sent.
        """
        if self.error is not None:
            return Outcome.failed(self.error)
        interest = Interest(BranchName(branch), EntityId(id), tuple(path), schema)
        self.client.wait_turn()
        return self._watching.want(interest)

    def synced(self) -> Outcome[None]:
        """Settled once every watch and commit so far is answered."""
        waiting: list[Outcome[Any]] = [entry.outcome for entry in self.outstanding.values()]
        return all_known([*waiting, *self._watching.waiting()])

    # asking

    def _take_local_seq(self) -> LocalSeq:
        local_seq = self.replica.take_local_seq()
        self.outbox.used(local_seq)
        return local_seq

    def _request(
        self, build: Callable[[str], Request], needs: str | None = None, reads: bool = True
    ) -> Outcome[Any]:
        """Send a request once the session is live; the outcome is the `ok` of the answer.

        If the server lacks the capability that it `needs`, the request is refused here: the server
        would not know it, and may not answer at all.
        """
        if self.error is not None:
            return Outcome.failed(self.error)
        outcome: Outcome[Any] = Outcome()

        def answered(response: Response) -> None:
            if isinstance(response.error, UnsetType):
                outcome.resolve(response.ok)
            else:
                outcome.reject(request_refused(response))

        def ask() -> None:
            if self.error is not None:
                outcome.reject(self.error)
            elif needs is not None and needs not in self.client.agreed:
                outcome.reject(CapabilityMissing(needs))
            else:
                self.client.ask(build, answered, lost)

        def lost(error: SyncError) -> None:
            if reads and self.client.ask_again and self.error is None:
                self._waiting.append(ask)
            else:
                outcome.reject(error)

        self._need()
        if self.live:
            ask()
        else:
            self._waiting.append(ask)
        return outcome

    def id(self) -> str:
        """The server's id of this session."""
        assert self.session_id is not None, "the session is open"
        return self.session_id

    # what the connection says

    def is_(self, space: str, session_id: str) -> bool:
        return self.space == space and self.session_id == session_id and not self.over

    def connected(self) -> None:
        """Connected. Open the session, unless it is lazy and not needed yet."""
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

        self.client.ask(
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
            refused = request_refused(response)
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
        """Refuse the commits of a session that is gone; in another one they could land twice."""
        self.commits.refuse_all(error)
        self.replica.orphan()

    def _begin_restore(self, opened: _Opened) -> None:
        self.stage = Stage.RESTORING
        if not opened.resumed and (self.watches or self.view.entities):
            # Stays set until the server confirms the watches, even over another lost connection.
            self._watching.unsure = True
        reinstalls = self._watching.unsure
        self._restoring = Restoring(self.commits, self.replica, opened.sync, reinstalls)
        self.commits.due()  # everything is sent again now, so nothing waits to be
        for _, entry in sorted(self.outstanding.items()):
            self.commits.send(entry, self._verdict)
        if reinstalls:
            self._watching.reinstall()
        self._catch_up_when_ready()

    @property
    def _catching_up(self) -> Restoring | None:
        """The restore that still waits for verdicts, if there is one."""
        restoring = self._restoring if self.stage is Stage.RESTORING else None
        return None if restoring is None or restoring.caught_up else restoring

    def reinstalled(self, sync: Sync) -> None:
        """The server has the watches again; `sync` is everything that they reach."""
        if self._restoring is not None:
            self._restoring.watches = False
        self.replica.integrate(sync)
        self._live_when_ready()

    def _catch_up_when_ready(self) -> None:
        restoring = self._catching_up
        if restoring is not None and restoring.all_answered:
            restoring.catch_up()
            self._live_when_ready()

    def _live_when_ready(self) -> None:
        restoring = self._restoring
        if self.stage is not Stage.RESTORING or restoring is None or not restoring.done:
            return
        self.stage, self._restoring = Stage.LIVE, None
        self.client.restored()
        for entry in self.commits.unsent():
            self.commits.send(entry, self._verdict)
        waiting, self._waiting = self._waiting, []
        for ask in waiting:
            ask()
        self._watching.next()
        self.client.wait_turn()
        self.opening.resolve(None)

    def connection_lost(self) -> None:
        """The connection is gone; its requests have failed before this is called."""
        if (restoring := self._catching_up) is not None:
            # Verdicts that arrived are applied. What was missed is sent again by a server that goes
            # by seenSeq; any other assumes that we have it.
            if self.client.sound:
                restoring.missed_nothing()
            restoring.catch_up()
        if self.stage is Stage.CLOSING:
            self.fail(SessionClosed())
        elif self.stage is not Stage.CLOSED:
            self.stage = Stage.DETACHED

    def effect(self, sync: Sync) -> None:
        """Something watched has changed."""
        if self.stage is Stage.RESTORING and self._restoring is not None:
            self._restoring.effect(sync)
        elif self.live:
            self.replica.integrate(sync)

    def revoked(self, reason: str) -> None:
        """Another connection has the session. Nothing is sent again."""
        self.fail(SessionRevoked(f"session revoked: {self.session_id} ({reason})"), keep=False)

    def turn(self) -> None:
        """The current call is over: send the collected interests and the ack."""
        self._watching.send_interests()
        integrated = self.replica.integrated
        if self.live and integrated > self._acked:
            self._acked = integrated
            self.client.ask(
                lambda request: Ack(
                    request_id=request,
                    space=self.space,
                    session_id=self.id(),
                    seen_seq=integrated,
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
        """Send nothing more. Commits that were sent may still be answered, the rest is dropped.

        With an outbox, what is dropped here is sent by the next client that opens it.
        """
        if self.error is not None:
            return
        self.error = SessionClosed()
        on_its_way = self.client.connections if self.client.ready else -1
        for local_seq in sorted(self.outstanding):
            entry = self.outstanding.get(local_seq)
            if entry is not None and entry.connection != on_its_way:
                self.commits.refuse(local_seq, self.error, keep=True)
        if (restoring := self._catching_up) is not None:
            restoring.catch_up()
        self.stage = Stage.CLOSING
        self._give_up(self.error)
        self._leave_when_done()

    def fail(self, error: Exception, keep: bool = True) -> None:
        """End now. With `keep`, unanswered commits stay in the outbox."""
        if self.stage is Stage.CLOSED:
            return
        self.error = self.error or error
        self.stage = Stage.CLOSED
        self.commits.refuse_all(self.error, keep)
        self._give_up(self.error)
        self.client.session_closed()

    def _give_up(self, error: Exception) -> None:
        waiting, self._waiting = self._waiting, []
        self._watching.give_up(error)
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
