"""Programs of JavaScript, two for each feature, with the calls recorded while they ran."""

from __future__ import annotations

PROGRAMS = {
    "assignments of fields": """
        // --- a.js
        class Parser { parse(t) { return t; } }
        class Lexer {
          constructor(parser) {
            this.parser = parser ?? new Parser();
            // ^ calls a.Parser
            this.step = this.scan;
          }
          scan(t) { return this.parser.parse(t); }
          // ^ calls a.Parser.parse
          run(t) { return this.step(t); }
          // ^ calls a.Lexer.scan
        }
        const first = new Lexer();
        // ^ calls a.Lexer.constructor
        const second = first;
        second.run("x");
        // ^ calls a.Lexer.run
        Lexer.prototype.again = Lexer.prototype.run;
        first.again("y");
        // ^ calls a.Lexer.run
        let tool = first.parser.parse;
        tool("z");
        // ^ calls a.Parser.parse
        const { parser, parser: { parse } } = first;
        parser.parse("a");
        // ^ calls a.Parser.parse
        parse("b");
        // ^ calls a.Parser.parse
        let late;
        late ??= () => first.run("c");
        // ^ calls a.Lexer.run
        late();
        """,
    "assignments in branches": """
        // --- a.js
        function fast(n) { return n; }
        function slow(n) { return n; }
        let impl = slow;
        if (process.argv.length > 99) impl = fast;
        impl(1);
        // ^ calls a.slow
        const table = { fast, slow };
        for (const name of Object.keys(table)) table[name](1);
        // ^ calls a.fast
        // ^ calls a.slow
        let node = { run: fast, next: { run: slow, next: null } };
        while (node) { node.run(1); node = node.next; }
        // ^ calls a.fast
        // ^ calls a.slow
        var chosen = impl === slow ? fast : slow;
        chosen(2);
        // ^ calls a.fast
        [impl, chosen] = [chosen, impl];
        impl(3);
        // ^ calls a.fast
        """,
    "closures that count": """
        // --- a.js
        function counter(step) {
          let total = 0;
          const up = () => { total = step(total); return total; };
          // ^ calls a.one
          function reset() { total = 0; return up(); }
          // ^ calls a.counter.up
          return { up, reset, twice: () => [up(), up()] };
          // ^ calls a.counter.up
        }
        function one(n) { return n + 1; }
        const c = counter(one);
        // ^ calls a.counter
        c.up();
        // ^ calls a.counter.up
        c.reset();
        // ^ calls a.counter.reset
        c.twice();
        // ^ calls a.counter.twice
        const { up } = counter((n) => one(n));
        // ^ calls a.counter
        // ^ calls a.one
        up();
        // ^ calls a.counter.up
        """,
    "closures of events": """
        // --- a.js
        class Bus {
          #handlers = new Map();
          on(name, handler) {
            if (!this.#handlers.has(name)) this.#handlers.set(name, new Set());
            this.#handlers.get(name).add(handler);
            return () => this.off(name, handler);
            // ^ calls a.Bus.off
          }
          off(name, handler) { this.#handlers.get(name).delete(handler); }
          emit(name, value) { for (const h of this.#handlers.get(name)) h(value); }
          // ^ calls a.log
        }
        function log(v) { return v; }
        class Panel {
          constructor(bus) { this.stop = bus.on("show", (v) => this.show(v)); }
          // ^ calls a.Bus.on
          // ^ calls a.Panel.show
          show(v) { return log(v); }
          // ^ calls a.log
          close() { this.stop(); }
        }
        const bus = new Bus();
        // ^ calls a.Bus
        const panel = new Panel(bus);
        // ^ calls a.Panel.constructor
        bus.on("show", log);
        // ^ calls a.Bus.on
        bus.emit("show", 1);
        // ^ calls a.Bus.emit
        panel.close();
        // ^ calls a.Panel.close
        """,
    "containers of rules": """
        // --- a.js
        function low(v) { return v < 1; }
        function high(v) { return v > 9; }
        class Rule {
          constructor(test) { this.test = test; }
          holds(v) { return this.test(v); }
          // ^ calls a.high
          // ^ calls a.low
        }
        const RULES = [new Rule(low), new Rule(high)];
        // ^ calls a.Rule.constructor
        const byName = new Map([["low", RULES[0]]]);
        byName.set("high", new Rule(high));
        // ^ calls a.Rule.constructor
        RULES.map((r) => r.holds(1));
        // ^ calls a.Rule.holds
        for (const [name, rule] of byName) rule.holds(2);
        // ^ calls a.Rule.holds
        byName.get("low").holds(3);
        // ^ calls a.Rule.holds
        RULES.filter((r) => r.holds(4)).forEach((r) => r.holds(5));
        // ^ calls a.Rule.holds
        const queue = [low];
        queue.push(high);
        while (queue.length) queue.shift()(6);
        // ^ calls a.high
        // ^ calls a.low
        [...RULES][0].holds(7);
        // ^ calls a.Rule.holds
        RULES.find((r) => r.test === low).holds(8);
        // ^ calls a.Rule.holds
        """,
    "containers nested": """
        // --- a.js
        class Leaf { constructor(n) { this.n = n; } area() { return this.n; } }
        class Tree {
          leaves = [];
          named = {};
          grow(leaf) { this.leaves.push(leaf); this.named[leaf.n] = { leaf }; return this; }
          total() {
            let s = this.leaves.reduce((sum, leaf) => sum + leaf.area(), 0);
            // ^ calls a.Leaf.area
            for (const { leaf } of Object.values(this.named)) s += leaf.area();
            // ^ calls a.Leaf.area
            return s;
          }
        }
        const tree = new Tree().grow(new Leaf(1)).grow(new Leaf(2));
        // ^ calls a.Leaf.constructor
        // ^ calls a.Tree
        // ^ calls a.Tree.grow
        tree.total();
        // ^ calls a.Tree.total
        tree.leaves[0].area();
        // ^ calls a.Leaf.area
        const [head, ...tail] = tree.leaves;
        head.area();
        // ^ calls a.Leaf.area
        tail.forEach((t) => t.area());
        // ^ calls a.Leaf.area
        const config = { deep: { make: () => new Leaf(3), list: [tree] } };
        // ^ calls a.Leaf.constructor
        config.deep.make().area();
        // ^ calls a.Leaf.area
        // ^ calls a.config.make
        config.deep.list[0].total();
        // ^ calls a.Tree.total
        """,
    "decorators by hand": """
        // --- a.js
        const registry = {};
        function command(name, fn) { registry[name] = fn; return fn; }
        function memo(fn) {
          const seen = new Map();
          return function memoized(...args) {
            const key = args.join();
            if (!seen.has(key)) seen.set(key, fn.apply(this, args));
            return seen.get(key);
          };
        }
        const add = command("add", function plus(a, b) { return a + b; });
        // ^ calls a.command
        const square = memo((n) => add(n, n));
        // ^ calls a.memo
        // ^ calls a.plus
        square(2);
        // ^ calls a.memo.memoized
        registry.add(1, 2);
        // ^ calls a.plus
        registry["add"](3, 4);
        // ^ calls a.plus
        function timed(target, name) {
          const old = target[name];
          target[name] = function wrapped(...args) { return old.call(this, ...args); };
          // ^ calls a.Job.run
        }
        class Job { run() { return 1; } }
        timed(Job.prototype, "run");
        // ^ calls a.timed
        new Job().run();
        // ^ calls a.Job
        """,
    "decorators as mixins": """
        // --- a.js
        const Serializable = (Base) => class extends Base {
          save() { return this.fields(); }
          // ^ calls a.User.fields
        };
        const Timed = (Base) => class TimedModel extends Base {
          tick() { return this.save(); }
          // ^ calls a.Serializable.save
        };
        class Model { fields() { return []; } }
        class User extends Timed(Serializable(Model)) {
        // ^ calls a.Serializable
        // ^ calls a.Timed
          fields() { return super.fields().concat("name"); }
          // ^ calls a.Model.fields
        }
        const user = new User();
        // ^ calls a.User
        user.save();
        // ^ calls a.Serializable.save
        user.tick();
        // ^ calls a.Timed.TimedModel.tick
        function proxied(object) {
          return new Proxy(object, { get(target, key) { return target[key]; } });
        }
        proxied(user).fields();
        // ^ calls a.User.fields
        // ^ calls a.proxied
        // ^ calls a.proxied.get
        """,
    "generators in a pipeline": """
        // --- a.js
        class Row {
          constructor(t) { this.t = t; }
          clean() { return this; }
          parts() { return this.t.split(" "); }
        }
        function* read(lines) { for (const l of lines) yield new Row(l); }
        // ^ calls a.Row.constructor
        function* keep(rows) { for (const r of rows) if (r.parts().length) yield r.clean(); }
        // ^ calls a.Row.clean
        // ^ calls a.Row.parts
        function* both() { yield* keep(read(["a"])); yield* keep(read(["b"])); }
        // ^ calls a.keep
        // ^ calls a.read
        for (const row of both()) row.parts();
        // ^ calls a.Row.parts
        // ^ calls a.both
        const rows = [...keep(read(["c"]))];
        // ^ calls a.keep
        // ^ calls a.read
        rows[0].clean();
        // ^ calls a.Row.clean
        read(["d"]).next().value.clean();
        // ^ calls a.Row.clean
        // ^ calls a.read
        Array.from(both(), (r) => r.parts());
        // ^ calls a.Row.parts
        // ^ calls a.both
        const [one] = keep(read(["e"]));
        // ^ calls a.keep
        // ^ calls a.read
        one.parts();
        // ^ calls a.Row.parts
        """,
    "generators that are async": """
        // --- a.mjs
        class Job { run() { return 1; } }
        class Source {
          *[Symbol.iterator]() { yield new Job(); }
          // ^ calls a.Job
          async *stream() { yield new Job(); }
          // ^ calls a.Job
          async load() { return new Job(); }
          // ^ calls a.Job
        }
        const source = new Source();
        // ^ calls a.Source
        for (const job of source) job.run();
        // ^ calls a.Job.run
        // ^ calls a.Source.[Symbol.iterator]
        for await (const job of source.stream()) job.run();
        // ^ calls a.Job.run
        // ^ calls a.Source.stream
        const job = await source.load();
        // ^ calls a.Source.load
        job.run();
        // ^ calls a.Job.run
        source.load().then((j) => j.run());
        // ^ calls a.Job.run
        // ^ calls a.Source.load
        const many = await Promise.all([source.load(), source.load()]);
        // ^ calls a.Source.load
        many[0].run();
        // ^ calls a.Job.run
        many.forEach((j) => j.run());
        // ^ calls a.Job.run
        async function main() {
          const { run } = await import("./b.mjs");
          return run();
          // ^ calls b.run
        }
        await main();
        // ^ calls a.main
        // --- b.mjs
        export function run() { return helper(); }
        // ^ calls b.helper
        function helper() {}
        // --- main.mjs
        import "./a.mjs";
        """,
    "inheritance with hooks": """
        // --- a.js
        class View {
          static registry = [];
          static register(kind) { View.registry.push(kind); return kind; }
          render() { return this.header() + this.body(); }
          // ^ calls a.Dialog.header
          // ^ calls a.Page.body
          // ^ calls a.View.header
          header() { return "h"; }
          body() { throw new Error("abstract"); }
        }
        class Page extends View {
          body() { return this.title(); }
          // ^ calls a.Dialog.title
          // ^ calls a.Page.title
          title() { return "t"; }
        }
        class Dialog extends Page {
          header() { return super.header() + "d"; }
          // ^ calls a.View.header
          title() { return "d"; }
        }
        View.register(Page);
        // ^ calls a.View.register
        Page.register(Dialog);
        // ^ calls a.View.register
        for (const Kind of View.registry) new Kind().render();
        // ^ calls a.Dialog
        // ^ calls a.Page
        // ^ calls a.View.render
        const dialog = new Dialog();
        // ^ calls a.Dialog
        dialog.body();
        // ^ calls a.Page.body
        dialog.header();
        // ^ calls a.Dialog.header
        """,
    "inheritance by prototypes": """
        // --- a.js
        function Animal(name) { this.name = name; }
        Animal.prototype.speak = function () { return this.sound(); };
        // ^ calls a.Animal.sound
        Animal.prototype.sound = function () { return "?"; };
        function Dog(name) { Animal.call(this, name); }
        // ^ calls a.Animal
        Dog.prototype = Object.create(Animal.prototype);
        Dog.prototype.constructor = Dog;
        Dog.prototype.fetch = function () { return this.speak(); };
        // ^ calls a.Animal.speak
        const dog = new Dog("a");
        // ^ calls a.Dog
        dog.fetch();
        // ^ calls a.Dog.fetch
        dog.speak();
        // ^ calls a.Animal.speak
        const base = { hello() { return this.who(); }, who() { return 1; } };
        // ^ calls a.child.who
        const child = { __proto__: base, who() { return super.who(); } };
        // ^ calls a.base.who
        child.hello();
        // ^ calls a.base.hello
        const made = Object.create(base);
        made.who();
        // ^ calls a.base.who
        class Cat extends Animal { purr() { return this.speak(); } }
        // ^ calls a.Animal
        // ^ calls a.Animal.speak
        new Cat("b").purr();
        // ^ calls a.Cat
        // ^ calls a.Cat.purr
        """,
    "imports of modules": """
        // --- cart.mjs
        import { price as cost } from "./tools.mjs";
        export default class Cart {
          total() { return cost(1) + fee(); }
          // ^ calls cart.fee
          // ^ calls tools.price
        }
        const fee = () => cost(0);
        // ^ calls tools.price
        export { fee };
        // --- tools.mjs
        export function price(x) { return x; }
        export const lazy = async () => (await import("./cart.mjs")).default;
        // --- index.mjs
        export { default as Cart, fee } from "./cart.mjs";
        export * as tools from "./tools.mjs";
        // --- main.mjs
        import { Cart, fee, tools } from "./index.mjs";
        import Basket, * as all from "./cart.mjs";
        new Cart().total();
        // ^ calls cart.Cart
        // ^ calls cart.Cart.total
        fee();
        // ^ calls cart.fee
        tools.price(1);
        // ^ calls tools.price
        all.fee();
        // ^ calls cart.fee
        new Basket().total();
        // ^ calls cart.Cart
        // ^ calls cart.Cart.total
        const Made = await tools.lazy();
        // ^ calls tools.lazy
        new Made().total();
        // ^ calls cart.Cart
        // ^ calls cart.Cart.total
        """,
    "imports of commonjs": """
        // --- util.js
        exports.encode = function encode(x) { return pad(x); };
        // ^ calls util.pad
        function pad(x) { return x; }
        exports.Codec = class Codec { decode(x) { return exports.encode(x); } };
        // ^ calls util.encode
        // --- lib.js
        const { encode, Codec } = require("./util");
        module.exports = function create(options) {
          const codec = new Codec();
          // ^ calls util.Codec
          return { run: (x) => codec.decode(encode(x)), codec };
          // ^ calls util.Codec.decode
          // ^ calls util.encode
        };
        module.exports.version = () => encode(1);
        // ^ calls util.encode
        // --- main.js
        const create = require("./lib");
        const util = require("./util");
        const made = create({});
        // ^ calls lib.default
        made.run(1);
        // ^ calls lib.default.run
        made.codec.decode(2);
        // ^ calls util.Codec.decode
        create.version();
        // ^ calls lib.version
        new util.Codec().decode(3);
        // ^ calls util.Codec
        // ^ calls util.Codec.decode
        require("./util").encode(4);
        // ^ calls util.encode
        function later() { const { Codec: C } = require("./util"); return new C().decode(5); }
        // ^ calls util.Codec
        // ^ calls util.Codec.decode
        later();
        // ^ calls main.later
        """,
    "keyword arguments as options": """
        // --- a.js
        function area(w, { fmt = String, scale = one } = {}) { return fmt(scale(w)); }
        // ^ calls a.one
        // ^ calls a.show
        function one(n) { return n; }
        function show(x) { return x; }
        area(1);
        // ^ calls a.area
        area(1, { fmt: show });
        // ^ calls a.area
        const options = { fmt: show };
        area(2, { ...options, scale: show });
        // ^ calls a.area
        class Form {
          constructor({ validate, onSave = one }) {
            Object.assign(this, { validate });
            this.onSave = onSave;
          }
          save(v) { if (this.validate(v)) this.onSave(v); }
          // ^ calls a.one
          // ^ calls a.show
        }
        new Form({ validate: show }).save(1);
        // ^ calls a.Form.constructor
        // ^ calls a.Form.save
        function call(fn, ...args) { return fn(...args); }
        // ^ calls a.area
        call(area, 3);
        // ^ calls a.call
        function withDefault(x, then = show) { return then(x); }
        // ^ calls a.one
        // ^ calls a.show
        withDefault(1);
        // ^ calls a.withDefault
        withDefault(1, one);
        // ^ calls a.withDefault
        """,
    "keyword arguments of callbacks": """
        // --- a.js
        function power(b, e) { return b ** e; }
        function key(item) { return item.k; }
        function log(n) { return n; }
        const square = power.bind(null, 2);
        square(3);
        // ^ calls a.power
        [{ k: 1 }, { k: 2 }].sort((a, b) => key(a) - key(b));
        // ^ calls a.key
        [3].map(log);
        // ^ calls a.log
        function visit(tree, { enter, leave }) { enter(tree); leave?.(tree); }
        // ^ calls a.key
        // ^ calls a.log
        visit([], { enter: log });
        // ^ calls a.visit
        visit([], { enter: log, leave: key });
        // ^ calls a.visit
        const handlers = { click: log, key(e) { return key(e); } };
        // ^ calls a.key
        function on(events) { for (const [n, h] of Object.entries(events)) h({ k: n }); }
        // ^ calls a.handlers.key
        // ^ calls a.log
        on(handlers);
        // ^ calls a.on
        setTimeout(log, 1, 2);
        // ^ calls a.log
        queueMicrotask(() => key({}));
        // ^ calls a.key
        new Promise((resolve) => resolve({ k: 1 })).then(key).finally(log);
        // ^ calls a.key
        // ^ calls a.log
        """,
    "returns of several kinds": """
        // --- a.js
        class Ok { get() { return this; } value() { return 1; } }
        class Err { get() { return this; } message() { return "e"; } }
        function parse(t) { return t ? new Ok() : new Err(); }
        // ^ calls a.Err
        // ^ calls a.Ok
        parse("a").get();
        // ^ calls a.Ok.get
        // ^ calls a.parse
        const result = parse("");
        // ^ calls a.parse
        if (result instanceof Err) result.message();
        // ^ calls a.Err.message
        function table() { return { ok: Ok, make: parse }; }
        new (table().ok)().value();
        // ^ calls a.Ok
        // ^ calls a.Ok.value
        // ^ calls a.table
        table().make("x");
        // ^ calls a.parse
        // ^ calls a.table
        function pair() { return [new Ok(), new Err()]; }
        // ^ calls a.Err
        // ^ calls a.Ok
        const [ok, err] = pair();
        // ^ calls a.pair
        ok.value();
        // ^ calls a.Ok.value
        err.message();
        // ^ calls a.Err.message
        pair()[1].message();
        // ^ calls a.Err.message
        // ^ calls a.pair
        const choose = (flag) => (flag ? parse : table);
        choose(true)("x");
        // ^ calls a.choose
        // ^ calls a.parse
        """,
    "returns of self and chains": """
        // --- a.js
        class Query {
          constructor(steps = []) { this.steps = steps; }
          where(test) { return this.add(test); }
          // ^ calls a.Query.add
          add(step) { return new Query([...this.steps, step]); }
          // ^ calls a.Query.constructor
          run() { for (const step of this.steps) step(); return new Result(this); }
          // ^ calls a.Result.constructor
          // ^ calls a.test
          copy() { return new this.constructor(this.steps); }
          // ^ calls a.Query.constructor
        }
        class Result {
          constructor(query) { this.query = query; }
          again() { return this.query.run(); }
          // ^ calls a.Query.run
          first() { return this; }
        }
        function test() { return true; }
        const query = new Query().where(test);
        // ^ calls a.Query.constructor
        // ^ calls a.Query.where
        query.run().first();
        // ^ calls a.Query.run
        // ^ calls a.Result.first
        query.copy().where(test).run().again().first();
        // ^ calls a.Query.copy
        // ^ calls a.Query.run
        // ^ calls a.Query.where
        // ^ calls a.Result.again
        // ^ calls a.Result.first
        const build = () => query;
        build().run();
        // ^ calls a.Query.run
        // ^ calls a.build
        (() => build())().copy();
        // ^ calls a.Query.copy
        // ^ calls a.build
        """,
}
