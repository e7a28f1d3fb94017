"""Holdfast: fast local code search, reads that never resend, and versioned shared memory.

An answer carries its proof, or it is the plain safe answer.

From Python it is a store of documents with transactions, branches and history:

    import holdfast

    with holdfast.open_space("notes.sqlite") as space:
        space.put("note:plan", {"title": "Ship 1.0", "done": 0})
        space.update("note:plan", lambda plan: {**plan, "done": plan["done"] + 1})
        with space.transaction() as tx:
            tx.write("note:plan", ["title"], tx.read("note:plan", ["title"]) + "!")

open_space  a space on this machine, without a server
connect     a space on a server, live, with or without an event loop
open_store  the store below, with commits in the form of the protocol
Store, Space, Settings  the types

Everything else is used by the command `holdfast` and the MCP tools.
"""

from __future__ import annotations

TYPE_CHECKING = False  # `typing` defines it too, but is slow to import

if TYPE_CHECKING:
    from typing import Any

    from holdfast.store.local_space import Space as Space
    from holdfast.store.local_space import open_space as open_space
    from holdfast.store.settings import StoreSettings as Settings
    from holdfast.store.store import Store as Store
    from holdfast.store.store import open_store as open_store
    from holdfast.sync.io.connect import connect as connect

__version__ = "0.2.0"

_HOME_OF = {
    "Settings": ("holdfast.store.settings", "StoreSettings"),
    "Space": ("holdfast.store.local_space", "Space"),
    "Store": ("holdfast.store.store", "Store"),
    "open_space": ("holdfast.store.local_space", "open_space"),
    "open_store": ("holdfast.store.store", "open_store"),
    "connect": ("holdfast.sync.io.connect", "connect"),
}
"""Public name -> its module and name there. Imported on first use: start-up must stay fast."""

__all__ = ["Settings", "Space", "Store", "__version__", "connect", "open_space", "open_store"]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'holdfast' has no attribute {name!r}")
    from importlib import import_module

    module, attribute = _HOME_OF[name]
    return getattr(import_module(module), attribute)


def __dir__() -> list[str]:
    """The public names, and what every module has."""
    hidden = {"TYPE_CHECKING", "annotations"}
    return sorted({*__all__, *(name for name in globals() if name not in hidden)})
