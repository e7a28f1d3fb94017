"""The quick search against the same told the long way, over our own sources."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.index.code_index import CodeIndex, open_index, run_here
from holdfast.index.embedding.hashed import DIMENSION
from holdfast.index.generations.freshness import FreshFiles
from holdfast.index.generations.model import PreparedFile
from holdfast.index.generations.segments import SegmentBuilder
from holdfast.index.search import (
    candidates,
    fusion,
    near_duplicates,
    preview,
    ranking,
    results,
    signals,
)
from holdfast.index.search import corpus as corpora
from holdfast.index.search.centrality import centrality
from holdfast.index.search.corpus import Corpus, Part
from holdfast.index.search.file_table import File
from holdfast.index.search.query_analysis import analyze
from holdfast.index.tools.search_request import DEPTH_MIN
from tests.index.search import plain
from tests.index.search.samples import prepared, trees
from tests.index.wire import manage_index, search_code
from tests.scale import QUICK, examples

PARTS: tuple[str, ...] = ("index", "files")
if QUICK:
    PARTS = ("index/generations",)
SOURCES = Path(__file__).parents[3] / "src" / "holdfast"

QUESTIONS: list[tuple[str, dict[str, Any]]] = [
    ("Corpus", {}),
    ("validate_completion_proof", {}),
    ("SqliteBackend.read_marker", {}),
    ("class Registry", {"group_by": "file"}),
    ("search/ranking.py", {}),
    ("files/disk.py walk", {"result_mode": "raw"}),
    ("ValueError: not a model file", {}),
    ("could not read '%s'", {}),
    ("how is a stale index told from a valid one", {}),
    ("where are vectors turned into floats", {"limit": 30}),
    ("parse the registry of roots", {"scope": "mixed"}),
    ("tests of the walk", {"scope": "mixed", "budget": 1200}),
    ("merge small segments", {}),
    ("the", {}),
    ("get", {}),
    ("xyzzyqwerty", {}),
    ("lang:python remove directory", {}),
    ("path:search/ score of a chunk", {}),
    ("-path:search/ score of a chunk", {}),
    ("exclude:numpy lease lock", {}),
    ("sym:find", {}),
    ("must:apsw connection", {}),
    (r"re:def\s\w+_marker marker", {}),
]


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[CodeIndex, str]]:
    root = tmp_path_factory.mktemp("sources").resolve()
    for part in PARTS:
        shutil.copytree(SOURCES / part, root / part, ignore=shutil.ignore_patterns("*.bin"))
    index = open_index(root.parent / f"{root.name}-home")
    index.start = run_here
    manage_index(index, "create", str(root))
    # A second segment, with files in the place of others and some that are gone.
    for path in sorted((root / "index").rglob("*.py"))[::7]:
        path.write_text(path.read_text() + "\n\ndef added_since():\n    return walk(stem)\n")
    (root / "index" / "generations" / "marker.py").unlink()
    manage_index(index, "sync", str(root))
    yield index, str(root)
    index.close()


def told(answer: Any) -> Any:
    """An answer without the clock."""
    answer = dict(answer)
    answer.pop("freshnessDecision")
    return answer


@pytest.mark.long
@pytest.mark.shows("SEARCH-QUICK-TWIN")
@pytest.mark.parametrize(("query", "more"), QUESTIONS, ids=[query for query, _ in QUESTIONS])
def test_the_quick_way_gives_the_answer_of_the_long_way(
    tree: tuple[CodeIndex, str],
    query: str,
    more: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    index, root = tree
    quick = told(search_code(index, root, query, debug=True, **more))
    monkeypatch.setattr(Corpus, "nearness", plain.nearness)
    monkeypatch.setattr(signals, "centrality", plain.centrality)
    monkeypatch.setattr(candidates, "coverage_of", plain.coverage_of)
    monkeypatch.setattr(candidates, "top_rows", plain.top_rows)
    monkeypatch.setattr(ranking, "diversified", plain.diversified)
    monkeypatch.setattr(preview, "_scores", plain.line_scores)
    monkeypatch.setattr(results, "folded", plain.folded)
    slow = told(search_code(index, root, query, debug=True, **more))
    assert _rounded(quick) == _rounded(slow)


@pytest.mark.parametrize("query", [query for query, more in QUESTIONS if not more][:12])
def test_the_first_places_do_not_depend_on_how_many_are_given(
    tree: tuple[CodeIndex, str], query: str
) -> None:
    index, root = tree
    with index.backend.reader(root) as reader:
        fresh_files = FreshFiles(reader.identity, reader.snapshot(), 0.0)
        few, many = (
            ranking.find(query, reader, fresh_files, index.provider, wanted, lambda path: True)
            for wanted in (DEPTH_MIN, candidates.PER_LANE_MIN // 4)
        )
    assert few.chunks == many.chunks[:DEPTH_MIN]
    assert few.candidates == many.candidates


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return pytest.approx(value, abs=1e-6)
    if isinstance(value, dict):
        return {key: _rounded(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(part) for part in value]
    return value


@given(
    st.lists(st.sampled_from([0.0, 0.2, 0.5, 0.5, 1.5]), min_size=1, max_size=40),
    st.integers(1, 12),
    st.randoms(use_true_random=False),
)
def test_the_best_rows_are_those_of_a_sort(scores: list[float], limit: int, random: Any) -> None:
    ties = list(range(len(scores)))
    random.shuffle(ties)
    given_ = np.array(scores), np.array(ties)
    assert fusion.top_rows(*given_, limit, 0.1).tolist() == [*plain.top_rows(*given_, limit, 0.1)]


@given(
    st.integers(0, 2**32),
    st.integers(4_000, 9_000),
    st.integers(1, 900),
    st.sampled_from([2, 9, 500, 10**6]),
)
@settings(max_examples=examples(40), deadline=None)
def test_the_best_of_many_rows_are_those_of_a_sort(
    seed: int, rows: int, limit: int, levels: int
) -> None:
    random = np.random.default_rng(seed)
    scores = random.integers(0, levels, rows) / levels
    scores[random.random(rows) < random.random()] = 0.0
    given_ = scores.astype(np.float32), random.permutation(rows)
    assert fusion.top_rows(*given_, limit, 0.1).tolist() == [*plain.top_rows(*given_, limit, 0.1)]


SCORES = st.sampled_from([0.0, 0.1, 0.2, 0.25, 0.4, 0.5, 0.8, 1.0, 1.5])


@given(
    candidates=st.lists(st.tuples(SCORES, st.integers(0, 5)), min_size=1, max_size=40),
    wanted=st.integers(1, 45),
    repeat=st.sampled_from([0.5, 0.8, 1.0]),
    random=st.randoms(use_true_random=False),
)
def test_places_are_given_as_if_each_time_the_best_left_were_looked_for(
    candidates: list[tuple[float, int]],
    wanted: int,
    repeat: float,
    random: Any,
) -> None:
    count = len(candidates)
    ties = list(range(count))
    random.shuffle(ties)
    given_ = (
        np.array([score for score, _ in candidates]),
        np.array([file for _, file in candidates]),
        np.array(ties),
        wanted,
        repeat,
    )
    assert fusion.diversified(*given_) == plain.diversified(*given_)


LINES = st.lists(
    st.lists(
        st.sampled_from(
            ["load_file", "loadFile", "lo_ad", "Files", "reload", "größe", "x1", "файл_load", "²"]
        ),
        max_size=5,
    ).map(" (".join),
    max_size=12,
)


@given(LINES, st.sampled_from(["load a file", "file größe", "loadfile", "lo"]))
def test_lines_are_worth_what_their_words_are(lines: list[str], query: str) -> None:
    asked = preview.Asked.by(analyze(query))
    given_ = "\n".join([*lines, "end"]), [*lines, "end"], 1, asked
    assert preview._scores(*given_) == plain.line_scores(*given_)


TEXTS = st.lists(
    st.tuples(st.sampled_from("abc"), st.integers(0, 60), st.sampled_from(["", " ", "\n\n\t"])),
    max_size=8,
).map(lambda parts: "".join(letter * many + space for letter, many, space in parts))


@given(st.lists(TEXTS, max_size=8), st.integers(0, 9))
def test_texts_fold_as_if_each_were_held_against_all_before_it(
    texts: list[str], compared: int
) -> None:
    assert near_duplicates.folded(texts, compared) == plain.folded(texts, compared)


# A corpus that follows from the one before.


def part_of(files: dict[str, PreparedFile], number: int) -> Part:
    gathering = SegmentBuilder(DIMENSION)
    held = [file for _, file in sorted(files.items()) if file.chunks]
    for file in held:
        gathering.add(file)
    named = [File(number + i, file.path, file.language) for i, file in enumerate(held)]
    return Part(gathering.take(), named)


def seen(corpus: Corpus) -> Any:
    """All that a rank depends on, by path and place."""
    rows = np.flatnonzero(corpus.alive)
    order = rows[np.argsort(corpus.ties[rows])]
    return (
        [(corpus.files[corpus.file_of[r]].path, int(corpus.ordinals[r])) for r in order],
        corpus.lengths[order].tolist(),
        corpus.average_lengths.tolist(),
        corpus.derived(centrality)[order].tolist(),
        [int(corpus.kinds[row]) for row in order],
        sorted(file.path for file in corpus.files),
        corpus.chunks,
    )


@pytest.mark.shows("SEARCH-CORPUS-FOLLOWS")
@settings(max_examples=examples(60), deadline=None)
@given(
    first=trees,
    steps=st.lists(
        st.tuples(trees, st.sets(st.sampled_from(["a.py", "shop/cart.py", "x/total.py"]))),
        max_size=4,
    ),
)
def test_a_corpus_followed_through_changes_is_the_one_made_anew(
    first: dict[str, str], steps: list[tuple[dict[str, str], set[str]]]
) -> None:
    there = {path: prepared(path, text) for path, text in first.items()}
    corpus = Corpus([part_of(there, 0)])
    for number, (came, gone) in enumerate(steps, 1):
        fresh = {path: prepared(path, text) for path, text in came.items()}
        corpus = corpus.changed([part_of(fresh, 100 * number)], {*fresh, *gone})
        there = {path: file for path, file in there.items() if path not in gone} | fresh
        assert seen(corpus) == seen(Corpus([part_of(there, 0)]))
        central = corpus.derived(centrality)
        assert central.tolist() == pytest.approx(plain.centrality(corpus).tolist())
        # The rows of a file lie together, and files are told apart by that.
        files = corpus.file_of[corpus.alive]
        own, of_rows = candidates.runs(files)
        assert sorted(own.tolist()) == np.unique(files).tolist()
        assert own[of_rows].tolist() == files.tolist()


@pytest.mark.shows("SEARCH-CORPUS-FOLLOWS")
def test_how_vectors_are_compared_does_not_hang_on_past_syncs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Rows of files that had been replaced counted towards the size from which signs choose."""
    files = {path: prepared(path, f"def {path[0]}(): ...\n") for path in ("a.py", "b.py", "c.py")}
    anew = Corpus([part_of(files, 0)])
    followed = anew
    for number in range(1, 4):
        followed = followed.changed([part_of({"a.py": files["a.py"]}, 100 * number)], {"a.py"})
    assert followed.rows > followed.chunks == anew.chunks
    monkeypatch.setattr(corpora, "EXACT_ROWS_MAX", anew.chunks)
    assert followed.exhaustive
    assert anew.exhaustive
    monkeypatch.setattr(corpora, "EXACT_ROWS_MAX", anew.chunks - 1)
    assert not followed.exhaustive
