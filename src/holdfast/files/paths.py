"""Two kinds of path that must not be mixed: a root's identity and a file's key.

A *canonical root* names one tree on this machine whatever way it was spelled: `/repo`, `/repo/`,
`/repo/.` and a symlink to it are one root. A *relative key* names one file inside a tree, with
forward slashes and without any step out of it. Neither function may be used for the other's job.
"""

from __future__ import annotations

import os

from holdfast.errors import UsageError


def nameable(path: str) -> bool:
    """Whether a text can name a tree: without NUL, and UTF-8, for answers and backends are text."""
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


def canonical_root(path: str) -> str:
    """The one spelling of a root: real path if it resolves, else lexical; no trailing slash.

    Raises UsageError for what can be no root.
    """
    _check(path)
    absolute = os.path.abspath(os.path.expanduser(path))
    try:
        resolved = os.path.realpath(absolute, strict=True)
    except OSError:
        # A tree that is gone (deleted, unmounted) keeps its name, so it can still be compared.
        # As much of the path as still exists is resolved, so that a symlink on the way counts.
        resolved = os.path.realpath(absolute)
    _check(resolved)
    stripped = resolved.rstrip(os.sep)
    return stripped or os.sep


def relative_key(path: str) -> str:
    """A file's key inside its tree, or "" for what is no key: a step out, or nothing."""
    text = path.strip().replace("\\", "/")
    if text.startswith("/"):
        return ""
    parts = [part for part in text.split("/") if part not in ("", ".")]
    return "" if ".." in parts else "/".join(parts)


def within(root: str, path: str) -> bool:
    """Whether a canonical path is the root or lies under it, by whole segments."""
    return path == root or path.startswith(root.rstrip(os.sep) + os.sep)
