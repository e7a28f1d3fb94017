"""The settings of a space, and those of the protocol's first version."""

from __future__ import annotations

from dataclasses import dataclass

from holdfast.store.admit import Reach


@dataclass(frozen=True, slots=True)
class StoreSettings:
    """How a space behaves. The defaults are ours; `original()` is the protocol's first version."""

    snapshot_interval: int = 10
    """Take a snapshot after this many patches; 0 or less for never."""

    snapshot_retention: int | None = None
    """Keep this many snapshots per document; 0 or less for all; None spaces them out."""

    reach: Reach = Reach.LEAF
    """Which paths a write touches when reads are checked."""

    rich_values: bool = False
    """Store and send values beyond JSON (big integers, undefined, bytes) in tagged form."""

    commit_bytes_max: int = 32 * 1024 * 1024
    """The longest accepted commit, encoded."""

    @classmethod
    def original(cls) -> StoreSettings:
        """The first version: two snapshots per document, writes touch their containers."""
        return cls(snapshot_retention=2, reach=Reach.PARENTS)
