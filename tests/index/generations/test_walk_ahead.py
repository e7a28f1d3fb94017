"""A walk in a process of its own says what a walk here says, or nothing."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from holdfast.files.edited_files import EditedFiles
from holdfast.files.entry_columns import EntryColumns
from holdfast.files.snapshot import Snapshot
from holdfast.index import frozen_process
from holdfast.index.code_index import CodeIndex, open_index, run_here
from holdfast.index.generations import walk_ahead
from holdfast.index.generations.freshness import FreshFiles, moved
from holdfast.index.generations.walk_ahead import WalkAhead
from holdfast.index.tools.manage import manage_index
from holdfast.index.tools.search import search_code
from tests.threads import let_fork


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    for n in range(12):
        place = root / f"part{n % 3}" / f"file{n}.py"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(f"def handler_{n}():\n    return {n}\n")
        os.utime(place, (1_600_000_000, 1_600_000_000))
    return root


@pytest.fixture
def any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trees of any size are walked ahead, also where there is one processor."""
    monkeypatch.setattr(walk_ahead, "FILES_MIN", 1)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)


@pytest.fixture
def forks(any_size: None, monkeypatch: pytest.MonkeyPatch) -> None:
    let_fork(monkeypatch)


def opened(home: Path) -> CodeIndex:
    index = open_index(home)
    index.start, index.edited = run_here, EditedFiles(start=lambda job: None)
    return index


@pytest.fixture
def home(tmp_path: Path, tree: Path) -> Path:
    index = opened(tmp_path / "home")
    assert manage_index(index, "create", str(tree)).status == "ok"
    index.close()
    return tmp_path / "home"


def asked(home: Path, tree: Path, query: str = "handler") -> tuple[list[str], str]:
    """The answer of a new index, as one process gives it."""
    index = opened(home)
    try:
        answer = search_code(index, str(tree), query)
        assert answer.freshness_decision is not None
        shown = [f"{r.file}:{r.preview or r.content}" for r in answer.results]
        return shown, answer.freshness_decision.mode
    finally:
        index.close()


def edit(tree: Path) -> None:
    (tree / "part0" / "file0.py").write_text("def handler_edited():\n    return 'edited'\n")


def add(tree: Path) -> None:
    (tree / "part1" / "new.py").write_text("def handler_new():\n    return 'new'\n")


def remove(tree: Path) -> None:
    (tree / "part2" / "file2.py").unlink()


def nothing(tree: Path) -> None:
    pass


@pytest.mark.shows("INDEX-FRESHNESS")
@pytest.mark.parametrize("change", [nothing, edit, add, remove])
def test_an_answer_with_a_walk_ahead_is_the_answer_without(
    home: Path, tree: Path, change: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    change(tree)
    alone = asked(home, tree)
    let_fork(monkeypatch)
    monkeypatch.setattr(walk_ahead, "FILES_MIN", 1)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    begun = _counted(monkeypatch)
    assert asked(home, tree) == alone
    assert begun == [True], "the walk was made ahead"


def _counted(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Notes for each walk ahead whether it had a result."""
    results: list[bool] = []
    real = WalkAhead.result

    def noted(self: WalkAhead) -> walk_ahead.Seen | None:
        found = real(self)
        results.append(found is not None)
        return found

    monkeypatch.setattr(WalkAhead, "result", noted)
    return results


@pytest.mark.usefixtures("forks")
def test_a_file_that_changes_while_its_question_is_ranked_is_noticed(
    home: Path, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    look, here = walk_ahead.looked_at, os.getpid()

    def stopped(*arguments: Any) -> Any:
        if os.getpid() != here:
            os.kill(os.getpid(), signal.SIGSTOP)
        return look(*arguments)

    def held(self: WalkAhead) -> WalkAhead:
        os.waitpid(self.process.pid, os.WUNTRACED)
        edit(tree)
        os.kill(self.process.pid, signal.SIGCONT)
        return self

    monkeypatch.setattr(walk_ahead, "looked_at", stopped)
    monkeypatch.setattr(WalkAhead, "__enter__", held)
    shown, mode = asked(home, tree, "handler_edited")
    assert mode == "overlay"
    assert any("handler_edited" in each for each in shown)


@pytest.mark.shows("SEC-KILLED", "SEC-STOPPED")
@pytest.mark.parametrize("signal_sent", [signal.SIGKILL, signal.SIGSTOP])
@pytest.mark.usefixtures("forks")
def test_a_walk_that_is_killed_or_stopped_proves_nothing(
    home: Path, tree: Path, signal_sent: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frozen_process, "Watch", partial(frozen_process.Watch, look_s=0.01))
    edit(tree)
    look, here = walk_ahead.looked_at, os.getpid()

    def dying(*arguments: Any) -> Any:
        if os.getpid() != here:
            os.kill(os.getpid(), signal_sent)
        return look(*arguments)

    monkeypatch.setattr(walk_ahead, "looked_at", dying)
    results = _counted(monkeypatch)
    shown, mode = asked(home, tree, "handler_edited")
    assert results == [False]
    assert mode == "overlay"
    assert any("handler_edited" in each for each in shown)


@pytest.mark.usefixtures("forks")
def test_the_process_is_gone_after_the_answer_and_after_an_error(
    home: Path, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pids: list[int] = []
    real = WalkAhead.__enter__

    def noted(self: WalkAhead) -> WalkAhead:
        pids.append(self.process.pid)
        return real(self)

    monkeypatch.setattr(WalkAhead, "__enter__", noted)
    asked(home, tree)
    monkeypatch.setattr(
        "holdfast.index.tools.search.retrieve", lambda *_: (_ for _ in ()).throw(KeyError("x"))
    )
    with pytest.raises(KeyError):
        asked(home, tree)
    assert len(pids) == 2
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


@pytest.mark.usefixtures("any_size")
def test_with_another_thread_nothing_is_forked(
    home: Path, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = _counted(monkeypatch)
    end = threading.Event()
    thread = threading.Thread(target=end.wait)
    thread.start()
    try:
        asked(home, tree)
    finally:
        end.set()
        thread.join()
    assert not results


@pytest.mark.shows("INDEX-FRESHNESS")
@pytest.mark.usefixtures("forks")
@pytest.mark.parametrize("change", [nothing, edit, add, remove])
def test_a_walk_that_began_for_the_next_question_is_its_walk(
    home: Path, tree: Path, change: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    change(tree)
    alone = asked(home, tree)
    begun, results = _begun(monkeypatch), _counted(monkeypatch)
    index = opened(home)
    index.expect_question(str(tree / "part1"))
    answer = search_code(index, str(tree), "handler")
    index.close()
    assert answer.freshness_decision is not None
    shown = [f"{r.file}:{r.preview or r.content}" for r in answer.results]
    assert (shown, answer.freshness_decision.mode) == alone
    assert (len(begun), results) == (1, [True])
    assert _is_gone(begun[0])


@pytest.mark.usefixtures("forks")
def test_a_walk_for_a_generation_that_was_replaced_is_not_used(
    home: Path, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = _begun(monkeypatch)
    index = opened(home)
    index.expect_question(str(tree))
    edit(tree)
    other = opened(home)
    assert manage_index(other, "sync", str(tree)).status == "ok"
    other.close()
    answer = search_code(index, str(tree), "handler_edited")
    index.close()
    assert any("handler_edited" in (r.preview or r.content or "") for r in answer.results)
    assert answer.freshness_decision is not None
    assert answer.freshness_decision.mode == "skipped_source_unchanged"
    assert len(begun) == 2
    assert all(map(_is_gone, begun))


@pytest.mark.usefixtures("forks")
def test_a_walk_without_its_question_ends_with_the_index(
    home: Path, tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = _begun(monkeypatch)
    index = opened(home)
    index.expect_question(str(tmp_path / "untracked"))
    assert not begun
    index.expect_question(str(tree))
    index.close()
    assert len(begun) == 1
    assert _is_gone(begun[0])


def _begun(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The processes of walks that began."""
    pids: list[int] = []
    real = WalkAhead.__init__

    def noted(self: WalkAhead, *arguments: Any) -> None:
        real(self, *arguments)
        pids.append(self.process.pid)

    monkeypatch.setattr(WalkAhead, "__init__", noted)
    return pids


def _is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_the_manifest_of_a_check_is_made_once_and_only_when_it_is_used() -> None:
    made: list[Snapshot] = []

    def manifest() -> Snapshot:
        made.append(Snapshot({}, 1))
        return made[-1]

    fresh = FreshFiles((1, "run"), manifest, 0.0)
    assert not made
    assert fresh.before is fresh.before
    assert len(made) == 1


def test_comparing_the_files_of_an_answer_makes_no_entry_for_each_file_of_the_tree(
    home: Path, tree: Path
) -> None:
    index, some = opened(home), ["part0/file0.py", "part1/file1.py"]
    with index.backend.reader(str(tree)) as reader:
        fresh = FreshFiles(reader.identity, reader.snapshot_later(), 0.0)
    index.close()
    assert not moved(str(tree), some, fresh)
    edit(tree)
    assert moved(str(tree), some, fresh)
    assert isinstance(fresh.before.entries, EntryColumns)
