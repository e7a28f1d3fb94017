"""Every campaign by its name: what is tried, and how to run it so many times."""

from __future__ import annotations

import signal
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.hostile import faults, flips, server_faults
from tests.hostile.commands import run_every_command
from tests.hostile.fuzz import INPUTS, fuzz_all
from tests.hostile.result import Result
from tests.hostile.tools import call_every_tool
from tests.hostile.tree import make_tree
from tests.index import bitflips as index_flips
from tests.store import bitflips as store_flips


@dataclass(frozen=True, slots=True)
class Campaign:
    """What is tried, where the tests of it are, how often in CI, and how to run it."""

    name: str
    what: str
    tests: str
    count: int
    run: Callable[[int, int, Path], Result]


def _commands(_count: int, _seed: int, folder: Path) -> Result:
    return run_every_command(make_tree(folder / "tree", folder / "proof"), folder)


def _tools(_count: int, _seed: int, folder: Path) -> Result:
    return call_every_tool(make_tree(folder / "tree", folder / "proof"), folder, every=3)


def _of_store(count: int, seed: int, _: Path) -> Result:
    return _judged(Counter(store_flips.campaign(count, seed)))


def _of_index(count: int, seed: int, _: Path) -> Result:
    found: Counter[str] = Counter()
    for kind, outcomes in index_flips.campaign(count, seed).items():
        found.update({f"{kind}: {outcome}": times for outcome, times in outcomes.items()})
    return _judged(found)


def _judged(outcomes: Counter[str]) -> Result:
    wrong = [each for each in outcomes if "wrong" in each or "traceback" in each]
    return Result(outcomes, wrong)


CAMPAIGNS = [
    Campaign("commands", "every command in a hostile tree, on a terminal",
             "tests/hostile/test_every_command.py", 1, _commands),
    Campaign("tools", "every tool over MCP, with hostile paths and arguments",
             "tests/hostile/test_every_tool.py", 1, _tools),
    Campaign("fuzz", "mutated input for every parser",
             "tests/hostile/test_fuzz.py", INPUTS, fuzz_all),
    Campaign("flips: store", "bits flipped in files of the store",
             "tests/store/test_bitflips.py", 300, _of_store),
    Campaign("flips: index", "bits flipped in index, caches, segments and model",
             "tests/index/test_bitflips.py", 180, _of_index),
    Campaign("flips: reading", "bits flipped in session logs, stored texts and settings",
             "tests/hostile/test_flips.py", 1_800, flips.campaign),
    Campaign("killed", "commands and builds killed at drawn moments",
             "tests/hostile/test_faults.py", 12, faults.kill),
    Campaign("stopped", "commands and builds stopped, others beside them",
             "tests/hostile/test_faults.py", 4,
             lambda n, seed, folder: faults.kill(n, seed, folder, signal.SIGSTOP)),
    Campaign("hosts", "host, shim and workers killed or stopped during a call",
             "tests/hostile/test_faults.py", 6, server_faults.hosts),
    Campaign("servers", "the web server killed or stopped, while it starts and while it commits",
             "tests/hostile/test_faults.py", 3, server_faults.servers),
    Campaign("full disks", "a disk that fills up",
             "tests/hostile/test_faults.py", 2, faults.full_disks),
]  # fmt: skip


def run(campaign: Campaign, seed: int) -> Result:
    with tempfile.TemporaryDirectory(prefix="holdfast-hostile-") as folder:
        return campaign.run(campaign.count, seed, Path(folder) / "world")
