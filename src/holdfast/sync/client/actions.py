"""The actions of the client core. An adapter executes them in order and reports the results."""

from __future__ import annotations

from dataclasses import dataclass

from holdfast.sync.wire.messages import Message


@dataclass(frozen=True, slots=True)
class Dial:
    """Open a transport, then call `transport_up` or `transport_down`."""


@dataclass(frozen=True, slots=True)
class Send:
    """Send a message on the transport."""

    message: Message


@dataclass(frozen=True, slots=True)
class Wake:
    """Call `timer(name)` after a while. A timer of that name that is already set is replaced."""

    name: str
    delay_ms: float


@dataclass(frozen=True, slots=True)
class HangUp:
    """Close the transport, if there is one, and cancel all timers."""


Action = Dial | Send | Wake | HangUp
