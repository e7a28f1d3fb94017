"""A segment: documents, their token stream and its suffixes in order, as one file of arrays.

A segment never changes. Its file is written once and mapped into memory, so a query reads only the
pages it needs, and needs no library. Segments are derived from the source tree; a file that fails
its checks is rejected, deleted and built again.

The file: 8 bytes `HFSEGMNT`, the format version and the header's size as two little-endian 32-bit
numbers, the CRC-32 of the header, the header as JSON, then the arrays, each at a multiple of 64.
The header has the CRC-32 of all arrays, which is verified each time the file is opened, because a
wrong bit in an array would be a wrong answer.
"""

from __future__ import annotations

import json
import mmap
import os
import struct
import sys
import zlib
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any, BinaryIO

from holdfast.sequence.errors import SegmentDamaged, SegmentTooNew
from holdfast.sequence.suffix import SEPARATOR
from holdfast.sequence.suffix.backends import SuffixBackend, kernels
from holdfast.sequence.suffix.stream import DocumentFacts, TokenStream

FORMAT_VERSION = 2
"""1: tokens, suffixes, ranks, shared prefixes, left changes, words, lines.
2: a checksum of the arrays."""

ARRAYS: dict[str, str] = {
    "tokens": "i",
    "suffixes": "i",
    "ranks": "i",
    "shared": "H",
    "long_ranks": "i",
    "long_shared": "i",
    "changes": "B",
    "starts": "i",
    "buckets": "i",
    "word_ends": "q",
    "word_bytes": "B",
    "hashes": "I",
    "hashed": "i",
    "firsts": "q",
    "line_starts": "i",
    "line_firsts": "q",
}
"""Every array of a segment with the type of its items; a change needs a new FORMAT_VERSION."""

SATURATED = 0xFFFF
"""Shared prefixes of at least this length are stored in `long_shared`."""

_MAGIC = b"HFSEGMNT"
_HEAD = struct.Struct("<8sIII")
_PIECE = 1 << 20


@dataclass(frozen=True, slots=True)
class SourcePosition:
    """A token's place in its document, counted from 1; columns count bytes."""

    path: str
    line: int
    column: int


class TokenSegment:
    """One segment, in memory or mapped from its file."""

    def __init__(
        self,
        documents: list[DocumentFacts],
        arrays: dict[str, Any],
        path: Path | None,
        mapped: mmap.mmap | None = None,
    ) -> None:
        self.documents = documents
        self.path, self._mapped = path, mapped
        # A memoryview yields plain ints, also from numpy arrays.
        arrays = {name: memoryview(array) for name, array in arrays.items()}
        self.arrays = arrays
        self.tokens: Any = arrays["tokens"]
        self.suffixes: Any = arrays["suffixes"]
        self.ranks: Any = arrays["ranks"]
        self.changes: Any = arrays["changes"]
        self.starts: Any = arrays["starts"]
        self.buckets: Any = arrays["buckets"]
        self.firsts: Any = arrays["firsts"]
        self._word_ends: Any = arrays["word_ends"]
        self._word_bytes: Any = arrays["word_bytes"]
        self._hashes: Any = arrays["hashes"]
        self._hashed: Any = arrays["hashed"]
        self._numbers: dict[bytes, int] = {}

    def check_size(self) -> None:
        """Raise SegmentDamaged if the file was truncated since it was mapped.

        Reading behind the end of a mapped file ends the process (SIGBUS), so this is checked
        before each query. We never shorten a file; another program that shortens it during a query
        still ends the process.
        """
        if self._mapped is not None and self._mapped.size() < len(self._mapped):
            raise SegmentDamaged(str(self.path), "it was truncated while it was open")

    def __len__(self) -> int:
        """How many tokens the documents have, without separators."""
        return len(self.tokens) - len(self.documents)

    @property
    def words(self) -> int:
        """How many distinct tokens there are."""
        return len(self._word_ends)

    def word(self, token: int) -> bytes:
        """The text of a token id."""
        first = self._word_ends[token - 2] if token > 1 else 0
        return bytes(self._word_bytes[first : self._word_ends[token - 1]])

    def token(self, text: bytes) -> int:
        """The id of a token, or 0 if no document contains it."""
        number = self._numbers.get(text)
        if number is None:
            number = 0
            checksum = zlib.crc32(text)
            at = bisect_left(self._hashes, checksum)
            while at < len(self._hashes) and self._hashes[at] == checksum:
                if self.word(self._hashed[at]) == text:
                    number = self._hashed[at]
                    break
                at += 1
            if len(self._numbers) < 100_000:
                self._numbers[text] = number
        return number

    def document_at(self, position: int) -> int:
        """The number of the document at a position of the stream."""
        return bisect_right(self.firsts, position) - 1

    def text_at(self, position: int) -> bytes | None:
        """The token at a position, or None at the end of a document."""
        token = self.tokens[position]
        return None if token == SEPARATOR else self.word(token)

    def place(self, position: int, *, end: bool = False) -> SourcePosition:
        """Where the token at a position begins, or where it ends."""
        number = self.document_at(position)
        offset = self.starts[position]
        if end and self.tokens[position] != SEPARATOR:
            offset += len(self.word(self.tokens[position])) - 1
        lines = self.arrays["line_starts"]
        low, high = self.arrays["line_firsts"][number], self.arrays["line_firsts"][number + 1]
        line = bisect_right(lines, offset, low, high) - low
        begins = lines[low + line - 1] if line else 0
        return SourcePosition(self.documents[number].path, line + 1, offset - begins + 1)

    def line_begins(self, position: int) -> SourcePosition | None:
        """Where the token at a position begins, if only blanks precede it on its line."""
        at = self.place(position)
        begins = self.starts[position] - at.column + 1
        if self._first_from(begins, position) < position:
            return None
        before = self.text_at(position - 1) if position else None
        if before is not None and self.starts[position - 1] + len(before) > begins:
            return None  # a string of several lines ends on this line
        return at

    def indentation(self, position: int) -> int:
        """The column of the first token on the line of a token."""
        begins = self.starts[position] - self.place(position).column + 1
        return self.place(self._first_from(begins, position)).column

    def _first_from(self, offset: int, position: int) -> int:
        """The first token of the document of `position` that begins at or after an offset in it."""
        first = int(self.firsts[self.document_at(position)])
        return bisect_left(self.starts, offset, first, position)

    def stream(self) -> TokenStream:
        """The stream that the segment was built from."""
        ends = self._word_ends
        words = [
            bytes(self._word_bytes[ends[n - 1] if n else 0 : ends[n]]) for n in range(self.words)
        ]
        lines, firsts = self.arrays["line_starts"], self.arrays["line_firsts"]
        return TokenStream(
            self.documents, words, self.tokens, self.starts, self.firsts, lines, firsts
        )

    def shared_prefixes(self) -> Any:
        """All shared prefixes as 32-bit integers (a numpy array if numpy is loaded)."""
        numpy = sys.modules.get("numpy")
        if numpy is None:
            out: Any = array("i", self.arrays["shared"])
        else:
            out = numpy.frombuffer(self.arrays["shared"], numpy.uint16).astype(numpy.int32)
        for rank, length in zip(self.arrays["long_ranks"], self.arrays["long_shared"], strict=True):
            out[rank] = length
        return out

    # Files

    def write(self, path: Path) -> TokenSegment:
        """Write the segment to a temporary file, move it to `path`, and map it."""
        directory: dict[str, tuple[int, int]] = {}
        at = check = 0
        for name in ARRAYS:
            size = memoryview(self.arrays[name]).nbytes
            directory[name] = (at, size)
            check = zlib.crc32(self._bytes(name), check)
            check = zlib.crc32(bytes(-size % 64), check)
            at += (size + 63) // 64 * 64
        header = json.dumps(
            {
                "documents": [astuple(facts) for facts in self.documents],
                "arrays": directory,
                "size": at,
                "check": check,
                "byteorder": sys.byteorder,
            },
            separators=(",", ":"),
        ).encode("ascii")
        base = _base(len(header))
        temporary = path.with_name(f".{path.name}.{os.getpid()}")
        with temporary.open("wb") as file:
            file.write(_HEAD.pack(_MAGIC, FORMAT_VERSION, len(header), zlib.crc32(header)))
            file.write(header)
            for name, (offset, size) in directory.items():
                if size:
                    file.seek(base + offset)
                    file.write(self._bytes(name))
            file.truncate(base + at)
        temporary.replace(path)
        return TokenSegment.open(path, check=False)

    def _bytes(self, name: str) -> Any:
        view = memoryview(self.arrays[name])
        return view.cast("B") if view.nbytes else b""

    @staticmethod
    def open(path: Path, *, check: bool = True) -> TokenSegment:
        """Map a segment; raises SegmentDamaged or SegmentTooNew if it cannot be read.

        Without `check` the arrays are not verified, for a file that was just written.
        """
        with path.open("rb") as file:
            head = file.read(_HEAD.size)
            if len(head) < _HEAD.size:
                raise SegmentDamaged(str(path), "it is shorter than a header")
            magic, version, header_size, header_check = _HEAD.unpack(head)
            if magic != _MAGIC:
                raise SegmentDamaged(str(path), "it is not a segment file")
            if version > FORMAT_VERSION:
                raise SegmentTooNew(str(path), version)
            if version < FORMAT_VERSION:
                raise SegmentDamaged(str(path), f"it has the older format {version}")
            raw = file.read(header_size)
            if zlib.crc32(raw) != header_check:
                raise SegmentDamaged(str(path), "its header does not match its checksum")
            header = json.loads(raw)
            base = _base(header_size)
            if header["byteorder"] != sys.byteorder:
                raise SegmentDamaged(str(path), "it was written with another byte order")
            if os.fstat(file.fileno()).st_size != base + header["size"]:
                raise SegmentDamaged(str(path), "its size is wrong")
            if check and _check_from(file, base) != header["check"]:
                raise SegmentDamaged(str(path), "its arrays do not match their checksum")
            mapped: Any = (
                mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if header["size"] else b""
            )
        view: Any = memoryview(mapped)
        arrays = {
            name: view[base + header["arrays"][name][0] :][: header["arrays"][name][1]].cast(kind)
            for name, kind in ARRAYS.items()
        }
        documents = [DocumentFacts(*facts) for facts in header["documents"]]
        return TokenSegment(documents, arrays, path, mapped or None)


def _check_from(file: BinaryIO, base: int) -> int:
    """The checksum of everything after the header."""
    file.seek(base)
    check = 0
    while piece := file.read(_PIECE):
        check = zlib.crc32(piece, check)
    return check


def _base(header_size: int) -> int:
    return (_HEAD.size + header_size + 63) // 64 * 64


def build(stream: TokenStream, backend: SuffixBackend = SuffixBackend.PURE) -> TokenSegment:
    """Build a segment from a stream; every backend gives the same one."""
    if backend is SuffixBackend.PURE:
        return TokenSegment(stream.documents, _pure_arrays(stream) | _word_arrays(stream), None)
    return TokenSegment(
        stream.documents, _numpy_arrays(stream, backend) | _word_arrays(stream), None
    )


def _word_arrays(stream: TokenStream) -> dict[str, Any]:
    hashes = array("I", map(zlib.crc32, stream.words))
    ends: Any
    hashed: Any
    if (numpy := sys.modules.get("numpy")) is None:
        ends = array("q", accumulate(map(len, stream.words)))
        order = sorted(range(len(hashes)), key=hashes.__getitem__)
        hashes = array("I", [hashes[number] for number in order])
        hashed = array("i", [number + 1 for number in order])
    else:
        ends = numpy.cumsum(numpy.fromiter(map(len, stream.words), numpy.int64))
        order = numpy.argsort(hashes, kind="stable")
        hashes = numpy.asarray(hashes, numpy.uint32)[order]
        hashed = (order + 1).astype(numpy.int32)
    return {
        "word_ends": ends,
        "word_bytes": b"".join(stream.words),
        "hashes": hashes,
        "hashed": hashed,
        "firsts": stream.firsts,
        "line_starts": stream.line_starts,
        "line_firsts": stream.line_firsts,
        "starts": stream.starts,
    }


def _pure_arrays(stream: TokenStream) -> dict[str, Any]:
    kernel = kernels(SuffixBackend.PURE)
    tokens: Sequence[int] = stream.tokens
    suffixes = kernel.suffix_array(tokens)
    ranks = kernel.inverse(suffixes)
    shared = kernel.common_prefixes(tokens, suffixes, ranks)
    buckets = array("i", bytes(4 * (len(stream.words) + 2)))
    for token in tokens:
        buckets[token + 1] += 1
    for token in range(1, len(buckets)):
        buckets[token] += buckets[token - 1]
    long_ranks = array("i", [r for r, length in enumerate(shared) if length >= SATURATED])
    return {
        "tokens": tokens,
        "suffixes": suffixes,
        "ranks": ranks,
        "shared": array("H", [min(length, SATURATED) for length in shared]),
        "long_ranks": long_ranks,
        "long_shared": array("i", [shared[rank] for rank in long_ranks]),
        "changes": kernel.left_changes(tokens, suffixes),
        "buckets": buckets,
    }


def _numpy_arrays(stream: TokenStream, backend: SuffixBackend) -> dict[str, Any]:
    import numpy as np

    kernel = kernels(backend)
    tokens: Any = np.zeros(0, np.int32)
    if len(stream.tokens):
        tokens = np.frombuffer(stream.tokens, np.int32)
    suffixes = kernel.suffix_array(tokens)
    ranks = kernel.inverse(suffixes)
    shared = kernel.common_prefixes(tokens, suffixes, ranks)
    counts = np.bincount(tokens, minlength=len(stream.words) + 1)
    buckets: Any = np.zeros(len(stream.words) + 2, np.int32)
    np.cumsum(counts, out=buckets[1:])
    long_ranks: Any = np.flatnonzero(shared >= SATURATED).astype(np.int32)
    short: Any = np.minimum(shared, SATURATED).astype(np.uint16)
    return {
        "tokens": memoryview(tokens),
        "suffixes": memoryview(suffixes),
        "ranks": memoryview(ranks),
        "shared": memoryview(short),
        "long_ranks": memoryview(long_ranks),
        "long_shared": memoryview(shared[long_ranks]),
        "changes": memoryview(kernel.left_changes(tokens, suffixes)),
        "buckets": memoryview(buckets),
    }
