"""Calls of everyday programs that were missed or wrong, as sources that say what is true."""

from __future__ import annotations

import pytest

from holdfast.index.calls.lookup import ANY, EITHER
from holdfast.index.calls.resolve import Resolver
from holdfast.index.facts.extract import extract
from tests.index.claims import check, resolved, split

CASES = {
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
