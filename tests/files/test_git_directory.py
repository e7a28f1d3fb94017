"""Which git directory counts as that of a tree: never another project's, never another user's."""

from __future__ import annotations

import os
import subprocess
import sys
import zlib
from collections.abc import Callable
from hashlib import sha1
from pathlib import Path

import pytest

from holdfast.files.git import open_repository
from holdfast.files.git_directory import find_git
from tests.files.hostile_git import git

OTHER = 65_534
"""A user that is not the one who runs the tests."""


def committed(root: Path, text: str) -> Path:
    root.mkdir(parents=True)
    git(root, "init", "-q")
    (root / "a.py").write_text(text)
    git(root, "add", ".")
    git(root, "commit", "-qm", "all")
    return root


@pytest.fixture
def private(tmp_path: Path) -> Path:
    """A repository that the hostile tree wants to be taken for."""
    return committed(tmp_path / "private", "SECRET = 1\n")


def git_file(tree: Path, private: Path) -> None:
    tree.mkdir()
    (tree / ".git").write_text(f"gitdir: {private / '.git'}\n")


def link(tree: Path, private: Path) -> None:
    tree.mkdir()
    (tree / ".git").symlink_to(private / ".git")


def common_directory(tree: Path, private: Path) -> None:
    committed(tree, "own = 1\n")
    (tree / ".git" / "commondir").write_text(f"{private / '.git'}\n")


def linked_objects(tree: Path, private: Path) -> None:
    committed(tree, "own = 1\n")
    for name in ("objects", "refs"):
        (tree / ".git" / name).rename(tree / name)
        (tree / ".git" / name).symlink_to(private / ".git" / name)


def false_work_tree(tree: Path, private: Path) -> None:
    """The `.git` file leads to a made-up linked work tree of the private repository."""
    tree.mkdir()
    made = tree.parent / "made" / "worktrees" / "tree"
    made.mkdir(parents=True)
    (made / "gitdir").write_text(f"{tree / '.git'}\n")
    (made / "commondir").write_text(f"{private / '.git'}\n")
    (made / "HEAD").write_text("ref: refs/heads/master\n")
    (tree / ".git").write_text(f"gitdir: {made}\n")


@pytest.mark.shows("SEC-GIT-OWN")
@pytest.mark.parametrize(
    "pretend", [git_file, link, common_directory, linked_objects, false_work_tree]
)
def test_a_tree_cannot_pass_the_commits_of_another_project_off_as_its_own(
    tmp_path: Path, private: Path, pretend: Callable[[Path, Path], None]
) -> None:
    """`impact` and `clones --since` in such a tree showed code of the other project."""
    pretend(tmp_path / "tree", private)
    with open_repository(tmp_path / "tree") as repo:
        assert repo is None


@pytest.mark.shows("SEC-GIT-OWN")
@pytest.mark.skipif(os.getuid() != 0, reason="giving a file to another user needs root")
@pytest.mark.parametrize("place", [".", "inside"])
def test_a_repository_that_another_user_planted_above_does_not_count(
    tmp_path: Path, place: str
) -> None:
    """As in /tmp, where everyone may make a `.git` with ignore rules that hide every file."""
    shared = committed(tmp_path / "shared", "a = 1\n")
    own = shared / "mine" / place
    own.mkdir(parents=True)
    assert find_git(own) is not None
    os.chown(shared / ".git", OTHER, OTHER)
    assert find_git(own) is None
    os.chown(own, OTHER, OTHER)
    assert find_git(own) is not None, "a whole checkout of another user, as in a container"


def test_work_trees_submodules_and_bare_layouts_count(tmp_path: Path, private: Path) -> None:
    git(private, "worktree", "add", "-q", str(tmp_path / "linked"), "-b", "other")
    git(private, "submodule", "add", "-q", str(committed(tmp_path / "lib", "b = 1\n")), "lib")
    bare = tmp_path / "bare"
    bare.mkdir()
    subprocess.run(["git", "clone", "-q", "--bare", private, bare / ".bare"], check=True)
    (bare / ".git").write_text("gitdir: ./.bare\n")
    git(bare, "worktree", "add", "-q", str(bare / "main"), "-b", "new")
    for place in (tmp_path / "linked", private / "lib", bare / "main"):
        with open_repository(place) as repo:
            assert repo is not None, place
            assert repo.commit("HEAD") is not None
    assert find_git(bare) is not None


@pytest.mark.shows("SEC-GIT-OWN")
def test_a_pipe_in_place_of_the_alternates_is_not_waited_for(private: Path) -> None:
    os.mkfifo(private / ".git" / "objects" / "info" / "alternates")
    with open_repository(private) as repo:
        assert repo is None


def _varint(number: int) -> bytes:
    made = bytearray()
    while number > 127:
        made.append(number & 127 | 128)
        number >>= 7
    return bytes([*made, number])


def _object(kind: int, size: int, data: bytes) -> bytes:
    head = bytearray([kind << 4 | size & 15])
    size >>= 4
    while size:
        head[-1] |= 128
        head.append(size & 127)
        size >>= 7
    return bytes(head) + data


def delta_bomb(root: Path, unfolded: int) -> str:
    """Add a pack whose second object claims to copy its base until it is huge; the object's name.

    A few kilobytes, as anyone can put them into a repository. The index is made by hand: git would
    unfold the object to check its name.
    """
    base = bytes(1 << 16)
    named = sha1(b"blob %d\0" % len(base) + base).digest()
    bomb = b"\xee" * 20
    step = 0xFFFF
    copies = b"\xb0\xff\xff" * (unfolded // step)
    delta = _varint(len(base)) + _varint(len(copies) // 3 * step) + copies
    first = _object(3, len(base), zlib.compress(base))
    second = _object(7, len(delta), named + zlib.compress(delta))
    pack = b"PACK" + (2).to_bytes(4, "big") + (2).to_bytes(4, "big") + first + second
    pack += sha1(pack).digest()
    entries = sorted([(named, 12, first), (bomb, 12 + len(first), second)])
    fan = b"".join(
        sum(name[0] <= byte for name, _, _ in entries).to_bytes(4, "big") for byte in range(256)
    )
    index = b"\xfftOc" + (2).to_bytes(4, "big") + fan + b"".join(name for name, _, _ in entries)
    index += b"".join(zlib.crc32(data).to_bytes(4, "big") for _, _, data in entries)
    index += b"".join(place.to_bytes(4, "big") for _, place, _ in entries) + pack[-20:]
    index += sha1(index).digest()
    place = root / ".git" / "objects" / "pack"
    (place / "pack-bomb.pack").write_bytes(pack)
    (place / "pack-bomb.idx").write_bytes(index)
    return bomb.hex()


@pytest.mark.shows("SEC-GIT-MEMORY")
@pytest.mark.skipif(sys.platform != "linux", reason="limits of another process are set on Linux")
def test_an_object_that_unfolds_in_memory_is_not_read(private: Path) -> None:
    """A delta of a few kilobytes made git ask for as much memory as it named."""
    unfolded = 3 << 30
    bomb = delta_bomb(private, unfolded)
    asked = (
        "import resource, sys; from pathlib import Path\n"
        "from holdfast.files.git import open_repository\n"
        "with open_repository(Path(sys.argv[1])) as repo:\n"
        "    size = repo.run('cat-file', '-s', sys.argv[2])\n"
        "    print(int(size), repo.run('cat-file', 'blob', sys.argv[2]),\n"
        "          list(repo.blobs([sys.argv[2]])),\n"
        "          resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", asked, private, bomb], capture_output=True, text=True, check=True
    )
    size, blob, blobs, resident_kib = done.stdout.split()
    assert int(size) > unfolded * 0.99, "git knows the size and takes the object for a sound one"
    assert (blob, blobs) == ("None", "[]")
    assert int(resident_kib) < 1 << 20
