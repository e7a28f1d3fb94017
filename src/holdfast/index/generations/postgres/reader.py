"""Reading one generation on PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from holdfast.files.snapshot import Entry, Snapshot, Stat
from holdfast.index.errors import BackendUnavailable, DamagedBackend
from holdfast.index.facts import model as facts_of
from holdfast.index.generations.model import ChunkId, Identity, StoredChunk, Totals
from holdfast.index.generations.postgres import tables
from holdfast.index.search.trigrams import KeptFile

if TYPE_CHECKING:
    import psycopg

    from holdfast.index.search.corpus import Corpus

_CHUNK = (
    "SELECT file_id, ordinal, path, language, start_line, end_line, text, symbol_id, label, kind "
    "FROM chunk JOIN file ON file.id = file_id"
)


class PostgresReader:
    """One generation, in a read-only transaction."""

    def __init__(self, connection: psycopg.Connection[Any], root: str, corpus: Any) -> None:
        self._connection, self._path, self._open = connection, root, corpus
        row = connection.execute(
            "SELECT id, generation, run FROM root WHERE path = $1", (root,)
        ).fetchone()
        if row is None:
            raise BackendUnavailable(f"nothing is stored for {root}")
        self._root = row[0]
        self.identity: Identity = (row[1], row[2])

    def snapshot(self) -> Snapshot:
        return tables.snapshot(self._connection, self._root)

    def totals(self) -> Totals:
        return tables.totals(self._connection, self._root)

    def corpus(self) -> Corpus:
        found: Corpus = self._open(self._path, self._root, self._connection, self.identity)
        return found

    def chunks(self, ids: Iterable[ChunkId]) -> dict[ChunkId, StoredChunk]:
        asked = list(ids)
        found = self._connection.execute(
            f"{_CHUNK} JOIN unnest($2::bigint[], $3::bigint[]) AS asked (number, place) "
            "ON file_id = number AND ordinal = place WHERE root_id = $1",
            (self._root, [number for number, _ in asked], [place for _, place in asked]),
        )
        return {(row[0], row[1]): StoredChunk((row[0], row[1]), *row[2:]) for row in found}

    def texts(self, ids: Sequence[ChunkId]) -> list[tuple[ChunkId, str]]:
        numbers, ordinals = [n for n, _ in ids], [o for _, o in ids]
        found = self._connection.execute(
            "SELECT file_id, chunk.ordinal, text FROM chunk "
            "JOIN unnest($1::bigint[], $2::bigint[]) AS asked (number, ordinal) "
            "ON file_id = number AND chunk.ordinal = asked.ordinal ORDER BY 1, 2",
            (numbers, ordinals),
        )
        return [((number, ordinal), text) for number, ordinal, text in found]

    def chunks_of(self, path: str) -> list[StoredChunk]:
        found = self._connection.execute(
            f"{_CHUNK} WHERE root_id = $1 AND path = $2 ORDER BY ordinal",
            (self._root, path),
        )
        return [StoredChunk((row[0], row[1]), *row[2:]) for row in found]

    def kept_files(self) -> list[KeptFile]:
        kept = "signatures, names FROM file LEFT JOIN trigram ON trigram.file_id = file.id"
        found = self._connection.execute(
            "SELECT id, path, language, problem, chunk_count, "
            f"{kept if tables.has(self._connection, 'trigram') else 'NULL, NULL FROM file'} "
            "WHERE root_id = $1 ORDER BY path",
            (self._root,),
        )
        return [
            KeptFile(*row[:5], *(None if kept is None else bytes(kept) for kept in row[5:]))
            for row in found
        ]

    def entry(self, path: str) -> Entry | None:
        row = self._connection.execute(
            "SELECT size_bytes, mtime_ns, ctime_ns, digest FROM file "
            "WHERE root_id = $1 AND path = $2",
            (self._root, path),
        ).fetchone()
        return None if row is None else Entry(Stat(*row[:3]), row[3])

    def facts(self, paths: Iterable[str]) -> dict[str, bytes]:
        found = self._connection.execute(
            "SELECT path, facts FROM file WHERE root_id = $1 AND path = ANY($2)",
            (self._root, list(paths)),
        )
        return {row[0]: bytes(row[1]) for row in found}

    def all_facts(self) -> Iterable[tuple[str, bytes | None]]:
        found = self._connection.execute(
            "SELECT path, facts FROM file WHERE root_id = $1 ORDER BY path", (self._root,)
        )
        return [(row[0], bytes(row[1])) for row in found]

    def problems(self) -> Mapping[str, str]:
        found = self._connection.execute(
            "SELECT path, problem FROM file WHERE root_id = $1 AND problem IS NOT NULL "
            "ORDER BY path",
            (self._root,),
        )
        return dict(found.fetchall())

    def verify(self, dimension: int) -> None:
        """Read segments and facts; raises DamagedBackend at the first bad one.

        The other rows are the server's responsibility, whose pages have checksums of their own.
        """
        found = self._connection.execute(
            "SELECT id FROM segment WHERE root_id = $1", (self._root,)
        ).fetchall()
        for (number,) in found:
            tables.segment(self._connection, number, dimension)
        for path, facts in self.all_facts():
            try:
                facts_of.decode(facts or b"")
            except msgspec.DecodeError as error:
                raise DamagedBackend(f"the facts of {path!r} are damaged: {error}") from error
