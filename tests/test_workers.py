"""Tests in several processes have the outcomes that they have in one."""

import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests.workers import runs_of

CONFTEST = """
from tests.workers import Workers

def pytest_configure(config):
    config.pluginmanager.register(Workers(2), "workers")
"""
OUTCOMES = """
import os
import signal

import pytest

@pytest.fixture(scope="module")
def once(tmp_path_factory):
    made = tmp_path_factory.getbasetemp().parent / "made"
    with open(made, "a") as file:
        file.write("x")
    return made

@pytest.fixture
def broken():
    raise ValueError("no fixture")

@pytest.mark.parametrize("number", range(6))
def test_shares(once, number):
    assert once.read_text() == "x"

def test_fails():
    print("printed before it failed")
    assert 1 == 2

def test_errors(broken): ...

def test_skips():
    pytest.skip("a reason")

@pytest.mark.xfail
def test_is_expected_to_fail():
    raise KeyError("expected")

def test_dies():
    os.kill(os.getpid(), signal.SIGKILL)

def test_follows_a_dead_worker(): ...
"""
OTHERS = """
import pytest

@pytest.mark.parametrize("number", range(40))
def test_passes(number, tmp_path):
    (tmp_path / "own").touch(exist_ok=False)
"""


def run(directory: Path, *words: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    command = [sys.executable, "-m", "pytest", "-ra", "-p", "no:cacheprovider", "-p", "no:xdist"]
    ended = subprocess.run(
        [*command, f"--basetemp={directory / 'temporary'}", *words],
        cwd=directory,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 1, ended.stdout + ended.stderr
    assert ended.stderr == ""
    return ended.stdout


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "test_others.py").write_text(OTHERS)
    return tmp_path


def test_every_test_runs_once_and_a_dead_worker_fails_only_its_test(directory: Path) -> None:
    (directory / "test_outcomes.py").write_text(OUTCOMES)
    output = run(directory)
    assert "2 failed, 47 passed, 1 skipped, 1 xfailed, 1 error" in output
    failed = set(re.findall(r"^(?:FAILED|ERROR) \S+::(\w+)", output, re.MULTILINE))
    assert failed == {"test_fails", "test_errors", "test_dies"}
    assert "printed before it failed" in output
    assert "the worker that ran test_outcomes.py::test_dies ended with -9" in output


@pytest.mark.long
def test_the_first_failure_ends_a_run_that_shall_end_there(directory: Path) -> None:
    (directory / "test_first.py").write_text("def test_fails():\n    assert 0\n")
    many = OTHERS.replace("range(40)", "range(2000)")
    (directory / "test_others.py").write_text(many)
    output = run(directory, "-x", "-q")
    assert "stopping after 1 failures" in output
    passed = re.search(r"(\d+) passed", output)
    assert passed is None or int(passed[1]) < 2000


@pytest.mark.parametrize("workers", [2, 3, 16])
def test_runs_have_every_test_once_and_one_file_each(workers: int) -> None:
    sizes = [1, 700, 3, 3, 40, 1, 900, 12, 5]
    items = [SimpleNamespace(path=file) for file, size in enumerate(sizes) for _ in range(size)]
    runs = runs_of(cast(Any, items), workers)
    assert [test for run in runs for test in run] == list(range(len(items)))
    assert all(len({items[test].path for test in run}) == 1 for run in runs)
    assert len(runs[-2]) <= 6


def test_files_that_belong_together_are_one_run() -> None:
    items = [SimpleNamespace(path=Path(f"{file}.py")) for file in range(4) for _ in range(30)]
    runs = runs_of(cast(Any, items), 2, {Path("0.py"), Path("1.py")})
    assert runs[0] == range(60)
