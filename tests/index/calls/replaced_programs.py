"""Snippets in which something is replaced, moved or decided late, with the calls that they make.

The calls were recorded while the snippets ran (`record.py`). An edge of 0.9 and more has to be one
of them; one of a lower confidence may be wrong.
"""

from __future__ import annotations

PYTHON = {
    "a table that is merged": """
        # --- a.py
        def one(): ...
        def two(): ...
        T = {"a": one}
        T |= {"a": two}
        T["a"]()
        # ^ calls a.two
        """,
    "a table that is replaced by a slice": """
        # --- a.py
        def one(): ...
        def two(): ...
        T = [one]
        T[:] = [two]
        T[0]()
        # ^ calls a.two
        """,
    "a slice with a step": """
        # --- a.py
        def one(): ...
        def two(): ...
        T = [one, two]
        T[::-1][0]()
        # ^ calls a.two
        T[::2][0]()
        # ^ calls a.one
        """,
    "a key from a call": """
        # --- a.py
        def one(): ...
        def two(): ...
        T = [one, two]
        i = len("x")
        T[i]()
        # ^ calls a.two
        """,
    "a key from a call in a dictionary": """
        # --- a.py
        def one(): ...
        def two(): ...
        def key(): return "b"
        T = {"a": one, "b": two}
        k = key()
        # ^ calls a.key
        T[k]()
        # ^ calls a.two
        """,
    "super past a deleted member": """
        # --- a.py
        class A:
            def m(self): return 1
        class B(A):
            def m(self): return 2
        class C(B):
            def m(self): return super().m()
            # ^ calls a.A.m
        del B.m
        C().m()
        # ^ calls a.C
        # ^ calls a.C.m
        """,
    "super past a replaced member": """
        # --- a.py
        class A:
            def m(self): return 1
        class B(A):
            def m(self): return super().m()
            # ^ calls a.other
        def other(self): return 3
        A.m = other
        B().m()
        # ^ calls a.B
        # ^ calls a.B.m
        """,
    "a method that is deleted in the class body": """
        # --- a.py
        class A:
            def m(self): return 1
        class B(A):
            def m(self): return 2
            del m
        B().m()
        # ^ calls a.A.m
        # ^ calls a.B
        """,
    "a method that is replaced later": """
        # --- a.py
        class A:
            def m(self): return 1
        a = A()
        # ^ calls a.A
        A.m = lambda self: 2
        a.m()
        """,
    "a field of a data class that is assigned later": """
        # --- a.py
        from dataclasses import dataclass
        def one(): ...
        def two(): ...
        @dataclass
        class Step:
            act: object
            def run(self): return self.act()
            # ^ calls a.two
        s = Step(one)
        # ^ calls a.Step
        s.act = two
        s.run()
        # ^ calls a.Step.run
        """,
    "a field of a data class that a method assigns": """
        # --- a.py
        from dataclasses import dataclass
        def one(): ...
        def two(): ...
        @dataclass
        class Step:
            act: object
            def swap(self): self.act = two
            def run(self): return self.act()
            # ^ calls a.two
        s = Step(one)
        # ^ calls a.Step
        s.swap()
        # ^ calls a.Step.swap
        s.run()
        # ^ calls a.Step.run
        """,
    "an instance attribute that hides a method": """
        # --- a.py
        class A:
            def m(self): return 1
        def other(): return 2
        a = A()
        # ^ calls a.A
        a.m = other
        a.m()
        # ^ calls a.other
        """,
    "a popped element": """
        # --- a.py
        def one(): ...
        def two(): ...
        T = {"a": one}
        T.pop("a")
        T["a"] = two
        T["a"]()
        # ^ calls a.two
        """,
    "an inserted element": """
        # --- a.py
        def one(): ...
        def two(): ...
        T = [one]
        T.insert(0, two)
        T[0]()
        # ^ calls a.two
        """,
    "a reversed list": """
        # --- a.py
        def one(): ...
        def two(): ...
        T = [one, two]
        T.reverse()
        T[0]()
        # ^ calls a.two
        """,
    "a sorted list": """
        # --- a.py
        def one(): ...
        def two(): ...
        T = [one, two]
        T.sort(key=lambda f: f.__name__ == "one")
        T[0]()
        # ^ calls a.two
        """,
    "a deleted element": """
        # --- a.py
        def one(): ...
        def two(): ...
        T = [one, two]
        del T[0]
        T[0]()
        # ^ calls a.two
        """,
    "a cleared list": """
        # --- a.py
        def one(): ...
        def two(): ...
        T = [one]
        T.clear()
        T.append(two)
        T[0]()
        # ^ calls a.two
        """,
    "a swapped pair": """
        # --- a.py
        def one(): ...
        def two(): ...
        T = [one, two]
        T[0], T[1] = T[1], T[0]
        T[0]()
        # ^ calls a.two
        """,
    "a name that is rebound in a loop": """
        # --- a.py
        def one(): ...
        def two(): ...
        f = one
        for _ in range(2):
            f()
            # ^ calls a.one
            # ^ calls a.two
            f = two
        """,
    "a global that is rebound": """
        # --- a.py
        def one(): ...
        def two(): ...
        f = one
        def swap():
            global f
            f = two
        swap()
        # ^ calls a.swap
        f()
        # ^ calls a.two
        """,
    "a class attribute that an instance hides": """
        # --- a.py
        def one(): ...
        def two(): ...
        class A:
            act = staticmethod(one)
            def swap(self): self.act = two
        a = A()
        # ^ calls a.A
        a.swap()
        # ^ calls a.A.swap
        a.act()
        # ^ calls a.two
        """,
    "a default that is bound late": """
        # --- a.py
        def one(): ...
        def two(): ...
        f = one
        def run(g=f): g()
        # ^ calls a.one
        f = two
        run()
        # ^ calls a.run
        """,
    "a decorator that replaces": """
        # --- a.py
        def two(): return 2
        def swap(f): return two
        @swap
        # ^ calls a.swap
        def one(): return 1
        one()
        # ^ calls a.one
        # ^ calls a.two
        """,
    "a property that is replaced": """
        # --- a.py
        class A:
            @property
            def p(self): return one
        def one(): ...
        def two(): ...
        A.p = two
        A.p()
        # ^ calls a.A.p
        # ^ calls a.two
        """,
    "setattr with a table": """
        # --- a.py
        class A:
            def m(self): return 1
        def other(self): return 2
        for name, f in {"m": other}.items():
            setattr(A, name, f)
        A().m()
        # ^ calls a.A
        # ^ calls a.other
        """,
    "a parameter that is rebound": """
        # --- a.py
        def one(): ...
        def two(): ...
        def run(f):
            f = two
            f()
            # ^ calls a.two
        run(one)
        # ^ calls a.run
        """,
    "an except that rebinds": """
        # --- a.py
        def one(): raise ValueError
        def two(): ...
        f = one
        try:
            f()
            # ^ calls a.one
        except ValueError:
            f = two
        f()
        # ^ calls a.two
        """,
    "a dictionary literal with one key twice": """
        # --- a.py
        def one(): ...
        def two(): ...
        T = {"a": one, "a": two}
        T["a"]()
        # ^ calls a.two
        """,
    "a dictionary that unpacks another later": """
        # --- a.py
        def one(): ...
        def two(): ...
        D = {"a": two}
        T = {"a": one, **D}
        T["a"]()
        # ^ calls a.two
        """,
    "a nonlocal that is rebound": """
        # --- a.py
        def one(): ...
        def two(): ...
        def outer():
            f = one
            def swap():
                nonlocal f
                f = two
            swap()
            # ^ calls a.outer.swap
            f()
            # ^ calls a.two
        outer()
        # ^ calls a.outer
        """,
    "a metaclass call": """
        # --- a.py
        class M(type):
            def __call__(cls, *args): return two()
            # ^ calls a.two
        def two(): ...
        class A(metaclass=M):
            def __init__(self): ...
        A()
        # ^ calls a.M.__call__
        """,
    "a constructor that returns another": """
        # --- a.py
        class B:
            def m(self): return 2
        class A:
            def __new__(cls): return B()
            # ^ calls a.B
            def m(self): return 1
        A().m()
        # ^ calls a.A
        # ^ calls a.A.__new__
        # ^ calls a.B.m
        """,
    "a module attribute that is patched": """
        # --- b.py
        def one(): ...
        def two(): ...
        # --- a.py
        import b
        b.one = b.two
        b.one()
        # ^ calls b.two
        """,
    "a list that is multiplied and rotated": """
        # --- a.py
        def one(): ...
        def two(): ...
        T = [one, two] * 2
        T = T[1:] + T[:1]
        T[0]()
        # ^ calls a.two
        """,
    "exec and del": """
        # --- a.py
        def one(): ...
        def two(): ...
        f = one
        del f
        f = two
        f()
        # ^ calls a.two
        """,
    "an unpacked starred middle": """
        # --- a.py
        def one(): ...
        def two(): ...
        def three(): ...
        a, *b, c = [one, two, three]
        b[0]()
        # ^ calls a.two
        c()
        # ^ calls a.three
        """,
    "setdefault that is too late": """
        # --- a.py
        def one(): ...
        def two(): ...
        T = {"a": one}
        T.setdefault("a", two)()
        # ^ calls a.one
        """,
    "a chain of or": """
        # --- a.py
        def one(): ...
        def two(): ...
        f = None or two
        f()
        # ^ calls a.two
        """,
}

JAVASCRIPT = {
    "a table that is reassigned": """
        // --- a.js
        function one() {}
        function two() {}
        let t = { a: one };
        t = { a: two };
        t.a();
        // ^ calls a.two
        """,
    "a table whose member is reassigned": """
        // --- a.js
        function one() {}
        function two() {}
        const t = { a: one };
        t.a = two;
        t.a();
        // ^ calls a.two
        """,
    "a spread that comes later": """
        // --- a.js
        function one() {}
        function two() {}
        const d = { a: two };
        const t = { a: one, ...d };
        t.a();
        // ^ calls a.two
        """,
    "a spread that comes first": """
        // --- a.js
        function one() {}
        function two() {}
        const d = { a: one };
        const t = { ...d, a: two };
        t.a();
        // ^ calls a.two
        """,
    "a computed key from a call": """
        // --- a.js
        function one() {}
        function two() {}
        const key = () => "b";
        const t = { a: one, b: two };
        t[key()]();
        // ^ calls a.key
        // ^ calls a.two
        """,
    "an index from a call": """
        // --- a.js
        function one() {}
        function two() {}
        const t = [one, two];
        const i = "x".length;
        t[i]();
        // ^ calls a.two
        """,
    "a deleted method": """
        // --- a.js
        class A { m() { return 1; } }
        class B extends A { m() { return 2; } }
        delete B.prototype.m;
        new B().m();
        // ^ calls a.A
        // ^ calls a.A.m
        // ^ calls a.B
        """,
    "a method that is replaced on the prototype": """
        // --- a.js
        class A { m() { return 1; } }
        A.prototype.m = function other() { return 2; };
        new A().m();
        // ^ calls a.A
        // ^ calls a.A.m
        """,
    "super past a replaced method": """
        // --- a.js
        class A { m() { return 1; } }
        class B extends A { m() { return super.m(); } }
        // ^ calls a.other
        function other() { return 3; }
        A.prototype.m = other;
        new B().m();
        // ^ calls a.A
        // ^ calls a.B
        // ^ calls a.B.m
        """,
    "an accessor that returns another": """
        // --- a.js
        function one() {}
        function two() {}
        class A { constructor() { this.f = one; } get g() { return two; } }
        new A().g();
        // ^ calls a.A.constructor
        // ^ calls a.A.g
        // ^ calls a.two
        """,
    "super with a mixin": """
        // --- a.js
        const M = (B) => class extends B { m() { return super.m(); } };
        // ^ calls a.A.m
        // ^ calls a.C.m
        class A { m() { return 1; } }
        class C { m() { return 2; } }
        class D extends M(A) {}
        // ^ calls a.M
        class E extends M(C) {}
        // ^ calls a.M
        new D().m();
        // ^ calls a.A
        // ^ calls a.D
        // ^ calls a.M.m
        new E().m();
        // ^ calls a.C
        // ^ calls a.E
        // ^ calls a.M.m
        """,
    "Object.assign that replaces": """
        // --- a.js
        function one() {}
        function two() {}
        const t = { a: one };
        Object.assign(t, { a: two });
        t.a();
        // ^ calls a.two
        """,
    "Object.assign on a prototype": """
        // --- a.js
        class A { m() { return 1; } }
        Object.assign(A.prototype, { m() { return 2; } });
        new A().m();
        // ^ calls a.A
        // ^ calls a.m
        """,
    "a shadowed name": """
        // --- a.js
        function one() {}
        function two() {}
        {
          const one = two;
          one();
          // ^ calls a.two
        }
        one();
        // ^ calls a.one
        """,
    "a shadowed parameter": """
        // --- a.js
        function one() {}
        function two() {}
        function run(one) { one(); }
        // ^ calls a.two
        run(two);
        // ^ calls a.run
        """,
    "hoisting": """
        // --- a.js
        run();
        // ^ calls a.run
        function run() { return 1; }
        function run() { return 2; }
        run();
        // ^ calls a.run
        """,
    "a hoisted function in a block": """
        // --- a.js
        function one() { return 1; }
        function outer() {
          inner();
          // ^ calls a.outer.inner
          function inner() { return one(); }
          // ^ calls a.one
        }
        outer();
        // ^ calls a.outer
        """,
    "default parameters": """
        // --- a.js
        function one() {}
        function two() {}
        function run(f = one) { f(); }
        // ^ calls a.two
        run(two);
        // ^ calls a.run
        """,
    "a default that is not used": """
        // --- a.js
        function one() {}
        function two() {}
        const { f = one } = { f: two };
        f();
        // ^ calls a.two
        """,
    "destructuring with a rename": """
        // --- a.js
        function one() {}
        function two() {}
        const { one: g, two: one2 } = { one: two, two: one };
        g();
        // ^ calls a.two
        one2();
        // ^ calls a.one
        """,
    "destructuring of parameters with a rename": """
        // --- a.js
        function one() {}
        function two() {}
        function run({ one: g }) { g(); }
        // ^ calls a.two
        run({ one: two });
        // ^ calls a.run
        """,
    "a re-export under another name": """
        // --- b.js
        export function one() {}
        export function two() {}
        // --- c.js
        export { one as two, two as one } from "./b.js";
        // --- a.js
        import { one } from "./c.js";
        one();
        // ^ calls b.two
        """,
    "a star export that a local name hides": """
        // --- b.js
        export function one() {}
        // --- c.js
        export * from "./b.js";
        export function one() {}
        // --- a.js
        import { one } from "./c.js";
        one();
        // ^ calls c.one
        """,
    "this in a callback": """
        // --- a.js
        class A {
          m() { return 1; }
          run() { [1].forEach(function () { this.m(); }, { m: other }); }
          // ^ calls a.other
        }
        function other() { return 2; }
        new A().run();
        // ^ calls a.A
        // ^ calls a.A.run
        """,
    "bind of arguments": """
        // --- a.js
        function one() {}
        function two() {}
        function run(f) { f(); }
        // ^ calls a.two
        const later = run.bind(null, two);
        later(one);
        // ^ calls a.run
        """,
    "a generator that delegates": """
        // --- a.js
        function one() {}
        function two() {}
        function* inner() { yield one; }
        function* outer() { yield two; yield* inner(); }
        // ^ calls a.inner
        for (const f of outer()) f();
        // ^ calls a.one
        // ^ calls a.outer
        // ^ calls a.two
        outer().next().value();
        // ^ calls a.outer
        // ^ calls a.two
        """,
    "a labelled loop that rebinds": """
        // --- a.js
        function one() {}
        function two() {}
        let f = one;
        outer: for (const x of [1, 2]) {
          for (const y of [1]) { f(); f = two; continue outer; }
          // ^ calls a.one
          // ^ calls a.two
        }
        """,
    "a static block that replaces": """
        // --- a.js
        function one() {}
        function two() {}
        class A {
          static f = one;
          static { A.f = two; }
        }
        A.f();
        // ^ calls a.two
        """,
    "a static block that replaces by this": """
        // --- a.js
        function one() {}
        function two() {}
        class A {
          static f = one;
          static { this.f = two; }
        }
        A.f();
        // ^ calls a.two
        """,
    "private names of two classes": """
        // --- a.js
        class A { #m() { return 1; } run() { return this.#m(); } }
        // ^ calls a.A.#m
        class B extends A { #m() { return 2; } go() { return this.#m(); } }
        // ^ calls a.B.#m
        new B().run();
        // ^ calls a.A
        // ^ calls a.A.run
        // ^ calls a.B
        new B().go();
        // ^ calls a.A
        // ^ calls a.B
        // ^ calls a.B.go
        """,
    "a field of a subclass that hides a method": """
        // --- a.js
        function two() {}
        class A { m() { return 1; } }
        class B extends A { m = two; }
        new B().m();
        // ^ calls a.A
        // ^ calls a.B
        // ^ calls a.two
        """,
    "an instance that replaces its method": """
        // --- a.js
        function two() {}
        class A { m() { return 1; } swap() { this.m = two; return this; } }
        new A().swap().m();
        // ^ calls a.A
        // ^ calls a.A.swap
        // ^ calls a.two
        """,
    "an instance method that is replaced outside": """
        // --- a.js
        function two() {}
        class A { m() { return 1; } }
        const a = new A();
        // ^ calls a.A
        a.m = two;
        a.m();
        // ^ calls a.two
        """,
    "a constructor that returns another": """
        // --- a.js
        class B { m() { return 2; } }
        class A { constructor() { return new B(); } m() { return 1; } }
        // ^ calls a.B
        new A().m();
        // ^ calls a.A.constructor
        // ^ calls a.B.m
        """,
    "a reversed list": """
        // --- a.js
        function one() {}
        function two() {}
        const t = [one, two];
        t.reverse();
        t[0]();
        // ^ calls a.two
        """,
    "a sorted list": """
        // --- a.js
        function one() {}
        function two() {}
        const t = [one, two];
        t.sort(() => 1);
        t[0]();
        // ^ calls a.one
        """,
    "a shifted list": """
        // --- a.js
        function one() {}
        function two() {}
        const t = [one, two];
        t.shift();
        t[0]();
        // ^ calls a.two
        """,
    "an unshifted list": """
        // --- a.js
        function one() {}
        function two() {}
        const t = [one];
        t.unshift(two);
        t[0]();
        // ^ calls a.two
        """,
    "a spliced list": """
        // --- a.js
        function one() {}
        function two() {}
        const t = [one];
        t.splice(0, 1, two);
        t[0]();
        // ^ calls a.two
        """,
    "a list with an assigned element": """
        // --- a.js
        function one() {}
        function two() {}
        const t = [one];
        t[0] = two;
        t[0]();
        // ^ calls a.two
        """,
    "a map that is set again": """
        // --- a.js
        function one() {}
        function two() {}
        const t = new Map([["a", one]]);
        t.set("a", two);
        t.get("a")();
        // ^ calls a.two
        """,
    "a deleted member": """
        // --- a.js
        function two() {}
        const base = { a: two };
        const t = { __proto__: base, a() { return 1; } };
        delete t.a;
        t.a();
        // ^ calls a.two
        """,
    "a proxy": """
        // --- a.js
        function two() {}
        const t = new Proxy({ a() { return 1; } }, { get() { return two; } });
        t.a();
        // ^ calls a.get
        // ^ calls a.two
        """,
    "a defined property": """
        // --- a.js
        function two() {}
        class A { m() { return 1; } }
        Object.defineProperty(A.prototype, "m", { value: two });
        new A().m();
        // ^ calls a.A
        // ^ calls a.two
        """,
    "a variable that a callback rebinds": """
        // --- a.js
        function one() {}
        function two() {}
        let f = one;
        [1].forEach(() => { f = two; });
        f();
        // ^ calls a.two
        """,
    "a swapped pair": """
        // --- a.js
        function one() {}
        function two() {}
        let a = one, b = two;
        [a, b] = [b, a];
        a();
        // ^ calls a.two
        """,
    "a conditional assignment": """
        // --- a.js
        function one() {}
        function two() {}
        let f = one;
        f &&= two;
        f();
        // ^ calls a.two
        """,
    "a nullish assignment that does nothing": """
        // --- a.js
        function one() {}
        function two() {}
        let f = one;
        f ??= two;
        f();
        // ^ calls a.one
        """,
    "with a getter on an object": """
        // --- a.js
        function two() {}
        const t = { get a() { return two; } };
        t.a();
        // ^ calls a.t.a
        // ^ calls a.two
        """,
    "an exported let that changes": """
        // --- b.js
        function one() {}
        function two() {}
        export let f = one;
        export function swap() { f = two; }
        // --- a.js
        import { f, swap } from "./b.js";
        swap();
        // ^ calls b.swap
        f();
        // ^ calls b.two
        """,
    "a switch that falls through": """
        // --- a.js
        function one() {}
        function two() {}
        function pick(n) {
          let f;
          switch (n) { case 1: f = one; case 2: f = two; }
          f();
          // ^ calls a.two
        }
        pick(1);
        // ^ calls a.pick
        """,
    "a class expression that is renamed": """
        // --- a.js
        const A = class B { m() { return 1; } };
        class B { m() { return 2; } }
        new A().m();
        // ^ calls a.A
        // ^ calls a.A.m
        new B().m();
        // ^ calls a.B
        // ^ calls a.B.m
        """,
    "a concat before": """
        // --- a.js
        function one() {}
        function two() {}
        const t = [two].concat([one]);
        t[0]();
        // ^ calls a.two
        """,
    "a slice from the end": """
        // --- a.js
        function one() {}
        function two() {}
        const t = [one, two];
        t.slice(-1)[0]();
        // ^ calls a.two
        t.slice(1)[0]();
        // ^ calls a.two
        t.at(-1)();
        // ^ calls a.two
        """,
    "a filter that drops": """
        // --- a.js
        function one() {}
        function two() {}
        const t = [one, two].filter((f) => f !== one);
        t[0]();
        // ^ calls a.two
        """,
    "a map of functions": """
        // --- a.js
        function one() {}
        function two() {}
        const t = [one].map((f) => two);
        t[0]();
        // ^ calls a.two
        """,
    "a prototype that is replaced": """
        // --- a.js
        function one() {}
        function A() {}
        A.prototype.m = function () { return 1; };
        A.prototype = { m() { return 2; } };
        new A().m();
        // ^ calls a.A
        // ^ calls a.A.m
        """,
    "a super of an object": """
        // --- a.js
        const base = { m() { return 1; } };
        const other = { m() { return 2; } };
        const t = { m() { return super.m(); } };
        // ^ calls a.other.m
        Object.setPrototypeOf(t, other);
        t.m();
        // ^ calls a.t.m
        """,
}
