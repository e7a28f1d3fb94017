"""Looking at a directory tree: the I/O behind `snapshot`.

In a git repository git decides which files count (`git ls-files`, tracked or not, ignored ones left
out). Elsewhere every file counts that is not in a directory of the kind nobody writes by hand.
"""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

from holdfast.errors import UsageError
from holdfast.files.snapshot import FileStat, Snapshot

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


def snapshot(root: Path, *, size_bytes_max: int = SIZE_MAX) -> Snapshot:
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
    return Snapshot(files, tuple(sorted(too_large)))


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
