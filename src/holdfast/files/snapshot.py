"""A directory tree as data: which files there are, and what changed between two looks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class FileStat:
    """What a look at a file says without reading it."""

    size: int
    stamp_ns: int
    """The later of its modification and its change time: a rewrite moves it, whatever it hides."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The files of a tree by path, relative to its root, with forward slashes."""

    files: Mapping[str, FileStat] = field(default_factory=dict)
    too_large: tuple[str, ...] = ()
    """Files that were left out because of their size."""


@dataclass(frozen=True, slots=True)
class Changes:
    """The difference between two snapshots; every tuple is sorted."""

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.changed or self.removed)


def changes(before: Mapping[str, FileStat], after: Mapping[str, FileStat]) -> Changes:
    """What happened between two looks.

    May call a file changed that was only touched. Never calls one unchanged whose size or stamps
    differ.
    """
    return Changes(
        added=tuple(sorted(path for path in after if path not in before)),
        changed=tuple(
            sorted(path for path in after if path in before and after[path] != before[path])
        ),
        removed=tuple(sorted(path for path in before if path not in after)),
    )
