"""Calls whose target depends on what happens: none of several targets is called certain."""

from __future__ import annotations

from textwrap import dedent

import pytest

from holdfast.index.calls.resolve import Edge, OpenCall, Resolver
from holdfast.index.facts.extract import extract

CERTAIN = 0.9


def resolved(sources: dict[str, str]) -> list[tuple[str, str, float]]:
    """Each edge as the called name, the target's label and the confidence."""
    facts = [extract(path, dedent(text).encode()) for path, text in sorted(sources.items())]
    resolver = Resolver(facts)
    labels = {s.id: one.label(i) for one in facts for i, s in enumerate(one.symbols)}
    return [
        (call.name, labels[one.callee], one.confidence)
        for one_file in facts
        for call in one_file.calls
        for one in resolver.calls(resolver.program.files[one_file.path], call)
        if isinstance(one, Edge)
    ]


@pytest.mark.parametrize(
    ("sources", "name", "targets"),
    [
        ({"a.js": "register({ add() { this.get() } });\nother({ get() {} });\n"}, "get", {"a.get"}),
        (
            {"a.js": "class B { run() {} }\n"
             "class A { constructor(x) { if (x) { return new B(); } } run() {} }\n"
             "function use() { new A(false).run() }\n"},
            "run", {"a.A.run", "a.B.run"},
        ),
        (
            {"a.py": """
                class B:
                    def run(self): pass
                class A:
                    def __new__(cls, x):
                        if x:
                            return B()
                        return super().__new__(cls)
                    def run(self): pass
                def use():
                    A(0).run()
                """},
            "run", {"a.A.run", "a.B.run"},
        ),
        (
            {"a.js": "export class Animal { speak() { this.sound() } sound() {} }\n"
             "export class Dog extends Animal {}\n",
             "b.js": "import { Dog } from './a';\n"
             "Dog.prototype.sound = function () {};\n"},
            "sound", {"a.Animal.sound", "b.Dog.sound"},
        ),
    ],
    ids=["another literal", "a constructor in JavaScript", "__new__", "assigned in another file"],
)  # fmt: skip
def test_what_depends_on_the_run_is_not_certain(
    sources: dict[str, str], name: str, targets: set[str]
) -> None:
    edges = {label: sure for called, label, sure in resolved(sources) if called == name}
    assert edges.keys() == targets
    assert all(sure < CERTAIN for sure in edges.values()), edges


def test_a_class_called_flag_is_not_an_enumeration() -> None:
    edges = resolved({"a.py": """
        class Flag:
            def run(self): pass
        class Holder(Flag):
            OTHER = unknown()
        Holder.OTHER.run()
        """})  # fmt: skip
    assert not [edge for edge in edges if edge[0] == "run"]


def test_the_text_of_an_open_call_is_as_it_was_written() -> None:
    facts = extract("a.js", b"import { xs } from 'lib';\nxs.map((x) => x.y).zork();\n")
    resolver = Resolver([facts])
    view = resolver.program.files["a.js"]
    texts = [
        one.text
        for call in facts.calls
        for one in resolver.calls(view, call)
        if isinstance(one, OpenCall)
    ]
    assert "xs.map().zork" in texts


def sure(sources: dict[str, str], name: str) -> set[str]:
    return {
        label for called, label, sure in resolved(sources) if called == name and sure >= CERTAIN
    }


_TWO = "function a() {}\nfunction b() {}\n"


@pytest.mark.parametrize(
    ("parameter", "given"),
    [("[, x]", "[a, b]"), ("{ on: [, x] }", "{ on: [a, b] }"), ("[, , x]", "[a, a, b]")],
)
def test_a_parameter_that_leaves_places_out_takes_the_one_behind_them(
    parameter: str, given: str
) -> None:
    text = f"{_TWO}function f({parameter}) {{ x(); }}\nf({given});\n"
    assert sure({"a.js": text}, "x") == {"a.b"}


def test_the_first_of_several_promises_is_not_certain() -> None:
    text = f"""{_TWO}
const one = new Promise((done) => setTimeout(() => done(a), 9));
const two = new Promise((done) => done(b));
Promise.race([one, two]).then((f) => f());
"""
    assert not sure({"a.js": text}, "f")
    assert {label for name, label, _ in resolved({"a.js": text}) if name == "f"} == {"a.a", "a.b"}


def test_the_last_of_the_modules_that_an_export_spreads_counts() -> None:
    texts = {f"{n}.js": "module.exports = { go() {} };\n" for n in "bc"}
    texts["i.js"] = "module.exports = { ...require('./b'), ...require('./c') };\n"
    texts["a.js"] = "const { go } = require('./i');\ngo();\n"
    assert sure(texts, "go") == {"c.default.go"}


def test_a_method_beside_a_class_without_a_name_is_not_of_the_class() -> None:
    text = """
        class Base { go() {} }
        function make(Above) {
          const helper = { go() {} };
          return class extends Above { stop() {} };
        }
        const Made = make(Base);
        new Made().go();
        function other(kind) {
          if (kind) return class { run() {} };
          return class { end() {} };
        }
        const Other = other(true);
        new Other().run();
        """
    assert "a.make.go" not in sure({"a.js": text}, "go")
    assert sure({"a.js": text}, "run") == {"a.other.run"}
