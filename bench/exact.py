"""How fast `re:` is: `python -m bench.exact [--small]`.

Baselines in the same run: a search through the text of every chunk, as stored, and one through
every file of the tree as ripgrep would go through it, both with the standard library's patterns.
Times are CPU seconds, because the machine is shared; every figure is a ratio.
"""

from __future__ import annotations

import re
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench import corpus
from bench.arguments import parser
from bench.timing import Row, report
from holdfast.files.snapshot import Snapshot
from holdfast.index.code_index import open_index, run_here
from holdfast.index.generations.freshness import FreshFiles
from holdfast.index.generations.model import Reader
from holdfast.index.search import trigrams
from holdfast.index.search.exact import ExactFound, find_exact
from holdfast.index.search.operators import Query
from holdfast.index.tools.manage import manage_index

PATTERNS = {
    "a rare name": r"_wait_for_tstate_lock",
    "a name with a gap": r"def \w+_encoding\b",
    "a class": r"class \w+\(Exception\)",
    "any case": r"(?i)fixme",
    "a common call": r"raise \w+Error\(",
    "an assignment": r"\bself\.\w+\s*=\s*None",
    "nothing literal": r"[a-z]+_[a-z]+\(\)",
}


def cpu_ms(act: Callable[[], object], rounds: int) -> float:
    """Milliseconds of CPU time, the middle of some rounds."""
    samples = []
    for _ in range(rounds):
        start = time.process_time()
        act()
        samples.append((time.process_time() - start) * 1e3)
    return statistics.median(samples)


def measure(size_bytes: int, rounds: int) -> list[Row]:
    with tempfile.TemporaryDirectory() as scratch:
        tree = (Path(scratch) / "tree").resolve()
        tree.mkdir()
        corpus.gather(tree, corpus.default_roots(), size_bytes)
        index = open_index(Path(scratch) / "home")
        index.start = run_here
        try:
            assert manage_index(index, "create", str(tree)).status == "ok"
            with index.backend.reader(str(tree)) as reader:
                return _rows(tree, reader, rounds)
        finally:
            index.close()


def _rows(tree: Path, reader: Reader, rounds: int) -> list[Row]:
    kept = list(reader.kept_files())
    chunks = sum(file.chunks for file in kept)
    overlay = FreshFiles(reader.identity, Snapshot({}, 0), 0.0)
    ids = [(file.number, i) for file in kept for i in range(file.chunks)]
    files = [tree / file.path for file in kept if file.problem is None]
    load = cpu_ms(lambda: trigrams.Trigrams(reader.kept_files()), rounds)
    trigrams.table_of(reader)
    texts = [text for _, text in reader.texts(ids)]
    made = cpu_ms(lambda: trigrams.signatures(texts), rounds)
    find_exact(Query(patterns=("warm up",)), str(tree), reader, overlay, lambda path: True)
    rows = [
        Row("chunks", chunks, ""),
        Row("text", sum(map(len, texts)) / 1e6, "MB"),
        Row("signatures", sum(len(f.signatures or b"") for f in kept) / chunks, "bytes/chunk"),
        Row("names of symbols", sum(len(f.names or b"") for f in kept) / chunks, "bytes/chunk"),
        Row("files read besides", len(trigrams.table_of(reader).open), ""),
        Row("making signatures", made / chunks * 1e3, "us/chunk"),
        Row("opening the table", load, "ms"),
    ]
    for name, pattern in PATTERNS.items():
        found: list[ExactFound] = []

        def lane(pattern: str = pattern, found: list[ExactFound] = found) -> None:
            query = Query(patterns=(pattern,))
            found.append(find_exact(query, str(tree), reader, overlay, lambda path: True))

        expected = re.compile(pattern, re.MULTILINE)

        def by_chunk(expected: re.Pattern[str] = expected) -> int:
            return sum(_lines(expected, text) for _, text in reader.texts(ids))

        def by_file(expected: re.Pattern[str] = expected) -> int:
            return sum(
                _lines(expected, file.read_bytes().decode("utf-8", "replace")) for file in files
            )

        ours = cpu_ms(lane, rounds)
        chunked, scanned = cpu_ms(by_chunk, rounds), cpu_ms(by_file, rounds)
        lines = sum(len(hit.lines) for hit in found[-1].hits)
        rows.append(Row(f"{name}: lane", ours, "ms", note=f"{lines} lines, {pattern}"))
        faster = chunked / ours
        rows.append(Row(f"{name}: all chunks / lane", faster, "times"))
        rows.append(Row(f"{name}: all files / lane", scanned / ours, "times"))
        if found[-1].complete:
            assert lines == by_file(), "the lane finds what a scan finds"
    return rows


def _lines(pattern: re.Pattern[str], text: str) -> int:
    if pattern.search(text) is None:
        return 0
    return sum(1 for line in text.split("\n") if pattern.search(line.removesuffix("\r")))


def main() -> int:
    options = parser("exact", __doc__)
    options.add_argument("--small", action="store_true", help="a small share, for CI")
    small = options.parse_args().small
    rows = measure(1_000_000 if small else 16_000_000, 1 if small else 5)
    return report("exact", rows)


if __name__ == "__main__":
    raise SystemExit(main())
