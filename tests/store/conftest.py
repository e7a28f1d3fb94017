"""The fixtures of the harness, for every test here."""

from tests.in_memory import tmp_path_factory
from tests.store.harness import engines, store

__all__ = ["engines", "store", "tmp_path_factory"]
