"""The order in which candidates are shown, against the same told the long way."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.index.search.fusion import diversified

WORTH = st.sampled_from([0.0, 0.25, 0.5, 1.0, 2.0])
FACTOR = st.sampled_from([0.0, 0.5, 0.9, 1.0])


@st.composite
def candidates(
    draw: st.DrawFn,
) -> tuple[list[float], list[int], list[int], list[tuple[int, int]]]:
    scores = draw(st.lists(WORTH, max_size=9))
    files = draw(st.lists(st.integers(0, 3), min_size=len(scores), max_size=len(scores)))
    ties = draw(st.permutations(range(len(scores))))
    pairs = list(permutations(range(len(scores)), 2))
    alike = draw(st.lists(st.sampled_from(pairs), max_size=8)) if pairs else []
    return scores, files, ties, alike


@given(candidates(), st.integers(0, 12), FACTOR, FACTOR)
def test_the_best_that_is_left_comes_next(
    given_: tuple[list[float], list[int], list[int], list[tuple[int, int]]],
    wanted: int,
    repeat: float,
    duplicate: float,
) -> None:
    scores, files, ties, pairs = given_
    alike = {*pairs, *((other, one) for one, other in pairs)}
    left = dict(enumerate(scores))
    expected: list[tuple[int, float]] = []
    while left and len(expected) < wanted:
        best = min(left, key=lambda i: (-left[i], ties[i]))
        expected.append((best, left.pop(best)))
        for i in left:
            if files[i] == files[best]:
                left[i] *= repeat
            elif (best, i) in alike:
                left[i] *= duplicate

    found = diversified(
        np.array(scores, dtype=np.float64), np.array(files, dtype=np.int64),
        np.array(ties, dtype=np.int64), wanted, repeat, duplicate, alike,
    )  # fmt: skip
    assert found == expected


ANY_NUMBER = st.one_of(WORTH, st.floats(allow_nan=True, allow_infinity=True))


@pytest.mark.shows("SEARCH-FINITE")
@given(st.lists(st.tuples(ANY_NUMBER, st.integers(0, 2)), max_size=9), FACTOR, FACTOR)
def test_ranking_ends_whatever_the_scores_are(
    chunks: list[tuple[float, int]], repeat: float, duplicate: float
) -> None:
    """A NaN, which equals nothing, was put back into the queue for ever."""
    scores = np.array([score for score, _ in chunks], dtype=np.float64)
    files = np.array([file for _, file in chunks], dtype=np.int64)
    pairs = list(permutations(range(len(chunks)), 2))
    found = diversified(
        scores, files, np.arange(len(chunks)), len(chunks), repeat, duplicate, pairs
    )
    assert sorted(candidate for candidate, _ in found) == list(range(len(chunks)))
    assert np.isfinite([score for _, score in found]).all()
