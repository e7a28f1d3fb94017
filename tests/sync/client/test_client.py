"""The client core on the real server core: connections come and go, nothing is lost or repeated."""

from typing import Any

import pytest

from holdfast.ids import EntityId
from holdfast.store.store import Store
from holdfast.sync.client.actions import Send
from holdfast.sync.client.client import BACKOFF_MAX_MS, Client, backoff_ms
from holdfast.sync.client.errors import (
    CommitRefused,
    ConnectionLost,
    RequestRefused,
    SessionChanged,
    SessionClosed,
)
from holdfast.sync.client.outbox import Remembered
from holdfast.sync.client.reads import Read
from holdfast.sync.client.space_session import Stage
from holdfast.sync.server.limits import Limits
from holdfast.sync.wire import messages
from holdfast.sync.wire.errors import ProtocolError, SessionRevoked
from holdfast.sync.wire.messages import Flags, HelloOk, Response, SessionOpen, Transact
from tests.simulation.actors import MemoryOutbox
from tests.sync.duet import Duet, is_verdict, put, watch
from tests.sync.peers import World


def chain(world: World, prefix: str, length: int) -> list[dict[str, Any]]:
    """Documents that link to each other in a row."""
    return [
        put(
            f"of:{prefix}{n}",
            {"next": {"/": {"link@1": {"id": f"of:{prefix}{n + 1}"}}}} if n + 1 < length else {},
        )
        for n in range(length)
    ]


def ids(duet: Duet) -> list[str]:
    return [entity.id for entity in duet.session.view.entities]


# watching


@pytest.mark.shows("W12", "W15", "W16", "W17")
def test_links_of_the_older_form_stay_live_over_a_lost_connection(world: World) -> None:
    def alias(target: str) -> dict[str, Any]:
        schema = {"type": "object", "title": "kept as it is"}
        cell = {"$alias": {"cell": {"/": target}, "path": ["deep"], "schema": schema}}
        return put("of:root", {"to": cell})

    world.commit("writer", 1, put("of:x", {"deep": 1}), put("of:y", {"deep": 2}), alias("of:x"))
    duet, other = Duet(world), Duet(world)
    duet.session.watch_add([watch("of:root", schema=True)])
    duet.run()
    assert duet.visible("of:root") == alias("of:x")["value"]
    assert ids(duet) == ["of:root", "of:x"]
    other.session.commit([put("of:x", {"deep": 10})])
    other.run()
    duet.refresh()
    assert duet.visible("of:x") == {"value": {"deep": 10}}
    duet.disconnect()
    duet.reconnect()
    assert duet.visible("of:root") == alias("of:x")["value"]
    other.session.commit([alias("of:y")])
    other.session.commit([put("of:y", {"deep": 20})])
    other.run()
    duet.refresh()
    assert duet.visible("of:y") == {"value": {"deep": 20}}


@pytest.mark.shows("T67", "R47", "R50", "R116", "R118", "W11", "W13")
def test_a_retarget_brings_in_what_is_newly_reached(world: World) -> None:
    root = {"op": "set", "id": "of:root", "value": {"value": {"/": {"link@1": {"id": "of:a0"}}}}}
    world.commit("writer", 1, *chain(world, "a", 31), *chain(world, "b", 32), root)
    duet = Duet(world)
    duet.session.watch_set([watch("of:root", schema=True)])
    duet.run()
    assert len(duet.session.view) == 32
    world.commit(
        "writer",
        2,
        {"op": "set", "id": "of:root", "value": {"value": {"/": {"link@1": {"id": "of:b0"}}}}},
    )
    world.server.space(duet.session.space).advance()
    duet.refresh()
    assert len(duet.session.view) == 64
    assert duet.told[-1].kind == "integrate"
    assert "of:b31" in duet.told[-1].ids


@pytest.mark.shows("T68", "SYNC-WATCH-GROWTH")
def test_the_first_watch_of_a_fresh_session_is_an_add(world: World) -> None:
    world.commit("writer", 1, put("of:a", 1))
    duet = Duet(world)
    duet.session.watch_add([watch("of:a")])
    duet.run()
    assert ids(duet) == ["of:a"]
    assert duet.count("session.watch.set") == 0


@pytest.mark.shows("T69", "T87")
def test_both_streams_of_the_view_tell_of_a_change(world: World) -> None:
    world.commit("writer", 1, put("of:a", 1))
    duet, other = Duet(world), Duet(world)
    duet.session.watch_add([watch("of:a")])
    duet.run()
    syncs: list[Any] = []
    snapshots: list[Any] = []
    duet.session.view.subscribe_sync(syncs.append)
    duet.session.view.subscribe(snapshots.append)
    other.session.commit([put("of:a", 2)])
    other.run()
    duet.refresh()
    (sync,) = syncs
    assert (sync.from_seq, sync.to_seq, sync.removes) == (1, 2, [])
    assert [(entry.id, entry.seq, entry.doc) for entry in sync.upserts] == [
        ("of:a", 2, {"value": 2})
    ]
    (snapshot,) = snapshots
    assert snapshot.server_seq == 2
    assert [(entity.id, entity.seq) for entity in snapshot.entities] == [("of:a", 2)]


@pytest.mark.shows("T70", "SYNC-ACK")
def test_two_watches_in_a_row_are_acknowledged_once(world: World) -> None:
    world.commit("writer", 1, put("of:a", 1))
    world.commit("writer", 2, put("of:b", 1))
    duet = Duet(world)
    duet.session.watch_add([watch("of:a")])
    duet.session.watch_add([watch("of:b")])
    duet.run(turns=False)
    assert ids(duet) == ["of:a", "of:b"]
    assert duet.count("session.ack") == 0
    duet.run()
    assert duet.count("session.ack") == 1
    assert duet.sent[-1].seen_seq == 2  # type: ignore[attr-defined]


@pytest.mark.shows("T72")
def test_closing_does_not_wait_for_an_ack(world: World) -> None:
    world.commit("writer", 1, put("of:a", 1))
    duet = Duet(world)
    duet.session.watch_add([watch("of:a")])
    duet.run(turns=False)
    duet.hold_answers = lambda frame: frame["type"] == "response"
    duet.run()
    assert duet.count("session.ack") == 1
    closed = duet.client.close()
    duet.run()
    assert closed.settled
    assert duet.count("session.ack") == 1


@pytest.mark.shows("T85", "SYNC-ACK")
def test_nothing_is_acknowledged_while_disconnected(world: World) -> None:
    world.commit("writer", 1, put("of:a", 1))
    duet = Duet(world)
    duet.session.watch_add([watch("of:a")])
    duet.run(turns=False)
    duet.disconnect()
    duet.run()
    assert duet.count("session.ack") == 0


@pytest.mark.shows("SYNC-ACK")
def test_what_is_held_back_is_not_acknowledged(world: World) -> None:
    world.commit("writer", 1, put("of:a", 1))
    duet = Duet(world)
    duet.session.watch_add([watch("of:a")])
    duet.run()
    with duet.session.replica.hold():
        world.commit("writer", 2, put("of:a", 2))
        world.server.space(duet.session.space).advance()
        duet.refresh()
        assert duet.session.replica.integrated == 1
        assert duet.count("session.ack") == 1
    duet.run()
    assert duet.session.replica.integrated == 2
    assert duet.sent[-1].seen_seq == 2  # type: ignore[attr-defined]


@pytest.mark.shows("SYNC-ACK")
def test_an_accepted_commit_is_no_claim_to_have_seen_what_is_below_it(world: World) -> None:
    world.commit("writer", 1, put("of:a", 1))
    duet = Duet(world)
    duet.session.commit([put("of:b", 1)])
    duet.run()
    assert duet.count("session.ack") == 0
    assert duet.session.replica.integrated == 0


@pytest.mark.shows("SYNC-WATCH-SERIAL")
def test_changes_to_the_watches_go_one_at_a_time_and_one_that_fails_blocks_none(
    world: World,
) -> None:
    duet = Duet(world)
    first = duet.session.watch_add([watch("of:a")])
    broken = duet.session.watch_add([watch("of:b", name="of:a")])
    last = duet.session.watch_add([watch("of:c")])
    assert len([1 for action in duet.client.take() if "Watch" in repr(action)]) == 1
    duet.disconnect()
    with pytest.raises(ConnectionLost):
        first.result()
    duet.reconnect()
    again = duet.session.watch_add([watch("of:a")])
    duet.run()
    assert again.settled
    assert last.result().upserts[0].id == "of:c"
    assert broken.settled


def test_a_watch_whose_answer_was_lost_is_not_left_empty(world: World) -> None:
    """The server had it and would answer the same one again with nothing."""
    world.commit("writer", 1, put("of:a", 1))
    duet = Duet(world)
    duet.hold_answers = lambda frame: True
    lost = duet.session.watch_add([watch("of:a")])
    duet.run()
    duet.disconnect()
    duet.hold_answers = lambda _: False
    with pytest.raises(ConnectionLost):
        lost.result()
    duet.reconnect()
    duet.session.watch_add([watch("of:a")])
    duet.run()
    assert duet.visible("of:a") == {"value": 1}


# reconnecting


@pytest.mark.shows("T73", "F5", "SYNC-RESTORE")
def test_a_resumed_session_keeps_its_watches_and_takes_in_what_it_missed(world: World) -> None:
    duet, other = Duet(world, "b"), Duet(world, "a")
    duet.session.watch_set([watch("of:1")])
    duet.run()
    snapshots: list[Any] = []
    syncs: list[Any] = []
    duet.session.view.subscribe(snapshots.append)
    duet.session.view.subscribe_sync(syncs.append)
    duet.disconnect()
    other.session.commit([put("of:1", "new")])
    other.run()
    duet.reconnect()
    assert duet.session.session_id == "b"
    assert duet.count("session.watch.set") == 1
    assert (len(snapshots), len(syncs)) == (1, 1)
    entity = duet.session.view.get("of:1")
    assert entity is not None
    assert (entity.seq, entity.document) == (1, {"value": "new"})
    opens = [message for message in duet.sent if isinstance(message, SessionOpen)]
    assert opens[-1].session.session_token is not None


@pytest.mark.shows("T74")
def test_a_closed_session_is_not_restored(world: World) -> None:
    duet = Duet(world)
    duet.session.close()
    duet.run()
    duet.disconnect()
    opened = duet.count("session.open")
    duet.reconnect()
    assert duet.count("session.open") == opened


@pytest.mark.shows("T75", "SYNC-RESTORE")
def test_a_server_that_forgot_is_told_the_watches_again() -> None:
    world = World(session_ttl_ms=0)
    duet, other = Duet(world, "s"), Duet(world, "t")
    duet.session.watch_add([watch("of:1")])
    duet.run()
    snapshots: list[Any] = []
    duet.session.view.subscribe(snapshots.append)
    duet.disconnect()
    duet.reconnect()
    assert duet.count("session.watch.set") == 1
    assert [(e.seq, e.document) for e in snapshots[-1].entities] == [(0, None)]
    other.session.commit([put("of:1", "later")])
    other.run()
    duet.refresh()
    assert duet.visible("of:1") == {"value": "later"}
    world.close()


def test_what_left_the_union_while_the_server_forgot_leaves_the_view() -> None:
    world = World(session_ttl_ms=0)
    link = {"op": "set", "id": "of:root", "value": {"value": {"/": {"link@1": {"id": "of:a"}}}}}
    world.commit("writer", 1, put("of:a", 1), link)
    duet = Duet(world, "s")
    duet.session.watch_add([watch("of:root", schema=True)])
    duet.run()
    assert ids(duet) == ["of:a", "of:root"]
    duet.disconnect()
    world.commit("writer", 2, put("of:root", "nothing"))
    duet.reconnect()
    assert ids(duet) == ["of:root"]
    assert duet.visible("of:a") is None
    world.close()


@pytest.mark.shows("T76", "INV-11", "INV-35", "R48")
def test_a_commit_whose_receipt_was_lost_is_sent_again_and_lands_once(
    world: World,
) -> None:
    duet = Duet(world, "s")
    duet.hold_answers = is_verdict
    verdict = duet.session.commit([put("of:a", 1)])
    duet.run()
    duet.disconnect()
    duet.hold_answers = lambda _: False
    assert not verdict.settled
    duet.reconnect()
    assert verdict.result().seq == 1
    assert duet.landing == [1, 1]
    assert world.store.newest_seq() == 1
    assert duet.kinds == ["commit"]


@pytest.mark.shows("T77", "R21", "R49")
def test_outstanding_commits_are_sent_again_in_order(world: World) -> None:
    duet, other = Duet(world, "s"), Duet(world, "t")
    duet.session.watch_add([watch("of:r")])
    duet.run()
    duet.hold_answers = is_verdict
    first = duet.session.commit([put("of:a", 1)])
    second = duet.session.commit([put("of:a", 2)])
    duet.run()
    duet.disconnect()
    duet.hold_answers = lambda _: False
    other.session.commit([put("of:r", "remote")])
    other.run()
    duet.reconnect()
    assert duet.landing == [1, 2, 1, 2]
    assert (first.result().seq, second.result().seq) == (1, 2)
    assert duet.visible("of:r") == {"value": "remote"}
    integrated = [note.ids for note in duet.told if note.kind == "integrate"]
    assert integrated == [["of:r"]]


def test_what_was_missed_and_is_also_replayed_is_shown_once(world: World) -> None:
    """An append that landed unheard is in the catch-up too; it must not be shown twice."""
    duet = Duet(world, "s")
    duet.session.commit([put("of:a", [])])
    duet.session.watch_add([watch("of:a")])
    duet.run()
    seen: list[Any] = []
    duet.session.replica.subscribe(lambda note: seen.append(duet.visible("of:a")))
    duet.hold_answers = is_verdict
    append = {"op": "append", "path": "/value", "values": ["x"]}
    verdict = duet.session.commit([{"op": "patch", "id": "of:a", "patches": [append]}])
    duet.run()
    duet.disconnect()
    duet.hold_answers = lambda _: False
    duet.reconnect()
    assert verdict.result().seq == 2
    assert seen == [{"value": ["x"]}]
    assert duet.visible("of:a") == {"value": ["x"]}


@pytest.mark.shows("T78", "SYNC-PIPELINE")
def test_a_commit_does_not_wait_for_the_verdict_on_the_one_before(world: World) -> None:
    duet = Duet(world)
    duet.hold_answers = is_verdict
    first = duet.session.commit([put("of:a", 1)])
    second = duet.session.commit([put("of:b", 1)])
    duet.run()
    assert duet.landing == [1, 2]
    assert not first.settled
    assert not second.settled
    duet.release()
    assert (first.result().seq, second.result().seq) == (1, 2)


@pytest.mark.shows("T79", "F7", "INV-32")
def test_a_session_that_was_taken_over_is_over(world: World) -> None:
    first = Duet(world, "s")
    first.hold_answers = is_verdict
    waiting = first.session.commit([put("of:a", 1)])
    first.run()
    outbox = MemoryOutbox()
    outbox.remembered = Remembered("s", first.session.token)
    outbox.next = 100
    second = Duet(world, outbox=outbox)
    assert second.session.stage is Stage.LIVE
    first.release()
    with pytest.raises(SessionRevoked, match="session revoked"):
        first.session.commit([put("of:a", 2)]).result()
    assert first.session.over
    assert waiting.settled
    stale = MemoryOutbox()
    stale.remembered = Remembered("s", "an old token")
    third = Duet(world, outbox=stale)
    with pytest.raises(SessionRevoked, match="no longer valid"):
        third.session.opening.result()


@pytest.mark.shows("T80", "SYNC-BACKOFF")
def test_a_server_that_is_away_is_dialled_again(world: World) -> None:
    duet = Duet(world, start=False)
    duet.online = False
    started = duet.client.start()
    duet.run()
    assert duet.waits == [25]
    duet.reconnect()
    assert duet.waits == [25, 50]
    duet.online = True
    duet.reconnect()
    assert started.settled
    assert duet.session.stage is Stage.LIVE
    duet.disconnect()
    assert duet.waits == [25, 50, 25]


@pytest.mark.shows("SYNC-BACKOFF")
def test_the_wait_doubles_up_to_half_a_minute_and_a_fifth_by_chance() -> None:
    assert [backoff_ms(n, 0) for n in range(4)] == [25, 50, 100, 200]
    assert backoff_ms(11, 0) == backoff_ms(1_000, 0) == BACKOFF_MAX_MS
    assert backoff_ms(0, 1) == 30
    assert backoff_ms(40, 1) == 36_000


@pytest.mark.shows("T81")
def test_closing_while_waiting_to_dial_is_immediate(world: World) -> None:
    duet = Duet(world, start=False)
    duet.online = False
    duet.client.start()
    duet.run()
    closed = duet.client.close()
    duet.run()
    assert closed.settled
    dials = duet.dials
    duet.reconnect()
    assert duet.dials == dials


@pytest.mark.shows("T82")
def test_other_flags_end_the_client() -> None:
    client = Client(lambda: 0.0)
    session = client.mount("did:key:x")
    started = client.start()
    client.take()
    client.transport_up()
    flags = {"richStorableValues": True, "unifiedJsonEncoding": False}
    client.receive(HelloOk(protocol="memory/v2", flags=flags))
    with pytest.raises(ProtocolError, match="flag mismatch"):
        started.result()
    assert session.over


def test_a_refused_handshake_ends_the_client(world: World) -> None:
    duet = Duet(world, start=False)
    duet.client.flags = Flags(unified_json_encoding=True)
    started = duet.client.start()
    duet.run()
    with pytest.raises(RequestRefused, match="flag mismatch"):
        started.result()


@pytest.mark.shows("T83")
@pytest.mark.parametrize("heard", ["nothing", "hello.ok", "the open, unanswered"])
def test_a_connection_that_breaks_while_opening_is_named(world: World, heard: str) -> None:
    duet = Duet(world, start=False)
    opening, started = duet.session.opening, duet.client.started
    written = duet.session.commit([put("of:a", 1)])
    refused = {"nothing": "hello.ok", "hello.ok": "response"}.get(heard, "response")
    duet.hold_answers = lambda frame: frame["type"] == refused
    duet.client.start()
    duet.run()
    assert duet.count("session.open") == (0 if heard == "nothing" else 1)
    assert not opening.settled
    duet.disconnect()
    if heard == "nothing":
        # Nobody was asked to open, so nobody was lost: it is still to come.
        assert not opening.settled
        assert not started.settled
    else:
        with pytest.raises(ConnectionLost, match="the connection was lost: broken") as lost:
            opening.result()
        assert lost.value.name == "ConnectionError"
        assert "ask again" in lost.value.hint
    assert not written.settled, "a commit outlives the connection"
    assert not duet.session.live
    duet.hold_answers = lambda _: False
    duet.reconnect()
    # The server rotated the token, and the first one never arrived.
    duet.session.opening.result()
    assert duet.session.live
    assert written.result().seq == 1
    assert duet.landing == [1]


@pytest.mark.shows("T84")
def test_a_commit_that_was_answered_before_closing_is_resolved(world: World) -> None:
    duet = Duet(world)
    verdict = duet.session.commit([put("of:a", 1)])
    duet.run()
    duet.client.close()
    duet.run()
    assert verdict.result().seq == 1


@pytest.mark.shows("T84")
def test_closing_waits_for_commits_on_their_way(world: World) -> None:
    duet = Duet(world)
    duet.hold_answers = is_verdict
    verdict = duet.session.commit([put("of:a", 1)])
    duet.run()
    closed = duet.client.close()
    duet.run()
    assert not closed.settled
    duet.release()
    assert verdict.result().seq == 1
    assert closed.settled


@pytest.mark.shows("T86", "SYNC-RESTORE")
def test_commits_of_a_session_that_became_another_are_not_sent_again() -> None:
    client = Client(lambda: 0.0)
    session = client.mount("did:key:x")
    client.start()

    def open_as(name: str) -> None:
        client.transport_up()
        flags = {
            "richStorableValues": False,
            "unifiedJsonEncoding": False,
            "canonicalHashing": False,
            "modernSchemaHash": False,
        }
        client.receive(HelloOk(protocol="memory/v2", flags=flags))
        request = f"r{client._number}"
        client.receive(Response(request_id=request, ok={"sessionId": name, "serverSeq": 0}))

    open_as("A")
    verdict = session.commit([put("of:a", 1)])
    client.take()
    client.transport_down()
    open_as("B")
    with pytest.raises(SessionChanged, match="session changed: A -> B"):
        verdict.result()
    sent = [action for action in client.take() if "Transact(" in repr(action)]
    assert sent == []
    assert session.replica.visible("of:a") is None


@pytest.mark.shows("T88", "F6", "SYNC-RESTORE")
def test_a_commit_made_while_restoring_goes_last_and_once(world: World) -> None:
    duet = Duet(world, "s")
    duet.session.commit([put("of:a", 1)])
    duet.run()
    duet.hold_answers = is_verdict
    second = duet.session.commit([put("of:a", 2)])
    duet.run()
    duet.disconnect()
    duet.reconnect()
    assert duet.session.stage is Stage.RESTORING
    third = duet.session.commit([put("of:a", 3)])
    duet.run()
    assert duet.landing == [1, 2, 2]
    duet.release()
    assert (second.result().seq, third.result().seq) == (2, 3)
    assert duet.landing == [1, 2, 2, 3]


@pytest.mark.shows("T89", "SYNC-RESTORE")
def test_closing_while_restoring_lets_replays_be_answered_and_sends_nothing_new(
    world: World,
) -> None:
    duet = Duet(world, "s")
    duet.hold_answers = is_verdict
    replayed = duet.session.commit([put("of:a", 1)])
    duet.run()
    duet.disconnect()
    duet.reconnect()
    queued = duet.session.commit([put("of:a", 2)])
    duet.run()
    duet.session.close()
    duet.run()
    with pytest.raises(SessionClosed, match="session closed"):
        queued.result()
    assert not replayed.settled
    duet.release()
    assert replayed.result().seq == 1
    assert duet.landing == [1, 1]


@pytest.mark.shows("R20")
def test_the_same_commit_twice_is_one_commit(world: World) -> None:
    duet = Duet(world)
    duet.hold_answers = is_verdict
    commit = {"localSeq": 1, "reads": {}, "operations": [put("of:a", 1)]}
    first = duet.session.transact(commit)
    assert duet.session.transact(commit) is first
    duet.run()
    assert duet.landing == [1]


@pytest.mark.shows("R89", "R90", "R92", "R93")
def test_a_lazy_session_is_opened_by_the_first_commit(world: World) -> None:
    duet = Duet(world, lazy=True)
    duet.session.replica.visible("of:a")
    assert duet.count("session.open") == 0
    verdict = duet.session.commit([put("of:a", 1)])
    duet.run()
    assert duet.count("session.open") == 1
    assert verdict.result().seq == 1


@pytest.mark.shows("R91")
def test_a_session_that_could_not_be_opened_is_tried_again(world: World) -> None:
    duet = Duet(world, lazy=True, start=False)
    duet.online = False
    duet.client.start()
    duet.run()
    verdict = duet.session.commit([put("of:a", 1)])
    duet.run()
    assert not verdict.settled
    duet.online = True
    duet.reconnect()
    assert verdict.result().seq == 1


@pytest.mark.shows("SYNC-CAPABILITY", "SYNC-LAYERS")
def test_a_peer_of_the_first_version_is_sent_scalar_reads(world: World) -> None:
    old, new = Duet(world, capabilities=frozenset()), Duet(world)
    for duet in (old, new):
        duet.hold_answers = is_verdict
        duet.session.commit([put("of:x", 1)])
        from holdfast.ids import EntityId
        from holdfast.sync.client.reads import Read

        duet.session.commit([put("of:y", 1)], [Read(EntityId("of:x"), ("value",))])
        duet.run()
    read = {"id": "of:x", "path": ["value"]}
    scalar = [m.commit["reads"]["pending"] for m in old.sent if isinstance(m, Transact)][-1]
    layered = [m.commit["reads"]["pending"] for m in new.sent if isinstance(m, Transact)][-1]
    assert scalar == [{**read, "localSeq": 1}]
    assert layered == [{**read, "localSeq": [1], "basisSeq": 0}]


def test_a_query_waits_for_the_session_and_fails_with_its_connection(world: World) -> None:
    duet = Duet(world, start=False)
    waiting = duet.session.query({"roots": []})
    duet.client.start()
    duet.run()
    assert waiting.settled
    duet.hold_answers = lambda _: True
    lost = duet.session.query({"roots": []})
    duet.run()
    duet.disconnect()
    with pytest.raises(ConnectionLost):
        lost.result()


@pytest.mark.shows("FLEET-ROLLING")
def test_a_read_whose_server_went_away_is_asked_again_where_there_are_others(world: World) -> None:
    duet = Duet(world, ask_again=True)
    duet.session.commit([{"op": "set", "id": "of:a", "value": {"value": 1}}])
    duet.run()
    duet.hold_answers = lambda _: True
    asked = duet.session.query({"roots": [{"id": "of:a", "selector": {"path": []}}]})
    watched = duet.session.watch_add([watch("of:a")])
    made = duet.session.create_branch("draft")
    duet.run()
    duet.disconnect()
    assert not asked.settled
    assert not watched.settled
    with pytest.raises(ConnectionLost):
        made.result()  # it may have been carried out, so it is not asked twice
    duet.hold_answers = lambda _: False
    duet.reconnect()
    assert [entity["id"] for entity in asked.result()["entities"]] == ["of:a"]
    assert [upsert.id for upsert in watched.result().upserts] == ["of:a"]
    waiting = Duet(world, ask_again=True)
    waiting.hold_answers = lambda _: True
    never = waiting.session.query({"roots": []})
    waiting.run()
    waiting.client.close()
    waiting.disconnect()
    with pytest.raises(ConnectionLost):
        never.result()


@pytest.mark.shows("SYNC-OUTBOX")
def test_a_restarted_client_sends_what_its_outbox_has(world: World) -> None:
    outbox = MemoryOutbox()
    first = Duet(world, "s", outbox=outbox)
    first.session.watch_add([watch("of:a")])
    first.run()
    first.hold_answers = is_verdict
    first.session.commit([put("of:a", 1)])
    first.session.commit([put("of:b", 2)])
    first.run()
    first._drop()  # and the process is gone
    assert sorted(outbox.pending) == [1, 2]
    second = Duet(world, outbox=outbox, start=False)
    assert second.visible("of:a") == {"value": 1}
    verdicts = [entry.outcome for entry in second.session.outstanding.values()]
    second.client.start()
    second.run()
    assert [verdict.result().seq for verdict in verdicts] == [1, 2]
    assert outbox.pending == {}
    assert second.session.commit([put("of:c", 3)]).settled is False
    second.run()
    assert world.store.newest_seq() == 3
    # Watches of the process before are nobody's now.
    assert second.count("session.watch.set") == 1
    assert ids(second) == []


def test_a_conflict_names_what_broke_it(world: World) -> None:
    from holdfast.ids import EntityId
    from holdfast.sync.client.reads import Read

    world.commit("writer", 1, put("of:a", 1))
    duet = Duet(world)
    verdict = duet.session.commit([put("of:a", 2)], [Read(EntityId("of:a"), ("value",))])
    duet.run()
    with pytest.raises(CommitRefused) as refused:
        verdict.result()
    assert refused.value.is_conflict
    (conflict,) = refused.value.conflicts
    assert conflict["actual"]["seq"] == 1


def test_a_branch_is_made_and_written_over_the_wire(world: World) -> None:
    duet = Duet(world)
    made = duet.session.create_branch("draft")
    duet.run()
    assert made.result()["branch"]["name"] == "draft"
    verdict = duet.session.commit([put("of:a", 1)], branch="draft")
    duet.run()
    assert verdict.result().branch == "draft"
    store: Store = world.store
    assert store.read("of:a") is None
    assert store.read("of:a", "draft") == {"value": 1}


# a server that has no time


def hasty(burst: int, per_second: int = 10) -> World:
    return World(limits=Limits(messages_per_second=per_second, messages_burst=burst))


@pytest.mark.shows("SYNC-LIMIT-RATE", "SYNC-RESEND")
def test_a_commit_that_came_too_fast_is_sent_again_and_not_refused() -> None:
    """The client used to take it back, as if the server had looked at it."""
    world = hasty(burst=4)
    duet = Duet(world, "S")  # hello and session.open are two of the four
    outcomes = [duet.session.commit([put("of:a", n)]) for n in range(1, 6)]
    duet.run()
    assert [outcome.settled for outcome in outcomes] == [True, True, False, False, False]
    assert duet.visible("of:a") == {"value": 5}, "what is pending stays in sight"
    assert "revert" not in duet.kinds
    assert duet.resend_waits
    for _ in range(5):
        duet.resend()
    assert [outcome.result().seq for outcome in outcomes] == [1, 2, 3, 4, 5]
    assert world.store.read("of:a") == {"value": 5}
    assert "revert" not in duet.kinds
    world.close()


@pytest.mark.shows("SYNC-RESEND")
def test_what_stands_on_a_commit_that_waits_is_not_refused_for_that() -> None:
    world = hasty(burst=3)
    duet = Duet(world, "S", outbox=MemoryOutbox())
    duet.session.watch_add([watch("of:a")])
    duet.run()
    first = duet.session.commit([put("of:a", 1)])
    second = duet.session.commit([put("of:b", 1)], [Read(EntityId("of:a"), ("value",))])
    # The bucket fills between the two: the first was turned away, the second is judged without it.
    sending = [m for m in duet.client.take() if isinstance(m, Send)]
    assert duet.connection is not None
    for action in sending:
        duet.sent.append(action.message)
        duet.connection.receive(messages.encode(action.message))
        world.now += 200
    duet.run()
    assert not first.settled
    assert not second.settled
    duet.resend()
    duet.resend()
    assert first.result().seq < second.result().seq
    assert "revert" not in duet.kinds
    world.close()


@pytest.mark.shows("SYNC-RESEND")
def test_a_connection_that_breaks_meanwhile_sends_all_of_it_once() -> None:
    world = hasty(burst=4)
    duet = Duet(world, "S")
    outcomes = [duet.session.commit([put("of:a", n)]) for n in range(1, 4)]
    duet.run()
    assert [outcome.settled for outcome in outcomes] == [True, True, False]
    duet.disconnect()
    world.now += 60_000
    duet.reconnect()
    assert outcomes[2].result().seq == 3
    duet.resend()
    assert duet.landing == [1, 2, 3, 3], "the timer of before sends nothing"
    world.close()


@pytest.mark.shows("SYNC-RESEND")
def test_closing_does_not_wait_for_a_server_that_has_no_time() -> None:
    world = hasty(burst=2)
    outbox = MemoryOutbox()
    duet = Duet(world, "S", outbox=outbox)
    duet.hold_answers = lambda _: True
    written = duet.session.commit([put("of:a", 1)])
    duet.run()
    closed = duet.client.close()
    duet.release()
    assert closed.settled
    with pytest.raises(SessionClosed):
        written.result()
    assert list(outbox.pending) == [1], "the next client sends it"
    world.close()
