"""Which files may have changed since a snapshot, by their sizes and times."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from holdfast.files.entry_columns import EntryColumns
from holdfast.files.snapshot import RACY_NS, Snapshot, Stat
from holdfast.files.tree_stats import TreeStats


def moved(before: Snapshot, stats: Mapping[str, Stat]) -> tuple[list[str], set[str]]:
    """The keys that may have changed since a snapshot, sorted, and the keys that are missing.

    A file is taken as unchanged when its stat is the same and its times are well before the
    snapshot was taken. May name a file that did not change. Misses a changed one only if its size
    and all its times were put back. One pass over the tree, so a sync costs as much as has changed.
    """
    entries, still_ns = before.entries, before.taken_ns - RACY_NS
    if isinstance(entries, EntryColumns) and isinstance(stats, TreeStats):
        return _by_folder(entries, stats, still_ns)
    todo = []
    for key, stat in stats.items():
        entry = entries.get(key)
        if entry is None or entry.stat != stat or stat[1] >= still_ns or stat[2] >= still_ns:
            todo.append(key)
    todo.sort()
    same = len(stats) - len(todo)
    gone = set() if same == len(entries) else entries.keys() - stats.keys()
    return todo, set(gone)


def _by_folder(before: EntryColumns, stats: TreeStats, still_ns: int) -> tuple[list[str], set[str]]:
    """The same, without looking at each file of a folder that is as it was."""
    todo, gone = list[str](), set[str]()
    same = 0
    for key, folder in stats.folders.items():
        if before.holds(key, folder) and folder.is_still(still_ns):
            same += len(folder.names)
            continue
        prefix = f"{key}/" if key else ""
        had = before.in_folder(key)
        todo += [
            prefix + name
            for name, stat in zip(folder.names, folder.stats(), strict=True)
            if had.get(name) != stat or stat[1] >= still_ns or stat[2] >= still_ns
        ]
        gone.update(prefix + name for name in had.keys() - set(folder.names))
        same += len(had)
    if same < len(before):
        for key in before.folders() - stats.folders.keys():
            prefix = f"{key}/" if key else ""
            gone.update(prefix + name for name in before.in_folder(key))
    todo.sort()
    return todo, gone


def in_doubt(before: Snapshot) -> Iterator[str]:
    """The files that had just been written when they were read: their times do not show whether
    they were written again."""
    still_ns = before.taken_ns - RACY_NS
    entries = before.entries
    if isinstance(entries, EntryColumns):
        yield from entries.later_than(still_ns)
        return
    for path, (stat, _) in entries.items():
        if stat[1] >= still_ns or stat[2] >= still_ns:
            yield path
