"""Names that no symbol has, and what is similar to them."""

from __future__ import annotations

import pytest

from holdfast.index.building.prepare import extract_facts
from holdfast.index.code_index import CodeIndex
from holdfast.index.tools.find_symbol import symbols_called
from holdfast.index.tools.named_calls import calls_of_name
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


def test_a_name_is_looked_up_in_the_whole_tree_from_any_of_its_directories(world: World) -> None:
    """`holdfast calls pay` in a directory without `pay` said that no symbol of the tree has it."""
    world.index.extract = extract_facts
    world.write("src/pay.py", "def pay(): ...\ndef buy(): pay()\n")
    world.write("docs/example.py", "def show(): ...\n")
    assert manage_index(world.index, "create", world.root)["status"] == "ok"
    answer = calls_of_name(world.index, f"{world.root}/docs", "pay", direction="callers")
    assert answer.status == "ok"
    assert {node.symbol_label for node in answer.nodes} == {"pay", "buy"}
    assert [one.file for one in symbols_called(world.index, f"{world.root}/docs", "pay").symbols]


def test_a_name_unlike_all_others_has_no_similar_ones(world: World) -> None:
    """`holdfast explore zzz` suggested what is nearest by meaning, which has nothing in common."""
    world.index.extract = extract_facts
    world.write("src/pay.py", "def pay(): ...\ndef buy(): pay()\n")
    assert manage_index(world.index, "create", world.root)["status"] == "ok"
    assert symbols_called(world.index, world.root, "zzzqqq").similar == ()


def test_a_name_with_the_same_first_letters_is_not_similar(world: World) -> None:
    """`nope` was answered with `nosan_server` and `test_normalize_percent_encode`."""
    world.index.extract = extract_facts
    names = ("nosan_server", "normalize_percent_encode", "no_proxy", "get_type")
    world.write("shop.py", "".join(f"def {name}(): ...\n" for name in names))
    assert manage_index(world.index, "create", world.root)["status"] == "ok"
    assert symbols_called(world.index, world.root, "nope").similar == ()
    assert symbols_called(world.index, world.root, "get_typ").similar[0] == "get_type"


def test_a_symbol_whose_code_mentions_a_name_is_not_similar(world: World) -> None:
    """`calls nope` was answered with `DebugFilesKeyError`, because its text has the word."""
    world.index.extract = extract_facts
    world.write("shop.py", 'def explain():\n    return "nope"\n\n\ndef price_nope(): ...\n')
    assert manage_index(world.index, "create", world.root)["status"] == "ok"
    assert symbols_called(world.index, world.root, "nope").similar == ("price_nope",)
