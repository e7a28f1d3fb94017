"""The posting segments of a generation: how files are added, and when segments are merged.

A sync adds a segment with the files it changed. Many small segments would slow down every search,
and deleted files leave dead rows behind, so a writer merges segments before it publishes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from holdfast.index.errors import DamagedBackend
from holdfast.index.search import posting_segment as segments
from holdfast.index.search.corpus import Corpus, Part
from holdfast.index.search.file_table import File, FileTable, Listed, SlotFiles
from holdfast.index.search.posting_segment import PostingSegment

if TYPE_CHECKING:
    from mmap import mmap

    from holdfast.index.generations.change_log import Change
    from holdfast.index.generations.model import PreparedFile

ROWS_MAX = 32_000
"""A segment with this many chunks is full: a row number fits in two bytes, and sorting the entries
takes a quarter of a build's memory.
"""
FILES_AT_ONCE = 64
SMALL_ROWS = 4_096
SMALL_SEGMENTS_MAX = 8
LIVING_SHARE_MIN = 0.6


def _unsorted(file: PreparedFile, dimension: int) -> PostingSegment:
    if not file.chunks:
        return segments.empty(dimension)
    segment = segments.unpack_file(file.postings)
    if not file.vectors or not segment.rows:
        return segment
    return segments.with_vectors(segment, file.vectors, dimension)


class SegmentBuilder:
    """Collects files into one segment, each in a slot of its own."""

    def __init__(self, dimension: int) -> None:
        self._dimension = dimension
        self._begin()

    def _begin(self) -> None:
        from holdfast.index.search.segment_merge import Merger

        self._merger = Merger(self._dimension)
        self._waiting: list[PostingSegment] = []
        self._slots = 0
        self.rows = 0

    def add(self, file: PreparedFile) -> int:
        """Add a file; returns its slot in the segment."""
        slot = self._slots
        self._slots += 1
        segment = _unsorted(file, self._dimension)
        self.rows += segment.rows
        self._waiting.append(segment)
        if len(self._waiting) >= FILES_AT_ONCE:
            self._add_waiting()
        return slot

    def _add_waiting(self) -> None:
        self._merger.add_files(self._waiting, self._slots - len(self._waiting))
        self._waiting.clear()

    def take(self) -> PostingSegment:
        """The segment of all files added since the last call."""
        self._add_waiting()
        merger = self._merger
        self._begin()
        return merger.take()


class SegmentUse(msgspec.Struct, frozen=True):
    """How many rows a stored segment has, and how many of them belong to current files."""

    number: int
    rows: int
    living: int


def to_merge(standings: Iterable[SegmentUse]) -> list[list[int]]:
    """Groups of segments to merge, each group within the size limit."""
    chosen: list[SegmentUse] = []
    small = []
    for one in standings:
        if one.living < LIVING_SHARE_MIN * one.rows:
            chosen.append(one)
        elif one.rows <= SMALL_ROWS:
            small.append(one)
    if len(small) > SMALL_SEGMENTS_MAX:
        chosen += small
    groups: list[list[int]] = []
    room = 0
    for one in sorted(chosen, key=lambda s: s.number):
        if not groups or one.living > room:
            groups.append([])
            room = ROWS_MAX
        groups[-1].append(one.number)
        room -= one.living
    return groups


def digest(data: bytes | mmap, vectors: bytes) -> str:
    """The digest that identifies a stored segment in every process."""
    hasher = hashlib.blake2b(data, digest_size=16)
    hasher.update(vectors)
    return hasher.hexdigest()


def check_digest(data: bytes, vectors: bytes, recorded: str) -> None:
    """Raise DamagedBackend unless a stored segment has the digest it was written with."""
    if digest(data, vectors) != recorded:
        raise DamagedBackend("a segment of the index is damaged: its digest differs")


class OpenCorpus(msgspec.Struct, frozen=True):
    """A corpus with its segments, kept to open the next generation faster."""

    corpus: Corpus
    segments: Mapping[str, PostingSegment]


FileRow = tuple[int, str, str, int, int]
"""A file: its number, path, language, segment and slot."""


def followed(
    known: OpenCorpus,
    change: Change,
    added: Iterable[FileRow],
    load: Callable[[int], PostingSegment],
    digests: Mapping[int, str],
) -> OpenCorpus:
    """The corpus after a change, from the corpus before it."""
    gone = change.removed
    replaced = known.corpus.files.with_numbers(gone) if gone else []
    by_segment: dict[int, list[tuple[int, File]]] = {}
    for number, path, language, holder, slot in added:
        if holder not in digests:
            raise DamagedBackend("a segment of the index is missing")
        by_segment.setdefault(holder, []).append((slot, File(number, path, language)))
    fresh = {digests[holder]: load(holder) for holder in by_segment}
    parts = [
        _part(fresh[digests[holder]], members) for holder, members in sorted(by_segment.items())
    ]
    there = set(digests.values())
    segments = {name: segment for name, segment in known.segments.items() if name in there}
    return OpenCorpus(known.corpus.changed(parts, replaced), {**segments, **fresh})


def _part(segment: PostingSegment, members: Iterable[tuple[int, File]]) -> Part:
    last = int(segment.slots.max(initial=0))
    of_slots: list[File | None] = [None] * (last + 1)
    for slot, file in members:
        if not 0 <= slot <= last:
            raise DamagedBackend(f"{file.path!r} is not in its segment of the index")
        of_slots[slot] = file
    return Part(segment, of_slots)


def opened(
    digests: Mapping[int, str],
    files: Iterable[FileRow],
    open_segments: Mapping[str, PostingSegment],
    load: Callable[[int], PostingSegment],
) -> OpenCorpus:
    """The corpus of a generation from its segments and files.

    Segments in `open_segments` are not loaded again.
    """
    by_segment: dict[int, list[tuple[int, File]]] = {number: [] for number in digests}
    make = tuple.__new__
    try:
        for number, path, language, holder, slot in files:
            by_segment[holder].append((slot, make(File, (number, path, language))))
    except KeyError as error:
        raise DamagedBackend("a segment of the index is missing") from error
    parts: list[Part] = []
    segments: dict[str, PostingSegment] = {}
    for holder, members in sorted(by_segment.items()):
        name = digests[holder]
        segment = open_segments.get(name) or load(holder)
        segments[name] = segment
        parts.append(_part(segment, members))
    return OpenCorpus(Corpus(parts), segments)


class ListedFiles(msgspec.Struct, frozen=True):
    """The files of a generation: those of a list, without some, and others that are newer."""

    listed: Listed
    segments: Sequence[int]
    slots: Sequence[int]
    """Where the files of the list are; -1 is nowhere."""
    without: Collection[int]
    """The places of files in the list that are not current."""
    others: Sequence[FileRow]


def opened_listed(
    digests: Mapping[int, str],
    files: ListedFiles,
    open_segments: Mapping[str, PostingSegment],
    load: Callable[[int], PostingSegment],
) -> OpenCorpus:
    """The same as `opened`, without an object for each file of the list."""
    import numpy as np

    others = [File(number, path, language) for number, path, language, _, _ in files.others]
    table = FileTable(files.listed, others)
    holders = np.array(files.segments, dtype=np.int64)
    holders[list(files.without)] = -1
    holders = np.append(holders, np.array([row[3] for row in files.others], dtype=np.int64))
    slots = np.append(
        np.array(files.slots, dtype=np.int64),
        np.array([row[4] for row in files.others], dtype=np.int64),
    )
    order = np.argsort(holders, kind="stable")
    order = order[np.count_nonzero(holders < 0) :]
    held, firsts = np.unique(holders[order], return_index=True)
    bounds = [*firsts.tolist(), len(order)]
    members = {
        holder: order[low:high]
        for holder, low, high in zip(held.tolist(), bounds, bounds[1:], strict=False)
    }
    if members.keys() - digests.keys():
        raise DamagedBackend("a segment of the index is missing")
    parts: list[Part] = []
    segments: dict[str, PostingSegment] = {}
    for holder in sorted(digests):
        name = digests[holder]
        segment = segments[name] = open_segments.get(name) or load(holder)
        places = np.full(int(segment.slots.max(initial=0)) + 1, -1, dtype=np.int64)
        own = members.get(holder, np.empty(0, dtype=np.int64))
        of_own = slots[own]
        outside = (of_own < 0) | (of_own >= len(places))
        if outside.any():
            path = table.path(int(own[outside][0]))
            raise DamagedBackend(f"{path!r} is not in its segment of the index")
        places[of_own] = own
        parts.append(Part(segment, SlotFiles(table, places)))
    return OpenCorpus(Corpus(parts), segments)
