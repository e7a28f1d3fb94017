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
