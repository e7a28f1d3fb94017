"""More features of JavaScript, each as a small program that says which functions its lines call."""

from __future__ import annotations

PROGRAMS = {
    "prototypes: methods and inheritance": """
        // --- a.js
        function Base() {}
        Base.prototype.hello = function () {};
        function Child() {
          Base.call(this);
          // ^ calls a.Base
        }
        Child.prototype = Object.create(Base.prototype);
        Child.prototype.go = function () {
          this.hello();
          // ^ calls a.Base.hello
        };
        new Child().go();
        // ^ calls a.Child
        // ^ calls a.Child.go
        """,
    "bind, call and apply": """
        // --- a.js
        function one() {}
        one.call(null);
        // ^ calls a.one
        one.apply(null, []);
        // ^ calls a.one
        const bound = one.bind(null);
        bound();
        // ^ calls a.one
        """,
    "object literals: methods, and this": """
        // --- a.js
        function one() {}
        const shop = {
          open() {
            this.close();
            // ^ calls a.shop.close
          },
          close: function () {},
          hook: one,
          nested: { run() {} },
        };
        shop.open();
        // ^ calls a.shop.open
        shop.hook();
        // ^ calls a.one
        shop.nested.run();
        // ^ calls a.shop.run
        """,
    "destructuring: nested, with defaults, of parameters": """
        // --- a.js
        function one() {}
        function two() {}
        const { a, b: { c } } = { a: one, b: { c: two } };
        a();
        // ^ calls a.one
        c();
        // ^ calls a.two
        const [x = two] = [];
        x();
        // ^ calls a.two
        function run({ task }) {
          task();
          // ^ calls a.one
        }
        run({ task: one });
        // ^ calls a.run
        """,
    "spread: arrays and objects": """
        // --- a.js
        function one() {}
        function two() {}
        const base = { a: one };
        const more = { ...base, b: two };
        more.a();
        // ^ calls a.one
        const list = [...[one], two];
        list[1]();
        // ^ calls a.two
        """,
    "classes: fields, static, private": """
        // --- a.js
        class Log { write() {} }
        class Cart {
          log = new Log();
          // ^ calls a.Log
          #inner = () => {};
          static make() {
            return new Cart();
            // ^ calls a.Cart
          }
          arrow = () => {
            this.log.write();
            // ^ calls a.Log.write
          };
          go() {
            this.arrow();
            // ^ calls a.Cart.arrow
            this.#inner();
            // ^ calls a.Cart.#inner
          }
        }
        Cart.make().go();
        // ^ calls a.Cart.make
        // ^ calls a.Cart.go
        """,
    "classes: getters and setters": """
        // --- a.js
        function one() {}
        class Cart {
          get hook() { return one; }
        }
        new Cart().hook();
        // ^ calls a.Cart
        // ^ calls a.Cart.hook
        // ^ calls a.one
        """,
    "classes: constructors from above, and expressions": """
        // --- a.js
        class Base { constructor() {} }
        class Child extends Base {}
        new Child();
        // ^ calls a.Child
        // ^ calls a.Base.constructor
        const Named = class { run() {} };
        new Named().run();
        // ^ calls a.Named
        // ^ calls a.Named.run
        """,
    "generators: values and delegation": """
        // --- a.js
        function one() {}
        function* inner() { yield one; }
        function* outer() {
          yield* inner();
          // ^ calls a.inner
        }
        for (const f of outer()) {
          // ^ calls a.outer
          f();
          // ^ calls a.one
        }
        """,
    "async: awaited results": """
        // --- a.js
        class A { go() {} }
        async function load() {
          return new A();
          // ^ calls a.A
        }
        async function main() {
          const a = await load();
          // ^ calls a.load
          a.go();
          // ^ calls a.A.go
          (await load()).go();
          // ^ calls a.load
          // ^ calls a.A.go
        }
        main();
        // ^ calls a.main
        """,
    "promises: callbacks by name": """
        // --- a.js
        function load() { return Promise.resolve(1); }
        function use(x) {}
        function fail(e) {}
        load().then(use).catch(fail);
        // ^ calls a.load
        // ^ calls a.use
        // ^ calls a.fail
        """,
    "promises: what they give": """
        // --- a.js
        class A { go() {} }
        async function load() { return new A(); }
        // ^ calls a.A
        load().then((a) => {
          // ^ calls a.load
          a.go();
          // ^ calls a.A.go
        });
        """,
    "events: handlers": """
        // --- a.js
        const EventEmitter = require("events");
        function ready() {}
        const bus = new EventEmitter();
        bus.on("ready", ready);
        // ^ calls a.ready
        setTimeout(ready, 10);
        // ^ calls a.ready
        """,
    "commonjs: exports in several ways": """
        // --- lib.js
        exports.one = function () {};
        module.exports.two = () => {};
        function three() {}
        exports.three = three;
        // --- whole.js
        module.exports = function main() {};
        // --- app.js
        const lib = require("./lib");
        lib.one();
        // ^ calls lib.one
        lib.two();
        // ^ calls lib.two
        lib.three();
        // ^ calls lib.three
        require("./lib").one();
        // ^ calls lib.one
        const main = require("./whole");
        main();
        // ^ calls whole.default
        const { two: again } = require("./lib");
        again();
        // ^ calls lib.two
        """,
    "modules: default, named, all and dynamic": """
        // --- lib.mjs
        export const one = () => {};
        function two() {}
        export { two as second };
        export default class Shop { open() {} }
        // --- index.mjs
        export * from "./lib.mjs";
        export * as lib from "./lib.mjs";
        // --- app.mjs
        import Shop, { one } from "./lib.mjs";
        import { second, lib } from "./index.mjs";
        one();
        // ^ calls lib.one
        second();
        // ^ calls lib.two
        lib.one();
        // ^ calls lib.one
        new Shop().open();
        // ^ calls lib.Shop
        // ^ calls lib.Shop.open
        async function later() {
          const m = await import("./lib.mjs");
          m.one();
          // ^ calls lib.one
        }
        """,
    "closures: counters and factories": """
        // --- a.js
        function helper() {}
        function make() {
          function step() {
            helper();
            // ^ calls a.helper
          }
          return { step, reset: () => helper() };
          // ^ calls a.helper
        }
        const c = make();
        // ^ calls a.make
        c.step();
        // ^ calls a.make.step
        c.reset();
        // ^ calls a.make.reset
        """,
    "closures: returned arrows": """
        // --- a.js
        function one() {}
        const make = () => one;
        make()();
        // ^ calls a.make
        // ^ calls a.one
        """,
    "immediately called": """
        // --- a.js
        function one() {}
        (function () {
          one();
          // ^ calls a.one
        })();
        (() => {
          one();
          // ^ calls a.one
        })();
        const lib = (function () {
          function inner() {}
          return { inner };
        })();
        lib.inner();
        // ^ calls a.inner
        """,
    "callbacks: arrays": """
        // --- a.js
        function double(x) {}
        function check(x) {}
        [1].map(double);
        // ^ calls a.double
        [1].filter(check).forEach(double);
        // ^ calls a.check
        // ^ calls a.double
        [1].sort(check);
        // ^ calls a.check
        """,
    "callbacks: functions in arrays and maps": """
        // --- a.js
        function one() {}
        function two() {}
        const steps = [one, two];
        steps.forEach((step) => step());
        // ^ calls a.one
        // ^ calls a.two
        const table = new Map();
        table.set("a", one);
        table.get("a")();
        // ^ calls a.one
        const queue = [];
        queue.push(two);
        queue[0]();
        // ^ calls a.two
        const byName = {};
        byName["x"] = one;
        byName.x();
        // ^ calls a.one
        """,
    "callbacks: own functions that take them": """
        // --- a.js
        function one() {}
        function each(list, task) {
          for (const item of list) {
            task(item);
            // ^ calls a.one
          }
        }
        each([1], one);
        // ^ calls a.each
        """,
    "computed names": """
        // --- a.js
        const NAME = "run";
        class A {
          ["go"]() {}
        }
        const box = { ["stop"]() {} };
        new A()["go"]();
        // ^ calls a.A
        // ^ calls a.A.go
        box["stop"]();
        // ^ calls a.box.stop
        """,
    "rest arguments": """
        // --- a.js
        function one() {}
        function two() {}
        function all(...tasks) {
          tasks.forEach((t) => t());
          // ^ calls a.one
          // ^ calls a.two
          for (const t of tasks) {
            t();
            // ^ calls a.one
            // ^ calls a.two
          }
        }
        all(one, two);
        // ^ calls a.all
        function pair(a, b) {
          b();
          // ^ calls a.two
        }
        pair(...[one, two]);
        // ^ calls a.pair
        """,
    "default parameters": """
        // --- a.js
        function one() {}
        function run(task = one) {
          task();
          // ^ calls a.one
        }
        run();
        // ^ calls a.run
        """,
    "optional chaining": """
        // --- a.js
        class A { go() {} }
        function one() {}
        const a = new A();
        // ^ calls a.A
        a?.go();
        // ^ calls a.A.go
        a?.go?.();
        // ^ calls a.A.go
        one?.();
        // ^ calls a.one
        """,
    "template tags": """
        // --- a.js
        function tag(parts) {}
        tag`x`;
        // ^ calls a.tag
        """,
    "branches: one of several": """
        // --- a.js
        function one() {}
        function two() {}
        function go(flag) {
          let f;
          if (flag) {
            f = one;
          } else {
            f = two;
          }
          f();
          // ^ calls a.one
          // ^ calls a.two
          const g = flag ? one : two;
          g();
          // ^ calls a.one
          // ^ calls a.two
        }
        go(1);
        // ^ calls a.go
        """,
    "returns: chained, and of what was given": """
        // --- a.js
        function one() {}
        function same(x) { return x; }
        same(one)();
        // ^ calls a.same
        // ^ calls a.one
        class Q {
          a() { return this; }
          b() { return new Q(); }
          // ^ calls a.Q
        }
        new Q().a().b().a();
        // ^ calls a.Q
        // ^ calls a.Q.a
        // ^ calls a.Q.b
        """,
    "arguments: instances, and passed on": """
        // --- a.js
        class Dog { speak() {} }
        function one() {}
        function hear(animal) {
          animal.speak();
          // ^ calls a.Dog.speak
        }
        const rex = new Dog();
        // ^ calls a.Dog
        hear(rex);
        // ^ calls a.hear
        function inner(task) {
          task();
          // ^ calls a.one
        }
        function outer(task) {
          inner(task);
          // ^ calls a.inner
        }
        outer(one);
        // ^ calls a.outer
        """,
    "assignments: chained, swapped, to members": """
        // --- a.js
        function one() {}
        function two() {}
        let a, b;
        a = b = one;
        a();
        // ^ calls a.one
        b();
        // ^ calls a.one
        [a, b] = [two, one];
        a();
        // ^ calls a.two
        const box = {};
        box.run = one;
        box.run();
        // ^ calls a.one
        """,
}
