"""Lists are read a page at a time, and say what reading one by one says."""

from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from holdfast.store import listing
from holdfast.store.settings import StoreSettings
from holdfast.store.store import Store, open_store
from tests.scale import examples
from tests.store.harness import Writer, delete_, set_
from tests.store.histories import IDS, histories, play


@pytest.mark.shows("STORE-LIST")
@given(history=histories, limit=st.integers(1, 3), prefix=st.sampled_from(["", "doc:b", "x"]))
@settings(max_examples=examples(150), deadline=None)
def test_pages_together_are_the_documents_one_by_one(
    history: list[tuple[Any, ...]], limit: int, prefix: str
) -> None:
    with open_store("memory:", "did:key:list", StoreSettings(snapshot_interval=2)) as store:
        play(store, history)
        for branch in store.branches():
            for seq in (None, *range(branch.first_seq, branch.head_seq + 1)):
                alone = [store.state(id, branch.name, seq) for id in IDS]
                wanted = [
                    state
                    for state in alone
                    if state and state.document is not None and state.id.startswith(prefix)
                ]
                found, after, more = [], "", True
                while more:
                    page, more = store.page(branch.name, seq, prefix, after, limit)
                    assert len(page) <= limit
                    found += page
                    after = page[-1].id if page else after
                assert found == wanted


@pytest.mark.shows("STORE-LIST", "STORE-GROWTH")
def test_a_list_far_back_looks_at_the_few_commits_there_were(store: Store) -> None:
    write = Writer(store)
    for n in range(3):
        write(set_(f"doc:{n}", n))
    write(*(set_(f"late:{n}", n) for n in range(listing.PAGE + 10)))
    counted = count_questions(store)
    assert [state.id for state in store.documents("", 2)] == ["doc:0", "doc:1"]
    assert counted() < 15


@pytest.mark.shows("STORE-LIST")
def test_a_page_does_not_read_what_it_does_not_show(store: Store) -> None:
    write = Writer(store)
    write(*(set_(f"doc:{n:04}", n) for n in range(900)))
    write(delete_("doc:0001"))
    counted = count_questions(store)
    page, more = store.page("", None, "", "doc:0000", 2)
    assert ([state.id for state in page], more) == (["doc:0002", "doc:0003"], True)
    assert counted() < 10


def count_questions(store: Store) -> Any:
    """How many questions the store asks its database from now on."""
    reading, asked = store.engine.reading, 0
    ask = reading.rows

    def rows(*arguments: Any) -> Any:
        nonlocal asked
        asked += 1
        return ask(*arguments)

    reading.rows = rows  # type: ignore[assignment,method-assign]
    return lambda: asked
