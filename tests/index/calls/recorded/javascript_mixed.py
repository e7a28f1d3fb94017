"""Programs of JavaScript for one or several features each, with recorded calls (`record.py`)."""

from __future__ import annotations

PROGRAMS = {
    "assignments: destructured, swapped and later ones": """
        // --- main.js
        function double(n) {
          return n * 2;
        }
        function halve(n) {
          return n / 2;
        }
        const square = (n) => n * n;

        let [first, second] = [double, halve];
        [first, second] = [second, first];
        const { a: third, b: fourth = square } = { a: double };

        let late;
        function setUp() {
          late = halve;
        }

        function compute(n) {
          let step = first;
          let value = step(n);
          // ^ calls main.halve
          step = second;
          value = step(value);
          // ^ calls main.double
          value = third(value) + fourth(value);
          // ^ calls main.double
          // ^ calls main.square
          return late(value);
          // ^ calls main.halve
        }

        setUp();
        // ^ calls main.setUp
        console.log(compute(8));
        // ^ calls main.compute

        const math = {};
        math.twice = double;
        math.thrice = function (n) {
          return math.twice(n) + n;
          // ^ calls main.double
        };
        console.log(math.thrice(2));
        // ^ calls main.math.thrice
        """,
    "closures: a module pattern, currying and memory": """
        // --- main.js
        const counter = (function () {
          let count = 0;
          function change(by) {
            count += by;
            return count;
          }
          return {
            up: () => change(1),
            // ^ calls main.change
            down() {
              return change(-1);
              // ^ calls main.change
            },
            read: () => count,
          };
        })();

        const add = (a) => (b) => sum(a, b);
        // ^ calls main.sum
        function sum(a, b) {
          return a + b;
        }

        function remember(compute) {
          const known = new Map();
          return function (key) {
            if (!known.has(key)) known.set(key, compute(key));
            // ^ calls main.slow
            return known.get(key);
          };
        }

        const slow = (n) => sum(n, n);
        // ^ calls main.sum
        const fast = remember(slow);
        // ^ calls main.remember
        const addTwo = add(2);
        // ^ calls main.add

        counter.up();
        // ^ calls main.up
        counter.down();
        // ^ calls main.down
        console.log(counter.read(), addTwo(3), fast(4), fast(4), add(1)(2));
        // ^ calls main.add
        // ^ calls main.read

        function later(action) {
          const again = () => action();
          // ^ calls main.up
          return again;
        }
        later(counter.up)();
        // ^ calls main.later
        // ^ calls main.later.again
        """,
    "containers: arrays, maps and sets of functions": """
        // --- main.js
        function trim(text) {
          return text.trim();
        }
        function upper(text) {
          return text.toUpperCase();
        }
        function exclaim(text) {
          return text + "!";
        }

        const steps = [trim, upper];
        steps.push(exclaim);

        function run(text) {
          return steps.reduce((value, step) => step(value), text);
          // ^ calls main.exclaim
          // ^ calls main.trim
          // ^ calls main.upper
        }

        const byName = new Map([
          ["trim", trim],
          ["upper", upper],
        ]);
        byName.set("exclaim", exclaim);

        function named(name, text) {
          const found = byName.get(name);
          return found ? found(text) : text;
          // ^ calls main.upper
        }

        const routes = { "/": home, "/about": about };
        function home() {
          return "home";
        }
        function about() {
          return named("upper", "about");
          // ^ calls main.named
        }
        function visit(path) {
          const route = routes[path] || home;
          return route();
          // ^ calls main.about
          // ^ calls main.home
        }

        const listeners = new Set();
        listeners.add(exclaim);
        for (const listener of listeners) console.log(listener("hi"));
        // ^ calls main.exclaim
        console.log(run(" a "), visit("/"), visit("/about"), steps[0](" b "), routes["/about"]());
        // ^ calls main.about
        // ^ calls main.run
        // ^ calls main.trim
        // ^ calls main.visit
        """,
    "decorators: functions that wrap functions and classes": """
        // --- wrap.js
        export function timed(action) {
          return (...args) => {
            mark("start");
            // ^ calls wrap.mark
            const result = action(...args);
            // ^ calls main.read
            mark("end");
            // ^ calls wrap.mark
            return result;
          };
        }

        export function mark(text) {
          marks.push(text);
        }

        export const marks = [];

        export const guarded = (check) => (action) =>
          function (value) {
            if (!check(value)) return refuse(value);
            // ^ calls main.positive
            // ^ calls wrap.refuse
            return action.call(this, value);
          };

        function refuse(value) {
          return `refused ${value}`;
        }

        export function withName(Base) {
          return class Named extends Base {
            label() {
              return "named " + super.label();
              // ^ calls main.Item.label
            }
          };
        }
        // --- main.js
        import { guarded, marks, timed, withName } from "./wrap.js";

        const positive = (n) => n > 0;
        const root = guarded(positive)((n) => Math.sqrt(n));
        // ^ calls wrap.guarded
        const load = timed(function read(path) {
        // ^ calls wrap.timed
          return path.length;
        });

        class Item {
          label() {
            return "item";
          }
        }
        const NamedItem = withName(Item);
        // ^ calls wrap.withName

        console.log(root(4), root(-1), load("file"));
        console.log(new NamedItem().label(), marks.length);
        // ^ calls wrap.withName.Named
        // ^ calls wrap.withName.Named.label
        """,
    "generators: pipelines, delegation and async iteration": """
        // --- main.js
        function* numbers(limit) {
          for (let n = 0; n < limit; n++) yield n;
        }

        function* mapped(source, change) {
          for (const value of source) yield change(value);
          // ^ calls main.double
        }

        const double = (n) => n * 2;

        function* all(limit) {
          yield* mapped(numbers(limit), double);
          // ^ calls main.mapped
          // ^ calls main.numbers
          yield last(limit);
          // ^ calls main.last
        }

        function last(limit) {
          return limit * 100;
        }

        class Tree {
          constructor(value, children = []) {
            this.value = value;
            this.children = children;
          }
          *[Symbol.iterator]() {
            yield this.value;
            for (const child of this.children) yield* child;
            // ^ calls main.Tree.[Symbol.iterator]
          }
          async *walk() {
            for (const value of this) yield await delayed(value);
            // ^ calls main.Tree.[Symbol.iterator]
            // ^ calls main.delayed
          }
        }

        async function delayed(value) {
          return value;
        }

        async function main() {
          console.log([...all(3)]);
          // ^ calls main.all
          const tree = new Tree(1, [new Tree(2)]);
          // ^ calls main.Tree.constructor
          for await (const value of tree.walk()) console.log(value);
          // ^ calls main.Tree.walk
          const steps = numbers(2);
          // ^ calls main.numbers
          console.log(steps.next().value, Array.from(numbers(3), double));
          // ^ calls main.double
          // ^ calls main.numbers
        }
        main();
        // ^ calls main.main
        """,
    "inheritance: abstract steps, statics, accessors and super": r"""
        // --- base.js
        export class Report {
          static from(rows) {
            return new this(rows);
            // ^ calls base.Report.constructor
            // ^ calls main.Html
          }
          constructor(rows) {
            this.rows = rows;
            this.prepare();
            // ^ calls main.Html.prepare
          }
          prepare() {}
          get title() {
            return this.makeTitle();
            // ^ calls main.Html.makeTitle
          }
          makeTitle() {
            return "report";
          }
          print() {
            return `${this.title}\n${this.body()}`;
            // ^ calls base.Report.body
            // ^ calls base.Report.title
            // ^ calls main.Short.body
          }
          body() {
            return this.rows.map((row) => this.line(row)).join("\n");
            // ^ calls main.Html.line
          }
          line(row) {
            return String(row);
          }
        }
        // --- main.js
        import { Report } from "./base.js";

        class Html extends Report {
          prepare() {
            this.rows = this.rows.map(escaped);
            // ^ calls main.escaped
          }
          makeTitle() {
            return `<h1>${super.makeTitle()}</h1>`;
            // ^ calls base.Report.makeTitle
          }
          line(row) {
            return `<p>${super.line(row)}</p>`;
            // ^ calls base.Report.line
          }
        }

        function escaped(text) {
          return text.replace("<", "&lt;");
        }

        class Short extends Html {
          constructor(rows) {
            super(rows.slice(0, 1));
            // ^ calls base.Report.constructor
            // ^ calls main.Html
            this.done = true;
          }
          body() {
            return "short " + super.body();
            // ^ calls base.Report.body
          }
        }

        console.log(Html.from(["a<b"]).print());
        // ^ calls base.Report.from
        // ^ calls base.Report.print
        console.log(new Short(["a", "b"]).print());
        // ^ calls base.Report.print
        // ^ calls main.Short.constructor
        """,
    "imports: CommonJS modules in several shapes": """
        // --- log.js
        exports.info = function (text) {
          return exports.format("info", text);
          // ^ calls log.format
        };
        exports.format = (level, text) => `${level}: ${text}`;
        // --- store.js
        const log = require("./log");

        function Store(name) {
          if (!(this instanceof Store)) return new Store(name);
          // ^ calls store.Store
          this.name = name;
          this.data = {};
        }
        Store.prototype.set = function set(key, value) {
          this.data[key] = value;
          log.info(key);
          // ^ calls log.info
          return this;
        };
        Store.prototype.get = function get(key) {
          return this.data[key];
        };
        Store.open = (name) => new Store(name);
        // ^ calls store.Store

        module.exports = Store;
        module.exports.version = () => "1";
        // --- tools.js
        const { info } = require("./log");
        module.exports = {
          shout(text) {
            return info(text).toUpperCase();
            // ^ calls log.info
          },
          Store: require("./store"),
        };
        // --- main.js
        const Store = require("./store");
        const { shout } = require("./tools");
        const tools = require("./tools");
        const format = require("./log").format;

        const store = Store("a").set("x", 1);
        // ^ calls store.Store
        // ^ calls store.Store.set
        console.log(store.get("x"), Store.open("b").set("y", 2).get("y"));
        // ^ calls store.Store.get
        // ^ calls store.Store.open
        // ^ calls store.Store.set
        console.log(shout("hey"), tools.shout("you"), format("w", "t"));
        // ^ calls log.format
        // ^ calls tools.default.shout
        console.log(new tools.Store("c").get("z"), Store.version());
        // ^ calls store.Store
        // ^ calls store.Store.get
        // ^ calls store.version
        """,
    "keyword arguments: option objects with defaults and callbacks": """
        // --- main.js
        const upper = (text) => text.toUpperCase();
        const plain = (text) => text;

        function render(text, { style = plain, after, ...rest } = {}) {
          const made = style(text);
          // ^ calls main.plain
          // ^ calls main.upper
          if (after) after(made, rest);
          // ^ calls main.log
          return made;
        }

        function log(text) {
          console.log(text);
        }

        class View {
          constructor(options = {}) {
            this.options = { sink: log, transform: plain, ...options };
          }
          show(text) {
            const { sink, transform } = this.options;
            sink(transform(text));
            // ^ calls main.log
            // ^ calls main.plain
            // ^ calls main.upper
          }
        }

        function withDefaults(options) {
          const full = Object.assign({ style: upper }, options);
          return render("hello", full);
          // ^ calls main.render
        }

        render("a");
        // ^ calls main.render
        render("b", { style: upper, after: log });
        // ^ calls main.render
        withDefaults({ after: log });
        // ^ calls main.withDefaults
        new View().show("c");
        // ^ calls main.View.constructor
        // ^ calls main.View.show
        new View({ transform: upper }).show("d");
        // ^ calls main.View.constructor
        // ^ calls main.View.show

        function request({ onDone, onError = log }) {
          try {
            onDone("ok");
            // ^ calls main.onDone
          } catch (error) {
            onError(error.message);
            // ^ calls main.log
          }
        }
        request({ onDone: (text) => log(text) });
        // ^ calls main.log
        // ^ calls main.request
        request({
        // ^ calls main.request
          onDone() {
            throw new Error("no");
          },
        });
        """,
    "returns: builders, promises and factories": """
        // --- main.js
        class Query {
          #filters = [];
          constructor(rows) {
            this.rows = rows;
          }
          where(test) {
            this.#filters.push(test);
            return this;
          }
          run() {
            return this.rows.filter((row) => this.#matches(row));
            // ^ calls main.Query.#matches
          }
          #matches(row) {
            return this.#filters.every((test) => test(row));
            // ^ calls main.large
          }
        }

        function connect(rows) {
          return {
            query: () => new Query(rows),
            // ^ calls main.Query.constructor
            close() {
              return closed(rows);
              // ^ calls main.closed
            },
          };
        }
        function closed(rows) {
          return rows.length;
        }

        const large = (n) => n > 3;
        const not = (test) => (n) => !test(n);
        // ^ calls main.large

        async function load() {
          return connect([1, 5, 9]);
          // ^ calls main.connect
        }

        function pick(kind) {
          switch (kind) {
            case "large":
              return large;
            default:
              return not(large);
              // ^ calls main.not
          }
        }

        load()
        // ^ calls main.load
          .then((database) => database.query().where(large).run())
          // ^ calls main.Query.run
          // ^ calls main.Query.where
          // ^ calls main.connect.query
          .then((rows) => console.log(rows));

        async function main() {
          const database = await load();
          // ^ calls main.load
          console.log(database.query().where(pick("small")).run(), database.close());
          // ^ calls main.Query.run
          // ^ calls main.Query.where
          // ^ calls main.connect.close
          // ^ calls main.connect.query
          // ^ calls main.pick
        }
        main();
        // ^ calls main.main
        """,
    "mix: an event emitter with bound methods": """
        // --- emitter.js
        export default class Emitter {
          constructor() {
            this.handlers = {};
          }
          on(name, handler) {
            (this.handlers[name] ||= []).push(handler);
            return () => this.off(name, handler);
            // ^ calls emitter.Emitter.off
          }
          off(name, handler) {
            this.handlers[name] = this.handlers[name].filter((h) => h !== handler);
          }
          emit(name, ...args) {
            (this.handlers[name] ?? []).forEach((handler) => handler(...args));
            // ^ calls main.show
          }
        }
        // --- main.js
        import Emitter from "./emitter.js";
        import * as all from "./emitter.js";

        class Clock extends Emitter {
          constructor() {
            super();
            // ^ calls emitter.Emitter.constructor
            this.ticks = 0;
            this.tick = this.tick.bind(this);
          }
          tick() {
            this.ticks += 1;
            this.emit("tick", this.ticks);
            // ^ calls emitter.Emitter.emit
          }
          static started() {
            const clock = new Clock();
            // ^ calls main.Clock.constructor
            clock.tick();
            // ^ calls main.Clock.tick
            return clock;
          }
        }

        function show(n) {
          console.log(n);
        }

        const clock = Clock.started();
        // ^ calls main.Clock.started
        const stop = clock.on("tick", show);
        // ^ calls emitter.Emitter.on
        clock.on("tick", (n) => show(n * 2));
        // ^ calls emitter.Emitter.on
        // ^ calls main.show
        const { tick } = clock;
        tick();
        // ^ calls main.Clock.tick
        stop();
        clock.emit("tick", 9);
        // ^ calls emitter.Emitter.emit
        const bare = new all.default();
        // ^ calls emitter.Emitter.constructor
        bare.on("x", show);
        // ^ calls emitter.Emitter.on
        bare.emit("x", 1);
        // ^ calls emitter.Emitter.emit
        """,
    "mix: a parser of objects with methods that call each other": """
        // --- main.js
        const tokens = {
          list: [],
          at: 0,
          load(text) {
            this.list = text.split(" ");
            this.at = 0;
            return this;
          },
          next() {
            return this.list[this.at++];
          },
          get done() {
            return this.at >= this.list.length;
          },
        };

        function Parser(source) {
          this.source = source;
        }
        Parser.prototype = {
          parse() {
            let left = this.value();
            // ^ calls main.Parser.value
            while (!this.source.done) {
            // ^ calls main.tokens.done
              const operator = operators[this.source.next()];
              // ^ calls main.tokens.next
              left = operator(left, this.value());
              // ^ calls main.Parser.value
              // ^ calls main.plus
              // ^ calls main.times
            }
            return left;
          },
          value: function () {
            return toNumber(this.source.next());
            // ^ calls main.toNumber
            // ^ calls main.tokens.next
          },
        };

        const toNumber = (text) => Number.parseInt(text, 10);
        const plus = (a, b) => a + b;
        function times(a, b) {
          return a * b;
        }
        const operators = { "+": plus, "*": times };

        const parse = (text) => new Parser(tokens.load(text)).parse();
        // ^ calls main.Parser
        // ^ calls main.Parser.parse
        // ^ calls main.tokens.load
        console.log(parse("1 + 2 * 3"));
        // ^ calls main.parse
        console.log(["1 + 1", "2 * 2"].map(parse));
        // ^ calls main.parse
        Parser.parse = parse;
        console.log(Parser.parse("7"));
        // ^ calls main.parse
        """,
    "mix: modules, mixins by assign, tagged templates and callbacks": """
        // --- mixins.js
        export const Serializable = {
          serialize() {
            return JSON.stringify(this.fields());
            // ^ calls main.Point.fields
          },
        };

        export const comparable = (Base) =>
          class extends Base {
            equals(other) {
              return this.key() === other.key();
              // ^ calls main.Point.key
            }
          };

        export function tag(parts, ...values) {
          return parts.map((part, i) => part + quoted(values[i])).join("");
          // ^ calls mixins.quoted
        }

        function quoted(value = "") {
          return value && `'${value}'`;
        }
        // --- main.js
        import { Serializable, comparable, tag } from "./mixins.js";

        class Point {
          constructor(x, y) {
            [this.x, this.y] = [x, y];
          }
          fields() {
            return { x: this.x, y: this.y };
          }
          key() {
            return tag`${this.x} and ${this.y}`;
            // ^ calls mixins.tag
          }
        }
        Object.assign(Point.prototype, Serializable);

        class Place extends comparable(Point) {
        // ^ calls mixins.comparable
          toString() {
            return this.key();
            // ^ calls main.Point.key
          }
        }

        const one = new Place(1, 2);
        // ^ calls main.Place
        // ^ calls main.Point.constructor
        const points = [one, new Place(1, 2)];
        // ^ calls main.Place
        // ^ calls main.Point.constructor
        console.log(one.serialize(), one.equals(points[1]));
        // ^ calls mixins.Serializable.serialize
        // ^ calls mixins.comparable.equals
        console.log(points.map((p) => p.toString()), points.sort(byX).length);
        // ^ calls main.Place.toString
        // ^ calls main.byX
        function byX(a, b) {
          return a.x - b.x;
        }
        setTimeout(finish, 0);
        // ^ calls main.finish
        function finish() {
          console.log(String(one));
          // ^ calls main.Place.toString
        }
        """,
}
