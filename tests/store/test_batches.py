"""One batch or one by one: the same commits get the same answers and leave the same rows."""

import threading
from itertools import count
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.errors import StoreError
from holdfast.store.model import Applied
from holdfast.store.settings import StoreSettings
from holdfast.store.store import Store, open_store
from tests.postgres import PostgresServer
from tests.scale import examples
from tests.store.harness import commit, delete_, dump, patch_, set_

IDS = st.sampled_from(["doc:a", "doc:b"])
NAMES = st.sampled_from(["x", "y"])
EDITS = st.one_of(
    st.builds(lambda n: {"op": "increment", "path": f"/value/{n}", "by": 1}, NAMES),
    st.builds(lambda n: {"op": "remove", "path": f"/value/{n}"}, NAMES),
    st.builds(lambda n: {"op": "append", "path": f"/value/{n}", "values": [1]}, NAMES),
    st.builds(lambda n: {"op": "add", "path": f"/value/{n}", "value": []}, NAMES),
)
OPERATIONS = st.one_of(
    st.builds(lambda id, n: set_(id, {"x": n}), IDS, st.integers(0, 2)),
    st.builds(lambda id, edits: patch_(id, *edits), IDS, st.lists(EDITS, max_size=2)),
    st.builds(delete_, IDS),
)
PATHS = st.sampled_from([[], ["value"], ["value", "x"], ["value", "y"]])
CONFIRMED = st.builds(
    lambda id, path, seq, shape, branch: {
        "id": id,
        "path": path,
        "seq": seq,
        "nonRecursive": shape,
        **({} if branch is None else {"branch": branch}),
    },
    IDS,
    PATHS,
    st.integers(0, 12),
    st.booleans(),
    st.sampled_from([None, None, "", "draft", "nowhere"]),
)
PENDING = st.builds(
    lambda id, path, layers, basis: {
        "id": id,
        "path": path,
        "localSeq": layers,
        **({} if basis is None else {"basisSeq": basis}),
    },
    IDS,
    PATHS,
    st.one_of(st.integers(1, 4), st.lists(st.integers(1, 4), min_size=1, max_size=2)),
    st.one_of(st.none(), st.integers(0, 12)),
)
# Few sessions, numbers and branches, so that keys come twice: with the same payload and another.
COMMITS = st.lists(
    st.tuples(
        st.sampled_from(["one", "two"]),
        st.builds(
            lambda n, operations, branch, reads, pending: commit(
                n, *operations, branch=branch, reads=reads, pending=pending
            ),
            st.integers(1, 5),
            st.lists(OPERATIONS, min_size=1, max_size=3),
            st.sampled_from(["", "", "draft", "closed", "nowhere"]),
            st.lists(CONFIRMED, max_size=2),
            st.lists(PENDING, max_size=1),
        ),
    ),
    min_size=2,
    max_size=14,
)

_spaces = count(1)


def opened(url: str, policy: StoreSettings) -> Store:
    store = open_store(url, f"did:key:batches-{next(_spaces)}", policy, lambda: "now")
    start = [commit(1, set_("doc:a", {"x": 0, "y": []})), commit(2, set_("doc:b", {"x": 0}))]
    for message in start:
        store.transact("start", message)
    for name in ("draft", "closed"):
        store.create_branch(name)
    store.delete_branch("closed")
    return store


def said(answer: Any) -> str:
    if isinstance(answer, Applied):
        return f"{answer.replayed} {answer.to_wire()}"
    assert isinstance(answer, StoreError), answer
    return f"{type(answer).__name__} {answer} {getattr(answer, 'conflicts', '')}"


def one_by_one(store: Store, commits: list[tuple[str, dict[str, Any]]]) -> list[str]:
    answers: list[str] = []
    for session, message in commits:
        try:
            answers.append(said(store.transact(session, message)))
        except StoreError as refusal:
            answers.append(said(refusal))
    return answers


def together(store: Store, commits: list[tuple[str, dict[str, Any]]]) -> list[str]:
    told: dict[int, str] = {}
    done = threading.Semaphore(0)

    def queue_all() -> None:
        for place, (session, message) in enumerate(commits):

            def tell(answer: Any, place: int = place) -> None:
                told[place] = said(answer)
                done.release()

            store.submit(session, message, tell)

    store._group.exclusively(queue_all)
    for _ in commits:
        assert done.acquire(timeout=30)
    return [told[place] for place in range(len(commits))]


def agree(url: str, commits: list[tuple[str, dict[str, Any]]], interval: int) -> None:
    policy = StoreSettings(snapshot_interval=interval)
    with opened(url, policy) as singly, opened(url, policy) as batched:
        assert together(batched, commits) == one_by_one(singly, commits)
        rows, alone = dump(batched), dump(singly)
        rows.pop("branch"), alone.pop("branch")  # when they were made was the database's to say
        assert rows == alone
        assert [b.to_wire() for b in batched.branches()] == [b.to_wire() for b in singly.branches()]
        assert batched.verify().findings == []
        # What is kept at hand after a batch is what the tables say.
        after = [("next", commit(n, patch_(id))) for n, id in enumerate(("doc:a", "doc:b"), 1)]
        assert one_by_one(batched, after) == one_by_one(singly, after)
        for id in ("doc:a", "doc:b"):
            assert batched.state(id) == singly.state(id)


@pytest.mark.shows("STORE-GROUP", "STORE-BATCH-TWIN", "INV-8")
@given(commits=COMMITS, interval=st.integers(0, 3))
@settings(max_examples=examples(300))
def test_a_batch_is_what_its_commits_are_one_by_one(
    commits: list[tuple[str, dict[str, Any]]], interval: int
) -> None:
    agree("memory:", commits, interval)


@pytest.mark.shows("STORE-GROUP", "STORE-BATCH-TWIN")
def test_a_batch_is_what_its_commits_are_one_by_one_on_postgres(postgres: PostgresServer) -> None:
    @given(commits=COMMITS, interval=st.integers(0, 3))
    @settings(max_examples=examples(25), deadline=None)
    def check(commits: list[tuple[str, dict[str, Any]]], interval: int) -> None:
        agree(postgres.url, commits, interval)

    check()


@pytest.mark.shows("STORE-BATCH-TWIN")
@pytest.mark.parametrize("retention", [None, 2, 0])
def test_a_long_batch_of_patches_keeps_the_same_snapshots(retention: int | None) -> None:
    """Which of them stay is decided once for all that the batch took."""
    policy = StoreSettings(snapshot_interval=2, snapshot_retention=retention)
    edit = {"op": "increment", "path": "/value/x", "by": 1}
    commits = [("one", commit(n, patch_("doc:a", edit))) for n in range(1, 400)]
    with opened("memory:", policy) as singly, opened("memory:", policy) as batched:
        assert together(batched, commits[:150]) == one_by_one(singly, commits[:150])
        assert together(batched, commits[150:]) == one_by_one(singly, commits[150:])
        assert dump(batched)["snapshot"] == dump(singly)["snapshot"]
        assert batched.verify().findings == []
