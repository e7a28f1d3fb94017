"""Frames that nobody meant: never a crash, never a change, always the documented answer."""

import json
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.scale import examples, seeds
from tests.sync.peers import FLAGS, SPACE, Peer, World, commit, root, set_, watch
from tests.sync.wire.test_messages import REQUESTS

NAMES = {
    "AuthorizationError",
    "ConflictError",
    "InvalidMessageError",
    "ProtocolError",
    "QueryError",
    "SessionError",
    "SessionRevokedError",
    "TransactionError",
    "UnsupportedProtocol",
}
CODES = {1003, 1008, 1009}

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["S", SPACE, "set", "patch", "graph", "memory/v2", "of:a", "\x00", "/value"])
)
words = st.sampled_from(
    [
        "type", "requestId", "space", "sessionId", "session", "commit", "query", "watches", "roots",
        "localSeq", "reads", "confirmed", "pending", "operations", "op", "id", "value", "patches",
        "path", "selector", "schema", "branch", "atSeq", "seenSeq", "sessionToken", "flags",
    ]
) | st.text(max_size=5)  # fmt: skip
trees = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=5),
    max_leaves=20,
)


def ready(world: World) -> Peer:
    peer = world.peer("S", capabilities=["branches", "history", "conflicts", "coverage"])
    peer.transact(set_("of:a", 1))
    return peer


def check(world: World, peer: Peer, frame: str) -> None:
    """Feed one frame; it is answered once, by name, or ends the connection as documented."""
    before = world.store.newest_seq()
    peer.connection.receive(frame)
    frames = peer.drain()
    closing = peer.connection.closing
    if closing is not None:
        assert closing[0] in CODES
        return
    answers = [one for one in frames if one["type"] in ("response", "hello.ok")]
    assert len(answers) == 1, frames
    for one in answers:
        if "error" in one:
            assert one["error"]["name"] in NAMES, one
            assert world.store.newest_seq() == before, "a refused message changed the store"


@settings(max_examples=examples(300))
@given(st.lists(st.text() | trees.map(lambda tree: json.dumps(tree)), min_size=1, max_size=5))
@pytest.mark.shows("SYNC-FUZZ")
def test_any_text_is_answered_or_ends_the_connection(frames: list[str]) -> None:
    world = World()
    peer = ready(world)
    for frame in frames:
        check(world, peer, frame)
    check(world, Peer(world), frames[0])
    world.close()


@settings(max_examples=examples(300))
@given(st.sampled_from(REQUESTS), st.data())
@pytest.mark.shows("SYNC-FUZZ")
def test_a_request_with_anything_in_its_members_is_answered(request: Any, data: Any) -> None:
    world = World()
    peer = ready(world)
    changed = {**request, "space": SPACE, "sessionId": "S"}
    for member in data.draw(st.lists(st.sampled_from(sorted(changed)), max_size=2)):
        changed[member] = data.draw(trees)
    check(world, peer, json.dumps(changed))
    world.close()


@settings(max_examples=examples(200))
@given(st.dictionaries(words, trees, max_size=5))
@pytest.mark.shows("SYNC-FUZZ")
def test_any_commit_any_query_and_any_watch_is_answered(tree: Any) -> None:
    world = World()
    peer = ready(world)
    for message in (
        peer.command("transact", commit=tree),
        peer.command("transact", commit={**commit(2, set_("of:a", 2)), **tree}),
        peer.command("graph.query", query=tree),
        peer.command("graph.query", query={"roots": [root("of:a", tree)]}),
        peer.command("session.watch.set", watches=[{"id": "w", "kind": "graph", "query": tree}]),
        peer.command("session.watch.add", watches=[watch("x", root("of:a", tree))]),
    ):
        check(world, peer, json.dumps(message))
    world.server.flush()
    world.close()


@pytest.mark.parametrize("seed", seeds(20))
@pytest.mark.shows("SYNC-FUZZ")
def test_mutated_bytes_of_real_messages_are_answered(seed: int) -> None:
    choose = random.Random(seed)
    world = World()
    real = [
        json.dumps({**message, "space": SPACE, "sessionId": "S"}).encode() for message in REQUESTS
    ] + [
        json.dumps({"type": "hello", "protocol": "memory/v2", "flags": FLAGS}).encode(),
    ]
    peer = ready(world)
    for _ in range(60):
        frame = mutated(choose, bytearray(choose.choice(real)))
        if peer.connection.closing is not None:
            peer = world.peer(f"S{choose.random()}")
        check(world, peer, frame.decode("utf-8", "replace"))
    assert "ok" in world.peer("after").transact(set_("of:z", 1), local_seq=1)
    world.close()


def mutated(choose: random.Random, frame: bytearray) -> bytes:
    for _ in range(choose.randint(1, 4)):
        at = choose.randrange(len(frame)) if frame else 0
        match choose.randrange(5):
            case 0:
                frame[at:at] = bytes([choose.randrange(256)])
            case 1:
                del frame[at : at + choose.randint(1, 6)]
            case 2 if frame:
                frame[at] ^= 1 << choose.randrange(8)
            case 3:
                frame[at:at] = frame[: choose.randint(1, 20)]
            case _:
                frame[at:at] = choose.choice([b"null", b"1e999", b'"\\ud800"', b"[[[[", b"-1"])
    return bytes(frame)


@pytest.mark.parametrize("depth", [400, 5_000, 200_000])
@pytest.mark.shows("SYNC-FUZZ")
def test_deep_nesting_is_refused(world: World, depth: int) -> None:
    peer = ready(world)
    frame = json.dumps(peer.command("transact", commit={"localSeq": 2, "x": "@"}))
    check(world, peer, frame.replace('"@"', "[" * depth + "]" * depth))
    check(world, peer, "[" * depth)
