"""A session that pi writes, as our extension inside pi tells of it.

The extension knows where the conversation stands; the log knows what was said. Only when both agree
is anything proven. And what is ours to note in that log, pi writes for us: a refresh becomes a note
that the answer carries back.
"""

from __future__ import annotations

from typing import Any

from holdfast.reading import meta as metas
from holdfast.reading.events import Refreshed
from holdfast.reading.hosts.pi import PiLog
from holdfast.reading.tree import Doubt, Evidence, Tree


class AtLeaf:
    """pi's log, trusted only while it ends where pi says it stands."""

    def __init__(self, log: PiLog, leaf: str) -> None:
        self._log, self._leaf = log, leaf
        self.note: dict[str, Any] | None = None
        """What pi must write into its log for us."""

    @property
    def tree(self) -> Tree:
        return self._log.tree

    def evidence(self) -> Evidence | Doubt:
        found = self._log.evidence()
        if isinstance(found, Evidence) and found.leaf != self._leaf:
            return Doubt(f"the session file ends at {found.leaf}, and pi stands at {self._leaf}")
        return found

    def refresh(self, event: Refreshed, at_ms: int) -> None:
        self.note = metas.refresh_json(event, at_ms)
