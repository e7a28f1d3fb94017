"""Programs of JavaScript with the calls that were recorded while they ran."""

from __future__ import annotations

PROGRAMS = {
    "prototype chain": """
        // --- a.js
        function Animal(name) { this.name = name; }
        Animal.prototype.speak = function () { return this.sound(); };
        // ^ calls a.Animal.sound
        Animal.prototype.sound = function () { return "..."; };
        function Dog(name) { Animal.call(this, name); }
        // ^ calls a.Animal
        Dog.prototype = Object.create(Animal.prototype);
        Dog.prototype.constructor = Dog;
        Dog.prototype.fetch = function () { this.speak(); };
        // ^ calls a.Animal.speak
        const d = new Dog("rex");
        // ^ calls a.Dog
        d.speak();
        // ^ calls a.Animal.speak
        d.fetch();
        // ^ calls a.Dog.fetch
        """,
    "prototype object": """
        // --- a.js
        function Stack() { this.items = []; }
        Stack.prototype = {
          push: function (x) { this.items.push(x); this.changed(); },
          // ^ calls a.Stack.changed
          changed() {},
        };
        Stack.of = function () { return new Stack(); };
        // ^ calls a.Stack
        const s = Stack.of();
        // ^ calls a.Stack.of
        s.push(1);
        // ^ calls a.Stack.push
        """,
    "call apply bind": """
        // --- a.js
        function greet(a, b) { return inner(a); }
        // ^ calls a.inner
        function inner(x) {}
        greet.call(null, 1);
        // ^ calls a.greet
        greet.apply(null, [1, 2]);
        // ^ calls a.greet
        const bound = greet.bind(null, 1);
        bound(2);
        // ^ calls a.greet
        const obj = { n: 1, get() { return this.n; } };
        const g = obj.get.bind(obj);
        g();
        // ^ calls a.obj.get
        obj.get.call({ n: 2 });
        // ^ calls a.obj.get
        Array.prototype.forEach.call([1], inner);
        // ^ calls a.inner
        """,
    "getters setters": """
        // --- a.js
        function note(v) {}
        class Temp {
          constructor() { this._c = 0; }
          get fahrenheit() { return this.convert(); }
          // ^ calls a.Temp.convert
          set celsius(v) { note(v); this._c = v; }
          // ^ calls a.note
          convert() { return this._c; }
        }
        const t = new Temp();
        // ^ calls a.Temp.constructor
        t.celsius = 4;
        // ^ calls a.Temp.celsius
        t.fahrenheit;
        // ^ calls a.Temp.fahrenheit
        const o = { get size() { return measure(); } };
        // ^ calls a.measure
        function measure() { return 2; }
        const n = o.size;
        // ^ calls a.o.size
        """,
    "class super": """
        // --- a.js
        class A {
          constructor(x) { this.init(x); }
          // ^ calls a.A.init
          // ^ calls a.B.init
          init() {}
          static make() { return new this(1); }
          // ^ calls a.A.constructor
          // ^ calls a.B.constructor
          toString() { return "a"; }
        }
        class B extends A {
          constructor() { super(2); this.ready(); }
          // ^ calls a.A.constructor
          // ^ calls a.B.ready
          init() { super.init(); }
          // ^ calls a.A.init
          ready() {}
          static make() { return super.make(); }
          // ^ calls a.A.make
        }
        new B().init();
        // ^ calls a.B.constructor
        // ^ calls a.B.init
        B.make();
        // ^ calls a.B.make
        A.make();
        // ^ calls a.A.make
        """,
    "class fields arrow": """
        // --- a.js
        class Button {
          handlers = [];
          onClick = () => { this.fire(); };
          // ^ calls a.Button.fire
          static count = start();
          // ^ calls a.start
          fire() { this.handlers.forEach((h) => h()); }
          // ^ calls a.pressed
          add(h) { this.handlers.push(h); return this; }
        }
        function start() { return 0; }
        function pressed() {}
        const b = new Button();
        // ^ calls a.Button
        b.add(pressed).onClick();
        // ^ calls a.Button.add
        // ^ calls a.Button.onClick
        """,
    "iife": """
        // --- a.js
        const counter = (function () {
          let n = 0;
          function bump() { return ++n; }
          return { up: bump, twice() { bump(); return bump(); } };
          // ^ calls a.bump
        })();
        counter.up();
        // ^ calls a.bump
        counter.twice();
        // ^ calls a.twice
        (() => { counter.up(); })();
        // ^ calls a.bump
        !function named() { counter.twice(); }();
        // ^ calls a.named
        // ^ calls a.twice
        """,
    "closures in loops": """
        // --- a.js
        function log(i) {}
        const fns = [];
        for (let i = 0; i < 3; i++) {
          fns.push(function task() { log(i); });
          // ^ calls a.log
        }
        for (const f of fns) f();
        // ^ calls a.task
        fns[0]();
        // ^ calls a.task
        fns.forEach((f) => f());
        // ^ calls a.task
        """,
    "array callbacks": """
        // --- a.js
        function double(x) { return x * 2; }
        function even(x) { return true; }
        function sum(a, b) { return a + b; }
        function byNum(a, b) { return a - b; }
        [1, 2].map(double).filter(even).reduce(sum, 0);
        // ^ calls a.double
        // ^ calls a.even
        // ^ calls a.sum
        [3, 1].sort(byNum);
        // ^ calls a.byNum
        [1].find(even);
        // ^ calls a.even
        [1].some((x) => even(x));
        // ^ calls a.even
        Array.from([1, 2], double);
        // ^ calls a.double
        [[1]].flatMap((xs) => xs.map(double));
        // ^ calls a.double
        """,
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
    "destructuring defaults": """
        // --- a.js
        function fallback() {}
        function real() {}
        function run({ cb = fallback, deep: { hook = fallback } = {} } = {}) { cb(); hook(); }
        // ^ calls a.fallback
        // ^ calls a.real
        run({ cb: real });
        // ^ calls a.run
        run();
        // ^ calls a.run
        const { x: { y: go } } = { x: { y: real } };
        go();
        // ^ calls a.real
        const [p, q = fallback] = [real];
        p();
        // ^ calls a.real
        q();
        // ^ calls a.fallback
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
    "computed members": """
        // --- a.js
        const KEY = "go";
        function act() {}
        const table = { [KEY]: act, "x-y": act, stop: () => {} };
        table[KEY]();
        // ^ calls a.act
        table["x-y"]();
        // ^ calls a.act
        table["stop"]();
        // ^ calls a.table.stop
        class C { ["run"]() {} static ["of"]() { return new C(); } }
        // ^ calls a.C
        new C().run();
        // ^ calls a.C
        // ^ calls a.C.run
        C.of()["run"]();
        // ^ calls a.C.of
        // ^ calls a.C.run
        """,
    "arguments object": """
        // --- a.js
        function one() {}
        function two() {}
        function runFirst() { arguments[0](); }
        // ^ calls a.one
        function runAll() { for (const f of arguments) f(); }
        // ^ calls a.one
        // ^ calls a.two
        function pass() { return runAll.apply(null, arguments); }
        // ^ calls a.runAll
        runFirst(one);
        // ^ calls a.runFirst
        runAll(one, two);
        // ^ calls a.runAll
        pass(two);
        // ^ calls a.pass
        """,
    "spread rest": """
        // --- a.js
        function f1() {}
        function f2() {}
        function each(...fns) { fns.forEach((f) => f()); }
        // ^ calls a.f1
        // ^ calls a.f2
        const list = [f1, f2];
        each(...list);
        // ^ calls a.each
        const base = { a: f1 };
        const more = { ...base, b: f2 };
        more.a();
        // ^ calls a.f1
        more.b();
        // ^ calls a.f2
        const [h, ...t] = list;
        t[0]();
        // ^ calls a.f2
        const { a, ...others } = more;
        others.b();
        // ^ calls a.f2
        """,
    "mixins": """
        // --- a.js
        const Flying = (Base) => class extends Base { fly() { this.move(); } };
        // ^ calls a.Body.move
        class Body { move() {} }
        class Bird extends Flying(Body) { sing() { this.fly(); } }
        // ^ calls a.Flying
        // ^ calls a.Flying.fly
        new Bird().sing();
        // ^ calls a.Bird
        // ^ calls a.Bird.sing
        new Bird().fly();
        // ^ calls a.Bird
        // ^ calls a.Flying.fly
        const canSwim = { swim() { this.dive(); }, dive() {} };
        // ^ calls a.canSwim.dive
        class Fish {}
        Object.assign(Fish.prototype, canSwim);
        new Fish().swim();
        // ^ calls a.Fish
        // ^ calls a.canSwim.swim
        """,
    "event emitter own": """
        // --- a.js
        class Emitter {
          constructor() { this.map = {}; }
          on(name, fn) { (this.map[name] = this.map[name] || []).push(fn); return this; }
          emit(name, ...args) { (this.map[name] || []).forEach((fn) => fn(...args)); }
          // ^ calls a.bye
          // ^ calls a.hello
        }
        function hello() {}
        function bye() {}
        const e = new Emitter();
        // ^ calls a.Emitter.constructor
        e.on("a", hello).on("b", bye);
        // ^ calls a.Emitter.on
        e.emit("a");
        // ^ calls a.Emitter.emit
        e.emit("b");
        // ^ calls a.Emitter.emit
        """,
    "event emitter node": """
        // --- a.js
        const { EventEmitter } = require("events");
        class Server extends EventEmitter {
          start() { this.emit("up", 1); }
          // ^ calls a.Server.onUp
          bind() { this.on("up", this.onUp); }
          onUp() { finish(); }
          // ^ calls a.finish
        }
        function finish() {}
        const s = new Server();
        // ^ calls a.Server
        s.bind();
        // ^ calls a.Server.bind
        s.start();
        // ^ calls a.Server.start
        """,
    "dynamic dispatch": """
        // --- a.js
        const ops = {
          add(a, b) { return a; },
          sub: (a, b) => b,
        };
        function calc(op, a, b) { return ops[op](a, b); }
        // ^ calls a.ops.add
        // ^ calls a.ops.sub
        calc("add", 1, 2);
        // ^ calls a.calc
        calc("sub", 1, 2);
        // ^ calls a.calc
        for (const k of Object.keys(ops)) ops[k](1, 2);
        // ^ calls a.ops.add
        // ^ calls a.ops.sub
        Object.values(ops).forEach((f) => f(1, 2));
        // ^ calls a.ops.add
        // ^ calls a.ops.sub
        for (const [k, f] of Object.entries(ops)) f(3, 4);
        // ^ calls a.ops.add
        // ^ calls a.ops.sub
        """,
    "higher order": """
        // --- a.js
        const compose = (...fns) => (x) => fns.reduceRight((v, f) => f(v), x);
        // ^ calls a.dbl
        // ^ calls a.inc
        const inc = (x) => x + 1;
        const dbl = (x) => x * 2;
        compose(inc, dbl)(3);
        // ^ calls a.compose
        function once(fn) {
          let r;
          return function () { if (fn) { r = fn(); fn = null; } return r; };
          // ^ calls a.setup
        }
        function setup() {}
        const init = once(setup);
        // ^ calls a.once
        init();
        init();
        """,
    "currying": """
        // --- a.js
        function log() {}
        const curry = (f) => (a) => (b) => f(a, b);
        // ^ calls a.add
        const add = (a, b) => { log(); return a + b; };
        // ^ calls a.log
        curry(add)(1)(2);
        // ^ calls a.curry
        const add1 = curry(add)(1);
        // ^ calls a.curry
        add1(5);
        """,
    "switch and conditional": """
        // --- a.js
        function fast() {}
        function slow() {}
        function choose(q) {
          switch (q) { case 1: return fast; default: return slow; }
        }
        choose(1)();
        // ^ calls a.choose
        // ^ calls a.fast
        choose(2)();
        // ^ calls a.choose
        // ^ calls a.slow
        const mode = true ? fast : slow;
        const h = null ?? fast;
        h();
        // ^ calls a.fast
        const k = fast && slow;
        k();
        // ^ calls a.slow
        """,
    "maps sets": """
        // --- a.js
        function one() {}
        function two() {}
        const m = new Map([["a", one]]);
        m.set("b", two);
        m.get("a")();
        // ^ calls a.one
        m.get("b")();
        // ^ calls a.two
        for (const f of m.values()) f();
        // ^ calls a.one
        // ^ calls a.two
        m.forEach((f) => f());
        // ^ calls a.one
        // ^ calls a.two
        const s = new Set([one]);
        s.add(two);
        for (const f of s) f();
        // ^ calls a.one
        // ^ calls a.two
        """,
    "object create and this": """
        // --- a.js
        const proto = { hi() { return this.name(); }, name() { return "p"; } };
        // ^ calls a.proto.name
        const child = Object.create(proto);
        child.extra = function () { this.hi(); };
        // ^ calls a.proto.hi
        child.hi();
        // ^ calls a.proto.hi
        child.extra();
        // ^ calls a.child.extra
        const copy = Object.assign({}, proto, { more() {} });
        copy.more();
        // ^ calls a.more
        copy.hi();
        // ^ calls a.proto.hi
        """,
    "static registry": """
        // --- a.js
        class Registry {
          static items = new Map();
          static register(k, C) { Registry.items.set(k, C); }
          static create(k) { const C = this.items.get(k); return new C(); }
          // ^ calls a.Foo.constructor
        }
        class Foo { constructor() { this.boot(); } boot() {} }
        // ^ calls a.Foo.boot
        Registry.register("foo", Foo);
        // ^ calls a.Registry.register
        Registry.create("foo");
        // ^ calls a.Registry.create
        """,
    "function hoisting and shadow": """
        // --- a.js
        run();
        // ^ calls a.run
        function run() { helper(); function helper() { leaf(); } }
        // ^ calls a.leaf
        // ^ calls a.run.helper
        function helper() {}
        function leaf() {}
        helper();
        // ^ calls a.helper
        {
          function scoped() {}
          scoped();
          // ^ calls a.scoped
        }
        var v = function inner(n) { if (n) inner(n - 1); };
        // ^ calls a.v
        v(1);
        // ^ calls a.v
        """,
    "default params": """
        // --- a.js
        function dflt() {}
        function real() {}
        function go(cb = dflt, after = () => real()) { cb(); after(); }
        // ^ calls a.dflt
        // ^ calls a.real
        go();
        // ^ calls a.go
        go(real);
        // ^ calls a.go
        class K { constructor(s = new S()) { this.s = s; } use() { this.s.go(); } }
        // ^ calls a.S
        // ^ calls a.S.go
        class S { go() {} }
        new K().use();
        // ^ calls a.K.constructor
        // ^ calls a.K.use
        """,
    "callbacks node style": """
        // --- a.js
        function readIt(name, cb) { cb(null, new Doc()); }
        // ^ calls a.Doc
        // ^ calls a.named
        // ^ calls a.onRead
        class Doc { title() {} }
        function onRead(err, doc) { doc.title(); }
        // ^ calls a.Doc.title
        readIt("x", onRead);
        // ^ calls a.readIt
        readIt("y", (err, doc) => { doc.title(); });
        // ^ calls a.Doc.title
        // ^ calls a.readIt
        readIt("z", function named(err, doc) { doc.title(); });
        // ^ calls a.Doc.title
        // ^ calls a.readIt
        """,
    "symbols and tags": """
        // --- a.js
        const run = Symbol("run");
        class Task { [run]() { work(); } go() { this[run](); } }
        // ^ calls a.Task.[run]
        // ^ calls a.work
        function work() {}
        new Task().go();
        // ^ calls a.Task
        // ^ calls a.Task.go
        function tag(strings, ...vals) { return vals[0](); }
        // ^ calls a.work
        tag`x${work}`;
        // ^ calls a.tag
        new (class { start() { work(); } })().start();
        // ^ calls a.start
        // ^ calls a.work
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
    "observer": """
        // --- a.js
        class Subject {
          constructor() { this.obs = []; }
          attach(o) { this.obs.push(o); }
          notify(e) { for (const o of this.obs) o.update(e); }
          // ^ calls a.View.update
        }
        class View { update() { this.draw(); } draw() {} }
        // ^ calls a.View.draw
        const s = new Subject();
        // ^ calls a.Subject.constructor
        s.attach(new View());
        // ^ calls a.Subject.attach
        // ^ calls a.View
        s.notify(1);
        // ^ calls a.Subject.notify
        """,
    "emitter with arrays": """
        // --- a.js
        function Emitter() { this.events = {}; }
        Emitter.prototype.on = function (n, fn) {
          if (!this.events[n]) this.events[n] = [];
          this.events[n].push(fn);
        };
        Emitter.prototype.emit = function (n) {
          const list = this.events[n];
          for (let i = 0; i < list.length; i++) list[i]();
          // ^ calls a.hi
        };
        function hi() {}
        const e = new Emitter();
        // ^ calls a.Emitter
        e.on("x", hi);
        // ^ calls a.Emitter.on
        e.emit("x");
        // ^ calls a.Emitter.emit
        """,
    "middleware": """
        // --- a.js
        class App {
          constructor() { this.stack = []; }
          use(fn) { this.stack.push(fn); return this; }
          run(ctx) {
            const next = (i) => { const fn = this.stack[i]; if (fn) fn(ctx, () => next(i + 1)); };
            // ^ calls a.App.run.next
            // ^ calls a.auth
            // ^ calls a.log
            next(0);
            // ^ calls a.App.run.next
          }
        }
        function auth(ctx, next) { next(); }
        function log(ctx, next) { next(); }
        new App().use(auth).use(log).run({});
        // ^ calls a.App.constructor
        // ^ calls a.App.run
        // ^ calls a.App.use
        """,
    "factory and dispose": """
        // --- a.js
        function createStore(reducer) {
          let state;
          const subs = [];
          function getState() { return state; }
          function dispatch(a) { state = reducer(state, a); subs.forEach((s) => s()); }
          // ^ calls a.changed
          // ^ calls a.reduce
          const subscribe = (s) => { subs.push(s); return () => {}; };
          return { getState, dispatch, subscribe };
        }
        function reduce(s, a) { return s; }
        function changed() {}
        const store = createStore(reduce);
        // ^ calls a.createStore
        store.subscribe(changed);
        // ^ calls a.createStore.subscribe
        store.dispatch({});
        // ^ calls a.createStore.dispatch
        store.getState();
        // ^ calls a.createStore.getState
        """,
    "class private static": """
        // --- a.js
        class Counter {
          static #made = 0;
          #n = 0;
          static create() { Counter.#bump(); return new Counter(); }
          // ^ calls a.Counter
          // ^ calls a.Counter.#bump
          static #bump() { Counter.#made++; }
          inc() { this.#add(1); return this; }
          // ^ calls a.Counter.#add
          #add(k) { this.#n += k; }
          get value() { return this.#read(); }
          // ^ calls a.Counter.#read
          #read() { return this.#n; }
        }
        const c = Counter.create().inc().inc();
        // ^ calls a.Counter.create
        // ^ calls a.Counter.inc
        c.value;
        // ^ calls a.Counter.value
        """,
    "inherit util": """
        // --- a.js
        const util = require("util");
        function Base() { this.init(); }
        // ^ calls a.Base.init
        Base.prototype.init = function () {};
        Base.prototype.run = function () { return this.step(); };
        // ^ calls a.Base.step
        Base.prototype.step = function () {};
        function Child() { Base.call(this); }
        // ^ calls a.Base
        util.inherits(Child, Base);
        Child.prototype.extra = function () { this.run(); };
        // ^ calls a.Base.run
        new Child().extra();
        // ^ calls a.Child
        // ^ calls a.Child.extra
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
    "visitor table": """
        // --- a.js
        const visitors = {
          Num(n) {},
          Add(n) { walk(n.l); walk(n.r); },
          // ^ calls a.walk
        };
        function walk(node) { const v = visitors[node.type]; if (v) v(node); }
        // ^ calls a.visitors.Add
        // ^ calls a.visitors.Num
        walk({ type: "Add", l: { type: "Num" }, r: { type: "Num" } });
        // ^ calls a.walk
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
    "getter chain and setter": """
        // --- a.js
        class Engine { start() { this.on = true; } }
        class Car {
          get engine() { return this._e || (this._e = new Engine()); }
          // ^ calls a.Engine
          set speed(v) { this.check(v); }
          // ^ calls a.Car.check
          check() {}
        }
        const car = new Car();
        // ^ calls a.Car
        car.engine.start();
        // ^ calls a.Car.engine
        // ^ calls a.Engine.start
        car.speed = 3;
        // ^ calls a.Car.speed
        """,
    "memo and debounce": """
        // --- a.js
        function memo(fn) {
          const cache = {};
          return function memoized(k) { if (!(k in cache)) cache[k] = fn(k); return cache[k]; };
          // ^ calls a.slow
        }
        function slow(k) { return k; }
        const fast = memo(slow);
        // ^ calls a.memo
        fast(1);
        // ^ calls a.memo.memoized
        fast(1);
        // ^ calls a.memo.memoized
        const twice = (f) => (x) => f(f(x));
        // ^ calls a.slow
        twice(slow)(2);
        // ^ calls a.twice
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
    "object methods shorthand": """
        // --- a.js
        const make = (name) => ({
          name,
          hi() { return this.name; },
          loud: () => shout(name),
          // ^ calls a.shout
          nested: { deep() { return shout(name); } },
          // ^ calls a.shout
        });
        function shout(s) { return s; }
        const o = make("x");
        // ^ calls a.make
        o.hi();
        // ^ calls a.make.hi
        o.loud();
        // ^ calls a.make.loud
        o.nested.deep();
        // ^ calls a.make.deep
        const { hi, loud } = make("y");
        // ^ calls a.make
        loud();
        // ^ calls a.make.loud
        """,
    "array of handlers reduce": """
        // --- a.js
        const trim = (s) => s;
        const upper = (s) => s;
        const pipe = [trim, upper];
        pipe.reduce((acc, f) => f(acc), "x");
        // ^ calls a.trim
        // ^ calls a.upper
        pipe.map((f) => f("y"));
        // ^ calls a.trim
        // ^ calls a.upper
        const [first, second] = pipe;
        second("z");
        // ^ calls a.upper
        pipe.concat([shout]).forEach((f) => f("q"));
        // ^ calls a.shout
        // ^ calls a.trim
        // ^ calls a.upper
        function shout(s) {}
        for (const [i, f] of pipe.entries()) f(i);
        // ^ calls a.trim
        // ^ calls a.upper
        """,
}
