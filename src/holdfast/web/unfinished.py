"""Limits on connections that have not sent a whole request yet.

A peer needs no credential to connect, and each connection costs a file descriptor. One that sends
half a request and waits would keep it for ever, and with enough of them the server could not accept
its owner. So the headers of a request have to be complete after some seconds, and of many that are
not, the oldest is closed: a peer that only waits drives out itself.
"""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

REQUEST_S = 10.0
"""A request whose headers are not complete after this is not waited for."""

UNFINISHED_MAX = 256
"""So many connections may be without a whole request at once."""


class PromptRequests(H11Protocol):
    """uvicorn's HTTP, with a limit on requests that do not come."""

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
        """Those of the whole server, the oldest first."""
        kept: dict[PromptRequests, None] = vars(self.server_state).setdefault("unfinished", {})
        return kept

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
