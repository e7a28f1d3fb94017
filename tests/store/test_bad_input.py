"""Whatever is sent, the answer is a named error in one sentence, and not one byte changes."""

import math
from collections.abc import Callable
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings

from holdfast.errors import StoreError
from holdfast.ids import LocalSeq, SessionId
from holdfast.store.errors import CommitTooLarge
from holdfast.store.model import CommitKey
from holdfast.store.settings import StoreSettings
from holdfast.store.store import Store
from tests.scale import examples
from tests.store.harness import Engines, Writer, commit, dump, patch_, replace_, set_

HALF = "\ud800"
LONG = 200_000


def deep(levels: int) -> Any:
    value: Any = 0
    for _ in range(levels):
        value = [value]
    return value


def deep_members(levels: int) -> Any:
    value: Any = 0
    for _ in range(levels):
        value = {"a": value}
    return value


def itself() -> dict[str, Any]:
    value: dict[str, Any] = {}
    value["again"] = value
    return value


def seeded(store: Store) -> Store:
    write = Writer(store, "seed")
    write(set_("doc:a", {"n": 0, "list": [1, 2], "tree": {"b": {"c": 1}}, "text": "x"}))
    write(patch_("doc:a", replace_("/value/n", 1)))
    store.create_branch("draft")
    store.create_branch("gone")
    store.delete_branch("gone")
    return store


def refused(store: Store, act: Callable[[], Any]) -> StoreError:
    """Nothing but a named error, and nothing written."""
    before = dump(store)
    with pytest.raises(StoreError) as caught:
        act()
    _named_sentence(caught.value)
    assert dump(store) == before
    return caught.value


def _named_sentence(error: StoreError | None) -> None:
    assert error is not None
    assert type(error) is not StoreError, "the class says which promise broke"
    assert isinstance(getattr(error, "name", None), str), f"{type(error).__name__} has no name"
    sentence = str(error)
    assert sentence
    assert "\n" not in sentence
    assert len(sentence) < 2_000, "one sentence"
    assert (sentence + error.hint).encode("utf-8")


def op(**members: Any) -> dict[str, Any]:
    return {"id": "doc:a", **members}


def edit(**members: Any) -> dict[str, Any]:
    return commit(1, op(op="patch", patches=[members]))


WRONG = [None, True, 1, 1.5, "text", "", [], {}, b"bytes", object(), itself(), {1, 2}, (1,)]

HUGE = 10**5_000

COMMITS: dict[str, Any] = {
    **{f"not a commit: {type(value).__name__} {n}": value for n, value in enumerate(WRONG)},
    **{
        f"{member} is {type(value).__name__} {n}": {
            "localSeq": 1,
            "operations": [set_("doc:b", 1)],
            member: value,
        }
        for member in ("localSeq", "operations", "branch")
        for n, value in enumerate(WRONG)
        if not (member == "localSeq" and value == 1 and value is not True)
        and not (member == "branch" and value == "")
    },
    **{
        f"reads is {type(value).__name__} {n}": {**commit(1, set_("doc:b", 1)), "reads": value}
        for n, value in enumerate(WRONG)
        if value is not None and value != {}
    },
    **{
        f"reads.{kind} is {type(value).__name__} {n}": {
            **commit(1, set_("doc:b", 1)),
            "reads": {kind: value},
        }
        for kind in ("confirmed", "pending")
        for n, value in enumerate(WRONG)
        if value != []
    },
    **{
        f"a read is {type(value).__name__} {n}": commit(1, set_("doc:b", 1), **{kind: [value]})
        for kind in ("reads", "pending")
        for n, value in enumerate(WRONG)
    },
    **{
        f"read.{member} is {type(value).__name__} {n}": commit(
            1, set_("doc:b", 1), reads=[{"id": "doc:a", "path": [], "seq": 2, member: value}]
        )
        for member in ("id", "path", "seq", "branch")
        for n, value in enumerate(WRONG)
        if not (member == "path" and value == [])
        and not (member == "id" and value == "text")
        and not (member == "branch" and value in (None, ""))
        and not (member == "seq" and value == 1 and value is not True)
    },
    **{
        f"pending.{member} is {type(value).__name__} {n}": commit(
            1,
            set_("doc:b", 1),
            pending=[{"id": "doc:a", "path": [], "localSeq": 9, member: value}],
        )
        for member in ("id", "path", "localSeq", "basisSeq")
        for n, value in enumerate(WRONG)
    },
    **{
        f"an operation is {type(value).__name__} {n}": {"localSeq": 1, "operations": [value]}
        for n, value in enumerate(WRONG)
    },
    **{
        f"op is {type(value).__name__} {n}": commit(1, op(op=value, value={}))
        for n, value in enumerate(WRONG)
    },
    **{
        f"a set of {type(value).__name__} {n}": commit(1, op(op="set", value=value))
        for n, value in enumerate(WRONG)
        if value != {}
    },
    **{
        f"patches is {type(value).__name__} {n}": commit(1, op(op="patch", patches=value))
        for n, value in enumerate(WRONG)
        if value != []
    },
    **{
        f"a patch is {type(value).__name__} {n}": commit(1, op(op="patch", patches=[value]))
        for n, value in enumerate(WRONG)
    },
    **{
        f"patch op is {type(value).__name__} {n}": edit(op=value, path="/value/n", value=1)
        for n, value in enumerate(WRONG)
    },
    **{
        f"{kind}: {member} is {type(value).__name__} {n}": edit(
            **{
                "op": kind,
                "path": "/value/list",
                "from": "/value/n",
                "value": 1,
                "values": [1],
                "by": 1,
                "index": 0,
                "remove": 0,
                "add": [1],
                member: value,
            }
        )
        for kind, member in [
            ("replace", "path"),
            ("add", "path"),
            ("remove", "path"),
            ("move", "path"),
            ("move", "from"),
            ("splice", "path"),
            ("splice", "index"),
            ("splice", "remove"),
            ("splice", "add"),
            ("append", "path"),
            ("append", "values"),
            ("add-unique", "path"),
            ("add-unique", "values"),
            ("remove-by-value", "path"),
            ("increment", "path"),
            ("increment", "by"),
        ]
        for n, value in enumerate(WRONG)
        if not (member == "path" and value == "")
        and not (member in ("values", "add") and value == [])
        and not (kind == "splice" and value == 1 and value is not True)
    },
    **{
        f"localSeq {at}": commit(n, set_("doc:b", 1))
        for at, n in enumerate((0, -1, 2**53, 2**64, -HUGE, HUGE))
    },
    **{
        f"localSeq is no integer {n}": commit(n, set_("doc:b", 1))  # type: ignore[arg-type]
        for n in (1.5, math.nan, math.inf, 1e300)
    },
    **{
        f"read at {at}": commit(1, set_("doc:b", 1), reads=[{"id": "a", "path": [], "seq": n}])
        for at, n in enumerate((-1, 3, 2**53 - 1, 2**53, 2**63, 2**64, HUGE, math.nan, math.inf))
    },
    **{
        f"basis {at}": commit(
            1,
            set_("doc:b", 1),
            pending=[{"id": "doc:a", "path": [], "localSeq": [1], "basisSeq": n}],
        )
        for at, n in enumerate((-1, 2**53, 2**64, HUGE))
    },
    "no layers": commit(1, set_("b", 1), pending=[{"id": "a", "path": [], "localSeq": []}]),
    "a layer of its own": commit(1, set_("b", 1), pending=[{"id": "a", "localSeq": 1}]),
    "NUL in an id": commit(1, set_("doc:\0", 1)),
    "NUL in a read id": commit(1, set_("b", 1), reads=[{"id": "a\0", "path": [], "seq": 0}]),
    "NUL in a branch": commit(1, set_("b", 1), branch="dra\0ft"),
    "NUL in a read's branch": commit(
        1, set_("b", 1), reads=[{"id": "a", "path": [], "seq": 0, "branch": "dra\0ft"}]
    ),
    "half a character in an id": commit(1, set_(HALF, 1)),
    "half a character in a value": commit(1, set_("b", HALF)),
    "half a character in a name": commit(1, set_("b", {HALF: 1})),
    "half a character in a branch": commit(1, set_("b", 1), branch=HALF),
    "half a character in a pointer": edit(op="remove", path=f"/value/{HALF}"),
    "half a character in an op": commit(1, op(op=HALF)),
    "half a character in an unknown member": commit(1, set_("b", 1), more=HALF),
    "an id without a name": commit(1, set_("", 1)),
    "an id longer than a name is": commit(1, set_("x" * LONG, 1)),
    "a read of such an id": commit(
        1, set_("b", 1), reads=[{"id": "x" * LONG, "path": [], "seq": 0}]
    ),
    "an unknown branch": commit(1, set_("b", 1), branch="nowhere"),
    "a branch with an endless name": commit(1, set_("b", 1), branch="x" * LONG),
    "a deleted branch": commit(1, set_("b", 1), branch="gone"),
    "a read on an unknown branch": commit(
        1, set_("b", 1), reads=[{"id": "a", "path": [], "seq": 0, "branch": "nowhere"}]
    ),
    "no operations": commit(1),
    "an unknown operation": commit(1, op(op="upsert", value={})),
    "an operation with an endless name": commit(1, op(op="x" * LONG)),
    "an operation of many lines": commit(1, op(op="a\nb\r\n\x00\x1b[31m")),
    "a deep operation name": commit(1, op(op=deep(10_000))),
    "a huge operation name": commit(1, op(op=HUGE)),
    "an unknown patch": edit(op="merge", path="/value"),
    "a patch with an endless name": edit(op="x" * LONG, path="/value"),
    "a patch with a deep name": edit(op=deep(400), path="/value"),
    "not a number": commit(1, set_("b", math.nan)),
    "infinity": commit(1, set_("b", -math.inf)),
    "infinity in a patch": edit(op="replace", path="/value/n", value=math.inf),
    "a huge integer": commit(1, set_("b", HUGE)),
    "an integer no double holds": commit(1, set_("b", 2**53)),
    "a huge name": commit(1, set_("b", {HUGE: 1})),
    "bytes": commit(1, set_("b", b"bytes")),
    "a set": commit(1, set_("b", {1, 2})),
    "a tuple": commit(1, set_("b", (1, 2))),
    "an object": commit(1, set_("b", object())),
    "a value in itself": commit(1, set_("b", itself())),
    "10,000 lists": commit(1, set_("b", deep(10_000))),
    "10,000 objects": commit(1, set_("b", deep_members(10_000))),
    "10,000 lists in a patch": edit(op="add", path="/value/x", value=deep(10_000)),
    "10,000 lists in an unknown member": commit(1, set_("b", 1), more=deep(10_000)),
    "a path of 10,000 steps": edit(op="add", path="/a" * 10_000, value=1),
    "a path of 501 steps": edit(op="add", path="/a" * 501, value=1),
    "an object below 500 steps": edit(op="add", path="/a" * 500, value={}),
    "deep below deep by add": edit(op="add", path="/a" * 300, value=deep(300)),
    "a pointer without a slash": edit(op="remove", path="value"),
    "an endless pointer": edit(op="remove", path="/" + "x" * LONG),
    "a pointer of many lines": edit(op="remove", path="/value/a\nb"),
    "a missing member": edit(op="remove", path="/value/zzz"),
    "the root removed": edit(op="remove", path=""),
    "the root replaced by a list": edit(op="replace", path="", value=[]),
    "a slot that is not there": edit(op="replace", path="/value/list/7", value=1),
    "a slot with a leading zero": edit(op="replace", path="/value/list/01", value=1),
    "a slot beyond all slots": edit(op="add", path=f"/value/list/{2**32 - 1}", value=1),
    "a slot of 10,000 digits": edit(op="add", path="/value/list/" + "9" * 10_000, value=1),
    "a step through a text": edit(op="add", path="/value/text/x", value=1),
    "a move into itself": edit(op="move", **{"from": "/value/tree", "path": "/value/tree/b/x"}),
    "a move of the root": edit(op="move", **{"from": "", "path": "/value/x"}),
    "a move of nothing": edit(op="move", **{"from": "/value/zzz", "path": "/value/x"}),
    "a splice beyond the end": edit(op="splice", path="/value/list", index=3, remove=0, add=[]),
    "a splice before the start": edit(op="splice", path="/value/list", index=-1, remove=0, add=[]),
    "a splice of minus one": edit(op="splice", path="/value/list", index=0, remove=-1, add=[]),
    "a splice at a huge index": edit(op="splice", path="/value/list", index=HUGE, remove=0, add=[]),
    "a splice of a text": edit(op="splice", path="/value/text", index=0, remove=0, add=[]),
    "a splice without members": edit(op="splice", path="/value/list"),
    "an append to a text": edit(op="append", path="/value/text", values=[1]),
    "an increment of a text": edit(op="increment", path="/value/text", by=1),
    "an increment by nothing": edit(op="increment", path="/value/n", by=0),
    "an increment by infinity": edit(op="increment", path="/value/n", by=math.inf),
    "an increment beyond all numbers": edit(op="increment", path="/value/n", by=2**53 - 1),
    "9,999 good operations and a bad one": commit(
        1, *[set_(f"doc:{n}", n) for n in range(9_999)], op(op="patch", patches=[{"op": "?"}])
    ),
    "a good operation and a bad one": commit(1, set_("b", 1), set_("", 1)),
}


@pytest.mark.shows("STORE-BAD-INPUT", "INV-8")
def test_a_bad_commit_gets_a_named_error_and_changes_nothing(engines: Engines) -> None:
    store = seeded(engines.open())
    problems: list[str] = []
    for name, message in COMMITS.items():
        try:
            refused(store, lambda message=message: store.transact("s", message))  # type: ignore[misc]
        except BaseException as problem:
            problems.append(f"{name}: {type(problem).__name__}: {str(problem)[:200]}")
    assert not problems, "\n".join(problems)
    assert store.transact("s", commit(1, set_("doc:b", 1))).seq == 3, "no localSeq was used up"
    assert store.verify().findings == []


@pytest.mark.shows("STORE-BAD-INPUT")
@pytest.mark.parametrize(
    "session", ["", "a\0b", HALF, "x" * LONG, None, 1, b"bytes"], ids=lambda s: repr(s)[:10]
)
def test_a_bad_session_is_refused(store: Store, session: Any) -> None:
    refused(store, lambda: store.transact(session, commit(1, set_("b", 1))))
    by = CommitKey(session, LocalSeq(1))
    refused(store, lambda: store.create_branch("made", by=by))
    refused(store, lambda: store.delete_branch("made", by=by))
    refused(store, lambda: store.next_local_seq(session))


@pytest.mark.shows("STORE-BAD-INPUT")
@pytest.mark.parametrize("bound", ["a\0b", HALF, None, 7], ids=lambda s: repr(s)[:10])
def test_a_bad_bound_of_a_scan_is_refused(store: Store, bound: Any) -> None:
    refused(store, lambda: store.scan(bound, "z"))
    refused(store, lambda: store.scan("a", bound))


@pytest.mark.shows("STORE-BAD-INPUT")
def test_a_scan_may_be_bounded_by_what_no_id_can_be(store: Store) -> None:
    Writer(store)(set_("doc:a", 1), set_("doc:b", 2))
    assert [s.id for s in store.scan("", "\U0010ffff" * LONG)] == [s.id for s in store.documents()]


@pytest.mark.shows("STORE-BAD-INPUT")
@pytest.mark.parametrize("name", ["a\0b", HALF, "x" * LONG], ids=lambda s: repr(s)[:10])
def test_a_bad_branch_name_is_refused(store: Store, name: str) -> None:
    by = CommitKey(SessionId("keeper"), LocalSeq(1))
    refused(store, lambda: store.create_branch(name))
    refused(store, lambda: store.create_branch(name, by=by))
    refused(store, lambda: store.create_branch("made", name))
    refused(store, lambda: store.delete_branch(name))
    refused(store, lambda: store.read("doc:a", name))
    refused(store, lambda: store.read("doc:a", name, 0))
    refused(store, lambda: store.diff(name))
    refused(store, lambda: store.merge(by, name))
    refused(store, lambda: store.merge(by, "", name))
    refused(store, lambda: store.log(branch=name))
    assert store.branch(name) is None


@pytest.mark.shows("STORE-BAD-INPUT")
@pytest.mark.parametrize("content_type", ["", "a\0b", HALF, "x" * LONG], ids=lambda s: repr(s)[:10])
def test_a_bad_content_type_is_refused(store: Store, content_type: str) -> None:
    refused(store, lambda: store.put_blob(b"x", content_type))


@pytest.mark.shows("STORE-BAD-INPUT")
@pytest.mark.parametrize("local_seq", [0, -1, 2**53, 2**64])
def test_a_bad_local_seq_of_a_lifecycle_write_is_refused(store: Store, local_seq: int) -> None:
    by = CommitKey(SessionId("keeper"), LocalSeq(local_seq))
    refused(store, lambda: store.create_branch("made", by=by))
    refused(store, lambda: store.delete_branch("made", by=by))


@pytest.mark.shows("STORE-BAD-INPUT")
def test_asking_for_what_cannot_exist_finds_nothing(store: Store) -> None:
    seeded(store)
    for id in ("", "a\0b", HALF, "x" * LONG):
        assert store.read(id) is None
        assert store.read(id, "draft", 2) is None
        assert store.log(id) == []
        refused(store, lambda id=id: store.blob(id))  # type: ignore[misc]
    for seq in (-1, 3, 2**63, 2**64, 10**30):
        refused(store, lambda seq=seq: store.read("doc:a", seq=seq))  # type: ignore[misc]
        refused(store, lambda seq=seq: store.create_branch("b", fork_seq=seq))  # type: ignore[misc]
        refused(store, lambda seq=seq: store.diff("", against_seq=seq))  # type: ignore[misc]


@pytest.mark.shows("STORE-BAD-INPUT", "STORE-NESTING")
@pytest.mark.parametrize("kind", ["splice", "append", "add-unique"])
def test_no_patch_nests_a_document_deeper_than_can_be_read(engines: Engines, kind: str) -> None:
    """Each commit is shallow enough; together they would make a document nobody can write out.

    Splice, append and add-unique did not look how deep they put what they added, so such a
    document was accepted and could never be read again.
    """
    store = engines.open(settings=StoreSettings(snapshot_interval=1))
    path = "/a" * 300
    store.transact(
        "s", commit(1, op(op="patch", patches=[{"op": "add", "path": path, "value": []}]))
    )
    members = {"splice": {"index": 0, "remove": 0, "add": [deep(300)]}}
    change = {"op": kind, "path": path, **members.get(kind, {"values": [deep(300)]})}
    refused(store, lambda: store.transact("s", commit(2, op(op="patch", patches=[change]))))
    members = {"splice": {"index": 0, "remove": 0, "add": [deep(199)]}}
    change = {"op": kind, "path": path, **members.get(kind, {"values": [deep(199)]})}
    store.transact("s", commit(2, op(op="patch", patches=[change])))
    assert store.read("doc:a") is not None
    assert store.verify().findings == []


@pytest.mark.shows("STORE-NESTING")
@pytest.mark.parametrize(("steps", "value"), [(500, 1), (499, {}), (499, []), (400, deep(100))])
def test_the_deepest_document_can_be_read(store: Store, steps: int, value: Any) -> None:
    change = {"op": "add", "path": "/a" * steps, "value": value}
    store.transact("s", commit(1, op(op="patch", patches=[change])))
    for _ in range(2):
        assert store.read("doc:a") is not None
    deeper = {"op": "add", "path": "/a" * (steps + 1), "value": value}
    refused(store, lambda: store.transact("s", commit(2, op(op="patch", patches=[deeper]))))


@pytest.mark.shows("STORE-BAD-INPUT")
def test_a_gigantic_commit_is_refused_by_its_size(engines: Engines) -> None:
    store = seeded(engines.open(settings=StoreSettings(commit_bytes_max=1_000_000)))
    for message in (
        edit(op="splice", path="/value/list", index=0, remove=0, add=list(range(400_000))),
        edit(op="append", path="/value/list", values=["x" * 1_000_000]),
        commit(1, set_("b", "x" * 1_000_000)),
        commit(1, set_("b", 1), more="x" * 1_000_000),
    ):
        error = refused(store, lambda message=message: store.transact("s", message))  # type: ignore[misc]
        assert isinstance(error, CommitTooLarge)


def test_what_is_unusual_but_sound_is_taken(store: Store) -> None:
    many = [set_(f"doc:{n}", n) for n in range(10_000)]
    assert store.transact("s", commit(2**53 - 1, *many)).seq == 1
    longest = "é" * 512
    assert store.transact(longest, commit(1, set_(longest, 1))).seq == 2
    store.create_branch(longest)
    assert store.transact(longest, commit(2, set_(longest, 2), branch=longest)).seq == 3
    strange = {"\0": "\0", "a\nb": "\u2028", "": [[], {}], "n": -0.0, "big": 1e308}
    sent = commit(1, set_("\n\t☃", strange), unknown={"members": [1, None]}, merge=None)
    assert store.transact("t", sent).seq == 4
    assert store.read("\n\t☃") == {"value": strange}
    remove = {"op": "splice", "path": "/value/", "index": 0, "remove": 2**53 - 1, "add": []}
    store.transact("t", commit(2, patch_("\n\t☃", remove)))
    assert store.verify().findings == []


# junk that nobody thought of

junk = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.integers(-(2**70), 2**70),
        st.floats(),
        st.text(max_size=5),
        st.just(HALF),
        st.just("doc:a"),
        st.sampled_from(["set", "patch", "delete", "/value/list", "/value/n", "", "draft", "\0"]),
        st.binary(max_size=3),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.text(max_size=3), inner, max_size=3),
        st.dictionaries(st.integers(), inner, max_size=1),
    ),
    max_leaves=8,
)


def almost(real: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.integers(0, 19).flatmap(lambda n: junk if n == 13 else real)


def some(**members: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Mostly an object with all these members, sometimes with a few, sometimes junk."""
    whole = {name: almost(value) for name, value in members.items()}
    return almost(
        st.integers(0, 9).flatmap(
            lambda n: (
                st.fixed_dictionaries({}, optional=whole)
                if n == 7
                else st.fixed_dictionaries(whole)
            )
        )
    )


def maybe(value: Any, real: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(st.just(value), real)


scalars = almost(
    st.one_of(st.integers(-3, 3), st.text(max_size=3), st.just([1]), st.just({"a": 1}))
)
names = st.sampled_from(["n", "list", "x", "/", ""])
ids = st.sampled_from(["doc:a", "doc:b"])
pointers = st.sampled_from(["", "/value", "/value/n", "/value/list", "/value/list/-", "/value/x/y"])
changes = some(
    op=st.sampled_from(
        [
            *("replace", "add", "remove", "move", "splice"),
            *("append", "add-unique", "remove-by-value", "increment"),
        ]
    ),
    path=pointers,
    value=scalars,
    values=st.lists(scalars, max_size=2),
    by=st.integers(-2, 2),
    index=st.integers(-1, 3),
    remove=st.integers(-1, 3),
    add=st.lists(scalars, max_size=2),
    **{"from": pointers},
)
operations = some(
    op=st.sampled_from(["set", "patch", "delete"]),
    id=ids,
    value=st.fixed_dictionaries({"value": st.dictionaries(names, scalars, max_size=3)}),
    patches=st.lists(changes, max_size=2),
)
reads = some(
    id=ids,
    path=st.lists(st.sampled_from(["value", "n", "list", "0"]), max_size=3),
    seq=st.integers(-1, 4),
    localSeq=st.one_of(st.integers(0, 3), st.lists(st.integers(0, 3), max_size=2)),
    basisSeq=st.integers(-1, 4),
    branch=st.sampled_from(["", "draft", "gone"]),
    nonRecursive=st.booleans(),
)
messages = some(
    localSeq=st.integers(1, 10**6),
    operations=st.lists(operations, min_size=1, max_size=3),
    branch=st.sampled_from(["", "", "", "draft", "draft", "gone"]),
    reads=maybe(
        {}, some(confirmed=st.lists(reads, max_size=1), pending=st.lists(reads, max_size=1))
    ),
    merge=st.one_of(
        st.none(),
        st.none(),
        st.none(),
        some(sourceBranch=st.just("draft"), sourceSeq=st.integers(-1, 9)),
    ),
    branchLifecycle=maybe(None, some(op=st.just("create"), name=st.just("draft"))),
)


@pytest.mark.shows("STORE-BAD-INPUT", "STORE-UNKNOWN-MEMBERS")
@pytest.mark.parametrize("rich", [False, True])
def test_no_junk_does_harm(engines: Engines, rich: bool) -> None:
    store = seeded(engines.open(settings=StoreSettings(rich_values=rich, snapshot_interval=2)))
    tried = 0

    @given(message=messages)
    @settings(
        max_examples=examples(80 if engines.url.startswith("postgresql") else 200),
        suppress_health_check=list(HealthCheck),
    )
    def play(message: Any) -> None:
        nonlocal tried
        tried += 1
        newest, before = store.newest_seq(), dump(store)
        applied = told = None
        try:
            applied = store.transact("junk", message)
        except StoreError as error:
            told = error
        if applied is None:
            _named_sentence(told)
            assert dump(store) == before
            return
        assert applied.seq <= newest + 1
        for revision in applied.revisions:
            store.read(revision.id, applied.branch)

    play()
    landed = store.newest_seq() - 2
    assert tried / 50 < landed < tried, "some junk lands, and most does not"
    assert store.verify().findings == []
    lines = list(store.export("did:key:junk"))
    other = engines.open(settings=store.engine.settings)
    other.import_lines(lines)
    assert list(other.export("did:key:junk")) == lines
    assert other.verify().findings == []
    assert len(store.log(limit=10**6)) == store.newest_seq()
