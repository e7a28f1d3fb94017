"""Snippets of Python, one for each feature, with recorded calls (`record.py`)."""

from __future__ import annotations

PROGRAMS = {
    "assignments: chained, starred, augmented and walrus": """
        # --- main.py
        def one(): return 1
        def two(): return 2
        def three(): return 3
        first = second = one
        first()
        # ^ calls main.one
        second()
        # ^ calls main.one
        head, *tail = [one, two, three]
        head()
        # ^ calls main.one
        tail[0]()
        # ^ calls main.two
        for fn in tail:
            fn()
            # ^ calls main.three
            # ^ calls main.two
        (a, b), c = (one, two), three
        b()
        # ^ calls main.two
        c()
        # ^ calls main.three
        if (found := {"k": two}.get("k")):
            found()
            # ^ calls main.two
        a, b = b, a
        a()
        # ^ calls main.two
        b()
        # ^ calls main.one
        class Config: pass
        config = Config()
        # ^ calls main.Config
        config.action = three
        config.action()
        # ^ calls main.three
        steps = [one]
        steps += [two]
        steps[1]()
        # ^ calls main.two
        x = y = None
        x = x or one
        x()
        # ^ calls main.one
        pick = two if a else one
        pick()
        # ^ calls main.two
        """,
    "closures: nonlocal, counters and late binding": """
        # --- main.py
        def make_counter(step):
            count = 0
            def bump():
                nonlocal count
                count += amount()
                # ^ calls main.make_counter.amount
                return count
            def amount():
                return step()
                # ^ calls main.single
            def reset(to=0):
                nonlocal count
                count = to
            return bump, reset
        def single():
            return 1
        bump, reset = make_counter(single)
        # ^ calls main.make_counter
        bump()
        # ^ calls main.make_counter.bump
        reset()
        # ^ calls main.make_counter.reset
        def compose(f, g):
            return lambda x: f(g(x))
            # ^ calls main.double
            # ^ calls main.inc
        def double(x):
            return x * 2
        def inc(x):
            return x + 1
        both = compose(double, inc)
        # ^ calls main.compose
        both(3)
        handlers = []
        for name in ("a", "b"):
            def handle(value, name=name):
                return double(value)
                # ^ calls main.double
            handlers.append(handle)
        for each in handlers:
            each(1)
            # ^ calls main.handle
        def memo(fn):
            seen = {}
            def inner(key):
                if key not in seen:
                    seen[key] = fn(key)
                    # ^ calls main.double
                return seen[key]
            return inner
        fast = memo(double)
        # ^ calls main.memo
        fast(2)
        # ^ calls main.memo.inner
        def outer():
            current = None
            def set_to(fn):
                nonlocal current
                current = fn
            def run():
                return current(5)
                # ^ calls main.inc
            return set_to, run
        set_to, run = outer()
        # ^ calls main.outer
        set_to(inc)
        # ^ calls main.outer.set_to
        run()
        # ^ calls main.outer.run
        """,
    "containers: dictionaries, nested lists and defaults": """
        # --- main.py
        from collections import defaultdict, namedtuple
        def add(a, b): return a + b
        def sub(a, b): return a - b
        def missing(a, b): return None
        ops = {"+": add, "-": sub}
        ops["+"](1, 2)
        # ^ calls main.add
        ops.get("*", missing)(1, 2)
        # ^ calls main.missing
        def calc(sign, a, b):
            return ops.get(sign, missing)(a, b)
            # ^ calls main.missing
            # ^ calls main.sub
        calc("-", 3, 1)
        # ^ calls main.calc
        calc("/", 3, 1)
        # ^ calls main.calc
        for sign, op in ops.items():
            op(1, 1)
            # ^ calls main.add
            # ^ calls main.sub
        for op in ops.values():
            op(2, 2)
            # ^ calls main.add
            # ^ calls main.sub
        nested = {"a": [add, {"b": sub}]}
        nested["a"][0](1, 1)
        # ^ calls main.add
        nested["a"][1]["b"](1, 1)
        # ^ calls main.sub
        groups = defaultdict(list)
        groups["x"].append(add)
        groups["x"][0](1, 2)
        # ^ calls main.add
        for fn in groups["x"]:
            fn(3, 4)
            # ^ calls main.add
        Pair = namedtuple("Pair", "left right")
        pair = Pair(add, sub)
        # ^ calls main.Pair
        pair.left(1, 2)
        # ^ calls main.add
        pair[1](1, 2)
        # ^ calls main.sub
        merged = {**ops, "%": missing}
        merged["%"](1, 1)
        # ^ calls main.missing
        merged["+"](1, 1)
        # ^ calls main.add
        stack = [add]
        stack.append(sub)
        stack.pop()(1, 2)
        # ^ calls main.sub
        table = {name: fn for name, fn in [("p", add), ("m", sub)]}
        table["p"](1, 2)
        # ^ calls main.add
        chosen = {add, sub}
        for fn in chosen:
            fn(1, 2)
            # ^ calls main.add
            # ^ calls main.sub
        """,
    "decorators: with and without arguments, on methods and classes": """
        # --- main.py
        import functools
        def note(text): return text
        def traced(fn):
            @functools.wraps(fn)
            def wrapper(*args, **kwargs):
                note(fn.__name__)
                # ^ calls main.note
                return fn(*args, **kwargs)
                # ^ calls main.Service.run
                # ^ calls main.hello
                # ^ calls main.note
            return wrapper
        def repeat(times):
            def decorate(fn):
                def again(*args):
                    for _ in range(times):
                        result = fn(*args)
                        # ^ calls main.wave
                    return result
                return again
            return decorate
        registry = {}
        def register(cls):
            registry[cls.__name__] = cls
            return cls
        @traced
        # ^ calls main.traced
        def hello(name):
            return note(name)
            # ^ calls main.note
        @repeat(2)
        # ^ calls main.repeat
        # ^ calls main.repeat.decorate
        def wave():
            return hello("x")
            # ^ calls main.hello
            # ^ calls main.traced.wrapper
        hello("a")
        # ^ calls main.hello
        # ^ calls main.traced.wrapper
        wave()
        # ^ calls main.repeat.decorate.again
        # ^ calls main.wave
        @register
        # ^ calls main.register
        class Service:
            @traced
            # ^ calls main.traced
            def run(self):
                return self.inner()
                # ^ calls main.Service.inner
            def inner(self):
                return note("in")
                # ^ calls main.note
            @staticmethod
            def make():
                return Service()
                # ^ calls main.Service
            @property
            def state(self):
                return self.inner()
                # ^ calls main.Service.inner
        Service.make().run()
        # ^ calls main.Service.make
        # ^ calls main.Service.run
        # ^ calls main.traced.wrapper
        Service().state
        # ^ calls main.Service
        # ^ calls main.Service.state
        registry["Service"]().inner()
        # ^ calls main.Service
        # ^ calls main.Service.inner
        class Cached:
            def __init__(self, fn):
                self.fn = fn
            def __call__(self, *args):
                return self.fn(*args)
                # ^ calls main.slow
        @Cached
        # ^ calls main.Cached.__init__
        def slow(x):
            return note(x)
            # ^ calls main.note
        slow(1)
        # ^ calls main.Cached.__call__
        # ^ calls main.slow
        manual = traced(note)
        # ^ calls main.traced
        manual("m")
        # ^ calls main.traced.wrapper
        """,
    "generators: pipelines, send and context managers": """
        # --- main.py
        from contextlib import contextmanager
        class Row:
            def __init__(self, n): self.n = n
            def show(self): return fmt(self.n)
            # ^ calls main.fmt
        def fmt(n): return str(n)
        def rows(count):
            for n in range(count):
                yield Row(n)
                # ^ calls main.Row.__init__
        def evens(source):
            for row in source:
                if row.n % 2 == 0:
                    yield row
        def chain(*sources):
            for source in sources:
                yield from source
        for row in evens(rows(4)):
        # ^ calls main.evens
        # ^ calls main.rows
            row.show()
            # ^ calls main.Row.show
        for row in chain(rows(1), evens(rows(2))):
        # ^ calls main.chain
        # ^ calls main.evens
        # ^ calls main.rows
            row.show()
            # ^ calls main.Row.show
        shown = [row.show() for row in rows(2)]
        # ^ calls main.Row.show
        # ^ calls main.rows
        next(rows(1)).show()
        # ^ calls main.Row.show
        # ^ calls main.rows
        first, second = rows(2)
        # ^ calls main.rows
        second.show()
        # ^ calls main.Row.show
        lazy = (Row(n) for n in range(2))
        # ^ calls main.Row.__init__
        for row in lazy:
            row.show()
            # ^ calls main.Row.show
        @contextmanager
        def opened(n):
            row = Row(n)
            # ^ calls main.Row.__init__
            try:
                yield row
            finally:
                close(row)
                # ^ calls main.close
        def close(row): return row.show()
        # ^ calls main.Row.show
        with opened(3) as row:
        # ^ calls main.opened
            row.show()
            # ^ calls main.Row.show
        def echo():
            got = yield
            got(1)
            # ^ calls main.fmt
        e = echo()
        # ^ calls main.echo
        next(e)
        try:
            e.send(fmt)
        except StopIteration:
            pass
        class Bag:
            def __init__(self, items): self.items = items
            def __iter__(self): return iter(self.items)
            def __len__(self): return len(self.items)
        for item in Bag([Row(1)]):
        # ^ calls main.Bag.__init__
        # ^ calls main.Bag.__iter__
        # ^ calls main.Row.__init__
            item.show()
            # ^ calls main.Row.show
        len(Bag([]))
        # ^ calls main.Bag.__init__
        # ^ calls main.Bag.__len__
        list(map(lambda r: r.show(), rows(2)))
        # ^ calls main.Row.show
        # ^ calls main.rows
        """,
    "inheritance: super, mixins, class methods and abstract bases": """
        # --- base.py
        from abc import ABC, abstractmethod
        class Base(ABC):
            def __init__(self, name):
                self.name = name
                self.setup()
                # ^ calls base.Base.setup
                # ^ calls base.LogMixin.setup
            def setup(self): self.ready = True
            @abstractmethod
            def area(self): ...
            def describe(self): return self.label() + str(self.area())
            # ^ calls base.Base.label
            # ^ calls main.Box.area
            # ^ calls main.Box.label
            # ^ calls main.Circle.area
            # ^ calls main.Cube.area
            def label(self): return self.name
            @classmethod
            def create(cls, *args): return cls(*args)
            # ^ calls main.Box.__init__
            # ^ calls main.Cube
        class LogMixin:
            def log(self, text): return self.label() + text
            # ^ calls base.Base.label
            def setup(self):
                super().setup()
                # ^ calls base.Base.setup
                self.lines = []
        # --- main.py
        from base import Base, LogMixin
        class Circle(LogMixin, Base):
            def __init__(self, r):
                super().__init__("circle")
                # ^ calls base.Base.__init__
                self.r = r
            def area(self): return square(self.r)
            # ^ calls main.square
        class Box(Base):
            def __init__(self, w):
                Base.__init__(self, "box")
                # ^ calls base.Base.__init__
                self.w = w
            def area(self): return square(self.w)
            # ^ calls main.square
            def label(self): return "box " + super().label()
            # ^ calls base.Base.label
        class Cube(Box):
            def area(self): return 6 * super().area()
            # ^ calls main.Box.area
        def square(x): return x * x
        circle = Circle(2)
        # ^ calls main.Circle.__init__
        circle.describe()
        # ^ calls base.Base.describe
        circle.log("x")
        # ^ calls base.LogMixin.log
        Box.create(3).describe()
        # ^ calls base.Base.create
        # ^ calls base.Base.describe
        cube = Cube.create(2)
        # ^ calls base.Base.create
        cube.area()
        # ^ calls main.Cube.area
        cube.label()
        # ^ calls main.Box.label
        shapes = [Circle(1), Cube(1)]
        # ^ calls main.Box.__init__
        # ^ calls main.Circle.__init__
        # ^ calls main.Cube
        for shape in shapes:
            shape.describe()
            # ^ calls base.Base.describe
        total = sum(s.area() for s in shapes)
        # ^ calls main.Circle.area
        # ^ calls main.Cube.area
        getattr(circle, "area")()
        # ^ calls main.Circle.area
        """,
    "imports: packages, aliases and relative names": """
        # --- pkg/__init__.py
        from .core import run, Engine as Motor
        from . import tools
        from .tools import *
        default = run
        # --- pkg/tools.py
        __all__ = ["helper", "Shape"]
        def helper(): return _hidden()
        # ^ calls pkg.tools._hidden
        def _hidden(): return 1
        class Shape:
            def draw(self): return helper()
            # ^ calls pkg.tools.helper
        # --- pkg/core.py
        from . import tools as t
        def run(task=None):
            return (task or t.helper)()
            # ^ calls pkg.tools.helper
        class Engine:
            part = t.Shape()
            # ^ calls pkg.tools.Shape
            def start(self): return self.part.draw()
            # ^ calls pkg.tools.Shape.draw
        # --- main.py
        import pkg
        import pkg.tools as tl
        from pkg import Motor, helper, default
        from pkg.core import run as go
        import importlib
        pkg.run()
        # ^ calls pkg.core.run
        pkg.run(helper)
        # ^ calls pkg.core.run
        go(tl.helper)
        # ^ calls pkg.core.run
        default()
        # ^ calls pkg.core.run
        Motor().start()
        # ^ calls pkg.core.Engine
        # ^ calls pkg.core.Engine.start
        pkg.tools.Shape().draw()
        # ^ calls pkg.tools.Shape
        # ^ calls pkg.tools.Shape.draw
        tl._hidden()
        # ^ calls pkg.tools._hidden
        def late():
            from pkg.core import Engine
            return Engine().start()
            # ^ calls pkg.core.Engine
            # ^ calls pkg.core.Engine.start
        late()
        # ^ calls main.late
        mod = importlib.import_module("pkg.tools")
        mod.helper()
        # ^ calls pkg.tools.helper
        engine = pkg.Motor()
        # ^ calls pkg.core.Engine
        engine.part.draw()
        # ^ calls pkg.tools.Shape.draw
        """,
    "keyword arguments: defaults, stars and callables": """
        # --- main.py
        def first(): return 1
        def second(): return 2
        def run(action=first, *, before=None, after=second):
            if before is not None:
                before()
                # ^ calls main.first
                # ^ calls main.second
            action()
            # ^ calls main.first
            # ^ calls main.second
            return after()
            # ^ calls main.first
            # ^ calls main.second
        run()
        # ^ calls main.run
        run(second)
        # ^ calls main.run
        run(action=second, before=first, after=first)
        # ^ calls main.run
        def spread(*actions, **named):
            for action in actions:
                action()
                # ^ calls main.first
            for name, action in named.items():
                action()
                # ^ calls main.second
            return named["last"]()
            # ^ calls main.second
        spread(first, last=second)
        # ^ calls main.spread
        options = {"before": second}
        run(**options)
        # ^ calls main.run
        run(*[second])
        # ^ calls main.run
        def forward(*args, **kwargs):
            return run(*args, **kwargs)
            # ^ calls main.run
        forward(first, after=second)
        # ^ calls main.forward
        class Button:
            def __init__(self, label, on_click=None, **extra):
                self.on_click = on_click or self.ignore
                self.extra = extra
            def ignore(self): return first()
            # ^ calls main.first
            def click(self): return self.on_click()
            # ^ calls main.Button.ignore
            # ^ calls main.second
        Button("a").click()
        # ^ calls main.Button.__init__
        # ^ calls main.Button.click
        Button("b", on_click=second).click()
        # ^ calls main.Button.__init__
        # ^ calls main.Button.click
        Button("c", on_hover=first).extra["on_hover"]()
        # ^ calls main.Button.__init__
        # ^ calls main.first
        sorted([3, 1], key=lambda x: second())
        # ^ calls main.second
        def with_default(make=lambda: first()):
        # ^ calls main.first
            return make()
            # ^ calls main.with_default
        with_default()
        # ^ calls main.with_default
        from functools import partial
        bound = partial(run, before=second)
        bound()
        # ^ calls main.run
        """,
    "returns: functions, tuples, instances and early exits": """
        # --- main.py
        def one(): return 1
        def two(): return 2
        def choose(flag):
            if flag:
                return one
            return two
        choose(True)()
        # ^ calls main.choose
        # ^ calls main.one
        def pair():
            return one, two
        left, right = pair()
        # ^ calls main.pair
        left()
        # ^ calls main.one
        pair()[1]()
        # ^ calls main.pair
        # ^ calls main.two
        class Node:
            def __init__(self, value): self.value = value
            def child(self): return Node(self.value)
            # ^ calls main.Node.__init__
            def me(self): return self
            def fn(self): return two
        Node(1).child().me().fn()()
        # ^ calls main.Node.__init__
        # ^ calls main.Node.child
        # ^ calls main.Node.fn
        # ^ calls main.Node.me
        # ^ calls main.two
        def build(kind):
            kinds = {"node": Node, "leaf": Leaf}
            return kinds[kind]
        class Leaf(Node):
            def fn(self): return one
        build("leaf")(2).fn()
        # ^ calls main.Leaf
        # ^ calls main.Leaf.fn
        # ^ calls main.Node.__init__
        # ^ calls main.build
        def find(items):
            for item in items:
                if item: return item
            return None
        find([None, two])()
        # ^ calls main.find
        # ^ calls main.two
        def make_class():
            class Inner:
                def go(self): return one()
                # ^ calls main.one
            return Inner
        make_class()().go()
        # ^ calls main.make_class
        # ^ calls main.make_class.Inner
        # ^ calls main.make_class.Inner.go
        def attempt():
            try:
                return risky()
                # ^ calls main.risky
            except ValueError:
                return one
        def risky(): raise ValueError
        attempt()()
        # ^ calls main.attempt
        # ^ calls main.one
        def recurse(n): return n if n <= 0 else recurse(n - 1)
        # ^ calls main.recurse
        recurse(2)
        # ^ calls main.recurse
        def nested():
            def a(): return b
            def b(): return two
            return a
        nested()()()()
        # ^ calls main.nested
        # ^ calls main.nested.a
        # ^ calls main.nested.b
        # ^ calls main.two
        def opt(x=None):
            x = x or one
            return x
        opt()()
        # ^ calls main.one
        # ^ calls main.opt
        opt(two)()
        # ^ calls main.opt
        # ^ calls main.two
        """,
    "classes: properties, operators, data classes and enums": """
        # --- main.py
        from dataclasses import dataclass, field
        from enum import Enum
        def norm(x): return abs(x)
        @dataclass
        class Point:
            x: int
            y: int = 0
            tags: list = field(default_factory=list)
            def __post_init__(self): self.check()
            # ^ calls main.Point.check
            def check(self): return norm(self.x)
            # ^ calls main.norm
            def __add__(self, other): return Point(self.x + other.x)
            # ^ calls main.Point
            # ^ calls main.Point.__post_init__
            def __eq__(self, other): return self.check() == other.check()
            # ^ calls main.Point.check
            def __getitem__(self, i): return norm(i)
            # ^ calls main.norm
            @property
            def size(self): return norm(self.x)
            # ^ calls main.norm
            @size.setter
            def size(self, value): self.x = norm(value)
            # ^ calls main.norm
            @classmethod
            def origin(cls): return cls(0)
            # ^ calls main.Point
            # ^ calls main.Point.__post_init__
        p = Point(1) + Point(2)
        # ^ calls main.Point
        # ^ calls main.Point.__add__
        # ^ calls main.Point.__post_init__
        p.check()
        # ^ calls main.Point.check
        p.size
        # ^ calls main.Point.size
        p.size = 3
        # ^ calls main.Point.size
        p[0]
        # ^ calls main.Point.__getitem__
        p == Point.origin()
        # ^ calls main.Point.__eq__
        # ^ calls main.Point.origin
        class Mode(Enum):
            FAST = "fast"
            SLOW = "slow"
            def label(self): return norm(1)
            # ^ calls main.norm
            @classmethod
            def parse(cls, text): return cls(text)
            # ^ calls main.Mode
        Mode.FAST.label()
        # ^ calls main.Mode.label
        Mode.parse("slow").label()
        # ^ calls main.Mode.label
        # ^ calls main.Mode.parse
        for mode in Mode:
            mode.label()
            # ^ calls main.Mode.label
        class Stack:
            def __init__(self): self._items = []
            def push(self, item):
                self._items.append(item)
                return self
            def pop(self): return self._items.pop()
            def __enter__(self): return self
            def __exit__(self, *args): self._items.clear()
            def __contains__(self, item): return item in self._items
        with Stack() as stack:
        # ^ calls main.Stack.__enter__
        # ^ calls main.Stack.__exit__
        # ^ calls main.Stack.__init__
            stack.push(p).push(Point(5)).pop().check()
            # ^ calls main.Point
            # ^ calls main.Point.__post_init__
            # ^ calls main.Point.check
            # ^ calls main.Stack.pop
            # ^ calls main.Stack.push
            p in stack
            # ^ calls main.Stack.__contains__
        class Meta(type):
            def __call__(cls, *args): return super().__call__(*args)
        class Single(metaclass=Meta):
            def use(self): return norm(2)
            # ^ calls main.norm
        Single().use()
        # ^ calls main.Meta.__call__
        # ^ calls main.Single
        # ^ calls main.Single.use
        """,
}
