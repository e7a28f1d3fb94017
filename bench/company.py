"""How many servers a company needs: `python -m bench.company [--measure]`.

Simulates the busiest hour of a working day from measured costs (`bench/company.json`) and the
assumptions below, for more and more nodes, until calls rarely wait even with one node away. The
table is in docs/fleet.md; a test holds the page against this program.

`--measure` takes the costs anew: processor time per call from the last `python -m bench fleet`
(`bench/out/fleet.json`), sizes from a real PostgreSQL.
"""

from __future__ import annotations

import heapq
import json
import math
import random
import tempfile
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from bench.arguments import parser
from bench.timing import OUT

COSTS = Path(__file__).parent / "company.json"
SEED = 19
COMMITS = 2_000


@dataclass(frozen=True)
class Company:
    """What is assumed. Everything else is measured or follows."""

    developers: int = 5_000
    repositories: int = 10_000
    runs_a_day: int = 50_000
    calls_a_run: int = 60
    """In the mix of `bench fleet`: three in ten search, three read, one is a commit."""
    busiest_hour: float = 0.15
    """The share of a day's runs that start in its busiest hour."""
    pause_s: float = 8.0
    """Between two calls of a run, on average: the model thinks and other tools work."""
    fresh_runs: float = 0.5
    """The share of runs in a fresh container, which takes the team's generation of its commit."""
    source_bytes: int = 10_000_000
    """The text of an average repository."""
    kept_days: int = 365
    """How long the history of memory is kept."""
    node_cores: int = 1
    """A node is one Python process, which uses one core at a time; several fit on a machine."""
    node_connections: int = 332
    """At most, to PostgreSQL: two for each of 128 spaces of /sync and 32 of /mcp, and twelve."""
    busy_max: float = 0.6
    """How busy nodes and the database may be in the busiest hour."""
    wait_p99_ms: float = 50.0
    """How long a call may wait for a core, 99 of 100 times, with one node away."""


@dataclass(frozen=True)
class Costs:
    """What was measured: `bench/company.json`."""

    when: str
    node_ms_per_call: float
    database_ms_per_call: float
    node_mb: float
    bytes_per_commit: float
    """On disk, with indexes, of a commit of one small document."""
    shared_bytes_per_source_byte: float
    """Rows of work on files, of a tree's text."""
    build_s_per_mb: float
    """Processor time of a build from nothing."""


@dataclass(frozen=True)
class Hour:
    """The busiest hour on so many nodes."""

    calls: int
    busy: float
    wait_p50_ms: float
    wait_p99_ms: float


def simulated(company: Company, costs: Costs, nodes: int, seed: int = SEED) -> Hour:
    """Every call of the busiest hour, in order of arrival; each goes to the freer of two nodes that
    are picked by chance, as a proxy does that counts connections.

    A node answers on its cores, first come first served; how long a call takes varies (exponential)
    around the measured mean.
    """
    chance = random.Random(seed)
    runs = round(company.runs_a_day * company.busiest_hour)
    arrivals: list[float] = []
    for _ in range(runs):
        at = chance.uniform(-company.calls_a_run * company.pause_s, 3600)
        for _ in range(company.calls_a_run):
            at += chance.expovariate(1 / company.pause_s)
            if 0 <= at < 3600:
                arrivals.append(at)
    arrivals.sort()
    cores = [[0.0] * company.node_cores for _ in range(nodes)]
    mean_s = costs.node_ms_per_call / 1e3
    waits: list[float] = []
    worked = 0.0
    for at in arrivals:
        free = min(cores[chance.randrange(nodes)], cores[chance.randrange(nodes)])
        start = max(at, free[0])
        takes = chance.expovariate(1 / mean_s)
        heapq.heapreplace(free, start + takes)
        waits.append(start - at)
        worked += takes
    waits.sort()
    return Hour(
        len(arrivals),
        worked / (3600 * nodes * company.node_cores),
        waits[len(waits) // 2] * 1e3,
        waits[int(len(waits) * 0.99)] * 1e3,
    )


def enough(company: Company, costs: Costs) -> tuple[int, Hour, Hour]:
    """The smallest number of nodes that will do, its hour, and that with one node away."""
    nodes = 2
    while True:
        without = simulated(company, costs, nodes - 1)
        if without.wait_p99_ms <= company.wait_p99_ms and without.busy <= company.busy_max:
            return nodes, simulated(company, costs, nodes), without
        nodes += 1


def page(company: Company, costs: Costs) -> str:
    """The table of docs/fleet.md."""
    nodes, hour, without = enough(company, costs)
    a_second = hour.calls / 3600
    database_cores = a_second * costs.database_ms_per_call / 1e3 / company.busy_max
    commits_a_day = company.runs_a_day * company.calls_a_run / 10
    memory_gb = commits_a_day * company.kept_days * costs.bytes_per_commit / 1e9
    work_gb = company.repositories * company.source_bytes * costs.shared_bytes_per_source_byte / 1e9
    saved = company.runs_a_day * company.fresh_runs * company.source_bytes / 1e6
    rows = [
        ("calls a day", f"{company.runs_a_day * company.calls_a_run:,}"),
        ("calls in the busiest hour", f"{hour.calls:,} ({a_second:,.0f} a second)"),
        ("nodes, one core each", f"{nodes}"),
        ("busy, all nodes / one away", f"{hour.busy:.0%} / {without.busy:.0%}"),
        (
            "wait for a core, p99, all nodes / one away",
            f"{hour.wait_p99_ms:.1f} / {without.wait_p99_ms:.1f} ms",
        ),
        ("memory of a node", f"{costs.node_mb:,.0f} MB measured; plan 1 GB"),
        ("cores of PostgreSQL", f"{math.ceil(database_cores)} at {company.busy_max:.0%}"),
        ("connections of PostgreSQL, at most", f"{nodes * company.node_connections:,}"),
        ("commits a day", f"{commits_a_day:,.0f}"),
        (f"disk: memory, {company.kept_days} days", f"{memory_gb:,.0f} GB"),
        (
            "disk: work on files, all repositories once",
            f"{work_gb:,.0f} GB; {work_gb * 2:,.0f} GB with what changes",
        ),
        (
            "builds that fresh containers do not do",
            f"{saved * costs.build_s_per_mb / 3600:,.0f} core hours a day",
        ),
    ]
    lines = ["| what | needed |", "|---|---|"]
    return "\n".join([*lines, *(f"| {what} | {needed} |" for what, needed in rows)])


def recorded() -> Costs:
    return Costs(**json.loads(COSTS.read_text()))


def measured() -> Costs:
    """Costs from the last run of `bench fleet`, and sizes from a database of its own."""
    from tests.postgres import running_server

    rows = {
        row["what"]: row["value"] for row in json.loads((OUT / "fleet.json").read_text())["rows"]
    }
    (found,) = [sizes(server.url) for server in running_server()]
    return Costs(
        time.strftime("%Y-%m-%d"),
        round(rows["3 nodes: processor time of the servers"], 1),
        round(rows["3 nodes: processor time of the database"], 1),
        round(rows["3 nodes: memory of a node, most"]),
        *found,
    )


def sizes(url: str) -> tuple[float, float, float]:
    """Bytes of a commit, bytes of shared work per byte of source, seconds of a build per MB."""
    from bench.teams import indexed, repository
    from holdfast.index.shared.postgres import PostgresShared
    from holdfast.store.store import open_store

    source = Path(__file__).parents[1] / "src" / "holdfast" / "store"
    with (
        tempfile.TemporaryDirectory(prefix="holdfast-company-") as folder,
        closing(open_store(url, "sizes")) as store,
    ):

        def size() -> int:
            asked = "SELECT pg_database_size(current_database())"
            return int(store.engine.reading.rows(asked)[0][0])

        before = size()
        for number in range(1, COMMITS + 1):
            value = {"value": {"text": f"a note of some length, number {number}" * 4}}
            done = [{"op": "set", "id": f"note:{number % 200}", "value": value}]
            store.transact("w", {"localSeq": number, "operations": done})
        committed = size()
        root = repository(source, Path(folder) / "tree")
        text = sum(file.stat().st_size for file in root.rglob("*.py"))
        build_s, _, _ = indexed(root, Path(folder) / "home", PostgresShared(url))
        return (
            round((committed - before) / COMMITS),
            round((size() - committed) / text, 2),
            round(build_s / (text / 1e6), 2),
        )


def main() -> int:
    options = parser("company", __doc__)
    options.add_argument("--measure", action="store_true", help="take the costs anew")
    if options.parse_args().measure:
        COSTS.write_text(json.dumps(measured().__dict__, indent=2) + "\n")
    print(page(Company(), recorded()))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
