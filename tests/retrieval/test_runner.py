"""The command over a set that ships with it, in seconds."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from bench.retrieval.__main__ import main
from bench.retrieval.systems import Bench, Failed
from bench.retrieval.workers.common import Place, work

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Any:
    out = tmp_path_factory.mktemp("report") / "deep" / "report.json"
    arguments = ["--set", str(HERE / "shop.json"), "--out", str(out), "--systems", "holdfast,bm25"]
    assert main([*arguments, "--cache", str(out.parent / "cache"), "--quiet"]) == 0
    return json.loads(out.read_text())


@pytest.mark.long
@pytest.mark.shows("RETR-RUNNER")
def test_holdfast_finds_most_of_a_small_shop(report: Any) -> None:
    holdfast = report["systems"]["holdfast"]
    assert holdfast["queries"] == 14
    assert holdfast["ndcg10"] > 0.8
    assert holdfast["by_category"]["symbol"]["ndcg10"] > 0.9
    low, high = holdfast["ndcg10_95"]
    assert low <= holdfast["ndcg10"] <= high


@pytest.mark.shows("RETR-RUNNER")
def test_the_report_has_every_measure_by_language_and_category(report: Any) -> None:
    assert (report["format"], report["version"]) == ("holdfast-retrieval-report", 1)
    for system in report["systems"].values():
        assert set(system["by_language"]) >= {"python", "go", "rust", "javascript", "typescript"}
        for name in ("recall@1", "recall@20", "recall@500tok", "recall@8000tok", "mrr"):
            assert 0 <= system[name] <= 1
        assert system["chunks"] > 5
        assert system["index_s"] > 0
        assert 0 < system["latency_p50_ms"] <= system["latency_p95_ms"]
        assert system["resident_mb_mean"] > 1
    assert "holdfast_above" in report["systems"]["bm25"]
    assert len(report["answers"]) == 14
    assert report["answers"][0]["systems"]["holdfast"]["ranks"] == [1]


@pytest.mark.long
@pytest.mark.shows("RETR-ROBUST")
def test_what_cannot_be_indexed_is_reported_and_the_rest_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = json.loads((HERE / "shop.json").read_text())
    told["repositories"] = [
        {"id": "shop", "path": str(HERE / "shop")},
        {"id": "gone", "path": "nowhere"},
        {"id": "unknown", "package": {"kind": "floppy", "name": "x"}},
    ]
    told["queries"] = [
        *told["queries"][:2],
        {"repository": "gone", "query": "x", "relevant": ["a.py"]},
        {"repository": "unknown", "query": "x", "relevant": ["a.py"]},
        {"repository": "shop", "query": "refund", "relevant": ["src/refund.py"]},
    ]
    (tmp_path / "set.json").write_text(json.dumps(told))
    code = main(["--set", str(tmp_path / "set.json"), "--json", "--cache", str(tmp_path / "c")])
    report = json.loads(capsys.readouterr().out)
    assert code == 0
    assert report["systems"]["holdfast"]["queries"] == 3
    failed = {(failure["repository"], failure["system"]) for failure in report["failures"]}
    assert failed == {("gone", "all"), ("unknown", "all"), ("shop", "labels")}


@pytest.mark.long
@pytest.mark.shows("RETR-ROBUST")
def test_a_labelled_file_that_is_not_searched_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "docs").mkdir()
    (tree / ".gitignore").write_text("a.py\n")
    (tree / "a.py").write_text("def alpha(): ...\n")
    (tree / "b.py").write_bytes("def alpha(): ...\n".encode("utf-16"))
    (tree / "docs/a.md").write_text("# alpha\n")
    (tmp_path / "set.json").write_text(
        json.dumps(
            [{"repo": "tree", "query": "alpha", "relevant": ["tree/a.py", "b.py", "docs/a.md"]}]
        )
    )
    assert main(["--set", str(tmp_path / "set.json"), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [failure["why"] for failure in report["failures"]] == [
        "a.py is labelled but not indexed",
        "b.py is labelled but not indexed",
        "docs/a.md is labelled but not indexed",
    ]
    assert report["systems"]["holdfast"]["ndcg10"] == 0


@pytest.mark.shows("RETR-ROBUST")
def test_a_question_that_breaks_is_named_and_the_others_are_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ask(text: str, _limit: int) -> list[Place]:
        if text == "bad":
            raise ValueError("no")
        return [Place("a.py", 1, 2, "text")]

    (tmp_path / "job").write_text(json.dumps({"queries": ["bad", "good"], "limit": 3}))
    monkeypatch.setattr(sys, "argv", ["worker", str(tmp_path / "job"), str(tmp_path / "out")])
    assert work(lambda _job: (ask, 1)) == 0
    found = json.loads((tmp_path / "out").read_text())
    assert found["problems"] == {"0": "ValueError: no"}
    assert [len(answer) for answer in found["answers"]] == [0, 1]
    assert len(found["latency_ms"]) == 1


@pytest.mark.shows("RETR-ROBUST")
def test_a_system_that_breaks_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Bench, "_command", lambda *_: [sys.executable, "-c", "raise OSError('no')"])
    with pytest.raises(Failed, match="OSError: no"):
        Bench(tmp_path).run("holdfast", HERE / "shop", ["x"])


@pytest.mark.shows("RETR-ABLATION")
def test_an_unknown_signal_cannot_be_left_out(tmp_path: Path) -> None:
    with pytest.raises(Failed):
        Bench(tmp_path, without=["no such signal"]).run("holdfast", HERE / "shop", ["x"])


@pytest.mark.shows("RETR-SET-BAD")
def test_a_bad_set_ends_the_command_with_its_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bad.json").write_text('[{"repo": "x", "query": "y"}]')
    assert main(["--set", str(tmp_path / "bad.json")]) == 2
    assert "bad.json queries[0]: has nothing relevant" in capsys.readouterr().err
    assert main(["--set", str(HERE / "shop.json"), "--split", "moon"]) == 2
