"""What was stored of the files of a large tree, as a mapping that keeps them in columns.

It is compared with what a walk found folder by folder (`moved.py`): if names, sizes and times
are the same bytes, no file is looked at on its own. What has changed since the columns were stored
is kept beside them.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, ItemsView, Iterable, Iterator, Mapping

from holdfast.files.integer_bytes import unpack
from holdfast.files.path_columns import SEPARATOR, PathColumns, split
from holdfast.files.snapshot import Entry, Stat
from holdfast.files.tree_stats import FolderStats

STAT_BYTES = 24


class Columns:
    """The stats and digests of files, by the places of their paths."""

    def __init__(self, paths: PathColumns, stats: bytes, digests: bytes | list[str]) -> None:
        """`stats` has size, modification and change time of each file, as 64-bit integers, little
        endian; `digests` the bytes of each, all of one length, or their texts."""
        self.paths, self.stats, self._digests = paths, stats, digests
        self._width = len(digests) // len(paths) if isinstance(digests, bytes) and paths else 0

    def digest(self, place: int) -> str:
        if isinstance(self._digests, list):
            return self._digests[place]
        return self._digests[place * self._width : (place + 1) * self._width].hex()

    def stat_numbers(self, low: int, high: int) -> array[int]:
        """The numbers of `stats` in a range of places."""
        return unpack("q", self.stats[STAT_BYTES * low : STAT_BYTES * high])

    def stats_from(self, low: int, high: int) -> Iterator[Stat]:
        """The stats in a range of places, faster than one after the other."""
        numbers = iter(self.stat_numbers(low, high))
        return map(Stat._make, zip(numbers, numbers, numbers, strict=True))

    def stat(self, place: int) -> Stat:
        return Stat._make(self.stat_numbers(place, place + 1))

    def entry(self, place: int) -> Entry:
        return Entry(self.stat(place), self.digest(place))


class EntryColumns(Mapping[str, Entry]):
    """The files of columns, with what has changed since: an entry by path, or None if it went."""

    def __init__(self, columns: Columns, since: Mapping[str, Entry | None]) -> None:
        self._columns = columns
        self._since: dict[str, Entry | None] = {}
        self._changed: dict[str, frozenset[str]] = {}
        """By folder, the names in `since`."""
        self._size = len(columns.paths)
        self._change(since)

    def with_changes(self, entries: Mapping[str, Entry], removed: Iterable[str]) -> EntryColumns:
        """The same files with some added or replaced, and others removed."""
        made = EntryColumns(self._columns, {})
        made._since, made._changed = dict(self._since), dict(self._changed)
        made._size = self._size
        made._change({**entries, **dict.fromkeys(removed, None)})
        return made

    def _change(self, later: Mapping[str, Entry | None]) -> None:
        names: dict[str, list[str]] = {}
        for path, entry in later.items():
            folder, name = split(path)
            names.setdefault(folder, []).append(name)
            self._size += (entry is not None) - (path in self)
            self._since[path] = entry
        for folder, changed in names.items():
            self._changed[folder] = self._changed.get(folder, frozenset()).union(changed)

    @property
    def changes(self) -> int:
        """How many files differ from the columns."""
        return len(self._since)

    def __getitem__(self, path: str) -> Entry:
        if path in self._since:
            entry = self._since[path]
        else:
            place = self._columns.paths.place(path)
            entry = self._columns.entry(place) if place >= 0 else None
        if entry is None:
            raise KeyError(path)
        return entry

    def __contains__(self, path: object) -> bool:
        if not isinstance(path, str):
            return False
        if path in self._since:
            return self._since[path] is not None
        return self._columns.paths.place(path) >= 0

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[str]:
        since = self._since
        if not since:
            yield from self._columns.paths
            return
        for path in self._columns.paths:
            if path not in since:
                yield path
        for path, entry in since.items():
            if entry is not None:
                yield path

    def items(self) -> ItemsView[str, Entry]:
        return _Items(self)

    def _own_items(self) -> Iterator[tuple[str, Entry]]:
        columns, since = self._columns, self._since
        for place, (path, stat) in enumerate(
            zip(columns.paths, self._stats_of_columns(), strict=True)
        ):
            if path not in since:
                yield path, Entry(stat, columns.digest(place))
        for path, entry in since.items():
            if entry is not None:
                yield path, entry

    def _stats_of_columns(self) -> Iterator[Stat]:
        return self._columns.stats_from(0, len(self._columns.paths))

    # By folder.

    def folders(self) -> set[str]:
        """Every folder that has files, and perhaps others."""
        return {*self._columns.paths.folders, *self._changed}

    def holds(self, key: str, folder: FolderStats) -> bool:
        """Whether a folder had these very files, with these sizes and times."""
        if key in self._changed:
            return False
        low, high = self._columns.paths.range_of(key)
        return (
            high - low == len(folder.names)
            and self._columns.stats[STAT_BYTES * low : STAT_BYTES * high] == folder.packed()
            and self._columns.paths.joined_names(low, high)
            == SEPARATOR.join(folder.names).encode("utf-8", "surrogatepass")
        )

    def in_folder(self, key: str) -> dict[str, Stat]:
        """The files of a folder by name, with their sizes and times."""
        low, high = self._columns.paths.range_of(key)
        names = self._columns.paths.names(low, high)
        found = dict(zip(names, self._columns.stats_from(low, high), strict=True))
        prefix = f"{key}/" if key else ""
        for name in self._changed.get(key, ()):
            entry = self._since[prefix + name]
            if entry is None:
                found.pop(name, None)
            else:
                found[name] = entry.stat
        return found

    def stats_of(self, shares: Collection[int], of: int) -> Iterator[tuple[str, Stat]]:
        """The files of some of `of` equal shares, with their sizes and times."""
        columns, since = self._columns, self._since
        stored: Iterable[tuple[str, Stat]]
        if len(shares) == of:
            stored = zip(columns.paths, self._stats_of_columns(), strict=True)
        else:
            places = (at for share in shares for at in range(share, len(columns.paths), of))
            stored = ((columns.paths.path(place), columns.stat(place)) for place in places)
        for path, stat in stored:
            if path not in since:
                yield path, stat
        for at, (path, entry) in enumerate(since.items()):
            if entry is not None and at % of in shares:
                yield path, entry.stat

    def later_than(self, time_ns: int) -> Iterator[str]:
        """The files that were written at that time or later."""
        paths = self._columns.paths
        numbers = self._columns.stat_numbers(0, len(paths))
        modified, changed = numbers[1::3], numbers[2::3]
        if paths and max(max(modified), max(changed)) >= time_ns:
            for place, times in enumerate(zip(modified, changed, strict=True)):
                if max(times) >= time_ns and (path := paths.path(place)) not in self._since:
                    yield path
        for path, entry in self._since.items():
            if entry is not None and max(entry.stat[1:]) >= time_ns:
                yield path

    def sizes(self) -> Iterator[int]:
        """The size of every file, in bytes."""
        if not self._since:
            yield from self._columns.stat_numbers(0, len(self._columns.paths))[::3]
            return
        for _, entry in self._own_items():
            yield entry.stat.size_bytes


class _Items(ItemsView[str, Entry]):
    """Without looking every path up."""

    _mapping: EntryColumns

    def __iter__(self) -> Iterator[tuple[str, Entry]]:
        return self._mapping._own_items()
