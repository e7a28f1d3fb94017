"""`python -m bench.retrieval.learn`: learn the ranking's weights from labelled answers.

The ranking is a weighted sum of signals, so its weights can be learned. The candidates of every
question are recorded once with all their signals; then a ranking needs no search, and an evolution
strategy tries thousands. It maximises the mean of NDCG@10 by span and by path on `--split`, with a
small penalty for distance from the initial weights, and is evaluated on the unseen `--judge`.

Learned weights are useful only if they beat the hand-set ones on unseen packages. `--folds` is
cross-validation by package: each fold is evaluated with weights learned from the others, and
`--judge` is not used.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import random
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.retrieval.fetch import CACHE, Fetcher
from bench.retrieval.labels import Query, read_set
from bench.retrieval.metrics import Result, first_ranks, ndcg
from bench.retrieval.summary import mean, table
from bench.retrieval.tune import IndexedSet
from bench.retrieval.weights import weighed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CANDIDATES = 200
SUMMED = ("coverage", "stem", "file_coverage")
"""Signals with the same weight for every kind of query."""
BY_KIND = ("dense", "definition", "file_words", "central")
KINDS = ("question", "mixed")
LEARNED = ("lexical", *SUMMED, *(f"{name}.{kind}" for name in BY_KIND for kind in KINDS),
           "file_meaning", "coherence")  # fmt: skip
"""Without `repeat`, which trades one measure for the other; that is not for a program to decide."""
PULL = 0.002
"""The penalty for a doubled or halved weight."""


@dataclass
class Case:
    """A question with its candidates."""

    query: Query
    kind: str
    signals: dict[str, NDArray[np.float64]]
    files: NDArray[np.int64]
    groups: NDArray[np.int64]
    results: list[Result]


def taken_down(indexed: IndexedSet) -> list[Case]:
    """The candidates of every question with their signals, from the ranking itself."""
    import numpy as np

    from holdfast.index.search import ranking

    cases: list[Case] = []
    kept: list[Any] = []
    original: Any = ranking.find

    def find(*args: Any, **named: Any) -> Any:
        args = (*args[:4], CANDIDATES, *args[5:])
        found = original(*args, **named)
        kept.append(found)
        return found

    retrieval: Any = importlib.import_module("holdfast.index.search.retrieval")
    search: Any = importlib.import_module("holdfast.index.tools.search")
    retrieval.find = find
    try:
        for tree, query in indexed.asked:
            kept.clear()
            search.search_code(indexed.index, tree, query.text, limit=20)
            hits = kept[-1].hits
            names = hits[0].signals if hits else {}
            paths = {path: n for n, path in enumerate(dict.fromkeys(h.chunk.path for h in hits))}
            owners: dict[tuple[str, str], int] = {}
            groups = [
                owners.setdefault(
                    (h.chunk.path, h.chunk.symbol_id or f"#{h.chunk.start_line}"), len(owners)
                )
                for h in hits
            ]
            cases.append(
                Case(
                    query,
                    kept[-1].analyzed.kind,
                    {name: np.array([h.signals[name] for h in hits]) for name in names},
                    np.array([paths[h.chunk.path] for h in hits], dtype=np.int64),
                    np.array(groups, dtype=np.int64),
                    [Result(h.chunk.path, h.chunk.start_line, h.chunk.end_line) for h in hits],
                )
            )
    finally:
        retrieval.find = original
    return cases


def ranked(case: Case, weights: dict[str, float]) -> list[Result]:
    """The first ten results under these weights, ordered and grouped as in a search."""
    import numpy as np

    signals = case.signals
    if not signals:
        return []
    score = weights["lexical"] * signals["lexical"]
    for name in BY_KIND:
        score = score + weights[f"{name}.{case.kind}"] * signals[name]
    for name in SUMMED:
        score = score + weights[name] * signals[name]
    meaning = weights["file_meaning"] * weights[f"dense.{case.kind}"]
    score = score + meaning * signals["file_meaning"]
    for name in ("role", "head", "brief"):
        score = score * signals[name]
    sums = np.bincount(case.files, weights=score)
    leaders = np.zeros(len(sums), dtype=np.int64)
    for number in np.argsort(score, kind="stable").tolist():
        leaders[case.files[number]] = number
    bonus = np.zeros(len(score))
    bonus[leaders] = sums / max(float(sums.max()), 1e-9)
    left = score + weights["coherence"] * float(score.max()) * bonus
    shown: dict[int, list[int]] = {}
    for _ in range(min(40, len(left))):
        best = int(np.argmax(left))
        shown.setdefault(int(case.groups[best]), []).append(best)
        if len(shown) > 10:
            break
        left[best] = -np.inf
        left[case.files == case.files[best]] *= weights["repeat"]
    results = []
    for members in list(shown.values())[:10]:
        lines = [case.results[number] for number in members]
        start = min(line.start or 1 for line in lines)
        results.append(Result(lines[0].path, start, max(line.end or 1 for line in lines)))
    return results


def judged(cases: Sequence[Case], weights: dict[str, float]) -> tuple[float, float]:
    """Mean NDCG@10 by span and by path."""
    spans, paths = [], []
    for case in cases:
        results = ranked(case, weights)
        targets = case.query.targets
        spans.append(ndcg(first_ranks(results, targets), targets))
        plain = list({t.path: type(t)(t.path, grade=t.grade) for t in targets}.values())
        paths.append(ndcg(first_ranks(results, plain), plain))
    return mean(spans), mean(paths)


def learn(
    cases: Sequence[Case], start: dict[str, float], rounds: int, choose: random.Random
) -> dict[str, float]:
    """An evolution strategy with six children; steps shrink when none is better."""

    def worth(weights: dict[str, float]) -> float:
        moved = sum(abs(math.log2(weights[n] / start[n])) for n in LEARNED if start[n])
        return sum(judged(cases, weights)) / 2 - PULL * moved / len(LEARNED)

    best, step = dict(start), 0.5
    reached = worth(best)
    for number in range(rounds):
        children = []
        for _ in range(6):
            child = dict(best)
            for name in choose.sample(LEARNED, 4):
                child[name] = max(1e-4, child[name] * math.exp(choose.gauss(0, step)))
            children.append((worth(child), child))
        top, child = max(children, key=lambda pair: pair[0])
        if top > reached:
            reached, best = top, child
            print(f"{number}: {reached:.4f}", flush=True)
        else:
            step = max(0.1, step * 0.93)
    return {name: round(value, 4) for name, value in best.items()}


def package_of(case: Case) -> str:
    """The package of a question; the copy without comments is the same package."""
    return case.query.repository.removesuffix("-undocumented")


def cross_validated(
    cases: Sequence[Case], start: dict[str, float], folds: int, rounds: int, seed: int
) -> list[tuple[str, ...]]:
    """For each package: questions, scores by hand-set weights and by weights learned without it."""
    packages = sorted({package_of(case) for case in cases})
    random.Random(seed).shuffle(packages)
    rows: list[tuple[str, ...]] = []
    pooled: list[tuple[int, float, float, float, float]] = []
    for fold in range(folds):
        held = set(packages[fold::folds])
        seen = [case for case in cases if package_of(case) not in held]
        best = learn(seen, start, rounds, random.Random(seed))
        moved = {n: best[n] for n in LEARNED if abs(best[n] - start[n]) > 0.05 * start[n]}
        print(f"fold {fold}: {moved}", flush=True)
        for name in sorted(held):
            mine = [case for case in cases if package_of(case) == name]
            figures = (*judged(mine, start), *judged(mine, best))
            pooled.append((len(mine), *figures))
            rows.append((name, str(len(mine)), *(f"{figure:.4f}" for figure in figures)))
    total = sum(row[0] for row in pooled)
    means = [sum(row[0] * row[i] for row in pooled) / total for i in range(1, 5)]
    better = [sum(row[i + 2] > row[i] + 1e-9 for row in pooled) for i in (1, 2)]
    worse = [sum(row[i + 2] < row[i] - 1e-9 for row in pooled) for i in (1, 2)]
    rows.append(("all", str(total), *(f"{value:.4f}" for value in means)))
    rows.append(
        ("better:worse", "", "", "", *(f"{b}:{w}" for b, w in zip(better, worse, strict=True)))
    )
    return rows


FOLDS_HEAD = (
    "package", "questions", "by hand, span", "by hand, path", "learned, span", "learned, path"
)  # fmt: skip


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.retrieval.learn", description=__doc__)
    parser.add_argument("--set", type=Path, required=True, action="append", dest="labelled")
    parser.add_argument(
        "--folds", type=int, default=0, help="cross-validate by package, with this many folds"
    )
    parser.add_argument("--split", default="train,dev", help="what is learned from")
    parser.add_argument("--judge", default="test", help="what it is judged on")
    parser.add_argument("--cache", type=Path, default=CACHE)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, help="where the learned weights go")
    args = parser.parse_args(argv)
    ranking: Any = importlib.import_module("holdfast.index.search.weights")
    start = {name: float(_reach(ranking.WEIGHTS, name)) for name in LEARNED}
    start["repeat"] = float(ranking.WEIGHTS.repeat)
    for name in BY_KIND:
        for kind in ("symbol", "path", "error"):
            start[f"{name}.{kind}"] = float(_reach(ranking.WEIGHTS, f"{name}.{kind}"))
    sets = [read_set(file) for file in args.labelled]
    fetcher = Fetcher(args.cache.resolve())

    def noted(split: str, home: Path) -> list[Case]:
        indexed = (IndexedSet(one.chosen(split), home, fetcher, 20) for one in sets)
        return [case for each in indexed for case in taken_down(each)]

    with tempfile.TemporaryDirectory() as directory:
        home = args.home or Path(directory)
        learning = noted(args.split, home)
        if args.folds:
            rows = cross_validated(learning, start, args.folds, args.rounds, args.seed)
            print(table(FOLDS_HEAD, rows))
            return 0
        print("by hand, {}: span {:.4f}, path {:.4f}".format(args.split, *judged(learning, start)))
        best = learn(learning, start, args.rounds, random.Random(args.seed))
        print("learned, {}: span {:.4f}, path {:.4f}".format(args.split, *judged(learning, best)))
        if args.judge:
            unseen = noted(args.judge, home)
            for told, weights in (("by hand", start), ("learned", best)):
                print("{}, {}: span {:.4f}, path {:.4f}".format(
                    told, args.judge, *judged(unseen, weights)))  # fmt: skip
    changes = {name: best[name] for name in LEARNED}
    weighed(ranking.WEIGHTS, changes)  # Fails if a name is not a weight.
    print(json.dumps(changes, indent=1))
    if args.out:
        args.out.write_text(json.dumps(changes, indent=1) + "\n")
    return 0


def _reach(weights: Any, name: str) -> Any:
    for part in name.split("."):
        weights = getattr(weights, part)
    return weights


if __name__ == "__main__":
    raise SystemExit(main())
