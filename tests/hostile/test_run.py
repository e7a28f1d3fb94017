"""Batches of campaigns: what they found is kept, also when a process of theirs is lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from tests.hostile import run
from tests.hostile.campaigns import Campaign
from tests.hostile.result import Result
from tests.hostile.run import BatchLost, Record, in_own_process


def counted(count: int, seed: int, folder: Path) -> Result:
    assert not folder.exists()
    result = Result()
    result.count(f"seed {seed}: same", count)
    return result


def campaign(name: str, act: object = counted) -> Campaign:
    return Campaign(name, "something", "tests/x.py", 3, 10, 25, act)  # type: ignore[arg-type]


def run_all(campaigns: list[Campaign], limit_s: float | None) -> tuple[list[str], list[Record]]:
    order: list[str] = []
    records = [Record(each) for each in campaigns]
    run.run_in_turns(records, 7, limit_s, lambda r, _: order.append(r.campaign.name))
    return order, records


def test_without_a_limit_each_runs_once() -> None:
    order, records = run_all([campaign("a"), campaign("b")], None)
    assert order == ["a", "b"]
    assert [record.result.outcomes for record in records] == [{"seed 7: same": 3}] * 2


def test_with_a_limit_they_take_turns_until_each_tried_enough() -> None:
    order, records = run_all([campaign("a"), campaign("b")], 600)
    assert order == ["a", "b"] * 3, "25 are reached after three batches of 10"
    assert records[0].seeds == [70_000, 70_001, 70_002], "every batch has a seed of its own"
    assert records[1].result.tried == 30


def test_a_limit_that_is_over_ends_a_campaign_after_its_batch() -> None:
    _, (record,) = run_all([campaign("a")], 0.0)
    assert record.result.tried == 10


def test_campaigns_together_share_the_time_and_tried_enough_is_no_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The slower one has fewer batches: the one that took least so far is next."""
    cost = {"a": 10.0, "b": 30.0}

    def batch(record: Record, count: int, seed: int) -> None:
        record.add(seed, counted(count, seed, Path("nowhere")), cost[record.campaign.name], 1.0)

    monkeypatch.setattr(run, "_run_batch", batch)
    records = [Record(campaign("a")), Record(campaign("b"))]
    order: list[str] = []
    run.run_together(records, 7, 120, lambda r, _: order.append(r.campaign.name))
    assert order == [*"abaaabaa"], "60 seconds each"
    assert records[0].result.tried > 25
    seeds = [seed for record in records for seed in record.seeds]
    assert len(seeds) == len(set(seeds))


def test_a_batch_that_raises_is_a_problem_and_not_the_end() -> None:
    def fails(_count: int, seed: int, _folder: Path) -> Result:
        raise KeyError(seed)

    _, (broken, sound) = run_all([campaign("a", fails), campaign("b")], None)
    (problem,) = broken.result.problems
    assert "KeyError: 7" in problem
    assert not sound.result.problems


def test_a_batch_whose_process_ends_is_a_problem() -> None:
    def dies(_count: int, _seed: int, _folder: Path) -> Result:
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError

    _, (record,) = run_all([campaign("a", dies)], None)
    assert record.result.problems == ["seed 7: the process ended with -9"]


def test_a_batch_that_hangs_is_ended() -> None:
    def hangs(_folder: Path) -> Result:
        threading.Event().wait()
        raise AssertionError

    with pytest.raises(BatchLost, match="no result after 0 s"):
        in_own_process(hangs, 0.3)


def test_what_a_batch_leaves_behind_is_removed() -> None:
    def leaves(folder: Path) -> Result:
        folder.mkdir()
        (folder / "file").write_text("x")
        return Result(problems=[str(folder)])

    (left,) = in_own_process(leaves).problems
    assert not Path(left).parent.exists()


@pytest.mark.parametrize("ends", [True, False])
def test_a_process_that_a_batch_leaves_behind_is_ended(ends: bool) -> None:
    """A batch that was lost left its background host running, in a folder that was gone."""

    def leaves(folder: Path) -> Result:
        folder.mkdir()
        left = subprocess.Popen(
            [sys.executable, "-c", "import threading; threading.Event().wait()"],
            env={"HOLDFAST_HOME": str(folder)},
            start_new_session=True,
        )
        os.write(writing, str(left.pid).encode())
        if not ends:
            threading.Event().wait()
        return Result()

    reading, writing = os.pipe()
    with suppress(BatchLost):
        in_own_process(leaves, 60 if ends else 5)
    pid = int(os.read(reading, 20))
    os.close(reading)
    os.close(writing)
    state = Path(f"/proc/{pid}/stat")
    assert not state.exists() or state.read_text().rpartition(")")[2].split()[0] == "Z"


def test_results_of_runs_beside_each_other_are_joined() -> None:
    def text(commit: str, seed: int, *names: str) -> str:
        kept = [
            {"name": name, "outcomes": {"held": 2}, "problems": [], "seeds": [seed],
             "seconds": 1.0, "processor_seconds": 0.5}
            for name in names
        ]  # fmt: skip
        return json.dumps({"format": 2, "commit": commit, "seed": 7, "campaigns": kept})

    whole = run.joined([text("a b", 1, "simulation", "fuzz"), text("b c", 2, "fuzz")])
    assert json.loads(whole)["commit"] == "a b c"
    found = run.results_of(whole)
    assert {name: each.tried for name, each in found.items()} == {"fuzz": 4, "simulation": 2}
    assert list(found) == ["fuzz", "simulation"], "in the order of the table"
    with pytest.raises(ValueError, match="the same seeds of fuzz"):
        run.joined([text("a", 1, "fuzz"), text("b", 1, "fuzz")])


def test_results_are_read_back_as_they_were_written(tmp_path: Path) -> None:
    out = tmp_path / "results.json"
    records = [Record(campaign("a"))]
    run.run_in_turns(records, 7, None, lambda _, all: run.written(out, {"commit": "x"}, all))
    kept = run.results_of(out.read_text())
    assert kept["a"].outcomes == records[0].result.outcomes
    assert json.loads(out.read_text())["campaigns"][0]["tried"] == 3
    assert list(tmp_path.iterdir()) == [out]


def test_results_of_another_format_are_refused() -> None:
    with pytest.raises(ValueError, match="format 1 of campaign results; expected 2"):
        run.results_of('{"format": 1, "campaigns": []}')


def test_a_run_that_was_ended_goes_on_and_repeats_what_was_lost(tmp_path: Path) -> None:
    def dies(_count: int, _seed: int, _folder: Path) -> Result:
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError

    out = tmp_path / "results.json"
    _, records = run_all([campaign("a"), campaign("b", dies)], 0.0)
    run.written(out, {}, records)
    again = run.resumed(out.read_text(), [campaign("a"), campaign("b"), campaign("c")])
    order: list[str] = []
    run.run_in_turns(again, 7, 600, lambda r, _: order.append(r.campaign.name))
    assert order == ["a", "b", "c", "a", "b", "c", "b", "c"]
    assert [record.seeds for record in again] == [
        [70_000, 70_001, 70_002], [70_001, 70_002, 70_003], [70_001, 70_002, 70_003]
    ]  # fmt: skip
    assert not any(record.result.problems for record in again)
