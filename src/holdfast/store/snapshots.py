"""When to keep a whole copy of a patched document, and for how long.

A document that is only ever patched would take longer to read with every patch. A snapshot is a
redundant copy from which reading can start; deleting any of them loses nothing.

It is tempting to keep the newest few. Then a read far back in time replays everything since the
last `set`: in a document of 100,000 patches, tens of thousands of them. Keeping all of them costs
more room than the history itself. So they are spaced: the newest two stay, and of the older ones
those that stand at least `SPACING` patches, and as many bytes of patches as the document is long,
after the one before. A read at any seq then starts at a snapshot and replays a bounded run, and
all snapshots together take about as much room as the patches do.
"""

from __future__ import annotations

from dataclasses import dataclass

from holdfast.store.settings import Settings

SPACING = 48
"""Patches between the snapshots that are kept for good."""

DENSE = 2
"""The newest snapshots that are always kept."""

_SHARE = 8
"""A snapshot waits until the patches since the last are an eighth of the document's length, so
that a long document is not written out again for every ten small edits."""


@dataclass(frozen=True, slots=True)
class Chain:
    """The patches since the newest base: the last `set`, `delete` or snapshot."""

    patches: int = 0
    patch_bytes: int = 0
    base_bytes: int = 0

    def grown(self, size: int) -> Chain:
        return Chain(self.patches + 1, self.patch_bytes + size, self.base_bytes)


def due(chain: Chain, settings: Settings) -> bool:
    """Whether the patch just applied calls for a snapshot."""
    if settings.snapshot_interval <= 0 or chain.patches < settings.snapshot_interval:
        return False
    return settings.snapshot_retention is not None or (
        chain.patch_bytes * _SHARE >= chain.base_bytes
    )


def earns_its_place(patches: int, patch_bytes: int, size: int) -> bool:
    """Whether a snapshot that is no longer among the newest stays, given what stands before it."""
    return patches >= SPACING and patch_bytes >= size
