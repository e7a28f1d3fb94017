"""Every campaign by its name: what is tried, and how to run it so many times."""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from holdfast.store.admit import Reach
from tests.hostile import faults, flips, properties, server_faults
from tests.hostile.commands import run_every_command
from tests.hostile.fuzz import INPUTS, fuzz_all
from tests.hostile.result import Result
from tests.hostile.tools import call_every_tool
from tests.hostile.tree import make_tree
from tests.index import bitflips as index_flips
from tests.postgres import running_server
from tests.simulation.world import play
from tests.store import bitflips as store_flips
from tests.store import deaths
from tests.store.pairs import pairs


@dataclass(frozen=True, slots=True)
class Campaign:
    """What is tried, where the tests of it are, and how to run it with a number and a seed."""

    name: str
    what: str
    tests: str
    count: int
    """How often in CI."""
    batch: int
    """How often in one batch of a longer run."""
    soak: int
    """How often in a soak."""
    run: Callable[[int, int, Path], Result]


def _commands(_count: int, _seed: int, folder: Path) -> Result:
    return run_every_command(make_tree(folder / "tree", folder / "proof"), folder)


def _tools(count: int, seed: int, folder: Path) -> Result:
    tree = make_tree(folder / "tree", folder / "proof")
    return call_every_tool(tree, folder, every=3, limit=count, seed=seed)


def _of_store(count: int, seed: int, _: Path) -> Result:
    return _judged(Counter(store_flips.campaign(count, seed)))


def _of_index(count: int, seed: int, _: Path) -> Result:
    found: Counter[str] = Counter()
    for kind, outcomes in index_flips.campaign(count, seed).items():
        found.update({f"{kind}: {outcome}": times for outcome, times in outcomes.items()})
    return _judged(found)


def _simulated(count: int, seed: int, _: Path) -> Result:
    """Small worlds, and one larger world for every hundred."""
    result = Result()
    for number in range(count):
        larger = number % 100 == 99
        how = (
            {"clients": 5, "steps": 400, "servers": 1 + number // 100 % 2}
            if larger
            else {"steps": 25}
        )
        try:
            play(seed * 10_000 + number, **how)
            result.count(f"{'larger' if larger else 'small'} worlds: nothing lost")
        except AssertionError as error:
            result.count("wrong")
            result.problem(f"{how}: {error}")
    return result


def _admitted(count: int, seed: int, _: Path) -> Result:
    result = Result()
    for reach in Reach:
        for outcome, times in pairs(count // 2, seed, reach).items():
            result.count(outcome.partition(":")[0], times)
            if outcome.startswith("missed"):
                result.problem(f"seed {seed}, {reach}: {outcome}")
    return result


def _died(count: int, seed: int, folder: Path) -> Result:
    folder.mkdir()
    return _survived(deaths.campaign(count, seed, str(folder)))


def _died_on_postgres(count: int, seed: int, _: Path) -> Result:
    with contextmanager(running_server)() as server:
        return _survived(deaths.campaign(count, seed, server.url))


def _survived(places: dict[str, int]) -> Result:
    return Result(Counter({f"{place}: nothing lost": times for place, times in places.items()}))


def _judged(outcomes: Counter[str]) -> Result:
    wrong = [each for each in outcomes if "wrong" in each or "traceback" in each]
    return Result(outcomes, wrong)


CAMPAIGNS = [
    Campaign("commands", "every command in a hostile tree, on a terminal",
             "tests/hostile/test_every_command.py", 1, 1, 1, _commands),
    Campaign("tools", "every tool over MCP, with hostile paths and arguments",
             "tests/hostile/test_every_tool.py", 2_000, 120, 1_500, _tools),
    Campaign("fuzz", "mutated input for every parser",
             "tests/hostile/test_fuzz.py", INPUTS, 40_000, 20 * INPUTS, fuzz_all),
    Campaign("flips: store", "bits flipped in files of the store",
             "tests/store/test_bitflips.py", 300, 1_000, 20_000, _of_store),
    Campaign("flips: index", "bits flipped in index, caches, segments and model",
             "tests/index/test_bitflips.py", 180, 280, 10_080, _of_index),
    Campaign("flips: reading", "bits flipped in session logs, stored texts and settings",
             "tests/hostile/test_flips.py", 1_800, 4_000, 20_000, flips.campaign),
    Campaign("killed", "commands and builds killed at drawn moments",
             "tests/hostile/test_faults.py", 12, 12, 480, faults.kill),
    Campaign("stopped", "commands and builds stopped, others beside them",
             "tests/hostile/test_faults.py", 4, 8, 160,
             lambda n, seed, folder: faults.kill(n, seed, folder, signal.SIGSTOP)),
    Campaign("hosts", "host, shim and workers killed or stopped during a call",
             "tests/hostile/test_faults.py", 6, 6, 240, server_faults.hosts),
    Campaign("servers", "the web server killed or stopped, while it starts and while it commits",
             "tests/hostile/test_faults.py", 3, 6, 120, server_faults.servers),
    Campaign("full disks", "a disk that fills up",
             "tests/hostile/test_faults.py", 2, 4, 480, faults.full_disks),
    Campaign("crashes: SQLite", "a writer killed at every step towards the disk, on SQLite",
             "tests/store/test_crash.py", 72, 144, 2_880, _died),
    Campaign("crashes: PostgreSQL", "a writer killed at every step towards the disk, on PostgreSQL",
             "tests/store/test_crash.py", 72, 72, 1_440, _died_on_postgres),
    Campaign("admission", "random pairs of a read and an edit, judged by values",
             "tests/store/test_admission.py", 20_000, 100_000, 1_000_000, _admitted),
    Campaign("simulation", "clients and servers over a bad network, one seed each",
             "tests/simulation/test_simulation.py", 2_000, 500, 20_000, _simulated),
    Campaign("properties", "property tests with examples and seeds of their own",
             "tests/hostile/test_properties.py", 3, 8, 1_000_000, properties.campaign),
]  # fmt: skip

KINDS = {
    "fuzz": ["commands", "tools", "fuzz", "flips: store", "flips: index", "flips: reading"],
    "crash": ["killed", "stopped", "hosts", "servers", "full disks",
              "crashes: SQLite", "crashes: PostgreSQL"],
    "simulation": ["simulation", "admission"],
    "property": ["properties"],
}  # fmt: skip
"""Campaigns of one kind: a soak runs each kind for an hour."""
