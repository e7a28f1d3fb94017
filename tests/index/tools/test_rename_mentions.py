"""Renaming where a name stands in text: `__all__`, quoted types, JSDoc; and members of scripts."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.files.journaled_edits import JournaledEdits
from holdfast.index.code_index import open_index, run_here
from holdfast.index.embedding.hashed import HashedEmbedding
from holdfast.index.references.answers import SymbolEditAnswer
from holdfast.index.tools.references import references
from holdfast.index.tools.symbol_edits import edit_symbol
from holdfast.index.tools.text_edits import Edit
from tests.index.wire import manage_index

PYTHON = {
    "shop.py": """\
from typing import cast

__all__ = ["Cart", "make"]


class Cart:
    def total(self): ...


def make(items: "list[Cart]") -> "Cart | None":
    cart = cast("Cart", items)
    text = "a Cart"
    return cart
""",
    "main.py": "from shop import *\n\nCart().total()\n",
}
SCRIPT = {
    "cart.js": """\
class Cart {
  total() {}
}
/**
 * @param {Cart} cart a Cart
 * @returns {Promise<Cart>}
 */
function pay(cart) {
  cart.total();
}
module.exports = { Cart, pay };
""",
    "app.js": """\
var app = module.exports = {};
app.enabled = function enabled(name) {};
app.use = function () {
  return this.enabled("x");
};
""",
}


def edited(
    tmp_path: Path, files: dict[str, str], symbol: str, name: str, confirm: str = ""
) -> tuple[SymbolEditAnswer, SymbolEditAnswer, dict[str, str]]:
    """The preview, what applying it says, and the files afterwards."""
    root = tmp_path / "tree"
    root.mkdir()
    for path, text in files.items():
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(text)
    index = open_index(tmp_path / "home", HashedEmbedding())
    index.start = run_here
    try:
        manage_index(index, "create", str(root))
        confirmed = frozenset(filter(None, [confirm]))
        asked = Edit("rename", symbol, name, "", confirmed, frozenset(), "")
        edits = JournaledEdits(tmp_path / "home" / "edits")
        preview = edit_symbol(index, str(root), asked, edits)
        again = Edit("rename", symbol, name, "", confirmed, frozenset(), preview.token)
        done = edit_symbol(index, str(root), again, edits)
    finally:
        index.close()
    return preview, done, {path: (root / path).read_text() for path in files}


@pytest.mark.shows("EDIT-RENAME")
def test_entries_of_all_and_quoted_types_are_renamed(tmp_path: Path) -> None:
    preview, done, texts = edited(tmp_path, PYTHON, "Cart", "Trolley", confirm="*")
    assert '+__all__ = ["Trolley", "make"]' in preview.diff
    assert done.applied, done.message
    assert texts["shop.py"] == PYTHON["shop.py"].replace("Cart", "Trolley").replace(
        "a Trolley", "a Cart"
    )
    assert texts["main.py"] == "from shop import *\n\nTrolley().total()\n"


@pytest.mark.shows("EDIT-RENAME")
def test_types_in_comments_are_renamed_and_words_in_them_stay(tmp_path: Path) -> None:
    preview, done, texts = edited(tmp_path, SCRIPT, "Cart", "Trolley", confirm="*")
    assert done.applied, (done.message, preview)
    assert " * @param {Trolley} cart a Cart" in texts["cart.js"]
    assert " * @returns {Promise<Trolley>}" in texts["cart.js"]
    assert "module.exports = { Trolley, pay };" in texts["cart.js"]


@pytest.mark.shows("EDIT-RENAME")
def test_a_member_that_an_object_is_given_is_renamed_where_this_has_it(tmp_path: Path) -> None:
    _, done, texts = edited(tmp_path, SCRIPT, "app.enabled", "allowed", confirm="*")
    assert done.applied, done.message
    assert "app.allowed = function enabled(name) {};" in texts["app.js"]
    assert 'return this.allowed("x");' in texts["app.js"]


@pytest.mark.shows("EDIT-DOUBT")
def test_without_a_confirmation_what_is_not_certain_keeps_all_from_being_written(
    tmp_path: Path,
) -> None:
    preview, done, texts = edited(tmp_path, PYTHON, "Cart", "Trolley")
    assert done.applied == (not preview.doubts)
    if not done.applied:
        assert texts == PYTHON


def test_every_place_of_a_rename_has_a_confidence(tmp_path: Path) -> None:
    root = tmp_path / "tree"
    root.mkdir()
    (root / "shop.py").write_text(PYTHON["shop.py"])
    index = open_index(tmp_path / "home", HashedEmbedding())
    index.start = run_here
    try:
        manage_index(index, "create", str(root))
        found = references(index, str(root), "Cart").references
    finally:
        index.close()
    assert sorted(one.line for one in found) == [3, 10, 10, 11]
    assert all(0 < one.confidence <= 1 for one in found)


TYPED = {
    "types.ts": "export interface Fault { report(x: number): string }\n",
    "main.ts": """\
import {Fault} from "./types"
function report(x: number) { return "a" }
export const one: Fault = { report }
export const two: Fault = { report(x) { return "b" } }
export function show({ report }: Fault) { return report(1) }
""",
}


def test_a_word_that_is_a_key_and_a_variable_keeps_the_other_name(tmp_path: Path) -> None:
    _, applied, after = edited(tmp_path, TYPED, "Fault.report", "tell", "*")
    assert applied.applied, applied.message
    assert after["types.ts"] == "export interface Fault { tell(x: number): string }\n"
    assert after["main.ts"].splitlines()[1:] == [
        'function report(x: number) { return "a" }',
        "export const one: Fault = { tell: report }",
        'export const two: Fault = { tell(x) { return "b" } }',
        "export function show({ tell: report }: Fault) { return report(1) }",
    ]
