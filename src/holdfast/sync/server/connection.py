"""One peer of the server: frames in, answers out, in order.

Messages of one connection are answered in the order they arrived. Only commits overlap
(`pending_writes.py`); a message of any other kind waits until they are answered.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from holdfast.errors import HoldfastError
from holdfast.ids import SessionId, SpaceId
from holdfast.store.errors import StoreBusy, StoreUnreachable
from holdfast.sync.server import handshake, notify
from holdfast.sync.server.commands import Commands
from holdfast.sync.server.context import ServerContext
from holdfast.sync.server.limits import Bucket, Usage
from holdfast.sync.server.pending_writes import PendingWrites
from holdfast.sync.server.refusals import refused
from holdfast.sync.server.session_registry import ServerSession
from holdfast.sync.wire import messages
from holdfast.sync.wire.close_codes import POLICY, TOO_BIG, TRY_AGAIN, UNSUPPORTED
from holdfast.sync.wire.decode_failure import request_id_of
from holdfast.sync.wire.errors import (
    MessageTooLarge,
    ProtocolError,
    RateLimited,
    SessionError,
    SlowConsumer,
    Unreadable,
)
from holdfast.sync.wire.messages import (
    HANDSHAKE,
    BranchCreate,
    BranchDelete,
    Hello,
    Message,
    Request,
    Response,
    Revoked,
    SessionOpen,
    Transact,
)

Unread = Unreadable | MessageTooLarge
"""A frame that is not executed; refused in its turn."""


class Connection:
    """One peer. Feed it frames with `receive`; send what `take` returns, in order."""

    def __init__(
        self,
        server: ServerContext,
        serial: int,
        on_output: Callable[[], None],
        principal: str = "",
        until_ms: int | None = None,
    ) -> None:
        self.server, self.serial = server, serial
        self.until_ms = until_ms
        """When the credential of the peer expires; None: never."""
        self.principal = principal
        self._counted = True
        """Whether its unread output counts towards the limits of its principal."""
        self._usage = server.usages.setdefault(principal, Usage())
        self._usage.connections += 1
        self.unified = server.settings.flags.unified_json_encoding
        self.ready = False
        self.capabilities: frozenset[str] = frozenset()
        self.sessions: dict[tuple[SpaceId, SessionId], ServerSession] = {}
        self.closing: tuple[int, str] | None = None
        self.challenge: str | None = None
        self._on_output = on_output
        self._outbox: list[str] = []
        self._outbox_bytes = 0
        self._queue: deque[str | Unread] = deque()
        self._head: Request | Unread | None = None
        self._pumping = False
        self._verified: set[tuple[SpaceId, SessionId]] = set()
        """Sessions that the current run of `_pump` has verified to be this server's."""
        self._gone = False
        limits = server.limits
        self._bucket = Bucket(limits.messages_per_second, limits.messages_burst, server.clock_ms())
        self._commands = Commands(self)
        self._pending = PendingWrites(self)

    # what an adapter needs

    def receive(self, *texts: str) -> None:
        """Frames arrived, in this order."""
        limits, queue = self.server.limits, self._queue
        for text in texts:
            if self._gone or self.closing is not None:
                return
            if len(queue) >= limits.queued_messages_max:
                self._pump()
                if len(queue) >= limits.queued_messages_max:
                    self.close(POLICY, "too many messages are waiting")
                    return
            if self.ready:
                most, size = limits.message_bytes_max, len(text)
                too_large = size > most
                queue.append(
                    MessageTooLarge(size, most, request_id_of(text)) if too_large else text
                )
            elif len(text) > limits.first_bytes_max:
                self.close(TOO_BIG, f"more than {limits.first_bytes_max} bytes before hello")
                return
            else:
                # If one of them is a hello, it decides how the next one is parsed.
                queue.append(text)
                self._pump()
        self._pump()

    def receive_binary(self) -> None:
        """Received a non-text frame."""
        self.close(UNSUPPORTED, "memory/v2 frames are text")

    def take(self) -> list[str]:
        """Everything that is to be sent now, in order."""
        frames, self._outbox = self._outbox, []
        return frames

    def sent(self, size: int) -> None:
        """`size` characters of what was taken have been sent."""
        if not self._gone:
            self._outbox_bytes -= size
            if self._counted:
                self._usage.unread_bytes -= size

    @property
    def unread(self) -> int:
        """How many characters are not sent yet, taken or not."""
        return self._outbox_bytes

    @property
    def busy(self) -> bool:
        """Whether a message from the peer is not answered yet."""
        return bool(self._queue or self._pending.writes)

    def close(self, code: int, reason: str) -> None:
        """Ask the adapter to close; nothing is sent or received from here on."""
        if self.closing is None:
            self.closing = (code, reason)
            self._queue.clear()
            self._note_busy()
            self._on_output()

    def disconnected(self) -> None:
        """The peer is gone. Its sessions stay for it to resume."""
        if self._gone:
            return
        self._gone = True
        self._usage.connections -= 1
        self._uncount()
        if not self._usage.connections:
            self.server.usages.pop(self.principal, None)
        self._queue.clear()
        self._outbox.clear()
        self._note_busy()
        self.server.connections.pop(self, None)
        now = self.server.clock_ms()
        for session in self.sessions.values():
            self._release(session)
            self.server.registry.detach(session, now)
        self.sessions.clear()
        if self.challenge is not None and self.server.challenges is not None:
            self.server.challenges.drop(self.challenge)

    # one message after the other

    def resume(self) -> None:
        """All writes are answered: continue with the messages that waited for them."""
        if self._queue:
            self._pump()
        else:
            self._note_busy()
            self.server.notifier.schedule()

    def _pump(self) -> None:
        if self._pumping:
            return
        self._pumping = True
        self._verified.clear()
        now = self.server.clock_ms()
        try:
            while self._queue and not self._gone:
                if not self._next(now):
                    break
        finally:
            self._pumping = False
        self._note_busy()
        self.server.notifier.schedule()

    def _note_busy(self) -> None:
        """Tell the notifier whether messages of this peer are not answered yet."""
        if not self._gone and self.busy:
            self.server.notifier.busy.add(self)
        else:
            self.server.notifier.busy.discard(self)

    def _next(self, now_ms: int) -> bool:
        """Take the next message; False if it must wait for commits that are not answered yet."""
        request = self._head
        if request is None:
            request = self._parsed(self._queue[0])
        if self._pending.writes and not self._pending.may_overlap(request):
            self._head = request
            return False
        self._queue.popleft()
        self._head = None
        if isinstance(request, Unread):
            self.refuse(request.request_id, request)
            return True
        wait_ms = self._bucket.take(now_ms)
        if type(request) is Transact and self.ready:
            if wait_ms:
                self._pending.refuse(request, RateLimited(wait_ms))
            else:
                self._pending.commit(request)
        elif wait_ms:
            self.refuse(getattr(request, "request_id", HANDSHAKE), RateLimited(wait_ms))
        else:
            self._dispatch(request)
        return True

    def _parsed(self, frame: str | Unread) -> Request | Unread:
        if not isinstance(frame, str):
            return frame
        try:
            return messages.parse_request(frame, self.unified)
        except Unreadable as error:
            return error

    def _dispatch(self, request: Request) -> None:
        if isinstance(request, Hello):
            again = self.ready
            self._answer(HANDSHAKE, lambda: self.send(handshake.greet(self, request)))
            if again:
                # The peer has lost track of this connection; on a new one it can recover.
                self.close(POLICY, "hello may only be sent once")
        elif not self.ready:
            self.refuse(HANDSHAKE, ProtocolError("memory/v2 hello is required first"))
        elif isinstance(request, BranchCreate | BranchDelete):
            self._pending.act(request, lambda: self._commands.lifecycle(request))
        else:
            self._answer(request.request_id, lambda: self._run(request))

    def _run(self, request: Any) -> None:
        if isinstance(request, SessionOpen):
            self.ok(request.request_id, handshake.open_session(self, request))
        else:
            self.ok(request.request_id, self._commands.run(request))

    def _answer(self, request_id: str, act: Callable[[], None]) -> None:
        try:
            act()
        except (StoreUnreachable, StoreBusy) as error:
            # This is not an answer: the client may send it again, here or to another server.
            self.close(TRY_AGAIN, str(error))
        except HoldfastError as error:
            self.refuse(request_id, error)

    # sessions

    def session(self, space: str, id: str) -> ServerSession:
        """A session that is open on this connection, or `SessionError`."""
        key = (SpaceId(space), SessionId(id))
        session = self.sessions.get(key)
        if session is None:
            raise SessionError
        if key not in self._verified:
            if not self.server.registry.verify(session):
                raise SessionError
            self._verified.add(key)
        if not session.proven:
            session.proven, session.blank = True, False
            self.server.registry.keep(session)
        return session

    def lose(self, session: ServerSession, reason: str) -> None:
        """The session no longer belongs to this connection; its client is told why."""
        if self.sessions.pop(session.key, None) is not None:
            self._release(session)
            if session.owner is self:
                session.owner = None
            self.send(Revoked(space=session.space, session_id=session.id, reason=reason))

    def _release(self, session: ServerSession) -> None:
        notify.untrack(self.server.spaces[session.space], session)
        if self._outbox_bytes and "coverage" not in self.capabilities:
            # It will not be read, and a peer of the first version cannot report what it lacks.
            session.watch_set.doubt()

    # sending

    def ok(self, request_id: str, payload: Any) -> None:
        self.send(Response(request_id=request_id, ok=payload))

    def refuse(self, request_id: str, error: HoldfastError) -> None:
        self.send(Response(request_id=request_id, error=refused(error, self.capabilities)))

    def send(self, message: Message) -> None:
        """Put a message into the outbox, unless the connection is over."""
        if not self._gone and self.closing is None:
            self.send_frame(messages.encode(message, self.unified))

    def send_frame(self, frame: str) -> None:
        """Put a frame into the outbox; a peer that reads too slowly is dropped."""
        if self._gone or self.closing is not None:
            return
        self._outbox.append(frame)
        size, limits, usage = len(frame), self.server.limits, self._usage
        self._outbox_bytes += size
        usage.unread_bytes += size
        if self._outbox_bytes > limits.outbox_bytes_max:
            self.drop(SlowConsumer(self._outbox_bytes, limits.outbox_bytes_max))
            return
        if usage.unread_bytes > limits.unread_bytes_per_principal:
            slow = SlowConsumer(usage.unread_bytes, limits.unread_bytes_per_principal)
            self.server.slowest(self.principal).drop(slow)
        self._on_output()

    def drop(self, slow: SlowConsumer) -> None:
        """Close the connection without sending what the peer has not read."""
        self._outbox.clear()
        self._uncount()
        self.close(POLICY, f"{slow.name}: {slow}"[:120])

    def _uncount(self) -> None:
        if self._counted:
            self._counted = False
            self._usage.unread_bytes -= self._outbox_bytes
