"""Snippets of JavaScript, two for each feature, with recorded calls (`record.py`)."""

from __future__ import annotations

PROGRAMS = {
    "assignments: chained, logical and to properties": """
        // --- main.js
        function one() { return 1; }
        function two() { return 2; }
        function three() { return 3; }
        let a, b;
        a = b = one;
        a();
        // ^ calls main.one
        b();
        // ^ calls main.one
        a = two;
        a();
        // ^ calls main.two
        let c = null;
        c ??= three;
        c();
        // ^ calls main.three
        let d = one;
        d &&= two;
        d();
        // ^ calls main.two
        const box = {};
        box.inner = { run: one };
        box.inner.run();
        // ^ calls main.one
        box["other"] = two;
        box.other();
        // ^ calls main.two
        const key = "third";
        box[key] = three;
        box[key]();
        // ^ calls main.three
        const { inner } = box;
        inner.run();
        // ^ calls main.one
        const same = box;
        same.other();
        // ^ calls main.two
        (0, box.other)();
        // ^ calls main.two
        var e = (one(), two);
        // ^ calls main.one
        e();
        // ^ calls main.two
        """,
    "assignments: aliases, ternaries and reassigned parameters": """
        // --- main.js
        function plain(x) { return x; }
        function loud(x) { return String(x).toUpperCase(); }
        function fallback(x) { return "-" + x; }
        const alias = plain;
        const again = alias;
        again("a");
        // ^ calls main.plain
        const chosen = process.argv.length > 100 ? loud : plain;
        chosen("b");
        // ^ calls main.plain
        function use(fn, x) {
          fn = fn || fallback;
          return fn(x);
          // ^ calls main.fallback
          // ^ calls main.loud
        }
        use(null, "c");
        // ^ calls main.use
        use(loud, "d");
        // ^ calls main.use
        function keep(target) {
          target.action = loud;
          return target;
        }
        const kept = keep({});
        // ^ calls main.keep
        kept.action("e");
        // ^ calls main.loud
        let counter = 0;
        const tick = () => { counter += 1; return next; };
        const next = () => counter;
        tick()();
        // ^ calls main.next
        // ^ calls main.tick
        const list = [plain];
        list[1] = loud;
        list[1]("f");
        // ^ calls main.loud
        [list[0], list[1]] = [list[1], list[0]];
        list.length;
        let swap = plain, other = loud;
        [swap, other] = [other, swap];
        swap("g");
        // ^ calls main.loud
        other("h");
        // ^ calls main.plain
        """,
    "closures: counters, private helpers and functions in loops": """
        // --- main.js
        function makeCounter(start) {
          let value = start;
          function increment() { value += step(); return value; }
          // ^ calls main.makeCounter.step
          function step() { return 1; }
          return { increment, reset: () => { value = begin(); } };
          // ^ calls main.makeCounter.begin
          function begin() { return start; }
        }
        const counter = makeCounter(5);
        // ^ calls main.makeCounter
        counter.increment();
        // ^ calls main.makeCounter.increment
        counter.reset();
        // ^ calls main.makeCounter.reset
        const { increment } = counter;
        increment();
        // ^ calls main.makeCounter.increment
        const workers = [];
        for (let i = 0; i < 3; i++) {
          workers.push(() => report(i));
          // ^ calls main.report
        }
        function report(i) { return i; }
        workers[0]();
        workers.forEach((w) => w());
        function once(fn) {
          let done = false, result;
          return function () {
            if (!done) { result = fn.apply(this, arguments); done = true; }
            // ^ calls main.boot
            return result;
          };
        }
        const start = once(function boot() { return makeCounter(1); });
        // ^ calls main.makeCounter
        // ^ calls main.once
        start();
        start().increment();
        // ^ calls main.makeCounter.increment
        function outer() {
          const name = "outer";
          function middle() {
            return function innermost() { return report(name); };
            // ^ calls main.report
          }
          return middle();
          // ^ calls main.outer.middle
        }
        outer()();
        // ^ calls main.outer
        // ^ calls main.outer.middle.innermost
        """,
    "closures: partial application and shared state": """
        // --- main.js
        function partial(fn, ...first) {
          return (...rest) => fn(...first, ...rest);
          // ^ calls main.add3
        }
        function add3(a, b, c) { return a + b + c; }
        const addOne = partial(add3, 1);
        // ^ calls main.partial
        addOne(2, 3);
        const addBoth = partial(partial(add3, 1), 2);
        // ^ calls main.partial
        addBoth(3);
        const store = (() => {
          const listeners = [];
          let state = {};
          const notify = () => listeners.forEach((listener) => listener(state));
          // ^ calls main.logState
          return {
            subscribe(listener) { listeners.push(listener); notify(); },
            // ^ calls main.notify
            update(change) { state = change(state); notify(); },
            // ^ calls main.notify
            get: () => state,
          };
        })();
        function logState(state) { return Object.keys(state); }
        store.subscribe(logState);
        // ^ calls main.subscribe
        store.update((s) => extend(s, { n: 1 }));
        // ^ calls main.extend
        // ^ calls main.update
        function extend(base, more) { return { ...base, ...more }; }
        store.get();
        // ^ calls main.get
        function lazy(make) {
          let value;
          return () => value ?? (value = make());
        }
        const config = lazy(() => load("config"));
        // ^ calls main.lazy
        // ^ calls main.load
        function load(name) { return { name, size() { return name.length; } }; }
        config();
        config().size();
        // ^ calls main.load.size
        """,
    "containers: nested objects, queues and dispatch tables": """
        // --- main.js
        function get(req) { return req; }
        function post(req) { return req; }
        function missing() { return 404; }
        const routes = {
          "/users": { GET: get, POST: post },
          "/items": { GET: (req) => get(req) },
          // ^ calls main.get
        };
        function dispatch(method, path, req) {
          const handler = routes[path]?.[method] ?? missing;
          return handler(req);
          // ^ calls main.get
          // ^ calls main.missing
          // ^ calls main.post
          // ^ calls main.routes.GET
        }
        dispatch("GET", "/users", {});
        // ^ calls main.dispatch
        dispatch("POST", "/users", {});
        // ^ calls main.dispatch
        dispatch("GET", "/items", {});
        // ^ calls main.dispatch
        dispatch("GET", "/none", {});
        // ^ calls main.dispatch
        routes["/users"].GET({});
        // ^ calls main.get
        routes["/users"]["POST"]({});
        // ^ calls main.post
        const queue = [];
        queue.push(get, post);
        queue.unshift(missing);
        while (queue.length) {
          const job = queue.shift();
          job("x");
          // ^ calls main.get
          // ^ calls main.missing
          // ^ calls main.post
        }
        const matrix = [[get, post], [missing]];
        matrix[0][1]("y");
        // ^ calls main.post
        matrix.flat().forEach((fn) => fn("z"));
        // ^ calls main.get
        // ^ calls main.missing
        // ^ calls main.post
        for (const [name, fn] of Object.entries({ get, missing })) fn(name);
        // ^ calls main.get
        // ^ calls main.missing
        const pair = { first: get, second: { third: post } };
        pair.second.third("w");
        // ^ calls main.post
        Object.values(pair.second)[0]("v");
        // ^ calls main.post
        """,
    "containers: Map, Set and WeakMap of functions and objects": """
        // --- main.js
        class Item {
          constructor(name) { this.name = name; }
          show() { return format(this.name); }
          // ^ calls main.format
        }
        function format(text) { return `<${text}>`; }
        const items = new Map();
        items.set("a", new Item("a"));
        // ^ calls main.Item.constructor
        items.set("b", new Item("b"));
        // ^ calls main.Item.constructor
        items.get("a").show();
        // ^ calls main.Item.show
        items.forEach((item) => item.show());
        // ^ calls main.Item.show
        for (const [key, item] of items) item.show();
        // ^ calls main.Item.show
        for (const item of items.values()) item.show();
        // ^ calls main.Item.show
        [...items.values()].map((item) => item.show());
        // ^ calls main.Item.show
        const handlers = new Map([["open", onOpen], ["close", onClose]]);
        function onOpen(what) { return what; }
        function onClose(what) { return what; }
        handlers.get("open")("door");
        // ^ calls main.onOpen
        function fire(event) {
          const handler = handlers.get(event);
          if (handler) handler(event);
          // ^ calls main.onClose
          // ^ calls main.onOpen
        }
        fire("open");
        // ^ calls main.fire
        fire("close");
        // ^ calls main.fire
        const seen = new Set([onOpen]);
        seen.add(onClose);
        seen.forEach((fn) => fn("box"));
        // ^ calls main.onClose
        // ^ calls main.onOpen
        for (const fn of seen) fn("bag");
        // ^ calls main.onClose
        // ^ calls main.onOpen
        const extra = new WeakMap();
        const item = new Item("c");
        // ^ calls main.Item.constructor
        extra.set(item, { describe() { return item.show(); } });
        // ^ calls main.Item.show
        extra.get(item).describe();
        // ^ calls main.describe
        const groups = new Map();
        function addTo(group, fn) {
          if (!groups.has(group)) groups.set(group, []);
          groups.get(group).push(fn);
        }
        addTo("x", onOpen);
        // ^ calls main.addTo
        groups.get("x").forEach((fn) => fn("y"));
        // ^ calls main.onOpen
        groups.get("x")[0]("z");
        // ^ calls main.onOpen
        """,
    "higher-order: functions that wrap functions": """
        // --- main.js
        const log = [];
        function traced(fn) {
          function wrapper(...args) {
            note(fn.name);
            // ^ calls main.note
            return fn(...args);
            // ^ calls main.cube
            // ^ calls main.rectangle
            // ^ calls main.service.fetch
          }
          return wrapper;
        }
        function note(text) { log.push(text); }
        const area = traced(function rectangle(w, h) { return w * h; });
        // ^ calls main.traced
        area(2, 3);
        // ^ calls main.traced.wrapper
        function cube(n) { return n ** 3; }
        const tracedCube = traced(cube);
        // ^ calls main.traced
        tracedCube(3);
        // ^ calls main.traced.wrapper
        const compose = (...fns) => (x) => fns.reduceRight((value, fn) => fn(value), x);
        // ^ calls main.inc
        // ^ calls main.twice
        const inc = (n) => n + 1;
        const twice = (n) => n * 2;
        compose(inc, twice)(4);
        // ^ calls main.compose
        const both = compose(twice, inc);
        // ^ calls main.compose
        both(1);
        function retry(times) {
          return (fn) => (...args) => {
            for (let i = 0; i < times; i++) {
              try { return fn(...args); } catch (e) { note(e.message); }
              // ^ calls main.note
              // ^ calls main.risky
            }
          };
        }
        function risky(n) { if (n > 0) throw new Error("no"); return n; }
        const safe = retry(2)(risky);
        // ^ calls main.retry
        safe(0);
        safe(1);
        function decorateMethod(target, name, wrap) {
          const original = target[name];
          target[name] = wrap(original);
          // ^ calls main.traced
        }
        const service = { fetch(id) { return inc(id); } };
        // ^ calls main.inc
        decorateMethod(service, "fetch", traced);
        // ^ calls main.decorateMethod
        service.fetch(1);
        // ^ calls main.traced.wrapper
        """,
    "higher-order: callbacks, predicates and array methods": """
        // --- main.js
        function isEven(n) { return n % 2 === 0; }
        function square(n) { return n * n; }
        function sum(a, b) { return a + b; }
        const numbers = [1, 2, 3, 4];
        numbers.filter(isEven).map(square).reduce(sum, 0);
        // ^ calls main.isEven
        // ^ calls main.square
        // ^ calls main.sum
        numbers.some(isEven);
        // ^ calls main.isEven
        numbers.every((n) => isEven(n) || n > 0);
        // ^ calls main.isEven
        numbers.find(function bigger(n) { return n > 2; });
        // ^ calls main.bigger
        numbers.findIndex(isEven);
        // ^ calls main.isEven
        numbers.flatMap((n) => repeat(n, 2));
        // ^ calls main.repeat
        function repeat(value, times) { return Array(times).fill(value); }
        numbers.slice().sort(descending);
        // ^ calls main.descending
        function descending(a, b) { return b - a; }
        Array.from({ length: 3 }, square);
        // ^ calls main.square
        Array.from(numbers, (n) => square(n));
        // ^ calls main.square
        function each(list, action) {
          for (let i = 0; i < list.length; i++) action(list[i], i);
          // ^ calls main.square
        }
        each(numbers, (n) => sum(n, 1));
        // ^ calls main.each
        // ^ calls main.sum
        each(numbers, square);
        // ^ calls main.each
        function not(predicate) { return (value) => !predicate(value); }
        // ^ calls main.isEven
        numbers.filter(not(isEven));
        // ^ calls main.not
        const isOdd = not(isEven);
        // ^ calls main.not
        isOdd(3);
        const actions = numbers.map((n) => () => square(n));
        // ^ calls main.square
        actions[0]();
        actions.forEach((action) => action());
        const named = { isEven, square };
        Object.keys(named).forEach((key) => named[key](4));
        // ^ calls main.isEven
        // ^ calls main.square
        "a-b".replace(/-./g, (m) => upper(m));
        // ^ calls main.upper
        function upper(text) { return text.toUpperCase(); }
        """,
    "generators: iteration, delegation and sending values": """
        // --- main.js
        function* count(limit) {
          for (let i = 0; i < limit; i++) yield make(i);
          // ^ calls main.make
        }
        function make(i) { return { id: i, show() { return label(this.id); } }; }
        // ^ calls main.label
        function label(id) { return `#${id}`; }
        for (const item of count(3)) item.show();
        // ^ calls main.count
        // ^ calls main.make.show
        const gen = count(2);
        // ^ calls main.count
        gen.next().value.show();
        // ^ calls main.make.show
        const [first] = count(1);
        // ^ calls main.count
        first.show();
        // ^ calls main.make.show
        [...count(2)].forEach((x) => x.show());
        // ^ calls main.count
        // ^ calls main.make.show
        function* all() {
          yield* count(1);
          // ^ calls main.count
          yield* extra();
          // ^ calls main.extra
        }
        function* extra() { yield make(100); }
        // ^ calls main.make
        for (const item of all()) item.show();
        // ^ calls main.all
        // ^ calls main.make.show
        function* functions() {
          yield label;
          yield twice;
        }
        function twice(n) { return n * 2; }
        for (const fn of functions()) fn(2);
        // ^ calls main.functions
        // ^ calls main.label
        // ^ calls main.twice
        const it = functions();
        // ^ calls main.functions
        const f = it.next().value;
        f(1);
        // ^ calls main.label
        function* conversation() {
          const reply = yield "ready";
          reply("hello");
          // ^ calls main.label
        }
        const talk = conversation();
        // ^ calls main.conversation
        talk.next();
        talk.next(label);
        class Tree {
          constructor(value, children = []) { this.value = value; this.children = children; }
          *[Symbol.iterator]() {
            yield this.value;
            for (const child of this.children) yield* child;
            // ^ calls main.Tree.[Symbol.iterator]
          }
        }
        const tree = new Tree(label, [new Tree(twice)]);
        // ^ calls main.Tree.constructor
        for (const fn of tree) fn(3);
        // ^ calls main.Tree.[Symbol.iterator]
        // ^ calls main.label
        // ^ calls main.twice
        """,
    "generators: async iteration and objects with iterators": """
        // --- main.js
        async function* pages(total) {
          for (let i = 0; i < total; i++) yield await fetchPage(i);
          // ^ calls main.fetchPage
        }
        async function fetchPage(n) { return new Page(n); }
        // ^ calls main.Page.constructor
        class Page {
          constructor(n) { this.n = n; }
          render() { return decorate(this.n); }
          // ^ calls main.decorate
        }
        function decorate(n) { return `[${n}]`; }
        async function main() {
          for await (const page of pages(2)) page.render();
          // ^ calls main.Page.render
          // ^ calls main.pages
          const single = await fetchPage(9);
          // ^ calls main.fetchPage
          single.render();
          // ^ calls main.Page.render
          const results = await Promise.all([fetchPage(1), fetchPage(2)]);
          // ^ calls main.fetchPage
          results.forEach((p) => p.render());
          // ^ calls main.Page.render
          const [head, tail] = await Promise.all([fetchPage(3), helper()]);
          // ^ calls main.fetchPage
          // ^ calls main.helper
          head.render();
          // ^ calls main.Page.render
          tail();
          // ^ calls main.decorate
        }
        async function helper() { return decorate; }
        main().then(finish);
        // ^ calls main.finish
        // ^ calls main.main
        function finish() { return decorate("end"); }
        // ^ calls main.decorate
        const range = {
          from: 1,
          to: 3,
          [Symbol.iterator]() {
            let at = this.from;
            const last = this.to;
            return {
              next: () =>
                at <= last ? { value: step(at++), done: false } : { value: 0, done: true },
                // ^ calls main.step
            };
          },
        };
        function step(n) { return n; }
        for (const n of range) decorate(n);
        // ^ calls main.decorate
        // ^ calls main.range.[Symbol.iterator]
        // ^ calls main.range.[Symbol.iterator].next
        Array.from(range);
        // ^ calls main.range.[Symbol.iterator]
        // ^ calls main.range.[Symbol.iterator].next
        """,
    "inheritance: overrides, super calls and abstract methods": """
        // --- main.js
        class Shape {
          constructor(name) { this.name = name; this.init(); }
          // ^ calls main.Shape.init
          // ^ calls main.Square.init
          init() { this.ready = true; }
          area() { throw new Error("abstract"); }
          describe() { return `${this.name}: ${this.area()}`; }
          // ^ calls main.Circle.area
          // ^ calls main.Square.area
          static create(...args) { return new this(...args); }
          // ^ calls main.Circle.constructor
          // ^ calls main.Square.constructor
        }
        class Circle extends Shape {
          constructor(r) { super("circle"); this.r = r; }
          // ^ calls main.Shape.constructor
          area() { return pi() * this.r; }
          // ^ calls main.pi
        }
        class Square extends Shape {
          constructor(side) { super("square"); this.side = side; }
          // ^ calls main.Shape.constructor
          init() { super.init(); this.kind = "regular"; }
          // ^ calls main.Shape.init
          area() { return multiply(this.side, this.side); }
          // ^ calls main.multiply
          describe() { return super.describe() + "!"; }
          // ^ calls main.Shape.describe
        }
        class Unit extends Square {
          constructor() { super(1); }
          // ^ calls main.Square.constructor
        }
        function pi() { return 3; }
        function multiply(a, b) { return a * b; }
        const shapes = [new Circle(1), new Square(2)];
        // ^ calls main.Circle.constructor
        // ^ calls main.Square.constructor
        for (const shape of shapes) shape.describe();
        // ^ calls main.Shape.describe
        // ^ calls main.Square.describe
        const unit = new Unit();
        // ^ calls main.Unit.constructor
        unit.area();
        // ^ calls main.Square.area
        unit.describe();
        // ^ calls main.Square.describe
        Circle.create(4).area();
        // ^ calls main.Circle.area
        // ^ calls main.Shape.create
        Square.create(3).init();
        // ^ calls main.Shape.create
        // ^ calls main.Square.init
        new Circle(2).describe();
        // ^ calls main.Circle.constructor
        // ^ calls main.Shape.describe
        function total(list) { return list.reduce((n, s) => n + s.area(), 0); }
        // ^ calls main.Circle.area
        // ^ calls main.Square.area
        total(shapes);
        // ^ calls main.total
        """,
    "inheritance: static members, chains and instanceof": """
        // --- base.js
        export class Model {
          static registry = [];
          static register(kind) { Model.registry.push(kind); return kind; }
          static build(data) { const one = new this(); one.load(data); return one; }
          // ^ calls admin.Admin
          // ^ calls base.Model.load
          // ^ calls user.User
          load(data) { this.data = this.parse(data); }
          // ^ calls user.User.parse
          parse(data) { return data; }
        }
        // --- user.js
        import { Model } from "./base.js";
        export class User extends Model {
          parse(data) { return clean(super.parse(data)); }
          // ^ calls base.Model.parse
          // ^ calls user.clean
          get label() { return this.title(); }
          // ^ calls admin.Admin.title
          title() { return "user"; }
        }
        function clean(data) { return { ...data }; }
        Model.register(User);
        // ^ calls base.Model.register
        // --- admin.js
        import { User } from "./user.js";
        export default class Admin extends User {
          title() { return "admin " + super.title(); }
          // ^ calls user.User.title
          static build(data) { const admin = super.build(data); admin.grant(); return admin; }
          // ^ calls admin.Admin.grant
          // ^ calls base.Model.build
          grant() { this.rights = true; }
        }
        // --- main.js
        import Admin from "./admin.js";
        import { User } from "./user.js";
        import { Model } from "./base.js";
        const user = User.build({ a: 1 });
        // ^ calls base.Model.build
        user.title();
        // ^ calls user.User.title
        const admin = Admin.build({ b: 2 });
        // ^ calls admin.Admin.build
        admin.title();
        // ^ calls admin.Admin.title
        admin.label;
        // ^ calls user.User.label
        Model.register(Admin);
        // ^ calls base.Model.register
        for (const Kind of Model.registry) new Kind().load({});
        // ^ calls admin.Admin
        // ^ calls base.Model.load
        // ^ calls user.User
        function greet(who) {
          if (who instanceof Admin) who.grant();
          // ^ calls admin.Admin.grant
          return who.title();
          // ^ calls admin.Admin.title
          // ^ calls user.User.title
        }
        greet(user);
        // ^ calls main.greet
        greet(admin);
        // ^ calls main.greet
        """,
    "modules: named, renamed, namespace and default imports": """
        // --- math.js
        export function add(a, b) { return a + b; }
        export const sub = (a, b) => a - b;
        const mul = (a, b) => times(a, b);
        // ^ calls math.times
        function times(a, b) { return a * b; }
        export { mul as multiply };
        export default function calculate(op, a, b) { return op(a, b); }
        // ^ calls math.add
        // ^ calls math.sub
        // --- shapes.js
        export class Point {
          constructor(x) { this.x = x; }
          norm() { return this.x; }
        }
        export const origin = new Point(0);
        // ^ calls shapes.Point.constructor
        export let current = () => origin;
        export function setCurrent(fn) { current = fn; }
        // --- index.js
        export * from "./math.js";
        export { Point, origin as zero } from "./shapes.js";
        export { default as calc } from "./math.js";
        export * as shapes from "./shapes.js";
        // --- main.js
        import { add, sub as minus, multiply, calc, Point, zero, shapes } from "./index.js";
        import calculate, * as math from "./math.js";
        add(1, 2);
        // ^ calls math.add
        minus(3, 1);
        // ^ calls math.sub
        multiply(2, 3);
        // ^ calls math.mul
        calc(add, 1, 2);
        // ^ calls math.calculate
        calculate(minus, 4, 2);
        // ^ calls math.calculate
        math.add(5, 6);
        // ^ calls math.add
        math.default(math.sub, 1, 1);
        // ^ calls math.calculate
        new Point(3).norm();
        // ^ calls shapes.Point.constructor
        // ^ calls shapes.Point.norm
        zero.norm();
        // ^ calls shapes.Point.norm
        shapes.origin.norm();
        // ^ calls shapes.Point.norm
        new shapes.Point(1).norm();
        // ^ calls shapes.Point.constructor
        // ^ calls shapes.Point.norm
        shapes.current().norm();
        // ^ calls shapes.Point.norm
        // ^ calls shapes.current
        shapes.setCurrent(() => new Point(7));
        // ^ calls shapes.setCurrent
        const { add: plus } = math;
        plus(1, 1);
        // ^ calls math.add
        const ops = { ...math };
        ops.multiply(2, 2);
        // ^ calls math.mul
        """,
}
