"""Attacks on an index that once went through; each test tells what went wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from holdfast.errors import HoldfastError
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
