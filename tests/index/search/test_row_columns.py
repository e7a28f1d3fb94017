"""Columns of rows: the same values whether they are joined or read from the segments."""

from __future__ import annotations

import random
import tracemalloc

import numpy as np
import pytest

from holdfast.index.search.corpus import Corpus, Part
from holdfast.index.search.fields import FIELDS
from holdfast.index.search.file_table import File
from holdfast.index.search.posting_segment import PostingSegment
from holdfast.index.search.row_columns import JOINED_ROWS_MAX, Column


def _pieces(dice: random.Random) -> tuple[list[np.ndarray], list[int]]:
    numbers = np.random.default_rng(dice.randrange(2**32))
    pieces = [
        numbers.integers(0, 60_000, (dice.randrange(1, 40), FIELDS)).astype(np.uint16)
        for _ in range(dice.randrange(1, 7))
    ]
    return pieces, np.cumsum([0, *map(len, pieces[:-1])]).tolist()


@pytest.mark.parametrize("seed", range(30))
def test_pieces_have_the_values_of_the_joined_column(seed: int) -> None:
    dice = random.Random(seed)
    pieces, firsts = _pieces(dice)
    joined, apart = Column(pieces, firsts, np.int64), Column(pieces, firsts, np.int64, 0)
    whole = np.concatenate(pieces)
    for count in (0, 1, 5, 300):
        rows = np.array([dice.randrange(len(whole)) for _ in range(count)], dtype=np.int64)
        fields = np.array([dice.randrange(FIELDS) for _ in range(count)], dtype=np.uint8)
        before = rows.copy()
        for some in (rows, np.sort(rows)):
            for column in (joined, apart):
                assert (column[some] == whole[some]).all()
                assert column[some].dtype == np.int64
                assert (column.cells(some, fields) == whole[some, fields]).all()
        assert (rows == before).all()
    assert (apart[len(whole) - 1] == whole[-1]).all()


def _segment(rows: int) -> PostingSegment:
    numbers = np.arange(rows, dtype=np.uint32)
    return PostingSegment(
        slots=numbers // 10,
        ordinals=numbers % 10,
        lines=np.ones((rows, 2), np.uint32),
        kinds=np.zeros(rows, np.uint8),
        lengths=np.ones((rows, FIELDS), np.uint16),
        digests=numbers,
        joined_terms=b"",
        starts=np.zeros(1, np.uint32),
        entry_rows=np.empty(0, np.uint32),
        entry_counts=np.empty(0, np.uint8),
        vectors=np.empty((rows, 0), np.int8),
        scales=np.empty(0, np.float32),
    )


def test_a_large_corpus_keeps_few_bytes_for_each_row() -> None:
    """The columns of its rows stay in the segments, which are mapped files: for the first answer
    of a process, nothing is joined."""

    def kept(segments: int) -> int:
        rows = 50_000
        segment = _segment(rows)
        files = [File(number, f"{number}.py", "python") for number in range(rows // 10)]
        tracemalloc.start()
        corpus = Corpus(Part(segment, files) for _ in range(segments))
        worths = corpus.field_worths([1.0] * FIELDS, [0.5] * FIELDS)
        some = np.arange(0, corpus.rows, 1_000)
        assert corpus.lines[some].shape == (len(some), 2)
        worths(some, np.zeros(len(some), dtype=np.uint8))
        held = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        assert corpus.rows == rows * segments
        return held

    few, many = JOINED_ROWS_MAX // 50_000 + 1, 2 * JOINED_ROWS_MAX // 50_000 + 1
    # A file and the row's place in it, and whether it is current; nothing else for each row.
    assert (kept(many) - kept(few)) / ((many - few) * 50_000) <= 16


def test_an_empty_corpus_has_columns_of_no_rows() -> None:
    corpus, nothing = Corpus([]), np.empty(0, dtype=np.int64)
    assert corpus.lengths[nothing].shape == (0, FIELDS)
    assert corpus.lines[nothing].shape == (0, 2)
    assert len(corpus.file_norms) == 0
