"""The main loop of a worker: read the job, index, search, time warm searches, write."""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple


class Place(NamedTuple):
    """A path, the lines shown (None: all of it) with their text, and the lines of further places
    that are only named."""

    path: str
    start: int | None
    end: int | None
    shown: str
    further: Sequence[tuple[int, int]] = ()


Ask = Callable[[str, int], Sequence[Place]]


def tokens(text: str) -> int:
    return -(-len(text.encode("utf-8", "surrogatepass")) // 4)


def resident_mb() -> float:
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def processor_s() -> float:
    own, others = (resource.getrusage(w) for w in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime


def work(prepare: Callable[[dict[str, Any]], tuple[Ask, int]]) -> int:
    """Run the job in argv[1], write to argv[2]. `prepare` indexes and returns the chunk count."""
    job: dict[str, Any] = json.loads(Path(sys.argv[1]).read_text())
    job["unindexed"] = []
    wall, spent = time.perf_counter(), processor_s()
    ask, chunks = prepare(job)
    found: dict[str, Any] = {
        "index_s": time.perf_counter() - wall,
        "index_cpu_s": processor_s() - spent,
        "chunks": chunks,
        "answers": [],
        "latency_ms": [],
        "problems": {},
    }
    for number, text in enumerate(job["queries"]):
        try:
            answer = ask(text, job["limit"])
        except Exception as error:  # A question that fails counts as wrong; the run continues.
            answer = []
            found["problems"][number] = f"{type(error).__name__}: {error}"
        places = [
            {"path": path, "start": start, "end": end, "tokens": tokens(shown), "further": further}
            for path, start, end, shown, further in answer
        ]
        found["answers"].append(places)
    for number, text in enumerate(job["queries"][: job.get("timed")]):
        if number in found["problems"]:
            continue
        start = time.perf_counter()
        ask(text, 10)
        found["latency_ms"].append((time.perf_counter() - start) * 1000)
    found["unindexed"] = job["unindexed"]
    found["resident_mb"] = resident_mb()
    found["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    Path(sys.argv[2]).write_text(json.dumps(found))
    return 0
