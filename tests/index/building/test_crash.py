"""SIGKILL at every step of a run, and two processes on one root: the state stays truthful."""

from __future__ import annotations

import os
import random
import select
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from holdfast.index.code_index import CodeIndex, open_index, run_here
from holdfast.index.generations.record import Indexing
from tests.index import double
from tests.index.wire import manage_index, search_code
from tests.scale import first_in_quick

HERE = Path(__file__).resolve().parents[3]
FILES = 24
SOAK = bool(os.environ.get("HOLDFAST_SOAK"))
STEPS = range(1, FILES + 4) if SOAK else first_in_quick((FILES // 2, 1, FILES + 2))
SEEDS = range(40 if SOAK else 2)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path.resolve() / "repo"
    root.mkdir()
    for number in range(FILES):
        (root / f"f{number}.py").write_text(f"def function_{number}():\n    return {number}\n")
    return root


@pytest.fixture
def index(tmp_path: Path) -> Iterator[CodeIndex]:
    made = open_index(tmp_path / "home")
    made.extract = double.extract
    made.start = run_here
    yield made
    made.close()


def start(home: Path, root: Path, action: str, *, wait: bool = False) -> subprocess.Popen[str]:
    words = [sys.executable, "-m", "tests.index.victim", str(home), str(root), action]
    return subprocess.Popen(
        [*words, "--wait"] if wait else words,
        cwd=HERE, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip


def kill_after(child: subprocess.Popen[str], lines: int) -> str:
    """Let a child say so many lines, then kill it; returns the last one."""
    said = advance(child, lines)
    kill(child)
    return said


def advance(child: subprocess.Popen[str], lines: int) -> str:
    assert child.stdout is not None
    assert child.stdin is not None
    said = ""
    for _ in range(lines):
        line = child.stdout.readline()
        said = line or said
        if not line or line.startswith("END"):
            break
        if _ < lines - 1:
            child.stdin.write("\n")
            child.stdin.flush()
    return said


def kill(child: subprocess.Popen[str]) -> None:
    assert child.stdout is not None
    assert child.stdin is not None
    child.kill()
    child.wait()
    child.stdout.close()
    child.stdin.close()


def check_truthful(index: CodeIndex, root: Path) -> str:
    """What is said holds: searchable means every file is found, and nothing claims to run."""
    record = index.registry.find(str(root))
    if record is None:
        return "untracked"
    status: Any = manage_index(index, "status", str(root))
    if isinstance(record.state, Indexing):
        assert status["status"] == "not_ready"
        assert "staleIndexing" in status["hints"], "the dead writer is noticed at once"
        return "abandoned"
    if status["status"] == "ok":
        for number in (0, FILES - 1):
            answer: Any = search_code(index, str(root), f"function_{number}")
            assert answer["results"][0]["file"] == f"f{number}.py"
        with index.backend.reader(str(root)) as reader:
            snapshot, totals = reader.snapshot(), reader.totals()
        assert totals.files == len(snapshot.entries)
    return str(status["status"])


@pytest.mark.shows("INDEX-KILL", "ISS-INDEX-STABILITY-A23")
@pytest.mark.parametrize("action", first_in_quick(("sync", "create", "force")))
@pytest.mark.parametrize("lines", STEPS)
def test_a_kill_at_any_step_leaves_a_truthful_state(
    tmp_path: Path, tree: Path, index: CodeIndex, action: str, lines: int
) -> None:
    if action != "create":
        manage_index(index, "create", str(tree))
    if action == "sync":
        for number in range(0, FILES, 2):
            (tree / f"f{number}.py").write_text(f"def function_{number}():\n    return 'new'\n")
    child = start(tmp_path / "home", tree, action, wait=True)
    kill_after(child, lines)
    state = check_truthful(index, tree)
    if action == "sync":
        assert state == "ok", "a sync never takes the index away"
    # Whatever the kill left, the next action gets on with it.
    answer: Any = manage_index(index, "create", str(tree))
    assert answer["status"] in ("ok", "blocked")
    assert check_truthful(index, tree) == "ok"
    assert manage_index(index, "sync", str(tree))["status"] == "ok"


@pytest.mark.long
@pytest.mark.shows("INDEX-KILL", "INDEX-TWO-PROCESSES")
@pytest.mark.parametrize("seed", SEEDS)
def test_processes_that_kill_each_other_on_one_root(
    tmp_path: Path, tree: Path, index: CodeIndex, seed: int
) -> None:
    chance = random.Random(seed)
    manage_index(index, "create", str(tree))
    for turn in range(4):
        (tree / f"f{chance.randrange(1, FILES - 1)}.py").write_text(f"def turned_{turn}(): ...\n")
        actions = [chance.choice(["create", "force", "sync", "force"]) for _ in range(2)]
        children = [start(tmp_path / "home", tree, action) for action in actions]
        said = kill_after(children[0], chance.randrange(1, FILES + 4))
        output, _ = children[1].communicate(timeout=60)
        last = output.strip().splitlines()[-1]
        # The survivor was answered; it was refused only while the other one ran.
        assert last.startswith("END"), (seed, turn, actions, said)
        assert "not_indexed" not in last, (seed, turn, actions, said)
        assert index.registry.find(str(tree)) is not None
        assert check_truthful(index, tree) in ("ok", "abandoned"), (seed, turn, actions)
    answer: Any = manage_index(index, "create", str(tree))
    assert answer["status"] in ("ok", "blocked"), seed
    assert manage_index(index, "sync", str(tree))["status"] == "ok", seed
    assert check_truthful(index, tree) == "ok", seed


@pytest.mark.long
@pytest.mark.shows("INDEX-KILL", "INDEX-POOL")
def test_workers_end_with_their_parent(tmp_path: Path, tree: Path) -> None:
    """What went wrong elsewhere: a killed build left workers behind that held its lock for ever."""
    for number in range(FILES):
        (tree / f"f{number}.py").write_text(f"def f{number}(): ...\n" + "# filler\n" * 4000)
    child = start(tmp_path / "home", tree, "create", wait=True)
    advance(child, 3)
    workers = [os.pidfd_open(pid) for pid in _children(child.pid)]
    assert workers
    kill(child)
    for worker in workers:
        assert select.select([worker], [], [], 60)[0], "a worker outlived its parent"
        os.close(worker)
    index = open_index(tmp_path / "home")
    index.extract = double.extract
    index.start = run_here
    assert manage_index(index, "create", str(tree))["status"] == "ok"
    index.close()


def _children(pid: int) -> list[int]:
    threads = Path(f"/proc/{pid}/task").iterdir()
    return [int(one) for task in threads for one in (task / "children").read_text().split()]
