"""The two kinds of path: canonical roots and keys.

A *canonical root* is the one spelling of a tree's path on this machine: `/repo`, `/repo/`,
`/repo/.` and a symlink to it are the same root. A *key* is the path of a file relative to its tree,
with forward slashes and without `..`. The two must not be mixed.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from holdfast import system
from holdfast.errors import UsageError


def nameable(path: str) -> bool:
    """Whether a text can be the path of a tree: UTF-8 without NUL, as answers and backends need."""
    try:
        return b"\0" not in path.encode()
    except UnicodeEncodeError:
        return False


def _check(path: str) -> None:
    if not nameable(path):
        raise UsageError(
            f"{path!r} cannot be indexed: the name is not UTF-8, or has a NUL",
            hint="give the directory another name",
        )


def canonical_root(path: str, expand: Callable[[str], str] = system.expand_user) -> str:
    """The one spelling of a root: real path if it resolves, else lexical; no trailing slash.

    Raises UsageError for a path that cannot be a root.
    """
    _check(path)
    absolute = os.path.abspath(expand(path))
    try:
        resolved = os.path.realpath(absolute, strict=True)
    except OSError:
        # A tree that is gone (deleted, unmounted) keeps its path, so that it can still be found.
        # The existing part of the path is resolved, with its symlinks.
        resolved = os.path.realpath(absolute)
    _check(resolved)
    stripped = resolved.rstrip(os.sep)
    return stripped or os.sep


def relative_key(path: str) -> str:
    """The key of a file in its tree; "" if the path is empty or leads out of the tree."""
    text = path.strip().replace("\\", "/")
    if text.startswith("/"):
        return ""
    parts = [part for part in text.split("/") if part not in ("", ".")]
    return "" if ".." in parts else "/".join(parts)


def within(root: str, path: str) -> bool:
    """Whether a canonical path is the root or lies under it, by whole segments."""
    return path == root or path.startswith(root.rstrip(os.sep) + os.sep)
