"""What can be chosen when a space is opened, and the choices of the original protocol."""

from __future__ import annotations

from dataclasses import dataclass

from holdfast.store.admit import Reach


@dataclass(frozen=True, slots=True)
class Settings:
    """How a space behaves. The defaults are ours; `original()` is the protocol's first version."""

    snapshot_interval: int = 10
    """Take a snapshot after this many patches; 0 or less takes none."""

    snapshot_retention: int | None = None
    """Keep this many snapshots per document; 0 or less keeps all; None spaces them out instead."""

    reach: Reach = Reach.LEAF
    """How far a write reaches when reads are checked."""

    rich_values: bool = False
    """Store and send values beyond JSON (big integers, undefined, bytes) in tagged form."""

    commit_bytes_max: int = 32 * 1024 * 1024
    """The longest commit that is accepted, encoded."""

    @classmethod
    def original(cls) -> Settings:
        """The newest two snapshots, and writes that reach their parents."""
        return cls(snapshot_retention=2, reach=Reach.PARENTS)
