"""The tools over MCP against an empty server of the same SDK: `python -m bench mcp`.

The empty server is started in turns with ours and asked in turns, by the same bare client: lines of
JSON over pipes. A cold start ends our host before each round; a warm one finds it running.

A message to us passes one process more than a message to the empty server. On a machine with more
to do than it has cores each passing waits for others, and wall time says little about us; so then
the goals are held against processor time, and the wall times are only shown.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.arguments import takes_none
from bench.timing import Row, report
from holdfast.home import Home
from holdfast.mcp.control import running
from holdfast.mcp.rendezvous import Rendezvous, rendezvous_of

ROUNDS = 7
CALLS = 400

EMPTY = """
from mcp.server import MCPServer
server = MCPServer("empty")
@server.tool()
def nothing() -> dict[str, str]:
    return {"status": "ok"}
server.run("stdio")
"""

START_WARM_MS, START_COLD, CALL_MS = 250.0, 1.5, 3.0


class Server:
    """A stdio server as an agent starts it."""

    def __init__(self, command: list[str], environment: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
        )
        self._last = 0

    def send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        self._last += 1
        self.send({"id": self._last, "method": method, "params": params})
        assert self.process.stdout is not None
        while True:
            line = self.process.stdout.readline()
            assert line, "the server ended"
            answer: dict[str, Any] = json.loads(line)
            if answer.get("id") == self._last:
                assert "result" in answer, answer
                return answer

    def first_answer(self, tool: str) -> None:
        """Everything an agent does before it has its first answer."""
        self.ask(
            "initialize",
            protocolVersion="2025-11-25",
            capabilities={},
            clientInfo={"name": "bench", "version": "1"},
        )
        self.send({"method": "notifications/initialized"})
        self.ask("tools/list")
        self.call(tool)

    def call(self, tool: str) -> None:
        self.ask("tools/call", name=tool, arguments={})

    def close(self) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait(30)
        self.process.stdout.close()


def started(command: list[str], environment: dict[str, str], tool: str) -> tuple[float, float]:
    """Milliseconds to the first answer, and the processor time of the process itself."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    server = Server(command, environment)
    server.first_answer(tool)
    wall = (time.perf_counter() - start) * 1e3
    server.close()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall, spent * 1e3


def measure(home: Path, rounds: int = ROUNDS, calls: int = CALLS) -> list[Row]:
    environment = {**os.environ, "HOLDFAST_HOME": str(home), "HOME": str(home)}
    place = rendezvous_of(Home(home), environment)
    empty = [sys.executable, "-c", EMPTY]
    ours = [sys.executable, "-m", "holdfast.cli.main", "mcp"]
    tool = "readcache_status"

    def stop() -> None:
        if running(place) is not None:
            subprocess.run([*ours, "--stop"], env=environment, check=True, capture_output=True)

    times: dict[str, list[tuple[float, float]]] = {"empty": [], "cold": [], "warm": []}
    try:
        for _ in range(rounds):
            times["empty"].append(started(empty, environment, "nothing"))
            stop()
            times["cold"].append(started(ours, environment, tool))
            times["warm"].append(started(ours, environment, tool))
        asked = _asked(Server(empty, environment), Server(ours, environment), tool, calls, place)
    finally:
        stop()
    wall = {name: statistics.median(one[0] for one in found) for name, found in times.items()}
    cpu = {name: statistics.median(one[1] for one in found) for name, found in times.items()}
    best = {name: min(one[0] for one in found) for name, found in times.items()}
    pairs = zip(times["cold"], times["empty"], strict=True)
    ratio = statistics.median(cold[0] / bare[0] for cold, bare in pairs)
    load = os.getloadavg()[0]
    busy = load > (os.cpu_count() or 1)
    spread = f"best of {rounds}: {{:.0f}} ms"
    extra = asked.ours_ms - asked.empty_ms
    spent = asked.ours_cpu_ms - asked.empty_cpu_ms
    warm_goal, call_goal = f"<= {START_WARM_MS:.0f}", f"<= {CALL_MS:.0f}"

    def judged(met: bool, on_processor: bool) -> bool | None:
        return met if on_processor == busy else None

    return [
        Row("load of the machine", load, "", note="busy: judged by processor time" if busy else ""),
        Row("empty server: start to first answer", wall["empty"], "ms",
            note=spread.format(best["empty"])),
        Row("host up: start to first answer", wall["warm"], "ms", warm_goal,
            judged(wall["warm"] <= START_WARM_MS, False), spread.format(best["warm"])),
        Row("host up: processor time of the shim", cpu["warm"], "ms", warm_goal,
            judged(cpu["warm"] <= START_WARM_MS, True)),
        Row("no host: start to first answer", wall["cold"], "ms", note=spread.format(best["cold"])),
        Row("no host / empty server", ratio, "x", f"<= {START_COLD}", ratio <= START_COLD),
        Row("empty server: one call, p50", asked.empty_ms, "ms"),
        Row("ours: one call, p50", asked.ours_ms, "ms"),
        Row("overhead per call", extra, "ms", call_goal, judged(extra <= CALL_MS, False),
            f"quickest of {calls}: {asked.quickest_ms:.2f} ms"),
        Row("overhead per call: processor time", spent, "ms", call_goal,
            judged(spent <= CALL_MS, True), f"empty server {asked.empty_cpu_ms:.2f} ms"),
    ]  # fmt: skip


@dataclass(frozen=True)
class Asked:
    """What one call costs on each server."""

    empty_ms: float
    ours_ms: float
    quickest_ms: float
    empty_cpu_ms: float
    ours_cpu_ms: float


def _asked(empty: Server, ours: Server, tool: str, calls: int, place: Rendezvous) -> Asked:
    """How long calls take on each server, asked in turns."""
    empty.first_answer("nothing")
    ours.first_answer(tool)
    host = running(place)
    assert host is not None
    pids = {"empty": [empty.process.pid], "ours": [ours.process.pid, int(host["pid"])]}
    before = {name: sum(map(_processor_ms, of)) for name, of in pids.items()}
    bare, full = [], []
    for _ in range(calls):
        start = time.perf_counter()
        empty.call("nothing")
        middle = time.perf_counter()
        ours.call(tool)
        bare.append(middle - start)
        full.append(time.perf_counter() - middle)
    spent = {
        name: (sum(map(_processor_ms, of)) - before[name]) / calls for name, of in pids.items()
    }
    empty.close()
    ours.close()
    return Asked(
        statistics.median(bare) * 1e3,
        statistics.median(full) * 1e3,
        (min(full) - min(bare)) * 1e3,
        spent["empty"],
        spent["ours"],
    )


def _processor_ms(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) * 1e3 / os.sysconf("SC_CLK_TCK")


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        return report("mcp", measure(Path(folder)))


if __name__ == "__main__":
    takes_none("mcp", __doc__)
    raise SystemExit(main())
