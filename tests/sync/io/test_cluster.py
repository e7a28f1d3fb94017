"""Two servers, one PostgreSQL: what one acknowledges the other knows, also when one is killed."""

import threading
from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed

from holdfast.store.store import open_store
from tests.postgres import PostgresServer, running_server
from tests.sync.peers import root, set_, upserts, watch
from tests.sync.processes import WAIT_S, Client, Served

pytestmark = pytest.mark.service("postgres")

_SPACES = count(1)


@pytest.fixture
def space() -> str:
    return f"did:key:z6Mk-cluster-{next(_SPACES)}"


@pytest.fixture
def nodes(postgres: PostgresServer) -> Iterator[tuple[Served, Served]]:
    one, other = Served(postgres.url), Served(postgres.url)
    yield one, other
    one.stop()
    other.stop()


@pytest.mark.shows("SYNC-CLUSTER-WATCH")
def test_a_watcher_on_one_server_sees_a_commit_on_the_other(
    nodes: tuple[Served, Served], space: str
) -> None:
    a, b = nodes
    writer, watcher = Client(a.url, "A", space=space), Client(b.url, "B", space=space)
    watcher.ask("session.watch.set", watches=[watch("w", root("x"), root("y"))])
    assert writer.transact(1, set_("x", 1))["ok"]["seq"] == 1
    assert upserts(watcher.effect()) == [("x", 1)]
    assert watcher.transact(1, set_("y", 1))["ok"]["seq"] == 2
    sync = watcher.effect()
    assert (upserts(sync), sync["fromSeq"], sync["toSeq"]) == ([("y", 2)], 1, 2)


@pytest.mark.shows("SYNC-CLUSTER-CONFLICT")
def test_a_conflict_with_the_other_server_is_found(
    nodes: tuple[Served, Served], space: str
) -> None:
    a, b = nodes
    one, other = Client(a.url, "A", space=space), Client(b.url, "B", space=space)
    other.ask("session.watch.set", watches=[watch("w", root("x"))])
    assert one.transact(1, set_("x", 1))["ok"]["seq"] == 1
    answer = other.transact(1, set_("x", 2), confirmed=[{"id": "x", "path": [], "seq": 0}])
    assert answer["error"]["name"] == "ConflictError"
    # Fresh state came before the refusal, whether or not the announcement had arrived.
    assert upserts(other.effects[-1]["effect"]) == [("x", 1)]


@pytest.mark.shows("SYNC-CLUSTER-KILL")
def test_killing_a_server_loses_nothing_acknowledged_and_its_clients_go_on_at_the_other(
    postgres: PostgresServer, nodes: tuple[Served, Served], space: str
) -> None:
    a, b = nodes
    watcher = Client(b.url, "watcher", space=space)
    watcher.ask("session.watch.set", watches=[watch("w", root("last"))])
    acknowledged: dict[int, int] = {}
    sent = 0
    writer = Client(a.url, "writer", space=space)
    enough = threading.Event()

    def kill() -> None:
        enough.wait(WAIT_S)
        a.kill()

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        for number in range(1, 5_000):
            sent = number
            answer = writer.transact(number, set_("last", number))
            acknowledged[number] = answer["ok"]["seq"]
            if number == 30:
                enough.set()
    except (ConnectionClosed, OSError):
        pass
    killer.join(WAIT_S)
    assert len(acknowledged) >= 30
    # The client goes on at the other server, and sends again what was not answered.
    back = Client(b.url, "writer", space=space, token=writer.token)
    assert back.session == "writer"
    for number in range(max(1, sent - 5), sent + 3):
        answer = back.transact(number, set_("last", number))
        seq = answer["ok"]["seq"]
        assert acknowledged.setdefault(number, seq) == seq, "a commit has landed twice"
    store = open_store(postgres.url, space)
    try:
        assert store.newest_seq() == sent + 2
        with store.reading() as engine:
            rows = engine.tables.commits(0, 10_000)  # type: ignore[arg-type]
        assert {row.local_seq: row.seq for row in rows}.items() >= acknowledged.items()
    finally:
        store.close()
    seen: Any = None
    while seen != sent + 2:
        seen = watcher.effect()["upserts"][0]["doc"]["value"]


@pytest.mark.shows("SYNC-CLUSTER-RESUME")
def test_a_session_is_resumed_at_the_other_server(nodes: tuple[Served, Served], space: str) -> None:
    a, b = nodes
    client = Client(a.url, "S", ["coverage"], space=space)
    client.transact(1, set_("x", 1))
    client.ask("session.watch.set", watches=[watch("w", root("x"))])
    a.kill()
    writer = Client(b.url, "W", space=space)
    writer.transact(1, set_("x", 2))
    back = Client(b.url, capabilities=["coverage"], space=space)
    answer = back.open("S", token=client.token, seen=1)["ok"]
    assert answer["resumed"] is True
    assert upserts(answer["sync"]) == [("x", 2)]


@pytest.mark.shows("SYNC-CLUSTER-TAKEOVER", "INV-32")
def test_a_session_that_is_taken_over_at_the_other_server_is_lost_here(
    nodes: tuple[Served, Served], space: str
) -> None:
    a, b = nodes
    old = Client(a.url, "S", ["coverage"], space=space)
    old.ask("session.watch.set", watches=[watch("w", root("x"))])
    new = Client(b.url, capabilities=["coverage"], space=space)
    assert new.open("S", token=old.token, seen=0)["ok"]["resumed"] is True
    frame = old.receive()
    assert (frame["type"], frame["reason"]) == ("session/revoked", "taken-over")
    assert old.transact(1, set_("x", 1))["error"]["name"] == "SessionError"
    new.transact(1, set_("x", 1))
    # And back again, with the token that the other server gave out.
    b.kill()
    back = Client(a.url, capabilities=["coverage"], space=space)
    assert back.open("S", token=new.token, seen=0)["ok"]["resumed"] is True


@pytest.mark.shows("SYNC-ONE-OWNER")
def test_a_live_session_is_not_taken_at_the_other_server_without_its_token(
    nodes: tuple[Served, Served], space: str
) -> None:
    """Both owners wrote under one session id; the rightful one got `commit replay mismatch`."""
    a, b = nodes
    owner = Client(a.url, "S", ["coverage"], space=space)
    assert owner.transact(1, set_("x", 1))["ok"]["seq"] == 1
    for capabilities in (None, ["coverage"]):
        thief = Client(b.url, capabilities=capabilities, space=space)
        assert thief.open("S")["error"]["name"] == "SessionRevokedError"
    assert owner.transact(2, set_("x", 2))["ok"]["seq"] == 2


@pytest.fixture
def mortal_postgres() -> Iterator[PostgresServer]:
    """A database of this test's own, which it may stop."""
    yield from running_server(durable=True)


@pytest.mark.shows("SYNC-CLUSTER-DATABASE")
def test_a_database_that_goes_away_leaves_commits_unanswered_and_then_serves_again(
    mortal_postgres: PostgresServer, space: str
) -> None:
    """Whether a commit landed is unknown while the database is gone, so nobody is told."""
    server = Served(mortal_postgres.url)
    try:
        client = Client(server.url, "S", space=space)
        assert client.transact(1, set_("x", 1))["ok"]["seq"] == 1
        mortal_postgres.stop("immediate")
        with pytest.raises(ConnectionClosed):
            client.transact(2, set_("x", 2))
        mortal_postgres.start()
        # Each lost line is noticed by whoever asks over it first, so a few attempts may fail.
        for _ in range(10):
            try:
                back = Client(server.url, "S2", space=space)
                seq = back.transact(1, set_("x", 3))["ok"]["seq"]
                break
            except ConnectionClosed:
                continue
        else:
            raise AssertionError("the server does not serve again")
        assert seq in (2, 3)
    finally:
        server.stop()
