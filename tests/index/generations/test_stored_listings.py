"""A build stores the listings of directories, and a later process uses them."""

from __future__ import annotations

from typing import Any

import apsw
import pytest

from holdfast.files import listing_cache, listing_store, tree_watch
from holdfast.files import names as name_rules
from tests.index.wire import manage_index, search_code
from tests.index.world import World


def _files(world: World, query: str = "price of an item") -> list[str]:
    answer: Any = search_code(world.index, world.root, query)
    return [hit["file"] for hit in answer["results"]]


def _as_in_a_new_process(world: World) -> None:
    world.index.freshness.forget(world.root)
    world.index.freshness.doubt(world.root)
    listing_cache._trees.clear()


def _decided(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names that walks decide from now on."""
    names: list[str] = []
    real = name_rules._left_out

    def noting(name: str, *more: Any) -> Any:
        names.append(name)
        return real(name, *more)

    monkeypatch.setattr(name_rules, "_left_out", noting)
    return names


@pytest.mark.shows("FILES-STORED-LISTINGS")
def test_the_first_search_of_a_process_decides_on_new_names_only(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert manage_index(world.index, "create", world.root)["status"] == "ok"
    before = _files(world)
    listing_cache._trees.clear()
    world.later(60)
    names = _decided(monkeypatch)
    assert _files(world) == before
    assert names == []
    listing_cache._trees.clear()
    world.write("src/discount.py", "def discount_of(item):\n    return 2\n")
    world.later(60)
    assert "src/discount.py" in _files(world, "discount of an item")
    assert names == ["discount.py"]
    assert manage_index(world.index, "sync", world.root)["status"] == "ok"
    listing_cache._trees.clear()
    names.clear()
    world.later(60)
    assert "src/discount.py" in _files(world, "discount of an item")
    assert names == []


@pytest.mark.shows("FILES-STORED-LISTINGS")
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE listings SET data = x'00'",
        "UPDATE listings SET listings_check = listings_check + 1",
        "DELETE FROM listings",
        "DROP TABLE listings",
    ],
)
def test_damaged_listings_are_not_used(world: World, statement: str) -> None:
    assert manage_index(world.index, "create", world.root)["status"] == "ok"
    before = _files(world)
    (file,) = (world.home / "index" / "roots").glob("*.sqlite")
    connection = apsw.Connection(str(file))
    connection.set_busy_timeout(60_000)  # the log of the last run may still be folded in
    connection.execute(statement)
    connection.close()
    listing_cache._trees.clear()
    world.later(60)
    assert _files(world) == before
    world.write("src/discount.py", "def discount_of(item):\n    return 2\n")
    assert manage_index(world.index, "sync", world.root)["status"] == "ok"
    assert "src/discount.py" in _files(world, "discount of an item")


@pytest.mark.shows("FILES-STORED-LISTINGS")
@pytest.mark.parametrize("watched", [False, True])
def test_a_sync_without_changes_replaces_the_listings_of_other_code_once(
    world: World, monkeypatch: pytest.MonkeyPatch, watched: bool
) -> None:
    """After an upgrade every first walk decided on all names, until a file came or went."""
    monkeypatch.setattr(tree_watch, "is_trusted", lambda root: True)
    monkeypatch.setattr("holdfast.index.tools.manage._watch", lambda *given: None)
    world.index.watches = watched
    assert manage_index(world.index, "create", world.root)["status"] == "ok"
    before = _files(world)
    assert listing_store._CODE is not None
    monkeypatch.setattr(listing_store, "_CODE", listing_store._CODE ^ 1)
    _as_in_a_new_process(world)
    world.later(60)
    names = _decided(monkeypatch)
    assert _files(world) == before
    assert names, "the listings of other code are not used"
    generations = []
    for _ in range(3):
        assert manage_index(world.index, "sync", world.root)["status"] == "ok"
        with world.index.backend.reader(world.root) as reader:
            generations.append(reader.identity)
    assert len(set(generations)) == 1, "they are replaced by the first sync only"
    _as_in_a_new_process(world)
    names.clear()
    world.later(60)
    assert _files(world) == before
    assert names == []
