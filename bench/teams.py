"""What a team saves: `python -m bench teams [--tree DIRECTORY]`.

A repository is indexed from nothing, and again by a fresh home that takes the work from a real
PostgreSQL; by turns, as processor time of all processes, because other work disturbs the clock.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import tempfile
import time
from contextlib import closing
from itertools import count
from pathlib import Path

from bench.timing import Row, report
from holdfast.index.code_index import CodeIndex, open_index, run_here
from holdfast.index.shared.postgres import PostgresShared
from holdfast.index.shared.work import SharedIndex
from holdfast.index.tools.manage import manage_index
from holdfast.index.tools.manage.publish import publish_index
from holdfast.index.tools.search import search_code
from tests.postgres import running_server

ROUNDS = 3
SHARE_MAX = 0.25
_numbers = count()


def processor_s() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def git(root: Path, *arguments: str) -> None:
    who = ("-c", "user.name=bench", "-c", "user.email=bench@example.org")
    subprocess.run(["git", *who, "-C", root, *arguments], check=True, capture_output=True)


def repository(tree: Path, target: Path) -> Path:
    """A copy of a tree as a repository with one commit."""
    shutil.copytree(tree, target, ignore=shutil.ignore_patterns(".git", "__pycache__", "*.so"))
    git(target, "init", "-q")
    git(target, "add", ".")
    git(target, "commit", "-qm", "all")
    return target


def opened(home: Path, store: PostgresShared | None) -> CodeIndex:
    index = open_index(home)
    index.start = run_here
    index.shared = None if store is None else SharedIndex(store)
    return index


def indexed(root: Path, home: Path, store: PostgresShared | None) -> tuple[float, float, str]:
    """Processor time and time of indexing a tree from an empty home, and what was shared."""
    with closing(opened(home, store)) as index:
        began, used = time.perf_counter(), processor_s()
        answer = manage_index(index, "create", str(root))
        assert answer.status == "ok", answer.human_text
        took = processor_s() - used, time.perf_counter() - began
        said = "" if index.shared is None else index.shared.sentence(str(root))
    return *took, said


def published(root: Path, home: Path, store: PostgresShared) -> None:
    with closing(opened(home, None)) as index:
        index.join_team(home / "team", SharedIndex(store))
        answer = publish_index(index, str(root))
        assert answer.status == "ok", answer.human_text


def joining(root: Path, home: Path, store: PostgresShared) -> float:
    """Processor time until the first answer of an empty home that uses the team's generation."""
    with closing(opened(home, None)) as index:
        index.join_team(home / "team", SharedIndex(store))
        used = processor_s()
        answer = manage_index(index, "create", str(root))
        assert "Using the team's generation" in answer.human_text, answer.human_text
        assert search_code(index, str(root), "where is a session resumed").results
        return processor_s() - used


def measure(tree: Path, scratch: Path, url: str, rounds: int = ROUNDS) -> list[Row]:
    root = repository(tree, scratch / "tree")
    schema = f"bench_{os.getpid()}_{next(_numbers)}"
    indexed(root, scratch / "giver", PostgresShared(url, schema))
    published(root, scratch / "giver", PostgresShared(url, schema))
    cold, taken, walls, said = [], [], [], ""
    joined: list[float] = []
    for turn in range(rounds):
        alone = indexed(root, scratch / f"cold{turn}", None)
        fresh = indexed(root, scratch / f"fresh{turn}", PostgresShared(url, schema))
        cold.append(alone[0])
        taken.append(fresh[0])
        walls.append(fresh[1] / alone[1])
        said = fresh[2]
        joined.append(joining(root, scratch / f"joined{turn}", PostgresShared(url, schema)))
    share = statistics.median(taken) / statistics.median(cold)
    files = said.split(": ", 1)[1].split(";")[0].split(" from ")[0]
    return [
        Row("index from nothing", statistics.median(cold), "s processor"),
        Row("index with the team's work", statistics.median(taken), "s processor", note=files),
        Row(
            "with the team's work / from nothing", share, "of the processor time",
            f"at most {SHARE_MAX}", share <= SHARE_MAX,
        ),
        Row(
            "use the team's generation and search once", statistics.median(joined), "s processor",
            note="nothing is built",
        ),
        Row(
            "the team's generation / from nothing",
            statistics.median(joined) / statistics.median(cold), "of the processor time",
        ),
        Row("the same by the clock", statistics.median(walls), "of the time"),
    ]  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    here = Path(__file__).resolve().parent.parent / "src"
    parser.add_argument("--tree", type=Path, default=here, help="the tree (default: our source)")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hf-bench-teams-") as scratch:
        for server in running_server(durable=True):
            return report("teams", measure(args.tree, Path(scratch), server.url))
    return 1


if __name__ == "__main__":
    raise SystemExit(main())
