"""Drop the snapshots of a document that the settings do not keep; `snapshots` has the rule."""

from __future__ import annotations

from holdfast.ids import BranchName, EntityId, Seq
from holdfast.store.snapshots import DENSE, keep_old
from holdfast.store.tables import Tables


def thin(
    tables: Tables, retention: int | None, branch: BranchName, id: EntityId, added: int
) -> None:
    """Keep the newest `retention` snapshots, or spaced ones if it is None.

    `added` is how many were just taken; the older ones were thinned before.
    """
    if retention is not None:
        if retention > 0:
            surplus = tables.snapshot_seqs(branch, id)[:-retention]
            tables.drop_snapshots((branch, id, seq) for seq in surplus)
        return
    newest = tables.newest_snapshots(branch, id, DENSE + added + 1)
    if len(newest) <= DENSE:
        return
    last = newest[-1] if len(newest) == DENSE + added + 1 else (Seq(0), 0)
    leaving = newest[DENSE:] if last[0] == 0 else newest[DENSE:-1]
    for seq, size in reversed(leaving):
        patches, patch_bytes = tables.weigh_patches(branch, id, last[0], seq)
        if keep_old(patches, patch_bytes, size):
            last = (seq, size)
        else:
            tables.drop_snapshots([(branch, id, seq)])
