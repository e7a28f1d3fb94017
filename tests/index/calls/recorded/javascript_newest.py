"""The newest programs of JavaScript, with the calls recorded while they ran."""

from __future__ import annotations

PROGRAMS = {
    "assignments of settings": """
        // --- a.js
        class Source {
          constructor(values) { this.values = values; }
          get(key) { return this.values[key]; }
        }
        class Env extends Source {
          get(key) { return super.get(key.toUpperCase()); }
          // ^ calls a.Source.get
        }
        function coerce(value) { return value ? Number(value) : 0; }
        const defaults = new Source({ port: "80" });
        // ^ calls a.Source.constructor
        const env = new Env({ PORT: "81" });
        // ^ calls a.Env
        // ^ calls a.Source.constructor
        let current = env;
        coerce(current.get("port"));
        // ^ calls a.Env.get
        // ^ calls a.coerce
        current = defaults;
        current.get("port");
        // ^ calls a.Source.get
        const convert = coerce;
        convert("7");
        // ^ calls a.coerce
        const { get } = { get: coerce };
        get("8");
        // ^ calls a.coerce
        let [first, second] = [env, defaults];
        [first, second] = [second, first];
        first.get("x");
        // ^ calls a.Source.get
        const holder = {};
        holder.convert = convert;
        holder.convert("3");
        // ^ calls a.coerce
        holder["other"] = coerce;
        holder.other("4");
        // ^ calls a.coerce
        let cached;
        const read = () => (cached ??= new Source({ a: 1 }));
        // ^ calls a.Source.constructor
        read().get("a");
        // ^ calls a.Source.get
        // ^ calls a.read
        """,
    "closures that limit": """
        // --- a.js
        function limiter(limit) {
          let used = 0;
          const waiting = [];
          const left = () => limit - used;
          function take(n = 1) {
            if (left() < n) { waiting.push(refuse); return waiting[0](n); }
            // ^ calls a.limiter.left
            // ^ calls a.limiter.refuse
            used += n;
            return accept(n);
            // ^ calls a.limiter.accept
          }
          function refuse(n) { return null; }
          function accept(n) { return n; }
          return { take, reset() { used = 0; return left(); } };
          // ^ calls a.limiter.left
        }
        const limit = limiter(3);
        // ^ calls a.limiter
        limit.take();
        // ^ calls a.limiter.take
        limit.take(5);
        // ^ calls a.limiter.take
        limit.reset();
        // ^ calls a.limiter.reset
        const { take } = limiter(1);
        // ^ calls a.limiter
        take();
        // ^ calls a.limiter.take
        function debounce(fn) {
          let timer = null;
          const run = (...args) => { timer = () => fn(...args); return flush(); };
          // ^ calls a.debounce.flush
          // ^ calls a.save
          const flush = () => {
            const pending = timer;
            timer = null;
            return pending ? pending() : null;
            // ^ calls a.debounce.run.timer
          };
          run.flush = flush;
          return run;
        }
        function save(text) { return text; }
        const later = debounce(save);
        // ^ calls a.debounce
        later("a");
        // ^ calls a.debounce.run
        later.flush();
        // ^ calls a.debounce.flush
        const adders = [1, 2].map((n) => (x) => plus(x, n));
        // ^ calls a.plus
        function plus(a, b) { return a + b; }
        adders[0](5);
        const once = (fn) => { let done; return () => done ?? (done = fn()); };
        // ^ calls a.prepare
        const setup = once(prepare);
        // ^ calls a.once
        function prepare() { return 1; }
        setup();
        """,
    "containers of shapes": """
        // --- a.js
        class Circle { area() { return 3; } scale(by) { return this; } }
        class Square { area() { return 4; } scale(by) { return this; } }
        class Canvas {
          #shapes = [];
          byName = new Map();
          add(name, shape) { this.#shapes.push(shape); this.byName.set(name, shape); return this; }
          total() { return this.#shapes.reduce((sum, s) => sum + s.area(), 0); }
          // ^ calls a.Circle.area
          // ^ calls a.Square.area
          find(name) { return this.byName.get(name); }
          *[Symbol.iterator]() { yield* this.#shapes; }
          get size() { return this.#shapes.length; }
        }
        const canvas = new Canvas();
        // ^ calls a.Canvas
        canvas.add("c", new Circle()).add("s", new Square());
        // ^ calls a.Canvas.add
        // ^ calls a.Circle
        // ^ calls a.Square
        canvas.total();
        // ^ calls a.Canvas.total
        canvas.find("c").area();
        // ^ calls a.Canvas.find
        // ^ calls a.Circle.area
        canvas.size;
        // ^ calls a.Canvas.size
        const pairs = [["one", new Circle()], ["two", new Square()]];
        // ^ calls a.Circle
        // ^ calls a.Square
        for (const [label, shape] of pairs) shape.area();
        // ^ calls a.Circle.area
        // ^ calls a.Square.area
        const table = { round: new Circle(), flat: new Square() };
        // ^ calls a.Circle
        // ^ calls a.Square
        for (const [key, shape] of Object.entries(table)) shape.scale(2);
        // ^ calls a.Circle.scale
        // ^ calls a.Square.scale
        Object.values(table).forEach((s) => s.area());
        // ^ calls a.Circle.area
        // ^ calls a.Square.area
        const big = [new Circle(), new Square()].filter((s) => s.area() > 3);
        // ^ calls a.Circle
        // ^ calls a.Circle.area
        // ^ calls a.Square
        // ^ calls a.Square.area
        big.map((s) => s.scale(3));
        // ^ calls a.Square.scale
        const queue = [];
        queue.push(new Square());
        // ^ calls a.Square
        queue.shift().area();
        // ^ calls a.Square.area
        const set = new Set([new Circle()]);
        // ^ calls a.Circle
        for (const each of set) each.area();
        // ^ calls a.Circle.area
        const grid = [[new Circle()], [new Square()]];
        // ^ calls a.Circle
        // ^ calls a.Square
        grid.flat().forEach((cell) => cell.area());
        // ^ calls a.Circle.area
        // ^ calls a.Square.area
        const [head, ...tail] = [new Circle(), new Square()];
        // ^ calls a.Circle
        // ^ calls a.Square
        head.area();
        // ^ calls a.Circle.area
        tail[0].area();
        // ^ calls a.Square.area
        """,
    "wrappers of commands": """
        // --- a.js
        const commands = {};
        function command(name, fn) { commands[name] = fn; return fn; }
        function timed(fn) {
          return function measure(...args) {
            start();
            // ^ calls a.start
            try { return fn.apply(this, args); } finally { stop(); }
            // ^ calls a.Service.work
            // ^ calls a.stop
          };
        }
        function start() { return 0; }
        function stop() { return 1; }
        const retry = (times) => (fn) => {
          const attempt = (...args) => {
            let result;
            for (let i = 0; i < times; i++) result = fn(...args);
            // ^ calls a.parse
            return result;
          };
          return attempt;
        };
        const add = command("add", timed((a, b) => sum(a, b)));
        // ^ calls a.command
        // ^ calls a.sum
        // ^ calls a.timed
        function sum(a, b) { return a + b; }
        function parse(text) { return text; }
        const fetchIt = command("fetch", retry(2)(parse));
        // ^ calls a.command
        // ^ calls a.retry
        add(1, 2);
        // ^ calls a.timed.measure
        fetchIt("u");
        // ^ calls a.retry.attempt
        function run(name, ...args) { return commands[name](...args); }
        // ^ calls a.retry.attempt
        // ^ calls a.timed.measure
        run("add", 3, 4);
        // ^ calls a.run
        run("fetch", "v");
        // ^ calls a.run
        const bound = parse.bind(null, "x");
        bound();
        // ^ calls a.parse
        class Service {
          constructor() { this.work = timed(this.work.bind(this)); }
          // ^ calls a.timed
          work() { return this.step(); }
          // ^ calls a.Service.step
          step() { return 1; }
        }
        new Service().work();
        // ^ calls a.Service.constructor
        // ^ calls a.timed.measure
        function curry(f) { return (a) => (b) => f(a, b); }
        // ^ calls a.sum
        curry(sum)(1)(2);
        // ^ calls a.curry
        sum.call(null, 1, 2);
        // ^ calls a.sum
        """,
    "generators of tokens": """
        // --- a.js
        class Token { constructor(text) { this.text = text; } show() { return this.text; } }
        function* read(text) { for (const word of text.split(" ")) yield new Token(word); }
        // ^ calls a.Token.constructor
        function* only(tokens, keep) { for (const token of tokens) if (keep(token)) yield token; }
        // ^ calls a.long
        const long = (token) => token.show().length > 1;
        // ^ calls a.Token.show
        function* joined(a, b) { yield* a; yield* b; }
        function consume(tokens) { return [...tokens].map((token) => token.show()); }
        // ^ calls a.Token.show
        consume(only(read("a bb ccc"), long));
        // ^ calls a.consume
        // ^ calls a.only
        // ^ calls a.read
        const stream = joined(read("x"), read("yy"));
        // ^ calls a.joined
        // ^ calls a.read
        stream.next().value.show();
        // ^ calls a.Token.show
        for (const token of stream) token.show();
        // ^ calls a.Token.show
        class Pages {
          constructor(size) { this.size = size; }
          *[Symbol.iterator]() { for (let n = 0; n < this.size; n++) yield this.page(n); }
          // ^ calls a.Pages.page
          page(n) { return new Token(String(n)); }
          // ^ calls a.Token.constructor
        }
        for (const page of new Pages(2)) page.show();
        // ^ calls a.Pages.[Symbol.iterator]
        // ^ calls a.Pages.constructor
        // ^ calls a.Token.show
        const [one] = new Pages(1);
        // ^ calls a.Pages.[Symbol.iterator]
        // ^ calls a.Pages.constructor
        one.show();
        // ^ calls a.Token.show
        function* averaging() {
          let total = 0;
          while (true) total += clean(yield total);
          // ^ calls a.clean
        }
        function clean(value) { return value; }
        const run = averaging();
        // ^ calls a.averaging
        run.next();
        run.send = run.next;
        run.send(3);
        const lazy = { *items() { yield new Token("l"); } };
        // ^ calls a.Token.constructor
        for (const item of lazy.items()) item.show();
        // ^ calls a.Token.show
        // ^ calls a.lazy.items
        Array.from(read("p q"), (t) => t.show());
        // ^ calls a.Token.show
        // ^ calls a.read
        """,
    "inheritance of reports": """
        // --- base.js
        export class Report {
          static title = "?";
          render() { return this.header() + this.body() + this.footer(); }
          // ^ calls base.Dated.footer
          // ^ calls base.Report.header
          // ^ calls main.Audit.body
          // ^ calls main.Audit.footer
          // ^ calls main.Quick.body
          // ^ calls main.Quick.header
          // ^ calls main.Sales.body
          header() { return this.constructor.title; }
          body() { throw new Error("not here"); }
          footer() { return ""; }
          static create(...args) { return new this(...args); }
          // ^ calls main.Quick
        }
        export const Dated = (Base) => class extends Base {
          footer() { return today() + super.footer(); }
          // ^ calls base.Report.footer
          // ^ calls base.today
        };
        function today() { return "today"; }
        // --- main.js
        import { Report, Dated } from "./base.js";
        class Sales extends Dated(Report) {
        // ^ calls base.Dated
          body() { return "1"; }
        }
        class Audit extends Report {
          constructor(name) { super(); this.name = name; }
          // ^ calls base.Report
          body() { return this.findings(); }
          // ^ calls main.Audit.findings
          findings() { return "none"; }
          footer() { return this.name + super.footer(); }
          // ^ calls base.Report.footer
        }
        class Quick extends Sales {
          header() { return super.header().toUpperCase(); }
          // ^ calls base.Report.header
          body() { const text = super.body(); return text; }
          // ^ calls main.Sales.body
        }
        function publish(report) { return report.render(); }
        // ^ calls base.Report.render
        publish(new Sales());
        // ^ calls main.Sales
        // ^ calls main.publish
        publish(new Audit("me"));
        // ^ calls main.Audit.constructor
        // ^ calls main.publish
        const quick = Quick.create();
        // ^ calls base.Report.create
        quick.render();
        // ^ calls base.Report.render
        Sales.prototype.body.call(quick);
        // ^ calls main.Sales.body
        """,
    "imports of modules": """
        // --- shop/index.js
        export { Cart } from "./cart.js";
        export { price as priceOf, Tax } from "./prices.js";
        export * as stock from "./stock.js";
        export { default } from "./open.js";
        // --- shop/cart.js
        import * as prices from "./prices.js";
        export class Cart {
          items = [];
          add(name) { this.items.push(name); return this; }
          total() { return this.items.reduce((sum, i) => sum + prices.price(i), 0); }
          // ^ calls shop.prices.price
        }
        // --- shop/prices.js
        const TABLE = { tea: 3 };
        export function price(name) { return rounded(TABLE[name] ?? 1); }
        // ^ calls shop.prices.rounded
        export const rounded = (n) => Math.round(n);
        export class Tax {
          rate = 2;
          static of(amount) { return new Tax().apply(amount); }
          // ^ calls shop.prices.Tax
          // ^ calls shop.prices.Tax.apply
          apply(amount) { return amount * this.rate; }
        }
        // --- shop/stock.js
        import { price } from "./prices.js";
        const held = {};
        export function left(name) { return held[name] ?? 0; }
        export function fill(name, n) { held[name] = left(name) + n; return price(name); }
        // ^ calls shop.prices.price
        // ^ calls shop.stock.left
        // --- shop/open.js
        export default function open(hour) { return hour > 8; }
        // --- main.js
        import isOpen, { Cart, priceOf, stock, Tax as Duty } from "./shop/index.js";
        import * as shop from "./shop/index.js";
        async function late() {
          const { rounded } = await import("./shop/prices.js");
          return rounded(2.5);
          // ^ calls shop.prices.rounded
        }
        const cart = new Cart();
        // ^ calls shop.cart.Cart
        cart.add("tea").add("milk");
        // ^ calls shop.cart.Cart.add
        cart.total();
        // ^ calls shop.cart.Cart.total
        priceOf("tea");
        // ^ calls shop.prices.price
        stock.fill("tea", 3);
        // ^ calls shop.stock.fill
        shop.stock.left("tea");
        // ^ calls shop.stock.left
        Duty.of(3);
        // ^ calls shop.prices.Tax.of
        new shop.Tax().apply(1);
        // ^ calls shop.prices.Tax
        // ^ calls shop.prices.Tax.apply
        isOpen(9);
        // ^ calls shop.open.open
        late();
        // ^ calls main.late
        """,
    "arguments of a form": """
        // --- a.js
        const required = (value) => Boolean(value);
        const short = (value) => value.length < 5;
        function trim(value) { return value.trim(); }
        class Field {
          constructor(name, { check = required, clean = null, onError = ignore } = {}) {
            this.name = name;
            this.check = check;
            this.clean = clean;
            this.onError = onError;
          }
          read(value) {
            if (this.clean) value = this.clean(value);
            // ^ calls a.trim
            if (!this.check(value)) return this.onError(this.name);
            // ^ calls a.complain
            // ^ calls a.required
            // ^ calls a.short
            return value;
          }
        }
        function ignore(name) { return null; }
        function complain(name) { return `bad ${name}`; }
        function form(fields, { before, after = count } = {}) {
          return function submit(values) {
            before?.(values);
            // ^ calls a.log
            const result = fields.map((f) => f.read(values[f.name]));
            // ^ calls a.Field.read
            return after(result);
            // ^ calls a.count
            // ^ calls a.log
          };
        }
        function log(values) { return values; }
        function count(result) { return result.length; }
        const title = new Field("title", { clean: trim });
        // ^ calls a.Field.constructor
        const code = new Field("code", { check: short, onError: complain });
        // ^ calls a.Field.constructor
        const send = form([title, code], { before: log });
        // ^ calls a.form
        send({ title: " a ", code: "too long" });
        // ^ calls a.form.submit
        function apply(fn, ...args) { return fn(...args); }
        // ^ calls a.short
        // ^ calls a.trim
        apply(trim, " x ");
        // ^ calls a.apply
        apply(short, "abc");
        // ^ calls a.apply
        const options = { after: log };
        form([], { ...options })({});
        // ^ calls a.form
        // ^ calls a.form.submit
        function visit({ node: { run }, times = 1 }) { return run(times); }
        // ^ calls a.log
        visit({ node: { run: log } });
        // ^ calls a.visit
        """,
    "returns of a parser": r"""
        // --- a.js
        class Num { constructor(value) { this.value = value; } eval() { return this.value; } }
        class Sum {
          constructor(left, right) { this.left = left; this.right = right; }
          eval() { return this.left.eval() + this.right.eval(); }
          // ^ calls a.Num.eval
        }
        class Failure { eval() { return null; } }
        function number(text) { return /^\d+$/.test(text) ? new Num(Number(text)) : null; }
        // ^ calls a.Num.constructor
        function addition(text) {
          const [left, right] = text.split("+");
          if (!right) return null;
          return new Sum(number(left), number(right));
          // ^ calls a.Sum.constructor
          // ^ calls a.number
        }
        function parse(text) { return addition(text) || number(text) || new Failure(); }
        // ^ calls a.Failure
        // ^ calls a.addition
        // ^ calls a.number
        parse("1+2").eval();
        // ^ calls a.Sum.eval
        // ^ calls a.parse
        parse("3").eval();
        // ^ calls a.Num.eval
        // ^ calls a.parse
        parse("x").eval();
        // ^ calls a.Failure.eval
        // ^ calls a.parse
        function both(text) { const tree = parse(text); return { tree, value: tree.eval() }; }
        // ^ calls a.Num.eval
        // ^ calls a.parse
        const { tree } = both("4");
        // ^ calls a.both
        tree.eval();
        // ^ calls a.Num.eval
        function finder(kind) { return kind === "sum" ? addition : number; }
        finder("sum")("5+6").eval();
        // ^ calls a.Sum.eval
        // ^ calls a.addition
        // ^ calls a.finder
        finder("n")("7").eval();
        // ^ calls a.Num.eval
        // ^ calls a.finder
        // ^ calls a.number
        function maker() { return { number, parse, failing: () => new Failure() }; }
        // ^ calls a.Failure
        maker().number("8").eval();
        // ^ calls a.Num.eval
        // ^ calls a.maker
        // ^ calls a.number
        maker().failing().eval();
        // ^ calls a.Failure.eval
        // ^ calls a.maker
        // ^ calls a.maker.failing
        const chain = () => maker;
        chain()().parse("9").eval();
        // ^ calls a.Num.eval
        // ^ calls a.chain
        // ^ calls a.maker
        // ^ calls a.parse
        function pair() { return [number, parse]; }
        const [n, p] = pair();
        // ^ calls a.pair
        n("1").eval();
        // ^ calls a.Num.eval
        // ^ calls a.number
        p("2").eval();
        // ^ calls a.Num.eval
        // ^ calls a.parse
        """,
    "classes of money": """
        // --- a.js
        class Money {
          #amount;
          static zero = new Money(0);
          // ^ calls a.Money.constructor
          constructor(amount) { this.#amount = Money.check(amount); }
          // ^ calls a.Money.check
          static check(amount) { return Math.max(0, amount); }
          static of(amount) { return new Money(amount); }
          // ^ calls a.Money.constructor
          get amount() { return this.#amount; }
          set amount(value) { this.#amount = Money.check(value); }
          // ^ calls a.Money.check
          plus(other) { return new Money(this.amount + other.amount); }
          // ^ calls a.Money.amount
          // ^ calls a.Money.constructor
          #rounded() { return Math.round(this.#amount); }
          toString() { return String(this.#rounded()); }
          // ^ calls a.Money.#rounded
        }
        const ten = Money.of(10);
        // ^ calls a.Money.of
        ten.plus(Money.zero).plus(Money.of(1)).toString();
        // ^ calls a.Money.of
        // ^ calls a.Money.plus
        // ^ calls a.Money.toString
        ten.amount = 4;
        // ^ calls a.Money.amount
        class Rule {
          constructor(name, applies, change) {
            Object.assign(this, { name });
            this.applies = applies;
            this.change = change;
          }
          run(money) { return this.applies(money) ? this.change(money) : money; }
          // ^ calls a.halve
          // ^ calls a.large
        }
        const large = (money) => money.amount > 3;
        // ^ calls a.Money.amount
        const halve = (money) => Money.of(money.amount / 2);
        // ^ calls a.Money.amount
        // ^ calls a.Money.of
        const twice = new Rule("none", () => true, (m) => m.plus(m));
        // ^ calls a.Money.plus
        // ^ calls a.Rule.constructor
        const rules = [new Rule("half", large, halve), twice];
        // ^ calls a.Rule.constructor
        let money = ten;
        for (const rule of rules) money = rule.run(money);
        // ^ calls a.Rule.run
        function Point(x, y) { this.x = x; this.y = y; }
        Point.prototype.norm = function () { return this.x + this.y; };
        Point.origin = function () { return new Point(0, 0); };
        // ^ calls a.Point
        new Point(1, 2).norm();
        // ^ calls a.Point
        // ^ calls a.Point.norm
        Point.origin().norm();
        // ^ calls a.Point.norm
        // ^ calls a.Point.origin
        const Singleton = (() => {
          let made;
          class Inner { ping() { return 1; } }
          return { get: () => (made ||= new Inner()) };
          // ^ calls a.Inner
        })();
        Singleton.get().ping();
        // ^ calls a.Inner.ping
        // ^ calls a.get
        const base = { greet() { return this.name(); }, name() { return "base"; } };
        // ^ calls a.base.name
        const derived = Object.create(base);
        derived.greet();
        // ^ calls a.base.greet
        """,
    "callbacks of a download": """
        // --- a.js
        class Download {
          constructor(url) { this.url = url; this.done = []; this.failed = null; }
          onDone(callback) { this.done.push(callback); return this; }
          onFailed(callback) { this.failed = callback; return this; }
          start() {
            let data;
            try { data = fetchIt(this.url); } catch (error) { this.failed?.(error); return; }
            // ^ calls a.fetchIt
            // ^ calls a.warn
            this.done.forEach((callback) => callback(data));
            // ^ calls a.Screen.update
            // ^ calls a.show
            // ^ calls a.store
          }
        }
        function fetchIt(url) { if (!url) throw new Error("no"); return url; }
        function show(data) { return data; }
        function store(data) { return index(data); }
        // ^ calls a.index
        function index(data) { return data; }
        const warn = (error) => error.message;
        class Screen { update = (data) => this.draw(data); draw(data) { return data; } }
        // ^ calls a.Screen.draw
        const screen = new Screen();
        // ^ calls a.Screen
        new Download("u").onDone(show).onDone(store).onDone(screen.update).start();
        // ^ calls a.Download.constructor
        // ^ calls a.Download.onDone
        // ^ calls a.Download.start
        new Download("").onFailed(warn).start();
        // ^ calls a.Download.constructor
        // ^ calls a.Download.onFailed
        // ^ calls a.Download.start
        function each(items, action) { for (const item of items) action(item); }
        // ^ calls a.show
        each([1], show);
        // ^ calls a.each
        each([2], (item) => store(item));
        // ^ calls a.each
        // ^ calls a.store
        ["b", "a"].sort((a, b) => compare(a, b));
        // ^ calls a.compare
        function compare(a, b) { return a < b ? -1 : 1; }
        ["x"].map(index);
        // ^ calls a.index
        ["y"].filter(show).forEach(store);
        // ^ calls a.show
        // ^ calls a.store
        function load(name, done) { const value = index(name); done(null, value); }
        // ^ calls a.finished
        // ^ calls a.index
        load("f", (error, value) => { if (!error) show(value); });
        // ^ calls a.load
        // ^ calls a.show
        load("g", finished);
        // ^ calls a.load
        function finished(error, value) { return show(value); }
        // ^ calls a.show
        const listeners = {};
        function on(name, fn) { (listeners[name] ||= []).push(fn); }
        function emit(name, ...args) { for (const fn of listeners[name] ?? []) fn(...args); }
        // ^ calls a.show
        // ^ calls a.store
        on("save", show);
        // ^ calls a.on
        on("save", store);
        // ^ calls a.on
        emit("save", 1);
        // ^ calls a.emit
        """,
    "dispatch of messages": """
        // --- a.js
        function opened(message) { return message; }
        function closed(message) { return cleanup(message); }
        // ^ calls a.cleanup
        function cleanup(message) { return null; }
        const unknown = (message) => "?";
        const handlers = { open: opened, close: closed };
        function handle(message) { return (handlers[message.kind] ?? unknown)(message); }
        // ^ calls a.closed
        // ^ calls a.opened
        // ^ calls a.unknown
        handle({ kind: "open" });
        // ^ calls a.handle
        handle({ kind: "close" });
        // ^ calls a.handle
        handle({ kind: "else" });
        // ^ calls a.handle
        class Machine {
          state = "idle";
          moves = { idle: { go: () => this.go() }, busy: { stop: () => this.stop() } };
          // ^ calls a.Machine.go
          // ^ calls a.Machine.stop
          go() { this.state = "busy"; }
          stop() { this.state = "idle"; }
          feed(event) { const move = this.moves[this.state][event]; move(); }
          // ^ calls a.Machine.busy.stop
          // ^ calls a.Machine.idle.go
        }
        const machine = new Machine();
        // ^ calls a.Machine
        machine.feed("go");
        // ^ calls a.Machine.feed
        machine.feed("stop");
        // ^ calls a.Machine.feed
        const reducers = {
          add(state, action) { return [...state, make(action.text)]; },
          // ^ calls a.make
          clear() { return []; },
        };
        function make(text) { return { text }; }
        function reduce(state, action) {
          const reducer = reducers[action.type];
          return reducer ? reducer(state, action) : state;
          // ^ calls a.reducers.add
          // ^ calls a.reducers.clear
        }
        [{ type: "add", text: "a" }, { type: "clear" }].reduce(reduce, []);
        // ^ calls a.reduce
        function area(shape) {
          switch (shape.kind) {
            case "circle": return circle(shape);
            // ^ calls a.circle
            default: return square(shape);
            // ^ calls a.square
          }
        }
        function circle(shape) { return 3; }
        function square(shape) { return 4; }
        area({ kind: "circle" });
        // ^ calls a.area
        area({ kind: "square" });
        // ^ calls a.area
        const routes = new Map([["/", home], ["/about", about]]);
        function home() { return layout("home"); }
        // ^ calls a.layout
        function about() { return layout("about"); }
        // ^ calls a.layout
        function layout(body) { return body; }
        const visit = (path) => routes.get(path)();
        // ^ calls a.about
        // ^ calls a.home
        visit("/");
        // ^ calls a.visit
        visit("/about");
        // ^ calls a.visit
        """,
    "plugins that register": """
        // --- core.js
        const registry = new Map();
        export class Plugin {
          static register(key) { registry.set(key, this); return this; }
          run(text) { return this.transform(text); }
          // ^ calls extra.Strip.transform
          // ^ calls extra.Upper.transform
          transform(text) { return text; }
        }
        export const load = (key) => new (registry.get(key))();
        // ^ calls extra.Upper
        export function runAll(text) {
          for (const Kind of registry.values()) text = new Kind().run(text);
          // ^ calls core.Plugin.run
          // ^ calls extra.Strip
          // ^ calls extra.Upper
          return text;
        }
        // --- extra.js
        import { Plugin } from "./core.js";
        export class Upper extends Plugin { transform(text) { return text.toUpperCase(); } }
        export class Strip extends Plugin {
          transform(text) { return this.tidy(text); }
          // ^ calls extra.Strip.tidy
          tidy(text) { return text.trim(); }
        }
        Upper.register("upper");
        // ^ calls core.Plugin.register
        Strip.register("strip");
        // ^ calls core.Plugin.register
        // --- main.js
        import "./extra.js";
        import { load, runAll } from "./core.js";
        load("upper").run("a");
        // ^ calls core.Plugin.run
        // ^ calls core.load
        runAll(" b ");
        // ^ calls core.runAll
        class Hooks {
          all = {};
          on(name, fn) {
            if (!this.all[name]) this.all[name] = [];
            this.all[name].push(fn);
            return () => this.off(name, fn);
            // ^ calls main.Hooks.off
          }
          off(name, fn) { this.all[name] = this.all[name].filter((f) => f !== fn); }
          fire(name, ...args) { return (this.all[name] || []).map((hook) => hook(...args)); }
          // ^ calls main.backup
          // ^ calls main.notify
        }
        const hooks = new Hooks();
        // ^ calls main.Hooks
        hooks.on("save", backup);
        // ^ calls main.Hooks.on
        const stop = hooks.on("save", notify);
        // ^ calls main.Hooks.on
        function backup(doc) { return doc; }
        function notify(doc) { return send(doc); }
        // ^ calls main.send
        function send(doc) { return doc; }
        hooks.fire("save", "d");
        // ^ calls main.Hooks.fire
        stop();
        const app = { uses: [], use(fn) { this.uses.push(fn); return this; }, handle(req) {
          let i = 0;
          const next = () => this.uses[i++]?.(req, next);
          // ^ calls main.answer
          // ^ calls main.auth
          return next();
          // ^ calls main.app.handle.next
        } };
        function auth(req, next) { return next(); }
        // ^ calls main.app.handle.next
        function answer(req, next) { return send(req); }
        // ^ calls main.send
        app.use(auth).use(answer).handle({});
        // ^ calls main.app.handle
        // ^ calls main.app.use
        """,
    "tasks that wait": """
        // --- a.js
        class Client {
          constructor(name) { this.name = name; }
          async get(path) { const reply = await this.#send(path); return decode(reply); }
          // ^ calls a.Client.#send
          // ^ calls a.decode
          async #send(path) { return path; }
          async close() { return null; }
        }
        function decode(text) { return text; }
        async function load(client, paths) { return Promise.all(paths.map((p) => client.get(p))); }
        // ^ calls a.Client.get
        async function* ticks(n) { for (let i = 0; i < n; i++) yield step(i); }
        // ^ calls a.step
        function step(i) { return i; }
        async function main() {
          const client = new Client("a");
          // ^ calls a.Client.constructor
          try { await load(client, ["x", "y"]); } finally { await client.close(); }
          // ^ calls a.Client.close
          // ^ calls a.load
          for await (const tick of ticks(2)) use(tick);
          // ^ calls a.ticks
          // ^ calls a.use
          const job = background();
          // ^ calls a.background
          await job;
          await retry(flaky);
          // ^ calls a.retry
          const made = await create();
          // ^ calls a.create
          made.get("z");
          // ^ calls a.Client.get
        }
        async function background() { return use(1); }
        // ^ calls a.use
        function use(value) { return value; }
        async function retry(action) {
          let value;
          for (let i = 0; i < 2; i++) value = await action();
          // ^ calls a.flaky
          return value;
        }
        const flaky = async () => use(2);
        // ^ calls a.use
        async function create() { return new Client("b"); }
        // ^ calls a.Client.constructor
        main();
        // ^ calls a.main
        const sleep = (then) => new Promise((resolve) => { then(); resolve(); });
        // ^ calls a.woken
        function woken() { return 1; }
        sleep(woken);
        // ^ calls a.sleep
        """,
    "mixins of a view": """
        // --- a.js
        const Logged = (Base) => class Logged extends Base {
          dispatch(method) { note(method); return super.dispatch(method); }
          // ^ calls a.View.dispatch
          // ^ calls a.note
        };
        const noting = { mark() { return note("m"); } };
        // ^ calls a.note
        class View {
          dispatch(method) { return this[method](); }
          // ^ calls a.About.post
          // ^ calls a.Page.get
          respond(text) { return text; }
        }
        function note(method) { return method; }
        class Page extends Logged(View) {
        // ^ calls a.Logged
          get() { return this.respond(this.content()); }
          // ^ calls a.Page.content
          // ^ calls a.View.respond
          content() { return "page"; }
        }
        Object.assign(Page.prototype, noting);
        class About extends Page {
          content() { return "about " + super.content(); }
          post() { return this.respond("posted"); }
          // ^ calls a.View.respond
        }
        new Page().dispatch("get");
        // ^ calls a.Logged.Logged.dispatch
        // ^ calls a.Page
        new About().dispatch("post");
        // ^ calls a.About
        // ^ calls a.Logged.Logged.dispatch
        new Page().mark();
        // ^ calls a.Page
        // ^ calls a.noting.mark
        class Node {
          constructor(...children) { this.children = children; }
          *walk() { yield this; for (const child of this.children) yield* child.walk(); }
          // ^ calls a.Node.walk
          depth() { return 1 + Math.max(0, ...this.children.map((c) => c.depth())); }
          // ^ calls a.Leaf.depth
          // ^ calls a.Node.depth
        }
        class Leaf extends Node { depth() { return 1; } }
        const tree = new Node(new Leaf(), new Node(new Leaf()));
        // ^ calls a.Leaf
        // ^ calls a.Node.constructor
        tree.depth();
        // ^ calls a.Node.depth
        for (const node of tree.walk()) node.depth();
        // ^ calls a.Leaf.depth
        // ^ calls a.Node.depth
        // ^ calls a.Node.walk
        class Store {
          static #shared = null;
          static get shared() { return (Store.#shared ??= new Store()); }
          // ^ calls a.Store
          subscribers = new Set();
          subscribe(fn) { this.subscribers.add(fn); return () => this.subscribers.delete(fn); }
          set(value) { for (const fn of this.subscribers) fn(value); }
          // ^ calls a.changed
        }
        Store.shared.subscribe(changed);
        // ^ calls a.Store.shared
        // ^ calls a.Store.subscribe
        Store.shared.set(3);
        // ^ calls a.Store.set
        // ^ calls a.Store.shared
        function changed(value) { return note(value); }
        // ^ calls a.note
        """,
}
