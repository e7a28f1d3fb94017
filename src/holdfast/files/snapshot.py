"""A directory tree as data, and what changed between two snapshots of it.

Files are compared by stat first (`moved.py`): one whose size and times are the same is taken as
unchanged. There are two traps. A write can fall into the same clock tick as the snapshot before it,
so a file that was modified at about the time of the snapshot is read again. And a part of the tree
that cannot be read now is not deleted: its files are never reported as removed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import NamedTuple

import msgspec

RACY_NS = 2_000_000_000
"""A file modified within this time of a snapshot may have changed after it: coarse file systems
keep times to two seconds."""


class Stat(NamedTuple):
    """Size and times of a file, to detect changes cheaply. A tuple, for speed: there is one for
    every file of a tree."""

    size_bytes: int
    mtime_ns: int
    ctime_ns: int


class Entry(NamedTuple):
    """One file: its stat and the sha256 of its bytes."""

    stat: Stat
    digest: str


class Snapshot(msgspec.Struct, frozen=True):
    """The files of a tree by relative key, as seen at one time.

    `unreadable` are keys of files and directories that could not be read; "" is the root itself.
    """

    entries: Mapping[str, Entry]
    taken_ns: int
    unreadable: frozenset[str] = frozenset()


class Changes(msgspec.Struct, frozen=True):
    """What happened between two snapshots. `renamed` pairs (old, new) are also in removed/added."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    modified: tuple[str, ...] = ()
    touched: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.modified)


def stamp_of(stat: Stat) -> int:
    """The later of modification and change time: a rewrite that restores its mtime is noticed."""
    return max(stat.mtime_ns, stat.ctime_ns)


def as_known(recorded: tuple[int, int] | None, stat: Stat, taken_ns: int) -> bool:
    """Whether a file is unchanged as far as its stat tells, given its size and stamp before.

    `taken_ns` is when the files were listed then; see `moved`.
    """
    stamp = stamp_of(stat)
    return recorded == (stat.size_bytes, stamp) and stamp < taken_ns - RACY_NS


def not_searched(unreadable: Iterable[str], too_large: int, unnameable: int) -> str | None:
    """Which files an answer does not cover; None if it covers all."""
    paths, skipped = sorted(unreadable), []
    if paths:
        more = ", …" if len(paths) > 3 else ""
        skipped.append(f"{len(paths)} could not be read ({', '.join(paths[:3])}{more})")
    if too_large:
        skipped.append(f"{too_large} too large")
    if unnameable:
        skipped.append(f"{unnameable} with names that are not UTF-8")
    return f"not searched: {'; '.join(skipped)}" if skipped else None


def compare(before: Snapshot, after: Snapshot) -> Changes:
    """What happened from one snapshot to the other. Files in unreadable parts are not removed."""
    added = sorted(after.entries.keys() - before.entries.keys())
    gone = before.entries.keys() - after.entries.keys()
    removed = sorted(key for key in gone if not covered(key, after.unreadable))
    modified, touched = [], []
    for key, entry in after.entries.items():
        old = before.entries.get(key)
        if old is None:
            continue
        if old.digest != entry.digest:
            modified.append(key)
        elif old.stat != entry.stat:
            touched.append(key)
    return Changes(
        tuple(added),
        tuple(removed),
        tuple(sorted(modified)),
        tuple(sorted(touched)),
        tuple(_renames(before, after, removed, added)),
    )


def covered(key: str, parts: AbstractSet[str]) -> bool:
    """Whether a key is one of these parts or lies under one, by whole segments.

    The key and the directories above it are looked up: there may be as many parts as files.
    """
    if not parts:
        return False
    above = key
    while above not in parts:
        if not above:
            return False
        above = above.rpartition("/")[0]
    return True


def compressed(parts: Iterable[str]) -> frozenset[str]:
    """The same parts without those that lie under another."""
    paths: set[str] = set()
    for part in sorted(set(parts)):  # a directory comes before what is in it
        if not covered(part, paths):
            paths.add(part)
    return frozenset(paths)


def _renames(
    before: Snapshot, after: Snapshot, removed: Iterable[str], added: Iterable[str]
) -> list[tuple[str, str]]:
    """Pairs of a removed and an added file with one content, closest names first."""
    by_digest: dict[str, list[str]] = defaultdict(list)
    for key in removed:
        by_digest[before.entries[key].digest].append(key)
    pairs = []
    for new in added:
        candidates = by_digest.get(after.entries[new].digest)
        if candidates:
            name = new.rsplit("/", 1)[-1]
            old = min(candidates, key=lambda key: (key.rsplit("/", 1)[-1] != name, key))
            candidates.remove(old)
            pairs.append((old, new))
    return pairs
