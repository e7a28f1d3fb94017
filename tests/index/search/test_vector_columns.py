"""Vectors kept as floats, against the bytes they were made of."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest

from holdfast.index.search import corpus as corpora
from holdfast.index.search import vector_columns
from holdfast.index.search.corpus import Corpus, Part
from holdfast.index.search.fields import FIELDS
from holdfast.index.search.file_table import File
from holdfast.index.search.posting_segment import LEVELS, PostingSegment
from holdfast.index.search.vector_columns import ASKED_BEFORE, BLOCK_ROWS, ROWS_MIN, Columns
from tests.index.search import plain

NUMBERS = 16
BLOCK_BYTES = BLOCK_ROWS * NUMBERS * 4


def segment(rows: int, seed: int) -> PostingSegment:
    """Rows of one file, without words."""
    random = np.random.default_rng(seed)
    return PostingSegment(
        np.zeros(rows, np.uint32), np.arange(rows, dtype=np.uint32), np.ones((rows, 2), np.uint32),
        np.zeros(rows, np.uint8), np.zeros((rows, FIELDS), np.uint16), np.zeros(rows, np.uint32),
        b"", np.zeros(1, np.uint32), np.empty(0, np.uint32), np.empty(0, np.uint8),
        random.integers(-LEVELS, LEVELS + 1, (rows, NUMBERS), dtype=np.int8),
        random.random(rows, dtype=np.float32),
    )  # fmt: skip


def asked_often(kept: Columns, one: PostingSegment) -> Any:
    for _ in range(ASKED_BEFORE):
        assert kept.of(one) is None
    return kept.of(one)


def bytes_kept(columns: Columns) -> int:
    return sum(use.blocks.nbytes for use in columns._uses.values() if use.blocks is not None)


@pytest.mark.shows("SEARCH-DENSE-COLUMNS")
@pytest.mark.parametrize("rows", [ROWS_MIN - 1, ROWS_MIN, ROWS_MIN + 1, 3 * BLOCK_ROWS - 7])
def test_nearness_is_the_same_before_and_after_floats_are_kept(
    rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = Columns()
    monkeypatch.setattr(corpora, "columns", kept)
    parts = [Part(segment(n, n), [File(n, f"{n}.py", "python")]) for n in (5, rows, 40)]
    corpus = Corpus(parts)
    vector = np.random.default_rng(1).normal(size=NUMBERS).astype(np.float32)
    expected = plain.nearness(corpus, vector)
    for _ in range(ASKED_BEFORE + 2):
        assert np.array_equal(corpus.nearness(vector), expected)
    assert (bytes_kept(kept) > 0) == (rows >= ROWS_MIN)


@pytest.mark.shows("SEARCH-DENSE-COLUMNS")
def test_the_segments_asked_last_stay_within_the_bound() -> None:
    kept = Columns(bytes_max=5 * BLOCK_BYTES)
    one, other, third = (segment(2 * BLOCK_ROWS, seed) for seed in range(3))
    first = asked_often(kept, one)
    assert first is not None
    assert asked_often(kept, other) is not None
    assert kept.of(one) is first
    assert asked_often(kept, third) is not None
    assert bytes_kept(kept) == 4 * BLOCK_BYTES
    assert kept.of(one) is first
    assert kept.of(other) is None, "it was asked longest ago"


def test_a_segment_larger_than_the_bound_is_never_kept() -> None:
    kept = Columns(bytes_max=2 * BLOCK_BYTES)
    large = segment(2 * BLOCK_ROWS + 1, 1)
    assert all(kept.of(large) is None for _ in range(ASKED_BEFORE + 3))
    assert bytes_kept(kept) == 0


def test_a_segment_that_nobody_has_open_takes_its_floats_with_it() -> None:
    kept = Columns()
    one = segment(ROWS_MIN, 1)
    assert asked_often(kept, one) is not None
    del one
    gc.collect()
    assert bytes_kept(kept) == 0


def test_the_bound_has_room_for_the_largest_tree_that_is_compared_row_by_row() -> None:
    blocks = -(-corpora.EXACT_ROWS_MAX // BLOCK_ROWS)
    assert blocks * BLOCK_ROWS * 256 * 4 <= vector_columns.BYTES_MAX
