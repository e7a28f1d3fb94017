"""What a client shows while its commits are on their way, and what it says they stand on."""

from random import Random
from typing import Any

import pytest

from holdfast.ids import EntityId, Seq
from holdfast.store.delta import MISSING
from holdfast.store.values import BigInt, same
from holdfast.sync.client.errors import CommitRefused
from holdfast.sync.client.reads import Read, compact
from holdfast.sync.client.replica import Manner, Notification, Replica
from holdfast.sync.wire.messages import Flags, Remove, Sync, Upsert, WatchAdd
from tests.scale import seeds
from tests.sync.duet import Duet, is_verdict
from tests.sync.peers import World
from tests.sync.scripted import Script, delete, edit, put


def replace(path: str, value: Any) -> dict[str, Any]:
    return {"op": "replace", "path": path, "value": value}


def dependency(error: Exception | None) -> bool:
    return isinstance(error, CommitRefused) and "pending dependency" in str(error)


# stacked commits


@pytest.mark.shows("R1", "R41")
def test_three_writes_of_one_document_are_shown_and_land() -> None:
    script = Script()
    for n in (1, 2, 3):
        script.commit(f"c{n}", put("of:A", n))
        assert script.visible("of:A") == n
    for n in (1, 2, 3):
        assert script.accept(f"c{n}")["ok"] is True
    assert script.visible("of:A") == 3
    assert script.kinds == ["commit"] * 3


@pytest.mark.shows("R2", "SYNC-LAYERS")
def test_patches_of_other_members_survive_each_other() -> None:
    script = Script()
    script.sync("of:A", 1, {"l": 0, "r": 0})
    script.commit("c1", edit("of:A", replace("/value/l", 1)))
    script.commit("c2", edit("of:A", replace("/value/r", 2)))
    script.effect(2, ("of:A", {"l": 0, "r": 0, "m": 9}))
    assert script.visible("of:A") == {"l": 1, "r": 2, "m": 9}
    script.accept("c1")
    script.accept("c2")
    assert script.visible("of:A") == {"l": 1, "r": 2, "m": 9}


@pytest.mark.shows("R3", "R14")
def test_an_independent_commit_above_a_refused_one_stays() -> None:
    script = Script()
    for n in (1, 2, 3):
        script.commit(f"c{n}", put("of:A", n))
    script.accept("c1")
    script.reject("c2")
    assert script.visible("of:A") == 3
    script.accept("c3")
    assert script.visible("of:A") == 3
    assert script.error("c3") is None


@pytest.mark.shows("R4", "R81", "R82")
def test_a_refusal_does_not_reach_another_document() -> None:
    script = Script()
    script.commit("c1", put("of:A", 1))
    script.commit("c2", put("of:A", 2), reads=["of:A"])
    script.commit("c3", put("of:B", 3))
    script.accept("c1")
    script.reject("c2")
    script.accept("c3")
    assert (script.visible("of:A"), script.visible("of:B")) == (1, 3)
    assert script.error("c3") is None


@pytest.mark.shows("R5", "F8", "INV-4", "R29")
def test_a_commit_that_read_through_a_refused_one_goes_with_it() -> None:
    script = Script()
    script.commit("c1", put("of:A", 1))
    script.accept("c1")
    script.commit("c2", put("of:A", 2), reads=["of:A"])
    script.commit("c3", put("of:A", 3), reads=["of:A"])
    script.reject("c2")
    assert dependency(script.error("c3"))
    assert script.visible("of:A") == 1
    assert script.kinds == ["commit", "commit", "commit", "revert", "revert"]
    script.reject("c3", "pending dependency not resolved: 2")  # the server's own word, later
    assert script.kinds == ["commit", "commit", "commit", "revert", "revert"]


@pytest.mark.shows("R6", "R7", "R19")
@pytest.mark.parametrize(
    "read", ["of:B", ("of:B", "value", "other"), "of:A"], ids=["document", "member", "batch"]
)
def test_any_document_of_a_refused_commit_dooms_its_reader(read: Any) -> None:
    script = Script()
    script.commit("c2", put("of:A", {"n": 2}), put("of:B", {"n": 2}))
    script.commit("c3", put("of:C", 3), reads=[read])
    script.reject("c2")
    assert dependency(script.error("c3"))
    assert script.visible("of:C") is None


@pytest.mark.shows("R8")
def test_a_commit_that_read_only_what_landed_survives() -> None:
    script = Script()
    script.commit("c1", put("of:A", 1))
    script.accept("c1")
    script.commit("c2", put("of:B", 2))
    script.commit("c3", put("of:C", 3), reads=["of:A"])
    script.reject("c2")
    script.accept("c3")
    assert script.error("c3") is None


@pytest.mark.shows("R9", "R10")
def test_survivors_may_be_read_and_one_refused_layer_is_enough() -> None:
    script = Script()
    script.commit("c2", put("of:A", 2))
    script.commit("c3", put("of:B", 3))
    script.commit("c4", put("of:C", 4), reads=["of:B"])
    script.commit("c5", put("of:D", 5), reads=["of:A", "of:B"])
    script.reject("c2")
    assert dependency(script.error("c5"))
    assert not script.settled("c4")
    script.accept("c3")
    script.accept("c4")
    assert script.error("c4") is None


@pytest.mark.shows("R11", "R16", "INV-8")
def test_a_refused_batch_goes_as_a_whole_and_nothing_else_is_named() -> None:
    script = Script()
    script.commit("c1", put("of:A", 1), put("of:B", 1), put("of:Z", 1))
    script.accept("c1")
    script.commit("c2", put("of:A", 2), put("of:B", 2))
    script.reject("c2")
    assert (script.visible("of:A"), script.visible("of:B")) == (1, 1)
    assert script.told[-1] == ("revert", ["of:A", "of:B"])


@pytest.mark.shows("R12", "R13")
def test_a_refused_delete_dooms_only_those_who_saw_it() -> None:
    script = Script()
    script.sync("of:A", 1, "there")
    script.commit("c2", delete("of:A"))
    assert script.visible("of:A") is None
    script.commit("c3", put("of:B", 3), reads=["of:A"])
    script.commit("c4", put("of:C", 4))
    script.reject("c2")
    assert dependency(script.error("c3"))
    assert script.visible("of:A") == "there"
    script.accept("c4")
    assert script.error("c4") is None


@pytest.mark.shows("R15", "R17", "R18")
def test_the_top_layer_goes_and_the_next_one_shows() -> None:
    script = Script()
    script.sync("of:A", 1, {"l": 0, "r": 0})
    script.commit("c1", put("of:X", 1))
    script.commit("c2", edit("of:A", replace("/value/l", 2)))
    script.commit("c3", edit("of:A", replace("/value/r", 3)))
    script.reject("c1")
    assert script.visible("of:A") == {"l": 2, "r": 3}
    script.reject("c3")
    assert script.visible("of:A") == {"l": 2, "r": 0}
    assert script.told[-1] == ("revert", ["of:A"])


@pytest.mark.shows("R22")
def test_a_replayed_commit_may_conflict_while_the_next_one_lands(world: World) -> None:
    duet = Duet(world, "s")
    duet.disconnect()
    first = duet.session.commit([put("of:a", 1)], [Read(EntityId("of:r"), ("value",))])
    second = duet.session.commit([put("of:b", 2)])
    world.commit("writer", 1, put("of:r", 0))
    duet.reconnect()
    assert isinstance(first.error, CommitRefused)
    assert second.result().seq == 2
    assert (duet.visible("of:a"), duet.visible("of:b")) == (None, {"value": 2})


@pytest.mark.shows("R24", "R94", "INV-3")
def test_reads_through_pending_commits_name_every_layer_and_the_basis() -> None:
    script = Script()
    script.sync("of:A", 5, 0)
    script.commit("c1", put("of:A", 1))
    script.commit("c2", put("of:A", 2))
    nested = ("of:A", "value", "nested")
    script.commit("c3", put("of:B", 3), reads=["of:A", nested, "of:C"])
    assert script.wire("c3")["reads"] == {
        "confirmed": [{"id": "of:C", "path": ["value"], "seq": 0}],
        "pending": [{"id": "of:A", "path": ["value"], "localSeq": [1, 2], "basisSeq": 5}],
    }


@pytest.mark.shows("R24", "SYNC-LAYERS")
def test_the_first_versions_form_names_the_newest_layer() -> None:
    script = Script("seed")
    script.commit("c1", put("of:A", 1))
    script.commit("c2", put("of:A", 2))
    script.commit("c3", put("of:B", 3), reads=["of:A"])
    assert script.wire("c3")["reads"]["pending"] == [
        {"id": "of:A", "path": ["value"], "localSeq": 2}
    ]


@pytest.mark.shows("R25")
def test_a_tagged_value_is_shown_as_the_very_same_while_pending() -> None:
    script = Script()
    script.player.client.flags = Flags(unified_json_encoding=True)
    number = BigInt(2**70)
    script.commit("c1", put("of:A", {"n": number}))
    assert script.visible("of:A")["n"] is number


@pytest.mark.shows("R26", "R27", "R28")
@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        ({"op": "add", "path": "/value/1", "value": "x"}, ["a", "x", "b", "c"]),
        ({"op": "remove", "path": "/value/0"}, ["b", "c"]),
        ({"op": "move", "from": "/value/0", "path": "/value/2"}, ["b", "c", "a"]),
    ],
    ids=["add", "remove", "move"],
)
def test_an_array_patch_is_shown_while_pending_and_after(change: Any, wanted: Any) -> None:
    script = Script()
    script.sync("of:A", 1, ["a", "b", "c"])
    script.commit("c1", edit("of:A", change))
    assert script.visible("of:A") == wanted
    script.accept("c1")
    assert script.visible("of:A") == wanted


@pytest.mark.shows("R30")
def test_the_last_of_two_writes_in_one_commit_wins() -> None:
    script = Script()
    script.commit("c1", put("of:A", "first"), put("of:A", "second"))
    assert script.visible("of:A") == "second"
    script.accept("c1")
    assert script.visible("of:A") == "second"
    record = script.session.replica.record("of:A")
    assert record is not None
    assert (record.seq, record.layers) == (1, [])


@pytest.mark.shows(
    "R31", "R32", "R33", "R34", "R35", "R36", "R37", "R38", "R39", "R40", "F12", "INV-34"
)
@pytest.mark.parametrize("seed", seeds(30))
def test_a_naive_model_shows_the_same(seed: int) -> None:
    """Four documents, random commits, verdicts and remote changes; the model keeps plain lists."""
    random, script = Random(seed), Script()
    documents = ["of:A", "of:B", "of:C", "of:D"]
    confirmed: dict[str, Any] = dict.fromkeys(documents)
    waiting: list[tuple[str, list[tuple[str, Any]], set[str]]] = []
    seq, serial = 0, 0
    for id in documents:
        script.sync(id, 0, None)
    for _ in range(60):
        kind = random.random()
        if kind < 0.5:
            serial += 1
            label = f"c{serial}"
            writes = [
                (id, None if random.random() < 0.2 else random.randint(0, 99))
                for id in random.sample(documents, random.randint(1, 2))
            ]
            reads = random.sample(documents, random.choice([0, 0, 1]))
            names = {other for other, written, _ in waiting if {i for i, _ in written} & {*reads}}
            operations = [delete(id) if v is None else put(id, v) for id, v in writes]
            script.commit(label, *operations, reads=reads)
            waiting.append((label, writes, names))
        elif kind < 0.7 and waiting:
            seq += 1
            label, writes, _ = waiting.pop(0)
            script.accept(label, seq)
            confirmed.update(writes)
        elif kind < 0.85 and waiting:
            gone = {waiting[0][0]}
            script.reject(waiting[0][0])
            for label, _, names in waiting:
                if names & gone:
                    gone.add(label)
            waiting = [entry for entry in waiting if entry[0] not in gone]
            assert all(script.error(label) is not None for label in gone)
        else:
            seq += 1
            id = random.choice(documents)
            confirmed[id] = random.randint(100, 199)
            script.effect(seq, (id, confirmed[id]))
        wanted = dict(confirmed)
        for _, writes, _ in waiting:
            wanted.update(writes)
        assert {id: script.visible(id) for id in documents} == wanted
    assert [label for label, _, _ in waiting] == [
        f"c{n}" for n in range(1, serial + 1) if not script.settled(f"c{n}")
    ]


# notifications


@pytest.mark.shows("R42", "R43")
def test_a_change_is_told_at_the_smallest_place() -> None:
    script = Script()
    script.sync("of:A", 1, {"profile": {"name": "a", "age": 1}, "list": [1, 2]})
    script.commit("c1", edit("of:A", replace("/value/profile/name", "b")))
    (changes,) = script.player.notifications[-1].changes.values()
    assert [(change.path, change.before, change.after) for change in changes] == [
        (("value", "profile", "name"), "a", "b")
    ]
    script.commit("c2", edit("of:A", replace("/value/list", [1])))
    (changes,) = script.player.notifications[-1].changes.values()
    assert [change.path for change in changes] == [("value", "list")]


@pytest.mark.shows("R44", "R45", "F11", "INV-34")
def test_a_conflict_is_reverted_before_it_is_told_and_fresh_state_shows(world: World) -> None:
    duet = Duet(world)
    world.commit("writer", 1, put("of:A", "v1"))
    duet.session.watch_add([_watch("of:A")])
    duet.run()
    world.commit("writer", 2, put("of:A", "v3"))
    verdict = duet.session.commit([put("of:A", "v2")], [Read(EntityId("of:A"), ("value",))])
    assert duet.visible("of:A") == {"value": "v2"}
    assert duet.kinds == ["pull", "commit"]
    seen: list[Any] = []
    verdict.then(lambda outcome: seen.append((duet.visible("of:A"), duet.kinds[-1])))
    duet.run()
    assert seen == [({"value": "v3"}, "revert")]
    revert = duet.told[-1]
    assert getattr(revert.reason, "name", "") == "ConflictError"
    ((change,),) = revert.changes.values()
    assert (change.path, change.before, change.after) == (("value",), "v2", "v3")
    assert duet.kinds.count("revert") == 1


@pytest.mark.shows("R51", "R52")
def test_after_a_revert_the_same_change_lands_on_the_new_state(world: World) -> None:
    duet = Duet(world)
    world.commit("writer", 1, put("of:A", 1))
    duet.session.watch_add([_watch("of:A")])
    duet.run()
    world.commit("writer", 2, put("of:A", 2))
    look = [Read(EntityId("of:A"), ("value",))]
    first = duet.session.commit([put("of:A", 10)], look)
    duet.run()
    again = duet.session.commit([put("of:A", 20)], look)
    other = duet.session.commit([put("of:B", 1)])
    duet.run()
    assert first.error is not None
    assert again.result().seq == 3
    assert other.result().seq == 4
    assert [note.ids for note in duet.told if note.kind == "revert"] == [["of:A"]]


@pytest.mark.shows("R115")
def test_a_remote_change_below_a_pending_write_is_silent() -> None:
    script = Script()
    script.sync("of:A", 1, "old")
    script.commit("c1", put("of:A", "mine"))
    script.effect(2, ("of:A", "theirs"))
    assert script.kinds == ["pull", "commit"]
    script.reject("c1")
    assert script.visible("of:A") == "theirs"
    script.effect(3, ("of:A", "newer"))
    assert script.kinds == ["pull", "commit", "revert", "integrate"]


@pytest.mark.shows("R48", "SYNC-ECHO")
def test_the_echo_of_an_own_commit_is_silent() -> None:
    script = Script()
    script.sync("of:A", 1, "old")
    script.commit("c1", put("of:A", "mine"))
    script.accept("c1", 2)
    script.effect(2, ("of:A", "mine"))
    assert script.kinds == ["pull", "commit"]


@pytest.mark.shows("R60")
def test_an_effect_looks_only_at_what_it_names() -> None:
    script = Script()
    script.sync("of:A", 1, 1)
    script.sync("of:B", 1, 1)
    script.effect(2, ("of:A", 2))
    assert list(script.player.notifications[-1].documents) == [("", "of:A")]


def test_an_empty_sync_is_not_told_and_a_missing_document_is_pulled() -> None:
    told: list[Notification] = []
    replica = Replica()
    replica.subscribe(told.append)
    replica.pull(Sync(from_seq=0, to_seq=3, upserts=[], removes=[]))
    assert told == []
    missing = Upsert(branch="", id="of:A", seq=0, deleted=True)
    replica.pull(Sync(from_seq=0, to_seq=3, upserts=[missing], removes=[]))
    assert [(note.kind, note.ids) for note in told] == [("pull", [])]


def test_a_listener_that_fails_stops_neither_the_commit_nor_the_others(
    caplog: pytest.LogCaptureFixture,
) -> None:
    told: list[str] = []

    def broken(_: Notification) -> None:
        raise RuntimeError("listener")

    replica = Replica()
    replica.subscribe(broken)
    stop = replica.subscribe(lambda note: told.append(note.kind))
    replica.commit([put("of:A", 1)])
    stop()
    replica.commit([put("of:A", 2)])
    assert told == ["commit"]
    assert "a listener failed" in caplog.text


def test_reset_forgets_what_is_confirmed_and_load_tells_what_is_known() -> None:
    told: list[Notification] = []
    replica = Replica()
    replica.pull(_sync(1, ("of:A", 1), ("of:B", 1)))
    replica.commit([put("of:B", 2)])
    replica.subscribe(told.append)
    replica.load([("", "of:A"), ("", "of:Z")])  # type: ignore[list-item]
    assert [(note.kind, note.ids) for note in told] == [("load", ["of:A"])]
    replica.reset()
    assert (told[-1].kind, told[-1].ids) == ("reset", ["of:A"])
    assert (replica.visible("of:A"), replica.visible("of:B")) == (None, {"value": 2})


# confirmed state


def test_a_landed_patch_is_named_until_everything_up_to_it_is_known() -> None:
    """Folding it at once claimed to have seen the foreign writes between."""
    script = Script()
    script.sync("of:A", 1, {"x": 0, "y": 0})
    script.commit("c1", edit("of:A", replace("/value/x", 1)))
    script.accept("c1", 3)  # seq 2 was someone else's, and is on its way
    script.commit("c2", put("of:B", 1), reads=["of:A"])
    assert script.wire("c2")["reads"]["pending"] == [
        {"id": "of:A", "path": ["value"], "localSeq": [1], "basisSeq": 1}
    ]
    script.effect(3, ("of:A", {"x": 1, "y": 7}))
    script.commit("c3", put("of:B", 2), reads=["of:A"])
    assert script.wire("c3")["reads"]["confirmed"] == [{"id": "of:A", "path": ["value"], "seq": 3}]
    assert script.visible("of:A") == {"x": 1, "y": 7}


def test_a_landed_patch_is_folded_when_nothing_can_be_between() -> None:
    script = Script()
    script.sync("of:A", 1, {"x": 0})
    script.commit("c1", edit("of:A", replace("/value/x", 1)))
    script.accept("c1", 2)
    record = script.session.replica.record("of:A")
    assert record is not None
    assert (record.seq, record.layers) == (2, [])


def test_a_layer_that_does_not_apply_is_not_shown_and_not_named() -> None:
    script = Script()
    script.sync("of:A", 1, {"x": 0})
    script.commit("c1", edit("of:A", {"op": "remove", "path": "/value/gone"}))
    assert script.visible("of:A") == {"x": 0}
    script.commit("c2", put("of:B", 1), reads=["of:A"])
    assert script.wire("c2")["reads"] == {
        "confirmed": [{"id": "of:A", "path": ["value"], "seq": 1}],
        "pending": [],
    }


@pytest.mark.shows("INV-31")
def test_confirmed_state_does_not_go_back_except_by_a_remove() -> None:
    replica = Replica()
    replica.pull(_sync(5, ("of:A", "new")))
    replica.integrate(_sync(4, ("of:A", "old")))
    assert replica.visible("of:A") == {"value": "new"}
    gone = Remove(branch="", id="of:A")
    replica.integrate(Sync(from_seq=5, to_seq=6, upserts=[], removes=[gone]))
    assert replica.visible("of:A") is None
    assert replica.record("of:A") is None
    replica.pull(_sync(4, ("of:A", "old")))
    assert replica.visible("of:A") == {"value": "old"}


def test_a_commit_accepted_below_what_is_known_changes_nothing() -> None:
    script = Script()
    script.sync("of:A", 1, "old")
    script.commit("c1", put("of:A", "mine"))
    script.effect(9, ("of:A", "later"))
    script.accept("c1", 3)
    assert script.visible("of:A") == "later"
    record = script.session.replica.record("of:A")
    assert record is not None
    assert record.seq == 9


def test_a_commit_that_lands_out_of_turn_is_told() -> None:
    """Refused unheard and sent again, it lands above one that was made after it."""
    script = Script()
    script.sync("of:A", 1, 0)
    script.commit("c1", put("of:A", 1))
    script.commit("c2", put("of:A", 2))
    script.accept("c2", 2)
    script.accept("c1", 3)
    assert script.visible("of:A") == 1
    assert script.told[-1] == ("integrate", ["of:A"])


@pytest.mark.shows("INV-10", "SYNC-SNAPSHOT")
def test_what_arrives_while_held_waits_and_keeps_its_order() -> None:
    replica = Replica()
    replica.pull(_sync(1, ("of:A", 1)))
    with replica.hold():
        replica.integrate(_sync(2, ("of:A", 2)))
        with replica.hold():
            replica.integrate(_sync(3, ("of:B", 3)))
        assert replica.visible("of:A") == {"value": 1}
        assert replica.integrated == 1
    assert (replica.visible("of:A"), replica.visible("of:B")) == ({"value": 2}, {"value": 3})
    assert replica.integrated == 3


def test_branches_have_documents_of_their_own() -> None:
    replica = Replica()
    replica.pull(_sync(1, ("of:A", 1)))
    replica.commit([put("of:A", 2)], branch="draft")
    assert replica.visible("of:A") == {"value": 1}
    assert replica.visible("of:A", "draft") == {"value": 2}
    wire = replica.commit([put("of:B", 1)], [Read(EntityId("of:A"), ())], "draft")
    assert wire["branch"] == "draft"
    assert wire["reads"]["pending"][0]["localSeq"] == [1]
    other = replica.commit(
        [put("of:B", 2)],
        [Read(EntityId("of:A"), (), branch="draft")],  # type: ignore[arg-type]
    )
    assert other["reads"]["confirmed"] == [{"id": "of:A", "path": [], "seq": 0, "branch": "draft"}]


# reads


@pytest.mark.shows("R94", "R95")
def test_a_whole_read_covers_what_is_below_and_a_shape_read_only_itself() -> None:
    value, name = ("value",), ("value", "name")
    assert compact([(name, False), (value, False), (name, True)]) == [(value, False)]
    assert compact([(value, True), (name, False)]) == [(value, True), (name, False)]
    assert compact([(value, True), (value, False)]) == [(value, False)]
    assert compact([(("value", "a"), False), (("value", "ab"), False)]) == [
        (("value", "a"), False),
        (("value", "ab"), False),
    ]


@pytest.mark.shows("R96")
def test_inline_documents_are_not_read_from_the_server() -> None:
    replica = Replica()
    inline = Read(EntityId("data:application/json,{}"), ())
    assert replica.commit([put("of:A", 1)], [inline])["reads"]["confirmed"] == []


def test_a_read_may_name_the_seq_it_saw() -> None:
    replica = Replica()
    replica.pull(_sync(5, ("of:A", 1)))
    wire = replica.commit([put("of:B", 1)], [Read(EntityId("of:A"), (), seq=Seq(3))])
    assert wire["reads"]["confirmed"] == [{"id": "of:A", "path": [], "seq": 3}]


def test_a_shape_read_is_named_to_those_who_understand_it() -> None:
    look = Read(EntityId("of:A"), ("value",), shape=True)
    assert Replica().commit([put("of:B", 1)], [look])["reads"]["confirmed"] == [
        {"id": "of:A", "path": ["value"], "seq": 0, "nonRecursive": True}
    ]
    old = Replica(Manner(shapes=False))
    assert old.commit([put("of:B", 1)], [look])["reads"]["confirmed"] == [
        {"id": "of:A", "path": ["value"], "seq": 0}
    ]


# interests


@pytest.mark.shows("R53", "R54", "R55", "R56", "R57", "R46")
def test_what_one_turn_asks_for_is_asked_once(world: World) -> None:
    duet = Duet(world)
    everything = duet.session.sync("of:A", schema=True)
    below = duet.session.sync("of:A", ["deep", "down"], schema={"type": "string"})
    schema = {"type": "object", "properties": {"a": True, "b": False}}
    turned = {"properties": {"b": False, "a": True}, "type": "object"}
    other = duet.session.sync("of:B", schema=schema)
    same_again = duet.session.sync("of:B", schema=turned)
    third = duet.session.sync("of:C")
    duet.run()
    for outcome in (everything, below, other, same_again, third):
        outcome.result()
    assert duet.count("session.watch.add") == 1
    assert duet.count("session.watch.set") == 0
    (asked,) = [message for message in duet.sent if isinstance(message, WatchAdd)]
    assert [root["id"] for w in asked.watches for root in w.query["roots"]] == [
        "of:A",
        "of:B",
        "of:C",
    ]
    assert set(duet.session.watches) == {w.id for w in asked.watches}
    assert len(duet.session.watches) == 3
    pulls = duet.kinds.count("pull")
    duet.session.sync("of:C")
    duet.run()
    assert (duet.count("session.watch.add"), duet.kinds.count("pull")) == (1, pulls)
    duet.hold_answers = lambda _: True
    duet.session.sync("of:D")
    duet.run()
    duet.session.sync("of:E")
    duet.run()
    duet.release()
    adds = [m.watches for m in duet.sent if m.__struct_config__.tag == "session.watch.add"]  # type: ignore[attr-defined]
    assert [[root["id"] for w in add for root in w.query["roots"]] for add in adds] == [
        ["of:A", "of:B", "of:C"],
        ["of:D"],
        ["of:E"],
    ]


def test_an_interest_that_could_not_be_watched_may_be_asked_for_again(world: World) -> None:
    duet = Duet(world)
    refused = duet.session.sync("of:A", schema={"$ref": 5})
    duet.run()
    assert refused.error is not None
    again = duet.session.sync("of:A", schema={"$ref": 5})
    duet.run()
    assert again.error is not None
    assert duet.count("session.watch.add") == 2


@pytest.mark.shows("R58", "R59")
def test_synced_waits_for_what_was_asked_and_for_nothing_else(world: World) -> None:
    duet = Duet(world)
    assert duet.session.synced().settled
    duet.hold_answers = is_verdict
    duet.session.sync("of:A")
    duet.session.commit([put("of:A", 1)])
    synced = duet.session.synced()
    duet.run()
    assert not synced.settled
    duet.release()
    assert synced.settled


@pytest.mark.shows("R61")
def test_a_watch_is_named_after_its_branch_too(world: World) -> None:
    world.store.create_branch("draft")
    duet = Duet(world)
    duet.session.sync("of:A")
    duet.session.sync("of:A", branch="draft")
    duet.run()
    assert len(duet.session.watches) == 2


def test_a_later_wider_interest_replaces_the_narrow_one_not_yet_sent(world: World) -> None:
    duet = Duet(world)
    narrow = duet.session.sync("of:A", ["x"])
    wide = duet.session.sync("of:A", schema=True)
    duet.run()
    assert narrow.settled
    assert wide.settled
    assert len(duet.session.watches) == 1


def _watch(id: str) -> Any:
    from tests.sync.duet import watch

    return watch(id)


def _sync(seq: int, *entries: tuple[str, Any]) -> Sync:
    upserts = [Upsert(branch="", id=id, seq=seq, doc={"value": value}) for id, value in entries]
    return Sync(from_seq=0, to_seq=seq, upserts=upserts, removes=[])


def test_missing_is_not_null() -> None:
    assert not same(MISSING, None)
