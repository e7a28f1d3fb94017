"""Answering from files that changed since the generation, without writing anything.

A look at the tree tells which files changed. They are read and ranked from memory for this one
answer, beside the stored rest; what is gone is left out. The index itself is not touched: keeping
it fresh is the work of `sync` and of the watcher.

A look is not repeated for a moment, in proportion to what it cost, and the answer says so. The
files of the answer are looked at every time: if one of them moved, so is the tree. A file that was
touched about when the generation was made is read, and once it was found as it was, not again.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from msgspec.structs import replace

from holdfast.files import disk
from holdfast.files import snapshot as snapshots
from holdfast.files.policy import Policy
from holdfast.files.snapshot import Entry, Snapshot, Stat, compare, compressed
from holdfast.index.building.prepare import Extract, Job, prepare, prepare_with_vectors
from holdfast.index.embedding.provider import EmbeddingProvider
from holdfast.index.generations.model import Identity, PreparedFile, Reader

THRESHOLD_MS_MIN, THRESHOLD_MS_MAX = 100, 1_000
LOOK_SHARE = 20
"""A look is not repeated for this many times as long as it took, within the bounds above."""

OVERLAY_FILES_MAX = 200


@dataclass(slots=True)
class FreshFiles:
    """What differs from a generation, by path. `beyond` counts changed files left unread, and
    `unreadable` files and directories that could not be read."""

    identity: Identity
    before: Snapshot
    checked_at: float
    threshold_ms: int = THRESHOLD_MS_MIN
    mode: str = "skipped_source_unchanged"
    changed: dict[str, PreparedFile] = field(default_factory=dict)
    gone: frozenset[str] = frozenset()
    added: int = 0
    modified: int = 0
    beyond: int = 0
    unreadable: int = 0
    still_ns: int = 0
    """When files that the manifest had only just seen were read, and were as it has them."""
    corpus: object = None
    """What is ranked over, once it was made; belongs to `holdfast.index.search.fresh_files`."""

    @property
    def whole(self) -> bool:
        """Whether all of the tree was looked at, so that nothing in it is out of sight."""
        return not (self.beyond or self.unreadable or self.mode == "skipped_missing_path")

    def replaces(self, path: str) -> bool:
        """Whether stored chunks of a file must not be shown."""
        return path in self.changed or path in self.gone


class FreshnessChecks:
    """The last look at each root, for as long as it may serve."""

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        now_ns: Callable[[], int] = time.time_ns,
    ) -> None:
        self._clock, self._now_ns = clock, now_ns
        self._lock = threading.Lock()
        self._last: dict[str, FreshFiles] = {}

    def recent(self, root: str, identity: Identity) -> FreshFiles | None:
        """The last look, if it is young enough and about this generation."""
        with self._lock:
            last = self._last.get(root)
        if last is None or last.identity != identity:
            return None
        young = 0 <= (self._clock() - last.checked_at) * 1000 < last.threshold_ms
        return last if young else None

    def moment(self) -> float:
        """Now, for `looked`."""
        return self._clock()

    def looked(self, root: str, identity: Identity, snapshot: Snapshot, began: float) -> None:
        """Take note that a sync looked at all of the tree: the generation is what it held then.

        `began` is from before the look: what came after it was not seen, however late it ended.
        """
        serves_ms = _threshold_ms((self._clock() - began) * 1000)
        with self._lock:
            self._last[root] = FreshFiles(identity, snapshot, began, serves_ms)

    def manifest(self, root: str) -> tuple[Identity, Snapshot] | None:
        """The manifest of the generation that was looked at last, and which one that was."""
        with self._lock:
            last = self._last.get(root)
        return None if last is None else (last.identity, last.before)

    def forget(self, root: str) -> None:
        with self._lock:
            self._last.pop(root, None)

    def look(
        self,
        root: str,
        reader: Reader,
        policy: Policy,
        extract: Extract,
        provider: EmbeddingProvider | None,
    ) -> FreshFiles:
        """Look at the tree now. `provider` is None when its vectors would cost a request."""
        began = time.monotonic()
        with self._lock:
            last = self._last.get(root)
        same = last is not None and last.identity == reader.identity
        before = last.before if same and last is not None else reader.snapshot()
        still_ns = last.still_ns if same and last is not None else 0
        looked_ns = self._now_ns()
        overlay = FreshFiles(reader.identity, before, self._clock())
        try:
            found = disk.walk(root, policy)
        except disk.TreeMissing:
            overlay.mode = "skipped_missing_path"
            return overlay
        if before.entries and not found.stats and not found.unreadable:
            overlay.mode = "skipped_missing_path"
            return overlay
        kept = last.changed if last is not None else {}
        entries: dict[str, Entry] = {}
        unreadable = set(found.unreadable)
        seen = Snapshot(before.entries, max(before.taken_ns, still_ns))
        todo, absent = snapshots.moved(seen, found.stats)
        # Those that only their time keeps from being taken for what they were.
        doubted = {p for p in todo if _stat_of(before.entries.get(p)) == found.stats[p]}
        for path in todo:
            known = before.entries.get(path)
            if len(overlay.changed) >= OVERLAY_FILES_MAX:
                overlay.beyond += 1
                continue
            try:
                source, read_at = disk.read_file(root, path)
            except FileNotFoundError:
                continue
            except OSError:
                unreadable.add(path)
                continue
            entry = entries[path] = Entry(read_at, disk.digest(source))
            if entry == known:
                doubted.discard(path)
            if known is not None and known.digest == entry.digest:
                continue
            ready = kept.get(path)
            if ready is None or ready.entry.digest != entry.digest:
                job = Job(path, source, entry)
                ready = (
                    prepare(job, extract)
                    if provider is None
                    else prepare_with_vectors(job, extract, provider)
                )
            elif ready.entry != entry:
                ready = replace(ready, entry=entry)  # touched, and no more than that
            overlay.changed[path] = ready
        # Another file system in the tree is not a part of it that we failed to read.
        overlay.unreadable = max(0, len(unreadable) - found.skipped["mount"])
        unreadable.update(path for path in todo if path not in entries)
        # Only what moved is compared: the rest is as it was.
        had = {p: before.entries[p] for p in (*todo, *absent) if p in before.entries}
        changes = compare(
            Snapshot(had, before.taken_ns),
            Snapshot(entries, before.taken_ns, compressed(unreadable)),
        )
        overlay.gone = frozenset(changes.removed)
        overlay.added, overlay.modified = len(changes.added), len(changes.modified)
        if overlay.beyond or overlay.unreadable:
            overlay.mode = "overlay_partial"
        elif overlay.changed or overlay.gone:
            overlay.mode = "overlay"
        overlay.still_ns = still_ns if doubted else looked_ns
        overlay.threshold_ms = _threshold_ms((time.monotonic() - began) * 1000)
        with self._lock:
            self._last[root] = overlay
        return overlay


def _threshold_ms(took_ms: float) -> int:
    """For how long a look serves, from its beginning, by how long it took."""
    return int(min(max(took_ms * LOOK_SHARE, THRESHOLD_MS_MIN), THRESHOLD_MS_MAX))


def _stat_of(entry: Entry | None) -> Stat | None:
    return None if entry is None else entry.stat


def moved(root: str, paths: Iterable[str], overlay: FreshFiles) -> bool:
    """Whether one of these files is not as the last look had it."""
    top = root.rstrip("/") + "/"
    entries, lstat = overlay.before.entries, os.lstat
    for path in paths:
        ready = overlay.changed.get(path)
        known = ready.entry if ready is not None else entries.get(path)
        try:
            seen = lstat(top + path)
        except OSError:
            if path not in overlay.gone:
                return True
            continue
        if known is None or known.stat != (seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns):
            return True
    return False
