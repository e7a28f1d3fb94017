"""The chunks of a root's file; neighbouring chunks are stored in one row, compressed together.

Many small texts compress well together, and their lines and names cost little in addition. Reading
one chunk means decompressing a few others. A row is found by the id of its first chunk.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import count, groupby
from typing import TYPE_CHECKING, Any

import apsw
import msgspec

from holdfast.index.bounded_cache import BoundedCache
from holdfast.index.errors import DamagedBackend
from holdfast.index.generations.checksums import encode, row_check
from holdfast.index.generations.packing import packed

if TYPE_CHECKING:
    from holdfast.index.generations.model import ChunkId, PreparedChunk, StoredChunk

ORDINAL_BITS = 20
"""The id of a chunk is its file's number and, in the lowest bits, its position in the file."""
CHARACTERS = 4_096
"""A row is full when its texts have this many characters. With larger rows, the index is a little
smaller, and a search, which shows a few chunks of many files, unpacks more."""
RECENT_ROWS_BYTES_MAX, RECENT_CHUNKS_BYTES_MAX = 4 << 20, 8 << 20
GENERATIONS_MAX, SERIAL_SHIFT = 64, 64
CHUNK_OVERHEAD_BYTES = 500
"""About what a chunk takes in memory beside its text."""

Place = tuple[int, int, str | None, str | None, str]
"""The first and last line of a chunk, its symbol's id, its label and its kind."""


class StoredRow(msgspec.Struct, array_like=True, gc=False):
    """Consecutive chunks of one file; their places are decoded when they are needed."""

    texts: list[str]
    places: msgspec.Raw


_decode = msgspec.msgpack.Decoder(StoredRow).decode
_decode_places = msgspec.msgpack.Decoder(list[Place]).decode
_DAMAGED = "a chunk of the index is damaged: its checksum differs"
_MISSING = "a chunk of the index is missing"
_BEGINS = "SELECT value, (SELECT max(id) FROM chunk WHERE id <= value) FROM json_each(?)"
_ROWS = "SELECT id, data, chunk_check FROM chunk WHERE id IN (SELECT value FROM json_each(?))"
_ROW_AT = "SELECT id, data, chunk_check FROM chunk WHERE id <= ? ORDER BY id DESC LIMIT 1"


def put_chunks(connection: apsw.Connection, number: int, chunks: Sequence[PreparedChunk]) -> None:
    """Store the chunks of the file with this number."""
    first = number << ORDINAL_BITS
    at = size = 0
    rows = []
    for end, chunk in enumerate(chunks, 1):
        size += len(chunk.text)
        if size >= CHARACTERS or end == len(chunks):
            some = chunks[at:end]
            data = packed(encode((_texts(some), _places(some))))
            rows.append((first + at, data, row_check((first + at, data))))
            at, size = end, 0
    connection.executemany("INSERT INTO chunk VALUES (?,?,?)", rows)


def _texts(chunks: Sequence[PreparedChunk]) -> list[str]:
    return [chunk.text for chunk in chunks]


def _places(chunks: Sequence[PreparedChunk]) -> list[Place]:
    return [(c.start_line, c.end_line, c.symbol_id, c.label, c.kind) for c in chunks]


def remove_chunks(connection: apsw.Connection, number: int) -> None:
    first, last = number << ORDINAL_BITS, (number + 1) << ORDINAL_BITS
    connection.execute("DELETE FROM chunk WHERE id >= ? AND id < ?", (first, last))


def opened(number: object, data: object, check: object) -> StoredRow:
    """The chunks in a row; raises DamagedBackend if it is damaged."""
    return _decoded(_unpacked(number, data, check))


def _unpacked(number: object, data: object, check: object) -> bytes:
    if check == row_check((number, data)) and isinstance(data, bytes):
        with suppress(zlib.error):
            return zlib.decompress(data)
    raise DamagedBackend(_DAMAGED)


def _decoded(data: bytes) -> StoredRow:
    with suppress(msgspec.DecodeError, UnicodeDecodeError):
        return _decode(data)
    raise DamagedBackend(_DAMAGED)


def places_of(row: StoredRow) -> list[Place]:
    """The places of the chunks in a row; raises DamagedBackend if their number is wrong."""
    with suppress(msgspec.DecodeError, UnicodeDecodeError):
        places = _decode_places(row.places)
        if len(places) == len(row.texts):
            return places
    raise DamagedBackend("a chunk of the index is damaged: its place cannot be read")


class Recent:
    """What was read lately, by the identity of its generation: the next question often finds the
    same chunks, or others of the same files.

    Rows are not decoded: objects would have to be visited by the garbage collector. Chunks are, so
    there are fewer of them.
    """

    def __init__(self) -> None:
        self.rows: BoundedCache[tuple[object, int], bytes] = BoundedCache(RECENT_ROWS_BYTES_MAX)
        """Unpacked rows by id."""
        self._chunks: BoundedCache[int, StoredChunk] = BoundedCache(RECENT_CHUNKS_BYTES_MAX)
        self._serials: dict[object, int] = {}
        """A number for each generation, which is quicker to look up as part of a key."""
        self._next_serial = count()

    def chunks(self, generation: object, ids: Sequence[ChunkId]) -> dict[ChunkId, StoredChunk]:
        """Those of these chunks that are there."""
        first = self._first_key(generation)
        keys = [first | number << ORDINAL_BITS | ordinal for number, ordinal in ids]
        return {chunk.id: chunk for chunk in self._chunks.several(keys)}

    def keep(self, generation: object, chunks: Iterable[StoredChunk]) -> None:
        first = self._first_key(generation)
        for chunk in chunks:
            (number, ordinal), size = chunk.id, len(chunk.text) + CHUNK_OVERHEAD_BYTES
            self._chunks.put(first | number << ORDINAL_BITS | ordinal, chunk, size)

    def _first_key(self, generation: object) -> int:
        serial = self._serials.get(generation)
        if serial is None:
            if len(self._serials) >= GENERATIONS_MAX:
                self._serials.clear()  # Their chunks are not found any more, and go in time.
            serial = self._serials.setdefault(generation, next(self._next_serial))
        return serial << SERIAL_SHIFT


def read_rows(
    connection: apsw.Connection, chunks: Sequence[int], recent: Recent, generation: object
) -> Iterator[tuple[StoredRow, int, list[int]]]:
    """The same as `rows_of`; rows that were read before for this generation are not unpacked."""
    pairs: list[Any] = connection.execute(_BEGINS, (str(list(chunks)),)).fetchall()
    begins: dict[int, int] = dict(pairs)
    unpacked = {begin: recent.rows.get((generation, begin)) for begin in set(begins.values())}
    unread = [begin for begin, data in unpacked.items() if data is None]
    if None in unread:
        raise DamagedBackend(_MISSING)
    if unread:
        rows: list[Any] = connection.execute(_ROWS, (str(unread),)).fetchall()
        for stored in rows:
            unpacked[stored[0]] = opened_row = _unpacked(*stored)
            recent.rows.put((generation, stored[0]), opened_row, len(opened_row))
    for begin, some in groupby(chunks, key=begins.__getitem__):
        keys = list(some)
        data = unpacked[begin]
        row = StoredRow([], _NOTHING) if data is None else _decoded(data)
        if keys[-1] >= begin + len(row.texts):
            raise DamagedBackend(_MISSING)
        yield row, begin, keys


def rows_of(
    connection: apsw.Connection, chunks: Sequence[int]
) -> Iterator[tuple[StoredRow, int, list[int]]]:
    """The rows of chunks, given by ids in ascending order.

    Yields each row with the id of its first chunk, and the requested ids that are in it.
    """
    at = 0
    while at < len(chunks):
        rows: list[Any] = connection.execute(_ROW_AT, (chunks[at],)).fetchall()
        begin: int = rows[0][0] if rows else 0
        row = opened(*rows[0]) if rows else StoredRow([], _NOTHING)
        last = begin + len(row.texts)
        end = at
        while end < len(chunks) and begin <= chunks[end] < last:
            end += 1
        if end == at:
            raise DamagedBackend(_MISSING)
        yield row, begin, list(chunks[at:end])
        at = end


_NOTHING = msgspec.Raw(b"\x90")
