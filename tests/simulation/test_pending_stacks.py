"""The pending-stack protocol, checked over every interleaving of a few commits."""

import os

import pytest

from tests.simulation.pending_stacks import LEGACY, SOUND, Protocol, Violation, check

SOAK = os.environ.get("HOLDFAST_SOAK") == "1"


@pytest.mark.shows("INV-1", "INV-3", "SYNC-MODEL")
@pytest.mark.parametrize(
    "budget",
    [(2, 1), pytest.param((3, 1), marks=pytest.mark.long), *([(2, 2)] if SOAK else [])],
)
def test_our_reads_saw_what_was_durable(budget: tuple[int, int]) -> None:
    assert check(SOUND, budget) > 10_000


@pytest.mark.shows("SYNC-MODEL")
def test_the_first_versions_protocol_accepts_a_read_of_something_else() -> None:
    with pytest.raises(Violation) as found:
        check(LEGACY, (2, 1))
    assert found.value.trace == [
        "0 builds 0: writes x",
        "0 builds 1: read y of -1 at seq 0 through (0,), writes x",
        "1 builds 2: writes y",
        "1 lands 2 at seq 1",
        "0 lands 0 at seq 2",
        "0 lands 1 at seq 3",
    ]


@pytest.mark.shows("SYNC-MODEL")
@pytest.mark.parametrize(
    ("protocol", "budget"),
    [
        pytest.param(Protocol(names="newest"), (3, 1), marks=pytest.mark.long),
        (Protocol(basis="layer"), (2, 1)),
        (Protocol(folds="at once"), (2, 1)),
    ],
    ids=["names only the newest layer", "no basis", "folds an accepted layer at once"],
)
def test_each_repair_is_needed(protocol: Protocol, budget: tuple[int, int]) -> None:
    with pytest.raises(Violation):
        check(protocol, budget)
