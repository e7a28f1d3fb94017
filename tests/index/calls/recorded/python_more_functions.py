"""More programs of Python, with recorded calls: generators, inheritance, imports, arguments."""

from __future__ import annotations

PROGRAMS = {
    "generators comprehension": """
        # --- a.py
        class Point:
            def move(self): return self
            def draw(self): ...
        points = [Point() for _ in range(3)]
        # ^ calls a.Point
        moved = (p.move() for p in points)
        # ^ calls a.Point.move
        for p in moved:
            p.draw()
            # ^ calls a.Point.draw
        by_id = {i: p for i, p in enumerate(points)}
        by_id[1].draw()
        # ^ calls a.Point.draw
        firsts = [p for p in points if p.move()]
        # ^ calls a.Point.move
        firsts[0].draw()
        # ^ calls a.Point.draw
        max(points, key=lambda p: id(p)).draw()
        # ^ calls a.Point.draw
        next(iter(points)).draw()
        # ^ calls a.Point.draw
        """,
    "generators async": """
        # --- a.py
        import asyncio
        class Msg:
            def ack(self): ...
        async def stream():
            for _ in range(2):
                yield Msg()
                # ^ calls a.Msg
        async def handle(m):
            m.ack()
            # ^ calls a.Msg.ack
        async def main():
            async for m in stream():
            # ^ calls a.stream
                await handle(m)
                # ^ calls a.handle
            await asyncio.gather(handle(Msg()), handle(Msg()))
            # ^ calls a.Msg
            # ^ calls a.handle
            task = asyncio.create_task(handle(Msg()))
            # ^ calls a.Msg
            # ^ calls a.handle
            await task
        asyncio.run(main())
        # ^ calls a.main
        """,
    "inheritance template": """
        # --- base.py
        class Importer:
            def run(self):
                data = self.read()
                # ^ calls csvs.CsvImporter.read
                return self.finish(data)
                # ^ calls base.Importer.finish
            def read(self):
                raise NotImplementedError
            def finish(self, data):
                return data
        # --- csvs.py
        from base import Importer
        class CsvImporter(Importer):
            def read(self):
                return [1]
        # --- main.py
        from csvs import CsvImporter
        CsvImporter().run()
        # ^ calls base.Importer.run
        # ^ calls csvs.CsvImporter
        """,
    "inheritance cooperative": """
        # --- a.py
        class Base:
            def __init__(self, **kw):
                self.ready = True
            def close(self): ...
        class Logs(Base):
            def __init__(self, **kw):
                super().__init__(**kw)
                # ^ calls a.Base.__init__
            def close(self):
                super().close()
                # ^ calls a.Net.close
        class Net(Base):
            def close(self):
                super().close()
                # ^ calls a.Base.close
        class Client(Logs, Net):
            def close(self):
                self.flush()
                # ^ calls a.Client.flush
                super().close()
                # ^ calls a.Logs.close
            def flush(self): ...
        c = Client()
        # ^ calls a.Client
        # ^ calls a.Logs.__init__
        c.close()
        # ^ calls a.Client.close
        """,
    "inheritance classmethods": """
        # --- a.py
        class Model:
            registry = []
            def __init_subclass__(cls, **kw):
                Model.registry.append(cls)
            @classmethod
            def create(cls, **kw):
                obj = cls()
                # ^ calls a.Model
                obj.save()
                # ^ calls a.Model.save
                return obj
            def save(self): return self.table()
            # ^ calls a.User.table
            def table(self): return "m"
        class User(Model):
        # ^ calls a.Model.__init_subclass__
            def table(self): return "u"
            def login(self): ...
        u = User.create()
        # ^ calls a.Model.create
        u.login()
        # ^ calls a.User.login
        u.save().upper()
        # ^ calls a.Model.save
        """,
    "inheritance composition": """
        # --- engine.py
        class Engine:
            def start(self): self.spin()
            # ^ calls engine.Engine.spin
            def spin(self): ...
        # --- car.py
        from engine import Engine
        class Car:
            def __init__(self, engine=None):
                self.engine = engine or Engine()
                # ^ calls engine.Engine
            def go(self):
                self.engine.start()
                # ^ calls engine.Engine.start
                return self
        class Truck(Car):
            def go(self):
                super().go()
                # ^ calls car.Car.go
                self.engine.spin()
                # ^ calls engine.Engine.spin
                return self
        # --- main.py
        from car import Car, Truck
        Car().go().engine.spin()
        # ^ calls car.Car.__init__
        # ^ calls car.Car.go
        # ^ calls engine.Engine.spin
        Truck().go()
        # ^ calls car.Car.__init__
        # ^ calls car.Truck
        # ^ calls car.Truck.go
        """,
    "imports package": """
        # --- pkg/__init__.py
        from .core import Core
        from . import tools
        from .tools import helper as assist
        # --- pkg/core.py
        from .tools import helper
        class Core:
            def run(self):
                helper()
                # ^ calls pkg.tools.helper
                from .extra import late
                late()
                # ^ calls pkg.extra.late
        # --- pkg/extra.py
        def late(): ...
        # --- pkg/tools.py
        def helper(): ...
        def other(): ...
        # --- main.py
        import pkg
        import pkg.extra as ex
        from pkg import assist, tools as t
        pkg.Core().run()
        # ^ calls pkg.core.Core
        # ^ calls pkg.core.Core.run
        pkg.tools.helper()
        # ^ calls pkg.tools.helper
        assist()
        # ^ calls pkg.tools.helper
        t.other()
        # ^ calls pkg.tools.other
        ex.late()
        # ^ calls pkg.extra.late
        """,
    "imports module attribute": """
        # --- settings.py
        class Store:
            def get(self, k): return k
            def put(self, k): ...
        store = Store()
        # ^ calls settings.Store
        default = store
        # --- main.py
        import settings
        from settings import default
        settings.store.get("a")
        # ^ calls settings.Store.get
        default.put("b")
        # ^ calls settings.Store.put
        cfg = settings.store
        cfg.get("c")
        # ^ calls settings.Store.get
        """,
    "imports lazy getattr": """
        # --- plug/__init__.py

        # --- plug/alpha.py
        def setup(): return "a"
        # --- plug/beta.py
        def setup(): return "b"
        # --- main.py
        import importlib
        import plug.alpha
        from plug import beta
        for mod in (plug.alpha, beta):
            mod.setup()
            # ^ calls plug.alpha.setup
            # ^ calls plug.beta.setup
        loaded = importlib.import_module("plug.alpha")
        loaded.setup()
        # ^ calls plug.alpha.setup
        getattr(beta, "setup")()
        # ^ calls plug.beta.setup
        """,
    "kwargs options": """
        # --- a.py
        def upper(s): return s
        def lower(s): return s
        def render(text, *, style=lower, after=None):
            out = style(text)
            # ^ calls a.lower
            # ^ calls a.upper
            if after is not None:
                after(out)
                # ^ calls a.done
            return out
        render("x")
        # ^ calls a.render
        render("y", style=upper)
        # ^ calls a.render
        render("z", after=print)
        # ^ calls a.render
        def done(x): ...
        options = {"after": done}
        render("q", **options)
        # ^ calls a.render
        """,
    "kwargs through init": """
        # --- a.py
        class Codec:
            def encode(self, x): return x
        class Json(Codec):
            def encode(self, x): return str(x)
        class Writer:
            def __init__(self, *, codec, hook=None):
                self.codec = codec
                self._hook = hook
            def write(self, x):
                if self._hook:
                    self._hook(x)
                    # ^ calls a.seen
                return self.codec.encode(x)
                # ^ calls a.Json.encode
        def seen(x): ...
        w = Writer(codec=Json(), hook=seen)
        # ^ calls a.Json
        # ^ calls a.Writer.__init__
        w.write(1)
        # ^ calls a.Writer.write
        """,
    "kwargs forwarding class": """
        # --- a.py
        class Widget:
            def __init__(self, name, on_click=None):
                self.on_click = on_click
            def click(self):
                return self.on_click()
                # ^ calls a.pressed
        def build(cls, *args, **kwargs):
            return cls(*args, **kwargs)
            # ^ calls a.Widget.__init__
        def pressed(): return 1
        w = build(Widget, "ok", on_click=pressed)
        # ^ calls a.build
        w.click()
        # ^ calls a.Widget.click
        """,
    "returns self and none": """
        # --- a.py
        class Query:
            def where(self, x):
                self.x = x
                return self
            def first(self):
                rows = self.all()
                # ^ calls a.Query.all
                return rows[0] if rows else None
            def all(self):
                return [Record()]
                # ^ calls a.Record
        class Record:
            def delete(self): ...
        q = Query()
        # ^ calls a.Query
        rec = q.where(1).where(2).first()
        # ^ calls a.Query.first
        # ^ calls a.Query.where
        if rec:
            rec.delete()
            # ^ calls a.Record.delete
        for r in q.all():
        # ^ calls a.Query.all
            r.delete()
            # ^ calls a.Record.delete
        """,
    "returns several kinds": """
        # --- a.py
        class Ok:
            def unwrap(self): return 1
        class Err:
            def unwrap(self): raise ValueError
            def message(self): return ""
        def parse(text):
            if text:
                return Ok()
                # ^ calls a.Ok
            return Err()
            # ^ calls a.Err
        parse("x").unwrap()
        # ^ calls a.Ok.unwrap
        # ^ calls a.parse
        for text in ("", "y"):
            r = parse(text)
            # ^ calls a.parse
            if isinstance(r, Err):
                r.message()
                # ^ calls a.Err.message
            else:
                r.unwrap()
                # ^ calls a.Ok.unwrap
        """,
    "returns functions dict": """
        # --- a.py
        def add(a, b): return a + b
        def sub(a, b): return a - b
        def table():
            return {"+": add, "-": sub}
        def pick(op):
            return table()[op]
            # ^ calls a.table
        pick("+")(1, 2)
        # ^ calls a.add
        # ^ calls a.pick
        ops = table()
        # ^ calls a.table
        ops["-"](3, 1)
        # ^ calls a.sub
        fn = ops.get("+")
        fn(1, 1)
        # ^ calls a.add
        """,
    "context class and exit stack": """
        # --- a.py
        from contextlib import ExitStack, contextmanager
        class Conn:
            def __enter__(self): return Cursor()
            # ^ calls a.Cursor
            def __exit__(self, *a): self.close()
            # ^ calls a.Conn.close
            def close(self): ...
        class Cursor:
            def execute(self): ...
        @contextmanager
        def session():
            c = Cursor()
            # ^ calls a.Cursor
            try:
                yield c
            finally:
                c.execute()
                # ^ calls a.Cursor.execute
        with Conn() as cur:
        # ^ calls a.Conn
        # ^ calls a.Conn.__enter__
        # ^ calls a.Conn.__exit__
            cur.execute()
            # ^ calls a.Cursor.execute
        with session() as s:
        # ^ calls a.session
            s.execute()
            # ^ calls a.Cursor.execute
        with ExitStack() as stack:
        # ^ calls a.Conn.__exit__
            other = stack.enter_context(Conn())
            # ^ calls a.Conn
            # ^ calls a.Conn.__enter__
            other.execute()
            # ^ calls a.Cursor.execute
        """,
}
