"""The terms that text counts as."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.index.generations.fingerprint import SCHEMA_VERSION
from holdfast.index.search.terms import compact, parts, split, stem, terms, words


@pytest.mark.shows("SEARCH-TERMS-SPLIT")
@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("parseHTTPHeaders", ("pars", "http", "header", "parsehttpheaders")),
        ("parse_http_headers", ("pars", "http", "header", "parsehttpheaders")),
        ("ParseHttpHeaders", ("pars", "http", "header", "parsehttpheaders")),
        ("PARSE_HTTP", ("pars", "http", "parsehttp")),
        ("utf8", ("utf", "8", "utf8")),
        ("HTTP2Server", ("http", "2", "serv", "http2server")),
        ("__init__", ("init",)),
        ("x", ("x",)),
        ("_", ()),
        ("größe", ("größe",)),
        ("1234567", ()),
        ("a" * 65, ()),
    ],
)
def test_an_identifier_counts_as_its_parts_and_as_itself(
    word: str, expected: tuple[str, ...]
) -> None:
    assert split(word) == expected


@pytest.mark.shows("SEARCH-TERMS-SPLIT")
@pytest.mark.parametrize(
    "style", ["getUserById", "get_user_by_id", "GetUserById", "GET_USER_BY_ID"]
)
def test_every_style_of_one_name_is_one_compact_term(style: str) -> None:
    assert compact(style) == "getuserbyid"
    assert split(style)[-1] == "getuserbyid"


@pytest.mark.shows("SEARCH-TERMS-STEM")
@pytest.mark.parametrize(
    "family",
    [
        "parse parser parsers parsing parsed parses",
        "handle handler handlers handling handled",
        "validate validation validator validating validated validates",
        "serialize serialization serializer serializing serializable",
        "connect connection connections connector connecting connected",
        "run running runner runs",
        "query queries querying",
        "cookie cookies",
        "retry retries retrying",
        "create created creating creation creator",
        "manage manager management managing",
        "index indexes indexing indexer indexed",
        "iterate iterator iteration iterations",
        "render rendering renderer renders",
        "filter filters filtering filtered",
        "class classes",
        "stop stopped stopping stops",
    ],
)
def test_endings_of_one_word_fall_away(family: str) -> None:
    assert len({stem(word) for word in family.split()}) == 1


@pytest.mark.shows("SEARCH-TERMS-STEM")
@pytest.mark.parametrize(
    "pair",
    ["header head", "number numb", "user use", "string str", "status state", "error err",
     "test text", "port portion", "session sess", "buffer buff"],
)  # fmt: skip
def test_different_words_stay_apart(pair: str) -> None:
    one, other = pair.split()
    assert stem(one) != stem(other)


@pytest.mark.shows("SEARCH-TERMS-STEM")
@given(st.text(max_size=30))
def test_any_text_has_terms_that_are_lower_case_and_have_no_space(text: str) -> None:
    for term in terms(text):
        assert term
        assert "\n" not in term
        assert "=" not in term
        assert term == term.lower() or not term.isascii()


@pytest.mark.shows("SEARCH-TERMS-SPLIT")
@given(st.text(alphabet="abcABC_09", min_size=1, max_size=20))
def test_parts_put_together_are_the_compact_name(word: str) -> None:
    assert "".join(parts(word)) == compact(word)


def test_words_for_the_stand_in_embedding_keep_their_endings() -> None:
    assert words("parse_http(requests)") == ["parse_http", "parse", "http", "requests"]


def test_what_text_counts_as_changes_only_with_the_schema() -> None:
    """Stored postings hold these terms: other ones need another schema in the fingerprint."""
    text = "parseHTTPResponse2 retries_failed_payments Größe IOError __init__ movies colours v2"
    counted = (
        "pars http respons 2 parsehttpresponse2 retri fail payment retriesfailedpayments größe "
        "io error ioerror init movi colour v 2 v2"
    )
    assert (SCHEMA_VERSION, " ".join(terms(text))) == ("holdfast_hybrid_v2", counted)
