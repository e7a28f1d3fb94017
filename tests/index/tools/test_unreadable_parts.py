"""Answers about a tree of which a part cannot be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.files.journaled_edits import JournaledEdits
from holdfast.index.building.prepare import extract_facts
from holdfast.index.tools.references import references
from holdfast.index.tools.render import Surface
from holdfast.index.tools.render_references import references_text
from holdfast.index.tools.symbol_edits import edit_symbol
from holdfast.index.tools.text_edits import Edit
from tests.index.test_attacks import deny
from tests.index.wire import manage_index
from tests.index.world import World


@pytest.mark.shows("INDEX-COMPLETE")
def test_references_and_a_rename_say_what_of_the_tree_cannot_be_read(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files that could not be read when the tree was indexed were passed over in silence."""
    world.index.extract = extract_facts
    world.write("src/pay.py", "def settle(): ...\n")
    world.write("private/shop.py", "from src.pay import settle\n\nsettle()\n")
    deny(monkeypatch, f"{world.root}/private")
    assert manage_index(world.index, "create", world.root)["status"] == "ok"
    found = references(world.index, world.root, "settle")
    assert (found.complete, found.unread) == (False, ("1 unreadable part of the tree",))
    surface = Surface(call=lambda call: f"{call.tool}(…)")
    text = references_text(found, surface, more="MORE")
    assert "[not complete: 1 unreadable part of the tree not read]" in text
    files = JournaledEdits(tmp_path / "edits")
    renamed = edit_symbol(world.index, world.root, Edit("rename", "settle", "charge"), files)
    assert "not every file could be read: there may be more mentions" in renamed.notes
