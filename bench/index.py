"""`python -m bench.index`: the code index against bare parsing and a bare walk, in one run.

Two floors are measured beside everything, in turns with it. The parse floor: reading and parsing
every file that the index would parse, by the same grammars, on one core and in one process, with
grammars loaded; what is timed of the index is everything from the call to the published generation,
with as many processes as there are cores. The stat floor: `os.walk` with a stat of every file. The
corpora are packages from the package registry, fetched once and kept in bench/cache.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from bench.timing import Row, each, percentiles, report
from holdfast.files import disk
from holdfast.index.code_index import CodeIndex, open_index, run_here
from holdfast.index.tools.calls import call_graph
from holdfast.index.tools.manage import manage_index
from holdfast.index.tools.outline import file_outline
from holdfast.index.tools.search import search_code

CACHE = Path(__file__).parent / "cache"
SMALL = ["networkx==3.4.2"]
MEDIUM = ["django==5.1", "networkx==3.4.2"]
LARGE = ["sympy==1.13.3", "django==5.1", "networkx==3.4.2"]
QUERIES = [
    "parse the request headers", "render a template to a string", "validate an email address",
    "shortest path between two nodes", "escape html", "open a database connection",
    "resolve url pattern", "middleware exception handling", "QuerySet filter", "migrate a model",
]  # fmt: skip


def fetch(packages: Sequence[str], into: Path) -> None:
    """Unpack packages side by side, downloading those that are not kept yet."""
    CACHE.mkdir(exist_ok=True)
    for package in packages:
        name, _, version = package.partition("==")
        kept = [p for p in CACHE.glob("*.whl") if p.name.lower().startswith(f"{name}-{version}-")]
        if not kept:
            subprocess.run(
                [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(CACHE),
                 package],
                check=True, stderr=subprocess.DEVNULL,
            )  # fmt: skip
            kept = [p for p in CACHE.glob("*.whl") if p.name.lower().startswith(f"{name}-")]
        with zipfile.ZipFile(kept[0]) as archive:
            archive.extractall(into)
    for path in into.rglob("*"):
        os.utime(path, (1_700_000_000, 1_700_000_000))


class NoEmbedding:
    """Vectors of zeros, to see what the rest costs."""

    name, model, dimension, local = "none", "none", 1, True

    def embed(self, texts: Sequence[str]) -> Any:
        return np.zeros((len(texts), 1), dtype=np.float32)

    def embed_query(self, text: str) -> Any:
        return self.embed([text])


def parsers() -> Callable[[str, bytes], Any]:
    """A bare parser for each language that has a grammar; None for a file without one."""
    from importlib import import_module

    import tree_sitter

    from holdfast.index.facts import languages

    made: dict[str, Any] = {}

    def of(path: str, source: bytes) -> Any:
        language = languages.parsed(languages.language_of(path, source))
        if language is None:
            return None
        if language.name not in made:
            module, function = language.grammar
            grammar = tree_sitter.Language(getattr(import_module(module), function)())
            made[language.name] = tree_sitter.Parser(grammar)
        return made[language.name]

    return of


_parser_of: Callable[[str, bytes], Any] | None = None


def bare_parse(root: str, paths: Sequence[str]) -> tuple[float, float]:
    """Read and parse files once, and do nothing else: wall and processor seconds."""
    global _parser_of
    if _parser_of is None:
        _parser_of = parsers()
    start, used = time.perf_counter(), time.process_time()
    for path in paths:
        source = Path(root, path).read_bytes()
        parser = _parser_of(path, source)
        if parser is not None:
            parser.parse(source)
    return time.perf_counter() - start, time.process_time() - used


def parse_floor(tree: Path) -> tuple[float, float]:
    """The floor: every file that an index would parse, by its grammar, on one core."""
    paths = sorted(disk.walk(str(tree)).stats)
    bare_parse(str(tree), paths[:20])  # grammars and caches are warm
    return bare_parse(str(tree), paths)


def shared_floor(tree: Path) -> float:
    """Wall seconds of the same by as many processes as the index uses, started and ended."""
    paths = sorted(disk.walk(str(tree)).stats)
    batches = [paths[n : n + 16] for n in range(0, len(paths), 16)]
    start = time.perf_counter()
    with ProcessPoolExecutor(os.cpu_count(), multiprocessing.get_context("fork")) as pool:
        list(pool.map(bare_parse, [str(tree)] * len(batches), batches))
    return time.perf_counter() - start


def processor_seconds() -> float:
    """Of this process and of those that it started and that have ended."""
    own, others = (resource.getrusage(w) for w in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime


def stat_floor(tree: Path) -> float:
    start = time.perf_counter()
    for directory, _, names in os.walk(tree):
        for name in names:
            os.stat(os.path.join(directory, name))
    return time.perf_counter() - start


def timed(act: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = act()
    return time.perf_counter() - start, result


def opened(home: Path, provider: Any = None) -> CodeIndex:
    index = open_index(home, provider)
    index.start = run_here
    return index


def created(index: CodeIndex, tree: Path) -> dict[str, Any]:
    answer = manage_index(index, "create", str(tree))
    assert answer.status == "ok", answer
    status = manage_index(index, "status", str(tree))
    assert status.status == "ok", status
    return status.to_wire()


def chunks_of(index: CodeIndex, tree: Path) -> int:
    with index.backend.reader(str(tree)) as reader:
        return reader.totals().chunks


def cold(directory: Path, rounds: int) -> list[Row]:
    tree = directory / "small"
    fetch(SMALL, tree)
    floors: list[float] = []
    shared: list[float] = []
    bare: list[float] = []
    used: list[float] = []
    whole: list[float] = []
    rates: list[float] = []
    files = len(disk.walk(str(tree)).stats)
    for number in range(rounds):
        wall, processor = parse_floor(tree)
        floors.append(wall)
        for name, provider, into in (("bare", NoEmbedding(), bare), ("whole", None, whole)):
            home = directory / f"{name}-{number}"
            index = opened(home, provider)
            before = processor_seconds()
            seconds, _ = timed(lambda index=index: created(index, tree))  # type: ignore[misc]
            into.append(seconds / wall)
            if provider is None:
                rates.append(chunks_of(index, tree) / seconds)
            else:
                used.append((processor_seconds() - before) / processor)
                shared.append(seconds / shared_floor(tree))
            index.close()
            shutil.rmtree(home)
    ratio, with_vectors = statistics.median(bare), statistics.median(whole)
    rate, cores = statistics.median(rates), os.cpu_count()
    note = f"{files} files, floor {statistics.median(floors):.2f} s, load {os.getloadavg()[0]:.1f}"
    return [
        Row("cold index without embeddings, to the parse floor", ratio, "x", "≤ 1.3",
            ratio <= 1.3, note),
        Row("  processor time of all its processes, to the floor's", statistics.median(used), "x",
            note="half of it is the best that two free cores allow"),
        Row(f"  to the same parse by {cores} processes", statistics.median(shared), "x"),
        Row("cold index with embeddings, to the parse floor", with_vectors, "x"),
        Row("cold index with embeddings", rate, "chunks/s", "≥ 1,500", rate >= 1500),
    ]  # fmt: skip


def sync_and_edit(directory: Path, rounds: int) -> list[Row]:
    tree = directory / "large"
    fetch(LARGE, tree)
    extra = 5_000 - len(disk.walk(str(tree)).stats)
    for number in range(max(0, extra)):
        path = tree / "extra" / f"p{number // 100}" / f"m{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"def extra_{number}():\n    return {number}\n")
        os.utime(path, (1_700_000_000, 1_700_000_000))
    index = opened(directory / "large-home")
    seconds, _ = timed(lambda: created(index, tree))
    lines = sum((tree / path).read_bytes().count(b"\n") for path in disk.walk(str(tree)).stats)
    rows = [
        Row(f"cold index of {lines:,} lines", seconds, "s",
            note=f"{chunks_of(index, tree):,} chunks, {chunks_of(index, tree) / seconds:,.0f}/s"),
    ]  # fmt: skip
    ratios, edits, syncs = [], [], []
    search_code(index, str(tree), "warm up")
    for number in range(rounds * 3):
        floor = statistics.median(stat_floor(tree) for _ in range(3))
        took = statistics.median(
            timed(lambda: manage_index(index, "sync", str(tree)))[0] for _ in range(3)
        )
        ratios.append(took / floor)
        name = f"freshly_edited_{number}"
        (tree / "django" / "shortcuts.py").write_text(f"def {name}():\n    return 1\n")

        def edit(name: str = name, floor: float = floor) -> None:
            took, _ = timed(lambda: manage_index(index, "sync", str(tree)))
            syncs.append(took / floor)
            found = search_code(index, str(tree), name, limit=1)
            assert found.results[0].symbol_label == name

        edits.append(timed(edit)[0] * 1000)
    files = len(disk.walk(str(tree)).stats)
    ratio, edit_ms = statistics.median(ratios), statistics.median(edits)
    rows += [
        Row(f"sync without changes, {files:,} files, to the stat floor", ratio, "x", "≤ 3",
            ratio <= 3),
        Row("one-file edit: synced and found", edit_ms, "ms", "≤ 100", edit_ms <= 100),
        Row("  the sync of it, to the stat floor", statistics.median(syncs), "x"),
    ]  # fmt: skip
    index.close()
    return rows


def warm(directory: Path, rounds: int) -> list[Row]:
    tree = directory / "medium"
    fetch(MEDIUM, tree)
    home = directory / "medium-home"
    index = opened(home)
    created(index, tree)
    root = str(tree)
    chunks = chunks_of(index, tree)
    choose = random.Random(1)
    with index.backend.reader(root) as reader:
        python = [p for p in sorted(reader.snapshot().entries) if p.endswith(".py")]
    search_code(index, root, "warm up")
    searches = each(lambda n: search_code(index, root, QUERIES[n % len(QUERIES)]), 60 * rounds)
    outlines = each(lambda n: file_outline(index, root, choose.choice(python)), 60 * rounds)
    references: list[Any] = []
    while len(references) < 60:
        path = choose.choice(python)
        outline = file_outline(index, root, path).outline
        symbols = outline.symbols[:2] if outline is not None else ()
        references += [symbol.call_graph_hint.symbol_ref for symbol in symbols]
    call_graph(index, root, references[0])
    graphs = each(lambda n: call_graph(index, root, references[n % len(references)]), 60 * rounds)
    rows = []
    for what, samples, goal in (
        ("search_code", searches, 10.0), ("file_outline", outlines, 5.0),
        ("call_graph depth 1", graphs, 5.0),
    ):  # fmt: skip
        p = percentiles(samples)
        rows.append(
            Row(f"warm {what} p95, {chunks:,} chunks", p["p95"] / 1000, "ms", f"≤ {goal:g}",
                p["p95"] / 1000 <= goal, f"p50 {p['p50'] / 1000:.2f} ms")
        )  # fmt: skip
    index.close()
    program = f"import sys; from holdfast.cli.main import main; sys.exit(main({['search', '--path', root, '--json', 'escape html']!r}))"  # noqa: E501
    # As an installed package is: with its bytecode, which the first start here leaves behind.
    environment = {
        **os.environ, "HOLDFAST_HOME": str(home), "PYTHONDONTWRITEBYTECODE": "",
        "PYTHONPYCACHEPREFIX": str(directory / "bytecode"),
    }  # fmt: skip
    subprocess.run([sys.executable, "-c", program], env=environment, check=True,
                   stdout=subprocess.DEVNULL)  # fmt: skip
    starts, bare = [], []
    for _ in range(3 * rounds):
        starts.append(timed(lambda: subprocess.run(
            [sys.executable, "-c", program], env=environment, check=True,
            stdout=subprocess.DEVNULL))[0] * 1000)  # fmt: skip
        bare.append(timed(lambda: subprocess.run(
            [sys.executable, "-c", "import numpy"], env=environment,
            check=True))[0] * 1000)  # fmt: skip
    first = statistics.median(starts)
    rows.append(
        Row("cold process to first answer", first, "ms", "≤ 600", first <= 600,
            f"python importing numpy alone: {statistics.median(bare):.0f} ms")
    )  # fmt: skip
    return rows


def memory(directory: Path) -> list[Row]:
    """Peak memory of a process, and of its largest worker, that indexes a million lines."""
    tree = directory / "million"
    fetch(LARGE, tree)
    copies = 0

    def lines() -> int:
        return sum((tree / p).read_bytes().count(b"\n") for p in disk.walk(str(tree)).stats)

    while (total := lines()) < 1_000_000:
        copies += 1
        shutil.copytree(tree / "sympy", tree / f"sympy{copies}")
    program = (
        "import resource, sys\n"
        "from pathlib import Path\n"
        "from holdfast.index.code_index import open_index, run_here\n"
        "from holdfast.index.tools.manage import manage_index\n"
        "index = open_index(Path(sys.argv[1])); index.start = run_here\n"
        "answer = manage_index(index, 'create', sys.argv[2])\n"
        "assert manage_index(index, 'status', sys.argv[2]).status == 'ok'\n"
        "own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "worker = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss\n"
        "print(own, worker)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(directory / "million-home"), str(tree)],
        check=True, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    own, worker = (int(number) / 1024 for number in done.stdout.split())
    cores = os.cpu_count() or 1
    total_mb = own + cores * worker
    return [
        Row(f"peak memory, {total:,} lines", total_mb, "MB", "≤ 1,500", total_mb <= 1500,
            f"own {own:.0f} MB, each of {cores} workers ≤ {worker:.0f} MB"),
    ]  # fmt: skip


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=("cold", "sync", "warm", "memory"))
    args = parser.parse_args(argv)
    parts: dict[str, Callable[[Path], list[Row]]] = {
        "cold": lambda d: cold(d, args.rounds),
        "sync": lambda d: sync_and_edit(d, args.rounds),
        "warm": lambda d: warm(d, args.rounds),
        "memory": memory,
    }
    rows: list[Row] = []
    for name, part in parts.items():
        if args.only in (None, name):
            with tempfile.TemporaryDirectory() as directory:
                rows += part(Path(directory).resolve())
    return report("index" if args.only is None else f"index-{args.only}", rows)


if __name__ == "__main__":
    raise SystemExit(main())
