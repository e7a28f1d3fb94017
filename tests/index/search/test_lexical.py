"""The lexical lane against BM25F written out for one chunk at a time."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.index.facts.model import decode
from holdfast.index.generations.model import PreparedFile
from holdfast.index.search import lexical
from holdfast.index.search.corpus import Corpus
from holdfast.index.search.fields import FIELDS, Field, Fields, fields_of
from holdfast.index.search.file_scores import rows_of_files
from holdfast.index.search.file_table import File
from holdfast.index.search.lexical import rank_lexical
from holdfast.index.search.query_analysis import analyze
from holdfast.index.search.terms import compact, terms
from holdfast.index.search.weights import WEIGHTS, Weights
from tests.index.search.samples import corpus_apart, corpus_of, prepared, queries, trees
from tests.scale import examples

Counts = list[Counter[str]]


def counted(file: PreparedFile) -> list[Counts]:
    """For each chunk and field, how often each term stands there."""
    facts = decode(file.facts)
    found = []
    for one in fields_of(facts, {chunk.start: chunk.text for chunk in file.chunks}):
        counts: Counts = []
        for field, text in enumerate(one.texts()):
            met = Counter(terms(text)) if field != Field.CALL else Counter[str]()
            if field in (Field.NAME, Field.STEM):
                met.update("=" + compact(word) for word in text.split())
            counts.append(met)
        found.append(counts)
    return found


def length(counts: Counter[str]) -> int:
    return sum(n for term, n in counts.items() if not term.startswith("="))


def brute(
    files: dict[str, PreparedFile], query: str, weights: Weights
) -> dict[tuple[str, int], float]:
    """BM25F of every chunk, in plain Python."""
    question = analyze(query)
    chunks = {
        (path, ordinal): counts
        for path, file in files.items()
        for ordinal, counts in enumerate(counted(file))
    }
    worths, slopes = weights.fields.weights(), weights.fields.slopes()
    averages = [
        sum(length(counts[field]) for counts in chunks.values()) / max(1, len(chunks)) or 1.0
        for field in range(FIELDS)
    ]

    def frequency(counts: Counts, forms: list[tuple[str, bool, float]]) -> float:
        total = 0.0
        for field in range(FIELDS):
            norm = 1 - slopes[field] + slopes[field] * length(counts[field]) / averages[field]
            for term, prefix, share in forms:
                n = sum(
                    min(31, m)
                    for t, m in counts[field].items()
                    if (t.startswith(term) if prefix else t == term)
                )
                total += worths[field] * n * share / max(norm, 1e-3)
        return total

    asked: list[tuple[list[tuple[str, bool, float]], float]] = []
    for word in question.words:
        forms = [(word.term, False, 1.0)]
        forms += [(other, False, weights.stemmates) for other in word.others]
        if len(word.term) >= 3:
            forms.append((word.term, True, weights.prefix))
        asked.append((forms, 1.0))
    asked += [([(join, False, 1.0)], weights.joined) for join in question.joins]
    scores = dict.fromkeys(chunks, 0.0)
    for forms, share in asked:
        values = {key: frequency(counts, forms) for key, counts in chunks.items()}
        exact = sum(
            any(forms[0][0] in counts[field] for field in range(FIELDS))
            for counts in chunks.values()
        )
        containing = exact or sum(value > 0 for value in values.values())
        if not containing:
            continue
        idf = math.log(1 + (len(chunks) - containing + 0.5) / (containing + 0.5))
        for key, value in values.items():
            scores[key] += share * idf * value / (value + weights.fields.saturation)
    return scores


def ranked(corpus: Corpus, query: str, weights: Weights) -> dict[tuple[str, int], float]:
    scores = rank_lexical(analyze(query), corpus, weights).scores
    return {
        (corpus.files[corpus.file_of[row]].path, int(corpus.ordinals[row])): float(scores[row])
        for row in range(corpus.rows)
        if corpus.alive[row]
    }


@pytest.mark.shows("SEARCH-LEXICAL-TWIN")
@settings(max_examples=examples(60))
@given(trees, queries)
def test_the_lexical_lane_is_bm25_over_fields(tree: dict[str, str], query: str) -> None:
    files = {path: prepared(path, text) for path, text in tree.items()}
    expected = brute(files, query, WEIGHTS)
    assert ranked(corpus_of(files), query, WEIGHTS) == pytest.approx(expected, rel=1e-5, abs=1e-6)


@pytest.mark.shows("SEARCH-LEXICAL-LAYOUT")
@settings(max_examples=examples(60))
@given(trees, queries)
def test_scores_do_not_depend_on_how_rows_lie(tree: dict[str, str], query: str) -> None:
    files = {path: prepared(path, text) for path, text in tree.items()}
    one, other = corpus_of(files), corpus_apart(files)
    assert ranked(one, query, WEIGHTS) == ranked(other, query, WEIGHTS)
    vector = np_vector(query)
    assert near(one, vector) == near(other, vector)


def np_vector(query: str) -> object:
    from tests.index.search.samples import PROVIDER

    return PROVIDER.embed_query(query)[0]


def near(corpus: Corpus, vector: object) -> dict[tuple[str, int], float]:
    scores = corpus.nearness(vector)  # type: ignore[arg-type]
    return {
        (corpus.files[corpus.file_of[row]].path, int(corpus.ordinals[row])): float(scores[row])
        for row in range(corpus.rows)
    }


@pytest.mark.shows("SEARCH-LEXICAL-FIELDS")
def test_a_word_in_a_name_counts_more_than_in_a_body() -> None:
    files = {
        "a.py": prepared("a.py", "def total(x):\n    return other(x, y)\n"),
        "b.py": prepared("b.py", "def other(x):\n    return total(x, y)\n"),
    }
    scores = ranked(corpus_of(files), "total", WEIGHTS)
    assert scores["a.py", 0] > scores["b.py", 0] > 0


@pytest.mark.shows("SEARCH-LEXICAL-PREFIX")
def test_a_beginning_counts_less_than_the_word() -> None:
    files = {
        "a.py": prepared("a.py", "def one(x):\n    return auth(x)\n"),
        "b.py": prepared("b.py", "def two(x):\n    return authorship(x)\n"),
        "c.py": prepared("c.py", "def three(x):\n    return nothing(x)\n"),
    }
    scores = ranked(corpus_of(files), "auth", WEIGHTS)
    assert scores["a.py", 0] > scores["b.py", 0] > scores["c.py", 0] == 0
    without = ranked(corpus_of(files), "auth", WEIGHTS.without("prefix"))
    assert without["b.py", 0] == 0


@pytest.mark.shows("SEARCH-LEXICAL-STEM")
def test_a_question_about_parsing_finds_a_parser() -> None:
    files = {
        "a.py": prepared("a.py", "def run(x):\n    return Parser(x)\n"),
        "b.py": prepared("b.py", "def run(x):\n    return Printer(x)\n"),
    }
    scores = ranked(corpus_of(files), "parsing", WEIGHTS)
    assert scores["a.py", 0] > 0 == scores["b.py", 0]


@pytest.mark.shows("SEARCH-DENSE-SIGNS")
def test_in_a_large_tree_the_nearest_are_found_by_signs_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import numpy as np

    from holdfast.index.search import corpus as corpora
    from holdfast.index.search import posting_segment as segments
    from holdfast.index.search.postings import Rows, postings

    rng = np.random.default_rng(5)
    centres = rng.normal(size=(40, 64))
    rows = centres[rng.integers(0, 40, 3000)] + 0.4 * rng.normal(size=(3000, 64))
    rows = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    bare = Rows([Fields(*[""] * 8)] * 3000, [(1, 1)] * 3000, ["module"] * 3000)
    base = segments.unpack_file(postings([bare])[0])
    segment = segments.with_vectors(base, rows.tobytes(), 64)
    corpus = corpora.Corpus([corpora.Part(segment, [File(1, "a.py", "python")])])
    asked = [rows[i] + 0.1 * rng.normal(size=64).astype(np.float32) for i in range(0, 200, 10)]
    exact = [corpus.nearness(vector) for vector in asked]
    for vector, near in zip(asked, exact, strict=True):
        assert np.abs(near - rows @ vector).max() < 0.02
    monkeypatch.setattr(corpora, "EXACT_ROWS_MAX", 10)
    monkeypatch.setattr(corpora, "BY_SIGNS", 600)
    found = kept = 0
    for vector, near in zip(asked, exact, strict=True):
        some = corpus.nearness(vector)
        assert set(np.unique(some[some != near])) <= {0.0}
        best = np.argsort(-near)[:20]
        found += int((some[best] == near[best]).sum())
        kept += 20
        assert np.array_equal(corpus.nearness_of(vector, best), near[best])
    assert found / kept > 0.98


@pytest.mark.shows("SEARCH-DENSE-SIGNS")
@pytest.mark.parametrize("dimension", [64, 72])
def test_of_the_rows_found_by_signs_those_are_kept_that_lose_least_of_the_query(
    monkeypatch: pytest.MonkeyPatch, dimension: int
) -> None:
    """A few large numbers decide what is near, and many small ones how many signs agree."""
    import numpy as np

    from holdfast.index.search import corpus as corpora
    from holdfast.index.search import posting_segment as segments
    from holdfast.index.search.postings import Rows, postings

    rng = np.random.default_rng(6)
    count, first, last = 1200, 500, 90
    peaks = np.zeros((count, dimension))
    peaks[np.arange(count), rng.integers(0, dimension, count)] = 3.0
    rows = (peaks + 0.2 * rng.normal(size=(count, dimension))).astype(np.float32)
    halves: list[corpora.Part] = []
    for half in (rows[:700], rows[700:]):
        bare = Rows([Fields(*[""] * 8)] * len(half), [(1, 1)] * len(half), ["module"] * len(half))
        base = segments.unpack_file(postings([bare])[0])
        segment = segments.with_vectors(base, half.tobytes(), dimension)
        name = f"{len(halves)}.py"
        halves.append(corpora.Part(segment, [File(len(halves), name, "python")]))
    corpus = corpora.Corpus(halves)
    monkeypatch.setattr(corpora, "SIGNS_FIRST", first)
    # Of the stored vectors, where small numbers are 0.
    packed = np.concatenate([part.segment.signs for part in halves]).view(np.uint8)
    positive = np.unpackbits(packed, axis=1)[:, :dimension].astype(bool)
    kept = by_count = 0
    for vector in rows[::60]:
        near = rows @ vector
        differ = positive != (vector > 0)
        # The same in plain words: first by how many signs differ, then by what they are worth.
        apart = differ.sum(axis=1)
        some = np.flatnonzero(apart <= np.sort(apart)[first - 1])
        worth = np.rint(np.abs(vector) * (corpora.QUERY_LEVELS / np.abs(vector).max()))
        lost = (differ * worth).sum(axis=1)[some]
        wanted = some[lost <= np.sort(lost)[last - 1]]
        monkeypatch.setattr(corpora, "BY_SIGNS", last)
        found = corpus._by_signs(vector)
        assert found.tolist() == wanted.tolist()
        best = np.argsort(-near)[:10]
        kept += int(np.isin(best, found).sum())
        by_count += int(np.isin(best, np.argsort(apart, kind="stable")[: len(found)]).sum())
    assert kept > by_count


@given(st.lists(st.tuples(st.integers(0, 9), st.floats(0.125, 8, width=32)), min_size=1))
def test_the_sums_of_rows_are_the_same_however_they_are_made(
    entries: list[tuple[int, float]],
) -> None:
    import numpy as np

    rows = np.array([row for row, _ in entries])
    values = np.array([value for _, value in entries], dtype=np.float32)
    expected = np.zeros(10)
    for row, value in zip(rows, values, strict=True):
        expected[row] += value
    for total in (10, len(rows) * lexical.SPARSE + 10, len(rows) * lexical.FEW + 10):
        sums = np.zeros(total)
        where, found = lexical._frequencies(rows, values, total)
        sums[where] += found
        assert sums[:10].tolist() == expected.tolist()
        assert not sums[10:].any()


@pytest.mark.shows("SEARCH-LEXICAL-TWIN")
@settings(max_examples=examples(60))
@given(trees, queries)
def test_words_in_some_files_are_those_of_all_files(tree: dict[str, str], query: str) -> None:
    corpus = corpus_of({path: prepared(path, text) for path, text in tree.items()})
    if not corpus.chunks:
        return
    found = rank_lexical(analyze(query), corpus, WEIGHTS)
    every = np.arange(len(corpus.files))
    whole = found.within(*rows_of_files(corpus, every), len(every))
    some = every[::2]
    rows, places = rows_of_files(corpus, some)
    for word, part in zip(whole, found.within(rows, places, len(some)), strict=True):
        assert word.word.files == np.count_nonzero(word.in_files)
        assert np.array_equal(word.rows, word.word.rows)
        assert np.array_equal(part.in_files, word.in_files[some])
        here = np.isin(word.rows, rows)
        assert np.array_equal(part.rows, word.rows[here])
        assert np.array_equal(part.fields, word.fields[here])
        assert np.array_equal(part.worths, word.worths[here])
