"""The filters over signs, judged by the same in plain words."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.index.search import sign_filter
from holdfast.index.search.fusion import SAMPLE_MIN, SAMPLED
from holdfast.index.search.sign_filter import AT_ONCE, count_differences, fewest_differences


@pytest.mark.shows("SEARCH-DENSE-SIGNS")
@pytest.mark.parametrize("words", [1, 2, 4, 5])
@pytest.mark.parametrize("rows", [0, 1, AT_ONCE - 1, AT_ONCE + 3])
def test_differences_are_counted_bit_by_bit(rows: int, words: int) -> None:
    rng = np.random.default_rng(rows + words)
    signs = rng.integers(0, 2**64, (rows, words), dtype=np.uint64)
    asked = rng.integers(0, 2**64, words, dtype=np.uint64)
    if rows:
        signs[0] = ~asked
    found = np.empty(rows, dtype=np.int16)
    count_differences(signs, asked, found)
    differ = np.bitwise_xor(signs, asked).view(np.uint8)
    assert found.tolist() == np.unpackbits(differ, axis=1).sum(axis=1).tolist()


@pytest.mark.shows("SEARCH-DENSE-SIGNS")
@given(st.integers(0, 2**32), st.sampled_from([5, 300, 2 * SAMPLED * SAMPLE_MIN]), st.data())
def test_the_rows_with_the_fewest_differences_are_kept_with_all_ties(
    seed: int, rows: int, data: st.DataObject
) -> None:
    """The sample may estimate too few; then all rows are counted."""
    most = 9
    apart = np.random.default_rng(seed).integers(0, most + 1, rows).astype(np.int16)
    if data.draw(st.booleans()):
        apart[::SAMPLED] = data.draw(st.integers(0, most))
    wanted = data.draw(st.integers(1, rows))
    last = min(int(np.sort(apart)[wanted - 1]), most - 1)
    assert (
        fewest_differences(apart, most, wanted).tolist() == np.flatnonzero(apart <= last).tolist()
    )


@pytest.mark.shows("SEARCH-DENSE-SIGNS")
def test_lost_weight_is_the_sum_of_the_levels_whose_sign_differs() -> None:
    rng = np.random.default_rng(3)
    signs = rng.integers(0, 2**64, (40, 2), dtype=np.uint64)
    asked = rng.integers(0, 2**64, 2, dtype=np.uint64)
    levels = rng.integers(-511, 512, 100).astype(np.float32)
    differ = np.unpackbits(np.bitwise_xor(signs, asked).view(np.uint8), axis=1)[:, :100]
    expected = (differ * np.abs(levels)).sum(axis=1)
    assert sign_filter.lost_weight(signs, asked, levels).tolist() == expected.tolist()
