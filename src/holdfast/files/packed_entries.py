"""Entries of many files, each packed into a few bytes: a build keeps those of a whole tree."""

from __future__ import annotations

import struct
from collections.abc import Iterator, MutableMapping

from holdfast.files.snapshot import Entry, Stat

_STAT = struct.Struct("<qqq")


class PackedEntries(MutableMapping[str, Entry]):
    """Entries by path, in the order they were added. Digests are hexadecimal, as `disk.digest`
    makes them."""

    def __init__(self) -> None:
        self._packed: dict[str, bytes] = {}

    def __getitem__(self, path: str) -> Entry:
        packed = self._packed[path]
        return Entry(Stat._make(_STAT.unpack_from(packed)), packed[_STAT.size :].hex())

    def __setitem__(self, path: str, entry: Entry) -> None:
        self._packed[path] = _STAT.pack(*entry.stat) + bytes.fromhex(entry.digest)

    def __delitem__(self, path: str) -> None:
        del self._packed[path]

    def __contains__(self, path: object) -> bool:
        return path in self._packed

    def __iter__(self) -> Iterator[str]:
        return iter(self._packed)

    def __len__(self) -> int:
        return len(self._packed)
