"""Letting an application have the socket of a WebSocket that uvicorn has accepted.

uvicorn speaks HTTP, finds the route and does the handshake; that is what it is good at. Passing
each message from its task to ours costs more than all we do with it, so after the handshake the
endpoint may ask for the socket itself. Other WebSocket routes of the same server go on as usual.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.http11 import Request

KEY = "holdfast.handover"
"""Under `extensions` of the scope: a `Handover`, if the server can give its socket away."""


_PARTS = ("queue", "conn", "handshake_complete", "stop_keepalive", "connections", "read_paused")


class Handover(WebSocketsSansIOProtocol):
    """uvicorn's WebSocket, until someone asks for its socket."""

    def handle_connect(self, event: Request) -> None:
        super().handle_connect(event)
        scope: Any = getattr(self, "scope", None)
        if scope is not None:
            scope["extensions"][KEY] = self

    def give(self, successor: asyncio.Protocol) -> bool:
        """Hand the socket over, right after the handshake; False if it is too late for that."""
        if not all(hasattr(self, part) for part in _PARTS):
            return False  # another uvicorn than we know; it goes on by itself
        early = not self.queue.empty() or bool(self.conn.reader.buffer)
        if early or not self.handshake_complete or self.transport.is_closing():
            return False
        self.stop_keepalive()
        self.connections.discard(self)
        # The server ends whoever is in this set when it stops, by calling `shutdown`.
        self.connections.add(successor)  # type: ignore[arg-type]
        self.transport.set_protocol(successor)
        successor.connection_made(self.transport)
        if self.read_paused:
            self.transport.resume_reading()
        return True

    def taken_back(self, successor: asyncio.Protocol) -> None:
        """The successor's connection has ended."""
        self.connections.discard(successor)
