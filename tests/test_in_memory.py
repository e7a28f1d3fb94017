"""Temporary directories in memory, for `make quick`."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import in_memory


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(in_memory, "MEMORY", tmp_path)
    monkeypatch.setattr(in_memory, "FREE_BYTES_MIN", 0)
    monkeypatch.setattr(in_memory, "QUICK", True)
    return tmp_path


def test_a_run_removes_its_directory_and_those_of_killed_runs(
    memory: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    ended = subprocess.Popen([sys.executable, "-S", "-c", ""])
    ended.wait()
    (memory / f"holdfast-tests-{ended.pid}-abc" / "deep").mkdir(parents=True)
    others = {f"holdfast-tests-{os.getpid()}-abc", "holdfast-tests", "soak-1"}
    for name in others:
        (memory / name).mkdir()
    factories = in_memory.factory_in_memory(tmp_path_factory)
    made = next(factories).mktemp("home")
    assert made.parent.parent == memory
    assert {path.name for path in memory.iterdir()} == others | {made.parent.name}
    assert list(factories) == []
    assert {path.name for path in memory.iterdir()} == others


@pytest.mark.parametrize("name", ["QUICK", "FREE_BYTES_MIN"])
def test_other_runs_and_small_memories_use_the_disk(
    name: str,
    memory: Path,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    monkeypatch.setattr(in_memory, name, False if name == "QUICK" else 1 << 62)
    assert list(in_memory.factory_in_memory(tmp_path_factory)) == [tmp_path_factory]
    assert list(memory.iterdir()) == []
