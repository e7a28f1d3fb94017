"""`python -m bench.retrieval.model_trial`: rank the same indexes with other embedding models.

Repositories are indexed once (`--home` keeps the indexes). For each model file the chunks are
embedded again, in memory, and the questions are asked with these vectors at stored precision; all
else is the search itself. So a model is measured in the time that it takes to embed the chunks.

    --set FILE.json[:SPLIT]   several times; a set without a split is asked as a whole
    --keep FILE.json          scores of every question and model, added to those already there

The first model is the base that the others are compared with.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.retrieval.fetch import CACHE, Fetcher
from bench.retrieval.labels import read_set
from bench.retrieval.metrics import Result, judge, tokens
from bench.retrieval.summary import mean, table
from bench.retrieval.tune import IndexedSet, Judged
from bench.retrieval.workers.holdfast import place, wire

MEASURES = ("ndcg10", "path_ndcg10", "file_ndcg10")
AT_ONCE = 2_000
"""Chunks that are read and embedded at a time."""


class OtherVectors:
    """Stands between the search and its model: other vectors for the chunks and for the query."""

    def __init__(self) -> None:
        self.provider: Any = None
        self._made: dict[tuple[str, int], tuple[Any, Any, Any]] = {}
        self._corpus: Any = importlib.import_module("holdfast.index.search.corpus")
        self._signs: Any = importlib.import_module("holdfast.index.search.sign_filter")
        self._retrieval: Any = importlib.import_module("holdfast.index.search.retrieval")
        self._quantised: Any = importlib.import_module(
            "holdfast.index.search.posting_segment"
        ).quantised

    @contextmanager
    def used(self) -> Iterator[None]:
        """Within the block, `provider` decides."""
        of_corpus = self._corpus.Corpus
        before = of_corpus.nearness, of_corpus.nearness_of, self._retrieval.find
        preselected, find = of_corpus.preselected, before[2]

        def found(query: str, reader: Any, fresh: Any, provider: Any, *rest: Any, **named: Any):  # type: ignore[no-untyped-def]
            self._prepare(reader)
            return find(query, reader, fresh, self.provider, *rest, **named)

        of_corpus.nearness = lambda corpus, vector: self._nearness(corpus, vector)
        of_corpus.nearness_of = lambda corpus, vector, rows: self._nearness_of(corpus, vector, rows)
        of_corpus.preselected = lambda corpus, vector: self._preselected(corpus, vector)
        self._retrieval.find = found
        try:
            yield
        finally:
            of_corpus.nearness, of_corpus.nearness_of, self._retrieval.find = before
            of_corpus.preselected = preselected

    def forget(self) -> None:
        """Drop all vectors: another repository comes next."""
        self._made.clear()

    def _prepare(self, reader: Any) -> None:
        import numpy as np

        corpus = reader.corpus()
        key = (self.provider.model, corpus.rows)
        if key in self._made:
            return
        made = np.zeros((corpus.rows, self.provider.dimension), dtype=np.float32)
        alive = np.flatnonzero(corpus.alive)
        for at in range(0, len(alive), AT_ONCE):
            rows = alive[at : at + AT_ONCE].tolist()
            files, ordinals = corpus.file_of[rows].tolist(), corpus.ordinals[rows].tolist()
            refs = [(corpus.files[f].number, o) for f, o in zip(files, ordinals, strict=True)]
            stored = reader.chunks(refs)
            chunks = [stored[ref] for ref in refs]
            made[rows] = self.provider.embed(
                [f"{c.path}\n{c.label or ''}\n{c.text}" for c in chunks]
            )
        small, scales = self._quantised(made)
        signs = self._corpus.in_words(np.packbits(small > 0, axis=1))
        self._made[key] = (small.astype(np.float32), scales, signs)

    def _nearness_of(self, corpus: Any, vector: Any, rows: Any) -> Any:
        small, scales, _ = self._made[self.provider.model, corpus.rows]
        asked, scale = self._corpus._levels(vector)
        return (small[rows] @ asked) * scales[rows] * scale

    def _preselected(self, corpus: Any, vector: Any) -> Any:
        import numpy as np

        living = np.flatnonzero(corpus.alive)
        return living, self._nearness(corpus, vector)[living]

    def _nearness(self, corpus: Any, vector: Any) -> Any:
        import numpy as np

        small, scales, signs = self._made[self.provider.model, corpus.rows]
        if corpus.exhaustive:
            asked, scale = self._corpus._levels(vector)
            return (small @ asked) * scales * scale
        asked = self._corpus.in_words(np.packbits(vector > 0)[None, :])[0]
        apart = np.empty(corpus.rows, dtype=np.int16)
        self._signs.count_differences(signs, asked, apart)
        most = len(vector) + 1
        apart[~corpus.alive] = most
        counts = np.cumsum(np.bincount(apart, minlength=most + 1))
        last = int(np.searchsorted(counts, min(self._corpus.BY_SIGNS, len(apart))))
        rows = np.flatnonzero(apart <= min(last, most - 1))
        near = np.zeros(corpus.rows, dtype=np.float32)
        near[rows] = self._nearness_of(corpus, vector, rows)
        return near


def _embedded(chunk: Any) -> str:
    """As `embedded_text` of the index's preparation."""
    return f"{chunk.path}\n{chunk.label or ''}\n{chunk.text}"


def judged(indexed: IndexedSet, models: Sequence[Path]) -> dict[str, Judged]:
    """The scores of every question with every model."""
    from holdfast.index.embedding.static import StaticEmbedding
    from holdfast.index.tools.search import search_code

    other = OtherVectors()
    found: dict[str, Judged] = {model.stem: {} for model in models}
    trees = dict.fromkeys(tree for tree, _ in indexed.asked)
    with other.used():
        for tree in trees:
            for model in models:
                other.provider = StaticEmbedding(model)
                for where, query in indexed.asked:
                    if where != tree:
                        continue
                    answer = wire(search_code(indexed.index, tree, query.text, limit=20))
                    results = [
                        Result(path, start, end, tokens(shown), tuple(further))
                        for path, start, end, shown, further in map(place, answer["results"])
                    ]
                    found[model.stem][query.id] = judge(results, query.targets)
                other.forget()
    return found


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench.retrieval.model_trial",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("models", type=Path, nargs="+", metavar="MODEL.bin")
    parser.add_argument("--set", action="append", required=True, dest="sets")
    parser.add_argument("--cache", type=Path, default=CACHE)
    parser.add_argument("--home", type=Path, help="keep the indexes there for the next run")
    parser.add_argument("--keep", type=Path)
    args = parser.parse_args(argv)
    kept: dict[str, dict[str, Judged]] = {}
    if args.keep and args.keep.exists():
        kept = json.loads(args.keep.read_text())
    with tempfile.TemporaryDirectory() as directory:
        for one in args.sets:
            file, _, split = one.partition(":")
            name = f"{Path(file).stem}{f' {split}' if split else ''}"
            labelled = read_set(Path(file)).chosen(split, [])
            home = args.home or Path(directory)
            indexed = IndexedSet(labelled, home, Fetcher(args.cache.resolve()), 20)
            todo = [m for m in args.models if m.stem not in kept.get(name, {})]
            kept.setdefault(name, {}).update(judged(indexed, todo) if todo else {})
            if args.keep:
                args.keep.write_text(json.dumps(kept) + "\n")
            print(name, "measured", file=sys.stderr, flush=True)
    for measure in MEASURES:
        print(f"\n{measure}")
        print(table(("model", *kept), rows_of(kept, [m.stem for m in args.models], measure)))
    return 0


def rows_of(
    kept: dict[str, dict[str, Judged]], models: Sequence[str], measure: str
) -> list[tuple[str, ...]]:
    """A row for each model: its score on each set, and questions better and worse than the base."""
    rows = []
    for model in models:
        row = [model]
        for found in kept.values():
            if model not in found or models[0] not in found:
                row.append("")
                continue
            base = found[models[0]]
            mine = [found[model][i][measure] for i in base]
            theirs = [base[i][measure] for i in base]
            told = f"{mean(mine):.4f}"
            if model != models[0]:
                up = sum(a > b + 1e-9 for a, b in zip(mine, theirs, strict=True))
                down = sum(a < b - 1e-9 for a, b in zip(mine, theirs, strict=True))
                told += f" {mean(mine) - mean(theirs):+.4f} ({up}:{down})"
            row.append(told)
        rows.append(tuple(row))
    return rows


if __name__ == "__main__":
    raise SystemExit(main())
