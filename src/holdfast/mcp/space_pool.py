"""A pool of open spaces. Unused spaces are closed, least recently used first.

Opening a space takes a few milliseconds and two connections, so a host keeps spaces open, up to a
limit. A space in use is never closed: not during a call, and not while a session log writes to it.
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
class _OpenSpace:
    """An open space and its number of users."""

    store: Store
    users: int = 0


class SpacePool:
    """Open spaces by name. `open_space(name, make)` opens one, and creates it if `make` is set."""

    def __init__(self, open_space: Callable[[str, bool], Store], most: int = SPACES_MAX) -> None:
        self._open_space, self._most = open_space, most
        self._turn = threading.Lock()
        self._spaces: OrderedDict[str, _OpenSpace] = OrderedDict()

    @contextmanager
    def borrow(self, name: str, *, make: bool = False) -> Iterator[Store]:
        """A space for the duration of one use."""
        store = self._take(name, make)
        try:
            yield store
        finally:
            with self._turn:
                space = self._spaces.get(name)
                if space is not None:
                    space.users -= 1
                self._close_idle()

    def keep(self, name: str) -> Store:
        """A space that stays open until the pool is closed."""
        return self._take(name, make=True)

    def _take(self, name: str, make: bool) -> Store:
        with self._turn:
            space = self._spaces.get(name)
            if space is None:
                space = self._spaces[name] = _OpenSpace(self._open_space(name, make))
            self._spaces.move_to_end(name)
            space.users += 1
            self._close_idle()
            return space.store

    def _close_idle(self) -> None:
        idle = [name for name, space in self._spaces.items() if not space.users]
        for name in idle[: max(0, len(self._spaces) - self._most)]:
            self._spaces.pop(name).store.close()

    def close(self) -> None:
        """Close all spaces, also those in use."""
        with self._turn:
            while self._spaces:
                self._spaces.popitem()[1].store.close()
