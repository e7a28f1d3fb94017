"""Programs of Python for one or several features each, with recorded calls (`record.py`)."""

from __future__ import annotations

PROGRAMS = {
    "assignments: swapped, chained and unpacked functions": """
        # --- main.py
        def double(n):
            return n * 2


        def halve(n):
            return n // 2


        def square(n):
            return n * n


        first, second = double, halve
        first, second = second, first
        third = fourth = square

        head, *rest = [double, halve, square]


        def compute(n):
            a = first(n)
            # ^ calls main.halve
            b = second(a)
            # ^ calls main.double
            c = third(b) + fourth(b)
            # ^ calls main.square
            d = head(c)
            # ^ calls main.double
            for step in rest:
                d = step(d)
                # ^ calls main.halve
                # ^ calls main.square
            return d


        if (picked := double)(3) > 5:
        # ^ calls main.double
            picked(4)
            # ^ calls main.double

        print(compute(8))
        # ^ calls main.compute
        """,
    "closures: a counter with two inner functions and a shared state": """
        # --- main.py
        def report(value):
            return f"<{value}>"


        def make_counter(start, show):
            count = start

            def up(by=1):
                nonlocal count
                count += by
                return show(count)
                # ^ calls main.report

            def down():
                return up(-1)
                # ^ calls main.make_counter.up

            return up, down


        def twice(action):
            def run():
                action()
                # ^ calls main.make_counter.up
                return action()
                # ^ calls main.make_counter.up

            return run


        increase, decrease = make_counter(3, report)
        # ^ calls main.make_counter
        increase()
        # ^ calls main.make_counter.up
        decrease()
        # ^ calls main.make_counter.down
        again = twice(increase)
        # ^ calls main.twice
        print(again())
        # ^ calls main.twice.run


        def outer():
            def inner():
                return leaf()
                # ^ calls main.outer.leaf

            def leaf():
                return report("leaf")
                # ^ calls main.report

            return inner


        print(outer()())
        # ^ calls main.outer
        # ^ calls main.outer.inner
        """,
    "containers: a table of commands and a queue of tasks": """
        # --- main.py
        from collections import defaultdict, deque


        def add(state, word):
            state.append(word)


        def drop(state, word):
            if word in state:
                state.remove(word)


        def show(state, word):
            return ", ".join(sorted(state))


        COMMANDS = {"add": add, "drop": drop}
        COMMANDS["show"] = show

        handlers = defaultdict(list)
        handlers["saved"].append(show)


        def run(line, state):
            verb, _, word = line.partition(" ")
            command = COMMANDS.get(verb)
            if command is None:
                return None
            return command(state, word)
            # ^ calls main.add
            # ^ calls main.drop
            # ^ calls main.show


        def drain(tasks):
            while tasks:
                task = tasks.popleft()
                task()
                # ^ calls main.Job.__call__


        class Job:
            def __init__(self, lines):
                self.lines = lines
                self.state = []

            def __call__(self):
                for line in self.lines:
                    run(line, self.state)
                    # ^ calls main.run
                for handler in handlers["saved"]:
                    print(handler(self.state, ""))
                    # ^ calls main.show


        drain(deque([Job(["add a", "add b"]), Job(["add c", "drop c", "show x"])]))
        # ^ calls main.Job.__init__
        # ^ calls main.drain
        """,
    "decorators: with arguments, on classes, and stacked": r"""
        # --- marks.py
        import functools

        REGISTRY = {}


        def register(name):
            def mark(cls):
                REGISTRY[name] = cls
                return cls

            return mark


        def logged(prefix):
            def decorate(function):
                @functools.wraps(function)
                def wrapper(*args, **kwargs):
                    note(prefix)
                    # ^ calls marks.note
                    return function(*args, **kwargs)
                    # ^ calls main.CsvWriter.line
                    # ^ calls main.setup

                return wrapper

            return decorate


        def once(function):
            done = []

            def wrapper(*args):
                if not done:
                    done.append(function(*args))
                    # ^ calls marks.logged.decorate.wrapper
                return done[0]

            return wrapper


        def note(text):
            print(text)
        # --- main.py
        from marks import REGISTRY, logged, once, register


        @register("csv")
        # ^ calls marks.register
        # ^ calls marks.register.mark
        class CsvWriter:
            def write(self, rows):
                return "\n".join(self.line(row) for row in rows)
                # ^ calls main.CsvWriter.line
                # ^ calls marks.logged.decorate.wrapper

            @logged("line")
            # ^ calls marks.logged
            # ^ calls marks.logged.decorate
            def line(self, row):
                return ",".join(row)


        @once
        # ^ calls marks.once
        @logged("setup")
        # ^ calls marks.logged
        # ^ calls marks.logged.decorate
        def setup(path):
            return path.upper()


        def main():
            setup("out")
            # ^ calls main.setup
            # ^ calls marks.once.wrapper
            setup("again")
            # ^ calls main.setup
            # ^ calls marks.once.wrapper
            writer = CsvWriter()
            # ^ calls main.CsvWriter
            print(writer.write([["a", "b"]]))
            # ^ calls main.CsvWriter.write
            print(REGISTRY["csv"]().write([]))
            # ^ calls main.CsvWriter
            # ^ calls main.CsvWriter.write


        main()
        # ^ calls main.main
        """,
    "generators: pipelines, yield from and send": """
        # --- main.py
        def numbers(limit):
            for n in range(limit):
                yield n


        def evens(source):
            for n in source:
                if is_even(n):
                # ^ calls main.is_even
                    yield n


        def is_even(n):
            return n % 2 == 0


        def both(limit):
            yield from evens(numbers(limit))
            # ^ calls main.evens
            # ^ calls main.numbers
            yield from tail(limit)
            # ^ calls main.tail


        def tail(limit):
            received = yield limit
            while received:
                received = yield scaled(received)
                # ^ calls main.scaled


        def scaled(n):
            return n * 10


        def collect(make, *args):
            return [scaled(n) for n in make(*args)]
            # ^ calls main.both
            # ^ calls main.scaled


        print(collect(both, 6))
        # ^ calls main.collect
        stream = tail(3)
        # ^ calls main.tail
        next(stream)
        print(stream.send(4))
        pairs = ((n, is_even(n)) for n in numbers(3))
        # ^ calls main.is_even
        # ^ calls main.numbers
        print(dict(pairs))
        print(max(numbers(5), key=scaled))
        # ^ calls main.numbers
        # ^ calls main.scaled
        """,
    "inheritance: a template method, mixins and super": """
        # --- shapes.py
        class Shape:
            def __init__(self, name):
                self.name = name

            def describe(self):
                return f"{self.title()}: {self.area()}"
                # ^ calls main.Dot.area
                # ^ calls main.Large.title
                # ^ calls shapes.Rectangle.area
                # ^ calls shapes.Scaled.area
                # ^ calls shapes.Shape.title

            def title(self):
                return self.name.title()

            def area(self):
                raise NotImplementedError


        class Scaled:
            factor = 1

            def area(self):
                return self.factor * super().area()
                # ^ calls shapes.Rectangle.area


        class Rectangle(Shape):
            def __init__(self, width, height):
                super().__init__("rectangle")
                # ^ calls shapes.Shape.__init__
                self.width, self.height = width, height

            def area(self):
                return self.width * self.height
        # --- main.py
        import shapes
        from shapes import Rectangle, Scaled


        class Large(Scaled, Rectangle):
            factor = 10

            @classmethod
            def square(cls, side):
                return cls(side, side)
                # ^ calls main.Large
                # ^ calls shapes.Rectangle.__init__

            def title(self):
                return "large " + super().title()
                # ^ calls shapes.Shape.title


        class Dot(shapes.Shape):
            def __init__(self):
                shapes.Shape.__init__(self, "dot")
                # ^ calls shapes.Shape.__init__

            def area(self):
                return 0


        for shape in (Large.square(2), Dot(), Rectangle(1, 2)):
        # ^ calls main.Dot.__init__
        # ^ calls main.Large.square
        # ^ calls shapes.Rectangle.__init__
            print(shape.describe())
            # ^ calls shapes.Shape.describe
        print(Large(1, 2).title())
        # ^ calls main.Large
        # ^ calls main.Large.title
        # ^ calls shapes.Rectangle.__init__
        """,
    "imports: packages, aliases, names passed on and imports in functions": """
        # --- shop/__init__.py
        from .cart import Cart
        from .prices import total as price_of

        __all__ = ["Cart", "price_of", "open_shop"]


        def open_shop():
            from . import stock

            stock.load()
            # ^ calls shop.stock.load
            return Cart()
            # ^ calls shop.cart.Cart.__init__
        # --- shop/cart.py
        from . import prices
        from .stock import take as take_from_stock


        class Cart:
            def __init__(self):
                self.items = []

            def add(self, item):
                take_from_stock(item)
                # ^ calls shop.stock.take
                self.items.append(item)
                return self

            def total(self):
                return prices.total(self.items)
                # ^ calls shop.prices.total
        # --- shop/prices.py
        def total(items):
            return sum(price(item) for item in items)
            # ^ calls shop.prices.price


        def price(item):
            return len(item)
        # --- shop/stock.py
        LEFT = {}


        def load():
            LEFT.update(apple=3)


        def take(item):
            LEFT[item] = LEFT.get(item, 1) - 1
        # --- main.py
        import shop
        import shop.prices as p
        from shop import price_of

        cart = shop.open_shop()
        # ^ calls shop.open_shop
        cart.add("apple").add("pear")
        # ^ calls shop.cart.Cart.add
        print(cart.total(), price_of(["fig"]), p.price("kiwi"), shop.stock.take("fig"))
        # ^ calls shop.cart.Cart.total
        # ^ calls shop.prices.price
        # ^ calls shop.prices.total
        # ^ calls shop.stock.take
        other = shop.Cart()
        # ^ calls shop.cart.Cart.__init__
        print(other.total())
        # ^ calls shop.cart.Cart.total
        """,
    "keyword arguments: callbacks by name, defaults and partial": """
        # --- main.py
        from functools import partial


        def upper(text):
            return text.upper()


        def lower(text):
            return text.lower()


        def render(text, *, style=upper, after=None):
            made = style(text)
            # ^ calls main.lower
            # ^ calls main.upper
            if after is not None:
                after(made)
                # ^ calls main.log
            return made


        def log(text):
            print(text)


        def configure(**options):
            options.setdefault("style", lower)
            return render("Hello", **options)
            # ^ calls main.render


        class View:
            def __init__(self, *, transform=lower, sink=log):
                self.transform = transform
                self.sink = sink

            def show(self, text):
                self.sink(self.transform(text))
                # ^ calls main.log
                # ^ calls main.lower
                # ^ calls main.upper


        render("a")
        # ^ calls main.render
        render("b", style=lower, after=log)
        # ^ calls main.render
        configure(after=log)
        # ^ calls main.configure
        View().show("X")
        # ^ calls main.View.__init__
        # ^ calls main.View.show
        View(transform=upper).show("y")
        # ^ calls main.View.__init__
        # ^ calls main.View.show
        quiet = partial(render, style=lower)
        quiet("Z")
        # ^ calls main.render
        """,
    "returns: factories, fluent objects and results of calls": """
        # --- main.py
        class Query:
            def __init__(self, table):
                self.table = table
                self.filters = []

            def where(self, test):
                self.filters.append(test)
                return self

            def copy(self):
                fresh = Query(self.table)
                # ^ calls main.Query.__init__
                fresh.filters = list(self.filters)
                return fresh

            def run(self):
                return [row for row in self.table if all(test(row) for test in self.filters)]
                # ^ calls main.large


        class Database:
            def __init__(self):
                self.rows = [1, 5, 9]

            def query(self):
                return Query(self.rows)
                # ^ calls main.Query.__init__


        def connect():
            database = Database()
            # ^ calls main.Database.__init__
            return database


        def large(row):
            return row > 3


        def chooser(kind):
            if kind == "large":
                return large
            return lambda row: not large(row)
            # ^ calls main.large


        result = connect().query().where(large).copy().run()
        # ^ calls main.Database.query
        # ^ calls main.Query.copy
        # ^ calls main.Query.run
        # ^ calls main.Query.where
        # ^ calls main.connect
        print(result)
        print(connect().query().where(chooser("large")).run())
        # ^ calls main.Database.query
        # ^ calls main.Query.run
        # ^ calls main.Query.where
        # ^ calls main.chooser
        # ^ calls main.connect
        database, query = connect(), connect().query()
        # ^ calls main.Database.query
        # ^ calls main.connect
        print(database.query().run(), query.where(chooser("small")).run())
        # ^ calls main.Database.query
        # ^ calls main.Query.run
        # ^ calls main.Query.where
        # ^ calls main.chooser
        """,
    "mix: a context manager, an iterator and properties": """
        # --- main.py
        from contextlib import contextmanager


        class Trace:
            def __init__(self):
                self.lines = []

            def __enter__(self):
                self.write("start")
                # ^ calls main.Trace.write
                return self

            def __exit__(self, kind, error, trace):
                self.write("end")
                # ^ calls main.Trace.write
                return False

            def write(self, text):
                self.lines.append(text)


        class Pages:
            def __init__(self, count):
                self.count = count

            def __iter__(self):
                return PageCursor(self)
                # ^ calls main.PageCursor.__init__

            def __len__(self):
                return self.count

            @property
            def last(self):
                return self.page(self.count - 1)
                # ^ calls main.Pages.page

            def page(self, number):
                return f"page {number}"


        class PageCursor:
            def __init__(self, pages):
                self.pages = pages
                self.at = 0

            def __iter__(self):
                return self

            def __next__(self):
                if self.at >= len(self.pages):
                # ^ calls main.Pages.__len__
                    raise StopIteration
                self.at += 1
                return self.pages.page(self.at - 1)
                # ^ calls main.Pages.page


        @contextmanager
        def opened(count):
            pages = Pages(count)
            # ^ calls main.Pages.__init__
            yield pages


        with Trace() as trace, opened(2) as pages:
        # ^ calls main.Trace.__enter__
        # ^ calls main.Trace.__exit__
        # ^ calls main.Trace.__init__
        # ^ calls main.opened
            for page in pages:
            # ^ calls main.PageCursor.__next__
            # ^ calls main.Pages.__iter__
                trace.write(page)
                # ^ calls main.Trace.write
            trace.write(pages.last)
            # ^ calls main.Pages.last
            # ^ calls main.Trace.write
        print(trace.lines)
        """,
    "mix: a small event bus with bound methods and a data class": """
        # --- main.py
        from dataclasses import dataclass, field
        from typing import Callable


        @dataclass
        class Event:
            name: str
            values: list[int] = field(default_factory=list)

            def total(self) -> int:
                return sum(self.values)


        class Bus:
            def __init__(self) -> None:
                self._listeners: dict[str, list[Callable[[Event], None]]] = {}

            def on(self, name: str, listener: Callable[[Event], None]) -> None:
                self._listeners.setdefault(name, []).append(listener)

            def emit(self, event: Event) -> None:
                for listener in self._listeners.get(event.name, ()):
                    listener(event)
                    # ^ calls main.Ledger.record


        class Ledger:
            def __init__(self, bus: Bus) -> None:
                self.sum = 0
                bus.on("paid", self.record)
                # ^ calls main.Bus.on
                bus.on("paid", lambda event: self.note(event.name))
                # ^ calls main.Bus.on
                # ^ calls main.Ledger.note

            def record(self, event: Event) -> None:
                self.sum += event.total()
                # ^ calls main.Event.total

            def note(self, text: str) -> None:
                self.last = text


        def main() -> None:
            bus = Bus()
            # ^ calls main.Bus.__init__
            ledger = Ledger(bus)
            # ^ calls main.Ledger.__init__
            events = [Event("paid", [1, 2]), Event("lost")]
            # ^ calls main.Event
            for event in events:
                bus.emit(event)
                # ^ calls main.Bus.emit
            total = sum(map(Event.total, events))
            # ^ calls main.Event.total
            print(ledger.sum, ledger.last, total)


        main()
        # ^ calls main.main
        """,
    "mix: a visitor by name, static methods and a registry of subclasses": """
        # --- tree.py
        class Node:
            kinds = {}

            def __init_subclass__(cls, **kwargs):
                super().__init_subclass__(**kwargs)
                Node.kinds[cls.__name__.lower()] = cls

            def accept(self, visitor):
                method = getattr(visitor, "visit_" + type(self).__name__.lower())
                return method(self)
                # ^ calls main.Evaluate.visit_number
                # ^ calls main.Evaluate.visit_sum
                # ^ calls main.Show.visit_number


        class Number(Node):
        # ^ calls tree.Node.__init_subclass__
            def __init__(self, value):
                self.value = value


        class Sum(Node):
        # ^ calls tree.Node.__init_subclass__
            def __init__(self, left, right):
                self.left = left
                self.right = right
        # --- main.py
        from tree import Node, Number, Sum


        class Evaluate:
            def visit_number(self, node):
                return Evaluate.checked(node.value)
                # ^ calls main.Evaluate.checked

            def visit_sum(self, node):
                return node.left.accept(self) + node.right.accept(self)
                # ^ calls tree.Node.accept

            @staticmethod
            def checked(value):
                return int(value)


        class Show(Evaluate):
            def visit_number(self, node):
                return str(super().visit_number(node))
                # ^ calls main.Evaluate.visit_number


        def build(text):
            parts = text.split("+")
            tree = Number(parts[0])
            # ^ calls tree.Number.__init__
            for part in parts[1:]:
                tree = Sum(tree, Number(part))
                # ^ calls tree.Number.__init__
                # ^ calls tree.Sum.__init__
            return tree


        tree = build("1+2")
        # ^ calls main.build
        print(tree.accept(Evaluate()))
        # ^ calls main.Evaluate
        # ^ calls tree.Node.accept
        print(tree.accept(Show()))
        # ^ calls main.Show
        # ^ calls tree.Node.accept
        print(Node.kinds["number"](4).accept(Show()))
        # ^ calls main.Show
        # ^ calls tree.Node.accept
        # ^ calls tree.Number.__init__
        """,
}
