"""Metrics of a ranked answer.

A *target* is a labelled place. It counts once, at the rank of the first result that shows part of
it; a result that shows it again only takes up a rank.

    NDCG@k   sum of grade / log2(rank + 1) over the targets found within k, over the best possible
             (never above 1: one result may show several targets)
    MRR      1 / rank of the first result that shows any target, 0 beyond the list
    recall   share of the targets shown within k results, or within so many tokens of text

A result may also name further places of its file without showing their text. `named_ndcg10` counts
a target at the rank of the first result that shows or names it; all other metrics count what is
shown.

Two more metrics ignore the lines of labels: in `path_ndcg10` every result takes up a rank, as in a
set without lines; `file_ndcg10` counts the results of one file as one, at its best rank.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from bench.retrieval.labels import Target

RANKS = (1, 5, 10, 20)
BUDGETS = (500, 1_000, 2_000, 4_000, 8_000)


@dataclass(frozen=True, slots=True)
class Result:
    """One entry of an answer: a file or lines of it, and the tokens of the text it shows."""

    path: str
    start: int | None = None
    end: int | None = None
    tokens: int = 0
    further: tuple[tuple[int, int], ...] = ()
    """The lines of further places that are named."""

    @property
    def places(self) -> tuple[tuple[int | None, int | None], ...]:
        """The lines that are shown, and those that are only named."""
        return ((self.start, self.end), *self.further)


def tokens(text: str) -> int:
    """An estimate: four bytes per token, rounded up; the same for every system."""
    return math.ceil(len(text.encode("utf-8", "surrogatepass")) / 4)


def first_ranks(
    results: Sequence[Result], targets: Sequence[Target], *, named: bool = False
) -> list[int | None]:
    """For each target, the rank from 1 of the first result that shows (or names) it."""
    ranks: list[int | None] = [None] * len(targets)
    for rank, result in enumerate(results, 1):
        places = result.places if named else result.places[:1]
        for number, target in enumerate(targets):
            shown = any(target.shown_by(result.path, *lines) for lines in places)
            if shown and ranks[number] is None:
                ranks[number] = rank
    return ranks


def ndcg(ranks: Sequence[int | None], targets: Sequence[Target], k: int = 10) -> float:
    gained = sum(
        target.grade / math.log2(rank + 1)
        for rank, target in zip(ranks, targets, strict=True)
        if rank is not None and rank <= k
    )
    grades = sorted((target.grade for target in targets), reverse=True)[:k]
    best = sum(grade / math.log2(rank + 1) for rank, grade in enumerate(grades, 1))
    return min(1.0, gained / best) if best else 0.0


def reciprocal_rank(ranks: Sequence[int | None]) -> float:
    found = [rank for rank in ranks if rank is not None]
    return 1 / min(found) if found else 0.0


def recall(ranks: Sequence[int | None], k: int) -> float:
    return sum(rank is not None and rank <= k for rank in ranks) / len(ranks)


def recall_within(results: Sequence[Result], ranks: Sequence[int | None], budget: int) -> float:
    """The share of targets shown by the first results that fit into a number of tokens."""
    fit, spent = 0, 0
    for result in results:
        spent += result.tokens
        if spent > budget:
            break
        fit += 1
    return recall(ranks, fit)


def by_file(
    results: Sequence[Result], targets: Sequence[Target]
) -> tuple[list[Result], list[Target]]:
    """The same answer and labels, reduced to files."""
    grades: dict[str, float] = {}
    for target in targets:
        grades[target.path] = max(target.grade, grades.get(target.path, 0.0))
    files = dict.fromkeys(result.path for result in results)
    return [Result(path) for path in files], [Target(p, grade=g) for p, g in grades.items()]


def judge(results: Sequence[Result], targets: Sequence[Target]) -> dict[str, float]:
    """Every measure of one answer."""
    ranks = first_ranks(results, targets)
    files, paths = by_file(results, targets)
    file_ranks = first_ranks(files, paths)
    return {
        "ndcg10": ndcg(ranks, targets),
        "named_ndcg10": ndcg(first_ranks(results, targets, named=True), targets),
        "path_ndcg10": ndcg(first_ranks(results, paths), paths),
        "file_ndcg10": ndcg(file_ranks, paths),
        "mrr": reciprocal_rank(ranks),
        **{f"recall@{k}": recall(ranks, k) for k in RANKS},
        **{f"recall@{budget}tok": recall_within(results, ranks, budget) for budget in BUDGETS},
    }
