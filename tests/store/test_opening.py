"""Opening a space, and opening only one that is there."""

from pathlib import Path
from typing import Any

import pytest

from holdfast.store.errors import UnknownSpace
from holdfast.store.store import open_store
from tests.postgres import PostgresServer
from tests.store.harness import Engines, Writer, set_


@pytest.fixture(params=["sqlite", "postgres"])
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> Engines:
    """Engines that keep a space after it is closed."""
    if request.param == "sqlite":
        return Engines(str(tmp_path / "spaces"))
    server: PostgresServer = request.getfixturevalue("postgres")
    return Engines(server.url)


@pytest.mark.shows("OPEN-EXISTING")
def test_a_space_that_was_made_opens_without_making_it(kept: Engines) -> None:
    space = kept.space()
    with open_store(kept.url, space) as store:
        Writer(store)(set_("doc:a", 1))
    with open_store(kept.url, space, create=False) as store:
        assert store.read("doc:a") == {"value": 1}
        Writer(store, "another")(set_("doc:b", 2))
        assert store.newest_seq() == 2


@pytest.mark.shows("OPEN-EXISTING")
def test_a_mistyped_space_is_named_beside_those_that_exist(kept: Engines) -> None:
    space = kept.space()
    open_store(kept.url, space).close()
    with pytest.raises(UnknownSpace) as caught:
        open_store(kept.url, space + "x", create=False)
    assert str(caught.value) == f"there is no space {space}x"
    assert space in caught.value.known
    assert space + "x" not in caught.value.known
    assert caught.value.hint.startswith(f"there are: {space}")
    with pytest.raises(UnknownSpace):  # asking did not make it
        open_store(kept.url, space + "x", create=False)


@pytest.mark.shows("OPEN-EXISTING")
@pytest.mark.parametrize("empty_file", [False, True], ids=["no directory", "an empty file"])
def test_looking_for_a_space_leaves_no_trace_on_disk(tmp_path: Path, empty_file: bool) -> None:
    root = tmp_path / "spaces"
    if empty_file:  # as a process leaves it that died while it made the space
        (root / "engine-v3").mkdir(parents=True)
        (root / "engine-v3" / "local.sqlite").touch()
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(UnknownSpace) as caught:
        open_store(root, "local", create=False)
    assert caught.value.known == ()
    assert caught.value.hint == "there are no spaces yet; the first write makes one"
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.shows("OPEN-EXISTING")
def test_nothing_exists_in_a_store_in_memory() -> None:
    with pytest.raises(UnknownSpace):
        open_store("memory:", "local", create=False)


@pytest.mark.shows("OPEN-EXISTING")
def test_a_hint_names_a_few_spaces_the_likely_ones_first() -> None:
    known = [f"space-{n}" for n in range(9)] + ["notes"]
    hint: Any = UnknownSpace("note", known).hint
    assert hint == "there are: notes, space-0, space-1, space-2, space-3, space-4 and 4 more"
