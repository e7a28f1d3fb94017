"""The final order of candidates, against a loop that looks for the best one each time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.index.search.fusion import SAMPLE_MAX, SAMPLED, diversified, top_rows

SCORE = st.sampled_from([0.0, 0.25, 0.5, 1.0, 2.0])
FACTOR = st.sampled_from([0.0, 0.5, 0.9, 1.0])
ANY_NUMBER = st.one_of(SCORE, st.floats(allow_nan=True, allow_infinity=True))


@st.composite
def candidates(draw: st.DrawFn) -> tuple[list[float], list[int], list[int]]:
    scores = draw(st.lists(SCORE, max_size=9))
    files = draw(st.lists(st.integers(0, 3), min_size=len(scores), max_size=len(scores)))
    return scores, files, draw(st.permutations(range(len(scores))))


@given(candidates(), st.integers(0, 12), FACTOR)
def test_the_best_that_is_left_comes_next(
    given_: tuple[list[float], list[int], list[int]], wanted: int, repeat: float
) -> None:
    scores, files, ties = given_
    left = dict(enumerate(scores))
    expected: list[tuple[int, float]] = []
    while left and len(expected) < wanted:
        best = min(left, key=lambda i: (-left[i], ties[i]))
        expected.append((best, left.pop(best)))
        for i in left:
            if files[i] == files[best]:
                left[i] *= repeat
    found = diversified(
        np.array(scores, dtype=np.float64),
        np.array(files, dtype=np.int64),
        np.array(ties, dtype=np.int64),
        wanted,
        repeat,
    )
    assert found == expected


@pytest.mark.shows("SEARCH-FINITE")
@given(st.lists(st.tuples(ANY_NUMBER, st.integers(0, 2)), max_size=9), FACTOR)
def test_ranking_ends_whatever_the_scores_are(
    chunks: list[tuple[float, int]], repeat: float
) -> None:
    """A NaN, which equals nothing, was put back into the queue for ever."""
    scores = np.array([score for score, _ in chunks], dtype=np.float64)
    files = np.array([file for _, file in chunks], dtype=np.int64)
    found = diversified(scores, files, np.arange(len(chunks)), len(chunks), repeat)
    assert sorted(candidate for candidate, _ in found) == list(range(len(chunks)))
    assert np.isfinite([score for _, score in found]).all()


@pytest.mark.parametrize("rows", [10, 20_000, 5 * SAMPLED * SAMPLE_MAX // 2])
@pytest.mark.parametrize("levels", [3, 10_000])
@pytest.mark.parametrize("sampled", ["any", "best", "worst"])
def test_the_best_rows_do_not_depend_on_the_sample(rows: int, levels: int, sampled: str) -> None:
    """The threshold that the sample suggests may be too high or too low; it only costs time."""
    rng = np.random.default_rng(rows + levels)
    scores = rng.integers(0, levels, rows).astype(np.float64)
    if sampled != "any":
        scores[::SAMPLED] = levels if sampled == "best" else 0.0
    ties = rng.permutation(rows)
    for limit in (1, 480):
        best = np.lexsort((ties, -scores))[:limit]
        best = best[scores[best] > 0]
        assert top_rows(scores, ties, limit, 0.0).tolist() == best.tolist()
