"""Candidates of a query: what the generation ranks, with what changed since ranked beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from holdfast.errors import HoldfastError
from holdfast.index.embedding.provider import EmbeddingProvider
from holdfast.index.freshness import Overlay
from holdfast.index.generation import PreparedChunk, Ranked, Reader, StoredChunk
from holdfast.index.search.fuse import best_first, fuse
from holdfast.index.search.lexical import query_words, score, weighted_counts

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LEXICAL_WEIGHT = 1.0
DENSE_WEIGHT = 1.0
HASHED_WEIGHT = 0.3
"""The stand-in embedding knows words only, which the lexical lane knows better."""

DENSE_FLOOR = 0.2
"""A chunk whose vector is farther from the question than this is no hit of the dense lane."""

FIRST_CANDIDATES = 80
CANDIDATES_MAX = 20_000


@dataclass(slots=True)
class Found:
    """Chunks best first with their scores; `failures` names the lanes that did not answer."""

    chunks: list[tuple[StoredChunk, float]]
    failures: list[str] = field(default_factory=list)
    candidates: int = 0


def find(
    query: str,
    reader: Reader,
    overlay: Overlay,
    provider: EmbeddingProvider,
    wanted: int,
    keep: Callable[[str], bool],
) -> Found:
    """The best `wanted` chunks of files that `keep` keeps, if there are so many.

    The lexical lane must answer; a dense lane that does not is named and left out.
    """
    words = query_words(query)
    failures: list[str] = []
    vector: NDArray[np.float32] | None = None
    try:
        vector = provider.embed_query(query)[0]
    except (HoldfastError, OSError, ValueError) as error:
        failures.append(f"dense {error}")
    fresh = _Fresh(overlay, reader, words, vector, provider.dimension)
    limit = max(FIRST_CANDIDATES, wanted * 8)
    dense_weight = HASHED_WEIGHT if provider.name == "hashed" else DENSE_WEIGHT
    while True:
        lexical = reader.rank_lexical(words, limit)
        dense = reader.rank_dense(vector, limit) if vector is not None else []
        near = [pair for pair in dense if pair[1] >= DENSE_FLOOR]
        stored = reader.paths({identity for identity, _ in (*lexical, *near)})
        kept = {i for i, path in stored.items() if keep(path) and not overlay.replaces(path)}
        kept |= {i for i, chunk in fresh.chunks.items() if keep(chunk.path)}
        lanes = [
            (LEXICAL_WEIGHT, _merged(lexical, fresh.lexical, kept)),
            (dense_weight, _merged(near, fresh.dense[:limit], kept)),
        ]
        scores = fuse(lanes)
        # Dense hits come nearest first, so a far one ends the lane.
        exhausted = len(lexical) < limit and (len(dense) < limit or len(near) < len(dense))
        if len(scores) >= wanted or exhausted or limit >= CANDIDATES_MAX:
            best = best_first(scores)[:wanted]
            chunks = {**reader.chunks(i for i in best if i > 0), **fresh.chunks}
            return Found([(chunks[i], scores[i]) for i in best], failures, limit)
        limit = min(CANDIDATES_MAX, limit * 4)


def _merged(stored: Ranked, fresh: Ranked, kept: set[int]) -> list[int]:
    both = [pair for pair in (*stored, *fresh) if pair[0] in kept]
    both.sort(key=lambda pair: (-pair[1], pair[0]))
    return [identity for identity, _ in both]


class _Fresh:
    """The chunks of changed files, ranked on the generation's scale. Ids are below 0."""

    def __init__(
        self,
        overlay: Overlay,
        reader: Reader,
        words: list[str],
        vector: NDArray[np.float32] | None,
        dimension: int,
    ) -> None:
        self.chunks: dict[int, StoredChunk] = {}
        self.lexical: Ranked = []
        self.dense: Ranked = []
        if not overlay.changed:
            return
        stats = reader.term_stats(words)
        for identity, path, language, chunk, row in _numbered(overlay, dimension):
            self.chunks[identity] = StoredChunk(
                identity,
                path,
                language,
                chunk.start_line,
                chunk.end_line,
                chunk.text,
                chunk.symbol_id,
                chunk.label,
                chunk.kind,
            )
            header, body = chunk.header.split(), chunk.body.split()
            worth = score(words, weighted_counts(header, body), len(header) + len(body), stats)
            if worth > 0:
                self.lexical.append((identity, worth))
            if vector is not None and row is not None:
                nearness = float(row @ vector)
                if nearness >= DENSE_FLOOR:
                    self.dense.append((identity, nearness))
        self.dense.sort(key=lambda pair: (-pair[1], pair[0]))


def _numbered(
    overlay: Overlay, dimension: int
) -> Iterator[tuple[int, str, str, PreparedChunk, NDArray[np.float32] | None]]:
    import numpy as np

    identity = -1
    for path, file in sorted(overlay.changed.items()):
        rows = None
        if file.vectors:
            rows = np.frombuffer(file.vectors, dtype=np.float32).reshape(-1, dimension)
        for i, chunk in enumerate(file.chunks):
            yield identity, path, file.language, chunk, None if rows is None else rows[i]
            identity -= 1
