"""Snapshots make history cheap to read and change no answer."""

from collections.abc import Sequence
from typing import Any

import pytest

from holdfast.ids import MAIN, EntityId, Seq
from holdfast.store import snapshots
from holdfast.store.settings import StoreSettings
from holdfast.store.snapshots import Chain
from holdfast.store.store import Store
from tests.scale import size
from tests.store.harness import Engines, Writer, patch_, replace_, set_


def patched(store: Store, times: int, payload: Any = None) -> Writer:
    """A document of one `set` and so many patches; patch n writes n."""
    write = Writer(store)
    write(set_("doc:hot", {"n": 0, "rest": payload}))
    for n in range(1, times + 1):
        write(patch_("doc:hot", replace_("/value/n", n)))
    return write


def seqs(store: Store) -> list[Seq]:
    return store.engine.tables.snapshot_seqs(MAIN, EntityId("doc:hot"))


@pytest.mark.shows("T29", "F4")
def test_a_snapshot_serves_later_reads_instead_of_what_came_before(engines: Engines) -> None:
    store = engines.open(settings=StoreSettings(snapshot_interval=2, snapshot_retention=2))
    write = Writer(store)
    write(set_("doc:hot", {"tags": ["one"]}))
    for place, tag in enumerate(["two", "three", "four"], 1):
        splice = {"op": "splice", "path": "/value/tags", "index": place, "remove": 0, "add": [tag]}
        write(patch_("doc:hot", splice))
    assert seqs(store) == [3]
    store.engine.writing.run("DELETE FROM revision WHERE seq = 2")
    assert store.read("doc:hot", seq=3) == {"value": {"tags": ["one", "two", "three"]}}
    assert store.read("doc:hot") == {"value": {"tags": ["one", "two", "three", "four"]}}


@pytest.mark.shows("T30")
def test_the_newest_two_are_kept_when_asked_for(engines: Engines) -> None:
    store = engines.open(settings=StoreSettings(snapshot_interval=1, snapshot_retention=2))
    patched(store, 3)
    assert seqs(store) == [3, 4]
    assert store.read("doc:hot", seq=2) == {"value": {"n": 1, "rest": None}}


def test_all_are_kept_when_asked_for(engines: Engines) -> None:
    store = engines.open(settings=StoreSettings(snapshot_interval=1, snapshot_retention=0))
    patched(store, 4)
    assert seqs(store) == [2, 3, 4, 5]


def test_a_set_is_its_own_base(engines: Engines) -> None:
    store = engines.open(settings=StoreSettings(snapshot_interval=1))
    write = Writer(store)
    for n in range(5):
        write(set_("doc:hot", n))
    assert seqs(store) == []


@pytest.mark.shows("STORE-PATCHES-VALIDATED")
def test_a_patch_is_checked_even_when_no_snapshots_are_taken(engines: Engines) -> None:
    store = engines.open(settings=StoreSettings(snapshot_interval=0))
    write = Writer(store)
    write(set_("doc:hot", {"n": 0}))
    with pytest.raises(Exception, match="missing object key"):
        write(patch_("doc:hot", {"op": "remove", "path": "/value/zzz"}))
    assert store.newest_seq() == 1
    assert seqs(store) == []


class RowCounter:
    """A reading connection that counts the rows it hands out."""

    def __init__(self, store: Store) -> None:
        self._database = store.engine.reading
        self._rows = self._database.rows
        self.count = 0
        self._database.rows = self._counted  # type: ignore[method-assign]

    def _counted(self, sql: str, parameters: Sequence[Any] = ()) -> Any:
        found = self._rows(sql, parameters)
        self.count += len(found)
        return found


@pytest.mark.shows("STORE-BOUNDED-REPLAY")
def test_a_read_at_any_seq_replays_a_bounded_run() -> None:
    from holdfast.store.store import open_store

    with open_store("memory:", "did:key:long") as store:
        count = size(3_000, 800)
        patched(store, count)
        counter = RowCounter(store)
        worst = 0
        for seq in range(1, count + 2, 7):
            counter.count = 0
            assert store.read("doc:hot", seq=seq) == {"value": {"n": seq - 1, "rest": None}}
            worst = max(worst, counter.count)
        bound = snapshots.SPACING + 3 * StoreSettings().snapshot_interval
        assert worst <= bound + 10, f"a read took {worst} rows"
        # And they are few: about one per spacing, beside the newest.
        assert len(seqs(store)) <= count // snapshots.SPACING + snapshots.DENSE + 1


@pytest.mark.shows("STORE-BOUNDED-REPLAY")
def test_a_long_document_is_not_copied_for_every_few_edits() -> None:
    from holdfast.store.store import open_store

    with open_store("memory:", "did:key:wide") as store:
        patched(store, 400, payload="x" * 100_000)
        assert len(seqs(store)) <= 3
        assert store.read("doc:hot", seq=200)["value"]["n"] == 199  # type: ignore[index]


@pytest.mark.shows("STORE-HOT-DOCUMENT")
def test_a_patch_costs_the_same_however_long_the_history() -> None:
    """Counts rows read by the writer for each patch: early and late must not differ."""
    from holdfast.store.store import open_store

    with open_store("memory:", "did:key:hot") as store:
        counter = RowCounter(store)
        write = patched(store, 100)

        def rows_for(patches: int) -> int:
            counter.count = 0
            for n in range(patches):
                write(patch_("doc:hot", replace_("/value/n", n)))
            return counter.count

        early = rows_for(200)
        rows_for(2_000)
        assert rows_for(200) <= early + 20


@pytest.mark.shows("STORE-REBUILD")
def test_rebuilding_what_is_derived_changes_no_answer(engines: Engines) -> None:
    store = engines.open(settings=StoreSettings(snapshot_interval=3))
    patched(store, 200 if not engines.url.startswith("postgresql") else 60)
    newest = store.newest_seq()
    before = [store.read("doc:hot", seq=seq) for seq in range(newest + 1)]
    store.engine.writing.run("DELETE FROM head")
    store.engine.writing.run("DELETE FROM snapshot")
    store.collect_garbage()
    assert [store.read("doc:hot", seq=seq) for seq in range(newest + 1)] == before
    assert store.verify().findings == []


def test_when_a_snapshot_is_due() -> None:
    ours, original = StoreSettings(), StoreSettings.original()
    assert not snapshots.due(Chain(9, 1_000, 100), ours)
    assert snapshots.due(Chain(10, 1_000, 100), ours)
    assert not snapshots.due(Chain(10, 100, 100_000), ours), "a long document waits"
    assert snapshots.due(Chain(10, 100, 100_000), original)
    assert not snapshots.due(Chain(500, 10**6, 1), StoreSettings(snapshot_interval=0))
