"""Programs of Python with the calls that were recorded while they ran."""

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
    "decorator args": """
        # --- a.py
        import functools
        def register(kind, hook=None):
            def decorate(fn):
                @functools.wraps(fn)
                def wrapper(*args, **kwargs):
                    if hook:
                        hook()
                        # ^ calls a.notify
                    return fn(*args, **kwargs)
                    # ^ calls a.plain
                    # ^ calls a.task
                return wrapper
            return decorate
        def notify(): ...
        @register("x", hook=notify)
        # ^ calls a.register
        # ^ calls a.register.decorate
        def task(a): ...
        @register("y")
        # ^ calls a.register
        # ^ calls a.register.decorate
        def plain(): ...
        task(1)
        # ^ calls a.register.decorate.wrapper
        # ^ calls a.task
        plain()
        # ^ calls a.plain
        # ^ calls a.register.decorate.wrapper
        """,
    "decorator class": """
        # --- a.py
        class Memo:
            def __init__(self, fn):
                self.fn = fn
                self.seen = {}
            def __call__(self, *args):
                return self.fn(*args)
                # ^ calls a.slow
            def clear(self):
                self.seen.clear()
        @Memo
        # ^ calls a.Memo.__init__
        def slow(n):
            return n
        slow(4)
        # ^ calls a.Memo.__call__
        # ^ calls a.slow
        slow.clear()
        # ^ calls a.Memo.clear
        """,
    "decorator class args": """
        # --- a.py
        class Tag:
            def __init__(self, name):
                self.name = name
            def __call__(self, fn):
                def inner():
                    return fn()
                    # ^ calls a.text
                return inner
        @Tag("b")
        # ^ calls a.Tag.__call__
        # ^ calls a.Tag.__init__
        def text(): ...
        text()
        # ^ calls a.Tag.__call__.inner
        # ^ calls a.text
        """,
    "decorator registry": """
        # --- a.py
        COMMANDS = {}
        def command(name):
            def keep(fn):
                COMMANDS[name] = fn
                return fn
            return keep
        @command("go")
        # ^ calls a.command
        # ^ calls a.command.keep
        def go(): ...
        @command("stop")
        # ^ calls a.command
        # ^ calls a.command.keep
        def stop(): ...
        def dispatch(word):
            COMMANDS[word]()
            # ^ calls a.go
            # ^ calls a.stop
        dispatch("go")
        # ^ calls a.dispatch
        dispatch("stop")
        # ^ calls a.dispatch
        """,
    "decorator list registry": """
        # --- reg.py
        hooks = []
        def hook(fn):
            hooks.append(fn)
            return fn
        # --- main.py
        from reg import hook, hooks
        @hook
        # ^ calls reg.hook
        def early(): ...
        @hook
        # ^ calls reg.hook
        def late(): ...
        for h in hooks:
            h()
            # ^ calls main.early
            # ^ calls main.late
        """,
    "generator send": """
        # --- a.py
        def got(x): ...
        def start(): return 1
        def gen():
            value = yield start()
            # ^ calls a.start
            got(value)
            # ^ calls a.got
            yield 2
        g = gen()
        # ^ calls a.gen
        next(g)
        g.send(5)
        """,
    "generator yield from": """
        # --- a.py
        class Item:
            def show(self): ...
        def inner():
            yield Item()
            # ^ calls a.Item
            yield Item()
            # ^ calls a.Item
        def outer():
            yield from inner()
            # ^ calls a.inner
        for it in outer():
        # ^ calls a.outer
            it.show()
            # ^ calls a.Item.show
        first = next(outer())
        # ^ calls a.outer
        first.show()
        # ^ calls a.Item.show
        """,
    "generator functions": """
        # --- a.py
        def a1(): ...
        def a2(): ...
        def stages():
            yield "one", a1
            yield "two", a2
        for name, stage in stages():
        # ^ calls a.stages
            stage()
            # ^ calls a.a1
            # ^ calls a.a2
        def pipeline(source):
            for _, s in source:
                yield s
        [s() for s in pipeline(stages())]
        # ^ calls a.a1
        # ^ calls a.a2
        # ^ calls a.pipeline
        # ^ calls a.stages
        """,
    "mro super chain": """
        # --- a.py
        class Root:
            def __init__(self): self.log()
            # ^ calls a.Left.log
            def log(self): ...
        class Left(Root):
            def __init__(self):
                super().__init__()
                # ^ calls a.Root.__init__
            def log(self):
                super().log()
                # ^ calls a.Right.log
        class Right(Root):
            def log(self):
                super().log()
                # ^ calls a.Root.log
        class Both(Left, Right):
            def __init__(self):
                super().__init__()
                # ^ calls a.Left.__init__
        b = Both()
        # ^ calls a.Both.__init__
        b.log()
        # ^ calls a.Left.log
        """,
    "mro mixin attr": """
        # --- a.py
        class JsonMixin:
            def dump(self):
                return self.fields()
                # ^ calls a.Row.fields
                # ^ calls a.Wide.fields
        class Row(JsonMixin):
            def fields(self): return {}
        class Wide(Row):
            def fields(self):
                return super().fields()
                # ^ calls a.Row.fields
        Wide().dump()
        # ^ calls a.JsonMixin.dump
        # ^ calls a.Wide
        Row().dump()
        # ^ calls a.JsonMixin.dump
        # ^ calls a.Row
        """,
    "mro explicit base": """
        # --- a.py
        class Base:
            def setup(self): ...
            @classmethod
            def build(cls):
                made = cls()
                # ^ calls a.Base
                made.setup()
                # ^ calls a.Base.setup
                # ^ calls a.Sub.setup
                return made
        class Sub(Base):
            def setup(self):
                Base.setup(self)
                # ^ calls a.Base.setup
        Sub.build().setup()
        # ^ calls a.Base.build
        # ^ calls a.Sub.setup
        Base.build()
        # ^ calls a.Base.build
        """,
    "imports alias relative star": """
        # --- pkg/__init__.py
        from .core import run as execute
        from .util import *
        # --- pkg/core.py
        from . import util as u
        from .util import helper as h
        def run():
            u.helper()
            # ^ calls pkg.util.helper
            h()
            # ^ calls pkg.util.helper
            u.extra()
            # ^ calls pkg.util.extra
        # --- pkg/util.py
        def helper(): ...
        def extra(): ...
        def _hidden(): ...
        # --- main.py
        import pkg
        import pkg.core as c
        from pkg import execute, extra
        pkg.execute()
        # ^ calls pkg.core.run
        execute()
        # ^ calls pkg.core.run
        extra()
        # ^ calls pkg.util.extra
        pkg.helper()
        # ^ calls pkg.util.helper
        c.run()
        # ^ calls pkg.core.run
        c.u.helper()
        # ^ calls pkg.util.helper
        """,
    "imports cycle": """
        # --- left.py
        def ping(n):
            import right
            if n:
                right.pong(n - 1)
                # ^ calls right.pong
        def base(): ...
        # --- right.py
        import left
        def pong(n):
            left.ping(n)
            # ^ calls left.ping
            left.base()
            # ^ calls left.base
        # --- main.py
        from right import pong
        pong(2)
        # ^ calls right.pong
        """,
    "imports try": """
        # --- fast.py
        def parse(): ...
        # --- main.py
        try:
            import nosuchmodule_zz as impl
        except ImportError:
            import fast as impl
        impl.parse()
        # ^ calls fast.parse
        try:
            from nosuchmodule_zz import dumps
        except ImportError:
            def dumps(x): ...
        dumps(1)
        # ^ calls main.dumps
        """,
    "imports importlib": """
        # --- plugins/__init__.py

        # --- plugins/mail.py
        def activate(): ...
        class Sender:
            def send(self): ...
        # --- main.py
        import importlib
        mail = importlib.import_module("plugins.mail")
        mail.activate()
        # ^ calls plugins.mail.activate
        mail.Sender().send()
        # ^ calls plugins.mail.Sender
        # ^ calls plugins.mail.Sender.send
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
    "property setter": """
        # --- a.py
        def check(v): return v
        class Temp:
            def __init__(self):
                self._v = 0
            @property
            def value(self):
                return self.read()
                # ^ calls a.Temp.read
            @value.setter
            def value(self, v):
                self._v = check(v)
                # ^ calls a.check
            def read(self): return self._v
        t = Temp()
        # ^ calls a.Temp.__init__
        t.value = 3
        # ^ calls a.Temp.value
        t.value
        # ^ calls a.Temp.value
        """,
    "operators": """
        # --- a.py
        class Vec:
            def __init__(self, x): self.x = x
            def __add__(self, other): return Vec(self.x)
            # ^ calls a.Vec.__init__
            def __eq__(self, other): return True
            def __getitem__(self, i): return self.x
            def __len__(self): return 1
            def __contains__(self, x): return True
            def __neg__(self): return self
            def norm(self): ...
        a = Vec(1)
        # ^ calls a.Vec.__init__
        b = Vec(2)
        # ^ calls a.Vec.__init__
        c = a + b
        # ^ calls a.Vec.__add__
        c.norm()
        # ^ calls a.Vec.norm
        (a + b).norm()
        # ^ calls a.Vec.__add__
        # ^ calls a.Vec.norm
        a == b
        # ^ calls a.Vec.__eq__
        a[0]
        # ^ calls a.Vec.__getitem__
        len(a)
        # ^ calls a.Vec.__len__
        1 in a
        # ^ calls a.Vec.__contains__
        (-a).norm()
        # ^ calls a.Vec.__neg__
        # ^ calls a.Vec.norm
        """,
    "iteration protocol": """
        # --- a.py
        class Shelf:
            def __init__(self):
                self.n = 0
            def __iter__(self):
                return self
            def __next__(self):
                self.n += 1
                if self.n > 2:
                    raise StopIteration
                return Book()
                # ^ calls a.Book
        class Book:
            def read(self): ...
        for book in Shelf():
        # ^ calls a.Shelf.__init__
        # ^ calls a.Shelf.__iter__
        # ^ calls a.Shelf.__next__
            book.read()
            # ^ calls a.Book.read
        [b.read() for b in Shelf()]
        # ^ calls a.Book.read
        # ^ calls a.Shelf.__init__
        # ^ calls a.Shelf.__iter__
        # ^ calls a.Shelf.__next__
        """,
    "with protocol": """
        # --- a.py
        class Conn:
            def __enter__(self):
                return Cursor(self)
                # ^ calls a.Cursor.__init__
            def __exit__(self, *a):
                self.close()
                # ^ calls a.Conn.close
            def close(self): ...
        class Cursor:
            def __init__(self, conn):
                self.conn = conn
            def run(self):
                self.conn.close()
                # ^ calls a.Conn.close
        with Conn() as cur:
        # ^ calls a.Conn
        # ^ calls a.Conn.__enter__
        # ^ calls a.Conn.__exit__
            cur.run()
            # ^ calls a.Cursor.run
        """,
    "call protocol": """
        # --- a.py
        class Adder:
            def __init__(self, n): self.n = n
            def __call__(self, x):
                return self.apply(x)
                # ^ calls a.Adder.apply
            def apply(self, x): return x
        add = Adder(1)
        # ^ calls a.Adder.__init__
        add(3)
        # ^ calls a.Adder.__call__
        Adder(2)(4)
        # ^ calls a.Adder.__call__
        # ^ calls a.Adder.__init__
        fns = [Adder(3), Adder(4)]
        # ^ calls a.Adder.__init__
        for f in fns:
            f(1)
            # ^ calls a.Adder.__call__
        def use(fn):
            fn(2)
            # ^ calls a.Adder.__call__
        use(add)
        # ^ calls a.use
        """,
    "conditional definition": """
        # --- a.py
        import sys
        if sys.version_info >= (3,):
            def text(): return "3"
        else:
            def text(): return "2"
        text()
        # ^ calls a.text
        class Holder:
            if True:
                def go(self): ...
        Holder().go()
        # ^ calls a.Holder
        # ^ calls a.Holder.go
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
    "class attributes funcs": """
        # --- a.py
        def encode(x): return x
        class Codec:
            encoder = staticmethod(encode)
            table = {"a": encode}
            kinds = [int, encode]
            def go(self):
                self.encoder(1)
                # ^ calls a.encode
                self.table["a"](2)
                # ^ calls a.encode
                Codec.table["a"](3)
                # ^ calls a.encode
                self.kinds[1](4)
                # ^ calls a.encode
        Codec().go()
        # ^ calls a.Codec
        # ^ calls a.Codec.go
        Codec.encoder(5)
        # ^ calls a.encode
        """,
    "exceptions methods": """
        # --- a.py
        class AppError(Exception):
            def __init__(self, msg):
                super().__init__(msg)
                self.tag = self.make()
                # ^ calls a.AppError.make
            def make(self): return 1
            def report(self): ...
        class Deep(AppError): ...
        def cleanup(): ...
        def risky():
            raise Deep("x")
            # ^ calls a.AppError.__init__
            # ^ calls a.Deep
        try:
            risky()
            # ^ calls a.risky
        except (ValueError, AppError) as e:
            e.report()
            # ^ calls a.AppError.report
        finally:
            cleanup()
            # ^ calls a.cleanup
        """,
    "dataclass and namedtuple": """
        # --- a.py
        from dataclasses import dataclass, field
        from typing import NamedTuple
        def blank(): return []
        class Point(NamedTuple):
            x: int
            def norm(self): ...
        @dataclass
        class Shape:
            corner: Point
            tags: list = field(default_factory=blank)
            def __post_init__(self):
                self.check()
                # ^ calls a.Shape.check
            def check(self): ...
            def area(self):
                self.corner.norm()
                # ^ calls a.Point.norm
        s = Shape(Point(1))
        # ^ calls a.Point
        # ^ calls a.Shape
        # ^ calls a.Shape.__post_init__
        # ^ calls a.blank
        s.area()
        # ^ calls a.Shape.area
        """,
    "abstract and enum": """
        # --- a.py
        from abc import ABC, abstractmethod
        from enum import Enum
        class Shape(ABC):
            @abstractmethod
            def area(self): ...
            def describe(self):
                return self.area()
                # ^ calls a.Shape.area
                # ^ calls a.Square.area
        class Square(Shape):
            def area(self): return 4
        class Color(Enum):
            RED = 1
            def paint(self):
                return mix(self)
                # ^ calls a.mix
        def mix(c): ...
        Square().describe()
        # ^ calls a.Shape.describe
        # ^ calls a.Square
        Color.RED.paint()
        # ^ calls a.Color.paint
        for c in Color:
            c.paint()
            # ^ calls a.Color.paint
        """,
    "async": """
        # --- a.py
        import asyncio
        class Client:
            async def __aenter__(self): return self
            async def __aexit__(self, *a): ...
            async def get(self): return Reply()
            # ^ calls a.Reply
        class Reply:
            def text(self): ...
        async def fetch():
            async with Client() as c:
            # ^ calls a.Client
                reply = await c.get()
                # ^ calls a.Client.get
                reply.text()
                # ^ calls a.Reply.text
        async def main():
            await asyncio.gather(fetch(), fetch())
            # ^ calls a.fetch
        asyncio.run(main())
        # ^ calls a.main
        """,
    "recursion higher order": """
        # --- a.py
        def leaf(x): ...
        def walk(tree, visit):
            for node in tree:
                if isinstance(node, list):
                    walk(node, visit)
                    # ^ calls a.walk
                else:
                    visit(node)
                    # ^ calls a.leaf
        walk([1, [2, [3]]], leaf)
        # ^ calls a.walk
        def apply_n(f, n):
            if n:
                f(n)
                # ^ calls a.leaf
                apply_n(f, n - 1)
                # ^ calls a.apply_n
        apply_n(leaf, 2)
        # ^ calls a.apply_n
        """,
    "builder chain": """
        # --- a.py
        class Query:
            def where(self, x):
                return self
            def limit(self, n):
                q = Query()
                # ^ calls a.Query
                return q
            def run(self): return [Row()]
            # ^ calls a.Row
        class Row:
            def get(self): ...
        Query().where(1).limit(2).run()[0].get()
        # ^ calls a.Query
        # ^ calls a.Query.limit
        # ^ calls a.Query.run
        # ^ calls a.Query.where
        # ^ calls a.Row.get
        rows = Query().where(2).run()
        # ^ calls a.Query
        # ^ calls a.Query.run
        # ^ calls a.Query.where
        for row in rows:
            row.get()
            # ^ calls a.Row.get
        """,
    "nested class and self type": """
        # --- a.py
        class Outer:
            class Inner:
                def ping(self): ...
                class Core:
                    def pong(self): ...
            def make(self):
                return self.Inner()
                # ^ calls a.Outer.Inner
            def core(self):
                return Outer.Inner.Core()
                # ^ calls a.Outer.Inner.Core
        o = Outer()
        # ^ calls a.Outer
        o.make().ping()
        # ^ calls a.Outer.Inner.ping
        # ^ calls a.Outer.make
        o.core().pong()
        # ^ calls a.Outer.Inner.Core.pong
        # ^ calls a.Outer.core
        Outer.Inner().ping()
        # ^ calls a.Outer.Inner
        # ^ calls a.Outer.Inner.ping
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
    "functions attributes": """
        # --- a.py
        def greet(): ...
        def fallback(): ...
        greet.backup = fallback
        greet.backup()
        # ^ calls a.fallback
        holder = type("H", (), {})()
        def attach(fn):
            fn.after = fallback
            return fn
        attach(greet).after()
        # ^ calls a.attach
        # ^ calls a.fallback
        f = greet if greet else fallback
        g = greet or fallback
        """,
    "plugins by subclass": """
        # --- base.py
        class Plugin:
            registry = []
            def __init_subclass__(cls, **kw):
                super().__init_subclass__(**kw)
                Plugin.registry.append(cls)
            def run(self):
                return self.name()
                # ^ calls main.Mail.name
            def name(self): return "base"
        # --- main.py
        from base import Plugin
        class Mail(Plugin):
        # ^ calls base.Plugin.__init_subclass__
            def name(self): return "mail"
        def start():
            for kind in Plugin.registry:
                kind().run()
                # ^ calls base.Plugin
                # ^ calls base.Plugin.run
        start()
        # ^ calls main.start
        """,
    "observer": """
        # --- a.py
        class Subject:
            def __init__(self):
                self._watchers = {}
            def watch(self, event, fn):
                self._watchers.setdefault(event, []).append(fn)
            def fire(self, event, *args):
                for fn in self._watchers.get(event, []):
                    fn(*args)
                    # ^ calls a.Screen.draw
                    # ^ calls a.log
        class Screen:
            def draw(self): ...
        def log(): ...
        s = Subject()
        # ^ calls a.Subject.__init__
        screen = Screen()
        # ^ calls a.Screen
        s.watch("x", screen.draw)
        # ^ calls a.Subject.watch
        s.watch("x", log)
        # ^ calls a.Subject.watch
        s.fire("x")
        # ^ calls a.Subject.fire
        """,
    "state machine": """
        # --- a.py
        class Idle:
            def next(self): return Busy()
            # ^ calls a.Busy
        class Busy:
            def next(self): return Idle()
            # ^ calls a.Idle
            def work(self): ...
        class Machine:
            def __init__(self):
                self.state = Idle()
                # ^ calls a.Idle
            def step(self):
                self.state = self.state.next()
                # ^ calls a.Busy.next
                # ^ calls a.Idle.next
        m = Machine()
        # ^ calls a.Machine.__init__
        m.step()
        # ^ calls a.Machine.step
        m.step()
        # ^ calls a.Machine.step
        """,
    "retry decorator": """
        # --- util.py
        from functools import wraps
        def retry(n=3, on=None):
            def deco(fn):
                @wraps(fn)
                def again(*a, **k):
                    for _ in range(n):
                        return fn(*a, **k)
                        # ^ calls main.Job.run
                        # ^ calls main.one
                return again
            return deco
        # --- main.py
        import util
        from util import retry as r
        @util.retry(n=2)
        # ^ calls util.retry
        # ^ calls util.retry.deco
        def one(): ...
        class Job:
            @r()
            # ^ calls util.retry
            # ^ calls util.retry.deco
            def run(self):
                one()
                # ^ calls main.one
                # ^ calls util.retry.deco.again
        Job().run()
        # ^ calls main.Job
        # ^ calls main.Job.run
        # ^ calls util.retry.deco.again
        """,
    "fluent subclass": """
        # --- a.py
        class Base:
            def set(self, k):
                return self
            def done(self): ...
        class Fancy(Base):
            def paint(self):
                return self
            def show(self): ...
        Fancy().set(1).paint().set(2).show()
        # ^ calls a.Base.set
        # ^ calls a.Fancy
        # ^ calls a.Fancy.paint
        # ^ calls a.Fancy.show
        Fancy().set(1).done()
        # ^ calls a.Base.done
        # ^ calls a.Base.set
        # ^ calls a.Fancy
        """,
    "dispatch by type": """
        # --- a.py
        import functools
        def on_int(x): ...
        def on_str(x): ...
        HANDLERS = {int: on_int, str: on_str}
        def handle(x):
            return HANDLERS[type(x)](x)
            # ^ calls a.on_int
            # ^ calls a.on_str
        handle(1)
        # ^ calls a.handle
        handle("a")
        # ^ calls a.handle
        class Visitor:
            def visit(self, node):
                method = getattr(self, "visit_" + node, self.generic)
                return method(node)
                # ^ calls a.Visitor.generic
                # ^ calls a.Visitor.visit_a
            def visit_a(self, node): ...
            def generic(self, node): ...
        Visitor().visit("a")
        # ^ calls a.Visitor
        # ^ calls a.Visitor.visit
        Visitor().visit("z")
        # ^ calls a.Visitor
        # ^ calls a.Visitor.visit
        """,
    "chain of responsibility": """
        # --- a.py
        class Handler:
            def __init__(self, nxt=None):
                self.nxt = nxt
            def handle(self, x):
                if self.nxt:
                    return self.nxt.handle(x)
                    # ^ calls a.Handler.handle
                return self.finish(x)
                # ^ calls a.Handler.finish
            def finish(self, x): ...
        h = Handler(Handler(Handler()))
        # ^ calls a.Handler.__init__
        h.handle(1)
        # ^ calls a.Handler.handle
        """,
    "nested functions deep": """
        # --- a.py
        def leaf(): ...
        def outer(cb):
            def mid():
                def inner():
                    cb()
                    # ^ calls a.leaf
                    leaf()
                    # ^ calls a.leaf
                return inner
            return mid
        outer(leaf)()()
        # ^ calls a.outer
        # ^ calls a.outer.mid
        # ^ calls a.outer.mid.inner
        fs = [outer(leaf), outer(leaf)]
        # ^ calls a.outer
        for f in fs:
            f()()
            # ^ calls a.outer.mid
            # ^ calls a.outer.mid.inner
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
    "module level alias": """
        # --- core/__init__.py
        from . import impl
        from .impl import Engine as _Engine
        Engine = _Engine
        start = impl.start
        # --- core/impl.py
        class Engine:
            def go(self): start()
            # ^ calls core.impl.start
        def start(): ...
        # --- main.py
        import core
        from core import Engine
        core.start()
        # ^ calls core.impl.start
        Engine().go()
        # ^ calls core.impl.Engine
        # ^ calls core.impl.Engine.go
        core.impl.start()
        # ^ calls core.impl.start
        e = core.Engine()
        # ^ calls core.impl.Engine
        e.go()
        # ^ calls core.impl.Engine.go
        """,
    "context generator": """
        # --- a.py
        from contextlib import contextmanager
        class Lock:
            def acquire(self): ...
            def release(self): ...
            def __enter__(self):
                self.acquire()
                # ^ calls a.Lock.acquire
                return self
            def __exit__(self, *a):
                self.release()
                # ^ calls a.Lock.release
            def touch(self): ...
        @contextmanager
        def held(lock):
            lock.acquire()
            # ^ calls a.Lock.acquire
            yield lock
            lock.release()
            # ^ calls a.Lock.release
        with Lock() as l, Lock():
        # ^ calls a.Lock
        # ^ calls a.Lock.__enter__
        # ^ calls a.Lock.__exit__
            l.touch()
            # ^ calls a.Lock.touch
        with held(Lock()) as k:
        # ^ calls a.Lock
        # ^ calls a.held
            k.touch()
            # ^ calls a.Lock.touch
        """,
    "arith matrix": """
        # --- a.py
        class Money:
            def __init__(self, n): self.n = n
            def __add__(self, o): return Money(self.n + o.n)
            # ^ calls a.Money.__init__
            def __lt__(self, o): return self.n < o.n
            def __str__(self): return self.show()
            # ^ calls a.Money.show
            def show(self): return str(self.n)
            def __bool__(self): return True
        total = Money(1) + Money(2) + Money(3)
        # ^ calls a.Money.__add__
        # ^ calls a.Money.__init__
        total.show()
        # ^ calls a.Money.show
        str(total)
        # ^ calls a.Money.__str__
        sorted([total, Money(1)])
        # ^ calls a.Money.__init__
        # ^ calls a.Money.__lt__
        def bigger(a, b):
            return a if a < b else b
            # ^ calls a.Money.__lt__
        bigger(total, Money(9)).show()
        # ^ calls a.Money.__init__
        # ^ calls a.Money.show
        # ^ calls a.bigger
        """,
    "partialmethod map": """
        # --- a.py
        from functools import partial
        def send(kind, text): ...
        info = partial(send, "info")
        senders = {"info": info, "warn": partial(send, "warn")}
        info("x")
        # ^ calls a.send
        senders["warn"]("y")
        # ^ calls a.send
        list(map(partial(send, "z"), ["a"]))
        # ^ calls a.send
        class Box:
            def put(self, k, v): ...
            def fill(self):
                put_a = partial(self.put, "a")
                put_a(1)
                # ^ calls a.Box.put
        Box().fill()
        # ^ calls a.Box
        # ^ calls a.Box.fill
        """,
    "generators pipeline": """
        # --- a.py
        class Rec:
            def clean(self): return self
            def save(self): ...
        def read():
            for _ in range(2):
                yield Rec()
                # ^ calls a.Rec
        def clean(rows):
            for r in rows:
                yield r.clean()
                # ^ calls a.Rec.clean
        def save(rows):
            for r in rows:
                r.save()
                # ^ calls a.Rec.save
        save(clean(read()))
        # ^ calls a.clean
        # ^ calls a.read
        # ^ calls a.save
        first, *rest = [r for r in read()]
        # ^ calls a.read
        first.save()
        # ^ calls a.Rec.save
        """,
}
