"""Later programs of Python, with the calls recorded while they ran."""

from __future__ import annotations

PROGRAMS = {
    "assignments of a cache": """
        # --- a.py
        class Memory:
            def load(self, key): return None
            def keep(self, key, value): return value
        class Disk(Memory):
            def load(self, key): return key.upper()
        def compute(key): return key * 2
        primary, fallback = Memory(), Disk()
        # ^ calls a.Disk
        # ^ calls a.Memory
        chain = [primary, fallback]
        def lookup(key):
            for level in chain:
                if (hit := level.load(key)) is not None:
                # ^ calls a.Disk.load
                # ^ calls a.Memory.load
                    return hit
            *_, last = chain
            return last.keep(key, compute(key))
        lookup("a")
        # ^ calls a.lookup
        reader = writer = fallback
        reader.load("b")
        # ^ calls a.Disk.load
        writer.keep("b", 1)
        # ^ calls a.Memory.keep
        (load, keep), size = (primary.load, primary.keep), 2
        load("c")
        # ^ calls a.Memory.load
        keep("c", 3)
        # ^ calls a.Memory.keep
        """,
    "closures as a pipeline": """
        # --- a.py
        def stage(action):
            following = None
            def run(value):
                result = action(value)
                # ^ calls a.double
                # ^ calls a.parse
                return following(result) if following else result
                # ^ calls a.report
                # ^ calls a.stage.run
            def then(other):
                nonlocal following
                following = other
                return run
            run.then = then
            return run
        def parse(text): return int(text)
        def double(n): return n * 2
        def report(n): return f"<{n}>"
        first = stage(parse)
        # ^ calls a.stage
        second = stage(double)
        # ^ calls a.stage
        second.then(report)
        # ^ calls a.stage.then
        first.then(second)
        # ^ calls a.stage.then
        first("4")
        # ^ calls a.stage.run
        """,
    "containers of handlers by type": """
        # --- a.py
        class Text:
            def __init__(self, body): self.body = body
        class Image:
            def __init__(self, url): self.url = url
        def render_text(node): return escape(node.body)
        # ^ calls a.escape
        def render_image(node): return node.url
        def escape(text): return text.replace("<", "")
        RENDERERS = {Text: render_text, Image: render_image}
        class Page:
            def __init__(self): self.nodes, self.index = [], {}
            def add(self, node):
                self.nodes.append(node)
                self.index.setdefault(type(node).__name__, []).append(node)
                return node
            def render(self): return [RENDERERS[type(n)](n) for n in self.nodes]
            # ^ calls a.render_image
            # ^ calls a.render_text
            def first(self, kind): return self.index[kind][0]
        page = Page()
        # ^ calls a.Page.__init__
        page.add(Text("a<b"))
        # ^ calls a.Page.add
        # ^ calls a.Text.__init__
        page.add(Image("u"))
        # ^ calls a.Image.__init__
        # ^ calls a.Page.add
        page.render()
        # ^ calls a.Page.render
        escape(page.first("Text").body)
        # ^ calls a.Page.first
        # ^ calls a.escape
        """,
    "decorators that register and time": """
        # --- a.py
        import functools
        class Router:
            def __init__(self): self.routes = {}
            def route(self, path, *, methods=("GET",)):
                def register(view):
                    for method in methods:
                        self.routes[method, path] = view
                    return view
                return register
            def handle(self, method, path): return self.routes[method, path]()
            # ^ calls a.about
            # ^ calls a.index
            # ^ calls a.timed.inner
        def timed(function):
            @functools.wraps(function)
            def inner(*args, **kwargs):
                start = clock()
                # ^ calls a.clock
                try:
                    return function(*args, **kwargs)
                    # ^ calls a.index
                finally:
                    record(function.__name__, clock() - start)
                    # ^ calls a.clock
                    # ^ calls a.record
            return inner
        def clock(): return 1
        def record(name, took): return took
        app = Router()
        # ^ calls a.Router.__init__
        @app.route("/")
        # ^ calls a.Router.route
        # ^ calls a.Router.route.register
        @timed
        # ^ calls a.timed
        def index(): return "index"
        @app.route("/about", methods=("GET", "POST"))
        # ^ calls a.Router.route
        # ^ calls a.Router.route.register
        def about(): return index()
        # ^ calls a.index
        # ^ calls a.timed.inner
        app.handle("GET", "/")
        # ^ calls a.Router.handle
        app.handle("POST", "/about")
        # ^ calls a.Router.handle
        index()
        # ^ calls a.index
        # ^ calls a.timed.inner
        """,
    "generators that page": """
        # --- a.py
        class Page:
            def __init__(self, items, more): self.items, self.more = items, more
            def rows(self): return iter(self.items)
        class Row:
            def __init__(self, n): self.n = n
            def value(self): return self.n
        def fetch(at): return Page([Row(at), Row(at + 1)], at < 2)
        # ^ calls a.Page.__init__
        # ^ calls a.Row.__init__
        def pages():
            at = 0
            while True:
                page = fetch(at)
                # ^ calls a.fetch
                yield page
                if not page.more:
                    return
                at += 1
        def rows():
            for page in pages():
            # ^ calls a.pages
                yield from page.rows()
                # ^ calls a.Page.rows
        total = sum(row.value() for row in rows())
        # ^ calls a.Row.value
        # ^ calls a.rows
        firsts = {row.value(): row for row in rows()}
        # ^ calls a.Row.value
        # ^ calls a.rows
        firsts[0].value()
        # ^ calls a.Row.value
        """,
    "inheritance of a parser": """
        # --- base.py
        class Visitor:
            def visit(self, node):
                method = getattr(self, "visit_" + node.kind, self.fallback)
                return method(node)
                # ^ calls base.Visitor.fallback
                # ^ calls main.Counter.visit_leaf
                # ^ calls main.Quiet.fallback
            def fallback(self, node): return [self.visit(child) for child in node.children]
            # ^ calls base.Visitor.visit
        class Node:
            def __init__(self, kind, *children): self.kind, self.children = kind, children
            def accept(self, visitor): return visitor.visit(self)
            # ^ calls base.Visitor.visit
        # --- main.py
        from base import Node, Visitor
        class Counter(Visitor):
            def __init__(self):
                super().__init__()
                self.count = 0
            def visit_leaf(self, node):
                self.bump()
                # ^ calls main.Counter.bump
                # ^ calls main.Quiet.bump
                return node
            def bump(self): self.count += 1
        class Quiet(Counter):
            def bump(self): super().bump()
            # ^ calls main.Counter.bump
            def fallback(self, node): return super().fallback(node)
            # ^ calls base.Visitor.fallback
        tree = Node("root", Node("leaf"), Node("leaf"))
        # ^ calls base.Node.__init__
        tree.accept(Counter())
        # ^ calls base.Node.accept
        # ^ calls main.Counter.__init__
        Quiet().visit(tree)
        # ^ calls base.Visitor.visit
        # ^ calls main.Counter.__init__
        # ^ calls main.Quiet
        """,
    "inheritance with cooperative init": """
        # --- a.py
        class Base:
            def __init__(self, name, **rest):
                self.name = name
                self.extra = rest
            def describe(self): return self.name
        class Timestamped(Base):
            def __init__(self, *args, created=0, **kwargs):
                super().__init__(*args, **kwargs)
                # ^ calls a.Tagged.__init__
                self.created = created
            def describe(self): return f"{super().describe()}@{self.created}"
            # ^ calls a.Tagged.describe
        class Tagged(Base):
            def __init__(self, *args, tags=(), **kwargs):
                super().__init__(*args, **kwargs)
                # ^ calls a.Base.__init__
                self.tags = list(tags)
            def describe(self): return super().describe() + self.joined()
            # ^ calls a.Base.describe
            # ^ calls a.Tagged.joined
            def joined(self): return ",".join(self.tags)
        class Post(Timestamped, Tagged):
            @classmethod
            def draft(cls, name): return cls(name, created=1, tags=["draft"])
            # ^ calls a.Post
            # ^ calls a.Timestamped.__init__
        Post.draft("x").describe()
        # ^ calls a.Post.draft
        # ^ calls a.Timestamped.describe
        Tagged("y").describe()
        # ^ calls a.Tagged.__init__
        # ^ calls a.Tagged.describe
        """,
    "imports with plugins": """
        # --- plugins/__init__.py
        from .registry import all_plugins, register
        from . import upper, reverse as backwards
        # --- plugins/registry.py
        _known = {}
        def register(name):
            def add(plugin):
                _known[name] = plugin
                return plugin
            return add
        def all_plugins(): return list(_known.values())
        # --- plugins/upper.py
        from .registry import register
        @register("upper")
        # ^ calls plugins.registry.register
        # ^ calls plugins.registry.register.add
        class Upper:
            def apply(self, text): return text.upper()
        # --- plugins/reverse.py
        from .registry import register
        @register("reverse")
        # ^ calls plugins.registry.register
        # ^ calls plugins.registry.register.add
        class Reverse:
            def apply(self, text): return flip(text)
            # ^ calls plugins.reverse.flip
        def flip(text): return text[::-1]
        # --- main.py
        import plugins
        from plugins import all_plugins as found, backwards
        for kind in found():
        # ^ calls plugins.registry.all_plugins
            kind().apply("abc")
            # ^ calls plugins.reverse.Reverse
            # ^ calls plugins.reverse.Reverse.apply
            # ^ calls plugins.upper.Upper
            # ^ calls plugins.upper.Upper.apply
        backwards.flip("x")
        # ^ calls plugins.reverse.flip
        plugins.upper.Upper().apply("y")
        # ^ calls plugins.upper.Upper
        # ^ calls plugins.upper.Upper.apply
        """,
    "keyword arguments through layers": """
        # --- a.py
        def run(task, *, before=None, after=None, **options):
            if before:
                before(task)
                # ^ calls a.announce
            result = task(**options)
            # ^ calls a.build
            return after(result) if after else result
            # ^ calls a.summary
        def announce(task): return task.__name__
        def build(target="all", jobs=1): return compile_all(target)
        # ^ calls a.compile_all
        def compile_all(target): return target
        def summary(result): return result
        DEFAULTS = dict(before=announce)
        run(build, after=summary)
        # ^ calls a.run
        run(build, target="docs", **DEFAULTS)
        # ^ calls a.run
        class Runner:
            def __init__(self, **hooks): self.hooks = hooks
            def __call__(self, task, **options): return run(task, **{**self.hooks, **options})
            # ^ calls a.run
        quiet = Runner(after=summary)
        # ^ calls a.Runner.__init__
        quiet(build, jobs=2)
        # ^ calls a.Runner.__call__
        """,
    "returns of strategies": """
        # --- a.py
        class Retry:
            def __init__(self, times): self.times = times
            def run(self, job): return job()
            # ^ calls a.work
        class Once:
            def run(self, job): return job()
            # ^ calls a.work
        def strategy(times):
            return Retry(times) if times > 1 else Once()
            # ^ calls a.Once
            # ^ calls a.Retry.__init__
        def bounds():
            def low(): return 0
            def high(): return 9
            return {"low": low, "high": high}
        def work(): return limits["low"]()
        # ^ calls a.bounds.low
        limits = bounds()
        # ^ calls a.bounds
        strategy(3).run(work)
        # ^ calls a.Retry.run
        # ^ calls a.strategy
        strategy(1).run(work)
        # ^ calls a.Once.run
        # ^ calls a.strategy
        limits["high"]()
        # ^ calls a.bounds.high
        def pair(): return work, bounds
        job, more = pair()
        # ^ calls a.pair
        job()
        # ^ calls a.work
        more()["low"]()
        # ^ calls a.bounds
        # ^ calls a.bounds.low
        """,
    "exceptions and cleanup": """
        # --- a.py
        class Failure(Exception):
            def __init__(self, step, cause=None):
                super().__init__(step)
                self.step, self.cause = step, cause
            def chain(self):
                node = self
                while node is not None:
                    yield node.step
                    node = getattr(node, "cause", None)
        class Resource:
            def __enter__(self):
                self.acquire()
                # ^ calls a.Resource.acquire
                return self
            def __exit__(self, kind, error, trace):
                self.release()
                # ^ calls a.Resource.release
                return self.handled(error)
                # ^ calls a.Resource.handled
            def acquire(self): ...
            def release(self): ...
            def handled(self, error): return isinstance(error, Failure)
            def use(self): raise Failure("use", Failure("open"))
            # ^ calls a.Failure.__init__
        def log(error): return list(error.chain())
        # ^ calls a.Failure.chain
        with Resource() as resource:
        # ^ calls a.Resource
        # ^ calls a.Resource.__enter__
        # ^ calls a.Resource.__exit__
            try:
                resource.use()
                # ^ calls a.Resource.use
            except Failure as error:
                log(error)
                # ^ calls a.log
                raise
        """,
    "lambdas and partials": """
        # --- a.py
        from functools import partial, reduce
        def scale(factor, value): return factor * value
        def shift(by, value): return value + by
        steps = [partial(scale, 2), partial(shift, by=1), lambda v: scale(3, v)]
        def run(value):
            return reduce(lambda acc, step: step(acc), steps[:1], value)
            # ^ calls a.scale
        run(4)
        # ^ calls a.run
        by_two = partial(scale, 2)
        by_two(5)
        # ^ calls a.scale
        sorter = {"size": lambda item: measure(item), "name": str}
        # ^ calls a.measure
        def measure(item): return len(item)
        def order(items, by="size"): return sorted(items, key=sorter[by])
        order(["bb", "a"])
        # ^ calls a.order
        choose = max(["a", "bb"], key=measure)
        # ^ calls a.measure
        """,
    "protocol of money": """
        # --- a.py
        from functools import total_ordering
        @total_ordering
        class Money:
            def __init__(self, amount, currency="EUR"):
                self.amount, self.currency = amount, currency
            def __add__(self, other):
                return Money(self.amount + self.converted(other), self.currency)
                # ^ calls a.Money.__init__
                # ^ calls a.Money.converted
            def __eq__(self, other): return self.amount == other.amount
            def __lt__(self, other): return self.amount < other.amount
            def __str__(self): return f"{self.amount} {self.currency}"
            def __iter__(self): return iter((self.amount, self.currency))
            def converted(self, other): return other.amount * rate(other.currency, self.currency)
            # ^ calls a.rate
        def rate(a, b): return 1 if a == b else 2
        class Wallet:
            def __init__(self): self.items = []
            def __len__(self): return len(self.items)
            def __getitem__(self, at): return self.items[at]
            def put(self, money):
                self.items.append(money)
                return self
            def total(self):
                result = Money(0)
                # ^ calls a.Money.__init__
                for each in self.items:
                    result = result + each
                    # ^ calls a.Money.__add__
                return result
        wallet = Wallet().put(Money(1)).put(Money(2, "USD"))
        # ^ calls a.Money.__init__
        # ^ calls a.Wallet.__init__
        # ^ calls a.Wallet.put
        amount, currency = wallet.total()
        # ^ calls a.Money.__iter__
        # ^ calls a.Wallet.total
        str(wallet[0])
        # ^ calls a.Money.__str__
        # ^ calls a.Wallet.__getitem__
        wallet[0] < wallet[1]
        # ^ calls a.Money.__lt__
        # ^ calls a.Wallet.__getitem__
        len(wallet)
        # ^ calls a.Wallet.__len__
        """,
    "async with queues": """
        # --- a.py
        import asyncio
        class Worker:
            def __init__(self, queue, handler): self.queue, self.handler = queue, handler
            async def run(self):
                while True:
                    job = await self.queue.get()
                    if job is None:
                        return self.finish()
                        # ^ calls a.Worker.finish
                    await self.handler(job)
                    # ^ calls a.handle
            def finish(self): return "done"
        class Lock:
            async def __aenter__(self): return await self.take()
            # ^ calls a.Lock.take
            async def __aexit__(self, *error): self.drop()
            # ^ calls a.Lock.drop
            async def take(self): return self
            def drop(self): ...
        lock = Lock()
        # ^ calls a.Lock
        async def handle(job):
            async with lock:
            # ^ calls a.Lock.__aenter__
            # ^ calls a.Lock.__aexit__
                return await store(job)
                # ^ calls a.store
        async def store(job): return job
        async def ticks(n):
            for i in range(n):
                yield i
        async def main():
            queue = asyncio.Queue()
            async for tick in ticks(2):
            # ^ calls a.ticks
                await queue.put(tick)
            await queue.put(None)
            worker = Worker(queue, handle)
            # ^ calls a.Worker.__init__
            await asyncio.wait_for(worker.run(), 5)
            # ^ calls a.Worker.run
        asyncio.run(main())
        # ^ calls a.main
        """,
    "classes with tables": """
        # --- a.py
        class Unit:
            factors = {}
            def __init_subclass__(cls, **kwargs):
                super().__init_subclass__(**kwargs)
                Unit.factors[cls.symbol] = cls.convert
            @staticmethod
            def parse(text):
                number, symbol = text.split()
                return Unit.factors[symbol](float(number))
                # ^ calls a.Metre.convert
                # ^ calls a.Mile.convert
        class Metre(Unit):
        # ^ calls a.Unit.__init_subclass__
            symbol = "m"
            @staticmethod
            def convert(value): return value
        class Mile(Unit):
        # ^ calls a.Unit.__init_subclass__
            symbol = "mi"
            @staticmethod
            def convert(value): return rounded(value * 1609.344)
            # ^ calls a.rounded
        def rounded(value): return round(value, 1)
        class Shape:
            _checks = ("_closed", "_simple")
            def valid(self): return all(getattr(self, name)() for name in self._checks)
            # ^ calls a.Shape._closed
            # ^ calls a.Shape._simple
            def _closed(self): return True
            def _simple(self): return True
        Unit.parse("2 m")
        # ^ calls a.Unit.parse
        Unit.parse("1 mi")
        # ^ calls a.Unit.parse
        Shape().valid()
        # ^ calls a.Shape
        # ^ calls a.Shape.valid
        """,
}
