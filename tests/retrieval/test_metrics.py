"""The measures, judged by the plainest reading of their definitions."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.retrieval.labels import Target
from bench.retrieval.metrics import BUDGETS, RANKS, Result, judge, tokens
from bench.retrieval.summary import interval, paired

PATHS = st.sampled_from(["a.py", "b.py", "c/d.go"])
SPANS: st.SearchStrategy[tuple[int, int] | None] = st.one_of(
    st.none(), st.tuples(st.integers(1, 30), st.integers(0, 12)).map(lambda p: (p[0], sum(p)))
)


def target(path: str, span: tuple[int, int] | None, grade: float) -> Target:
    start, end = span or (None, None)
    return Target(path, start, end, grade)


def result(path: str, span: tuple[int, int] | None, cost: int) -> Result:
    start, end = span or (None, None)
    return Result(path, start, end, cost)


TARGETS = st.lists(
    st.builds(target, PATHS, SPANS, st.sampled_from([0.5, 1.0, 2.0, 3.0])),
    min_size=1,
    max_size=6,
    unique=True,
)
RESULTS = st.lists(st.builds(result, PATHS, SPANS, st.integers(1, 900)), max_size=24)


def lines_of(start: int | None, end: int | None) -> set[int]:
    """Every line, where none are named."""
    return set(range(1, 100)) if start is None or end is None else set(range(start, end + 1))


def naive(results: list[Result], targets: list[Target]) -> dict[str, float]:
    """One pass for each target, sets of lines, the ideal by sorting; nothing shared."""

    def shows(result: Result, target: Target) -> bool:
        same = result.path == target.path
        shared = lines_of(result.start, result.end) & lines_of(target.start, target.end)
        return same and bool(shared)

    def rank_in(shown: list[Result], target: Target) -> int:
        return next((n for n, r in enumerate(shown, 1) if shows(r, target)), 10**9)

    def gain(shown: list[Result], wanted: list[Target]) -> float:
        dcg = 0.0
        for target in wanted:
            rank = rank_in(shown, target)
            if rank <= 10:
                dcg += target.grade / math.log2(1 + rank)
        ideal = 0.0
        for rank, grade in enumerate(sorted([t.grade for t in wanted], reverse=True)[:10], 1):
            ideal += grade / math.log2(1 + rank)
        return min(1.0, dcg / ideal)

    seen: list[str] = []
    for result in results:
        if result.path not in seen:
            seen.append(result.path)
    best: dict[str, float] = {}
    for target in targets:
        best[target.path] = max(best.get(target.path, 0.0), target.grade)
    found = {
        "ndcg10": gain(results, targets),
        "path_ndcg10": gain(results, [Target(p, grade=g) for p, g in best.items()]),
        "file_ndcg10": gain(
            [Result(path) for path in seen], [Target(p, grade=g) for p, g in best.items()]
        ),
        "mrr": max((1 / rank_in(results, t) for t in targets if rank_in(results, t) < 10**9),
                   default=0.0),
    }  # fmt: skip
    for k in RANKS:
        hits = [t for t in targets if any(shows(r, t) for r in results[:k])]
        found[f"recall@{k}"] = len(hits) / len(targets)
    for budget in BUDGETS:
        fit = [n for n in range(len(results) + 1) if sum(r.tokens for r in results[:n]) <= budget][
            -1
        ]
        hits = [t for t in targets if any(shows(r, t) for r in results[:fit])]
        found[f"recall@{budget}tok"] = len(hits) / len(targets)
    return found


@pytest.mark.shows("RETR-METRICS")
@given(RESULTS, TARGETS)
def test_every_measure_agrees_with_its_naive_twin(
    results: list[Result], targets: list[Target]
) -> None:
    judged = judge(results, targets)
    for name, value in naive(results, targets).items():
        assert judged[name] == pytest.approx(value), name
    assert all(0 <= value <= 1 for value in judged.values())


@pytest.mark.shows("RETR-METRICS")
def test_showing_a_target_again_gains_nothing_and_takes_up_a_rank() -> None:
    once = [Result("a.py", 1, 9), Result("b.py", 1, 9)]
    again = [Result("a.py", 1, 9), Result("a.py", 5, 6), Result("b.py", 1, 9)]
    targets = [Target("a.py", 3, 7), Target("b.py")]
    assert judge(once, targets)["ndcg10"] == 1.0
    assert judge(again, targets)["ndcg10"] < 1.0
    assert judge(again, targets)["file_ndcg10"] == 1.0


@pytest.mark.shows("RETR-METRICS")
def test_a_result_counts_when_its_lines_overlap_the_label() -> None:
    label = [Target("a.py", 10, 20)]
    assert judge([Result("a.py", 20, 25)], label)["ndcg10"] == 1.0
    assert judge([Result("a.py", 21, 25)], label)["ndcg10"] == 0.0
    assert judge([Result("a.py", 21, 25)], label)["file_ndcg10"] == 1.0
    assert judge([Result("a.py", 21, 25)], [Target("a.py")])["ndcg10"] == 1.0


@pytest.mark.shows("RETR-METRICS")
def test_a_result_that_does_not_fit_the_budget_whole_is_not_counted() -> None:
    results = [Result("a.py", 1, 2, 400), Result("b.py", 1, 2, 101)]
    judged = judge(results, [Target("b.py")])
    assert judged["recall@500tok"] == 0.0
    assert judged["recall@1000tok"] == 1.0


@pytest.mark.shows("RETR-METRICS")
def test_four_bytes_are_a_token() -> None:
    assert [tokens(text) for text in ("", "a", "abcd", "abcde", "ééé")] == [0, 1, 1, 2, 2]


@pytest.mark.shows("RETR-INTERVALS")
@given(st.lists(st.floats(0, 1), min_size=2, max_size=60))
def test_an_interval_is_repeatable_and_lies_within_the_values(values: list[float]) -> None:
    low, high = interval(values)
    assert min(values) - 1e-9 <= low <= high <= max(values) + 1e-9
    assert interval(values) == (low, high)


@pytest.mark.shows("RETR-INTERVALS")
def test_a_difference_that_is_everywhere_has_an_interval_above_nothing() -> None:
    told = paired([0.5 + n / 100 for n in range(40)], [0.4 + n / 100 for n in range(40)])
    assert told["difference"] == pytest.approx(0.1)
    assert told["difference_95"][0] > 0
    assert (told["better"], told["worse"]) == (40, 0)
