"""Reading one generation on PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from holdfast.files.snapshot import Entry, Snapshot, Stat
from holdfast.index.errors import BackendUnavailable, DamagedBackend
from holdfast.index.generations.checksums import blob_check, crc32, encode, row_check
from holdfast.index.generations.model import ChunkId, Identity, StoredChunk, Totals
from holdfast.index.generations.postgres import tables
from holdfast.index.generations.postgres.links import PostgresLinks
from holdfast.index.search.trigrams import KeptFile

if TYPE_CHECKING:
    import psycopg

    from holdfast.index.calls.link_segment import LinkSegment
    from holdfast.index.search.corpus import Corpus

_CHUNK = (
    f"SELECT file_id, {tables.CHUNK}, chunk_check, language FROM chunk "
    "JOIN file ON file.root_id = chunk.root_id AND file.id = file_id"
)
_ASKED = "JOIN unnest($2::bigint[], $3::bigint[]) AS asked (number, place) ON file_id = number AND ordinal = place"  # noqa: E501

FILES_AT_ONCE = 200
SPOTS = 6
"""How many files from each end of the index `spot_check` reads, whatever the size of the tree."""


def _checked_chunks(rows: Iterable[tuple[Any, ...]]) -> Iterator[StoredChunk]:
    """The chunks in rows of `_CHUNK`; raises DamagedBackend if one is damaged."""
    for row in rows:
        number, path, ordinal, first, last, symbol_id, label, kind, text, check, language = row
        if check != crc32(encode(row[1:9])):
            raise tables.damaged_file(path)
        identity = number, ordinal
        yield StoredChunk(identity, path, language, first, last, text, symbol_id, label, kind)


class PostgresReader:
    """One generation, in a read-only transaction."""

    def __init__(self, connection: psycopg.Connection[Any], root: str, corpus: Any) -> None:
        self._connection, self._path, self._open = connection, root, corpus
        row = tables.root_row(connection, root)
        if row is None:
            raise BackendUnavailable(f"nothing is stored for {root}")
        self._root, self._root_row = row
        self.identity: Identity = (self._root_row.generation, self._root_row.run)

    def snapshot(self) -> Snapshot:
        return tables.snapshot(self._connection, self._root, self._root_row)

    def snapshot_later(self) -> Callable[[], Snapshot]:
        snapshot = self.snapshot()
        return lambda: snapshot

    def totals(self) -> Totals:
        return tables.totals(self._connection, self._root)

    def corpus(self) -> Corpus:
        corpus: Corpus = self._open(self._path, self._root, self._connection, self.identity)
        return corpus

    def chunks(self, ids: Iterable[ChunkId]) -> dict[ChunkId, StoredChunk]:
        unique_ids = list(set(ids))
        rows = self._connection.execute(
            f"{_CHUNK} {_ASKED} WHERE chunk.root_id = $1",
            (self._root, [number for number, _ in unique_ids], [place for _, place in unique_ids]),
        )
        by_id = {chunk.id: chunk for chunk in _checked_chunks(rows)}
        tables.check_complete(len(by_id), len(unique_ids))
        return by_id

    def texts(self, ids: Sequence[ChunkId]) -> list[tuple[ChunkId, str]]:
        return [(id, chunk.text) for id, chunk in sorted(self.chunks(ids).items())]

    def chunks_of(self, path: str) -> list[StoredChunk]:
        place = self._place(path)
        if place is None:
            return []
        chunks = self.chunks((place[0], ordinal) for ordinal in range(place[4]))
        return [chunks[identity] for identity in sorted(chunks)]

    def _place(self, path: str) -> tuple[Any, ...] | None:
        """The number and the checked place of a file."""
        row: tuple[Any, ...] | None = self._connection.execute(
            f"SELECT id, {tables.PLACE}, place_check FROM file WHERE root_id = $1 AND path = $2",
            (self._root, path),
        ).fetchone()
        if row is None:
            return None
        if row[-1] != row_check(row[1:-1]):
            raise tables.damaged_file(path)
        return row

    def kept_files(self) -> list[KeptFile]:
        """Every file; without signatures and names where they are missing or damaged."""
        columns = (
            "signatures, names, trigram_check FROM file "
            "LEFT JOIN trigram ON trigram.root_id = file.root_id AND trigram.file_id = file.id"
        )
        there = tables.has(self._connection, "trigram")
        rows = self._connection.execute(
            f"SELECT id, {tables.PLACE}, place_check, "
            f"{columns if there else 'NULL, NULL, NULL FROM file'} "
            "WHERE file.root_id = $1 ORDER BY path",
            (self._root,),
        )
        files = []
        for row in rows:
            number, path, language, problem, count, _, _, check, signatures, names, whole = row
            if check != crc32(encode(row[1:7])):
                raise tables.damaged_file(path)
            if signatures is None or whole != blob_check(path, bytes(signatures), bytes(names)):
                files.append(KeptFile(number, path, language, problem, count, None, None))
                continue
            files.append(
                KeptFile(number, path, language, problem, count, bytes(signatures), bytes(names))
            )
        tables.check_complete(len(files), self._root_row.files)
        return files

    def entry(self, path: str) -> Entry | None:
        row = self._connection.execute(
            f"SELECT {tables.STAT}, stat_check FROM file WHERE root_id = $1 AND path = $2",
            (self._root, path),
        ).fetchone()
        if row is None:
            return None
        if row[-1] != row_check(row[:-1]):
            raise tables.damaged_file(path)
        return Entry(Stat(*row[2:5]), row[1])

    def facts(self, paths: Iterable[str]) -> dict[str, bytes]:
        rows = self._connection.execute(
            "SELECT path, facts, facts_check FROM file WHERE root_id = $1 AND path = ANY($2)",
            (self._root, list(paths)),
        )
        by_path = {}
        for path, stored, check in rows:
            facts = bytes(stored)
            if check != blob_check(path, facts):
                raise tables.damaged_file(path)
            by_path[path] = facts
        return by_path

    def all_facts(self) -> Iterable[tuple[str, bytes | None]]:
        rows = self._connection.execute(
            "SELECT path, facts, facts_check FROM file WHERE root_id = $1 ORDER BY path",
            (self._root,),
        )
        by_file: list[tuple[str, bytes | None]] = []
        for path, stored, check in rows:
            facts = bytes(stored)
            by_file.append((path, facts if check == blob_check(path, facts) else None))
        tables.check_complete(len(by_file), self._root_row.files)
        return by_file

    def links(self, open_segments: Mapping[str, LinkSegment]) -> dict[str, LinkSegment]:
        links = PostgresLinks(self._connection, self._root)
        return links.opened(links.stored()[0], open_segments)

    def listings(self) -> bytes | None:
        return None  # They describe one machine's checkout.

    def problems(self) -> Mapping[str, str]:
        rows = self._connection.execute(
            f"SELECT {tables.PLACE}, place_check FROM file "
            "WHERE root_id = $1 AND problem IS NOT NULL ORDER BY path",
            (self._root,),
        ).fetchall()
        for row in rows:
            if row[-1] != row_check(row[:-1]):
                raise tables.damaged_file(row[0])
        return {row[0]: row[2] for row in rows}

    def spot_check(self) -> None:
        """Read a few rows of every table; raises DamagedBackend if one is bad or missing."""
        paths: set[str] = set()
        for order in ("ASC", "DESC"):
            rows = self._connection.execute(
                f"SELECT path FROM file WHERE root_id = $1 ORDER BY path {order} LIMIT {SPOTS}",
                (self._root,),
            )
            paths.update(path for (path,) in rows)
        if bool(paths) != bool(self._root_row.files):
            raise DamagedBackend("the files of the index are missing")
        rows = self._connection.execute(
            "SELECT id FROM segment WHERE root_id = $1 AND length(postings) > 0", (self._root,)
        )
        segments = {number for (number,) in rows}
        for path in sorted(paths):
            place = self._place(path)
            if place is None or self.entry(path) is None or path not in self.facts([path]):
                raise tables.damaged_file(path)
            if place[5] is not None and place[5] not in segments:
                raise DamagedBackend("a segment of the index is missing")
            if place[4]:
                self.chunks({(place[0], 0), (place[0], place[4] - 1)})

    def verify(self, dimension: int) -> None:
        """Read every row of the generation; raises DamagedBackend at the first bad one."""
        PostgresLinks(self._connection, self._root).verify(self.identity, self.snapshot())
        placed = tables.placed_files(self._connection, self._root)
        rows = self._connection.execute(
            "SELECT id FROM segment WHERE root_id = $1", (self._root,)
        ).fetchall()
        segments = {number for (number,) in rows}
        if not {file[3] for file in placed} <= segments:
            raise DamagedBackend("a segment of the index is missing")
        for number in sorted(segments):
            tables.segment(self._connection, self._root, number, dimension)
        for path, facts in self.all_facts():
            if facts is None:
                raise tables.damaged_file(path)
        for file in self.kept_files():
            if file.signatures is None:
                raise tables.damaged_file(file.path)
        chunks = 0
        numbers = [file[0] for file in placed]
        for at in range(0, len(numbers), FILES_AT_ONCE):
            some = self._connection.execute(
                f"{_CHUNK} WHERE chunk.root_id = $1 AND file_id = ANY($2)",
                (self._root, numbers[at : at + FILES_AT_ONCE]),
            )
            chunks += sum(1 for _ in _checked_chunks(some))
        tables.check_complete(chunks, self._root_row.chunks)
