"""More programs of Python, with recorded calls: assignments, containers, decorators."""

from __future__ import annotations

PROGRAMS = {
    "assign unpack nested": """
        # --- a.py
        def first(): return 1
        def second(): return 2
        def third(): return 3
        (a, (b, c)) = (first, (second, third))
        a()
        # ^ calls a.first
        b()
        # ^ calls a.second
        c()
        # ^ calls a.third
        x, y = [first, second]
        y()
        # ^ calls a.second
        x, y = y, x
        x()
        # ^ calls a.second
        y()
        # ^ calls a.first
        """,
    "assign augmented list": """
        # --- a.py
        def one(): ...
        def two(): ...
        def three(): ...
        steps = [one]
        steps += [two]
        steps.append(three)
        for step in steps:
            step()
            # ^ calls a.one
            # ^ calls a.three
            # ^ calls a.two
        steps[0]()
        # ^ calls a.one
        last = steps[-1]
        last()
        # ^ calls a.three
        """,
    "assign conditional": """
        # --- a.py
        import sys
        class Fast:
            def run(self): ...
        class Slow:
            def run(self): ...
        if len(sys.argv) > 100:
            engine = Fast()
            # ^ calls a.Fast
        else:
            engine = Slow()
            # ^ calls a.Slow
        engine.run()
        # ^ calls a.Slow.run
        Chosen = Fast if len(sys.argv) < 100 else Slow
        item = Chosen()
        # ^ calls a.Fast
        # ^ calls a.Slow
        item.run()
        # ^ calls a.Fast.run
        """,
    "assign class alias": """
        # --- shapes.py
        class Square:
            def __init__(self, side): self.side = side
            def area(self): return self.side ** 2
        Box = Square
        # --- main.py
        import shapes
        from shapes import Box as B
        Kind = shapes.Box
        Kind(2).area()
        # ^ calls shapes.Square.__init__
        # ^ calls shapes.Square.area
        s = B(3)
        # ^ calls shapes.Square.__init__
        s.area()
        # ^ calls shapes.Square.area
        make = shapes.Square
        make(1).area()
        # ^ calls shapes.Square.__init__
        # ^ calls shapes.Square.area
        """,
    "closures counter": """
        # --- a.py
        def note(n): return n
        def counter(start):
            value = start
            def up():
                nonlocal value
                value += 1
                note(value)
                # ^ calls a.note
                return value
            def down():
                nonlocal value
                value -= 1
                return value
            return up, down
        up, down = counter(5)
        # ^ calls a.counter
        up()
        # ^ calls a.counter.up
        down()
        # ^ calls a.counter.down
        pair = counter(1)
        # ^ calls a.counter
        pair[0]()
        # ^ calls a.counter.up
        """,
    "closures late": """
        # --- a.py
        def hello(name): return name
        def bye(name): return name
        def greeter(style):
            def say(name):
                return style(name)
                # ^ calls a.bye
                # ^ calls a.hello
            return say
        polite = greeter(hello)
        # ^ calls a.greeter
        rude = greeter(bye)
        # ^ calls a.greeter
        polite("x")
        # ^ calls a.greeter.say
        rude("y")
        # ^ calls a.greeter.say
        makers = {"p": greeter(hello)}
        # ^ calls a.greeter
        makers["p"]("z")
        # ^ calls a.greeter.say
        """,
    "closures defaults": """
        # --- a.py
        def emit(x): return x
        class Button:
            def __init__(self, label, action=None):
                self.label = label
                self.action = action or self.nothing
            def nothing(self): ...
            def press(self):
                self.action()
                # ^ calls a.Button.nothing
                # ^ calls a.buttons
        buttons = [Button("a"), Button("b", lambda: emit(1))]
        # ^ calls a.Button.__init__
        # ^ calls a.emit
        for b in buttons:
            b.press()
            # ^ calls a.Button.press
        """,
    "containers class values": """
        # --- a.py
        class Dog:
            def speak(self): return "w"
        class Cat:
            def speak(self): return "m"
        ANIMALS = {"dog": Dog, "cat": Cat}
        def create(kind):
            return ANIMALS[kind]()
            # ^ calls a.Cat
            # ^ calls a.Dog
        create("dog").speak()
        # ^ calls a.Dog.speak
        # ^ calls a.create
        create("cat").speak()
        # ^ calls a.Cat.speak
        # ^ calls a.create
        for name, cls in ANIMALS.items():
            cls().speak()
            # ^ calls a.Cat
            # ^ calls a.Cat.speak
            # ^ calls a.Dog
            # ^ calls a.Dog.speak
        """,
    "containers queue": """
        # --- a.py
        from collections import deque
        class Job:
            def __init__(self, name): self.name = name
            def start(self): return self.name
        class Runner:
            def __init__(self):
                self.queue = deque()
            def push(self, job):
                self.queue.append(job)
            def drain(self):
                while self.queue:
                    job = self.queue.popleft()
                    job.start()
                    # ^ calls a.Job.start
        r = Runner()
        # ^ calls a.Runner.__init__
        r.push(Job("a"))
        # ^ calls a.Job.__init__
        # ^ calls a.Runner.push
        r.drain()
        # ^ calls a.Runner.drain
        """,
    "containers typed": """
        # --- a.py
        from __future__ import annotations
        class Leaf:
            def size(self) -> int: return 1
        class Tree:
            children: list[Leaf]
            index: dict[str, Leaf]
            def __init__(self) -> None:
                self.children = []
                self.index = {}
            def grow(self, leaf: Leaf) -> None:
                self.children.append(leaf)
                self.index["x"] = leaf
            def total(self) -> int:
                return sum(c.size() for c in self.children)
                # ^ calls a.Leaf.size
            def pick(self, name: str) -> Leaf | None:
                return self.index.get(name)
        t = Tree()
        # ^ calls a.Tree.__init__
        t.grow(Leaf())
        # ^ calls a.Leaf
        # ^ calls a.Tree.grow
        t.total()
        # ^ calls a.Tree.total
        if (found := t.pick("x")) is not None:
        # ^ calls a.Tree.pick
            found.size()
            # ^ calls a.Leaf.size
        for key, leaf in t.index.items():
            leaf.size()
            # ^ calls a.Leaf.size
        sorted(t.children, key=lambda l: l.size())
        # ^ calls a.Leaf.size
        """,
    "containers default dict": """
        # --- a.py
        from collections import defaultdict
        def log(e): ...
        def mail(e): ...
        handlers = defaultdict(list)
        def on(event, handler):
            handlers[event].append(handler)
        def fire(event):
            for handler in handlers[event]:
                handler(event)
                # ^ calls a.log
                # ^ calls a.mail
        on("saved", log)
        # ^ calls a.on
        on("saved", mail)
        # ^ calls a.on
        fire("saved")
        # ^ calls a.fire
        """,
    "containers set and tuple": """
        # --- a.py
        def check_name(v): return True
        def check_age(v): return True
        CHECKS = (check_name, check_age)
        EXTRA = {check_name}
        def valid(v):
            return all(check(v) for check in CHECKS) and all(c(v) for c in EXTRA)
            # ^ calls a.check_age
            # ^ calls a.check_name
        valid(1)
        # ^ calls a.valid
        checks = CHECKS + (check_name,)
        checks[1](2)
        # ^ calls a.check_age
        """,
    "decorators stacked": """
        # --- a.py
        import functools
        def logged(fn):
            @functools.wraps(fn)
            def inner(*a, **k):
                return fn(*a, **k)
                # ^ calls a.Service.call
                # ^ calls a.twice.run
                # ^ calls a.work
            return inner
        def twice(fn):
            def run(*a):
                fn(*a)
                # ^ calls a.work
                return fn(*a)
                # ^ calls a.work
            return run
        @logged
        # ^ calls a.logged
        @twice
        # ^ calls a.twice
        def work(n):
            return n
        work(3)
        # ^ calls a.logged.inner
        # ^ calls a.work
        class Service:
            @logged
            # ^ calls a.logged
            def call(self): return 1
        Service().call()
        # ^ calls a.Service
        # ^ calls a.Service.call
        # ^ calls a.logged.inner
        """,
    "decorators optional args": """
        # --- a.py
        import functools
        def audit(fn=None, *, level=1):
            if fn is None:
                return functools.partial(audit, level=level)
            @functools.wraps(fn)
            def wrapper(*args):
                record(level)
                # ^ calls a.record
                return fn(*args)
                # ^ calls a.pay
                # ^ calls a.refund
            return wrapper
        def record(level): ...
        @audit
        # ^ calls a.audit
        def pay(x): return x
        @audit(level=2)
        # ^ calls a.audit
        # ^ calls a.audit.wrapper
        def refund(x): return x
        pay(1)
        # ^ calls a.audit.wrapper
        # ^ calls a.pay
        refund(1)
        # ^ calls a.audit.wrapper
        # ^ calls a.refund
        """,
    "decorators method registry": """
        # --- a.py
        class Router:
            def __init__(self):
                self.routes = {}
            def route(self, path):
                def add(fn):
                    self.routes[path] = fn
                    return fn
                return add
            def dispatch(self, path):
                return self.routes[path]()
                # ^ calls a.about
                # ^ calls a.home
        app = Router()
        # ^ calls a.Router.__init__
        @app.route("/")
        # ^ calls a.Router.route
        # ^ calls a.Router.route.add
        def home(): return "home"
        @app.route("/about")
        # ^ calls a.Router.route
        # ^ calls a.Router.route.add
        def about(): return "about"
        app.dispatch("/")
        # ^ calls a.Router.dispatch
        app.dispatch("/about")
        # ^ calls a.Router.dispatch
        home()
        # ^ calls a.home
        """,
    "decorators builtin kinds": """
        # --- a.py
        from functools import cached_property, lru_cache
        class Report:
            count = 0
            @staticmethod
            def clean(x): return x
            @classmethod
            def build(cls): return cls()
            # ^ calls a.Report
            @cached_property
            def body(self): return Body()
            # ^ calls a.Body
            @lru_cache
            def lookup(self, k): return Body()
            # ^ calls a.Body
        class Body:
            def text(self): return ""
        r = Report.build()
        # ^ calls a.Report.build
        r.clean(1)
        # ^ calls a.Report.clean
        Report.clean(2)
        # ^ calls a.Report.clean
        r.body.text()
        # ^ calls a.Body.text
        # ^ calls a.Report.body
        r.lookup(1).text()
        # ^ calls a.Body.text
        # ^ calls a.Report.lookup
        """,
    "generators delegating": """
        # --- a.py
        class Row:
            def cell(self): ...
        class Table:
            def __init__(self): self.rows = [Row(), Row()]
            # ^ calls a.Row
            def __iter__(self):
                for row in self.rows:
                    yield row
            def pairs(self):
                for i, row in enumerate(self):
                # ^ calls a.Table.__iter__
                    yield i, row
        t = Table()
        # ^ calls a.Table.__init__
        for row in t:
        # ^ calls a.Table.__iter__
            row.cell()
            # ^ calls a.Row.cell
        for i, row in t.pairs():
        # ^ calls a.Table.pairs
            row.cell()
            # ^ calls a.Row.cell
        rows = list(t)
        # ^ calls a.Table.__iter__
        rows[0].cell()
        # ^ calls a.Row.cell
        """,
}
