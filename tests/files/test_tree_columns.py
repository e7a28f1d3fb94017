"""Files in columns are the same mappings as dictionaries of them, and take much less memory."""

from __future__ import annotations

import random
import tracemalloc
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.files.entry_columns import Columns, EntryColumns
from holdfast.files.integer_bytes import pack
from holdfast.files.moved import in_doubt, moved
from holdfast.files.packed_entries import PackedEntries
from holdfast.files.path_columns import PathColumns, in_order
from holdfast.files.snapshot import RACY_NS, Entry, Snapshot, Stat
from holdfast.files.tree_stats import TIME_MAX, TreeStats, folder_of

NAMES = ["a", "b.py", "c", "ä.py", "a b", "line\nbreak", "z"]
FOLDERS = ["", "a", "a/b", "a-b", "a/b/c", "é"]
paths = st.builds(
    lambda folder, name: f"{folder}/{name}" if folder else name,
    st.sampled_from(FOLDERS), st.sampled_from(NAMES),
)  # fmt: skip
numbers = st.integers(0, 4) | st.integers(-(1 << 62), 1 << 62)
stats = st.builds(Stat, st.integers(0, 3), numbers, numbers)
digests = st.sampled_from(["00", "ff", "10"])
entries = st.dictionaries(paths, st.builds(Entry, stats, digests), max_size=12)


def columns_of(files: dict[str, Entry], digests: list[str] | None = None) -> Columns:
    order = [list(files)[at] for at in in_order(list(files))]
    values = [files[path] for path in order]
    numbers = array("q", [number for entry in values for number in entry.stat])
    packed = b"".join(bytes.fromhex(entry.digest) for entry in values)
    return Columns(PathColumns.of(order), pack(numbers), digests or packed)


def check_same(made: EntryColumns, files: dict[str, Entry]) -> None:
    assert dict(made.items()) == files == {path: made[path] for path in made}
    assert len(made) == len(files) == len(list(made))
    assert made == files
    for folder in FOLDERS:
        for name in NAMES:
            path = f"{folder}/{name}" if folder else name
            assert made.get(path) == files.get(path)
            assert (path in made) == (path in files)
        inside = {path: entry for path, entry in files.items()
                  if path.rpartition("/")[0] == folder}  # fmt: skip
        assert made.in_folder(folder) == {
            path.rpartition("/")[2]: entry.stat for path, entry in inside.items()
        }
    assert sorted(made.sizes()) == sorted(entry.stat.size_bytes for entry in files.values())
    for time_ns in (-1, 0, 3, 1 << 61):
        assert sorted(made.later_than(time_ns)) == sorted(
            path for path, (stat, _) in files.items()
            if stat.mtime_ns >= time_ns or stat.ctime_ns >= time_ns
        )  # fmt: skip
    for shares in ([0], [1, 2], range(3)):
        every = dict(made.stats_of(shares, 3))
        assert {path: files[path].stat for path in every} == every
    assert sum(len(list(made.stats_of([share], 3))) for share in range(3)) == len(files)
    assert len(list(made.stats_of(range(3), 3))) == len(files)


@given(entries, entries, st.sets(paths), st.sets(paths))
def test_columns_with_changes_are_the_dictionary_with_changes(
    files: dict[str, Entry], later: dict[str, Entry], gone: set[str], latest_gone: set[str]
) -> None:
    made = EntryColumns(columns_of(files), dict.fromkeys(gone & files.keys(), None))
    expected = {path: entry for path, entry in files.items() if path not in gone}
    check_same(made, expected)
    made = made.with_changes(later, latest_gone)
    expected = {p: e for p, e in (expected | later).items() if p not in latest_gone}
    check_same(made, expected)


@given(entries, entries, entries, st.sets(paths), st.integers(0, 6))
def test_trees_are_compared_by_folder_as_they_are_file_by_file(
    files: dict[str, Entry],
    since: dict[str, Entry],
    other: dict[str, Entry],
    gone: set[str],
    still: int,
) -> None:
    made = EntryColumns(columns_of(files), {}).with_changes(since, gone)
    known = {path: entry for path, entry in (files | since).items() if path not in gone}
    # Mostly what is known, with some files that changed, came or went.
    now = {path: entry.stat for path, entry in known.items() if path not in other}
    now |= {path: entry.stat for path, entry in other.items() if entry.digest != "00"}
    taken_ns = still + RACY_NS
    expected = moved(Snapshot(known, taken_ns), now)
    assert moved(Snapshot(made, taken_ns), TreeStats.of(now)) == expected
    assert moved(Snapshot(known, taken_ns), TreeStats.of(now)) == expected
    doubted = sorted(in_doubt(Snapshot(made, taken_ns)))
    assert doubted == sorted(in_doubt(Snapshot(known, taken_ns)))


@given(st.dictionaries(paths, stats), st.dictionaries(paths, stats))
def test_stats_by_folder_are_the_dictionary_of_them(
    files: dict[str, Stat], others: dict[str, Stat]
) -> None:
    made = TreeStats.of(files)
    assert made == files
    assert dict(made.items()) == {path: made[path] for path in made}
    assert all((path in made) == (path in files) for path in [*files, *others])
    for key, folder in TreeStats.of(others).folders.items():
        made.put(key, folder)
        files = {path: stat for path, stat in files.items() if path.rpartition("/")[0] != key}
        files |= {path: stat for path, stat in others.items() if path.rpartition("/")[0] == key}
    assert made == files
    assert len(made) == len(files)
    for key in FOLDERS:
        made.put(key, folder_of([]))
    assert len(made) == 0
    assert list(made) == []


@given(entries)
def test_packed_entries_are_the_entries(files: dict[str, Entry]) -> None:
    packed = PackedEntries()
    packed.update(files)
    assert packed == files
    for path in list(files)[::2]:
        del packed[path]
        del files[path]
    assert dict(packed.items()) == files


def test_a_time_that_no_integer_of_eight_bytes_holds_is_the_latest_one() -> None:
    for time_ns in (1 << 70, -1 << 70):
        folder = folder_of([("a", 1, time_ns, 5)])
        assert list(folder.stats()) == [Stat(1, TIME_MAX, 5)]
        assert not folder.is_still(TIME_MAX)


def test_a_path_that_no_file_can_have_is_refused() -> None:
    with pytest.raises(ValueError, match="no file has the path"):
        PathColumns.of(["a\0b"])


@pytest.mark.shows("INDEX-FILE-LIST")
def test_columns_take_a_small_part_of_the_memory_of_objects() -> None:
    rng = random.Random(7)
    files = {}
    for n in range(20_000):
        stat = Stat(*(rng.randrange(10**6, 1 << 60) for _ in range(3)))
        files[f"package{n % 2_000}/src/module_{n}.py"] = Entry(stat, rng.randbytes(32).hex())
    tracemalloc.start()
    try:
        made = EntryColumns(columns_of(files), {})
        assert len(made) == len(files)
        assert moved(Snapshot(made, 1 << 62), TreeStats.of({})) == ([], set(files))
        size = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert size / len(files) < 200, "an entry as objects takes over 400 bytes"
