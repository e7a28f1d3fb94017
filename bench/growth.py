"""`python -m bench.growth [--quick] [--largest N]`: how costs grow with a space.

Each verb is run on spaces of 10³ to 10⁶ documents and commits. The exponent is the slope of the
cost against the size, both as logarithms: 0 for a cost that follows the answer, 1 for one that
follows the history. Times are processor times of this process: the machine is shared.

It also shows what a client that repeats stale commits does to another writer.
"""

from __future__ import annotations

import argparse
import math
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path

from bench.timing import OUT, Row, percentiles, report
from holdfast.errors import StoreError
from holdfast.ids import LocalSeq, SessionId
from holdfast.store.batch import CommitRequest
from holdfast.store.errors import ConflictError
from holdfast.store.model import Applied, CommitKey
from holdfast.store.store import Store, open_store

FLAT = 0.25
"""The largest exponent of a cost that does not follow the history; a lookup is deeper in a larger
tree, and misses caches more often."""


def fill(store: Store, documents: int) -> None:
    """So many documents, each set by its own commit, through the group commit."""
    done, left = threading.Event(), documents

    def told(answer: object) -> None:
        nonlocal left
        assert not isinstance(answer, Exception), answer
        left -= 1
        if left == 0:
            done.set()

    for n in range(documents):
        value = {"value": {"n": n, "text": f"document {n}"}}
        operation = {"op": "set", "id": f"doc:{n:07}", "value": value}
        store.submit("fill", {"localSeq": n + 1, "operations": [operation]}, told)
        if n % 20_000 == 0:
            time.sleep(0)
    done.wait()


def spent(act: Callable[[], object], times: int = 5) -> float:
    """The processor time of one call in milliseconds, the middle of several."""
    samples = []
    for _ in range(times):
        start = time.process_time()
        act()
        samples.append((time.process_time() - start) * 1e3)
    return sorted(samples)[len(samples) // 2]


def measure(directory: Path, size: int) -> dict[str, float]:
    """What each verb costs in a space of this size, in milliseconds."""
    found: dict[str, float] = {}
    with open_store(directory / str(size), "growth") as store:
        fill(store, size)
        middle = f"doc:{size // 2:07}"
        store.create_branch("draft", by=CommitKey(SessionId("b"), LocalSeq(1)))
        change = {"op": "replace", "path": "/value/n", "value": -1}
        patch = {"op": "patch", "id": middle, "patches": [change]}
        store.transact("d", {"localSeq": 1, "branch": "draft", "operations": [patch]})
        store.transact("m", {"localSeq": 1, "operations": [{**patch, "id": "doc:0000001"}]})
        found["diff of one change"] = spent(lambda: store.diff("draft"))
        found["merge of one change, proposed"] = spent(lambda: store.propose_merge("draft"))
        found["merge back of one change, proposed"] = spent(
            lambda: store.propose_merge("", "draft")
        )
        numbers = iter(range(1, 100))

        def merge() -> None:
            n = next(numbers)
            edit = {"op": "replace", "path": "/value/n", "value": -1 - n}
            operation = {"op": "patch", "id": middle, "patches": [edit]}
            store.transact("d", {"localSeq": n + 1, "branch": "draft", "operations": [operation]})
            store.merge(CommitKey(SessionId("merger"), LocalSeq(n)), "draft")

        found["merge of one change, landed"] = spent(merge)
        found["list, a page of 100 in the middle"] = spent(
            lambda: store.page("", None, "", middle, 100)
        )
        found["list as of seq 5"] = spent(lambda: store.documents("", 5))
        found["list as of the middle, the first 100"] = spent(
            lambda: list(islice(store.stream("", size // 2), 100))
        )
        found["read at a seq"] = spent(lambda: store.read(middle, seq=size))
        commits = store.newest_seq()
        found["export, per 1,000 commits"] = spent(lambda: _count(store), 1) / commits * 1e3
        found["verify, per 1,000 commits"] = spent(store.verify, 1) / commits * 1e3
    return found


def _count(store: Store) -> int:
    return sum(1 for _ in store.export())


def exponent(sizes: list[int], costs: list[float]) -> float:
    """The slope of the cost against the size, as logarithms, by least squares."""
    xs, ys = [math.log(size) for size in sizes], [math.log(max(cost, 1e-3)) for cost in costs]
    x, y = sum(xs) / len(xs), sum(ys) / len(ys)
    above = sum((a - x) * (b - y) for a, b in zip(xs, ys, strict=True))
    return above / sum((a - x) ** 2 for a in xs)


def neighbours(directory: Path, patches: int) -> list[Row]:
    """Another writer's times, alone and beside a client that repeats stale commits."""
    rows: list[Row] = []
    with open_store(directory / "stale", "growth") as store:
        hot = {"op": "set", "id": "doc:hot", "value": {"value": {"n": 0, "m": 0}}}
        store.transact("start", {"localSeq": 1, "operations": [hot]})
        left, done = patches, threading.Event()

        def told(_: object) -> None:
            nonlocal left
            left -= 1
            if left == 0:
                done.set()

        for n in range(patches):
            edit = {"op": "replace", "path": "/value/n", "value": n}
            operation = {"op": "patch", "id": "doc:hot", "patches": [edit]}
            store.submit("fill", {"localSeq": n + 1, "operations": [operation]}, told)
        done.wait()
        read = {"id": "doc:hot", "path": ["value", "m"], "seq": 1}
        near = {**read, "seq": store.newest_seq() - 999}
        stale = {"reads": {"confirmed": [read]}, "operations": [{"op": "delete", "id": "doc:x"}]}

        def refused() -> None:
            try:
                store.transact("stale", {"localSeq": 1, **stale})
            except ConflictError:
                return
            raise AssertionError("a read older than can be checked was accepted")

        oldest = spent(refused, 50)
        numbers = iter(range(1, 10_000))

        def accepted() -> None:
            reads = {"confirmed": [near]}
            operations = [{"op": "set", "id": "doc:y", "value": {"value": 1}}]
            store.transact(
                "near", {"localSeq": next(numbers), "reads": reads, "operations": operations}
            )

        checked = spent(accepted, 50)
        what = f"a read behind all {patches:,} patches, refused"
        rows.append(Row(what, oldest, "ms", "≤ 2", oldest <= 2))
        rows.append(Row("a read 999 patches behind, landed", checked, "ms", "≤ 2", checked <= 2))
        conflicting = {**near, "path": ["value", "n"]}

        def queued() -> None:
            """A stale commit as a server sends it; it is checked against 999 patches each time."""
            done = threading.Event()
            reads = {"confirmed": [conflicting]}
            store.submit("queued", {"localSeq": 1, **stale, "reads": reads}, lambda _: done.set())
            done.wait()

        first = sorted(_first_check(store, queued) for _ in range(9))[4]
        what = "the first read 999 patches behind, queued: the writer's time"
        rows.append(Row(what, first, "ms", "≤ 2", first <= 2))
        for kind, act in (("stale commits", refused), ("stale commits through a server", queued)):
            ratio = _slowed(store, act)
            what = f"another writer's p99 beside a client of {kind} / alone"
            rows.append(Row(what, ratio, "ratio", "≤ 2", ratio <= 2))
    return rows


def _first_check(store: Store, act: Callable[[], None]) -> float:
    """The processor time of the writer for a commit whose reads nothing was kept for."""
    engine, spent_ns = store.engine, 0
    transact = engine.transact

    def timed(requests: Sequence[CommitRequest]) -> list[Applied | StoreError]:
        nonlocal spent_ns
        start = time.thread_time_ns()
        answers = transact(requests)
        spent_ns += time.thread_time_ns() - start
        return answers

    engine._recent.forget()
    engine.transact = timed  # type: ignore[method-assign]
    try:
        act()
    finally:
        engine.transact = transact  # type: ignore[method-assign]
    return spent_ns / 1e6


def _slowed(store: Store, act: Callable[[], None]) -> float:
    """By how much another writer's p99 grows beside a client that repeats `act`."""
    ratios = []
    for _ in range(5):
        alone = _other_writer(store)
        stop = threading.Event()
        thread = threading.Thread(target=_repeat, args=(act, stop))
        thread.start()
        beside = _other_writer(store)
        stop.set()
        thread.join()
        ratios.append(beside["p99"] / alone["p99"])
    return sorted(ratios)[2]


def _repeat(act: Callable[[], None], stop: threading.Event) -> None:
    while not stop.is_set():
        act()
        stop.wait(0.002)  # a client on a connection does not answer itself at once


_writers = iter(range(10**9))


def _other_writer(store: Store, commits: int = 300) -> dict[str, float]:
    name, samples = f"other-{next(_writers)}", []
    for n in range(commits):
        operation = {"op": "set", "id": "doc:other", "value": {"value": n}}
        start = time.perf_counter()
        store.transact(name, {"localSeq": n + 1, "operations": [operation]})
        samples.append(time.perf_counter() - start)
    return percentiles(samples)


def chart(path: Path, sizes: list[int], costs: dict[str, list[float]]) -> None:
    """A chart of costs against sizes, both as logarithms, as SVG."""
    from bench.evidence.charts import lines  # it imports matplotlib, which takes a second

    named = {
        f"{what}: {exponent(sizes, line):.2f}": list(zip(sizes, line, strict=True))
        for what, line in costs.items()
    }
    path.parent.mkdir(exist_ok=True)
    path.write_text(lines("Costs against sizes, with exponents", "size", "ms", named), "utf-8")


GOALS = {"diff of one change": 5.0, "merge of one change, proposed": 5.0}
RATES = {"export, per 1,000 commits": 20_000, "verify, per 1,000 commits": 20_000}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a small share, for CI")
    parser.add_argument("--largest", type=int, default=1_000_000, help="the largest size")
    args = parser.parse_args(arguments)
    largest = 3_000 if args.quick else args.largest
    sizes = [size for size in (300, 1_000, 3_000, 10_000, 100_000, 1_000_000) if size <= largest]
    sizes = sizes if args.quick else [size for size in sizes if size in _POWERS]
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as name:
        directory = Path(name)
        measured = [measure(directory, size) for size in sizes]
        rows += neighbours(directory, 2_000 if args.quick else 50_000)
    costs = {what: [one[what] for one in measured] for what in measured[0]}
    for what, line in costs.items():
        slope = exponent(sizes, line)
        note = ", ".join(f"{cost:.3g}" for cost in line) + " ms"
        rows.append(Row(f"{what}: exponent", slope, "", f"≤ {FLAT}", slope <= FLAT, note,
                        tuple(zip(sizes, line, strict=True))))  # fmt: skip
        if what in GOALS:
            goal, last = GOALS[what], line[-1]
            rows.append(Row(f"  at {sizes[-1]:,}", last, "ms", f"≤ {goal:g}", last <= goal))
        if what in RATES:
            rate = 1e6 / line[-1]
            goal = RATES[what]
            rows.append(Row(f"  at {sizes[-1]:,}", rate, "commits/s", f"≥ {goal:,}", rate >= goal))
    chart(OUT / "growth.svg", sizes, costs)
    return report("growth", rows)


_POWERS = (1_000, 10_000, 100_000, 1_000_000)


if __name__ == "__main__":
    raise SystemExit(main())
