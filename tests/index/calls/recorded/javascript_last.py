"""Programs of JavaScript that nothing was changed for, with recorded calls (`record.py`)."""

from __future__ import annotations

PROGRAMS = {
    "a ledger of accounts": """
        // --- a.js
        class Entry {
          constructor(kind, amount) { this.kind = kind; this.amount = amount; }
          line() { return `${this.kind} ${this.amount}`; }
        }
        class Account {
          #history = [];
          constructor(owner, balance = 0) { this.owner = owner; this.balance = balance; }
          deposit(amount) { this.balance += amount; return this.#note("in", amount); }
          // ^ calls a.Account.#note
          withdraw(amount) {
            if (!this.allowed(amount)) throw new Overdrawn(this);
            // ^ calls a.Account.allowed
            // ^ calls a.Credit.allowed
            // ^ calls a.Overdrawn.constructor
            this.balance -= amount;
            return this.#note("out", amount);
            // ^ calls a.Account.#note
          }
          allowed(amount) { return amount <= this.balance; }
          #note(kind, amount) {
            const entry = new Entry(kind, amount);
            // ^ calls a.Entry.constructor
            this.#history.push(entry);
            return entry;
          }
          get history() { return this.#history; }
        }
        class Credit extends Account {
          constructor(owner, limit) { super(owner); this.limit = limit; }
          // ^ calls a.Account.constructor
          allowed(amount) { return amount <= this.balance + this.limit; }
        }
        class Overdrawn extends Error {
          constructor(account) { super(account.owner); this.account = account; }
          hint() { return this.account.owner; }
        }
        class Bank {
          accounts = new Map();
          open(account) { this.accounts.set(account.owner, account); return account; }
          transfer(source, target, amount) {
            const first = this.accounts.get(source);
            const second = this.accounts.get(target);
            first.withdraw(amount);
            // ^ calls a.Account.withdraw
            second.deposit(amount);
            // ^ calls a.Account.deposit
          }
          report() {
            const lines = [];
            for (const account of this.accounts.values()) {
              for (const entry of account.history) lines.push(entry.line());
              // ^ calls a.Account.history
              // ^ calls a.Entry.line
            }
            return lines;
          }
        }
        const bank = new Bank();
        // ^ calls a.Bank
        bank.open(new Account("ann", 5));
        // ^ calls a.Account.constructor
        // ^ calls a.Bank.open
        const rich = bank.open(new Credit("bob", 50));
        // ^ calls a.Bank.open
        // ^ calls a.Credit.constructor
        bank.transfer("bob", "ann", 20);
        // ^ calls a.Bank.transfer
        rich.deposit(1).line();
        // ^ calls a.Account.deposit
        // ^ calls a.Entry.line
        try {
          bank.transfer("ann", "bob", 900);
          // ^ calls a.Bank.transfer
        } catch (error) {
          if (error instanceof Overdrawn) error.hint();
          // ^ calls a.Overdrawn.hint
        }
        bank.report();
        // ^ calls a.Bank.report
        rich.history.map((e) => e.line());
        // ^ calls a.Account.history
        // ^ calls a.Entry.line
        rich.history[0].line();
        // ^ calls a.Account.history
        // ^ calls a.Entry.line
        """,
    "pipelines of steps": """
        // --- a.js
        const steps = [];
        function step(name, fn) { steps.push({ name, fn }); return fn; }
        const strip = step("strip", (text) => text.trim());
        // ^ calls a.step
        function lower(text) { return text.toLowerCase(); }
        function title(text) { return text.toUpperCase(); }
        step("lower", lower);
        // ^ calls a.step
        function run(text, chosen = steps) {
          for (const { name, fn } of chosen) text = fn(text);
          // ^ calls a.lower
          // ^ calls a.title
          return text;
        }
        class Pipeline {
          constructor(functions, { onDone } = {}) {
            this.functions = functions;
            this.onDone = onDone;
          }
          add(fn) { return new Pipeline([...this.functions, fn]); }
          // ^ calls a.Pipeline.constructor
          run(value) {
            const result = this.functions.reduce((v, f) => f(v), value);
            // ^ calls a.lower
            // ^ calls a.title
            this.onDone?.(result);
            // ^ calls a.show
            return result;
          }
          static of(...functions) { return new Pipeline(functions); }
          // ^ calls a.Pipeline.constructor
        }
        const show = (value) => value;
        run(" A ");
        // ^ calls a.run
        const clean = new Pipeline([lower, title], { onDone: show });
        // ^ calls a.Pipeline.constructor
        clean.run(" B ");
        // ^ calls a.Pipeline.run
        const longer = clean.add(title);
        // ^ calls a.Pipeline.add
        longer.run("c");
        // ^ calls a.Pipeline.run
        Pipeline.of(lower).run("d");
        // ^ calls a.Pipeline.of
        // ^ calls a.Pipeline.run
        const apply = (text) => run(text, [{ name: "t", fn: title }]);
        // ^ calls a.run
        apply("e");
        // ^ calls a.apply
        ["f"].map(lower).forEach(show);
        // ^ calls a.lower
        // ^ calls a.show
        const byName = Object.fromEntries(steps.map(({ name, fn }) => [name, fn]));
        byName.lower("g");
        // ^ calls a.lower
        const tap = (fn) => (value) => { fn(value); return value; };
        // ^ calls a.show
        const shown = tap(show);
        // ^ calls a.tap
        shown("h");
        [lower, title].forEach((fn) => fn("i"));
        // ^ calls a.lower
        // ^ calls a.title
        Promise.resolve("j").then(lower).then((text) => title(text));
        // ^ calls a.lower
        // ^ calls a.title
        """,
    "visitors of a tree": """
        // --- a.js
        class Num {
          constructor(value) { this.value = value; }
          accept(visitor) { return visitor.num(this); }
          // ^ calls a.Show.num
          // ^ calls a.evaluate.num
        }
        class Add {
          constructor(left, right) { this.left = left; this.right = right; }
          accept(visitor) { return visitor.add(this); }
          // ^ calls a.Show.add
          // ^ calls a.evaluate.add
          parts() { return [this.left, this.right]; }
        }
        const evaluate = {
          num(node) { return node.value; },
          add(node) { return node.left.accept(this) + node.right.accept(this); },
          // ^ calls a.Add.accept
          // ^ calls a.Num.accept
        };
        class Show {
          constructor(sign = "+") { this.sign = sign; }
          num(node) { return String(node.value); }
          add(node) {
            const [left, right] = node.parts();
            // ^ calls a.Add.parts
            return this.join(left.accept(this), right.accept(this));
            // ^ calls a.Add.accept
            // ^ calls a.Num.accept
            // ^ calls a.Show.join
          }
          join(...texts) { return texts.join(this.sign); }
        }
        function build(text) {
          const parts = text.split("+").map((p) => new Num(Number(p)));
          // ^ calls a.Num.constructor
          let tree = parts.shift();
          while (parts.length) tree = new Add(tree, parts.shift());
          // ^ calls a.Add.constructor
          return tree;
        }
        const tree = build("1+2+3");
        // ^ calls a.build
        tree.accept(evaluate);
        // ^ calls a.Add.accept
        tree.accept(new Show());
        // ^ calls a.Add.accept
        // ^ calls a.Show.constructor
        for (const visitor of [evaluate, new Show("-")]) tree.accept(visitor);
        // ^ calls a.Add.accept
        // ^ calls a.Show.constructor
        const kinds = { show: Show };
        const make = (kind) => new kinds[kind]();
        // ^ calls a.Show.constructor
        tree.accept(make("show"));
        // ^ calls a.Add.accept
        // ^ calls a.make
        function* walk(node) {
          yield node;
          if (node instanceof Add) for (const part of node.parts()) yield* walk(part);
          // ^ calls a.Add.parts
          // ^ calls a.walk
        }
        for (const node of walk(tree)) node.accept(evaluate);
        // ^ calls a.Add.accept
        // ^ calls a.Num.accept
        // ^ calls a.walk
        const sum = new Add(new Num(1), new Num(2));
        // ^ calls a.Add.constructor
        // ^ calls a.Num.constructor
        sum.parts().map((part) => part.accept(evaluate));
        // ^ calls a.Add.parts
        // ^ calls a.Num.accept
        """,
    "a store with plugins": """
        // --- base.js
        export const registry = new Map();
        export class Plugin {
          before(key) { return null; }
          after(key, value) { return value; }
        }
        export function register(name, kind) { registry.set(name, kind); return kind; }
        // --- audit.js
        import { Plugin, register } from "./base.js";
        export class Audit extends Plugin {
          before(key) { return log(key); }
          // ^ calls audit.log
        }
        export function log(text) { return text; }
        register("audit", Audit);
        // ^ calls base.register
        // --- cache.js
        import { Plugin, register } from "./base.js";
        class Cache extends Plugin {
          kept = {};
          after(key, value) { this.kept[key] = value; return super.after(key, value); }
          // ^ calls base.Plugin.after
        }
        export default register("cache", Cache);
        // ^ calls base.register
        // --- main.js
        import { registry } from "./base.js";
        import { Audit, log } from "./audit.js";
        import Cache from "./cache.js";
        class Store {
          constructor(source, plugins = []) { this.source = source; this.plugins = plugins; }
          get(key) {
            for (const plugin of this.plugins) plugin.before(key);
            // ^ calls audit.Audit.before
            // ^ calls base.Plugin.before
            let value = this.source(key);
            // ^ calls main.remote
            for (const plugin of this.plugins) value = plugin.after(key, value);
            // ^ calls base.Plugin.after
            // ^ calls cache.Cache.after
            return value;
          }
        }
        function remote(key) { return key; }
        const store = new Store(remote, [new Audit(), new Cache()]);
        // ^ calls audit.Audit
        // ^ calls cache.Cache
        // ^ calls main.Store.constructor
        store.get("a");
        // ^ calls main.Store.get
        const loaded = [...registry.values()].map((Kind) => new Kind());
        // ^ calls audit.Audit
        // ^ calls cache.Cache
        loaded[0].before("b");
        // ^ calls audit.Audit.before
        new Store((key) => remote(key)).get("c");
        // ^ calls main.Store.constructor
        // ^ calls main.Store.get
        // ^ calls main.remote
        log("d");
        // ^ calls audit.log
        const only = new Cache();
        // ^ calls cache.Cache
        only.after("e", 1);
        // ^ calls cache.Cache.after
        const { get } = store;
        get.call(store, "f");
        // ^ calls main.Store.get
        """,
    "tasks with events": """
        // --- a.js
        class Emitter {
          constructor() { this.handlers = new Map(); }
          on(name, handler) {
            if (!this.handlers.has(name)) this.handlers.set(name, []);
            this.handlers.get(name).push(handler);
            return () => this.off(name, handler);
            // ^ calls a.Emitter.off
          }
          off(name, handler) {
            this.handlers.set(name, this.handlers.get(name).filter((h) => h !== handler));
          }
          emit(name, ...args) {
            for (const handler of this.handlers.get(name) ?? []) handler(...args);
          }
        }
        class Task extends Emitter {
          static created = 0;
          state = "new";
          constructor(work) { super(); this.work = work; Task.created++; }
          // ^ calls a.Emitter.constructor
          async run(input) {
            this.start();
            // ^ calls a.Task.start
            try {
              const result = await this.work(input);
              // ^ calls a.broken
              // ^ calls a.load
              this.finish(result);
              // ^ calls a.Task.finish
              return result;
            } catch (error) {
              this.fail(error);
              // ^ calls a.Task.fail
            }
          }
          start() { this.state = "running"; this.emit("start", this); }
          // ^ calls a.Emitter.emit
          finish(result) { this.state = "done"; this.emit("done", result); }
          // ^ calls a.Emitter.emit
          fail(error) { this.state = "failed"; this.emit("failed", error); }
          // ^ calls a.Emitter.emit
        }
        async function load(input) { return parse(input); }
        // ^ calls a.parse
        function parse(input) { return { text: input, size() { return this.text.length; } }; }
        async function broken() { throw new Error("no"); }
        const task = new Task(load);
        // ^ calls a.Task.constructor
        const stop = task.on("done", (result) => report(result));
        // ^ calls a.Emitter.on
        // ^ calls a.report
        task.on("failed", give);
        // ^ calls a.Emitter.on
        function report(result) { return result.size(); }
        // ^ calls a.parse.size
        function give(error) { return null; }
        const queue = [task, new Task(broken)];
        // ^ calls a.Task.constructor
        async function drain() {
          for (const each of queue) await each.run("x");
          // ^ calls a.Task.run
          const results = await Promise.all(queue.map((t) => t.run("y")));
          // ^ calls a.Task.run
          results[0].size();
          // ^ calls a.parse.size
          stop();
        }
        drain();
        // ^ calls a.drain
        class Pool {
          #tasks = [];
          add(task) { this.#tasks.push(task); return this; }
          async runAll() { for (const task of this.#tasks) await task.run("z"); }
          // ^ calls a.Task.run
        }
        new Pool().add(new Task(load)).runAll();
        // ^ calls a.Pool
        // ^ calls a.Pool.add
        // ^ calls a.Pool.runAll
        // ^ calls a.Task.constructor
        const timer = {
          left: 2,
          tick() { if (--this.left > 0) this.tick(); else this.done(); },
          // ^ calls a.timer.done
          // ^ calls a.timer.tick
          done() { return give(); },
          // ^ calls a.give
        };
        timer.tick();
        // ^ calls a.timer.tick
        """,
}
