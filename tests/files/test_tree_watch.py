"""A watched tree: while it is quiet, a walk finds what the walk before found."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.files import disk
from holdfast.files.tree_watch import CannotWatch, TreeWatch
from tests.files.test_listing_cache import change
from tests.scale import seeds


@pytest.fixture
def watch(root: Path) -> Iterator[TreeWatch]:
    try:
        made = TreeWatch(str(root))
    except CannotWatch as why:
        pytest.skip(str(why))
    yield made
    made.close()


def walked(watch: TreeWatch, root: Path) -> tuple[int, disk.Walk]:
    """A walk that is covered: the second one, if the first found new directories."""
    for _ in range(2):
        turn = watch.begin()
        found = disk.walk(str(root))
        if watch.covers(found.directories):
            return turn, found
    raise AssertionError("the second walk finds no new directory")


@pytest.mark.shows("FILES-WATCHED")
@pytest.mark.parametrize("seed", seeds(8))
def test_a_quiet_tree_has_not_changed(watch: TreeWatch, root: Path, seed: int) -> None:
    rng = random.Random(seed)
    quiet = 0
    turn, before = walked(watch, root)
    for _ in range(60):
        done = change(root, rng) if rng.random() < 0.7 else "nothing"
        if watch.is_quiet(turn):
            quiet += 1
            now = disk.walk(str(root))
            assert (now.stats, +now.skipped) == (before.stats, +before.skipped), done
        else:
            assert not watch.is_quiet(turn), "until the next walk"
            turn, before = walked(watch, root)
    assert quiet


@pytest.mark.shows("FILES-WATCHED")
def test_every_kind_of_change_is_reported(watch: TreeWatch, root: Path) -> None:
    file, moved = root / "sub" / "b.py", root / "sub" / "c.py"
    # The same size and times, so that only the report tells.
    seen = file.stat()

    def rewrite_in_place() -> None:
        file.write_text("z = 1\n")
        os.utime(file, ns=(seen.st_atime_ns, seen.st_mtime_ns))

    def replace_folder() -> None:
        (root / "sub").rename(root.parent / "elsewhere")
        (root / "sub").mkdir()

    for act in (
        rewrite_in_place, lambda: file.chmod(0o600), lambda: os.utime(file),
        lambda: file.rename(moved), moved.unlink, lambda: (root / "new").mkdir(),
        replace_folder,
    ):  # fmt: skip
        turn, _ = walked(watch, root)
        assert watch.is_quiet(turn)
        act()
        assert not watch.is_quiet(turn)


@pytest.mark.shows("FILES-WATCHED")
def test_a_change_in_a_new_folder_is_reported(watch: TreeWatch, root: Path) -> None:
    walked(watch, root)
    (root / "new").mkdir()
    turn = watch.begin()
    assert not watch.covers(disk.walk(str(root)).directories), "it was not watched in time"
    turn, _ = walked(watch, root)
    (root / "new" / "c.py").write_text("z = 1\n")
    assert not watch.is_quiet(turn)


@pytest.mark.shows("FILES-WATCHED")
def test_another_tree_in_its_place_is_noticed(watch: TreeWatch, root: Path) -> None:
    """The names above a tree are not watched."""
    outer = root.parent
    turn, _ = walked(watch, root)
    outer.rename(outer.with_name("was"))
    root.mkdir(parents=True)
    assert not watch.is_quiet(turn)


@pytest.mark.shows("FILES-WATCHED")
def test_a_result_holds_for_its_own_turn_only(watch: TreeWatch, root: Path) -> None:
    """Another thread may begin a walk after a change, and must not hide it from an older result."""
    turn, _ = walked(watch, root)
    (root / "a.py").write_text("x = 2\n")
    later, _ = walked(watch, root)
    assert watch.is_quiet(later)
    assert not watch.is_quiet(turn)


@pytest.mark.shows("FILES-WATCHED")
def test_lost_reports_and_a_full_system_mean_not_quiet(
    watch: TreeWatch, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn, found = walked(watch, root)
    limit = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    if limit <= 65_536:
        file = root / "a.py"
        for n in range(limit // 2 + 10):
            os.utime(file, ns=(n, n))
            os.utime(root / "sub" / "b.py", ns=(n, n))
        assert not watch.is_quiet(turn)
        assert not watch.covers(found.directories), "all are watched anew after a loss"
    turn, found = walked(watch, root)
    watch.close()
    assert not watch.is_quiet(turn)
    assert not watch.covers(found.directories)


@pytest.mark.shows("FILES-WATCHED")
def test_a_file_with_a_name_elsewhere_is_counted(root: Path, tmp_path: Path) -> None:
    assert disk.walk(str(root)).linked == 0
    os.link(root / "a.py", tmp_path / "elsewhere.py")
    assert disk.walk(str(root)).linked == 1
    assert disk.walk(str(root)).linked == 1, "also from known listings"
