"""The sizes and times of a tree's files, by folder and in columns.

A tree has many more files than folders. A string and three numbers for each of a hundred thousand
files take 40 MB as objects, and 4 MB in this form, because the names are those of the listings of
directories. A folder is compared with what was stored of it in a few steps, however many files it
has.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import ItemsView, Iterable, Iterator, Mapping

from holdfast.files.integer_bytes import pack
from holdfast.files.snapshot import Stat

TIME_MIN, TIME_MAX = -1 << 63, (1 << 63) - 1
Taken = tuple[str, int, int, int]
"""A file: its name, size and times."""


def storable(time_ns: int) -> int:
    """A time in eight bytes. One that does not fit, of a damaged or hostile file system, counts as
    the latest one that does: it is in the future, so such a file is read each time."""
    return time_ns if TIME_MIN <= time_ns <= TIME_MAX else TIME_MAX


class FolderStats:
    """The files of one folder, in the order of their names."""

    __slots__ = ("names", "numbers")

    def __init__(self, names: tuple[str, ...], numbers: array[int]) -> None:
        self.names = names
        self.numbers = numbers
        """Size, modification and change time of each, one after the other."""

    def place(self, name: str) -> int:
        """Where a file is; -1 if it is not there."""
        at = bisect_left(self.names, name)
        return at if at < len(self.names) and self.names[at] == name else -1

    def stats(self) -> Iterator[Stat]:
        numbers = iter(self.numbers)
        return map(Stat._make, zip(numbers, numbers, numbers, strict=True))

    def is_still(self, still_ns: int) -> bool:
        """Whether all files were last written before a time."""
        numbers = self.numbers
        return max(numbers[1::3]) < still_ns and max(numbers[2::3]) < still_ns

    def packed(self) -> bytes:
        """The numbers as 64-bit integers, little endian."""
        return pack(self.numbers)


def folder_of(files: Iterable[Taken]) -> FolderStats:
    """A folder of these files, in any order."""
    ordered = sorted(files)
    numbers = array("q")
    for _, size, mtime_ns, ctime_ns in ordered:
        numbers.extend((size, storable(mtime_ns), storable(ctime_ns)))
    return FolderStats(tuple(name for name, *_ in ordered), numbers)


class TreeStats(Mapping[str, Stat]):
    """The stat of every file by path. Not changed once others have it."""

    __slots__ = ("_files", "folders")

    def __init__(self, folders: Mapping[str, FolderStats] | None = None) -> None:
        self.folders: dict[str, FolderStats] = dict(folders or {})
        """By path; only folders that have files."""
        self._files = sum(len(folder.names) for folder in self.folders.values())

    @classmethod
    def of(cls, stats: Mapping[str, Stat]) -> TreeStats:
        """The same files by folder."""
        if isinstance(stats, TreeStats):
            return stats
        taken: dict[str, list[Taken]] = {}
        for path, stat in stats.items():
            folder, _, name = path.rpartition("/")
            taken.setdefault(folder, []).append((name, *stat))
        return cls({folder: folder_of(files) for folder, files in taken.items()})

    def put(self, key: str, folder: FolderStats) -> None:
        """Replace what is known of a folder."""
        before = self.folders.pop(key, None)
        self._files += len(folder.names) - (0 if before is None else len(before.names))
        if folder.names:
            self.folders[key] = folder

    def __getitem__(self, path: str) -> Stat:
        key, _, name = path.rpartition("/")
        folder = self.folders.get(key)
        at = -1 if folder is None else folder.place(name)
        if folder is None or at < 0:
            raise KeyError(path)
        return Stat._make(folder.numbers[3 * at : 3 * at + 3])

    def __contains__(self, path: object) -> bool:
        if not isinstance(path, str):
            return False
        key, _, name = path.rpartition("/")
        folder = self.folders.get(key)
        return folder is not None and folder.place(name) >= 0

    def __iter__(self) -> Iterator[str]:
        for key, folder in self.folders.items():
            prefix = f"{key}/" if key else ""
            for name in folder.names:
                yield prefix + name

    def __len__(self) -> int:
        return self._files

    def items(self) -> ItemsView[str, Stat]:
        return _Items(self)


class _Items(ItemsView[str, Stat]):
    """Without looking every path up."""

    _mapping: TreeStats

    def __iter__(self) -> Iterator[tuple[str, Stat]]:
        for key, folder in self._mapping.folders.items():
            prefix = f"{key}/" if key else ""
            for name, stat in zip(folder.names, folder.stats(), strict=True):
                yield prefix + name, stat
