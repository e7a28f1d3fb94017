"""A team's server that answers slowly, in part or not at all costs a bounded time."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress

import pytest

from holdfast.index.shared.cached_rows import AWAY_S, AWAY_TIMES, CachedRows
from holdfast.index.shared.http import VERSION_HEADER, HttpShared
from holdfast.index.shared.rows import Seal
from holdfast.index.shared.store import SHARED_VERSION, SharedUnavailable
from tests.index.shared.team import MemoryRows

HEAD = f"HTTP/1.1 200 OK\r\n{VERSION_HEADER}: {SHARED_VERSION}\r\n".encode()
EMPTY_LIST = b"\x90"
DEADLINE_S = 0.5
PATIENCE_S = 10.0


@contextmanager
def server(answer: Callable[[socket.socket], None]) -> Iterator[str]:
    """A server of which every connection is answered by `answer`."""
    stopping = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(0.1)

        def serve() -> None:
            while not stopping.is_set():
                with suppress(OSError):
                    connection, _ = listening.accept()
                    with connection:
                        connection.recv(65536)
                        answer(connection)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        stopping.set()
        thread.join(PATIENCE_S)


def asked(url: str) -> frozenset[bytes]:
    with closing(HttpShared(url, "t", DEADLINE_S)) as store:
        return store.has([b"k"])


def drip(data: bytes) -> Callable[[socket.socket], None]:
    """Sends a byte now and then, for much longer than the deadline."""

    def answer(connection: socket.socket) -> None:
        until = time.monotonic() + PATIENCE_S
        for number in range(len(data) + 10_000):
            connection.sendall(data[number : number + 1] or EMPTY_LIST)
            if number > len(data) - 5:
                time.sleep(0.1)
            if time.monotonic() > until:
                return

    return answer


@pytest.mark.shows("TEAM-WORK-ALONE")
@pytest.mark.parametrize(
    "answer",
    [
        drip(HEAD + b"Content-Length: 9000\r\n\r\n"),
        drip(b"HTTP/1.1 200 OK\r\nX: y"),
        lambda connection: time.sleep(3),
    ],
    ids=["body", "headers", "nothing"],
)
def test_a_server_that_sends_a_byte_now_and_then_is_given_up(
    answer: Callable[[socket.socket], None],
) -> None:
    with server(answer) as url:
        begun = time.monotonic()
        with pytest.raises(SharedUnavailable, match="timed out"):
            asked(url)
        assert time.monotonic() - begun < PATIENCE_S / 2


@pytest.mark.shows("TEAM-WORK-ALONE")
def test_an_answer_that_was_cut_off_is_none() -> None:
    """What arrived of it can be an answer by itself: that the team has nothing."""
    part = HEAD + b"Content-Length: 5000\r\n\r\n" + EMPTY_LIST
    with (
        server(lambda c: c.sendall(part)) as url,
        pytest.raises(SharedUnavailable, match="cut off"),
    ):
        asked(url)
    whole = HEAD + b"Content-Length: 1\r\n\r\n" + EMPTY_LIST
    with server(lambda c: c.sendall(whole)) as url:
        assert asked(url) == frozenset()


@pytest.mark.shows("TEAM-GENERATION-TAKEN")
def test_a_server_that_failed_is_left_alone_for_a_while() -> None:
    """Each request to a frozen server costs its deadline, and one answer may need many."""
    remote, now = MemoryRows(), [100.0]
    seal = Seal()
    remote.rows[b"k"] = seal.close(b"k", b"value")
    rows = CachedRows(MemoryRows(), remote, seal, lambda: now[0])
    remote.fails = "frozen"
    assert rows.get([b"k"]) == {}
    remote.fails = ""
    assert rows.get([b"k"]) == {}, "not asked"
    assert remote.asked == 0
    now[0] += AWAY_S
    assert bytes(rows.get([b"k"])[b"k"]) == b"value"


@pytest.mark.shows("TEAM-GENERATION-TAKEN")
def test_a_server_is_left_alone_the_longer_the_longer_its_failure_took() -> None:
    """With a frozen server, 20 seconds of each 50 were spent waiting for it."""
    now = [100.0]

    class Slow(MemoryRows):
        def _maybe_fail(self) -> None:
            now[0] += 20.0
            super()._maybe_fail()

    remote, seal = Slow(), Seal()
    remote.rows[b"k"] = seal.close(b"k", b"value")
    rows = CachedRows(MemoryRows(), remote, seal, lambda: now[0])
    remote.fails = "frozen"
    assert rows.get([b"k"]) == {}
    remote.fails = ""
    now[0] += 20.0 * AWAY_TIMES - 1
    assert rows.get([b"k"]) == {}, "not asked"
    now[0] += 1
    assert bytes(rows.get([b"k"])[b"k"]) == b"value"
