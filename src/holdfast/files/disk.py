"""Listing and reading a tree on disk. Read-only; does not follow links or enter other file systems.

A name that cannot be a key (not UTF-8, or with a backslash) is counted and left out. A directory or
file that cannot be read is reported, so that it is not taken for deleted.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat as modes
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Mapping

import msgspec

from holdfast import system
from holdfast.files.ignore import RuleStack
from holdfast.files.ignore_files import IGNORE_FILES, top_rules, with_ignore_files
from holdfast.files.listing_cache import (
    DirectoryListing,
    Stamp,
    listings_of,
    remember,
    stamp_of,
)
from holdfast.files.mounts import is_trusted, mounted_below
from holdfast.files.names import (
    DIRECTORY,
    FILE,
    NOTHING_DECIDED,
    Decided,
    is_script_here,
    kind_of,
    reason_left_out,
)
from holdfast.files.policy import Policy
from holdfast.files.regular import FILE_BYTES_MAX
from holdfast.files.snapshot import Stat
from holdfast.files.tree_stats import (
    TIME_MAX,
    TIME_MIN,
    FolderStats,
    Taken,
    TreeStats,
    folder_of,
    storable,
)


class Walk(msgspec.Struct):
    """The files of a tree with their stat. `skipped` counts what was left out, by reason."""

    stats: Mapping[str, Stat] = msgspec.field(default_factory=TreeStats)
    unreadable: set[str] = msgspec.field(default_factory=set)
    skipped: Counter[str] = msgspec.field(default_factory=Counter)
    linked: int = 0
    """Files with several names (hard links): they can be written through a name elsewhere."""
    left_out: dict[str, str] = msgspec.field(default_factory=dict)
    """Of `skipped`, the files whose stat or content decided, and why."""
    directories: Mapping[str, DirectoryListing] = msgspec.field(default_factory=dict)
    """The directories that were entered."""
    settled: int = 0
    """Directories that had to be listed again although nothing changed: when they were listed
    before, they had just been written. The next walk need not list them."""

    @property
    def large(self) -> list[str]:
        """The files that were left out because of their size, sorted."""
        return sorted(path for path, why in self.left_out.items() if why == "large")

    @property
    def shows_nothing(self) -> bool:
        """Whether the tree looks empty, as an unmounted one does."""
        return not self.stats and not self.unreadable


class TreeMissing(Exception):
    """Raised when the root does not exist or is not a directory."""


def walk(
    root: str, policy: Policy | None = None, now_ns: Callable[[], int] = system.now_ns
) -> Walk:
    """List every file of the tree that the policy and the tree's ignore rules include."""
    policy = policy or Policy()
    try:
        top = os.lstat(root)
    except OSError as error:
        raise TreeMissing(os.strerror(error.errno or errno.EIO)) from error
    if not modes.S_ISDIR(top.st_mode):
        raise TreeMissing("it is not a directory")
    return _TreeWalk(root, policy, top.st_dev, now_ns).run()


def walk_again(
    root: str,
    policy: Policy,
    before: Walk,
    directories: Iterable[str],
    now_ns: Callable[[], int] = system.now_ns,
) -> Walk | None:
    """List some directories of a walk again; None if that is not all that has to be walked.

    That is so if a directory came or went, if ignore rules changed, or if one cannot be read.
    """
    try:
        top = os.lstat(root)
    except OSError:
        return None
    return _TreeWalk(root, policy, top.st_dev, now_ns).again(before, directories)


def tree_holds(root: str, stats: Mapping[str, Stat]) -> bool:
    """The same as `stats_hold`, of the files of a walk."""
    if not isinstance(stats, TreeStats):
        return stats_hold(root, stats.items())
    lstat = os.lstat
    try:
        for key, folder in stats.folders.items():
            directory = f"{root}/{key}" if key else root
            numbers = iter(folder.numbers)
            for name, size, mtime_ns, ctime_ns in zip(
                folder.names, numbers, numbers, numbers, strict=True
            ):
                status = lstat(f"{directory}/{name}")
                if (
                    status.st_size != size
                    or status.st_mtime_ns != mtime_ns
                    or status.st_ctime_ns != ctime_ns
                ):
                    return False
    except OSError:
        return False
    return True


def stats_hold(root: str, stats: Iterable[tuple[str, Stat]]) -> bool:
    """Whether these files are there with their sizes and times."""
    lstat = os.lstat
    try:
        for path, stat in stats:
            status = lstat(f"{root}/{path}")
            if stat != (status.st_size, status.st_mtime_ns, status.st_ctime_ns):
                return False
    except OSError:
        return False
    return True


class _TreeWalk:
    """One walk over a tree. Uses its own stack, because trees can be deeper than the call stack."""

    def __init__(self, root: str, policy: Policy, device: int, now_ns: Callable[[], int]) -> None:
        self._policy, self._device, self._now_ns = policy, device, now_ns
        self._extensions = policy.extensions()
        self._mounts = mounted_below(root)
        # With nothing mounted below, the whole tree is on the file system of its root.
        self._trusted = self._mounts is not None and not self._mounts and is_trusted(root)
        self._root, self._memory = root, listings_of(root, policy)
        self._listings: dict[str, DirectoryListing] = {}
        self._pending: list[tuple[str, str, RuleStack]] = []
        self._stats = TreeStats()
        self._taken: list[Taken] = []
        """Files of the directory that is looked at now."""
        self._walk = Walk(self._stats)

    def run(self) -> Walk:
        self._pending.append(("", self._root, top_rules(self._root, self._policy)))
        while self._pending:
            key, directory, rules = self._pending.pop()
            listing = self._memory.get(key)
            try:
                stamp = stamp_of(os.lstat(directory)) if self._trusted else None
                if listing is not None and stamp is not None and listing.is_current(rules, stamp):
                    self._stat_known(listing, key, directory)
                    self._listings[key] = listing
                    continue
            except OSError as error:
                self._not_listed(key, error)
                continue
            self._list_directory(key, directory, rules, listing, stamp)
        return self._finished()

    def again(self, before: Walk, directories: Iterable[str]) -> Walk | None:
        """What a walk found before, with these directories as they are now; see `walk_again`."""
        walk = self._walk
        walk.stats = self._stats = TreeStats(TreeStats.of(before.stats).folders)
        walk.left_out = dict(before.left_out)
        self._listings = dict(before.directories)
        skipped = before.skipped - Counter(before.left_out.values())
        for key in sorted(directories):
            listing = self._listings.get(key)
            if listing is None or before.unreadable or before.linked:
                return None
            prefix = f"{key}/" if key else ""
            for name in (*listing.files, *listing.unsure):
                walk.left_out.pop(prefix + name, None)
            skipped -= Counter(listing.skipped)
            directory = f"{self._root}/{key}" if key else self._root
            try:
                stamp = stamp_of(os.lstat(directory)) if self._trusted else None
            except OSError:
                return None
            self._list_directory(key, directory, listing.above, listing, stamp)
            now = self._listings[key]
            if walk.unreadable or now is listing:
                return None
            if now.folders != listing.folders or now.rules != listing.rules:
                return None
        walk.skipped.update(skipped)
        return self._finished()

    def _finished(self) -> Walk:
        walk = self._walk
        walk.skipped.update(walk.left_out.values())
        remember(self._root, self._policy, self._listings)
        walk.directories = self._listings
        return walk

    def _not_listed(self, key: str, error: OSError) -> None:
        if error.errno != errno.ENOENT or not key:
            self._walk.unreadable.add(key)

    def _list_directory(
        self,
        key: str,
        directory: str,
        rules: RuleStack,
        before: DirectoryListing | None,
        stamp: Stamp | None,
    ) -> None:
        """List a directory and decide on its names, by what is known of them and the rules."""
        prefix = f"{key}/" if key else ""
        listed_ns = self._now_ns()
        try:
            with os.scandir(directory) as listing:
                entries = list(listing)
        except OSError as error:
            self._not_listed(key, error)
            return
        controls = {entry.name: entry.path for entry in entries if entry.name in IGNORE_FILES}
        try:
            own = with_ignore_files(rules, controls, prefix)
        except OSError:
            self._walk.unreadable.add(key)
            return
        # A new object, because another thread may be reading the old one.
        fresh = DirectoryListing(rules, own)
        decided = NOTHING_DECIDED
        if before is not None and before.decided_by(own):
            decided = Decided(set(before.files), set(before.folders), before.others)
        # Ignore files are read every time: editing one does not change these times.
        plain = self._list(fresh, decided, entries, prefix) and not controls
        self._stats.put(key, folder_of(self._taken))
        self._taken.clear()
        fresh.remember_stamp(stamp if plain else None, listed_ns)
        if before is not None and before.stamp == fresh.stamp and fresh.is_settled:
            self._walk.settled += not before.is_settled
        self._listings[key] = fresh
        self._count(fresh)

    def _count(self, listed: DirectoryListing) -> None:
        for reason, times in listed.skipped.items():
            self._walk.skipped[reason] += times

    def _stat_known(self, listing: DirectoryListing, key: str, directory: str) -> None:
        """Stat the files of a directory whose names are known to be unchanged.

        This loop is most of a walk that finds nothing new, so it is inlined.
        """
        walk, lstat, is_regular = self._walk, os.lstat, modes.S_ISREG
        prefix = f"{key}/" if key else ""
        size_bytes_max, numbers, missing = self._policy.size_bytes_max, array("q"), set()
        add = numbers.extend
        for name in listing.files:
            try:
                status = lstat(f"{directory}/{name}")
            except OSError as error:
                missing.add(name)
                if not isinstance(error, FileNotFoundError):
                    walk.unreadable.add(prefix + name)
                continue
            size, mtime_ns, ctime_ns = status.st_size, status.st_mtime_ns, status.st_ctime_ns
            if (
                size <= size_bytes_max
                and TIME_MIN <= mtime_ns <= TIME_MAX
                and TIME_MIN <= ctime_ns <= TIME_MAX
                and is_regular(status.st_mode)
            ):
                add((size, mtime_ns, ctime_ns))
                if status.st_nlink > 1:
                    walk.linked += 1
            else:
                missing.add(name)
                self._take(name, prefix + name, status)
        for name in listing.unsure:
            try:
                status = lstat(f"{directory}/{name}")
            except FileNotFoundError:
                continue
            except OSError:
                walk.unreadable.add(prefix + name)
                continue
            place = f"{directory}/{name}"
            self._take_script(place, name, prefix + name, status, listing.rules)
        names = listing.files
        if missing:
            names = tuple(name for name in names if name not in missing)
        folder = FolderStats(names, numbers)
        if self._taken:
            there = zip(names, *(numbers[at::3] for at in range(3)), strict=True)
            folder = folder_of([*there, *self._taken])
            self._taken.clear()
        self._stats.put(key, folder)
        for name in listing.folders:
            self._pending.append((prefix + name, f"{directory}/{name}", listing.rules))
        if listing.skipped:
            self._count(listing)

    def _take_script(
        self, place: str, name: str, path: str, status: os.stat_result, rules: RuleStack
    ) -> None:
        """Take a file whose name does not say what it is, if it is a script."""
        if is_script_here(place, path, status, rules):
            self._take(name, path, status)
        else:
            self._walk.left_out[path] = "kind"

    def _list(
        self,
        listing: DirectoryListing,
        before: Decided,
        entries: list[os.DirEntry[str]],
        prefix: str,
    ) -> bool:
        """Decide on every name of a directory; False if the names alone do not decide."""
        walk, rules, plain = self._walk, listing.rules, True
        files, folders, unsure = list[str](), list[str](), list[str]()
        for entry in entries:
            name, path = entry.name, prefix + entry.name
            try:
                kind = kind_of(entry)
                why = reason_left_out(name, path, kind, before, self._extensions, rules)
                if kind == DIRECTORY and why is None and self._is_mounted(entry, path):
                    # Another file system may be gone next time, so its files are not indexed.
                    walk.unreadable.add(path)
                    why = "mount"
                if why == "kind" and "." not in name:
                    # It may be a script, which its mode and its content tell, each time anew.
                    unsure.append(name)
                    status = entry.stat(follow_symlinks=False)
                    self._take_script(entry.path, name, path, status, rules)
                    continue
                if why is not None and kind == FILE:
                    listing.others[name] = why
                if why is not None:
                    listing.skipped[why] = listing.skipped.get(why, 0) + 1
                elif kind == DIRECTORY:
                    folders.append(name)
                    self._pending.append((path, entry.path, rules))
                else:
                    files.append(name)
                    self._take(name, path, entry.stat(follow_symlinks=False))
            except FileNotFoundError:
                continue  # Deleted meanwhile.
            except OSError:
                walk.unreadable.add(path)
                plain = False
        listing.files, listing.folders = tuple(sorted(files)), tuple(sorted(folders))
        listing.unsure = tuple(sorted(unsure))
        return plain

    def _is_mounted(self, entry: os.DirEntry[str], path: str) -> bool:
        if self._mounts is not None and path not in self._mounts:
            return False
        return entry.stat(follow_symlinks=False).st_dev != self._device

    def _take(self, name: str, path: str, status: os.stat_result) -> None:
        if not modes.S_ISREG(status.st_mode):
            self._walk.left_out[path] = "special"
        elif status.st_size > self._policy.size_bytes_max:
            self._walk.left_out[path] = "large"
        else:
            self._taken.append((name, status.st_size, status.st_mtime_ns, status.st_ctime_ns))
            self._walk.linked += status.st_nlink > 1


def read_file(root: str, key: str) -> tuple[bytes, Stat]:
    """A file's bytes and the stat they belong to. Raises OSError; refuses devices, huge files, and
    links on the way from the root as much as at its end."""
    descriptor = _opened(root, key)
    try:
        before = os.fstat(descriptor)
        if not modes.S_ISREG(before.st_mode):
            raise OSError(errno.EINVAL, "not a regular file")
        source = _all_of(descriptor, before.st_size)
        after = os.fstat(descriptor)
        if (after.st_mtime_ns, after.st_size) != (before.st_mtime_ns, before.st_size):
            source = os.pread(descriptor, min(after.st_size, FILE_BYTES_MAX) + 1, 0)
            after = os.fstat(descriptor)
    finally:
        os.close(descriptor)
    if len(source) > FILE_BYTES_MAX:
        raise OSError(errno.EFBIG, f"larger than {FILE_BYTES_MAX >> 20} MiB")
    times = storable(after.st_mtime_ns), storable(after.st_ctime_ns)
    return source, Stat(len(source), *times)


def _all_of(descriptor: int, size_bytes: int) -> bytes:
    """What is in an open file, whatever its size was said to be; of a huge one the start."""
    source = os.read(descriptor, min(size_bytes, FILE_BYTES_MAX) + 1)
    if len(source) == size_bytes and not os.read(descriptor, 1):
        return source
    os.lseek(descriptor, 0, os.SEEK_SET)
    with open(descriptor, "rb", closefd=False) as file:
        return file.read(FILE_BYTES_MAX + 1)


_PLAINLY = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def _opened(root: str, key: str) -> int:
    """A descriptor of a file inside a tree. A folder may have become a link since it was listed."""
    path = f"{root.rstrip('/')}/{key}"
    try:
        descriptor = os.open(path, _PLAINLY)
    except ValueError as error:
        raise OSError(errno.EINVAL, "no file has such a name") from error
    try:
        # Where the system tells which file was opened, its name shows that no link was followed.
        if os.readlink(f"/proc/self/fd/{descriptor}") == path:
            return descriptor
    except OSError:
        pass
    os.close(descriptor)
    folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        *folders, name = key.split("/")
        for part in folders:
            inner = os.open(part, _PLAINLY | os.O_DIRECTORY, dir_fd=folder)
            os.close(folder)
            folder = inner
        return os.open(name, _PLAINLY, dir_fd=folder)
    finally:
        os.close(folder)


def digest(source: bytes) -> str:
    return hashlib.sha256(source).hexdigest()
