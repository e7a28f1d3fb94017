"""A disk without room: every command says so, and works again once there is room."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

WAIT_S = 120


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A small disk of its own."""
    mount = ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(tmp_path)]
    try:
        mounted = subprocess.run(mount, capture_output=True, check=False).returncode == 0
    except OSError:
        mounted = False
    if not mounted:
        pytest.skip("mounting a small disk needs root")
    try:
        yield tmp_path
    finally:
        subprocess.run(["umount", "-l", str(tmp_path)], check=True)


def cli(disk: Path, *words: str) -> tuple[int, str]:
    ended = subprocess.run(
        [sys.executable, "-m", "holdfast.cli.main", *words],
        cwd=disk / "tree",
        env={**os.environ, "HOLDFAST_HOME": str(disk / "home"), "HOLDFAST_DATABASE_URL": ""},
        capture_output=True,
        text=True,
        timeout=WAIT_S,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    return ended.returncode, ended.stdout + ended.stderr


def fill(disk: Path) -> Path:
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file:
        for size in (1 << 16, 1 << 10):
            try:
                while file.write(bytes(size)) == size:
                    pass
            except OSError:
                continue
    return filler


@pytest.mark.long
@pytest.mark.shows("SEC-FULL-DISK")
def test_a_full_disk_is_named_and_nothing_is_left_that_blocks_the_next_try(disk: Path) -> None:
    (disk / "tree").mkdir()
    (disk / "tree" / "a.py").write_text("def needle():\n    return 1\n")
    assert cli(disk, "memory", "set", "note:a", "1")[0] == 0
    filler = fill(disk)

    code, said = cli(disk, "read", "a.py", "--session", "s1")
    assert (code, "def needle" in said, "every read is plain text" in said) == (0, True, True)
    for words in (("memory", "get", "note:a"), ("memory", "set", "note:b", "2")):
        code, said = cli(disk, *words)
        assert code == 1, said
        assert "the disk is full" in said
        assert "free some space" in said
    for words in (("keys", "new", "k"), ("index", "create", ".")):
        code, said = cli(disk, *words)
        assert code == 1, said
        assert "No space left on device" in said
    assert list((disk / "home" / "keys").iterdir()) == []

    filler.unlink()
    for words in (
        ("memory", "get", "note:a"),
        ("memory", "set", "note:b", "2"),
        ("keys", "new", "k"),
        ("index", "create", "."),
    ):
        code, said = cli(disk, *words)
        assert code == 0, said
