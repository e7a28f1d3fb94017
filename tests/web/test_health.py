"""`/healthz` says no when the server cannot do its work, also when it cannot say anything else."""

import asyncio
import http.client
import os
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvicorn

from holdfast.app import App
from holdfast.sync.io.endpoint import ServeOptions, SyncService
from holdfast.sync.io.websocket import OriginPolicy, Receive, Scope, Send
from holdfast.web import Site, SitePart, answer
from holdfast.web.compose import site
from holdfast.web.health import HealthCheck, write_probe
from holdfast.web.watchdog import Watchdog
from tests.web.test_site import BEARER, TOKEN, ask

WAIT_S = 30


def healthy(whole: Site) -> tuple[int, list[str]]:
    """The status without a credential, and the problems that the owner is told."""
    plain = ask(whole, "GET", "/healthz")
    assert plain.json == {"ok": plain.status == 200}
    problems: list[str] = ask(whole, "GET", "/healthz", BEARER).json["problems"]
    assert ask(whole, "HEAD", "/healthz").status == plain.status
    return plain.status, problems


def served(home: Path, store: str) -> Site:
    service = SyncService(ServeOptions(store=store))
    return site(App(home=home), service, OriginPolicy(), TOKEN)


@pytest.mark.shows("SEC-HEALTH")
def test_a_home_that_cannot_be_written_is_not_healthy(tmp_path: Path) -> None:
    home, spaces = tmp_path / "home", tmp_path / "spaces"
    home.mkdir()
    spaces.mkdir()
    assert healthy(served(home, str(spaces))) == (200, [])
    home.rmdir()
    home.write_bytes(b"")  # what a damaged or foreign home looks like, also to root
    status, problems = healthy(served(home, str(spaces)))
    assert status == 503
    assert problems[0].startswith(f"home: cannot write to {home}")


@pytest.mark.shows("SEC-HEALTH")
def test_a_full_disk_is_not_healthy(tmp_path: Path) -> None:
    """On a file system of its own where the machine allows one; else /dev/full stands for it."""
    disk = tmp_path / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(disk)]
    mounted = shutil.which("mount") and subprocess.run(command, capture_output=True).returncode == 0
    if not mounted:
        with pytest.raises(OSError, match="No space left"), open("/dev/full", "wb") as full:
            full.write(bytes(4096))
        return
    try:
        write_probe(str(disk))
        with pytest.raises(OSError, match="No space left"), open(disk / "full", "wb") as full:
            full.write(bytes(1 << 20))
        with pytest.raises(OSError, match=r"cannot write to .*: No space left"):
            write_probe(str(disk))
    finally:
        subprocess.run(["umount", str(disk)], check=True)


@pytest.mark.shows("SEC-HEALTH")
def test_a_database_that_is_not_there_is_not_healthy(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    check = _checked_database(tmp_path, f"postgresql://127.0.0.1:{port}/none")
    assert "no server is listening" in check[0]


@pytest.mark.shows("SEC-HEALTH")
def test_a_database_that_never_answers_is_not_healthy(tmp_path: Path) -> None:
    """It accepts connections and stays silent: health answers within its deadline all the same."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        check = _checked_database(tmp_path, f"postgresql://127.0.0.1:{port}/none")
    assert "database" in check[0]


def _checked_database(tmp_path: Path, url: str) -> list[str]:
    from holdfast.web.health import database_probe

    check = HealthCheck({"database": lambda: database_probe(url)})
    return asyncio.run(check.problems())


@pytest.mark.shows("SEC-HEALTH")
def test_a_probe_that_hangs_is_started_once_and_delays_nobody() -> None:
    released, started = threading.Event(), []

    def hang() -> None:
        started.append(1)
        released.wait(WAIT_S)

    async def ask_often() -> list[list[str]]:
        now = iter(range(0, 1_000, 10))  # every question comes later than the last answer counts
        check = HealthCheck({"disk": hang, "other": lambda: None}, lambda: next(now), 0.01)
        return [await check.problems() for _ in range(5)]

    found = asyncio.run(ask_often())
    released.set()
    assert found == [["disk: no answer within 0.01 s"]] * 5
    assert started == [1]


@pytest.mark.shows("SEC-HEALTH")
def test_many_callers_share_one_check() -> None:
    started = []

    async def ask_at_once() -> None:
        check = HealthCheck({"disk": lambda: started.append(1)}, lambda: 0.0)
        await asyncio.gather(*(check.problems() for _ in range(50)))
        await check.problems()

    asyncio.run(ask_at_once())
    assert started == [1]


class Announced(uvicorn.Server):
    """Says when it listens."""

    def __init__(self, config: uvicorn.Config, listening: threading.Event) -> None:
        super().__init__(config)
        self._listening = listening

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._listening.set()


class Blockable:
    """A server whose loop a request can block until the test lets go."""

    def __init__(self) -> None:
        self.blocked, self.released = threading.Event(), threading.Event()
        self._listening = threading.Event()
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)
        self._thread.start()
        assert self._listening.wait(WAIT_S)

    async def _serve(self) -> None:
        parts = [SitePart("/", self._page, open=True)]
        config = uvicorn.Config(
            Site(parts, OriginPolicy(), TOKEN), lifespan="off", log_level="error"
        )
        self._server = Announced(config, self._listening)
        watchdog = Watchdog(beat_s=0.01, blocked_after=5)
        watchdog.listeners = [self._socket.dup()]
        watchdog.start()
        await self._server.serve([self._socket])
        watchdog.stop()

    async def _page(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] == "/block":
            self.blocked.set()
            self.released.wait(WAIT_S)  # what a slow query does to the loop
        await answer(send, 200, b"fine")

    def status(self) -> int:
        asking = http.client.HTTPConnection("127.0.0.1", self.port, timeout=WAIT_S)
        asking.request("GET", "/healthz")
        status = asking.getresponse().status
        asking.close()
        return status

    def stop(self) -> None:
        self.released.set()
        self._server.should_exit = True
        self._thread.join(WAIT_S)
        assert not self._thread.is_alive()


@pytest.fixture
def blockable() -> Iterator[Blockable]:
    server = Blockable()
    yield server
    server.stop()


@pytest.mark.shows("SEC-HEALTH")
def test_a_blocked_loop_is_not_healthy_and_is_again_when_it_goes_on(blockable: Blockable) -> None:
    """One slow query blocked the loop, and with it the page that should have said so."""
    assert blockable.status() == 200
    blocking = http.client.HTTPConnection("127.0.0.1", blockable.port, timeout=WAIT_S)
    blocking.request("GET", "/block")
    assert blockable.blocked.wait(WAIT_S)
    assert [blockable.status() for _ in range(3)] == [503] * 3
    blockable.released.set()
    assert blocking.getresponse().status == 200
    while blockable.status() != 200:  # the watchdog may take one more before it hears a beat
        os.sched_yield()
    blocking.close()
