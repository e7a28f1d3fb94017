"""The latest programs of JavaScript, with the calls recorded while they ran (`record.py`)."""

from __future__ import annotations

PROGRAMS = {
    "assignments of a registry": """
        // --- a.js
        class Unit {
          constructor(name, factor = 1) { this.name = name; this.factor = factor; }
          convert(value) { return value * this.factor; }
          label() { return this.name; }
        }
        class Scaled extends Unit {
          convert(value) { return Math.round(super.convert(value)); }
          // ^ calls a.Unit.convert
        }
        const meter = new Unit("m");
        // ^ calls a.Unit.constructor
        const kilo = new Scaled("km", 1000);
        // ^ calls a.Scaled
        // ^ calls a.Unit.constructor
        let current = meter;
        current.convert(1);
        // ^ calls a.Unit.convert
        current = kilo;
        current.convert(2);
        // ^ calls a.Scaled.convert
        let [primary, backup] = [kilo, meter];
        primary.label();
        // ^ calls a.Unit.label
        backup.convert(3);
        // ^ calls a.Unit.convert
        const units = { m: meter };
        units.km = kilo;
        units.km.convert(4);
        // ^ calls a.Scaled.convert
        units["m"].label();
        // ^ calls a.Unit.label
        function choose(big) {
          let unit;
          if (big) unit = kilo;
          else unit = meter;
          return unit.convert(5);
          // ^ calls a.Scaled.convert
          // ^ calls a.Unit.convert
        }
        choose(true);
        // ^ calls a.choose
        choose(false);
        // ^ calls a.choose
        class Registry {
          static shared = new Registry();
          // ^ calls a.Registry
          known = {};
          last = null;
          add(unit) { this.last = this.known[unit.label()] = unit; return this; }
          // ^ calls a.Unit.label
          get(name) { return this.known[name] ?? meter; }
        }
        const registry = new Registry();
        // ^ calls a.Registry
        registry.add(meter).add(kilo);
        // ^ calls a.Registry.add
        registry.last.convert(6);
        // ^ calls a.Scaled.convert
        registry.get("m").label();
        // ^ calls a.Registry.get
        // ^ calls a.Unit.label
        Registry.shared.add(meter);
        // ^ calls a.Registry.add
        const { convert, label: named } = { convert: meter.convert, label: () => kilo.label() };
        // ^ calls a.Unit.label
        named();
        // ^ calls a.label
        const bound = kilo.convert.bind(kilo);
        bound(7);
        // ^ calls a.Scaled.convert
        const { m: short } = units;
        short.label();
        // ^ calls a.Unit.label
        let cache;
        function lazy() { cache ||= new Unit("lazy"); return cache; }
        // ^ calls a.Unit.constructor
        lazy().label();
        // ^ calls a.Unit.label
        // ^ calls a.lazy
        const Alias = Registry;
        new Alias().add(meter);
        // ^ calls a.Registry
        // ^ calls a.Registry.add
        const pick = registry ? (x) => kilo.convert(x) : null;
        // ^ calls a.Scaled.convert
        pick?.(8);
        """,
    "closures of a view": """
        // --- a.js
        function signal(initial) {
          let value = initial;
          const watchers = new Set();
          const get = () => value;
          const set = (next) => {
            value = next;
            for (const watcher of watchers) watcher(value);
            // ^ calls a.log
          };
          function watch(fn) {
            watchers.add(fn);
            fn(value);
            // ^ calls a.log
            return () => watchers.delete(fn);
          }
          return [get, set, watch];
        }
        const [count, setCount, watchCount] = signal(0);
        // ^ calls a.signal
        function show(value) { return `${value}`; }
        function log(value) { return show(value); }
        // ^ calls a.show
        const stop = watchCount(log);
        // ^ calls a.signal.watch
        setCount(5);
        // ^ calls a.signal.set
        count();
        // ^ calls a.signal.get
        stop();
        function computed(read, change) {
          let cached;
          return {
            refresh() { cached = change(read()); return this.value(); },
            // ^ calls a.computed.value
            // ^ calls a.double
            // ^ calls a.signal.get
            value: () => cached,
          };
        }
        const double = (n) => n * 2;
        const twice = computed(count, double);
        // ^ calls a.computed
        twice.refresh();
        // ^ calls a.computed.refresh
        twice.value();
        // ^ calls a.computed.value
        const store = (function () {
          const state = {};
          function read(key) { return state[key]; }
          function write(key, value) { state[key] = value; return read(key); }
          // ^ calls a.read
          return { read, write };
        })();
        store.write("a", 1);
        // ^ calls a.write
        store.read("a");
        // ^ calls a.read
        function component(name) {
          const header = () => name;
          const body = function () {
            function row(text) { return decorate(text); }
            // ^ calls a.decorate
            return ["a", "b"].map(row).join("");
            // ^ calls a.component.body.row
          };
          const render = () => header() + body();
          // ^ calls a.component.body
          // ^ calls a.component.header
          render.header = header;
          return render;
        }
        function decorate(text) { return `<${text}>`; }
        const page = component("home");
        // ^ calls a.component
        page();
        // ^ calls a.component.render
        page.header();
        // ^ calls a.component.header
        const makers = [];
        for (const kind of ["x", "y"]) makers.push(() => component(kind));
        // ^ calls a.component
        makers[0]()();
        // ^ calls a.component.render
        const memo = (fn) => {
          const kept = new Map();
          const lookup = (key) => {
            if (!kept.has(key)) kept.set(key, fn(key));
            return kept.get(key);
          };
          lookup.clear = () => kept.clear();
          return lookup;
        };
        const square = memo((n) => double(n));
        // ^ calls a.double
        // ^ calls a.memo
        square(3);
        // ^ calls a.memo.lookup
        square.clear();
        // ^ calls a.memo.lookup.clear
        """,
    "containers of jobs": """
        // --- a.js
        class Job {
          constructor(name, work) { this.name = name; this.work = work; this.after = []; }
          then_(job) { this.after.push(job); return job; }
          run() {
            const result = this.work();
            // ^ calls a.clean
            // ^ calls a.load
            // ^ calls a.save
            this.after.forEach((job) => job.run());
            // ^ calls a.Job.run
            return result;
          }
        }
        function load() { return 1; }
        function clean() { return 2; }
        function save() { return 3; }
        const first = new Job("load", load);
        // ^ calls a.Job.constructor
        const last = first.then_(new Job("clean", clean)).then_(new Job("save", save));
        // ^ calls a.Job.constructor
        // ^ calls a.Job.then_
        first.run();
        // ^ calls a.Job.run
        const queue = [first];
        queue.push(last);
        while (queue.length) {
          const job = queue.shift();
          job.run();
          // ^ calls a.Job.run
        }
        const byLetter = {};
        for (const job of [first, last]) {
          (byLetter[job.name[0]] ??= []).push(job);
        }
        for (const [letter, jobs] of Object.entries(byLetter)) {
          for (const job of jobs) job.then_(new Job("end", save));
          // ^ calls a.Job.constructor
          // ^ calls a.Job.then_
        }
        [last, first].sort((a, b) => (a.name < b.name ? -1 : 1))[0].run();
        // ^ calls a.Job.run
        const steps = [load, clean, save];
        for (const step of steps) step();
        // ^ calls a.clean
        // ^ calls a.load
        // ^ calls a.save
        steps.map((step) => step());
        // ^ calls a.clean
        // ^ calls a.load
        // ^ calls a.save
        steps[0]();
        // ^ calls a.load
        steps.at(-1)();
        // ^ calls a.save
        const table = { l: load, c: clean };
        for (const key in table) table[key]();
        // ^ calls a.clean
        // ^ calls a.load
        for (const key of Object.keys(table)) table[key]();
        // ^ calls a.clean
        // ^ calls a.load
        Object.values(table).forEach((fn) => fn());
        // ^ calls a.clean
        // ^ calls a.load
        const map = new Map([["l", load], ["j", first]]);
        map.get("l")();
        // ^ calls a.load
        map.get("j").run();
        // ^ calls a.Job.run
        const nested = { in: { load, jobs: [first] } };
        nested.in.load();
        // ^ calls a.load
        nested.in.jobs[0].run();
        // ^ calls a.Job.run
        const chosen = [first, last].filter((job) => job.name === "load");
        chosen[0].run();
        // ^ calls a.Job.run
        const found = [first, last].find((job) => job.name === "save");
        found.run();
        // ^ calls a.Job.run
        const [head, ...rest] = steps;
        head();
        // ^ calls a.load
        rest.forEach((other) => other());
        // ^ calls a.clean
        // ^ calls a.save
        const all = [...steps, first.work];
        all[3].call(first);
        // ^ calls a.load
        for (let i = 0; i < steps.length; i++) steps[i]();
        // ^ calls a.clean
        // ^ calls a.load
        // ^ calls a.save
        steps.some((step) => step() > 2);
        // ^ calls a.clean
        // ^ calls a.load
        // ^ calls a.save
        steps.reduce((total, step) => total + step(), 0);
        // ^ calls a.clean
        // ^ calls a.load
        // ^ calls a.save
        const weak = new WeakMap();
        weak.set(first, clean);
        weak.get(first)();
        // ^ calls a.clean
        """,
    "wrappers of an api": """
        // --- a.js
        class Router {
          constructor(prefix = "") { this.prefix = prefix; this.routes = {}; this.hooks = []; }
          route(path, handler) { this.routes[this.prefix + path] = handler; return this; }
          use(hook) { this.hooks.push(hook); return this; }
          handle(path, ...args) {
            for (const hook of this.hooks) hook(path);
            // ^ calls a.count
            return this.routes[path](...args);
            // ^ calls a.users
          }
        }
        const router = new Router("/api");
        // ^ calls a.Router.constructor
        const checked = (role) => (run) => (...args) => { allow(role); return run(...args); };
        // ^ calls a.allow
        // ^ calls a.one
        function allow(role) { return role; }
        function traced(fn, level = 1) {
          return function trace(...args) { return note(fn.apply(this, args), level); };
          // ^ calls a.note
          // ^ calls a.one
        }
        function note(value, level) { return value; }
        function count(path) { return path.length; }
        const users = () => fetchKey("users");
        // ^ calls a.fetchKey
        function one(key = 1) { return fetchKey(key); }
        // ^ calls a.fetchKey
        function fetchKey(key) { return key; }
        router.use(count).route("/users", users);
        // ^ calls a.Router.route
        // ^ calls a.Router.use
        router.route("/one", checked("admin")(one));
        // ^ calls a.Router.route
        // ^ calls a.checked
        router.handle("/api/users");
        // ^ calls a.Router.handle
        router.handle("/api/one", 2);
        // ^ calls a.Router.handle
        const deep = traced(one, 2);
        // ^ calls a.traced
        deep(3);
        // ^ calls a.traced.trace
        class Page {
          #key;
          constructor(key) { this.#key = key; }
          get size() { return this.text().length; }
          // ^ calls a.Page.text
          set size(value) { this.#resize(value); }
          // ^ calls a.Page.#resize
          #resize(value) { this.#key = value; }
          text() { return String(this.#key); }
          static of(key) { return new this(key); }
          // ^ calls a.Page.constructor
        }
        const known = [];
        function registered(cls) { known.push(cls); return cls; }
        const Wide = registered(class extends Page {
        // ^ calls a.registered
          text() { return super.text() + "!"; }
          // ^ calls a.Page.text
        });
        const page = Page.of(5);
        // ^ calls a.Page.of
        page.size;
        // ^ calls a.Page.size
        page.size = 6;
        // ^ calls a.Page.size
        page.text();
        // ^ calls a.Page.text
        new known[0](7).text();
        // ^ calls a.Page.constructor
        // ^ calls a.text
        function withLog(target, name) {
          const original = target[name];
          target[name] = function (...args) { note(name, 1); return original.apply(this, args); };
          // ^ calls a.Page.text
          // ^ calls a.note
          return target;
        }
        withLog(Page.prototype, "text");
        // ^ calls a.withLog
        Page.of(8).text();
        // ^ calls a.Page.of
        function once(fn) {
          let done = false;
          let value;
          return (...args) => {
            if (!done) { value = fn(...args); done = true; }
            // ^ calls a.one
            return value;
          };
        }
        const setup = once(one);
        // ^ calls a.once
        setup();
        const pipe = (...fns) => (x) => fns.reduce((value, fn) => fn(value), x);
        // ^ calls a.note
        // ^ calls a.one
        pipe(one, note)(9);
        // ^ calls a.pipe
        """,
    "generators of a feed": """
        // --- a.js
        class Entry {
          constructor(title, size) { this.title = title; this.size = size; }
          line() { return this.title; }
          grow(by) { this.size += by; return this; }
        }
        class Feed {
          constructor(entries) { this.entries = entries; }
          *[Symbol.iterator]() { yield* this.entries; }
          *large(least) {
            for (const entry of this) if (this.fits(entry, least)) yield entry;
            // ^ calls a.Feed.[Symbol.iterator]
            // ^ calls a.Feed.fits
          }
          fits(entry, least) { return entry.size >= least; }
          *pages(size) {
            let page = [];
            for (const entry of this.entries) {
              page.push(entry);
              if (page.length === size) { yield new Feed(page); page = []; }
              // ^ calls a.Feed.constructor
            }
          }
        }
        function* parse(lines) {
          for (const line of lines) {
            const [title, size] = line.split(" ");
            yield make(title, size);
            // ^ calls a.make
          }
        }
        function make(title, size) { return new Entry(title, Number(size)); }
        // ^ calls a.Entry.constructor
        function* numbered(entries, start = 1) {
          let number = start;
          for (const entry of entries) yield [number++, entry];
        }
        const feed = new Feed([...parse(["a 1", "b 5"])]);
        // ^ calls a.Feed.constructor
        // ^ calls a.parse
        for (const entry of feed) entry.line();
        // ^ calls a.Entry.line
        // ^ calls a.Feed.[Symbol.iterator]
        for (const entry of feed.large(2)) entry.grow(1);
        // ^ calls a.Entry.grow
        // ^ calls a.Feed.large
        for (const page of feed.pages(1)) page.fits(page.entries[0], 1);
        // ^ calls a.Feed.fits
        // ^ calls a.Feed.pages
        for (const [number, entry] of numbered(feed.entries)) entry.line();
        // ^ calls a.Entry.line
        // ^ calls a.numbered
        const lines = [...feed].map((entry) => entry.line());
        // ^ calls a.Entry.line
        // ^ calls a.Feed.[Symbol.iterator]
        const first = parse(["c 3"]).next().value;
        // ^ calls a.parse
        first.line();
        // ^ calls a.Entry.line
        const iterator = numbered(feed.entries)[Symbol.iterator]();
        // ^ calls a.numbered
        const { value: [, second] } = iterator.next();
        second.line();
        // ^ calls a.Entry.line
        function* take(source, times) {
          let left = times;
          for (const each of source) {
            if (left-- <= 0) return;
            yield each;
          }
        }
        for (const entry of take(feed.entries, 1)) entry.line();
        // ^ calls a.Entry.line
        // ^ calls a.take
        Array.from(take(parse(["d 4"]), 1)).forEach((entry) => entry.grow(2));
        // ^ calls a.Entry.grow
        // ^ calls a.parse
        // ^ calls a.take
        function* both() {
          yield* parse(["e 5"]);
          // ^ calls a.parse
          yield make("f", 6);
          // ^ calls a.make
        }
        for (const entry of both()) entry.line();
        // ^ calls a.Entry.line
        // ^ calls a.both
        async function* stream() {
          yield make("g", 7);
          // ^ calls a.make
        }
        async function drain() {
          for await (const entry of stream()) entry.line();
          // ^ calls a.Entry.line
          // ^ calls a.stream
          const results = await Promise.all([load("h"), load("i")]);
          // ^ calls a.load
          results.forEach((entry) => entry.line());
          // ^ calls a.Entry.line
          return finish();
          // ^ calls a.finish
        }
        async function load(title) { return make(title, 1); }
        // ^ calls a.make
        function finish() { return 1; }
        drain().then(finish);
        // ^ calls a.drain
        // ^ calls a.finish
        const range = { *[Symbol.iterator]() { let n = 0; while (n++ < 2) yield make(n, n); } };
        // ^ calls a.make
        for (const entry of range) entry.line();
        // ^ calls a.Entry.line
        // ^ calls a.range.[Symbol.iterator]
        """,
    "inheritance of shapes": """
        // --- shapes.js
        export class Shape {
          static registry = {};
          static register(name) { Shape.registry[name] = this; return this; }
          constructor(name) { this.name = name; }
          area() { throw new Error("abstract"); }
          describe() { return `${this.title()}: ${this.area()}`; }
          // ^ calls shapes.Circle.area
          // ^ calls shapes.Circle.title
          // ^ calls shapes.Group.area
          // ^ calls shapes.Shape.title
          // ^ calls shapes.Square.area
          title() { return this.name.toUpperCase(); }
          static unit() { return new this("unit", 1); }
          // ^ calls shapes.Square.constructor
          compare(other) { return this.area() - other.area(); }
          // ^ calls shapes.Circle.area
          // ^ calls shapes.Square.area
          toString() { return this.title(); }
          // ^ calls shapes.Shape.title
        }
        export class Square extends Shape {
          constructor(name, side) { super(name); this.side = side; }
          // ^ calls shapes.Shape.constructor
          area() { return this.side ** 2; }
        }
        export class Circle extends Shape {
          #radius;
          constructor(name, radius) { super(name); this.#radius = radius; }
          // ^ calls shapes.Shape.constructor
          area() { return 3 * this.#radius; }
          title() { return "round " + super.title(); }
          // ^ calls shapes.Shape.title
        }
        const Logged = (Base) => class extends Base {
          area() { this.note("area"); return super.area(); }
          // ^ calls shapes.LoggedSquare.note
          // ^ calls shapes.Square.area
          note(text) { return text; }
        };
        export class LoggedSquare extends Logged(Square) {
        // ^ calls shapes.Logged
          note(text) { return super.note(text).toUpperCase(); }
          // ^ calls shapes.Logged.note
        }
        export default class Group extends Shape {
          constructor(shapes) { super("group"); this.shapes = shapes; }
          // ^ calls shapes.Shape.constructor
          area() { return this.shapes.reduce((sum, shape) => sum + shape.area(), 0); }
          // ^ calls shapes.Circle.area
          // ^ calls shapes.Square.area
        }
        // --- main.js
        import Group, { Circle, LoggedSquare, Shape, Square } from "./shapes.js";
        const square = new Square("s", 2);
        // ^ calls shapes.Square.constructor
        const circle = new Circle("c", 1);
        // ^ calls shapes.Circle.constructor
        square.describe();
        // ^ calls shapes.Shape.describe
        circle.describe();
        // ^ calls shapes.Shape.describe
        square.compare(circle);
        // ^ calls shapes.Shape.compare
        const both = new Group([square, circle]);
        // ^ calls shapes.Group.constructor
        both.area();
        // ^ calls shapes.Group.area
        both.describe();
        // ^ calls shapes.Shape.describe
        const logged = new LoggedSquare("l", 3);
        // ^ calls shapes.LoggedSquare
        // ^ calls shapes.Square.constructor
        logged.area();
        // ^ calls shapes.Logged.area
        logged.title();
        // ^ calls shapes.Shape.title
        Square.unit().area();
        // ^ calls shapes.Shape.unit
        // ^ calls shapes.Square.area
        function total(shapes) { return shapes.reduce((sum, shape) => sum + shape.area(), 0); }
        // ^ calls shapes.Circle.area
        // ^ calls shapes.Square.area
        total([square, circle]);
        // ^ calls main.total
        Circle.register("circle");
        // ^ calls shapes.Shape.register
        const Kind = Shape.registry.circle;
        new Kind("again", 2).describe();
        // ^ calls shapes.Circle.constructor
        // ^ calls shapes.Shape.describe
        for (const each of [square, logged]) each.title();
        // ^ calls shapes.Shape.title
        function grow(shape) {
          if (shape instanceof Square) return shape.area();
          // ^ calls shapes.Square.area
          return shape.title();
          // ^ calls shapes.Circle.title
        }
        grow(square);
        // ^ calls main.grow
        grow(circle);
        // ^ calls main.grow
        `${square}`;
        // ^ calls shapes.Shape.toString
        function Animal(name) { this.name = name; }
        Animal.prototype.speak = function () { return this.sound(); };
        // ^ calls main.Dog.sound
        Animal.prototype.sound = function () { return "?"; };
        function Dog(name) { Animal.call(this, name); }
        // ^ calls main.Animal
        Dog.prototype = Object.create(Animal.prototype);
        Dog.prototype.constructor = Dog;
        Dog.prototype.sound = function () { return "woof"; };
        const dog = new Dog("rex");
        // ^ calls main.Dog
        dog.speak();
        // ^ calls main.Animal.speak
        dog.sound();
        // ^ calls main.Dog.sound
        const proto = { hello() { return this.name(); }, name() { return "p"; } };
        // ^ calls main.proto.name
        const child = Object.create(proto);
        child.hello();
        // ^ calls main.proto.hello
        """,
    "imports of tools": """
        // --- tools/index.js
        export { clean, Words } from "./text.js";
        export * as maths from "./numbers.js";
        export * from "./shapes.js";
        export { default as Default } from "./deep/index.js";
        import { add } from "./numbers.js";
        export function version() { return add(1, 2); }
        // ^ calls tools.numbers.add
        // --- tools/text.js
        export function clean(text) { return strip(text); }
        // ^ calls tools.text.strip
        export const strip = (text) => text.trim();
        export class Words {
          constructor(text) { this.items = clean(text).split(" "); }
          // ^ calls tools.text.clean
          count() { return this.items.length; }
          first() { return this.items[0]; }
        }
        // --- tools/numbers.js
        export function add(a, b) { return a + b; }
        function root(n) { return Math.sqrt(n); }
        const addAll = (...ns) => ns.reduce((a, b) => a + b, 0);
        export { root as squareRoot, addAll };
        export default add;
        // --- tools/shapes.js
        import plus from "./numbers.js";
        export function area(a, b) { return hidden(a) * b; }
        // ^ calls tools.shapes.hidden
        function hidden(a) { return plus(a, 0); }
        // ^ calls tools.numbers.add
        export class Box { size() { return area(1, 2); } }
        // ^ calls tools.shapes.area
        // --- tools/deep/index.js
        import { Words as Base } from "../text.js";
        export default class More extends Base {
          count() { return super.count() + 1; }
          // ^ calls tools.text.Words.count
        }
        // --- main.js
        import * as tools from "./tools/index.js";
        import { Words, area, maths, Default } from "./tools/index.js";
        import { strip as bare } from "./tools/text.js";
        import sum, { squareRoot } from "./tools/numbers.js";
        tools.version();
        // ^ calls tools.version
        tools.clean(" x ");
        // ^ calls tools.text.clean
        squareRoot(4);
        // ^ calls tools.numbers.root
        maths.addAll(1, 2);
        // ^ calls tools.numbers.addAll
        tools.maths.add(3, 4);
        // ^ calls tools.numbers.add
        new Words("a b").count();
        // ^ calls tools.text.Words.constructor
        // ^ calls tools.text.Words.count
        const more = new Default("c d");
        // ^ calls tools.deep.More
        // ^ calls tools.text.Words.constructor
        more.count();
        // ^ calls tools.deep.More.count
        more.first();
        // ^ calls tools.text.Words.first
        area(1, 2);
        // ^ calls tools.shapes.area
        bare(" y ");
        // ^ calls tools.text.strip
        new tools.Box().size();
        // ^ calls tools.shapes.Box
        // ^ calls tools.shapes.Box.size
        sum(5, 6);
        // ^ calls tools.numbers.add
        const { clean, Box } = tools;
        clean(" z ");
        // ^ calls tools.text.clean
        new Box().size();
        // ^ calls tools.shapes.Box
        // ^ calls tools.shapes.Box.size
        const handlers = { clean: tools.clean, add: maths.add };
        handlers.add(5, 6);
        // ^ calls tools.numbers.add
        handlers["clean"](" w ");
        // ^ calls tools.text.clean
        async function late() {
          const { Words: Later } = await import("./tools/text.js");
          const shapes = await import("./tools/shapes.js");
          new Later("e").first();
          // ^ calls tools.text.Words.constructor
          // ^ calls tools.text.Words.first
          return shapes.area(1, 2);
          // ^ calls tools.shapes.area
        }
        late();
        // ^ calls main.late
        const api = { ...maths, extra() { return this.add(1, 1); } };
        // ^ calls tools.numbers.add
        api.add(7, 8);
        // ^ calls tools.numbers.add
        api.extra();
        // ^ calls main.api.extra
        """,
    "arguments of a query": """
        // --- a.js
        class Query {
          constructor(table, { where = always, order } = {}) {
            this.table = table;
            this.where = where;
            this.done = [];
          }
          filter(rules) {
            for (const [key, rule] of Object.entries(rules)) this.done.push(rule);
            return this;
          }
          run(rows, { each, finish } = {}) {
            let kept = rows.filter((row) => this.where(row));
            // ^ calls a.always
            // ^ calls a.even
            // ^ calls a.small
            for (const rule of this.done) kept = kept.filter((row) => rule(row));
            // ^ calls a.even
            if (each) kept = kept.map(each);
            // ^ calls a.double
            finish?.(kept);
            // ^ calls a.report
            return kept;
          }
        }
        function always(row) { return true; }
        function even(row) { return row % 2 === 0; }
        const small = (row) => row < 10;
        const double = (row) => row * 2;
        function report(rows) { return rows.length; }
        new Query("n").run([1, 2]);
        // ^ calls a.Query.constructor
        // ^ calls a.Query.run
        new Query("n", { where: even }).run([1, 2], { each: double });
        // ^ calls a.Query.constructor
        // ^ calls a.Query.run
        new Query("n", { where: small }).filter({ rule: even }).run([4], { finish: report });
        // ^ calls a.Query.constructor
        // ^ calls a.Query.filter
        // ^ calls a.Query.run
        function build(Kind, after = report, ...parts) {
          const made = new Kind(...parts);
          // ^ calls a.Query.constructor
          after([]);
          // ^ calls a.report
          return made;
        }
        build(Query, undefined, "t").run([2]);
        // ^ calls a.Query.run
        // ^ calls a.build
        function send(message, { retries = 3, onError, via } = {}) {
          try {
            return deliver(message, via);
            // ^ calls a.deliver
          } catch (error) {
            if (onError) onError(error);
            // ^ calls a.giveUp
          }
        }
        function deliver(message, via) {
          if (!via) throw new Error(message);
          return via(message);
          // ^ calls a.post
        }
        function post(message) { return message; }
        const giveUp = (error) => null;
        send("a", { via: post });
        // ^ calls a.send
        send("b", { onError: giveUp });
        // ^ calls a.send
        const options = { via: post };
        send("c", options);
        // ^ calls a.send
        send("d", { ...options, retries: 1 });
        // ^ calls a.send
        function compose(...functions) {
          return (value) => functions.reduce((result, fn) => fn(result), value);
          // ^ calls a.double
          // ^ calls a.even
        }
        compose(double, even)(3);
        // ^ calls a.compose
        const pipeline = compose(double);
        // ^ calls a.compose
        pipeline(4);
        function forward(fn, ...args) { return fn(...args); }
        // ^ calls a.report
        // ^ calls a.send
        forward(report, [1]);
        // ^ calls a.forward
        forward(send, "e", { via: post });
        // ^ calls a.forward
        forward((x) => double(x), 5);
        // ^ calls a.double
        // ^ calls a.forward
        class Event_ {
          constructor(name, callback, context) { Object.assign(this, { name, callback, context }); }
          fire(...args) { return this.callback ? this.callback(...args) : null; }
          // ^ calls a.report
        }
        new Event_("x", report).fire([]);
        // ^ calls a.Event_.constructor
        // ^ calls a.Event_.fire
        function each(items, visit = show, done = () => finish(items)) {
        // ^ calls a.finish
          items.forEach(visit);
          // ^ calls a.double
          // ^ calls a.show
          done();
        }
        function show(item) { return item; }
        function finish(items) { return items.length; }
        each([1]);
        // ^ calls a.each
        each([2], double, () => report([]));
        // ^ calls a.each
        // ^ calls a.report
        function nodeStyle(value, callback) { callback(null, value); }
        // ^ calls a.handle
        nodeStyle(1, (error, value) => show(value));
        // ^ calls a.nodeStyle
        // ^ calls a.show
        nodeStyle(2, handle);
        // ^ calls a.nodeStyle
        function handle(error, value) { return show(value); }
        // ^ calls a.show
        """,
    "returns of a builder": """
        // --- a.js
        class Node_ {
          constructor(tag) { this.tag = tag; this.children = []; }
          add(child) { this.children.push(child); return this; }
          text() { return this.tag; }
          find(tag) {
            for (const child of this.children) {
              if (child.tag === tag) return child;
              const found = child.find(tag);
              // ^ calls a.Node_.find
              if (found) return found;
            }
            return null;
          }
        }
        class Builder {
          constructor() { this.root = new Node_("root"); }
          // ^ calls a.Node_.constructor
          section(name) { this.root.add(new Node_(name)); return this; }
          // ^ calls a.Node_.add
          // ^ calls a.Node_.constructor
          build() { return this.root; }
          parts() { return [this.root, this.root.children]; }
          get last() { return this.root.children[this.root.children.length - 1]; }
        }
        const start = () => new Builder();
        // ^ calls a.Builder.constructor
        const tree = start().section("a").section("b").build();
        // ^ calls a.Builder.build
        // ^ calls a.Builder.section
        // ^ calls a.start
        tree.text();
        // ^ calls a.Node_.text
        tree.find("b").text();
        // ^ calls a.Node_.find
        // ^ calls a.Node_.text
        const [root, children] = start().section("c").parts();
        // ^ calls a.Builder.parts
        // ^ calls a.Builder.section
        // ^ calls a.start
        root.text();
        // ^ calls a.Node_.text
        children[0].text();
        // ^ calls a.Node_.text
        function pick(kind) {
          switch (kind) {
            case "text": return plain;
            case "html": return rich;
            default: return (node) => null;
          }
        }
        function plain(node) { return node.text(); }
        // ^ calls a.Node_.text
        function rich(node) { return `<${node.text()}>`; }
        // ^ calls a.Node_.text
        pick("text")(tree);
        // ^ calls a.pick
        // ^ calls a.plain
        const render = pick("html");
        // ^ calls a.pick
        render(tree);
        // ^ calls a.rich
        const both = () => ({ plain, rich });
        const { plain: first, rich: second } = both();
        // ^ calls a.both
        first(tree);
        // ^ calls a.plain
        second(tree);
        // ^ calls a.rich
        both().rich(tree);
        // ^ calls a.both
        // ^ calls a.rich
        function table() { return { plain, other: (node) => rich(node) }; }
        // ^ calls a.rich
        table()["plain"](tree);
        // ^ calls a.plain
        // ^ calls a.table
        table().other(tree);
        // ^ calls a.table
        // ^ calls a.table.other
        const maybe = (flag) => (flag ? tree : null);
        maybe(true)?.text();
        // ^ calls a.Node_.text
        // ^ calls a.maybe
        const builder = start().section("d");
        // ^ calls a.Builder.section
        // ^ calls a.start
        builder.last.text();
        // ^ calls a.Builder.last
        // ^ calls a.Node_.text
        function nested() {
          return function inner() {
            return () => tree;
          };
        }
        nested()()().text();
        // ^ calls a.Node_.text
        // ^ calls a.nested
        // ^ calls a.nested.inner
        const same = (value) => value;
        same(tree).text();
        // ^ calls a.Node_.text
        // ^ calls a.same
        same(plain)(tree);
        // ^ calls a.plain
        // ^ calls a.same
        function counter() {
          let total = 0;
          return {
            add(n) { total += n; return this.get(); },
            // ^ calls a.counter.get
            get: () => total,
          };
        }
        const c = counter();
        // ^ calls a.counter
        c.add(2);
        // ^ calls a.counter.add
        c.get();
        // ^ calls a.counter.get
        async function load() { return tree; }
        async function main() {
          const loaded = await load();
          // ^ calls a.load
          loaded.text();
          // ^ calls a.Node_.text
          return load().then((node) => node.text());
          // ^ calls a.Node_.text
          // ^ calls a.load
        }
        main().then(() => done());
        // ^ calls a.done
        // ^ calls a.main
        function done() { return 1; }
        new Promise((resolve) => resolve(tree)).then((node) => node.text());
        // ^ calls a.Node_.text
        const curry = (a) => (b) => (c) => plain(c);
        // ^ calls a.plain
        curry(1)(2)(tree);
        // ^ calls a.curry
        """,
    "objects of a game": """
        // --- a.js
        class Point {
          constructor(x, y) { this.x = x; this.y = y; }
          moved(dx, dy) { return new Point(this.x + dx, this.y + dy); }
          // ^ calls a.Point.constructor
          distance(other) { return Math.abs(this.x - other.x); }
          valueOf() { return this.x; }
        }
        const Action = Object.freeze({
          move: { name: "move", cost() { return 2; } },
          rest: { name: "rest", cost: () => 1 },
        });
        class Emitter {
          #handlers = {};
          on(name, handler) { (this.#handlers[name] ??= []).push(handler); return this; }
          emit(name, ...args) { (this.#handlers[name] ?? []).forEach((call) => call(...args)); }
          // ^ calls a.note
        }
        class Actor extends Emitter {
          mind = null;
          constructor(name, at) { super(); this.name = name; this.at = at; }
          // ^ calls a.Emitter
          turn(world) {
            const action = this.mind.decide(this, world);
            // ^ calls a.Hunter.decide
            // ^ calls a.Mind.decide
            this.perform(action);
            // ^ calls a.Actor.perform
            this.emit("turn", action);
            // ^ calls a.Emitter.emit
            return action.cost();
            // ^ calls a.cost
          }
          perform(action) { return this[`do_${action.name}`](); }
          // ^ calls a.Actor.do_move
          // ^ calls a.Actor.do_rest
          do_move() { this.at = this.at.moved(1, 0); }
          // ^ calls a.Point.moved
          do_rest() { return null; }
        }
        class Mind { decide(actor, world) { return Action.rest; } }
        class Hunter extends Mind {
          constructor(prey) { super(); this.prey = prey; }
          // ^ calls a.Mind
          decide(actor, world) {
            if (actor.at.distance(this.prey.at) > 1) return Action.move;
            // ^ calls a.Point.distance
            return super.decide(actor, world);
          }
        }
        class World {
          actors = [];
          log = new Log();
          // ^ calls a.Log
          static #count = 0;
          static { World.reset(); }
          // ^ calls a.World.reset
          static reset() { World.#count = 0; }
          add(actor) { this.actors.push(actor); return actor; }
          step() {
            for (const actor of this.actors) {
              const spent = actor.turn(this);
              // ^ calls a.Actor.turn
              this.log.write(`${actor.name} ${spent}`);
              // ^ calls a.Log.write
            }
          }
          near(point) { return this.actors.filter((a) => a.at.distance(point) < 2); }
          // ^ calls a.Point.distance
        }
        function Log() { this.lines = []; }
        Log.prototype.write = function (text) { this.lines.push(this.format(text)); };
        // ^ calls a.Log.format
        Log.prototype.format = function (text) { return text; };
        Object.defineProperty(Log.prototype, "size", { get() { return this.count(); } });
        // ^ calls a.Log.count
        Log.prototype.count = function () { return this.lines.length; };
        const world = new World();
        // ^ calls a.World
        const rabbit = world.add(new Actor("rabbit", new Point(5, 0)));
        // ^ calls a.Actor.constructor
        // ^ calls a.Point.constructor
        // ^ calls a.World.add
        rabbit.mind = new Mind();
        // ^ calls a.Mind
        const wolf = world.add(new Actor("wolf", new Point(0, 0)));
        // ^ calls a.Actor.constructor
        // ^ calls a.Point.constructor
        // ^ calls a.World.add
        wolf.mind = new Hunter(rabbit);
        // ^ calls a.Hunter.constructor
        wolf.on("turn", note);
        // ^ calls a.Emitter.on
        function note(action) { return action.cost(); }
        // ^ calls a.cost
        world.step();
        // ^ calls a.World.step
        for (const actor of world.near(new Point(5, 0))) actor.do_rest();
        // ^ calls a.Actor.do_rest
        // ^ calls a.Point.constructor
        // ^ calls a.World.near
        world.log.size;
        // ^ calls a.get
        world.log.format("x");
        // ^ calls a.Log.format
        const start = new Point(0, 0).moved(1, 1);
        // ^ calls a.Point.constructor
        // ^ calls a.Point.moved
        start.distance(rabbit.at);
        // ^ calls a.Point.distance
        start > rabbit.at;
        // ^ calls a.Point.valueOf
        Action["move"].cost();
        // ^ calls a.cost
        Action.rest.cost();
        // ^ calls a.cost
        for (const action of Object.values(Action)) action.cost();
        // ^ calls a.cost
        const mixin = { jump() { return this.land(); }, land() { return 0; } };
        // ^ calls a.mixin.land
        Object.assign(Actor.prototype, mixin);
        wolf.jump();
        // ^ calls a.mixin.jump
        const spy = new Proxy(rabbit, {});
        spy.do_rest();
        // ^ calls a.Actor.do_rest
        const later = setTimeout(() => world.step(), 0);
        // ^ calls a.World.step
        const unbound = world.log.format;
        unbound.call(world.log, "y");
        // ^ calls a.Log.format
        """,
}
