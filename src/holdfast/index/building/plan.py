"""What a build has to do, decided from the last generation and a listing of the tree. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from holdfast.files.disk import Walk
from holdfast.files.entry_columns import EntryColumns
from holdfast.files.moved import in_doubt, moved
from holdfast.files.snapshot import Changes, Entry, Snapshot, compare, compressed
from holdfast.index.errors import RootMissing

BESIDE_COLUMNS_SHARE = 0.25
"""When more of a manifest than this share has changed, its columns are given up."""


class EmptyTree(RootMissing):
    """Raised when a tree that had files shows none: more likely unmounted than deleted."""

    def __init__(self, root: str, files: int) -> None:
        super().__init__(root, f"it shows no files, and its index has {files}")
        self.hint = "if the files are really gone, run: holdfast index clear"


@dataclass(frozen=True, slots=True)
class Plan:
    """The files to read (`todo`) and the missing files (`absent`), compared with `before`."""

    before: Snapshot
    todo: list[str]
    absent: set[str]
    unreadable: frozenset[str]

    @property
    def needed(self) -> bool:
        """Whether there may be anything to publish. A file that just cannot be seen now is kept."""
        if self.todo:
            return True
        return bool(self.changes({}, self.unreadable, 0).removed) if self.absent else False

    def changes(
        self, entries: Mapping[str, Entry], unreadable: frozenset[str], taken_ns: int
    ) -> Changes:
        """What changed, given the files that were read. Other files are equal and not compared."""
        known = self.before.entries
        had = {path: known[path] for path in (*self.todo, *self.absent) if path in known}
        return compare(Snapshot(had, self.before.taken_ns), Snapshot(entries, taken_ns, unreadable))

    def manifest(
        self, entries: Mapping[str, Entry], removed: Collection[str], unreadable: frozenset[str],
        taken_ns: int,
    ) -> Snapshot:  # fmt: skip
        """The manifest after the build: previous and new entries, without removed files."""
        known = self.before.entries
        if isinstance(known, EntryColumns):
            changes = known.changes + len(entries)
            if changes <= BESIDE_COLUMNS_SHARE * len(known):
                return Snapshot(known.with_changes(entries, removed), taken_ns, unreadable)
        if not known and not any(path in entries for path in removed):
            return Snapshot(entries, taken_ns, unreadable)
        after = dict(known.items())  # not {**known}, which looks every path of columns up
        after.update(entries)
        for path in removed:
            after.pop(path, None)
        return Snapshot(after, taken_ns, unreadable)


def make_plan(before: Snapshot, walk: Walk, touched: Collection[str] | None = None) -> Plan:
    """The plan for a listing; `touched` are the only files that may have changed, if known.

    With these, files that were read too early are read again: their number stays small so.
    """
    if touched is None:
        todo, absent = moved(before, walk.stats)
    else:
        read = {*touched, *in_doubt(before)} if touched else touched
        todo = sorted(path for path in read if path in walk.stats)
        absent = {path for path in touched if path in before.entries and path not in walk.stats}
    return Plan(before, todo, absent, compressed(walk.unreadable))


def refuse_emptied_tree(root: str, walk: Walk, indexed_files: int) -> None:
    """Raise EmptyTree when the index of a tree would be replaced by one of no files."""
    if walk.shows_nothing and indexed_files:
        raise EmptyTree(root, indexed_files)
