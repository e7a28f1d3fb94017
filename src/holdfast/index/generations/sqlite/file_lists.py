"""The list of files (`generations/file_list.py`) on SQLite, with the tables for what changed since.

Two rows: the list itself, and for which generation it may be used, with the numbers of the files
that were added, removed or changed since it was written. A writer that does not know the list
publishes a generation that neither row names, so the list is not used then.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakValueDictionary

import apsw
import msgspec

from holdfast.files.snapshot import Entry, Snapshot, Stat
from holdfast.index.errors import DamagedBackend
from holdfast.index.generations import file_list
from holdfast.index.generations.checksums import crc32, row_check
from holdfast.index.generations.file_list import FileList, ListedManifest
from holdfast.index.generations.segments import FileRow, ListedFiles
from holdfast.index.generations.sqlite import tables

_LIST, _USE = "files", "use"
_decoded: WeakValueDictionary[tuple[str, int], FileList] = WeakValueDictionary()
"""The lists that are in use, by generation and checksum: opening one takes each of them twice."""


class Use(msgspec.Struct, array_like=True, frozen=True):
    """For which generation a list may be used, and which files changed since it was written."""

    run: str
    check: int
    files: int
    changed: frozenset[int]
    version: int = 1
    """Of the list; the first version did not say it."""


def snapshot(connection: apsw.Connection) -> Snapshot:
    """The files as they were indexed."""
    return manifest(connection)()


def manifest(connection: apsw.Connection) -> Callable[[], Snapshot]:
    """A function that makes the same, from what is read now."""
    known = tables.meta(connection)
    file_list = stored(connection, str(known.get("run") or ""))
    if file_list is None:
        whole = tables.snapshot(connection)
        return lambda: whole
    listed, changed = file_list
    since = {}
    for number in sorted(changed):
        row = tables.row(
            connection, f"SELECT {tables.STAT}, stat_check FROM file WHERE id = ?", (number,)
        )
        if row is not None:
            if row[-1] != row_check(row[:-1]):
                raise tables.damaged_file(row[1])
            since[row[1]] = Entry(Stat(*row[3:6]), row[2])

    files, taken_ns = int(known.get("files") or 0), int(known.get("taken_ns") or 0)
    return ListedManifest(listed, changed, since, files, taken_ns)


def placed_files(connection: apsw.Connection) -> list[FileRow] | ListedFiles:
    """The files that have chunks."""
    file_list = stored(connection, str(tables.meta(connection).get("run") or ""))
    if file_list is None:
        return tables.placed_files(connection)
    listed, changed = file_list
    others = []
    there = "SELECT 1 FROM file WHERE id = ?"
    for number in sorted(changed):
        if tables.row(connection, there, (number,)) is not None:
            others += tables.placed_files(connection, number)
    return ListedFiles(listed, listed.segments, listed.slots, listed.places(changed), others)


def rows_of(placed: list[FileRow] | ListedFiles) -> list[FileRow]:
    """The same files as rows, sorted."""
    if isinstance(placed, list):
        return sorted(placed)
    listed, without = placed.listed, frozenset(placed.without)
    rows = zip(listed.numbers, listed.paths, placed.segments, placed.slots, strict=True)
    found = [
        (number, path, listed.language(place), segment, slot)
        for place, (number, path, segment, slot) in enumerate(rows)
        if segment >= 0 and place not in without
    ]
    return sorted([*found, *placed.others])


def stored(connection: apsw.Connection, run: str) -> tuple[FileList, frozenset[int]] | None:
    """The list for this generation, and the files that changed since; None if the tables decide."""
    use = used(connection, run)
    if use is None:
        return None
    listed = _decoded.get((run, use.check))
    if listed is None:
        data = _row(connection, _LIST, checked=False)  # `use` has a check of it
        known = isinstance(data, bytes) and crc32(data) == use.check
        listed = file_list.decode(data) if known and data is not None else None
        if listed is None:
            return None
        _decoded[run, use.check] = listed
    return listed, use.changed


def used(connection: apsw.Connection, run: str) -> Use | None:
    """What is said about the list, if it may be used for this generation."""
    data = _row(connection, _USE)
    if data is None:
        return None
    try:
        use = msgspec.msgpack.decode(data, type=Use)
    except (msgspec.DecodeError, msgspec.ValidationError):
        return None
    return use if use.run == run and use.version == file_list.VERSION else None


def put(connection: apsw.Connection, run: str, before: Use | None, changed: set[int]) -> None:
    """Say for the next generation which files changed; write the list again if they are many."""
    if before is not None:
        use = Use(run, before.check, before.files, before.changed | changed, file_list.VERSION)
        if not file_list.is_outdated(len(use.changed), use.files):
            _put_row(connection, _USE, msgspec.msgpack.encode(use))
            return
    connection.execute("DELETE FROM file_list")
    try:
        data, files = _of_tables(connection)
    except (DamagedBackend, ValueError):
        return  # A sync does not depend on files that it does not touch.
    _put_row(connection, _LIST, data)
    use = Use(run, crc32(data), files, frozenset(), file_list.VERSION)
    _put_row(connection, _USE, msgspec.msgpack.encode(use))


def _of_tables(connection: apsw.Connection) -> tuple[bytes, int]:
    """The list that the tables make, and how many files it has."""
    stated, placed = [], []
    columns = f"{tables.STAT}, stat_check, {tables.PLACE}, place_check"
    for row in connection.execute(f"SELECT {columns} FROM file NOT INDEXED"):
        stat, place = row[:6], row[7:14]
        if row[6] != row_check(stat) or row[14] != row_check(place):
            raise tables.damaged_file(row[1])
        stated.append(stat)
        placed.append((*place[:3], *place[5:]))
    return file_list.encode(stated, placed), len(stated)


def verify(connection: apsw.Connection) -> None:
    """Raise DamagedBackend if the list says something else than the tables."""
    if not all(
        check == row_check((key, data))
        for key, data, check in tables.rows(connection, "SELECT * FROM file_list")
    ):
        raise DamagedBackend("the list of files of the index is damaged: its checksum differs")
    if snapshot(connection) != tables.snapshot(connection):
        raise DamagedBackend("the list of files of the index differs from its tables")
    if rows_of(placed_files(connection)) != sorted(tables.placed_files(connection)):
        raise DamagedBackend("the list of files of the index differs from its tables")


def _row(connection: apsw.Connection, key: str, checked: bool = True) -> bytes | None:
    """A row's value; None if it is missing or, if it is checked here, damaged."""
    if tables.row(connection, "SELECT 1 FROM sqlite_schema WHERE name = 'file_list'") is None:
        return None
    row: Any = tables.row(
        connection, "SELECT data, list_check FROM file_list WHERE key = ?", (key,)
    )
    if row is None or (checked and row[1] != row_check((key, row[0]))):
        return None
    data: bytes = row[0]
    return data


def _put_row(connection: apsw.Connection, key: str, data: bytes) -> None:
    connection.execute(
        "INSERT OR REPLACE INTO file_list VALUES (?,?,?)", (key, data, row_check((key, data)))
    )
