"""Which scope binds a name in Python: by example, and as Python's own compiler decides it."""

from __future__ import annotations

import dis
import random
import warnings
from collections.abc import Iterator
from types import CodeType

import pytest

from holdfast.index.facts.mentions import Mention, find_mentions
from holdfast.index.facts.python_scopes import TOP, UNKNOWN, UNNAMED
from tests.scale import seeds


def shown(source: str, one: Mention) -> str:
    if one.holder == TOP:
        return f"{one.line} top"
    if one.holder in (UNNAMED, UNKNOWN):
        return f"{one.line} variable"
    words = source[one.holder :].split("(")[0].split(":")[0].split()
    return f"{one.line} {words[-1]}"


def holders(source: str) -> list[str]:
    """For each mention of `n`: its line, and `top`, `variable`, or the name of its scope."""
    return [shown(source, one) for one in find_mentions("a.py", source.encode(), ["n"]).found]


@pytest.mark.shows("REF-LOCAL")
@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("n = 1\ndef f():\n    print(n)\n    n = 2\n", ["1 top", "3 f", "4 f"]),
        ("n = 1\ndef f(n=n) -> n: return n\n", ["1 top", "2 f", "2 top", "2 top", "2 f"]),
        ("g = lambda n=n: n\n", ["1 variable", "1 top", "1 variable"]),
        ("g = lambda *n, **m: n\n", ["1 variable", "1 variable"]),
        ("[n for n in n if n]\n", ["1 variable", "1 variable", "1 top", "1 variable"]),
        ("[n for x in y for n in x(n)]\n", ["1 variable", "1 variable", "1 variable"]),
        ("def f(v):\n    [n for x in v if (n := x)]\n    return n\n", ["2 f", "2 f", "3 f"]),
        ("class A:\n    n = 1\n    m = n\n    def f(self, a=n): return n\n",
         ["2 A", "3 A", "4 A", "4 top"]),
        ("class A:\n    n = n\n    x = [n for _ in n]\n", ["2 A", "2 top", "3 top", "3 A"]),
        ("class A:\n    n: n = n()\n    x = n\n", ["2 A", "2 top", "2 top", "3 A"]),
        ("class A:\n    @property\n    def n(self): ...\n    @n.setter\n    def n(self, n): n\n",
         ["3 A", "4 A", "5 A", "5 n", "5 n"]),
        ("@n\ndef f(n): ...\n", ["1 top", "2 f"]),
        ("def f():\n    global n\n    n = 1\n    def g(): return n\n", ["2 top", "3 top", "4 top"]),
        ("def f():\n    n = 1\n    def g():\n        nonlocal n\n        n += 1\n",
         ["2 f", "4 f", "5 f"]),
        ("n = 1\ndef f():\n    n = 1\n    class A:\n        def g(self): return n\n",
         ["1 top", "3 f", "5 f"]),
        ("def f(x):\n    match x:\n        case {'k': n}: return n\n",
         ["3 f", "3 f"]),
        ("def f(x):\n    match x:\n        case A(n=1) | n.m: return n\n",
         ["3 top", "3 top"]),
        ("def f(x):\n    match x:\n        case [1, *n]: pass\n", ["3 f"]),
        ("def f(x):\n    match x:\n        case A() as n: pass\n", ["3 f"]),
        ("def f(x):\n    match x:\n        case A(b=n): pass\n", ["3 f"]),
        ("def f():\n    del n\n    return n\n", ["2 f", "3 f"]),
        ("def f():\n    import n.m\n    return n\n", ["2 f", "3 f"]),
        ("def f():\n    from n import m as n\n    return n\n", ["2 f", "2 f", "3 f"]),
        ("def f():\n    try: pass\n    except E as n: n\n", ["3 f", "3 f"]),
        ("def f():\n    with a as (n, m): n\n", ["2 f", "2 f"]),
        ("def f():\n    for m, (*n, o) in n: n\n", ["2 f", "2 f", "2 f"]),
        ("def f[n](a: n) -> n: return n\nn\n",
         ["1 variable", "1 variable", "1 variable", "1 variable", "2 top"]),
        ("type A[n] = list[n]\nn\n", ["1 variable", "1 variable", "2 top"]),
        ("type n = int\ndef f(a: 'n'): return n\n", ["1 top", "2 top", "2 top"]),
        ("def f(n):\n    x: 'list[n]' = n\n", ["1 f", "2 f", "2 f"]),
        ("__all__ = ['n']\ndef f(n): ...\n", ["1 top", "2 f"]),
        ("def f(): return f'{n}' + f'{[n for n in m]}'\n",
         ["1 top", "1 variable", "1 variable"]),
    ],
)  # fmt: skip
def test_a_name_belongs_to_the_scope_that_binds_it(source: str, expected: list[str]) -> None:
    assert holders(source) == expected


@pytest.mark.shows("REF-LOCAL")
def test_a_quoted_type_has_a_receiver() -> None:
    found = find_mentions(
        "a.py", b"def f(a: 'shop.n', b: 'list[shop.cart.n]', c: 'n'): ...\n", ["n"]
    )
    assert [one.receiver for one in found.found] == ["shop", "shop.cart", ""]


@pytest.mark.shows("REF-HONEST")
def test_a_name_below_too_many_levels_is_not_decided() -> None:
    deep = "(" * 400 + "n" + ")" * 400
    found = find_mentions("a.py", f"def f():\n    return {deep}\n".encode(), ["n"]).found
    assert [(one.local, one.holder) for one in found] == [(True, UNKNOWN)]


WORDS = ("alpha", "beta", "gamma")


class _Programs:
    """Random programs over a few names, with everything that binds a name."""

    def __init__(self, rng: random.Random) -> None:
        self._rng, self._lines = rng, list[str]()

    def word(self) -> str:
        return self._rng.choice(WORDS)

    def value(self, depth: int = 0) -> str:
        a, b = self.word(), self.word()
        if depth > 2:
            return a
        x, y = self.value(depth + 1), self.value(depth + 1)
        return self._rng.choice([
            a, a, f"{a}.{b}", f"{a}({x})", f"{a}({b}={x})", f"[{x} for {a} in {y}]",
            f"{{{x}: {y} for {a} in {b} if {b} for {b} in {x}}}", f"(lambda {a}={x}: {y})",
            f"(lambda *{a}, {b}={x}: {y})", f"({a} := {x})", f"{a}[{x}]", f"({x}, {y})",
        ])  # fmt: skip

    def block(self, indent: str, depth: int) -> None:
        for _ in range(self._rng.randrange(1, 4)):
            a, b, x, y = self.word(), self.word(), self.value(), self.value()
            simple = [
                f"{a} = {x}", f"{a} += {x}", f"({a}, *{b}) = {x}", f"{a}: {b} = {x}", f"del {a}",
                f"global {a}", f"nonlocal {a}", f"import {a}.{b}", f"from {a} import {b} as {a}",
                f"{x}", f"{a}.{b} = {x}",
            ]  # fmt: skip
            headed = [
                f"def {a}({b}: {x} = {y}) -> {a}:", f"async def {a}(*{b}, {a}={x}):",
                f"class {a}({b}, key={x}):", f"for {a} in {x}:", f"with {x} as {a}, {y} as {b}:",
                f"if {x}:", f"while {x}:",
                f"match {x}:\n{indent}  case [{a}, {{'k': {b}}}] if {y}:",
                f"match {x}:\n{indent}  case {a}.{b} | {a}({b}={a}):",
                f"match {x}:\n{indent}  case {a}() as {b}:",
                f"try: pass\n{indent}except {a} as {b}:", f"@{x}\n{indent}def {a}({b}={y}):",
            ]  # fmt: skip
            if depth > 3 or self._rng.random() < 0.4:
                self._lines.append(indent + self._rng.choice(simple))
            else:
                self._lines.append(indent + self._rng.choice(headed))
                self.block(indent + "    ", depth + 1)

    def made(self) -> str:
        self._lines = []
        self.block("", 0)
        return "\n".join(self._lines) + "\n"


def compiled(code: CodeType) -> Iterator[tuple[int, int, str, bool]]:
    """Line, column, name, and whether Python keeps it in a function, for each use of a name."""
    for step in dis.get_instructions(code):
        at, how = step.positions, step.opname.rpartition("_")[2]
        if at is None or at.lineno is None or at.col_offset is None:
            continue
        if step.opname.count("_") == 1 and how in ("FAST", "DEREF", "GLOBAL"):
            yield at.lineno, at.col_offset, str(step.argval), how != "GLOBAL"
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from compiled(inner)


@pytest.mark.shows("REF-TWIN")
@pytest.mark.property
def test_a_name_is_local_where_the_compiler_of_python_says_so() -> None:
    compared = 0
    for seed in seeds(400):
        source = _Programs(random.Random(seed)).made()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                code = compile(source, "a.py", "exec")
        except SyntaxError:
            continue
        lines = source.split("\n")
        starts = [sum(len(line) + 1 for line in lines[:number]) for number in range(len(lines))]
        found = {one.start: one for one in find_mentions("a.py", source.encode(), WORDS).found}
        for line, column, name, local in compiled(code):
            at = starts[line - 1] + column
            mention = found.get(at)
            if mention is None or mention.name != name:
                continue
            assert mention.local == local, f"seed {seed}, line {line}: {name} in\n{source}"
            compared += 1
    assert compared
