"""Programs that mean harm: twice as much source takes at most about twice as much work.

Work is the number of functions that are called, so nothing depends on the machine.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable
from types import FrameType

import pytest

from holdfast.index.calls import modules
from holdfast.index.calls.linked_program import LinkedProgram
from holdfast.index.calls.program import Program, Thing, View
from holdfast.index.calls.resolve import Edge, Resolver
from holdfast.index.facts.extract import extract
from tests.scale import first_in_quick

SMALL = 60
LARGER = {
    "a chain of super": 150,
    "bases in turned order": 150,
    "a wide grid of bases": 240,
    "names of a class above": 80,
    "wildcard imports": 150,
}
"""Up to 64 classes are looked at above and below each, so these cases begin above that."""


def grid(n: int) -> str:
    """Rows of two classes, each with both of the row above as bases: 2 to the n paths."""
    text = "class A0:\n    def m(self): ...\nclass B0:\n    def m(self): ...\n"
    for i in range(1, n):
        for name in "AB":
            text += f"class {name}{i}(A{i - 1}, B{i - 1}):\n    def m(self): super().m()\n"
    return text


def diamonds(n: int) -> str:
    text = "class T0:\n    def m(self): ...\n"
    for i in range(1, n):
        text += f"class L{i}(T{i - 1}):\n    def m(self): super().m()\n"
        text += f"class R{i}(T{i - 1}):\n    def m(self): super().m()\n"
        text += f"class T{i}(L{i}, R{i}):\n    def m(self): super().m()\n"
    return text


def chain(n: int) -> str:
    text = "class C0:\n    def m(self): ...\n"
    for i in range(1, n):
        text += (
            f"class C{i}(C{i - 1}):\n    def m(self):\n        super().m()\n        super().no()\n"
        )
    return text


def wide(n: int) -> str:
    bases = [f"class W{i}:\n    def m{i}(self): super().m{i}()\n" for i in range(n)]
    return "".join(bases) + f"class All({', '.join(f'W{i}' for i in range(n))}):\n    pass\n"


def circle(n: int) -> str:
    return "".join(
        f"class O{i}(O{(i + 1) % n}, O{(i + 2) % n}):\n    def m(self): super().m()\n"
        for i in range(n)
    )


def inconsistent(n: int) -> str:
    """Classes that have two bases in turned order, so that no order fits all of them."""
    text = "class A:\n    def m(self): ...\nclass B:\n    def m(self): ...\n"
    for i in range(n):
        first, second = ("A", "B") if i % 2 else ("B", "A")
        above = f"P{i - 1}, " if i else ""
        text += f"class P{i}({above}{first}, {second}):\n    def m(self): super().m()\n"
    return text


def wide_grid(n: int) -> str:
    """Rows of eight classes, each with all of the row above as bases."""
    text = "".join(f"class G0_{j}:\n    def m(self): ...\n" for j in range(8))
    for i in range(1, max(2, n // 8)):
        for j in range(8):
            bases = ", ".join(f"G{i - 1}_{(j + k) % 8}" for k in range(8))
            text += f"class G{i}_{j}({bases}):\n    def m(self): super().m(); self.n{i}()\n"
    return text


def deep_names(n: int) -> str:
    """A class with many subclasses, and calls of many names that only the class above all has."""
    text = "class Top:\n" + "".join(f"    def t{i}(self): ...\n" for i in range(n))
    text += "class Mid(Top):\n" + "".join(f"    def u{i}(self): self.t{i}()\n" for i in range(n))
    return text + "".join(f"class S{i}(Mid, Top): pass\n" for i in range(n))


def set_outside(n: int) -> str:
    """Fields that are set from outside, each from the field of another instance."""
    text = "class C:\n    def __init__(self): self.f = None\n    def run(self): self.f.run()\n"
    text += "".join(f"o{i} = C()\n" for i in range(n))
    return text + "".join(f"o{i}.f = o{(i + 1) % n}.f\no{i}.f.run()\n" for i in range(n))


def moved(n: int) -> str:
    text = "".join(f"const t{i} = [f];\n" for i in range(n))
    return text + "".join(f"t{i}.reverse();\nt{i}[0]();\ndelete t{i}.x;\n" for i in range(n))


def records(n: int) -> str:
    text = "from dataclasses import dataclass\n"
    for i in range(n):
        text += f"@dataclass\nclass D{i}:\n    act: object\n    def run(self): self.act()\n"
        text += f"def f{i}(): ...\nD{i}(f{i}).run()\n"
    return text


def decorators(n: int) -> str:
    text = "".join(f"def d{i}(f):\n    def w(): return f()\n    return w\n" for i in range(n))
    return text + "".join(f"@d{i}\n" for i in range(n)) + "def run(): ...\nrun()\n"


def keys(n: int) -> str:
    text = "".join(f"K{i} = 'k{i}'\ndef f{i}(): ...\n" for i in range(n))
    text += "T = {" + ", ".join(f"'k{i}': f{i}" for i in range(n)) + "}\n"
    return text + "".join(f"def g{i}(x):\n    T[K{i}]()\n    T[x]()\n" for i in range(n))


def written(n: int) -> str:
    return "K = 'a'\n" * n + "T = {}\n" + "T[K]()\n" * n


def filters(n: int) -> str:
    text = "class A { m() {} }\nconst l0 = [new A(), new A()];\n"
    for i in range(1, n):
        text += f"const l{i} = l{i - 1}.filter((x) => x).sort((x) => x);\nl{i}[0].m();\n"
    return text


def one_filter(n: int) -> str:
    return "class A { m() {} }\nconst l = [new A()];\nl" + ".filter((x) => x)" * n + "[0].m();\n"


def closures(n: int) -> str:
    return "".join(f"a = function () {{ b{i} = () => 1;\n" for i in range(n)) + "};" * n


def values(n: int) -> str:
    """Function values deep in functions, none of which declares their name."""
    deep = "".join(f"function f{i}() {{ " for i in range(n))
    return deep + ";a=()=>1;" * n + "}" * n


def beside(n: int) -> str:
    return "function f() {\n" + "a = function () { a(); };\n" * n + "}\n"


def missing(n: int) -> str:
    return "const t = {};\n" + "".join(
        f"(t.k{i} ||= []).push(() => 1);\n(t.k{i} += []).push(f);\n" for i in range(n)
    )


def defaults(n: int) -> str:
    """Patterns in patterns, as deep as the parser is asked to go."""
    deep = min(n, 150)
    return ("const " + "{ a: " * deep + "x = f" + " }" * deep + " = o;\n") * (n // deep)


def subscripts(n: int) -> str:
    return "t = {}\nf = 1\n" + "".join(f"def g{i}(k): t[k][k][1, k](k)\n" for i in range(n))


def one_name(n: int) -> str:
    return "class A:\n    def m(self): ...\n" + ("class A(A):\n    def m(self): super().m()\n" * n)


def many_fields(n: int) -> str:
    text = "from dataclasses import dataclass\n@dataclass\nclass D:\n"
    text += "".join(f"    f{i}: object\n    def r{i}(self): self.f{i}()\n" for i in range(n))
    return text + "def h(): ...\n" + "".join(f"D(h, h, f{i}=h)\n" for i in range(n))


def imports(n: int) -> str:
    return "from lib import apply\napply()\n" * n


def import_sources(n: int) -> str:
    return "".join(f"from lib{i} import apply\napply()\n" for i in range(n))


def inner_imports(n: int) -> str:
    return "".join(f"def f{i}():\n    from lib import apply\n    apply()\n" for i in range(n))


def stars(n: int) -> str:
    return "".join(f"from lib{i} import *\nname{i}()\n" for i in range(n))


def decorated(n: int) -> str:
    return "def register(f):\n    return f\n" + "@register\ndef one(): ...\none()\n" * n


def mixins(n: int) -> str:
    one = "const Timed = (Base) => class T extends Base { tick() { return this.save(); } };\n"
    return (one + "class User extends Timed(Model) { all() { return this.tick(); } }\n") * n


def literals(n: int) -> str:
    return "use({ get() { this.get() } });\n" * n


def inner_classes(n: int) -> str:
    inside = "".join(f"  class C{i} {{}}\n" for i in range(n))
    users = "".join(
        f"class U{i} extends mix(Base) {{ go() {{ this.run(); }} }}\n" for i in range(n)
    )
    return f"function mix(Base) {{\n{inside}  return Base;\n}}\n{users}"


def returned_classes(n: int) -> str:
    text = "class B { m() {} }\n"
    for i in range(n):
        text += f"function f{i}(C) {{ return class K extends C {{ k() {{ this.m(); }} }}; }}\n"
    return (
        text
        + "new (f0(B))().m();\n"
        + "".join(
            f"const K{i} = f{i}({f'K{i - 1}' if i else 'B'});\nnew K{i}().m();\n" for i in range(n)
        )
    )


def unknown_keys(n: int) -> str:
    members = "".join(f"  a{i}() {{}},\n" for i in range(n))
    return f"const t = {{\n{members}}};\n" + "function run(key) { t[key](); }\n" * n


CASES: dict[str, tuple[str, Callable[[int], str]]] = {
    "a grid of bases": ("a.py", grid),
    "diamonds": ("a.py", diamonds),
    "a chain of super": ("a.py", chain),
    "many bases": ("a.py", wide),
    "bases in a circle": ("a.py", circle),
    "bases in turned order": ("a.py", inconsistent),
    "a wide grid of bases": ("a.py", wide_grid),
    "names of a class above": ("a.py", deep_names),
    "fields that are set from outside": ("a.py", set_outside),
    "lists that are turned": ("a.js", moved),
    "data classes": ("a.py", records),
    "classes of one name": ("a.py", one_name),
    "a data class with many fields": ("a.py", many_fields),
    "decorators": ("a.py", decorators),
    "a large table": ("a.py", keys),
    "a constant that is written often": ("a.py", written),
    "lists of filtered lists": ("a.js", filters),
    "filters of filters": ("a.js", one_filter),
    "nested functions": ("a.js", closures),
    "values in nested functions": ("a.js", values),
    "functions beside each other": ("a.js", beside),
    "lists that are made when they are missing": ("a.js", missing),
    "defaults in patterns": ("a.js", defaults),
    "subscripts": ("a.py", subscripts),
    "one import many times": ("a.py", imports),
    "one name from many modules": ("a.py", import_sources),
    "imports in functions": ("a.py", inner_imports),
    "wildcard imports": ("a.py", stars),
    "one decorated name many times": ("a.py", decorated),
    "one mixin many times": ("a.js", mixins),
    "literals with a method of one name": ("a.js", literals),
    "classes in a function that makes bases": ("a.js", inner_classes),
    "classes that functions return": ("a.js", returned_classes),
    "an object that is asked by unknown keys": ("a.js", unknown_keys),
}


ALL_EARLIER_MAX = 60
"""Functions called for each byte, if each class has all earlier ones as bases."""


def all_earlier(n: int) -> str:
    text = "class E0:\n    def m(self): ...\n"
    for i in range(1, n):
        bases = ", ".join(f"E{k}" for k in range(i - 1, -1, -1))
        text += f"class E{i}({bases}):\n    def m(self): super().m(); self.n{i}()\n"
    return text


class TooMuchWorkError(Exception):
    pass


def work(path: str, text: str, most: int) -> int:
    """How many functions are called to extract a file and to resolve all of its calls."""
    calls = 0

    def count(frame: FrameType, event: str, _: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")
        if calls > most:
            raise TooMuchWorkError(f"more than {most} calls in {frame.f_code.co_name}")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        facts = extract(path, text.encode())
        resolver = Resolver([facts])
        view = resolver.program.files[path]
        for call in reversed(facts.calls):  # the lowest class first
            resolver.calls(view, call)
    finally:
        sys.setprofile(before)
    return calls


@pytest.mark.parametrize("case", first_in_quick(CASES))
@pytest.mark.shows("CALLS-CALLERS-BOUNDED")
def test_twice_the_source_takes_about_twice_the_work(case: str) -> None:
    """A grid of 600 classes took a minute, and nested functions in 12 KB took 20 s."""
    path, make = CASES[case]
    size = LARGER.get(case, SMALL)
    work(path, make(4), 10**7)  # what is made once
    small = work(path, make(size), 3 * 10**6)
    large = work(path, make(2 * size), 3 * small + 10_000)
    assert large <= 2.5 * small + 10_000, (small, large)


@pytest.mark.long
@pytest.mark.shows("CALLS-CALLERS-BOUNDED")
def test_a_class_with_all_earlier_classes_as_bases_takes_bounded_work() -> None:
    """Each call took up to 64 x 64 lookups of members: 4.5 s for 113 KB."""
    for size in (60, 120):
        text = all_earlier(size)
        assert work("a.py", text, ALL_EARLIER_MAX * len(text)) <= ALL_EARLIER_MAX * len(text)


@pytest.mark.shows("CALLS-CALLERS-BOUNDED")
def test_the_calls_of_every_symbol_take_work_in_proportion_to_the_file() -> None:
    """Each symbol looked at every call of its file."""
    looked = []
    for size in (200, 400):
        text = "".join(f"def f{i}(): f{i + 1}()\n" for i in range(size))
        facts = extract("a.py", text.encode())
        linked = LinkedProgram(Resolver([facts]))
        for symbol in facts.symbols:
            linked.outgoing(symbol.id)
        by_caller = linked.resolver.program.files["a.py"].by_caller
        looked.append(sum(map(len, by_caller.values())))
    assert looked == [200, 400]


def test_the_calls_of_a_name_are_gathered_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each parameter of each of thousands of methods called `get` had every file read again that
    calls a `get`: half a minute for one question about a tree of 10,000 files of Python."""
    methods = "".join(
        f"class C{i}:\n    def put(self, item, key=None):\n        item.go()\n        key.go()\n"
        for i in range(8)
    )
    facts = extract("a.py", (methods + "def work(): ...\nC0().put(work)\n" * 8).encode())
    resolver = Resolver([facts])
    passing, asked = resolver.program.passing, Counter[str]()

    def counted(family: str, name: str) -> Iterable[tuple[str, int]]:
        asked[name] += 1
        return passing(family, name)

    monkeypatch.setattr(resolver.program, "passing", counted)
    view = resolver.program.files["a.py"]
    for call in facts.calls:
        resolver.calls(view, call)
    assert asked["put"] == 1


@pytest.mark.shows("CALLS-CALLERS-BOUNDED")
def test_a_name_of_a_package_is_looked_up_once_in_what_it_imports_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Every call of a function of NetworkX looked into each of the hundred modules that its
    package imports with `*`."""
    sources = {f"p/m{i}.py": f"def f{i}(): ...\n" for i in range(12)}
    package = "".join(f"from .m{i} import *\n" for i in range(12))
    calls = "import p\ndef run():\n" + "    p.f11()\n" * 5
    files = {**sources, "p/__init__.py": package, "a.py": calls}
    facts = [extract(path, text.encode()) for path, text in files.items()]
    resolver, asked, find = Resolver(facts), Counter[str](), modules.find

    def counted(program: Program, view: View, module: str) -> Thing:
        asked[module] += 1
        return find(program, view, module)

    monkeypatch.setattr(modules, "find", counted)
    view = resolver.program.files["a.py"]
    reached = [resolver.calls(view, call) for call in facts[-1].calls]
    target = facts[11].symbols[0].id
    assert [edges[0].callee for edges in reached if isinstance(edges[0], Edge)] == [target] * 5
    assert asked[".m11"] == 1


@pytest.mark.shows("CALLS-CALLERS-BOUNDED")
def test_modules_that_export_each_other_whole_end() -> None:
    circle = {
        "a.js": "module.exports = require('./b');\nexports.z = require('./b').z;\n",
        "b.js": "module.exports = require('./a');\nexports.z = require('./a').z;\n",
        "use.js": "const a = require('./a');\na.x();\na.z();\nnew a();\na.x.y();\n",
    }
    row = {f"m{i}.js": f"module.exports = require('./m{i + 1}');\n" for i in range(400)}
    row["m400.js"] = "class Cart { add() {} }\nmodule.exports = Cart;\n"
    row["near.js"] = "const Near = require('./m395');\nnew Near().add();\n"
    row["far.js"] = "const Far = require('./m0');\nnew Far().add();\nFar.add();\n"
    facts = [extract(path, text.encode()) for path, text in (circle | row).items()]
    resolver = Resolver(facts)
    found = [
        (each.path, each.line)
        for one in facts
        for call in one.calls
        for each in resolver.calls(resolver.program.files[one.path], call)
        if isinstance(each, Edge) and each.confidence >= 0.9
    ]
    assert found == [("near.js", 2), ("near.js", 2)]


@pytest.mark.parametrize(
    "whole",
    [
        "export * from './{0}';\nexport * from './{1}';\n",
        "module.exports = {{ ...require('./{0}'), ...require('./{1}') }};\n",
    ],
)
@pytest.mark.shows("CALLS-CALLERS-BOUNDED")
def test_files_above_one_that_exports_itself_whole_are_asked_a_few_times(
    whole: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each file above a circle had the ones below it searched twice: minutes for 15 files."""
    texts = {f"m{i}.js": whole.format(f"m{i - 1}", f"m{i - 2}") for i in range(2, 30)}
    texts["m0.js"] = whole.format("m0", "m1") + "export function own() {}\n"
    texts["m1.js"] = whole.format("m0", "m0")
    texts["use.js"] = "import { no, own } from './m20';\nno();\nown();\n"
    resolver = Resolver([extract(path, text.encode()) for path, text in texts.items()])
    asked, find = 0, modules.find

    def counted(program: Program, view: View, module: str) -> Thing:
        nonlocal asked
        asked += 1
        assert asked < 3_000, "each file is searched again and again"
        return find(program, view, module)

    monkeypatch.setattr(modules, "find", counted)
    view = resolver.program.files["use.js"]
    found = [one for call in view.facts.calls for one in resolver.calls(view, call)]
    assert len([one for one in found if isinstance(one, Edge)]) == 1
