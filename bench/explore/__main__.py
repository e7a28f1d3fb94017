"""`python -m bench.explore`: fetch six packages, ask the questions both ways, print the table."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

from bench.arguments import takes_none
from bench.explore.arms import Explorer, Ours, Question, Ripgrep
from bench.retrieval.fetch import Fetcher, Package
from bench.timing import Row, report
from holdfast.app import App
from holdfast.cli.main import main as holdfast_main

HERE = Path(__file__).parent
GOAL = 0.6


def unpacked(packages: dict[str, dict[str, str]], folder: Path) -> dict[str, Path]:
    """Each package in a directory of its own, from the registry."""
    trees = {}
    fetcher = Fetcher(HERE.parent / "corpora" / "explore")
    for name, fields in packages.items():
        trees[name] = folder / name
        with zipfile.ZipFile(fetcher.archive(Package.of(fields))) as wheel:
            wheel.extractall(trees[name])
        for info in trees[name].glob("*.dist-info"):
            shutil.rmtree(info)
    return trees


def measure(folder: Path) -> list[Row]:
    told = json.loads((HERE / "questions.json").read_text(encoding="utf-8"))
    trees = unpacked(told["packages"], folder)
    app = App(folder / "home", environment={"HOLDFAST_CLI_HOST": "0"})

    def holdfast(words: Sequence[str]) -> str:
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            holdfast_main(list(words), app)
        return out.getvalue()

    program = ["rg", "-n"] if shutil.which("rg") else ["grep", "-rnI", "--include=*.py"]
    for tree in trees.values():
        os.chdir(tree)
        holdfast(["index", "create"])
    explored: list[tuple[Explorer, Explorer]] = []
    missed = [0, 0]
    for one in told["questions"]:
        question = Question(
            one["ask"], tuple(one["patterns"]), tuple((f, a, b) for f, a, b in one["facts"])
        )
        tree = trees[one["package"]]
        os.chdir(tree)
        ours, theirs = Ours(tree, question), Ripgrep(tree, question)
        ended = ours.run(holdfast), theirs.run(program)
        missed = [missed[0] + (not ended[0]), missed[1] + (not ended[1])]
        explored.append((ours, theirs))
        print(
            f"{one['package']:<9} {ours.printed:>6} {ours.calls:>2}{' ' if ended[0] else '!'}"
            f"  {theirs.printed:>6} {theirs.calls:>2}{' ' if ended[1] else '!'}  {one['ask']}"
        )
    both = [(o, t) for o, t in explored if o.done and t.done]
    rows = [Row("questions", len(explored), "", note=f"both found {len(both)}")]
    rows.append(Row("not found: ours", missed[0], ""))
    rows.append(Row("not found: plain tools", missed[1], "", note=f"{program[0]} and sed"))
    for what in ("printed", "calls"):
        mine = sum(getattr(o, what) for o, _ in both)
        theirs_sum = sum(getattr(t, what) for _, t in both)
        share = mine / theirs_sum
        detail = f"{mine:,} against {theirs_sum:,}"
        name = "bytes" if what == "printed" else what
        rows.append(Row(f"{name}, share", share, "", f"{GOAL}", share <= GOAL, detail))
    return rows


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        return report("explore", measure(Path(folder)))


if __name__ == "__main__":
    takes_none("explore", __doc__)
    sys.exit(main())
