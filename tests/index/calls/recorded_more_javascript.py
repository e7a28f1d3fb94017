"""Programs of JavaScript with the calls that were recorded while they ran."""

from __future__ import annotations

PROGRAMS = {
    "assign destructure": """
        // --- a.js
        function one() {}
        function two() {}
        const tools = { one, two, deep: { three() {} } };
        const { one: first, deep: { three } } = tools;
        first();
        // ^ calls a.one
        three();
        // ^ calls a.tools.three
        let [a, b] = [one, two];
        [a, b] = [b, a];
        a();
        // ^ calls a.two
        b();
        // ^ calls a.one
        tools.deep.three();
        // ^ calls a.tools.three
        """,
    "assign object literal methods": """
        // --- a.js
        const counter = {
          n: 0,
          up() { this.n += 1; this.note(); return this; },
          // ^ calls a.counter.note
          note() {},
          reset: function () { this.n = 0; },
        };
        counter.up().up();
        // ^ calls a.counter.up
        counter.reset();
        // ^ calls a.counter.reset
        const same = counter;
        same.note();
        // ^ calls a.counter.note
        """,
    "closures module": """
        // --- a.js
        function makeStore(initial) {
          let state = initial;
          const listeners = [];
          function get() { return state; }
          function set(v) { state = v; listeners.forEach((l) => l(state)); }
          // ^ calls a.onChange
          function subscribe(l) { listeners.push(l); return () => remove(l); }
          // ^ calls a.makeStore.remove
          function remove(l) { listeners.splice(listeners.indexOf(l), 1); }
          return { get, set, subscribe };
        }
        function onChange(v) {}
        const store = makeStore(1);
        // ^ calls a.makeStore
        const stop = store.subscribe(onChange);
        // ^ calls a.makeStore.subscribe
        store.set(2);
        // ^ calls a.makeStore.set
        store.get();
        // ^ calls a.makeStore.get
        stop();
        """,
    "closures iife counter": """
        // --- a.js
        const api = (function () {
          function hidden() { return 1; }
          function shown() { return hidden(); }
          // ^ calls a.hidden
          return { shown, again: () => shown() };
          // ^ calls a.shown
        })();
        api.shown();
        // ^ calls a.shown
        api.again();
        // ^ calls a.again
        """,
    "containers map of handlers": """
        // --- a.js
        function add(a) { return a; }
        function del(a) { return a; }
        const handlers = new Map([["add", add], ["del", del]]);
        function run(name, v) {
          const h = handlers.get(name);
          if (h) return h(v);
          // ^ calls a.add
          // ^ calls a.del
        }
        run("add", 1);
        // ^ calls a.run
        run("del", 2);
        // ^ calls a.run
        const list = [add];
        list.push(del);
        for (const f of list) f(1);
        // ^ calls a.add
        // ^ calls a.del
        """,
    "containers class instances": """
        // --- a.js
        class Item { price() { return 1; } }
        class Cart {
          constructor() { this.items = []; }
          add(item) { this.items.push(item); return this; }
          total() { return this.items.map((i) => i.price()).reduce((a, b) => a + b, 0); }
          // ^ calls a.Item.price
        }
        const cart = new Cart();
        // ^ calls a.Cart.constructor
        cart.add(new Item()).add(new Item());
        // ^ calls a.Cart.add
        // ^ calls a.Item
        cart.total();
        // ^ calls a.Cart.total
        cart.items[0].price();
        // ^ calls a.Item.price
        """,
    "generators iterate": """
        // --- a.js
        class Node { visit() {} }
        class Tree {
          constructor() { this.nodes = [new Node()]; }
          // ^ calls a.Node
          *[Symbol.iterator]() { for (const n of this.nodes) yield n; }
          *walk() { yield* this.nodes; }
        }
        const t = new Tree();
        // ^ calls a.Tree.constructor
        for (const n of t) n.visit();
        // ^ calls a.Node.visit
        // ^ calls a.Tree.[Symbol.iterator]
        for (const n of t.walk()) n.visit();
        // ^ calls a.Node.visit
        // ^ calls a.Tree.walk
        const [first] = t.nodes;
        first.visit();
        // ^ calls a.Node.visit
        """,
    "inheritance override": """
        // --- base.mjs
        export class Shape {
          area() { return 0; }
          describe() { return this.label() + this.area(); }
          // ^ calls main.Circle.area
          // ^ calls main.Circle.label
          label() { return "shape"; }
        }
        // --- main.mjs
        import { Shape } from "./base.mjs";
        class Circle extends Shape {
          constructor(r) { super(); this.r = r; }
          // ^ calls base.Shape
          area() { return this.r; }
          label() { return super.label() + "!"; }
          // ^ calls base.Shape.label
        }
        const c = new Circle(1);
        // ^ calls main.Circle.constructor
        c.describe();
        // ^ calls base.Shape.describe
        c.area();
        // ^ calls main.Circle.area
        """,
    "inheritance factory mixins": """
        // --- a.js
        const Serial = (Base) => class extends Base {
          toText() { return this.fields().join(); }
          // ^ calls a.Plain.fields
        };
        class Plain { fields() { return []; } }
        class User extends Serial(Plain) { hello() { return this.toText(); } }
        // ^ calls a.Serial
        // ^ calls a.Serial.toText
        const u = new User();
        // ^ calls a.User
        u.hello();
        // ^ calls a.User.hello
        u.fields();
        // ^ calls a.Plain.fields
        """,
    "imports named default": """
        // --- util.mjs
        export default function main() { return helper(); }
        // ^ calls util.helper
        export function helper() { return 1; }
        export const arrow = () => helper();
        // ^ calls util.helper
        export { helper as assist };
        // --- index.mjs
        export * from "./util.mjs";
        export { default } from "./util.mjs";
        export * as util from "./util.mjs";
        // --- main.mjs
        import start, { assist, arrow, util } from "./index.mjs";
        import * as all from "./util.mjs";
        start();
        // ^ calls util.main
        assist();
        // ^ calls util.helper
        arrow();
        // ^ calls util.arrow
        util.helper();
        // ^ calls util.helper
        all.arrow();
        // ^ calls util.arrow
        """,
    "imports commonjs class": """
        // --- logger.js
        class Logger {
          info(m) { this.write(m); }
          // ^ calls logger.Logger.write
          write(m) {}
        }
        module.exports = { Logger, create: () => new Logger() };
        // ^ calls logger.Logger
        // --- shared.js
        const { create } = require("./logger");
        exports.log = create();
        // ^ calls logger.default.create
        exports.wrap = function wrap(m) { exports.log.info(m); };
        // ^ calls logger.Logger.info
        // --- main.js
        const shared = require("./shared");
        const { Logger } = require("./logger");
        shared.log.info("a");
        // ^ calls logger.Logger.info
        shared.wrap("b");
        // ^ calls shared.wrap
        new Logger().write("c");
        // ^ calls logger.Logger
        // ^ calls logger.Logger.write
        """,
    "arguments options object": """
        // --- a.js
        function onOk() {}
        function onFail() {}
        function request({ url, success = onOk, failure } = {}) {
          success(url);
          // ^ calls a.onOk
          if (failure) failure();
          // ^ calls a.onFail
        }
        request({ url: "a" });
        // ^ calls a.request
        request({ url: "b", failure: onFail });
        // ^ calls a.request
        function later(ms, ...callbacks) { callbacks.forEach((cb) => cb(ms)); }
        // ^ calls a.onFail
        // ^ calls a.onOk
        later(1, onOk, onFail);
        // ^ calls a.later
        """,
    "returns chain": """
        // --- a.js
        class Query {
          where() { return this; }
          limit() { return this; }
          build() { return new Sql(); }
          // ^ calls a.Sql
        }
        class Sql { run() { return Promise.resolve(new Rows()); } }
        // ^ calls a.Rows
        class Rows { first() { return {}; } }
        function query() { return new Query(); }
        // ^ calls a.Query
        query().where().limit().build().run().then((rows) => rows.first());
        // ^ calls a.Query.build
        // ^ calls a.Query.limit
        // ^ calls a.Query.where
        // ^ calls a.Rows.first
        // ^ calls a.Sql.run
        // ^ calls a.query
        async function main() {
          const rows = await query().build().run();
          // ^ calls a.Query.build
          // ^ calls a.Sql.run
          // ^ calls a.query
          rows.first();
          // ^ calls a.Rows.first
        }
        main();
        // ^ calls a.main
        """,
    "returns curried": """
        // --- a.js
        const log = (x) => x;
        const tap = (fn) => (x) => { fn(x); return x; };
        // ^ calls a.double
        // ^ calls a.log
        const pipe = (...fns) => (x) => fns.reduce((v, f) => f(v), x);
        // ^ calls a.double
        function double(x) { return x * 2; }
        const go = pipe(double, tap(log));
        // ^ calls a.pipe
        // ^ calls a.tap
        go(2);
        tap(double)(4);
        // ^ calls a.tap
        """,
    "decorator wrap": """
        // --- a.js
        function timed(fn) {
          return function wrapped(...args) {
            start();
            // ^ calls a.start
            return fn.apply(this, args);
            // ^ calls a.Svc.go
            // ^ calls a.work
          };
        }
        function start() {}
        function work(a) { return a; }
        const slow = timed(work);
        // ^ calls a.timed
        slow(1);
        // ^ calls a.timed.wrapped
        class Svc { go() { return 1; } }
        Svc.prototype.go = timed(Svc.prototype.go);
        // ^ calls a.timed
        new Svc().go();
        // ^ calls a.Svc
        // ^ calls a.timed.wrapped
        """,
    "callbacks timers and once": """
        // --- a.js
        function tick() {}
        function ready() {}
        setTimeout(tick, 1);
        // ^ calls a.tick
        setTimeout(() => ready(), 1);
        // ^ calls a.ready
        queueMicrotask(tick);
        // ^ calls a.tick
        function once(fn) { let done = false; return () => { if (!done) { done = true; fn(); } }; }
        // ^ calls a.ready
        const only = once(ready);
        // ^ calls a.once
        only();
        [1, 2].forEach(tick);
        // ^ calls a.tick
        """,
    "accessors across modules": """
        // --- temp.mjs
        export class Temp {
          #c = 0;
          get f() { return this.#conv(); }
          // ^ calls temp.Temp.#conv
          set f(v) { this.#c = v; }
          #conv() { return this.#c * 2; }
          static from(v) { const t = new Temp(); t.f = v; return t; }
          // ^ calls temp.Temp
          // ^ calls temp.Temp.f
          toString() { return `${this.f}`; }
          // ^ calls temp.Temp.f
        }
        // --- main.mjs
        import { Temp } from "./temp.mjs";
        const t = Temp.from(3);
        // ^ calls temp.Temp.from
        t.f;
        // ^ calls temp.Temp.f
        t.f = 4;
        // ^ calls temp.Temp.f
        t.toString();
        // ^ calls temp.Temp.toString
        """,
    "events class": """
        // --- a.js
        class Bus {
          constructor() { this.map = {}; }
          on(name, fn) { (this.map[name] = this.map[name] || []).push(fn); return this; }
          emit(name, ...args) { (this.map[name] || []).forEach((fn) => fn(...args)); }
          // ^ calls a.closed
          // ^ calls a.saved
        }
        function saved() {}
        function closed() {}
        const bus = new Bus();
        // ^ calls a.Bus.constructor
        bus.on("save", saved).on("close", closed);
        // ^ calls a.Bus.on
        bus.emit("save");
        // ^ calls a.Bus.emit
        bus.emit("close");
        // ^ calls a.Bus.emit
        """,
    "state machine object": """
        // --- a.js
        class Idle { next() { return new Busy(); } }
        // ^ calls a.Busy
        class Busy { next() { return new Idle(); } stop() {} }
        // ^ calls a.Idle
        class Machine {
          constructor() { this.state = new Idle(); }
          // ^ calls a.Idle
          step() { this.state = this.state.next(); }
          // ^ calls a.Busy.next
          // ^ calls a.Idle.next
        }
        const m = new Machine();
        // ^ calls a.Machine.constructor
        m.step();
        // ^ calls a.Machine.step
        m.step();
        // ^ calls a.Machine.step
        const states = { idle: Idle, busy: Busy };
        new states.busy().stop();
        // ^ calls a.Busy
        // ^ calls a.Busy.stop
        """,
    "promise classes": """
        // --- api.mjs
        export class Api {
          async get(path) { const r = await this.send(path); return r.parse(); }
          // ^ calls api.Api.send
          // ^ calls api.Response1.parse
          async send(path) { return new Response1(path); }
          // ^ calls api.Response1.constructor
        }
        class Response1 { constructor(p) { this.p = p; } parse() { return new Body1(); } }
        // ^ calls api.Body1
        class Body1 { text() { return ""; } }
        // --- main.mjs
        import { Api } from "./api.mjs";
        const api = new Api();
        // ^ calls api.Api
        api.get("x").then((b) => b.text()).catch(fail);
        // ^ calls api.Api.get
        // ^ calls api.Body1.text
        function fail(e) {}
        const all = await Promise.all([api.get("a"), api.get("b")]);
        // ^ calls api.Api.get
        all[0].text();
        // ^ calls api.Body1.text
        all.forEach((b) => b.text());
        // ^ calls api.Body1.text
        """,
    "prototype inheritance": """
        // --- a.js
        function Animal(name) { this.name = name; }
        Animal.prototype.speak = function () { return this.sound(); };
        // ^ calls a.Dog.sound
        Animal.prototype.sound = function () { return "?"; };
        function Dog(name) { Animal.call(this, name); }
        // ^ calls a.Animal
        Dog.prototype = Object.create(Animal.prototype);
        Dog.prototype.constructor = Dog;
        Dog.prototype.sound = function () { return "w"; };
        Dog.prototype.fetch = () => {};
        const d = new Dog("x");
        // ^ calls a.Dog
        d.speak();
        // ^ calls a.Animal.speak
        d.fetch();
        // ^ calls a.Dog.fetch
        """,
}
