"""The server's rules, one story each, told through frames."""

import json
from typing import Any

import pytest

from holdfast.errors import StoreError
from holdfast.store.errors import StoreUnreachable
from holdfast.store.model import Guard
from holdfast.store.store import Store
from holdfast.sync.server.settings import OnCommitted
from tests.sync.peers import (
    FLAGS,
    SPACE,
    Json,
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


class Held:
    """A way to the disk that keeps commits until they are let go, in order."""

    def __init__(self) -> None:
        self.waiting: list[tuple[Store, str, Any, OnCommitted, Guard | None]] = []
        self.open = False

    def __call__(
        self, store: Store, session: str, commit: Any, tell: OnCommitted, guard: Guard | None
    ) -> None:
        self.waiting.append((store, session, commit, tell, guard))
        if self.open:
            self.release()

    def release(self, most: int = 1_000) -> None:
        for _ in range(min(most, len(self.waiting))):
            store, session, commit, tell, guard = self.waiting.pop(0)
            try:
                tell(store.transact(session, commit, guard))
            except StoreError as refusal:
                tell(refusal)


# the handshake


@pytest.mark.shows("SYNC-4.4-OK")
def test_hello_is_answered_with_the_same_flags(world: World) -> None:
    assert Peer(world).hello() == {"type": "hello.ok", "protocol": "memory/v2", "flags": FLAGS}


@pytest.mark.shows("SYNC-4.4-OTHER-PROTOCOL")
def test_another_protocol_is_refused_and_the_peer_may_try_again(world: World) -> None:
    peer = Peer(world)
    frames = peer.send({"type": "hello", "protocol": "memory/v9", "flags": FLAGS})
    error = {"name": "UnsupportedProtocol", "message": "Unsupported protocol: memory/v9"}
    assert frames == [{"type": "response", "requestId": "handshake", "error": error}]
    assert peer.hello()["type"] == "hello.ok"


@pytest.mark.shows("T50", "SYNC-4.4-FLAGS")
def test_other_flags_are_refused_and_both_sets_are_printed(world: World) -> None:
    peer = Peer(world)
    theirs = {**FLAGS, "canonicalHashing": True}
    frame = peer.send({"type": "hello", "protocol": "memory/v2", "flags": theirs})[0]
    name, message = refused(frame)
    assert name == "ProtocolError"
    assert message.startswith("memory/v2 flag mismatch: client=")
    assert json.loads(message.split("client=")[1].split(" server=")[0]) == theirs
    assert json.loads(message.split(" server=")[1]) == FLAGS


@pytest.mark.shows("SYNC-4.4-FIRST", "W10")
def test_nothing_comes_before_hello(world: World) -> None:
    frames = Peer(world).send(
        {"type": "session.open", "requestId": "o", "space": SPACE, "session": {}}
    )
    error = {"name": "ProtocolError", "message": "memory/v2 hello is required first"}
    assert frames == [{"type": "response", "requestId": "handshake", "error": error}]
    assert world.opened == []


@pytest.mark.shows("SYNC-4.4-ONCE")
def test_hello_comes_once(world: World) -> None:
    peer = world.peer()
    assert refused(peer.hello()) == ("ProtocolError", "hello may only be sent once")
    assert peer.connection.closing == (1008, "hello may only be sent once")


@pytest.mark.shows("SYNC-4.1-INVALID")
def test_a_frame_that_is_no_message_is_refused_and_the_connection_goes_on(world: World) -> None:
    peer = world.peer("S")
    for text in ("nonsense", '{"type":"subscribe"}', "[]"):
        peer.connection.receive(text)
        error = {"name": "InvalidMessageError", "message": "Unable to parse memory/v2 message"}
        assert peer.drain() == [{"type": "response", "requestId": "invalid", "error": error}]
    assert peer.transact(set_("a", 1))["ok"]["seq"] == 1


@pytest.mark.shows("SYNC-ANSWERED-BY-ID")
def test_a_commit_with_a_value_that_cannot_be_stored_is_refused_and_its_neighbours_land(
    world: World,
) -> None:
    peer = world.peer("S")
    bad = peer.command("transact", commit=commit(2, set_("b", "\ud800")))
    frames = [
        peer.command("transact", commit=commit(1, set_("a", 1))),
        bad,
        peer.command("transact", commit=commit(3, set_("c", 1))),
    ]
    peer.connection.receive(*map(json.dumps, frames))
    first, refusal, third = peer.drain()
    assert (first["ok"]["seq"], third["ok"]["seq"]) == (1, 2)
    assert refusal["requestId"] == bad["requestId"]
    assert refused(refusal)[0] == "TransactionError"
    assert "/commit/operations/0/value/value" in refused(refusal)[1]


@pytest.mark.shows("SYNC-4.1-BINARY")
def test_a_binary_frame_ends_the_connection(world: World) -> None:
    peer = world.peer("S")
    peer.connection.receive_binary()
    assert peer.connection.closing is not None
    assert peer.connection.closing[0] == 1003


@pytest.mark.shows("SYNC-4.1-BEFORE-HELLO")
def test_more_than_a_mebibyte_before_hello_ends_the_connection(world: World) -> None:
    peer = Peer(world)
    peer.connection.receive("x" * (1 << 20) + "x")
    assert peer.connection.closing is not None
    assert peer.connection.closing[0] == 1009


# sessions


@pytest.mark.shows("T45", "T46")
def test_one_id_in_two_spaces_is_two_sessions_of_one_connection(world: World) -> None:
    peer = world.peer("S")
    peer.transact(set_("a", 1))
    other = "did:key:z6Mk-other"
    answer = peer.open("S", space=other)
    assert answer["ok"]["serverSeq"] == 0
    assert "resumed" not in answer["ok"]
    assert peer.transact(set_("a", 2), local_seq=1)["ok"]["seq"] == 1
    peer.space = SPACE
    assert peer.query(roots=[root("a")])["ok"]["entities"][0]["document"] == {"value": 1}


@pytest.mark.shows("T47", "SYNC-4.5-PRINCIPAL")
def test_a_session_stays_with_its_first_principal() -> None:
    world = World(authorize=lambda space, request, proof: request.authorization["principal"])
    first = world.peer("S", authorization={"principal": "did:key:alice"})
    second = world.peer()
    answer = second.open("S", token=first.token, authorization={"principal": "did:key:bob"})
    assert refused(answer) == (
        "AuthorizationError",
        "session S is already bound to did:key:alice",
    )
    world.close()


@pytest.mark.parametrize(
    ("kind", "members"),
    [
        ("transact", {"commit": commit(1, set_("a", 1))}),
        ("graph.query", {"query": {"roots": []}}),
        ("session.watch.set", {"watches": []}),
        ("session.watch.add", {"watches": []}),
        ("session.ack", {"seenSeq": 0}),
    ],
)
@pytest.mark.shows("T48", "SYNC-4.7")
def test_a_session_is_used_only_on_its_own_connection(
    world: World, kind: str, members: Json
) -> None:
    world.peer("S")
    stranger = world.peer()
    stranger.session = "S"
    assert refused(stranger.ask(kind, **members)) == (
        "SessionError",
        "Session is not open on this connection",
    )
    assert world.store.newest_seq() == 0


@pytest.mark.shows("T49", "F7", "INV-32", "SYNC-4.5-TOKEN", "SYNC-4.5-TAKEOVER")
def test_the_current_token_takes_a_session_over(world: World) -> None:
    old = world.peer("S")
    stale_token = old.token
    new = world.peer()
    answer = new.open("S", token=stale_token)
    assert answer["ok"]["resumed"] is True
    assert answer["ok"]["sessionToken"] != stale_token
    assert old.drain() == [
        {"type": "session/revoked", "space": SPACE, "sessionId": "S", "reason": "taken-over"}
    ]
    assert refused(old.query(roots=[]))[0] == "SessionError"
    assert refused(old.transact(set_("a", 1)))[0] == "SessionError"
    assert refused(old.open("S", token=stale_token)) == (
        "SessionRevokedError",
        "session S resume token is no longer valid",
    )
    assert refused(old.open("S"))[0] == "SessionRevokedError"
    assert new.transact(set_("a", 1))["ok"]["seq"] == 1


@pytest.mark.shows("SYNC-LOST-OPEN")
def test_a_client_that_never_got_its_token_is_not_locked_out(world: World) -> None:
    def capable() -> Peer:
        return world.peer(capabilities=["coverage"])

    lost = capable()
    lost.open("S")
    lost.connection.disconnected()
    first = capable()
    assert "ok" in first.open("S")
    first.watch_set(watch("w", root("a")))
    first.connection.disconnected()
    lost_again = capable()
    lost_again.open("S", token=first.token)
    lost_again.connection.disconnected()
    second = capable()
    answer = second.open("S", token=first.token)["ok"]
    assert answer["resumed"] is True
    # Once the new token was received and used, the old one is worth nothing.
    second.query(roots=[])
    second.connection.disconnected()
    assert refused(capable().open("S", token=first.token))[0] == "SessionRevokedError"
    assert refused(capable().open("S"))[0] == "SessionRevokedError"


@pytest.mark.shows("SYNC-4.5-TOKEN")
def test_for_a_peer_of_the_first_version_only_the_current_token_counts(world: World) -> None:
    world.peer("S").connection.disconnected()
    assert refused(world.peer().open("S"))[0] == "SessionRevokedError"


@pytest.mark.parametrize("subject", ["../../evil", "nested/space", "..", ".", "", "a\0b", "a\\b"])
@pytest.mark.shows("T51", "INV-33", "SYNC-4.5-UNSAFE")
def test_an_unsafe_space_is_refused_before_anything_is_opened(subject: str, tmp_path: Any) -> None:
    world = World(str(tmp_path))
    answer = world.peer().open("S", space=subject)
    assert refused(answer) == (
        "ProtocolError",
        f"Invalid memory space identifier for store path: {subject}",
    )
    assert list(tmp_path.iterdir()) == []
    world.close()


@pytest.mark.shows("SYNC-4.5-TTL")
def test_a_session_without_a_connection_is_kept_for_thirty_seconds(world: World) -> None:
    first = world.peer("S")
    first.watch_set(watch("w", root("a")))
    first.connection.disconnected()
    world.now += 29_999
    second = world.peer("S", token=first.token)
    assert second.session == "S"
    second.connection.disconnected()
    world.now += 30_000
    third = world.peer()
    answer = third.open("S", token=second.token)
    assert "resumed" not in answer["ok"]
    assert world.server.registry.sweep(world.now) == 0


@pytest.mark.shows("SYNC-4.5-TTL")
def test_sessions_are_swept_when_their_time_is_over(world: World) -> None:
    for name in ("a", "b", "c"):
        world.peer(name).connection.disconnected()
        world.now += 10_000
    assert len(world.server.registry) == 3
    world.server.sweep()
    assert len(world.server.registry) == 2
    world.now += 30_000
    world.server.sweep()
    assert len(world.server.registry) == 0


@pytest.mark.shows("SYNC-4.5-MINT")
def test_a_session_without_a_name_gets_one(world: World) -> None:
    one, other = world.peer(), world.peer()
    assert one.open()["ok"]["sessionId"] != other.open()["ok"]["sessionId"]


# commits and queries


@pytest.mark.shows("T52")
def test_open_transact_and_query_answer_exactly(world: World) -> None:
    peer = world.peer()
    assert peer.open("S")["ok"] == {"sessionId": "S", "sessionToken": peer.token, "serverSeq": 0}
    revision = {
        "id": "of:1",
        "branch": "",
        "seq": 1,
        "opIndex": 0,
        "commitSeq": 1,
        "op": "set",
        "document": {"value": 1},
    }
    assert peer.transact(set_("of:1", 1))["ok"] == {
        "seq": 1,
        "branch": "",
        "revisions": [revision],
    }
    assert peer.query(roots=[root("of:1")])["ok"] == {
        "serverSeq": 1,
        "entities": [{"branch": "", "id": "of:1", "seq": 1, "document": {"value": 1}}],
    }


@pytest.mark.shows("T53", "SYNC-4.8-SUBSCRIBE")
def test_a_query_cannot_subscribe(world: World) -> None:
    answer = world.peer("S").query(roots=[], subscribe=True)
    assert refused(answer) == (
        "ProtocolError",
        "live graph.query subscriptions were removed; use session.watch.set",
    )


@pytest.mark.shows("F9", "SYNC-4.8")
def test_a_query_honours_branch_and_seq(world: World) -> None:
    peer = world.peer("S")
    peer.transact(set_("r", "base"))
    world.store.create_branch("feature")
    peer.transact(set_("r", "changed"), branch="feature")
    then = peer.query(roots=[root("r")], branch="feature", atSeq=1)["ok"]
    assert then == {
        "serverSeq": 2,
        "entities": [{"branch": "feature", "id": "r", "seq": 1, "document": {"value": "base"}}],
    }
    now = peer.query(roots=[root("r")], branch="feature")["ok"]
    assert now["entities"][0]["document"] == {"value": "changed"}
    assert refused(peer.query(roots=[], branch="nope")) == ("QueryError", "unknown branch: nope")
    assert refused(peer.query(roots=[], atSeq=3)) == (
        "QueryError",
        "seq 3 is out of range for branch ",
    )


@pytest.mark.shows("F1")
def test_a_commit_lands_once_and_a_different_one_is_refused(world: World) -> None:
    peer = world.peer("S")
    for _ in range(2):
        assert peer.transact(set_("d", "world"), local_seq=1)["ok"]["seq"] == 1
    answer = peer.transact(set_("d", "different"), local_seq=1)
    assert refused(answer) == (
        "ProtocolError",
        "commit replay mismatch for session S localSeq 1",
    )
    assert world.store.read("d") == {"value": "world"}
    assert world.store.newest_seq() == 1


@pytest.mark.shows("F2", "T63", "SYNC-3.4-CONFLICT")
def test_fresh_state_arrives_before_the_conflict(world: World) -> None:
    peer = world.peer("A")
    first = peer.watch_set(watch("w", root("of:1")))["ok"]["sync"]
    assert first["upserts"] == [{"branch": "", "id": "of:1", "seq": 0, "deleted": True}]
    peer.transact(set_("of:1", 1))
    peer.transact(set_("of:1", 3))
    frames = peer.send(
        peer.command(
            "transact",
            commit=commit(3, set_("of:1", 2), confirmed=[{"id": "of:1", "path": [], "seq": 1}]),
        )
    )
    assert [frame["type"] for frame in frames] == ["session/effect", "response"]
    assert frames[0]["effect"]["toSeq"] == 2
    assert frames[0]["effect"]["upserts"][0]["doc"] == {"value": 3}
    assert refused(frames[1]) == (
        "ConflictError",
        "stale confirmed read: of:1 at seq 1 conflicted with seq 2",
    )
    assert set(frames[1]["error"]) == {"name", "message"}
    world.now += 1_000
    world.server.refresh()
    assert peer.drain() == []


@pytest.mark.shows("SYNC-3.4-CONFLICT")
def test_a_conflict_about_something_unwatched_sends_only_the_error(world: World) -> None:
    peer, other = world.peer("A"), world.peer("B")
    other.watch_set(watch("w", root("b")))
    peer.transact(set_("a", 1))
    peer.transact(set_("b", 1))
    frames = peer.send(
        peer.command(
            "transact",
            commit=commit(3, set_("a", 2), confirmed=[{"id": "a", "path": [], "seq": 0}]),
        )
    )
    assert [frame["type"] for frame in frames] == ["response"]
    # The flush reaches every connection of the space.
    assert [upserts(sync) for sync in other.effects()] == [[("b", 2)]]


@pytest.mark.shows("SYNC-3.4-TRANSACTION")
def test_what_can_never_land_is_a_transaction_error(world: World) -> None:
    peer = world.peer("S")
    for operations in (
        [],
        [{"op": "set", "id": "a", "value": 1}],
        [{"op": "patch", "id": "a", "patches": [{"op": "remove", "path": "/value/x"}]}],
        [{"op": "grow", "id": "a"}],
    ):
        assert refused(peer.transact(*operations, local_seq=1))[0] == "TransactionError"
    assert refused(peer.transact(set_("a", 1), branch="nope", local_seq=1)) == (
        "TransactionError",
        "unknown branch: nope",
    )
    assert peer.transact(set_("a", 1), local_seq=1)["ok"]["seq"] == 1


# watches


@pytest.mark.shows("T43", "SYNC-4.10")
def test_a_watcher_hears_of_another_sessions_commit(world: World) -> None:
    writer, watcher = world.peer("A"), world.peer("B")
    writer.transact(set_("of:1", 1))
    first = watcher.watch_set(watch("w", root("of:1")))["ok"]
    assert first["serverSeq"] == 1
    assert upserts(first["sync"]) == [("of:1", 1)]
    writer.transact(set_("of:1", 2))
    assert watcher.drain() == []
    world.now += 5
    world.server.refresh()
    assert watcher.effects() == [
        {
            "type": "sync",
            "fromSeq": 1,
            "toSeq": 2,
            "upserts": [{"branch": "", "id": "of:1", "seq": 2, "doc": {"value": 2}}],
            "removes": [],
        }
    ]
    assert writer.drain() == []


@pytest.mark.shows("SYNC-4.10")
def test_the_writers_own_session_hears_its_echo_and_a_delete_is_no_remove(world: World) -> None:
    peer = world.peer("A")
    peer.watch_set(watch("w", root("of:1")))
    peer.transact(set_("of:1", 1))
    world.server.flush()
    assert [upserts(sync) for sync in peer.effects()] == [[("of:1", 1)]]
    peer.transact({"op": "delete", "id": "of:1"})
    world.server.flush()
    (gone,) = peer.effects()
    assert gone["upserts"] == [{"branch": "", "id": "of:1", "seq": 2, "deleted": True}]
    assert gone["removes"] == []


def chain(world: World, prefix: str, length: int) -> list[Json]:
    """Documents that link one to the next."""
    return [
        set_(f"{prefix}{n}", {"next": link(f"{prefix}{n + 1}")} if n + 1 < length else {})
        for n in range(length)
    ]


@pytest.mark.shows("T54", "T55", "INV-27")
def test_a_retarget_sends_what_is_newly_reached_and_a_shrink_removes_nothing(
    world: World,
) -> None:
    writer, watcher = world.peer("A"), world.peer("B")
    writer.transact(
        *chain(world, "seen", 32), *chain(world, "hidden", 32), set_("root", link("seen0"))
    )
    first = watcher.watch_set(watch("g", root("root", True)))["ok"]["sync"]
    assert len(first["upserts"]) == 33
    writer.transact(set_("root", [link("seen0"), link("hidden0")]))
    world.server.flush()
    (grown,) = watcher.effects()
    assert len(grown["upserts"]) == 33
    assert {id for id, _ in upserts(grown)} == {"root"} | {f"hidden{n}" for n in range(32)}
    assert grown["removes"] == []
    writer.transact(set_("root", link("seen0")))
    world.server.flush()
    (shrunk,) = watcher.effects()
    assert (upserts(shrunk), shrunk["removes"]) == ([("root", 3)], [])
    world.now += 300
    world.server.refresh()
    assert watcher.drain() == []
    writer.transact(set_("hidden3", "still served"))
    world.server.flush()
    assert [upserts(sync) for sync in watcher.effects()] == [[("hidden3", 4)]]


@pytest.mark.shows("T56", "INV-36")
def test_nothing_is_sent_after_the_connection_closed(world: World) -> None:
    writer, watcher = world.peer("A"), world.peer("B")
    watcher.watch_set(watch("w", root("of:1")))
    writer.transact(set_("of:1", 1))
    watcher.connection.disconnected()
    world.server.flush()
    assert watcher.drain() == []


@pytest.mark.shows("INV-36")
def test_nothing_is_sent_before_hello_and_open(world: World) -> None:
    silent, greeted, writer = Peer(world), world.peer(), world.peer("A")
    writer.transact(set_("of:1", 1))
    world.server.flush()
    assert silent.drain() == greeted.drain() == []


@pytest.mark.shows("T57", "T58", "T59")
def test_only_what_changed_is_sent(world: World) -> None:
    writer, watcher = world.peer("A"), world.peer("B")
    writer.transact(set_("a", 1), set_("b", 1))
    first = watcher.watch_add(watch("wa", root("a")))["ok"]["sync"]
    assert upserts(first) == [("a", 1)]
    second = watcher.watch_add(watch("wb", root("b")))["ok"]["sync"]
    assert (upserts(second), second["removes"]) == ([("b", 1)], [])
    writer.transact(set_("b", 2))
    world.server.flush()
    assert [upserts(sync) for sync in watcher.effects()] == [[("b", 2)]]


@pytest.mark.shows("T60", "F3", "SYNC-4.9-ADD")
def test_a_watch_id_is_taken_once(world: World) -> None:
    writer, watcher = world.peer("A"), world.peer("B")
    writer.transact(set_("doc1", 1), set_("doc2", 1))
    watcher.watch_set(watch("shared", root("doc1")))
    taken = (
        "ProtocolError",
        "session.watch.add may not replace an existing watch id; use session.watch.set",
    )
    assert refused(watcher.watch_add(watch("shared", root("doc1"), root("doc2")))) == taken
    for same in (
        watch("shared", root("doc1")),
        {
            "kind": "graph",
            "query": {
                "branch": "",
                "roots": [{"selector": {"schema": False, "path": []}, "id": "doc1"}],
            },
            "id": "shared",
        },
    ):
        answer = watcher.watch_add(same)["ok"]
        assert answer["sync"] == {
            "type": "sync",
            "fromSeq": 1,
            "toSeq": 1,
            "upserts": [],
            "removes": [],
        }
    assert refused(watcher.watch_add(watch("shared", root("doc2")))) == taken
    writer.transact(set_("doc2", 2))
    world.server.flush()
    assert watcher.drain() == []


@pytest.mark.shows("SYNC-4.9-TWICE")
def test_two_watches_of_one_id_in_one_request_are_refused(world: World) -> None:
    peer = world.peer("A")
    twins = (watch("w", root("a")), watch("w", root("b")))
    assert refused(peer.watch_add(*twins))[0] == "ProtocolError"
    assert refused(peer.watch_set(*twins))[0] == "ProtocolError"
    assert upserts(peer.watch_add(watch("w", root("a")))["ok"]["sync"]) == [("a", 0)]


@pytest.mark.parametrize(
    "broken",
    [
        watch("bad", root("b"), branch="nope"),
        {"id": "bad", "kind": "graph", "query": {"roots": [{"id": 1}]}},
        {"id": "bad", "kind": "graph", "query": {"roots": 3}},
        {"id": "bad", "kind": "graph", "query": {"roots": [root("b")], "branch": 3}},
    ],
)
@pytest.mark.shows("T61", "INV-26", "SYNC-4.9-ROLLBACK")
def test_a_broken_watch_takes_the_good_ones_of_its_request_with_it(
    world: World, broken: Json
) -> None:
    writer, watcher = world.peer("A"), world.peer("B")
    watcher.watch_set(watch("old", root("old")))
    assert refused(watcher.watch_add(watch("good", root("good")), broken))[0] == "QueryError"
    assert refused(watcher.watch_set(watch("good", root("good")), broken))[0] == "QueryError"
    writer.transact(set_("good", 1), set_("old", 1))
    world.server.flush()
    assert [upserts(sync) for sync in watcher.effects()] == [[("old", 1)]]


@pytest.mark.shows("T62", "SYNC-4.9-SET")
def test_replacing_the_watches_removes_what_left(world: World) -> None:
    peer = world.peer("A")
    peer.transact(set_("a", 1), set_("b", 1))
    peer.watch_set(watch("one", root("a")))
    sync = peer.watch_set(watch("two", root("b")))["ok"]["sync"]
    assert upserts(sync) == [("b", 1)]
    assert sync["removes"] == [{"branch": "", "id": "a"}]


@pytest.mark.shows("F5", "SYNC-4.5-RESUME")
def test_a_resumed_session_is_sent_what_it_missed(world: World) -> None:
    writer, watcher = world.peer("A"), world.peer("B")
    watcher.watch_set(watch("w", root("of:1")))
    watcher.connection.disconnected()
    writer.transact(set_("of:1", 1))
    back = world.peer()
    answer = back.open("B", token=watcher.token, seen=0)["ok"]
    assert answer["resumed"] is True
    assert upserts(answer["sync"]) == [("of:1", 1)]
    back.connection.disconnected()
    again = world.peer()
    nothing = again.open("B", token=back.token, seen=1)["ok"]
    assert nothing["resumed"] is True
    assert "sync" not in nothing
    writer.transact(set_("of:1", 2))
    world.server.flush()
    assert [upserts(sync) for sync in again.effects()] == [[("of:1", 2)]]


@pytest.mark.shows("SYNC-4.10-ACK")
def test_an_ack_moves_the_start_of_the_next_full_sync(world: World) -> None:
    peer = world.peer("A")
    peer.transact(set_("a", 1))
    assert peer.ask("session.ack", seenSeq=1)["ok"] == {"serverSeq": 1}
    assert peer.ask("session.ack", seenSeq=0)["ok"] == {"serverSeq": 1}
    assert peer.watch_set(watch("w", root("a")))["ok"]["sync"]["fromSeq"] == 1


# order and timing


@pytest.mark.shows("T64", "SYNC-4.1-ORDER")
def test_answers_come_in_the_order_of_the_questions() -> None:
    held = Held()
    world = World(commit=held)
    peer = world.peer("A")
    held.open = True
    peer.watch_set(watch("w", root("a")))
    peer.transact(set_("a", 1))
    held.open = False
    for message in (
        peer.command("transact", commit=commit(2, set_("a", 2))),
        peer.command(
            "transact",
            commit=commit(3, set_("a", 3), confirmed=[{"id": "a", "path": [], "seq": 1}]),
        ),
        peer.command("graph.query", query={"roots": [root("a")]}),
    ):
        assert peer.send(message) == []
    held.release(1)
    assert [frame["type"] for frame in peer.drain()] == ["response"]
    held.release()
    frames = peer.drain()
    assert [frame["type"] for frame in frames] == ["session/effect", "response", "response"]
    assert upserts(frames[0]["effect"]) == [("a", 2)]
    assert refused(frames[1])[0] == "ConflictError"
    assert frames[2]["ok"]["entities"][0]["document"] == {"value": 2}
    world.close()


@pytest.mark.shows("SYNC-4.1-ORDER")
def test_a_commit_refused_at_once_waits_for_its_turn() -> None:
    held = Held()
    world = World(commit=held)
    peer = world.peer("A")
    peer.send(peer.command("transact", requestId="slow", commit=commit(1, set_("a", 1))))
    stranger = peer.command("transact", requestId="fast", commit=commit(2, set_("a", 2)))
    assert peer.send({**stranger, "sessionId": "nobody"}) == []
    held.release()
    frames = peer.drain()
    assert [frame["requestId"] for frame in frames] == ["slow", "fast"]
    assert refused(frames[1])[0] == "SessionError"
    world.close()


@pytest.mark.shows("T65", "F10")
def test_a_refresh_waits_for_messages_on_their_way_and_sends_one_sync() -> None:
    held = Held()
    held.open = True
    world = World(commit=held)
    writer, watcher = world.peer("A"), world.peer("B")
    watcher.watch_set(watch("w", root("doc1"), root("doc2")))
    writer.transact(set_("doc1", 1))
    world.server.flush()
    assert [upserts(sync) for sync in watcher.effects()] == [[("doc1", 1)]]
    writer.transact(set_("doc2", 2))
    held.open = False
    writer.send(writer.command("transact", commit=commit(3, set_("doc1", 3))))
    world.now += 5
    assert world.server.refresh() is not None
    assert watcher.drain() == []
    held.release()
    world.server.refresh()
    (sync,) = watcher.effects()
    assert (sync["fromSeq"], sync["toSeq"]) == (1, 3)
    assert upserts(sync) == [("doc1", 3), ("doc2", 2)]
    world.close()


@pytest.mark.shows("T66")
def test_a_refresh_does_not_wait_for_ever() -> None:
    held = Held()
    held.open = True
    world = World(commit=held)
    writer, watcher = world.peer("A"), world.peer("B")
    watcher.watch_set(watch("w", root("doc1")))
    writer.transact(set_("doc1", 1))
    held.open = False
    writer.send(writer.command("transact", commit=commit(2, set_("doc1", 2))))
    world.now += 5 + 499
    assert world.server.refresh() == 1
    assert watcher.drain() == []
    world.now += 1
    world.server.refresh()
    assert [upserts(sync) for sync in watcher.effects()] == [[("doc1", 1)]]
    held.release()
    world.close()


@pytest.mark.shows("F6")
def test_a_commit_that_lands_after_its_connection_closed_is_seen_by_watchers() -> None:
    held = Held()
    world = World(commit=held)
    writer, watcher = world.peer("A"), world.peer("B")
    watcher.watch_set(watch("w", root("a")))
    writer.send(writer.command("transact", commit=commit(1, set_("a", 1))))
    writer.connection.disconnected()
    held.release()
    world.server.flush()
    assert [upserts(sync) for sync in watcher.effects()] == [[("a", 1)]]
    held.open = True
    back = world.peer("A", token=writer.token)
    assert back.transact(set_("a", 1), local_seq=1)["ok"]["seq"] == 1
    assert world.store.newest_seq() == 1
    world.close()


@pytest.mark.shows("F8")
def test_a_commit_that_stands_on_a_refused_one_is_refused(world: World) -> None:
    peer, other = world.peer("A"), world.peer("B")
    peer.transact(set_("a", "C1"))
    other.transact(set_("a", "foreign"))
    read = {"id": "a", "path": [], "localSeq": 1}
    assert refused(peer.transact(set_("a", "C2"), pending=[read]))[0] == "ConflictError"
    answer = peer.transact(set_("a", "C3"), pending=[{"id": "a", "path": [], "localSeq": 2}])
    assert refused(answer) == ("ConflictError", "pending dependency not resolved: 2")
    assert peer.transact(set_("b", "C4"))["ok"]["seq"] == 3


# cost


@pytest.mark.shows("SYNC-COST")
def test_a_commit_costs_nothing_for_those_who_do_not_watch_it(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = world.peer("A")
    for number in range(50):
        world.peer(f"W{number}").watch_set(watch("w", root(f"other{number}")))
    space = next(iter(world.server.spaces.values()))
    looked: list[object] = []
    refresh = type(space.watchers("", "other0")[0].watch_set).refresh  # type: ignore[arg-type]

    def counting(self: Any, *arguments: Any) -> Any:
        looked.append(self)
        return refresh(self, *arguments)

    monkeypatch.setattr("holdfast.sync.server.watch_set.WatchSet.refresh", counting)
    writer.transact(set_("mine", 1))
    assert space.stale == {}
    writer.transact(set_("other7", 1))
    assert len(space.stale) == 1
    world.server.flush()
    assert len(looked) == 1


@pytest.mark.shows("SYNC-OTHER-WRITERS")
def test_a_commit_that_did_not_pass_this_server_is_seen(world: World) -> None:
    watcher = world.peer("B")
    watcher.watch_set(watch("w", root("a")))
    world.commit("elsewhere", 1, set_("a", 1))
    assert watcher.query(roots=[root("a")])["ok"]["serverSeq"] == 1
    world.server.flush()
    (sync,) = watcher.effects()
    assert (upserts(sync), sync["toSeq"]) == ([("a", 1)], 1)
    world.commit("elsewhere", 2, set_("a", 2))
    writer = world.peer("A")
    writer.transact(set_("b", 1))
    world.server.flush()
    assert [upserts(sync) for sync in watcher.effects()] == [[("a", 2)]]


@pytest.mark.shows("SYNC-CLUSTER-DATABASE")
def test_what_is_owed_while_the_database_is_away_is_sent_when_it_is_back(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer, one, other = world.peer("A"), world.peer("B"), world.peer("C")
    for watcher in (one, other):
        watcher.watch_set(watch("w", root("a")))
    writer.transact(set_("a", 1))
    world.now += 5

    def away(*_: Any) -> None:
        raise StoreUnreachable("the database is unreachable")

    with monkeypatch.context() as patch:
        patch.setattr("holdfast.store.replay.state_at", away)
        assert world.server.refresh() == 1_000
    assert one.drain() == other.drain() == []
    world.now += 1_000
    world.server.refresh()
    for watcher in (one, other):
        assert [upserts(sync) for sync in watcher.effects()] == [[("a", 1)]]


@pytest.mark.shows("SYNC-CLUSTER-DATABASE")
def test_a_question_that_the_database_cannot_answer_ends_the_connection(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    peer = world.peer("A")
    peer.transact(set_("a", 1))

    def away(*_: Any) -> None:
        raise StoreUnreachable("the database is unreachable")

    monkeypatch.setattr("holdfast.store.replay.state_at", away)
    assert peer.send(peer.command("graph.query", query={"roots": [root("a")]})) == []
    assert peer.connection.closing == (1013, "the database is unreachable")
