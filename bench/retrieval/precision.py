"""`python -m bench.retrieval.precision`: what is lost by one byte per dimension.

Indexes are built as usual, and the exact vector of each row is kept in this process. The same
questions are then ranked at stored precision and by exact inner products.
"""

from __future__ import annotations

import argparse
import importlib
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.retrieval.fetch import CACHE, Fetcher
from bench.retrieval.labels import read_set
from bench.retrieval.summary import table
from bench.retrieval.tune import HEAD, IndexedSet, compared


class Exact:
    """Records exact vectors while indexes are built, and can rank by them afterwards."""

    def __init__(self) -> None:
        self.rows: dict[bytes, Any] = {}
        self.segment: Any = importlib.import_module("holdfast.index.search.posting_segment")
        self.corpus: Any = importlib.import_module("holdfast.index.search.corpus")
        names: dict[str, Any] = vars(self.segment)
        self._quantised = names["quantised"]
        names["quantised"] = self._taking_down

    def _taking_down(self, rows: Any) -> Any:
        small, scales = self._quantised(rows)
        for one, exact in zip(small, rows, strict=True):
            self.rows[one.tobytes()] = exact.copy()
        return small, scales

    def use(self) -> None:
        """Rank by exact vectors from now on."""
        import numpy as np

        known: dict[int, Any] = {}

        def exact(segment: Any) -> Any:
            if id(segment) not in known:
                missing = np.zeros(segment.vectors.shape[1], dtype=np.float32)
                rows = [self.rows.get(row.tobytes(), missing) for row in segment.vectors]
                known[id(segment)] = np.array(rows, dtype=np.float32)
            return known[id(segment)]

        def nearness(corpus: Any, vector: Any) -> Any:
            near = np.zeros(corpus.rows, dtype=np.float32)
            for first, part in zip(corpus.firsts, corpus.parts, strict=True):
                rows = exact(part.segment)
                if rows.shape[1:] == vector.shape:
                    near[first : first + len(rows)] = rows @ vector
            return near

        def preselected(corpus: Any, vector: Any) -> Any:
            living = np.flatnonzero(corpus.alive)
            return living, nearness(corpus, vector)[living]

        self.corpus.Corpus.nearness = nearness
        self.corpus.Corpus.preselected = preselected
        self.corpus.Corpus.nearness_of = lambda corpus, vector, rows: nearness(corpus, vector)[rows]


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench.retrieval.precision", description=__doc__
    )
    parser.add_argument("--set", type=Path, required=True, dest="labelled")
    parser.add_argument("--split", default="dev")
    parser.add_argument("--repos", default="")
    parser.add_argument("--cache", type=Path, default=CACHE)
    args = parser.parse_args(argv)
    ranking: Any = importlib.import_module("holdfast.index.search.weights")
    names = [name for name in args.repos.split(",") if name]
    exact = Exact()
    with tempfile.TemporaryDirectory() as directory:
        labelled = read_set(args.labelled).chosen(args.split, names)
        indexed = IndexedSet(labelled, Path(directory), Fetcher(args.cache.resolve()), 20)
        asked = {query.id: query.repository for _, query in indexed.asked}
        stored = indexed.judged(ranking.WEIGHTS)
        exact.use()
        rows = [
            compared("one byte per dimension", stored, stored, asked),
            compared("exact", indexed.judged(ranking.WEIGHTS), stored, asked),
        ]
        print(f"{len(exact.rows)} rows recorded")
    print(table(HEAD, rows))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
