"""Looks at a tree for an answer: what they read, and that remembering changes no verdict."""

from __future__ import annotations

import mmap
import os
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.files import disk
from holdfast.files.policy import Policy
from holdfast.files.snapshot import RACY_NS, Entry, Snapshot, Stat
from holdfast.index.building.prepare import prepare
from holdfast.index.facts.extract import extract
from holdfast.index.generations.changed_files import all_confirmed, differences
from holdfast.index.generations.freshness import FreshFiles, FreshnessChecks, mode_of
from tests.scale import examples


class Manifest:
    """A reader that has only the manifest of one generation."""

    identity = (1, "run")

    def __init__(self, root: Path, taken_ns: int) -> None:
        self._snapshot = Snapshot(
            {
                path.name: Entry(_stat(path), disk.digest(path.read_bytes()))
                for path in root.iterdir()
            },
            taken_ns,
        )

    def snapshot(self) -> Snapshot:
        return self._snapshot

    def listings(self) -> bytes | None:
        return None


def _stat(path: Path) -> Stat:
    found = path.stat()
    return Stat(found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def look(checks: FreshnessChecks, root: Path, reader: Any, watched: bool = False) -> FreshFiles:
    return checks.check(str(root), reader, Policy(), lambda file: prepare(file, extract), watched)


@pytest.mark.shows("INDEX-FRESHNESS")
def test_a_file_that_was_just_made_is_read_until_it_was_found_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text("x = 1\n")
    made_ns = max(_stat(path).ctime_ns for path in tmp_path.iterdir())
    now_ns = made_ns
    checks = FreshnessChecks(now_ns=lambda: now_ns)
    reader = Manifest(tmp_path, made_ns)
    read: list[str] = []
    real = disk.read_file

    def noted(root: str, key: str) -> tuple[bytes, Stat]:
        read.append(key)
        return real(root, key)

    monkeypatch.setattr(disk, "read_file", noted)
    look(checks, tmp_path, reader)
    assert sorted(read) == ["a.py", "b.py"], "a write may have followed in the same tick"
    read.clear()
    now_ns = made_ns + 2 * RACY_NS
    look(checks, tmp_path, reader)
    assert sorted(read) == ["a.py", "b.py"], "what was read just then tells nothing yet"
    read.clear()
    look(checks, tmp_path, reader)
    assert read == []
    (tmp_path / "a.py").write_text("x = 2\n")
    assert list(look(checks, tmp_path, reader).changed) == ["a.py"]
    assert read == ["a.py"]


EDIT = st.tuples(
    st.sampled_from(["write", "sneak", "touch", "remove", "look"]),
    st.sampled_from(["a.py", "b.py", "c.py"]),
    st.integers(0, 1),
    st.integers(0, 3),
)


@pytest.mark.shows("INDEX-FRESHNESS")
@settings(deadline=None, max_examples=examples(60))
@given(edits=st.lists(EDIT, max_size=12))
def test_remembering_what_was_read_changes_no_verdict(
    tmp_path_factory: pytest.TempPathFactory, edits: list[tuple[str, str, int, int]]
) -> None:
    """The twin is a look that remembers nothing. `sneak` is a write whose time is put back, as far
    as one can: the time of the change of its inode moves."""
    root = tmp_path_factory.mktemp("tree")
    for name in ("a.py", "b.py"):
        (root / name).write_text("x = 0\n")
    now_ns = taken_ns = max(_stat(path).ctime_ns for path in root.iterdir())
    checks = FreshnessChecks(now_ns=lambda: now_ns)
    reader = Manifest(root, taken_ns)
    for verb, name, value, seconds in [*edits, ("look", "", 0, 3), ("look", "", 0, 0)]:
        path = root / name
        now_ns += seconds * 1_000_000_000
        if verb == "write":
            path.write_text(f"x = {value}\n")
        elif verb == "sneak" and path.exists():
            before = path.stat()
            path.write_text(f"x = {value}\n")
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        elif verb == "touch" and path.exists():
            os.utime(path)
        elif verb == "remove":
            path.unlink(missing_ok=True)
        else:
            found = look(checks, root, reader)
            plain = look(FreshnessChecks(now_ns=lambda: 0), root, reader)
            assert {k: f.entry for k, f in found.changed.items()} == {
                k: f.entry for k, f in plain.changed.items()
            }
            assert (found.gone, found.mode, found.added, found.modified) == (
                plain.gone, plain.mode, plain.added, plain.modified,
            )  # fmt: skip


@pytest.mark.shows("INDEX-FRESHNESS")
def test_a_change_that_no_time_tells_is_seen_at_every_look(tmp_path: Path) -> None:
    """A write in the tick in which the manifest was made: the same stat, and other bytes."""
    (tmp_path / "a.py").write_text("x = 1\n")
    stat = _stat(tmp_path / "a.py")
    reader = Manifest(tmp_path, stat.ctime_ns)
    reader.snapshot = lambda: Snapshot(  # type: ignore[method-assign]
        {"a.py": Entry(stat, disk.digest(b"x = 0\n"))}, stat.ctime_ns
    )
    checks = FreshnessChecks(now_ns=lambda: stat.ctime_ns + 5 * RACY_NS)
    for _ in range(3):
        assert list(look(checks, tmp_path, reader).changed) == ["a.py"]


@pytest.mark.shows("INDEX-FRESHNESS")
def test_a_sync_counts_from_when_it_looked_and_not_from_when_it_ended() -> None:
    now = 10.0
    checks = FreshnessChecks(clock=lambda: now)
    began = checks.moment()
    now = 11.0
    checks.synced("/tree", (1, "run"), Snapshot({}, 0), began)
    assert checks.recent("/tree", (1, "run"), Policy()) is None


@pytest.mark.shows("INDEX-FRESHNESS")
def test_a_check_counts_as_proved_only_while_the_kernel_reports_nothing(tmp_path: Path) -> None:
    """A command in the host gives the answer that it would give in its own process."""
    (tmp_path / "a.py").write_text("x = 1\n")
    reader = Manifest(tmp_path, _stat(tmp_path / "a.py").ctime_ns)
    checks = FreshnessChecks(clock=lambda: 0.0)
    root = str(tmp_path)

    def proved() -> bool:
        return checks.recent(root, reader.identity, Policy(), proved=True) is not None

    look(checks, tmp_path, reader, watched=False)
    assert checks.recent(root, reader.identity, Policy()) is not None
    assert not proved()
    for _ in range(2):  # the first one starts the watch, the second one is covered by it
        look(checks, tmp_path, reader, watched=True)
    assert proved()
    (tmp_path / "a.py").write_text("x = 2\n")
    assert not proved()
    checks.close()


@pytest.mark.shows("INDEX-FRESHNESS")
def test_a_check_of_a_watched_tree_is_renewed_by_the_times_of_its_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel does not report a write to memory that a file is mapped into."""
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text("x = 1\n")
    now, walks = 0.0, 0
    reader = Manifest(tmp_path, _stat(tmp_path / "b.py").ctime_ns + RACY_NS)
    (tmp_path / "b.py").write_text("x = 2\n")
    checks = FreshnessChecks(clock=lambda: now)
    with open(tmp_path / "a.py", "r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
        for _ in range(2):
            assert list(look(checks, tmp_path, reader, watched=True).changed) == ["b.py"]

        def recent() -> FreshFiles | None:
            return checks.recent(str(tmp_path), reader.identity, Policy(), proved=True)

        real = disk.walk

        def walk(*arguments: Any) -> disk.Walk:
            nonlocal walks
            walks += 1
            return real(*arguments)

        monkeypatch.setattr(disk, "walk", walk)
        for seconds in (11.0, 22.0, 33.0):
            now = seconds
            found = recent()
            assert found is not None
            assert list(found.changed) == ["b.py"]
        assert not walks
        mapped[4:5] = b"9"
        mapped.flush()
        now = 44.0
        assert recent() is None, "the times tell"
        assert sorted(look(checks, tmp_path, reader, watched=True).changed) == ["a.py", "b.py"]
        now = 643.0
        assert recent() is not None
        now = 654.0
        assert recent() is None, "walked again after ten minutes"
    checks.close()


def entry(digest: str, mtime_ns: int = 1) -> Entry:
    return Entry(Stat(1, mtime_ns, mtime_ns), digest)


@pytest.mark.shows("INDEX-FRESHNESS")
def test_a_file_that_was_not_read_is_never_reported_as_removed() -> None:
    before = Snapshot({"a": entry("1"), "b": entry("2"), "sub/c": entry("3"), "d": entry("4")}, 0)
    changes = differences(before, ["a", "b", "new"], ["sub/c", "d"], {"a": entry("9")}, {"sub"})
    assert (changes.modified, changes.removed, changes.added) == (("a",), ("d",), ())


@pytest.mark.shows("INDEX-FRESHNESS")
def test_only_files_whose_stat_is_as_stored_have_to_be_confirmed() -> None:
    before = Snapshot({"same": entry("1"), "touched": entry("2")}, 0)
    stats = {"same": entry("1").stat, "touched": entry("2", 5).stat, "new": entry("3").stat}
    assert not all_confirmed(before, stats, stats, {})
    assert not all_confirmed(before, stats, stats, {"same": entry("changed")})
    assert all_confirmed(before, stats, stats, {"same": entry("1")})


@pytest.mark.parametrize(
    ("fields", "mode"),
    [
        ({}, "skipped_source_unchanged"),
        ({"gone": frozenset({"a"})}, "overlay"),
        ({"gone": frozenset({"a"}), "beyond": 1}, "overlay_partial"),
        ({"unreadable": 1}, "overlay_partial"),
    ],
)
@pytest.mark.shows("INDEX-FRESHNESS")
def test_the_mode_says_whether_all_changes_are_in_the_answer(
    fields: dict[str, Any], mode: str
) -> None:
    assert mode_of(FreshFiles((1, "run"), Snapshot({}, 0), 0.0, **fields)) == mode


@pytest.mark.shows("INDEX-FRESHNESS-SHARED")
def test_callers_that_ask_at_the_same_time_share_a_check_that_began_after_they_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of many searches of one tree walked it, and each made the others wait."""
    (tmp_path / "a.py").write_text("x = 1\n")
    checks, reader = FreshnessChecks(), Manifest(tmp_path, _stat(tmp_path / "a.py").ctime_ns)
    walks: list[str] = []
    walking, go_on = threading.Event(), threading.Event()
    real = disk.walk

    def gated(root: str, policy: Policy) -> disk.Walk:
        walks.append(root)
        found = real(root, policy)
        if len(walks) == 1:
            walking.set()
            assert go_on.wait(60)
        return found

    monkeypatch.setattr(disk, "walk", gated)
    found: dict[str, FreshFiles] = {}

    def ask() -> None:
        found[threading.current_thread().name] = look(checks, tmp_path, reader)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    threads[0].start()
    assert walking.wait(60)
    # The first walk has seen the file as it was; those that ask now must see the edit.
    (tmp_path / "a.py").write_text("x = 22\n")
    asked = Counted(checks._turns[str(tmp_path)].lock, 7)
    checks._turns[str(tmp_path)].lock = asked  # type: ignore[assignment]
    for thread in threads[1:]:
        thread.start()
    assert asked.all_here.wait(60)
    go_on.set()
    for thread in threads:
        thread.join(60)
    assert len(walks) == 2
    first = found.pop(threads[0].name)
    (second,) = {id(each): each for each in found.values()}.values()
    assert first is not second
    assert list(second.changed) == ["a.py"]


class Counted:
    """A lock that tells when so many threads wait for it."""

    def __init__(self, lock: Any, waiting: int) -> None:
        self._lock, self._waiting, self._counting = lock, waiting, threading.Lock()
        self.all_here = threading.Event()

    def __enter__(self) -> None:
        with self._counting:
            self._waiting -= 1
            if not self._waiting:
                self.all_here.set()
        self._lock.acquire()

    def __exit__(self, *error: object) -> None:
        self._lock.release()
