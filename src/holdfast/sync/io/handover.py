"""Hand the socket of a WebSocket that uvicorn has accepted over to the application.

uvicorn speaks HTTP, finds the route and does the handshake. Passing each message from its task to
the application's costs more than all that is done with it, so after the handshake the endpoint may
ask for the socket itself. Other WebSocket routes of the same server go on as usual.

uvicorn has no public way to do this. `PARTS` lists the private parts that are used; a test fails
when they move, and a server that lacks one keeps its socket.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.http11 import Request
from websockets.server import ServerProtocol

KEY = "holdfast.handover"
"""Under `extensions` of the scope: a `Handover`, if the server can hand its socket over."""


PARTS: Final = (
    "queue",
    "conn",
    "handshake_complete",
    "stop_keepalive",
    "connections",
    "read_paused",
)


class Handover(WebSocketsSansIOProtocol):
    """uvicorn's WebSocket, until the application asks for its socket."""

    def handle_connect(self, event: Request) -> None:
        super().handle_connect(event)
        scope: Any = getattr(self, "scope", None)
        if scope is not None and all(hasattr(self, part) for part in PARTS):
            scope["extensions"][KEY] = self

    async def send(self, message: Any) -> None:
        await super().send(message)
        if message["type"] == "websocket.http.response.body" and not message.get("more_body"):
            # uvicorn treats a refused handshake as a mistake of the application and logs an error,
            # so peers without a credential could fill the log.
            self.handshake_complete = True

    @property
    def protocol(self) -> ServerProtocol:
        """The library's state of this WebSocket."""
        return self.conn

    def give(self, successor: asyncio.Protocol) -> bool:
        """Hand the socket over, right after the handshake; False if it is too late for that."""
        if not self.queue.empty() or not self.handshake_complete or self.transport.is_closing():
            return False
        self.stop_keepalive()
        self.connections.discard(self)
        # The server ends every member of this set when it stops, by calling `shutdown`.
        self.connections.add(successor)  # type: ignore[arg-type]
        self.transport.set_protocol(successor)
        successor.connection_made(self.transport)
        if self.read_paused:
            self.transport.resume_reading()
        return True

    def release(self, successor: asyncio.Protocol) -> None:
        """The successor's connection has ended."""
        self.connections.discard(successor)
