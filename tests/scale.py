"""How long the property tests go on: short in `make quick`, usual in CI, long under `make soak`."""

import os
from collections.abc import Iterable, Sequence
from itertools import product

import pytest
from _pytest.mark import ParameterSet

SOAKING = bool(os.environ.get("HOLDFAST_SOAK"))
QUICK = bool(os.environ.get("HOLDFAST_QUICK"))
FIRST_SEED = int(os.environ.get("HOLDFAST_FIRST_SEED", "0"))
"""Where the seeds of property tests begin; set in a soak, so that every batch has its own."""


def size(usual: int, quick: int) -> int:
    """How large an input is: large enough to show its cost, or smaller in `make quick`."""
    return quick if QUICK else usual


def examples(usual: int) -> int:
    """How many examples to try: the usual number, a fortieth of it, or twenty times as many."""
    if QUICK:
        return max(2, usual // 40)
    return usual * 20 if SOAKING else usual


def seeds(usual: int) -> range:
    """The seeds to try: as many as examples, in `make quick` perhaps only one."""
    return range(FIRST_SEED, FIRST_SEED + (max(1, usual // 40) if QUICK else examples(usual)))


def first_in_quick(cases: Iterable[object]) -> list[ParameterSet]:
    """Cases of over 0.3 seconds each, for `parametrize`: `make quick` runs the first alone."""
    return [
        pytest.param(case, marks=[pytest.mark.long] if number else [])
        for number, case in enumerate(cases)
    ]


def by_turns(first: Sequence[object], second: Sequence[object]) -> list[ParameterSet]:
    """Every pair of two lists, for `parametrize`; in `make quick` each value is in one or more."""
    count = max(len(first), len(second))
    quick = {(n % len(first), n % len(second)) for n in range(count)}
    return [
        pytest.param(a, b, marks=[] if (i, j) in quick else [pytest.mark.long])
        for (i, a), (j, b) in product(enumerate(first), enumerate(second))
    ]
