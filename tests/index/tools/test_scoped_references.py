"""References by the rules of scopes: which places are certain, which are in doubt, which are not.

A case is a few files in one text. A comment `^ certain NAME…` below a line says which symbols the
line certainly refers to, `^ doubtful NAME…` which it may refer to; every other line must not.
"""

from __future__ import annotations

import pytest

from holdfast.index.calls.linked_program import LinkedProgram
from holdfast.index.calls.program import Thing
from holdfast.index.calls.resolve import Resolver
from holdfast.index.facts.extract import extract
from holdfast.index.facts.mentions import find_mentions
from holdfast.index.references.find import ReadFile, ReferenceSearch
from holdfast.index.references.implementations import override_family
from holdfast.index.references.symbol_edits import CERTAIN
from holdfast.index.references.target import target_of
from tests.index.claims import split

Told = set[tuple[str, int, str, str]]
"""Path, line, "certain" or "doubtful", and the label of a symbol."""


def check(case: str) -> None:
    """Compare the references of every symbol that a claim names with the claims."""
    written = split(case)
    sources = {file.path: "\n".join(file.lines).encode() + b"\n" for file in written}
    program = LinkedProgram(Resolver(extract(path, source) for path, source in sources.items()))
    claimed: Told = {
        (file.path, line, verb, label)
        for file in written
        for line, verb, labels in file.claims
        for label in labels.split()
    }
    told: Told = set()
    for label in {label for *_, label in claimed}:
        told |= _references(program, sources, label)
    assert told == claimed


def _references(program: LinkedProgram, sources: dict[str, bytes], label: str) -> Told:
    views = program.resolver.program.files
    identity = next(
        symbol.id
        for view in views.values()
        for index, symbol in enumerate(view.facts.symbols)
        if view.full(index) == label
    )
    target = target_of(program, identity)
    assert target is not None
    search = ReferenceSearch(program)
    names = search.names(target)
    files = [
        ReadFile(path, text, find_mentions(path, text, names)) for path, text in sources.items()
    ]
    return {
        (one.path, one.line, "certain" if one.confidence >= CERTAIN else "doubtful", label)
        for one in search.judge(target, files).found
    }


@pytest.mark.shows("REF-LOCAL")
def test_a_shadowed_name_is_not_a_reference_in_python() -> None:
    check("""
    # --- shop.py
    total = 1
    # ^ certain shop.total
    limit = 2
    # ^ certain shop.limit
    def price(x):
        match x:
            case {"k": total}:
                return total
            case Cart(total=1):
                return [total for total in x]
    def other(total=total):
    # ^ certain shop.total
        return lambda total: total
    def deleted():
        del total
        return f"{total}"
    def counted():
        total = 1
        def inner():
            nonlocal total
            total += 1
    def changed():
        global total
    # ^ certain shop.total
        total = 4
    # ^ certain shop.total
        return total
    # ^ certain shop.total
    class Cart:
        limit = limit
    # ^ certain shop.limit
        most = limit
        def of(self, limit=limit):
            return limit
        def all(self):
            return limit
    # ^ certain shop.limit
    """)


@pytest.mark.shows("REF-LOCAL")
def test_a_local_symbol_is_not_taken_for_a_parameter_of_an_inner_function() -> None:
    check("""
    # --- shop.py
    def outer():
        def step():
    # ^ certain shop.outer.step
            pass
        def inner(step):
            return step()
        def later():
            return step()
    # ^ certain shop.outer.step
        return [step for step in inner]
    """)


@pytest.mark.shows("REF-KINDS")
def test_the_decorators_of_a_property_refer_to_it() -> None:
    check("""
    # --- shop.py
    class Cart:
        @property
        def size(self):
    # ^ certain shop.Cart.size
            return self._size
        @size.setter
    # ^ certain shop.Cart.size
        def size(self, size):
    # ^ certain shop.Cart.size
            self._size = size
    def use(cart: Cart, size):
        cart.size = size
    # ^ certain shop.Cart.size
    """)


@pytest.mark.shows("REF-KINDS")
def test_a_quoted_type_of_another_module_is_not_ours() -> None:
    check("""
    # --- shop.py
    import json
    import other
    class Cart: ...
    # ^ certain shop.Cart
    def f(a: "json.Cart", b: "list[other.Cart]", c: "list[Cart]"): ...
    # ^ certain shop.Cart other.Cart
    # --- other.py
    class Cart: ...
    # ^ certain other.Cart
    """)


@pytest.mark.shows("REF-HONEST")
def test_a_name_that_is_defined_or_imported_may_be_both() -> None:
    check("""
    # --- shop.py
    try:
        from fast import Cart
    # ^ certain fast.Cart
    # ^ doubtful shop.Cart
    except ImportError:
        class Cart: ...
    # ^ certain shop.Cart
    # ^ doubtful fast.Cart
    def make():
        return Cart()
    # ^ doubtful shop.Cart fast.Cart
    # --- fast.py
    class Cart: ...
    # ^ certain fast.Cart
    # --- use.py
    from shop import Cart
    # ^ doubtful fast.Cart
    # ^ certain shop.Cart
    Cart()
    # ^ doubtful fast.Cart
    # ^ certain shop.Cart
    """)


@pytest.mark.shows("REF-LOCAL")
def test_a_shadowed_name_is_not_a_reference_in_typescript() -> None:
    check("""
    // --- shop.ts
    export const total = 1;
    // ^ certain shop.total
    export function labelled() { total: for (;;) { break total } }
    export function hoisted() { console.log(total); { var total = 3 } }
    export function block() { { const total = 3 } return 1 }
    export function after() { { const total = 3 }
      return total;
    // ^ certain shop.total
    }
    export function taken({ total, rate: [n = total] }: any) { return total }
    export const named = function total() { return total };
    export const made = (function () { const total = 2; return total })();
    export function caught() { try {} catch (total) { return total } }
    export class Cart { constructor(private total: number, n = total) {} }
    export class Box { n = total; }
    // ^ certain shop.total
    for (const total of [1]) { console.log(total) }
    """)


@pytest.mark.shows("REF-LOCAL")
def test_a_type_and_a_value_of_one_name_are_two() -> None:
    check("""
    // --- shop.ts
    export interface Id { n: number }
    // ^ certain shop.Id
    export function generic<Id>(x: Id): Id { return x }
    export function value(Id: number) { return Id as Id }
    // ^ certain shop.Id
    // --- use.ts
    import { Id } from "./shop";
    // ^ certain shop.Id
    export const one = (x: Id): Id => x;
    // ^ certain shop.Id
    """)


@pytest.mark.shows("REF-LOCAL")
def test_the_locals_of_a_function_without_a_name_are_not_symbols_of_the_file() -> None:
    check("""
    // --- shop.ts
    export let rate = () => 4;
    // ^ certain shop.rate
    export const made = (() => { let rate = () => 5; rate = () => rate(); return { rate } })();
    export { rate as speed };
    // ^ certain shop.rate
    // --- use.ts
    import { rate } from "./shop";
    // ^ certain shop.rate
    rate();
    // ^ certain shop.rate
    export { rate };
    // ^ certain shop.rate
    """)


@pytest.mark.shows("REF-LOCAL")
def test_a_method_of_an_object_literal_is_not_a_variable_of_its_function() -> None:
    check("""
    // --- shop.ts
    export function enhance(next: any) {
      let send = () => 1;
    // ^ certain shop.enhance.send
      const api = { send: (x: number) => 2 };
      send = next(api);
    // ^ certain shop.enhance.send
      return { send };
    // ^ certain shop.enhance.send
    }
    """)


@pytest.mark.shows("REF-KINDS")
def test_both_declarations_of_an_interface_are_implemented() -> None:
    check("""
    // --- shop.ts
    export interface Cart { add(): void }
    // ^ certain shop.Cart
    export interface Cart { size: number }
    // ^ certain shop.Cart
    export class Shelf implements Cart { size = 1; add() {} }
    // ^ certain shop.Cart
    """)


@pytest.mark.shows("REF-LOCAL")
def test_a_static_method_does_not_override_that_of_the_base_class() -> None:
    """A rename of one changed the other, and its calls, too."""
    text = """
        export class Step { static make() { return new Step(); } run() { return 1; } }
        export class Replace extends Step { static make() { return 0; } run() { return 2; } }
        export class Odd extends Step { static run() { return 3; } make() { return 4; } }
    """
    program = LinkedProgram(Resolver([extract("steps.ts", text.encode())]))
    view = program.resolver.program.files["steps.ts"]

    def family(label: str) -> set[str]:
        at = next(i for i, _ in enumerate(view.facts.symbols) if view.full(i) == f"steps.{label}")
        things = override_family(program, Thing("symbol", "steps.ts", at))
        return {view.full(one.at).removeprefix("steps.") for one in things}

    assert family("Step.make") == {"Step.make"}
    assert family("Replace.make") == {"Replace.make"}
    assert family("Step.run") == family("Replace.run") == {"Step.run", "Replace.run"}
    assert family("Odd.run") == {"Odd.run"}
    assert family("Odd.make") == {"Odd.make"}


@pytest.mark.shows("REF-LOCAL")
def test_a_name_of_a_whole_commonjs_module_is_what_it_exports() -> None:
    """All mentions in other files were missed, so that a rename left them behind."""
    check("""
    // --- cart.js
    class Cart {
    // ^ certain cart.Cart
      add() {}
    }
    module.exports = Cart;
    // ^ certain cart.Cart
    // --- use.js
    const Cart = require("./cart");
    // ^ certain cart.Cart
    function open(kind) {
      const made = new Cart();
      // ^ certain cart.Cart
      return made instanceof Cart;
      // ^ certain cart.Cart
    }
    function other(Cart) {
      return Cart;
    }
    // --- module.mjs
    import * as Cart from "./cart.js";
    Cart;
    // --- parts.js
    exports.Cart = 1;
    // --- whole.js
    const Cart = require("./parts");
    Cart.Cart;
    """)


@pytest.mark.shows("REF-LOCAL")
def test_members_of_a_class_and_of_its_instances_with_one_name_are_two() -> None:
    case = """
    // --- node.{suffix}
    class Node {{
      {static}encode(key) {{
      // ^ certain node.Node.encode
        return new Node().encode(key);
      }}
      encode(key) {{
        return key;
      }}
      other() {{
        this.encode(1);
        return Node.encode(2);
        // ^ certain node.Node.encode
      }}
      {static}more() {{
        return this.encode(3);
        // ^ certain node.Node.encode
      }}
    }}
    """
    check(case.format(suffix="js", static="static "))
    check(case.format(suffix="ts", static="public static "))


@pytest.mark.shows("REF-LOCAL")
def test_a_variable_hides_the_name_of_the_function_around_it() -> None:
    check("""
    // --- define.js
    define(function parts() {
    // ^ certain define.parts
      var parts = this.host.split(".");
      return parts.slice(1);
    });
    define(function rest() {
    // ^ certain define.rest
      return rest;
      // ^ certain define.rest
    });
    """)
