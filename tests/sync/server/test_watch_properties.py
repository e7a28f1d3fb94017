"""Watches under any interleaving: what a client builds from its syncs is what the server thinks."""

from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from holdfast.ids import BranchName
from holdfast.store.graph import Loaded, query_graph
from tests.scale import examples
from tests.sync.peers import Json, Peer, World, link, root, set_, watch

IDS = [f"of:{letter}" for letter in "abcdef"]
ids = st.sampled_from(IDS)
branches = st.sampled_from(["", "draft"])
values = st.one_of(st.integers(0, 3), ids.map(link), st.lists(ids.map(link), max_size=3))
CAPABLE = ["coverage", "conflicts", "removes"]


class Mirror:
    """A client's copy of its watch union, built from syncs and nothing else."""

    def __init__(self) -> None:
        self.documents: dict[tuple[str, str], Json] = {}
        self.to_seq = 0
        self.integrated = 0

    def apply(self, sync: Json) -> None:
        keys = [(entry["branch"], entry["id"]) for entry in sync["upserts"]]
        gone = [(entry["branch"], entry["id"]) for entry in sync["removes"]]
        assert keys == sorted(set(keys)), "upserts are sorted, each document once"
        assert gone == sorted(set(gone)), "removes are sorted, each document once"
        assert not set(keys) & set(gone)
        assert sync["toSeq"] >= self.to_seq, "toSeq never falls"
        self.to_seq = sync["toSeq"]
        for key, entry in zip(keys, sync["upserts"], strict=True):
            before = self.documents.get(key)
            assert before is None or before["seq"] <= entry["seq"], "no document goes back"
            self.documents[key] = entry
        for key in gone:
            self.documents.pop(key, None)
        self.integrated = max(self.integrated, self.to_seq)

    def seen(self) -> dict[tuple[str, str], tuple[int, bool]]:
        return {key: (entry["seq"], "deleted" in entry) for key, entry in self.documents.items()}


class WatchersAgreeWithTheStore(RuleBasedStateMachine):
    """Two watchers, one of the first version and one with all capabilities, and a writer."""

    def __init__(self) -> None:
        super().__init__()
        self.world = World(remove_after_ms=50)
        self.numbers = 0

    @initialize()
    def start(self) -> None:
        self.writer = self.world.peer("writer")
        self.writer.transact(set_("of:a", 0))
        self.world.store.create_branch("draft")
        self.peers: dict[str, Peer] = {}
        self.mirrors = {"seed": Mirror(), "capable": Mirror()}
        self.watches: dict[str, dict[str, Json]] = {"seed": {}, "capable": {}}
        for name in self.mirrors:
            self.peers[name] = self.world.peer(name, capabilities=self.named(name))

    @staticmethod
    def named(name: str) -> list[str] | None:
        return CAPABLE if name == "capable" else None

    def integrate(self, name: str) -> None:
        for frame in self.peers[name].drain():
            if frame["type"] == "session/effect":
                self.mirrors[name].apply(frame["effect"])

    def answered(self, name: str, frames: list[Json]) -> Json:
        """Integrate frames in the order they came; the response among them."""
        answer: Json = {}
        for frame in frames:
            if frame["type"] == "session/effect":
                self.mirrors[name].apply(frame["effect"])
            else:
                answer = frame
                if "ok" in frame and "sync" in frame["ok"]:
                    self.mirrors[name].apply(frame["ok"]["sync"])
        return answer

    @rule(id=ids, value=values, branch=branches)
    def write(self, id: str, value: Any, branch: str) -> None:
        assert "ok" in self.writer.transact(set_(id, value), branch=branch)

    @rule(one=ids, other=ids, value=values)
    def write_two(self, one: str, other: str, value: Any) -> None:
        assert "ok" in self.writer.transact(set_(one, value), set_(other, value))

    @rule(id=ids, branch=branches)
    def delete(self, id: str, branch: str) -> None:
        self.writer.transact({"op": "delete", "id": id}, branch=branch)

    @rule(id=ids)
    def conflict(self, id: str) -> None:
        self.writer.transact(set_(id, 9), confirmed=[{"id": "of:a", "path": [], "seq": 0}])

    @rule()
    def flush(self) -> None:
        self.world.server.flush()

    @rule(ms=st.sampled_from([1, 30, 100]))
    def wait(self, ms: int) -> None:
        self.world.now += ms
        self.world.server.refresh()

    @rule(name=st.sampled_from(["seed", "capable"]))
    def read(self, name: str) -> None:
        self.integrate(name)

    @rule(
        name=st.sampled_from(["seed", "capable"]),
        roots=st.lists(st.tuples(ids, st.booleans(), branches), max_size=3),
        lost=st.booleans(),
    )
    def watch_set(self, name: str, roots: list[tuple[str, bool, str]], lost: bool) -> None:
        self.integrate(name)
        watches = {
            f"w{n}": watch(f"w{n}", root(i, s), branch=b) for n, (i, s, b) in enumerate(roots)
        }
        peer = self.peers[name]
        frames = peer.send(peer.command("session.watch.set", watches=list(watches.values())))
        self.watches[name] = watches
        if lost and name == "capable":
            self.reconnect(name)
        else:
            assert "ok" in self.answered(name, frames)

    @rule(name=st.sampled_from(["seed", "capable"]), id=ids, deep=st.booleans(), branch=branches)
    def watch_add(self, name: str, id: str, deep: bool, branch: str) -> None:
        self.integrate(name)
        self.numbers += 1
        added = watch(f"added{self.numbers}", root(id, deep), branch=branch)
        peer = self.peers[name]
        frames = peer.send(peer.command("session.watch.add", watches=[added]))
        answer = self.answered(name, frames)
        assert answer["ok"]["sync"]["removes"] == [], "watch.add removes nothing"
        self.watches[name][added["id"]] = added

    @rule(name=st.sampled_from(["seed", "capable"]), id=ids)
    def watch_add_broken(self, name: str, id: str) -> None:
        session = self.session(name)
        before = (
            dict(session.watch_set.watches),
            dict(session.watch_set.known),
            session.synced_seq,
            {branch: set(graph.frontier) for branch, graph in session.watch_set.graphs.items()},
        )
        peer = self.peers[name]
        broken = [watch("fine", root(id, True)), watch("broken", root(id), branch="nowhere")]
        if name == "capable":
            # What changed before is sent first, and that is not part of the refused request.
            self.world.server.flush()
            before = (
                before[0],
                dict(session.watch_set.known),
                session.synced_seq,
                {branch: set(graph.frontier) for branch, graph in session.watch_set.graphs.items()},
            )
        frames = peer.send(peer.command("session.watch.add", watches=broken))
        assert self.answered(name, frames)["error"]["name"] == "QueryError"
        after = (
            session.watch_set.watches,
            session.watch_set.known,
            session.synced_seq,
            {branch: set(graph.frontier) for branch, graph in session.watch_set.graphs.items()},
        )
        assert before == after, "a refused watch changes nothing"

    @rule(name=st.sampled_from(["seed", "capable"]), ack=st.booleans())
    def acknowledge(self, name: str, ack: bool) -> None:
        self.integrate(name)
        frames = self.peers[name].send(
            self.peers[name].command("session.ack", seenSeq=self.mirrors[name].integrated)
        )
        self.answered(name, frames)

    @rule(name=st.sampled_from(["seed", "capable"]), lose=st.booleans())
    def disconnect(self, name: str, lose: bool) -> None:
        if not (lose and name == "capable"):
            self.integrate(name)
        self.reconnect(name)

    @rule(ms=st.sampled_from([0, 60]))
    def lose_a_sync(self, ms: int) -> None:
        """The server sends, the line breaks, and nothing of it arrives."""
        self.world.now += ms
        self.world.server.refresh()
        self.world.server.flush()
        self.reconnect("capable")

    def reconnect(self, name: str) -> None:
        """What was on its way is lost; a peer with coverage says how far it got."""
        old, mirror = self.peers[name], self.mirrors[name]
        old.drain()
        old.connection.disconnected()
        peer = self.peers[name] = Peer(self.world)
        peer.hello(self.named(name))
        answer = peer.open(name, token=old.token, seen=mirror.integrated)
        assert answer["ok"]["resumed"] is True
        if "sync" in answer["ok"]:
            mirror.apply(answer["ok"]["sync"])
        assert set(mirror.seen()) == set(self.fresh(name)), "a resume is exact"

    def session(self, name: str) -> Any:
        (session,) = self.peers[name].connection.sessions.values()
        return session

    def fresh(self, name: str) -> dict[tuple[str, str], tuple[int, bool]]:
        """The watch union, evaluated from nothing."""
        found: dict[tuple[str, str], tuple[int, bool]] = {}
        for each in self.watches[name].values():
            branch = each["query"].get("branch", "")

            def load(id: str, branch: str = branch) -> Loaded | None:
                state = self.world.store.state(id, branch)
                return None if state is None else Loaded(state.seq, state.document)

            for entity in query_graph(load, each["query"]):
                key = (BranchName(branch), entity["id"])
                found[key] = (entity["seq"], entity["document"] is None)
        return found

    @invariant()
    @precondition(lambda self: hasattr(self, "mirrors"))
    def the_mirror_is_what_the_server_thinks(self) -> None:
        for name, mirror in self.mirrors.items():
            self.integrate(name)
            known = self.session(name).watch_set.known
            assert mirror.seen() == {key: (k.seq, k.deleted) for key, k in known.items()}

    @invariant()
    @precondition(lambda self: hasattr(self, "mirrors"))
    def after_a_flush_nothing_is_missing(self) -> None:
        if any(space.stale for space in self.world.server.spaces.values()):
            return
        for name, mirror in self.mirrors.items():
            self.integrate(name)
            seen = mirror.seen()
            for key, revision in self.fresh(name).items():
                assert seen.get(key) == revision, f"{name} lacks {key} at {revision}"

    def teardown(self) -> None:
        self.world.close()


@pytest.mark.shows("INV-26", "INV-27", "INV-28", "INV-29", "INV-30", "INV-31", "SYNC-COVERAGE")
class TestWatchersAgreeWithTheStore(WatchersAgreeWithTheStore.TestCase):  # type: ignore[misc, valid-type]
    """A copy of the watch union per client judges the server's."""

    settings = settings(max_examples=examples(40), stateful_step_count=30)
