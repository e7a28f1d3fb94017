"""Telling many watchers of one commit: what is worked out once serves them all."""

from contextlib import nullcontext
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.sync.server.read_cache import ReadCache
from holdfast.sync.server.watch_set import WatchSet
from tests.sync.peers import Json, World, link, root, set_, watch

IDS = [f"of:{letter}" for letter in "abcd"]
ids = st.sampled_from(IDS)
values = st.one_of(
    st.integers(0, 3), ids.map(link), st.lists(ids.map(link), min_size=1, max_size=2)
)
names = st.sampled_from(["one", "two", "three"])
steps = st.one_of(
    st.tuples(st.just("set"), ids, values, st.sampled_from(["", "draft"])),
    st.tuples(st.just("delete"), ids, st.none(), st.sampled_from(["", "draft"])),
    st.tuples(st.just("both"), ids, ids, st.none()),
    st.tuples(st.just("watch"), names, ids, st.booleans()),
    st.tuples(st.just("flush"), st.none(), st.none(), st.none()),
    st.tuples(st.just("wait"), st.none(), st.none(), st.none()),
)


def story(script: list[tuple[str, Any, Any, Any]], each_alone: bool) -> list[Any]:
    """All that three watchers are sent, in order; `each_alone` works it out for each of them."""
    world = World(remove_after_ms=50)
    writer = world.peer("writer")
    writer.transact(set_("of:a", 0))
    world.store.create_branch("draft")
    peers = {
        name: world.peer(name, capabilities=["coverage", "removes"] if name == "two" else None)
        for name in ("one", "two", "three")
    }
    heard: list[Any] = []
    alone = patch.object(WatchSet, "rewritten", lambda *_: None) if each_alone else nullcontext()
    with alone:
        for number, (kind, one, other, more) in enumerate(script):
            if kind == "set":
                writer.transact(set_(one, other), branch=more)
            elif kind == "both":
                writer.transact(set_(one, number), set_(other, number))
            elif kind == "delete":
                writer.transact({"op": "delete", "id": one}, branch=more)
            elif kind == "watch":
                branch = "draft" if number % 3 == 0 else ""
                added = watch(f"w{number}", root(other, more), branch=branch)
                heard.append(
                    peers[one].send(peers[one].command("session.watch.add", watches=[added]))
                )
            else:
                world.now += 60 if kind == "wait" else 1
                world.server.refresh()
            heard += [(name, peer.drain()) for name, peer in peers.items()]
    world.close()
    return heard


@pytest.mark.shows("SYNC-FAN-OUT")
@given(st.lists(steps, min_size=5, max_size=40))
def test_a_round_for_many_says_what_a_round_for_each_would(
    script: list[tuple[str, Any, Any, Any]],
) -> None:
    assert story(script, each_alone=False) == story(script, each_alone=True)


@pytest.mark.shows("SYNC-FAN-OUT")
def test_a_document_with_many_watchers_is_read_and_written_out_once() -> None:
    world = World()
    writer = world.peer("writer")
    writer.transact(set_("of:a", [link("of:b")]), set_("of:b", 1))
    peers = [world.peer(f"w{n}") for n in range(20)]
    for peer in peers:
        peer.watch_set(watch("w", root("of:a", True)))
    writer.transact(set_("of:b", 2))
    with patch.object(ReadCache, "text", autospec=True, side_effect=ReadCache.text) as written_out:
        world.server.flush()
    frames: list[list[Json]] = [peer.effects() for peer in peers]
    assert all(upserts == frames[0] for upserts in frames)
    assert frames[0][0]["upserts"] == [
        {"branch": "", "id": "of:b", "seq": 2, "doc": {"value": 2}},
    ]
    # The first finds out where the document leads, the second writes it out for all the others.
    assert written_out.call_count == 2
    world.close()


@pytest.mark.shows("SYNC-FAN-OUT", "INV-29")
def test_a_connection_that_is_closing_is_told_nothing_and_misses_nothing() -> None:
    """What changed was counted as sent while the frame was thrown away, and a peer of the first
    version, which cannot say how far it got, never saw it."""
    world = World()
    writer, watcher = world.peer("writer"), world.peer("watcher")
    watcher.watch_set(watch("w", root("of:a")))
    watcher.connection.receive_binary()
    writer.transact(set_("of:a", 1))
    world.server.flush()
    assert watcher.drain() == []
    watcher.connection.disconnected()
    back = world.peer().open("watcher", token=watcher.token)["ok"]
    assert back["sync"]["upserts"] == [
        {"branch": "", "id": "of:a", "seq": 1, "doc": {"value": 1}},
    ]
    world.close()
