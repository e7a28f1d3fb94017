"""The versions that the tests run with: constraints.txt, from a new environment."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

HEADER = """\
# The versions that the tests run with, so that a new release of a tool does not fail them.
# `make upgrade` writes this file anew; users get the newest versions that pyproject.toml allows,
# and `make package` tries those in empty environments.
"""


def upgrade(root: Path) -> int:
    """Write the newest versions that the project allows; returns how many there are."""
    with tempfile.TemporaryDirectory(prefix="holdfast versions ") as place:
        _run([sys.executable, "-m", "venv", place], root)
        python = str(Path(place) / "bin" / "python")
        quiet = ["--quiet", "--disable-pip-version-check"]
        _run([python, "-m", "pip", "install", *quiet, "--editable", ".[dev]"], root)
        frozen = _run([python, "-m", "pip", "freeze", *quiet, "--exclude-editable"], root)
    pins = [line for line in frozen.splitlines() if "==" in line]
    (root / "constraints.txt").write_text(HEADER + "\n".join(pins) + "\n", encoding="utf-8")
    return len(pins)


def _run(command: list[str], root: Path) -> str:
    done = subprocess.run(command, cwd=root, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout
