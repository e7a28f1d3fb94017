"""Programs of JavaScript as they are written every day, with the calls recorded while they ran."""

from __future__ import annotations

PROGRAMS = {
    "assignments of loggers": """
        // --- a.js
        class Logger {
          constructor(sink = console) { this.sink = sink; this.level = "info"; }
          info(text) { return this.write("info", text); }
          // ^ calls a.Logger.write
          write(level, text) { return `${level} ${text}`; }
        }
        function plain(text) { return text; }
        function loud(text) { return text.toUpperCase(); }
        let logger, backup;
        logger = backup = new Logger();
        // ^ calls a.Logger.constructor
        logger.info("a");
        // ^ calls a.Logger.info
        backup.write("x", "y");
        // ^ calls a.Logger.write
        let format = plain;
        format("b");
        // ^ calls a.plain
        format = loud;
        format("c");
        // ^ calls a.loud
        let [first, second] = [plain, loud];
        [first, second] = [second, first];
        first("d");
        // ^ calls a.loud
        let options = null;
        options ??= { format: loud };
        options.format("e");
        // ^ calls a.loud
        let fallback = undefined || plain;
        fallback("f");
        // ^ calls a.plain
        logger.format = fallback;
        logger.format("g");
        // ^ calls a.plain
        """,
    "assignments by destructuring": """
        // --- a.js
        function parse(text) { return JSON.parse(text); }
        function stringify(value) { return JSON.stringify(value); }
        function noop() {}
        const api = { codec: { parse, stringify }, hooks: [noop, stringify] };
        const { codec: { parse: read, stringify: write = noop }, onError = noop } = api;
        read("1");
        // ^ calls a.parse
        write(2);
        // ^ calls a.stringify
        onError();
        // ^ calls a.noop
        const { hooks: [start, ...others] } = api;
        start();
        // ^ calls a.noop
        others[0](3);
        // ^ calls a.stringify
        const { codec, ...rest } = api;
        codec.parse("4");
        // ^ calls a.parse
        rest.hooks.forEach((hook) => hook(5));
        // ^ calls a.noop
        // ^ calls a.stringify
        function run({ parse: decode, after = noop } = {}) {
          const out = decode("6"); after(); return out;
          // ^ calls a.noop
          // ^ calls a.parse
          // ^ calls a.stringify
        }
        run(codec);
        // ^ calls a.run
        run({ ...codec, after: stringify });
        // ^ calls a.run
        """,
    "closures that schedule": """
        // --- a.js
        function debounce(action, limit) {
          let calls = 0;
          let pending = null;
          function flush() { calls = 0; if (pending) pending(); }
          // ^ calls a.debounce.schedule.pending
          const schedule = (...args) => {
            calls += 1;
            pending = () => action(...args);
            // ^ calls a.save
            if (calls >= limit) flush();
            // ^ calls a.debounce.flush
          };
          schedule.flush = flush;
          return schedule;
        }
        function save(doc) { return render(doc); }
        // ^ calls a.render
        function render(doc) { return doc; }
        const later = debounce(save, 2);
        // ^ calls a.debounce
        later("a");
        // ^ calls a.debounce.schedule
        later("b");
        // ^ calls a.debounce.schedule
        later.flush();
        // ^ calls a.debounce.flush
        """,
    "closures in loops": """
        // --- a.js
        function handle(i) { return i; }
        function report(i) { return i; }
        const handlers = [];
        for (let i = 0; i < 3; i++) {
          handlers.push(() => handle(i));
          // ^ calls a.handle
        }
        handlers.push(report);
        for (const handler of handlers) handler(9);
        // ^ calls a.report
        const byName = {};
        for (const [name, fn] of Object.entries({ handle, report })) {
          byName[name] = (value) => fn(value);
          // ^ calls a.handle
          // ^ calls a.report
        }
        byName.handle(1);
        byName["report"](2);
        const counter = (() => {
          let n = 0;
          return { next: () => ++n, reset() { n = 0; return this.next(); } };
          // ^ calls a.next
        })();
        counter.next();
        // ^ calls a.next
        counter.reset();
        // ^ calls a.reset
        """,
    "containers of routes": """
        // --- a.js
        function home(req) { return page("home"); }
        // ^ calls a.page
        function users(req) { return page("users"); }
        // ^ calls a.page
        function missing(req) { return page("404"); }
        // ^ calls a.page
        function page(name) { return name; }
        const routes = { "/": home, "/users": users };
        function dispatch(req) {
          const handler = routes[req.path] || missing;
          return handler(req);
          // ^ calls a.home
          // ^ calls a.missing
          // ^ calls a.users
        }
        dispatch({ path: "/" });
        // ^ calls a.dispatch
        dispatch({ path: "/users" });
        // ^ calls a.dispatch
        dispatch({ path: "/x" });
        // ^ calls a.dispatch
        const stack = new Map([["get", home], ["post", users]]);
        stack.get("get")({});
        // ^ calls a.home
        stack.set("put", missing);
        stack.forEach((fn) => fn({}));
        // ^ calls a.home
        // ^ calls a.missing
        // ^ calls a.users
        const seen = new Set([home]);
        for (const fn of seen) fn({});
        // ^ calls a.home
        const queue = [];
        queue.push(users);
        queue.unshift(missing);
        while (queue.length) queue.shift()({});
        // ^ calls a.missing
        // ^ calls a.users
        """,
    "containers of shapes": """
        // --- a.js
        class Circle { area() { return 3; } }
        class Square { area() { return 4; } sides() { return 4; } }
        const shapes = [new Circle(), new Square()];
        // ^ calls a.Circle
        // ^ calls a.Square
        const total = shapes.map((s) => s.area()).reduce((a, b) => a + b, 0);
        // ^ calls a.Circle.area
        // ^ calls a.Square.area
        const squares = shapes.filter((s) => s instanceof Square);
        squares[0].sides();
        // ^ calls a.Square.sides
        const grid = [[new Square()], [new Square(), new Square()]];
        // ^ calls a.Square
        for (const row of grid) for (const cell of row) cell.sides();
        // ^ calls a.Square.sides
        grid[1][0].sides();
        // ^ calls a.Square.sides
        grid.flat().at(-1).area();
        // ^ calls a.Square.area
        const found = shapes.find((s) => s.area() > 3);
        // ^ calls a.Circle.area
        // ^ calls a.Square.area
        found.area();
        // ^ calls a.Square.area
        const index = Object.fromEntries(grid[0].map((s, i) => [i, s]));
        index[0].sides();
        // ^ calls a.Square.sides
        const [one, ...more] = grid[1];
        one.sides();
        // ^ calls a.Square.sides
        more[0].area();
        // ^ calls a.Square.area
        """,
    "decorators by wrapping": """
        // --- a.js
        function logged(fn, name = fn.name) {
          return function wrapper(...args) { trace(name); return fn.apply(this, args); };
          // ^ calls a.Store.get
          // ^ calls a.trace
        }
        function trace(name) { return name; }
        function retry(times) {
          return (fn) => (...args) => {
            for (let i = 0; i < times; i++) { try { return fn(...args); } catch (e) { trace(e); } }
            // ^ calls a.send
            // ^ calls a.trace
          };
        }
        function send(x) { if (!send.ok) { send.ok = true; throw new Error("x"); } return x; }
        const safeSend = retry(3)(send);
        // ^ calls a.retry
        safeSend(1);
        const traced = logged(safeSend, "send");
        // ^ calls a.logged
        traced(2);
        // ^ calls a.logged.wrapper
        class Store { get(k) { return this.read(k); } read(k) { return k; } }
        // ^ calls a.Store.read
        Store.prototype.get = logged(Store.prototype.get);
        // ^ calls a.logged
        new Store().get("k");
        // ^ calls a.Store
        // ^ calls a.logged.wrapper
        const pipe = (...fns) => (x) => fns.reduce((acc, fn) => fn(acc), x);
        // ^ calls a.logged.wrapper
        // ^ calls a.send
        pipe(send, traced)(3);
        // ^ calls a.pipe
        """,
    "prototypes by hand": """
        // --- a.js
        function Animal(name) { this.name = name; }
        Animal.prototype.speak = function () { return this.sound() + this.name; };
        // ^ calls a.Dog.sound
        Animal.prototype.sound = function () { return "?"; };
        Animal.create = function (name) { return new this(name); };
        // ^ calls a.Animal
        function Dog(name) { Animal.call(this, name); }
        // ^ calls a.Animal
        Dog.prototype = Object.create(Animal.prototype);
        Dog.prototype.constructor = Dog;
        Dog.prototype.sound = function () { return "woof"; };
        Dog.prototype.speak = function () { return Animal.prototype.speak.call(this) + "!"; };
        // ^ calls a.Animal.speak
        const rex = new Dog("rex");
        // ^ calls a.Dog
        rex.speak();
        // ^ calls a.Dog.speak
        Animal.create("cat").sound();
        // ^ calls a.Animal.create
        // ^ calls a.Animal.sound
        const base = { greet() { return this.hello(); }, hello() { return "hi"; } };
        // ^ calls a.base.hello
        // ^ calls a.child.hello
        const child = Object.create(base);
        child.hello = function () { return "hey"; };
        child.greet();
        // ^ calls a.base.greet
        const other = { __proto__: base, wave() { return this.greet(); } };
        // ^ calls a.base.greet
        other.wave();
        // ^ calls a.other.wave
        Object.assign(Dog.prototype, { fetch() { return this.speak(); } });
        // ^ calls a.Dog.speak
        rex.fetch();
        // ^ calls a.fetch
        """,
    "bind call and apply": """
        // --- a.js
        const counter = { n: 0, step(by) {
          this.n += by; return this.show(); }, show() { return this.n; }
          // ^ calls a.counter.show
        };
        function describe(prefix) { return prefix + this.show(); }
        // ^ calls a.counter.show
        const step = counter.step.bind(counter);
        step(1);
        // ^ calls a.counter.step
        const byTwo = counter.step.bind(counter, 2);
        byTwo();
        // ^ calls a.counter.step
        describe.call(counter, "n=");
        // ^ calls a.describe
        describe.apply(counter, ["n="]);
        // ^ calls a.describe
        const bound = describe.bind(counter);
        bound("m");
        // ^ calls a.describe
        class View {
          constructor() {
            this.onClick = this.onClick.bind(this); this.handlers = { click: this.onClick };
          }
          onClick() { return this.render(); }
          // ^ calls a.View.render
          render() { return "view"; }
          fire(name) { return this.handlers[name].call(null); }
          // ^ calls a.View.onClick
        }
        new View().fire("click");
        // ^ calls a.View.constructor
        // ^ calls a.View.fire
        Reflect.apply(counter.show, counter, []);
        // ^ calls a.counter.show
        [1, 2].forEach(counter.step, counter);
        // ^ calls a.counter.step
        """,
    "getters and setters": """
        // --- a.js
        class Temperature {
          #celsius = 0;
          static #made = 0;
          constructor(c) { this.celsius = c; Temperature.#count(); }
          // ^ calls a.Temperature.#count
          // ^ calls a.Temperature.celsius
          get celsius() { return this.#celsius; }
          set celsius(value) { this.#celsius = this.#clamp(value); }
          // ^ calls a.Temperature.#clamp
          get fahrenheit() { return this.celsius * 1.8 + 32; }
          // ^ calls a.Temperature.celsius
          #clamp(v) { return Math.max(-273, v); }
          static #count() { return ++this.#made; }
          static get made() { return Temperature.#made; }
          static from(text) { return new Temperature(Number(text)); }
          // ^ calls a.Temperature.constructor
        }
        const t = Temperature.from("4");
        // ^ calls a.Temperature.from
        t.celsius = 5;
        // ^ calls a.Temperature.celsius
        t.celsius;
        // ^ calls a.Temperature.celsius
        t.fahrenheit;
        // ^ calls a.Temperature.fahrenheit
        Temperature.made;
        // ^ calls a.Temperature.made
        const box = { items: [], get size() {
          return this.count(); }, count() { return this.items.length; }
          // ^ calls a.box.count
        };
        box.size;
        // ^ calls a.box.size
        """,
    "class fields and static blocks": """
        // --- a.js
        class Registry {
          static known = new Map();
          static { Registry.register("base", () => new Base()); }
          // ^ calls a.Base
          // ^ calls a.Registry.register
          static register(name, make) { Registry.known.set(name, make); return this; }
          static create(name) { return this.known.get(name)(); }
        }
        class Base {
          id = nextId();
          // ^ calls a.nextId
          handlers = { click: (e) => this.log(e), key: this.log };
          // ^ calls a.Base.log
          log = (e) => this.format(e);
          // ^ calls a.Base.format
          // ^ calls a.Special.format
          format(e) { return String(e); }
        }
        function nextId() { return 7; }
        class Special extends Base {
          format(e) { return "special " + super.format(e); }
          // ^ calls a.Base.format
          run = () => this.handlers.click("c");
          // ^ calls a.Base.click
        }
        Registry.register("special", () => new Special());
        // ^ calls a.Registry.register
        // ^ calls a.Special
        Registry.create("base").log("x");
        // ^ calls a.Base.log
        // ^ calls a.Registry.create
        Registry.create("special").run();
        // ^ calls a.Registry.create
        // ^ calls a.Special.run
        """,
    "inheritance with super": """
        // --- a.js
        class Component {
          constructor(props) { this.props = props; this.init(); }
          // ^ calls a.Component.init
          // ^ calls a.Form.init
          init() { this.children = []; }
          add(child) { this.children.push(child); return this; }
          render() { return this.tag() + this.children.map((c) => c.render()).join(""); }
          // ^ calls a.Component.tag
          // ^ calls a.Label.render
          // ^ calls a.Label.tag
          tag() { return "div"; }
          static of(props) { return new this(props); }
          // ^ calls a.Component.constructor
          // ^ calls a.Label
        }
        class Label extends Component {
          tag() { return "label"; }
          render() { return super.render() + this.text(); }
          // ^ calls a.Component.render
          // ^ calls a.Label.text
          text() { return this.props.text; }
        }
        class Form extends Component {
          init() { super.init(); this.add(Label.of({ text: "name" })); }
          // ^ calls a.Component.add
          // ^ calls a.Component.init
          // ^ calls a.Component.of
          get valid() { return this.children.every((c) => c.text()); }
          // ^ calls a.Label.text
        }
        const form = new Form({});
        // ^ calls a.Component.constructor
        // ^ calls a.Form
        form.add(new Label({ text: "x" })).render();
        // ^ calls a.Component.add
        // ^ calls a.Component.constructor
        // ^ calls a.Component.render
        // ^ calls a.Label
        form.valid;
        // ^ calls a.Form.valid
        """,
    "inheritance with mixins": """
        // --- a.js
        const Serializable = (Base) => class extends Base {
          toJSON() { return this.fields(); }
          // ^ calls a.User.fields
          fields() { return {}; }
        };
        const Comparable = (Base) => class Comparing extends Base {
          equals(other) { return this.key() === other.key(); }
          // ^ calls a.Entity.key
        };
        class Entity { constructor(id) { this.id = id; } key() { return this.id; } }
        class User extends Comparable(Serializable(Entity)) {
        // ^ calls a.Comparable
        // ^ calls a.Serializable
          fields() { return { id: this.key(), ...super.fields() }; }
          // ^ calls a.Entity.key
          // ^ calls a.Serializable.fields
        }
        const user = new User(1);
        // ^ calls a.Entity.constructor
        // ^ calls a.User
        user.toJSON();
        // ^ calls a.Serializable.toJSON
        user.equals(new User(2));
        // ^ calls a.Comparable.Comparing.equals
        // ^ calls a.Entity.constructor
        // ^ calls a.User
        const canFly = { fly() { return this.move(); } };
        // ^ calls a.Duck.move
        const canSwim = { swim() { return this.move(); } };
        // ^ calls a.Duck.move
        class Duck { move() { return "moves"; } }
        Object.assign(Duck.prototype, canFly, canSwim);
        const duck = new Duck();
        // ^ calls a.Duck
        duck.fly();
        // ^ calls a.canFly.fly
        duck.swim();
        // ^ calls a.canSwim.swim
        """,
    "generators that stream": """
        // --- a.js
        class Chunk { constructor(data) { this.data = data; } size() { return this.data.length; } }
        function* read(lines) { for (const line of lines) yield new Chunk(line); }
        // ^ calls a.Chunk.constructor
        function* large(chunks, least) { for (const c of chunks) if (c.size() >= least) yield c; }
        // ^ calls a.Chunk.size
        function* both() { yield* read(["ab"]); yield* large(read(["cde"]), 2); }
        // ^ calls a.large
        // ^ calls a.read
        for (const chunk of both()) chunk.size();
        // ^ calls a.Chunk.size
        // ^ calls a.both
        const [first] = read(["x"]);
        // ^ calls a.read
        first.size();
        // ^ calls a.Chunk.size
        const all = [...read(["y", "z"])];
        // ^ calls a.read
        all[1].size();
        // ^ calls a.Chunk.size
        class Tree {
          constructor(value, ...kids) { this.value = value; this.kids = kids; }
          *[Symbol.iterator]() { yield this; for (const kid of this.kids) yield* kid; }
          // ^ calls a.Tree.[Symbol.iterator]
          leaf() { return this.kids.length === 0; }
        }
        const tree = new Tree(1, new Tree(2));
        // ^ calls a.Tree.constructor
        for (const node of tree) node.leaf();
        // ^ calls a.Tree.[Symbol.iterator]
        // ^ calls a.Tree.leaf
        const it = read(["q"]);
        // ^ calls a.read
        it.next().value.size();
        // ^ calls a.Chunk.size
        """,
    "iterators of a range": """
        // --- a.js
        class Range {
          constructor(from, to) { this.from = from; this.to = to; }
          [Symbol.iterator]() { return new RangeIterator(this); }
          // ^ calls a.RangeIterator.constructor
          get [Symbol.toStringTag]() { return "Range"; }
          static [Symbol.hasInstance](value) { return check(value); }
          // ^ calls a.check
        }
        class RangeIterator {
          constructor(range) { this.range = range; this.at = range.from; }
          next() {
            return this.at < this.range.to ? { value: this.at++, done: false } : this.end();
            // ^ calls a.RangeIterator.end
          }
          end() { return { value: undefined, done: true }; }
        }
        function check(value) { return typeof value === "object"; }
        for (const n of new Range(0, 2)) void n;
        // ^ calls a.Range.[Symbol.iterator]
        // ^ calls a.Range.constructor
        // ^ calls a.RangeIterator.next
        const list = [...new Range(0, 3)];
        // ^ calls a.Range.[Symbol.iterator]
        // ^ calls a.Range.constructor
        // ^ calls a.RangeIterator.next
        const [a, b] = new Range(5, 7);
        // ^ calls a.Range.[Symbol.iterator]
        // ^ calls a.Range.constructor
        // ^ calls a.RangeIterator.next
        ({}) instanceof Range;
        // ^ calls a.Range.[Symbol.hasInstance]
        class Money {
          constructor(n) { this.n = n; }
          valueOf() { return this.n; }
          toString() { return show(this); }
          // ^ calls a.show
        }
        function show(money) { return `$${money.n}`; }
        const sum = new Money(1) + new Money(2);
        // ^ calls a.Money.constructor
        // ^ calls a.Money.valueOf
        const text = `${new Money(3)}`;
        // ^ calls a.Money.constructor
        // ^ calls a.Money.toString
        """,
    "imports of modules": """
        // --- lib/index.js
        export { default as Parser } from "./parser.js";
        export * from "./helpers.js";
        export * as math from "./math.js";
        // --- lib/parser.js
        import { trim as clean } from "./helpers.js";
        export default class Parser {
          parse(text) { return this.tokens(clean(text)); }
          // ^ calls lib.helpers.trim
          // ^ calls lib.parser.Parser.tokens
          tokens(text) { return text.split(" "); }
        }
        // --- lib/helpers.js
        export const trim = (text) => text.trim();
        export function pad(text) { return trim(text) + " "; }
        // ^ calls lib.helpers.trim
        // --- lib/math.js
        export function add(a, b) { return a + b; }
        export default function sum(...all) { return all.reduce(add); }
        // ^ calls lib.math.add
        // --- main.js
        import { Parser, pad as widen, math } from "./lib/index.js";
        import * as helpers from "./lib/helpers.js";
        import sum, { add } from "./lib/math.js";
        new Parser().parse(" a b ");
        // ^ calls lib.parser.Parser
        // ^ calls lib.parser.Parser.parse
        widen("x");
        // ^ calls lib.helpers.pad
        math.add(1, 2);
        // ^ calls lib.math.add
        math.default(1, 2);
        // ^ calls lib.math.sum
        helpers.trim(" y ");
        // ^ calls lib.helpers.trim
        sum(1, 2, 3);
        // ^ calls lib.math.sum
        [1, 2].reduce(add);
        // ^ calls lib.math.add
        const { pad } = helpers;
        pad("z");
        // ^ calls lib.helpers.pad
        const late = await import("./lib/parser.js");
        new late.default().tokens("p q");
        // ^ calls lib.parser.Parser
        // ^ calls lib.parser.Parser.tokens
        import("./lib/math.js").then((m) => m.add(3, 4));
        // ^ calls lib.math.add
        """,
    "modules that require": """
        // --- db.js
        const { format } = require("./format");
        class Database {
          constructor(url) { this.url = format(url); }
          // ^ calls format.format
          query(sql) { return exports.run(sql); }
          // ^ calls db.run
        }
        exports.run = function (sql) { return sql; };
        exports.open = (url) => new Database(url);
        // ^ calls db.Database.constructor
        exports.Database = Database;
        // --- format.js
        module.exports = { format, upper: (s) => s.toUpperCase() };
        function format(text) { return module.exports.upper(text); }
        // ^ calls format.default.upper
        // --- service.js
        const db = require("./db");
        module.exports = function createService(url) {
          const connection = db.open(url);
          // ^ calls db.open
          return {
            find(id) { return connection.query("id " + id); },
            // ^ calls db.Database.query
            list: () => connection.query("all"),
            // ^ calls db.Database.query
          };
        };
        module.exports.version = () => "1";
        // --- main.js
        const createService = require("./service");
        const { Database, open: connect } = require("./db");
        const service = createService("db:");
        // ^ calls service.default
        service.find(1);
        // ^ calls service.default.find
        service.list();
        // ^ calls service.default.list
        createService.version();
        // ^ calls service.version
        connect("x:").query("y");
        // ^ calls db.Database.query
        // ^ calls db.open
        new Database("z").query("q");
        // ^ calls db.Database.constructor
        // ^ calls db.Database.query
        require("./format").upper("w");
        // ^ calls format.default.upper
        const lazy = () => require("./format").format;
        lazy()("v");
        // ^ calls format.format
        // ^ calls main.lazy
        """,
    "keyword objects of callbacks": """
        // --- a.js
        function request(url, { onDone = show, onError, parse = (x) => x, ...hooks } = {}) {
          try {
            const body = parse(url);
            // ^ calls a.number
            hooks.after?.(body);
            // ^ calls a.audit
            // ^ calls a.show
            return onDone(body);
            // ^ calls a.audit
            // ^ calls a.show
          } catch (error) { return onError(error); }
          // ^ calls a.warn
        }
        function show(body) { return body; }
        function warn(error) { return error; }
        function number(text) { if (Number.isNaN(+text)) throw new Error(text); return +text; }
        function audit(body) { return body; }
        request("1");
        // ^ calls a.request
        request("2", { onDone: show, onError: warn, parse: number });
        // ^ calls a.request
        request("x", { onError: warn, parse: number, after: audit });
        // ^ calls a.request
        request("3", { after: audit });
        // ^ calls a.request
        const options = { parse: number, onError: warn };
        request("4", { ...options, onDone: audit });
        // ^ calls a.request
        const withOptions = (extra) => (url) => request(url, { ...options, ...extra });
        // ^ calls a.request
        withOptions({ after: show })("5");
        // ^ calls a.withOptions
        """,
    "returns of factories": """
        // --- a.js
        function createStack() {
          const items = [];
          const push = (x) => { items.push(x); return size(); };
          // ^ calls a.createStack.size
          const size = () => items.length;
          return { push, size, pop() { return items.pop(); } };
        }
        function createQueue() {
          const base = createStack();
          // ^ calls a.createStack
          return { ...base, shift: () => base.pop() };
          // ^ calls a.createStack.pop
        }
        function choose(kind) {
          switch (kind) {
            case "stack": return createStack;
            default: return createQueue;
          }
        }
        const queue = createQueue();
        // ^ calls a.createQueue
        queue.push(1);
        // ^ calls a.createStack.push
        queue.shift();
        // ^ calls a.createQueue.shift
        choose("stack")().push(2);
        // ^ calls a.choose
        // ^ calls a.createStack
        // ^ calls a.createStack.push
        const made = choose("queue")();
        // ^ calls a.choose
        // ^ calls a.createQueue
        made.shift();
        // ^ calls a.createQueue.shift
        const [get, set] = state(0);
        // ^ calls a.state
        function state(value) { return [() => value, (next) => { value = log(next); }]; }
        // ^ calls a.log
        function log(v) { return v; }
        set(get() + 1);
        """,
    "returns of builders": """
        // --- a.js
        class Query {
          #filters = [];
          constructor(table) { this.table = table; }
          where(test) { this.#filters.push(test); return this; }
          clone() {
            const copy = new Query(this.table); copy.#filters = [...this.#filters]; return copy;
            // ^ calls a.Query.constructor
          }
          all() { return this.table.rows().filter((row) => this.#filters.every((f) => f(row))); }
          // ^ calls a.Table.rows
          // ^ calls a.even
          // ^ calls a.positive
          get first() { return this.all()[0]; }
          // ^ calls a.Query.all
        }
        class Table {
          constructor(...rows) { this.data = rows; }
          rows() { return this.data; }
          query() { return new Query(this); }
          // ^ calls a.Query.constructor
        }
        const positive = (row) => row > 0;
        function even(row) { return row % 2 === 0; }
        const table = new Table(1, 2, -2);
        // ^ calls a.Table.constructor
        table.query().where(positive).where(even).all();
        // ^ calls a.Query.all
        // ^ calls a.Query.where
        // ^ calls a.Table.query
        const base = table.query().where(positive);
        // ^ calls a.Query.where
        // ^ calls a.Table.query
        base.clone().where((row) => even(row)).first;
        // ^ calls a.Query.clone
        // ^ calls a.Query.first
        // ^ calls a.Query.where
        // ^ calls a.even
        """,
    "promises in chains": """
        // --- a.js
        class Client {
          async get(url) { const reply = await this.send(url); return reply.body(); }
          // ^ calls a.Client.send
          // ^ calls a.Reply.body
          send(url) { return Promise.resolve(new Reply(url)); }
          // ^ calls a.Reply.constructor
        }
        class Reply { constructor(url) { this.url = url; } body() { return { url: this.url }; } }
        function log(value) { return value; }
        function fail(error) { return error; }
        function broken() { throw new Error("x"); }
        const client = new Client();
        // ^ calls a.Client
        client.send("a").then((reply) => reply.body()).then(log);
        // ^ calls a.Client.send
        // ^ calls a.Reply.body
        // ^ calls a.log
        client.get("b").then(log, fail);
        // ^ calls a.Client.get
        // ^ calls a.log
        Promise.resolve(1).then(broken).catch(fail).finally(log);
        // ^ calls a.broken
        // ^ calls a.fail
        // ^ calls a.log
        new Promise((resolve, reject) => { start(resolve); }).then(log);
        // ^ calls a.log
        // ^ calls a.start
        function start(done) { setTimeout(() => done(1), 1); }
        async function main() {
          const [one, two] = await Promise.all([client.send("c"), client.send("d")]);
          // ^ calls a.Client.send
          one.body();
          // ^ calls a.Reply.body
          try { await broken(); } catch (e) { fail(e); }
          // ^ calls a.broken
          // ^ calls a.fail
          for await (const reply of replies(2)) reply.body();
          // ^ calls a.Reply.body
          // ^ calls a.replies
          return two;
        }
        async function* replies(n) { while (n--) yield await client.send(n); }
        // ^ calls a.Client.send
        main().then((two) => two.body());
        // ^ calls a.Reply.body
        // ^ calls a.main
        """,
    "events with an emitter": """
        // --- a.js
        const { EventEmitter } = require("node:events");
        class Server extends EventEmitter {
          constructor() {
            super(); this.on("open", this.opened); this.once("close", () => this.closed());
            // ^ calls a.Server.closed
          }
          opened(port) { return this.announce(port); }
          // ^ calls a.Server.announce
          closed() { return "closed"; }
          announce(port) { return port; }
          listen(port) { this.emit("open", port); return this; }
          // ^ calls a.Server.opened
          // ^ calls a.observe
          stop() { this.emit("close"); }
        }
        function observe(port) { return port; }
        const server = new Server();
        // ^ calls a.Server.constructor
        server.on("open", observe);
        server.listen(80).stop();
        // ^ calls a.Server.listen
        // ^ calls a.Server.stop
        class Bus {
          handlers = {};
          on(name, fn) { (this.handlers[name] ||= []).push(fn); return () => this.off(name, fn); }
          // ^ calls a.Bus.off
          off(name, fn) { this.handlers[name] = this.handlers[name].filter((f) => f !== fn); }
          emit(name, ...args) { for (const fn of this.handlers[name] ?? []) fn(...args); }
          // ^ calls a.greet
        }
        function greet(name) { return name; }
        const bus = new Bus();
        // ^ calls a.Bus
        const stop = bus.on("hi", greet);
        // ^ calls a.Bus.on
        bus.emit("hi", "x");
        // ^ calls a.Bus.emit
        stop();
        """,
    "optional calls and constant keys": """
        // --- a.js
        const KEY = "run";
        const tools = { run(x) {
          return this.log?.(x) ?? x; }, log: (x) => x, nested: { deep() { return 1; } }
          // ^ calls a.tools.log
        };
        function missing() { return null; }
        tools[KEY](1);
        // ^ calls a.tools.run
        tools["log"](2);
        // ^ calls a.tools.log
        tools?.nested?.deep();
        // ^ calls a.tools.deep
        tools.absent?.();
        (tools.absent ?? missing)();
        // ^ calls a.missing
        const name = Math.max(1, 2) ? "deep" : "x";
        tools.nested[name]();
        // ^ calls a.tools.deep
        const METHODS = { get: "fetch", put: "store" };
        const repo = { fetch(k) { return k; }, store(k, v) { return v; } };
        repo[METHODS.get]("k");
        // ^ calls a.repo.fetch
        repo[METHODS["put"]]("k", 1);
        // ^ calls a.repo.store
        const prefix = "on";
        const view = { onOpen() { return 1; }, onClose() { return 2; } };
        view[prefix + "Open"]();
        // ^ calls a.view.onOpen
        view[`${prefix}Close`]();
        // ^ calls a.view.onClose
        for (const m of ["onOpen", "onClose"]) view[m]();
        // ^ calls a.view.onClose
        // ^ calls a.view.onOpen
        """,
    "tagged templates": """
        // --- a.js
        function html(strings, ...values) {
          return strings.map((s, i) => s + (i in values ? escape(values[i]) : "")).join("");
          // ^ calls a.escape
        }
        function escape(value) { return typeof value === "function" ? value() : String(value); }
        // ^ calls a.now
        const sql = Object.assign((strings, ...v) => strings.join("?"), { raw: (text) => text });
        function now() { return "now"; }
        html`<p>${1}</p>`;
        // ^ calls a.html
        html`<b>${now}</b>`;
        // ^ calls a.html
        sql`select ${1}`;
        sql.raw("x");
        // ^ calls a.raw
        const make = (tag) => (strings, ...values) => html(strings, tag, ...values);
        // ^ calls a.html
        make("i")`a ${2}`;
        // ^ calls a.make
        const styled = { div: (s) => css(s), span(s) { return css(s); } };
        // ^ calls a.css
        function css(strings) { return strings[0]; }
        styled.div`color: red`;
        // ^ calls a.styled.div
        styled.span`color: blue`;
        // ^ calls a.styled.span
        """,
    "array callbacks": """
        // --- a.js
        class Item {
          constructor(name, price) { this.name = name; this.price = price; }
          total(n = 1) { return this.price * n; }
          static compare(a, b) { return a.total() - b.total(); }
          // ^ calls a.Item.total
        }
        const isCheap = (item) => item.total() < 5;
        // ^ calls a.Item.total
        const toItem = ([name, price]) => new Item(name, price);
        // ^ calls a.Item.constructor
        const items = [["a", 1], ["b", 9]].map(toItem);
        // ^ calls a.toItem
        items.sort(Item.compare);
        // ^ calls a.Item.compare
        items.filter(isCheap).forEach((item) => item.total(2));
        // ^ calls a.Item.total
        // ^ calls a.isCheap
        const groups = items.reduce((acc, item) => {
          (acc[key(item)] ||= []).push(item);
          // ^ calls a.key
          return acc;
        }, {});
        function key(item) { return item.name; }
        for (const list of Object.values(groups)) list.map((i) => i.total());
        // ^ calls a.Item.total
        items.some((i) => isCheap(i)) && items.every(isCheap);
        // ^ calls a.isCheap
        const names = Array.from(items, (i) => key(i));
        // ^ calls a.key
        const best = items.toSorted(Item.compare).at(0);
        // ^ calls a.Item.compare
        best.total();
        // ^ calls a.Item.total
        const [cheapest] = items;
        cheapest.total(3);
        // ^ calls a.Item.total
        const [none = new Item("none", 0)] = [];
        // ^ calls a.Item.constructor
        none.total(4);
        // ^ calls a.Item.total
        items.flatMap((i) => [i, i])[0].total();
        // ^ calls a.Item.total
        """,
    "a reducer store": """
        // --- store.js
        export function createStore(reducer, middleware = []) {
          let state = reducer(undefined, { type: "@@init" });
          const listeners = new Set();
          let dispatch = (action) => {
            state = reducer(state, action);
            listeners.forEach((listener) => listener(state));
            // ^ calls main.print
            return action;
          };
          for (const each of middleware) dispatch = each({ getState })(dispatch);
          // ^ calls main.logger
          function getState() { return state; }
          function subscribe(listener) {
            listeners.add(listener); return () => listeners.delete(listener);
          }
          return { getState, subscribe, dispatch: (action) => dispatch(action) };
        }
        export function combine(reducers) {
          return (state = {}, action) => {
            const next = {};
            for (const key in reducers) next[key] = reducers[key](state[key], action);
            // ^ calls main.count
            // ^ calls main.names
            return next;
          };
        }
        // --- main.js
        import { combine, createStore } from "./store.js";
        function count(state = 0, action) { return action.type === "up" ? state + 1 : state; }
        function names(state = [], action) { return state; }
        const logger = (api) => (next) => (action) => {
          print(api.getState()); return next(action);
          // ^ calls main.print
          // ^ calls store.createStore.dispatch
          // ^ calls store.createStore.getState
        };
        function print(state) { return state; }
        const store = createStore(combine({ count, names }), [logger]);
        // ^ calls store.combine
        // ^ calls store.createStore
        const stop = store.subscribe(print);
        // ^ calls store.createStore.subscribe
        store.dispatch({ type: "up" });
        // ^ calls store.createStore.dispatch
        store.getState();
        // ^ calls store.createStore.getState
        stop();
        """,
    "a plugin host": """
        // --- host.js
        class Host {
          constructor() { this.plugins = []; this.hooks = { start: [], stop: [] }; }
          use(plugin, options) { plugin(this, options); this.plugins.push(plugin); return this; }
          // ^ calls cache.default
          // ^ calls main.inline
          hook(name, fn) { this.hooks[name].push(fn); }
          start() { return this.run("start"); }
          // ^ calls host.Host.run
          run(name) { return this.hooks[name].map((fn) => fn.call(this, name)); }
          // ^ calls cache.default.warm
          // ^ calls main.onStop
        }
        module.exports = { Host, create: () => new Host() };
        // ^ calls host.Host.constructor
        // --- cache.js
        module.exports = function cache(host, { size = 1 } = {}) {
          const store = new Map();
          host.cache = { get: (k) => store.get(k), set(k, v) { store.set(k, v); return trim(); } };
          // ^ calls cache.default.trim
          host.hook("start", warm);
          // ^ calls host.Host.hook
          function warm() { return host.cache.set("a", size); }
          // ^ calls cache.default.set
          function trim() { return store.size; }
        };
        // --- main.js
        const { create } = require("./host");
        const cache = require("./cache");
        const host = create().use(cache, { size: 2 }).use(inline);
        // ^ calls host.Host.use
        // ^ calls host.default.create
        function inline(host) { host.hook("stop", onStop); }
        // ^ calls host.Host.hook
        function onStop() { return 0; }
        host.start();
        // ^ calls host.Host.start
        host.run("stop");
        // ^ calls host.Host.run
        host.cache.get("a");
        // ^ calls cache.default.get
        """,
    "errors with a hierarchy": """
        // --- a.js
        class AppError extends Error {
          constructor(message, { code = 1 } = {}) { super(message); this.code = code; }
          describe() { return `${this.code} ${this.message}`; }
          static wrap(error) {
            return error instanceof AppError ? error : new this(error.message);
            // ^ calls a.AppError.constructor
          }
        }
        class NotFound extends AppError {
          constructor(name) { super(`no ${name}`, { code: 404 }); }
          // ^ calls a.AppError.constructor
          suggest() { return this.describe(); }
          // ^ calls a.AppError.describe
        }
        function load(name) {
          if (name === "x") throw new NotFound(name); throw new TypeError(name);
          // ^ calls a.NotFound.constructor
        }
        function guarded(action, ...args) {
          try { return action(...args); } catch (error) {
          // ^ calls a.load
            if (error instanceof NotFound) return error.suggest();
            // ^ calls a.NotFound.suggest
            return AppError.wrap(error).describe();
            // ^ calls a.AppError.describe
            // ^ calls a.AppError.wrap
          } finally { tidy(); }
          // ^ calls a.tidy
        }
        function tidy() {}
        guarded(load, "x");
        // ^ calls a.guarded
        guarded(load, "y");
        // ^ calls a.guarded
        """,
    "a state machine": """
        // --- a.js
        const states = {
          idle: { start: (m) => m.go("running") },
          // ^ calls a.Machine.go
          running: { pause: (m) => m.go("idle"), stop(m) { return m.go("done"); } },
          // ^ calls a.Machine.go
          done: {},
        };
        class Machine {
          static #last = null;
          #state = "idle";
          #listeners = [];
          go(name) { this.#state = name; this.#notify(); return this; }
          // ^ calls a.Machine.#notify
          send(event) {
            const act = states[this.#state][event]; return act ? act(this) : this.ignore(event);
            // ^ calls a.Machine.ignore
            // ^ calls a.states.start
            // ^ calls a.states.stop
          }
          ignore(event) { return this; }
          onChange(fn) { this.#listeners.push(fn); return this; }
          #notify() { for (const fn of this.#listeners) fn(this.#state); }
          // ^ calls a.show
        }
        function show(state) { return state; }
        const machine = new Machine().onChange(show);
        // ^ calls a.Machine
        // ^ calls a.Machine.onChange
        machine.send("start").send("stop").send("start");
        // ^ calls a.Machine.send
        const { running } = states;
        running.stop(machine);
        // ^ calls a.states.stop
        """,
    "a command line": """
        // --- a.js
        class Command {
          constructor(name) { this.name = name; this.subcommands = {}; this.handler = null; }
          command(name) {
            const sub = new Command(name); this.subcommands[name] = sub; return sub;
            // ^ calls a.Command.constructor
          }
          action(fn) { this.handler = fn; return this; }
          parse([first, ...rest]) {
            const sub = this.subcommands[first];
            if (sub) return sub.parse(rest);
            // ^ calls a.Command.parse
            return this.handler ? this.handler(first, ...rest) : this.help();
            // ^ calls a.Command.help
            // ^ calls a.add
          }
          help() { return usage(this); }
          // ^ calls a.usage
        }
        function usage(command) { return command.name; }
        function add(file) { return stage(file); }
        // ^ calls a.stage
        function stage(file) { return file; }
        const program = new Command("git");
        // ^ calls a.Command.constructor
        program.command("add").action(add);
        // ^ calls a.Command.action
        // ^ calls a.Command.command
        program.command("log").action(() => stage("log"));
        // ^ calls a.Command.action
        // ^ calls a.Command.command
        // ^ calls a.stage
        program.parse(["add", "a"]);
        // ^ calls a.Command.parse
        program.parse(["log"]);
        // ^ calls a.Command.parse
        program.parse([]);
        // ^ calls a.Command.parse
        """,
}
