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
