"""Writing the links of the next generation, on any backend."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Protocol
from zlib import crc32

import msgspec
from msgspec.structs import replace

from holdfast.index.facts import model as facts_of
from holdfast.index.generations.link_files import (
    REMADE_AT_ONCE,
    LinkRow,
    checked,
    file_check,
    placed,
    too_many,
)

if TYPE_CHECKING:
    from holdfast.index.calls.file_terms import FileTerms
    from holdfast.index.calls.link_segment import LinkSegment
    from holdfast.index.generations.model import PreparedFile


class LinkStore(Protocol):
    """Where the segments of links of one root are kept."""

    def stored(self) -> tuple[list[LinkRow], bool]:
        """The rows of all segments, oldest first, and whether every row is intact."""

    def is_there(self, one: LinkRow) -> bool:
        """Whether the data of a segment is there, as far as its size tells."""

    def opened(self, rows: Iterable[LinkRow]) -> dict[str, LinkSegment]:
        """The readable segments of these, in the same order."""

    def write(self, data: bytes) -> str:
        """Store the data of a segment; returns its name."""

    def put(self, rows: Sequence[LinkRow]) -> None:
        """Replace the rows of all segments."""

    def files(self) -> list[tuple[str, str]]:
        """The path and the digest of every file."""

    def facts(self, path: str) -> bytes | None:
        """The facts of a file; None if they are missing or damaged."""


class LinkWriter:
    """Collects the links of the files that a generation adds, and stores them with it."""

    def __init__(self, store: LinkStore, before: str) -> None:
        from holdfast.index.calls.link_segment import LinkSegmentBuilder

        self._store, self._before = store, before
        self._gathering = LinkSegmentBuilder()
        self._new: list[LinkRow] = []

    def add(self, file: PreparedFile) -> None:
        """Add the links of a file; computed from its facts if it has none."""
        terms = _terms(file.links, file.facts)
        if terms is not None:
            self._add(file_check(file.path, file.entry.digest), terms)

    def _add(self, check: int, terms: FileTerms) -> None:
        self._gathering.add(check, terms)
        if self._gathering.full:
            self._write()

    def _write(self) -> None:
        if self._gathering.files:
            count, data = self._gathering.files, self._gathering.take()
            name = self._store.write(data)
            self._new.append(LinkRow(name, count, len(data), crc32(data), ""))

    def publish(self, run: str, files: int, turn: int) -> None:
        """Store the links of the generation with this run, which has `files` files.

        Each call reads one of the segments completely, chosen by `turn`, so that damage is noticed
        eventually.
        """
        stored, good = self._store.stored()
        good = good and all(self._store.is_there(one) and one.run == self._before for one in stored)
        if good and stored:
            good = bool(self._store.opened([stored[turn % len(stored)]]))
        self._write()
        slots = sum(one.files for one in (*stored, *self._new))
        complete = good and (bool(stored) or slots == files)
        scattered = too_many({one.digest: one.files for one in (*stored, *self._new)})
        if not complete or scattered or slots > 2 * files:
            stored, complete = self._tidied(stored)
        seal = run if complete else ""
        self._store.put([replace(one, run=seal) for one in (*stored, *self._new)])

    def _tidied(self, stored: list[LinkRow]) -> tuple[list[LinkRow], bool]:
        """The segments to keep, after rebuilding links that are missing or scattered."""
        rows = self._store.files()
        checks = checked(rows)
        open_ones = self._store.opened([*stored, *self._new])
        slots, left = placed(list(open_ones.values()), checks)
        living = {
            digest: sum(path is not None for path in paths)
            for digest, paths in zip(open_ones, slots, strict=True)
        }
        again = too_many({digest: count for digest, count in living.items() if count})
        for digest, paths in zip(open_ones, slots, strict=True):
            if digest in again:
                left.update(path for path in paths if path is not None)
        current = {digest for digest, count in living.items() if count} - again
        self._new = [one for one in self._new if one.digest in current]
        digests = dict(rows)
        scattered = sum(living[digest] for digest in again)
        some = sorted(left)[: REMADE_AT_ONCE + scattered]
        count_remade = self._remade((path, digests[path]) for path in some)
        self._write()
        complete = count_remade == len(left) and len(checks) == len(rows)
        return [one for one in stored if one.digest in current], complete

    def _remade(self, files: Iterable[tuple[str, str]]) -> int:
        """Rebuild the links of stored files; returns for how many that was possible."""
        count = 0
        for path, digest in files:
            facts = self._store.facts(path)
            terms = _terms(b"", facts) if facts is not None else None
            if terms is not None:
                self._add(file_check(path, digest), terms)
                count += 1
        return count


def _terms(links: bytes, facts: bytes) -> FileTerms | None:
    from holdfast.index.calls.file_terms import packed_terms, unpacked_terms

    terms = unpacked_terms(links) if links else None
    if terms is not None:
        return terms
    try:
        return unpacked_terms(packed_terms(facts_of.decode(facts)))
    except msgspec.DecodeError:
        return None
