"""Programs of Python as they are written every day, with the calls recorded while they ran."""

from __future__ import annotations

PROGRAMS = {
    "assignments of settings": """
        # --- a.py
        class Settings:
            def __init__(self, **values):
                self.values = values
            def get(self, key):
                return self.values.get(key)
            def merged(self, other):
                joined = dict(self.values)
                joined |= other.values
                return Settings(**joined)
                # ^ calls a.Settings.__init__
        def strict(value): return bool(value)
        def loose(value): return value
        default = current = Settings(mode="a")
        # ^ calls a.Settings.__init__
        check = validate = strict
        (first, second), third = (strict, loose), Settings()
        # ^ calls a.Settings.__init__
        first(1)
        # ^ calls a.strict
        second(2)
        # ^ calls a.loose
        third.get("x")
        # ^ calls a.Settings.get
        check(1)
        # ^ calls a.strict
        validate(2)
        # ^ calls a.strict
        validate = loose
        validate(3)
        # ^ calls a.loose
        current = current.merged(third)
        # ^ calls a.Settings.merged
        current.get("mode")
        # ^ calls a.Settings.get
        if (mode := default.merged(current)) and mode.get("mode"):
        # ^ calls a.Settings.get
        # ^ calls a.Settings.merged
            mode.get("other")
            # ^ calls a.Settings.get
        """,
    "assignments of swapped buffers": """
        # --- a.py
        class Buffer:
            def __init__(self, name): self.name, self.lines = name, []
            def write(self, line):
                self.lines.append(line)
                return self
            def flush(self): self.lines.clear()
        class Log:
            def write(self, line): return self
            def flush(self): ...
        front, back = Buffer("f"), Buffer("b")
        # ^ calls a.Buffer.__init__
        front, back = back, front
        front.write("x").write("y").flush()
        # ^ calls a.Buffer.flush
        # ^ calls a.Buffer.write
        sink, *others = [Log(), front, back]
        # ^ calls a.Log
        sink.write("a")
        # ^ calls a.Log.write
        for other in others:
            other.flush()
            # ^ calls a.Buffer.flush
        *most, last = (front, back, sink)
        last.flush()
        # ^ calls a.Log.flush
        handlers = [front.write, sink.write]
        handlers[0]("q")
        # ^ calls a.Buffer.write
        handlers[1]("r")
        # ^ calls a.Log.write
        writer = handlers[-1]
        writer("s")
        # ^ calls a.Log.write
        """,
    "assignments augmented": """
        # --- a.py
        class Total:
            def __init__(self, amount=0): self.amount = amount
            def __iadd__(self, other):
                self.amount += other
                return self
            def __add__(self, other):
                return Total(self.amount + other)
                # ^ calls a.Total.__init__
            def __eq__(self, other): return self.amount == other.amount
            def show(self): return str(self.amount)
        total = Total()
        # ^ calls a.Total.__init__
        total += 3
        # ^ calls a.Total.__iadd__
        total = total + 4
        # ^ calls a.Total.__add__
        total.show()
        # ^ calls a.Total.show
        parts = []
        parts += [total.show, total.__add__]
        parts[0]()
        # ^ calls a.Total.show
        same = total == Total(7)
        # ^ calls a.Total.__eq__
        # ^ calls a.Total.__init__
        """,
    "closures with nonlocal handlers": """
        # --- a.py
        def debounce(action, limit):
            calls = 0
            pending = None
            def schedule(*args):
                nonlocal calls, pending
                calls += 1
                pending = lambda: action(*args)
                # ^ calls a.save
                if calls >= limit:
                    run()
                    # ^ calls a.debounce.run
            def run():
                nonlocal calls
                calls = 0
                if pending:
                    pending()
                    # ^ calls a.debounce.schedule.pending
            schedule.flush = run
            return schedule
        def save(doc): return render(doc)
        # ^ calls a.render
        def render(doc): return doc
        later = debounce(save, 2)
        # ^ calls a.debounce
        later("a")
        # ^ calls a.debounce.schedule
        later("b")
        # ^ calls a.debounce.schedule
        later.flush()
        # ^ calls a.debounce.run
        """,
    "closures that memoise": """
        # --- a.py
        def memoise(compute):
            known = {}
            def lookup(key):
                if key not in known:
                    known[key] = compute(key)
                    # ^ calls a.cube
                    # ^ calls a.square
                return known[key]
            def forget(): known.clear()
            return lookup, forget
        def square(n): return n * n
        def cube(n): return n * squares(n)
        # ^ calls a.memoise.lookup
        squares, forget_squares = memoise(square)
        # ^ calls a.memoise
        cubes, _ = memoise(cube)
        # ^ calls a.memoise
        cubes(3)
        # ^ calls a.memoise.lookup
        forget_squares()
        # ^ calls a.memoise.forget
        def adders():
            made = []
            for step in range(3):
                def add(n, step=step): return n + step
                made.append(add)
            return made
        for add in adders():
        # ^ calls a.adders
            add(1)
            # ^ calls a.adders.add
        """,
    "containers of commands": """
        # --- a.py
        from collections import defaultdict
        def start(args): return args
        def stop(args): return args
        def usage(args=None): return "usage"
        COMMANDS = {"start": start, "stop": stop, "help": usage}
        ALIASES = {"begin": "start", "end": "stop"}
        def dispatch(argv):
            name, *args = argv
            command = COMMANDS.get(ALIASES.get(name, name), usage)
            return command(args)
            # ^ calls a.start
            # ^ calls a.stop
            # ^ calls a.usage
        dispatch(["begin", "now"])
        # ^ calls a.dispatch
        dispatch(["end"])
        # ^ calls a.dispatch
        dispatch(["other"])
        # ^ calls a.dispatch
        hooks = defaultdict(list)
        hooks["before"].append(start)
        hooks["after"].append(stop)
        for hook in hooks["before"]:
            hook([])
            # ^ calls a.start
        for name, found in hooks.items():
            for hook in found:
                hook([name])
                # ^ calls a.start
                # ^ calls a.stop
        """,
    "containers of shapes": """
        # --- a.py
        class Circle:
            def area(self): return 3
        class Square:
            def area(self): return 4
            def sides(self): return 4
        shapes = [Circle(), Square()]
        # ^ calls a.Circle
        # ^ calls a.Square
        areas = [shape.area() for shape in shapes]
        # ^ calls a.Circle.area
        # ^ calls a.Square.area
        by_name = {type(shape).__name__: shape for shape in shapes}
        by_name["Square"].sides()
        # ^ calls a.Square.sides
        largest = max(shapes, key=lambda shape: shape.area())
        # ^ calls a.Circle.area
        # ^ calls a.Square.area
        grid = [[Square(), Square()], [Square()]]
        # ^ calls a.Square
        for row in grid:
            for cell in row:
                cell.sides()
                # ^ calls a.Square.sides
        grid[0][1].sides()
        # ^ calls a.Square.sides
        first_two = grid[0][:2]
        first_two[0].area()
        # ^ calls a.Square.area
        stack = []
        stack.append(Circle())
        # ^ calls a.Circle
        stack.pop().area()
        # ^ calls a.Circle.area
        pairs = list(zip(shapes, ["a", "b"]))
        for shape, label in pairs:
            shape.area()
            # ^ calls a.Circle.area
            # ^ calls a.Square.area
        """,
    "containers on a class": """
        # --- a.py
        class Codec:
            readers = {}
            writers = []
            @classmethod
            def reader(cls, kind):
                def register(function):
                    cls.readers[kind] = function
                    return function
                return register
            def read(self, kind, text):
                return self.readers[kind](text)
                # ^ calls a.read_csv
                # ^ calls a.read_json
            def write(self, value):
                for writer in self.writers:
                    value = writer(value)
                    # ^ calls a.quote
                    # ^ calls a.trim
                return value
        @Codec.reader("json")
        # ^ calls a.Codec.reader
        # ^ calls a.Codec.reader.register
        def read_json(text): return text
        @Codec.reader("csv")
        # ^ calls a.Codec.reader
        # ^ calls a.Codec.reader.register
        def read_csv(text): return text.split(",")
        def trim(value): return value.strip()
        def quote(value): return repr(value)
        Codec.writers = [trim, quote]
        codec = Codec()
        # ^ calls a.Codec
        codec.read("json", "{}")
        # ^ calls a.Codec.read
        codec.read("csv", "a,b")
        # ^ calls a.Codec.read
        codec.write(" x ")
        # ^ calls a.Codec.write
        """,
    "decorators with arguments": """
        # --- a.py
        import functools
        def retry(times, on=Exception):
            def decorate(function):
                @functools.wraps(function)
                def attempt(*args, **kwargs):
                    for _ in range(times):
                        try:
                            return function(*args, **kwargs)
                            # ^ calls a.Client.fetch
                            # ^ calls a.ping
                        except on:
                            report(function)
                            # ^ calls a.report
                return attempt
            return decorate
        def report(function): return function.__name__
        class Client:
            tries = 0
            @retry(3, on=ValueError)
            # ^ calls a.retry
            # ^ calls a.retry.decorate
            def fetch(self, url):
                self.tries += 1
                if self.tries < 2:
                    raise ValueError(url)
                return self.parse(url)
                # ^ calls a.Client.parse
            def parse(self, text): return text
        @retry(times=2)
        # ^ calls a.retry
        # ^ calls a.retry.decorate
        def ping(): return "pong"
        Client().fetch("u")
        # ^ calls a.Client
        # ^ calls a.Client.fetch
        # ^ calls a.retry.decorate.attempt
        ping()
        # ^ calls a.ping
        # ^ calls a.retry.decorate.attempt
        """,
    "decorators stacked": """
        # --- a.py
        from functools import wraps
        def logged(function):
            @wraps(function)
            def wrapper(*args): return function(*args)
            # ^ calls a.checked.guard
            return wrapper
        def checked(function):
            @wraps(function)
            def guard(*args):
                verify(args)
                # ^ calls a.verify
                return function(*args)
                # ^ calls a.pay
            return guard
        def verify(args): assert args is not None
        @logged
        # ^ calls a.logged
        @checked
        # ^ calls a.checked
        def pay(amount): return amount
        pay(3)
        # ^ calls a.logged.wrapper
        # ^ calls a.pay
        class Registry:
            def __init__(self): self.known = {}
            def __call__(self, function):
                self.known[function.__name__] = function
                return function
            def run(self, name): return self.known[name]()
            # ^ calls a.build
            # ^ calls a.clean
        task = Registry()
        # ^ calls a.Registry.__init__
        @task
        # ^ calls a.Registry.__call__
        def clean(): return pay(1)
        # ^ calls a.logged.wrapper
        # ^ calls a.pay
        @task
        # ^ calls a.Registry.__call__
        def build(): return clean()
        # ^ calls a.clean
        task.run("clean")
        # ^ calls a.Registry.run
        task.run("build")
        # ^ calls a.Registry.run
        """,
    "decorators of classes and properties": """
        # --- a.py
        def singleton(cls):
            instances = {}
            def get():
                if cls not in instances:
                    instances[cls] = cls()
                    # ^ calls a.Config.__init__
                return instances[cls]
            return get
        @singleton
        # ^ calls a.singleton
        class Config:
            def __init__(self): self._level = 1
            @property
            def level(self): return self._level
            @level.setter
            def level(self, value): self._level = clamp(value)
            # ^ calls a.clamp
        def clamp(value): return max(0, min(9, value))
        class Temperature:
            def __init__(self, celsius): self.celsius = celsius
            # ^ calls a.Temperature.celsius
            @property
            def celsius(self): return self._celsius
            @celsius.setter
            def celsius(self, value): self._celsius = clamp(value)
            # ^ calls a.clamp
            @property
            def fahrenheit(self): return self.celsius * 9 / 5 + 32
            # ^ calls a.Temperature.celsius
            @staticmethod
            def parse(text): return Temperature(int(text))
            # ^ calls a.Temperature.__init__
        config = Config()
        # ^ calls a.Config.__init__
        # ^ calls a.singleton.get
        config.level = 12
        # ^ calls a.Config.level
        weather = Temperature.parse("4")
        # ^ calls a.Temperature.parse
        weather.celsius = 3
        # ^ calls a.Temperature.celsius
        weather.fahrenheit
        # ^ calls a.Temperature.fahrenheit
        """,
    "generators that stream": """
        # --- a.py
        class Chunk:
            def __init__(self, data): self.data = data
            def size(self): return len(self.data)
        def read(lines):
            for line in lines:
                yield Chunk(line)
                # ^ calls a.Chunk.__init__
        def large(chunks, least):
            return (chunk for chunk in chunks if chunk.size() >= least)
            # ^ calls a.Chunk.size
        def flatten(*streams):
            for stream in streams:
                yield from stream
        def average():
            total = count = 0
            mean = None
            while True:
                value = yield mean
                total, count = total + value, count + 1
                mean = total / count
        stream = flatten(read(["ab", "c"]), large(read(["def"]), 2))
        # ^ calls a.flatten
        # ^ calls a.large
        # ^ calls a.read
        mean = average()
        # ^ calls a.average
        next(mean)
        for chunk in stream:
            mean.send(chunk.size())
            # ^ calls a.Chunk.size
        sizes = sorted(read(["x"]), key=Chunk.size)
        # ^ calls a.Chunk.size
        # ^ calls a.read
        sizes[0].size()
        # ^ calls a.Chunk.size
        """,
    "generators as contexts": """
        # --- a.py
        from contextlib import contextmanager, ExitStack
        class Connection:
            def __init__(self, url): self.url = url
            def query(self, text): return Cursor(self)
            # ^ calls a.Cursor.__init__
            def close(self): ...
        class Cursor:
            def __init__(self, connection): self.connection = connection
            def rows(self):
                yield 1
                yield 2
            def __enter__(self): return self
            def __exit__(self, *error): self.connection.close()
            # ^ calls a.Connection.close
        @contextmanager
        def connect(url):
            connection = Connection(url)
            # ^ calls a.Connection.__init__
            try:
                yield connection
            finally:
                connection.close()
                # ^ calls a.Connection.close
        with connect("db:") as db:
        # ^ calls a.connect
            with db.query("select") as cursor:
            # ^ calls a.Connection.query
            # ^ calls a.Cursor.__enter__
            # ^ calls a.Cursor.__exit__
                for row in cursor.rows():
                # ^ calls a.Cursor.rows
                    print(row, end="")
        with ExitStack() as stack:
            other = stack.enter_context(connect("x:"))
            # ^ calls a.connect
            other.query("y")
            # ^ calls a.Connection.query
        """,
    "generators of trees": """
        # --- a.py
        class Tree:
            def __init__(self, value, *children):
                self.value, self.children = value, children
            def __iter__(self):
                yield self
                for child in self.children:
                    yield from child
                    # ^ calls a.Tree.__iter__
            def leaf(self): return not self.children
        class Walker:
            def __init__(self, tree): self.stack = [tree]
            def __iter__(self): return self
            def __next__(self):
                if not self.stack:
                    raise StopIteration
                node = self.stack.pop()
                self.stack.extend(node.children)
                return node
        tree = Tree(1, Tree(2), Tree(3, Tree(4)))
        # ^ calls a.Tree.__init__
        leaves = [node for node in tree if node.leaf()]
        # ^ calls a.Tree.__iter__
        # ^ calls a.Tree.leaf
        for node in Walker(tree):
        # ^ calls a.Walker.__init__
        # ^ calls a.Walker.__iter__
        # ^ calls a.Walker.__next__
            node.leaf()
            # ^ calls a.Tree.leaf
        """,
    "inheritance as a diamond": """
        # --- a.py
        class Widget:
            def __init__(self): self.setup()
            # ^ calls a.Clickable.setup
            # ^ calls a.Widget.setup
            def setup(self): self.parts = []
            def draw(self): return self.parts
        class Clickable(Widget):
            def setup(self):
                super().setup()
                # ^ calls a.Scrollable.setup
                self.parts.append("click")
            def click(self): return self.draw()
            # ^ calls a.ListBox.draw
        class Scrollable(Widget):
            def setup(self):
                super().setup()
                # ^ calls a.Widget.setup
                self.parts.append("scroll")
            def draw(self): return super().draw()
            # ^ calls a.Widget.draw
        class ListBox(Clickable, Scrollable):
            def draw(self): return ["box", *super().draw()]
            # ^ calls a.Scrollable.draw
        box = ListBox()
        # ^ calls a.ListBox
        # ^ calls a.Widget.__init__
        box.click()
        # ^ calls a.Clickable.click
        Widget().draw()
        # ^ calls a.Widget.__init__
        # ^ calls a.Widget.draw
        """,
    "inheritance with abstract steps": """
        # --- a.py
        from abc import ABC, abstractmethod
        class Exporter(ABC):
            extension = ""
            def export(self, rows):
                body = [self.line(row) for row in rows]
                # ^ calls a.Csv.line
                # ^ calls a.Html.line
                return self.wrap("".join(body))
                # ^ calls a.Exporter.wrap
                # ^ calls a.Html.wrap
            @abstractmethod
            def line(self, row): ...
            def wrap(self, text): return text
        class Csv(Exporter):
            def line(self, row): return ",".join(row)
        class Html(Exporter):
            def line(self, row): return self.cell(row[0])
            # ^ calls a.Html.cell
            def cell(self, text): return f"<td>{text}</td>"
            def wrap(self, text): return f"<tr>{super().wrap(text)}</tr>"
            # ^ calls a.Exporter.wrap
        def all_exporters(): return [kind() for kind in Exporter.__subclasses__()]
        # ^ calls a.Csv
        # ^ calls a.Html
        Csv().export([["a"]])
        # ^ calls a.Csv
        # ^ calls a.Exporter.export
        Html().export([["b"]])
        # ^ calls a.Exporter.export
        # ^ calls a.Html
        for exporter in all_exporters():
        # ^ calls a.all_exporters
            exporter.wrap("")
            # ^ calls a.Exporter.wrap
            # ^ calls a.Html.wrap
        """,
    "inheritance by metaclass": """
        # --- a.py
        class Field:
            def __init__(self, kind): self.kind = kind
            def __set_name__(self, owner, name): self.name = name
            def __get__(self, instance, owner=None):
                return self if instance is None else instance.data.get(self.name)
            def __set__(self, instance, value): instance.data[self.name] = self.convert(value)
            # ^ calls a.Field.convert
            def convert(self, value): return self.kind(value)
        class Meta(type):
            known = []
            def __new__(mcs, name, bases, body):
                cls = super().__new__(mcs, name, bases, body)
                # ^ calls a.Field.__set_name__
                mcs.remember(cls)
                # ^ calls a.Meta.remember
                return cls
            @classmethod
            def remember(mcs, cls): mcs.known.append(cls)
            def fields(cls): return [v for v in vars(cls).values() if isinstance(v, Field)]
        class Model(metaclass=Meta):
        # ^ calls a.Meta.__new__
            def __init__(self): self.data = {}
            def save(self): return describe(type(self))
            # ^ calls a.describe
        class User(Model):
        # ^ calls a.Meta.__new__
            age = Field(int)
            # ^ calls a.Field.__init__
        def describe(model): return model.fields()
        # ^ calls a.Meta.fields
        user = User()
        # ^ calls a.Model.__init__
        # ^ calls a.User
        user.age = "3"
        # ^ calls a.Field.__set__
        user.age
        # ^ calls a.Field.__get__
        user.save()
        # ^ calls a.Model.save
        User.fields()
        # ^ calls a.Meta.fields
        """,
    "inheritance of mixins with hooks": """
        # --- a.py
        class Plugin:
            registry = {}
            def __init_subclass__(cls, name=None, **kwargs):
                super().__init_subclass__(**kwargs)
                cls.registry[name or cls.__name__] = cls
            def run(self): return self.before() + self.main()
            # ^ calls a.Copy.main
            # ^ calls a.Move.main
            # ^ calls a.Plugin.before
            # ^ calls a.Special.before
            # ^ calls a.TimingMixin.before
            def before(self): return ""
        class TimingMixin:
            def before(self): return "t" + super().before()
            # ^ calls a.LoggingMixin.before
        class LoggingMixin:
            def before(self): return "l" + super().before()
            # ^ calls a.Plugin.before
        class Copy(TimingMixin, LoggingMixin, Plugin, name="copy"):
        # ^ calls a.Plugin.__init_subclass__
            def main(self): return "copy"
        class Move(Plugin):
        # ^ calls a.Plugin.__init_subclass__
            def main(self): return self.remove()
            # ^ calls a.Move.remove
            def remove(self): return "move"
        def create(name): return Plugin.registry[name]()
        # ^ calls a.Copy
        # ^ calls a.Move
        create("copy").run()
        # ^ calls a.Plugin.run
        # ^ calls a.create
        create("Move").run()
        # ^ calls a.Plugin.run
        # ^ calls a.create
        def make_base(flag): return Move if flag else Copy
        class Special(make_base(True)):
        # ^ calls a.Plugin.__init_subclass__
        # ^ calls a.make_base
            def before(self): return "s"
        Special().run()
        # ^ calls a.Plugin.run
        # ^ calls a.Special
        """,
    "imports of a layered package": """
        # --- shop/__init__.py
        from .cart import Cart as Basket
        from . import prices
        from .discounts import *
        __all__ = ["Basket", "prices"]
        # --- shop/cart.py
        from .prices import cost as _cost
        from . import prices as table
        class Cart:
            def __init__(self): self.items = []
            def add(self, item):
                self.items.append(item)
                return self
            def total(self):
                return sum(_cost(i) for i in self.items) + table.shipping()
                # ^ calls shop.prices.cost
                # ^ calls shop.prices.shipping
        # --- shop/prices.py
        def cost(item): return len(item)
        def shipping(): return _base()
        # ^ calls shop.prices._base
        def _base(): return 2
        # --- shop/discounts.py
        __all__ = ["half"]
        def half(n): return _round(n / 2)
        # ^ calls shop.discounts._round
        def _round(n): return int(n)
        # --- main.py
        import shop
        import shop.prices as p
        from shop import Basket, half
        basket = Basket().add("pen")
        # ^ calls shop.cart.Cart.__init__
        # ^ calls shop.cart.Cart.add
        half(basket.total())
        # ^ calls shop.cart.Cart.total
        # ^ calls shop.discounts.half
        p.cost("x")
        # ^ calls shop.prices.cost
        shop.prices.shipping()
        # ^ calls shop.prices.shipping
        shop.Basket().total()
        # ^ calls shop.cart.Cart.__init__
        # ^ calls shop.cart.Cart.total
        """,
    "imports when needed": """
        # --- backends/__init__.py
        # --- backends/memory.py
        class Store:
            def put(self, key): return key
            def close(self): return "memory"
        # --- backends/disk.py
        class Store:
            def put(self, key): return key
            def close(self): return "disk"
        # --- tools.py
        import backends.memory
        def open_store(kind="memory"):
            if kind == "disk":
                from backends import disk
                return disk.Store()
                # ^ calls backends.disk.Store
            return backends.memory.Store()
            # ^ calls backends.memory.Store
        def using(module):
            store = module.Store()
            # ^ calls backends.disk.Store
            # ^ calls backends.memory.Store
            return store.put("k")
            # ^ calls backends.disk.Store.put
            # ^ calls backends.memory.Store.put
        # --- main.py
        import importlib
        import tools as t
        from tools import using as with_module
        from backends import memory, disk as on_disk
        try:
            from fast_tools import open_store
        except ImportError:
            from tools import open_store
        open_store().close()
        # ^ calls backends.memory.Store.close
        # ^ calls tools.open_store
        t.open_store("disk").put("x")
        # ^ calls backends.disk.Store.put
        # ^ calls tools.open_store
        with_module(memory)
        # ^ calls tools.using
        with_module(on_disk)
        # ^ calls tools.using
        chosen = {"m": memory, "d": on_disk}
        chosen["m"].Store().put("y")
        # ^ calls backends.memory.Store
        # ^ calls backends.memory.Store.put
        importlib.import_module("backends.disk").Store().close()
        # ^ calls backends.disk.Store
        # ^ calls backends.disk.Store.close
        """,
    "keyword arguments of callbacks": """
        # --- a.py
        from functools import partial
        def fetch(url, *, on_done=None, on_error=None, parse=None):
            try:
                body = parse(url) if parse else url
                # ^ calls a.number
            except ValueError as error:
                return on_error(error)
                # ^ calls a.warn
            return on_done(body)
            # ^ calls a.show
        def show(body): return body
        def warn(error): return error
        def number(text): return int(text)
        fetch("1", on_done=show, on_error=warn, parse=number)
        # ^ calls a.fetch
        fetch("x", on_error=warn, on_done=show, parse=number)
        # ^ calls a.fetch
        options = {"on_done": show, "parse": number}
        fetch("2", **options)
        # ^ calls a.fetch
        quick = partial(fetch, on_done=show)
        quick("3")
        # ^ calls a.fetch
        quieter = partial(quick, parse=number, on_error=warn)
        quieter("y")
        # ^ calls a.fetch
        """,
    "keyword arguments kept in objects": """
        # --- a.py
        class Button:
            def __init__(self, label, command=None, **handlers):
                self.label = label
                self.command = command or self.nothing
                self.handlers = handlers
            def nothing(self): return None
            def press(self): return self.command()
            # ^ calls a.Button.nothing
            # ^ calls a.quit_now
            def fire(self, name):
                return self.handlers[name](self)
                # ^ calls a.hovered
                # ^ calls a.left
        def quit_now(): return close_all()
        # ^ calls a.close_all
        def close_all(): return 0
        def hovered(button): return button.press()
        # ^ calls a.Button.press
        def left(button): return button.label
        Button("q", command=quit_now).press()
        # ^ calls a.Button.__init__
        # ^ calls a.Button.press
        Button("n").press()
        # ^ calls a.Button.__init__
        # ^ calls a.Button.press
        button = Button("h", hover=hovered, leave=left)
        # ^ calls a.Button.__init__
        button.fire("hover")
        # ^ calls a.Button.fire
        button.fire("leave")
        # ^ calls a.Button.fire
        def build(kind=Button, /, *args, **kwargs): return kind(*args, **kwargs)
        # ^ calls a.Button.__init__
        build(Button, "x", quit_now).press()
        # ^ calls a.Button.press
        # ^ calls a.build
        """,
    "returns of factories": """
        # --- a.py
        class Json:
            def dump(self, value): return "json"
        class Yaml:
            def dump(self, value): return indent(value)
            # ^ calls a.indent
        def indent(value): return value
        def serializer(kind):
            match kind:
                case "json":
                    return Json
                case "yaml":
                    return Yaml
            raise KeyError(kind)
        def operations():
            def add(a, b): return a + b
            def sub(a, b): return a - b
            return add, sub
        def table(): return {"add": operations()[0], "dump": serializer("json")().dump}
        # ^ calls a.Json
        # ^ calls a.operations
        # ^ calls a.serializer
        serializer("yaml")().dump({})
        # ^ calls a.Yaml
        # ^ calls a.Yaml.dump
        # ^ calls a.serializer
        add, sub = operations()
        # ^ calls a.operations
        add(1, 2)
        # ^ calls a.operations.add
        sub(2, 1)
        # ^ calls a.operations.sub
        table()["add"](1, 1)
        # ^ calls a.operations.add
        # ^ calls a.table
        table()["dump"]({})
        # ^ calls a.Json.dump
        # ^ calls a.table
        def early(flag):
            if not flag:
                return None
            return Json()
            # ^ calls a.Json
        found = early(True)
        # ^ calls a.early
        if found is not None:
            found.dump(1)
            # ^ calls a.Json.dump
        """,
    "returns of builders": """
        # --- a.py
        class Query:
            def __init__(self, table): self.table, self.filters = table, []
            def where(self, test):
                self.filters.append(test)
                return self
            def copy(self):
                other = Query(self.table)
                # ^ calls a.Query.__init__
                other.filters = list(self.filters)
                return other
            def all(self):
                return [row for row in self.table.rows() if all(t(row) for t in self.filters)]
                # ^ calls a.Table.rows
                # ^ calls a.even
                # ^ calls a.positive
        class Table:
            def __init__(self, *rows): self._rows = rows
            def rows(self): return self._rows
            @property
            def query(self): return Query(self)
            # ^ calls a.Query.__init__
            def __getitem__(self, at): return self._rows[at]
            def __len__(self): return len(self._rows)
        def positive(row): return row > 0
        def even(row): return row % 2 == 0
        table = Table(1, 2, -2)
        # ^ calls a.Table.__init__
        table.query.where(positive).where(even).all()
        # ^ calls a.Query.all
        # ^ calls a.Query.where
        # ^ calls a.Table.query
        base = table.query.where(positive)
        # ^ calls a.Query.where
        # ^ calls a.Table.query
        base.copy().where(lambda row: even(row)).all()
        # ^ calls a.Query.all
        # ^ calls a.Query.copy
        # ^ calls a.Query.where
        # ^ calls a.even
        table[0], len(table)
        # ^ calls a.Table.__getitem__
        # ^ calls a.Table.__len__
        """,
    "exceptions with a hierarchy": """
        # --- a.py
        class AppError(Exception):
            def __init__(self, message, code=1):
                super().__init__(message)
                self.code = code
            def describe(self): return f"{self.code}: {self.args[0]}"
        class NotFound(AppError):
            def __init__(self, name):
                super().__init__(f"no {name}", code=404)
                # ^ calls a.AppError.__init__
                self.name = name
            def suggest(self): return self.describe()
            # ^ calls a.AppError.describe
        def load(name):
            if name == "x":
                raise NotFound(name)
                # ^ calls a.NotFound.__init__
            raise AppError(name)
            # ^ calls a.AppError.__init__
        def guarded(action, *args):
            try:
                return action(*args)
                # ^ calls a.load
            except NotFound as error:
                return error.suggest()
                # ^ calls a.NotFound.suggest
            except (AppError, KeyError) as error:
                return error.describe()
                # ^ calls a.AppError.describe
            finally:
                tidy()
                # ^ calls a.tidy
        def tidy(): ...
        guarded(load, "x")
        # ^ calls a.guarded
        guarded(load, "y")
        # ^ calls a.guarded
        """,
    "lambdas in tables": """
        # --- a.py
        import functools
        import operator
        def double(n): return 2 * n
        def inc(n): return n + 1
        compose = lambda f, g: lambda x: f(g(x))
        # ^ calls a.double
        # ^ calls a.inc
        pipeline = lambda *steps: functools.reduce(compose, steps)
        # ^ calls a.compose
        both = compose(double, inc)
        # ^ calls a.compose
        both(3)
        # ^ calls a.compose
        pipeline(double, inc)(4)
        # ^ calls a.compose
        # ^ calls a.pipeline
        RULES = [("even", lambda n: n % 2 == 0), ("big", lambda n: inc(n) > 10)]
        # ^ calls a.inc
        names = [name for name, rule in RULES if rule(12)]
        numbers = list(map(double, filter(inc, [1, 2])))
        # ^ calls a.double
        # ^ calls a.inc
        ordered = sorted(numbers, key=lambda n: double(n))
        # ^ calls a.double
        on_key = {"up": lambda: inc(1), "down": lambda: double(1)}
        # ^ calls a.double
        # ^ calls a.inc
        on_key["up"]()
        on_key["down"]()
        methods = operator.attrgetter("upper")("x")()
        """,
    "protocol of a collection": """
        # --- a.py
        class Bag:
            def __init__(self, items=()): self.items = list(items)
            def __contains__(self, item): return item in self.items
            def __len__(self): return len(self.items)
            def __bool__(self): return len(self) > 0
            # ^ calls a.Bag.__len__
            def __getitem__(self, at): return self.items[at]
            def __setitem__(self, at, item): self.items[at] = self.clean(item)
            # ^ calls a.Bag.clean
            def __delitem__(self, at): del self.items[at]
            def __or__(self, other): return Bag([*self.items, *other.items])
            # ^ calls a.Bag.__init__
            def __call__(self, test): return Bag(i for i in self.items if test(i))
            # ^ calls a.Bag.__init__
            # ^ calls a.short
            def __repr__(self): return f"Bag({self.items!r})"
            def clean(self, item): return item.strip()
        def short(item): return len(item) < 3
        bag = Bag(["a", "bcd"]) | Bag(["e"])
        # ^ calls a.Bag.__init__
        # ^ calls a.Bag.__or__
        if bag and "a" in bag:
        # ^ calls a.Bag.__bool__
        # ^ calls a.Bag.__contains__
            bag[0] = " z "
            # ^ calls a.Bag.__setitem__
        del bag[1]
        # ^ calls a.Bag.__delitem__
        few = bag(short)
        # ^ calls a.Bag.__call__
        text = f"{few!r} {few[0]}"
        # ^ calls a.Bag.__getitem__
        # ^ calls a.Bag.__repr__
        print(repr(few), end="")
        # ^ calls a.Bag.__repr__
        """,
    "protocol of attributes": """
        # --- a.py
        class Lazy:
            def __init__(self, load): self._load = load
            def __getattr__(self, name): return getattr(self._load(), name)
            # ^ calls a.Heavy.__init__
        class Heavy:
            def __init__(self): self.ready = True
            def work(self): return helper(self)
            # ^ calls a.helper
        def helper(heavy): return heavy.ready
        class Vector:
            __slots__ = ("x", "y")
            def __init__(self, x, y): self.x, self.y = x, y
            def __mul__(self, k): return Vector(self.x * k, self.y * k)
            # ^ calls a.Vector.__init__
            __rmul__ = __mul__
            def __neg__(self): return self * -1
            # ^ calls a.Vector.__mul__
            def __lt__(self, other): return abs(self) < abs(other)
            # ^ calls a.Vector.__abs__
            def __abs__(self): return self.x + self.y
            def __hash__(self): return hash((self.x, self.y))
        lazy = Lazy(Heavy)
        # ^ calls a.Lazy.__init__
        lazy.ready
        # ^ calls a.Lazy.__getattr__
        lazy.work()
        # ^ calls a.Heavy.work
        # ^ calls a.Lazy.__getattr__
        v = -Vector(1, 2)
        # ^ calls a.Vector.__init__
        # ^ calls a.Vector.__neg__
        w = 3 * v
        # ^ calls a.Vector.__mul__
        smallest = min([v, w])
        # ^ calls a.Vector.__lt__
        getattr(w, "__neg__")()
        # ^ calls a.Vector.__neg__
        """,
    "async of workers": """
        # --- a.py
        import asyncio
        class Session:
            async def __aenter__(self):
                await self.open()
                # ^ calls a.Session.open
                return self
            async def __aexit__(self, *error): await self.close()
            # ^ calls a.Session.close
            async def open(self): ...
            async def close(self): ...
            async def get(self, url): return Reply(url)
            # ^ calls a.Reply.__init__
        class Reply:
            def __init__(self, url): self.url = url
            def text(self): return self.url
        async def pages(session, urls):
            for url in urls:
                yield await session.get(url)
                # ^ calls a.Session.get
        async def fetch(session, url):
            reply = await session.get(url)
            # ^ calls a.Session.get
            return reply.text()
            # ^ calls a.Reply.text
        async def main():
            async with Session() as session:
            # ^ calls a.Session
            # ^ calls a.Session.__aenter__
            # ^ calls a.Session.__aexit__
                async for page in pages(session, ["a"]):
                # ^ calls a.pages
                    page.text()
                    # ^ calls a.Reply.text
                texts = await asyncio.gather(fetch(session, "b"), fetch(session, "c"))
                # ^ calls a.fetch
                task = asyncio.create_task(fetch(session, "d"))
                # ^ calls a.fetch
                (await task).upper()
                return len(texts)
        asyncio.run(main())
        # ^ calls a.main
        """,
    "classes as values": """
        # --- a.py
        from dataclasses import dataclass, field
        from enum import Enum
        class Level(Enum):
            LOW = 1
            HIGH = 2
            def label(self): return self.name.lower()
            @classmethod
            def parse(cls, text): return cls[text.upper()]
        @dataclass
        class Job:
            name: str
            level: Level = Level.LOW
            steps: list["Step"] = field(default_factory=list)
            def add(self, *steps):
                self.steps.extend(steps)
                return self
            def run(self): return [step.execute(self) for step in self.steps]
            # ^ calls a.Step.execute
        @dataclass
        class Step:
            action: object
            def execute(self, job): return self.action(job)
            # ^ calls a.announce
            # ^ calls a.finish
        def announce(job): return job.level.label()
        # ^ calls a.Level.label
        def finish(job): return job.name
        job = Job("build", Level.parse("high")).add(Step(announce), Step(finish))
        # ^ calls a.Job
        # ^ calls a.Job.add
        # ^ calls a.Level.parse
        # ^ calls a.Step
        job.run()
        # ^ calls a.Job.run
        Level.LOW.label()
        # ^ calls a.Level.label
        kinds = {"job": Job, "step": Step}
        kinds["job"]("other").run()
        # ^ calls a.Job
        # ^ calls a.Job.run
        """,
}
