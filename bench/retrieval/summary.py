"""Means of many scored answers, with confidence intervals."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Judged = Mapping[str, float]
RESAMPLES = 1_000


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def interval(values: Sequence[float], seed: int = 1) -> tuple[float, float]:
    """A bootstrap 95% interval of the mean; deterministic for a seed."""
    if len(values) < 2:
        return (mean(values), mean(values))
    choose, count = random.Random(seed), len(values)
    means = sorted(sum(choose.choices(values, k=count)) / count for _ in range(RESAMPLES))
    return means[int(0.025 * RESAMPLES)], means[int(0.975 * RESAMPLES) - 1]


def scores(judged: Sequence[Judged]) -> dict[str, Any]:
    """The mean of every metric, with an interval for the main ones."""
    if not judged:
        return {"queries": 0}
    found: dict[str, Any] = {"queries": len(judged)}
    for name in judged[0]:
        found[name] = round(mean([one[name] for one in judged]), 4)
    for name in ("ndcg10", "path_ndcg10", "mrr"):
        found[f"{name}_95"] = [round(x, 4) for x in interval([one[name] for one in judged])]
    return found


def grouped(rows: Iterable[tuple[str, Judged]]) -> dict[str, dict[str, Any]]:
    groups: dict[str, list[Judged]] = {}
    for key, judged in rows:
        groups.setdefault(key, []).append(judged)
    return {key: scores(groups[key]) for key in sorted(groups)}


def percentile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0


def paired(one: Sequence[float], other: Sequence[float]) -> dict[str, Any]:
    """The mean difference of `one` and `other` on the same questions, with its interval."""
    differences = [a - b for a, b in zip(one, other, strict=True)]
    low, high = interval(differences)
    return {
        "difference": round(mean(differences), 4),
        "difference_95": [round(low, 4), round(high, 4)],
        "better": sum(d > 1e-9 for d in differences),
        "worse": sum(d < -1e-9 for d in differences),
    }


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table, padded to be readable as text."""
    width = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(f"{c:<{w}}" for c, w in zip(cells, width, strict=True)) + " |"

    return "\n".join([line(head), "|" + "|".join("-" * (w + 2) for w in width) + "|",
                      *map(line, rows)])  # fmt: skip
