"""How long the diff of one answer may take."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class Budget:
    """Says when its time is up; loading a module does not count.

    A process imports numpy once, with the first long diff. On a busy machine that alone took
    longer than a diff may take, and the diff was given up.
    """

    def __init__(self, seconds: float, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._until = monotonic() + seconds

    def __call__(self) -> bool:
        return self._monotonic() > self._until

    def uncounted(self, load: Callable[[], T]) -> T:
        """The result of `load`; the time it takes is added."""
        began = self._monotonic()
        loaded = load()
        self._until += self._monotonic() - began
        return loaded
