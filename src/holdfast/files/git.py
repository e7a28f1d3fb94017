"""Asking git, where there is one."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path


def git(root: Path, *arguments: str, timeout_s: float | None = None) -> bytes | None:
    """What a git command prints, or None when it fails, takes too long or there is no git."""
    # git must not write anything either, so it may not refresh its own index.
    command = ["git", "--no-optional-locks", "-C", os.fspath(root), *arguments]
    try:
        done = subprocess.run(  # noqa: S603
            command, capture_output=True, check=False, timeout=timeout_s
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def in_repository(root: Path) -> bool:
    """Whether a directory is, or may be, inside a work tree of git; without asking git."""
    return any((top / ".git").exists() for top in (root, *root.parents))
