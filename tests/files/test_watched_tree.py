"""A tree that is kept up to date by reports, compared with walks of the whole tree."""

from __future__ import annotations

import mmap
import os
import random
import shutil
from collections.abc import Iterator
from math import inf
from pathlib import Path

import pytest

from holdfast.files import disk, listing_cache, tree_watch
from holdfast.files.policy import Policy
from holdfast.files.tree_watch import CannotWatch
from holdfast.files.watched_tree import COMPARED_MS_MAX, WALKED_MS_MAX, Look, WatchedTree
from tests.files.test_listing_cache import change
from tests.files.watching import Clock
from tests.scale import seeds

POLICY = Policy(custom_extensions=(".weird",))


@pytest.fixture
def tree(root: Path, clock: Clock) -> Iterator[WatchedTree]:
    try:
        made = WatchedTree(str(root), clock)
    except CannotWatch as why:
        pytest.skip(str(why))
    made.look(POLICY)
    yield made
    made.close()


def forgetting(root: Path) -> disk.Walk:
    """A walk that remembers nothing."""
    kept = dict(listing_cache._trees)
    listing_cache._trees.clear()
    try:
        return disk.walk(str(root), POLICY)
    finally:
        listing_cache._trees.clear()
        listing_cache._trees.update(kept)


def upset(root: Path, rng: random.Random) -> str:
    """Do one thing to the tree: mostly to a file, now and then to a folder."""
    folders = [Path(at) for at, _, _ in os.walk(root) if Path(at) != root]
    files = [p for p in root.rglob("*.py") if p.is_file() and not p.is_symlink()]
    kind = rng.choice(["change"] * 8 + ["rewrite"] * 4 + ["drop folder", "move folder", "link"])
    if kind == "rewrite" and files:
        # The same size and modification time.
        file = rng.choice(files)
        seen, text = file.stat(), file.read_bytes()
        file.write_bytes(bytes([rng.choice(b"pqrstuv")]) + text[1:])
        os.utime(file, ns=(seen.st_atime_ns, seen.st_mtime_ns))
    elif kind == "drop folder" and folders:
        shutil.rmtree(rng.choice(folders))
    elif kind == "move folder" and folders:
        folder = rng.choice(folders)
        folder.rename(root / f"moved-{rng.randrange(10**6)}")
    elif kind == "link" and files:
        other = root.parent / f"linked-{rng.randrange(10**6)}"
        os.link(rng.choice(files), other)
        if rng.random() < 0.9:
            other.unlink()
    else:
        return change(root, rng)
    return kind


def contents(root: Path, look: Look) -> dict[str, bytes]:
    return {key: (root / key).read_bytes() for key in look.found.stats}


@pytest.mark.shows("FILES-WATCHED-TREE")
@pytest.mark.parametrize("seed", seeds(16))
def test_a_look_by_reports_finds_what_a_walk_finds(
    tree: WatchedTree, root: Path, clock: Clock, seed: int
) -> None:
    print(f"seed {seed}")
    rng = random.Random(seed)
    done: list[str] = []
    by_reports = 0
    earlier = tree.look(POLICY)
    had = contents(root, earlier)
    for _ in range(60):
        now = [upset(root, rng) for _ in range(rng.choice([0, 1, 1, 1, 3]))]
        done += now
        if "link" in now:  # A name elsewhere is not reported: its time tells, when it is compared.
            clock.now += COMPARED_MS_MAX / 1000
        look, twin = tree.look(POLICY), forgetting(root)
        by_reports += look.by_reports
        assert look.found.stats == twin.stats, (seed, done[-4:])
        assert +look.found.skipped == +twin.skipped, (seed, done[-4:])
        assert look.found.unreadable == twin.unreadable, (seed, done[-4:])
        has = contents(root, look)
        touched = tree.touched(earlier.version)
        differ = {key for key in had.keys() | has.keys() if had.get(key) != has.get(key)}
        assert touched is None or differ <= touched, (seed, done[-4:])
        if rng.random() < 0.5:
            earlier, had = look, has
    assert by_reports > 10


@pytest.mark.shows("FILES-WATCHED-TREE")
def test_only_directories_with_reports_are_listed(
    tree: WatchedTree, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = tree.look(POLICY)
    listed: list[str] = []
    real = os.scandir

    def noting(place: str) -> object:
        listed.append(place)
        return real(place)

    monkeypatch.setattr(os, "scandir", noting)
    (root / "sub" / "b.py").write_text("y = 2\n")
    look = tree.look(POLICY)
    assert look.by_reports
    assert listed == [f"{root}/sub"]
    assert tree.touched(before.version) == frozenset({"sub/b.py"})
    assert tree.touched(look.version) == frozenset()
    assert tree.look(POLICY).version == look.version


@pytest.mark.shows("FILES-WATCHED-TREE")
def test_a_new_folder_costs_one_walk(tree: WatchedTree, root: Path) -> None:
    (root / "new").mkdir()
    (root / "new" / "c.py").write_text("z = 1\n")
    look = tree.look(POLICY)
    assert not look.by_reports
    assert "new/c.py" in look.found.stats
    (root / "new" / "c.py").write_text("z = 22\n")
    look = tree.look(POLICY)
    assert look.by_reports
    assert look.found.stats == forgetting(root).stats


@pytest.mark.shows("FILES-WATCHED-TREE")
def test_the_whole_tree_is_walked_when_the_reports_do_not_tell_all(
    tree: WatchedTree, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def rules() -> None:
        (root / "sub" / ".gitignore").write_text("b.py\n")

    def second_name() -> None:
        os.link(root / "a.py", root / "second.py")

    def too_many() -> None:
        monkeypatch.setattr(tree_watch, "REPORTED_MAX", 3)
        for number in range(5):
            (root / f"{number}.py").write_text("")

    def lost() -> None:
        data = tree_watch._HEAD.pack(-1, tree_watch._OVERFLOW, 0, 0)
        tree._watch._take(data)

    def folder_to_link() -> None:
        (root / "sub").rename(root / "real")
        (root / "sub").symlink_to("real")

    for act in (rules, too_many, lost, folder_to_link, second_name):
        for _ in range(2):
            tree.look(POLICY)
        assert tree.look(POLICY).by_reports, act.__name__
        act()
        look = tree.look(POLICY)
        assert not look.by_reports, act.__name__
        assert look.found.stats == forgetting(root).stats, act.__name__
    assert not tree.look(POLICY).by_reports, "a file has a second name"
    tree.close()
    assert not tree.look(POLICY).by_reports, "nothing is reported any more"


@pytest.mark.shows("FILES-WATCHED-TREE")
def test_another_policy_is_another_walk(tree: WatchedTree, root: Path) -> None:
    (root / "z.weird").write_text("z\n")
    assert "z.weird" in tree.look(POLICY).found.stats
    assert "z.weird" not in tree.look(Policy()).found.stats
    assert "z.weird" in tree.look(POLICY).found.stats


@pytest.mark.shows("FILES-WATCHED-TREE")
def test_a_write_through_mapped_memory_is_found_by_its_time(
    tree: WatchedTree, root: Path, clock: Clock
) -> None:
    """The kernel does not report it."""
    file = root / "a.py"
    with file.open("r+b") as opened:
        mapped = mmap.mmap(opened.fileno(), 0)
    before = tree.look(POLICY)
    mapped[0:1] = b"y"
    mapped.flush()
    assert tree.look(POLICY, compared_ms_max=inf).version == before.version
    clock.now += COMPARED_MS_MAX / 1000
    assert tree.look(POLICY, compared_ms_max=inf).version == before.version
    look = tree.look(POLICY)
    assert not look.by_reports
    assert look.found.stats == forgetting(root).stats != before.found.stats
    clock.now += WALKED_MS_MAX / 1000
    assert not tree.look(POLICY, compared_ms_max=inf).by_reports
    mapped.close()
