"""Holdfast: a local-first context engine for coding agents.

An answer carries its proof, or it is the plain safe answer.
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing has the same, but takes long to import

if TYPE_CHECKING:
    from typing import Any

    from holdfast.store.settings import StoreSettings as Settings
    from holdfast.store.store import Store as Store
    from holdfast.store.store import open_store as open_store
    from holdfast.sync.io.connect import connect as connect

__version__ = "0.1.0"

_HOME_OF = {
    "Settings": ("holdfast.store.settings", "StoreSettings"),
    "Store": ("holdfast.store.store", "Store"),
    "open_store": ("holdfast.store.store", "open_store"),
    "connect": ("holdfast.sync.io.connect", "connect"),
}
"""Public name -> its module and name there. Imported on first use: start-up must stay fast."""

__all__ = ["Settings", "Store", "__version__", "connect", "open_store"]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'holdfast' has no attribute {name!r}")
    from importlib import import_module

    module, attribute = _HOME_OF[name]
    return getattr(import_module(module), attribute)
