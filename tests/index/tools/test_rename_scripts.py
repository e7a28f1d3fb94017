"""Renames in scripts: what a name stands for in an object, an element or an interface."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.errors import UsageError
from tests.index.tools.test_rename_mentions import edited

Files = dict[str, str]
GO_STORE = "package a\n\ntype Store interface{ Load(id string) int }\n"
GO_MEM = "package a\n\ntype Mem struct{}\n\nfunc (m Mem) Load(id string) int { return 1 }\n"
RUN = "function run() { return 1; }\n"
STORE = "export interface Store { load(id: string): number; size: number }\n"

RENAMED: dict[str, tuple[Files, str, Files]] = {
    "a variable in a literal keeps the key": (
        {"m.js": f"{RUN}const api = {{ run, x: 1 }};\nconsole.log(api.run(), run());\n"},
        "m.run",
        {
            "m.js": "function go() { return 1; }\nconst api = { run: go, x: 1 };\n"
            "console.log(api.run(), go());\n"
        },
    ),
    "a literal inside what a module exports": (
        {
            "m.js": f"{RUN}module.exports = {{ api: {{ run }}, run }};\n",
            "n.js": 'const { api, run } = require("./m");\nconsole.log(api.run(), run());\n',
        },
        "m.run",
        {
            "m.js": "function go() { return 1; }\nmodule.exports = { api: { run: go }, go };\n",
            "n.js": 'const { api, go } = require("./m");\nconsole.log(api.run(), go());\n',
        },
    ),
    "exports that are assigned": (
        {
            "m.js": f"{RUN}const api = {{ run }};\nmodule.exports = api;\n",
            "n.js": 'const { run } = require("./m");\nrun();\n',
        },
        "m.run",
        {
            "m.js": "function go() { return 1; }\nconst api = { go };\nmodule.exports = api;\n",
            "n.js": 'const { go } = require("./m");\ngo();\n',
        },
    ),
    "an attribute of an element is not a variable": (
        {"m.tsx": 'const run = 1;\nconst all = [<Row run="x" />, <Row run={run} />, <run />];\n'},
        "m.run",
        {"m.tsx": 'const go = 1;\nconst all = [<Row run="x" />, <Row run={go} />, <run />];\n'},
    ),
    "a function under a key": (
        {"m.js": "const api = { run: () => 1 };\nconsole.log(api.run());\n"},
        "api.run",
        {"m.js": "const api = { go: () => 1 };\nconsole.log(api.go());\n"},
    ),
    "another name for a member of a namespace": (
        {"m.ts": "namespace A { export class run {} }\nimport B = A.run;\nnew B();\n"},
        "A.run",
        {"m.ts": "namespace A { export class go {} }\nimport B = A.go;\nnew B();\n"},
    ),
}


@pytest.mark.shows("EDIT-RENAME")
@pytest.mark.parametrize("case", RENAMED)
def test_a_rename_changes_the_symbol_and_not_what_has_its_name(case: str, tmp_path: Path) -> None:
    files, symbol, expected = RENAMED[case]
    _, done, after = edited(tmp_path, files, symbol, "go")
    assert done.applied, (done.message, done.doubts)
    assert after == expected


IN_DOUBT: dict[str, tuple[Files, str, str]] = {
    "a class that fulfils an interface": (
        {"s.ts": STORE, "m.ts": "export class Mem { load(id: string) { return 1; } }\n"},
        "Mem.load",
        "s.ts:1",
    ),
    "an object that fulfils an interface": (
        {"s.ts": STORE, "m.ts": "export const lit = { load(id: string) { return 1; } };\n"},
        "lit.load",
        "s.ts:1",
    ),
    "a property that an interface requires": (
        {"s.ts": STORE, "m.ts": "export class Mem { get size() { return 1; } }\n"},
        "Mem.size",
        "s.ts:1",
    ),
    "an interface": (
        {"s.ts": STORE, "m.ts": "export class Mem { load = (id: string) => 1; }\n"},
        "Store.load",
        "m.ts:1",
    ),
    "an interface of Go": (
        {"s.go": GO_STORE, "m.go": GO_MEM},
        "Store.Load",
        "m.go:5",
    ),
    "a type of Go that fulfils an interface": (
        {"s.go": GO_STORE, "m.go": GO_MEM},
        "Mem.Load",
        "s.go:3",
    ),
    "a field of a subclass": (
        {
            "m.ts": "class A { get f() { return 1; } run() { return this.f; } }\n"
            "class B extends A {\n  f = 2;\n}\n"
        },
        "A.f",
        "m.ts:3",
    ),
    "a class attribute of a subclass": (
        {
            "m.py": "class A:\n    def f(self): return 1\nclass B(A):\n"
            "    f: object = None\n    f = staticmethod(len)\n"
        },
        "A.f",
        "m.py:5",
    ),
    "a class without a name": (
        {
            "m.js": "class A { f() {} run() { this.f(); } }\n"
            "const mk = () => new (class extends A {\n  f() {}\n})();\n"
        },
        "A.f",
        "m.js:3",
    ),
    "a default class without a name": (
        {
            "a.ts": "export class A { f() {} run() { this.f(); } }\n",
            "m.ts": 'import { A } from "./a";\nexport default class extends A {\n  f() {}\n}\n',
        },
        "A.f",
        "m.ts:3",
    ),
    "an object that is passed on": (
        {"m.js": 'Object.defineProperty(x, "y", {\n  get() { return 1; },\n});\n'},
        "get",
        "m.js:2",
    ),
    "prototypes that inherit": (
        {
            "m.js": "function A() {}\nA.prototype.f = function () {};\nfunction B() {}\n"
            "B.prototype = Object.create(A.prototype);\nB.prototype.f = function () {};\n"
        },
        "A.f",
        "m.js:2",
    ),
    "an element that would be one of HTML": (
        {"m.tsx": "function Row() { return 1; }\nconst all = <Row a={1} />;\n"},
        "m.Row",
        "m.tsx:2",
    ),
    "a part that could not be parsed": (
        {
            "m.ts": "export const o = 1;\ninterface A {\n  <T>(v: T): T\n  <K, V>(v: K<\n"
            "const f = () => {\n  const n = 2\n  return o;\n"
        },
        "m.o",
        "m.ts:7",
    ),
    "a call in a part that could not be parsed": (
        {
            "m.ts": "export function make(v: any) { return v; }\ninterface A {\n"
            "  <T>(v: T): B<T>\n  <T>(v?: T): B<T | undefined>\n  box: {\n"
            "    const o = make(v)\n    return o\n  }\n"
        },
        "make",
        "m.ts:6",
    ),
    "code in a string": (
        {"m.js": 'function f(v) { return v; }\nconsole.log(eval("f(1) + 1"));\n'},
        "m.f",
        "m.js:2",
    ),
    "code in a string of Python": (
        {"m.py": 'def f(v): return v\nprint(eval("f(1) + 1"))\n'},
        "m.f",
        "m.py:2",
    ),
    "a member in a format": (
        {
            "m.py": "class C:\n    @property\n    def f(self): return 1\n"
            'print("it is {c.f:>3}".format(c=C()))\n'
        },
        "C.f",
        "m.py:4",
    ),
    "a local variable in a format": (
        {"m.py": 'f = 1\nprint("it is {f}".format(**globals()))\n'},
        "m.f",
        "m.py:2",
    ),
}


@pytest.mark.shows("EDIT-RENAME")
@pytest.mark.parametrize("case", IN_DOUBT)
def test_a_member_that_others_may_rely_on_stays_in_doubt(case: str, tmp_path: Path) -> None:
    files, symbol, place = IN_DOUBT[case]
    preview, done, after = edited(tmp_path, files, symbol, "started")
    assert place in {f"{one.file}:{one.line}" for one in preview.doubts}, preview
    assert not done.applied
    assert after == files


CERTAIN: dict[str, tuple[Files, str]] = {
    "an interface that is named": (
        {
            "m.ts": f"{STORE}class Mem implements Store {{\n"
            "  size = 1; load(id: string) { return 1; }\n}\n"
        },
        "Mem.load",
    ),
    "another class with this member": (
        {"m.ts": "class A { run() {} }\nclass B { run() {} }\nnew A().run();\n"},
        "A.run",
    ),
    "a text that is not a format": (
        {"m.py": 'def f(): return 1\nprint("f is {}".format(f()), "run f")\n'},
        "m.f",
    ),
}


@pytest.mark.shows("EDIT-RENAME")
@pytest.mark.parametrize("case", CERTAIN)
def test_what_nothing_else_relies_on_is_certain(case: str, tmp_path: Path) -> None:
    files, symbol = CERTAIN[case]
    _, done, _ = edited(tmp_path, files, symbol, "go")
    assert done.applied, done.doubts


@pytest.mark.shows("EDIT-RENAME")
def test_a_reserved_word_is_refused_although_the_grammar_takes_it(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="interface, a reserved word"):
        edited(tmp_path, {"m.ts": "class A {}\nnew A();\n"}, "A", "interface")
