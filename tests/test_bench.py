"""The benchmarks run. What they measure is judged in their own command, never here."""

import json
import runpy
import sys
from pathlib import Path

import pytest

from bench import growth, index_growth, store, teams, timing
from tests.postgres import PostgresServer


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


@pytest.mark.shows("BENCH-RUNS", "STORE-GROWTH")
def test_growth_can_be_measured_and_drawn(tmp_path: Path) -> None:
    sizes = [60, 120]
    measured = [growth.measure(tmp_path / "data", size) for size in sizes]
    costs = {what: [one[what] for one in measured] for what in measured[0]}
    assert all(cost >= 0 for line in costs.values() for cost in line)
    growth.chart(tmp_path / "growth.svg", sizes, costs)
    drawn = (tmp_path / "growth.svg").read_text()
    assert drawn.count("<polyline") == len(costs)
    assert growth.exponent([10, 100, 1000], [1, 10, 100]) == pytest.approx(1)
    assert growth.exponent([10, 100, 1000], [5, 5, 5]) == pytest.approx(0)


BENCH = Path(timing.__file__).parent
COMMANDS = sorted(
    ".".join(file.relative_to(BENCH.parent).with_suffix("").parts).removesuffix(".__main__")
    for file in BENCH.rglob("*.py")
    if "workers" not in file.parts and 'if __name__ == "__main__"' in file.read_text()
)


@pytest.mark.shows("INDEX-GROWTH")
def test_the_growth_of_an_index_can_be_measured(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    for n in range(6):
        (source / f"m{n}.py").write_text(f"def first_{n}():\n    return 1\n\n\ndef second(): ...\n")
    found = index_growth.measure(source, 4, tmp_path)
    assert {*index_growth.TIMES, *index_growth.SIZES, "recall"} <= found.keys()
    assert found["chunks"] >= 4
    assert found["recall"] == 1.0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["source"]


@pytest.mark.shows("BENCH-RUNS")
@pytest.mark.parametrize("name", COMMANDS)
def test_help_is_printed_and_nothing_is_measured(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`python -m bench.sync --help` ran the benchmark."""
    monkeypatch.setattr(sys, "argv", [name, "--help"])
    for imported in (name, f"{name}.__main__"):
        monkeypatch.delitem(sys.modules, imported, raising=False)
    with pytest.raises(SystemExit) as ended:
        runpy.run_module(name, run_name="__main__")
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith("usage: ")


@pytest.mark.long
@pytest.mark.shows("BENCH-RUNS")
def test_what_a_team_saves_can_be_measured(tmp_path: Path, postgres: PostgresServer) -> None:
    tree = tmp_path / "source"
    for number in range(3):
        text = f"def session{number}():\n    return resumed({number})\n"
        (tree / f"part{number}").mkdir(parents=True)
        (tree / f"part{number}" / "session.py").write_text(text)
    rows = teams.measure(tree, tmp_path, postgres.url, rounds=1)
    measured = {row.what: row for row in rows}
    assert "3 of 3 files taken" in measured["index with the team's work"].note
    assert all(row.value is not None and row.value >= 0 for row in rows)
