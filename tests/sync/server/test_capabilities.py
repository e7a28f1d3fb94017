"""What is beyond the first version, and that a peer of the first version sees none of it."""

import pytest

from tests.sync.peers import SPACE, Json, World, link, refused, root, set_, upserts, watch

ALL = ["branches", "conflicts", "coverage", "history", "removes"]


@pytest.mark.shows("SYNC-CAPABILITIES")
def test_hello_names_what_both_sides_have(world: World) -> None:
    peer = world.peer()
    assert peer.connection.capabilities == frozenset()
    answer = type(peer)(world).hello([*ALL, "telepathy"])
    assert answer["capabilities"] == ALL
    assert "sessionOpen" not in answer


@pytest.mark.shows("SYNC-EXISTING")
def test_a_peer_that_only_looks_makes_no_space(world: World) -> None:
    world.peer("A")
    looking = world.peer(capabilities=["existing", "conflicts"])
    assert looking.connection.capabilities == {"existing", "conflicts"}
    request = {"requestId": "o", "space": SPACE + "x", "session": {}}
    (answer,) = looking.send({"type": "session.open", **request})
    assert refused(answer) == ("UnknownSpaceError", f"there is no space {SPACE}x")
    assert SPACE in answer["error"]["hint"]
    assert world.opened == [SPACE]
    (answer,) = looking.send({"type": "session.open", **request, "space": SPACE})
    assert answer["ok"]["serverSeq"] == 0


@pytest.mark.parametrize(
    ("kind", "members"),
    [
        ("branch.create", {"localSeq": 1, "name": "draft"}),
        ("branch.delete", {"localSeq": 1, "name": "draft"}),
        ("branch.list", {}),
        ("branch.diff", {"branch": ""}),
        ("branch.merge", {"source": ""}),
        ("history.read", {"fromSeq": 0}),
    ],
)
@pytest.mark.shows("SYNC-CAPABILITIES")
def test_a_command_needs_its_capability(world: World, kind: str, members: Json) -> None:
    answer = world.peer("S").ask(kind, **members)
    assert refused(answer)[0] == "ProtocolError"
    assert world.store.newest_seq() == 0


@pytest.mark.shows("SYNC-CONFLICTS")
def test_a_conflict_explains_itself(world: World) -> None:
    peer = world.peer("A", capabilities=["conflicts"])
    world.commit("other", 1, set_("a", 1))
    read = {"id": "a", "path": ["value", "x"], "seq": 0}
    error = peer.transact(set_("a", 2), confirmed=[read])["error"]
    assert error["retryAfterSeq"] == 1
    assert error["conflicts"] == [
        {
            "id": "a",
            "branch": "",
            "path": ["value", "x"],
            "expected": {"seq": 0, "localSeq": []},
            "actual": {"seq": 1, "sessionId": "other", "localSeq": 1, "path": None},
        }
    ]
    assert "read again at seq 1" in error["hint"]


# coverage


@pytest.mark.shows("SYNC-COVERAGE")
def test_to_seq_promises_that_nothing_watched_is_missing(world: World) -> None:
    peer = world.peer("A", capabilities=["coverage"])
    peer.watch_set(watch("w", root("a")))
    world.commit("other", 1, set_("a", 1))
    frames = peer.send(peer.command("session.watch.add", watches=[watch("x", root("b"))]))
    assert [frame["type"] for frame in frames] == ["session/effect", "response"]
    assert upserts(frames[0]["effect"]) == [("a", 1)]
    assert frames[1]["ok"]["sync"]["toSeq"] == 1


@pytest.mark.shows("SYNC-COVERAGE")
def test_what_was_lost_on_the_way_is_sent_again(world: World) -> None:
    peer = world.peer("A", capabilities=["coverage"])
    peer.watch_set(watch("w", root("a")))
    world.peer("B").transact(set_("a", 1))
    world.server.flush()
    lost = peer.drain()
    assert len(lost) == 1
    peer.connection.disconnected()
    back = world.peer(capabilities=["coverage"])
    answer = back.open("A", token=peer.token, seen=0)["ok"]
    assert upserts(answer["sync"]) == [("a", 1)]


# removes


@pytest.mark.shows("SYNC-REMOVES")
def test_what_is_no_longer_reached_is_removed_after_a_while(world: World) -> None:
    peer = world.peer("A", capabilities=["removes"])
    peer.transact(set_("a", link("b")), set_("b", 1))
    peer.watch_set(watch("g", root("a", True)))
    peer.transact(set_("a", 0))
    world.now += 5
    again = world.server.refresh()
    assert [sync["removes"] for sync in peer.effects()] == [[]]
    assert again == 1_000
    world.now += 999
    assert world.server.refresh() == 1
    assert peer.effects() == []
    world.now += 1
    assert world.server.refresh() is None
    (sync,) = peer.effects()
    assert (sync["upserts"], sync["removes"]) == ([], [{"branch": "", "id": "b"}])
    peer.transact(set_("b", 2))
    world.server.flush()
    assert peer.effects() == []


@pytest.mark.shows("SYNC-REMOVES")
def test_a_link_that_flaps_removes_nothing(world: World) -> None:
    peer = world.peer("A", capabilities=["removes"])
    peer.transact(set_("a", link("b")), set_("b", 1))
    peer.watch_set(watch("g", root("a", True)))
    peer.transact(set_("a", 0))
    world.now += 5
    world.server.refresh()
    peer.transact(set_("a", link("b")))
    world.now += 5
    world.server.refresh()
    world.now += 2_000
    world.server.refresh()
    assert all(sync["removes"] == [] for sync in peer.effects())
    peer.transact(set_("b", 2))
    world.server.flush()
    assert [upserts(sync) for sync in peer.effects()] == [[("b", 4)]]


# branches


@pytest.mark.shows("SYNC-BRANCHES")
def test_branches_are_made_listed_compared_merged_and_deleted(world: World) -> None:
    peer = world.peer("A", capabilities=["branches"])
    peer.transact(set_("a", {"x": 1, "y": 1}))
    made = peer.ask("branch.create", localSeq=2, name="draft")["ok"]
    assert made["seq"] == 2
    assert made["branch"]["forkSeq"] == 1
    assert peer.ask("branch.create", localSeq=2, name="draft")["ok"]["seq"] == 2
    assert "taken" in refused(peer.ask("branch.create", localSeq=3, name="draft"))[1]
    peer.transact(set_("a", {"x": 2, "y": 1}), set_("b", 1), branch="draft", local_seq=3)
    peer.transact(set_("a", {"x": 1, "y": 2}), local_seq=4)
    names = [entry["name"] for entry in peer.ask("branch.list")["ok"]["branches"]]
    assert names == ["", "draft"]
    diff = peer.ask("branch.diff", branch="draft")["ok"]
    assert (diff["added"], diff["modified"], diff["removed"]) == (["b"], ["a"], [])
    proposal = peer.ask("branch.merge", source="draft")["ok"]
    assert proposal["clashes"] == []
    landed = peer.ask("transact", commit={**proposal["commit"], "localSeq": 5})
    assert landed["ok"]["seq"] == 5
    assert world.store.read("a") == {"value": {"x": 2, "y": 2}}
    deleted = peer.ask("branch.delete", localSeq=6, name="draft")["ok"]
    assert (deleted["seq"], deleted["branch"]["status"]) == (6, "deleted")
    assert [e["name"] for e in peer.ask("branch.list")["ok"]["branches"]] == [""]
    everything = peer.ask("branch.list", includeDeleted=True)["ok"]["branches"]
    assert [entry["name"] for entry in everything] == ["", "draft"]


@pytest.mark.shows("SYNC-BRANCHES")
def test_a_merge_that_clashes_says_where_and_takes_resolutions(world: World) -> None:
    peer = world.peer("A", capabilities=["branches"])
    peer.transact(set_("a", 1))
    peer.ask("branch.create", localSeq=2, name="draft")
    peer.transact(set_("a", 2), branch="draft", local_seq=3)
    peer.transact(set_("a", 3), local_seq=4)
    clashes = peer.ask("branch.merge", source="draft")["ok"]["clashes"]
    assert [(clash["id"], clash["path"]) for clash in clashes] == [("a", "/value")]
    settled = peer.ask("branch.merge", source="draft", resolutions={"a": "source"})["ok"]
    assert settled["clashes"] == []
    assert "ok" in peer.ask("transact", commit={**settled["commit"], "localSeq": 5})
    assert world.store.read("a") == {"value": 2}


@pytest.mark.shows("SYNC-BRANCHES")
def test_a_watch_is_on_its_branch(world: World) -> None:
    peer = world.peer("A", capabilities=["branches"])
    peer.transact(set_("a", 1))
    peer.ask("branch.create", localSeq=2, name="draft")
    peer.watch_add(watch("m", root("a")), watch("d", root("a"), branch="draft"))
    peer.transact(set_("a", 2), branch="draft", local_seq=3)
    world.server.flush()
    (sync,) = peer.effects()
    assert [(entry["branch"], entry["seq"]) for entry in sync["upserts"]] == [("draft", 3)]


# history


@pytest.mark.shows("SYNC-HISTORY")
def test_history_is_read_in_pages_from_one_seq_to_another(world: World) -> None:
    peer = world.peer("A", capabilities=["history", "branches"])
    for number in range(1, 8):
        peer.transact(set_("a" if number % 2 else "b", number))
    peer.ask("branch.create", localSeq=8, name="draft")
    found: list[int] = []
    at, more = 2, True
    while more:
        page = peer.ask("history.read", fromSeq=at, toSeq=6, limit=3)["ok"]
        found += [change["seq"] for change in page["changes"]]
        at, more = page["atSeq"], page["more"]
    assert found == [3, 4, 5, 6]
    only_b = peer.ask("history.read", fromSeq=0, ids=["b"])["ok"]["changes"]
    assert [change["seq"] for change in only_b] == [2, 4, 6]
    assert only_b[0]["operations"] == [set_("b", 2)]
    last = peer.ask("history.read", fromSeq=7)["ok"]
    assert last["changes"][0]["branchLifecycle"]["op"] == "create"
    assert last["more"] is False


@pytest.mark.shows("SYNC-HISTORY")
def test_history_names_the_author_of_a_commit_that_has_one(world: World) -> None:
    """The dashboard showed the random id of a session for what a person had written."""
    peer = world.peer("A", capabilities=["history"])
    peer.transact(set_("a", 1))
    peer.transact(set_("a", 2), author={"user": "ada", "agent": "dashboard"})
    plain, named = peer.ask("history.read", fromSeq=0)["ok"]["changes"]
    assert "author" not in plain
    assert named["author"] == {"user": "ada", "agent": "dashboard"}


@pytest.mark.shows("SYNC-BRANCHES")
def test_a_branch_that_is_deleted_while_it_is_watched_stays_as_it_was(world: World) -> None:
    writer = world.peer("writer", capabilities=["branches"])
    watcher = world.peer("watcher", capabilities=["branches", "coverage", "removes"])
    writer.transact(set_("a", 1), local_seq=1)
    writer.ask("branch.create", localSeq=2, name="draft")
    writer.transact(set_("a", link("b")), set_("b", 1), local_seq=3, branch="draft")
    watcher.watch_set(watch("w", root("a", True), branch="draft"))
    assert "ok" in writer.ask("branch.delete", localSeq=4, name="draft")
    late = writer.transact(set_("a", 2), local_seq=5, branch="draft")
    assert refused(late) == ("TransactionError", "branch is not active: draft")
    writer.transact(set_("a", 3), local_seq=5)
    world.now += 5_000
    world.server.refresh()
    assert watcher.effects() == []
    watcher.connection.disconnected()
    back = world.peer(capabilities=["branches", "coverage", "removes"])
    resumed = back.open("watcher", token=watcher.token, seen=3)["ok"]
    assert resumed["resumed"] is True
    assert "sync" not in resumed
    added = back.watch_add(watch("v", root("c"), branch="draft"))["ok"]["sync"]
    assert added["upserts"] == [{"branch": "draft", "id": "c", "seq": 0, "deleted": True}]
