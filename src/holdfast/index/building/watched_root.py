"""The tree of a root as a sync sees it when the kernel reports its changes."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from holdfast.index.generations.model import Identity

if TYPE_CHECKING:
    from holdfast.files.policy import Policy
    from holdfast.files.watched_tree import Look, WatchedTree
    from holdfast.index.generations.freshness import FreshnessChecks


@dataclass(frozen=True, slots=True)
class WatchedRoot:
    """A watched tree, and what is known of the generation that was made of it last."""

    root: str
    tree: WatchedTree
    checks: FreshnessChecks
    reported: bool
    """Whether a report is the reason for this sync, so that only what was reported matters."""

    def look(self, policy: Policy) -> Look:
        """The files of the tree now; raises TreeMissing.

        Some changes are not reported. A sync that a caller asked for looks for them.
        """
        return self.tree.look(policy, compared_ms_max=inf if self.reported else 0)

    def touched(self, identity: Identity) -> frozenset[str] | None:
        """The files that may have changed since this generation was made; None if any may."""
        return self.checks.touched(self.root, identity)
