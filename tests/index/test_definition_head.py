"""The comments and attributes above a definition, in every language that has some."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import pytest

from holdfast.index.facts.languages import parsed
from holdfast.index.facts.walk import Language
from holdfast.index.references.definition_head import defines, head_of, under_head


class Style(NamedTuple):
    """How a language writes comments, attributes and a function."""

    comment: str
    attributes: tuple[str, ...]
    definition: str


STYLES = {
    "python": Style(
        "# why\n# more\n",
        ("@cache\n", '@app.get("/a)", x=[1,  # it\'s\n    2])\n', "@(lambda f: f)\n"),
        "def total(x):\n    return NUMBER",
    ),
    "typescript": Style(
        "/**\n * Doc.\n */\n",
        ("@Input()\n", "@Component({\n  a: ')',\n})\n", "@a.b(`)`)()\n"),
        "total(x: number) { return NUMBER; }",
    ),
    "java": Style(
        "/** Doc. */\n",
        ("@Override\n", '@Foo(a = {"(", "b"})\n', "@Deprecated "),
        "public <T> List<T> total() { return NUMBER; }",
    ),
    "kotlin": Style("// doc\n", ("@Test\n", '@get:Rule("x")\n'), "fun total() = NUMBER"),
    "rust": Style(
        "/// Doc.\n",
        ("#[inline]\n", "#[derive(\n    Debug,\n    Clone,\n)]\n"),
        "pub(crate) fn total() -> u8 { NUMBER }",
    ),
    "csharp": Style("/// Doc\n", ("[Obsolete]\n", '[A(B = "]")] '), "int total() => NUMBER;"),
    "php": Style("// doc\n", ("#[Pure]\n",), "function total() { return NUMBER; }"),
    "scala": Style("/** Doc */\n", ("@tailrec\n", "@throws[A](b)\n"), "def total: Int = NUMBER"),
    "swift": Style("/// Doc\n", ("@objc(total) ", "@inline\n"), "func total() { NUMBER }"),
    "go": Style("// Total.\n", (), "func (c *Cart) total() int { return NUMBER }"),
}


def language(name: str) -> Language:
    found = parsed(name)
    assert found is not None
    return found


def replaced(name: str, before: str, lead: str, old: str, new: str) -> str:
    """The source after a definition was replaced."""
    source = (before + lead + old + "\nafter\n").encode()
    start, end = len(before.encode()), len((before + lead + old).encode())
    parts = under_head(language(name), source, start, (start, end), "total", new.encode())
    assert parts is not None
    pieces, at = list[bytes](), 0
    for first, last, text in sorted(parts.replacements):
        pieces += [source[at:first], text]
        at = last
    return b"".join([*pieces, source[at:]]).decode()


@pytest.mark.shows("EDIT-HEAD")
@pytest.mark.parametrize("name", sorted(STYLES))
def test_each_part_of_a_head_stays_unless_the_text_brings_its_own(name: str) -> None:
    """The twin joins three texts: the comment, the attributes and the definition."""
    style = STYLES[name]
    old = style.definition.replace("NUMBER", "1")
    new = style.definition.replace("NUMBER", "2")
    sets = [
        "".join(some)
        for count in range(len(style.attributes) + 1)
        for some in itertools.combinations(style.attributes, count)
    ]
    other = "// other\n" if name != "python" else "# other\n"
    for attributes, brought in itertools.product(sets, sets):
        for comment, own in itertools.product(("", style.comment), ("", other)):
            found = replaced(name, "before\n\n", comment + attributes, old, own + brought + new)
            expected = (own or comment) + (brought or attributes) + new
            assert found == f"before\n\n{expected}\nafter\n"


@pytest.mark.shows("EDIT-HEAD")
@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("export function total() {}", "function total() {;}", "export function total() {;}"),
        (
            "export default class total {}",
            "@A()\nclass total {;}",
            "@A()\nexport default class total {;}",
        ),
        ("export const total = 1;", "total = 2;", "export const total = 2;"),
        ("export const total = 1;", "export let total = 2;", "export let total = 2;"),
        ("function total() {}", "export function total() {}", "export function total() {}"),
    ],
)
def test_an_export_stays_unless_the_text_has_one(old: str, new: str, expected: str) -> None:
    assert replaced("typescript", "", "", old, new) == f"{expected}\nafter\n"


@pytest.mark.shows("EDIT-HEAD")
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("python", "def helper(): return total(1)\n\n@a\ndef total(): ..."),
        ("python", "import total\n"),
        ("typescript", "const a = total;"),
        ("typescript", "function a() { total(); }"),
        ("java", "@A(\npublic int total() {}"),
        ("python", "@a"),
    ],
)
def test_a_text_that_does_not_begin_with_the_definition_is_taken_as_it_is(
    name: str, text: str
) -> None:
    source = b"x"
    assert under_head(language(name), source, 0, (0, 1), "total", text.encode()) is None


def test_the_definition_of_an_annotation_is_not_an_annotation() -> None:
    text = b"@Retention(A)\n@interface total {}"
    head = head_of(language("java"), text)
    assert head is not None
    assert text[head.definition :].startswith(b"@interface")
    assert defines(language("java"), text, head.definition, "total")
