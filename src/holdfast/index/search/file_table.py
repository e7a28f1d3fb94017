"""The files of a corpus. Those of a large tree stay in the columns of the list of files.

A file is known by its place: in the list, or behind it for files that came later. A corpus has the
places of its files, in the order of their numbers there, and each part those of its slots.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar, overload

T = TypeVar("T")

if TYPE_CHECKING:
    from array import array

    import numpy as np
    from numpy.typing import NDArray

    Places = NDArray[np.int64]


class File(NamedTuple):
    """A current file. `number` is the backend's; a negative one is a changed file in memory."""

    number: int
    path: str
    language: str


class Paths(Protocol):
    """Paths by place, see `files/path_columns.py`."""

    def path(self, place: int) -> str: ...
    def place(self, path: str) -> int: ...
    def __iter__(self) -> Iterator[str]: ...


class Listed(Protocol):
    """Files in columns, see `generations/file_list.py`."""

    numbers: array[int]

    @property
    def paths(self) -> Paths: ...
    @property
    def by_path(self) -> array[int]: ...
    def language(self, place: int) -> str: ...
    def __len__(self) -> int: ...


class FileTable:
    """Files by place: those of a list, then others."""

    def __init__(
        self,
        listed: Listed | None,
        others: Sequence[File],
        derived: dict[object, object] | None = None,
    ) -> None:
        self._listed, self._others = listed, others
        self._derived = {} if derived is None else derived
        self.first_other = 0 if listed is None else len(listed)

    def path(self, place: int) -> str:
        if self._listed is None or place >= self.first_other:
            return self._others[place - self.first_other].path
        return self._listed.paths.path(place)

    def file(self, place: int) -> File:
        listed = self._listed
        if listed is None or place >= self.first_other:
            return self._others[place - self.first_other]
        return File(listed.numbers[place], listed.paths.path(place), listed.language(place))

    def number(self, place: int) -> int:
        if self._listed is None or place >= self.first_other:
            return self._others[place - self.first_other].number
        return self._listed.numbers[place]

    def __len__(self) -> int:
        return self.first_other + len(self._others)

    def numbers(self) -> NDArray[np.int64]:
        """The numbers of all places."""
        import numpy as np

        own = [] if self._listed is None else self._listed.numbers
        others = np.array([file.number for file in self._others], dtype=np.int64)
        return np.concatenate([np.array(own, dtype=np.int64), others])

    def places_of(self, paths: Collection[str]) -> list[int]:
        """The places of files with these paths, current or not."""
        found = [] if self._listed is None else [self._listed.paths.place(path) for path in paths]
        others = enumerate(self._others, self.first_other)
        return [at for at in found if at >= 0] + [at for at, file in others if file.path in paths]

    def derived(self, compute: Callable[[Iterable[str]], T]) -> T:
        """The result of a function of the paths of the list, computed once for all tables of it."""
        if compute not in self._derived:
            self._derived[compute] = compute(() if self._listed is None else self._listed.paths)
        found: T = self._derived[compute]  # type: ignore[assignment]
        return found

    def followed_by(self, used: Places, more: Sequence[File]) -> Files:
        """The files at the used places of this table, and more files behind them."""
        import numpy as np

        others = used >= self.first_other
        kept = [self._others[at - self.first_other] for at in used[others].tolist()]
        last = self.first_other + len(kept)
        places = np.concatenate([used, np.arange(last, last + len(more))])
        places[: len(used)][others] = np.arange(self.first_other, last)
        return Files(FileTable(self._listed, [*kept, *more], self._derived), places)

    def order(self, places: Places) -> Places:
        """The positions of places in the order of their paths."""
        import numpy as np

        listed = self._listed
        if listed is None:
            paths = [self.path(place) for place in places.tolist()]
            return np.array(sorted(range(len(paths)), key=paths.__getitem__), dtype=np.int64)
        ranks = np.empty(len(listed), dtype=np.int64)
        ranks[np.array(listed.by_path, dtype=np.int64)] = np.arange(len(listed))
        own = np.flatnonzero(places < self.first_other)
        own = own[np.argsort(ranks[places[own]], kind="stable")]
        return self.inserted(places, own, np.flatnonzero(places >= self.first_other))

    def inserted(self, places: Places, order: Places, more: Places) -> Places:
        """Positions in the order of their paths, with more positions put where they belong."""
        import numpy as np

        more_paths = {at: self.path(place) for at, place in
                      zip(more.tolist(), places[more].tolist(), strict=True)}  # fmt: skip
        ordered = sorted(more_paths, key=more_paths.__getitem__)
        known = order.tolist() if more_paths else []
        at = [
            bisect_left(known, more_paths[each], key=lambda i: self.path(int(places[i])))
            for each in ordered
        ]
        return np.insert(order, np.array(at, dtype=np.int64), np.array(ordered, dtype=np.int64))


class Files(Sequence[File]):
    """The files of a corpus, by their numbers there."""

    __slots__ = ("places", "table")

    def __init__(self, table: FileTable, places: Places) -> None:
        self.table, self.places = table, places

    def __len__(self) -> int:
        return len(self.places)

    @overload
    def __getitem__(self, at: int) -> File: ...
    @overload
    def __getitem__(self, at: slice) -> list[File]: ...
    def __getitem__(self, at: int | slice) -> File | list[File]:
        if isinstance(at, slice):
            return [self.table.file(place) for place in self.places[at].tolist()]
        return self.table.file(int(self.places[at]))

    def __iter__(self) -> Iterator[File]:
        return map(self.table.file, self.places.tolist())

    def path(self, at: int) -> str:
        return self.table.path(int(self.places[at]))

    def number(self, at: int) -> int:
        return self.table.number(int(self.places[at]))

    def with_numbers(self, numbers: Collection[int]) -> list[str]:
        """The paths of files by their numbers in the backend."""
        import numpy as np

        found = np.isin(self.table.numbers()[self.places], list(numbers))
        return [self.path(at) for at in np.flatnonzero(found).tolist()]


def in_one_table(slots: Sequence[Sequence[File | None]]) -> list[SlotFiles]:
    """The files of several segments as places of one table."""
    import numpy as np

    known = [each for each in slots if isinstance(each, SlotFiles)]
    if slots and len(known) == len(slots) and all(e.table is known[0].table for e in known):
        return known
    files: list[File] = []
    places = []
    for each in slots:
        own = np.full(len(each), -1, dtype=np.int64)
        for slot, file in enumerate(each):
            if file is not None:
                own[slot] = len(files)
                files.append(file)
        places.append(own)
    table = FileTable(None, files)
    return [SlotFiles(table, own) for own in places]


class SlotFiles(Sequence[File | None]):
    """The files of a segment's slots; None for a file that is not current."""

    __slots__ = ("places", "table")

    def __init__(self, table: FileTable, places: Places) -> None:
        """A place of -1 stands for a file that is not current."""
        self.table, self.places = table, places

    def __len__(self) -> int:
        return len(self.places)

    @overload
    def __getitem__(self, at: int) -> File | None: ...
    @overload
    def __getitem__(self, at: slice) -> list[File | None]: ...
    def __getitem__(self, at: int | slice) -> File | list[File | None] | None:
        if isinstance(at, slice):
            return [self._file(place) for place in self.places[at].tolist()]
        return self._file(int(self.places[at]))

    def _file(self, place: int) -> File | None:
        return None if place < 0 else self.table.file(place)

    def without(self, slots: NDArray[np.uint32]) -> SlotFiles:
        places = self.places.copy()
        places[slots] = -1
        return SlotFiles(self.table, places)
