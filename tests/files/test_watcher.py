"""The watcher says *look again*, once for a burst, and stops when told."""

import threading
from pathlib import Path

import pytest

from holdfast.files.watcher import Watcher


@pytest.mark.shows("FILES-WATCHER")
def test_a_burst_of_writes_is_reported_and_version_control_is_not(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    seen: set[str] = set()
    calls = 0
    done = threading.Event()

    def changed(keys: frozenset[str]) -> None:
        nonlocal calls
        calls += 1
        seen.update(keys)
        if len(seen) >= 50:
            done.set()

    watcher = Watcher(str(tmp_path.resolve()), changed, debounce_ms=50)
    watcher.start()
    assert watcher.ready.wait(10)
    (tmp_path / ".git" / "index").write_text("x")
    for number in range(50):
        (tmp_path / f"{number}.py").write_text("x")
    assert done.wait(20)
    watcher.stop()
    assert not watcher.running
    assert seen == {f"{number}.py" for number in range(50)}
    assert calls < 50


@pytest.mark.shows("FILES-WATCHER")
def test_a_watcher_that_cannot_watch_says_so(tmp_path: Path) -> None:
    why: list[str] = []
    failed = threading.Event()

    def note(reason: str) -> None:
        why.append(reason)
        failed.set()

    watcher = Watcher(str(tmp_path / "gone"), lambda keys: None, failed=note)
    watcher.start()
    assert failed.wait(10)
    watcher.stop()
    assert why
