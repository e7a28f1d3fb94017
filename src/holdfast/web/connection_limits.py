"""Limits on connections that have not sent a whole request yet.

A peer needs no credential to connect, and each connection uses a file descriptor. A peer that sends
half a request and waits would keep it forever, and with enough of them the server could not accept
other clients. So the headers of a request must be complete within some seconds, and if too many are
incomplete, the oldest connection is closed: a peer that opens many closes its own.
"""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

REQUEST_S = 10.0
"""How long the headers of a request may take to arrive."""

UNFINISHED_MAX = 256
"""How many connections may be without a complete request at once."""


class PromptRequests(H11Protocol):
    """uvicorn's HTTP protocol, with a limit on incomplete requests."""

    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._expect()

    def data_received(self, data: bytes) -> None:
        if self._timer is None and self._is_idle():
            self._expect()
        super().data_received(data)
        if not self._is_idle():
            self._arrived()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        self._arrived()
        super().handle_websocket_upgrade(event)

    def connection_lost(self, exc: Exception | None) -> None:
        self._arrived()
        super().connection_lost(exc)

    def _is_idle(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    @property
    def _unfinished(self) -> dict[PromptRequests, None]:
        """The unfinished connections of the whole server, the oldest first."""
        requests: dict[PromptRequests, None] = vars(self.server_state).setdefault("unfinished", {})
        return requests

    def _expect(self) -> None:
        waiting = self._unfinished
        waiting[self] = None
        self._timer = self.loop.call_later(REQUEST_S, self._give_up)
        while len(waiting) > UNFINISHED_MAX:
            next(iter(waiting))._give_up()

    def _arrived(self) -> None:
        self._unfinished.pop(self, None)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _give_up(self) -> None:
        self._arrived()
        self.transport.abort()
