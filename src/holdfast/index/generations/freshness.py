"""Files that changed since a generation was published, without writing anything.

A check walks the tree and finds the files that differ from the generation's manifest. They are
read, prepared and kept in memory (`FreshFiles`), and searches rank them together with the stored
rest; deleted files are left out of answers. Updating the index itself is the work of `sync` and of
the watcher.

A check is reused for a short time, in proportion to what it cost, and the answer says so. The files
of an answer are still compared with the disk each time: if one of them changed, the tree is checked
again. A file that was modified at about the time the generation was made has to be read to know
whether it changed; once it is confirmed, it is not read again.

A process that stays, such as the host, has the kernel report changes (`files/tree_watch.py`). While
nothing is reported, a check is reused for longer, and then renewed by the times of the files alone.
What is reported is looked at instead of the whole tree (`files/watched_tree.py`), by checks and by
syncs.

The first check of a large tree walks it in a process of its own while the question is ranked
(`walk_ahead.py`).

Concurrent callers share a check: each takes one that began after its call. So many agents that
search one tree cause at most two walks of it at a time, not one each.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping
from itertools import chain, compress, cycle

import msgspec

from holdfast import system
from holdfast.files import disk
from holdfast.files.entry_columns import EntryColumns
from holdfast.files.listing_store import use_listings
from holdfast.files.policy import Policy
from holdfast.files.quiet_walk import QuietWalk
from holdfast.files.snapshot import Snapshot, Stat
from holdfast.files.tree_watch import CannotWatch
from holdfast.files.watched_tree import COMPARED_MS_MAX, WALKED_MS_MAX, Look, WatchedTree
from holdfast.index.generations.changed_files import (
    Prepare,
    all_confirmed,
    differences,
    read_files,
)
from holdfast.index.generations.model import Identity, PreparedFile, Reader
from holdfast.index.generations.walk_ahead import (
    Manifest,
    Seen,
    WalkAhead,
    compared,
    looked_at,
    pays,
)

THRESHOLD_MS_MIN, THRESHOLD_MS_MAX = 100, 1_000
CHECK_COST_FACTOR = 20
"""A check is reused for this many times as long as it took, within the bounds above."""

WATCHED_MS_MAX = COMPARED_MS_MAX
"""A check of a watched tree is reused for this long if nothing was reported. Not longer: a program
that has a file mapped into memory may write it without a report. The times of the files show that,
and are compared then, which takes less than half of a walk."""
SHARES, SHARE_MS = 50, 100
SHARES_AT_ONCE = 5
"""While searches come often, a fiftieth of the files is compared each tenth of a second, and by one
search at most a tenth, so that none has to compare all."""
WATCHED_ROOTS_MAX = 4


class FreshFiles(msgspec.Struct):
    """What differs from a generation, by path."""

    identity: Identity
    manifest: Snapshot | Manifest
    checked_at: float
    walked_at: float = 0.0
    threshold_ms: int = THRESHOLD_MS_MIN
    mode: str = "skipped_source_unchanged"
    changed: dict[str, PreparedFile] = msgspec.field(default_factory=dict)
    gone: frozenset[str] = frozenset()
    added: int = 0
    modified: int = 0
    beyond: int = 0
    """Changed files that were not read, because there are more than CHANGED_FILES_MAX."""
    unreadable: int = 0
    """Files and directories that could not be read."""
    large: tuple[str, ...] = ()
    """Files that are not indexed because of their size."""
    confirmed_ns: int = 0
    """When files that their times cannot prove unchanged were last read and found equal."""
    walk: QuietWalk | None = None
    """Tells whether anything was reported since the check."""
    version: int = 0
    """The number of the look at a watched tree; 0 if it is not watched."""
    by_reports: bool = False
    """Whether only what was reported was looked at."""
    compared_at: list[float] = msgspec.field(default_factory=list)
    """When the times of each share of the files were last compared; empty for at the check."""
    corpus: object = None
    """The ranking data of these files, built on first use; owned by `search.fresh_files`."""

    @property
    def before(self) -> Snapshot:
        """The manifest of the generation, made on first use."""
        made = self.manifest  # read once: threads of a host share a check
        if not isinstance(made, Snapshot):
            made = self.manifest = made()
        return made

    def is_still_so(self, root: str, policy: Policy) -> bool:
        """Whether the tree is watched and nothing was reported since the check."""
        return self.walk is not None and self.walk.holds(root, policy)

    def times_hold(self, root: str, shares: Collection[int] = range(SHARES)) -> bool:
        """Whether every file of some shares has the size and the times that it had."""
        chosen = [share in shares for share in range(SHARES)]
        entries = self.before.entries
        stored: Iterable[tuple[str, Stat]]
        if isinstance(entries, EntryColumns):
            stored = entries.stats_of(shares, SHARES)
        else:
            stored = (
                (path, entry.stat) for path, entry in compress(entries.items(), cycle(chosen))
            )
        kept = (item for item in stored if not self.replaces(item[0]))
        changed = compress(self.changed.items(), cycle(chosen))
        return disk.stats_hold(
            root, chain(kept, ((path, file.entry.stat) for path, file in changed))
        )

    @property
    def whole(self) -> bool:
        """Whether the whole tree was seen, so that a search over it is complete."""
        return not (self.beyond or self.unreadable or self.mode == "skipped_missing_path")

    def replaces(self, path: str) -> bool:
        """Whether the stored chunks of a file must not be shown."""
        return path in self.changed or path in self.gone


class _Turns:
    """The checks of one root, which run one at a time and are numbered by their start."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.begun = 0
        self.last: tuple[int, FreshFiles] | None = None


class FreshnessChecks:
    """The last check of each root, for as long as it may be reused."""

    def __init__(
        self,
        clock: Callable[[], float] = system.monotonic,
        now_ns: Callable[[], int] = system.now_ns,
    ) -> None:
        self._clock, self._now_ns = clock, now_ns
        self._lock = threading.Lock()
        self._last: dict[str, FreshFiles] = {}
        self._turns: dict[str, _Turns] = {}
        self._trees: OrderedDict[str, WatchedTree] = OrderedDict()
        self._synced: dict[str, tuple[Identity, int]] = {}
        """By root: a generation, and the look at the tree when it had every file as it was."""

    def last(self, root: str, identity: Identity) -> FreshFiles | None:
        """The last check, of any age, if it is about this generation."""
        with self._lock:
            last = self._last.get(root)
        return last if last is not None and last.identity == identity else None

    def recent(
        self, root: str, identity: Identity, policy: Policy, proved: bool = False
    ) -> FreshFiles | None:
        """The last check, if it is recent enough and about this generation.

        With `proved` it counts only if the kernel reported no change since, however recent it is.
        """
        last = self.last(root, identity)
        if last is None:
            return None
        age_ms = (self._clock() - last.checked_at) * 1000
        if 0 <= age_ms < last.threshold_ms and not proved:
            return last
        walked_ms = (self._clock() - last.walked_at) * 1000
        if age_ms < 0 or walked_ms >= WALKED_MS_MAX or not last.is_still_so(root, policy):
            return None
        if age_ms >= WATCHED_MS_MAX:
            return last if self._renew(last, root, policy) else None
        return last if self._renew_share(last, root) else None

    def _renew_share(self, last: FreshFiles, root: str) -> bool:
        """Compare the times of the shares that were compared the longest ago, if it is time."""
        began = self._clock()
        with self._lock:
            times = last.compared_at = last.compared_at or [last.checked_at] * SHARES
            due = min(SHARES_AT_ONCE, int((began - max(times)) * 1000 / SHARE_MS))
            oldest = sorted(range(SHARES), key=times.__getitem__)[: max(0, due)]
        if not oldest:
            return True
        if not last.times_hold(root, oldest):
            self.doubt(root)
            return False
        with self._lock:
            for share in oldest:
                times[share] = max(times[share], began)
            last.checked_at = max(last.checked_at, min(times))
        self._compared(root, last)
        return True

    def _renew(self, last: FreshFiles, root: str, policy: Policy) -> bool:
        """Prove by the times of the files that a check of a watched tree still holds."""
        began = self._clock()
        if not last.times_hold(root):
            self.doubt(root)
            return False
        if not last.is_still_so(root, policy):
            return False
        last.checked_at, last.compared_at = began, []
        self._compared(root, last)
        return True

    def _compared(self, root: str, last: FreshFiles) -> None:
        """A sync need not compare the times that a check has compared."""
        with self._lock:
            tree = self._trees.get(root)
        if tree is not None:
            tree.compared(last.version, last.checked_at)

    def close(self) -> None:
        with self._lock:
            for tree in self._trees.values():
                tree.close()
            self._trees.clear()

    def tree(self, root: str) -> WatchedTree | None:
        """A tree whose changes the kernel reports; None where the system does not offer it."""
        with self._lock:
            known = self._trees.get(root)
            if known is None:
                try:
                    known = self._trees[root] = WatchedTree(root, self._clock)
                except CannotWatch:
                    return None
                while len(self._trees) > WATCHED_ROOTS_MAX:
                    self._trees.popitem(last=False)[1].close()
            self._trees.move_to_end(root)
            return known

    def doubt(self, root: str) -> None:
        """Have the next look at a tree walk all of it: a file changed without a report."""
        with self._lock:
            tree = self._trees.get(root)
        if tree is not None:
            tree.doubt()

    def moment(self) -> float:
        """The current time, as `synced` expects it."""
        return self._clock()

    def synced(
        self,
        root: str,
        identity: Identity,
        snapshot: Snapshot,
        began: float,
        look: Look | None = None,
        large: Iterable[str] = (),
    ) -> None:
        """Record that a sync has just checked the tree: nothing differs from its generation.

        `began` is from before the sync looked at the tree; later changes were not seen. `look` is
        what a watched tree had, and `large` the files that are not indexed because of their size.
        """
        reusable_ms = _threshold_ms((self._clock() - began) * 1000)
        checked = FreshFiles(identity, snapshot, began, began, threshold_ms=reusable_ms)
        checked.large = tuple(large)
        with self._lock:
            self._synced.pop(root, None)
            if look is not None and look.proof is not None:
                checked.checked_at, checked.walked_at = look.compared_at, look.walked_at
                checked.walk, checked.version = look.proof, look.version
                self._synced[root] = identity, look.version
            self._last[root] = checked

    def touched(self, root: str, identity: Identity) -> frozenset[str] | None:
        """The files that may have changed since a sync made this generation; None if any may."""
        with self._lock:
            known, tree = self._synced.get(root), self._trees.get(root)
        if known is None or tree is None or known[0] != identity:
            return None
        return tree.touched(known[1])

    def is_checked(self, root: str) -> bool:
        """Whether a tree was checked in this process."""
        with self._lock:
            return root in self._last

    def manifest(self, root: str) -> tuple[Identity, Snapshot] | None:
        """The generation that was checked last, and its manifest."""
        with self._lock:
            last = self._last.get(root)
        return None if last is None else (last.identity, last.before)

    def forget(self, root: str) -> None:
        with self._lock:
            self._last.pop(root, None)
            self._synced.pop(root, None)

    def begin(self, root: str, reader: Reader, policy: Policy, files: int) -> WalkAhead | None:
        """Begin the first check of a tree in a process of its own, if that is faster."""
        with self._lock:
            if root in self._last:
                return None
        if not pays(files):
            return None
        try:
            began = self._clock(), self._now_ns()
            return WalkAhead(root, policy, reader.snapshot_later(), reader.listings(), began)
        except OSError:
            return None

    def check(
        self,
        root: str,
        reader: Reader,
        policy: Policy,
        prepare: Prepare,
        watched: bool = False,
        ahead: WalkAhead | None = None,
    ) -> FreshFiles:
        """What differs from a generation, from a check that begins after this call.

        `watched` lets the kernel report changes from now on, for a process that stays. `ahead` is a
        walk that has begun; it is used if it has a result.
        """
        seen = None if ahead is None else ahead.result()
        if ahead is not None and seen is not None:
            return self._conclude(root, reader, ahead, seen, prepare)
        with self._lock:
            turns = self._turns.setdefault(root, _Turns())
            asked = turns.begun
        with turns.lock:
            if turns.last is not None:
                number, shared = turns.last
                if number > asked and shared.identity == reader.identity:
                    return shared
            with self._lock:
                turns.begun += 1
                number = turns.begun
            tree = self.tree(root) if watched else None
            fresh = self._check(root, reader, policy, prepare, tree)
            turns.last = number, fresh
            return fresh

    def _check(
        self,
        root: str,
        reader: Reader,
        policy: Policy,
        prepare: Prepare,
        tree: WatchedTree | None,
    ) -> FreshFiles:
        """Compare the tree with a generation now."""
        began = self._clock()
        with self._lock:
            last = self._last.get(root)
        same = last if last is not None and last.identity == reader.identity else None
        before = reader.snapshot() if same is None else same.before
        fresh = FreshFiles(reader.identity, before, self._clock(), began)
        fresh.confirmed_ns = 0 if same is None else same.confirmed_ns
        looked_ns = self._now_ns()
        use_listings(root, policy, reader.listings)
        looked = looked_at(root, policy, tree, None if same is None else same.version)
        seen = compared(looked, before, fresh.confirmed_ns)
        if looked is None or not seen.exists:
            fresh.mode = "skipped_missing_path"
            return fresh
        _take_in(root, fresh, seen, looked_ns, {} if last is None else last.changed, prepare)
        fresh.threshold_ms = _threshold_ms((self._clock() - began) * 1000)
        if looked.proof is not None and fresh.whole:
            fresh.walk, fresh.version = looked.proof, looked.version
            fresh.by_reports = looked.by_reports
            fresh.checked_at, fresh.walked_at = looked.compared_at, looked.walked_at
        with self._lock:
            self._last[root] = fresh
        return fresh

    def _conclude(
        self, root: str, reader: Reader, ahead: WalkAhead, seen: Seen, prepare: Prepare
    ) -> FreshFiles:
        """The check whose walk was made ahead."""
        fresh = FreshFiles(reader.identity, ahead.manifest, ahead.began, ahead.began)
        if not seen.exists:
            fresh.mode = "skipped_missing_path"
            return fresh
        _take_in(root, fresh, seen, ahead.looked_ns, {}, prepare)
        fresh.threshold_ms = _threshold_ms((self._clock() - ahead.began) * 1000)
        with self._lock:
            self._last[root] = fresh
        return fresh


def _take_in(
    root: str,
    fresh: FreshFiles,
    seen: Seen,
    looked_ns: int,
    ready: Mapping[str, PreparedFile],
    prepare: Prepare,
) -> None:
    """Read what a walk has found to be different, and say in `fresh` what it is."""
    fresh.large = tuple(seen.large)
    todo = seen.maybe_changed
    if todo or seen.absent or seen.unreadable:
        before = fresh.before
        read = read_files(root, todo, before, ready, prepare)
        read.unreadable |= set(seen.unreadable)
        changes = differences(before, todo, seen.absent, read.entries, read.unreadable)
        fresh.changed, fresh.beyond = read.changed, read.beyond
        # A file system mounted inside the tree is not part of it, and not a failure to read.
        fresh.unreadable = max(0, len(read.unreadable) - seen.mounts)
        fresh.gone = frozenset(changes.removed)
        fresh.added, fresh.modified = len(changes.added), len(changes.modified)
        fresh.mode = mode_of(fresh)
        if not all_confirmed(before, todo, todo, read.entries):
            return
    fresh.confirmed_ns = looked_ns


def mode_of(fresh: FreshFiles) -> str:
    """The freshness mode that an answer reports."""
    if fresh.beyond or fresh.unreadable:
        return "overlay_partial"
    return "overlay" if fresh.changed or fresh.gone else "skipped_source_unchanged"


def _threshold_ms(took_ms: float) -> int:
    """How long a check that took `took_ms` may be reused, counted from its start."""
    return int(min(max(took_ms * CHECK_COST_FACTOR, THRESHOLD_MS_MIN), THRESHOLD_MS_MAX))


def moved(root: str, paths: Iterable[str], fresh: FreshFiles) -> bool:
    """Whether one of these files differs from what the check saw."""
    top = root.rstrip("/") + "/"
    some = frozenset(paths)
    entries, lstat = fresh.before.entries, os.lstat
    for path in some:
        made = fresh.changed.get(path)
        known = made.entry if made is not None else entries.get(path)
        try:
            seen = lstat(top + path)
        except OSError:
            if path not in fresh.gone:
                return True
            continue
        if known is None or known.stat != (seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns):
            return True
    return False
