"""`python -m bench.retrieval.tune`: measure what each signal is worth, and try other weights.

Repositories are indexed once and searched many times, in this process, so a ranking takes seconds.

    --ablate            switch off every lane and signal, one at a time
    --try NAME=A,B,C    try these values of a weight (a part: dense.question=1)
    --compare FILE.json try a set of weights
    --climb NAME,…      coordinate ascent on these weights
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.retrieval.__main__ import located
from bench.retrieval.fetch import CACHE, CannotFetch, Fetcher
from bench.retrieval.labels import LabelledSet, Query, read_set
from bench.retrieval.metrics import Result, judge, tokens
from bench.retrieval.summary import mean, paired, table
from bench.retrieval.weights import weighed
from bench.retrieval.workers.holdfast import place, wire
from holdfast.home import Home

Judged = dict[str, dict[str, float]]
"""Every metric of every question, by the question's id."""


class IndexedSet:
    """A set whose repositories are indexed, to be searched with any weights."""

    def __init__(self, labelled: LabelledSet, home: Path, fetcher: Fetcher, results: int) -> None:
        from holdfast.index.code_index import run_here
        from holdfast.index.settings import index_of
        from holdfast.index.tools.manage import manage_index

        self.index = index_of(Home(home), {})
        self.index.start = run_here
        self.results = results
        self.asked: list[tuple[str, Query]] = []
        for repository in labelled.repositories:
            try:
                tree = str(located(repository, fetcher).resolve())
            except (CannotFetch, OSError) as error:
                print(f"{repository.id}: {error}", file=sys.stderr)
                continue
            answer = manage_index(self.index, "create", tree)
            known = self.index.registry.find(tree)
            if known is None or not known.searchable:
                # Its questions would find nothing, and count as bad answers.
                raise RuntimeError(f"{repository.id}: not indexed: {answer.message}")
            mine = (query for query in labelled.queries if query.repository == repository.id)
            self.asked += [(tree, query) for query in mine]

    def judged(self, weights: Any) -> Judged:
        from holdfast.index.search import ranking
        from holdfast.index.tools.search import search_code

        defaults: Any = ranking.find.__kwdefaults__
        before, defaults["weights"] = defaults["weights"], weights
        found: Judged = {}
        try:
            for tree, query in self.asked:
                answer = wire(search_code(self.index, tree, query.text, limit=self.results))
                results = []
                for path, start, end, shown, further in map(place, answer["results"]):
                    results.append(Result(path, start, end, tokens(shown), tuple(further)))
                found[query.id] = judge(results, query.targets)
        finally:
            defaults["weights"] = before
        return found


def score(judged: Judged) -> float:
    """What `climb` maximises: the mean of NDCG@10 by span and by path."""
    return mean([(one["ndcg10"] + one["path_ndcg10"]) / 2 for one in judged.values()])


def compared(name: str, judged: Judged, base: Judged, asked: Mapping[str, str]) -> tuple[str, ...]:
    """A row: scores, difference to the base with its interval, repositories better and worse."""
    row = [name]
    for measure in ("ndcg10", "path_ndcg10"):
        mine = [judged[i][measure] for i in base]
        told = paired(mine, [base[i][measure] for i in base])
        low, high = told["difference_95"]
        row += [f"{mean(mine):.4f}", f"{told['difference']:+.4f} [{low:+.3f}, {high:+.3f}]"]
    by_repository: dict[str, list[float]] = {}
    for i in base:
        difference = judged[i]["ndcg10"] + judged[i]["path_ndcg10"]
        difference -= base[i]["ndcg10"] + base[i]["path_ndcg10"]
        by_repository.setdefault(asked[i], []).append(difference)
    moved = [mean(values) for values in by_repository.values()]
    row += [str(sum(m > 1e-9 for m in moved)), str(sum(m < -1e-9 for m in moved))]
    return tuple(row)


HEAD = ("ranking", "by span", "difference", "by path", "difference", "repos up", "repos down")


def climb(indexed: IndexedSet, weights: Any, names: Sequence[str], rounds: int) -> dict[str, float]:
    """Coordinate ascent with steps of a quarter, halved when nothing helps."""
    chosen: dict[str, float] = {}
    best, step = score(indexed.judged(weights)), 1.3
    print(f"start {best:.4f}", flush=True)
    for _ in range(rounds):
        rose = False
        for name in names:
            now = chosen.get(name, _value(weights, name))
            for factor in (step, 1 / step):
                told = {**chosen, name: round(now * factor if now else 0.1 * (factor > 1), 4)}
                reached = score(indexed.judged(weighed(weights, told)))
                if reached > best + 0.0003:
                    best, chosen, rose = reached, told, True
                    print(f"{name} {told[name]} -> {best:.4f}", flush=True)
                    break
        if not rose:
            step = step**0.5
            if step < 1.08:
                break
    return chosen


def _value(weights: Any, name: str) -> float:
    for part in name.split("."):
        weights = getattr(weights, part)
    return float(weights)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.retrieval.tune", description=__doc__)
    parser.add_argument("--set", type=Path, required=True, dest="labelled")
    parser.add_argument("--split", default="train,dev")
    parser.add_argument("--repos", default="")
    parser.add_argument("--results", type=int, default=20)
    parser.add_argument("--cache", type=Path, default=CACHE)
    parser.add_argument("--home", type=Path, help="keep the indexes there for the next run")
    parser.add_argument("--weights", type=Path, help="initial weights")
    parser.add_argument("--ablate", action="store_true")
    parser.add_argument("--try", action="append", default=[], dest="tried", metavar="NAME=A,B")
    parser.add_argument("--compare", action="append", default=[], type=Path, metavar="FILE.json",
                        help="try a set of weights")  # fmt: skip
    parser.add_argument("--climb", default="", metavar="NAME,NAME")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args(argv)
    ranking: Any = importlib.import_module("holdfast.index.search.weights")
    weights: Any = ranking.WEIGHTS
    if args.weights:
        weights = weighed(weights, json.loads(args.weights.read_text()))
    names = [name for name in args.repos.split(",") if name]
    labelled = read_set(args.labelled).chosen(args.split, names)
    with tempfile.TemporaryDirectory() as directory:
        home = args.home or Path(directory)
        indexed = IndexedSet(labelled, home, Fetcher(args.cache.resolve()), args.results)
        asked = {query.id: query.repository for _, query in indexed.asked}
        base = indexed.judged(weights)
        rows = [compared("as it is", base, base, asked)]
        if args.ablate:
            for signal in ranking.SIGNALS:
                try:
                    without = weights.without(signal)
                except ValueError:
                    continue
                rows.append(compared(f"without {signal}", indexed.judged(without), base, asked))
                print(" | ".join(rows[-1]), file=sys.stderr, flush=True)
        for tried in args.tried:
            name, _, values = tried.partition("=")
            for value in values.split(","):
                judged = indexed.judged(weighed(weights, {name: float(value)}))
                rows.append(compared(f"{name} {value}", judged, base, asked))
                print(" | ".join(rows[-1]), file=sys.stderr, flush=True)
        for file in args.compare:
            judged = indexed.judged(weighed(weights, json.loads(file.read_text())))
            rows.append(compared(file.stem, judged, base, asked))
            print(" | ".join(rows[-1]), file=sys.stderr, flush=True)
        chosen: dict[str, float] = {}
        if args.climb:
            chosen = climb(indexed, weights, args.climb.split(","), args.rounds)
            judged = indexed.judged(weighed(weights, chosen))
            rows.append(compared(f"climbed {chosen}", judged, base, asked))
    print(table(HEAD, rows))
    if args.out:
        args.out.write_text(json.dumps({"rows": rows, "chosen": chosen}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
