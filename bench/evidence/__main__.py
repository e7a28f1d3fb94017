"""`python -m bench.evidence run|render`: record benchmarks, and write pages from that.

`run [NAME …]` runs every benchmark, or those named, one after the other, and records each in
docs/evidence; one that fails, or whose input is not given, stays as it was recorded. `render`
writes the tables and figures of docs/evidence.md, the README and the other pages, and the charts.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from bench.arguments import parser
from bench.evidence import figures
from bench.evidence.drawings import images
from bench.evidence.records import Records, read
from bench.evidence.running import BENCHMARKS, REPOSITORY, Inputs, run

DOCS = REPOSITORY / "docs"


def pages() -> list[Path]:
    """Every page that may show a figure."""
    return [REPOSITORY / "README.md", *sorted(DOCS.glob("*.md"))]


def rendered(records: Records) -> dict[Path, str]:
    """The text that every page should have."""
    make = figures.maker(records)
    return {path: figures.updated(path.read_text("utf-8"), make) for path in pages()}


def render() -> None:
    records = read()
    for path, text in rendered(records).items():
        path.write_text(text, "utf-8")
    for name, drawing in images(records):
        (DOCS / "images" / name).write_text(drawing, "utf-8")


def main(arguments: list[str] | None = None) -> int:
    options = parser("evidence", __doc__)
    verbs = options.add_subparsers(dest="verb", required=True)
    verbs.add_parser("render", help="write the pages from the records")
    running = verbs.add_parser("run", help="run benchmarks, record them, then render")
    running.add_argument("name", nargs="*", help=f"one of {', '.join(BENCHMARKS)}, retrieval")
    for name, what in (
        ("--traces", "traces of real sessions, for savings"),
        ("--sessions", "a folder of agents' session files, for savings and focus"),
        ("--tree", "a large directory of source, for clones and index_growth"),
    ):
        running.add_argument(name, type=Path, help=what)
    running.add_argument("--jscpd", help="the program to compare clones with")
    args = options.parse_args(arguments)
    if args.verb == "run":
        unknown = set(args.name) - {*BENCHMARKS, "retrieval"}
        if unknown:
            options.error(f"unknown benchmark: {', '.join(sorted(unknown))}")
        _run(args)
    render()
    return 0


def _run(args: argparse.Namespace) -> None:
    inputs = Inputs(args.traces, args.sessions, args.tree, args.jscpd)
    for line in run(args.name, inputs):
        print(f"evidence: {line}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
