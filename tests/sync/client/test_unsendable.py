"""What cannot be sent is refused at once, by name, and delays nothing else."""

from typing import Any

import pytest

from holdfast.store.errors import InvalidValue
from holdfast.sync.client import outgoing_values
from holdfast.sync.client.errors import CapabilityMissing, CommitRefused, RequestRefused
from holdfast.sync.client.space_session import SpaceSession
from holdfast.sync.client.transaction import Transaction
from holdfast.sync.server.limits import Limits
from holdfast.sync.wire.close_codes import TOO_BIG
from holdfast.sync.wire.errors import InvalidMessage, ProtocolError
from holdfast.sync.wire.messages import EXISTING, HelloOk, Refused, Response
from tests.simulation.actors import MemoryOutbox
from tests.sync.duet import OURS, Duet, put, watch
from tests.sync.peers import FLAGS, World

LOOP: list[Any] = []
LOOP.append(LOOP)

BAD: list[Any] = [
    float("nan"),
    float("inf"),
    "\ud800",
    2**53,
    -(2**60),
    b"bytes",
    {1: "an integer key"},
    {"\udfff": 1},
    object(),
    {"deep": [1, [float("nan")]]},
    LOOP,
]


@pytest.mark.shows("SYNC-UNSENDABLE")
@pytest.mark.parametrize("bad", BAD, ids=lambda bad: type(bad).__name__)
@pytest.mark.parametrize("online", [True, False])
def test_a_value_that_cannot_be_encoded_is_refused_when_it_is_written(
    world: World, bad: Any, online: bool
) -> None:
    """It was shown, its caller waited for ever, and a good commit beside it was never sent."""
    outbox = MemoryOutbox()
    duet = Duet(world, "S", outbox=outbox)
    if not online:
        duet.online = False
        duet.disconnect()
    before = duet.session.commit([put("of:before", 1)])
    with pytest.raises(InvalidValue, match="cannot be stored") as refusal:
        duet.session.commit([put("of:bad", bad)])
    assert refusal.value.path[:4] == ("operations", 0, "value", "value") or bad is LOOP
    assert duet.visible("of:bad") is None
    transaction = Transaction(duet.session)
    transaction.write("of:good", (), {"value": 1})
    with pytest.raises(InvalidValue) as refusal:
        transaction.write("of:good", ("value", "x"), bad)
    assert refusal.value.path[:2] == ("value", "x")
    after = transaction.commit()
    duet.run()
    duet.online = True
    duet.reconnect()
    assert (before.result().seq, after.result().seq) == (1, 2)  # type: ignore[union-attr]
    assert world.store.read("of:bad") is None
    assert outbox.pending == {}


@pytest.mark.shows("SYNC-UNSENDABLE")
@pytest.mark.parametrize("kind", ["id", "branch", "path"])
def test_the_rest_of_a_commit_is_checked_too(world: World, kind: str) -> None:
    duet = Duet(world, "S")
    bad = "of:\ud800"
    operations = {
        "id": [put(bad, 1)],
        "branch": [put("of:a", 1)],
        "path": [{"op": "patch", "id": "of:a", "patches": [{"op": "remove", "path": "/" + bad}]}],
    }[kind]
    with pytest.raises(InvalidValue):
        duet.session.commit(operations, (), bad if kind == "branch" else "")
    duet.session.commit([put("of:a", 1)])
    duet.run()
    assert world.store.read("of:a") == {"value": 1}


@pytest.mark.shows("SYNC-UNSENDABLE")
def test_what_was_written_is_what_is_sent_whatever_the_caller_does_later(world: World) -> None:
    duet = Duet(world, "S")
    duet.online = False
    duet.disconnect()
    mine: dict[str, Any] = {"value": {"n": [1]}}
    duet.session.commit([{"op": "set", "id": "of:a", "value": mine}])
    mine["value"]["n"].append(float("nan"))
    assert duet.visible("of:a") == {"value": {"n": [1]}}
    duet.online = True
    duet.reconnect()
    assert world.store.read("of:a") == {"value": {"n": [1]}}


@pytest.mark.shows("SYNC-UNSENDABLE")
def test_a_request_that_cannot_be_encoded_is_refused_and_the_next_is_answered(
    world: World,
) -> None:
    duet = Duet(world, "S")
    asked = duet.session.query({"roots": [], "x": float("nan")})
    watched = duet.session.watch_add([watch("of:a", schema={"x": object()})])
    fine = duet.session.watch_add([watch("of:b")])
    named = duet.session.create_branch("\ud800")
    duet.run()
    for refused in (asked, watched, named):
        with pytest.raises(RequestRefused, match="cannot be stored"):
            refused.result()
    assert fine.result().to_seq == 0
    assert list(duet.session.watches) == ["of:b"]


# too large


@pytest.mark.shows("SYNC-TOO-LARGE")
def test_a_commit_that_no_server_reads_is_refused_here(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        outgoing_values, "MESSAGE_BYTES_MAX", outgoing_values.ENVELOPE_BYTES + 2_000
    )
    duet = Duet(world, "S")
    for text in ("x" * 2_000, "ä" * 1_000):
        with pytest.raises(CommitRefused, match="bytes long; at most 2000 are sent") as refusal:
            duet.session.commit([put("of:large", text)])
        assert refusal.value.name == "MessageTooLargeError"
        assert "split the commit" in refusal.value.hint
    landed = duet.session.commit([put("of:a", "x" * 1_000)])
    duet.run()
    assert landed.result().seq == 1
    assert duet.visible("of:large") is None


@pytest.mark.shows("SYNC-TOO-LARGE")
def test_a_commit_that_this_server_does_not_read_is_refused_by_it_once() -> None:
    world = World(limits=Limits(message_bytes_max=1_000))
    duet = Duet(world, "S")
    before = duet.session.commit([put("of:a", 1)])
    large = duet.session.commit([put("of:large", "x" * 1_000)])
    after = duet.session.commit([put("of:b", 1)])
    duet.run()
    assert (before.result().seq, after.result().seq) == (1, 2)
    with pytest.raises(CommitRefused) as refusal:
        large.result()
    assert refusal.value.name == "MessageTooLargeError"
    assert duet.session.sent == [1, 2, 3]
    assert duet.client.connections == 1
    world.close()


def close_as_too_big(duet: Duet) -> None:
    """The server closes with 1009, before it has answered anything."""
    duet._drop()
    duet.client.transport_down("frame exceeds limit", TOO_BIG)
    duet.run()


@pytest.mark.shows("SYNC-TOO-LARGE")
def test_a_server_that_closes_with_1009_has_refused_the_largest_message(world: World) -> None:
    """It was sent again on every connection, for ever, and nothing behind it landed."""
    outbox = MemoryOutbox()
    duet = Duet(world, "S", outbox=outbox)
    duet.hold_answers = lambda _: True
    before = duet.session.commit([put("of:a", 1)])
    large = duet.session.commit([put("of:large", "x" * 3_000)])
    after = duet.session.commit([put("of:b", 1)])
    duet.run(turns=False)
    close_as_too_big(duet)
    with pytest.raises(CommitRefused, match=r"the message is 3\d\d\d bytes long") as refusal:
        large.result()
    assert refusal.value.name == "MessageTooLargeError"
    assert duet.visible("of:large") is None
    duet.hold_answers = lambda _: False
    duet.reconnect()
    assert before.result().seq < after.result().seq
    assert duet.session.sent.count(2) == 1  # type: ignore[arg-type]
    assert outbox.pending == {}


@pytest.mark.shows("SYNC-TOO-LARGE")
def test_a_query_that_is_too_large_does_not_cost_a_commit(world: World) -> None:
    duet = Duet(world, "S")
    duet.hold_answers = lambda _: True
    commit = duet.session.commit([put("of:a", 1)])
    query = duet.session.query({"roots": [], "x": "y" * 3_000})
    duet.run(turns=False)
    close_as_too_big(duet)
    with pytest.raises(RequestRefused) as refusal:
        query.result()
    assert refusal.value.name == "MessageTooLargeError"
    duet.hold_answers = lambda _: False
    duet.reconnect()
    assert commit.result().seq == 1


@pytest.mark.shows("SYNC-BACKOFF")
def test_the_wait_grows_until_a_session_was_restored(world: World) -> None:
    """A server that said hello and then failed was dialled every 25 ms."""
    duet = Duet(world, "S")
    for _ in range(4):
        duet.hold_answers = lambda frame: frame["type"] == "response"
        duet.disconnect()
        duet.reconnect()
        assert duet.client.ready
    assert duet.waits == [25, 50, 100, 200]
    duet.disconnect()
    duet.hold_answers = lambda _: False
    duet.reconnect()
    assert duet.session.live
    duet.disconnect()
    assert duet.waits[-2:] == [400, 25]


# what was not agreed


REQUESTS: dict[str, Any] = {
    "history": lambda session: session.history(0),
    "branch list": lambda session: session.branches(),
    "branch create": lambda session: session.create_branch("draft"),
    "branch delete": lambda session: session.delete_branch("draft"),
    "branch diff": lambda session: session.diff_branch("draft"),
    "merge": lambda session: session.propose_merge("draft"),
}


@pytest.mark.shows("SYNC-NOT-AGREED")
@pytest.mark.parametrize("kind", REQUESTS)
@pytest.mark.parametrize("connected", [True, False])
def test_what_the_server_did_not_agree_to_is_refused_here(
    world: World, kind: str, connected: bool
) -> None:
    """A server of the first version did not know the request, and the caller waited for ever."""
    duet = Duet(world, "S", capabilities=frozenset({"coverage"}), start=connected)
    session: SpaceSession = duet.session
    outcome = REQUESTS[kind](session)
    duet.client.start()
    duet.run()
    with pytest.raises(CapabilityMissing, match="does not have the capability"):
        outcome.result()
    assert not any("branch" in kind or "history" in kind for kind in map(_kind, duet.sent))
    landed = session.commit([put("of:a", 1)])
    duet.run()
    assert landed.result().seq == 1


def _kind(message: Any) -> str:
    return str(message.__struct_config__.tag)


@pytest.mark.shows("SYNC-NOT-AGREED", "SYNC-EXISTING")
def test_a_client_that_wants_no_space_made_leaves_a_server_that_would_make_it(
    world: World,
) -> None:
    duet = Duet(world, "S", capabilities=OURS | {EXISTING}, start=False)
    started = duet.client.start()
    duet.client.take()
    duet.client.transport_up()
    duet.client.receive(HelloOk(protocol="memory/v2", flags=FLAGS))
    with pytest.raises(CapabilityMissing, match="existing"):
        started.result()
    assert duet.session.over
    assert "session.open" not in map(_kind, duet.sent)


# a newer peer


@pytest.mark.shows("SYNC-NEWER-PEER")
@pytest.mark.parametrize(
    "answer",
    [
        HelloOk(protocol="memory/v3", flags=FLAGS),
        Response(
            request_id="handshake",
            error=Refused(name="UnsupportedProtocol", message="Unsupported protocol: memory/v2"),
        ),
        None,
    ],
    ids=["another protocol", "refused", "not a message"],
)
def test_a_newer_server_is_named_as_such_and_not_tried_again(answer: Any, world: World) -> None:
    """The client retried until its time was over and then reported that something is not JSON."""
    duet = Duet(world, "S", start=False)
    started = duet.client.start()
    duet.client.take()
    duet.client.transport_up()
    if answer is None:
        duet.client.unreadable(InvalidMessage("not JSON"), 'fvj1:{"type":"hello.ok"}')
    else:
        duet.client.receive(answer)
    with pytest.raises(ProtocolError, match=r"memory/v2") as refusal:
        started.result()
    assert "newer" in refusal.value.hint
    duet.client.transport_down("closed")
    duet.client.timer("reconnect")
    assert not any("Dial" in repr(action) for action in duet.client.take())


# after a restart


@pytest.mark.shows("SYNC-OUTBOX-SHOWN")
@pytest.mark.parametrize("landed_below", [False, True])
def test_patches_in_the_outbox_are_shown_before_they_are_confirmed(
    world: World, landed_below: bool
) -> None:
    """A patch was invisible after a restart: the document below it was not known."""
    world.commit("other", 1, put("of:a", {"n": 1, "list": []}))
    outbox = MemoryOutbox()
    duet = Duet(world, "S", outbox=outbox)
    duet.session.watch_add([watch("of:a")])
    duet.run()
    if landed_below:
        # It lands on a change that this client has not seen, so it stays a layer.
        world.commit("other", 2, put("of:b", 1))
        duet.session.commit([append("of:a", "landed")])
        duet.run()
    duet.online = False
    duet.disconnect()
    for name in ("x", "y"):
        duet.session.commit([append("of:a", name)])
    shown = duet.visible("of:a")
    assert shown["value"]["list"][-2:] == ["x", "y"]
    again = Duet(world, "S", outbox=outbox, start=False)
    assert again.visible("of:a") == shown
    again.client.start()
    again.run()
    assert again.visible("of:a") == shown == world.store.read("of:a")
    assert outbox.kept == {}


def append(id: str, value: str) -> dict[str, Any]:
    patch = {"op": "append", "path": "/value/list", "values": [value]}
    return {"op": "patch", "id": id, "patches": [patch]}
