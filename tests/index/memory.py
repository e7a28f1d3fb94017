"""A generation that lives in memory, for tests of what is found in one."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from holdfast.files import disk
from holdfast.files.snapshot import Entry, Snapshot
from holdfast.index.freshness import Overlay
from holdfast.index.generation import Identity, PreparedFile, StoredChunk
from holdfast.index.prepare import Extract, Job, extract_facts, prepare
from holdfast.index.search import trigrams
from holdfast.index.search.trigrams import KeptFile


class MemoryReader:
    """The part of a reader that needs no postings and no vectors."""

    def __init__(self, root: Path, extract: Extract = extract_facts, kept: bool = True) -> None:
        self.identity: Identity = (1, os.urandom(8).hex())
        self.root, self._kept = str(root), kept
        self.files: dict[str, PreparedFile] = {}
        self._chunks: dict[int, StoredChunk] = {}
        self._ids: dict[str, range] = {}
        at = 1
        for file in sorted(p for p in root.rglob("*") if p.is_file()):
            path = file.relative_to(root).as_posix()
            source, stat = disk.read_file(self.root, path)
            made = prepare(Job(path, source, Entry(stat, disk.digest(source))), extract)
            self.files[path] = made
            self._ids[path] = range(at, at + len(made.chunks))
            for c in made.chunks:
                self._chunks[at] = StoredChunk(
                    at, path, made.language, c.start_line, c.end_line, c.text, c.symbol_id,
                    c.label, c.kind,
                )  # fmt: skip
                at += 1

    def overlay(self) -> Overlay:
        return Overlay(self.identity, Snapshot({}, 0), 0.0)

    def kept_files(self) -> Iterable[KeptFile]:
        for path, file in sorted(self.files.items()):
            rows, names = trigrams.of_file(file) if self._kept else (None, None)
            yield KeptFile(path, file.language, file.problem, self._ids[path], rows, names)

    def chunks(self, ids: Iterable[int]) -> dict[int, StoredChunk]:
        return {i: self._chunks[i] for i in ids}

    def texts(self, ids: Iterable[int]) -> list[tuple[int, str]]:
        return [(i, self._chunks[i].text) for i in sorted(ids)]

    def chunks_of(self, path: str) -> list[StoredChunk]:
        return [self._chunks[i] for i in self._ids[path]]

    def facts(self, paths: Iterable[str]) -> dict[str, bytes]:
        return {path: self.files[path].facts for path in paths}
