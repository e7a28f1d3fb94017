"""`holdfast clones` against the current jscpd (5.x), a native program.

    python -m bench.clones --jscpd PROGRAM --tree DIR

Both get the same files and run by turns as fresh processes, with byte code written, as an installed
package has it. "Kept" is a second question about a tree that has not changed, with and without a
background host. jscpd counts the words of a docstring
or comment as tokens and Holdfast does not, so a pair counts as missed only if the part of it that
is equal has as many of our tokens as were asked for.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.cli import process_spent, warm_host
from bench.sequence import _children, _inner_lines
from bench.timing import Row, report
from holdfast.files import disk

MINIMUM = 50
ALLOWANCE = 30
"""Our blocks may be shorter: jscpd counts blanks and words of texts as tokens."""


def copied(tree: Path, to: Path, size_bytes: int) -> int:
    """Copy files of a tree up to a size; returns the bytes."""
    total = 0
    for path in sorted(disk.walk(str(tree)).stats):
        data = disk.read_file(str(tree), path)[0]
        if total + len(data) > size_bytes:
            break
        (to / path).parent.mkdir(parents=True, exist_ok=True)
        (to / path).write_bytes(data)
        total += len(data)
    return total


def timed(command: list[str], environment: dict[str, str]) -> tuple[float, float, str]:
    """Wall time, processor time and output of a fresh process."""
    before, spent = time.perf_counter(), _children()
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=environment, timeout=600
    )
    return time.perf_counter() - before, _children() - spent, done.stdout


def measure(jscpd: str, tree: Path, size_bytes: int, rounds: int) -> list[Row]:
    """The rows of the table."""
    folder = Path(tempfile.mkdtemp())
    try:
        small = folder / "tree"
        total = copied(tree, small, size_bytes)
        environment = {**os.environ, "GIT_CEILING_DIRECTORIES": str(folder)}
        environment["PYTHONDONTWRITEBYTECODE"] = ""
        alone = {**environment, "HOLDFAST_CLI_HOST": "0"}
        theirs = [
            jscpd, str(small), "--min-tokens", str(MINIMUM), "--min-lines", "1", "--mode", "weak",
            "--max-size", "1mb", "--max-lines", "100000", "--reporters", "json",
            "--output", str(folder / "out"),
        ]  # fmt: skip
        ours = [sys.executable, "-m", "holdfast", "clones", str(small), "--json"]
        warm = {**alone, "HOLDFAST_HOME": str(folder / "warm")}
        hosted = {**environment, "HOLDFAST_HOME": str(folder / "warm")}
        # A file that was just written is read again each time, until its time stamp is old.
        time.sleep(2.5)
        timed(ours, warm)
        times: dict[str, list[tuple[float, float]]] = {
            "jscpd": [], "cold": [], "warm": [], "hosted": []
        }  # fmt: skip
        busy = []
        with warm_host(folder / "warm", hosted) as host:
            timed(ours, hosted)
            for number in range(rounds):
                times["jscpd"].append(timed(theirs, environment)[:2])
                cold = {**alone, "HOLDFAST_HOME": str(folder / f"home{number}")}
                times["cold"].append(timed(ours, cold)[:2])
                times["warm"].append(timed(ours, warm)[:2])
                before = process_spent(host.pid)
                times["hosted"].append(timed(ours, hosted)[:2])
                busy.append(process_spent(host.pid) - before)
        found = json.loads((folder / "out" / "jscpd-report.json").read_text())["duplicates"]
        every = [*ours, "--min-tokens", str(ALLOWANCE), "--limit", "0", "--all", "--every-file"]
        groups = json.loads(timed(every, warm)[2])["groups"]
        exact, missed, short = compared(small, found, groups)
    finally:
        shutil.rmtree(folder)
    wall = {name: statistics.median(one[0] for one in all) for name, all in times.items()}
    spent = {name: statistics.median(one[1] for one in all) for name, all in times.items()}
    spent["hosted"] += statistics.fmean(busy)
    rows = [Row(f"jscpd, {total / 1e6:.0f} MB", wall["jscpd"], "s", note=f"{len(found)} pairs")]
    for name, what, goal in (
        ("cold", "from nothing", 2),
        ("warm", "kept, without a host", 10),
        ("hosted", "kept, with a host", 10),
    ):
        ratio = wall["jscpd"] / wall[name]
        rows.append(Row(f"clones {what}", wall[name], "s"))
        rows.append(Row("  times as fast as jscpd", ratio, "x", f"{goal}", ratio >= goal))
        rows.append(Row("  in processor time", spent["jscpd"] / spent[name], "x"))
    rows.append(Row("exact pairs of jscpd", exact, "pairs"))
    rows.append(Row("  of these not in our groups", missed, "pairs", "0", missed == 0))
    rows.append(Row("  shorter than a block in our tokens", short, "pairs"))
    return rows


def compared(
    tree: Path, pairs: list[dict[str, Any]], groups: list[dict[str, Any]]
) -> tuple[int, int, int]:
    """How many pairs have equal tokens, how many of them we miss, and how many are too short."""
    covered: dict[str, set[int]] = {}
    for group in groups:
        for place in group["places"]:
            lines = range(place["line"], place["endLine"] + 1)
            covered.setdefault(place["path"], set()).update(lines)
    exact = missed = short = 0
    for pair in pairs:
        try:
            sides = [_inner_lines(tree, pair[side]) for side in ("firstFile", "secondFile")]
        except FileNotFoundError:
            continue  # a block of code inside a document, which jscpd names `file.md:markdown`
        # jscpd names the lines a clone begins and ends in; only what is between them is whole.
        if not sides[0][1] or sides[0][1] != sides[1][1]:
            continue
        exact += 1
        if len(sides[0][1]) < ALLOWANCE:
            short += 1
        elif not all(lines <= covered.get(name, set()) for name, _, lines in sides):
            missed += 1
    return exact, missed, short


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m bench.clones", description=__doc__)
    parser.add_argument("--jscpd", required=True, help="the jscpd program, 5.x")
    parser.add_argument("--tree", type=Path, required=True, help="the tree to take files from")
    parser.add_argument("--megabytes", type=int, default=15)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    report("clones", measure(args.jscpd, args.tree, args.megabytes * 1_000_000, args.rounds))


if __name__ == "__main__":
    main()
