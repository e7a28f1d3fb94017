"""The files of a tree, kept up to date by what the kernel reports.

A walk of a large tree looks at every file, although the kernel names those that changed. So the
result of the last walk is kept, and the next one lists only the directories with reported names. It
finds what a walk of the whole tree would find: the twin test compares them.

The whole tree is walked if the reports do not tell all: some were lost, a directory came, went or
moved, ignore rules changed, a file has several names or cannot be read (`tree_watch.py` and
`disk.walk_again` decide). Two things are not reported: writes to memory that is mapped, and a
second name that a file gets elsewhere. Their times show them. So a caller that makes a claim about
the whole tree has the times of all files compared from time to time, and the tree is walked again
after ten minutes in any case.

Walks are numbered. A caller that knows how the tree compared at one walk asks which files may have
changed since, whatever their times say.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from itertools import chain, count

import msgspec

from holdfast.files import disk
from holdfast.files.policy import Policy
from holdfast.files.quiet_walk import QuietWalk
from holdfast.files.tree_watch import Reported, TreeWatch

COMPARED_MS_MAX = 10_000
"""How long the times of files that were not reported need not be compared."""
WALKED_MS_MAX = 600_000
"""After this long a tree is walked again: the times of files that are not indexed, such as ignore
files, are not compared."""
DIRECTORIES_AGAIN_MAX = 200
"""How many directories are listed again instead of walking the whole tree."""
TOUCHED_MAX = 10_000
"""How many changed files are remembered; after more, callers compare all files."""

_versions = count(1)
"""Of all trees: a tree that is watched again must not use numbers that its former watch had."""


class Look(msgspec.Struct, frozen=True):
    """What a walk found."""

    found: disk.Walk
    version: int = 0
    """The number of what was found: a later look with the same number found the same."""
    proof: QuietWalk | None = None
    """Tells whether anything was reported since; None if changes are not reported."""
    walked_at: float = 0.0
    compared_at: float = 0.0
    """When the times of all files were compared."""
    by_reports: bool = False
    """Whether only what was reported was looked at."""


class WatchedTree:
    """One tree with its watch. Looks are taken one at a time."""

    def __init__(self, root: str, clock: Callable[[], float]) -> None:
        """Raises CannotWatch where the system does not offer it."""
        self._root, self._clock = root, clock
        self._watch = TreeWatch(root)
        self._lock = threading.Lock()
        self._last: tuple[Policy, Look] | None = None
        self._version = next(_versions)
        self._touched: dict[str, int] = {}
        """Files that may have changed, by the version that first had the change."""
        self._known_from = self._version
        """The version since which all changes are in `_touched`."""

    def look(
        self, policy: Policy, *, whole: bool = False, compared_ms_max: float = COMPARED_MS_MAX
    ) -> Look:
        """The files of the tree now; raises TreeMissing.

        `whole` walks the whole tree. The times of files that were not reported are compared if that
        was not done within `compared_ms_max`.
        """
        with self._lock:
            last, self._last = self._last, None
            look = None
            if last is not None and last[0] == policy and not whole:
                look = self._renewed(last[1], policy, compared_ms_max)
            if look is None:
                look = self._walked(policy)
            if look.proof is not None:
                self._last = policy, look
            return look

    def doubt(self) -> None:
        """Have the next look walk the whole tree: a file changed without a report."""
        with self._lock:
            self._last = None

    def compared(self, version: int, at: float) -> None:
        """Note that all files had the times of this version at a later time."""
        with self._lock:
            if self._last is not None and self._last[1].version == version:
                policy, look = self._last
                self._last = (
                    policy,
                    msgspec.structs.replace(look, compared_at=max(look.compared_at, at)),
                )

    def touched(self, since: int) -> frozenset[str] | None:
        """The files that may have changed after a version; None if any may."""
        with self._lock:
            if since < self._known_from:
                return None
            return frozenset(key for key, version in self._touched.items() if version > since)

    def close(self) -> None:
        self._watch.close()

    def _renewed(self, last: Look, policy: Policy, compared_ms_max: float) -> Look | None:
        """The last look with what was reported since; None if the tree has to be walked."""
        assert last.proof is not None
        began = self._clock()
        if not 0 <= (began - last.walked_at) * 1000 < WALKED_MS_MAX:
            return None
        advanced = last.proof.advanced(self._root, policy)
        if advanced is None:
            return None
        proof, reported = advanced
        look = msgspec.structs.replace(last, proof=proof, by_reports=True)
        if reported:
            walk = self._listed_again(last.found, policy, reported)
            if walk is None:
                return None
            look = msgspec.structs.replace(look, found=walk, version=self._version)
        if not 0 <= (began - last.compared_at) * 1000 < compared_ms_max:
            if not disk.tree_holds(self._root, look.found.stats):
                return None
            look = msgspec.structs.replace(look, compared_at=began)
        return look

    def _listed_again(
        self, before: disk.Walk, policy: Policy, reported: Reported
    ) -> disk.Walk | None:
        directories = {directory for directory, _ in reported}
        if len(directories) > DIRECTORIES_AGAIN_MAX:
            return None
        walk = disk.walk_again(self._root, policy, before, directories)
        if walk is None or walk.linked or walk.unreadable:
            return None
        keys = {f"{directory}/{name}" if directory else name for directory, name in reported}
        listings = (before.directories, walk.directories)
        for directory in directories:
            # A file may have other times than before, although its last report was read earlier.
            prefix = f"{directory}/" if directory else ""
            names = chain.from_iterable(
                (*of[directory].files, *of[directory].unsure) for of in listings
            )
            keys.update(
                key
                for key in (prefix + name for name in names)
                if before.stats.get(key) != walk.stats.get(key)
            )
        self._version = next(_versions)
        self._touched.update(dict.fromkeys(keys, self._version))
        if len(self._touched) > TOUCHED_MAX:
            self._forget_touched()
        return walk

    def _walked(self, policy: Policy) -> Look:
        began = self._clock()
        self._version = next(_versions)
        self._forget_touched()
        proof = QuietWalk.begin(self._watch, self._root, policy)
        walk = disk.walk(self._root, policy)
        new = self._watch.add(walk.directories)
        if new and len(new) <= DIRECTORIES_AGAIN_MAX:
            # They were not watched when they were walked, and are now.
            again = disk.walk_again(self._root, policy, walk, new)
            if again is not None:
                walk, new = again, []
        covered = new == [] and not walk.linked and not walk.unreadable
        return Look(walk, self._version, proof if covered else None, began, began)

    def _forget_touched(self) -> None:
        self._touched.clear()
        self._known_from = self._version
