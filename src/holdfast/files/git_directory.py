"""Where git keeps the repository of a directory, believed only if it is that directory's own.

What a tree says about its repository may be written by an attacker, and three things
would make the commits and rules of another place count as the tree's own:

    a `.git` of another user in a directory above, such as /tmp
    a `.git` file, or a `commondir`, that names the repository of another project
    a link in place of `.git`, `objects` or `refs` that leads there

So an entry counts only if it belongs to this user, to root or to the owner of the directory that
was asked about; and a git directory outside the work tree counts only if it names that work tree:
git writes such a name for linked work trees and for submodules. Otherwise the tree is used without
git: names, comparisons and ignore rules of git are missing, and nothing else.
"""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from holdfast.files.regular import read_regular
from holdfast.files.remotes import work_tree_setting

GIT_FILE_BYTES_MAX = 64 * 1024
"""A `.git` file, a HEAD or a list of excluded names that is longer than this is not used."""


class GitDirectory(msgspec.Struct, frozen=True):
    """The git directory of a work tree."""

    top: Path
    """The work tree."""
    own: Path
    """What belongs to this work tree alone: HEAD and the index."""
    common: Path
    """What linked work trees share: objects, refs and settings. The same as `own` in most."""


def find_git(directory: Path) -> GitDirectory | None:
    """The repository around a directory, whose real path decides."""
    start = real(directory)
    top = next((top for top in (start, *start.parents) if (top / ".git").exists()), None)
    if top is None or not _is_trusted(top / ".git", start):
        return None
    own = git_at(top)
    return None if own is None else _whole(top, own)


def git_at(top: Path) -> Path | None:
    """Where `.git` leads: itself, or what a linked work tree or a submodule names in it."""
    entry = top / ".git"
    if entry.is_dir():
        own = real(entry)
    else:
        text = small_file(entry)
        if text is None or not text.startswith(b"gitdir:"):
            return None
        own = real(top / os.fsdecode(text.removeprefix(b"gitdir:").strip()))
    return own if own.is_dir() and _belongs(own, real(top)) else None


def common_of(own: Path) -> Path | None:
    """The git directory that linked work trees share; None if one names a foreign one."""
    location = small_file(own / "commondir")
    if location is None:
        return own
    common = real(own / os.fsdecode(location.strip()))
    return common if own.parent == common / "worktrees" else None


def _whole(top: Path, own: Path) -> GitDirectory | None:
    common = common_of(own)
    if common is None or not has_own_objects(common):
        return None
    return GitDirectory(top, own, common)


def has_own_objects(common: Path) -> bool:
    """Whether objects and refs are here, and not links to those of another repository."""
    alternates = common / "objects" / "info" / "alternates"
    if os.path.lexists(alternates) and small_file(alternates) is None:
        return False  # git would wait for a pipe
    return all(real(common / name) == common / name for name in ("objects", "refs"))


def _is_trusted(entry: Path, start: Path) -> bool:
    try:
        return entry.lstat().st_uid in (os.getuid(), 0, start.stat().st_uid)
    except OSError:
        return False


def _belongs(own: Path, top: Path) -> bool:
    """Whether a git directory is inside the work tree, or names it as its own."""
    if own.is_relative_to(top):
        return True
    linked = small_file(own / "gitdir")
    if linked is not None and real(own / os.fsdecode(linked.strip())) == top / ".git":
        return True
    settings = small_file(own / "config")
    work_tree = work_tree_setting((settings or b"").decode("utf-8", "surrogateescape"))
    return work_tree is not None and real(own / work_tree) == top


def real(path: Path) -> Path:
    """The real path; of a circle of links, as far as it leads. `Path.resolve` raises there."""
    return Path(os.path.realpath(path))


def small_file(path: Path, *, cut: bool = False) -> bytes | None:
    """A short file of git's, or the start of one; None for anything else. Never waits."""
    try:
        data = read_regular(path, GIT_FILE_BYTES_MAX + 1, follow_links=True)
    except (OSError, ValueError):
        return None
    return data if cut or data is None or len(data) <= GIT_FILE_BYTES_MAX else None
