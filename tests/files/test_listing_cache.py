"""Looks that remember directories, judged by looks that remember nothing."""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.files import disk, listing_cache, mounts
from holdfast.files.ignore_files import IGNORE_FILES
from holdfast.files.policy import Policy
from holdfast.files.snapshot import RACY_NS
from holdfast.files.tree_stats import TIME_MAX
from tests.scale import seeds

LATER = 10 * RACY_NS
"""A clock so far ahead takes every directory for settled, as most are in a tree that rests."""


@pytest.fixture(autouse=True)
def forgetful() -> Iterator[None]:
    listing_cache._trees.clear()
    yield
    listing_cache._trees.clear()


def ahead() -> int:
    return time.time_ns() + LATER


def forgetting(root: Path) -> disk.Walk:
    """The twin: a look under a policy that nobody looked with before."""
    listing_cache._trees.pop((str(root), TWIN), None)
    return disk.walk(str(root), TWIN)


TWIN = Policy(custom_extensions=("twin",))


def next_tick(beside: Path) -> None:
    """Wait for the file system's clock, so that the next change has a time of its own."""
    probe = beside / "tick"
    probe.write_text("")
    first = probe.stat().st_mtime_ns
    while probe.stat().st_mtime_ns == first:
        probe.write_text("")


def put(path: Path, text: str) -> None:
    if not path.is_dir():
        if path.is_symlink():
            path.unlink()
        path.write_text(text)


def change(root: Path, rng: random.Random) -> str:
    """Do one thing to the tree, and say what."""
    folders = [Path(at) for at, _, _ in os.walk(root)]
    paths = [Path(at) / name for at, _, names in os.walk(root) for name in names]
    files = [path for path in paths if not path.is_symlink()]
    folder = rng.choice(folders)
    kind = rng.choice(
        ["file", "file", "folder", "rules", "remove", "rename", "edit", "mode", "swap"]
    )
    name = rng.choice(["a.py", "b.js", "c.png", "run", "notes.md", "x.weird", "build.py"])
    if kind == "file":
        put(folder / name, "#!/bin/sh\necho 1\n")
    elif kind == "folder":
        (folder / rng.choice(["lib", "build", "deep", "node_modules"])).mkdir(exist_ok=True)
    elif kind == "rules":
        rules = rng.choice(["*.js\n", "lib/\n", "!a.py\n*.md\n", ""])
        put(folder / rng.choice([".gitignore", ".holdfastignore"]), rules)
    elif not files:
        return "nothing"
    elif kind == "remove":
        rng.choice(files).unlink()
    elif kind == "rename":
        rng.choice(files).rename(folder / f"renamed-{name}")
    elif kind == "edit":
        with rng.choice(files).open("a") as file:
            file.write("more\n")
    elif kind == "mode":
        rng.choice(files).chmod(rng.choice([0o644, 0o755]))
    else:  # A file becomes a link to itself's neighbour, which is not followed.
        path = rng.choice(files)
        path.unlink()
        path.symlink_to("elsewhere.py")
    return f"{kind} in {folder.relative_to(root)}"


@pytest.mark.shows("FILES-REMEMBERED")
@pytest.mark.parametrize("seed", seeds(12))
def test_a_look_that_remembers_sees_what_one_that_forgets_sees(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    root = tmp_path / "tree"
    root.mkdir()
    policy = Policy(custom_extensions=TWIN.custom_extensions, size_bytes_max=1 << 21)
    done = []
    for _ in range(40):
        done.append(change(root, rng))
        seen = disk.walk(str(root), policy, ahead)
        twin = forgetting(root)
        assert seen.stats == twin.stats, (seed, done)
        assert +seen.skipped == +twin.skipped, (seed, done)
        assert seen.unreadable == twin.unreadable, (seed, done)
        next_tick(tmp_path)


@pytest.mark.shows("FILES-REMEMBERED")
def test_a_directory_that_rests_is_not_listed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk, "is_trusted", lambda root: True)
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.py").write_text("x = 1\n")
    disk.walk(str(tmp_path), None, ahead)
    listed: list[str] = []
    real = os.scandir

    def noting(path: str) -> object:
        listed.append(os.path.basename(path))
        return real(path)

    monkeypatch.setattr(os, "scandir", noting)
    assert set(disk.walk(str(tmp_path), None, ahead).stats) == {"sub/a.py"}
    assert listed == []
    next_tick(tmp_path.parent)
    (tmp_path / "sub" / "b.py").write_text("x = 2\n")
    assert set(disk.walk(str(tmp_path), None, ahead).stats) == {"sub/a.py", "sub/b.py"}
    assert listed == ["sub"]


@pytest.mark.shows("FILES-REMEMBERED")
def test_a_directory_with_names_that_do_not_tell_is_not_listed_again_and_scripts_are_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither an edit nor a new mode changes the times of the directory."""
    monkeypatch.setattr(disk, "is_trusted", lambda root: True)
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/OWNERS").write_text("everyone\n")
    (tmp_path / "sub/run").write_text("echo 1\n")
    (tmp_path / "sub/run").chmod(0o755)
    assert disk.walk(str(tmp_path), None, ahead).stats == {}
    monkeypatch.setattr(os, "scandir", lambda path: pytest.fail(f"listed {path}"))
    assert disk.walk(str(tmp_path), None, ahead).skipped["kind"] == 2
    (tmp_path / "sub/run").write_text("#!/bin/sh\necho 1\n")
    assert set(disk.walk(str(tmp_path), None, ahead).stats) == {"sub/run"}
    (tmp_path / "sub/run").chmod(0o644)
    assert disk.walk(str(tmp_path), None, ahead).stats == {}


@pytest.mark.shows("FILES-REMEMBERED")
@pytest.mark.parametrize("name", IGNORE_FILES)
@pytest.mark.parametrize("empty", ["", "# nothing yet\n"])
def test_rules_written_into_an_empty_control_file_hold_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, empty: str
) -> None:
    """A file of rules without a rule said as little as none, so its directory was taken for one
    without, and an edit in place was never seen: that leaves a directory's times as they are."""
    monkeypatch.setattr(disk, "is_trusted", lambda root: True)
    (tmp_path / name).write_text(empty)
    (tmp_path / "a.py").write_text("x = 1\n")
    assert "a.py" in disk.walk(str(tmp_path), None, ahead).stats
    (tmp_path / name).write_text("a.py\n")
    assert "a.py" not in disk.walk(str(tmp_path), None, ahead).stats


@pytest.mark.shows("FILES-REMEMBERED")
def test_a_directory_touched_about_when_it_was_listed_is_listed_again(tmp_path: Path) -> None:
    """A name may come in the same tick as the listing, and leave the times as they are."""
    (tmp_path / "a.py").write_text("x = 1\n")
    disk.walk(str(tmp_path))
    (known,) = listing_cache.listings_of(str(tmp_path), Policy()).values()
    stamp = listing_cache.stamp_of(os.lstat(tmp_path))
    assert not known.is_current(known.above, stamp)


@pytest.mark.shows("FILES-REMEMBERED")
def test_two_looks_at_once_do_not_spoil_each_other(tmp_path: Path) -> None:
    names = [f"f{n:03}.py" for n in range(60)]
    for name in names:
        (tmp_path / name).write_text("x = 1\n")
    stop = threading.Event()
    wrong: list[object] = []

    def looking() -> None:
        try:
            while not stop.is_set():
                found = set(disk.walk(str(tmp_path), None, ahead).stats)
                if not found >= set(names):
                    wrong.append(set(names) - found)
        except Exception as error:
            wrong.append(error)

    threads = [threading.Thread(target=looking) for _ in range(3)]
    for thread in threads:
        thread.start()
    for round in range(150):
        path = tmp_path / f"extra{round % 3}.py"
        path.unlink() if path.exists() else path.write_text("y = 1\n")
    stop.set()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.shows("FILES-REMEMBERED")
def test_where_times_are_not_known_to_tell_every_directory_is_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk, "is_trusted", lambda root: False)
    disk.walk(str(tmp_path), None, ahead)
    before = os.stat(tmp_path)
    (tmp_path / "x.py").write_text("")
    os.utime(tmp_path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert list(disk.walk(str(tmp_path), None, ahead).stats) == ["x.py"]


TABLE = (
    "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
    "23 22 0:5 / /home/me/far rw - nfs4 host:/x rw\n"
    "24 22 0:6 / /home/me/two\\040words rw - btrfs /dev/b rw\n"
    "25 22 0:7 / /over rw - ext4 /dev/c rw\n"
    "26 25 0:8 / /over rw - fuse.sshfs x rw\n"
)


@pytest.mark.shows("FILES-REMEMBERED")
@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/home/me", "ext4"), ("/home/me/far", "nfs4"), ("/home/me/far/deep/er", "nfs4"),
        ("/home/me/farther", "ext4"), ("/home/me/two words/a", "btrfs"), ("/over/x", "fuse.sshfs"),
    ],
)  # fmt: skip
def test_the_kind_of_file_system_is_that_of_the_nearest_mount(path: str, kind: str) -> None:
    assert mounts.kind_at(TABLE, path) == kind
    assert mounts.kind_at("", path) == ""


@pytest.mark.parametrize("seconds", [-(10**12), 10**12])
def test_a_time_that_cannot_be_stored_is_in_the_future(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds: int
) -> None:
    """In a directory that is listed as in one whose names are known."""
    (tmp_path / "a.py").write_text("x = 1\n")
    (tmp_path / "b.py").write_text("x = 1\n")
    real = os.lstat

    def lstat(path: str) -> os.stat_result:
        status = real(path)
        if not path.endswith("a.py"):
            return status
        times = {"st_mtime_ns": seconds * 10**9, "st_ctime_ns": status.st_ctime_ns}
        return os.stat_result(tuple(status), times)

    monkeypatch.setattr(disk, "is_trusted", lambda root: True)
    monkeypatch.setattr(os, "lstat", lstat)
    disk.walk(str(tmp_path), Policy(), ahead)
    known = disk.walk(str(tmp_path), Policy(), ahead)
    assert known.stats["a.py"].mtime_ns == TIME_MAX
    assert known.stats["b.py"].mtime_ns == real(tmp_path / "b.py").st_mtime_ns
    assert known.stats["a.py"].ctime_ns == real(tmp_path / "a.py").st_ctime_ns
