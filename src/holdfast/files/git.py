"""Asking git, where there is one."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path


def git(root: Path, *arguments: str) -> bytes | None:
    """What a git command prints, or None when it fails or there is no git."""
    command = ["git", "-C", os.fspath(root), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, check=False)  # noqa: S603
    except OSError:
        return None
    return done.stdout if done.returncode == 0 else None
