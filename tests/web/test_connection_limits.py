"""Half a request keeps a connection for some seconds, and never keeps others out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
import uvicorn
from uvicorn.server import ServerState

from holdfast.sync.io.websocket import Receive, Scope, Send
from holdfast.web import answer, connection_limits
from holdfast.web.connection_limits import PromptRequests

HALF = b"GET /x HTTP/1.1\r\nHost: x\r\n"
WAIT_S = 30.0
Connect = Callable[[], Awaitable[tuple[asyncio.StreamReader, asyncio.StreamWriter]]]


@asynccontextmanager
async def served(after_s: float = 0.0) -> AsyncIterator[Connect]:
    """A server that answers after some time."""

    async def hello(scope: Scope, receive: Receive, send: Send) -> None:
        given = asyncio.Event()
        asyncio.get_running_loop().call_later(after_s, given.set)
        await given.wait()
        await answer(send, 200, b"hello")

    config = uvicorn.Config(hello, http=PromptRequests, log_level="critical", lifespan="off")
    config.load()
    state = ServerState()
    server = await asyncio.get_running_loop().create_server(
        lambda: PromptRequests(config=config, server_state=state, app_state={}), "127.0.0.1", 0
    )
    port = server.sockets[0].getsockname()[1]
    opened = []

    async def connect() -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        opened.append(await asyncio.open_connection("127.0.0.1", port))
        return opened[-1]

    try:
        yield connect
    finally:
        for _, writer in opened:
            writer.close()
        server.close()


async def ended(reader: asyncio.StreamReader) -> bool:
    try:
        return await asyncio.wait_for(reader.read(), WAIT_S) == b""
    except ConnectionResetError:
        return True


async def first_line(reader: asyncio.StreamReader) -> bytes:
    return await asyncio.wait_for(reader.readline(), WAIT_S)


@pytest.mark.shows("SEC-UNFINISHED")
def test_many_that_only_wait_drive_out_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any user of the machine could open connections until the server had no descriptor left."""
    monkeypatch.setattr(connection_limits, "UNFINISHED_MAX", 20)

    async def run() -> None:
        async with served() as connect:
            waiting = []
            for _ in range(50):
                reader, writer = await connect()
                writer.write(HALF)
                waiting.append(reader)
            reader, writer = await connect()
            writer.write(HALF + b"\r\n")
            assert b"200" in await first_line(reader), "a whole request is answered"
            for reader in waiting[:30]:
                assert await ended(reader), "the oldest are closed"

    asyncio.run(run())


@pytest.mark.shows("SEC-UNFINISHED")
@pytest.mark.parametrize("before", [b"", HALF, HALF + b"\r\n" + HALF], ids=["none", "half", "next"])
def test_a_request_that_does_not_come_is_not_waited_for(
    before: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Long enough for a whole request to arrive on a busy machine.
    monkeypatch.setattr(connection_limits, "REQUEST_S", 0.5 if b"\r\n" + HALF in before else 0.05)

    async def run() -> None:
        async with served() as connect:
            reader, writer = await connect()
            writer.write(before)
            if before.startswith(HALF + b"\r\n"):
                assert b"200" in await first_line(reader)
                try:
                    await asyncio.wait_for(reader.read(), WAIT_S)
                except ConnectionResetError:
                    return
            else:
                assert await ended(reader)

    asyncio.run(run())


def test_a_slow_answer_is_not_a_slow_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_limits, "REQUEST_S", 0.5)

    async def run() -> None:
        async with served(after_s=0.8) as connect:
            reader, writer = await connect()
            writer.write(HALF + b"\r\n")
            assert b"200" in await first_line(reader)

    asyncio.run(run())
