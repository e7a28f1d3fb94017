"""Operators of a query: what is one, what is not, and that nothing of a query is lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.files.policy import LANGUAGES
from holdfast.index.search import operators
from holdfast.index.search.operators import KNOWN_LANGUAGES, Parsed, Query, as_words, parse
from holdfast.index.search.regex import wrong_pattern


@pytest.mark.parametrize("word", ["path::join", "re::compile", "-path::x", "sym::", "lang::Go"])
def test_a_name_with_an_owner_is_no_operator(word: str) -> None:
    assert parse(f"how does {word} work") == Parsed(Query(f"how does {word} work"))


@given(
    st.lists(
        st.sampled_from(
            ["path:", "re:", "-", "\\", '"', ":", "a", " ", " ", "\n", "\n\n", "word" * 60]
        )
    ).map("".join)
)
def test_words_asked_as_plain_are_words(text: str) -> None:
    parsed = parse(as_words(text))
    assert not parsed.query.filtered
    assert not parsed.warnings
    assert parsed.query.text.split() == text.split()


@pytest.mark.shows("ANSWER-OPERATORS")
@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("parse config", Query("parse config")),
        ("parse lang:py config", Query("parse config", langs=("python",))),
        ("lang:go lang:Rust x", Query("x", langs=("go", "rust"))),
        ("lang:c++ x", Query("x", langs=("cpp",))),
        ("path:src/ -path:*_test.py x", Query("x", paths=("src/",), not_paths=("*_test.py",))),
        ('must:"two words" x', Query("x", must=("two words",))),
        (r'must:"a \"b\" \\ c"', Query(must=(r'a "b" \ c',))),
        (r"must:C:\dir x", Query("x", must=(r"C:\dir",))),
        ("exclude:deprecated x", Query("x", exclude=("deprecated",))),
        (r"re:def\s+\w+ x", Query("x", patterns=(r"def\s+\w+",))),
        (r're:"def \w+ = \"\\d"', Query(patterns=(r'def \w+ = "\\d',))),
        ("sym:Cart.total", Query(symbols=("Cart.total",))),
        (r"\lang:go is a word", Query("lang:go is a word")),
        (r"\\lang:go", Query(r"\lang:go")),
        (r"\d+ stays", Query(r"\d+ stays")),
        ("a url http://x.y", Query("a url http://x.y")),
        ('"lang:go" quoted', Query('"lang:go" quoted')),
        ("must:a must:a must:b", Query(must=("a", "b"))),
        ("x\n\nlang:go below", Query("x\n\nlang:go below")),
        ("word " * 41 + "lang:go", Query("word " * 41 + "lang:go")),
    ],
)  # fmt: skip
def test_a_query_is_taken_apart(asked: str, meant: Query) -> None:
    found = parse(asked, wrong_pattern)
    assert found.query == meant
    assert found.warnings == ()


@pytest.mark.shows("ANSWER-OPERATOR-WRONG")
@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ("lang:pyhton x", "did you mean lang:python?"),
        ("lang: x", "it has no value"),
        ('must:"" x', "it has no value"),
        ('must:"open x', "its quote is not closed"),
        ('must:"a"b x', "something follows its closing quote"),
        ("re:(unclosed x", "unterminated"),
        ("re:a{2,1} x", "re:a{2,1} is taken as plain text"),
        ("-must:x y", "unknown operator -must:"),
        ("path:/ x", "expected a path"),
        ("path:. x", "expected a path"),
        ("path:./ x", "expected a path"),
        ("sym:. x", "expected a symbol name"),
    ],
)
def test_a_wrong_operator_is_plain_text_and_says_why(asked: str, says: str) -> None:
    found = parse(asked, wrong_pattern)
    assert found.query == Query(asked)
    assert len(found.warnings) == 1
    assert says in found.warnings[0]


@pytest.mark.shows("ANSWER-OPERATOR-WRONG")
def test_an_unquoted_pattern_includes_the_words_after_it_when_they_look_like_a_pattern() -> None:
    found = parse(r"re:class \w+\(Error\) lang:python", wrong_pattern)
    assert found.query == Query(langs=("python",), patterns=(r"class \w+\(Error\)",))
    assert r're:"class \w+\(Error\)"' in found.warnings[0]
    words = parse(r"re:load_\w+ yaml config (safe)", wrong_pattern)
    assert words == Parsed(Query("yaml config (safe)", patterns=(r"load_\w+",)))
    quoted = parse(r're:"load \w+" x.*y', wrong_pattern)
    assert quoted == Parsed(Query("x.*y", patterns=(r"load \w+",)))
    anchor = parse("re:^    return basket lang:python", wrong_pattern)
    assert anchor.query == Query(langs=("python",), patterns=("^    return basket",))
    assert parse("re:^ lang:python", wrong_pattern).query.patterns == ("^",)
    broken = parse(r"re:class \w+(", wrong_pattern)
    assert broken.query == Query(r"\w+(", patterns=("class",))


words = st.text(st.characters(exclude_categories=["Zs", "Zl", "Zp", "Cc", "Cs"]), min_size=1)
plain = st.lists(
    st.one_of(words, st.sampled_from(["lang:go", "\\lang:go", "-path:", "\\\\re:x", '"', "must:"])),
    max_size=6,
).map(lambda found: " ".join(" ".join(found).split())[:180].strip())
values = st.text(
    st.sampled_from('ab "\\:/*.-\t') | st.characters(exclude_categories=["Cs"]), min_size=1
).filter(lambda text: "\n" not in text and not text.isspace() and text.strip("/.:#*! \t"))


def several(of: st.SearchStrategy[str]) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(of, max_size=2, unique=True).map(tuple)


def canonical(pattern: str) -> str:
    return parse("re:" + pattern).query.patterns[0]


patterns = st.lists(
    st.sampled_from(["a", " ", '"', r"\\", r"\d", "[", "]", ".", "x y", r"\."]), min_size=1
).map("".join)
queries = st.builds(
    Query,
    text=plain,
    langs=several(st.sampled_from(sorted(KNOWN_LANGUAGES))),
    paths=several(values.filter(lambda v: v[0] not in "!#" and not v.startswith("./"))),
    not_paths=several(values.filter(lambda v: v[0] not in "!#" and not v.startswith("./"))),
    must=several(values),
    exclude=several(values),
    patterns=several(patterns.filter(lambda p: not p.isspace())),
    symbols=several(values),
)


def typed(query: Query) -> str:
    """A query as a user types it, with the values as `written` quotes them."""
    values = [
        f"{name}:{operators.written(name, value, quoted=name == 're' and bool(query.text))}"
        for name, value in query.values()
    ]
    plain = [
        "\\" + word if operators._OPERATOR.match(word.lstrip("\\")) else word
        for word in query.text.split()
    ]
    return " ".join((*values, *plain))


@pytest.mark.shows("ANSWER-OPERATOR-ROUND")
@given(queries)
def test_what_is_written_is_parsed_into_the_same_query(query: Query) -> None:
    assert parse(typed(query)).query == query


@pytest.mark.shows("ANSWER-OPERATOR-WRONG")
@given(st.lists(st.sampled_from(["a1", "lang:zz", "re:(", "must:", "sym:.", '"', "\\", "path:/"])))
def test_nothing_that_is_no_operator_is_lost(tokens: list[str]) -> None:
    asked = " ".join(tokens)
    assert parse(asked, wrong_pattern).query == Query(asked)


@pytest.mark.shows("ANSWER-OPERATOR-WRONG")
@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("language:go", "lang:go"),
        ("file:src/a.py", "path:src/a.py"),
        ("-file:tests/", "-path:tests/"),
        ("Symbol:Cart", "sym:Cart"),
        ("LANG:py", "lang:py"),
        ("regex:a.*b", "re:a.*b"),
        ("Re:hello", None),
        ("file: x", None),
        ("file:///x", None),
        ("file::x", None),
        (r"\lang:py", None),
        ("std:cout", None),
    ],
)
def test_an_operator_by_another_name_is_plain_text_and_says_what_is_meant(
    asked: str, meant: str | None
) -> None:
    found = parse(f"{asked} y", wrong_pattern)
    assert found.query == Query(f"{asked.removeprefix(chr(92))} y")
    said = (f"{asked} is taken as plain text; did you mean {meant}?",) if meant else ()
    assert found.warnings == said


@pytest.mark.shows("ANSWER-FILTERS")
@pytest.mark.parametrize("ending", sorted(LANGUAGES))
def test_a_language_may_be_named_by_the_ending_of_its_files(ending: str) -> None:
    """`lang:tf` and `lang:jl` were unknown."""
    (language,) = parse(f"lang:{ending[1:]} x").query.langs
    assert language == LANGUAGES[ending]
