"""A look that remembers the last one, against a look that does not."""

from __future__ import annotations

import itertools
import os
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.files import disk, memory

FAR_NS = 2**62
"""A look so late that no directory was touched about then."""

numbers = itertools.count(1)

OPERATIONS = st.lists(
    st.tuples(
        st.sampled_from(["write", "remove", "folder", "link", "run", "ignore"]),
        st.sampled_from(["", "a", "a/b", "c", "build"]),
        st.sampled_from(["x.py", "y.js", "tool", "z.weird", "notes.md", "a", "b"]),
    ),
    max_size=25,
)


def forgetful(root: Path) -> disk.Walk:
    """A look without memory; the memory stays as it is."""
    kept = dict(memory._trees)
    memory._trees.clear()
    try:
        return disk.walk(str(root))
    finally:
        memory._trees.clear()
        memory._trees.update(kept)


def do(root: Path, what: str, where: str, name: str) -> None:
    folder = root / where
    if any(above.is_symlink() or above.is_file() for above in (folder, *folder.parents)):
        return
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    if what != "ignore" and (path.is_symlink() or path.is_file()):
        path.unlink()
    elif what == "remove" and path.is_dir():
        shutil.rmtree(path)
    match what:
        case "write" if not path.is_dir():
            path.write_text(f"{name} = {next(numbers)}\n")
        case "folder":
            path.mkdir(exist_ok=True)
        case "link" if not path.is_dir():
            path.symlink_to(root)
        case "run" if not path.is_dir():
            path.write_text("#!/bin/sh\n")
            path.chmod(0o755)
        case "ignore":
            (folder / ".gitignore").write_text(f"{name}\n")
    # Every change has a time of its own, however fast the test is.
    for above in (folder, *folder.parents):
        os.utime(above, ns=(next(numbers),) * 2)
        if above == root:
            break


@pytest.mark.shows("FILES-MEMORY")
@settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(operations=OPERATIONS)
def test_a_look_with_memory_sees_what_one_without_sees(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, operations: list[tuple[str, str, str]]
) -> None:
    monkeypatch.setattr(disk, "_trusted", lambda root: True)
    root = tmp_path / f"tree{next(numbers)}"
    root.mkdir()
    for operation in operations:
        do(root, *operation)
        assert disk.walk(str(root), now_ns=lambda: FAR_NS) == forgetful(root)


@pytest.mark.shows("FILES-MEMORY")
def test_a_directory_is_listed_once_while_nothing_comes_or_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk, "_trusted", lambda root: True)
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "x.py").write_text("x = 1\n")
    first = disk.walk(str(tmp_path), now_ns=lambda: FAR_NS)
    listed: list[str] = []
    scandir = os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: listed.append(path) or scandir(path))
    assert disk.walk(str(tmp_path), now_ns=lambda: FAR_NS) == first
    assert listed == []
    (tmp_path / "a" / "x.py").write_text("x = 22\n")
    assert disk.walk(str(tmp_path), now_ns=lambda: FAR_NS).stats["a/x.py"].size_bytes == 7
    assert listed == []


@pytest.mark.shows("FILES-MEMORY")
def test_a_directory_touched_about_when_it_was_listed_is_listed_again(tmp_path: Path) -> None:
    # With the real clock: files come in the same tick as the look before them.
    for number in range(30):
        (tmp_path / f"m{number}.py").write_text("")
        assert len(disk.walk(str(tmp_path)).stats) == number + 1


@pytest.mark.shows("FILES-MEMORY")
def test_where_times_are_not_known_to_tell_every_directory_is_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk, "_trusted", lambda root: False)
    disk.walk(str(tmp_path), now_ns=lambda: FAR_NS)
    before = os.stat(tmp_path)
    (tmp_path / "x.py").write_text("")
    os.utime(tmp_path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert list(disk.walk(str(tmp_path), now_ns=lambda: FAR_NS).stats) == ["x.py"]


TABLE = (
    "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
    "23 22 0:5 / /home/me/far rw - nfs4 host:/x rw\n"
    "24 22 0:6 / /home/me/two\\040words rw - btrfs /dev/b rw\n"
    "25 22 0:7 / /over rw - ext4 /dev/c rw\n"
    "26 25 0:8 / /over rw - fuse.sshfs x rw\n"
)


@pytest.mark.shows("FILES-MEMORY")
@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/home/me", "ext4"), ("/home/me/far", "nfs4"), ("/home/me/far/deep/er", "nfs4"),
        ("/home/me/farther", "ext4"), ("/home/me/two words/a", "btrfs"), ("/over/x", "fuse.sshfs"),
    ],
)  # fmt: skip
def test_the_kind_of_file_system_is_that_of_the_nearest_mount(path: str, kind: str) -> None:
    assert disk.kind_at(TABLE, path) == kind
    assert disk.kind_at("", path) == ""
