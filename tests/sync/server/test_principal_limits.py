"""What one principal may use together: connections, sessions, spaces, unread bytes."""

import asyncio
import os
from pathlib import Path

import pytest

from holdfast.ids import SpaceId
from holdfast.sync.io.endpoint import SPACE_IDLE_MS, ServeOptions, SyncService
from holdfast.sync.server.limits import FILES_PER_SPACE, Limits, fitted
from holdfast.sync.wire.errors import TooManySpaces
from tests.sync.peers import FLAGS, Peer, World, commit, refused, root, set_, watch


class Clocked:
    """Everything behind `/sync` on real files, with a clock that a test moves."""

    def __init__(self, store: Path, limits: Limits | None = None) -> None:
        self.now = 1_000_000
        options = ServeOptions(store=str(store), limits=limits or Limits())
        self.service = SyncService(options, now_ms=lambda: self.now)
        self.server = self.service.server

    def peer(self) -> Peer:
        peer = Peer(self)  # type: ignore[arg-type]
        peer.send({"type": "hello", "protocol": "memory/v2", "flags": FLAGS})
        return peer

    def wait_ms(self, passed: int) -> None:
        self.now += passed
        self.server.sweep()


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


@pytest.mark.shows("SEC-LIMITS")
def test_fresh_names_do_not_exhaust_file_descriptors(tmp_path: Path) -> None:
    """202 opens of fresh names took every descriptor of the server, and nothing answered."""
    limits = fitted(Limits(), 1024)
    served = Clocked(tmp_path, limits)
    before = open_files()
    peer = served.peer()
    answers = [peer.open(space=f"fresh-{number}") for number in range(202)]
    opened = [answer for answer in answers if "ok" in answer]
    assert len(opened) == limits.spaces_per_principal
    assert {refused(a)[0] for a in answers if "error" in a} == {"SpaceLimitError"}
    assert open_files() - before <= FILES_PER_SPACE * limits.spaces_per_principal
    assert len(list(tmp_path.rglob("fresh-*.sqlite"))) == len(opened), "refused names leave no file"
    assert "ok" in peer.open(space="fresh-0"), "what is open stays usable"
    asyncio.run(served.service.stop())


@pytest.mark.shows("SEC-LIMITS")
def test_a_space_without_sessions_is_closed_and_opened_again(tmp_path: Path) -> None:
    served = Clocked(tmp_path)
    peer = served.peer()
    peer.open(space="used")
    served.server.spaces[SpaceId("used")].store.transact("s", commit(1, set_("a", 1)))
    for _ in range(3):
        served.wait_ms(SPACE_IDLE_MS)
        assert list(served.server.spaces) == ["used"]
    peer.connection.disconnected()
    served.wait_ms(SPACE_IDLE_MS // 2 - 1)
    assert list(served.server.spaces) == ["used"], "its session may come back"
    served.wait_ms(SPACE_IDLE_MS)
    served.wait_ms(SPACE_IDLE_MS)
    assert not served.server.spaces
    again = served.peer()
    assert again.open(space="used")["ok"]["serverSeq"] == 1
    asyncio.run(served.service.stop())


@pytest.mark.shows("SEC-LIMITS")
def test_a_space_in_use_without_a_session_stays_open(tmp_path: Path) -> None:
    served = Clocked(tmp_path)
    space = served.server.space(SpaceId("blobs"))
    with space.pinned():
        served.wait_ms(2 * SPACE_IDLE_MS)
        assert "blobs" in served.server.spaces
    served.wait_ms(1)
    assert not served.server.spaces
    asyncio.run(served.service.stop())


@pytest.mark.shows("SEC-LIMITS")
def test_the_longest_unused_space_makes_room_for_another(tmp_path: Path) -> None:
    served = Clocked(tmp_path, Limits(spaces_open_max=2))
    for name in ("first", "second", "third"):
        served.now += 1
        served.server.space(SpaceId(name))
    assert list(served.server.spaces) == ["second", "third"]
    peer = served.peer()
    peer.open(space="second")
    peer.open(space="third")
    with pytest.raises(TooManySpaces, match="2 spaces"):
        served.server.space(SpaceId("fourth"))
    asyncio.run(served.service.stop())


@pytest.mark.shows("SEC-LIMITS")
def test_a_space_in_memory_is_never_closed() -> None:
    service = SyncService(ServeOptions(store="memory:"), now_ms=lambda: 0)
    assert service.server.limits.space_idle_ms is None
    asyncio.run(service.stop())


@pytest.mark.shows("SEC-LIMITS")
def test_connections_are_counted_by_principal() -> None:
    world = World(limits=Limits(connections_per_principal=2))
    first, _ = (world.server.connect(principal="one") for _ in range(2))
    assert "2 connections" in (world.server.crowded("one") or "")
    assert world.server.crowded("another") is None
    first.disconnected()
    first.disconnected()
    assert world.server.crowded("one") is None
    world.close()


@pytest.mark.shows("SEC-LIMITS")
def test_sessions_are_counted_also_without_a_connection() -> None:
    world = World(limits=Limits(sessions_per_principal=3))
    peers = [world.peer(f"s{number}") for number in range(3)]
    for peer in peers:
        peer.connection.disconnected()
    late = world.peer()
    assert refused(late.open("s3"))[0] == "SessionLimitError"
    assert "ok" in late.open("s2", token=peers[2].token), "one that exists may be resumed"
    world.now += 30_000
    world.server.sweep()
    assert "ok" in late.open("s3")
    world.close()


@pytest.mark.shows("SEC-LIMITS")
def test_unread_bytes_of_all_connections_count_together() -> None:
    world = World(limits=Limits(unread_bytes_per_principal=6_000))
    writer = Peer(world)
    writer.hello()
    writer.open("w")
    readers = [Peer(world) for _ in range(3)]
    for number, reader in enumerate(readers):
        reader.hello()
        reader.open(f"r{number}")
        reader.watch_set(watch("w", root("a")))
    for number in range(4):
        writer.transact(set_("a", f"{number}" + "x" * 1_000))
        world.server.flush()
        writer.drain()
    assert writer.connection.closing is None, "it reads"
    closed = [reader for reader in readers if reader.connection.closing is not None]
    assert closed, "none of them read"
    assert "SlowConsumerError" in str(closed[0].connection.closing)
    for reader in readers:
        reader.connection.disconnected()
    assert world.server.usages[""].unread_bytes == writer.connection.unread == 0
    world.close()


@pytest.mark.shows("SEC-LIMITS")
@pytest.mark.parametrize("files", [64, 256, 1024, 4096, 65_536])
def test_the_limits_fit_the_file_descriptors_there_are(files: int) -> None:
    limits = fitted(Limits(), files)
    needed = limits.connections_per_principal + limits.spaces_open_max * FILES_PER_SPACE
    assert needed <= files * 3 // 4
    assert 1 <= limits.spaces_per_principal <= limits.spaces_open_max
