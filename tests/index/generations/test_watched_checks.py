"""A process that stays walks a tree again only when something was reported, or after a while."""

from __future__ import annotations

import os
from typing import Any

import pytest

from holdfast.files import disk, tree_watch
from holdfast.files.watched_tree import WALKED_MS_MAX
from holdfast.index.generations.freshness import SHARES, SHARES_AT_ONCE
from tests.index.wire import manage_index, search_code
from tests.index.world import World, walks_from_now


@pytest.fixture
def walks(world: World, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The walks that searches make, of a tree that is watched."""
    monkeypatch.setattr(tree_watch, "is_trusted", lambda root: True)
    world.index.watches = True
    monkeypatch.setattr("holdfast.index.tools.manage._watch", lambda *given: None)
    assert manage_index(world.index, "create", world.root)["status"] == "ok"
    found = walks_from_now(monkeypatch)
    for _ in range(2):  # The first walk finds the directories, the second is covered.
        world.later(60)
        files(world)
    found.clear()
    return found


def files(world: World, query: str = "price of an item") -> list[str]:
    answer: Any = search_code(world.index, world.root, query)
    assert answer["status"] == "ok"
    return [hit["file"] for hit in answer["results"]]


@pytest.mark.shows("INDEX-WATCHED-CHECKS")
def test_a_quiet_tree_is_not_walked_again_for_a_while(world: World, walks: list[str]) -> None:
    for _ in range(4):
        world.later(2)
        files(world)
    assert walks == []
    world.later(WALKED_MS_MAX / 1000)
    files(world)
    assert len(walks) == 1


@pytest.mark.shows("INDEX-WATCHED-CHECKS")
def test_what_changed_is_found_at_once(world: World, walks: list[str]) -> None:
    world.later(2)
    world.write("src/discount.py", "def discount_of(item):\n    return 2\n")
    assert "src/discount.py" in files(world, "discount of an item")
    assert walks == [], "the kernel has named the file"
    world.later(2)
    world.write("src/discount.py", "def rebate_of(item):\n    return 2\n")
    assert "src/discount.py" in files(world, "rebate_of")
    world.later(2)
    (world.tree / "src/discount.py").unlink()
    assert "src/discount.py" not in files(world, "rebate_of")


@pytest.mark.shows("INDEX-WATCHED-CHECKS")
def test_rules_above_the_tree_hold_at_once(world: World, walks: list[str]) -> None:
    """They are not in a directory that is watched."""
    world.later(2)
    shown = files(world)
    git = world.tree / ".git"
    (git / "info").mkdir(parents=True)
    for name, text in (("HEAD", "ref: refs/heads/main\n"), ("config", "[core]\n")):
        (git / name).write_text(text)
    (git / "objects").mkdir()
    (git / "refs").mkdir()
    world.later(2)
    files(world)
    (git / "info" / "exclude").write_text(f"{shown[0]}\n")
    world.later(2)
    assert shown[0] not in files(world)


@pytest.mark.shows("INDEX-WATCHED-CHECKS")
def test_a_file_with_another_name_elsewhere_is_looked_at_each_time(
    world: World, walks: list[str]
) -> None:
    file = world.tree / "src/extra.py"
    world.write("src/extra.py", "def surcharge_of(item):\n    return 2\n")
    elsewhere = world.tree.parent / "elsewhere.py"
    os.link(file, elsewhere)
    for _ in range(2):
        world.later(2)
        assert "src/extra.py" in files(world, "surcharge of an item")
    elsewhere.write_text("def handling_of(item):\n    return 22\n")
    world.later(2)
    assert "src/extra.py" in files(world, "handling_of")


@pytest.mark.long
@pytest.mark.shows("INDEX-WATCHED-CHECKS")
def test_searches_that_come_often_compare_a_share_of_the_files_each(
    world: World, walks: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Within ten seconds every file was compared, and never more than a share by one search."""
    for n in range(30):
        world.write(f"src/more_{n}.py", f"def extra_{n}():\n    return {n}\n")
    assert manage_index(world.index, "sync", world.root)["status"] == "ok"
    for _ in range(2):
        world.later(60)
        files(world)
    compared: list[set[str]] = []
    real = disk.stats_hold

    def noting(root: str, entries: Any) -> bool:
        held = dict(entries)
        compared.append(set(held))
        return real(root, held.items())

    monkeypatch.setattr(disk, "stats_hold", noting)
    walks.clear()
    for _ in range(12):
        world.later(0.8)
        files(world)
    with world.index.backend.reader(world.root) as reader:
        every = set(reader.snapshot().entries)
    assert walks == []
    assert set.union(*compared) == every
    assert max(map(len, compared)) <= SHARES_AT_ONCE * (len(every) // SHARES + 1)
    compared.clear()
    for _ in range(95):
        world.later(0.1)
        files(world)
    assert walks == []
    assert set.union(*compared) == every
    assert max(map(len, compared)) <= 2 * (len(every) // SHARES + 1), "less at a shorter interval"


@pytest.mark.shows("INDEX-WATCHED-CHECKS")
def test_a_write_without_a_report_is_noticed_by_searches_that_come_often(
    world: World, walks: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tree_watch.TreeWatch, "_drain", lambda self: None)  # as of a mapped file
    (world.tree / "src" / "cart.py").write_text("def zebra_crossing():\n    return 2\n")
    shown = []
    for _ in range(15):
        world.later(0.8)
        shown.append(files(world, "sym:zebra_crossing"))
    assert shown[-1] == ["src/cart.py"], "no hit was compared, so the shares were"
