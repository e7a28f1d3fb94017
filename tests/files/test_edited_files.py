"""Files that somebody is working on, as a real git tells."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from holdfast.files.edited_files import (
    EDITED_MAX,
    KEPT_MAX,
    REFRESH_S,
    EditedFiles,
    edited_files,
)


def git(root: Path, *arguments: str) -> None:
    who = ("-c", "user.name=t", "-c", "user.email=t@t", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *who, "-C", root, *arguments], check=True, capture_output=True)


def write(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    for name in ("a.py", "b.py", "sub/c.py", "sub/d é.py"):
        write(tmp_path, name, f"# {name}\n")
    write(tmp_path, ".gitignore", "*.log\n")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "all")
    return tmp_path


@pytest.mark.shows("SEARCH-EDITED-GIT")
def test_edited_is_what_differs_from_the_last_commit(repository: Path) -> None:
    assert edited_files(str(repository)) == frozenset()
    write(repository, "a.py", "changed\n")
    write(repository, "b.py", "staged\n")
    git(repository, "add", "b.py")
    write(repository, "sub/d é.py", "changed\n")
    write(repository, "sub/new.py", "new\n")
    write(repository, "noise.log", "ignored\n")
    assert edited_files(str(repository)) == frozenset({"a.py", "b.py", "sub/d é.py", "sub/new.py"})
    assert edited_files(str(repository / "sub")) == frozenset({"d é.py", "new.py"})
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "more")
    assert edited_files(str(repository)) == frozenset()


@pytest.mark.shows("SEARCH-EDITED-GIT")
def test_without_git_or_a_commit_nothing_is_told(tmp_path: Path) -> None:
    assert edited_files(str(tmp_path)) is None
    git(tmp_path, "init", "-q")
    write(tmp_path, "a.py", "x\n")
    assert edited_files(str(tmp_path)) is None


@pytest.mark.shows("SEARCH-EDITED-GIT")
def test_a_change_of_everything_says_nothing(repository: Path) -> None:
    for number in range(EDITED_MAX + 1):
        write(repository, f"many/{number}.py", "x\n")
    assert edited_files(str(repository)) is None


@pytest.mark.shows("SEARCH-EDITED-GIT")
def test_asking_git_writes_nothing(repository: Path) -> None:
    """`git diff` notes the new times of a file that is as it was, whatever it is told."""
    write(repository, "a.py", "# a.py\n")
    os.utime(repository / "a.py", (1_000_000_000, 1_000_000_000))
    before = (repository / ".git" / "index").read_bytes()
    assert edited_files(str(repository)) == frozenset()
    assert (repository / ".git" / "index").read_bytes() == before


class Asked:
    """A git that answers when told to, and a clock."""

    def __init__(self) -> None:
        self.answer: frozenset[str] | None = frozenset({"a.py"})
        self.jobs: list[Callable[[], None]] = []
        self.asked = 0
        self.now = 0.0
        self.edited = EditedFiles(self.ask, self.jobs.append, lambda: self.now)

    def ask(self, _root: str) -> frozenset[str] | None:
        self.asked += 1
        if self.answer is None:
            raise OSError("git is gone")
        return self.answer


@pytest.mark.shows("SEARCH-EDITED-APART")
def test_a_search_never_waits_for_git_and_asks_it_seldom() -> None:
    world = Asked()
    assert world.edited.of("/r") is None
    assert world.edited.of("/r") is None
    assert (len(world.jobs), world.asked) == (1, 0)
    world.jobs.pop()()
    assert world.edited.of("/r") == frozenset({"a.py"})
    assert not world.jobs
    world.now = REFRESH_S
    world.answer = frozenset({"b.py"})
    assert world.edited.of("/r") == frozenset({"a.py"})
    world.jobs.pop()()
    assert world.edited.of("/r") == frozenset({"b.py"})


@pytest.mark.shows("SEARCH-EDITED-APART")
def test_a_git_that_fails_is_asked_again_later() -> None:
    world = Asked()
    world.answer = None
    world.edited.of("/r")
    with pytest.raises(OSError, match="gone"):
        world.jobs.pop()()
    assert world.edited.of("/r") is None
    assert not world.jobs
    world.now = REFRESH_S
    world.edited.of("/r")
    assert len(world.jobs) == 1


@pytest.mark.shows("SEARCH-EDITED-PAGES")
def test_only_the_latest_rankings_are_remembered() -> None:
    edited = EditedFiles(lambda root: None)
    for number in range(KEPT_MAX + 1):
        edited.keep(str(number), {"/r": frozenset({str(number)})})
    assert edited.kept("0") == {}
    assert edited.kept(str(KEPT_MAX)) == {"/r": frozenset({str(KEPT_MAX)})}
