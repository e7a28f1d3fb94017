"""`holdfast bench`: measure speed on a directory of source code.

Works in a separate home that is removed afterwards. Each figure is shown with a baseline measured
in the same run, because times alone say little on a shared machine.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from holdfast.app import App
from holdfast.cli.output import print_json, print_table, steps_on_terminal
from holdfast.cli.user_files import add_yes, refuse_whole_homes
from holdfast.errors import UsageError
from holdfast.text import counted

ROUNDS = 50


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", nargs="?", default=".", help="the tree (default: here)")
    parser.add_argument("--rounds", type=int, default=ROUNDS, metavar="N", help="how often to ask")
    add_yes(parser)
    parser.add_argument("--json", action="store_true", help="answer as JSON")


def run(args: argparse.Namespace, app: App) -> int:
    root = Path(args.path).resolve()
    if not root.is_dir():
        raise UsageError(f"{root} is not a directory", "name a directory that exists")
    if args.rounds < 1:
        raise UsageError(f"--rounds must be at least 1 (got {args.rounds})")
    refuse_whole_homes(app, args.path, args)
    rows: list[dict[str, Any]] = []
    step = steps_on_terminal()
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as home:
        own = app.with_home(home)
        measures = (_index, _locate, _reading, _memory)
        for done, measure in enumerate(measures):
            step("measuring", done, len(measures))
            rows += measure(own, root, args.rounds)
        step("measuring", 1, 1)
    if args.json:
        print_json({"tree": str(root), "rows": rows})
    else:
        print_table(
            ("what", "here", "beside it"),
            [(row["what"], row["here"], row["beside"]) for row in rows],
        )
    return 0


def _row(what: str, here: str, beside: str = "", **facts: float) -> dict[str, Any]:
    return {"what": what, "here": here, "beside": beside, **facts}


def _timed(app: App, act: Callable[[], Any]) -> tuple[float, Any]:
    start = app.clock.monotonic()
    result = act()
    return app.clock.monotonic() - start, result


def _spread(times: list[float]) -> str:
    ordered = sorted(times)
    high = ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]
    return f"{statistics.median(times) * 1000:.2f} ms p50, {high * 1000:.2f} ms p95"


def _index(app: App, root: Path, rounds: int) -> list[dict[str, Any]]:
    from holdfast.files import disk
    from holdfast.index.code_index import run_here
    from holdfast.index.tools.manage import manage_index
    from holdfast.index.tools.search import search_code

    def read_all() -> int:
        files = disk.walk(str(root)).stats
        return sum(len(disk.read_file(str(root), path)[0]) for path in files)

    reading_s, size = _timed(app, read_all)
    index = app.open_index()
    index.start = run_here
    try:
        built_s, answer = _timed(app, lambda: manage_index(index, "create", str(root)))
        if answer.status != "ok":
            raise UsageError(answer.message)
        synced_s, _ = _timed(app, lambda: manage_index(index, "sync", str(root)))
        words = _words(root)
        times = [
            _timed(app, lambda word=word: search_code(index, str(root), word))[0]  # type: ignore[misc]
            for word in (words * (rounds // max(1, len(words)) + 1))[: rounds + 1]
        ][1:]
    finally:
        index.close()
    return [
        _row(
            f"index {size / 1e6:.1f} MB",
            f"{built_s:.2f} s",
            f"{reading_s:.2f} s to read the files",
            seconds=built_s,
            baseline=reading_s,
        ),
        _row("sync, nothing changed", f"{synced_s * 1000:.0f} ms", seconds=synced_s),
        _row("search", _spread(times), f"{reading_s * 1000:.0f} ms to read it all once"),
    ]


def _words(root: Path) -> list[str]:
    """Queries for the benchmark: file names with spaces instead of underscores."""
    from holdfast.files import disk

    names = [Path(path).stem.replace("_", " ") for path in sorted(disk.walk(str(root)).stats)]
    return [name for name in dict.fromkeys(names) if len(name) > 2][:ROUNDS] or ["main"]


def _locate(app: App, root: Path, rounds: int) -> list[dict[str, Any]]:
    from holdfast.files import disk
    from holdfast.sequence.tokens.lexer import CODE_ONLY, lex
    from holdfast.trees import no_progress

    tree = app.open_tree(root, CODE_ONLY, no_progress)
    corpus = tree.segments.corpus
    texts = [disk.read_file(str(root), path)[0] for path in tree.files]
    snippets = [
        line.strip() for text in texts[:rounds] for line in text.split(b"\n")[:40] if len(line) > 30
    ][:rounds]
    if not snippets:
        return []
    times, plain = [], []
    joined = b"\n".join(texts)
    for snippet in snippets:
        tokens = lex(snippet, 0, CODE_ONLY).texts
        if len(tokens) > 2:
            times.append(_timed(app, lambda tokens=tokens: corpus.find(tokens))[0])  # type: ignore[misc]
            plain.append(_timed(app, lambda snippet=snippet: joined.find(snippet))[0])  # type: ignore[misc]
    if not times:
        return []
    beside = f"{statistics.median(plain) * 1000:.2f} ms to scan the bytes"
    return [_row("locate a line", _spread(times), beside)]


def _reading(app: App, root: Path, rounds: int) -> list[dict[str, Any]]:
    from holdfast.files import disk
    from holdfast.reading.hosts.native import NativeSession
    from holdfast.reading.paths import Request
    from holdfast.sessions import SPACE, StoredLog

    paths = sorted(disk.walk(str(root)).stats)[:rounds]
    if not paths:
        return []

    with app.open_space(SPACE) as store:
        log = StoredLog(store, "bench", f"log-{app.new_id()}")
        session = NativeSession(log, now_ms=app.clock.now_ms, new_id=app.new_id)
        reader = app.reader(str(root))
        bytes_sent = [0, 0]
        times = []
        for turn in range(2):
            for path in paths:
                seconds, answer = _timed(
                    app,
                    lambda path=path: reader.read(Request(path), session),  # type: ignore[misc]
                )
                session.append_read(answer)
                bytes_sent[turn] += len(answer.text.encode("utf-8", "surrogatepass"))
                if turn:
                    times.append(seconds)
    return [
        _row(
            f"read {counted(len(paths), 'file')} again",
            _spread(times),
            f"{bytes_sent[1]:,} bytes sent instead of {bytes_sent[0]:,}",
            bytes=bytes_sent[1],
            baseline=bytes_sent[0],
        )
    ]


def _memory(app: App, root: Path, rounds: int) -> list[dict[str, Any]]:
    commits = max(200, rounds)

    def commit_all() -> None:
        for n in range(commits):
            operation = {"op": "set", "id": f"note:{n % 50}", "value": {"value": n}}
            store.transact("bench", {"localSeq": n + 1, "operations": [operation]})

    def sync_all() -> None:
        with open(app.home.path / "plain", "wb") as file:
            for n in range(commits):
                file.write(b"%d\n" % n)
                file.flush()
                os.fsync(file.fileno())

    with app.open_space() as store:
        seconds, _ = _timed(app, commit_all)
    plain, _ = _timed(app, sync_all)
    return [
        _row(
            "commits, each durable",
            f"{commits / seconds:,.0f} a second",
            f"{commits / plain:,.0f} a second to append a line and sync",
            seconds=seconds,
            baseline=plain,
        )
    ]
