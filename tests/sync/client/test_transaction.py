"""Transactions: one snapshot, the smallest operation, and nothing at all when nothing changed."""

import contextlib
import copy
import pickle
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.store import patch
from holdfast.store.delta import MISSING
from holdfast.store.errors import TransactionError
from holdfast.store.values import Hole, same
from holdfast.sync.client import minimal_operation
from holdfast.sync.client.client import Client
from holdfast.sync.client.errors import (
    NotFound,
    ReadOnlyDocument,
    StorageTransactionInconsistent,
    TransactionComplete,
    TypeMismatch,
    WriteIsolationError,
)
from holdfast.sync.client.immutable import thaw
from holdfast.sync.client.transaction import Transaction
from holdfast.sync.wire import inline
from holdfast.sync.wire.messages import Sync, Upsert
from tests.scale import examples, seeds
from tests.sync.duet import Duet, put, watch
from tests.sync.peers import World

BASE: dict[str, Any] = {
    "value": {"n": 1, "profile": {"name": "a"}, "list": ["x", "y"], "o": {}},
    "source": {"/": "s"},
}


@pytest.fixture
def duet(world: World) -> Duet:
    world.commit("writer", 1, {"op": "set", "id": "of:A", "value": BASE})
    made = Duet(world)
    made.session.watch_add([watch("of:A"), watch("of:new")])
    made.run()
    return made


def drafted(duet: Duet, *writes: tuple[str, Any]) -> Any:
    """The patches (or the one operation) that these writes to of:A come to."""
    with Transaction(duet.session) as tx:
        for path, value in writes:
            tx.write("of:A", path.split("/")[1:] if path else (), value)
        operations = tx.operations()
        tx.abort()
    if not operations:
        return None
    (operation,) = operations
    return operation.get("patches", operation)


# which operation


@pytest.mark.shows("R62", "R64")
def test_a_nested_write_is_one_replace(duet: Duet) -> None:
    assert drafted(duet, ("/value/profile/name", "b")) == [
        {"op": "replace", "path": "/value/profile/name", "value": "b"}
    ]


@pytest.mark.shows("R63")
def test_a_root_that_is_no_object_is_refused(duet: Duet) -> None:
    with pytest.raises(TypeMismatch):
        drafted(duet, ("", [1]))


@pytest.mark.shows("R65")
def test_a_write_into_a_new_document_sets_it(duet: Duet) -> None:
    with Transaction(duet.session) as tx:
        tx.write_value("of:new", ["a", "b"], 1)
        assert tx.operations() == [
            {"op": "set", "id": "of:new", "value": {"value": {"a": {"b": 1}}}}
        ]


@pytest.mark.shows("R66")
def test_a_new_member_is_added_and_a_missing_one_removed(duet: Duet) -> None:
    assert drafted(duet, ("/value/m", 1)) == [{"op": "add", "path": "/value/m", "value": 1}]
    assert drafted(duet, ("/value/n", MISSING)) == [{"op": "remove", "path": "/value/n"}]


@pytest.mark.shows("R67", "R68", "R73", "R74")
def test_slots_are_replaced_and_the_tail_is_spliced(duet: Duet) -> None:
    slot = {"op": "replace", "path": "/value/list/0", "value": "z"}
    grow = {"op": "splice", "path": "/value/list", "index": 2, "remove": 0, "add": ["w"]}
    shrink = {"op": "splice", "path": "/value/list", "index": 1, "remove": 1, "add": []}
    assert drafted(duet, ("/value/list/0", "z")) == [slot]
    assert drafted(duet, ("/value/list/-", "w")) == [grow]
    assert drafted(duet, ("/value/list/2", "w")) == [grow]
    assert drafted(duet, ("/value/list/length", 1)) == [shrink]
    assert drafted(duet, ("/value/list/0", "z"), ("/value/list/length", 1)) == [slot, shrink]


@pytest.mark.shows("R69", "R70", "R100", "R103")
def test_writes_that_come_to_nothing_are_not_sent(duet: Duet) -> None:
    assert drafted(duet, ("/value/m", 1), ("/value/m", MISSING)) is None
    assert drafted(duet, ("/value/p/q/r", 1), ("/value/p/q/r", MISSING)) is None
    assert drafted(duet, ("/value/n", 1)) is None
    assert drafted(duet, ("", copy.deepcopy(BASE))) is None
    assert drafted(duet, ("/value/n", 2), ("/value/n", 1)) is None


@pytest.mark.shows("R71", "R72", "R113")
def test_repeated_writes_are_one_against_the_original(duet: Duet) -> None:
    assert drafted(duet, ("/value/n", 2), ("/value/n", 3), ("/value/profile/name", "c")) == [
        {"op": "replace", "path": "/value/n", "value": 3},
        {"op": "replace", "path": "/value/profile/name", "value": "c"},
    ]


@pytest.mark.shows("R75")
def test_a_tail_splice_swallows_what_was_written_in_the_tail(duet: Duet) -> None:
    assert drafted(duet, ("/value/list/-", {"a": 1}), ("/value/list/2/a", 2)) == [
        {"op": "splice", "path": "/value/list", "index": 2, "remove": 0, "add": [{"a": 2}]}
    ]


@pytest.mark.shows("R76")
def test_an_array_with_holes_is_replaced_whole() -> None:
    before, after = {"value": [1, Hole, 3]}, {"value": [1, 2, 3]}
    assert minimal_operation.patches(before, after, [("value", "1")]) == [
        {"op": "replace", "path": "/value", "value": [1, 2, 3]}
    ]


@pytest.mark.shows("R77")
def test_overlapping_writes_become_one_of_the_parent(duet: Duet) -> None:
    assert drafted(duet, ("/value/profile/name", "b"), ("/value/profile", {"name": "c"})) == [
        {"op": "replace", "path": "/value/profile", "value": {"name": "c"}}
    ]


@pytest.mark.shows("R78", "R110")
def test_members_of_a_parent_that_is_new_are_added_one_by_one(duet: Duet) -> None:
    assert drafted(duet, ("/value/p/x", 1), ("/value/p/y", 2)) == [
        {"op": "add", "path": "/value/p/x", "value": 1},
        {"op": "add", "path": "/value/p/y", "value": 2},
    ]


@pytest.mark.shows("R111")
def test_new_arrays_and_objects_may_be_mixed(duet: Duet) -> None:
    assert drafted(duet, ("/value/rows/0/name", "r")) == [
        {"op": "add", "path": "/value/rows", "value": [{"name": "r"}]}
    ]


@pytest.mark.shows("R104")
def test_a_deleted_root_stays_missing(duet: Duet) -> None:
    with Transaction(duet.session) as tx:
        tx.delete("of:A")
        assert tx.read("of:A") is MISSING
        assert tx.operations() == [{"op": "delete", "id": "of:A"}]


@pytest.mark.shows("R105", "R108")
def test_what_stands_beside_the_value_stays(duet: Duet) -> None:
    assert drafted(duet, ("/value", MISSING)) == [{"op": "remove", "path": "/value"}]
    assert drafted(duet, ("/value", 5)) == [{"op": "replace", "path": "/value", "value": 5}]
    assert drafted(duet, ("/meta", 1)) == [{"op": "add", "path": "/meta", "value": 1}]


@pytest.mark.shows("R106", "R107")
def test_an_empty_envelope_is_a_delete(duet: Duet) -> None:
    gone = {"op": "delete", "id": "of:A"}
    assert drafted(duet, ("/value", MISSING), ("/source", MISSING)) == gone
    assert drafted(duet, ("", {})) == gone
    with Transaction(duet.session) as tx:
        tx.write("of:new", [], {})
        assert tx.operations() == []


def reloaded(duet: Duet, id: str) -> Any:
    """The document as the store has it, and as a client reads it that was not there before."""
    fresh = Duet(duet.world)
    fresh.session.watch_add([watch(id)])
    fresh.run()
    stored = duet.world.store.read(id)
    assert fresh.visible(id) == stored
    assert duet.visible(id) == stored, "and as the writer shows it"
    return stored


def written(duet: Duet, id: str, *writes: tuple[str, Any]) -> Any:
    """What a document is after these writes were committed, for whoever reads it anew."""
    with Transaction(duet.session) as tx:
        for path, value in writes:
            tx.write(id, path.split("/")[1:] if path else (), value)
        committed = tx.commit()
    duet.run()
    assert committed is not None
    committed.result()
    duet.refresh()
    return reloaded(duet, id)


@pytest.mark.shows("R83", "R85")
def test_what_is_committed_is_there_for_whoever_comes_later(duet: Duet) -> None:
    assert written(duet, "of:new", ("/value/a/b", 1)) == {"value": {"a": {"b": 1}}}
    assert written(duet, "of:new", ("/value/a/c", [2])) == {"value": {"a": {"b": 1, "c": [2]}}}
    whole = {"value": {"fresh": True}}
    assert written(duet, "of:new", ("", whole)) == whole


@pytest.mark.shows("R84", "R86")
def test_members_beside_the_value_are_kept_as_they_are(duet: Duet) -> None:
    meta = {"raw": [1, {"deep": None}], "label": "é"}
    assert written(duet, "of:A", ("/meta", meta)) == {**BASE, "meta": meta}
    after = written(duet, "of:A", ("/value/n", 2))
    assert after == {"value": {**BASE["value"], "n": 2}, "source": BASE["source"], "meta": meta}
    assert written(duet, "of:A", ("/value", "scalar")) == {**after, "value": "scalar"}


@pytest.mark.shows("R87")
def test_a_document_may_have_a_source_and_no_value(duet: Duet) -> None:
    source = {"source": {"/": "s"}}
    assert written(duet, "of:new", ("", source)) == source
    assert written(duet, "of:A", ("/value", MISSING)) == {"source": BASE["source"]}


@pytest.mark.shows("R88")
def test_writing_nothing_deletes_a_member_and_then_the_document(duet: Duet) -> None:
    without = {name: value for name, value in BASE["value"].items() if name != "n"}
    assert written(duet, "of:A", ("/value/n", MISSING)) == {**BASE, "value": without}
    assert written(duet, "of:A", ("/value", MISSING), ("/source", MISSING)) is None
    state = duet.world.store.state("of:A")
    assert state is not None
    assert state.op == "delete"
    with Transaction(duet.session) as tx:
        assert tx.read("of:A") is MISSING


names = st.sampled_from(["a", "b", "0", "1"])
values = st.recursive(
    st.integers(0, 3) | st.none() | st.text("xy", max_size=1),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=6,
)
steps = st.sampled_from(["a", "b", "0", "1", "2", "-", "length"])
writes = st.lists(
    st.tuples(st.lists(steps, max_size=3), values | st.integers(0, 4) | st.just(MISSING)),
    max_size=5,
)


@settings(max_examples=examples(400))
@given(st.dictionaries(names, values, max_size=3), writes)
def test_the_drafted_operation_does_what_the_writes_did(value: Any, wanted: Any) -> None:
    """The twin: the document the transaction itself arrived at."""
    before = {"value": value, "kept": 1}
    session = Client(lambda: 0.0).mount("did:key:alone")
    there = Upsert(branch="", id="of:A", seq=1, doc=before)
    session.replica.pull(Sync(from_seq=0, to_seq=1, upserts=[there], removes=[]))
    with Transaction(session) as tx:
        for path, new in wanted:
            with contextlib.suppress(NotFound, TypeMismatch):
                tx.write_value("of:A", path, new)
        after = thaw(tx.read("of:A"))
        operations = tx.operations()
    if not operations:
        assert same(before, after)
        return
    (operation,) = operations
    assert operation["op"] == "patch"
    assert same(patch.apply_to_document(before, operation["patches"]), after)


# looking


@pytest.mark.shows("R120", "R121")
@pytest.mark.parametrize(
    "name",
    ["keys", "items", "get", "append", "__class__", "__len__", "constructor", "toString",
     "__proto__", "hasOwnProperty"],
)  # fmt: skip
def test_a_name_that_every_container_knows_is_no_member_until_it_is_written(
    duet: Duet, name: str
) -> None:
    with Transaction(duet.session) as tx:
        for at in ([], ["profile"], ["o"]):
            assert tx.read_value("of:A", [*at, name]) is MISSING
            assert tx.get("of:A", [*at, name], "default") == "default"
            with pytest.raises(NotFound):
                tx.read_value("of:A", [*at, name, "below"])
        assert tx.get("of:A", ["list", name], "default") == "default"
        with pytest.raises(TypeMismatch):
            tx.read_value("of:A", ["n", name])
    assert written(duet, "of:A", (f"/value/o/{name}", 1))["value"]["o"] == {name: 1}
    with Transaction(duet.session) as tx:
        assert tx.read_value("of:A", ["o", name]) == 1
        assert tx.read_value("of:A", ["profile", name]) is MISSING


@pytest.mark.shows("R97", "R98", "R99")
def test_what_is_read_is_frozen_and_the_same_until_it_changes(duet: Duet) -> None:
    with Transaction(duet.session) as tx:
        seen = tx.read("of:A")
        assert seen == BASE
        with pytest.raises(TypeError, match="write through the transaction"):
            seen["value"]["n"] = 5
        with pytest.raises(TypeError):
            seen["value"]["list"].append(1)
        assert tx.read_value("of:A", ["profile"]) is tx.read_value("of:A", ["profile"])
        profile = tx.read_value("of:A", ["profile"])
        tx.write_value("of:A", ["n"], 2)
        assert tx.read_value("of:A", ["profile"]) is profile
        assert seen["value"]["n"] == 1
        assert tx.read_value("of:A", ["n"]) == 2
        assert copy.deepcopy(seen) == BASE
        assert type(pickle.loads(pickle.dumps(seen))["value"]) is dict
        with pytest.raises(NotFound):
            tx.read_value("of:A", ["keys", "anything"])


@pytest.mark.shows("R109")
def test_a_missing_leaf_has_no_value_and_a_missing_parent_is_an_error(duet: Duet) -> None:
    with Transaction(duet.session) as tx:
        assert tx.read_value("of:A", ["nothing"]) is MISSING
        assert tx.read("of:new") is MISSING
        with pytest.raises(NotFound, match="has nothing at /value/nothing"):
            tx.read_value("of:A", ["nothing", "below"])
        with pytest.raises(TypeMismatch, match="is a number"):
            tx.read_value("of:A", ["n", "below"])
        assert tx.read_value("of:A", ["list", "length"]) == 2
        assert tx.read_value("of:A", ["list", "7"]) is MISSING
        assert tx.get("of:A", ["nothing", "below"], "default") == "default"


@pytest.mark.shows("INV-10", "SYNC-SNAPSHOT")
def test_a_transaction_sees_one_snapshot_whatever_arrives(duet: Duet, world: World) -> None:
    world.commit("writer", 2, put("of:other", 1))
    duet.session.watch_add([watch("of:other")])
    duet.run()
    tx = Transaction(duet.session)
    assert tx.read_value("of:A", ["n"]) == 1
    world.commit("writer", 3, put("of:A", {"n": 9}), put("of:other", 9))
    world.server.space(duet.session.space).advance()
    duet.refresh()
    assert tx.read_value("of:other") == 1
    assert tx.read_value("of:A", ["n"]) == 1
    tx.abort()
    assert duet.visible("of:other") == {"value": 9}
    assert duet.told[-1].kind == "integrate"


def test_inline_documents_are_read_and_never_written_or_sent(duet: Duet) -> None:
    id = 'data:application/json,{"value":{"a":1}}'
    with Transaction(duet.session) as tx:
        assert tx.read_value(id, ["a"]) == 1
        with pytest.raises(ReadOnlyDocument):
            tx.write_value(id, ["a"], 2)
        tx.write_value("of:A", ["n"], 2)
        verdict = tx.commit()
    duet.run()
    assert verdict.result() is not None
    assert inline.document("data:;base64,eyJ2YWx1ZSI6Mn0=") == {"value": 2}
    assert inline.document("data:nothing") is MISSING
    assert inline.document("data:;base64,%%%") is MISSING


# committing


@pytest.mark.shows("R79")
def test_transactions_on_different_documents_do_not_meet(duet: Duet) -> None:
    one, two = Transaction(duet.session), Transaction(duet.session)
    one.write_value("of:A", ["n"], 2)
    two.write_value("of:new", [], 1)
    verdicts = [one.commit(), two.commit()]
    duet.run()
    assert all(verdict.error is None for verdict in verdicts)


@pytest.mark.shows("R80", "R112")
def test_a_document_that_changed_since_it_was_read_fails_the_commit_here(duet: Duet) -> None:
    one, two = Transaction(duet.session), Transaction(duet.session)
    one.write_value("of:A", ["n"], 2)
    assert two.read_value("of:A", ["n"]) == 1
    two.write_value("of:A", ["n"], 3)
    first, second = one.commit(), two.commit()
    assert isinstance(second.error, StorageTransactionInconsistent)
    duet.run()
    assert first.error is None
    assert duet.landing == [1]
    assert duet.visible("of:A")["value"]["n"] == 2


@pytest.mark.shows("SYNC-WRITE-ISOLATION")
def test_a_transaction_writes_to_one_branch_of_one_space(duet: Duet) -> None:
    other = duet.client.mount("did:key:elsewhere")
    with Transaction(duet.session, others=[other]) as tx:
        tx.write_value("of:A", ["n"], 2)
        assert tx.read("of:A", space="did:key:elsewhere") is MISSING
        with pytest.raises(WriteIsolationError, match="already writes to"):
            tx.write_value("of:A", ["n"], 3, space="did:key:elsewhere")
        with pytest.raises(WriteIsolationError):
            tx.write_value("of:A", ["n"], 3, branch="draft")
        verdict = tx.commit()
    duet.run()
    assert verdict.error is None
    (sent,) = [m.commit for m in duet.sent if m.__struct_config__.tag == "transact"]  # type: ignore[attr-defined]
    assert sent["reads"] == {"confirmed": [], "pending": []}


@pytest.mark.shows("R101", "R102")
def test_nothing_to_commit_touches_nothing_and_validates_nothing(duet: Duet) -> None:
    one, two = Transaction(duet.session), Transaction(duet.session)
    two.read("of:A")
    two.write_value("of:A", ["n"], 1)
    one.write_value("of:A", ["n"], 5)
    one.commit()
    assert two.commit().result() is None
    duet.run()
    assert duet.landing == [1]
    assert duet.kinds.count("commit") == 1


@pytest.mark.shows("R114")
def test_a_commit_that_cannot_be_made_is_an_outcome_not_a_crash(
    duet: Duet, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise TransactionError("hook")

    monkeypatch.setattr(duet.session.replica, "draft", refuse)
    tx = Transaction(duet.session)
    tx.write_value("of:A", ["n"], 2)
    assert isinstance(tx.commit().error, TransactionError)
    assert duet.session.replica._holds == 0


def test_a_transaction_ends_once(duet: Duet) -> None:
    tx = Transaction(duet.session)
    tx.write_value("of:A", ["n"], 2)
    tx.commit()
    with pytest.raises(TransactionComplete, match="already committed"):
        tx.read("of:A")
    with pytest.raises(TransactionComplete):
        tx.commit()
    tx.abort()
    assert duet.visible("of:A")["value"]["n"] == 2
    assert duet.session.replica._holds == 0


@pytest.mark.shows("SYNC-TRANSACTION-BLOCK")
def test_a_block_that_ends_cleanly_commits(duet: Duet) -> None:
    """It used to abort without a word."""
    with Transaction(duet.session) as tx:
        tx.write_value("of:A", ["n"], 9)
    assert duet.visible("of:A")["value"]["n"] == 9
    duet.run()
    assert tx.outcome is not None
    landed = tx.outcome.result()
    assert landed is not None
    assert duet.session.replica._holds == 0


@pytest.mark.shows("SYNC-TRANSACTION-BLOCK")
def test_a_block_that_raises_rolls_back(duet: Duet) -> None:
    before = duet.visible("of:A")
    with pytest.raises(ZeroDivisionError), Transaction(duet.session) as tx:
        tx.write_value("of:A", ["n"], 1 / 0)
    tx = Transaction(duet.session)
    tx.write_value("of:A", ["n"], 9)
    with pytest.raises(ZeroDivisionError), tx:
        tx.write_value("of:A", ["n"], 1 / 0)
    assert tx.outcome is None
    assert duet.visible("of:A") == before
    assert not duet.session.outstanding
    assert duet.session.replica._holds == 0


@pytest.mark.shows("SYNC-TRANSACTION-BLOCK")
def test_a_block_may_end_its_transaction_itself(duet: Duet) -> None:
    before = duet.visible("of:A")
    with Transaction(duet.session) as tx:
        tx.write_value("of:A", ["n"], 9)
        tx.abort()
    assert duet.visible("of:A") == before
    with Transaction(duet.session) as tx:
        tx.write_value("of:A", ["n"], 9)
        verdict = tx.commit()
    assert tx.outcome is verdict


@pytest.mark.shows("SYNC-TRANSACTION-BLOCK")
def test_a_block_raises_a_commit_that_fails_here(duet: Duet) -> None:
    one, two = Transaction(duet.session), Transaction(duet.session)
    two.read("of:A")
    one.write_value("of:A", ["n"], 2)
    one.commit()
    with pytest.raises(StorageTransactionInconsistent), two:
        two.write_value("of:A", ["n"], 3)


def test_a_splice_stands_on_the_length_it_was_placed_by(duet: Duet, world: World) -> None:
    """Without that, shortening a list to what was seen would cut off what others appended."""
    world.commit(
        "writer",
        2,
        {
            "op": "patch",
            "id": "of:A",
            "patches": [{"op": "append", "path": "/value/list", "values": ["new"]}],
        },
    )
    with Transaction(duet.session) as tx:
        tx.write_value("of:A", ["list", "length"], 1)
        verdict = tx.commit()
    duet.run()
    assert verdict.error is not None
    assert world.store.read("of:A")["value"]["list"] == ["x", "y", "new"]  # type: ignore[index]


@pytest.mark.shows("R117", "R119")
@pytest.mark.parametrize("seed", seeds(5))
def test_two_clients_and_the_store_agree_after_random_work(seed: int) -> None:
    from random import Random

    random, world = Random(seed), World()
    clients = [Duet(world), Duet(world)]
    for client in clients:
        client.session.watch_add([watch("of:1", "of:2", schema=True, name="all")])
        client.run()
    for _ in range(40):
        client = random.choice(clients)
        with Transaction(client.session) as tx:
            id, target = random.choice(["of:1", "of:2"]), random.choice(["of:1", "of:2", "of:3"])
            tx.read(id)
            if random.random() < 0.3:
                tx.write_value(id, ["next"], {"/": {"link@1": {"id": target}}})
            else:
                tx.write_value(id, [random.choice("abc")], random.randint(0, 9))
            tx.commit()
        client.run()
        if random.random() < 0.3:
            for each in clients:
                each.refresh()
    for each in clients:
        each.refresh()
    for id in ("of:1", "of:2"):
        true = world.store.read(id)
        assert [client.visible(id) for client in clients] == [true, true]
    world.close()
