"""Find chunks similar to a given text.

Two measures select candidates: shared trigrams and similarity of the vectors. A copy with renamed
symbols keeps its vector, one with inserted words keeps its trigrams. The candidates' texts are then
compared: `similarity` is the Jaccard similarity of their runs of three words.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from holdfast.errors import HoldfastError
from holdfast.index.embedding.provider import EmbeddingProvider, finite
from holdfast.index.generations.freshness import FreshFiles
from holdfast.index.generations.model import ChunkId, Reader, StoredChunk
from holdfast.index.search import trigrams
from holdfast.index.search.fresh_files import corpus_with_fresh, fresh_chunk
from holdfast.index.search.results import Finding
from holdfast.index.search.trigrams import KeptFile, Trigrams, head, table_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

CHARACTERS_MAX = 20_000
CANDIDATES = 60
WEIGHTS = {"words": 0.5, "trigrams": 0.25, "dense": 0.25}
SCORE_MIN = 0.12
"""Unrelated texts score up to this."""
RUN = 3

_WORD = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Sample:
    """The text to compare with, and where it is, if it is in a file."""

    text: str
    path: str = ""
    """Absolute; empty for a text that is not from a file."""
    first_line: int = 0
    last_line: int = 0

    def is_in(self, root: str, chunk: StoredChunk) -> bool:
        """Whether a chunk overlaps the sample itself."""
        return (
            self.path == f"{root}/{chunk.path}"
            and chunk.start_line <= self.last_line
            and self.first_line <= chunk.end_line
        )


def runs(text: str) -> frozenset[tuple[str, ...]]:
    """Every run of three tokens of a text; the whole text if it is shorter."""
    words = _WORD.findall(text)
    if len(words) <= RUN:
        return frozenset([tuple(words)]) if words else frozenset()
    return frozenset(zip(words, words[1:], words[2:], strict=False))


def similarity(one: frozenset[tuple[str, ...]], other: frozenset[tuple[str, ...]]) -> float:
    """The Jaccard similarity of two sets of runs."""
    either = len(one | other)
    return len(one & other) / either if either else 0.0


@dataclass(frozen=True, slots=True)
class SimilarFound:
    """The chunks most similar to a sample, best first, without the sample."""

    findings: list[Finding]
    candidates: int
    more: bool
    """Whether there are chunks that were not compared or not returned."""
    failures: list[str]
    """Lanes that failed."""


def find_similar(
    sample: Sample,
    root: str,
    reader: Reader,
    fresh_files: FreshFiles,
    provider: EmbeddingProvider,
    keep: Callable[[str], bool],
    wanted: int,
) -> SimilarFound:
    """The `wanted` chunks most similar to the sample, in files that `keep` accepts."""
    signals: dict[ChunkId, dict[str, float]] = {}
    most = max(CANDIDATES, wanted)
    by_trigrams, more = _by_trigrams(sample, reader, fresh_files, keep, most)
    for identity, share in by_trigrams:
        signals.setdefault(identity, {})["trigrams"] = share
    failures: list[str] = []
    try:
        for identity, near in _by_meaning(sample, reader, fresh_files, provider, keep, most):
            signals.setdefault(identity, {})["dense"] = near
    except (HoldfastError, OSError, ValueError) as error:
        failures.append(f"dense {error}")
    stored = reader.chunks([identity for identity in signals if identity[0] >= 0])
    asked = runs(sample.text)
    found = []
    for identity, known in signals.items():
        chunk = stored.get(identity) if identity[0] >= 0 else fresh_chunk(fresh_files, identity)
        if chunk is None or sample.is_in(root, chunk):
            continue
        known["words"] = similarity(asked, runs(chunk.text))
        score = sum(weight * known.get(name, 0.0) for name, weight in WEIGHTS.items())
        if score >= SCORE_MIN:
            found.append(Finding(root, chunk, score, known))
    found.sort(key=lambda f: (-f.score, f.chunk.path, f.chunk.start_line))
    return SimilarFound(found[:wanted], len(signals), more or len(found) > wanted, failures)


def _by_trigrams(
    sample: Sample, reader: Reader, fresh_files: FreshFiles, keep: Callable[[str], bool], most: int
) -> tuple[list[tuple[ChunkId, float]], bool]:
    """The chunks with the most trigrams in common with the sample, and whether there are others."""
    import numpy as np

    table = table_of(reader)
    asked = np.fromiter(
        (
            at not in table.unknown and not fresh_files.replaces(file.path) and keep(file.path)
            for at, file in enumerate(table.files)
        ),
        dtype=np.bool_,
        count=len(table.files),
    )
    rows = np.flatnonzero(np.repeat(asked, np.diff(table.starts)))
    shares = table.shares(sample.text)[rows]
    found: list[tuple[ChunkId, float]] = []
    for place in _highest(shares, rows, most):
        row = int(rows[place])
        at = int(np.searchsorted(table.starts, row, side="right")) - 1
        found.append(((table.files[at].number, row - int(table.starts[at])), float(shares[place])))
    for number, path in enumerate(sorted(fresh_files.changed)):
        chunks = fresh_files.changed[path].chunks
        if chunks and keep(path):
            bits = trigrams.signatures([chunk.text for chunk in chunks])
            kept = KeptFile(number, path, "", None, len(chunks), head(True) + bits, None)
            each = Trigrams([kept]).shares(sample.text)
            found += [((-1 - number, i), float(share)) for i, share in enumerate(each)]
    return found, len(rows) > most


def _by_meaning(
    sample: Sample,
    reader: Reader,
    fresh_files: FreshFiles,
    provider: EmbeddingProvider,
    keep: Callable[[str], bool],
    most: int,
) -> list[tuple[ChunkId, float]]:
    import numpy as np

    corpus = corpus_with_fresh(reader.corpus(), fresh_files, provider.dimension)
    if not corpus.dimension or not corpus.chunks:
        return []
    vectors = finite(provider.name, provider.embed([sample.text]))
    near = corpus.nearness(vectors[0])
    rows = np.flatnonzero(corpus.alive & (near > 0))
    rows = rows[corpus.by_path(keep, corpus.file_of[rows]) > 0]
    found: list[tuple[ChunkId, float]] = []
    for place in _highest(near[rows], corpus.ties[rows], most):
        row = int(rows[place])
        file = corpus.files[int(corpus.file_of[row])]
        found.append(((file.number, int(corpus.ordinals[row])), float(min(near[row], 1.0))))
    return found


def _highest(values: NDArray[Any], ties: NDArray[Any], most: int) -> list[int]:
    """Positions of the highest values, highest first."""
    import numpy as np

    places = np.arange(len(values))
    if most < len(values):
        floor = np.partition(values, len(values) - most)[len(values) - most]
        places = np.flatnonzero(values >= floor)
    order = np.lexsort((ties[places], -values[places]))[:most]
    found: list[int] = places[order].tolist()
    return found
