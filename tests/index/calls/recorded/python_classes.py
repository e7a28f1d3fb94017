"""Recorded programs of Python: classes, their bases and their instances."""

from __future__ import annotations

PROGRAMS = {
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
}
