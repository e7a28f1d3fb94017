"""What is going on, as documents: only what changed is written; the board leads to all of it."""

import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast import live
from holdfast.store.store import Store, open_store

names = st.sampled_from(["a", "b", "c", "d"])
values = st.one_of(st.none(), st.integers(0, 3), st.dictionaries(names, st.integers(0, 2)))
documents = st.dictionaries(names.map("live:{}".format), values.map(lambda v: {"value": v}))


def applied(before: dict[str, Any], operations: list[dict[str, Any]]) -> dict[str, Any]:
    """The twin: a plain dictionary."""
    after = dict(before)
    for operation in operations:
        if operation["op"] == "delete":
            del after[operation["id"]]
        else:
            after[operation["id"]] = operation["value"]
    return after


@pytest.mark.shows("LIVE-CHANGES")
@given(documents, documents)
def test_the_writes_lead_from_one_state_to_the_other_and_no_further(
    before: dict[str, Any], after: dict[str, Any]
) -> None:
    operations = live.operations(before, after)
    assert applied(before, operations) == after
    assert len(operations) == sum(
        before.get(id) != after.get(id) for id in before.keys() | after.keys()
    )


def seen(**changes: Any) -> live.Documents:
    facts: dict[str, Any] = {
        "codebases": {"k1": {"state": "ready"}},
        "sessions": {"s1": {"reads": 1}},
        "spaces": {"local": {"seq": 3}},
        "hours": [],
        "health": {"state": "ok"},
    }
    return live.documents_of(**{**facts, **changes})


@pytest.fixture
def store() -> Store:
    return open_store("memory:", live.SPACE)


@pytest.mark.shows("LIVE-CHANGES")
def test_what_is_the_same_is_not_written_again(store: Store) -> None:
    publisher = live.Publisher(store, "live-1")
    assert publisher.publish(seen()) == 1
    assert publisher.publish(seen()) is None
    assert publisher.publish(seen(spaces={"local": {"seq": 4}})) == 2
    assert list(store.log()[0].operations) == [("set", "live:space/local")]
    store.close()


@pytest.mark.shows("LIVE-CHANGES")
def test_what_is_gone_is_deleted_with_its_link(store: Store) -> None:
    publisher = live.Publisher(store, "live-1")
    publisher.publish(seen())
    publisher.publish(seen(sessions={}))
    assert store.read("live:session/s1") is None
    board = store.read(live.BOARD)
    assert board is not None
    assert board["value"]["sessions"] == {}
    store.close()


@pytest.mark.shows("LIVE-BOARD")
def test_the_board_leads_to_every_document(store: Store) -> None:
    publisher = live.Publisher(store, "live-1")
    publisher.publish(seen())
    query = {"roots": [{"id": live.BOARD, "selector": {"path": [], "schema": True}}]}
    reached = {entity["id"] for entity in store.query(query).entities}
    assert reached == set(seen())
    store.close()


@pytest.mark.shows("LIVE-CHANGES")
def test_a_second_publisher_goes_on_where_the_first_left(store: Store) -> None:
    live.Publisher(store, "live-1").publish(seen())
    assert live.Publisher(store, "live-2").publish(seen()) is None
    assert live.Publisher(store, "live-1").publish(seen(hours=[{"at": 1}])) == 2
    store.close()


@pytest.mark.shows("LIVE-CHANGES")
def test_a_name_that_is_no_text_does_not_stop_the_rest(store: Store) -> None:
    publisher = live.Publisher(store, "live-1")
    strange = {"root": "/srv/caf\udce9", "runs": [(1, 2)]}
    assert publisher.publish(seen(codebases={"k1": strange})) == 1
    assert publisher.publish(seen(codebases={"k1": strange})) is None
    document = store.read("live:codebase/k1")
    assert document == {"value": {"root": "/srv/caf?", "runs": [[1, 2]]}}
    store.close()


@pytest.mark.shows("LIVE-FORMAT")
def test_the_documents_have_a_version() -> None:
    """Changing the shape of the board is a new format."""
    assert live.FORMAT == 1
    board = seen()[live.BOARD]["value"]
    assert sorted(board) == ["codebases", "format", "health", "savings", "sessions", "spaces"]


@pytest.mark.shows("LIVE-NOTICES")
def test_a_changed_file_is_looked_at_and_one_that_is_not_wanted_is_not(tmp_path: Path) -> None:
    heard: list[frozenset[str]] = []
    first, second = threading.Event(), threading.Event()

    def look(changed: frozenset[str]) -> None:
        heard.append(changed)
        first.set()
        if changed:
            second.set()

    notices = live.RefreshLoop(lambda: [tmp_path], lambda path: path.suffix == ".json", look, 3600)
    notices.start()
    try:
        assert first.wait(30), "the first look needs no reason"
        assert notices.ready.wait(30)
        (tmp_path / "noise.txt").write_text("x")
        (tmp_path / "registry.json").write_text("{}")
        assert second.wait(30)
    finally:
        notices.stop()
    assert {Path(path).name for changed in heard for path in changed} == {"registry.json"}


def test_a_look_that_fails_is_not_the_last(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    turns: list[int] = []
    again = threading.Event()

    def look(changed: frozenset[str]) -> None:
        turns.append(len(turns))
        if len(turns) == 1:
            raise RuntimeError("the disk is away")
        again.set()

    notices = live.RefreshLoop(lambda: [tmp_path], lambda path: True, look, 3600)
    notices.start()
    try:
        assert notices.ready.wait(30)
        notices.touched("something")
        assert again.wait(30)
    finally:
        notices.stop()
    assert "the disk is away" in caplog.text
