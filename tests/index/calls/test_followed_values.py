"""Values that are followed further: through lambdas, tuples, generators, imported classes."""

from __future__ import annotations

import pytest

from holdfast.index.calls.confidence import VALUES
from holdfast.index.calls.resolve import Resolver
from holdfast.index.facts.extract import extract
from tests.index.claims import check, resolved

PYTHON = {
    "super of another class than the one around it": """
        # --- a.py
        class Scope:
            def close(self): ...
        class Function(Scope):
            def close(self): ...
        class Lambda(Function):
            def close(self):
                super(Function, self).close()
                # ^ calls a.Scope.close by super
            def end(self):
                super(Lambda, self).close()
                # ^ calls a.Function.close by super
        """,
    "what a generator is sent": """
        # --- a.py
        import typing
        class Request: ...
        class Response:
            def read(self): ...
        def flow(request: Request) -> typing.Generator[Request, Response, None]:
            response = yield request
            response.read()
            # ^ calls a.Response.read
        """,
    "adding an element does not define a field": """
        # --- a.py
        class Params:
            def add(self, key): ...
            def setdefault(self, key, value): ...
        class Url:
            @property
            def params(self) -> Params: ...
            def plus(self, key):
                self.params.add(key)
                # ^ calls a.Params.add by property
                # ^ calls a.Url.params
        class Secure(Url):
            def go(self, key):
                self.params.setdefault("k", key)
                # ^ calls a.Params.setdefault
                # ^ calls a.Url.params
        """,
    "a tuple into fields": """
        # --- a.py
        class Convertor:
            def convert(self): ...
        def compiled() -> tuple[str, dict[str, Convertor]]: ...
        class Route:
            def __init__(self):
                self.path, self.convertors = compiled()
                # ^ calls a.compiled
            def go(self, key):
                self.convertors[key].convert()
                # ^ calls a.Convertor.convert
        """,
    "a declared type says what elements there are": """
        # --- a.py
        class Route:
            def match(self): ...
        class Mount(Route):
            def match(self): ...
        class Router:
            def __init__(self, routes: list[Route]):
                self.routes = list(routes)
            def mount(self):
                self.routes.append(Mount())
                # ^ calls a.Mount
            def go(self):
                for route in self.routes:
                    route.match()
                    # ^ calls a.Route.match
        """,
    "an instance of the class around it": """
        # --- a.py
        class Params:
            def items(self): ...
            def __eq__(self, other):
                if not isinstance(other, self.__class__):
                    return False
                return other.items()
                # ^ calls a.Params.items
        """,
    "what was just assigned says more than the declared type": """
        # --- a.py
        class Field:
            def dump(self): ...
        class String(Field):
            def dump(self): ...
        class Enum:
            def __init__(self, other: Field):
                if other:
                    self.field: Field = String()
                    # ^ calls a.String
                    self.field.dump()
                    # ^ calls a.String.dump
                else:
                    self.field = other
        """,
    "a lambda that a function takes": """
        # --- a.py
        from typing import Callable
        class State:
            def add(self): ...
        class Item:
            def size(self): ...
        Setup = Callable[["State"], None]
        def record(setup: Setup): ...
        def each(found: Callable[[Item, State], None]): ...
        record(lambda s: s.add())
        # ^ calls a.record
        # ^ calls a.State.add
        each(lambda item, state: (item.size(), state.add()))
        # ^ calls a.each
        # ^ calls a.Item.size
        # ^ calls a.State.add
        """,
    "a lambda that gets the elements": """
        # --- a.py
        from functools import reduce
        class Leaf:
            def size(self): ...
            def grow(self, by): ...
        def go(leaves: list[Leaf]):
            sorted(leaves, key=lambda leaf: leaf.size())
            # ^ calls a.Leaf.size
            leaves.sort(key=lambda leaf: leaf.size())
            # ^ calls a.Leaf.size
            list(map(lambda leaf: leaf.size(), leaves))
            # ^ calls a.Leaf.size
            reduce(lambda total, leaf: leaf.grow(total), leaves)
            # ^ calls a.Leaf.grow
            max(leaves, key=lambda leaf: leaf.size()).grow(1)
            # ^ calls a.Leaf.grow
            # ^ calls a.Leaf.size
        """,
    "a function whose parameter is called cls": """
        # --- a.py
        class Widget:
            def __init__(self, name): ...
            def click(self): ...
        def build(cls, *args):
            return cls(*args)
            # ^ calls a.Widget.__init__ by passed as an argument
        build(Widget, "ok").click()
        # ^ calls a.build
        # ^ calls a.Widget.click
        """,
    "what a data class runs when it is made": """
        # --- a.py
        from dataclasses import dataclass
        @dataclass
        class Order:
            total: int
            def __post_init__(self): ...
        Order(3)
        # ^ calls a.Order by same file
        # ^ calls a.Order.__post_init__ by run by the constructor
        """,
    "another name of a class, imported": """
        # --- shapes.py
        class Square:
            def __init__(self): ...
        Box = Square
        # --- main.py
        from shapes import Box as B
        B()
        # ^ calls shapes.Square.__init__
        """,
    "a member by a name that is made above": """
        # --- a.py
        class Visitor:
            def visit(self, node):
                name = "visit_" + node.kind
                return getattr(self, name, self.other)(node)
                # ^ calls a.Numbers.visit_one
                # ^ calls a.Numbers.visit_two
                # ^ calls a.Visitor.other by one of several
            def other(self, node): ...
        class Numbers(Visitor):
            def visit_one(self, node): ...
            def visit_two(self, node): ...
        """,
    "a partial function that is passed": """
        # --- a.py
        from functools import partial
        def cut(size, text): ...
        def run(step):
            step("x")
            # ^ calls a.cut
        run(partial(cut, 3))
        # ^ calls a.run
        """,
    "a context that a stack enters": """
        # --- a.py
        from contextlib import ExitStack
        class Cursor:
            def execute(self): ...
        class Connection:
            def __enter__(self) -> Cursor: ...
            def __exit__(self, *a): ...
        with ExitStack() as stack:
            cursor = stack.enter_context(Connection())
            # ^ calls a.Connection
            # ^ calls a.Connection.__enter__
            cursor.execute()
            # ^ calls a.Cursor.execute
        """,
    "one of several values": """
        # --- a.py
        class Fast:
            def run(self): ...
        class Slow:
            def run(self): ...
        def make(fast):
            if fast:
                return Fast()
            return Slow()
        make(True).run()
        # ^ calls a.make by same file
        # ^ calls a.Fast.run by one of several
        # ^ calls a.Slow.run by one of several
        def go(flag: bool, both: Fast | Slow):
            engine = Fast() if flag else Slow()
            # ^ calls a.Fast
            # ^ calls a.Slow
            engine.run()
            # ^ calls a.Fast.run by one of several
            # ^ calls a.Slow.run by one of several
            both.run()
            # ^ calls a.Fast.run by declared type
            # ^ calls a.Slow.run by declared type
            for each in (Fast(), Slow()):
            # ^ calls a.Fast
            # ^ calls a.Slow
                each.run()
                # ^ calls a.Fast.run by assigned name
                # ^ calls a.Slow.run by assigned name
        """,
    "a method that subclasses override": """
        # --- base.py
        class Importer:
            def run(self):
                self.read()
                # ^ calls base.Importer.read by self
                # ^ calls csvs.CsvImporter.read by overridden in a subclass
            def read(self): ...
        # --- csvs.py
        from base import Importer
        class CsvImporter(Importer):
            def read(self): ...
        class Quiet(Importer): ...
        """,
    "operators of an imported class": """
        # --- vec.py
        class Vec:
            def __add__(self, other): return Vec()
            # ^ calls vec.Vec
            def __getitem__(self, at): ...
            def __len__(self): ...
            def __contains__(self, x): ...
            def __enter__(self): return self
            def __exit__(self, *a): ...
            def norm(self): ...
        # --- main.py
        from vec import Vec
        a = Vec()
        # ^ calls vec.Vec
        b = a + a
        # ^ calls vec.Vec.__add__
        b.norm()
        # ^ calls vec.Vec.norm
        a[0]
        # ^ calls vec.Vec.__getitem__
        len(a)
        # ^ calls vec.Vec.__len__
        1 in a
        # ^ calls vec.Vec.__contains__
        with a as c:
        # ^ calls vec.Vec.__enter__
        # ^ calls vec.Vec.__exit__
            c.norm()
            # ^ calls vec.Vec.norm
        """,
    "properties of an imported class, but not its fields and methods": """
        # --- model.py
        class Hook:
            def __call__(self): ...
        class Price:
            def __init__(self):
                self.hook = Hook()
                # ^ calls model.Hook
            @property
            def amount(self): ...
            def method(self): ...
        # --- main.py
        from model import Price
        def show(price: Price):
            print(price.amount, price.hook, price.method)
            # ^ calls model.Price.amount by declared type
        """,
    "a parameter that a branch defines as a function": """
        # --- a.py
        def run(log=None):
            if log is None:
                def log(text): ...
            log("x")
            # ^ calls a.run.log
        """,
    "Self of a module": """
        # --- a.py
        import typing_extensions as te
        class Frame:
            def copy(self) -> te.Self: ...
            def soft(self): ...
            def go(self):
                self.copy().soft()
                # ^ calls a.Frame.copy
                # ^ calls a.Frame.soft
        """,
    "a class whose base is a parameter": """
        # --- a.py
        class Undefined:
            def fail(self): ...
        def make(base: type[Undefined] = Undefined):
            class Logging(base):
                def fail(self):
                    super().fail()
                    # ^ calls a.Undefined.fail by super
        """,
    "no guess about a method with underscores": """
        # --- a.py
        class Server:
            def __await__(self): ...
        def go(unknown):
            unknown.__await__()
            # ^ unresolved
        """,
}
SCRIPTS = {
    "what a promise resolves to": """
        // --- a.js
        class Rows { first() {} }
        function load() { return Promise.resolve(new Rows()); }
        // ^ calls a.Rows
        load().then((rows) => rows.first());
        // ^ calls a.load
        // ^ calls a.Rows.first
        async function main() {
          (await load()).first();
          // ^ calls a.load
          // ^ calls a.Rows.first
          const all = await Promise.all([load(), load()]);
          // ^ calls a.load
          all[0].first();
          // ^ calls a.Rows.first
          all.forEach((rows) => rows.first());
          // ^ calls a.Rows.first
        }
        """,
    "the usual value of a destructured parameter": """
        // --- a.js
        function onOk() {}
        function other() {}
        function request({ url, success = onOk } = {}) {
          success(url);
          // ^ calls a.onOk by default value
          // ^ calls a.other by passed as an argument
        }
        request({ success: other });
        // ^ calls a.request
        """,
    "the iterator of a class": """
        // --- a.js
        class Tree {
          *[Symbol.iterator]() {}
        }
        const tree = new Tree();
        // ^ calls a.Tree
        for (const node of tree) {
        // ^ calls a.Tree.[Symbol.iterator]
        }
        const all = [...tree];
        // ^ calls a.Tree.[Symbol.iterator]
        """,
    "accessors of an imported class": """
        // --- temp.mjs
        export class Temp {
          get f() { return 1; }
          set f(v) {}
          plain() {}
        }
        // --- main.mjs
        import { Temp } from "./temp.mjs";
        const t = new Temp();
        // ^ calls temp.Temp
        const value = t.f;
        // ^ calls temp.Temp.f
        const method = t.plain;
        t.f = 4;
        // ^ calls temp.Temp.f
        """,
}


@pytest.mark.parametrize("case", PYTHON)
@pytest.mark.shows("CALLS-FEATURES")
def test_values_of_python(case: str) -> None:
    check(PYTHON[case])


@pytest.mark.parametrize("case", SCRIPTS)
@pytest.mark.shows("CALLS-FEATURES")
def test_values_of_scripts(case: str) -> None:
    check(SCRIPTS[case])


def test_reading_a_property_runs_its_getter_and_writing_its_setter() -> None:
    """Both had the last definition before, which is the setter."""
    model = extract(
        "model.py",
        b"class Price:\n    @property\n    def amount(self): ...\n"
        b"    @amount.setter\n    def amount(self, value): ...\n",
    )
    main = extract("main.py", b"from model import Price\np = Price()\np.amount\np.amount = 3\n")
    lines = {s.id: s.span.first_line for s in model.symbols}
    edges, _ = resolved(Resolver([model, main]), "main.py")
    assert [(e.line, lines[e.callee]) for e in edges if e.line > 2] == [(3, 2), (4, 4)]


@pytest.mark.shows("CALLS-CALIBRATED")
def test_one_of_several_is_less_sure_than_a_single_value() -> None:
    """Each branch had the confidence of its own step before, 0.99, and at most one of them runs."""
    source = b"def a(): ...\ndef b(): ...\ndef go(x):\n    f = a if x else b\n    f()\n"
    edges, _ = resolved(Resolver([extract("a.py", source)]), "a.py")
    shown = [(e.reason, e.confidence) for e in edges if e.line == 5]
    assert shown == [("one of several", VALUES["python"]["one of several"])] * 2
    assert shown[0][1] < 0.9
