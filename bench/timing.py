"""Measuring: repeat, take the middle, compare within one run.

The machines this runs on drift by a factor of two within minutes, so nothing here is judged by
seconds. Every figure is held against a baseline measured in the same run, in turns.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

OUT = Path(__file__).parent / "out"


@dataclass(frozen=True)
class Row:
    """One line of the table: what was measured, what it is held against, and the goal."""

    what: str
    value: float | None
    unit: str
    goal: str = ""
    met: bool | None = None
    note: str = ""
    points: tuple[tuple[float, float], ...] = ()
    """Pairs of a size and a cost, for a chart."""


def rate(act: Callable[[], int]) -> float:
    """How many things per second one call of `act` does; it returns how many it did."""
    start = time.perf_counter()
    done = act()
    return done / (time.perf_counter() - start)


def median_rate(act: Callable[[], int], rounds: int = 5) -> float:
    return statistics.median(rate(act) for _ in range(rounds))


def percentiles(samples: list[float]) -> dict[str, float]:
    """p50, p95 and p99 of samples in seconds, in microseconds."""
    ordered = sorted(samples)

    def at(share: float) -> float:
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))] * 1e6

    return {"p50": at(0.50), "p95": at(0.95), "p99": at(0.99)}


def each(act: Callable[[int], object], times: int) -> list[float]:
    """How long each of so many calls took, in seconds."""
    samples = []
    for number in range(times):
        start = time.perf_counter()
        act(number)
        samples.append(time.perf_counter() - start)
    return samples


def resident_mb() -> float:
    """The memory of its own that this process holds now; mapped files are the system's."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) / 1e3
    raise RuntimeError("this system does not say how much memory a process holds")


def machine() -> str:
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                model = line.partition(":")[2].strip()
                break
    return f"{os.cpu_count()} cores, {model}, Python {platform.python_version()}"


def save(name: str, rows: list[Row]) -> None:
    """Write bench/out/NAME.json, which `python -m bench.evidence run` records."""
    OUT.mkdir(exist_ok=True)
    text = json.dumps(
        {"name": name, "machine": machine(), "rows": [asdict(row) for row in rows]}, indent=2
    )
    (OUT / f"{name}.json").write_text(text + "\n")


def report(name: str, rows: list[Row]) -> int:
    """Print the table, write bench/out/NAME.json; 1 if a goal was missed."""
    width = max(len(row.what) for row in rows)
    print(f"\n{name}: {machine()}, {time.strftime('%Y-%m-%d')}\n")
    for row in rows:
        mark = {True: "ok  ", False: "MISS", None: "    "}[row.met]
        value = "" if row.value is None else f"{row.value:,.{2 if row.value < 100 else 0}f}"
        goal = f"goal {row.goal}" if row.goal else ""
        print(f"{mark} {row.what:<{width}}  {value:>12} {row.unit:<10} {goal:<14} {row.note}")
    save(name, rows)
    missed = [row.what for row in rows if row.met is False]
    if missed:
        print(f"\nmissed: {', '.join(missed)}", file=sys.stderr)
    return 1 if missed else 0
