"""Programs of Python that nothing was changed for, with recorded calls (`record.py`)."""

from __future__ import annotations

PROGRAMS = {
    "a ledger of accounts": """
        # --- a.py
        class Account:
            rate = 0
            def __init__(self, owner, balance=0):
                self.owner, self.balance = owner, balance
                self.history = []
            def deposit(self, amount):
                self.balance += amount
                return self.note("in", amount)
                # ^ calls a.Account.note
            def withdraw(self, amount):
                if not self.allowed(amount):
                # ^ calls a.Account.allowed
                # ^ calls a.Credit.allowed
                    raise Overdrawn(self)
                    # ^ calls a.Overdrawn.__init__
                self.balance -= amount
                return self.note("out", amount)
                # ^ calls a.Account.note
            def allowed(self, amount): return amount <= self.balance
            def note(self, kind, amount):
                entry = Entry(kind, amount)
                # ^ calls a.Entry.__init__
                self.history.append(entry)
                return entry
        class Credit(Account):
            def __init__(self, owner, limit):
                super().__init__(owner)
                # ^ calls a.Account.__init__
                self.limit = limit
            def allowed(self, amount): return amount <= self.balance + self.limit
        class Entry:
            def __init__(self, kind, amount): self.kind, self.amount = kind, amount
            def line(self): return f"{self.kind} {self.amount}"
            def __lt__(self, other): return self.amount < other.amount
        class Overdrawn(Exception):
            def __init__(self, account):
                super().__init__(account.owner)
                self.account = account
            def hint(self): return self.account.owner
        class Bank:
            def __init__(self): self.accounts = {}
            def open(self, account):
                self.accounts[account.owner] = account
                return account
            def transfer(self, source, target, amount):
                first, second = self.accounts[source], self.accounts[target]
                first.withdraw(amount)
                # ^ calls a.Account.withdraw
                second.deposit(amount)
                # ^ calls a.Account.deposit
            def report(self):
                return [entry.line() for a in self.accounts.values() for entry in a.history]
                # ^ calls a.Entry.line
        bank = Bank()
        # ^ calls a.Bank.__init__
        bank.open(Account("ann", 5))
        # ^ calls a.Account.__init__
        # ^ calls a.Bank.open
        rich = bank.open(Credit("bob", 50))
        # ^ calls a.Bank.open
        # ^ calls a.Credit.__init__
        bank.transfer("bob", "ann", 20)
        # ^ calls a.Bank.transfer
        rich.deposit(1).line()
        # ^ calls a.Account.deposit
        # ^ calls a.Entry.line
        try:
            bank.transfer("ann", "bob", 900)
            # ^ calls a.Bank.transfer
        except Overdrawn as error:
            error.hint()
            # ^ calls a.Overdrawn.hint
        bank.report()
        # ^ calls a.Bank.report
        entries = sorted(rich.history, key=lambda e: e.line())
        # ^ calls a.Entry.line
        entries[0].line()
        # ^ calls a.Entry.line
        """,
    "pipelines of steps": """
        # --- a.py
        import functools
        def step(name, *, enabled=True):
            def register(function):
                if enabled:
                    STEPS.append((name, function))
                return function
            return register
        STEPS = []
        @step("strip")
        # ^ calls a.step
        # ^ calls a.step.register
        def strip(text): return text.strip()
        @step("lower")
        # ^ calls a.step
        # ^ calls a.step.register
        def lower(text): return text.lower()
        @step("title", enabled=False)
        # ^ calls a.step
        # ^ calls a.step.register
        def title(text): return text.title()
        def run(text, steps=None):
            for name, function in steps or STEPS:
                text = function(text)
                # ^ calls a.lower
                # ^ calls a.strip
                # ^ calls a.title
            return text
        class Pipeline:
            def __init__(self, *functions, on_done=None):
                self.functions = list(functions)
                self.on_done = on_done
            def __or__(self, function): return Pipeline(*self.functions, function)
            # ^ calls a.Pipeline.__init__
            def __call__(self, value):
                result = functools.reduce(lambda v, f: f(v), self.functions, value)
                # ^ calls a.lower
                # ^ calls a.strip
                # ^ calls a.title
                if self.on_done:
                    self.on_done(result)
                    # ^ calls a.show
                return result
            @classmethod
            def of(cls, *functions): return cls(*functions)
            # ^ calls a.Pipeline.__init__
        def show(value): return value
        run(" A ")
        # ^ calls a.run
        clean = Pipeline(strip, lower, on_done=show)
        # ^ calls a.Pipeline.__init__
        clean(" B ")
        # ^ calls a.Pipeline.__call__
        longer = clean | title
        # ^ calls a.Pipeline.__or__
        longer("c")
        # ^ calls a.Pipeline.__call__
        Pipeline.of(strip)("d")
        # ^ calls a.Pipeline.__call__
        # ^ calls a.Pipeline.of
        apply = functools.partial(run, steps=[("t", title)])
        apply("e")
        # ^ calls a.run
        results = list(map(strip, [" f "]))
        # ^ calls a.strip
        by_name = dict(STEPS)
        by_name["strip"](" g ")
        # ^ calls a.strip
        best = max([strip, lower], key=lambda f: len(f(" h ")))
        # ^ calls a.lower
        # ^ calls a.strip
        best("i")
        # ^ calls a.lower
        """,
    "visitors of a tree": """
        # --- a.py
        class Node:
            def accept(self, visitor):
                return getattr(visitor, "visit_" + type(self).__name__.lower())(self)
                # ^ calls a.Eval.visit_add
                # ^ calls a.Eval.visit_num
                # ^ calls a.Show.visit_add
                # ^ calls a.Show.visit_num
        class Num(Node):
            def __init__(self, value): self.value = value
        class Add(Node):
            def __init__(self, left, right): self.left, self.right = left, right
            def parts(self): return self.left, self.right
        class Visitor:
            def visit(self, node): return node.accept(self)
            # ^ calls a.Node.accept
            def visit_num(self, node): raise NotImplementedError
            def visit_add(self, node): raise NotImplementedError
        class Eval(Visitor):
            def visit_num(self, node): return node.value
            def visit_add(self, node): return sum(self.visit(part) for part in node.parts())
            # ^ calls a.Add.parts
            # ^ calls a.Visitor.visit
        class Show(Visitor):
            def __init__(self, sign="+"): self.sign = sign
            def visit_num(self, node): return str(node.value)
            def visit_add(self, node):
                left, right = node.parts()
                # ^ calls a.Add.parts
                return self.join(self.visit(left), self.visit(right))
                # ^ calls a.Show.join
                # ^ calls a.Visitor.visit
            def join(self, *texts): return self.sign.join(texts)
        def build(text):
            parts = [Num(int(p)) for p in text.split("+")]
            # ^ calls a.Num.__init__
            tree = parts.pop(0)
            while parts:
                tree = Add(tree, parts.pop(0))
                # ^ calls a.Add.__init__
            return tree
        tree = build("1+2+3")
        # ^ calls a.build
        Eval().visit(tree)
        # ^ calls a.Eval
        # ^ calls a.Visitor.visit
        Show().visit(tree)
        # ^ calls a.Show.__init__
        # ^ calls a.Visitor.visit
        for visitor in (Eval(), Show("-")):
        # ^ calls a.Eval
        # ^ calls a.Show.__init__
            visitor.visit(tree)
            # ^ calls a.Visitor.visit
        kinds = {"eval": Eval, "show": Show}
        def make(kind): return kinds[kind]()
        # ^ calls a.Eval
        make("eval").visit(tree)
        # ^ calls a.Visitor.visit
        # ^ calls a.make
        def walk(node):
            yield node
            if isinstance(node, Add):
                for part in node.parts():
                # ^ calls a.Add.parts
                    yield from walk(part)
                    # ^ calls a.walk
        for node in walk(tree):
        # ^ calls a.walk
            node.accept(Eval())
            # ^ calls a.Eval
            # ^ calls a.Node.accept
        """,
    "a store with plugins": """
        # --- plugins/__init__.py
        from .base import Plugin, registry
        from . import audit, cache
        def load_all(): return [kind() for kind in registry.values()]
        # ^ calls plugins.audit.Audit
        # ^ calls plugins.cache.Cache.__init__
        # --- plugins/base.py
        registry = {}
        class Plugin:
            name = "?"
            def __init_subclass__(cls):
                registry[cls.name] = cls
            def before(self, key): return None
            def after(self, key, value): return value
        # --- plugins/audit.py
        from .base import Plugin
        class Audit(Plugin):
        # ^ calls plugins.base.Plugin.__init_subclass__
            name = "audit"
            def before(self, key): return log(key)
            # ^ calls plugins.audit.log
        def log(text): return text
        # --- plugins/cache.py
        from plugins.base import Plugin
        class Cache(Plugin):
        # ^ calls plugins.base.Plugin.__init_subclass__
            name = "cache"
            def __init__(self): self.kept = {}
            def after(self, key, value):
                self.kept[key] = value
                return super().after(key, value)
                # ^ calls plugins.base.Plugin.after
        # --- main.py
        import plugins
        from plugins import cache as caching, load_all
        class Store:
            def __init__(self, source, plugins=()):
                self.source = source
                self.plugins = list(plugins)
            def get(self, key):
                for plugin in self.plugins:
                    plugin.before(key)
                    # ^ calls plugins.audit.Audit.before
                    # ^ calls plugins.base.Plugin.before
                value = self.source(key)
                # ^ calls main.remote
                for plugin in reversed(self.plugins):
                    value = plugin.after(key, value)
                    # ^ calls plugins.base.Plugin.after
                    # ^ calls plugins.cache.Cache.after
                return value
        def remote(key): return key
        store = Store(remote, load_all())
        # ^ calls main.Store.__init__
        # ^ calls plugins.load_all
        store.get("a")
        # ^ calls main.Store.get
        Store(lambda key: remote(key), [caching.Cache()]).get("b")
        # ^ calls main.Store.__init__
        # ^ calls main.Store.get
        # ^ calls main.remote
        # ^ calls plugins.cache.Cache.__init__
        plugins.audit.log("c")
        # ^ calls plugins.audit.log
        first = plugins.load_all()[0]
        # ^ calls plugins.load_all
        first.before("d")
        # ^ calls plugins.audit.Audit.before
        """,
    "tasks with contexts": """
        # --- a.py
        import asyncio
        from contextlib import asynccontextmanager, suppress
        class Session:
            def __init__(self, name): self.name = name
            async def __aenter__(self):
                await self.open()
                # ^ calls a.Session.open
                return self
            async def __aexit__(self, *error): await self.close()
            # ^ calls a.Session.close
            async def open(self): return note("open")
            # ^ calls a.note
            async def close(self): return note("close")
            # ^ calls a.note
            async def fetch(self, key):
                await asyncio.sleep(0)
                return self.parse(key)
                # ^ calls a.Session.parse
            def parse(self, key): return Item(key)
            # ^ calls a.Item.__init__
            async def stream(self, keys):
                for key in keys:
                    yield await self.fetch(key)
                    # ^ calls a.Session.fetch
        class Item:
            def __init__(self, key): self.key = key
            def text(self): return self.key
            @property
            def size(self): return len(self.text())
            # ^ calls a.Item.text
        def note(text): return text
        @asynccontextmanager
        async def borrowed(pool):
            session = pool.pop()
            try:
                yield session
            finally:
                pool.append(session)
        async def collect(session, keys):
            items = await asyncio.gather(*(session.fetch(key) for key in keys))
            # ^ calls a.Session.fetch
            return [item.text() for item in items]
            # ^ calls a.Item.text
        async def main():
            async with Session("a") as session:
            # ^ calls a.Session.__aenter__
            # ^ calls a.Session.__aexit__
            # ^ calls a.Session.__init__
                item = await session.fetch("k")
                # ^ calls a.Session.fetch
                item.text()
                # ^ calls a.Item.text
                item.size
                # ^ calls a.Item.size
                async for each in session.stream("xy"):
                # ^ calls a.Session.stream
                    each.text()
                    # ^ calls a.Item.text
                await collect(session, "pq")
                # ^ calls a.collect
            pool = [Session("b")]
            # ^ calls a.Session.__init__
            async with borrowed(pool) as other:
            # ^ calls a.borrowed
                (await other.fetch("z")).text()
                # ^ calls a.Item.text
                # ^ calls a.Session.fetch
            task = asyncio.create_task(collect(Session("c"), "m"))
            # ^ calls a.Session.__init__
            # ^ calls a.collect
            await task
            with suppress(KeyError):
                risky()
                # ^ calls a.risky
        def risky(): raise KeyError
        asyncio.run(main())
        # ^ calls a.main
        """,
}
