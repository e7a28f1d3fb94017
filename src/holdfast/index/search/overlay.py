"""Files that changed since a generation, put in the place of their stored selves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.index.generations.freshness import Overlay
from holdfast.index.generations.model import StoredChunk
from holdfast.index.generations.segments import Gathering
from holdfast.index.search.corpus import Corpus, File, Part

if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.index.generations.model import PreparedFile


def corpus_with(corpus: Corpus, overlay: Overlay, dimension: int) -> Corpus:
    """The corpus as it would be after a sync. Made once for each look at the tree."""
    if not overlay.changed and not overlay.gone:
        return corpus
    made = overlay.corpus
    if isinstance(made, tuple) and made[0] is corpus:
        found: Corpus = made[1]
        return found
    gathering = Gathering(dimension)
    files = []
    for number, path in enumerate(sorted(overlay.changed)):
        gathering.add(overlay.changed[path])
        files.append(File(-1 - number, path, overlay.changed[path].language))
    fresh = Part(gathering.take(), files)
    changed = corpus.changed([fresh], {*overlay.changed, *overlay.gone})
    overlay.corpus = (corpus, changed)
    return changed


def fresh_chunk(overlay: Overlay, ref: tuple[int, int]) -> StoredChunk:
    """A chunk of a changed file; numbers below 0 count the files of the overlay by path."""
    number, ordinal = ref
    path = _paths(overlay.changed)[-1 - number]
    file = overlay.changed[path]
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


def _paths(changed: Mapping[str, PreparedFile]) -> list[str]:
    return sorted(changed)
