"""Opening a space, and opening only one that is there."""

from pathlib import Path
from typing import Any

import apsw
import pytest

from holdfast.store import sqlite, sqlite_driver
from holdfast.store.errors import StoreBusy, UnknownSpace
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
    assert caught.value.hint == "there are no spaces yet; the first write creates one"
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


@pytest.mark.shows("OPEN-EXISTING")
def test_a_space_whose_maker_died_before_its_tables_does_not_exist(tmp_path: Path) -> None:
    """It had pages and no tables, and whoever only looked made them."""
    root = tmp_path / "spaces"
    open_store(root, "whole").close()
    half = apsw.Connection(str(root / "engine-v3" / "half.sqlite"))
    half.execute("PRAGMA journal_mode=WAL")
    half.close()
    with pytest.raises(UnknownSpace) as caught:
        open_store(root, "half", create=False)
    assert caught.value.known == ("whole",)
    with open_store(root, "half") as store:
        Writer(store)(set_("doc:a", 1))
    with open_store(root, "half", create=False) as store:
        assert store.read("doc:a") == {"value": 1}


@pytest.mark.shows("OPEN-EXISTING")
def test_what_is_no_space_beside_the_spaces_is_not_listed(tmp_path: Path) -> None:
    """A link that leads nowhere made every question for the spaces fail."""
    root = tmp_path / "spaces"
    open_store(root, "whole").close()
    (root / "engine-v3" / "gone.sqlite").symlink_to(tmp_path / "nowhere")
    (root / "engine-v3" / "directory.sqlite").mkdir()
    with pytest.raises(UnknownSpace) as caught:
        open_store(root, "gone", create=False)
    assert caught.value.known == ("whole",)
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.shows("OPEN-EXISTING", "STORE-EXPORT")
def test_a_space_whose_file_was_taken_away_is_not_exported_as_empty(tmp_path: Path) -> None:
    """The export has a connection of its own, and made a new file to read from."""
    root = tmp_path / "spaces"
    with open_store(root, "local") as store:
        Writer(store)(set_("doc:a", 1))
        for file in (root / "engine-v3").iterdir():
            file.unlink()
        with pytest.raises(UnknownSpace):
            list(store.export())
        assert not list((root / "engine-v3").iterdir())


@pytest.mark.shows("OPEN-EXISTING")
def test_another_schema_of_the_database_is_no_space(postgres: PostgresServer) -> None:
    """A comment of two words on a schema called like ours was an IndexError for everybody."""
    with open_store(postgres.url, "did:key:neighbour") as store:
        run = store.engine.writing.run
        run("CREATE SCHEMA holdfast_of_somebody_else")
        try:
            for comment in ("holdfast schema", "holdfast", "holdfast is not this"):
                run(f"COMMENT ON SCHEMA holdfast_of_somebody_else IS '{comment}'")
                with pytest.raises(UnknownSpace) as caught:
                    open_store(postgres.url, "did:key:nobody", create=False)
                assert "did:key:neighbour" in caught.value.known
                assert "not this" not in caught.value.known
        finally:
            run("DROP SCHEMA holdfast_of_somebody_else")


@pytest.mark.shows("OPEN-EXISTING", "STORE-PROCESSES")
def test_several_who_open_a_new_space_wait_for_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Switching a file to its log, SQLite refuses at once if another connection does so too."""
    refused: list[str] = []

    def connected(*order: Any, **options: Any) -> Any:
        driver = sqlite_driver.SqliteDriver(*order, **options)
        answer = driver.rows

        def rows(sql: str, parameters: Any = ()) -> Any:
            if "journal_mode" in sql and len(refused) < 3:
                refused.append(sql)
                raise StoreBusy(sqlite_driver.BUSY_MS)
            return answer(sql, parameters)

        monkeypatch.setattr(driver, "rows", rows)
        return driver

    monkeypatch.setattr(sqlite, "SqliteDriver", connected)
    with open_store(tmp_path / "spaces", "local") as store:
        assert store.engine.writing.rows("PRAGMA journal_mode") == [("wal",)]
        Writer(store)(set_("doc:a", 1))
    assert len(refused) == 3
