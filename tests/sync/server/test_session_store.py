"""Sessions that survive the server."""

import json
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from holdfast.ids import SessionId, SpaceId
from holdfast.store.graph import GraphLimits
from holdfast.sync.server.session_registry import public_name
from holdfast.sync.server.session_rows import SessionFile, SessionRows, SessionTable
from holdfast.sync.server.session_store import FORMAT, SessionStore, recorded, restored
from tests.sync.peers import (
    SPACE,
    Peer,
    World,
    commit,
    link,
    refused,
    root,
    set_,
    upserts,
    watch,
)


class Kept:
    """A world whose server can be killed and started again over the same sessions."""

    def __init__(self, home: Path, rows: Callable[[], SessionRows]) -> None:
        self._home, self._rows = home, rows
        self._keepers: list[SessionStore] = []
        self.now: Callable[[], int] = lambda: 0
        self.session_store = self.opened()
        self.world = World(str(home / "spaces"), session_store=self.session_store)
        self.now = lambda: self.world.now

    def opened(self) -> SessionStore:
        self._keepers.append(SessionStore(self._rows(), GraphLimits(), lambda: self.now()))
        return self._keepers[-1]

    def another(self) -> World:
        """A second server over the same spaces and sessions."""
        world = World(str(self._home / "spaces"), session_store=self.opened())
        world.now, world.numbers = self.world.now, count(1_000)
        return world

    def close(self) -> None:
        for session_store in self._keepers:
            session_store.close()
        self.world.close()

    def crash(self) -> None:
        """Whatever was not saved is gone; nobody is told."""
        self.session_store.close()
        self.session_store = self.opened()
        self.world.start(session_store=self.session_store)

    def save(self) -> None:
        self.session_store.save()


@pytest.fixture(params=["sqlite", "postgres"])
def rows(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], SessionRows]:
    """Opens the stored sessions: a file, or a table of a real PostgreSQL."""
    if request.param == "sqlite":
        return lambda: SessionFile(tmp_path / "sessions.db")
    url = request.getfixturevalue("postgres").url
    table = SessionTable(url, "clearing")
    table.sweep(2**53 + 1)
    table.close()
    return lambda: SessionTable(url, "node")


@pytest.fixture
def kept(tmp_path: Path, rows: Callable[[], SessionRows]) -> Iterator[Kept]:
    made = Kept(tmp_path, rows)
    yield made
    made.close()


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
    answer = back.open("A", token=peer.token, seen=0)["ok"]
    assert answer["resumed"] is True
    assert upserts(answer["sync"]) == [("a", 1)]


@pytest.mark.shows("SYNC-KEPT", "SYNC-KEPT-BEHIND")
def test_a_client_that_has_more_than_was_stored_starts_anew(kept: Kept) -> None:
    """It had been sent `b` after the last save. When `a` linked to it no more, the server did not
    know that the client had it, and it was neither updated nor removed there."""
    world = kept.world
    peer = world.peer("A", capabilities=["coverage"])
    peer.watch_set(watch("w", root("a", True)))
    kept.save()
    peer.transact(set_("a", link("b")), set_("b", 1))
    world.server.flush()
    (effect,) = peer.effects()
    assert upserts(effect) == [("a", 1), ("b", 1)]
    kept.crash()
    world.commit("elsewhere", 1, set_("a", 2))
    back = world.peer(capabilities=["coverage"])
    answer = back.open("A", token=peer.token, seen=1)["ok"]
    assert "resumed" not in answer, "so that its client sets its watches again"
    back.connection.disconnected()  # the answer was lost, and the client presents what it has
    back = world.peer(capabilities=["coverage"])
    assert "resumed" not in back.open("A", token=peer.token, seen=1)["ok"]
    assert upserts(back.watch_set(watch("w", root("a", True)))["ok"]["sync"]) == [("a", 2)]
    kept.save()
    kept.crash()
    last = world.peer(capabilities=["coverage"])
    assert last.open("A", token=back.token, seen=2)["ok"]["resumed"] is True


@pytest.mark.shows("SYNC-KEPT")
def test_watches_and_tokens_are_kept_before_the_client_hears_of_them(kept: Kept) -> None:
    world = kept.world
    first = world.peer("A")
    first.watch_set(watch("w", root("a")))
    second = world.peer("A", token=first.token)
    kept.crash()
    answer = world.peer().open("A", token=second.token)["ok"]
    assert answer["resumed"] is True


@pytest.mark.shows("SYNC-KEPT-TOKEN", "SYNC-ONE-OWNER")
@pytest.mark.parametrize("capabilities", [None, ["coverage"]])
def test_after_a_restart_a_session_opens_with_its_current_token_only(
    kept: Kept, capabilities: list[str] | None
) -> None:
    """Without its token anyone got a fresh session of that id, and both wrote under it."""
    world = kept.world
    peer = world.peer("A", capabilities=capabilities)
    peer.watch_set(watch("w", root("a")))
    owner = world.peer("A", token=peer.token, capabilities=capabilities)
    owner.transact(set_("a", 1))
    kept.save()
    kept.crash()
    for token in (None, "guessed", peer.token):
        answer = world.peer(capabilities=capabilities).open("A", token=token)
        assert refused(answer)[0] == "SessionRevokedError"
    back = world.peer("A", token=owner.token, capabilities=capabilities)
    assert back.transact(set_("a", 2), local_seq=2)["ok"]["seq"] == 2


@pytest.mark.shows("SYNC-ONE-OWNER")
def test_a_live_session_is_not_taken_at_another_server_without_its_token(kept: Kept) -> None:
    """The other server gave out a fresh session, and the owner got `commit replay mismatch`."""
    owner = kept.world.peer("A", capabilities=["coverage"])
    other = kept.another()
    for token in (None, "guessed"):
        answer = other.peer(capabilities=["coverage"]).open("A", token=token)
        assert refused(answer)[0] == "SessionRevokedError"
    assert owner.transact(set_("a", 1))["ok"]["seq"] == 1
    other.close()


@pytest.mark.shows("SYNC-ONE-OWNER")
def test_of_two_servers_that_open_a_session_at_once_one_has_it(
    rows: Callable[[], SessionRows],
) -> None:
    one, other = rows(), rows()

    def row(token: str, until: int = 100) -> tuple[str, str, int, str]:
        return (SPACE, "S", until, json.dumps({"tokenDigest": token * 64}, separators=(",", ":")))

    try:
        assert one.claim(row("a"), None, 0)
        assert not other.claim(row("b"), None, 0), "there is one already"
        assert other.claim(row("c"), "a" * 64, 0)
        assert not one.claim(row("d"), "a" * 64, 0), "the token has changed"
        assert one.get(SPACE, "S") == row("c")
        assert one.claim(row("e", 200), None, 100), "its time was over"
        assert one.claim(row("f"), None, 200)
    finally:
        one.close()
        other.close()


@pytest.mark.shows("SYNC-ONE-OWNER")
def test_a_takeover_that_was_not_heard_of_is_noticed(kept: Kept) -> None:
    """By a look at the stored sessions, or at the next open with the token of then."""
    here = kept.world.peer("A", capabilities=["coverage"])
    other = kept.another()
    there = other.peer("A", token=here.token, capabilities=["coverage"])
    late = kept.world.peer(capabilities=["coverage"])
    assert refused(late.open("A", token=here.token))[0] == "SessionRevokedError"
    assert [frame["type"] for frame in here.drain()] == ["session/revoked"]
    again = kept.world.peer("A", token=there.token, capabilities=["coverage"])
    other.server.registry.check(other.now)
    assert [frame["type"] for frame in there.drain()] == ["session/revoked"]
    assert refused(there.transact(set_("a", 1)))[0] == "SessionError"
    kept.world.server.registry.check(0)
    assert again.transact(set_("a", 1))["ok"]["seq"] == 1
    other.close()


@pytest.mark.shows("SYNC-ONE-WRITER")
@pytest.mark.parametrize("command", ["transact", "branch.create", "session.ack", "graph.query"])
def test_after_an_unannounced_takeover_the_former_owner_can_do_nothing(
    kept: Kept, command: str
) -> None:
    """Until the first server was notified, both owners wrote under one session."""
    here = kept.world.peer("A", capabilities=["coverage", "branches"])
    assert here.transact(set_("a", 1))["ok"]["seq"] == 1
    other = kept.another()
    there = other.peer("A", token=here.token, capabilities=["coverage", "branches"])
    all_members: dict[str, dict[str, Any]] = {
        "transact": {"commit": commit(2, set_("a", 2))},
        "branch.create": {"localSeq": 2, "name": "draft"},
        "session.ack": {"seenSeq": 1},
        "graph.query": {"query": {"roots": [root("a")]}},
    }
    revoked, answer = here.send(here.command(command, **all_members[command]))
    assert (revoked["type"], revoked["reason"]) == ("session/revoked", "taken-over")
    assert refused(answer)[0] == "SessionError"
    assert there.transact(set_("a", 3), local_seq=2)["ok"]["seq"] == 2
    assert there.transact(set_("a", 4), local_seq=3)["ok"]["seq"] == 3
    other.close()


@pytest.mark.shows("SYNC-ONE-WRITER")
def test_a_row_that_is_gone_or_renewed_by_its_own_server_takes_nothing_away(kept: Kept) -> None:
    world = kept.world
    peer, other = world.peer("A"), world.peer("B")
    kept.save()
    peer.watch_set(watch("w", root("a")))
    assert other.transact(set_("a", 1))["ok"]["seq"] == 1
    swept = kept.opened()
    swept._rows.sweep(2**52)
    assert peer.transact(set_("b", 1))["ok"]["seq"] == 2


@pytest.mark.shows("SYNC-ONE-OWNER", "SYNC-LOST-OPEN")
def test_a_client_whose_answer_was_lost_in_a_crash_presents_its_token_again(kept: Kept) -> None:
    world = kept.world
    peer = world.peer("A", capabilities=["coverage"])
    peer.transact(set_("a", 1))
    world.peer("A", token=peer.token, capabilities=["coverage"])  # the answer never arrives
    kept.crash()
    answer = world.peer(capabilities=["coverage"]).open("A", token=peer.token)["ok"]
    assert answer["resumed"] is True


@pytest.mark.shows("SYNC-ONE-OWNER", "SYNC-KEPT")
def test_a_session_that_is_too_large_to_keep_keeps_its_owner(
    kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.sync.server.session_store.KNOWN_MAX", 1)
    world = kept.world
    peer = world.peer("A")
    peer.watch_set(watch("w", root("a"), root("b")))
    kept.save()
    kept.crash()
    assert refused(world.peer().open("A"))[0] == "SessionRevokedError"
    answer = world.peer().open("A", token=peer.token)["ok"]
    assert "resumed" not in answer, "its client sets its watches again"
    assert "sync" not in answer


@pytest.mark.shows("SYNC-ONE-OWNER", "SYNC-KEPT")
def test_a_session_with_an_owner_stays_stored_however_quiet_it_is(kept: Kept) -> None:
    world = kept.world
    world.peer("A")
    for _ in range(3):
        world.now += 20 * 60 * 60 * 1000
        world.server.sweep()
        kept.save()
    other = kept.another()
    assert refused(other.peer().open("A"))[0] == "SessionRevokedError"
    other.close()


@pytest.mark.shows("SYNC-KEPT-TOKEN")
def test_the_token_itself_is_not_kept(tmp_path: Path) -> None:
    kept = Kept(tmp_path, lambda: SessionFile(tmp_path / "sessions.db"))
    peer = kept.world.peer("A")
    kept.save()
    kept.session_store.close()
    found = b"".join(path.read_bytes() for path in tmp_path.glob("sessions.db*"))
    assert peer.token.encode() not in found
    assert b"tokenDigest" in found
    kept.close()


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
    session_store = SessionStore(SessionFile(tmp_path / "s.db"), GraphLimits(), lambda: 0)
    named: dict[str, Any] = {"authorize": lambda space, request, proof: request.authorization}
    world = World(session_store=session_store, **named)
    peer = world.peer("A", authorization="alice")
    peer.watch_set(watch("w", root("a")))
    session_store.save()
    world.start(session_store=session_store, **named)
    answer = world.peer().open("A", token=peer.token, authorization="bob")
    assert refused(answer)[0] == "AuthorizationError"
    session_store.close()
    world.close()


GOLDEN = {
    2: '{"format":2,"principal":"alice","tokenDigest":"d","presentedDigest":"p","proven":true,'
    '"seenSeq":3,"syncedSeq":4,'
    '"watches":[{"id":"w","kind":"graph","query":{"roots":[{"id":"a","selector":'
    '{"path":[],"schema":{"/object":{"/x":true}}}}]}}],'
    '"known":[["","a",4,false,4]],"removed":[["draft","b",5]]}',
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
    assert session.watch_set.watches["w"].query["roots"][0]["selector"]["schema"] == {"/x": True}
    assert recorded(session) == GOLDEN[FORMAT]
    assert restored(space, id, '{"format":0}', GraphLimits()) is None
    old = restored(space, id, GOLDEN[1], GraphLimits())
    assert old is not None
    assert (old.proven, old.presented_digest) == (True, None), "its token alone opens it"


@pytest.mark.shows("SYNC-KEPT")
@pytest.mark.parametrize("heard", [True, False])
def test_a_session_that_another_server_took_over_is_not_written_by_the_first(
    kept: Kept, heard: bool
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
    other = kept.another()
    other.peer("another")
    there = other.peer()
    assert there.open("S", token=here.token, seen=0)["ok"]["resumed"] is True
    assert there.token != here.token
    if heard:
        world.server.registry.lose(public_name(SpaceId(SPACE), SessionId("S")))
    here.connection.disconnected()
    kept.save()
    other.start(session_store=kept.opened())  # the second server dies, and comes back
    assert other.peer().open("S", token=there.token, seen=0)["ok"]["resumed"] is True
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
    taken = kept.session_store.take()
    peer.watch_add(watch("v", root("b")))
    kept.session_store.write(taken)
    kept.crash()
    world.commit("elsewhere", 1, set_("b", 2))
    answer = world.peer().open("S", token=peer.token, seen=1)["ok"]
    assert answer["resumed"] is True
    assert upserts(answer["sync"]) == [("b", 2)]


def test_several_sessions_are_renewed_together(rows: Callable[[], SessionRows]) -> None:
    """Each row stands or falls by its own token, though they are written in one statement."""

    def row(n: int, until: int, token: str) -> tuple[str, str, int, str]:
        return (SPACE, f"s{n}", until, json.dumps({"tokenDigest": token * 64, "n": until}))

    stored = rows()
    try:
        for n in range(3):
            assert stored.claim(row(n, 100, "a"), None, 0)
        stored.renew([row(0, 200, "a"), row(1, 200, "b"), row(2, 200, "a")])
        assert stored.get(SPACE, "s0") == row(0, 200, "a")
        assert stored.get(SPACE, "s1") == row(1, 100, "a"), "another's by now"
        assert stored.get(SPACE, "s2") == row(2, 200, "a")
    finally:
        stored.close()
