"""Names that no symbol has, and what is similar to them."""

from __future__ import annotations

import pytest

from holdfast.index.building.prepare import extract_facts
from holdfast.index.code_index import CodeIndex
from holdfast.index.tools.find_symbol import symbols_called
from tests.index.wire import manage_index
from tests.index.world import World


def test_similar_names_are_searched_in_the_tree_as_it_was_checked_for_the_name(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of the three searches for them walked a large tree again."""
    world.index.extract = extract_facts
    world.write("src/cart.py", "def add_to_cart(): ...\ndef empty_cart(): ...\n")
    assert manage_index(world.index, "create", world.root)["status"] == "ok"
    world.write("src/later.py", "def add_two_carts(): ...\n")
    world.later(60)
    world.index.reuses_recent = False
    checks = []
    check = CodeIndex.check_freshness

    def counted(self: CodeIndex, *arguments: object) -> object:
        checks.append(self)
        return check(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(CodeIndex, "check_freshness", counted)
    found = symbols_called(world.index, world.root, "add_to_carts")
    assert set(found.similar) >= {"add_to_cart", "add_two_carts"}
    assert len(checks) == 1
    symbols_called(world.index, world.root, "add_to_cart")
    assert len(checks) == 2
