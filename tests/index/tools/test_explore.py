"""Explore: one symbol in one answer. Impact: what a change touches."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from holdfast.errors import UsageError
from holdfast.index.code_index import CodeIndex, open_index, run_here
from holdfast.index.embedding.hashed import HashedEmbedding
from holdfast.index.facts.extract import extract
from holdfast.index.references.changed import changed_symbols
from holdfast.index.tools.explore import explore
from holdfast.index.tools.impact import impact
from holdfast.index.tools.render import Surface
from holdfast.index.tools.render_explore import explore_text
from holdfast.index.tools.render_references import impact_text
from tests.index.wire import manage_index

FILES = {
    "cart.py": """\
class Cart:
    def total(self):
        return price(1)


class Big(Cart):
    def total(self):
        return 2


def price(item):
    return item


def long_one():
""" + "\n".join(f"    step({n})" for n in range(60)) + "\n",
    "pay.py": "from cart import Cart\n\n\ndef pay(cart: Cart):\n    return cart.total()\n",
    "tests/test_pay.py": "from pay import pay\n\n\ndef test_pay():\n    pay(None)\n",
}  # fmt: skip

SURFACE = Surface(call=lambda call: f"{call.tool}({call.args})")


class Tree(NamedTuple):
    """A repository and its index."""

    root: Path
    code: CodeIndex


def git(root: Path, *words: str) -> None:
    settings = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(["git", *settings, *words], cwd=root, check=True, capture_output=True)


@pytest.fixture
def tree(tmp_path: Path) -> Iterator[Tree]:
    root = tmp_path / "tree"
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-qm", "first")
    index = open_index(tmp_path / "home", HashedEmbedding())
    index.start = run_here
    manage_index(index, "create", str(root))
    yield Tree(root, index)
    index.close()


@pytest.mark.shows("EXPLORE-WHOLE")
def test_a_symbol_in_one_answer(tree: Tree) -> None:
    found = explore(tree.code, str(tree.root), "Cart.total")
    text = explore_text(found, SURFACE, tokens_max=1_500)
    assert text.split("\n") == [
        "cart.py:2-3  Cart.total  method",
        "    def total(self):",
        "        return price(1)",
        "called by:",
        "  pay.py:5  pay (4-5)  return cart.total()",
        "calls:",
        "  :3  price (11-12)",
        "implemented or overridden by:",
        "  cart.py:7-8  Big.total  method",
        "tests that reach it:",
        "  tests/test_pay.py: 4 test_pay",
    ]
    assert explore(tree.code, str(tree.root), "nothing").status == "not_found"


def test_overloads_come_after_the_body(tree: Tree) -> None:
    """The first two overloads were shown, and the body was only listed."""
    heads = "".join(f"@overload\ndef pick(a: T{n}) -> T{n}: ...\n\n" for n in range(3))
    text = f"from typing import overload\n\n{heads}def pick(a):\n    b = a\n    return b\n"
    (tree.root / "pick.py").write_text(text)
    shown = explore_text(explore(tree.code, str(tree.root), "pick"), SURFACE, tokens_max=1_500)
    assert shown.startswith("pick.py:12-14  pick  function\ndef pick(a):\n    b = a\n")
    assert "other symbols of that name:\n  pick.py:6-7" in shown


def test_a_line_with_several_mentions_is_listed_once(tree: Tree) -> None:
    """`Policy debounce = Policy{` was listed twice, a mention each."""
    text = "from cart import Cart\n\n\ndef swap(a: Cart, b: Cart):\n    return b, a\n"
    (tree.root / "swap.py").write_text(text)
    shown = explore_text(explore(tree.code, str(tree.root), "Cart"), SURFACE, tokens_max=1_500)
    assert shown.count("swap.py:4  ") == 1


@pytest.mark.shows("EXPLORE-ONE-LOOK")
def test_one_answer_takes_one_look_at_the_tree(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    looks = []
    look = CodeIndex.check_freshness

    def counted(*args: Any, **options: Any) -> Any:
        looks.append(args)
        return look(*args, **options)

    monkeypatch.setattr(CodeIndex, "check_freshness", counted)
    (tree.root / "pay.py").write_text("def pay(cart):\n    return cart\n")
    found = explore(tree.code, str(tree.root), "Cart.total").found
    assert [one.callers for one in found] == [()]
    assert len(looks) == 1


@pytest.mark.shows("EXPLORE-WHOLE")
def test_what_does_not_fit_is_counted(tree: Tree) -> None:
    found = explore(tree.code, str(tree.root), "long_one")
    text = explore_text(found, SURFACE, tokens_max=200)
    assert "… 45 more lines, 31-75" in text
    both = explore(tree.code, str(tree.root), "total")
    assert {one.symbol.symbol_label for one in both.found} == {"Cart.total", "Big.total"}


@pytest.mark.shows("IMPACT-SYMBOLS", "IMPACT-DEPENDENTS")
def test_what_a_change_touches(tree: Tree) -> None:
    changed = FILES["cart.py"].replace("return price(1)", "return price(2)")
    (tree.root / "cart.py").write_text("# moved down\n\n" + changed)
    (tree.root / "new.py").write_text("def fresh():\n    return 1\n")
    found = impact(tree.code, str(tree.root))
    assert [(one.change, one.symbol_label) for one in found.symbols] == [
        ("changed", "Cart.total"),
        ("added", "fresh"),
    ]
    assert [node.symbol_label for node in found.symbols[0].callers] == ["pay", "test_pay"]
    assert [(test.symbol_label, test.reaches) for test in found.tests] == [
        ("test_pay", ("Cart.total",))
    ]
    assert found.complete
    said = impact_text(found, SURFACE, more="")
    assert said.startswith("2 changed symbols in 2 files since HEAD\nchanged Cart.total  method")


@pytest.mark.shows("IMPACT-SYMBOLS")
def test_a_repository_inside_the_tree_is_not_a_change(tree: Tree, tmp_path: Path) -> None:
    """Every symbol of a submodule, or of a work tree inside the tree, was listed as added."""
    other = tmp_path / "other"
    other.mkdir()
    (other / "lib.py").write_text("def of_the_library(): ...\n")
    git(other, "init", "-q")
    git(other, "add", ".")
    git(other, "commit", "-qm", "first")
    allowed = ("-c", "protocol.file.allow=always")
    git(tree.root, *allowed, "submodule", "add", "-q", str(other), "vendor/library")
    git(tree.root, "commit", "-qm", "with a submodule")
    git(tree.root, "worktree", "add", "-q", "trees/second", "-b", "second")
    git(other, "clone", "-q", str(other), str(tree.root / "copy"))
    (tree.root / "vendor" / "new.py").write_text("def fresh():\n    return 1\n")
    found = impact(tree.code, str(tree.root))
    assert [(one.change, one.symbol_label) for one in found.symbols] == [("added", "fresh")]
    assert found.files == ("vendor/new.py",)
    assert not found.complete
    assert found.unread == (
        "copy/ (a repository of its own)",
        "trees/second/ (a repository of its own)",
        "vendor/library/ (a repository of its own)",
    )
    inside = impact(tree.code, str(tree.root / "vendor" / "library"))
    assert [one.symbol_label for one in inside.symbols] == ["fresh"], "the tracked tree decides"


@pytest.mark.shows("IMPACT-SYMBOLS")
def test_a_file_of_a_commit_counts_in_a_directory_that_became_a_repository(tree: Tree) -> None:
    (tree.root / "tests" / ".git").mkdir()
    (tree.root / "tests" / "test_pay.py").write_text("def test_other(): ...\n")
    found = impact(tree.code, str(tree.root))
    assert {(one.change, one.symbol_label) for one in found.symbols} == {
        ("removed", "test_pay"), ("added", "test_other"),
    }  # fmt: skip


@pytest.mark.shows("IMPACT-DEPENDENTS")
def test_what_a_removed_symbol_leaves_behind(tree: Tree) -> None:
    (tree.root / "cart.py").write_text("class Other: ...\n")
    found = impact(tree.code, str(tree.root))
    removed = {one.symbol_label: one for one in found.symbols if one.change == "removed"}
    assert set(removed) == {"Cart", "Cart.total", "Big", "Big.total", "price", "long_one"}
    assert [(p.file, p.line) for p in removed["Cart"].broken] == [("pay.py", 1), ("pay.py", 4)]
    (tree.root / "cart.py").unlink()
    assert {one.change for one in impact(tree.code, str(tree.root)).symbols} == {"removed"}


@pytest.mark.shows("IMPACT-REFUSED")
def test_a_revision_that_is_none_is_refused(tree: Tree, tmp_path: Path) -> None:
    nothing = impact_text(impact(tree.code, str(tree.root)), SURFACE, more="")
    assert nothing == "no file changed since HEAD"
    for since in ("nope", "--output=x", ""):
        with pytest.raises(UsageError, match="no revision"):
            impact(tree.code, str(tree.root), since)
    with pytest.raises(UsageError, match="limit"):
        impact(tree.code, str(tree.root), limit=0)
    plain = tmp_path / "plain"
    plain.mkdir()
    (plain / "a.py").write_text("def a(): ...\n")
    assert impact(tree.code, str(plain)).status == "not_indexed"
    manage_index(tree.code, "create", str(plain))
    with pytest.raises(UsageError, match="not in a git repository"):
        impact(tree.code, str(plain))


@pytest.mark.shows("IMPACT-SYMBOLS")
def test_changed_symbols_are_those_whose_own_lines_differ() -> None:
    """The twin knows which functions were edited, because it edits them."""
    for seed in range(200):
        rng = random.Random(seed)
        bodies = {f"f{n}": rng.randrange(9) for n in range(rng.randrange(1, 8))}
        after = dict(bodies)
        edited = {name for name in after if rng.random() < 0.3}
        for name in edited:
            after[name] = rng.randrange(10, 20)
        gone = {name for name in after if rng.random() < 0.2}
        for name in gone:
            del after[name]
        new = {f"g{n}" for n in range(rng.randrange(3))}
        after |= dict.fromkeys(new, 1)
        order = list(after)
        rng.shuffle(order)
        old_text = "class C:\n    x = 1\n\n" + "".join(
            f"    def {name}(self):\n        return {value}\n\n" for name, value in bodies.items()
        )
        new_text = "# more\nclass C:\n    x = 1\n\n" + "".join(
            f"    def {name}(self):\n        return {after[name]}\n\n" for name in order
        )
        found = changed_symbols(
            extract("a.py", old_text.encode()), old_text.encode(),
            extract("a.py", new_text.encode()), new_text.encode(),
        )  # fmt: skip
        by_change = {
            change: {one.symbol.name for one in found if one.change == change}
            for change in ("changed", "removed", "added")
        }
        assert by_change["changed"] - {"C"} == edited - gone, f"seed {seed}"
        assert (by_change["removed"], by_change["added"]) == (gone, new), f"seed {seed}"
