"""Files that git says are edited rank first among equals."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from holdfast.files.edited_files import EditedFiles
from holdfast.index.building.prepare import extract_facts
from tests.files.test_edited_files import git
from tests.index.wire import manage_index, search_code
from tests.index.world import World

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
