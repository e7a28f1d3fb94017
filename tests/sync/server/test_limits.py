"""More than a server takes: each limit has a name, and reaching it hurts nobody else."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from holdfast.ids import SpaceId
from holdfast.store.graph import GraphLimits
from holdfast.store.store import Store
from holdfast.sync.server.limits import Bucket, Limits
from holdfast.sync.server.settings import OnCommitted, commit_now
from tests.sync.peers import SPACE, Peer, World, commit, link, refused, root, set_, upserts, watch


def limited(**limits: object) -> World:
    return World(limits=Limits(**limits))  # type: ignore[arg-type]


@pytest.mark.shows("SYNC-LIMIT-SIZE")
def test_a_message_that_is_too_long_is_refused_by_name() -> None:
    world = limited(message_bytes_max=2_000)
    peer = world.peer("S")
    peer.connection.receive("x" * 2_001)
    (answer,) = peer.drain()
    assert refused(answer)[0] == "MessageTooLargeError"
    long = peer.command("transact", commit=commit(1, set_("a", "x" * 2_000)))
    (answer,) = peer.send(long)
    assert (answer["requestId"], refused(answer)[0]) == (long["requestId"], "MessageTooLargeError")
    assert "ok" in peer.transact(set_("a", 1))
    world.close()


@pytest.mark.shows("SYNC-LIMIT-RATE")
def test_messages_that_come_too_fast_are_told_when_to_come_again() -> None:
    world = limited(messages_per_second=10, messages_burst=5)
    peer = world.peer("S")
    answers = [peer.query(roots=[]) for _ in range(4)]
    assert ["ok" in answer for answer in answers] == [True, True, True, False]
    error = answers[3]["error"]
    assert error["name"] == "RateLimitError"
    world.now += error["retryAfter"]
    assert "ok" in peer.query(roots=[])
    other = world.peer("T")
    assert "ok" in other.query(roots=[])
    world.close()


@pytest.mark.shows("SYNC-LIMIT-RATE", "SYNC-4.1-ORDER")
def test_a_commit_that_came_too_fast_is_refused_in_its_turn() -> None:
    """It was refused at once, before the commits ahead of it had their answers."""
    fates: list[Callable[[], None]] = []

    def later(store: Store, session: str, commit: Any, tell: OnCommitted, guard: Any) -> None:
        fates.append(lambda: commit_now(store, session, commit, tell, guard))

    world = World(limits=Limits(messages_per_second=1, messages_burst=4), commit=later)
    peer = world.peer("S")
    for number in (1, 2, 3):
        peer.connection.receive(
            json.dumps(peer.command("transact", commit=commit(number, set_(f"d{number}", 1))))
        )
    assert peer.drain() == []
    for land in fates:
        land()
    answers = peer.drain()
    assert [answer["requestId"] for answer in answers] == ["r2", "r3", "r4"]
    assert ["ok" in answer for answer in answers] == [True, True, False]
    assert refused(answers[2])[0] == "RateLimitError"
    world.close()


@pytest.mark.shows("SYNC-LIMIT-SIZE", "SYNC-4.1-ORDER")
def test_a_message_that_is_too_long_is_refused_in_its_turn() -> None:
    fates: list[Callable[[], None]] = []

    def later(store: Store, session: str, commit: Any, tell: OnCommitted, guard: Any) -> None:
        fates.append(lambda: commit_now(store, session, commit, tell, guard))

    world = World(limits=Limits(message_bytes_max=2_000), commit=later)
    peer = world.peer("S")
    frame = json.dumps(peer.command("transact", commit=commit(1, set_("a", 1))))
    peer.connection.receive(frame, "x" * 2_001)
    assert peer.drain() == []
    fates[0]()
    landed, long = peer.drain()
    assert "ok" in landed
    assert refused(long)[0] == "MessageTooLargeError"
    world.close()


@pytest.mark.shows("SYNC-LIMIT-QUEUE")
def test_a_peer_that_does_not_wait_for_answers_is_cut_off() -> None:
    world = World(
        limits=Limits(queued_messages_max=3),
        commit=lambda store, session, commit, tell, guard: None,
    )
    peer = world.peer("S")
    for _ in range(6):
        peer.send(peer.command("transact", commit={"localSeq": 1, "operations": [set_("a", 1)]}))
        peer.send(peer.command("graph.query", query={"roots": []}))
    assert peer.connection.closing == (1008, "too many messages are waiting")
    world.close()


@pytest.mark.shows("SYNC-LIMIT-SLOW")
def test_a_peer_that_does_not_read_is_dropped_with_a_reason_and_may_resume() -> None:
    world = limited(outbox_bytes_max=4_000)
    slow, writer = world.peer("slow"), world.peer("writer")
    slow.watch_set(watch("w", root("a")))
    for number in range(10):
        writer.transact(set_("a", "x" * 500 + str(number)))
        world.server.flush()
    assert slow.connection.closing is not None
    code, reason = slow.connection.closing
    assert code == 1008
    assert reason.startswith("SlowConsumerError")
    assert slow.connection.take() == []
    assert slow.connection.unread < 6_000
    slow.connection.disconnected()
    back = Peer(world)
    back.hello(["coverage"])
    answer = back.open("slow", token=slow.token, seen=0)["ok"]
    assert upserts(answer["sync"]) == [("a", 10)]
    world.close()


@pytest.mark.shows("SYNC-LIMIT-SLOW")
@pytest.mark.parametrize("taken_over", [True, False])
def test_a_peer_of_the_first_version_is_sent_again_what_it_did_not_read(taken_over: bool) -> None:
    """It was told that it had resumed and that nothing was missing."""
    world = limited(outbox_bytes_max=4_000)
    slow, writer = world.peer("slow"), world.peer("writer")
    slow.watch_set(watch("w", root("a"), root("b")))
    for number in range(10):
        writer.transact(set_("a", "x" * 500 + str(number)))
        world.server.flush()
    assert slow.connection.closing is not None
    if not taken_over:
        slow.connection.disconnected()
    answer = world.peer().open("slow", token=slow.token, seen=0)["ok"]
    assert answer["resumed"] is True
    assert upserts(answer["sync"]) == [("a", 10), ("b", 0)]
    world.close()


@pytest.mark.shows("SYNC-LIMIT-COUNT")
def test_sessions_and_watches_are_counted() -> None:
    world = limited(sessions_per_connection=2, watches_per_session=2)
    peer = world.peer("A")
    peer.open("B")
    assert refused(peer.open("C"))[0] == "SessionLimitError"
    assert "ok" in peer.open("B", token=peer.token)
    assert "ok" in peer.watch_set(watch("1", root("a")), watch("2", root("a")))
    assert refused(peer.watch_add(watch("3", root("a"))))[0] == "WatchLimitError"
    assert "ok" in peer.watch_add(watch("2", root("a")))
    three = [watch(str(n), root("a")) for n in range(3)]
    assert refused(peer.watch_set(*three))[0] == "WatchLimitError"
    world.close()


@pytest.mark.shows("SYNC-LIMIT-GRAPH")
def test_a_graph_that_is_too_large_is_refused_and_one_that_grew_too_large_is_let_go() -> None:
    world = limited(graph=GraphLimits(entities=3))
    peer = world.peer("A")
    peer.transact(*[set_(f"d{n}", link(f"d{n + 1}")) for n in range(6)])
    assert refused(peer.query(roots=[root("d0", True)]))[0] == "QueryError"
    assert refused(peer.watch_set(watch("w", root("d0", True))))[0] == "QueryError"
    peer.transact(set_("top", 1))
    assert "ok" in peer.watch_set(watch("w", root("top", True)))
    peer.transact(set_("top", link("d0")))
    world.server.flush()
    (frame,) = peer.drain()
    assert frame["type"] == "session/revoked"
    assert frame["reason"].startswith("watch-failed")
    world.close()


@pytest.mark.shows("SYNC-LIMIT-GRAPH", "INV-36")
def test_a_session_that_is_let_go_while_it_asks_for_more_gets_nothing_more() -> None:
    """What had changed is sent before a watch is added, and that was when its graph proved too
    large: it was revoked, answered as if nothing had happened, and went on being told."""
    world = limited(graph=GraphLimits(entities=3))
    writer, peer = world.peer("W"), world.peer("A", capabilities=["coverage"])
    writer.transact(*[set_(f"d{n}", link(f"d{n + 1}")) for n in range(6)], set_("top", 1))
    peer.watch_set(watch("w", root("top", True)))
    writer.transact(set_("top", link("d0")))
    revoked, answer = peer.send(
        peer.command("session.watch.add", watches=[watch("v", root("other"))])
    )
    assert revoked["type"] == "session/revoked"
    assert refused(answer)[0] == "SessionError"
    writer.transact(set_("other", 1), set_("top", 2))
    world.server.flush()
    assert peer.drain() == []
    assert world.server.spaces[SpaceId(SPACE)].tracked == 0
    world.close()


def test_a_bucket_lets_a_burst_through_and_then_its_rate() -> None:
    bucket = Bucket(per_second=1_000, burst=3, now_ms=0)
    assert [bucket.take(0) for _ in range(4)] == [0, 0, 0, 2]
    assert bucket.take(1) == 0
    assert bucket.take(1) > 0
    assert bucket.take(100) == 0
