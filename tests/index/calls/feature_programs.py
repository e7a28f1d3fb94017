"""Two small programs for each feature, in Python and in JavaScript."""

from __future__ import annotations

PYTHON = {
    "assignments: a chain and a tuple": """
        # --- a.py
        def one(): ...
        def two(): ...
        x = y = one
        p, (q, r) = one, (two, one)
        x()
        # ^ calls a.one
        y()
        # ^ calls a.one
        p()
        # ^ calls a.one
        q()
        # ^ calls a.two
        """,
    "assignments: a name that changes, and an attribute": """
        # --- a.py
        def one(): ...
        def two(): ...
        class Box: ...
        f = one
        f()
        # ^ calls a.one
        f = two
        f()
        # ^ calls a.two
        if (g := one):
            g()
            # ^ calls a.one
        box = Box()
        # ^ calls a.Box
        box.run = two
        box.run()
        # ^ calls a.two
        """,
    "closures: a function that returns a function": """
        # --- a.py
        def helper(): ...
        def make():
            def inner():
                helper()
                # ^ calls a.helper
            return inner
        make()()
        # ^ calls a.make
        # ^ calls a.make.inner
        held = make()
        # ^ calls a.make
        held()
        # ^ calls a.make.inner
        """,
    "closures: a parameter of the outer function": """
        # --- a.py
        def work(): ...
        def outer(task):
            def inner():
                task()
                # ^ calls a.work
            inner()
            # ^ calls a.outer.inner
        outer(work)
        # ^ calls a.outer
        """,
    "containers: a dictionary and a list": """
        # --- a.py
        def one(): ...
        def two(): ...
        TABLE = {"a": one, "b": two}
        STEPS = [two]
        TABLE["a"]()
        # ^ calls a.one
        for step in STEPS:
            step()
            # ^ calls a.two
        """,
    "containers: elements by type": """
        # --- a.py
        class Line:
            def show(self): ...
        class Page:
            def __init__(self):
                self.lines: dict[str, list[Line]] = {}
            def show(self):
                for name, lines in self.lines.items():
                    lines[0].show()
                    # ^ calls a.Line.show
                for line in self.lines["a"]:
                    line.show()
                    # ^ calls a.Line.show
        made = [Line() for _ in range(3)]
        # ^ calls a.Line
        made[1].show()
        # ^ calls a.Line.show
        """,
    "decorators: a wrapper": """
        # --- a.py
        def log(function):
            def wrapper():
                function()
                # ^ calls a.work
            return wrapper
        @log
        # ^ calls a.log
        def work(): ...
        work()
        # ^ calls a.work
        # ^ calls a.log.wrapper
        """,
    "decorators: with arguments, and a property": """
        # --- a.py
        def retry(times):
            def decorate(function):
                return function
            return decorate
        class Part:
            def run(self): ...
        class Cart:
            @property
            def part(self):
                return Part()
                # ^ calls a.Part
            @retry(3)
            # ^ calls a.retry
            # ^ calls a.retry.decorate
            def go(self):
                self.part.run()
                # ^ calls a.Cart.part
                # ^ calls a.Part.run
        Cart().go()
        # ^ calls a.Cart
        # ^ calls a.Cart.go
        """,
    "generators: what is yielded": """
        # --- a.py
        class Item:
            def use(self): ...
        def items():
            yield Item()
            # ^ calls a.Item
        for item in items():
            # ^ calls a.items
            item.use()
            # ^ calls a.Item.use
        next(items()).use()
        # ^ calls a.items
        # ^ calls a.Item.use
        """,
    "generators: an iterator": """
        # --- a.py
        class Item:
            def use(self): ...
        class Items:
            def __iter__(self):
                return self
            def __next__(self):
                return Item()
                # ^ calls a.Item
        for item in Items():
        # ^ calls a.Items.__iter__
        # ^ calls a.Items.__next__
            # ^ calls a.Items
            item.use()
            # ^ calls a.Item.use
        """,
    "inheritance: super and an override": """
        # --- a.py
        class Base:
            def __init__(self):
                self.setup()
                # ^ calls a.Base.setup
            def setup(self): ...
        class Child(Base):
            def __init__(self):
                super().__init__()
                # ^ calls a.Base.__init__
            def go(self):
                self.setup()
                # ^ calls a.Base.setup
        Child().go()
        # ^ calls a.Child.__init__
        # ^ calls a.Child.go
        """,
    "inheritance: several bases": """
        # --- a.py
        class Left:
            def left(self): ...
            def both(self): ...
        class Right:
            def right(self): ...
            def both(self): ...
        class Mixed(Left, Right):
            def go(self):
                self.left()
                # ^ calls a.Left.left
                self.right()
                # ^ calls a.Right.right
                self.both()
                # ^ calls a.Left.both
        """,
    "imports: relative, aliased and re-exported": """
        # --- pkg/__init__.py
        from .core import run as start
        # --- pkg/core.py
        def run(): ...
        # --- main.py
        import pkg
        from pkg import start as go
        import pkg.core as core
        pkg.start()
        # ^ calls pkg.core.run
        go()
        # ^ calls pkg.core.run
        core.run()
        # ^ calls pkg.core.run
        """,
    "imports: inside a function, and everything": """
        # --- tools.py
        def hammer(): ...
        def saw(): ...
        # --- main.py
        from tools import *
        def go():
            from tools import saw as cut
            cut()
            # ^ calls tools.saw
        hammer()
        # ^ calls tools.hammer
        go()
        # ^ calls main.go
        """,
    "keyword arguments: functions by name": """
        # --- a.py
        def one(): ...
        def two(): ...
        def run(first, second):
            first()
            # ^ calls a.two
            second()
            # ^ calls a.one
        run(second=one, first=two)
        # ^ calls a.run
        """,
    "keyword arguments: a default": """
        # --- a.py
        def usual(): ...
        def special(): ...
        def run(*, task):
            task()
            # ^ calls a.special
        class Job:
            def __init__(self, work):
                self.work = work
            def go(self):
                self.work()
                # ^ calls a.usual
        run(task=special)
        # ^ calls a.run
        Job(work=usual).go()
        # ^ calls a.Job.__init__
        # ^ calls a.Job.go
        """,
    "returns: an object and self": """
        # --- a.py
        class Query:
            def where(self):
                return self
            def run(self): ...
        def query():
            return Query()
            # ^ calls a.Query
        query().where().run()
        # ^ calls a.query
        # ^ calls a.Query.where
        # ^ calls a.Query.run
        """,
    "returns: one of two, and a tuple": """
        # --- a.py
        class A:
            def go(self): ...
        def maybe(x):
            if x:
                return None
            return A()
            # ^ calls a.A
        def pair():
            return 1, A()
            # ^ calls a.A
        maybe(1).go()
        # ^ calls a.maybe
        # ^ calls a.A.go
        _, second = pair()
        # ^ calls a.pair
        second.go()
        # ^ calls a.A.go
        """,
}

JAVASCRIPT = {
    "assignments: a name and a pattern": """
        // --- a.js
        function one() {}
        function two() {}
        const f = one;
        const [p, q] = [one, two];
        const { r } = { r: two };
        f();
        // ^ calls a.one
        q();
        // ^ calls a.two
        r();
        // ^ calls a.two
        """,
    "assignments: a member, and a name that changes": """
        // --- a.js
        function one() {}
        function two() {}
        const box = {};
        box.run = function () {};
        box.run();
        // ^ calls a.box.run
        let g = one;
        g();
        // ^ calls a.one
        g = two;
        g();
        // ^ calls a.two
        """,
    "closures: a function that returns a function": """
        // --- a.js
        function helper() {}
        function make() {
          return function inner() {
            helper();
            // ^ calls a.helper
          };
        }
        const held = make();
        // ^ calls a.make
        held();
        // ^ calls a.make.inner
        """,
    "closures: a parameter of the outer function": """
        // --- a.js
        function work() {}
        function outer(task) {
          const inner = () => {
            task();
            // ^ calls a.work
          };
          inner();
          // ^ calls a.outer.inner
        }
        outer(work);
        // ^ calls a.outer
        """,
    "containers: an object and an array": """
        // --- a.js
        function one() {}
        function two() {}
        const table = { a: one, b: two };
        const steps = [two];
        table["a"]();
        // ^ calls a.one
        table.b();
        // ^ calls a.two
        for (const step of steps) {
          step();
          // ^ calls a.two
        }
        """,
    "containers: elements that are made": """
        // --- a.js
        class Line { show() {} }
        class Page {
          constructor() {
            this.lines = [new Line()];
            // ^ calls a.Line
          }
          show() {
            this.lines[0].show();
            // ^ calls a.Line.show
            for (const line of this.lines) {
              line.show();
              // ^ calls a.Line.show
            }
          }
        }
        """,
    "decorators: a wrapper": """
        // --- a.js
        function log(task) {
          return () => {
            task();
            // ^ calls a.work
          };
        }
        function work() {}
        const logged = log(work);
        // ^ calls a.log
        """,
    "decorators: of a class": """
        // --- a.js
        function sealed(target) {}
        @sealed
        // ^ calls a.sealed
        class Cart {
          go() {}
        }
        new Cart().go();
        // ^ calls a.Cart
        // ^ calls a.Cart.go
        """,
    "generators: what is yielded": """
        // --- a.js
        class Item { use() {} }
        function* items() {
          yield new Item();
          // ^ calls a.Item
        }
        for (const item of items()) {
          // ^ calls a.items
          item.use();
          // ^ calls a.Item.use
        }
        """,
    "generators: inside a class": """
        // --- a.js
        class Item { use() {} }
        class Items {
          *all() {
            yield new Item();
            // ^ calls a.Item
          }
          go() {
            for (const item of this.all()) {
              // ^ calls a.Items.all
              item.use();
              // ^ calls a.Item.use
            }
          }
        }
        """,
    "inheritance: super and an override": """
        // --- a.js
        class Base {
          constructor() {
            this.setup();
            // ^ calls a.Base.setup
          }
          setup() {}
        }
        class Child extends Base {
          constructor() {
            super();
            // ^ calls a.Base.constructor
          }
          go() {
            super.setup();
            // ^ calls a.Base.setup
          }
        }
        new Child().go();
        // ^ calls a.Child.constructor
        // ^ calls a.Child.go
        """,
    "inheritance: prototypes": """
        // --- a.js
        function Cart() {}
        Cart.prototype.total = function () {};
        const cart = new Cart();
        // ^ calls a.Cart
        cart.total();
        // ^ calls a.Cart.total
        """,
    "imports: modules": """
        // --- lib.js
        export default function main() {}
        export function run() {}
        // --- index.js
        export { run as start } from "./lib";
        // --- app.js
        import main, { run as go } from "./lib";
        import * as lib from "./lib";
        import { start } from "./index";
        main();
        // ^ calls lib.main
        go();
        // ^ calls lib.run
        lib.run();
        // ^ calls lib.run
        start();
        // ^ calls lib.run
        """,
    "imports: require": """
        // --- lib.js
        function run() {}
        module.exports = { run, stop() {} };
        // --- app.js
        const lib = require("./lib");
        const { run } = require("./lib");
        lib.run();
        // ^ calls lib.run
        run();
        // ^ calls lib.run
        """,
    "keyword arguments: an object of options": """
        // --- a.js
        function done() {}
        function run({ after }) {
          after();
          // ^ calls a.done
        }
        run({ after: done });
        // ^ calls a.run
        """,
    "keyword arguments: a function and a default": """
        // --- a.js
        class Log { write() {} }
        function task() {}
        function run(work, log = new Log()) {
          // ^ calls a.Log
          work();
          // ^ calls a.task
          log.write();
          // ^ calls a.Log.write
        }
        run(task);
        // ^ calls a.run
        """,
    "returns: a chain": """
        // --- a.js
        class Query {
          where() { return this; }
          run() {}
        }
        function query() { return new Query(); }
        // ^ calls a.Query
        query().where().run();
        // ^ calls a.query
        // ^ calls a.Query.where
        // ^ calls a.Query.run
        """,
    "returns: an object of functions": """
        // --- a.js
        function makeShop() {
          const open = () => {};
          return { open, close() {} };
        }
        const shop = makeShop();
        // ^ calls a.makeShop
        shop.open();
        // ^ calls a.makeShop.open
        shop.close();
        // ^ calls a.makeShop.close
        """,
}
