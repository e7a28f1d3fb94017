"""What a command costs when the background host is warm: wall, processor time and memory.

    python -m bench.cli --tree DIR [--copies N] [--rounds N]

Takes the files of a tree, `--copies` times side by side, indexes them, starts the host, and then
starts `holdfast search` and others as fresh processes, by turns with a Python that does nothing.
Byte code is written first, as an installed package has it.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.timing import Row, report
from holdfast.app import App
from holdfast.files import disk

QUESTIONS = ("where are settings read", "parse a date", "open a connection and retry", "sym:main")
LARGE_CHUNKS = 100_000
"""From here on a tree has the goals of a large one."""


def copied(tree: Path, to: Path, copies: int) -> int:
    """Copy the source files of a tree so many times side by side; returns how many there are."""
    keys = sorted(disk.walk(os.fspath(tree)).stats)
    for number in range(copies):
        for key in keys:
            target = to / f"copy{number}" / key
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(tree / key, target)
    return len(keys) * copies


@contextmanager
def warm_host(home: Path, environment: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """A host that is ready."""
    App(home).home.make_run()
    ready, told = os.pipe()
    host = subprocess.Popen(
        [sys.executable, "-m", "holdfast.cli.host", "--ready", str(told)],
        env=environment,
        cwd=home / "run",
        stdout=subprocess.DEVNULL,
        pass_fds=(told,),
    )
    os.close(told)
    try:
        os.read(ready, 1)
        yield host
    finally:
        os.close(ready)
        host.terminate()
        host.wait(60)


def run(
    argv: list[str], environment: dict[str, str], cwd: Path, host: int
) -> tuple[float, float, float]:
    """Seconds by the clock, and of processor time in a fresh process and in the host."""
    before, busy = time.perf_counter(), process_spent(host)
    child = subprocess.Popen(argv, env=environment, cwd=cwd, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - before
    return wall, used.ru_utime + used.ru_stime, process_spent(host) - busy


def process_spent(process: int) -> float:
    """The processor time of a process so far, in seconds."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


PEAK = """
import sys
from holdfast.cli.start import run
code = run()
sys.stdout.flush()
peak = [line for line in open("/proc/self/status") if line.startswith("VmHWM")][0].split()[1]
print(peak, file=sys.stderr)
"""


def peak_mb(words: list[str], environment: dict[str, str], cwd: Path) -> float:
    """The most memory that the process of a command had. wait4 would count its parent's too."""
    done = subprocess.run(
        [sys.executable, "-c", PEAK, *words],
        env=environment, cwd=cwd, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return int(done.stderr.split()[-1]) / 1e3


def measure(tree: Path, copies: int, rounds: int) -> list[Row]:
    """The rows of the table."""
    folder = Path(tempfile.mkdtemp())
    try:
        small, home = folder / "tree", folder / "home"
        environment = {**os.environ, "HOLDFAST_HOME": str(home), "PYTHONDONTWRITEBYTECODE": ""}
        environment["GIT_CEILING_DIRECTORIES"] = str(folder)
        files = copied(tree, small, copies)
        ours = [sys.executable, "-m", "holdfast"]
        subprocess.run([*ours, "index", "create", str(small)], env=environment, check=True,
                       stdout=subprocess.DEVNULL)  # fmt: skip
        with App(home).borrow_index() as index:
            record = index.root_of(str(small))[1]
        chunks = 0 if record is None else getattr(record.state, "chunks", 0)
        commands = {
            "search": [*ours, "search", QUESTIONS[0]],
            "outline": [*ours, "outline", next(iter(sorted(disk.walk(str(small)).stats)))],
            "clones": [*ours, "clones"],
        }
        nothing = [sys.executable, "-c", "pass"]
        times: dict[str, list[tuple[float, float, float]]] = {name: [] for name in commands}
        times["python"] = []
        with warm_host(home, environment) as host:
            for argv in commands.values():
                run(argv, environment, small, host.pid)
            memory = peak_mb(commands["search"][3:], environment, small)
            for number in range(rounds):
                asked = [*ours, "search", QUESTIONS[number % len(QUESTIONS)]]
                times["python"].append(run(nothing, environment, small, host.pid))
                for name, argv in commands.items():
                    command = asked if name == "search" else argv
                    times[name].append(run(command, environment, small, host.pid))
    finally:
        shutil.rmtree(folder)
    goal_ms, goal_mb = (250, 60) if chunks >= LARGE_CHUNKS else (120, 60)
    rows = [Row(f"a tree of {files:,} files", chunks, "chunks")]
    for name, samples in times.items():
        wall, spent, _ = (statistics.median(one) for one in zip(*samples, strict=True))
        goal = f"{goal_ms}" if name == "search" else ""
        met = wall * 1000 <= goal_ms if goal else None
        rows.append(Row(f"{name}: wall", wall * 1000, "ms", goal, met))
        rows.append(Row("  processor time of the command", spent * 1000, "ms"))
        busy = statistics.fmean(one[2] for one in samples)
        rows.append(Row("  processor time of the host, mean", busy * 1000, "ms"))
        best = min(one[0] for one in samples)
        rows.append(Row("  least wall of all rounds", best * 1000, "ms"))
    rows.append(Row("search: memory of the command", memory, "MB", f"{goal_mb}", memory <= goal_mb))
    return rows


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m bench.cli", description=__doc__)
    parser.add_argument("--tree", type=Path, required=True, help="the tree to take files from")
    parser.add_argument("--copies", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=12)
    args = parser.parse_args()
    report("cli", measure(args.tree, args.copies, args.rounds))


if __name__ == "__main__":
    main()
