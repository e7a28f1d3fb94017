"""The segments of links on SQLite: rows in the tables, data in files beside them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from holdfast.index.generations.link_files import LinkRow, open_links
from holdfast.index.generations.sqlite import tables

if TYPE_CHECKING:
    import apsw

    from holdfast.index.calls.link_segment import LinkSegment
    from holdfast.index.generations.segment_files import SegmentFiles


class SqliteLinks:
    """The links of one root, for a writer."""

    def __init__(self, connection: apsw.Connection, files: SegmentFiles) -> None:
        self._connection, self._files = connection, files

    def stored(self) -> tuple[list[LinkRow], bool]:
        return tables.stored_links(self._connection)

    def is_there(self, one: LinkRow) -> bool:
        return self._files.size_of(one.digest) == one.size_bytes

    def opened(self, rows: Iterable[LinkRow]) -> dict[str, LinkSegment]:
        return open_links(self._files.mapped_links, rows, {})

    def write(self, data: bytes) -> str:
        return self._files.write_data(data)

    def put(self, rows: Sequence[LinkRow]) -> None:
        tables.put_links(self._connection, rows)

    def files(self) -> list[tuple[str, str]]:
        return tables.rows(self._connection, "SELECT path, digest FROM file NOT INDEXED")

    def facts(self, path: str) -> bytes | None:
        row = tables.row(
            self._connection,
            "SELECT facts, facts_check FROM file JOIN facts ON file_id = id WHERE path = ?",
            (path,),
        )
        return tables.unpacked_facts(path, *row) if row is not None else None
