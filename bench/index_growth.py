"""`python -m bench.index_growth TREE [--sizes 1000,10000,100000] [--copies]`: how an index grows.

TREE is a large directory, for example many packages unpacked side by side. Trees of the given
numbers of files are taken from it, evenly, as copies: a tree with hard links is walked for every
search. Each is indexed in a home of its own by a process of its own. The first answer is that of
`holdfast search` in a new process, from its start to its end by the clock, the least of three.
Another process has the kernel report changes, as the host does, and searches until it is warm; a
third syncs one edited file and finds it, also after a pause, when the times of all files are
compared. A sync without a change is that of a process that does not watch the tree.
Memory is what all processes together hold for themselves (anonymous pages, by their share), sampled
while they run; files that are mapped belong to the system's cache. That of a search is the larger
of two: of all processes of a `holdfast search`, and of one that stays after its first search. Other
times are processor times: the machine is shared. The exponent is the slope of a cost against the
number of chunks, both as logarithms: 1 for a cost that follows the tree, 0 for one that does not
depend on it.

With `--copies` a tree has as many files as asked for: beyond its own, those of changed copies that
share no work (`growth_tree.py`). `--into` says where trees and indexes are made.

`--minutes` bounds the run: sizes that would end later, at the rate of the size before, are left out
and named. Two sizes are always measured. What a size cost is written at once to
`index_growth.sizes.json` beside the reports; an interrupted run of the same code over the same tree
goes on with the sizes that are missing.

Also: how many of the ten nearest chunks the preselection by signs keeps, of those that comparing
every vector finds.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF
from typing import Any

import numpy as np

import holdfast
from bench.arguments import parser
from bench.growth import chart, exponent
from bench.growth_tree import make_tree
from bench.index import QUERIES
from bench.timing import OUT, Row, report
from holdfast import system
from holdfast.files import disk
from holdfast.files.policy import Policy
from holdfast.index.answers import SymbolRef
from holdfast.index.code_index import CodeIndex, open_index, run_here
from holdfast.index.facts import model as facts_of
from holdfast.index.generations.model import Reader
from holdfast.index.generations.record import partial
from holdfast.index.search import corpus as corpora
from holdfast.index.tools.calls import call_graph
from holdfast.index.tools.manage import manage_index
from holdfast.index.tools.search import search_code

TIMES = (
    "build", "sync, one file edited", "sync, one file edited after a pause",
    "sync, nothing changed", "stat of every file",
    "first answer", "first answer, processors", "search p50", "search p95", "first calls",
)  # fmt: skip
SIZES = ("build memory MB", "search memory MB", "calls memory MB", "disk / source")
FLAT, LINEAR = 0.6, 1.1
"""The largest exponents of a cost that hardly grows, and of one that is not worse than linear."""
RECALL_MIN = 0.98
GOALS = {
    "first answer": 400.0, "search p50": 15.0, "search p95": 30.0, "sync, one file edited": 200.0,
    "build memory MB": 800.0, "search memory MB": 150.0, "disk / source": 2.5,
}  # fmt: skip
"""At the largest size: times in milliseconds, and sizes."""
IDLE_MAX = 1.5
"""How long a sync without changes may take, as a multiple of a stat of every file."""
ASKED = 60
LOOK_S, LOOK_OFTEN_S = 0.1, 0.005
"""How often memory is looked at: while something runs for long, and for a second."""
CHUNKS_MAX = 10_000_000
"""Above what the largest tree has; HOLDFAST_INDEX_CHUNKS_MAX for a user."""
MINUTES = 120.0


def own_memory_mb(pid: int) -> float:
    """What a process and those it started hold for themselves now."""
    total = 0.0
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss_Anon:"):
                total += int(line.split()[1]) / 1e3
        for task in os.listdir(f"/proc/{pid}/task"):
            for child in Path(f"/proc/{pid}/task/{task}/children").read_text().split():
                total += own_memory_mb(int(child))
    except OSError:
        pass  # it has just ended
    return total


def run(step: str, home: Path, root: Path) -> dict[str, float]:
    """One step in a process of its own: what it measured, its time and its peak of memory."""
    command = [sys.executable, "-m", "bench.index_growth", "--step", step, str(home), str(root)]
    above = str(Path(__file__).resolve().parent.parent)
    environment = {**os.environ, "PYTHONPATH": above}
    text, peak = sampled(command, environment, LOOK_S)
    found: dict[str, float] = json.loads(text.splitlines()[-1])
    return found | {"peak": peak}


def sampled(command: list[str], environment: dict[str, str], every_s: float) -> tuple[str, float]:
    """What a command prints, and the peak of the memory of all its processes."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    peak, done = 0.0, threading.Event()

    def watch() -> None:
        nonlocal peak
        while not done.wait(every_s):
            peak = max(peak, own_memory_mb(process.pid))

    thread = threading.Thread(target=watch)
    thread.start()
    text, _ = process.communicate()
    done.set()
    thread.join()
    if process.returncode:
        raise RuntimeError(f"{' '.join(command[2:6])} failed")
    return text, peak


def spent_ms(act: Any) -> float:
    start = _spent()
    act()
    return (_spent() - start) * 1e3


def _spent() -> float:
    """The processor time of this process and of those it waited for."""
    own, others = (resource.getrusage(who) for who in (RUSAGE_SELF, RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime


def opened(home: Path) -> CodeIndex:
    index = open_index(home)
    index.start, index.watches, index.chunks_max = run_here, True, CHUNKS_MAX
    return index


def first_answer(home: Path, root: Path) -> dict[str, float]:
    """The least time that a new process took to answer: by the clock, and of the processors."""
    command = [sys.executable, "-m", "holdfast", "search", "--path", str(root), QUERIES[0]]
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    environment = {**kept, "HOME": str(home), "HOLDFAST_HOME": str(home), "HOLDFAST_CLI_HOST": "0"}

    def answered() -> None:
        subprocess.run(command, env=environment, check=True, capture_output=True)

    clock, spent = [], []
    for _ in range(3):
        began = time.monotonic()
        spent.append(spent_ms(answered))
        clock.append((time.monotonic() - began) * 1e3)
    # Apart from the times: looking often takes a part of the machine.
    _, peak = sampled(command, environment, LOOK_OFTEN_S)
    return {
        "first answer": min(clock), "first answer, processors": min(spent), "cold memory": peak
    }  # fmt: skip


def build_step(home: Path, root: str) -> dict[str, float]:
    index = opened(home)
    took = spent_ms(lambda: manage_index(index, "create", root))
    index.close()
    record = index.registry.records()[root]
    assert not partial(record), "the limit of chunks was reached"
    return {"build": took, "chunks": float(getattr(record.state, "chunks", 0))}


def search_step(home: Path, root: str) -> dict[str, float]:
    index = opened(home)
    search_code(index, root, QUERIES[0])
    found = {"search memory": _own_now()}
    for query in QUERIES:
        search_code(index, root, query)
    samples = []
    for _ in range(4):
        for query in QUERIES:
            start = time.process_time()
            search_code(index, root, query)
            samples.append((time.process_time() - start) * 1e3)
    samples.sort()
    found["search p50"], found["search p95"] = samples[len(samples) // 2], samples[-2]
    found["recall"] = recall(index, root)
    index.close()
    return found


def _own_now() -> float:
    return own_memory_mb(os.getpid())


def sync_step(home: Path, root: str) -> dict[str, float]:
    index = opened(home)
    index.watches = False
    manage_index(index, "sync", root)
    idle = statistics.median(spent_ms(lambda: manage_index(index, "sync", root)) for _ in range(3))
    floor = statistics.median(spent_ms(lambda: _stat_all(root)) for _ in range(3))
    index.watches = True
    for _ in range(2):  # The first walk finds the directories to watch, the second is covered.
        manage_index(index, "sync", root)
    search_code(index, root, QUERIES[0])
    edited = Path(root) / "edited_by_the_benchmark.py"
    passed = timedelta()
    index.now = lambda: system.utc_now() + passed

    def edit(turn: int) -> None:
        edited.write_text(f"def reticulate_splines_{turn}(x):\n    return x\n")
        manage_index(index, "sync", root)
        answer = search_code(index, root, f"reticulate_splines_{turn}")
        assert "edited_by_the_benchmark" in str(answer)

    edit(0)
    took = statistics.median(spent_ms(lambda turn=turn: edit(turn)) for turn in range(1, 10))
    later = []
    for turn in range(10, 15):
        passed += timedelta(minutes=1)
        later.append(spent_ms(lambda turn=turn: edit(turn)))
    index.close()
    return {
        "sync, one file edited": took,
        "sync, one file edited after a pause": statistics.median(later),
        "sync, nothing changed": idle, "stat of every file": floor,
    }  # fmt: skip


def _stat_all(root: str) -> None:
    for directory, _, names in os.walk(root):
        for name in names:
            os.stat(os.path.join(directory, name))


def calls_step(home: Path, root: str) -> dict[str, float]:
    index = opened(home)
    with index.backend.reader(root) as reader:
        symbol = a_function(reader, root)
    took = spent_ms(lambda: call_graph(index, root, symbol))
    index.close()
    return {"first calls": took}


def a_function(reader: Reader, root: str) -> SymbolRef:
    """The first function of a tree, found without reading what the index has of all files: the
    memory of the first `calls` is measured after this."""
    for directory, folders, names in os.walk(root):
        folders.sort()
        for name in sorted(names):
            path = os.path.relpath(os.path.join(directory, name), root)
            if not name.endswith(".py") or reader.entry(path) is None:
                continue
            for symbol in facts_of.decode(reader.facts([path])[path]).symbols:
                if symbol.kind == "function":
                    return SymbolRef(file=path, symbol_id=symbol.id)
    raise RuntimeError("the tree has no function")


def recall(index: CodeIndex, root: str) -> float:
    """The share of the ten nearest chunks that the preselection by signs keeps."""
    with index.backend.reader(root) as reader:
        corpus = reader.corpus()
        rows = np.linspace(0, corpus.rows - 1, ASKED).astype(int)
        numbers = [
            (corpus.files[int(corpus.file_of[row])].number, int(corpus.ordinals[row]))
            for row in rows
        ]
        chunks = reader.chunks(numbers).values()
    kept = wanted = 0
    for chunk in chunks:
        text = " ".join(re.findall(r"[A-Za-z]{3,}", chunk.label or chunk.text)[-6:])
        vector = np.asarray(index.provider.embed_query(text), dtype=np.float32)[0]
        near = corpus.nearness_of(vector, np.arange(corpus.rows))
        best = np.argsort(-near, kind="stable")[:10]
        kept += int(np.isin(best, corpus._by_signs(vector)).sum())
        wanted += len(best)
    return kept / max(wanted, 1)


STEPS = {"build": build_step, "search": search_step, "sync": sync_step, "calls": calls_step}


def measure(source: Path, files: int, directory: Path) -> dict[str, float]:
    root, home = (directory / "tree").resolve(), directory / "home"
    size = make_tree(source, files, root)
    try:
        found = run("build", home, root)
        found["build memory MB"] = found.pop("peak")
        index = home / "index"
        on_disk = sum(path.stat().st_size for path in index.rglob("*") if path.is_file())
        found["disk / source"] = on_disk / size
        found |= first_answer(home, root)
        searched = run("search", home, root)
        found["search memory MB"] = max(searched.pop("search memory"), found.pop("cold memory"))
        found |= searched
        found |= run("sync", home, root)
        called = run("calls", home, root)
        found |= called | {"calls memory MB": called["peak"]}
    finally:
        shutil.rmtree(root, ignore_errors=True)
        shutil.rmtree(home, ignore_errors=True)
    return found


def in_time(
    sizes: list[int],
    cost: Callable[[int], dict[str, float]],
    minutes: float,
    now: Callable[[], float] = time.monotonic,
) -> tuple[list[dict[str, float]], list[int]]:
    """What the sizes cost, in ascending order, and the sizes that would have taken too long."""
    found: list[dict[str, float]] = []
    began, took = now(), 0.0
    for at, files in enumerate(sizes):
        start = now()
        if len(found) > 1 and start - began + took * files / sizes[at - 1] > minutes * 60:
            return found, sizes[at:]
        found.append(cost(files))
        took = now() - start
    return found, []


class Measured:
    """What sizes cost, on disk, so that an interrupted run can go on.

    `of` says what was measured; the costs of anything else are not used.
    """

    def __init__(self, path: Path, of: dict[str, str]) -> None:
        self._path, self._of = path, of
        self._costs: dict[str, dict[str, float]] = {}
        try:
            stored = json.loads(path.read_text("utf-8"))
        except (OSError, ValueError):
            return
        if stored.get("of") == of:
            self._costs = stored["costs"]

    def cost(self, files: int, measure: Callable[[int], dict[str, float]]) -> dict[str, float]:
        """What a size cost, measured now unless it was before."""
        if str(files) not in self._costs:
            self._costs[str(files)] = measure(files)
            self._path.parent.mkdir(exist_ok=True)
            new = self._path.with_suffix(".new")
            new.write_text(json.dumps({"of": self._of, "costs": self._costs}, indent=1), "utf-8")
            new.replace(self._path)
            print(f"{files:,} files: {_line(self._costs[str(files)])}", flush=True)
        return self._costs[str(files)]

    def finish(self) -> None:
        """Forget the costs: they are in the report."""
        self._path.unlink(missing_ok=True)


def code_digest() -> str:
    """A digest of the package's code: costs of other code are not continued."""
    found = hashlib.sha256()
    for path in sorted(Path(holdfast.__file__).parent.rglob("*.py")):
        found.update(path.read_bytes())
    return found.hexdigest()[:16]


def _line(cost: dict[str, float]) -> str:
    shown = ("chunks", "build", "build memory MB", "disk / source", "search p50", "search p95")
    return ", ".join(f"{what} {cost[what]:,.4g}" for what in shown if what in cost)


def within(sizes: list[int], files: int) -> list[int]:
    """The sizes that a tree of so many files has; its own size in place of those beyond.

    At least two, because one has no exponent.
    """
    found = {min(size, files) for size in sizes}
    return sorted(found if len(found) > 1 else {*found, max(1, min(found) // 10)})


def goals(largest: dict[str, float]) -> list[Row]:
    """The costs at the largest size, with what they should be."""
    rows = []
    for what, most in GOALS.items():
        unit = "" if what in SIZES else "ms"
        rows.append(
            Row(f"{what}, largest", largest[what], unit, f"≤ {most:g}", largest[what] <= most)
        )
    share = largest["sync, nothing changed"] / largest["stat of every file"]
    rows.append(Row("sync without a change / a stat of every file", share, "", f"≤ {IDLE_MAX}",
                    share <= IDLE_MAX))  # fmt: skip
    return rows


def main(arguments: list[str] | None = None) -> int:
    args = parser("index_growth", __doc__)
    args.add_argument("tree", nargs="*", type=Path, help="a large directory")
    args.add_argument("--sizes", default="1000,10000,100000", help="numbers of files")
    args.add_argument("--copies", action="store_true", help="beyond the tree, add changed copies")
    args.add_argument("--into", type=Path, help="where to make trees; beside TREE by default")
    args.add_argument("--minutes", type=float, default=MINUTES, help="when to start no more sizes")
    args.add_argument("--step", choices=STEPS, help="for the processes that this starts")
    given = args.parse_args(arguments)
    if given.step:
        home, root = given.tree
        print(json.dumps(STEPS[given.step](home, str(root))))
        return 0
    if len(given.tree) != 1:
        args.error("name one large directory")
    source = given.tree[0].resolve()
    own = len(disk.walk(str(source), Policy()).stats)
    wanted = [int(size) for size in given.sizes.split(",")]
    sizes = sorted(set(wanted)) if given.copies else within(wanted, own)
    kept = Measured(
        OUT / "index_growth.sizes.json",
        {"tree": str(source), "files": str(own), "code": code_digest()},
    )
    into = given.into or source.parent
    into.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-", dir=into) as name:
        place = Path(name)
        measured, left_out = in_time(
            sizes,
            lambda files: kept.cost(files, lambda n: measure(source, n, place)),
            given.minutes,
        )
    sizes = sizes[: len(measured)]
    if left_out:
        late = ", ".join(f"{n:,}" for n in left_out)
        print(f"left out, because {given.minutes:g} minutes would not do: {late} files")
    chunks = [int(one["chunks"]) for one in measured]
    rows = [
        Row("files", float(sizes[-1]), "", note=", ".join(f"{n:,}" for n in sizes)),
        Row("chunks", float(chunks[-1]), "", note=", ".join(f"{n:,}" for n in chunks)),
    ]
    for what in (*TIMES, *SIZES):
        line = [one[what] for one in measured]
        slope = exponent(chunks, line) if len(chunks) > 1 else 0.0
        most = FLAT if what.startswith(("search", "first answer", "sync, one")) else LINEAR
        unit = "" if what in SIZES else "ms"
        note = f"{', '.join(f'{cost:.3g}' for cost in line)} {unit}; at most {most}"
        rows.append(Row(f"{what}: exponent", slope, "", f"≤ {most}", slope <= most, note,
                        tuple(zip(chunks, line, strict=True))))  # fmt: skip
    rows += goals(measured[-1])
    share = min(one["recall"] for one in measured)
    rows.append(Row("of the ten nearest, kept by signs", share, "", f"≥ {RECALL_MIN}",
                    share >= RECALL_MIN, f"the best {corpora.BY_SIGNS:,} by signs"))  # fmt: skip
    chart(OUT / "index_growth.svg", chunks, {w: [one[w] for one in measured] for w in TIMES})
    code = report("index_growth", rows)
    kept.finish()
    return code


if __name__ == "__main__":
    raise SystemExit(main())
