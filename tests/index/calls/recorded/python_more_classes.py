"""More programs of Python, with recorded calls: contexts, properties, operators, patterns."""

from __future__ import annotations

PROGRAMS = {
    "context nested self": """
        # --- a.py
        class Timer:
            def __init__(self, name): self.name = name
            def __enter__(self):
                self.begin()
                # ^ calls a.Timer.begin
                return self
            def __exit__(self, *a):
                self.end()
                # ^ calls a.Timer.end
                return False
            def begin(self): ...
            def end(self): ...
            def lap(self): ...
        class App:
            def timer(self): return Timer("t")
            # ^ calls a.Timer.__init__
            def run(self):
                with self.timer() as t:
                # ^ calls a.App.timer
                # ^ calls a.Timer.__enter__
                # ^ calls a.Timer.__exit__
                    t.lap()
                    # ^ calls a.Timer.lap
        App().run()
        # ^ calls a.App
        # ^ calls a.App.run
        """,
    "properties across files": """
        # --- model.py
        class Price:
            def __init__(self, cents): self._cents = cents
            @property
            def amount(self): return self._cents / 100
            @amount.setter
            def amount(self, v): self._cents = v * 100
            @property
            def tax(self): return Price(self._cents // 5)
            # ^ calls model.Price.__init__
        # --- main.py
        from model import Price
        p = Price(100)
        # ^ calls model.Price.__init__
        p.amount
        # ^ calls model.Price.amount
        p.amount = 5
        # ^ calls model.Price.amount
        p.tax.amount
        # ^ calls model.Price.amount
        # ^ calls model.Price.tax
        def show(price: Price):
            return price.amount
            # ^ calls model.Price.amount
        show(p)
        # ^ calls main.show
        """,
    "operators across files": """
        # --- vec.py
        class Vec:
            def __init__(self, x): self.x = x
            def __add__(self, o): return Vec(self.x + o.x)
            # ^ calls vec.Vec.__init__
            def __mul__(self, k): return Vec(self.x * k)
            # ^ calls vec.Vec.__init__
            def __eq__(self, o): return self.x == o.x
            def __getitem__(self, i): return self.x
            def __len__(self): return 1
            def __bool__(self): return True
            def __contains__(self, x): return x == self.x
            def norm(self): return self.x
        # --- main.py
        from vec import Vec
        a = Vec(1)
        # ^ calls vec.Vec.__init__
        b = Vec(2)
        # ^ calls vec.Vec.__init__
        c = a + b
        # ^ calls vec.Vec.__add__
        c.norm()
        # ^ calls vec.Vec.norm
        d = (a * 3) + b
        # ^ calls vec.Vec.__add__
        # ^ calls vec.Vec.__mul__
        d.norm()
        # ^ calls vec.Vec.norm
        a == b
        # ^ calls vec.Vec.__eq__
        a[0]
        # ^ calls vec.Vec.__getitem__
        len(a)
        # ^ calls vec.Vec.__len__
        if 1 in a:
        # ^ calls vec.Vec.__contains__
            pass
        """,
    "operators same file": """
        # --- a.py
        class Path:
            def __init__(self, s): self.s = s
            def __truediv__(self, o): return Path(o)
            # ^ calls a.Path.__init__
            def __str__(self): return self.s
            def __lt__(self, o): return self.s < o.s
            def __call__(self, x): return x
            def __iadd__(self, o): return self
            def __neg__(self): return self
            def __enter__(self): return self
            def __exit__(self, *a): ...
            def read(self): ...
        root = Path("a")
        # ^ calls a.Path.__init__
        (root / "b").read()
        # ^ calls a.Path.__truediv__
        # ^ calls a.Path.read
        root < Path("c")
        # ^ calls a.Path.__init__
        # ^ calls a.Path.__lt__
        root(1)
        # ^ calls a.Path.__call__
        root += 1
        # ^ calls a.Path.__iadd__
        (-root).read()
        # ^ calls a.Path.__neg__
        # ^ calls a.Path.read
        str(root)
        # ^ calls a.Path.__str__
        with root as r:
        # ^ calls a.Path.__enter__
        # ^ calls a.Path.__exit__
            r.read()
            # ^ calls a.Path.read
        f"{root}"
        # ^ calls a.Path.__str__
        """,
    "protocols iter contains": """
        # --- a.py
        class Bag:
            def __init__(self, items): self.items = items
            def __iter__(self): return iter(self.items)
            def __len__(self): return len(self.items)
            def __getitem__(self, i): return self.items[i]
            def __setitem__(self, i, v): self.items[i] = v
            def __delitem__(self, i): del self.items[i]
        class Toy:
            def play(self): ...
        bag = Bag([Toy(), Toy()])
        # ^ calls a.Bag.__init__
        # ^ calls a.Toy
        for toy in bag:
        # ^ calls a.Bag.__iter__
            toy.play()
            # ^ calls a.Toy.play
        bag[0].play()
        # ^ calls a.Bag.__getitem__
        # ^ calls a.Toy.play
        bag[1] = Toy()
        # ^ calls a.Bag.__setitem__
        # ^ calls a.Toy
        del bag[1]
        # ^ calls a.Bag.__delitem__
        len(bag)
        # ^ calls a.Bag.__len__
        [t.play() for t in bag]
        # ^ calls a.Bag.__iter__
        # ^ calls a.Toy.play
        """,
    "dataclass post init": """
        # --- a.py
        from dataclasses import dataclass, field
        @dataclass
        class Line:
            qty: int
            def total(self): return self.qty
        @dataclass
        class Order:
            lines: list[Line] = field(default_factory=list)
            def __post_init__(self):
                self.check()
                # ^ calls a.Order.check
            def check(self): ...
            def total(self):
                return sum(line.total() for line in self.lines)
                # ^ calls a.Line.total
            def add(self, line: Line):
                self.lines.append(line)
                return self
        o = Order()
        # ^ calls a.Order
        # ^ calls a.Order.__post_init__
        o.add(Line(1)).add(Line(2)).total()
        # ^ calls a.Line
        # ^ calls a.Order.add
        # ^ calls a.Order.total
        Order([Line(3)]).lines[0].total()
        # ^ calls a.Line
        # ^ calls a.Line.total
        # ^ calls a.Order
        # ^ calls a.Order.__post_init__
        """,
    "visitor getattr": """
        # --- a.py
        class Node: ...
        class Num(Node): ...
        class Add(Node):
            def __init__(self, l, r): self.l, self.r = l, r
        class Visitor:
            def visit(self, node):
                name = "visit_" + type(node).__name__.lower()
                return getattr(self, name, self.generic)(node)
                # ^ calls a.Eval.visit_add
                # ^ calls a.Eval.visit_num
            def generic(self, node): ...
        class Eval(Visitor):
            def visit_num(self, node): return 1
            def visit_add(self, node):
                return self.visit(node.l) + self.visit(node.r)
                # ^ calls a.Visitor.visit
        Eval().visit(Add(Num(), Num()))
        # ^ calls a.Add.__init__
        # ^ calls a.Eval
        # ^ calls a.Num
        # ^ calls a.Visitor.visit
        """,
    "events weak methods": """
        # --- signals.py
        class Signal:
            def __init__(self): self._slots = []
            def connect(self, slot):
                self._slots.append(slot)
                return slot
            def emit(self, *args):
                for slot in list(self._slots):
                    slot(*args)
                    # ^ calls main.Window.on_resize
                    # ^ calls main.on_closed
        # --- main.py
        from signals import Signal
        class Window:
            closed = Signal()
            # ^ calls signals.Signal.__init__
            def __init__(self):
                self.resized = Signal()
                # ^ calls signals.Signal.__init__
                self.resized.connect(self.on_resize)
                # ^ calls signals.Signal.connect
            def on_resize(self, w): ...
        @Window.closed.connect
        # ^ calls signals.Signal.connect
        def on_closed(): ...
        win = Window()
        # ^ calls main.Window.__init__
        win.resized.emit(3)
        # ^ calls signals.Signal.emit
        Window.closed.emit()
        # ^ calls signals.Signal.emit
        """,
    "higher order pipeline": """
        # --- a.py
        from functools import partial, reduce
        def strip(s): return s.strip()
        def title(s): return s.title()
        def cut(n, s): return s[:n]
        def compose(*fns):
            def run(value):
                for fn in fns:
                    value = fn(value)
                    # ^ calls a.cut
                    # ^ calls a.strip
                    # ^ calls a.title
                return value
            return run
        clean = compose(strip, title, partial(cut, 3))
        # ^ calls a.compose
        clean(" hello ")
        # ^ calls a.compose.run
        reduce(lambda acc, fn: fn(acc), [strip, title], " x ")
        # ^ calls a.strip
        # ^ calls a.title
        list(map(strip, ["a"]))
        # ^ calls a.strip
        short = partial(cut, 2)
        short("abc")
        # ^ calls a.cut
        """,
    "exceptions custom": """
        # --- a.py
        class AppError(Exception):
            def __init__(self, code):
                super().__init__(code)
                self.code = code
            def describe(self): return hint(self.code)
            # ^ calls a.hint
        class NotFound(AppError):
            def describe(self): return super().describe()
            # ^ calls a.AppError.describe
        def hint(code): return code
        def find(x):
            if not x:
                raise NotFound(404)
                # ^ calls a.AppError.__init__
                # ^ calls a.NotFound
            return x
        try:
            find(0)
            # ^ calls a.find
        except AppError as error:
            error.describe()
            # ^ calls a.NotFound.describe
        try:
            find(0)
            # ^ calls a.find
        except (NotFound, ValueError) as e:
            e.describe()
            # ^ calls a.NotFound.describe
        """,
    "enum methods": """
        # --- a.py
        from enum import Enum
        class Color(Enum):
            RED = 1
            BLUE = 2
            def label(self): return self.name
            @classmethod
            def default(cls): return cls.RED
        Color.RED.label()
        # ^ calls a.Color.label
        Color.default().label()
        # ^ calls a.Color.default
        # ^ calls a.Color.label
        for c in Color:
            c.label()
            # ^ calls a.Color.label
        Color(2).label()
        # ^ calls a.Color
        # ^ calls a.Color.label
        Color["BLUE"].label()
        # ^ calls a.Color.label
        """,
}
