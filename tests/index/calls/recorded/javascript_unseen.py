"""Later programs of JavaScript, with the calls recorded while they ran."""

from __future__ import annotations

PROGRAMS = {
    "assignments of a cache": """
        // --- a.js
        class Memory { load(key) { return null; } keep(key, value) { return value; } }
        class Disk extends Memory { load(key) { return key.toUpperCase(); } }
        function compute(key) { return key + key; }
        const [primary, fallback] = [new Memory(), new Disk()];
        // ^ calls a.Disk
        // ^ calls a.Memory
        const chain = [primary, fallback];
        function lookup(key) {
          for (const level of chain) {
            const hit = level.load(key);
            // ^ calls a.Disk.load
            // ^ calls a.Memory.load
            if (hit !== null) return hit;
          }
          return null;
        }
        lookup("a");
        // ^ calls a.lookup
        let reader, writer;
        reader = writer = fallback;
        reader.load("b");
        // ^ calls a.Disk.load
        writer.keep("b", compute("b"));
        // ^ calls a.Memory.keep
        // ^ calls a.compute
        const { load, keep: store } = primary;
        load("c");
        // ^ calls a.Memory.load
        store("c", 3);
        // ^ calls a.Memory.keep
        let chosen = null;
        chosen ||= compute;
        chosen("d");
        // ^ calls a.compute
        """,
    "closures with a private state": """
        // --- a.js
        function createTimer(onTick) {
          let ticks = 0, stopped = false;
          const emit = () => { if (!stopped) onTick(ticks); };
          // ^ calls a.show
          const tick = () => { ticks++; emit(); return api; };
          // ^ calls a.createTimer.emit
          function stop() { stopped = true; return summary(); }
          // ^ calls a.createTimer.summary
          function summary() { return ticks; }
          const api = { tick, stop, get ticks() { return summary(); } };
          // ^ calls a.createTimer.summary
          return api;
        }
        function show(n) { return pad(n); }
        // ^ calls a.pad
        function pad(n) { return String(n).padStart(2); }
        const timer = createTimer(show);
        // ^ calls a.createTimer
        timer.tick().tick();
        // ^ calls a.createTimer.tick
        timer.stop();
        // ^ calls a.createTimer.stop
        timer.ticks;
        // ^ calls a.createTimer.ticks
        """,
    "containers of renderers": """
        // --- a.js
        class Text { constructor(body) { this.body = body; } }
        class Image { constructor(url) { this.url = url; } }
        const escape = (text) => text.replace("<", "");
        const renderers = new Map();
        renderers.set(Text, (node) => escape(node.body));
        // ^ calls a.escape
        renderers.set(Image, renderImage);
        function renderImage(node) { return node.url; }
        class Page {
          nodes = [];
          add(node) { this.nodes.push(node); return this; }
          render() { return this.nodes.map((node) => renderers.get(node.constructor)(node)); }
          // ^ calls a.renderImage
        }
        new Page().add(new Text("a<b")).add(new Image("u")).render();
        // ^ calls a.Image.constructor
        // ^ calls a.Page
        // ^ calls a.Page.add
        // ^ calls a.Page.render
        // ^ calls a.Text.constructor
        const tools = { trim: (s) => s.trim(), lower(s) { return s.toLowerCase(); } };
        const steps = ["trim", "lower"];
        steps.reduce((acc, name) => tools[name](acc), " X ");
        // ^ calls a.tools.lower
        // ^ calls a.tools.trim
        const list = Object.values(tools);
        list.forEach((tool) => tool("y"));
        // ^ calls a.tools.lower
        // ^ calls a.tools.trim
        """,
    "wrappers of functions": """
        // --- a.js
        const memo = (fn) => {
          const cache = new Map();
          return function memoised(key) {
            if (!cache.has(key)) cache.set(key, fn(key));
            // ^ calls a.square
            return cache.get(key);
          };
        };
        function once(fn) {
          let done = false, value;
          return (...args) => { if (!done) { done = true; value = fn(...args); } return value; };
          // ^ calls a.connect
        }
        function square(n) { return n * n; }
        function connect() { return { close() { return disconnect(); } }; }
        // ^ calls a.disconnect
        function disconnect() { return true; }
        const fast = memo(square);
        // ^ calls a.memo
        fast(3);
        // ^ calls a.memo.memoised
        const open = once(connect);
        // ^ calls a.once
        open();
        connect().close();
        // ^ calls a.connect
        // ^ calls a.connect.close
        const compose = (f, g) => (x) => f(g(x));
        // ^ calls a.memo.memoised
        // ^ calls a.square
        const both = compose(fast, square);
        // ^ calls a.compose
        both(2);
        """,
    "generators that page": """
        // --- a.js
        class Row { constructor(n) { this.n = n; } value() { return this.n; } }
        function fetchPage(at) { return { rows: [new Row(at), new Row(at + 1)], more: at < 1 }; }
        // ^ calls a.Row.constructor
        function* pages() {
          let at = 0;
          while (true) {
            const page = fetchPage(at++);
            // ^ calls a.fetchPage
            yield page;
            if (!page.more) return;
          }
        }
        function* rows() { for (const page of pages()) yield* page.rows; }
        // ^ calls a.pages
        for (const row of rows()) row.value();
        // ^ calls a.Row.value
        // ^ calls a.rows
        const all = Array.from(rows());
        // ^ calls a.rows
        all.map((row) => row.value());
        // ^ calls a.Row.value
        const walker = rows();
        // ^ calls a.rows
        walker.next().value.value();
        // ^ calls a.Row.value
        """,
    "inheritance of a parser": """
        // --- base.js
        export class Visitor {
          visit(node) {
            const method = this["visit" + node.kind] ?? this.fallback;
            return method.call(this, node);
            // ^ calls base.Visitor.fallback
            // ^ calls main.Counter.visitLeaf
            // ^ calls main.Quiet.fallback
          }
          fallback(node) { return node.children.map((child) => this.visit(child)); }
          // ^ calls base.Visitor.visit
        }
        export class Node {
          constructor(kind, ...children) { this.kind = kind; this.children = children; }
          accept(visitor) { return visitor.visit(this); }
          // ^ calls base.Visitor.visit
        }
        // --- main.js
        import { Node, Visitor } from "./base.js";
        class Counter extends Visitor {
          count = 0;
          visitLeaf(node) { this.bump(); return node; }
          // ^ calls main.Counter.bump
          // ^ calls main.Quiet.bump
          bump() { this.count++; }
        }
        class Quiet extends Counter {
          bump() { super.bump(); }
          // ^ calls main.Counter.bump
          fallback(node) { return super.fallback(node); }
          // ^ calls base.Visitor.fallback
        }
        const tree = new Node("Root", new Node("Leaf"), new Node("Leaf"));
        // ^ calls base.Node.constructor
        tree.accept(new Counter());
        // ^ calls base.Node.accept
        // ^ calls main.Counter
        new Quiet().visit(tree);
        // ^ calls base.Visitor.visit
        // ^ calls main.Quiet
        """,
    "inheritance with static members": """
        // --- a.js
        class Model {
          static records = new Map();
          static create(values) {
            const made = new this(values); this.register(made); return made.saved();
            // ^ calls a.Model.constructor
            // ^ calls a.Model.register
            // ^ calls a.Model.saved
            // ^ calls a.User
          }
          static register(record) { Model.records.set(record.id, record); }
          static find(id) { return Model.records.get(id); }
          constructor(values) { Object.assign(this, values); }
          saved() { return this.validate() ? this : null; }
          // ^ calls a.User.validate
          validate() { return true; }
        }
        class User extends Model {
          validate() { return super.validate() && this.named(); }
          // ^ calls a.Model.validate
          // ^ calls a.User.named
          named() { return Boolean(this.name); }
        }
        const user = User.create({ id: 1, name: "x" });
        // ^ calls a.Model.create
        user.named();
        // ^ calls a.User.named
        Model.find(1).validate();
        // ^ calls a.Model.find
        // ^ calls a.User.validate
        """,
    "prototypes of a queue": """
        // --- a.js
        function Queue() { this.items = []; this.handlers = {}; }
        Queue.prototype = {
          constructor: Queue,
          push: function (item) { this.items.push(item); this.fire("push"); return this; },
          // ^ calls a.Queue.fire
          fire: function (name) {
            (this.handlers[name] || []).forEach(function (fn) { fn(name); });
            // ^ calls a.log
          },
          on(name, fn) { this.handlers[name] = [fn]; return this; },
        };
        Queue.of = function (...items) { return items.reduce((q, i) => q.push(i), new Queue()); };
        // ^ calls a.Queue
        // ^ calls a.Queue.push
        function log(name) { return name; }
        const queue = new Queue().on("push", log);
        // ^ calls a.Queue
        // ^ calls a.Queue.on
        queue.push(1).push(2);
        // ^ calls a.Queue.push
        Queue.of(1, 2);
        // ^ calls a.Queue.of
        function Stack() { Queue.call(this); }
        // ^ calls a.Queue
        Stack.prototype = Object.create(Queue.prototype);
        Stack.prototype.pop = function () { this.fire("pop"); return this.items.pop(); };
        // ^ calls a.Queue.fire
        const stack = new Stack();
        // ^ calls a.Stack
        stack.push(3);
        // ^ calls a.Queue.push
        stack.pop();
        // ^ calls a.Stack.pop
        """,
    "modules with plugins": """
        // --- registry.js
        const known = {};
        module.exports.register = (name, plugin) => { known[name] = plugin; return plugin; };
        module.exports.all = () => Object.values(known);
        module.exports.get = function get(name) { return known[name]; };
        // --- upper.js
        const { register } = require("./registry");
        class Upper { apply(text) { return text.toUpperCase(); } }
        module.exports = register("upper", Upper);
        // ^ calls registry.register
        // --- reverse.js
        const registry = require("./registry");
        function flip(text) { return [...text].reverse().join(""); }
        class Reverse { apply(text) { return flip(text); } }
        // ^ calls reverse.flip
        registry.register("reverse", Reverse);
        // ^ calls registry.register
        exports.flip = flip;
        // --- main.js
        require("./upper");
        const { flip: turn } = require("./reverse");
        const registry = require("./registry");
        for (const Plugin of registry.all()) new Plugin().apply("abc");
        // ^ calls registry.all
        // ^ calls reverse.Reverse
        // ^ calls reverse.Reverse.apply
        // ^ calls upper.Upper
        // ^ calls upper.Upper.apply
        turn("x");
        // ^ calls reverse.flip
        const Upper = registry.get("upper");
        // ^ calls registry.get
        new Upper().apply("y");
        // ^ calls upper.Upper
        // ^ calls upper.Upper.apply
        """,
    "options with defaults": """
        // --- a.js
        const defaults = { format: plain, retries: 1, onError: fail };
        function plain(x) { return x; }
        function fancy(x) { return `*${x}*`; }
        function fail(e) { return e; }
        function run(task, options = {}) {
          const { format, onError, after = plain } = { ...defaults, ...options };
          try { return after(format(task())); } catch (e) { return onError(e); }
          // ^ calls a.broken
          // ^ calls a.fancy
          // ^ calls a.onError
          // ^ calls a.plain
          // ^ calls a.work
        }
        function work() { return 1; }
        function broken() { throw new Error("x"); }
        run(work);
        // ^ calls a.run
        run(work, { format: fancy });
        // ^ calls a.run
        run(broken, { onError: (e) => fail(e) });
        // ^ calls a.fail
        // ^ calls a.run
        class Runner {
          constructor({ hooks = {}, name } = {}) { this.hooks = hooks; this.name = name; }
          start(...args) { this.hooks.before?.(this); return run(() => this.body(...args)); }
          // ^ calls a.Runner.body
          // ^ calls a.plain
          // ^ calls a.run
          body(n) { return n; }
        }
        new Runner({ hooks: { before: plain } }).start(2);
        // ^ calls a.Runner.constructor
        // ^ calls a.Runner.start
        """,
    "returns of strategies": """
        // --- a.js
        class Retry { constructor(times) { this.times = times; } run(job) { return job(); } }
        // ^ calls a.work
        class Once { run(job) { return job(); } }
        // ^ calls a.work
        const strategy = (times) => (times > 1 ? new Retry(times) : new Once());
        // ^ calls a.Once
        // ^ calls a.Retry.constructor
        function bounds() {
          const low = () => 0;
          function high() { return 9; }
          return { low, high, pair: () => [low, high] };
        }
        const limits = bounds();
        // ^ calls a.bounds
        const work = () => limits.low();
        // ^ calls a.bounds.low
        strategy(3).run(work);
        // ^ calls a.Retry.run
        // ^ calls a.strategy
        strategy(1).run(work);
        // ^ calls a.Once.run
        // ^ calls a.strategy
        const [lower, upper] = limits.pair();
        // ^ calls a.bounds.pair
        lower();
        // ^ calls a.bounds.low
        upper();
        // ^ calls a.bounds.high
        const { high } = bounds();
        // ^ calls a.bounds
        high();
        // ^ calls a.bounds.high
        (() => work())();
        // ^ calls a.work
        """,
    "promises with queues": """
        // --- a.js
        class Worker {
          #jobs = [];
          #handler;
          constructor(handler) { this.#handler = handler; }
          add(job) { this.#jobs.push(job); return this; }
          async drain() {
            for (const job of this.#jobs) await this.#one(job); return this.#done();
            // ^ calls a.Worker.#done
            // ^ calls a.Worker.#one
          }
          async #one(job) {
            try { return await this.#handler(job); } catch (e) { return this.failed(e); }
            // ^ calls a.Worker.failed
            // ^ calls a.store
          }
          #done() { return this.#jobs.length; }
          failed(error) { return error; }
        }
        const store = async (job) => { if (job.bad) throw new Error("bad"); return save(job); };
        // ^ calls a.save
        function save(job) { return Promise.resolve(job.run()); }
        // ^ calls a.Job.run
        class Job { constructor(bad) { this.bad = bad; } run() { return 1; } }
        const worker = new Worker(store).add(new Job(false)).add(new Job(true));
        // ^ calls a.Job.constructor
        // ^ calls a.Worker.add
        // ^ calls a.Worker.constructor
        worker.drain().then(report);
        // ^ calls a.Worker.drain
        // ^ calls a.report
        function report(count) { return count; }
        const later = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
        async function main() {
          await later(1); const [a] = await Promise.all([save(new Job())]); return report(a);
          // ^ calls a.Job.constructor
          // ^ calls a.later
          // ^ calls a.report
          // ^ calls a.save
        }
        main();
        // ^ calls a.main
        """,
    "accessors and symbols": """
        // --- a.js
        class Money {
          constructor(amount, currency = "EUR") { this.amount = amount; this.currency = currency; }
          plus(other) { return new Money(this.amount + this.#converted(other), this.currency); }
          // ^ calls a.Money.#converted
          // ^ calls a.Money.constructor
          #converted(other) { return other.amount * Money.rate(other.currency, this.currency); }
          // ^ calls a.Money.rate
          static rate(a, b) { return a === b ? 1 : 2; }
          get label() { return `${this.amount} ${this.currency}`; }
          *[Symbol.iterator]() { yield this.amount; yield this.currency; }
        }
        class Wallet {
          items = [];
          put(money) { this.items.push(money); return this; }
          get total() { return this.items.reduce((sum, each) => sum.plus(each), new Money(0)); }
          // ^ calls a.Money.constructor
          // ^ calls a.Money.plus
          set limit(value) { this.max = this.check(value); }
          // ^ calls a.Wallet.check
          check(value) { return Math.max(0, value); }
        }
        const wallet = new Wallet().put(new Money(1)).put(new Money(2, "USD"));
        // ^ calls a.Money.constructor
        // ^ calls a.Wallet
        // ^ calls a.Wallet.put
        wallet.limit = 9;
        // ^ calls a.Wallet.limit
        wallet.total.label;
        // ^ calls a.Money.label
        // ^ calls a.Wallet.total
        const parts = [...wallet.items[0]];
        // ^ calls a.Money.[Symbol.iterator]
        for (const part of new Money(3)) void part;
        // ^ calls a.Money.[Symbol.iterator]
        // ^ calls a.Money.constructor
        """,
    "event hub": """
        // --- hub.js
        export default class Hub {
          #topics = new Map();
          on(topic, fn) {
            if (!this.#topics.has(topic)) this.#topics.set(topic, new Set());
            this.#topics.get(topic).add(fn);
            return () => this.off(topic, fn);
            // ^ calls hub.Hub.off
          }
          off(topic, fn) { this.#topics.get(topic)?.delete(fn); }
          emit(topic, ...args) { for (const fn of this.#topics.get(topic) ?? []) fn(...args); }
          // ^ calls main.Panel.show
          // ^ calls main.greet
        }
        export const hub = new Hub();
        // ^ calls hub.Hub
        // --- main.js
        import Hub, { hub } from "./hub.js";
        function greet(name) { return shout(name); }
        // ^ calls main.shout
        const shout = (text) => text.toUpperCase();
        class Panel {
          constructor(source) {
            this.source = source; this.stop = source.on("show", this.show.bind(this));
            // ^ calls hub.Hub.on
          }
          show(text) { return this.render(text); }
          // ^ calls main.Panel.render
          render(text) { return text; }
          close() { this.stop(); }
        }
        hub.on("hi", greet);
        // ^ calls hub.Hub.on
        hub.emit("hi", "x");
        // ^ calls hub.Hub.emit
        const own = new Hub();
        // ^ calls hub.Hub
        const panel = new Panel(own);
        // ^ calls main.Panel.constructor
        own.emit("show", "y");
        // ^ calls hub.Hub.emit
        panel.close();
        // ^ calls main.Panel.close
        """,
    "tables and optional calls": """
        // --- a.js
        const OPEN = "open";
        const actions = { open(door) { return door.swing(1); }, close: (door) => door.swing(0) };
        // ^ calls a.Door.swing
        class Door {
          swing(to) { this.at = to; return this.onMove?.(to) ?? to; }
          // ^ calls a.LoudDoor.onMove
          onMove = null;
        }
        class LoudDoor extends Door { onMove = (to) => this.creak(to); creak(to) { return to; } }
        // ^ calls a.LoudDoor.creak
        const door = new Door();
        // ^ calls a.Door
        actions[OPEN](door);
        // ^ calls a.actions.open
        actions.close(new LoudDoor());
        // ^ calls a.LoudDoor
        // ^ calls a.actions.close
        const key = ["open", "close"][0];
        actions[key](door);
        // ^ calls a.actions.open
        door.missing?.();
        actions.open?.(door);
        // ^ calls a.actions.open
        const pick = (name) => actions[name];
        pick("close")(door);
        // ^ calls a.actions.close
        // ^ calls a.pick
        const { open: start } = actions;
        start(door);
        // ^ calls a.actions.open
        const log = [];
        const wrap = ([n, f]) => [n, (d) => { log.push(n); return f(d); }];
        // ^ calls a.actions.open
        const traced = Object.fromEntries(Object.entries(actions).map(wrap));
        // ^ calls a.wrap
        traced.open(door);
        """,
}
