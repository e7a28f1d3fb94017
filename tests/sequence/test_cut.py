"""The numpy cutter finds the tokens of the lexer, and equal tokens have equal keys."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.sequence.tokens.cut import CutTexts, cut, cut_all
from holdfast.sequence.tokens.families import BY_NAME, FAMILIES
from holdfast.sequence.tokens.lexer import LexerOptions, lex, normalised

PARTS = (
    *("a", "ab1", "e", "1e", "x_$", "0x1e", "12", "3.5", "1.5e-3", "1e+5", "é", "_", "1.", ".5"),
    *("synchronized", "interfaces", "interface", "return", "a_long_name_indeed", "namespace"),
    *"\"'`#/*-%;<>=!.?|&+~:()[]{}\\@,^$\x00\x7f \n\t\r",
    *('"""', "'''", "//", "/*", "*/", "--", "<!--", "-->", "{-", "-}", "(*", "*)", "#|", "|#"),
    *("--[[", "]]", "[[", "===", "<--", "<<!--", "//*", "->*", "...", "..=", ">>>=", "<<<<", "'x'"),
    *("'\\n'", '"s"', "'s'", "`s`", "\\\n"),
)
TEXTS = st.lists(st.sampled_from(PARTS), max_size=40).map(lambda parts: "".join(parts).encode())
DOCUMENTS = st.lists(st.tuples(TEXTS, st.integers(0, len(FAMILIES) - 1)), min_size=1, max_size=4)
OPTIONS = st.sampled_from([LexerOptions(), LexerOptions(comments=True)])


def spans(cutting: CutTexts, number: int) -> list[tuple[int, int]]:
    first, end = (int(at) for at in cutting.firsts[number : number + 2])
    starts, sizes = cutting.starts[first:end].tolist(), cutting.sizes[first:end].tolist()
    return list(zip(starts, sizes, strict=True))


def check(documents: list[tuple[bytes, int]], options: LexerOptions) -> None:
    plain, renamed = cut(documents, options), cut(documents, options, renamed=True)
    key_of: dict[bytes, int] = {}
    renamed_key_of: dict[bytes, int] = {}
    for number, (text, family) in enumerate(documents):
        lexed = lex(text, family, options)
        sizes = map(len, lexed.texts)
        wanted = [*zip(lexed.starts, sizes, strict=True), (len(text), 0)]
        assert spans(plain, number) == spans(renamed, number) == wanted
        for at, token in enumerate(lexed.texts, int(plain.firsts[number])):
            assert key_of.setdefault(token, int(plain.keys[at])) == plain.keys[at]
            word = normalised(token)
            assert renamed_key_of.setdefault(word, int(renamed.keys[at])) == renamed.keys[at]
    assert len(plain.keys) == plain.firsts[-1]
    # Different tokens could share a key; these are few, and none do.
    assert len(set(key_of.values())) == len(key_of)
    assert len(set(renamed_key_of.values())) == len(renamed_key_of)


@given(DOCUMENTS, OPTIONS)
def test_the_tokens_are_those_of_the_lexer(
    documents: list[tuple[bytes, int]], options: LexerOptions
) -> None:
    check(documents, options)


@given(st.lists(st.tuples(st.binary(max_size=60), st.integers(0, len(FAMILIES) - 1)), min_size=1))
def test_any_bytes_are_cut_as_the_lexer_does(documents: list[tuple[bytes, int]]) -> None:
    check(documents, LexerOptions())


@pytest.mark.parametrize(
    ("family", "text"),
    [
        ("sql", b"a <--1 -- b"),
        ("css", b"a //* b */ c"),
        ("markup", b"<<!-- a -->"),
        ("lua", b"x<--[[ y ]] z"),
        ("c", b"1e+5-1.5.e+3 a.5.6 0xep+1 x.1e-"),
        ("script", b"a===b!==c<<=d>>>=e...f?.5:1..toString()"),
        ("python", b'f"x" """a"b\\""" \'\'\'\'\'\' "open\nnext'),
        ("plain", b"a \"b\" 'c' `d` # //"),
        ("go", b"'a' 'ab' '\\n' `raw\n\\` x"),
        ("python", b""),
    ],
)
def test_places_where_a_shortcut_would_go_wrong(family: str, text: bytes) -> None:
    number = BY_NAME[family]
    for options in (LexerOptions(), LexerOptions(comments=True)):
        check([(text, number), (b"\" # // '", 0), (text, number)], options)


def test_many_texts_are_cut_some_at_a_time() -> None:
    text = b"def f(x): return x + 1  # one\n" * 10_000
    pieces = list(cut_all([(text, BY_NAME["python"])] * 5, LexerOptions()))
    assert len(pieces) == 3
    assert sum(len(piece.firsts) - 1 for piece in pieces) == 5
    assert not list(cut_all([], LexerOptions()))
