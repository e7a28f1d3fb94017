"""Programs of JavaScript that were written after the resolver was changed for the snippets."""

from __future__ import annotations

PROGRAMS = {
    "assignments and destructuring of shapes": """
        // --- main.js
        function north() { return "n"; }
        function south() { return "s"; }
        function east() { return "e"; }
        const compass = { up: north, down: south, side: { right: east } };
        const { up, down: lower, side: { right } } = compass;
        up();
        // ^ calls main.north
        lower();
        // ^ calls main.south
        right();
        // ^ calls main.east
        let go = up;
        go();
        // ^ calls main.north
        go = compass.down;
        go();
        // ^ calls main.south
        const [one, , three = east] = [north, south];
        one();
        // ^ calls main.north
        three();
        // ^ calls main.east
        const { missing = south } = compass;
        missing();
        // ^ calls main.south
        compass.up = east;
        compass.up();
        // ^ calls main.east
        let late;
        ({ up: late } = compass);
        late();
        // ^ calls main.east
        const copy = { ...compass, down: north };
        copy.down();
        // ^ calls main.north
        copy.side.right();
        // ^ calls main.east
        const turn = (dir) => dir === "n" ? north : south;
        turn("n")();
        // ^ calls main.north
        // ^ calls main.turn
        let n = 0;
        const steps = [];
        steps[n++] = north;
        steps[n++] = south;
        steps.forEach((step) => step());
        // ^ calls main.north
        // ^ calls main.south
        """,
    "closures with timers, memo and events": """
        // --- main.js
        function createTimer(onTick) {
          let id = null;
          const tick = () => { onTick(count()); };
          // ^ calls main.createTimer.count
          // ^ calls main.show
          function count() { return 1; }
          return {
            start() { id = setTimeout(tick, 0); return this; },
            // ^ calls main.createTimer.tick
            stop() { clearTimeout(id); finish(); },
            // ^ calls main.createTimer.finish
          };
          function finish() { id = null; }
        }
        const timer = createTimer(function show(n) { return print(n); });
        // ^ calls main.createTimer
        // ^ calls main.print
        function print(n) { return n; }
        timer.start();
        // ^ calls main.createTimer.start
        timer.start().stop();
        // ^ calls main.createTimer.start
        // ^ calls main.createTimer.stop
        const memo = (fn, known = {}) => (key) => known[key] ?? (known[key] = fn(key));
        // ^ calls main.measure
        const size = memo(measure);
        // ^ calls main.memo
        function measure(text) { return text.length; }
        size("abc");
        function chainOf(value) {
          return {
            map(fn) { return chainOf(fn(value)); },
            // ^ calls main.chainOf
            tap(fn) { fn(value); return this; },
            // ^ calls main.print
            get() { return value; },
          };
        }
        chainOf(1).map((x) => print(x)).tap(print).get();
        // ^ calls main.chainOf
        // ^ calls main.chainOf.get
        // ^ calls main.chainOf.map
        // ^ calls main.chainOf.tap
        // ^ calls main.print
        const bus = createBus();
        // ^ calls main.createBus
        function createBus() {
          const all = {};
          return { on, emit };
          function on(name, fn) { (all[name] ||= []).push(fn); return () => off(name, fn); }
          // ^ calls main.createBus.off
          function off(name, fn) { all[name] = all[name].filter((f) => f !== fn); }
          function emit(name, ...args) { for (const fn of all[name] ?? []) fn(...args); }
          // ^ calls main.print
        }
        const stop = bus.on("x", print);
        // ^ calls main.createBus.on
        bus.emit("x", 1);
        // ^ calls main.createBus.emit
        stop();
        """,
    "collections of tasks and records": """
        // --- main.js
        class Task {
          constructor(name, run) { this.name = name; this.run = run; }
          execute() { return this.run(this.name); }
          // ^ calls main.shout
          // ^ calls main.whisper
        }
        const shout = (s) => s.toUpperCase();
        const whisper = (s) => s.toLowerCase();
        const tasks = [new Task("a", shout), new Task("b", whisper)];
        // ^ calls main.Task.constructor
        tasks[0].execute();
        // ^ calls main.Task.execute
        tasks.at(-1).execute();
        // ^ calls main.Task.execute
        tasks.map((t) => t.execute());
        // ^ calls main.Task.execute
        tasks.sort(byName)[0].execute();
        // ^ calls main.Task.execute
        // ^ calls main.byName
        function byName(a, b) { return a.name < b.name ? -1 : 1; }
        const byKey = new Map(tasks.map((t) => [t.name, t]));
        byKey.get("a").execute();
        // ^ calls main.Task.execute
        for (const [key, task] of byKey) task.execute();
        // ^ calls main.Task.execute
        for (const task of byKey.values()) task.execute();
        // ^ calls main.Task.execute
        byKey.forEach((task) => task.execute());
        // ^ calls main.Task.execute
        const index = {};
        for (const task of tasks) index[task.name] = task;
        index.a.execute();
        // ^ calls main.Task.execute
        Object.values(index).forEach((t) => t.execute());
        // ^ calls main.Task.execute
        const grouped = tasks.reduce((all, t) => { (all[t.name] ??= []).push(t); return all; }, {});
        grouped.a[0].execute();
        // ^ calls main.Task.execute
        const first = tasks.find((t) => t.name === "a");
        first.execute();
        // ^ calls main.Task.execute
        const [head, ...others] = tasks;
        head.execute();
        // ^ calls main.Task.execute
        others[0].execute();
        // ^ calls main.Task.execute
        const pending = new Set(tasks);
        for (const task of pending) task.execute();
        // ^ calls main.Task.execute
        while (tasks.length) tasks.pop().execute();
        // ^ calls main.Task.execute
        """,
    "generators and iterators of a tree": """
        // --- tree.js
        export class Node {
          constructor(value, ...kids) { this.value = value; this.kids = kids; }
          *walk() {
            yield this;
            for (const kid of this.kids) yield* kid.walk();
            // ^ calls tree.Node.walk
          }
          [Symbol.iterator]() { return this.walk(); }
          // ^ calls tree.Node.walk
          print() { return format(this.value); }
          // ^ calls tree.format
        }
        export function format(value) { return `${value}`; }
        export function* take(count, source) {
          for (const item of source) {
            if (count-- <= 0) return;
            yield item;
          }
        }
        // --- main.js
        import { Node, take, format } from "./tree.js";
        const root = new Node(1, new Node(2), new Node(3));
        // ^ calls tree.Node.constructor
        for (const node of root.walk()) node.print();
        // ^ calls tree.Node.print
        // ^ calls tree.Node.walk
        for (const node of root) node.print();
        // ^ calls tree.Node.[Symbol.iterator]
        // ^ calls tree.Node.print
        for (const node of take(2, root.walk())) node.print();
        // ^ calls tree.Node.print
        // ^ calls tree.Node.walk
        // ^ calls tree.take
        const [top] = root.walk();
        // ^ calls tree.Node.walk
        top.print();
        // ^ calls tree.Node.print
        Array.from(root.walk(), (n) => n.print());
        // ^ calls tree.Node.print
        // ^ calls tree.Node.walk
        const iterator = root.walk();
        // ^ calls tree.Node.walk
        iterator.next().value.print();
        // ^ calls tree.Node.print
        async function* later(nodes) { for (const n of nodes) yield n; }
        async function main() {
          for await (const n of later([root])) n.print();
          // ^ calls main.later
          // ^ calls tree.Node.print
          const result = await Promise.all([...root.walk()].map(async (n) => n.print()));
          // ^ calls tree.Node.print
          // ^ calls tree.Node.walk
          return result.map(format);
          // ^ calls tree.format
        }
        main().then((all) => all.forEach((x) => format(x)));
        // ^ calls main.main
        // ^ calls tree.format
        """,
    "inheritance with templates and mixins": """
        // --- main.js
        class Widget {
          static #count = 0;
          static next() { return ++Widget.#count; }
          constructor(options = {}) {
            this.id = Widget.next();
            // ^ calls main.Widget.next
            this.options = { ...this.defaults(), ...options };
            // ^ calls main.Label.defaults
          }
          defaults() { return {}; }
          render() { return this.wrap(this.body()); }
          // ^ calls main.Button.body
          // ^ calls main.Label.body
          // ^ calls main.Special.wrap
          // ^ calls main.Widget.wrap
          wrap(text) { return `<${text}>`; }
          body() { return ""; }
        }
        const Clickable = (Base) => class extends Base {
          click() { return this.handle(this.id); }
          // ^ calls main.Button.handle
          handle(id) { return id; }
        };
        class Label extends Widget {
          defaults() { return { text: "x" }; }
          body() { return this.options.text; }
        }
        class Button extends Clickable(Label) {
        // ^ calls main.Clickable
          body() { return super.body().trim(); }
          // ^ calls main.Label.body
          handle(id) { return log(id) ?? super.handle(id); }
          // ^ calls main.Clickable.handle
          // ^ calls main.log
        }
        function log(id) { return null; }
        const button = new Button({ text: " ok " });
        // ^ calls main.Button
        // ^ calls main.Widget.constructor
        button.render();
        // ^ calls main.Widget.render
        button.click();
        // ^ calls main.Clickable.click
        new Label().render();
        // ^ calls main.Label
        // ^ calls main.Widget.constructor
        // ^ calls main.Widget.render
        const kinds = { label: Label, button: Button };
        function make(kind, options) { return new kinds[kind](options); }
        // ^ calls main.Label
        // ^ calls main.Widget.constructor
        make("label").render();
        // ^ calls main.Widget.render
        // ^ calls main.make
        class Special extends Button {
          wrap(text) { return super.wrap(`*${text}*`); }
          // ^ calls main.Widget.wrap
          get title() { return this.body(); }
          // ^ calls main.Button.body
        }
        const special = new Special({ text: "s" });
        // ^ calls main.Special
        // ^ calls main.Widget.constructor
        special.title;
        // ^ calls main.Special.title
        special.render();
        // ^ calls main.Widget.render
        """,
    "modules: CommonJS classes, factories and re-exports": """
        // --- shape.js
        class Shape {
          area() { return 0; }
          toString() { return describe(this); }
          // ^ calls shape.describe
        }
        function describe(shape) { return `area ${shape.area()}`; }
        // ^ calls shape.Shape.area
        // ^ calls square.Square.area
        module.exports = Shape;
        module.exports.describe = describe;
        // --- square.js
        const Shape = require("./shape");
        module.exports = class Square extends Shape {
          constructor(side) { super(); this.side = side; }
          // ^ calls shape.Shape
          area() { return this.side ** 2; }
        };
        // --- factory.js
        const Square = require("./square");
        exports.square = (side) => new Square(side);
        // ^ calls square.Square.constructor
        exports.unit = exports.square(1);
        // ^ calls factory.square
        exports.all = function all(...sides) { return sides.map(exports.square); };
        // ^ calls factory.square
        // --- index.js
        module.exports = {
          ...require("./factory"),
          Shape: require("./shape"),
          version() { return "1"; },
        };
        // --- main.js
        const lib = require("./index");
        const { square, Shape, unit } = lib;
        const { describe } = require("./shape");
        square(2).area();
        // ^ calls factory.square
        // ^ calls square.Square.area
        unit.area();
        // ^ calls square.Square.area
        lib.version();
        // ^ calls index.default.version
        describe(square(3));
        // ^ calls factory.square
        // ^ calls shape.describe
        lib.all(1, 2).forEach((s) => s.area());
        // ^ calls factory.all
        // ^ calls square.Square.area
        String(new Shape());
        // ^ calls shape.Shape
        // ^ calls shape.Shape.toString
        new Shape().area();
        // ^ calls shape.Shape
        // ^ calls shape.Shape.area
        """,
    "options, defaults and higher-order helpers": """
        // --- main.js
        function pipe(...fns) { return (input) => fns.reduce((acc, fn) => fn(acc), input); }
        // ^ calls main.trim
        // ^ calls main.upper
        const trim = (s) => s.trim();
        const upper = (s) => s.toUpperCase();
        const clean = pipe(trim, upper);
        // ^ calls main.pipe
        clean(" a ");
        function debounce(fn, { wait = 0, onCall = noop } = {}) {
          return function debounced(...args) {
            onCall(args);
            // ^ calls main.noop
            // ^ calls main.report
            return fn.apply(this, args);
            // ^ calls main.save
            // ^ calls main.trim
          };
        }
        function noop() {}
        function save(x) { return x; }
        const later = debounce(save, { onCall: report });
        // ^ calls main.debounce
        function report(args) { return args; }
        later(1);
        // ^ calls main.debounce.debounced
        debounce(trim)(" b ");
        // ^ calls main.debounce
        // ^ calls main.debounce.debounced
        function request({ url, parse = JSON.parse, on: { success, failure = noop } }) {
          try { success(parse(url)); } catch (error) { failure(error); }
          // ^ calls main.report
          // ^ calls main.save
          // ^ calls main.upper
        }
        request({ url: "1", on: { success: save } });
        // ^ calls main.request
        request({ url: "x", parse: upper, on: { success: report, failure: save } });
        // ^ calls main.request
        function curry(fn) { return (a) => (b) => fn(a, b); }
        // ^ calls main.add
        const add = (a, b) => a + b;
        curry(add)(1)(2);
        // ^ calls main.curry
        function times(n, fn) { for (let i = 0; i < n; i++) fn(i); }
        // ^ calls main.save
        times(2, save);
        // ^ calls main.times
        times(2, (i) => add(i, 1));
        // ^ calls main.add
        // ^ calls main.times
        const once = (fn) => { let done; return () => done ||= fn(); };
        const init = once(() => save(1));
        // ^ calls main.once
        // ^ calls main.save
        init();
        save.call(null, 1);
        // ^ calls main.save
        add.apply(null, [1, 2]);
        // ^ calls main.add
        const addOne = add.bind(null, 1);
        addOne(2);
        // ^ calls main.add
        """,
    "async flows, promises and accessors": """
        // --- main.js
        class Store {
          #data = new Map();
          get size() { return this.#count(); }
          // ^ calls main.Store.#count
          set limit(n) { this.max = check(n); }
          // ^ calls main.check
          #count() { return this.#data.size; }
          async load(key) {
            const found = this.#data.get(key) ?? await this.fetch(key);
            // ^ calls main.Store.fetch
            return found;
          }
          fetch(key) {
            return new Promise((resolve) => setTimeout(() => resolve(new Item(key)), 0));
            // ^ calls main.Item.constructor
          }
          put(item) { this.#data.set(item.key, item); return this; }
        }
        class Item {
          constructor(key) { this.key = key; }
          get label() { return check(this.key); }
          // ^ calls main.check
          show() { return this.label; }
          // ^ calls main.Item.label
        }
        function check(x) { return x; }
        const store = new Store();
        // ^ calls main.Store
        store.limit = 3;
        // ^ calls main.Store.limit
        store.size;
        // ^ calls main.Store.size
        store.put(new Item("a")).put(new Item("b")).size;
        // ^ calls main.Item.constructor
        // ^ calls main.Store.put
        // ^ calls main.Store.size
        async function main() {
          const item = await store.load("a");
          // ^ calls main.Store.load
          item.show();
          // ^ calls main.Item.show
          const other = await store.load("z");
          // ^ calls main.Store.load
          other.show();
          // ^ calls main.Item.show
          const [x, y] = await Promise.all([store.load("a"), store.fetch("q")]);
          // ^ calls main.Store.fetch
          // ^ calls main.Store.load
          x.show();
          // ^ calls main.Item.show
          y.show();
          // ^ calls main.Item.show
          try { await fail(); } catch (e) { check(e); } finally { done(); }
          // ^ calls main.check
          // ^ calls main.done
          // ^ calls main.fail
          return item;
        }
        async function fail() { throw new Error("no"); }
        function done() { return check(1); }
        // ^ calls main.check
        main().then((item) => item.show()).catch(check).finally(done);
        // ^ calls main.Item.show
        // ^ calls main.done
        // ^ calls main.main
        store.fetch("k").then(({ key }) => check(key));
        // ^ calls main.Store.fetch
        // ^ calls main.check
        const wait = (ms) => new Promise((r) => setTimeout(r, ms));
        wait(0).then(() => done());
        // ^ calls main.done
        // ^ calls main.wait
        """,
}
