"""More snippets of JavaScript, with recorded calls (`record.py`)."""

from __future__ import annotations

PROGRAMS = {
    "modules: CommonJS exports in several styles": """
        // --- logger.js
        module.exports = function createLogger(name) {
          return {
            info(text) { return write(name, text); },
            // ^ calls logger.write
            error: (text) => write(name, text),
            // ^ calls logger.write
          };
        };
        function write(name, text) { return name + text; }
        module.exports.levels = function levels() { return ["info"]; };
        // --- util.js
        exports.trim = (s) => s.trim();
        exports.pad = function (s) { return exports.trim(s) + " "; };
        // ^ calls util.trim
        const inner = { deep() { return helper(); } };
        // ^ calls util.helper
        function helper() { return 1; }
        exports.inner = inner;
        // --- queue.js
        class Queue {
          constructor() { this.jobs = []; }
          add(job) { this.jobs.push(job); return this; }
          run() { return this.jobs.map((job) => job()); }
          // ^ calls main.trimmed
        }
        const shared = new Queue();
        // ^ calls queue.Queue.constructor
        module.exports = { Queue, shared, makeQueue: () => new Queue() };
        // ^ calls queue.Queue.constructor
        // --- main.js
        const createLogger = require("./logger");
        const util = require("./util.js");
        const { Queue, shared, makeQueue } = require("./queue");
        const { trim, inner: { deep } } = require("./util");
        const log = createLogger("main");
        // ^ calls logger.default
        log.info("a");
        // ^ calls logger.default.info
        log.error("b");
        // ^ calls logger.default.error
        createLogger.levels();
        // ^ calls logger.levels
        util.pad(" c ");
        // ^ calls util.pad
        util.inner.deep();
        // ^ calls util.inner.deep
        trim(" d ");
        // ^ calls util.trim
        deep();
        // ^ calls util.inner.deep
        shared.add(() => log.info("e")).run();
        // ^ calls logger.default.info
        // ^ calls queue.Queue.add
        // ^ calls queue.Queue.run
        makeQueue().add(trimmed).run();
        // ^ calls queue.Queue.add
        // ^ calls queue.Queue.run
        // ^ calls queue.default.makeQueue
        function trimmed() { return util.trim(" f "); }
        // ^ calls util.trim
        new Queue().run();
        // ^ calls queue.Queue.constructor
        // ^ calls queue.Queue.run
        require("./queue").shared.run();
        // ^ calls queue.Queue.run
        """,
    "destructured options and keyword-style arguments": """
        // --- main.js
        function first() { return 1; }
        function second() { return 2; }
        function run({ before, action, after = second }) {
          if (before) before();
          // ^ calls main.first
          const result = action();
          // ^ calls main.first
          // ^ calls main.second
          after(result);
          // ^ calls main.after
          // ^ calls main.second
        }
        run({ action: first });
        // ^ calls main.run
        run({ before: first, action: second, after: () => first() });
        // ^ calls main.first
        // ^ calls main.run
        const usual = { open: first, close: second };
        function connect({ host = "x", on: { open, close } = usual } = {}) {
          open(host);
          // ^ calls main.first
          // ^ calls main.second
          close();
          // ^ calls main.first
          // ^ calls main.second
        }
        connect();
        // ^ calls main.connect
        connect({ on: { open: second, close: first } });
        // ^ calls main.connect
        class Client {
          constructor({ transport, parse = JSON.parse, retries = 1 }) {
            this.transport = transport;
            this.parse = parse;
          }
          request(path) { return this.parse(this.transport(path)); }
          // ^ calls main.http
          // ^ calls main.parseText
        }
        function http(path) { return JSON.stringify({ path }); }
        function parseText(text) { return text.length; }
        new Client({ transport: http }).request("a");
        // ^ calls main.Client.constructor
        // ^ calls main.Client.request
        const client = new Client({ transport: http, parse: parseText });
        // ^ calls main.Client.constructor
        client.request("b");
        // ^ calls main.Client.request
        const swap = ({ a, b }) => ({ a: b, b: a });
        const swapped = swap({ a: first, b: second });
        // ^ calls main.swap
        swapped.a();
        // ^ calls main.second
        function pick([head, ...rest]) { head(); rest.forEach((fn) => fn()); }
        // ^ calls main.first
        // ^ calls main.second
        pick([first, second]);
        // ^ calls main.pick
        const options = { action: second, extra: true };
        run({ ...options, before: first });
        // ^ calls main.run
        """,
    "default parameters, rest and spread": """
        // --- main.js
        function base(n) { return n; }
        function other(n) { return -n; }
        function apply(value, fn = base, wrap = (x) => fn(x)) { return wrap(value); }
        // ^ calls main.base
        // ^ calls main.other
        apply(1);
        // ^ calls main.apply
        apply(2, other);
        // ^ calls main.apply
        apply(3, other, (x) => base(x));
        // ^ calls main.apply
        // ^ calls main.base
        function make(name, build = createDefault()) { return build; }
        // ^ calls main.createDefault
        function createDefault() { return { go() { return base(0); } }; }
        // ^ calls main.base
        make("a").go();
        // ^ calls main.createDefault.go
        // ^ calls main.make
        function callAll(...fns) { return fns.map((fn) => fn(1)); }
        // ^ calls main.base
        // ^ calls main.other
        callAll(base, other);
        // ^ calls main.callAll
        const list = [base, other];
        callAll(...list);
        // ^ calls main.callAll
        callAll(...list, (n) => n);
        // ^ calls main.callAll
        function firstOf(head, ...rest) { return rest.length ? rest[0](1) : head(1); }
        // ^ calls main.base
        // ^ calls main.other
        firstOf(base);
        // ^ calls main.firstOf
        firstOf(base, other);
        // ^ calls main.firstOf
        const merged = { ...{ a: base }, b: other };
        merged.a(1);
        // ^ calls main.base
        merged.b(1);
        // ^ calls main.other
        const copy = [...list];
        copy[1](2);
        // ^ calls main.other
        function forward(...args) { return target(...args); }
        // ^ calls main.target
        function target(fn, value) { return fn(value); }
        // ^ calls main.other
        forward(other, 4);
        // ^ calls main.forward
        function withArguments() { return arguments[0](arguments[1]); }
        // ^ calls main.base
        withArguments(base, 5);
        // ^ calls main.withArguments
        """,
    "returns: functions, objects and several paths": """
        // --- main.js
        function one() { return 1; }
        function two() { return 2; }
        function choose(flag) {
          if (flag) return one;
          return two;
        }
        choose(true)();
        // ^ calls main.choose
        // ^ calls main.one
        choose(false)();
        // ^ calls main.choose
        // ^ calls main.two
        function switched(kind) {
          switch (kind) {
            case "a": return { run: one };
            default: return { run: two };
          }
        }
        switched("a").run();
        // ^ calls main.one
        // ^ calls main.switched
        function pair() { return [one, two]; }
        const [left, right] = pair();
        // ^ calls main.pair
        left();
        // ^ calls main.one
        right();
        // ^ calls main.two
        pair()[1]();
        // ^ calls main.pair
        // ^ calls main.two
        const make = () => ({ child: () => ({ leaf: one }) });
        make().child().leaf();
        // ^ calls main.make
        // ^ calls main.make.child
        // ^ calls main.one
        function self() { return this; }
        const chain = { self, next() { return this; }, stop() { return two(); } };
        // ^ calls main.two
        chain.next().next().stop();
        // ^ calls main.chain.next
        // ^ calls main.chain.stop
        chain.self().stop();
        // ^ calls main.chain.stop
        // ^ calls main.self
        function early(list) {
          for (const fn of list) if (fn) return fn;
          return null;
        }
        early([null, two])();
        // ^ calls main.early
        // ^ calls main.two
        function attempt() {
          try { return one; } finally { two(); }
          // ^ calls main.two
        }
        attempt()();
        // ^ calls main.attempt
        // ^ calls main.one
        const ident = (x) => x;
        ident(one)();
        // ^ calls main.ident
        // ^ calls main.one
        ident({ run: two }).run();
        // ^ calls main.ident
        // ^ calls main.two
        function builder() {
          const api = {};
          api.set = (name) => { one(); return api; };
          // ^ calls main.one
          api.end = () => two();
          // ^ calls main.two
          return api;
        }
        builder().set("x").set("y").end();
        // ^ calls main.api.end
        // ^ calls main.api.set
        // ^ calls main.builder
        """,
    "returns: classes, constructors and recursion": """
        // --- main.js
        function makeClass(base) {
          return class extends base {
            hello() { return this.greet() + super.greet(); }
            // ^ calls main.Person.greet
          };
        }
        class Person { greet() { return word(); } }
        // ^ calls main.word
        function word() { return "hi"; }
        const Loud = makeClass(Person);
        // ^ calls main.makeClass
        new Loud().hello();
        // ^ calls main.Person
        // ^ calls main.makeClass.hello
        function Wrapper(value) {
          if (!(this instanceof Wrapper)) return new Wrapper(value);
          // ^ calls main.Wrapper
          this.value = value;
        }
        Wrapper.prototype.unwrap = function () { return this.value; };
        Wrapper(word).unwrap()();
        // ^ calls main.Wrapper
        // ^ calls main.Wrapper.unwrap
        // ^ calls main.word
        class Single {
          static instance;
          constructor() {
            if (Single.instance) return Single.instance;
            Single.instance = this;
          }
          static get() { return Single.instance ?? new Single(); }
          // ^ calls main.Single.constructor
          use() { return word(); }
          // ^ calls main.word
        }
        Single.get().use();
        // ^ calls main.Single.get
        // ^ calls main.Single.use
        new Single().use();
        // ^ calls main.Single.constructor
        // ^ calls main.Single.use
        function visit(node, action) {
          action(node);
          // ^ calls main.inspect
          for (const child of node.children) visit(child, action);
          // ^ calls main.visit
        }
        visit({ children: [{ children: [] }] }, inspect);
        // ^ calls main.visit
        function inspect(node) { return node.children; }
        const fact = (n) => (n <= 1 ? 1 : n * fact(n - 1));
        // ^ calls main.fact
        fact(3);
        // ^ calls main.fact
        function isEven(n) { return n === 0 ? true : isOdd(n - 1); }
        // ^ calls main.isOdd
        function isOdd(n) { return n === 0 ? false : isEven(n - 1); }
        // ^ calls main.isEven
        isEven(4);
        // ^ calls main.isEven
        function trampoline(fn) {
          while (typeof fn === "function") fn = fn();
          return fn;
        }
        trampoline(() => () => word());
        // ^ calls main.trampoline
        // ^ calls main.word
        """,
    "classes: static blocks, private members and fields": """
        // --- main.js
        function setup() { return new Map(); }
        function compute(n) { return n; }
        class Registry {
          static #entries;
          static defaults = compute(1);
          // ^ calls main.compute
          static {
            this.#entries = setup();
            // ^ calls main.setup
            Registry.add("first", compute);
            // ^ calls main.Registry.add
          }
          static add(name, fn) { this.#entries.set(name, fn); return this; }
          static call(name, ...args) { return this.#entries.get(name)(...args); }
          // ^ calls main.compute
          static #check(name) { return Registry.#entries.has(name); }
          static has(name) { return this.#check(name); }
          // ^ calls main.Registry.#check
        }
        Registry.add("second", (n) => compute(n)).add("third", setup);
        // ^ calls main.Registry.add
        Registry.call("first", 1);
        // ^ calls main.Registry.call
        Registry.has("second");
        // ^ calls main.Registry.has
        class Account {
          #balance = compute(10);
          // ^ calls main.compute
          #log(text) { return text; }
          handler = (event) => this.#log(event);
          // ^ calls main.Account.#log
          deposit(n) { this.#balance += n; return this.#log("deposit"); }
          // ^ calls main.Account.#log
          get #double() { return this.#balance * 2; }
          twice() { return this.#double; }
          // ^ calls main.Account.#double
          same(other) { return #balance in other && other.#log("same"); }
          // ^ calls main.Account.#log
        }
        const account = new Account();
        // ^ calls main.Account
        account.deposit(5);
        // ^ calls main.Account.deposit
        account.twice();
        // ^ calls main.Account.twice
        account.handler("click");
        // ^ calls main.Account.handler
        account.same(new Account());
        // ^ calls main.Account
        // ^ calls main.Account.same
        const { handler } = account;
        handler("again");
        // ^ calls main.Account.handler
        const Local = class { run() { return compute(2); } static make() { return new Local(); } };
        // ^ calls main.Local
        // ^ calls main.compute
        Local.make().run();
        // ^ calls main.Local.make
        // ^ calls main.Local.run
        new (class { go() { return setup(); } })().go();
        // ^ calls main.go
        // ^ calls main.setup
        """,
    "classes: getters and setters": """
        // --- main.js
        function read(x) { return x; }
        function check(x) { return x > 0; }
        class Temperature {
          constructor(c) { this.celsius = c; }
          // ^ calls main.Temperature.celsius
          // ^ calls main.Warm.celsius
          get celsius() { return read(this._c); }
          // ^ calls main.read
          set celsius(value) { if (check(value)) this._c = value; }
          // ^ calls main.check
          get fahrenheit() { return this.celsius * 2; }
          // ^ calls main.Temperature.celsius
          // ^ calls main.Warm.celsius
          static get unit() { return read("C"); }
          // ^ calls main.read
        }
        const t = new Temperature(20);
        // ^ calls main.Temperature.constructor
        t.celsius;
        // ^ calls main.Temperature.celsius
        t.celsius = 5;
        // ^ calls main.Temperature.celsius
        t.fahrenheit;
        // ^ calls main.Temperature.fahrenheit
        t.celsius += 1;
        // ^ calls main.Temperature.celsius
        Temperature.unit;
        // ^ calls main.Temperature.unit
        const view = {
          items: [1],
          get size() { return read(this.items.length); },
          // ^ calls main.read
          set size(n) { check(n); },
          // ^ calls main.check
          get handler() { return read; },
        };
        view.size;
        // ^ calls main.view.size
        view.size = 3;
        // ^ calls main.view.size
        view.handler(1);
        // ^ calls main.read
        // ^ calls main.view.handler
        class Lazy {
          get tools() { return this._tools ??= new Tools(); }
          // ^ calls main.Tools
          get self() { return this; }
        }
        class Tools { hammer() { return check(1); } }
        // ^ calls main.check
        const lazy = new Lazy();
        // ^ calls main.Lazy
        lazy.tools.hammer();
        // ^ calls main.Lazy.tools
        // ^ calls main.Tools.hammer
        lazy.self.tools.hammer();
        // ^ calls main.Lazy.self
        // ^ calls main.Lazy.tools
        // ^ calls main.Tools.hammer
        const { tools } = lazy;
        // ^ calls main.Lazy.tools
        tools.hammer();
        // ^ calls main.Tools.hammer
        Object.defineProperty(view, "last", { get() { return read(9); } });
        // ^ calls main.read
        view.last;
        // ^ calls main.get
        class Warm extends Temperature {
          get celsius() { return super.celsius + 1; }
          // ^ calls main.Temperature.celsius
          set celsius(v) { super.celsius = v; }
          // ^ calls main.Temperature.celsius
        }
        new Warm(3).fahrenheit;
        // ^ calls main.Temperature.constructor
        // ^ calls main.Temperature.fahrenheit
        // ^ calls main.Warm
        """,
    "async: await, promises and callbacks": """
        // --- main.js
        function load(id) { return new Promise((resolve) => resolve(convert(id))); }
        // ^ calls main.convert
        function convert(id) { return { id, name() { return String(id); } }; }
        async function getName(id) {
          const record = await load(id);
          // ^ calls main.load
          return record.name();
          // ^ calls main.convert.name
        }
        getName(1).then(print).catch(fail).finally(() => cleanUp());
        // ^ calls main.cleanUp
        // ^ calls main.getName
        // ^ calls main.print
        function print(text) { return text; }
        function fail(error) { return error; }
        function cleanUp() {}
        load(2).then((record) => record.name()).then((name) => print(name));
        // ^ calls main.convert.name
        // ^ calls main.load
        // ^ calls main.print
        function delay(ms, callback) { setTimeout(callback, ms); }
        // ^ calls main.cleanUp
        delay(0, () => print("late"));
        // ^ calls main.delay
        // ^ calls main.print
        delay(0, cleanUp);
        // ^ calls main.delay
        async function broken() { throw new Error("x"); }
        broken().catch((e) => fail(e));
        // ^ calls main.broken
        // ^ calls main.fail
        async function sequence(tasks) {
          for (const task of tasks) await task();
          // ^ calls main.broken2
          return Promise.all(tasks.map((task) => task()));
          // ^ calls main.broken2
        }
        sequence([broken2, async () => print("q")]);
        // ^ calls main.print
        // ^ calls main.sequence
        async function broken2() { return cleanUp(); }
        // ^ calls main.cleanUp
        function promisify(fn) {
          return (...args) => new Promise((resolve, reject) =>
            fn(...args, (err, value) => err ? reject(err) : resolve(value)));
            // ^ calls main.old
        }
        function old(x, callback) { callback(null, convert(x)); }
        // ^ calls main.convert
        const modern = promisify(old);
        // ^ calls main.promisify
        modern(3).then((r) => print(r));
        // ^ calls main.print
        queueMicrotask(() => cleanUp());
        // ^ calls main.cleanUp
        class Api {
          async get(path) { return this.send("GET", path); }
          // ^ calls main.Api.send
          async send(method, path) { return convert(path); }
          // ^ calls main.convert
        }
        (async () => {
          const api = new Api();
          // ^ calls main.Api
          const answer = await api.get("/x");
          // ^ calls main.Api.get
          answer.name();
          // ^ calls main.convert.name
          (await api.send("POST", "/y")).name();
          // ^ calls main.Api.send
          // ^ calls main.convert.name
        })();
        """,
    "prototypes: constructors, Object.create and chains": """
        // --- main.js
        function Animal(name) { this.name = name; }
        Animal.prototype.speak = function () { return sound(this.name); };
        // ^ calls main.sound
        Animal.prototype.move = function move() { return this.speak(); };
        // ^ calls main.Animal.speak
        // ^ calls main.Dog.speak
        function sound(name) { return name; }
        function Dog(name) { Animal.call(this, name); }
        // ^ calls main.Animal
        Dog.prototype = Object.create(Animal.prototype);
        Dog.prototype.constructor = Dog;
        Dog.prototype.bark = function () { return this.speak() + "!"; };
        // ^ calls main.Dog.speak
        Dog.prototype.speak = function () { return Animal.prototype.speak.call(this) + "woof"; };
        // ^ calls main.Animal.speak
        const dog = new Dog("rex");
        // ^ calls main.Dog
        dog.bark();
        // ^ calls main.Dog.bark
        dog.move();
        // ^ calls main.Animal.move
        new Animal("cat").speak();
        // ^ calls main.Animal
        // ^ calls main.Animal.speak
        Animal.from = function (name) { return new Animal(name); };
        // ^ calls main.Animal
        Animal.from("cow").move();
        // ^ calls main.Animal.from
        // ^ calls main.Animal.move
        const proto = { greet() { return this.word(); }, word() { return sound("hi"); } };
        // ^ calls main.proto.word
        // ^ calls main.sound
        const child = Object.create(proto);
        child.greet();
        // ^ calls main.proto.greet
        const named = Object.create(proto, {
          extra: { value: function () { return sound("x"); } },
          // ^ calls main.sound
        });
        named.extra();
        // ^ calls main.value
        function Stack() { this.items = []; }
        Stack.prototype = {
          constructor: Stack,
          push(x) { this.items.push(x); return this; },
          top: function () { return this.items[this.items.length - 1]; },
        };
        new Stack().push(1).top();
        // ^ calls main.Stack
        // ^ calls main.Stack.push
        // ^ calls main.Stack.top
        Object.assign(Stack.prototype, { clear() { this.items = []; } });
        new Stack().clear();
        // ^ calls main.Stack
        // ^ calls main.clear
        Object.setPrototypeOf(Cat.prototype, Animal.prototype);
        function Cat() { Animal.apply(this, arguments); }
        // ^ calls main.Animal
        Cat.prototype.purr = function () { return this.speak(); };
        // ^ calls main.Animal.speak
        new Cat("tom").purr();
        // ^ calls main.Cat
        // ^ calls main.Cat.purr
        """,
    "call, apply and bind": """
        // --- main.js
        function greet(greeting, mark) { return shout(greeting + this.name + mark); }
        // ^ calls main.shout
        function shout(text) { return text.toUpperCase(); }
        const ann = { name: "Ann", hello() { return greet.call(this, "hi", "!"); } };
        // ^ calls main.greet
        greet.call(ann, "hello", ".");
        // ^ calls main.greet
        greet.apply(ann, ["hey", "?"]);
        // ^ calls main.greet
        const bound = greet.bind(ann, "yo");
        bound("!");
        // ^ calls main.greet
        ann.hello();
        // ^ calls main.ann.hello
        const hello = ann.hello.bind(ann);
        hello();
        // ^ calls main.ann.hello
        class Button {
          constructor() {
            this.clicks = 0;
            this.onClick = this.onClick.bind(this);
            this.render();
            // ^ calls main.Button.render
          }
          onClick() { this.clicks += 1; return this.render(); }
          // ^ calls main.Button.render
          render() { return shout(String(this.clicks)); }
          // ^ calls main.shout
        }
        const button = new Button();
        // ^ calls main.Button.constructor
        button.onClick();
        // ^ calls main.Button.onClick
        const { onClick } = button;
        onClick();
        // ^ calls main.Button.onClick
        [1, 2].forEach(button.onClick);
        // ^ calls main.Button.onClick
        setTimeout(button.onClick.bind(button), 0);
        // ^ calls main.Button.onClick
        const max = Math.max.apply(null, [1, 2].map(double));
        // ^ calls main.double
        function double(n) { return n * 2; }
        Reflect.apply(double, null, [3]);
        // ^ calls main.double
        const items = Array.prototype.map.call("abc", shout);
        // ^ calls main.shout
        function invoke(fn, self, ...args) { return fn.apply(self, args); }
        // ^ calls main.ann.hello
        // ^ calls main.greet
        invoke(greet, ann, "a", "b");
        // ^ calls main.invoke
        invoke(ann.hello, ann);
        // ^ calls main.invoke
        const borrowed = { name: "Bob", hello: ann.hello };
        borrowed.hello();
        // ^ calls main.ann.hello
        Reflect.construct(Button, []);
        // ^ calls main.Button.constructor
        """,
    "object methods: literals, computed names and this": """
        // --- main.js
        const tag = "dynamic";
        function helper() { return 0; }
        const calculator = {
          value: 0,
          add(n) { this.value += n; return this; },
          minus: function (n) { this.value -= n; return this; },
          times: (n) => helper(n),
          // ^ calls main.helper
          [tag]() { return this.result(); },
          // ^ calls main.calculator.result
          [`${tag}Two`]: helper,
          result() { return this.value; },
          nested: { run() { return calculator.result(); } },
          // ^ calls main.calculator.result
          helper,
        };
        calculator.add(5).minus(2).result();
        // ^ calls main.calculator.add
        // ^ calls main.calculator.minus
        // ^ calls main.calculator.result
        calculator.times(2);
        // ^ calls main.calculator.times
        calculator.dynamic();
        // ^ calls main.calculator.[tag]
        calculator[tag]();
        // ^ calls main.calculator.[tag]
        calculator.dynamicTwo();
        // ^ calls main.helper
        calculator.nested.run();
        // ^ calls main.calculator.run
        calculator.helper();
        // ^ calls main.helper
        const method = "add";
        calculator[method](1);
        // ^ calls main.calculator.add
        const copy = { ...calculator, add(n) { return helper(n); } };
        // ^ calls main.helper
        copy.add(1);
        // ^ calls main.copy.add
        copy.minus(1);
        // ^ calls main.calculator.minus
        const frozen = Object.freeze({ go() { return helper(); } });
        // ^ calls main.helper
        frozen.go();
        // ^ calls main.go
        const assigned = Object.assign({}, { x: helper }, { y() { return helper(); } });
        // ^ calls main.helper
        assigned.x();
        // ^ calls main.helper
        assigned.y();
        // ^ calls main.y
        function method2() { return this.value; }
        calculator.extra = method2;
        calculator.extra();
        // ^ calls main.method2
        for (const name of ["add", "minus"]) calculator[name](3);
        // ^ calls main.calculator.add
        // ^ calls main.calculator.minus
        Object.entries(frozen).forEach(([name, fn]) => fn());
        // ^ calls main.go
        const tagged = (strings, ...values) => helper(strings);
        // ^ calls main.helper
        tagged`a ${1} b`;
        // ^ calls main.tagged
        JSON.stringify({ toJSON() { return helper(); } });
        // ^ calls main.helper
        // ^ calls main.toJSON
        """,
    "mixins: functions over classes and copied methods": """
        // --- mixins.js
        export const Serializable = (Base) => class extends Base {
          serialize() { return encode(this.fields()); }
          // ^ calls main.Record.fields
          // ^ calls main.User.fields
          // ^ calls mixins.encode
        };
        export const Comparable = (Base) => class extends Base {
          compare(other) { return this.key() - other.key(); }
          // ^ calls main.Record.key
        };
        function encode(value) { return JSON.stringify(value); }
        export const eventful = {
          on(name, fn) { (this.handlers ??= {})[name] = fn; return this; },
          emit(name) { return this.handlers[name](this); },
          // ^ calls main.saved
        };
        // --- main.js
        import { Serializable, Comparable, eventful } from "./mixins.js";
        class Record {
          constructor(id) { this.id = id; }
          fields() { return { id: this.id }; }
          key() { return this.id; }
        }
        class User extends Serializable(Comparable(Record)) {
        // ^ calls mixins.Comparable
        // ^ calls mixins.Serializable
          fields() { return { ...super.fields(), user: true }; }
          // ^ calls main.Record.fields
        }
        const user = new User(1);
        // ^ calls main.Record.constructor
        // ^ calls main.User
        user.serialize();
        // ^ calls mixins.Serializable.serialize
        user.compare(new User(2));
        // ^ calls main.Record.constructor
        // ^ calls main.User
        // ^ calls mixins.Comparable.compare
        Object.assign(User.prototype, eventful);
        user.on("saved", saved).emit("saved");
        // ^ calls mixins.eventful.emit
        // ^ calls mixins.eventful.on
        function saved(who) { return who.key(); }
        // ^ calls main.Record.key
        const applyMixins = (Base, ...mixins) => mixins.reduce((C, mixin) => mixin(C), Base);
        // ^ calls mixins.Comparable
        // ^ calls mixins.Serializable
        const Mixed = applyMixins(Record, Serializable, Comparable);
        // ^ calls main.applyMixins
        new Mixed(3).serialize();
        // ^ calls main.Record.constructor
        // ^ calls mixins.Serializable.serialize
        const target = { ...eventful, name: "t" };
        target.on("x", () => saved(user));
        // ^ calls main.saved
        // ^ calls mixins.eventful.on
        target.emit("x");
        // ^ calls mixins.eventful.emit
        """,
    "event emitters: own ones and those of the platform": """
        // --- emitter.js
        class Emitter {
          constructor() { this.events = {}; }
          on(event, listener) {
            (this.events[event] = this.events[event] || []).push(listener);
            return () => this.off(event, listener);
            // ^ calls emitter.Emitter.off
          }
          off(event, listener) {
            this.events[event] = this.events[event].filter((l) => l !== listener);
          }
          once(event, listener) {
            const remove = this.on(event, (...args) => { remove(); listener(...args); });
            // ^ calls emitter.Emitter.on
            // ^ calls main.onEnd
          }
          emit(event, ...args) { (this.events[event] || []).forEach((l) => l.apply(this, args)); }
          // ^ calls main.onData
        }
        module.exports = Emitter;
        // --- main.js
        const { EventEmitter } = require("events");
        const Emitter = require("./emitter");
        function onData(x) { return render(x); }
        // ^ calls main.render
        function onEnd() { return render("end"); }
        // ^ calls main.render
        function render(x) { return x; }
        const own = new Emitter();
        // ^ calls emitter.Emitter.constructor
        const stop = own.on("data", onData);
        // ^ calls emitter.Emitter.on
        own.once("end", onEnd);
        // ^ calls emitter.Emitter.once
        own.emit("data", 1);
        // ^ calls emitter.Emitter.emit
        own.emit("end");
        // ^ calls emitter.Emitter.emit
        stop();
        class Stream extends EventEmitter {
          constructor(source) {
            super();
            this.source = source;
            this.on("line", this.handle.bind(this));
          }
          read() { this.source.forEach((x) => this.emit("line", x)); this.finish(); }
          // ^ calls main.Stream.finish
          // ^ calls main.Stream.handle
          handle(x) { return render(x); }
          // ^ calls main.render
          finish() { this.emit("close"); }
          // ^ calls main.onEnd
        }
        const stream = new Stream([1, 2]);
        // ^ calls main.Stream.constructor
        stream.on("close", onEnd);
        stream.read();
        // ^ calls main.Stream.read
        const platform = new EventEmitter();
        platform.on("go", (x) => onData(x));
        // ^ calls main.onData
        platform.emit("go", 3);
        class Bus extends Emitter {
          publish(topic) { this.emit(topic, topic); return this; }
          // ^ calls emitter.Emitter.emit
        }
        new Bus().publish("a").publish("b");
        // ^ calls emitter.Emitter.constructor
        // ^ calls main.Bus
        // ^ calls main.Bus.publish
        """,
}
