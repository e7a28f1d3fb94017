"""Reading the files that may have changed since a generation, for a check of its freshness."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping

import msgspec
from msgspec.structs import replace

from holdfast.files import disk
from holdfast.files.snapshot import Changes, Entry, Snapshot, Stat, compare, compressed
from holdfast.index.generations.model import PreparedFile, SourceFile

CHANGED_FILES_MAX = 200

Prepare = Callable[[SourceFile], PreparedFile]


class ReadFiles(msgspec.Struct):
    """The result of reading the files that may have changed."""

    entries: dict[str, Entry] = msgspec.field(default_factory=dict)
    changed: dict[str, PreparedFile] = msgspec.field(default_factory=dict)
    unreadable: set[str] = msgspec.field(default_factory=set)
    beyond: int = 0


def read_files(
    root: str,
    todo: Iterable[str],
    before: Snapshot,
    ready: Mapping[str, PreparedFile],
    prepare: Prepare,
) -> ReadFiles:
    """Read the files that may have changed, and prepare those that did, up to the limit."""
    read = ReadFiles()
    for path in todo:
        if len(read.changed) >= CHANGED_FILES_MAX:
            read.beyond += 1
            continue
        try:
            source, stat = disk.read_file(root, path)
        except FileNotFoundError:
            continue
        except OSError:
            read.unreadable.add(path)
            continue
        entry = read.entries[path] = Entry(stat, disk.digest(source))
        known = before.entries.get(path)
        if known is not None and known.digest == entry.digest:
            continue
        prepared = ready.get(path)
        if prepared is None or prepared.entry.digest != entry.digest:
            prepared = prepare(SourceFile(path, source, entry))
        elif prepared.entry != entry:
            prepared = replace(prepared, entry=entry)  # Same content, other times.
        read.changed[path] = prepared
    return read


def differences(
    before: Snapshot,
    todo: Collection[str],
    absent: Iterable[str],
    entries: Mapping[str, Entry],
    unreadable: Collection[str],
) -> Changes:
    """What changed since a snapshot. Files of `todo` may have changed; `entries` has those read.

    Files that were not read count as unreadable: nothing is known about them, so they are never
    reported as removed. Only files in `todo` and `absent` are compared, because the rest is equal.
    """
    unknown = compressed([*unreadable, *(path for path in todo if path not in entries)])
    had = {p: before.entries[p] for p in (*todo, *absent) if p in before.entries}
    return compare(
        Snapshot(had, before.taken_ns), Snapshot(entries, before.taken_ns, frozenset(unknown))
    )


def all_confirmed(
    before: Snapshot,
    todo: Iterable[str],
    stats: Mapping[str, Stat],
    entries: Mapping[str, Entry],
) -> bool:
    """Whether every file that its times cannot prove unchanged was read and found unchanged."""
    return all(
        entries.get(path) == known
        for path in todo
        if (known := before.entries.get(path)) is not None and known.stat == stats[path]
    )
