"""Read a team's generation together with the files on this machine.

Postings, vectors and facts come from the team; text comes from the files on this machine. A file is
used only if its bytes are those that the generation was made from, so a chunk always matches the
file on disk. Files that differ are not used here: the freshness check ranks them from memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import msgspec

from holdfast.files import disk
from holdfast.files.secrets import masked
from holdfast.files.snapshot import Entry, Snapshot
from holdfast.index.errors import DamagedBackend, SourceMoved
from holdfast.index.facts import model as facts_of
from holdfast.index.generations.model import ChunkId, Identity, StoredChunk, Totals
from holdfast.index.generations.segments import digest
from holdfast.index.search.trigrams import KeptFile
from holdfast.index.shared import generation as shared
from holdfast.index.shared import rows
from holdfast.index.shared.cached_rows import CachedRows
from holdfast.index.shared.generation import Manifest

if TYPE_CHECKING:
    from holdfast.index.building.prepare import Extract
    from holdfast.index.calls.link_segment import LinkSegment
    from holdfast.index.search.corpus import Corpus

FACTS_AT_ONCE = 500
FILES_KEPT = 64
"""The chunks of this many files are cached while a reader is open."""


class TeamReader:
    """One generation of a team, with the files of one root."""

    def __init__(
        self,
        root: str,
        identity: Identity,
        manifest: Manifest,
        snapshot: Snapshot,
        cache: CachedRows,
        corpus: Callable[[], Corpus],
        extract: Extract,
        extractor: str,
    ) -> None:
        self.identity, self.manifest = identity, manifest
        self._root, self._snapshot, self._cache = root, snapshot, cache
        self._corpus, self._extract, self._extractor = corpus, extract, extractor
        self._chunks: dict[int, list[StoredChunk]] = {}

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {file.path: number for number, file in enumerate(self.manifest.files)}

    def snapshot(self) -> Snapshot:
        return self._snapshot

    def snapshot_later(self) -> Callable[[], Snapshot]:
        snapshot = self.snapshot()
        return lambda: snapshot

    def totals(self) -> Totals:
        return Totals(len(self.manifest.files), self.manifest.chunks)

    def corpus(self) -> Corpus:
        return self._corpus()

    def chunks(self, ids: Iterable[ChunkId]) -> dict[ChunkId, StoredChunk]:
        wanted = list(ids)
        self._load({number for number, _ in wanted})
        try:
            return {(number, at): self._chunks[number][at] for number, at in wanted}
        except IndexError as error:
            raise DamagedBackend("a chunk of the team's generation is missing") from error

    def texts(self, ids: Sequence[ChunkId]) -> list[tuple[ChunkId, str]]:
        texts: list[tuple[ChunkId, str]] = []
        ordered = sorted(set(ids))
        for at in range(0, len(ordered), FACTS_AT_ONCE):
            some = self.chunks(ordered[at : at + FACTS_AT_ONCE])
            texts += [(one, some[one].text) for one in ordered[at : at + FACTS_AT_ONCE]]
        return texts

    def chunks_of(self, path: str) -> list[StoredChunk]:
        number = self._numbers.get(path)
        if number is None:
            return []
        self._load({number})
        return self._chunks[number]

    def _load(self, numbers: set[int]) -> None:
        """Cut the chunks of some files from their bytes."""
        missing = sorted(numbers - self._chunks.keys())
        if len(self._chunks) + len(missing) > FILES_KEPT:
            self._chunks = {n: self._chunks[n] for n in numbers if n in self._chunks}
        rows_of = self._rows([self.manifest.files[number].path for number in missing])
        for number in missing:
            file = self.manifest.files[number]
            source = self._source(file.path, file.digest)
            row = rows_of.get(file.path)
            facts = None
            if row is not None:
                facts = rows.opened_facts(row, file.path, source)
            if facts is None:
                facts = self._made_here(file, source)
            self._chunks[number] = [
                StoredChunk(
                    (number, at), file.path, file.language, chunk.start_line, chunk.end_line,
                    chunk.text, chunk.symbol_id, chunk.label, chunk.kind,
                )
                for at, chunk in enumerate(facts.chunks)
            ]  # fmt: skip

    def _source(self, path: str, digest: str) -> bytes:
        """The masked bytes of a file; raises SourceMoved if they are not those of the manifest."""
        try:
            source, _ = disk.read_file(self._root, path)
        except OSError as error:
            raise SourceMoved(path) from error
        if disk.digest(source) != digest:
            raise SourceMoved(path)
        return masked(source)

    def _made_here(self, file: shared.SharedFile, source: bytes) -> rows.Made:
        """What a file's row would have, computed because the row is missing, wrong or
        unreachable.
        """
        from holdfast.index.building.prepare import chunks_of

        facts = self._extract(file.path, source)
        row = rows.FactsRow(file.language, file.problem, b"", b"", b"")
        left_out = file.problem in ("binary", "minified")
        return rows.Made(row, facts, () if left_out else chunks_of(source, facts))

    def _rows(self, paths: Sequence[str]) -> dict[str, memoryview]:
        files = self.manifest.files
        keys = {
            rows.facts_key(path, files[self._numbers[path]].digest, self._extractor): path
            for path in paths
        }
        return {keys[key]: value for key, value in self._cache.get(list(keys)).items()}

    def kept_files(self) -> list[KeptFile]:
        files = self.manifest.files
        keys = shared.part_keys("kept", shared.kept_name(files), self.manifest.kept_parts)
        parts: list[tuple[bytes | None, bytes | None]] = []
        for key in keys:
            value = self._cache.get([key]).get(key)
            if value is None:
                parts = []
                break
            parts += shared.kept_of(value).files
        if len(parts) != len(files):
            parts = [(None, None)] * len(files)  # An exact search works without them, more slowly.
        return [
            KeptFile(number, file.path, file.language, file.problem, file.chunks, *both)
            for number, (file, both) in enumerate(zip(files, parts, strict=True))
        ]

    def entry(self, path: str) -> Entry | None:
        return self._snapshot.entries.get(path)

    def facts(self, paths: Iterable[str]) -> dict[str, bytes]:
        wanted = [path for path in paths if path in self._numbers]
        facts = dict(self._facts(wanted))
        return {path: data for path, data in facts.items() if data is not None}

    def all_facts(self) -> Iterator[tuple[str, bytes | None]]:
        paths = [file.path for file in self.manifest.files]
        for at in range(0, len(paths), FACTS_AT_ONCE):
            yield from self._facts(paths[at : at + FACTS_AT_ONCE])

    def _facts(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | None]]:
        fetched = self._rows(paths)
        for path in paths:
            value = fetched.get(path)
            row = None if value is None else rows.row_of(value)
            size = self.manifest.files[self._numbers[path]].size
            if row is not None and rows.is_of(row, path, size):
                yield path, row.facts
                continue
            yield path, self._facts_made_here(path)

    def _facts_made_here(self, path: str) -> bytes | None:
        file = self.manifest.files[self._numbers[path]]
        try:
            source = self._source(path, file.digest)
        except SourceMoved:
            return None
        return facts_of.encode(self._extract(path, source))

    def links(self, open_segments: Mapping[str, LinkSegment]) -> dict[str, LinkSegment]:
        """The links that were published; if there are none, the facts of all files are read."""
        from holdfast.index.calls.link_segment import LinkSegment

        key = shared.links_key(self.manifest.files)
        value = self._cache.get([key]).get(key)
        try:
            segments = [] if value is None else shared.links_of(value)
        except (msgspec.DecodeError, ValueError):
            return {}
        by_digest = {}
        for one in segments:
            segment = open_segments.get(one.digest)
            if segment is None:
                data = self._cache.mapped(shared.part_keys("links", one.digest, one.parts))
                if data is None or len(data) != one.size or digest(data, b"") != one.digest:
                    continue
                try:
                    segment = LinkSegment(data)
                except ValueError:
                    continue
            by_digest[one.digest] = segment
        return by_digest

    def listings(self) -> bytes | None:
        return None  # They describe one machine's checkout.

    def problems(self) -> Mapping[str, str]:
        return {file.path: file.problem for file in self.manifest.files if file.problem}
