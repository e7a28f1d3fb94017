"""Processes that are killed, stopped or have no room: a small share; `make soak` runs more."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.hostile import faults, server_faults
from tests.scale import SOAKING

SEED = 15
TIMES = 40 if SOAKING else 1


@pytest.mark.long
@pytest.mark.shows("SEC-KILLED")
def test_commands_that_are_killed_lose_nothing(tmp_path: Path) -> None:
    result = faults.kill(12 * TIMES, SEED, tmp_path / "w")
    result.kept_every_promise()
    assert result.tried == 12 * TIMES


@pytest.mark.long
@pytest.mark.shows("SEC-STOPPED")
def test_commands_that_are_stopped_hold_up_no_other(tmp_path: Path) -> None:
    result = faults.kill(4 * TIMES, SEED, tmp_path / "w", signal.SIGSTOP)
    result.kept_every_promise()
    assert result.tried == 4 * TIMES


@pytest.mark.long
@pytest.mark.shows("SEC-KILLED", "SEC-STOPPED")
def test_calls_to_a_host_that_is_killed_or_stopped_end_and_the_next_one_works(
    tmp_path: Path,
) -> None:
    result = server_faults.hosts(6 * TIMES, SEED, tmp_path / "w")
    result.kept_every_promise()
    assert result.tried == 6 * TIMES


@pytest.mark.long
@pytest.mark.shows("SEC-KILLED", "SEC-STOPPED")
def test_a_server_that_is_killed_or_stopped_loses_nothing_and_holds_up_no_other(
    tmp_path: Path,
) -> None:
    result = server_faults.servers(3 * TIMES, SEED, tmp_path / "w")
    result.kept_every_promise()
    assert result.tried == 3 * TIMES


@pytest.mark.long
@pytest.mark.shows("SEC-DISK-FILLS")
def test_a_disk_that_fills_up_is_named_and_everything_works_with_room_again(tmp_path: Path) -> None:
    result = faults.full_disks(2 * TIMES, SEED, tmp_path)
    if any("not possible" in outcome for outcome in result.outcomes):
        pytest.skip("mounting a small disk needs root")
    result.kept_every_promise()
    assert result.outcomes["refused"] > 0
