"""`python -m bench.retrieval --set FILE.json --out REPORT.json`: measure retrieval quality.

Every system indexes every repository of the set in a process of its own and answers every
question. The report has the scores with bootstrap 95% intervals, by language, category and
repository; speed; memory; and the ranks of every answer. A repository that cannot be fetched or
indexed is reported and left out of that system's scores; the run continues.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench.retrieval.fetch import CACHE, CannotFetch, Fetcher, Package
from bench.retrieval.labels import BadSet, LabelledSet, Query, Repository, read_set, within
from bench.retrieval.metrics import Result, first_ranks, judge
from bench.retrieval.summary import grouped, mean, paired, percentile, scores, table
from bench.retrieval.systems import SYSTEMS, Bench, Failed, Run
from bench.timing import machine

REPORT_FORMAT, REPORT_VERSION = "holdfast-retrieval-report", 1
"""History: 1, the first."""


def located(repository: Repository, fetcher: Fetcher) -> Path:
    """The repository's tree. Raises CannotFetch."""
    if repository.path is not None:
        if not repository.path.is_dir():
            raise CannotFetch(f"{repository.path} is not a directory")
        return repository.path
    assert repository.package is not None
    return fetcher.tree(Package.of(repository.package), repository.blanked)


def measure(
    labelled: LabelledSet, systems: Sequence[str], bench: Bench, fetcher: Fetcher, loud: bool
) -> dict[str, Any]:
    """Run every system over every repository."""
    questions: dict[str, list[Query]] = {}
    for query in labelled.queries:
        questions.setdefault(query.repository, []).append(query)
    runs: dict[str, dict[str, Run]] = {system: {} for system in systems}
    failures: list[dict[str, str]] = []

    def failed(repository: str, system: str, why: object) -> None:
        failures.append({"repository": repository, "system": system, "why": str(why)})
        print(f"{repository}, {system}: {why}", file=sys.stderr)

    for problem in labelled.problems:
        failed("-", "labels", problem)
    for repository in labelled.repositories:
        try:
            tree = located(repository, fetcher)
        except (CannotFetch, OSError) as error:
            failed(repository.id, "all", error)
            continue
        asked = questions[repository.id]
        for at, query in enumerate(asked):
            targets = tuple(within(tree, repository.id, target) for target in query.targets)
            asked[at] = query = replace(query, targets=tuple(dict.fromkeys(targets)))
            for target in query.targets:
                if not (tree / target.path).is_file():
                    failed(repository.id, "labels", f"{query.id}: there is no {target.path}")
        labels = sorted({
            target.path for query in asked for target in query.targets
            if (tree / target.path).is_file()
        })  # fmt: skip
        for system in systems:
            start = time.perf_counter()
            try:
                run = bench.run(system, tree, [q.text for q in asked], labels)
            except Failed as error:
                failed(repository.id, system, error)
                continue
            runs[system][repository.id] = run
            for number, why in run.problems.items():
                failed(repository.id, system, f"{asked[number].id}: {why}")
            for path in run.unindexed:
                failed(repository.id, system, f"{path} is labelled but not indexed")
            if loud:
                took = time.perf_counter() - start
                print(f"{repository.id}, {system}: {took:.1f} s", file=sys.stderr)
    labelled = replace(
        labelled, queries=tuple(query for asked in questions.values() for query in asked)
    )
    return report(labelled, systems, runs, failures)


def report(
    labelled: LabelledSet,
    systems: Sequence[str],
    runs: dict[str, dict[str, Run]],
    failures: list[dict[str, str]],
) -> dict[str, Any]:
    judged: dict[str, dict[str, dict[str, float]]] = {}
    told: list[dict[str, Any]] = []
    position: dict[str, int] = {}
    for query in labelled.queries:
        number = position.get(query.repository, 0)
        position[query.repository] = number + 1
        row: dict[str, Any] = {
            "id": query.id, "repository": query.repository, "category": query.category,
            "language": query.language, "query": query.text, "systems": {},
        }  # fmt: skip
        for system in systems:
            if query.repository not in runs[system]:
                continue
            results = runs[system][query.repository].answers[number]
            one = judge(results, query.targets)
            judged.setdefault(system, {})[query.id] = one
            row["systems"][system] = {
                "ndcg10": round(one["ndcg10"], 4),
                "ranks": first_ranks(results, query.targets),
                "first": [spoken(result) for result in results[:5]],
            }
        told.append(row)
    by_id = {query.id: query for query in labelled.queries}
    found: dict[str, Any] = {
        "format": REPORT_FORMAT,
        "version": REPORT_VERSION,
        "set": labelled.name,
        "machine": machine(),
        "repositories": len(labelled.repositories),
        "queries": len(labelled.queries),
        "left_out": len(labelled.problems),
        "failures": failures,
        "systems": {},
    }
    for system in systems:
        rows = [(by_id[identity], one) for identity, one in judged.get(system, {}).items()]
        mine = runs[system].values()
        latency = [ms for run in mine for ms in run.latency_ms]
        index_s = sum(run.index_s for run in mine)
        chunks = sum(run.chunks for run in mine)
        found["systems"][system] = {
            **scores([one for _, one in rows]),
            "by_category": grouped((query.category, one) for query, one in rows),
            "by_language": grouped((query.language, one) for query, one in rows),
            "by_repository": grouped((query.repository, one) for query, one in rows),
            "index_s": round(index_s, 3),
            "index_cpu_s": round(sum(run.index_cpu_s for run in mine), 3),
            "chunks": chunks,
            "chunks_per_s": round(chunks / index_s, 1) if index_s else 0.0,
            "latency_p50_ms": round(percentile(latency, 0.5), 3),
            "latency_p95_ms": round(percentile(latency, 0.95), 3),
            "resident_mb_mean": round(mean([run.resident_mb for run in mine]), 1),
            "peak_mb_max": round(max((run.peak_mb for run in mine), default=0.0), 1),
        }
    first = systems[0]
    for system in systems[1:]:
        both = [i for i in judged.get(first, {}) if i in judged.get(system, {})]
        if both:
            found["systems"][system][f"{first}_above"] = paired(
                [judged[first][i]["ndcg10"] for i in both],
                [judged[system][i]["ndcg10"] for i in both],
            )
    found["answers"] = told
    return found


def spoken(result: Result) -> str:
    return result.path if result.start is None else f"{result.path}:{result.start}-{result.end}"


def shown(found: dict[str, Any]) -> str:
    """The report as tables."""
    systems = {n: s for n, s in found["systems"].items() if s.get("queries")}
    parts = [
        f"{found['set']}: {found['queries']} queries over {found['repositories']} repositories; "
        f"{found['machine']}"
    ]
    parts.append(table(
        ("system", "NDCG@10", "95%", "by path", "by file", "MRR", "r@1", "r@5", "r@10", "r@20",
         "r 500 tok", "1k", "2k", "4k", "8k", "index s", "chunks/s", "p50 ms", "p95 ms", "MB"),
        [(name, f"{s['ndcg10']:.3f}", "{:.3f}-{:.3f}".format(*s["ndcg10_95"]),
          f"{s['path_ndcg10']:.3f}", f"{s['file_ndcg10']:.3f}", f"{s['mrr']:.3f}",
          *(f"{s[f'recall@{k}']:.3f}" for k in (1, 5, 10, 20)),
          *(f"{s[f'recall@{k}tok']:.3f}" for k in (500, 1000, 2000, 4000, 8000)),
          f"{s['index_s']:.1f}", f"{s['chunks_per_s']:,.0f}", f"{s['latency_p50_ms']:.2f}",
          f"{s['latency_p95_ms']:.2f}", f"{s['resident_mb_mean']:.0f}")
         for name, s in systems.items()],
    ))  # fmt: skip
    for kind in ("category", "language", "repository"):
        keys = sorted({key for s in systems.values() for key in s[f"by_{kind}"]})
        rows = []
        for key in keys:
            cells = [s[f"by_{kind}"].get(key) for s in systems.values()]
            count = max(cell["queries"] for cell in cells if cell)
            rows.append((key, str(count), *(f"{c['ndcg10']:.3f}" if c else "" for c in cells)))
        parts.append(table((kind, "queries", *systems), rows))
    parts += [f"left out: {f['repository']}, {f['system']}: {f['why']}" for f in found["failures"]]
    return "\n\n".join(parts)


def arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.retrieval", description=__doc__)
    parser.add_argument("--set", type=Path, required=True, dest="labelled", metavar="FILE.json",
                        help="labelled questions: a file, or a directory of files")  # fmt: skip
    parser.add_argument("--out", type=Path, metavar="REPORT.json", help="where the report goes")
    parser.add_argument("--systems", default="holdfast",
                        help=f"some of {', '.join(SYSTEMS)}; default holdfast")  # fmt: skip
    parser.add_argument("--without", default="", metavar="SIGNAL",
                        help="switch off these signals of Holdfast")  # fmt: skip
    parser.add_argument("--weights", type=Path, metavar="FILE.json",
                        help="other weights for Holdfast's signals")  # fmt: skip
    parser.add_argument("--repos", default="", help="only these repositories, comma-separated")
    parser.add_argument("--split", default="", help="only these splits, comma-separated")
    parser.add_argument("--limit", type=int, default=0, metavar="N",
                        help="the maximum number of questions per repository")  # fmt: skip
    parser.add_argument("--results", type=int, default=20, metavar="N",
                        help="how many results to request (default: 20)")  # fmt: skip
    parser.add_argument("--scope", default="runtime", choices=("runtime", "mixed", "docs"))
    parser.add_argument("--cache", type=Path, default=CACHE,
                        help="where packages and peers are kept")  # fmt: skip
    shape = parser.add_mutually_exclusive_group()
    shape.add_argument("--json", action="store_true", help="print the report, not its tables")
    shape.add_argument("--table", action="store_true", help="print its tables (default)")
    parser.add_argument("--quiet", action="store_true", help="print no progress")
    args = parser.parse_args(argv)
    unknown = set(args.systems.split(",")) - set(SYSTEMS)
    if unknown:
        parser.error(
            f"unknown system {', '.join(sorted(unknown))}; expected one of {', '.join(SYSTEMS)}"
        )
    return args


def main(argv: Sequence[str] | None = None) -> int:
    args = arguments(argv)
    names = [name for name in args.repos.split(",") if name]
    try:
        labelled = read_set(args.labelled).chosen(args.split, names, args.limit)
        weights = json.loads(args.weights.read_text()) if args.weights else None
    except (BadSet, OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    if not labelled.queries:
        print("the set has no question of that split and repository", file=sys.stderr)
        return 2
    cache = args.cache.resolve()
    bench = Bench(
        cache, [name for name in args.without.split(",") if name], weights, args.scope, args.results
    )
    found = measure(
        labelled, args.systems.split(","), bench, Fetcher(cache),
        not args.quiet and sys.stderr.isatty(),
    )  # fmt: skip
    if args.out:
        args.out.parent.mkdir(parents=True, exist_ok=True)
        args.out.write_text(json.dumps(found, indent=1) + "\n")
    print(json.dumps(found, indent=1) if args.json else shown(found))
    return 0 if any(s.get("queries") for s in found["systems"].values()) else 1


if __name__ == "__main__":
    raise SystemExit(main())
