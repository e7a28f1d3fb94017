"""The terms and name pairs of many files in one stored segment.

A segment never changes. Each of its files has a slot; the code that opens it decides which are
current. Terms are stored by hash in buckets, so that a lookup reads a few bytes at a known offset:

    directory   where each bucket begins; the first bits of a hash are the number of its bucket
    terms       for each hash of a bucket: its next 16 bits, how many files have it, their slots
    pairs       for each pair of names: 32 bits of the hash of the first, the code of the second,
                how many files have it, their slots

All numbers in a bucket are little-endian and two bytes wide.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from mmap import mmap
from sys import byteorder
from typing import TYPE_CHECKING, Literal

import msgspec

from holdfast.index.calls.file_terms import LINKS_VERSION, FileTerms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ENTRIES_MAX = 2_000_000
"""A segment with this many entries is full; sorting more takes too much memory."""
SLOTS_MAX = 60_000
"""A slot number has two bytes."""
_IN_BUCKET = 4
_MAGIC = b"HFLK"
_HEAD = struct.Struct("<4sHBBIIIIQ")
_MASK = (1 << 64) - 1
_TERM_WORDS, _PAIR_WORDS = 2, 7
"""How many numbers precede the slots in a term and in a pair; the last one is the slot count."""


class LinkSegment:
    """A stored segment. `checks` has the check of each file, by slot."""

    def __init__(self, data: bytes | mmap) -> None:
        """Raises ValueError for anything but a segment of this version.

        Does not use numpy: importing it takes longer than most lookups.
        """
        view = memoryview(data)
        if len(view) < _HEAD.size or bytes(view[:4]) != _MAGIC:
            raise ValueError("not a segment of links")
        if byteorder == "big":
            raise ValueError("segments of links are read on little endian machines only")
        head = _HEAD.unpack_from(view)
        version, self._term_bits, self._pair_bits, files, terms, pairs, modules = head[1:8]
        if version != LINKS_VERSION:
            raise ValueError(f"links of version {version}")
        at = _HEAD.size

        def array(kind: Literal["Q", "I", "H"], width: int, items: int) -> memoryview[int]:
            nonlocal at
            begin, at = at, at + items * width
            if at > len(view):
                raise ValueError("a segment of links is truncated")
            return view[begin:at].cast(kind)

        self.checks = array("Q", 8, files)
        self._term_starts = array("I", 4, (1 << self._term_bits) + 1)
        self._pair_starts = array("I", 4, (1 << self._pair_bits) + 1)
        self._terms = array("H", 2, terms)
        self._pairs = array("H", 2, pairs)
        if len(view) != at + modules:
            raise ValueError("a segment of links is truncated")
        self._modules = at, at + modules
        self._data = data

    @property
    def data(self) -> bytes | mmap:
        """The whole segment as it is stored."""
        return self._data

    @property
    def intact(self) -> bool:
        """Whether the mapped file was not truncated; reading past its end would kill the
        process.
        """
        return not isinstance(self._data, mmap) or self._data.size() >= len(self._data)

    def modules(self) -> list[tuple[int, str]]:
        """The manifests: the slot and the module of each."""
        begin, end = self._modules
        return msgspec.msgpack.decode(memoryview(self._data)[begin:end], type=list[tuple[int, str]])

    def slots(self, term: int) -> list[int]:
        """The slots of the files with a term, by its hash."""
        bucket, rest = _placed(term, self._term_bits, 16)
        words = self._terms[self._term_starts[bucket] : self._term_starts[bucket + 1]].tolist()
        at, found = 0, []
        while at < len(words):
            after = at + _TERM_WORDS + words[at + 1]
            if words[at] == rest:
                found += words[at + _TERM_WORDS : after]
            at = after
        return found

    def pairs(self, family: int, code: int) -> Iterator[tuple[int, list[int]]]:
        """The codes of the names that a name leads to, each with the slots of its files."""
        bucket, rest = _placed(pair_hash(family, code), self._pair_bits, 32)
        words = self._pairs[self._pair_starts[bucket] : self._pair_starts[bucket + 1]].tolist()
        at = 0
        while at < len(words):
            after = at + _PAIR_WORDS + words[at + _PAIR_WORDS - 1]
            if words[at] | words[at + 1] << 16 == rest:
                yield _number(words[at + 2 : at + 6]), words[at + _PAIR_WORDS : after]
            at = after


def _placed(number: int, bits: int, rest: int) -> tuple[int, int]:
    """The bucket of a hash, and the bits that identify it within the bucket."""
    return number >> (64 - bits), number >> (64 - bits - rest) & ((1 << rest) - 1)


def _number(words: Sequence[int]) -> int:
    return words[0] | words[1] << 16 | words[2] << 32 | words[3] << 48


def pair_hash(family: int, code: int) -> int:
    """The hash of a name that leads to others."""
    mixed = (code ^ family * 0x9E3779B97F4A7C15) & _MASK
    mixed = (mixed ^ mixed >> 31) * 0xBF58476D1CE4E5B9 & _MASK
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB & _MASK
    return mixed ^ mixed >> 31


def _pair_hashes(families: NDArray[np.uint64], codes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """`pair_hash` for arrays."""
    import numpy as np

    mixed: NDArray[np.uint64] = codes ^ families * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ mixed >> np.uint64(31)) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ mixed >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    return mixed


@dataclass(frozen=True, slots=True)
class _Slot:
    check: int
    terms: FileTerms


class LinkSegmentBuilder:
    """Collects the terms of files into one segment."""

    def __init__(self) -> None:
        self._slots: list[_Slot] = []
        self._entries = 0

    @property
    def files(self) -> int:
        return len(self._slots)

    @property
    def full(self) -> bool:
        return self._entries >= ENTRIES_MAX or self.files >= SLOTS_MAX

    def add(self, check: int, terms: FileTerms) -> None:
        self._slots.append(_Slot(check, terms))
        self._entries += len(terms.terms) // 8 + len(terms.pairs) // 16

    def take(self) -> bytes:
        """The segment of all files added since the last call."""
        slots, self._slots, self._entries = self._slots, [], 0
        return _segment([slot.check for slot in slots], [slot.terms for slot in slots])


def _segment(checks: Sequence[int], files: Sequence[FileTerms]) -> bytes:
    import numpy as np

    def spread(counts: list[int]) -> NDArray[np.uint16]:
        return np.repeat(np.arange(len(files), dtype=np.uint16), counts)

    terms = np.frombuffer(b"".join(file.terms for file in files), "<u8")
    term_slots = spread([len(file.terms) // 8 for file in files])
    pairs = np.frombuffer(b"".join(file.pairs for file in files), "<u8").reshape(-1, 2)
    counts = [len(file.pairs) // 16 for file in files]
    families = np.repeat(np.array([file.family for file in files], dtype=np.uint64), counts)
    firsts = _pair_hashes(families, pairs[:, 0])
    term_bits, term_starts, term_words = _terms(terms, term_slots)
    pair_bits, pair_starts, pair_words = _pairs(firsts, pairs[:, 1], spread(counts))
    modules = msgspec.msgpack.encode(
        [(slot, file.module) for slot, file in enumerate(files) if file.module]
    )
    head = _HEAD.pack(
        _MAGIC, LINKS_VERSION, term_bits, pair_bits, len(files), len(term_words), len(pair_words),
        len(modules), 0,
    )  # fmt: skip
    parts = [np.array(checks, dtype="<u8"), term_starts, pair_starts, term_words, pair_words]
    return b"".join([head, *(part.tobytes() for part in parts), modules])


def _terms(
    hashes: NDArray[np.uint64], slots: NDArray[np.uint16]
) -> tuple[int, NDArray[np.uint32], NDArray[np.uint16]]:
    import numpy as np

    order = np.argsort(hashes, kind="stable")
    hashes, slots = hashes[order], slots[order]
    first = _firsts(hashes)
    counts = np.diff(np.append(first, len(hashes)))
    bits = _bits(len(first))
    at, words, starts = _laid_out(hashes[first], counts, slots, bits, _TERM_WORDS)
    words[at] = _low_words(hashes[first] >> np.uint64(64 - bits - 16), 1)[:, 0]
    return bits, starts, words


def _pairs(
    firsts: NDArray[np.uint64], others: NDArray[np.uint64], slots: NDArray[np.uint16]
) -> tuple[int, NDArray[np.uint32], NDArray[np.uint16]]:
    import numpy as np

    order = np.lexsort((slots, others, firsts))
    firsts, others, slots = firsts[order], others[order], slots[order]
    first = _firsts(firsts, others)
    counts = np.diff(np.append(first, len(firsts)))
    bits = _bits(len(first))
    at, words, starts = _laid_out(firsts[first], counts, slots, bits, _PAIR_WORDS)
    rests = _low_words(firsts[first] >> np.uint64(64 - bits - 32), 2)
    codes = _low_words(others[first], 4)
    for step in range(2):
        words[at + step] = rests[:, step]
    for step in range(4):
        words[at + 2 + step] = codes[:, step]
    return bits, starts, words


def _firsts(*columns: NDArray[np.uint64]) -> NDArray[np.int64]:
    """The positions in sorted columns where the value changes."""
    import numpy as np

    new = np.ones(len(columns[0]), dtype=np.bool_)
    if len(new):
        new[1:] = np.logical_or.reduce([column[1:] != column[:-1] for column in columns])
    return np.flatnonzero(new)


def _bits(records: int) -> int:
    return max(1, (max(records, 1) // _IN_BUCKET).bit_length())


def _low_words(numbers: NDArray[np.uint64], count: int) -> NDArray[np.uint16]:
    return numbers.astype("<u8").view("<u2").reshape(-1, 4)[:, :count]


def _laid_out(
    hashes: NDArray[np.uint64],
    counts: NDArray[np.int64],
    slots: NDArray[np.uint16],
    bits: int,
    before: int,
) -> tuple[NDArray[np.int64], NDArray[np.uint16], NDArray[np.uint32]]:
    """The offset of each record, the words with counts and slots, and the bucket offsets."""
    import numpy as np

    ends = np.cumsum(counts + before)
    at = ends - counts - before
    words = np.empty(int(ends[-1]) if len(ends) else 0, dtype="<u2")
    is_slot = np.ones(len(words), dtype=np.bool_)
    for step in range(before):
        is_slot[at + step] = False
    words[is_slot] = slots
    words[at + before - 1] = counts
    records = np.searchsorted(
        hashes >> np.uint64(64 - bits), np.arange((1 << bits) + 1, dtype=np.uint64)
    )
    starts = np.append(at, len(words))[records].astype("<u4")
    return at, words, starts
