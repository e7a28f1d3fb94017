"""More features of Python, each as a small program that says which functions its lines call."""

from __future__ import annotations

PROGRAMS = {
    "assignments: starred, swapped and nested": """
        # --- a.py
        def one(): ...
        def two(): ...
        def three(): ...
        head, *tail = one, two, three
        head()
        # ^ calls a.one
        tail[0]()
        # ^ calls a.two
        [x, (y, z)] = [one, [two, three]]
        z()
        # ^ calls a.three
        a = one
        b = two
        a, b = b, a
        a()
        # ^ calls a.two
        """,
    "assignments: a name in a function, and a global": """
        # --- a.py
        def one(): ...
        def two(): ...
        handler = one
        def set_it():
            global handler
            handler = two
        def go():
            local = one
            again = local
            again()
            # ^ calls a.one
        set_it()
        # ^ calls a.set_it
        go()
        # ^ calls a.go
        """,
    "assignments: by a condition": """
        # --- a.py
        import sys
        def one(): ...
        def two(): ...
        f = one if sys.argv else two
        f()
        # ^ calls a.one
        # ^ calls a.two
        g = None or one
        g()
        # ^ calls a.one
        """,
    "assignments: branches of a statement": """
        # --- a.py
        import sys
        def one(): ...
        def two(): ...
        def go(flag):
            if flag:
                f = one
            else:
                f = two
            f()
            # ^ calls a.one
            # ^ calls a.two
        go(1)
        # ^ calls a.go
        """,
    "assignments: attributes of a class and of an instance": """
        # --- a.py
        def one(): ...
        def two(): ...
        class Box:
            run = one
        Box.stop = two
        Box.run()
        # ^ calls a.one
        Box.stop()
        # ^ calls a.two
        box = Box()
        # ^ calls a.Box
        box.go = two
        box.go()
        # ^ calls a.two
        """,
    "assignments: attributes of a module": """
        # --- conf.py
        def usual(): ...
        hook = usual
        # --- a.py
        import conf
        conf.hook()
        # ^ calls conf.usual
        """,
    "assignments: augmented lists": """
        # --- a.py
        def one(): ...
        def two(): ...
        steps = [one]
        steps += [two]
        for step in steps:
            step()
            # ^ calls a.one
            # ^ calls a.two
        """,
    "closures: nonlocal": """
        # --- a.py
        def one(): ...
        def outer():
            f = None
            def setter():
                nonlocal f
                f = one
            def caller():
                f()
                # ^ calls a.one
            setter()
            # ^ calls a.outer.setter
            caller()
            # ^ calls a.outer.caller
        outer()
        # ^ calls a.outer
        """,
    "closures: a captured parameter that is called later": """
        # --- a.py
        def work(): ...
        def defer(task):
            def run():
                return task()
                # ^ calls a.work
            return run
        later = defer(work)
        # ^ calls a.defer
        later()
        # ^ calls a.defer.run
        """,
    "closures: three levels": """
        # --- a.py
        def first():
            def second():
                def third(): ...
                return third
            return second
        first()()()
        # ^ calls a.first
        # ^ calls a.first.second
        # ^ calls a.first.second.third
        """,
    "nested functions: the inner name wins": """
        # --- a.py
        def helper(): ...
        def outer():
            def helper(): ...
            helper()
            # ^ calls a.outer.helper
        def other():
            helper()
            # ^ calls a.helper
        class K:
            def m(self):
                def n(): ...
                n()
                # ^ calls a.K.m.n
        """,
    "containers: assigned items": """
        # --- a.py
        def one(): ...
        def two(): ...
        table = {}
        table["a"] = one
        table["b"] = two
        table["a"]()
        # ^ calls a.one
        steps = []
        steps.append(two)
        steps[0]()
        # ^ calls a.two
        for step in steps:
            step()
            # ^ calls a.two
        """,
    "containers: values and items of a dictionary": """
        # --- a.py
        def one(): ...
        table = {"a": one}
        for f in table.values():
            f()
            # ^ calls a.one
        for key, f in table.items():
            f()
            # ^ calls a.one
        for key in table:
            table[key]()
            # ^ calls a.one
        table.get("a")()
        # ^ calls a.one
        dict(a=one)["a"]()
        # ^ calls a.one
        """,
    "containers: nested": """
        # --- a.py
        def one(): ...
        def two(): ...
        table = {"a": {"b": [one, two]}}
        table["a"]["b"][1]()
        # ^ calls a.two
        rows = [[one], (two,)]
        rows[0][0]()
        # ^ calls a.one
        for row in rows:
            for f in row:
                f()
                # ^ calls a.one
                # ^ calls a.two
        """,
    "containers: comprehensions": """
        # --- a.py
        def one(): ...
        def two(): ...
        [f() for f in (one, two)]
        # ^ calls a.one
        # ^ calls a.two
        made = [f for f in [one]]
        made[0]()
        # ^ calls a.one
        table = {name: f for name, f in [("x", two)]}
        table["x"]()
        # ^ calls a.two
        held = {f for f in [one]}
        for g in held:
            g()
            # ^ calls a.one
        """,
    "containers: slices and negative positions": """
        # --- a.py
        def one(): ...
        def two(): ...
        def three(): ...
        fs = [one, two, three]
        fs[1:][0]()
        # ^ calls a.two
        fs[-1]()
        # ^ calls a.three
        for f in fs[:1]:
            f()
            # ^ calls a.one
        """,
    "containers: tuples, starred and added": """
        # --- a.py
        def one(): ...
        def two(): ...
        base = (one,)
        more = (*base, two)
        for f in more:
            f()
            # ^ calls a.one
            # ^ calls a.two
        both = [one] + [two]
        both[1]()
        # ^ calls a.two
        merged = {**{"a": one}, "b": two}
        merged["a"]()
        # ^ calls a.one
        """,
    "containers: what a parameter holds": """
        # --- a.py
        def one(): ...
        def run_all(steps):
            for step in steps:
                step()
                # ^ calls a.one
        run_all([one])
        # ^ calls a.run_all
        def by_name(table):
            table["k"]()
            # ^ calls a.one
        by_name({"k": one})
        # ^ calls a.by_name
        """,
    "containers: instances in lists": """
        # --- a.py
        class A:
            def go(self): ...
        class B:
            def go(self): ...
        for x in [A(), B()]:
            # ^ calls a.A
            # ^ calls a.B
            x.go()
            # ^ calls a.A.go
            # ^ calls a.B.go
        """,
    "decorators: a wrapper that is called": """
        # --- a.py
        import functools
        def log(function):
            @functools.wraps(function)
            def wrapper(*args, **kwargs):
                return function(*args, **kwargs)
                # ^ calls a.work
            return wrapper
        @log
        # ^ calls a.log
        def work(): ...
        """,
    "decorators: stacked": """
        # --- a.py
        def first(function):
            return function
        def second(function):
            return function
        @first
        # ^ calls a.first
        @second
        # ^ calls a.second
        def work(): ...
        work()
        # ^ calls a.work
        """,
    "decorators: with arguments": """
        # --- a.py
        def times(n):
            def decorate(function):
                def wrapper():
                    function()
                    # ^ calls a.work
                return wrapper
            return decorate
        @times(3)
        # ^ calls a.times
        # ^ calls a.times.decorate
        def work(): ...
        """,
    "decorators: a class as a decorator": """
        # --- a.py
        class Counted:
            def __init__(self, function):
                self.function = function
            def __call__(self):
                self.function()
                # ^ calls a.work
        @Counted
        # ^ calls a.Counted.__init__
        def work(): ...
        """,
    "decorators: of a class": """
        # --- a.py
        def register(cls):
            return cls
        @register
        # ^ calls a.register
        class Plugin:
            def run(self): ...
        Plugin().run()
        # ^ calls a.Plugin
        # ^ calls a.Plugin.run
        """,
    "decorators: a method of an object": """
        # --- a.py
        class App:
            def __init__(self):
                self.routes = {}
            def route(self, path):
                def add(function):
                    self.routes[path] = function
                    return function
                return add
        app = App()
        # ^ calls a.App.__init__
        @app.route("/")
        # ^ calls a.App.route
        # ^ calls a.App.route.add
        def index(): ...
        index()
        # ^ calls a.index
        """,
    "generators: send and a loop": """
        # --- a.py
        def one(): ...
        def steps():
            yield one
            yield one
        for step in steps():
            # ^ calls a.steps
            step()
            # ^ calls a.one
        it = steps()
        # ^ calls a.steps
        next(it)()
        # ^ calls a.one
        """,
    "generators: yield from": """
        # --- a.py
        def one(): ...
        def inner():
            yield one
        def outer():
            yield from inner()
            # ^ calls a.inner
        for f in outer():
            # ^ calls a.outer
            f()
            # ^ calls a.one
        """,
    "generators: expressions": """
        # --- a.py
        def one(): ...
        fs = (f for f in [one])
        for f in fs:
            f()
            # ^ calls a.one
        any(g() for g in [one])
        # ^ calls a.one
        """,
    "iterators: a class with __iter__ and __getitem__": """
        # --- a.py
        def one(): ...
        class Steps:
            def __init__(self):
                self.held = [one]
            def __iter__(self):
                return iter(self.held)
            def __getitem__(self, i):
                return self.held[i]
        for step in Steps():
        # ^ calls a.Steps.__iter__
            # ^ calls a.Steps.__init__
            step()
            # ^ calls a.one
        Steps()[0]()
        # ^ calls a.Steps.__getitem__
        # ^ calls a.Steps.__init__
        # ^ calls a.one
        """,
    "context managers: a class": """
        # --- a.py
        class Session:
            def __enter__(self):
                return self
            def __exit__(self, *details): ...
            def get(self): ...
        with Session() as session:
        # ^ calls a.Session.__enter__
        # ^ calls a.Session.__exit__
            # ^ calls a.Session
            session.get()
            # ^ calls a.Session.get
        """,
    "context managers: another value": """
        # --- a.py
        import contextlib
        class Cursor:
            def run(self): ...
        class Connection:
            def __enter__(self):
                return Cursor()
                # ^ calls a.Cursor
            def __exit__(self, *details): ...
        with Connection() as cursor:
        # ^ calls a.Connection.__enter__
        # ^ calls a.Connection.__exit__
            # ^ calls a.Connection
            cursor.run()
            # ^ calls a.Cursor.run
        @contextlib.contextmanager
        def opened():
            yield Cursor()
            # ^ calls a.Cursor
        with opened() as c:
            # ^ calls a.opened
            c.run()
            # ^ calls a.Cursor.run
        """,
    "inheritance: the order of several bases": """
        # --- a.py
        class Base:
            def hello(self): ...
        class Left(Base):
            pass
        class Right(Base):
            def hello(self): ...
        class Child(Left, Right):
            pass
        Child().hello()
        # ^ calls a.Child
        # ^ calls a.Right.hello
        """,
    "inheritance: super in a diamond": """
        # --- a.py
        class Base:
            def setup(self): ...
        class Left(Base):
            def setup(self):
                super().setup()
                # ^ calls a.Base.setup
        class Child(Left):
            def setup(self):
                super(Child, self).setup()
                # ^ calls a.Left.setup
        """,
    "inheritance: a constructor from above": """
        # --- a.py
        class Base:
            def __init__(self):
                self.run()
                # ^ calls a.Base.run
            def run(self): ...
        class Child(Base):
            pass
        Child()
        # ^ calls a.Child
        # ^ calls a.Base.__init__
        Base.run(Child())
        # ^ calls a.Child
        # ^ calls a.Base.run
        # ^ calls a.Base.__init__
        """,
    "inheritance: mixins": """
        # --- a.py
        class Saves:
            def save(self):
                self.validate()
                # ^ calls a.Checks.validate
        class Checks:
            def validate(self): ...
        class Model(Saves, Checks):
            def go(self):
                self.save()
                # ^ calls a.Saves.save
        """,
    "inheritance: a method that only subclasses have": """
        # --- a.py
        class Base:
            def go(self):
                self.step()
                # ^ calls a.Child.step
        class Child(Base):
            def step(self): ...
        Child().go()
        # ^ calls a.Child
        # ^ calls a.Base.go
        """,
    "metaclasses: __call__ and attributes": """
        # --- a.py
        class Meta(type):
            def make(cls): ...
        class Thing(metaclass=Meta):
            def use(self): ...
        Thing.make()
        # ^ calls a.Meta.make
        Thing().use()
        # ^ calls a.Thing
        # ^ calls a.Thing.use
        """,
    "methods: class and static": """
        # --- a.py
        class Shop:
            @classmethod
            def open(cls):
                return cls()
                # ^ calls a.Shop
            @staticmethod
            def close(): ...
            def go(self): ...
        Shop.open().go()
        # ^ calls a.Shop.open
        # ^ calls a.Shop.go
        Shop.close()
        # ^ calls a.Shop.close
        Shop().close()
        # ^ calls a.Shop
        # ^ calls a.Shop.close
        """,
    "methods: held in names": """
        # --- a.py
        class Shop:
            def open(self): ...
            def go(self):
                start = self.open
                start()
                # ^ calls a.Shop.open
        shop = Shop()
        # ^ calls a.Shop
        bound = shop.open
        bound()
        # ^ calls a.Shop.open
        loose = Shop.open
        loose(shop)
        # ^ calls a.Shop.open
        """,
    "properties: what they return": """
        # --- a.py
        def one(): ...
        class Shop:
            @property
            def hook(self):
                return one
        Shop().hook()
        # ^ calls a.Shop
        # ^ calls a.Shop.hook
        # ^ calls a.one
        """,
    "keyword arguments: mixed": """
        # --- a.py
        def one(): ...
        def two(): ...
        def run(first, *, second=None, **rest):
            first()
            # ^ calls a.one
            second()
            # ^ calls a.two
        run(one, second=two)
        # ^ calls a.run
        """,
    "keyword arguments: to a constructor": """
        # --- a.py
        def one(): ...
        class Job:
            def __init__(self, name, work):
                self.work = work
            def go(self):
                self.work()
                # ^ calls a.one
        Job("x", work=one).go()
        # ^ calls a.Job.__init__
        # ^ calls a.Job.go
        """,
    "defaults: a function": """
        # --- a.py
        def one(): ...
        def run(task=one):
            task()
            # ^ calls a.one
        run()
        # ^ calls a.run
        """,
    "defaults: a function and another that is passed": """
        # --- a.py
        def one(): ...
        def two(): ...
        def run(task=one):
            task()
            # ^ calls a.one
            # ^ calls a.two
        run()
        # ^ calls a.run
        run(two)
        # ^ calls a.run
        """,
    "arguments: star": """
        # --- a.py
        def one(): ...
        def two(): ...
        def run(*tasks):
            for task in tasks:
                task()
                # ^ calls a.one
                # ^ calls a.two
        run(one, two)
        # ^ calls a.run
        """,
    "arguments: two stars": """
        # --- a.py
        def one(): ...
        def run(**tasks):
            tasks["a"]()
            # ^ calls a.one
        run(a=one)
        # ^ calls a.run
        def pair(a, b):
            a()
            # ^ calls a.one
        given = {"a": one, "b": None}
        pair(**given)
        # ^ calls a.pair
        """,
    "arguments: a list that is spread": """
        # --- a.py
        def one(): ...
        def two(): ...
        def run(first, second):
            second()
            # ^ calls a.two
        run(*[one, two])
        # ^ calls a.run
        """,
    "arguments: several callers": """
        # --- a.py
        def one(): ...
        def two(): ...
        def run(task):
            task()
            # ^ calls a.one
            # ^ calls a.two
        run(one)
        # ^ calls a.run
        run(two)
        # ^ calls a.run
        """,
    "arguments: passed on": """
        # --- a.py
        def one(): ...
        def inner(task):
            task()
            # ^ calls a.one
        def outer(task):
            inner(task)
            # ^ calls a.inner
        outer(one)
        # ^ calls a.outer
        """,
    "arguments: instances": """
        # --- a.py
        class Dog:
            def speak(self): ...
        def hear(animal):
            animal.speak()
            # ^ calls a.Dog.speak
        hear(Dog())
        # ^ calls a.hear
        # ^ calls a.Dog
        rex = Dog()
        # ^ calls a.Dog
        def pat(animal):
            animal.speak()
            # ^ calls a.Dog.speak
        pat(rex)
        # ^ calls a.pat
        """,
    "arguments: classes": """
        # --- a.py
        class Dog:
            def speak(self): ...
        def make(kind):
            return kind()
            # ^ calls a.Dog
        make(Dog).speak()
        # ^ calls a.make
        # ^ calls a.Dog.speak
        """,
    "arguments: methods": """
        # --- a.py
        class Dog:
            def speak(self): ...
            def start(self):
                run(self.speak)
                # ^ calls a.run
        def run(task):
            task()
            # ^ calls a.Dog.speak
        """,
    "returns: a function and a class": """
        # --- a.py
        class A:
            def go(self): ...
        def one(): ...
        def get():
            return one
        def kind():
            return A
        get()()
        # ^ calls a.get
        # ^ calls a.one
        kind()().go()
        # ^ calls a.kind
        # ^ calls a.A
        # ^ calls a.A.go
        """,
    "returns: what was given": """
        # --- a.py
        def one(): ...
        def same(x):
            return x
        same(one)()
        # ^ calls a.same
        # ^ calls a.one
        f = same(one)
        # ^ calls a.same
        f()
        # ^ calls a.one
        """,
    "returns: a tuple and a dictionary": """
        # --- a.py
        def one(): ...
        def two(): ...
        def both():
            return one, two
        f, g = both()
        # ^ calls a.both
        g()
        # ^ calls a.two
        def table():
            return {"k": one}
        table()["k"]()
        # ^ calls a.table
        # ^ calls a.one
        """,
    "returns: one of several": """
        # --- a.py
        def one(): ...
        def two(): ...
        def pick(flag):
            if flag:
                return one
            return two
        pick(1)()
        # ^ calls a.pick
        # ^ calls a.one
        # ^ calls a.two
        """,
    "returns: chained calls": """
        # --- a.py
        class Builder:
            def add(self):
                return self
            def build(self):
                return Thing()
                # ^ calls a.Thing
        class Thing:
            def use(self): ...
        Builder().add().add().build().use()
        # ^ calls a.Builder
        # ^ calls a.Builder.add
        # ^ calls a.Builder.build
        # ^ calls a.Thing.use
        """,
    "lambdas: called and passed": """
        # --- a.py
        def one(): ...
        f = lambda: one()
        # ^ calls a.one
        def run(task):
            task()
        run(lambda: one())
        # ^ calls a.run
        # ^ calls a.one
        g = lambda x: x()
        # ^ calls a.one
        g(one)
        # ^ calls a.g
        """,
    "lambdas: their results": """
        # --- a.py
        class A:
            def go(self): ...
        make = lambda: A()
        # ^ calls a.A
        make().go()
        # ^ calls a.make
        # ^ calls a.A.go
        """,
    "callbacks: map, filter, sorted and reduce": """
        # --- a.py
        import functools
        def double(x): ...
        def wanted(x): ...
        def key(x): ...
        def add(a, b): ...
        list(map(double, [1]))
        # ^ calls a.double
        list(filter(wanted, [1]))
        # ^ calls a.wanted
        sorted([1], key=key)
        # ^ calls a.key
        max([1], key=key)
        # ^ calls a.key
        [1].sort(key=key)
        # ^ calls a.key
        functools.reduce(add, [1])
        # ^ calls a.add
        """,
    "callbacks: partial": """
        # --- a.py
        from functools import partial
        import threading
        def work(x): ...
        task = partial(work, 1)
        task()
        # ^ calls a.work
        """,
    "dynamic: getattr with a literal": """
        # --- a.py
        class Shop:
            def open(self): ...
        def one(): ...
        shop = Shop()
        # ^ calls a.Shop
        getattr(shop, "open")()
        # ^ calls a.Shop.open
        method = getattr(shop, "open")
        method()
        # ^ calls a.Shop.open
        setattr(shop, "extra", one)
        shop.extra()
        # ^ calls a.one
        globals()["one"]()
        # ^ calls a.one
        """,
    "dynamic: an instance that is called": """
        # --- a.py
        class Adder:
            def __call__(self, x): ...
        add = Adder()
        # ^ calls a.Adder
        add(1)
        # ^ calls a.Adder.__call__
        Adder()(2)
        # ^ calls a.Adder
        # ^ calls a.Adder.__call__
        """,
    "imports: star with a chain": """
        # --- pkg/__init__.py
        from .core import *
        # --- pkg/core.py
        from ._inner import work
        def run(): ...
        # --- pkg/_inner.py
        def work(): ...
        # --- main.py
        from pkg import *
        run()
        # ^ calls pkg.core.run
        work()
        # ^ calls pkg._inner.work
        """,
    "imports: relative, of several levels": """
        # --- pkg/__init__.py
        # --- pkg/util.py
        def helper(): ...
        # --- pkg/sub/__init__.py
        # --- pkg/sub/mod.py
        from ..util import helper
        from .. import util
        from . import other
        from .other import thing as it
        helper()
        # ^ calls pkg.util.helper
        util.helper()
        # ^ calls pkg.util.helper
        other.thing()
        # ^ calls pkg.sub.other.thing
        it()
        # ^ calls pkg.sub.other.thing
        # --- pkg/sub/other.py
        def thing(): ...
        """,
    "imports: submodules": """
        # --- pkg/__init__.py
        # --- pkg/deep/__init__.py
        # --- pkg/deep/mod.py
        def run(): ...
        class K:
            def m(self): ...
        # --- main.py
        import pkg.deep.mod
        import pkg.deep.mod as short
        from pkg.deep import mod
        pkg.deep.mod.run()
        # ^ calls pkg.deep.mod.run
        short.K().m()
        # ^ calls pkg.deep.mod.K
        # ^ calls pkg.deep.mod.K.m
        mod.run()
        # ^ calls pkg.deep.mod.run
        """,
    "imports: guarded": """
        # --- fast.py
        def run(): ...
        # --- slow.py
        def run(): ...
        # --- main.py
        try:
            from fast import run
        except ImportError:
            from slow import run
        run()
        # ^ calls fast.run
        # ^ calls slow.run
        """,
    "imports: by name": """
        # --- plug.py
        def run(): ...
        # --- main.py
        import importlib
        mod = importlib.import_module("plug")
        mod.run()
        # ^ calls plug.run
        __import__("plug").run()
        # ^ calls plug.run
        """,
    "imports: a class and its base in other files": """
        # --- base.py
        class Base:
            def shared(self): ...
        # --- child.py
        import base
        class Child(base.Base):
            def go(self):
                self.shared()
                # ^ calls base.Base.shared
        # --- main.py
        from child import Child
        Child().shared()
        # ^ calls child.Child
        # ^ calls base.Base.shared
        """,
    "external: calls that leave the program": """
        # --- a.py
        import os
        from json import dumps as to_text
        def join(): ...
        os.path.join("a")
        to_text({})
        print(len([]))
        "".join([])
        """,
    "types: narrowed and declared": """
        # --- a.py
        from typing import Callable, Optional, Iterator
        class A:
            def go(self): ...
        class B:
            def go(self): ...
        def use(x: "Optional[A]", y: A | B, z: Callable[[], A]):
            x.go()
            # ^ calls a.A.go
            y.go()
            # ^ calls a.A.go
            # ^ calls a.B.go
            z().go()
            # ^ calls a.A.go
        """,
    "async: awaited results": """
        # --- a.py
        import asyncio
        class A:
            def go(self): ...
        async def load():
            return A()
            # ^ calls a.A
        async def main():
            a = await load()
            # ^ calls a.load
            a.go()
            # ^ calls a.A.go
            (await load()).go()
            # ^ calls a.load
            # ^ calls a.A.go
            for b in await asyncio.gather(load()):
                # ^ calls a.load
                b.go()
                # ^ calls a.A.go
        asyncio.run(main())
        # ^ calls a.main
        """,
    "dataclasses: fields": """
        # --- a.py
        from dataclasses import dataclass, field
        class Log:
            def write(self): ...
        def make():
            return Log()
            # ^ calls a.Log
        @dataclass
        class Job:
            log: Log
            logs: list[Log] = field(default_factory=list)
            def go(self):
                self.log.write()
                # ^ calls a.Log.write
                self.logs[0].write()
                # ^ calls a.Log.write
        Job(Log()).log.write()
        # ^ calls a.Job
        # ^ calls a.Log
        # ^ calls a.Log.write
        """,
    "operators: methods behind signs": """
        # --- a.py
        class Money:
            def __add__(self, other):
                return Money()
                # ^ calls a.Money
            def show(self): ...
        total = Money() + Money()
        # ^ calls a.Money.__add__
        # ^ calls a.Money
        total.show()
        # ^ calls a.Money.show
        """,
}
