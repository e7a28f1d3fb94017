"""What a build has to do, decided from a manifest and a listing."""

from __future__ import annotations

import pytest

from holdfast.files.disk import Walk
from holdfast.files.snapshot import RACY_NS, Entry, Snapshot, Stat
from holdfast.index.building.plan import EmptyTree, make_plan, refuse_emptied_tree

TAKEN_NS = 10 * RACY_NS


def entry(digest: str, mtime_ns: int = 1) -> Entry:
    return Entry(Stat(1, mtime_ns, mtime_ns), digest)


BEFORE = Snapshot({"a.py": entry("1"), "sub/b.py": entry("2")}, TAKEN_NS)


def listing(*paths: str, mtime_ns: int = 1, unreadable: str | None = None) -> Walk:
    stats = {path: Stat(1, mtime_ns, mtime_ns) for path in paths}
    return Walk(stats, set() if unreadable is None else {unreadable})


@pytest.mark.shows("FILES-STAT-FIRST")
def test_a_tree_as_it_was_needs_no_build() -> None:
    assert not make_plan(BEFORE, listing("a.py", "sub/b.py")).needed


@pytest.mark.shows("FILES-UNREADABLE")
def test_a_file_that_is_only_out_of_sight_needs_no_build() -> None:
    assert not make_plan(BEFORE, listing("a.py", unreadable="sub")).needed
    assert make_plan(BEFORE, listing("a.py")).needed


@pytest.mark.shows("FILES-STAT-FIRST")
def test_only_files_that_may_have_changed_are_read_and_compared() -> None:
    plan = make_plan(BEFORE, listing("a.py", "new.py", mtime_ns=5))
    assert (plan.todo, plan.absent) == (["a.py", "new.py"], {"sub/b.py"})
    read = {"a.py": entry("1", 5), "new.py": entry("3", 5)}
    changes = plan.changes(read, frozenset(), TAKEN_NS)
    assert (changes.added, changes.removed, changes.modified, changes.touched) == (
        ("new.py",), ("sub/b.py",), (), ("a.py",),
    )  # fmt: skip


@pytest.mark.shows("FILES-UNREADABLE")
def test_the_manifest_keeps_what_was_not_read() -> None:
    plan = make_plan(BEFORE, listing("a.py", mtime_ns=5, unreadable="sub"))
    manifest = plan.manifest({"a.py": entry("9", 5)}, [], frozenset({"sub"}), TAKEN_NS + 1)
    assert manifest.entries == {"a.py": entry("9", 5), "sub/b.py": entry("2")}
    assert plan.manifest({}, ["a.py"], frozenset(), 0).entries == {"sub/b.py": entry("2")}


@pytest.mark.shows("INDEX-EMPTIED-ROOT")
def test_only_a_tree_that_shows_nothing_and_had_files_is_refused() -> None:
    refuse_emptied_tree("/r", listing(), 0)
    refuse_emptied_tree("/r", listing("a.py"), 5)
    refuse_emptied_tree("/r", listing(unreadable="sub"), 5)
    with pytest.raises(EmptyTree, match="shows no files, and its index has 5"):
        refuse_emptied_tree("/r", listing(), 5)
