"""Recorded programs of Python: decorators, generators and methods that Python calls itself."""

from __future__ import annotations

PROGRAMS = {
    "decorator args": """
        # --- a.py
        import functools
        def register(kind, hook=None):
            def decorate(fn):
                @functools.wraps(fn)
                def wrapper(*args, **kwargs):
                    if hook:
                        hook()
                        # ^ calls a.notify
                    return fn(*args, **kwargs)
                    # ^ calls a.plain
                    # ^ calls a.task
                return wrapper
            return decorate
        def notify(): ...
        @register("x", hook=notify)
        # ^ calls a.register
        # ^ calls a.register.decorate
        def task(a): ...
        @register("y")
        # ^ calls a.register
        # ^ calls a.register.decorate
        def plain(): ...
        task(1)
        # ^ calls a.register.decorate.wrapper
        # ^ calls a.task
        plain()
        # ^ calls a.plain
        # ^ calls a.register.decorate.wrapper
        """,
    "decorator class": """
        # --- a.py
        class Memo:
            def __init__(self, fn):
                self.fn = fn
                self.seen = {}
            def __call__(self, *args):
                return self.fn(*args)
                # ^ calls a.slow
            def clear(self):
                self.seen.clear()
        @Memo
        # ^ calls a.Memo.__init__
        def slow(n):
            return n
        slow(4)
        # ^ calls a.Memo.__call__
        # ^ calls a.slow
        slow.clear()
        # ^ calls a.Memo.clear
        """,
    "decorator class args": """
        # --- a.py
        class Tag:
            def __init__(self, name):
                self.name = name
            def __call__(self, fn):
                def inner():
                    return fn()
                    # ^ calls a.text
                return inner
        @Tag("b")
        # ^ calls a.Tag.__call__
        # ^ calls a.Tag.__init__
        def text(): ...
        text()
        # ^ calls a.Tag.__call__.inner
        # ^ calls a.text
        """,
    "decorator registry": """
        # --- a.py
        COMMANDS = {}
        def command(name):
            def keep(fn):
                COMMANDS[name] = fn
                return fn
            return keep
        @command("go")
        # ^ calls a.command
        # ^ calls a.command.keep
        def go(): ...
        @command("stop")
        # ^ calls a.command
        # ^ calls a.command.keep
        def stop(): ...
        def dispatch(word):
            COMMANDS[word]()
            # ^ calls a.go
            # ^ calls a.stop
        dispatch("go")
        # ^ calls a.dispatch
        dispatch("stop")
        # ^ calls a.dispatch
        """,
    "decorator list registry": """
        # --- reg.py
        hooks = []
        def hook(fn):
            hooks.append(fn)
            return fn
        # --- main.py
        from reg import hook, hooks
        @hook
        # ^ calls reg.hook
        def early(): ...
        @hook
        # ^ calls reg.hook
        def late(): ...
        for h in hooks:
            h()
            # ^ calls main.early
            # ^ calls main.late
        """,
    "generator send": """
        # --- a.py
        def got(x): ...
        def start(): return 1
        def gen():
            value = yield start()
            # ^ calls a.start
            got(value)
            # ^ calls a.got
            yield 2
        g = gen()
        # ^ calls a.gen
        next(g)
        g.send(5)
        """,
    "generator yield from": """
        # --- a.py
        class Item:
            def show(self): ...
        def inner():
            yield Item()
            # ^ calls a.Item
            yield Item()
            # ^ calls a.Item
        def outer():
            yield from inner()
            # ^ calls a.inner
        for it in outer():
        # ^ calls a.outer
            it.show()
            # ^ calls a.Item.show
        first = next(outer())
        # ^ calls a.outer
        first.show()
        # ^ calls a.Item.show
        """,
    "generator functions": """
        # --- a.py
        def a1(): ...
        def a2(): ...
        def stages():
            yield "one", a1
            yield "two", a2
        for name, stage in stages():
        # ^ calls a.stages
            stage()
            # ^ calls a.a1
            # ^ calls a.a2
        def pipeline(source):
            for _, s in source:
                yield s
        [s() for s in pipeline(stages())]
        # ^ calls a.a1
        # ^ calls a.a2
        # ^ calls a.pipeline
        # ^ calls a.stages
        """,
    "property setter": """
        # --- a.py
        def check(v): return v
        class Temp:
            def __init__(self):
                self._v = 0
            @property
            def value(self):
                return self.read()
                # ^ calls a.Temp.read
            @value.setter
            def value(self, v):
                self._v = check(v)
                # ^ calls a.check
            def read(self): return self._v
        t = Temp()
        # ^ calls a.Temp.__init__
        t.value = 3
        # ^ calls a.Temp.value
        t.value
        # ^ calls a.Temp.value
        """,
    "operators": """
        # --- a.py
        class Vec:
            def __init__(self, x): self.x = x
            def __add__(self, other): return Vec(self.x)
            # ^ calls a.Vec.__init__
            def __eq__(self, other): return True
            def __getitem__(self, i): return self.x
            def __len__(self): return 1
            def __contains__(self, x): return True
            def __neg__(self): return self
            def norm(self): ...
        a = Vec(1)
        # ^ calls a.Vec.__init__
        b = Vec(2)
        # ^ calls a.Vec.__init__
        c = a + b
        # ^ calls a.Vec.__add__
        c.norm()
        # ^ calls a.Vec.norm
        (a + b).norm()
        # ^ calls a.Vec.__add__
        # ^ calls a.Vec.norm
        a == b
        # ^ calls a.Vec.__eq__
        a[0]
        # ^ calls a.Vec.__getitem__
        len(a)
        # ^ calls a.Vec.__len__
        1 in a
        # ^ calls a.Vec.__contains__
        (-a).norm()
        # ^ calls a.Vec.__neg__
        # ^ calls a.Vec.norm
        """,
    "iteration protocol": """
        # --- a.py
        class Shelf:
            def __init__(self):
                self.n = 0
            def __iter__(self):
                return self
            def __next__(self):
                self.n += 1
                if self.n > 2:
                    raise StopIteration
                return Book()
                # ^ calls a.Book
        class Book:
            def read(self): ...
        for book in Shelf():
        # ^ calls a.Shelf.__init__
        # ^ calls a.Shelf.__iter__
        # ^ calls a.Shelf.__next__
            book.read()
            # ^ calls a.Book.read
        [b.read() for b in Shelf()]
        # ^ calls a.Book.read
        # ^ calls a.Shelf.__init__
        # ^ calls a.Shelf.__iter__
        # ^ calls a.Shelf.__next__
        """,
    "with protocol": """
        # --- a.py
        class Conn:
            def __enter__(self):
                return Cursor(self)
                # ^ calls a.Cursor.__init__
            def __exit__(self, *a):
                self.close()
                # ^ calls a.Conn.close
            def close(self): ...
        class Cursor:
            def __init__(self, conn):
                self.conn = conn
            def run(self):
                self.conn.close()
                # ^ calls a.Conn.close
        with Conn() as cur:
        # ^ calls a.Conn
        # ^ calls a.Conn.__enter__
        # ^ calls a.Conn.__exit__
            cur.run()
            # ^ calls a.Cursor.run
        """,
    "call protocol": """
        # --- a.py
        class Adder:
            def __init__(self, n): self.n = n
            def __call__(self, x):
                return self.apply(x)
                # ^ calls a.Adder.apply
            def apply(self, x): return x
        add = Adder(1)
        # ^ calls a.Adder.__init__
        add(3)
        # ^ calls a.Adder.__call__
        Adder(2)(4)
        # ^ calls a.Adder.__call__
        # ^ calls a.Adder.__init__
        fns = [Adder(3), Adder(4)]
        # ^ calls a.Adder.__init__
        for f in fns:
            f(1)
            # ^ calls a.Adder.__call__
        def use(fn):
            fn(2)
            # ^ calls a.Adder.__call__
        use(add)
        # ^ calls a.use
        """,
    "async": """
        # --- a.py
        import asyncio
        class Client:
            async def __aenter__(self): return self
            async def __aexit__(self, *a): ...
            async def get(self): return Reply()
            # ^ calls a.Reply
        class Reply:
            def text(self): ...
        async def fetch():
            async with Client() as c:
            # ^ calls a.Client
                reply = await c.get()
                # ^ calls a.Client.get
                reply.text()
                # ^ calls a.Reply.text
        async def main():
            await asyncio.gather(fetch(), fetch())
            # ^ calls a.fetch
        asyncio.run(main())
        # ^ calls a.main
        """,
    "retry decorator": """
        # --- util.py
        from functools import wraps
        def retry(n=3, on=None):
            def deco(fn):
                @wraps(fn)
                def again(*a, **k):
                    for _ in range(n):
                        return fn(*a, **k)
                        # ^ calls main.Job.run
                        # ^ calls main.one
                return again
            return deco
        # --- main.py
        import util
        from util import retry as r
        @util.retry(n=2)
        # ^ calls util.retry
        # ^ calls util.retry.deco
        def one(): ...
        class Job:
            @r()
            # ^ calls util.retry
            # ^ calls util.retry.deco
            def run(self):
                one()
                # ^ calls main.one
                # ^ calls util.retry.deco.again
        Job().run()
        # ^ calls main.Job
        # ^ calls main.Job.run
        # ^ calls util.retry.deco.again
        """,
    "context generator": """
        # --- a.py
        from contextlib import contextmanager
        class Lock:
            def acquire(self): ...
            def release(self): ...
            def __enter__(self):
                self.acquire()
                # ^ calls a.Lock.acquire
                return self
            def __exit__(self, *a):
                self.release()
                # ^ calls a.Lock.release
            def touch(self): ...
        @contextmanager
        def held(lock):
            lock.acquire()
            # ^ calls a.Lock.acquire
            yield lock
            lock.release()
            # ^ calls a.Lock.release
        with Lock() as l, Lock():
        # ^ calls a.Lock
        # ^ calls a.Lock.__enter__
        # ^ calls a.Lock.__exit__
            l.touch()
            # ^ calls a.Lock.touch
        with held(Lock()) as k:
        # ^ calls a.Lock
        # ^ calls a.held
            k.touch()
            # ^ calls a.Lock.touch
        """,
    "arith matrix": """
        # --- a.py
        class Money:
            def __init__(self, n): self.n = n
            def __add__(self, o): return Money(self.n + o.n)
            # ^ calls a.Money.__init__
            def __lt__(self, o): return self.n < o.n
            def __str__(self): return self.show()
            # ^ calls a.Money.show
            def show(self): return str(self.n)
            def __bool__(self): return True
        total = Money(1) + Money(2) + Money(3)
        # ^ calls a.Money.__add__
        # ^ calls a.Money.__init__
        total.show()
        # ^ calls a.Money.show
        str(total)
        # ^ calls a.Money.__str__
        sorted([total, Money(1)])
        # ^ calls a.Money.__init__
        # ^ calls a.Money.__lt__
        def bigger(a, b):
            return a if a < b else b
            # ^ calls a.Money.__lt__
        bigger(total, Money(9)).show()
        # ^ calls a.Money.__init__
        # ^ calls a.Money.show
        # ^ calls a.bigger
        """,
    "partialmethod map": """
        # --- a.py
        from functools import partial
        def send(kind, text): ...
        info = partial(send, "info")
        senders = {"info": info, "warn": partial(send, "warn")}
        info("x")
        # ^ calls a.send
        senders["warn"]("y")
        # ^ calls a.send
        list(map(partial(send, "z"), ["a"]))
        # ^ calls a.send
        class Box:
            def put(self, k, v): ...
            def fill(self):
                put_a = partial(self.put, "a")
                put_a(1)
                # ^ calls a.Box.put
        Box().fill()
        # ^ calls a.Box
        # ^ calls a.Box.fill
        """,
    "generators pipeline": """
        # --- a.py
        class Rec:
            def clean(self): return self
            def save(self): ...
        def read():
            for _ in range(2):
                yield Rec()
                # ^ calls a.Rec
        def clean(rows):
            for r in rows:
                yield r.clean()
                # ^ calls a.Rec.clean
        def save(rows):
            for r in rows:
                r.save()
                # ^ calls a.Rec.save
        save(clean(read()))
        # ^ calls a.clean
        # ^ calls a.read
        # ^ calls a.save
        first, *rest = [r for r in read()]
        # ^ calls a.read
        first.save()
        # ^ calls a.Rec.save
        """,
}
