"""Sequence search at the size of a code base: `python -m bench.sequence`.

Everything is a ratio against something measured in the same run: reading the files, a plain regular
expression, `bytes.find` over the joined bytes, and jscpd when it is given. Long steps are measured
in processor time, the least of several runs, because neighbours on a shared machine only ever make
it slower and a budget for one core is about that core. Questions are measured by the clock.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.corpus import default_roots, gather
from bench.timing import Row, save
from holdfast.files import disk
from holdfast.sequence import clones
from holdfast.sequence.corpus import TokenCorpus
from holdfast.sequence.segment_store import SegmentStore, document_facts
from holdfast.sequence.suffix.backends import SuffixBackend
from holdfast.sequence.suffix.query import LiveSegment
from holdfast.sequence.suffix.segment import TokenSegment, build
from holdfast.sequence.suffix.stream import Document, stream_of
from holdfast.sequence.tokens import compiled
from holdfast.sequence.tokens.families import family_of
from holdfast.sequence.tokens.lexer import CODE_ONLY, lex
from tests.sequence.reference.statistics import matching_statistics, minima_of

PLAIN = re.compile(rb"\w+|[^\w\s]")


def least(run: Callable[[], Any], times: int = 3) -> tuple[float, Any]:
    """The least processor time of several runs, and the last result."""
    best, result = float("inf"), None
    for _ in range(times):
        result = None
        before = time.process_time()
        result = run()
        best = min(best, time.process_time() - before)
    return best, result


def plain_tokens(texts: list[bytes]) -> int:
    return sum(len(PLAIN.findall(text)) for text in texts)


def plain_ids(texts: list[bytes]) -> int:
    """What any index needs of a tokeniser: numbers, not strings."""
    ids: dict[bytes, int] = {}
    count = 0
    for text in texts:
        count += len([ids.setdefault(token, len(ids)) for token in PLAIN.findall(text)])
    return count


class Bench:
    """One run: a tree, what was measured on it, and the table."""

    def __init__(self, tree: Path) -> None:
        self.tree = tree
        self.rows: list[dict[str, Any]] = []

    def row(self, what: str, value: str, ratio: str = "", budget: str = "", ok: str = "") -> None:
        self.rows.append({"what": what, "value": value, "ratio": ratio, "budget": budget, "ok": ok})
        print(f"{what:<52} {value:>16} {ratio:>26} {budget:>14} {ok}", flush=True)

    def judged(self, what: str, value: str, ratio: float, relation: str, budget: float) -> None:
        ok = ratio <= budget if relation == "<=" else ratio >= budget
        self.row(what, value, f"{ratio:.2f}x", f"{relation} {budget:g}x", "ok" if ok else "MISSED")


def measure(bench: Bench, tokens_goal: int) -> None:
    root = str(bench.tree)
    paths = sorted(disk.walk(root).stats)
    read_time, texts = least(lambda: [disk.read_file(root, path)[0] for path in paths])
    size = sum(map(len, texts))
    bench.row("reading all files", f"{read_time:.2f} s", f"{size / 1e6:.0f} MB, {len(paths)} files")
    plain_time, plain_count = least(lambda: plain_tokens(texts), 2)
    bench.row("plain regex, tokens only", f"{plain_time:.2f} s", f"{plain_count / 1e6:.1f} M")
    ids_time, _ = least(lambda: plain_ids(texts), 2)
    bench.row("plain regex, tokens as ids", f"{ids_time:.2f} s", f"{plain_count / 1e6:.1f} M")

    documents = [
        Document(document_facts(path, len(text), 0, text), text)
        for path, text in zip(paths, texts, strict=True)
    ]
    build(
        stream_of(documents[:3], CODE_ONLY, SuffixBackend.COMPILED), SuffixBackend.COMPILED
    )  # compiled now
    several = compiled._ALONE
    compiled._ALONE = size + 1
    lex_time, stream = least(lambda: stream_of(documents, CODE_ONLY, SuffixBackend.COMPILED))
    compiled._ALONE = several
    count = len(stream.tokens)
    bench.row(
        "compiled lexer, ids, places, lines", f"{lex_time:.2f} s", f"{count / 1e6:.1f} M tokens"
    )
    bench.judged("  against plain regex, tokens as ids", "", ids_time / lex_time, ">=", 4)
    bench.row("  against plain regex, tokens only", "", f"{plain_time / lex_time:.2f}x")
    before = time.perf_counter()
    plain_tokens(texts)
    between = time.perf_counter()
    stream_of(documents, CODE_ONLY, SuffixBackend.COMPILED)
    together = time.perf_counter() - between
    bench.row("  by the clock on all cores, against tokens only", f"{together:.2f} s",
              f"{(between - before) / together:.2f}x")  # fmt: skip
    sort_time, made = least(lambda: build(stream, SuffixBackend.COMPILED), 2)
    target = Path(tempfile.mkdtemp()) / "bench.segment"
    write_time, segment = least(lambda: made.write(target), 2)
    total = lex_time + sort_time + write_time
    bench.row(
        "sorting suffixes, words", f"{sort_time:.2f} s", f"{sort_time / count * 1e9:.0f} ns/token"
    )
    bench.row("writing the segment", f"{write_time:.2f} s")
    bench.judged(
        "build against plain regex, tokens only", f"{total:.2f} s", total / plain_time, "<=", 3
    )
    per_token = target.stat().st_size / len(segment)
    bench.row(
        "on disk", f"{per_token:.1f} B/token", "", "<= 24", "ok" if per_token <= 24 else "MISSED"
    )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    bench.row(
        "peak memory of the whole run so far",
        f"{peak:.0f} MB",
        f"{peak * 2**20 / count:.0f} B/token",
    )
    locating(bench, segment, texts)
    matching(bench, segment)
    resident(bench, target)
    changing(bench, documents)
    cloning(bench, documents)
    shutil.rmtree(target.parent)
    bench.row("tokens asked for", f"{tokens_goal / 1e6:.1f} M", f"{count / 1e6:.1f} M indexed")


def locating(bench: Bench, segment: TokenSegment, texts: list[bytes]) -> None:
    """Snippets of the tree, half of them with one token changed; against bytes.find."""
    corpus, chance = TokenCorpus([LiveSegment(segment)]), random.Random(7)
    joined = b"\n".join(texts)
    everything: list[float] = []
    finds: list[float] = []
    for size in (3, 5, 10, 20, 50, 100):
        took: list[float] = []
        found: list[float] = []
        while len(took) < 400:
            at = chance.randrange(len(segment.tokens) - size)
            number = segment.document_at(at)
            if at + size >= segment.firsts[number + 1]:
                continue
            query = [segment.word(token) for token in segment.tokens[at : at + size]]
            first = segment.starts[at]
            source = texts[number][first : segment.starts[at + size - 1] + len(query[-1])]
            if len(took) % 2:
                query[chance.randrange(size)] = b"\0nowhere"
            before = time.perf_counter()
            corpus.find(query)
            took.append(time.perf_counter() - before)
            if len(found) < 40:
                before = time.perf_counter()
                joined.find(source)
                found.append(time.perf_counter() - before)
        took.sort()
        bench.row(
            f"locate {size} tokens, p50 / p99",
            f"{took[200] * 1e6:.0f} / {took[396] * 1e6:.0f} us",
            f"bytes.find p50 {statistics.median(found) * 1e6:.0f} us",
        )
        everything += took
        finds += found
    middle = statistics.median(everything)
    bench.row("locate, p50 of all sizes", f"{middle * 1e6:.0f} us", "", "<= 200 us",
              "ok" if middle <= 200e-6 else "MISSED")  # fmt: skip
    bench.judged(
        "bytes.find p50 against locate p50", "", statistics.median(finds) / middle, ">=", 50
    )
    missing, _ = least(lambda: joined.find(b"\1 nowhere at all \1"))
    bench.judged("bytes.find of what is not there", "", missing / middle, ">=", 50)


def matching(bench: Bench, segment: TokenSegment) -> None:
    """Matching statistics of ever longer runs of the tree, a token changed now and then."""
    corpus = TokenCorpus([LiveSegment(segment)])
    made, _ = least(lambda: minima_of(segment), 1)
    bench.row("matching statistics, minima made once", f"{made * 1e3:.0f} ms")
    per_token: dict[int, float] = {}
    for size in (1_000, 4_000, 16_000):
        words = [segment.word(token) for token in segment.tokens[:size] if token]
        words[500::1_000] = [b"\0nowhere"] * len(words[500::1_000])
        took, _ = least(lambda words=words: matching_statistics(corpus, words), 2)  # type: ignore[misc]
        per_token[size] = took / len(words)
    bench.row(
        "matching statistics, per token of 1,000 / 4,000 / 16,000",
        " / ".join(f"{each * 1e6:.1f}" for each in per_token.values()) + " us",
        f"{per_token[16_000] / per_token[1_000]:.2f}x from 1,000 to 16,000",
    )


def resident(bench: Bench, path: Path) -> None:
    """What a fresh process holds in memory after mapping the segment and asking it 200 times."""
    code = (
        "import random, sys\n"
        "from pathlib import Path\n"
        "from holdfast.sequence.corpus import TokenCorpus\n"
        "from holdfast.sequence.suffix.query import LiveSegment\n"
        "from holdfast.sequence.suffix.segment import TokenSegment\n"
        "def held():\n"
        "    return int(Path('/proc/self/statm').read_text().split()[1]) * 4096\n"
        "before = held()\n"
        "s = TokenSegment.open(Path(sys.argv[1]))\n"
        "c = TokenCorpus([LiveSegment(s)])\n"
        "r = random.Random(1)\n"
        "for _ in range(200):\n"
        "    at = r.randrange(len(s.tokens) - 20)\n"
        "    c.find([s.word(t) for t in s.tokens[at:at + 20] if t] or [b'x'])\n"
        "print(held() - before)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True
    )
    held = int(done.stdout)
    bench.row(
        "resident after 200 questions",
        f"{held / 1e6:.0f} MB",
        f"of {path.stat().st_size / 1e6:.0f} MB",
    )


def changing(bench: Bench, documents: list[Document]) -> None:
    """One changed file: from its bytes to an answer that knows it."""
    directory = Path(tempfile.mkdtemp())
    try:
        store = SegmentStore(directory, backend=SuffixBackend.COMPILED)
        store.refresh(documents, [])
        chance = random.Random(3)
        took, spent = [], []
        for number in range(25):
            document = chance.choice(documents)
            text = document.data + b"\nfresh_%d = fresh_%d + 1\n" % (number, number)
            changed = Document(document_facts(document.facts.path, len(text), number, text), text)
            before, used = time.perf_counter(), time.process_time()
            corpus = store.refresh([changed], [])
            answer = corpus.find([b"fresh_%d" % number, b"=", b"fresh_%d" % number])
            took.append(time.perf_counter() - before)
            spent.append(time.process_time() - used)
            assert answer.query_exhausted, "what was written is found"
        took.sort()
        middle, worst = took[len(took) // 2], took[-1]
        value = f"{middle * 1e3:.0f} / {worst * 1e3:.0f} ms"
        cpu = f"p50 {statistics.median(spent) * 1e3:.0f} ms processor"
        bench.row("one changed file searchable, p50 / worst", value, cpu, "<= 50 ms",
                  "ok" if middle <= 0.05 else "MISSED")  # fmt: skip
    finally:
        shutil.rmtree(directory)


def cloning(bench: Bench, documents: list[Document]) -> None:
    """Clones of about five million tokens against building their segment."""
    chosen, count = [], 0
    for document in documents:
        if count > 5_000_000 * 8:
            break
        chosen.append(document)
        count += len(document.data)
    stream = stream_of(chosen, CODE_ONLY, SuffixBackend.COMPILED)
    built, segment = least(
        lambda: build(stream_of(chosen, CODE_ONLY, SuffixBackend.COMPILED), SuffixBackend.COMPILED),
        2,
    )
    found, groups = least(lambda: clones.find_groups(segment, backend=SuffixBackend.COMPILED), 2)
    bench.judged(
        f"clones of {len(stream.tokens) / 1e6:.1f} M tokens against their build",
        f"{found:.2f} s",
        found / built,
        "<=",
        2,
    )
    bench.row("  groups of 50 tokens or more", f"{len(groups)}")


def against_jscpd(bench: Bench, jscpd: str, size_bytes: int) -> None:
    """The same files given to jscpd and to `holdfast clones`, both as fresh processes."""
    directory = Path(tempfile.mkdtemp())
    try:
        small = directory / "tree"
        total = 0
        for path in sorted(disk.walk(str(bench.tree)).stats):
            data = disk.read_file(str(bench.tree), path)[0]
            if total + len(data) > size_bytes:
                break
            (small / path).parent.mkdir(parents=True, exist_ok=True)
            (small / path).write_bytes(data)
            total += len(data)
        before, spent = time.perf_counter(), _children()
        subprocess.run(
            [jscpd, str(small), "--min-tokens", "50", "--min-lines", "1", "--mode", "weak",
             "--max-size", "1mb", "--max-lines", "100000", "--reporters", "json",
             "--output", str(directory / "out"), "--no_progress"],
            capture_output=True, check=False,
        )  # fmt: skip
        theirs, their_cpu = time.perf_counter() - before, _children() - spent
        report = json.loads((directory / "out" / "jscpd-report.json").read_text())
        environment = os.environ | {"HOLDFAST_HOME": str(directory / "home")}
        environment["GIT_CEILING_DIRECTORIES"] = str(directory)
        command = [sys.executable, "-m", "holdfast.cli.main", "clones", str(small)]
        before, spent = time.perf_counter(), _children()
        done = subprocess.run(
            [*command, "--min-tokens", "30", "--limit", "0", "--all", "--json"],
            capture_output=True, text=True, check=True, env=environment,
        )  # fmt: skip
        ours, our_cpu = time.perf_counter() - before, _children() - spent
        groups = json.loads(done.stdout)["groups"]
        covered: dict[str, set[int]] = {}
        for group in groups:
            for place in group["places"]:
                covered.setdefault(place["path"], set()).update(
                    range(place["line"], place["endLine"] + 1)
                )
        bench.row(
            "jscpd", f"{theirs:.1f} s", f"{len(report['duplicates'])} pairs, {total / 1e6:.0f} MB"
        )
        bench.judged(
            "jscpd against holdfast clones, from nothing", f"{ours:.1f} s", theirs / ours, ">=", 10
        )
        bench.row("  the same in processor time", f"{our_cpu:.1f} s", f"{their_cpu / our_cpu:.2f}x")
        true = pairs = 0
        for pair in report["duplicates"]:
            sides = [_inner_lines(small, pair[side]) for side in ("firstFile", "secondFile")]
            # jscpd reports the lines a clone begins and ends in; only what lies between is whole.
            if not sides[0][1] or sides[0][1] != sides[1][1]:
                continue
            true += 1
            pairs += all(lines <= covered.get(name, set()) for name, _, lines in sides)
        mine = sum(map(len, covered.values()))
        bench.row("  pairs of jscpd whose inner lines are equal", f"{true}")
        verdict = "ok" if pairs == true else "MISSED"
        bench.row("  of these, wholly in our groups", f"{pairs}", "", "all", verdict)
        bench.row("  lines we cover in all", f"{mine}")
    finally:
        shutil.rmtree(directory)


def _children() -> float:
    """Processor time of every finished child process."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _inner_lines(tree: Path, side: dict[str, Any]) -> tuple[str, list[bytes], set[int]]:
    """A side of a pair: its file, the tokens of its whole lines, and which lines those are."""
    name = str(side["name"]).split("tree/", 1)[-1]
    data = (tree / name).read_bytes()
    lexed = lex(data, family_of(name))
    tokens: list[bytes] = []
    lines: set[int] = set()
    line, at = 1, 0
    for text, start in zip(lexed.texts, lexed.starts, strict=True):
        line += data.count(b"\n", at, start)
        at = start
        if side["start"] < line < side["end"]:
            tokens.append(text)
            lines.add(line)
    return name, tokens, lines


def as_row(row: dict[str, Any]) -> Row:
    """A line of the table: its ratio, or the number that its value begins with."""
    text = row["ratio"] if row["ratio"].endswith("x") else row["value"]
    found = re.match(r"([\d.]+)(?:x|\s|$)", text)
    value = float(found[1]) if found else None
    unit = "times" if text.endswith("x") else text[found.end() :].strip() if found else ""
    rest = [part for part in (row["value"], row["ratio"]) if part and part != text]
    met = {"ok": True, "MISSED": False}.get(row["ok"])
    note = ", ".join(rest if found else [text, *rest])
    return Row(row["what"].strip(), value, unit, row["budget"], met, note)


def main() -> None:
    """Print the table and write it to bench/out/sequence.json."""
    parser = argparse.ArgumentParser(prog="python -m bench.sequence", description=__doc__)
    parser.add_argument("--tree", type=Path, help="a tree to measure on; otherwise one is gathered")
    parser.add_argument("--root", type=Path, action="append", help="gather sources from here")
    parser.add_argument("--megabytes", type=int, default=60, help="how much to gather")
    parser.add_argument("--jscpd", help="the jscpd program to compare with")
    parser.add_argument("--jscpd-megabytes", type=int, default=15)
    args = parser.parse_args()
    gathered = None
    if args.tree is None:
        gathered = args.tree = Path(tempfile.mkdtemp()) / "corpus"
        os.environ["GIT_CEILING_DIRECTORIES"] = str(args.tree.parent)
        gather(args.tree, args.root or default_roots(), args.megabytes * 1_000_000)
    bench = Bench(args.tree)
    try:
        measure(bench, args.megabytes * 1_000_000 // 6)
        if args.jscpd:
            against_jscpd(bench, args.jscpd, args.jscpd_megabytes * 1_000_000)
    finally:
        save("sequence", [as_row(row) for row in bench.rows])
        if gathered is not None:
            shutil.rmtree(gathered.parent)


if __name__ == "__main__":
    main()
