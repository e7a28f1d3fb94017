"""Commits: atomic, idempotent, and stored as they were received."""

from typing import Any

import pytest

from holdfast.ids import LocalSeq, SessionId
from holdfast.store.errors import (
    ConflictError,
    PatchError,
    ReplayMismatch,
    TransactionError,
    UnknownBranch,
)
from holdfast.store.model import CommitKey
from holdfast.store.settings import StoreSettings
from holdfast.store.store import Store
from holdfast.store.tables import TABLES
from holdfast.store.values import BigInt
from tests.store.harness import Engines, Writer, commit, delete_, patch_, replace_, set_


@pytest.mark.shows("T21")
def test_a_new_space_has_exactly_the_eight_tables(store: Store) -> None:
    assert store.engine.reading.tables() == list(TABLES)


@pytest.mark.shows("T22", "F1", "INV-11")
def test_the_same_commit_again_gets_the_same_answer(store: Store) -> None:
    first = store.transact("s", commit(1, set_("doc:a", {"hello": "world"})))
    again = store.transact("s", commit(1, set_("doc:a", {"hello": "world"})))
    assert (first.seq, again.seq, again.replayed) == (1, 1, True)
    assert first.to_wire() == again.to_wire()
    with pytest.raises(ReplayMismatch, match="commit replay mismatch for session s localSeq 1"):
        store.transact("s", commit(1, set_("doc:a", {"hello": "different"})))
    assert store.read("doc:a") == {"value": {"hello": "world"}}
    assert store.newest_seq() == 1


@pytest.mark.shows("STORE-CANONICAL-REPLAY")
def test_a_replay_is_compared_by_value_not_by_bytes(store: Store) -> None:
    store.transact("s", {"localSeq": 1, "operations": [set_("doc:a", {"x": 1, "y": 2.0})]})
    again = {"operations": [set_("doc:a", {"y": 2, "x": 1.0})], "localSeq": 1}
    assert store.transact("s", again).replayed
    with pytest.raises(ReplayMismatch):
        store.transact("s", {"localSeq": 1, "operations": [set_("doc:a", {"x": True, "y": 2})]})


@pytest.mark.shows("T24", "T26", "INV-24")
def test_a_commit_is_stored_as_it_was_received(store: Store) -> None:
    sent = commit(1, set_("doc:a", 1), invocation={"junk": True}, codeCID="bafy")
    store.transact("s", sent)
    store.transact("s", commit(2, delete_("doc:a")))
    engine = store.engine
    row = engine.tables.commit_by_key(CommitKey(SessionId("s"), LocalSeq(1)))
    assert row is not None
    assert engine.decode(row.original) == sent
    assert engine.decode(row.resolution) == {"seq": 1}
    assert (row.invocation_ref, row.authorization_ref) == (None, None)
    assert engine.tables.reserved_rows() == 0
    assert [(seq, op, data) for *_, seq, _, op, data, _ in engine.tables.all_revisions()] == [
        (1, "set", '{"value":1}'),
        (2, "delete", None),
    ]
    assert engine.tables.head("", "doc:a") == (2, 0)  # type: ignore[arg-type]


@pytest.mark.shows("T2", "T6", "T25", "T27")
@pytest.mark.parametrize(
    "document",
    [
        {"value": {}, "source": {"/": "origin"}},
        {"source": {"/": "origin"}},
        {},
        {"value": None},
        {"value": 1, "labels": ["x"], "": {"deep": [None, True, 1.5, "é\u2028\U0001f600"]}},
    ],
)
def test_a_document_keeps_every_member(store: Store, document: dict[str, Any]) -> None:
    store.transact("s", commit(1, {"op": "set", "id": "doc:a", "value": document}))
    assert store.read("doc:a") == document


@pytest.mark.shows("T28", "T33")
def test_a_document_can_be_read_as_it_was(store: Store) -> None:
    write = Writer(store)
    write(set_("doc:a", {"n": 0}))
    write(patch_("doc:a", replace_("/value/n", 1)))
    write(delete_("doc:a"))
    write(set_("doc:a", "back"))
    values = [store.read("doc:a", seq=seq) for seq in range(5)]
    assert values == [None, {"value": {"n": 0}}, {"value": {"n": 1}}, None, {"value": "back"}]


@pytest.mark.shows("INV-8")
def test_one_bad_operation_refuses_the_whole_commit(store: Store) -> None:
    write = Writer(store)
    write(set_("doc:a", {"n": 0}))
    with pytest.raises(PatchError):
        write(set_("doc:b", 1), patch_("doc:a", {"op": "remove", "path": "/value/zzz"}))
    assert store.read("doc:b") is None
    assert store.newest_seq() == 1
    store.transact(write.session, commit(write.local_seq, set_("doc:b", 2)))
    assert store.newest_seq() == 2, "a refused localSeq may be used again"


@pytest.mark.shows("T31")
def test_a_read_of_another_path_does_not_stand_in_the_way(store: Store) -> None:
    write = Writer(store)
    write(set_("doc:a", {"x": 0, "y": 0}))
    store.transact("other", commit(1, patch_("doc:a", replace_("/value/x", 1))))
    read = {"id": "doc:a", "path": ["value", "y"], "seq": 1}
    assert write(set_("doc:b", 1), reads=[read]).seq == 3
    read = {"id": "doc:a", "path": ["value", "x"], "seq": 1}
    with pytest.raises(ConflictError, match="stale confirmed read"):
        write(set_("doc:c", 1), reads=[read])
    assert store.read("doc:c") is None


@pytest.mark.shows("T32")
def test_a_pending_read_resolves_to_the_seq_of_its_layer(store: Store) -> None:
    write = Writer(store, "s")
    write(set_("doc:a", {"x": 0, "y": 0}))
    write(patch_("doc:a", replace_("/value/x", 1)))
    write(set_("doc:b", 1), pending=[{"id": "doc:a", "path": ["value", "x"], "localSeq": 2}])
    row = store.engine.tables.commit_by_key(CommitKey(SessionId("s"), LocalSeq(3)))
    assert row is not None
    assert store.engine.decode(row.resolution)["resolvedPendingReads"] == [
        {"localSeq": 2, "seq": 2}
    ]
    with pytest.raises(ConflictError, match="pending dependency not resolved: 9"):
        write(set_("doc:c", 1), pending=[{"id": "doc:a", "path": [], "localSeq": 9}])


@pytest.mark.shows("T36")
def test_a_big_integer_survives_where_rich_values_are_on(engines: Engines) -> None:
    store = engines.open(settings=StoreSettings(rich_values=True))
    write = Writer(store)
    write(set_("doc:a", {"n": BigInt(2**70)}))
    write(patch_("doc:a", replace_("/value/n", BigInt(2**80))))
    assert store.read("doc:a") == {"value": {"n": BigInt(2**80)}}
    assert store.read("doc:a", seq=1) == {"value": {"n": BigInt(2**70)}}


@pytest.mark.shows("T23", "INV-25")
def test_blobs_are_kept_by_their_content(store: Store) -> None:
    hash = store.put_blob(bytes([1, 2, 3, 4]), "text/plain")
    assert hash == "ba4jcbh3eu5d6dol7cmp2xnvui4uwzg3paia6ph5tyu2w43dx5cnwvadk"
    assert store.put_blob(bytes([1, 2, 3, 4]), "image/png") == hash
    assert store.blob(hash) == (bytes([1, 2, 3, 4]), "text/plain"), "the first type stays"
    assert store.newest_seq() == 0
    with pytest.raises(Exception, match="blob hash mismatch"):
        store.put_blob(b"other", expected=hash)


def test_what_a_caller_does_to_its_values_afterwards_is_its_own_affair(store: Store) -> None:
    payload: dict[str, Any] = {"list": [1]}
    edit: dict[str, Any] = {"op": "add", "path": "/value/more", "value": [1]}
    write = Writer(store)
    write(set_("doc:a", payload), patch_("doc:a", edit))
    payload["list"].append(2)
    edit["value"].append(2)
    applied = write(patch_("doc:a", {"op": "append", "path": "/value/list", "values": [3]}))
    applied.revisions[0].data[0]["values"].append(4)
    got = store.read("doc:a")
    assert got == {"value": {"list": [1, 3], "more": [1]}}
    got["value"]["list"].append(5)
    assert store.read("doc:a") == {"value": {"list": [1, 3], "more": [1]}}


def test_two_handles_on_one_space_see_each_other(engines: Engines) -> None:
    if engines.url == "memory:":
        pytest.skip("a space in memory has one handle")
    space = engines.space()
    one, other = Writer(engines.open(space), "one"), Writer(engines.open(space), "other")
    one(set_("doc:a", {"n": 0}))
    for n in range(1, 30):
        writer = one if n % 3 else other
        writer(patch_("doc:a", {"op": "increment", "path": "/value/n", "by": 1}))
        assert one.store.read("doc:a") == other.store.read("doc:a") == {"value": {"n": n}}
    other.store.create_branch("draft")
    one(set_("doc:a", 1), branch="draft")
    assert other.store.read("doc:a", "draft") == {"value": 1}


def test_an_unknown_branch_is_named(store: Store) -> None:
    with pytest.raises(UnknownBranch, match="unknown branch: nowhere"):
        Writer(store)(set_("doc:a", 1), branch="nowhere")
    with pytest.raises(UnknownBranch):
        store.read("doc:a", "nowhere")


def test_a_commit_needs_an_operation(store: Store) -> None:
    with pytest.raises(TransactionError, match="at least one operation"):
        store.transact("s", commit(1))
