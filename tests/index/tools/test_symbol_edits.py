"""Edits of symbols: a preview with its doubts, applied to exactly what it was made from."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from holdfast.errors import UsageError
from holdfast.files.journaled_edits import JournaledEdits, UnsettledEdit
from holdfast.index.code_index import CodeIndex, open_index, run_here
from holdfast.index.embedding.hashed import HashedEmbedding
from holdfast.index.references.answers import SymbolEditAnswer
from holdfast.index.tools.render import Surface
from holdfast.index.tools.render_edits import edit_text
from holdfast.index.tools.symbol_edits import edit_symbol
from holdfast.index.tools.text_edits import Action, Edit
from tests.index.wire import manage_index

FILES = {
    "cart.py": """\
class Cart:
    def total(self):
        # the total
        return 1


class Big(Cart):
    def total(self):
        return 2 * super().total()


def make() -> Cart:
    return Cart()
""",
    "pay.py": """\
from cart import Cart as Basket
from cart import make


def pay(cart: Basket):
    total = cart.total()
    return total + make().total()


print(pay(Basket()), "total")
""",
}


TERMINAL = Surface(call=lambda call: f"{call.tool}(…)")


class Tree(NamedTuple):
    """A tree and its index."""

    root: Path
    code: CodeIndex
    edits: JournaledEdits

    def edit(
        self,
        action: Action,
        symbol: str,
        text: str,
        token: str = "",
        confirm: str = "",
        leave: str = "",
    ) -> SymbolEditAnswer:
        asked = Edit(
            action,
            symbol,
            text,
            "",
            frozenset(filter(None, [confirm])),
            frozenset(filter(None, [leave])),
            token,
        )
        return edit_symbol(self.code, str(self.root), asked, self.edits)

    def applied(self, action: Action, symbol: str, text: str, **more: str) -> SymbolEditAnswer:
        preview = self.edit(action, symbol, text, **more)
        return self.edit(action, symbol, text, token=preview.token, **more)

    def texts(self) -> dict[str, str]:
        return {str(p.relative_to(self.root)): p.read_text() for p in self.root.rglob("*.py")}


@pytest.fixture
def tree(tmp_path: Path) -> Iterator[Tree]:
    root = tmp_path / "tree"
    root.mkdir()
    for name, text in FILES.items():
        (root / name).write_text(text)
    index = open_index(tmp_path / "home", HashedEmbedding())
    index.start = run_here
    manage_index(index, "create", str(root))
    yield Tree(root, index, JournaledEdits(tmp_path / "home" / "edits"))
    index.close()


def runs(root: Path) -> str:
    return subprocess.run(
        [sys.executable, "pay.py"], cwd=root, capture_output=True, text=True, check=True
    ).stdout


@pytest.mark.shows("EDIT-RENAME")
def test_a_method_is_renamed_with_its_overrides_and_the_program_still_runs(tree: Tree) -> None:
    before = runs(tree.root)
    done = tree.applied("rename", "Cart.total", "sum_up")
    assert done.applied, done.message
    assert runs(tree.root) == before
    texts = tree.texts()
    assert texts["cart.py"] == FILES["cart.py"].replace("def total", "def sum_up").replace(
        "super().total", "super().sum_up"
    )
    assert "total = cart.sum_up()" in texts["pay.py"]
    assert "make().sum_up()" in texts["pay.py"]
    assert '"total"' in texts["pay.py"]


@pytest.mark.shows("EDIT-RENAME")
def test_a_class_is_renamed_and_its_alias_stays(tree: Tree) -> None:
    done = tree.applied("rename", "Cart", "Trolley")
    assert done.applied, done
    assert "from cart import Trolley as Basket" in tree.texts()["pay.py"]
    assert "class Big(Trolley)" in tree.texts()["cart.py"]
    runs(tree.root)


@pytest.mark.shows("EDIT-PROVEN")
def test_a_file_that_changed_since_the_preview_keeps_everything_from_being_written(
    tree: Tree,
) -> None:
    preview = tree.edit("rename", "Cart.total", "sum_up")
    assert "+        return 2 * super().sum_up()" in preview.diff
    (tree.root / "pay.py").write_text(FILES["pay.py"] + "\n# more\n")
    texts = tree.texts()
    refused = tree.edit("rename", "Cart.total", "sum_up", token=preview.token)
    assert (refused.status, refused.reason) == ("blocked", "stale_preview")
    assert tree.texts() == texts
    assert tree.edit("rename", "Cart.total", "other", token=preview.token).status == "blocked"


@pytest.mark.shows("EDIT-DOUBT")
def test_a_place_in_doubt_is_confirmed_or_left_out(tree: Tree) -> None:
    (tree.root / "loose.py").write_text("def f(thing):\n    return thing.total\n")
    preview = tree.edit("rename", "Cart.total", "sum_up")
    assert [(one.file, one.line) for one in preview.doubts] == [("loose.py", 2)]
    refused = tree.edit("rename", "Cart.total", "sum_up", token=preview.token)
    assert (refused.reason, tree.texts()["cart.py"]) == ("in_doubt", FILES["cart.py"])
    left = tree.applied("rename", "Cart.total", "sum_up", leave="loose.py:2")
    assert left.applied
    assert "thing.total" in tree.texts()["loose.py"]
    again = tree.applied("rename", "Cart.sum_up", "count", confirm="*")
    assert again.applied, again
    taken = tree.applied("rename", "make", "pay", confirm="")
    assert [one.why for one in taken.doubts] == ["pay is used here already"]


@pytest.mark.shows("EDIT-DOUBT")
def test_a_comment_with_the_new_name_is_not_a_use_of_it(tree: Tree) -> None:
    """The word in a comment made the whole rename doubtful."""
    (tree.root / "note.py").write_text("from cart import make  # checks it, or so\n")
    assert not tree.edit("rename", "make", "checks").doubts


@pytest.mark.shows("EDIT-DOUBT")
def test_a_preview_with_doubts_says_how_they_are_settled(tree: Tree) -> None:
    """It printed a call that applies it, which was refused."""
    (tree.root / "loose.py").write_text("def f(thing):\n    return thing.total\n")
    for left, said in (("", "1 place in doubt; nothing is written yet. Settle those first: HOW;"),
                       ("*", "nothing is written yet. To apply: CALL]")):  # fmt: skip
        preview = tree.edit("rename", "Cart.total", "sum_up", leave=left)
        assert said in edit_text(preview, TERMINAL, apply="CALL", settle="HOW")


@pytest.mark.shows("EDIT-DOUBT")
def test_names_that_cannot_be_are_refused(tree: Tree) -> None:
    for name, why in (("a b", "not a name"), ("class", "keyword"), ("Big", "exists already")):
        with pytest.raises(UsageError, match=why):
            tree.edit("rename", "Cart", name)
    assert tree.edit("rename", "total", "x").status == "ambiguous"
    assert tree.edit("rename", "nothing_here", "x").status == "not_found"


@pytest.mark.shows("EDIT-TEXT")
def test_lines_are_replaced_and_inserted_with_their_indentation(tree: Tree) -> None:
    done = tree.applied("replace", "Cart.total", "def total(self):\n    return 3")
    assert done.applied, done
    tree.applied("insert_after", "Cart.total", "def count(self):\n    return 4")
    tree.applied("insert_before", "make", "def first():\n    return 5")
    assert tree.texts()["cart.py"].startswith(
        "class Cart:\n    def total(self):\n        return 3\n\n"
        "    def count(self):\n        return 4\n\n\nclass Big(Cart):"
    )
    assert "\n\n\ndef first():\n    return 5\n\n\ndef make() -> Cart:" in tree.texts()["cart.py"]
    runs(tree.root)
    broken = tree.applied("replace", "make", "def make(:")
    assert (broken.applied, broken.status) == (False, "blocked")
    other = tree.applied("replace", "make", "def another():\n    return 1")
    assert [one.why for one in other.doubts] == ["the new text does not define make"]
    with pytest.raises(UsageError, match="no text"):
        tree.edit("replace", "make", "\n")


@pytest.mark.shows("EDIT-RENAME")
def test_renaming_there_and_back_restores_every_byte(tree: Tree) -> None:
    rng = random.Random(5)
    names = {"Cart": "Cart", "Cart.total": "total", "make": "make", "pay": "pay", "Big": "Big"}
    for step in range(6):
        symbol = rng.choice(sorted(names))
        new = f"renamed_{step}"
        there = tree.applied("rename", symbol, new)
        assert there.applied, (step, there)
        owner = symbol.rpartition(".")[0]
        # `total` is also the name of a local variable and of a word in a comment.
        after = f"{owner}.{new}" if owner else new
        back = tree.applied("rename", after, names[symbol], leave="*")
        assert back.applied, (step, back)
        assert tree.texts() == FILES, f"seed 5, step {step}"


class Killed(BaseException):
    """The process ended."""


def kill_between_files(tree: Tree, home: Path) -> None:
    """Rename `make`, and end the process before the second file is written."""

    def step(name: str, path: str) -> None:
        if name == "replace":
            replaced.append(path)
        if len(replaced) > 1:
            raise Killed

    replaced = list[str]()
    killed = tree._replace(edits=JournaledEdits(home / "edits", step))
    with pytest.raises(Killed):
        killed.applied("rename", "make", "build")
    changed = [name for name, text in tree.texts().items() if text != FILES[name]]
    assert changed == ["cart.py"]


@pytest.mark.shows("EDIT-INTERRUPTED")
def test_the_next_edit_completes_a_rename_that_was_killed_and_says_so(
    tree: Tree, tmp_path: Path
) -> None:
    """`cart.py` was renamed and `pay.py` was not; the next call knew nothing of it."""
    kill_between_files(tree, tmp_path / "home")
    again = tree.edit("rename", "make", "build")
    assert "was interrupted; it is finished now: wrote pay.py" in str(again.message or again.notes)
    assert tree.texts() == {name: text.replace("make", "build") for name, text in FILES.items()}
    back = tree.applied("rename", "build", "make", leave="*")
    assert (back.applied, back.notes, tree.texts()) == (True, (), FILES)


@pytest.mark.shows("EDIT-INTERRUPTED")
def test_a_rename_waits_for_an_interrupted_one_that_needs_a_decision(
    tree: Tree, tmp_path: Path
) -> None:
    kill_between_files(tree, tmp_path / "home")
    written(tree, "pay.py", "from cart import Cart, make\n\nprint(make(), Cart())\n")
    found = tree.texts()
    preview = tree.edit("rename", "Cart", "Trolley")
    assert "written: cart.py; changed since: pay.py" in preview.notes[0]
    with pytest.raises(UnsettledEdit, match=r"changed since: pay\.py"):
        tree.edit("rename", "Cart", "Trolley", token=preview.token)
    assert tree.texts() == found
    assert "undone: wrote cart.py" in tree.edits.settle(str(tree.root), "undo")
    assert tree.texts() == {**found, "cart.py": FILES["cart.py"]}
    assert tree.applied("rename", "Cart", "Trolley").applied


def written(tree: Tree, name: str, text: str) -> Path:
    path = tree.root / name
    path.write_bytes(text.encode())
    return path


@pytest.mark.shows("EDIT-TEXT")
def test_new_lines_end_as_the_lines_of_their_file(tree: Tree) -> None:
    """In a file with CRLF, every new line ended with a line feed alone."""
    path = written(
        tree, "dos.py", "def a():\r\n    return 1\r\n\r\n\r\ndef b():\r\n    return 2\r\n"
    )
    assert tree.applied("replace", "a", "def a():\n    return 3").applied
    assert tree.applied("insert_after", "a", "def c():\r\n    return 4").applied
    assert tree.applied("insert_before", "a", "def d():\n    return 5").applied
    assert tree.applied("insert_after", "b", "def e():\n    return 6").applied
    data = path.read_bytes()
    assert data.count(b"\n") == data.count(b"\r\n") == data.count(b"\r")
    assert data.decode().split("\r\n\r\n\r\n") == [
        "def d():\r\n    return 5",
        "def a():\r\n    return 3",
        "def c():\r\n    return 4",
        "def b():\r\n    return 2",
        "def e():\r\n    return 6\r\n",
    ]


@pytest.mark.shows("EDIT-TEXT")
@pytest.mark.parametrize(
    ("name", "text", "first"),
    [
        ("c.js", "/**\n * Says more.\n */\nexport function more() {}\n", "/**"),
        ("c.go", "package c\n\n// more says more.\nfunc more() {}\n", "// more"),
        ("c.rs", "/// Says more.\n#[derive(Debug)]\nstruct more { x: u8 }\n", "///"),
        ("c.py", "# About more.\n@print\ndef more():\n    pass\n", "# About"),
        ("d.py", "#!/usr/bin/env python\n# coding: utf-8\ndef more():\n    pass\n", "def more"),
        ("d.rs", "#![allow(unused)]\nfn more() {}\n", "fn more"),
    ],
)
def test_lines_before_a_symbol_go_above_its_comment(
    name: str, text: str, first: str, tree: Tree
) -> None:
    """They went between a symbol and its comment or attributes, which then were theirs."""
    path = written(tree, name, text)
    new = {"js": "let q = 1", "go": "var q = 1", "rs": "fn q() {}", "py": "q = 1"}[name[2:]]
    done = tree.applied("insert_before", "more", new)
    assert done.applied, done
    at = text.index(first)
    assert path.read_text().startswith(f"{text[:at]}{new}\n\n")
    assert path.read_text().endswith(f"\n\n{text[at:]}")


@pytest.mark.shows("EDIT-DOUBT")
@pytest.mark.parametrize(
    "text",
    ["function add(a) { return a } function sub(a) { return a }\n", "const add = 1, sub = 2;\n"],
)
def test_a_neighbour_on_the_same_line_is_not_removed_in_silence(text: str, tree: Tree) -> None:
    path = written(tree, "two.js", text)
    done = tree.applied("replace", "add", "function add(a) { return 0 }")
    assert [one.why for one in done.doubts] == ["sub would be removed, too"]
    assert (done.applied, path.read_text()) == (False, text)
    new = "function add(a) { return 0 } function sub(a) { return a }"
    assert tree.applied("replace", "add", new).applied


@pytest.mark.shows("EDIT-DOUBT")
@pytest.mark.parametrize(
    ("name", "text", "new"),
    [
        ("k.js", "function thing() {}\nthing()\n", "class"),
        ("k.go", "package k\n\nfunc thing() {}\n", "range"),
        ("k.py", "def thing():\n    pass\n", "things!"),
    ],
)
def test_a_name_that_breaks_the_syntax_is_refused(
    name: str, text: str, new: str, tree: Tree
) -> None:
    """Only keywords of Python were known, and a Python name could end with an exclamation mark."""
    written(tree, name, text)
    with pytest.raises(UsageError, match="would no longer parse"):
        tree.edit("rename", "thing", new)


@pytest.mark.shows("EDIT-RENAME")
def test_a_form_feed_does_not_end_a_line_of_a_preview(tree: Tree) -> None:
    written(tree, "feed.py", "def feed():\n    return 1\n\x0c\nfeed()\nx = '\u2028'\n")
    diff = tree.edit("rename", "feed", "fed").diff
    assert "\\ No newline" not in diff
    assert "@@ -1,5 +1,5 @@\n" in diff


@pytest.mark.parametrize("action", ["insert_before", "replace"])
def test_a_byte_order_mark_stays_at_the_beginning(action: Action, tree: Tree) -> None:
    (tree.root / "pay.py").write_bytes(b"\xef\xbb\xbfdef pay(): ...\n")
    assert tree.applied(action, "pay", "def pay(): return 1").applied
    text = (tree.root / "pay.py").read_bytes()
    assert text.startswith(b"\xef\xbb\xbfdef pay(): return 1\n")
    assert text.count(b"\xef\xbb\xbf") == 1


@pytest.mark.parametrize("action", ["insert_before", "replace", "rename"])
def test_a_file_that_is_not_utf8_takes_no_other_characters(action: Action, tree: Tree) -> None:
    before = "# coding: latin-1\nA = '\xe9'\n\n\ndef pay(): ...\n".encode("latin-1")
    (tree.root / "pay.py").write_bytes(before)
    text = "pay\xe9" if action == "rename" else "def pay(): return '\xe9'"
    with pytest.raises(UsageError, match="not UTF-8"):
        tree.edit(action, "pay", text)
    assert tree.applied(action, "pay", text.replace("\xe9", "s")).applied
    assert b"A = '\xe9'" in (tree.root / "pay.py").read_bytes()


def test_strings_keep_their_value_where_their_lines_are_indented(tree: Tree) -> None:
    text = 'def total(self):\n    """The\n    total."""\n    return """a\nb""" + f"""c\n{1}"""'
    assert tree.applied("replace", "Cart.total", text).applied
    lines = (tree.root / "cart.py").read_text().split("\n")
    assert lines[1:7] == [
        "    def total(self):",
        '        """The',
        '        total."""',
        '        return """a',
        'b""" + f"""c',
        '{1}"""',
    ]
