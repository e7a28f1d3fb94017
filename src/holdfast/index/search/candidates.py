"""The chunks that are scored for one query, and the values that signals need.

Both lanes and the definitions of the requested names propose rows of the corpus. The rest of a
search works on these few hundred rows. Values that several signals need are computed once, here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from holdfast.index.search.coverage import Coverage, coverage_of
from holdfast.index.search.declarations import definition_rows, is_declaring
from holdfast.index.search.definitions import defined_rows
from holdfast.index.search.file_scores import rows_of_files
from holdfast.index.search.fusion import top_rows
from holdfast.index.search.lexical import Lexical, Within, rank_lexical
from holdfast.index.search.query_analysis import AnalyzedQuery
from holdfast.index.search.weights import Weights

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from holdfast.index.search.corpus import Corpus

    Floats = NDArray[np.float64]
    Rows = NDArray[np.int64]

DENSE_SIMILARITY_MIN = 0.1
"""The dense lane does not propose chunks whose similarity to the query is below this."""
PER_LANE_MIN = 240
DEFINITIONS_MAX = 50


class DenseLane(NamedTuple):
    """The similarities of rows to the query's vector, and the best rows, best first."""

    vector: NDArray[np.float32]
    weight: float
    rows: Rows | None
    """The rows that were compared, in ascending order; None for all."""
    similarities: NDArray[np.float32]
    """Their similarities."""
    top: Rows

    def of(self, rows: Rows) -> NDArray[np.float32]:
        """The similarities of some of the compared rows."""
        return self.similarities.take(rows if self.rows is None else self.rows.searchsorted(rows))


class Candidates(msgspec.Struct, frozen=True, dict=True):
    """Rows of the corpus in ascending order, each once, with the lanes' scores of all rows."""

    analyzed: AnalyzedQuery
    corpus: Corpus
    weights: Weights
    rows: Rows
    lexical: Lexical
    lexical_top: Rows
    """The rows that the lexical lane proposed, best first."""
    dense: DenseLane | None
    definitions: tuple[Rows, Floats]
    """Rows that define a name from the query, and the certainty of each."""
    edited: frozenset[str]

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def file_of(self) -> Rows:
        """The file of each candidate, by its number in the corpus."""
        return self.corpus.file_of[self.rows]

    @cached_property
    def file_runs(self) -> tuple[Rows, Rows]:
        """The distinct files of the candidates, and for each candidate the position of its file."""
        return runs(self.file_of)

    @cached_property
    def paths(self) -> list[str]:
        """The paths of `file_runs[0]`."""
        files = self.corpus.files
        return [files.path(file) for file in self.file_runs[0].tolist()]

    @cached_property
    def kinds(self) -> NDArray[np.uint8]:
        return self.corpus.kinds[self.rows]

    @cached_property
    def ties(self) -> Rows:
        """The order of candidates with equal scores."""
        return self.corpus.ties[self.rows]

    @cached_property
    def file_rows(self) -> tuple[Rows, Rows]:
        """All rows of the candidates' files, and the position of each one's file."""
        return rows_of_files(self.corpus, self.file_runs[0])

    @cached_property
    def file_similarities(self) -> NDArray[np.float32]:
        """The similarity of each of `file_rows` to the query's vector, whatever its signs."""
        rows, lane = self.file_rows[0], self.dense
        assert lane is not None
        if lane.rows is None:
            return lane.of(rows)
        return self.corpus.nearness_of(lane.vector, rows)

    @cached_property
    def similarities(self) -> NDArray[np.float32]:
        """The similarity of each candidate to the query's vector, whatever its signs."""
        return self.file_similarities.take(self.file_rows[0].searchsorted(self.rows))

    @cached_property
    def words(self) -> list[Within]:
        """The occurrences of the query's words in the candidates' files."""
        return self.lexical.within(*self.file_rows, len(self.file_runs[0]))

    @cached_property
    def coverage(self) -> Coverage:
        return coverage_of(self.words, self.corpus, self.rows, self.file_runs[1])

    @cached_property
    def declarations(self) -> tuple[Rows, Rows]:
        """Candidates that only declare a function, and the candidates that define it."""
        import numpy as np

        declaring = np.flatnonzero(_is_in_header(self.corpus, self.rows))
        if not len(declaring):  # as in most languages
            return declaring, declaring
        defined_in = self.corpus.derived(definition_rows)[self.rows[declaring]].astype(np.int64)
        at = np.minimum(np.searchsorted(self.rows, defined_in), len(self.rows) - 1)
        here = np.flatnonzero((defined_in >= 0) & (self.rows[at] == defined_in))
        return declaring[here], at[here]

    def per_file(self, values: list[Any]) -> NDArray[Any]:
        """Expand one value per path (in the order of `paths`) to one per candidate."""
        import numpy as np

        return np.array(values)[self.file_runs[1]]

    def by_path(self, function: Callable[[str], int]) -> NDArray[np.int8]:
        """The results of a function of a path, in the order of `paths`. Cached."""
        return self.corpus.by_path(function, self.file_runs[0])

    def spread(self, rows: Rows, values: Floats) -> Floats:
        """The values of some rows of the corpus, as one value per candidate; 0 for all others."""
        import numpy as np

        found = np.zeros(len(self.rows))
        at = np.minimum(self.rows.searchsorted(rows), len(self.rows) - 1)
        there = np.flatnonzero(self.rows.take(at) == rows)
        np.maximum.at(found, at.take(there), values.take(there))
        return found


def gather(
    analyzed: AnalyzedQuery,
    corpus: Corpus,
    weights: Weights,
    vector: NDArray[np.float32] | None,
    dense_weight: float,
    wanted: int,
    keep: Callable[[str], bool],
    edited: frozenset[str],
) -> Candidates:
    """The candidates for `wanted` results, in files that `keep` accepts."""
    import numpy as np

    limit = max(PER_LANE_MIN, wanted * 4)
    dense = None
    if vector is not None:
        # First, because it reads more memory than the processor's caches hold.
        compared, near = (
            (None, corpus.nearness(vector)) if corpus.exhaustive else corpus.preselected(vector)
        )
        top = _top(corpus, near, limit, DENSE_SIMILARITY_MIN, keep, compared)
        dense = DenseLane(vector, dense_weight, compared, near, top)
    lexical = rank_lexical(analyzed, corpus, weights)
    lexical_top = _top(corpus, lexical.scores, limit, 0.0, keep)
    defined, certainty = defined_rows(analyzed, corpus)
    order = np.lexsort((corpus.ties[defined], -certainty))[: DEFINITIONS_MAX * 8]
    by_name = _kept(corpus, defined[order], keep)[:DEFINITIONS_MAX]
    by_meaning = [] if dense is None else [dense.top]
    rows = _unique(np.concatenate([lexical_top, *by_meaning, by_name]))
    if weights.declared < 1.0:
        declaring = rows[_is_in_header(corpus, rows)]
        if len(declaring):
            bodies = corpus.derived(definition_rows)[declaring].astype(np.int64)
            bodies = _kept(corpus, _unique(bodies[bodies >= 0]), keep)
            rows = _unique(np.concatenate([rows, bodies]))
    return Candidates(
        analyzed, corpus, weights, rows, lexical, lexical_top, dense, (defined, certainty), edited
    )


def _top(
    corpus: Corpus,
    scores: NDArray[Any],
    limit: int,
    floor: float,
    keep: Callable[[str], bool],
    rows: Rows | None = None,
) -> Rows:
    """The best rows of accepted files, found by taking ever more of the ranking.

    `rows` has the current rows that the scores belong to; None for all of the corpus.
    """
    import numpy as np

    ties = corpus.ties if rows is None else corpus.ties.take(rows)
    if rows is None and corpus.chunks < corpus.rows:
        scores = np.where(corpus.alive, scores, floor - 1.0).astype(scores.dtype, copy=False)
    head = limit * 2
    while True:
        best = top_rows(scores, ties, head, floor)
        best = best if rows is None else rows.take(best)
        kept = _kept(corpus, best, keep)
        if len(kept) >= limit or len(best) < head:
            return kept[:limit]
        head *= 4


def _kept(corpus: Corpus, rows: Rows, keep: Callable[[str], bool]) -> Rows:
    return rows[corpus.by_path(keep, corpus.file_of[rows]) > 0]


def _is_in_header(corpus: Corpus, rows: Rows) -> NDArray[np.bool_]:
    """Which rows are in a header: only these have a definition elsewhere."""
    return corpus.by_path(is_declaring, corpus.file_of[rows]) > 0


def _unique(rows: Rows) -> Rows:
    """Rows in ascending order, each once: `numpy.unique`, which would import `numpy.ma`."""
    import numpy as np

    rows = np.sort(rows)
    first = np.ones(len(rows), dtype=np.bool_)
    np.not_equal(rows[1:], rows[:-1], out=first[1:])
    return rows[first]


def runs(files: Rows) -> tuple[Rows, Rows]:
    """The distinct files of rows in order, and for each row its file's position among them.

    The rows of a file are consecutive, so each file is one run.
    """
    import numpy as np

    first = np.ones(len(files), dtype=np.bool_)
    np.not_equal(files[1:], files[:-1], out=first[1:])
    return files[first], np.cumsum(first) - 1
