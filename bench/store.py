"""`python -m bench.store`: the store against the bare driver, in one run.

The baseline does the statements of a commit by hand, on the same tables with the same durability,
one transaction each, and nothing else: no parsing, no admission, no encoding.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import threading
import time
from itertools import count
from pathlib import Path
from typing import Any

from bench.timing import Row, each, percentiles, rate, report, resident_mb
from holdfast.store.errors import ConflictError
from holdfast.store.sqlite import SqliteDatabase
from holdfast.store.store import Store, open_store

PAYLOAD = {"title": "a note", "tags": ["one", "two"], "n": 1, "body": "x" * 40}

ELSEWHERE = [
    ("set commit, one operation", "930-1,590 /s"),
    ("patch commit, hot document at 5,000 patches", "190-265 /s"),
    ("read, set head", "48-75 µs"),
    ("point-in-time read in a 5,000-patch chain", "62-73 ms"),
    ("conflict rejection", "15,000 /s"),
]
"""The reference's figures, measured elsewhere on a machine of this kind."""


def set_commit(local_seq: int, id: str) -> dict[str, Any]:
    operation = {"op": "set", "id": id, "value": {"value": PAYLOAD}}
    reads: dict[str, Any] = {"confirmed": [], "pending": []}
    return {"localSeq": local_seq, "reads": reads, "operations": [operation]}


class Bare:
    """The statements of a commit, by hand."""

    def __init__(self, path: Path, store: Store) -> None:
        self.database = SqliteDatabase(path)
        self.seq = 0
        self.original = store.engine.encode(set_commit(1, "doc:1"))
        self.data = store.engine.encode({"value": PAYLOAD})

    def commits(self, count: int) -> int:
        import apsw

        connection: apsw.Connection = self.database._driver._connection
        run = connection.execute
        for _ in range(count):
            self.seq += 1
            seq, id = self.seq, f"doc:{self.seq}"
            run("BEGIN IMMEDIATE")
            run('SELECT coalesce(max(seq), 0) FROM "commit"').fetchall()
            run("SELECT * FROM branch WHERE name = ''").fetchall()
            key = 'SELECT seq FROM "commit" WHERE session_id = ? AND local_seq = ?'
            run(key, ("bench", seq)).fetchall()
            run(
                'INSERT INTO "commit" (seq, branch, session_id, local_seq, original, resolution, '
                "created_at, chain) VALUES (?, '', 'bench', ?, ?, ?, '2026-01-01T00:00:00Z', ?)",
                (seq, seq, self.original, f'{{"seq":{seq}}}', bytes(32)),
            )
            run(
                "INSERT INTO revision (branch, id, seq, op_index, op, data, commit_seq, crc) "
                "VALUES ('', ?, ?, 0, 'set', ?, ?, 0)",
                (id, seq, self.data, seq),
            )
            run(
                "INSERT INTO head (branch, id, seq, op_index, crc) VALUES ('', ?, ?, 0, 0) "
                "ON CONFLICT (branch, id) DO UPDATE SET seq = excluded.seq",
                (id, seq),
            )
            run("UPDATE branch SET head_seq = ? WHERE name = ''", (seq,))
            run("COMMIT")
        return count


class Writing:
    """Commits through the engine, numbered on."""

    def __init__(self, store: Store, session: str = "bench") -> None:
        self.store, self.session, self.local_seq = store, session, 0

    def sets(self, count: int) -> int:
        for _ in range(count):
            self.local_seq += 1
            self.store.transact(self.session, set_commit(self.local_seq, f"doc:{self.local_seq}"))
        return count

    def patches(self, count: int, id: str = "doc:hot") -> int:
        for _ in range(count):
            self.local_seq += 1
            edit = {"op": "replace", "path": "/value/n", "value": self.local_seq}
            operation = {"op": "patch", "id": id, "patches": [edit]}
            self.store.transact(
                self.session, {"localSeq": self.local_seq, "operations": [operation]}
            )
        return count


documents = count(10**9)
"""Numbers for the documents of the group commit, one after the other as in single commits."""


def group_rate(store: Store, writers: int, commits: int) -> float:
    """Commits acknowledged per second to so many writers, each sending when it was answered."""
    each_writes = max(1, commits // writers)
    names = [f"w{random.randrange(2**48):x}-{w}" for w in range(writers)]
    done, busy = threading.Event(), writers

    def send(name: str, n: int) -> None:
        def told(fate: object) -> None:
            nonlocal busy
            assert not isinstance(fate, Exception), fate
            if n < each_writes:
                send(name, n + 1)
                return
            busy -= 1
            if busy == 0:
                done.set()

        store.submit(name, set_commit(n, f"doc:{next(documents)}"), told)

    start = time.perf_counter()
    for name in names:
        send(name, 1)
    done.wait()
    return writers * each_writes / (time.perf_counter() - start)


def thread_rate(store: Store, writers: int, commits: int) -> float:
    """The same, where each writer is a thread that sleeps until it is answered."""
    each_writes = max(1, commits // writers)

    def write(name: str) -> None:
        for n in range(1, each_writes + 1):
            store.transact(name, set_commit(n, f"doc:{next(documents)}"))

    names = [f"t{random.randrange(2**48):x}-{w}" for w in range(writers)]
    threads = [threading.Thread(target=write, args=(name,)) for name in names]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return writers * each_writes / (time.perf_counter() - start)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a small share, for CI")
    args = parser.parse_args(arguments)
    scale = 0.05 if args.quick else 1.0
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as directory:
        rows = measure(Path(directory), scale)
    rows += [
        Row(f"reference: {what}", None, figure, note="measured elsewhere")
        for what, figure in ELSEWHERE
    ]
    return report("store", rows)


def measure(directory: Path, scale: float) -> list[Row]:
    rows: list[Row] = []
    store = open_store(directory / "spaces", "bench")
    writing, bare = Writing(store), Bare(directory / "bare.sqlite", store)

    # In turns, so that a slow minute of the machine falls on both.
    count = max(50, int(1_000 * scale))
    pairs = [
        (rate(lambda: bare.commits(count)), rate(lambda: writing.sets(count))) for _ in range(7)
    ]
    bare_rate = statistics.median(pair[0] for pair in pairs)
    single = statistics.median(pair[1] for pair in pairs)
    share = statistics.median(ours / theirs for theirs, ours in pairs)
    rows.append(Row("bare driver, one commit per transaction", bare_rate, "commits/s"))
    rows.append(Row("engine, single-operation commits", single, "commits/s"))
    rows.append(Row("engine / bare driver", share, "ratio", "≥ 0.6", share >= 0.6))

    rows += groups(directory, store, writing, scale)
    threads = statistics.median(thread_rate(store, 64, int(10_000 * scale) + 640) for _ in range(3))
    rows.append(Row("group commit, 64 threads that wait for each commit", threads, "commits/s"))

    reads = percentiles(each(lambda n: store.read(f"doc:{n % 500 + 1}"), 5_000))
    rows.append(Row("current read, p50", reads["p50"], "µs", "≤ 40", reads["p50"] <= 40))
    rows.append(Row("current read, p99", reads["p99"], "µs"))

    rows += conflicts(store, writing, scale)
    rows += hot_document(directory, scale)
    rows += flat_memory(directory, scale)
    store.close()
    return rows


def groups(directory: Path, grown: Store, numbered: Writing, scale: float) -> list[Row]:
    """What sharing a trip to the disk gains, in new spaces and in one that grows meanwhile."""

    def turn(store: Store, writing: Writing) -> tuple[float, float]:
        # So long that it has its share of checkpoints.
        alone = rate(lambda: writing.sets(max(50, int(1_000 * scale))))
        return alone, group_rate(store, 64, int(20_000 * scale) + 640)

    new, old = [], []
    for number in range(7):
        store = open_store(directory / "spaces", f"new-{number}")
        new.append(turn(store, Writing(store)))
        store.close()
        old.append(turn(grown, numbered))
    commits = f"{grown.newest_seq() // 1000:,},000"
    gain, later = (statistics.median(many / one for one, many in turns) for turns in (new, old))
    together = statistics.median(many for _, many in new)
    return [
        Row("group commit, 64 writers", together, "commits/s"),
        Row("group commit / single", gain, "ratio", "≥ 8", gain >= 8),
        Row(f"  in a space that grows to {commits} commits", later, "ratio", "≥ 8", later >= 8),
    ]


def conflicts(store: Store, writing: Writing, scale: float) -> list[Row]:
    writing.sets(2)
    stale = {"id": f"doc:{writing.local_seq}", "path": ["value"], "seq": 0}
    commit = set_commit(1, "doc:never")
    commit["reads"] = {"confirmed": [stale], "pending": []}

    def refuse(count: int) -> int:
        for _ in range(count):
            try:
                store.transact("late", commit)
            except ConflictError:
                continue
            raise AssertionError("a stale read was accepted")
        return count

    found = statistics.median(rate(lambda: refuse(max(100, int(4_000 * scale)))) for _ in range(5))
    return [Row("conflict rejection", found, "/s", "≥ 20,000", found >= 20_000)]


def hot_document(directory: Path, scale: float) -> list[Row]:
    """One document, patched over and over: early rate, late rate, and reads far back."""
    patches = int(100_000 * scale)
    store = open_store(directory / "hot", "bench")
    writing = Writing(store)
    hot = {"op": "set", "id": "doc:hot", "value": {"value": PAYLOAD}}
    store.transact("start", {"localSeq": 1, "operations": [hot]})
    # A second document that is always young is the early side, measured in turns with the late one.
    fresh = Writing(store, "fresh")
    fill(store, writing, patches)
    ratios, late_rates = [], []
    for turn in range(9):
        id = f"doc:fresh-{turn}"
        store.transact(f"start-{turn}", {"localSeq": 1, "operations": [{**hot, "id": id}]})
        fresh.patches(100, id)
        early = rate(lambda id=id: fresh.patches(200, id))  # type: ignore[misc]
        late = rate(lambda: writing.patches(200))
        ratios.append(late / early)
        late_rates.append(late)
    ratio = statistics.median(ratios)
    newest = store.newest_seq()
    dice = random.Random(7)
    first = 3
    samples = each(lambda _: store.read("doc:hot", seq=dice.randrange(first, newest)), 2_000)
    times = percentiles(samples)
    store.close()
    return [
        Row(f"hot document, patches at {patches:,}", statistics.median(late_rates), "commits/s"),
        Row(f"hot document, rate at {patches:,} / at 100", ratio, "ratio", "≥ 0.9", ratio >= 0.9),
        Row(
            "read at any seq of that history, p50",
            times["p50"],
            "µs",
            "≤ 1,000",
            times["p50"] <= 1_000,
        ),
        Row("read at any seq of that history, p99", times["p99"], "µs"),
    ]


def fill(store: Store, writing: Writing, patches: int) -> None:
    """Land so many patches of one document quickly, many at a time through the group commit."""
    done, left = threading.Event(), patches

    def told(answer: object) -> None:
        nonlocal left
        assert not isinstance(answer, Exception), answer
        left -= 1
        if left == 0:
            done.set()

    for _ in range(patches):
        writing.local_seq += 1
        edit = {"op": "replace", "path": "/value/n", "value": writing.local_seq}
        operation = {"op": "patch", "id": "doc:hot", "patches": [edit]}
        commit = {"localSeq": writing.local_seq, "operations": [operation]}
        store.submit(writing.session, commit, told)
    done.wait()


def flat_memory(directory: Path, scale: float) -> list[Row]:
    """Memory before and after 200,000 commits, once SQLite's page cache is full."""
    store = open_store(directory / "flat", "bench")
    total = int(200_000 * scale)
    group_rate(store, 64, total)
    early = resident_mb()
    group_rate(store, 64, total)
    grown = resident_mb() - early
    store.close()
    what = f"memory grown over {total:,} commits, the page cache full"
    return [Row(what, grown, "MB", "≤ 2", grown <= 2)]


if __name__ == "__main__":
    raise SystemExit(main())
