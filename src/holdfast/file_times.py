"""Detects by its times whether a file was changed while it was read.

The kernel updates file times with a resolution of up to 10 ms, so a second change that follows at
once may not show.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from holdfast import system

SETTLED_NS = 50_000_000


class Touched(NamedTuple):
    """The attributes of a file that a change would alter."""

    mtime_ns: int
    size_bytes: int
    inode: int

    def is_settled(self, now_ns: Callable[[], int] = system.now_ns) -> bool:
        """Whether the last change is long enough ago that another one would change the times."""
        return self.mtime_ns <= now_ns() - SETTLED_NS


def touched(path: Path) -> Touched | None:
    """The state of a file now; None if it does not exist."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return Touched(status.st_mtime_ns, status.st_size, status.st_ino)
