"""A space as it is shown."""

from __future__ import annotations

from holdfast.observed import Values
from holdfast.store.store import Store


def space_values(name: str, store: Store) -> Values:
    """How far a space has come, and its branches."""
    return {
        "name": name,
        "seq": int(store.newest_seq()),
        "branches": [branch.to_wire() for branch in store.branches()],
    }
