"""Merging: of values that share an ancestor, and of branches.

The twins are naive. For values, documents become flat maps from path to leaf, merged leaf by leaf.
For branches, whole worlds are copied at every fork and merge, and merged member by member.
"""

import copy
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import example, given, settings
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from holdfast.ids import EntityId, LocalSeq, SessionId
from holdfast.store import delta, patch
from holdfast.store.delta import MISSING
from holdfast.store.errors import (
    BranchError,
    ConflictError,
    MergeClash,
    PatchError,
    ReplayMismatch,
    TransactionError,
)
from holdfast.store.merge import DocumentMerger
from holdfast.store.model import Applied, CommitKey
from holdfast.store.settings import StoreSettings
from holdfast.store.store import Store
from holdfast.store.values import same
from tests.scale import examples
from tests.store.harness import Engines, Writer, delete_, dump, patch_, replace_, set_
from tests.store.strategies import json_values

# values


def merge(
    ancestor: Any, source: Any, target: Any, settled: Any = None
) -> tuple[Any, DocumentMerger]:
    merger = DocumentMerger(EntityId("doc:a"), settled or {})
    return merger.merge(ancestor, source, target), merger


names = st.sampled_from(["a", "b", "c"])
leaves = st.integers(0, 2)
trees = st.recursive(
    leaves, lambda inner: st.dictionaries(names, inner, max_size=3), max_leaves=6
).filter(lambda value: isinstance(value, dict))
with_lists = st.recursive(
    leaves,
    lambda inner: st.one_of(st.dictionaries(names, inner, max_size=3), st.lists(inner, max_size=4)),
    max_leaves=8,
)


@pytest.mark.shows("STORE-MERGE-VALUES")
@given(one=json_values, other=json_values)
@settings(max_examples=examples(300))
def test_where_one_side_changed_its_change_is_taken(one: Any, other: Any) -> None:
    for ancestor, source, target, expected in [
        (one, one, other, other),
        (one, other, one, other),
        (one, other, other, other),
        (MISSING, other, MISSING, other),
        (one, MISSING, one, MISSING),
    ]:
        merged, merger = merge(ancestor, source, target)
        assert merger.clashes == []
        assert merged is expected or same(merged, expected)


@pytest.mark.shows("STORE-MERGE-VALUES")
@given(ancestor=with_lists, one=with_lists, other=with_lists)
@settings(max_examples=examples(300))
def test_a_merge_is_the_same_from_both_sides(ancestor: Any, one: Any, other: Any) -> None:
    here, ours = merge(ancestor, one, other)
    there, theirs = merge(ancestor, other, one)
    key = repr
    assert sorted((c.path, key(c.source), key(c.target)) for c in ours.clashes) == sorted(
        (c.path, key(c.target), key(c.source)) for c in theirs.clashes
    )
    if not ours.clashes:
        assert same(here, there)


def flat(value: Any, path: tuple[str, ...] = ()) -> dict[tuple[str, ...], Any]:
    """Path -> leaf; an empty object is a leaf."""
    if not isinstance(value, dict) or not value:
        return {path: "{}" if isinstance(value, dict) else value}
    found: dict[tuple[str, ...], Any] = {}
    for name, below in value.items():
        found |= flat(below, (*path, name))
    return found


def containers(value: Any, path: tuple[str, ...] = ()) -> set[tuple[str, ...]]:
    """The paths of all objects."""
    if not isinstance(value, dict):
        return set()
    below = (containers(each, (*path, name)) for name, each in value.items())
    return {path}.union(*below)


@pytest.mark.shows("STORE-MERGE-VALUES")
@example(ancestor={"a": 0, "b": 0}, source={"a": 0}, target={"b": 0})
@example(ancestor={"x": {"a": 0, "b": 0}}, source={"x": {"a": 0}}, target={"x": {"b": 0}})
@given(ancestor=trees, source=trees, target=trees)
@settings(max_examples=examples(400))
def test_what_merges_quietly_merges_leaf_by_leaf(
    ancestor: dict[str, Any], source: dict[str, Any], target: dict[str, Any]
) -> None:
    merged, merger = merge(ancestor, source, target)
    if merger.clashes:
        return
    before, ours, theirs = flat(ancestor), flat(source), flat(target)
    expected: dict[tuple[str, ...], Any] = {}
    for path in before | ours | theirs:
        was, mine, yours = (leaves.get(path, MISSING) for leaves in (before, ours, theirs))
        assert mine == yours or was in (mine, yours), f"it chose between changes at {path}"
        value = yours if mine == was else mine
        if value is not MISSING:
            expected[path] = value
    if len(expected) > 1:
        # A container that one side emptied and the other filled is not empty.
        filled = {path[:n] for path in expected for n in range(len(path))}
        expected = {p: v for p, v in expected.items() if v != "{}" or p not in filled}
    # What each side emptied a part of stays, if both have it.
    for path in sorted(containers(source) & containers(target), key=len, reverse=True):
        if not any(found[: len(path)] == path for found in expected):
            expected[path] = "{}"
    assert flat(merged) == expected


@pytest.mark.shows("STORE-MERGE-VALUES")
@given(data=st.data())
@settings(max_examples=examples(300))
def test_changes_of_different_members_are_both_taken(data: st.DataObject) -> None:
    ancestor = data.draw(st.dictionaries(st.sampled_from("abcdefgh"), leaves, min_size=2))
    sides = {name: data.draw(st.sampled_from(["source", "target", "nobody"])) for name in ancestor}
    documents: list[dict[str, Any]] = [dict(ancestor) for _ in range(3)]
    source, target, expected = documents
    for name, who in sides.items():
        if who != "nobody":
            changed = data.draw(st.sampled_from([MISSING, 7, {"x": 1}]))
            for document in (expected, source if who == "source" else target):
                if changed is MISSING:
                    del document[name]
                else:
                    document[name] = changed
    merged, merger = merge(ancestor, source, target)
    assert merger.clashes == []
    assert merged == expected


@pytest.mark.shows("STORE-MERGE-LISTS")
@given(data=st.data())
@settings(max_examples=examples(300))
def test_changes_of_stretches_that_do_not_touch_are_both_taken(data: st.DataObject) -> None:
    parts = [[f"{part}{n}" for n in range(data.draw(st.integers(1, 3)))] for part in "abcde"]
    new = st.lists(st.integers(0, 9), max_size=4)
    mine, yours = data.draw(new), data.draw(new)
    ancestor = [item for part in parts for item in part]
    source = parts[0] + mine + parts[2] + parts[3] + parts[4]
    target = parts[0] + parts[1] + parts[2] + yours + parts[4]
    merged, merger = merge(ancestor, source, target)
    assert merger.clashes == []
    assert merged == parts[0] + mine + parts[2] + yours + parts[4]


@pytest.mark.shows("STORE-MERGE-LISTS")
@pytest.mark.parametrize(
    ("source", "target"),
    [
        ([1, 2, 3, "x"], [1, 2, 3, "y"]),
        ([1, "x", 3], [1, "y", 3]),
        ([1, 3], [1, "x", 3]),
        (["x", 1, 2, 3], ["y", 1, 2, 3]),
        ([1, "x", 2, 3], [1, 3]),
        ([], [1, 2, 3, 4]),
    ],
)
def test_stretches_that_touch_clash(source: list[Any], target: list[Any]) -> None:
    _, merger = merge([1, 2, 3], source, target)
    assert len(merger.clashes) == 1


@pytest.mark.shows("STORE-MERGE-CLASH")
def test_a_deletion_against_a_change_clashes_with_all_three_values() -> None:
    ancestor = {"value": {"a": 1, "b": 1}}
    merged, merger = merge(ancestor, {"value": {"b": 1}}, {"value": {"a": 2, "b": 1}})
    (clash,) = merger.clashes
    assert (clash.path, clash.ancestor, clash.source, clash.target) == (
        ("value", "a"),
        1,
        MISSING,
        2,
    )
    assert clash.to_wire() == {
        "id": "doc:a",
        "path": "/value/a",
        "targetValue": 2,
        "ancestorValue": 1,
    }
    assert merged == {"value": {"a": 2, "b": 1}}, "until it is settled the target's stands in"
    _, merger = merge(ancestor, MISSING, {"value": {"a": 2, "b": 1}})
    assert [clash.path for clash in merger.clashes] == [()]


CLASHING: tuple[Any, ...] = (
    {"value": {"a": 1, "b": 1, "c": 1}},
    {"value": {"a": 2, "b": 2, "c": 2}},
    {"value": {"a": 3, "b": 3, "c": 1}},
)


@pytest.mark.shows("STORE-RESOLUTIONS")
@pytest.mark.parametrize(
    ("settled", "merged", "left"),
    [
        ({"/value/a": "source"}, {"a": 2, "b": 3, "c": 2}, ["/value/b"]),
        ({"/value/a": "target", "/value/b": "ancestor"}, {"a": 3, "b": 1, "c": 2}, []),
        ({"/value/a": {"value": None}, "*": "source"}, {"a": None, "b": 2, "c": 2}, []),
        ({"*": "source"}, {"a": 2, "b": 2, "c": 2}, []),
        ({"*": "target"}, {"a": 3, "b": 3, "c": 2}, []),
        ({"/value": "target"}, {"a": 3, "b": 3, "c": 1}, []),
        ({"/value": {"value": 7}}, 7, []),
        ({"/nowhere": "source"}, {"a": 3, "b": 3, "c": 2}, ["/value/a", "/value/b"]),
        ({"/value/c": "target", "*": "source"}, {"a": 2, "b": 2, "c": 2}, []),
    ],
)
def test_clashes_are_settled_by_pointer(settled: Any, merged: Any, left: list[str]) -> None:
    ancestor, source, target = CLASHING
    got, merger = merge(ancestor, source, target, settled)
    assert got == {"value": merged}
    assert ["/" + "/".join(clash.path) for clash in merger.clashes] == left


@pytest.mark.shows("STORE-RESOLUTIONS")
@pytest.mark.parametrize(
    "choice", ["mine", 1, None, {}, {"value": 1, "more": 2}, ["source"], {"side": "source"}]
)
def test_a_resolution_of_another_shape_is_refused(choice: Any) -> None:
    ancestor, source, target = CLASHING
    with pytest.raises(BranchError, match="must be a side or a value"):
        merge(ancestor, source, target, {"/value/a": choice})


@pytest.mark.shows("STORE-DIFF")
@given(before=with_lists, after=with_lists)
@settings(max_examples=examples(300))
def test_a_difference_as_patches_turns_one_into_the_other(before: Any, after: Any) -> None:
    old, new = {"value": before}, {"value": after}
    patches = delta.patches(old, new)
    assert same(patch.apply(old, patches), new)
    assert (patches == []) == same(old, new)
    assert (delta.changes(old, new) == []) == same(old, new)


# branches


def key(local_seq: int, session: str = "merger") -> CommitKey:
    return CommitKey(SessionId(session), LocalSeq(local_seq))


IDS = ["doc:a", "doc:b", "doc:c"]
World = dict[str, dict[str, Any]]
Clashes = set[tuple[str, str | None]]


def naive(base: World, source: World, target: World, side: str) -> tuple[World, Clashes]:
    """Both worlds merged member by member; clashing places as `side` has them."""
    merged: World = {}
    clashes: Clashes = set()
    for id in sorted({*source, *target}):
        was, mine, yours = base.get(id), source.get(id), target.get(id)
        if mine is None or yours is None:
            if mine == was:
                chosen = yours
            elif yours == was or mine == yours:
                chosen = mine
            else:
                clashes.add((id, None))
                chosen = mine if side == "source" else yours
            if chosen is not None:
                merged[id] = chosen
            continue
        merged[id] = {}
        for name in {**mine, **yours}:
            old = (was or {}).get(name, MISSING)
            one, other = mine.get(name, MISSING), yours.get(name, MISSING)
            if one in (old, other):
                value = other
            elif other == old:
                value = one
            else:
                clashes.add((id, name))
                value = one if side == "source" else other
            if value is not MISSING:
                merged[id][name] = value
    return merged, clashes


class MergesAgreeWithCopies(RuleBasedStateMachine):
    """A branch and its parent, written and merged back and forth."""

    engines: Engines
    sides = st.sampled_from(["", "draft"])

    @initialize()
    def start(self) -> None:
        self.store: Store = self.engines.open(settings=StoreSettings(snapshot_interval=2))
        self.write = Writer(self.store)
        world: World = {"doc:a": {"x": 0, "y": 0}, "doc:b": {"x": 0}}
        self.write(*[set_(id, payload) for id, payload in world.items()])
        self.store.create_branch("draft")
        self.worlds = {"": world, "draft": copy.deepcopy(world)}
        self.base = copy.deepcopy(world)

    @rule(
        branch=sides, id=st.sampled_from(IDS), name=st.sampled_from("xyz"), value=st.integers(0, 3)
    )
    def change(self, branch: str, id: str, name: str, value: int) -> None:
        add = {"op": "add", "path": f"/value/{name}", "value": value}
        self.write(patch_(id, add), branch=branch)
        self.worlds[branch].setdefault(id, {})[name] = value

    @rule(branch=sides, id=st.sampled_from(IDS))
    def delete(self, branch: str, id: str) -> None:
        self.write(delete_(id), branch=branch)
        self.worlds[branch].pop(id, None)

    @rule(source=sides, side=st.sampled_from(["source", "target"]))
    def merge(self, source: str, side: str) -> None:
        target = "draft" if source == "" else ""
        mine, yours = self.worlds[source], self.worlds[target]
        merged, clashes = naive(self.base, mine, yours, side)
        proposal = self.store.propose_merge(source, target)
        assert {_place(clash) for clash in proposal.clashes} == clashes
        self.write.local_seq += 1
        by = key(self.write.local_seq, self.write.session)
        if clashes:
            with pytest.raises(MergeClash, match="needs"):
                self.store.merge(by, source, target)
        landed = self.store.merge(by, source, target, dict.fromkeys(IDS, side))
        assert (landed is None) == (merged == yours and not clashes)
        self.worlds[target] = copy.deepcopy(merged)
        if landed is not None:
            self.base = copy.deepcopy(mine)

    @invariant()
    def every_branch_agrees(self) -> None:
        for branch, world in getattr(self, "worlds", {}).items():
            for id in IDS:
                expected = {"value": world[id]} if id in world else None
                assert self.store.read(id, branch) == expected

    def teardown(self) -> None:
        if hasattr(self, "store"):
            assert self.store.verify().findings == []


def _place(clash: Any) -> tuple[str, str | None]:
    return (clash.id, clash.path[1] if clash.path else None)


@pytest.mark.shows("STORE-MERGE", "STORE-MERGE-AGAIN")
def test_merges_agree_with_a_naive_merge_of_whole_worlds(engines: Engines) -> None:
    machine = type("Machine", (MergesAgreeWithCopies,), {"engines": engines})
    small = engines.url.startswith("postgresql")
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples(6 if small else 30),
            stateful_step_count=12 if small else 25,
            deadline=None,
        ),
    )


@pytest.fixture
def forked(store: Store) -> Store:
    """A space whose draft has changed one member, and whose main another."""
    write = Writer(store)
    write(set_("doc:a", {"x": 0, "y": 0}), set_("doc:b", 0))
    store.create_branch("draft")
    write(patch_("doc:a", replace_("/value/x", 1)), branch="draft")
    write(patch_("doc:a", replace_("/value/y", 2)))
    return store


@pytest.mark.shows("STORE-MERGE")
def test_a_merge_is_one_commit_that_says_what_it_merged(forked: Store) -> None:
    landed = forked.merge(key(1), "draft")
    assert isinstance(landed, Applied)
    assert forked.read("doc:a") == {"value": {"x": 1, "y": 2}}
    assert forked.read("doc:a", "draft") == {"value": {"x": 1, "y": 0}}, "the source stays"
    assert forked.log()[0].kind == "merge draft"
    row = forked.engine.tables.commit_at(landed.seq)
    assert row is not None
    assert forked.engine.decode(row.original)["merge"] == {
        "sourceBranch": "draft",
        "sourceSeq": 2,
        "baseBranch": "",
        "baseSeq": 1,
    }
    assert forked.merge(key(2), "draft") is None, "nothing is left to merge"
    assert forked.newest_seq() == landed.seq


def test_the_same_merge_again_gets_the_same_answer(forked: Store) -> None:
    """A client that lost the answer and sent its merge again was told there was nothing to do."""
    landed = forked.merge(key(1), "draft")
    assert landed is not None
    replayed = forked.merge(key(1), "draft")
    assert replayed is not None
    assert (replayed.seq, replayed.ids, replayed.replayed) == (landed.seq, landed.ids, True)
    assert forked.newest_seq() == landed.seq
    with pytest.raises(ReplayMismatch):
        forked.merge(key(1), "other")


@pytest.mark.shows("STORE-MERGE-AGAIN")
def test_a_second_merge_starts_where_the_first_ended(forked: Store) -> None:
    write = Writer(forked, "again")
    forked.merge(key(1), "draft")
    write(patch_("doc:a", replace_("/value/x", 5)), branch="draft")
    write(patch_("doc:a", replace_("/value/y", 6)))
    assert forked.merge(key(2), "draft") is not None, "no false clash"
    assert forked.read("doc:a") == {"value": {"x": 5, "y": 6}}
    assert forked.merge(key(3), "", "draft") is not None, "and back"
    assert forked.read("doc:a", "draft") == forked.read("doc:a")
    write(patch_("doc:a", replace_("/value/x", 7)))
    assert forked.merge(key(4), "", "draft") is not None
    assert forked.read("doc:a", "draft") == {"value": {"x": 7, "y": 6}}
    assert forked.verify().findings == []


@pytest.mark.shows("STORE-MERGE-AGAIN")
def test_a_clash_settled_for_the_target_is_not_asked_about_again(forked: Store) -> None:
    """Nothing had to be written then, so the decision was not kept, and came back every time."""
    write = Writer(forked, "again")
    write(patch_("doc:a", replace_("/value/x", 9)))
    with pytest.raises(MergeClash):
        forked.merge(key(1), "draft")
    assert forked.merge(key(1), "draft", resolutions={"doc:a": "target"}) is not None
    assert forked.read("doc:a") == {"value": {"x": 9, "y": 2}}
    assert forked.merge(key(2), "draft") is None
    write(delete_("doc:b"))
    write(set_("doc:b", 1), branch="draft")
    assert forked.merge(key(2), "draft", resolutions={"doc:b": "target"}) is not None
    assert forked.read("doc:b") is None
    assert forked.merge(key(3), "draft") is None


@pytest.mark.shows("STORE-MERGE")
def test_a_grandchild_can_be_merged_into_its_parent_and_into_the_root(forked: Store) -> None:
    write = Writer(forked, "again")
    forked.create_branch("detail", "draft")
    write(set_("doc:new", 1), patch_("doc:a", replace_("/value/x", 3)), branch="detail")
    proposal = forked.propose_merge("detail")
    assert [op["id"] for op in proposal.operations] == ["doc:a", "doc:new"]
    assert forked.merge(key(1), "detail", "draft") is not None
    assert forked.read("doc:a", "draft") == {"value": {"x": 3, "y": 0}}
    write(set_("doc:new", 2), branch="detail")
    assert forked.merge(key(2), "detail", "draft") is not None
    assert forked.read("doc:new", "draft") == {"value": 2}
    assert forked.merge(key(3), "draft") is not None
    assert forked.read("doc:a") == {"value": {"x": 3, "y": 2}}
    assert forked.read("doc:new") == {"value": 2}
    assert forked.merge(key(4), "detail") is None, "it came through the draft"


@pytest.mark.shows("STORE-MERGE-BASE")
def test_a_change_that_was_merged_and_taken_back_stays_taken_back(store: Store) -> None:
    """It came to the grandchild through its parent, so no merge named the two of them.

    The base was then the point of the fork, before the change: the root's taking it back looked
    like no change at all, and the merge brought it back without a word.
    """
    write = Writer(store)
    write(set_("doc:a", {"x": 0, "y": 0}))
    store.create_branch("draft")
    write(patch_("doc:a", replace_("/value/x", 1)))
    assert store.merge(key(1), "", "draft") is not None
    store.create_branch("detail", "draft")
    write(patch_("doc:a", replace_("/value/x", 0)))
    write(patch_("doc:a", replace_("/value/y", 5)), branch="detail")
    assert store.merge(key(2), "detail") is not None
    assert store.read("doc:a") == {"value": {"x": 0, "y": 5}}


@pytest.mark.shows("STORE-MERGE-BASE")
def test_what_came_through_a_third_branch_does_not_clash(store: Store) -> None:
    write = Writer(store)
    write(set_("doc:a", {"x": 0}))
    store.create_branch("one")
    store.create_branch("two")
    write(patch_("doc:a", replace_("/value/x", 1)), branch="one")
    assert store.merge(key(1), "one", "two") is not None
    assert store.merge(key(2), "two") is not None
    write(patch_("doc:a", replace_("/value/x", 2)), branch="one")
    assert store.merge(key(3), "one") is not None
    assert store.read("doc:a") == {"value": {"x": 2}}


TRUE_CLAIM = {"sourceBranch": "draft", "sourceSeq": 2, "baseBranch": "", "baseSeq": 1}


@pytest.mark.shows("STORE-MERGE-CLAIM")
@pytest.mark.parametrize(
    "claim",
    [
        "nonsense",
        {},
        {"sourceBranch": "draft", "sourceSeq": 2},
        {**TRUE_CLAIM, "more": 1},
        {**TRUE_CLAIM, "sourceSeq": 2**53 - 1},
        {**TRUE_CLAIM, "sourceSeq": -1},
        {**TRUE_CLAIM, "sourceSeq": True},
        {**TRUE_CLAIM, "sourceBranch": "nowhere"},
        {**TRUE_CLAIM, "sourceBranch": ""},
        {**TRUE_CLAIM, "sourceBranch": ["draft"]},
        {**TRUE_CLAIM, "baseSeq": 0},
        {**TRUE_CLAIM, "baseBranch": "draft"},
        TRUE_CLAIM,
    ],
)
def test_a_claim_of_a_merge_that_is_not_true_is_refused(forked: Store, claim: Any) -> None:
    """A forged one made the next merge say that there was nothing to merge."""
    before = dump(forked)
    with pytest.raises(TransactionError):
        Writer(forked, "liar")(set_("doc:b", 7), merge=claim)
    assert dump(forked) == before
    assert forked.merge(key(1), "draft") is not None
    assert forked.read("doc:a") == {"value": {"x": 1, "y": 2}}


@pytest.mark.shows("STORE-MERGE-CLAIM")
def test_a_merge_may_write_what_its_author_resolved(forked: Store) -> None:
    proposal = forked.propose_merge("draft").to_commit(1)
    resolved = [set_(operation["id"], "resolved") for operation in proposal["operations"]]
    applied = forked.transact("author", {**proposal, "operations": resolved})
    assert forked.transact("author", {**proposal, "operations": resolved}).seq == applied.seq
    assert forked.merge(key(1), "draft") is None, "there is nothing left to merge"


@pytest.mark.shows("STORE-MERGE-RACE", "INV-1")
@pytest.mark.parametrize("branch", ["", "draft"])
def test_a_merge_that_somebody_overtook_is_refused_and_can_be_tried_again(
    forked: Store, branch: str
) -> None:
    write = Writer(forked, "again")
    proposal = forked.propose_merge("draft")
    write(patch_("doc:a", replace_("/value/x", 8)), branch=branch)
    with pytest.raises(ConflictError):
        forked.transact("merger", proposal.to_commit(1))
    resolutions = {"doc:a": {"/value/x": {"value": 4}}}
    assert forked.merge(key(1), "draft", resolutions=resolutions) is not None
    assert forked.read("doc:a") == {"value": {"x": 4 if branch == "" else 8, "y": 2}}


@pytest.mark.shows("STORE-MERGE")
def test_what_cannot_be_merged_is_refused(forked: Store) -> None:
    with pytest.raises(BranchError, match="into itself"):
        forked.merge(key(1), "draft", "draft")
    Writer(forked, "w")(patch_("doc:a", replace_("/value/x", 8)))
    with pytest.raises(PatchError):
        forked.merge(key(1), "draft", resolutions={"doc:a": {"": {"value": 7}}})
    for resolutions in ({"doc:a": 7}, {"doc:a": {"/value/x": "mine"}}, ["source"]):
        with pytest.raises(BranchError):
            forked.merge(key(1), "draft", resolutions=resolutions)  # type: ignore[arg-type]
    forked.create_branch("other")
    forked.delete_branch("other")
    with pytest.raises(BranchError, match="not active"):
        forked.merge(key(1), "draft", "other")
    forked.delete_branch("draft")
    assert forked.merge(key(1), "draft", resolutions={"doc:a": "source"}) is not None, (
        "a deleted branch may still be merged from"
    )


@pytest.mark.shows("STORE-DIFF")
def test_a_branch_differs_from_its_fork_point_by_what_it_wrote(forked: Store) -> None:
    write = Writer(forked, "again")
    write(set_("doc:new", 1), delete_("doc:b"), branch="draft")
    found = [(d.id, d.kind, [c.to_wire() for c in d.changes]) for d in forked.diff("draft")]
    assert found == [
        ("doc:a", "modified", [{"path": "/value/x", "before": 0, "after": 1}]),
        ("doc:b", "removed", [{"path": "", "before": {"value": 0}}]),
        ("doc:new", "added", [{"path": "", "after": {"value": 1}}]),
    ]
    against = {str(d.id): [c.to_wire() for c in d.changes] for d in forked.diff("draft", "")}
    assert against["doc:a"] == [
        {"path": "/value/x", "before": 0, "after": 1},
        {"path": "/value/y", "before": 2, "after": 0},
    ]
    assert forked.diff("", "") == []
    assert [d.id for d in forked.diff("", seq=3, against_seq=1)] == ["doc:a"]


@pytest.mark.shows("STORE-GROWTH")
def test_a_diff_and_a_merge_of_one_change_look_at_few_rows(store: Store) -> None:
    """Both used to look at every head, and the base was searched in every commit's text."""
    write = Writer(store)
    for page in range(4):
        write(*(set_(f"doc:{page}-{n}", n) for n in range(100)))
    store.create_branch("draft")
    write(set_("doc:0-0", "mine"), branch="draft")
    write(set_("doc:1-1", "theirs"))
    reading = store.engine.reading
    asked: list[str] = []
    ask = reading.rows

    def rows(sql: str, *parameters: Any) -> Any:
        found = ask(sql, *parameters)
        asked.extend([sql] * len(found))
        return found

    reading.rows = rows  # type: ignore[assignment,method-assign]
    assert [document.id for document in store.diff("draft")] == ["doc:0-0"]
    assert len(asked) < 60
    asked.clear()
    assert [one["id"] for one in store.propose_merge("draft").operations] == ["doc:0-0"]
    assert len(asked) < 60
    asked.clear()
    assert [one["id"] for one in store.propose_merge("", "draft").operations] == ["doc:1-1"]
    assert len(asked) < 300, "the heads of one page, or the commits since the fork"
