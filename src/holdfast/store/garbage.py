"""Rebuild what is derived and drop what is unused, inside a transaction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from holdfast.store import derive
from holdfast.store.settings import StoreSettings
from holdfast.store.tables import Tables


@dataclass(frozen=True, slots=True)
class Garbage:
    """The result of a garbage collection."""

    snapshots_before: int
    snapshots_after: int
    blobs_dropped: int

    def to_wire(self) -> dict[str, int]:
        return {
            "snapshotsBefore": self.snapshots_before,
            "snapshotsAfter": self.snapshots_after,
            "blobsDropped": self.blobs_dropped,
        }


def collect(
    tables: Tables,
    settings: StoreSettings,
    encode: Callable[[Any], str],
    decode: Callable[[str], Any],
    now: str,
    blob_grace_seconds: float | None,
    *,
    damaged: bool = False,
) -> Garbage:
    """Rebuild heads and snapshots; drop blobs without a name that were put before the grace period.

    With `damaged`, heads and snapshots are not read. Without a grace period all blobs stay.
    """
    before = 0 if damaged else tables.snapshot_count()
    _, snapshots = derive.rebuild(tables, settings, encode, decode, damaged)
    unused: list[str] = []
    if blob_grace_seconds is not None:
        tables.date_blobs(now)
        old = tables.blobs_put_until(derive.earlier(now, blob_grace_seconds))
        unused = derive.unused_blobs(tables, old, encode, decode)
        tables.drop_blobs(unused)
    return Garbage(before, snapshots, len(unused))
