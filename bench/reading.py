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

from bench.arguments import takes_none
from bench.timing import Row, save
from holdfast.reading import baseline, diff, disk, images, paths
from holdfast.reading.hosts.claude_code import ClaudeCodeLog
from holdfast.reading.hosts.codex import CodexLog
from holdfast.reading.hosts.native import FileLog, NativeSession
from holdfast.reading.hosts.pi import PiLog
from holdfast.reading.hosts.sidecar import Sidecar
from holdfast.reading.objects import Objects, digest_of
from holdfast.reading.paths import Place, Request
from holdfast.reading.reader import Reader
from holdfast.reading.result import Answer
from tests.reading.pi_session import PiSession

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
                "servedHash": digest_of(text.encode()),
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
                "servedHash": digest_of(text.encode()), "mode": "full", "totalLines": 30,
                "rangeStart": 1, "rangeEnd": 30, "bytes": len(text),
            }  # fmt: skip
            entry |= {"kind": "read", "text": text, "meta": meta}
        lines.append(msgspec.json.encode(entry))
        parent = entry["id"]
    append_lines(log.path, lines)


def _append_pi(session: PiSession, answer: Answer) -> None:
    session.append_read(answer.content, answer.details)


def cpu_ms(action: Callable[[], object], runs: int = 9) -> float:
    """For budgets in milliseconds: processor time, the least of some runs.

    These cells only compute; on a shared machine the clock on the wall tells of other programs.
    """
    times = []
    for _ in range(runs):
        start = time.process_time()
        action()
        times.append(time.process_time() - start)
    return min(times) * 1000


def median_ms(times: list[float]) -> float:
    return statistics.median(times) * 1000


def timed(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


class Repeats:
    """One file read again and again in one session, beside plain reads of it."""

    def __init__(self, root: Path, host: str, entries: int, lines: int) -> None:
        self.name = f"repeat read, {host}, {lines} lines, {entries} entries"
        self.budget = 2.0 if lines <= 200 else 1.2
        work = root / f"{host}-{entries}-{lines}"
        work.mkdir()
        rows = (f"    value_{n} = compute({n})  # step {n}\n" for n in range(lines))
        (work / "file.py").write_text("".join(rows))
        self.place, ids = Place(str(work), str(work)), Ids()
        self.reader = Reader(
            self.place, Objects(work / "store"), now_ms=ids.now_ms, monotonic=time.monotonic
        )
        self.log: PiLog | NativeSession
        self.append: Callable[[Answer], object]
        if host == "pi":
            path = str(work / "session.jsonl")
            session = PiSession("s", str(work), path=path, now_ms=ids.now_ms, new_id=ids.new)
            fill_pi(session, entries)
            self.log, self.append = PiLog(path), partial(_append_pi, session)
        else:
            native = FileLog.create(work / "native.jsonl", "s")
            fill_native(native, ids, entries)
            self.log = NativeSession(FileLog(native.path), now_ms=ids.now_ms, new_id=ids.new)
            writer = NativeSession(FileLog(native.path), now_ms=ids.now_ms, new_id=ids.new)
            self.append = writer.append_read
        self.plain: list[float] = []
        self.repeat: list[float] = []
        self.append(self.reader.read(Request("file.py"), self.log))

    def round(self) -> None:
        self.plain.append(timed(lambda: plain_read(self.place, "file.py")))
        start = time.perf_counter()
        answer = self.reader.read(Request("file.py"), self.log)
        self.repeat.append(time.perf_counter() - start)
        assert answer.mode in ("unchanged", "unchanged_range"), answer.mode
        self.append(answer)

    def row(self) -> dict[str, Any]:
        plain, repeat = median_ms(self.plain), median_ms(self.repeat)
        return {
            "cell": self.name,
            "plain_ms": plain,
            "ms": repeat,
            "ratio": repeat / plain,
            "budget": self.budget,
        }


def repeat_reads(root: Path, host: str, lines: int) -> list[dict[str, Any]]:
    """Sessions of every length, round by round, so that a busy moment hits them all alike."""
    cells = [Repeats(root, host, entries, lines) for entries in ENTRIES]
    gc.collect()
    for _ in range(ROUNDS):
        for cell in cells:
            cell.round()
    rows = [cell.row() for cell in cells]
    growth = {
        "cell": f"growth, {host}, {lines} lines, {ENTRIES[-1]} to {ENTRIES[0]}",
        "ratio": rows[-1]["ms"] / rows[0]["ms"],
        "budget": 1.3,
    }
    return [*rows, growth]


def foreign_reads(root: Path, host: str, entries: int) -> dict[str, Any]:
    """As `repeat_reads` for 200 lines, on a transcript that another program writes."""
    work = root / f"{host}-{entries}"
    work.mkdir()
    (work / "file.py").write_text("".join(f"    value_{n} = compute({n})\n" for n in range(200)))
    place, ids = Place(str(work), str(work)), Ids()
    reader = Reader(place, Objects(work / "store"), now_ms=ids.now_ms, monotonic=time.monotonic)
    path, side = work / "log.jsonl", work / "side.jsonl"
    log: CodexLog | ClaudeCodeLog
    if host == "codex":
        log = CodexLog(path, Sidecar(side))
        lines = [_codex("session_meta", {"id": "c"})]
        lines += [_codex("response_item", {"type": "message", "n": n}) for n in range(entries)]
    else:
        log = ClaudeCodeLog(path, Sidecar(side))
        lines = [
            _claude(n, n - 1, "user", {"type": "text", "text": "x" * 300}) for n in range(entries)
        ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    writer, last = Sidecar(side), entries - 1
    times: dict[str, list[float]] = {"plain": [], "repeat": []}
    with path.open("a") as file:

        def write(line: dict[str, Any]) -> None:
            file.write(json.dumps(line) + "\n")
            file.flush()

        for n in range(ROUNDS):
            call = f"call-{n}"
            if isinstance(log, ClaudeCodeLog):
                use = {"type": "tool_use", "id": call, "name": "read"}
                write(_claude(last + 1, last, "assistant", use))
                log.call = call
            times["plain"].append(timed(lambda: plain_read(place, "file.py")))
            start = time.perf_counter()
            answer = reader.read(Request("file.py"), log)
            times["repeat"].append(time.perf_counter() - start)
            writer.record(call, answer)
            if isinstance(log, ClaudeCodeLog):
                block = {"type": "tool_result", "tool_use_id": call, "content": answer.text}
                write(_claude(last + 2, last + 1, "user", block))
                last += 2
            else:
                output = {"type": "function_call_output", "call_id": call, "output": answer.text}
                write(_codex("response_item", output))
    plain, repeat = median_ms(times["plain"][1:]), median_ms(times["repeat"][1:])
    return {
        "cell": f"repeat read, {host}, 200 lines, {entries} entries",
        "plain_ms": plain,
        "ms": repeat,
        "ratio": repeat / plain,
    }


def _codex(kind: str, payload: dict[str, Any]) -> dict[str, Any]:
    return {"timestamp": "t", "type": kind, "payload": payload}


def _claude(number: int, parent: int, kind: str, block: dict[str, Any]) -> dict[str, Any]:
    message = {"id": f"m{number}", "content": [block]}
    above = f"u{parent}" if parent >= 0 else None
    return {"type": kind, "uuid": f"u{number}", "parentUuid": above, "message": message}


def first_open(root: Path, entries: int) -> dict[str, Any]:
    path = str(root / "open.jsonl")
    ids = Ids()
    session = PiSession("s", str(root), path=path, now_ms=ids.now_ms, new_id=ids.new)
    fill_pi(session, entries)
    ms = cpu_ms(lambda: PiLog(path).evidence())
    plain = cpu_ms(lambda: Path(path).read_bytes().split(b"\n"))
    return {
        "cell": f"first open, pi, {entries} entries, {os.path.getsize(path) / 1e6:.1f} MB",
        "plain_ms": plain,
        "ms": ms,
        "ratio": ms / plain,
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
        out.append(
            {
                "cell": f"diff of 12,000 lines, {name}",
                "ms": cpu_ms(compute),
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
                rows += repeat_reads(root, host, lines)
        for host in ("claude-code", "codex"):
            rows += [foreign_reads(root, host, entries) for entries in (ENTRIES[0], ENTRIES[-1])]
        rows.append(first_open(root, ENTRIES[-1]))
    rows += diffs()
    save("reading", [as_row(row) for row in rows])
    for row in rows:
        print(format_row(row))
    sys.stdout.flush()


def as_row(cell: dict[str, Any]) -> Row:
    """A cell as a row of the report: its time if that has the budget, otherwise its ratio."""
    budget = cell.get("budget", cell.get("budget_ms"))
    if "ratio" in cell and "budget_ms" not in cell:
        value, unit = cell["ratio"], "times"
    else:
        value, unit = cell["ms"], "ms"
    goal, met = ("", None) if budget is None else (f"≤ {budget:g}", value <= budget)
    return Row(cell["cell"], value, unit, goal, met)


def format_row(row: dict[str, Any]) -> str:
    """One line of the table: the cell, its time, its ratio, its budget."""
    ms = f"{row['ms']:9.3f} ms" if "ms" in row else " " * 12
    ratio = f"{row['ratio']:6.2f}x" if "ratio" in row else " " * 7
    if "budget" not in row and "budget_ms" not in row:
        return f"{row['cell']:<62} {ms} {ratio}"
    budget = f"<= {row['budget']}x" if "budget" in row else f"<= {row.get('budget_ms')} ms"
    within = row["ratio"] <= row["budget"] if "budget" in row else row["ms"] <= row["budget_ms"]
    return f"{row['cell']:<62} {ms} {ratio} {budget:>10} {'ok' if within else 'OVER'}"


if __name__ == "__main__":
    takes_none("reading", __doc__)
    main()
