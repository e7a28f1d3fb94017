"""The form of a prepared file in the content cache, where its key is a hash of path and bytes.

The facts, the postings and the vectors are cached, because they are expensive to compute. The
chunks, trigram signatures, symbol names and links are derived again from the facts and the file's
bytes. Vectors are stored at one byte per dimension, as in an index, and facts compressed as there,
so that they are compressed once.
"""

from __future__ import annotations

import hashlib
import zlib

import msgspec

from holdfast.files.code_check import code_check
from holdfast.files.secrets import masked
from holdfast.index.building.prepare import PREPARED_VERSION, chunks_of
from holdfast.index.calls.file_terms import packed_terms
from holdfast.index.embedding.provider import usable
from holdfast.index.facts import model as facts_of
from holdfast.index.facts.languages import made_without_grammar
from holdfast.index.facts.model import FACTS_VERSION
from holdfast.index.generations.model import PreparedFile, SourceFile
from holdfast.index.generations.packing import packed
from holdfast.index.search import trigrams
from holdfast.index.search.posting_segment import LEVELS, quantised

CACHED_VERSION = 3
"""The form of a cached file; part of its key.

- 1: facts and postings compressed together.
- 2: facts compressed on their own, as an index has them.
- 3: vectors are not compressed.
"""


class _Cached(msgspec.Struct, array_like=True, gc=False):
    """Vectors have no repeated runs, so they are not compressed."""

    language: str
    problem: str | None
    facts: bytes
    postings: bytes
    vectors: bytes


_SECRETS = code_check("secrets.py")
"""Of the code that masks secrets: what older code left in plain text is not used."""
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(_Cached).decode


def pack(file: PreparedFile, dimension: int) -> bytes:
    """The parts of a prepared file that are expensive to compute: facts, postings and vectors."""
    vectors = _small(file.vectors, dimension)
    facts = file.packed_facts or packed(file.facts)
    return _encode(_Cached(file.language, file.problem, facts, packed(file.postings), vectors))


def _small(vectors: bytes, dimension: int) -> bytes:
    """The largest number of each vector, then the vectors at one byte per dimension."""
    import numpy as np

    rows = np.frombuffer(vectors, dtype=np.float32).reshape(-1, max(dimension, 1))
    levels, _ = quantised(rows)
    peaks = np.asarray(np.abs(rows).max(axis=1, initial=0.0), dtype="<f4")
    return peaks.tobytes() + levels.tobytes()


def _large(data: bytes, rows: int, dimension: int) -> bytes | None:
    """Vectors that an index stores exactly like the original ones; None if damaged."""
    import numpy as np

    if not data:
        return b""
    if len(data) != rows * (4 + dimension):
        return None
    peaks = np.frombuffer(data, dtype="<f4", count=rows)
    if not usable(peaks):
        return None
    levels = np.frombuffer(data, dtype=np.int8, offset=rows * 4).reshape(rows, dimension)
    vectors = (levels * (peaks / np.float32(LEVELS))[:, None]).astype(np.float32)
    # The largest number must be exact: the scale is computed from it.
    largest = np.abs(levels) == LEVELS
    vectors[largest] = (np.sign(levels) * peaks[:, None])[largest]
    return vectors.tobytes()


def unpack(data: bytes | memoryview, file: SourceFile, dimension: int) -> PreparedFile | None:
    """The prepared file, from its cached parts and its bytes; None if they do not match."""
    try:
        cached = _decode(data)
        encoded, postings = zlib.decompress(cached.facts), zlib.decompress(cached.postings)
        facts = facts_of.decode(encoded)
    except (msgspec.DecodeError, zlib.error):
        return None
    # As in `prepare`: secrets are masked first.
    left_out = cached.problem in ("binary", "minified")
    chunks = () if left_out else chunks_of(masked(file.source), facts)
    vectors = _large(cached.vectors, len(chunks), dimension)
    if vectors is None:
        return None
    return PreparedFile(
        file.path, file.entry, cached.language, cached.problem, encoded, chunks, postings,
        vectors, trigrams.signatures_of(chunks, file.entry.stat.size_bytes),
        trigrams.encode_names(facts.symbols), packed_terms(facts), cached.facts,
    )  # fmt: skip


def prepared_key(path: str, digest: str, maker: str) -> bytes:
    """The cache key of a prepared file; `maker` names the extractor and the embedding."""
    maker += "\0no grammar" if made_without_grammar(path) else ""
    versions = f"{CACHED_VERSION}.{PREPARED_VERSION}.{FACTS_VERSION}"
    text = f"{versions}\0{_SECRETS}\0{maker}\0{path}\0{digest}"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:20]


def vector_key(text: str, maker: str) -> bytes:
    return hashlib.sha256(f"{maker}\0{text}".encode("utf-8", "surrogatepass")).digest()[:20]
