"""One recorded run of a benchmark, as it is kept in `docs/evidence/NAME.json`.

    {"format": "holdfast-evidence", "version": 1, "name": "store",
     "command": "python -m bench.store", "machine": "…", "date": "2026-11-17",
     "commit": "5ecd4fd6", "load": 0.4,
     "rows": [{"what": "…", "value": 0.78, "unit": "ratio", "goal": "≥ 0.6", "met": true}]}

Version 1: as above. `load` is the number of processes that wanted to run when the benchmark
started, so that a reader knows which times were taken on a busy machine. A row may have `points`,
pairs of a size and a cost, for a chart.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from bench.timing import Row

FORMAT = "holdfast-evidence"
VERSION = 1
CAMPAIGNS = "campaigns.json"
"""Results of `python -m tests.hostile`, in the form that its docstring describes."""
FOLDER = Path(__file__).parents[2] / "docs" / "evidence"

Records = Mapping[str, "Record"]


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """The rows of one benchmark, and where and when they were measured."""

    format: str = FORMAT
    version: int = VERSION
    name: str
    command: str
    machine: str
    date: str
    commit: str
    load: float | None
    rows: list[Row]

    def row(self, what: str) -> Row:
        """The row of this name. `a > b` is the indented row b below a; `a*` begins with a.

        A name that means no row, or several, is answered with the names there are.
        """
        named = list(self._named())
        found = [row for name, row in named if _matches(name, what)]
        if len(found) == 1:
            return found[0]
        names = "; ".join(name for name, _ in named)
        raise KeyError(f"{self.name} has {len(found)} rows {what!r}; its rows: {names}")

    def _named(self) -> Iterator[tuple[str, Row]]:
        above = ""
        for row in self.rows:
            name = row.what.strip()
            if row.what.startswith(" "):
                name = f"{above} > {name}"
            else:
                above = name
            yield name, row


def _matches(name: str, what: str) -> bool:
    parts, wanted = name.split(" > "), what.split(" > ")
    return len(parts) == len(wanted) and all(
        part.startswith(want[:-1]) if want.endswith("*") else part == want
        for part, want in zip(parts, wanted, strict=True)
    )


def read(folder: Path = FOLDER) -> dict[str, Record]:
    """Every record of a folder, by name."""
    found = {}
    for path in sorted(folder.glob("*.json")):
        if path.name == CAMPAIGNS:
            found["campaigns"] = of_campaigns(json.loads(path.read_text("utf-8")))
            continue
        record = msgspec.json.decode(path.read_bytes(), type=Record)
        if (record.format, record.version) != (FORMAT, VERSION):
            raise ValueError(f"{path.name} is {record.format} {record.version}, not {VERSION}")
        found[record.name] = record
    return found


def of_campaigns(results: dict[str, Any]) -> Record:
    """What `python -m tests.hostile --out FILE` found: how often each was tried, and problems."""
    rows = []
    for one in results["campaigns"]:
        outcomes = ", ".join(f"{name} {count:,}" for name, count in one["outcomes"].items())
        rows.append(Row(f"{one['name']}: tried", one["tried"], "", note=outcomes))
        problems = len(one["problems"])
        rows.append(Row("  problems", problems, "", "0", problems == 0))
    kinds = dict.fromkeys(one["kind"] for one in results["campaigns"])
    for kind in kinds:
        took = sum(one["seconds"] for one in results["campaigns"] if one["kind"] == kind)
        rows.append(Row(f"all campaigns of the kind {kind}, one after the other", took / 60, "min"))
    command = f"python -m tests.hostile --minutes {results['minutes']:g}"
    return Record(name="campaigns", command=command, machine=results["machine"], date="",
                  commit=results["commit"][:8], load=None, rows=rows)  # fmt: skip


def write(record: Record, folder: Path = FOLDER) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    text = msgspec.json.format(msgspec.json.encode(record), indent=1)
    (folder / f"{record.name}.json").write_bytes(text + b"\n")
