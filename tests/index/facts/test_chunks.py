"""Where files are cut."""

import pytest

from holdfast.index.facts.chunks import CHUNK_BYTES_MAX, LINE_BYTES_MAX
from holdfast.index.facts.extract import extract
from holdfast.index.facts.model import MODULE


def cut(path: str, text: str) -> list[tuple[str, str]]:
    """(owner, text) of each chunk."""
    source = text.encode()
    found = extract(path, source)
    return [
        (
            found.symbols[c.owner].qualified if c.owner != MODULE else "",
            source[c.span.start : c.span.end].decode(),
        )
        for c in found.chunks
    ]


@pytest.mark.shows("FACT-CHUNKS")
def test_functions_are_chunks_and_take_their_comments_and_decorators() -> None:
    text = "import os\n\n# Adds.\n@cached\ndef a(): ...\n\ndef b(): ...\n\nb()\n"
    assert cut("a.py", text) == [
        ("", "import os\n\n"),
        ("a", "# Adds.\n@cached\ndef a(): ...\n\n"),
        ("b", "def b(): ...\n\n"),
        ("", "b()\n"),
    ]


@pytest.mark.shows("FACT-CHUNK-CUTS")
def test_a_short_class_stays_whole_and_a_long_one_is_cut_at_its_methods() -> None:
    short = "class A:\n    def f(self): ...\n    def g(self): ...\n"
    assert cut("a.py", short) == [("A", short)]
    body = "        x = 1\n" * 40
    long = f"class A:\n    n = 1\n\n    def f(self):\n{body}\n    def g(self):\n{body}"
    assert cut("a.py", long) == [
        ("A", "class A:\n    n = 1\n\n"),
        ("A.f", f"    def f(self):\n{body}\n"),
        ("A.g", f"    def g(self):\n{body}"),
    ]


OUTSIDE = {
    "a.go": (
        "type Cart struct {\n\tn int\n}\n\n",
        [
            ("Cart.Add", "// Adds.\nfunc (c *Cart) Add() {\n\tc.n++\n}\n\n"),
            ("Cart.Sum", "func (c *Cart) Sum() int {\n\treturn c.n\n}\n"),
        ],
    ),
    "a.rs": (
        "struct Cart;\n\n",
        [
            ("Cart.add", "impl Cart {\n    /// Adds.\n    fn add(&self) {}\n\n"),
            ("Cart.sum", "    fn sum(&self) {}\n}\n"),
        ],
    ),
    "a.cpp": (
        "class Cart {\n  void add();\n};\n\n",
        [("Cart.add", "// Adds.\nvoid Cart::add() {\n  step();\n}\n")],
    ),
    "a.lua": (
        "local cart = {}\n\n",
        [
            ("cart.add", "-- Adds.\nfunction cart.add()\n  step()\nend\n\n"),
            ("cart.sum", "function cart:sum()\n  step()\nend\n"),
        ],
    ),
    "a.swift": (
        "struct Cart {}\n\n",
        [("Cart.add", "extension Cart {\n  func add() { step() }\n}\n")],
    ),
}


@pytest.mark.parametrize("path", OUTSIDE)
@pytest.mark.shows("FACT-CHUNK-CUTS")
def test_a_method_outside_its_short_owner_is_a_chunk(path: str) -> None:
    """A short owner stays whole with what stands in it. That once took methods that stand elsewhere
    too, which were left in chunks without an owner."""
    owner, methods = OUTSIDE[path]
    text = owner + "".join(body for _, body in methods)
    (label, whole), *rest = cut(path, text)
    assert (label.lower(), whole) == ("cart", owner)
    assert rest == methods


@pytest.mark.shows("FACT-CHUNK-CUTS")
def test_a_closing_brace_stays_with_what_it_closes() -> None:
    body = "        step();\n" * 60
    text = f"class A {{\n    void f() {{\n{body}    }}\n\n    void g() {{\n{body}    }}\n}}\n"
    chunks = cut("A.java", text)
    assert [owner for owner, _ in chunks] == ["A", "A.f", "A.g"]
    assert chunks[-1][1].endswith("    }\n}\n")


@pytest.mark.parametrize(
    ("path", "opening", "statement", "closing"),
    [
        ("a.py", "def f(a):\n", "    if a:\n        b = call(\n            1,\n        )\n", ""),
        ("a.js", "function f(a) {\n", "  if (a) {\n    g(\n      1,\n    );\n  }\n", "}\n"),
        (
            "a.go",
            "package a\nfunc f(a int) {\n",
            "\tif a > 1 {\n\t\tg(\n\t\t\t1,\n\t\t)\n\t}\n",
            "}\n",
        ),
        (
            "a.rs",
            "fn f(a: u8) {\n",
            "    if a > 1 {\n        g(\n            1,\n        );\n    }\n",
            "}\n",
        ),
        (
            "A.java",
            "class A { void f() {\n",
            "    if (a) {\n        g(\n            1);\n    }\n",
            "}}\n",
        ),
    ],
)
@pytest.mark.shows("FACT-CHUNK-CUTS")
def test_long_functions_are_cut_where_a_statement_starts(
    path: str, opening: str, statement: str, closing: str
) -> None:
    text = opening + statement * 250 + closing
    chunks = [(owner, chunk) for owner, chunk in cut(path, text) if owner]
    assert len(chunks) > 3
    assert len({owner for owner, _ in chunks}) == 1
    first = statement.split("\n")[0]
    for _, chunk in chunks[1:]:
        assert chunk.split("\n")[0] == first, "a piece starts with a whole statement"
        assert len(chunk) <= CHUNK_BYTES_MAX


@pytest.mark.shows("FACT-CHUNK-CUTS")
def test_a_string_is_not_cut_when_a_statement_is_near() -> None:
    text = 'def f():\n    a = """\n' + "text\n" * 300 + '    """\n' + "    b = 1\n" * 300
    found = extract("a.py", text.encode())
    assert {c.owner for c in found.chunks} == {0}
    assert [c.part for c in found.chunks] == list(range(len(found.chunks)))


@pytest.mark.shows("FACT-CHUNKS")
def test_a_very_long_line_is_broken_and_says_so() -> None:
    text = "x = '" + "é" * LINE_BYTES_MAX + "'\ny = 1\n"
    found = extract("a.py", text.encode())
    assert [c.broken_line for c in found.chunks] == [True, True, True, False]
    for chunk in found.chunks:
        text.encode()[chunk.span.start : chunk.span.end].decode()  # never inside a character


@pytest.mark.shows("FACT-CHUNKS")
def test_an_empty_file_has_no_chunks() -> None:
    assert extract("a.py", b"").chunks == ()


@pytest.mark.shows("FACT-CHUNKS")
def test_constants_share_the_chunk_of_their_neighbours() -> None:
    assert cut("a.py", "A = 1\nB = 2\n\nC = 3\n") == [("", "A = 1\nB = 2\n\nC = 3\n")]
