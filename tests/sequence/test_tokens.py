"""The two lexers: what they make of each language, and that they make the same."""

from pathlib import PurePath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.sequence.suffix.backends import SuffixBackend, available
from holdfast.sequence.suffix.stream import Document, DocumentFacts, TokenStream, stream_of
from holdfast.sequence.tokens.families import FAMILIES, family_of
from holdfast.sequence.tokens.lexer import LexerOptions, TokenKind, kind_of, lex, normalised
from holdfast.sequence.tokens.text import text_of
from tests.scale import size

PIECES = [
    *(bytes([byte]) for byte in b"\"'`\\\n/*#-[]a1.=> ;%|\t\0\xff"),
    *b"<!-- --> b1 e+ {- -} (* *) 0x longer_than_seven".split(),
    b"'''",
    b'"""',
    "é".encode(),
]

sources = st.lists(st.sampled_from(PIECES), max_size=16).map(b"".join)
PATHS = [f"a.{s}" for s in ("py", "rs", "js", "lua", "txt", "go", "hs", "html", "sql", "el", "ml")]
readings = st.builds(LexerOptions, st.booleans(), st.booleans())


def texts(source: str, path: str, options: LexerOptions = LexerOptions()) -> list[str]:  # noqa: B008
    return [t.decode() for t in lex(source.encode(), family_of(path), options).texts]


@pytest.mark.shows("SEQ-LEXER")
@pytest.mark.parametrize(
    ("path", "source", "expected"),
    [
        ("a.rs", "fn f<'a>(x: &'a str) { 'x' }", "fn f < ' a > ( x : & ' a str ) { 'x' }"),
        ("a.c", 'x += 1; // no\n/* no */ y = "a\\"b";', 'x += 1 ; y = "a\\"b" ;'),
        ("a.py", 'def f(): # no\n    """doc\nmore"""', 'def f ( ) : """doc\nmore"""'),
        ("a.js", "a === `b\n${c}` ?? d", "a === `b\n${c}` ?? d"),
        ("a.sql", "select 'it''s' -- no", "select 'it' 's'"),
        ("a.lua", "x --[[ no\n ]] y -- no", "x y"),
        ("a.go", "x := `a\\`", "x := `a\\`"),
        ("a.html", "<b>x</b><!-- no -->", "< b > x < / b >"),
        ("a.txt", "don't 1.5e+3 0..2", "don ' t 1.5e+3 0 .. 2"),
        ("Makefile", "all: x # no", "all : x"),
    ],
)
def test_a_language_is_cut_where_it_says(path: str, source: str, expected: str) -> None:
    assert " ".join(texts(source, path)) == expected


@pytest.mark.shows("SEQ-LEXER-OPTIONS")
def test_comments_and_blanks_are_tokens_when_asked_for() -> None:
    kept = texts("a  # note\nb", "a.py", LexerOptions(comments=True, whitespace=True))
    assert kept == ["a", "  ", "# note", "\n", "b"]


@pytest.mark.shows("SEQ-LEXER-LOSSLESS")
@given(sources, st.integers(0, len(FAMILIES) - 1))
def test_tokens_with_comments_and_blanks_are_the_whole_text(source: bytes, family: int) -> None:
    lexed = lex(source, family, LexerOptions(comments=True, whitespace=True))
    assert b"".join(lexed.texts) == source
    for text, start in zip(lexed.texts, lexed.starts, strict=True):
        assert source[start : start + len(text)] == text


def facts(stream: TokenStream) -> tuple[object, ...]:
    return (
        stream.words,
        list(stream.tokens),
        list(stream.starts),
        list(stream.firsts),
        list(stream.line_starts),
        list(stream.line_firsts),
    )


@pytest.mark.shows("SEQ-LEXER-TWINS", "SEQ-BACKENDS")
@given(
    st.lists(st.tuples(sources, st.sampled_from(PATHS)), max_size=5),
    readings,
)
def test_the_compiled_lexer_is_the_regular_expression(
    files: list[tuple[bytes, str]], options: LexerOptions
) -> None:
    assert SuffixBackend.COMPILED in available()
    documents = [Document(DocumentFacts(path, len(data), 0, ""), data) for data, path in files]
    assert facts(stream_of(documents, options, SuffixBackend.COMPILED)) == facts(
        stream_of(documents, options, SuffixBackend.PURE)
    )


@pytest.mark.shows("SEQ-LEXER-TWINS")
@given(st.lists(st.tuples(sources, st.sampled_from(PATHS)), max_size=6))
def test_several_threads_number_words_as_one_would(files: list[tuple[bytes, str]]) -> None:
    from holdfast.sequence.tokens import compiled

    documents = [Document(DocumentFacts(path, len(data), 0, ""), data) for data, path in files]
    alone, compiled._ALONE = compiled._ALONE, 1
    try:
        together = facts(stream_of(documents, LexerOptions(), SuffixBackend.COMPILED))
    finally:
        compiled._ALONE = alone
    assert together == facts(stream_of(documents, LexerOptions(), SuffixBackend.PURE))


@pytest.mark.shows("SEQ-RENAMED")
def test_renaming_forgets_names_and_literals_and_keeps_the_rest() -> None:
    assert [kind_of(t) for t in (b"return", b"total", b"12", b'"x"', b"+=", b'"')] == [
        TokenKind.KEYWORD,
        TokenKind.WORD,
        TokenKind.NUMBER,
        TokenKind.STRING,
        TokenKind.OPERATOR,
        TokenKind.OPERATOR,
    ]
    assert normalised(b"total") == normalised("größe".encode()) != normalised(b"12")
    assert normalised(b"return") == b"return"


@pytest.mark.shows("SEQ-HOSTILE-ENCODINGS")
def test_what_is_text_is_told_from_its_bytes() -> None:
    assert text_of(b"a\0b") is None
    assert text_of("naïve".encode("utf-16")) == "naïve".encode()
    assert text_of("naïve".encode("utf-32")) == "naïve".encode()
    assert text_of(b"\xef\xbb\xbfx") == b"x"
    assert text_of(b"caf\xe9 caf\xc3\xa9") == b"caf\xe9 caf\xc3\xa9"
    assert text_of(b"\xff\xfea") is not None, "a cut-off unit is replaced, not refused"
    assert text_of(b"") == b""


@pytest.mark.shows("SEQ-HOSTILE-LINEAR")
@pytest.mark.parametrize("path", ["a.py", "a.js", "a.c", "a.rs", "a.lua", "a.html", "a.sql"])
def test_strings_and_comments_without_an_end_are_read_once(path: str) -> None:
    """LexerOptions each unclosed quote to the end of the text again would take hours here."""
    for piece in (b'"\\', b"'\\", b"/*", b"`", b'"""', b"--[[", b"<!--", b"'", b'"', b"\\"):
        source = piece * size(200_000, 5_000)
        assert sum(map(len, lex(source, family_of(path)).texts)) <= len(source)


@pytest.mark.parametrize(
    "path", ["a/B.PY", "Makefile", "x/Dockerfile", "no", "a.b/c", ".py", "", "d/x.go/"]
)
def test_the_family_is_that_of_the_last_part_of_a_path(path: str) -> None:
    name = PurePath(path).name
    assert family_of(path) == family_of(name) == family_of(name.upper())
