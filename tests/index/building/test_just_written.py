"""A tree that is indexed right after it was written, as after a clone.

Every file had just been written when it was read, so its times did not show whether it was written
again. Each process that answered a question read all files again, for as long as nothing changed.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.files import disk, listing_store
from holdfast.files.moved import moved
from holdfast.files.policy import Policy
from holdfast.files.snapshot import RACY_NS, Entry, Snapshot, Stat, stamp_of
from holdfast.index.building.build import Built, build, confirmed, kept_doubts
from holdfast.index.building.plan import make_plan
from tests.index.world import World

LATER_NS = 5 * RACY_NS


def entry_of(root: Path, name: str) -> Entry:
    source, stat = disk.read_file(str(root), name)
    return Entry(stat, disk.digest(source))


def walked_at(root: Path) -> int:
    """The latest time of a file or directory of a tree."""
    status = [os.lstat(path) for path in (root, *root.rglob("*"))]
    return max(max(one.st_mtime_ns, one.st_ctime_ns) for one in status)


def built(world: World, *moments_ns: int, whole: bool = True) -> Built:
    """A build that begins at the first moment; the last is that of its end."""
    left = list(moments_ns)
    tools = replace(
        world.index.tools(), now_ns=lambda: left.pop(0) if len(left) > 1 else left[0], processes=1
    )
    return build(world.root, "run", Policy(), tools, whole=whole)


@pytest.mark.shows("INDEX-FRESHNESS")
def test_files_written_just_before_a_build_are_confirmed_at_its_end(world: World) -> None:
    written_ns = walked_at(world.tree)
    made = built(world, written_ns, written_ns, written_ns + LATER_NS)
    with world.backend.reader(world.root) as reader:
        stored = reader.snapshot()
    assert stored.taken_ns == made.snapshot.taken_ns == written_ns + LATER_NS
    assert moved(stored, disk.walk(world.root, Policy()).stats) == ([], set())


def test_their_directories_need_not_be_listed_again(world: World) -> None:
    written_ns = walked_at(world.tree)
    built(world, written_ns, written_ns + LATER_NS)
    with world.backend.reader(world.root) as reader:
        data = reader.listings()
    assert data is not None
    listings = listing_store.decode(data, Policy())
    assert listings
    assert all(listing.is_settled for listing in listings.values() if listing.stamp)


def test_a_sync_replaces_listings_of_directories_that_had_just_been_written(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    written_ns = walked_at(world.tree)
    made = built(world, written_ns)
    from holdfast.files import listing_cache

    listing_cache._trees.clear()
    monkeypatch.setattr(disk.walk, "__defaults__", (None, lambda: written_ns + LATER_NS))
    synced = built(world, written_ns + LATER_NS, whole=False)
    assert synced.identity != made.identity
    assert not synced.changes
    listing_cache._trees.clear()
    again = built(world, written_ns + LATER_NS, whole=False)
    assert not again.published, "the listings are as good as they can be"


def test_a_file_that_was_written_again_is_read_by_the_next_check(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    (tmp_path / "b.py").write_text("x = 1\n")
    entries = {name: entry_of(tmp_path, name) for name in ("a.py", "b.py")}
    written_ns = max(stamp_of(entry.stat) for entry in entries.values())
    # Written in the same tick: the same size and the same times, but another content.
    other = Entry(entries["b.py"].stat, disk.digest(b"x = 2\n"))
    entries["b.py"] = other
    now_ns = written_ns + LATER_NS
    found_ns = confirmed(str(tmp_path), entries, entries, written_ns, now_ns)
    stats = disk.walk(str(tmp_path)).stats
    assert "b.py" in moved(Snapshot(entries, found_ns), stats)[0]
    assert found_ns >= written_ns


def test_a_file_that_is_gone_confirms_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    entries = {"a.py": entry_of(tmp_path, "a.py")}
    written_ns = stamp_of(entries["a.py"].stat)
    (tmp_path / "a.py").unlink()
    found_ns = confirmed(str(tmp_path), entries, entries, written_ns, written_ns + LATER_NS)
    assert found_ns <= written_ns + RACY_NS


def test_a_file_that_is_still_new_is_not_read_in_vain(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    entries = {"a.py": entry_of(tmp_path, "a.py")}
    written_ns = stamp_of(entries["a.py"].stat)
    monkeypatch.setattr(disk, "read_file", lambda root, key: pytest.fail("it was read"))
    found_ns = confirmed(str(tmp_path), entries, entries, written_ns, written_ns + RACY_NS)
    stats = {"a.py": entries["a.py"].stat}
    assert moved(Snapshot(entries, found_ns), stats)[0] == ["a.py"]


def test_what_an_earlier_build_read_too_early_stays_in_doubt(tmp_path: Path) -> None:
    """A sync of one file settled all others: one that had been written twice within a tick, and
    read between, was never read again."""
    (tmp_path / "a.py").write_text("x = 1\n")
    (tmp_path / "b.py").write_text("x = 1\n")
    entries = {name: entry_of(tmp_path, name) for name in ("a.py", "b.py")}
    read_ns = max(stamp_of(entry.stat) for entry in entries.values())
    before = Snapshot(entries, read_ns + 1)
    taken_ns = kept_doubts(before, {"b.py"}, read_ns + LATER_NS)
    assert moved(Snapshot(entries, taken_ns), disk.walk(str(tmp_path)).stats)[0] == ["a.py", "b.py"]
    assert kept_doubts(before, entries, read_ns + LATER_NS) == read_ns + LATER_NS
    settled = Snapshot(entries, read_ns + LATER_NS)
    assert kept_doubts(settled, (), read_ns + 2 * LATER_NS) == read_ns + 2 * LATER_NS


def test_a_new_file_that_a_sync_cannot_read_is_read_by_the_next(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sync published a later time, so the next one took the file as unchanged."""
    written_ns = walked_at(world.tree)
    built(world, written_ns, written_ns + 1)
    name = "src/cart.py"
    real = disk.read_file

    def failing(root: str, path: str) -> tuple[bytes, Stat]:
        if path == name:
            raise OSError(24, "Too many open files")
        return real(root, path)

    with monkeypatch.context() as broken:
        broken.setattr(disk, "read_file", failing)
        built(world, written_ns + LATER_NS, whole=False)
    with world.backend.reader(world.root) as reader:
        stored = reader.snapshot()
    assert name in moved(stored, disk.walk(world.root, Policy()).stats)[0]


def test_a_sync_of_some_files_reads_those_that_are_in_doubt_too(tmp_path: Path) -> None:
    """Otherwise the files of a day's edits would stay in doubt, and every check would read them."""
    for name in ("a.py", "b.py", "c.py"):
        (tmp_path / name).write_text("x = 1\n")
    walk = disk.walk(str(tmp_path))
    entries = {name: entry_of(tmp_path, name) for name in walk.stats}
    last_ns = max(stamp_of(entry.stat) for entry in entries.values())
    os.utime(tmp_path / "c.py", ns=(1, 1))
    early = Entry(Stat(6, 1, 1), entries["c.py"].digest)
    before = Snapshot({**entries, "c.py": early}, last_ns + 1)
    assert make_plan(before, walk, {"a.py"}).todo == ["a.py", "b.py"]
    assert make_plan(before, walk, set()).todo == []
