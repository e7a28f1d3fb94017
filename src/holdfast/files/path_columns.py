"""The paths of many files as a few byte strings, in the order of their folders and names.

Paths are most of what is known of a large tree: as strings, those of a hundred thousand files take
11 MB, and 2 MB in this form.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from holdfast.files.integer_bytes import pack, unpack

SEPARATOR = "\0"
"""No name of a file has it."""


def split(path: str) -> tuple[str, str]:
    """The folder and the name of a file."""
    folder, _, name = path.rpartition("/")
    return folder, name


def in_order(paths: Sequence[str]) -> list[int]:
    """The places of paths in the order of their folders and names."""
    keys = [split(path) for path in paths]
    return sorted(range(len(paths)), key=keys.__getitem__)


class PathColumns:
    """Paths by place, and places by path."""

    def __init__(self, folders: bytes, counts: bytes, names: bytes, ends: bytes) -> None:
        """Folders and names are joined by `SEPARATOR`; `counts` has how many names each folder has,
        and `ends` where each name ends in `names`."""
        self._folders, self._counts, self._names = folders, counts, names
        self._ends = unpack("I", ends)

    @classmethod
    def of(cls, paths: Iterable[str]) -> PathColumns:
        """Of paths that are `in_order`; raises ValueError for one that no file can have."""
        folders, counts = list[str](), array("I")
        ends, names, end = array("I"), list[bytes](), -1
        for path in paths:
            if SEPARATOR in path:
                raise ValueError(f"no file has the path {path!r}")
            folder, name = split(path)
            if not folders or folders[-1] != folder:
                folders.append(folder)
                counts.append(0)
            counts[-1] += 1
            encoded = name.encode()
            end += 1 + len(encoded)
            ends.append(end)
            names.append(encoded)
        joined = SEPARATOR.join(folders).encode()
        return cls(joined, pack(counts), b"\0".join(names), pack(ends))

    def packed(self) -> tuple[bytes, bytes, bytes, bytes]:
        """What `__init__` takes."""
        return self._folders, self._counts, self._names, pack(self._ends)

    def is_sound(self, size: int) -> bool:
        """Whether these are the paths of so many files."""
        folders = len(self._folder_names) if size else 0
        return (
            len(self._ends) == size
            and sum(unpack("I", self._counts)) == size
            and len(self._counts) == 4 * folders
            and (not size or self._ends[-1] == len(self._names))
        )

    def __len__(self) -> int:
        return len(self._ends)

    @cached_property
    def _folder_names(self) -> list[str]:
        return self._folders.decode().split(SEPARATOR) if self._ends else []

    @cached_property
    def _starts(self) -> array[int]:
        """The first place of each folder, and the number of places."""
        starts, at = array("I", [0]), 0
        for count in unpack("I", self._counts):
            at += count
            starts.append(at)
        return starts

    @cached_property
    def _number_of(self) -> dict[str, int]:
        return {folder: number for number, folder in enumerate(self._folder_names)}

    @property
    def folders(self) -> Iterable[str]:
        """The paths of all folders that have files."""
        return self._number_of

    def range_of(self, folder: str) -> tuple[int, int]:
        """The places of a folder's files; an empty range if it has none."""
        number = self._number_of.get(folder)
        return (0, 0) if number is None else (self._starts[number], self._starts[number + 1])

    def joined_names(self, low: int, high: int) -> bytes:
        """The names in a range of places, as they are stored."""
        begin = self._ends[low - 1] + 1 if low else 0
        return self._names[begin : self._ends[high - 1]] if low < high else b""

    def names(self, low: int, high: int) -> list[str]:
        return self.joined_names(low, high).decode().split(SEPARATOR) if low < high else []

    def name(self, place: int) -> str:
        begin = self._ends[place - 1] + 1 if place else 0
        return self._names[begin : self._ends[place]].decode()

    def path(self, place: int) -> str:
        folder = self._folder_names[bisect_right(self._starts, place) - 1]
        return f"{folder}/{self.name(place)}" if folder else self.name(place)

    def place(self, path: str) -> int:
        """Where a path is; -1 if it is not there."""
        folder, name = split(path)
        low, high = self.range_of(folder)
        at = bisect_left(range(low, high), name, key=self.name) + low
        return at if at < high and self.name(at) == name else -1

    def __iter__(self) -> Iterator[str]:
        """All paths, in the order of their places."""
        low = 0
        for folder, high in zip(self._folder_names, self._starts[1:], strict=True):
            prefix = f"{folder}/" if folder else ""
            for name in self.names(low, high):
                yield prefix + name
            low = high
