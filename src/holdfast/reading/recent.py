"""The last few files as they were read: not a cache of answers.

The file's bytes are read every time and compared with those of last time; when they are equal they
need not be hashed, decoded and counted again.
"""

from __future__ import annotations

from collections import OrderedDict

from holdfast.reading.answer import Current
from holdfast.reading.objects import digest_of

RECENT_BYTES_MAX = 8 * 1024 * 1024


class Recent:
    """Files by path, the longest unused let go when their bytes exceed a bound."""

    def __init__(self, size_bytes_max: int = RECENT_BYTES_MAX) -> None:
        self._files: OrderedDict[str, Current] = OrderedDict()
        self._size = 0
        self._size_max = size_bytes_max

    def current(self, path: str, data: bytes) -> Current:
        """What these bytes are, from memory when they are the same as last time."""
        known = self._files.get(path)
        if known is not None:
            if known.data == data:
                self._files.move_to_end(path)
                return known
            del self._files[path]
            self._size -= len(known.data)
        found = Current(data, digest_of(data))
        if len(data) * 4 <= self._size_max:
            self._files[path] = found
            self._size += len(data)
            while self._size > self._size_max:
                _, oldest = self._files.popitem(last=False)
                self._size -= len(oldest.data)
        return found
