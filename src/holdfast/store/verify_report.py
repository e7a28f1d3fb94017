"""The result of verifying a space."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class InvariantFinding:
    """A violated invariant, and where."""

    invariant: str
    sentence: str

    def __str__(self) -> str:
        return f"{self.invariant}: {self.sentence}"


@dataclass(slots=True)
class VerifyReport:
    """What was checked, and what was found."""

    commits: int = 0
    revisions: int = 0
    documents: int = 0
    branches: int = 0
    snapshots: int = 0
    blobs: int = 0
    legacy_reads: int = 0
    reordered: int = 0
    """Commits that landed after a later one of their session, because they were sent again."""

    signed: int = 0
    """Commits with a signature."""

    chain: str = ""
    """The hash of the newest commit, which covers the whole history; empty if it is broken."""

    oldest_seq: int = 0
    """The oldest seq that can be read; what was before was removed by retention."""

    findings: list[InvariantFinding] = field(default_factory=list)

    @property
    def sound(self) -> bool:
        return not self.findings

    def to_wire(self) -> dict[str, Any]:
        counts = ("commits", "revisions", "documents", "branches", "snapshots", "blobs")
        return {
            "sound": self.sound,
            **{name: getattr(self, name) for name in counts},
            "legacyReads": self.legacy_reads,
            "reordered": self.reordered,
            "signed": self.signed,
            "chain": self.chain,
            "oldestSeq": self.oldest_seq,
            "findings": [{"invariant": f.invariant, "sentence": f.sentence} for f in self.findings],
        }
