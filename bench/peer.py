"""A WebSocket client that costs almost nothing, so that what is measured is the server.

It speaks to servers we trust: no fragments, no extensions, a mask of zeros, which leaves the text
as it is. Everything that was sent in one turn of the loop leaves in one piece.
"""

from __future__ import annotations

import asyncio
import base64
import os
from collections import deque
from typing import cast
from urllib.parse import urlsplit

MASK = bytes(4)


def framed(text: str) -> bytes:
    """A text as a client sends it."""
    data = text.encode()
    size = len(data)
    if size < 126:
        head = bytes((0x81, 0x80 | size))
    elif size < 1 << 16:
        head = b"\x81\xfe" + size.to_bytes(2)
    else:
        head = b"\x81\xff" + size.to_bytes(8)
    return head + MASK + data


class Socket(asyncio.Protocol):
    """One connection: `send` texts, `recv` texts."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._held = b""
        self._open: asyncio.Future[None] = self._loop.create_future()
        self._texts: deque[bytes] = deque()
        self._waiting: asyncio.Future[None] | None = None

    @classmethod
    async def connect(cls, url: str) -> Socket:
        """`url` may carry the token of the server as its user name."""
        parts = urlsplit(url)
        assert parts.hostname is not None
        assert parts.port is not None
        socket: Socket
        _, socket = await asyncio.get_running_loop().create_connection(
            cls, parts.hostname, parts.port
        )
        assert socket._transport is not None
        token = f"Authorization: Bearer {parts.username}\r\n" if parts.username else ""
        key = base64.b64encode(os.urandom(16)).decode()
        socket._transport.write(
            f"GET {parts.path} HTTP/1.1\r\nHost: {parts.hostname}:{parts.port}\r\n"
            f"{token}Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: {key}\r\n"
            "Sec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        await socket._open
        return socket

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        data = self._held + data if self._held else data
        if not self._open.done():
            head, end, data = data.partition(b"\r\n\r\n")
            if not end:
                self._held = head
                return
            assert b" 101 " in head.split(b"\r\n")[0], head
            self._open.set_result(None)
        at, size = 0, len(data)
        while size - at >= 2:
            long, start = data[at + 1], at + 2
            if long >= 126:
                start += 2 if long == 126 else 8
                long = int.from_bytes(data[at + 2 : start])
            if size < start + long:
                break
            if data[at] == 0x81:
                self._texts.append(data[start : start + long])
            at = start + long
        self._held = data[at:]
        if self._texts and self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_exception(ConnectionError("the server hung up"))

    def send(self, *texts: str) -> None:
        self.send_framed(b"".join(map(framed, texts)))

    def send_framed(self, frames: bytes) -> None:
        """Send frames that were written out before, when nobody was measuring."""
        assert self._transport is not None
        self._transport.write(frames)

    async def recv(self) -> bytes:
        while not self._texts:
            self._waiting = self._loop.create_future()
            await self._waiting
        return self._texts.popleft()

    def close(self) -> None:
        assert self._transport is not None
        self._transport.write(b"\x88\x82" + MASK + (1000).to_bytes(2))
        self._transport.close()
