"""The benchmarks run. What they measure is judged in their own command, never here."""

import json
import re
import runpy
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from bench import company, fleet, growth, growth_tree, index_growth, store, teams, timing
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


@pytest.mark.long
@pytest.mark.shows("BENCH-RUNS", "STORE-GROWTH")
def test_growth_can_be_measured_and_drawn(tmp_path: Path) -> None:
    sizes = [60, 120]
    measured = [growth.measure(tmp_path / "data", size) for size in sizes]
    costs = {what: [one[what] for one in measured] for what in measured[0]}
    assert all(cost >= 0 for line in costs.values() for cost in line)
    growth.chart(tmp_path / "growth.svg", sizes, costs)
    drawn = (tmp_path / "growth.svg").read_text()
    assert all(what in drawn for what in costs)
    assert growth.exponent([10, 100, 1000], [1, 10, 100]) == pytest.approx(1)
    assert growth.exponent([10, 100, 1000], [5, 5, 5]) == pytest.approx(0)


BENCH = Path(timing.__file__).parent
NO_COMMANDS = {"workers", "corpora", "cache"}
"""Processes that a benchmark starts, and what it fetched."""
COMMANDS = sorted(
    ".".join(file.relative_to(BENCH.parent).with_suffix("").parts).removesuffix(".__main__")
    for file in BENCH.rglob("*.py")
    if not NO_COMMANDS.intersection(file.relative_to(BENCH).parts)
    and 'if __name__ == "__main__"' in file.read_text()
)


@pytest.mark.long
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
    assert index_growth.within([3, 10, 100], 6) == [3, 6]
    assert index_growth.within([1_000, 10_000], 600) == [60, 600]
    assert all(row.goal.startswith("≤") for row in index_growth.goals(found))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["source"]


@pytest.mark.shows("BENCH-RUNS")
def test_a_tree_grows_by_changed_copies_that_share_no_file(tmp_path: Path) -> None:
    source = tmp_path / "source"
    (source / "pkg").mkdir(parents=True)
    texts = {
        "a.go": "type ControllerSet int\n",
        "pkg/b.md": "short words\n",
        "pkg/c.go": "x := 1\n",
    }
    for path, text in texts.items():
        (source / path).write_text(text)
    for files in range(1, 11):
        into = tmp_path / f"tree{files}"
        size = growth_tree.make_tree(source, files, into)
        made = [path.read_bytes() for path in into.rglob("*") if path.is_file()]
        assert (len(made), sum(map(len, made))) == (files, size)
        assert len(set(made)) == files
    assert (tmp_path / "tree10" / "copy2" / "a.go").read_text() == "type ControllerSetCopy2 int\n"
    assert all((tmp_path / "tree10" / path).read_text() == text for path, text in texts.items())


@pytest.mark.shows("BENCH-RUNS")
def test_an_interrupted_run_goes_on_with_the_sizes_that_are_missing(tmp_path: Path) -> None:
    asked: list[int] = []

    def cost(files: int) -> dict[str, float]:
        asked.append(files)
        if files == 100 and asked.count(100) == 1:
            raise KeyboardInterrupt
        return {"chunks": files * 10.0}

    def measured(of: str) -> list[dict[str, float]]:
        kept = index_growth.Measured(tmp_path / "sizes.json", {"code": of})
        return [kept.cost(files, cost) for files in (10, 100)]

    with pytest.raises(KeyboardInterrupt):
        measured("a")
    assert measured("a") == [{"chunks": 100.0}, {"chunks": 1000.0}]
    assert asked == [10, 100, 100]
    measured("b")  # other code: nothing is continued
    assert asked == [10, 100, 100, 10, 100]
    (tmp_path / "sizes.json").write_text("{")
    measured("b")
    assert asked[5:] == [10, 100]
    index_growth.Measured(tmp_path / "sizes.json", {"code": "b"}).finish()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.shows("BENCH-RUNS")
def test_a_size_that_would_take_too_long_is_left_out() -> None:
    clock = [0.0]

    def cost(files: int) -> dict[str, float]:
        clock[0] += files
        return {"files": float(files)}

    def measured(minutes: float) -> tuple[list[dict[str, float]], list[int]]:
        return index_growth.in_time([10, 100, 1_000, 10_000], cost, minutes, lambda: clock[0])

    assert measured(1) == ([{"files": 10.0}, {"files": 100.0}], [1_000, 10_000])
    assert measured(20) == ([{"files": 10.0}, {"files": 100.0}, {"files": 1_000.0}], [10_000])
    assert measured(1_000)[1] == []


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
@pytest.mark.shows("FLEET-LOAD")
def test_a_small_share_of_the_load_is_served_by_one_server_and_by_three(
    tmp_path: Path, postgres: PostgresServer
) -> None:
    rows = {
        row.what: row
        for row in fleet.measure(postgres, tmp_path, agents=6, calls=10, rounds=1, files=6)
    }
    for nodes in ("1 node", "3 nodes"):
        for kind in ("search", "read", "outline", "memory get", "commit", "commit seen by a watch"):
            times = [rows[f"{nodes}: {kind}, {p}"].value or 0 for p in ("p50", "p95", "p99")]
            assert 0 < times[0] <= times[1] <= times[2]
        assert (rows[f"{nodes}: throughput"].value or 0) > 0
        assert (rows[f"{nodes}: slowest agent / median agent"].value or 0) >= 1
        assert (rows[f"{nodes}: calls in flight on one node, most"].value or 0) >= 1
    assert (rows["three nodes / one, processor time with the database"].value or 0) > 0


@pytest.mark.long
@pytest.mark.shows("FLEET-COMPANY")
def test_the_page_about_a_company_is_what_the_simulation_says() -> None:
    text = (BENCH.parent / "docs" / "fleet.md").read_text()
    shown = text.partition("<!-- bench.company -->\n")[2].partition("\n<!-- end -->")[0]
    assert shown == company.page(company.Company(), company.recorded()), (
        "run `python -m bench.company` and put its output into docs/fleet.md"
    )


def test_the_page_about_scale_names_the_servers_of_the_table() -> None:
    docs = BENCH.parent / "docs"
    table = (docs / "fleet.md").read_text("utf-8")
    nodes = re.search(r"\| nodes, one core each \| (\d+) \|", table)
    cores = re.search(r"\| cores of PostgreSQL \| (\d+) at", table)
    assert nodes is not None
    assert cores is not None
    summary = f"need {nodes[1]} nodes of one core and {cores[1]} cores of PostgreSQL"
    assert summary in (docs / "scale.md").read_text("utf-8")


@pytest.mark.shows("FLEET-COMPANY")
def test_more_calls_need_more_servers_and_more_servers_wait_less() -> None:
    costs = company.recorded()
    small = company.Company(runs_a_day=2_000)
    # Twice the work of each call, and nothing else, makes a server twice as busy.
    slower = replace(costs, node_ms_per_call=2 * costs.node_ms_per_call)
    once, twice = (company.simulated(small, one, 1) for one in (costs, slower))
    assert once.calls == twice.calls
    assert twice.busy == pytest.approx(2 * once.busy)
    assert twice.wait_p99_ms > once.wait_p99_ms
    two = company.simulated(small, slower, 2)
    assert two.busy == pytest.approx(twice.busy / 2)
    assert two.wait_p99_ms < twice.wait_p99_ms
    assert company.enough(small, slower)[0] >= company.enough(small, costs)[0]


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
