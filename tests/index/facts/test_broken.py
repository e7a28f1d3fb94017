"""A construct that a grammar cannot read costs its own lines, and no symbol is made of it."""

from __future__ import annotations

import pytest

from holdfast.index.facts.extract import extract

CASES: dict[str, tuple[str, str, set[str], set[str]]] = {
    "a guard behind the brace of `when`": (
        "a.kt",
        "fun before() {}\nfun f(x: Any) = when (x) { is Int if x > 1 -> 1\n else -> 2 }\n"
        "class After\n",
        {"before", "f", "After"},
        set(),
    ),
    "a guard in `when`": (
        "a.kt",
        "fun before() {}\nfun f(x: Any) = when (x) {\n  is A if x.b -> 1\n  else -> 2\n}\n"
        "class C { fun m() {} }\n",
        {"before", "f", "C", "C.m"},
        set(),
    ),
    "a constructor apart from its class": (
        "a.kt",
        "class A\n@X\nprivate constructor(a: B) {\n  fun f() {}\n}\nfun g() {}\n",
        {"A", "A.f", "g"},
        set(),
    ),
    "a macro behind the parameters": (
        "a.cpp",
        "struct A { void Lock() EXCL(m) { x(); } };\nvoid g() {}\n",
        {"A", "A.Lock", "g"},
        {"EXCL", "A.EXCL"},
    ),
    "a macro before a namespace": (
        "a.cpp",
        "BEGIN_ALL\nnamespace a {\nnamespace b {\nclass C { void m() {} };\n}\n}\nEND_ALL\n",
        {"a.b.C", "a.b.C.m"},
        {"BEGIN_ALL"},
    ),
    "macros among the members": (
        "a.cpp",
        "class A {\n  ADD_PROPERTY(int, x)\n  HASH(y)\npublic:\n  void m() {}\n};\nclass B {};\n",
        {"A", "A.m", "B"},
        {"ADD_PROPERTY", "A.ADD_PROPERTY"},
    ),
    "a calling convention": (
        "a.c",
        "typedef int (WINAPI *Open)(int a);\nconst char* ADDCALL version(void) { return 0; }\n"
        "typedef struct P { int a; } P, *PP;\ntypedef Result *(*build_function) (int a);\n",
        {"Open", "version", "P", "PP", "build_function"},
        {"WINAPI", "ADDCALL"},
    ),
    "tests are named by what their macro names": (
        "a.cc",
        "TEST_F(CartTest, Adds) { go(); }\nTEST(Cart, Removes) { go(); }\n",
        {"CartTest.Adds", "Cart.Removes"},
        {"TEST_F", "TEST"},
    ),
    "call signatures without semicolons": (
        "a.ts",
        "interface F {\n  <T>(a: T): void\n  <T, U>(a: T, b: U): void\n  m(): void\n}\n"
        "function go() { run(1) }\nclass C { m() {} }\n",
        {"F", "F.m", "go", "C", "C.m"},
        {"run", "F.run"},
    ),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.shows("FACT-BROKEN")
def test_a_broken_construct_costs_its_own_lines(case: str) -> None:
    path, text, there, not_there = CASES[case]
    names = {symbol.qualified for symbol in extract(path, text.encode()).symbols}
    assert there <= names
    assert not (not_there & names)


@pytest.mark.shows("FACT-BROKEN")
def test_a_signature_keeps_what_was_blanked_to_be_parsed() -> None:
    found = extract("a.cpp", b"struct A { void Lock() EXCL(m) { x(); } int y; };\n")
    assert [s.signature for s in found.symbols if s.name == "Lock"] == ["void Lock() EXCL(m)"]
