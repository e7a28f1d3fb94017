"""Calls of everyday programs that were missed or wrong, as sources that say what is true."""

from __future__ import annotations

import pytest

from holdfast.index.calls.lookup import ANY, EITHER
from holdfast.index.calls.resolve import Resolver
from holdfast.index.facts.extract import extract
from tests.index.claims import check, resolved, split

CASES = {
    "a decorator may write the constructor that super means": """
        # --- a.py
        from dataclasses import dataclass
        class Plain:
            def __init__(self): ...
        @dataclass
        class Record:
            x: int = 0
        class Both(Record, Plain):
            def __init__(self): super().__init__()
            # ^ calls a.Plain.__init__ by super past an unknown class
        """,
    "super does not see what an instance holds": """
        # --- a.py
        def other(): ...
        class Base:
            def run(self): ...
        class Changed(Base):
            def __init__(self): self.run = other
        class Last(Changed):
            def run(self): super().run()
            # ^ calls a.Base.run by super
        """,
    "classes of one name have their own bases": """
        # --- a.py
        class Left:
            def run(self): ...
        class Right:
            def run(self): ...
        class Both(Left):
            def run(self): super().run()
            # ^ calls a.Left.run by super
        class Both(Right):
            def run(self): super().run()
            # ^ calls a.Right.run by super
        """,
    "a key that a variable or an attribute holds is one of several": """
        # --- a.py
        def f(): ...
        def g(): ...
        B = "b"
        T = {"a": f, "b": g}
        class Runner:
            def __init__(self): self.mode = "b"
            def run(self):
                T[self.mode]()
                # ^ calls a.f by one of several
                # ^ calls a.g by one of several
        def run():
            k: str = "b"
            T[k]()
            # ^ calls a.f by one of several
            # ^ calls a.g by one of several
        def again():
            key = B
            T[key]()
            # ^ calls a.f by one of several
            # ^ calls a.g by one of several
        """,
    "super follows the order of the class, not of its first base": """
        # --- a.py
        class Widget:
            def draw(self): ...
        class Clickable(Widget):
            def click(self): ...
        class Scrollable(Widget):
            def draw(self): ...
        class ListBox(Clickable, Scrollable):
            def draw(self):
                super().draw()
                # ^ calls a.Scrollable.draw by super
        """,
    "super in a mixin reaches what a subclass puts behind it": """
        # --- a.py
        class Plugin:
            def before(self): ...
        class Timing:
            def before(self):
                super().before()
                # ^ calls a.Logging.before by super
        class Logging:
            def before(self):
                super().before()
                # ^ calls a.Plugin.before by super
        class Copy(Timing, Logging, Plugin): ...
        """,
    "super that depends on the subclass is one of several": """
        # --- a.py
        class Base:
            def setup(self): ...
        class Left(Base):
            def setup(self):
                super().setup()
                # ^ calls a.Base.setup by one of several
                # ^ calls a.Right.setup by one of several
        class Right(Base):
            def setup(self): ...
        class Both(Left, Right): ...
        """,
    "an abstract method says that it is one": """
        # --- a.py
        from abc import abstractmethod
        class Exporter:
            def export(self):
                self.line()
                # ^ calls a.Exporter.line by abstract
                # ^ calls a.Csv.line by overridden in a subclass
            @abstractmethod
            def line(self): ...
        class Csv(Exporter):
            def line(self): ...
        """,
    "elements that are added under a name have that name": """
        # --- a.py
        from collections import defaultdict
        def start(): ...
        def stop(): ...
        hooks = defaultdict(list)
        hooks["before"].append(start)
        hooks["after"].append(stop)
        for hook in hooks["before"]:
            hook()
            # ^ calls a.start
        """,
    "a decorator is given what the one below it made": """
        # --- a.py
        def logged(function):
            def wrapper(): return function()
            # ^ calls a.checked.guard
            return wrapper
        def checked(function):
            def guard(): return function()
            # ^ calls a.pay
            return guard
        @logged
        # ^ calls a.logged
        @checked
        # ^ calls a.checked
        def pay(): ...
        """,
    "a decorator of another definition with that name is not below": """
        # --- a.py
        def first(function):
            def inner(): return function()
            # ^ calls a.run
            return inner
        def second(function):
            def other(): return function()
            # ^ calls a.run
            return other
        @first
        # ^ calls a.first
        def run(): ...
        @second
        # ^ calls a.second
        def run(): ...
        """,
    "a nonlocal lambda": """
        # --- a.py
        def debounce():
            pending = None
            def schedule():
                nonlocal pending
                pending = lambda: 1
            def run():
                pending()
                # ^ calls a.debounce.schedule.pending
            return schedule, run
        """,
    "an attribute of a function that is returned": """
        # --- a.py
        def make():
            def run(): ...
            def stop(): ...
            run.stop = stop
            return run
        run = make()
        # ^ calls a.make
        run.stop()
        # ^ calls a.make.stop
        """,
    "a class statement calls a hook of the base": """
        # --- a.py
        class Plugin:
            def __init_subclass__(cls, name=None): ...
        class Copy(Plugin, name="copy"): ...
        # ^ calls a.Plugin.__init_subclass__
        class Other: ...
        class Plain(Other): ...
        # ^ defines class Plain
        """,
    "fields of a data class hold what its constructor is given": """
        # --- a.py
        from dataclasses import dataclass
        def first(): ...
        def second(): ...
        @dataclass
        class Step:
            name: str
            action: object
            def execute(self):
                return self.action()
                # ^ calls a.first
                # ^ calls a.second
        Step("a", first)
        # ^ calls a.Step
        Step("b", action=second)
        # ^ calls a.Step
        """,
    "a class from a table is made and used at once": """
        # --- a.py
        class Job:
            def run(self): ...
        kinds = {"job": Job}
        kinds["job"]().run()
        # ^ calls a.Job
        # ^ calls a.Job.run
        """,
    "a key that is a constant": """
        # --- a.py
        KEY = "go"
        def go(): ...
        def stop(): ...
        TABLE = {"go": go, "stop": stop}
        TABLE[KEY]()
        # ^ calls a.go
        """,
    "a key that is a constant of a script": """
        // --- a.js
        const KEY = "go";
        const table = { go() {}, stop() {} };
        table[KEY]();
        // ^ calls a.table.go
        """,
    "private lists that grow": """
        // --- a.js
        class Bus {
          #all = [];
          add(fn) { this.#all.push(fn); }
          emit() { for (const fn of this.#all) fn(); }
          // ^ calls a.log
        }
        function log() {}
        new Bus().add(log);
        // ^ calls a.Bus
        // ^ calls a.Bus.add
        """,
    "a list that is made when it is missing": """
        // --- a.js
        class Bus {
          all = {};
          add(name, fn) { (this.all[name] ||= []).push(fn); }
          emit(name) { for (const fn of this.all[name]) fn(); }
          // ^ calls a.log
        }
        function log() {}
        new Bus().add("a", log);
        // ^ calls a.Bus
        // ^ calls a.Bus.add
        """,
    "a function assigned to a variable outside": """
        // --- a.js
        function make() {
          let pending = null;
          function plan() { pending = () => 1; }
          function run() { pending(); }
          // ^ calls a.make.plan.pending
          return { plan, run };
        }
        """,
    "a default deep in a pattern": """
        // --- a.js
        function read() {}
        function none() {}
        const api = { codec: { read }, hooks: [none] };
        const { codec: { read: take = none }, hooks: [first] } = api;
        take();
        // ^ calls a.read by one of several
        // ^ calls a.none by one of several
        first();
        // ^ calls a.none
        """,
    "elements of a list in another order": """
        // --- a.js
        class Circle { area() {} }
        class Square { sides() {} }
        const shapes = [new Circle(), new Square()];
        // ^ calls a.Circle
        // ^ calls a.Square
        shapes.filter((s) => s)[0].sides();
        // ^ calls a.Square.sides
        shapes.find((s) => s.area());
        // ^ calls a.Circle.area
        """,
    "the next value of a generator": """
        // --- a.js
        class Row { value() {} }
        function* rows() { yield new Row(); }
        // ^ calls a.Row
        const it = rows();
        // ^ calls a.rows
        it.next().value.value();
        // ^ calls a.Row.value
        """,
    "a method of a prototype that is called on an object": """
        // --- a.js
        function Animal() {}
        Animal.prototype.speak = function () {};
        function Dog() {}
        Dog.prototype.speak = function () { return Animal.prototype.speak.call(this); };
        // ^ calls a.Animal.speak
        """,
    "a function that waits for an event": """
        // --- a.js
        const server = require("net").createServer();
        function opened() {}
        function failed() {}
        server.on("open", opened);
        // ^ calls a.opened by called back on an event
        fetch("u").then(opened, failed);
        // ^ calls a.opened by called back
        // ^ calls a.failed by called back on an event
        """,
    "a constant that is written again is one key of several": """
        # --- a.py
        KEY = "go"
        def go(): ...
        def stop(): ...
        TABLE = {"go": go, "stop": stop}
        def change():
            global KEY
            KEY = "stop"
        TABLE[KEY]()
        # ^ calls a.go by one of several
        # ^ calls a.stop by one of several
        """,
    "a constant that a loop writes": """
        # --- a.py
        KEY = "go"
        def go(): ...
        def stop(): ...
        TABLE = {"go": go, "stop": stop}
        for KEY in TABLE:
            TABLE[KEY]()
            # ^ calls a.go by each element
            # ^ calls a.stop by each element
        """,
    "members of an enumeration, tuples and odd strings are one key": """
        # --- a.py
        def go(): ...
        def stop(): ...
        BY_KIND = {Kind.GO: go, Kind.STOP: stop}
        BY_PAIR = {(1, 2): go, (3, 4): stop}
        BY_TEXT = {"a:b": go, "c:d": stop}
        def run():
            BY_KIND[Kind.GO]()
            # ^ calls a.go by one of several
            # ^ calls a.stop by one of several
            BY_PAIR[1, 2]()
            # ^ calls a.go by one of several
            # ^ calls a.stop by one of several
            BY_TEXT["a:b"]()
            # ^ calls a.go by one of several
            # ^ calls a.stop by one of several
        """,
    "a key at the top of a file is one key": """
        # --- a.py
        def go(): ...
        def stop(): ...
        TABLE = {"go": go, "stop": stop}
        name = input()
        # ^ external input
        TABLE[name]()
        # ^ calls a.go by one of several
        # ^ calls a.stop by one of several
        """,
    "fields of a data class with bases, of its class, or with a constructor": """
        # --- a.py
        from dataclasses import dataclass
        from typing import ClassVar
        def first(): ...
        def second(): ...
        class Base: ...
        @dataclass
        class Heir(Base):
            action: object
            def execute(self): return self.action()
            # ^ unresolved
        Heir(first)
        # ^ calls a.Heir
        @dataclass
        class Shared:
            usual: ClassVar[object]
            action: object
            def execute(self): return self.action()
            # ^ calls a.first
        Shared(first)
        # ^ calls a.Shared
        @dataclass
        class Written:
            action: object
            def __init__(self, other): ...
            def execute(self): return self.action()
            # ^ unresolved
        Written(second)
        # ^ calls a.Written.__init__
        """,
    "a field of a data class behind one that may not be taken": """
        # --- a.py
        from dataclasses import dataclass, field
        def first(): ...
        @dataclass
        class Step:
            seen: list = field(init=False)
            # ^ external dataclasses.field
            action: object = None
            def execute(self): return self.action()
            # ^ unresolved
        Step(first)
        # ^ calls a.Step
        """,
    "super past a class outside the program": """
        # --- a.py
        from elsewhere import Outside
        class Known:
            def run(self): ...
        class Both(Outside, Known):
            def run(self):
                super().run()
                # ^ calls a.Known.run by super past an unknown class
        class Before(Known, Outside):
            def run(self):
                super().run()
                # ^ calls a.Known.run by super
        """,
    "super in a class that is also used without the subclass": """
        # --- a.py
        from elsewhere import Outside
        class Mixin:
            def run(self): ...
        class Tool(Outside):
            def run(self):
                super().run()
                # ^ calls a.Mixin.run by super past an unknown class
        class Other(Tool, Mixin): ...
        """,
    "super of a constructor that `object` has too": """
        # --- a.py
        class Named:
            def __init__(self):
                super().__init__()
                # ^ calls a.Base.__init__ by super past an unknown class
        class Base:
            def __init__(self): ...
        class Both(Named, Base): ...
        """,
    "a hook keeps the subclass, not its own class": """
        # --- a.py
        class Plugin:
            known = {}
            def __init_subclass__(cls, key):
                Plugin.known[key] = cls
        class Copy(Plugin, key="copy"): ...
        # ^ calls a.Plugin.__init_subclass__
        def load(key): return Plugin.known[key]()
        # ^ unresolved
        """,
    "one of several in an object is still one of several": """
        // --- a.js
        class One { run() {} }
        class Two { run() {} }
        function make(x) { return x ? new One() : new Two(); }
        // ^ calls a.One
        // ^ calls a.Two
        function both(x) { const made = make(x); return { made }; }
        // ^ calls a.make
        const { made } = both(1);
        // ^ calls a.both
        made.run();
        // ^ calls a.One.run by one of several
        // ^ calls a.Two.run by one of several
        """,
    "what decorates one of several is one of several": """
        # --- a.py
        table = {}
        def keep(name):
            def add(function):
                table[name] = function
                return function
            return add
        def timed(function):
            def inner(): return function()
            # ^ calls a.first
            return inner
        @keep("a")
        # ^ calls a.keep
        # ^ calls a.keep.add
        @timed
        # ^ calls a.timed
        def first(): ...
        @keep("b")
        # ^ calls a.keep
        # ^ calls a.keep.add
        def second(): ...
        table["b"]()
        # ^ calls a.timed.inner by one of several
        # ^ calls a.second by one of several
        """,
    "several bases with a hook": """
        # --- a.py
        class One:
            def __init_subclass__(cls): ...
        class Two:
            def __init_subclass__(cls): ...
        class Both(One, Two): ...
        # ^ defines class Both
        Both().x()
        # ^ calls a.Both
        # ^ unresolved
        """,
    "a value that is added to and one that is made when it is missing": """
        // --- a.js
        const made = {}, joined = {};
        function one() {}
        function two() {}
        function add(name) { (made[name] ||= []).push(one); (joined[name] += []).push(two); }
        function run(name) {
          for (const f of made[name]) f();
          // ^ calls a.one
          for (const f of joined[name]) f();
          // ^ unresolved
        }
        """,
    "an attribute of a function that is assigned twice": """
        # --- a.py
        def one(): ...
        def two(): ...
        def make():
            def run(): ...
            run.stop = one
            run.stop = two
            return run
        run = make()
        # ^ calls a.make
        run.stop()
        # ^ calls a.one by one of several
        # ^ calls a.two by one of several
        """,
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.shows("CALLS-FEATURES")
def test_calls_of_everyday_programs(case: str) -> None:
    check(CASES[case])


@pytest.mark.parametrize(
    ("key", "reason"),
    [("name", ANY), ("KEYS.first", EITHER), ("'a' + name", EITHER)],
    ids=["any", "constant", "joined"],
)
@pytest.mark.shows("CALLS-CALIBRATED")
def test_a_variable_key_meets_every_element_and_a_fixed_one_only_one(key: str, reason: str) -> None:
    """A table that is asked for a varying key had the confidence of a branch."""
    text = f"""
        # --- a.py
        def one(): ...
        def two(): ...
        TABLE = {{"one": one, "two": two}}
        def run(name): TABLE[{key}]()
    """
    (file,) = split(text)
    facts = extract(file.path, "\n".join(file.lines).encode())
    edges, _ = resolved(Resolver([facts]), file.path)
    assert {e.reason for e in edges} == {reason}


@pytest.mark.shows("FACT-PURE")
def test_a_constant_of_one_file_is_not_a_key_in_another() -> None:
    """Callees are kept by their text, and a constant is known only in its own file."""
    with_constant = b"KEY = 'go'\nTABLE[KEY]()\n"
    without = b"TABLE[KEY]()\n"
    first = [c.receiver for c in extract("a.py", with_constant).calls]
    second = [c.receiver for c in extract("b.py", without).calls]
    assert (first, second) == (["TABLE['go']"], ["TABLE[_]"])
