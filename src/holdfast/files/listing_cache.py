"""A cache of directory listings, so that the next walk need not list and filter them again.

Decisions about names hold as long as the rules are the same. A directory in which nothing was
created, renamed or removed keeps its times; then its names are known, and only its files are
checked. As with files, a directory modified at about the time it was listed is listed again.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict

from holdfast.files.ignore import RuleStack
from holdfast.files.policy import Policy
from holdfast.files.snapshot import RACY_NS

ROOTS_MAX = 4
DIRECTORIES_MAX = 200_000
"""Of a tree with more directories, none is remembered."""
Stamp = tuple[int, int, int, int]


def stamp_of(status: os.stat_result) -> Stamp:
    """The identity and times of a directory; when they are equal, its names are the same."""
    return status.st_dev, status.st_ino, status.st_mtime_ns, status.st_ctime_ns


class DirectoryListing:
    """The names of a directory when it was listed, sorted by the decision about them."""

    __slots__ = (
        "above", "digests", "files", "folders", "others", "rules", "skipped", "stamp", "still_ns",
        "unsure",
    )  # fmt: skip

    def __init__(self, above: RuleStack, rules: RuleStack) -> None:
        self.above, self.rules = above, rules
        self.digests: tuple[bytes, bytes] | None = None
        """The digests of `above` and `rules`, of a listing that was stored and not used yet."""
        self.files: tuple[str, ...] = ()
        """Names of files that are indexed, sorted."""
        self.folders: tuple[str, ...] = ()
        """Names of directories that are entered, sorted."""
        self.others: dict[str, str] = {}
        """Names of other files, and why they are left out."""
        self.unsure: tuple[str, ...] = ()
        """Names of files that may be scripts: each walk looks at their mode and content."""
        self.skipped: dict[str, int] = {}
        """How many were left out, by reason."""
        self.stamp: Stamp | None = None
        self.still_ns = 0

    def remember_stamp(self, stamp: Stamp | None, listed_ns: int) -> None:
        """Remember when it was listed; no stamp if its names alone do not decide."""
        self.stamp, self.still_ns = stamp, listed_ns - RACY_NS

    @property
    def is_settled(self) -> bool:
        """Whether the directory was last written well before it was listed."""
        stamp = self.stamp
        return stamp is not None and stamp[2] < self.still_ns and stamp[3] < self.still_ns

    def is_current(self, above: RuleStack, stamp: Stamp) -> bool:
        """Whether the directory still has the same names, and the same rules apply."""
        # As in `is_settled`, without the call: there is one for every directory of a tree.
        if self.stamp != stamp or stamp[2] >= self.still_ns or stamp[3] >= self.still_ns:
            return False
        digests = self.digests
        if digests is None:
            return self.above is above or self.above == above
        digest = _digest_of(above)
        if digests[0] != digest or digests[1] != digest:
            return False
        # A directory with a stamp adds no rules to those above it.
        self.above = self.rules = above
        self.digests = None
        return True

    def decided_by(self, rules: RuleStack) -> bool:
        """Whether its names were decided by these rules."""
        digests = self.digests
        return self.rules == rules if digests is None else digests[1] == rules.digest()


_last_digest: tuple[RuleStack, bytes] | None = None


def _digest_of(rules: RuleStack) -> bytes:
    """The digest of rules. Most directories have the very rules of the one before."""
    global _last_digest
    last = _last_digest
    if last is None or last[0] is not rules:
        last = _last_digest = rules, rules.digest()
    return last[1]


_trees: OrderedDict[tuple[str, Policy], dict[str, DirectoryListing]] = OrderedDict()
_lock = threading.Lock()


def listings_of(root: str, policy: Policy) -> dict[str, DirectoryListing]:
    """The cached listings of a tree under a policy, by directory."""
    with _lock:
        return _trees.get((root, policy), {})


def restore(root: str, policy: Policy, listings: dict[str, DirectoryListing]) -> None:
    """Take over listings that were stored, unless the tree has been listed in this process."""
    with _lock:
        _trees.setdefault((root, policy), listings)


def remember(root: str, policy: Policy, listings: dict[str, DirectoryListing]) -> None:
    """Replace the cached listings of a tree by those of a walk that has just ended."""
    with _lock:
        _trees.pop((root, policy), None)
        if len(listings) <= DIRECTORIES_MAX:
            _trees[root, policy] = listings
        while len(_trees) > ROOTS_MAX:
            _trees.popitem(last=False)
