"""A reused listing is the one that a walk would give now."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.errors import UsageError
from holdfast.files import disk, listed_trees, listing, tree_watch
from holdfast.files.listed_trees import REUSED_MS_MAX, ListedTrees
from holdfast.files.policy import Policy
from tests.files.test_listing_cache import change
from tests.files.watching import Clock
from tests.scale import seeds


@pytest.fixture
def trees(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Iterator[ListedTrees]:
    monkeypatch.setattr(tree_watch, "is_trusted", lambda root: True)
    made = ListedTrees(clock=clock)
    yield made
    made.close()


@pytest.fixture
def walks(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    made: list[Path] = []
    real = listing.list_tree

    def counted(root: Path, *rest: object) -> object:
        made.append(root)
        return real(root, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(listed_trees, "list_tree", counted)
    return made


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "tree"
    (made / "sub").mkdir(parents=True)
    (made / "a.py").write_text("x = 1\n")
    (made / "sub" / "b.py").write_text("y = 1\n")
    return made


@pytest.mark.shows("FILES-LISTED-AGAIN")
@pytest.mark.parametrize("seed", seeds(6))
def test_a_listing_is_always_that_of_a_walk(
    trees: ListedTrees, root: Path, walks: list[Path], seed: int
) -> None:
    rng = random.Random(seed)
    asked = 60
    for _ in range(asked):
        done = change(root, rng) if rng.random() < 0.4 else "nothing"
        policy = rng.choice((None, None, Policy(custom_extensions=(".txt",))))
        listed, now = trees.list(root, policy).walk, disk.walk(os.fspath(root), policy)
        assert (listed.stats, +listed.skipped) == (now.stats, +now.skipped), (seed, done)
    assert 0 < len(walks) < asked


@pytest.mark.shows("FILES-LISTED-AGAIN")
def test_a_listing_is_reused_for_a_while_only(
    trees: ListedTrees, root: Path, walks: list[Path], clock: Clock
) -> None:
    for _ in range(5):
        trees.list(root)
    assert len(walks) == 2, "the first walk finds what is to be watched, the second is covered"
    clock.now += REUSED_MS_MAX / 1000
    trees.list(root)
    assert len(walks) == 3


@pytest.mark.shows("FILES-LISTED-AGAIN")
def test_a_file_with_several_names_is_looked_at_each_time(
    trees: ListedTrees, root: Path, walks: list[Path], tmp_path: Path
) -> None:
    outside = tmp_path / "outside.py"
    os.link(root / "a.py", outside)
    for number in range(4):
        outside.write_text("x = 1\n" * (number + 2))
        assert trees.list(root).walk.stats["a.py"].size_bytes == 6 * (number + 2)
    assert len(walks) == 4


@pytest.mark.shows("FILES-LISTED-AGAIN")
def test_rules_above_the_tree_are_compared(trees: ListedTrees, root: Path) -> None:
    (root.parent / ".git").mkdir()
    for _ in range(3):
        assert "a.py" in trees.list(root).walk.stats
    (root.parent / ".gitignore").write_text("a.py\n")
    assert "a.py" not in trees.list(root).walk.stats


@pytest.mark.shows("FILES-LISTED-AGAIN")
def test_a_tree_that_is_gone_is_refused(trees: ListedTrees, root: Path) -> None:
    for _ in range(3):
        trees.list(root)
    root.rename(root.with_name("elsewhere"))
    with pytest.raises(UsageError):
        trees.list(root)
    trees.close()
    root.with_name("elsewhere").rename(root)
    assert trees.list(root).walk.stats, "also after it was closed"
