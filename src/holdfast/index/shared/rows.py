"""A prepared file as two rows that others may use. Pure.

The key of a row is a hash of everything it was made from: the file's path and content, the versions
of the extractor, and for the second row the digest of the embedding model. So a row is never out of
date, and all machines compute the same one.

    facts      language, problem, facts, signatures and names for exact search
    ranking    postings and vectors

The text of a file is in neither: chunks are cut from the reader's own bytes. Each row begins with a
checksum over its key and its content, keyed with the team's secret if there is one. A row that is
damaged, wrong or of another file is refused, and the file is prepared again.
"""

from __future__ import annotations

import hashlib
import hmac

import msgspec

from holdfast.errors import CodeIndexError
from holdfast.index.building.prepare import PREPARED_VERSION, chunks_of
from holdfast.index.embedding.provider import usable_bytes
from holdfast.index.facts import model as facts_of
from holdfast.index.facts.languages import made_without_grammar
from holdfast.index.facts.model import FACTS_VERSION, MODULE, FileFacts
from holdfast.index.generations.model import PreparedChunk, PreparedFile, SourceFile
from holdfast.index.search.posting_segment import unpack_file

ROW_VERSION = 1
"""The format of a row; part of its key, so that rows of several formats live side by side.

1: BLAKE2b (16 bytes) of key and content, then MessagePack.
"""

CHECK_BYTES = 16
KEY_BYTES = 20
ROW_BYTES_MAX = 64 * 1024 * 1024


class FactsRow(msgspec.Struct, array_like=True, gc=False):
    """The data of a file for outlines, call graphs and exact search."""

    language: str
    problem: str | None
    facts: bytes
    signatures: bytes
    names: bytes
    links: bytes = b""


class RankingRow(msgspec.Struct, array_like=True, gc=False):
    """The data of a file for ranking."""

    postings: bytes
    vectors: bytes


_encode = msgspec.msgpack.Encoder().encode
_facts_row = msgspec.msgpack.Decoder(FactsRow).decode
_ranking_row = msgspec.msgpack.Decoder(RankingRow).decode


class Seal:
    """Computes and checks the checksums of rows; a secret is needed to make valid ones, if set."""

    def __init__(self, secret: str = "") -> None:
        self._key = hashlib.sha256(secret.encode()).digest() if secret else b""

    def check(self, key: bytes, value: bytes | memoryview) -> bytes:
        hasher = hashlib.blake2b(
            key, digest_size=CHECK_BYTES, key=self._key, person=b"holdfast row"
        )
        hasher.update(value)
        return hasher.digest()

    def close(self, key: bytes, value: bytes) -> bytes:
        return self.check(key, value) + value

    def open(self, key: bytes, stored: bytes) -> memoryview | None:
        """The value in a stored row; None if its checksum differs."""
        if not CHECK_BYTES <= len(stored) <= ROW_BYTES_MAX:
            return None
        value = memoryview(stored)[CHECK_BYTES:]
        agrees = hmac.compare_digest(stored[:CHECK_BYTES], self.check(key, value))
        return value if agrees else None


def facts_key(path: str, digest: str, extractor: str) -> bytes:
    return key_of("facts", extractor, *_missing(path), path, digest)


def ranking_key(path: str, digest: str, maker: str) -> bytes:
    """`maker` identifies the extractor and the model with its digest."""
    return key_of("ranking", maker, *_missing(path), path, digest)


def _missing(path: str) -> tuple[str, ...]:
    """Marks rows of a machine without a grammar, so that others do not use them."""
    return ("no grammar",) if made_without_grammar(path) else ()


def key_of(*parts: str) -> bytes:
    """The key of a row made from these values."""
    text = "\0".join((f"{ROW_VERSION}.{PREPARED_VERSION}.{FACTS_VERSION}", *parts))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:KEY_BYTES]


def facts_row(file: PreparedFile) -> bytes:
    return _encode(
        FactsRow(
            file.language, file.problem, file.facts, file.signatures, file.names, file.links
        )
    )  # fmt: skip


def encoded_facts(row: FactsRow) -> bytes:
    return _encode(row)


def row_of(value: memoryview) -> FactsRow | None:
    """A facts row; None if it cannot be decoded."""
    try:
        return _facts_row(value)
    except (msgspec.DecodeError, ValueError):
        return None


def is_of(row: FactsRow, path: str, size: int) -> bool:
    """Whether the facts of a row can belong to a file with this path and size."""
    try:
        facts = facts_of.decode(row.facts)
    except (msgspec.DecodeError, ValueError):
        return False
    return facts.path == path and facts.size == size and within(facts, size)


def ranking_row(file: PreparedFile) -> bytes:
    return _encode(RankingRow(file.postings, file.vectors))


class Made(msgspec.Struct, gc=False):
    """A facts row of a file, with the chunks cut from the file's own bytes."""

    row: FactsRow
    facts: FileFacts
    chunks: tuple[PreparedChunk, ...]


def opened_facts(value: memoryview, path: str, source: bytes) -> Made | None:
    """The facts in a row, if they can belong to this file; `source` is already masked."""
    try:
        row = _facts_row(value)
        facts = facts_of.decode(row.facts)
    except (msgspec.DecodeError, ValueError):
        return None
    if facts.path != path or facts.size != len(source) or not within(facts, len(source)):
        return None
    left_out = row.problem in ("binary", "minified")
    return Made(row, facts, () if left_out else chunks_of(source, facts))


def opened_file(
    facts: memoryview, ranking: memoryview, file: SourceFile, masked: bytes, dimension: int
) -> PreparedFile | None:
    """The prepared file in its two rows; None if they do not fit the file or each other."""
    parts = opened_facts(facts, file.path, masked)
    if parts is None:
        return None
    try:
        ranked = _ranking_row(ranking)
        rows = unpack_file(ranked.postings).rows if parts.chunks else 0
    except (msgspec.DecodeError, CodeIndexError, ValueError):
        return None
    wanted = len(parts.chunks)
    if rows != wanted or len(ranked.vectors) != wanted * dimension * 4:
        return None
    if not usable_bytes(ranked.vectors):
        return None
    row = parts.row
    return PreparedFile(
        file.path, file.entry, row.language, row.problem, row.facts, parts.chunks, ranked.postings,
        ranked.vectors, row.signatures, row.names, row.links,
    )  # fmt: skip


def within(facts: FileFacts, size: int) -> bool:
    """Whether all positions in the facts are in the file, and all owners are its symbols."""
    symbols = len(facts.symbols)
    spans = [symbol.span for symbol in facts.symbols] + [chunk.span for chunk in facts.chunks]
    if any(not 0 <= span.start <= span.end <= size for span in spans):
        return False
    owners = [chunk.owner for chunk in facts.chunks] + [call.caller for call in facts.calls]
    parents = [symbol.parent for symbol in facts.symbols]
    return all(owner == MODULE or 0 <= owner < symbols for owner in owners + parents)
