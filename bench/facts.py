"""Extraction against its floor: a bare parse of the same files by the same grammar, in one run.

`python -m bench.facts [--rounds N] [--json]` fetches a few well-known packages through pip, npm and
(where there is one) apt, keeps them under bench/corpora, and prints one row for each language. What
a registry does not give is left out and said so.
"""

from __future__ import annotations

import argparse
import gc
import json
import shutil
import subprocess
import sys
import tarfile
import time
import zipfile
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from pathlib import Path

from bench.timing import Row, save
from holdfast.index.calls.resolve import Edge, OpenCall, Resolver
from holdfast.index.facts import languages, trial_parse
from holdfast.index.facts.extract import extract
from holdfast.index.facts.model import FileFacts, encode

CORPORA = Path(__file__).parent / "corpora"
APT_LISTS = Path("/etc/apt/sources.list.d")
PACKAGES = {
    "django": ("pip", "django==5.2"),
    "three": ("npm", "three@0.170.0"),
    "rxjs": ("npm", "rxjs@7.8.1"),
    "react-native": ("npm", "react-native@0.74.5"),
    "x-tools": ("apt", "golang-golang-x-tools-dev"),
    "tokio": ("apt", "librust-tokio-dev"),
}
ROWS = [
    ("python", "django", (".py",), 800),
    ("javascript", "three", (".js",), 600),
    ("typescript", "rxjs", (".ts",), 600),
    ("go", "x-tools", (".go",), 600),
    ("rust", "tokio", (".rs",), 600),
    ("java", "react-native", (".java",), 600),
    ("kotlin", "react-native", (".kt",), 600),
    ("cpp", "react-native", (".cpp", ".h"), 600),
]


def fetch(name: str, packages: Mapping[str, tuple[str, str]] = PACKAGES) -> Path | None:
    """The folder of a package, fetched once; None when the registry does not give it."""
    kind, package = packages[name]
    folder = CORPORA / name
    if folder.is_dir() and any(folder.iterdir()):
        return folder
    fetched = CORPORA / f".{name}"
    shutil.rmtree(fetched, ignore_errors=True)
    fetched.mkdir(parents=True)
    command = {
        "pip": [sys.executable, "-m", "pip", "download", "-q", "--no-deps", package],
        "npm": ["npm", "pack", "--silent", package],
        "apt": ["apt-get", "download", package],
        "apt-src": ["apt-get", "source", "--download-only", package],
    }[kind]
    try:
        if kind == "apt-src":
            command[1:1] = _source_lists()
        subprocess.run(command, cwd=fetched, check=True, capture_output=True, timeout=300)
        folder.mkdir(parents=True, exist_ok=True)
        for file in fetched.iterdir():
            _unpack(file, folder)
    except (OSError, subprocess.SubprocessError) as error:
        print(f"{name}: not fetched ({error.__class__.__name__})", file=sys.stderr)
        shutil.rmtree(folder, ignore_errors=True)
        return None
    finally:
        shutil.rmtree(fetched, ignore_errors=True)
    return folder


def _source_lists() -> list[str]:
    """Options of apt for the source packages of the lists that this machine has.

    The lists are copied and fetched below bench/corpora, so that the machine's own do not change.
    """
    lists = CORPORA / ".apt"
    named = lists / "sources.sources"
    options = [
        "-o", f"Dir::Etc::sourcelist={named}", "-o", "Dir::Etc::sourceparts=-",
        "-o", f"Dir::State::lists={lists / 'lists'}", "-o", f"Dir::Cache={lists / 'cache'}",
    ]  # fmt: skip
    if not named.is_file():
        (lists / "lists" / "partial").mkdir(parents=True, exist_ok=True)
        (lists / "cache").mkdir(exist_ok=True)
        known = [path.read_text() for path in sorted(APT_LISTS.glob("*.sources"))]
        named.write_text("\n".join(known).replace("Types: deb\n", "Types: deb-src\n"))
        subprocess.run(["apt-get", *options, "update"], capture_output=True, timeout=300)
    return options


def _unpack(file: Path, folder: Path) -> None:
    if file.suffix == ".dsc" or ".debian.tar" in file.name:
        return
    if file.suffix == ".whl":
        with zipfile.ZipFile(file) as archive:
            archive.extractall(folder)
    elif file.suffix == ".deb":
        subprocess.run(["dpkg", "-x", str(file), str(folder)], check=True)
    else:
        with tarfile.open(file) as archive:
            archive.extractall(folder, filter="data")


def sources(folder: Path, suffixes: tuple[str, ...], most: int) -> list[tuple[str, bytes]]:
    """Up to `most` files, spread evenly over the package, never the same one twice."""
    paths = sorted(p for p in folder.rglob("*") if p.suffix in suffixes and p.is_file())
    step = max(1, len(paths) // most)
    found: dict[bytes, str] = {}
    for path in paths[::step][:most]:
        data = path.read_bytes()
        if len(data) < 1_000_000:
            found.setdefault(data, path.relative_to(folder).as_posix())
    return [(name, data) for data, name in found.items()]


def floor(files: list[tuple[str, bytes]]) -> Callable[[], None]:
    """A bare parse of every file, each with its own grammar."""
    from tree_sitter import Language, Parser

    parsers = {}
    work = []
    for path, data in files:
        language = languages.parsed(languages.language_of(path, data))
        assert language is not None, "only parsed languages have a floor"
        if language.name not in parsers:
            module, function = language.grammar
            parsers[language.name] = Parser(Language(getattr(import_module(module), function)()))
        work.append((parsers[language.name], data))

    def run() -> None:
        for parser, data in work:
            parser.parse(data)

    return run


def timed(function: Callable[[], object]) -> float:
    start = time.process_time()
    function()
    return time.process_time() - start


def measure(name: str, files: list[tuple[str, bytes]], rounds: int) -> dict[str, object]:
    """One row: the best of several rounds, floor and extraction taking turns."""
    bare = floor(files)
    found: list[FileFacts] = []

    def whole() -> None:
        found[:] = [extract(path, data) for path, data in files]

    whole()
    floors, wholes = [], []
    for _ in range(rounds):
        floors.append(timed(bare))
        wholes.append(timed(whole))
    resolver = Resolver(found)

    resolved: list[Edge | OpenCall] = []

    def resolve() -> None:
        for view in resolver.program.files.values():
            for call in view.facts.calls:
                resolved.extend(resolver.calls(view, call))

    resolving = timed(resolve)
    size = sum(len(data) for _, data in files)
    calls = sum(len(f.calls) for f in found)
    return {
        "language": name,
        "files": len(files),
        "MB": round(size / 1e6, 2),
        "floor_s": round(min(floors), 3),
        "extract_s": round(min(wholes), 3),
        "ratio": round(min(wholes) / min(floors), 2),
        "MB_per_s": round(size / 1e6 / min(wholes), 1),
        "symbols": sum(len(f.symbols) for f in found),
        "calls": calls,
        "chunks": sum(len(f.chunks) for f in found),
        "facts_MB": round(sum(len(encode(f)) for f in found) / 1e6, 2),
        "resolve_s": round(resolving, 3),
        "edges": sum(isinstance(r, Edge) for r in resolved),
        "ambiguous": sum(isinstance(r, OpenCall) and r.why == "ambiguous" for r in resolved),
        "external": sum(isinstance(r, OpenCall) and r.why == "external" for r in resolved),
    }


def as_a_worker() -> None:
    """Make this process like a worker of a build: it may be killed by a parse, so that no other
    process parses a text first, and it collects no garbage. Facts hold no cycles."""
    trial_parse.mark_disposable()
    gc.disable()


def _work(batch: list[tuple[str, bytes]]) -> list[bytes]:
    return [encode(extract(path, data)) for path, data in batch]


def pooled(files: list[tuple[str, bytes]], workers: int) -> float:
    """Wall seconds to extract everything in processes, and hand it back encoded."""
    batches = [files[n : n + 16] for n in range(0, len(files), 16)]
    with ProcessPoolExecutor(workers, initializer=as_a_worker) as pool:
        list(pool.map(_work, [batches[0]] * workers))  # the workers and their grammars are up
        start = time.perf_counter()
        for _ in pool.map(_work, batches):
            pass
        return time.perf_counter() - start


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--only", help="one language")
    args = parser.parse_args()
    as_a_worker()
    rows = []
    for name, package, suffixes, most in ROWS:
        if args.only and name != args.only:
            continue
        folder = fetch(package)
        files = sources(folder, suffixes, most) if folder else []
        if not files:
            continue
        gc.collect()
        row = measure(name, files, args.rounds)
        rows.append(row)
        if not args.json:
            if len(rows) == 1:
                print("  ".join(f"{key:>10}" for key in row))
            print("  ".join(f"{value!s:>10}" for value in row.values()), flush=True)
    if not args.json and not args.only and rows:
        everything = [
            file
            for _, package, suffixes, most in ROWS
            for file in sources(CORPORA / package, suffixes, most)
        ]
        walls = []
        for _ in range(args.rounds):
            bare = floor(everything)
            start = time.perf_counter()
            bare()
            alone = time.perf_counter() - start
            walls.append((alone, pooled(everything, 2)))
        alone, both = min(a for a, _ in walls), min(b for _, b in walls)
        print(f"two processes: {both:.2f} s wall, {both / alone:.2f}x a bare parse on one core")
    total_floor = sum(float(str(row["floor_s"])) for row in rows)
    total = sum(float(str(row["extract_s"])) for row in rows)
    found = [
        Row(f"{row['language']}: extraction against a bare parse", float(str(row["ratio"])),
            "times", note=f"{row['files']} files, {row['MB_per_s']} MB/s") for row in rows
    ]  # fmt: skip
    if rows:
        save("facts", [*found, Row("all languages", total / total_floor, "times")])
    if args.json:
        print(json.dumps({"rows": rows, "ratio": round(total / total_floor, 2)}, indent=2))
    elif rows:
        print(f"all: {total / total_floor:.2f}x the floor")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
