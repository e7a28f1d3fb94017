"""Renames that would change what a program does: they are refused, or stay in doubt."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from holdfast.errors import UsageError
from holdfast.index.calls.names import Names
from holdfast.index.calls.program import Thing
from tests.index.tools.test_rename_mentions import edited

A = "class A:\n    def f(self): return 1\n    def use(self): return self.f()\n"
PLAIN = "def f(): return 1\n"
Files = dict[str, str]

IN_DOUBT: dict[str, tuple[Files, str, str, str]] = {
    "getattr": ({"m.py": A + "print(getattr(A(), 'f')())\n"}, "A.f", "g", "m.py:4"),
    "hasattr": ({"m.py": A + "print(hasattr(A(), 'f'))\n"}, "A.f", "g", "m.py:4"),
    "globals": ({"m.py": PLAIN + "print(globals()['f']())\n"}, "f", "g", "m.py:2"),
    "a path in a string": (
        {"m.py": PLAIN, "n.py": "from unittest import mock\nmock.patch('m.f')\n"},
        "f",
        "g",
        "n.py:2",
    ),
    "a path without a lookup": (
        {"m.py": PLAIN, "n.py": "START = 'm:f'\n"},
        "f",
        "g",
        "n.py:1",
    ),
    "a list of exports": (
        {"m.py": "__all__ = []\n__all__.append('f')\n" + PLAIN},
        "f",
        "g",
        "m.py:2",
    ),
    "the beginning of a name": (
        {
            "m.py": "class A:\n    def do_x(self): ...\n"
            "    def at(self, n): getattr(self, 'do_' + n)\n"
        },
        "A.do_x",
        "do_y",
        "m.py:3",
    ),
    "the beginning of a name in a subclass's file": (
        {
            "m.py": "class A:\n    def at(self, n): getattr(self, f'do_{n}')\n",
            "n.py": "from m import A\nclass B(A):\n    def do_x(self): ...\n",
        },
        "B.do_x",
        "do_y",
        "m.py:2",
    ),
    "a base outside the tree": (
        {"m.py": "import json\nclass E(json.JSONEncoder):\n    def default(self, o): ...\n"},
        "E.default",
        "other",
        "m.py:2",
    ),
    "a protocol": (
        {
            "m.py": A,
            "n.py": "from typing import Protocol\nclass P(Protocol):\n    def f(self): ...\n",
        },
        "A.f",
        "g",
        "n.py:3",
    ),
    "a mixin": (
        {"m.py": A + "class Mix:\n    def go(self): return self.f()\nclass C(Mix, A): ...\n"},
        "A.f",
        "g",
        "m.py:5",
    ),
    "an import of everything": (
        {"m.py": PLAIN, "n.py": "from m import *\nprint(len([1]))\n"},
        "f",
        "len",
        "n.py:2",
    ),
    "a name that * leaves out": (
        {"m.py": PLAIN, "n.py": "from m import *\nprint(f())\n"},
        "f",
        "_f",
        "n.py:1",
    ),
    "a module of the package": (
        {"p/__init__.py": "from .m import f\n", "p/m.py": PLAIN, "p/n.py": "x = 1\n"},
        "f",
        "n",
        "p/__init__.py:1",
    ),
    "a private member from outside": (
        {"m.py": "class A:\n    def __f(self): ...\n", "n.py": "from m import A\nA()._A__f()\n"},
        "A.__f",
        "__g",
        "n.py:2",
    ),
    "the class of a private member": (
        {"m.py": "class A:\n    def __f(self): ...\n\nA()._A__f()\n"},
        "A",
        "B",
        "m.py:4",
    ),
    "an attribute of a subclass": (
        {"m.py": A, "n.py": "from m import A\nclass B(A):\n    def x(self): self.g = 2\n"},
        "A.f",
        "g",
        "n.py:3",
    ),
    "an element": ({"m.js": "class A { go() {} }\nnew A()['go']()\n"}, "A.go", "run", "m.js:2"),
    "a part of a template": (
        {"m.js": "class A {\n  onTap() {}\n  at(n) { this[`on${n}`](n) }\n}\n"},
        "A.onTap",
        "onClick",
        "m.js:3",
    ),
    "taken out of an object": (
        {"m.js": "class A { get v() { return 1 } }\nconst { v } = new A()\n"},
        "A.v",
        "w",
        "m.js:2",
    ),
    "taken out of a parameter": (
        {"m.js": "class A { get v() { return 1 } }\nfunction f({ v: x = {} }) { return x }\n"},
        "A.v",
        "w",
        "m.js:2",
    ),
    "taken out in a loop": (
        {"m.js": "class A { get v() { return 1 } }\nfor (const { v } of all) show(v)\n"},
        "A.v",
        "w",
        "m.js:2",
    ),
    "a key": (
        {"m.js": "class A { get v() { return 1 } }\nshow(new A()['v'])\n"},
        "A.v",
        "w",
        "m.js:2",
    ),
    "a base outside the tree with a known last word": (
        {"m.py": "import asyncio\nclass P(asyncio.Protocol):\n    def data_received(self): ...\n"},
        "P.data_received",
        "got",
        "m.py:2",
    ),
    "a hook of enumerations": (
        {
            "m.py": "from enum import Enum\nclass C(Enum):\n    RED = 1\n"
            "    def _missing_(self): ...\n"
        },
        "C._missing_",
        "other",
        "m.py:2",
    ),
    "a fixture": (
        {"conftest.py": "import pytest\n@pytest.fixture\ndef cart(): return 1\n"},
        "cart",
        "basket",
        "conftest.py:2",
    ),
    "a symbol of Ruby": (
        {"a.rb": "class A\n  before_action :check\n  def check; 1; end\n  send(:x)\nend\n"},
        "A.check",
        "verify",
        "a.rb:2",
    ),
}

REFUSED: dict[str, tuple[Files, str, str, str]] = {
    "a special method": (
        {"m.py": "class A:\n    def __len__(self): ...\n"},
        "A.__len__",
        "f",
        "special",
    ),
    "to a special method": ({"m.py": A}, "A.f", "__call__", "special"),
    "a constructor": (
        {"m.py": "class A:\n    def __init__(self): ...\n"},
        "A.__init__",
        "f",
        "fixed",
    ),
    "a special function of a module": (
        {"m.py": "def __getattr__(n): ...\n"},
        "__getattr__",
        "f",
        "special",
    ),
    "to a private member": ({"m.py": A}, "A.f", "__f", "visible in its class only"),
    "a member of a subclass": (
        {"m.py": A, "n.py": "from m import A\nclass B(A):\n    def g(self): ...\n"},
        "A.f",
        "g",
        "n.py:3",
    ),
    "a member of a base class": (
        {"m.py": A, "n.py": "from m import A\nclass B(A):\n    def g(self): ...\n"},
        "B.g",
        "f",
        "m.py:2",
    ),
    "a member of another base": (
        {
            "m.py": A,
            "n.py": "from m import A\nclass M:\n    def g(self): ...\nclass B(M, A): ...\n",
        },
        "A.f",
        "g",
        "n.py:3",
    ),
    "toString": ({"m.js": "class A { toString() { return 'x' } }\n"}, "A.toString", "f", "special"),
    "to a constructor": ({"m.js": "class A { go() {} }\n"}, "A.go", "constructor", "special"),
}


@pytest.mark.shows("EDIT-RENAME")
@pytest.mark.parametrize("case", IN_DOUBT)
def test_a_rename_that_may_change_the_program_stays_in_doubt(case: str, tmp_path: Path) -> None:
    files, symbol, name, place = IN_DOUBT[case]
    preview, done, after = edited(tmp_path, files, symbol, name)
    assert place in [f"{one.file}:{one.line}" for one in preview.doubts]
    assert (done.reason, after) == ("in_doubt", files)


@pytest.mark.shows("EDIT-RENAME")
@pytest.mark.parametrize("case", REFUSED)
def test_a_name_that_has_a_meaning_already_is_refused(case: str, tmp_path: Path) -> None:
    files, symbol, name, why = REFUSED[case]
    with pytest.raises(UsageError, match=why):
        edited(tmp_path, files, symbol, name)


def test_a_confirmed_pattern_leaves_the_variable_its_name(tmp_path: Path) -> None:
    files = {"m.js": "class A { get v() { return 1 } }\nconst { v } = new A(); log(v)\n"}
    _, done, after = edited(tmp_path, files, "A.v", "w", "m.js:2")
    assert done.applied
    assert "const { w: v } = new A(); log(v)" in after["m.js"]


def test_a_confirmed_string_gets_the_new_name(tmp_path: Path) -> None:
    files = {"m.py": A + "print(getattr(A(), 'f')())\n"}
    _, done, after = edited(tmp_path, files, "A.f", "total", "m.py:4")
    assert done.applied
    assert "getattr(A(), 'total')()" in after["m.py"]


CERTAIN: dict[str, tuple[Files, str, str]] = {
    "a function named as an imported module": (
        {
            "p/__init__.py": "from p.cart import cart\n",
            "p/cart.py": "def cart(): return 1\n",
            "m.py": "import p.cart\nfrom p import cart\nprint(cart())\n",
        },
        "cart",
        "basket",
    ),
    "a method named as a field of another class": (
        {
            "m.py": A + "class B:\n    def __init__(self): self.f = 3\n"
            "    def x(self): return self.f\nprint(A().f(), B().x())\n"
        },
        "A.f",
        "g",
    ),
    "a function named as its module": (
        {"f.py": PLAIN, "m.py": "from f import f\nprint(f())\n"},
        "f.f",
        "g",
    ),
    "a function of a module that its package imports from": (
        {
            "p/__init__.py": "from .n import *\nn.f()\n",
            "p/n.py": "def f(): print(1)\n",
            "m.py": "import p\n",
        },
        "f",
        "g",
    ),
    "a method of an exception": (
        {"m.py": "class E(ValueError):\n    def f(self): return 1\nprint(E().f())\n"},
        "E.f",
        "g",
    ),
    "a method of the base class of a base class": (
        {"m.py": A + "class B(A): ...\nclass C(B):\n    def f(self): return 2\nprint(C().use())\n"},
        "C.f",
        "g",
    ),
    "a word in a text": (
        {"m.py": PLAIN + "print(f(), 'f is', \"not 'f'\", 'f, too', hasattr(f, 'x'))\n"},
        "f",
        "g",
    ),
}


@pytest.mark.shows("EDIT-RENAME")
@pytest.mark.parametrize("case", CERTAIN)
def test_a_rename_without_doubts_keeps_what_the_program_prints(case: str, tmp_path: Path) -> None:
    files, symbol, name = CERTAIN[case]
    for path, text in files.items():
        (tmp_path / "before" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "before" / path).write_text(text)
    _, done, _ = edited(tmp_path, files, symbol, name)
    assert done.applied, done.doubts
    assert _printed(tmp_path / "before") == _printed(tmp_path / "tree")


UNTOUCHED: dict[str, tuple[Files, str, str]] = {
    "half of a name of camel case in a quoted type": (
        {
            "m.py": "__all__ = ['CartItem']\nclass CartItem: ...\nclass Cart: ...\n"
            "def f(cart: 'Cart'): ...\n"
        },
        "CartItem",
        "Line",
    ),
    "a method of Go with the name of a special function": (
        {"a.go": "package a\n\ntype T struct{}\n\nfunc (t T) main() int { return 1 }\n"},
        "T.main",
        "run",
    ),
}


@pytest.mark.shows("EDIT-RENAME")
@pytest.mark.parametrize("case", UNTOUCHED)
def test_what_does_not_use_the_name_is_no_reason_for_doubt(case: str, tmp_path: Path) -> None:
    files, symbol, name = UNTOUCHED[case]
    _, done, _ = edited(tmp_path, files, symbol, name)
    assert done.applied, done.doubts


@pytest.mark.shows("EDIT-RENAME")
def test_typescript_that_requires_a_whole_module_is_renamed_with_it(tmp_path: Path) -> None:
    files = {
        "cart.ts": "class Cart { add() {} }\nexport = Cart;\n",
        "n.ts": 'import Cart = require("./cart");\nnew Cart();\n',
    }
    _, done, after = edited(tmp_path, files, "cart.Cart", "Basket")
    assert done.applied, done.doubts
    assert after["n.ts"] == 'import Basket = require("./cart");\nnew Basket();\n'


@pytest.mark.shows("EDIT-RENAME")
def test_a_function_assigned_to_a_declared_member_is_renamed_with_it(tmp_path: Path) -> None:
    files = {
        "m.ts": "interface I { total(): number }\nconst a: I = { total: () => 1 };\n"
        "a.total = () => 2;\na.total();\n"
    }
    _, done, after = edited(tmp_path, files, "m.I.total", "sum")
    assert done.applied, done.doubts
    assert "total" not in after["m.ts"]


@pytest.mark.shows("EDIT-RENAME")
def test_two_ways_to_a_base_are_followed_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows of two classes with the row above as bases took twice the work for each row."""
    rows = ["class A0:\n    def f(self): ...\nclass B0: ...\n"]
    rows += [f"class {x}{n}(A{n - 1}, B{n - 1}): ...\n" for n in range(1, 26) for x in "AB"]
    rows += ["class C(A25, B25):\n    def f(self): ...\n"]
    counted, bases = Counter[str](), Names.bases

    def count(self: Names, thing: Thing) -> list[Thing]:
        counted["asked"] += 1
        return bases(self, thing)

    monkeypatch.setattr(Names, "bases", count)
    _, done, _ = edited(tmp_path, {"m.py": "".join(rows)}, "C.f", "g")
    assert done.applied, done.doubts
    assert counted["asked"] < 5_000


def _printed(root: Path) -> str:
    return subprocess.run(
        [sys.executable, "m.py"], cwd=root, capture_output=True, text=True, check=True
    ).stdout
