"""The benchmarks run. What they measure is judged in their own command, never here."""

import json
from pathlib import Path

import pytest

from bench import store, timing


@pytest.mark.long
@pytest.mark.shows("BENCH-RUNS")
def test_the_store_can_be_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timing, "OUT", tmp_path / "out")
    timing.report("store", store.measure(tmp_path / "data", scale=0.002))
    report = json.loads((tmp_path / "out" / "store.json").read_text())
    measured = {row["what"]: row["value"] for row in report["rows"]}
    assert measured["engine / bare driver"] > 0
    assert measured["group commit / single"] > 0
    assert all(value >= 0 for what, value in measured.items() if "memory" not in what)
