"""The exceptions of sync, on either side of a connection.

    SyncError
    ├── Unreadable                a frame that cannot be executed; knows which request it was
    │   ├── InvalidMessage        … because it is not a message of this protocol
    │   └── UnacceptableContent   … because of what the message contains
    ├── ProtocolError             a message that is not allowed here, or not now
    │   └── UnsupportedProtocol   a peer that speaks another protocol
    ├── SessionError              a command for a session that is not open on this connection
    ├── SessionRevoked            a session that another connection has taken over
    ├── Forbidden                 a principal who may not do this
    ├── Unreachable               a server that did not answer in time; also a TimeoutError
    └── LimitReached              more than this server takes: too large, too many, too fast
        ├── MessageTooLarge, TooManySessions, TooManyWatches
        ├── RateLimited           has `retry_after_ms`
        └── SlowConsumer          a peer that does not read what it asked for

An error that is sent to a peer has a `name`: the word the peer sees.
"""

from __future__ import annotations

from typing import Final

from holdfast.errors import SyncError

INVALID: Final = "invalid"
"""The requestId of the refusal of a frame that does not name its own."""


class _Refusal(SyncError):
    """A refusal with a sentence and a hint."""

    name = "ProtocolError"

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class Unreadable(_Refusal):
    """The root of refusals of a frame as a whole. `request_id` is the id it is answered under."""

    request_id: str = INVALID


class InvalidMessage(Unreadable):
    """Raised when a frame is not a message of this protocol."""

    name = "InvalidMessageError"

    def __init__(self, reason: str = "", request_id: str = INVALID) -> None:
        # Peers look for exactly this text; the reason goes into the hint.
        super().__init__("Unable to parse memory/v2 message", hint=reason)
        self.request_id = request_id


class UnacceptableContent(Unreadable):
    """Raised when a message has the right form but content that this server does not accept."""

    def __init__(self, name: str, message: str, request_id: str, hint: str = "") -> None:
        super().__init__(message, hint)
        self.name, self.request_id = name, request_id


class ProtocolError(_Refusal):
    """Raised when a message is not allowed here, or not now."""


class UnsupportedProtocol(ProtocolError):
    """Raised when a peer speaks another protocol."""

    name = "UnsupportedProtocol"

    def __init__(self, protocol: str) -> None:
        super().__init__(f"Unsupported protocol: {protocol}", hint="this server speaks memory/v2")
        self.protocol = protocol


class SessionError(_Refusal):
    """Raised when a command names a session that is not open on its connection."""

    name = "SessionError"

    def __init__(self, message: str = "Session is not open on this connection") -> None:
        super().__init__(message, hint="open it here first: session.open")


class SessionRevoked(_Refusal):
    """Raised when another connection has taken the session over."""

    name = "SessionRevokedError"


class Forbidden(_Refusal):
    """Raised when a principal may not do what it asks."""

    name = "AuthorizationError"


class Unreachable(_Refusal, TimeoutError):
    """Raised when a server does not answer in time; nothing was sent that could have landed."""

    name = "ConnectionError"

    def __init__(self, url: str, reason: str, hint: str | None = None) -> None:
        super().__init__(
            f"cannot reach {url}: {reason or 'no answer'}",
            hint=hint or "start it with holdfast serve, or name another with --url",
        )
        self.url = url


class LimitReached(_Refusal):
    """Raised when a peer requests more than this server allows."""

    name = "LimitError"


class MessageTooLarge(LimitReached):
    """Raised when a frame is longer than this server reads."""

    name = "MessageTooLargeError"

    def __init__(self, size: int, most: int, request_id: str = INVALID) -> None:
        self.request_id = request_id
        super().__init__(
            f"the message is {size} bytes long, and this server reads at most {most}",
            hint="split the commit, or store large data as blobs",
        )
        self.size, self.most = size, most


class TooManySessions(LimitReached):
    """Raised when a connection has as many sessions open as one connection may."""

    name = "SessionLimitError"

    def __init__(self, most: int, whose: str = "this connection") -> None:
        super().__init__(f"{whose} has {most} sessions open already", hint="close some")
        self.most = most


class TooManySpaces(LimitReached):
    """Raised when a space would be opened beyond those that may be open at once."""

    name = "SpaceLimitError"

    def __init__(self, most: int, whose: str) -> None:
        super().__init__(
            f"{whose} may have {most} spaces open at once",
            hint="close sessions of other spaces; a space without sessions is closed by itself",
        )
        self.most = most


class TooManyWatches(LimitReached):
    """Raised when a session would watch more than one session may."""

    name = "WatchLimitError"

    def __init__(self, most: int) -> None:
        super().__init__(f"a session has at most {most} watches", hint="watch fewer, wider graphs")
        self.most = most


class RateLimited(LimitReached):
    """Raised when messages come faster than this server accepts them."""

    name = "RateLimitError"

    def __init__(self, retry_after_ms: int) -> None:
        super().__init__(
            f"too many messages; try again in {retry_after_ms} ms", hint="slow down and try again"
        )
        self.retry_after_ms = retry_after_ms


class SlowConsumer(LimitReached):
    """Raised when a peer does not read what it requested; its connection is closed."""

    name = "SlowConsumerError"

    def __init__(self, waiting: int, most: int) -> None:
        super().__init__(
            f"{waiting} bytes wait to be read, and this server keeps at most {most}",
            hint="reconnect; the session is kept and sends what was missed",
        )
        self.waiting, self.most = waiting, most
