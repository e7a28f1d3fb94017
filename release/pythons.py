"""Where the interpreters of this machine are."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path


def find_python(version: str, environment: Mapping[str, str]) -> Path | None:
    """An interpreter of this version: one named by hand, on PATH, or below pyenv."""
    candidates = [environment.get(f"HOLDFAST_PYTHON{version.replace('.', '')}")]
    candidates.append(shutil.which(f"python{version}", path=environment.get("PATH")))
    for entry in environment.get("PATH", "").split(os.pathsep):
        if Path(entry).name == "shims":  # pyenv's commands run only what its setting chose
            installed = (Path(entry).parent / "versions").glob(f"{version}.*/bin/python{version}")
            candidates.extend(str(path) for path in sorted(installed))
    for candidate in candidates:
        if candidate and _runs(candidate, version):
            return Path(candidate)
    return None


def _runs(candidate: str, version: str) -> bool:
    try:
        ran = subprocess.run([candidate, "--version"], capture_output=True, text=True, timeout=20)
    except OSError:
        return False
    return ran.returncode == 0 and ran.stdout.startswith(f"Python {version}.")
