"""Calls of Python that a type checker decided otherwise, as sources that say what is true."""

from __future__ import annotations

import pytest

from holdfast.index.calls.confidence import VALUES, calibrated
from holdfast.index.facts.extract import extract
from tests.index.claims import check

CASES = {
    "a method called on its class takes self first": """
        # --- a.py
        class Log:
            def write(self): ...
        class Base:
            def __init__(self, log):
                self.log = log
            def write(self):
                self.log.write()
                # ^ calls a.Log.write
        class Child(Base):
            def __init__(self, log):
                Base.__init__(self, log)
                # ^ calls a.Base.__init__
        Child(Log()).write()
        # ^ calls a.Base.write
        # ^ calls a.Child.__init__
        # ^ calls a.Log
        """,
    "an inherited method returns the class it is called on": """
        # --- a.py
        class Base:
            def __enter__(self): return self
            def __exit__(self, *error): ...
            def __add__(self, other): return type(self)()
            # ^ calls a.Base
        class Money(Base):
            def show(self): ...
        with Money() as money:
        # ^ calls a.Base.__enter__
        # ^ calls a.Base.__exit__
        # ^ calls a.Money
            money.show()
            # ^ calls a.Money.show
        more = Money() + Money()
        # ^ calls a.Base.__add__
        # ^ calls a.Money
        more.show()
        # ^ calls a.Money.show
        """,
    "a result that is declared as one of two classes": """
        # --- a.py
        class Ok:
            def get(self): ...
        class Err:
            def get(self): ...
        def parse(text) -> Ok | Err: ...
        parse("a").get()
        # ^ calls a.Err.get by one of several
        # ^ calls a.Ok.get by one of several
        # ^ calls a.parse
        """,
    "a name that one of two modules gives": """
        # --- fast.py
        def encode(): ...
        # --- slow.py
        def encode(): ...
        # --- main.py
        try:
            from fast import encode
        except ImportError:
            from slow import encode
        encode()
        # ^ calls fast.encode by one of several
        # ^ calls slow.encode by one of several
        """,
    "a function that a faster one replaces in a branch": """
        # --- uri.py
        try:
            from native import uri as fast
        except ImportError:
            fast = None
        def decode(): ...
        def parse():
            decode()
            # ^ calls uri.decode
        if fast is not None:
            decode = fast.decode
        # --- main.py
        from uri import decode
        decode()
        # ^ calls uri.decode by import
        """,
    "a function that may be replaced by another of its name": """
        # --- misc.py
        try:
            from native import encode as _fast_encode
        except ImportError:
            _fast_encode = None
        def encode(): ...
        encode = _fast_encode or encode
        # --- main.py
        from misc import encode
        encode()
        # ^ calls misc.encode
        """,
    "methods do not see the names in the body of their class": """
        # --- a.py
        class Stream:
            def __next__(self):
                return next(self.inner)
                # ^ external next
            next = __next__
        """,
    "a class by an instance of it": """
        # --- a.py
        class Node:
            def __init__(self): ...
            def __call__(self): ...
            @classmethod
            def make(cls): ...
            def copy(self):
                other = cls_of(self)
                # ^ unresolved
                self.__class__()
                # ^ calls a.Node.__init__
                type(self).make()
                # ^ calls a.Node.make
                type(self)().copy()
                # ^ calls a.Node.__init__
                # ^ calls a.Node.copy
        """,
    "cls makes an instance": """
        # --- a.py
        import outside
        class Future(outside.Future):
            @classmethod
            def construct(cls):
                made = cls()
                # ^ calls a.Future
                made.set_result(1)
                # ^ unresolved
        class State:
            def set_result(self, value): ...
        """,
    "quoted bounds of type variables, and classes of them": """
        # --- a.py
        from typing import TypeVar
        R = TypeVar("R", bound="Response")
        class Response:
            def send(self): ...
        class App:
            made: type[R]
            def go(self, got: R):
                got.send()
                # ^ calls a.Response.send
                self.made().send()
                # ^ calls a.Response
                # ^ calls a.Response.send
        """,
    "a condition that checks the type": """
        # --- a.py
        class Reader:
            def read(self): ...
        class Buffered:
            def __init__(self, reader): ...
            def read(self): ...
        class Form:
            def __init__(self, stream: Reader):
                self.stream = (
                    stream if isinstance(stream, Buffered) else Buffered(stream)
                    # ^ calls a.Buffered.__init__
                    # ^ external isinstance
                )
            def go(self):
                self.stream.read()
                # ^ calls a.Buffered.read
        """,
    "a name that is declared, and then defined in a branch": """
        # --- a.py
        from typing import Callable
        def make(utc: bool):
            now: Callable[[], str]
            if utc:
                def now() -> str: ...
            else:
                def now() -> str: ...
            def stamp():
                now()
                # ^ calls a.make.now
        """,
    "an inner function hides a variable of the module": """
        # --- a.py
        def make():
            def up(): ...
            return [up]
        up = make()[0]
        # ^ calls a.make
        up()
        # ^ calls a.make.up
        """,
    "a property made of its getter": """
        # --- a.py
        class State:
            def act(self): ...
        class Config:
            def _get_state(self):
                return State()
                # ^ calls a.State
            state = property(_get_state)
            def go(self):
                self.state.act()
                # ^ calls a.State.act
        """,
    "names of built-in types are no evidence": """
        # --- a.py
        class Table:
            def setdefault(self, key, value): ...
        def go(unknown):
            unknown.setdefault("k", [])
            # ^ unresolved
        """,
    "an import that is assigned to its own name": """
        # --- a.py
        from outside import Serializer
        Serializer = Serializer
        Serializer()
        # ^ external outside.Serializer
        """,
    "a name of the module that a class takes over": """
        # --- a.py
        class Manager:
            def push(self): ...
        manager = Manager()
        # ^ calls a.Manager
        class Config:
            manager = manager
            def go(self):
                self.manager.push()
                # ^ calls a.Manager.push
        """,
    "a field that the same function assigned before": """
        # --- a.py
        class Old:
            def start(self): ...
        class New:
            def start(self): ...
        class Wrapper:
            def __init__(self):
                self.protocol: Old | New = Old()
                # ^ calls a.Old
            def upgrade(self):
                self.protocol = New()
                # ^ calls a.New
                self.protocol.start()
                # ^ calls a.New.start by field type
        """,
    "self of the function around a class, and another name for it": """
        # --- a.py
        class Generator:
            def write(self): ...
            def visit(self):
                class Visitor:
                    def step(s):
                        s.other()
                        # ^ calls a.Generator.visit.Visitor.other
                        self.write()
                        # ^ calls a.Generator.write
                    def other(s): ...
            def choose(self):
                cls = Generator
                cls().write()
                # ^ calls a.Generator
                # ^ calls a.Generator.write
        """,
    "a function in one branch and a value in another": """
        # --- a.py
        def make(given, flag):
            if flag:
                derived = given
            else:
                def derived(): ...
            def run():
                derived()
                # ^ calls a.make.derived
        """,
    "an element by a literal key": """
        # --- a.py
        def one(): ...
        def two(): ...
        table = {"one": one, "two": two}
        table.update({"three": one}, four=two)
        table.get("two")()
        # ^ calls a.two
        table["four"]()
        # ^ calls a.two
        """,
    "the key of setdefault": """
        # --- a.py
        def one(): ...
        def two(): ...
        def make(**options):
            options.setdefault("first", one)
            return run(**options)
            # ^ calls a.run
        def run(first=None, second=None):
            first()
            # ^ calls a.one
            second()
            # ^ calls a.two
        make(second=two)
        # ^ calls a.make
        """,
}


@pytest.mark.parametrize("cause", CASES)
def test_calls_that_the_judge_decided_otherwise(cause: str) -> None:
    check(CASES[cause])


def test_what_a_dictionary_holds_in_one_file_says_nothing_about_another() -> None:
    """Callees are cached by their text, and this one means something else in each file."""
    use = 'def go():\n    table.get("k").run()\n'
    known = extract("a.py", f'table = {{"k": make}}\n{use}'.encode())
    other = extract("b.py", use.encode())
    assert [c.receiver for c in known.calls if c.name == "run"] == ["table['k']"]
    assert [c.receiver for c in other.calls if c.name == "run"] == ["table.get()"]


def test_an_inherited_member_of_a_passed_value_is_no_surer_than_the_value() -> None:
    reason = "passed as an argument"
    assert calibrated("python", f"{reason}, inherited", 0.9) == VALUES["python"][reason]
