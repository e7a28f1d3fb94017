"""A space as the dashboard shows it."""

from __future__ import annotations

from holdfast.observed import Values
from holdfast.store.store import Store


def space_values(name: str, store: Store) -> Values:
    """The newest seq of a space and its branches."""
    return {
        "name": name,
        "seq": int(store.newest_seq()),
        "branches": [branch.to_wire() for branch in store.branches()],
    }
