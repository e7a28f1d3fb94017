"""The client's side of a connection, without a socket, a clock or a thread.

    start ──Dial──> transport_up ──hello──> hello.ok ──> every session restores itself
      ^                                                       |
      └──── timer("reconnect") <──Wake── transport_down <─────┘

Report events (`transport_up`, `transport_down`, `receive`, `timer`) and carry out the actions that
`take` returns, in order. A lost connection is dialled again after 25 ms, 50 ms, … up to 30 s, each
with random jitter, so that many clients of one server do not come back at once. The wait is short
again only after a session was restored: a server may answer hello and then fail.

A message that cannot be sent is refused here, once, as the server would refuse it. So is one for
which the server closed the connection because of its size. Other messages do not wait for it.

The connection handles requests and answers. What a session does with them is in `space_session.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from msgspec import UNSET, UnsetType, to_builtins

from holdfast.errors import SyncError
from holdfast.ids import SpaceId
from holdfast.store.author import Author
from holdfast.store.errors import InvalidValue
from holdfast.sync.client.actions import Action, Dial, HangUp, Send, Wake
from holdfast.sync.client.errors import (
    CapabilityMissing,
    ConnectionLost,
    RequestRefused,
    SessionClosed,
)
from holdfast.sync.client.outbox import NoOutbox, Outbox
from holdfast.sync.client.outcome import Outcome
from holdfast.sync.client.outgoing_values import TOO_LARGE
from holdfast.sync.client.space_session import SpaceSession
from holdfast.sync.wire import messages
from holdfast.sync.wire.close_codes import TOO_BIG
from holdfast.sync.wire.errors import InvalidMessage, ProtocolError
from holdfast.sync.wire.messages import (
    CAPABILITIES,
    EXISTING,
    HANDSHAKE,
    PROTOCOL,
    Answer,
    Effect,
    Flags,
    Hello,
    HelloOk,
    Message,
    OpenTerms,
    Request,
    Response,
    Revoked,
    SessionDescriptor,
)

BACKOFF_FIRST_MS: Final = 25
BACKOFF_MAX_MS: Final = 30_000
JITTER: Final = 0.2

NEWER: Final = "it may be newer than this client: update holdfast, or check the URL"

RECONNECT: Final = "reconnect"
RESEND: Final = "resend"
TURN: Final = "turn"

Authenticate = Callable[[str, SessionDescriptor, OpenTerms | None], tuple[Any, Any] | None]
"""(space, descriptor, the server's terms) -> (invocation, authorization); None: not signed."""


SignCommit = Callable[[str, str, Mapping[str, Any]], Mapping[str, Any]]
"""(space, session, commit) -> the commit with its signature."""


def backoff_ms(attempt: int, chance: float) -> float:
    """How long to wait before dialling again; `chance` is between 0 and 1."""
    plain: int = min(BACKOFF_FIRST_MS << min(attempt, 20), BACKOFF_MAX_MS)
    return plain * (1 + JITTER * chance)


@dataclass(frozen=True, slots=True)
class PendingRequest:
    """A request without an answer. `answered` or `lost` is called when its outcome is known."""

    message: Request
    answered: Callable[[Response], None]
    lost: Callable[[SyncError], None]


class Client:
    """One connection to a server, and the sessions that use it.

    A request is sent on one connection and lost with it; sessions decide what to send again.
    """

    def __init__(
        self,
        random: Callable[[], float],
        flags: Flags | None = None,
        capabilities: Iterable[str] = CAPABILITIES,
        authenticate: Authenticate | None = None,
        sign_commit: SignCommit | None = None,
        author: Author | None = None,
        ask_again: bool = False,
    ) -> None:
        """`author` is stated in every commit; a peer that does not support authors ignores it.

        With `ask_again`, reads and watches whose answer was lost are sent again on the next
        connection, which may be to another server; otherwise they fail with `ConnectionLost`.
        """
        self.author, self.ask_again = author, ask_again
        self.flags = flags or Flags()
        self.sessions: list[SpaceSession] = []
        self.started: Outcome[None] = Outcome()
        self.closed: Outcome[None] = Outcome()
        self.agreed: frozenset[str] = frozenset()
        self.terms: OpenTerms | None = None
        self.connections = 0
        self.on_actions: Callable[[], None] = lambda: None
        """Called when there is something to `take`, for adapters that do not poll."""
        self.chance = random
        self._capabilities = frozenset(capabilities)
        self._authenticate, self._sign_commit = authenticate, sign_commit
        self._actions: list[Action] = []
        self._requests: dict[str, PendingRequest] = {}
        self._number = 0
        self._attempt = 0
        self._up = False
        self._ready = False
        self._closing = False
        self._dialling = False
        self._turn_set = False

    # what an adapter calls

    def start(self) -> Outcome[None]:
        """Dial. The outcome is known once a server has answered hello."""
        if not (self._up or self._dialling or self._closing):
            self._dialling = True
            self._do(Dial())
        return self.started

    def take(self) -> list[Action]:
        """The actions to carry out now, in order."""
        actions, self._actions = self._actions, []
        return actions

    def transport_up(self) -> None:
        if self._closing:
            self._do(HangUp())
            return
        self._up, self._dialling = True, False
        self.connections += 1
        capabilities = sorted(self._capabilities) if self._capabilities else UNSET
        hello = Hello(protocol=PROTOCOL, flags=to_builtins(self.flags), capabilities=capabilities)
        self._do(Send(hello))

    def frame(self, message: Message) -> str | None:
        """A message as text; None if it cannot be encoded, and then its request is refused."""
        try:
            return messages.encode(message, self.unified)
        except InvalidValue as error:
            self._refuse_here(getattr(message, "request_id", ""), error.name, str(error))
            return None

    def unreadable(self, error: InvalidMessage, frame: str = "") -> None:
        """Received something that is not a message. Before hello.ok: not a sync server at all."""
        if not self._ready:
            begins = f", which begins with {frame[:20]!r}" if frame else ""
            self._refused(
                ProtocolError(
                    f"the server does not speak {PROTOCOL}: it answered hello with "
                    f"something else{begins} ({error.hint})",
                    hint=NEWER,
                )
            )

    def transport_down(self, reason: str = "", code: int | None = None) -> None:
        """The transport is gone, or could not be opened. `code` is the server's close code."""
        if code == TOO_BIG and self._requests:
            # The largest request was too large; the others may have been short enough.
            sizes = {name: self._size(request.message) for name, request in self._requests.items()}
            largest = max(sizes, key=sizes.__getitem__)
            self._refuse_here(
                largest,
                TOO_LARGE,
                f"the message is {sizes[largest]} bytes long, and the server closed the connection "
                f"because of its size ({code} {reason})".replace(" )", ")"),
            )
        self._up = self._ready = self._dialling = False
        self.terms = None
        lost, self._requests = self._requests, {}
        error = ConnectionLost(f"the connection was lost: {reason}") if reason else ConnectionLost()
        for request in lost.values():
            request.lost(error)
        for session in list(self.sessions):
            session.connection_lost()
        if self._closing:
            self._finish()
            return
        self._do(Wake(RECONNECT, backoff_ms(self._attempt, self.chance())))
        self._attempt += 1

    def rejected(self, error: SyncError) -> None:
        """The server refused the connection, and would refuse it again."""
        self._refused(error)

    def timer(self, name: str) -> None:
        if name == RECONNECT:
            if not (self._up or self._dialling or self._closing):
                self._dialling = True
                self._do(Dial())
        elif name == TURN:
            self._turn_set = False
            for session in list(self.sessions):
                session.turn()
        elif name == RESEND:
            for session in list(self.sessions):
                session.resend()

    def receive(self, answer: Answer) -> None:
        """A message from the server."""
        if not self._up:
            return
        match answer:
            case HelloOk():
                self._hello_ok(answer)
            case Response() if answer.request_id == HANDSHAKE:
                if not self._ready:
                    self._refused(_refusal(answer))
            case Response():
                request = self._requests.pop(answer.request_id, None)
                if request is not None:
                    request.answered(answer)
            case Effect():
                for session in self.sessions:
                    if session.is_(answer.space, answer.session_id):
                        session.effect(answer.effect)
            case Revoked():
                for session in list(self.sessions):
                    if session.is_(answer.space, answer.session_id):
                        session.revoked(answer.reason)

    # sessions

    def mount(
        self,
        space: str,
        session_id: str | None = None,
        outbox: Outbox | None = None,
        lazy: bool = False,
    ) -> SpaceSession:
        """A session of a space. A lazy one is not opened before it is needed."""
        session = SpaceSession(self, SpaceId(space), session_id, outbox or NoOutbox(), lazy)
        if self._closing:
            session.fail(SessionClosed("the client is closed"))
            return session
        self.sessions.append(session)
        if self._ready:
            session.connected()
        return session

    def close(self) -> Outcome[None]:
        """Close every session. Commits that were sent may still be answered."""
        if not self._closing:
            self._closing = True
            for session in list(self.sessions):
                session.close()
            self.session_closed()
            if not self._up:
                self._finish()
        return self.closed

    @property
    def ready(self) -> bool:
        return self._ready

    @property
    def unified(self) -> bool:
        return self.flags.unified_json_encoding

    @property
    def sound(self) -> bool:
        """Whether the server knows reads that name every layer, and promises coverage."""
        return "coverage" in self.agreed

    # what sessions call

    def ask(
        self,
        build: Callable[[str], Request],
        answered: Callable[[Response], None],
        lost: Callable[[SyncError], None],
    ) -> None:
        """Send a request; later either `answered` or `lost` is called, once."""
        assert self._ready, "there is no connection"
        self._number += 1
        name = f"r{self._number}"
        message = build(name)
        self._requests[name] = PendingRequest(message, answered, lost)
        self._do(Send(message))

    def restored(self) -> None:
        """A session works again, and so does the server: the next reconnect need not wait long."""
        self._attempt = 0

    def wait_turn(self) -> None:
        """Have every session's `turn` called once the current call is over."""
        if not self._turn_set:
            self._turn_set = True
            self._do(Wake(TURN, 0))

    def wait_to_resend(self, in_ms: int) -> None:
        """Have every session's `resend` called after a while; the last call wins."""
        self._do(Wake(RESEND, in_ms))

    def sign(self, space: str, descriptor: SessionDescriptor) -> tuple[Any, Any]:
        if self._authenticate is None:
            return UNSET, UNSET
        signed = self._authenticate(space, descriptor, self.terms)
        return (UNSET, UNSET) if signed is None else signed

    def signed(self, space: str, session: str, commit: Mapping[str, Any]) -> Mapping[str, Any]:
        """A commit as it is sent: signed, if the server checks identities.

        Sent again it is the same: a key signs the same content with the same signature.
        """
        if self._sign_commit is None or "identity" not in self.agreed:
            return commit
        return self._sign_commit(space, session, commit)

    def session_closed(self) -> None:
        """Hang up once every session is closed."""
        self.sessions = [session for session in self.sessions if not session.over]
        if self._closing and not self.sessions and self._up:
            self._finish()

    # inside

    def _do(self, action: Action) -> None:
        self._actions.append(action)
        if len(self._actions) == 1:
            self.on_actions()

    def _hello_ok(self, answer: HelloOk) -> None:
        if self._ready:
            return
        ours = to_builtins(self.flags)
        if answer.protocol != PROTOCOL:
            self._refused(
                ProtocolError(f"the server speaks {answer.protocol}, not {PROTOCOL}", hint=NEWER)
            )
            return
        if {name: answer.flags.get(name) for name in ours} != ours:
            self._refused(
                ProtocolError(f"memory/v2 flag mismatch: client={ours} server={answer.flags}")
            )
            return
        capabilities = [] if isinstance(answer.capabilities, UnsetType) else answer.capabilities
        self.agreed = self._capabilities & frozenset(capabilities)
        terms = answer.session_open
        self.terms = None if isinstance(terms, UnsetType) else terms
        if EXISTING in self._capabilities and EXISTING not in self.agreed:
            # Such a server would create a missing space.
            self._refused(CapabilityMissing(EXISTING))
            return
        self._ready = True
        if not self.sessions:
            self._attempt = 0
        self.started.resolve(None)
        for session in list(self.sessions):
            session.connected()

    def _refuse_here(self, request_id: str, name: str, message: str) -> None:
        """Answer a request as if the server had refused it."""
        request = self._requests.pop(request_id, None)
        if request is not None:
            error = messages.Refused(name=name, message=message)
            request.answered(Response(request_id=request_id, error=error))

    def _size(self, message: Message) -> int:
        try:
            return len(messages.encode(message, self.unified).encode())
        except InvalidValue:
            return 0

    def _refused(self, error: SyncError) -> None:
        self._closing = True
        self.started.reject(error)
        for session in list(self.sessions):
            session.fail(error)
        self.sessions = []
        self._finish()

    def _finish(self) -> None:
        for session in list(self.sessions):
            session.fail(SessionClosed())
        self.sessions = []
        self._up = self._ready = False
        self._do(HangUp())
        self.started.reject(SessionClosed("the client was closed"))
        self.closed.resolve(None)


def _refusal(answer: Response) -> SyncError:
    error = answer.error
    refused = RequestRefused.from_wire(None if isinstance(error, UnsetType) else to_builtins(error))
    if refused.name == "UnsupportedProtocol":
        return ProtocolError(f"the server does not speak {PROTOCOL}: {refused}", hint=NEWER)
    return refused
