"""One peer of the server: frames in, answers out, in order, and what it is owed in between.

Messages of one connection are answered in the order they came. Only commits overlap: several of
one connection may be on their way to the disk together, so that they share the trip; a message of
any other kind waits until they are answered.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import UNSET, UnsetType

from holdfast.errors import HoldfastError, StoreError
from holdfast.ids import BranchName, EntityId, Seq, SessionId, SpaceId
from holdfast.store import codec
from holdfast.store.errors import ConflictError, StoreBusy, StoreUnreachable
from holdfast.store.model import Applied
from holdfast.store.store import Store
from holdfast.sync import messages
from holdfast.sync.commands import Commands
from holdfast.sync.errors import (
    InvalidMessage,
    MessageTooLarge,
    ProtocolError,
    RateLimited,
    SessionError,
    SlowConsumer,
    TooManySessions,
    UnsupportedProtocol,
)
from holdfast.sync.limits import Bucket
from holdfast.sync.messages import (
    HANDSHAKE,
    INVALID,
    PROTOCOL,
    BranchCreate,
    BranchDelete,
    Effect,
    Hello,
    HelloOk,
    Message,
    Refused,
    Request,
    Response,
    Revoked,
    SessionOpen,
    Sync,
    Transact,
)
from holdfast.sync.proof import OpenProof
from holdfast.sync.sessions import ServerSession
from holdfast.sync.space import Space, ids_of, keys_of
from holdfast.sync.views import Views
from holdfast.sync.watch import Watched, is_empty

if TYPE_CHECKING:
    from holdfast.sync.server import Server

Lifecycle = BranchCreate | BranchDelete

Told = Callable[[Applied | StoreError], None]
Commit = Callable[[Store, str, Mapping[str, Any], Told], None]
"""Land a commit and tell its fate, now or later, but in the order of the calls for one store."""

Act = Callable[
    [Store, Callable[[Store], dict[str, Any]], Callable[[dict[str, Any] | StoreError], None]], None
]
"""Do something else that waits for the disk, and tell what came of it, now or later."""

NORMAL, UNSUPPORTED, POLICY, TOO_BIG, BROKEN, TRY_AGAIN = 1000, 1003, 1008, 1009, 1011, 1013
"""WebSocket close codes."""


class _Slot:
    """A write on its way to the disk, and its fate once it is told."""

    __slots__ = ("answer", "request", "space")

    def __init__(self, request: Transact | Lifecycle, space: Space | None) -> None:
        self.request, self.space = request, space
        self.answer: Applied | dict[str, Any] | HoldfastError | None = None


class Connection:
    """One peer. Feed it frames with `receive`; send what `take` returns, in order."""

    def __init__(self, server: Server, serial: int, on_output: Callable[[], None]) -> None:
        self.server, self.serial = server, serial
        self.ready = False
        self.capabilities: frozenset[str] = frozenset()
        self.sessions: dict[tuple[SpaceId, SessionId], ServerSession] = {}
        self.closing: tuple[int, str] | None = None
        self.challenge: str | None = None
        self._on_output = on_output
        self._outbox: list[str] = []
        self._outbox_bytes = 0
        self._queue: deque[str] = deque()
        self._head: Request | InvalidMessage | None = None
        self._landing: deque[_Slot] = deque()
        self._pumping = False
        self._gone = False
        limits = server.limits
        self._bucket = Bucket(limits.messages_per_second, limits.messages_burst, server.clock_ms())
        self._commands = Commands(self)

    # what an adapter needs

    @property
    def busy(self) -> bool:
        """Whether messages of this peer are still to be answered."""
        return bool(self._queue) or bool(self._landing)

    def receive(self, text: str) -> None:
        """A frame arrived."""
        if self._gone or self.closing is not None:
            return
        limits = self.server.limits
        most = limits.message_bytes_max if self.ready else limits.first_bytes_max
        if len(text) > most:
            if not self.ready:
                self.close(TOO_BIG, f"more than {most} bytes before hello")
                return
            self._refuse(INVALID, MessageTooLarge(len(text), most))
            return
        if len(self._queue) >= limits.queued_messages_max:
            self.close(POLICY, "too many messages are waiting")
            return
        self._queue.append(text)
        self._pump()

    def receive_binary(self) -> None:
        """A frame that is no text arrived."""
        self.close(UNSUPPORTED, "memory/v2 frames are text")

    def take(self) -> list[str]:
        """Everything that is to be sent now, in order."""
        frames, self._outbox = self._outbox, []
        return frames

    def sent(self, size: int) -> None:
        """So many characters of what was taken have left."""
        self._outbox_bytes -= size

    @property
    def unread(self) -> int:
        """How much was given to the adapter, or waits for it, and has not left yet."""
        return self._outbox_bytes

    def close(self, code: int, reason: str) -> None:
        """Ask the adapter to close; nothing is sent or received from here on."""
        if self.closing is None:
            self.closing = (code, reason)
            self._queue.clear()
            self._on_output()

    def disconnected(self) -> None:
        """The peer is gone. Its sessions wait for it."""
        if self._gone:
            return
        self._gone = True
        self._queue.clear()
        self._outbox.clear()
        self.server.connections.pop(self, None)
        now = self.server.clock_ms()
        for session in self.sessions.values():
            self._unwatch(session)
            self.server.registry.detach(session, now)
        self.sessions.clear()
        if self.challenge is not None and self.server.challenges is not None:
            self.server.challenges.drop(self.challenge)

    # one message after the other

    def _pump(self) -> None:
        if self._pumping:
            return
        self._pumping = True
        try:
            while self._queue and not self._gone:
                if not self._next():
                    break
        finally:
            self._pumping = False
        self.server.touched()

    def _next(self) -> bool:
        """Take the next message; False if it must wait for commits that are on their way."""
        if self._head is None:
            self._head = self._parsed(self._queue[0])
        request = self._head
        if self._landing and not self._may_overlap(request):
            return False
        self._queue.popleft()
        self._head = None
        if isinstance(request, InvalidMessage):
            self._refuse(INVALID, request)
            return True
        wait_ms = self._bucket.take(self.server.clock_ms())
        if wait_ms:
            self._refuse(getattr(request, "request_id", HANDSHAKE), RateLimited(wait_ms))
            return True
        self._dispatch(request)
        return True

    def _parsed(self, text: str) -> Request | InvalidMessage:
        try:
            return messages.parse_request(text, self._unified)
        except InvalidMessage as error:
            return error

    def _may_overlap(self, request: Request | InvalidMessage) -> bool:
        """Whether a message may start while those that are landing are not answered yet."""
        ahead = self._landing[0].request
        return (
            isinstance(request, Transact)
            and isinstance(ahead, Transact)
            and request.space == ahead.space
        )

    @property
    def _unified(self) -> bool:
        return self.server.flags.unified_json_encoding

    def _dispatch(self, request: Request) -> None:
        if isinstance(request, Transact) and self.ready:
            self._transact(request)
        elif isinstance(request, Hello):
            self._answer(HANDSHAKE, lambda: self._hello(request))
        elif not self.ready:
            self._refuse(HANDSHAKE, ProtocolError("memory/v2 hello is required first"))
        elif isinstance(request, SessionOpen):
            self._answer(request.request_id, lambda: self._open(request))
        elif isinstance(request, BranchCreate | BranchDelete):
            self._lifecycle(request)
        else:
            self._answer(
                request.request_id,
                lambda: self.ok(request.request_id, self._commands.run(request)),
            )

    def _answer(self, request_id: str, act: Callable[[], None]) -> None:
        try:
            act()
        except (StoreUnreachable, StoreBusy) as error:
            # Not an answer: whoever asked may ask again, here or at another server.
            self.close(TRY_AGAIN, str(error))
        except HoldfastError as error:
            self._refuse(request_id, error)

    # the handshake

    def _hello(self, hello: Hello) -> None:
        if self.ready:
            raise ProtocolError("hello may only be sent once")
        if hello.protocol != PROTOCOL:
            raise UnsupportedProtocol(hello.protocol)
        flags = messages.to_wire(self.server.flags)
        if any(hello.flags.get(name) is not value for name, value in flags.items()):
            theirs = {name: hello.flags.get(name) for name in flags}
            raise ProtocolError(
                f"memory/v2 flag mismatch: client={codec.encode(theirs, False)} "
                f"server={codec.encode(flags, False)}"
            )
        self.ready = True
        named = hello.capabilities
        if isinstance(named, list):
            self.capabilities = self.server.capabilities & set(named)
        terms: messages.OpenTerms | UnsetType = UNSET
        if self.server.challenges is not None and "identity" in self.capabilities:
            issued = self.server.challenges.issue(self.server.clock_ms())
            self.challenge = issued.challenge.value
            terms = issued
        self.send(
            HelloOk(
                protocol=PROTOCOL,
                flags=flags,
                capabilities=sorted(self.capabilities) if isinstance(named, list) else UNSET,
                session_open=terms,
            )
        )

    # sessions

    def session(self, space: str, id: str) -> ServerSession:
        """A session that is open on this connection, or `SessionError`."""
        found = self.sessions.get((SpaceId(space), SessionId(id)))
        if found is None:
            raise SessionError
        found.proven = True
        return found

    def _open(self, request: SessionOpen) -> None:
        server = self.server
        name = SpaceId(request.space)
        space = server.space(name)
        proof = OpenProof(server.challenges, self.challenge, server.clock_ms())
        principal = server.authorize(name, request, proof)
        space.advance()
        server.access[name].require_read(principal)
        wanted = request.session
        id = wanted.session_id if isinstance(wanted.session_id, str) else None
        token = wanted.session_token if isinstance(wanted.session_token, str) else None
        if "identity" in self.capabilities and server.challenges is not None:
            id = server.challenges.session_id(id, name, principal)
        key = (name, SessionId(id or ""))
        if len(self.sessions) >= server.limits.sessions_per_connection and key not in self.sessions:
            raise TooManySessions(server.limits.sessions_per_connection)
        opened = server.registry.open(name, id, token, principal, self, server.clock_ms())
        session, resumed, sync = opened.session, opened.resumed, None
        if opened.former_owner is not None:
            opened.former_owner.lose(session, "taken-over")
        self.sessions[session.key] = session
        seen = wanted.seen_seq if isinstance(wanted.seen_seq, int) else None
        if resumed:
            try:
                sync = self._catch_up(space, session, seen)
            except HoldfastError:
                # The watches cannot be evaluated any more. A session without them is a fresh one;
                # its client will install them again and be told what is wrong with which.
                session.watched = Watched(name, server.limits.graph)
                resumed = False
        ok: dict[str, Any] = {
            "sessionId": session.id,
            "sessionToken": opened.token,
            "serverSeq": space.seq,
        }
        if resumed:
            ok["resumed"] = True
        if sync is not None:
            ok["sync"] = messages.to_wire(sync)
        if seen is not None:
            session.acknowledged(Seq(seen))
        server.registry.keep(session, urgent=True)
        self.ok(request.request_id, ok)

    def _catch_up(self, space: Space, session: ServerSession, seen: int | None) -> Sync | None:
        """What a resumed session's client lacks; its watches are live again."""
        if session.watched.is_idle:
            return None
        self._unwatch(session)
        # The first version sends what changed since the server last sent something. What was lost
        # on the way is lost then; a peer that reports how far it got gets everything since.
        integrated = Seq(seen) if seen is not None and "coverage" in self.capabilities else None
        sync = session.watched.resume(space.views(), session.synced_seq, integrated)
        session.synced_seq = space.seq
        self.watch(space, session)
        return None if is_empty(sync) else sync

    def watch(self, space: Space, session: ServerSession) -> None:
        """Hear of writes to everything the session tracks."""
        for branch, ids in session.watched.tracked():
            space.track(session, branch, ids)

    def _unwatch(self, session: ServerSession) -> None:
        space = self.server.spaces[session.space]
        for branch, ids in session.watched.tracked():
            space.untrack(session, branch, ids)
        session.watched.graphs = {}
        session.stale.clear()
        space.stale.pop(session, None)

    def lose(self, session: ServerSession, reason: str) -> None:
        """The session is no longer this connection's."""
        if self.sessions.pop(session.key, None) is not None:
            self._unwatch(session)
            self.send(Revoked(space=session.space, session_id=session.id, reason=reason))

    # commits

    def _transact(self, request: Transact) -> None:
        space = self.server.spaces.get(SpaceId(request.space))
        slot = _Slot(request, space)
        self._landing.append(slot)
        try:
            session = self.session(request.space, request.session_id)
            assert space is not None, "an open session has an open space"
            self.server.access[space.name].require_commit(session.principal, request.commit)
            self._submit(slot, space, session, request.commit)
        except HoldfastError as refusal:
            self._told(slot, refusal)

    def _submit(
        self, slot: _Slot, space: Space, session: ServerSession, commit: dict[str, Any]
    ) -> None:
        def told(answer: Applied | StoreError) -> None:
            if isinstance(answer, Applied):
                space.committed(answer.seq, answer.branch, ids_of(commit))
            self._told(slot, answer)

        self.server.commit(space.store, session.id, commit, told)

    def _lifecycle(self, request: Lifecycle) -> None:
        space = self.server.spaces.get(SpaceId(request.space))
        slot = _Slot(request, space)
        self._landing.append(slot)

        def told(answer: dict[str, Any] | StoreError) -> None:
            assert space is not None
            if not isinstance(answer, StoreError):
                space.advance()
            self._told(slot, answer)

        try:
            act = self._commands.lifecycle(request)
            assert space is not None, "an open session has an open space"
            self.server.act(space.store, act, told)
        except HoldfastError as refusal:
            self._told(slot, refusal)

    def _told(self, slot: _Slot, answer: Applied | dict[str, Any] | HoldfastError) -> None:
        """The fate of a write is known; answer as many as can be answered in order."""
        slot.answer = answer
        landing = self._landing
        while landing and landing[0].answer is not None:
            self._answer_commit(landing.popleft())
        if self._queue:
            self._pump()
        else:
            self.server.touched()

    def _answer_commit(self, slot: _Slot) -> None:
        answer, request_id = slot.answer, slot.request.request_id
        if isinstance(answer, Applied):
            ok = answer.to_wire()
            self._send_frame(messages.landed_frame(request_id, ok, self._unified))
            return
        if isinstance(answer, dict):
            self.ok(request_id, answer)
            return
        assert isinstance(answer, HoldfastError)
        if isinstance(answer, StoreUnreachable) or type(answer) is StoreError:
            # Whether it landed is unknown: no answer is the honest one, the client will replay.
            self.close(BROKEN, "the database failed")
            return
        if isinstance(answer, ConflictError):
            assert slot.space is not None
            assert isinstance(slot.request, Transact)
            try:
                slot.space.advance()
                slot.space.mark(keys_of(slot.request.commit))
                self.server.flush_space(slot.space)
            except (StoreUnreachable, StoreBusy):
                # Fresh state comes before the refusal, or neither comes.
                self.close(TRY_AGAIN, "the database is away")
                return
        self._refuse(request_id, answer)

    # sending

    def send_changes(self, space: Space, session: ServerSession, views: Views) -> None:
        """Send what changed for a session since it was last told."""
        stale, session.stale = session.stale, {}
        if not stale:
            return
        since = session.synced_seq
        try:
            # Nothing moves in most rounds, and then nothing is worked out for this session alone.
            written = session.watched.rewritten(stale, views) if views.seq > since else None
            if written is None:
                self._send_refreshed(space, session, stale, views)
            elif written:
                session.synced_seq = views.seq
                self._send_frame(session.effect_head + views.tail(since, written, self._unified))
                self.server.registry.keep(session)
        except (StoreUnreachable, StoreBusy):
            session.stale = stale
            raise
        except HoldfastError as error:
            # The graph has outgrown its limits. Sending less would look like all of it.
            self.lose(session, f"watch-failed: {error}")
            self.server.registry.end(session)

    def _send_refreshed(
        self,
        space: Space,
        session: ServerSession,
        stale: dict[BranchName, set[EntityId]],
        views: Views,
    ) -> None:
        since = session.synced_seq
        sync, tracked = session.watched.refresh(stale, views, since)
        for branch, ids in tracked.items():
            space.track(session, branch, ids)
        if not is_empty(sync):
            session.synced_seq = Seq(sync.to_seq)
            texts = [views.text(upsert, self._unified) for upsert in sync.upserts]
            tail = messages.effect_tail(since, sync.to_seq, texts, sync.removes)
            self._send_frame(session.effect_head + tail)
            self.server.registry.keep(session)
        if "removes" in self.capabilities:
            self.server.orphaned(session)

    def send_removes(self, space: Space, session: ServerSession) -> None:
        """Tell a session's client what it need not keep any longer."""
        sync, untracked = session.watched.prune(session.synced_seq, session.synced_seq)
        for branch, ids in untracked.items():
            space.untrack(session, branch, ids)
        if not is_empty(sync):
            self.send(Effect(space=session.space, session_id=session.id, effect=sync))

    def ok(self, request_id: str, payload: Any) -> None:
        self.send(Response(request_id=request_id, ok=payload))

    def _refuse(self, request_id: str, error: HoldfastError) -> None:
        name = str(getattr(error, "name", "TransactionError"))
        refused = Refused(name=name, message=str(error))
        more: dict[str, Any] = {}
        if "conflicts" in self.capabilities:
            if error.hint:
                more["hint"] = error.hint
            if isinstance(error, ConflictError):
                more["conflicts"] = [conflict.to_wire() for conflict in error.conflicts]
                if error.retry_after_seq is not None:
                    more["retry_after_seq"] = error.retry_after_seq
        if isinstance(error, RateLimited):
            more["retry_after"] = error.retry_after_ms
        if more:
            refused = Refused(name=name, message=str(error), **more)
        self.send(Response(request_id=request_id, error=refused))

    def send(self, message: Message) -> None:
        """Put a message into the outbox; a peer that reads too slowly is dropped."""
        if not self._gone and self.closing is None:
            self._send_frame(messages.encode(message, self._unified))

    def _send_frame(self, frame: str) -> None:
        if self._gone or self.closing is not None:
            return
        self._outbox.append(frame)
        self._outbox_bytes += len(frame)
        most = self.server.limits.outbox_bytes_max
        if self._outbox_bytes > most:
            slow = SlowConsumer(self._outbox_bytes, most)
            self._outbox.clear()
            self.close(POLICY, f"{slow.name}: {slow}"[:120])
            return
        self._on_output()
