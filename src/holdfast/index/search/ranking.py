"""`find`: the chunks of one root that match a query best.

    analyze -> lexical and dense lanes -> candidates -> signals -> diversified order

Everything up to the order works on arrays of the open corpus; only the chunks that are returned are
read from the backend.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from msgspec.structs import replace

from holdfast.errors import HoldfastError
from holdfast.index.embedding.provider import EmbeddingProvider, finite
from holdfast.index.generations.freshness import FreshFiles
from holdfast.index.generations.model import Reader, StoredChunk
from holdfast.index.search import signals
from holdfast.index.search.candidates import Candidates, gather
from holdfast.index.search.definitions import inherited_names, rows_of_type
from holdfast.index.search.fresh_files import corpus_with_fresh, fresh_chunk
from holdfast.index.search.fusion import diversified
from holdfast.index.search.inheritance import ancestors
from holdfast.index.search.match_strength import match_strength
from holdfast.index.search.query_analysis import AnalyzedQuery, analyze
from holdfast.index.search.weights import WEIGHTS, Weights

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from holdfast.index.search.corpus import Corpus

    Floats = NDArray[np.float64]

HASHED_SHARE = 0.3
"""The hashed embedding is based on words only, which the lexical lane ranks better."""


class Hit(NamedTuple):
    """A chunk of the answer. `signals` has the value of each signal by name, before weights."""

    chunk: StoredChunk
    score: float
    signals: Mapping[str, float]


class Found(msgspec.Struct):
    """Hits, best first; `failures` names the lanes that did not answer."""

    hits: list[Hit]
    analyzed: AnalyzedQuery
    failures: list[str] = msgspec.field(default_factory=list)
    candidates: int = 0
    strength: float = 0.0
    """How well the best hits match, from 0 to 1; see `match_strength`."""

    @property
    def chunks(self) -> list[tuple[StoredChunk, float]]:
        return [(hit.chunk, hit.score) for hit in self.hits]


def find(
    query: str,
    reader: Reader,
    fresh_files: FreshFiles,
    provider: EmbeddingProvider,
    wanted: int,
    keep: Callable[[str], bool],
    *,
    weights: Weights = WEIGHTS,
    changed: Collection[str] = (),
) -> Found:
    """At most `wanted` chunks of the files that `keep` accepts, best first.

    The lexical lane must answer; if the dense lane fails, it is left out and listed in `failures`.
    `changed` names files that are being edited.
    """
    analyzed = analyze(query)
    corpus = corpus_with_fresh(reader.corpus(), fresh_files, provider.dimension)
    failures: list[str] = []
    vector: NDArray[np.float32] | None = None
    dense_weight = weights.dense.of(analyzed.kind)
    if dense_weight and corpus.dimension:
        try:
            vector = finite(provider.name, provider.embed_query(query))[0]
        except (HoldfastError, OSError, ValueError) as error:
            failures.append(f"dense {error}")
        if provider.name == "hashed":
            dense_weight *= HASHED_SHARE
    if not corpus.chunks:
        return Found([], analyzed, failures)
    analyzed = _with_bases(analyzed, corpus, reader, fresh_files)
    candidates = gather(
        analyzed, corpus, weights, vector, dense_weight, wanted, keep, frozenset(changed)
    )
    if not len(candidates):
        return Found([], analyzed, failures)
    score, applied = signals.score(candidates)
    order = diversified(score, candidates.file_of, candidates.ties, wanted, weights.repeat)
    values = {signal.name: signal.values for signal in applied}
    refs = _refs(candidates, [candidate for candidate, _ in order])
    stored = reader.chunks([ref for ref in refs if ref[0] >= 0])
    hits = []
    for (candidate, points), ref in zip(order, refs, strict=True):
        chunk = stored[ref] if ref[0] >= 0 else fresh_chunk(fresh_files, ref)
        hits.append(Hit(chunk, points, _Values(values, candidate)))
    strength = match_strength(candidates, [candidate for candidate, _ in order])
    return Found(hits, analyzed, failures, len(candidates), strength)


def _with_bases(
    analyzed: AnalyzedQuery, corpus: Corpus, reader: Reader, fresh_files: FreshFiles
) -> AnalyzedQuery:
    """The query with the bases of owners that do not define the requested member themselves."""
    inherited = inherited_names(analyzed, corpus)
    if not inherited:
        return analyzed

    def heads(name: str) -> list[str]:
        rows = rows_of_type(name, corpus).tolist()
        refs = [
            (corpus.files.number(int(corpus.file_of[row])), int(corpus.ordinals[row]))
            for row in rows
        ]
        stored = reader.chunks([ref for ref in refs if ref[0] >= 0])
        return [
            (stored[ref] if ref[0] >= 0 else fresh_chunk(fresh_files, ref)).text for ref in refs
        ]

    bases = {name: ancestors(name.owner, heads) for name in inherited}
    names = tuple(replace(name, bases=bases.get(name, ())) for name in analyzed.names)
    return replace(analyzed, names=names)


class _Values(Mapping[str, float]):
    """The signals of one candidate, by name. Computed on access, because they are rarely needed."""

    __slots__ = ("_candidate", "_of_all")

    def __init__(self, of_all: Mapping[str, Floats], candidate: int) -> None:
        self._of_all, self._candidate = of_all, candidate

    def __getitem__(self, name: str) -> float:
        unused = signals.UNUSED_VALUES[name]
        return float(self._of_all[name][self._candidate]) if name in self._of_all else unused

    def __iter__(self) -> Iterator[str]:
        return iter(signals.UNUSED_VALUES)

    def __len__(self) -> int:
        return len(signals.UNUSED_VALUES)


def _refs(candidates: Candidates, chosen: Sequence[int]) -> list[tuple[int, int]]:
    """The backend's key of each chosen candidate: file number and position of the chunk in it."""
    if not chosen:
        return []
    corpus = candidates.corpus
    files = candidates.file_of[chosen].tolist()
    ordinals = corpus.ordinals[candidates.rows[chosen]].tolist()
    return [(corpus.files.number(f), o) for f, o in zip(files, ordinals, strict=True)]
