"""When to take a snapshot of a patched document, and which snapshots to keep.

Without snapshots a document would take longer to read with every patch. A snapshot is a redundant
copy from which a read can start; deleting one loses nothing.

Keeping only the newest few is not enough: a read far back then replays everything since the last
`set`, tens of thousands of patches in a document that has 100,000. Keeping all of them takes more
space than the history itself. So snapshots are spaced: the newest two stay, and an older one stays
if it is at least `SPACING` patches, and as many bytes of patches as the document is long, after the
previous one. A read at any seq then replays a bounded number of patches, and all snapshots together
take about as much space as the patches.
"""

from __future__ import annotations

from dataclasses import dataclass

from holdfast.store.settings import StoreSettings

SPACING = 48
"""Minimum number of patches between old snapshots."""

DENSE = 2
"""How many of the newest snapshots are always kept."""

_SHARE = 8
"""A snapshot is taken once the patches since the last one are 1/8 of the document's length, so that
a long document is not written again for every ten small edits."""


@dataclass(frozen=True, slots=True)
class Chain:
    """The patches since the newest base: the last `set`, `delete` or snapshot."""

    patches: int = 0
    patch_bytes: int = 0
    base_bytes: int = 0

    def grown(self, size: int) -> Chain:
        return Chain(self.patches + 1, self.patch_bytes + size, self.base_bytes)


def due(chain: Chain, settings: StoreSettings) -> bool:
    """Whether to take a snapshot after the patch just applied."""
    if settings.snapshot_interval <= 0 or chain.patches < settings.snapshot_interval:
        return False
    return settings.snapshot_retention is not None or (
        chain.patch_bytes * _SHARE >= chain.base_bytes
    )


def keep_old(patches: int, patch_bytes: int, size: int) -> bool:
    """Whether to keep an old snapshot, given the patches since the previous one."""
    return patches >= SPACING and patch_bytes >= size
