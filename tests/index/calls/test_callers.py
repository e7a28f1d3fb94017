"""Callers: looking only where names lead to finds what resolving every call finds."""

import random

import pytest

from holdfast.index.calls.link_table import HOLDERS_MAX
from holdfast.index.calls.linked_program import RESOLVED_MAX, LinkedProgram
from holdfast.index.calls.resolve import Edge, Resolver
from holdfast.index.facts.extract import extract
from holdfast.index.facts.model import FileFacts
from tests.scale import seeds

WAYS = {
    "by its name": "from shop import total\ndef use():\n    total()\n",
    "by an alias": "from shop import total as sum_up\ndef use():\n    sum_up()\n",
    "by a variable": (
        "from shop import total\ndef use():\n    run = total\n    again = run\n    again()\n"
    ),
    "by a global": "from shop import total\nRULE = total\ndef use():\n    RULE()\n",
    "by a field": (
        "from shop import total\nclass Till:\n    def __init__(self):\n        self.rule = total\n"
        "    def use(self):\n        self.rule()\n"
    ),
    "by a result": (
        "from shop import total\ndef pick():\n    return total\ndef use():\n    pick()()\n"
    ),
    "by a list": "from shop import total\nRULES = [total]\ndef use():\n    RULES[0]()\n",
    "by a loop": (
        "from shop import total\nRULES = [total]\ndef use():\n"
        "    for rule in RULES:\n        rule()\n"
    ),
    "by a parameter": (
        "from shop import total\ndef apply(rule):\n    rule()\ndef use():\n    apply(total)\n"
    ),
    "by a default": "from shop import total\ndef use(rule=total):\n    rule()\n",
    "by a function that calls back": "from shop import total\ndef use(xs):\n    map(total, xs)\n",
}


def _program(sources: dict[str, str]) -> LinkedProgram:
    facts = [extract(path, text.encode()) for path, text in sorted(sources.items())]
    return LinkedProgram(Resolver(facts))


def _every_edge(program: LinkedProgram) -> set[Edge]:
    resolver = program.resolver
    return {
        one
        for view in resolver.program.files.values()
        for call in view.facts.calls
        for one in resolver.calls(view, call)
        if isinstance(one, Edge)
    }


def _symbols(program: LinkedProgram) -> list[tuple[FileFacts, str]]:
    views = program.resolver.program.files.values()
    return [(view.facts, symbol.id) for view in views for symbol in view.facts.symbols]


def _check(program: LinkedProgram) -> int:
    """Compare the callers of every symbol with those among all edges; returns their number."""
    edges = _every_edge(program)
    seen = 0
    for facts, identity in _symbols(program):
        found = program.place(identity)
        assert found is not None
        assert found[1] is not None
        wanted = program._same(facts, found[1])
        expected = {edge for edge in edges if edge.callee in wanted}
        seen += len(expected)
        assert set(program.incoming(identity)) == expected, found[1].qualified
    return seen


@pytest.mark.parametrize("way", WAYS)
def test_a_function_is_found_by_every_way_to_call_it(way: str) -> None:
    program = _program({"shop.py": "def total():\n    pass\n", "main.py": WAYS[way]})
    edges = _every_edge(program)
    total = next(identity for facts, identity in _symbols(program) if facts.path == "shop.py")
    assert {edge.path for edge in program.incoming(total)} == {"main.py"}, edges
    assert _check(program)


def test_classes_are_found_by_what_makes_them_without_their_name() -> None:
    program = _program(
        {
            "base.py": "class Base:\n    def __init__(self):\n        pass\n"
            "    @classmethod\n    def make(cls):\n        return cls()\n",
            "below.py": "from base import Base as Root\nclass Till(Root):\n"
            "    def __init__(self):\n        super().__init__()\nclass Plain(Root):\n    pass\n"
            "def use():\n    Till()\n    Plain()\n",
        }
    )
    assert _check(program) >= 5


def test_scripts_are_found_by_their_default_export() -> None:
    program = _program(
        {
            "cart.js": "export default function total() {}\n",
            "main.js": "import sum from './cart';\nexport function use() { sum(); }\n",
            "index.js": "import use from './main';\nconst all = [use];\n",
            "again.js": "const sum = require('./cart');\n"
            "function go() { sum(); sum.call(this); }\n",
        }
    )
    assert _check(program) >= 2


NAMES = ("total", "apply", "rule", "Cart", "run", "items", "make")


def _random_source(rng: random.Random) -> str:
    """A file of small functions and classes that hold, pass, return and call each other."""

    def name() -> str:
        return rng.choice(NAMES)

    lines = [
        f"from m{rng.randint(0, 3)} import {name()}{f' as {name()}' if rng.random() < 0.4 else ''}"
        for _ in range(rng.randint(0, 3))
    ]
    for _ in range(rng.randint(1, 4)):
        shape, indent = rng.random(), ""
        if shape < 0.2:
            value = rng.choice((name(), f"[{name()}, {name()}]", name() + "()"))
            lines.append(f"{name()} = {value}")
            continue
        if shape < 0.5:
            lines.append(f"class {name()}({name() if rng.random() < 0.5 else 'object'}):")
            indent = "    "
        lines.append(f"{indent}def {name()}(self, {name()}{rng.choice(('', '=' + name()))}):")
        lines += [f"{indent}    {_statement(rng)}" for _ in range(rng.randint(1, 4))]
    return "\n".join(lines) + "\n"


STATEMENTS = (
    "{}()", "self.{}()", "{} = {}", "self.{} = {}", "{}({})", "return {}", "{} = {}()", "{}[0]()",
    "{}()()", "for {} in {}: {}()",
)  # fmt: skip


def _statement(rng: random.Random) -> str:
    return rng.choice(STATEMENTS).format(*(rng.choice(NAMES) for _ in range(3)))


@pytest.mark.parametrize("seed", seeds(60))
def test_callers_in_random_programs_are_those_of_resolving_every_call(seed: int) -> None:
    rng = random.Random(seed)
    program = _program({f"m{n}.py": _random_source(rng) for n in range(4)})
    _check(program)


def test_a_replaced_file_is_found_by_its_new_names() -> None:
    program = _program({"shop.py": "def total():\n    pass\n", "main.py": WAYS["by its name"]})
    total = next(identity for facts, identity in _symbols(program) if facts.path == "shop.py")
    assert len(program.incoming(total)) == 1
    program.replace(extract("main.py", WAYS["by an alias"].encode()))
    assert [edge.line for edge in program.incoming(total)] == [3]
    program.remove("main.py")
    assert program.incoming(total) == []


def test_a_name_that_nearly_everything_holds_is_not_followed_and_the_answer_says_so() -> None:
    sources = {"shop.py": "def total():\n    pass\n", "main.py": WAYS["by its name"]}
    sources["near.py"] = WAYS["by a variable"]
    sources["hub.py"] = "from shop import total\nvalue = total\n"
    for n in range(300):
        sources[f"m{n}.py"] = f"from hub import value\nheld{n} = value\ndef use():\n    held{n}()\n"
    program = _program(sources)
    total = next(identity for facts, identity in _symbols(program) if facts.path == "shop.py")
    assert {edge.path for edge in program.incoming(total)} >= {"main.py", "near.py"}
    assert total in program.partial
    assert len(program._known) <= RESOLVED_MAX + 2


def test_calls_by_an_alias_and_of_classes_below_are_found_however_many_they_are() -> None:
    count = 2 * max(HOLDERS_MAX, RESOLVED_MAX)
    sources = {
        "shop.py": "def total():\n    pass\nclass Cart:\n    def __init__(self):\n        pass\n"
    }
    for n in range(count):
        sources[f"m{n}.py"] = (
            f"from shop import Cart, total as sum_up\nclass C{n}(Cart):\n    pass\n"
            f"def use():\n    sum_up()\n    C{n}()\n"
        )
    program = _program(sources)
    for facts, identity in _symbols(program):
        if facts.path == "shop.py":
            assert len(program.incoming(identity)) == count, identity


def test_a_parameter_may_have_the_name_of_its_function() -> None:
    """Its name was taken for that of the function alone: `go` had no caller."""
    source = "def run(self, run=go):\n    run()\ndef go(self):\n    pass\n"
    assert _check(_program({"a.py": source})) == 1
