"""`gc --before` removes history and nothing that can still be asked for.

The twin is the space before: whatever could be read at a seq that can still be read is the same
afterwards, and so are the proposals of merges, the chain, and what a commit sent again is answered.
"""

from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from holdfast.errors import StoreError
from holdfast.ids import LocalSeq, SessionId
from holdfast.store.errors import ConflictError, OutOfRange, TextRemoved
from holdfast.store.model import CommitKey
from holdfast.store.settings import StoreSettings
from holdfast.store.store import Store, open_store
from tests.scale import examples
from tests.store.harness import Clock, Engines, Writer, commit, dump, patch_, replace_, set_
from tests.store.histories import IDS, histories, play

SETTINGS = StoreSettings(snapshot_interval=2)


def readable(store: Store) -> dict[Any, Any]:
    """Every document on every branch at every seq; the error's name where it cannot be read."""
    seen: dict[Any, Any] = {}
    for branch in store.branches():
        for seq in range(branch.first_seq, branch.head_seq + 1):
            for id in IDS:
                state = store.state(id, branch.name, seq)
                seen[branch.name, seq, id] = state and (state.seq, state.document)
    return seen


def merges(store: Store) -> dict[Any, Any]:
    """What merging any branch into any other would do."""
    found: dict[Any, Any] = {}
    names = [branch.name for branch in store.branches()]
    for source in names:
        for target in names:
            try:
                proposal = store.propose_merge(source, target)
            except StoreError as error:
                found[source, target] = str(error)
            else:
                clashes = [clash.to_wire() for clash in proposal.clashes]
                found[source, target] = (proposal.to_commit(1), clashes)
    return found


@pytest.mark.shows("STORE-RETENTION")
@given(history=histories, again=st.lists(st.integers(0, 14), min_size=1, max_size=2))
@settings(max_examples=examples(120), deadline=None)
def test_what_can_still_be_asked_gets_the_same_answer(
    history: list[tuple[Any, ...]], again: list[int]
) -> None:
    with open_store("memory:", "did:key:kept", SETTINGS) as store:
        play(store, history)
        before, proposals, chain = readable(store), merges(store), store.chain()
        now = {b.name: store.documents(b.name) for b in store.branches()}
        after: dict[Any, Any] = {}
        for share in sorted(again):
            seq = min(share, store.newest_seq() + 1)
            done = store.squash(seq)
            assert done.oldest_seq <= max(seq - 1, 0) or done.commits == 0
            after = readable(store)
            assert after.items() <= before.items()
            assert merges(store) == proposals
            assert store.chain() == chain
            assert store.broken_link() is None
            assert {b.name: ids_of(store.documents(b.name)) for b in store.branches()} == {
                name: ids_of(documents) for name, documents in now.items()
            }
            assert store.verify().findings == []
        lines = list(store.export())
        with open_store("memory:", "did:key:kept", SETTINGS) as copy:
            copy.import_lines(lines)
            assert list(copy.export()) == lines
            assert readable(copy) == after
            assert merges(copy) == proposals


def ids_of(documents: list[Any]) -> list[Any]:
    return [(state.id, state.seq, state.document) for state in documents]


def filled(store: Store) -> Store:
    write = Writer(store, "w")
    write(set_("doc:a", {"n": 0}))
    for n in range(1, 10):
        write(patch_("doc:a", replace_("/value/n", n)))
    return store


@pytest.mark.shows("STORE-RETENTION")
def test_what_is_gone_is_named_with_the_oldest_seq_that_can_be_read(store: Store) -> None:
    filled(store)
    done = store.squash(6)
    assert (done.oldest_seq, done.commits, done.revisions) == (5, 5, 4)
    assert store.read("doc:a", seq=5) == {"value": {"n": 4}}
    with pytest.raises(OutOfRange) as refused:
        store.read("doc:a", seq=4)
    assert "its history was removed by gc --before" in str(refused.value)
    assert refused.value.hint == "this branch can be read at seq 5 to 10"
    with pytest.raises(StoreError, match="forkSeq 3"):
        store.create_branch("early", "", 3)
    kinds = [(entry.kind, entry.operations) for entry in store.log()]
    assert kinds[-1] == ("squashed", (("set", "doc:a"),))
    assert kinds[0] == ("commit", (("patch", "doc:a"),))
    assert store.verify().findings == []


@pytest.mark.shows("STORE-RETENTION", "INV-11")
def test_a_commit_sent_again_is_recognised_though_its_text_is_gone(store: Store) -> None:
    filled(store)
    store.squash(6)
    again = commit(3, patch_("doc:a", replace_("/value/n", 2)))
    assert store.transact("w", again).seq == 3
    with pytest.raises(TextRemoved) as refused:
        store.transact("w", commit(3, set_("doc:z", 1)))
    assert "landed at seq 3" in str(refused.value)
    assert store.newest_seq() == 10


@pytest.mark.shows("STORE-RETENTION", "INV-1")
def test_a_read_from_before_is_refused_unless_nothing_was_written_since(store: Store) -> None:
    write = Writer(filled(store), "reader")
    write(set_("doc:b", 1))
    store.squash(11)
    path = {"id": "doc:a", "path": ["value", "other"], "seq": 2}
    with pytest.raises(ConflictError):
        write(set_("doc:c", 1), reads=[path])
    write(set_("doc:c", 1), reads=[{"id": "doc:a", "path": ["value"], "seq": 10}])


@pytest.mark.shows("STORE-RETENTION")
def test_history_is_removed_up_to_a_date(engines: Engines) -> None:
    clock = Clock()
    store = engines.open(clock=clock)
    write = Writer(store)
    for day in range(5):
        clock.seconds = 1_000_000_000 + day * 86_400
        write(set_("doc:a", day))
    assert store.squash("2001-09-11T00:00:00.000Z").oldest_seq == 2
    assert store.squash("1999-01-01T00:00:00.000Z").oldest_seq == 2, "nothing comes back"
    assert store.squash("2099-01-01T00:00:00.000Z").oldest_seq == 5


@pytest.mark.shows("STORE-RETENTION")
def test_a_merge_sent_again_is_answered_though_its_text_is_gone(store: Store) -> None:
    filled(store)
    store.create_branch("draft")
    Writer(store, "d")(set_("doc:b", 1), branch="draft")
    by = CommitKey(SessionId("merger"), LocalSeq(1))
    landed = store.merge(by, "draft")
    assert landed is not None
    store.squash(store.newest_seq() + 1)
    again = store.merge(by, "draft")
    assert again is not None
    assert (again.seq, again.ids) == (landed.seq, ["doc:b"])


@pytest.mark.shows("STORE-RETENTION")
def test_a_seq_that_is_not_there_is_refused_and_changes_nothing(store: Store) -> None:
    filled(store)
    before = dump(store)
    for seq in (-1, 12):
        with pytest.raises(OutOfRange):
            store.squash(seq)
    assert dump(store) == before
