"""Recorded programs of JavaScript: functions as values, and what is passed to them."""

from __future__ import annotations

PROGRAMS = {
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
