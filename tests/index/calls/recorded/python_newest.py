"""The newest programs of Python, with the calls recorded while they ran."""

from __future__ import annotations

PROGRAMS = {
    "assignments of settings": """
        # --- a.py
        class Source:
            def __init__(self, values): self.values = values
            def get(self, key): return self.values.get(key)
        class Env(Source):
            def get(self, key): return super().get(key.upper())
            # ^ calls a.Source.get
        class Layered:
            def __init__(self, first, second):
                self.first, self.second = first, second
            def get(self, key):
                value = self.first.get(key)
                # ^ calls a.Env.get
                return value if value is not None else self.second.get(key)
                # ^ calls a.Source.get
        def coerce(value): return int(value) if value else 0
        defaults = Source({"port": "80"})
        # ^ calls a.Source.__init__
        env = Env({"PORT": "81"})
        # ^ calls a.Env
        # ^ calls a.Source.__init__
        config = Layered(env, defaults)
        # ^ calls a.Layered.__init__
        port = coerce(config.get("port"))
        # ^ calls a.Layered.get
        # ^ calls a.coerce
        convert = coerce
        convert("7")
        # ^ calls a.coerce
        lookup = config.get
        lookup("host")
        # ^ calls a.Layered.get
        a = b = Source({})
        # ^ calls a.Source.__init__
        b.get("x")
        # ^ calls a.Source.get
        a, b = env, defaults
        a.get("port")
        # ^ calls a.Env.get
        b.get("port")
        # ^ calls a.Source.get
        if (found := config.get("port")):
        # ^ calls a.Layered.get
            coerce(found)
            # ^ calls a.coerce
        holder = {}
        holder["convert"] = convert
        holder["convert"]("3")
        # ^ calls a.coerce
        """,
    "closures that limit": """
        # --- a.py
        def limiter(limit):
            used = 0
            waiting = []
            def left(): return limit - used
            def take(n=1):
                nonlocal used
                if left() < n:
                # ^ calls a.limiter.left
                    waiting.append(refuse)
                    return waiting[-1](n)
                    # ^ calls a.limiter.refuse
                used += n
                return accept(n)
                # ^ calls a.limiter.accept
            def refuse(n): return None
            def accept(n): return n
            def reset():
                nonlocal used
                used = 0
                return left()
                # ^ calls a.limiter.left
            return take, reset
        take, reset = limiter(3)
        # ^ calls a.limiter
        take()
        # ^ calls a.limiter.take
        take(5)
        # ^ calls a.limiter.take
        reset()
        # ^ calls a.limiter.reset
        def counter(step):
            total = [0]
            add = lambda n: total.append(total[-1] + n)
            def tick():
                add(step)
                # ^ calls a.counter.add
                return total[-1]
            tick.by = add
            return tick
        tick = counter(2)
        # ^ calls a.counter
        tick()
        # ^ calls a.counter.tick
        tick.by(4)
        # ^ calls a.counter.add
        def delayed(function, *args):
            def run(): return function(*args)
            # ^ calls a.counter.tick
            # ^ calls a.limiter.take
            return run
        jobs = [delayed(tick), delayed(take, 1)]
        # ^ calls a.delayed
        for job in jobs:
            job()
            # ^ calls a.delayed.run
        """,
    "containers of shapes": """
        # --- a.py
        class Circle:
            def area(self): return 3
            def scale(self, by): return self
        class Square:
            def area(self): return 4
            def scale(self, by): return self
        class Canvas:
            def __init__(self):
                self.shapes = []
                self.by_name = {}
            def add(self, name, shape):
                self.shapes.append(shape)
                self.by_name[name] = shape
                return self
            def total(self): return sum(s.area() for s in self.shapes)
            # ^ calls a.Circle.area
            # ^ calls a.Square.area
            def __getitem__(self, name): return self.by_name[name]
            def __len__(self): return len(self.shapes)
            def __iter__(self): return iter(self.shapes)
        canvas = Canvas()
        # ^ calls a.Canvas.__init__
        canvas.add("c", Circle()).add("s", Square())
        # ^ calls a.Canvas.add
        # ^ calls a.Circle
        # ^ calls a.Square
        canvas.total()
        # ^ calls a.Canvas.total
        canvas["c"].area()
        # ^ calls a.Canvas.__getitem__
        # ^ calls a.Circle.area
        len(canvas)
        # ^ calls a.Canvas.__len__
        for shape in canvas:
        # ^ calls a.Canvas.__iter__
            shape.scale(2)
            # ^ calls a.Circle.scale
            # ^ calls a.Square.scale
        pairs = [("one", Circle()), ("two", Square())]
        # ^ calls a.Circle
        # ^ calls a.Square
        for label, shape in pairs:
            shape.area()
            # ^ calls a.Circle.area
            # ^ calls a.Square.area
        largest = max([Circle(), Square()], key=lambda s: s.area())
        # ^ calls a.Circle
        # ^ calls a.Circle.area
        # ^ calls a.Square
        # ^ calls a.Square.area
        grid = [[Circle()], [Square()]]
        # ^ calls a.Circle
        # ^ calls a.Square
        for row in grid:
            for cell in row:
                cell.area()
                # ^ calls a.Circle.area
                # ^ calls a.Square.area
        first, *others = canvas.shapes
        first.area()
        # ^ calls a.Circle.area
        stack = []
        stack.append(Square())
        # ^ calls a.Square
        stack.pop().area()
        # ^ calls a.Square.area
        """,
    "decorators of commands": """
        # --- a.py
        import functools
        COMMANDS = {}
        def command(name):
            def register(function):
                COMMANDS[name] = function
                return function
            return register
        def timed(function):
            @functools.wraps(function)
            def measure(*args, **kwargs):
                start()
                # ^ calls a.start
                try:
                    return function(*args, **kwargs)
                    # ^ calls a.Service.work
                    # ^ calls a.add
                finally:
                    stop()
                    # ^ calls a.stop
            return measure
        def start(): return 0
        def stop(): return 1
        class Retry:
            def __init__(self, times): self.times = times
            def __call__(self, function):
                def attempt(*args):
                    for _ in range(self.times):
                        result = function(*args)
                        # ^ calls a.fetch
                    return result
                return attempt
        @command("add")
        # ^ calls a.command
        # ^ calls a.command.register
        @timed
        # ^ calls a.timed
        def add(a, b): return a + b
        @command("fetch")
        # ^ calls a.command
        # ^ calls a.command.register
        @Retry(2)
        # ^ calls a.Retry.__call__
        # ^ calls a.Retry.__init__
        def fetch(url): return parse(url)
        # ^ calls a.parse
        def parse(text): return text
        class Service:
            @property
            def ready(self): return self.check()
            # ^ calls a.Service.check
            def check(self): return True
            @staticmethod
            def make(): return Service()
            # ^ calls a.Service
            @classmethod
            def create(cls): return cls()
            # ^ calls a.Service
            @timed
            # ^ calls a.timed
            def work(self): return parse("x")
            # ^ calls a.parse
        add(1, 2)
        # ^ calls a.add
        # ^ calls a.timed.measure
        fetch("u")
        # ^ calls a.Retry.__call__.attempt
        # ^ calls a.fetch
        COMMANDS["add"](1, 2)
        # ^ calls a.add
        # ^ calls a.timed.measure
        def run(name, *args): return COMMANDS[name](*args)
        # ^ calls a.Retry.__call__.attempt
        # ^ calls a.add
        # ^ calls a.fetch
        # ^ calls a.timed.measure
        run("add", 3, 4)
        # ^ calls a.run
        run("fetch", "v")
        # ^ calls a.run
        Service.make().ready
        # ^ calls a.Service.make
        # ^ calls a.Service.ready
        Service.create().work()
        # ^ calls a.Service.create
        # ^ calls a.Service.work
        # ^ calls a.timed.measure
        """,
    "generators of tokens": """
        # --- a.py
        from contextlib import contextmanager
        class Token:
            def __init__(self, text): self.text = text
            def show(self): return self.text
        def read(text):
            for word in text.split():
                yield Token(word)
                # ^ calls a.Token.__init__
        def only(tokens, keep):
            for token in tokens:
                if keep(token):
                # ^ calls a.long
                    yield token
        def long(token): return len(token.show()) > 1
        # ^ calls a.Token.show
        def joined(*streams):
            for stream in streams:
                yield from stream
        def consume(tokens): return [token.show() for token in tokens]
        # ^ calls a.Token.show
        consume(only(read("a bb ccc"), long))
        # ^ calls a.consume
        # ^ calls a.only
        # ^ calls a.read
        stream = joined(read("x"), read("yy"))
        # ^ calls a.joined
        # ^ calls a.read
        next(stream).show()
        # ^ calls a.Token.show
        for token in stream:
            token.show()
            # ^ calls a.Token.show
        @contextmanager
        def opened(name):
            handle = Token(name)
            # ^ calls a.Token.__init__
            prepare(handle)
            # ^ calls a.prepare
            yield handle
            finish(handle)
            # ^ calls a.finish
        def prepare(handle): return handle.show()
        # ^ calls a.Token.show
        def finish(handle): return handle.show()
        # ^ calls a.Token.show
        with opened("f") as f:
        # ^ calls a.opened
            f.show()
            # ^ calls a.Token.show
        class Pages:
            def __init__(self, size): self.size = size
            def __iter__(self):
                for n in range(self.size):
                    yield self.page(n)
                    # ^ calls a.Pages.page
            def page(self, n): return Token(str(n))
            # ^ calls a.Token.__init__
        for page in Pages(2):
        # ^ calls a.Pages.__init__
        # ^ calls a.Pages.__iter__
            page.show()
            # ^ calls a.Token.show
        texts = {t.text: t for t in read("k v")}
        # ^ calls a.read
        texts["k"].show()
        # ^ calls a.Token.show
        def averaging():
            total = 0
            while True:
                value = yield total
                total += clean(value)
                # ^ calls a.clean
        def clean(value): return value
        run = averaging()
        # ^ calls a.averaging
        next(run)
        run.send(3)
        """,
    "inheritance of reports": """
        # --- base.py
        from abc import ABC, abstractmethod
        class Report(ABC):
            title = "?"
            def render(self):
                return self.header() + self.body() + self.footer()
                # ^ calls base.Dated.footer
                # ^ calls base.Report.header
                # ^ calls base.Signed.footer
                # ^ calls main.Audit.body
                # ^ calls main.Quick.body
                # ^ calls main.Quick.header
                # ^ calls main.Sales.body
            def header(self): return self.title
            @abstractmethod
            def body(self): ...
            def footer(self): return ""
        class Dated:
            def footer(self): return "today" + super().footer()
            # ^ calls base.Report.footer
        class Signed:
            def __init__(self, name, **rest):
                super().__init__(**rest)
                self.name = name
            def footer(self): return self.name + super().footer()
            # ^ calls base.Dated.footer
        # --- main.py
        from base import Report, Dated, Signed
        class Sales(Dated, Report):
            title = "sales"
            def body(self): return "1"
        class Audit(Signed, Dated, Report):
            def body(self): return self.findings()
            # ^ calls main.Audit.findings
            def findings(self): return "none"
        class Quick(Sales):
            def header(self): return super().header().upper()
            # ^ calls base.Report.header
            def body(self):
                text = super().body()
                # ^ calls main.Sales.body
                return text
        def publish(report): return report.render()
        # ^ calls base.Report.render
        publish(Sales())
        # ^ calls main.Sales
        # ^ calls main.publish
        publish(Audit("me"))
        # ^ calls base.Signed.__init__
        # ^ calls main.Audit
        # ^ calls main.publish
        quick = Quick()
        # ^ calls main.Quick
        quick.render()
        # ^ calls base.Report.render
        Sales.body(quick)
        # ^ calls main.Sales.body
        """,
    "imports of a package": """
        # --- shop/__init__.py
        from .cart import Cart
        from .prices import price as price_of, Tax
        from . import stock
        __all__ = ["Cart", "price_of", "stock", "Tax"]
        # --- shop/cart.py
        from shop import prices
        class Cart:
            def __init__(self): self.items = []
            def add(self, name):
                self.items.append(name)
                return self
            def total(self): return sum(prices.price(i) for i in self.items)
            # ^ calls shop.prices.price
        # --- shop/prices.py
        TABLE = {"tea": 3}
        def price(name): return rounded(TABLE.get(name, 1))
        # ^ calls shop.prices.rounded
        def rounded(n): return int(n)
        class Tax:
            rate = 2
            @classmethod
            def of(cls, amount): return cls().apply(amount)
            # ^ calls shop.prices.Tax
            # ^ calls shop.prices.Tax.apply
            def apply(self, amount): return amount * self.rate
        # --- shop/stock.py
        from .prices import price
        _left = {}
        def left(name): return _left.get(name, 0)
        def fill(name, n):
            _left[name] = left(name) + n
            # ^ calls shop.stock.left
            return price(name)
            # ^ calls shop.prices.price
        # --- main.py
        import shop
        import shop.stock as store
        from shop import Cart, price_of
        from shop.prices import *
        def late():
            from shop.prices import rounded as r
            return r(2.5)
            # ^ calls shop.prices.rounded
        cart = Cart()
        # ^ calls shop.cart.Cart.__init__
        cart.add("tea").add("milk")
        # ^ calls shop.cart.Cart.add
        cart.total()
        # ^ calls shop.cart.Cart.total
        price_of("tea")
        # ^ calls shop.prices.price
        shop.stock.fill("tea", 3)
        # ^ calls shop.stock.fill
        store.left("tea")
        # ^ calls shop.stock.left
        Tax.of(3)
        # ^ calls shop.prices.Tax.of
        shop.Tax().apply(1)
        # ^ calls shop.prices.Tax
        # ^ calls shop.prices.Tax.apply
        late()
        # ^ calls main.late
        rounded(3)
        # ^ calls shop.prices.rounded
        """,
    "keyword arguments of a form": """
        # --- a.py
        def required(value): return bool(value)
        def short(value): return len(value) < 5
        def trim(value): return value.strip()
        class Field:
            def __init__(self, name, *, check=required, clean=None, **extra):
                self.name = name
                self.check = check
                self.clean = clean
                self.on_error = extra.get("on_error", ignore)
            def read(self, value):
                if self.clean:
                    value = self.clean(value)
                    # ^ calls a.trim
                if not self.check(value):
                # ^ calls a.required
                # ^ calls a.short
                    return self.on_error(self.name)
                    # ^ calls a.complain
                return value
        def ignore(name): return None
        def complain(name): return f"bad {name}"
        def form(*fields, before=None, after=None):
            def submit(**values):
                if before: before(values)
                # ^ calls a.log
                result = [f.read(values[f.name]) for f in fields]
                # ^ calls a.Field.read
                return after(result) if after else result
                # ^ calls a.count
            return submit
        def log(values): return values
        def count(result): return len(result)
        title = Field("title", clean=trim)
        # ^ calls a.Field.__init__
        code = Field(name="code", check=short, on_error=complain)
        # ^ calls a.Field.__init__
        send = form(title, code, before=log, after=count)
        # ^ calls a.form
        send(title=" a ", code="too long")
        # ^ calls a.form.submit
        options = {"before": log}
        plain = form(title, **options)
        # ^ calls a.form
        plain(title="b")
        # ^ calls a.form.submit
        def apply(function, *args, **kwargs): return function(*args, **kwargs)
        # ^ calls a.short
        # ^ calls a.trim
        apply(trim, value=" x ")
        # ^ calls a.apply
        apply(short, "abc")
        # ^ calls a.apply
        """,
    "returns of a parser": """
        # --- a.py
        class Number:
            def __init__(self, value): self.value = value
            def eval(self): return self.value
        class Sum:
            def __init__(self, left, right): self.left, self.right = left, right
            def eval(self): return self.left.eval() + self.right.eval()
            # ^ calls a.Number.eval
        class Failure:
            def eval(self): return None
        def number(text): return Number(int(text)) if text.isdigit() else None
        # ^ calls a.Number.__init__
        def addition(text):
            left, sign, right = text.partition("+")
            if not sign:
                return None
            return Sum(number(left), number(right))
            # ^ calls a.Sum.__init__
            # ^ calls a.number
        def parse(text):
            return addition(text) or number(text) or Failure()
            # ^ calls a.Failure
            # ^ calls a.addition
            # ^ calls a.number
        parse("1+2").eval()
        # ^ calls a.Sum.eval
        # ^ calls a.parse
        parse("3").eval()
        # ^ calls a.Number.eval
        # ^ calls a.parse
        parse("x").eval()
        # ^ calls a.Failure.eval
        # ^ calls a.parse
        def both(text):
            tree = parse(text)
            # ^ calls a.parse
            return tree, tree.eval()
            # ^ calls a.Number.eval
        tree, value = both("4")
        # ^ calls a.both
        tree.eval()
        # ^ calls a.Number.eval
        def finder(kind):
            if kind == "sum":
                return addition
            return number
        finder("sum")("5+6").eval()
        # ^ calls a.Sum.eval
        # ^ calls a.addition
        # ^ calls a.finder
        finder("n")("7").eval()
        # ^ calls a.Number.eval
        # ^ calls a.finder
        # ^ calls a.number
        def maker():
            return {"number": number, "parse": parse}
        maker()["number"]("8").eval()
        # ^ calls a.Number.eval
        # ^ calls a.maker
        # ^ calls a.number
        def chain(): return maker
        chain()()["parse"]("9").eval()
        # ^ calls a.Number.eval
        # ^ calls a.chain
        # ^ calls a.maker
        # ^ calls a.parse
        """,
    "classes of money": """
        # --- a.py
        from dataclasses import dataclass, field
        from enum import Enum
        from typing import Callable, NamedTuple
        class Currency(Enum):
            EUR = "eur"
            USD = "usd"
            def sign(self): return self.value
        @dataclass(frozen=True)
        class Money:
            amount: int
            currency: Currency
            def __post_init__(self): check(self.amount)
            # ^ calls a.check
            def __add__(self, other): return Money(self.amount + other.amount, self.currency)
            # ^ calls a.Money
            # ^ calls a.Money.__post_init__
            def __eq__(self, other): return self.amount == other.amount
            def __str__(self): return f"{self.amount}{self.currency.sign()}"
            # ^ calls a.Currency.sign
        def check(amount): return amount >= 0
        @dataclass
        class Rule:
            name: str
            applies: Callable
            change: Callable = None
            seen: list = field(default_factory=list)
            def run(self, money):
                if self.applies(money):
                # ^ calls a.always
                # ^ calls a.large
                    self.seen.append(money)
                    return self.change(money)
                    # ^ calls a.double
                    # ^ calls a.halve
                return money
        def large(money): return money.amount > 5
        def halve(money): return Money(money.amount // 2, money.currency)
        # ^ calls a.Money
        # ^ calls a.Money.__post_init__
        def always(money): return True
        def double(money): return money + money
        # ^ calls a.Money.__add__
        rules = [Rule("half", large, halve), Rule("double", applies=always, change=double)]
        # ^ calls a.Rule
        money = Money(10, Currency.EUR)
        # ^ calls a.Money
        # ^ calls a.Money.__post_init__
        for rule in rules:
            money = rule.run(money)
            # ^ calls a.Rule.run
        str(money)
        # ^ calls a.Money.__str__
        money == Money(1, Currency.USD)
        # ^ calls a.Money
        # ^ calls a.Money.__eq__
        # ^ calls a.Money.__post_init__
        class Point(NamedTuple):
            x: int
            y: int
            def norm(self): return self.x + self.y
        Point(1, 2).norm()
        # ^ calls a.Point
        # ^ calls a.Point.norm
        Currency.USD.sign()
        # ^ calls a.Currency.sign
        class Meta(type):
            def __call__(cls, *args):
                made = super().__call__(*args)
                made.ready()
                # ^ calls a.Part.ready
                return made
        class Part(metaclass=Meta):
            def ready(self): return self
        Part()
        # ^ calls a.Meta.__call__
        # ^ calls a.Part
        """,
    "callbacks of a download": """
        # --- a.py
        class Download:
            def __init__(self, url):
                self.url = url
                self._done = []
                self._failed = None
            def on_done(self, callback):
                self._done.append(callback)
                return self
            def on_failed(self, callback):
                self._failed = callback
                return self
            def start(self):
                try:
                    data = fetch(self.url)
                    # ^ calls a.fetch
                except ValueError as error:
                    if self._failed:
                        self._failed(error)
                        # ^ calls a.warn
                    return
                for callback in self._done:
                    callback(data)
                    # ^ calls a.Screen.update
                    # ^ calls a.show
                    # ^ calls a.store
        def fetch(url):
            if not url: raise ValueError(url)
            return url
        def show(data): return data
        def store(data): return index(data)
        # ^ calls a.index
        def index(data): return data
        def warn(error): return str(error)
        class Screen:
            def update(self, data): return self.draw(data)
            # ^ calls a.Screen.draw
            def draw(self, data): return data
        screen = Screen()
        # ^ calls a.Screen
        Download("u").on_done(show).on_done(store).on_done(screen.update).start()
        # ^ calls a.Download.__init__
        # ^ calls a.Download.on_done
        # ^ calls a.Download.start
        Download("").on_failed(warn).start()
        # ^ calls a.Download.__init__
        # ^ calls a.Download.on_failed
        # ^ calls a.Download.start
        def each(items, action):
            for item in items:
                action(item)
                # ^ calls a.show
        each([1], show)
        # ^ calls a.each
        each([2], lambda item: store(item))
        # ^ calls a.each
        # ^ calls a.store
        words = sorted(["b", "a"], key=show)
        # ^ calls a.show
        list(map(index, words))
        # ^ calls a.index
        list(filter(lambda w: show(w), words))
        # ^ calls a.show
        from functools import partial, reduce
        later = partial(store, "x")
        later()
        # ^ calls a.store
        def join(a, b): return a + b
        reduce(lambda a, b: join(a, b), words)
        # ^ calls a.join
        """,
    "dispatch of messages": """
        # --- a.py
        def opened(message): return message
        def closed(message): return cleanup(message)
        # ^ calls a.cleanup
        def cleanup(message): return None
        def unknown(message): return "?"
        HANDLERS = {"open": opened, "close": closed}
        def handle(message): return HANDLERS.get(message["kind"], unknown)(message)
        # ^ calls a.closed
        # ^ calls a.opened
        # ^ calls a.unknown
        handle({"kind": "open"})
        # ^ calls a.handle
        handle({"kind": "close"})
        # ^ calls a.handle
        handle({"kind": "else"})
        # ^ calls a.handle
        class Machine:
            def __init__(self):
                self.state = "idle"
                self.moves = {("idle", "go"): self.go, ("busy", "stop"): self.stop}
            def go(self): self.state = "busy"
            def stop(self): self.state = "idle"
            def feed(self, event):
                move = self.moves[self.state, event]
                move()
                # ^ calls a.Machine.go
                # ^ calls a.Machine.stop
        machine = Machine()
        # ^ calls a.Machine.__init__
        machine.feed("go")
        # ^ calls a.Machine.feed
        machine.feed("stop")
        # ^ calls a.Machine.feed
        class Visitor:
            def visit(self, node):
                method = getattr(self, f"visit_{node['type']}", self.generic)
                return method(node)
                # ^ calls a.Visitor.generic
                # ^ calls a.Visitor.visit_neg
                # ^ calls a.Visitor.visit_num
            def generic(self, node): return None
            def visit_num(self, node): return node["value"]
            def visit_neg(self, node): return -self.visit(node["value"])
            # ^ calls a.Visitor.visit
        Visitor().visit({"type": "neg", "value": {"type": "num", "value": 3}})
        # ^ calls a.Visitor
        # ^ calls a.Visitor.visit
        Visitor().visit({"type": "other"})
        # ^ calls a.Visitor
        # ^ calls a.Visitor.visit
        import operator
        class Calculator:
            OPS = {"+": operator.add}
            def apply(self, sign, a, b):
                custom = {"max": self.largest, "min": self.smallest}
                action = custom.get(sign) or self.OPS[sign]
                return action(a, b)
                # ^ calls a.Calculator.largest
                # ^ calls a.Calculator.smallest
            def largest(self, a, b): return max(a, b)
            def smallest(self, a, b): return min(a, b)
        calculator = Calculator()
        # ^ calls a.Calculator
        calculator.apply("max", 1, 2)
        # ^ calls a.Calculator.apply
        calculator.apply("+", 1, 2)
        # ^ calls a.Calculator.apply
        calculator.apply("min", 1, 2)
        # ^ calls a.Calculator.apply
        """,
    "plugins that register": """
        # --- core.py
        class Plugin:
            registry = {}
            def __init_subclass__(cls, key=None, **rest):
                super().__init_subclass__(**rest)
                Plugin.registry[key] = cls
            def run(self, text): return self.transform(text)
            # ^ calls extra.Strip.transform
            # ^ calls extra.Upper.transform
            def transform(self, text): return text
        def load(key): return Plugin.registry[key]()
        # ^ calls extra.Upper
        def run_all(text):
            for kind in Plugin.registry.values():
                text = kind().run(text)
                # ^ calls core.Plugin.run
                # ^ calls extra.Strip
                # ^ calls extra.Upper
            return text
        # --- extra.py
        from core import Plugin
        class Upper(Plugin, key="upper"):
        # ^ calls core.Plugin.__init_subclass__
            def transform(self, text): return text.upper()
        class Strip(Plugin, key="strip"):
        # ^ calls core.Plugin.__init_subclass__
            def transform(self, text): return self.tidy(text)
            # ^ calls extra.Strip.tidy
            def tidy(self, text): return text.strip()
        # --- main.py
        import core
        import extra
        from core import load, run_all
        load("upper").run("a")
        # ^ calls core.Plugin.run
        # ^ calls core.load
        run_all(" b ")
        # ^ calls core.run_all
        class Hooks:
            def __init__(self): self.all = {}
            def on(self, name):
                def keep(function):
                    self.all.setdefault(name, []).append(function)
                    return function
                return keep
            def fire(self, name, *args):
                return [hook(*args) for hook in self.all.get(name, [])]
                # ^ calls main.backup
                # ^ calls main.notify
        hooks = Hooks()
        # ^ calls main.Hooks.__init__
        @hooks.on("save")
        # ^ calls main.Hooks.on
        # ^ calls main.Hooks.on.keep
        def backup(doc): return doc
        @hooks.on("save")
        # ^ calls main.Hooks.on
        # ^ calls main.Hooks.on.keep
        def notify(doc): return send(doc)
        # ^ calls main.send
        def send(doc): return doc
        hooks.fire("save", "d")
        # ^ calls main.Hooks.fire
        """,
    "tasks that wait": """
        # --- a.py
        import asyncio
        class Client:
            def __init__(self, name): self.name = name
            async def __aenter__(self): return self
            async def __aexit__(self, *error): await self.close()
            # ^ calls a.Client.close
            async def get(self, path):
                reply = await self._send(path)
                # ^ calls a.Client._send
                return decode(reply)
                # ^ calls a.decode
            async def _send(self, path): return path
            async def close(self): return None
        def decode(text): return text
        async def load(client, paths):
            return await asyncio.gather(*(client.get(p) for p in paths))
            # ^ calls a.Client.get
        async def ticks(n):
            for i in range(n):
                yield step(i)
                # ^ calls a.step
        def step(i): return i
        async def main():
            async with Client("a") as client:
            # ^ calls a.Client.__aenter__
            # ^ calls a.Client.__aexit__
            # ^ calls a.Client.__init__
                await load(client, ["x", "y"])
                # ^ calls a.load
            async for tick in ticks(2):
            # ^ calls a.ticks
                use(tick)
                # ^ calls a.use
            job = asyncio.create_task(background())
            # ^ calls a.background
            await job
            await retry(flaky)
            # ^ calls a.retry
        async def background(): return use(1)
        # ^ calls a.use
        def use(value): return value
        async def retry(action):
            for _ in range(2):
                value = await action()
                # ^ calls a.flaky
            return value
        async def flaky(): return use(2)
        # ^ calls a.use
        asyncio.run(main())
        # ^ calls a.main
        """,
    "mixins of a view": """
        # --- a.py
        class View:
            def dispatch(self, method): return getattr(self, method)()
            # ^ calls a.About.post
            # ^ calls a.Page.get
            def respond(self, text): return text
        class Logged:
            def dispatch(self, method):
                note(method)
                # ^ calls a.note
                return super().dispatch(method)
                # ^ calls a.Guarded.dispatch
        class Guarded:
            allowed = ("get",)
            def dispatch(self, method):
                if method not in self.allowed:
                    return self.refuse()
                return super().dispatch(method)
                # ^ calls a.View.dispatch
            def refuse(self): return None
        def note(method): return method
        class Page(Logged, Guarded, View):
            def get(self): return self.respond(self.content())
            # ^ calls a.About.content
            # ^ calls a.Page.content
            # ^ calls a.View.respond
            def content(self): return "page"
        class About(Page):
            allowed = ("get", "post")
            def content(self): return "about " + super().content()
            # ^ calls a.Page.content
            def post(self): return self.respond("posted")
            # ^ calls a.View.respond
        Page().dispatch("get")
        # ^ calls a.Logged.dispatch
        # ^ calls a.Page
        About().dispatch("post")
        # ^ calls a.About
        # ^ calls a.Logged.dispatch
        About().dispatch("get")
        # ^ calls a.About
        # ^ calls a.Logged.dispatch
        class Node:
            def __init__(self, *children): self.children = list(children)
            def walk(self):
                yield self
                for child in self.children:
                    yield from child.walk()
                    # ^ calls a.Node.walk
            def depth(self): return 1 + max((c.depth() for c in self.children), default=0)
            # ^ calls a.Leaf.depth
            # ^ calls a.Node.depth
        class Leaf(Node):
            def depth(self): return 1
        tree = Node(Leaf(), Node(Leaf()))
        # ^ calls a.Leaf
        # ^ calls a.Node.__init__
        tree.depth()
        # ^ calls a.Node.depth
        for node in tree.walk():
        # ^ calls a.Node.walk
            node.depth()
            # ^ calls a.Leaf.depth
            # ^ calls a.Node.depth
        """,
}
