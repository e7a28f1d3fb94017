"""Limits the tool calls that a server runs at once; more are refused.

Without a limit all calls are accepted, and under too much load all of them are late. A refusal is
cheap, has a name, and tells the client when to retry, here or at another server.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

CALLS_MAX = 512
RETRY_AFTER_S = 1


@dataclass(slots=True)
class CallGate:
    """Counts the calls in flight; `enter` says whether there is room for one more."""

    most: int = CALLS_MAX
    in_flight: int = 0
    peak: int = 0
    """The most calls that were in flight at once."""
    refused: int = 0

    @contextmanager
    def enter(self) -> Iterator[bool]:
        if self.in_flight >= self.most:
            self.refused += 1
            yield False
            return
        self.in_flight += 1
        self.peak = max(self.peak, self.in_flight)
        try:
            yield True
        finally:
            self.in_flight -= 1

    def refusal(self) -> dict[str, object]:
        """The body of the answer to a call for which there is no room."""
        return {
            "error": f"the server is busy: {self.most} calls are in flight",
            "name": "ServerBusy",
            "hint": f"ask again after {RETRY_AFTER_S} s, here or at another server",
        }
