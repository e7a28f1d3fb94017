"""All files of a generation as one value, so that opening it need not read a row for each.

The list has the columns that every search needs: what a file was when it was indexed, and where its
chunks are. It repeats what the tables say. A writer stores it now and then; until the next time the
tables decide on the files that changed since, and the list on the others.

The form, version 1: msgpack of

    [version, numbers, paths, digests, sizes, mtimes, ctimes, languages, language of each,
     segments, slots]

where numbers are 64-bit integers, little endian, one after the other, and -1 stands for no segment
and no slot.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from itertools import repeat

import msgspec

from holdfast.files.snapshot import Entry, Snapshot, Stat
from holdfast.index.errors import DamagedBackend
from holdfast.index.generations.segments import FileRow

VERSION = 1
"""- 1: the first."""

CHANGED_MIN, CHANGED_SHARE = 256, 0.05
"""The list is written again when more files than both have changed since."""

_NONE = -1

StatedRow = tuple[int, str, str, int, int, int]
"""A file: its number, path, digest, size and times."""
PlacedRow = tuple[int, str, str, int | None, int | None]
"""A file: its number, path, language, segment and slot."""


class FileList(msgspec.Struct, array_like=True, frozen=True, weakref=True):
    """The columns of all files."""

    version: int
    numbers: bytes
    paths: list[str]
    digests: list[str]
    sizes: bytes
    mtimes: bytes
    ctimes: bytes
    languages: list[str]
    language_of: bytes
    segments: bytes
    slots: bytes

    def _without(self, changed: Collection[int]) -> list[bool] | None:
        """Which files are not among these numbers; None when none is."""
        if not changed:
            return None
        return [number not in changed for number in _integers(self.numbers)]

    def entries(self, changed: Collection[int]) -> dict[str, Entry]:
        """The files by path, but for the changed ones."""
        make = tuple.__new__
        times = zip(
            _integers(self.sizes), _integers(self.mtimes), _integers(self.ctimes), strict=True
        )
        stats: Iterator[Stat] = map(make, repeat(Stat), times)
        entries: Iterator[Entry] = map(make, repeat(Entry), zip(stats, self.digests, strict=True))
        by_path = dict(zip(self.paths, entries, strict=True))
        is_current = self._without(changed)
        if is_current is not None:
            for path, is_kept in zip(self.paths, is_current, strict=True):
                if not is_kept:
                    del by_path[path]
        return by_path

    def entries_of(self, paths: Collection[str], changed: Collection[int]) -> dict[str, Entry]:
        """The same of some paths, without making the others."""

        def at(column: bytes, place: int) -> int:
            return int.from_bytes(column[8 * place : 8 * place + 8], "little", signed=True)

        return {
            path: Entry(
                Stat(at(self.sizes, place), at(self.mtimes, place), at(self.ctimes, place)),
                self.digests[place],
            )
            for place, path in enumerate(self.paths)
            if path in paths and at(self.numbers, place) not in changed
        }

    def placed(self, changed: Collection[int]) -> list[FileRow]:
        """The files that have chunks, but for the changed ones."""
        languages = map(self.languages.__getitem__, _integers(self.language_of))
        rows = zip(
            _integers(self.numbers), self.paths, languages, _integers(self.segments),
            _integers(self.slots), strict=True,
        )  # fmt: skip
        if changed:
            return [row for row in rows if row[3] != _NONE and row[0] not in changed]
        return [row for row in rows if row[3] != _NONE]


class ListedManifest(msgspec.Struct, frozen=True):
    """Makes the manifest of a generation from the list, and what the tables say of the rest."""

    listed: FileList
    changed: frozenset[int]
    """The files that the list does not decide on."""
    since: dict[str, Entry]
    """What these are now."""
    files: int
    taken_ns: int

    def __call__(self) -> Snapshot:
        """The whole manifest."""
        entries = self.listed.entries(self.changed)
        entries.update(self.since)
        if len(entries) != self.files:
            raise DamagedBackend(f"the index has {len(entries)} of {self.files} files")
        return Snapshot(entries, self.taken_ns)

    def entries_of(self, paths: Collection[str]) -> dict[str, Entry]:
        """The entries of some paths: of a large tree the whole manifest takes long to make."""
        entries = self.listed.entries_of(paths, self.changed)
        entries.update(self.since)
        return entries


def encode(stated: Iterable[StatedRow], placed: Iterable[PlacedRow]) -> bytes:
    """The list of these files; both have the same files in the same order."""
    columns = [list(column) for column in zip(*stated, strict=True)] or [[] for _ in range(6)]
    numbers, paths, digests, sizes, mtimes, ctimes = columns
    languages: dict[str, int] = {}
    language_of, segments, slots = [], [], []
    for _, _, language, segment, slot in placed:
        language_of.append(languages.setdefault(language, len(languages)))
        segments.append(_NONE if segment is None else segment)
        slots.append(_NONE if slot is None else slot)
    file_list = FileList(
        VERSION, _bytes(numbers), paths, digests, _bytes(sizes),
        _bytes(mtimes), _bytes(ctimes), list(languages), _bytes(language_of), _bytes(segments),
        _bytes(slots),
    )  # fmt: skip
    return msgspec.msgpack.encode(file_list)


def decode(data: bytes) -> FileList | None:
    """The list; None if another version made it."""
    with suppress(msgspec.DecodeError, msgspec.ValidationError):
        file_list = msgspec.msgpack.decode(data, type=FileList)
        if file_list.version == VERSION:
            return file_list
    return None


def is_outdated(changed: int, files: int) -> bool:
    """Whether so many files have changed that the list should be written again."""
    return changed > max(CHANGED_MIN, int(files * CHANGED_SHARE))


def _integers(column: bytes) -> array[int]:
    numbers = array("q", column)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def _bytes(column: Iterable[int]) -> bytes:
    numbers = array("q", column)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()
