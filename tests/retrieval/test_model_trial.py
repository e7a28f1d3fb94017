"""A trial of a model asks the search itself: with the shipped model it gives the same scores."""

import json
from pathlib import Path

import pytest

from bench.retrieval.fetch import Fetcher
from bench.retrieval.labels import read_set
from bench.retrieval.model_trial import main, rows_of
from bench.retrieval.tune import IndexedSet
from holdfast.index.embedding.static import MODEL_FILE
from holdfast.index.search.weights import WEIGHTS

SET = Path(__file__).parent / "shop.json"


def test_the_shipped_model_is_scored_as_in_the_search(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home, kept = tmp_path / "home", tmp_path / "kept.json"
    arguments = [str(MODEL_FILE), "--set", str(SET), "--home", str(home), "--keep", str(kept)]
    assert main(arguments) == 0
    found = json.loads(kept.read_text())["shop"]["static"]
    indexed = IndexedSet(read_set(SET), home, Fetcher(tmp_path), 20)
    assert found == indexed.judged(WEIGHTS)
    assert "path_ndcg10" in capsys.readouterr().out


def test_a_tree_whose_index_failed_is_not_scored(tmp_path: Path) -> None:
    (tmp_path / "index").mkdir()
    (tmp_path / "index" / "roots").write_text("in the way of the indexes")
    with pytest.raises(RuntimeError, match="shop"):
        IndexedSet(read_set(SET), tmp_path, Fetcher(tmp_path), 20)


def test_a_model_is_compared_question_by_question_with_the_first() -> None:
    scores = {
        "shop": {
            "a": {"q1": {"path_ndcg10": 1.0}, "q2": {"path_ndcg10": 0.5}},
            "b": {"q1": {"path_ndcg10": 0.5}, "q2": {"path_ndcg10": 1.0}},
        }
    }
    assert rows_of(scores, ["a", "b"], "path_ndcg10") == [
        ("a", "0.7500"),
        ("b", "0.7500 +0.0000 (1:1)"),
    ]
