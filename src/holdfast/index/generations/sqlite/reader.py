"""Reading one generation on SQLite."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import apsw

from holdfast.files.snapshot import Entry, Snapshot, Stat
from holdfast.index.errors import DamagedBackend
from holdfast.index.generations.checksums import blob_check, crc32, encode, row_check
from holdfast.index.generations.link_files import checked, open_links, placed
from holdfast.index.generations.model import ChunkId, Identity, StoredChunk, Totals
from holdfast.index.generations.segment_files import SegmentFiles
from holdfast.index.generations.sqlite import chunks, file_lists, tables
from holdfast.index.generations.sqlite.chunks import ORDINAL_BITS, Recent

if TYPE_CHECKING:
    from holdfast.index.calls.link_segment import LinkSegment
    from holdfast.index.search.corpus import Corpus
    from holdfast.index.search.trigrams import KeptFile

SPOTS = 12
"""How many files of an index `spot_check` reads, whatever the size of the tree."""
NUMBERS_AT_ONCE = 40
_NAMED = f"SELECT {tables.PLACED} FROM file WHERE id IN ({', '.join('?' * NUMBERS_AT_ONCE)})"
_FACTS = "SELECT facts, facts_check FROM facts WHERE file_id = ?"
_LOW = (1 << ORDINAL_BITS) - 1


class SqliteReader:
    """One generation, in a read transaction."""

    def __init__(
        self,
        connection: apsw.Connection,
        corpus: Any,
        root: str,
        files: SegmentFiles,
        recent: Recent,
    ) -> None:
        self._connection, self._open, self._root = connection, corpus, root
        self._segments, self._recent = files, recent
        known = tables.meta(connection)
        self.identity: Identity = (int(known.get("generation") or 0), str(known.get("run") or ""))
        self._paths: frozenset[str] | None = None

    def snapshot(self) -> Snapshot:
        return file_lists.snapshot(self._connection)

    def snapshot_later(self) -> Callable[[], Snapshot]:
        return file_lists.manifest(self._connection)

    def totals(self) -> Totals:
        return tables.totals(self._connection)

    def corpus(self) -> Corpus:
        corpus: Corpus = self._open(self._root, self._connection, self.identity)
        return corpus

    def chunks(self, ids: Iterable[ChunkId]) -> dict[ChunkId, StoredChunk]:
        return self._chunks(ids, self._recent)

    def _chunks(self, ids: Iterable[ChunkId], recent: Recent) -> dict[ChunkId, StoredChunk]:
        asked = list(ids)
        known = recent.chunks(self.identity, asked)
        unread = [identity for identity in asked if identity not in known]
        if unread:
            read = self._read_chunks(unread, recent)
            recent.keep(self.identity, read.values())
            known.update(read)
        return known

    def _read_chunks(self, ids: Iterable[ChunkId], recent: Recent) -> dict[ChunkId, StoredChunk]:
        by_id: dict[ChunkId, StoredChunk] = {}
        wanted = _keys(ids)
        files = self._names({key >> ORDINAL_BITS for key in wanted})
        for row, begin, keys in chunks.read_rows(self._connection, wanted, recent, self.identity):
            number, places = begin >> ORDINAL_BITS, chunks.places_of(row)
            path, language = files[number]
            for key in keys:
                first, last, symbol_id, label, kind = places[key - begin]
                identity, text = (number, key & _LOW), row.texts[key - begin]
                by_id[identity] = StoredChunk(
                    identity, path, language, first, last, text, symbol_id, label, kind
                )
        return by_id

    def _names(self, numbers: Collection[int]) -> dict[int, tuple[str, str]]:
        """The path and the language of each of these files."""
        names = {}
        wanted = list(numbers)
        for at in range(0, len(wanted), NUMBERS_AT_ONCE):
            some = wanted[at : at + NUMBERS_AT_ONCE]
            # Always the same number of parameters, so that the statement is prepared once.
            some += some[-1:] * (NUMBERS_AT_ONCE - len(some))
            for row in tables.rows(self._connection, _NAMED, some):
                if row[-1] != row_check(row[:-1]):
                    raise tables.damaged_file(row[1])
                names[row[0]] = row[1], row[2]
        _check_complete(len(names), len(wanted))
        return names

    def texts(self, ids: Sequence[ChunkId]) -> list[tuple[ChunkId, str]]:
        return [
            ((key >> ORDINAL_BITS, key & _LOW), row.texts[key - begin])
            for row, begin, keys in chunks.rows_of(self._connection, _keys(ids))
            for key in keys
        ]

    def chunks_of(self, path: str) -> list[StoredChunk]:
        place = self._place(path)
        if place is None:
            return []
        chunks = self.chunks((place[0], ordinal) for ordinal in range(place[4]))
        return [chunks[identity] for identity in sorted(chunks)]

    def _place(self, path: str) -> tuple[Any, ...] | None:
        row: tuple[Any, ...] | None = tables.row(
            self._connection, f"SELECT {tables.PLACED} FROM file WHERE path = ?", (path,)
        )
        if row is None:
            self._check_missing(path)
        elif row[-1] != row_check(row[:-1]):
            raise tables.damaged_file(path)
        return row

    def _check_missing(self, path: str) -> None:
        """Raise DamagedBackend if a file exists that was not found by its path.

        SQLite finds a path by its own index, which has no checksums.
        """
        if self._paths is None:
            listed = tables.rows(self._connection, "SELECT path FROM file NOT INDEXED")
            self._paths = frozenset(name for (name,) in listed)
        if path in self._paths:
            raise tables.damaged_file(path)

    def kept_files(self) -> list[KeptFile]:
        """Every file; without signatures and names where they are missing or damaged."""
        from holdfast.index.search.trigrams import KeptFile

        there = tables.row(self._connection, "SELECT 1 FROM sqlite_schema WHERE name = 'trigram'")
        columns = "signatures, names, trigram_check FROM file LEFT JOIN trigram ON file_id = id"
        files = []
        for row in self._connection.execute(
            f"SELECT {tables.PLACED}, {columns if there else 'NULL, NULL, NULL FROM file'}"
        ):
            place, (signatures, names, check) = row[:7], row[8:]
            if row[7] != row_check(place):
                raise tables.damaged_file(place[1])
            number, path, language, problem, count, _, _ = place
            if not _is_intact(path, check, signatures, names):
                signatures = names = None
            files.append(KeptFile(number, path, language, problem, count, signatures, names, True))
        _check_complete(len(files), self._files())
        return sorted(files, key=lambda file: file.path)

    def _files(self) -> int:
        return int(tables.meta(self._connection).get("files", 0))

    def entry(self, path: str) -> Entry | None:
        row = tables.row(
            self._connection, f"SELECT {tables.STAT}, stat_check FROM file WHERE path = ?", (path,)
        )
        if row is None:
            self._check_missing(path)
            return None
        if row[-1] != row_check(row[:-1]):
            raise tables.damaged_file(path)
        return Entry(Stat(*row[3:6]), row[2])

    def facts(self, paths: Iterable[str]) -> dict[str, bytes]:
        by_path = {}
        for path in paths:
            row = tables.row(
                self._connection,
                "SELECT facts, facts_check FROM file LEFT JOIN facts ON file_id = id "
                "WHERE path = ?",
                (path,),
            )
            if row is None:
                self._check_missing(path)
                continue
            facts = tables.unpacked_facts(path, *row)
            if facts is None:
                raise tables.damaged_file(path)
            by_path[path] = facts
        return by_path

    def all_facts(self) -> Iterator[tuple[str, bytes | None]]:
        # Without the index of paths, where a damaged path would name a file that does not exist.
        placed = tables.rows(self._connection, f"SELECT {tables.PLACED} FROM file NOT INDEXED")
        for row in placed:
            if row[-1] != crc32(encode(row[:-1])):
                raise tables.damaged_file(row[1])
        _check_complete(len(placed), self._files())
        for number, path, *_ in sorted(placed, key=itemgetter(1)):
            facts_row = tables.row(self._connection, _FACTS, (number,))
            facts, check = facts_row or (None, None)
            yield path, tables.unpacked_facts(path, facts, check)

    def problems(self) -> Mapping[str, str]:
        rows = tables.rows(
            self._connection, f"SELECT {tables.PLACED} FROM file WHERE problem IS NOT NULL"
        )
        for row in rows:
            if row[-1] != row_check(row[:-1]):
                raise tables.damaged_file(row[1])
        return dict(sorted((row[1], row[3]) for row in rows))

    def links(self, open_segments: Mapping[str, LinkSegment]) -> dict[str, LinkSegment]:
        stored, _ = tables.stored_links(self._connection)
        return open_links(self._segments.mapped_links, stored, open_segments)

    def listings(self) -> bytes | None:
        return tables.stored_listings(self._connection)[0]

    def _verify_links(self) -> None:
        stored, whole = tables.stored_links(self._connection)
        segments = open_links(self._segments.mapped_links, stored, {})
        if not whole or len(segments) < len(stored):
            raise DamagedBackend("the links of the index are damaged")
        if stored and stored[0].run == self.identity[1]:
            entries = self.snapshot().entries
            checks = checked((path, entry.digest) for path, entry in entries.items())
            if placed(list(segments.values()), checks)[1]:
                raise DamagedBackend("links of the index are missing")

    def size_bytes(self) -> int:
        """The size that the file should have."""
        return int(self._connection.pragma("page_count")) * int(
            self._connection.pragma("page_size")
        )

    def spot_check(self) -> None:
        """Read a few rows of every table; raises DamagedBackend if one is bad or missing.

        Notices a destroyed index, at a cost that does not grow with the tree. One bad row among
        many is noticed when it is used, and by `verify`.
        """
        expected = self._files()
        first, last = tables.row(
            self._connection, "SELECT (SELECT min(id) FROM file), (SELECT max(id) FROM file)"
        )
        if (first is None) != (expected == 0):
            raise DamagedBackend(f"the files of the index are missing: it should have {expected}")
        if first is None:
            return
        stored = tables.stored_segments(self._connection)
        for segment in stored.values():
            self._segments.check_size(segment)
        segments = set(stored)
        for spot in range(SPOTS):
            at = first + (last - first) * spot // (SPOTS - 1)
            self._check_file(at, segments)

    def _check_file(self, number: int, segments: set[int]) -> None:
        """Check the first file from this number on, in every table and in the index of paths."""
        row = tables.row(
            self._connection, "SELECT path FROM file WHERE id >= ? ORDER BY id LIMIT 1", (number,)
        )
        place = self._place(row[0]) if row is not None else None
        if place is None or self.entry(place[1]) is None or place[1] not in self.facts([place[1]]):
            raise DamagedBackend("a file of the index is missing")
        if place[5] is not None and place[5] not in segments:
            raise DamagedBackend("a segment of the index is missing")
        if place[4]:
            # Not from the cache: this is about the file.
            self._chunks({(place[0], 0), (place[0], place[4] - 1)}, Recent())

    def verify(self, dimension: int) -> None:
        """Read every row of the generation; raises DamagedBackend at the first bad one."""
        known = tables.meta(self._connection)
        file_lists.verify(self._connection)
        placed = tables.placed_files(self._connection)
        segments = tables.stored_segments(self._connection)
        if not {file[3] for file in placed} <= segments.keys():
            raise DamagedBackend("a segment of the index is missing")
        for segment in segments.values():
            self._segments.verify(segment, dimension)
        self._verify_links()
        if not tables.stored_listings(self._connection)[1]:
            raise DamagedBackend("the listings of the index are damaged")
        for path, facts in self.all_facts():
            # `_place` also checks the index of paths, which lookups use.
            if facts is None or self._place(path) is None:
                raise tables.damaged_file(path)
        for file in self.kept_files():
            if file.signatures is None:
                raise tables.damaged_file(file.path)
        counted = 0
        for row in self._connection.execute("SELECT id, data, chunk_check FROM chunk"):
            counted += len(chunks.places_of(chunks.opened(*row)))
        _check_complete(counted, int(known.get("chunks", 0)))


def _keys(ids: Iterable[ChunkId]) -> list[int]:
    return sorted({number << ORDINAL_BITS | ordinal for number, ordinal in ids})


def _is_intact(path: object, check: object, *blobs: object) -> bool:
    """Whether large values of a file match their checksum."""
    if not isinstance(path, str):
        return False
    values = [blob for blob in blobs if isinstance(blob, bytes)]
    return len(values) == len(blobs) and check == blob_check(path, *values)


def _check_complete(files: int, expected: int) -> None:
    if files != expected:
        raise DamagedBackend(f"the index has {files} of {expected} rows that it should have")
