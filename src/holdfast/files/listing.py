"""The files of a tree that a person named, listed at a known time."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from holdfast.errors import UsageError
from holdfast.files import disk
from holdfast.files.policy import Policy


class TreeListing(NamedTuple):
    """The walk of a tree, and when it began."""

    walk: disk.Walk
    taken_ns: int


def list_tree(root: Path, now_ns: Callable[[], int], policy: Policy | None = None) -> TreeListing:
    """List the files of a tree; raises UsageError if it is not a directory."""
    taken_ns = now_ns()
    try:
        return TreeListing(disk.walk(os.fspath(root), policy), taken_ns)
    except disk.TreeMissing as error:
        problem = "is not a directory" if root.exists() else "does not exist"
        raise UsageError(f"{root} {problem}", "use an existing directory") from error
