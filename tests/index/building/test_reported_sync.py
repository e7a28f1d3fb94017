"""Syncs of a watched tree look at what was reported; whole builds say what they should find."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from holdfast.files import disk, tree_watch
from holdfast.files.policy import SIZE_BYTES_MAX, Policy
from holdfast.files.watched_tree import COMPARED_MS_MAX
from holdfast.index.code_index import CodeIndex
from holdfast.index.facts.model import FileFacts
from holdfast.index.tools.manage import _sync_quietly
from tests.files.test_watched_tree import upset
from tests.index import double
from tests.index.wire import manage_index, search_code
from tests.index.world import FILES, World, walks_from_now
from tests.scale import seeds


@pytest.fixture
def watched(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """A world whose tree is watched, after two syncs: the second walk is covered."""
    monkeypatch.setattr(tree_watch, "is_trusted", lambda root: True)
    monkeypatch.setattr("holdfast.index.tools.manage._watch", lambda *given: None)
    world.index.watches = True
    for action in ("create", "sync", "sync"):
        assert manage_index(world.index, action, world.root)["status"] == "ok"
    if world.index.freshness.tree(world.root) is None:
        pytest.skip("the system has no inotify")
    return world


@pytest.fixture
def walks(watched: World, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The walks of the whole tree from now on."""
    return walks_from_now(monkeypatch)


def stored(index: CodeIndex, root: str) -> dict[str, tuple[str, tuple[str, ...]]]:
    """The files of a generation: their digests and the texts of their chunks."""
    with index.backend.reader(root) as reader:
        entries = reader.snapshot().entries
        return {
            path: (entry.digest, tuple(chunk.text for chunk in reader.chunks_of(path)))
            for path, entry in entries.items()
        }


@pytest.fixture
def other(tmp_path: Path, world: World) -> Iterator[World]:
    """An index of the same tree that is built from nothing."""
    made = World(tmp_path / "other")
    made.root, made.tree = world.root, world.tree
    yield made
    made.close()


def built(other: World) -> dict[str, tuple[str, tuple[str, ...]]]:
    manage_index(other.index, "clear", other.root)
    assert manage_index(other.index, "create", other.root)["status"] == "ok"
    return stored(other.index, other.root)


@pytest.mark.shows("INDEX-REPORTED-SYNC")
@pytest.mark.parametrize("seed", seeds(8))
def test_a_sync_by_reports_stores_what_a_whole_build_stores(
    watched: World, other: World, walks: list[str], seed: int
) -> None:
    print(f"seed {seed}")
    rng = random.Random(seed)
    done: list[str] = []
    by_reports = 0
    for _ in range(20):
        now = [upset(watched.tree, rng) for _ in range(rng.choice([1, 1, 1, 3]))]
        done += now
        if not disk.walk(watched.root).stats:  # An empty tree is refused.
            number = rng.randrange(10**6)  # a name that no link and no folder has
            watched.write(f"again{number}.py", f"def again_{number}(): pass\n")
        watched.later(COMPARED_MS_MAX / 1000 if "link" in now else rng.choice([0, 1]))
        if rng.random() < 0.3:
            search_code(watched.index, watched.root, "price of an item")
        walks.clear()
        answer = manage_index(watched.index, "sync", watched.root)
        assert answer["status"] == "ok", (seed, done[-4:])
        by_reports += not walks
        expected = built(other)
        assert stored(watched.index, watched.root) == expected, (seed, done[-4:])
        assert answer["humanText"].find(f"{len(expected)} file") > 0, (seed, done[-4:])
    assert by_reports


@pytest.mark.shows("INDEX-REPORTED-SYNC")
def test_one_edit_is_synced_and_found_without_a_walk(watched: World, walks: list[str]) -> None:
    watched.later(2)
    watched.write("src/prices.py", "def rebate_of(item):\n    return 2\n")
    answer = manage_index(watched.index, "sync", watched.root)
    assert answer["syncStats"]["modified"] == 1
    found: Any = search_code(watched.index, watched.root, "rebate_of")
    assert found["results"][0]["file"] == "src/prices.py"
    assert "+0 -0" not in manage_index(watched.index, "sync", watched.root)["humanText"]
    assert walks == []


@pytest.mark.shows("INDEX-REPORTED-SYNC")
def test_an_edit_is_found_without_a_sync_and_a_walk(watched: World, walks: list[str]) -> None:
    watched.later(2)
    watched.write("src/prices.py", "def rebate_of(item):\n    return 2\n")
    found: Any = search_code(watched.index, watched.root, "rebate_of")
    assert found["results"][0]["file"] == "src/prices.py"
    assert found["freshnessDecision"]["mode"] == "overlay"
    assert walks == []


@pytest.mark.shows("INDEX-REPORTED-SYNC")
def test_a_file_that_changes_while_it_is_prepared_is_read_by_the_next_sync(
    watched: World, walks: list[str]
) -> None:
    """Its size and times may be those that the sync before has recorded."""
    file = watched.tree / "src/prices.py"
    written = iter(["def second_of(item):\n    pass\n", "def thirdd_of(item):\n    pass\n"])

    def extract(path: str, source: bytes) -> FileFacts:
        text = next(written, None)
        if text is not None:
            seen = file.stat()
            file.write_text(text)
            os.utime(file, ns=(seen.st_atime_ns, seen.st_mtime_ns))
        return double.extract(path, source)

    watched.index.extract = extract
    file.write_text("def firstt_of(item):\n    pass\n")
    for name in ("firstt_of", "second_of", "thirdd_of"):
        manage_index(watched.index, "sync", watched.root)
        assert name in str(stored(watched.index, watched.root)["src/prices.py"])
    assert manage_index(watched.index, "sync", watched.root)["syncStats"]["modified"] == 0
    assert walks == []


@pytest.mark.shows("INDEX-REPORTED-SYNC")
def test_a_generation_of_another_process_is_compared_with_all_files(
    watched: World, tmp_path: Path, walks: list[str]
) -> None:
    watched.write("src/prices.py", "def rebate_of(item):\n    return 2\n")
    # As another process would, which is not told what this one knows.
    watched.index.watches = False
    manage_index(watched.index, "sync", watched.root)
    watched.index.watches = True
    watched.write("src/prices.py", "def surcharge_of(item):\n    return 2\n")
    manage_index(watched.index, "sync", watched.root)
    assert "surcharge_of" in str(stored(watched.index, watched.root)["src/prices.py"])


@pytest.mark.shows("INDEX-REPORTED-SYNC")
def test_changed_ignore_patterns_walk_the_tree(watched: World, walks: list[str]) -> None:
    tree = watched.index.freshness.tree(watched.root)
    assert tree is not None
    assert tree.look(Policy()).by_reports
    look = tree.look(Policy(ignore_patterns=("docs/",)))
    assert not look.by_reports
    assert "docs/guide.md" not in look.found.stats


@pytest.mark.shows("INDEX-REPORTED-SYNC")
def test_the_watcher_looks_at_reports_however_old_the_comparison_of_times_is(
    watched: World, walks: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[str] = []
    real = disk.tree_holds

    def noting(root: str, stats: Any) -> bool:
        compared.append(root)
        return real(root, stats)

    monkeypatch.setattr(disk, "tree_holds", noting)
    watched.later(60)
    watched.write("src/prices.py", "def rebate_of(item):\n    return 2\n")
    _sync_quietly(watched.index, watched.root)
    assert "rebate_of" in str(stored(watched.index, watched.root)["src/prices.py"])
    assert (walks, compared) == ([], [])
    manage_index(watched.index, "sync", watched.root)
    assert (walks, compared) == ([], [watched.root]), "a caller relies on the answer"


@pytest.mark.shows("INDEX-REPORTED-SYNC")
def test_a_tree_that_is_watched_again_is_compared_with_all_files(
    watched: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The watch of a tree ended, because others were used. Its next watch counted from the start
    again, and what came between the two was said not to have changed."""
    monkeypatch.setattr("holdfast.index.generations.freshness.WATCHED_ROOTS_MAX", 1)
    neighbour = tmp_path / "neighbour"
    neighbour.mkdir()
    (neighbour / "a.py").write_text("def alpha():\n    return 1\n")
    for action in ("create", "sync", "sync"):
        assert manage_index(watched.index, action, str(neighbour))["status"] == "ok"
    watched.write("src/new.py", "def gamma_new():\n    return 3\n")
    answer = manage_index(watched.index, "sync", watched.root)
    assert answer["syncStats"]["added"] == 1
    found: Any = search_code(watched.index, watched.root, "gamma_new")
    assert found["results"][0]["file"] == "src/new.py"


@pytest.mark.shows("INDEX-REPORTED-SYNC")
def test_a_sync_that_is_asked_for_finds_a_write_that_was_not_reported(
    watched: World, tmp_path: Path
) -> None:
    """The file has just got a name elsewhere; a write to it is reported there alone."""
    manage_index(watched.index, "sync", watched.root)
    elsewhere = tmp_path / "elsewhere.py"
    os.link(watched.tree / "src/prices.py", elsewhere)
    elsewhere.write_text("def zeta_linked():\n    return 9999\n")
    answer = manage_index(watched.index, "sync", watched.root)
    assert answer["syncStats"]["modified"] == 1
    assert "zeta_linked" in str(stored(watched.index, watched.root)["src/prices.py"])


def test_after_a_sync_an_answer_names_the_files_that_are_too_large_now(watched: World) -> None:
    beyond = "# filler\n" * (SIZE_BYTES_MAX // 9 + 1)

    def not_searched() -> list[str]:
        assert manage_index(watched.index, "sync", watched.root)["status"] == "ok"
        answer = search_code(watched.index, watched.root, "re:price_of")
        warnings: list[str] = answer.get("warnings", [])
        return [warning for warning in warnings if "above 1 MiB" in warning]

    assert not_searched() == []
    watched.write("src/cart.py", FILES["src/cart.py"] + beyond)
    assert not_searched() == ["NOT_SEARCHED:not searched: 1 above 1 MiB (src/cart.py)"]
    watched.write("src/cart.py", FILES["src/cart.py"])
    watched.write("src/prices.py", FILES["src/prices.py"] + beyond)
    assert not_searched() == ["NOT_SEARCHED:not searched: 1 above 1 MiB (src/prices.py)"]
