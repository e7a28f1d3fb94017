"""Agents on one server and on three: `python -m bench fleet [--agents 200] [--calls 10]`.

All servers share one PostgreSQL and one home. Every agent has an MCP session over HTTP and a watch
on its own document over a WebSocket. It makes its calls one after the other, in a fixed mix of
searches, outlines, reads, memory reads and commits, and after a commit waits for its own watch. One
more agent has a tree indexed meanwhile. All of it stays on loopback and ends after `--calls` calls
of each agent.

One and three servers take turns. What they cost is the processor time of all servers and of the
database per call; by the clock the agents, which are threads of one process, take part of it. Then
one of the three is killed while clients commit.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import holdfast
from bench.arguments import parser
from bench.timing import Row, percentiles, report
from tests.postgres import PostgresServer, running_server
from tests.sync import processes
from tests.sync.peers import root, watch
from tests.sync.processes import Client, Served
from tests.web.http_agent import HttpAgent, metrics

AGENTS, CALLS, ROUNDS = 200, 10, 2
NODES = (1, 3)
OVER_MAX, SLOWEST_MAX = 1.15, 3.0
CLIENTS, AFTER_KILL, GAP_MAX_S = 20, 3, 2.0
PATIENCE_S = 300.0
"""By when every call is answered, also on a machine that does much else."""

SPACE = "fleet"
SOURCE = Path(__file__).parents[1] / "src" / "holdfast"
TREE, OTHER = ("store", "sync", "web"), ("index/search", "reading")

MIX = ("search", "read", "memory get", "search", "outline", "commit", "read", "search",
       "memory get", "read")  # fmt: skip
QUESTIONS = (
    "where is a session resumed", "who admits a commit", "how are rows checked",
    "the limit of unread bytes", "what closes a connection", "apply a patch to a document",
)  # fmt: skip


@dataclass
class Load:
    """What one round measured."""

    times: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    """Seconds of each call, by kind."""
    agents: list[float] = field(default_factory=list)
    """The mean of each agent's calls."""
    wall_s: float = 0.0
    nodes_s: float = 0.0
    database_s: float = 0.0
    figures: list[dict[str, float]] = field(default_factory=list)
    moves: int = 0
    refusals: int = 0

    @property
    def calls(self) -> int:
        return sum(map(len, self.times.values()))


def processor_s(pid: int) -> float:
    """Processor time of a process and everything it started."""
    tick = os.sysconf("SC_CLK_TCK")
    parents: dict[int, list[int]] = defaultdict(list)
    used: dict[int, float] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text(errors="replace").rpartition(") ")[2].split()
        except OSError:
            continue
        one = int(stat.parent.name)
        parents[int(fields[1])].append(one)
        # The last two are children that have ended.
        used[one] = sum(map(int, fields[11:15])) / tick
    todo, total = [pid], 0.0
    while todo:
        one = todo.pop()
        total += used.get(one, 0.0)
        todo += parents[one]
    return total


class Agent(threading.Thread):
    """One agent: its calls, one after the other, and how long each took."""

    def __init__(self, number: int, fleet: Fleet, calls: int, began: threading.Barrier) -> None:
        super().__init__(name=f"agent{number}", daemon=True)
        self._number, self._tree, self._calls, self._began = number, fleet.tree, calls, began
        self._files = fleet.files
        self.http = HttpAgent(fleet.bases, fleet.token, first=number, patience_s=PATIENCE_S)
        self._urls = [node.url for node in fleet.nodes]
        self.times: list[tuple[str, float]] = []
        self.failed: BaseException | None = None

    @property
    def note(self) -> str:
        return f"note:{self._number}"

    def run(self) -> None:
        try:
            self.http.start()
            url = self._urls[self._number % len(self._urls)]
            watcher = Client(url, f"w{self._number}-{time.monotonic_ns()}", space=SPACE)
            watcher.ask("session.watch.set", watches=[watch("w", root(self.note))])
            self._began.wait()
            for turn in range(self._calls):
                kind = MIX[(turn + self._number) % len(MIX)]
                start = time.perf_counter()
                self._call(kind, turn)
                self.times.append((kind, time.perf_counter() - start))
                if kind == "commit":
                    self._arrived(watcher, turn)
                    self.times.append(("commit seen by a watch", time.perf_counter() - start))
            watcher.close()
        except BaseException as error:
            self.failed = error
            self._began.abort()
        finally:
            self.http.close()

    def _arrived(self, watcher: Client, turn: int) -> None:
        """Wait until the watch shows this turn's commit."""
        while True:
            for upsert in watcher.effect()["upserts"]:
                if upsert["doc"]["value"]["turn"] == turn:
                    return

    def _call(self, kind: str, turn: int) -> None:
        some = self._number * 7 + turn
        tree, file = str(self._tree), str(self._files[some % len(self._files)])
        asked: dict[str, tuple[str, dict[str, Any]]] = {
            "search": ("search_code", {"path": tree, "query": QUESTIONS[some % len(QUESTIONS)]}),
            "outline": ("file_outline", {"file": file}),
            "read": ("read", {"path": file, "limit": 120}),
            "memory get": ("memory_get", {"space": SPACE, "id": self.note}),
            "commit": (
                "memory_commit",
                {"space": SPACE, "operations": [
                    {"op": "set", "id": self.note, "value": {"turn": turn}}]},
            ),
        }  # fmt: skip
        tool, arguments = asked[kind]
        answer = self.http.call(tool, arguments)
        if answer.get("isError") and kind != "memory get":
            raise AssertionError(f"{tool}: {json.dumps(answer)[:500]}")


class Fleet:
    """So many servers over one database, one home and two trees."""

    def __init__(self, postgres: PostgresServer, folder: Path, nodes: int, files: int) -> None:
        self.folder = folder
        self.tree = copied(folder / "tree", TREE, files)
        self.other = copied(folder / "other", OTHER, files)
        self.files = sorted(self.tree.rglob("*.py"))
        home = str(folder / "home")
        url = postgres.url
        self.nodes = [
            Served(url, home=home, cwd=folder, HOLDFAST_DATABASE_URL=url) for _ in range(nodes)
        ]
        self.bases = [f"http://{urlsplit(node.url).netloc}" for node in self.nodes]
        self.token = self.nodes[0].token
        self.build("create", self.tree)
        for base in self.bases:  # every node has answered once: what is loaded once is loaded
            agent = HttpAgent([base], self.token)
            agent.start()
            agent.call("search_code", {"path": str(self.tree), "query": QUESTIONS[0]})
            agent.close()

    def build(self, action: str, tree: Path) -> None:
        agent = HttpAgent(self.bases[:1], self.token)
        agent.start()
        answer = agent.call("manage_index", {"action": action, "path": str(tree), "wait": 240})
        agent.close()
        assert not answer.get("isError"), answer

    def used(self) -> float:
        return sum(processor_s(node.process.pid) for node in self.nodes)

    def stop(self) -> None:
        for node in self.nodes:
            if node.process.returncode is None:
                node.stop()


def copied(target: Path, parts: tuple[str, ...], most: int) -> Path:
    """A tree of at most so many files of ours."""
    files = [file for part in parts for file in sorted((SOURCE / part).rglob("*.py"))][:most]
    for file in files:
        place = target / file.relative_to(SOURCE)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, place)
    return target


@contextmanager
def building(fleet: Fleet) -> Iterator[None]:
    """One build of another tree, going on meanwhile; it is over when the block is."""
    thread = threading.Thread(target=fleet.build, args=("reindex", fleet.other))
    thread.start()
    try:
        yield
    finally:
        thread.join()


def postmaster(postgres: PostgresServer) -> int:
    return int((postgres.home / "data" / "postmaster.pid").read_text().split()[0])


def loaded(postgres: PostgresServer, fleet: Fleet, agents: int, calls: int) -> Load:
    """One round: all agents at once, and one build."""
    began = threading.Barrier(agents + 1)
    threads = [Agent(number, fleet, calls, began) for number in range(agents)]
    for thread in threads:
        thread.start()
    try:
        began.wait(PATIENCE_S)
    except threading.BrokenBarrierError:
        raise next(t.failed for t in threads if t.failed is not None) from None
    load, database = Load(), postmaster(postgres)
    used, queried, start = fleet.used(), processor_s(database), time.perf_counter()
    with building(fleet):
        for thread in threads:
            thread.join()
    load.wall_s = time.perf_counter() - start
    load.nodes_s, load.database_s = fleet.used() - used, processor_s(database) - queried
    load.figures = [metrics(base, fleet.token) for base in fleet.bases]
    for thread in threads:
        if thread.failed is not None:
            raise thread.failed
        for kind, took in thread.times:
            load.times[kind].append(took)
        load.agents.append(statistics.mean(took for _, took in thread.times))
        load.moves += thread.http.moves
        load.refusals += thread.http.refusals
    return load


class Failover(threading.Thread):
    """A client that commits without a pause; the longest time between two acknowledged commits."""

    def __init__(self, fleet: Fleet, number: int) -> None:
        super().__init__(name=f"failover{number}", daemon=True)
        self._urls, self._token = [node.url for node in fleet.nodes], fleet.token
        self.begun, self.killed = threading.Event(), threading.Event()
        self.gap_s = 0.0
        self.failed: BaseException | None = None

    def run(self) -> None:
        try:
            with holdfast.connect(self._urls, SPACE, token=self._token) as space:
                last, after = time.perf_counter(), 0
                while after < AFTER_KILL:
                    space.put(self.name, {"value": {"at": after}})
                    now = time.perf_counter()
                    if self.killed.is_set():
                        self.gap_s, after = max(self.gap_s, now - last), after + 1
                    last = now
                    self.begun.set()
        except BaseException as error:
            self.failed = error
        finally:
            self.begun.set()


def killed(fleet: Fleet, clients: int) -> list[float]:
    """Kill one node; how long each client was without an acknowledged commit."""
    threads = [Failover(fleet, number) for number in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.begun.wait(PATIENCE_S)
    for thread in threads:
        thread.killed.set()
    fleet.nodes[0].kill()
    for thread in threads:
        thread.join(PATIENCE_S)
        if thread.failed is not None:
            raise thread.failed
    return [thread.gap_s for thread in threads]


def measure(
    postgres: PostgresServer,
    folder: Path,
    agents: int = AGENTS,
    calls: int = CALLS,
    rounds: int = ROUNDS,
    files: int = 200,
) -> list[Row]:
    processes.WAIT_S = PATIENCE_S
    gaps: list[float] = []
    loads: dict[int, list[Load]] = {nodes: [] for nodes in NODES}
    for turn in range(rounds):
        for nodes in NODES if turn % 2 == 0 else NODES[::-1]:
            with ExitStack() as stack:
                place = folder / f"{turn}-{nodes}"
                place.mkdir()
                stack.callback(shutil.rmtree, place, ignore_errors=True)
                fleet = Fleet(postgres, place, nodes, files)
                stack.callback(fleet.stop)
                fleet.build("create", fleet.other)
                loads[nodes].append(loaded(postgres, fleet, agents, calls))
                if nodes > 1:
                    gaps += killed(fleet, min(agents, CLIENTS))
    rows = [row for nodes in NODES for row in _rows(nodes, loads[nodes])]
    note = f"{len(gaps)} clients, median {statistics.median(gaps):.2f} s"
    went_on = Row(
        "one of three nodes killed: longest wait of a client", max(gaps), "s",
        f"at most {GAP_MAX_S:g}", max(gaps) <= GAP_MAX_S, note,
    )  # fmt: skip
    return [*rows, went_on, *_compared(loads)]


def _rows(nodes: int, loads: list[Load]) -> list[Row]:
    name = f"{nodes} node" + ("s" if nodes > 1 else "")
    done = sum(load.calls for load in loads)
    rows = [
        Row(f"{name}: throughput", done / sum(load.wall_s for load in loads), "calls/s"),
        Row(f"{name}: processor time of the servers", _cost(loads, "nodes_s"), "ms/call"),
        Row(f"{name}: processor time of the database", _cost(loads, "database_s"), "ms/call"),
    ]
    for kind in sorted({kind for load in loads for kind in load.times}):
        at = percentiles([took for load in loads for took in load.times[kind]])
        rows += [Row(f"{name}: {kind}, {p}", at[p] / 1e3, "ms") for p in ("p50", "p95", "p99")]
    slowest = max(max(load.agents) / statistics.median(load.agents) for load in loads)
    peak = max(
        figures["holdfast_calls_in_flight_peak"] for load in loads for figures in load.figures
    )
    refused = sum(load.refusals for load in loads)
    memory = max(
        figures["process_resident_memory_max_bytes"] for load in loads for figures in load.figures
    )
    rows += [
        Row(f"{name}: slowest agent / median agent", slowest, "", f"at most {SLOWEST_MAX:g}",
            slowest <= SLOWEST_MAX),
        Row(f"{name}: calls in flight on one node, most", peak, "calls",
            note=f"limit 512, {refused} refused"),
        Row(f"{name}: memory of a node, most", memory / 1e6, "MB"),
    ]  # fmt: skip
    return rows


def _cost(loads: list[Load], what: str) -> float:
    """Milliseconds of processor time per call."""
    used = float(sum(getattr(load, what) for load in loads))
    return used / sum(load.calls for load in loads) * 1e3


def _compared(loads: dict[int, list[Load]]) -> list[Row]:
    one, three = (
        _cost(loads[nodes], "nodes_s") + _cost(loads[nodes], "database_s") for nodes in NODES
    )
    return [
        Row("three nodes / one, processor time with the database", three / one, "",
            f"at most {OVER_MAX}", three / one <= OVER_MAX,
            f"load {os.getloadavg()[0]:.1f}"),
    ]  # fmt: skip


def main() -> int:
    options = parser("fleet", __doc__)
    options.add_argument("--agents", type=int, default=AGENTS)
    options.add_argument("--calls", type=int, default=CALLS)
    options.add_argument("--rounds", type=int, default=ROUNDS)
    given = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="holdfast-fleet-") as folder:
        rows: list[Row] = []
        for server in running_server():
            rows += measure(server, Path(folder), given.agents, given.calls, given.rounds)
    return report("fleet", rows)


if __name__ == "__main__":
    raise SystemExit(main())
