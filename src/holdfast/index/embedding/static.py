"""The default embedding: a static model that is part of the wheel, so nothing is downloaded.

Each piece of the vocabulary has a learned vector and two learned weights, one for queries and one
for code. A text is the weighted sum of its pieces; there is no neural network to run, so a chunk
takes tens of microseconds. Code has three fields, on separate lines: the path, the symbol, the
text. Each is normalised before they are added, so that a long body does not outweigh the name.

The model relates `remove` and `delete`. It ignores word order, and relates unseen words only by
their spelling. `models/CARD.md` describes how it was trained.
"""

from __future__ import annotations

import hashlib
import json
import math
import mmap
import os
import struct
import threading
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from holdfast.index.embedding.pieces import PIECES_VERSION, Vocabulary, words_of
from holdfast.index.embedding.provider import finite
from holdfast.index.errors import EmbeddingFailed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

MODEL_FILE = Path(__file__).parent / "data" / "static.bin"
MAGIC = b"HFSTATIC"
FORMAT_VERSION = 1
"""The format of the model's file.

1: a JSON header, then the vocabulary (zlib), int8 vectors and two weights of each piece.
"""

ALIGNMENT = 64
COUNT_MAX = 255
"""Occurrences of a piece in a text are counted up to this."""
TEXTS_AT_ONCE = 256
"""How many texts are embedded together: more take memory and no less time."""


class Header(msgspec.Struct, frozen=True):
    """The header of a model file; `digest` is the SHA-256 of everything after it."""

    model: str
    digest: str
    dimension: int
    pieces: int
    fields: tuple[float, float, float]
    sections: dict[str, tuple[int, int]]
    body: int
    size: int


@cache
def read_header(path: Path = MODEL_FILE) -> Header:
    """Read only the header, so that computing a fingerprint does not load the model."""
    try:
        with path.open("rb") as file:
            start = file.read(12)
            magic, length = struct.unpack("<8sI", start)
            if magic != MAGIC:
                raise ValueError("not a model file")
            header = json.loads(file.read(length))
        if header["format"] != FORMAT_VERSION or header["pieces_version"] != PIECES_VERSION:
            raise ValueError(f"unsupported format {header['format']}; expected {FORMAT_VERSION}")
        body = -(-(12 + length) // ALIGNMENT) * ALIGNMENT
        sections = {name: (int(at), int(size)) for name, (at, size) in header["sections"].items()}
        a, b, c = header["fields"]
        size = body + max(at + length for at, length in sections.values())
        if path.stat().st_size != size:
            raise ValueError(f"expected {size} bytes")
        pieces, dimension = int(header["pieces"]), int(header["dimension"])
        _check_sections(sections, pieces, dimension)
        return Header(
            str(header["model"]), str(header["digest"]), dimension, pieces, (a, b, c), sections,
            body, size,
        )  # fmt: skip
    except (OSError, ValueError, KeyError, TypeError, AttributeError, struct.error) as error:
        raise EmbeddingFailed("static", f"the model {path.name} cannot be read: {error}") from error


def _check_sections(sections: dict[str, tuple[int, int]], pieces: int, dimension: int) -> None:
    """Raise ValueError unless the sections follow each other and have the sizes of their arrays."""
    sizes = {"vectors": pieces * dimension, "asked": pieces * 4, "told": pieces * 4}
    end = 0
    for name in ("vocabulary", *sizes):
        at, size = sections[name]
        if at != -(-end // ALIGNMENT) * ALIGNMENT or size != sizes.get(name, size):
            raise ValueError(f"the section {name} is not where it should be")
        end = at + size


def _check_digest(path: Path, header: Header) -> None:
    """Raise EmbeddingFailed unless a model matches its digest. Takes a few milliseconds."""
    digest = hashlib.sha256(json.dumps(list(header.fields)).encode())
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        digest.update(memoryview(data)[header.body :])
    if digest.hexdigest() != header.digest:
        raise EmbeddingFailed(
            "static",
            f"the model {path.name} is damaged: its digest differs",
            hint="install holdfast again",
        )


@contextmanager
def _checking(path: Path, header: Header) -> Iterator[None]:
    """Check the digest in a thread while the model is read, because both take as long.

    What the digest says is raised, if anything, rather than what reading a damaged model raises.
    """
    failures: list[BaseException] = []

    def check() -> None:
        try:
            _check_digest(path, header)
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=check, name="holdfast model check")
    try:
        thread.start()
    except RuntimeError:  # no thread could be started
        _check_digest(path, header)
        yield
        return
    try:
        yield
    finally:
        thread.join()
        if failures:
            raise failures[0]


class _Loaded(msgspec.Struct, frozen=True):
    vocabulary: Vocabulary
    vectors: Any
    query_weights: Any
    text_weights: Any
    amounts: Any
    fields: tuple[float, float, float]
    data: mmap.mmap

    def check_size(self) -> None:
        """Raise EmbeddingFailed if the file was truncated since it was mapped.

        Reading past the end of a mapped file kills the process (SIGBUS).
        """
        if self.data.size() < len(self.data):
            raise EmbeddingFailed(
                "static", "the model was truncated while it was open", hint="install holdfast again"
            )


@cache
def _load(path: Path, process: int) -> _Loaded:
    """Check and load the model. Its vectors are memory-mapped, so processes share them.

    Cached per process: a forked worker has the memory of its parent, but not the open file.
    """
    import numpy as np

    header = read_header(path)

    def mapped(name: str, kind: str, shape: tuple[int, ...]) -> Any:
        at = header.body + header.sections[name][0]
        return np.frombuffer(data, kind, math.prod(shape), at).reshape(shape)

    with _checking(path, header), path.open("rb") as file:
        data = mmap.mmap(file.fileno(), header.size, access=mmap.ACCESS_READ)
        at, size = header.sections["vocabulary"]
        file.seek(header.body + at)
        vocabulary = Vocabulary(zlib.decompress(file.read(size)).decode().split("\n"))
    shape = (header.pieces, header.dimension)
    return _Loaded(
        vocabulary,
        mapped("vectors", "<i1", shape),
        finite("static", mapped("asked", "<f4", shape[:1])),
        finite("static", mapped("told", "<f4", shape[:1])),
        np.sqrt(np.arange(COUNT_MAX + 1, dtype=np.float32)),
        header.fields,
        data,
    )


def _opened(path: Path) -> _Loaded:
    """The model, loaded once; each call checks that it was not truncated."""
    model = _load(path, os.getpid())
    model.check_size()
    return model


class StaticEmbedding:
    """The model in the wheel, or another file of the same format."""

    name = "static"
    local = True

    def __init__(self, path: Path = MODEL_FILE) -> None:
        header = read_header(path)
        self._path = path
        self.model = f"{header.model}-{header.digest[:16]}"
        self.dimension = header.dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row for each chunk: a line with its path, a line with its symbol, then its text."""
        import numpy as np

        model = _opened(self._path)
        out = np.zeros((len(texts), self.dimension), dtype=np.float32)
        of_path, of_symbol, of_text = model.fields
        for first in range(0, len(texts), TEXTS_AT_ONCE):
            fields: dict[str, int] = {}
            numbered = fields.setdefault
            numbers = [
                [numbered(field, len(fields)) for field in _fields(text)]
                for text in texts[first : first + TEXTS_AT_ONCE]
            ]
            units = self._units(model, list(fields), model.text_weights)
            paths, symbols, bodies = np.array(numbers, dtype=np.intp).T
            rows = of_path * units[paths] + of_text * units[bodies]
            named = np.flatnonzero(symbols != fields.get("", -1))
            rows[named] += of_symbol * units[symbols[named]]
            out[first : first + len(rows)] = _normalised(rows)
        return out

    def embed_query(self, text: str) -> Vectors:
        model = _opened(self._path)
        return self._units(model, [text], model.query_weights)

    def _units(self, model: _Loaded, fields: Sequence[str], weights: Any) -> Vectors:
        """The normalised vector of each field; zero if it has no known piece."""
        import numpy as np

        known = model.vocabulary.__getitem__
        counts = [Counter(chain.from_iterable(map(known, words_of(field)))) for field in fields]
        ends = np.cumsum(np.fromiter(map(len, counts), np.intp, len(counts)))
        total = int(ends[-1]) if len(ends) else 0
        ids = np.fromiter(chain.from_iterable(counts), np.intp, total)
        times = np.fromiter(chain.from_iterable(map(Counter.values, counts)), np.intp, total)
        factors = model.amounts[np.minimum(times, COUNT_MAX)] * weights[ids]
        rows = np.zeros((len(fields), self.dimension), dtype=np.float32)
        start = 0
        for i, end in enumerate(ends.tolist()):
            if end > start:
                pieces = model.vectors.take(ids[start:end], axis=0)
                np.matmul(factors[start:end], pieces.astype(np.float32), out=rows[i])
            start = end
        return _normalised(rows)


def _fields(text: str) -> tuple[str, str, str]:
    path, _, rest = text.partition("\n")
    symbol, _, body = rest.partition("\n")
    return path, symbol, body


def _normalised(rows: Vectors) -> Vectors:
    """The rows, divided by their lengths in place; zeros stay zeros."""
    import numpy as np

    # One product for each row: a sum over all rows at once would round in another order.
    squares = np.fromiter((row @ row for row in rows), np.float32, len(rows))
    lengths = np.sqrt(squares)
    lengths[lengths == 0] = 1.0
    rows /= lengths[:, None]
    return rows
