"""Running benchmarks and recording what they found."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from bench.evidence.records import Record, write
from bench.timing import OUT, Row, machine

REPOSITORY = Path(__file__).parents[2]


@dataclass(frozen=True)
class QuestionSet:
    """Questions that are asked together; `label` names them in the record."""

    name: str
    label: str
    split: str = ""
    systems: str = "holdfast,semble-bm25"


OTHERS = "holdfast,bm25,ripgrep,semble-bm25"
RETRIEVAL_SETS = (
    QuestionSet("development", "development", "test", OTHERS),
    QuestionSet("plain", "plain", systems=OTHERS),
    QuestionSet("large", "large", systems=OTHERS),
    QuestionSet("wide", "wide", "test", OTHERS),
    QuestionSet("fresh-measured", "fresh-measured", systems=OTHERS),
    QuestionSet("libraries-measured", "libraries-measured", systems=OTHERS),
    QuestionSet("big-measured", "big-measured", systems=OTHERS),
    QuestionSet("probe-measured", "probe-measured"),
    QuestionSet("development", "development, tuned", "dev"),
    QuestionSet("wide", "wide, tuned", "dev"),
    QuestionSet("fresh", "fresh, tuned"),
    QuestionSet("libraries", "libraries, tuned"),
    QuestionSet("big", "big, tuned"),
    QuestionSet("probe", "probe, tuned"),
)
"""Sets whose questions are only measured and two that labels by file make comparable; then those
that the ranking was tuned on."""


@dataclass(frozen=True)
class Inputs:
    """What some benchmarks need and the project does not contain."""

    traces: Path | None = None
    sessions: Path | None = None
    tree: Path | None = None
    jscpd: str | None = None


@dataclass(frozen=True)
class Benchmark:
    """A benchmark that is recorded; `arguments` is None when an input is missing."""

    name: str
    arguments: Callable[[Inputs], Sequence[str] | None] = lambda inputs: ()
    needs: str = ""


def _savings(inputs: Inputs) -> Sequence[str] | None:
    given = []
    for name, path in (("--traces", inputs.traces), ("--sessions", inputs.sessions)):
        given += [name, str(path)] if path else []
    return given or None


BENCHMARKS = {
    one.name: one
    for one in (
        Benchmark("savings", _savings, "TRACES=FILE or SESSIONS=DIR"),
        Benchmark("focus", lambda i: ["--sessions", str(i.sessions)] if i.sessions else None,
                  "SESSIONS=DIR"),
        Benchmark("edits"),
        Benchmark("tokens"),
        Benchmark("explore"),
        Benchmark("calls"),
        Benchmark("references"),
        Benchmark("outline"),
        Benchmark("secrets"),
        Benchmark("store"),
        Benchmark("growth"),
        Benchmark("graph"),
        Benchmark("sync"),
        Benchmark("reading"),
        Benchmark("sequence"),
        Benchmark("clones", lambda i: ["--jscpd", i.jscpd, "--tree", str(i.tree)]
                  if i.jscpd and i.tree else None, "JSCPD=PROGRAM and TREE=DIR"),
        Benchmark("facts"),
        Benchmark("index"),
        Benchmark("index_growth", lambda i: [str(i.tree), "--copies"] if i.tree else None,
                  "TREE=DIR, a large directory"),
        Benchmark("exact"),
        Benchmark("mcp"),
        Benchmark("hooks"),
        Benchmark("load"),
        Benchmark("teams"),
        Benchmark("fleet"),
    )
}  # fmt: skip


def run(names: Sequence[str], inputs: Inputs) -> Iterator[str]:
    """Run benchmarks one after the other and record each; yields a line for each."""
    for name in names or (*BENCHMARKS, "retrieval"):
        if name == "retrieval":
            yield _retrieval()
            continue
        arguments = BENCHMARKS[name].arguments(inputs)
        if arguments is None:
            yield f"{name}: left as recorded, it needs {BENCHMARKS[name].needs}"
            continue
        load = os.getloadavg()[0]
        found = OUT / f"{name}.json"
        found.unlink(missing_ok=True)
        command = [sys.executable, "-m", f"bench.{name}", *arguments]
        code = subprocess.run(command, cwd=REPOSITORY).returncode
        if not found.is_file():
            yield f"{name}: failed with exit code {code}, left as recorded"
            continue
        rows = msgspec.convert(json.loads(found.read_text())["rows"], list[Row])
        yield recorded(name, f"python -m bench.{name}", rows, load)


def recorded(name: str, command: str, rows: list[Row], load: float) -> str:
    write(
        Record(
            name=name, command=command, machine=machine(), date=time.strftime("%Y-%m-%d"),
            commit=commit(), load=round(load, 1), rows=rows,
        )
    )  # fmt: skip
    missed = sum(row.met is False for row in rows)
    return f"{name}: {len(rows)} rows recorded, {missed} of them missed their goal"


def commit() -> str:
    asked = ["git", "rev-parse", "--short=8", "HEAD"]
    found = subprocess.run(asked, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    return found.stdout.strip() or "unknown"


def _retrieval() -> str:
    load, rows = os.getloadavg()[0], []
    for one in RETRIEVAL_SETS:
        out = OUT / f"retrieval-{one.label.replace(', ', '-')}.json"
        command = [sys.executable, "-m", "bench.retrieval", "--set",
                   f"bench/retrieval/sets/{one.name}.json", "--systems", one.systems,
                   "--out", str(out), *(["--split", one.split] if one.split else [])]  # fmt: skip
        if subprocess.run(command, cwd=REPOSITORY).returncode == 0:
            rows += retrieval_rows(one.label, json.loads(out.read_text()))
    return recorded("retrieval", "python -m bench.retrieval", rows, load)


def retrieval_rows(label: str, report: dict[str, object]) -> list[Row]:
    """NDCG@10 by path of every system on one set, with its interval."""
    systems = report["systems"]
    assert isinstance(systems, dict)
    rows = []
    for system, found in systems.items():
        if not found.get("queries"):
            continue
        low, high = found["path_ndcg10_95"]
        note = f"{found['queries']} questions, 95% {low:.3f} to {high:.3f}"
        rows.append(Row(f"{label}, {system}", found["path_ndcg10"], "", note=note))
    return rows
