"""The server without sockets, clocks, databases or threads of its own.

An adapter feeds it: `connect` for a new peer, `Connection.receive` for each frame, `refresh` when
the time it asked for has come. It reads what is to be sent from `Connection.take`, in order, and
closes when `Connection.closing` says so. The space registry, the time, ids, tokens, the authority
and the way to the disk are passed in.

Messages of one connection are answered in the order they came. Only commits overlap: several of
one connection may be on their way to the disk together, so that they share the trip; a message of
any other kind waits until they are answered.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import UNSET, UnsetType

from holdfast.errors import HoldfastError, StoreError
from holdfast.ids import Seq, SessionId, SpaceId
from holdfast.store.errors import ConflictError, StoreUnreachable
from holdfast.store.model import Applied
from holdfast.store.store import Store
from holdfast.sync import messages
from holdfast.sync.access import Access, AccessMode
from holdfast.sync.commands import Commands
from holdfast.sync.errors import (
    InvalidMessage,
    LimitReached,
    MessageTooLarge,
    ProtocolError,
    RateLimited,
    SessionError,
    SlowConsumer,
    TooManySessions,
    UnsupportedProtocol,
)
from holdfast.sync.limits import Bucket, Limits
from holdfast.sync.messages import (
    CAPABILITIES,
    HANDSHAKE,
    INVALID,
    PROTOCOL,
    Effect,
    Flags,
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
from holdfast.sync.proof import Challenges, OpenProof
from holdfast.sync.sessions import Forgetful, Keeper, Registry, ServerSession
from holdfast.sync.space import Space, ids_of, keys_of
from holdfast.sync.watch import Watched, is_empty

Told = Callable[[Applied | StoreError], None]
Commit = Callable[[Store, str, Mapping[str, Any], Told], None]
"""Land a commit and tell its fate, now or later, but in the order of the calls for one store."""

Authorize = Callable[[SpaceId, SessionOpen, OpenProof], str | None]
"""Who is asking; raises if they may not."""

REFRESH_AFTER_MS = 5
DRAIN_WAIT_MS = 500

NORMAL, UNSUPPORTED, POLICY, TOO_BIG, BROKEN, TRY_AGAIN = 1000, 1003, 1008, 1009, 1011, 1013
"""WebSocket close codes."""


def commit_now(store: Store, session: str, commit: Mapping[str, Any], tell: Told) -> None:
    """Land a commit before returning."""
    try:
        answer: Applied | StoreError = store.transact(session, commit)
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
        clock_ms: Callable[[], int],
        new_id: Callable[[], str],
        new_token: Callable[[], str],
        authorize: Authorize = anyone,
        commit: Commit = commit_now,
        flags: Flags | None = None,
        capabilities: frozenset[str] = CAPABILITIES - {"identity"},
        session_ttl_ms: int = 30_000,
        remove_after_ms: int = 1_000,
        drain_wait_ms: int = DRAIN_WAIT_MS,
        limits: Limits | None = None,
        keeper: Keeper | None = None,
        access: AccessMode = AccessMode.OFF,
        challenges: Challenges | None = None,
    ) -> None:
        self._open_space = open_space
        self.clock_ms = clock_ms
        self.authorize, self.commit = authorize, commit
        self.flags = flags or Flags()
        self.capabilities = capabilities
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
        self._serial = 0
        self._due_ms: int | None = None
        self._last_refresh_ms = 0
        self._orphaned: dict[ServerSession, None] = {}
        self.on_stale: Callable[[], None] = lambda: None
        """Called when something must be sent in `REFRESH_AFTER_MS`; the adapter arms a timer."""

    # connections

    def connect(self, on_output: Callable[[], None] = lambda: None) -> Connection:
        """A new peer. `on_output` is called when there is something for it to read."""
        self._serial += 1
        connection = Connection(self, self._serial, on_output)
        self.connections[connection] = None
        return connection

    def space(self, name: SpaceId) -> Space:
        """An open space; opened on first use. A failed open is not remembered."""
        space = self.spaces.get(name)
        if space is None:
            space = Space(name, self._open_space(name))
            self.spaces[name] = space
            access = self.access[name] = Access(space, self.access_mode)
            space.on_commit = lambda seq, branch, ids: self._landed(access, branch, ids)
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

    # sending what changed

    def touched(self) -> None:
        """Something may have to be sent; remember when."""
        if self._due_ms is None and any(space.stale for space in self.spaces.values()):
            self._due_ms = self.clock_ms() + REFRESH_AFTER_MS
            self.on_stale()

    def refresh(self) -> int | None:
        """Send what is due. In how many milliseconds to ask again; None: when `on_stale` says."""
        now = self.clock_ms()
        if self._due_ms is not None:
            if now < self._due_ms:
                return self._due_ms - now
            patience = max(self._drain_wait_ms, 2 * self._last_refresh_ms)
            waits_until = self._due_ms + patience
            if now < waits_until and any(c.busy for c in self.connections):
                # More commits are on their way; one sync for all of them is cheaper.
                return min(waits_until - now, REFRESH_AFTER_MS)
            self.flush()
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
            for session in sorted(stale, key=_place):
                if session.owner is not None:
                    session.owner.send_changes(space, session, views)

    def orphaned(self, session: ServerSession) -> None:
        """The session's client may have documents that no watch reaches."""
        if session.orphaned_at is None and session.watched.has_orphans():
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
            session.owner.send_removes(self.space(session.space), session)
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


class _Slot:
    """A commit on its way to the disk, and its fate once it is told."""

    __slots__ = ("answer", "request", "space")

    def __init__(self, request: Transact, space: Space | None) -> None:
        self.request, self.space = request, space
        self.answer: Applied | HoldfastError | None = None


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
        try:
            request = messages.parse_request(self._queue[0], self._unified)
        except InvalidMessage as error:
            if self._landing:
                return False
            self._queue.popleft()
            self._refuse(INVALID, error)
            return True
        if self._landing and not (
            isinstance(request, Transact) and request.space == self._landing[0].request.space
        ):
            return False
        self._queue.popleft()
        wait_ms = self._bucket.take(self.server.clock_ms())
        if wait_ms:
            self._refuse(getattr(request, "request_id", HANDSHAKE), RateLimited(wait_ms))
            return True
        self._dispatch(request)
        return True

    @property
    def _unified(self) -> bool:
        return self.server.flags.unified_json_encoding

    def _dispatch(self, request: Request) -> None:
        if isinstance(request, Hello):
            self._answer(HANDSHAKE, lambda: self._hello(request))
        elif not self.ready:
            self._refuse(HANDSHAKE, ProtocolError("memory/v2 hello is required first"))
        elif isinstance(request, SessionOpen):
            self._answer(request.request_id, lambda: self._open(request))
        elif isinstance(request, Transact):
            self._transact(request)
        else:
            self._answer(
                request.request_id,
                lambda: self.ok(request.request_id, self._commands.run(request)),
            )

    def _answer(self, request_id: str, act: Callable[[], None]) -> None:
        try:
            act()
        except StoreUnreachable as error:
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
            from holdfast.store import codec

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
        return found

    def _open(self, request: SessionOpen) -> None:
        server = self.server
        name = SpaceId(request.space)
        space = server.space(name)
        proof = OpenProof(server.challenges, self.challenge, server.clock_ms())
        principal = server.authorize(name, request, proof)
        server.access[name].require_read(principal)
        wanted = request.session
        id = wanted.session_id if isinstance(wanted.session_id, str) else None
        token = wanted.session_token if isinstance(wanted.session_token, str) else None
        if "identity" in self.capabilities and server.challenges is not None:
            id = server.challenges.session_id(id, name, principal, server.registry.find)
        key = (name, SessionId(id or ""))
        if len(self.sessions) >= server.limits.sessions_per_connection and key not in self.sessions:
            raise TooManySessions(server.limits.sessions_per_connection)
        opened = server.registry.open(name, id, token, principal, self, server.clock_ms())
        session, resumed, sync = opened.session, opened.resumed, None
        if opened.former_owner is not None:
            opened.former_owner.lose(session, "taken-over")
        self.sessions[session.key] = session
        space.advance()
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
        server.registry.keep(session)
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

    def forget_tracked(self, session: ServerSession) -> None:
        """Before its watches are replaced: hear no more of what the session tracked."""
        space = self.server.spaces[session.space]
        for branch, ids in session.watched.tracked():
            space.untrack(session, branch, ids)
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
            self._submit(slot, space, session)
        except HoldfastError as refusal:
            self._told(slot, refusal)

    def _submit(self, slot: _Slot, space: Space, session: ServerSession) -> None:
        def told(answer: Applied | StoreError) -> None:
            if isinstance(answer, Applied):
                ids = ids_of(slot.request.commit)
                space.committed(answer.seq, answer.branch, ids)
            self._told(slot, answer)

        self.server.commit(space.store, session.id, slot.request.commit, told)

    def _told(self, slot: _Slot, answer: Applied | HoldfastError) -> None:
        """The fate of a commit is known; answer as many as can be answered in order."""
        slot.answer = answer
        while self._landing and self._landing[0].answer is not None:
            done = self._landing.popleft()
            self._answer_commit(done)
        self._pump()

    def _answer_commit(self, slot: _Slot) -> None:
        answer, request_id = slot.answer, slot.request.request_id
        if isinstance(answer, Applied):
            self.ok(request_id, answer.to_wire())
            return
        assert isinstance(answer, HoldfastError)
        if isinstance(answer, StoreUnreachable) or type(answer) is StoreError:
            # Whether it landed is unknown: no answer is the honest one, the client will replay.
            self.close(BROKEN, "the database failed")
            return
        if isinstance(answer, ConflictError):
            assert slot.space is not None
            slot.space.advance()
            slot.space.mark(keys_of(slot.request.commit))
            self.server.flush_space(slot.space)
        self._refuse(request_id, answer)

    # sending

    def send_changes(self, space: Space, session: ServerSession, views: Any) -> None:
        """Send what changed for a session since it was last told."""
        stale, session.stale = session.stale, {}
        if not stale:
            return
        try:
            sync, tracked = session.watched.refresh(stale, views, session.synced_seq)
        except HoldfastError as error:
            # The graph has outgrown its limits. Sending less would look like all of it.
            self.lose(session, f"watch-failed: {error}")
            self.server.registry.end(session)
            return
        for branch, ids in tracked.items():
            space.track(session, branch, ids)
        if not is_empty(sync):
            session.synced_seq = Seq(sync.to_seq)
            self.send(Effect(space=session.space, session_id=session.id, effect=sync))
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
        if isinstance(error, LimitReached):
            self.server.touched()

    def send(self, message: Message) -> None:
        """Put a message into the outbox; a peer that reads too slowly is dropped."""
        if self._gone or self.closing is not None:
            return
        frame = messages.encode(message, self._unified)
        self._outbox.append(frame)
        self._outbox_bytes += len(frame)
        most = self.server.limits.outbox_bytes_max
        if self._outbox_bytes > most:
            slow = SlowConsumer(self._outbox_bytes, most)
            self._outbox.clear()
            self.close(POLICY, f"{slow.name}: {slow}"[:120])
            return
        self._on_output()
