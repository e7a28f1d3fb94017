"""Whether a file stayed as it was while somebody looked, as far as its times can tell.

Times of files move with the kernel's clock, every hundredth of a second at worst: a file that was
touched just now may be touched again without showing it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from holdfast import system

SETTLED_NS = 50_000_000


class Touched(NamedTuple):
    """What a change of a file would change."""

    mtime_ns: int
    size_bytes: int
    inode: int

    def is_settled(self, now_ns: Callable[[], int] = system.now_ns) -> bool:
        """Whether the last change is so long ago that another one would show in the times."""
        return self.mtime_ns <= now_ns() - SETTLED_NS


def touched(path: Path) -> Touched | None:
    """When a file was last changed; None when there is none."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return Touched(found.st_mtime_ns, found.st_size, found.st_ino)
