"""Holdfast: a local-first context engine for coding agents.

An answer carries its proof, or it is the plain safe answer.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from holdfast.store.settings import Settings as Settings
    from holdfast.store.store import Store as Store
    from holdfast.store.store import open_store as open_store
    from holdfast.sync.io.connect import connect as connect

__version__ = "0.1.0"

_HOME_OF = {
    "Settings": "holdfast.store.settings",
    "Store": "holdfast.store.store",
    "open_store": "holdfast.store.store",
    "connect": "holdfast.sync.io.connect",
}
"""Public name -> its module. Imported when first used: commands start often and need few."""

__all__ = ["Settings", "Store", "__version__", "connect", "open_store"]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'holdfast' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOME_OF[name]), name)
