"""Lookups in the terms of a segment, by their bytes and by the first terms of blocks."""

from __future__ import annotations

from bisect import bisect_left

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.index.search import term_list
from holdfast.index.search.term_list import BLOCK_TERMS, TermList

WORDS = st.text(alphabet="ab=é\U0010ffff", min_size=1, max_size=5)


@pytest.mark.shows("SEARCH-SEGMENT-TWIN")
@pytest.mark.parametrize("asked_before", [0, 10**9])
@given(st.sets(WORDS, max_size=4 * BLOCK_TERMS), st.lists(WORDS, min_size=1, max_size=20))
def test_a_term_is_found_where_bisect_finds_it(
    asked_before: int, words: set[str], asked: list[str]
) -> None:
    terms = sorted(words)
    found = TermList("\n".join(terms).encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(term_list, "ASKED_BEFORE_BLOCKS", asked_before)
        for term in [*asked, *terms]:
            assert found.place(term) == (bisect_left(terms, term), term in words)
            assert found.number(term) == (terms.index(term) if term in words else -1)
            alike = [n for n, other in enumerate(terms) if other.startswith(term)]
            first, there, after = found.with_prefix(term)
            assert list(range(first, after)) == alike
            assert there == (term in words)


@pytest.mark.shows("SEARCH-SEGMENT-TWIN")
@pytest.mark.parametrize("asked_before", [0, 10**9])
def test_a_term_with_the_end_of_a_line_is_never_found(asked_before: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(term_list, "ASKED_BEFORE_BLOCKS", asked_before)
        found = TermList(b"a\nb\nc")
        assert found.number("a\nb") == -1
        first, there, after = found.with_prefix("a\nb")
        assert (there, after) == (False, first)
