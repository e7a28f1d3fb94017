"""Rank files that changed since a generation in place of their stored versions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.index.generations.freshness import FreshFiles
from holdfast.index.generations.model import StoredChunk
from holdfast.index.generations.segments import SegmentBuilder
from holdfast.index.search.corpus import Corpus, Part
from holdfast.index.search.file_table import File

if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.index.generations.model import PreparedFile, Reader


def corpus_with_fresh(corpus: Corpus, fresh_files: FreshFiles, dimension: int) -> Corpus:
    """The corpus as it would be after a sync. Built once for each check of the tree."""
    if not fresh_files.changed and not fresh_files.gone:
        return corpus
    made = fresh_files.corpus
    if isinstance(made, tuple) and made[0] is corpus:
        found: Corpus = made[1]
        return found
    gathering = SegmentBuilder(dimension)
    files = []
    for number, path in enumerate(sorted(fresh_files.changed)):
        gathering.add(fresh_files.changed[path])
        files.append(File(-1 - number, path, fresh_files.changed[path].language))
    fresh = Part(gathering.take(), files)
    changed = corpus.changed([fresh], {*fresh_files.changed, *fresh_files.gone})
    fresh_files.corpus = (corpus, changed)
    return changed


def fresh_chunk(fresh_files: FreshFiles, ref: tuple[int, int]) -> StoredChunk:
    """A chunk of a changed file; its number is negative and counts the changed files by path."""
    number, ordinal = ref
    path = _paths(fresh_files.changed)[-1 - number]
    file = fresh_files.changed[path]
    chunk = file.chunks[ordinal]
    return StoredChunk(
        ref,
        path,
        file.language,
        chunk.start_line,
        chunk.end_line,
        chunk.text,
        chunk.symbol_id,
        chunk.label,
        chunk.kind,
    )


def chunks_of(path: str, reader: Reader, fresh_files: FreshFiles) -> list[StoredChunk]:
    """All chunks of a file as it is now."""
    if path in fresh_files.changed:
        number = -1 - _paths(fresh_files.changed).index(path)
        chunks = fresh_files.changed[path].chunks
        return [fresh_chunk(fresh_files, (number, ordinal)) for ordinal in range(len(chunks))]
    return [] if path in fresh_files.gone else reader.chunks_of(path)


def _paths(changed: Mapping[str, PreparedFile]) -> list[str]:
    return sorted(changed)
