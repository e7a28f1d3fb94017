"""Is a rebuild plainly needless? Only when all that changed are ignore rules.

A sync applies new ignore rules at a fraction of the cost. When git cannot tell, we say so and let
the rebuild go ahead.
"""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass

from holdfast.files.disk import CONTROL_FILES

TIMEOUT_S = 5.0


@dataclass(frozen=True, slots=True)
class Needed:
    """Something else changed, or nothing did; or it is no git work tree."""


@dataclass(frozen=True, slots=True)
class IgnoreOnly:
    """Only these ignore files differ from the last commit."""

    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Unknown:
    """git is there and did not answer."""

    why: str


STATUS = ("--no-optional-locks", "status", "--porcelain", "-z")


def preflight(root: str) -> Needed | IgnoreOnly | Unknown:
    git = shutil.which("git")
    if git is None:
        return Needed()
    try:
        run = subprocess.run(  # noqa: S603  (fixed arguments; the root is one of them)
            # The message of a failure is read below, so it must be in English.
            [
                "/usr/bin/env",
                "LC_ALL=C",
                git,
                "-C",
                root,
                "--no-optional-locks",
                "status",
                "--porcelain",
                "-z",
            ],
            capture_output=True,
            timeout=TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Unknown(str(error))
    if run.returncode != 0:
        words = run.stderr.decode("utf-8", "replace").strip()
        return Needed() if "not a git repository" in words else Unknown(words)
    changed = _paths(run.stdout.decode("utf-8", "replace"))
    if changed and all(path.rsplit("/", 1)[-1] in CONTROL_FILES for path in changed):
        return IgnoreOnly(tuple(changed))
    return Needed()


def _paths(listed: str) -> list[str]:
    """The paths that `git status --porcelain -z` names; of a rename both."""
    paths: list[str] = []
    entries = iter(listed.split("\0"))
    for entry in entries:
        if entry:
            paths.append(entry[3:])
            if "R" in entry[:2] or "C" in entry[:2]:
                paths.append(next(entries, ""))
    return paths
