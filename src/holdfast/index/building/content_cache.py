"""A cache of prepared files and vectors, by content, shared by all roots.

Trees share most of their files: branches, clones, worktrees, the same tree a minute later. A
prepared file depends only on its path and bytes, and a remote vector only on its text, so both are
cached under hashes. Each entry has a checksum; one that is missing or damaged is made again. The
file is written without waiting for the disk, so a power cut may damage it: then it is replaced. A
file that a newer version wrote is neither used nor changed.
"""

from __future__ import annotations

import hashlib
import os
import struct
from collections.abc import Iterable, Sequence
from pathlib import Path
from zlib import crc32

import apsw
import msgspec

from holdfast.index.building.prepare import PREPARED_VERSION, chunks_of
from holdfast.index.embedding.provider import usable_bytes
from holdfast.index.facts import model as facts_of
from holdfast.index.facts.model import FACTS_VERSION
from holdfast.index.generations.model import PreparedFile, SourceFile

CONTENT_VERSION = 3
"""The tables' version; the file of an older version is replaced.

- 1: prepared(key, data), vector(key, row), kept in the order of their keys.
- 2: the same, but prepared in the order they came, with the keys apart: large values are written
  once and not moved by later inserts.
- 3: a value begins with the CRC-32 of its key and the rest.
"""
_CHECK = struct.Struct("<I")

BYTES_MAX = 2 * 1024**3
PAGE_BYTES = 16_384
_TABLES = """
CREATE TABLE prepared (key BLOB PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE vector (key BLOB PRIMARY KEY, row BLOB NOT NULL) WITHOUT ROWID;
"""


_DAMAGED = (apsw.CorruptError, apsw.NotADBError, apsw.SQLError, apsw.FormatError)


class _Cached(msgspec.Struct, array_like=True, gc=False):
    language: str
    problem: str | None
    facts: bytes
    postings: bytes
    vectors: bytes
    signatures: bytes
    names: bytes


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(_Cached)


def pack(file: PreparedFile) -> bytes:
    """The parts of a prepared file that are expensive to make: facts, postings and vectors."""
    return _encoder.encode(
        _Cached(
            file.language, file.problem, file.facts, file.postings, file.vectors, file.signatures,
            file.names,
        )
    )  # fmt: skip


def unpack(data: bytes | memoryview, file: SourceFile, dimension: int) -> PreparedFile | None:
    """The prepared file, from its cached parts and its bytes; None if they do not match."""
    try:
        cached = _decoder.decode(data)
        facts = facts_of.decode(cached.facts)
    except msgspec.DecodeError:
        return None
    chunks = (
        ()
        if cached.problem == "binary" or cached.problem == "minified"
        else chunks_of(file.source, facts)
    )
    if cached.vectors and len(cached.vectors) != len(chunks) * dimension * 4:
        return None
    if not usable_bytes(cached.vectors):
        return None
    return PreparedFile(
        file.path,
        file.entry,
        cached.language,
        cached.problem,
        cached.facts,
        chunks,
        cached.postings,
        cached.vectors,
        cached.signatures,
        cached.names,
    )


def prepared_key(path: str, digest: str, maker: str) -> bytes:
    """The cache key of a prepared file; `maker` names the extractor and the embedding."""
    text = f"{PREPARED_VERSION}\0{FACTS_VERSION}\0{maker}\0{path}\0{digest}"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:20]


def vector_key(text: str, maker: str) -> bytes:
    return hashlib.sha256(f"{maker}\0{text}".encode("utf-8", "surrogatepass")).digest()[:20]


def _sealed(key: bytes, value: bytes) -> bytes:
    return _CHECK.pack(crc32(value, crc32(key))) + value


def _opened(key: bytes, stored: object) -> memoryview | None:
    """The value in a stored entry, without copying it; None if it is damaged."""
    if not isinstance(stored, bytes) or len(stored) < _CHECK.size:
        return None
    value = memoryview(stored)[_CHECK.size :]
    return value if _CHECK.unpack_from(stored)[0] == crc32(value, crc32(key)) else None


class ContentCache:
    """Prepared files and vectors by hash, on SQLite. Never raises: at worst nothing is cached."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._connection: apsw.Connection | None = None
        self._damaged = False
        """Whether the file has to be replaced before something is added."""

    def _open(self, create: bool) -> apsw.Connection | None:
        if self._connection is None:
            if not create and not self._path.exists():
                return None
            try:
                self._connection = self._connected()
                if self._connection is None and create and self._damaged:
                    self._remove()
                    self._connection = self._connected()
            except (OSError, apsw.Error):
                return None
        return self._connection

    def _connected(self) -> apsw.Connection | None:
        """A connection to a file of this version; None if it is damaged or of a newer one."""
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not self._path.exists():
            os.close(os.open(self._path, os.O_CREAT | os.O_RDWR, 0o600))
        connection = apsw.Connection(str(self._path))
        try:
            connection.set_busy_timeout(1000)
            version = connection.pragma("user_version")
            if isinstance(version, int) and version > CONTENT_VERSION:
                connection.close()
                return None
            connection.execute(f"PRAGMA page_size={PAGE_BYTES}")  # for a new file
            connection.execute("PRAGMA journal_mode=WAL").fetchall()
            connection.execute("PRAGMA synchronous=OFF")
            if version != CONTENT_VERSION:
                with connection:
                    for table in ("prepared", "vector"):
                        connection.execute(f"DROP TABLE IF EXISTS {table}")
                    connection.execute(_TABLES)
                    connection.execute(f"PRAGMA user_version={CONTENT_VERSION}")
                if version:
                    connection.execute("VACUUM")
        except _DAMAGED:
            connection.close()
            self._damaged = True
            return None
        except BaseException:
            connection.close()
            raise
        return connection

    def _remove(self) -> None:
        self.close()
        for end in ("", "-wal", "-shm"):
            self._path.with_name(self._path.name + end).unlink(missing_ok=True)
        self._damaged = False

    def has_prepared(self) -> bool:
        """Whether the cache has any prepared file; if not, lookups can be skipped."""
        return self._row("SELECT 1 FROM prepared LIMIT 1", ()) is not None

    def prepared(self, key: bytes) -> memoryview | None:
        return self._get("SELECT data FROM prepared WHERE key = ?", key)

    def vectors(self, keys: Sequence[bytes], dimension: int) -> list[bytes | None]:
        """The vectors under these keys; None for one that is missing or damaged."""
        rows = [self._get("SELECT row FROM vector WHERE key = ?", key) for key in keys]
        width = dimension * 4
        return [
            bytes(row) if row and len(row) == width and usable_bytes(row) else None for row in rows
        ]

    def _get(self, sql: str, key: bytes) -> memoryview | None:
        row = self._row(sql, (key,))
        return None if row is None else _opened(key, row[0])

    def _row(self, sql: str, parameters: tuple[bytes, ...]) -> tuple[object, ...] | None:
        connection = self._open(create=False)
        if connection is None:
            return None
        try:
            found: tuple[object, ...] | None = connection.execute(sql, parameters).fetchone()
        except _DAMAGED:
            self._damaged = True
            return None
        except (apsw.Error, UnicodeDecodeError):  # The type of one value may be damaged.
            return None
        return found

    def keep_prepared(self, items: Iterable[tuple[bytes, bytes]]) -> None:
        self._keep("INSERT OR REPLACE INTO prepared VALUES (?,?)", items)

    def keep_vectors(self, items: Iterable[tuple[bytes, bytes]]) -> None:
        self._keep("INSERT OR REPLACE INTO vector VALUES (?,?)", items)

    def _keep(self, sql: str, items: Iterable[tuple[bytes, bytes]]) -> None:
        rows = [(key, _sealed(key, value)) for key, value in items]
        if not rows:
            return
        try:
            if self._damaged:
                self._remove()
            connection = self._open(create=True)
            if connection is None:
                return
            if self._path.stat().st_size > BYTES_MAX:
                with connection:  # The cache is full, which is rare: start again.
                    connection.execute("DELETE FROM prepared")
                connection.execute("VACUUM")
            with connection:
                connection.executemany(sql, rows)
        except _DAMAGED:
            self._damaged = True
        except (OSError, apsw.Error):
            return

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
