"""The client against real sockets: frames that are too large, servers that speak something else."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.server import ServerConnection, serve

import holdfast
from holdfast.store.errors import InvalidValue
from holdfast.sync.client.errors import CapabilityMissing, CommitRefused
from holdfast.sync.io.aio import Attempts
from holdfast.sync.server.limits import Limits
from holdfast.sync.wire.errors import ProtocolError
from tests.scale import size
from tests.sync.live import TOKEN, serving

SPACE = "did:key:z6Mk-hard"
SOON_S = 20
SMALL = Limits(message_bytes_max=100_000, frame_bytes_max=200_000)


@pytest.fixture(autouse=True)
def _the_token_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDFAST_TOKEN", TOKEN)


@pytest.mark.shows("SYNC-TOO-LARGE")
@pytest.mark.parametrize("size", [150_000, 5_000_000])
@pytest.mark.parametrize("handover", [True, False])
def test_what_a_server_does_not_read_is_refused_once_and_its_neighbours_land(
    tmp_path: Path, size: int, handover: bool
) -> None:
    """Above the message limit the server answers; above the frame limit it closes with 1009."""

    async def main(url: str) -> None:
        async with holdfast.connect(url, SPACE) as space:
            await space.put("of:a", {"value": 0})
            large, *small = await asyncio.gather(
                space.put("of:large", {"value": "x" * size}),
                *(space.put(f"of:{n}", {"value": n}) for n in range(20)),
                return_exceptions=True,
            )
            assert isinstance(large, CommitRefused)
            assert large.name == "MessageTooLargeError"
            assert not any(isinstance(one, BaseException) for one in small), small
            assert space.read("of:large") is None
            assert space.link.client.connections == (1 if size < 200_000 else 2)

    with serving(str(tmp_path), limits=SMALL, handover=handover) as server:
        asyncio.run(asyncio.wait_for(main(server.url), SOON_S * 2))


@pytest.mark.shows("SYNC-UNSENDABLE")
def test_a_bad_value_is_refused_with_and_without_a_loop(tmp_path: Path) -> None:
    with serving(str(tmp_path)) as server, holdfast.connect(server.url, SPACE) as space:
        with pytest.raises(InvalidValue, match="/value"):
            space.put("of:a", {"value": float("nan")}, timeout_s=SOON_S)
        with pytest.raises(InvalidValue, match="/value/x"), space.transaction() as tx:
            tx.write_value("of:a", ["x"], b"bytes")
        assert space.put("of:a", {"value": 1}, timeout_s=SOON_S).seq == 1
        assert space.pending == 0
        space.close()  # the block closes it again


@contextmanager
def speaking(handler: Callable[[ServerConnection], None]) -> Iterator[str]:
    """A server that says what it is told to."""
    with serve(handler, "127.0.0.1", 0) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"ws://127.0.0.1:{server.socket.getsockname()[1]}/sync"
        finally:
            server.shutdown()
            thread.join(SOON_S)


@pytest.mark.shows("SYNC-NEWER-PEER")
@pytest.mark.parametrize(
    "answer",
    [
        'fvj1:{"type":"hello.ok","protocol":"memory"}',
        '{"type":"hello.ok","protocol":"memory","flags":{"modernCellRep":true}}',
        '{"type":"welcome"}',
    ],
)
def test_a_newer_server_is_named_at_once(answer: str) -> None:
    connections: list[object] = []

    def newer(socket: ServerConnection) -> None:
        connections.append(socket)
        socket.recv()
        socket.send(answer)
        for _ in socket:
            pass

    with speaking(newer) as url:
        with pytest.raises(ProtocolError, match="memory/v2") as refusal:
            holdfast.connect(url, SPACE, timeout_s=SOON_S).open_blocking()
        assert "newer" in refusal.value.hint
    assert len(connections) == 1


@pytest.mark.shows("SYNC-NOT-AGREED")
def test_a_server_of_the_first_version_is_not_asked_to_leave_a_space_unmade() -> None:
    def first_version(socket: ServerConnection) -> None:
        hello = socket.recv()
        assert isinstance(hello, str)
        flags = hello[hello.index('"flags":') : hello.index("}") + 1]
        socket.send(f'{{"type":"hello.ok","protocol":"memory/v2",{flags}}}')
        for frame in socket:
            raise AssertionError(frame)

    with speaking(first_version) as url, pytest.raises(CapabilityMissing, match="existing"):
        holdfast.connect(url, SPACE, create=False, timeout_s=SOON_S).open_blocking()


@pytest.mark.shows("SYNC-UPDATE")
def test_an_update_is_tried_until_its_deadline() -> None:
    now = [0.0]
    conflict = CommitRefused("ConflictError", "stale")
    attempts = Attempts(30.0, lambda: now[0], lambda: 1.0)
    waits: list[float] = []

    def until_the_end() -> None:
        while True:
            waits.append(attempts.wait_s(conflict))
            now[0] += waits[-1] + 0.01

    with pytest.raises(CommitRefused):
        until_the_end()
    assert waits[:4] == [0.0, 0.004, 0.008, 0.016]
    assert max(waits) == 0.5
    assert len(waits) > 50
    assert now[0] < 30
    with pytest.raises(CommitRefused):
        Attempts(30.0, lambda: 0.0, lambda: 0.0).wait_s(CommitRefused("TransactionError", "no"))


@pytest.mark.shows("SYNC-UPDATE")
@pytest.mark.parametrize("with_a_loop", [False, True])
def test_an_update_of_a_document_that_is_not_watched_sees_what_others_wrote(
    tmp_path: Path, with_a_loop: bool
) -> None:
    """It repeated the same conflict until its deadline."""

    def increment(tx: Any) -> None:
        tx.write_value("of:n", [], tx.get("of:n", [], 0) + 1)

    async def with_loop(url: str) -> None:
        async with holdfast.connect(url, SPACE) as space:
            await space.update(increment, timeout_s=SOON_S)
            assert space.read("of:n") == {"value": 42}

    with serving(str(tmp_path)) as server:
        with holdfast.connect(server.url, SPACE) as other:
            other.put("of:n", {"value": 41})
        if with_a_loop:
            asyncio.run(asyncio.wait_for(with_loop(server.url), SOON_S))
        else:
            with holdfast.connect(server.url, SPACE) as space:
                space.update(increment, timeout_s=SOON_S)
                assert space.read("of:n") == {"value": 42}


@pytest.mark.shows("SYNC-UPDATE")
def test_many_writers_of_one_counter_all_get_their_turn(tmp_path: Path) -> None:
    """Each gave up after losing five races."""
    writers = size(12, 8)

    async def one(url: str) -> None:
        async with holdfast.connect(url, SPACE) as space:
            await space.sync("of:n")

            def increment(tx: Any) -> None:
                tx.write_value("of:n", [], tx.get("of:n", [], 0) + 1)

            for _ in range(5):
                await space.update(increment, timeout_s=SOON_S)

    async def main(url: str) -> None:
        await asyncio.gather(*(one(url) for _ in range(writers)))
        async with holdfast.connect(url, SPACE) as space:
            assert await space.sync("of:n") == {"value": 5 * writers}

    with serving(str(tmp_path)) as server:
        asyncio.run(asyncio.wait_for(main(server.url), SOON_S * 3))
