"""References over a tree: what is found, what is not, and what is honestly left open."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from holdfast.errors import UsageError
from holdfast.index.calls.confidence import MEASURED
from holdfast.index.calls.linked_program import LinkedProgram
from holdfast.index.calls.resolve import Resolver
from holdfast.index.code_index import CodeIndex, open_index, run_here
from holdfast.index.embedding.hashed import HashedEmbedding
from holdfast.index.facts import extractor
from holdfast.index.facts.extract import extract
from holdfast.index.facts.mentions import find_mentions
from holdfast.index.references.answers import ReferencesAnswer
from holdfast.index.references.find import ReadFile, ReferenceSearch
from holdfast.index.references.target import target_of
from holdfast.index.tools import mention_files
from holdfast.index.tools.named_calls import calls_of_name
from holdfast.index.tools.references import references
from holdfast.index.tools.render import Surface
from holdfast.index.tools.render_references import references_text
from tests.index.wire import manage_index

SHOP = {
    "shop/cart.py": """\
class Cart:
    def __init__(self, items):
        self.items = items

    def total(self):
        return sum(self.items)


class Big(Cart):
    def total(self):
        return 2 * super().total()


def make(items) -> Cart:
    return Cart(items)
""",
    "shop/__init__.py": "from shop.cart import Cart as Basket, make\n",
    "pay.py": """\
import shop.cart
from shop import Basket, make
from shop.cart import Cart


def pay(cart: Cart, total):
    print(total, cart.total)
    other = make([1])
    return isinstance(other, shop.cart.Cart) and other.total()


def unknown(thing):
    total = 3
    return thing.total() + total


HANDLERS = [make, Basket]
""",
}


class Shop(NamedTuple):
    """The tree and its index."""

    root: str
    code: CodeIndex


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    root = tmp_path / "tree"
    for name, text in SHOP.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    index = open_index(tmp_path / "home", HashedEmbedding())
    index.start = run_here
    manage_index(index, "create", str(root))
    yield Shop(str(root), index)
    index.close()


def places(answer: ReferencesAnswer) -> list[str]:
    return [f"{one.file}:{one.line} {one.kind}" for one in answer.references]


@pytest.mark.shows("REF-FOUND")
def test_a_class_is_found_where_it_is_imported_typed_called_inherited_and_held(
    shop: Shop,
) -> None:
    root = shop.root
    found = references(shop.code, root, "Cart")
    assert found.status == "ok"
    assert places(found) == [
        "pay.py:2 import",
        "pay.py:3 import",
        "shop/__init__.py:1 import",
        "shop/__init__.py:1 import",
        "shop/cart.py:9 base",
        "pay.py:6 annotation",
        "shop/cart.py:14 annotation",
        "shop/cart.py:15 call",
        "pay.py:9 value",
        "pay.py:17 value",
    ]
    assert all(one.confidence >= 0.85 for one in found.references)
    assert {one.kind: one.count for one in found.counts}["definition"] == 1
    assert found.complete
    assert found.undecided == 0


def test_a_reference_has_the_measured_confidence_of_its_reason(shop: Shop) -> None:
    """Each step lowered it before, so that a rename doubted what a type had decided."""
    found = references(shop.code, shop.root, "Cart.total")
    by_type = [one for one in found.references if one.reason == "declared type"]
    assert by_type
    assert {one.confidence for one in by_type} == {MEASURED["python"]["declared type"]}


def test_a_member_by_the_name_of_a_class_that_inherits_it(shop: Shop) -> None:
    """`Big.__init__` was an unknown name."""
    found = references(shop.code, shop.root, "Big.__init__", relation="declaration")
    assert [one.symbol_label for one in found.definitions] == ["Cart.__init__"]
    calls = calls_of_name(shop.code, shop.root, "Big.__init__", direction="callers")
    assert calls.status == "ok"
    assert references(shop.code, shop.root, "Big.nothing").reason == "missing_symbol"


def test_a_line_that_mentions_a_symbol_twice_is_printed_once(shop: Shop) -> None:
    found = references(shop.code, shop.root, "Cart")
    surface = Surface(call=lambda call: f"{call.tool}(…)")
    text = references_text(found, surface, more="MORE")
    assert text.count("shop/__init__.py:1") == 1
    assert "imports (4):" in text


@pytest.mark.shows("REF-UNDECIDED")
def test_a_method_is_found_by_the_type_of_its_receiver_and_the_rest_is_counted(
    shop: Shop,
) -> None:
    root = shop.root
    found = references(shop.code, root, "Cart.total")
    assert places(found) == ["pay.py:9 call", "shop/cart.py:11 call", "pay.py:7 value"]
    assert [(one.file, one.line) for one in found.undecided_places] == [("pay.py", 14)]
    assert found.undecided == 1
    only = references(shop.code, root, "Cart.total", kinds=["value"])
    assert places(only) == ["pay.py:7 value"]


@pytest.mark.shows("REF-IMPLEMENTATIONS")
def test_what_implements_and_where_it_is_declared(shop: Shop) -> None:
    root = shop.root
    below = references(shop.code, root, "Cart", relation="implementations")
    assert [one.symbol_label for one in below.implementations] == ["Big"]
    over = references(shop.code, root, "Cart.total", relation="implementations")
    assert [one.symbol_label for one in over.implementations] == ["Big.total"]
    place = references(shop.code, root, "make", relation="declaration")
    assert [(one.file, one.span.start_line) for one in place.definitions] == [("shop/cart.py", 14)]
    assert place.references == ()


@pytest.mark.shows("REF-LOCAL")
def test_a_function_inside_a_function_is_found_there(shop: Shop) -> None:
    (Path(shop.root) / "inner.js").write_text(
        "export function outer(a) {\n  const reject = (e) => { a(e) }\n  a.on(reject)\n"
        "  return () => reject(1)\n}\nfunction other(reject) { reject() }\n"
    )
    found = references(shop.code, shop.root, "outer.reject")
    assert places(found) == ["inner.js:4 call", "inner.js:3 value"]


@pytest.mark.shows("REF-CONSTRUCTOR")
def test_calls_of_a_class_are_references_to_its_constructor(shop: Shop) -> None:
    root = shop.root
    found = references(shop.code, root, "Cart.__init__")
    assert places(found) == ["shop/cart.py:15 call"]


@pytest.mark.shows("REF-HONEST")
def test_a_limit_is_said_and_a_wrong_name_is_helped(shop: Shop) -> None:
    root = shop.root
    cut = references(shop.code, root, "Cart", limit=3)
    assert (len(cut.references), cut.total) == (3, 10)
    assert cut.warnings == ("REFERENCES_MORE:7 more",)
    wrong = references(shop.code, root, "Crat")
    assert wrong.status == "not_found"
    assert references(shop.code, root, "nope", file="pay.py").status == "not_found"
    with pytest.raises(UsageError, match="a kind is one of"):
        references(shop.code, root, "Cart", kinds=["reads"])
    with pytest.raises(UsageError, match="limit"):
        references(shop.code, root, "Cart", limit=0)


@pytest.mark.shows("REF-HONEST")
def test_a_file_that_was_not_read_makes_the_answer_incomplete(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = shop.root
    monkeypatch.setattr(mention_files, "FILES_MAX", 1)
    found = references(shop.code, root, "Cart")
    assert not found.complete
    assert set(found.unread) == {"shop/__init__.py", "shop/cart.py"}


@pytest.mark.shows("REF-HONEST")
def test_a_tree_that_is_not_indexed_is_refused(shop: Shop) -> None:
    manage_index(shop.code, "clear", shop.root)
    assert references(shop.code, shop.root, "Cart").status == "not_indexed"


@pytest.mark.shows("SEC-PARSED-ELSEWHERE")
def test_a_shared_process_sends_the_texts_elsewhere(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = shop.root
    here = references(shop.code, root, "Cart")
    monkeypatch.setattr(extractor, "_shared", True)
    monkeypatch.setattr(mention_files, "find_mentions", None)
    assert places(references(shop.code, root, "Cart")) == places(here)
    extractor.extractor.close()


@pytest.mark.shows("REF-FRESH")
def test_random_edits_leave_stored_and_fresh_answers_equal(shop: Shop) -> None:
    """After each edit the answer of the old generation with changes on top is that of a new one."""
    rng = random.Random(7)
    root = shop.root
    lines = [
        "make([1])",
        "x: Cart = None",
        "def total(): ...",
        "Cart([]).total()",
        "class C(Cart): ...",
    ]
    for step in range(12):
        name = rng.choice([*SHOP, f"new{rng.randrange(3)}.py"])
        path = Path(root) / name
        old = path.read_text() if path.exists() else "from shop.cart import Cart, make\n"
        if name not in SHOP and rng.random() < 0.2 and path.exists():
            path.unlink()
        else:
            path.write_text(old + rng.choice(lines) + "\n")
        asked = rng.choice(["Cart", "make", "Cart.total", "Big"])
        before = references(shop.code, root, asked)
        manage_index(shop.code, "sync", root)
        after = references(shop.code, root, asked)
        assert places(before) == places(after), f"seed 7, step {step}"
        assert before.undecided == after.undecided


@pytest.mark.shows("REF-OVERRIDES")
def test_overrides_are_one_member_in_typescript(tmp_path: Path) -> None:
    root = tmp_path / "tree"
    root.mkdir()
    (root / "shop.ts").write_text(
        "interface Cart { total(): number }\n"
        "class Small implements Cart { total() { return 1 } }\n"
        "class Other { total() { return 3 } }\n"
        "function pay(cart: Cart, small: Small, other: Other) {\n"
        "  cart.total();\n  small.total();\n  other.total();\n}\n"
    )
    index = open_index(tmp_path / "home", HashedEmbedding())
    index.start = run_here
    manage_index(index, "create", str(root))
    try:
        found = references(index, str(root), "Small.total").references
    finally:
        index.close()
    assert [(one.line, one.reason == "override") for one in found] == [(5, True), (6, False)]


@pytest.mark.parametrize(
    ("path", "source", "wanted"),
    [
        ("a.ts", "class A {\n  get size() {\n    let size = 0;\n    size += 1;\n"
                 "    return size;\n  }\n}\nnew A().size;\n", [2, 8]),
        ("a.py", "class A:\n    def tree(self):\n        tree = []\n        return tree\n"
                 "\n\nA().tree()\n", [2, 7]),
    ],
)  # fmt: skip
def test_a_variable_with_the_name_of_its_function_is_not_a_reference(
    path: str, source: str, wanted: list[int]
) -> None:
    """It was reported as certain: the name of the function around it was taken for its own."""
    data = source.encode()
    facts = extract(path, data)
    program = LinkedProgram(Resolver([facts]))
    symbol = next(one for one in facts.symbols if one.parent >= 0)
    target = target_of(program, symbol.id, overrides=True)
    assert target is not None
    mentions = find_mentions(path, data, [symbol.name])
    found = ReferenceSearch(program).judge(target, [ReadFile(path, data, mentions)])
    assert sorted(one.line for one in found.found) == wanted
