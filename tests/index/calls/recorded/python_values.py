"""Recorded programs of Python: values in names, tables, arguments and closures."""

from __future__ import annotations

PROGRAMS = {
    "dicts nested": """
        # --- a.py
        def save(): ...
        def load(): ...
        def drop(): ...
        ROUTES = {"file": {"save": save, "load": load}, "edit": {"undo": {"deep": drop}}}
        ROUTES["file"]["save"]()
        # ^ calls a.save
        inner = ROUTES["file"]
        inner["load"]()
        # ^ calls a.load
        ROUTES["edit"]["undo"]["deep"]()
        # ^ calls a.drop
        def run(group, name):
            return ROUTES[group][name]()
            # ^ calls a.load
            # ^ calls a.save
        run("file", "load")
        # ^ calls a.run
        run("file", "save")
        # ^ calls a.run
        """,
    "dicts grown": """
        # --- a.py
        def red(): ...
        def blue(): ...
        class Palette:
            def __init__(self):
                self.paints = {}
            def add(self, name, paint):
                self.paints[name] = paint
            def use(self, name):
                self.paints[name]()
                # ^ calls a.blue
                # ^ calls a.red
        p = Palette()
        # ^ calls a.Palette.__init__
        p.add("r", red)
        # ^ calls a.Palette.add
        p.add("b", blue)
        # ^ calls a.Palette.add
        p.use("r")
        # ^ calls a.Palette.use
        p.use("b")
        # ^ calls a.Palette.use
        table = {}
        table.setdefault("x", red)
        table["x"]()
        # ^ calls a.red
        table.get("x", blue)()
        # ^ calls a.red
        """,
    "dicts comprehension": """
        # --- a.py
        def alpha(): ...
        def beta(): ...
        names = {f.__name__: f for f in (alpha, beta)}
        for key, fn in names.items():
            fn()
            # ^ calls a.alpha
            # ^ calls a.beta
        pairs = dict(a=alpha, b=beta)
        pairs["a"]()
        # ^ calls a.alpha
        """,
    "args star functions": """
        # --- a.py
        def one(x): ...
        def two(x): ...
        def run_all(value, *functions):
            for function in functions:
                function(value)
                # ^ calls a.one
                # ^ calls a.two
        run_all(3, one, two)
        # ^ calls a.run_all
        def first(*fs):
            return fs[0]
        first(one, two)(1)
        # ^ calls a.first
        # ^ calls a.one
        """,
    "kwargs functions": """
        # --- a.py
        def opened(): ...
        def closed(): ...
        def listen(**handlers):
            handlers["opened"]()
            # ^ calls a.opened
            for name, handler in handlers.items():
                handler()
                # ^ calls a.closed
                # ^ calls a.opened
        listen(opened=opened, closed=closed)
        # ^ calls a.listen
        """,
    "kwargs forwarded": """
        # --- a.py
        def action(): ...
        def low(callback=None, times=1):
            callback()
            # ^ calls a.action
        def middle(**options):
            low(**options)
            # ^ calls a.low
        def high(*args, **kwargs):
            middle(*args, **kwargs)
            # ^ calls a.middle
        high(callback=action, times=2)
        # ^ calls a.high
        """,
    "kwargs order": """
        # --- a.py
        def f1(): ...
        def f2(): ...
        def pick(first, second):
            first()
            # ^ calls a.f2
            return second
        pick(second=f1, first=f2)()
        # ^ calls a.f1
        # ^ calls a.pick
        """,
    "lambda default": """
        # --- a.py
        def base(): return 1
        def run(make=lambda: base()):
        # ^ calls a.base
            return make()
            # ^ calls a.run
        run()
        # ^ calls a.run
        def other(): return 2
        run(lambda: other())
        # ^ calls a.other
        # ^ calls a.run
        twice = lambda f: (f(), f())
        # ^ calls a.base
        twice(base)
        # ^ calls a.twice
        """,
    "lambda chain": """
        # --- a.py
        def inc(x): return x
        compose = lambda f, g: lambda x: f(g(x))
        # ^ calls a.dbl
        # ^ calls a.inc
        def dbl(x): return x
        both = compose(inc, dbl)
        # ^ calls a.compose
        both(2)
        # ^ calls a.compose
        """,
    "closures nonlocal": """
        # --- a.py
        def first(): ...
        def second(): ...
        def machine():
            state = first
            def advance():
                nonlocal state
                state = second
            def fire():
                state()
                # ^ calls a.first
                # ^ calls a.second
            return advance, fire
        advance, fire = machine()
        # ^ calls a.machine
        fire()
        # ^ calls a.machine.fire
        advance()
        # ^ calls a.machine.advance
        fire()
        # ^ calls a.machine.fire
        """,
    "global rebound": """
        # --- a.py
        def off(): ...
        def on(): ...
        mode = off
        def switch():
            global mode
            mode = on
        def act():
            mode()
            # ^ calls a.off
            # ^ calls a.on
        act()
        # ^ calls a.act
        switch()
        # ^ calls a.switch
        act()
        # ^ calls a.act
        """,
    "getattr literal": """
        # --- a.py
        class Robot:
            def walk(self): ...
            def talk(self): ...
            def do(self):
                getattr(self, "walk")()
                # ^ calls a.Robot.walk
        r = Robot()
        # ^ calls a.Robot
        getattr(r, "talk")()
        # ^ calls a.Robot.talk
        m = getattr(r, "walk", None)
        m()
        # ^ calls a.Robot.walk
        r.do()
        # ^ calls a.Robot.do
        getattr(Robot, "talk")(r)
        # ^ calls a.Robot.talk
        """,
    "partial": """
        # --- a.py
        from functools import partial, reduce
        import functools
        def power(base, exp): return base
        def add(a, b): return a
        square = partial(power, exp=2)
        square(3)
        # ^ calls a.power
        class Calc:
            def mul(self, a, b): return a
            def get(self):
                return functools.partial(self.mul, 2)
        Calc().get()(4)
        # ^ calls a.Calc
        # ^ calls a.Calc.get
        # ^ calls a.Calc.mul
        reduce(add, [1, 2, 3])
        # ^ calls a.add
        """,
    "callbacks builtin": """
        # --- a.py
        def size(x): return len(x)
        def keep(x): return True
        def change(x): return x
        words = ["a", "bb"]
        sorted(words, key=size)
        # ^ calls a.size
        words.sort(key=size)
        # ^ calls a.size
        max(words, key=size)
        # ^ calls a.size
        list(map(change, filter(keep, words)))
        # ^ calls a.change
        # ^ calls a.keep
        any(map(keep, words))
        # ^ calls a.keep
        """,
    "callbacks method": """
        # --- a.py
        class Sorter:
            def key(self, x): return x
            def run(self, xs):
                return sorted(xs, key=self.key)
                # ^ calls a.Sorter.key
            def each(self, xs, fn):
                return [fn(x) for x in xs]
                # ^ calls a.Sorter.key
            def go(self):
                return self.each([1], self.key)
                # ^ calls a.Sorter.each
        s = Sorter()
        # ^ calls a.Sorter
        s.run([1, 2])
        # ^ calls a.Sorter.run
        s.go()
        # ^ calls a.Sorter.go
        """,
    "returns tuple": """
        # --- a.py
        def left(): ...
        def right(): ...
        def both():
            return left, right
        l, r = both()
        # ^ calls a.both
        l()
        # ^ calls a.left
        r()
        # ^ calls a.right
        both()[1]()
        # ^ calls a.both
        # ^ calls a.right
        x, *rest = both()
        # ^ calls a.both
        rest[0]()
        # ^ calls a.right
        """,
    "returns method": """
        # --- a.py
        class Gate:
            def open(self): ...
            def handle(self):
                return self.open
        def getter(gate):
            return gate.handle
        g = Gate()
        # ^ calls a.Gate
        g.handle()()
        # ^ calls a.Gate.handle
        # ^ calls a.Gate.open
        getter(g)()()
        # ^ calls a.Gate.handle
        # ^ calls a.Gate.open
        # ^ calls a.getter
        """,
    "assign chained starred": """
        # --- a.py
        def p(): ...
        def q(): ...
        def r(): ...
        a = b = c = p
        (d, e), f = (p, q), r
        first, *middle, last = [p, q, q, r]
        a()
        # ^ calls a.p
        c()
        # ^ calls a.p
        e()
        # ^ calls a.q
        f()
        # ^ calls a.r
        first()
        # ^ calls a.p
        last()
        # ^ calls a.r
        middle[0]()
        # ^ calls a.q
        d, e = e, d
        d()
        # ^ calls a.q
        """,
    "assign attributes": """
        # --- a.py
        def plain(): ...
        class Node:
            def __init__(self, nxt=None):
                self.next = nxt
                self.run = plain
            def visit(self): ...
        n = Node(Node(Node()))
        # ^ calls a.Node.__init__
        n.next.visit()
        # ^ calls a.Node.visit
        n.next.next.visit()
        # ^ calls a.Node.visit
        n.run()
        # ^ calls a.plain
        n.next.run()
        # ^ calls a.plain
        """,
    "zip enumerate": """
        # --- a.py
        def up(x): ...
        def down(x): ...
        for i, fn in enumerate([up, down]):
            fn(i)
            # ^ calls a.down
            # ^ calls a.up
        for fn, arg in zip((up, down), (1, 2)):
            fn(arg)
            # ^ calls a.down
            # ^ calls a.up
        for fn in reversed([up, down]):
            fn(0)
            # ^ calls a.down
            # ^ calls a.up
        fns = (up,) + (down,)
        fns[1](3)
        # ^ calls a.down
        stack = [up]
        stack.append(down)
        stack.pop()(9)
        # ^ calls a.down
        """,
    "walrus and ternary": """
        # --- a.py
        def yes(): return 1
        def no(): return 0
        def pick(flag):
            return yes if flag else no
        if (f := pick(True)):
        # ^ calls a.pick
            f()
            # ^ calls a.yes
        (yes if f else no)()
        # ^ calls a.yes
        (lambda: no())()
        # ^ calls a.no
        """,
    "zip star kwargs merge": """
        # --- a.py
        def a(): ...
        def b(): ...
        def call(first=None, second=None):
            first()
            # ^ calls a.a
            second()
            # ^ calls a.b
        base = {"first": a}
        call(**base, second=b)
        # ^ calls a.call
        call(**{**base, "second": b})
        # ^ calls a.call
        args = [a, b]
        call(*args)
        # ^ calls a.call
        """,
}
