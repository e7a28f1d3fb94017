"""A cache of the values that were used last, as many as fit a size."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class BoundedCache(Generic[K, V]):
    """Values by key; when they are larger than `size_max` together, the least recently used go.

    A value larger than an eighth of that is not kept, because it would remove too many others.
    """

    def __init__(self, size_max: int) -> None:
        self._size_max = size_max
        self._lock = threading.Lock()
        self._values: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self._size = 0

    def get(self, key: K) -> V | None:
        with self._lock:
            value = self._values.get(key)
            if value is None:
                return None
            self._values.move_to_end(key)
            return value[0]

    def several(self, keys: Iterable[K]) -> list[V]:
        """The values of those keys that have one, in their order."""
        values, found = self._values, []
        with self._lock:
            for key in keys:
                value = values.get(key)
                if value is not None:
                    values.move_to_end(key)
                    found.append(value[0])
        return found

    def put(self, key: K, value: V, size: int) -> None:
        if size * 8 > self._size_max:
            return
        with self._lock:
            before = self._values.pop(key, None)
            self._size += size - (before[1] if before is not None else 0)
            self._values[key] = value, size
            while self._size > self._size_max:
                self._size -= self._values.popitem(last=False)[1][1]
