"""The sequence benchmark runs and measures what it says; times are never judged here."""

from pathlib import Path

import pytest

from bench import sequence
from bench.corpus import gather


@pytest.mark.shows("SEQ-BENCH")
def test_every_budget_has_a_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    source = Path(sequence.__file__).parent.parent / "src" / "holdfast" / "sequence"
    assert gather(tmp_path / "tree", [source], 150_000) > 50_000
    bench = sequence.Bench(tmp_path / "tree")
    sequence.measure(bench, 0)
    rows = {row["what"].strip() for row in bench.rows}
    assert {
        "reading all files",
        "plain regex, tokens only",
        "build against plain regex, tokens only",
        "against plain regex, tokens as ids",
        "on disk",
        "locate, p50 of all sizes",
        "matching statistics, per token of 1,000 / 4,000 / 16,000",
        "bytes.find p50 against locate p50",
        "one changed file searchable, p50 / worst",
        "resident after 200 questions",
    } <= rows
