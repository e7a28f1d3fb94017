"""Mentions of a name: where, of which kind, on which receiver, and whether bound nearby."""

from __future__ import annotations

import ast
import random

import pytest

from holdfast.index.facts import mentions as subject
from holdfast.index.facts.mentions import Mention, find_mentions
from tests.scale import seeds


def seen(path: str, source: str, *names: str) -> list[str]:
    """Each mention as `line kind receiver`, `local` at the end when it is bound nearby."""
    return [_shown(one) for one in find_mentions(path, source.encode(), names).found]


def _shown(one: Mention) -> str:
    parts = [str(one.line), one.kind, one.receiver, "local" if one.local else ""]
    return " ".join(part for part in parts if part)


@pytest.mark.shows("REF-KINDS")
def test_the_kinds_of_mentions_in_python() -> None:
    source = """\
from shop import total as sum_of, total
class Big(total, shop.total):
    x: total = shop.total
    def f(self, a: "list[total]" = total) -> total:
        self.total = total(a).total
@total
def g():
    total.x += 1
    f(total=1, other=total)
    # total
    return "total", f"{total}"
total = total + 1
"""
    assert seen("a.py", source, "total") == [
        "1 import", "1 import", "2 base", "2 base shop", "3 annotation", "3 value shop",
        "4 annotation", "4 value", "4 annotation", "5 write self", "5 call", "5 value total()",
        "6 call", "8 value", "9 value", "11 value", "12 write", "12 value",
    ]  # fmt: skip


@pytest.mark.shows("REF-LOCAL")
@pytest.mark.parametrize(
    ("path", "source", "expected"),
    [
        ("a.py", "def f(n):\n    return n\nn()\n",
         ["1 definition local", "2 value local", "3 call"]),
        ("a.py", "def f():\n    n = 1\n    return n\n", ["2 write local", "3 value local"]),
        ("a.py", "def f():\n    global n\n    n = 1\n    return n\n",
         ["2 value", "3 write", "4 value"]),
        ("a.py", "def f(a=n, n=1): ...\n", ["1 value", "1 definition local"]),
        ("a.py", "x = [n for n in y]\nn\n", ["1 value local", "1 definition local", "2 value"]),
        ("a.py", "with y as n: pass\nfor n in y: pass\n", ["1 definition", "2 definition"]),
        ("a.js", "const f = (n) => n;\nn();\n", ["1 definition local", "1 value local", "2 call"]),
        ("a.js", "function f() { { let n = 1; n } n }\n",
         ["1 definition local", "1 value local", "1 value"]),
        ("a.js", "function n(a) { return n(a) }\n", ["1 definition", "1 call"]),
        ("a.ts", "class A { n(): void { this.n() } }\n", ["1 definition", "1 call this"]),
        ("a.go", "package p\nfunc n() { n() }\n", ["2 definition", "2 call"]),
        ("A.java", "class A { void n() { n(); } }\n", ["1 definition", "1 call"]),
        ("a.rs", "fn n() { n(); }\n", ["1 definition", "1 call"]),
        ("a.js", "const o = { n, n: 1, m: n };\n", ["1 value", "1 value"]),
        ("a.go", "package p\nfunc f(n int) int { return n }\nfunc g() { n() }\n",
         ["2 definition local", "2 value local", "3 call"]),
        ("A.java", "class A { void f() { int n = 1; g(n); this.n(); } }\n",
         ["1 definition local", "1 value local", "1 call this"]),
    ],
)  # fmt: skip
def test_a_name_that_is_bound_in_a_function_is_local_there(
    path: str, source: str, expected: list[str]
) -> None:
    assert seen(path, source, "n") == expected


@pytest.mark.shows("REF-KINDS")
def test_the_kinds_of_mentions_in_typescript() -> None:
    source = """\
import { Cart as C } from "./cart";
export { Cart } from './cart';
class Big extends s.Cart<Cart> implements Cart {
  x: Cart = new Cart(Cart.one);
  f(): Array<Cart> { return this.Cart; }
}
type T = Cart | null;
"""
    assert seen("a.ts", source, "Cart") == [
        "1 import", "2 import", "3 base s", "3 base", "3 base", "4 annotation", "4 call",
        "4 value", "5 annotation", "5 value this", "7 annotation",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("path", "source", "expected"),
    [
        ("a.go", "package p\nimport \"x\"\nvar a x.Cart\nfunc (c *Cart) f() { x.Cart() }\n",
         ["3 annotation x", "4 annotation", "4 call x"]),
        ("a.rs", "use shop::Cart;\nfn f(c: &Cart) { Cart::new(); }\nstruct B { c: Cart }\n",
         ["1 import shop", "2 annotation", "2 value", "3 annotation"]),
        ("A.java", "import shop.Cart;\nclass B extends Cart { Cart c = new Cart(); }\n",
         ["1 import shop", "2 base", "2 annotation", "2 call"]),
        ("a.rb", "class B < Cart\n  def f\n    Cart.new\n  end\nend\n", ["1 base", "3 value"]),
        ("a.cs", "class B : Cart { Cart c = new Cart(); }\n", ["1 base", "1 annotation", "1 call"]),
        ("a.kt", "class B : Cart() { val c: Cart = Cart() }\n",
         ["1 base", "1 annotation", "1 call"]),
        ("a.php", "<?php\nuse Shop\\Cart;\nclass B extends Cart {}\n$a = new Cart();\n",
         ["2 import Shop", "3 base", "4 call"]),
    ],
)  # fmt: skip
def test_other_languages(path: str, source: str, expected: list[str]) -> None:
    assert seen(path, source, "Cart") == expected


@pytest.mark.shows("REF-HONEST")
def test_a_file_without_a_grammar_or_with_too_many_mentions_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert find_mentions("a.txt", b"total", ["total"]).why == "no grammar"
    monkeypatch.setattr(subject, "MENTIONS_MAX", 2)
    found = find_mentions("a.py", b"n\nn\nn\n", ["n"])
    assert (len(found.found), found.why) == (2, "too many mentions")


WORDS = ("alpha", "beta", "gamma", "self", "x1")


def _program(rng: random.Random) -> str:
    """A random program: nested functions, classes, calls, attributes, strings and comments."""
    lines: list[str] = []

    def expression(depth: int = 0) -> str:
        word, inner = rng.choice(WORDS), "1" if depth > 2 else expression(depth + 1)
        kind = rng.randrange(9)
        return [
            word, f"{word}.{rng.choice(WORDS)}", f"{word}({inner})",
            f"'{word}'", f"{word}({rng.choice(WORDS)}={inner})",
            f"[{word} for {rng.choice(WORDS)} in {inner}]",
            f"(lambda {word}: {inner})", f"f'{{{word}}}'",
            f"{word}[{inner}]",
        ][kind]  # fmt: skip

    def block(indent: str, depth: int) -> None:
        for _ in range(rng.randrange(1, 5)):
            word, value = rng.choice(WORDS), expression()
            kind = rng.randrange(9) if depth < 3 else rng.randrange(4)
            if kind < 2:
                lines.append(f"{indent}{word} = {value}")
            elif kind == 2:
                lines.append(f"{indent}{value}  # {word}")
            elif kind == 3:
                lines.append(
                    f"{indent}from {word} import {rng.choice(WORDS)} as {rng.choice(WORDS)}"
                )
            elif kind == 4:
                lines.append(f"{indent}def {word}({rng.choice(WORDS)}: {word} = {value}):")
                block(indent + "    ", depth + 1)
            elif kind == 5:
                lines.append(f"{indent}class {word}({rng.choice(WORDS)}):")
                block(indent + "    ", depth + 1)
            elif kind == 6:
                lines.append(f"{indent}for {word} in {value}:")
                block(indent + "    ", depth + 1)
            elif kind == 7:
                lines.append(f"{indent}with {value} as {word}:")
                block(indent + "    ", depth + 1)
            else:
                lines.append(f"{indent}{word}.{rng.choice(WORDS)} += {value}")

    block("", 0)
    return "\n".join(lines) + "\n"


def _names(source: str) -> list[tuple[int, str]]:
    """Every name of a program with its line, by Python's own parser."""
    found: list[tuple[int, str]] = []
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Name(id=name, lineno=line) | ast.arg(arg=name, lineno=line):
                found.append((line, name))
            case ast.Attribute(attr=name, end_lineno=int(line)):
                found.append((line, name))
            case ast.FunctionDef(name=name, lineno=line) | ast.ClassDef(name=name, lineno=line):
                found.append((line, name))
            case ast.ImportFrom(module=str(name), lineno=line):
                found.append((line, name))
            case ast.alias(name=name, asname=other, lineno=line):
                found += [(line, name), *([(line, other)] if other else [])]
            case _:
                pass
    return [one for one in found if one[1] in WORDS]


@pytest.mark.shows("REF-TWIN")
@pytest.mark.property
def test_every_name_that_a_naive_scanner_sees_is_a_mention() -> None:
    """The twin is Python's own parser; it tells names, and neither kinds nor scopes."""
    for seed in seeds(300):
        source = _program(random.Random(seed))
        mentions = find_mentions("a.py", source.encode(), WORDS).found
        found = sorted((one.line, one.name) for one in mentions)
        assert found == sorted(_names(source)), f"seed {seed}\n{source}"


@pytest.mark.shows("REF-KINDS")
def test_types_in_comments_and_names_in_strings_are_mentions() -> None:
    script = """\
/**
 * Adds a Cart up, see {@link Cart} and {@link shop.Cart}.
 * @param {Cart} cart The Cart.
 * @param {import("./x").Cart} other
 * @param {{Cart: string, b: Map<string, Cart>}} third
 * @returns {Promise<shop.Cart>}
 * @example {Cart}
 */
function f(cart) {}
// {Cart}
"""
    typed = ["3 annotation", "4 annotation './x'", "5 annotation", "6 annotation shop"]
    links = ["2 annotation", "2 annotation shop"]
    assert seen("a.js", script, "Cart") == links + typed
    assert seen("a.ts", script, "Cart") == links, "in TypeScript types are written in the code"
    source = """\
__all__ = ["Cart", "Cart x"]
x = "Cart"
y = cast("Cart", z)
T = TypeVar("T", bound="Cart")
U = Union["Cart", None]
d["Cart"] = 1
hook = t.Callable[["Cart"], None]
stream = AsyncIterator["Cart"]
kind = Literal["Cart"]
kinds = Literal[["Cart"]]
d[["Cart"]] = 1
"""
    assert seen("a.py", source, "Cart") == [
        "1 value", "3 annotation", "4 annotation", "5 annotation", "7 annotation", "8 annotation",
    ]  # fmt: skip
