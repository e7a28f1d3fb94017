"""Every text a tree may hold, by name and stat alone: what sequence search asks for.

In a git repository git decides which files count (`git ls-files`, tracked or not, ignored ones left
out). Elsewhere every file counts that is not in a directory of the kind nobody writes by hand. The
code index is choosier and keeps contents apart; it looks with `holdfast.files.disk`.
"""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from holdfast.errors import UsageError

DEFAULT_EXCLUSIONS = frozenset(
    {
        ".git",
        ".hg",
        ".svn",
        ".jj",
        "node_modules",
        ".venv",
        "venv",
        "__pycache__",
        ".mypy_cache",
        ".ruff_cache",
        ".pytest_cache",
        ".hypothesis",
        ".tox",
        ".nox",
        ".eggs",
        ".gradle",
        ".idea",
        ".vscode",
        ".cache",
        "target",
        "dist",
        "build",
        ".next",
        ".nuxt",
    }
)
"""Directories that are left out where no git repository says what counts."""

SIZE_MAX = 8 * 1024 * 1024
"""Larger files are data, not source."""


@dataclass(frozen=True, slots=True)
class FileStat:
    """What a look at a file says without reading it."""

    size: int
    stamp_ns: int
    """The later of its modification and its change time: a rewrite moves it, whatever it hides."""


@dataclass(frozen=True, slots=True)
class Listing:
    """The files of a tree by path, relative to its root, with forward slashes."""

    files: Mapping[str, FileStat] = field(default_factory=dict)
    too_large: tuple[str, ...] = ()
    """Files that were left out because of their size."""


@dataclass(frozen=True, slots=True)
class ListingChanges:
    """The difference between two listings; every tuple is sorted."""

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.changed or self.removed)


def changes(before: Mapping[str, FileStat], after: Mapping[str, FileStat]) -> ListingChanges:
    """What happened between two looks.

    May call a file changed that was only touched. Never calls one unchanged whose size or stamps
    differ.
    """
    return ListingChanges(
        added=tuple(sorted(path for path in after if path not in before)),
        changed=tuple(
            sorted(path for path in after if path in before and after[path] != before[path])
        ),
        removed=tuple(sorted(path for path in before if path not in after)),
    )


def list_files(root: Path, *, size_bytes_max: int = SIZE_MAX) -> Listing:
    """Look at every file of the tree that counts. Symbolic links are not followed."""
    if not root.is_dir():
        raise UsageError(f"{root} is not a directory", "name a directory that exists")
    listed = _git_files(root)
    paths: Iterable[str] = _walked(root) if listed is None else listed
    files: dict[str, FileStat] = {}
    too_large: list[str] = []
    base = os.fspath(root)
    for path in paths:
        try:
            info = os.lstat(f"{base}/{path}")
        except OSError:
            continue  # gone since it was listed
        if not stat.S_ISREG(info.st_mode):
            continue
        if info.st_size > size_bytes_max:
            too_large.append(path)
            continue
        files[path] = FileStat(info.st_size, max(info.st_mtime_ns, info.st_ctime_ns))
    return Listing(files, tuple(sorted(too_large)))


def read(root: Path, path: str) -> bytes | None:
    """The bytes of a file, or None when it is gone or may not be read."""
    try:
        return (root / path).read_bytes()
    except OSError:
        return None


def git(root: Path, *arguments: str) -> bytes | None:
    """What a git command prints, or None when it fails or there is no git."""
    command = ["git", "-C", os.fspath(root), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, check=False)  # noqa: S603
    except OSError:
        return None
    return done.stdout if done.returncode == 0 else None


def _git_files(root: Path) -> list[str] | None:
    listed = git(
        root, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"
    )
    if listed is None:
        return None
    return [os.fsdecode(path) for path in listed.split(b"\0") if path]


def _walked(root: Path) -> Iterator[str]:
    waiting = [""]
    while waiting:
        directory = waiting.pop()
        try:
            entries = sorted(os.scandir(root / directory), key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries:
            path = f"{directory}{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in DEFAULT_EXCLUSIONS:
                    waiting.append(f"{path}/")
            else:
                yield path
