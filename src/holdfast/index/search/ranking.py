"""The one way in: a query, ranked over a generation and what changed since.

    understand -> lexical and dense lanes -> candidates -> signals -> places

Everything up to the places works on arrays of the open corpus; only the chunks that are shown are
read from the backend.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.errors import HoldfastError
from holdfast.index.embedding.provider import EmbeddingProvider, finite
from holdfast.index.generations.freshness import FreshFiles
from holdfast.index.generations.model import Reader, StoredChunk
from holdfast.index.search import file_scores
from holdfast.index.search.chunk_kinds import HEADERS, is_container, is_short, promote_functions
from holdfast.index.search.fresh_files import corpus_with_fresh, fresh_chunk
from holdfast.index.search.fusion import CALIBRATED_ON, diversified, min_max_scaled, top_rows
from holdfast.index.search.lexical import rank_lexical
from holdfast.index.search.posting_segment import KINDS, TEST_KIND
from holdfast.index.search.query_analysis import AnalyzedQuery, analyze
from holdfast.index.search.roles import Role, role_of
from holdfast.index.search.signals import agreements, definitions, stem_matches
from holdfast.index.search.weights import WEIGHTS, Weights

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from holdfast.index.search.corpus import Corpus

    Floats = NDArray[np.float64]
    Rows = NDArray[np.int64]

DENSE_FLOOR = 0.1
"""A chunk whose vector is farther from the question than this is no hit of the dense lane."""
HASHED_SHARE = 0.3
"""The stand-in embedding knows words only, which the lexical lane knows better."""
CANDIDATES_MIN = 240
DEFINITIONS_MAX = 50
ALIKE = 0.985
"""Chunks whose vectors are nearer than this say the same."""
ALIKE_AMONG = 60
MENTIONED = 0.75
"""How much of holding back is left for a role that is only spoken of, as an exponent."""


class Hit(NamedTuple):
    """One chunk in its place. `signals` says what each lane and signal came to, by name."""

    chunk: StoredChunk
    score: float
    signals: Mapping[str, float]


@dataclass(slots=True)
class Found:
    """Hits best first; `failures` names the lanes that did not answer."""

    hits: list[Hit]
    analyzed: AnalyzedQuery
    failures: list[str] = field(default_factory=list)
    candidates: int = 0

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
    """The best `wanted` chunks of files that `keep` keeps, if there are so many.

    The lexical lane must answer; a dense lane that does not is named and left out. `changed` names
    files somebody is working on.
    """
    analyzed = analyze(query)
    corpus = corpus_with_fresh(reader.corpus(), fresh_files, provider.dimension)
    failures: list[str] = []
    vector: NDArray[np.float32] | None = None
    share = weights.dense.of(analyzed.kind)
    if share and corpus.dimension:
        try:
            vector = finite(provider.name, provider.embed_query(query))[0]
        except (HoldfastError, OSError, ValueError) as error:
            failures.append(f"dense {error}")
        if provider.name == "hashed":
            share *= HASHED_SHARE
    ranked = _Ranking(analyzed, corpus, vector, share, weights, keep, frozenset(changed))
    places = ranked.places(wanted)
    shown = [candidate for candidate, _ in places]
    refs = ranked.refs(shown)
    stored = reader.chunks([ref for ref in refs if ref[0] >= 0])
    hits = []
    for (candidate, score), ref in zip(places, refs, strict=True):
        chunk = stored[ref] if ref[0] >= 0 else fresh_chunk(fresh_files, ref)
        hits.append(Hit(chunk, score, _Signals(ranked.signals, candidate)))
    return Found(hits, analyzed, failures, len(ranked.rows))


class _Signals(Mapping[str, float]):
    """Every signal of one candidate, by name. Looked up when asked for, which is seldom."""

    __slots__ = ("_candidate", "_of_all")

    def __init__(self, of_all: Mapping[str, Floats], candidate: int) -> None:
        self._of_all, self._candidate = of_all, candidate

    def __getitem__(self, name: str) -> float:
        return float(self._of_all[name][self._candidate])

    def __iter__(self) -> Iterator[str]:
        return iter(self._of_all)

    def __len__(self) -> int:
        return len(self._of_all)


class _Ranking:
    """One question over one corpus."""

    def __init__(
        self,
        analyzed: AnalyzedQuery,
        corpus: Corpus,
        vector: NDArray[np.float32] | None,
        share: float,
        weights: Weights,
        keep: Callable[[str], bool],
        changed: frozenset[str],
    ) -> None:
        self._analyzed, self._corpus, self._weights = analyzed, corpus, weights
        self._vector, self._share = vector, share
        self._keep, self._changed = keep, changed
        self.rows: Rows
        self.signals: dict[str, Floats] = {}

    def refs(self, candidates: Sequence[int]) -> list[tuple[int, int]]:
        """What the backend calls candidates: each one's file's number, and which chunk of it."""
        if not candidates:
            return []
        corpus, rows = self._corpus, self.rows[candidates]
        files, ordinals = corpus.file_of[rows].tolist(), corpus.ordinals[rows].tolist()
        return [(corpus.files[f].number, o) for f, o in zip(files, ordinals, strict=True)]

    def places(self, wanted: int) -> list[tuple[int, float]]:
        import numpy as np

        corpus, weights, analyzed = self._corpus, self._weights, self._analyzed
        if not corpus.chunks:
            self.rows = np.empty(0, np.int64)
            return []
        limit = max(CANDIDATES_MIN, wanted * 4)
        by_meaning = np.empty(0, np.int64)
        near = np.empty(0, np.float32)
        if self._vector is not None:
            # First, for it goes through more memory than a processor keeps at hand.
            near = corpus.nearness(self._vector)
            by_meaning = self._best(near, limit, DENSE_FLOOR)
        lexical = rank_lexical(analyzed, corpus, weights)
        by_words = self._best(lexical.scores, limit, 0.0)
        defined, defined_worth = definitions(analyzed, corpus)
        order = np.lexsort((corpus.ties[defined], -defined_worth))[: DEFINITIONS_MAX * 8]
        by_name = self._only_kept(defined[order])[:DEFINITIONS_MAX]
        rows = _each_once(np.concatenate([by_words, by_meaning, by_name]))
        if weights.declared < 1.0:
            bodies = corpus.bodies[rows]
            bodies = self._only_kept(_each_once(bodies[bodies >= 0]))
            rows = _each_once(np.concatenate([rows, bodies]))
        self.rows = rows
        if not len(rows):
            return []
        signals = self.signals
        signals["lexical"] = min_max_scaled(
            lexical.scores[rows], lexical.scores[by_words[:CALIBRATED_ON]]
        )
        signals["dense"] = np.zeros(len(rows))
        if self._vector is not None:
            of_rows = near[rows] if corpus.exhaustive else corpus.nearness_of(self._vector, rows)
            signals["dense"] = min_max_scaled(of_rows, near[by_meaning[:CALIBRATED_ON]])
        signals["definition"] = _spread(corpus.rows, rows, defined, defined_worth)
        signals |= agreements(lexical, corpus, rows)
        named = _spread(corpus.rows, rows, *stem_matches(analyzed, corpus))
        signals["stem"] = np.maximum(signals["stem"], named)
        signals["central"] = corpus.central[rows].astype(np.float64)
        files = corpus.file_of[rows]
        own, of_files = _runs(files)
        paths = [corpus.files[file].path for file in own.tolist()]
        signals["changed"] = np.zeros(len(rows))
        if self._changed:
            changed = np.array([float(path in self._changed) for path in paths])
            signals["changed"] = changed[of_files]
        signals["file_words"] = file_scores.file_bm25(lexical, corpus, own)[of_files]
        signals["file_meaning"] = np.zeros(len(rows))
        if self._vector is not None:
            of_own = file_scores.file_similarity(self._vector, near, corpus, own)
            signals["file_meaning"] = of_own[of_files]
        score = (
            weights.lexical * signals["lexical"]
            + self._share * signals["dense"]
            + weights.file_words.of(analyzed.kind) * signals["file_words"]
            + weights.central.of(analyzed.kind) * signals["central"]
            + self._share * weights.file_meaning * signals["file_meaning"]
            + weights.definition.of(analyzed.kind) * signals["definition"]
        )
        for name in (
            "coverage", "name", "documentation", "stem", "directory", "file_coverage", "changed",
        ):  # fmt: skip
            score = score + getattr(weights, name) * signals[name]
        held = _Held(weights, analyzed)
        signals["role"] = np.array([held[role_of(path)] for path in paths])[of_files]
        kinds = corpus.kinds[rows]
        among_code = kinds == KINDS.index(TEST_KIND)
        signals["role"][among_code] = np.minimum(signals["role"][among_code], held["test"])
        signals["head"], signals["brief"] = np.ones((2, len(rows)))
        if analyzed.kind != "symbol":
            in_header = np.array([path.endswith(HEADERS) for path in paths])[of_files]
            signals["head"][is_container(kinds)] = weights.head
            signals["brief"][is_short(kinds, corpus.lines[rows], in_header)] = weights.brief
        score = score * signals["role"] * signals["head"] * signals["brief"]
        signals["declared"] = np.ones(len(rows))
        if weights.declared < 1.0:
            score, declares = _by_body(score, rows, corpus.bodies[rows])
            signals["declared"][declares] = weights.declared
            score = score * signals["declared"]
        signals["coherence"] = _coherence(score, of_files)
        score = score + weights.coherence * float(score.max()) * signals["coherence"]
        if weights.leader < 1.0:
            score = promote_functions(score, of_files, kinds, corpus.ties[rows], weights.leader)
        alike = self._alike(score)
        return diversified(
            score, files, corpus.ties[rows], wanted, weights.repeat, weights.duplicate, alike
        )

    def _best(self, scores: NDArray[Any], limit: int, floor: float) -> Rows:
        """The best rows of files that are kept; looked for in ever larger heads of the ranking."""
        import numpy as np

        if self._corpus.chunks < self._corpus.rows:
            scores = np.where(self._corpus.alive, scores, floor - 1.0).astype(
                scores.dtype, copy=False
            )
        head = limit * 2
        while True:
            best = top_rows(scores, self._corpus.ties, head, floor)
            kept = self._only_kept(best)
            if len(kept) >= limit or len(best) < head:
                return kept[:limit]
            head *= 4

    def _only_kept(self, rows: Rows) -> Rows:
        return rows[self._corpus.kept(self._keep, self._corpus.file_of[rows])]

    def _alike(self, score: Floats) -> list[tuple[int, int]]:
        """Pairs of the best candidates that say the same, each both ways."""
        import numpy as np

        if self._weights.duplicate == 1.0:
            return []
        top = np.lexsort((self._corpus.ties[self.rows], -score))[:ALIKE_AMONG]
        one, other = np.nonzero(self._corpus.alike(self.rows[top], ALIKE))
        return list(zip(top[one].tolist(), top[other].tolist(), strict=True))


def _each_once(rows: Rows) -> Rows:
    """Rows in order, each once. As numpy's `unique`, which loads a module for masked arrays."""
    import numpy as np

    rows = np.sort(rows)
    first = np.ones(len(rows), dtype=np.bool_)
    np.not_equal(rows[1:], rows[:-1], out=first[1:])
    return rows[first]


def _runs(files: Rows) -> tuple[Rows, Rows]:
    """The files of rows in order, each once, and for each row which of them is its own.

    A file's rows lie together, so a file is one run.
    """
    import numpy as np

    first = np.ones(len(files), dtype=np.bool_)
    np.not_equal(files[1:], files[:-1], out=first[1:])
    return files[first], np.cumsum(first) - 1


class _Held(dict[Role, float]):
    """What is left of a score in a file of each role; all of it where the role is asked for."""

    def __init__(self, weights: Weights, analyzed: AnalyzedQuery) -> None:
        self._weights, self._analyzed = weights, analyzed

    def __missing__(self, role: Role) -> float:
        share = self._weights.roles.of(role)
        if role in self._analyzed.wants:
            share = 1.0
        elif role in self._analyzed.mentions:
            share = share**MENTIONED
        self[role] = share
        return share


def _spread(total: int, rows: Rows, at: Rows, worth: Floats) -> Floats:
    """Values known for some rows of a corpus, for the candidates; 0 where none is known."""
    import numpy as np

    place = np.zeros(total)
    np.maximum.at(place, at, worth)
    return place[rows]


def _by_body(score: Floats, rows: Rows, bodies: Rows) -> tuple[Floats, Rows]:
    """Scores in which a function's body has what its declaration has; and the declarations."""
    import numpy as np

    at = np.minimum(np.searchsorted(rows, bodies), len(rows) - 1)
    declares = np.flatnonzero((bodies >= 0) & (rows[at] == bodies))
    out = score.copy()
    np.maximum.at(out, at[declares], score[declares])
    return out, declares


def _coherence(score: Floats, files: NDArray[np.int64]) -> Floats:
    """For the best chunk of each file, how much good there is in the file; else 0."""
    import numpy as np

    sums = np.bincount(files, weights=score)
    best = np.full(len(sums), -np.inf)
    np.maximum.at(best, files, score)
    top = np.flatnonzero(score >= best[files])
    # Of equal chunks the first of the file.
    leaders = np.full(len(sums), len(score), dtype=np.int64)
    np.minimum.at(leaders, files[top], top)
    out = np.zeros(len(score))
    most = float(sums.max(initial=0.0))
    if most > 0:
        out[leaders] = sums[files[leaders]] / most
    return out
