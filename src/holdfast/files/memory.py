"""What was seen of a tree's directories, so that the next look need not judge and list them again.

What rules say of a name holds for as long as the rules are the same. And a directory in which
nothing was made, renamed or removed has the times it had; then its names are known, and only its
files are looked at. As with files, a directory touched about when it was listed is listed again.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict

from holdfast.files.ignore import RuleStack
from holdfast.files.policy import Policy
from holdfast.files.snapshot import RACY_NS

ROOTS_MAX = 4
DIRECTORIES_MAX = 50_000
TRUSTED_KINDS = frozenset({"ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "zfs", "tmpfs"})
"""File systems that give a directory a new time with every name that comes or goes. Others may as
well; there every directory is listed at every look."""

Stamp = tuple[int, int, int, int]


def stamp_of(seen: os.stat_result) -> Stamp:
    """What tells a directory that may have changed: which one it is, and its times."""
    return seen.st_dev, seen.st_ino, seen.st_mtime_ns, seen.st_ctime_ns


class Listed:
    """A directory as it was listed, under the rules of then."""

    __slots__ = ("above", "files", "folders", "others", "rules", "skipped", "stamp", "still_ns")

    def __init__(self, above: RuleStack, rules: RuleStack) -> None:
        self.above, self.rules = above, rules
        self.files: set[str] = set()
        """Names of files that are left in."""
        self.folders: set[str] = set()
        """Names of directories that are entered."""
        self.others: dict[str, str] = {}
        """Names of other files, and why they are left out."""
        self.skipped: dict[str, int] = {}
        """How many were left out, by reason."""
        self.stamp: Stamp | None = None
        self.still_ns = 0

    def settled(self, stamp: Stamp | None, listed_ns: int) -> None:
        """Take note when it was listed; None when its names alone do not say what is in it."""
        self.stamp, self.still_ns = stamp, listed_ns - RACY_NS

    def holds(self, above: RuleStack, stamp: Stamp) -> bool:
        """Whether the directory has the same names as then, and the same rules."""
        return (
            self.stamp == stamp
            and stamp[2] < self.still_ns
            and stamp[3] < self.still_ns
            and (self.above is above or self.above == above)
        )


_trees: OrderedDict[tuple[str, Policy], dict[str, Listed]] = OrderedDict()
_lock = threading.Lock()


def memory_of(root: str, policy: Policy) -> dict[str, Listed]:
    """What was seen of a tree under a policy, by directory."""
    with _lock:
        memory = _trees.pop((root, policy), None)
        # A directory that is no more stays in it; so it begins anew now and then.
        if memory is None or len(memory) > DIRECTORIES_MAX:
            memory = {}
        _trees[root, policy] = memory
        while len(_trees) > ROOTS_MAX:
            _trees.popitem(last=False)
        return memory
