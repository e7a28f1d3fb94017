"""Listings of trees that are reused while the kernel proves that they still hold.

Walking a tree is most of the cost of a question whose answer is kept. A process that stays watches
the trees it has listed (`tree_watch.py`): if nothing was reported since a listing was taken, it is
still right. In doubt the tree is walked again.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from holdfast import system
from holdfast.files.listing import TreeListing, list_tree
from holdfast.files.policy import Policy
from holdfast.files.quiet_walk import QuietWalk
from holdfast.files.tree_watch import CannotWatch, TreeWatch

REUSED_MS_MAX = 10_000
"""Not longer: a program that has a file mapped into memory may write it without a report."""
TREES_MAX = 4


@dataclass(slots=True)
class _Listed:
    watch: TreeWatch
    lock: threading.Lock
    """Listings of one tree are taken one at a time: a watch knows only its last turn."""
    taken: float = 0.0
    policy: Policy | None = None
    walk: QuietWalk | None = None
    listing: TreeListing | None = None


class ListedTrees:
    """The last listing of a few trees, each with its watch."""

    def __init__(
        self,
        now_ns: Callable[[], int] = system.now_ns,
        clock: Callable[[], float] = system.monotonic,
    ) -> None:
        self._now_ns, self._clock = now_ns, clock
        self._lock = threading.Lock()
        self._trees: OrderedDict[str, _Listed] = OrderedDict()

    def list(self, root: Path, policy: Policy | None = None) -> TreeListing:
        """The files of a tree now; raises UsageError if it is not a directory."""
        tree = self._tree(os.fspath(root))
        if tree is None:
            return list_tree(root, self._now_ns, policy)
        with tree.lock:
            if tree.listing is not None and self._still_holds(tree, root, policy):
                return tree.listing
            return self._walk(tree, root, policy)

    def _tree(self, root: str) -> _Listed | None:
        """What is known of a tree; None where the system offers no watches."""
        with self._lock:
            tree = self._trees.get(root)
            if tree is None:
                try:
                    watch = TreeWatch(root)
                except CannotWatch:
                    return None
                tree = self._trees[root] = _Listed(watch, threading.Lock())
                while len(self._trees) > TREES_MAX:
                    self._trees.popitem(last=False)[1].watch.close()
            self._trees.move_to_end(root)
            return tree

    def _still_holds(self, tree: _Listed, root: Path, policy: Policy | None) -> bool:
        age_ms = (self._clock() - tree.taken) * 1000
        return (
            0 <= age_ms < REUSED_MS_MAX
            and tree.policy == policy
            and tree.walk is not None
            and tree.walk.holds(os.fspath(root), policy or Policy())
        )

    def _walk(self, tree: _Listed, root: Path, policy: Policy | None) -> TreeListing:
        tree.listing, tree.taken, tree.policy = None, self._clock(), policy
        tree.walk = QuietWalk.begin(tree.watch, os.fspath(root), policy or Policy())
        listing = list_tree(root, self._now_ns, policy)
        if tree.walk.covers(listing.walk) and not listing.walk.unreadable:
            tree.listing = listing
        return listing

    def close(self) -> None:
        """End the watches; later listings are walked."""
        with self._lock:
            for tree in self._trees.values():
                tree.watch.close()
            self._trees.clear()
