"""Sources whose conditions tear code apart are read as a compiler reads them: one branch."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.index.facts.extract import extract
from holdfast.index.facts.languages.preprocessor_repair import repaired

BRACE = b"""\
int first(void) { return 1; }
int handle(struct packet *packet)
{
#ifdef WITH_TLS
    if (packet->secure) {
#else
    if (packet->open) {
#endif
        take(packet);
    }
    return 0;
}
int last(void) { return 3; }
"""
HEADS = b"""\
#ifdef OLD
int handle(packet) struct packet *packet;
#elif defined(WIDE)
int handle(struct packet *packet, int wide)
#else
int handle(struct packet *packet)
#endif
{
    return packet != 0;
}
int last(void) { return 3; }
"""
SHARP = b"""\
class Shop {
#if FAST
    int Total(int a) {
#else
    long Total(long a) {
#endif
        return a;
    }
    int Last() { return 3; }
}
"""
WHOLE = b"""\
#ifndef SHOP_H
#define SHOP_H
#ifdef WIN32
int total(void) { return 1; }
#else
int total(void) { return 2; }
#endif
#endif
"""


def names(path: str, source: bytes) -> list[str]:
    return [symbol.name for symbol in extract(path, source).symbols]


@pytest.mark.shows("FACT-BRANCHES-MENDED")
@pytest.mark.parametrize(
    ("path", "source", "wanted"),
    [
        ("a.c", BRACE, ["first", "handle", "last"]),
        ("a.cpp", BRACE, ["first", "handle", "last"]),
        ("a.c", BRACE.replace(b"#ifdef WITH_TLS", b"# if 0"), ["first", "handle", "last"]),
        ("a.c", HEADS, ["handle", "last"]),
        ("a.cs", SHARP, ["Shop", "Total", "Last"]),
    ],
)
def test_functions_around_torn_branches_are_found(
    path: str, source: bytes, wanted: list[str]
) -> None:
    found = {s.name: s.span for s in extract(path, source).symbols}
    assert list(found) == wanted
    end = found["handle" if "handle" in found else "Total"].last_line
    assert source.splitlines()[end - 1].strip() == b"}"


@pytest.mark.shows("FACT-BRANCHES-MENDED")
def test_branches_that_are_whole_stay() -> None:
    assert repaired(WHOLE, lambda _: False) == WHOLE
    assert names("shop.h", WHOLE).count("total") == 2


@pytest.mark.shows("FACT-BRANCHES-MENDED")
def test_of_a_torn_condition_the_first_branch_is_left_and_never_one_of_zero() -> None:
    torn = b"#if A\nif (a) {\n#else\nif (b) {\n#endif\nx();\n}\n"
    assert repaired(torn, lambda _: False).split() == [b"if", b"(a)", b"{", b"x();", b"}"]
    zero = torn.replace(b"#if A", b"#if 0")
    assert repaired(zero, lambda _: False).split() == [b"if", b"(b)", b"{", b"x();", b"}"]
    quoted = b'#if A\nsay("{");\n#else\nsay(1); /* { */\n#endif\n'
    assert repaired(quoted, lambda _: False) == quoted


LINES = st.sampled_from(
    [b"#if A", b"#ifdef B", b"# if 0", b"#else", b"#elif C", b"#endif", b"#define X {\\", b"f();",
     b"if (a) {", b"}", b"} else {", b'say("{");', b"/* {", b"*/", b"int f(void)", b""]
)  # fmt: skip


@pytest.mark.shows("FACT-BRANCHES-MENDED")
@given(st.lists(LINES, max_size=24))
def test_mending_only_blanks_and_is_done_once(lines: list[bytes]) -> None:
    source = b"\n".join(lines)
    after = repaired(source, lambda _: True)
    assert len(after) == len(source)
    for now, before in zip(after, source, strict=True):
        assert now == before or (before != 10 and now == 32)
    # What is left of a condition has no directive more, or is as it was.
    assert repaired(after, lambda _: True) == after
