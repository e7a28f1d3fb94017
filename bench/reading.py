"""How fast reads are answered, against a plain read in the same run: `python -m bench.reading`.

Ratios inside one run are what counts; absolute times depend on the machine. Every repeated read is
followed by its result being appended to the session, so the leaf moves and trust must be brought up
to date, as in real use.
"""

from __future__ import annotations

import gc
import json
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from holdfast.reading import baseline, diff, disk, images, paths
from holdfast.reading.hosts.native import FileLog, NativeSession
from holdfast.reading.hosts.pi import PiLog, PiSession
from holdfast.reading.objects import Objects
from holdfast.reading.paths import Place, Request
from holdfast.reading.reader import Reader
from holdfast.reading.result import Answer

OUT = Path(__file__).parent / "out"
ENTRIES = (100, 5_000, 20_000)
ROUNDS = 150


class Ids:
    """Ids and times for the sessions we make."""

    def __init__(self) -> None:
        self.count = 0

    def new(self) -> str:
        self.count += 1
        return f"{self.count:08x}"

    def now_ms(self) -> int:
        return 1_777_885_200_000 + self.count


def plain_read(place: Place, typed: str) -> str:
    """What a read costs without a session: find the file, read it, render it."""
    target = paths.locate(Request(typed), place)
    data, _ = disk.read_once(target.path)
    assert images.sniff(data[: images.SNIFFED_BYTES]) is None
    return baseline.render(baseline.decode(data), target.typed).text


def fill_pi(session: PiSession, entries: int) -> None:
    """A quarter each of user, assistant, reads with metadata over 50 paths, and shell results."""
    text = "\n".join(f"    value_{n} = compute({n})" for n in range(30))
    for n in range(entries):
        kind = n % 4
        if kind == 0:
            message: dict[str, Any] = {"role": "user", "content": "please go on"}
        elif kind == 1:
            message = {"role": "assistant", "content": [{"type": "text", "text": "I will."}]}
        elif kind == 2:
            meta = {
                "v": 1,
                "pathKey": f"/project/src/file_{n // 4 % 50}.py",
                "scopeKey": "full",
                "servedHash": f"{n:064x}",
                "mode": "full",
                "totalLines": 30,
                "rangeStart": 1,
                "rangeEnd": 30,
                "bytes": len(text),
            }
            message = _result("read", text) | {"details": {"readcache": meta}}
        else:
            message = _result("bash", "ok\n" * 20)
        session._add(
            {"type": "message", "id": session._new_id(), "parentId": session.leaf,
             "timestamp": "2026-05-04T09:00:00.000Z", "message": message}
        )  # fmt: skip
    session._flush()


def _result(tool: str, text: str) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    return {"role": "toolResult", "toolCallId": "c", "toolName": tool, "content": content}


def fill_native(log: FileLog, ids: Ids, entries: int) -> None:
    """As `fill_pi`, in our own log."""
    import msgspec

    from holdfast.reading.hosts.lines import append_lines

    text = "\n".join(f"    value_{n} = compute({n})" for n in range(30))
    lines, parent = [], None
    for n in range(entries):
        entry = {"v": 1, "id": ids.new(), "parent": parent, "kind": "message", "text": "go on"}
        if n % 4 == 2:
            meta = {
                "v": 1, "pathKey": f"/project/src/file_{n // 4 % 50}.py", "scopeKey": "full",
                "servedHash": f"{n:064x}", "mode": "full", "totalLines": 30, "rangeStart": 1,
                "rangeEnd": 30, "bytes": len(text),
            }  # fmt: skip
            entry |= {"kind": "read", "text": text, "meta": meta}
        lines.append(msgspec.json.encode(entry))
        parent = entry["id"]
    append_lines(log.path, lines)


def _append_pi(session: PiSession, answer: Answer) -> None:
    session.append_read(answer.content, answer.details)


def least_ms(times: list[float]) -> float:
    """For budgets in milliseconds: on a shared machine the least disturbed run says most."""
    return min(times) * 1000


def median_ms(times: list[float]) -> float:
    return statistics.median(times) * 1000


def timed(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def repeat_reads(root: Path, host: str, entries: int, lines: int) -> dict[str, Any]:
    """Baseline and repeated read of one file, turn and turn about."""
    work = root / f"{host}-{entries}-{lines}"
    work.mkdir()
    name = "file.py"
    (work / name).write_text(
        "".join(f"    value_{n} = compute({n})  # step {n}\n" for n in range(lines))
    )
    place, ids = Place(str(work), str(work)), Ids()
    reader = Reader(place, Objects(work / "store"), now_ms=ids.now_ms, monotonic=time.monotonic)
    log: PiLog | NativeSession
    append: Callable[[Answer], object]
    if host == "pi":
        path = str(work / "session.jsonl")
        session = PiSession(
            "s", str(work), path=path, now_ms=ids.now_ms, new_id=ids.new, wait_for_assistant=False
        )
        fill_pi(session, entries)
        log = PiLog(path)
        append = partial(_append_pi, session)
    else:
        native = FileLog.create(work / "native.jsonl", "s")
        fill_native(native, ids, entries)
        log = NativeSession(FileLog(native.path), now_ms=ids.now_ms, new_id=ids.new)
        writer = NativeSession(FileLog(native.path), now_ms=ids.now_ms, new_id=ids.new)
        append = writer.append_read
    request = Request(name)
    times: dict[str, list[float]] = {"plain": [], "repeat": []}
    modes = set()
    gc.collect()
    for n in range(ROUNDS):
        times["plain"].append(timed(lambda: plain_read(place, name)))
        start = time.perf_counter()
        answer = reader.read(request, log)
        times["repeat"].append(time.perf_counter() - start)
        if n:
            modes.add(answer.mode)
        append(answer)
    del times["repeat"][0], times["plain"][0]
    plain, repeat = median_ms(times["plain"]), median_ms(times["repeat"])
    return {
        "cell": f"repeat read, {host}, {lines} lines, {entries} entries",
        "plain_ms": plain,
        "ms": repeat,
        "ratio": repeat / plain,
        "budget": 2.0 if lines <= 200 else 1.2,
        "modes": sorted(str(mode) for mode in modes),
    }


def first_open(root: Path, entries: int) -> dict[str, Any]:
    path = str(root / "open.jsonl")
    ids = Ids()
    session = PiSession(
        "s", str(root), path=path, now_ms=ids.now_ms, new_id=ids.new, wait_for_assistant=False
    )
    fill_pi(session, entries)
    times = [timed(lambda: PiLog(path).evidence()) for _ in range(7)]
    raw = [timed(lambda: Path(path).read_bytes().split(b"\n")) for _ in range(7)]
    return {
        "cell": f"first open, pi, {entries} entries, {os.path.getsize(path) / 1e6:.1f} MB",
        "plain_ms": least_ms(raw),
        "ms": least_ms(times),
        "ratio": least_ms(times) / least_ms(raw),
        "budget_ms": 150,
    }


def diffs() -> list[dict[str, Any]]:
    rng = random.Random(7)
    base = [f"    value_{n} = compute({n})  # step {n}" for n in range(12_000)]
    limit = diff.edits_worth_sending(len(base))

    def changed(count: int) -> str:
        lines = list(base)
        for n in rng.sample(range(len(base)), count):
            lines[n] += " changed"
        return "\n".join(lines)

    inserted = list(base)
    for n in sorted(rng.sample(range(len(base)), 1_200), reverse=True):
        inserted.insert(n, f"    # a new line {n}")
    cases = [
        ("24 changed lines", changed(24), 15),
        ("600 changed lines (1,200 edits)", changed(600), 150),
        ("1,200 inserted lines (1,200 edits)", "\n".join(inserted), 150),
        ("1,200 changed lines (2,400 edits)", changed(1_200), 150),
        ("complete rewrite", "\n".join("x" + line for line in base), 30),
    ]
    text = "\n".join(base)
    out = []
    for name, current, budget in cases:
        found = diff.compute(text, current, "f.py", edits_max=limit)
        compute = partial(diff.compute, text, current, "f.py", edits_max=limit)
        times = [timed(compute) for _ in range(9)]
        out.append(
            {
                "cell": f"diff of 12,000 lines, {name}",
                "ms": least_ms(times),
                "budget_ms": budget,
                "result": "patch" if isinstance(found, diff.Patch) else "too far: in full",
            }
        )
    return out


def main() -> None:
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        for host in ("native", "pi"):
            for lines in (200, 10_000):
                cells = [repeat_reads(root, host, entries, lines) for entries in ENTRIES]
                rows += cells
                rows.append(
                    {
                        "cell": f"growth, {host}, {lines} lines, {ENTRIES[-1]} to {ENTRIES[0]}",
                        # Each against the plain read beside it: the machine's speed drifts.
                        "ratio": cells[-1]["ratio"] / cells[0]["ratio"],
                        "budget": 1.3,
                    }
                )
        rows.append(first_open(root, ENTRIES[-1]))
    rows += diffs()
    OUT.mkdir(exist_ok=True)
    (OUT / "reading.json").write_text(json.dumps(rows, indent=1))
    for row in rows:
        print(format_row(row))
    sys.stdout.flush()


def format_row(row: dict[str, Any]) -> str:
    """One line of the table: the cell, its time, its ratio, its budget."""
    ms = f"{row['ms']:9.3f} ms" if "ms" in row else " " * 12
    ratio = f"{row['ratio']:6.2f}x" if "ratio" in row else " " * 7
    budget = f"<= {row['budget']}x" if "budget" in row else f"<= {row.get('budget_ms')} ms"
    within = row["ratio"] <= row["budget"] if "budget" in row else row["ms"] <= row["budget_ms"]
    return f"{row['cell']:<62} {ms} {ratio} {budget:>10} {'ok' if within else 'OVER'}"


if __name__ == "__main__":
    main()
