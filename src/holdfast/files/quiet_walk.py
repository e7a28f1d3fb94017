"""The proof that a walk of a tree still holds."""

from __future__ import annotations

from typing import NamedTuple

from holdfast.files import disk
from holdfast.files.ignore import RuleStack
from holdfast.files.ignore_files import top_rules
from holdfast.files.policy import Policy
from holdfast.files.tree_watch import Reported, TreeWatch


class QuietWalk(NamedTuple):
    """A walk of a watched tree."""

    watch: TreeWatch
    turn: int
    """The number of the walk, in its watch."""
    rules: RuleStack
    """The rules above the tree when it was walked, which are not watched."""

    @classmethod
    def begin(cls, watch: TreeWatch, root: str, policy: Policy) -> QuietWalk:
        """Call it before the walk."""
        return cls(watch, watch.begin(), top_rules(root, policy))

    def covers(self, walk: disk.Walk) -> bool:
        """Whether every change of what the walk found will be reported."""
        covered = self.watch.covers(walk.directories)
        # A file with several names may be written through one that is not watched.
        return covered and not walk.linked

    def holds(self, root: str, policy: Policy) -> bool:
        """Whether nothing was reported since."""
        return top_rules(root, policy) == self.rules and self.watch.is_quiet(self.turn)

    def advanced(self, root: str, policy: Policy) -> tuple[QuietWalk, Reported] | None:
        """The names that were reported since, and the proof of a walk that looks at them from now
        on; None if the whole tree has to be walked."""
        if top_rules(root, policy) != self.rules:
            return None
        step = self.watch.advance(self.turn)
        return None if step is None else (self._replace(turn=step[0]), step[1])
