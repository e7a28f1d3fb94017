"""Files as one text, and which chunk stands for a file: against plain loops."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.index.search import file_scores
from holdfast.index.search.chunk_kinds import is_container, is_prose, is_short, promote_functions
from holdfast.index.search.fields import FIELDS, Field
from holdfast.index.search.lexical import Occurrences, Within, idf
from holdfast.index.search.posting_segment import KINDS

KIND = {kind: number for number, kind in enumerate(KINDS)}
CHUNKS = st.lists(
    st.tuples(
        st.integers(0, 4),
        st.sampled_from(["module", "class", "interface", "function", "method", "property"]),
        st.integers(1, 40).map(lambda n: n / 8),
    ),
    min_size=1,
    max_size=12,
)


@pytest.mark.shows("SEARCH-SIGNAL-LEADER")
@given(CHUNKS, st.sampled_from([0.5, 0.7, 0.9]))
def test_a_head_changes_places_with_the_best_function_of_its_file(
    chunks: list[tuple[int, str, float]], share: float
) -> None:
    files = np.array([file for file, _, _ in chunks])
    kinds = np.array([KIND[kind] for _, kind, _ in chunks], dtype=np.uint8)
    scores = np.array([score for _, _, score in chunks])
    expected = scores.tolist()
    heads = {"module", "class", "interface"}
    for file in set(files.tolist()):
        mine = sorted((-scores[i], i) for i in range(len(chunks)) if files[i] == file)
        first = mine[0][1]
        plain = [i for _, i in mine if chunks[i][1] not in heads]
        if chunks[first][1] in heads and plain and scores[plain[0]] >= share * scores[first]:
            expected[first], expected[plain[0]] = scores[plain[0]], scores[first]
    found = promote_functions(scores, files, kinds, np.arange(len(chunks)), share)
    assert found.tolist() == expected


@pytest.mark.shows("SEARCH-SIGNAL-HEAD")
def test_heads_are_what_has_members() -> None:
    kinds = np.array([KIND[kind] for kind in ("class", "trait", "function", "module")], np.uint8)
    assert is_container(kinds).tolist() == [True, True, False, False]


@pytest.mark.shows("SEARCH-SIGNAL-BRIEF")
def test_brief_are_short_functions_and_short_parts_of_headers() -> None:
    kinds = np.array([KIND[kind] for kind in ("function", "function", "type", "type")], np.uint8)
    lines = np.array([[7, 9], [7, 10], [1, 1], [1, 1]])
    in_header = np.array([False, True, False, True])
    assert is_short(kinds, lines, in_header).tolist() == [True, False, False, True]


@pytest.mark.shows("SEARCH-SIGNAL-PROSE")
def test_prose_has_twice_as_many_words_of_doc_comment_as_of_code_and_is_not_a_head() -> None:
    chunks = [("method", 20, 36), ("method", 20, 37), ("class", 20, 26), ("method", 0, 6)]
    kinds = np.array([KIND[kind] for kind, _, _ in chunks], np.uint8)
    lengths = np.zeros((len(chunks), FIELDS), np.uint16)
    lengths[:, Field.DOC] = [doc for _, doc, _ in chunks]
    lengths[:, Field.BODY] = [body for _, _, body in chunks]
    lengths[:, Field.SIGNATURE] = 6
    assert is_prose(kinds, lengths).tolist() == [True, False, False, False]


def corpus(file_of: list[int], norms: list[float]) -> Any:
    return SimpleNamespace(
        files=norms,
        file_of=np.array(file_of),
        filled=len(set(file_of)),
        file_norms=np.array(norms),
        exhaustive=True,
    )


WORDS = st.lists(
    st.tuples(st.lists(st.tuples(st.integers(0, 5), st.integers(1, 9))), st.sampled_from([1, 0.4])),
    max_size=4,
)


@pytest.mark.shows("SEARCH-SIGNAL-FILE-WORDS")
@given(WORDS)
def test_a_file_counts_by_the_words_of_all_its_chunks(
    words: list[tuple[list[tuple[int, int]], float]],
) -> None:
    file_of, norms = [0, 0, 1, 1, 1, 2], [1.0, 1.5, 0.5]
    found_words = []
    expected = [0.0, 0.0, 0.0]
    for entries, asked in words:
        nothing: Any = np.empty(0)
        sums = [sum(v for r, v in entries if file_of[r] == file) for file in range(3)]
        in_files = np.array(sums, dtype=np.float64)
        files = sum(total > 0 for total in sums)
        word = Occurrences(nothing, nothing, nothing, (), nothing, files, 1.0, asked)
        found_words.append(Within(nothing, nothing, nothing, in_files, word))
        weight = asked * idf(3, files)
        for file, total in enumerate(sums):
            often = total / norms[file]
            expected[file] += weight * often / (often + file_scores.SATURATION)
    best = max(expected)
    found = file_scores.file_bm25(found_words, corpus(file_of, norms), np.array([0, 1, 2]))
    assert found == pytest.approx([one / best if best else 0.0 for one in expected])


@pytest.mark.shows("SEARCH-SIGNAL-FILE-MEANING")
@given(st.lists(st.integers(-8, 8), min_size=6, max_size=6))
def test_a_file_is_as_near_as_its_chunks_are_together(eighths: list[int]) -> None:
    file_of = [0, 0, 1, 1, 1, 2]
    near = np.array([n / 8 for n in eighths], dtype=np.float32)
    means = []
    for file in (0, 2):
        mine = [max(0, n / 8) ** 2 for n, of in zip(eighths, file_of, strict=True) if of == file]
        means.append(math.sqrt(sum(mine) / len(mine)))
    high = max(means)
    found = file_scores.file_similarity(near[[0, 1, 5]], np.array([0, 0, 1]), 2)
    assert found == pytest.approx([one / high if high else 0.0 for one in means])
