"""The latest programs of Python, with the calls recorded while they ran (`record.py`)."""

from __future__ import annotations

PROGRAMS = {
    "assignments of a registry": """
        # --- a.py
        class Unit:
            def __init__(self, name, factor=1):
                self.name = name
                self.factor = factor
            def convert(self, value): return value * self.factor
            def label(self): return self.name
        class Scaled(Unit):
            def convert(self, value): return round(super().convert(value))
            # ^ calls a.Unit.convert
        meter = Unit("m")
        # ^ calls a.Unit.__init__
        kilo = Scaled("km", 1000)
        # ^ calls a.Scaled
        # ^ calls a.Unit.__init__
        current = meter
        current.convert(1)
        # ^ calls a.Unit.convert
        current = kilo
        current.convert(2)
        # ^ calls a.Scaled.convert
        primary, backup = kilo, meter
        primary.label()
        # ^ calls a.Unit.label
        backup.convert(3)
        # ^ calls a.Unit.convert
        primary, backup = backup, primary
        primary.convert(4)
        # ^ calls a.Unit.convert
        units = {"m": meter}
        units["km"] = kilo
        units["km"].convert(5)
        # ^ calls a.Scaled.convert
        def choose(big):
            if big:
                unit = kilo
            else:
                unit = meter
            return unit.convert(6)
            # ^ calls a.Scaled.convert
            # ^ calls a.Unit.convert
        choose(True)
        # ^ calls a.choose
        choose(False)
        # ^ calls a.choose
        class Registry:
            default = Unit("default")
            # ^ calls a.Unit.__init__
            def __init__(self):
                self.known = {}
                self.last = None
            def add(self, unit):
                self.last = self.known[unit.label()] = unit
                # ^ calls a.Unit.label
                return self
            def get(self, name): return self.known.get(name, self.default)
        registry = Registry()
        # ^ calls a.Registry.__init__
        registry.add(meter).add(kilo)
        # ^ calls a.Registry.add
        registry.last.convert(7)
        # ^ calls a.Scaled.convert
        registry.get("m").label()
        # ^ calls a.Registry.get
        # ^ calls a.Unit.label
        found = registry.get("x")
        # ^ calls a.Registry.get
        found.convert(8)
        # ^ calls a.Unit.convert
        Registry.default.label()
        # ^ calls a.Unit.label
        convert = kilo.convert
        convert(9)
        # ^ calls a.Scaled.convert
        (first, (second, third)) = (meter, (kilo, meter))
        second.label()
        # ^ calls a.Unit.label
        total = 0
        total += third.convert(10)
        # ^ calls a.Unit.convert
        while (unit := registry.get("km")) and total < 20:
        # ^ calls a.Registry.get
            total += unit.convert(11)
            # ^ calls a.Scaled.convert
        alias = Registry
        alias().add(meter)
        # ^ calls a.Registry.__init__
        # ^ calls a.Registry.add
        """,
    "closures of a view": """
        # --- a.py
        def signal(initial):
            value = initial
            watchers = []
            def get():
                return value
            def set(new):
                nonlocal value
                value = new
                for watcher in watchers:
                    watcher(value)
                    # ^ calls a.log
            def watch(function):
                watchers.append(function)
                function(value)
                # ^ calls a.log
                return lambda: watchers.remove(function)
            return get, set, watch
        count, set_count, watch_count = signal(0)
        # ^ calls a.signal
        def show(value): return f"{value}"
        def log(value): return show(value)
        # ^ calls a.show
        stop = watch_count(log)
        # ^ calls a.signal.watch
        set_count(5)
        # ^ calls a.signal.set
        count()
        # ^ calls a.signal.get
        stop()
        def computed(read, change):
            cache = []
            def refresh():
                cache[:] = [change(read())]
                # ^ calls a.double
                # ^ calls a.signal.get
                return cache[0]
            return refresh
        def double(n): return n * 2
        twice = computed(count, double)
        # ^ calls a.computed
        twice()
        # ^ calls a.computed.refresh
        def component(name):
            state = {"name": name}
            def render():
                return header() + body()
                # ^ calls a.component.body
                # ^ calls a.component.header
            def header():
                return state["name"]
            def body():
                def row(text): return decorate(text)
                # ^ calls a.decorate
                return "".join(row(t) for t in "ab")
                # ^ calls a.component.body.row
            render.header = header
            return render
        def decorate(text): return f"<{text}>"
        page = component("home")
        # ^ calls a.component
        page()
        # ^ calls a.component.render
        page.header()
        # ^ calls a.component.header
        makers = {}
        for kind in ("x", "y"):
            def make(kind=kind): return component(kind)
            # ^ calls a.component
            makers[kind] = make
        makers["x"]()()
        # ^ calls a.component.render
        # ^ calls a.make
        def memo(function):
            kept = {}
            def lookup(key):
                if key not in kept:
                    kept[key] = function(key)
                return kept[key]
            def clear(): kept.clear()
            lookup.clear = clear
            return lookup
        square = memo(lambda n: double(n))
        # ^ calls a.double
        # ^ calls a.memo
        square(3)
        # ^ calls a.memo.lookup
        square.clear()
        # ^ calls a.memo.clear
        """,
    "containers of jobs": """
        # --- a.py
        from collections import defaultdict, deque
        class Job:
            def __init__(self, name, work):
                self.name = name
                self.work = work
                self.after = []
            def then(self, job):
                self.after.append(job)
                return job
            def run(self):
                result = self.work()
                # ^ calls a.clean
                # ^ calls a.load
                # ^ calls a.save
                for job in self.after:
                    job.run()
                    # ^ calls a.Job.run
                return result
            def __lt__(self, other): return self.name < other.name
            def __eq__(self, other): return self.name == other.name
            def __hash__(self): return hash(self.name)
        def load(): return 1
        def clean(): return 2
        def save(): return 3
        first = Job("load", load)
        # ^ calls a.Job.__init__
        last = first.then(Job("clean", clean)).then(Job("save", save))
        # ^ calls a.Job.__init__
        # ^ calls a.Job.then
        first.run()
        # ^ calls a.Job.run
        queue = deque([first])
        queue.append(last)
        while queue:
            job = queue.popleft()
            job.run()
            # ^ calls a.Job.run
        by_letter = defaultdict(list)
        for job in (first, last):
            by_letter[job.name[0]].append(job)
        for letter, jobs in by_letter.items():
            for job in jobs:
                job.then(Job("end", save))
                # ^ calls a.Job.__init__
                # ^ calls a.Job.then
        sorted([last, first])[0].run()
        # ^ calls a.Job.__lt__
        # ^ calls a.Job.run
        steps = [load, clean, save]
        for step in steps:
            step()
            # ^ calls a.clean
            # ^ calls a.load
            # ^ calls a.save
        results = [step() for step in steps]
        # ^ calls a.clean
        # ^ calls a.load
        # ^ calls a.save
        steps[0]()
        # ^ calls a.load
        steps[-1]()
        # ^ calls a.save
        table = {"l": load, "c": clean}
        for name in table:
            table[name]()
            # ^ calls a.clean
            # ^ calls a.load
        for name, function in table.items():
            function()
            # ^ calls a.clean
            # ^ calls a.load
        table.get("l")()
        # ^ calls a.load
        pairs = list(zip(steps, [first, last, first]))
        for function, job in pairs:
            function()
            # ^ calls a.clean
            # ^ calls a.load
            # ^ calls a.save
            job.run()
            # ^ calls a.Job.run
        nested = {"in": {"load": load, "jobs": [first]}}
        nested["in"]["load"]()
        # ^ calls a.load
        nested["in"]["jobs"][0].run()
        # ^ calls a.Job.run
        chosen = [job for job in [first, last] if job.name == "load"]
        chosen[0].run()
        # ^ calls a.Job.run
        unique = {first, last}
        # ^ calls a.Job.__hash__
        for job in unique:
            job.run()
            # ^ calls a.Job.run
        names = {job.name: job for job in unique}
        names["load"].run()
        # ^ calls a.Job.run
        head, *rest = steps
        head()
        # ^ calls a.load
        for other in rest:
            other()
            # ^ calls a.clean
            # ^ calls a.save
        any(step() > 2 for step in steps)
        # ^ calls a.clean
        # ^ calls a.load
        # ^ calls a.save
        first == last
        # ^ calls a.Job.__eq__
        """,
    "decorators of an api": """
        # --- a.py
        import functools
        class Router:
            def __init__(self, prefix=""):
                self.prefix = prefix
                self.routes = {}
                self.hooks = []
            def route(self, path, method="GET"):
                def attach(handler):
                    self.routes[method, self.prefix + path] = handler
                    return handler
                return attach
            def before(self, hook):
                self.hooks.append(hook)
                return hook
            def get(self, path): return self.route(path, "GET")
            # ^ calls a.Router.route
            def handle(self, method, path, *args):
                for hook in self.hooks:
                    hook(path)
                    # ^ calls a.count
                return self.routes[method, path](*args)
                # ^ calls a.checked.outer.guard
                # ^ calls a.one
                # ^ calls a.users
        router = Router("/api")
        # ^ calls a.Router.__init__
        def checked(role):
            def outer(handler):
                @functools.wraps(handler)
                def guard(*args, **kwargs):
                    allow(role)
                    # ^ calls a.allow
                    return handler(*args, **kwargs)
                    # ^ calls a.one
                return guard
            return outer
        def allow(role): return role
        def traced(function=None, *, level=1):
            def wrap(inner):
                def trace(*args): return note(inner(*args), level)
                # ^ calls a.deep
                # ^ calls a.note
                # ^ calls a.plain
                return trace
            if function is None:
                return wrap
            return wrap(function)
            # ^ calls a.traced.wrap
        def note(value, level): return value
        @router.before
        # ^ calls a.Router.before
        def count(path): return len(path)
        @router.route("/users")
        # ^ calls a.Router.route
        # ^ calls a.Router.route.attach
        def users(): return fetch("users")
        # ^ calls a.fetch
        @router.get("/one")
        # ^ calls a.Router.get
        # ^ calls a.Router.route.attach
        @checked("admin")
        # ^ calls a.checked
        # ^ calls a.checked.outer
        def one(key=1): return fetch(key)
        # ^ calls a.fetch
        @traced
        # ^ calls a.traced
        def plain(x): return x
        @traced(level=2)
        # ^ calls a.traced
        # ^ calls a.traced.wrap
        def deep(x): return plain(x)
        # ^ calls a.plain
        # ^ calls a.traced.wrap.trace
        def fetch(key): return key
        class cached:
            def __init__(self, function):
                self.function = function
                self.name = function.__name__
            def __get__(self, owner, kind):
                value = self.function(owner)
                # ^ calls a.Page.body
                owner.__dict__[self.name] = value
                return value
        class Page:
            def __init__(self, key): self.key = key
            @cached
            # ^ calls a.cached.__init__
            def body(self): return fetch(self.key)
            # ^ calls a.fetch
            @property
            def size(self): return len(self.text())
            # ^ calls a.Wide.text
            @size.setter
            def size(self, value): self.resize(value)
            # ^ calls a.Page.resize
            def resize(self, value): self.key = value
            def text(self): return str(self.key)
        def registered(cls):
            KNOWN.append(cls)
            return cls
        KNOWN = []
        @registered
        # ^ calls a.registered
        class Wide(Page):
            def text(self): return super().text() * 2
            # ^ calls a.Page.text
        router.handle("GET", "/api/users")
        # ^ calls a.Router.handle
        router.handle("GET", "/api/one", 2)
        # ^ calls a.Router.handle
        users()
        # ^ calls a.users
        one(3)
        # ^ calls a.checked.outer.guard
        # ^ calls a.one
        deep(4)
        # ^ calls a.deep
        # ^ calls a.traced.wrap.trace
        page = Wide(5)
        # ^ calls a.Page.__init__
        # ^ calls a.Wide
        page.body
        # ^ calls a.cached.__get__
        page.size
        # ^ calls a.Page.size
        page.size = 6
        # ^ calls a.Page.size
        KNOWN[0](7).text()
        # ^ calls a.Page.__init__
        # ^ calls a.Wide
        # ^ calls a.Wide.text
        """,
    "generators of a feed": """
        # --- a.py
        from contextlib import ExitStack, contextmanager
        import itertools
        class Entry:
            def __init__(self, title, size): self.title, self.size = title, size
            def line(self): return self.title
            def grow(self, by):
                self.size += by
                return self
        class Feed:
            def __init__(self, entries): self.entries = entries
            def __iter__(self):
                yield from self.entries
            def __len__(self): return len(self.entries)
            def large(self, least):
                for entry in self:
                # ^ calls a.Feed.__iter__
                    if self.fits(entry, least):
                    # ^ calls a.Feed.fits
                        yield entry
            def fits(self, entry, least): return entry.size >= least
            def pages(self, size):
                page = []
                for entry in self.entries:
                    page.append(entry)
                    if len(page) == size:
                        yield Feed(page)
                        # ^ calls a.Feed.__init__
                        page = []
                if page:
                    yield Feed(page)
        def parse(lines):
            for line in lines:
                title, _, size = line.partition(" ")
                yield make(title, size)
                # ^ calls a.make
        def make(title, size): return Entry(title, int(size))
        # ^ calls a.Entry.__init__
        def numbered(entries, start=1):
            for number, entry in enumerate(entries, start):
            # ^ calls a.Feed.__iter__
                yield number, entry
        feed = Feed(list(parse(["a 1", "b 5"])))
        # ^ calls a.Feed.__init__
        # ^ calls a.parse
        for entry in feed:
        # ^ calls a.Feed.__iter__
            entry.line()
            # ^ calls a.Entry.line
        for entry in feed.large(2):
        # ^ calls a.Feed.large
            entry.grow(1)
            # ^ calls a.Entry.grow
        for page in feed.pages(1):
        # ^ calls a.Feed.pages
            for entry in page:
            # ^ calls a.Feed.__iter__
                entry.line()
                # ^ calls a.Entry.line
        for number, entry in numbered(feed):
        # ^ calls a.numbered
            entry.line()
            # ^ calls a.Entry.line
        len(feed)
        # ^ calls a.Feed.__len__
        lines = (entry.line() for entry in feed)
        # ^ calls a.Entry.line
        # ^ calls a.Feed.__iter__
        list(lines)
        biggest = max(feed, key=lambda entry: entry.grow(0).size)
        # ^ calls a.Entry.grow
        # ^ calls a.Feed.__iter__
        biggest.line()
        # ^ calls a.Entry.line
        first = next(iter(feed))
        # ^ calls a.Feed.__iter__
        first.line()
        # ^ calls a.Entry.line
        def pull(source, times):
            for _ in range(times):
                yield next(source).line()
                # ^ calls a.Entry.line
        list(pull(parse(["c 2"]), 1))
        # ^ calls a.parse
        # ^ calls a.pull
        def chained(*feeds): return itertools.chain.from_iterable(feeds)
        for entry in chained(feed, feed):
        # ^ calls a.Feed.__iter__
        # ^ calls a.chained
            entry.line()
            # ^ calls a.Entry.line
        @contextmanager
        def opened(lines):
            source = parse(lines)
            # ^ calls a.parse
            try:
                yield Feed(list(source))
                # ^ calls a.Feed.__init__
            finally:
                close(lines)
                # ^ calls a.close
        def close(lines): return None
        with opened(["d 4"]) as other:
        # ^ calls a.opened
            other.fits(first, 1)
            # ^ calls a.Feed.fits
            for entry in other:
            # ^ calls a.Feed.__iter__
                entry.line()
                # ^ calls a.Entry.line
        class Lock:
            def __enter__(self):
                self.take()
                # ^ calls a.Lock.take
                return self
            def __exit__(self, *error): self.free()
            # ^ calls a.Lock.free
            def take(self): return None
            def free(self): return None
            def held(self): return True
        with ExitStack() as stack:
        # ^ calls a.Lock.__exit__
            lock = stack.enter_context(Lock())
            # ^ calls a.Lock
            # ^ calls a.Lock.__enter__
            lock.held()
            # ^ calls a.Lock.held
        with Lock() as held, opened(["e 1"]) as last:
        # ^ calls a.Lock
        # ^ calls a.Lock.__enter__
        # ^ calls a.Lock.__exit__
        # ^ calls a.opened
            held.held()
            # ^ calls a.Lock.held
            len(last)
            # ^ calls a.Feed.__len__
        def reader():
            while True:
                entry = yield
                entry.line()
                # ^ calls a.Entry.line
        sink = reader()
        # ^ calls a.reader
        next(sink)
        sink.send(first)
        """,
    "inheritance of shapes": """
        # --- shapes.py
        from abc import ABC, abstractmethod
        class Shape(ABC):
            registry = {}
            def __init_subclass__(cls, **options):
                super().__init_subclass__(**options)
                Shape.registry[cls.__name__.lower()] = cls
            def __init__(self, name): self.name = name
            @abstractmethod
            def area(self): ...
            def describe(self): return f"{self.title()}: {self.area()}"
            # ^ calls shapes.Circle.area
            # ^ calls shapes.Circle.title
            # ^ calls shapes.Group.area
            # ^ calls shapes.Shape.title
            # ^ calls shapes.Square.area
            def title(self): return self.name.title()
            @classmethod
            def unit(cls): return cls("unit", 1)
            # ^ calls shapes.Square.__init__
            def compare(self, other): return self.area() - other.area()
            # ^ calls shapes.Circle.area
            # ^ calls shapes.Square.area
            def __add__(self, other): return Group([self, other])
            # ^ calls shapes.Group.__init__
        class Square(Shape):
        # ^ calls shapes.Shape.__init_subclass__
            def __init__(self, name, side):
                super().__init__(name)
                # ^ calls shapes.Shape.__init__
                self.side = side
            def area(self): return self.side ** 2
        class Circle(Shape):
        # ^ calls shapes.Shape.__init_subclass__
            def __init__(self, name, radius):
                Shape.__init__(self, name)
                # ^ calls shapes.Shape.__init__
                self.radius = radius
            def area(self): return 3 * self.radius
            def title(self): return "round " + super().title()
            # ^ calls shapes.Shape.title
        class Group(Shape):
        # ^ calls shapes.Shape.__init_subclass__
            def __init__(self, shapes):
                super().__init__("group")
                # ^ calls shapes.Shape.__init__
                self.shapes = shapes
            def area(self): return sum(shape.area() for shape in self.shapes)
            # ^ calls shapes.Circle.area
            # ^ calls shapes.Square.area
        class Logged:
            def area(self):
                self.note("area")
                # ^ calls shapes.LoggedSquare.note
                return super().area()
                # ^ calls shapes.Square.area
            def note(self, text): return text
        class LoggedSquare(Logged, Square):
        # ^ calls shapes.Shape.__init_subclass__
            def note(self, text): return text.upper()
        # --- main.py
        from shapes import Circle, LoggedSquare, Shape, Square
        square = Square("s", 2)
        # ^ calls shapes.Square.__init__
        circle = Circle("c", 1)
        # ^ calls shapes.Circle.__init__
        square.describe()
        # ^ calls shapes.Shape.describe
        circle.describe()
        # ^ calls shapes.Shape.describe
        square.compare(circle)
        # ^ calls shapes.Shape.compare
        both = square + circle
        # ^ calls shapes.Shape.__add__
        both.area()
        # ^ calls shapes.Group.area
        both.describe()
        # ^ calls shapes.Shape.describe
        logged = LoggedSquare("l", 3)
        # ^ calls shapes.LoggedSquare
        # ^ calls shapes.Square.__init__
        logged.area()
        # ^ calls shapes.Logged.area
        logged.title()
        # ^ calls shapes.Shape.title
        Square.unit().area()
        # ^ calls shapes.Shape.unit
        # ^ calls shapes.Square.area
        def total(shapes):
            return sum(shape.area() for shape in shapes)
            # ^ calls shapes.Circle.area
            # ^ calls shapes.Square.area
        total([square, circle])
        # ^ calls main.total
        kind = Shape.registry["circle"]
        kind("again", 2).describe()
        # ^ calls shapes.Circle.__init__
        # ^ calls shapes.Shape.describe
        for each in (square, logged):
            each.title()
            # ^ calls shapes.Shape.title
        isinstance(both, Shape) and both.title()
        # ^ calls shapes.Shape.title
        def grow(shape):
            if isinstance(shape, Square):
                return shape.area()
                # ^ calls shapes.Square.area
            return shape.title()
            # ^ calls shapes.Circle.title
        grow(square)
        # ^ calls main.grow
        grow(circle)
        # ^ calls main.grow
        """,
    "imports of tools": """
        # --- tools/__init__.py
        from tools.text import clean, Words
        from tools import numbers as maths
        from .shapes import *
        def version(): return maths.add(1, 2)
        # ^ calls tools.numbers.add
        # --- tools/text.py
        def clean(text): return strip(text)
        # ^ calls tools.text.strip
        def strip(text): return text.strip()
        class Words:
            def __init__(self, text): self.items = clean(text).split()
            # ^ calls tools.text.clean
            def count(self): return len(self.items)
            def first(self): return self.items[0]
        # --- tools/numbers.py
        import math as _math
        def add(a, b): return a + b
        def root(n): return _math.sqrt(n)
        add_all = lambda *ns: sum(ns)
        # --- tools/shapes.py
        from .numbers import add
        __all__ = ["area", "Box"]
        def area(a, b): return hidden(a) * b
        # ^ calls tools.shapes.hidden
        def hidden(a): return add(a, 0)
        # ^ calls tools.numbers.add
        class Box:
            def size(self): return area(1, 2)
            # ^ calls tools.shapes.area
        # --- tools/deep/__init__.py
        from ..text import Words as Base
        class More(Base):
            def count(self): return super().count() + 1
            # ^ calls tools.text.Words.count
        # --- main.py
        import tools
        import tools.numbers
        from tools import Words, area, maths
        from tools.deep import More
        from tools.text import strip as bare
        import tools.shapes as shapes
        tools.version()
        # ^ calls tools.version
        tools.clean(" x ")
        # ^ calls tools.text.clean
        tools.numbers.root(4)
        # ^ calls tools.numbers.root
        maths.add_all(1, 2)
        # ^ calls tools.numbers.add_all
        maths.add(3, 4)
        # ^ calls tools.numbers.add
        Words("a b").count()
        # ^ calls tools.text.Words.__init__
        # ^ calls tools.text.Words.count
        more = More("c d")
        # ^ calls tools.deep.More
        # ^ calls tools.text.Words.__init__
        more.count()
        # ^ calls tools.deep.More.count
        more.first()
        # ^ calls tools.text.Words.first
        area(1, 2)
        # ^ calls tools.shapes.area
        bare(" y ")
        # ^ calls tools.text.strip
        shapes.Box().size()
        # ^ calls tools.shapes.Box
        # ^ calls tools.shapes.Box.size
        tools.Box().size()
        # ^ calls tools.shapes.Box
        # ^ calls tools.shapes.Box.size
        def late():
            from tools.text import Words as Later
            import tools.deep as deep
            Later("e").first()
            # ^ calls tools.text.Words.__init__
            # ^ calls tools.text.Words.first
            return deep.More("f").count()
            # ^ calls tools.deep.More
            # ^ calls tools.deep.More.count
            # ^ calls tools.text.Words.__init__
        late()
        # ^ calls main.late
        try:
            from missing import fast as run
        except ImportError:
            from tools.text import clean as run
        run(" z ")
        # ^ calls tools.text.clean
        handlers = {"clean": tools.clean, "add": maths.add}
        handlers["add"](5, 6)
        # ^ calls tools.numbers.add
        module = tools.text
        module.clean(" w ")
        # ^ calls tools.text.clean
        """,
    "keyword arguments of a query": """
        # --- a.py
        class Query:
            def __init__(self, table, *, where=None, order=None):
                self.table = table
                self.where = where or always
                self.order = order
                self.done = []
            def filter(self, **rules):
                for key, rule in rules.items():
                    self.done.append(rule)
                return self
            def run(self, rows, *, each=None, finish=None):
                kept = [row for row in rows if self.where(row)]
                # ^ calls a.always
                # ^ calls a.even
                # ^ calls a.small
                for rule in self.done:
                    kept = [row for row in kept if rule(row)]
                    # ^ calls a.even
                if each is not None:
                    kept = [each(row) for row in kept]
                    # ^ calls a.double
                if finish:
                    finish(kept)
                    # ^ calls a.report
                return kept
        def always(row): return True
        def even(row): return row % 2 == 0
        def small(row): return row < 10
        def double(row): return row * 2
        def report(rows): return len(rows)
        Query("n").run([1, 2])
        # ^ calls a.Query.__init__
        # ^ calls a.Query.run
        Query("n", where=even).run([1, 2], each=double)
        # ^ calls a.Query.__init__
        # ^ calls a.Query.run
        Query("n", where=small, order=None).filter(rule=even).run([4], finish=report)
        # ^ calls a.Query.__init__
        # ^ calls a.Query.filter
        # ^ calls a.Query.run
        def build(kind=Query, /, *parts, after=report, **options):
            made = kind(*parts, **options)
            # ^ calls a.Query.__init__
            after([])
            # ^ calls a.report
            return made
        build(Query, "t", where=even).run([2])
        # ^ calls a.Query.run
        # ^ calls a.build
        def send(message, retries=3, on_error=None, **extra):
            try:
                return deliver(message, **extra)
                # ^ calls a.deliver
            except ValueError as error:
                if on_error:
                    on_error(error)
                    # ^ calls a.give_up
        def deliver(message, *, via=None):
            if via is None:
                raise ValueError(message)
            return via(message)
            # ^ calls a.post
        def post(message): return message
        def give_up(error): return None
        send("a", via=post)
        # ^ calls a.send
        send("b", on_error=give_up)
        # ^ calls a.send
        options = {"via": post}
        send("c", **options)
        # ^ calls a.send
        def compose(*functions, start=None):
            def run(value):
                if start is not None:
                    value = start(value)
                    # ^ calls a.double
                for function in functions:
                    value = function(value)
                    # ^ calls a.double
                    # ^ calls a.even
                return value
            return run
        compose(double, even, start=abs)(3)
        # ^ calls a.compose
        # ^ calls a.compose.run
        pipeline = compose(double, start=double)
        # ^ calls a.compose
        pipeline(4)
        # ^ calls a.compose.run
        def forward(function, *args, **kwargs): return function(*args, **kwargs)
        # ^ calls a.report
        # ^ calls a.send
        forward(report, [1])
        # ^ calls a.forward
        forward(send, "d", via=post)
        # ^ calls a.forward
        forward(lambda x: double(x), 5)
        # ^ calls a.double
        # ^ calls a.forward
        class Event:
            def __init__(self, name, *, callback=None, context=None):
                self.name = name
                self.callback = callback
            def fire(self, *args):
                if self.callback:
                    return self.callback(*args)
                    # ^ calls a.report
        Event("x", callback=report).fire([])
        # ^ calls a.Event.__init__
        # ^ calls a.Event.fire
        Event(name="y").fire()
        # ^ calls a.Event.__init__
        # ^ calls a.Event.fire
        """,
    "returns of a builder": """
        # --- a.py
        class Node:
            def __init__(self, tag): self.tag, self.children = tag, []
            def add(self, child):
                self.children.append(child)
                return self
            def text(self): return self.tag
            def find(self, tag):
                for child in self.children:
                    if child.tag == tag:
                        return child
                    found = child.find(tag)
                    # ^ calls a.Node.find
                    if found:
                        return found
                return None
        class Builder:
            def __init__(self): self.root = Node("root")
            # ^ calls a.Node.__init__
            def section(self, name):
                self.root.add(Node(name))
                # ^ calls a.Node.__init__
                # ^ calls a.Node.add
                return self
            def build(self): return self.root
            def parts(self): return self.root, self.root.children
            @property
            def last(self): return self.root.children[-1]
        def start(): return Builder()
        # ^ calls a.Builder.__init__
        tree = start().section("a").section("b").build()
        # ^ calls a.Builder.build
        # ^ calls a.Builder.section
        # ^ calls a.start
        tree.text()
        # ^ calls a.Node.text
        tree.find("b").text()
        # ^ calls a.Node.find
        # ^ calls a.Node.text
        root, children = start().section("c").parts()
        # ^ calls a.Builder.parts
        # ^ calls a.Builder.section
        # ^ calls a.start
        root.text()
        # ^ calls a.Node.text
        children[0].text()
        # ^ calls a.Node.text
        def pick(kind):
            if kind == "text":
                return plain
            elif kind == "html":
                return rich
            return lambda node: None
        def plain(node): return node.text()
        # ^ calls a.Node.text
        def rich(node): return f"<{node.text()}>"
        # ^ calls a.Node.text
        pick("text")(tree)
        # ^ calls a.pick
        # ^ calls a.plain
        render = pick("html")
        # ^ calls a.pick
        render(tree)
        # ^ calls a.rich
        def both(): return plain, rich
        first, second = both()
        # ^ calls a.both
        first(tree)
        # ^ calls a.plain
        second(tree)
        # ^ calls a.rich
        both()[1](tree)
        # ^ calls a.both
        # ^ calls a.rich
        def table(): return {"plain": plain, "rich": rich}
        table()["plain"](tree)
        # ^ calls a.plain
        # ^ calls a.table
        def maybe(flag): return tree if flag else None
        found = maybe(True)
        # ^ calls a.maybe
        if found:
            found.text()
            # ^ calls a.Node.text
        builder = start().section("d")
        # ^ calls a.Builder.section
        # ^ calls a.start
        builder.last.text()
        # ^ calls a.Builder.last
        # ^ calls a.Node.text
        def nested():
            def inner():
                def deepest(): return tree
                return deepest
            return inner
        nested()()().text()
        # ^ calls a.Node.text
        # ^ calls a.nested
        # ^ calls a.nested.inner
        # ^ calls a.nested.inner.deepest
        def same(value): return value
        same(tree).text()
        # ^ calls a.Node.text
        # ^ calls a.same
        same(plain)(tree)
        # ^ calls a.plain
        # ^ calls a.same
        def counter():
            total = 0
            def add(n):
                nonlocal total
                total += n
                return total
            return {"add": add, "get": lambda: total}
        c = counter()
        # ^ calls a.counter
        c["add"](2)
        # ^ calls a.counter.add
        c["get"]()
        async def load(): return tree
        async def main():
            loaded = await load()
            # ^ calls a.load
            return loaded.text()
            # ^ calls a.Node.text
        import asyncio
        asyncio.run(main())
        # ^ calls a.main
        """,
    "classes of a game": """
        # --- a.py
        from dataclasses import dataclass, field
        from enum import Enum
        @dataclass
        class Point:
            x: int
            y: int
            def moved(self, dx, dy): return Point(self.x + dx, self.y + dy)
            # ^ calls a.Point
            def __sub__(self, other): return abs(self.x - other.x)
        class Action(Enum):
            MOVE = "move"
            REST = "rest"
            def cost(self): return len(self.value)
        class Actor:
            def __init__(self, name, at):
                self.name = name
                self.at = at
                self.mind = None
            def turn(self, world):
                action = self.mind.decide(self, world)
                # ^ calls a.Hunter.decide
                # ^ calls a.Mind.decide
                self.perform(action)
                # ^ calls a.Actor.perform
                return action.cost()
                # ^ calls a.Action.cost
            def perform(self, action):
                handler = getattr(self, "do_" + action.value)
                return handler()
                # ^ calls a.Actor.do_move
                # ^ calls a.Actor.do_rest
            def do_move(self): self.at = self.at.moved(1, 0)
            # ^ calls a.Point.moved
            def do_rest(self): return None
        class Mind:
            def decide(self, actor, world): return Action.REST
        class Hunter(Mind):
            def __init__(self, prey): self.prey = prey
            def decide(self, actor, world):
                if actor.at - self.prey.at > 1:
                # ^ calls a.Point.__sub__
                    return Action.MOVE
                return super().decide(actor, world)
        @dataclass
        class World:
            actors: list = field(default_factory=list)
            log: "Log" = None
            def __post_init__(self): self.log = Log()
            # ^ calls a.Log.__init__
            def add(self, actor):
                self.actors.append(actor)
                return actor
            def step(self):
                for actor in self.actors:
                    spent = actor.turn(self)
                    # ^ calls a.Actor.turn
                    self.log.write(f"{actor.name} {spent}")
                    # ^ calls a.Log.write
            def near(self, point): return [a for a in self.actors if a.at - point < 2]
            # ^ calls a.Point.__sub__
        class Log:
            def __init__(self): self.lines = []
            def write(self, text): self.lines.append(self.format(text))
            # ^ calls a.Log.format
            def format(self, text): return text
            def __bool__(self): return bool(self.lines)
            def __contains__(self, text): return text in self.lines
            def __getitem__(self, place): return self.lines[place]
            def __call__(self, text): return self.write(text)
            # ^ calls a.Log.write
        world = World()
        # ^ calls a.World
        # ^ calls a.World.__post_init__
        rabbit = world.add(Actor("rabbit", Point(5, 0)))
        # ^ calls a.Actor.__init__
        # ^ calls a.Point
        # ^ calls a.World.add
        rabbit.mind = Mind()
        # ^ calls a.Mind
        wolf = world.add(Actor("wolf", Point(0, 0)))
        # ^ calls a.Actor.__init__
        # ^ calls a.Point
        # ^ calls a.World.add
        wolf.mind = Hunter(rabbit)
        # ^ calls a.Hunter.__init__
        world.step()
        # ^ calls a.World.step
        for actor in world.near(Point(5, 0)):
        # ^ calls a.Point
        # ^ calls a.World.near
            actor.do_rest()
            # ^ calls a.Actor.do_rest
        "wolf" in world.log
        # ^ calls a.Log.__contains__
        world.log[0]
        # ^ calls a.Log.__getitem__
        world.log("done")
        # ^ calls a.Log.__call__
        if world.log:
        # ^ calls a.Log.__bool__
            world.log.format("x")
            # ^ calls a.Log.format
        start = Point(0, 0).moved(1, 1)
        # ^ calls a.Point
        # ^ calls a.Point.moved
        start - rabbit.at
        # ^ calls a.Point.__sub__
        Action("move").cost()
        # ^ calls a.Action
        # ^ calls a.Action.cost
        Action.REST.cost()
        # ^ calls a.Action.cost
        for action in Action:
            action.cost()
            # ^ calls a.Action.cost
        """,
}
