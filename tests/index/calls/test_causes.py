"""Why calls were missed or wrong before, each as sources that say what is true of them."""

from __future__ import annotations

import pytest

from holdfast.index.calls.linked_program import LinkedProgram
from holdfast.index.calls.resolve import Resolver
from holdfast.index.facts.extract import extract
from tests.index.claims import check

CASES = {
    "a name in the body of a class": """
        # --- a.py
        class Link:
            class Cache: ...
            def limit(): ...
            cache = Cache()
            # ^ calls a.Link.Cache
            most = limit()
            # ^ calls a.Link.limit
            def go(self):
                limit()
                # ^ unresolved
        """,
    "several callers pass different functions": """
        # --- a.py
        def one(): ...
        def two(): ...
        def run(task):
            task()
            # ^ calls a.one by passed as an argument
            # ^ calls a.two by passed as an argument
        run(one)
        run(two)
        list(map(one, []))
        # ^ calls a.one by called back
        # ^ external list
        """,
    "what is above, below and behind a class": """
        # --- a.py
        class Meta(type):
            def make(cls): ...
        class Base(metaclass=Meta):
            def __init__(self):
                self.step()
                # ^ calls a.Child.step by defined in a subclass
        class Left(Base): ...
        class LeftMost:
            def hello(self): ...
        class Middle(LeftMost): ...
        class Right:
            def hello(self): ...
        class Child(Left, Middle, Right):
            def step(self): ...
        Child.make()
        # ^ calls a.Meta.make by metaclass
        child = Child()
        # ^ calls a.Child
        # ^ calls a.Base.__init__ by inherited constructor
        child.hello()
        # ^ calls a.LeftMost.hello
        """,
    "a wrapper runs in the place of what it decorates": """
        # --- a.py
        def log(function):
            def wrapper():
                function()
                # ^ calls a.work
            return wrapper
        def same(function):
            return function
        @log
        def work(): ...
        @same
        def other(): ...
        work()
        # ^ calls a.work
        # ^ calls a.log.wrapper by decorated
        other()
        # ^ calls a.other
        """,
    "a module with import in its name": """
        # --- csv_import.py
        def load(): ...
        # --- pkg/importer.py
        def run(): ...
        # --- main.py
        from csv_import import load
        # ^ imports csv_import:load
        from pkg.importer import run
        # ^ imports pkg.importer:run
        load()
        # ^ calls csv_import.load
        run()
        # ^ calls pkg.importer.run
        """,
    "a field from a parameter": """
        # --- shop.py
        class Repo:
            def save_all(self): ...
        class Cart:
            def __init__(self, repo: Repo, count=0):
                self.repo = repo
                local = Repo()
                self.other = local
            def go(self):
                self.repo.save_all()
                # ^ calls shop.Repo.save_all by field type
                self.other.save_all()
                # ^ calls shop.Repo.save_all by field type
        """,
    "a field from a parameter, TypeScript": """
        // --- shop.ts
        class Repo { saveAll() {} }
        class Cart {
          repo;
          constructor(repo: Repo) {
            this.repo = repo;
          }
          go() {
            this.repo.saveAll();
            // ^ calls shop.Repo.saveAll by field type
          }
        }
        """,
    "a field from a parameter, PHP": """
        # --- shop.php
        <?php
        class Repo { function saveAll() {} }
        class Cart {
            function __construct(Repo $repo) {
                $this->repo = $repo;
            }
            function go() {
                $this->repo->saveAll();
                // ^ calls Repo.saveAll by field type
            }
        }
        """,
    "a field from a local, Ruby": """
        # --- shop.rb
        class Repo
          def save_all; end
        end
        class Cart
          def initialize
            repo = Repo.new
            @repo = repo
          end
          def go
            @repo.save_all
            # ^ calls Repo.save_all by field type
          end
        end
        """,
    "a property as a receiver": """
        # --- shop.py
        class Store:
            def flush_all(self): ...
        class Cart:
            @property
            def store(self) -> Store: ...
            @store.setter
            def store(self, value: Store) -> None: ...
            @property
            def bare(self):
                return Store()
            def go(self):
                self.store.flush_all()
                # ^ calls shop.Cart.store
                # ^ calls shop.Store.flush_all by property
                self.bare.flush_all()
                # ^ calls shop.Cart.bare
                # ^ calls shop.Store.flush_all by property
        """,
    "a getter as a receiver": """
        // --- shop.ts
        class Store { flushAll() {} }
        class Cart {
          get store(): Store { return new Store(); }
          go() {
            this.store.flushAll();
            // ^ calls shop.Cart.store
            // ^ calls shop.Store.flushAll by property
          }
        }
        """,
    "private members": """
        // --- shop.js
        class Store { flush() {} }
        class Cart {
          #store = new Store();
          #flush() {}
          go() {
            this.#flush();
            // ^ calls shop.Cart.#flush by this
            this.#store.flush();
            // ^ calls shop.Store.flush by field type
          }
        }
        """,
    "types in comments": """
        // --- shop.js
        class Store { flushAll() {} }
        class Cart {
          constructor() {
            /** @type {Store} */
            this.store = null;
          }
          /**
           * @param {Store} store
           * @returns {Store}
           */
          swap(store) {
            store.flushAll();
            // ^ calls shop.Store.flushAll by declared type
            this.store.flushAll();
            // ^ calls shop.Store.flushAll by field type
            return old();
          }
          go() {
            this.swap().flushAll();
            // ^ calls shop.Store.flushAll by this
            // ^ calls shop.Cart.swap
          }
        }
        """,
    "super with a base outside of the tree": """
        # --- shop.py
        from other import Base
        class Cart(Base):
            def settle(self):
                super().settle()
                # ^ external the base class of shop.Cart.settle
        """,
    "names of the platform are no evidence": """
        // --- shop.js
        class Cart { catch() {} splice() {} addEventListener() {} }
        function go(x) {
          x.catch(1);
          // ^ unresolved
          x.splice(1);
          // ^ unresolved
          x.addEventListener(1);
          // ^ unresolved
        }
        """,
    "a value of many lines": """
        # --- shop.py
        class Cart:
            def total(self): ...
        def go():
            cart = Cart(
                "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
                "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
                "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
                "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
                "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
            )
            cart.total()
            # ^ calls shop.Cart.total by assigned from a call
        """,
    "a value of many lines, Java": """
        // --- Shop.java
        class Cart { Cart(String a, String b, String c, String d) {} void total() {} }
        class Shop {
          void go() {
            var cart = new Cart(
              "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
              "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
              "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
              "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
            cart.total();
            // ^ calls Cart.total
          }
        }
        """,
    "one of several values": """
        # --- shop.py
        from typing import cast, Optional, Union
        class Cart:
            def total(self): ...
            def both(self): ...
        class Box:
            def both(self): ...
        def go(given: Optional[Cart], any_of: Union[Cart, None], x, many: Cart | Box):
            cart = given or Cart()
            cart.total()
            # ^ calls shop.Cart.total
            other = x if x else Cart()
            other.total()
            # ^ calls shop.Cart.total
            any_of.total()
            # ^ calls shop.Cart.total by declared type
            cast(Cart, x).total()
            # ^ calls shop.Cart.total
            many.total()
            # ^ calls shop.Cart.total
            many.both()
            # ^ calls shop.Cart.both
            # ^ calls shop.Box.both
        """,
    "a check of the type": """
        # --- shop.py
        class Cart:
            def total(self): ...
        class Box:
            def weigh(self): ...
        def go(x):
            if isinstance(x, Cart):
                x.total()
                # ^ calls shop.Cart.total
            elif isinstance(x, Box):
                x.weigh()
                # ^ calls shop.Box.weigh
            if not isinstance(x, Box):
                return
            x.weigh()
            # ^ calls shop.Box.weigh
        """,
    "elements": """
        # --- shop.py
        class Cart:
            def total(self): ...
        def go(carts: list[Cart], by_name: dict[str, Cart], pair: tuple[int, Cart]):
            for cart in carts:
                cart.total()
                # ^ calls shop.Cart.total
            carts[0].total()
            # ^ calls shop.Cart.total
            by_name["a"].total()
            # ^ calls shop.Cart.total
            by_name.get("a").total()
            # ^ calls shop.Cart.total
            for name, each in by_name.items():
                each.total()
                # ^ calls shop.Cart.total
            for number, one in enumerate(carts):
                one.total()
                # ^ calls shop.Cart.total
            [c.total() for c in carts]
            # ^ calls shop.Cart.total
            _, second = pair
            second.total()
            # ^ calls shop.Cart.total
        """,
    "elements, casts and bounds, TypeScript": """
        // --- shop.ts
        class Cart { total() {} }
        type Basket = Cart;
        function go<T extends Cart>(carts: Cart[], byName: Map<string, Cart>, x: unknown, t: T) {
          for (const cart of carts) {
            cart.total();
            // ^ calls shop.Cart.total
          }
          byName.get("a")?.total();
          // ^ calls shop.Cart.total
          (x as Cart).total();
          // ^ calls shop.Cart.total
          carts.forEach((each) => each.total());
          // ^ calls shop.Cart.total
          t.total();
          // ^ calls shop.Cart.total
          if (x instanceof Cart) {
            x.total();
            // ^ calls shop.Cart.total
          }
          const same: Basket = make();
          same.total();
          // ^ calls shop.Cart.total
        }
        function each(work: (cart: Cart) => void) {}
        function user() {
          each((given) => given.total());
          // ^ calls shop.Cart.total
          // ^ calls shop.each
        }
        """,
    "a factory that returns an object": """
        // --- shop.js
        export function makeShop() {
          function hidden() {}
          return {
            open() {},
            close: () => {},
            hide: hidden,
          };
        }
        const shop = makeShop();
        shop.open();
        // ^ calls shop.makeShop.open
        shop.close();
        // ^ calls shop.makeShop.close
        shop.hide();
        // ^ calls shop.makeShop.hidden
        """,
    "functions as values": """
        # --- shop.py
        def one(): ...
        def two(): ...
        def apply(work, last=None):
            work()
            # ^ calls shop.one by passed as an argument
        apply(one)
        TABLE = {"a": one, "b": two}
        def make():
            def inner(): ...
            return inner
        def go():
            TABLE["b"]()
            # ^ calls shop.two
            make()()
            # ^ calls shop.make
            # ^ calls shop.make.inner
            a = b = one
            a()
            # ^ calls shop.one
            c, d = one, two
            d()
            # ^ calls shop.two
            held = make()
            held()
            # ^ calls shop.make.inner
        """,
    "protocols": """
        # --- shop.py
        class Line:
            def show(self): ...
        class Cart:
            def __enter__(self): return self
            def __iter__(self): return iter([Line()])
            def __call__(self): ...
            def __getitem__(self, at): return Line()
            def total(self): ...
        def go():
            with Cart() as cart:
            # ^ calls shop.Cart.__enter__
                # ^ calls shop.Cart
                cart.total()
                # ^ calls shop.Cart.total
            cart()
            # ^ calls shop.Cart.__call__
            cart[0].show()
            # ^ calls shop.Cart.__getitem__
            # ^ calls shop.Line.show
        """,
    "the module of a require, call and apply": """
        // --- lib.js
        exports.work = function () {};
        // --- main.js
        require("./lib").work();
        // ^ calls lib.work
        // ^ external require
        function plain() {}
        plain.call(null);
        // ^ calls main.plain
        """,
    "a sibling without a package file": """
        # --- app/tool.py
        def run(): ...
        # --- app/main.py
        from . import tool
        tool.run()
        # ^ calls app.tool.run
        """,
    "a method of an object is not in scope": """
        // --- shop.js
        import { load } from "./lib";
        const api = {
          load() {
            return load();
            // ^ calls lib.load
          },
        };
        function outer() {
          return {
            load() {
              return load();
              // ^ calls lib.load
            },
          };
        }
        // --- lib.js
        export function load() {}
        """,
    "a parameter before it is assigned": """
        # --- shop.py
        class Cart:
            def total(self): ...
        class Box:
            def total(self): ...
        def go(x: Cart):
            x.total()
            # ^ calls shop.Cart.total
            x = Box()
            x.total()
            # ^ calls shop.Box.total
        """,
    "a value of a module that changes": """
        # --- shop.py
        class Cart:
            def total(self): ...
        class Box:
            def total(self): ...
        held = Cart()
        held.total()
        # ^ calls shop.Cart.total
        held = Box()
        held.total()
        # ^ calls shop.Box.total
        def later():
            held.total()
            # ^ calls shop.Box.total
        """,
    "calls of values are recorded": """
        // --- shop.js
        function one() {}
        const table = { a: one };
        function go(list, i) {
          table["a"]();
          // ^ calls shop.one
          list[i]();
          // ^ unresolved
          (function () {})();
          // ^ unresolved
          (0, one)();
          // ^ calls shop.one
        }
        """,
    "a type and a value of one name": """
        // --- core.ts
        export interface Maker<T> {
          init(inst: T): void;
        }
        export function Maker<T>(name: string, build: (inst: T) => void): Maker<T> {
          function init(inst: T) {}
          return { init };
        }
        // --- cart.ts
        import * as core from "./core";
        export interface Cart { check(): void }
        export const Cart: core.Maker<Cart> = core.Maker("cart", (inst) => {
          inst.check();
          // ^ calls cart.Cart.check
        });
        // --- main.ts
        import { Cart } from "./cart";
        Cart.init(null);
        // ^ calls core.Maker.init
        """,
    "parameters that are taken apart": """
        // --- shop.ts
        class Cart { pay() {} }
        interface Context { cart: Cart; list: Cart[] }
        function buy({ cart, list: [first], cart: renamed }: Context) {
          cart.pay();
          // ^ calls shop.Cart.pay
          renamed.pay();
          // ^ calls shop.Cart.pay
          first.pay();
          // ^ calls shop.Cart.pay
        }
        """,
    "object types, members of types, typeof": """
        // --- shop.ts
        class Cart { pay() {} }
        const shared = new Cart();
        function make() { return new Cart(); }
        type Shop = { cart: Cart; };
        type Mall = { name: string } & { shop: Shop };
        function a(shop: Shop, mall: Mall, one: Shop["cart"], two: typeof shared) {
          shop.cart.pay();
          // ^ calls shop.Cart.pay
          mall.shop.cart.pay();
          // ^ calls shop.Cart.pay
          one.pay();
          // ^ calls shop.Cart.pay
          two.pay();
          // ^ calls shop.Cart.pay
        }
        function b(it: { cart: Cart; make(): Cart }, by: { [id: string]: Cart }) {
          it.cart.pay();
          // ^ calls shop.Cart.pay
          it.make().pay();
          // ^ calls shop.Cart.pay
          by["x"].pay();
          // ^ calls shop.Cart.pay
        }
        function c(made: ReturnType<typeof make>) {
          made.pay();
          // ^ calls shop.Cart.pay
        }
        """,
    "functions typed by what they are assigned to": """
        // --- shop.ts
        class Cart { pay() {} }
        type Buy = (cart: Cart) => void;
        interface Shop { buy: Buy; sell(cart: Cart): void }
        const buy: Buy = (cart) => {
          cart.pay();
          // ^ calls shop.Cart.pay
        };
        const shop: Shop = {
          buy(cart) {
            cart.pay();
            // ^ calls shop.Cart.pay
          },
          sell(cart) {
            cart.pay();
            // ^ calls shop.Cart.pay
          },
        };
        function buyer(): Buy {
          return (cart) => {
            cart.pay();
            // ^ calls shop.Cart.pay
          };
        }
        """,
    "a declared this, and this in a static method": """
        // --- shop.ts
        class Cart {
          pay() {}
          static make() { return this.fresh(); }
          // ^ calls shop.Cart.fresh
          static fresh() { return new Cart(); }
          fresh() {}
        }
        function payAll(this: Cart) {
          this.pay();
          // ^ calls shop.Cart.pay
        }
        """,
    "a base class with unions in its arguments": """
        // --- shop.ts
        class Box<T, U> { open() {} }
        class Gift<T> extends Box<T | null, { extends: string }> {
          give() {
            this.open();
            // ^ calls shop.Box.open
          }
        }
        """,
    "a class that is the module": """
        // --- cart.js
        module.exports = class Cart {
          pay() {}
          static make() {}
        }
        // --- main.js
        const Cart = require('./cart');
        class Gift extends Cart {
          give() {
            super.pay();
            // ^ calls cart.Cart.pay
          }
        }
        Cart.make();
        // ^ calls cart.Cart.make
        """,
    "a field does not hide an import": """
        # --- pkg/__init__.py
        # --- pkg/cli.py
        def run(): ...
        # --- pkg/app.py
        from . import cli
        class App:
            def __init__(self):
                self.cli = open("x")
            def go(self):
                cli.run()
                # ^ calls pkg.cli.run
        """,
    "a class that is wrapped again": """
        # --- shop.py
        from outside import wrap
        class Cart:
            def pay(self): ...
        Cart = wrap(Cart)
        def go():
            Cart()
            # ^ calls shop.Cart
        """,
    "a package is not a folder of modules": """
        # --- pkg/__init__.py
        # --- pkg/json/__init__.py
        def dumps(x): ...
        # --- pkg/json/provider.py
        import json
        json.dumps(1)
        # ^ external json.dumps
        """,
}


@pytest.mark.parametrize("cause", CASES)
@pytest.mark.shows("CALLS-CAUSES")
def test_calls_that_were_missed_or_wrong(cause: str) -> None:
    check(CASES[cause])


@pytest.mark.shows("CALLS-OF-CLASS")
def test_who_calls_a_class_is_who_calls_its_constructor() -> None:
    """The constructor is the callee of the edge, and the question was about the class."""
    facts = extract("shop.py", b"class Cart:\n    def __init__(self): ...\ndef go():\n    Cart()\n")
    program = LinkedProgram(Resolver([facts]))
    cart, made, go = facts.symbols
    assert [e.caller for e in program.incoming(cart.id)] == [go.id]
    assert program.incoming(made.id) == program.incoming(cart.id)


@pytest.mark.shows("CALLS-OVERLOADS")
def test_overloads_are_one_function_to_its_callers() -> None:
    text = b"function f(a: string): void;\nfunction f(a: any) {}\nfunction go() { f('x'); }\n"
    facts = extract("a.ts", text)
    program = LinkedProgram(Resolver([facts]))
    first, second, go = facts.symbols
    for one in (first, second):
        assert [e.caller for e in program.incoming(one.id)] == [go.id]


@pytest.mark.shows("CALLS-CAUSES")
def test_callers_are_found_through_values() -> None:
    """The names a function is called by are found in lists, results and arguments."""
    text = (
        "def one(): ...\ndef two(): ...\ndef three(): ...\n"
        "def apply(work):\n    work()\n"
        "def make():\n    return two\n"
        "TABLE = [three]\n"
        "def go():\n    apply(one)\n    make()()\n    TABLE[0]()\n"
    )
    facts = extract("a.py", text.encode())
    program = LinkedProgram(Resolver([facts]))
    by_name = {s.name: s.id for s in facts.symbols}
    callers = {
        name: {e.caller for e in program.incoming(by_name[name])}
        for name in ("one", "two", "three")
    }
    assert callers == {
        "one": {by_name["apply"]},
        "two": {by_name["go"]},
        "three": {by_name["go"]},
    }


@pytest.mark.shows("CALLS-CALLERS-BOUNDED")
def test_callers_by_its_own_name_are_found_however_many_other_names_it_has() -> None:
    """`run` is held and passed under thousands of names: nearly every call of a large tree."""
    source = "def run(): ...\n" + "".join(
        f"def by_name_{n}():\n    run()\ndef by_alias_{n}():\n    held_{n} = run\n    held_{n}()\n"
        for n in range(6)
    )
    facts = extract("shop.py", source.encode())
    ids = {symbol.name: symbol.id for symbol in facts.symbols}
    whole = LinkedProgram(Resolver([facts]))
    assert len(whole.incoming(ids["run"])) == 12
    assert not whole.walk(ids["run"], "callers", 1, 100).partial
    bounded = LinkedProgram(Resolver([facts]), resolved_max=3)
    found = bounded.walk(ids["run"], "callers", 1, 100)
    assert {ids[f"by_name_{n}"] for n in range(6)} <= {edge.caller for edge in found.edges}
    assert found.partial
    assert not bounded.walk(ids["run"], "callees", 1, 100).partial
    bounded.replace(facts)
    assert not bounded.partial
