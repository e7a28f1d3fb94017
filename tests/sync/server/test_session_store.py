"""Sessions that survive the server."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from holdfast.ids import SessionId, SpaceId
from holdfast.store.graph import Limits as GraphLimits
from holdfast.sync.server.session_store import (
    FORMAT,
    SessionFile,
    SessionKeeper,
    recorded,
    restored,
)
from holdfast.sync.server.sessions import public_name
from tests.sync.peers import SPACE, Peer, World, link, root, set_, upserts, watch


class Kept:
    """A world whose server can be killed and started again over the same files."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self.now: Callable[[], int] = lambda: 0
        self.keeper = self.opened()
        self.world = World(str(home / "spaces"), keeper=self.keeper)
        self.now = lambda: self.world.now

    def opened(self) -> SessionKeeper:
        rows = SessionFile(self._home / "sessions.db")
        return SessionKeeper(rows, GraphLimits(), lambda: self.now())

    def crash(self) -> None:
        """Whatever was not saved is gone; nobody is told."""
        self.keeper.close()
        self.keeper = self.opened()
        self.world.start(keeper=self.keeper)

    def save(self) -> None:
        self.keeper.save()


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Kept]:
    made = Kept(tmp_path)
    yield made
    made.keeper.close()
    made.world.close()


@pytest.mark.shows("SYNC-KEPT", "W14")
def test_a_session_is_resumed_after_the_server_was_killed(kept: Kept) -> None:
    world = kept.world
    peer = world.peer("A")
    peer.transact(set_("a", link("b")), set_("b", 1), set_("c", 1))
    peer.watch_set(watch("w", root("a", True)))
    kept.save()
    kept.crash()
    world.commit("elsewhere", 1, set_("a", link("c")))
    back = world.peer()
    answer = back.open("A", token=peer.token, seen=1)["ok"]
    assert answer["resumed"] is True
    assert answer["sessionToken"] != peer.token
    assert upserts(answer["sync"]) == [("a", 2), ("c", 1)]
    assert answer["sync"]["removes"] == [{"branch": "", "id": "b"}]
    back.transact(set_("c", 2), local_seq=2)
    world.server.flush()
    assert [upserts(sync) for sync in back.effects()] == [[("c", 3)]]


@pytest.mark.shows("SYNC-KEPT")
def test_what_was_sent_after_the_last_save_is_at_worst_sent_again(kept: Kept) -> None:
    world = kept.world
    peer = world.peer("A", capabilities=["coverage"])
    peer.watch_set(watch("w", root("a")))
    kept.save()
    peer.transact(set_("a", 1))
    world.server.flush()
    peer.drain()
    kept.crash()
    back = Peer(world)
    back.hello(["coverage"])
    answer = back.open("A", token=peer.token, seen=1)["ok"]
    assert answer["resumed"] is True
    assert upserts(answer["sync"]) == [("a", 1)]


@pytest.mark.shows("SYNC-KEPT")
def test_watches_and_tokens_are_kept_before_the_client_hears_of_them(kept: Kept) -> None:
    world = kept.world
    first = world.peer("A")
    first.watch_set(watch("w", root("a")))
    second = world.peer("A", token=first.token)
    kept.crash()
    answer = world.peer().open("A", token=second.token)["ok"]
    assert answer["resumed"] is True


@pytest.mark.shows("SYNC-KEPT-TOKEN")
def test_another_token_starts_afresh_and_reveals_nothing(kept: Kept) -> None:
    world = kept.world
    peer = world.peer("A")
    peer.watch_set(watch("w", root("a")))
    world.peer("A", token=peer.token)
    kept.crash()
    answer = world.peer().open("A", token=peer.token)["ok"]
    assert "resumed" not in answer
    assert "sync" not in answer


@pytest.mark.shows("SYNC-KEPT-TOKEN")
def test_the_token_itself_is_not_kept(kept: Kept, tmp_path: Path) -> None:
    peer = kept.world.peer("A")
    kept.save()
    kept.keeper.close()
    found = b"".join(path.read_bytes() for path in tmp_path.glob("sessions.db*"))
    assert peer.token.encode() not in found
    assert b"tokenDigest" in found
    kept.keeper = kept.opened()


@pytest.mark.shows("SYNC-KEPT")
def test_a_detached_session_is_kept_no_longer_than_its_time(kept: Kept) -> None:
    world = kept.world
    peer = world.peer("A")
    peer.connection.disconnected()
    kept.save()
    kept.crash()
    world.now += 30_000
    answer = world.peer().open("A", token=peer.token)["ok"]
    assert "resumed" not in answer


def test_a_session_of_another_principal_is_not_handed_over_after_a_restart(tmp_path: Path) -> None:
    keeper = SessionKeeper(SessionFile(tmp_path / "s.db"), GraphLimits(), lambda: 0)
    named: dict[str, Any] = {"authorize": lambda space, request, proof: request.authorization}
    world = World(keeper=keeper, **named)
    peer = world.peer("A", authorization="alice")
    peer.watch_set(watch("w", root("a")))
    keeper.save()
    world.start(keeper=keeper, **named)
    answer = world.peer().open("A", token=peer.token, authorization="bob")["ok"]
    assert "resumed" not in answer
    keeper.close()
    world.close()


GOLDEN = {
    1: '{"format":1,"principal":"alice","tokenDigest":"d","seenSeq":3,"syncedSeq":4,'
    '"watches":[{"id":"w","kind":"graph","query":{"roots":[{"id":"a","selector":'
    '{"path":[],"schema":{"/object":{"/x":true}}}}]}}],'
    '"known":[["","a",4,false,4]],"removed":[["draft","b",5]]}',
}
"""Format -> a session as it is kept in that format."""


@pytest.mark.shows("SYNC-KEPT-FORMAT")
def test_what_is_kept_cannot_change_shape_without_a_new_format() -> None:
    space, id = SpaceId("did:key:z"), SessionId("S")
    session = restored(space, id, GOLDEN[FORMAT], GraphLimits())
    assert session is not None
    assert session.watched.watches["w"].query["roots"][0]["selector"]["schema"] == {"/x": True}
    assert recorded(session) == GOLDEN[FORMAT]
    assert restored(space, id, '{"format":0}', GraphLimits()) is None


@pytest.mark.shows("SYNC-KEPT")
@pytest.mark.parametrize("heard", [True, False])
def test_a_session_that_another_server_took_over_is_not_written_by_the_first(
    kept: Kept, tmp_path: Path, heard: bool
) -> None:
    """What the first server had still to save went over what the second had written, and the
    client could not resume there after a restart."""
    world = kept.world
    here, writer = world.peer("S"), world.peer("writer")
    others = [world.peer(f"other-{number}") for number in range(100)]
    for peer in (here, *others):
        peer.watch_set(watch("w", root("a")))
    writer.transact(set_("a", 1))
    world.server.flush()  # something to save, when there is time
    other = World(str(tmp_path / "spaces"), keeper=kept.opened())
    other.peer("another")
    there = other.peer()
    assert there.open("S", token=here.token, seen=0)["ok"]["resumed"] is True
    assert there.token != here.token
    if heard:
        world.server.lost_elsewhere(public_name(SpaceId(SPACE), SessionId("S")))
    here.connection.disconnected()
    kept.save()
    other.start(keeper=kept.opened())  # the second server dies, and comes back
    assert other.peer().open("S", token=there.token, seen=1)["ok"]["resumed"] is True
    for number, peer in enumerate(others):
        back = other.peer().open(f"other-{number}", token=peer.token)["ok"]
        assert back["resumed"] is True
        assert "sync" not in back, "what was sent was saved"
    other.close()


@pytest.mark.shows("SYNC-KEPT")
def test_a_late_save_does_not_undo_what_was_kept_at_once(kept: Kept) -> None:
    """The save was taken before a watch was added and written after it: the client had been told
    that it watches, and after a crash nobody knew."""
    world = kept.world
    peer, writer = world.peer("S"), world.peer("writer")
    peer.watch_set(watch("w", root("a")))
    writer.transact(set_("a", 1), set_("b", 1))
    world.server.flush()
    taken = kept.keeper.take()
    peer.watch_add(watch("v", root("b")))
    kept.keeper.write(taken)
    kept.crash()
    world.commit("elsewhere", 1, set_("b", 2))
    answer = world.peer().open("S", token=peer.token, seen=1)["ok"]
    assert answer["resumed"] is True
    assert upserts(answer["sync"]) == [("b", 2)]


def test_several_sessions_are_renewed_together(tmp_path: Path) -> None:
    """Each row stands or falls by its own token, though they are written in one statement."""

    def row(n: int, until: int, token: str) -> tuple[str, str, int, str]:
        return (SPACE, f"s{n}", until, json.dumps({"tokenDigest": token * 64, "n": until}))

    rows = SessionFile(tmp_path / "sessions.db")
    try:
        rows.put([row(n, 100, "a") for n in range(3)])
        rows.renew([row(0, 200, "a"), row(1, 200, "b"), row(2, 200, "a")])
        assert rows.get(SPACE, "s0") == row(0, 200, "a")
        assert rows.get(SPACE, "s1") == row(1, 100, "a"), "another's by now"
        assert rows.get(SPACE, "s2") == row(2, 200, "a")
    finally:
        rows.close()
