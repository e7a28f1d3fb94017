"""A commit may land only if what it read is still so.

The twin knows nothing of paths overlapping. It keeps every version of every document, looks up
what the reader saw and what is there now, and compares the two values. Whatever the engine accepts,
the twin must accept.
"""

import copy
import os
from functools import partial
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given, note, settings

from holdfast.errors import StoreError
from holdfast.ids import MAIN, EntityId, Seq, SessionId
from holdfast.store import admit, patch, pointer
from holdfast.store.admit import Reach, reshapes, touched
from holdfast.store.errors import ConflictError, PatchError, ProtocolError
from holdfast.store.model import Applied
from holdfast.store.settings import StoreSettings
from holdfast.store.store import Store, open_store
from tests.scale import SOAKING, examples
from tests.store.harness import Engines, Writer, commit, delete_, patch_, replace_, set_
from tests.store.pairs import pairs

IDS = ["doc:a", "doc:b"]
SESSIONS = ["one", "two", "three"]
NOTHING = object()
SEED = int(os.environ.get("HOLDFAST_SEED", "7"))

members = st.sampled_from(["x", "y", "0", "1", "list"])
leaves = st.one_of(st.integers(0, 3), st.sampled_from(["p", "q"]))
payloads = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.dictionaries(members, inner, max_size=3), st.lists(inner, max_size=3)
    ),
    max_leaves=6,
)
paths = st.lists(members, max_size=3).map(lambda tokens: ["value", *tokens])
lengths = paths.map(lambda path: [*path, "length"])
pointers = paths.map(pointer.encode)
edits = st.one_of(
    st.builds(lambda p, v: {"op": "replace", "path": p, "value": v}, pointers, payloads),
    st.builds(lambda p, v: {"op": "add", "path": p, "value": v}, pointers, payloads),
    st.builds(lambda p: {"op": "add", "path": f"{p}/-", "value": 9}, pointers),
    st.builds(lambda p: {"op": "remove", "path": p}, pointers),
    st.builds(lambda f, p: {"op": "move", "from": f, "path": p}, pointers, pointers),
    st.builds(
        lambda p, i, r: {"op": "splice", "path": p, "index": i, "remove": r, "add": ["s"]},
        pointers,
        st.integers(0, 2),
        st.integers(0, 2),
    ),
    st.builds(lambda p: {"op": "append", "path": p, "values": ["t"]}, pointers),
    st.builds(lambda p: {"op": "add-unique", "path": p, "values": ["u"]}, pointers),
    st.builds(lambda p, v: {"op": "remove-by-value", "path": p, "value": v}, pointers, leaves),
    st.builds(lambda p: {"op": "increment", "path": p, "by": 1}, pointers),
)


def operations(ids: list[str]) -> st.SearchStrategy[dict[str, Any]]:
    id = st.sampled_from(ids)
    return st.one_of(
        st.builds(lambda i, v: {"op": "set", "id": i, "value": {"value": v}}, id, payloads),
        st.builds(
            lambda i, e: {"op": "patch", "id": i, "patches": e}, id, st.lists(edits, max_size=2)
        ),
        st.builds(lambda i: {"op": "delete", "id": i}, id),
    )


def look(document: Any, path: list[str], shape: bool = False) -> Any:
    """What a reader of this path sees: the value, its shape, or that there is nothing.

    The `length` of a list or a string is readable like a member.
    """
    node = document
    for token in path:
        if token == "length" and isinstance(node, list | str):
            node = len(node)
        elif isinstance(node, dict) and token in node:
            node = node[token]
        elif isinstance(node, list) and token.isdigit() and int(token) < len(node):
            node = node[int(token)]
        else:
            return NOTHING
    if not shape:
        return copy.deepcopy(node)
    if isinstance(node, dict):
        return ("members", sorted(node))
    if isinstance(node, list):
        return ("length", len(node))
    return node


class Twin:
    """Every version of every document, by seq."""

    def __init__(self) -> None:
        self.worlds: list[dict[str, Any]] = [{}]

    def after(self, world: dict[str, Any], ops: list[dict[str, Any]]) -> dict[str, Any]:
        world = dict(world)
        for op in ops:
            if op["op"] == "set":
                world[op["id"]] = op["value"]
            elif op["op"] == "delete":
                world.pop(op["id"], None)
            else:
                world[op["id"]] = patch.apply(world.get(op["id"], {}), op["patches"])
        return world

    def land(self, ops: list[dict[str, Any]]) -> None:
        self.worlds.append(self.after(self.worlds[-1], ops))


@pytest.mark.shows("INV-1", "INV-2", "STORE-NAIVE-MODEL")
@pytest.mark.parametrize("reach", list(Reach))
@given(data=st.data())
@settings(max_examples=examples(300), deadline=None)
def test_what_the_engine_accepts_the_naive_model_accepts(reach: Reach, data: st.DataObject) -> None:
    anything: st.SearchStrategy[list[str]] = st.one_of(
        paths, lengths, st.just([]), st.just(["source"])
    )
    compare_with_twin(reach, data, operations(IDS), anything)


slots = st.sampled_from(["/value/list", *(f"/value/list/{n}" for n in (0, 1, 2, "-"))])
list_edits = st.one_of(
    st.builds(lambda p: {"op": "append", "path": p, "values": ["t"]}, slots),
    st.builds(lambda p: {"op": "add-unique", "path": p, "values": ["u"]}, slots),
    st.builds(lambda p: {"op": "increment", "path": p, "by": 1}, slots),
    st.builds(lambda p: {"op": "add", "path": p, "value": 9}, slots),
    st.builds(lambda p: {"op": "remove", "path": p}, slots),
)
list_operations = st.one_of(
    st.builds(
        lambda v: {"op": "set", "id": "doc:a", "value": {"value": {"list": v}}},
        st.lists(st.sampled_from([0, []]), max_size=2),
    ),
    st.builds(lambda e: {"op": "patch", "id": "doc:a", "patches": [e]}, list_edits),
)
list_reads = st.sampled_from(["0", "1", "2", "length"]).map(lambda end: ["value", "list", end])


@pytest.mark.shows("INV-1", "STORE-NAIVE-MODEL")
@pytest.mark.parametrize("reach", list(Reach))
@given(data=st.data())
@settings(max_examples=examples(200), deadline=None)
def test_readers_of_a_list_agree_with_the_naive_model(reach: Reach, data: st.DataObject) -> None:
    """Small lists, written and read slot by slot, so that growth at the end is met often."""
    compare_with_twin(reach, data, list_operations, list_reads)


def compare_with_twin(
    reach: Reach,
    data: st.DataObject,
    written: st.SearchStrategy[dict[str, Any]],
    looked_at: st.SearchStrategy[list[str]],
) -> None:
    store = open_store("memory:", "did:key:twin", StoreSettings(reach=reach, snapshot_interval=3))
    twin = Twin()
    counters = dict.fromkeys(SESSIONS, 0)
    for _ in range(data.draw(st.integers(2, 10), label="steps")):
        session = data.draw(st.sampled_from(SESSIONS), label="session")
        ops = data.draw(st.lists(written, min_size=1, max_size=2), label="operations")
        reads: list[dict[str, Any]] = []
        for _ in range(data.draw(st.integers(0, 2), label="reads")):
            shape = data.draw(st.booleans(), label="shape")
            reads.append(
                {
                    "id": data.draw(st.sampled_from(IDS)),
                    "path": data.draw(looked_at),
                    "seq": data.draw(st.integers(0, len(twin.worlds) - 1), label="read at"),
                    **({"nonRecursive": True} if shape else {}),
                }
            )
        counters[session] += 1
        try:
            applied = store.transact(session, commit(counters[session], *ops, reads=reads))
        except (ConflictError, PatchError):
            continue
        assert applied.seq == len(twin.worlds)
        for read in reads:
            shape = read.get("nonRecursive", False) and reach is Reach.LEAF
            then = look(twin.worlds[read["seq"]].get(read["id"]), read["path"], shape)
            now = look(twin.worlds[-1].get(read["id"]), read["path"], shape)
            note(f"read {read} saw {then!r}, now {now!r}")
            assert then == now or (then is NOTHING and now is NOTHING)
        twin.land(ops)
    assert store.verify().findings == []
    store.close()


@pytest.mark.shows("INV-1", "STORE-CONFLICT-DETAIL")
@given(data=st.data())
@settings(max_examples=examples(200), deadline=None)
def test_what_is_refused_at_sight_is_refused_alike_in_full(data: st.DataObject) -> None:
    """The short way is judged by the long one, at once and again after more was written."""
    store = open_store("memory:", "did:key:sight")
    engine = store.engine
    landed: list[tuple[SessionId, dict[str, Any]]] = []
    at_sight: list[tuple[SessionId, dict[str, Any], ConflictError]] = []

    def in_full(session: SessionId, message: dict[str, Any]) -> Applied | StoreError:
        commit = engine.parse(session, message)
        return engine.transact([engine.prepare(session, message, commit)])[0]

    for step in range(data.draw(st.integers(2, 12), label="steps")):
        session = SessionId(data.draw(st.sampled_from(SESSIONS), label="session"))
        again: bool = data.draw(st.booleans(), label="again")
        if landed and again:
            session, message = data.draw(st.sampled_from(landed), label="which")
        else:
            ops = data.draw(st.lists(operations(IDS), min_size=1, max_size=2), label="operations")
            reads = [
                {
                    "id": data.draw(st.sampled_from(IDS)),
                    "path": data.draw(paths),
                    "seq": data.draw(st.integers(0, step + 1), label="read at"),
                }
                for _ in range(data.draw(st.integers(0, 2), label="reads"))
            ]
            message = commit(step + 1, *ops, reads=reads)
        refusal = engine.refused_at_sight(session, engine.parse(session, message))
        answer = in_full(session, message)
        if refusal is not None:
            assert isinstance(answer, ConflictError)
            assert answer.conflicts == refusal.conflicts
            at_sight.append((session, message, refusal))
        elif isinstance(answer, Applied):
            landed.append((session, message))
    for session, message, refusal in at_sight:
        later = in_full(session, message)
        assert isinstance(later, ConflictError), "a read that was overtaken stays overtaken"
        assert [c.id for c in later.conflicts] == [c.id for c in refusal.conflicts]
    store.close()


@pytest.mark.shows("INV-1", "INV-3", "STORE-PENDING-LAYERS")
@given(data=st.data())
@settings(max_examples=examples(300), deadline=None)
def test_a_read_through_own_layers_saw_what_is_there(data: st.DataObject) -> None:
    """One session stacks commits on what it last saw; others write in between."""
    store = open_store("memory:", "did:key:layers")
    twin = Twin()
    mine, theirs = 0, 0
    seeded = [set_("doc:a", {"x": 0, "y": 0}), set_("doc:b", {"x": 0})]
    store.transact("seed", commit(1, *seeded))
    twin.land(seeded)
    basis = 1
    stack: list[tuple[int, list[dict[str, Any]]]] = []
    dead: set[int] = set()
    for _ in range(data.draw(st.integers(2, 8), label="steps")):
        if data.draw(st.booleans(), label="foreign"):
            ops = data.draw(st.lists(operations(IDS), min_size=1, max_size=1))
            theirs += 1
            try:
                store.transact("them", commit(theirs, *ops))
            except PatchError:
                continue
            twin.land(ops)
            continue
        # What I see: the world at my basis with my stacked commits on top, landed or not.
        seen = twin.worlds[basis]
        contributing: list[int] = []
        for local_seq, ops in stack:
            try:
                seen = twin.after(seen, ops)
            except PatchError:
                continue
            contributing.append(local_seq)
        id, path = data.draw(st.sampled_from(IDS)), data.draw(st.one_of(paths, lengths))
        ops = data.draw(st.lists(operations(IDS), min_size=1, max_size=1))
        layers = [n for n, written in stack if any(op["id"] == id for op in written)]
        mine += 1
        reads: dict[str, Any] = (
            {"pending": [{"id": id, "path": path, "localSeq": layers, "basisSeq": basis}]}
            if layers
            else {"reads": [{"id": id, "path": path, "seq": basis}]}
        )
        stack.append((mine, ops))
        try:
            store.transact("me", commit(mine, *ops, **reads))
        except (ConflictError, PatchError):
            dead.add(mine)
            continue
        assert not set(layers) & dead, "a commit that read through a refused one was accepted"
        was, now = look(seen.get(id), path), look(twin.worlds[-1].get(id), path)
        note(f"saw {was!r} through {layers} on {basis}, now {now!r}")
        assert was == now or (was is NOTHING and now is NOTHING)
        twin.land(ops)
    store.close()


TOUCHED = [
    ({"op": "replace", "path": "/a/b"}, {"/a/b"}, {"/a/b"}),
    ({"op": "add", "path": "/a/b"}, {"/a/b", "/a"}, {"/a/b"}),
    ({"op": "add", "path": "/a/0"}, {"/a/0", "/a"}, {"/a/0", "/a"}),
    ({"op": "add", "path": "/a/-"}, {"/a/-", "/a"}, {"/a/-", "/a"}),
    ({"op": "remove", "path": "/a/b"}, {"/a/b", "/a"}, {"/a/b"}),
    (
        {"op": "move", "from": "/a/b", "path": "/c/d"},
        {"/a/b", "/c/d", "/a", "/c"},
        {"/a/b", "/c/d"},
    ),
    ({"op": "splice", "path": "/a"}, {"/a"}, {"/a"}),
    ({"op": "append", "path": "/a"}, {"/a"}, {"/a"}),
    ({"op": "increment", "path": "/a"}, {"/a"}, {"/a"}),
]


@pytest.mark.shows("STORE-TOUCHED")
@pytest.mark.parametrize(("operation", "parents", "leaf"), TOUCHED)
def test_an_operation_touches_these_paths(
    operation: dict[str, Any], parents: set[str], leaf: set[str]
) -> None:
    assert {pointer.encode(path) for path in touched(operation, Reach.PARENTS)} == parents
    assert {pointer.encode(path) for path in touched(operation, Reach.LEAF)} == leaf


@pytest.mark.shows("STORE-SHAPE-READS")
@pytest.mark.parametrize(
    ("operation", "existed", "reshaped"),
    [
        ({"op": "replace", "path": "/value/votes/bob"}, True, False),
        ({"op": "replace", "path": "/value/votes/bob"}, False, True),
        ({"op": "replace", "path": "/value/votes/bob/age"}, True, False),
        ({"op": "add", "path": "/value/votes/carol"}, False, True),
        ({"op": "remove", "path": "/value/votes/bob"}, True, True),
        ({"op": "replace", "path": "/value"}, True, True),
        ({"op": "append", "path": "/value/votes"}, True, True),
        ({"op": "move", "from": "/value/votes/bob", "path": "/value/x"}, True, True),
        ({"op": "add", "path": "/other"}, False, False),
    ],
)
def test_a_shape_read_notices_members_not_values(
    operation: dict[str, Any], existed: bool, reshaped: bool
) -> None:
    hit = reshapes(operation, ("value", "votes"), lambda path: existed)
    assert (hit is not None) == reshaped


GROWTH = [
    {"op": "append", "path": "/value/list/2", "values": ["t"]},
    {"op": "add-unique", "path": "/value/list/2", "values": ["t"]},
    {"op": "increment", "path": "/value/list/2", "by": 1},
    {"op": "increment", "path": "/value/list/-", "by": 1},
    {"op": "add", "path": "/value/list/-", "value": 9},
]


@pytest.mark.shows("INV-1")
@pytest.mark.parametrize("reach", list(Reach))
@pytest.mark.parametrize("shape", [False, True])
@pytest.mark.parametrize("edit", GROWTH, ids=lambda edit: f"{edit['op']} {edit['path']}")
def test_an_edit_that_grows_a_list_breaks_a_read_of_its_length(
    edit: dict[str, Any], shape: bool, reach: Reach
) -> None:
    """A splice at the length it had read landed before another writer's new element."""
    with open_store("memory:", "did:key:length", StoreSettings(reach=reach)) as store:
        Writer(store, "seed")(set_("doc:a", {"list": [0, 1]}))
        Writer(store, "other")(patch_("doc:a", edit))
        read = {"id": "doc:a", "path": ["value", "list", "length"], "seq": 1}
        if shape:
            read["nonRecursive"] = True
        tail = {"op": "splice", "path": "/value/list", "index": 2, "remove": 0, "add": ["mine"]}
        with pytest.raises(ConflictError):
            Writer(store, "me")(patch_("doc:a", tail), reads=[read])


@pytest.mark.parametrize("reach", list(Reach))
def test_an_edit_of_an_element_that_was_there_leaves_the_length(reach: Reach) -> None:
    with open_store("memory:", "did:key:length", StoreSettings(reach=reach)) as store:
        Writer(store, "seed")(set_("doc:a", {"list": [0, []]}))
        count = {"op": "increment", "path": "/value/list/0", "by": 1}
        grow = {"op": "append", "path": "/value/list/1", "values": ["t"]}
        Writer(store, "other")(patch_("doc:a", count, grow))
        read = {"id": "doc:a", "path": ["value", "list", "length"], "seq": 1}
        assert Writer(store, "me")(set_("doc:b", 1), reads=[read]).seq == 3


@pytest.mark.shows("STORE-CONFLICT-DETAIL")
def test_a_conflict_says_which_read_which_path_which_commit_and_who(store: Store) -> None:
    write = Writer(store)
    write(set_("doc:a", {"title": "old", "body": ""}))
    store.transact("bob", commit(7, patch_("doc:a", replace_("/value/title", "new"))))
    read = {"id": "doc:a", "path": ["value", "title"], "seq": 1}
    with pytest.raises(ConflictError) as refused:
        write(set_("doc:b", 1), reads=[read])
    assert str(refused.value) == "stale confirmed read: doc:a at seq 1 conflicted with seq 2"
    (conflict,) = refused.value.conflicts
    assert conflict.to_wire() == {
        "id": "doc:a",
        "branch": "",
        "path": ["value", "title"],
        "expected": {"seq": 1, "localSeq": []},
        "actual": {"seq": 2, "sessionId": "bob", "localSeq": 7, "path": ["value", "title"]},
    }
    assert refused.value.retry_after_seq == 2
    assert refused.value.hint == (
        "/value/title of doc:a was read, and session bob wrote /value/title "
        "in its commit 7 at seq 2; read again at seq 2 or later, then commit again"
    )


def test_every_broken_read_is_reported(store: Store) -> None:
    write = Writer(store)
    write(set_("doc:a", 1), set_("doc:b", 1))
    write(set_("doc:a", 2), delete_("doc:b"))
    reads: list[dict[str, Any]] = [{"id": id, "path": [], "seq": 1} for id in ("doc:a", "doc:b")]
    with pytest.raises(ConflictError) as refused:
        write(set_("doc:c", 1), reads=reads)
    assert [(c.id, c.seq) for c in refused.value.conflicts] == [("doc:a", 2), ("doc:b", 2)]


def test_a_read_of_the_future_is_refused(store: Store) -> None:
    write = Writer(store)
    write(set_("doc:a", 1))
    with pytest.raises(ProtocolError, match="names seq 5, but the newest is 1"):
        write(set_("doc:b", 1), reads=[{"id": "doc:a", "path": [], "seq": 5}])
    pending = {"id": "doc:a", "path": [], "localSeq": [1], "basisSeq": 9}
    with pytest.raises(ProtocolError, match="names basisSeq 9"):
        write(set_("doc:b", 1), pending=[pending])


REMOVED = {"op": "remove", "path": "/value/m"}


def shape_of_value(**through: Any) -> dict[str, Any]:
    return {"id": "doc:a", "path": ["value"], "nonRecursive": True, **through}


@pytest.mark.shows("INV-2")
@pytest.mark.parametrize(
    "edit",
    [replace_("/value/m", 2), {"op": "add", "path": "/value/m/x", "value": 2}],
    ids=["put back", "made again below"],
)
def test_a_shape_read_through_a_layer_that_took_a_member_away(
    store: Store, edit: dict[str, Any]
) -> None:
    """The reader saw no member, though its basis had one: bringing it back changes the shape."""
    Writer(store, "seed")(set_("doc:a", {"m": {}}))
    store.transact("me", commit(1, patch_("doc:a", REMOVED)))
    Writer(store, "other")(patch_("doc:a", edit))
    read = shape_of_value(localSeq=[1], basisSeq=1)
    with pytest.raises(ConflictError):
        store.transact("me", commit(2, set_("doc:b", 1), pending=[read]))


@pytest.mark.shows("INV-2")
def test_a_shape_read_through_a_layer_that_shares_the_batch(store: Store) -> None:
    """The layer is not in the tables yet; what they hold is not what the reader saw."""
    Writer(store, "seed")(set_("doc:a", {"m": 1}))
    told: list[Any] = []

    def queue_all() -> None:
        store.submit("me", commit(1, patch_("doc:a", REMOVED)), told.append)
        store.submit("other", commit(1, patch_("doc:a", replace_("/value/m", 2))), told.append)
        read = shape_of_value(localSeq=1)
        store.submit("me", commit(2, set_("doc:b", 1), pending=[read]), told.append)

    store._group.exclusively(queue_all)
    store.transact("last", commit(1, set_("doc:c", 1)))
    store.close()
    assert [type(answer).__name__ for answer in told] == ["Applied", "Applied", "ConflictError"]


@pytest.mark.shows("INV-2")
def test_what_a_caller_changes_after_handing_it_over_changes_nothing(store: Store) -> None:
    """Within a batch, reads were judged by the caller's own list, not by what is stored."""
    Writer(store, "seed")(set_("doc:a", {"p": 1, "q": 1}))
    told: list[Any] = []
    edit = replace_("/value/p", 2)

    def queue_all() -> None:
        store.submit("one", commit(1, patch_("doc:a", edit)), told.append)
        edit["path"] = "/value/q"
        read = {"id": "doc:a", "path": ["value", "p"], "seq": 1}
        store.submit("two", commit(1, set_("doc:b", 1), reads=[read]), told.append)

    store._group.exclusively(queue_all)
    store.close()
    assert [type(answer).__name__ for answer in told] == ["Applied", "ConflictError"]


@pytest.mark.shows("INV-1", "INV-2", "STORE-NAIVE-MODEL")
@pytest.mark.parametrize("reach", list(Reach))
def test_no_edit_goes_unseen_by_a_reader_of_anything_it_changed(reach: Reach) -> None:
    """Everything readable in a document, lengths included, against every kind of edit."""
    outcomes = pairs(500_000 if SOAKING else examples(10_000), SEED, reach)
    missed = [what for what in outcomes if what.startswith("missed")]
    assert not missed, f"seed {SEED}: {missed[:3]}"
    assert outcomes["held"] > outcomes["refused, though it held"] / 2, "not everything is refused"


@pytest.mark.shows("INV-1", "STORE-NAIVE-MODEL")
@pytest.mark.parametrize("reach", list(Reach))
@pytest.mark.parametrize("shape", [False, True])
def test_a_slot_that_was_missing_may_be_the_one_behind_the_last(reach: Reach, shape: bool) -> None:
    """A million pairs found it: the slot that `/value/-` created was not the one it names."""
    edit = {"op": "increment", "path": "/value/-", "by": 1}
    write = admit.RevisionWrite(Seq(2), "patch", [edit])
    had = partial(patch.has, {"value": []})
    found = admit.first_overlap(("value", "0"), shape, [write], reach, had)
    assert found is not None
    assert found.write is write


def patched_often(store: Store, times: int) -> None:
    write = Writer(store, "seed")
    write(set_("doc:a", {"n": 0, "m": 0}))
    told: list[Any] = []
    for n in range(times):
        patch_commit = commit(n + 2, patch_("doc:a", replace_("/value/n", n)))
        store.submit("seed", patch_commit, told.append)
    store.transact("last", commit(1, set_("doc:z", 1)))
    assert all(isinstance(answer, Applied) for answer in told)


@pytest.mark.shows("STORE-READ-AGE")
def test_an_old_read_is_looked_up_before_its_commit_is_queued(engines: Engines) -> None:
    """Otherwise the writer does it, and everyone else waits meanwhile."""
    store = engines.open()
    patched_often(store, 100)
    read = {"id": "doc:a", "path": ["value", "m"], "seq": 2}
    told: list[Any] = []

    def queue() -> None:
        store.submit("old", commit(1, set_("doc:b", 1), reads=[read]), told.append)
        assert store.engine._recent.known_keys([(MAIN, EntityId("doc:a"))])

    store._group.exclusively(queue)
    store.close()
    assert isinstance(told[0], Applied)


@pytest.mark.shows("STORE-READ-AGE", "INV-1")
def test_a_read_is_checked_against_a_thousand_commits_and_no_more(engines: Engines) -> None:
    store = engines.open()
    patched_often(store, 1_001)
    path = {"id": "doc:a", "path": ["value", "m"]}
    store.transact("near", commit(1, set_("doc:b", 1), reads=[{**path, "seq": 2}]))
    with pytest.raises(ConflictError) as refused:
        store.transact("far", commit(1, set_("doc:c", 1), reads=[{**path, "seq": 1}]))
    assert str(refused.value) == "read too old: doc:a at seq 1 was not checked"
    assert refused.value.retry_after_seq == 1_002
    assert refused.value.hint == (
        "more than 1000 commits wrote doc:a since, the newest at 1002; "
        "read again at seq 1002 or later, then commit again"
    )
    (conflict,) = refused.value.conflicts
    assert conflict.to_wire()["reason"] == "readTooOld"
    pending = [{**path, "localSeq": [1], "basisSeq": 1}]
    with pytest.raises(ConflictError, match="read too old"):
        store.transact("near", commit(2, set_("doc:c", 1), pending=pending))
    # One commit may write a document many times; it is commits that are counted.
    many = [patch_("doc:a", replace_("/value/n", n)) for n in range(2_000)]
    store.transact("many", commit(1, *many))
    at = {**path, "seq": store.newest_seq() - 500}
    assert store.transact("near", commit(3, set_("doc:c", 1), reads=[at])).seq > 1_000
    assert store.verify().findings == []


@pytest.mark.shows("STORE-READ-AGE", "STORE-GROWTH")
@pytest.mark.parametrize("shape", [False, True])
def test_checking_many_old_reads_asks_few_questions(store: Store, shape: bool) -> None:
    """Each read used to look up its own writes, and every patch the document that was read."""
    patched_often(store, 300)
    reads = [
        {"id": "doc:a", "path": ["value", f"m{n}"], "seq": 1, "nonRecursive": shape}
        for n in range(50)
    ]
    writing, asked = store.engine.writing, 0
    ask = writing.rows

    def rows(*arguments: Any) -> Any:
        nonlocal asked
        asked += 1
        return ask(*arguments)

    writing.rows = rows  # type: ignore[assignment,method-assign]
    store.transact("me", commit(1, set_("doc:b", 1), reads=reads))
    assert asked < 260, "a head and a snapshot for each read, and the writes once"
