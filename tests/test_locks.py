"""A lock is not waited for without limit: its holder may be stopped."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest

from holdfast import locks
from holdfast.index.generations.registry import Registry
from holdfast.locks import LockHeld, holder_of, take_lock
from holdfast.sequence.segment_store import SegmentStore
from tests.stopping import stopped_holder

pytestmark = pytest.mark.skipif(not Path("/proc/locks").exists(), reason="who holds it is unknown")


class Clock:
    """Counts the time that is waited, without waiting."""

    def __init__(self) -> None:
        self.waited_s = 0.0

    def sleep(self, seconds: float) -> None:
        self.waited_s += seconds


@pytest.mark.shows("SEC-STOPPED-LOCK")
def test_a_lock_of_a_stopped_process_is_given_up_soon_and_the_process_is_named(
    tmp_path: Path,
) -> None:
    clock, path = Clock(), tmp_path / "lock"
    with stopped_holder(path) as pid, path.open("a") as file:
        with pytest.raises(LockHeld, match=f"process {pid} is stopped and holds the lock") as error:
            take_lock(file.fileno(), str(path), 1_000.0, sleep=clock.sleep)
        assert f"kill -CONT {pid}" in error.value.hint
    assert locks.STOPPED_S <= clock.waited_s < locks.STOPPED_S + 1


@pytest.mark.shows("SEC-STOPPED-LOCK")
def test_a_lock_of_a_process_that_works_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with path.open("a") as ours, path.open("a") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        assert holder_of(ours.fileno()) == os.getpid()
        clock = Clock()
        with pytest.raises(LockHeld, match=f"process {os.getpid()} holds the lock"):
            take_lock(ours.fileno(), str(path), 30.0, sleep=clock.sleep)
        assert clock.waited_s >= 30.0

        def release(_: float) -> None:
            fcntl.flock(other, fcntl.LOCK_UN)

        take_lock(ours.fileno(), str(path), 30.0, sleep=release)
        assert holder_of(ours.fileno()) == os.getpid()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    assert take_lock.__kwdefaults__ is not None
    monkeypatch.setitem(take_lock.__kwdefaults__, "stopped_s", 0.06)


@pytest.mark.shows("SEC-STOPPED-LOCK")
@pytest.mark.usefixtures("impatient")
def test_the_registry_and_the_segments_of_a_stopped_writer_are_refused_with_its_name(
    tmp_path: Path,
) -> None:
    """Every command that writes waited without limit."""
    registry = Registry(tmp_path / "registry.json")
    with stopped_holder(tmp_path / "registry.lock") as pid:
        with pytest.raises(LockHeld, match=str(pid)):
            registry.change(str(tmp_path.resolve()), lambda record: record)
        assert registry.find(str(tmp_path.resolve())) is None, "reading needs no lock"
    registry.change(str(tmp_path.resolve()), lambda record: record)
    store = SegmentStore(tmp_path / "segments")
    lock = tmp_path / "segments" / "lock"
    with stopped_holder(lock) as pid, pytest.raises(LockHeld, match=str(pid)):
        store.refresh([], [])
    store.refresh([], [])
