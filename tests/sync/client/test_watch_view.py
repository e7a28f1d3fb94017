"""The watch view: always in order, never backwards, told in two streams."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.sync.client.watch_view import WatchView
from holdfast.sync.wire.messages import Remove, Sync, Upsert

entries = st.lists(
    st.tuples(st.sampled_from(["", "draft"]), st.sampled_from("abcdef"), st.integers(0, 9)),
    max_size=6,
    unique_by=lambda entry: entry[:2],
)
gone = st.lists(st.tuples(st.sampled_from(["", "draft"]), st.sampled_from("abcdef")), max_size=3)


def sync(upserts: Any, removes: Any = (), to_seq: int = 1) -> Sync:
    return Sync(
        from_seq=0,
        to_seq=to_seq,
        upserts=[
            Upsert(branch=branch, id=id, seq=seq, doc={"value": seq}) for branch, id, seq in upserts
        ],
        removes=[Remove(branch=branch, id=id) for branch, id in removes],
    )


@pytest.mark.shows("T71")
def test_the_view_stays_in_order() -> None:
    view = WatchView()
    view.apply(sync([("", "of:b", 1), ("", "of:a", 1)]))
    assert [entity.id for entity in view.entities] == ["of:a", "of:b"]
    view.apply(sync([("", "of:c", 2), ("", "of:a", 2)], [("", "of:b")], 2))
    assert [(entity.id, entity.seq) for entity in view.entities] == [("of:a", 2), ("of:c", 2)]
    assert view.server_seq == 2


@pytest.mark.shows("INV-31", "SYNC-VIEW")
@given(st.lists(st.tuples(entries, gone), max_size=8))
def test_a_plain_dict_sorted_each_time_says_the_same(frames: Any) -> None:
    view = WatchView()
    plain: dict[tuple[str, str], int] = {}
    for upserts, removes in frames:
        view.apply(sync(upserts, removes))
        for branch, id, seq in upserts:
            plain[branch, id] = max(seq, plain.get((branch, id), 0))
        for key in removes:
            plain.pop(key, None)
        found = [((entity.branch, entity.id), entity.seq) for entity in view.entities]
        assert found == sorted(plain.items())
        assert len(view) == len(plain)


@pytest.mark.shows("SYNC-VIEW")
def test_both_streams_end_with_the_view_and_an_empty_sync_is_not_told() -> None:
    view = WatchView()
    snapshots: list[Any] = []
    syncs: list[Any] = []
    view.subscribe(snapshots.append)
    leave = view.subscribe_sync(syncs.append)
    view.apply(sync([]))
    assert snapshots == syncs == []
    view.apply(sync([("", "of:a", 1)]))
    assert [len(snapshots), len(syncs)] == [1, 1]
    leave()
    leave()
    view.apply(sync([("", "of:a", 2)]))
    assert [len(snapshots), len(syncs)] == [2, 1]
    view.close()
    view.close()
    assert snapshots[-1] is None
    late: list[Any] = []
    view.subscribe(late.append)
    assert late == [None]


def test_a_deleted_document_stays_in_the_view_without_a_document() -> None:
    view = WatchView()
    gone = Upsert(branch="", id="of:a", seq=3, deleted=True)
    view.apply(Sync(from_seq=0, to_seq=3, upserts=[gone], removes=[]))
    entity = view.get("of:a")
    assert entity is not None
    assert (entity.seq, entity.document) == (3, None)
