"""Calls of JavaScript that were missed, as sources that say what is true of them."""

from __future__ import annotations

import pytest

from holdfast.index.calls.resolve import Resolver
from holdfast.index.facts.extract import extract
from tests.index.claims import check, resolved

CASES = {
    "places that a pattern leaves out": """
        // --- a.js
        function one() {}
        function two() {}
        function three() {}
        const [first, , third] = [one, two, three];
        first();
        // ^ calls a.one
        third();
        // ^ calls a.three
        """,
    "a method of an object literal that returns the object": """
        // --- a.js
        function timer() {
          return { start() { return this; }, stop() {} };
        }
        timer().start().stop();
        // ^ calls a.timer
        // ^ calls a.timer.start
        // ^ calls a.timer.stop
        """,
    "what a module spreads into its exports": """
        // --- cart.js
        class Cart { add() {} }
        exports.open = () => new Cart();
        // ^ calls cart.Cart
        // --- index.js
        module.exports = { ...require("./cart"), version() {} };
        // --- main.js
        const { open, version } = require("./index");
        open().add();
        // ^ calls cart.open
        // ^ calls cart.Cart.add
        """,
    "elements that Array.from passes on, and what a map is given later": """
        // --- a.js
        class Item { show() {} }
        Array.from([new Item()], (item) => item.show());
        // ^ calls a.Item
        // ^ calls a.Item.show
        class Store {
          data = new Map();
          put(item) { this.data.set(item.key, item); }
          load(key) { return this.data.get(key) ?? new Item(); }
          // ^ calls a.Item
        }
        const store = new Store();
        // ^ calls a.Store
        store.put(new Item());
        // ^ calls a.Item
        // ^ calls a.Store.put
        store.load(1).show();
        // ^ calls a.Item.show by assigned from a call
        // ^ calls a.Store.load
        """,
    "an element by an unknown key of an object with an object in it": """
        // --- a.js
        function one() {}
        function two() {}
        const table = { one, nested: { deep: 1 }, two };
        table[String(1)]();
        // ^ calls a.one by one of several
        // ^ calls a.two by one of several
        """,
    "a class without a name that a function returns": """
        // --- a.js
        class Item { constructor() {} label() {} own() {} }
        function named(Base) {
          return class extends Base {
            show() { return this.label(); }
            // ^ calls a.Item.label
            own() { return super.own(); }
            // ^ calls a.Item.own
          };
        }
        const priced = (Base) => class extends Base { price() {} };
        const NamedItem = named(Item);
        // ^ calls a.named
        new NamedItem().show();
        // ^ calls a.Item.constructor by inherited constructor
        // ^ calls a.named.show
        class Both extends named(priced(Item)) {}
        // ^ calls a.named
        // ^ calls a.priced
        new Both().price();
        // ^ calls a.Both
        // ^ calls a.Item.constructor
        // ^ calls a.priced.price
        """,
    "what a promise resolves to": """
        // --- a.js
        const make = (id) => ({ size() { return id; } });
        const load = (id) => new Promise((resolve, reject) => {
          if (!id) return reject(new Error("none"));
          setTimeout(() => resolve(make(id)), 0);
          // ^ calls a.make
        });
        load(1).then((made) => made.size());
        // ^ calls a.load
        // ^ calls a.make.size
        async function main() {
          (await load(2)).size();
          // ^ calls a.load
          // ^ calls a.make.size
        }
        """,
    "named functions and bound methods that are passed": """
        // --- a.js
        function run(task) { return task(); }
        // ^ calls a.Clock.tick
        // ^ calls a.first
        run(function first() {});
        // ^ calls a.run
        [1].find(function second(n) { return n; });
        // ^ calls a.second
        class Clock {
          constructor() { this.tick = this.tick.bind(this); }
          start() { run(this.tick.bind(this)); }
          // ^ calls a.run
          tick() {}
        }
        const clock = new Clock();
        // ^ calls a.Clock.constructor
        clock.tick();
        // ^ calls a.Clock.tick by assigned from a call
        """,
    "keys that a constant of the same function holds": """
        // --- a.js
        function one() {}
        function two() {}
        const table = { one, two };
        function run(other) {
          const key = "one";
          table[key]();
          // ^ calls a.one by element
          for (const [key] of other) table[key]();
          // ^ calls a.one
          // ^ calls a.two
        }
        """,
    "parameters that are taken apart": """
        // --- a.js
        function one() {}
        function two() {}
        function run({ on: { open, close } }, [first, ...rest]) {
          open();
          // ^ calls a.one
          close();
          // ^ calls a.two
          first();
          // ^ calls a.two
          for (const each of rest) each();
          // ^ calls a.one
        }
        run({ on: { open: one, close: two } }, [two, one]);
        // ^ calls a.run
        """,
    "what a static method of a base class makes": """
        // --- a.js
        class Model {
          static build() { return new this(); }
          // ^ calls a.Admin
          // ^ calls a.Model
          title() {}
        }
        class Admin extends Model {
          title() {}
          static build() { const made = super.build(); made.title(); return made; }
          // ^ calls a.Admin.title
          // ^ calls a.Model.build
        }
        Admin.build().title();
        // ^ calls a.Admin.build
        // ^ calls a.Admin.title
        """,
    "values of sequences, late values, maps and several new elements": """
        // --- a.js
        class Tool { use() {} }
        class Shop {
          get tool() { return this.kept ??= new Tool(); }
          // ^ calls a.Tool
        }
        new Shop().tool.use();
        // ^ calls a.Shop
        // ^ calls a.Shop.tool
        // ^ calls a.Tool.use
        const last = (0, one);
        last();
        // ^ calls a.one
        function one() {}
        function two() {}
        const queue = [];
        queue.push(one, two);
        for (const job of queue) job();
        // ^ calls a.one by assigned name
        // ^ calls a.two by assigned name
        const tools = new Map();
        tools.set("a", new Tool());
        // ^ calls a.Tool
        for (const [name, tool] of tools) tool.use();
        // ^ calls a.Tool.use
        function partial(f) { return () => f(); }
        // ^ calls a.one
        partial(one)();
        // ^ calls a.partial
        function Stack() {}
        Object.assign(Stack.prototype, { clear() {} });
        new Stack().clear();
        // ^ calls a.Stack
        // ^ calls a.clear
        """,
    "a nested name of a required module": """
        // --- tools.js
        const inner = { deep() {} };
        exports.inner = inner;
        // --- main.js
        const { inner: { deep } } = require("./tools");
        deep();
        // ^ calls tools.inner.deep
        """,
    "modules that export what others export": """
        // --- cart.js
        class Cart { add() {} }
        module.exports = Cart;
        // --- tools.js
        exports.total = function total() {};
        // --- whole.js
        module.exports = require("./cart");
        // --- parts.js
        exports.Cart = require("./cart");
        exports.sum = require("./tools").total;
        // --- literal.js
        module.exports = {
          name: "shop",
          Cart: require("./cart"), // the first one
          sum: require("./tools").total,
          tools: require("./tools"),
        };
        // --- main.js
        const Whole = require("./whole");
        const parts = require("./parts");
        const { Cart, sum, tools } = require("./literal");
        new Whole().add();
        // ^ calls cart.Cart
        // ^ calls cart.Cart.add
        new parts.Cart().add();
        // ^ calls cart.Cart
        // ^ calls cart.Cart.add
        parts.sum();
        // ^ calls tools.total
        new Cart().add();
        // ^ calls cart.Cart
        // ^ calls cart.Cart.add
        sum();
        // ^ calls tools.total
        tools.total();
        // ^ calls tools.total
        """,
    "a constructor that calls itself with new": """
        // --- a.js
        function Cart(name) {
          if (!(this instanceof Cart)) return new Cart(name);
          // ^ calls a.Cart
          this.name = name;
        }
        Cart.prototype.add = function () { return this; };
        Cart.open = (name) => new Cart(name);
        // ^ calls a.Cart
        Cart("a").add();
        // ^ calls a.Cart
        // ^ calls a.Cart.add
        new Cart("b").add().add();
        // ^ calls a.Cart
        // ^ calls a.Cart.add
        Cart.open("c").add();
        // ^ calls a.Cart.open
        // ^ calls a.Cart.add
        """,
    "a class that a function returns": """
        // --- a.js
        class Item { label() {} }
        function named(Base) {
          return class Named extends Base {
            own() { return this.label(); }
            // ^ calls a.Item.label
          };
        }
        const NamedItem = named(Item);
        // ^ calls a.named
        new NamedItem().own();
        // ^ calls a.named.Named
        // ^ calls a.named.Named.own
        """,
    "static members with words before them": """
        // --- a.ts
        class Node {
          public static make() { return 1; }
          make() { return this.other(); }
          // ^ calls a.Node.other
          other() {}
        }
        """,
    "a class expression with a name of its own": """
        // --- util.js
        exports.Codec = class Codec { decode() {} };
        // --- main.js
        const { Codec } = require("./util");
        new Codec().decode();
        // ^ calls util.Codec
        // ^ calls util.Codec.decode
        var _Shape = class _Shape { static make() { return new _Shape(); } };
        // ^ calls main._Shape
        var Shape = _Shape;
        Shape.make();
        // ^ calls main._Shape.make
        const Outer = class Inner {
          static make() { return Inner.help(); }
          // ^ calls main.Outer.help
          static help() {}
        };
        Outer.make();
        // ^ calls main.Outer.make
        """,
    "a function that returns a function without a name": """
        // --- a.js
        const retry = (times) => (run) => {
          const attempt = () => run(times);
          return attempt;
        };
        function wrap(){return ()=>{return work}}
        const wrapper = {wrap(){return function(){return work}}};
        function work() {}
        retry(2)(work);
        // ^ calls a.retry
        wrap()();
        // ^ calls a.wrap
        wrapper.wrap()();
        // ^ calls a.wrapper.wrap
        const direct = () => { return work; };
        direct()();
        // ^ calls a.direct
        // ^ calls a.work
        """,
    "a method that every subclass overrides": """
        // --- base.js
        export class Report {
          render() { return this.head() + this.body(); }
          // ^ calls base.Report.head by this
          // ^ calls main.Short.head by overridden in a subclass
          // ^ calls base.Report.body by overridden in every subclass
          // ^ calls main.Short.body by overridden in a subclass
          // ^ calls main.Long.body by overridden in a subclass
          head() {}
          body() {}
        }
        export class Page {
          show() { return this.title(); }
          // ^ calls base.Page.title by this
          // ^ calls base.Cover.title by overridden in a subclass
          title() {}
        }
        export class Cover extends Page { title() {} }
        export const page = new Page();
        // ^ calls base.Page
        // --- main.js
        import { Report } from "./base.js";
        class Short extends Report { head() {} body() {} }
        class Long extends Report { body() {} }
        """,
    "an assignment in a branch without braces": """
        // --- a.js
        function fast() {}
        function slow() {}
        let impl = slow;
        if (globalThis.quick) impl = fast;
        impl();
        // ^ calls a.fast by one of several
        // ^ calls a.slow by one of several
        """,
    "this as an argument": """
        // --- a.js
        class Query {
          run() { return new Result(this); }
          // ^ calls a.Result.constructor
        }
        class Result {
          constructor(query) { this.query = query; }
          again() { return this.query.run(); }
          // ^ calls a.Query.run
        }
        """,
    "a member of a prototype that is another one": """
        // --- a.js
        class Lexer { run() {} }
        Lexer.prototype.again = Lexer.prototype.run;
        new Lexer().again();
        // ^ calls a.Lexer
        // ^ calls a.Lexer.run
        """,
    "an object of the class of this": """
        // --- a.js
        class Base { copy() { return new this.constructor(); } }
        // ^ calls a.Base
        class Child extends Base { own() {} }
        new Child().copy().own();
        // ^ calls a.Base.copy
        // ^ calls a.Child
        // ^ calls a.Child.own
        """,
    "an element that a search finds": """
        // --- a.js
        class Rule { holds() {} }
        const rules = [new Rule()];
        // ^ calls a.Rule
        rules.find((rule) => rule).holds();
        // ^ calls a.Rule.holds
        """,
    "this in members that an object is given": """
        // --- app.js
        var app = exports = module.exports = {};
        app.set = function set(key) {};
        app.enable = function enable(key) {
          return this.set(key, true);
          // ^ calls app.app.set
        };
        app.enable("x");
        // ^ calls app.app.enable
        """,
    "this in members of a prototype": """
        // --- view.js
        function View() {}
        View.prototype.lookup = function lookup(name) {
          return this.resolve(name);
          // ^ calls view.View.resolve
        };
        View.prototype.resolve = function resolve(name) {};
        """,
    "a parameter of an arrow function without brackets": """
        // --- a.js
        class Decoder {
          read() {}
        }
        /**
         * @param {Decoder} decoder
         */
        const readOne = decoder => decoder.read();
        // ^ calls a.Decoder.read
        """,
    "the module by exports": """
        // --- a.js
        exports.one = function () {};
        exports.two = function () {
          exports.one();
          // ^ calls a.one
          module.exports.one();
          // ^ calls a.one
        };
        """,
}


@pytest.mark.parametrize("cause", CASES)
def test_calls_that_were_missed(cause: str) -> None:
    check(CASES[cause])


def test_variables_of_a_callback_are_not_those_of_the_script() -> None:
    source = """
        const top = make();
        getter(req, "host", function () {
          var host = this.host;
          return () => { const inner = host.x; };
        });
        (function () { var whole = make(); })();
        define(function () { var module = make(); });
        if (top) { var branch = make(); }
    """
    symbols = [s.name for s in extract("a.js", source.encode()).symbols]
    assert symbols == ["top", "whole", "module", "branch"]


def test_a_named_function_that_is_returned_is_in_the_outline_wherever_it_is() -> None:
    source = """
        const createID = (function () {
          let count = 0;
          return function makeID() { return count++; };
        })();
        list.map(function (x) { return function each() {}; });
    """
    symbols = extract("a.js", source.encode()).symbols
    assert [s.name for s in symbols if s.kind == "function"] == ["makeID", "each"]


def test_what_a_function_called_at_once_makes_is_in_the_outline_wherever_it_is() -> None:
    source = """
        var lib = function () {
          var make = (function () {
            return function (name) {};
          }());
          function use() { make("x"); }
        };
    """
    facts = extract("a.js", source.encode())
    assert [s.qualified for s in facts.symbols] == ["lib", "lib.make", "lib.use"]


def test_of_two_modules_that_one_exports_by_a_condition_neither_is_certain() -> None:
    """React's `index.js`: calls went to the last one with a confidence of .99."""
    member = "exports.pay = function pay() {}\n"
    index = 'if (fast) exports.pay = require("./a").pay; else exports.pay = require("./b").pay;\n'
    files = {
        "a.js": member,
        "b.js": member,
        "i.js": index,
        "u.js": 'const s = require("./i");\ns.pay();\n',
    }
    facts = [extract(path, text.encode()) for path, text in files.items()]
    edges, _ = resolved(Resolver(facts), "u.js")
    reached = {edge.callee: edge.confidence for edge in edges if edge.line == 2}
    assert set(reached) == {one.symbols[0].id for one in facts[:2]}
    assert max(reached.values()) < 0.9


def test_a_string_in_exports_is_no_comment() -> None:
    source = """
        function go() {}
        module.exports = { url: "http://shop", run: go, glob: "src/*", stop: go };
    """
    bound = {one.name for one in extract("a.js", source.encode()).bindings}
    assert {"run", "stop"} <= bound
