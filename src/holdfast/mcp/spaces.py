"""Open spaces, lent out: of those that nobody holds, only the latest stay open.

Opening a space costs a few milliseconds and two connections, and a host lives for days, so spaces
are kept open, but not all of them for ever. A space is closed only when nobody has borrowed it:
never in the middle of a call, and never under a session log that is still written to.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdfast.store.store import Store

SPACES_MAX = 32


@dataclass(slots=True)
class _Held:
    """An open space, and how many have borrowed it."""

    store: Store
    borrowers: int = 0


class Spaces:
    """Spaces by name. `open_space(name, make)` opens one; without `make` only one that is there."""

    def __init__(self, open_space: Callable[[str, bool], Store], most: int = SPACES_MAX) -> None:
        self._open_space, self._most = open_space, most
        self._turn = threading.Lock()
        self._held: OrderedDict[str, _Held] = OrderedDict()

    @contextmanager
    def lend(self, name: str, *, make: bool = False) -> Iterator[Store]:
        """A space for the time of one use."""
        store = self._take(name, make)
        try:
            yield store
        finally:
            with self._turn:
                held = self._held.get(name)
                if held is not None:
                    held.borrowers -= 1
                self._close_idle()

    def keep(self, name: str) -> Store:
        """A space that stays open, for whoever holds on to it."""
        return self._take(name, make=True)

    def _take(self, name: str, make: bool) -> Store:
        with self._turn:
            held = self._held.get(name)
            if held is None:
                held = self._held[name] = _Held(self._open_space(name, make))
            self._held.move_to_end(name)
            held.borrowers += 1
            self._close_idle()
            return held.store

    def _close_idle(self) -> None:
        idle = [name for name, held in self._held.items() if not held.borrowers]
        for name in idle[: max(0, len(self._held) - self._most)]:
            self._held.pop(name).store.close()

    def close(self) -> None:
        """Close all of them, lent or not."""
        with self._turn:
            while self._held:
                self._held.popitem()[1].store.close()
