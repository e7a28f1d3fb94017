"""Wheel and sdist, the same bytes for the same commit."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path


def version(root: Path) -> str:
    """The version that the project's metadata states."""
    described = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    stated = described["project"]["version"]
    assert isinstance(stated, str)
    return stated


def build(root: Path, into: Path, epoch: str) -> dict[str, str]:
    """Build wheel and sdist; the SHA-256 of each by its name."""
    shutil.rmtree(into, ignore_errors=True)
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", str(into)],
        cwd=root,
        env={**os.environ, "SOURCE_DATE_EPOCH": epoch},
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in into.iterdir()}


def build_twice(root: Path, into: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Build in place and from a copy elsewhere: neither the place nor the time may matter."""
    epoch = _commit_time(root)
    with tempfile.TemporaryDirectory() as elsewhere:
        copy = Path(elsewhere) / "another place"
        for name in _files(root):
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(root / name, copy / name)
            shutil.copymode(root / name, copy / name)
        second = build(copy, Path(elsewhere) / "dist", epoch)
    return build(root, into, epoch), second


def _files(root: Path) -> list[str]:
    """What belongs to the tree: everything that git does not ignore."""
    listed = _git(root, "ls-files", "--cached", "--others", "--exclude-standard", "-z")
    return [name for name in listed.split("\0") if name and (root / name).is_file()]


def _commit_time(root: Path) -> str:
    """The time of the commit, so that a rebuild later has the same bytes."""
    return _git(root, "log", "-1", "--format=%ct").strip()


def _git(root: Path, *words: str) -> str:
    ran = subprocess.run(["git", *words], cwd=root, check=True, capture_output=True, text=True)
    return ran.stdout
