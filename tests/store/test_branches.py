"""Branches agree with a twin that copies the whole world at every fork."""

import copy
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import settings
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from holdfast.ids import LocalSeq, SessionId
from holdfast.store.errors import BranchError, InactiveBranch, OutOfRange
from holdfast.store.model import CommitKey
from holdfast.store.settings import StoreSettings
from holdfast.store.store import Store
from tests.scale import examples
from tests.store.harness import Engines, Writer, delete_, patch_, replace_, set_

IDS = ["doc:a", "doc:b", "doc:c"]
names = st.sampled_from(["x", "y", "z"])
scalars = st.one_of(st.integers(-5, 5), st.text(max_size=3), st.none(), st.booleans())

World = dict[str, Any]
"""Document id -> its payload; absent ids do not exist."""


class BranchesAgreeWithCopies(RuleBasedStateMachine):
    """The twin keeps, for every branch and every seq, a full copy of the world."""

    engines: Engines
    store_settings = StoreSettings(snapshot_interval=3)
    branches = Bundle("branches")

    @initialize(target=branches)
    def start(self) -> str:
        self.store: Store = self.engines.open(settings=self.store_settings)
        self.write = Writer(self.store)
        self.copies: dict[str, dict[int, World]] = {"": {0: {}}}
        self.made = 0
        return ""

    def _now(self, branch: str) -> World:
        return self.copies[branch][max(self.copies[branch])]

    def _land(self, branch: str, operation: dict[str, Any], after: World) -> None:
        applied = self.write(operation, branch=branch)
        self.copies[branch][applied.seq] = after

    @rule(branch=branches, id=st.sampled_from(IDS), payload=st.dictionaries(names, scalars))
    def set_document(self, branch: str, id: str, payload: dict[str, Any]) -> None:
        after = copy.deepcopy(self._now(branch))
        after[id] = payload
        self._land(branch, set_(id, payload), after)

    @rule(branch=branches, id=st.sampled_from(IDS), name=names, value=scalars)
    def patch_document(self, branch: str, id: str, name: str, value: Any) -> None:
        after = copy.deepcopy(self._now(branch))
        if id in after:
            after[id][name] = value
            self._land(branch, patch_(id, replace_(f"/value/{name}", value)), after)
        else:
            after[id] = {name: value}
            add = {"op": "add", "path": f"/value/{name}", "value": value}
            self._land(branch, patch_(id, add), after)

    @rule(branch=branches, id=st.sampled_from(IDS))
    def delete_document(self, branch: str, id: str) -> None:
        after = copy.deepcopy(self._now(branch))
        after.pop(id, None)
        self._land(branch, delete_(id), after)

    @rule(target=branches, parent=branches, data=st.data(), recorded=st.booleans())
    def fork(self, parent: str, data: st.DataObject, recorded: bool) -> str:
        self.made += 1
        name = f"b{self.made}"
        seqs = sorted(self.copies[parent])
        at = data.draw(st.sampled_from(seqs), label="fork at")
        by = None
        if recorded:
            self.write.local_seq += 1
            by = CommitKey(SessionId(self.write.session), LocalSeq(self.write.local_seq))
        row = self.store.create_branch(name, parent, at, by)
        self.copies[name] = {row.created_seq: copy.deepcopy(self.copies[parent][at])}
        return name

    @invariant()
    def every_read_agrees(self) -> None:
        for branch in self.copies:
            world = self._now(branch)
            for id in IDS:
                document = self.store.read(id, branch)
                assert (document is None) == (id not in world)
                assert document is None or document["value"] == world[id]

    def teardown(self) -> None:
        """Every branch can be read as it was at every seq, snapshots or not."""
        if not hasattr(self, "store"):
            return
        self._history_agrees()
        assert self.store.verify().findings == []
        self.store.engine.writing.run("DELETE FROM snapshot")
        self._history_agrees()

    def _history_agrees(self) -> None:
        for branch, worlds in self.copies.items():
            for seq, world in worlds.items():
                for id in IDS:
                    document = self.store.read(id, branch, seq)
                    assert (None if document is None else document["value"]) == world.get(id)


@pytest.mark.shows("T34", "INV-9", "INV-23", "STORE-READ-AT", "STORE-CHILD-PATCH")
def test_branches_agree_with_whole_copies_of_the_world(engines: Engines) -> None:
    machine = type("Machine", (BranchesAgreeWithCopies,), {"engines": engines})
    small = engines.url.startswith("postgresql")
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples(6 if small else 40),
            stateful_step_count=15 if small else 30,
            deadline=None,
        ),
    )


@pytest.mark.shows("T34")
def test_a_deleted_branch_can_be_read_and_forked_but_not_written(store: Store) -> None:
    write = Writer(store)
    write(set_("doc:a", 1))
    store.create_branch("draft")
    write(set_("doc:a", 2), branch="draft")
    store.delete_branch("draft")
    with pytest.raises(InactiveBranch, match="branch is not active: draft"):
        write(set_("doc:a", 3), branch="draft")
    assert store.read("doc:a", "draft") == {"value": 2}
    store.create_branch("again", "draft")
    assert store.read("doc:a", "again") == {"value": 2}


@pytest.mark.shows("T35")
def test_a_branch_cannot_be_read_before_it_was_made(store: Store) -> None:
    write = Writer(store)
    write(set_("doc:a", 1))
    store.create_branch("feature")
    with pytest.raises(OutOfRange, match="seq 0 is out of range for branch feature"):
        store.read("doc:a", "feature", 0)


@pytest.mark.shows("STORE-FORK-SEQ")
def test_a_fork_beyond_the_parents_head_is_refused(store: Store) -> None:
    Writer(store)(set_("doc:a", 1))
    with pytest.raises(BranchError, match="forkSeq 9"):
        store.create_branch("draft", fork_seq=9)
    assert store.branch("draft") is None


def _key(local_seq: int) -> CommitKey:
    return CommitKey(SessionId("keeper"), LocalSeq(local_seq))


@pytest.mark.shows("STORE-LIFECYCLE")
def test_a_recorded_fork_is_a_commit_with_a_seq_of_its_own(store: Store) -> None:
    Writer(store)(set_("doc:a", 1))
    made = store.create_branch("draft", by=_key(1))
    assert (made.fork_seq, made.created_seq, made.head_seq) == (1, 2, 2)
    assert [entry.kind for entry in store.log()] == ["branch create", "commit"]
    assert store.create_branch("draft", by=_key(1)) == made, "the same write again is a replay"
    assert store.newest_seq() == 2
    store.delete_branch("draft", by=_key(2))
    assert store.newest_seq() == 3
    assert store.branch("draft").head_seq == 2  # type: ignore[union-attr]
    assert store.verify().findings == []


@pytest.mark.shows("STORE-LIFECYCLE")
def test_a_recorded_name_is_used_once(store: Store) -> None:
    store.create_branch("draft", by=_key(1))
    store.delete_branch("draft", by=_key(2))
    with pytest.raises(BranchError, match="taken by a deleted branch"):
        store.create_branch("draft", by=_key(3))


def test_the_default_branch_cannot_be_deleted(store: Store) -> None:
    with pytest.raises(BranchError, match="default branch"):
        store.delete_branch("", by=_key(1))
    assert store.delete_branch("").status == "active"


def test_forks_may_not_stand_upon_each_other_without_end(store: Store) -> None:
    parent = ""
    for depth in range(32):
        store.create_branch(f"b{depth}", parent)
        parent = f"b{depth}"
    with pytest.raises(BranchError, match="32 forks"):
        store.create_branch("one-more", parent)
