"""Attacks on an index that once went through; each test tells what went wrong."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import apsw
import pytest

from holdfast.errors import HoldfastError
from holdfast.index import sqlite
from holdfast.index.errors import OutsideRoot
from holdfast.index.tools.calls import call_graph
from holdfast.index.tools.manage import manage_index
from holdfast.index.tools.outline import file_outline
from holdfast.index.tools.search import search_code
from tests.index.world import World


@pytest.fixture
def ready(world: World) -> World:
    manage_index(world.index, "create", world.root)
    return world


@pytest.mark.shows("INDEX-RELATIVE-KEY")
def test_a_linked_folder_does_not_lead_out_of_the_tree(ready: World, tmp_path: Path) -> None:
    """A relative name was only looked at for `..`: through a link in the tree the outline of any
    file on the machine could be asked for, and code like it."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.py").write_text("def secret_thing():\n    pass\n")
    (ready.tree / "link").symlink_to(outside)
    with pytest.raises(OutsideRoot):
        file_outline(ready.index, ready.root, "link/secret.py")
    with pytest.raises(OutsideRoot):
        call_graph(
            ready.index, ready.root, {"file": "link/secret.py", "symbolLabel": "secret_thing"}
        )
    with pytest.raises(HoldfastError, match="there is no file"):
        search_code(ready.index, ready.root, "", similar="link/secret.py")


@pytest.mark.shows("INDEX-RELATIVE-KEY")
def test_a_linked_folder_inside_the_tree_names_the_file_it_leads_to(ready: World) -> None:
    (ready.tree / "link").symlink_to(ready.tree / "src")
    found: Any = file_outline(ready.index, ready.root, "link/cart.py")
    assert (found["status"], found["file"]) == ("ok", "src/cart.py")


@pytest.mark.shows("ISS-INDEX-STABILITY-A15")
def test_a_part_of_a_root_is_governed_by_it_in_every_action(ready: World) -> None:
    """Status said of a folder in an indexed tree that neither it nor anything above was indexed,
    and told to create an index for it; the search in that folder answered all along."""
    part = f"{ready.root}/src"
    status: Any = manage_index(ready.index, "status", part)
    assert (status["status"], status["path"]) == ("ok", part)
    assert f"'{part}' is part of '{ready.root}'." in status["humanText"]
    assert "fully indexed and ready for search" in status["humanText"]
    ready.write("src/late.py", "def late():\n    pass\n")
    ready.later(60)
    synced: Any = manage_index(ready.index, "sync", part)
    assert (synced["status"], synced["path"]) == ("ok", part)
    assert synced["syncStats"]["added"] == 1
    ready.backend.marker = None
    stale: Any = manage_index(ready.index, "status", part)
    assert stale["status"] == "not_indexed"
    assert stale["hints"]["create"]["args"]["path"] == ready.root


@pytest.mark.shows("ISS-INDEX-STABILITY-A15", "ISS-INDEX-STABILITY-D1")
def test_clearing_a_part_of_a_root_clears_nothing_and_names_the_root(ready: World) -> None:
    cleared: Any = manage_index(ready.index, "clear", f"{ready.root}/src")
    assert (cleared["status"], cleared["reason"]) == ("not_indexed", "not_indexed")
    assert cleared["hints"]["clear"]["args"]["path"] == ready.root
    assert ready.membership() == [ready.root]
    assert manage_index(ready.index, "status", ready.root)["status"] == "ok"


def database(world: World) -> Path:
    (path,) = (world.home / "index" / "roots").glob("*.sqlite")
    return path


def state(world: World) -> str:
    return manage_index(world.index, "status", world.root)["humanText"]


@pytest.mark.shows("INDEX-DAMAGED-HEALS")
@pytest.mark.parametrize("action", ["create", "reindex"])
@pytest.mark.parametrize("page", range(9))
def test_a_rebuild_mends_a_damaged_file(ready: World, action: Any, page: int) -> None:
    """Where the file's first page was good and another was not, every rebuild failed at the old
    tables, with the advice to rebuild; only a clear helped, which nothing said."""
    ready.backend.inner.close()
    data = bytearray(database(ready).read_bytes())
    assert len(data) >= 9 * sqlite.PAGE_BYTES
    start = page * sqlite.PAGE_BYTES
    data[start : start + sqlite.PAGE_BYTES] = b"\xaa" * sqlite.PAGE_BYTES
    database(ready).write_bytes(data)
    manage_index(ready.index, action, ready.root, force=True)
    assert "The last run failed" not in state(ready)
    assert "fully indexed and ready for search" in state(ready)
    assert "probe_failed" not in state(ready)
    found: Any = search_code(ready.index, ready.root, "total price")
    assert found["results"][0]["file"] == "src/cart.py"


@pytest.mark.shows("INDEX-DAMAGED-HEALS")
def test_pages_that_are_damaged_and_free_fail_one_rebuild_at_most(ready: World) -> None:
    ready.write("src/big.py", "".join(f"def f{n}():\n    return {n}\n\n" for n in range(3000)))
    ready.later(60)
    manage_index(ready.index, "sync", ready.root)
    os.unlink(ready.tree / "src/big.py")
    manage_index(ready.index, "sync", ready.root)
    ready.backend.inner.close()
    connection = apsw.Connection(str(database(ready)))
    free, pages = connection.pragma("freelist_count"), connection.pragma("page_count")
    connection.close()
    assert free > 3
    data = bytearray(database(ready).read_bytes())
    trunk = int.from_bytes(data[32:36], "big")
    start = (trunk - 1) * sqlite.PAGE_BYTES
    data[start : start + sqlite.PAGE_BYTES] = b"\xaa" * sqlite.PAGE_BYTES
    database(ready).write_bytes(data)
    assert trunk <= pages
    manage_index(ready.index, "reindex", ready.root)
    manage_index(ready.index, "create", ready.root)
    assert "fully indexed and ready for search" in state(ready)
    assert "The last run failed" not in state(ready)


@pytest.mark.shows("INDEX-DISK-FULL")
def test_a_disk_that_fills_up_after_publishing_takes_nothing_back(
    ready: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tidying up after a commit may fail; the sync then told that it had failed and changed
    nothing, and what it had published was served."""
    real = sqlite._rows

    def full(connection: apsw.Connection, sql: str, *rest: Any) -> list[Any]:
        if "wal_checkpoint" in sql:
            raise apsw.FullError("database or disk is full")
        return real(connection, sql, *rest)

    monkeypatch.setattr(sqlite, "_rows", full)
    ready.write("src/late.py", "def late():\n    pass\n")
    ready.later(60)
    synced: Any = manage_index(ready.index, "sync", ready.root)
    assert (synced["status"], synced["syncStats"]["added"]) == ("ok", 1)
