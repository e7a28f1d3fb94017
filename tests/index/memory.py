"""A generation that lives in memory, for tests of what is found in one."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from holdfast.files import disk
from holdfast.files.snapshot import Entry, Snapshot
from holdfast.index.building.prepare import Extract, extract_facts, prepare
from holdfast.index.generations.freshness import FreshFiles
from holdfast.index.generations.model import (
    ChunkId,
    Identity,
    PreparedFile,
    SourceFile,
    StoredChunk,
)
from holdfast.index.generations.segments import SegmentBuilder
from holdfast.index.search.corpus import Corpus, Part
from holdfast.index.search.file_table import File
from holdfast.index.search.trigrams import KeptFile


class MemoryReader:
    """The part of a reader that needs no vectors."""

    def __init__(self, root: Path, extract: Extract = extract_facts, kept: bool = True) -> None:
        self.identity: Identity = (1, os.urandom(8).hex())
        self.root, self._kept = str(root), kept
        self.files: dict[str, PreparedFile] = {}
        self._chunks: dict[ChunkId, StoredChunk] = {}
        self._numbers: dict[str, int] = {}
        for number, file in enumerate(sorted(p for p in root.rglob("*") if p.is_file()), 1):
            path = file.relative_to(root).as_posix()
            source, stat = disk.read_file(self.root, path)
            made = prepare(SourceFile(path, source, Entry(stat, disk.digest(source))), extract)
            self.files[path] = made
            self._numbers[path] = number
            for ordinal, c in enumerate(made.chunks):
                self._chunks[number, ordinal] = StoredChunk(
                    (number, ordinal), path, made.language, c.start_line, c.end_line, c.text,
                    c.symbol_id, c.label, c.kind,
                )  # fmt: skip

    def overlay(self) -> FreshFiles:
        return FreshFiles(self.identity, Snapshot({}, 0), 0.0)

    def corpus(self) -> Corpus:
        builder, files = SegmentBuilder(0), []
        for path, made in sorted(self.files.items()):
            builder.add(made)
            files.append(File(self._numbers[path], path, made.language))
        return Corpus([Part(builder.take(), files)])

    def kept_files(self) -> Iterable[KeptFile]:
        for path, file in sorted(self.files.items()):
            rows, names = (file.signatures, file.names) if self._kept else (None, None)
            yield KeptFile(
                self._numbers[path], path, file.language, file.problem, len(file.chunks), rows,
                names,
            )  # fmt: skip

    def chunks(self, ids: Iterable[ChunkId]) -> dict[ChunkId, StoredChunk]:
        return {i: self._chunks[i] for i in ids}

    def texts(self, ids: Iterable[ChunkId]) -> list[tuple[ChunkId, str]]:
        return [(i, self._chunks[i].text) for i in sorted(ids)]

    def chunks_of(self, path: str) -> list[StoredChunk]:
        number = self._numbers[path]
        return [self._chunks[number, at] for at in range(len(self.files[path].chunks))]

    def facts(self, paths: Iterable[str]) -> dict[str, bytes]:
        return {path: self.files[path].facts for path in paths}
