"""The lengths of fields are added exactly, however many rows there are."""

from __future__ import annotations

import numpy as np
import pytest

from holdfast.index.search.fields import FIELDS, SUMMED_ROWS, column_sums


@pytest.mark.shows("SEARCH-CORPUS-FOLLOWS")
@pytest.mark.parametrize(
    "rows", [0, 1, SUMMED_ROWS - 1, SUMMED_ROWS, SUMMED_ROWS + 1, 3 * SUMMED_ROWS + 7]
)
def test_the_sum_of_each_field_is_that_of_its_rows(rows: int) -> None:
    lengths = np.random.default_rng(rows).integers(0, 65_536, (rows, FIELDS)).astype(np.uint16)
    expected = [sum(column) for column in zip(*lengths.tolist(), strict=True)] or [0] * FIELDS
    assert column_sums(lengths).tolist() == expected


def test_the_sum_of_the_longest_fields_does_not_overflow() -> None:
    lengths = np.full((200_000, FIELDS), 65_535, np.uint16)
    assert column_sums(lengths).tolist() == [200_000 * 65_535] * FIELDS
