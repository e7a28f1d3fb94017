"""All files of a generation as one value, so that opening it need not read a row for each.

The list has the columns that every search needs: what a file was when it was indexed, and where its
chunks are. It repeats what the tables say. A writer stores it now and then; until the next time the
tables decide on the files that changed since, and the list on the others.

It stays as it is stored: a string and a number of Python for each value would take five times the
memory. The files are in the order of their folders and names (`files/path_columns.py`).

The form, version 2: msgpack of

    [version, numbers, folders, files of each folder, names, where each name ends, places by path,
     digests, sizes and times, languages, language of each, segments, slots]

where numbers are integers, little endian, one after the other, and -1 stands for no segment and no
slot.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable
from contextlib import suppress
from functools import cached_property

import msgspec

from holdfast.files.entry_columns import STAT_BYTES, Columns, EntryColumns
from holdfast.files.integer_bytes import pack, unpack
from holdfast.files.path_columns import PathColumns, in_order
from holdfast.files.snapshot import Entry, Snapshot
from holdfast.index.errors import DamagedBackend

VERSION = 2
"""- 1: the first.
- 2: paths are in the order of their folders and names, which are stored apart.
"""

CHANGED_MIN, CHANGED_SHARE = 256, 0.05
"""The list is written again when more files than both have changed since."""

_NONE = -1

StatedRow = tuple[int, str, str, int, int, int]
"""A file: its number, path, digest, size and times."""
PlacedRow = tuple[int, str, str, int | None, int | None]
"""A file: its number, path, language, segment and slot."""


class _Stored(msgspec.Struct, array_like=True, frozen=True):
    version: int
    numbers: bytes
    folders: bytes
    counts: bytes
    names: bytes
    ends: bytes
    by_path: bytes
    digests: bytes | list[str]
    stats: bytes
    languages: list[str]
    language_of: bytes
    segments: bytes
    slots: bytes


class FileList(Columns):
    """The columns of all files. A file is known by its place in them."""

    def __init__(self, stored: _Stored) -> None:
        paths = PathColumns(stored.folders, stored.counts, stored.names, stored.ends)
        super().__init__(paths, stored.stats, stored.digests)
        self._stored = stored
        self.numbers = unpack("q", stored.numbers)
        """The numbers of the files in the tables."""
        size = len(self.numbers)
        widths = ((stored.by_path, 4), (stored.stats, STAT_BYTES), (stored.language_of, 4),
                  (stored.segments, 4), (stored.slots, 4))  # fmt: skip
        if not self.paths.is_sound(size) or any(len(b) != size * width for b, width in widths):
            raise ValueError("the columns have different lengths")

    def __len__(self) -> int:
        return len(self.numbers)

    @cached_property
    def _language_of(self) -> array[int]:
        return unpack("i", self._stored.language_of)

    def language(self, place: int) -> str:
        return self._stored.languages[self._language_of[place]]

    @property
    def segments(self) -> array[int]:
        """The segment of each file; -1 for a file without chunks."""
        return unpack("i", self._stored.segments)

    @property
    def slots(self) -> array[int]:
        """The slot of each file in its segment."""
        return unpack("i", self._stored.slots)

    @property
    def by_path(self) -> array[int]:
        """All places in the order of their paths."""
        return unpack("i", self._stored.by_path)

    def places(self, numbers: Collection[int]) -> list[int]:
        """The places of the files with these numbers."""
        if not numbers:
            return []
        return [place for place, number in enumerate(self.numbers) if number in numbers]

    def entries(self, changed: Collection[int]) -> EntryColumns:
        """The files by path, but for the changed ones."""
        return EntryColumns(self, {self.paths.path(place): None for place in self.places(changed)})


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
        if self.since:
            entries = entries.with_changes(self.since, ())
        if len(entries) != self.files:
            raise DamagedBackend(f"the index has {len(entries)} of {self.files} files")
        return Snapshot(entries, self.taken_ns)


def encode(stated: Iterable[StatedRow], placed: Iterable[PlacedRow]) -> bytes:
    """The list of these files; both have the same files in the same order. Raises ValueError for a
    path that no file can have."""
    numbers, paths, digests, stats = array("q"), list[str](), list[str](), array("q")
    for number, path, digest, *stat in stated:
        numbers.append(number)
        paths.append(path)
        digests.append(digest)
        stats.extend(stat)
    languages: dict[str, int] = {}
    language_of, segments, slots = array("i"), array("i"), array("i")
    for _, _, language, segment, slot in placed:
        language_of.append(languages.setdefault(language, len(languages)))
        segments.append(_NONE if segment is None else segment)
        slots.append(_NONE if slot is None else slot)

    order = in_order(paths)
    ordered = [paths[at] for at in order]

    def sorted_(column: array[int]) -> bytes:
        return pack(array(column.typecode, [column[at] for at in order]))

    by_path = array("i", sorted(range(len(ordered)), key=ordered.__getitem__))
    folders, counts, names, ends = PathColumns.of(ordered).packed()
    stored = _Stored(
        VERSION, sorted_(numbers), folders, counts, names, ends, pack(by_path),
        _packed_digests([digests[at] for at in order]),
        pack(array("q", [n for at in order for n in stats[3 * at : 3 * at + 3]])),
        list(languages), sorted_(language_of), sorted_(segments), sorted_(slots),
    )  # fmt: skip
    return msgspec.msgpack.encode(stored)


def _packed_digests(digests: list[str]) -> bytes | list[str]:
    """The bytes of all digests if these say everything, else the digests."""
    width = len(digests[0]) if digests else 0
    with suppress(ValueError):
        packed = [bytes.fromhex(digest) for digest in digests]
        if width and all(
            len(digest) == width and one.hex() == digest
            for digest, one in zip(digests, packed, strict=True)
        ):
            return b"".join(packed)
    return digests


def decode(data: bytes) -> FileList | None:
    """The list; None if another version made it."""
    with suppress(msgspec.DecodeError, msgspec.ValidationError, ValueError):
        stored = msgspec.msgpack.decode(data, type=_Stored)
        if stored.version == VERSION:
            return FileList(stored)
    return None


def is_outdated(changed: int, files: int) -> bool:
    """Whether so many files have changed that the list should be written again."""
    return changed > max(CHANGED_MIN, int(files * CHANGED_SHARE))
