"""What a question asks for: a table of questions and what they are taken for."""

from __future__ import annotations

import re
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.index.search.query_analysis import (
    _MENTIONED,
    _ROLE_MARKS,
    _ROLES,
    SPOKEN_MAX,
    Kind,
    Name,
    _is_error,
    analyze,
)
from tests.scale import size


@pytest.mark.shows("SEARCH-UNDERSTAND-KIND")
@pytest.mark.parametrize(
    ("query", "kind"),
    [
        # Names.
        ("retry", "symbol"),
        ("parseHTTP", "symbol"),
        ("HTTPAdapter.send", "symbol"),
        ("std::vector::push_back", "symbol"),
        ("Foo->bar()", "symbol"),
        ("`get_user`", "symbol"),
        ("class Session", "symbol"),
        ("def parse_args", "symbol"),
        ("getUser setUser", "symbol"),
        ("String#upcase", "symbol"),
        # Paths.
        ("auth/session.py", "path"),
        ("session.py", "path"),
        ("src/lib/", "path"),
        # Messages.
        ("KeyError: 'no route'", "error"),
        ("unable to open database file: %s", "error"),
        ("panicked at index out of bounds", "error"),
        ("TypeError: x is not a function", "error"),
        ("Traceback (most recent call last)", "error"),
        # Words.
        ("how are cookies stored in the session", "question"),
        ("web socket handshake", "question"),
        ("JSON parsing", "question"),
        ("What happens when a request times out?", "question"),
        ("retry with exponential backoff", "question"),
        # Words with names among them.
        ("where is parse_http called", "mixed"),
        ("how does HTTPAdapter retry requests", "mixed"),
        ("what does session.py keep in memory", "mixed"),
    ],
)
def test_the_kind_of_a_question(query: str, kind: Kind) -> None:
    assert analyze(query).kind == kind


@pytest.mark.shows("SEARCH-UNDERSTAND-NAMES")
@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("HTTPAdapter.send", [Name("send", "httpadapter")]),
        ("std::vector::push_back", [Name("pushback", "vector")]),
        ("where is parse_http called", [Name("parsehttp")]),
        ("class Session", [Name("session", style="type")]),
        ("`load` a file", [Name("load")]),
        ("load() on start", [Name("load")]),
        ("how are cookies stored", []),
        ("What is a Session", []),
        ("src/auth/session.py", []),
        ("e.g. this", []),
    ],
)
def test_names_are_told_from_words(query: str, names: list[Name]) -> None:
    assert list(analyze(query).names) == names


@pytest.mark.shows("SEARCH-UNDERSTAND-WORDS")
def test_words_that_say_nothing_are_left_out_unless_they_are_all() -> None:
    assert [word.term for word in analyze("how does the parser work").words] == ["pars", "work"]
    assert [word.term for word in analyze("what is it").words] == ["what", "is", "it"]


@pytest.mark.shows("SEARCH-UNDERSTAND-WORDS")
@pytest.mark.parametrize("query", ["a server's host key", "a server\u2019s host key"])
def test_a_possessive_is_not_a_word(query: str) -> None:
    assert [word.term for word in analyze(query).words] == ["serv", "host", "key"]


@pytest.mark.shows("SEARCH-UNDERSTAND-WORDS")
def test_what_programmers_write_for_a_word_is_looked_for_too() -> None:
    (word,) = analyze("configuration").words
    assert {"config", "cfg", "conf"} <= set(word.others)
    (word,) = analyze("msg").words
    assert "messag" in word.others


@pytest.mark.shows("SEARCH-UNDERSTAND-JOINS")
def test_neighbouring_words_may_be_one_name() -> None:
    assert "websocket" in analyze("web socket handshake").joins
    assert "getuserbyid" in analyze("get user by id").joins
    assert not any(join.startswith("the") for join in analyze("the web socket").joins)


@pytest.mark.shows("SEARCH-UNDERSTAND-ROLES")
@pytest.mark.parametrize(
    ("query", "role"),
    [("tests of the parser", "test"), ("example of a plugin", "example"),
     ("benchmark of sorting", "benchmark"), ("deprecated api", "legacy"),
     ("vendored copy of zlib", "vendored"), ("readme", "document"),
     ("how is the parser tested", "test"), ("unit tests that cover dates", "test"),
     ("parser tests", "test"), ("test parser", "test"), ("demo app with two users", "example"),
     ("generated code of the parser", "generated")],
)  # fmt: skip
def test_roles_that_are_asked_for_are_wanted(query: str, role: str) -> None:
    assert role in analyze(query).wants
    assert not analyze("parse http headers").wants


@pytest.mark.shows("SEARCH-UNDERSTAND-ROLES")
def test_the_specs_of_types_are_not_tests() -> None:
    question = analyze("print the documentation and type specs of a function")
    assert "test" not in question.wants | question.mentions
    assert "test" in analyze("the specs of a function").wants


@pytest.mark.shows("SEARCH-UNDERSTAND-ROLES")
@pytest.mark.parametrize(
    ("query", "role"),
    [("run each test in a process of its own", "test"), ("how does a suite run its tests", "test"),
     ("mock a function at run time", "test"), ("draw samples from a distribution", "example"),
     ("how are ids generated", "generated"), ("write the report as xml", "data")],
)  # fmt: skip
def test_a_program_may_be_about_what_is_a_role_elsewhere(query: str, role: str) -> None:
    """In a framework for tests every question speaks of tests, and few ask for the tests of it."""
    question = analyze(query)
    assert role in question.mentions
    assert role not in question.wants


@pytest.mark.shows("SEARCH-UNDERSTAND-KIND")
@given(st.text(max_size=80))
def test_any_text_is_some_question_and_always_the_same(text: str) -> None:
    one = analyze(text)
    assert one.kind in get_args(Kind)
    assert one == analyze(text)


_WRITTEN_OUT = re.compile(
    r"""
    \b\w*(?:Error|Exception|Panic|Fault)\b\s*:
    | \b(?:traceback|stack\s?trace|panicked\ at|segmentation\ fault|undefined\ reference|errno)\b
    | \b(?:cannot|can't|could\ not|couldn't|unable\ to|failed\ to|must\ be|expected|invalid|
           unexpected|no\ such|not\ found|is\ not\ a|missing)\b .* ["'`:%{]
    | ^["'].*\s.*["']$
    | %[sdvr]\b | \{\}
    """,
    re.VERBOSE | re.IGNORECASE,
)
said = st.lists(
    st.sampled_from(
        ["cannot", "no such", "Invalid", "missing", "a", " ", "\n", '"', "'", ":", "%s", "%", "{",
         "{}", "KeyError", "errno", "\t", "xinvalid"]
    ),
    min_size=1,
).map("".join)  # fmt: skip


@given(said)
def test_a_message_is_told_as_by_one_pattern_that_says_it_all(text: str) -> None:
    """The twin is the whole rule in one pattern, which takes minutes for a long text."""
    text = text.strip()
    if text:
        assert _is_error(text) is (_WRITTEN_OUT.search(text) is not None)


@pytest.mark.parametrize(
    "piece", ["invalid ", '"a ', "cannot x ", "KeyError ", "a/", "A.", "`", "("]
)
def test_a_long_text_is_understood_in_proportion_to_its_length(piece: str) -> None:
    """`invalid` a hundred thousand times over kept a search busy for half an hour."""
    assert analyze(piece * size(100_000, 3_000)).text


def test_only_so_many_words_are_looked_for() -> None:
    asked = analyze(" ".join(f"word{n}x" for n in range(SPOKEN_MAX + 200)))
    assert {word.text for word in asked.words} >= {"word0x", f"word{SPOKEN_MAX - 1}x"}
    assert f"word{SPOKEN_MAX}x" not in {word.text for word in asked.words}
    assert len(asked.joins) < SPOKEN_MAX * 3


@given(st.data())
def test_a_text_that_asks_for_a_role_has_one_of_its_marks(data: st.DataObject) -> None:
    _, pattern = data.draw(st.sampled_from([*_ROLES, *_MENTIONED]))
    text = data.draw(st.from_regex(re.compile(pattern.pattern)))
    assert any(mark in text for mark in _ROLE_MARKS)


@given(st.lists(st.sampled_from(["retry", "Größe", "naïve", "delay", "x"]), min_size=2, max_size=5))
def test_plain_words_are_no_names(words: list[str]) -> None:
    names = analyze(" ".join(words).lower()).names
    assert names == ()
