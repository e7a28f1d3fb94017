"""The compared systems, each run in a separate process for each repository.

Separate processes isolate memory and crashes. A failure affects one repository, and is reported.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.retrieval.fetch import CannotFetch, Fetcher, Package, unpack
from bench.retrieval.metrics import Result

SYSTEMS = ("holdfast", "bm25", "ripgrep", "semble", "semble-bm25")
SEMBLE = "0.7.0"
TIMEOUT_S = 1_800
TIMED = 20
"""How many questions of a repository are repeated, to time warm answers."""


class Failed(Exception):
    """Raised when a system did not answer for a repository; says why."""


@dataclass(frozen=True)
class Run:
    """What one system answered about one repository."""

    answers: list[list[Result]]
    index_s: float
    index_cpu_s: float
    chunks: int
    latency_ms: list[float]
    resident_mb: float
    peak_mb: float
    problems: Mapping[int, str] = field(default_factory=dict)
    """Questions that failed, by number; their answer is empty."""
    unindexed: Sequence[str] = ()
    """Labelled files that the system does not index."""


@dataclass
class Bench:
    """Runs the systems; environments and programs of the other systems are below `cache`."""

    cache: Path
    without: Sequence[str] = ()
    weights: Mapping[str, Any] | None = None
    scope: str = "runtime"
    limit: int = 20
    environment: Mapping[str, str] = field(default_factory=dict)

    def run(
        self, system: str, root: Path, queries: Sequence[str], labels: Sequence[str] = ()
    ) -> Run:
        """Index `root` with the system and ask every question. Raises Failed."""
        with tempfile.TemporaryDirectory() as directory:
            home = Path(directory)
            job = {
                "root": str(root.resolve()), "queries": list(queries), "limit": self.limit,
                "timed": TIMED, "labels": list(labels),
                "home": str(home / "home"), "without": list(self.without),
                "weights": self.weights, "scope": self.scope,
                "environment": dict(self.environment), "model": system == "semble",
            }  # fmt: skip
            command = self._command(system, job)
            (home / "job.json").write_text(json.dumps(job))
            found = self._call([*command, str(home / "job.json"), str(home / "out.json")], home)
        answers = [[result_of(place) for place in places] for places in found["answers"]]
        return Run(
            answers, found["index_s"], found["index_cpu_s"], found["chunks"],
            found["latency_ms"], found["resident_mb"], found["peak_mb"],
            {int(number): why for number, why in found.get("problems", {}).items()},
            found.get("unindexed", ()),
        )  # fmt: skip

    def _command(self, system: str, job: dict[str, Any]) -> list[str]:
        match system:
            case "holdfast" | "bm25":
                return [sys.executable, "-m", f"bench.retrieval.workers.{system}"]
            case "ripgrep":
                job["program"] = self._ripgrep()
                return [sys.executable, "-m", "bench.retrieval.workers.ripgrep"]
            case "semble" | "semble-bm25":
                worker = Path(__file__).parent / "workers" / "semble_alone.py"
                return [self._semble(), str(worker)]
            case _:
                raise Failed(f"unknown system {system!r}; expected one of {', '.join(SYSTEMS)}")

    def _call(self, command: list[str], home: Path) -> dict[str, Any]:
        environment = {
            **os.environ,
            "HOME": str(home), "XDG_CACHE_HOME": str(home / "cache"), "HOLDFAST_HOME": str(home),
            "PYTHONPATH": os.pathsep.join(filter(None, (
                str(Path(__file__).parent.parent.parent), os.environ.get("PYTHONPATH"))),
            ), **self.environment,
        }  # fmt: skip
        try:
            done = subprocess.run(
                command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                timeout=TIMEOUT_S, errors="replace",
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise Failed(f"no answer within {TIMEOUT_S} s") from None
        if done.returncode:
            said = [line for line in done.stderr.strip().splitlines() if line.strip()]
            raise Failed(said[-1][:300] if said else f"ended with {done.returncode}")
        found: dict[str, Any] = json.loads((home / "out.json").read_text())
        return found

    def _ripgrep(self) -> str:
        if found := shutil.which("rg"):
            return found
        program = self.cache / "programs" / "rg"
        if not program.exists():
            try:
                archive = Fetcher(self.cache).archive(Package("debian", "ripgrep"))
                with tempfile.TemporaryDirectory() as directory:
                    unpack(archive, Path(directory))
                    program.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy(Path(directory) / "usr/bin/rg", program)
                program.chmod(0o755)
            except (CannotFetch, OSError) as error:
                raise Failed(f"ripgrep cannot be installed: {error}") from error
        return str(program.resolve())

    def _semble(self) -> str:
        place = self.cache / "environments" / f"semble-{SEMBLE}"
        python = place / "bin" / "python"
        if not (place / "ready").exists():
            venv.create(place, with_pip=True, clear=True)
            done = subprocess.run(
                [str(python), "-m", "pip", "install", "--quiet", f"semble=={SEMBLE}"],
                capture_output=True, text=True, stdin=subprocess.DEVNULL,
            )  # fmt: skip
            if done.returncode:
                raise Failed(f"semble cannot be installed: {done.stderr.strip()[-200:]}")
            (place / "ready").touch()
        return str(python.absolute())


def result_of(place: Mapping[str, Any]) -> Result:
    """A result as a worker wrote it; not every system names further places."""
    further = tuple((first, last) for first, last in place.get("further", ()))
    return Result(place["path"], place["start"], place["end"], place["tokens"], further)
