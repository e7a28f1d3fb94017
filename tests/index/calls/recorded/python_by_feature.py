"""Programs of Python, two for each feature, with the calls recorded while they ran."""

from __future__ import annotations

PROGRAMS = {
    "assignments of a registry": """
        # --- a.py
        class Parser:
            def parse(self, text): return text
        class Lexer:
            def __init__(self, parser=None):
                self.parser = parser or Parser()
                # ^ calls a.Parser
                self.step = self.scan
            def scan(self, text):
                return self.parser.parse(text)
                # ^ calls a.Parser.parse
            def run(self, text):
                return self.step(text)
                # ^ calls a.Lexer.scan
        first = Lexer()
        # ^ calls a.Lexer.__init__
        second = first
        second.run("x")
        # ^ calls a.Lexer.run
        Lexer.alias = Lexer.run
        first.alias("y")
        # ^ calls a.Lexer.run
        tool = parse = first.parser.parse
        tool("z")
        # ^ calls a.Parser.parse
        parse("w")
        # ^ calls a.Parser.parse
        a, *rest = [first.scan, first.run, first.step]
        a("q")
        # ^ calls a.Lexer.scan
        """,
    "assignments in a loop and a walrus": """
        # --- a.py
        class Node:
            def __init__(self, next=None): self.next = next
            def visit(self): return 1
        def head():
            return Node(Node(Node()))
            # ^ calls a.Node.__init__
        node = head()
        # ^ calls a.head
        while node:
            node.visit()
            # ^ calls a.Node.visit
            node = node.next
        if (found := head()) is not None:
        # ^ calls a.head
            found.visit()
            # ^ calls a.Node.visit
        def choose(flag):
            if flag:
                action = found.visit
            else:
                action = head
            return action()
            # ^ calls a.Node.visit
            # ^ calls a.head
        choose(True)
        # ^ calls a.choose
        choose(False)
        # ^ calls a.choose
        del node
        """,
    "closures that count": """
        # --- a.py
        def counter(step):
            total = 0
            def up():
                nonlocal total
                total = step(total)
                # ^ calls a.one
                # ^ calls a.pair
                return total
            def reset():
                nonlocal total
                total = 0
                return up()
                # ^ calls a.counter.up
            return up, reset
        def one(n): return n + 1
        up, reset = counter(one)
        # ^ calls a.counter
        up()
        # ^ calls a.counter.up
        reset()
        # ^ calls a.counter.reset
        pair = counter(lambda n: n + 2)
        # ^ calls a.counter
        pair[0]()
        # ^ calls a.counter.up
        pair[1]()
        # ^ calls a.counter.reset
        """,
    "closures kept in an object": """
        # --- a.py
        class Bus:
            def __init__(self): self.handlers = {}
            def on(self, name, handler):
                self.handlers.setdefault(name, []).append(handler)
                def off():
                    self.handlers[name].remove(handler)
                return off
            def emit(self, name, value):
                for handler in self.handlers.get(name, ()):
                    handler(value)
                    # ^ calls a.Panel.show
                    # ^ calls a.log
        def log(value): return value
        class Panel:
            def __init__(self, bus):
                self.stop = bus.on("show", self.show)
                # ^ calls a.Bus.on
            def show(self, value): return log(value)
            # ^ calls a.log
            def close(self): self.stop()
            # ^ calls a.Bus.on.off
        bus = Bus()
        # ^ calls a.Bus.__init__
        panel = Panel(bus)
        # ^ calls a.Panel.__init__
        off = bus.on("show", log)
        # ^ calls a.Bus.on
        bus.emit("show", 1)
        # ^ calls a.Bus.emit
        off()
        # ^ calls a.Bus.on.off
        panel.close()
        # ^ calls a.Panel.close
        """,
    "containers of rules": """
        # --- a.py
        from collections import defaultdict, OrderedDict, deque
        def low(v): return v < 1
        def high(v): return v > 9
        class Rule:
            def __init__(self, test): self.test = test
            def holds(self, v): return self.test(v)
            # ^ calls a.high
            # ^ calls a.low
        RULES = [Rule(low), Rule(high)]
        # ^ calls a.Rule.__init__
        BY_NAME = {"low": RULES[0], "high": RULES[1]}
        def check(v):
            return [rule.holds(v) for rule in RULES] + [r.holds(v) for r in BY_NAME.values()]
            # ^ calls a.Rule.holds
        check(3)
        # ^ calls a.check
        queue = deque([low])
        queue.append(high)
        while queue:
            queue.popleft()(4)
            # ^ calls a.high
            # ^ calls a.low
        groups = defaultdict(list)
        groups["a"].append(Rule(low))
        # ^ calls a.Rule.__init__
        for name, rules in groups.items():
            for each in rules:
                each.holds(2)
                # ^ calls a.Rule.holds
        first, second = OrderedDict(a=low, b=high).values()
        second(1)
        # ^ calls a.high
        any(map(low, [1, 2]))
        # ^ calls a.low
        """,
    "containers nested": """
        # --- a.py
        from dataclasses import dataclass, field
        from typing import Dict, List, Optional, Tuple
        @dataclass
        class Leaf:
            size: int
            def area(self): return self.size
        @dataclass
        class Tree:
            leaves: List[Leaf] = field(default_factory=list)
            named: Dict[str, Tuple[Leaf, int]] = field(default_factory=dict)
            top: Optional["Tree"] = None
            def grow(self, leaf: Leaf) -> "Tree":
                self.leaves.append(leaf)
                self.named["n"] = (leaf, 1)
                return self
            def total(self):
                s = sum(leaf.area() for leaf in self.leaves)
                # ^ calls a.Leaf.area
                leaf, n = self.named["n"]
                s += leaf.area()
                # ^ calls a.Leaf.area
                if self.top:
                    s += self.top.total()
                    # ^ calls a.Tree.total
                for i, each in enumerate(self.leaves):
                    s += each.area()
                    # ^ calls a.Leaf.area
                return s
        tree = Tree().grow(Leaf(1))
        # ^ calls a.Leaf
        # ^ calls a.Tree
        # ^ calls a.Tree.grow
        Tree(top=tree).grow(Leaf(2)).total()
        # ^ calls a.Leaf
        # ^ calls a.Tree
        # ^ calls a.Tree.grow
        # ^ calls a.Tree.total
        max(tree.leaves, key=Leaf.area).area()
        # ^ calls a.Leaf.area
        """,
    "decorators with state": """
        # --- a.py
        import functools
        REGISTRY = {}
        def command(name):
            def register(function):
                REGISTRY[name] = function
                return function
            return register
        class Cached:
            def __init__(self, function):
                functools.update_wrapper(self, function)
                self.function = function
                self.values = {}
            def __call__(self, *args):
                if args not in self.values:
                    self.values[args] = self.function(*args)
                    # ^ calls a.square
                return self.values[args]
        @command("add")
        # ^ calls a.command
        # ^ calls a.command.register
        def add(a, b): return a + b
        @Cached
        # ^ calls a.Cached.__init__
        def square(n): return add(n, n)
        # ^ calls a.add
        @functools.lru_cache(maxsize=None)
        def slow(n): return square(n)
        # ^ calls a.Cached.__call__
        # ^ calls a.square
        REGISTRY["add"](1, 2)
        # ^ calls a.add
        slow(3)
        # ^ calls a.slow
        square(4)
        # ^ calls a.Cached.__call__
        # ^ calls a.square
        """,
    "decorators on methods": """
        # --- a.py
        import functools
        def checked(method):
            @functools.wraps(method)
            def inner(self, *args, **kwargs):
                self.check()
                # ^ calls a.Account.check
                return method(self, *args, **kwargs)
                # ^ calls a.Account.pay
            return inner
        def tag(label):
            def wrap(cls):
                cls.label = label
                return cls
            return wrap
        @tag("acc")
        # ^ calls a.tag
        # ^ calls a.tag.wrap
        class Account:
            def __init__(self): self.sum = 0
            def check(self): return True
            @checked
            # ^ calls a.checked
            def pay(self, n):
                self.sum += n
                return self.balance
                # ^ calls a.Account.balance
            @property
            def balance(self): return self.sum
            @staticmethod
            def zero(): return 0
            @classmethod
            def fresh(cls): return cls()
            # ^ calls a.Account.__init__
        account = Account.fresh()
        # ^ calls a.Account.fresh
        account.pay(3)
        # ^ calls a.Account.pay
        # ^ calls a.checked.inner
        account.zero()
        # ^ calls a.Account.zero
        account.balance
        # ^ calls a.Account.balance
        """,
    "generators in a pipeline": """
        # --- a.py
        class Row:
            def __init__(self, text): self.text = text
            def clean(self): return self
            def parts(self): return self.text.split()
        def read(lines):
            for line in lines:
                yield Row(line)
                # ^ calls a.Row.__init__
        def keep(rows):
            for row in rows:
                if row.parts():
                # ^ calls a.Row.parts
                    yield row.clean()
                    # ^ calls a.Row.clean
        def both():
            yield from keep(read(["a b"]))
            # ^ calls a.keep
            # ^ calls a.read
            yield from keep(read(["c"]))
            # ^ calls a.keep
            # ^ calls a.read
        for row in both():
        # ^ calls a.both
            row.parts()
            # ^ calls a.Row.parts
        rows = list(keep(read(["x"])))
        # ^ calls a.keep
        # ^ calls a.read
        rows[0].clean()
        # ^ calls a.Row.clean
        firsts = [r.parts() for r in read(["y"])]
        # ^ calls a.Row.parts
        # ^ calls a.read
        gen = read(["z"])
        # ^ calls a.read
        next(gen).clean()
        # ^ calls a.Row.clean
        """,
    "generators that receive": """
        # --- a.py
        import asyncio
        class Job:
            def run(self): return 1
        def worker():
            job = None
            while True:
                job = yield job
                if job is None:
                    return done()
                    # ^ calls a.done
                job.run()
                # ^ calls a.Job.run
        def done(): return 0
        w = worker()
        # ^ calls a.worker
        next(w)
        w.send(Job())
        # ^ calls a.Job
        try:
            w.send(None)
        except StopIteration:
            pass
        async def jobs():
            yield Job()
            # ^ calls a.Job
        async def load(): return Job()
        # ^ calls a.Job
        async def main():
            async for job in jobs():
            # ^ calls a.jobs
                job.run()
                # ^ calls a.Job.run
            one = await load()
            # ^ calls a.load
            one.run()
            # ^ calls a.Job.run
            many = await asyncio.gather(load(), load())
            # ^ calls a.load
            many[0].run()
            # ^ calls a.Job.run
        asyncio.run(main())
        # ^ calls a.main
        """,
    "inheritance with hooks": """
        # --- a.py
        from abc import ABC, abstractmethod
        class View(ABC):
            registry = []
            def __init_subclass__(cls, **kwargs):
                super().__init_subclass__(**kwargs)
                View.registry.append(cls)
            def render(self):
                return self.header() + self.body()
                # ^ calls a.Dialog.header
                # ^ calls a.Page.body
                # ^ calls a.View.body
                # ^ calls a.View.header
            def header(self): return "h"
            @abstractmethod
            def body(self): ...
        class Page(View):
        # ^ calls a.View.__init_subclass__
            def body(self): return self.title()
            # ^ calls a.Dialog.title
            # ^ calls a.Page.title
            def title(self): return "t"
        class Dialog(Page):
        # ^ calls a.View.__init_subclass__
            def header(self): return super().header() + "d"
            # ^ calls a.View.header
            def title(self): return "d"
        for kind in View.registry:
            kind().render()
            # ^ calls a.View
            # ^ calls a.View.render
        dialog = Dialog()
        # ^ calls a.Dialog
        dialog.body()
        # ^ calls a.Page.body
        isinstance(dialog, Page) and dialog.header()
        # ^ calls a.Dialog.header
        """,
    "inheritance of operators": """
        # --- a.py
        from functools import total_ordering
        class Base:
            def __init__(self, n): self.n = n
            def __eq__(self, other): return self.n == other.n
            def __add__(self, other): return type(self)(self.n + other.n)
            # ^ calls a.Money.__init__
            def __len__(self): return self.n
            def __getitem__(self, i): return self.make(i)
            # ^ calls a.Base.make
            def make(self, i): return Base(i)
            # ^ calls a.Base.__init__
            def __enter__(self): return self
            def __exit__(self, *e): return None
        class Money(Base):
            def __init__(self, n, unit="e"):
                Base.__init__(self, n)
                # ^ calls a.Base.__init__
                self.unit = unit
            def __str__(self): return self.unit
            def show(self): return str(self)
            # ^ calls a.Money.__str__
        a = Money(1) + Money(2)
        # ^ calls a.Base.__add__
        # ^ calls a.Money.__init__
        a.show()
        # ^ calls a.Money.show
        a == Money(3)
        # ^ calls a.Base.__eq__
        # ^ calls a.Money.__init__
        len(a)
        # ^ calls a.Base.__len__
        a[0].make(1)
        # ^ calls a.Base.__getitem__
        # ^ calls a.Base.make
        with Money(4) as m:
        # ^ calls a.Base.__enter__
        # ^ calls a.Base.__exit__
        # ^ calls a.Money.__init__
            m.show()
            # ^ calls a.Money.show
        f"{m}"
        # ^ calls a.Money.__str__
        """,
    "imports of a package": """
        # --- shop/__init__.py
        from .cart import Cart
        from . import tools
        __all__ = ["Cart", "tools"]
        # --- shop/cart.py
        from .tools import price as cost
        class Cart:
            items = ()
            def total(self):
                return sum(cost(i) for i in self.items) + cost(0)
                # ^ calls shop.tools.price
        # --- shop/tools.py
        def price(x): return x
        def lazy():
            from shop.cart import Cart
            return Cart()
            # ^ calls shop.cart.Cart
        # --- main.py
        import shop
        import shop.tools as t
        from shop import *
        from shop.cart import Cart as Basket
        shop.Cart().total()
        # ^ calls shop.cart.Cart
        # ^ calls shop.cart.Cart.total
        t.price(1)
        # ^ calls shop.tools.price
        t.lazy().total()
        # ^ calls shop.cart.Cart.total
        # ^ calls shop.tools.lazy
        tools.price(2)
        # ^ calls shop.tools.price
        Basket().total()
        # ^ calls shop.cart.Cart
        # ^ calls shop.cart.Cart.total
        shop.tools.lazy()
        # ^ calls shop.tools.lazy
        """,
    "imports that may fail": """
        # --- fast.py
        def encode(x): return x
        class Codec:
            def decode(self, x): return encode(x)
            # ^ calls fast.encode
        # --- slow.py
        def encode(x): return x
        # --- main.py
        import importlib
        try:
            import missing_module as impl
        except ImportError:
            import slow as impl
        try:
            from fast import encode
        except ImportError:
            from slow import encode
        impl.encode(1)
        # ^ calls slow.encode
        encode(2)
        # ^ calls fast.encode
        module = importlib.import_module("fast")
        module.Codec().decode(3)
        # ^ calls fast.Codec
        # ^ calls fast.Codec.decode
        def later():
            import fast as f
            codec = f.Codec()
            # ^ calls fast.Codec
            return codec.decode(1)
            # ^ calls fast.Codec.decode
        later()
        # ^ calls main.later
        getattr(module, "encode")(1)
        # ^ calls fast.encode
        """,
    "keyword arguments passed on": """
        # --- a.py
        def area(width, height=1, *, fmt=str): return fmt(width)
        # ^ calls a.show
        def show(x): return x
        def call(function, *args, **kwargs): return function(*args, **kwargs)
        # ^ calls a.area
        def with_default(x, then=show): return then(x)
        # ^ calls a.area
        # ^ calls a.show
        call(area, 1, fmt=show)
        # ^ calls a.call
        with_default(1)
        # ^ calls a.with_default
        with_default(1, then=area)
        # ^ calls a.with_default
        options = {"fmt": show}
        area(2, **options)
        # ^ calls a.area
        class Form:
            def __init__(self, *, validate, on_save=None):
                self.validate = validate
                self.on_save = on_save
            def save(self, value):
                if self.validate(value) and self.on_save:
                # ^ calls a.show
                    self.on_save(value)
                    # ^ calls a.area
        Form(validate=show, on_save=area).save(1)
        # ^ calls a.Form.__init__
        # ^ calls a.Form.save
        """,
    "keyword arguments of callbacks": """
        # --- a.py
        from functools import partial
        import threading
        def power(base, exponent): return base ** exponent
        def key(item): return item[0]
        def work(n, log): log(n)
        # ^ calls a.log
        def log(n): return n
        square = partial(power, exponent=2)
        square(3)
        # ^ calls a.power
        sorted([(1, 2)], key=key)
        # ^ calls a.key
        min([(1, 2)], key=lambda p: key(p))
        # ^ calls a.key
        t = threading.Thread(target=work, args=(1,), kwargs={"log": log})
        t.run()
        # ^ calls a.work
        def visit(tree, *, enter, leave=None):
            enter(tree)
            # ^ calls a.log
            if leave is not None:
                leave(tree)
                # ^ calls a.log
        visit([], enter=log)
        # ^ calls a.visit
        visit([], enter=log, leave=key and log)
        # ^ calls a.visit
        """,
    "returns of several kinds": """
        # --- a.py
        from typing import Union
        class Ok:
            def get(self): return self
            def value(self): return 1
        class Err:
            def get(self): return self
            def message(self): return "e"
        def parse(text) -> Union[Ok, Err]:
            if text:
                return Ok()
                # ^ calls a.Ok
            return Err()
            # ^ calls a.Err
        parse("a").get()
        # ^ calls a.Ok.get
        # ^ calls a.parse
        result = parse("")
        # ^ calls a.parse
        if isinstance(result, Err):
            result.message()
            # ^ calls a.Err.message
        else:
            result.value()
        def table():
            return {"ok": Ok, "make": parse}
        table()["ok"]().value()
        # ^ calls a.Ok
        # ^ calls a.Ok.value
        # ^ calls a.table
        table()["make"]("x")
        # ^ calls a.parse
        # ^ calls a.table
        def pair(): return Ok(), Err()
        # ^ calls a.Err
        # ^ calls a.Ok
        ok, err = pair()
        # ^ calls a.pair
        ok.value()
        # ^ calls a.Ok.value
        err.message()
        # ^ calls a.Err.message
        pair()[1].message()
        # ^ calls a.Err.message
        # ^ calls a.pair
        """,
    "returns of self and chains": """
        # --- a.py
        class Query:
            def __init__(self, steps=()): self.steps = steps
            def where(self, test): return self.add(test)
            # ^ calls a.Query.add
            def add(self, step): return Query((*self.steps, step))
            # ^ calls a.Query.__init__
            def run(self):
                for step in self.steps:
                    step()
                    # ^ calls a.test
                return Result(self)
                # ^ calls a.Result.__init__
            def copy(self): return self.__class__(self.steps)
            # ^ calls a.Query.__init__
        class Result:
            def __init__(self, query): self.query = query
            def again(self): return self.query.run()
            # ^ calls a.Query.run
            def first(self): return self
        def test(): return True
        query = Query().where(test)
        # ^ calls a.Query.__init__
        # ^ calls a.Query.where
        query.run().first()
        # ^ calls a.Query.run
        # ^ calls a.Result.first
        query.copy().where(test).run().again().first()
        # ^ calls a.Query.copy
        # ^ calls a.Query.run
        # ^ calls a.Query.where
        # ^ calls a.Result.again
        # ^ calls a.Result.first
        def build(): return query
        build().run()
        # ^ calls a.Query.run
        # ^ calls a.build
        (lambda: build())().copy()
        # ^ calls a.Query.copy
        # ^ calls a.build
        """,
}
