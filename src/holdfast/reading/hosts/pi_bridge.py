"""pi's session, read through our extension inside pi.

The extension knows which entry the conversation is at; the log has its content. The session proves
something only when both agree. pi writes its log itself, so a refresh becomes an entry that we
return to the extension, which appends it.
"""

from __future__ import annotations

from typing import Any

from holdfast.reading import meta as metas
from holdfast.reading.events import Refreshed
from holdfast.reading.hosts.pi import PiLog
from holdfast.reading.result import Answer
from holdfast.reading.tree import Doubt, Evidence, Tree


class PiBridge:
    """pi's log, trusted only while it ends at the leaf that the extension named."""

    counts_when_recorded = False

    def __init__(self, log: PiLog, leaf: str) -> None:
        self._log, self._leaf = log, leaf
        self.entry: dict[str, Any] | None = None
        """What the extension must append to pi's log for us."""

    @property
    def path(self) -> str:
        return self._log.path

    @property
    def tree(self) -> Tree:
        return self._log.tree

    def evidence(self) -> Evidence | Doubt:
        evidence = self._log.evidence()
        if isinstance(evidence, Evidence) and evidence.leaf != self._leaf:
            return Doubt(f"the session file ends at {evidence.leaf}, but pi is at {self._leaf}")
        return evidence

    def refresh(self, event: Refreshed, at_ms: int) -> None:
        self.entry = metas.refresh_json(event, at_ms)

    def record(self, answer: Answer, call: str | None = None) -> None:
        """Nothing to do: the extension stores the metadata with the result in pi's log."""
