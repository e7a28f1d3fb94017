"""The most recently read files, decoded; not a cache of answers.

The bytes are read every time and compared with those of the last read; if they are equal, hashing,
decoding and counting lines are skipped.
"""

from __future__ import annotations

from collections import OrderedDict

from holdfast.reading.answer import Current
from holdfast.reading.objects import digest_of

RECENT_BYTES_MAX = 8 * 1024 * 1024


class Recent:
    """Files by path; the least recently used are dropped when their bytes exceed a bound."""

    def __init__(self, size_bytes_max: int = RECENT_BYTES_MAX) -> None:
        self._files: OrderedDict[str, Current] = OrderedDict()
        self._size = 0
        self._size_max = size_bytes_max

    def known(self, path: str, data: bytes) -> Current | None:
        """The decoded file if its bytes are the same as last time."""
        current = self._files.get(path)
        if current is None or current.data != data:
            return None
        self._files.move_to_end(path)
        return current

    def add(self, path: str, data: bytes) -> Current:
        """Decode a file that is not known, and keep it in place of its last version."""
        if (before := self._files.pop(path, None)) is not None:
            self._size -= len(before.data)
        current = Current(data, digest_of(data))
        if len(data) * 4 <= self._size_max:
            self._files[path] = current
            self._size += len(data)
            while self._size > self._size_max:
                _, oldest = self._files.popitem(last=False)
                self._size -= len(oldest.data)
        return current

    def clear(self) -> None:
        self._files.clear()
        self._size = 0
