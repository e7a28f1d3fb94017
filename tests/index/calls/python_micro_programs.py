"""Small programs for one feature of Python each, in the style of a micro-benchmark of call graphs.

Every line that calls functions of its program says which, at the level of the module too.
"""

from __future__ import annotations

PROGRAMS = {
    "args: a function through two functions": """
        # --- a.py
        def leaf(): ...
        def inner(work):
            work()
            # ^ calls a.leaf
        def outer(work):
            inner(work)
            # ^ calls a.inner
        outer(leaf)
        # ^ calls a.outer
        """,
    "args: a nested call as an argument": """
        # --- a.py
        def make():
            return leaf
        def leaf(): ...
        def run(work):
            return work()
            # ^ calls a.leaf
        run(make())
        # ^ calls a.make
        # ^ calls a.run
        """,
    "args: an argument that is assigned before it is called": """
        # --- a.py
        def leaf(): ...
        def run(first, second):
            chosen = second
            chosen()
            # ^ calls a.leaf
        run(None, leaf)
        # ^ calls a.run
        """,
    "args: of an imported function": """
        # --- lib.py
        def apply(work):
            work()
            # ^ calls a.leaf
        # --- a.py
        from lib import apply
        def leaf(): ...
        apply(leaf)
        # ^ calls lib.apply
        """,
    "assignments: a chain of names": """
        # --- a.py
        def one(): ...
        def two(): ...
        first = second = one
        third = second
        third()
        # ^ calls a.one
        second = two
        second()
        # ^ calls a.two
        first()
        # ^ calls a.one
        """,
    "assignments: a name that is deleted and made again": """
        # --- a.py
        def one(): ...
        def two(): ...
        name = one
        name()
        # ^ calls a.one
        del name
        name = two
        name()
        # ^ calls a.two
        """,
    "assignments: a star in the middle": """
        # --- a.py
        def one(): ...
        def two(): ...
        def three(): ...
        def four(): ...
        first, *middle, last = one, two, three, four
        first()
        # ^ calls a.one
        last()
        # ^ calls a.four
        for each in middle:
            each()
            # ^ calls a.two
            # ^ calls a.three
        """,
    "assignments: a tuple of nested tuples": """
        # --- a.py
        def one(): ...
        def two(): ...
        def three(): ...
        (a, b), c = (one, two), three
        a()
        # ^ calls a.one
        b()
        # ^ calls a.two
        c()
        # ^ calls a.three
        """,
    "assignments: annotated": """
        # --- a.py
        from typing import Callable
        def one(): ...
        work: Callable[[], None] = one
        work()
        # ^ calls a.one
        """,
    "builtins: functions that call back": """
        # --- a.py
        def key(x):
            return x
        def test(x):
            return True
        list(map(key, [1]))
        # ^ calls a.key
        list(filter(test, [1]))
        # ^ calls a.test
        max([1, 2], key=key)
        # ^ calls a.key
        sorted([2, 1], key=key)
        # ^ calls a.key
        """,
    "builtins: types and names that hide them": """
        # --- a.py
        def print(*values): ...
        def use(open):
            open("x")
            len([])
        print(str(1), int("2"))
        # ^ calls a.print
        """,
    "classes: a constructor, a method and a chain": """
        # --- a.py
        class Step:
            def __init__(self):
                self.prepare()
                # ^ calls a.Step.prepare
            def prepare(self): ...
            def then(self):
                return self
        Step().then().then().prepare()
        # ^ calls a.Step.__init__
        # ^ calls a.Step.then
        # ^ calls a.Step.prepare
        """,
    "classes: one inside another": """
        # --- a.py
        class Outer:
            class Inner:
                def go(self): ...
            def make(self):
                return Outer.Inner()
                # ^ calls a.Outer.Inner
        Outer().make().go()
        # ^ calls a.Outer
        # ^ calls a.Outer.make
        # ^ calls a.Outer.Inner.go
        Outer.Inner().go()
        # ^ calls a.Outer.Inner
        # ^ calls a.Outer.Inner.go
        """,
    "classes: inside a function": """
        # --- a.py
        def make():
            class Local:
                def go(self): ...
            return Local()
            # ^ calls a.make.Local
        make().go()
        # ^ calls a.make
        # ^ calls a.make.Local.go
        """,
    "classes: imported by a name of the module": """
        # --- shop/__init__.py
        # --- shop/cart.py
        class Cart:
            def __init__(self): ...
            def total(self): ...
        # --- main.py
        import shop.cart as carts
        cart = carts.Cart()
        # ^ calls shop.cart.Cart.__init__
        cart.total()
        # ^ calls shop.cart.Cart.total
        """,
    "class variables: a function, a list and an instance": """
        # --- a.py
        def one(): ...
        class Log:
            def write(self): ...
        class Box:
            work = staticmethod(one)
            log = Log()
            # ^ calls a.Log
            def go(self):
                self.log.write()
                # ^ calls a.Log.write
        Box.work()
        # ^ calls a.one
        Box.log.write()
        # ^ calls a.Log.write
        Box().go()
        # ^ calls a.Box
        # ^ calls a.Box.go
        """,
    "class variables: of a base, through an instance": """
        # --- a.py
        class Log:
            def write(self): ...
        class Base:
            log_class = Log
        class Child(Base):
            def go(self):
                log = self.log_class()
                # ^ calls a.Log
                log.write()
                # ^ calls a.Log.write
        Child().go()
        # ^ calls a.Child
        # ^ calls a.Child.go
        """,
    "self assignment: a function and a method": """
        # --- a.py
        def one(): ...
        class Box:
            def __init__(self, work):
                self.work = work
                self.other = self.own
            def own(self): ...
            def go(self):
                self.work()
                # ^ calls a.one
                self.other()
                # ^ calls a.Box.own
        Box(one).go()
        # ^ calls a.Box.__init__
        # ^ calls a.Box.go
        """,
    "self assignment: through a setter method": """
        # --- a.py
        def one(): ...
        class Box:
            def set(self, work):
                self.work = work
            def go(self):
                self.work()
                # ^ calls a.one
        box = Box()
        # ^ calls a.Box
        box.set(one)
        # ^ calls a.Box.set
        box.go()
        # ^ calls a.Box.go
        """,
    "self assignment: an object that holds the object": """
        # --- a.py
        class Child:
            def __init__(self, owner):
                self.owner = owner
            def tell(self):
                self.owner.hear()
                # ^ calls a.Owner.hear
        class Owner:
            def __init__(self):
                self.child = Child(self)
                # ^ calls a.Child.__init__
            def hear(self): ...
            def go(self):
                self.child.tell()
                # ^ calls a.Child.tell
        Owner().go()
        # ^ calls a.Owner.__init__
        # ^ calls a.Owner.go
        """,
    "decorators: a function that gives back what it takes": """
        # --- a.py
        registry = []
        def register(function):
            registry.append(function)
            return function
        @register
        # ^ calls a.register
        def one(): ...
        one()
        # ^ calls a.one
        """,
    "decorators: applied by hand": """
        # --- a.py
        def loud(function):
            def wrapper():
                return function()
                # ^ calls a.one
            return wrapper
        def one(): ...
        loud_one = loud(one)
        # ^ calls a.loud
        loud_one()
        # ^ calls a.loud.wrapper
        """,
    "decorators: from another module, with functools.wraps": """
        # --- tools.py
        import functools
        def timed(function):
            @functools.wraps(function)
            def wrapper(*args):
                return function(*args)
                # ^ calls a.work
            return wrapper
        # --- a.py
        from tools import timed
        @timed
        # ^ calls tools.timed
        def work(): ...
        work()
        # ^ calls a.work
        # ^ calls tools.timed.wrapper
        """,
    "dicts: a table of functions by key": """
        # --- a.py
        def add(): ...
        def remove(): ...
        actions = {"add": add, "remove": remove}
        actions["add"]()
        # ^ calls a.add
        actions.get("remove")()
        # ^ calls a.remove
        """,
    "dicts: updated and merged": """
        # --- a.py
        def one(): ...
        def two(): ...
        table = {"one": one}
        table.update({"two": two})
        table["two"]()
        # ^ calls a.two
        both = {**table, "three": one}
        both["three"]()
        # ^ calls a.one
        """,
    "dicts: made by dict and returned": """
        # --- a.py
        def one(): ...
        def table():
            return dict(one=one)
        table()["one"]()
        # ^ calls a.table
        # ^ calls a.one
        """,
    "dicts: in a class, by the name of a method": """
        # --- a.py
        class Menu:
            def __init__(self):
                self.table = {"open": self.open, "close": self.close}
            def open(self): ...
            def close(self): ...
            def go(self):
                self.table["close"]()
                # ^ calls a.Menu.close
        Menu().go()
        # ^ calls a.Menu.__init__
        # ^ calls a.Menu.go
        """,
    "direct calls: in arguments, conditions and subscripts": """
        # --- a.py
        def one():
            return 1
        def two():
            return 2
        def go():
            if one() and not two():
                # ^ calls a.one
                # ^ calls a.two
                return [0, 1][one()]
                # ^ calls a.one
            while two():
                # ^ calls a.two
                assert one(), two()
                # ^ calls a.one
                # ^ calls a.two
            return f"{one()} {two()!r}"
            # ^ calls a.one
            # ^ calls a.two
        go()
        # ^ calls a.go
        """,
    "direct calls: recursion, direct and mutual": """
        # --- a.py
        def even(n):
            return n == 0 or odd(n - 1)
            # ^ calls a.odd
        def odd(n):
            return n != 0 and even(n - 1)
            # ^ calls a.even
        def down(n):
            return down(n - 1) if n else 0
            # ^ calls a.down
        even(down(3))
        # ^ calls a.even
        # ^ calls a.down
        """,
    "dynamic: globals and getattr of a module": """
        # --- lib.py
        def run(): ...
        # --- a.py
        import lib
        def one(): ...
        globals()["one"]()
        # ^ calls a.one
        getattr(lib, "run")()
        # ^ calls lib.run
        """,
    "dynamic: setattr on a class": """
        # --- a.py
        def one(): ...
        class Box: ...
        setattr(Box, "go", one)
        Box.go()
        # ^ calls a.one
        """,
    "exceptions: raised and caught": """
        # --- a.py
        class Refused(Exception):
            def __init__(self, reason):
                self.reason = reason
            def explain(self): ...
        def work():
            raise Refused("late")
            # ^ calls a.Refused.__init__
        try:
            work()
            # ^ calls a.work
        except Refused as refused:
            refused.explain()
            # ^ calls a.Refused.explain
        except (ValueError, OSError) as other:
            other.with_traceback(None)
        """,
    "exceptions: else and finally": """
        # --- a.py
        def work(): ...
        def good(): ...
        def clean(): ...
        try:
            work()
            # ^ calls a.work
        except ValueError:
            raise
        else:
            good()
            # ^ calls a.good
        finally:
            clean()
            # ^ calls a.clean
        """,
    "exceptions: raised from another": """
        # --- a.py
        class Base(Exception):
            def code(self): ...
        class Lost(Base): ...
        def go():
            try:
                pass
            except KeyError as error:
                raise Lost() from error
                # ^ calls a.Lost
        try:
            go()
            # ^ calls a.go
        except Lost as lost:
            lost.code()
            # ^ calls a.Base.code
        """,
    "external: subclasses and functions of others": """
        # --- a.py
        import threading
        from collections import OrderedDict
        class Worker(threading.Thread):
            def run(self):
                self.work()
                # ^ calls a.Worker.work
            def work(self): ...
        class Table(OrderedDict):
            def add(self):
                self.move_to_end("x")
                super().clear()
        worker = Worker()
        # ^ calls a.Worker
        worker.start()
        threading.Timer(1, None).start()
        """,
    "functions: a default that is another function": """
        # --- a.py
        def quiet(): ...
        def loud(): ...
        def speak(voice=quiet):
            voice()
            # ^ calls a.quiet
            # ^ calls a.loud
        speak()
        # ^ calls a.speak
        speak(loud)
        # ^ calls a.speak
        """,
    "functions: defined in a branch": """
        # --- a.py
        import sys
        if sys.platform == "win32":
            def path():
                return windows()
                # ^ calls a.windows
        else:
            def path():
                return posix()
                # ^ calls a.posix
        def windows(): ...
        def posix(): ...
        """,
    "functions: attributes of a function": """
        # --- a.py
        def one(): ...
        def two(): ...
        one.reverse = two
        one.reverse()
        # ^ calls a.two
        """,
    "generators: a loop over what is yielded": """
        # --- a.py
        def one(): ...
        def two(): ...
        def steps():
            yield one
            yield two
        for step in steps():
            # ^ calls a.steps
            step()
            # ^ calls a.one
            # ^ calls a.two
        """,
    "generators: next of one, and one in another": """
        # --- a.py
        class Row:
            def show(self): ...
        def rows():
            yield Row()
            # ^ calls a.Row
        def all_rows():
            for row in rows():
                # ^ calls a.rows
                yield row
        next(all_rows()).show()
        # ^ calls a.all_rows
        # ^ calls a.Row.show
        """,
    "imports: relative in a package": """
        # --- shop/__init__.py
        from .cart import Cart
        # --- shop/cart.py
        from . import money
        from .money import pay
        class Cart:
            def buy(self):
                pay()
                # ^ calls shop.money.pay
                money.refund()
                # ^ calls shop.money.refund
        # --- shop/money.py
        def pay(): ...
        def refund(): ...
        # --- main.py
        import shop
        shop.Cart().buy()
        # ^ calls shop.cart.Cart
        # ^ calls shop.cart.Cart.buy
        """,
    "imports: a submodule through its package": """
        # --- pack/__init__.py
        # --- pack/deep/__init__.py
        def top(): ...
        # --- pack/deep/leaf.py
        def low(): ...
        # --- main.py
        import pack.deep.leaf
        from pack import deep
        pack.deep.leaf.low()
        # ^ calls pack.deep.leaf.low
        pack.deep.top()
        # ^ calls pack.deep.top
        deep.leaf.low()
        # ^ calls pack.deep.leaf.low
        """,
    "imports: star with __all__": """
        # --- lib.py
        __all__ = ["shown"]
        def shown(): ...
        def other(): ...
        # --- main.py
        from lib import *
        def other(): ...
        shown()
        # ^ calls lib.shown
        other()
        # ^ calls main.other
        """,
    "imports: a chain of re-exports": """
        # --- a.py
        from b import work as task
        task()
        # ^ calls d.work
        # --- b.py
        from c import work
        # --- c.py
        from d import work
        # --- d.py
        def work(): ...
        """,
    "imports: init that renames and adds": """
        # --- pack/__init__.py
        from pack.impl import _work as work
        def extra():
            return work()
            # ^ calls pack.impl._work
        # --- pack/impl.py
        def _work(): ...
        # --- main.py
        from pack import extra, work
        work()
        # ^ calls pack.impl._work
        extra()
        # ^ calls pack.extra
        """,
    "imports: at the end, and in a class": """
        # --- lib.py
        def one(): ...
        def two(): ...
        # --- main.py
        def late():
            one()
            # ^ calls lib.one
        class Box:
            from lib import two
            go = two
        Box.go()
        # ^ calls lib.two
        from lib import one
        late()
        # ^ calls main.late
        """,
    "kwargs: passed on by two stars": """
        # --- a.py
        def leaf(): ...
        def inner(work=None):
            work()
            # ^ calls a.leaf
        def outer(**options):
            inner(**options)
            # ^ calls a.inner
        outer(work=leaf)
        # ^ calls a.outer
        """,
    "kwargs: only by name": """
        # --- a.py
        def leaf(): ...
        def run(first, *, work, other=None):
            work()
            # ^ calls a.leaf
        run(1, other=2, work=leaf)
        # ^ calls a.run
        """,
    "lambdas: bodies that call": """
        # --- a.py
        def one(x):
            return x
        double = lambda x: one(one(x))
        # ^ calls a.one
        double(1)
        # ^ calls a.double
        def run(work):
            work()
            # ^ calls a.other
        other = lambda: one(2)
        # ^ calls a.one
        run(other)
        # ^ calls a.run
        """,
    "lambdas: returned with a captured function": """
        # --- a.py
        def one(): ...
        def make(work):
            later = lambda: work()
            # ^ calls a.one
            return later
        make(one)()
        # ^ calls a.make
        # ^ calls a.make.later
        """,
    "lists: append, insert and pop": """
        # --- a.py
        def one(): ...
        def two(): ...
        queue = []
        queue.append(one)
        queue.insert(0, two)
        queue.pop()()
        # ^ calls a.one
        # ^ calls a.two
        """,
    "lists: of lists, and a function over one": """
        # --- a.py
        def one(): ...
        def two(): ...
        rows = [[one], [two]]
        rows[1][0]()
        # ^ calls a.two
        def run_all(works):
            for work in works:
                work()
                # ^ calls a.one
        run_all([one])
        # ^ calls a.run_all
        """,
    "mro: the nearer base, and a base of a base": """
        # --- a.py
        class Top:
            def shared(self): ...
            def only(self): ...
        class Left(Top):
            def shared(self): ...
        class Right(Top):
            def shared(self): ...
        class Bottom(Left, Right): ...
        Bottom().shared()
        # ^ calls a.Bottom
        # ^ calls a.Left.shared
        Bottom().only()
        # ^ calls a.Bottom
        # ^ calls a.Top.only
        """,
    "mro: a method above calls one below": """
        # --- a.py
        class Base:
            def run(self):
                self.step()
                # ^ calls a.Base.step
                # ^ calls a.Child.step
            def step(self): ...
        class Child(Base):
            def step(self): ...
        Child().run()
        # ^ calls a.Child
        # ^ calls a.Base.run
        Child().step()
        # ^ calls a.Child
        # ^ calls a.Child.step
        """,
    "super: with arguments, and in a class method": """
        # --- a.py
        class Base:
            def __init__(self): ...
            @classmethod
            def make(cls): ...
        class Child(Base):
            def __init__(self):
                super(Child, self).__init__()
                # ^ calls a.Base.__init__
            @classmethod
            def make(cls):
                super().make()
                # ^ calls a.Base.make
        Child.make()
        # ^ calls a.Child.make
        Child()
        # ^ calls a.Child.__init__
        """,
    "super: through a class between that has nothing": """
        # --- a.py
        class Top:
            def go(self): ...
        class Middle(Top): ...
        class Low(Middle):
            def go(self):
                super().go()
                # ^ calls a.Top.go
                Middle.go(self)
                # ^ calls a.Top.go
        Low().go()
        # ^ calls a.Low
        # ^ calls a.Low.go
        """,
    "static methods: by the class, an instance and self": """
        # --- a.py
        class Tool:
            @staticmethod
            def cut(): ...
            @classmethod
            def make(cls):
                cls.cut()
                # ^ calls a.Tool.cut
                return cls()
                # ^ calls a.Tool
            def go(self):
                self.cut()
                # ^ calls a.Tool.cut
                Tool.cut()
                # ^ calls a.Tool.cut
        Tool.make().go()
        # ^ calls a.Tool.make
        # ^ calls a.Tool.go
        """,
    "returns: a class, that is then made": """
        # --- a.py
        class A:
            def go(self): ...
        def choose():
            return A
        Made = choose()
        # ^ calls a.choose
        Made().go()
        # ^ calls a.A
        # ^ calls a.A.go
        choose()().go()
        # ^ calls a.choose
        # ^ calls a.A
        # ^ calls a.A.go
        """,
    "returns: a function of an imported module": """
        # --- lib.py
        def work(): ...
        def choose():
            return work
        # --- a.py
        import lib
        lib.choose()()
        # ^ calls lib.choose
        # ^ calls lib.work
        """,
    "returns: the result of another function": """
        # --- a.py
        class Row:
            def show(self): ...
        def load():
            return parse()
            # ^ calls a.parse
        def parse():
            return Row()
            # ^ calls a.Row
        load().show()
        # ^ calls a.load
        # ^ calls a.Row.show
        """,
    "call of a call: three deep": """
        # --- a.py
        def one():
            def two():
                def three(): ...
                return three
            return two
        one()()()
        # ^ calls a.one
        # ^ calls a.one.two
        # ^ calls a.one.two.three
        """,
    "starred: a tuple and a dictionary in a call": """
        # --- a.py
        def one(): ...
        def two(): ...
        def run(first, second, third=None):
            first()
            # ^ calls a.one
            second()
            # ^ calls a.two
            third()
            # ^ calls a.one
        works = (one, two)
        run(*works, **{"third": one})
        # ^ calls a.run
        """,
    "walrus: in a condition and a comprehension": """
        # --- a.py
        class Row:
            def show(self): ...
        def find():
            return Row()
            # ^ calls a.Row
        if (row := find()) is not None:
            # ^ calls a.find
            row.show()
            # ^ calls a.Row.show
        while line := find():
            # ^ calls a.find
            line.show()
            # ^ calls a.Row.show
        shown = [other.show() for _ in [1] if (other := find())]
        # ^ calls a.find
        # ^ calls a.Row.show
        """,
    "comprehensions: calls in each part": """
        # --- a.py
        def items():
            return []
        def keep(x):
            return True
        def change(x):
            return x
        changed = [change(x) for x in items() if keep(x)]
        # ^ calls a.items
        # ^ calls a.keep
        # ^ calls a.change
        pairs = {change(k): keep(v) for k, v in zip(items(), items())}
        # ^ calls a.items
        # ^ calls a.keep
        # ^ calls a.change
        """,
    "comprehensions: functions from a dictionary": """
        # --- a.py
        def one(): ...
        def two(): ...
        table = {"a": one, "b": two}
        done = [work() for work in table.values()]
        # ^ calls a.one
        # ^ calls a.two
        named = {name: work() for name, work in table.items()}
        # ^ calls a.one
        # ^ calls a.two
        """,
    "match: classes and captured names": """
        # --- a.py
        class Circle:
            def area(self): ...
        class Square:
            def side(self): ...
        def show(shape):
            match shape:
                case Circle():
                    shape.area()
                    # ^ calls a.Circle.area
                case Square() as square:
                    square.side()
                    # ^ calls a.Square.side
                case _:
                    fallback()
                    # ^ calls a.fallback
        def fallback(): ...
        show(Circle())
        # ^ calls a.show
        # ^ calls a.Circle
        """,
    "context managers: contextlib and several": """
        # --- a.py
        from contextlib import contextmanager
        class Lock:
            def __enter__(self):
                return self
            def __exit__(self, *error): ...
            def check(self): ...
        @contextmanager
        def opened():
            yield Lock()
            # ^ calls a.Lock
        with opened() as lock, Lock() as other:
        # ^ calls a.Lock.__enter__
        # ^ calls a.Lock.__exit__
            # ^ calls a.opened
            # ^ calls a.Lock
            lock.check()
            # ^ calls a.Lock.check
            other.check()
            # ^ calls a.Lock.check
        """,
    "properties: a chain, and a cached one": """
        # --- a.py
        from functools import cached_property
        class Log:
            def write(self): ...
        class Job:
            @property
            def log(self):
                return Log()
                # ^ calls a.Log
            @cached_property
            def parent(self):
                return Job()
                # ^ calls a.Job
        Job().parent.log.write()
        # ^ calls a.Job.log
        # ^ calls a.Job.parent
        # ^ calls a.Job
        # ^ calls a.Log.write
        """,
    "functools.partial: with a method and a keyword": """
        # --- a.py
        import functools
        from functools import partial
        def work(a, b): ...
        class Box:
            def go(self, a): ...
        half = partial(work, 1)
        half(2)
        # ^ calls a.work
        box = Box()
        # ^ calls a.Box
        functools.partial(box.go, a=1)()
        # ^ calls a.Box.go
        """,
    "__call__: an instance, in a list and inherited": """
        # --- a.py
        class Task:
            def __call__(self): ...
        class Small(Task): ...
        task = Task()
        # ^ calls a.Task
        task()
        # ^ calls a.Task.__call__
        for each in [Small()]:
            # ^ calls a.Small
            each()
            # ^ calls a.Task.__call__
        """,
    "closures: a counter with two functions": """
        # --- a.py
        def make():
            def up():
                log()
                # ^ calls a.make.log
            def down():
                up()
                # ^ calls a.make.up
            def log(): ...
            return up, down
        up, down = make()
        # ^ calls a.make
        up()
        # ^ calls a.make.up
        down()
        # ^ calls a.make.down
        """,
    "closures: a function made in a loop": """
        # --- a.py
        def one(): ...
        def two(): ...
        works = []
        for work in (one, two):
            def later(work=work):
                work()
                # ^ calls a.one
                # ^ calls a.two
            works.append(later)
        works[0]()
        # ^ calls a.later
        """,
    "aliases: of a class, a method and a module": """
        # --- lib.py
        def run(): ...
        # --- a.py
        import lib as library
        class Cart:
            def total(self): ...
            sum = total
        Basket = Cart
        Basket().sum()
        # ^ calls a.Cart
        # ^ calls a.Cart.total
        again = library
        again.run()
        # ^ calls lib.run
        total = Cart().total
        # ^ calls a.Cart
        total()
        # ^ calls a.Cart.total
        """,
    "type of an object: its class, made again": """
        # --- a.py
        class Node:
            def __init__(self): ...
            def copy(self):
                other = type(self)()
                # ^ calls a.Node.__init__
                other.link()
                # ^ calls a.Node.link
                return self.__class__()
                # ^ calls a.Node.__init__
            def link(self): ...
            def __call__(self): ...
            @classmethod
            def load(cls): ...
            def again(self):
                return type(self).load()
                # ^ calls a.Node.load
        """,
    "nested calls: arguments of arguments": """
        # --- a.py
        def one(*x):
            return x
        class Box:
            def __init__(self, *x): ...
            def put(self, *x): ...
        Box(one(one(), one)).put(one(Box()))
        # ^ calls a.Box.__init__
        # ^ calls a.Box.put
        # ^ calls a.one
        """,
}
