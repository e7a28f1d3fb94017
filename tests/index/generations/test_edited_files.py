"""Files that somebody is working on, as a real git tells."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from holdfast.index.building.prepare import extract_facts
from holdfast.index.generations.edited_files import (
    EDITED_MAX,
    KEPT_MAX,
    REFRESH_S,
    EditedFiles,
    edited_files,
)
from tests.index.wire import manage_index, search_code
from tests.index.world import World


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


FUNCTION = "def load_{0}(path):\n    handle = open_{0}(path)\n    return handle.{0}\n"


@pytest.fixture
def world_in_git(world: World) -> World:
    world.index.extract = extract_facts
    world.index.edited = EditedFiles(start=lambda job: job())
    for name in ("ant", "bee", "cow", "doe"):
        world.write(f"src/{name}.py", FUNCTION.format(name))
    git(Path(world.root), "init", "-q")
    git(Path(world.root), "add", ".")
    git(Path(world.root), "commit", "-qm", "all")
    return world


def asked(world: World, query: str, **more: Any) -> Any:
    return search_code(world.index, world.root, query, debug=True, **more)


def edited_in(answer: Any) -> list[str]:
    return [r["file"] for r in answer["results"] if r["debug"]["signals"]["changed"]]


@pytest.mark.shows("SEARCH-EDITED-GIT")
def test_an_edited_file_comes_first_among_equals_and_debug_says_why(world_in_git: World) -> None:
    world = world_in_git
    world.write("src/cow.py", FUNCTION.format("cow").replace("= ", "=  "))
    assert manage_index(world.index, "create", world.root)["status"] == "ok"
    world.index.edited.of(world.root)
    answer = asked(world, "load handle path")
    assert edited_in(answer) == ["src/cow.py"]
    assert answer["results"][0]["file"] == "src/cow.py"


@pytest.mark.shows("SEARCH-EDITED-GIT")
def test_a_file_saved_since_the_index_was_made_is_edited(world_in_git: World) -> None:
    world = world_in_git
    assert manage_index(world.index, "create", world.root)["status"] == "ok"
    world.index.edited.of(world.root)
    world.write("src/doe.py", FUNCTION.format("doe") + "# just saved\n")
    assert edited_in(asked(world, "load handle path")) == ["src/doe.py"]


@pytest.mark.shows("SEARCH-EDITED-PAGES")
def test_pages_go_on_with_the_files_they_began_with(world_in_git: World) -> None:
    """Git answers between two pages: the second page is still one of the first ranking."""
    world = world_in_git
    world.write("src/doe.py", FUNCTION.format("doe") + "# in work\n")
    assert manage_index(world.index, "create", world.root)["status"] == "ok"
    jobs: list[Callable[[], None]] = []
    world.index.edited = EditedFiles(start=jobs.append)
    whole = asked(world, "load handle path", limit=50)
    assert edited_in(whole) == []
    first = asked(world, "load handle path", limit=2)
    jobs.pop()()
    assert edited_in(asked(world, "load handle path", limit=50)) == ["src/doe.py"]
    second = asked(world, "load handle path", limit=2, cursor=first["continuation"]["cursor"])
    assert second["status"] == "ok"
    files = [r["file"] for r in first["results"] + second["results"]]
    assert files == [r["file"] for r in whole["results"]][:4]
    # A process that does not know what the ranking began with says so.
    world.index.edited = EditedFiles(start=lambda job: job())
    world.index.edited.of(world.root)
    other = asked(world, "load handle path", limit=2, cursor=first["continuation"]["cursor"])
    assert (other["status"], other["reason"]) == ("blocked", "index_changed")


@pytest.mark.shows("SEARCH-EDITED-PAGES")
def test_that_git_says_nothing_is_another_ranking_than_that_nothing_is_edited(
    world_in_git: World,
) -> None:
    """With an answer of git, files that changed since the index was made count as edited."""
    world = world_in_git
    assert manage_index(world.index, "create", world.root)["status"] == "ok"
    world.write("src/doe.py", FUNCTION.format("doe") + "# in work\n")
    world.index.edited = EditedFiles(start=lambda job: None)
    first = asked(world, "load handle path", limit=2)
    assert edited_in(first) == []
    world.index.edited = EditedFiles(ask=lambda root: frozenset(), start=lambda job: job())
    world.index.edited.of(world.root)
    assert edited_in(asked(world, "load handle path", limit=50)) == ["src/doe.py"]
    other = asked(world, "load handle path", limit=2, cursor=first["continuation"]["cursor"])
    assert (other["status"], other["reason"]) == ("blocked", "index_changed")
