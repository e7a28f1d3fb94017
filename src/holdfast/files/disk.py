"""Listing and reading a tree on disk. Read-only; does not follow links or enter other file systems.

A name that cannot be a key (not UTF-8, or with a backslash) is counted and left out. A directory or
file that cannot be read is reported, so that it is not taken for deleted.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat as modes
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from holdfast import system
from holdfast.files.git_directory import find_git
from holdfast.files.ignore import Rules, RuleStack
from holdfast.files.listing_cache import DirectoryListing, listings_of, remember, stamp_of
from holdfast.files.mounts import is_trusted, mounted_below
from holdfast.files.policy import (
    ALWAYS_EXCLUDED,
    DEFAULT_EXCLUSIONS,
    NAMES,
    SCRIPT_FOLDERS,
    SNIFF_BYTES,
    STEMS,
    Outputs,
    Policy,
    is_script,
)
from holdfast.files.regular import FILE_BYTES_MAX, read_regular
from holdfast.files.snapshot import Entry, Stat

IGNORE_FILES = (".gitignore", ".holdfastignore")


RULES_BYTES_MAX = 512 * 1024
"""Of a longer file of rules, what follows is not used."""

_DEFAULTS = Rules(DEFAULT_EXCLUSIONS)
_NO_LISTING = DirectoryListing(RuleStack(), RuleStack())
_OUTPUTS = {ruled: Outputs(ruled) for ruled in (False, True)}


@dataclass(slots=True)
class Walk:
    """The files of a tree with their stat. `skipped` counts what was left out, by reason."""

    stats: dict[str, Stat] = field(default_factory=dict)
    unreadable: set[str] = field(default_factory=set)
    skipped: Counter[str] = field(default_factory=Counter)
    linked: int = 0
    """Files with several names (hard links): they can be written through a name elsewhere."""
    directories: Collection[str] = ()
    """The directories that were entered."""

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


def times_hold(root: str, entries: Iterable[tuple[str, Entry]]) -> bool:
    """Whether these files are there with their sizes and times."""
    lstat = os.lstat
    try:
        for path, entry in entries:
            seen = lstat(f"{root}/{path}")
            if entry.stat != (seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns):
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
        self._seen: dict[str, DirectoryListing] = {}
        self._pending: list[tuple[str, str, RuleStack]] = [("", root, top_rules(root, policy))]
        self._walk = Walk()

    def run(self) -> Walk:
        found = self._walk
        while self._pending:
            key, directory, rules = self._pending.pop()
            prefix = f"{key}/" if key else ""
            known = self._memory.get(key)
            try:
                stamp = stamp_of(os.lstat(directory)) if self._trusted else None
                if known is not None and stamp is not None and known.is_current(rules, stamp):
                    self._stat_known(known, prefix, directory)
                    self._seen[key] = known
                    continue
                listed_ns = self._now_ns()
                with os.scandir(directory) as listing:
                    entries = list(listing)
            except OSError as error:
                if error.errno != errno.ENOENT or not key:
                    found.unreadable.add(key)
                continue
            controls = {entry.name: entry.path for entry in entries if entry.name in IGNORE_FILES}
            try:
                own = _with_ignore_files(rules, controls, prefix)
            except OSError:
                found.unreadable.add(key)
                continue
            # A new object, because another thread may be reading the old one.
            fresh = DirectoryListing(rules, own)
            known_names = known if known is not None and known.decided_by(own) else _NO_LISTING
            # Ignore files are read every time: editing one does not change these times.
            plain = self._list(fresh, known_names, entries, prefix) and not controls
            fresh.remember_stamp(stamp if plain else None, listed_ns)
            self._seen[key] = fresh
            self._count(fresh)
        remember(self._root, self._policy, self._seen)
        found.directories = self._seen.keys()
        return found

    def _count(self, listed: DirectoryListing) -> None:
        for reason, times in listed.skipped.items():
            self._walk.skipped[reason] += times

    def _stat_known(self, listing: DirectoryListing, prefix: str, directory: str) -> None:
        """Stat the files of a directory whose names are known to be unchanged.

        This loop is most of a walk that finds nothing new, so it is inlined.
        """
        found, lstat, is_regular = self._walk, os.lstat, modes.S_ISREG
        stats, size_bytes_max, make = found.stats, self._policy.size_bytes_max, tuple.__new__
        for name in listing.files:
            try:
                seen = lstat(f"{directory}/{name}")
            except FileNotFoundError:
                continue
            except OSError:
                found.unreadable.add(prefix + name)
                continue
            size = seen.st_size
            if size <= size_bytes_max and is_regular(seen.st_mode):
                stats[prefix + name] = make(Stat, (size, seen.st_mtime_ns, seen.st_ctime_ns))
                if seen.st_nlink > 1:
                    found.linked += 1
            else:
                self._take(prefix + name, seen)
        for name in listing.unsure:
            try:
                seen = lstat(f"{directory}/{name}")
            except FileNotFoundError:
                continue
            except OSError:
                found.unreadable.add(prefix + name)
                continue
            self._take_script(f"{directory}/{name}", prefix + name, seen, listing.rules)
        for name in listing.folders:
            self._pending.append((prefix + name, f"{directory}/{name}", listing.rules))
        if listing.skipped:
            self._count(listing)

    def _take_script(self, place: str, path: str, seen: os.stat_result, rules: RuleStack) -> None:
        """Take a file whose name does not say what it is, if it is a script."""
        if _is_script(place, path, seen, rules):
            self._take(path, seen)
        else:
            self._walk.skipped["kind"] += 1

    def _list(
        self,
        listing: DirectoryListing,
        before: DirectoryListing,
        entries: list[os.DirEntry[str]],
        prefix: str,
    ) -> bool:
        """Decide on every name of a directory; False if the names alone do not decide."""
        found, rules, plain = self._walk, listing.rules, True
        for entry in entries:
            name, path = entry.name, prefix + entry.name
            try:
                kind = _kind_of(entry)
                why = reason_left_out(name, path, kind, before, self._extensions, rules)
                if kind == DIRECTORY and why is None and self._is_mounted(entry, path):
                    # Another file system may be gone next time, so its files are not indexed.
                    found.unreadable.add(path)
                    why = "mount"
                if why == "kind" and "." not in name:
                    # It may be a script, which its mode and its content tell, each time anew.
                    listing.unsure.add(name)
                    seen = entry.stat(follow_symlinks=False)
                    self._take_script(entry.path, path, seen, rules)
                    continue
                if why is not None and kind == FILE:
                    listing.others[name] = why
                if why is not None:
                    listing.skipped[why] = listing.skipped.get(why, 0) + 1
                elif kind == DIRECTORY:
                    listing.folders.add(name)
                    self._pending.append((path, entry.path, rules))
                else:
                    listing.files.add(name)
                    self._take(path, entry.stat(follow_symlinks=False))
            except FileNotFoundError:
                continue  # Deleted meanwhile.
            except OSError:
                found.unreadable.add(path)
                plain = False
        return plain

    def _is_mounted(self, entry: os.DirEntry[str], path: str) -> bool:
        if self._mounts is not None and path not in self._mounts:
            return False
        return entry.stat(follow_symlinks=False).st_dev != self._device

    def _take(self, path: str, seen: os.stat_result) -> None:
        if not modes.S_ISREG(seen.st_mode):
            self._walk.skipped["special"] += 1
        elif seen.st_size > self._policy.size_bytes_max:
            self._walk.skipped["large"] += 1
        else:
            self._walk.stats[path] = Stat(seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns)
            self._walk.linked += seen.st_nlink > 1


FILE, DIRECTORY, LINK = "file", "directory", "symlink"


def _kind_of(entry: os.DirEntry[str]) -> str:
    if entry.is_symlink():
        return LINK
    return DIRECTORY if entry.is_dir(follow_symlinks=False) else FILE


def reason_left_out(
    name: str,
    path: str,
    kind: str,
    listing: DirectoryListing,
    extensions: frozenset[str],
    rules: RuleStack,
) -> str | None:
    """Why a name in a directory is left out; None when it is kept.

    `listing` has earlier decisions under the same rules. "kind" of a name without an extension
    means that its content has to decide.
    """
    if kind == FILE and name in listing.others:
        return listing.others[name]
    if not name.isascii() and not _utf8(name):
        return "unnameable"
    if kind == LINK:
        return "symlink"
    if kind == FILE:
        return None if name in listing.files else _left_out(name, path, extensions, rules)
    if name not in listing.folders and (
        name in ALWAYS_EXCLUDED or rules.excludes(path, name, True)
    ):
        return "ignored"
    return "unnameable" if "\\" in name else None


def _left_out(name: str, path: str, extensions: frozenset[str], rules: RuleStack) -> str | None:
    """Why a file is left out by its name alone; None when it is not."""
    dot = name.rfind(".")
    if dot <= 0 or (name[dot:] not in extensions and name[dot:].lower() not in extensions):
        lowered = name.lower()
        if lowered not in NAMES and lowered.split(".", 1)[0] not in STEMS:
            return "kind"
    if "\\" in name:
        return "unnameable"
    if rules.is_secret(path, name):
        return "secret"
    return "ignored" if rules.excludes(path, name, False) else None


def _is_script(place: str, path: str, seen: os.stat_result, rules: RuleStack) -> bool:
    """Whether a file without an extension is a script. It is read only if it is executable or in a
    folder of scripts."""
    above, _, name = path.rpartition("/")
    if not seen.st_mode & 0o111 and above.rpartition("/")[2] not in SCRIPT_FOLDERS:
        return False
    if not modes.S_ISREG(seen.st_mode) or "\\" in name or rules.is_secret(path, name):
        return False
    return not rules.excludes(path, name, False) and is_script(_head(place))


def _head(path: str) -> bytes:
    """The first bytes of a file; empty when it cannot be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.read(descriptor, SNIFF_BYTES)
    except OSError:
        return b""
    finally:
        os.close(descriptor)


def _utf8(name: str) -> bool:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _with_ignore_files(rules: RuleStack, present: dict[str, str], prefix: str) -> RuleStack:
    for name in IGNORE_FILES:
        if name in present:
            rules = rules.with_rules(_rules(present[name]), drop=len(prefix))
    return rules


def _rules(path: str) -> Rules:
    """The rules of an ignore file; the same object for the same lines."""
    data = read_regular(path, RULES_BYTES_MAX)  # git does not follow a linked .gitignore either.
    if data is None:
        return _of_lines(())
    if len(data) == RULES_BYTES_MAX:
        data = data[: data.rfind(b"\n") + 1]  # the last rule may be cut off
    text = data.decode("utf-8", "surrogateescape")
    return _of_lines(tuple(text.removeprefix("\ufeff").split("\n")))


@lru_cache(maxsize=512)
def _of_lines(lines: tuple[str, ...]) -> Rules:
    return Rules(lines)


def top_rules(root: str, policy: Policy) -> RuleStack:
    """The rules that hold before the tree's own: defaults, the caller's, and those of git above."""
    found = find_git(Path(root))
    top, git = (None, None) if found is None else (str(found.top), found.common)
    ruled = any(os.path.isfile(os.path.join(place, ".gitignore")) for place in (root, top or root))
    user = _of_lines(policy.ignore_patterns)
    rules = RuleStack(user=user).with_rules(_OUTPUTS[ruled]).with_rules(_DEFAULTS)
    if git is not None:
        assert top is not None
        root = os.path.realpath(root)
        inside = os.path.relpath(root, top)
        prefix = "" if inside == "." else f"{inside}/"
        exclude = git / "info" / "exclude"
        if exclude.is_file():
            rules = rules.with_rules(_rules(str(exclude)), prefix=prefix)
        above = Path(top)
        for part in () if inside == "." else (".", *Path(inside).parts[:-1]):
            above = above / part
            down = os.path.relpath(root, above)
            for name in IGNORE_FILES:
                if (above / name).is_file():
                    rules = rules.with_rules(_rules(str(above / name)), prefix=f"{down}/")
    return rules.with_rules(user)


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
    return source, Stat(len(source), after.st_mtime_ns, after.st_ctime_ns)


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
