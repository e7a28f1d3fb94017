"""The fixtures of the harness, for every test here."""

from tests.store.harness import engines, store

__all__ = ["engines", "store"]
