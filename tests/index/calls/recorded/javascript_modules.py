"""Recorded programs of JavaScript: modules, promises and iterators."""

from __future__ import annotations

PROGRAMS = {
    "promises": """
        // --- a.js
        function first(v) { return second(v); }
        // ^ calls a.second
        function second(v) { return v; }
        function oops(e) {}
        function done() {}
        Promise.resolve(1).then(first).catch(oops).finally(done);
        // ^ calls a.done
        // ^ calls a.first
        // @late first
        // @late done
        new Promise((resolve, reject) => { start(resolve); }).then((v) => second(v));
        // ^ calls a.second
        // ^ calls a.start
        function start(cb) { cb(1); }
        """,
    "async await": """
        // --- a.js
        class Api {
          async load() { const r = await this.raw(); return r.parse(); }
          // ^ calls a.Api.raw
          // ^ calls a.Res.parse
          async raw() { return new Res(); }
          // ^ calls a.Res
        }
        class Res { parse() { return 1; } }
        async function main() {
          const api = new Api();
          // ^ calls a.Api
          const v = await api.load();
          // ^ calls a.Api.load
          await Promise.all([api.load(), helper()]);
          // ^ calls a.Api.load
          // ^ calls a.helper
        }
        async function helper() {}
        main();
        // ^ calls a.main
        """,
    "esm": """
        // --- lib/math.js
        export function add() {}
        export const mul = () => {};
        export default class Calc { run() { add(); } }
        // ^ calls lib.math.add
        export { hidden as visible };
        function hidden() {}
        // --- lib/index.js
        export * from "./math.js";
        export { default as Calc } from "./math.js";
        export * as tools from "./math.js";
        // --- main.js
        import { add, mul as times, visible, Calc, tools } from "./lib/index.js";
        import * as all from "./lib/math.js";
        import Other, { mul } from "./lib/math.js";
        add();
        // ^ calls lib.math.add
        times();
        // ^ calls lib.math.mul
        visible();
        // ^ calls lib.math.hidden
        new Calc().run();
        // ^ calls lib.math.Calc
        // ^ calls lib.math.Calc.run
        tools.mul();
        // ^ calls lib.math.mul
        all.add();
        // ^ calls lib.math.add
        new Other().run();
        // ^ calls lib.math.Calc
        // ^ calls lib.math.Calc.run
        mul();
        // ^ calls lib.math.mul
        """,
    "commonjs": """
        // --- lib.js
        function a() {}
        function b() { helper.a(); }
        // ^ calls lib.a
        const helper = { a };
        module.exports = { a, second: b, make: () => new Thing() };
        // ^ calls lib.Thing
        class Thing { go() {} }
        module.exports.Thing = Thing;
        // --- main.js
        const lib = require("./lib");
        const { a, second: s, Thing } = require("./lib");
        lib.a();
        // ^ calls lib.a
        s();
        // ^ calls lib.b
        lib.make().go();
        // ^ calls lib.Thing.go
        // ^ calls lib.default.make
        new Thing().go();
        // ^ calls lib.Thing
        // ^ calls lib.Thing.go
        require("./lib").second();
        // ^ calls lib.b
        """,
    "commonjs function module": """
        // --- create.js
        module.exports = create;
        function create(opts) { return new App(opts); }
        // ^ calls create.App
        function App(opts) { this.opts = opts; }
        App.prototype.use = function use(fn) { fn(); return this; };
        // ^ calls main.plugin
        create.version = function () {};
        // --- main.js
        const create = require("./create.js");
        function plugin() {}
        const app = create({});
        // ^ calls create.create
        app.use(plugin).use(plugin);
        // ^ calls create.App.use
        create.version();
        // ^ calls create.create.version
        """,
    "generators": """
        // --- a.js
        class Row { show() {} }
        function* rows() { yield new Row(); yield* more(); }
        // ^ calls a.Row
        // ^ calls a.more
        function* more() { yield new Row(); }
        // ^ calls a.Row
        for (const r of rows()) r.show();
        // ^ calls a.Row.show
        // ^ calls a.rows
        const [head] = rows();
        // ^ calls a.rows
        head.show();
        // ^ calls a.Row.show
        [...rows()].forEach((r) => r.show());
        // ^ calls a.Row.show
        // ^ calls a.rows
        const it = rows();
        // ^ calls a.rows
        it.next().value.show();
        // ^ calls a.Row.show
        """,
    "iterators": """
        // --- a.js
        class Range {
          constructor(n) { this.n = n; }
          *[Symbol.iterator]() { yield this.item(); }
          // ^ calls a.Range.item
          item() { return new Cell(); }
          // ^ calls a.Cell
        }
        class Cell { draw() {} }
        for (const c of new Range(1)) c.draw();
        // ^ calls a.Cell.draw
        // ^ calls a.Range.[Symbol.iterator]
        // ^ calls a.Range.constructor
        const cells = [...new Range(2)];
        // ^ calls a.Range.[Symbol.iterator]
        // ^ calls a.Range.constructor
        cells[0].draw();
        // ^ calls a.Cell.draw
        """,
    "modules singletons": """
        // --- store.js
        class Store {
          constructor() { this.subs = []; }
          set() { this.notify(); }
          // ^ calls store.Store.notify
          notify() { this.subs.forEach((s) => s.update()); }
          // ^ calls view.View.update
          add(s) { this.subs.push(s); }
        }
        export default new Store();
        // ^ calls store.Store.constructor
        // --- view.js
        import store from "./store.js";
        export class View {
          constructor() { store.add(this); }
          // ^ calls store.Store.add
          update() { this.render(); }
          // ^ calls view.View.render
          render() {}
        }
        export const make = () => new View();
        // ^ calls view.View.constructor
        // --- main.js
        import store from "./store.js";
        import { make } from "./view.js";
        const v = make();
        // ^ calls view.make
        store.set();
        // ^ calls store.Store.set
        v.update();
        // ^ calls view.View.update
        """,
    "module pattern namespaces": """
        // --- a.js
        var App = App || {};
        App.utils = { trim: function (s) { return s; }, pad(s) { return App.utils.trim(s); } };
        // ^ calls a.App.utils.trim
        App.start = function () { App.utils.pad("x"); helper(); };
        // ^ calls a.App.utils.pad
        // ^ calls a.helper
        function helper() {}
        App.start();
        // ^ calls a.App.start
        const u = App.utils;
        u.trim("y");
        // ^ calls a.App.utils.trim
        """,
    "promise class": """
        // --- a.js
        class Task {
          constructor(fn) { fn((v) => this.resolve(v)); }
          // ^ calls a.Task.resolve
          resolve(v) { this.v = v; if (this.cb) this.cb(v); }
          // ^ calls a.done
          then(cb) { this.cb = cb; return this; }
        }
        function done(v) {}
        let later;
        const t = new Task((ok) => { later = ok; });
        // ^ calls a.Task.constructor
        t.then(done);
        // ^ calls a.Task.then
        later(3);
        """,
    "esm cycle and default": """
        // --- a.mjs
        import b, { helper } from "./b.mjs";
        export default function main() { b(); helper(); }
        // ^ calls b.default
        // ^ calls b.helper
        export const late = () => helper();
        // ^ calls b.helper
        // --- b.mjs
        import main, { late } from "./a.mjs";
        export default () => leaf();
        // ^ calls b.leaf
        export function helper() {}
        function leaf() {}
        export function go() { main(); late(); }
        // ^ calls a.late
        // ^ calls a.main
        // --- main.mjs
        import { go } from "./b.mjs";
        import * as b from "./b.mjs";
        go();
        // ^ calls b.go
        b.helper();
        // ^ calls b.helper
        b.default();
        // ^ calls b.default
        """,
    "iterator protocol": """
        // --- a.js
        class Node { constructor(v, next) { this.v = v; this.next = next; } visit() {} }
        class List {
          constructor() { this.head = null; }
          add(v) { this.head = new Node(v, this.head); return this; }
          // ^ calls a.Node.constructor
          each(fn) { let n = this.head; while (n) { fn(n); n = n.next; } }
          // ^ calls a.show
        }
        const list = new List().add(1).add(2);
        // ^ calls a.List.add
        // ^ calls a.List.constructor
        list.each((n) => n.visit());
        // ^ calls a.List.each
        // ^ calls a.Node.visit
        function show(n) { n.visit(); }
        // ^ calls a.Node.visit
        list.each(show);
        // ^ calls a.List.each
        """,
}
