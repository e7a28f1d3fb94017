"""Ordinary calls beside hostile ones on one host: `python -m bench load`.

One agent makes ordinary calls and its waits are measured: alone, beside processes that use as much
of the processor but not the host (the control), and beside another agent whose calls are hostile.
What the hostile agent adds is the difference to the control: on a machine with few cores every
process that works delays every other, and that is not the host's doing.
"""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.arguments import takes_none
from bench.timing import Row, percentiles, report
from tests.hostile.agent import Agent, NoAnswer
from tests.hostile.tools import stop_host
from tests.hostile.tree import HostileTree, make_tree

CALLS = 400
ROUNDS = 3
DELAY_MS = 50.0

ORDINARY: list[tuple[str, dict[str, Any]]] = [
    ("read", {"path": "notes.py"}),
    ("memory_get", {"id": "note:none"}),
    ("readcache_status", {}),
    ("list_codebases", {}),
]
BURN = "while True: pass"


def hostile_calls(tree: Path) -> list[tuple[str, dict[str, Any]]]:
    """Calls that cost as much as a caller can make them cost."""
    root = str(tree)
    return [
        ("file_outline", {"file": f"{root}/bombs/brackets.js"}),
        ("search_code", {"query": "re:(a|aa)+$ needle", "path": root}),
        ("locate", {"snippet": "x = 1\n" * 200, "path": root}),
        ("search_code", {"query": "path:" + "*a" * 200 + "b needle", "path": root}),
        ("clones", {"path": root, "min_tokens": 2, "all": True}),
        ("read", {"path": f"{root}/one_line.js"}),
        ("file_outline", {"file": f"{root}/bombs/generics.cpp"}),
        ("search_code", {"snippet": "(" * 20_000, "path": root}),
        ("read", {"path": f"{root}/" + "x/" * 3_000}),
        ("memory_query", {"contains": "a" * 100_000}),
        ("call_graph", {"symbolRef": {"file": f"{root}/bombs/same.py", "symbolLabel": "*" * 200}}),
        ("manage_index", {"action": "create", "path": root, "force": True, "wait": 60}),
    ]


def waits(agent: Agent, count: int) -> list[float]:
    """Seconds that each of so many ordinary calls took."""
    found = []
    for tool, arguments in itertools.islice(itertools.cycle(ORDINARY), count):
        start = time.perf_counter()
        agent.call(tool, arguments)
        found.append(time.perf_counter() - start)
    return found


@contextmanager
def beside(work: Callable[[threading.Event], None]) -> Iterator[None]:
    """Run something in a thread meanwhile, until its event is set."""
    done = threading.Event()
    thread = threading.Thread(target=work, args=(done,))
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def burning(done: threading.Event) -> None:
    """Use one core, as the hostile agent's calls may, in a process of its own."""
    with subprocess.Popen([sys.executable, "-c", BURN]) as burner:
        done.wait()
        burner.send_signal(signal.SIGKILL)


def attacking(
    agent: Agent, tree: HostileTree, made: list[str]
) -> Callable[[threading.Event], None]:
    def work(done: threading.Event) -> None:
        for tool, arguments in itertools.cycle(hostile_calls(tree.root)):
            if done.is_set():
                return
            try:
                agent.call(tool, arguments)
            except NoAnswer:
                return
            made.append(tool)

    return work


def measure(folder: Path, calls: int = CALLS, rounds: int = ROUNDS) -> list[Row]:
    tree = make_tree(folder / "tree", folder / "proof")
    own = folder / "own"
    own.mkdir()
    (own / "notes.py").write_text("def note():\n    return 1\n" * 40)
    (folder / "user").mkdir()
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HOLDFAST")}
    environment = {**kept, "HOLDFAST_HOME": str(folder / "home"), "HOME": str(folder / "user")}
    times: dict[str, list[float]] = {"alone": [], "control": [], "hostile": []}
    made: list[str] = []
    ordinary, hostile = Agent(own, environment), Agent(tree.root, environment)
    try:
        hostile.call("manage_index", {"action": "create", "path": str(tree.root), "wait": 60})
        waits(ordinary, 40)
        for _ in range(rounds):
            times["alone"] += waits(ordinary, calls)
            with beside(burning):
                times["control"] += waits(ordinary, calls)
            with beside(attacking(hostile, tree, made)):
                times["hostile"] += waits(ordinary, calls)
    finally:
        ordinary.close()
        hostile.close()
        stop_host(environment)
    found = {name: percentiles(samples) for name, samples in times.items()}
    rows = [
        Row(f"an ordinary call, {name}, {at}", found[name][at] / 1e3, "ms")
        for name in times
        for at in ("p50", "p99")
    ]
    added = (found["hostile"]["p99"] - found["control"]["p99"]) / 1e3
    note = f"{len(made)} hostile calls meanwhile; load {os.getloadavg()[0]:.1f}"
    goal = f"{DELAY_MS:.0f}"
    rows.append(Row("added by hostile calls, p99", added, "ms", goal, added <= DELAY_MS, note))
    return rows


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="holdfast-load-") as folder:
        return report("load", measure(Path(folder)))


if __name__ == "__main__":
    takes_none("load", __doc__)
    raise SystemExit(main())
