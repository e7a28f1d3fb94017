"""`edit replace` and what stands above a definition: decorators, annotations, comments, exports."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.files.journaled_edits import JournaledEdits
from holdfast.index.code_index import CodeIndex, open_index, run_here
from holdfast.index.embedding.hashed import HashedEmbedding
from holdfast.index.references.answers import SymbolEditAnswer
from holdfast.index.tools.symbol_edits import edit_symbol
from holdfast.index.tools.text_edits import Action, Edit
from tests.index.wire import manage_index

PYTHON = """\
import functools


# About total.
@functools.cache
@audit(token="ghp_16C7e42F292c6912E7710c838347Ae178B4a")
def total(x):
    return x


class Cart:
    @property
    def size(self):
        return 1
"""
RUST = """\
/// A point.
#[derive(
    Debug,
    Clone,
)]
pub struct Point {
    x: u8,
}
"""
TYPESCRIPT = """\
@Component({
  selector: "cart",
})
export class Cart {
  /** Its size. */
  @Input()
  size(): number {
    return 1;
  }
}
"""


class Shop:
    """A tree of three files and its index."""

    def __init__(self, root: Path, index: CodeIndex, edits: JournaledEdits) -> None:
        self.root, self.index, self.edits = root, index, edits

    def applied(self, file: str, symbol: str, text: str, action: Action = "replace") -> str:
        """The file after an edit."""
        preview = self.preview(file, symbol, text, action)
        edit = Edit(action, symbol, text, str(self.root / file), token=preview.token)
        done = edit_symbol(self.index, str(self.root), edit, self.edits)
        assert done.applied, done
        return (self.root / file).read_text()

    def preview(
        self, file: str, symbol: str, text: str, action: Action = "replace"
    ) -> SymbolEditAnswer:
        edit = Edit(action, symbol, text, str(self.root / file))
        return edit_symbol(self.index, str(self.root), edit, self.edits)


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    root = tmp_path / "tree"
    root.mkdir()
    for name, text in {"a.py": PYTHON, "a.rs": RUST, "a.ts": TYPESCRIPT}.items():
        (root / name).write_text(text)
    index = open_index(tmp_path / "home", HashedEmbedding())
    index.start = run_here
    manage_index(index, "create", str(root))
    yield Shop(root, index, JournaledEdits(tmp_path / "home" / "edits"))
    index.close()


@pytest.mark.shows("EDIT-HEAD")
def test_a_definition_alone_keeps_the_decorators_above_it(shop: Shop) -> None:
    """They were dropped, because they are among the lines of the symbol in Python."""
    preview = shop.preview("a.py", "total", "def total(x):\n    return 2")
    [note] = preview.notes
    assert note.startswith("kept above the definition: @functools.cache, @audit(token=")
    assert "ghp_16C7" not in note
    after = shop.applied("a.py", "total", "def total(x):\n    return 2")
    assert after == PYTHON.replace("    return x\n", "    return 2\n")
    after = shop.applied("a.py", "Cart.size", "def size(self):\n    return 2")
    assert after.endswith("    @property\n    def size(self):\n        return 2\n")


@pytest.mark.shows("EDIT-HEAD")
def test_decorators_of_the_text_replace_those_above(shop: Shop) -> None:
    text = "@functools.lru_cache\ndef total(x):\n    return 2"
    [note] = shop.preview("a.py", "total", text).notes
    assert note.startswith("replaced by those of the text: @functools.cache, @audit(")
    after = shop.applied("a.py", "total", text)
    assert after.startswith("import functools\n\n\n# About total.\n" + text + "\n\n\nclass Cart")


@pytest.mark.shows("EDIT-HEAD")
def test_comments_and_attributes_that_the_text_brings_are_not_doubled(shop: Shop) -> None:
    """In Rust and TypeScript they are not among the lines of the symbol, and were there twice."""
    after = shop.applied("a.rs", "Point", "/// Two.\n#[derive(Debug)]\npub struct Point { y: u8 }")
    assert after == "/// Two.\n#[derive(Debug)]\npub struct Point { y: u8 }\n"
    text = "/** New. */\n@Output()\nsize(): number {\n  return 2;\n}"
    after = shop.applied("a.ts", "Cart.size", text)
    assert after.count("@") == 2
    assert "  /** New. */\n  @Output()\n  size(): number {\n    return 2;\n  }\n}" in after
    assert "Its size" not in after
    preview = shop.preview("a.ts", "Cart", "class Cart {\n}")
    assert preview.notes == (
        "kept: export",
        'kept above the definition: @Component({ selector: "cart", })',
    )


@pytest.mark.shows("EDIT-TEXT")
def test_lines_before_a_symbol_go_above_an_attribute_of_several_lines(shop: Shop) -> None:
    """They went between the attribute and its symbol."""
    after = shop.applied("a.rs", "Point", "struct First;", "insert_before")
    assert after == f"struct First;\n\n{RUST}"
