"""The segments of links on PostgreSQL: each is one row with its data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from mmap import mmap
from typing import TYPE_CHECKING, Any

from holdfast.index.errors import DamagedBackend
from holdfast.index.generations.checksums import blob_check, crc32, row_check
from holdfast.index.generations.link_files import LinkRow, checked, open_links, placed
from holdfast.index.generations.postgres import tables
from holdfast.index.generations.segments import digest
from holdfast.index.generations.unnamed_files import mapped_parts

if TYPE_CHECKING:
    import psycopg

    from holdfast.files.snapshot import Snapshot
    from holdfast.index.calls.link_segment import LinkSegment
    from holdfast.index.generations.model import Identity

_COLUMNS = "place, digest, files, size_bytes, data_check, run"
"""The values that `link_check` covers."""
_NOT_PUT = -1
"""The place of a segment that the generation being written may or may not use."""


class PostgresLinks:
    """The links of one root."""

    def __init__(self, connection: psycopg.Connection[Any], root: int) -> None:
        self._connection, self._root = connection, root

    def stored(self) -> tuple[list[LinkRow], bool]:
        if not tables.has(self._connection, "link"):
            return [], True
        rows = self._connection.execute(
            f"SELECT {_COLUMNS}, link_check FROM link WHERE root_id = $1 AND place <> $2 "
            "ORDER BY place",
            (self._root, _NOT_PUT),
        ).fetchall()
        good = [row for row in rows if row[-1] == row_check(row[:-1])]
        return [LinkRow(*row[1:-1]) for row in good], len(good) == len(rows)

    def is_there(self, one: LinkRow) -> bool:
        row = self._connection.execute(
            "SELECT length(data) FROM link WHERE root_id = $1 AND digest = $2",
            (self._root, one.digest),
        ).fetchone()
        return row is not None and row[0] == one.size_bytes

    def opened(
        self, rows: Iterable[LinkRow], open_segments: Mapping[str, LinkSegment] | None = None
    ) -> dict[str, LinkSegment]:
        return open_links(self._data, rows, open_segments or {})

    def _data(self, one: LinkRow) -> mmap | bytes:
        row = (
            self._connection.cursor(binary=True)
            .execute(
                "SELECT data FROM link WHERE root_id = $1 AND digest = $2",
                (self._root, one.digest),
            )
            .fetchone()
        )
        data = b"" if row is None else bytes(row[0])
        if len(data) != one.size_bytes or crc32(data) != one.check:
            raise DamagedBackend("a segment of the index is damaged: its checksum differs")
        with suppress(OSError, ValueError):
            return mapped_parts([data])
        return data

    def write(self, data: bytes) -> str:
        name = digest(data, b"")
        values = (_NOT_PUT, name, 0, len(data), crc32(data), "")
        self._connection.execute(
            f"INSERT INTO link (root_id, {_COLUMNS}, link_check, data) "
            "VALUES ($1,$2,$3,$4,$5,$6,$7,$8,$9) ON CONFLICT (root_id, digest) DO UPDATE SET "
            "place = excluded.place, data = excluded.data",
            (self._root, *values, row_check(values), data),
        )
        return name

    def put(self, rows: Sequence[LinkRow]) -> None:
        self._connection.execute(
            "DELETE FROM link WHERE root_id = $1 AND digest <> ALL($2)",
            (self._root, [one.digest for one in rows]),
        )
        for place, one in enumerate(rows):
            values = (place, one.digest, one.files, one.size_bytes, one.check, one.run)
            self._connection.execute(
                "UPDATE link SET place=$2, files=$4, size_bytes=$5, data_check=$6, run=$7, "
                "link_check=$8 WHERE root_id=$1 AND digest=$3",
                (self._root, *values, row_check(values)),
            )

    def files(self) -> list[tuple[str, str]]:
        rows = self._connection.execute(
            "SELECT path, digest FROM file WHERE root_id = $1", (self._root,)
        )
        return [(path, content) for path, content in rows]

    def facts(self, path: str) -> bytes | None:
        row = self._connection.execute(
            "SELECT facts, facts_check FROM file WHERE root_id = $1 AND path = $2",
            (self._root, path),
        ).fetchone()
        if row is None:
            return None
        facts = bytes(row[0])
        return facts if row[1] == blob_check(path, facts) else None

    def verify(self, identity: Identity, snapshot: Snapshot) -> None:
        """Raise DamagedBackend if a segment is damaged, or links are missing."""
        stored, whole = self.stored()
        segments = self.opened(stored)
        if not whole or len(segments) < len(stored):
            raise DamagedBackend("the links of the index are damaged")
        if stored and stored[0].run == identity[1]:
            entries = snapshot.entries.items()
            checks = checked((path, entry.digest) for path, entry in entries)
            if placed(list(segments.values()), checks)[1]:
                raise DamagedBackend("links of the index are missing")
