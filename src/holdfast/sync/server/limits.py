"""How much one peer may ask for, and how fast."""

from __future__ import annotations

from dataclasses import dataclass, field

from holdfast.store.graph import GraphLimits


@dataclass(frozen=True, slots=True)
class Limits:
    """What a server takes from one peer. Each has an error of its own."""

    message_bytes_max: int = 33 * 1024 * 1024
    """The longest frame. A commit may be 32 MiB; this leaves room around it."""

    first_bytes_max: int = 1024 * 1024
    """The longest frame before the hello is answered."""

    messages_per_second: int = 20_000
    messages_burst: int = 50_000

    queued_messages_max: int = 20_000
    """Messages of one connection that wait for those before them."""

    outbox_bytes_max: int = 64 * 1024 * 1024
    """What a peer may leave unread before it is dropped."""

    sessions_per_connection: int = 1_000
    watches_per_session: int = 10_000
    history_page_max: int = 1_000

    graph: GraphLimits = field(default_factory=GraphLimits)


class Bucket:
    """Lets `burst` through at once and `per_second` in the long run."""

    def __init__(self, per_second: int, burst: int, now_ms: int) -> None:
        self._rate, self._burst = per_second / 1000, burst
        self._left, self._at = float(burst), now_ms

    def take(self, now_ms: int) -> int:
        """0 if one more may pass now, else in how many milliseconds it may."""
        if now_ms > self._at:
            self._left = min(self._burst, self._left + (now_ms - self._at) * self._rate)
            self._at = now_ms
        if self._left >= 1:
            self._left -= 1
            return 0
        return max(1, int((1 - self._left) / self._rate) + 1)
