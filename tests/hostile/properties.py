"""Property tests with fresh seeds: a soak runs them again and again, each time with others."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import xml.etree.ElementTree as xml
from collections import Counter
from collections.abc import Sequence
from itertools import cycle, islice
from pathlib import Path

from tests.hostile.result import Result

TESTS = Path(__file__).parents[1]
DRAWS = re.compile(r"@given\(|RuleBasedStateMachine|\bseeds\(|FIRST_SEED")
LEFT_OUT = {"hostile", "simulation"}
"""They have campaigns of their own."""
SEEDS_PER_BATCH = 100_000
PASSED = re.compile(r"(\d+) passing")
BLOCK = re.compile(r"^tests/\S+::.*:$", re.MULTILINE)


def files() -> list[Path]:
    """The files with property tests, in the order of their names."""
    return [
        path
        for path in sorted(TESTS.rglob("test_*.py"))
        if not LEFT_OUT.intersection(path.relative_to(TESTS).parts)
        and DRAWS.search(path.read_text("utf-8"))
    ]


def chosen(all_of_them: Sequence[Path], count: int, turn: int) -> list[Path]:
    """So many of the files, another part at each turn until all had theirs."""
    first = turn * count % len(all_of_them)
    return list(islice(cycle(all_of_them), first, first + min(count, len(all_of_them))))


def campaign(count: int, seed: int, folder: Path) -> Result:
    """Run the property tests of so many files, with seeds and examples that belong to `seed`."""
    folder.mkdir()
    report = folder / "report.xml"
    first = seed * SEEDS_PER_BATCH
    given = [f"--hypothesis-seed={seed}", "--hypothesis-show-statistics", "-m", "property"]
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *given,
             f"--junitxml={report}", f"--basetemp={folder / 'tests'}",
             *map(str, chosen(files(), count, seed))]  # fmt: skip
    environment = {**os.environ, "HOLDFAST_FIRST_SEED": str(first)}
    done = subprocess.run(words, cwd=TESTS.parent, env=environment, capture_output=True, text=True)
    again = f"HOLDFAST_FIRST_SEED={first} python -m pytest -m property {given[0]}"
    if done.returncode not in (0, 1) or not report.exists():
        said = done.stdout[-2_000:]
        return Result(Counter(), [f"{again}: ended with {done.returncode}\n{said}"])
    return counted(report.read_text("utf-8"), done.stdout, again)


def counted(report: str, said: str, again: str) -> Result:
    """What a run of pytest tried: examples of Hypothesis, and tests that a seed drew."""
    result, passed = Result(), 0
    for case in xml.fromstring(report).iter("testcase"):
        wrong = case.find("failure") if case.find("error") is None else case.find("error")
        if wrong is not None:
            result.count("wrong")
            name = f"{case.get('classname')}::{case.get('name')}"
            result.problem(f"{again} ({name}): {(wrong.text or '')[-3_000:]}")
        elif case.find("skipped") is None:
            passed += 1
    drawn = len(BLOCK.findall(said))
    result.count("examples that Hypothesis drew: as promised", sum(map(int, PASSED.findall(said))))
    result.count("tests of one seed or more: as promised", max(0, passed - drawn))
    return result
