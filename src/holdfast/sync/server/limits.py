"""How much one peer may ask for, and how fast."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from holdfast.store.graph import GraphLimits
from holdfast.sync.wire.messages import MESSAGE_BYTES_MAX


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one peer. Each limit has its own error."""

    message_bytes_max: int = MESSAGE_BYTES_MAX

    frame_bytes_max: int = 64 * 1024 * 1024
    """The longest frame that is received at all. Above the longest message, so that one that is too
    long is refused by name; a frame above this one ends the connection with 1009."""

    first_bytes_max: int = 1024 * 1024
    """The longest frame before the hello is answered."""

    messages_per_second: int = 20_000
    messages_burst: int = 50_000

    queued_messages_max: int = 20_000
    """Messages of one connection that wait for those before them."""

    outbox_bytes_max: int = 64 * 1024 * 1024
    """How much output a peer may leave unread before it is dropped."""

    sessions_per_connection: int = 1_000
    watches_per_session: int = 10_000
    history_page_max: int = 1_000

    # Limits of all connections of one principal together.
    connections_per_principal: int = 2_000
    sessions_per_principal: int = 10_000
    spaces_per_principal: int = 96
    unread_bytes_per_principal: int = 512 * 1024 * 1024
    """How much output all its connections together may leave unread."""

    spaces_open_max: int = 128
    """Spaces that are open at once. Each needs several file descriptors."""

    space_idle_ms: int | None = None
    """How long a space stays open that no session uses; None: until the server stops."""

    graph: GraphLimits = field(default_factory=GraphLimits)


FILES_PER_SPACE = 6
"""Two SQLite connections, each with the database, its log and its shared memory."""


def fitted(limits: Limits, open_files: int) -> Limits:
    """The same limits, lowered to the number of file descriptors that are available."""
    return replace(
        limits,
        connections_per_principal=min(limits.connections_per_principal, open_files // 2),
        spaces_open_max=min(limits.spaces_open_max, open_files // 4 // FILES_PER_SPACE),
        spaces_per_principal=min(
            limits.spaces_per_principal, open_files * 3 // 16 // FILES_PER_SPACE
        ),
    )


@dataclass(slots=True)
class Usage:
    """The resources that the connections of one principal use now."""

    connections: int = 0
    unread_bytes: int = 0


class Bucket:
    """Allows a burst of `burst`, and `per_second` in the long run."""

    def __init__(self, per_second: int, burst: int, now_ms: int) -> None:
        self._rate, self._burst = per_second / 1000, burst
        self._left, self._at = float(burst), now_ms

    def take(self, now_ms: int) -> int:
        """0 if one more is allowed now, else in how many milliseconds."""
        if now_ms > self._at:
            self._left = min(self._burst, self._left + (now_ms - self._at) * self._rate)
            self._at = now_ms
        if self._left >= 1:
            self._left -= 1
            return 0
        return max(1, int((1 - self._left) / self._rate) + 1)
