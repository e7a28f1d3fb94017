"""Reading one generation on SQLite."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import apsw

from holdfast.files.snapshot import Entry, Snapshot, Stat
from holdfast.index.generations.model import ChunkId, Identity, StoredChunk, Totals
from holdfast.index.generations.sqlite import tables
from holdfast.index.search.trigrams import KeptFile

if TYPE_CHECKING:
    from holdfast.index.search.corpus import Corpus

_CHUNK = (
    "SELECT chunk.id, path, language, start_line, end_line, text, symbol_id, label, kind "
    f"FROM chunk JOIN file ON file.id = chunk.id >> {tables.ORDINAL_BITS}"
)

KEYS_AT_ONCE = 40
_CHUNKS = f"{_CHUNK} WHERE chunk.id IN ({', '.join('?' * KEYS_AT_ONCE)})"


class SqliteReader:
    """One generation, in a read transaction."""

    def __init__(self, connection: apsw.Connection, corpus: Any, root: str) -> None:
        self._connection, self._open, self._root = connection, corpus, root
        self.identity: Identity = (
            int(tables.meta(connection, "generation") or 0),
            str(tables.meta(connection, "run") or ""),
        )

    def snapshot(self) -> Snapshot:
        return tables.snapshot(self._connection)

    def totals(self) -> Totals:
        return tables.totals(self._connection)

    def corpus(self) -> Corpus:
        found: Corpus = self._open(self._root, self._connection, self.identity)
        return found

    def chunks(self, ids: Iterable[ChunkId]) -> dict[ChunkId, StoredChunk]:
        found: dict[ChunkId, StoredChunk] = {}
        keys = [number << tables.ORDINAL_BITS | ordinal for number, ordinal in ids]
        low = (1 << tables.ORDINAL_BITS) - 1
        for at in range(0, len(keys), KEYS_AT_ONCE):
            some = keys[at : at + KEYS_AT_ONCE]
            # Always the same number of parameters, so that the statement is prepared once.
            some += some[-1:] * (KEYS_AT_ONCE - len(some))
            for row in tables.rows(self._connection, _CHUNKS, some):
                identity = row[0] >> tables.ORDINAL_BITS, row[0] & low
                found[identity] = StoredChunk(identity, *row[1:])
        return found

    def texts(self, ids: Sequence[ChunkId]) -> list[tuple[ChunkId, str]]:
        rows = sorted(number << tables.ORDINAL_BITS | ordinal for number, ordinal in ids)
        found: list[tuple[int, str]] = []
        at = 0
        while at < len(rows):
            # Chunks of a file mostly come in runs, so one query reads a run.
            end = at + 1
            while end < len(rows) and rows[end] == rows[end - 1] + 1:
                end += 1
            query = "SELECT id, text FROM chunk WHERE id BETWEEN ? AND ? ORDER BY id"
            found += tables.rows(self._connection, query, (rows[at], rows[end - 1]))
            at = end
        low = (1 << tables.ORDINAL_BITS) - 1
        return [((row >> tables.ORDINAL_BITS, row & low), text) for row, text in found]

    def chunks_of(self, path: str) -> list[StoredChunk]:
        row = tables.row(
            self._connection, "SELECT id, chunk_count FROM file WHERE path = ?", (path,)
        )
        if row is None:
            return []
        found = self.chunks((row[0], ordinal) for ordinal in range(row[1]))
        return [found[identity] for identity in sorted(found)]

    def kept_files(self) -> list[KeptFile]:
        there = tables.row(self._connection, "SELECT 1 FROM sqlite_schema WHERE name = 'trigram'")
        kept = "signatures, names FROM file LEFT JOIN trigram ON file_id = id"
        found = tables.rows(
            self._connection,
            "SELECT id, path, language, problem, chunk_count, "
            f"{kept if there else 'NULL, NULL FROM file'} ORDER BY path",
        )
        return [KeptFile(*row) for row in found]

    def entry(self, path: str) -> Entry | None:
        row = tables.row(
            self._connection,
            "SELECT size_bytes, mtime_ns, ctime_ns, digest FROM file WHERE path = ?",
            (path,),
        )
        return None if row is None else Entry(Stat(*row[:3]), row[3])

    def facts(self, paths: Iterable[str]) -> dict[str, bytes]:
        found = {}
        for path in paths:
            row = tables.row(
                self._connection,
                "SELECT facts FROM file JOIN facts ON file_id = id WHERE path = ?",
                (path,),
            )
            if row is not None:
                found[path] = row[0]
        return found

    def all_facts(self) -> Iterable[tuple[str, bytes]]:
        return tables.rows(
            self._connection,
            "SELECT path, facts FROM file JOIN facts ON file_id = id ORDER BY path",
        )

    def problems(self) -> Mapping[str, str]:
        return dict(
            tables.rows(
                self._connection,
                "SELECT path, problem FROM file WHERE problem IS NOT NULL ORDER BY path",
            )
        )
