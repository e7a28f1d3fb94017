"""Check whether a rebuild is unnecessary: only ignore files changed since the last commit.

A sync applies new ignore rules at a fraction of the cost. When git cannot answer, the rebuild goes
ahead with a warning.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from holdfast.files.git import open_repository
from holdfast.files.ignore_files import IGNORE_FILES

TIMEOUT_S = 5.0


@dataclass(frozen=True, slots=True)
class Needed:
    """Something else changed, or nothing did, or the root is not a git work tree."""


@dataclass(frozen=True, slots=True)
class IgnoreOnly:
    """Only these ignore files differ from the last commit."""

    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Unknown:
    """git is installed and failed to answer."""

    why: str


def preflight(root: str) -> Needed | IgnoreOnly | Unknown:
    with open_repository(Path(root)) as repository:
        if repository is None:
            return Needed()
        listed = repository.status(timeout_s=TIMEOUT_S)
    if listed is None:
        return Unknown("git status failed or took too long")
    changed = [os.fsdecode(entry[len("MM ") :]) for entry in listed.split(b"\0") if entry]
    if changed and all(path.rsplit("/", 1)[-1] in IGNORE_FILES for path in changed):
        return IgnoreOnly(tuple(changed))
    return Needed()
